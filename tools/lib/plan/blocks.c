// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Where the blocks of a collective are in a member's memory. */
#include "blocks.h"

/* Where a block begins, counted from the first one; @block may be the number of blocks. */
static u64 offset(const struct shuffle_blocks *b, u32 block)
{
	if (b->offsets)
		return b->offsets[block];
	if (b->by_member)
		return block * b->size;
	return shuffle_mul_div(shuffle_div64(b->size, b->item), block, b->n) * b->item;
}

/* The first block of a message, counted from the first one that we have. */
static u32 first_of(const struct shuffle_blocks *b, const struct shuffle_plan_msg *m)
{
	return b->n ? (m->block + b->n - b->base) % b->n : 0;
}

/**
 * shuffle_blocks_pieces() - where a message's blocks are
 * @b: layout
 * @m: message
 * @piece: become the places, in the order of the message
 *
 * Context: any.
 * Return: how many pieces have bytes: 2 if the blocks wrap round.
 */
u32 shuffle_blocks_pieces(const struct shuffle_blocks *b, const struct shuffle_plan_msg *m,
			  struct shuffle_block_piece piece[2])
{
	u32 first = first_of(b, m), end = first + m->blocks, n = 0;

	if (!m->blocks || !b->size)
		return 0;
	piece[n].at = offset(b, first);
	piece[n].len = offset(b, end < b->n ? end : b->n) - piece[n].at;
	n += piece[n].len > 0;
	if (end > b->n) {
		piece[n].at = 0;
		piece[n].len = offset(b, end - b->n);
		n += piece[n].len > 0;
	}
	return n;
}

/**
 * shuffle_blocks_bytes() - how long a message is
 * @b: layout
 * @m: message
 *
 * Context: any.
 * Return: bytes.
 */
u64 shuffle_blocks_bytes(const struct shuffle_blocks *b, const struct shuffle_plan_msg *m)
{
	struct shuffle_block_piece piece[2];
	u32 n = shuffle_blocks_pieces(b, m, piece);

	return (n > 0 ? piece[0].len : 0) + (n > 1 ? piece[1].len : 0);
}

/**
 * shuffle_blocks_members() - how many blocks go through our hands
 * @b: layout of which @base is our own place
 * @plan: plan
 *
 * Return: their number from ours on, ours included.
 */
u32 shuffle_blocks_members(const struct shuffle_blocks *b, const struct shuffle_plan *plan)
{
	u32 i, end, most = 1;

	for (i = 0; i < plan->n; i++) {
		end = first_of(b, &plan->msg[i]) + plan->msg[i].blocks;
		if (end > most)
			most = end;
	}
	return most > plan->blocks ? plan->blocks : most;
}
