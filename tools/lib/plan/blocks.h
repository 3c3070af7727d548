/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Where the blocks of a collective are in a member's memory. */
#ifndef _SHUFFLE_BLOCKS_H
#define _SHUFFLE_BLOCKS_H

#include "plan.h"

/**
 * struct shuffle_blocks - layout of a member's data
 * @n: blocks in all, of the plan
 * @base: the block that comes first; those behind the last one wrap round to block 0
 * @by_member: blocks have @size bytes each; else they are parts of a vector of @size bytes
 * @size: see @by_member
 * @item: bytes that stay together in a vector, at least 1
 * @offsets: where blocks begin, and behind them the end, if they have lengths of their own; counted
 *	from @base on, @size is 1 then.  NULL: as above
 */
struct shuffle_blocks {
	u32	n;
	u32	base;
	bool	by_member;
	u64	size;
	u64	item;
	const u64 *offsets;
};

/**
 * struct shuffle_block_piece - bytes of a message that are together in memory, too
 * @at: where they begin in the member's data
 * @len: their number
 */
struct shuffle_block_piece {
	u64	at;
	u64	len;
};

u64 shuffle_blocks_bytes(const struct shuffle_blocks *b, const struct shuffle_plan_msg *m);
u32 shuffle_blocks_pieces(const struct shuffle_blocks *b, const struct shuffle_plan_msg *m,
			  struct shuffle_block_piece piece[2]);
u32 shuffle_blocks_members(const struct shuffle_blocks *b, const struct shuffle_plan *plan);

#endif /* _SHUFFLE_BLOCKS_H */
