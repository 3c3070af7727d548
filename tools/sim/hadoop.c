// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hadoop-C as chapter 6 has it: a receiver pulls C random messages at a time, each
 * with a window of RTTpackets, until they are fully granted; a sender takes the
 * message that it has sent from least recently.
 */
#include "sim.h"

static void start(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	u32 i;

	e->rnd = rnd_stream(s->cfg->seed, 100 + op, host);
	for (i = 0; i < s->n; i++)
		if (sim_len(s, op, host, i))
			sim_control(s, SIM_INFO, op, host, i, 0);
}

static bool send(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);
	struct shuffle_tx_sched *m;
	u32 i, seq;

	if (!e->tx.heap.n)
		return false;
	i = shuffle_heap_top(&e->tx.heap);
	m = &e->tx.msg[i];
	seq = (u32)(m->next >> s->shift);
	s->started += !seq;
	m->next += 1ULL << s->shift;
	/* Behind all others now; the turn stays for when it is granted more. */
	m->turn = ++e->stamp;
	shuffle_heap_set(&e->tx.heap, i, U64_MAX - m->turn);
	if (m->next >= m->limit)
		shuffle_heap_remove(&e->tx.heap, i);
	sim_data(s, op, host, i, seq);
	return true;
}

static void allow(struct sim *s, u32 op, u32 host, u32 from, u32 packets)
{
	struct shuffle_policy_rx *rx = &sim_end(s, op, host)->rx;
	struct shuffle_rx_sched *m = &rx->msg[from];

	m->granted += (u64)packets << s->shift;
	rx->outstanding += (u64)packets << s->shift;
	sim_control(s, SIM_GRANT, op, host, from, (u32)(m->granted >> s->shift));
}

static void grant(struct sim *s, u32 op, u32 host)
{
	struct sim_end *e = sim_end(s, op, host);

	while (e->active < s->cfg->connections && e->pool_n) {
		u32 k = rnd_below(&e->rnd, e->pool_n);
		u32 from = e->pool[k];
		u32 len = sim_len(s, op, from, host);

		e->pool[k] = e->pool[--e->pool_n];
		allow(s, op, host, from, len < s->rtt ? len : s->rtt);
		e->active += len > s->rtt;
	}
}

static void data(struct sim *s, u32 op, u32 host, u32 from, u32 seq)
{
	struct sim_end *e = sim_end(s, op, host);
	struct shuffle_rx_sched *m = &e->rx.msg[from];
	u64 len = (u64)sim_len(s, op, from, host) << s->shift;

	(void)seq;
	m->received += 1ULL << s->shift;
	e->rx.rem -= 1ULL << s->shift;
	e->rx.outstanding -= 1ULL << s->shift;
	if (m->granted >= len)
		return;
	allow(s, op, host, from, 1);
	if (m->granted < len)
		return;
	e->active--;
	e->dirty = true;
}

static void control(struct sim *s, const struct sim_pkt *p)
{
	struct sim_end *e = sim_end(s, sim_op(p), p->dst);
	struct shuffle_tx_sched *m = &e->tx.msg[p->src];

	if (sim_type(p) == SIM_INFO) {
		e->pool[e->pool_n++] = p->src;
		e->rx.rem += (u64)sim_len(s, sim_op(p), p->src, p->dst) << s->shift;
		e->dirty = true;
		return;
	}
	/* grants may overtake each other on different paths */
	if ((u64)sim_value(p) << s->shift > m->limit)
		m->limit = (u64)sim_value(p) << s->shift;
	if (m->next < m->limit && !e->tx.heap.node[p->src].at)
		shuffle_heap_set(&e->tx.heap, p->src, U64_MAX - m->turn);
}

const struct sim_algo sim_algo_hadoop = {
	.name = "hadoop",
	.start = start,
	.send = send,
	.grant = grant,
	.data = data,
	.control = control,
};
