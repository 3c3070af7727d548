// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members that leave: who is told, who believes it, who ends because of it, and who is named.
 */
#include "fake.h"
#include "../abort.h"

static const struct shuffle_blame CLOSED_0 = {
	.reason = SHUFFLE_LEFT_CLOSED, .ranks = 1, .rank = { 0 },
};

/* An ABORT of a member comes in. */
static void heard_from(u32 rank, u8 flags, u64 nonce, const struct shuffle_blame *blame)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_ABORT, .flags = flags, .op_id = FAKE_OP, .nonce = nonce,
		.src_rank = rank, .dst_rank = fake->group->rank, .blame = *blame,
	};

	spin_lock_bh(&fake->ssk.lock);
	shuffle_abort_heard(fake->op, &w, fake->now);
	spin_unlock_bh(&fake->ssk.lock);
}

static void expect_missing(struct kunit *test, u32 rank, u16 flags)
{
	u32 i;

	for (i = 0; i < fake->group->count; i++)
		KUNIT_EXPECT_EQ(test, shuffle_op_missing(fake->op, i), i == rank ? flags : 0);
}

/* One leaves: only it is named, though others have not sent all, either. */
static void abort__names_who_left(struct kunit *test)
{
	fake_start(4, 0);
	fake_row(10000, 2000);
	fake_rx(0, 5000, 0, 0);
	fake_rx(1, 5000, 0, 0);
	heard_from(0, 0, FAKE_NONCE(0), &CLOSED_0);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ECONNRESET);
	KUNIT_EXPECT_EQ(test, shuffle_abort_errno(fake->op->life.blame.reason), EPIPE);
	expect_missing(test, 0, SHUFFLE_MISSING_LEFT | SHUFFLE_MISSING_RECV |
				SHUFFLE_MISSING_ACK);
	KUNIT_EXPECT_EQ(test, fake->group->left_at, fake->now);
	KUNIT_EXPECT_EQ(test, fake->group->left.ranks, 1);
	KUNIT_EXPECT_EQ(test, fake->group->left.rank[0], 0);
	FAKE_COUNTED(test, AbortIn, 1);
}

/* Who has only been silent, or cancels, has not left. */
static void abort__has_not_left(struct kunit *test)
{
	const struct shuffle_blame cancelled = {
		.reason = SHUFFLE_LEFT_CANCELLED, .ranks = 1, .rank = { 0 },
	}, silent = {
		.reason = SHUFFLE_LEFT_TIMED_OUT, .ranks = 1, .rank = { 1 },
	};

	fake_start(3, 0);
	fake_row(10000, 2000);
	heard_from(0, 0, 1, &cancelled);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	KUNIT_EXPECT_EQ(test, fake->group->left_at, 0ULL);
	fake_end();
	fake_start(3, 0);
	fake_row(10000, 2000);
	heard_from(0, 0, 1, &silent);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	KUNIT_EXPECT_EQ(test, fake->group->left_at, 0ULL);
}

/* What a program ends @ns after it began this operation, and @later after others had left. */
static void expect_ended_for(struct kunit *test, u64 ns, u64 later, u16 reason, u32 rank)
{
	const u32 before = fake_sent(SHUFFLE_ABORT, 1);
	const struct fake_record *r;

	fake_start(4, 0);
	fake_row(10000, 2000);
	fake_advance(ns);
	fake->group->left = CLOSED_0;
	fake->group->left_at = fake->now - later;
	if (reason == SHUFFLE_LEFT_CANCELLED) {
		KUNIT_EXPECT_EQ(test, shuffle_op_cancel(&fake->ssk, FAKE_OP), 0);
		KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	} else {
		shuffle_abort_tell(fake->op, SHUFFLE_LEFT_CLOSED);
	}
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_ABORT, 1), before + 1);
	r = fake_last(SHUFFLE_ABORT, 1);
	KUNIT_EXPECT_EQ(test, r->w.blame.reason, rank ? reason : SHUFFLE_LEFT_CLOSED);
	KUNIT_EXPECT_EQ(test, r->w.blame.ranks, 1);
	KUNIT_EXPECT_EQ(test, r->w.blame.rank[0], rank);
	fake_end();
}

static void abort__for_others(struct kunit *test)
{
	const u64 ms = NSEC_PER_MSEC;

	fake_advance(60000 * ms);
	expect_ended_for(test, 0, 0, SHUFFLE_LEFT_CLOSED, 0);
	expect_ended_for(test, 0, 0, SHUFFLE_LEFT_CANCELLED, 0);
	/* begun while the program did not know */
	expect_ended_for(test, 0, 299 * ms, SHUFFLE_LEFT_CANCELLED, 0);
	expect_ended_for(test, 0, 300 * ms, SHUFFLE_LEFT_CANCELLED, 3);
	/* long ago */
	expect_ended_for(test, 9999 * ms, 9999 * ms, SHUFFLE_LEFT_CANCELLED, 0);
	expect_ended_for(test, 10000 * ms, 10000 * ms, SHUFFLE_LEFT_CANCELLED, 3);
	/* never */
	expect_ended_for(test, 0, fake->now, SHUFFLE_LEFT_CLOSED, 3);
}

static void abort__forged(struct kunit *test)
{
	const struct shuffle_blame forgot = {
		.reason = SHUFFLE_LEFT_FORGOT, .ranks = 1, .rank = { 1 },
	};

	fake_start(4, 0);
	fake_row(10000, 2000);
	fake_rx(0, 5000, 0, 0);
	heard_from(0, 0, FAKE_NONCE(0) + 1, &CLOSED_0);
	heard_from(0, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 0) + 1, &CLOSED_0);
	heard_from(0, SHUFFLE_FLAG_YOURS, FAKE_NONCE(0), &CLOSED_0);
	/* from ourselves */
	heard_from(3, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 3), &CLOSED_0);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	FAKE_COUNTED(test, AbortIn, 0);
	FAKE_COUNTED(test, DropNonce, 4);
	/* an answer to a question that we have not asked */
	heard_from(1, 0, 12345, &forgot);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	heard_from(1, 0, 12345, &CLOSED_0);
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
}

static void abort__by_our_nonce(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	heard_from(1, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 1), &CLOSED_0);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ECONNRESET);
	/* another member's word, believed */
	expect_missing(test, 0, SHUFFLE_MISSING_LEFT | SHUFFLE_MISSING_RECV |
				SHUFFLE_MISSING_ACK);
}

/* What is whole at both ends does not need its sender any more; a lost ACK is made good. */
static void abort__not_concerned(struct kunit *test)
{
	fake->unsched = 1000;
	fake_start(2, 0);
	fake_row(1000, 1000);
	fake_rx(0, 1000, 0, 1000);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	heard_from(0, SHUFFLE_FLAG_YOURS | SHUFFLE_FLAG_WHOLE, shuffle_op_nonce(fake->op, 0),
		   &CLOSED_0);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	KUNIT_EXPECT_TRUE(test, fake->op->tx.msg[0].acked);
	/* only our own message to ourselves is left */
	heard_from(0, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 0), &CLOSED_0);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	FAKE_COUNTED(test, AbortIn, 2);
}

/* WHOLE before all has been sent is a lie, and no ACK. */
static void abort__whole_too_early(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	heard_from(0, SHUFFLE_FLAG_YOURS | SHUFFLE_FLAG_WHOLE, shuffle_op_nonce(fake->op, 0),
		   &CLOSED_0);
	KUNIT_EXPECT_FALSE(test, fake->op->tx.msg[0].acked);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ECONNRESET);
}

/* A member that has waited for another one too long: that one is named. */
static void abort__hearsay(struct kunit *test)
{
	const struct shuffle_blame blame = {
		.reason = SHUFFLE_LEFT_TIMED_OUT, .ranks = 2, .rank = { 2, 1 },
	};

	fake_start(5, 0);
	fake_row(10000, 2000);
	heard_from(0, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 0), &blame);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, shuffle_op_missing(fake->op, 0), 0);
	KUNIT_EXPECT_NE(test, shuffle_op_missing(fake->op, 1), 0);
	KUNIT_EXPECT_NE(test, shuffle_op_missing(fake->op, 2), 0);
	KUNIT_EXPECT_EQ(test, shuffle_op_missing(fake->op, 3), 0);
}

/* Accused ourselves: the one that left is missing, unless we have missed others as long. */
static void abort__accused(struct kunit *test)
{
	const struct shuffle_blame me = {
		.reason = SHUFFLE_LEFT_TIMED_OUT, .ranks = 1, .rank = { 2 },
	};

	fake->ssk.idle_ms = 1000;
	fake_start(3, 0);
	fake_row(10000, 2000);
	heard_from(0, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 0), &me);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	expect_missing(test, 0, SHUFFLE_MISSING_LEFT | SHUFFLE_MISSING_RECV |
				SHUFFLE_MISSING_ACK);
}

static void abort__accused_of_waiting(struct kunit *test)
{
	const struct shuffle_blame me = {
		.reason = SHUFFLE_LEFT_TIMED_OUT, .ranks = 1, .rank = { 2 },
	};

	fake->ssk.idle_ms = 1000;
	fake_start(3, 0);
	fake_row(10000, 2000);
	fake->now += 600 * NSEC_PER_MSEC;
	heard_from(0, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 0), &me);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, shuffle_op_missing(fake->op, 0), 0);
	KUNIT_EXPECT_NE(test, shuffle_op_missing(fake->op, 1), 0);
}

/* In the end only those are missed that have said nothing: the others wait as we do.  Where all
 * speak, another member's word is waited for.
 */
static void abort__silent(struct kunit *test)
{
	fake->ssk.idle_ms = 1000;
	fake_start(4, 0);
	fake_row(10000, 2000);
	fake->now += 800 * NSEC_PER_MSEC;
	fake->op->rx.msg[0].heard_at = fake->now;
	fake->op->rx.msg[2].heard_at = fake->now;
	fake_advance(300 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	expect_missing(test, 1, SHUFFLE_MISSING_RECV | SHUFFLE_MISSING_ACK);
}

static void abort__all_speak(struct kunit *test)
{
	u32 i;

	fake->ssk.idle_ms = 1000;
	fake_start(3, 0);
	fake_row(10000, 2000);
	fake->now += 800 * NSEC_PER_MSEC;
	for (i = 0; i < 2; i++)
		fake->op->rx.msg[i].heard_at = fake->now;
	fake->now += 201 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_abort_overdue(fake->op, fake->now)),
			125ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, FAKE_LOCKED(shuffle_abort_overdue(fake->op, fake->now)), 0ULL);
	KUNIT_EXPECT_EQ(test, fake->op->life.silent_since, 0ULL);
}

/* A deadline: our own message is not whole either, as it waits in the row, but that is no reason.
 * It is one if nothing else is missing.
 */
static void abort__myself(struct kunit *test)
{
	fake->ssk.idle_ms = 20000;
	fake_start(2, 300);
	fake_row(1000, 0);
	fake_advance(300 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	expect_missing(test, 0, SHUFFLE_MISSING_RECV | SHUFFLE_MISSING_ACK);
}

static void abort__only_myself(struct kunit *test)
{
	fake_start(2, 300);
	fake_row(1000, 1000);
	fake_rx(0, 1000, 0, 1000);
	fake_ack(0);
	fake_advance(300 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	expect_missing(test, 1, SHUFFLE_MISSING_RECV | SHUFFLE_MISSING_ACK);
}

/* Ranks that do not exist, and a reason of a later version: the sender, for some reason. */
static void abort__nonsense(struct kunit *test)
{
	const struct shuffle_blame blame = {
		.reason = 999, .ranks = 1000, .rank = { 0xffff, 3, 3, 77 },
	};

	fake_start(3, 0);
	fake_row(10000, 2000);
	heard_from(1, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 1), &blame);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ECONNRESET);
	KUNIT_EXPECT_EQ(test, shuffle_abort_errno(fake->op->life.blame.reason), EIO);
	expect_missing(test, 1, SHUFFLE_MISSING_LEFT | SHUFFLE_MISSING_RECV |
				SHUFFLE_MISSING_ACK);
}

/* Cancelled: all who wait for us are told, each by a nonce that it knows. */
static void abort__told(struct kunit *test)
{
	const struct fake_record *r;

	fake->unsched = 1000;
	fake_start(4, 0);
	fake_row(1000, 1000);
	fake_rx(0, 1000, 0, 1000);
	fake_ack(0);
	fake_rx(1, 1000, 0, 1000);
	fake_rx(2, 2000, 0, 1000);
	KUNIT_EXPECT_EQ(test, shuffle_op_cancel(&fake->ssk, FAKE_OP), 0);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ABORT, 0), 0U);
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_ABORT, 1), 1U);
	r = fake_last(SHUFFLE_ABORT, 1);
	KUNIT_EXPECT_EQ(test, r->w.flags, SHUFFLE_FLAG_YOURS | SHUFFLE_FLAG_WHOLE);
	KUNIT_EXPECT_EQ(test, r->w.nonce, FAKE_NONCE(1));
	KUNIT_EXPECT_EQ(test, r->w.blame.reason, SHUFFLE_LEFT_CANCELLED);
	KUNIT_EXPECT_EQ(test, r->w.blame.ranks, 1);
	KUNIT_EXPECT_EQ(test, r->w.blame.rank[0], 3);
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_ABORT, 2), 1U);
	r = fake_last(SHUFFLE_ABORT, 2);
	KUNIT_EXPECT_EQ(test, r->w.flags, 0);
	KUNIT_EXPECT_EQ(test, r->w.nonce, shuffle_op_nonce(fake->op, 2));
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ABORT, 3), 0U);
	/* our own end: all that is not whole */
	KUNIT_EXPECT_NE(test, shuffle_op_missing(fake->op, 1), 0);
}

/* In a large group, what another member has said is not said again by all; what we do is. */
static void abort__large_group(struct kunit *test)
{
	u32 i, n = SHUFFLE_ABORT_REPEAT + 1, told = 0;

	fake_start(n, 0);
	fake_row(1000, 1000);
	heard_from(0, 0, 1, &CLOSED_0);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	for (i = 0; i < n; i++)
		told += fake_sent(SHUFFLE_ABORT, i);
	KUNIT_EXPECT_EQ(test, told, 0U);
	fake_end();
	fake_start(n, 0);
	fake_row(1000, 1000);
	KUNIT_EXPECT_EQ(test, shuffle_op_cancel(&fake->ssk, FAKE_OP), 0);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	for (i = 0; i < n; i++)
		told += fake_sent(SHUFFLE_ABORT, i);
	KUNIT_EXPECT_EQ(test, told, n - 1);
}

/* More are missing than an ABORT names. */
static void abort__timed_out(struct kunit *test)
{
	const struct fake_record *r;

	fake->ssk.idle_ms = 100;
	fake_start(8, 0);
	fake_row(1000, 1000);
	fake_advance(200 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_ABORT, 6), 1U);
	r = fake_last(SHUFFLE_ABORT, 6);
	KUNIT_EXPECT_EQ(test, r->w.blame.reason, SHUFFLE_LEFT_TIMED_OUT);
	KUNIT_EXPECT_EQ(test, r->w.blame.ranks, 7);
	KUNIT_EXPECT_EQ(test, r->w.blame.rank[3], 3);
}

/* Who asks after the end is answered, until the end has been read; what is whole is no question. */
static void abort__answers(struct kunit *test)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_RESEND, .op_id = FAKE_OP, .src_rank = 1, .dst_rank = 2,
	};
	struct sk_buff_head q;

	__skb_queue_head_init(&q);
	fake->unsched = 1000;
	fake_start(3, 0);
	fake_row(1000, 1000);
	fake_rx(0, 1000, 0, 1000);
	KUNIT_EXPECT_FALSE(test, FAKE_LOCKED(shuffle_abort_answer(fake->op, &w, &q)));
	KUNIT_EXPECT_EQ(test, shuffle_op_cancel(&fake->ssk, FAKE_OP), 0);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	KUNIT_EXPECT_TRUE(test, FAKE_LOCKED(shuffle_abort_answer(fake->op, &w, &q)));
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_ABORT, 1)->w.nonce,
			shuffle_op_nonce(fake->op, 1));
	w.nonce = 7;
	KUNIT_EXPECT_FALSE(test, FAKE_LOCKED(shuffle_abort_answer(fake->op, &w, &q)));
	w.type = SHUFFLE_DATA;
	KUNIT_EXPECT_TRUE(test, FAKE_LOCKED(shuffle_abort_answer(fake->op, &w, &q)));
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_ABORT, 1)->w.nonce, 7ULL);
	/* flags of DATA mean other things in an ABORT: sent again is not whole */
	w.flags = SHUFFLE_FLAGS_DATA & ~(SHUFFLE_FLAG_TAG | SHUFFLE_FLAG_DIGEST);
	KUNIT_EXPECT_TRUE(test, FAKE_LOCKED(shuffle_abort_answer(fake->op, &w, &q)));
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_ABORT, 1)->w.flags, SHUFFLE_FLAG_YOURS);
	w.src_rank = 0;
	KUNIT_EXPECT_FALSE(test, FAKE_LOCKED(shuffle_abort_answer(fake->op, &w, &q)));
	w.type = SHUFFLE_ABORT;
	KUNIT_EXPECT_FALSE(test, FAKE_LOCKED(shuffle_abort_answer(fake->op, &w, &q)));
}

/* A host has been started again: who has heard it tells all others, whether they need anything of
 * the teller or not, for they wait for that host.
 */
static void abort__forgot(struct kunit *test)
{
	const struct shuffle_blame forgot = {
		.reason = SHUFFLE_LEFT_FORGOT, .ranks = 1, .rank = { 1 },
	}, closed = {
		.reason = SHUFFLE_LEFT_CLOSED, .ranks = 1, .rank = { 1 },
	};

	fake->unsched = 1000;
	fake_start(4, 0);
	fake_row(1000, 1000);
	fake_rx(0, 1000, 0, 1000);
	fake_ack(0);
	fake_rx(1, 2000, 0, 1000);
	/* such a one would have told us itself */
	heard_from(0, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 0), &closed);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	heard_from(0, SHUFFLE_FLAG_YOURS, shuffle_op_nonce(fake->op, 0), &forgot);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, ECONNRESET);
	KUNIT_EXPECT_EQ(test, shuffle_abort_errno(fake->op->life.blame.reason), ENOENT);
	expect_missing(test, 1, SHUFFLE_MISSING_LEFT | SHUFFLE_MISSING_RECV |
				SHUFFLE_MISSING_ACK);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ABORT, 0), 1U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ABORT, 1), 0U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ABORT, 2), 1U);
}

/* What this host does not know any more is said a thousand times a second to all. */
static void abort__forgot_bounded(struct kunit *test)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_RESEND, .op_id = FAKE_OP + 1, .dst_rank = 2, .nonce = 7,
	};
	struct sockaddr_shuffle at = {};
	u32 i, ms, first = 0;
	struct sk_buff_head q;

	__skb_queue_head_init(&q);
	fake_start(3, 0);
	for (ms = 0; ms <= 1000; ms++) {
		spin_lock_bh(&fake->ssk.lock);
		for (i = 0; i < (ms ? 4 : 100); i++) {
			w.src_rank = i % 2;
			shuffle_abort_forgot(&fake->sn, &fake->ssk, &at, &at, &w, false, &q);
		}
		spin_unlock_bh(&fake->ssk.lock);
		if (!ms)
			first = fake_sent(SHUFFLE_ABORT, SHUFFLE_NONE);
		fake->now += NSEC_PER_MSEC;
	}
	KUNIT_EXPECT_GE(test, first, 1U);
	KUNIT_EXPECT_LE(test, first, 20U);
	KUNIT_EXPECT_GE(test, fake_sent(SHUFFLE_ABORT, SHUFFLE_NONE) - first, 990U);
	KUNIT_EXPECT_LE(test, fake_sent(SHUFFLE_ABORT, SHUFFLE_NONE) - first, 1010U);
}

/* Another digest, where a message begins: the operation is another one. */
static void abort__disagrees(struct kunit *test)
{
	fake->unsched = 3000;
	fake_start(3, 0);
	fake_row(1000, 1000);
	fake->op->digest = 5;
	/* what does not begin says nothing */
	fake_rx(0, 3000, 1000, 1000);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	fake->flags = SHUFFLE_FLAG_SENT;
	fake_rx(0, 3000, 0, 0);
	KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
	fake->flags = 0;
	fake_rx(0, 3000, 0, 1000);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, EPROTO);
	expect_missing(test, 0, SHUFFLE_MISSING_LEFT | SHUFFLE_MISSING_RECV |
				SHUFFLE_MISSING_ACK);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->life.wind_up));
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ABORT, 0), 1U);
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_ABORT, 1), 1U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_ABORT, 1)->w.blame.reason,
			SHUFFLE_LEFT_DISAGREES);
}

/* Two disagree, and each says that it is the other one: the third compares digests. */
static void abort__who_disagrees(struct kunit *test)
{
	struct shuffle_blame blame = {};
	u32 i;

	for (i = 0; i < 3; i++) {
		fake_start(4, 0);
		fake_row(1000, 1000);
		fake->op->digest = 5;
		/* one that has our digest tells the truth, another one does not; we are right */
		shuffle_blame_disagrees(&blame, i < 2 ? 1 : 3, i == 1 ? 6 : 5);
		heard_from(0, 0, 1, &blame);
		KUNIT_EXPECT_EQ(test, fake->op->life.error, EPROTO);
		expect_missing(test, i ? 0 : 1, SHUFFLE_MISSING_LEFT | SHUFFLE_MISSING_RECV |
						SHUFFLE_MISSING_ACK);
		KUNIT_EXPECT_EQ(test, shuffle_blame_digest(&fake->op->life.blame), 5ULL);
		fake_end();
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(abort__names_who_left),
	KUNIT_CASE(abort__has_not_left),
	KUNIT_CASE(abort__for_others),
	KUNIT_CASE(abort__forged),
	KUNIT_CASE(abort__by_our_nonce),
	KUNIT_CASE(abort__not_concerned),
	KUNIT_CASE(abort__whole_too_early),
	KUNIT_CASE(abort__hearsay),
	KUNIT_CASE(abort__accused),
	KUNIT_CASE(abort__accused_of_waiting),
	KUNIT_CASE(abort__myself),
	KUNIT_CASE(abort__only_myself),
	KUNIT_CASE(abort__nonsense),
	KUNIT_CASE(abort__told),
	KUNIT_CASE(abort__large_group),
	KUNIT_CASE(abort__timed_out),
	KUNIT_CASE(abort__answers),
	KUNIT_CASE(abort__forgot),
	KUNIT_CASE(abort__forgot_bounded),
	KUNIT_CASE(abort__silent),
	KUNIT_CASE(abort__all_speak),
	KUNIT_CASE(abort__disagrees),
	KUNIT_CASE(abort__who_disagrees),
	{}
};

struct kunit_suite shuffle_abort_suite = {
	.name = "shuffle_abort",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
