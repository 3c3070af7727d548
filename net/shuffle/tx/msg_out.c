// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outgoing messages: their chunks, and what receivers say about them.  All under
 * ssk->lock, any context.
 */
#include <linux/slab.h>

#include "../abort.h"
#include "../config.h"
#include "../group.h"
#include "../kernels.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../peer.h"
#include "../rx/msg_in.h"
#include "../rx/rto.h"
#include "../rx/slowest.h"
#include "../sched/policy.h"
#include "../sched/portable.h"
#include "../sched/rate.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "egress_wake.h"
#include "msg_out.h"
#include "output.h"
#include "path_mtu.h"
#include "same.h"
#include "want.h"

/* Answers of an operation that nothing has left yet, a second */
#define SHUFFLE_WAITS_RATE	1000

/**
 * shuffle_msg_out_free_chunk() - give a chunk's memory back
 * @chunk: chunk on no list, charged to no socket
 */
void shuffle_msg_out_free_chunk(struct shuffle_chunk *chunk)
{
	u32 i;

	if (chunk->kind == SHUFFLE_CHUNK_PACKETS)
		for (i = 0; i < chunk->nr_frags; i++)
			put_page(chunk->frag[i].page);
	kfree(chunk);
}

static void uncharge(struct sock *sk, int bytes)
{
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued - bytes);
	sk_mem_uncharge(sk, bytes);
}

/* Free chunks that end at or below @off, as many as *@budget small ones at most; those with
 * pages cost more.  Returns true if no more are to be freed.
 */
static bool free_chunks(struct shuffle_op *op, u32 rank, u64 off, u32 *budget)
{
	struct rb_root *chunks = &op->tx.msg[rank].chunks;
	struct shuffle_chunk *chunk;
	struct rb_node *node;
	bool all = true;
	int freed = 0;

	while ((node = rb_first(chunks))) {
		chunk = rb_entry(node, struct shuffle_chunk, by_off);
		if (chunk->off + chunk->len > off)
			break;
		if (!*budget) {
			all = false;
			break;
		}
		*budget -= min(*budget, chunk->kind == SHUFFLE_CHUNK_PACKETS ?
						SHUFFLE_BURST_COST : 1U);
		rb_erase(node, chunks);
		freed += chunk->truesize;
		shuffle_msg_out_free_chunk(chunk);
	}
	if (freed) {
		uncharge(&op->ssk->sk, freed);
		shuffle_want_room(op->ssk);
		shuffle_sock_write_space(&op->ssk->sk);
	}
	return all;
}

/* Free what the receiver has, below @off: some at once, a worker frees the rest. */
static void free_below(struct shuffle_op *op, u32 rank, u64 off)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];
	u32 budget = SHUFFLE_SLICE;

	u64 before = out->free_to;

	/* an older GRANT may come later */
	out->free_to = max(out->free_to, off);
	if (out->shared) {
		off = out->free_to > before ? shuffle_same_freed(op, rank, before) : 0;
		rank = shuffle_group_all(op->group);
		op->tx.msg[rank].free_to = max(op->tx.msg[rank].free_to, off);
	}
	if (free_chunks(op, rank, off, &budget))
		return;
	refcount_inc(&op->ref);
	if (!queue_work(system_dfl_wq, &op->tx.free_acked))
		refcount_dec(&op->ref);
}

/**
 * shuffle_msg_out_free_acked() - free what receivers have and was too much for one record
 * @work: op->tx.free_acked, which has a reference to its operation
 *
 * Context: process.
 */
void shuffle_msg_out_free_acked(struct work_struct *work)
{
	struct shuffle_op *op = container_of(work, struct shuffle_op, tx.free_acked);
	u32 budget, end, i = 0;

	while (i <= op->tx.sched.n) {
		budget = SHUFFLE_SLICE;
		end = min(i + SHUFFLE_SLICE, op->tx.sched.n + 1);
		spin_lock_bh(&op->ssk->lock);
		while (i < end && free_chunks(op, i, op->tx.msg[i].free_to, &budget))
			i++;
		spin_unlock_bh(&op->ssk->lock);
		cond_resched();
	}
	shuffle_op_put(op);
}

/**
 * shuffle_msg_out_purge() - free all that is held of a message
 * @op: operation that has ended
 * @rank: message
 * @budget: so many small chunks at most; less those that have been freed
 *
 * Return: true if nothing is left.
 */
bool shuffle_msg_out_purge(struct shuffle_op *op, u32 rank, u32 *budget)
{
	lockdep_assert_held(&op->ssk->lock);
	return free_chunks(op, rank, U64_MAX, budget);
}

/**
 * shuffle_msg_out_limit() - recompute what a message may send
 * @op: operation
 * @rank: message whose granted or filled has changed
 */
void shuffle_msg_out_limit(struct shuffle_op *op, u32 rank)
{
	const struct shuffle_msg_out *out = &op->tx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	/* what goes to all is scheduled once */
	if (out->shared && !out->alone)
		return;
	op->tx.sched.msg[rank].limit = min(out->granted,
					   op->tx.msg[shuffle_msg_out_holder(op, rank)].filled);
	shuffle_policy_tx_update(&op->tx.sched, rank);
}

/**
 * shuffle_msg_out_chunk() - the chunk that has a byte of a message
 * @op: operation
 * @rank: message
 * @off: the byte
 *
 * Return: the chunk, or NULL: it has not been copied yet, or it has been acknowledged.
 */
struct shuffle_chunk *shuffle_msg_out_chunk(struct shuffle_op *op, u32 rank, u64 off)
{
	struct rb_node *node = op->tx.msg[shuffle_msg_out_holder(op, rank)].chunks.rb_node;

	lockdep_assert_held(&op->ssk->lock);
	while (node) {
		struct shuffle_chunk *chunk = rb_entry(node, struct shuffle_chunk, by_off);

		if (off < chunk->off)
			node = node->rb_left;
		else if (off >= chunk->off + chunk->len)
			node = node->rb_right;
		else
			return chunk;
	}
	return NULL;
}

/**
 * shuffle_msg_out_last() - the chunk that was appended last
 * @out: message
 *
 * Return: the chunk, or NULL: there is none, or it has been acknowledged.
 */
struct shuffle_chunk *shuffle_msg_out_last(struct shuffle_msg_out *out)
{
	struct rb_node *node = rb_last(&out->chunks);

	return node ? rb_entry(node, struct shuffle_chunk, by_off) : NULL;
}

static void insert_last(struct shuffle_msg_out *out, struct shuffle_chunk *chunk)
{
	struct rb_node *parent = rb_last(&out->chunks);

	rb_link_node(&chunk->by_off, parent, parent ? &parent->rb_right : &out->chunks.rb_node);
	rb_insert_color(&chunk->by_off, &out->chunks);
}

/**
 * shuffle_msg_out_append() - more of a message has been copied from the user
 * @op: operation
 * @chunk: the next bytes, charged to the socket
 *
 * Few bytes go into the last chunk, if they fit: it may have been sent already, packets
 * hold copies of such bytes.
 */
void shuffle_msg_out_append(struct shuffle_op *op, struct shuffle_chunk *chunk)
{
	struct shuffle_msg_out *out = &op->tx.msg[chunk->rank];
	struct shuffle_chunk *last = shuffle_msg_out_last(out);
	u32 rank = chunk->rank;

	lockdep_assert_held(&op->ssk->lock);
	out->filled += chunk->len;
	if (last && last->kind == SHUFFLE_CHUNK_BYTES && chunk->kind == SHUFFLE_CHUNK_BYTES &&
	    chunk->len <= last->pkt - last->len) {
		memcpy(last->bytes + last->len, chunk->bytes, chunk->len);
		last->len += chunk->len;
		uncharge(&op->ssk->sk, chunk->truesize);
		shuffle_msg_out_free_chunk(chunk);
	} else {
		insert_last(out, chunk);
	}
	shuffle_msg_out_limit(op, rank);
	if (op->tx.same)
		shuffle_same_filled(op);
}

/**
 * shuffle_msg_out_wire() - what the DATA records of a message have in common
 * @op: operation
 * @rank: message, or shuffle_group_all()
 *
 * Context: any; all of it is fixed once the message is announced.
 * Return: a record without offset and payload.
 */
struct shuffle_wire shuffle_msg_out_wire(const struct shuffle_op *op, u32 rank)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA,
		.op_id = op->id,
		.flags = (op->group->keyed ? SHUFFLE_FLAG_TAG : 0) |
			 (op->tx.delays ? SHUFFLE_FLAG_DELAY : 0),
		.nonce = shuffle_op_nonce(op, rank),
		.unsched = op->tx.msg[rank].unsched,
		.data.len = op->tx.sched.msg[rank].len,
	};

	shuffle_group_address(op->group, rank, &w);
	return w;
}

/**
 * shuffle_msg_out_place() - make what a message's records have in common one of them
 * @op: operation
 * @w: of shuffle_msg_out_wire(), or of the record before
 * @off: offset of the payload
 * @payload: bytes of the payload
 *
 * The record that begins the message has the operation's digest, if there is one.
 *
 * Context: any.
 */
void shuffle_msg_out_place(const struct shuffle_op *op, struct shuffle_wire *w, u64 off,
			   u16 payload)
{
	w->data.off = off;
	w->payload = payload;
	w->digest = off ? 0 : op->digest;
	if (w->digest)
		w->flags |= SHUFFLE_FLAG_DIGEST;
	else
		w->flags &= ~SHUFFLE_FLAG_DIGEST;
}

/**
 * shuffle_msg_out_announce() - say how long a message is, without data
 * @op: operation
 * @rank: message
 * @flags: SHUFFLE_FLAG_PROBE: to be told whether it has arrived; SHUFFLE_FLAG_RETRANS: was
 *	asked for
 * @q: packets
 */
void shuffle_msg_out_announce(struct shuffle_op *op, u32 rank, u8 flags, struct sk_buff_head *q)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];
	struct shuffle_wire w = shuffle_msg_out_wire(op, rank);

	lockdep_assert_held(&op->ssk->lock);
	w.flags |= flags;
	/* somebody who sends nothing counts as announced, and may not have begun */
	if (flags & SHUFFLE_FLAG_PROBE &&
	    (op->rx.msg[rank].nonce || out->granted > out->unsched))
		w.flags |= SHUFFLE_FLAG_HEARD;
	else if (flags && shuffle_abort_asks(op, rank, shuffle_now()))
		w.flags |= SHUFFLE_FLAG_MET;
	shuffle_msg_out_place(op, &w, 0, 0);
	shuffle_output_record(op->ssk->sn, op->ssk, op->group, rank, &w, q);
	out->reannounced = out->announced_at;
	out->announced_at = shuffle_now();
	SHUFFLE_INC(op->ssk->sn, AnnounceOut);
}

/* Is the record about a message that we have announced, from a member that has
 * seen it?
 */
static bool ours(struct shuffle_op *op, const struct shuffle_wire *w)
{
	if (op->life.ended || w->src_rank >= op->tx.announced || op->tx.msg[w->src_rank].absent ||
	    w->nonce != shuffle_op_nonce(op, w->src_rank)) {
		if (!op->life.ended)
			SHUFFLE_INC(op->ssk->sn, DropState);
		return false;
	}
	return true;
}

/* A receiver has got all bytes below @off: what does that say of large packets?
 *
 * Only what it has for the first time says that they arrive: of the super-packet that it has part
 * of, it had the beginning before, too.  And a question about the same byte again says that the
 * answer was lost, whatever else has arrived: some devices let super-packets pass that have
 * segments which they drop one by one.  The last packet of a message may be too large as well,
 * though it is a short one.
 */
static void path_carries(struct shuffle_op *op, u32 rank, u64 off, bool asks, u64 now)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];
	u64 from = max(out->judged_to, out->free_to), end;
	const struct shuffle_chunk *chunk;

	if (rank == op->group->rank)
		return;
	chunk = shuffle_msg_out_chunk(op, rank, from);
	out->judged_to = max(from, off);
	if (!chunk || !chunk->pkt)
		return;
	/* the packet that this byte was in */
	from = chunk->off + rounddown((u32)(from - chunk->off), chunk->pkt);
	end = min(from + chunk->pkt, chunk->off + chunk->len);
	if (off >= end) {
		if (end - from == chunk->pkt && chunk->kind != SHUFFLE_CHUNK_BYTES)
			shuffle_path_arrived(op, rank);
	} else if (asks && end - from > SHUFFLE_MIN_PAYLOAD) {
		shuffle_path_lost(op, rank, end - from, now);
	}
}

/* A receiver allows the bytes below @granted.  That is progress of the operation, and so are bytes
 * that it has for the first time; to hear the same once more is not, or members that wait for one
 * that is gone would keep one another waiting.
 */
static void raise_granted(struct shuffle_op *op, u32 rank, u64 granted, u64 now)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];
	u64 before = out->granted;

	if (granted <= before)
		return;
	op->life.progress_at = now;
	out->granted = granted;
	shuffle_msg_out_limit(op, rank);
	if (op->tx.want)
		shuffle_want_granted(op, rank);
	else if (READ_ONCE(op->tx.copy_waits))
		shuffle_sock_write_space(&op->ssk->sk);
	if (out->shared)
		shuffle_same_granted(op, rank, before);
}

/**
 * shuffle_msg_out_grant() - a GRANT has come
 * @op: operation
 * @w: the record
 * @now: ns
 */
void shuffle_msg_out_grant(struct shuffle_op *op, const struct shuffle_wire *w, u64 now)
{
	struct shuffle_tx_sched *m;
	struct shuffle_msg_out *out;

	lockdep_assert_held(&op->ssk->lock);
	if (!ours(op, w))
		return;
	out = &op->tx.msg[w->src_rank];
	m = &op->tx.sched.msg[w->src_rank];
	if (w->grant.limit > m->len || w->grant.acked > shuffle_msg_out_sent(op, w->src_rank)) {
		SHUFFLE_INC(op->ssk->sn, DropState);
		return;
	}
	trace_shuffle_grant_in(op, w->src_rank, w->grant.limit);
	shuffle_slowest_heard(op, w, now);
	if (out->acked)
		return;
	if (w->grant.acked > out->free_to)
		op->life.progress_at = now;
	if (!out->reannounced && !out->granted && now > out->announced_at)
		shuffle_peer_rtt(op, w->src_rank, now - out->announced_at);
	if (w->grant.acked) {
		path_carries(op, w->src_rank, w->grant.acked, false, now);
		if (out->shared)
			shuffle_same_arrived(op, w->src_rank, w->grant.acked);
		free_below(op, w->src_rank, w->grant.acked);
	}
	if (w->grant.limit <= out->granted)
		return;
	raise_granted(op, w->src_rank, w->grant.limit, now);
	shuffle_egress_kick(op);
}

/**
 * shuffle_msg_out_ack() - an ACK has come
 * @op: operation
 * @w: the record
 * @now: ns
 */
void shuffle_msg_out_ack(struct shuffle_op *op, const struct shuffle_wire *w, u64 now)
{
	struct shuffle_tx_sched *m;
	struct shuffle_msg_out *out;

	lockdep_assert_held(&op->ssk->lock);
	if (!ours(op, w))
		return;
	out = &op->tx.msg[w->src_rank];
	m = &op->tx.sched.msg[w->src_rank];
	if (shuffle_msg_out_sent(op, w->src_rank) != m->len) {
		SHUFFLE_INC(op->ssk->sn, DropState);
		return;
	}
	shuffle_slowest_heard(op, w, now);
	if (out->acked)
		return;
	shuffle_rto_acked(op, w->src_rank, now);
	op->life.progress_at = now;
	out->acked = true;
	op->group->member[w->src_rank].met = true;
	op->tx.acked_at = now;
	op->tx.unacked--;
	trace_shuffle_msg_done(op, w->src_rank, true);
	path_carries(op, w->src_rank, m->len, false, now);
	if (out->shared)
		shuffle_same_arrived(op, w->src_rank, m->len);
	free_below(op, w->src_rank, U64_MAX);
	shuffle_op_check_done(op);
}

/**
 * shuffle_msg_out_free_retrans() - a range has been sent again, or need not be
 * @op: operation
 * @r: in op->tx.retrans
 */
void shuffle_msg_out_free_retrans(struct shuffle_op *op, struct shuffle_retrans *r)
{
	lockdep_assert_held(&op->ssk->lock);
	list_del(&r->node);
	op->tx.nr_retrans--;
	op->ssk->nr_retrans--;
	kfree(r);
}

static void queue_again(struct shuffle_op *op, u32 rank, u64 start, u64 end)
{
	struct shuffle_retrans *r;

	if (op->tx.nr_retrans >= SHUFFLE_MAX_RETRANS)
		return;
	/* data that was asked for again has half of the places at least */
	if (start == end && op->tx.nr_retrans >= SHUFFLE_MAX_RETRANS / 2)
		return;
	/* one for each operation: all of them go on */
	if (op->tx.nr_retrans && op->ssk->nr_retrans >= SHUFFLE_MAX_SOCK_RETRANS)
		return;
	list_for_each_entry(r, &op->tx.retrans, node) {
		bool answer = r->start == r->end;

		if (r->rank == rank && r->start <= start && r->end >= end &&
		    answer == !(end - start))
			return;
	}
	r = kmalloc(sizeof(*r), GFP_ATOMIC | __GFP_NOWARN);
	if (!r)
		return;
	r->rank = rank;
	r->start = start;
	r->end = end;
	r->begun = false;
	list_add_tail(&r->node, &op->tx.retrans);
	op->tx.nr_retrans++;
	op->ssk->nr_retrans++;
}

static void retransmit(struct shuffle_op *op, u32 rank, u64 start, u64 end)
{
	if (start < end)
		queue_again(op, rank, start, end);
}

/* Nothing of the message has left yet, but we are there: if its time is over before the message
 * comes, the receiver is to look elsewhere for the one to blame.  The question has no nonce, so
 * anybody may have made it: the answer is no longer, and answers are limited in their rate.
 */
static void say_waits(struct shuffle_op *op, u32 rank, struct sk_buff_head *q, u64 now)
{
	u64 full_at = shuffle_rate_next(op->tx.waits_full_at, now, SHUFFLE_WAITS_RATE);
	struct shuffle_wire w = {
		.type = SHUFFLE_RESEND,
		.flags = SHUFFLE_FLAG_WAITS,
		.op_id = op->id,
	};

	if (rank == op->group->rank || !full_at)
		return;
	op->tx.waits_full_at = full_at;
	shuffle_output_record(op->ssk->sn, op->ssk, op->group, rank, &w, q);
	SHUFFLE_INC(op->ssk->sn, ResendOut);
}

/**
 * shuffle_msg_out_resend() - a RESEND has come
 * @op: operation
 * @w: the record; nonce 0: the receiver has never heard of the message
 * @q: packets
 * @now: ns
 *
 * A range that was never sent is a lost GRANT: the range is granted.  Without bytes it is a
 * question: what of the message has left?
 */
void shuffle_msg_out_resend(struct shuffle_op *op, const struct shuffle_wire *w,
			    struct sk_buff_head *q, u64 now)
{
	u32 rank = w->src_rank;
	struct shuffle_tx_sched *m;
	struct shuffle_msg_out *out;
	u64 end, len = w->resend.len;
	struct shuffle_wire one;

	lockdep_assert_held(&op->ssk->lock);
	if (op->life.ended || w->flags & SHUFFLE_FLAG_WAITS)
		return;
	out = &op->tx.msg[rank];
	m = &op->tx.sched.msg[rank];
	if (rank >= op->tx.announced) {
		if (!w->nonce)
			say_waits(op, rank, q, now);
		return;
	}
	if (out->absent) {
		SHUFFLE_INC(op->ssk->sn, DropState);
		return;
	}
	if (len || !w->nonce)
		shuffle_peer_resend(op, rank, false);
	else
		SHUFFLE_INC(op->ssk->sn, QuestionIn);
	trace_shuffle_resend_in(op, rank, w->resend.off, w->resend.len);
	if (!w->nonce) {
		/* not authenticated by the nonce: an announcement at most, and
		 * no more often than a timer would ask.  If nothing has been sent
		 * yet, nothing is lost: it will come with its data.
		 */
		if (!out->announced_at)
			say_waits(op, rank, q, now);
		else if (now - out->announced_at >=
			 (u64)READ_ONCE(op->dev->cfg.resend_min_us) * NSEC_PER_USEC)
			shuffle_msg_out_announce(op, rank, SHUFFLE_FLAG_RETRANS, q);
		return;
	}
	if (w->nonce != shuffle_op_nonce(op, rank) || w->resend.off > m->len || out->acked) {
		SHUFFLE_INC(op->ssk->sn, DropState);
		return;
	}
	path_carries(op, rank, w->resend.off,
		     len && w->resend.off < shuffle_msg_out_next(op, rank), now);
	/* An answer would overtake data for all: when that is overdue, a packet instead. */
	if (!len && out->shared && !out->alone) {
		if (shuffle_same_under_way(op, now))
			return;
		one = *w;
		one.resend.len = 1;
		len = 1;
		w = &one;
	}
	if (out->shared)
		shuffle_same_asked(op, w, now);
	end = min(w->resend.off + len, m->len);
	if (!m->len) {
		shuffle_msg_out_announce(op, rank, SHUFFLE_FLAG_RETRANS, q);
		return;
	}
	/* an answer, behind what has left; also to who waits for what has yet to come to us */
	if (!len || (w->resend.off >= shuffle_msg_out_next(op, rank) && op->engine))
		queue_again(op, rank, 0, 0);
	else
		retransmit(op, rank, w->resend.off, min(end, shuffle_msg_out_next(op, rank)));
	raise_granted(op, rank, end, now);
	shuffle_egress_kick(op);
}
