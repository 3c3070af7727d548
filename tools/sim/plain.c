// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Algorithms of senders alone, without grants: lockstep rotation with a barrier
 * (section 3.1.2), MilliSort's high-entropy shuffle (section 2.4.1), and the fixed
 * orders of figures 3.3 and 3.4.
 */
#include "sim.h"

static void send_next(struct sim *s, u32 op, u32 host, u32 to)
{
	struct sim_end *e = sim_end(s, op, host);
	u32 seq = (u32)(e->tx.msg[to].next >> s->shift);

	s->started += !seq;
	e->tx.msg[to].next += 1ULL << s->shift;
	sim_data(s, op, host, to, seq);
}

static bool all_sent(const struct sim *s, u32 op, u32 host, u32 to)
{
	return sim_end(s, op, host)->tx.msg[to].next >> s->shift >= sim_len(s, op, host, to);
}

static void no_start(struct sim *s, u32 op, u32 host)
{
	(void)s;
	(void)op;
	(void)host;
}

static void count(struct sim *s, u32 op, u32 host, u32 from, u32 seq)
{
	(void)seq;
	sim_end(s, op, host)->rx.msg[from].received += 1ULL << s->shift;
}

/* one message after the other, in the order of receivers (figure 3.3) */
static bool sequential_send(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);

	while (e->active < s->n && all_sent(s, op, host, e->active))
		e->active++;
	if (e->active == s->n)
		return false;
	send_next(s, op, host, e->active);
	return true;
}

/* a packet to each, in the order of receivers (figure 3.4) */
static bool round_robin_send(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	u32 k;

	for (k = 0; k < s->n; k++) {
		u32 to = (e->active + k) % s->n;

		if (all_sent(s, op, host, to))
			continue;
		e->active = to + 1;
		send_next(s, op, host, to);
		return true;
	}
	return false;
}

struct round {
	u32	k;	/* host i sends to (i + k) mod N */
	u64	todo;	/* packets of this round not received */
	u32	next;	/* when the next one begins */
};

static void round_count(struct sim *s, u32 op, struct round *r)
{
	u32 i;

	r->todo = 0;
	for (i = 0; i < s->n; i++)
		r->todo += sim_len(s, op, i, (i + r->k) % s->n);
}

/* empty rounds cost no barrier: nobody waits for anybody */
static void skip_empty(struct sim *s, u32 op, struct round *r)
{
	while (!r->todo && r->k + 1 < s->n) {
		r->k++;
		round_count(s, op, r);
	}
}

static void lockstep_init(struct sim *s)
{
	struct round *r = sim_alloc(s, s->cfg->ops, sizeof(*r));
	u32 op;

	s->priv = r;
	/* round 0, of the messages to oneself, has packets only if they cross links */
	for (op = 0; op < s->cfg->ops; op++) {
		round_count(s, op, &r[op]);
		skip_empty(s, op, &r[op]);
	}
}

static bool lockstep_send(struct sim *s, u32 op, u32 host)
{
	const struct round *r = &((struct round *)s->priv)[op];
	u32 to = (host + r->k) % s->n;

	if (s->now < r->next || all_sent(s, op, host, to))
		return false;
	send_next(s, op, host, to);
	return true;
}

static void lockstep_data(struct sim *s, u32 op, u32 host, u32 from, u32 seq)
{
	count(s, op, host, from, seq);
	((struct round *)s->priv)[op].todo--;
}

static void lockstep_tick(struct sim *s)
{
	u32 op;

	for (op = 0; op < s->cfg->ops; op++) {
		struct round *r = &((struct round *)s->priv)[op];

		if (r->todo || s->now < r->next)
			continue;
		skip_empty(s, op, r);
		r->next = s->now + s->cfg->barrier;
	}
}

/* High-entropy: a sender has a few chunks under way, to random receivers, one to
 * each at most; a receiver acknowledges a chunk when it is there.
 */
static void entropy_start(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	u32 i;

	e->rnd = rnd_stream(s->cfg->seed, 100 + op, host);
	for (i = 0; i < s->n; i++)
		if (sim_len(s, op, host, i))
			e->pool[e->pool_n++] = i;
}

static void entropy_refill(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);

	while (e->active < s->cfg->connections && e->pool_n) {
		u32 k = rnd_below(&e->rnd, e->pool_n);
		u32 to = e->pool[k];
		struct shuffle_tx_sched *m = &e->tx.msg[to];
		u64 len = (u64)sim_len(s, op, host, to) << s->shift;

		e->pool[k] = e->pool[--e->pool_n];
		m->limit = m->next + ((u64)s->cfg->chunk << s->shift);
		if (m->limit > len)
			m->limit = len;
		e->active++;
		shuffle_heap_set(&e->tx.heap, to, U64_MAX - e->stamp);
	}
}

static bool entropy_send(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	struct shuffle_tx_sched *m;
	u32 to;

	entropy_refill(s, op, host);
	if (!e->tx.heap.n)
		return false;
	to = shuffle_heap_top(&e->tx.heap);
	m = &e->tx.msg[to];
	send_next(s, op, host, to);
	if (m->next >= m->limit)
		shuffle_heap_remove(&e->tx.heap, to);
	else
		shuffle_heap_set(&e->tx.heap, to, U64_MAX - ++e->stamp);
	return true;
}

static void entropy_data(struct sim *s, u32 op, u32 host, u32 from, u32 seq)
{
	u32 got;

	count(s, op, host, from, seq);
	/* A message's packets may overtake each other, its chunks do not: one is
	 * complete when as many packets have come as end a chunk.
	 */
	got = (u32)(sim_end(s, op, host)->rx.msg[from].received >> s->shift);
	if (!(got % s->cfg->chunk) || got == sim_len(s, op, from, host))
		sim_control(s, SIM_ACK, op, host, from, got);
}

static void entropy_control(struct sim *s, const struct sim_pkt *p)
{
	struct sim_end *e = sim_end(s, sim_op(p), p->dst);

	e->active--;
	if (!all_sent(s, sim_op(p), p->dst, p->src))
		e->pool[e->pool_n++] = p->src;
}

const struct sim_algo sim_algo_lockstep = {
	.name = "lockstep",
	.init = lockstep_init,
	.start = no_start,
	.send = lockstep_send,
	.data = lockstep_data,
	.tick = lockstep_tick,
};

const struct sim_algo sim_algo_high_entropy = {
	.name = "high-entropy",
	.start = entropy_start,
	.send = entropy_send,
	.data = entropy_data,
	.control = entropy_control,
};

const struct sim_algo sim_algo_sequential = {
	.name = "sequential",
	.start = no_start,
	.send = sequential_send,
	.data = count,
};

const struct sim_algo sim_algo_round_robin = {
	.name = "round-robin",
	.start = no_start,
	.send = round_robin_send,
	.data = count,
};
