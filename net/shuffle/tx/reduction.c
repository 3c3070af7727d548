// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows one message of which takes in all that come (SHUFFLE_CMSG_REDUCE): what has come in order
 * is combined at once with the caller's bytes, where these lie to be sent, and freed.  Bytes with
 * which all messages have been combined leave while the rest comes.  No process wakes up in
 * between.
 *
 * All of the caller's data is there before the first byte is combined.  So whatever comes can be
 * taken in: no message waits for another one in the receive buffer, and none of several operations
 * for another.  All operators commute, so that the order in which members are heard of makes no
 * difference: the same bits every time.
 *
 * All under ssk->lock, any context, unless said otherwise.
 */
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../abort.h"
#include "../shuffle.h"
#include "../coll/combine.h"

/* Bytes that are combined at once; the timer goes on.  A piece that is freed costs like some. */
#define REDUCE_BYTES	SZ_32K
#define PIECE_BYTES	256

/* Bytes that are combined between two copies: whole items of any type.  Finding the place in a
 * packet costs as much as combining some hundred bytes.
 */
#define BLOCK		SZ_4K

/**
 * shuffle_reduction_alloc() - a message of an operation's row is to take in what comes
 * @op: operation that nobody has seen yet
 * @r: of the caller
 *
 * Context: process.
 * Return: 0, -EINVAL (no such member; nothing comes, or something from ourselves), -EOPNOTSUPP (too
 * many members) or -ENOMEM.
 */
int shuffle_reduction_alloc(struct shuffle_op *op, const struct shuffle_reduction *r)
{
	u32 self = op->group->rank;

	if (r->to >= op->group->count || r->to == self || !op->in[self].absent || !op->incomplete)
		return -EINVAL;
	if (op->group->count > SHUFFLE_SAME_MEMBERS)
		return -EOPNOTSUPP;
	op->reduction = kzalloc(struct_size(op->reduction, scratch, 2 * BLOCK), GFP_KERNEL_ACCOUNT);
	if (!op->reduction)
		return -ENOMEM;
	op->reduction->to = r->to;
	op->reduction->oper = r->oper;
	op->reduction->type = r->type;
	op->reduction->inputs = op->incomplete;		/* nothing has come yet */
	return 0;
}

/* Copy payload of a chunk that has not been sent, or put it back (@store). */
static void copy_chunk(struct shuffle_chunk *chunk, u32 hdr, u32 at, u8 *bytes, u32 len,
		       bool store)
{
	const struct page_frag *f;
	u8 *place;
	u32 wire, n;

	for (; len; at += n, bytes += n, len -= n) {
		if (chunk->kind == SHUFFLE_CHUNK_BYTES) {
			place = chunk->bytes + at;
			n = len;
		} else {
			wire = at + (at / chunk->pkt + 1) * hdr;
			n = min(len, chunk->pkt - at % chunk->pkt);
			for (f = chunk->frag; wire >= f->size; f++)
				wire -= f->size;
			place = page_address(f->page) + f->offset + wire;
			n = min(n, f->size - wire);
		}
		if (store)
			memcpy(place, bytes, n);
		else
			memcpy(bytes, place, n);
	}
}

/* The same for bytes of the message, which may lie in several chunks. */
static void copy_message(struct shuffle_op *op, u64 off, u8 *bytes, u32 len, bool store)
{
	struct shuffle_chunk *chunk;
	u32 n;

	for (; len; off += n, bytes += n, len -= n) {
		chunk = shuffle_msg_out_chunk(op, op->reduction->to, off);
		if (WARN_ON_ONCE(!chunk))
			return;
		n = min_t(u64, len, chunk->off + chunk->len - off);
		copy_chunk(chunk, op->group->data_hdr, off - chunk->off, bytes, n, store);
	}
}

static void combine_bytes(struct shuffle_op *op, const struct shuffle_msg_in *in, u32 len)
{
	struct shuffle_reduction_state *r = op->reduction;
	u8 *ours = r->scratch, *theirs = r->scratch + BLOCK;

	copy_message(op, in->read, ours, len, false);
	shuffle_msg_in_copy(in, in->read, theirs, len);
	shuffle_coll_combine(r->oper, r->type, ours, theirs, len);
	copy_message(op, in->read, ours, len, true);
}

/* Take in what has come of a message, in whole items.  Returns true if there is more. */
static bool take_in(struct shuffle_op *op, u32 rank, s32 *budget)
{
	struct shuffle_msg_in *in = &op->in[rank];
	struct shuffle_net *sn = shuffle_op_net(op);
	u64 end = in->have.prefix, from = in->read;
	u32 n;

	end &= ~(u64)(shuffle_coll_item(op->reduction->type) - 1);
	for (; in->read < end && *budget > 0; *budget -= n) {
		n = min_t(u64, end - in->read, BLOCK);
		combine_bytes(op, in, n);
		in->read += n;
		*budget -= PIECE_BYTES * shuffle_msg_in_drop(op, rank);
	}
	SHUFFLE_ADD(sn, ReduceBytes, in->read - from);
	if (op->prx.msg[rank].announced && in->read == op->prx.msg[rank].len)
		in->delivered = true;
	return in->read < end;
}

/* What all messages have been combined with may leave, but for a part of a packet. */
static void let_go(struct shuffle_op *op)
{
	struct shuffle_reduction_state *r = op->reduction;
	const struct shuffle_chunk *chunk;
	u64 least = U64_MAX;
	u32 i, n;

	for (i = 0; i < op->group->count; i++)
		if (!op->in[i].absent)
			least = min(least, op->in[i].read);
	if (least == r->done)
		return;
	r->done = least;
	if (least < op->ptx.msg[r->to].len) {
		chunk = shuffle_msg_out_chunk(op, r->to, least);
		if (WARN_ON_ONCE(!chunk))
			return;
		n = least - chunk->off;
		if (chunk->kind == SHUFFLE_CHUNK_PACKETS)
			n = rounddown(n, chunk->pkt);
		least = chunk->off + n;
	}
	r->ready = least;
	shuffle_msg_out_limit(op, r->to);
	shuffle_egress_kick(op);
}

/* Its length may be known before ours.  False: the operation has failed. */
static bool fits(struct shuffle_op *op, u32 rank)
{
	if (!op->prx.msg[rank].announced ||
	    op->prx.msg[rank].len == op->ptx.msg[op->reduction->to].len)
		return true;
	shuffle_op_disagrees(op, rank);
	return false;
}

/**
 * shuffle_reduction_run() - take in what has come, but not for too long
 * @op: operation with a reduction
 *
 * Return: true if there is more to do at once.
 */
bool shuffle_reduction_run(struct shuffle_op *op)
{
	s32 budget = REDUCE_BYTES;
	bool more = false;
	u32 i;

	lockdep_assert_held(&op->ssk->lock);
	if (!op->reduction->started || op->ended)
		return false;
	for (i = 0; i < op->group->count; i++) {
		if (op->in[i].absent)
			continue;
		if (!fits(op, i))
			return false;
		more |= take_in(op, i, &budget);
	}
	let_go(op);
	return more;
}

/**
 * shuffle_reduction_arrived() - more of a message has come in order
 * @op: operation with a reduction
 * @rank: the message
 * @now: ns
 */
void shuffle_reduction_arrived(struct shuffle_op *op, u32 rank, u64 now)
{
	struct shuffle_reduction_state *r = op->reduction;
	bool slowest = op->in[rank].read == r->done;
	s32 budget = REDUCE_BYTES;

	lockdep_assert_held(&op->ssk->lock);
	if (!r->started || op->ended || !fits(op, rank))
		return;
	if (take_in(op, rank, &budget))
		shuffle_timer_now(op, now);
	if (slowest)
		let_go(op);
}

/**
 * shuffle_reduction_start() - all of the caller's data is there: begin
 * @op: operation with a reduction
 *
 * Context: process, without the lock.
 */
void shuffle_reduction_start(struct shuffle_op *op)
{
	spin_lock_bh(&op->ssk->lock);
	op->reduction->started = true;
	if (shuffle_reduction_run(op))
		shuffle_timer_now(op, shuffle_now());
	spin_unlock_bh(&op->ssk->lock);
}
