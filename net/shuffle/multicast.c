// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast addresses: the option SHUFFLE_MULTICAST, and the sockets that a packet to such an
 * address is for.
 *
 * A socket joins by the UDP socket to which its packets belong (tx/owner.c): the memory is its
 * user's, and closing it leaves.  What comes is read from the namespace's UDP socket, which gets
 * what any socket of the host has joined.
 *
 * It joins on the device that has its own address.  So one address and port are wanted by as many
 * sockets as the device has addresses: SHUFFLE_MULTICAST_SHARED can have them, of one user, as with
 * SO_REUSEPORT.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rhashtable.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "group.h"
#include "netns.h"
#include "sock.h"
#include "user.h"

/* What packets find entries by. */
struct multicast_key {
	struct shuffle_port_key	to;
	u32			scope_id;
};

/**
 * struct shuffle_multicast_entry - what a socket has joined
 * @node: in sn->multicast
 * @key: address, port and device
 * @hops: time to live
 * @own_port: the port is the socket's own
 * @ssk: the socket
 * @rcu: packets may still see it
 */
struct shuffle_multicast_entry {
	struct rhlist_head	node;
	struct multicast_key	key;
	u8			hops;
	bool			own_port;
	struct shuffle_sock	*ssk;
	struct rcu_head		rcu;
};

static const struct rhashtable_params multicast_params = {
	.key_len		= sizeof_field(struct shuffle_multicast_entry, key),
	.key_offset		= offsetof(struct shuffle_multicast_entry, key),
	.head_offset		= offsetof(struct shuffle_multicast_entry, node),
	.automatic_shrinking	= true,
};

/**
 * shuffle_multicast_init() - a new namespace
 * @sn: namespace
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int shuffle_multicast_init(struct shuffle_net *sn)
{
	mutex_init(&sn->multicast_mutex);
	return rhltable_init(&sn->multicast, &multicast_params);
}

/**
 * shuffle_multicast_exit() - the namespace goes
 * @sn: namespace without sockets
 *
 * Context: process, may sleep.
 */
void shuffle_multicast_exit(struct shuffle_net *sn)
{
	rhltable_destroy(&sn->multicast);
}

/* The device that has the address to which the socket is bound, or 0. */
static u32 device_of(struct shuffle_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);
	u32 ifindex = ssk->addr.shs_scope_id;
	struct net_device *dev = NULL;
	__be32 a4;

	if (ifindex)
		return ifindex;
	rcu_read_lock();
	if (ssk->addr.shs_ip_family == AF_INET) {
		memcpy(&a4, ssk->addr.shs_addr, 4);
		dev = __ip_dev_find(net, a4, false);
	} else if (IS_ENABLED(CONFIG_IPV6)) {
		dev = ipv6_dev_find(net, (struct in6_addr *)ssk->addr.shs_addr, NULL);
	}
	if (dev)
		ifindex = dev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/* 0, -EFAULT, -EINVAL, -E2BIG, or -EADDRNOTAVAIL: no multicast address */
static int read_option(struct shuffle_sock *ssk, struct shuffle_multicast *m, sockptr_t optval,
		       unsigned int optlen)
{
	__be32 a4;
	int err;

	BUILD_BUG_ON(sizeof(*m) != SHUFFLE_MULTICAST_SIZE_VER0);
	if (!ssk->addr.shs_family || optlen < SHUFFLE_MULTICAST_SIZE_VER0)
		return -EINVAL;
	if (copy_from_sockptr(m, optval, sizeof(*m)))
		return -EFAULT;
	if (m->size != optlen || optlen > PAGE_SIZE || m->reserved || m->unicast ||
	    m->scope_id > INT_MAX || m->ip_family != ssk->addr.shs_ip_family)
		return -EINVAL;
	err = shuffle_check_zero(optval, sizeof(*m), optlen);
	if (err)
		return err;
	if (m->ip_family == AF_INET) {
		if (memchr_inv(m->addr + 4, 0, 12))
			return -EINVAL;
		memcpy(&a4, m->addr, 4);
		return ipv4_is_multicast(a4) ? 0 : -EADDRNOTAVAIL;
	}
	return ipv6_addr_is_multicast((struct in6_addr *)m->addr) ? 0 : -EADDRNOTAVAIL;
}

static int membership4(struct socket *sock, const struct shuffle_multicast_entry *e, bool join)
{
	struct ip_mreqn req = { .imr_ifindex = e->key.scope_id };

	memcpy(&req.imr_multiaddr, e->key.to.addr, 4);
	return sock->ops->setsockopt(sock, SOL_IP, join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
				     KERNEL_SOCKPTR(&req), sizeof(req));
}

static int membership6(struct socket *sock, const struct shuffle_multicast_entry *e, bool join)
{
	struct ipv6_mreq req = { .ipv6mr_ifindex = e->key.scope_id };

	memcpy(&req.ipv6mr_multiaddr, e->key.to.addr, 16);
	return sock->ops->setsockopt(sock, SOL_IPV6,
				     join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP,
				     KERNEL_SOCKPTR(&req), sizeof(req));
}

/* Join the address, or leave it.  lock_sock held. */
static int membership(struct shuffle_sock *ssk, const struct shuffle_multicast_entry *e, bool join)
{
	if (e->key.to.ip_family == AF_INET)
		return membership4(ssk->owner.sock[0], e, join);
	return membership6(ssk->owner.sock[0], e, join);
}

/* As many of a user as shuffle_multicast_find() finds.  multicast_mutex held. */
static int enter(struct shuffle_net *sn, struct shuffle_multicast_entry *e)
{
	struct shuffle_multicast_entry *other;
	struct rhlist_head *list, *pos;
	u32 n = 0;

	lockdep_assert_held(&sn->multicast_mutex);
	rcu_read_lock();
	list = rhltable_lookup(&sn->multicast, &e->key, multicast_params);
	rhl_for_each_entry_rcu(other, pos, list, node)
		n += other->ssk->user == e->ssk->user ? 1 : SHUFFLE_MULTICAST_SHARED;
	rcu_read_unlock();
	if (n >= SHUFFLE_MULTICAST_SHARED)
		return -EADDRINUSE;
	return rhltable_insert(&sn->multicast, &e->node, multicast_params) ? -ENOMEM : 0;
}

/**
 * shuffle_multicast_leave() - forget the address that a socket has joined
 * @ssk: socket, bound or not
 *
 * Context: process, may sleep, lock_sock held, before shuffle_owner_close().
 */
void shuffle_multicast_leave(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = ssk->sn;
	struct shuffle_multicast_entry *e = ssk->multicast;

	sock_owned_by_me(&ssk->sk);
	if (!e)
		return;
	ssk->multicast = NULL;
	mutex_lock(&sn->multicast_mutex);
	rhltable_remove(&sn->multicast, &e->node, multicast_params);
	mutex_unlock(&sn->multicast_mutex);
	membership(ssk, e, false);
	kfree_rcu(e, rcu);
}

/**
 * shuffle_multicast_set() - option SHUFFLE_MULTICAST
 * @ssk: a bound socket
 * @optval: struct shuffle_multicast
 * @optlen: bytes at @optval; 0: the socket leaves the address
 *
 * Context: process, lock_sock held.
 * Return: 0, -EINVAL, -E2BIG (fields that we do not know), -EFAULT, -ENOMEM, -EADDRNOTAVAIL (no
 * multicast address), -ENODEV (not the device of our address), -EADDRINUSE (another user's socket
 * or SHUFFLE_MULTICAST_SHARED have the address and the port on this device) or -ENOBUFS
 * (net.ipv4.igmp_max_memberships is 0).  After an error there is no address.
 */
int shuffle_multicast_set(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen)
{
	struct shuffle_net *sn = ssk->sn;
	struct shuffle_multicast_entry *e;
	struct shuffle_multicast m;
	int err;

	sock_owned_by_me(&ssk->sk);
	if (!optlen) {
		shuffle_multicast_leave(ssk);
		return 0;
	}
	err = read_option(ssk, &m, optval, optlen);
	if (err)
		return err;
	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return -ENOMEM;
	e->ssk = ssk;
	e->hops = m.hops ?: 1;
	e->key.scope_id = device_of(ssk);
	e->key.to.ip_family = m.ip_family;
	e->own_port = !m.port;
	e->key.to.port = m.port ?: ntohs(ssk->addr.shs_port);
	memcpy(e->key.to.addr, m.addr, m.ip_family == AF_INET ? 4 : 16);

	/* the one before may be the same: it cannot be joined twice */
	shuffle_multicast_leave(ssk);
	err = -ENODEV;
	if (!e->key.scope_id || (m.scope_id && m.scope_id != e->key.scope_id))
		goto err_join;
	err = membership(ssk, e, true);
	if (err)
		goto err_join;
	mutex_lock(&sn->multicast_mutex);
	err = enter(sn, e);
	mutex_unlock(&sn->multicast_mutex);
	if (err)
		goto err_enter;
	ssk->multicast = e;
	return 0;

err_enter:
	membership(ssk, e, false);
err_join:
	kfree(e);
	return err;
}

/* Members of the group that get nothing by multicast. */
static u32 count_unicast(struct shuffle_sock *ssk)
{
	const struct shuffle_membership *group = ssk->group;
	u32 i, n = 0;

	if (!group)
		return 0;
	/* joined later */
	if (!group->multicast)
		return group->count - 1;
	for (i = 0; i < group->count; i++)
		n += i != group->rank && READ_ONCE(group->member[i].missed) >= SHUFFLE_MISSED_MAX;
	return n;
}

/**
 * shuffle_multicast_get() - read the option SHUFFLE_MULTICAST back
 * @ssk: socket
 * @optval: room for struct shuffle_multicast
 * @optlen: in: size of the room; out: bytes written, 0: no address
 *
 * Context: process, lock_sock held.
 * Return: 0, -EINVAL or -EFAULT.
 */
int shuffle_multicast_get(struct shuffle_sock *ssk, char __user *optval, int __user *optlen)
{
	const struct shuffle_multicast_entry *e = ssk->multicast;
	struct shuffle_multicast m = { .size = sizeof(m) };
	int len;

	sock_owned_by_me(&ssk->sk);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < (int)sizeof(m))
		return -EINVAL;
	if (!e)
		return put_user(0, optlen);
	m.ip_family = e->key.to.ip_family;
	m.hops = e->hops;
	m.port = e->key.to.port;
	m.scope_id = e->key.scope_id;
	m.unicast = count_unicast(ssk);
	memcpy(m.addr, e->key.to.addr, sizeof(m.addr));
	if (copy_to_user(optval, &m, sizeof(m)))
		return -EFAULT;
	return put_user((int)sizeof(m), optlen);
}

/**
 * shuffle_multicast_addr() - the address that a socket has joined
 * @ssk: socket with one
 * @addr: becomes the address, its device and its port
 * @own_port: becomes true if that is the socket's own
 *
 * Context: process, lock_sock held.
 * Return: time to live.
 */
u8 shuffle_multicast_addr(const struct shuffle_sock *ssk, struct sockaddr_shuffle *addr,
			  bool *own_port)
{
	const struct shuffle_multicast_entry *e = ssk->multicast;

	sock_owned_by_me(&ssk->sk);
	*addr = (struct sockaddr_shuffle) {
		.shs_family = shuffle_family,
		.shs_port = htons(e->key.to.port),
		.shs_ip_family = e->key.to.ip_family,
		.shs_scope_id = e->key.scope_id,
	};
	memcpy(addr->shs_addr, e->key.to.addr, sizeof(e->key.to.addr));
	*own_port = e->own_port;
	return e->hops;
}

/* Add those of one device to the @n sockets that have been found.  Returns their number. */
static u32 find_on(struct shuffle_net *sn, const struct multicast_key *key,
		   struct shuffle_sock **found, u32 n)
{
	struct shuffle_multicast_entry *e;
	struct rhlist_head *list, *pos;

	rcu_read_lock();
	list = rhltable_lookup(&sn->multicast, key, multicast_params);
	rhl_for_each_entry_rcu(e, pos, list, node) {
		if (n == SHUFFLE_MULTICAST_SHARED)
			break;
		if (refcount_inc_not_zero(&e->ssk->sk.sk_refcnt))
			found[n++] = e->ssk;
	}
	rcu_read_unlock();
	return n;
}

/**
 * shuffle_multicast_find() - the sockets that a packet is for
 * @sn: namespace
 * @to: destination address of the packet
 * @port: destination port of the record
 * @dif: device by which it came
 * @sdif: in a VRF the device that is a part of it, else 0
 * @found: becomes the sockets, SHUFFLE_MULTICAST_SHARED at most, with references
 *
 * Context: any.
 * Return: their number.
 */
u32 shuffle_multicast_find(struct shuffle_net *sn, const struct sockaddr_shuffle *to, u16 port,
			   u32 dif, u32 sdif, struct shuffle_sock **found)
{
	struct multicast_key key = {
		.to = { .ip_family = to->shs_ip_family, .port = port },
		.scope_id = dif,
	};
	u32 n;

	memcpy(key.to.addr, to->shs_addr, key.to.ip_family == AF_INET ? 4 : 16);
	n = find_on(sn, &key, found, 0);
	if (sdif && sdif != dif) {
		key.scope_id = sdif;
		n = find_on(sn, &key, found, n);
	}
	return n;
}
