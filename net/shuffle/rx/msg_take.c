// SPDX-License-Identifier: GPL-2.0-only
/*
 * Incoming messages that no reader gets: they are copied or combined, and freed.  All under
 * ssk->lock, any context.
 */
#include "../shuffle.h"

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
 * shuffle_msg_in_copy() - copy bytes that have come in order and have not been read
 * @in: message
 * @off: the first one
 * @to: where they go
 * @len: their number
 *
 * Context: any, ssk->lock held.
 */
void shuffle_msg_in_copy(const struct shuffle_msg_in *in, u64 off, u8 *to, u32 len)
{
	struct rb_node *node = in->pieces.rb_node;

	lockdep_assert_held(&in->ready.op->ssk->lock);
	while (len && node) {
		struct sk_buff *skb = rb_to_skb(node);
		const struct shuffle_piece *p = SHUFFLE_PIECE(skb);
		u32 n;

		if (off < p->start) {
			node = node->rb_left;
		} else if (off >= p->end) {
			node = node->rb_right;
		} else {
			n = min_t(u64, len, p->end - off);
			copy_bytes(skb, off, n, to);
			off += n;
			to += n;
			len -= n;
			node = rb_next(node);
		}
	}
	if (WARN_ON_ONCE(len))
		memset(to, 0, len);
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
	struct shuffle_msg_in *in = &op->in[rank];
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

/**
 * shuffle_msg_in_drop() - free what no reader gets
 * @op: operation
 * @rank: message of which the bytes below in->read are not needed any more
 *
 * Context: any, ssk->lock held.
 * Return: pieces that have been freed.
 */
u32 shuffle_msg_in_drop(struct shuffle_op *op, u32 rank)
{
	struct shuffle_msg_in *in = &op->in[rank];
	struct rb_node *node;
	u32 n = 0;

	lockdep_assert_held(&op->ssk->lock);
	while ((node = rb_first(&in->pieces))) {
		struct sk_buff *skb = rb_to_skb(node);

		if (SHUFFLE_PIECE(skb)->end > in->read)
			break;
		shuffle_msg_in_free_piece(op->ssk, in, skb);
		n++;
	}
	return n;
}
