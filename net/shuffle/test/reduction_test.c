// SPDX-License-Identifier: GPL-2.0-only
/* A message that takes in all that come: what is combined when, and what may leave. */
#include "fake.h"
#include "../coll/combine.h"

/* Of four members, of which we are the last one; from 1 and 2 something comes. */
#define TO	0
#define LEN	20000U

static struct {
	struct shuffle_absent	head;
	u64			bits;
} absent = { { .size = sizeof(absent.head), .words = 1 }, 0 };

static void start_with(u8 oper, u8 type, u64 absent_bits)
{
	struct kunit *test = fake->test;
	struct shuffle_reduction *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->size = sizeof(*r);
	r->to = TO;
	r->oper = oper;
	r->type = type;
	fake->reduction = r;
	absent.bits = absent_bits;
	fake->absent = &absent.head;
	fake->unsched = LEN;
	fake_start(4, 0);
}

static void start(u8 oper, u8 type)
{
	start_with(oper, type, 0x9);
}

static u64 ready(void)
{
	return fake->op->ptx.msg[TO].limit;
}

static void arrive(u32 rank, u64 from, u64 to)
{
	for (; from < to; from += FAKE_PAYLOAD)
		fake_rx(rank, LEN, from, min_t(u64, to - from, FAKE_PAYLOAD));
}

/* Is the message our bytes combined with those of the members, as far as these have come? */
static bool is_combined(u64 one, u64 two)
{
	u8 oper = fake->reduction->oper, type = fake->reduction->type;
	u8 *ours = kvmalloc(3 * LEN, GFP_KERNEL), *theirs = ours + LEN, *seen = theirs + LEN;
	bool same;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(fake->test, ours);
	for (i = 0; i < LEN; i++) {
		ours[i] = 3 * i;
		theirs[i] = i % 251;
	}
	shuffle_coll_combine(oper, type, ours, theirs, one);
	shuffle_coll_combine(oper, type, ours, theirs, two);
	fake_reduced(seen, LEN);
	same = !memcmp(ours, seen, LEN);
	kvfree(ours);
	return same;
}

/* Whole packets with which all have been combined may leave; what comes twice is taken in once. */
static void reduction__in_order(struct kunit *test)
{
	start(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U8);
	fake_reduce(LEN, FAKE_PAYLOAD);
	fake_reduce_start();
	KUNIT_EXPECT_EQ(test, ready(), 0ULL);
	arrive(1, 0, 4500);
	KUNIT_EXPECT_EQ(test, ready(), 0ULL);
	KUNIT_EXPECT_TRUE(test, is_combined(4500, 0));
	arrive(2, 0, 2000);
	KUNIT_EXPECT_EQ(test, ready(), 2000ULL);
	arrive(2, 0, 2000);
	KUNIT_EXPECT_TRUE(test, is_combined(4500, 2000));
	/* behind a gap */
	arrive(2, 3000, LEN);
	KUNIT_EXPECT_EQ(test, ready(), 2000ULL);
	KUNIT_EXPECT_TRUE(test, is_combined(4500, 2000));
	arrive(2, 2000, 3000);
	KUNIT_EXPECT_EQ(test, ready(), 4000ULL);
	KUNIT_EXPECT_TRUE(test, is_combined(4500, LEN));
	arrive(1, 4500, LEN);
	KUNIT_EXPECT_EQ(test, ready(), (u64)LEN);
	KUNIT_EXPECT_TRUE(test, is_combined(LEN, LEN));
	FAKE_COUNTED(test, ReduceBytes, 2 * LEN);
	/* nothing is the reader's, and nothing is kept */
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->ssk.ready));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->ssk.sk.sk_rmem_alloc), 0);
}

/* What has come before our row waits for all of it. */
static void reduction__early(struct kunit *test)
{
	start(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U8);
	arrive(1, 0, LEN);
	arrive(2, 0, LEN);
	fake_reduce(LEN, FAKE_PAYLOAD);
	KUNIT_EXPECT_EQ(test, ready(), 0ULL);
	KUNIT_EXPECT_TRUE(test, is_combined(0, 0));
	fake_reduce_start();
	/* not too long at once */
	KUNIT_EXPECT_LT(test, ready(), (u64)LEN);
	fake_advance(NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, ready(), (u64)LEN);
	KUNIT_EXPECT_TRUE(test, is_combined(LEN, LEN));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->ssk.sk.sk_rmem_alloc), 0);
}

/* Items that lie over the ends of packets, theirs and ours. */
static void reduction__split_items(struct kunit *test)
{
	u32 pkt;

	start(SHUFFLE_COLL_MINLOC, SHUFFLE_COLL_PAIR64);
	pkt = 1001;
	fake_reduce(LEN, pkt);
	fake_reduce_start();
	arrive(2, 0, LEN);
	KUNIT_EXPECT_TRUE(test, is_combined(0, LEN));
	arrive(1, 0, 3000);
	/* 187 items, in two packets of ours */
	KUNIT_EXPECT_TRUE(test, is_combined(2992, LEN));
	KUNIT_EXPECT_EQ(test, ready(), 2ULL * pkt);
	arrive(1, 3000, LEN);
	fake_advance(NSEC_PER_MSEC);
	KUNIT_EXPECT_TRUE(test, is_combined(LEN, LEN));
	KUNIT_EXPECT_EQ(test, ready(), (u64)LEN);
}

/* A message of another length: the operation fails, whichever was known first. */
static void reduction__other_length(struct kunit *test)
{
	start(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U8);
	fake_reduce(LEN, FAKE_PAYLOAD);
	fake_reduce_start();
	fake_rx(1, LEN - 1, 0, FAKE_PAYLOAD);
	KUNIT_EXPECT_EQ(test, fake->op->error, EPROTO);
	KUNIT_EXPECT_TRUE(test, is_combined(0, 0));
}

static void reduction__empty(struct kunit *test)
{
	start(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U8);
	fake_reduce(LEN, FAKE_PAYLOAD);
	fake_reduce_start();
	fake_rx(1, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, fake->op->error, EPROTO);
}

static void reduction__other_length_early(struct kunit *test)
{
	start(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U8);
	fake_rx(1, LEN + 1, 0, FAKE_PAYLOAD);
	fake_reduce(LEN, FAKE_PAYLOAD);
	fake_reduce_start();
	KUNIT_EXPECT_EQ(test, fake->op->error, EPROTO);
	KUNIT_EXPECT_TRUE(test, is_combined(0, 0));
}

/* The ACK of what comes from the receiver does not wait for a message that waits for others. */
static void reduction__ack_at_once(struct kunit *test)
{
	start_with(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U8, 0x8);
	fake_reduce(LEN, FAKE_PAYLOAD);
	fake_reduce_start();
	arrive(TO, 0, LEN);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, TO), 1U);
	KUNIT_EXPECT_EQ(test, ready(), 0ULL);
	KUNIT_EXPECT_FALSE(test, fake->op->ended);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(reduction__in_order),
	KUNIT_CASE(reduction__early),
	KUNIT_CASE(reduction__split_items),
	KUNIT_CASE(reduction__other_length),
	KUNIT_CASE(reduction__empty),
	KUNIT_CASE(reduction__other_length_early),
	KUNIT_CASE(reduction__ack_at_once),
	{}
};

struct kunit_suite shuffle_reduction_suite = {
	.name = "shuffle_reduction",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
