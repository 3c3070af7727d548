// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time limits of an operation: how long what it waits for may take before packets are taken for
 * lost, from what has been measured.  All under ssk->lock.
 *
 * The clocks that use them: Documentation/networking/schedule.rst, Clocks.
 */
#include "../config.h"
#include "../group.h"
#include "../op.h"
#include "../sock.h"
#include "../tx/msg_out.h"
#include "msg_in.h"
#include "rto.h"
#include "timer.h"

/**
 * shuffle_rto_first() - the setting resend-first
 * @op: operation
 *
 * Return: ns.
 */
u64 shuffle_rto_first(const struct shuffle_op *op)
{
	return (u64)READ_ONCE(op->dev->cfg.resend_first_us) * NSEC_PER_USEC;
}

/**
 * shuffle_rto_min() - the least time limit
 * @op: operation
 *
 * On a slow link, whatever it claims, not before 16 units of others may have been served.
 *
 * Return: ns.
 */
u64 shuffle_rto_min(const struct shuffle_op *op)
{
	lockdep_assert_held(&op->ssk->lock);
	return max((u64)READ_ONCE(op->dev->cfg.resend_min_us) * NSEC_PER_USEC,
		   shuffle_dev_drain_ns(op->dev, 16ULL * op->rx.sched.unit));
}

/**
 * shuffle_rto_max() - the longest time limit
 * @op: operation
 *
 * Return: ns.
 */
u64 shuffle_rto_max(const struct shuffle_op *op)
{
	return (u64)READ_ONCE(op->dev->cfg.resend_max_us) * NSEC_PER_USEC;
}

/**
 * shuffle_rto_unmeasured() - time limit as long as nothing is known of how busy hosts are
 * @op: operation
 *
 * Return: ns.
 */
u64 shuffle_rto_unmeasured(const struct shuffle_op *op)
{
	return max(3ULL * READ_ONCE(op->dev->rtt), shuffle_rto_first(op));
}

/**
 * shuffle_rto() - how long to wait for granted data
 * @op: operation
 *
 * Return: ns.
 */
u64 shuffle_rto(const struct shuffle_op *op)
{
	u64 wait;

	lockdep_assert_held(&op->ssk->lock);
	if (op->rx.srtt_ns)
		wait = max(op->rx.srtt_ns + 4 * op->rx.rttvar_ns, shuffle_rto_min(op));
	else
		wait = shuffle_rto_unmeasured(op);
	return min(wait, shuffle_rto_max(op));
}

static bool is_recent(const struct shuffle_rtt *rtt, u64 now)
{
	return now - atomic64_read(&rtt->at) < NSEC_PER_SEC;
}

/* Time limit by what has been measured within a second; 0: nothing. */
static u64 recent_limit(const struct shuffle_rtt *rtt, u64 now)
{
	u64 srtt = atomic64_read(&rtt->srtt);

	return srtt && is_recent(rtt, now) ? srtt + 4 * atomic64_read(&rtt->rttvar) : 0;
}

static void smooth(u64 *srtt, u64 *rttvar, u64 ns)
{
	u64 err = ns > *srtt ? ns - *srtt : *srtt - ns;

	*rttvar += err / 4 - *rttvar / 4;
	*srtt += ns / 8 - *srtt / 8;
}

static void set_rtt(struct shuffle_rtt *rtt, u64 srtt, u64 rttvar, u64 now)
{
	atomic64_set(&rtt->srtt, srtt);
	atomic64_set(&rtt->rttvar, rttvar);
	atomic64_set(&rtt->at, now);
}

/**
 * shuffle_rto_data() - how long to wait for what goes without a grant
 * @op: operation
 *
 * It may be lost before the operation has measured anything, and where no message needs a grant
 * nothing is measured: twice as long as others by the device have taken of late.
 *
 * Return: ns.
 */
u64 shuffle_rto_data(const struct shuffle_op *op)
{
	u64 wait = shuffle_rto(op), now, others;

	if (op->rx.srtt_ns)
		return wait;
	now = shuffle_now();
	others = max(recent_limit(&op->dev->data_rtt, now), recent_limit(&op->dev->ack_rtt, now));
	return others ? min(wait, 2 * max(others, shuffle_rto_min(op))) : wait;
}

/**
 * shuffle_rto_sample() - measure the time from a grant to its data (RFC 6298)
 * @op: operation
 * @rank: message
 * @ns: the time
 * @now: ns
 *
 * The first sample, from when few have started, says little of how busy the hosts are: the last
 * operation may know better.
 */
void shuffle_rto_sample(struct shuffle_op *op, u32 rank, u64 ns, u64 now)
{
	struct shuffle_rtt *rtt = &op->dev->data_rtt;

	/* the loopback is no measure of the network */
	if (rank == op->group->rank)
		return;
	/* A host may also have stood still: one sample must not stand for many. */
	ns = clamp_t(u64, ns, 1, 2 * shuffle_rto(op));
	if (!op->rx.srtt_ns) {
		op->rx.srtt_ns = ns;
		op->rx.rttvar_ns = ns / 2;
		if (is_recent(rtt, now)) {
			op->rx.srtt_ns = max_t(u64, ns, atomic64_read(&rtt->srtt));
			op->rx.rttvar_ns = max_t(u64, ns / 2, atomic64_read(&rtt->rttvar));
		}
		shuffle_timer_start(op);	/* earlier than it is set to */
		return;
	}
	smooth(&op->rx.srtt_ns, &op->rx.rttvar_ns, ns);
	set_rtt(rtt, op->rx.srtt_ns, op->rx.rttvar_ns, now);
}

/**
 * shuffle_rto_acked() - measure the time from a message that needed no grant to its ACK
 * @op: operation
 * @rank: message, whose ACK has come
 * @now: ns
 *
 * A receiver that has not started yet, or has been heard of later, says nothing of the network.
 * What was announced again, or whose ACK may wait, is not measured.
 */
void shuffle_rto_acked(struct shuffle_op *op, u32 rank, u64 now)
{
	const struct shuffle_msg_out *out = &op->tx.msg[rank];
	u64 since = max(out->announced_at, op->rx.msg[rank].progress_at);
	struct shuffle_rtt *rtt = &op->dev->ack_rtt;
	u64 srtt, rttvar, ns;
	bool first;

	lockdep_assert_held(&op->ssk->lock);
	if (rank == op->group->rank || out->granted > out->unsched || out->reannounced ||
	    op->tx.delays || now <= since)
		return;
	/* a host may also have stood still */
	ns = min(now - since, shuffle_rto_first(op));
	first = !is_recent(rtt, now);
	if (first) {
		srtt = ns;
		rttvar = ns / 2;
	} else {
		srtt = atomic64_read(&rtt->srtt);
		rttvar = atomic64_read(&rtt->rttvar);
		smooth(&srtt, &rttvar, ns);
	}
	set_rtt(rtt, srtt, rttvar, now);
	if (first && !op->rx.srtt_ns)
		shuffle_timer_start(op);	/* earlier than it is set to */
}
