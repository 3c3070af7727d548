// SPDX-License-Identifier: GPL-2.0-only
/* ACKs that may wait: for how long, how many, and which ones may not. */
#include "fake.h"

#define MS	NSEC_PER_MSEC

static void start(u32 members)
{
	fake_start(members, 0);
	shuffle_delayed_init(&fake->ssk, fake->group);
	KUNIT_ASSERT_NOT_NULL(fake->test, fake->ssk.delayed);
	fake->flags = SHUFFLE_FLAG_DELAY;
}

static u32 count(u32 rank)
{
	u32 n;

	spin_lock_bh(&fake->ssk.lock);
	n = shuffle_delayed_count(fake->op, rank);
	spin_unlock_bh(&fake->ssk.lock);
	return n;
}

/* It goes out when nothing has taken it along. */
static void delayed_ack__waits(struct kunit *test)
{
	const struct fake_record *r;
	u64 begin;

	start(4);
	begin = fake->now;
	fake_rx(1, 500, 0, 500);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, SHUFFLE_NONE), 0U);
	KUNIT_EXPECT_EQ(test, count(1), 1U);
	KUNIT_EXPECT_EQ(test, fake->delay_at, begin + SHUFFLE_ACK_DELAY_NS);
	fake->now += MS;
	/* one timer, for the first of them */
	fake_rx(2, 500, 0, 500);
	KUNIT_EXPECT_EQ(test, fake->delay_at, begin + SHUFFLE_ACK_DELAY_NS);
	fake_delay_fires();
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, SHUFFLE_NONE), 2U);
	r = fake_last(SHUFFLE_ACK, 1);
	KUNIT_EXPECT_EQ(test, r->w.op_id, (u64)FAKE_OP);
	KUNIT_EXPECT_EQ(test, r->w.nonce, FAKE_NONCE(1));
	KUNIT_EXPECT_EQ(test, count(1), 0U);
	KUNIT_EXPECT_EQ(test, fake->delay_at, U64_MAX);
	FAKE_COUNTED(test, AckOut, 2);
}

/* Data takes the oldest along first. */
static void delayed_ack__is_taken(struct kunit *test)
{
	struct shuffle_wire w;

	start(3);
	fake_rx(0, 500, 0, 500);
	fake->op->rx.msg[0].nonce = 9;
	spin_lock_bh(&fake->ssk.lock);
	shuffle_delayed_owe(fake->op, 0, NULL);
	w = shuffle_delayed_take(fake->op, 0);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_EQ(test, w.type, (u8)SHUFFLE_ACK);
	KUNIT_EXPECT_EQ(test, w.nonce, FAKE_NONCE(0));
	KUNIT_EXPECT_EQ(test, count(0), 1U);
	spin_lock_bh(&fake->ssk.lock);
	w = shuffle_delayed_take(fake->op, 0);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_EQ(test, w.nonce, 9ULL);
	/* nothing is left for the timer, which has not been told */
	fake_delay_fires();
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, SHUFFLE_NONE), 0U);
	/* and the next one is delayed as the first one was */
	fake_rx(1, 500, 0, 500);
	fake_delay_fires();
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 1), 1U);
}

/* So many of one member, and they go together. */
static void delayed_ack__too_many(struct kunit *test)
{
	u32 i;

	start(3);
	fake_rx(1, 500, 0, 500);
	spin_lock_bh(&fake->ssk.lock);
	for (i = 1; i < SHUFFLE_DELAYED_ACKS; i++) {
		KUNIT_EXPECT_EQ(test, fake->n_sent, 0U);
		shuffle_delayed_owe(fake->op, 1, NULL);
	}
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 1), (u32)SHUFFLE_DELAYED_ACKS);
	KUNIT_EXPECT_EQ(test, count(1), 0U);
}

/* Many members: a few at a time. */
static void delayed_ack__slices(struct kunit *test)
{
	u32 members = 3 * SHUFFLE_BURST + 2, i, n;

	start(members);
	for (i = 0; i < members - 1; i++)
		fake_rx(i, 500, 0, 500);
	do {
		n = fake->n_sent;
		fake_delay_fires();
		KUNIT_EXPECT_LE(test, fake->n_sent - n, (u32)SHUFFLE_BURST);
		KUNIT_ASSERT_GT(test, fake->n_sent, n);
	} while (fake->delay_at != U64_MAX);
	for (i = 0; i < members - 1; i++)
		KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, i), 1U);
}

/* Who asks, who does not allow it, and a message to ourselves. */
static void delayed_ack__at_once(struct kunit *test)
{
	start(4);
	fake->flags = SHUFFLE_FLAG_DELAY | SHUFFLE_FLAG_PROBE;
	fake_rx(0, 500, 0, 500);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 0), 1U);
	fake->flags = 0;
	fake_rx(1, 500, 0, 500);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 1), 1U);
	fake->flags = SHUFFLE_FLAG_DELAY;
	fake_row(0, 0);
	fake_rx_nonce(3, shuffle_op_nonce(fake->op, 3), 0, 0, 0);
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[3].acked);
	KUNIT_EXPECT_EQ(test, count(3), 0U);
	/* a question that comes while it waits is answered */
	fake_rx(2, 500, 0, 500);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 2), 0U);
	fake->flags = SHUFFLE_FLAG_DELAY | SHUFFLE_FLAG_PROBE;
	fake_rx(2, 500, 500, 0);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 2), 1U);
}

/* A socket that is closed, or gets another group, owes nothing. */
static void delayed_ack__exit(struct kunit *test)
{
	start(3);
	fake_rx(0, 500, 0, 500);
	shuffle_delayed_exit(&fake->ssk);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 0), 1U);
	KUNIT_EXPECT_NULL(test, fake->ssk.delayed);
	fake_rx(1, 500, 0, 500);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 1), 1U);
}

/* Who lets others delay waits for longer before it asks. */
static void delayed_ack__sender(struct kunit *test)
{
	u64 first;
	u32 k;

	fake_start(2, 0);
	fake->op->tx.delays = true;
	fake_rx(0, 0, 0, 0);
	fake->op->rx.srtt_ns = MS;
	fake->op->rx.rttvar_ns = 0;
	fake_row(500, 500);
	fake->n_sent = 0;
	first = fake->now;
	for (k = 0; k < 100 && !fake_sent(SHUFFLE_DATA, 0); k++)
		fake_fire();
	KUNIT_EXPECT_GE(test, fake->now - first, 2 * SHUFFLE_ACK_DELAY_NS);
	KUNIT_EXPECT_TRUE(test, fake_last(SHUFFLE_DATA, 0)->w.flags & SHUFFLE_FLAG_PROBE);
	KUNIT_EXPECT_TRUE(test, fake_last(SHUFFLE_DATA, 0)->w.flags & SHUFFLE_FLAG_DELAY);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(delayed_ack__waits),
	KUNIT_CASE(delayed_ack__is_taken),
	KUNIT_CASE(delayed_ack__too_many),
	KUNIT_CASE(delayed_ack__slices),
	KUNIT_CASE(delayed_ack__at_once),
	KUNIT_CASE(delayed_ack__exit),
	KUNIT_CASE(delayed_ack__sender),
	{}
};

struct kunit_suite shuffle_delayed_ack_suite = {
	.name = "shuffle_delayed_ack",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
