// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hosts that run the module's schedule, net/shuffle/sched/policy.c, as it is: GRPF and,
 * by its kinds, SRPT, GRPT and Hadoop.  The simulator adds what the source compares it with:
 * no randomness, other amounts of unscheduled data, a limit to redirection, and limits that
 * depend on what all-reduce tells of other receivers.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static const u8 kinds[] = {
	[SIM_GRPF] = SHUFFLE_POLICY_GRPF,
	[SIM_SRPT] = SHUFFLE_POLICY_SRPT,
	[SIM_GRPT] = SHUFFLE_POLICY_GRPT,
	[SIM_HADOOP] = SHUFFLE_POLICY_HADOOP,
};

/* Without a random offset a unit is one byte: the schedule has nothing to choose. */
static u32 packet(const struct sim *s)
{
	return 1U << s->shift;
}

static void init(struct sim *s)
{
	u32 op, i;

	for (op = 0; op < s->cfg->ops; op++) {
		struct rnd r = rnd_stream(s->cfg->seed, 2, op);
		u32 seed = (u32)rnd64(&r);

		for (i = 0; i < s->n; i++) {
			struct sim_end *e = sim_end(s, op, i);

			e->tx.kind = kinds[s->cfg->algo];
			e->tx.seed = seed;
			e->tx.unit = packet(s);
			e->rx.kind = e->tx.kind;
			e->rx.unit = packet(s);
			e->rx.unannounced = s->n;
			e->rx.constant_window = s->cfg->window == SIM_WINDOW_CONST;
			e->rx.hadoop_c = s->cfg->connections;
			e->rx.burst = s->cfg->grant_units;
			e->rx.sim.headroom = s->cfg->headroom;
			/* else Hadoop's receiver hears of it like of all others */
			if (s->cfg->algo != SIM_HADOOP || !s->cfg->local)
				shuffle_policy_rx_announced(&e->rx, i, 0, 0, 0);
		}
	}
}

static void heard(struct sim *s, u32 op, u32 host, u32 from)
{
	struct sim_end *e = sim_end(s, op, host);

	if (e->rx.msg[from].announced)
		return;
	shuffle_policy_rx_announced(&e->rx, from, (u64)sim_len(s, op, from, host) << s->shift,
				    (u64)s->unsched[sim_row(s, op, from, host)] << s->shift,
				    shuffle_policy_seed(e->tx.seed, from, host, s->n));
	if (s->last)
		s->last[sim_row(s, op, host, from)] = s->now;
	e->dirty = true;
}

/* A reducer is told where its inputs are: its choice does not depend on which senders run
 * when it begins.  Nothing is sent unasked.
 */
static void start_hadoop(struct sim *s, u32 op, u32 host)
{
	u32 i;

	for (i = 0; i < s->n; i++)
		heard(s, op, host, i);
}

struct entry {
	u64	prio;
	u32	msg;
	u32	at;
};

static int by_prio(const void *va, const void *vb)
{
	const struct entry *a = va;
	const struct entry *b = vb;

	if (a->prio != b->prio)
		return a->prio < b->prio ? 1 : -1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The packet schedule of section 3.3 as a list, to know how deep in it a packet is. */
static void list_schedule(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	struct entry *v;
	u32 n = 0, at = 0, i, k;

	e->from = sim_alloc(s, s->n, sizeof(*e->from));
	for (i = 0; i < s->n; i++) {
		e->from[i] = n;
		n += sim_len(s, op, host, i);
	}
	e->place = sim_alloc(s, n + 1, sizeof(*e->place));
	e->order = sim_alloc(s, n + 1, sizeof(*e->order));
	v = sim_alloc(s, n + 1, sizeof(*v));
	for (i = 0; i < s->n; i++) {
		u32 seed = shuffle_policy_seed(e->tx.seed, host, i, s->n);
		u32 len = sim_len(s, op, host, i);

		for (k = 0; k < len; k++, at++) {
			v[at].prio = shuffle_policy_prio(e->tx.kind, seed, (u64)len << s->shift,
							 (u64)k << s->shift, e->tx.unit);
			v[at].msg = i;
			v[at].at = at;
		}
	}
	qsort(v, n, sizeof(*v), by_prio);
	for (k = 0; k < n; k++) {
		e->place[v[k].at] = k;
		e->order[k] = v[k].msg;
	}
	e->order[n] = SHUFFLE_NONE;
	free(v);
}

static u32 sent(const struct sim *s, const struct sim_end *e, u32 i)
{
	return (u32)(e->tx.msg[i].next >> s->shift);
}

/* may this message send, or is it too far down the schedule? */
static bool near_enough(const struct sim *s, struct sim_end *e, u32 i)
{
	for (;;) {
		u32 m = e->order[e->first];
		u32 k;

		if (m == SHUFFLE_NONE)
			break;
		k = sent(s, e, m);
		if (e->tx.msg[m].next < e->tx.msg[m].len &&
		    e->place[e->from[m] + k] <= e->first)
			break;
		e->first++;
	}
	return e->place[e->from[i] + sent(s, e, i)] - e->first <= s->cfg->redirect;
}

static void start(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	u64 most = (u64)s->rtt << s->shift;
	u32 i;

	if (s->cfg->algo == SIM_HADOOP) {
		start_hadoop(s, op, host);
		return;
	}
	if (s->cfg->unsched == SIM_UNSCHED_PRO_RATA)
		shuffle_policy_unscheduled(&e->tx, 0, s->n, most, packet(s), U64_MAX);
	for (i = 0; i < s->n; i++) {
		struct shuffle_tx_sched *m = &e->tx.msg[i];

		if (s->cfg->unsched == SIM_UNSCHED_MESSAGE)
			m->limit = m->len < most ? m->len : most;
		s->unsched[sim_row(s, op, host, i)] = (u32)(m->limit >> s->shift);
		shuffle_policy_tx_update(&e->tx, i);
		/* the first packet tells the length; without one, an empty one does */
		if (i != host && (!m->limit || s->cfg->announce == SIM_ANNOUNCE_ALL))
			sim_control(s, SIM_INFO, op, host, i, 0);
	}
	if (s->cfg->redirect != U32_MAX)
		list_schedule(s, op, host);
}

static bool send(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	u32 i = shuffle_policy_tx_pick(&e->tx);
	u32 seq;

	if (i == SHUFFLE_NONE)
		return false;
	if (e->place && !near_enough(s, e, i))
		return false;
	seq = sent(s, e, i);
	s->started += !seq;
	e->tx.msg[i].next += packet(s);
	shuffle_policy_tx_sent(&e->tx, i);
	sim_data(s, op, host, i, seq);
	return true;
}

static void data(struct sim *s, u32 op, u32 host, u32 from, u32 seq)
{
	struct sim_end *e = sim_end(s, op, host);

	heard(s, op, host, from);
	shuffle_policy_rx_arrived(&e->rx, from, packet(s), (u64)(seq + 1) << s->shift);
	e->dirty = true;
}

static void control(struct sim *s, const struct sim_pkt *p)
{
	struct sim_end *e = sim_end(s, sim_op(p), p->dst);
	struct shuffle_tx_sched *m = &e->tx.msg[p->src];
	u64 limit = (u64)sim_value(p) << s->shift;

	if (sim_type(p) == SIM_INFO) {
		heard(s, sim_op(p), p->dst, p->src);
	} else if (limit > m->limit) {
		bool sends = m->next < m->limit;

		m->limit = limit;
		/* one that may send already keeps its place */
		if (!sends)
			shuffle_policy_tx_update(&e->tx, p->src);
	}
}

/* packets that the slowest receiver has left, as this one knows; 0: it does not */
static u32 greatest_rem(const struct sim *s, u32 op, u32 host)
{
	if (s->cfg->global == SIM_GLOBAL_SCHED)
		return s->max_rem;
	return s->gossip ? s->gossip[op * s->n + host] : 0;
}

/* The limit of all grants of a receiver, in the policy's bytes: pro rata
 * overcommitment (equation 3.11) or the global scale-back (3.14, to a power).
 */
static u64 limit_of(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	double most = s->cfg->overcommit * s->rtt * packet(s);

	if (s->cfg->global == SIM_GLOBAL_NONE && s->host[host].base == SIM_ONE)
		return most < packet(s) ? packet(s) : (u64)most;
	if (s->host[host].base != SIM_ONE)
		most = most * s->host[host].base / SIM_ONE;
	if (s->cfg->global == SIM_GLOBAL_TOTAL && s->max_total) {
		most *= (double)e->rx.announced_len / ((double)s->max_total * packet(s));
	} else if (s->snapshot) {
		most *= pow(s->part[op * s->n + host], s->cfg->power + 1);
	} else if (s->cfg->power > 0 && greatest_rem(s, op, host)) {
		double part = (double)shuffle_policy_rx_total_rem(&e->rx) /
			((double)greatest_rem(s, op, host) * packet(s));

		/* what all-reduce said may be less than what is left here */
		if (part < 1)
			most *= pow(part, s->cfg->power + 1);
	}
	return most < packet(s) ? packet(s) : (u64)most;
}

static void grant(struct sim *s, u32 op, u32 host)
{
	struct shuffle_policy_rx *rx = &sim_end(s, op, host)->rx;
	u64 limit = limit_of(s, op, host);
	bool ordered = s->cfg->order != SIM_ORDER_NONE;

	if (ordered)
		limit = sim_order_limit(s, op, host, limit);

	/* the first power is the policy's own */
	rx->scale_back = s->cfg->power <= 0 && !s->snapshot;
	rx->slowest = (u64)greatest_rem(s, op, host) << s->shift;
	/* do not ask the policy for what it will refuse */
	while (s->cfg->algo == SIM_HADOOP || !rx->outstanding || rx->sim.headroom > 1 ||
	       rx->outstanding + rx->unit <= limit) {
		u32 i;

		i = shuffle_policy_rx_grant(rx, limit, (u64)s->rtt << s->shift, U64_MAX);
		if (i == SHUFFLE_NONE)
			break;
		if (ordered)
			sim_order_granted(s, op, host);
		/* waiting begins with the first grant that is outstanding */
		if (s->last && rx->msg[i].granted - rx->unit <= rx->msg[i].received)
			s->last[sim_row(s, op, host, i)] = s->now;
		sim_control(s, SIM_GRANT, op, host, i, (u32)(rx->msg[i].granted >> s->shift));
	}
	if (ordered)
		sim_order_count(s, op, host);
}

/* steps of an all-reduce: the best in software, times what was asked for */
static u32 all_reduce(const struct sim *s)
{
	u32 levels = 0;

	while (1U << levels < s->n)
		levels++;
	return (u32)(s->cfg->stale * levels * s->rtt / 2 + 0.5);
}

static u64 own_rem(const struct sim *s, const struct sim_end *e)
{
	return e->rx.unannounced ? (u64)e->total << s->shift : e->rx.rem;
}

/* A receiver compares what it had left when the all-reduce began with the greatest of that
 * time: with what it has left now, all would slow down for the age of what they know.
 */
static void next_snapshot(struct sim *s, u64 most)
{
	double *now = s->part;
	u32 i;

	s->part = s->part_next;
	s->part_next = now;
	for (i = 0; i < s->n * s->cfg->ops; i++)
		s->part_next[i] = most ? (double)own_rem(s, &s->end[i]) / (double)most : 1;
	/* the first one ended before the shuffle began */
	if (!s->snapshot)
		memcpy(s->part, s->part_next, s->n * s->cfg->ops * sizeof(*s->part));
	s->snapshot = true;
}

static void tick_global(struct sim *s)
{
	u64 most = 0;
	u32 lag, i;

	if (s->now < s->max_rem_at)
		return;
	for (i = 0; i < s->n * s->cfg->ops; i++) {
		const struct sim_end *e = &s->end[i];
		u64 rem = own_rem(s, e);

		if (rem > most)
			most = rem;
	}
	lag = all_reduce(s);
	if (lag)
		next_snapshot(s, most);
	/* What the one that ends now began with, and the next one begins; the first
	 * one ended before the shuffle began.
	 */
	s->max_rem = lag && s->max_rem_next ? s->max_rem_next : (u32)(most >> s->shift);
	s->max_rem_next = (u32)(most >> s->shift);
	s->max_rem_at = s->now + lag;
}

/* Every DATA and every GRANT carries the greatest remaining that its sender has heard
 * of.  It gets smaller with time as if that receiver got a packet a step, the most that
 * it can: what goes round is never more than the truth, and is soon replaced by what the
 * slowest receiver says of itself.  Here hosts with an unfinished message between them
 * hear of each other once in a round trip.
 */
static void tick_gossip(struct sim *s)
{
	u32 *old = s->gossip;
	u32 op, i, k;

	if (s->now % s->rtt)
		return;
	for (op = 0; op < s->cfg->ops; op++) {
		u32 *said = old + op * s->n;
		u32 *next = s->gossip_next + op * s->n;

		for (i = 0; i < s->n; i++) {
			const struct sim_end *e = sim_end(s, op, i);

			said[i] -= said[i] < s->rtt ? said[i] : s->rtt;
			next[i] = e->rx.unannounced ? e->total : (u32)(e->rx.rem >> s->shift);
			if (said[i] > next[i])
				next[i] = said[i];
		}
		for (i = 0; i < s->n; i++) {
			const struct sim_end *e = sim_end(s, op, i);

			for (k = 0; k < s->n; k++) {
				const struct shuffle_rx_sched *m = &e->rx.msg[k];

				if (m->received >= m->len)
					continue;
				if (said[k] > next[i])
					next[i] = said[k];
				if (said[i] > next[k])
					next[k] = said[i];
			}
		}
	}
	s->gossip = s->gossip_next;
	s->gossip_next = old;
}

static void tick_stall(struct sim *s)
{
	u32 every = s->cfg->stall / 4 + 1;
	u32 op, host, i;

	if (s->now % every)
		return;
	for (op = 0; op < s->cfg->ops; op++) {
		for (host = 0; host < s->n; host++) {
			struct sim_end *e = sim_end(s, op, host);
			const u32 *last = &s->last[sim_row(s, op, host, 0)];

			if (!s->host[host].up)
				continue;
			for (i = 0; i < s->n; i++) {
				struct shuffle_rx_sched *m = &e->rx.msg[i];

				if (m->stalled || m->granted <= m->received ||
				    s->now - last[i] < s->cfg->stall)
					continue;
				shuffle_policy_rx_stalled(&e->rx, i);
				e->dirty = true;
			}
		}
	}
}

static void tick(struct sim *s)
{
	if (s->cfg->global == SIM_GLOBAL_SCHED)
		tick_global(s);
	if (s->gossip)
		tick_gossip(s);
	if (s->cfg->stall)
		tick_stall(s);
}

const struct sim_algo sim_algo_policy = {
	.name = "policy",
	.init = init,
	.start = start,
	.send = send,
	.grant = grant,
	.data = data,
	.control = control,
	.tick = tick,
};
