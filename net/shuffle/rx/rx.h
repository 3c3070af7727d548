/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What arrives: input splits datagrams into records, msg_in keeps them, grant asks for
 * more, recvmsg() hands them to the user.
 */
#ifndef _SHUFFLE_RX_H
#define _SHUFFLE_RX_H

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
 * struct shuffle_msg_in - an incoming message (its schedule is op->prx.msg[rank])
 * @ready: in ssk->ready when there is something for the reader
 * @dirty: in op->dirty when a GRANT has to be sent
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

/* input.c */
void shuffle_input_packet(struct shuffle_net *sn, struct sk_buff *skb,
			  struct shuffle_sock *claims);

/* delayed_ack.c */

/* An ACK waits so long for data that takes it along. */
#define SHUFFLE_ACK_DELAY_NS	(5 * NSEC_PER_MSEC)

/* ACKs of one member that wait: all of them fit one packet */
#define SHUFFLE_DELAYED_ACKS	4

void shuffle_delayed_init(struct shuffle_sock *ssk, struct shuffle_membership *group);
void shuffle_delayed_exit(struct shuffle_sock *ssk);
bool shuffle_delayed_owe(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
u32 shuffle_delayed_count(const struct shuffle_op *op, u32 rank);
struct shuffle_wire shuffle_delayed_take(struct shuffle_op *op, u32 rank);

/* early.c */
void shuffle_early_init(struct shuffle_sock *ssk);
void shuffle_early_exit(struct shuffle_sock *ssk);
int shuffle_early_keep(struct shuffle_sock *ssk, struct sk_buff *skb, u64 op_id, u32 unlinked);
void shuffle_early_claim(struct shuffle_sock *ssk, u64 op_id);

/* echo.c */
void shuffle_echo_answer(struct shuffle_net *sn, const struct sk_buff *skb, u32 off,
			 const struct sockaddr_shuffle *from, const struct sockaddr_shuffle *to,
			 const struct shuffle_wire *w);

/* timewait.c */
void shuffle_timewait_init(struct shuffle_net *sn);
bool shuffle_timewait_exists(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     u64 op_id);
void shuffle_timewait_add(struct shuffle_net *sn, struct shuffle_op *op);
int shuffle_timewait_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			    const struct sockaddr_shuffle *from,
			    const struct shuffle_wire *w, struct sk_buff_head *q);
void shuffle_timewait_purge(struct shuffle_net *sn);

/* msg_in.c */
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
bool shuffle_msg_in_readable(struct shuffle_msg_in *in, bool pressure);
void shuffle_msg_in_queue(struct shuffle_op *op, u32 rank);
void shuffle_msg_in_unpark(struct shuffle_sock *ssk);

/* msg_take.c */
bool shuffle_msg_in_take(struct shuffle_op *op, u32 rank, u8 *to, s32 *budget);

/* grant.c */
u32 shuffle_grant_share(const struct shuffle_op *op);
u64 shuffle_grant_ordered(const struct shuffle_op *op, u8 class, u64 max_out);
void shuffle_grant_account(struct shuffle_op *op);
void shuffle_grant_pressure(struct shuffle_sock *ssk);
void shuffle_grant_op(struct shuffle_op *op, struct sk_buff_head *q, u64 now);
void shuffle_grant_send(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
bool shuffle_grant_sock(struct shuffle_sock *ssk, struct sk_buff_head *q);
u64 shuffle_grant_max_out(const struct shuffle_dev *dev);
u32 shuffle_grant_unit(u32 rtt_bytes, u32 pkt);

/* slowest.c */
void shuffle_slowest_heard(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);
void shuffle_slowest_tell(const struct shuffle_op *op, struct shuffle_wire *w);
u32 shuffle_slowest_limits(struct shuffle_op *op, u64 now);

/* question.c */
u64 shuffle_question_wait(const struct shuffle_op *op);
bool shuffle_question_early(const struct shuffle_op *op, u32 rank);
void shuffle_question_ask(struct shuffle_op *op, u32 rank, struct sk_buff_head *q, u64 now);
void shuffle_question_gap(struct shuffle_op *op, u32 rank, struct sk_buff_head *q, u64 now);
void shuffle_question_resend(struct shuffle_op *op, u32 rank, u64 start, u64 end,
			     struct sk_buff_head *q);
bool shuffle_question_full(const struct shuffle_op *op, u32 rank);
u32 shuffle_question_missing(struct shuffle_op *op, u32 rank, u64 end, struct sk_buff_head *q);
void shuffle_question_answered(struct shuffle_op *op, u32 rank, u64 sent, struct sk_buff_head *q,
			       u64 now);
void shuffle_question_progress(struct shuffle_op *op, u32 rank, bool again, u64 now);

/* recvmsg.c */
int shuffle_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

/* rto.c */
u64 shuffle_rto_first(const struct shuffle_op *op);
u64 shuffle_rto_min(const struct shuffle_op *op);
u64 shuffle_rto_max(const struct shuffle_op *op);
u64 shuffle_rto_unmeasured(const struct shuffle_op *op);
u64 shuffle_rto(const struct shuffle_op *op);
u64 shuffle_rto_data(const struct shuffle_op *op);
void shuffle_rto_sample(struct shuffle_op *op, u32 rank, u64 ns, u64 now);
void shuffle_rto_acked(struct shuffle_op *op, u32 rank, u64 now);

/* timer.c */
void shuffle_timer_init(struct shuffle_op *op);
void shuffle_timer_start(struct shuffle_op *op);
void shuffle_timer_now(struct shuffle_op *op, u64 now);
void shuffle_timer_in(struct shuffle_op *op, u32 rank);
void shuffle_timer_out(struct shuffle_op *op, u32 rank);
u64 shuffle_timer_in_wait(const struct shuffle_op *op, u32 rank);

#endif /* _SHUFFLE_RX_H */
