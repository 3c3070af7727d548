// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of a collective: it goes through the table step by step.  A message that we send is
 * made from what we have when its turn comes; one that we receive is waited for, and then takes
 * its place.  So results depend on the table alone, not on the order of arrival.
 *
 * All memory is there before the first message: nothing in softirq can fail.
 */
#include <linux/slab.h>

#include "../group.h"
#include "../op.h"
#include "../peer.h"
#include "../rx/msg_in.h"
#include "../rx/msg_take.h"
#include "../rx/timer.h"
#include "../sock.h"
#include "../tx/egress_wake.h"
#include "../tx/msg_out.h"
#include "../tx/pages.h"
#include "../tx/want.h"
#include "combine.h"
#include "engine.h"

/* A message without bytes is sent as one: a member waits for its sender, and an empty message
 * would be announced before its turn.
 */
#define TOKEN_BYTES	1

/* What costs as much as another message or packet that is looked at: so many items of a byte. */
#define BYTES_OF_STEP	256

/**
 * shuffle_engine_bytes() - how long a step's message is on the wire
 * @s: step
 *
 * Context: any.
 * Return: bytes, at least 1.
 */
u32 shuffle_engine_bytes(const struct shuffle_step *s)
{
	return max_t(u32, s->len, TOKEN_BYTES);
}

/**
 * shuffle_engine_fits() - is the engine one for the operation's group?
 * @op: operation with an engine; the socket's group may have changed since that was made
 *
 * Context: any, ssk->lock held.
 */
bool shuffle_engine_fits(const struct shuffle_op *op)
{
	const struct shuffle_engine *e = op->engine;

	lockdep_assert_held(&op->ssk->lock);
	return e->members == op->group->count && e->self == op->group->rank;
}

/**
 * shuffle_engine_expects() - is that what a member has to send?
 * @op: operation with an engine
 * @rank: the member
 * @len: bytes that it announces
 *
 * Context: any, ssk->lock held.
 * Return: false if the two do not call the same, or not with the same sizes.
 */
bool shuffle_engine_expects(const struct shuffle_op *op, u32 rank, u64 len)
{
	lockdep_assert_held(&op->ssk->lock);
	return op->engine->expected[rank] == len;
}

/* Bytes of a step before the memory's end; the others are at its beginning. */
static u32 before_end(const struct shuffle_engine *e, const struct shuffle_step *s)
{
	return min(s->len, e->held - s->at);
}

/* Fill a message in and let the egress have it. */
static void send_message(struct shuffle_op *op, const struct shuffle_step *s)
{
	struct shuffle_engine *e = op->engine;
	struct shuffle_chunk *chunk = e->chunk[e->at];
	u32 n = before_end(e, s);

	if (!s->len)
		*chunk->bytes = 0;
	memcpy(chunk->bytes, e->data->data + s->at, n);
	memcpy(chunk->bytes + n, e->data->data, s->len - n);
	if (e->oper != SHUFFLE_COLL_NONE)
		shuffle_coll_turn(e->type, chunk->bytes, s->len);
	e->chunk[e->at] = NULL;
	shuffle_msg_out_append(op, chunk);
	shuffle_egress_kick(op);
}

/* What has arrived takes its place, or is combined with what is there. */
static void take_message(struct shuffle_engine *e, const struct shuffle_step *s)
{
	u32 n = before_end(e, s);

	if (e->oper != SHUFFLE_COLL_NONE)
		shuffle_coll_turn(e->type, e->scratch, s->len);
	if (s->what == SHUFFLE_STEP_STORE) {
		memcpy(e->data->data + s->at, e->scratch, n);
		memcpy(e->data->data, e->scratch + n, s->len - n);
		return;
	}
	shuffle_coll_combine(e->oper, e->type, e->data->data + s->at, e->scratch, n);
	shuffle_coll_combine(e->oper, e->type, e->data->data, e->scratch + n, s->len - n);
}

/* All vectors are there: combine them, in their order. */
static void combine_vectors(struct shuffle_engine *e)
{
	u8 *into = e->data->data + e->out_at;
	u32 i;

	for (i = 1; i < e->vectors; i++)
		shuffle_coll_combine(e->oper, e->type, into, into + i * e->out_len, e->out_len);
}

/* The result becomes a message from ourselves. */
static void deliver(struct shuffle_op *op)
{
	u32 self = op->group->rank;
	struct shuffle_msg_in *in = &op->rx.msg[self];
	struct shuffle_engine *e = op->engine;
	struct sk_buff *skb = e->data;

	e->finished = true;
	if (!e->vectors)
		return;
	combine_vectors(e);
	op->rx.sched.msg[self].len = e->out_len;
	if (e->out_len) {
		/* it is the reader's, and counts against the receive buffer */
		atomic_add(skb->truesize, &op->ssk->sk.sk_rmem_alloc);
		e->data = NULL;
		*SHUFFLE_PIECE(skb) = (struct shuffle_piece) {
			.end = e->out_len,
			.data = e->out_at,
			.stride = e->out_len,
		};
		shuffle_msg_in_insert_piece(in, skb);
	}
	in->delivered = false;
	list_move_tail(&in->ready.node, &op->ssk->ready);
	op->ssk->sk.sk_data_ready(&op->ssk->sk);
}

/**
 * shuffle_engine_run() - go on as far as messages have arrived, but not for too long
 * @op: operation with an engine
 *
 * Context: any, ssk->lock held.
 * Return: true if there is more to do at once.
 */
bool shuffle_engine_run(struct shuffle_op *op)
{
	struct shuffle_engine *e = op->engine;
	s32 budget = SHUFFLE_SLICE;

	lockdep_assert_held(&op->ssk->lock);
	if (!e->started || e->finished || op->life.ended)
		return false;
	for (; e->at < e->steps; e->at++) {
		const struct shuffle_step *s = &e->step[e->at];
		bool out = s->what == SHUFFLE_STEP_SEND;

		if (budget <= 0)
			return true;
		if (!out && !op->rx.msg[s->peer].complete)
			return false;
		if (!out && !shuffle_msg_in_take(op, s->peer, e->scratch, &budget))
			return true;
		if (out)
			send_message(op, s);
		else
			take_message(e, s);
		budget -= 1 + shuffle_engine_bytes(s) / BYTES_OF_STEP;
	}
	deliver(op);
	shuffle_op_check_done(op);
	return false;
}

/**
 * shuffle_engine_arrived() - a message has arrived whole
 * @op: operation with an engine
 * @now: ns
 *
 * Context: any, ssk->lock held.
 */
void shuffle_engine_arrived(struct shuffle_op *op, u64 now)
{
	lockdep_assert_held(&op->ssk->lock);
	if (shuffle_engine_run(op))
		shuffle_timer_now(op, now);
}

/* What all chunks that have not been handed over are charged. */
static u32 chunks_size(const struct shuffle_engine *e)
{
	u32 i, sum = 0;

	for (i = 0; i < e->steps; i++)
		if (e->chunk[i])
			sum += e->chunk[i]->truesize;
	return sum;
}

/* The call does not wait for room in the send buffer; twice as much is the end of it.  But one fits
 * always, or there would be groups in which a small send buffer could not do anything.
 */
static bool has_room(const struct sock *sk, u32 size)
{
	u32 queued = READ_ONCE(sk->sk_wmem_queued);

	return !queued || (s64)queued + size <= 2LL * shuffle_sock_sndbuf(sk);
}

/* What the engine sends, and its data, which does not count against the receive buffer until it is
 * the result.  0 or -ENOBUFS.
 */
static int charge(struct shuffle_engine *e, struct sock *sk, u32 size)
{
	if (!has_room(sk, size) || (size && !sk_wmem_schedule(sk, size)))
		return -ENOBUFS;
	sk_mem_charge(sk, size);
	if (!sk_rmem_schedule(sk, e->data, e->data->truesize)) {
		sk_mem_uncharge(sk, size);
		return -ENOBUFS;
	}
	sk_mem_charge(sk, e->data->truesize);
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + (int)size);
	e->charged = true;
	return 0;
}

static int try_charge(struct shuffle_engine *e, struct shuffle_sock *ssk)
{
	int err;

	spin_lock_bh(&ssk->lock);
	err = charge(e, &ssk->sk, chunks_size(e));
	spin_unlock_bh(&ssk->lock);
	return err;
}

/**
 * shuffle_engine_charge() - let a socket pay for what an engine holds
 * @e: engine
 * @ssk: the socket
 *
 * Before there is an operation that somebody could hear of, so that the call can be made again.
 *
 * Context: process, may sleep.
 * Return: 0; -ENOBUFS (no memory for it, or twice the send buffer is used up, and not by this one
 * alone).
 */
int shuffle_engine_charge(struct shuffle_engine *e, struct shuffle_sock *ssk)
{
	if (!try_charge(e, ssk))
		return 0;
	/* pages that the socket only keeps go first */
	shuffle_pages_drop(ssk);
	return try_charge(e, ssk);
}

/**
 * shuffle_engine_uncharge() - give back what an engine still has
 * @e: engine that does not run (any more)
 * @ssk: the socket
 *
 * Context: process, without ssk->lock.
 */
void shuffle_engine_uncharge(struct shuffle_engine *e, struct shuffle_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	u32 size;

	if (!e->charged)
		return;
	size = chunks_size(e);
	spin_lock_bh(&ssk->lock);
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued - (int)size);
	sk_mem_uncharge(sk, size);
	if (e->data)
		sk_mem_uncharge(sk, e->data->truesize);
	e->charged = false;
	if (size)
		shuffle_want_room(ssk);
	spin_unlock_bh(&ssk->lock);
	if (size)
		shuffle_sock_write_space(sk);
}

/**
 * shuffle_engine_start() - the row has been announced: begin
 * @op: operation with an engine, which is charged
 *
 * Context: process, op->fill.mutex held.
 * Return: 0, or -EPIPE (the operation has ended).
 */
int shuffle_engine_start(struct shuffle_op *op)
{
	int err = -EPIPE;

	spin_lock_bh(&op->ssk->lock);
	if (!op->life.ended) {
		op->engine->started = true;
		shuffle_engine_arrived(op, shuffle_now());
		err = 0;
	}
	spin_unlock_bh(&op->ssk->lock);
	return err;
}

/**
 * shuffle_engine_free() - free an engine whose memory is not charged
 * @e: engine, or NULL
 *
 * Context: process.
 */
void shuffle_engine_free(struct shuffle_engine *e)
{
	u32 i;

	if (!e)
		return;
	for (i = 0; e->chunk && i < e->steps; i++)
		if (e->chunk[i])
			shuffle_msg_out_free_chunk(e->chunk[i]);
	kvfree(e->chunk);
	kvfree(e->step);
	kvfree(e->expected);
	kvfree(e->scratch);
	consume_skb(e->data);
	kfree(e);
}
