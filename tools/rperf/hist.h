/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms of times with three significant digits, in the layout of HdrHistogram (Tene), so that
 * its plotters read what is written.  One that has negative values, too, is two of them.
 */
#ifndef RPERF_HIST_H
#define RPERF_HIST_H

#include <stdint.h>
#include <stdio.h>

#define HIST_HIGHEST	3600000000000LL		/* ns; what is longer counts as an hour */
#define HIST_SUB	2048U			/* values of the first bucket, one by one */
#define HIST_COUNTS	((31 + 2) * (HIST_SUB / 2))

/**
 * struct hist - a histogram
 * @n: values
 * @max: the greatest
 * @count: how many
 */
struct hist {
	uint64_t	n;
	uint64_t	max;
	uint64_t	count[HIST_COUNTS];
};

/**
 * struct times - a distribution of signed times
 * @up: of those that are not negative
 * @down: of the others, without their sign
 * @min: the least, ns
 * @max: the greatest, ns
 * @sum: of all, ns
 */
struct times {
	struct hist	up;
	struct hist	down;
	int64_t		min;
	int64_t		max;
	double		sum;
};

void times_reset(struct times *t);
void times_add(struct times *t, int64_t ns);
void times_merge(struct times *t, const struct times *more);
int64_t times_quantile(const struct times *t, double q);

uint64_t hist_least(unsigned int i);
uint64_t hist_most(unsigned int i);

static inline uint64_t times_n(const struct times *t)
{
	return t->up.n + t->down.n;
}

/* hist_write.c */
void hist_log_head(FILE *f, double start);
void hist_log_line(FILE *f, const char *tag, double at, double length, const struct hist *h);
void hist_percentiles(FILE *f, const struct times *t);

#endif /* RPERF_HIST_H */
