// SPDX-License-Identifier: GPL-2.0-only
/* A message that goes on to others while it comes: what goes on when, and what the reader gets. */
#include "fake.h"
#include "../sched/rate.h"

#define FROM	0	/* of four members, of which we are the last one */
#define LEN	100000

static const struct shuffle_forward from = { .size = sizeof(from), .from = FROM };
static struct {
	struct shuffle_absent	head;
	u64			bits;
} absent = { { .size = sizeof(absent.head), .words = 1 }, 0xe };

static void start(void)
{
	fake->forward = &from;
	fake->absent = &absent.head;
	fake_start(4, 0);
}

static u64 gone(u32 rank)
{
	return fake->op->ptx.msg[rank].limit;
}

static void arrive(u64 start, u64 end)
{
	for (; start < end; start += FAKE_PAYLOAD)
		fake_rx(FROM, LEN, start, min_t(u64, end - start, FAKE_PAYLOAD));
}

/* Whole packets as they come in order, to all that have such a message; nothing before the row. */
static void forward__in_order(struct kunit *test)
{
	fake->unsched = LEN;
	start();
	arrive(0, 2000);
	KUNIT_EXPECT_EQ(test, gone(1), 0ULL);
	fake_forward(LEN);
	KUNIT_EXPECT_EQ(test, gone(1), 2000ULL);
	KUNIT_EXPECT_EQ(test, gone(2), 2000ULL);
	KUNIT_EXPECT_EQ(test, gone(FROM), 0ULL);
	KUNIT_EXPECT_EQ(test, gone(shuffle_group_all(fake->op->group)), 0ULL);
	/* a part of a packet, and one behind a gap */
	fake_rx(FROM, LEN, 2000, 500);
	arrive(3000, 4000);
	KUNIT_EXPECT_EQ(test, gone(1), 2000ULL);
	fake_rx(FROM, LEN, 2500, 500);
	KUNIT_EXPECT_EQ(test, gone(1), 4000ULL);
	arrive(4000, LEN);
	KUNIT_EXPECT_EQ(test, gone(1), (u64)LEN);
	FAKE_COUNTED(test, ForwardBytes, LEN);
	FAKE_COUNTED(test, SameAlone, 0);
}

/* Asked for a message that has yet to come to us, we say that we are there, once for each question;
 * such an answer is none.
 */
static void forward__says_waits(struct kunit *test)
{
	const struct fake_record *r;
	u32 i;

	fake->unsched = LEN;
	start();
	/* not announced, then announced but nothing has come */
	fake_resend(1, false, 0, 0);
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), 1U);
	r = fake_last(SHUFFLE_RESEND, 1);
	KUNIT_EXPECT_EQ(test, r->w.flags, SHUFFLE_FLAG_WAITS);
	KUNIT_EXPECT_EQ(test, r->w.nonce, 0ULL);
	KUNIT_EXPECT_EQ(test, r->w.resend.len, 0ULL);
	fake_forward(LEN);
	fake->op->out[1].announced_at = 0;
	fake_resend(1, false, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), 2U);
	fake_waits(1);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), 2U);
	/* anybody can ask: as many as a group of that size may, and then no more for now */
	for (i = 0; i < 100; i++)
		fake_resend(1, false, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), SHUFFLE_RATE_BURST);
	fake->now += NSEC_PER_SEC;
	fake_resend(1, false, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), SHUFFLE_RATE_BURST + 1);
}

/* A send buffer that is full stops it; what has not gone on is not the reader's yet. */
static void forward__no_room(struct kunit *test)
{
	struct shuffle_msg_in *in;
	u64 most;
	u32 i;

	fake->unsched = LEN;
	start();
	fake_forward(LEN);
	in = &fake->op->in[FROM];
	fake->ssk.sk.sk_sndbuf = 20000;
	arrive(0, LEN);
	most = gone(1);
	KUNIT_EXPECT_GE(test, most, 5000ULL);
	KUNIT_EXPECT_LE(test, most, 30000ULL);
	KUNIT_EXPECT_TRUE(test, in->complete);
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_msg_in_end(in)), most);
	KUNIT_EXPECT_FALSE(test, FAKE_LOCKED(shuffle_msg_in_readable(in, false)));
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->ssk.forwards));
	/* each receiver has what has gone: there is room again */
	for (i = 0; i < 100 && gone(1) < LEN; i++) {
		fake->op->ptx.msg[1].next = gone(1);
		fake->op->ptx.msg[2].next = gone(2);
		fake_grant(1, LEN, gone(1));
		KUNIT_EXPECT_EQ(test, gone(1), most);
		fake_grant(2, LEN, gone(2));
		fake_fire();
		KUNIT_ASSERT_GT(test, gone(1), most);
		most = gone(1);
	}
	KUNIT_EXPECT_EQ(test, gone(1), (u64)LEN);
	KUNIT_EXPECT_TRUE(test, FAKE_LOCKED(shuffle_msg_in_readable(in, false)));
}

/* Without memory nothing goes on, and nothing is lost: the timer tries again. */
static void forward__no_memory(struct kunit *test)
{
	fake->unsched = LEN;
	start();
	arrive(0, 5000);
	fake->memory_refused = true;
	fake_forward(LEN);
	KUNIT_EXPECT_EQ(test, gone(1), 0ULL);
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_msg_in_end(&fake->op->in[FROM])), 0ULL);
	fake->memory_refused = false;
	fake_advance(100 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, gone(1), 5000ULL);
}

/* It has another length than the row: the operation fails, whichever was known first. */
static void forward__other_length(struct kunit *test)
{
	fake->unsched = LEN;
	start();
	fake_forward(LEN - 1);
	arrive(0, 1000);
	KUNIT_EXPECT_EQ(test, fake->op->error, EPROTO);
	KUNIT_EXPECT_EQ(test, gone(1), 0ULL);
}

static void forward__other_length_early(struct kunit *test)
{
	fake->unsched = LEN;
	start();
	arrive(0, 1000);
	fake_forward(LEN + 1);
	KUNIT_EXPECT_EQ(test, fake->op->error, EPROTO);
	KUNIT_EXPECT_EQ(test, gone(1), 0ULL);
}

/* The ACK of what comes from a receiver does not wait for a message whose time nobody knows. */
static void forward__ack_at_once(struct kunit *test)
{
	fake->unsched = LEN;
	fake->forward = &from;
	absent.bits = 0xc;
	fake->absent = &absent.head;
	fake_start(4, 0);
	absent.bits = 0xe;
	fake_forward(LEN);
	fake_rx(1, 100, 0, 100);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 1), 1U);
}

/* A full send buffer has room for a chunk if none of this operation is in it. */
static void forward__room_for_one(struct kunit *test)
{
	u64 most;

	fake->unsched = LEN;
	start();
	fake_forward(LEN);
	fake->ssk.sk.sk_sndbuf = 20000;
	fake->ssk.sk.sk_wmem_queued += 20000;
	arrive(0, LEN);
	most = gone(1);
	KUNIT_EXPECT_GT(test, most, 0ULL);
	KUNIT_EXPECT_LE(test, most, 10ULL * FAKE_PAYLOAD);
	/* and again when that has gone */
	fake->op->ptx.msg[1].next = most;
	fake->op->ptx.msg[2].next = most;
	fake_grant(1, LEN, most);
	fake_grant(2, LEN, most);
	fake_fire();
	KUNIT_EXPECT_GT(test, gone(1), most);
	fake->ssk.sk.sk_wmem_queued -= 20000;
}

/* It fails while the message waits to go on: the reader gets it. */
static void forward__fails(struct kunit *test)
{
	fake->unsched = LEN;
	start();
	fake_forward(LEN);
	fake->ssk.sk.sk_sndbuf = 20000;
	arrive(0, LEN);
	KUNIT_EXPECT_FALSE(test, FAKE_LOCKED(shuffle_msg_in_readable(&fake->op->in[FROM], false)));
	spin_lock_bh(&fake->ssk.lock);
	shuffle_op_fail(fake->op, ETIMEDOUT);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_TRUE(test, FAKE_LOCKED(shuffle_msg_in_readable(&fake->op->in[FROM], false)));
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->op->in[FROM].ready.node));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->ssk.forwards));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(forward__in_order),
	KUNIT_CASE(forward__says_waits),
	KUNIT_CASE(forward__no_room),
	KUNIT_CASE(forward__no_memory),
	KUNIT_CASE(forward__other_length),
	KUNIT_CASE(forward__other_length_early),
	KUNIT_CASE(forward__fails),
	KUNIT_CASE(forward__ack_at_once),
	KUNIT_CASE(forward__room_for_one),
	{}
};

struct kunit_suite shuffle_forward_suite = {
	.name = "shuffle_forward",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
