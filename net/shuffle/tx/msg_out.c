// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outgoing messages: their chunks, and what receivers say about them.  All under
 * ssk->lock, any context.
 */
#include <linux/slab.h>

#include "../shuffle.h"
#include "../trace.h"

/**
 * shuffle_msg_out_free_chunk() - give a chunk's memory back
 * @chunk: chunk on no list, charged to no socket
 */
void shuffle_msg_out_free_chunk(struct shuffle_chunk *chunk)
{
	u32 i;

	for (i = 0; i < chunk->nr_frags; i++)
		put_page(chunk->frag[i].page);
	kfree(chunk);
}

/**
 * shuffle_msg_out_free_below() - free what the receiver has
 * @op: operation
 * @rank: message
 * @off: chunks that end at or below are freed
 */
void shuffle_msg_out_free_below(struct shuffle_op *op, u32 rank, u64 off)
{
	struct shuffle_chunk *chunk, *tmp;
	struct sock *sk = &op->ssk->sk;
	int freed = 0;

	list_for_each_entry_safe(chunk, tmp, &op->out[rank].chunks, node) {
		if (chunk->off + chunk->len > off)
			break;
		list_del(&chunk->node);
		freed += chunk->truesize;
		shuffle_msg_out_free_chunk(chunk);
	}
	if (!freed)
		return;
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued - freed);
	sk_mem_uncharge(sk, freed);
	shuffle_sock_write_space(sk);
}

/**
 * shuffle_msg_out_limit() - recompute what a message may send
 * @op: operation
 * @rank: message whose granted or filled has changed
 */
void shuffle_msg_out_limit(struct shuffle_op *op, u32 rank)
{
	const struct shuffle_msg_out *out = &op->out[rank];

	op->ptx.msg[rank].limit = min(out->granted, out->filled);
	shuffle_policy_tx_update(&op->ptx, rank);
}

/**
 * shuffle_msg_out_append() - more of a message has been copied from the user
 * @op: operation
 * @chunk: the next bytes
 */
void shuffle_msg_out_append(struct shuffle_op *op, struct shuffle_chunk *chunk)
{
	struct shuffle_msg_out *out = &op->out[chunk->rank];

	list_add_tail(&chunk->node, &out->chunks);
	out->filled += chunk->len;
	shuffle_msg_out_limit(op, chunk->rank);
}

/**
 * shuffle_msg_out_wire() - what the DATA records of a message have in common
 * @op: operation
 * @rank: message
 *
 * Context: any; all of it is fixed once the message is announced.
 * Return: a record without offset and payload.
 */
struct shuffle_wire shuffle_msg_out_wire(const struct shuffle_op *op, u32 rank)
{
	return (struct shuffle_wire) {
		.type = SHUFFLE_DATA,
		.op_id = op->id,
		.nonce = op->nonce,
		.src_rank = op->group->rank,
		.dst_rank = rank,
		.dst_port = ntohs(op->group->member[rank].addr.shs_port),
		.unsched = op->out[rank].unsched,
		.a = op->ptx.msg[rank].len,
	};
}

/**
 * shuffle_msg_out_announce() - say how long a message is, without data
 * @op: operation
 * @rank: message
 * @flags: SHUFFLE_FLAG_PROBE to be told whether it has arrived
 * @q: packets
 */
void shuffle_msg_out_announce(struct shuffle_op *op, u32 rank, u8 flags, struct sk_buff_head *q)
{
	struct shuffle_msg_out *out = &op->out[rank];
	struct shuffle_wire w = shuffle_msg_out_wire(op, rank);

	w.flags = flags;
	shuffle_output_record(shuffle_op_net(op), op->ssk, op->group, rank, &w, q);
	out->reannounced = out->announced_at;
	out->announced_at = shuffle_now();
	SHUFFLE_INC(shuffle_op_net(op), AnnounceOut);
}

/* Is the record about a message that we have announced, from somebody who has
 * seen it?
 */
static bool ours(struct shuffle_op *op, const struct shuffle_wire *w)
{
	if (op->ended || w->src_rank >= op->announced || w->nonce != op->nonce) {
		if (!op->ended)
			SHUFFLE_INC(shuffle_op_net(op), DropState);
		return false;
	}
	return true;
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

	if (!ours(op, w))
		return;
	out = &op->out[w->src_rank];
	m = &op->ptx.msg[w->src_rank];
	if (w->a > m->len || w->b > m->next) {
		SHUFFLE_INC(shuffle_op_net(op), DropState);
		return;
	}
	trace_shuffle_grant_in(op, w->src_rank, w->a);
	op->progress_at = now;
	if (out->acked)
		return;
	if (!out->reannounced && !out->granted && now > out->announced_at)
		shuffle_peer_rtt(op, w->src_rank, now - out->announced_at);
	if (w->b)
		shuffle_msg_out_free_below(op, w->src_rank, w->b);
	if (w->a <= out->granted)
		return;
	out->granted = w->a;
	shuffle_msg_out_limit(op, w->src_rank);
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

	if (!ours(op, w))
		return;
	out = &op->out[w->src_rank];
	m = &op->ptx.msg[w->src_rank];
	if (m->next != m->len) {
		SHUFFLE_INC(shuffle_op_net(op), DropState);
		return;
	}
	op->progress_at = now;
	if (out->acked)
		return;
	out->acked = true;
	op->acked_at = now;
	op->unacked--;
	trace_shuffle_msg_done(op, w->src_rank, true);
	shuffle_msg_out_free_below(op, w->src_rank, U64_MAX);
	shuffle_op_check_done(op);
}

static void retransmit(struct shuffle_op *op, u32 rank, u64 start, u64 end)
{
	struct shuffle_retrans *r;

	if (start >= end || op->nr_retrans >= SHUFFLE_MAX_RETRANS)
		return;
	list_for_each_entry(r, &op->retrans, node)
		if (r->rank == rank && r->start <= start && r->end >= end)
			return;
	r = kmalloc(sizeof(*r), GFP_ATOMIC | __GFP_NOWARN);
	if (!r)
		return;
	r->rank = rank;
	r->start = start;
	r->end = end;
	list_add_tail(&r->node, &op->retrans);
	op->nr_retrans++;
}

/**
 * shuffle_msg_out_resend() - a RESEND has come
 * @op: operation
 * @w: the record; nonce 0: the receiver has never heard of the message
 * @q: packets
 * @now: ns
 *
 * A range that was never sent is a lost GRANT: the range is granted.
 */
void shuffle_msg_out_resend(struct shuffle_op *op, const struct shuffle_wire *w,
			struct sk_buff_head *q, u64 now)
{
	u32 rank = w->src_rank;
	struct shuffle_tx_sched *m;
	struct shuffle_msg_out *out;
	u64 end;

	if (op->ended || rank >= op->announced)
		return;
	out = &op->out[rank];
	m = &op->ptx.msg[rank];
	shuffle_peer_resend(op, rank, false);
	trace_shuffle_resend_in(op, rank, w->a, w->b);
	if (!w->nonce) {
		/* not authenticated by the nonce: an announcement at most, and
		 * no more often than a timer would ask.  If nothing has been sent
		 * yet, nothing is lost: it will come with its data.
		 */
		if (!out->announced_at ||
		    now - out->announced_at < (u64)READ_ONCE(op->dev->cfg.resend_min) * NSEC_PER_USEC)
			return;
		shuffle_msg_out_announce(op, rank, 0, q);
		return;
	}
	if (w->nonce != op->nonce || w->a > m->len || out->acked) {
		SHUFFLE_INC(shuffle_op_net(op), DropState);
		return;
	}
	op->progress_at = now;
	end = min(w->a + w->b, m->len);
	if (!m->len) {
		shuffle_msg_out_announce(op, rank, 0, q);
		return;
	}
	retransmit(op, rank, w->a, min(end, m->next));
	out->granted = max(out->granted, end);
	shuffle_msg_out_limit(op, rank);
	shuffle_egress_kick(op);
}
