// SPDX-License-Identifier: GPL-2.0-or-later
/* What is measured, between the first intervals and the last. */
#include <stdlib.h>

#include "sim.h"

static const double part[6] = { 0, 0.1, 0.5, 0.9, 0.95, 1 };

/**
 * sim_measure_init() - when to begin and to end
 * @s: the run
 *
 * Not measured are the first @warmup intervals and the last one, by pieces that arrived.
 */
void sim_measure_init(struct sim *s)
{
	const struct sim_config *cfg = s->cfg;
	u64 each = (u64)s->total * cfg->stream.inputs;

	s->all = each * cfg->intervals;
	s->measure_from = each * cfg->warmup;
	s->measure_to = s->all - each;
	s->gap = memory((size_t)s->total * cfg->intervals, sizeof(*s->gap));
	s->fill = memory(cfg->stream.ring + 1, sizeof(*s->fill));
	s->rank_fill = memory((size_t)cfg->stream.inputs * (cfg->stream.ring + 1),
			      sizeof(*s->rank_fill));
	s->res->interval = memory(cfg->intervals, sizeof(*s->res->interval));
	s->res->intervals = cfg->intervals;
	s->res->rank = memory(cfg->stream.inputs, sizeof(*s->res->rank));
	s->res->ranks = cfg->stream.inputs;
}

/**
 * sim_measure_arrival() - a piece has arrived
 * @s: the run
 * @arrived: how many have, with it
 */
void sim_measure_arrival(struct sim *s, u64 arrived)
{
	const struct sim_config *cfg = s->cfg;
	u32 links = cfg->stream.inputs < cfg->stream.builders ? cfg->stream.inputs :
							       cfg->stream.builders;

	s->arrived = arrived;
	if (arrived == s->measure_from)
		s->time_from = s->now;
	if (arrived != s->measure_to)
		return;
	s->res->time = (double)(s->now - s->time_from);
	s->res->throughput = (double)(arrived - s->measure_from) * cfg->piece * 8 /
			     (s->res->time * cfg->rate * links);
}

/**
 * sim_measure_gap() - a time-slice is complete
 * @s: the run
 * @gap: between its first and its last piece, ns
 */
void sim_measure_gap(struct sim *s, s64 gap)
{
	if (sim_measuring(s))
		s->gap[s->gaps++] = (double)gap;
}

/**
 * sim_measure_buffers() - look at the buffers of all pairs
 * @s: the run
 */
void sim_measure_buffers(struct sim *s)
{
	u32 inputs = s->cfg->stream.inputs, ring = s->cfg->stream.ring, b, i, rank;
	u32 *count = memory(ring + 1, sizeof(*count));
	int fill;

	for (b = 0; b < s->cfg->stream.builders; b++) {
		const struct sim_builder *at = &s->builder[b];

		memset(count, 0, (ring + 1) * sizeof(*count));
		for (i = 0; i < inputs; i++) {
			/* Of a failed input less may have come than was released. */
			u64 held = at->arrived[i] > at->released ? at->arrived[i] : at->released;

			count[held - at->released]++;
		}
		for (rank = 0, fill = (int)ring; fill >= 0; fill--) {
			s->fill[fill] += count[fill];
			for (i = 0; i < count[fill]; i++, rank++)
				s->rank_fill[(size_t)rank * (ring + 1) + (u32)fill]++;
		}
	}
	free(count);
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/**
 * sim_spread_of() - percentiles
 * @p: to be filled in
 * @v: values; they are sorted
 * @n: how many
 */
void sim_spread_of(struct sim_spread *p, double *v, u64 n)
{
	u32 i;

	*p = (struct sim_spread){ .n = n };
	if (!n)
		return;
	qsort(v, n, sizeof(*v), order);
	for (i = 0; i < 6; i++)
		p->v[i] = v[(u64)(part[i] * (double)(n - 1) + 0.5)];
}

/* The same of a histogram of pieces in a ring. */
static void spread_of_fill(struct sim_spread *p, const u64 *count, u32 ring)
{
	u64 n = 0, sum;
	u32 i, at;

	for (i = 0; i <= ring; i++)
		n += count[i];
	*p = (struct sim_spread){ .n = n };
	for (i = 0; n && i < 6; i++) {
		u64 want = (u64)(part[i] * (double)(n - 1) + 0.5);

		for (at = 0, sum = count[0]; sum <= want; sum += count[++at])
			;
		p->v[i] = (double)at / ring;
	}
}

/**
 * sim_measure_end() - everything has arrived
 * @s: the run
 */
void sim_measure_end(struct sim *s)
{
	struct sim_result *r = s->res;
	u32 ring = s->cfg->stream.ring, i;
	u64 late = 0, blocked = 0;

	sim_spread_of(&r->gap, s->gap, s->gaps);
	r->slices = s->gaps;
	r->pieces = s->all;
	spread_of_fill(&r->fill, s->fill, ring);
	for (i = 0; i < r->ranks; i++)
		spread_of_fill(&r->rank[i], s->rank_fill + (size_t)i * (ring + 1), ring);
	for (i = 0; i < s->cfg->stream.inputs && s->schedule != SIM_BENCH; i++) {
		late += s->input[i].engine->counters.late;
		blocked += s->input[i].engine->counters.blocked;
	}
	r->late = (double)late / (double)s->all;
	r->blocked = (double)blocked / (double)s->all;
	free(s->gap);
	free(s->fill);
	free(s->rank_fill);
}
