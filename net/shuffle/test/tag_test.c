// SPDX-License-Identifier: GPL-2.0-only
/* Tags: SipHash is SipHash, and no field of a record can change without its tag. */
#include "harness.h"
#include "../sched/tag.h"

static void tag_siphash__reference(struct kunit *test)
{
	/* the first numbers as input, as in SipHash's reference program */
	static const struct {
		u32 len;
		u64 hash[2];
	} vectors[] = {
		{ 0, { 0xe6a825ba047f81a3ULL, 0x930255c71472f66dULL } },
		{ 8, { 0x61f55862baa9623bULL, 0xb49714f364e2830fULL } },
		{ 15, { 0x11a8b03399e99354ULL, 0xd9c3cf970fec087eULL } },
	};
	struct shuffle_key key;
	u8 bytes[16];
	u64 hash[2];
	u32 i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)i;
	shuffle_key_read(&key, bytes);
	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		shuffle_siphash(&key, bytes, vectors[i].len, hash);
		KUNIT_EXPECT_EQ(test, hash[0], vectors[i].hash[0]);
		KUNIT_EXPECT_EQ(test, hash[1], vectors[i].hash[1]);
	}
}

static struct shuffle_wire sample(u8 type)
{
	if (type == SHUFFLE_ABORT)
		return (struct shuffle_wire) {
			.type = type, .flags = SHUFFLE_FLAG_TAG, .src_rank = 1, .dst_rank = 2,
			.src_port = 6, .dst_port = 3, .op_id = 4, .nonce = 5,
			.blame = { .reason = 6, .ranks = 7, .rank = { 8, 9, 10, 11 } },
		};
	return (struct shuffle_wire) {
		.type = type, .flags = SHUFFLE_FLAG_TAG, .src_rank = 1, .dst_rank = 2,
		.src_port = 6, .dst_port = 3, .op_id = 4, .nonce = 5,
		.data.len = type == SHUFFLE_ACK ? 0 : 100000,
		.data.off = type == SHUFFLE_ACK ? 0 : 1432,
		.payload = type == SHUFFLE_DATA ? 1432 : 0,
		.unsched = type == SHUFFLE_DATA ? 64000 : 0,
	};
}

/* any bit of any header changed, and the tag is another one */
static void tag_covers__each_bit(struct kunit *test)
{
	struct shuffle_key key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };
	u8 type;

	for (type = SHUFFLE_DATA; type <= SHUFFLE_ABORT; type++) {
		struct shuffle_wire w = sample(type), changed;
		u8 good[SHUFFLE_WIRE_MAX_HDR], p[SHUFFLE_WIRE_MAX_HDR];
		u32 hdr, i, seen = 0;

		if (type > SHUFFLE_RESEND && type < SHUFFLE_ABORT)
			continue;
		w.tag = shuffle_tag(&key, &w);
		hdr = shuffle_wire_build(good, &w);
		for (i = 0; i < 8 * (hdr - SHUFFLE_WIRE_TAG); i++) {
			memcpy(p, good, sizeof(p));
			p[i / 8] ^= (u8)(1 << i % 8);
			if (shuffle_wire_parse(p, hdr, 70000, &changed) < 0)
				continue;
			seen++;
			if (changed.flags & SHUFFLE_FLAG_TAG)
				KUNIT_EXPECT_NE(test, shuffle_tag(&key, &changed), w.tag);
		}
		KUNIT_EXPECT_GT(test, seen, 150U);
		key.k[1]++;
		KUNIT_EXPECT_NE(test, shuffle_tag(&key, &w), w.tag);
	}
}

/* a run's records, one by one, as its sender and its receiver make them */
static void tag_data__places(struct kunit *test)
{
	struct shuffle_key key = { { 1, 2 } };
	struct shuffle_wire w = sample(SHUFFLE_DATA);
	struct shuffle_data_tag t, other;
	u64 off;

	shuffle_data_tag_init(&t, &key, &w);
	for (off = 0; off < 50000; off += 1432) {
		w.data.off = off;
		w.payload = 1432;
		shuffle_data_tag_init(&other, &key, &w);
		KUNIT_EXPECT_EQ(test, shuffle_tag(&key, &w), shuffle_data_tag(&t, off, 1432));
		KUNIT_EXPECT_EQ(test, other.base, t.base);
		KUNIT_EXPECT_NE(test, shuffle_data_tag(&t, off, 1431),
				shuffle_data_tag(&t, off, 1432));
		KUNIT_EXPECT_EQ(test, shuffle_data_tag(&t, off, 1432) +
				      shuffle_data_tag_step(&t, 1432),
				shuffle_data_tag(&t, off + 1432, 1432));
	}
	w.nonce++;
	shuffle_data_tag_init(&other, &key, &w);
	KUNIT_EXPECT_NE(test, other.base, t.base);
	KUNIT_EXPECT_NE(test, other.mul, t.mul);
	KUNIT_EXPECT_EQ(test, other.mul & 1, 1ULL);
}

static struct kunit_case tag_cases[] = {
	KUNIT_CASE(tag_siphash__reference),
	KUNIT_CASE(tag_covers__each_bit),
	KUNIT_CASE(tag_data__places),
	{}
};

struct kunit_suite shuffle_tag_suite = {
	.name = "shuffle_tag",
	.test_cases = tag_cases,
};
