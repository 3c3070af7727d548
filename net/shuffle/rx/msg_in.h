/* SPDX-License-Identifier: GPL-2.0-only */
/* Incoming messages: what has come of them, and what is done about the rest. */
#ifndef _SHUFFLE_RX_MSG_IN_H
#define _SHUFFLE_RX_MSG_IN_H

#include <linux/rbtree.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>
#include "../op.h"
#include "../sched/ranges.h"
#include "../sched/wire.h"

/* Losses of what a few packets were asked for, before the rest is asked for as a whole. */
#define SHUFFLE_PROBES_MAX	5

/* An answer is whole packets of the sender's layout, which may come in several parts since the
 * path has shrunk: two packets of 9000 bytes.
 */
#define SHUFFLE_ANSWER_SLACK	SZ_16K

/**
 * struct shuffle_msg_in - an incoming message (its schedule is op->rx.sched.msg[rank])
 * @ready: in ssk->ready when there is something for the reader
 * @dirty: in op->rx.dirty when a GRANT has to be sent
 * @pieces: skbs that hold payload, by offset
 * @have: what has arrived
 * @read: bytes that the reader has taken
 * @nonce: of its sender
 * @all_nonce: likewise, in records that are for all members; 0 none has come
 * @progress_at: when have.prefix last grew, or a wait began
 * @wait_ns: until the next RESEND; 0 before the first, shuffle_rto() then
 * @moved_at: when have.prefix last grew, 0 never
 * @heard_at: when its sender last said anything in this operation, 0 never
 * @resends: times that it was late
 * @late: of these, since it last made progress
 * @resent_at: when it was last asked for again
 * @probed: it was asked for a few packets only
 * @losses: times that these had been lost, since anything came by itself
 * @asked: end of what it was last asked for
 * @cut: that is not all that is missing: the buffer had no room for more
 * @question: its sender has been asked what has left, and has not answered: rx/question.c
 * @proved: data was asked for because of the answer
 * @stalled: since then it has been late, and the schedule knows
 * @questions: that have been asked since it last made progress
 * @questioned_at: when the last one was asked
 * @straggler: has been called one
 * @rtt_off: a sample of the grant-to-data time ends when the prefix passes this
 * @rtt_at: and began then; 0 none runs
 * @granted_sent: last offset sent in a GRANT
 * @due: what it waits for
 * @complete: it has arrived whole, or there is none
 * @absent: there is none
 * @ack_owed: and our own message to its sender takes the ACK along
 * @delivered: the reader has all of it
 */
struct shuffle_msg_in {
	struct shuffle_ready	ready;
	struct list_head	dirty;
	struct rb_root		pieces;
	struct shuffle_ranges	have;
	u64			read;
	u64			nonce;
	u64			all_nonce;
	bool			complete;
	bool			absent;
	bool			ack_owed;
	bool			delivered;
	u64			progress_at;
	u64			wait_ns;
	u64			moved_at;
	u64			heard_at;
	u32			resends;
	u32			late;
	u64			resent_at;
	bool			probed;
	u8			losses;
	u64			asked;
	bool			cut;
	bool			question;
	bool			proved;
	bool			stalled;
	u8			questions;
	u64			questioned_at;
	bool			straggler;
	u64			rtt_off;
	u64			rtt_at;
	u64			granted_sent;
	struct shuffle_due	due;
};

/**
 * struct shuffle_piece - skb->cb of a received skb on shuffle_msg_in.pieces
 * @base: offset in the message of the first payload byte in the skb
 * @start: bytes [@start, @end) of the message are wanted from it
 * @end: see @start
 * @data: offset in the skb of that first payload byte
 * @stride: payload bytes between two record headers
 * @hdr: bytes of a record header
 */
struct shuffle_piece {
	u64	base;
	u64	start;
	u64	end;
	u32	data;
	u32	stride;
	u32	hdr;
};

#define SHUFFLE_PIECE(skb)	((struct shuffle_piece *)&(skb)->cb[0])

bool shuffle_msg_in_data(struct shuffle_op *op, const struct shuffle_wire *w,
			 struct sk_buff *skb, u32 data, u32 len, u32 stride,
			 struct sk_buff_head *q, u64 now);
struct shuffle_wire shuffle_msg_in_ack(const struct shuffle_op *op, u32 rank);
void shuffle_msg_in_send_ack(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
bool shuffle_msg_in_purge(struct shuffle_op *op, u32 rank, u32 *budget);
void shuffle_msg_in_insert_piece(struct shuffle_msg_in *in, struct sk_buff *skb);
void shuffle_msg_in_uncharge_piece(struct shuffle_sock *ssk, struct sk_buff *skb);
void shuffle_msg_in_free_piece(struct shuffle_sock *ssk, struct shuffle_msg_in *in,
			       struct sk_buff *skb);
void shuffle_msg_in_unpark(struct shuffle_sock *ssk);

#endif /* _SHUFFLE_RX_MSG_IN_H */
