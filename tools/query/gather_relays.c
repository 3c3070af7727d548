// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Partial sums of all hosts, added up by relays on their way to member 0.
 *
 * Relays merge records of a 64-bit key and a 64-bit value.  An integer is its own key, and so is a
 * string of up to 7 bytes: its length plus one, then its bytes.  Other keys become 56 bits of a
 * hash value below a byte 0; what they stand for goes to member 0 through the tree of the hosts,
 * over each edge once, where two of one hash value would be noticed.  Each sum is an operation.
 *
 * Relays wrap round, and sqlite3 does not: so they are used only if not even the sum of the largest
 * values of all hosts is larger than 64 bits.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"

#define SHORT_BYTES	7U	/* of a string that is its own key */
#define HASH_BITS	56U

/**
 * struct sum_check - what all hosts have
 * @bound: the sum of their largest values
 * @hashed: how many keys are hash values
 * @records: how many rows
 * @refused: how many hosts have a key that is too long
 */
struct sum_check {
	uint64_t bound, hashed, records, refused;
};

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void combine_checks(void *arg, void *into, const void *in, size_t size, int in_first)
{
	const struct sum_check *b = in;
	struct sum_check *a = into;

	(void)arg;
	(void)size;
	(void)in_first;
	a->bound = add_saturated(a->bound, b->bound);
	a->hashed += b->hashed;
	a->records += b->records;
	a->refused += b->refused;
}

/* What a row's key is in bytes. */
static void key_bytes(const struct groups *g, size_t row, struct bytes *to)
{
	unsigned int i;

	to->len = 0;
	for (i = 0; i < g->keys.n; i++) {
		const struct field *c = &g->rows.col[i];
		struct text t;
		uint32_t len;

		if (c->type == COLUMN_INT) {
			bytes_add(to, &c->num[row], sizeof(c->num[row]));
			continue;
		}
		t = column_text(c, row);
		len = t.len;
		bytes_add(to, &len, sizeof(len));
		bytes_add(to, t.at, t.len);
	}
}

/* Is this row's key its own, and which? */
static bool short_key(const struct groups *g, size_t row, uint64_t *key)
{
	const struct field *c = &g->rows.col[0];
	struct text t;
	size_t i;

	if (g->keys.n != 1)
		return false;
	if (c->type == COLUMN_INT) {
		*key = c->num[row];
		return true;
	}
	t = column_text(c, row);
	if (t.len > SHORT_BYTES)
		return false;
	*key = t.len + 1;
	for (i = 0; i < SHORT_BYTES; i++)
		*key = *key << 8 | (i < t.len ? (unsigned char)t.at[i] : 0);
	return true;
}

/* The rows' keys; those that are hash values are in @names. */
static struct shuffle_key_value *find_keys(const struct groups *g, struct shuffle_key_names *names,
					   struct sum_check *check)
{
	struct shuffle_key_value *key = xcalloc(g->rows.rows + 1, sizeof(*key));
	struct shuffle_keys_fault fault = { 0 };
	struct shuffle_key_name *name;
	struct bytes bytes = { 0 };
	size_t row;

	for (row = 0; row < g->rows.rows; row++) {
		key[row].value = row;
		if (short_key(g, row, &key[row].key))
			continue;
		key_bytes(g, row, &bytes);
		if (bytes.len > SHUFFLE_KEY_NAME_BYTES) {
			check->refused = 1;
			break;
		}
		name = shuffle_key_of(names, bytes.at, bytes.len, &fault);
		if (!name)
			err(1, "keys of relays: %s", fault.text);
		key[row].key = name->key;
		check->hashed++;
	}
	free(bytes.at);
	return key;
}

static void bound_values(const struct groups *g, struct sum_check *check)
{
	uint64_t most = 0, size;
	unsigned int i;
	size_t row;

	for (i = 0; i < g->folds; i++)
		for (row = 0; row < g->rows.rows; row++) {
			int64_t v = g->rows.col[g->keys.n + i].num[row];

			size = v < 0 ? -(uint64_t)v : (uint64_t)v;
			most = size > most ? size : most;
		}
	check->bound = most;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct shuffle_key_value *)a)->key;
	uint64_t y = ((const struct shuffle_key_value *)b)->key;

	return x < y ? -1 : x > y;
}

/* The columns of a key that has come. */
static void put_key(const struct op *op, struct batch *b, unsigned int keys, uint64_t key,
		    const struct shuffle_key_names *names)
{
	const struct shuffle_key_name *name;
	char text[SHORT_BYTES];
	uint32_t len;
	const char *at;
	unsigned int i;

	if (keys == 1 && b->col[0].type == COLUMN_INT) {
		b->col[0].num[0] = key;
		return;
	}
	if (keys == 1 && key >> HASH_BITS) {
		len = (key >> HASH_BITS) - 1;
		if (len > SHORT_BYTES)
			errx(1, "%s: a relay sends a key of %u bytes", op->name, len);
		for (i = 0; i < SHORT_BYTES; i++)
			text[i] = key >> (HASH_BITS - 8 - 8 * i);
		column_put_text(&b->col[0], 0, text, len);
		return;
	}
	name = shuffle_key_find(names, key);
	if (!name)
		errx(1, "%s: a relay sends a key that no host has", op->name);
	/* of key_bytes(), of a host of the same kind as ours */
	for (i = 0, at = name->name; i < keys; i++) {
		if (b->col[i].type == COLUMN_INT) {
			memcpy(&b->col[i].num[0], at, sizeof(b->col[i].num[0]));
			at += sizeof(b->col[i].num[0]);
			continue;
		}
		memcpy(&len, at, sizeof(len));
		column_put_text(&b->col[i], 0, at + sizeof(len), len);
		at += sizeof(len) + len;
	}
}

/* One sum of all hosts' rows; member 0 adds theirs to its own.  Returns the records that it got. */
static size_t sum_column(struct op *op, struct groups *g, const struct shuffle_key_value *key,
			 size_t rows, unsigned int fold, const struct shuffle_key_names *names)
{
	struct shuffle_key_value *record = xcalloc(rows + 1, sizeof(*record));
	unsigned int keys = g->keys.n, i;
	struct net *net = op->q->net;
	struct sums sums;
	struct batch one;
	size_t row;

	for (row = 0; row < rows; row++) {
		record[row].key = key[row].key;
		if (g->folds)
			record[row].value = g->rows.col[keys + fold].num[key[row].value];
	}
	net->sum_by_key(net, record, rows, &sums);
	free(record);
	if (net->rank) {
		op->bytes_out += rows * sizeof(*record);
	} else {
		batch_like(&one, &g->rows);
		batch_reserve(&one, 1);
		for (row = 0; row < sums.results; row++) {
			put_key(op, &one, keys, sums.result[row].key, names);
			for (i = 0; i < g->folds; i++)
				one.col[keys + i].num[0] = i == fold ?
							   (int64_t)sums.result[row].value : 0;
			one.rows = 1;
			groups_add(g, &one);
		}
		batch_free(&one);
	}
	free(sums.result);
	return sums.come;
}

/**
 * gather_over_relays - add the groups of all hosts up at member 0
 * @op: for messages
 * @g: this host's groups; at member 0 all hosts'
 *
 * Return: false, everywhere: these sums are not for relays, and nothing has been done.
 */
bool gather_over_relays(struct op *op, struct groups *g)
{
	struct net *net = op->q->net;
	struct shuffle_key_names *names;
	struct sum_check check = { .records = g->rows.rows };
	struct shuffle_key_value *key;
	size_t rows = g->rows.rows, come = 0;
	unsigned int i;
	bool good;

	if (!net->sum_by_key)
		return false;
	for (i = 0; i < g->folds; i++)
		if (g->fold[i] != FOLD_SUM)
			return false;
	names = shuffle_key_names_new(HASH_BITS, 0);
	if (!names)
		err(1, "keys of relays");
	key = find_keys(g, names, &check);
	bound_values(g, &check);
	net->allreduce(net, &check, sizeof(check), combine_checks, NULL);
	good = check.bound <= INT64_MAX && !check.refused;
	if (good) {
		if (check.hashed)
			net->reduce_names(net, names);
		qsort(key, rows, sizeof(*key), by_key);
		for (i = 0; i < (g->folds ? g->folds : 1); i++)
			come += sum_column(op, g, key, rows, i, names);
		if (!net->rank)
			query_note(op->q, "%s: over relays, %zu records come of %llu that all have",
				   op->name, come, (unsigned long long)check.records *
				   (g->folds ? g->folds : 1));
	} else if (!net->rank) {
		query_note(op->q, "%s: not over relays: %s", op->name,
			   check.refused ? "a key is too long" : "a sum may not fit 64 bits");
	}
	shuffle_key_names_free(names);
	free(key);
	return good;
}
