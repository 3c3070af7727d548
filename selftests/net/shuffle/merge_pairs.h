/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a key and a value, merged by a sort: what a tree is compared with. */
#ifndef MERGE_PAIRS_H
#define MERGE_PAIRS_H

#include <endian.h>
#include <stdint.h>
#include <stdlib.h>

#include "shuffle_keys.h"

/* Both are big-endian, as on the wire. */
struct pair {
	uint64_t key;
	uint64_t value;
};

static inline int by_key(const void *a, const void *b)
{
	uint64_t x = be64toh(((const struct pair *)a)->key);
	uint64_t y = be64toh(((const struct pair *)b)->key);

	return x < y ? -1 : x > y;
}

static inline int by_pair(const void *a, const void *b)
{
	uint64_t x = be64toh(((const struct pair *)a)->value);
	uint64_t y = be64toh(((const struct pair *)b)->value);

	return by_key(a, b) ?: (x < y ? -1 : x > y);
}

static inline uint64_t both(unsigned int oper, uint64_t a, uint64_t b)
{
	switch (oper) {
	case SHUFFLE_KEYS_MIN:
		return (int64_t)a < (int64_t)b ? a : b;
	case SHUFFLE_KEYS_MAX:
		return (int64_t)a > (int64_t)b ? a : b;
	case SHUFFLE_KEYS_OR:
		return a | b;
	case SHUFFLE_KEYS_AND:
		return a & b;
	case SHUFFLE_KEYS_SUMCOUNT:
		return ((a >> 32) + (b >> 32)) << 32 | (uint32_t)(a + b);
	}
	return a + b;
}

/* Sort records and merge those of one key; returns how many are left. */
static inline size_t merge_all(struct pair *p, size_t n, unsigned int oper)
{
	size_t i, m = 0;

	qsort(p, n, sizeof(*p), by_pair);
	if (oper == SHUFFLE_KEYS_NONE)
		return n;
	for (i = 0; i < n; i++) {
		if (m && p[m - 1].key == p[i].key)
			p[m - 1].value = htobe64(both(oper, be64toh(p[m - 1].value),
						      be64toh(p[i].value)));
		else
			p[m++] = p[i];
	}
	return m;
}

#endif /* MERGE_PAIRS_H */
