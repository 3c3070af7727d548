// SPDX-License-Identifier: GPL-2.0-or-later
/* Medians, means, deviations, the gate, starts and durations: golden values, and random ones. */
#include "test.h"

#define N(a)	(sizeof(a) / sizeof((a)[0]))

static int order(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return x < y ? -1 : x > y;
}

static void medians(void)
{
	s64 one[] = { 7 }, two[] = { 9, 4 }, odd[] = { 5, -1, 3 }, even[] = { 40, 10, 30, 20 };
	s64 same[] = { 3, 3, 3, 3, 3, 3 }, negative[] = { -4, -1 };
	s64 wide[] = { S64_MIN, S64_MAX };
	s64 durations[] = { 210, 190, 200, 205, 900, 195, 201, 199, 202, 198 };

	EXPECT_EQ(stream_median(NULL, 0), 0, "median of nothing");
	EXPECT_EQ(stream_median(one, 1), 7, "median of 7");
	EXPECT_EQ(stream_median(two, 2), 6, "median of 9 4, rounded down");
	EXPECT_EQ(stream_median(odd, 3), 3, "median of 5 -1 3");
	EXPECT_EQ(stream_median(even, 4), 25, "median of 40 10 30 20");
	EXPECT_EQ(stream_median(same, 6), 3, "median of 3 3 3 3 3 3");
	EXPECT_EQ(stream_median(negative, 2), -3, "median of -4 -1, rounded down");
	EXPECT_EQ(stream_median(wide, 2), -1, "median of the extremes");
	EXPECT_EQ(stream_median(durations, 10), 200, "median with an outlier: of 200 and 201");
	tap_done("medians: golden values");
}

static void means(void)
{
	s64 two[] = { 9, 4 }, negative[] = { -4, -1 }, late[] = { 1000, 1000, 1000, 5000 };
	s64 far[] = { 1LL << 61, (1LL << 61) - 1, (1LL << 61) - 4 };

	EXPECT_EQ(stream_mean(NULL, 0), 0, "mean of nothing");
	EXPECT_EQ(stream_mean(two, 2), 6, "mean of 9 4, rounded down");
	EXPECT_EQ(stream_mean(negative, 2), -3, "mean of -4 -1, rounded down");
	EXPECT_EQ(stream_mean(late, 4), 2000, "mean with a straggler");
	EXPECT_EQ(stream_mean(far, 3), (1LL << 61) - 2, "mean of large times");
	tap_done("means: golden values");
}

static void deviations(void)
{
	/* Lags 2 4 4 4 5 5 7 9: mean 5, variance 4 */
	s64 known[] = { 2, 4, 4, 4, 5, 5, 7, 9 }, constant[] = { 11, 11, 11 };
	/* variance 2/3: 0.816 */
	s64 small[] = { 1, 2, 3 };
	/* 3.3e9 and 3.5e9 ns: 0.1e9, to 25 bits of the largest */
	s64 large[] = { 3300000000LL, 3500000000LL };
	s64 hour[STREAM_MAX_HISTORY];
	u32 i;

	EXPECT_EQ(stream_deviation(NULL, 0), 0, "deviation of nothing");
	EXPECT_EQ(stream_deviation(known, 8), 2, "deviation of 2 4 4 4 5 5 7 9");
	EXPECT_EQ(stream_deviation(constant, 3), 0, "deviation of a constant lag");
	EXPECT_EQ(stream_deviation(small, 3), 0, "deviation of 1 2 3, rounded down");
	EXPECT_LE(llabs(stream_deviation(large, 2) - 100000000), 256, "deviation of large lags");
	for (i = 0; i < N(hour); i++)
		hour[i] = i & 1 ? STREAM_MAX_DURATION : 0;
	EXPECT_LE(llabs(stream_deviation(hour, N(hour)) - STREAM_MAX_DURATION / 2), 1 << 18,
		  "deviation of 0 and an hour: %lld", (long long)stream_deviation(hour, N(hour)));
	EXPECT_EQ(stream_root(0), 0, "root of 0");
	EXPECT_EQ(stream_root(24), 4, "root of 24");
	EXPECT_EQ(stream_root(25), 5, "root of 25");
	EXPECT_EQ(stream_root(U64_MAX), 4294967295LL, "root of 2^64 - 1");
	tap_done("deviations and roots: golden values");
}

/* History 10, gate 10 %, speed-up 5 %: table I. */
static void proposals(void)
{
	struct stream_unified w = { .interval = 6, .start = 1000000, .duration = 210000 };
	struct stream_history h = { .span = 3, .size = 3 };
	struct stream_config cfg;
	s64 i;

	stream_defaults(&cfg, 4, 4);
	EXPECT_EQ(stream_proposed_start(&w, 200000, 7), 1210000, "tp of the next");
	EXPECT_EQ(stream_proposed_start(&w, 200000, 8), 1410000, "tp of the next but one");
	EXPECT_EQ(stream_proposed_start(&w, 200000, 10), 1810000, "tp of the fourth");
	EXPECT_EQ(stream_proposed_duration(&cfg, 20000, 200000), 190000, "durp, deviation 10 %");
	EXPECT_EQ(stream_proposed_duration(&cfg, 20001, 200000), 200000,
		  "durp, deviation over 10 %");
	EXPECT_EQ(stream_proposed_duration(&cfg, 0, 1000), 1000, "durp: the shortest");
	EXPECT_EQ(stream_proposed_duration(&cfg, cfg.max_duration, 2 * cfg.max_duration),
		  cfg.max_duration, "durp: the longest");
	/* 1: no proposal; lags 10 and 30 of 190 and 170: 0 10 30, deviation sqrt(155.56) */
	for (i = 0; i < 3; i++) {
		struct stream_unified u = { .interval = (u64)i, .duration = 200,
					    .proposed = i ? 210 - 20 * i : 0 };

		stream_history_add(&h, &u);
	}
	EXPECT_EQ(stream_history_deviation(&h, 0, S64_MAX), 12, "deviation of lags 0 10 30");
	EXPECT_EQ(stream_history_median(&h), 200, "median of the history");
	w.duration = 500;
	w.proposed = 530;	/* too early counts as well: 10 30 30 */
	stream_history_add(&h, &w);
	EXPECT_EQ(stream_history_deviation(&h, 0, S64_MAX), 9, "deviation of lags 10 30 30");
	/* 170 was proposed for something else */
	EXPECT_EQ(stream_history_deviation(&h, 180, 600), 10, "deviation of lags 10 30");
	EXPECT_EQ(stream_history_latest(&h)->interval, 6, "the latest");
	tap_done("gate, start and duration of proposals: golden values");
}

static void shares(void)
{
	struct stream_config cfg;
	u32 i, s, count[5] = { 0 };
	u8 failed[6] = { 0 };
	u64 t;

	stream_defaults(&cfg, 5, 5);
	cfg.slices = 12;
	EXPECT_EQ(stream_rounds(&cfg), 2, "rounds of 12 time-slices at 5 builders");
	EXPECT_EQ(stream_first_slice(&cfg, 3), 30, "first time-slice of interval 3");
	cfg.slices = 3;
	EXPECT_EQ(stream_rounds(&cfg), 1, "at least one round");
	for (s = 0; s < 5; s++) {
		u32 seen = 0;

		for (i = 0; i < 5; i++)
			seen |= 1U << stream_stagger(&cfg, i, s);
		EXPECT_EQ(seen, 31, "at a step every builder has one input");
	}
	failed[2] = 1;
	for (t = 0; t < 400; t++)
		count[stream_builder(&cfg, t, failed)]++;
	EXPECT_EQ(count[2], 0, "a failed builder gets nothing");
	for (i = 0; i < 5; i++)
		if (i != 2)
			EXPECT_EQ(count[i], 100, "its share is spread evenly");
	for (t = 0; t < 400; t++) {
		u32 before = stream_builder(&cfg, t, failed), after;

		failed[4] = 1;
		after = stream_builder(&cfg, t, failed);
		failed[4] = 0;
		EXPECT_NE(after, 4, "time-slice %llu goes from %u to %u", (unsigned long long)t,
			  before, after);
		EXPECT((before == 4 || before == after), "time-slice %llu goes from %u to %u",
		       (unsigned long long)t, before, after);
	}
	memset(failed, 1, 5);
	EXPECT_EQ(stream_builder(&cfg, 7, failed), 5, "all have failed");
	tap_done("rounds, staggering, the share of a failed builder");
}

/* The same with 128 bits and a sort. */
static void random_numbers(void)
{
	s64 v[STREAM_MAX_HISTORY], sorted[STREAM_MAX_HISTORY];
	unsigned long run;

	for (run = 0; run < test_runs; run++) {
		u32 n = (u32)between(1, run % 16 ? 12 : STREAM_MAX_HISTORY), i;
		s64 high = 1LL << between(0, 41), want;
		__int128 sum = 0, squares = 0;

		for (i = 0; i < n; i++) {
			v[i] = between(0, high < STREAM_MAX_DURATION ? high : STREAM_MAX_DURATION);
			sum += v[i];
			squares += (__int128)v[i] * v[i];
			sorted[i] = v[i];
		}
		EXPECT_EQ(stream_mean(v, n), (s64)(sum / n), "mean");
		squares = squares * n - sum * sum;
		want = (s64)(__builtin_sqrtl((long double)squares) / n);
		EXPECT_LE(llabs(stream_deviation(v, n) - want), 1 + (high >> 22),
			  "deviation: got %lld, want %lld", (long long)stream_deviation(v, n),
			  (long long)want);
		qsort(sorted, n, sizeof(*sorted), order);
		want = n & 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) >> 1;
		EXPECT_EQ(stream_median(v, n), want, "median");
		qsort(v, n, sizeof(*v), order);
		EXPECT_MEM(v, sorted, n * sizeof(*v), "a median loses a number");
	}
	tap_done("medians, means, deviations: random, as with a sort and 128 bits");
}

void test_numbers(void)
{
	medians();
	means();
	deviations();
	proposals();
	shares();
	random_numbers();
}
