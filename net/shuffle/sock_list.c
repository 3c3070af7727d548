// SPDX-License-Identifier: GPL-2.0-only
/*
 * All sockets of a namespace, oldest first, for those who look at them from
 * outside.  sn->socks_lock guards the list, RCU its readers; a socket's number
 * grows along it, so that a dump can go on where it stopped.
 */
#include <linux/sock_diag.h>

#include "shuffle.h"

/**
 * shuffle_sock_list_add() - a socket has been made
 * @ssk: socket
 *
 * Context: process.
 */
void shuffle_sock_list_add(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));
	u32 cookie[2];

	sock_diag_save_cookie(&ssk->sk, cookie);
	ssk->cookie = cookie[0] | (u64)cookie[1] << 32;
	spin_lock(&sn->socks_lock);
	ssk->number = ++sn->socks_number;
	list_add_tail_rcu(&ssk->net_node, &sn->socks);
	spin_unlock(&sn->socks_lock);
	atomic_inc(&sn->gen);
}

/**
 * shuffle_sock_list_del() - a socket is closed
 * @ssk: socket
 *
 * Context: process.
 */
void shuffle_sock_list_del(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));

	spin_lock(&sn->socks_lock);
	list_del_rcu(&ssk->net_node);
	spin_unlock(&sn->socks_lock);
	atomic_inc(&sn->gen);
}

/**
 * shuffle_sock_list_next() - the first socket with at least some number
 * @sn: namespace
 * @number: its least number
 *
 * Context: process.
 * Return: the socket with a reference, or NULL.
 */
struct shuffle_sock *shuffle_sock_list_next(struct shuffle_net *sn, u64 number)
{
	struct shuffle_sock *ssk, *res = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(ssk, &sn->socks, net_node) {
		if (ssk->number < number || !refcount_inc_not_zero(&ssk->sk.sk_refcnt))
			continue;
		res = ssk;
		break;
	}
	rcu_read_unlock();
	return res;
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
	struct shuffle_sock *ssk, *res = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(ssk, &sn->socks, net_node) {
		if (ssk->cookie != cookie)
			continue;
		if (refcount_inc_not_zero(&ssk->sk.sk_refcnt))
			res = ssk;
		break;
	}
	rcu_read_unlock();
	return res;
}
