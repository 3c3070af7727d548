// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time: lost packets are asked for again, ACKs that do not come are asked for,
 * deadlines end an operation.  One timer for each operation, set to the next thing
 * that can be due; softirq context, under ssk->lock.
 */
#include "../shuffle.h"
#include "../netlink/netlink.h"
#include "../trace.h"

#define SHUFFLE_EGRESS_STUCK_NS	(10 * NSEC_PER_MSEC)

/* RESENDs that one message gets at once; the others follow. */
#define SHUFFLE_MAX_GAPS	16

/* Members never heard of that are asked at once while none of them has answered: most
 * likely they have not started, and where hosts take long to start, because there are
 * many or they are busy, asking them all is what keeps them busy.
 */
#define SHUFFLE_SOLICIT_FEW		8

/**
 * struct timer_scan - one look at all messages of an operation
 * @now: ns
 * @next: when something can be due next
 * @rto: shuffle_timer_rto(); like @queue it takes divisions, so once for all messages
 * @queue: queue_time()
 * @q: packets to be sent
 */
struct timer_scan {
	u64			now;
	u64			next;
	u64			rto;
	u64			queue;
	struct sk_buff_head	*q;
};

static u64 rto_first(const struct shuffle_op *op)
{
	return (u64)READ_ONCE(op->dev->cfg.resend_first) * NSEC_PER_USEC;
}

/* On a slow link, whatever it claims, not before 16 units of others may have been
 * served.
 */
static u64 rto_min(const struct shuffle_op *op)
{
	return max((u64)READ_ONCE(op->dev->cfg.resend_min) * NSEC_PER_USEC,
		   shuffle_dev_drain_ns(op->dev, 16ULL * op->prx.unit));
}

static u64 rto_max(const struct shuffle_op *op)
{
	return (u64)READ_ONCE(op->dev->cfg.resend_max) * NSEC_PER_USEC;
}

/**
 * shuffle_timer_rto() - how long to wait for granted data
 * @op: operation
 *
 * Return: ns.
 */
u64 shuffle_timer_rto(const struct shuffle_op *op)
{
	u64 wait;

	if (op->srtt_ns)
		wait = max(op->srtt_ns + 4 * op->rttvar_ns, rto_min(op));
	else
		wait = max(3ULL * READ_ONCE(op->dev->rtt), rto_first(op));
	return min(wait, rto_max(op));
}

static void resend(struct shuffle_op *op, u32 rank, u64 start, u64 end, struct sk_buff_head *q)
{
	struct shuffle_net *sn = shuffle_op_net(op);
	struct shuffle_wire w = {
		.type = SHUFFLE_RESEND,
		.op_id = op->id,
		.nonce = op->in[rank].nonce,
		.a = start,
		.b = end - start,
	};

	shuffle_output_record(sn, op->ssk, op->group, rank, &w, q);
	SHUFFLE_INC(sn, ResendOut);
	shuffle_peer_resend(op, rank, true);
	trace_shuffle_resend_out(op, rank, start, end - start);
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
	*wait = min(*wait * 2, rto_max(op));
	s->next = min(s->next, s->now + *wait + more);
	return true;
}

/* How long what is granted to this host can be on its way through a full downlink,
 * behind a sender that has as much to send to others.
 */
static u64 queue_time(const struct shuffle_op *op)
{
	return 2 * shuffle_dev_drain_ns(op->dev, op->prx.outstanding);
}

/* It is a straggler when it is late again while the operation has gone on. */
static void mark_late(struct shuffle_op *op, u32 rank, u64 now)
{
	struct shuffle_msg_in *in = &op->in[rank];

	op->resends++;
	in->resends++;
	in->resent_at = now;
	if (++in->late >= 2 && !in->straggler && op->progress_at > in->progress_at) {
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
	u64 wait = op->prx.msg[rank].announced ? op->in[rank].wait_ns : op->solicit_ns;

	return wait ?: shuffle_timer_rto(op);
}

/* Members never heard of start late, most likely: as late as the last of the others,
 * once more.
 */
static void solicit_unannounced(struct shuffle_op *op, struct timer_scan *s)
{
	u32 n = op->solicit_all ? op->prx.n : SHUFFLE_SOLICIT_FEW;
	u64 more = min(op->last_announced_at - op->started_at, rto_max(op));
	u64 wait = op->solicit_ns ?: s->rto;
	u32 i, rank;

	if (!op->prx.unannounced || !wait_expired(op, max(op->last_announced_at, op->solicited_at), &wait, more, s))
		return;
	op->solicit_ns = wait;
	op->solicited_at = s->now;
	op->solicit_all = false;
	for (i = 0, rank = op->solicit_from; i < op->prx.n && n; i++) {
		if (rank >= op->prx.n)
			rank = 0;
		if (!op->prx.msg[rank].announced) {
			mark_late(op, rank, s->now);
			resend(op, rank, 0, 0, s->q);
			n--;
		}
		rank++;
	}
	op->solicit_from = rank;
}

static void check_in(struct shuffle_op *op, u32 rank, struct timer_scan *s)
{
	struct shuffle_rx_sched *m = &op->prx.msg[rank];
	struct shuffle_msg_in *in = &op->in[rank];
	u64 since = in->progress_at;
	struct shuffle_range gap;
	u64 from, more, wait;
	int n;

	if (in->complete || !m->announced)
		return;
	/* nothing asked for, nothing missing */
	if (m->len && m->granted <= m->received)
		return;
	if (in->have.n) {
		/* a gap is a loss */
		more = 0;
	} else {
		/* Silence may be a queue, or a host that is busy.  How busy hosts
		 * are is not known before the first grant has been answered.
		 */
		if (!op->srtt_ns)
			since = max(since, op->data_at);
		more = s->queue;
	}
	wait = in->wait_ns ?: s->rto;
	if (!wait_expired(op, since, &wait, more, s))
		return;
	in->wait_ns = wait;
	if (in->have.n) {
		shuffle_dev_lost(op->dev);
		in->rtt_at = 0;		/* Karn: what comes now measures nothing */
	}
	mark_late(op, rank, s->now);
	shuffle_policy_rx_stalled(&op->prx, rank);
	shuffle_grant_account(op);
	/* A sender frees what has arrived; without that it may have no memory for
	 * what it is asked for.
	 */
	if (in->have.prefix)
		shuffle_grant_send(op, rank, s->q);
	from = in->have.prefix;
	for (n = 0; n < SHUFFLE_MAX_GAPS; n++) {
		if (!shuffle_ranges_missing(&in->have, from, m->granted, &gap))
			break;
		resend(op, rank, gap.start, gap.end, s->q);
		from = gap.end;
	}
}

static void check_out(struct shuffle_op *op, u32 rank, struct timer_scan *s)
{
	struct shuffle_tx_sched *m = &op->ptx.msg[rank];
	struct shuffle_msg_out *out = &op->out[rank];

	if (out->acked || m->next < m->len)
		return;
	/* who has not started has not got it, and asks for it then if it is lost */
	if (!op->prx.msg[rank].announced)
		return;
	if (!out->wait_ns)
		out->wait_ns = 2 * s->rto;
	/* while ACKs, or first messages, come in, this one's may come too */
	if (!wait_expired(op, max3(out->announced_at, op->acked_at, op->last_announced_at), &out->wait_ns, 0, s))
		return;
	out->resends++;
	SHUFFLE_INC(shuffle_op_net(op), ProbeOut);
	shuffle_msg_out_announce(op, rank, SHUFFLE_FLAG_PROBE, s->q);
}

static bool expired(struct shuffle_op *op, u64 now, u64 *next)
{
	u32 idle_ms = READ_ONCE(op->ssk->idle_ms);
	u64 end = op->deadline_at;

	if (!end && idle_ms)
		end = op->progress_at + (u64)idle_ms * NSEC_PER_MSEC;
	if (!end)
		return false;
	if (now >= end)
		return true;
	*next = min(*next, end);
	return false;
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct shuffle_op *op = container_of(timer, struct shuffle_op, timer);
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));
	struct timer_scan s = {};
	struct sk_buff_head q;
	u32 i;

	__skb_queue_head_init(&q);
	s.q = &q;
	spin_lock(&ssk->lock);
	s.now = shuffle_now();
	s.next = s.now + rto_max(op);
	if (!op->ended && expired(op, s.now, &s.next))
		shuffle_op_fail(op, ETIMEDOUT);
	if (!op->ended) {
		s.rto = shuffle_timer_rto(op);
		s.queue = queue_time(op);
		solicit_unannounced(op, &s);
		for (i = 0; i < op->prx.n; i++)
			check_in(op, i, &s);
		for (i = 0; i < op->announced; i++)
			check_out(op, i, &s);
		/* no more often than anything can be due */
		s.next = max(s.next, s.now + rto_min(op) / 2);
		/* not by HRTIMER_RESTART: shuffle_timer_start() may have been
		 * faster
		 */
		hrtimer_start(timer, ns_to_ktime(s.next), HRTIMER_MODE_ABS_SOFT);
		/* memory may have been freed by what no reader sees */
		shuffle_grant_op(op, &q, s.now);
		/* Packets for a neighbour that does not answer fill the egress
		 * limit for seconds: let the others go on, slowly.
		 */
		if (!list_empty(&op->tx_node) &&
		    s.now > READ_ONCE(sn->egress_at) + SHUFFLE_EGRESS_STUCK_NS)
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
	hrtimer_init(&op->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	op->timer.function = timer_fires;
}

/**
 * shuffle_timer_start() - something can be due within the first time limit
 * @op: operation
 *
 * Context: any, ssk->lock held.
 */
void shuffle_timer_start(struct shuffle_op *op)
{
	u64 at = shuffle_now() + shuffle_timer_rto(op);

	if (hrtimer_is_queued(&op->timer) &&
	    ktime_to_ns(hrtimer_get_expires(&op->timer)) <= at)
		return;
	hrtimer_start(&op->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}
