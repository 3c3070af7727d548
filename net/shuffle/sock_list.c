// SPDX-License-Identifier: GPL-2.0-only
/*
 * All sockets of a namespace, oldest first, for what looks at them from
 * outside.  Any user can open as many as there are file descriptors, so nobody
 * searches from the front: sn->socks has them by number, which grows along the
 * list and starts again after 2^31, so that a dump goes on where it stopped;
 * sn->cookies by cookie.  Both have locks of their own, RCU guards the readers.
 */
#include <linux/rhashtable.h>
#include <linux/sock_diag.h>

#include "netns.h"
#include "sock.h"

static const struct rhashtable_params cookie_params = {
	.key_len		= sizeof_field(struct shuffle_sock, cookie),
	.key_offset		= offsetof(struct shuffle_sock, cookie),
	.head_offset		= offsetof(struct shuffle_sock, cookie_node),
	/* as many as it begins with: no work for the sake of a few sockets */
	.min_size		= 64,
	.automatic_shrinking	= true,
};

/**
 * shuffle_sock_list_init() - a new namespace
 * @sn: namespace
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int shuffle_sock_list_init(struct shuffle_net *sn)
{
	xa_init_flags(&sn->socks, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	return rhashtable_init(&sn->cookies, &cookie_params);
}

/**
 * shuffle_sock_list_exit() - the namespace goes
 * @sn: namespace without sockets
 *
 * Context: process, may sleep.
 */
void shuffle_sock_list_exit(struct shuffle_net *sn)
{
	rhashtable_destroy(&sn->cookies);
	xa_destroy(&sn->socks);
}

/**
 * shuffle_sock_list_add() - a socket has been made
 * @ssk: socket
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int shuffle_sock_list_add(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = ssk->sn;
	u32 cookie[2];

	sock_diag_save_cookie(&ssk->sk, cookie);
	ssk->cookie = cookie[0] | (u64)cookie[1] << 32;
	if (rhashtable_insert_fast(&sn->cookies, &ssk->cookie_node, cookie_params))
		return -ENOMEM;
	if (xa_alloc_cyclic(&sn->socks, &ssk->number, ssk, XA_LIMIT(1, S32_MAX),
			    &sn->socks_next, GFP_KERNEL_ACCOUNT) < 0) {
		rhashtable_remove_fast(&sn->cookies, &ssk->cookie_node, cookie_params);
		return -ENOMEM;
	}
	atomic_inc(&sn->gen);
	return 0;
}

/**
 * shuffle_sock_list_del() - a socket is closed
 * @ssk: socket
 *
 * Context: process.
 */
void shuffle_sock_list_del(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = ssk->sn;

	xa_erase(&sn->socks, ssk->number);
	rhashtable_remove_fast(&sn->cookies, &ssk->cookie_node, cookie_params);
	atomic_inc(&sn->gen);
}

/**
 * shuffle_sock_list_next() - the first socket with at least some number
 * @sn: namespace
 * @number: least number that the socket may have
 *
 * A caller that goes through all of them lets others run between two.
 *
 * Context: process.
 * Return: the socket with a reference, or NULL.
 */
struct shuffle_sock *shuffle_sock_list_next(struct shuffle_net *sn, unsigned long number)
{
	struct shuffle_sock *ssk;

	rcu_read_lock();
	ssk = xa_find(&sn->socks, &number, S32_MAX, XA_PRESENT);
	while (ssk && !refcount_inc_not_zero(&ssk->sk.sk_refcnt))
		ssk = xa_find_after(&sn->socks, &number, S32_MAX, XA_PRESENT);
	rcu_read_unlock();
	return ssk;
}

/**
 * shuffle_sock_list_find() - a socket by its cookie
 * @sn: namespace
 * @cookie: of the socket
 *
 * Context: process.
 * Return: the socket with a reference, or NULL.
 */
struct shuffle_sock *shuffle_sock_list_find(struct shuffle_net *sn, u64 cookie)
{
	struct shuffle_sock *ssk;

	rcu_read_lock();
	ssk = rhashtable_lookup(&sn->cookies, &cookie, cookie_params);
	if (ssk && !refcount_inc_not_zero(&ssk->sk.sk_refcnt))
		ssk = NULL;
	rcu_read_unlock();
	return ssk;
}
