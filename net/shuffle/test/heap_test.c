// SPDX-License-Identifier: GPL-2.0-only
/* The heap of priorities. */
#include "harness.h"
#include "model.h"

#define IDS	64U

static struct shuffle_heap *make_heap(struct kunit *test)
{
	struct shuffle_heap *h = kunit_kcalloc(test, 1, sizeof(*h), GFP_KERNEL);

	if (!h)
		return NULL;
	h->node = kunit_kcalloc(test, IDS, sizeof(*h->node), GFP_KERNEL);
	return h->node ? h : NULL;
}

static void heap_top__greatest_first(struct kunit *test)
{
	static const u64 keys[] = { 5, U64_MAX, 0, 7, 1ULL << 32, 7, 1, U64_MAX - 1 };
	struct shuffle_heap *h = make_heap(test);
	u64 last = U64_MAX;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		shuffle_heap_set(h, i, keys[i]);
	KUNIT_EXPECT_EQ(test, h->n, (u32)ARRAY_SIZE(keys));
	while (h->n) {
		i = shuffle_heap_top(h);
		KUNIT_EXPECT_EQ(test, shuffle_heap_key(h, i), keys[i]);
		KUNIT_EXPECT_LE(test, shuffle_heap_key(h, i), last);
		last = shuffle_heap_key(h, i);
		shuffle_heap_remove(h, i);
		SHUFFLE_ASSERT_OK(test, shuffle_model_heap(h, IDS));
	}
	KUNIT_EXPECT_EQ(test, last, 0ULL);
}

static void heap_remove__absent(struct kunit *test)
{
	struct shuffle_heap *h = make_heap(test);

	KUNIT_ASSERT_NOT_NULL(test, h);
	shuffle_heap_remove(h, 3);
	KUNIT_EXPECT_EQ(test, h->n, 0U);
	shuffle_heap_set(h, 3, 1);
	shuffle_heap_remove(h, 4);
	KUNIT_EXPECT_EQ(test, h->n, 1U);
	shuffle_heap_remove(h, 3);
	shuffle_heap_remove(h, 3);
	KUNIT_EXPECT_EQ(test, h->n, 0U);
	SHUFFLE_EXPECT_OK(test, shuffle_model_heap(h, IDS));
}

static void heap_set__moves(struct kunit *test)
{
	struct shuffle_heap *h = make_heap(test);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	for (i = 0; i < 10; i++)
		shuffle_heap_set(h, i, 100 + i);
	shuffle_heap_set(h, 0, 1000);	/* up from the bottom */
	KUNIT_EXPECT_EQ(test, shuffle_heap_top(h), 0U);
	shuffle_heap_set(h, 0, 1000);	/* nowhere */
	KUNIT_EXPECT_EQ(test, shuffle_heap_top(h), 0U);
	shuffle_heap_set(h, 0, 0);	/* down to it */
	KUNIT_EXPECT_EQ(test, shuffle_heap_top(h), 9U);
	KUNIT_EXPECT_EQ(test, h->n, 10U);
	SHUFFLE_EXPECT_OK(test, shuffle_model_heap(h, IDS));
}

/* the hole that a removed index leaves may be filled from above or from below */
static void heap_remove__every_position(struct kunit *test)
{
	struct shuffle_heap *h = make_heap(test);
	struct shuffle_rnd rnd = { 5 };
	u32 round, i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	for (round = 0; round < 50; round++) {
		u32 out;

		for (out = 0; out < 15; out++) {
			for (i = 0; i < 15; i++)
				shuffle_heap_set(h, i, shuffle_rnd_below(&rnd, 20));
			shuffle_heap_remove(h, h->node[out].id);
			KUNIT_EXPECT_EQ(test, h->n, 14U);
			SHUFFLE_ASSERT_OK(test, shuffle_model_heap(h, IDS));
		}
	}
}

static void heap__random_ops(struct kunit *test)
{
	struct shuffle_heap *h = make_heap(test);
	struct shuffle_rnd rnd = { 6 };
	u64 *key = kunit_kcalloc(test, IDS, sizeof(*key), GFP_KERNEL);
	bool *in = kunit_kcalloc(test, IDS, sizeof(*in), GFP_KERNEL);
	u32 step;

	KUNIT_ASSERT_TRUE(test, h && key && in);
	for (step = 0; step < 20000; step++) {
		u32 id = shuffle_rnd_below(&rnd, IDS);
		u64 best = 0;
		u32 n = 0, i;

		if (shuffle_rnd_below(&rnd, 3)) {
			/* few different keys, many ties */
			key[id] = shuffle_rnd_below(&rnd, 40);
			in[id] = true;
			shuffle_heap_set(h, id, key[id]);
		} else {
			in[id] = false;
			shuffle_heap_remove(h, id);
		}
		SHUFFLE_ASSERT_OK(test, shuffle_model_heap(h, IDS));
		for (i = 0; i < IDS; i++) {
			n += in[i];
			if (in[i] && key[i] > best)
				best = key[i];
		}
		KUNIT_ASSERT_EQ(test, h->n, n);
		if (!n)
			continue;
		i = shuffle_heap_top(h);
		KUNIT_ASSERT_TRUE(test, in[i]);
		KUNIT_ASSERT_EQ(test, key[i], best);
		KUNIT_ASSERT_EQ(test, shuffle_heap_key(h, i), best);
	}
}

static struct kunit_case heap_cases[] = {
	KUNIT_CASE(heap_top__greatest_first),
	KUNIT_CASE(heap_remove__absent),
	KUNIT_CASE(heap_set__moves),
	KUNIT_CASE(heap_remove__every_position),
	KUNIT_CASE(heap__random_ops),
	{}
};

struct kunit_suite shuffle_heap_suite = {
	.name = "shuffle_heap",
	.test_cases = heap_cases,
};
