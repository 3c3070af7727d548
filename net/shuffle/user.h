/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHUFFLE_USER_H
#define _SHUFFLE_USER_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>

struct shuffle_net;

/**
 * struct shuffle_user - what one user has in a network namespace
 * @node: in sn->users
 * @sn: the namespace
 * @uid: of the sockets
 * @ref: sockets, peers and ended operations
 * @peers: peers that its groups have made
 * @finished: its ended operations, oldest first; sn->finished_lock
 * @finished_cost: what they count; sn->finished_lock
 * @by_cost: in sn->finished_users while there are any; sn->finished_lock
 */
struct shuffle_user {
	struct rb_node		node;
	struct shuffle_net	*sn;
	kuid_t			uid;
	refcount_t		ref;
	atomic_t		peers;
	struct list_head	finished;
	u32			finished_cost;
	struct rb_node		by_cost;
};

struct shuffle_user *shuffle_user_get(struct shuffle_net *sn, kuid_t uid);
void shuffle_user_put(struct shuffle_user *user);

static inline struct shuffle_user *shuffle_user_hold(struct shuffle_user *user)
{
	refcount_inc(&user->ref);
	return user;
}

#endif /* _SHUFFLE_USER_H */
