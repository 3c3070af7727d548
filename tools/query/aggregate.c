// SPDX-License-Identifier: GPL-2.0-or-later
/* Hash aggregation. */
#include <stdio.h>

#include "groups.h"
#include "op.h"

struct aggregate {
	struct op op;
	struct groups groups;
	size_t at;
	bool full;
};

static struct batch *aggregate_next(struct op *op)
{
	struct aggregate *a = (struct aggregate *)op;
	struct batch *b;

	if (!a->full) {
		while ((b = op_next(op->in)))
			groups_add(&a->groups, b);
		a->full = true;
	}
	op->out.rows = 0;
	while (a->at < a->groups.rows.rows && op->out.rows < BATCH_ROWS)
		batch_copy_row(&op->out, &a->groups.rows, a->at++);
	if (op->out.rows)
		return &op->out;
	groups_clear(&a->groups);
	a->at = 0;
	return NULL;
}

static void aggregate_free(struct op *op)
{
	groups_free(&((struct aggregate *)op)->groups);
}

/**
 * op_aggregate - GROUP BY
 * @in: input
 * @keys: columns that are the key
 * @sums: such as "total=sum(bytes) n=count()"; may be empty
 *
 * Return: the operator, whose columns are the keys and the sums.  Sums that do not fit 64 bits end
 * the program with a message, as in sqlite3.
 */
struct op *op_aggregate(struct op *in, const char *keys, const char *sums)
{
	char name[64];
	struct aggregate *a;

	snprintf(name, sizeof(name), "aggregate %s", keys);
	a = op_new(in->q, sizeof(*a), in, name);
	groups_init(&a->groups, &in->out, keys, sums, a->op.name);
	batch_like(&a->op.out, &a->groups.rows);
	a->op.next = aggregate_next;
	a->op.free = aggregate_free;
	return &a->op;
}
