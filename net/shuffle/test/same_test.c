// SPDX-License-Identifier: GPL-2.0-only
/* Rows whose messages have the same bytes: what is sent to all, to whom alone, and what is kept. */
#include "fake.h"

#define ALL	3	/* of four members, of which we are the last one: see fake_same() */

static u64 limit_of(u32 rank)
{
	return fake->op->tx.sched.msg[rank].limit;
}

static u32 all(void)
{
	return shuffle_group_all(fake->op->group);
}

/* The least that any of them grants. */
static void same__granted(struct kunit *test)
{
	fake_start(4, 0);
	fake_same(10000, 2000);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 2000ULL);
	fake_grant(0, 8000, 0);
	fake_grant(1, 6000, 0);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 2000ULL);
	fake_grant(2, 7000, 0);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 6000ULL);
	/* none of them sends by itself */
	KUNIT_EXPECT_EQ(test, limit_of(0), 0ULL);
	/* an older one changes nothing, nor one of somebody who is ahead */
	fake_grant(1, 5000, 0);
	fake_grant(0, 9000, 0);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 6000ULL);
	fake_grant(1, 10000, 0);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 7000ULL);
}

/* What all have, once for all of them. */
static void same__freed(struct kunit *test)
{
	fake_start(4, 0);
	fake_same(10000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 10000LL);
	fake_grant(0, 4000, 2000);
	fake_grant(1, 4000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 10000LL);
	/* the same again counts once */
	fake_grant(1, 4000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 10000LL);
	fake_grant(2, 4000, 1000);
	KUNIT_EXPECT_EQ(test, fake->charged, 9000LL);
	fake_grant(2, 4000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 8000LL);

	fake_grant(0, 10000, 2000);
	fake_grant(1, 10000, 2000);
	fake_grant(2, 10000, 2000);
	fake_same_sent(10000);
	fake_ack(0);
	fake_ack(2);
	KUNIT_EXPECT_EQ(test, fake->charged, 8000LL);
	fake_ack(1);
	KUNIT_EXPECT_EQ(test, fake->charged, 0LL);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 0U);
}

/* Nobody may say that it has what was not sent, to all or to it alone. */
static void same__impossible(struct kunit *test)
{
	fake_start(4, 0);
	fake_same(10000, 2000);
	fake_grant(0, 4000, 2001);
	FAKE_COUNTED(test, DropState, 1);
	fake_ack(0);
	FAKE_COUNTED(test, DropState, 2);
	/* a nonce of somebody else, or that of all */
	fake_same_sent(10000);
	fake_ack_nonce(0, shuffle_op_nonce(fake->op, 1));
	fake_ack_nonce(0, shuffle_op_nonce(fake->op, all()));
	FAKE_COUNTED(test, DropState, 4);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 3U);
}

/* What one has lost it gets alone, and stays with the others. */
static void same__lost(struct kunit *test)
{
	fake_start(4, 0);
	fake_same(10000, 5000);
	fake_resend(0, true, 1000, 2000);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 1U);
	KUNIT_EXPECT_FALSE(test, fake->op->tx.msg[0].alone);
	KUNIT_EXPECT_EQ(test, fake->op->group->member[0].missed, 0);
}

/* One that has nothing at all gets everything alone, and does not hold up the others. */
static void same__not_reached(struct kunit *test)
{
	fake_start(4, 0);
	fake_same(10000, 2000);
	/* it may be on its way, or the first packet alone was lost */
	fake_resend(0, true, 0, 1);
	KUNIT_EXPECT_FALSE(test, fake->op->tx.msg[0].alone);
	fake->now += NSEC_PER_SEC;
	fake_resend(0, true, 0, 1000);
	KUNIT_EXPECT_FALSE(test, fake->op->tx.msg[0].alone);
	spin_lock_bh(&fake->ssk.lock);
	shuffle_msg_out_free_retrans(fake->op, list_first_entry(&fake->op->tx.retrans,
								struct shuffle_retrans, node));
	spin_unlock_bh(&fake->ssk.lock);
	fake_resend(0, true, 0, 1);
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[0].alone);
	KUNIT_EXPECT_EQ(test, fake->op->group->member[0].missed, 1);
	KUNIT_EXPECT_EQ(test, limit_of(0), 2000ULL);
	fake_grant(1, 6000, 0);
	fake_grant(2, 6000, 0);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 6000ULL);
	fake_grant(0, 4000, 0);
	KUNIT_EXPECT_EQ(test, limit_of(0), 4000ULL);
	FAKE_COUNTED(test, SameAlone, 1);

	/* it was only late, and has it all: nothing is sent any more */
	fake_grant(1, 10000, 0);
	fake_grant(2, 10000, 0);
	fake_same_sent(10000);
	fake_ack(1);
	fake_ack(2);
	fake_grant(0, 10000, 7000);
	KUNIT_EXPECT_EQ(test, fake->op->tx.sched.msg[0].next, 7000ULL);
	KUNIT_EXPECT_EQ(test, fake->charged, 3000LL);
	fake_ack(0);
	KUNIT_EXPECT_EQ(test, fake->op->tx.sched.heap.n, 0U);
	KUNIT_EXPECT_EQ(test, fake->charged, 0LL);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 0U);
}

/* One that has said that it has something cannot have nothing. */
static void same__takes_back(struct kunit *test)
{
	u32 i;

	fake_start(4, 0);
	fake_same(10000, 2000);
	for (i = 0; i < ALL; i++)
		fake_grant(i, 4000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 8000LL);
	fake->now += NSEC_PER_SEC;
	fake_resend(1, true, 0, 1);
	KUNIT_EXPECT_FALSE(test, fake->op->tx.msg[1].alone);
}

/* One that is sent the rest alone may have had it with all others: it grants nothing more, so it
 * has to be asked when its ACK is lost.
 */
static void same__alone_has_all(struct kunit *test)
{
	fake_start(4, 0);
	fake_rx(0, 100, 0, 100);
	fake_same(10000, 2000);
	fake->now += NSEC_PER_SEC;
	fake_resend(0, true, 0, 1);
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[0].alone);
	fake_grant(1, 10000, 0);
	fake_grant(2, 10000, 0);
	fake_same_sent(10000);
	fake_advance(NSEC_PER_SEC);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_DATA, 0), 0U);
	fake_ack(0);
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[0].acked);
	KUNIT_EXPECT_EQ(test, fake->op->tx.sched.heap.n, 0U);
}

/* When nobody is left, nothing goes to all. */
static void same__nobody(struct kunit *test)
{
	u32 i;

	fake_start(4, 0);
	fake_same(10000, 2000);
	fake->now += NSEC_PER_SEC;
	for (i = 0; i < ALL; i++)
		fake_resend(i, true, 0, 1);
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[2].alone);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 2000ULL);
	for (i = 0; i < ALL; i++)
		fake_grant(i, 10000, 0);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 2000ULL);
	KUNIT_EXPECT_EQ(test, limit_of(2), 10000ULL);
}

/* Whom the others have waited for long is left behind; the next row goes to it again. */
static void same__slow(struct kunit *test)
{
	fake_start(4, 0);
	fake_same(10000, 2000);
	fake_grant(0, 6000, 2000);
	fake_grant(1, 6000, 2000);
	/* at once it is only a GRANT that is late */
	fake_resend(0, true, 2000, 4000);
	KUNIT_EXPECT_FALSE(test, fake->op->tx.msg[2].alone);
	fake->now += NSEC_PER_SEC;
	fake_resend(0, true, 2000, 4000);
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[2].alone);
	KUNIT_EXPECT_FALSE(test, fake->op->tx.msg[0].alone);
	KUNIT_EXPECT_EQ(test, fake->op->group->member[2].missed, 0);
	KUNIT_EXPECT_EQ(test, limit_of(all()), 6000ULL);
	/* what went to all before is not sent to it again */
	KUNIT_EXPECT_EQ(test, fake->op->tx.sched.msg[2].next, 2000ULL);
}

static struct kunit_case same_cases[] = {
	KUNIT_CASE(same__granted),
	KUNIT_CASE(same__freed),
	KUNIT_CASE(same__impossible),
	KUNIT_CASE(same__lost),
	KUNIT_CASE(same__not_reached),
	KUNIT_CASE(same__takes_back),
	KUNIT_CASE(same__alone_has_all),
	KUNIT_CASE(same__nobody),
	KUNIT_CASE(same__slow),
	{}
};

struct kunit_suite shuffle_same_suite = {
	.name = "shuffle_same",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = same_cases,
};
