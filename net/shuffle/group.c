// SPDX-License-Identifier: GPL-2.0-only
/* Addresses and groups: the ordered list of members. */
#include <linux/in.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <net/dst.h>
#include <net/ipv6.h>

#include "group.h"
#include "netns.h"
#include "peer.h"
#include "rx/delayed_ack.h"
#include "sched/wire.h"
#include "sock.h"

/**
 * shuffle_addr_check() - is this an address a member can have?
 * @a: from user space, copied
 *
 * Context: any.
 * Return: 0, -EAFNOSUPPORT, -EINVAL (reserved bytes, port-independent form) or
 * -EADDRNOTAVAIL (wildcard, multicast, broadcast).
 */
int shuffle_addr_check(const struct sockaddr_shuffle *a)
{
	const struct in6_addr *a6 = (const struct in6_addr *)a->shs_addr;
	__be32 a4;

	if (a->shs_family != shuffle_family)
		return -EAFNOSUPPORT;
	if (a->shs_reserved)
		return -EINVAL;
	switch (a->shs_ip_family) {
	case AF_INET:
		memcpy(&a4, a->shs_addr, 4);
		if (memchr_inv(a->shs_addr + 4, 0, 12) || a->shs_scope_id)
			return -EINVAL;
		if (ipv4_is_zeronet(a4) || ipv4_is_multicast(a4) || ipv4_is_lbcast(a4))
			return -EADDRNOTAVAIL;
		return 0;
	case AF_INET6:
		if (!IS_ENABLED(CONFIG_IPV6))
			break;
		if (ipv6_addr_any(a6) || ipv6_addr_is_multicast(a6) ||
		    ipv6_addr_v4mapped(a6))
			return -EADDRNOTAVAIL;
		if (a->shs_scope_id && !(ipv6_addr_type(a6) & IPV6_ADDR_LINKLOCAL))
			return -EINVAL;
		return 0;
	}
	return -EAFNOSUPPORT;
}

/**
 * shuffle_addr_equal() - compare with an address from a packet
 * @a: address
 * @ip_family: AF_INET or AF_INET6
 * @addr: 4 or 16 bytes
 */
bool shuffle_addr_equal(const struct sockaddr_shuffle *a, u16 ip_family, const void *addr)
{
	if (a->shs_ip_family != ip_family)
		return false;
	/* lengths that the compiler knows: no call */
	return ip_family == AF_INET ? !memcmp(a->shs_addr, addr, 4) :
				      !memcmp(a->shs_addr, addr, 16);
}

static void group_free(struct shuffle_membership *group)
{
	u32 i;

	for (i = 0; i < group->count + group->multicast; i++) {
		cond_resched();
		dst_release(group->member[i].dst);
		shuffle_peer_put(group->member[i].peer);
	}
	memzero_explicit(&group->key, sizeof(group->key));
	kvfree(group);
}

/**
 * shuffle_group_put() - drop a reference
 * @group: group or NULL
 *
 * Context: process.
 */
void shuffle_group_put(struct shuffle_membership *group)
{
	if (group && refcount_dec_and_test(&group->ref))
		group_free(group);
}

static int addr_order(const struct sockaddr_shuffle *a, const struct sockaddr_shuffle *b)
{
	return memcmp(a, b, sizeof(*a));
}

static int addr_cmp(const void *a, const void *b)
{
	return addr_order(*(const struct sockaddr_shuffle **)a,
			  *(const struct sockaddr_shuffle **)b);
}

/* Most groups are listed in order. */
static bool group_is_sorted(const struct shuffle_membership *group)
{
	u32 i;

	for (i = 1; i < group->count; i++)
		if (addr_order(&group->member[i - 1].addr, &group->member[i].addr) >= 0)
			return false;
	return true;
}

/* Is nobody there twice?  Sorted, two that are the same are neighbours. */
static int group_check_unique(const struct shuffle_membership *group)
{
	const struct sockaddr_shuffle **addr;
	int err = 0;
	u32 i;

	if (group_is_sorted(group))
		return 0;
	addr = kvmalloc_array(group->count, sizeof(*addr), GFP_KERNEL);
	if (!addr)
		return -ENOMEM;
	for (i = 0; i < group->count; i++)
		addr[i] = &group->member[i].addr;
	sort(addr, group->count, sizeof(*addr), addr_cmp, NULL);
	for (i = 1; i < group->count && !err; i++)
		if (!addr_cmp(&addr[i - 1], &addr[i]))
			err = -EINVAL;
	kvfree(addr);
	return err;
}

/**
 * shuffle_check_zero() - what the program knows of an option and we do not must be zero
 * @optval: the option
 * @from: bytes of it that we know
 * @to: bytes of the option
 *
 * Context: process, may sleep.
 * Return: 0, -EFAULT or -E2BIG.
 */
int shuffle_check_zero(sockptr_t optval, size_t from, size_t to)
{
	u8 buf[64];
	size_t n;

	for (; from < to; from += n) {
		n = min(to - from, sizeof(buf));
		if (copy_from_sockptr_offset(buf, optval, from, n))
			return -EFAULT;
		if (memchr_inv(buf, 0, n))
			return -E2BIG;
	}
	return 0;
}

static int head_read(struct shuffle_group *head, sockptr_t optval, unsigned int optlen)
{
	BUILD_BUG_ON(sizeof(*head) != SHUFFLE_GROUP_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct sockaddr_shuffle) != SHUFFLE_MEMBER_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct shuffle_edge) != SHUFFLE_MEMBER_SIZE_VER1);
	if (optlen < SHUFFLE_GROUP_SIZE_VER0)
		return -EINVAL;
	if (copy_from_sockptr(head, optval, sizeof(*head)))
		return -EFAULT;
	if (head->size < SHUFFLE_GROUP_SIZE_VER0 || head->size > PAGE_SIZE || head->size % 8 ||
	    head->member_size < SHUFFLE_MEMBER_SIZE_VER0 || head->member_size > PAGE_SIZE ||
	    head->member_size % 4)
		return -EINVAL;
	if (head->flags || head->reserved || !head->count || head->count > SHUFFLE_MAX_MEMBERS ||
	    head->rank >= head->count)
		return -EINVAL;
	if (optlen != head->size + head->count * head->member_size)
		return -EINVAL;
	return shuffle_check_zero(optval, sizeof(*head), head->size);
}

/* The index of our address towards a member, which @group has from now on; or an error. */
static int group_local(struct shuffle_sock *ssk, struct shuffle_membership *group,
		       const u8 *addr)
{
	struct sockaddr_shuffle a = ssk->addr;
	int err;
	u32 i;

	if (!memchr_inv(addr, 0, sizeof(a.shs_addr)))
		return 0;
	memcpy(a.shs_addr, addr, sizeof(a.shs_addr));
	for (i = 0; i < group->locals; i++)
		if (!memcmp(&a, &group->local[i], sizeof(a)))
			return i;
	err = shuffle_addr_check(&a);
	if (err)
		return err;
	/* whose scope would it be? */
	if (i == SHUFFLE_LOCALS || a.shs_scope_id ||
	    (a.shs_ip_family == AF_INET6 &&
	     ipv6_addr_type((struct in6_addr *)a.shs_addr) & IPV6_ADDR_LINKLOCAL))
		return -EINVAL;
	if (!shuffle_sock_is_local(&ssk->sk, &a))
		return -EADDRNOTAVAIL;
	group->local[i] = a;
	group->locals++;
	return i;
}

static int group_read(struct shuffle_sock *ssk, struct shuffle_membership *group,
		      const struct shuffle_group *head, sockptr_t optval)
{
	const struct sockaddr_shuffle *self = &ssk->addr;
	struct sockaddr_shuffle a;
	struct shuffle_peer *peer;
	size_t at, bytes;
	int err;
	u32 i;

	group->edges = head->member_size >= SHUFFLE_MEMBER_SIZE_VER1;
	group->local[0] = *self;
	group->locals = 1;
	for (i = 0; i < group->count; i++, cond_resched()) {
		struct shuffle_edge edge = {};

		at = head->size + i * head->member_size;
		bytes = head->member_size < sizeof(edge) ? sizeof(edge.member) : sizeof(edge);
		if (copy_from_sockptr_offset(&edge, optval, at, bytes))
			return -EFAULT;
		a = edge.member;
		err = shuffle_check_zero(optval, at + bytes, at + head->member_size);
		if (err)
			return err;
		err = shuffle_addr_check(&a);
		if (err)
			return err;
		if (!a.shs_port || a.shs_ip_family != self->shs_ip_family)
			return -EINVAL;
		group->member[i].addr = a;
		err = group_local(ssk, group, edge.local);
		if (err < 0)
			return err;
		/* we do not send to ourselves from elsewhere */
		if (i == group->rank && err)
			return -EINVAL;
		group->member[i].local = err;
		peer = shuffle_peer_get(ssk, &a);
		if (IS_ERR(peer))
			return PTR_ERR(peer);
		group->member[i].peer = peer;
	}
	err = group_check_unique(group);
	if (err)
		return err;
	a = group->member[group->rank].addr;
	if (!shuffle_addr_equal(&a, self->shs_ip_family, self->shs_addr) ||
	    a.shs_port != self->shs_port)
		return -EADDRNOTAVAIL;
	return 0;
}

/* The entry behind the members.  0, -EINVAL (ports differ), -ENOMEM or -ENOBUFS. */
static int group_multicast(struct shuffle_sock *ssk, struct shuffle_membership *group)
{
	struct shuffle_member *all = &group->member[shuffle_group_all(group)];
	struct shuffle_peer *peer;
	bool own_port;
	u32 i;

	if (!ssk->multicast)
		return 0;
	if (group->locals > 1)
		return -EINVAL;
	group->hops = shuffle_multicast_addr(ssk, &all->addr, &own_port);
	for (i = 0; i < group->count; i++) {
		if (own_port && group->member[i].addr.shs_port != ssk->addr.shs_port)
			return -EINVAL;
		/* a host does not get its own packets back */
		if (shuffle_addr_equal(&group->member[i].addr, ssk->addr.shs_ip_family,
				       ssk->addr.shs_addr))
			group->member[i].missed = SHUFFLE_MISSED_MAX;
	}
	peer = shuffle_peer_get(ssk, &all->addr);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	all->peer = peer;
	group->multicast = true;
	return 0;
}

/**
 * shuffle_group_set() - option SHUFFLE_GROUP
 * @ssk: a bound socket
 * @optval: struct shuffle_group, in sizes of the program
 * @optlen: bytes at @optval
 *
 * Context: process, lock_sock held.
 * Return: 0, or -EINVAL (also: a member twice, or different ports with SHUFFLE_MULTICAST),
 * -E2BIG (fields that we do not know), -EFAULT, -ENOMEM, -EBUSY (operations are running),
 * -EADDRNOTAVAIL (members[rank] is not the address to which we are bound, or an edge's is none of
 * ours), -EADDRINUSE (another socket has an edge's address and our port), -EACCES (our port is
 * privileged, and the address is one more), -EAFNOSUPPORT, or -ENOBUFS (groups of this user name
 * too many hosts).
 */
int shuffle_group_set(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen)
{
	struct shuffle_membership *group, *old;
	struct shuffle_ports ports;
	struct shuffle_group head;
	int err;

	sock_owned_by_me(&ssk->sk);
	if (!ssk->addr.shs_family)
		return -EINVAL;
	err = head_read(&head, optval, optlen);
	if (err)
		return err;

	/* before places of others are asked for: asked again when the group is there */
	if (READ_ONCE(ssk->nr_ops))
		return -EBUSY;
	group = kvzalloc(struct_size(group, member, head.count + 1), GFP_KERNEL_ACCOUNT);
	if (!group)
		return -ENOMEM;
	refcount_set(&group->ref, 1);
	group->rank = head.rank;
	group->count = head.count;
	group->keyed = ssk->keyed;
	group->key = ssk->key;
	group->data_hdr = SHUFFLE_WIRE_DATA_HDR + (ssk->keyed ? SHUFFLE_WIRE_TAG : 0);
	err = group_read(ssk, group, &head, optval) ?: group_multicast(ssk, group) ?:
	      shuffle_ports_more(ssk, group, &ports);
	if (err) {
		group_free(group);
		return err;
	}

	spin_lock_bh(&ssk->lock);
	old = group;
	if (!ssk->nr_ops) {
		old = ssk->group;
		ssk->group = group;
		swap(ssk->more_ports, ports);
	} else {
		err = -EBUSY;
	}
	spin_unlock_bh(&ssk->lock);
	shuffle_ports_drop(ssk, &ports, &ssk->more_ports);
	if (!err)
		shuffle_delayed_exit(ssk);
	shuffle_group_put(old);
	return err;
}

/**
 * shuffle_group_get() - read the option SHUFFLE_GROUP back
 * @ssk: socket
 * @optval: room for struct shuffle_group; less than all of it gets the head only
 * @optlen: in: size of the room; out: bytes written
 *
 * Context: process, lock_sock held (the group cannot change).
 * Return: 0, -ENOTCONN, -EINVAL or -EFAULT.
 */
int shuffle_group_get(struct shuffle_sock *ssk, char __user *optval, int __user *optlen)
{
	struct shuffle_membership *group = ssk->group;
	struct shuffle_group head = {};
	struct shuffle_edge edge;
	char __user *to;
	int len;
	u32 i;

	sock_owned_by_me(&ssk->sk);
	if (!group)
		return -ENOTCONN;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < (int)sizeof(head))
		return -EINVAL;
	head.size = sizeof(head);
	head.member_size = group->edges ? sizeof(edge) : sizeof(edge.member);
	head.rank = group->rank;
	head.count = group->count;
	if (copy_to_user(optval, &head, sizeof(head)))
		return -EFAULT;
	to = optval + sizeof(head);
	len -= sizeof(head);
	for (i = 0; i < group->count && len >= (int)head.member_size; i++) {
		edge.member = group->member[i].addr;
		memcpy(edge.local, shuffle_group_self(group, i)->shs_addr, sizeof(edge.local));
		if (copy_to_user(to, &edge, head.member_size))
			return -EFAULT;
		to += head.member_size;
		len -= head.member_size;
	}
	return put_user((int)(to - optval), optlen);
}
