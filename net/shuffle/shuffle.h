/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that the files of the module share.
 *
 * Locks, outermost first:
 *
 *   sk lock (lock_sock)	socket options, bind, and readers (recvmsg);
 *	sn->udp_mutex		inside it: opening the UDP sockets
 *   op->tx_mutex		writers of one row (sendmsg), may sleep in it;
 *	ssk->pages.lock		inside it: the pages that are filled
 *   ssk->lock			BH spinlock: operations, messages, memory accounting
 *   sn->egress_lock		BH spinlock: list of sockets that have data to send
 *   sn->finished_lock, sn->ports_lock, sn->early.lock, dev->lock, sn->socks_lock,
 *   sn->peers_lock		BH spinlocks, none inside another
 *
 * Settings: the rtnl, then sn->config_mutex, then sn->udp_mutex; packet paths read
 * them without a lock.
 *
 * Packets are built under ssk->lock, collected on a list and handed to IP only
 * after it is released: a qdisc or an action may call back into the receive path.
 *
 * Life of the objects:
 *
 *   socket	held by its file, by the egress list and by every receive path
 *		that found it; freed after an RCU grace period.
 *   group	reference counted, immutable but for the cached routes of its
 *		members, which ssk->lock guards.  Held by its socket, by its
 *		operations and by the record of a finished operation.
 *   op		in ssk->ops from the first sendmsg until its DONE or FAILED record
 *		has been read, or the socket is closed.  Unlinked only in process
 *		context, where its timer can be cancelled.
 *   netns	a user socket holds its network namespace, so when that exits
 *		there are no sockets; kernel UDP sockets, early packets and finished
 *		records go with it.
 */
#ifndef _SHUFFLE_H
#define _SHUFFLE_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "../../uapi/linux/shuffle.h"

#include "config.h"
#include "mib.h"
#include "sched/policy.h"
#include "sched/ranges.h"
#include "sched/wire.h"

#define SHUFFLE_PORT_BUCKETS	64
#define SHUFFLE_OP_BUCKETS	64
#define SHUFFLE_PEER_BUCKETS	256
#define SHUFFLE_FINISHED_BITS	8
#define SHUFFLE_MAX_OPS		1024	/* of one socket */
#define SHUFFLE_MAX_RETRANS	256	/* ranges waiting, of one operation */
#define SHUFFLE_CHUNK_FRAGS	17
#define SHUFFLE_CHUNK_MAX	62000	/* bytes of a super-packet, record headers included */
#define SHUFFLE_INLINE_MAX	256	/* such a message costs no more than its announcement */
#define SHUFFLE_MIN_PAYLOAD	256	/* Linux believes no path MTU below 552 */
#define SHUFFLE_MIN_RTT_BYTES	3000	/* two packets */

/* params.c: what namespaces follow */
struct shuffle_params {
	int family;
	ushort udp_port;
	uint policy;
	uint hadoop_c;
	uint overcommit;
	uint link_mbps;
	uint rtt_ns;
	uint early_kbytes;
	uint finished_max;
	uint finished_secs;
	uint egress_kbytes;
	uint mem_mbytes;
};

extern struct shuffle_params shuffle_params;

/**
 * struct shuffle_member - one member of a group
 * @addr: its address
 * @dst: cached route, NULL at first; ssk->lock
 * @cookie: of @dst
 * @mark: of the socket when @dst was looked up
 * @oif: likewise
 * @peer: the host it is on, with a reference
 */
struct shuffle_member {
	struct sockaddr_shuffle	addr;
	struct dst_entry	*dst;
	u32			cookie;
	u32			mark;
	int			oif;
	struct shuffle_peer	*peer;
};

/**
 * struct shuffle_peer - a host that members are on: peer.c
 * @node: in sn->peers
 * @ref: members
 * @rcu: frees it
 * @sn: namespace
 * @addr: its address, port 0
 * @tx_bytes: payload sent to it
 * @rx_bytes: new payload from it
 * @resends_out: RESENDs sent to it
 * @resends_in: RESENDs that came from it
 * @heard_at: when data last came from it, 0 never
 * @rtt_ns: smoothed time from a grant to its data
 * @rtt_min_ns: the least
 * @rate: at which it last delivered, bytes/s
 * @rate_at: when that was measured
 * @rate_bytes: @rx_bytes then
 */
struct shuffle_peer {
	struct hlist_node	node;
	refcount_t		ref;
	struct rcu_head		rcu;
	struct shuffle_net	*sn;
	struct sockaddr_shuffle	addr;
	atomic64_t		tx_bytes;
	atomic64_t		rx_bytes;
	atomic64_t		resends_out;
	atomic64_t		resends_in;
	u64			heard_at;
	u64			rtt_ns;
	u64			rtt_min_ns;
	u64			rate;
	u64			rate_at;
	u64			rate_bytes;
};

/**
 * struct shuffle_membership - an ordered list of members
 * @ref: holders
 * @rank: our own index
 * @count: members
 * @member: the list
 */
struct shuffle_membership {
	refcount_t		ref;
	u32			rank;
	u32			count;
	struct shuffle_member	member[];
};

/**
 * struct shuffle_net - state of one network namespace
 * @net: the namespace
 * @udp: kernel UDP sockets, [0] IPv4, [1] IPv6; opened with the first bind
 * @udp_mutex: opening them, @udp_users
 * @udp_users: bound sockets
 * @udp_drops: counted by sockets that have been closed
 * @udp_data_ready: their own callback, put back before they are closed
 * @udp_write_space: likewise
 * @udp_error_report: likewise
 * @ports: bound sockets by port, read under RCU
 * @ports_lock: changing @ports
 * @mib: counters
 * @egress: sends data while there is room in the qdiscs
 * @egress_lock: @egress_socks
 * @egress_socks: sockets that have data to send, each holding a reference
 * @egress_at: when a socket last had its turn
 * @egress_forced: the next super-packet goes out whatever is queued
 * @socks: all sockets, oldest first, read under RCU
 * @socks_lock: changing @socks
 * @socks_number: of the last one made
 * @gen: changes with every socket, operation and peer that comes or goes
 * @peers: hosts that members are on, read under RCU
 * @peers_lock: changing @peers
 * @peers_seed: of the table's hash
 * @events: that wait to be sent
 * @events_lost: groups that events have been dropped of
 * @event_work: sends them
 * @config_gen: changes with every setting
 * @config_node: in the list of all namespaces
 * @config_mutex: settings, @devs
 * @dev0: settings of the namespace
 * @devs: devices that have settings of their own or that operations have used;
 *	read under RCU
 * @early: packets of operations that are not known yet
 * @early_work: lets old ones expire
 * @finished: operations that have ended, oldest first
 * @finished_hash: the same by operation id
 * @finished_lock: all @finished
 * @finished_work: lets old ones expire
 * @finished_n: their number, large groups count more
 */
struct shuffle_net {
	struct net		*net;
	struct socket		*udp[2];
	struct mutex		udp_mutex;
	u32			udp_users;
	unsigned long		udp_drops;
	void			(*udp_data_ready)(struct sock *sk);
	void			(*udp_write_space)(struct sock *sk);
	void			(*udp_error_report)(struct sock *sk);
	struct hlist_head	ports[SHUFFLE_PORT_BUCKETS];
	spinlock_t		ports_lock;
	struct shuffle_mib __percpu *mib;
	struct tasklet_struct	egress;
	spinlock_t		egress_lock;
	struct list_head	egress_socks;
	u64			egress_at;
	bool			egress_forced;
	struct list_head	socks;
	spinlock_t		socks_lock;
	u64			socks_number;
	atomic_t		gen;
	struct hlist_head	peers[SHUFFLE_PEER_BUCKETS];
	spinlock_t		peers_lock;
	u32			peers_seed;
	struct sk_buff_head	events;
	unsigned long		events_lost;
	struct work_struct	event_work;
	u32			config_gen;
	struct list_head	config_node;
	struct mutex		config_mutex;
	struct shuffle_dev	dev0;
	struct list_head	devs;
	struct sk_buff_head	early;
	u32			early_bytes;
	struct delayed_work	early_work;
	struct list_head	finished;
	struct hlist_head	finished_hash[1 << SHUFFLE_FINISHED_BITS];
	spinlock_t		finished_lock;
	struct delayed_work	finished_work;
	u32			finished_n;
};

/**
 * struct shuffle_pages - pages that a socket fills: pages.c
 * @lock: all of it
 * @frag: page that is being filled
 * @used: ring of pages that were filled, whoever holds them now
 * @first: the one that was filled first
 * @n: their number
 * @charged: so many are charged to the socket
 * @used_at: jiffies, when a page was last wanted
 * @idle_work: gives them back
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
 * struct shuffle_sock - an AF_SHUFFLE socket: one member
 * @sk: must be first
 * @lock: see the top of this file
 * @addr: where it is bound; shs_family is 0 before
 * @port_node: in sn->ports
 * @net_node: in sn->socks
 * @number: grows along sn->socks
 * @inode: of its file
 * @cookie: unique on this machine
 * @group: members, NULL before the option SHUFFLE_GROUP
 * @ops: operations by id
 * @nr_ops: their number
 * @ready: what recvmsg() returns next: shuffle_ready.node
 * @tx_ops: operations that have data to send: op->tx_node
 * @egress_node: in sn->egress_socks
 * @idle_ms: idle timeout of operations without a deadline
 * @pressure: the receive buffer limits grants; messages are delivered in ranges
 * @pressure_at: when that was last told
 * @pages: that sendmsg copies into
 */
struct shuffle_sock {
	struct sock		sk;
	spinlock_t		lock;
	struct sockaddr_shuffle	addr;
	struct hlist_node	port_node;
	struct list_head	net_node;
	u64			number;
	u32			inode;
	u64			cookie;
	struct shuffle_membership *group;
	struct hlist_head	ops[SHUFFLE_OP_BUCKETS];
	u32			nr_ops;
	struct list_head	ready;
	struct list_head	tx_ops;
	struct list_head	egress_node;
	u32			idle_ms;
	bool			pressure;
	u64			pressure_at;
	struct shuffle_pages	pages;
};

/**
 * struct shuffle_ready - something that recvmsg() can return
 * @node: in ssk->ready, or empty
 * @op: its operation
 * @rank: the message from this rank, or SHUFFLE_NONE for the end of @op
 */
struct shuffle_ready {
	struct list_head	node;
	struct shuffle_op	*op;
	u32			rank;
};

/**
 * struct shuffle_chunk - payload of a message in wire layout
 * @node: in shuffle_msg_out.chunks
 * @off: first byte of the message
 * @len: payload bytes
 * @rank: of the message
 * @pkt: payload bytes of each packet but the last
 * @truesize: charged to the socket
 * @nr_frags: used entries of @frag; 0: it is one small packet, in @wire
 * @frag: pages: header, payload, header, payload, ...
 * @wire: header and payload
 */
struct shuffle_chunk {
	struct list_head	node;
	u64			off;
	u32			len;
	u32			rank;
	u32			pkt;
	u32			truesize;
	u32			nr_frags;
	union {
		DECLARE_FLEX_ARRAY(struct page_frag, frag);
		DECLARE_FLEX_ARRAY(u8, wire);
	};
};

/**
 * struct shuffle_msg_out - an outgoing message (its schedule is op->ptx.msg[rank])
 * @chunks: what has been copied and not yet been acknowledged, by offset
 * @filled: bytes copied from the user
 * @granted: the receiver allows the bytes below
 * @unsched: of these, allowed by ourselves
 * @said_at: when it was last announced or probed
 * @wait_ns: until it is probed (again)
 * @resends: times that an ACK was asked for
 * @resaid: announced more than once: an answer measures nothing
 * @acked: it has arrived whole
 */
struct shuffle_msg_out {
	struct list_head	chunks;
	u64			filled;
	u64			granted;
	u64			unsched;
	u64			said_at;
	u64			wait_ns;
	u32			resends;
	bool			resaid;
	bool			acked;
};

/**
 * struct shuffle_retrans - a range to be sent again
 * @node: in op->retrans
 * @rank: the message
 * @start: first byte
 * @end: behind the last
 */
struct shuffle_retrans {
	struct list_head	node;
	u32			rank;
	u64			start;
	u64			end;
};

/**
 * struct shuffle_msg_in - an incoming message (its schedule is op->prx.msg[rank])
 * @ready: in ssk->ready when there is something for the reader
 * @dirty: in op->dirty when a GRANT has to be sent
 * @pieces: skbs that hold payload, by offset
 * @have: what has arrived
 * @read: bytes that the reader has taken
 * @nonce: of its sender
 * @progress_at: when have.prefix last grew, or a wait began
 * @wait_ns: until the next RESEND; 0 before the first, shuffle_timer_rto() then
 * @moved_at: when have.prefix last grew, 0 never
 * @resends: times that it was late
 * @late: of these, since it last made progress
 * @resent_at: when it was last asked for again
 * @straggler: has been called one
 * @rtt_off: a sample of the grant-to-data time ends when the prefix passes this
 * @rtt_at: and began then; 0 none runs
 * @granted_sent: last offset sent in a GRANT
 * @complete: it has arrived whole
 * @ack_owed: and our own message to its sender takes the ACK along
 * @delivered: the reader has all of it
 */
struct shuffle_msg_in {
	struct shuffle_ready	ready;
	struct list_head	dirty;
	struct rb_root		pieces;
	struct shuffle_ranges	have;
	u64			read;
	u32			nonce;
	bool			complete;
	bool			ack_owed;
	bool			delivered;
	u64			progress_at;
	u64			wait_ns;
	u64			moved_at;
	u32			resends;
	u32			late;
	u64			resent_at;
	bool			straggler;
	u64			rtt_off;
	u64			rtt_at;
	u64			granted_sent;
};

/**
 * struct shuffle_op - one operation of one socket
 * @node: in ssk->ops
 * @ref: the table, and every sendmsg() that works on it
 * @ssk: its socket
 * @group: its members
 * @dev: device by which it leaves, with a reference
 * @id: operation id
 * @nonce: of our messages, never 0
 * @started_at: ns, CLOCK_MONOTONIC, like all times here
 * @deadline_at: 0 none
 * @progress_at: last sign of life
 * @heard_at: when a message was last heard of for the first time
 * @asked_at: when members never heard of were last asked for theirs, 0 never
 * @ask_ns: until they are asked (again); 0 before the first
 * @ask_from: the next one to be asked
 * @ask_all: one has answered, so what the others have sent may be lost, too
 * @data_at: when DATA with payload last came
 * @acked_at: when one of ours was last acknowledged
 * @ended_at: 0 not yet
 * @resends: times that members were asked again
 * @timer: resends, probes, deadline
 * @tx_mutex: writers
 * @tx_node: in ssk->tx_ops
 * @ptx: schedule of the row
 * @out: the row
 * @announced: ranks whose length is known
 * @closed: all are
 * @unacked: messages that have not been acknowledged
 * @retrans: ranges to be sent again
 * @nr_retrans: their number
 * @fill_rank: the next byte from the user is for this rank (in order filling)
 * @fill_unit: bytes of a message that are copied as one
 * @prx: schedule of the column
 * @in: the column
 * @incomplete: messages that have not arrived whole
 * @dirty: messages that need a GRANT
 * @srtt_ns: smoothed grant-to-data time
 * @rttvar_ns: its mean deviation
 * @end: its end, in ssk->ready
 * @ended: DONE or FAILED has been decided
 * @error: positive errno of FAILED
 * @end_cursor: MISSING records already returned, plus one
 */
struct shuffle_op {
	struct hlist_node	node;
	refcount_t		ref;
	struct shuffle_sock	*ssk;
	struct shuffle_membership *group;
	struct shuffle_dev	*dev;
	u64			id;
	u32			nonce;
	u64			started_at;
	u64			deadline_at;
	u64			progress_at;
	u64			heard_at;
	u64			asked_at;
	u64			ask_ns;
	u32			ask_from;
	bool			ask_all;
	u64			data_at;
	u64			acked_at;
	u64			ended_at;
	u32			resends;
	struct hrtimer		timer;

	struct mutex		tx_mutex;
	struct list_head	tx_node;
	struct shuffle_policy_tx ptx;
	struct shuffle_msg_out	*out;
	u32			announced;
	bool			closed;
	u32			unacked;
	struct list_head	retrans;
	u32			nr_retrans;
	u32			fill_rank;
	u32			fill_unit;

	struct shuffle_policy_rx prx;
	struct shuffle_msg_in	*in;
	u32			incomplete;
	struct list_head	dirty;
	u64			srtt_ns;
	u64			rttvar_ns;

	struct shuffle_ready	end;
	bool			ended;
	int			error;
	u32			end_cursor;
};

/**
 * struct shuffle_piece - skb->cb of a received skb on shuffle_msg_in.pieces
 * @base: offset in the message of the first payload byte in the skb
 * @start: bytes [@start, @end) of the message are wanted from it
 * @end: see @start
 * @data: offset in the skb of that first payload byte
 * @stride: payload bytes between two record headers
 */
struct shuffle_piece {
	u64	base;
	u64	start;
	u64	end;
	u32	data;
	u32	stride;
};

#define SHUFFLE_PIECE(skb)	((struct shuffle_piece *)&(skb)->cb[0])

static inline struct shuffle_sock *shuffle_sk(const struct sock *sk)
{
	return (struct shuffle_sock *)sk;
}

static inline u64 shuffle_now(void)
{
	return ktime_get_ns();
}

/* netns.c */
struct shuffle_net *shuffle_net(const struct net *net);
struct shuffle_net *shuffle_op_net(const struct shuffle_op *op);
int shuffle_netns_init(void);
void shuffle_netns_exit(void);

/* proc.c */
int shuffle_proc_init(struct shuffle_net *sn);
void shuffle_proc_exit(struct shuffle_net *sn);

/* params.c */
int shuffle_params_check(void);

/* sock.c */
extern struct proto shuffle_proto;
int shuffle_sock_init(void);
void shuffle_sock_exit(void);
void shuffle_sock_write_space(struct sock *sk);
void shuffle_sock_set_mem_max(u64 bytes);
void shuffle_sock_mem(u64 *max, u64 *used);

/* socks.c */
void shuffle_sock_list_add(struct shuffle_sock *ssk);
void shuffle_sock_list_del(struct shuffle_sock *ssk);
struct shuffle_sock *shuffle_sock_list_next(struct shuffle_net *sn, u64 number);
struct shuffle_sock *shuffle_sock_list_find(struct shuffle_net *sn, u64 cookie);

/* peer.c */
struct shuffle_peer *shuffle_peer_get(struct shuffle_net *sn, const struct sockaddr_shuffle *a);
void shuffle_peer_put(struct shuffle_peer *peer);
void shuffle_peer_rtt(struct shuffle_op *op, u32 rank, u64 ns);
void shuffle_peer_received(struct shuffle_op *op, u32 rank, u32 bytes);
void shuffle_peer_sent(struct shuffle_op *op, u32 rank, u32 bytes);
void shuffle_peer_resend(struct shuffle_op *op, u32 rank, bool out);

/* mib.c */
extern const char * const shuffle_mib_names[];
extern const char * const shuffle_mib_texts[];
u64 shuffle_mib_value(struct shuffle_net *sn, int i);

/* ports.c */
int shuffle_ports_add(struct shuffle_sock *ssk);
void shuffle_ports_del(struct shuffle_sock *ssk);
struct shuffle_sock *shuffle_ports_find(struct shuffle_net *sn, u16 ip_family,
					const void *addr, u16 port);

/* group.c */
int shuffle_group_set(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen);
int shuffle_group_get(struct shuffle_sock *ssk, char __user *optval, int __user *optlen);
void shuffle_group_put(struct shuffle_membership *group);
int shuffle_addr_check(const struct sockaddr_shuffle *a);
bool shuffle_addr_is(const struct sockaddr_shuffle *a, u16 ip_family, const void *addr);

/* udp.c */
int shuffle_udp_open(struct shuffle_net *sn);
void shuffle_udp_put(struct shuffle_net *sn);
int shuffle_udp_set_port(struct shuffle_net *sn, u16 port);
void shuffle_udp_close(struct shuffle_net *sn);
unsigned long shuffle_udp_drops(struct shuffle_net *sn);

/* route.c */
struct dst_entry *shuffle_route(struct shuffle_net *sn, struct shuffle_sock *ssk,
				struct shuffle_membership *group, u32 rank);
struct dst_entry *shuffle_route_peer(struct shuffle_net *sn, const struct sockaddr_shuffle *to);
u32 shuffle_route_payload(const struct shuffle_dev *dev, const struct sockaddr_shuffle *to,
			  struct dst_entry *dst);

/* xmit.c */
struct sk_buff *shuffle_output_alloc(struct shuffle_net *sn, struct shuffle_sock *ssk,
				   struct shuffle_membership *group, u32 rank,
				   unsigned int linear, bool control);
void shuffle_output_record(struct shuffle_net *sn, struct shuffle_sock *ssk,
			 struct shuffle_membership *group, u32 rank,
			 struct shuffle_wire *w, struct sk_buff_head *q);
void shuffle_output_flush(struct shuffle_net *sn, struct sk_buff_head *q);

/* rx.c */
void shuffle_input_packet(struct shuffle_net *sn, struct sk_buff *skb);

/* early.c */
void shuffle_early_init(struct shuffle_net *sn);
void shuffle_early_exit(struct shuffle_net *sn);
bool shuffle_early_keep(struct shuffle_net *sn, struct sk_buff *skb, u64 op_id, u16 port);
void shuffle_early_claim(struct shuffle_net *sn, u64 op_id, u16 port);

/* finished.c */
void shuffle_timewait_init(struct shuffle_net *sn);
bool shuffle_timewait_exists(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     u64 op_id);
void shuffle_timewait_add(struct shuffle_net *sn, struct shuffle_op *op);
bool shuffle_timewait_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     const struct sockaddr_shuffle *from,
			     const struct shuffle_wire *w, struct sk_buff_head *q);
void shuffle_timewait_purge(struct shuffle_net *sn);

/* op.c */
struct shuffle_op *shuffle_op_find(struct shuffle_sock *ssk, u64 id);
struct shuffle_op *shuffle_op_create(struct shuffle_sock *ssk, u64 id, u64 deadline_ms);
void shuffle_op_put(struct shuffle_op *op);
void shuffle_op_unlink(struct shuffle_op *op);
void shuffle_op_fail(struct shuffle_op *op, int error);
void shuffle_op_check_done(struct shuffle_op *op);
int shuffle_op_cancel(struct shuffle_sock *ssk, u64 id);

/* row.c */
int shuffle_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);

/* pages.c */
void shuffle_pages_init(struct shuffle_sock *ssk);
void shuffle_pages_exit(struct shuffle_sock *ssk);
void shuffle_pages_drop(struct shuffle_sock *ssk);
bool shuffle_pages_room(struct shuffle_sock *ssk, unsigned int bytes);

/* out.c */
void shuffle_msg_out_append(struct shuffle_op *op, struct shuffle_chunk *chunk);
void shuffle_msg_out_free_below(struct shuffle_op *op, u32 rank, u64 off);
void shuffle_msg_out_free_chunk(struct shuffle_chunk *chunk);
void shuffle_msg_out_limit(struct shuffle_op *op, u32 rank);
struct shuffle_wire shuffle_msg_out_wire(const struct shuffle_op *op, u32 rank);
void shuffle_msg_out_announce(struct shuffle_op *op, u32 rank, u8 flags, struct sk_buff_head *q);
void shuffle_msg_out_grant(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);
void shuffle_msg_out_ack(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);
void shuffle_msg_out_resend(struct shuffle_op *op, const struct shuffle_wire *w,
			struct sk_buff_head *q, u64 now);

/* egress.c */
void shuffle_egress_init(struct shuffle_net *sn);
void shuffle_egress_exit(struct shuffle_net *sn);
void shuffle_egress_kick(struct shuffle_op *op);
void shuffle_egress_force(struct shuffle_net *sn);
void shuffle_egress_room(struct shuffle_net *sn);

/* in.c */
bool shuffle_msg_in_data(struct shuffle_op *op, const struct shuffle_wire *w,
		     struct sk_buff *skb, u32 data, u32 len, u32 stride,
		     struct sk_buff_head *q, u64 now);
struct shuffle_wire shuffle_msg_in_ack(const struct shuffle_op *op, u32 rank);
void shuffle_msg_in_send_ack(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
void shuffle_msg_in_purge(struct shuffle_op *op, u32 rank);
void shuffle_msg_in_free_piece(struct shuffle_sock *ssk, struct sk_buff *skb);
bool shuffle_msg_in_readable(struct shuffle_msg_in *in, bool pressure);
void shuffle_msg_in_queue(struct shuffle_op *op, u32 rank);

/* grant.c */
void shuffle_grant_pressure(struct shuffle_sock *ssk);
void shuffle_grant_op(struct shuffle_op *op, struct sk_buff_head *q, u64 now);
void shuffle_grant_send(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
void shuffle_grant_sock(struct shuffle_sock *ssk, struct sk_buff_head *q);
u64 shuffle_grant_max_out(const struct shuffle_dev *dev);
u32 shuffle_grant_unit(u32 rtt_bytes, u32 pkt);

/**
 * shuffle_chunk_payload() - most payload that one super-packet carries
 * @pkt: payload bytes of a packet
 *
 * Return: bytes, a multiple of @pkt.
 */
static inline u32 shuffle_chunk_payload(u32 pkt)
{
	return max(SHUFFLE_CHUNK_MAX / (pkt + SHUFFLE_WIRE_DATA_HDR), 1U) * pkt;
}

/* recv.c */
int shuffle_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

/* timer.c */
void shuffle_timer_init(struct shuffle_op *op);
void shuffle_timer_start(struct shuffle_op *op);
u64 shuffle_timer_in_wait(const struct shuffle_op *op, u32 rank);
u64 shuffle_timer_rto(const struct shuffle_op *op);

#endif /* _SHUFFLE_H */
