// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time limits: what is asked for when, and how often.  The fake's first limit is 50 ms
 * (resend_first), the longest 200 ms, what is less than 1 ms apart may be due together.
 */
#include "fake.h"

#define MS	NSEC_PER_MSEC

/* when the k-th RESEND to a member left, ns since @from; the test ends without it */
static u64 resent_at(struct kunit *test, u32 rank, u32 k, u64 from)
{
	u32 i;

	for (i = 0; i < fake->n_sent; i++)
		if (fake->sent[i].w.type == SHUFFLE_RESEND && fake->sent[i].rank == rank && !k--)
			return fake->sent[i].at - from;
	KUNIT_FAIL(test, "RESEND %u is missing", k);
	return 0;
}

#define EXPECT_ABOUT(test, ns, due)					\
do {									\
	u64 __ns = (ns), __due = (due);					\
									\
	KUNIT_EXPECT_GE(test, __ns, __due);				\
	KUNIT_EXPECT_LE(test, __ns, __due + MS);			\
} while (0)

/* The timer fires until member 0 is asked for something, for so long at most. */
static void fire_until_resend(struct kunit *test, u64 most)
{
	u64 end = fake->now + most;

	fake->n_sent = 0;
	while (!fake_sent(SHUFFLE_RESEND, 0) && fake->now < end)
		fake_fire();
	KUNIT_ASSERT_NE(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
}

/* Members that nobody has heard of: two are asked, one after the other. */
static void timer__solicits(struct kunit *test)
{
	u32 i;

	fake_start(6, 0);
	fake_advance(49 * MS);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 0U);
	fake_advance(2 * MS);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 2U);
	KUNIT_EXPECT_EQ(test, fake->sent[0].w.nonce, 0ULL);
	fake_advance(98 * MS);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 2U);
	fake_advance(203 * MS);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_GE(test, fake_sent(SHUFFLE_RESEND, i), 1U);
	/* we know ourselves */
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 5), 0U);
}

/* Most have been heard of: of the others a few are asked, for their messages may be lost. */
static void timer__solicits_the_rest(struct kunit *test)
{
	u32 i;

	fake_start(20, 0);
	for (i = 9; i < 20; i++)
		fake_rx(i, 0, 0, 0);
	fake->n_sent = 0;
	fake_advance(48 * MS);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 0U);
	fake_advance(4 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, SHUFFLE_NONE), 8U);
}

/* One of them starts late, another one answers: what the others have sent may be lost, too. */
static void timer__solicits_all(struct kunit *test)
{
	fake_start(20, 0);
	fake_advance(51 * MS);
	fake->n_sent = 0;
	fake_rx(1, 1000, 0, 0);
	fake_advance(49 * MS);
	/* for the data of that one, once */
	KUNIT_EXPECT_LE(test, fake_sent(SHUFFLE_RESEND, SHUFFLE_NONE), 1U);
	fake->flags = SHUFFLE_FLAG_RETRANS;
	fake->n_sent = 0;
	fake_rx(0, 1000, 0, 0);
	fake_advance(250 * MS);
	KUNIT_EXPECT_GE(test, fake_sent(SHUFFLE_RESEND, SHUFFLE_NONE), 18U);
}

/* We have waited for long for members to start; since others have, who has not been heard of is
 * asked after the first limit, and not as long again as we have waited.  Our own message is there
 * from the start.
 */
static void timer__solicits_after_a_start(struct kunit *test)
{
	u32 i;

	fake_start(20, 0);
	fake_advance(MS);
	fake_rx(19, 0, 0, 0);
	fake_advance(700 * MS);
	for (i = 1; i < 19; i++)
		fake_rx(i, 0, 0, 0);
	fake->n_sent = 0;
	fake_advance(48 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	fake_advance(4 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 1U);
}

/* Packets that wait for the socket's lock may be older than those before them: that is no wait. */
static void timer__solicits_after_older_packets(struct kunit *test)
{
	fake_start(4, 0);
	fake_rx(3, 0, 0, 0);
	fake_advance(10 * MS);
	fake_rx(1, 0, 0, 0);
	fake->now -= 1000;
	fake_rx(2, 0, 0, 0);
	fake->now += 1000;
	fake->n_sent = 0;
	fake_advance(52 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
}

/* While most have not been heard of, they are starting: what has been measured says nothing. */
static void timer__solicits_late_starters(struct kunit *test)
{
	fake_start(20, 0);
	fake_rx(19, 0, 0, 0);
	fake_rx(1, 0, 0, 0);
	fake->op->rx.srtt_ns = MS;
	fake->n_sent = 0;
	fake_advance(48 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, SHUFFLE_NONE), 0U);
	fake_advance(4 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, SHUFFLE_NONE), 2U);
}

/* Another operation by the device has measured how long data takes: the first limit is twice
 * what that one's would be; if that was a second ago, it says nothing.
 */
static void timer__measured_by_another(struct kunit *test)
{
	fake->unsched = 3000;
	fake_start(2, 0);
	fake_row(0, 0);
	fake_rx(1, 0, 0, 0);
	atomic64_set(&fake->dev.data_rtt.srtt, 4 * MS);
	atomic64_set(&fake->dev.data_rtt.rttvar, MS);
	atomic64_set(&fake->dev.data_rtt.at, fake->now - 900 * MS);
	fake_rx(0, 3000, 0, 1000);
	fake_rx(0, 3000, 2000, 1000);
	fake_advance(15 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	fake_advance(2 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 1000ULL);
	/* that was a loss: nothing has been measured here */
	KUNIT_EXPECT_EQ(test, fake->op->rx.srtt_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_rto(fake->op)), 50 * (u64)MS);
	atomic64_set(&fake->dev.data_rtt.at, fake->now);
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_timer_in_wait(fake->op, 1)), 16 * (u64)MS);
	atomic64_set(&fake->dev.data_rtt.at, fake->now - 1001 * MS);
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_timer_in_wait(fake->op, 1)), 50 * (u64)MS);
	/* never */
	atomic64_set(&fake->dev.data_rtt.at, fake->now);
	atomic64_set(&fake->dev.data_rtt.srtt, 0);
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_timer_in_wait(fake->op, 1)), 50 * (u64)MS);
}

/* Nothing needs a grant: the time from a message to its ACK says how long hosts take, from when the
 * receiver has been heard of, and not where the message was announced again.
 */
static void timer__measured_by_acks(struct kunit *test)
{
	fake->unsched = 1000;
	fake_start(3, 0);
	fake_row(1000, 1000);
	fake->now += 20 * MS;
	fake_rx(0, 1000, 0, 1000);
	fake->now += 3 * MS;
	fake_ack(0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&fake->dev.ack_rtt.srtt), 3LL * MS);
	/* 2 (3 + 4 x 3 / 2) */
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_rto_data(fake->op)), 18 * (u64)MS);
	fake->op->tx.msg[1].reannounced = 1;
	fake->now += 9 * MS;
	fake_ack(1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&fake->dev.ack_rtt.srtt), 3LL * MS);
	fake->now += 1001 * MS;
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_rto_data(fake->op)), 50 * (u64)MS);
}

/* A gap is asked for, and nothing but what is missing; then after twice as long. */
static void timer__gap(struct kunit *test)
{
	u64 start, first;

	fake->unsched = 3000;
	fake_start(2, 0);
	fake_row(0, 0);
	fake_rx(1, 0, 0, 0);
	start = fake->now;
	fake_rx(0, 3000, 0, 1000);
	fake_rx(0, 3000, 2000, 1000);
	fake_advance(49 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	fake_advance(2000 * MS);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 1000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len, 1000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.nonce, FAKE_NONCE(0));
	first = resent_at(test, 0, 0, start);
	EXPECT_ABOUT(test, first, 50 * MS);
	EXPECT_ABOUT(test, resent_at(test, 0, 1, start + first), 100 * MS);
	EXPECT_ABOUT(test, resent_at(test, 0, 2, start + first), 300 * MS);
	EXPECT_ABOUT(test, resent_at(test, 0, 3, start + first), 500 * MS);

	/* it arrives: nobody is asked again */
	fake_rx(0, 3000, 1000, 1000);
	fake->n_sent = 0;
	fake_advance(10000 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, SHUFFLE_NONE), 0U);
}

/* Data that was granted and does not come: a packet while nothing has been measured, then more of
 * it; what has come is told.
 */
static void timer__silence(struct kunit *test)
{
	u64 granted, start;

	fake->unsched = 1000;
	fake_start(2, 0);
	fake_rx(1, 0, 0, 0);
	fake_rx(0, 5000, 0, 1000);
	granted = fake->op->rx.sched.msg[0].granted;
	KUNIT_EXPECT_GT(test, granted, 1000ULL);
	start = fake->now;
	fire_until_resend(test, 100 * MS);
	EXPECT_ABOUT(test, resent_at(test, 0, 0, start), 50 * MS);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 1000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len, 1ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_GRANT, 0)->w.grant.acked, 1000ULL);

	/* it was lost: the rest may be lost, too, and is less than 4 KiB */
	fake_advance(10 * NSEC_PER_USEC);
	fake->flags = SHUFFLE_FLAG_RETRANS;
	fake_rx(0, 5000, 1000, 500);
	KUNIT_EXPECT_GT(test, fake->op->rx.srtt_ns, 0ULL);
	KUNIT_EXPECT_LE(test, fake->op->rx.srtt_ns, MS);
	fake_advance(60 * MS);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 1500ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len, granted - 1500);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_GRANT, 0)->w.grant.acked, 1500ULL);
}

/* Without a grant more may come than the buffer holds: no more is asked for than that. */
static void timer__small_buffer(struct kunit *test)
{
	u64 most = 0;
	int used;
	u32 i;

	fake->unsched = 1 << 20;
	fake_start(2, 0);
	fake_rx(1, 0, 0, 0);
	fake->ssk.sk.sk_rcvbuf = 100000;
	/* the first packet, and one behind a gap of 1 MB */
	fake_rx(0, 1 << 20, 0, 1000);
	fake_rx(0, 1 << 20, (1 << 20) - 1000, 1000);
	fake_advance(1000 * MS);
	KUNIT_ASSERT_GE(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
	for (i = 0; i < fake->n_sent; i++)
		if (fake->sent[i].w.type == SHUFFLE_RESEND)
			most = max(most, fake->sent[i].w.resend.len);
	KUNIT_EXPECT_LE(test, most, 50000ULL);
	/* and no less than two units, however little room is left */
	fake->n_sent = 0;
	used = 99000 - atomic_read(&fake->ssk.sk.sk_rmem_alloc);
	atomic_add(used, &fake->ssk.sk.sk_rmem_alloc);
	fake_advance(1000 * MS);
	atomic_sub(used, &fake->ssk.sk.sk_rmem_alloc);
	KUNIT_ASSERT_GE(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 1000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len,
			2ULL * fake->op->rx.sched.unit);
}

/* Such a buffer is filled by each answer: nothing is asked for before the reader has made room, and
 * the time does not grow from one answer to the next.
 */
static void timer__late_reader(struct kunit *test)
{
	const u32 packet = 10000;
	u64 from = 1000;
	u32 i;

	fake->unsched = 1 << 20;
	fake_start(2, 0);
	fake->op->rx.overtaken = true;	/* no questions */
	fake_rx(1, 0, 0, 0);
	fake->ssk.sk.sk_rcvbuf = 1000000;
	fake_rx(0, 1 << 20, 0, 1000);
	fake_advance(1000 * MS);
	KUNIT_ASSERT_FALSE(test, list_empty(&fake->ssk.ready));
	for (i = 0; i < 3; i++) {
		u64 asked = fake_last(SHUFFLE_RESEND, 0)->w.resend.off +
			    fake_last(SHUFFLE_RESEND, 0)->w.resend.len;

		fake->n_sent = 0;
		fake->flags = SHUFFLE_FLAG_RETRANS;
		for (; from < asked; from += min_t(u64, packet, asked - from))
			fake_rx(0, 1 << 20, from, min_t(u64, packet, asked - from));
		atomic_add(1000000, &fake->ssk.sk.sk_rmem_alloc);
		fake_advance(1000 * MS);
		atomic_sub(1000000, &fake->ssk.sk.sk_rmem_alloc);
		KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
		fake_advance(110 * MS);
		KUNIT_ASSERT_GE(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
		KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, from);
	}
}

/* Hosts that encrypt: before anything is measured, the rate at which data comes says how long
 * the rest takes.
 */
static void timer__slow_data(struct kunit *test)
{
	u32 i;

	fake->unsched = 1 << 20;
	fake_start(2, 0);
	fake_rx(1, 0, 0, 0);
	/* 100 KB in 300 ms */
	for (i = 0; i <= 100; i++) {
		fake_rx(0, 200000, i * 1000, 1000);
		fake_advance(3 * MS);
	}
	fake->n_sent = 0;
	fake_advance(600 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	fake_advance(100 * MS);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 101000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len, 1ULL);

	/* what comes now has been on its way since then */
	fake_advance(20 * MS);
	fake_rx(0, 200000, 101000, 1000);
	KUNIT_EXPECT_GT(test, fake->op->rx.srtt_ns, 20 * MS);
}

/* What comes after it was asked for, but was not sent again, was late, not lost: it says how late,
 * and no more is asked for the next time.
 */
static void timer__late_data(struct kunit *test)
{
	u64 from = 1000;
	u32 i;

	fake->unsched = 1 << 20;
	fake_start(2, 0);
	fake_rx(1, 0, 0, 0);
	fake_rx(0, 200000, 0, 1000);
	for (i = 0; i < 8; i++) {
		fire_until_resend(test, 10000 * MS);
		KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, from);
		KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len, 1ULL);
		fake_advance(10 * NSEC_PER_USEC);
		fake_rx(0, 200000, from, 1000);
		from += 1000;
		KUNIT_EXPECT_GE(test, fake->op->rx.srtt_ns, 50 * MS);
	}
}

/* A message has lost its end: that does not come packet by packet. */
static void timer__lost_end(struct kunit *test)
{
	u64 from = 1000, granted, len;
	u32 i;

	fake->unsched = 1 << 20;
	fake->flags = SHUFFLE_FLAG_RETRANS;
	fake_start(2, 0);
	fake->op->rx.overtaken = true;	/* no questions */
	fake_rx(1, 0, 0, 0);
	fake_rx(0, 2000000, 0, 1000);
	granted = fake->op->rx.sched.msg[0].granted;
	KUNIT_ASSERT_GT(test, granted, (u64)SZ_64K);
	for (i = 0; i < 7; i++) {
		fire_until_resend(test, 10000 * MS);
		KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
		KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, from);
		granted = fake->op->rx.sched.msg[0].granted;
		len = i == 0 ? 1 : i >= SHUFFLE_PROBES_MAX ? granted : SZ_1K << (2 * i);
		KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len,
				min(len, granted - from));
		/* only one packet arrives, at once where time stands still meanwhile */
		fake_advance(i < 3 ? 0 : 20 * MS);
		fake_rx(0, 2000000, from, 100);
		from += 100;
	}
	/* what comes unasked begins anew */
	fake->flags = 0;
	granted = fake->op->rx.msg[0].asked;
	for (; from < granted + SHUFFLE_ANSWER_SLACK; from += 1000)
		fake_rx(0, 2000000, from, 1000);
	KUNIT_EXPECT_EQ(test, (u32)fake->op->rx.msg[0].losses, 0U);
}

/* A packet that was asked for twice measures nothing (Karn). */
static void timer__asked_twice(struct kunit *test)
{
	fake->unsched = 1 << 20;
	fake_start(2, 0);
	fake_rx(1, 0, 0, 0);
	fake_rx(0, 200000, 0, 1000);
	fire_until_resend(test, 1000 * MS);
	fire_until_resend(test, 1000 * MS);
	fake_advance(MS);
	fake->flags = SHUFFLE_FLAG_RETRANS;
	fake_rx(0, 200000, 1000, 1000);
	KUNIT_EXPECT_EQ(test, fake->op->rx.srtt_ns, 0ULL);
}

/* The path has shrunk: what was one packet for the sender comes as two, and is one loss. */
static void timer__split_answers(struct kunit *test)
{
	u64 from = 1000;
	u32 i;

	fake->unsched = 1 << 20;
	fake->flags = SHUFFLE_FLAG_RETRANS;
	fake_start(2, 0);
	fake->op->rx.overtaken = true;	/* no questions */
	fake_rx(1, 0, 0, 0);
	fake_rx(0, 200000, 0, 1000);
	for (i = 0; i < SHUFFLE_PROBES_MAX; i++) {
		fire_until_resend(test, 10000 * MS);
		KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, from);
		KUNIT_EXPECT_EQ(test, (u32)fake->op->rx.msg[0].losses, i);
		fake_advance(20 * MS);
		fake_rx(0, 200000, from, 500);
		fake_rx(0, 200000, from + 500, 500);
		from += 1000;
	}
}

/* A packet that arrived before it was asked for, and then waited for the lock, is no answer. */
static void timer__older_packet(struct kunit *test)
{
	fake->unsched = 1000;
	fake_start(2, 0);
	fake_rx(1, 0, 0, 0);
	fake_rx(0, 5000, 0, 1000);
	fire_until_resend(test, 10000 * MS);
	fake->now -= NSEC_PER_USEC;
	fake_rx(0, 5000, 1000, 500);
	/* its time since the grant is the sample */
	EXPECT_ABOUT(test, fake->op->rx.srtt_ns, 50 * MS);
}

/* Somebody who sends nothing is asked for the ACK, and may not have begun: so it is not told that
 * it has been heard of, which a host that knows nothing of the operation would deny.
 */
static void timer__probe_absent(struct kunit *test)
{
	static const struct {
		struct shuffle_absent	head;
		u64			bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, 0x1 };

	fake->absent = &absent.head;
	fake_start(2, 0);
	fake_row(1000, 1000);
	fake->n_sent = 0;
	fake_advance(1000 * MS);
	KUNIT_ASSERT_GT(test, fake_sent(SHUFFLE_DATA, 0), 0U);
	KUNIT_EXPECT_EQ(test, (u32)fake_last(SHUFFLE_DATA, 0)->w.flags, (u32)SHUFFLE_FLAG_PROBE);
}

/* Somebody never heard of is asked, and from the second time on told again what there is for it:
 * its host may remember another operation of this number.  What has not left yet is not announced.
 */
static void timer__announced_again(struct kunit *test)
{
	fake_start(4, 0);
	fake_row(1000, 1000);
	fake->op->tx.msg[0].announced_at = 0;
	fake->op->tx.msg[1].announced_at = fake->now;
	fake->n_sent = 0;
	while (!fake_sent(SHUFFLE_RESEND, 1) && fake->now < 10000 * MS)
		fake_advance(MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), 1U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 1), 0U);
	while (fake_sent(SHUFFLE_RESEND, 1) < 2 && fake->now < 10000 * MS)
		fake_advance(MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 2U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 0), 0U);
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_DATA, 1), 1U);
	KUNIT_EXPECT_EQ(test, (u32)fake_last(SHUFFLE_DATA, 1)->w.flags, (u32)SHUFFLE_FLAG_RETRANS);
}

/* A message announced again says after a while whether the receiver's socket has been heard of
 * before, in whatever operation; so does what asks for a message.
 */
static void timer__says_who_was_met(struct kunit *test)
{
	fake_start(4, 0);
	fake->group->member[1].met = true;
	fake_row(1000, 1000);
	fake->op->tx.msg[0].announced_at = fake->now;
	fake->op->tx.msg[1].announced_at = fake->now;
	fake->n_sent = 0;
	fake_advance(290 * MS);
	KUNIT_ASSERT_GE(test, fake_sent(SHUFFLE_RESEND, 1), 1U);
	KUNIT_EXPECT_EQ(test, (u32)fake_last(SHUFFLE_RESEND, 1)->w.flags, 0U);
	fake->n_sent = 0;
	fake_advance(5000 * MS);
	KUNIT_ASSERT_GE(test, fake_sent(SHUFFLE_DATA, 0), 1U);
	KUNIT_ASSERT_GE(test, fake_sent(SHUFFLE_DATA, 1), 1U);
	KUNIT_EXPECT_EQ(test, (u32)fake_last(SHUFFLE_DATA, 0)->w.flags & SHUFFLE_FLAG_MET, 0U);
	KUNIT_EXPECT_EQ(test, (u32)fake_last(SHUFFLE_DATA, 1)->w.flags & SHUFFLE_FLAG_MET,
			(u32)SHUFFLE_FLAG_MET);
	KUNIT_ASSERT_GE(test, fake_sent(SHUFFLE_RESEND, 1), 1U);
	KUNIT_EXPECT_EQ(test, (u32)fake_last(SHUFFLE_RESEND, 1)->w.flags, (u32)SHUFFLE_FLAG_MET);
	/* an announcement, or an ACK */
	KUNIT_EXPECT_FALSE(test, fake->group->member[0].met);
	KUNIT_EXPECT_FALSE(test, fake->group->member[2].met);
	fake_rx(0, 1000, 0, 0);
	fake_ack(2);
	KUNIT_EXPECT_TRUE(test, fake->group->member[0].met);
	KUNIT_EXPECT_TRUE(test, fake->group->member[2].met);
}

/* A message whose ACK does not come is asked about; a member that has not started is not. */
static void timer__probe(struct kunit *test)
{
	u64 start;

	fake_start(2, 0);
	fake_row(1000, 1000);
	fake_ack(1);
	fake_advance(2000 * MS);
	FAKE_COUNTED(test, ProbeOut, 0);
	fake_rx(1, 1000, 0, 1000);
	fake_rx(0, 1000, 0, 1000);
	start = fake->now;
	fake->n_sent = 0;
	fake_advance(99 * MS);
	FAKE_COUNTED(test, ProbeOut, 0);
	fake_advance(2 * MS);
	FAKE_COUNTED(test, ProbeOut, 1);
	KUNIT_EXPECT_EQ(test, (u32)fake_last(SHUFFLE_DATA, 0)->w.flags,
			(u32)(SHUFFLE_FLAG_PROBE | SHUFFLE_FLAG_HEARD));
	EXPECT_ABOUT(test, fake_last(SHUFFLE_DATA, 0)->at - start, 100 * MS);
	fake_advance(201 * MS);
	FAKE_COUNTED(test, ProbeOut, 2);
	fake_ack(0);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	fake_advance(2000 * MS);
	FAKE_COUNTED(test, ProbeOut, 2);
	KUNIT_EXPECT_EQ(test, fake->timer_at, U64_MAX);
}

static void timer__deadline(struct kunit *test)
{
	fake_start(2, 300);
	fake_advance(299 * MS);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	fake_advance(1 * MS);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fake->timer_at, U64_MAX);
}

/* Without a deadline: so long without a sign of life. */
static void timer__idle(struct kunit *test)
{
	fake->ssk.idle_ms = 100;
	fake_start(2, 0);
	fake_advance(90 * MS);
	fake_rx(0, 5000, 0, 1000);
	fake_advance(99 * MS);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	fake_advance(2 * MS);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
}

/* All that are missing have spoken, so the operation waits a little longer, and asks them once more
 * for what they know: one may have left, and its word may be lost.
 */
static void timer__idle_asks_once_more(struct kunit *test)
{
	u64 end;
	u32 i;

	fake->unsched = 1000;
	fake->ssk.idle_ms = 4000;
	fake_start(5, 0);
	fake_row(10000, 2000);
	/* one is to send, one to grant, one to acknowledge; one has said nothing of its message */
	for (i = 0; i < 3; i++)
		fake_rx(i, 1000, 0, i ? 1000 : 500);
	fake->op->tx.sched.msg[2].next = 10000;
	end = fake->op->life.progress_at + 4000 * MS;
	fake_advance(3990 * MS);
	for (i = 0; i < 4; i++)
		fake->op->rx.msg[i].heard_at = fake->now;
	while (!fake->op->life.asked_others && fake->now < end + MS) {
		fake->n_sent = 0;
		fake_advance(MS / 4);
	}
	KUNIT_ASSERT_TRUE(test, fake->op->life.asked_others);
	fake_advance(20 * MS);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_DATA, 1), 0U);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_DATA, 2), 0U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 3), 1U);
	/* and soon again: they may leave only now */
	fake_advance(470 * MS);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_RESEND, 0), 2U);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_DATA, 1), 2U);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_DATA, 2), 2U);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_RESEND, 3), 2U);
	fake_advance(20 * MS);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
}

/* A machine that was asleep asks once, not for every limit that has passed meanwhile. */
static void timer__clock_jumps(struct kunit *test)
{
	fake->unsched = 3000;
	fake_start(2, 0);
	fake_rx(1, 0, 0, 0);
	fake_rx(0, 3000, 0, 1000);
	fake_rx(0, 3000, 2000, 1000);
	fake->n_sent = 0;
	fake->now += 3600ULL * NSEC_PER_SEC;
	fake_advance(MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 1U);
	KUNIT_EXPECT_LE(test, fake->timer_at, fake->now + 200 * MS);
}

/* It is late again and again while others deliver. */
static void timer__straggler(struct kunit *test)
{
	u64 off;

	fake->unsched = 1 << 20;
	fake_start(3, 0);
	/* before an answer was measured, nobody is late while data comes from anybody */
	fake->op->rx.srtt_ns = MS;
	fake_rx(2, 0, 0, 0);
	fake_rx(0, 5000, 0, 1000);
	for (off = 0; off < 15 << 20; off += 1000) {
		fake_rx(1, 16 << 20, off, 1000);
		fake_advance(20 * NSEC_PER_USEC);
	}
	KUNIT_EXPECT_EQ(test, fake->stragglers, 1U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), 0U);
}

/* Nothing moves: those that are to grant are asked whether they are there, and no others. */
static void probes_blocked(struct kunit *test, u32 idle_ms, u64 deadline_ms)
{
	u32 i;

	fake->ssk.idle_ms = idle_ms;
	fake_start(4, deadline_ms);
	fake_row(10000, 2000);
	for (i = 0; i < 4; i++)
		fake_rx(i, 1000, 0, 1000);
	/* all of this one has left, so its ACK is asked for */
	fake->op->tx.sched.msg[2].next = 10000;
	fake->n_sent = 0;
	for (i = 0; i < 2; i++)
		fake->op->tx.msg[i].announced_at = fake->now;
	fake_advance(450 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 0), 0U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 1), 0U);
	fake_advance(300 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 0), 1U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 1), 1U);
	KUNIT_EXPECT_TRUE(test, fake_last(SHUFFLE_DATA, 0)->w.flags & SHUFFLE_FLAG_PROBE);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 3), 0U);
}

static void timer__probes_blocked(struct kunit *test)
{
	probes_blocked(test, 4000, 0);
}

/* A deadline that comes before the idle timeout leaves less time to ask. */
static void timer__probes_blocked_deadline(struct kunit *test)
{
	probes_blocked(test, 60000, 4000);
}

/* However many are late: a few at a time, and all of them in the end. */
static void timer__slices(struct kunit *test)
{
	u32 members = 4096, i, n;

	fake->unsched = 1000;
	fake_start(members, 0);
	for (i = 0; i < members; i++)
		fake_rx(i, 1000, 0, 0);
	fake->n_sent = 0;
	while (fake->now < 3 * NSEC_PER_SEC && fake->n_sent < members - 1) {
		n = fake->n_sent;
		fake_fire();
		KUNIT_ASSERT_LE(test, fake->n_sent - n, (u32)SHUFFLE_BURST);
	}
	for (i = 0; i < members - 1; i++)
		KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_RESEND, i), 1U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, members - 1), 0U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(timer__solicits),
	KUNIT_CASE(timer__solicits_the_rest),
	KUNIT_CASE(timer__probes_blocked),
	KUNIT_CASE(timer__probes_blocked_deadline),
	KUNIT_CASE(timer__solicits_all),
	KUNIT_CASE(timer__solicits_after_a_start),
	KUNIT_CASE(timer__solicits_after_older_packets),
	KUNIT_CASE(timer__solicits_late_starters),
	KUNIT_CASE(timer__measured_by_another),
	KUNIT_CASE(timer__measured_by_acks),
	KUNIT_CASE(timer__gap),
	KUNIT_CASE(timer__silence),
	KUNIT_CASE(timer__small_buffer),
	KUNIT_CASE(timer__late_reader),
	KUNIT_CASE(timer__slow_data),
	KUNIT_CASE(timer__lost_end),
	KUNIT_CASE(timer__late_data),
	KUNIT_CASE(timer__asked_twice),
	KUNIT_CASE(timer__split_answers),
	KUNIT_CASE(timer__older_packet),
	KUNIT_CASE(timer__announced_again),
	KUNIT_CASE(timer__probe_absent),
	KUNIT_CASE(timer__says_who_was_met),
	KUNIT_CASE(timer__probe),
	KUNIT_CASE(timer__deadline),
	KUNIT_CASE(timer__idle),
	KUNIT_CASE(timer__idle_asks_once_more),
	KUNIT_CASE(timer__clock_jumps),
	KUNIT_CASE(timer__straggler),
	KUNIT_CASE(timer__slices),
	{}
};

struct kunit_suite shuffle_timer_suite = {
	.name = "shuffle_timer",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
