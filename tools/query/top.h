/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first rows in an order that is total: of equal rows any may be taken. */
#ifndef QUERY_TOP_H
#define QUERY_TOP_H

#include "column.h"

/**
 * struct top - the first rows so far
 * @k: how many; 0: all
 * @keys: columns that decide, the first one first: those that are named, then all others
 * @down: bit i: @keys.at[i] is descending
 * @rows: rows among which they are
 */
struct top {
	size_t k;
	struct columns keys;
	uint32_t down;
	struct batch rows;
};

void top_init(struct top *t, const struct batch *in, size_t k, const char *order,
	      const char *who);
void top_add(struct top *t, const struct batch *b);
void top_cut(struct top *t);

#endif /* QUERY_TOP_H */
