/* SPDX-License-Identifier: GPL-2.0-only */
/* The racks of a socket's group: the option SHUFFLE_RACKS. */
#ifndef _SHUFFLE_RACKS_H
#define _SHUFFLE_RACKS_H

#include <linux/refcount.h>
#include <linux/sockptr.h>
#include <linux/types.h>

struct shuffle_sock;

/**
 * struct shuffle_racks - which members share a rack
 * @ref: holders: the socket, and its collectives
 * @racks: number of racks
 * @first: by rack, the rank of its first member; first[racks] is the number of members
 */
struct shuffle_racks {
	refcount_t	ref;
	u32		racks;
	u32		first[];
};

int shuffle_racks_set(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen);
int shuffle_racks_get(struct shuffle_sock *ssk, char __user *optval, int __user *optlen);
struct shuffle_racks *shuffle_racks_hold(struct shuffle_sock *ssk);
void shuffle_racks_put(struct shuffle_racks *racks);

#endif /* _SHUFFLE_RACKS_H */
