/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of a multicast address, and the ports of bridges behind which they are. */
#ifndef SHUFFLECTL_MEMBER_H
#define SHUFFLECTL_MEMBER_H

#include "bridge.h"

/**
 * struct member - a host
 * @v6: IPv6 address?
 * @addr: its address
 * @text: the same
 * @port: said by the user, or 0
 * @own: the address is this machine's
 * @has_mac: @mac is known
 * @fixed: the user has said it to the kernel
 * @mac: its hardware address
 * @mac_dev: device on which that is known
 * @found: number of ports
 */
struct member {
	bool		v6;
	uint8_t		addr[16];
	char		text[INET6_ADDRSTRLEN];
	int		port;
	bool		own;
	bool		has_mac;
	bool		fixed;
	uint8_t		mac[6];
	int		mac_dev;
	unsigned int	found;
};

/**
 * struct members - all of them
 * @member: array
 * @n: their number
 */
struct members {
	struct member	*member;
	unsigned int	n;
};

/**
 * struct place - a member is behind a port
 * @member: its number
 * @at: bridge, port and VLAN
 */
struct place {
	unsigned int		member;
	struct bridge_entry	at;
};

/**
 * struct places - all of them
 * @place: array
 * @n: their number
 */
struct places {
	struct place	*place;
	unsigned int	n;
};

struct member *members_add(struct members *m, bool v6, const void *addr);
void places_add(struct places *p, unsigned int member, const struct bridge_entry *at);
int members_find(struct nl_sock *sk, const struct bridge_links *links,
		 const struct bridge_link *only, int vid, struct members *m, struct places *p);
int members_link_local(struct nl_sock *sk, int ifindex, bool *has);

#endif
