// SPDX-License-Identifier: GPL-2.0-or-later
/* One output port: weights of its applications, queues of its levels (thesis, 4.3). */
#include <string.h>

#include "saba.h"

static void share_single(const struct saba_present *app, unsigned int n, unsigned int capacity,
			 struct saba_allocation *a)
{
	const struct saba_costs *costs[SABA_SINGLE];
	uint8_t weight[SABA_SINGLE];
	unsigned int i;

	for (i = 0; i < n; i++)
		costs[i] = app[i].costs;
	a->slowdown = saba_solve(costs, n, capacity, weight);
	for (i = 0; i < n; i++)
		a->level[app[i].level] += weight[i];
}

/* The first clustering of the hierarchy whose clusters here are few enough. */
static void map_queues(const struct saba_levels *lv, const bool *present, unsigned int queues,
		       struct saba_allocation *a)
{
	uint8_t queue[SABA_LEVELS];
	unsigned int step, l;

	for (step = 0; step < lv->steps; step++) {
		memset(queue, SABA_NO_QUEUE, sizeof(queue));
		a->queues = 0;
		for (l = 0; l < lv->n; l++) {
			uint8_t *q = &queue[lv->cluster[step][l]];

			a->queue[l] = SABA_NO_QUEUE;
			if (!present[l])
				continue;
			if (*q == SABA_NO_QUEUE)
				*q = a->queues++;
			a->queue[l] = *q;
		}
		if (a->queues <= queues)
			break;
	}
}

/**
 * saba_allocate() - what a port is to do
 * @lv: levels; their hierarchy reaches down to @queues clusters
 * @app: applications that send through the port
 * @n: their number; none is fine
 * @capacity: percent of the link that they share, 1 to SABA_GRID
 * @queues: queues of the port
 * @a: result
 *
 * Up to SABA_SINGLE applications, and no more than there are fourths of the
 * capacity's percents, have a weight each; more are weighed by level.
 */
void saba_allocate(const struct saba_levels *lv, const struct saba_present *app, unsigned int n,
		   unsigned int capacity, unsigned int queues, struct saba_allocation *a)
{
	unsigned int count[SABA_LEVELS] = { 0 }, i;
	bool present[SABA_LEVELS] = { false };

	memset(a, 0, sizeof(*a));
	memset(a->queue, SABA_NO_QUEUE, sizeof(a->queue));
	if (!n)
		return;
	for (i = 0; i < n; i++) {
		count[app[i].level]++;
		present[app[i].level] = true;
	}
	if (n <= SABA_SINGLE && 4 * n <= capacity)
		share_single(app, n, capacity, a);
	else
		a->slowdown = saba_solve_levels(lv, count, capacity, a->level);
	map_queues(lv, present, queues, a);
	for (i = 0; i < lv->n; i++)
		if (present[i])
			a->weight[a->queue[i]] += a->level[i];
}

static uint32_t quantum_of(double percent)
{
	double v = percent * SABA_QUANTUM;

	return v >= SABA_QUANTUM ? v + .5 : SABA_QUANTUM;
}

/**
 * saba_quanta() - what each queue may send in a round
 * @a: weights
 * @capacity: percent of the link that applications share, up to SABA_GRID
 * @queues: of the port, up to SABA_QUEUES
 * @quantum: result, bytes: of everything else, then of each queue
 */
void saba_quanta(const struct saba_allocation *a, unsigned int capacity, unsigned int queues,
		 uint32_t *quantum)
{
	unsigned int i;

	quantum[0] = quantum_of(capacity < SABA_GRID ? SABA_GRID - capacity : SABA_REST);
	for (i = 0; i < queues; i++)
		quantum[1 + i] = quantum_of(a->weight[i]);
}

/**
 * saba_keep_queues() - leave levels in the queues that they are in
 * @former: what the port does now
 * @queues: queues of the port
 * @a: what it is to do; queues get other numbers, with gaps perhaps
 *
 * A queue takes the number of one that most of its levels are in; so packets that
 * wait are seldom overtaken.
 */
void saba_keep_queues(const struct saba_allocation *former, unsigned int queues,
		      struct saba_allocation *a)
{
	bool taken[SABA_QUEUES] = { false };
	double weight[SABA_QUEUES] = { 0 };
	uint8_t name[SABA_QUEUES];
	unsigned int q, f, l;

	memset(name, SABA_NO_QUEUE, sizeof(name));
	for (q = 0; q < a->queues; q++) {
		unsigned int both[SABA_QUEUES] = { 0 }, best = queues;

		for (l = 0; l < SABA_LEVELS; l++)
			if (a->queue[l] == q && former->queue[l] < queues)
				both[former->queue[l]]++;
		for (f = 0; f < queues; f++)
			if (both[f] && !taken[f] && (best == queues || both[f] > both[best]))
				best = f;
		if (best < queues) {
			name[q] = best;
			taken[best] = true;
		}
	}
	for (q = 0; q < a->queues; q++) {
		for (f = 0; f < queues && name[q] == SABA_NO_QUEUE; f++)
			if (!taken[f]) {
				name[q] = f;
				taken[f] = true;
			}
		weight[name[q]] = a->weight[q];
	}
	for (l = 0; l < SABA_LEVELS; l++)
		if (a->queue[l] != SABA_NO_QUEUE)
			a->queue[l] = name[a->queue[l]];
	memcpy(a->weight, weight, sizeof(a->weight));
}
