/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every test of the portable files includes.  The tests are written against
 * KUnit; in user space user.h stands in for it.
 */
#ifndef _SHUFFLE_TEST_HARNESS_H
#define _SHUFFLE_TEST_HARNESS_H

#ifdef __KERNEL__
#include <kunit/test.h>
#else
#include "user.h"
#endif

#include "../sched/heap.h"
#include "../sched/link_estimate.h"
#include "../sched/op_order.h"
#include "../sched/policy.h"
#include "../sched/portable.h"
#include "../sched/ranges.h"
#include "../sched/wire.h"

/* @expr: NULL, or the text of what is wrong */
#define SHUFFLE_EXPECT_OK(test, expr)					\
do {									\
	const char *__why = (expr);					\
									\
	if (__why)							\
		KUNIT_FAIL(test, "%s", __why);				\
} while (0)

/* the same, but the test ends there */
#define SHUFFLE_ASSERT_OK(test, expr)					\
do {									\
	const char *__why = (expr);					\
									\
	KUNIT_ASSERT_NULL_MSG(test, __why, "%s", __why);		\
} while (0)

/**
 * struct shuffle_rnd - a repeatable source of random numbers
 * @x: state; any start will do
 */
struct shuffle_rnd {
	u64	x;
};

/* SplitMix64: every call another number, the same ones in every run */
static inline u64 shuffle_rnd64(struct shuffle_rnd *r)
{
	u64 z = (r->x += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* at random from [0, n) */
static inline u32 shuffle_rnd_below(struct shuffle_rnd *r, u32 n)
{
	return (u32)(((shuffle_rnd64(r) >> 32) * n) >> 32);
}

/* at random from [lo, hi] */
static inline u32 shuffle_rnd_in(struct shuffle_rnd *r, u32 lo, u32 hi)
{
	return lo + shuffle_rnd_below(r, hi - lo + 1);
}

extern struct kunit_suite shuffle_number_suite;
extern struct kunit_suite shuffle_rate_suite;
extern struct kunit_suite shuffle_early_suite;
extern struct kunit_suite shuffle_cross_traffic_suite;
extern struct kunit_suite shuffle_heap_suite;
extern struct kunit_suite shuffle_link_suite;
extern struct kunit_suite shuffle_order_suite;
extern struct kunit_suite shuffle_policy_tx_suite;
extern struct kunit_suite shuffle_policy_rx_suite;
extern struct kunit_suite shuffle_policy_grant_suite;
extern struct kunit_suite shuffle_wire_suite;
extern struct kunit_suite shuffle_wire_next_suite;
extern struct kunit_suite shuffle_tag_suite;
extern struct kunit_suite shuffle_ranges_suite;
extern struct kunit_suite shuffle_budget_suite;
extern struct kunit_suite shuffle_sim_suite;
extern struct kunit_suite shuffle_plan_suite;
extern struct kunit_suite shuffle_two_tree_suite;
extern struct kunit_suite shuffle_table_suite;
extern struct kunit_suite shuffle_blocks_suite;
extern struct kunit_suite shuffle_steps_suite;
extern struct kunit_suite shuffle_coll_suite;
extern struct kunit_suite shuffle_merge_suite;

#endif /* _SHUFFLE_TEST_HARNESS_H */
