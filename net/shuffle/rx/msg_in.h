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
 * @ready: place in ssk->ready when there is something for the reader
 * @dirty: place in op->rx.dirty when a GRANT has to be sent
 * @pieces: skbs that hold payload, by offset
 * @have: ranges that have arrived
 * @read: bytes that the reader has taken
 * @nonce: nonce of the sender's records
 * @all_nonce: nonce of the sender's records that are for all members; 0: none has come
 * @progress_at: time at which have.prefix last grew, or a wait began, ns
 * @wait_ns: time until the next RESEND; 0 before the first, which shuffle_rto() limits
 * @moved_at: time at which have.prefix last grew, ns; 0: never
 * @heard_at: time at which the sender last said anything in this operation, ns; 0: never
 * @resends: number of times that the message was late
 * @late: number of times that the message was late since it last made progress
 * @resent_at: time at which the message was last asked for again, ns
 * @probed: the sender was asked for a few packets only
 * @losses: number of times that these packets were lost since anything came by itself
 * @asked: end of the range that was last asked for
 * @cut: more is missing than was asked for: the buffer had no room
 * @question: the sender was asked what has left, and has not answered: rx/question.c
 * @proved: data was asked for because of the sender's answer
 * @stalled: the message is late since it last made progress, and the schedule knows
 * @questions: number of questions since the message last made progress
 * @questioned_at: time of the last question, ns
 * @straggler: an event has called the message a straggler
 * @rtt_off: offset at which a sample of the grant-to-data time ends
 * @rtt_at: time at which that sample began, ns; 0: none runs
 * @granted_sent: last offset sent in a GRANT
 * @acked_sent: bytes of which the last GRANT said that they have arrived
 * @due: what the message waits for
 * @complete: the message has arrived whole, or there is none
 * @absent: there is no message from this member
 * @ack_owed: the message is complete, and our own message to its sender takes the ACK along
 * @delivered: the reader has all of the message
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
	u64			acked_sent;
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
