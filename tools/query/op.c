// SPDX-License-Identifier: GPL-2.0-or-later
/* What all operators share, see op.h. */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "op.h"

#define PROGRESS_NS	2000000000ULL

/**
 * op_new - an operator, which the query keeps
 * @q: the query
 * @size: bytes of the structure that begins with struct op
 * @in: where its rows come from, or NULL
 * @name: for --explain
 *
 * Return: the structure, zeroed but for what is known.
 */
void *op_new(struct query *q, size_t size, struct op *in, const char *name)
{
	struct op *op = xcalloc(1, size);

	if (q->ops == OPS_MAX)
		errx(2, "the plan has more than %d operators", OPS_MAX);
	q->op[q->ops++] = op;
	op->q = q;
	op->in = in;
	snprintf(op->name, sizeof(op->name), "%s", name);
	return op;
}

/* Of member 0, every two seconds. */
static void progress(const struct op *op, uint64_t now)
{
	struct query *q = op->q;

	if (!q->said_ns)
		q->said_ns = now;
	if (q->net->rank || now - q->said_ns < PROGRESS_NS)
		return;
	q->said_ns = now;
	fprintf(stderr, "shuffle-query: %s: %llu rows\n", op->name,
		(unsigned long long)op->rows_out);
}

/**
 * op_next - the next rows of an operator, with its time and numbers counted
 * @op: the operator
 *
 * Return: its batch, with one row at least, or NULL.
 */
struct batch *op_next(struct op *op)
{
	struct op *caller = op->q->current;
	uint64_t begin = now_ns(), took;
	struct batch *b;

	op->q->current = op;
	op->inner_ns = 0;
	do {
		b = op->next(op);
	} while (b && !b->rows);
	op->q->current = caller;
	took = now_ns() - begin;
	op->self_ns += took - op->inner_ns;
	if (b)
		op->rows_out += b->rows;
	progress(op, begin + took);
	if (caller) {
		caller->inner_ns += took;
		if (b)
			caller->rows_in += b->rows;
	}
	return b;
}

/**
 * op_take_all - all rows of an operator
 * @op: the operator
 * @into: has its columns
 */
void op_take_all(struct op *op, struct batch *into)
{
	struct batch *b;
	size_t row;

	while ((b = op_next(op)))
		for (row = 0; row < b->rows; row++)
			batch_copy_row(into, b, row);
}

/**
 * columns_parse - columns of a batch by a list of their names
 * @b: the batch
 * @list: words
 * @who: the operator that needs them, for messages
 *
 * Return: the columns.
 */
struct columns columns_parse(const struct batch *b, const char *list, const char *who)
{
	struct columns c = { 0 };
	char *copy = strdup(list), *word, *save;
	int at;

	if (!copy)
		err(1, "%s", who);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		at = batch_find(b, word);
		if (at < 0)
			errx(2, "%s: its input has no column \"%s\"", who, word);
		if (c.n == COLUMNS_MAX)
			errx(2, "%s: more than %d columns", who, COLUMNS_MAX);
		c.at[c.n++] = at;
	}
	free(copy);
	return c;
}

/**
 * query_note - a line for --explain
 * @q: the query
 * @fmt: as of printf()
 */
void query_note(struct query *q, const char *fmt, ...)
{
	size_t left = sizeof(q->note) - q->notes;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(q->note + q->notes, left, fmt, ap);
	va_end(ap);
	if (n > 0)
		q->notes += (size_t)n < left ? (size_t)n : left - 1;
}

/**
 * query_free - give back all operators
 * @q: the query
 */
void query_free(struct query *q)
{
	unsigned int i;

	for (i = 0; i < q->ops; i++) {
		if (q->op[i]->free)
			q->op[i]->free(q->op[i]);
		batch_free(&q->op[i]->out);
		free(q->op[i]);
	}
	q->ops = 0;
}
