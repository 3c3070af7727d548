// SPDX-License-Identifier: GPL-2.0-only
/* The token bucket of echoes. */
#include "harness.h"
#include "../sched/rate.h"

/* Events that pass of those that come one every @step ns for a second. */
static u32 passed(u64 *full_at, u64 now, u32 rate, u32 step)
{
	u64 end = now + SHUFFLE_RATE_SECOND, next;
	u32 n = 0;

	for (; now < end; now += step) {
		next = shuffle_rate_next(*full_at, now, rate);
		if (!next)
			continue;
		*full_at = next;
		n++;
	}
	return n;
}

static void rate__holds(struct kunit *test)
{
	static const struct {
		u32	rate;
		u32	burst;	/* events that may come at once */
	} rows[] = {
		{ 1, 16 }, { 100, 16 }, { 1000, 16 }, { 1600, 17 }, { 10000, 101 },
		{ 100000, 1001 },
	};
	u64 full_at;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		full_at = 0;
		/* a bucket that was never used is full */
		n = passed(&full_at, 1ULL << 60, rows[i].rate, 1000);
		KUNIT_EXPECT_GE(test, n, rows[i].rate);
		KUNIT_EXPECT_LE(test, n, rows[i].rate + rows[i].burst);
		/* and then the rate is all there is */
		n = passed(&full_at, (1ULL << 60) + SHUFFLE_RATE_SECOND, rows[i].rate, 1000);
		KUNIT_EXPECT_GE(test, n + 1, rows[i].rate);
		KUNIT_EXPECT_LE(test, n, rows[i].rate + 1);
	}
}

/* What is as rare as the rate always passes. */
static void rate__slow_enough(struct kunit *test)
{
	u64 full_at = 0;

	KUNIT_EXPECT_EQ(test, passed(&full_at, 5, 1000, 1000000), 1000U);
	KUNIT_EXPECT_EQ(test, passed(&full_at, 5 + SHUFFLE_RATE_SECOND, 1000, 1000000), 1000U);
}

static void rate__burst(struct kunit *test)
{
	u64 full_at = 0, next;
	u32 n;

	for (n = 0; n < 1000; n++) {
		next = shuffle_rate_next(full_at, 7, 1);
		if (!next)
			break;
		full_at = next;
	}
	KUNIT_EXPECT_EQ(test, n, SHUFFLE_RATE_BURST);
	/* one more after an interval, and the whole burst after a pause */
	KUNIT_EXPECT_NE(test, shuffle_rate_next(full_at, 7 + SHUFFLE_RATE_SECOND, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, shuffle_rate_next(full_at, 6 + SHUFFLE_RATE_SECOND, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, shuffle_rate_next(full_at, 100ULL * SHUFFLE_RATE_SECOND, 1),
			101ULL * SHUFFLE_RATE_SECOND);
}

/* A bucket that is empty at a low rate does not stay so for long at a high one. */
static void rate__higher(struct kunit *test)
{
	u64 full_at = 0, next;

	while ((next = shuffle_rate_next(full_at, 7, 1)))
		full_at = next;
	KUNIT_EXPECT_NE(test, shuffle_rate_next(full_at, 7, 1000), 0ULL);
	KUNIT_EXPECT_EQ(test, shuffle_rate_next(full_at, 7, 1), 0ULL);
}

static struct kunit_case rate_cases[] = {
	KUNIT_CASE(rate__holds),
	KUNIT_CASE(rate__slow_enough),
	KUNIT_CASE(rate__burst),
	KUNIT_CASE(rate__higher),
	{}
};

struct kunit_suite shuffle_rate_suite = {
	.name = "shuffle_rate",
	.test_cases = rate_cases,
};
