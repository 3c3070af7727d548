// SPDX-License-Identifier: GPL-2.0-only
/* Rows that are asked for: tx/want.c. */
#include "fake.h"

#define UNIT	((u64)fake->op->fill.unit)

/* All is asked for once, in the order of the schedule, a unit at a time. */
static void want__order(struct kunit *test)
{
	struct shuffle_record rec;
	u64 next[3] = {}, lens[3];
	u32 n = 0;

	fake_start(3, 0);
	lens[0] = 4 * UNIT;
	lens[1] = 2 * UNIT;
	lens[2] = 0;
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	while (fake_wanted(&rec)) {
		KUNIT_ASSERT_LT(test, rec.rank, 2U);
		KUNIT_EXPECT_EQ(test, rec.type, SHUFFLE_RECORD_WANT);
		KUNIT_EXPECT_EQ(test, rec.op_id, FAKE_OP);
		KUNIT_EXPECT_EQ(test, rec.msg_len, lens[rec.rank]);
		KUNIT_EXPECT_EQ(test, rec.offset, next[rec.rank]);
		KUNIT_EXPECT_EQ(test, rec.len, UNIT);
		next[rec.rank] += rec.len;
		/* greatest remaining fraction: after two thirds the longer one has not finished */
		if (++n == 4)
			KUNIT_EXPECT_GT(test, next[1], 0ULL);
	}
	KUNIT_EXPECT_EQ(test, n, 6U);
	KUNIT_EXPECT_EQ(test, next[0], lens[0]);
	KUNIT_EXPECT_EQ(test, next[1], lens[1]);
	fake_answer(6, 0);
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
}

/* No more is asked for than the send buffer holds; when a chunk is freed, the next is. */
static void want__room(struct kunit *test)
{
	u64 lens[2] = { SZ_1M, 0 };
	struct shuffle_record rec;
	u64 asked = 0;
	u32 n = 0;

	fake_start(2, 0);
	fake->ssk.sk.sk_sndbuf = 3 * UNIT;
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	while (fake_wanted(&rec)) {
		asked += rec.len;
		n++;
	}
	KUNIT_EXPECT_EQ(test, asked, 3 * UNIT);
	/* what has come stays in the buffer */
	fake->ssk.sk.sk_wmem_queued = 2 * UNIT;
	fake_answer(2, 0);
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	fake->ssk.sk.sk_wmem_queued = UNIT;
	spin_lock_bh(&fake->ssk.lock);
	shuffle_want_room(&fake->ssk);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_TRUE(test, fake_wanted(&rec));
	KUNIT_EXPECT_EQ(test, rec.offset, 3 * UNIT);
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	fake->ssk.sk.sk_wmem_queued = 0;
}

/* What was answered may be acknowledged before it counts as answered. */
static void want__acked_at_once(struct kunit *test)
{
	u64 lens[2] = { SZ_1M, 0 };
	struct shuffle_record rec;

	fake_start(2, 0);
	fake->ssk.sk.sk_sndbuf = UNIT;
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	KUNIT_ASSERT_TRUE(test, fake_wanted(&rec));
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	spin_lock_bh(&fake->ssk.lock);
	shuffle_want_room(&fake->ssk);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	fake_answer(1, 0);
	KUNIT_EXPECT_TRUE(test, fake_wanted(&rec));
}

/* There may be room and then not, before the reader comes. */
static void want__room_gone(struct kunit *test)
{
	u64 lens[2] = { SZ_1M, 0 };
	struct shuffle_record rec;

	fake_start(2, 0);
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	fake->ssk.sk.sk_wmem_queued = fake->ssk.sk.sk_sndbuf;
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->ssk.notices));
	fake->ssk.sk.sk_wmem_queued = 0;
	spin_lock_bh(&fake->ssk.lock);
	shuffle_want_room(&fake->ssk);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_TRUE(test, fake_wanted(&rec));
}

/* As many records as are remembered; each answer makes place for another one. */
static void want__many(struct kunit *test)
{
	struct shuffle_record rec;
	u64 lens[100];
	u32 i, n = 0;

	fake_start(100, 0);
	for (i = 0; i < 100; i++)
		lens[i] = 1;
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	while (fake_wanted(&rec))
		n++;
	KUNIT_EXPECT_EQ(test, n, 64U);
	fake_answer(10, 0);
	for (n = 0; fake_wanted(&rec);)
		n++;
	KUNIT_EXPECT_EQ(test, n, 10U);
	fake_answer(64, 0);
	for (n = 0; fake_wanted(&rec);)
		n++;
	KUNIT_EXPECT_EQ(test, n, 26U);
	fake_answer(26, 0);
}

/* A record may be answered in parts. */
static void want__parts(struct kunit *test)
{
	struct shuffle_want_cursor cur;
	u64 lens[2] = { SZ_1M, 0 };
	struct shuffle_record rec;
	u32 left;

	fake_start(2, 0);
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	KUNIT_ASSERT_TRUE(test, fake_wanted(&rec));
	fake_answer(0, 100);
	KUNIT_EXPECT_EQ(test, shuffle_want_begin(fake->op, &cur), (s64)UNIT - 100);
	KUNIT_EXPECT_EQ(test, shuffle_want_at(fake->op, &cur, &left), 0U);
	KUNIT_EXPECT_EQ(test, left, (u32)UNIT - 100);
	KUNIT_EXPECT_EQ(test, fake->ssk.wanted, UNIT - 100);
	fake_answer(0, 50);
	KUNIT_EXPECT_EQ(test, fake->ssk.wanted, UNIT - 150);
	KUNIT_ASSERT_TRUE(test, fake_wanted(&rec));
	/* the rest of the first, and ten bytes of the second one */
	fake_answer(1, 10);
	KUNIT_EXPECT_EQ(test, shuffle_want_begin(fake->op, &cur), (s64)UNIT - 10);
}

/* Nothing is asked for after the end, and what was asked for holds no room. */
static void want__ended(struct kunit *test)
{
	u64 lens[2] = { SZ_1M, 0 };
	struct shuffle_record rec;

	fake_start(2, 0);
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	KUNIT_ASSERT_TRUE(test, fake_wanted(&rec));
	spin_lock_bh(&fake->ssk.lock);
	shuffle_op_fail(fake->op, ECANCELED);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_EQ(test, fake->ssk.wanted, 0ULL);
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	fake_answer(1, 0);
	KUNIT_EXPECT_EQ(test, fake->ssk.wanted, 0ULL);
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(want__order),
	KUNIT_CASE(want__room),
	KUNIT_CASE(want__acked_at_once),
	KUNIT_CASE(want__room_gone),
	KUNIT_CASE(want__many),
	KUNIT_CASE(want__parts),
	KUNIT_CASE(want__ended),
	{}
};

struct kunit_suite shuffle_want_suite = {
	.name = "shuffle_want",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
