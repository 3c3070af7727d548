// SPDX-License-Identifier: GPL-2.0-only
/*
 * Incoming messages that no reader gets: they are copied for a table, and freed.  All under
 * ssk->lock, any context.
 */
#include "../op.h"
#include "../sock.h"
#include "msg_in.h"
#include "msg_take.h"

/* Copy bytes [at, at + len) of a message out of the piece that has them. */
static void copy_bytes(const struct sk_buff *skb, u64 at, u32 len, u8 *to)
{
	const struct shuffle_piece *p = SHUFFLE_PIECE((struct sk_buff *)skb);
	u32 rel, n;

	for (; len; at += n, to += n, len -= n) {
		rel = at - p->base;
		n = min(len, p->stride - rel % p->stride);
		/* what has been queued is there */
		skb_copy_bits(skb, p->data + rel % p->stride +
			      rel / p->stride * (p->stride + p->hdr), to, n);
	}
}

/**
 * shuffle_msg_in_take() - take a message that no reader gets
 * @op: operation
 * @rank: message that has arrived whole
 * @to: where it is copied, as much as it has bytes
 * @budget: so many packets at most; less those that have been copied
 *
 * Context: any, ssk->lock held.
 * Return: true if all of it has been taken; else it is to be called again, with the same @to.
 */
bool shuffle_msg_in_take(struct shuffle_op *op, u32 rank, u8 *to, s32 *budget)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct rb_node *node;

	lockdep_assert_held(&op->ssk->lock);
	while ((node = rb_first(&in->pieces))) {
		struct sk_buff *skb = rb_to_skb(node);

		if (--*budget < 0)
			return false;
		copy_bytes(skb, SHUFFLE_PIECE(skb)->start,
			   SHUFFLE_PIECE(skb)->end - SHUFFLE_PIECE(skb)->start,
			   to + SHUFFLE_PIECE(skb)->start);
		in->read = SHUFFLE_PIECE(skb)->end;
		shuffle_msg_in_free_piece(op->ssk, in, skb);
	}
	in->delivered = true;
	return true;
}
