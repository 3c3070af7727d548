// SPDX-License-Identifier: GPL-2.0-only
/* Data of collectives: where blocks are. */
#include "../../../net/shuffle/test/harness.h"
#include "../plan/blocks.h"

/* Blocks from each one on, of vectors and of members: their pieces are the layout's bytes, each
 * once and in order.
 */
static const char *tiles(const struct shuffle_blocks *b)
{
	struct shuffle_block_piece piece[2];
	struct shuffle_plan_msg m = {};
	u64 all = b->by_member ? b->n * b->size : b->size, sum, at;
	u32 first, k, n;

	for (first = 0; first < b->n; first++) {
		at = U64_MAX;	/* not known */
		sum = 0;
		for (k = 0; k < b->n; k++) {
			m.block = (first + k) % b->n;
			m.blocks = 1;
			n = shuffle_blocks_pieces(b, &m, piece);
			if (n > 1)
				return "one block in two pieces";
			if (m.block == b->base)
				at = 0;
			if (n && at != U64_MAX && piece[0].at != at)
				return "blocks are not behind one another";
			at = n ? piece[0].at + piece[0].len : at;
			if (n && !b->by_member && piece[0].len % b->item)
				return "an item is cut";
			sum += shuffle_blocks_bytes(b, &m);
		}
		if (sum != all)
			return "the blocks are not all there is";
		m.block = first;
		m.blocks = b->n;
		n = shuffle_blocks_pieces(b, &m, piece);
		if (shuffle_blocks_bytes(b, &m) != all)
			return "all blocks are not all there is";
		if (n == 2 && (piece[1].at || piece[0].at != piece[1].len))
			return "the pieces of all blocks do not meet";
	}
	return NULL;
}

static void blocks__tile(struct kunit *test)
{
	struct shuffle_blocks b = {};

	for (b.n = 1; b.n < 9; b.n++) {
		for (b.base = 0; b.base < b.n; b.base++) {
			b.by_member = true;
			b.item = 1;
			for (b.size = 0; b.size < 4; b.size++)
				SHUFFLE_ASSERT_OK(test, tiles(&b));
		}
		b.base = 0;
		b.by_member = false;
		for (b.item = 1; b.item <= 8; b.item *= 2)
			for (b.size = 0; b.size < 20 * b.item; b.size += b.item)
				SHUFFLE_ASSERT_OK(test, tiles(&b));
	}
}

static struct kunit_case blocks_cases[] = {
	KUNIT_CASE(blocks__tile),
	{}
};

struct kunit_suite shuffle_blocks_suite = {
	.name = "shuffle_blocks",
	.test_cases = blocks_cases,
};
