// SPDX-License-Identifier: GPL-2.0-only
/*
 * Window mode scale-back: the slowest receiver of an operation.
 *
 * Where the core of a network is the limit, a receiver with less left than the slowest one
 * leaves the links that they share to the slowest (Li, section 3.4, equations 3.11 to 3.14).
 * Li's nodes find what the slowest waits for by an all-reduce from time to time.  Here each GRANT
 * and each ACK carries the larger of what its sender waits for itself, and of what another
 * receiver has told it.  What was heard gets smaller with time, as if the slowest received at the
 * rate of its link, and by a round trip for the way.  So it is never more than the truth, old
 * knowledge gives way to what the slowest tells of itself, and own and others' remainders are of
 * one time.
 *
 * What was heard from others (hearsay) is not told on: with each hop it would be as much younger
 * than it is as packets take longer than a round trip of the idle network, and would never get
 * old among many.
 *
 * Members are believed: one that tells too much slows down its own group, as it could by not
 * delivering.  All under ssk->lock, any context.
 */
#include "../config.h"
#include "../group.h"
#include "../netlink/netlink.h"
#include "../op.h"
#include "../sched/portable.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "slowest.h"

/* of op->rx.slowest */
enum { FROM_ITSELF, HEARSAY };

static bool scales_back(const struct shuffle_op *op)
{
	return READ_ONCE(op->dev->cfg.window_mode) == SHUFFLE_NL_WINDOW_MODE_SCALE_BACK;
}

/* What was heard, and is still true at least. */
static u64 aged(const struct shuffle_op *op, const struct shuffle_slowest *heard, u64 now)
{
	u64 age, gone;

	if (!heard->bytes)
		return 0;
	/* the clock of another CPU may be behind by a little */
	age = now > heard->at ? now - heard->at : 0;
	gone = shuffle_mul_div(age, READ_ONCE(op->dev->rate), 8000);
	return gone < heard->bytes ? heard->bytes - gone : 0;
}

/**
 * shuffle_slowest_heard() - a GRANT or an ACK has come
 * @op: operation
 * @w: the record, of one of our messages
 * @now: ns
 */
void shuffle_slowest_heard(struct shuffle_op *op, const struct shuffle_wire *w, u64 now)
{
	struct shuffle_slowest *heard;
	u32 way = shuffle_dev_rtt_bytes(op->dev);

	lockdep_assert_held(&op->ssk->lock);
	/* our own message's ACK tells what we know better */
	if (!(w->flags & SHUFFLE_FLAG_SLOWEST) || w->slowest <= way ||
	    w->src_rank == op->group->rank)
		return;
	heard = &op->rx.slowest[w->flags & SHUFFLE_FLAG_HEARSAY ? HEARSAY : FROM_ITSELF];
	if (w->slowest - way <= aged(op, heard, now))
		return;
	heard->bytes = w->slowest - way;
	heard->at = now;
}

/**
 * shuffle_slowest_tell() - let a record carry what we know
 * @op: operation
 * @w: GRANT or ACK
 *
 * Of ours only what has been announced: a guess at the rest may be too much, and would stay with
 * all members for as long as the shuffle lasts.
 */
void shuffle_slowest_tell(const struct shuffle_op *op, struct shuffle_wire *w)
{
	u64 heard;

	lockdep_assert_held(&op->ssk->lock);
	if (!scales_back(op))
		return;
	heard = aged(op, &op->rx.slowest[FROM_ITSELF], shuffle_now());
	w->flags |= SHUFFLE_FLAG_SLOWEST;
	w->slowest = op->rx.sched.rem;
	if (heard > w->slowest) {
		w->flags |= SHUFFLE_FLAG_HEARSAY;
		w->slowest = heard;
	}
}

/**
 * shuffle_slowest_limits() - let the schedule of a column know the slowest
 * @op: operation
 * @now: ns
 *
 * Return: power of the ratio by which its limit gets smaller, 0 in other window modes.
 */
u32 shuffle_slowest_limits(struct shuffle_op *op, u64 now)
{
	lockdep_assert_held(&op->ssk->lock);
	if (!scales_back(op))
		return 0;
	op->rx.sched.slowest = max(aged(op, &op->rx.slowest[FROM_ITSELF], now),
				   aged(op, &op->rx.slowest[HEARSAY], now));
	return READ_ONCE(op->dev->cfg.scale_back_exponent);
}
