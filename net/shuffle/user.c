// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one user has in a network namespace: quotas that all its sockets share.
 */
#include <linux/slab.h>

#include "netns.h"
#include "op.h"
#include "rate.h"
#include "user.h"

/* The user, or NULL and where it would be.  sn->users_lock held. */
static struct shuffle_user *user_find(struct shuffle_net *sn, kuid_t uid,
				      struct rb_node **parent, struct rb_node ***link)
{
	struct shuffle_user *user;

	lockdep_assert_held(&sn->users_lock);
	*parent = NULL;
	*link = &sn->users.rb_node;
	while (**link) {
		*parent = **link;
		user = rb_entry(*parent, struct shuffle_user, node);
		if (uid_eq(uid, user->uid))
			return user;
		*link = uid_lt(uid, user->uid) ? &(*parent)->rb_left : &(*parent)->rb_right;
	}
	return NULL;
}

/**
 * shuffle_user_get() - the user of a socket
 * @sn: namespace
 * @uid: of the socket
 *
 * Context: process, may sleep.
 * Return: the user with a reference, or NULL: no memory.
 */
struct shuffle_user *shuffle_user_get(struct shuffle_net *sn, kuid_t uid)
{
	struct rb_node *parent, **link;
	struct shuffle_user *user, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->sn = sn;
	new->uid = uid;
	refcount_set(&new->ref, 1);
	atomic_set(&new->control, SHUFFLE_CONTROL_MAX_AHEAD);
	INIT_LIST_HEAD(&new->finished);
	spin_lock_bh(&sn->users_lock);
	user = user_find(sn, uid, &parent, &link);
	if (user) {
		refcount_inc(&user->ref);
	} else {
		rb_link_node(&new->node, parent, link);
		rb_insert_color(&new->node, &sn->users);
		WRITE_ONCE(sn->nr_users, sn->nr_users + 1);
		user = new;
		new = NULL;
	}
	spin_unlock_bh(&sn->users_lock);
	kfree(new);
	return user;
}

/**
 * shuffle_user_put() - drop a reference
 * @user: user or NULL
 *
 * Context: any.
 */
void shuffle_user_put(struct shuffle_user *user)
{
	struct shuffle_net *sn;

	if (!user)
		return;
	sn = user->sn;
	if (refcount_dec_not_one(&user->ref))
		return;
	spin_lock_bh(&sn->users_lock);
	if (!refcount_dec_and_test(&user->ref)) {
		spin_unlock_bh(&sn->users_lock);
		return;
	}
	rb_erase(&user->node, &sn->users);
	WRITE_ONCE(sn->nr_users, sn->nr_users - 1);
	spin_unlock_bh(&sn->users_lock);
	kfree(user);
}

/**
 * shuffle_user_control() - may one more packet without payload go in front of data?  Then it does.
 * @user: of the socket that sends it
 *
 * What overtakes costs those who are overtaken: SO_PRIORITY asks for CAP_NET_ADMIN.  A shuffle
 * needs no more such packets than it has packets of data, and one for each member when it begins.
 *
 * Context: any.
 */
bool shuffle_user_control(struct shuffle_user *user)
{
	return atomic_dec_if_positive(&user->control) >= 0 ||
	       shuffle_rate_take(&user->control_full_at, shuffle_now(), SHUFFLE_CONTROL_RATE);
}
