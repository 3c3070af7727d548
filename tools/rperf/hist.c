// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms, see hist.h. */
#include <math.h>
#include <string.h>

#include "hist.h"

/* The layout: the first bucket has HIST_SUB values one by one; each further one covers twice the
 * range of the one before with HIST_SUB / 2 cells, each twice as wide.
 */
static unsigned int index_of(uint64_t v)
{
	unsigned int bucket = 0;

	if (v > HIST_HIGHEST)
		v = HIST_HIGHEST;
	while (v >> bucket >= HIST_SUB)
		bucket++;
	return bucket * (HIST_SUB / 2) + (unsigned int)(v >> bucket);
}

/**
 * hist_least() - the least value that a cell counts
 * @i: number of the cell
 */
uint64_t hist_least(unsigned int i)
{
	unsigned int bucket = i < HIST_SUB ? 0 : i / (HIST_SUB / 2) - 1;

	return (uint64_t)(i - bucket * (HIST_SUB / 2)) << bucket;
}

/**
 * hist_most() - the greatest value that a cell counts
 * @i: number of the cell
 */
uint64_t hist_most(unsigned int i)
{
	unsigned int bucket = i < HIST_SUB ? 0 : i / (HIST_SUB / 2) - 1;

	return hist_least(i) + (1ULL << bucket) - 1;
}

static void add(struct hist *h, uint64_t v)
{
	h->count[index_of(v)]++;
	h->n++;
	if (v > h->max)
		h->max = v;
}

static void merge(struct hist *h, const struct hist *more)
{
	unsigned int i;

	if (!more->n)
		return;
	for (i = 0; i < HIST_COUNTS; i++)
		h->count[i] += more->count[i];
	h->n += more->n;
	if (more->max > h->max)
		h->max = more->max;
}

/**
 * times_reset() - make it empty
 * @t: distribution
 */
void times_reset(struct times *t)
{
	memset(t, 0, sizeof(*t));
}

/**
 * times_add() - one more time
 * @t: distribution
 * @ns: the time
 */
void times_add(struct times *t, int64_t ns)
{
	if (!times_n(t) || ns < t->min)
		t->min = ns;
	if (!times_n(t) || ns > t->max)
		t->max = ns;
	t->sum += (double)ns;
	if (ns < 0)
		add(&t->down, (uint64_t)-ns);
	else
		add(&t->up, (uint64_t)ns);
}

/**
 * times_merge() - add all times of another distribution
 * @t: distribution
 * @more: the other one
 */
void times_merge(struct times *t, const struct times *more)
{
	if (!times_n(more))
		return;
	if (!times_n(t) || more->min < t->min)
		t->min = more->min;
	if (!times_n(t) || more->max > t->max)
		t->max = more->max;
	t->sum += more->sum;
	merge(&t->up, &more->up);
	merge(&t->down, &more->down);
}

/* Middle of the cell that has the @rank-th value from below, ranks from 1. */
static uint64_t at_rank(const struct hist *h, uint64_t rank)
{
	uint64_t seen = 0;
	unsigned int i;

	for (i = 0; i < HIST_COUNTS; i++) {
		seen += h->count[i];
		if (seen >= rank)
			return (hist_least(i) + hist_most(i)) / 2;
	}
	return h->max;
}

/**
 * times_quantile() - a time that so many are not longer than
 * @t: distribution
 * @q: 0 to 1
 *
 * Return: ns, within 0.05 % of the value; the exact one at both ends; 0 if there are none.
 */
int64_t times_quantile(const struct times *t, double q)
{
	uint64_t n = times_n(t), rank = (uint64_t)ceil(q * (double)n);
	int64_t v;

	if (!n || rank <= 1)
		return n ? t->min : 0;
	if (rank >= n)
		return t->max;
	if (rank <= t->down.n)
		v = -(int64_t)at_rank(&t->down, t->down.n - rank + 1);
	else
		v = (int64_t)at_rank(&t->up, rank - t->down.n);
	return v < t->min ? t->min : v > t->max ? t->max : v;
}
