// SPDX-License-Identifier: GPL-2.0-only
/* Received ranges against a map that has a byte for every byte. */
#include "harness.h"
#include "model.h"

#define MAP		512U	/* bytes of the map: 256 islands would fit */

struct tracked {
	struct shuffle_ranges	r;
	struct shuffle_range	island[SHUFFLE_RANGES_MAX];
	u64			base;
	u8			map[MAP];
};

static struct tracked *track(struct kunit *test, u64 base)
{
	struct tracked *t = kunit_kcalloc(test, 1, sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	t->r.island = t->island;
	t->base = base;
	if (base)
		KUNIT_EXPECT_EQ(test, shuffle_ranges_add(&t->r, 0, base), 0);
	return t;
}

static int add(struct kunit *test, struct tracked *t, u32 start, u32 end)
{
	int err = shuffle_ranges_add(&t->r, t->base + start, t->base + end);

	if (!err)
		memset(t->map + start, 1, end - start);
	SHUFFLE_EXPECT_OK(test, shuffle_model_ranges(&t->r, t->base, t->map, MAP));
	return err;
}

static void ranges_add__in_order_needs_no_memory(struct kunit *test)
{
	struct shuffle_ranges r = { 0 };
	u64 at;

	for (at = 0; at < 100000; at += 1000)
		KUNIT_EXPECT_EQ(test, shuffle_ranges_add(&r, at, at + 1000), 0);
	KUNIT_EXPECT_EQ(test, r.prefix, 100000ULL);
	KUNIT_EXPECT_EQ(test, r.bytes, 100000ULL);
	KUNIT_EXPECT_EQ(test, r.n, 0U);
}

static void ranges_add__nothing(struct kunit *test)
{
	struct shuffle_ranges r = { 0 };

	KUNIT_EXPECT_EQ(test, shuffle_ranges_add(&r, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, shuffle_ranges_add(&r, 7, 7), 0);
	KUNIT_EXPECT_EQ(test, shuffle_ranges_add(&r, U64_MAX, U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, r.prefix, 0ULL);
	KUNIT_EXPECT_EQ(test, r.bytes, 0ULL);
	KUNIT_EXPECT_EQ(test, r.n, 0U);
}

static void ranges_add__backwards(struct kunit *test)
{
	struct tracked *t = track(test, 0);
	u32 at;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (at = MAP; at; at -= 4) {
		KUNIT_EXPECT_EQ(test, add(test, t, at - 4, at), 0);
		KUNIT_EXPECT_LE(test, t->r.n, 1U);
	}
	KUNIT_EXPECT_EQ(test, t->r.prefix, (u64)MAP);
	KUNIT_EXPECT_EQ(test, t->r.n, 0U);
}

/* each way in which a newcomer can touch its neighbours */
static void ranges_add__neighbours(struct kunit *test)
{
	struct tracked *t = track(test, 0);

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_EXPECT_EQ(test, add(test, t, 40, 50), 0);	/* alone */
	KUNIT_EXPECT_EQ(test, add(test, t, 50, 60), 0);	/* behind one */
	KUNIT_EXPECT_EQ(test, add(test, t, 30, 40), 0);	/* before one */
	KUNIT_EXPECT_EQ(test, t->r.n, 1U);
	KUNIT_EXPECT_EQ(test, add(test, t, 70, 80), 0);
	KUNIT_EXPECT_EQ(test, add(test, t, 10, 20), 0);	/* first of three */
	KUNIT_EXPECT_EQ(test, t->r.n, 3U);
	KUNIT_EXPECT_EQ(test, add(test, t, 60, 70), 0);	/* between two */
	KUNIT_EXPECT_EQ(test, t->r.n, 2U);
	KUNIT_EXPECT_EQ(test, add(test, t, 0, 10), 0);	/* joins the prefix */
	KUNIT_EXPECT_EQ(test, t->r.prefix, 20ULL);
	KUNIT_EXPECT_EQ(test, add(test, t, 20, 25), 0);	/* short of the island */
	KUNIT_EXPECT_EQ(test, t->r.n, 1U);
	KUNIT_EXPECT_EQ(test, add(test, t, 25, 30), 0);	/* swallows it */
	KUNIT_EXPECT_EQ(test, t->r.prefix, 80ULL);
	KUNIT_EXPECT_EQ(test, t->r.n, 0U);
}

static void ranges_add__island_cap(struct kunit *test)
{
	struct tracked *t = track(test, 0);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < SHUFFLE_RANGES_MAX; i++)
		KUNIT_EXPECT_EQ(test, add(test, t, 4 * i + 2, 4 * i + 4), 0);
	KUNIT_ASSERT_EQ(test, t->r.n, SHUFFLE_RANGES_MAX);
	/* one more is refused wherever it stands; the model sees that nothing changed */
	KUNIT_EXPECT_EQ(test, add(test, t, 300, 301), -ENOSPC);
	KUNIT_EXPECT_EQ(test, add(test, t, 257, 258), -ENOSPC);
	KUNIT_EXPECT_EQ(test, t->r.n, SHUFFLE_RANGES_MAX);
	/* what needs no island of its own is still welcome */
	KUNIT_EXPECT_EQ(test, add(test, t, 256, 257), 0);
	KUNIT_EXPECT_EQ(test, add(test, t, 129, 130), 0);
	KUNIT_EXPECT_EQ(test, add(test, t, 128, 129), 0);
	KUNIT_EXPECT_EQ(test, t->r.n, SHUFFLE_RANGES_MAX - 1);
	KUNIT_EXPECT_EQ(test, add(test, t, 300, 301), 0);
	KUNIT_EXPECT_EQ(test, add(test, t, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, add(test, t, 1, 2), 0);
	KUNIT_EXPECT_EQ(test, t->r.prefix, 4ULL);
	KUNIT_EXPECT_EQ(test, t->r.n, SHUFFLE_RANGES_MAX - 1);
}

static void ranges_add__island_cap_in_the_middle(struct kunit *test)
{
	struct tracked *t = track(test, 0);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < SHUFFLE_RANGES_MAX; i++)
		KUNIT_EXPECT_EQ(test, add(test, t, 8 * i + 6, 8 * i + 8), 0);
	for (i = 0; i < SHUFFLE_RANGES_MAX; i++)
		KUNIT_EXPECT_EQ(test, add(test, t, 8 * i + 2, 8 * i + 3), -ENOSPC);
	/* from the prefix on, everything fills */
	for (i = 0; i < SHUFFLE_RANGES_MAX; i++)
		KUNIT_EXPECT_EQ(test, add(test, t, 8 * i, 8 * i + 6), 0);
	KUNIT_EXPECT_EQ(test, t->r.prefix, (u64)MAP);
	KUNIT_EXPECT_EQ(test, t->r.n, 0U);
}

struct missing_row {
	u32	from;
	u32	to;
	bool	found;
	u32	start;
	u32	end;
};

/* arrived: [0, 10) [20, 30) [40, 50) */
static const struct missing_row missing_rows[] = {
	{ 0, 0, false, 0, 0 },
	{ 0, 10, false, 0, 0 },
	{ 0, 11, true, 10, 11 },
	{ 0, 100, true, 10, 20 },
	{ 9, 20, true, 10, 20 },
	{ 12, 15, true, 12, 15 },
	{ 12, 25, true, 12, 20 },
	{ 19, 20, true, 19, 20 },
	{ 20, 30, false, 0, 0 },
	{ 20, 31, true, 30, 31 },
	{ 25, 45, true, 30, 40 },
	{ 30, 40, true, 30, 40 },
	{ 40, 50, false, 0, 0 },
	{ 45, 100, true, 50, 100 },
	{ 50, 51, true, 50, 51 },
	{ 70, 60, false, 0, 0 },
};

static void missing_desc(const struct missing_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u to %u", t->from, t->to);
}

KUNIT_ARRAY_PARAM(missing, missing_rows, missing_desc);

static void ranges_missing__table(struct kunit *test)
{
	const struct missing_row *t = test->param_value;
	struct shuffle_range island[] = { { 20, 30 }, { 40, 50 } };
	struct shuffle_ranges r = { .prefix = 10, .bytes = 30, .n = 2, .island = island };
	struct shuffle_range gap = { 0, 0 };

	KUNIT_EXPECT_EQ(test, shuffle_ranges_missing(&r, t->from, t->to, &gap), t->found);
	KUNIT_EXPECT_EQ(test, gap.start, (u64)t->start);
	KUNIT_EXPECT_EQ(test, gap.end, (u64)t->end);
}

struct start_row {
	const char	*name;
	u64		base;
};

static const struct start_row starts[] = {
	{ "0", 0 },
	{ "4 GiB", (1ULL << 32) - 100 },
	{ "2^63", (1ULL << 63) - 100 },
	{ "the greatest offset", U64_MAX - MAP },
};

static void start_desc(const struct start_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "around %s", t->name);
}

KUNIT_ARRAY_PARAM(start, starts, start_desc);

/* add whatever is missing at random places, as the module does, until all is there */
static void ranges__random_against_map(struct kunit *test)
{
	const struct start_row *s = test->param_value;
	struct tracked *t = track(test, s->base);
	struct shuffle_rnd rnd = { 3 };
	u32 refused = 0;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < 20000 && t->r.prefix < s->base + MAP; i++) {
		u32 from = shuffle_rnd_below(&rnd, MAP);
		u32 to = from + shuffle_rnd_in(&rnd, 1, 2);
		struct shuffle_range gap;

		if (to > MAP)
			to = MAP;
		SHUFFLE_ASSERT_OK(test, shuffle_model_missing(&t->r, s->base, t->map, MAP,
							      from, to));
		if (!shuffle_ranges_missing(&t->r, s->base + from, s->base + to, &gap))
			continue;
		if (add(test, t, (u32)(gap.start - s->base), (u32)(gap.end - s->base)))
			refused++;
	}
	KUNIT_EXPECT_EQ(test, t->r.prefix, s->base + MAP);
	KUNIT_EXPECT_EQ(test, t->r.bytes, s->base + MAP);
	KUNIT_EXPECT_EQ(test, t->r.n, 0U);
	/* the cap was met on the way */
	KUNIT_EXPECT_GT(test, refused, 0U);
}

/* a record that covers several gaps is added gap by gap */
static void ranges__overlap_is_counted_once(struct kunit *test)
{
	struct tracked *t = track(test, 0);
	struct shuffle_rnd rnd = { 4 };
	struct shuffle_range gap;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < 300; i++) {
		u32 from = shuffle_rnd_below(&rnd, MAP);
		u32 to = from + shuffle_rnd_in(&rnd, 1, 40);

		if (to > MAP)
			to = MAP;
		while (shuffle_ranges_missing(&t->r, from, to, &gap))
			if (add(test, t, (u32)gap.start, (u32)gap.end))
				break;
		KUNIT_ASSERT_FALSE(test, shuffle_ranges_missing(&t->r, from, to, &gap));
	}
	KUNIT_EXPECT_LE(test, t->r.bytes, (u64)MAP);
}

static struct kunit_case ranges_cases[] = {
	KUNIT_CASE(ranges_add__in_order_needs_no_memory),
	KUNIT_CASE(ranges_add__nothing),
	KUNIT_CASE(ranges_add__backwards),
	KUNIT_CASE(ranges_add__neighbours),
	KUNIT_CASE(ranges_add__island_cap),
	KUNIT_CASE(ranges_add__island_cap_in_the_middle),
	KUNIT_CASE_PARAM(ranges_missing__table, missing_gen_params),
	KUNIT_CASE_PARAM(ranges__random_against_map, start_gen_params),
	KUNIT_CASE(ranges__overlap_is_counted_once),
	{}
};

struct kunit_suite shuffle_ranges_suite = {
	.name = "shuffle_ranges",
	.test_cases = ranges_cases,
};
