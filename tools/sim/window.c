// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many steps of one host, then of the next.  What a host sends reaches no other in less than
 * two hops: for so many steps hosts do not depend on each other, and the memory of one stays
 * in the cache meanwhile.  Results are those of one step of all hosts after the other (run.c),
 * to the bit.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define FETCH_TOP	8	/* hosts from the present one to that whose heaps are fetched */
#define FETCH_PATHS	2	/* to that whose paths are */
#define TOP_RX		127	/* nodes of a receiver's heap: 7 levels */
#define TOP_TX		32	/* of a sender's: it has what is granted only */
#define TOP_MSG		7	/* messages that may be next */

/**
 * struct window - steps from the present one on
 * @steps: how many
 * @from: [step * (hosts + 1) + host]: where a host's packets begin in @in
 * @in: [step]: packets that arrive in the step, sorted by host
 * @grants: [step]: outstanding at its end
 */
struct window {
	u32		steps;
	u32		*from;
	struct sim_vec	*in;
	u64		*grants;
};

/**
 * sim_window_fits() - can hosts be simulated for several steps at once?
 * @s: simulation
 *
 * Not if they learn at once what others do, or if something is measured in every step.
 *
 * Return: whether they can.
 */
bool sim_window_fits(const struct sim *s)
{
	const struct sim_config *cfg = s->cfg;

	return s->algo == &sim_algo_policy && cfg->hop && cfg->ops == 1 && s->plain &&
		!s->varying && !s->lossy && !cfg->stall && !s->series &&
		(cfg->global == SIM_GLOBAL_NONE || cfg->global == SIM_GLOBAL_TOTAL);
}

/* what arrives in one step, by host; of one host in the order of arrival */
static void sort_step(struct sim *s, struct window *w, u32 step)
{
	struct sim_vec *got = &s->to_host[(s->now + step) & (s->slots - 1)];
	u32 *from = w->from + (size_t)step * (s->n + 1);
	struct sim_vec *in = &w->in[step];
	u32 i;

	if (in->cap < got->n) {
		in->cap = got->cap;
		free(in->p);
		in->p = sim_alloc(s, in->cap, sizeof(*in->p));
	}
	memset(from, 0, (s->n + 1) * sizeof(*from));
	for (i = 0; i < got->n; i++)
		from[got->p[i].dst + 1]++;
	for (i = 0; i < s->n; i++)
		from[i + 1] += from[i];
	for (i = 0; i < got->n; i++)
		in->p[from[got->p[i].dst]++] = got->p[i];
	/* each is where the next one begins now */
	memmove(from + 1, from, s->n * sizeof(*from));
	from[0] = 0;
	got->n = 0;
}

/* the upper levels of a host's heaps */
static void fetch_top(const struct sim *s, u32 host)
{
	const struct sim_end *e = &s->end[host];
	u32 i;

	for (i = 0; i < TOP_TX && i < e->tx.heap.n; i += 4)
		shuffle_prefetch(&e->tx.heap.node[i]);
	for (i = 0; i < TOP_RX && i < e->rx.heap.n; i += 4)
		shuffle_prefetch(&e->rx.heap.node[i]);
}

/* Where the next grants' messages will go: down the greater kids, from each of four nodes.  Of the
 * last upper level's, all that is below in the next three.
 */
static void fetch_paths(const struct sim *s, u32 host)
{
	const struct shuffle_heap *heap = &s->end[host].rx.heap;
	u32 from;

	if (heap->n <= TOP_RX)
		return;
	for (from = 3; from < 7; from++) {
		u32 at = from;

		while (at < TOP_RX / 2) {
			at = 2 * at + 1;
			at += heap->node[at + 1].key > heap->node[at].key;
		}
		shuffle_prefetch(&heap->node[2 * at + 1]);
		shuffle_prefetch(&heap->node[4 * at + 3]);
		shuffle_prefetch(&heap->node[8 * at + 7]);
		shuffle_prefetch(&heap->node[8 * at + 11]);
	}
}

/* what the next host will touch first */
static void fetch_near(const struct sim *s, const struct window *w, u32 host)
{
	const struct sim_end *e = &s->end[host];
	u32 step, i;

	for (i = 0; i < TOP_MSG && i < e->tx.heap.n; i++)
		shuffle_prefetch(&e->tx.msg[e->tx.heap.node[i].id]);
	for (i = 0; i < TOP_MSG && i < e->rx.heap.n; i++)
		shuffle_prefetch(&e->rx.msg[e->rx.heap.node[i].id]);
	for (step = 0; step < w->steps; step++) {
		const u32 *from = w->from + (size_t)step * (s->n + 1) + host;

		for (i = from[0]; i < from[1]; i++)
			sim_host_fetch(s, &w->in[step].p[i]);
	}
}

static void run_host(struct sim *s, struct window *w, u32 host)
{
	struct sim_end *e = &s->end[host];
	u32 begin = s->now, step, i;

	for (step = 0; step < w->steps; step++) {
		const u32 *from = w->from + (size_t)step * (s->n + 1) + host;

		s->now = begin + step;
		s->phase = SIM_PHASE_START;
		sim_host_begin(s, host);
		s->phase = SIM_PHASE_SEND;
		sim_host_send(s, host);
		s->phase = SIM_PHASE_GRANT;
		if (e->dirty) {
			e->dirty = false;
			s->algo->grant(s, 0, host);
		}
		for (i = from[0]; i < from[1]; i++)
			sim_host_take(s, &w->in[step].p[i]);
		w->grants[step] += e->rx.outstanding;
	}
	s->now = begin;
}

/* the network is ahead by a hop: what it brings in a window has been sent before it */
static void run_network(struct sim *s, u32 from, u32 to)
{
	u32 begin = s->now;

	for (s->now = from; s->now < to; s->now++)
		sim_net_step(s);
	s->now = begin;
}

/**
 * sim_window_run() - all steps
 * @s: simulation that sim_window_fits() has found right
 * @limit: give up at this step
 */
void sim_window_run(struct sim *s, u32 limit)
{
	u32 most = 2 * s->cfg->hop, net = 0, i;
	struct window w = {
		.from = sim_alloc(s, (size_t)most * (s->n + 1), sizeof(*w.from)),
		.in = sim_alloc(s, most, sizeof(*w.in)),
		.grants = sim_alloc(s, most, sizeof(*w.grants)),
	};

	while (s->left && s->now < limit) {
		u32 ahead;

		w.steps = limit - s->now < most ? limit - s->now : most;
		ahead = s->now + s->cfg->hop < limit ? s->now + s->cfg->hop : limit;
		run_network(s, net, ahead);
		net = ahead;
		for (i = 0; i < w.steps; i++)
			sort_step(s, &w, i);
		memset(w.grants, 0, w.steps * sizeof(*w.grants));
		for (i = 0; i < s->n; i++) {
			if (i + FETCH_TOP < s->n)
				fetch_top(s, i + FETCH_TOP);
			if (i + FETCH_PATHS < s->n)
				fetch_paths(s, i + FETCH_PATHS);
			if (i + 1 < s->n)
				fetch_near(s, &w, i + 1);
			run_host(s, &w, i);
		}
		for (i = 0; i < w.steps; i++)
			sim_count_grants(s, w.grants[i]);
		s->now += w.steps;
	}
	/* windows are whole */
	if (!s->left)
		s->now = s->done_at[0];
	else
		run_network(s, net, limit);
	for (i = 0; i < most; i++)
		free(w.in[i].p);
	free(w.from);
	free(w.in);
	free(w.grants);
}
