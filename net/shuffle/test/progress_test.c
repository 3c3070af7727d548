// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is progress of an operation, of which the idle timeout counts the last, and what is not; how
 * much a receiver that makes none may hold; and that nobody asks himself.
 */
#include "fake.h"

#define MS	NSEC_PER_MSEC

/* Time passes, and then the call either is progress, or is not. */
#define EXPECT_PROGRESS(test, call)					\
do {									\
	fake->now += MS;						\
	call;								\
	KUNIT_EXPECT_EQ(test, fake->op->life.progress_at, fake->now);	\
} while (0)

#define EXPECT_NONE(test, call)						\
do {									\
	u64 __at = fake->op->life.progress_at;				\
									\
	fake->now += MS;						\
	call;								\
	KUNIT_EXPECT_EQ(test, fake->op->life.progress_at, __at);		\
} while (0)

static void progress__out(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	EXPECT_PROGRESS(test, fake_grant(0, 6000, 0));
	EXPECT_NONE(test, fake_grant(0, 6000, 0));
	EXPECT_NONE(test, fake_grant(0, 4000, 0));
	/* another receiver's is the operation's, too */
	EXPECT_PROGRESS(test, fake_grant(1, 6000, 1000));
	EXPECT_PROGRESS(test, fake_grant(0, 6000, 1500));
	EXPECT_NONE(test, fake_grant(0, 6000, 1500));
	EXPECT_NONE(test, fake_grant(0, 5000, 1000));
	/* impossible */
	EXPECT_NONE(test, fake_grant(0, 20000, 2000));
	EXPECT_NONE(test, fake_grant(0, 6000, 2001));
}

/* Who asks lives, and nothing has changed; but a lost GRANT comes by it. */
static void progress__resend(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	EXPECT_NONE(test, fake_resend(0, false, 0, 0));
	EXPECT_NONE(test, fake_resend(0, true, 0, 1000));
	EXPECT_NONE(test, fake_resend(0, true, 0, 1000));
	EXPECT_NONE(test, fake_resend(0, true, 0, 0));
	EXPECT_PROGRESS(test, fake_resend(0, true, 0, 5000));
	EXPECT_NONE(test, fake_resend(0, true, 0, 5000));
}

static void progress__ack(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(1000, 1000);
	EXPECT_PROGRESS(test, fake_ack(0));
	EXPECT_NONE(test, fake_ack(0));
	EXPECT_NONE(test, fake_grant(0, 1000, 1000));
	EXPECT_NONE(test, fake_ack_nonce(1, 1));
	EXPECT_PROGRESS(test, fake_ack(1));
}

static void progress__in(struct kunit *test)
{
	fake->unsched = 3000;
	fake_start(3, 0);
	EXPECT_PROGRESS(test, fake_rx(0, 3000, 0, 0));
	EXPECT_NONE(test, fake_rx(0, 3000, 0, 0));
	EXPECT_PROGRESS(test, fake_rx(0, 3000, 0, 1000));
	EXPECT_NONE(test, fake_rx(0, 3000, 0, 1000));
	/* behind a gap: kept */
	EXPECT_PROGRESS(test, fake_rx(0, 3000, 2000, 1000));
	EXPECT_NONE(test, fake_rx(0, 3000, 2000, 1000));
	/* one byte of it is new */
	EXPECT_PROGRESS(test, fake_rx(0, 3000, 500, 501));
	/* probes, and answers to questions */
	fake->flags = SHUFFLE_FLAG_PROBE;
	EXPECT_NONE(test, fake_rx(0, 3000, 0, 0));
	fake->flags = SHUFFLE_FLAG_SENT;
	EXPECT_NONE(test, fake_rx(0, 3000, 3000, 0));
	fake->flags = 0;
	/* dropped */
	fake->memory_refused = true;
	EXPECT_NONE(test, fake_rx(0, 3000, 1001, 500));
	fake->memory_refused = false;
	EXPECT_PROGRESS(test, fake_rx(0, 3000, 1001, 999));
	EXPECT_NONE(test, fake_rx(0, 3000, 1001, 999));
}

/* A member that lives and says so, for one that is gone keeps it waiting, too. */
static void progress__idle(struct kunit *test)
{
	u32 i;

	fake->ssk.idle_ms = 500;
	fake->unsched = 1000;
	fake_start(3, 0);
	fake_row(10000, 2000);
	fake_rx(0, 5000, 0, 1000);
	for (i = 0; i < 49; i++) {
		fake_advance(10 * MS);
		fake_grant(0, 2000, 0);
		fake_resend(0, true, 0, 0);
		fake_resend(0, true, 0, 1000);
		fake_rx(0, 5000, 0, 1000);
		fake_rx(0, 5000, 0, 0);
		KUNIT_ASSERT_FALSE(test, fake->op->life.ended);
	}
	fake_advance(11 * MS);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
}

/* A message to ourselves has lost a packet on the loopback: it is sent again, no record asks. */
static void progress__self(struct kunit *test)
{
	const u32 self = 1;

	fake->unsched = 3000;
	fake_start(2, 0);
	fake_row(3000, 3000);
	fake_rx_nonce(self, shuffle_op_nonce(fake->op, self), 3000, 0, 1000);
	fake_rx_nonce(self, shuffle_op_nonce(fake->op, self), 3000, 2000, 1000);
	fake_advance(1000 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, self), 0U);
	KUNIT_ASSERT_EQ(test, fake->op->tx.nr_retrans, 1U);
	KUNIT_EXPECT_EQ(test, list_first_entry(&fake->op->tx.retrans, struct shuffle_retrans,
					       node)->start, 1000ULL);
	KUNIT_EXPECT_EQ(test, list_first_entry(&fake->op->tx.retrans, struct shuffle_retrans,
					       node)->end, 2000ULL);
	fake_rx_nonce(self, shuffle_op_nonce(fake->op, self), 3000, 1000, 1000);
	/* no packet for the ACK, either */
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[self].acked);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, self), 0U);
	FAKE_COUNTED(test, ResendOut, fake_sent(SHUFFLE_RESEND, 0));
}

/* Nothing of it has left: the buffer is full of other data, say.  Nobody asks for it. */
static void progress__self_not_sent(struct kunit *test)
{
	const u32 self = 1;

	fake->unsched = 1000;
	fake_start(2, 0);
	fake_row(3000, 0);
	fake_rx_nonce(self, shuffle_op_nonce(fake->op, self), 3000, 0, 0);
	fake_advance(5000 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, self), 0U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, self), 0U);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 0U);
}

/* Bytes that may be copied of each message of a row. */
static void expect_limits(struct kunit *test, struct shuffle_policy_tx *fill, u64 a, u64 b, u64 c)
{
	shuffle_fill_limits(fake->op, 0, fill);
	KUNIT_EXPECT_EQ(test, fill->msg[0].limit, a);
	KUNIT_EXPECT_EQ(test, fill->msg[1].limit, b);
	KUNIT_EXPECT_EQ(test, fill->msg[2].limit, c);
}

/* A receiver that grants nothing holds its share of the send buffer; one that grants gets on. */
static void progress__share(struct kunit *test)
{
	struct shuffle_policy_tx fill;
	struct shuffle_op *op;
	u32 i;

	fake->ssk.sk.sk_sndbuf = 900000;
	fake_start(3, 0);
	op = fake->op;
	op->tx.announced = 3;
	op->tx.closed = true;
	for (i = 0; i < 3; i++) {
		op->tx.sched.msg[i].len = 2000000;
		op->tx.msg[i].granted = 1000;
	}
	KUNIT_ASSERT_EQ(test, shuffle_fill_schedule(op, 0, &fill), 0);
	expect_limits(test, &fill, 301000, 301000, 301000);
	KUNIT_EXPECT_FALSE(test, op->tx.copy_waits);
	/* all are copied up to their limits */
	for (i = 0; i < 3; i++) {
		fill.msg[i].next = fill.msg[i].limit;
		shuffle_policy_tx_update(&fill, i);
	}
	KUNIT_EXPECT_FALSE(test, shuffle_fill_limits(op, 0, &fill));
	KUNIT_EXPECT_TRUE(test, op->tx.copy_waits);
	fake_grant(1, 50000, 0);
	KUNIT_EXPECT_TRUE(test, shuffle_fill_limits(op, 0, &fill));
	KUNIT_EXPECT_FALSE(test, op->tx.copy_waits);
	KUNIT_EXPECT_EQ(test, shuffle_policy_tx_pick(&fill), 1U);
	expect_limits(test, &fill, 301000, 350000, 301000);
	/* others have all of their data: what is left of the buffer is for nobody else */
	fill.msg[1].next = 2000000;
	shuffle_policy_tx_update(&fill, 1);
	expect_limits(test, &fill, 451000, 350000, 451000);
	/* but for another operation */
	fake->ssk.nr_unsent = 3;
	expect_limits(test, &fill, 226000, 350000, 226000);
	fake->ssk.nr_unsent = 0;
	/* and never more than there is, or less than what is copied as one */
	fill.msg[0].next = 1999999;
	fill.msg[2].next = 2000000;
	expect_limits(test, &fill, 901000, 350000, 226000);
	fake->ssk.sk.sk_sndbuf = 1;
	expect_limits(test, &fill, 1000 + op->fill.unit, 350000, 226000);
	shuffle_free_schedule(&fill);
}

/* The same for a row whose data the program is asked for. */
static void progress__want_share(struct kunit *test)
{
	u64 lens[3] = {}, asked[3] = {}, share, unit;
	struct shuffle_record rec;
	u32 n = 0;

	fake_start(3, 0);
	unit = fake->op->fill.unit;
	fake->ssk.sk.sk_sndbuf = 10 * unit;
	share = 5 * unit;
	lens[0] = 20 * unit;
	lens[1] = 20 * unit;
	KUNIT_ASSERT_EQ(test, fake_ask(lens), 0);
	while (fake_wanted(&rec)) {
		asked[rec.rank] += rec.len;
		n++;
	}
	KUNIT_EXPECT_EQ(test, asked[0], share);
	KUNIT_EXPECT_EQ(test, asked[1], share);
	/* it comes; member 1 takes it and grants more each time, member 0 never does */
	fake_answer(n, 0);
	fake->ssk.sk.sk_wmem_queued = share;
	spin_lock_bh(&fake->ssk.lock);
	shuffle_want_room(&fake->ssk);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_FALSE(test, fake_wanted(&rec));
	for (; asked[1] < lens[1]; asked[1] += rec.len) {
		fake_grant(1, asked[1] + unit - share, 0);
		KUNIT_ASSERT_TRUE(test, fake_wanted(&rec));
		KUNIT_EXPECT_EQ(test, rec.rank, 1U);
		KUNIT_EXPECT_EQ(test, rec.offset, asked[1]);
		fake_answer(1, 0);
		KUNIT_ASSERT_FALSE(test, fake_wanted(&rec));
	}
	fake_grant(0, unit, 0);
	KUNIT_ASSERT_TRUE(test, fake_wanted(&rec));
	KUNIT_EXPECT_EQ(test, rec.rank, 0U);
	fake->ssk.sk.sk_wmem_queued = 0;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(progress__out),
	KUNIT_CASE(progress__resend),
	KUNIT_CASE(progress__ack),
	KUNIT_CASE(progress__in),
	KUNIT_CASE(progress__idle),
	KUNIT_CASE(progress__self),
	KUNIT_CASE(progress__self_not_sent),
	KUNIT_CASE(progress__share),
	KUNIT_CASE(progress__want_share),
	{}
};

struct kunit_suite shuffle_progress_suite = {
	.name = "shuffle_progress",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
