/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches of all hosts combined in a tree, for gather.c and hot.c; or by relays. */
#ifndef QUERY_GATHER_H
#define QUERY_GATHER_H

#include "groups.h"
#include "op.h"

/**
 * struct merge - how two batches become one
 * @combine: adds @b to what @arg has
 * @result: what it has then
 * @clear: nothing any more
 * @arg: of these
 * @most_rows: that the result can have; 0: any number
 */
struct merge {
	void (*combine)(void *arg, const struct batch *b);
	const struct batch *(*result)(void *arg);
	void (*clear)(void *arg);
	void *arg;
	size_t most_rows;
};

void gather_merge(struct op *op, const struct merge *m, struct batch *result);
bool gather_over_relays(struct op *op, struct groups *g);

#endif /* QUERY_GATHER_H */
