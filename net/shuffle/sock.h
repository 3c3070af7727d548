/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An AF_SHUFFLE socket: one member.
 *
 * Life: held by its file, by the egress list and by every receive path that found it;
 * freed after an RCU grace period.
 *
 * Locks, outermost first:
 *
 *   sk lock (lock_sock)	socket options and bind;
 *	sn->udp_mutex		inside it: opening the UDP sockets
 *	sn->multicast_mutex	inside it, like the rtnl: joining a multicast address
 *   ssk->read_mutex	readers (recvmsg), may sleep in it; inside the sk lock in close() only
 *   op->fill.mutex		writers of one row (sendmsg), may sleep in it;
 *	ssk->pages.lock		inside it: the pages that are filled
 *   ssk->lock			BH spinlock: operations, messages, memory accounting
 *   sn->egress_lock		BH spinlock: list of sockets that have data to send
 *   sn->finished_lock, dev->lock, sn->peers_lock, sn->users_lock
 *			BH spinlocks, none inside another; sn->ports, sn->socks and
 *			sn->cookies have locks of their own
 *
 * Settings: sn->change_mutex, inside it sn->udp_mutex or sn->config_mutex, not both.  Who holds
 * udp_mutex may wait for a worker that takes the rtnl; inside the rtnl there is config_mutex only.
 * Packet paths read settings without a lock.
 *
 * Packets are built under ssk->lock, collected on a list and handed to IP only
 * after it is released: a qdisc or an action may call back into the receive path.
 *
 * Which state each of them guards, and where that is asserted: the table in
 * Documentation/networking/internals.rst.
 *
 * Life of the other objects:
 *
 *   group	reference counted, immutable but for the cached routes of its
 *		members, which ssk->lock guards.  Held by its socket, by its
 *		operations and by the record of a finished operation.
 *   op		in ssk->ops from the first sendmsg until its DONE or FAILED record
 *		has been read, or the socket is closed.  Unlinked only in process
 *		context, where its timer can be cancelled.
 *   netns	a socket holds its network namespace, so when that exits there are
 *		no sockets; kernel UDP sockets and finished records go with it.  Early
 *		packets go with their socket.
 */
#ifndef _SHUFFLE_SOCK_H
#define _SHUFFLE_SOCK_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/rhashtable-types.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "../../uapi/linux/shuffle.h"
#include "mem.h"
#include "netns.h"
#include "sched/tag.h"

#define SHUFFLE_OP_BUCKETS	64
#define SHUFFLE_MAX_OPS		1024	/* of one socket */
#define SHUFFLE_MAX_SOCK_RETRANS	4096	/* ranges waiting to be sent again */
#define SHUFFLE_MAX_MSGS	(1024U * 1024U)	/* in each direction, of one socket */

struct shuffle_delayed;
struct shuffle_membership;
struct shuffle_multicast_entry;

/**
 * struct shuffle_pages - pages that a socket fills: pages.c
 * @lock: guards all fields but @used_at
 * @frag: page that is being filled
 * @used: ring of pages that were filled, some of them held by packets
 * @first: index in @used of the page that was filled first
 * @n: number of pages in @used
 * @charged: number of pages that are charged to the socket
 * @used_at: jiffies at which a page was last wanted
 * @idle_work: gives pages back when none has been wanted for long
 */
struct shuffle_pages {
	struct mutex		lock;
	struct page_frag	frag;
	struct page		**used;
	u32			first;
	u32			n;
	u32			charged;
	unsigned long		used_at;
	struct delayed_work	idle_work;
};

/**
 * struct shuffle_port_key - what packets find a socket by: ports.c
 * @addr: address, 4 or 16 bytes, the rest is 0
 * @ip_family: AF_INET or AF_INET6; 0 not bound
 * @port: port, host byte order
 */
struct shuffle_port_key {
	u8	addr[16];
	u16	ip_family;
	u16	port;
} __aligned(4);	/* hashed and compared as words */

/**
 * struct shuffle_port - one place where packets find a socket: ports.c
 * @key: address and port that packets are sent to
 * @node: place in sn->ports
 * @ssk: the socket
 * @rcu: for places besides a socket's first, which are freed after a grace period
 */
struct shuffle_port {
	struct shuffle_port_key	key;
	struct rhash_head	node;
	struct shuffle_sock	*ssk;
	struct rcu_head		rcu;
};

/**
 * struct shuffle_ports - where packets find a socket besides where it is bound
 * @n: number of places
 * @port: the places, each in sn->ports
 */
struct shuffle_ports {
	u32			n;
	struct shuffle_port	*port[SHUFFLE_LOCALS - 1];
};

/**
 * struct shuffle_early - packets of operations that are not known yet: early.c
 * @tree: packets by operation id, and of one operation in the order in which they came
 * @fifo: all packets, oldest first
 * @closed: no packet is kept any more
 * @work: lets old packets expire
 */
struct shuffle_early {
	struct rb_root		tree;
	struct list_head	fifo;
	bool			closed;
	struct delayed_work	work;
};

/**
 * struct shuffle_owner - who the packets of a socket belong to: tx/owner.c
 * @sock: UDP sockets, [0] of packets on their way, [1] of packets that wait for a
 *	neighbour; NULL before bind and after close
 * @sk: sockets of @sock, read under RCU
 * @write_space: callback that @sock had when opened; put back before @sock is closed
 * @counted: bytes of @sock[0] that are in sn->egress_queued
 */
struct shuffle_owner {
	struct socket		*sock[2];
	struct sock		*sk[2];
	void			(*write_space)(struct sock *sk);
	atomic_t		counted;
};

/**
 * struct shuffle_sock - an AF_SHUFFLE socket: one member
 * @sk: must be first
 * @lock: see the top of this file
 * @sn: our state of the socket's network namespace, which lives as long; for each packet, so not
 *	by shuffle_net()
 * @addr: address that the socket is bound to; shs_family is 0 before.  Changed once, under the sk
 *	lock and @lock; code with neither runs for bound sockets only
 * @port: place at which packets find the socket once it is bound
 * @more_ports: places at other addresses of the group; sk lock
 * @cookie_node: place in sn->cookies
 * @number: number in sn->socks
 * @inode: inode of the socket's file
 * @cookie: number that is unique on this machine
 * @key: group key for the next SHUFFLE_GROUP; lock_sock
 * @keyed: @key has been set
 * @multicast: address for the next SHUFFLE_GROUP, or NULL; lock_sock
 * @group: members, NULL before the option SHUFFLE_GROUP
 * @ops: operations by id
 * @nr_ops: number of @ops
 * @unlinked: operations that have been taken out of @ops, modulo 2^32
 * @nr_msgs: sum of the members of @ops
 * @nr_incomplete: number of operations whose column is not complete
 * @nr_unsent: number of operations whose row has data that has not left
 * @unsent: bytes of rows that have not left
 * @read_mutex: held by the reader that takes from @ready and @notices
 * @ready: what recvmsg() returns next: shuffle_ready.node
 * @parts: messages with fewer bytes in order than the reader is woken for: shuffle_ready.node, too
 * @notices: what recvmsg() returns beside messages and ends, in turns with @ready: WANT,
 *	shuffle_ready.node
 * @hungry: rows that are asked for once there is room, and owe no answer: shuffle_ready.node
 * @wants: rows that are asked for once there is room, and owe an answer: shuffle_ready.node
 * @wanted: bytes that programs have been asked for, of all operations
 * @grant_ops: operations that want to grant, the next one first: op->rx.grant_node
 * @outstanding: bytes granted and not arrived, of all operations
 * @nr_retrans: ranges waiting to be sent again, of all operations
 * @tx_ops: operations that have data to send: op->tx.node; the first has waited longest
 * @tx_order: operations of @tx_ops that have an order, by their classes: op->tx.order_node
 * @tx_fair: operations of @tx_ops without an order: op->tx.order_node
 * @tx_mix: numbers of operations in @tx_order and @tx_fair
 * @tx_turn: number of turns that operations have had
 * @egress_node: place in sn->egress_socks
 * @egress_order: place in sn->egress_class
 * @egress_class: class of @egress_order
 * @user: user that has made the socket, and whose quotas count
 * @tos: traffic class of packets with data
 * @idle_ms: idle timeout of operations without a deadline
 * @cancelled: operation that the option SHUFFLE_CANCEL has ended last, 0 none
 * @pressure: the receive buffer limits grants; messages are delivered in ranges
 * @pressure_at: time at which readers were last told of @pressure
 * @pages: pages that sendmsg() copies into
 * @early: packets of operations that are not known yet
 * @delayed: ACKs that wait, NULL if none has to: rx/delayed_ack.c
 * @owner: sockets that the packets belong to
 */
struct shuffle_sock {
	struct sock		sk;
	spinlock_t		lock;
	struct shuffle_net	*sn;
	struct sockaddr_shuffle	addr;
	struct shuffle_port	port;
	struct shuffle_ports	more_ports;
	struct rhash_head	cookie_node;
	u64			cookie;
	u32			number;
	u32			inode;
	struct shuffle_key	key;
	bool			keyed;
	struct shuffle_multicast_entry *multicast;
	struct shuffle_membership *group;
	struct hlist_head	ops[SHUFFLE_OP_BUCKETS];
	u32			nr_ops;
	u32			unlinked;
	u32			nr_msgs;
	u32			nr_incomplete;
	u32			nr_unsent;
	u64			unsent;
	struct mutex		read_mutex;
	struct list_head	ready;
	struct list_head	parts;
	struct list_head	notices;
	struct list_head	hungry;
	struct list_head	wants;
	u64			wanted;
	struct list_head	grant_ops;
	u64			outstanding;
	u32			nr_retrans;
	struct list_head	tx_ops;
	struct list_head	tx_order;
	struct list_head	tx_fair;
	struct shuffle_order_mix tx_mix;
	u32			tx_turn;
	struct list_head	egress_node;
	struct list_head	egress_order;
	u8			egress_class;
	struct shuffle_user	*user;
	u8			tos;
	u32			idle_ms;
	u64			cancelled;
	bool			pressure;
	u64			pressure_at;
	struct shuffle_pages	pages;
	struct shuffle_early	early;
	struct shuffle_delayed	*delayed;
	struct shuffle_owner	owner;
};

static inline struct shuffle_sock *shuffle_sk(const struct sock *sk)
{
	return (struct shuffle_sock *)sk;
}

/* What the buffers hold at most; less than what SO_SNDBUF and SO_RCVBUF say while memory is
 * scarce.  Any context.
 */
static inline int shuffle_sock_sndbuf(const struct sock *sk)
{
	return shuffle_mem_share(READ_ONCE(sk->sk_sndbuf));
}

static inline int shuffle_sock_rcvbuf(const struct sock *sk)
{
	return shuffle_mem_share(READ_ONCE(sk->sk_rcvbuf));
}

/* Is there something for a reader, so that the receive buffer gets room?
 * Any context, ssk->lock held.
 */
static inline bool shuffle_sock_makes_room(const struct shuffle_sock *ssk)
{
	return !list_empty(&ssk->ready);
}

/* sock.c */
extern int shuffle_family;
void shuffle_sock_write_space(struct sock *sk);
bool shuffle_sock_is_local(struct sock *sk, const struct sockaddr_shuffle *a);

/* af_shuffle.c */
extern struct proto shuffle_proto;
int shuffle_sock_init(void);
void shuffle_sock_exit(void);

#endif /* _SHUFFLE_SOCK_H */
