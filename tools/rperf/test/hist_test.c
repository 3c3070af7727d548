// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms: quantiles of known distributions, negative times, and what is written. */
#include <stdlib.h>

#include "hist.h"
#include "tap.h"

/* Cells are 0.06 % wide, and times are whole. */
#define EXPECT_CELL(got, want)	EXPECT_NEAR((double)(got), want, (want) * 0.0006 + 0.5)

int main(int argc, char **argv)
{
	struct times *t = calloc(1, sizeof(*t)), *u = calloc(1, sizeof(*u));
	uint64_t i;
	FILE *f;

	if (!t || !u || argc != 3)
		return 2;
	TAP_EQ(times_quantile(t, 0.5), 0, "empty");
	for (i = 1; i <= 100000; i++)
		times_add(t, (int64_t)(i * 1000));
	EXPECT_CELL(times_quantile(t, 0.5), 5e7);
	EXPECT_CELL(times_quantile(t, 0.999), 9.99e7);
	tap_done("quantiles of equal steps");
	EXPECT_EQ(t->min, 1000);
	EXPECT_EQ(t->max, 100000000);
	EXPECT_EQ(times_quantile(t, 0), 1000);
	EXPECT_EQ(times_quantile(t, 1), 100000000);
	tap_done("the ends are exact");
	for (i = 0; i < 3; i++)
		times_add(u, -(int64_t)(i + 1) * 1000000);
	times_add(u, 5);
	EXPECT_EQ(u->min, -3000000);
	EXPECT_EQ(u->max, 5);
	EXPECT_EQ(u->down.n, 3);
	EXPECT_CELL(-times_quantile(u, 0.5), 2e6);
	tap_done("negative times");
	times_merge(t, u);
	EXPECT_EQ(times_n(t), 100004);
	EXPECT_EQ(t->min, -3000000);
	EXPECT_EQ(t->max, 100000000);
	/* the third of 100004 from below */
	EXPECT_CELL(-times_quantile(t, 0.000025), 1e6);
	tap_done("merged");
	for (i = 1; i < HIST_COUNTS; i++)
		EXPECT_EQ(hist_least((unsigned int)i), hist_most((unsigned int)i - 1) + 1);
	tap_done("cells without gaps");
	times_reset(u);
	times_add(u, INT64_MAX);
	EXPECT_EQ(u->max, INT64_MAX);
	EXPECT_EQ(times_quantile(u, 0.5), INT64_MAX);
	tap_done("too long a time");
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
	return tap_finish();
}
