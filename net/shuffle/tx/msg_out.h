/* SPDX-License-Identifier: GPL-2.0-only */
/* Outgoing messages: their chunks, and what receivers say about them. */
#ifndef _SHUFFLE_TX_MSG_OUT_H
#define _SHUFFLE_TX_MSG_OUT_H

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
 * @node: place in the batch of a writer: tx/fill.c
 * @by_off: place in shuffle_msg_out.chunks
 * @off: offset of the first byte in the message
 * @len: payload bytes
 * @rank: rank of the message's receiver
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
 * struct shuffle_msg_out - an outgoing message (its schedule is op->tx.sched.msg[rank])
 * @chunks: chunks that have been copied and not been acknowledged, by offset
 * @filled: bytes copied from the user
 * @free_to: the receiver has the bytes below: their chunks are freed
 * @judged_to: what the receiver has told of the bytes below has been used: path_carries()
 * @granted: offset below which the receiver allows bytes to be sent
 * @unsched: offset below which bytes may be sent without a grant
 * @announced_at: time at which the message was last announced or probed, ns
 * @wait_ns: time until the message is probed (again)
 * @due: wait for the ACK
 * @resends: number of times that an ACK was asked for
 * @reannounced: the message was announced more than once, so an answer measures nothing
 * @acked: the message has arrived whole, or there is none
 * @absent: there is no message to this member
 * @shared: the bytes are held, and sent, as those of shuffle_group_all(), for others have the same:
 *	same.c
 * @alone: with @shared, the bytes are sent to this receiver alone all the same
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
 * @node: place in op->tx.retrans
 * @rank: rank of the message's receiver
 * @start: offset of the first byte
 * @end: offset behind the last byte
 * @begun: the first packet of the range, which says that it answers a RESEND, has left
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

/* Which of op->tx.msg and op->tx.sched.msg holds the data of a message. */
static inline u32 shuffle_msg_out_holder(const struct shuffle_op *op, u32 rank)
{
	return op->tx.msg[rank].shared ? shuffle_group_all(op->group) : rank;
}

/* First byte that has not been sent to the receiver of a message. */
static inline u64 shuffle_msg_out_next(const struct shuffle_op *op, u32 rank)
{
	u32 by = op->tx.msg[rank].alone ? rank : shuffle_msg_out_holder(op, rank);

	return op->tx.sched.msg[by].next;
}

/* The receiver of a message cannot have more than this. */
static inline u64 shuffle_msg_out_sent(const struct shuffle_op *op, u32 rank)
{
	u64 by_all = op->tx.sched.msg[shuffle_msg_out_holder(op, rank)].next;

	return max(op->tx.sched.msg[rank].next, by_all);
}

#endif /* _SHUFFLE_TX_MSG_OUT_H */
