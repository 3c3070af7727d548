// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bound sockets of a namespace by address and port.  The table's hash has a secret of
 * its own and the table grows, so that nobody can make others' packets search.  It has
 * its own locks; a packet's socket is looked up under RCU.
 */
#include <linux/rhashtable.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "group.h"
#include "netns.h"
#include "sock.h"

/* Once for each packet: with a length that the compiler knows it is three comparisons. */
static int port_key_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct shuffle_port *port = obj;

	return memcmp(&port->key, arg->key, sizeof(port->key)) != 0;
}

static const struct rhashtable_params port_params = {
	.key_len		= sizeof_field(struct shuffle_port, key),
	.key_offset		= offsetof(struct shuffle_port, key),
	.head_offset		= offsetof(struct shuffle_port, node),
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
	struct shuffle_net *sn = ssk->sn;
	u16 port = ntohs(addr->shs_port);
	int tries = port ? 1 : 256;
	int err;

	sock_owned_by_me(&ssk->sk);
	ssk->port.ssk = ssk;
	do {
		/* unguessable, and out of the way of well-known numbers */
		if (!addr->shs_port)
			port = 32768 + get_random_u32_below(28232);
		ssk->port.key = port_key(addr->shs_ip_family, addr->shs_addr, port);
		err = rhashtable_lookup_insert_fast(&sn->ports, &ssk->port.node, port_params);
	} while (err == -EEXIST && --tries);
	if (!err) {
		addr->shs_port = htons(port);
		return 0;
	}
	memset(&ssk->port.key, 0, sizeof(ssk->port.key));
	return err == -EEXIST ? -EADDRINUSE : -ENOMEM;
}

static bool has_port(const struct shuffle_ports *ports, const struct shuffle_port *port)
{
	u32 i;

	for (i = 0; i < ports->n; i++)
		if (ports->port[i] == port)
			return true;
	return false;
}

/**
 * shuffle_ports_drop() - packets no longer find a socket at some places
 * @ssk: socket
 * @from: the places
 * @but: those of them at which packets find it all the same
 *
 * Context: process, lock_sock held.
 */
void shuffle_ports_drop(struct shuffle_sock *ssk, const struct shuffle_ports *from,
			const struct shuffle_ports *but)
{
	struct shuffle_net *sn = ssk->sn;
	u32 i;

	sock_owned_by_me(&ssk->sk);
	for (i = 0; i < from->n; i++) {
		if (has_port(but, from->port[i]))
			continue;
		rhashtable_remove_fast(&sn->ports, &from->port[i]->node, port_params);
		kfree_rcu(from->port[i], rcu);
	}
}

/**
 * shuffle_ports_del() - take a socket out; packets no longer find it
 * @ssk: socket, bound or not
 *
 * Context: process, lock_sock held.
 */
void shuffle_ports_del(struct shuffle_sock *ssk)
{
	static const struct shuffle_ports none;
	struct shuffle_net *sn = ssk->sn;

	sock_owned_by_me(&ssk->sk);
	shuffle_ports_drop(ssk, &ssk->more_ports, &none);
	ssk->more_ports.n = 0;
	if (ssk->port.key.ip_family)
		rhashtable_remove_fast(&sn->ports, &ssk->port.node, port_params);
}

/* The place with @key in @ports, or NULL. */
static struct shuffle_port *find_port(const struct shuffle_ports *ports,
				      const struct shuffle_port_key *key)
{
	u32 i;

	for (i = 0; i < ports->n; i++)
		if (!memcmp(&ports->port[i]->key, key, sizeof(*key)))
			return ports->port[i];
	return NULL;
}

/* 0, -EADDRINUSE, -EACCES or -ENOMEM.  As bind() does, and so often. */
static int new_port(struct shuffle_sock *ssk, const struct shuffle_port_key *key,
		    struct shuffle_ports *to)
{
	struct net *net = sock_net(&ssk->sk);
	struct shuffle_port *port;
	int err;

	if (inet_port_requires_bind_service(net, key->port) &&
	    !ns_capable(net->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;
	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return -ENOMEM;
	port->key = *key;
	port->ssk = ssk;
	err = rhashtable_lookup_insert_fast(&ssk->sn->ports, &port->node, port_params);
	if (err) {
		kfree(port);
		return err == -EEXIST ? -EADDRINUSE : -ENOMEM;
	}
	to->port[to->n++] = port;
	return 0;
}

/**
 * shuffle_ports_more() - packets find a socket at all addresses that a group gives it
 * @ssk: a bound socket
 * @group: what is to be its group
 * @ports: the places besides where it is bound; some may be ssk->more_ports'
 *
 * The caller makes @ports the socket's own and drops what it had but for those; or the other
 * way round, if the socket keeps the group that it has.
 *
 * Context: process, lock_sock held.
 * Return: 0, -EADDRINUSE, -EACCES or -ENOMEM; the socket has what it had, then.
 */
int shuffle_ports_more(struct shuffle_sock *ssk, const struct shuffle_membership *group,
		       struct shuffle_ports *ports)
{
	struct shuffle_port *port;
	int err = 0;
	u32 i;

	sock_owned_by_me(&ssk->sk);
	ports->n = 0;
	for (i = 1; i < group->locals && !err; i++) {
		const struct sockaddr_shuffle *a = &group->local[i];
		struct shuffle_port_key key = port_key(a->shs_ip_family, a->shs_addr,
						       ntohs(a->shs_port));

		port = find_port(&ssk->more_ports, &key);
		if (port)
			ports->port[ports->n++] = port;
		else
			err = new_port(ssk, &key, ports);
	}
	if (err) {
		shuffle_ports_drop(ssk, ports, &ssk->more_ports);
		ports->n = 0;
	}
	return err;
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
	struct shuffle_sock *ssk = NULL;
	struct shuffle_port *at;

	rcu_read_lock();
	at = rhashtable_lookup(&sn->ports, &key, port_params);
	if (at && refcount_inc_not_zero(&at->ssk->sk.sk_refcnt))
		ssk = at->ssk;
	rcu_read_unlock();
	return ssk;
}
