// SPDX-License-Identifier: GPL-2.0-or-later
/* WHERE column OPERATOR constant. */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "op.h"

static const char * const compare_names[] = { "<", "<=", "=", "<>", ">=", ">" };

struct filter {
	struct op op;
	unsigned int column, compare;
	struct batch constant;	/* a column and a row */
};

static bool passes(unsigned int compare, int d)
{
	switch (compare) {
	case 0: return d < 0;
	case 1: return d <= 0;
	case 2: return !d;
	case 3: return d;
	case 4: return d >= 0;
	default: return d > 0;
	}
}

static struct batch *filter_next(struct op *op)
{
	struct filter *f = (struct filter *)op;
	struct batch *b = op_next(op->in);
	size_t row;

	if (!b)
		return NULL;
	op->out.rows = 0;
	for (row = 0; row < b->rows; row++)
		if (passes(f->compare, column_compare(&b->col[f->column], row,
						      &f->constant.col[0], 0)))
			batch_copy_row(&op->out, b, row);
	return &op->out;
}

static void filter_free(struct op *op)
{
	batch_free(&((struct filter *)op)->constant);
}

/**
 * op_filter - only rows that satisfy a condition
 * @in: input
 * @condition: "COLUMN OPERATOR CONSTANT" with <, <=, =, <>, >= or >; strings without quotes: what
 *	follows the blank, which may be nothing
 *
 * Return: the operator, with the columns of @in.
 */
struct op *op_filter(struct op *in, const char *condition)
{
	char name[64], column[NAME_SIZE], word[3], *end;
	const char *constant;
	struct filter *f;
	int used = 0;
	int at;

	if (sscanf(condition, "%31s %2s%n", column, word, &used) != 2)
		errx(2, "filter \"%s\": it is not COLUMN OPERATOR CONSTANT", condition);
	constant = condition + used + (condition[used] == ' ');
	snprintf(name, sizeof(name), "filter %s", condition);
	f = op_new(in->q, sizeof(*f), in, name);
	at = batch_find(&in->out, column);
	if (at < 0)
		errx(2, "filter \"%s\": its input has no column \"%s\"", condition, column);
	f->column = at;
	while (f->compare < 6 && strcmp(word, compare_names[f->compare]))
		f->compare++;
	if (f->compare == 6)
		errx(2, "filter \"%s\": no operator \"%s\"", condition, word);

	batch_add_column(&f->constant, column, in->out.col[at].type);
	batch_reserve(&f->constant, 1);
	f->constant.rows = 1;
	if (f->constant.col[0].type == COLUMN_TEXT) {
		column_put_text(&f->constant.col[0], 0, constant, strlen(constant));
	} else {
		errno = 0;
		f->constant.col[0].num[0] = strtoll(constant, &end, 10);
		if (errno || end == constant || *end)
			errx(2, "filter \"%s\": \"%s\" is not a number", condition, constant);
	}
	batch_like(&f->op.out, &in->out);
	f->op.next = filter_next;
	f->op.free = filter_free;
	return &f->op;
}
