// SPDX-License-Identifier: GPL-2.0-only
/* Incoming messages: what is kept, what is refused, what it costs. */
#include "fake.h"

static struct shuffle_msg_in *in_of(u32 rank)
{
	return &fake->op->rx.msg[rank];
}

/* Do the pieces of a message give its first @len bytes, each once? */
static void expect_content(struct kunit *test, u32 rank, u64 len)
{
	struct rb_node *node;
	u64 at = 0;

	for (node = rb_first(&in_of(rank)->pieces); node; node = rb_next(node)) {
		struct sk_buff *skb = rb_to_skb(node);
		const struct shuffle_piece *p = SHUFFLE_PIECE(skb);
		u8 byte;

		KUNIT_ASSERT_EQ(test, p->start, at);
		for (; at < p->end; at++) {
			KUNIT_ASSERT_EQ(test, 0,
					skb_copy_bits(skb, p->data + at - p->base, &byte, 1));
			KUNIT_ASSERT_EQ(test, byte, (u8)(at % 251));
		}
	}
	KUNIT_EXPECT_EQ(test, at, len);
}

static void msg_in__in_order(struct kunit *test)
{
	const struct fake_record *ack;
	u64 off;

	fake_start(3, 0);
	for (off = 0; off < 5000; off += 1000) {
		KUNIT_EXPECT_FALSE(test, in_of(0)->complete);
		KUNIT_EXPECT_TRUE(test, fake_rx(0, 5000, off, 1000));
	}
	KUNIT_EXPECT_TRUE(test, in_of(0)->complete);
	KUNIT_EXPECT_FALSE(test, list_empty(&in_of(0)->ready.node));
	KUNIT_EXPECT_EQ(test, fake->op->rx.incomplete, 2U);
	expect_content(test, 0, 5000);
	FAKE_COUNTED(test, DataBytesIn, 5000);
	ack = fake_last(SHUFFLE_ACK, SHUFFLE_NONE);
	KUNIT_EXPECT_EQ(test, ack->rank, 0U);
	KUNIT_EXPECT_EQ(test, ack->w.nonce, FAKE_NONCE(0));
	KUNIT_EXPECT_EQ(test, ack->w.dst_port, 5000);
}

static void msg_in__copies(struct kunit *test)
{
	s64 charged;

	fake_start(3, 0);
	fake_rx(0, 2000, 0, 1000);
	charged = fake->charged;
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 2000, 0, 1000));
	KUNIT_EXPECT_EQ(test, fake->charged, charged);
	FAKE_COUNTED(test, DupBytes, 1000);

	/* of one that has arrived whole: the ACK may be lost */
	fake_rx(0, 2000, 1000, 1000);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 0), 1U);
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 2000, 1000, 1000));
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 0), 2U);
	FAKE_COUNTED(test, DupBytes, 2000);
	expect_content(test, 0, 2000);
}

static void msg_in__out_of_order(struct kunit *test)
{
	static const u64 order[] = { 4000, 2000, 0, 3000, 1000 };
	static const u64 prefix[] = { 0, 0, 1000, 1000, 5000 };
	u32 i;

	fake_start(3, 0);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		KUNIT_EXPECT_TRUE(test, fake_rx(1, 5000, order[i], 1000));
		KUNIT_EXPECT_EQ(test, in_of(1)->have.prefix, prefix[i]);
		KUNIT_EXPECT_EQ(test, !!in_of(1)->have.island, prefix[i] < 5000);
	}
	KUNIT_EXPECT_TRUE(test, in_of(1)->complete);
	expect_content(test, 1, 5000);
}

/* A packet that overlaps with what is there is kept for what is new of it. */
static void msg_in__overlaps(struct kunit *test)
{
	fake_start(2, 0);
	fake_rx(0, 5000, 1000, 1000);
	fake_rx(0, 5000, 3000, 1000);
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 5000, 0, 5000));
	KUNIT_EXPECT_TRUE(test, in_of(0)->complete);
	FAKE_COUNTED(test, DataBytesIn, 5000);
	expect_content(test, 0, 5000);
}

static void msg_in__other_nonce_or_length(struct kunit *test)
{
	fake_start(2, 0);
	fake_rx(0, 5000, 0, 1000);
	KUNIT_EXPECT_FALSE(test, fake_rx_nonce(0, FAKE_NONCE(1), 5000, 1000, 1000));
	FAKE_COUNTED(test, DropNonce, 1);
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 6000, 1000, 1000));
	FAKE_COUNTED(test, DropNonce, 2);
	KUNIT_EXPECT_EQ(test, in_of(0)->have.bytes, 1000ULL);
}

static void msg_in__not_granted(struct kunit *test)
{
	u64 slack = 65536, granted;

	fake_start(2, 0);
	fake_rx(0, 1 << 30, 0, 1000);
	granted = fake->op->rx.sched.msg[0].granted;
	KUNIT_EXPECT_GT(test, granted, 1000ULL);
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 1 << 30, granted + slack + 1, 1000));
	FAKE_COUNTED(test, DropNotGranted, 1);
	/* a sender may round a grant up */
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 1 << 30, granted + slack, 1000));
	FAKE_COUNTED(test, DropNotGranted, 1);
}

static void msg_in__buffer_full(struct kunit *test)
{
	fake->ssk.sk.sk_rcvbuf = 1000;
	fake_start(2, 0);
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 9000, 0, 1000));
	/* the reader is to take what there is, little as it is */
	KUNIT_EXPECT_GE(test, fake->pressures, 1U);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->ssk.ready));
	KUNIT_EXPECT_GE(test, fake->wakeups, 1U);
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 9000, 1000, 1000));
	FAKE_COUNTED(test, DropRcvbuf, 1);

	/* it has nothing to read, and nothing but the next bytes give it any */
	in_of(0)->read = 1000;
	list_del_init(&in_of(0)->ready.node);
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 9000, 2000, 1000));
	FAKE_COUNTED(test, DropRcvbuf, 2);
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 9000, 1000, 1000));
	FAKE_COUNTED(test, DropRcvbuf, 2);
}

static void msg_in__too_many_gaps(struct kunit *test)
{
	s64 charged;
	u32 i;

	fake_start(2, 0);
	for (i = 1; i <= SHUFFLE_RANGES_MAX; i++)
		KUNIT_EXPECT_TRUE(test, fake_rx(0, 5000, 20 * i, 10));
	charged = fake->charged;
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 5000, 20 * i, 10));
	FAKE_COUNTED(test, DropIslands, 1);
	KUNIT_EXPECT_EQ(test, fake->charged, charged);
	/* what closes a gap is welcome */
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 5000, 30, 10));
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 5000, 20 * i, 10));
}

static void msg_in__no_memory(struct kunit *test)
{
	s64 charged;

	fake_start(2, 0);
	fake_rx(0, 2000, 0, 1000);
	charged = fake->charged;
	fake->memory_refused = true;
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 2000, 1000, 1000));
	FAKE_COUNTED(test, DropMem, 1);
	KUNIT_EXPECT_EQ(test, fake->charged, charged);
	KUNIT_EXPECT_FALSE(test, in_of(0)->complete);
	fake->memory_refused = false;
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 2000, 1000, 1000));
	KUNIT_EXPECT_TRUE(test, in_of(0)->complete);
}

/* A few bytes do not hold the large packet that they came in. */
static void msg_in__little_of_much(struct kunit *test)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA, .nonce = FAKE_NONCE(0), .dst_rank = 1,
		.payload = 100, .data.len = 5000,
	};
	struct sk_buff *skb = alloc_skb(60000, GFP_KERNEL);
	struct sk_buff_head q;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < 100; i++)
		skb_put_u8(skb, i);
	fake_start(2, 0);
	__skb_queue_head_init(&q);
	spin_lock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_TRUE(test, shuffle_msg_in_data(fake->op, &w, skb, 0, 100, 100, &q,
						    fake->now));
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_LT(test, fake->charged, 4096LL);
	expect_content(test, 0, 100);
}

static void msg_in__ended(struct kunit *test)
{
	fake_start(2, 0);
	fake_rx(0, 5000, 3000, 1000);
	fake_rx(0, 5000, 0, 1000);
	spin_lock_bh(&fake->ssk.lock);
	shuffle_op_fail(fake->op, ECANCELED);
	spin_unlock_bh(&fake->ssk.lock);
	KUNIT_EXPECT_FALSE(test, fake_rx(0, 5000, 1000, 1000));
	FAKE_COUNTED(test, DropNoOp, 1);
	/* fake_exit() finds what is left of it */
}

/* Any order, any overlap, some memory shortage: the message is what was sent. */
static void msg_in__at_random(struct kunit *test)
{
	struct shuffle_rnd r = { 12 };
	u32 len = 40000, n, round;

	fake_start(9, 0);
	for (round = 0; round < 8; round++) {
		for (n = 0; n < 20000 && !in_of(round)->complete; n++) {
			u32 off = 100 * shuffle_rnd_below(&r, len / 100);
			u32 payload = min(100 * shuffle_rnd_in(&r, 1, 15), len - off);

			fake->memory_refused = !shuffle_rnd_below(&r, 10);
			fake_rx(round, len, off, payload);
		}
		KUNIT_ASSERT_TRUE(test, in_of(round)->complete);
		expect_content(test, round, len);
	}
	FAKE_COUNTED(test, DataBytesIn, 8 * len);
}

/* Data out of order leaves half of the buffer to what lets the reader go on. */
static void msg_in__room_for_order(struct kunit *test)
{
	struct sock *sk = &fake->ssk.sk;
	u64 len = 1 << 20, off;
	int used;

	fake->unsched = len;
	fake_start(2, 0);
	sk->sk_rcvbuf = 100000;
	fake_rx(0, len, 0, 1000);
	for (off = 3000; fake_rx(0, len, off, 1000) && off < len - 2000; off += 1000)
		;
	used = atomic_read(&sk->sk_rmem_alloc);
	KUNIT_EXPECT_GT(test, used, 40000);
	KUNIT_EXPECT_LE(test, used, 50000);
	FAKE_COUNTED(test, DropRcvbuf, 1);
	/* in order it goes on: the gap is filled */
	KUNIT_EXPECT_TRUE(test, fake_rx(0, len, 1000, 1000));
	KUNIT_EXPECT_TRUE(test, fake_rx(0, len, 2000, 1000));
	KUNIT_EXPECT_EQ(test, fake->op->rx.msg[0].have.prefix, off);
}

/* All of it may be sent, so no grant follows: of three messages each has a sixth of the buffer.
 * One that fits a third is only acknowledged.
 */
static void msg_in__tells_what_has_come(struct kunit *test)
{
	u64 off;

	fake->ssk.sk.sk_sndbuf = 12000;
	fake->unsched = 6000;
	fake_start(3, 0);
	for (off = 0; off < 5000; off += 1000) {
		fake_rx(0, 6000, off, 1000);
		KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_GRANT, 0), (u32)(off + 1000) / 2000);
	}
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_GRANT, 0)->w.grant.limit, 6000ULL);
	KUNIT_EXPECT_EQ(test, fake_last(SHUFFLE_GRANT, 0)->w.grant.acked, 4000ULL);
	/* the last bytes have their ACK */
	fake_rx(0, 6000, 5000, 1000);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_GRANT, 0), 2U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, 0), 1U);
	for (off = 0; off < 4000; off += 1000)
		fake_rx(1, 4000, off, 1000);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_GRANT, 1), 0U);
}

/* What is absent is not waited for, and not taken. */
static void msg_in__absent(struct kunit *test)
{
	static const struct {
		struct shuffle_absent	head;
		u64			bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, 0x6 };

	fake->absent = &absent.head;
	fake_start(3, 0);
	KUNIT_EXPECT_EQ(test, fake->op->rx.incomplete, 1U);
	KUNIT_EXPECT_EQ(test, fake->op->rx.sched.unannounced, 1U);
	KUNIT_EXPECT_FALSE(test, fake_rx(1, 1000, 0, 1000));
	FAKE_COUNTED(test, DropState, 1);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_ACK, SHUFFLE_NONE), 0U);
	KUNIT_EXPECT_TRUE(test, list_empty(&in_of(1)->ready.node));
	KUNIT_EXPECT_TRUE(test, fake_rx(0, 1000, 0, 1000));
	KUNIT_EXPECT_EQ(test, fake->op->rx.incomplete, 0U);
	KUNIT_EXPECT_EQ(test, fake->ssk.nr_incomplete, 0U);
}

/* Nobody is asked for what is absent. */
static void msg_in__absent_not_asked(struct kunit *test)
{
	static const struct {
		struct shuffle_absent	head;
		u64			bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, 0x5 };

	fake->absent = &absent.head;
	fake_start(3, 0);
	fake_advance(NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 0), 0U);
	KUNIT_EXPECT_EQ(test, fake_sent(SHUFFLE_RESEND, 2), 0U);
	KUNIT_EXPECT_GT(test, fake_sent(SHUFFLE_RESEND, 1), 0U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(msg_in__in_order),
	KUNIT_CASE(msg_in__copies),
	KUNIT_CASE(msg_in__out_of_order),
	KUNIT_CASE(msg_in__overlaps),
	KUNIT_CASE(msg_in__other_nonce_or_length),
	KUNIT_CASE(msg_in__not_granted),
	KUNIT_CASE(msg_in__buffer_full),
	KUNIT_CASE(msg_in__too_many_gaps),
	KUNIT_CASE(msg_in__no_memory),
	KUNIT_CASE(msg_in__little_of_much),
	KUNIT_CASE(msg_in__ended),
	KUNIT_CASE(msg_in__at_random),
	KUNIT_CASE(msg_in__room_for_order),
	KUNIT_CASE(msg_in__tells_what_has_come),
	KUNIT_CASE(msg_in__absent),
	KUNIT_CASE(msg_in__absent_not_asked),
	{}
};

struct kunit_suite shuffle_msg_in_suite = {
	.name = "shuffle_msg_in",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
