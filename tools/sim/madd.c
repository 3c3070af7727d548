// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MADD (section 3.1.2): a centre that knows everything computes the least possible
 * time of the shuffle and gives each message the rate that ends it just then.  Here
 * the rates are exact: packet k of m is due at (k + phase) / m of that time, with a
 * phase of its own for each message, and a sender sends what is due within a round
 * trip, earliest first (a packet that waits for its exact moment would leave gaps).
 * Under interference it sends whatever it has, in that order: the baseline of
 * section 6.2.1.
 */
#include "sim.h"

struct madd {
	double	time[SIM_MAX_OPS];	/* the least possible, steps */
	bool	early;			/* what is not due may be sent as well */
};

#define DUE_BITS	8	/* of a step */

static u64 due(struct sim *s, u32 op, u32 host, u32 to, u32 seq)
{
	const struct madd *d = s->priv;
	/* multiples of the golden ratio lie evenly between each other */
	u32 phase = (to + s->n - host) * 0x9e3779b1U + host * 0x85ebca6bU;
	double at = (seq + phase / 4294967296.0) / sim_len(s, op, host, to);

	return (u64)(at * d->time[op] * (1 << DUE_BITS));
}

static void queue(struct sim *s, u32 op, u32 host, u32 to, u32 seq)
{
	shuffle_heap_set(&sim_end(s, op, host)->tx.heap, to, U64_MAX - due(s, op, host, to, seq));
}

static void init(struct sim *s)
{
	struct madd *d = sim_alloc(s, 1, sizeof(*d));
	struct sim_result r = { 0 };
	u32 op;

	s->priv = d;
	sim_bound(s, &r);
	/* the bound counts all shuffles, which share each link as they share its load */
	for (op = 0; op < s->cfg->ops; op++)
		d->time[op] = r.bound;
	d->early = s->cfg->preempt > 0 || s->cfg->vary > 0 || s->cfg->stagger;
}

static void start(struct sim *s, u32 op, u32 host)
{
	u32 i;

	for (i = 0; i < s->n; i++)
		if (sim_len(s, op, host, i))
			queue(s, op, host, i, 0);
}

static bool send(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	const struct madd *d = s->priv;
	u64 now = (u64)(s->now + s->rtt - op * s->cfg->stagger) << DUE_BITS;
	u32 i, seq;

	if (!e->tx.heap.n)
		return false;
	i = shuffle_heap_top(&e->tx.heap);
	if (!d->early && U64_MAX - shuffle_heap_key(&e->tx.heap, i) > now)
		return false;
	seq = (u32)(e->tx.msg[i].next >> s->shift);
	s->started += !seq;
	e->tx.msg[i].next += 1ULL << s->shift;
	if (seq + 1 < sim_len(s, op, host, i))
		queue(s, op, host, i, seq + 1);
	else
		shuffle_heap_remove(&e->tx.heap, i);
	sim_data(s, op, host, i, seq);
	return true;
}

static void data(struct sim *s, u32 op, u32 host, u32 from, u32 seq)
{
	(void)seq;
	sim_end(s, op, host)->rx.msg[from].received += 1ULL << s->shift;
}

const struct sim_algo sim_algo_madd = {
	.name = "madd",
	.init = init,
	.start = start,
	.send = send,
	.data = data,
};
