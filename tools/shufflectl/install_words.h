/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command lines of "shufflectl topology install" and "remove". */
#ifndef SHUFFLECTL_INSTALL_WORDS_H
#define SHUFFLECTL_INSTALL_WORDS_H

#include "member.h"

/**
 * struct install_words - what the user wants
 * @group: the address
 * @links: all devices
 * @bridge: this one only, or NULL
 * @route: device of the route, or NULL
 * @vid: VLAN, or 0
 * @dry_run: only say what would be done
 * @no_wait: do not wait for a new querier
 * @members: hosts
 * @ports: ports that are said, with VLANs
 */
struct install_words {
	struct mcast_group		group;
	struct bridge_links		links;
	const struct bridge_link	*bridge;
	const struct bridge_link	*route;
	unsigned int			vid;
	bool				dry_run;
	bool				no_wait;
	struct members			members;
	struct bridge_entries		ports;
};

int install_words_read(struct install_words *w, struct nl_sock *sk, int argc, char **argv,
		       bool install);
void install_words_free(struct install_words *w);

#endif
