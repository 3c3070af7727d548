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

/* Packets of 1432 bytes in turns among 39: 21 us, and up to 60 us. */
static void early_pause__is_longer_than_turns(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, shuffle_early_pause(21000, 5000), 62000ULL);
	KUNIT_EXPECT_EQ(test, shuffle_early_pause(0, 0), 0ULL);
	/* the longest pauses that are measured are those of 200 days */
	KUNIT_EXPECT_EQ(test, shuffle_early_pause(1ULL << 54, 1ULL << 54), 6ULL << 54);
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
	KUNIT_CASE(early_pause__is_longer_than_turns),
	KUNIT_CASE(early_again__doubles),
	{}
};

struct kunit_suite shuffle_early_suite = {
	.name = "shuffle_early",
	.test_cases = early_cases,
};
