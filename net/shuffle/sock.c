// SPDX-License-Identifier: GPL-2.0-only
/* What all may ask of a socket. */
#include <linux/net.h>
#include <linux/poll.h>
#include <net/addrconf.h>
#include <net/l3mdev.h>
#include <net/route.h>

#include "sock.h"

/* Borrowed from a protocol that nobody implements, and another module may have it: main.c. */
int shuffle_family __ro_after_init = SHUFFLE_DEFAULT_FAMILY;

/**
 * shuffle_sock_write_space() - the send buffer may have room, or an end has come
 * @sk: socket
 *
 * Context: any, ssk->lock held or not.
 */
void shuffle_sock_write_space(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq)) {
		/* also those in TASK_KILLABLE: row.c */
		wake_up_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	}
	rcu_read_unlock();
}

/**
 * shuffle_sock_is_local() - does an address belong to the host of a socket?
 * @sk: socket
 * @a: the address
 *
 * As for other sockets: in the VRF of the device to which the socket is bound.
 *
 * Context: any.
 */
bool shuffle_sock_is_local(struct sock *sk, const struct sockaddr_shuffle *a)
{
	int ifindex = READ_ONCE(sk->sk_bound_dev_if);
	struct net *net = sock_net(sk);

	if (a->shs_ip_family == AF_INET) {
		u32 table = l3mdev_fib_table_by_index(net, ifindex) ?: RT_TABLE_LOCAL;
		__be32 a4;

		memcpy(&a4, a->shs_addr, 4);
		return inet_addr_type_table(net, a4, table) == RTN_LOCAL;
	}
#if IS_ENABLED(CONFIG_IPV6)
	{
		const struct in6_addr *a6 = (const struct in6_addr *)a->shs_addr;
		struct net_device *dev = NULL;
		bool local;

		if (a->shs_scope_id)
			ifindex = a->shs_scope_id;
		rcu_read_lock();
		if (ifindex)
			dev = dev_get_by_index_rcu(net, ifindex);
		local = (dev || !ifindex) && ipv6_chk_addr(net, a6, dev, 0);
		rcu_read_unlock();
		return local;
	}
#else
	return false;
#endif
}
