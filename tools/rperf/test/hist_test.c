// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms: quantiles of known distributions, negative times, and what is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"

static int number, failed;

static void ok(int good, const char *what)
{
	number++;
	failed += !good;
	printf("%s %d - %s\n", good ? "ok" : "not ok", number, what);
}

static int near(int64_t got, double want)
{
	return fabs((double)got - want) <= fabs(want) * 0.0006 + 0.5;
}

int main(int argc, char **argv)
{
	struct times *t = calloc(1, sizeof(*t)), *u = calloc(1, sizeof(*u));
	uint64_t i, bad = 0;
	FILE *f;

	if (!t || !u || argc != 3)
		return 2;
	ok(!times_quantile(t, 0.5), "empty");
	for (i = 1; i <= 100000; i++)
		times_add(t, (int64_t)(i * 1000));
	ok(near(times_quantile(t, 0.5), 5e7) && near(times_quantile(t, 0.999), 9.99e7),
	   "quantiles of equal steps");
	ok(t->min == 1000 && t->max == 100000000 && times_quantile(t, 0) == 1000 &&
	   times_quantile(t, 1) == 100000000, "the ends are exact");
	for (i = 0; i < 3; i++)
		times_add(u, -(int64_t)(i + 1) * 1000000);
	times_add(u, 5);
	ok(u->min == -3000000 && u->max == 5 && u->down.n == 3 &&
	   near(times_quantile(u, 0.5), -2e6), "negative times");
	times_merge(t, u);
	/* the third of 100004 from below */
	ok(times_n(t) == 100004 && t->min == -3000000 && t->max == 100000000 &&
	   near(times_quantile(t, 0.000025), -1e6), "merged");
	for (i = 1; i < HIST_COUNTS; i++)
		bad += hist_least((unsigned int)i) != hist_most((unsigned int)i - 1) + 1;
	ok(!bad, "cells without gaps");
	times_reset(u);
	times_add(u, INT64_MAX);
	ok(u->max == INT64_MAX && times_quantile(u, 0.5) == INT64_MAX, "too long a time");
	times_reset(u);
	for (i = 0; i < 70000; i++)
		times_add(u, (int64_t)(i * i % 3000000007ULL));
	f = fopen(argv[1], "w");
	hist_log_head(f, 1);
	hist_log_line(f, "a", 0, 1, &u->up);
	fclose(f);
	f = fopen(argv[2], "w");
	hist_percentiles(f, u);
	fclose(f);
	printf("# %llu %lld\n", (unsigned long long)times_n(u), (long long)times_quantile(u, 0.99));
	free(t);
	free(u);
	printf("1..%d\n", number);
	return !!failed;
}
