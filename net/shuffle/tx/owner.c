// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who a packet belongs to.  skb->sk of a packet is a UDP socket that stands for the
 * AF_SHUFFLE socket that sends it: made in the context of the process that binds, so that
 * it has that process's cgroup, memory cgroup, user and security label.  It is bound to
 * nothing, in no table, and receives nothing.
 *
 * There are two of them.  [0] is that of packets on their way, which are counted and
 * limited: sn->egress_queued.  [1] is that of packets that wait until the address of a
 * neighbour is known.  That may take seconds or for ever, so nobody waits for them; they
 * are limited on their own.
 *
 * Netfilter and traffic control find the user by sk->sk_socket->file, under
 * sk_callback_lock.  sk_socket of both is the user's struct socket, therefore; it is taken
 * away before that goes, as for any other socket.
 */
#include <linux/security.h>
#include <net/dst.h>
#include <net/neighbour.h>

#include "../config.h"
#include "../netns.h"
#include "../sock.h"
#include "egress_wake.h"
#include "owner.h"

#define OWNER_CLOSED	(-1)

/* Bytes of a socket's packets.  sock_wfree() holds back a byte while it tells that the
 * others are free.
 */
static int owner_queued(const struct sock *sk)
{
	int n = sk_wmem_alloc_get(sk);

	return n < (int)SKB_TRUESIZE(0) ? 0 : n;
}

/* Bring the namespace's sum up to date.  Whoever changes the number of bytes calls this
 * afterwards, and the last one leaves only when both agree.
 */
static void owner_count(struct shuffle_sock *ssk, const struct sock *sk)
{
	struct shuffle_net *sn = ssk->sn;
	int old, now;

	/* the bytes have changed before ->counted is read */
	smp_mb__after_atomic();
	for (;;) {
		old = atomic_read(&ssk->owner.counted);
		now = owner_queued(sk);
		if (old == OWNER_CLOSED || now == old)
			return;
		/* fully ordered: the bytes are read again after that */
		if (atomic_cmpxchg(&ssk->owner.counted, old, now) == old)
			atomic_add(now - old, &sn->egress_queued);
	}
}

/* A packet has left the qdisc, or has been dropped; also when a qdisc is reset, in a
 * process.
 */
static void owner_write_space(struct sock *sk)
{
	struct shuffle_sock *ssk;

	rcu_read_lock();
	ssk = rcu_dereference_sk_user_data(sk);
	if (ssk) {
		owner_count(ssk, sk);
		shuffle_egress_room(ssk->sn);
	}
	rcu_read_unlock();
}

/* What goes to a multicast address is not for ourselves. */
static int no_loop(struct socket *sock, int family)
{
	int off = 0;

	if (family == AF_INET)
		return sock->ops->setsockopt(sock, SOL_IP, IP_MULTICAST_LOOP, KERNEL_SOCKPTR(&off),
					     sizeof(off));
	return sock->ops->setsockopt(sock, SOL_IPV6, IPV6_MULTICAST_LOOP, KERNEL_SOCKPTR(&off),
				     sizeof(off));
}

static int owner_create(struct shuffle_sock *ssk, int family, int i)
{
	struct shuffle_owner *o = &ssk->owner;
	struct sock *sk;
	int err;

	err = sock_create_kern(sock_net(&ssk->sk), family, SOCK_DGRAM, IPPROTO_UDP,
			       &o->sock[i]);
	if (err)
		return err;
	sk = o->sock[i]->sk;
	err = no_loop(o->sock[i], family);
	if (err) {
		sock_release(o->sock[i]);
		o->sock[i] = NULL;
		return err;
	}
	/* packets find it without a reference */
	sock_set_flag(sk, SOCK_RCU_FREE);
	sk->sk_uid = ssk->sk.sk_uid;
	security_sk_clone(&ssk->sk, sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk_set_socket(sk, ssk->sk.sk_socket);
	o->write_space = sk->sk_write_space;
	if (!i) {
		rcu_assign_sk_user_data(sk, ssk);
		sk->sk_write_space = owner_write_space;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(o->sk[i], sk);
	return 0;
}

/**
 * shuffle_owner_open() - make the sockets that packets of a socket will belong to
 * @ssk: socket that is being bound
 * @family: of its address, AF_INET or AF_INET6
 *
 * Context: process, in the context of the user who is to be held responsible; lock_sock
 * held.
 * Return: 0, or an error of socket(2).
 */
int shuffle_owner_open(struct shuffle_sock *ssk, int family)
{
	int err, i;

	sock_owned_by_me(&ssk->sk);
	atomic_set(&ssk->owner.counted, 0);
	for (i = 0; i < 2; i++) {
		err = owner_create(ssk, family, i);
		if (err) {
			shuffle_owner_close(ssk);
			return err;
		}
	}
	return 0;
}

/**
 * shuffle_owner_close() - the user's socket goes
 * @ssk: socket without operations
 *
 * Packets on their way keep the UDP sockets, but not the user's file, nor @ssk.
 *
 * Context: process, lock_sock held.
 */
void shuffle_owner_close(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = ssk->sn;
	struct shuffle_owner *o = &ssk->owner;
	int i, counted;

	sock_owned_by_me(&ssk->sk);
	counted = atomic_xchg(&o->counted, OWNER_CLOSED);
	if (counted > 0) {
		atomic_sub(counted, &sn->egress_queued);
		shuffle_egress_room(sn);
	}
	for (i = 0; i < 2; i++) {
		struct sock *sk = o->sk[i];

		if (!sk)
			continue;
		WRITE_ONCE(o->sk[i], NULL);
		write_lock_bh(&sk->sk_callback_lock);
		rcu_assign_sk_user_data(sk, NULL);
		WRITE_ONCE(sk->sk_write_space, o->write_space);
		sk_set_socket(sk, o->sock[i]);
		write_unlock_bh(&sk->sk_callback_lock);
		sock_release(o->sock[i]);
		o->sock[i] = NULL;
	}
}

/* Would the packet wait until somebody answers for the next hop? */
static bool no_neighbour(const struct dst_entry *dst, const void *daddr)
{
	struct neighbour *n;
	bool none;

	if (dst->dev->flags & IFF_LOOPBACK)
		return false;
	n = dst_neigh_lookup(dst, daddr);
	if (!n)
		return false;
	none = !(READ_ONCE(n->nud_state) & NUD_VALID);
	neigh_release(n);
	return none;
}

/* What filters read of skb->sk; options of SOL_SOCKET do not tell us when they change. */
static void follow_options(struct sock *sk, const struct sock *user)
{
	u32 mark = READ_ONCE(user->sk_mark), prio = READ_ONCE(user->sk_priority);
	int oif = READ_ONCE(user->sk_bound_dev_if);

	if (READ_ONCE(sk->sk_mark) != mark)
		WRITE_ONCE(sk->sk_mark, mark);
	if (READ_ONCE(sk->sk_priority) != prio)
		WRITE_ONCE(sk->sk_priority, prio);
	if (READ_ONCE(sk->sk_bound_dev_if) != oif)
		WRITE_ONCE(sk->sk_bound_dev_if, oif);
}

/**
 * shuffle_owner_set() - let a packet belong to the socket that sends it
 * @ssk: the socket; it may be closed at this moment
 * @skb: packet, complete: its truesize does not change any more
 * @dst: route of the packet
 * @daddr: destination of the packet, 4 or 16 bytes
 *
 * Context: BHs off; @ssk is not freed before they are on again.
 * Return: the UDP socket that it belongs to, NULL if @ssk is closed, or -ENOBUFS: too many
 * packets wait for neighbours already.
 */
struct sock *shuffle_owner_set(struct shuffle_sock *ssk, struct sk_buff *skb,
			       const struct dst_entry *dst, const void *daddr)
{
	bool waits = no_neighbour(dst, daddr);
	struct sock *sk = READ_ONCE(ssk->owner.sk[waits]);

	if (!sk || !refcount_inc_not_zero(&sk->sk_refcnt))
		return NULL;
	if (waits && sk_wmem_alloc_get(sk) > READ_ONCE(ssk->sk.sk_sndbuf)) {
		sock_put(sk);
		return ERR_PTR(-ENOBUFS);
	}
	follow_options(sk, &ssk->sk);
	/* sock_wfree() and no destructor of ours: GSO knows how to divide that, and it is
	 * there when the module has gone
	 */
	skb_set_owner_w(skb, sk);
	if (!waits)
		owner_count(ssk, sk);
	sock_put(sk);
	return sk;
}
