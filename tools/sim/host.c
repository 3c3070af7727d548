// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What every host does in a step, whatever the algorithm (listing 4): it runs or is
 * preempted, sends a data packet, issues grants, takes what has arrived.
 */
#include <stdlib.h>

#include "sim.h"

#define AHEAD	8	/* packets whose memory is on its way */

/**
 * sim_host_init() - place the hosts, and find out what disturbs them
 * @s: simulation
 */
void sim_host_init(struct sim *s)
{
	const struct sim_config *cfg = s->cfg;
	struct rnd r = rnd_stream(cfg->seed, 1, 0);
	u32 *order = sim_alloc(s, s->n, sizeof(*order));
	u32 slow = (u32)(cfg->slow_share * s->n + 0.5);
	u32 i;

	s->host = sim_alloc(s, s->n, sizeof(*s->host));
	for (i = 0; i < s->n; i++)
		order[i] = i;
	rnd_permute(&r, order, s->n);
	for (i = 0; i < s->n; i++)
		s->host[cfg->in_order ? i : order[i]].rack = i / s->rack_size;
	rnd_permute(&r, order, s->n);
	for (i = 0; i < s->n; i++) {
		struct sim_host *h = &s->host[i];

		h->base = SIM_ONE;
		h->cpu = SIM_ONE;
	}
	for (i = 0; i < slow; i++)
		s->host[order[i]].base = (u32)(cfg->slow_rate * SIM_ONE + 0.5);
	for (i = 0; i < s->n; i++)
		sim_interfere_init(cfg, s->rtt, &s->host[i], i);
	s->varying = slow || cfg->vary > 0;
	s->plain = cfg->preempt <= 0 && cfg->cost_packet <= 0 && cfg->cost_message <= 0;
	free(order);
}

/**
 * sim_host_begin() - a host starts the shuffles whose time has come
 * @s: simulation
 * @host: index
 */
void sim_host_begin(struct sim *s, u32 host)
{
	const struct sim_config *cfg = s->cfg;
	struct sim_host *h = &s->host[host];

	while (h->up && h->ops < cfg->ops && s->now >= sim_order_start(s, h->ops))
		s->algo->start(s, h->ops++, host);
}

/**
 * sim_host_times() - a step begins at all hosts
 * @s: simulation
 */
void sim_host_times(struct sim *s)
{
	const struct sim_config *cfg = s->cfg;
	bool disturbed = cfg->preempt > 0 || cfg->vary > 0;
	u32 i;

	for (i = 0; i < s->n; i++) {
		struct sim_host *h = &s->host[i];

		if (disturbed)
			sim_interfere_step(cfg, s->rtt, h, s->now);
		if (!s->plain) {
			h->cpu += SIM_ONE;
			if (h->cpu > (int)SIM_ONE)
				h->cpu = SIM_ONE;
		}
		sim_host_begin(s, i);
	}
}

static bool send_new(struct sim *s, struct sim_host *h, u32 host)
{
	u32 k;

	if (s->cfg->order != SIM_ORDER_NONE)
		return sim_order_send(s, h, host);
	for (k = 0; k < h->ops; k++) {
		u32 op = h->next_op + k;

		if (op >= h->ops)
			op -= h->ops;
		if (!s->algo->send(s, op, host))
			continue;
		h->left--;
		h->next_op = op + 1;
		return true;
	}
	return false;
}

/**
 * sim_host_send() - one data packet, if the host may and can
 * @s: simulation
 * @host: index
 */
void sim_host_send(struct sim *s, u32 host)
{
	struct sim_host *h = &s->host[host];

	if (s->varying) {
		h->credit += h->rate;
		if (h->credit > 2 * SIM_ONE)
			h->credit = 2 * SIM_ONE;
	}
	if (!h->up) {
		h->preempted += h->left > 0;
		return;
	}
	if ((!s->plain && h->cpu <= 0) || (s->varying && h->credit < SIM_ONE))
		return;
	if (!sim_ring_empty(&h->resend)) {
		struct sim_pkt p = sim_ring_pop(&h->resend);

		s->resent++;
		sim_data(s, sim_op(&p), host, p.dst, sim_value(&p));
	} else if (!h->left) {
		return;
	} else if (!send_new(s, h, host)) {
		h->idle++;
		h->credit = h->credit > SIM_ONE ? SIM_ONE : h->credit;
		return;
	}
	h->sending++;
	if (s->varying)
		h->credit -= SIM_ONE;
}

/**
 * sim_host_take() - a host takes a packet that has arrived
 * @s: simulation
 * @p: the packet
 */
void sim_host_take(struct sim *s, const struct sim_pkt *p)
{
	u32 op = sim_op(p);
	struct shuffle_rx_sched *m;

	if (sim_type(p) == SIM_RESEND) {
		sim_loss_resend(s, p);
		return;
	}
	if (sim_type(p) != SIM_DATA) {
		if (s->algo->control)
			s->algo->control(s, p);
		return;
	}
	s->recv_now++;
	if (s->bits && !sim_loss_new(s, op, p->dst, p->src, sim_value(p)))
		return;
	if (s->last)
		s->last[sim_row(s, op, p->dst, p->src)] = s->now;
	s->algo->data(s, op, p->dst, p->src, sim_value(p));
	m = &sim_end(s, op, p->dst)->rx.msg[p->src];
	/* MADD announces nothing */
	if (m->received == (m->announced ? m->len :
			    (u64)sim_len(s, op, p->src, p->dst) << s->shift)) {
		s->completed++;
		s->host[p->dst].cpu -= (int)(s->cfg->cost_message * SIM_ONE);
	}
	s->left--;
	s->left_op[op]--;
	sim_order_got(s, op, p->dst);
	/* the last one counts */
	if (s->done_at[op] <= s->now)
		s->done_at[op] = s->now + 1;
}

/* A host that was preempted takes all control packets, and data as fast as it can. */
static void drain(struct sim *s, struct sim_host *h)
{
	u32 n;

	while (!sim_ring_empty(&h->ctl)) {
		struct sim_pkt p = sim_ring_pop(&h->ctl);

		sim_host_take(s, &p);
	}
	for (n = 0; n < s->cfg->catchup && h->cpu > 0 && !sim_ring_empty(&h->data); n++) {
		struct sim_pkt p = sim_ring_pop(&h->data);

		h->cpu -= (int)(s->cfg->cost_packet * SIM_ONE);
		sim_host_take(s, &p);
	}
}

/**
 * sim_host_fetch() - the memory that a packet will need: with many hosts it is in no cache
 * @s: simulation
 * @p: the packet
 */
void sim_host_fetch(const struct sim *s, const struct sim_pkt *p)
{
	const struct sim_end *e = sim_end(s, sim_op(p), p->dst);

	if (sim_type(p) == SIM_DATA) {
		shuffle_prefetch(&e->rx.msg[p->src]);
		shuffle_prefetch(&e->rx.heap.node[p->src]);
	} else {
		shuffle_prefetch(&e->tx.msg[p->src]);
		shuffle_prefetch(&e->tx.heap.node[p->src]);
	}
}

/**
 * sim_host_receive() - hosts take what has arrived
 * @s: simulation
 */
void sim_host_receive(struct sim *s)
{
	struct sim_vec *in = &s->to_host[s->now & (s->slots - 1)];
	u32 i;

	/* without latency, answers come behind them in the same step */
	for (i = 0; i < in->n; i++) {
		struct sim_pkt p = in->p[i];
		struct sim_host *h = &s->host[p.dst];

		if (i + AHEAD < in->n)
			sim_host_fetch(s, &in->p[i + AHEAD]);
		if (s->plain)
			sim_host_take(s, &p);
		else
			sim_ring_push(sim_type(&p) == SIM_DATA ? &h->data : &h->ctl, p);
	}
	in->n = 0;
	if (s->plain)
		return;
	for (i = 0; i < s->n; i++)
		if (s->host[i].up)
			drain(s, &s->host[i]);
}
