// SPDX-License-Identifier: GPL-2.0-only
/* Bound sockets of a namespace by port and address.  Changes: sn->ports_lock. */
#include <net/ipv6.h>

#include "shuffle.h"

static struct hlist_head *port_bucket(struct shuffle_net *sn, u16 port)
{
	return &sn->ports[port % SHUFFLE_PORT_BUCKETS];
}

static struct shuffle_sock *port_find(struct shuffle_net *sn, u16 ip_family,
				 const void *addr, u16 port)
{
	struct shuffle_sock *ssk;

	hlist_for_each_entry_rcu(ssk, port_bucket(sn, port), port_node,
				 lockdep_is_held(&sn->ports_lock))
		if (ntohs(ssk->addr.shs_port) == port &&
		    shuffle_addr_equal(&ssk->addr, ip_family, addr))
			return ssk;
	return NULL;
}

/**
 * shuffle_ports_add() - enter a socket under its address
 * @ssk: socket with ssk->addr set; port 0 asks for any free one
 *
 * Context: process, lock_sock held.
 * Return: 0 or -EADDRINUSE.
 */
int shuffle_ports_add(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));
	u16 port = ntohs(ssk->addr.shs_port);
	int err = -EADDRINUSE;
	int tries = 1;

	if (!port)
		tries = 256;
	spin_lock_bh(&sn->ports_lock);
	while (tries--) {
		/* unguessable, and out of the way of well-known numbers */
		if (!ssk->addr.shs_port)
			port = 32768 + get_random_u32_below(28232);
		if (port_find(sn, ssk->addr.shs_ip_family, ssk->addr.shs_addr, port))
			continue;
		ssk->addr.shs_port = htons(port);
		hlist_add_head_rcu(&ssk->port_node, port_bucket(sn, port));
		err = 0;
		break;
	}
	spin_unlock_bh(&sn->ports_lock);
	return err;
}

/**
 * shuffle_ports_del() - take a socket out; packets no longer find it
 * @ssk: socket, bound or not
 *
 * Context: process.
 */
void shuffle_ports_del(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));

	spin_lock_bh(&sn->ports_lock);
	if (!hlist_unhashed(&ssk->port_node))
		hlist_del_init_rcu(&ssk->port_node);
	spin_unlock_bh(&sn->ports_lock);
}

/**
 * shuffle_ports_find() - the socket that a packet is for
 * @sn: namespace
 * @ip_family: AF_INET or AF_INET6
 * @addr: destination address of the packet
 * @port: destination port of the record
 *
 * Context: any.
 * Return: the socket with a reference, or NULL.
 */
struct shuffle_sock *shuffle_ports_find(struct shuffle_net *sn, u16 ip_family,
					const void *addr, u16 port)
{
	struct shuffle_sock *ssk;

	rcu_read_lock();
	ssk = port_find(sn, ip_family, addr, port);
	if (ssk && !refcount_inc_not_zero(&ssk->sk.sk_refcnt))
		ssk = NULL;
	rcu_read_unlock();
	return ssk;
}
