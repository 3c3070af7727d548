// SPDX-License-Identifier: GPL-2.0-only
/* Records merged by key: in a table, and of sorted streams. */
#include "../merge.h"
#include "../../../net/shuffle/test/harness.h"

#define RECORDS	600U	/* of a random merge */
#define KEYS	64U	/* at most, of a reference */
#define STREAMS	9U

static const char *const oper_names[SHUFFLE_MERGE_OPERS] = {
	"none", "sum", "min", "max", "count", "sumcount", "or", "and",
};

static const u8 opers[] = {
	SHUFFLE_MERGE_NONE, SHUFFLE_MERGE_SUM, SHUFFLE_MERGE_MIN, SHUFFLE_MERGE_MAX,
	SHUFFLE_MERGE_COUNT, SHUFFLE_MERGE_SUMCOUNT, SHUFFLE_MERGE_OR, SHUFFLE_MERGE_AND,
};

static void describe_oper(const u8 *oper, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", oper_names[*oper]);
}

KUNIT_ARRAY_PARAM(oper, opers, describe_oper);

/* What is right, by other means: one sweep over all records for each key. */
static u64 expected(u8 oper, const struct shuffle_pair *raw, u32 n, u64 key, u32 *records)
{
	u64 sum = 0, all_or = 0, all_and = U64_MAX;
	/* signed numbers, moved up by half of the range */
	const u64 half = 1ULL << 63;
	u64 least = U64_MAX, most = 0;
	u32 i, count = 0, sum32 = 0;

	for (i = 0; i < n; i++) {
		if (raw[i].key != key)
			continue;
		count++;
		sum += raw[i].value;
		sum32 += (u32)raw[i].value;
		all_or |= raw[i].value;
		all_and &= raw[i].value;
		if (raw[i].value + half < least)
			least = raw[i].value + half;
		if (raw[i].value + half > most)
			most = raw[i].value + half;
	}
	*records = count;
	switch (oper) {
	case SHUFFLE_MERGE_SUM:
		return sum;
	case SHUFFLE_MERGE_MIN:
		return least - half;
	case SHUFFLE_MERGE_MAX:
		return most - half;
	case SHUFFLE_MERGE_COUNT:
		return count;
	case SHUFFLE_MERGE_SUMCOUNT:
		return (u64)sum32 << 32 | count;
	case SHUFFLE_MERGE_OR:
		return all_or;
	}
	return all_and;
}

/* Of NONE: as many records of each key, and the same sum of values, which tells lost from twice. */
static const char *check_kept(const struct shuffle_pair *raw, u32 n, const struct shuffle_pair *got,
			      u32 got_n)
{
	u32 i, records, others;

	if (n != got_n)
		return "another number of records";
	for (i = 0; i < n; i++)
		if (expected(SHUFFLE_MERGE_SUM, raw, n, raw[i].key, &records) !=
		    expected(SHUFFLE_MERGE_SUM, got, got_n, raw[i].key, &others) ||
		    records != others)
			return "records of a key have changed";
	return NULL;
}

/* Each key of @raw once in @got, with the right value, and none else. */
static const char *check(u8 oper, const struct shuffle_pair *raw, u32 n,
			 const struct shuffle_pair *got, u32 got_n)
{
	u32 i, j, records;

	if (oper == SHUFFLE_MERGE_NONE)
		return check_kept(raw, n, got, got_n);
	for (i = 0; i < got_n; i++) {
		if (got[i].value != expected(oper, raw, n, got[i].key, &records))
			return "a wrong value";
		if (!records)
			return "a key that was not there";
		for (j = 0; j < i; j++)
			if (got[j].key == got[i].key)
				return "a key twice";
	}
	for (i = 0; i < n; i++) {
		for (j = 0; j < got_n && got[j].key != raw[i].key; j++)
			;
		if (j == got_n)
			return "a key is missing";
	}
	return NULL;
}

/* Values near the ends of their range, so that sums wrap round and signs matter. */
static u64 random_value(struct shuffle_rnd *rnd)
{
	u64 x = shuffle_rnd64(rnd);

	switch (x % 4) {
	case 0:
		return x;
	case 1:
		return U64_MAX - shuffle_rnd_below(rnd, 3);
	case 2:
		return (1ULL << 63) - 1 + shuffle_rnd_below(rnd, 3);
	}
	return shuffle_rnd_below(rnd, 10);
}

static struct shuffle_pair *random_pairs(struct kunit *test, struct shuffle_rnd *rnd, u32 n,
					 u32 keys)
{
	struct shuffle_pair *raw = kunit_kcalloc(test, n + 1, sizeof(*raw), GFP_KERNEL);
	u32 i;

	for (i = 0; raw && i < n; i++) {
		/* 0 and all bits are keys like others */
		raw[i].key = shuffle_rnd_below(rnd, keys) * (U64_MAX / (keys - 1));
		raw[i].value = random_value(rnd);
	}
	return raw;
}

/* On the wire, as the first to merge them has them; not aligned. */
static u8 *to_wire(struct kunit *test, u8 oper, const struct shuffle_pair *raw, u32 n)
{
	u8 *data = kunit_kcalloc(test, n * SHUFFLE_PAIR_BYTES + 8, 1, GFP_KERNEL);
	struct shuffle_pair first;
	u32 i;

	if (!data)
		return NULL;
	for (i = 0; i < n; i++) {
		first.key = raw[i].key;
		first.value = shuffle_merge_first(oper, raw[i].value);
		shuffle_merge_store(data + 3 + i * SHUFFLE_PAIR_BYTES, &first, 1);
	}
	return data + 3;
}

static struct shuffle_merge_table *make_table(struct kunit *test, u8 oper, u32 max)
{
	struct shuffle_merge_table *t = kunit_kcalloc(test, 1, sizeof(*t), GFP_KERNEL);
	void *memory = kunit_kcalloc(test, 1, shuffle_merge_table_bytes(max), GFP_KERNEL);

	if (!t || !memory || shuffle_merge_table_init(t, oper, 42, max, memory))
		return NULL;
	return t;
}

static void merge_values__bounds(struct kunit *test)
{
	u64 min = 1ULL << 63, max = min - 1;

	KUNIT_EXPECT_EQ(test, shuffle_merge_values(SHUFFLE_MERGE_SUM, U64_MAX, 2ULL), 1ULL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_values(SHUFFLE_MERGE_MIN, max, min), min);
	KUNIT_EXPECT_EQ(test, shuffle_merge_values(SHUFFLE_MERGE_MAX, max, min), max);
	KUNIT_EXPECT_EQ(test, shuffle_merge_values(SHUFFLE_MERGE_MIN, U64_MAX, 1ULL),
			(u64)U64_MAX);
	KUNIT_EXPECT_EQ(test, shuffle_merge_values(SHUFFLE_MERGE_OR, 5ULL, 3ULL), 7ULL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_values(SHUFFLE_MERGE_AND, 5ULL, 3ULL), 1ULL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_first(SHUFFLE_MERGE_COUNT, 77ULL), 1ULL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_first(SHUFFLE_MERGE_SUM, 77ULL), 77ULL);
	/* the count does not carry into the sum, nor does the sum get longer */
	KUNIT_EXPECT_EQ(test, shuffle_merge_first(SHUFFLE_MERGE_SUMCOUNT, 7ULL << 32 | 5),
			5ULL << 32 | 1);
	KUNIT_EXPECT_EQ(test, shuffle_merge_values(SHUFFLE_MERGE_SUMCOUNT, 3ULL << 32 | U32_MAX,
						   (u64)U32_MAX << 32 | 2), 2ULL << 32 | 1);
}

static void merge_wire__big_endian(struct kunit *test)
{
	struct shuffle_pair in = { 0x0102030405060708ULL, 0xf1f2f3f4f5f6f7f8ULL }, out;
	u8 data[SHUFFLE_PAIR_BYTES];

	shuffle_merge_store(data, &in, 1);
	KUNIT_EXPECT_EQ(test, (u32)data[0], 1U);
	KUNIT_EXPECT_EQ(test, (u32)data[7], 8U);
	KUNIT_EXPECT_EQ(test, (u32)data[15], 0xf8U);
	shuffle_merge_load(&out, data, 1);
	KUNIT_EXPECT_EQ(test, out.key, in.key);
	KUNIT_EXPECT_EQ(test, out.value, in.value);
}

static void merge_table__refused(struct kunit *test)
{
	struct shuffle_merge_table t;
	u64 memory[64];

	KUNIT_EXPECT_EQ(test, shuffle_merge_table_init(&t, SHUFFLE_MERGE_OPERS, 0, 1, memory),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_table_init(&t, SHUFFLE_MERGE_SUM, 0, 0, memory),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_table_init(&t, SHUFFLE_MERGE_SUM, 0, (1U << 30) + 1,
						       memory), -EINVAL);
}

/* A table for all keys, and one of half as many that is read out whenever it is full: what it gives
 * is merged once more.
 */
static void merge_table__random(struct kunit *test)
{
	u8 oper = *(const u8 *)test->param_value;
	struct shuffle_rnd rnd = { 1000 + oper };
	u32 round, i, n, taken, flushes = 0;

	for (round = 0; round < 12; round++) {
		u32 records = round < 3 ? round : shuffle_rnd_in(&rnd, 3, RECORDS);
		struct shuffle_pair *raw = random_pairs(test, &rnd, records, 2 + round * 5);
		u8 *part = kunit_kcalloc(test, RECORDS, SHUFFLE_PAIR_BYTES, GFP_KERNEL);
		struct shuffle_merge_table *all = make_table(test, oper, RECORDS);
		struct shuffle_merge_table *few = make_table(test, oper, 1 + round * 2);
		u8 *data = to_wire(test, oper, raw, records);

		KUNIT_ASSERT_TRUE(test, raw && part && all && few && data);
		KUNIT_ASSERT_EQ(test, shuffle_merge_add(all, data, records), records);
		SHUFFLE_ASSERT_OK(test, check(oper, raw, records, all->pair, all->n));
		shuffle_merge_table_empty(all);
		KUNIT_EXPECT_EQ(test, all->n, 0U);

		for (i = 0; i < records || few->n; i += taken) {
			n = records - i < 7 ? records - i : 7;
			taken = shuffle_merge_add(few, data + i * SHUFFLE_PAIR_BYTES, n);
			if (taken == n && n)
				continue;
			flushes++;
			KUNIT_ASSERT_TRUE(test, few->n == few->max || !n);
			shuffle_merge_store(part, few->pair, few->n);
			KUNIT_ASSERT_EQ(test, shuffle_merge_add(all, part, few->n), few->n);
			shuffle_merge_table_empty(few);
		}
		SHUFFLE_ASSERT_OK(test, check(oper, raw, records, all->pair, all->n));
	}
	KUNIT_EXPECT_GT(test, flushes, 20U);
}

/* A full table takes what it has the key of, and nothing else. */
static void merge_table__full(struct kunit *test)
{
	static const struct shuffle_pair raw[] = {
		{ 1, 10 }, { 2, 20 }, { 1, 5 }, { 3, 1 }, { 2, 2 }
	};
	struct shuffle_merge_table *t = make_table(test, SHUFFLE_MERGE_SUM, 2);
	u8 *data = to_wire(test, SHUFFLE_MERGE_SUM, raw, ARRAY_SIZE(raw));

	KUNIT_ASSERT_TRUE(test, t && data);
	KUNIT_EXPECT_EQ(test, shuffle_merge_add(t, data, ARRAY_SIZE(raw)), 3U);
	KUNIT_EXPECT_EQ(test, t->n, 2U);
	KUNIT_EXPECT_EQ(test, t->pair[0].value, 15ULL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_add(t, data + 3 * SHUFFLE_PAIR_BYTES, 1), 0U);
	KUNIT_EXPECT_EQ(test, shuffle_merge_add(t, data + 4 * SHUFFLE_PAIR_BYTES, 1), 1U);
	KUNIT_EXPECT_EQ(test, t->pair[1].value, 22ULL);
	KUNIT_EXPECT_EQ(test, shuffle_merge_add(t, data, 0), 0U);
}

/* ---- sorted ---- */

struct merge {
	struct shuffle_merge_sorted	s;
	struct shuffle_merge_stream	stream[STREAMS];
	struct shuffle_merge_node	node[STREAMS];
	const u8			*data[STREAMS];	/* what has not been given */
	u32				left[STREAMS];
};

static void sort_pairs(struct shuffle_pair *pair, u32 n)
{
	struct shuffle_pair x;
	u32 i, j;

	for (i = 1; i < n; i++) {
		x = pair[i];
		for (j = i; j && pair[j - 1].key > x.key; j--)
			pair[j] = pair[j - 1];
		pair[j] = x;
	}
}

/* The next few records of a stream, or its end. */
static void feed(struct merge *m, u32 which, struct shuffle_rnd *rnd)
{
	struct shuffle_merge_stream *stream = &m->stream[which];
	u32 n = shuffle_rnd_in(rnd, 0, 5);

	if (n > m->left[which])
		n = m->left[which];
	stream->data = m->data[which];
	stream->n = n;
	stream->at = 0;
	m->data[which] += n * SHUFFLE_PAIR_BYTES;
	m->left[which] -= n;
	/* the end may come with the last records or after them */
	stream->end = !m->left[which] && (!n || shuffle_rnd_below(rnd, 2));
}

static int merge_all(struct merge *m, struct shuffle_rnd *rnd, u8 *out, u32 *n)
{
	u32 room = 0;
	int rc;

	do {
		if (room < RECORDS)
			room += shuffle_rnd_in(rnd, 1, 9);
		if (room > RECORDS)
			room = RECORDS;
		rc = shuffle_merge_streams(&m->s, out, room, n);
		if (rc == SHUFFLE_MERGE_STARVED)
			feed(m, m->s.which, rnd);
	} while (rc == SHUFFLE_MERGE_STARVED || rc == SHUFFLE_MERGE_FULL);
	return rc;
}

static void merge_streams__random(struct kunit *test)
{
	u8 oper = *(const u8 *)test->param_value;
	struct shuffle_pair *got = kunit_kcalloc(test, RECORDS, sizeof(*got), GFP_KERNEL);
	u8 *out = kunit_kcalloc(test, RECORDS, SHUFFLE_PAIR_BYTES, GFP_KERNEL);
	struct merge *m = kunit_kcalloc(test, 1, sizeof(*m), GFP_KERNEL);
	struct shuffle_rnd rnd = { 2000 + oper };
	u32 round, i, from, to, n;

	KUNIT_ASSERT_TRUE(test, got && out && m);
	for (round = 0; round < 20; round++) {
		u32 records = round < 3 ? round : shuffle_rnd_in(&rnd, 3, RECORDS);
		struct shuffle_pair *raw = random_pairs(test, &rnd, records, KEYS);
		u32 streams = 1 + round % STREAMS;

		memset(m, 0, sizeof(*m));
		shuffle_merge_sorted_init(&m->s, oper, m->stream, m->node, streams);
		for (i = 0, from = 0; i < streams; i++, from = to) {
			to = i + 1 == streams ? records : shuffle_rnd_in(&rnd, from, records);
			sort_pairs(raw + from, to - from);
			m->data[i] = to_wire(test, oper, raw + from, to - from);
			m->left[i] = to - from;
			KUNIT_ASSERT_NOT_NULL(test, m->data[i]);
		}
		n = 0;
		KUNIT_ASSERT_EQ(test, merge_all(m, &rnd, out, &n), SHUFFLE_MERGE_DONE);
		shuffle_merge_load(got, out, n);
		SHUFFLE_ASSERT_OK(test, check(oper, raw, records, got, n));
		for (i = 1; i < n; i++)
			KUNIT_ASSERT_LE(test, got[i - 1].key, got[i].key);
	}
}

/* A record with a smaller key than the one before: among others, and where more is given. */
static void merge_streams__unsorted(struct kunit *test)
{
	static const struct shuffle_pair raw[] = { { 5, 1 }, { 7, 1 }, { 6, 1 }, { 9, 1 } };
	struct merge *m = kunit_kcalloc(test, 1, sizeof(*m), GFP_KERNEL);
	u8 *data = to_wire(test, SHUFFLE_MERGE_SUM, raw, ARRAY_SIZE(raw));
	u8 out[4 * SHUFFLE_PAIR_BYTES];
	u32 first, n;

	KUNIT_ASSERT_TRUE(test, m && data);
	for (first = 1; first <= 4; first++) {
		memset(m, 0, sizeof(*m));
		n = 0;
		shuffle_merge_sorted_init(&m->s, SHUFFLE_MERGE_SUM, m->stream, m->node, 2);
		m->stream[0].end = true;
		m->stream[1].data = data;
		m->stream[1].n = first;
		if (first < 3) {
			KUNIT_ASSERT_EQ(test, shuffle_merge_streams(&m->s, out, 4, &n),
					SHUFFLE_MERGE_STARVED);
			KUNIT_ASSERT_EQ(test, m->s.which, 1U);
			m->stream[1].data += first * SHUFFLE_PAIR_BYTES;
			m->stream[1].n = 4 - first;
			m->stream[1].at = 0;
		}
		KUNIT_EXPECT_EQ(test, shuffle_merge_streams(&m->s, out, 4, &n),
				SHUFFLE_MERGE_UNSORTED);
		KUNIT_EXPECT_EQ(test, m->s.which, 1U);
		/* and it stays so */
		KUNIT_EXPECT_EQ(test, shuffle_merge_streams(&m->s, out, 4, &n),
				SHUFFLE_MERGE_UNSORTED);
		KUNIT_EXPECT_EQ(test, n, 1U);
	}
}

/* Nothing at all, streams that all end at once, and one stream that has all. */
static void merge_streams__empty(struct kunit *test)
{
	static const struct shuffle_pair raw[] = { { 0, 1 }, { 0, 2 }, { U64_MAX, 3 } };
	struct merge *m = kunit_kcalloc(test, 1, sizeof(*m), GFP_KERNEL);
	u8 *data = to_wire(test, SHUFFLE_MERGE_SUM, raw, ARRAY_SIZE(raw));
	u8 out[SHUFFLE_PAIR_BYTES];
	struct shuffle_pair got;
	u32 i, n = 0;

	KUNIT_ASSERT_TRUE(test, m && data);
	shuffle_merge_sorted_init(&m->s, SHUFFLE_MERGE_SUM, m->stream, m->node, 0);
	KUNIT_EXPECT_EQ(test, shuffle_merge_streams(&m->s, out, 1, &n), SHUFFLE_MERGE_DONE);
	shuffle_merge_sorted_init(&m->s, SHUFFLE_MERGE_SUM, m->stream, m->node, 3);
	KUNIT_EXPECT_EQ(test, shuffle_merge_streams(&m->s, out, 1, &n), SHUFFLE_MERGE_STARVED);
	for (i = 0; i < 3; i++)
		m->stream[i].end = true;
	m->stream[2].data = data;
	m->stream[2].n = ARRAY_SIZE(raw);
	KUNIT_EXPECT_EQ(test, shuffle_merge_streams(&m->s, out, 1, &n), SHUFFLE_MERGE_FULL);
	KUNIT_EXPECT_EQ(test, n, 1U);
	shuffle_merge_load(&got, out, 1);
	KUNIT_EXPECT_EQ(test, got.value, 3ULL);
	n = 0;
	KUNIT_EXPECT_EQ(test, shuffle_merge_streams(&m->s, out, 1, &n), SHUFFLE_MERGE_DONE);
	KUNIT_EXPECT_EQ(test, n, 1U);
	shuffle_merge_load(&got, out, 1);
	KUNIT_EXPECT_EQ(test, got.key, (u64)U64_MAX);
	n = 0;
	KUNIT_EXPECT_EQ(test, shuffle_merge_streams(&m->s, out, 1, &n), SHUFFLE_MERGE_DONE);
	KUNIT_EXPECT_EQ(test, n, 0U);
}

static struct kunit_case merge_cases[] = {
	KUNIT_CASE(merge_values__bounds),
	KUNIT_CASE(merge_wire__big_endian),
	KUNIT_CASE(merge_table__refused),
	KUNIT_CASE_PARAM(merge_table__random, oper_gen_params),
	KUNIT_CASE(merge_table__full),
	KUNIT_CASE_PARAM(merge_streams__random, oper_gen_params),
	KUNIT_CASE(merge_streams__unsorted),
	KUNIT_CASE(merge_streams__empty),
	{}
};

struct kunit_suite shuffle_merge_suite = {
	.name = "shuffle_merge",
	.test_cases = merge_cases,
};
