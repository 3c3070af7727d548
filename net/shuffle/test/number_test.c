// SPDX-License-Identifier: GPL-2.0-only
/* Numbers that do not fit. */
#include "harness.h"

struct mul_div_row {
	u64	a;
	u32	mul;
	u32	div;
	u64	want;
};

static const struct mul_div_row mul_div_rows[] = {
	{ 0, 0, 1, 0 },
	{ 0, U32_MAX, 1, 0 },
	{ 7, 3, 2, 10 },
	{ U64_MAX, 1, 1, U64_MAX },
	{ U64_MAX, 0, 1, 0 },
	{ U64_MAX, 2, 2, U64_MAX },
	{ U64_MAX, U32_MAX, U32_MAX, U64_MAX },
	{ U64_MAX, 1, U32_MAX, 0x100000001 },
	{ U64_MAX, 8000, 8001, 0xfff7cf1c303ffdf2 },
	/* one more than fits, and what just does */
	{ U64_MAX, 8001, 8000, U64_MAX },
	{ 1ULL << 63, 2, 1, U64_MAX },
	{ (1ULL << 63) - 1, 2, 1, U64_MAX - 1 },
	{ 1ULL << 32, U32_MAX, 1, (u64)U32_MAX << 32 },
	{ U64_MAX, U32_MAX, 1, U64_MAX },
	/* a lower bound: three messages of 2^50 bytes at 1 Mb/s, and at 1 Gb/s */
	{ 3ULL << 50, 8000, 1, U64_MAX },
	{ 3ULL << 50, 8000, 1000, 3ULL << 53 },
	{ 4095ULL << 50, 8000, 1000, U64_MAX },
	{ 5, 5, 0, U64_MAX },
};

static void mul_div_desc(const struct mul_div_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu * %u / %u", (unsigned long long)t->a, t->mul,
		 t->div);
}

KUNIT_ARRAY_PARAM(mul_div, mul_div_rows, mul_div_desc);

static void mul_div__table(struct kunit *test)
{
	const struct mul_div_row *t = test->param_value;

	KUNIT_EXPECT_EQ(test, shuffle_mul_div(t->a, t->mul, t->div), t->want);
}

/* Where the product fits it is known. */
static void mul_div__random(struct kunit *test)
{
	struct shuffle_rnd rnd = { .x = 1 };
	u32 i, mul, div;
	u64 a;

	for (i = 0; i < 10000; i++) {
		a = shuffle_rnd64(&rnd) >> 32 >> shuffle_rnd_below(&rnd, 32);
		mul = (u32)(shuffle_rnd64(&rnd) >> 32);
		div = shuffle_rnd_in(&rnd, 1, U32_MAX - 1) >> shuffle_rnd_below(&rnd, 31);
		div += !div;
		KUNIT_EXPECT_EQ(test, shuffle_mul_div(a, mul, div), shuffle_div64(a * mul, div));
	}
}

static void add__saturates(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, shuffle_add(1, 2), 3ULL);
	KUNIT_EXPECT_EQ(test, shuffle_add(U64_MAX - 1, 1), U64_MAX);
	KUNIT_EXPECT_EQ(test, shuffle_add(U64_MAX, 1), U64_MAX);
	KUNIT_EXPECT_EQ(test, shuffle_add(1, U64_MAX), U64_MAX);
	KUNIT_EXPECT_EQ(test, shuffle_add(U64_MAX, U64_MAX), U64_MAX);
}

static struct kunit_case number_cases[] = {
	KUNIT_CASE_PARAM(mul_div__table, mul_div_gen_params),
	KUNIT_CASE(mul_div__random),
	KUNIT_CASE(add__saturates),
	{}
};

struct kunit_suite shuffle_number_suite = {
	.name = "shuffle_number",
	.test_cases = number_cases,
};
