// SPDX-License-Identifier: GPL-2.0-only
/* Window mode scale-back: what members tell each other of the slowest receiver. */
#include "fake.h"
#include "../netlink/netlink.h"

#define LONG	(1 << 20)
#define WAY	(20ULL * FAKE_PAYLOAD)	/* RTTbytes of the fake's device */

static void start(u32 window_mode)
{
	fake->dev.cfg.window_mode = window_mode;
	fake->dev.cfg.scale_back_exponent = 1;
	fake->dev.rate = FAKE_MBPS;
	fake_start(3, 0);
	fake_row(1000, 1000);
}

/* A GRANT for our message to member 0 comes in. */
static void hear(u8 flags, u64 nonce, u64 bytes)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_GRANT, .flags = flags, .nonce = nonce, .slowest = bytes,
		.grant.limit = 1000,
	};

	spin_lock_bh(&fake->ssk.lock);
	shuffle_msg_out_grant(fake->op, &w, fake->now);
	spin_unlock_bh(&fake->ssk.lock);
}

static void hear_slowest(u64 bytes)
{
	hear(SHUFFLE_FLAG_SLOWEST, shuffle_op_nonce(fake->op, 0), bytes + WAY);
}

/* What the next record tells, and whether it is of another member. */
static u64 told(bool hearsay)
{
	struct shuffle_wire w = { .type = SHUFFLE_GRANT };

	spin_lock_bh(&fake->ssk.lock);
	shuffle_slowest_tell(fake->op, &w);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_EQ(fake->test, w.flags,
			SHUFFLE_FLAG_SLOWEST | (hearsay ? SHUFFLE_FLAG_HEARSAY : 0U));
	return w.slowest;
}

/* What limits the column. */
static u64 limiting(void)
{
	spin_lock_bh(&fake->ssk.lock);
	shuffle_slowest_limits(fake->op, fake->now);
	spin_unlock_bh(&fake->ssk.lock);
	return fake->op->rx.sched.slowest;
}

/* In other window modes nothing is told, and what is heard changes nothing. */
static void slowest__other_modes(struct kunit *test)
{
	start(SHUFFLE_NL_WINDOW_MODE_PRO_RATA);
	hear_slowest(1ULL << 40);
	fake_rx(0, LONG, 0, 1000);
	fake_rx(1, LONG, 0, 1000);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_GRANT, SHUFFLE_NONE), 0U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_GRANT, 0)->w.flags, 0U);
	KUNIT_EXPECT_EQ(test, fake->op->rx.sched.scale_back, 0U);
}

/* The own remainder, in every GRANT and ACK. */
static void slowest__own(struct kunit *test)
{
	start(SHUFFLE_NL_WINDOW_MODE_SCALE_BACK);
	fake_rx(0, LONG, 0, 1000);
	/* no guess at what has not been announced */
	KUNIT_EXPECT_EQ(test, told(false), LONG - 1000ULL);
	fake_rx(2, 0, 0, 0);
	fake_rx(1, 500, 0, 500);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_GRANT, 0)->w.flags, SHUFFLE_FLAG_SLOWEST + 0U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_ACK, 1)->w.flags, SHUFFLE_FLAG_SLOWEST + 0U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_ACK, 1)->w.slowest, LONG - 1000ULL);
	/* less than the way of the packet: nothing that is sure */
	hear(SHUFFLE_FLAG_SLOWEST, shuffle_op_nonce(fake->op, 0), WAY);
	KUNIT_EXPECT_EQ(test, limiting(), 0ULL);
}

/* What was heard gets smaller by a byte in a nanosecond, the rate of the fake's link. */
static void slowest__ages(struct kunit *test)
{
	start(SHUFFLE_NL_WINDOW_MODE_SCALE_BACK);
	hear_slowest(5000000);
	KUNIT_EXPECT_EQ(test, told(true), 5000000ULL);
	fake->now += 1000000;
	KUNIT_EXPECT_EQ(test, told(true), 4000000ULL);
	KUNIT_EXPECT_EQ(test, limiting(), 4000000ULL);
	hear_slowest(3999999);
	KUNIT_EXPECT_EQ(test, told(true), 4000000ULL);
	hear_slowest(4500000);
	KUNIT_EXPECT_EQ(test, told(true), 4500000ULL);
	/* the clock of another CPU is behind */
	fake->now -= 1000;
	KUNIT_EXPECT_EQ(test, told(true), 4500000ULL);
	fake->now += 6000000000ULL;
	KUNIT_EXPECT_EQ(test, told(false), 0ULL);
	/* the most that fits a record lasts for days */
	hear_slowest(0xffffffffULL * SHUFFLE_SLOWEST_UNIT);
	fake->now += NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, limiting(), 0xffffffffULL * SHUFFLE_SLOWEST_UNIT - NSEC_PER_SEC);
}

/* Hearsay limits the column, and is not told on. */
static void slowest__hearsay(struct kunit *test)
{
	start(SHUFFLE_NL_WINDOW_MODE_SCALE_BACK);
	hear_slowest(1000000);
	hear(SHUFFLE_FLAG_SLOWEST | SHUFFLE_FLAG_HEARSAY, shuffle_op_nonce(fake->op, 0),
	     9000000 + WAY);
	KUNIT_EXPECT_EQ(test, limiting(), 9000000ULL);
	KUNIT_EXPECT_EQ(test, told(true), 1000000ULL);
	fake_rx(0, 2000000, 0, 0);
	KUNIT_EXPECT_EQ(test, told(false), 2000000ULL);
	KUNIT_EXPECT_EQ(test, limiting(), 9000000ULL);
}

/* Only records with the flag, and the nonce of our message. */
static void slowest__not_believed(struct kunit *test)
{
	start(SHUFFLE_NL_WINDOW_MODE_SCALE_BACK);
	hear(0, shuffle_op_nonce(fake->op, 0), 5000000);
	KUNIT_EXPECT_EQ(test, told(false), 0ULL);
	hear(SHUFFLE_FLAG_SLOWEST, shuffle_op_nonce(fake->op, 0) + 1, 5000000);
	KUNIT_EXPECT_EQ(test, told(false), 0ULL);
	FAKE_COUNTED(test, DropState, 1);
}

/* @n times 64 kB arrive behind @off: new grants keep to the new limit. */
static u64 arrive(u64 off, u32 n)
{
	while (n--) {
		fake_rx(0, 32 * LONG, off, 64000);
		off += 64000;
	}
	return off;
}

/* Half of what the slowest waits for: half of the limit, and a quarter by the second power. */
static void slowest__limits(struct kunit *test)
{
	u64 all, out, off;

	fake->dev.cfg.overcommit = 80;
	start(SHUFFLE_NL_WINDOW_MODE_SCALE_BACK);
	fake_rx(2, 0, 0, 0);
	fake_rx(1, 0, 0, 0);
	off = arrive(0, 1);
	all = fake->op->rx.sched.outstanding;
	KUNIT_EXPECT_GT(test, all, 1000000ULL);
	hear_slowest(64 * LONG);
	off = arrive(off, 20);
	out = fake->op->rx.sched.outstanding;
	KUNIT_EXPECT_LE(test, out, all * 13 / 20);
	KUNIT_EXPECT_GE(test, out, all * 7 / 20);
	fake->dev.cfg.scale_back_exponent = 2;
	arrive(off, 20);
	out = fake->op->rx.sched.outstanding;
	KUNIT_EXPECT_LE(test, out, all * 8 / 20);
	KUNIT_EXPECT_GE(test, out, all * 2 / 20);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(slowest__other_modes),
	KUNIT_CASE(slowest__own),
	KUNIT_CASE(slowest__ages),
	KUNIT_CASE(slowest__hearsay),
	KUNIT_CASE(slowest__not_believed),
	KUNIT_CASE(slowest__limits),
	{}
};

struct kunit_suite shuffle_slowest_suite = {
	.name = "shuffle_slowest",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
