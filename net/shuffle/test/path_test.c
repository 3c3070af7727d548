// SPDX-License-Identifier: GPL-2.0-only
/* Ways in packets: Bloom filters, and the record that carries one. */
#include "harness.h"
#include "../sched/wire.h"

static void path_bloom__keeps(struct kunit *test)
{
	struct shuffle_bloom f;
	u32 i, wrong = 0;

	shuffle_bloom_begin(&f, 1024, 8, 3);
	KUNIT_EXPECT_FALSE(test, shuffle_bloom_has(&f, 1, 2));
	for (i = 0; i < 64; i++)
		shuffle_bloom_add(&f, i, i + 1);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_TRUE(test, shuffle_bloom_has(&f, i, i + 1));
	/* (1 - e^(-8 * 64 / 1024))^8 = 0.06 % of others */
	for (i = 0; i < 100000; i++)
		wrong += shuffle_bloom_has(&f, i + 1, i);
	KUNIT_EXPECT_LT(test, wrong, 200U);
	/* another salt has other bits */
	f.salt = 4;
	wrong = 0;
	for (i = 0; i < 64; i++)
		wrong += shuffle_bloom_has(&f, i, i + 1);
	KUNIT_EXPECT_LT(test, wrong, 4U);
}

static void path_bloom__bounds(struct kunit *test)
{
	static const u16 bits[] = { 1, 63, 64, 65, 1024 };
	struct shuffle_bloom f;
	u32 i, k;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		memset(&f, 0, sizeof(f));
		shuffle_bloom_begin(&f, bits[i], SHUFFLE_BLOOM_HASHES, 255);
		for (k = 0; k < 2000; k++)
			shuffle_bloom_add(&f, U32_MAX - k, k);
		/* all its bits, and none behind them */
		for (k = 0; k < SHUFFLE_BLOOM_BITS; k++)
			KUNIT_ASSERT_EQ(test, (u32)(f.word[k / 64] >> k % 64 & 1), k < bits[i]);
	}
	KUNIT_EXPECT_EQ(test, shuffle_bloom_words(1), 1U);
	KUNIT_EXPECT_EQ(test, shuffle_bloom_words(64), 1U);
	KUNIT_EXPECT_EQ(test, shuffle_bloom_words(65), 2U);
}

static struct shuffle_wire_path random_path(struct shuffle_rnd *r)
{
	struct shuffle_wire_path path = { .v6 = shuffle_rnd_below(r, 2) };
	u32 i;

	path.filter.bits = (u16)shuffle_rnd_in(r, 1, SHUFFLE_BLOOM_BITS);
	path.filter.hashes = (u8)shuffle_rnd_in(r, 1, SHUFFLE_BLOOM_HASHES);
	path.filter.salt = (u8)shuffle_rnd64(r);
	for (i = 0; i < (path.v6 ? 16 : 4); i++) {
		path.from[i] = (u8)shuffle_rnd64(r);
		path.to[i] = (u8)shuffle_rnd64(r);
	}
	for (i = 0; i < shuffle_bloom_words(path.filter.bits); i++)
		path.filter.word[i] = shuffle_rnd64(r);
	return path;
}

static void path_record__round_trip(struct kunit *test)
{
	struct shuffle_wire_path path, again;
	u8 p[SHUFFLE_WIRE_MAX_PATH + 1];
	struct shuffle_rnd rnd = { 5 };
	unsigned int len, cut;
	u32 i;

	for (i = 0; i < 500; i++) {
		path = random_path(&rnd);
		memset(p, 0xa5, sizeof(p));
		len = shuffle_wire_path_build(p, &path);
		KUNIT_ASSERT_EQ(test, len, shuffle_wire_path_len(path.v6, path.filter.bits));
		KUNIT_ASSERT_LE(test, len, SHUFFLE_WIRE_MAX_PATH);
		KUNIT_ASSERT_EQ(test, p[len], 0xa5);
		KUNIT_ASSERT_TRUE(test, shuffle_wire_is_path(p[0]));
		memset(&again, 0x5a, sizeof(again));
		KUNIT_ASSERT_EQ(test, shuffle_wire_path_parse(p, len, &again), (int)len);
		KUNIT_ASSERT_EQ(test, memcmp(&path.filter, &again.filter, sizeof(path.filter)), 0);
		KUNIT_ASSERT_EQ(test, memcmp(path.from, again.from, 16), 0);
		KUNIT_ASSERT_EQ(test, memcmp(path.to, again.to, 16), 0);
		KUNIT_ASSERT_EQ(test, path.v6, again.v6);
		for (cut = 1; cut < len; cut++)
			KUNIT_ASSERT_EQ(test, shuffle_wire_path_parse(p, cut, &again), -EBADMSG);
	}
}

static void path_record__refused(struct kunit *test)
{
	struct shuffle_rnd rnd = { 6 };
	struct shuffle_wire_path path = random_path(&rnd), again;
	static const struct { u8 at, value; } wrong[] = {
		{ 1, 2 }, { 1, 0x80 }, { 2, 0 }, { 2, SHUFFLE_BLOOM_HASHES + 1 }, { 2, 255 },
		{ 4, 5 }, { 4, 255 }, { 6, 1 }, { 7, 1 },
	};
	u8 p[SHUFFLE_WIRE_MAX_PATH], q[SHUFFLE_WIRE_MAX_PATH];
	struct shuffle_wire w;
	u32 i;

	path.filter.bits = 64;
	shuffle_wire_path_build(p, &path);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(q, p, sizeof(q));
		q[wrong[i].at] = wrong[i].value;
		KUNIT_EXPECT_EQ(test, shuffle_wire_path_parse(q, sizeof(q), &again), -EBADMSG);
	}
	/* no bits */
	memcpy(q, p, sizeof(q));
	q[5] = 0;
	KUNIT_EXPECT_EQ(test, shuffle_wire_path_parse(q, sizeof(q), &again), -EBADMSG);
	/* it is no record of a member, wherever it stands */
	KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, sizeof(p), sizeof(p), &w), -EBADMSG);
	KUNIT_EXPECT_FALSE(test, shuffle_wire_is_path(SHUFFLE_WIRE_VERSION << 4 | SHUFFLE_DATA));
	KUNIT_EXPECT_FALSE(test, shuffle_wire_is_path(1 << 4 | SHUFFLE_PATH));
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(path_bloom__keeps),
	KUNIT_CASE(path_bloom__bounds),
	KUNIT_CASE(path_record__round_trip),
	KUNIT_CASE(path_record__refused),
	{}
};

struct kunit_suite shuffle_path_suite = {
	.name = "shuffle_path",
	.test_cases = path_cases,
};
