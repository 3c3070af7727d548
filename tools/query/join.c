// SPDX-License-Identifier: GPL-2.0-or-later
/* Hash join of two inputs on one host. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "op.h"

#define NONE	SIZE_MAX

struct join {
	struct op op;
	struct op *probe;
	struct columns build_keys, probe_keys;
	struct columns build_rest, probe_rest;	/* columns that are no keys */
	struct batch rows;	/* of the build side */
	size_t *head, *chain;	/* by hash: the first row, and the next one of the same slot */
	size_t slots;
	bool built;

	/* where it goes on */
	struct batch *b;
	size_t row, match;
};

static void build(struct join *j)
{
	size_t row;

	op_take_all(j->op.in, &j->rows);
	for (j->slots = 64; j->slots < 2 * j->rows.rows;)
		j->slots *= 2;
	j->head = xrealloc(NULL, j->slots, sizeof(*j->head));
	j->chain = xrealloc(NULL, j->rows.rows, sizeof(*j->chain));
	for (row = 0; row < j->slots; row++)
		j->head[row] = NONE;
	for (row = 0; row < j->rows.rows; row++) {
		size_t slot = row_hash(&j->rows, &j->build_keys, row) & (j->slots - 1);

		j->chain[row] = j->head[slot];
		j->head[slot] = row;
	}
	j->built = true;
}

static void emit(struct join *j)
{
	struct batch *out = &j->op.out;
	unsigned int i, col = 0;

	batch_reserve(out, out->rows + 1);
	for (i = 0; i < j->build_keys.n; i++)
		column_copy(&out->col[col++], out->rows, &j->rows.col[j->build_keys.at[i]],
			    j->match);
	for (i = 0; i < j->build_rest.n; i++)
		column_copy(&out->col[col++], out->rows, &j->rows.col[j->build_rest.at[i]],
			    j->match);
	for (i = 0; i < j->probe_rest.n; i++)
		column_copy(&out->col[col++], out->rows, &j->b->col[j->probe_rest.at[i]],
			    j->row);
	out->rows++;
}

/* The first row that may match, of the current one of the probe side. */
static size_t first(const struct join *j)
{
	return j->head[row_hash(j->b, &j->probe_keys, j->row) & (j->slots - 1)];
}

static struct batch *join_next(struct op *op)
{
	struct join *j = (struct join *)op;

	if (!j->built)
		build(j);
	op->out.rows = 0;
	while (op->out.rows < BATCH_ROWS) {
		if (!j->b || j->row == j->b->rows) {
			j->b = op_next(j->probe);
			if (!j->b)
				break;
			j->row = 0;
			j->match = first(j);
		}
		for (; j->match != NONE && op->out.rows < BATCH_ROWS;
		     j->match = j->chain[j->match])
			if (rows_equal(&j->rows, &j->build_keys, j->match, j->b,
				       &j->probe_keys, j->row))
				emit(j);
		if (j->match == NONE && ++j->row < j->b->rows)
			j->match = first(j);
	}
	return op->out.rows ? &op->out : NULL;
}

static void join_free(struct op *op)
{
	struct join *j = (struct join *)op;

	batch_free(&j->rows);
	free(j->head);
	free(j->chain);
}

/* Columns that are not among these. */
static struct columns rest(const struct batch *b, const struct columns *keys)
{
	struct columns c = { 0 };
	unsigned int i, k;

	for (i = 0; i < b->cols; i++) {
		for (k = 0; k < keys->n && keys->at[k] != i; k++)
			;
		if (k == keys->n)
			c.at[c.n++] = i;
	}
	return c;
}

static void add_columns(struct batch *out, const struct batch *b, const struct columns *c)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		batch_add_column(out, b->col[c->at[i]].name, b->col[c->at[i]].type);
}

/**
 * op_join - JOIN USING (keys), of the rows that this host has
 * @build: input that is kept in memory: the smaller one
 * @probe: input that streams
 * @keys: columns that both have
 *
 * Return: the operator; its columns are the keys, then the others of @build and of @probe.
 */
struct op *op_join(struct op *build, struct op *probe, const char *keys)
{
	char name[64];
	struct join *j;
	unsigned int i;

	snprintf(name, sizeof(name), "join %s", keys);
	j = op_new(build->q, sizeof(*j), build, name);
	j->probe = probe;
	j->build_keys = columns_parse(&build->out, keys, name);
	j->probe_keys = columns_parse(&probe->out, keys, name);
	for (i = 0; i < j->build_keys.n; i++)
		if (build->out.col[j->build_keys.at[i]].type !=
		    probe->out.col[j->probe_keys.at[i]].type)
			errx(2, "%s: a column has numbers here and strings there", name);
	j->build_rest = rest(&build->out, &j->build_keys);
	j->probe_rest = rest(&probe->out, &j->probe_keys);
	add_columns(&j->op.out, &build->out, &j->build_keys);
	add_columns(&j->op.out, &build->out, &j->build_rest);
	add_columns(&j->op.out, &probe->out, &j->probe_rest);
	batch_like(&j->rows, &build->out);
	j->op.next = join_next;
	j->op.free = join_free;
	return &j->op;
}
