// SPDX-License-Identifier: GPL-2.0-only
/* How much receivers grant while others use their link. */
#include "harness.h"
#include "../sched/cross_traffic.h"

static void cross_limit__follows_the_part_of_others(struct kunit *test)
{
	static const struct {
		u32	limit, overcommit, give_way;
		u64	own, all;
		u32	next;
	} rows[] = {
		/* alone, also where headers are counted twice, or nothing has come */
		{ 0, 10, 40, 1000, 1000, 0 },
		{ 0, 10, 40, 1000, 900, 0 },
		{ 0, 10, 40, 0, 0, 0 },
		{ 0, 10, 40, 951, 1000, 0 },
		/* others have come, and are still there */
		{ 0, 10, 40, 950, 1000, 40 },
		{ 0, 10, 40, 0, 1000, 40 },
		{ 40, 10, 40, 1000, 1000, 0 },
		{ 40, 10, 40, 950, 1000, 12 },
		{ 13, 10, 40, 950, 1000, 12 },
		{ 0, 2, 40, 900, 1000, 8 },
		{ 8, 2, 40, 900, 1000, 6 },
		{ 4, 1, 40, 900, 1000, 4 },
		/* they have too little, what they are to have, too much */
		{ 12, 10, 40, 900, 1000, 9 },
		{ 12, 10, 40, 701, 1000, 9 },
		{ 12, 10, 40, 700, 1000, 11 },
		{ 12, 10, 40, 640, 1000, 11 },
		{ 12, 10, 40, 630, 1000, 12 },
		{ 12, 10, 40, 570, 1000, 12 },
		{ 12, 10, 40, 560, 1000, 13 },
		{ 32, 10, 40, 100, 1000, 36 },
		/* never less than a round trip, never more than the setting */
		{ 5, 10, 40, 900, 1000, 4 },
		{ 4, 10, 40, 900, 1000, 4 },
		{ 40, 10, 40, 100, 1000, 40 },
		{ 40, 3, 40, 100, 1000, 12 },
		/* they have gone */
		{ 12, 10, 40, 1000, 1000, 18 },
		{ 18, 10, 40, 1000, 1000, 27 },
		{ 27, 10, 40, 1000, 1000, 0 },
		{ 4, 1, 40, 1000, 1000, 0 },
		/* a setting that switches it off */
		{ 12, 10, 0, 100, 1000, 0 },
		/* large numbers */
		{ 12, 1000, 40, 1ULL << 56, 1ULL << 57, 13 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ(test, shuffle_cross_limit(rows[i].limit, rows[i].overcommit,
							  rows[i].give_way, rows[i].own,
							  rows[i].all, true), rows[i].next);
}

/* A flow with a window in the queue: each has the part of the link that it has of the queue. */
static void cross_limit__settles(struct kunit *test)
{
	static const u32 windows[] = { 3, 7, 20, 200 };	/* quarters of RTTbytes */
	u32 w, i;

	for (w = 0; w < ARRAY_SIZE(windows); w++) {
		u32 limit = 0, least = 100, most = 0;

		for (i = 0; i < 100; i++) {
			u32 out = limit ?: 40, all = out + windows[w];

			limit = shuffle_cross_limit(limit, 10, 40, out, all, true);
			if (i < 50)
				continue;
			if (windows[w] * 100 / all < least)
				least = windows[w] * 100 / all;
			if (windows[w] * 100 / all > most)
				most = windows[w] * 100 / all;
		}
		/* at its goal, or as near to that as the setting allows */
		if (windows[w] < 200) {
			KUNIT_EXPECT_GE(test, least, 35U);
			KUNIT_EXPECT_LE(test, most, 45U);
		} else {
			KUNIT_EXPECT_EQ(test, limit, 40U);
		}
	}
}

/* A stranger that wants little must not cost much: less granted until the link is not full. */
static void cross_limit__not_full(struct kunit *test)
{
	u32 limit = 0, most = 0, i, carried = 0;

	for (i = 0; i < 200; i++) {
		/* 10 Mb/s of others; with less than 2 RTTbytes the link is not used well */
		carried = limit && limit < 8 ? 10 + 90 * limit / 8 : 100;
		limit = shuffle_cross_limit(limit, 10, 40, carried - 10, carried,
					    shuffle_cross_full(&most, carried * 125, 1000000));
	}
	KUNIT_EXPECT_GE(test, carried, 75U);
	/* pauses do not count for ever */
	for (i = 0; i < 200; i++)
		shuffle_cross_full(&most, 1250, 1000000);
	KUNIT_EXPECT_TRUE(test, shuffle_cross_full(&most, 1250, 1000000));
	/* not full, others or not: more is granted */
	KUNIT_EXPECT_EQ(test, shuffle_cross_limit(12, 10, 40, 900, 1000, false), 13U);
	KUNIT_EXPECT_EQ(test, shuffle_cross_limit(12, 10, 40, 100, 1000, false), 13U);
	KUNIT_EXPECT_EQ(test, shuffle_cross_limit(40, 10, 40, 900, 1000, false), 40U);
	KUNIT_EXPECT_EQ(test, shuffle_cross_limit(12, 10, 40, 1000, 1000, false), 18U);
}

static struct kunit_case cross_traffic_cases[] = {
	KUNIT_CASE(cross_limit__follows_the_part_of_others),
	KUNIT_CASE(cross_limit__settles),
	KUNIT_CASE(cross_limit__not_full),
	{}
};

struct kunit_suite shuffle_cross_traffic_suite = {
	.name = "shuffle_cross_traffic",
	.test_cases = cross_traffic_cases,
};
