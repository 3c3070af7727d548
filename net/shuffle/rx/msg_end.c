// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages that have fewer bytes than was announced, because they are merged from others
 * (SHUFFLE_CMSG_MERGE): their sender says in the end how many there are.  All under ssk->lock,
 * any context.
 */
#include "../abort.h"
#include "../shuffle.h"

/* What a message is made of on its way has the length that was announced, or fails. */
static bool length_is_fixed(const struct shuffle_op *op, u32 rank)
{
	return op->engine || op->reduction || (op->forward && op->forward->from == rank);
}

/* The rest will not come. */
static void shorten(struct shuffle_op *op, u32 rank, u64 len)
{
	struct shuffle_msg_in *in = &op->in[rank];

	shuffle_policy_rx_shortened(&op->prx, rank, len);
	shuffle_grant_account(op);
	in->granted_sent = min(in->granted_sent, len);
	in->asked = min(in->asked, len);
}

/**
 * shuffle_msg_in_ended() - an END has come
 * @op: operation; the sender is a member of its group
 * @w: the record
 * @q: answers
 * @now: ns
 *
 * One that comes before all else says too little: its sender sends it again when it is asked for
 * its message.
 */
void shuffle_msg_in_ended(struct shuffle_op *op, const struct shuffle_wire *w,
			  struct sk_buff_head *q, u64 now)
{
	struct shuffle_rx_sched *m = &op->prx.msg[w->src_rank];
	struct shuffle_msg_in *in = &op->in[w->src_rank];
	struct shuffle_net *sn = shuffle_op_net(op);

	lockdep_assert_held(&op->ssk->lock);
	if (in->absent || !m->announced) {
		SHUFFLE_INC(sn, DropState);
		return;
	}
	if (w->nonce != in->nonce) {
		SHUFFLE_INC(sn, DropNonce);
		return;
	}
	if (in->complete) {
		shuffle_msg_in_send_ack(op, w->src_rank, q);
		return;
	}
	if (op->ended) {
		SHUFFLE_INC(sn, DropNoOp);
		return;
	}
	if (w->end.len > m->len || w->end.len < shuffle_ranges_end(&in->have) ||
	    (in->closed && (w->end.len != m->len || w->end.senders != in->senders))) {
		SHUFFLE_INC(sn, DropState);
		return;
	}
	if (in->closed)
		return;
	if (length_is_fixed(op, w->src_rank)) {
		shuffle_op_disagrees(op, w->src_rank);
		return;
	}
	in->closed = true;
	op->progress_at = now;
	in->senders = w->end.senders;
	shorten(op, w->src_rank, w->end.len);
	if (in->have.bytes == m->len)
		shuffle_msg_in_complete(op, w->src_rank, w->flags, q, now);
	else
		shuffle_timer_in(op, w->src_rank);
}
