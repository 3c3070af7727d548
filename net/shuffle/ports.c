// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bound sockets of a namespace by address and port.  The table's hash has a secret of
 * its own and the table grows, so that nobody can make others' packets search.  It has
 * its own locks; a packet's socket is looked up under RCU.
 */
#include <linux/rhashtable.h>
#include <net/ipv6.h>

#include "shuffle.h"

/* Once for each packet: with a length that the compiler knows it is three comparisons. */
static int port_key_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct shuffle_sock *ssk = obj;

	return memcmp(&ssk->port_key, arg->key, sizeof(ssk->port_key)) != 0;
}

static const struct rhashtable_params port_params = {
	.key_len		= sizeof_field(struct shuffle_sock, port_key),
	.key_offset		= offsetof(struct shuffle_sock, port_key),
	.head_offset		= offsetof(struct shuffle_sock, port_node),
	.obj_cmpfn		= port_key_cmp,
	/* as many as it begins with: no work for the sake of a few sockets */
	.min_size		= 64,
	.automatic_shrinking	= true,
};

static struct shuffle_port_key port_key(u16 ip_family, const void *addr, u16 port)
{
	struct shuffle_port_key key = {
		.ip_family = ip_family,
		.port = port,
	};

	/* all of it is hashed: there is no padding */
	BUILD_BUG_ON(sizeof(key) != sizeof(key.addr) + sizeof(key.ip_family) + sizeof(key.port));
	memcpy(key.addr, addr, ip_family == AF_INET ? 4 : 16);
	return key;
}

/**
 * shuffle_ports_init() - a new namespace
 * @sn: namespace
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int shuffle_ports_init(struct shuffle_net *sn)
{
	return rhashtable_init(&sn->ports, &port_params);
}

/**
 * shuffle_ports_exit() - the namespace goes
 * @sn: namespace without sockets
 *
 * Context: process, may sleep.
 */
void shuffle_ports_exit(struct shuffle_net *sn)
{
	rhashtable_destroy(&sn->ports);
}

/**
 * shuffle_ports_add() - enter a socket under an address
 * @ssk: socket
 * @addr: the address; port 0 asks for any free one and gets it
 *
 * Context: process, lock_sock held.
 * Return: 0, -EADDRINUSE or -ENOMEM.
 */
int shuffle_ports_add(struct shuffle_sock *ssk, struct sockaddr_shuffle *addr)
{
	struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));
	u16 port = ntohs(addr->shs_port);
	int tries = port ? 1 : 256;
	int err;

	do {
		/* unguessable, and out of the way of well-known numbers */
		if (!addr->shs_port)
			port = 32768 + get_random_u32_below(28232);
		ssk->port_key = port_key(addr->shs_ip_family, addr->shs_addr, port);
		err = rhashtable_lookup_insert_fast(&sn->ports, &ssk->port_node, port_params);
	} while (err == -EEXIST && --tries);
	if (!err) {
		addr->shs_port = htons(port);
		return 0;
	}
	memset(&ssk->port_key, 0, sizeof(ssk->port_key));
	return err == -EEXIST ? -EADDRINUSE : -ENOMEM;
}

/**
 * shuffle_ports_del() - take a socket out; packets no longer find it
 * @ssk: socket, bound or not
 *
 * Context: process, lock_sock held.
 */
void shuffle_ports_del(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));

	if (ssk->port_key.ip_family)
		rhashtable_remove_fast(&sn->ports, &ssk->port_node, port_params);
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
	struct shuffle_port_key key = port_key(ip_family, addr, port);
	struct shuffle_sock *ssk;

	rcu_read_lock();
	ssk = rhashtable_lookup(&sn->ports, &key, port_params);
	if (ssk && !refcount_inc_not_zero(&ssk->sk.sk_refcnt))
		ssk = NULL;
	rcu_read_unlock();
	return ssk;
}
