/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What leaves: sendmsg() copies a row into chunks, the egress chooses the next one and
 * hands it to output.
 *
 * Packets are built under ssk->lock, collected on a list and handed to IP only after it is
 * released: a qdisc or an action may call back into the receive path.
 */
#ifndef _SHUFFLE_TX_H
#define _SHUFFLE_TX_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>
#include "../group.h"
#include "../op.h"
#include "../sched/wire.h"

#define SHUFFLE_MAX_RETRANS	256	/* ranges waiting, of one operation */
#define SHUFFLE_CHUNK_FRAGS	17
#define SHUFFLE_APPEND_BYTES	896	/* of small writes in one chunk: with its head 1 KB */
#define SHUFFLE_CHUNK_MAX	62000	/* bytes of a super-packet, record headers included */
#define SHUFFLE_INLINE_MAX	256	/* such a message costs no more than its announcement */
#define SHUFFLE_MIN_PAYLOAD	256	/* Linux believes no path MTU below 552 */

/**
 * enum shuffle_chunk_kind - where the payload of a chunk is
 * @SHUFFLE_CHUNK_BYTES: in the chunk itself: few bytes
 * @SHUFFLE_CHUNK_PACKETS: in pages of the socket, with the headers of its packets
 */
enum shuffle_chunk_kind {
	SHUFFLE_CHUNK_BYTES,
	SHUFFLE_CHUNK_PACKETS,
};

/**
 * struct shuffle_chunk - payload of a message
 * @node: in row_call.batch
 * @by_off: in shuffle_msg_out.chunks
 * @off: first byte of the message
 * @len: payload bytes
 * @rank: of the message
 * @pkt: payload bytes of each packet but the last; of @bytes: those that there is room for
 * @truesize: charged to the socket
 * @kind: enum shuffle_chunk_kind
 * @max_frags: entries of @frag
 * @nr_frags: used ones
 * @frag: pages: header, payload, header, payload, ...
 * @bytes: payload; what the user writes next is put behind it while there is room
 */
struct shuffle_chunk {
	union {
		struct list_head	node;
		struct rb_node		by_off;
	};
	u64			off;
	u32			len;
	u32			rank;
	u32			pkt;
	u32			truesize;
	u8			kind;
	u8			max_frags;
	u8			nr_frags;
	union {
		DECLARE_FLEX_ARRAY(struct page_frag, frag);
		DECLARE_FLEX_ARRAY(u8, bytes);
	};
};

/**
 * struct shuffle_msg_out - an outgoing message (its schedule is op->ptx.msg[rank])
 * @chunks: what has been copied and not yet been acknowledged, by offset
 * @filled: bytes copied from the user
 * @free_to: the receiver has the bytes below: their chunks are freed
 * @judged_to: what the receiver has told of the bytes below has been used: path_carries()
 * @granted: the receiver allows the bytes below
 * @unsched: of these, allowed by ourselves
 * @announced_at: when it was last announced or probed
 * @wait_ns: until it is probed (again)
 * @due: its ACK
 * @resends: times that an ACK was asked for
 * @reannounced: announced more than once: an answer measures nothing
 * @acked: it has arrived whole, or there is none
 * @absent: there is none
 * @shared: it has the same bytes as others, which are held, and sent, as those of
 *	shuffle_group_all(): same.c
 * @alone: they are sent to this receiver alone all the same
 */
struct shuffle_msg_out {
	struct rb_root		chunks;
	u64			filled;
	u64			free_to;
	u64			judged_to;
	u64			granted;
	u64			unsched;
	u64			announced_at;
	u64			wait_ns;
	struct shuffle_due	due;
	u32			resends;
	bool			reannounced;
	bool			acked;
	bool			absent;
	bool			shared;
	bool			alone;
};

/**
 * struct shuffle_retrans - a range to be sent again
 * @node: in op->retrans
 * @rank: the message
 * @start: first byte
 * @end: behind the last
 * @begun: its first packet, which says that it answers a RESEND, has left
 *
 * Without bytes it is an answer: how much of the message has left.
 */
struct shuffle_retrans {
	struct list_head	node;
	u32			rank;
	u64			start;
	u64			end;
	bool			begun;
};

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

/* announce.c */
int shuffle_announce(struct shuffle_op *op, const struct shuffle_row *row);

/* turns.c */
void shuffle_turns_init(struct shuffle_net *sn);
void shuffle_turns_add_op(struct shuffle_op *op);
void shuffle_turns_del_op(struct shuffle_op *op);
void shuffle_turns_op_over(struct shuffle_op *op);
struct shuffle_op *shuffle_turns_next_op(struct shuffle_sock *ssk, bool oldest);
bool shuffle_turns_add_sock(struct shuffle_net *sn, struct shuffle_sock *ssk, bool first);
struct shuffle_sock *shuffle_turns_next_sock(struct shuffle_net *sn, bool oldest);

/* own_schedule.c */
int shuffle_own_schedule(const struct shuffle_op *op, struct shuffle_policy_tx *tx);
int shuffle_fill_schedule(const struct shuffle_op *op, u32 from, struct shuffle_policy_tx *tx);
u64 shuffle_fill_share(const struct shuffle_op *op, u32 left);
bool shuffle_fill_limits(struct shuffle_op *op, u32 from, struct shuffle_policy_tx *tx);
void shuffle_free_schedule(struct shuffle_policy_tx *tx);

/* copy.c */
struct shuffle_chunk *shuffle_copy_chunk(struct shuffle_op *op, u32 rank, u32 len,
					 struct iov_iter *iter, long timeo);

/* row.c */
const struct shuffle_row *shuffle_row_find(struct msghdr *msg, struct shuffle_column *column);

/**
 * shuffle_row_digest() - a program's digest, in as many bits as records have for it
 * @digest: of struct shuffle_row or struct shuffle_collective; 0: none
 */
static inline u64 shuffle_row_digest(u64 digest)
{
	if (!digest)
		return 0;
	return ((digest ^ digest >> 48) & SHUFFLE_DIGEST_MAX) ?: 1;
}

/**
 * shuffle_absent_from() - does a rank have no message for us?
 * @absent: the ranks that have none, or NULL
 * @rank: one of them, perhaps
 */
static inline bool shuffle_absent_from(const struct shuffle_absent *absent, u32 rank)
{
	const u64 *bits = (const void *)absent + (absent ? absent->size : 0);

	return absent && rank / 64 < absent->words && bits[rank / 64] >> rank % 64 & 1;
}

/* Lengths of the messages: behind the structure as the program knows it. */
static inline const u64 *shuffle_row_lens(const struct shuffle_row *row)
{
	return (const void *)row + row->size;
}

/* sendmsg.c */
int shuffle_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);

/* want.c */

/**
 * struct shuffle_want_cursor - a place in what a program has been asked for
 * @at: number of the record
 * @used: bytes of it that lie before the place
 */
struct shuffle_want_cursor {
	u32	at;
	u32	used;
};

int shuffle_want_start(struct shuffle_op *op);
void shuffle_want_free(struct shuffle_want *want);
void shuffle_want_stop(struct shuffle_op *op);
void shuffle_want_room(struct shuffle_sock *ssk);
void shuffle_want_granted(struct shuffle_op *op, u32 rank);
bool shuffle_want_next(struct shuffle_ready *ready, struct shuffle_record *rec);
s64 shuffle_want_begin(struct shuffle_op *op, struct shuffle_want_cursor *cur);
u32 shuffle_want_at(const struct shuffle_op *op, const struct shuffle_want_cursor *cur, u32 *len);
void shuffle_want_answered(struct shuffle_op *op, const struct shuffle_want_cursor *cur);

/* pages.c */
void shuffle_pages_init(struct shuffle_sock *ssk);
void shuffle_pages_exit(struct shuffle_sock *ssk);
void shuffle_pages_drop(struct shuffle_sock *ssk);
bool shuffle_pages_room(struct shuffle_sock *ssk, unsigned int bytes);

/* msg_out.c */
struct shuffle_chunk *shuffle_msg_out_chunk(struct shuffle_op *op, u32 rank, u64 off);
void shuffle_msg_out_append(struct shuffle_op *op, struct shuffle_chunk *chunk);
struct shuffle_chunk *shuffle_msg_out_last(struct shuffle_msg_out *out);
void shuffle_msg_out_free_acked(struct work_struct *work);
bool shuffle_msg_out_purge(struct shuffle_op *op, u32 rank, u32 *budget);
void shuffle_msg_out_free_chunk(struct shuffle_chunk *chunk);
void shuffle_msg_out_free_retrans(struct shuffle_op *op, struct shuffle_retrans *r);
void shuffle_msg_out_limit(struct shuffle_op *op, u32 rank);
struct shuffle_wire shuffle_msg_out_wire(const struct shuffle_op *op, u32 rank);
void shuffle_msg_out_place(const struct shuffle_op *op, struct shuffle_wire *w, u64 off,
			   u16 payload);
void shuffle_msg_out_announce(struct shuffle_op *op, u32 rank, u8 flags, struct sk_buff_head *q);
void shuffle_msg_out_grant(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);
void shuffle_msg_out_ack(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);
void shuffle_msg_out_resend(struct shuffle_op *op, const struct shuffle_wire *w,
			    struct sk_buff_head *q, u64 now);

/* same.c */
int shuffle_same_alloc(struct shuffle_op *op, const struct shuffle_row *row);
void shuffle_same_left(struct shuffle_op *op);
void shuffle_same_start(struct shuffle_op *op);
void shuffle_same_granted(struct shuffle_op *op, u32 rank, u64 before);
u64 shuffle_same_freed(struct shuffle_op *op, u32 rank, u64 before);
void shuffle_same_filled(struct shuffle_op *op);
void shuffle_same_sent(struct shuffle_op *op, u64 now);
void shuffle_same_arrived(struct shuffle_op *op, u32 rank, u64 acked);
bool shuffle_same_under_way(const struct shuffle_op *op, u64 now);
void shuffle_same_asked(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);

/* Which of op->out and op->ptx.msg holds the data of a message. */
static inline u32 shuffle_msg_out_holder(const struct shuffle_op *op, u32 rank)
{
	return op->out[rank].shared ? shuffle_group_all(op->group) : rank;
}

/* First byte that has not been sent to the receiver of a message. */
static inline u64 shuffle_msg_out_next(const struct shuffle_op *op, u32 rank)
{
	return op->ptx.msg[op->out[rank].alone ? rank : shuffle_msg_out_holder(op, rank)].next;
}

/* The receiver of a message cannot have more than this. */
static inline u64 shuffle_msg_out_sent(const struct shuffle_op *op, u32 rank)
{
	return max(op->ptx.msg[rank].next, op->ptx.msg[shuffle_msg_out_holder(op, rank)].next);
}

/* egress.c */
/* what has not moved in a device for so long is stuck */
#define SHUFFLE_EGRESS_STUCK_NS	(10 * NSEC_PER_MSEC)

void shuffle_egress_init(struct shuffle_net *sn);
void shuffle_egress_exit(struct shuffle_net *sn);
void shuffle_egress_kick(struct shuffle_op *op);
void shuffle_egress_force(struct shuffle_net *sn);
void shuffle_egress_room(struct shuffle_net *sn);

/* output.c */
__be16 shuffle_output_port(const struct shuffle_membership *group, u32 rank);
struct sk_buff *shuffle_output_alloc(struct shuffle_net *sn, struct shuffle_sock *ssk,
				     struct shuffle_membership *group, u32 rank,
				     unsigned int linear, bool control);
void shuffle_output_ahead(struct shuffle_net *sn, struct sk_buff *skb);
void shuffle_output_record(struct shuffle_net *sn, struct shuffle_sock *ssk,
			   struct shuffle_membership *group, u32 rank,
			   struct shuffle_wire *w, struct sk_buff_head *q);
struct sk_buff *shuffle_output_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *from,
				      const struct sockaddr_shuffle *to, unsigned int linear,
				      u8 tos);
void shuffle_output_flush(struct shuffle_net *sn, struct sk_buff_head *q);

/* owner.c */
int shuffle_owner_open(struct shuffle_sock *ssk, int family);
void shuffle_owner_close(struct shuffle_sock *ssk);
struct sock *shuffle_owner_set(struct shuffle_sock *ssk, struct sk_buff *skb,
			       const struct dst_entry *dst, const void *daddr);

/* route.c */
struct dst_entry *shuffle_route_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *from,
				       const struct sockaddr_shuffle *to, __be16 sport);
struct dst_entry *shuffle_route(struct shuffle_net *sn, struct shuffle_sock *ssk,
				struct shuffle_membership *group, u32 rank);
struct dst_entry *shuffle_route_peer(struct shuffle_net *sn, const struct sockaddr_shuffle *to);
u32 shuffle_route_payload(const struct shuffle_dev *dev, const struct shuffle_membership *group,
			  u32 rank, struct dst_entry *dst);

/* path_mtu.c */
u32 shuffle_path_payload(const struct shuffle_member *m, u32 payload);
void shuffle_path_lost(struct shuffle_op *op, u32 rank, u32 payload, u64 now);
void shuffle_path_arrived(struct shuffle_op *op, u32 rank);

#endif /* _SHUFFLE_TX_H */
