// SPDX-License-Identifier: GPL-2.0-only
/* Data of collectives: items that are combined. */
#include "harness.h"
#include "../coll/combine.h"

struct combine_row {
	u8	oper;
	u8	type;
	u64	a;
	u64	b;
	u64	want;
};

#define ROW(oper, type, a, b, want)	{ SHUFFLE_COLL_##oper, SHUFFLE_COLL_##type, a, b, want }

static const struct combine_row combine_rows[] = {
	ROW(SUM, U8, 200, 100, 44),
	ROW(SUM, S8, 0x7f, 1, 0x80),
	ROW(SUM, U16, 0xffff, 2, 1),
	ROW(SUM, U32, U32_MAX, U32_MAX, 0xfffffffe),
	ROW(SUM, U64, U64_MAX, 3, 2),
	ROW(SUM, S64, (u64)-5, 3, (u64)-2),
	ROW(MIN, U8, 0x80, 0x7f, 0x7f),
	ROW(MIN, S8, 0x80, 0x7f, 0x80),
	ROW(MAX, U8, 0x80, 0x7f, 0x80),
	ROW(MAX, S8, 0x80, 0x7f, 0x7f),
	ROW(MIN, S16, 0xffff, 0, 0xffff),
	ROW(MAX, U16, 0xffff, 0, 0xffff),
	ROW(MAX, S16, 0xffff, 0, 0),
	ROW(MIN, S32, 0x80000000, 0x7fffffff, 0x80000000),
	ROW(MAX, U32, 0x80000000, 0x7fffffff, 0x80000000),
	ROW(MIN, S64, 1ULL << 63, 1, 1ULL << 63),
	ROW(MAX, S64, 1ULL << 63, 1, 1),
	ROW(MIN, U64, 1ULL << 63, 1, 1),
	ROW(AND, U8, 0xf3, 0x3f, 0x33),
	ROW(OR, U16, 0xf000, 0x000f, 0xf00f),
	ROW(XOR, U32, 0xffffffff, 0x0f0f0f0f, 0xf0f0f0f0),
	ROW(XOR, S64, U64_MAX, 1, U64_MAX - 1),
	/* 1.5 and -2; -1.5 and -2; -0 and 0; a NaN and infinity; a NaN with sign and -infinity */
	ROW(MIN, F32, 0x3fc00000, 0xc0000000, 0xc0000000),
	ROW(MAX, F32, 0xbfc00000, 0xc0000000, 0xbfc00000),
	ROW(MIN, F32, 0x80000000, 0, 0x80000000),
	ROW(MAX, F32, 0x80000000, 0, 0),
	ROW(MAX, F32, 0x7fc00000, 0x7f800000, 0x7fc00000),
	ROW(MIN, F32, 0xffc00000, 0xff800000, 0xffc00000),
	ROW(MIN, F64, 0x3ff8000000000000ULL, 0xc000000000000000ULL, 0xc000000000000000ULL),
	ROW(MAX, F64, 0xbff8000000000000ULL, 0xc000000000000000ULL, 0xbff8000000000000ULL),
	ROW(MIN, F64, 0x3ff8000000000000ULL, 0x4000000000000000ULL, 0x3ff8000000000000ULL),
};

static void combine_desc(const struct combine_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "operator %u, type %u, %llx %llx", t->oper, t->type,
		 (unsigned long long)t->a, (unsigned long long)t->b);
}

KUNIT_ARRAY_PARAM(combine, combine_rows, combine_desc);

/* An item of this machine's byte order, as the low bytes of a number. */
static void put_item(u8 *p, u32 item, u64 x)
{
	u8 x8 = (u8)x;
	u16 x16 = (u16)x;
	u32 x32 = (u32)x;

	memcpy(p, item == 1 ? (void *)&x8 : item == 2 ? (void *)&x16 : item == 4 ? (void *)&x32 :
	       (void *)&x, item);
}

/* Three items at odd places, and nothing beside them. */
static void combine__table(struct kunit *test)
{
	const struct combine_row *t = test->param_value;
	u32 item = shuffle_coll_item(t->type), i;
	u8 into[40], in[40], want[40];

	memset(into, 0xee, sizeof(into));
	memset(want, 0xee, sizeof(want));
	for (i = 0; i < 3; i++) {
		put_item(into + 3 + i * item, item, t->a);
		put_item(in + 1 + i * item, item, t->b);
		put_item(want + 3 + i * item, item, t->want);
	}
	shuffle_coll_combine(t->oper, t->type, into + 3, in + 1, 3 * item);
	KUNIT_EXPECT_EQ(test, memcmp(into, want, sizeof(want)), 0);
}

/* Value and index of pairs: two, and what becomes of them in either order. */
static void combine__pairs(struct kunit *test)
{
	static const struct {
		u8	oper;
		int	a[2], b[2], want[2];
	} rows[] = {
		{ SHUFFLE_COLL_MINLOC, { 5, 0 }, { 4, 9 }, { 4, 9 } },
		{ SHUFFLE_COLL_MAXLOC, { 5, 0 }, { 4, 9 }, { 5, 0 } },
		{ SHUFFLE_COLL_MINLOC, { -5, 7 }, { 4, 1 }, { -5, 7 } },
		{ SHUFFLE_COLL_MAXLOC, { -5, 7 }, { -6, 1 }, { -5, 7 } },
		{ SHUFFLE_COLL_MINLOC, { 4, 7 }, { 4, 1 }, { 4, 1 } },
		{ SHUFFLE_COLL_MAXLOC, { 4, 7 }, { 4, -1 }, { 4, -1 } },
	};
	u32 i, order, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (order = 0; order < 2; order++) {
			const int *a = order ? rows[i].b : rows[i].a;
			const int *b = order ? rows[i].a : rows[i].b;
			long long x[2] = { a[0], a[1] }, y[2] = { b[0], b[1] };
			int small[2] = { a[0], a[1] };

			shuffle_coll_combine(rows[i].oper, SHUFFLE_COLL_PAIR32, small, b, 8);
			shuffle_coll_combine(rows[i].oper, SHUFFLE_COLL_PAIR64, x, y, 16);
			for (k = 0; k < 2; k++) {
				KUNIT_EXPECT_EQ(test, small[k], rows[i].want[k]);
				KUNIT_EXPECT_EQ(test, x[k], (long long)rows[i].want[k]);
			}
		}
	}
}

/* What travels, and back again. */
static void combine__turn(struct kunit *test)
{
	static const u8 wire[] = {
		8, 7, 6, 5, 4, 3, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11
	};
	u64 x[] = { 0x0102030405060708, 0x1112131415161718 }, y[] = { x[0], x[1] };
	u32 half[] = { 0x05060708, 0x01020304, 0x15161718, 0x11121314 };
	u16 small[] = { 0x0708, 0x0506, 0x0304 };

	shuffle_coll_turn(SHUFFLE_COLL_PAIR64, x, sizeof(x));
	KUNIT_EXPECT_EQ(test, memcmp(x, wire, sizeof(x)), 0);
	shuffle_coll_turn(SHUFFLE_COLL_F64, x, sizeof(x));
	KUNIT_EXPECT_EQ(test, memcmp(x, y, sizeof(x)), 0);
	shuffle_coll_turn(SHUFFLE_COLL_PAIR32, half, sizeof(half));
	KUNIT_EXPECT_EQ(test, memcmp(half, wire, sizeof(half)), 0);
	shuffle_coll_turn(SHUFFLE_COLL_S16, small, sizeof(small));
	KUNIT_EXPECT_EQ(test, memcmp(small, wire, sizeof(small)), 0);
	shuffle_coll_turn(SHUFFLE_COLL_U8, y, sizeof(y));
	KUNIT_EXPECT_EQ(test, y[0], 0x0102030405060708);
}

static void combine__possible(struct kunit *test)
{
	u32 oper, type;

	for (oper = 0; oper < 256; oper++)
		for (type = 0; type < 256; type++)
			KUNIT_EXPECT_EQ(test, shuffle_coll_can_combine((u8)oper, (u8)type),
					(oper >= 1 && oper <= 6 && type < 8) ||
					((oper == 2 || oper == 3) && (type == 8 || type == 9)) ||
					((oper == 7 || oper == 8) && (type == 10 || type == 11)));
}

static struct kunit_case coll_cases[] = {
	KUNIT_CASE_PARAM(combine__table, combine_gen_params),
	KUNIT_CASE(combine__pairs),
	KUNIT_CASE(combine__turn),
	KUNIT_CASE(combine__possible),
	{}
};

struct kunit_suite shuffle_coll_suite = {
	.name = "shuffle_coll",
	.test_cases = coll_cases,
};
