// SPDX-License-Identifier: GPL-2.0-only
/*
 * A member leaves an operation: because of an error, because its program cancels or closes, or
 * because its process is gone.  It says so (ABORT), as a reset of TCP does, and the others end at
 * once instead of waiting for it.
 *
 * Nothing depends on an ABORT: when it is lost, a member that asks for what is missing is answered
 * with another one (shuffle_abort_answer(), timewait.c, shuffle_abort_forgot()), and where nobody
 * answers the idle timeout ends the operation.  A member that needs nothing more from the one that
 * has left is not concerned.
 *
 * An ABORT names those to blame: a member that leaves because another one has left, or is silent,
 * blames that one.  So all who end name the same members, and only these.
 */
#include "abort.h"
#include "group.h"
#include "mib.h"
#include "netns.h"
#include "op.h"
#include "rate.h"
#include "rx/msg_in.h"
#include "sched/wire.h"
#include "sock.h"
#include "tx/msg_out.h"
#include "tx/output.h"

static const int errnos[SHUFFLE_LEFT_REASONS] = {
	[SHUFFLE_LEFT_FAILED] = EIO,
	[SHUFFLE_LEFT_CLOSED] = EPIPE,
	[SHUFFLE_LEFT_CANCELLED] = ECANCELED,
	[SHUFFLE_LEFT_NO_MEMORY] = ENOMEM,
	[SHUFFLE_LEFT_DISAGREES] = EPROTO,
	[SHUFFLE_LEFT_TIMED_OUT] = ETIMEDOUT,
	[SHUFFLE_LEFT_FORGOT] = ENOENT,
};

/**
 * shuffle_abort_errno() - what a program is told of a member that has left
 * @reason: enum shuffle_abort_reason, or a number from the wire
 *
 * Return: a positive errno.
 */
int shuffle_abort_errno(u16 reason)
{
	return reason && reason < SHUFFLE_LEFT_REASONS ? errnos[reason] : EIO;
}

static u16 reason_of(int error)
{
	u16 i;

	if (error == ENOBUFS)
		return SHUFFLE_LEFT_NO_MEMORY;
	for (i = SHUFFLE_LEFT_FAILED; i < SHUFFLE_LEFT_REASONS; i++)
		if (errnos[i] == error)
			return i;
	return SHUFFLE_LEFT_FAILED;
}

static bool is_blamed(const struct shuffle_blame *blame, u32 rank)
{
	u32 i;

	for (i = 0; i < min_t(u32, blame->ranks, SHUFFLE_BLAMED); i++)
		if (blame->rank[i] == rank)
			return true;
	return false;
}

/* What only this member can bring, or confirm: SHUFFLE_MISSING_*, 0: nothing. */
static u16 incomplete(const struct shuffle_op *op, u32 rank)
{
	u16 flags = 0;

	if (!op->rx.msg[rank].complete)
		flags |= SHUFFLE_MISSING_RECV;
	if (!op->tx.msg[rank].acked)
		flags |= SHUFFLE_MISSING_ACK;
	return flags;
}

/* Is anything missing that is not this member's to bring, or to confirm? */
static bool misses_others(const struct shuffle_op *op, u32 rank)
{
	u32 in = !op->rx.msg[rank].complete, ack = !op->tx.msg[rank].acked;

	return op->rx.incomplete > in || op->tx.unacked > ack;
}

/**
 * shuffle_op_missing() - is a member missing in an operation that has failed?
 * @op: operation
 * @rank: the member
 *
 * If others are to blame, they are missing; else all from which, or from whose receivers,
 * something is missing.  This member itself is missing only if nobody else is: its own message may
 * wait in the row behind that for another one.
 *
 * Context: any; @op has ended, so nothing of this changes.
 * Return: SHUFFLE_MISSING_* of a record; 0: it is not missing.
 */
u16 shuffle_op_missing(const struct shuffle_op *op, u32 rank)
{
	if (op->life.blamed)
		return is_blamed(&op->life.blame, rank) ?
		       SHUFFLE_MISSING_LEFT | incomplete(op, rank) : 0;
	if (rank == op->life.excused)
		return 0;
	if (rank == op->group->rank ? misses_others(op, rank) :
	    op->life.silent_since && op->rx.msg[rank].heard_at > op->life.silent_since)
		return 0;
	return incomplete(op, rank);
}

/* Those of the missing that have been silent for half of the idle timeout are to blame, and the
 * others not: they wait as we do, in a chain for instance.  Returns how many are missing.  A walk
 * over all members, a few times in an operation's life at most.
 */
static u32 find_silent(struct shuffle_op *op, u64 now)
{
	u64 since = now - min(now, (u64)READ_ONCE(op->ssk->idle_ms) * NSEC_PER_MSEC / 2);
	u32 i, missing = 0;
	bool silent = false;

	lockdep_assert_held(&op->ssk->lock);
	/* whoever has just begun has heard nobody yet */
	if (op->life.started_at > since)
		return 0;
	for (i = 0; i < op->group->count; i++) {
		if (i == op->group->rank || i == op->life.excused || !incomplete(op, i))
			continue;
		missing++;
		silent |= op->rx.msg[i].heard_at <= since;
	}
	op->life.silent_since = silent ? since : 0;
	return missing;
}

/**
 * shuffle_abort_overdue_ns() - how much longer than its time an operation waits for such a word
 * @op: operation
 *
 * Context: any.
 * Return: ns.
 */
u64 shuffle_abort_overdue_ns(const struct shuffle_op *op)
{
	u64 idle = (u64)READ_ONCE(op->ssk->idle_ms) * NSEC_PER_MSEC;

	return min_t(u64, SHUFFLE_OVERDUE_NS, idle / 8);
}

/**
 * shuffle_abort_overdue() - the time of an operation is over: has it to fail at once?
 * @op: operation, which has not ended
 * @now: ns
 *
 * Where all that are missing still speak, another member knows who does not, and its time is over,
 * too: its word is waited for, a little.
 *
 * Context: any, ssk->lock held.
 * Return: ns to wait, 0: the operation is to fail.
 */
u64 shuffle_abort_overdue(struct shuffle_op *op, u64 now)
{
	u32 missing = find_silent(op, now);

	if (!missing || op->life.silent_since || op->life.deadline_at || op->life.asked_others)
		return 0;
	op->life.asked_others = true;
	return shuffle_abort_overdue_ns(op);
}

/**
 * shuffle_op_disagrees() - a member takes part in another operation than we do
 * @op: operation, which fails
 * @rank: the member
 *
 * Context: any, ssk->lock held.
 */
void shuffle_op_disagrees(struct shuffle_op *op, u32 rank)
{
	lockdep_assert_held(&op->ssk->lock);
	if (op->life.ended)
		return;
	op->life.blamed = true;
	shuffle_blame_disagrees(&op->life.blame, rank, op->digest);
	shuffle_op_fail(op, EPROTO);
}

/* Is it because of members that have left that the program ends an operation?  It did not know that
 * yet when it began this one, and ends it soon: who goes on in a group that has lost a member ends
 * for reasons of its own.
 */
static bool is_for_left(const struct shuffle_op *op, u16 reason)
{
	const struct shuffle_membership *group = op->group;

	return (reason == SHUFFLE_LEFT_CLOSED || reason == SHUFFLE_LEFT_CANCELLED) &&
	       group->left_at && op->life.started_at < group->left_at + SHUFFLE_ASKS_NS &&
	       op->life.ended_at < group->left_at + SHUFFLE_FOLLOWS_NS;
}

/* Who is to blame where nobody else has said so: who made the program end it, those that have been
 * silent, or ourselves.
 */
static void blame_for(const struct shuffle_op *op, u16 reason, struct shuffle_blame *blame)
{
	u32 i, n = 0;
	bool left;

	spin_lock_bh(&op->ssk->lock);
	left = is_for_left(op, reason);
	if (left)
		*blame = op->group->left;
	spin_unlock_bh(&op->ssk->lock);
	if (left)
		return;
	*blame = (struct shuffle_blame) { .reason = reason };
	if (reason == SHUFFLE_LEFT_TIMED_OUT) {
		for (i = 0; i < op->group->count; i++) {
			if (i == op->group->rank || !shuffle_op_missing(op, i))
				continue;
			if (n < SHUFFLE_BLAMED)
				blame->rank[n] = i;
			n++;
		}
	}
	if (!n)
		blame->rank[n++] = op->group->rank;
	blame->ranks = n;
}

/* Add an ABORT to a list of packets.  @asked: the record that it answers, or one with the receiver
 * as its source.  @nonce: of our message to the receiver; 0: @asked is of the receiver's message,
 * and has it; @whole: that message has arrived.  The others, and the locks: shuffle_output_alloc().
 */
static void put_abort(struct shuffle_net *sn, struct shuffle_sock *ssk,
		      struct shuffle_membership *group, const struct shuffle_wire *asked,
		      u64 nonce, bool whole, const struct shuffle_blame *blame,
		      struct sk_buff_head *q)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_ABORT,
		.flags = (nonce ? 0 : SHUFFLE_FLAG_YOURS) | (whole ? SHUFFLE_FLAG_WHOLE : 0),
		.op_id = asked->op_id,
		.nonce = nonce ?: asked->nonce,
		.blame = *blame,
	};

	shuffle_output_record(sn, ssk, group, asked->src_rank, &w, q);
	SHUFFLE_INC(sn, AbortOut);
}

/* ssk->lock held. */
static void tell_member(struct shuffle_op *op, u32 rank, struct sk_buff_head *q)
{
	const struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct shuffle_wire w = { .src_rank = rank, .op_id = op->id, .nonce = in->nonce };
	/* the ACK of its message may have been lost */
	bool whole = in->complete && in->nonce;
	u64 nonce = 0;

	lockdep_assert_held(&op->ssk->lock);
	if (!whole && (!in->nonce || (rank < op->tx.announced && !op->tx.msg[rank].absent)))
		nonce = shuffle_op_nonce(op, rank);
	put_abort(op->ssk->sn, op->ssk, op->group, &w, nonce, whole, &op->life.blame, q);
}

/* Has a member to be told?  Those that have left do not listen.  Of a host that was started again
 * also those are told that need nothing of us, for it has told nobody itself.
 */
static bool is_told(const struct shuffle_op *op, u32 rank)
{
	bool known = op->rx.msg[rank].nonce ||
		     (rank < op->tx.announced && !op->tx.msg[rank].absent);

	if (op->life.blamed && op->life.blame.reason != SHUFFLE_LEFT_DISAGREES &&
	    is_blamed(&op->life.blame, rank))
		return false;
	return incomplete(op, rank) || (op->life.blame.reason == SHUFFLE_LEFT_FORGOT && known);
}

/**
 * shuffle_abort_tell() - tell the others that we have left an operation
 * @op: operation that has failed, or is taken out before its end
 * @reason: enum shuffle_abort_reason, of its end; 0: as op->life.error says
 *
 * Context: process, may sleep; no lock of ours held.  Once for each operation.
 */
void shuffle_abort_tell(struct shuffle_op *op, u16 reason)
{
	struct shuffle_membership *group = op->group;
	u32 i = 1, rank, n = group->count, sent;
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_blame blame;
	struct sk_buff_head q;
	bool own;

	if (!op->life.blamed) {
		blame_for(op, reason ?: reason_of(op->life.error), &blame);
		spin_lock_bh(&ssk->lock);
		op->life.blame = blame;
		spin_unlock_bh(&ssk->lock);
	}
	/* what a program ends nobody else tells of */
	own = op->life.error == ECANCELED || is_blamed(&op->life.blame, group->rank);
	if (!own && n > SHUFFLE_ABORT_REPEAT)
		return;
	__skb_queue_head_init(&q);
	while (i < n) {
		spin_lock_bh(&ssk->lock);
		/* begin behind ourselves, so that not all tell rank 0 at once */
		for (sent = 0; i < n && sent < SHUFFLE_BURST; i++) {
			rank = (group->rank + i) % n;
			if (!is_told(op, rank))
				continue;
			tell_member(op, rank, &q);
			sent++;
		}
		spin_unlock_bh(&ssk->lock);
		shuffle_output_flush(op->ssk->sn, &q);
		cond_resched();
	}
}

/* What an ABORT says of our message to its sender, and whether it is from there at all: it has
 * a nonce that only the two know, or comes before we have heard anything.
 */
static bool is_genuine(struct shuffle_op *op, const struct shuffle_wire *w)
{
	u32 rank = w->src_rank;

	if (w->flags & SHUFFLE_FLAG_YOURS)
		return rank < op->tx.announced && !op->tx.msg[rank].absent &&
		       w->nonce == shuffle_op_nonce(op, rank);
	if (!op->rx.sched.msg[rank].announced)
		/* a host that has forgotten answers questions of those that have heard of it */
		return w->blame.reason != SHUFFLE_LEFT_FORGOT;
	return w->nonce == op->rx.msg[rank].nonce;
}

/* It has missed us, or too many to be named.  If we have missed others for long as well, these are
 * missing, and the sender is not.
 */
static bool missed_others(const struct shuffle_op *op, u32 sender, u64 now)
{
	u64 idle = (u64)READ_ONCE(op->ssk->idle_ms) * NSEC_PER_MSEC;

	return misses_others(op, sender) &&
	       (op->life.deadline_at || now - op->life.progress_at > idle / 2);
}

/* Do we still need something of the one that has left, or of a host that has been started again?
 * Nobody will get anything of that any more.
 */
static bool is_concerned(const struct shuffle_op *op, const struct shuffle_wire *w)
{
	u32 i, rank;

	if (incomplete(op, w->src_rank))
		return true;
	if (w->blame.reason != SHUFFLE_LEFT_FORGOT)
		return false;
	for (i = 0; i < min_t(u32, w->blame.ranks, SHUFFLE_BLAMED); i++) {
		rank = w->blame.rank[i];
		if (rank < op->group->count && rank != op->group->rank && incomplete(op, rank))
			return true;
	}
	return false;
}

/**
 * shuffle_abort_heard() - an ABORT has come
 * @op: operation; the sender is a member of its group
 * @w: the record
 * @now: ns
 *
 * Context: any, ssk->lock held.
 */
void shuffle_abort_heard(struct shuffle_op *op, const struct shuffle_wire *w, u64 now)
{
	struct shuffle_net *sn = op->ssk->sn;
	struct shuffle_wire ack = *w;
	u32 i, n, rank, sender = w->src_rank;
	bool me = false;
	u16 reason;

	lockdep_assert_held(&op->ssk->lock);
	if (op->life.ended) {
		SHUFFLE_INC(sn, DropNoOp);
		return;
	}
	if (sender == op->group->rank || !is_genuine(op, w)) {
		SHUFFLE_INC(sn, DropNonce);
		return;
	}
	SHUFFLE_INC(sn, AbortIn);
	if (w->flags & SHUFFLE_FLAG_WHOLE) {
		ack.flags = 0;
		shuffle_msg_out_ack(op, &ack, now);
	}
	if (op->life.ended || !is_concerned(op, w))
		return;

	if (w->blame.reason == SHUFFLE_LEFT_DISAGREES) {
		/* each of two says that it is the other one */
		rank = w->blame.rank[0];
		if (rank == op->group->rank || rank >= op->group->count ||
		    shuffle_blame_digest(&w->blame) != op->digest)
			rank = sender;
		shuffle_op_disagrees(op, rank);
		return;
	}
	reason = w->blame.reason < SHUFFLE_LEFT_REASONS ? w->blame.reason : SHUFFLE_LEFT_FAILED;
	op->life.blame = (struct shuffle_blame) { .reason = reason };
	for (i = n = 0; i < min_t(u32, w->blame.ranks, SHUFFLE_BLAMED); i++) {
		rank = w->blame.rank[i];
		me |= rank == op->group->rank;
		if (rank == op->group->rank || rank >= op->group->count ||
		    is_blamed(&op->life.blame, rank))
			continue;
		op->life.blame.rank[n++] = rank;
		op->life.blame.ranks = n;
	}
	op->life.blamed = true;
	if (reason == SHUFFLE_LEFT_TIMED_OUT && (me || w->blame.ranks > SHUFFLE_BLAMED) &&
	    missed_others(op, sender, now)) {
		op->life.blamed = false;
		op->life.excused = sender;
		find_silent(op, now);
	} else if (!n) {
		op->life.blame.rank[0] = sender;
		op->life.blame.ranks = 1;
	}
	if (reason == SHUFFLE_LEFT_CLOSED || reason == SHUFFLE_LEFT_FORGOT) {
		/* believed of any operation, as FORGOT is not */
		op->group->left = op->life.blame;
		op->group->left.reason = SHUFFLE_LEFT_CLOSED;
		op->group->left_at = now;
	}
	shuffle_op_fail(op, reason == SHUFFLE_LEFT_TIMED_OUT ? ETIMEDOUT : ECONNRESET);
}

/* Is the record about its sender's message? */
static bool is_data(const struct shuffle_wire *w)
{
	return w->type == SHUFFLE_DATA;
}

/**
 * shuffle_abort_reply() - answer a record for an operation that we have left
 * @sn: namespace
 * @ssk: see shuffle_output_alloc()
 * @group: the operation's members
 * @w: the record, from one of them
 * @ours: nonce of our message to it
 * @blame: why we have left
 * @q: packets
 *
 * Context: any, locks as shuffle_output_alloc().
 * Return: false if it asks for nothing and brings nothing, or does not know us: there is no answer.
 */
bool shuffle_abort_reply(struct shuffle_net *sn, struct shuffle_sock *ssk,
			 struct shuffle_membership *group, const struct shuffle_wire *w, u64 ours,
			 const struct shuffle_blame *blame, struct sk_buff_head *q)
{
	if (!is_data(w) && w->type != SHUFFLE_GRANT && w->type != SHUFFLE_RESEND)
		return false;
	if (!is_data(w) && w->nonce && w->nonce != ours)
		return false;
	put_abort(sn, ssk, group, w, is_data(w) ? 0 : ours, false, blame, q);
	return true;
}

/**
 * shuffle_abort_answer() - answer for an operation that has failed and has not been taken out
 * @op: operation
 * @w: record from a member, for it
 * @q: packets
 *
 * Context: any, ssk->lock held.
 * Return: true if that is all that the record is good for.
 */
bool shuffle_abort_answer(struct shuffle_op *op, const struct shuffle_wire *w,
			  struct sk_buff_head *q)
{
	u32 rank = w->src_rank;

	lockdep_assert_held(&op->ssk->lock);
	if (!op->life.ended || !op->life.error || !op->life.blame.ranks ||
	    w->dst_rank != op->group->rank || rank == op->group->rank)
		return false;
	/* what has come whole is acknowledged */
	if (is_data(w) && op->rx.msg[rank].complete)
		return false;
	return shuffle_abort_reply(op->ssk->sn, op->ssk, op->group, w,
				   shuffle_op_nonce(op, rank), &op->life.blame, q);
}

/* Has its sender heard of the operation from us?  What a member that has yet to begin is told
 * says so never.
 */
static bool knows_us(const struct shuffle_wire *w)
{
	switch (w->type) {
	case SHUFFLE_GRANT:
		return true;
	case SHUFFLE_RESEND:
		return w->nonce;
	case SHUFFLE_DATA:
		/* what begins behind that goes by our grant only */
		return w->flags & SHUFFLE_FLAG_HEARD ||
		       (w->payload && w->data.off >= w->unsched);
	}
	return false;
}

/**
 * shuffle_abort_asks() - is a member asked whether the socket that we have met is still there?
 * @op: operation, in which nothing has been heard of the member
 * @rank: the member
 * @now: ns
 *
 * Not at first. Who leaves because another one has left says so in the operation that both were in,
 * at once, and it is the other one that is to be named.
 *
 * Context: any, ssk->lock held.
 * Return: true if records to it have SHUFFLE_FLAG_MET.
 */
bool shuffle_abort_asks(const struct shuffle_op *op, u32 rank, u64 now)
{
	lockdep_assert_held(&op->ssk->lock);
	return op->group->member[rank].met && now - op->life.started_at >= SHUFFLE_ASKS_NS;
}

/**
 * shuffle_abort_forgot() - a member asks for an operation that this host does not know any more
 * @sn: namespace
 * @ssk: socket, whose group the sender is a member of, and ssk->lock is held; NULL: there is none
 * @at: address that the record came to
 * @from: address that it came from
 * @w: the record
 * @ended: one of its number has ended here, and is another one: that of a group before, whose
 *	members this host remembers longer than the sender does
 * @q: packets
 *
 * The program has ended long ago, or the host has been started again.  Answers are no larger than
 * questions, and limited in their rate.  Where a key is needed and no socket has it, there is no
 * answer.
 *
 * Context: softirq.
 */
void shuffle_abort_forgot(struct shuffle_net *sn, struct shuffle_sock *ssk,
			  const struct sockaddr_shuffle *at, const struct sockaddr_shuffle *from,
			  const struct shuffle_wire *w, bool ended, struct sk_buff_head *q)
{
	struct sockaddr_shuffle to;
	struct shuffle_wire abort;
	struct shuffle_blame blame;
	struct sk_buff *skb;
	/* what is opened there later is another socket than the sender has met */
	bool gone = !ssk && (is_data(w) || w->type == SHUFFLE_RESEND) &&
		    w->flags & SHUFFLE_FLAG_MET;
	bool known = ended || knows_us(w);

	/* not so of packets that come before their operation has begun, which are many */
	if ((!known && !gone) ||
	    !shuffle_rate_take(&sn->forgot_full_at, shuffle_now(), SHUFFLE_FORGOT_RATE))
		return;
	blame = (struct shuffle_blame) {
		.reason = known ? SHUFFLE_LEFT_FORGOT : SHUFFLE_LEFT_CLOSED,
		.ranks = 1,
		.rank = { w->dst_rank },
	};
	if (ssk) {
		lockdep_assert_held(&ssk->lock);
		put_abort(sn, ssk, ssk->group, w, is_data(w) ? 0 : w->nonce, false, &blame, q);
		return;
	}
	if (w->flags & SHUFFLE_FLAG_TAG)
		return;
	abort = (struct shuffle_wire) {
		.type = SHUFFLE_ABORT,
		.flags = is_data(w) ? SHUFFLE_FLAG_YOURS : 0,
		.src_rank = w->dst_rank,
		.src_port = w->dst_port,
		.dst_rank = w->src_rank,
		.dst_port = w->src_port,
		.op_id = w->op_id,
		/* a member that has not been heard of is believed with any */
		.nonce = w->nonce ?: 1,
		.blame = blame,
	};
	to = *from;
	to.shs_port = htons(READ_ONCE(sn->dev0.cfg.port));
	skb = shuffle_output_answer(sn, at, &to, SHUFFLE_WIRE_MAX_HDR, 0);
	if (!skb)
		return;
	shuffle_wire_build(skb_put(skb, shuffle_wire_hdr_len(abort.type, abort.flags)), &abort);
	__skb_queue_tail(q, skb);
	SHUFFLE_INC(sn, AbortOut);
}
