/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overlays: packets to members that are more than one hop away, which servers between them pass on
 * although they are no members.  A packet carries its way as a Bloom filter (sched/bloom.h), so
 * these servers keep nothing of any group or operation: only who their neighbours are.
 *
 * The administrator of a namespace sets all of its overlay at once: the number of this server, its
 * neighbours, and the ways to the members that its own sockets send to.  sn->config_mutex guards
 * changes.  An overlay in use does not change: it is replaced.
 *
 * Trust: a datagram with a way is taken from a neighbour's address only, and that neighbour is
 * believed about the member that the datagram comes from.  Groups with a key believe nobody.
 *
 * Addresses are looked up in the main table: overlays are not for VRFs.
 */
#ifndef _SHUFFLE_OVERLAY_H
#define _SHUFFLE_OVERLAY_H

#include <linux/refcount.h>
#include <linux/types.h>
#include "../../uapi/linux/shuffle.h"
#include "sched/wire.h"

struct shuffle_net;
struct shuffle_sock;
struct sk_buff;

/* A server of a BCube has dozens, whatever its size; a packet is compared with all of them */
#define SHUFFLE_NEIGHBOURS	256U
/* Members of a group */
#define SHUFFLE_PATHS		4096U
/* A way there and back in the largest BCube, and some more: whoever makes a packet chooses its way,
 * and a filter can lead in circles
 */
#define SHUFFLE_PATH_HOPS	64U

/**
 * struct shuffle_neighbour - a server to which packets can be passed on
 * @server: its number in the topology
 * @addr: its address on the link to it, without a port
 * @local: our address there
 */
struct shuffle_neighbour {
	u32			server;
	struct sockaddr_shuffle	addr;
	struct sockaddr_shuffle	local;
};

/**
 * struct shuffle_path - a way to a member
 * @to: address of the member, without a port
 * @via: the first neighbour
 * @hops: a packet takes no more than these
 * @filter: has them
 */
struct shuffle_path {
	struct sockaddr_shuffle		to;
	const struct shuffle_neighbour	*via;
	u8				hops;
	struct shuffle_bloom		filter;
};

/**
 * struct shuffle_overlay - all of it
 * @ref: the namespace, and groups
 * @server: our number in the topology
 * @copies: a packet goes to each neighbour whose hop its filter has
 * @neighbours: their number
 * @paths: their number
 * @neighbour: they
 * @path: they, sorted by address
 */
struct shuffle_overlay {
	refcount_t			ref;
	u32				server;
	bool				copies;
	u32				neighbours;
	u32				paths;
	struct shuffle_neighbour	*neighbour;
	struct shuffle_path		path[];
};

/* overlay.c */
struct shuffle_overlay *shuffle_overlay_new(u32 neighbours, u32 paths);
struct shuffle_overlay *shuffle_overlay_get(struct shuffle_net *sn);
void shuffle_overlay_put(struct shuffle_overlay *o);
int shuffle_overlay_add_neighbour(struct shuffle_overlay *o, const struct shuffle_neighbour *n);
int shuffle_overlay_add_path(struct shuffle_overlay *o, const struct shuffle_path *path);
int shuffle_overlay_sort(struct shuffle_overlay *o);
int shuffle_overlay_replace(struct shuffle_net *sn, struct shuffle_overlay *o);
const struct shuffle_path *shuffle_overlay_path(const struct shuffle_overlay *o,
						const struct sockaddr_shuffle *to);
unsigned int shuffle_path_record(const struct shuffle_path *path,
				 const struct sockaddr_shuffle *from, u8 *p);

/**
 * shuffle_path_len() - bytes that a way takes of each packet
 * @path: the way, or NULL
 *
 * Context: any.
 */
static inline unsigned int shuffle_path_len(const struct shuffle_path *path)
{
	if (likely(!path))
		return 0;
	return shuffle_wire_path_len(path->to.shs_ip_family == AF_INET6, path->filter.bits);
}

/* rx/passed_on.c */
bool shuffle_passed_on(struct shuffle_net *sn, struct sk_buff *skb, struct shuffle_sock *claims);

#endif /* _SHUFFLE_OVERLAY_H */
