/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bridges of this namespace: their ports, what they do with multicast, and what they know. */
#ifndef SHUFFLECTL_BRIDGE_H
#define SHUFFLECTL_BRIDGE_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

/* RTM_*, "protocol": who has made an entry or a route */
#define BRIDGE_PROTOCOL	83

/* What install turns on at a bridge, and remembers by an alternative name of the bridge. */
#define BRIDGE_SNOOPING	1U
#define BRIDGE_QUERIER	2U
#define BRIDGE_OPTIONS	2

/**
 * struct mcast_group - a multicast address
 * @v6: IPv6?
 * @addr: 4 or 16 bytes
 * @text: as people write it
 */
struct mcast_group {
	bool	v6;
	uint8_t	addr[16];
	char	text[INET6_ADDRSTRLEN];
};

/**
 * struct bridge_link - a device
 * @ifindex: its number
 * @master: of the bridge that it is a port of, or 0
 * @name: its name
 * @bridge: it is a bridge
 * @vlans: a bridge that looks at VLANs
 * @on: BRIDGE_SNOOPING, BRIDGE_QUERIER
 * @ours: of these, what install has turned on
 * @other_querier: somebody else asks for the members of addresses: IPv4, IPv6
 * @answer_ms: for so long nothing is held back after its querier was turned on
 */
struct bridge_link {
	int		ifindex;
	int		master;
	char		name[IFNAMSIZ];
	bool		bridge;
	bool		vlans;
	unsigned int	on;
	unsigned int	ours;
	bool		other_querier[2];
	unsigned int	answer_ms;
};

/**
 * struct bridge_links - all devices of the namespace
 * @link: array
 * @n: their number
 */
struct bridge_links {
	struct bridge_link	*link;
	unsigned int		n;
};

/**
 * struct bridge_entry - packets to an address leave by a port
 * @bridge: its number
 * @port: the port's number
 * @vid: VLAN, or 0
 * @permanent: it stays until somebody takes it out
 * @protocol: who has made it
 */
struct bridge_entry {
	int		bridge;
	int		port;
	uint16_t	vid;
	bool		permanent;
	uint8_t		protocol;
};

/**
 * struct bridge_entries - several of them
 * @entry: array
 * @n: their number
 */
struct bridge_entries {
	struct bridge_entry	*entry;
	unsigned int		n;
};

int bridge_links_get(struct nl_sock *sk, struct bridge_links *links);
struct bridge_link *bridge_link_by_name(const struct bridge_links *links, const char *name);
struct bridge_link *bridge_link_by_index(const struct bridge_links *links, int ifindex);
int bridge_turn(struct nl_sock *sk, const struct bridge_link *br, unsigned int option, bool on);

int bridge_entries_get(struct nl_sock *sk, const struct mcast_group *g, struct bridge_entries *e);
void bridge_entries_add(struct bridge_entries *to, const struct bridge_entry *e);
bool bridge_tells_protocol(struct nl_sock *sk, const struct mcast_group *g,
			   const struct bridge_entry *e);
int bridge_entry_put(struct nl_sock *sk, const struct mcast_group *g,
		     const struct bridge_entry *e, bool protocol);
int bridge_entry_del(struct nl_sock *sk, const struct mcast_group *g,
		     const struct bridge_entry *e);

/* mcast_route.c */
int mcast_route_get(struct nl_sock *sk, const struct mcast_group *g, int *ifindex, unsigned int n);
int mcast_route_put(struct nl_sock *sk, const struct mcast_group *g, int ifindex);
int mcast_route_del(struct nl_sock *sk, const struct mcast_group *g, int ifindex);

#endif
