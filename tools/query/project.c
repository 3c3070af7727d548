// SPDX-License-Identifier: GPL-2.0-or-later
/* SELECT columns, AS other names. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"

struct project {
	struct op op;
	struct columns from;
};

static struct batch *project_next(struct op *op)
{
	struct project *p = (struct project *)op;
	struct batch *b = op_next(op->in);
	unsigned int i;
	size_t row;

	if (!b)
		return NULL;
	batch_reserve(&op->out, b->rows);
	for (i = 0; i < p->from.n; i++)
		for (row = 0; row < b->rows; row++)
			column_copy(&op->out.col[i], row, &b->col[p->from.at[i]], row);
	op->out.rows = b->rows;
	return &op->out;
}

/**
 * op_project - some columns, in another order or under other names
 * @in: input
 * @columns: words NAME or NAME=COLUMN
 *
 * Return: the operator, with these columns.
 */
struct op *op_project(struct op *in, const char *columns)
{
	char *copy = strdup(columns), *word, *save, *from;
	char name[64];
	struct project *p;
	int at;

	if (!copy)
		err(1, "project");
	snprintf(name, sizeof(name), "project %s", columns);
	p = op_new(in->q, sizeof(*p), in, name);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		from = strchr(word, '=');
		if (from)
			*from++ = '\0';
		else
			from = word;
		at = batch_find(&in->out, from);
		if (at < 0)
			errx(2, "%s: its input has no column \"%s\"", name, from);
		p->from.at[p->from.n++] = at;
		batch_add_column(&p->op.out, word, in->out.col[at].type);
	}
	free(copy);
	p->op.next = project_next;
	return &p->op;
}
