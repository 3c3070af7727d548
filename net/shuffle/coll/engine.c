// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of a collective: it goes through the plan message by message.  One that we send is
 * made from what we have when its turn comes; one that we receive is waited for, and then takes
 * its place.  So results depend on the plan alone, not on the order of arrival.
 *
 * All memory is there before the first message: nothing in softirq can fail.
 */
#include <linux/slab.h>

#include "../shuffle.h"
#include "combine.h"
#include "engine.h"
#include "racks.h"

/* A message without bytes is sent as one: a member waits for its sender, and an empty message
 * would be announced before its turn.
 */
#define TOKEN_BYTES	1

/* What costs as much as another message or packet that is looked at: so many items of a byte. */
#define BYTES_OF_STEP	256

/**
 * shuffle_engine_bytes() - how long a message of the plan is on the wire
 * @e: engine
 * @m: message
 *
 * Context: any.
 * Return: bytes, at least 1.
 */
u32 shuffle_engine_bytes(const struct shuffle_engine *e, const struct shuffle_plan_msg *m)
{
	return max_t(u32, shuffle_blocks_bytes(&e->blocks, m), TOKEN_BYTES);
}

/**
 * shuffle_engine_fits() - is the engine one for the operation's group?
 * @op: operation with an engine; the socket's group or its racks may have changed since that
 *	was made
 *
 * Context: any, ssk->lock held.
 */
bool shuffle_engine_fits(const struct shuffle_op *op)
{
	const struct shuffle_engine *e = op->engine;

	lockdep_assert_held(&op->ssk->lock);
	return e->topo.n == op->group->count && e->plan.self == op->group->rank &&
	       e->racks == op->ssk->racks;
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

/* Fill a message in and let the egress have it. */
static void send_message(struct shuffle_op *op, const struct shuffle_plan_msg *m)
{
	struct shuffle_engine *e = op->engine;
	struct shuffle_chunk *chunk = e->chunk[e->at];
	struct shuffle_block_piece piece[2];
	u8 *to = chunk->bytes;
	u32 i, n;

	n = shuffle_blocks_pieces(&e->blocks, m, piece);
	if (!n)
		*to = 0;
	for (i = 0; i < n; to += piece[i].len, i++)
		memcpy(to, e->data->data + piece[i].at, piece[i].len);
	e->chunk[e->at] = NULL;
	shuffle_msg_out_append(op, chunk);
	shuffle_egress_kick(op);
}

/* What has arrived takes its place, or is combined with what is there. */
static void take_message(struct shuffle_engine *e, const struct shuffle_plan_msg *m)
{
	struct shuffle_block_piece piece[2];
	const u8 *from = e->scratch;
	u32 i, n;

	n = shuffle_blocks_pieces(&e->blocks, m, piece);
	for (i = 0; i < n; from += piece[i].len, i++) {
		if (m->take == SHUFFLE_COLL_STORE)
			memcpy(e->data->data + piece[i].at, from, piece[i].len);
		else
			shuffle_coll_combine(e->oper, e->type, e->data->data + piece[i].at, from,
					     piece[i].len);
	}
}

/* All vectors are there: combine those that are to be, in the order of ranks. */
static void combine_gathered(struct shuffle_engine *e)
{
	u32 i, n = shuffle_coll_gathered(e->plan.kind, e->plan.self, e->topo.n);

	for (i = 1; i < n; i++)
		shuffle_coll_combine(e->oper, e->type, e->data->data,
				     e->data->data + i * e->result_len, e->result_len);
}

/* The result becomes a message from ourselves. */
static void deliver(struct shuffle_op *op)
{
	u32 self = op->group->rank;
	struct shuffle_msg_in *in = &op->in[self];
	struct shuffle_engine *e = op->engine;
	struct sk_buff *skb = e->data;

	e->finished = true;
	if (!e->has_result)
		return;
	if (e->plan.pattern == SHUFFLE_COLL_GATHERED)
		combine_gathered(e);
	op->prx.msg[self].len = e->result_len;
	if (e->result_len) {
		/* it is the reader's, and counts against the receive buffer */
		atomic_add(skb->truesize, &op->ssk->sk.sk_rmem_alloc);
		e->data = NULL;
		*SHUFFLE_PIECE(skb) = (struct shuffle_piece) {
			.end = e->result_len,
			.data = e->result_off,
			.stride = e->result_len,
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
	if (!e->started || e->finished || op->ended)
		return false;
	for (; e->at < e->plan.n; e->at++) {
		const struct shuffle_plan_msg *m = &e->plan.msg[e->at];

		if (budget <= 0)
			return true;
		if (!m->out && !op->in[m->peer].complete)
			return false;
		if (!m->out && !shuffle_msg_in_take(op, m->peer, e->scratch, &budget))
			return true;
		if (m->out)
			send_message(op, m);
		else
			take_message(e, m);
		budget -= 1 + shuffle_engine_bytes(e, m) / BYTES_OF_STEP;
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

	for (i = 0; i < e->plan.n; i++)
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

/**
 * shuffle_engine_has_room() - may it begin, as the send buffer is now?
 * @e: engine
 * @sk: socket
 *
 * Context: process.
 */
bool shuffle_engine_has_room(const struct shuffle_engine *e, const struct sock *sk)
{
	return has_room(sk, chunks_size(e));
}

/* Charge what the engine holds: what it sends, and its data, which does not count against the
 * receive buffer until it is the result.  0 or -ENOBUFS.
 */
static int charge(struct shuffle_op *op, u32 size)
{
	struct shuffle_engine *e = op->engine;
	struct sock *sk = &op->ssk->sk;

	if (!has_room(sk, size) || (size && !sk_wmem_schedule(sk, size)))
		return -ENOBUFS;
	sk_mem_charge(sk, size);
	if (!sk_rmem_schedule(sk, e->data, e->data->truesize)) {
		sk_mem_uncharge(sk, size);
		return -ENOBUFS;
	}
	sk_mem_charge(sk, e->data->truesize);
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + (int)size);
	return 0;
}

static int try_start(struct shuffle_op *op, u32 size)
{
	int err;

	spin_lock_bh(&op->ssk->lock);
	err = op->ended ? -EPIPE : charge(op, size);
	if (!err) {
		op->engine->started = true;
		shuffle_engine_arrived(op, shuffle_now());
	}
	spin_unlock_bh(&op->ssk->lock);
	return err;
}

/**
 * shuffle_engine_start() - the row has been announced: begin
 * @op: operation with an engine
 *
 * Context: process, op->tx_mutex held.
 * Return: 0; -EPIPE (the operation has ended), -ENOBUFS (no memory for it, or twice the send buffer
 * is used up, and not by this one alone).
 */
int shuffle_engine_start(struct shuffle_op *op)
{
	u32 size = chunks_size(op->engine);
	int err = try_start(op, size);

	if (err != -ENOBUFS)
		return err;
	/* pages that the socket only keeps go first */
	shuffle_pages_drop(op->ssk);
	return try_start(op, size);
}

/**
 * shuffle_engine_purge() - give back what the engine of an ended operation still has
 * @op: operation that has ended
 *
 * Context: process, without ssk->lock.
 */
void shuffle_engine_purge(struct shuffle_op *op)
{
	struct shuffle_engine *e = op->engine;
	struct sock *sk = &op->ssk->sk;
	u32 size;

	if (!e || !e->started)
		return;
	/* nobody else looks at it any more */
	size = chunks_size(e);
	spin_lock_bh(&op->ssk->lock);
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued - (int)size);
	sk_mem_uncharge(sk, size);
	if (e->data)
		sk_mem_uncharge(sk, e->data->truesize);
	e->started = false;
	shuffle_forward_room(op->ssk);
	spin_unlock_bh(&op->ssk->lock);
	if (size)
		shuffle_sock_write_space(sk);
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
	for (i = 0; e->chunk && i < e->plan.n; i++)
		if (e->chunk[i])
			shuffle_msg_out_free_chunk(e->chunk[i]);
	kvfree(e->chunk);
	kvfree(e->plan.msg);
	kvfree(e->expected);
	kvfree(e->scratch);
	consume_skb(e->data);
	shuffle_racks_put(e->racks);
	kfree(e);
}
