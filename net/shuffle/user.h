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
 * @uid: user id of the sockets
 * @ref: number of sockets, peers and ended operations
 * @peers: number of peers that the user's groups have made
 * @early: bytes that the user's sockets keep of operations that have not begun: rx/early.c
 * @control: number of packets that may go in front of data; data that comes and goes earns them
 * @control_full_at: token bucket of such packets that nothing has earned
 * @finished: ended operations of the user, oldest first; sn->finished_lock
 * @finished_cost: what @finished count in the limits; sn->finished_lock
 * @by_cost: in sn->finished_users while there are any; sn->finished_lock
 */
struct shuffle_user {
	struct rb_node		node;
	struct shuffle_net	*sn;
	kuid_t			uid;
	refcount_t		ref;
	atomic_t		peers;
	atomic_t		early;
	atomic_t		control;
	atomic64_t		control_full_at;
	struct list_head	finished;
	u32			finished_cost;
	struct rb_node		by_cost;
};

struct shuffle_user *shuffle_user_get(struct shuffle_net *sn, kuid_t uid);
void shuffle_user_put(struct shuffle_user *user);
bool shuffle_user_control(struct shuffle_user *user);

static inline struct shuffle_user *shuffle_user_hold(struct shuffle_user *user)
{
	refcount_inc(&user->ref);
	return user;
}

/* What a user may have sent in front of data and has not earned: two announcements to each member
 * of the largest group.
 */
#define SHUFFLE_CONTROL_MAX_AHEAD	8192
/* and so many a second */
#define SHUFFLE_CONTROL_RATE		1000

/**
 * shuffle_user_earn() - a packet of data has come from another host, or goes to one
 * @user: of the socket
 *
 * Two CPUs that do so at once may go a little above the bound.
 *
 * Context: any.
 */
static inline void shuffle_user_earn(struct shuffle_user *user)
{
	if (atomic_read(&user->control) < SHUFFLE_CONTROL_MAX_AHEAD)
		atomic_inc(&user->control);
}

#endif /* _SHUFFLE_USER_H */
