// SPDX-License-Identifier: GPL-2.0-or-later
/* ORDER BY ... LIMIT k. */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "top.h"

/**
 * top_init - no rows yet
 * @t: set
 * @in: has the columns of rows to come
 * @k: how many are kept; 0: all
 * @order: columns that decide, with "-" in front: the largest first; all others decide after them,
 *	in ascending order
 * @who: for messages
 */
void top_init(struct top *t, const struct batch *in, size_t k, const char *order,
	      const char *who)
{
	char *copy = strdup(order), *word, *save;
	unsigned int i, j;
	int at;

	if (!copy)
		err(1, "%s", who);
	memset(t, 0, sizeof(*t));
	t->k = k;
	batch_like(&t->rows, in);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		at = batch_find(in, word + (*word == '-'));
		if (at < 0 || t->keys.n == COLUMNS_MAX)
			errx(2, "%s: its input has no column \"%s\"", who, word);
		t->down |= (uint32_t)(*word == '-') << t->keys.n;
		t->keys.at[t->keys.n++] = at;
	}
	free(copy);
	for (i = 0; i < in->cols; i++) {
		for (j = 0; j < t->keys.n && t->keys.at[j] != i; j++)
			;
		if (j == t->keys.n && t->keys.n < COLUMNS_MAX)
			t->keys.at[t->keys.n++] = i;
	}
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	size_t ra = *(const size_t *)a, rb = *(const size_t *)b;
	const struct top *t = arg;
	unsigned int i;

	for (i = 0; i < t->keys.n; i++) {
		const struct field *c = &t->rows.col[t->keys.at[i]];
		int d = column_compare(c, ra, c, rb);

		if (d)
			return t->down >> i & 1 ? -d : d;
	}
	return 0;
}

/**
 * top_cut - put the rows in order and keep the first ones only
 * @t: the rows
 */
void top_cut(struct top *t)
{
	size_t n = t->rows.rows, *index, i;
	struct batch sorted;

	index = xrealloc(NULL, n, sizeof(*index));
	for (i = 0; i < n; i++)
		index[i] = i;
	qsort_r(index, n, sizeof(*index), compare_rows, t);
	if (t->k && n > t->k)
		n = t->k;
	batch_like(&sorted, &t->rows);
	for (i = 0; i < n; i++)
		batch_copy_row(&sorted, &t->rows, index[i]);
	free(index);
	batch_free(&t->rows);
	t->rows = sorted;
}

/**
 * top_add - more rows
 * @t: the rows so far
 * @b: the others
 */
void top_add(struct top *t, const struct batch *b)
{
	size_t row;

	for (row = 0; row < b->rows; row++) {
		batch_copy_row(&t->rows, b, row);
		if (t->k && t->rows.rows >= 4 * t->k + BATCH_ROWS)
			top_cut(t);
	}
}

struct op_top {
	struct op op;
	struct top top;
	size_t at;
	bool done;
};

static struct batch *top_next(struct op *op)
{
	struct op_top *o = (struct op_top *)op;
	struct batch *b;

	if (!o->done) {
		while ((b = op_next(op->in)))
			top_add(&o->top, b);
		top_cut(&o->top);
		o->done = true;
	}
	op->out.rows = 0;
	while (o->at < o->top.rows.rows && op->out.rows < BATCH_ROWS)
		batch_copy_row(&op->out, &o->top.rows, o->at++);
	return op->out.rows ? &op->out : NULL;
}

static void top_free(struct op *op)
{
	batch_free(&((struct op_top *)op)->top.rows);
}

/**
 * op_top - the first rows in an order
 * @in: input
 * @k: how many; 0: all
 * @order: as of top_init()
 *
 * Return: the operator, with the columns of @in.
 */
struct op *op_top(struct op *in, unsigned int k, const char *order)
{
	struct op_top *o;
	char name[64];

	if (k)
		snprintf(name, sizeof(name), "top %u by %s", k, order);
	else
		snprintf(name, sizeof(name), "sort by %s", order);
	o = op_new(in->q, sizeof(*o), in, name);
	top_init(&o->top, &in->out, k, order, name);
	batch_like(&o->op.out, &in->out);
	o->op.next = top_next;
	o->op.free = top_free;
	return &o->op;
}
