// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is random in a round: members, operations, lengths, contents.  Functions of the round's
 * seed and nothing else, so that whoever reads a message knows its bytes without having asked.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "torture.h"

static const char *const kind_names[] = {
	"row", "pieces", "absent", "want", "same", "collective",
};

const char *spec_kind_name(int kind)
{
	return kind_names[kind];
}

static uint64_t random_len(const struct op_spec *op, unsigned int src, unsigned int dst)
{
	uint64_t h = sht_key(op->seed, 1, src, dst);

	switch (h % 8) {
	case 0:
		return 0;
	case 1:
		return (h >> 8) % 64;
	default:
		return (h >> 8) % (op->base + 1);
	}
}

uint64_t spec_len(const struct plan *p, const struct op_spec *op, unsigned int src,
		  unsigned int dst)
{
	uint64_t h = sht_mix(op->seed);

	switch (op->kind) {
	case KIND_ABSENT:
		return sht_key(op->seed, 2, src, dst) % 2 ? SHUFFLE_ABSENT :
							    random_len(op, src, dst);
	case KIND_SAME:
		return src == 0 && dst ? 1 + h % (op->base + 1) : SHUFFLE_ABSENT;
	case KIND_COLL:
		return 8 << h % 6;
	default:
		/* the one that is dead is to be missed by all */
		if (p->dead != NOBODY)
			return op->base;
		return random_len(op, src, dst);
	}
}

bool spec_reads(const struct plan *p, const struct op_spec *op, unsigned int src,
		unsigned int dst, uint64_t *len)
{
	*len = spec_len(p, op, src, dst);
	switch (op->kind) {
	case KIND_COLL:
		return src == dst;
	default:
		return *len != SHUFFLE_ABSENT;
	}
}

/* Item @i that a member puts into a sum. */
static uint64_t item(const struct op_spec *op, unsigned int rank, uint64_t i)
{
	return sht_key(op->seed, 3 + i, rank, 0);
}

/* Words of a message of items; @n: members whose values are in it, from @first on. */
static uint64_t word(const struct op_spec *op, uint64_t i, unsigned int first, unsigned int n)
{
	uint64_t sum = 0;

	while (n--)
		sum += item(op, first + n, i);
	return sum;
}

static void put_words(const struct op_spec *op, unsigned int first, unsigned int n, void *buf,
		      size_t len, uint64_t off)
{
	unsigned char *p = buf;
	uint64_t w = 0;

	for (; len; len--, off++, p++) {
		if (p == buf || off % 8 == 0)
			w = word(op, off / 8, first, n);
		*p = w >> 8 * (htons(1) == 1 ? 7 - off % 8 : off % 8);
	}
}

void spec_put(const struct plan *p, const struct op_spec *op, unsigned int src, unsigned int dst,
	      void *buf, size_t len, uint64_t off)
{
	(void)p;
	switch (op->kind) {
	case KIND_COLL:
		put_words(op, src, 1, buf, len, off);
		break;
	case KIND_SAME:
		sht_fill(buf, len, sht_key(op->seed, op->id, 0, NOBODY), off);
		break;
	default:
		sht_fill(buf, len, sht_key(op->seed, op->id, src, dst), off);
	}
}

void spec_get(const struct plan *p, const struct op_spec *op, unsigned int src, unsigned int dst,
	      void *buf, size_t len, uint64_t off)
{
	switch (op->kind) {
	case KIND_COLL:
		put_words(op, 0, p->n, buf, len, off);
		break;
	default:
		spec_put(p, op, src, dst, buf, len, off);
	}
}
