// SPDX-License-Identifier: GPL-2.0-only
/* Outgoing messages: what receivers may say about them, and what that frees. */
#include <linux/slab.h>

#include "fake.h"
#include "../sched/rate.h"

static struct shuffle_msg_out *out_of(u32 rank)
{
	return &fake->op->tx.msg[rank];
}

static struct shuffle_tx_sched *sched_of(u32 rank)
{
	return &fake->op->tx.sched.msg[rank];
}

static void msg_out__grant(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	fake_grant(0, 6000, 0);
	KUNIT_EXPECT_EQ(test, sched_of(0)->limit, 6000ULL);
	KUNIT_EXPECT_EQ(test, sched_of(1)->limit, 2000ULL);
	KUNIT_EXPECT_EQ(test, fake->kicks, 1U);
	/* an older one, late */
	fake_grant(0, 4000, 0);
	KUNIT_EXPECT_EQ(test, sched_of(0)->limit, 6000ULL);
	KUNIT_EXPECT_EQ(test, fake->kicks, 1U);
}

static void msg_out__grant_frees(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 30000LL);
	/* a chunk that has arrived in part is kept */
	fake_grant(0, 6000, 1500);
	KUNIT_EXPECT_EQ(test, fake->charged, 29000LL);
	fake_grant(0, 8000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 28000LL);
	fake_grant(0, 8000, 2000);
	KUNIT_EXPECT_EQ(test, fake->charged, 28000LL);
}

/* A grant of what there is not, or an acknowledgment of what has not been sent. */
static void msg_out__grant_impossible(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	fake_grant(0, 10001, 0);
	FAKE_COUNTED(test, DropState, 1);
	fake_grant(0, 8000, 2001);
	FAKE_COUNTED(test, DropState, 2);
	KUNIT_EXPECT_EQ(test, sched_of(0)->limit, 2000ULL);
	KUNIT_EXPECT_EQ(test, fake->charged, 30000LL);
	KUNIT_EXPECT_EQ(test, fake->kicks, 0U);
}

static void msg_out__ack(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	/* before all of it has been sent */
	fake_ack(0);
	FAKE_COUNTED(test, DropState, 1);
	KUNIT_EXPECT_FALSE(test, out_of(0)->acked);

	sched_of(0)->next = 10000;
	fake_ack(0);
	KUNIT_EXPECT_TRUE(test, out_of(0)->acked);
	KUNIT_EXPECT_EQ(test, fake->charged, 20000LL);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 2U);
	fake_ack(0);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 2U);
	FAKE_COUNTED(test, DropState, 1);
}

/* Who does not know the nonce of a message can do nothing to it. */
static void msg_out__other_nonce(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 10000);
	/* member 1 knows its own */
	fake_ack_nonce(0, shuffle_op_nonce(fake->op, 1));
	FAKE_COUNTED(test, DropState, 1);
	fake_ack_nonce(0, 0);
	FAKE_COUNTED(test, DropState, 2);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 3U);
	KUNIT_EXPECT_EQ(test, fake->charged, 30000LL);
}

static void msg_out__not_announced(struct kunit *test)
{
	fake_start(3, 0);
	fake_grant(0, 0, 0);
	fake_ack(0);
	FAKE_COUNTED(test, DropState, 2);
	fake_resend(0, true, 0, 1000);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 0U);
	/* that we are there is all that can be said */
	fake_resend(0, false, 0, 0);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 1U);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_RESEND, 0)->w.flags, SHUFFLE_FLAG_WAITS);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 0U);
}

static void msg_out__resend(struct kunit *test)
{
	struct shuffle_op *op;

	fake_start(3, 0);
	op = fake->op;
	fake_row(10000, 5000);
	fake_resend(0, true, 1000, 2000);
	KUNIT_EXPECT_EQ(test, op->tx.nr_retrans, 1U);
	/* asked for twice, or in part: sent once */
	fake_resend(0, true, 1000, 2000);
	fake_resend(0, true, 1500, 500);
	KUNIT_EXPECT_EQ(test, op->tx.nr_retrans, 1U);
	KUNIT_EXPECT_EQ(test, sched_of(0)->limit, 5000ULL);
	/* what was never sent: its GRANT was lost */
	fake_resend(0, true, 4000, 4000);
	KUNIT_EXPECT_EQ(test, op->tx.nr_retrans, 2U);
	KUNIT_EXPECT_EQ(test, list_last_entry(&op->tx.retrans, struct shuffle_retrans, node)->end,
			5000ULL);
	KUNIT_EXPECT_EQ(test, sched_of(0)->limit, 8000ULL);
	/* beyond its end */
	fake_resend(0, true, 10001, 1);
	FAKE_COUNTED(test, DropState, 1);
	fake_resend(0, true, 9000, U32_MAX);
	KUNIT_EXPECT_EQ(test, sched_of(0)->limit, 10000ULL);
}

/* How much of a message has left is answered once. */
static void msg_out__question(struct kunit *test)
{
	struct shuffle_retrans *r;
	struct shuffle_op *op;

	fake_start(3, 0);
	op = fake->op;
	fake_row(10000, 5000);
	fake_resend(0, true, 1000, 0);
	fake_resend(0, true, 2000, 0);
	KUNIT_ASSERT_EQ(test, op->tx.nr_retrans, 1U);
	r = list_first_entry(&op->tx.retrans, struct shuffle_retrans, node);
	KUNIT_EXPECT_EQ(test, r->start, r->end);
	FAKE_COUNTED(test, QuestionIn, 2);
	KUNIT_EXPECT_EQ(test, sched_of(0)->limit, 5000ULL);
	/* data that is sent again does not take its place */
	fake_resend(1, true, 0, 1000);
	fake_resend(1, true, 0, 0);
	KUNIT_EXPECT_EQ(test, op->tx.nr_retrans, 3U);
	/* one that knows no message gets an announcement at most, and one beyond its end none */
	fake_resend(2, true, 10001, 0);
	FAKE_COUNTED(test, DropState, 1);
	KUNIT_EXPECT_EQ(test, op->tx.nr_retrans, 3U);
	/* and one that has acknowledged none either */
	fake_resend(0, false, 0, 0);
	KUNIT_EXPECT_EQ(test, op->tx.nr_retrans, 3U);
	FAKE_COUNTED(test, QuestionIn, 4);
}

/* What security.rst promises, in numbers of its own. */
static void msg_out__resend_bounded(struct kunit *test)
{
	u32 i;

	fake_start(3, 0);
	fake_row(10000, 10000);
	for (i = 0; i < 512; i++)
		fake_resend(0, true, i, 2);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 256U);
	KUNIT_EXPECT_EQ(test, fake->ssk.nr_retrans, 256U);
}

/* All operations of a socket together; and each of them has one, so that all go on. */
static void msg_out__resend_bounded_by_socket(struct kunit *test)
{
	const u32 others = 4096 - 8;
	u32 i;

	fake_start(3, 0);
	fake_row(10000, 10000);
	fake->ssk.nr_retrans = others;
	for (i = 0; i < 16; i++)
		fake_resend(0, true, 2 * i, 1);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 8U);
	fake->ssk.nr_retrans -= others;
	fake_end();

	fake_start(3, 0);
	fake_row(10000, 10000);
	fake->ssk.nr_retrans = 4096;
	fake_resend(0, true, 0, 1);
	fake_resend(0, true, 2, 1);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 1U);
	fake->ssk.nr_retrans -= 4096;
}

/* Answers to questions take half of the places at most: data that is asked for has the others. */
static void msg_out__answers_bounded(struct kunit *test)
{
	u32 i;

	fake_start(300, 0);
	fake_row(2000, 2000);
	for (i = 0; i < 299; i++)
		fake_resend(i, true, 0, 0);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 128U);
	for (i = 0; i < 299; i++)
		fake_resend(i, true, 0, 1000);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 256U);
}

/* That a message waits is said a thousand times a second: whoever asks needs no nonce. */
static void msg_out__waits_bounded(struct kunit *test)
{
	u32 i, ms, first;

	fake_start(3, 0);
	for (i = 0; i < 100; i++)
		fake_resend(i % 2, false, 0, 0);
	first = fake->n_sent;
	KUNIT_EXPECT_GE(test, first, 1U);
	KUNIT_EXPECT_LE(test, first, 20U);
	for (ms = 0; ms < 1000; ms++) {
		fake->now += NSEC_PER_MSEC;
		for (i = 0; i < 4; i++)
			fake_resend(i % 2, false, 0, 0);
	}
	KUNIT_EXPECT_GE(test, fake->n_sent - first, 990U);
	KUNIT_EXPECT_LE(test, fake->n_sent - first, 1010U);
}

/* A member that has never heard of its message proves nothing, and gets an announcement. */
static void msg_out__resend_unheard(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 2000);
	fake_resend(0, false, 0, 0);
	FAKE_COUNTED(test, AnnounceOut, 0);
	fake_advance(NSEC_PER_MSEC);	/* resend_min */
	fake_resend(0, false, 0, 0);
	fake_resend(0, false, 0, 0);
	FAKE_COUNTED(test, AnnounceOut, 1);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_DATA, 0)->w.data.len, 10000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_DATA, 0)->w.payload, 0);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 0U);
}

static void msg_out__ended(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(10000, 10000);
	fake_resend(0, true, 0, 1000);
	spin_lock_bh(&fake->ssk.lock);
	shuffle_op_fail(fake->op, ECANCELED);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_EQ(test, fake->op->tx.nr_retrans, 0U);
	fake_grant(0, 10000, 5000);
	fake_ack(0);
	fake_resend(0, true, 0, 1000);
	fake_resend(0, false, 0, 0);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 3U);
	KUNIT_EXPECT_EQ(test, fake->n_sent, 0U);
	FAKE_COUNTED(test, DropState, 0);
}

/* The last ACK and the last message: in either order the operation is done. */
static void msg_out__done(struct kunit *test)
{
	u32 i;

	fake_start(3, 0);
	fake_row(1000, 1000);
	for (i = 0; i < 3; i++)
		fake_ack(i);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_FALSE(test, fake->op->life.ended);
		fake_rx(i, 1000, 0, 1000);
	}
	KUNIT_EXPECT_TRUE(test, fake->op->life.ended);
	KUNIT_EXPECT_EQ(test, fake->op->life.error, 0);
	FAKE_COUNTED(test, OpsDone, 1);
}

static struct shuffle_chunk *few_bytes(struct kunit *test, u64 off, u32 len, u32 room)
{
	struct shuffle_chunk *chunk = kzalloc(struct_size(chunk, bytes, room), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, chunk);
	chunk->off = off;
	chunk->len = len;
	chunk->pkt = room;
	chunk->truesize = room;
	memset(chunk->bytes, off, len);
	fake->charged += room;
	return chunk;
}

/* Small writes share a chunk while there is room, and memory is given back for that. */
static void msg_out__small_writes(struct kunit *test)
{
	struct shuffle_chunk *last;
	u64 off;

	fake_start(3, 0);
	fake->op->tx.sched.msg[0].len = 1000;
	for (off = 0; off < 100; off += 10) {
		struct shuffle_chunk *chunk = few_bytes(test, off, 10, 64);

		spin_lock_bh(&fake->ssk.lock);
		shuffle_msg_out_append(fake->op, chunk);
		spin_unlock_bh(&fake->ssk.lock);
	}
	KUNIT_EXPECT_EQ(test, out_of(0)->filled, 100ULL);
	KUNIT_EXPECT_EQ(test, fake->charged, 128LL);
	last = shuffle_msg_out_last(out_of(0));
	KUNIT_EXPECT_EQ(test, last->off, 60ULL);
	KUNIT_EXPECT_EQ(test, last->len, 40U);
	KUNIT_EXPECT_EQ(test, last->bytes[39], 90);
}

/* However many chunks a record frees, the softirq frees a few. */
static void msg_out__free_bounded(struct kunit *test)
{
	const u32 n = 4 * SHUFFLE_SLICE + 1;
	s64 before;
	u32 i;

	fake_start(3, 0);
	sched_of(0)->len = n;
	fake->op->tx.announced = 3;
	for (i = 0; i < n; i++) {
		/* no room for the next one */
		struct shuffle_chunk *chunk = few_bytes(test, i, 1, 1);

		spin_lock_bh(&fake->ssk.lock);
		shuffle_msg_out_append(fake->op, chunk);
		spin_unlock_bh(&fake->ssk.lock);
	}
	sched_of(0)->next = n;
	before = fake->charged;
	fake_ack(0);
	KUNIT_EXPECT_TRUE(test, out_of(0)->acked);
	KUNIT_EXPECT_EQ(test, before - fake->charged, (s64)SHUFFLE_SLICE);
	KUNIT_EXPECT_TRUE(test, fake_work(&fake->op->tx.free_acked));
	KUNIT_EXPECT_EQ(test, before - fake->charged, (s64)n);
	KUNIT_EXPECT_FALSE(test, fake_work(&fake->op->tx.free_acked));
}

/* What is asked for again behind what has arrived says that packets of full size get lost. */
static void msg_out__black_hole(struct kunit *test)
{
	const u64 len = 7 * FAKE_PAYLOAD + 100, sent = 6 * FAKE_PAYLOAD;
	struct shuffle_chunk *chunk;
	u64 off;

	fake_start(3, 0);
	fake_row(len, sent);
	for (off = 0; off < len; off += FAKE_PAYLOAD) {
		chunk = FAKE_LOCKED(shuffle_msg_out_chunk(fake->op, 0, off));
		chunk->kind = SHUFFLE_CHUNK_PACKETS;
		chunk->pkt = FAKE_PAYLOAD;
	}
	fake_grant(0, sent, 3 * FAKE_PAYLOAD + 1);
	/* a question is no sign of a loss */
	fake_resend(0, true, 3 * FAKE_PAYLOAD + 1, 0);
	KUNIT_EXPECT_EQ(test, fake->full_lost, 0U);
	fake_resend(0, true, 3 * FAKE_PAYLOAD + 1, 1000);
	KUNIT_EXPECT_EQ(test, fake->full_lost, 1U);
	/* a whole packet has arrived */
	fake_resend(0, true, 4 * FAKE_PAYLOAD, 1000);
	KUNIT_EXPECT_EQ(test, fake->full_lost, 1U);
	/* the last packet is a short one */
	sched_of(0)->next = len;
	fake_grant(0, len, 7 * FAKE_PAYLOAD);
	fake_resend(0, true, 7 * FAKE_PAYLOAD, 100);
	KUNIT_EXPECT_EQ(test, fake->full_lost, 1U);
}

/* Whatever a member says about a message that there is none of. */
static void msg_out__absent(struct kunit *test)
{
	fake_start(3, 0);
	fake_row(0, 0);
	out_of(0)->absent = true;
	out_of(0)->acked = true;
	fake->op->tx.unacked--;
	fake_grant(0, 1000, 0);
	fake_ack(0);
	fake_resend(0, false, 0, 0);
	fake_resend(0, true, 0, 1000);
	FAKE_COUNTED(test, DropState, 4);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 2U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_DATA, 0), 0U);
	fake_ack(1);
	KUNIT_EXPECT_EQ(test, fake->op->tx.unacked, 1U);
}

/* Asked for a message that is not written yet, or of which nothing has left, we say that we are
 * there, once for each question; such an answer is none.
 */
static void msg_out__says_waits(struct kunit *test)
{
	const struct fake_record *r;
	u32 i;

	fake_start(3, 0);
	fake_resend(1, false, 0, 0);
	KUNIT_ASSERT_EQ(test, fake_sent(SHUFFLE_RESEND, 1), 1U);
	r = fake_last(SHUFFLE_RESEND, 1);
	KUNIT_EXPECT_EQ(test, r->w.flags, SHUFFLE_FLAG_WAITS);
	KUNIT_EXPECT_EQ(test, r->w.nonce, 0ULL);
	KUNIT_EXPECT_EQ(test, r->w.resend.len, 0ULL);
	fake_row(1000, 0);
	out_of(1)->announced_at = 0;
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

static struct kunit_case cases[] = {
	KUNIT_CASE(msg_out__grant),
	KUNIT_CASE(msg_out__grant_frees),
	KUNIT_CASE(msg_out__grant_impossible),
	KUNIT_CASE(msg_out__ack),
	KUNIT_CASE(msg_out__other_nonce),
	KUNIT_CASE(msg_out__not_announced),
	KUNIT_CASE(msg_out__resend),
	KUNIT_CASE(msg_out__question),
	KUNIT_CASE(msg_out__resend_bounded),
	KUNIT_CASE(msg_out__resend_bounded_by_socket),
	KUNIT_CASE(msg_out__answers_bounded),
	KUNIT_CASE(msg_out__waits_bounded),
	KUNIT_CASE(msg_out__resend_unheard),
	KUNIT_CASE(msg_out__ended),
	KUNIT_CASE(msg_out__done),
	KUNIT_CASE(msg_out__small_writes),
	KUNIT_CASE(msg_out__free_bounded),
	KUNIT_CASE(msg_out__black_hole),
	KUNIT_CASE(msg_out__absent),
	KUNIT_CASE(msg_out__says_waits),
	{}
};

struct kunit_suite shuffle_msg_out_suite = {
	.name = "shuffle_msg_out",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
