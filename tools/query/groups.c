// SPDX-License-Identifier: GPL-2.0-or-later
/* The hash table of an aggregation, see groups.h. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "op.h"

static const char * const fold_names[] = {
	[FOLD_SUM] = "sum",
	[FOLD_COUNT] = "count",
	[FOLD_MIN] = "min",
	[FOLD_MAX] = "max",
};

/* "total=sum(bytes)" */
static void fold_parse(struct groups *g, const struct batch *in, char *word, const char *who)
{
	char *call, *column, *end;
	unsigned int f;
	int at;

	call = strchr(word, '=');
	column = call ? strchr(call, '(') : NULL;
	end = column ? strchr(column, ')') : NULL;
	if (!end || end[1])
		errx(2, "%s: \"%s\" is not NAME=FUNCTION(COLUMN)", who, word);
	*call++ = '\0';
	*column++ = '\0';
	*end = '\0';
	for (f = 0; f < sizeof(fold_names) / sizeof(*fold_names); f++)
		if (!strcmp(call, fold_names[f]))
			break;
	if (f == sizeof(fold_names) / sizeof(*fold_names))
		errx(2, "%s: no function \"%s\": there are sum, count, min and max", who, call);
	at = 0;
	if (f != FOLD_COUNT) {
		at = batch_find(in, column);
		if (at < 0)
			errx(2, "%s: its input has no column \"%s\"", who, column);
		if (in->col[at].type != COLUMN_INT)
			errx(2, "%s: %s(%s): the column has strings", who, call, column);
	} else if (*column) {
		errx(2, "%s: count(%s): count() counts rows", who, column);
	}
	g->fold[g->folds] = f;
	g->fold_in[g->folds++] = at;
	batch_add_column(&g->rows, word, COLUMN_INT);
}

/**
 * groups_init - an empty table
 * @g: set
 * @in: has the columns of what will be added
 * @keys: names of the columns that are the key
 * @sums: what is summed up for each of them, as of op_aggregate()
 * @who: for messages
 */
void groups_init(struct groups *g, const struct batch *in, const char *keys, const char *sums,
		 const char *who)
{
	char *copy = strdup(sums), *word, *save;
	unsigned int i;

	if (!copy)
		err(1, "%s", who);
	memset(g, 0, sizeof(*g));
	g->in_keys = columns_parse(in, keys, who);
	for (i = 0; i < g->in_keys.n; i++) {
		const struct field *c = &in->col[g->in_keys.at[i]];

		g->keys.at[g->keys.n++] = batch_add_column(&g->rows, c->name, c->type);
	}
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		fold_parse(g, in, word, who);
	free(copy);
	groups_clear(g);
}

/**
 * groups_clear - remove all groups
 * @g: the table
 */
void groups_clear(struct groups *g)
{
	g->rows.rows = 0;
	if (!g->slots || g->slots > 1024) {
		free(g->slot);
		g->slots = 1024;
		g->slot = xcalloc(g->slots, sizeof(*g->slot));
	} else {
		memset(g->slot, 0, g->slots * sizeof(*g->slot));
	}
}

/**
 * groups_free - give memory back
 * @g: the table
 */
void groups_free(struct groups *g)
{
	batch_free(&g->rows);
	free(g->hash);
	free(g->slot);
	g->hash = NULL;
	g->slot = NULL;
}

/* The slot of this row's keys: theirs, or an empty one. */
static size_t *find_slot(const struct groups *g, const struct batch *b,
			 const struct columns *keys, size_t row, uint64_t hash)
{
	size_t i = hash & (g->slots - 1);

	for (; g->slot[i]; i = (i + 1) & (g->slots - 1)) {
		size_t at = g->slot[i] - 1;

		if (g->hash[at] == hash && rows_equal(&g->rows, &g->keys, at, b, keys, row))
			break;
	}
	return &g->slot[i];
}

size_t groups_find(const struct groups *g, const struct batch *b, const struct columns *keys,
		   size_t row, uint64_t hash)
{
	return *find_slot(g, b, keys, row, hash) - 1;
}

static void grow(struct groups *g)
{
	size_t at, i;

	g->slots *= 2;
	free(g->slot);
	g->slot = xcalloc(g->slots, sizeof(*g->slot));
	for (at = 0; at < g->rows.rows; at++) {
		i = g->hash[at] & (g->slots - 1);
		while (g->slot[i])
			i = (i + 1) & (g->slots - 1);
		g->slot[i] = at + 1;
	}
}

static size_t new_group(struct groups *g, const struct batch *b, size_t row, uint64_t hash)
{
	size_t at = g->rows.rows;
	unsigned int i;

	batch_reserve(&g->rows, at + 1);
	if (at == g->hash_room) {
		g->hash_room = g->hash_room ? 2 * g->hash_room : 1024;
		g->hash = xrealloc(g->hash, g->hash_room, sizeof(*g->hash));
	}
	g->hash[at] = hash;
	for (i = 0; i < g->keys.n; i++)
		column_copy(&g->rows.col[i], at, &b->col[g->in_keys.at[i]], row);
	for (i = 0; i < g->folds; i++) {
		const struct field *in = &b->col[g->fold_in[i]];

		g->rows.col[g->keys.n + i].num[at] = g->fold[i] == FOLD_COUNT ? 1 : in->num[row];
	}
	g->rows.rows++;
	return at;
}

static void fold_row(struct groups *g, size_t at, const struct batch *b, size_t row)
{
	unsigned int i;

	for (i = 0; i < g->folds; i++) {
		struct field *c = &g->rows.col[g->keys.n + i];
		int64_t *to = &c->num[at];
		int64_t v = g->fold[i] == FOLD_COUNT ? 1 : b->col[g->fold_in[i]].num[row];

		switch (g->fold[i]) {
		case FOLD_SUM:
		case FOLD_COUNT:
			if (__builtin_add_overflow(*to, v, to))
				errx(1, "column \"%s\": a sum is larger than 64 bits", c->name);
			break;
		case FOLD_MIN:
			if (v < *to)
				*to = v;
			break;
		case FOLD_MAX:
			if (v > *to)
				*to = v;
			break;
		}
	}
}

/**
 * groups_add - add rows to their groups
 * @g: the table
 * @b: the rows
 */
void groups_add(struct groups *g, const struct batch *b)
{
	size_t row;

	for (row = 0; row < b->rows; row++) {
		uint64_t hash = row_hash(b, &g->in_keys, row);
		size_t *slot = find_slot(g, b, &g->in_keys, row, hash);

		if (*slot) {
			fold_row(g, *slot - 1, b, row);
			continue;
		}
		*slot = new_group(g, b, row, hash) + 1;
		if (2 * g->rows.rows > g->slots)
			grow(g);
	}
}
