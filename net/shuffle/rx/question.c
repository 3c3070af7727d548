// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses that are proved.
 *
 * Silence does not say whether data was lost, waits in a queue, or has not left, because its
 * sender does not run.  So a receiver asks: a RESEND without bytes is a question, and the sender
 * answers with an empty DATA record which says how much of the message has left.  The answer
 * goes the way of data, behind what has left before it.  So what of that is missing when the answer
 * comes was lost, and is asked for at once.
 *
 * A question is asked when data comes behind a gap, and when data is overdue (sched/early.h).
 * The GRANT goes with it once more, for that may be what was lost.
 *
 * Where packets overtake one another, an answer proves nothing.  Data that comes by itself, after
 * it was asked for so, shows that (RFC 3522): the operation goes by time limits alone from then on,
 * and so do those that start within a second.  Devices with several queues may do that: an answer
 * leaves by the queue of the CPU on which the egress runs just then.
 *
 * All under ssk->lock, any context.
 */
#include "../abort.h"
#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../peer.h"
#include "../sched/early.h"
#include "../sched/ranges.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "../tx/msg_out.h"
#include "../tx/output.h"
#include "grant.h"
#include "msg_in.h"
#include "question.h"
#include "rto.h"
#include "timer.h"

/* RESENDs that one message gets at once; the others follow. */
#define SHUFFLE_MAX_GAPS	16

/**
 * shuffle_question_wait() - how long data of an operation may be overdue before that is asked
 * @op: operation in which the time from a grant to its data has been measured
 *
 * Return: ns.
 */
u64 shuffle_question_wait(const struct shuffle_op *op)
{
	u64 wait = shuffle_early_wait(op->rx.srtt_ns, op->rx.rttvar_ns, shuffle_rto_min(op));

	lockdep_assert_held(&op->ssk->lock);
	/* a packet of a grant comes at a time, or of an operation at a time */
	if (op->rx.sched.unit > op->tx.sched.unit || shuffle_grant_share(op) > 1)
		wait = max(wait, op->rx.pause_ns);
	return min(wait, shuffle_rto(op));
}

/**
 * shuffle_question_early() - is a message asked about before a time limit has passed?
 * @op: operation
 * @rank: message
 */
bool shuffle_question_early(const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_msg_in *in = &op->rx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	/* the answer and data for all members go different ways */
	return !op->rx.overtaken && !in->wait_ns && !in->all_nonce &&
	       in->questions < SHUFFLE_EARLY_QUESTIONS && rank != op->group->rank;
}

/**
 * shuffle_question_ask() - ask a sender what has left
 * @op: operation
 * @rank: rank of the sender, whose message is announced
 * @q: packets
 * @now: ns
 */
void shuffle_question_ask(struct shuffle_op *op, u32 rank, struct sk_buff_head *q, u64 now)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct shuffle_wire w = {
		.type = SHUFFLE_RESEND,
		.op_id = op->id,
		.nonce = in->nonce,
		.resend.off = in->have.prefix,
	};

	lockdep_assert_held(&op->ssk->lock);
	shuffle_grant_send(op, rank, q);
	shuffle_output_record(op->ssk->sn, op->ssk, op->group, rank, &w, q);
	SHUFFLE_INC(op->ssk->sn, ResendOut);
	SHUFFLE_INC(op->ssk->sn, QuestionOut);
	in->questioned_at = now;
	in->question = true;
	if (in->questions < U8_MAX)
		in->questions++;
}

/**
 * shuffle_question_gap() - data has come behind a gap
 * @op: operation
 * @rank: rank of the sender of the data
 * @q: packets
 * @now: ns
 */
void shuffle_question_gap(struct shuffle_op *op, u32 rank, struct sk_buff_head *q, u64 now)
{
	const struct shuffle_msg_in *in = &op->rx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	if (op->rx.srtt_ns && in->have.n && !in->question && shuffle_question_early(op, rank))
		shuffle_question_ask(op, rank, q, now);
}

/**
 * shuffle_question_resend() - ask for a range of a message
 * @op: operation
 * @rank: message
 * @start: first byte
 * @end: behind the last; @start: only an announcement, of a message never heard of
 * @q: packets
 */
void shuffle_question_resend(struct shuffle_op *op, u32 rank, u64 start, u64 end,
			     struct sk_buff_head *q)
{
	struct shuffle_net *sn = op->ssk->sn;
	struct shuffle_wire w = {
		.type = SHUFFLE_RESEND,
		/* what we have heard of says so by its nonce */
		.flags = !op->rx.msg[rank].nonce && shuffle_abort_asks(op, rank, shuffle_now()) ?
			 SHUFFLE_FLAG_MET : 0,
		.op_id = op->id,
		.nonce = op->rx.msg[rank].nonce,
		.resend.off = start,
		.resend.len = end - start,
	};

	lockdep_assert_held(&op->ssk->lock);
	if (rank == op->group->rank) {
		/* no packet to ourselves for that */
		w.src_rank = rank;
		shuffle_msg_out_resend(op, &w, q, shuffle_now());
		return;
	}
	shuffle_output_record(sn, op->ssk, op->group, rank, &w, q);
	SHUFFLE_INC(sn, ResendOut);
	shuffle_peer_resend(op, rank, true);
	trace_shuffle_resend_out(op, rank, start, end - start);
}

/* Bytes of payload that the receive buffer has room for */
static s64 room_left(const struct shuffle_op *op)
{
	const struct sock *sk = &op->ssk->sk;

	return (shuffle_sock_rcvbuf(sk) - atomic_read(&sk->sk_rmem_alloc)) / 2;
}

/**
 * shuffle_question_full() - must room be made before data is asked for?
 * @op: operation
 * @rank: message
 *
 * What came before that would be dropped, and its sender would look for the reason on the path
 * (shuffle_path_lost()).
 */
bool shuffle_question_full(const struct shuffle_op *op, u32 rank)
{
	lockdep_assert_held(&op->ssk->lock);
	return room_left(op) <= 0 && shuffle_sock_makes_room(op->ssk);
}

/**
 * shuffle_question_missing() - ask for what is missing of a message
 * @op: operation
 * @rank: message
 * @end: up to this byte
 * @q: packets
 *
 * As much as the buffer has room for: what is sent without a grant may be more, for its sender does
 * not know our buffer.
 *
 * Return: RESENDs.
 */
u32 shuffle_question_missing(struct shuffle_op *op, u32 rank, u64 end, struct sk_buff_head *q)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	u64 room = max_t(s64, room_left(op), 2 * op->rx.sched.unit);
	u64 from = in->have.prefix;
	struct shuffle_range gap;
	u32 n;

	lockdep_assert_held(&op->ssk->lock);
	in->asked = end;
	in->cut = false;
	for (n = 0; n < SHUFFLE_MAX_GAPS && room; n++) {
		if (!shuffle_ranges_missing(&in->have, from, end, &gap))
			break;
		gap.end = min(gap.end, gap.start + room);
		shuffle_question_resend(op, rank, gap.start, gap.end, q);
		room -= gap.end - gap.start;
		from = gap.end;
	}
	if (!room) {
		in->asked = from;
		in->cut = true;
	}
	return n;
}

/**
 * shuffle_question_answered() - a sender says how much has left
 * @op: operation
 * @rank: rank of the sender, whose message is announced and not complete
 * @sent: all below has left, it says
 * @q: packets
 * @now: ns
 */
void shuffle_question_answered(struct shuffle_op *op, u32 rank, u64 sent, struct sk_buff_head *q,
			       u64 now)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct shuffle_range gap;

	lockdep_assert_held(&op->ssk->lock);
	/* asked by nobody, or before data was asked for */
	if (!in->question)
		return;
	in->question = false;
	op->rx.answered = true;
	sent = min(sent, op->rx.sched.msg[rank].granted);
	if (op->rx.overtaken || !shuffle_ranges_missing(&in->have, in->have.prefix, sent, &gap) ||
	    shuffle_question_full(op, rank))
		return;
	SHUFFLE_INC(op->ssk->sn, LossProved);
	in->rtt_at = 0;		/* Karn: what comes now measures nothing */
	in->probed = false;
	in->proved = true;
	/* not late: its sender has answered */
	in->late = max(in->late, 1U);
	op->rx.resends++;
	in->resends++;
	in->resent_at = now;
	in->progress_at = now;
	shuffle_question_missing(op, rank, sent, q);
	shuffle_timer_in(op, rank);
}

/**
 * shuffle_question_progress() - the next bytes of a message have come
 * @op: operation
 * @rank: message
 * @again: their record says that they were sent again
 * @now: ns
 */
void shuffle_question_progress(struct shuffle_op *op, u32 rank, bool again, u64 now)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	/* the loopback is no measure of the network */
	if (rank != op->group->rank && !in->late && !again && now > in->progress_at)
		op->rx.pause_ns = shuffle_early_pause(op->rx.pause_ns, now - in->progress_at);
	in->questions = 0;
	in->question = false;
	in->stalled = false;
	if (!in->proved)
		return;
	in->proved = false;
	if (again) {
		shuffle_dev_lost(op->dev);
		return;
	}
	SHUFFLE_INC(op->ssk->sn, LossDisproved);
	op->rx.overtaken = true;
	shuffle_dev_overtaken(op->dev);
}
