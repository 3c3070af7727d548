// SPDX-License-Identifier: GPL-2.0-or-later
/* Percentiles of many values in little memory: counted by logarithm, 8 steps for a factor of 2. */
#include "builder_run.h"

static u32 bucket_of(u64 v)
{
	u32 e;

	if (v < 16)
		return (u32)v;
	e = 63 - (u32)__builtin_clzll(v);
	return 16 + (e - 4) * 8 + (u32)(v >> (e - 3) & 7);
}

/* The middle of a bucket. */
static double value_of(u32 bucket)
{
	u32 e = (bucket - 16) / 8 + 4;

	if (bucket < 16)
		return bucket;
	return (double)(1ULL << e) * (1 + ((bucket - 16) % 8 + 0.5) / 8);
}

/**
 * histogram_add() - one more
 * @h: the histogram
 * @v: its value
 */
void histogram_add(struct histogram *h, u64 v)
{
	h->n++;
	h->count[bucket_of(v)]++;
}

/**
 * histogram_part() - a value that a part of all is below
 * @h: the histogram
 * @part: 0 to 1: 0.5 for the median
 *
 * Return: the value, to 6 %; 0 if there is none.
 */
double histogram_part(const struct histogram *h, double part)
{
	u64 below = 0;
	u32 i;

	for (i = 0; i < HISTOGRAM; i++) {
		below += h->count[i];
		if (below && (double)below >= part * (double)h->n)
			return value_of(i);
	}
	return 0;
}
