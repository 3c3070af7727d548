// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rates of flows: weighted queues at each port, equal shares within a queue, and no
 * capacity left that somebody could use.
 *
 * By filling: each flow is offered its share at every port of its way, and takes the
 * least.  Where that is the same port for all flows of a queue, they are settled, and
 * what others do not take is offered again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define PASSES	3
#define ROUNDS	60
#define FULL	1e-6
#define GRANTS	8	/* messages that a receiver of Homa grants at a time */

struct fill {
	double		*left;		/* by port */
	double		*weights;	/* by port, of queues in use */
	unsigned int	*n;		/* by port and queue, flows not settled */
	unsigned int	*least;		/* by port and queue, flows that have it as the least */
};

static struct fill fill;

static unsigned int queue_of(const struct sim *s, const struct flow *f, unsigned int h)
{
	return s->queue[f->port[h] * s->jobs + f->job];
}

static void offer(const struct sim *s, uint32_t *open, unsigned int n, double *got,
		  uint8_t *where, double *least)
{
	unsigned int i, h, p, q;

	for (p = 0; p < s->net.ports; p++) {
		fill.weights[p] = 0;
		for (q = 0; q < SIM_QUEUES; q++) {
			fill.least[p * SIM_QUEUES + q] = 0;
			if (fill.n[p * SIM_QUEUES + q])
				fill.weights[p] += s->weight[p * SIM_QUEUES + q];
		}
	}
	*least = INFINITY;
	for (i = 0; i < n; i++) {
		const struct flow *f = &s->flow[open[i]];

		got[i] = INFINITY;
		for (h = 0; h < f->hops; h++) {
			unsigned int at = f->port[h] * SIM_QUEUES + queue_of(s, f, h);
			double share = fill.left[f->port[h]] * s->weight[at] /
				       (fill.weights[f->port[h]] * fill.n[at]);

			if (share < got[i]) {
				got[i] = share;
				where[i] = h;
			}
		}
		fill.least[f->port[where[i]] * SIM_QUEUES + queue_of(s, f, where[i])]++;
		if (got[i] < *least)
			*least = got[i];
	}
}

/* Fill what is left of all ports with these flows. */
static void fill_with(struct sim *s, uint32_t *open, unsigned int n)
{
	double *got = sim_memory(malloc((n + 1) * sizeof(*got))), least;
	uint8_t *where = sim_memory(malloc(n + 1));
	unsigned int round, i, h, keep, k;

	memset(fill.n, 0, s->net.ports * SIM_QUEUES * sizeof(*fill.n));
	for (i = 0, keep = 0; i < n; i++) {
		const struct flow *f = &s->flow[open[i]];

		for (h = 0; h < f->hops && fill.left[f->port[h]] > FULL; h++)
			;
		if (h == f->hops)
			open[keep++] = open[i];
	}
	for (n = keep, i = 0; i < n; i++)
		for (h = 0; h < s->flow[open[i]].hops; h++)
			fill.n[s->flow[open[i]].port[h] * SIM_QUEUES +
			       queue_of(s, &s->flow[open[i]], h)]++;
	for (round = 0; n && round < ROUNDS; round++, n = keep) {
		offer(s, open, n, got, where, &least);
		for (i = 0, keep = 0; i < n; i++) {
			struct flow *f = &s->flow[open[i]];
			unsigned int at = f->port[where[i]] * SIM_QUEUES + queue_of(s, f, where[i]);

			/* the last round takes what it is offered: never more than there is */
			if (fill.least[at] < fill.n[at] && got[i] > least * 1.01 &&
			    round < ROUNDS - 1) {
				open[keep++] = open[i];
				continue;
			}
			f->rate += got[i];
			for (h = 0; h < f->hops; h++) {
				fill.left[f->port[h]] -= got[i];
				k = f->port[h] * SIM_QUEUES + queue_of(s, f, h);
				/* counts are for the next round: the offers were made */
				fill.least[k] += 1U << 16;
			}
		}
		for (i = 0; i < s->net.ports * SIM_QUEUES; i++)
			fill.n[i] -= fill.least[i] >> 16;
		for (i = 0; i < s->net.ports; i++)
			if (fill.left[i] < 0)
				fill.left[i] = 0;
	}
	free(got);
	free(where);
}

static const struct flow *sorted;

static int by_receiver(const void *a, const void *b)
{
	const struct flow *x = &sorted[*(const uint32_t *)a], *y = &sorted[*(const uint32_t *)b];

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->left < y->left ? -1 : x->left > y->left;
}

static unsigned int active(const struct sim *s, int job, uint32_t *open)
{
	unsigned int i, n = 0, granted = 0, to = 0;

	for (i = 0; i < s->flows; i++)
		if (s->flow[i].left > 0 && s->job[s->flow[i].job].sending &&
		    (job < 0 || s->flow[i].job == job))
			open[n++] = i;
	if (s->policy != POLICY_HOMA)
		return n;
	sorted = s->flow;
	qsort(open, n, sizeof(*open), by_receiver);
	for (i = 0; i < n; i++) {
		granted = i && s->flow[open[i]].to == to ? granted + 1 : 0;
		to = s->flow[open[i]].to;
		if (granted >= GRANTS)
			open[i] = UINT32_MAX;
	}
	return n;
}

/*
 * Order of stages under way as Sincronia's BSSI with equal weights: at the port that has
 * most to send, the stage with most there is last; then the same without it.
 */
static void order(const struct sim *s, unsigned int *job)
{
	double *load = sim_memory(calloc(s->net.ports * s->jobs, sizeof(*load)));
	bool placed[SIM_JOBS] = { false };
	unsigned int i, h, j, p, k;

	for (i = 0; i < s->flows; i++)
		if (s->flow[i].left > 0 && s->job[s->flow[i].job].sending)
			for (h = 0; h < s->flow[i].hops; h++)
				load[s->flow[i].port[h] * s->jobs + s->flow[i].job] +=
					s->flow[i].left;
	for (k = s->jobs; k-- > 0;) {
		unsigned int at = 0, last = s->jobs;
		double most = -1;

		for (p = 0; p < s->net.ports; p++) {
			double sum = 0;

			for (j = 0; j < s->jobs; j++)
				sum += placed[j] ? 0 : load[p * s->jobs + j];
			if (sum > most) {
				most = sum;
				at = p;
			}
		}
		for (j = 0; j < s->jobs; j++)
			if (!placed[j] && (last == s->jobs || load[at * s->jobs + j] >
					   load[at * s->jobs + last]))
				last = j;
		placed[last] = true;
		job[k] = last;
	}
	free(load);
}

/* What congestion control that is not exact may lose: flows of several applications meet here. */
static void waste(const struct sim *s)
{
	uint8_t *of = sim_memory(calloc(s->net.ports, 1));
	unsigned int i, h;

	for (i = 0; i < s->flows; i++) {
		const struct flow *f = &s->flow[i];

		for (h = 0; h < f->hops && f->left > 0 && s->job[f->job].sending; h++) {
			uint8_t *first = &of[f->port[h]];

			/* 0: nobody; otherwise the first one's number, and 255 for several */
			if (!*first)
				*first = f->job + 1;
			else if (*first != f->job + 1)
				*first = 255;
		}
	}
	for (i = 0; i < s->net.ports; i++)
		if (of[i] == 255)
			fill.left[i] *= 1 - s->waste;
	free(of);
}

/**
 * allocate_rates() - rates of all flows that have something to send
 * @s: run
 */
void allocate_rates(struct sim *s)
{
	uint32_t *open = sim_memory(malloc((s->flows + 1) * sizeof(*open)));
	unsigned int i, n, k, pass, kept, first[SIM_JOBS];

	if (!fill.left) {
		fill.left = sim_memory(calloc(FABRIC_MOST_PORTS, sizeof(*fill.left)));
		fill.weights = sim_memory(calloc(FABRIC_MOST_PORTS, sizeof(*fill.weights)));
		fill.n = sim_memory(calloc(FABRIC_MOST_PORTS * SIM_QUEUES, sizeof(*fill.n)));
		fill.least = sim_memory(calloc(FABRIC_MOST_PORTS * SIM_QUEUES,
					       sizeof(*fill.least)));
	}
	for (i = 0; i < s->net.ports; i++)
		fill.left[i] = i < 2 * s->net.servers ? 1 : s->core;
	if (s->policy == POLICY_FLOWS && s->waste > 0)
		waste(s);
	for (i = 0; i < s->flows; i++)
		s->flow[i].rate = 0;
	if (s->policy == POLICY_SINCRONIA) {
		order(s, first);
		for (k = 0; k < s->jobs; k++)
			for (pass = 0; pass < PASSES; pass++) {
				n = active(s, first[k], open);
				fill_with(s, open, n);
			}
	} else {
		for (pass = 0; pass < PASSES; pass++) {
			n = active(s, -1, open);
			for (i = 0, kept = 0; i < n; i++)
				if (open[i] != UINT32_MAX)
					open[kept++] = open[i];
			fill_with(s, open, kept);
		}
	}
	free(open);
}

/* Costs that are not those of the model. */
static void set_costs(const struct sim *s, struct job *j)
{
	double light = 1 / (j->kind->send * j->kind->send);
	unsigned int w;

	for (w = 1; w <= SABA_GRID; w++) {
		double *cost = &j->costs.at[w];

		if (s->exact)
			*cost = kind_alone(j->kind, w / (double)SABA_GRID);
		/* a fit may be below 1, or below 0 */
		if (s->weigh == WEIGH_PRODUCT)
			*cost = log(fmax(*cost, 1));
		/* the sum of a^2 / w is least where w is as a */
		else if (s->weigh == WEIGH_LIGHT)
			*cost = light / w;
	}
}

static bool runs(const struct job *j)
{
	return j->stage < j->kind->stages;
}

/* It has, or has ever, connections; those of a stage end with what they send. */
static bool connected(const struct sim *s, const struct flow *f)
{
	const struct job *j = &s->job[f->job];

	return runs(j) && (!s->stages || (j->sending && f->left > 0));
}

/* Levels of the applications that run, and of each its costs. */
static void saba_levels(struct sim *s, struct saba_levels *lv)
{
	struct saba_model model[SIM_JOBS];
	uint8_t level[SIM_JOBS];
	unsigned int i, k, n = 0;

	for (i = 0; i < s->jobs; i++) {
		double d[7], b[] = { .05, .10, .25, .50, .75, .90, 1 };

		if (!runs(&s->job[i]))
			continue;
		for (k = 0; k < 7; k++)
			d[k] = kind_alone(s->job[i].kind, b[k]);
		saba_fit(b, d, 7, s->degree, &model[n]);
		saba_costs(&model[n++], &s->job[i].costs);
		set_costs(s, &s->job[i]);
	}
	saba_levels_make(model, n, SABA_LEVELS, s->queues ? s->queues : 1, NULL, level, lv);
	for (i = 0, n = 0; i < s->jobs; i++)
		if (runs(&s->job[i]))
			s->job[i].level = level[n++];
}

/* The controller: at each port the applications that have connections through it. */
static void saba_queues(struct sim *s)
{
	bool *there = sim_memory(calloc(s->net.ports * s->jobs, sizeof(*there)));
	struct saba_levels lv;
	unsigned int i, h, p;

	saba_levels(s, &lv);
	for (i = 0; i < s->flows; i++)
		for (h = 0; h < s->flow[i].hops && connected(s, &s->flow[i]); h++)
			there[s->flow[i].port[h] * s->jobs + s->flow[i].job] = true;
	for (p = 0; p < s->net.ports; p++) {
		const struct saba_costs *costs[SIM_JOBS];
		struct saba_present app[SIM_JOBS];
		struct saba_allocation a;
		unsigned int n = 0, at[SIM_JOBS];
		uint8_t w[SIM_JOBS];

		for (i = 0; i < s->jobs; i++) {
			if (!there[p * s->jobs + i])
				continue;
			at[n] = i;
			costs[n] = &s->job[i].costs;
			app[n++] = (struct saba_present){
				&s->job[i].costs, s->job[i].level };
		}
		if (!n)
			continue;
		if (s->queues)
			saba_allocate(&lv, app, n, SABA_GRID, s->queues, &a);
		else
			saba_solve(costs, n, SABA_GRID, w);
		for (i = 0; i < n; i++) {
			unsigned int q = s->queues ? a.queue[s->job[at[i]].level] : at[i];

			s->queue[p * s->jobs + at[i]] = q;
			s->weight[p * SIM_QUEUES + q] = s->queues ? a.weight[q] : w[i];
		}
	}
	free(there);
}

/**
 * allocate_queues() - which queue each application has at each port, and weights
 * @s: run
 */
void allocate_queues(struct sim *s)
{
	unsigned int p, i;

	for (p = 0; p < s->net.ports; p++) {
		for (i = 0; i < SIM_QUEUES; i++)
			s->weight[p * SIM_QUEUES + i] = 1;
		for (i = 0; i < s->jobs; i++)
			s->queue[p * s->jobs + i] = s->policy == POLICY_JOBS ? i : 0;
	}
	if (s->policy == POLICY_SABA)
		saba_queues(s);
}
