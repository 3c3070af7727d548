// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files under test, with the fake's clock, timer, memory and work queue in place of the
 * kernel's, and what a test does with them.
 */
#include <linux/hash.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../kernels.h"
#include "fake.h"

/* trace.h would define the tracepoints of the module once more. */
#define _SHUFFLE_TRACE_H
static void trace_shuffle_op_start(const struct shuffle_op *op) {}
static void trace_shuffle_op_end(const struct shuffle_op *op) {}
static void trace_shuffle_msg_done(const struct shuffle_op *op, u32 rank, bool out) {}
static void trace_shuffle_grant_in(const struct shuffle_op *op, u32 rank, u64 limit) {}
static void trace_shuffle_grant_out(const struct shuffle_op *op, u32 rank, u64 limit) {}
static void trace_shuffle_resend_in(const struct shuffle_op *op, u32 rank, u64 off, u64 len) {}
static void trace_shuffle_resend_out(const struct shuffle_op *op, u32 rank, u64 off, u64 len) {}

static u64 fake_now(void)
{
	return fake->now;
}

/* An operation's timer is set to a time, the one of delayed ACKs to one from now on. */
static u64 *expiry(enum hrtimer_mode mode)
{
	return mode == HRTIMER_MODE_REL_SOFT ? &fake->delay_at : &fake->timer_at;
}

static void timer_init(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
		       clockid_t clock, enum hrtimer_mode mode)
{
	*expiry(mode) = U64_MAX;
}

static void timer_start(struct hrtimer *timer, ktime_t at, enum hrtimer_mode mode)
{
	*expiry(mode) = ktime_to_ns(at) + (mode == HRTIMER_MODE_REL_SOFT ? fake->now : 0);
}

static bool timer_is_queued(const struct hrtimer *timer)
{
	return fake->timer_at != U64_MAX;
}

static ktime_t timer_expires(const struct hrtimer *timer)
{
	return ns_to_ktime(fake->timer_at);
}

static void timer_cancel(struct hrtimer *timer)
{
	fake->timer_at = U64_MAX;
}

/* It waits for fake_work(). */
static bool work_queue(struct workqueue_struct *queue, struct work_struct *work)
{
	return !test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
}

static bool work_cancel(struct work_struct *work)
{
	return test_and_clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
}

/* Nobody else is there. */
static void sock_owned(const struct sock *sk)
{
}

#define shuffle_now		fake_now
#define hrtimer_setup		timer_init
#define hrtimer_start		timer_start
#define hrtimer_is_queued	timer_is_queued
#define hrtimer_get_expires	timer_expires
#define hrtimer_cancel		timer_cancel
#define queue_work		work_queue
#define cancel_work_sync	work_cancel
#define sock_owned_by_me	sock_owned
#define sk_rmem_schedule	fake_memory_schedule_packet
#define sk_wmem_schedule	fake_memory_schedule
#define sk_mem_charge		fake_memory_charge
#define sk_mem_uncharge		fake_memory_uncharge

#include "../coll/engine.c"
#include "../abort.c"
#include "../op.c"
#include "../rx/delayed_ack.c"
#include "../rx/grant.c"
#include "../rx/msg_in.c"
#include "../rx/msg_take.c"
#include "../rx/question.c"
#include "../rx/slowest.c"
#include "../rx/rto.c"
#include "../rx/timer.c"
#include "../tx/msg_out.c"
#include "../tx/own_schedule.c"
#include "../tx/same.c"
#include "../tx/turns.c"
#include "../tx/want.c"

/**
 * fake_fire() - time passes until the timer fires
 */
void fake_fire(void)
{
	KUNIT_ASSERT_NE(fake->test, fake->timer_at, U64_MAX);
	fake->now = max(fake->now, fake->timer_at);
	fake->timer_at = U64_MAX;
	local_bh_disable();
	timer_fires(&fake->op->clock.timer);
	local_bh_enable();
}

/**
 * fake_advance() - time passes, and the timer fires when it is due
 * @ns: so much
 */
void fake_advance(u64 ns)
{
	u64 end = fake->now + ns;
	u32 n = 0;

	while (fake->timer_at <= end) {
		KUNIT_ASSERT_LT(fake->test, n++, 100000U);
		fake_fire();
	}
	fake->now = end;
}

/**
 * fake_delay_fires() - time passes until delayed ACKs are due
 */
void fake_delay_fires(void)
{
	KUNIT_ASSERT_NE(fake->test, fake->delay_at, U64_MAX);
	fake->now = max(fake->now, fake->delay_at);
	fake->delay_at = U64_MAX;
	local_bh_disable();
	delayed_fires(&fake->ssk.delayed->timer);
	local_bh_enable();
}

static void append(u32 rank, u64 off, u32 len)
{
	struct shuffle_chunk *chunk = kzalloc(struct_size(chunk, bytes, len), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(fake->test, chunk);
	chunk->off = off;
	chunk->len = len;
	chunk->rank = rank;
	chunk->pkt = len;
	chunk->truesize = len;
	fake->charged += len;
	fake->ssk.sk.sk_wmem_queued += len;
	spin_lock_bh(&fake->ssk.lock);
	shuffle_msg_out_append(fake->op, chunk);
	spin_unlock_bh(&fake->ssk.lock);
}

/**
 * fake_row() - the user hands a row over
 * @len: bytes of each message, in chunks of one packet
 * @sent: so many of them have been sent, without a grant
 */
void fake_row(u64 len, u64 sent)
{
	struct shuffle_op *op = fake->op;
	u64 off;
	u32 i;

	op->tx.announced = op->group->count;
	op->tx.closed = true;
	for (i = 0; i < op->group->count; i++) {
		struct shuffle_msg_out *out = &op->tx.msg[i];

		op->tx.sched.msg[i].len = len;
		op->tx.sched.msg[i].next = sent;
		out->unsched = sent;
		out->granted = sent;
		out->announced_at = fake->now;
		for (off = 0; off < len; off += FAKE_PAYLOAD)
			append(i, off, min_t(u64, len - off, FAKE_PAYLOAD));
		spin_lock_bh(&fake->ssk.lock);
		shuffle_msg_out_limit(op, i);
		shuffle_timer_out(op, i);
		shuffle_timer_start(op);
		spin_unlock_bh(&fake->ssk.lock);
	}
}

/* A row whose messages have @len bytes each, but for ourselves; of these @sent need no grant. */
static void same_row(u64 len, u64 sent)
{
	struct shuffle_op *op = fake->op;
	u32 i, n = op->group->count;
	struct shuffle_row *row;
	u64 *lens;

	row = kzalloc(sizeof(*row) + n * sizeof(*lens), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(fake->test, row);
	row->size = sizeof(*row);
	row->count = n;
	lens = (void *)(row + 1);
	for (i = 0; i < n; i++) {
		op->tx.msg[i].absent = i == op->group->rank;
		lens[i] = op->tx.msg[i].absent ? SHUFFLE_ABSENT : len;
	}
	KUNIT_ASSERT_EQ(fake->test, shuffle_same_alloc(op, row), 0);
	kfree(row);

	spin_lock_bh(&fake->ssk.lock);
	for (i = 0; i < n; i++) {
		if (op->tx.msg[i].absent) {
			op->tx.msg[i].acked = true;
			op->tx.unacked--;
			continue;
		}
		op->tx.sched.msg[i].len = len;
		op->tx.msg[i].unsched = sent;
		op->tx.msg[i].granted = sent;
		op->tx.msg[i].announced_at = fake->now;
	}
	shuffle_same_start(op);
	op->tx.announced = n;
	op->tx.closed = true;
	spin_unlock_bh(&fake->ssk.lock);
}

/**
 * fake_same() - the user hands over a row whose messages have the same bytes
 * @len: bytes of each message, in chunks of one packet
 * @sent: so many of them have been sent to all, without a grant
 */
void fake_same(u64 len, u64 sent)
{
	u64 off;

	fake->group->multicast = true;
	same_row(len, sent);
	for (off = 0; off < len; off += FAKE_PAYLOAD)
		append(fake->group->count, off, min_t(u64, len - off, FAKE_PAYLOAD));
	fake_same_sent(sent);
}

/**
 * fake_same_sent() - more of such a row is sent to all
 * @next: so many bytes have been
 */
void fake_same_sent(u64 next)
{
	struct shuffle_op *op = fake->op;
	u32 all = shuffle_group_all(op->group);

	spin_lock_bh(&fake->ssk.lock);
	op->tx.sched.msg[all].next = next;
	op->tx.msg[all].announced_at = fake->now;
	shuffle_policy_tx_update(&op->tx.sched, all);
	if (next)
		shuffle_same_sent(op, fake->now);
	spin_unlock_bh(&fake->ssk.lock);
}

/**
 * fake_ask() - the user announces a row and wants to be asked for its data
 * @lens: of the messages
 *
 * Return: 0 or an error.
 */
int fake_ask(const u64 *lens)
{
	struct shuffle_op *op = fake->op;
	u32 i;

	op->tx.announced = op->group->count;
	op->tx.closed = true;
	for (i = 0; i < op->group->count; i++)
		op->tx.sched.msg[i].len = lens[i];
	return shuffle_want_start(op);
}

/**
 * fake_wanted() - the reader takes the next record of the socket
 * @rec: becomes the record, if it asks for data
 *
 * Return: true if it does.
 */
bool fake_wanted(struct shuffle_record *rec)
{
	struct shuffle_ready *ready = list_first_entry_or_null(&fake->ssk.notices,
							       struct shuffle_ready, node);
	bool wanted;

	if (!ready || ready->rank != SHUFFLE_WANT)
		return false;
	spin_lock_bh(&fake->ssk.lock);
	wanted = shuffle_want_next(ready, rec);
	spin_unlock_bh(&fake->ssk.lock);
	return wanted;
}

/**
 * fake_answer() - the user sends data that was asked for
 * @records: so many records whole
 * @bytes: and so many of the next one
 */
void fake_answer(u32 records, u32 bytes)
{
	struct shuffle_want_cursor cur;
	u32 len;

	shuffle_want_begin(fake->op, &cur);
	for (; records; records--) {
		shuffle_want_at(fake->op, &cur, &len);
		shuffle_want_advance(fake->op, &cur, len);
		bytes += len;
	}
	shuffle_want_answered(fake->op, bytes);
}

/**
 * fake_rx_nonce() - a packet of one DATA record comes in
 * @rank: from this member
 * @nonce: with this nonce
 * @len: bytes of its message
 * @off: place of the payload in it
 * @payload: bytes; byte i of a message is i modulo 251
 *
 * Return: true if the packet was kept.
 */
bool fake_rx_nonce(u32 rank, u64 nonce, u64 len, u64 off, u32 payload)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA,
		.flags = fake->flags,
		.op_id = FAKE_OP,
		.nonce = nonce,
		.src_rank = rank,
		.dst_rank = fake->group->rank,
		.payload = payload,
		.unsched = fake->unsched,
		.data.len = len,
		.data.off = off,
	};
	struct sk_buff *skb = NULL;
	struct sk_buff_head q;
	bool kept;
	u32 i;

	if (payload) {
		skb = alloc_skb(payload, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(fake->test, skb);
		for (i = 0; i < payload; i++)
			skb_put_u8(skb, (off + i) % 251);
	}
	__skb_queue_head_init(&q);
	spin_lock_bh(&fake->ssk.lock);
	kept = shuffle_msg_in_data(fake->op, &w, skb, 0, payload, payload, &q, fake->now);
	shuffle_grant_op(fake->op, &q, fake->now);
	shuffle_grant_tell(fake->op, rank, &q);
	spin_unlock_bh(&fake->ssk.lock);
	if (!kept)
		kfree_skb(skb);
	return kept;
}

/**
 * fake_rx() - the same with the member's own nonce
 * @rank: see above
 * @len: see above
 * @off: see above
 * @payload: see above
 *
 * Return: true if the packet was kept.
 */
bool fake_rx(u32 rank, u64 len, u64 off, u32 payload)
{
	return fake_rx_nonce(rank, FAKE_NONCE(rank), len, off, payload);
}

/* What a member says about our message to it; @nonce: see shuffle_op_nonce(). */
static struct shuffle_wire about(u8 type, u32 rank)
{
	return (struct shuffle_wire) {
		.type = type,
		.op_id = FAKE_OP,
		.nonce = shuffle_op_nonce(fake->op, rank),
		.src_rank = rank,
		.dst_rank = fake->group->rank,
	};
}

/**
 * fake_grant() - a GRANT comes in
 * @rank: from this member
 * @limit: it wants the bytes below
 * @acked: it has these
 */
void fake_grant(u32 rank, u64 limit, u64 acked)
{
	struct shuffle_wire w = about(SHUFFLE_GRANT, rank);

	w.grant.limit = limit;
	w.grant.acked = acked;
	spin_lock_bh(&fake->ssk.lock);
	shuffle_msg_out_grant(fake->op, &w, fake->now);
	spin_unlock_bh(&fake->ssk.lock);
}

/**
 * fake_ack_nonce() - an ACK comes in
 * @rank: from this member
 * @nonce: with this nonce
 */
void fake_ack_nonce(u32 rank, u64 nonce)
{
	struct shuffle_wire w = about(SHUFFLE_ACK, rank);

	w.nonce = nonce;
	spin_lock_bh(&fake->ssk.lock);
	shuffle_msg_out_ack(fake->op, &w, fake->now);
	spin_unlock_bh(&fake->ssk.lock);
}

/**
 * fake_ack() - the same with the nonce that the member knows
 * @rank: from this member
 */
void fake_ack(u32 rank)
{
	fake_ack_nonce(rank, shuffle_op_nonce(fake->op, rank));
}

static void resend_came(const struct shuffle_wire *w)
{
	struct sk_buff_head q;

	__skb_queue_head_init(&q);
	spin_lock_bh(&fake->ssk.lock);
	shuffle_msg_out_resend(fake->op, w, &q, fake->now);
	spin_unlock_bh(&fake->ssk.lock);
}

/**
 * fake_resend() - a RESEND comes in
 * @rank: from this member
 * @known: it has heard of the message, and knows the nonce
 * @off: it wants the bytes from here
 * @len: so many
 */
void fake_resend(u32 rank, bool known, u64 off, u64 len)
{
	struct shuffle_wire w = about(SHUFFLE_RESEND, rank);

	if (!known)
		w.nonce = 0;
	w.resend.off = off;
	w.resend.len = len;
	resend_came(&w);
}

/**
 * fake_waits() - a member says that it has nothing to announce yet
 * @rank: from this member
 */
void fake_waits(u32 rank)
{
	struct shuffle_wire w = about(SHUFFLE_RESEND, rank);

	w.nonce = 0;
	w.flags = SHUFFLE_FLAG_WAITS;
	resend_came(&w);
}

/**
 * fake_work() - the operation's worker runs, if it has been asked to
 * @work: one of @fake->op
 *
 * Return: true if it has run.
 */
bool fake_work(struct work_struct *work)
{
	if (!work_cancel(work))
		return false;
	work->func(work);
	return true;
}

/**
 * fake_unlink() - the operation's end has been read, or its socket is closed
 * @op: operation
 */
void fake_unlink(struct shuffle_op *op)
{
	mutex_lock(&fake->ssk.read_mutex);
	shuffle_op_unlink(op);
	mutex_unlock(&fake->ssk.read_mutex);
}

/**
 * fake_end() - the socket is closed
 *
 * Harmless if nothing was started, or twice.
 */
void fake_end(void)
{
	if (fake->op)
		fake_unlink(fake->op);
	fake->op = NULL;
	shuffle_delayed_exit(&fake->ssk);
	if (fake->group)
		shuffle_group_put(fake->group);
	fake->group = NULL;
}
