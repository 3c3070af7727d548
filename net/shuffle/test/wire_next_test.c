// SPDX-License-Identifier: GPL-2.0-only
/* Records behind one another in a super-packet: the short ways to compare and to make them. */
#include "harness.h"
#include "wire_record.h"

/* shuffle_wire_follows() for a record that has to begin at @off of the message of @like */
static u16 follows(const u8 *p, size_t left, const u8 *like, u64 off)
{
	struct shuffle_wire_next next;
	u8 before[SHUFFLE_WIRE_MAX_HDR];

	memcpy(before, like, sizeof(before));
	shuffle_wire_place(before, off - 10, 10);
	shuffle_wire_next_init(&next, before);
	return shuffle_wire_follows(p, left, like, 40, &next);
}

/* shuffle_wire_same() for a record that has to begin at @off of the message of @like */
static bool same_at(const u8 *p, const u8 *like, u64 off)
{
	u8 there[SHUFFLE_WIRE_MAX_HDR];

	memcpy(there, like, sizeof(there));
	shuffle_wire_place(there, off, shuffle_get16(like + 26));
	return shuffle_wire_same(p, like, shuffle_wire_place_of(there));
}

/* Any bit of a header changed: the short ways say what parsing says. */
static void wire_follows__each_bit(struct kunit *test)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA, .src_rank = 1, .dst_rank = 2, .dst_port = 3,
		.payload = 100, .op_id = 4, .nonce = 5, .unsched = 6400, .data.len = 1000,
		.data.off = 800,
	};
	u8 like[SHUFFLE_WIRE_MAX_HDR], p[SHUFFLE_WIRE_MAX_HDR];
	u32 i, bit, alike = 0;

	put(like, &w);
	for (i = 0; i < 40; i++) {
		for (bit = 0; bit < 8; bit++) {
			struct shuffle_wire full;
			u16 expect = 0;

			memcpy(p, like, sizeof(p));
			p[i] ^= (u8)(1 << bit);
			if (shuffle_wire_parse(p, 40, 200, &full) == 40) {
				u16 payload = full.payload;

				full.payload = w.payload;
				expect = same(&full, &w) ? payload : 0;
			}
			alike += !!expect;
			KUNIT_EXPECT_EQ(test, follows(p, 200, like, 800), expect);
			KUNIT_EXPECT_EQ(test, follows(p, 200, like, 700), 0);
			KUNIT_EXPECT_FALSE(test, same_at(p, like, 800));
			KUNIT_EXPECT_FALSE(test, same_at(p, like, 700));
		}
	}
	KUNIT_EXPECT_TRUE(test, same_at(like, like, 800));
	/* lengths that differ in a bit from 100 and are not above 160 */
	KUNIT_EXPECT_EQ(test, alike, 7U);
}

static void wire_follows__bounds(struct kunit *test)
{
	struct shuffle_wire w = { .type = SHUFFLE_DATA, .nonce = 1, .payload = 10,
		.data.len = 100 };
	u8 like[SHUFFLE_WIRE_MAX_HDR], p[SHUFFLE_WIRE_MAX_HDR];

	put(like, &w);
	w.data.off = 90;
	put(p, &w);
	KUNIT_EXPECT_EQ(test, follows(p, 50, like, 90), 10);
	KUNIT_EXPECT_EQ(test, follows(p, 51, like, 90), 10);
	KUNIT_EXPECT_EQ(test, follows(p, 49, like, 90), 0);
	KUNIT_EXPECT_EQ(test, follows(p, 40, like, 90), 0);
	w.data.off = 91;
	put(p, &w);
	KUNIT_EXPECT_EQ(test, follows(p, 50, like, 91), 0);
	w.data.off = 100;
	put(p, &w);
	KUNIT_EXPECT_EQ(test, follows(p, 50, like, 100), 0);
	w.data.off = 101;
	put(p, &w);
	KUNIT_EXPECT_EQ(test, follows(p, 50, like, 101), 0);
	w.data.off = 20;
	w.payload = 0;
	put(p, &w);
	KUNIT_EXPECT_EQ(test, follows(p, 50, like, 20), 0);
}

/* Each record moves on where the next has to begin. */
static void wire_follows__to_the_end(struct kunit *test)
{
	struct shuffle_wire w = { .type = SHUFFLE_DATA, .nonce = 1, .payload = 1000,
		.data.len = 0x123456789ULL, .data.off = 0x123456789ULL - 3500 };
	u8 like[SHUFFLE_WIRE_MAX_HDR], p[SHUFFLE_WIRE_MAX_HDR];
	struct shuffle_wire_next next;
	u32 i;

	put(like, &w);
	shuffle_wire_next_init(&next, like);
	for (i = 0; i < 2; i++) {
		w.data.off += 1000;
		put(p, &w);
		KUNIT_EXPECT_EQ(test, shuffle_wire_follows(p, 2000, like, 40, &next), 1000);
		/* it does not begin there any more */
		KUNIT_EXPECT_EQ(test, shuffle_wire_follows(p, 2000, like, 40, &next), 0);
	}
	w.data.off += 1000;
	put(p, &w);
	KUNIT_EXPECT_EQ(test, shuffle_wire_follows(p, 2000, like, 40, &next), 0);
	w.payload = 500;
	put(p, &w);
	KUNIT_EXPECT_EQ(test, shuffle_wire_follows(p, 2000, like, 40, &next), 500);
	KUNIT_EXPECT_EQ(test, next.rest, 0ULL);
}

/* A header made of another is the one that is built. */
static void wire_place__is_build(struct kunit *test)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA, .src_rank = 1, .dst_rank = 2, .dst_port = 3,
		.op_id = 4, .nonce = 5, .unsched = 6400, .data.len = 1ULL << 40,
	};
	u8 p[SHUFFLE_WIRE_MAX_HDR], built[SHUFFLE_WIRE_MAX_HDR], next[SHUFFLE_WIRE_MAX_HDR];

	put(p, &w);
	w.data.off = (1ULL << 40) - 0x1234;
	w.payload = 0x1234;
	put(built, &w);
	shuffle_wire_place(p, w.data.off, w.payload);
	KUNIT_EXPECT_EQ(test, memcmp(p, built, sizeof(p)), 0);

	/* and the one that is behind it */
	w.payload = 0x234;
	w.data.off += 0x234;
	put(built, &w);
	shuffle_wire_place(p, w.data.off - 0x234, 0x234);
	shuffle_wire_copy(next, p, shuffle_wire_place_of(p) + 0x234);
	KUNIT_EXPECT_EQ(test, memcmp(next, built, SHUFFLE_WIRE_DATA_HDR), 0);
}

static struct kunit_case wire_next_cases[] = {
	KUNIT_CASE(wire_follows__each_bit),
	KUNIT_CASE(wire_follows__bounds),
	KUNIT_CASE(wire_follows__to_the_end),
	KUNIT_CASE(wire_place__is_build),
	{}
};

struct kunit_suite shuffle_wire_next_suite = {
	.name = "shuffle_wire_next",
	.test_cases = wire_next_cases,
};
