// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time: lost packets are asked for again, ACKs that do not come are asked for,
 * deadlines end an operation.  One timer for each operation, set to the next thing
 * that can be due; softirq context, under ssk->lock.
 *
 * How long a message is waited for depends on what has been measured since the wait began,
 * but those that wait for the same (enum shuffle_wait) become due in the order in which
 * their waits began, or were to end.  So each such order is a tree, and only the first
 * ones are looked at.  A key may be too early, when there was progress since: then the
 * message is put behind others when its turn comes.  A key is never too late.
 */
#include <linux/sizes.h>

#include "../abort.h"
#include "../coll/engine.h"
#include "../config.h"
#include "../group.h"
#include "../kernels.h"
#include "../mib.h"
#include "../netlink/netlink.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/early.h"
#include "../sched/policy.h"
#include "../sched/portable.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../tx/egress_wake.h"
#include "../tx/msg_out.h"
#include "../tx/output.h"
#include "../tx/want.h"
#include "delayed_ack.h"
#include "grant.h"
#include "msg_in.h"
#include "question.h"
#include "rto.h"
#include "timer.h"

/* Members never heard of that are asked at once while none of them has answered, if most others
 * have been heard of, and before.  Most likely they have not started, or have not come to our part
 * of their rows; and where hosts take long to start, because there are many or they are busy,
 * asking them all is what keeps them busy.
 */
#define SHUFFLE_SOLICIT_FEW		8
#define SHUFFLE_SOLICIT_FIRST		2

/* So long nothing has moved before the timer looks whether there is room again, ns */
#define SHUFFLE_NO_ROOM_NS		(NSEC_PER_SEC / 8)

/* Members that one firing looks at for them */
#define SHUFFLE_SOLICIT_LOOK		256

/**
 * struct timer_scan - one look at the messages of an operation that may be due
 * @now: ns
 * @next: when something can be due next
 * @left: messages that may be looked at
 * @asks: packets that may be sent for them, about
 * @more: there are more than one of these allows
 * @data: shuffle_rto_data(); like @queue it takes divisions, so once for all messages
 * @rto: time limit for members that may not have started; in a table members start one by one
 * @queue: longer than that, as long as what has been granted may take
 * @early: shuffle_question_wait(), or @data before something has been measured
 * @slow: hosts may be slower than their links, or nothing has been measured
 * @q: packets to be sent
 */
struct timer_scan {
	u64			now;
	u64			next;
	u32			left;
	u32			asks;
	bool			more;
	u64			data;
	u64			rto;
	u64			queue;
	u64			early;
	bool			slow;
	struct sk_buff_head	*q;
};

static void resend(struct shuffle_op *op, u32 rank, u64 start, u64 end, struct timer_scan *s)
{
	shuffle_question_resend(op, rank, start, end, s->q);
	s->asks -= !!s->asks;
}

/* Due is what has waited long enough, and @more; it waits twice as long the next
 * time.
 */
static bool wait_expired(const struct shuffle_op *op, u64 since, u64 *wait, u64 more,
			 struct timer_scan *s)
{
	if (s->now < since || s->now - since < *wait + more) {
		s->next = min(s->next, since + *wait + more);
		return false;
	}
	*wait = min(*wait * 2, shuffle_rto_max(op));
	s->next = min(s->next, s->now + *wait + more);
	return true;
}

/* How long what is granted to this host can be on its way through a full downlink,
 * behind a sender that has as much to send to others.  Where hosts encrypt, data comes more
 * slowly than any link says.  So it does where programs write slowly: hence the limit.
 */
static void look_at_rate(const struct shuffle_op *op, struct timer_scan *s)
{
	u64 max_out = shuffle_grant_max_out(op->dev), line, seen = 0, us;
	const struct shuffle_op_rx *rx = &op->rx;
	u32 share = shuffle_grant_share(op);

	/* others that receive have their parts on their way, too */
	line = max_t(u64, div_u64(max_out, share), rx->sched.unit) * (share - 1);
	line = shuffle_dev_drain_ns(op->dev, rx->sched.outstanding + line);
	/* packets may be older than those before them: their time is taken without ssk->lock */
	if (rx->data_bytes && rx->data_at > rx->data_from) {
		/* 32 bits of each factor: the product fits */
		us = min_t(u64, div_u64(rx->data_at - rx->data_from, NSEC_PER_USEC), U32_MAX);
		seen = div64_u64(us * min_t(u64, rx->sched.outstanding, U32_MAX), rx->data_bytes);
		seen = min_t(u64, seen, USEC_PER_SEC) * NSEC_PER_USEC;
	}
	s->slow = !rx->srtt_ns || seen > 4 * line;
	s->queue = 2 * max(line, min(seen, 8 * shuffle_rto_first(op)));
}

/* It is a straggler when it is late again while the operation has gone on. */
static void mark_late(struct shuffle_op *op, u32 rank, u64 now)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];

	op->rx.resends++;
	in->resends++;
	in->resent_at = now;
	if (++in->late >= 2 && !in->straggler && op->life.progress_at > in->progress_at) {
		in->straggler = true;
		shuffle_event_straggler(op, rank);
	}
	in->progress_at = now;
}

/**
 * shuffle_timer_in_wait() - how long a message that does not move is waited for
 * @op: operation
 * @rank: message
 *
 * What is measured later counts for those that have been waiting since before.
 *
 * Return: ns.
 */
u64 shuffle_timer_in_wait(const struct shuffle_op *op, u32 rank)
{
	bool announced = op->rx.sched.msg[rank].announced;
	u64 wait = announced ? op->rx.msg[rank].wait_ns : op->clock.solicit_ns;

	lockdep_assert_held(&op->ssk->lock);
	return wait ?: shuffle_rto_data(op);
}

/* Members never heard of start late, most likely: as late as the last of the others is behind
 * the first one, once more.  We may have started long before all others.  Once most have been heard
 * of, what the rest has sent may be lost.
 */
static bool solicit_due(struct shuffle_op *op, struct timer_scan *s)
{
	const struct shuffle_op_rx *rx = &op->rx;
	bool most = 2 * rx->sched.unannounced <= rx->sched.n;
	struct shuffle_op_clock *clock = &op->clock;
	u64 more = 0, wait = clock->solicit_ns;

	if (!wait)
		wait = most ? s->rto : min(shuffle_rto_unmeasured(op), shuffle_rto_max(op));
	/* packets may be older than those before them: their time is taken without ssk->lock */
	if (rx->last_announced_at > rx->first_announced_at)
		more = min(rx->last_announced_at - rx->first_announced_at, shuffle_rto_max(op));
	if (!rx->sched.unannounced ||
	    !wait_expired(op, max(rx->last_announced_at, clock->solicited_at), &wait, more, s))
		return false;
	clock->solicit_ns = wait;
	clock->solicited_at = s->now;
	clock->solicit_left = clock->solicit_all ? rx->sched.n :
			      most ? SHUFFLE_SOLICIT_FEW : SHUFFLE_SOLICIT_FIRST;
	clock->solicit_walk = rx->sched.n;
	clock->solicit_all = false;
	return true;
}

/* A host that remembers another operation of this number answers data, which has our nonce, and not
 * a question of somebody who has heard nothing.  Our first data came before its socket was there,
 * perhaps: so the announcement goes once more, in the question's packet.
 */
static void announce_again(struct shuffle_op *op, u32 rank, struct timer_scan *s)
{
	const struct shuffle_msg_out *out = &op->tx.msg[rank];

	/* what has not left yet comes anyway; mostly members start a little later */
	if (rank == op->group->rank || rank >= op->tx.announced || out->absent || out->acked ||
	    !out->announced_at || op->rx.msg[rank].late < 2)
		return;
	shuffle_msg_out_announce(op, rank, SHUFFLE_FLAG_RETRANS, s->q);
}

static void solicit_unannounced(struct shuffle_op *op, struct timer_scan *s)
{
	u32 look = SHUFFLE_SOLICIT_LOOK;
	u32 rank;

	if (!op->clock.solicit_left && !solicit_due(op, s))
		return;
	for (; op->clock.solicit_left && op->clock.solicit_walk; op->clock.solicit_walk--) {
		if (!look-- || !s->asks) {
			s->more = true;
			return;
		}
		rank = op->clock.solicit_from < op->rx.sched.n ? op->clock.solicit_from : 0;
		op->clock.solicit_from = rank + 1;
		/* what our own program has not announced nobody else will */
		if (op->rx.sched.msg[rank].announced ||
		    (rank == op->group->rank && rank >= op->tx.announced))
			continue;
		mark_late(op, rank, s->now);
		resend(op, rank, 0, 0, s);
		announce_again(op, rank, s);
		op->clock.solicit_left--;
	}
	op->clock.solicit_left = 0;
}

/* Has a message been announced that goes on by its receiver's grants only? */
static bool is_blocked(const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_msg_out *out = &op->tx.msg[rank];

	return rank != op->group->rank && !out->absent && !out->acked && out->announced_at &&
	       op->rx.sched.msg[rank].announced &&
	       shuffle_msg_out_sent(op, rank) < op->tx.sched.msg[rank].len;
}

/* What the pauses between probes are a part of, ns: the shorter of idle timeout and deadline. */
static u64 patience(const struct shuffle_op *op)
{
	u64 idle = (u64)READ_ONCE(op->ssk->idle_ms) * NSEC_PER_MSEC;

	if (!op->life.deadline_at)
		return idle;
	return min_not_zero(idle, op->life.deadline_at - op->life.started_at);
}

/* A receiver that has left says so once.  If its word was lost, nobody asks one that is to grant:
 * an operation in which nothing moves probes the messages that wait for grants.  One that is there
 * does not answer.
 */
static void probe_blocked(struct shuffle_op *op, struct timer_scan *s)
{
	u32 look = SHUFFLE_SOLICIT_LOOK;
	u64 wait, due;
	u32 rank;

	if (!op->clock.blocked_walk) {
		if (!op->tx.unacked)
			return;
		/* more often at the end of its time, which is that of others, too */
		wait = op->life.asked_others ? s->rto : max(patience(op) / 8, shuffle_rto_max(op));
		due = max(op->life.progress_at, op->clock.blocked_at) + wait;
		if (s->now < due) {
			s->next = min(s->next, due);
			return;
		}
		s->next = min(s->next, s->now + wait);
		op->clock.blocked_at = s->now;
		op->clock.blocked_walk = op->tx.announced;
	}
	for (; op->clock.blocked_walk; op->clock.blocked_walk--) {
		if (!look-- || !s->asks) {
			s->more = true;
			return;
		}
		rank = op->clock.blocked_walk - 1;
		if (!is_blocked(op, rank))
			continue;
		s->asks--;
		SHUFFLE_INC(op->ssk->sn, ProbeOut);
		shuffle_msg_out_announce(op, rank, SHUFFLE_FLAG_PROBE, s->q);
	}
}

static void stop_waiting(struct shuffle_op *op, struct shuffle_due *due)
{
	if (RB_EMPTY_NODE(&due->node))
		return;
	rb_erase_cached(&due->node, &op->clock.waits[due->wait]);
	RB_CLEAR_NODE(&due->node);
}

static void wait_for(struct shuffle_op *op, struct shuffle_due *due, enum shuffle_wait wait,
		     u64 key)
{
	struct rb_node **link = &op->clock.waits[wait].rb_root.rb_node;
	struct rb_node *parent = NULL;
	bool first = true;

	stop_waiting(op, due);
	due->wait = wait;
	due->key = key;
	while (*link) {
		parent = *link;
		if (key < rb_entry(parent, struct shuffle_due, node)->key) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			first = false;
		}
	}
	rb_link_node(&due->node, parent, link);
	rb_insert_color_cached(&due->node, &op->clock.waits[wait], first);
}

static enum shuffle_wait in_wait(const struct shuffle_op *op, const struct shuffle_msg_in *in)
{
	if (shuffle_question_early(op, in - op->rx.msg))
		return SHUFFLE_WAIT_EARLY;
	if (in->have.n)
		return in->wait_ns ? SHUFFLE_WAIT_GAP_LATE : SHUFFLE_WAIT_GAP;
	return in->wait_ns ? SHUFFLE_WAIT_DATA_LATE : SHUFFLE_WAIT_DATA;
}

/* Something has been asked for and has not arrived. */
static bool in_waits(const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_rx_sched *m = &op->rx.sched.msg[rank];

	return !op->rx.msg[rank].complete && m->announced && (!m->len || m->granted > m->received);
}

/* All of the message has been sent.  A member that has not started has not got it, and asks
 * for it after its start if it is lost.
 */
static bool out_waits(const struct shuffle_op *op, u32 rank)
{
	/* the writer of the row still changes those behind it */
	if (rank >= op->tx.announced)
		return false;
	/* our own ACK is a call: it cannot be lost */
	return !op->tx.msg[rank].acked && rank != op->group->rank &&
	       shuffle_msg_out_sent(op, rank) >= op->tx.sched.msg[rank].len &&
	       op->rx.sched.msg[rank].announced;
}

/**
 * shuffle_timer_in() - a message may wait for data, or be due earlier than before
 * @op: operation
 * @rank: message from this rank: announced, granted more, or some of it has arrived
 *
 * Context: any, ssk->lock held.
 */
void shuffle_timer_in(struct shuffle_op *op, u32 rank)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	enum shuffle_wait wait = in_wait(op, in);

	lockdep_assert_held(&op->ssk->lock);
	if (!in_waits(op, rank) || (!RB_EMPTY_NODE(&in->due.node) && in->due.wait == wait))
		return;
	wait_for(op, &in->due, wait, in->progress_at + in->wait_ns);
}

/**
 * shuffle_timer_out() - a message may wait for its ACK
 * @op: operation
 * @rank: message to this rank: it has been sent, or its receiver has been heard of
 *
 * Context: any, ssk->lock held.
 */
void shuffle_timer_out(struct shuffle_op *op, u32 rank)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	if (!out_waits(op, rank) || !RB_EMPTY_NODE(&out->due.node))
		return;
	/* most have been acknowledged when they are looked at first */
	wait_for(op, &out->due, SHUFFLE_WAIT_ACK,
		 out->announced_at + (out->wait_ns ?: shuffle_rto_data(op)));
}

/* One packet, and after each loss 4, 16, 64 and 256 KiB. */
static u64 probe_len(const struct shuffle_msg_in *in)
{
	return in->losses ? SZ_1K << (2 * in->losses) : 1;
}

/* Ask for all of a message that was granted and is missing. */
static void ask_for_all(struct shuffle_op *op, u32 rank, struct timer_scan *s)
{
	u32 n = shuffle_question_missing(op, rank, op->rx.sched.msg[rank].granted, s->q);

	s->asks -= min(s->asks, n);
}

/* when its sender is to be asked (again) */
static u64 early_due(const struct shuffle_op *op, const struct shuffle_msg_in *in,
		     const struct timer_scan *s)
{
	u64 since = max(in->progress_at, in->questioned_at);

	if (!in->questions || (!in->question && !in->proved))
		return since + s->early;
	return since + shuffle_early_again(s->early, shuffle_rto_min(op), in->questions);
}

/* A time limit has passed: the schedule learns of each limit once. */
static void mark_stalled(struct shuffle_op *op, u32 rank)
{
	if (op->rx.msg[rank].stalled)
		return;
	op->rx.msg[rank].stalled = true;
	shuffle_policy_rx_stalled(&op->rx.sched, rank);
	shuffle_grant_account(op);
}

static void check_in(struct shuffle_op *op, u32 rank, struct timer_scan *s)
{
	struct shuffle_rx_sched *m = &op->rx.sched.msg[rank];
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	u64 since = in->progress_at;
	u64 from, more, wait;

	if (!in_waits(op, rank)) {
		stop_waiting(op, &in->due);
		return;
	}
	if (in->have.n) {
		/* a gap is a loss */
		more = 0;
	} else {
		/* Silence may be a queue, or a host that is busy.  How busy hosts
		 * are is not known before the first grant has been answered.
		 */
		if (!op->rx.srtt_ns)
			since = max(since, op->rx.data_at);
		more = s->queue;
	}
	wait = in->wait_ns ?: s->data;
	if (!wait_expired(op, since, &wait, more, s)) {
		wait_for(op, &in->due, in_wait(op, in), since + in->wait_ns);
		return;
	}
	if (shuffle_question_full(op, rank)) {
		in->progress_at = s->now;
		wait_for(op, &in->due, in_wait(op, in), s->now + in->wait_ns);
		return;
	}
	in->wait_ns = wait;
	if (in->have.n) {
		shuffle_dev_lost(op->dev);
		in->rtt_at = 0;		/* Karn: what comes now measures nothing */
	}
	mark_late(op, rank, s->now);
	wait_for(op, &in->due, in_wait(op, in), in->progress_at + in->wait_ns);
	mark_stalled(op, rank);
	in->stalled = false;	/* the next limit is another one */
	/* A sender that does not run would send all of it twice.  One that never answers knows no
	 * questions.
	 */
	if (!in->have.n && !s->slow && !in->all_nonce && !op->rx.overtaken &&
	    rank != op->group->rank &&
	    in->late <= (op->rx.answered ? SHUFFLE_LATE_QUESTIONS : 1)) {
		shuffle_question_ask(op, rank, s->q, s->now);
		s->asks -= !!s->asks;
		return;
	}
	/* Silence may also be a host that is busy: one packet will tell.  If that was lost, too
	 * much may have been lost to get it one by one.
	 */
	in->probed = (s->slow || in->losses) && !in->have.n && in->losses < SHUFFLE_PROBES_MAX;
	in->question = false;
	/* A sender frees what has arrived; without that it may have no memory for
	 * what it is asked for.
	 */
	if (in->have.prefix)
		shuffle_grant_send(op, rank, s->q);
	from = in->have.prefix;
	if (in->probed) {
		in->asked = min(from + probe_len(in), m->granted);
		resend(op, rank, from, in->asked, s);
		return;
	}
	ask_for_all(op, rank, s);
}

/* Data is overdue, and may be asked about: what comes much more slowly than links say may be late,
 * and then only time limits count.
 */
static void check_early(struct shuffle_op *op, u32 rank, struct timer_scan *s)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	u64 limit = in->progress_at + s->data + (in->have.n ? 0 : s->queue);
	u64 due;

	if (!in_waits(op, rank)) {
		stop_waiting(op, &in->due);
		return;
	}
	/* Nothing is overdue before something has been measured, or wanted before there is
	 * room.
	 */
	if (s->slow || shuffle_question_full(op, rank)) {
		in->questions = SHUFFLE_EARLY_QUESTIONS;
	} else if (limit <= s->now) {
		/* late by now, whatever has been asked: others may have its place */
		mark_stalled(op, rank);
	}
	if (shuffle_question_early(op, rank) && early_due(op, in, s) <= s->now) {
		shuffle_question_ask(op, rank, s->q, s->now);
		s->asks -= !!s->asks;
	}
	if (!shuffle_question_early(op, rank)) {
		wait_for(op, &in->due, in_wait(op, in), in->progress_at + in->wait_ns);
		return;
	}
	due = early_due(op, in, s);
	if (!in->stalled)
		due = min(due, limit);
	s->next = min(s->next, due);
	wait_for(op, &in->due, SHUFFLE_WAIT_EARLY, due - s->early);
}

static void check_out(struct shuffle_op *op, u32 rank, struct timer_scan *s)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];
	u64 since;

	if (!out_waits(op, rank)) {
		stop_waiting(op, &out->due);
		return;
	}
	if (!out->wait_ns)
		out->wait_ns = 2 * s->rto + (op->tx.delays ? 2 * SHUFFLE_ACK_DELAY_NS : 0);
	/* while ACKs, or first messages, come in, this one's may come too */
	since = max3(out->announced_at, op->tx.acked_at, op->rx.last_announced_at);
	if (wait_expired(op, since, &out->wait_ns, 0, s)) {
		out->resends++;
		s->asks--;
		SHUFFLE_INC(op->ssk->sn, ProbeOut);
		shuffle_msg_out_announce(op, rank, SHUFFLE_FLAG_PROBE, s->q);
		since = out->announced_at;
	}
	wait_for(op, &out->due, SHUFFLE_WAIT_ACK, since + out->wait_ns);
}

/* Look at the first ones of each order, as long as they may be due. */
static void check_waits(struct shuffle_op *op, struct timer_scan *s)
{
	const u64 after[SHUFFLE_WAITS] = {
		[SHUFFLE_WAIT_EARLY] = s->early,
		[SHUFFLE_WAIT_GAP] = s->data,
		[SHUFFLE_WAIT_DATA] = s->data + s->queue,
		[SHUFFLE_WAIT_DATA_LATE] = s->queue,
	};
	struct shuffle_due *due;
	struct rb_node *node;
	u32 w;

	for (w = 0; w < SHUFFLE_WAITS; w++) {
		while ((node = rb_first_cached(&op->clock.waits[w]))) {
			due = rb_entry(node, struct shuffle_due, node);
			if (due->key + after[w] > s->now) {
				s->next = min(s->next, due->key + after[w]);
				break;
			}
			if (!s->left || !s->asks) {
				s->more = true;
				return;
			}
			s->left--;
			if (w == SHUFFLE_WAIT_ACK)
				check_out(op, container_of(due, struct shuffle_msg_out, due) -
					  op->tx.msg, s);
			else if (w == SHUFFLE_WAIT_EARLY)
				check_early(op, container_of(due, struct shuffle_msg_in, due) -
					    op->rx.msg, s);
			else
				check_in(op, container_of(due, struct shuffle_msg_in, due) -
					 op->rx.msg, s);
		}
	}
}

/* All that is missing is asked for now, however long ago that was done last, and again after the
 * first limits.  In large groups, where nobody passes the word on, a walk over all would take long.
 */
static void ask_all_again(struct shuffle_op *op)
{
	u32 i;

	if (op->group->count > SHUFFLE_ABORT_REPEAT)
		return;
	op->clock.solicit_ns = 0;
	op->clock.solicited_at = 0;
	op->clock.solicit_all = true;
	op->clock.blocked_at = 0;
	for (i = 0; i < op->rx.sched.n; i++) {
		op->rx.msg[i].wait_ns = 0;
		stop_waiting(op, &op->rx.msg[i].due);
		shuffle_timer_in(op, i);
	}
	for (i = 0; i < op->tx.announced; i++) {
		op->tx.msg[i].wait_ns = 0;
		stop_waiting(op, &op->tx.msg[i].due);
		shuffle_timer_out(op, i);
	}
}

/* Is the time of the operation over?  Where all that are missing still speak it gets a little more
 * of it, once: one of them may have left and told whom, and this word is lost, too.
 */
static bool expired(struct shuffle_op *op, u64 now, u64 *next)
{
	u32 idle_ms = READ_ONCE(op->ssk->idle_ms);
	u64 end = op->life.deadline_at, more;

	if (!end && idle_ms)
		end = op->life.progress_at + (u64)idle_ms * NSEC_PER_MSEC;
	if (!end)
		return false;
	if (op->life.asked_others && !op->life.deadline_at)
		end += shuffle_abort_overdue_ns(op);
	if (now >= end) {
		more = shuffle_abort_overdue(op, now);
		if (more)
			ask_all_again(op);
		end = now + more;
	}
	*next = min(*next, end);
	return now >= end;
}

/* until the timer may fire again, if it is not in the middle of its work */
static u64 least_pause(const struct shuffle_op *op, const struct timer_scan *s)
{
	u64 least = shuffle_rto_min(op);

	if (RB_EMPTY_ROOT(&op->clock.waits[SHUFFLE_WAIT_EARLY].rb_root))
		return least / 2;
	return min(least / 2, shuffle_early_again(s->early, least, 1));
}

/* The send buffer is larger when others have given memory back, and nobody says so. */
static void look_for_room(struct shuffle_op *op, u64 now)
{
	if (now - op->life.progress_at < SHUFFLE_NO_ROOM_NS)
		return;
	shuffle_want_room(op->ssk);
	shuffle_sock_write_space(&op->ssk->sk);
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct shuffle_op *op = container_of(timer, struct shuffle_op, clock.timer);
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_net *sn = ssk->sn;
	struct timer_scan s = {};
	struct sk_buff_head q;

	__skb_queue_head_init(&q);
	s.q = &q;
	s.left = SHUFFLE_SLICE / 2;	/* and packets for some of them */
	s.asks = SHUFFLE_BURST;
	spin_lock(&ssk->lock);
	s.now = shuffle_now();
	s.next = s.now + shuffle_rto_max(op);
	if (!op->life.ended && expired(op, s.now, &s.next))
		shuffle_op_fail(op, ETIMEDOUT);
	if (!op->life.ended) {
		s.data = shuffle_rto_data(op);
		s.rto = op->engine ? shuffle_rto(op) : s.data;
		s.early = op->rx.srtt_ns ? shuffle_question_wait(op) : s.data;
		look_at_rate(op, &s);
		solicit_unannounced(op, &s);
		probe_blocked(op, &s);
		check_waits(op, &s);
		if (op->engine)
			s.more |= shuffle_engine_run(op);
	}
	if (!op->life.ended) {
		/* no more often than anything can be due, but at once if it is */
		s.next = s.more ? s.now : max(s.next, s.now + least_pause(op, &s));
		/* not by HRTIMER_RESTART: shuffle_timer_start() may have been
		 * faster
		 */
		hrtimer_start(timer, ns_to_ktime(s.next), HRTIMER_MODE_ABS_SOFT);
		/* Memory may have been freed by what no reader sees.  After a burst the next
		 * firing, which comes at once, sees to that.
		 */
		if (!s.more) {
			shuffle_grant_op(op, &q, s.now);
			look_for_room(op, s.now);
		}
		/* Packets for a neighbour that does not answer fill the egress
		 * limit for seconds: let the others go on, slowly.
		 */
		if (!list_empty(&op->tx.node) &&
		    s.now > (u64)atomic64_read(&sn->egress_at) + SHUFFLE_EGRESS_STUCK_NS)
			shuffle_egress_force(sn);
	}
	spin_unlock(&ssk->lock);
	shuffle_output_flush(sn, &q);
	return HRTIMER_NORESTART;
}

/**
 * shuffle_timer_init() - before shuffle_timer_start()
 * @op: operation
 */
void shuffle_timer_init(struct shuffle_op *op)
{
	hrtimer_setup(&op->clock.timer, timer_fires, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

static void start_before(struct shuffle_op *op, u64 at)
{
	if (hrtimer_is_queued(&op->clock.timer) &&
	    ktime_to_ns(hrtimer_get_expires(&op->clock.timer)) <= at)
		return;
	hrtimer_start(&op->clock.timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/**
 * shuffle_timer_start() - something can be due within the first time limit
 * @op: operation
 *
 * Context: any, ssk->lock held.
 */
void shuffle_timer_start(struct shuffle_op *op)
{
	u64 wait = shuffle_rto_data(op);

	lockdep_assert_held(&op->ssk->lock);
	if (op->rx.srtt_ns && !op->rx.overtaken)
		wait = min(wait, shuffle_question_wait(op));
	start_before(op, shuffle_now() + wait);
}

/**
 * shuffle_timer_now() - work is left for the timer, to be done at once, or at a time
 * @op: operation
 * @now: ns
 *
 * Context: any, ssk->lock held.
 */
void shuffle_timer_now(struct shuffle_op *op, u64 now)
{
	lockdep_assert_held(&op->ssk->lock);
	start_before(op, now);
}
