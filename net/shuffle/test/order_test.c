// SPDX-License-Identifier: GPL-2.0-only
/* The order of operations that share a link. */
#include "harness.h"

#define MAX_OUT	125000U

struct class_row {
	u64	left;
	u8	class;
};

static const struct class_row class_rows[] = {
	{ 0, 1 },
	{ 1023, 1 },
	{ 1024, 2 },
	{ 2047, 2 },
	/* two for each power of two */
	{ 2048, 3 },
	{ 3071, 3 },
	{ 3072, 4 },
	{ 4095, 4 },
	{ 4096, 5 },
	{ 6143, 5 },
	{ 6144, 6 },
	{ 1 << 20, 21 },
	{ 1ULL << 40, 61 },
	{ (1ULL << 40) + (1ULL << 39), 62 },
	/* what is larger has the last one */
	{ 1ULL << 41, 63 },
	{ U64_MAX, 63 },
};

static void class_desc(const struct class_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu left", (unsigned long long)t->left);
}

KUNIT_ARRAY_PARAM(class, class_rows, class_desc);

static void order_class__of(struct kunit *test)
{
	const struct class_row *t = test->param_value;

	KUNIT_EXPECT_EQ(test, (u32)shuffle_order_class(t->left), (u32)t->class);
}

/* One more byte never makes an operation come sooner. */
static void order_class__monotonic(struct kunit *test)
{
	u32 i, last = 0;
	u64 left;

	for (i = 0; i < 64; i++) {
		for (left = 1ULL << i; left < 2ULL << i && left >= 1ULL << i;
		     left += 1 + (1ULL << i) / 5) {
			u32 class = shuffle_order_class(left);

			KUNIT_EXPECT_GE(test, class, last);
			KUNIT_EXPECT_LE(test, class, SHUFFLE_ORDER_LAST);
			KUNIT_EXPECT_GT(test, class, SHUFFLE_ORDER_FIRST);
			last = class;
		}
	}
}

/* An operation alone has what it would have without an order. */
static void order_limit__alone(struct kunit *test)
{
	struct shuffle_order_place p = {}, other = {};
	static struct shuffle_order o;
	u8 class;

	for (class = 0; class < SHUFFLE_ORDER_CLASSES; class++) {
		memset(&o, 0, sizeof(o));
		memset(&p, 0, sizeof(p));
		KUNIT_EXPECT_EQ(test, shuffle_order_limit(&o, &p, class, MAX_OUT),
				(u64)MAX_OUT);
		shuffle_order_count(&o, &p, true, class, 3000);
		KUNIT_EXPECT_EQ(test, shuffle_order_limit(&o, &p, class, MAX_OUT),
				(u64)MAX_OUT);
		/* it has left, and another one stays alone */
		shuffle_order_count(&o, &p, false, 0, 0);
		KUNIT_EXPECT_EQ(test, shuffle_order_limit(&o, &other, SHUFFLE_ORDER_LAST,
							  MAX_OUT), (u64)MAX_OUT);
	}
}

struct limit_row {
	const char *what;
	u32	out[3];		/* of the operations of classes 5, 5 and 9 */
	u64	first;		/* limit of the first one */
	u64	last;		/* and of the last one */
};

static const struct limit_row limit_rows[] = {
	{ "the first use all", { 62720, 62720, 0 }, MAX_OUT / 2, MAX_OUT / 24 },
	{ "the first use more", { 128000, 62720, 0 }, MAX_OUT / 2, MAX_OUT / 24 },
	{ "the first use little", { 2560, 2560, 0 }, MAX_OUT / 2, MAX_OUT - 5120 },
	{ "what is behind does not count", { 2560, 2560, 100000 }, MAX_OUT / 2, MAX_OUT - 5120 },
};

static void limit_desc(const struct limit_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->what);
}

KUNIT_ARRAY_PARAM(limit, limit_rows, limit_desc);

static void order_limit__shares(struct kunit *test)
{
	static const u8 class[] = { 5, 5, 9 };
	const struct limit_row *t = test->param_value;
	struct shuffle_order_place p[3] = {};
	static struct shuffle_order o;
	u32 i;

	memset(&o, 0, sizeof(o));
	for (i = 0; i < 3; i++)
		shuffle_order_count(&o, &p[i], true, class[i], t->out[i]);
	KUNIT_EXPECT_EQ(test, shuffle_order_limit(&o, &p[0], 5, MAX_OUT), t->first);
	KUNIT_EXPECT_EQ(test, shuffle_order_limit(&o, &p[2], 9, MAX_OUT), t->last);
	/* the first one grows: its own bytes are not in front of it */
	KUNIT_EXPECT_EQ(test, shuffle_order_limit(&o, &p[0], 9, MAX_OUT),
			(u64)(MAX_OUT - t->out[1]) / 2);
}

/* Whatever operations do, the counters are what their places say, and 0 at the end. */
static void order_count__adds_up(struct kunit *test)
{
	struct shuffle_order_place p[8] = {};
	u32 ops[SHUFFLE_ORDER_CLASSES];
	u32 out[SHUFFLE_ORDER_CLASSES];
	static struct shuffle_order o;
	u32 seed = 1, i, k;

	memset(&o, 0, sizeof(o));
	for (i = 0; i < 10000; i++) {
		struct shuffle_order_place *x = &p[i % 8];

		seed = seed * 1664525 + 1013904223;
		shuffle_order_count(&o, x, seed >> 31, seed >> 20 & 3,
				    seed >> 30 ? seed : (u64)seed << 20);
		memset(ops, 0, sizeof(ops));
		memset(out, 0, sizeof(out));
		for (k = 0; k < 8; k++) {
			ops[p[k].class] += p[k].counted;
			out[p[k].class] += p[k].out;
		}
		for (k = 0; k < SHUFFLE_ORDER_CLASSES; k++) {
			KUNIT_ASSERT_EQ(test, (u32)shuffle_counter_read(&o.ops[k]), ops[k]);
			KUNIT_ASSERT_EQ(test, (u32)shuffle_counter_read(&o.out[k]), out[k]);
		}
	}
	for (k = 0; k < 8; k++)
		shuffle_order_count(&o, &p[k], false, 0, 0);
	for (k = 0; k < SHUFFLE_ORDER_CLASSES; k++) {
		KUNIT_EXPECT_EQ(test, (u32)shuffle_counter_read(&o.ops[k]), 0U);
		KUNIT_EXPECT_EQ(test, (u32)shuffle_counter_read(&o.out[k]), 0U);
	}
}

/* Those without an order have their share of the limit, the others the rest. */
static void order_part__shares(struct kunit *test)
{
	struct shuffle_order_place p[3] = {}, other = {};
	static struct shuffle_order o;
	u32 i;

	memset(&o, 0, sizeof(o));
	for (i = 0; i < 3; i++)
		shuffle_order_count(&o, &p[i], true, 5 + i, 1000);
	KUNIT_EXPECT_EQ(test, shuffle_order_part(&o, &p[0], 3, MAX_OUT), (u64)MAX_OUT);
	KUNIT_EXPECT_EQ(test, shuffle_order_part(&o, &p[2], 5, MAX_OUT), (u64)MAX_OUT * 3 / 5);
	/* one that is not counted yet is one more */
	KUNIT_EXPECT_EQ(test, shuffle_order_part(&o, &other, 5, MAX_OUT), (u64)MAX_OUT * 4 / 5);
	/* counters that do not agree for a moment take nothing away */
	KUNIT_EXPECT_EQ(test, shuffle_order_part(&o, &p[0], 2, MAX_OUT), (u64)MAX_OUT);
	KUNIT_EXPECT_EQ(test, shuffle_order_part(&o, &other, 0, MAX_OUT), (u64)MAX_OUT);
}

struct mix_row {
	u32	fair;
	u32	ordered;
};

static const struct mix_row mix_rows[] = {
	{ 0, 1 }, { 1, 0 }, { 1, 1 }, { 1, 7 }, { 7, 1 }, { 6, 9 }, { 8, 8 }, { 1, 4096 },
	{ 100000, 50000 },
};

static void mix_desc(const struct mix_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u fair, %u ordered", t->fair, t->ordered);
}

KUNIT_ARRAY_PARAM(mix, mix_rows, mix_desc);

/* In as many turns as there are operations each that is fair has one, and the gaps between their
 * turns are about as long.
 */
static void order_fair_turn__even(struct kunit *test)
{
	const struct mix_row *t = test->param_value;
	u32 all = t->fair + t->ordered, turn, fair = 0, gap = 0, longest = 0;
	struct shuffle_order_mix m = {};
	u32 i;

	for (i = 0; i < t->fair; i++)
		shuffle_order_mix_add(&m, SHUFFLE_ORDER_FIRST, 1);
	for (i = 0; i < t->ordered; i++)
		shuffle_order_mix_add(&m, 1 + i % SHUFFLE_ORDER_LAST, 1);
	for (turn = 5 * all; turn < 6 * all; turn++) {
		if (shuffle_order_fair_turn(&m, turn)) {
			fair++;
			gap = 0;
		} else {
			longest = ++gap > longest ? gap : longest;
		}
	}
	KUNIT_EXPECT_EQ(test, fair, t->fair);
	if (t->fair)
		KUNIT_EXPECT_LE(test, longest, (t->ordered + t->fair - 1) / t->fair);
	for (i = 0; i < t->ordered; i++)
		shuffle_order_mix_add(&m, 1 + i % SHUFFLE_ORDER_LAST, -1);
	KUNIT_EXPECT_EQ(test, m.ordered, 0U);
	KUNIT_EXPECT_EQ(test, shuffle_order_fair_turn(&m, 7), t->fair > 0);
}

static void order_oldest__one_of_eight(struct kunit *test)
{
	u32 turn, oldest = 0;

	for (turn = U32_MAX - 399; turn != 400; turn++)
		oldest += shuffle_order_oldest(turn);
	KUNIT_EXPECT_EQ(test, oldest, 100U);
	/* a namespace that has just begun keeps the order */
	KUNIT_EXPECT_FALSE(test, shuffle_order_oldest(0));
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE_PARAM(order_class__of, class_gen_params),
	KUNIT_CASE(order_class__monotonic),
	KUNIT_CASE(order_limit__alone),
	KUNIT_CASE_PARAM(order_limit__shares, limit_gen_params),
	KUNIT_CASE(order_count__adds_up),
	KUNIT_CASE(order_part__shares),
	KUNIT_CASE_PARAM(order_fair_turn__even, mix_gen_params),
	KUNIT_CASE(order_oldest__one_of_eight),
	{}
};

struct kunit_suite shuffle_order_suite = {
	.name = "shuffle_order",
	.test_cases = order_cases,
};
