// SPDX-License-Identifier: GPL-2.0-only
/* How long data may be overdue before its sender is asked what has left. */
#include "harness.h"
#include "../sched/early.h"

static void early_wait__follows_what_is_measured(struct kunit *test)
{
	static const struct {
		u64	srtt, rttvar, least, wait;
	} rows[] = {
		/* a fast network: not so often that questions are a load */
		{ 1, 0, 100000, 12500 },
		{ 4000, 1000, 100000, 12500 },
		{ 12500, 0, 100000, 12500 },
		{ 12501, 0, 100000, 12501 },
		{ 40000, 10000, 100000, 60000 },
		/* busy hosts, or a setting */
		{ 1000000000, 500000000, 100000, 2000000000 },
		{ 40000, 10000, 1000000000, 125000000 },
		{ 1, 0, 0, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ(test, shuffle_early_wait(rows[i].srtt, rows[i].rttvar,
							 rows[i].least), rows[i].wait);
}

/* Pauses of 1 to 100 us: few are longer than the wait, and it is not much longer than all of them;
 * one of a second is forgotten.
 */
static void early_pause__is_as_long_as_most(struct kunit *test)
{
	u64 pause = 0;
	u32 i;

	for (i = 0; i < 2000; i++)
		pause = shuffle_early_pause(pause, (i * 37 % 100 + 1) * 1000);
	KUNIT_EXPECT_GT(test, pause, 90000ULL);
	KUNIT_EXPECT_LT(test, pause, 100000ULL);
	pause = shuffle_early_pause(pause, 1000000000);
	KUNIT_EXPECT_GT(test, pause, 250000000ULL);
	for (i = 0; i < 40000; i++)
		pause = shuffle_early_pause(pause, (i * 37 % 100 + 1) * 1000);
	KUNIT_EXPECT_LT(test, pause, 100000ULL);
	KUNIT_EXPECT_EQ(test, shuffle_early_pause(0, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, shuffle_early_pause(U64_MAX, U64_MAX),
			U64_MAX - U64_MAX / 4096);
}

static void early_again__doubles(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, shuffle_early_again(100000, 100000, 1), 25000ULL);
	KUNIT_EXPECT_EQ(test, shuffle_early_again(100000, 100000, 2), 50000ULL);
	KUNIT_EXPECT_EQ(test, shuffle_early_again(12500, 100000, 1), 12500ULL);
	KUNIT_EXPECT_EQ(test, shuffle_early_again(12500, 100000, 3), 50000ULL);
	/* the longest wait, as often as questions are asked */
	KUNIT_EXPECT_EQ(test, shuffle_early_again(4000000000ULL, 1, SHUFFLE_EARLY_QUESTIONS),
			1000000000ULL << (SHUFFLE_EARLY_QUESTIONS - 1));
}

static struct kunit_case early_cases[] = {
	KUNIT_CASE(early_wait__follows_what_is_measured),
	KUNIT_CASE(early_pause__is_as_long_as_most),
	KUNIT_CASE(early_again__doubles),
	{}
};

struct kunit_suite shuffle_early_suite = {
	.name = "shuffle_early",
	.test_cases = early_cases,
};
