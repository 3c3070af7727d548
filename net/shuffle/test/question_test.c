// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses that are proved by a sender's answer.  The least time limit of the fake is 1 ms, so a
 * question about silence leaves after 0.125 ms or more.
 */
#include "fake.h"

#define US	NSEC_PER_USEC
#define MS	NSEC_PER_MSEC

/* Two members and we; data has come within 0.1 ms of its grant so far. */
static void start(u64 unsched)
{
	fake->unsched = unsched;
	fake_start(3, 0);
	fake_rx(1, 0, 0, 0);
	fake->op->rx.srtt_ns = 100 * US;
	fake->op->rx.rttvar_ns = 20 * US;
}

/* A member says that all of its message below @off has left. */
static void answer(u32 rank, u64 len, u64 off)
{
	fake->flags = SHUFFLE_FLAG_SENT;
	fake_rx(rank, len, off, 0);
	fake->flags = 0;
}

/* RESENDs to a member that ask for data */
static u32 asked(u32 rank)
{
	u32 i, n = 0;

	for (i = 0; i < fake->n_sent; i++)
		if (fake->sent[i].w.type == SHUFFLE_RESEND && fake->sent[i].rank == rank &&
		    fake->sent[i].w.resend.len)
			n++;
	return n;
}

/* RESENDs to a member that only ask what has left */
static u32 questions(u32 rank)
{
	return fake_sent(SHUFFLE_RESEND, rank) - asked(rank);
}

/* Data behind a gap: one question, and its answer brings what is missing, without a time limit. */
static void question__gap(struct kunit *test)
{
	const struct fake_record *r;

	start(5000);
	fake_rx(0, 5000, 0, 1000);
	KUNIT_EXPECT_EQ(test, questions(0), 0U);
	fake_rx(0, 5000, 2000, 1000);
	KUNIT_EXPECT_EQ(test, questions(0), 1U);
	r = fake_last(SHUFFLE_RESEND, 0);
	KUNIT_EXPECT_EQ(test, r->w.resend.off, 1000ULL);
	KUNIT_EXPECT_EQ(test, r->w.nonce, FAKE_NONCE(0));
	/* what was granted goes along: that may have been lost */
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_GRANT, 0)->w.grant.limit, 5000ULL);
	/* one that is open is enough */
	fake_rx(0, 5000, 3000, 500);
	KUNIT_EXPECT_EQ(test, questions(0), 1U);
	KUNIT_EXPECT_EQ(test, asked(0), 0U);

	answer(0, 5000, 5000);
	KUNIT_EXPECT_EQ(test, asked(0), 2U);
	r = fake_last(SHUFFLE_RESEND, 0);
	KUNIT_EXPECT_EQ(test, r->w.resend.off, 3500ULL);
	KUNIT_EXPECT_EQ(test, r->w.resend.len, 1500ULL);
	FAKE_COUNTED(test, LossProved, 1);
	/* a copy of the answer asks for nothing */
	answer(0, 5000, 5000);
	KUNIT_EXPECT_EQ(test, asked(0), 2U);

	fake->flags = SHUFFLE_FLAG_RETRANS;
	fake_rx(0, 5000, 1000, 1000);
	fake_rx(0, 5000, 3500, 1500);
	KUNIT_EXPECT_TRUE(test, fake->op->rx.msg[0].complete);
	FAKE_COUNTED(test, LossDisproved, 0);
	FAKE_COUNTED(test, DupBytes, 0);
}

/* What has not left is not lost, and what was granted bounds what a sender may say. */
static void question__sent_so_far(struct kunit *test)
{
	u64 granted;

	start(3000);
	fake_rx(0, 100000, 0, 1000);
	fake_rx(0, 100000, 2000, 500);
	KUNIT_EXPECT_EQ(test, questions(0), 1U);
	granted = fake->op->rx.sched.msg[0].granted;
	KUNIT_ASSERT_LT(test, granted, 100000ULL);
	answer(0, 100000, 2500);
	KUNIT_EXPECT_EQ(test, asked(0), 1U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 1000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len, 1000ULL);

	fake_rx(0, 100000, 2500, 500);
	KUNIT_EXPECT_EQ(test, questions(0), 2U);
	answer(0, 100000, 100000);
	KUNIT_EXPECT_LE(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off +
			      fake_last(SHUFFLE_RESEND, 0)->w.resend.len,
			fake->op->rx.sched.msg[0].granted);
}

/* A packet that others overtake by less than a round trip is there before the answer. */
static void question__reordered(struct kunit *test)
{
	start(3000);
	fake_rx(0, 3000, 0, 1000);
	fake_rx(0, 3000, 2000, 500);
	fake_rx(0, 3000, 1000, 1000);
	answer(0, 3000, 2500);
	KUNIT_EXPECT_EQ(test, questions(0), 1U);
	KUNIT_EXPECT_EQ(test, asked(0), 0U);
	FAKE_COUNTED(test, LossProved, 0);
	/* all has come: the answer to an older question is not taken for a lost ACK */
	fake_rx(0, 3000, 2500, 500);
	fake->n_sent = 0;
	answer(0, 3000, 3000);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 0U);
}

/* By more: what was asked for comes by itself, and from then on only time limits count. */
static void question__overtaken(struct kunit *test)
{
	start(6000);
	fake_rx(0, 6000, 0, 1000);
	fake_rx(0, 6000, 2000, 500);
	answer(0, 6000, 2500);
	KUNIT_EXPECT_EQ(test, asked(0), 1U);
	fake_rx(0, 6000, 1000, 1000);
	FAKE_COUNTED(test, LossDisproved, 1);
	/* what starts soon believes no answers either */
	KUNIT_EXPECT_TRUE(test, shuffle_dev_overtakes(fake->op->dev));
	fake->n_sent = 0;
	fake_rx(0, 6000, 4000, 500);
	fake_advance(900 * US);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	fake_advance(10 * MS);
	KUNIT_EXPECT_EQ(test, questions(0), 0U);
	KUNIT_EXPECT_GE(test, asked(0), 1U);
}

/* The last packet: nothing comes behind it.  Its sender is asked before a time limit. */
static void question__silence(struct kunit *test)
{
	start(3000);
	fake_rx(0, 3000, 0, 2000);
	fake_advance(100 * US);
	KUNIT_EXPECT_EQ(test, questions(0), 0U);
	fake_advance(100 * US);
	KUNIT_EXPECT_EQ(test, questions(0), 1U);
	answer(0, 3000, 3000);
	KUNIT_EXPECT_EQ(test, asked(0), 1U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.off, 2000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.resend.len, 1000ULL);
	/* that may be lost, too: the sender is asked again */
	fake_advance(500 * US);
	KUNIT_EXPECT_GE(test, questions(0), 2U);
	KUNIT_EXPECT_EQ(test, asked(0), 1U);
	answer(0, 3000, 3000);
	KUNIT_EXPECT_EQ(test, asked(0), 2U);
}

/* A sender that stops for some time limits, where others have answered, has nothing to send
 * twice; one that goes on saying nothing is asked for its data in the end.
 */
static void question__stopped_sender(struct kunit *test)
{
	start(3000);
	fake->op->rx.answered = true;
	fake_rx(0, 3000, 0, 1000);
	fake_advance(10 * MS);
	KUNIT_EXPECT_GE(test, questions(0), 4U);
	KUNIT_EXPECT_LE(test, questions(0), 8U);
	KUNIT_EXPECT_EQ(test, asked(0), 0U);
	fake_advance(500 * MS);
	KUNIT_EXPECT_GE(test, asked(0), 1U);
}

/* One that knows no questions, of an older module, is asked for data at the second time limit. */
static void question__old_sender(struct kunit *test)
{
	start(3000);
	fake_rx(0, 3000, 0, 1000);
	fake_advance(10 * MS);
	KUNIT_EXPECT_GE(test, asked(0), 1U);
}

/* A limit that passes while questions are open counts once, whatever comes behind the gap. */
static void question__stalled_once(struct kunit *test)
{
	u32 i;

	start(6000);
	fake_rx(0, 6000, 0, 1000);
	fake_rx(0, 6000, 2000, 500);
	for (i = 0; i < 4; i++) {
		fake_advance(300 * US);
		fake_rx(0, 6000, 3000 + 500 * i, 500);
	}
	KUNIT_EXPECT_EQ(test, fake->op->rx.sched.msg[0].stalls, 1);
}

/* An answer to no question asks for nothing, whoever makes it, and neither does one without the
 * nonce.
 */
static void question__forged_answer(struct kunit *test)
{
	start(3000);
	fake_rx(0, 3000, 0, 1000);
	answer(0, 3000, 3000);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	fake_rx(0, 3000, 2000, 500);
	KUNIT_EXPECT_EQ(test, questions(0), 1U);
	fake->flags = SHUFFLE_FLAG_SENT;
	fake_rx_nonce(0, FAKE_NONCE(1), 3000, 3000, 0);
	fake->flags = 0;
	KUNIT_EXPECT_EQ(test, asked(0), 0U);
	FAKE_COUNTED(test, DropNonce, 1);
}

/* Before anything has been measured, time limits are all there is. */
static void question__nothing_measured(struct kunit *test)
{
	start(3000);
	fake->op->rx.srtt_ns = 0;
	fake_rx(0, 3000, 0, 1000);
	fake_rx(0, 3000, 2000, 500);
	fake_advance(49 * MS);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	fake_advance(2 * MS);
	KUNIT_EXPECT_EQ(test, questions(0), 0U);
	KUNIT_EXPECT_GE(test, asked(0), 1U);
}

/* However many gaps there are, sixteen of them are asked for at once. */
static void question__few_at_once(struct kunit *test)
{
	u32 i;

	start(60000);
	fake_rx(0, 60000, 0, 1000);
	for (i = 1; i < 30; i++)
		fake_rx(0, 60000, 2000 * i, 1000);
	KUNIT_EXPECT_EQ(test, questions(0), 1U);
	answer(0, 60000, 60000);
	KUNIT_EXPECT_EQ(test, asked(0), 16U);
}

/* A sender that answers and has sent no more is asked eight times; then its data is asked for. */
static void question__bounded(struct kunit *test)
{
	u32 i;

	start(3000);
	fake->op->rx.answered = true;
	fake_rx(0, 3000, 0, 1000);
	for (i = 0; i < 100; i++)
		fake_advance(100 * MS);
	KUNIT_EXPECT_EQ(test, questions(0), 8U);
	KUNIT_EXPECT_GE(test, asked(0), 1U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(question__gap),
	KUNIT_CASE(question__sent_so_far),
	KUNIT_CASE(question__reordered),
	KUNIT_CASE(question__overtaken),
	KUNIT_CASE(question__silence),
	KUNIT_CASE(question__stopped_sender),
	KUNIT_CASE(question__old_sender),
	KUNIT_CASE(question__stalled_once),
	KUNIT_CASE(question__forged_answer),
	KUNIT_CASE(question__nothing_measured),
	KUNIT_CASE(question__few_at_once),
	KUNIT_CASE(question__bounded),
	{}
};

struct kunit_suite shuffle_question_suite = {
	.name = "shuffle_question",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
