// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gathering in a tree whose nodes combine what comes from below, by libshuffle's reduce.
 *
 * A reduce has vectors of one length at all hosts, a batch has not.  So all take room for one that
 * is twice as large as the largest; if a node finds that too little, all try again with twice the
 * room, at most that of all batches one behind the other.  Hosts that have the same few keys (Q1:
 * languages) need the first try only, and the first rows in an order (Q2, Q3) are no more than k,
 * whose lengths are known.
 */
#include <err.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"
#include "top.h"

#define TOO_LARGE	(~0ULL)

/* The vector: bytes in use, then a batch. */
struct vector {
	uint64_t used;
	char data[];
};

struct tree {
	struct op *op;
	const struct merge *merge;
	struct batch rows;	/* columns of what is decoded */
};

static void put(struct vector *v, size_t room, const struct batch *b)
{
	struct bytes bytes = { 0 };

	if (v->used == TOO_LARGE || batch_bytes(b) > room) {
		v->used = TOO_LARGE;
		return;
	}
	batch_encode(&bytes, b);
	memcpy(v->data, bytes.at, bytes.len);
	v->used = htole64(bytes.len);
	free(bytes.at);
}

static void get(struct tree *t, const struct vector *v, size_t room)
{
	uint64_t used = le64toh(v->used);
	const char *wrong;
	size_t n;

	wrong = used > room ? "it is too long" : batch_decode(&t->rows, v->data, used, &n);
	if (wrong)
		errx(1, "%s: what another host has sent: %s", t->op->name, wrong);
	t->merge->combine(t->merge->arg, &t->rows);
}

/* Of shuffle_reduce(): the order does not matter. */
static void combine(void *arg, void *into, const void *in, size_t size, int in_first)
{
	const struct vector *b = in;
	struct tree *t = arg;
	struct vector *a = into;
	size_t room = size - sizeof(*a);

	(void)in_first;
	if (a->used == TOO_LARGE || b->used == TOO_LARGE) {
		a->used = TOO_LARGE;
		return;
	}
	t->merge->clear(t->merge->arg);
	get(t, a, room);
	get(t, b, room);
	put(a, room, t->merge->result(t->merge->arg));
}

struct sizes {
	uint64_t largest, sum, row;
};

static void combine_sizes(void *arg, void *into, const void *in, size_t size, int in_first)
{
	const struct sizes *b = in;
	struct sizes *a = into;

	(void)arg;
	(void)size;
	(void)in_first;
	a->sum += b->sum;
	if (b->largest > a->largest)
		a->largest = b->largest;
	if (b->row > a->row)
		a->row = b->row;
}

static size_t largest_row(const struct batch *b)
{
	size_t row, most = 0, len;
	unsigned int i;

	for (row = 0; row < b->rows; row++) {
		len = 0;
		for (i = 0; i < b->cols; i++)
			len += b->col[i].type == COLUMN_INT ? 8 :
			       4 + column_text(&b->col[i], row).len;
		if (len > most)
			most = len;
	}
	return most;
}

/**
 * gather_merge - combine the batches of all hosts at member 0
 * @op: for messages
 * @m: how; what it has now is this host's
 * @result: set: what member 0 gets; has the columns
 */
void gather_merge(struct op *op, const struct merge *m, struct batch *result)
{
	struct tree t = { .op = op, .merge = m };
	const struct batch *mine = m->result(m->arg);
	struct net *net = op->q->net;
	struct batch own;
	struct sizes s;
	struct vector *v;
	uint64_t room, row, done;

	batch_like(&t.rows, mine);
	batch_like(&own, mine);
	for (row = 0; row < mine->rows; row++)
		batch_copy_row(&own, mine, row);
	s.sum = batch_bytes(&own);
	s.largest = s.sum;
	s.row = largest_row(&own);
	net->allreduce(net, &s, sizeof(s), combine_sizes, NULL);
	room = 2 * s.largest;
	if (m->most_rows)
		room = 64 + m->most_rows * s.row;
	for (done = 0; !done; room *= 2) {
		if (room > s.sum)
			room = s.sum;
		room = (room + 7) / 8 * 8;
		v = xcalloc(1, sizeof(*v) + room);
		put(v, room, &own);
		net->reduce(net, v, sizeof(*v) + room, combine, &t);
		op->bytes_out += net->rank ? sizeof(*v) + room : 0;
		done = v->used != TOO_LARGE;
		net->broadcast(net, &done, sizeof(done));
		if (done && !net->rank) {
			m->clear(m->arg);
			get(&t, v, room);
			mine = m->result(m->arg);
			for (row = 0; row < mine->rows; row++)
				batch_copy_row(result, mine, row);
		}
		free(v);
	}
	batch_free(&t.rows);
	batch_free(&own);
}

/* ---- aggregation ---- */

static void groups_combine(void *arg, const struct batch *b)
{
	groups_add(arg, b);
}

static const struct batch *groups_result(void *arg)
{
	return &((struct groups *)arg)->rows;
}

static void groups_empty(void *arg)
{
	groups_clear(arg);
}

struct gather {
	struct op op;
	struct groups groups;
	struct top top;
	struct batch rows;
	struct merge merge;
	bool done, sums;
	size_t at;
};

static void take_groups(struct gather *g)
{
	size_t row;

	for (row = 0; !g->op.q->net->rank && row < g->groups.rows.rows; row++)
		batch_copy_row(&g->rows, &g->groups.rows, row);
}

static struct batch *gather_next(struct op *op)
{
	struct gather *g = (struct gather *)op;
	struct batch *b;

	if (!g->done) {
		while ((b = op_next(op->in)))
			g->merge.combine(g->merge.arg, b);
		if (g->sums && gather_over_relays(op, &g->groups))
			take_groups(g);
		else
			gather_merge(op, &g->merge, &g->rows);
		g->done = true;
	}
	op->out.rows = 0;
	while (g->at < g->rows.rows && op->out.rows < BATCH_ROWS)
		batch_copy_row(&op->out, &g->rows, g->at++);
	return op->out.rows ? &op->out : NULL;
}

static void gather_free(struct op *op)
{
	struct gather *g = (struct gather *)op;

	batch_free(&g->rows);
	groups_free(&g->groups);
	batch_free(&g->top.rows);
}

static struct gather *gather_new(struct op *in, const char *how)
{
	struct gather *g;
	char name[64];

	snprintf(name, sizeof(name), "gather %s", how);
	g = op_new(in->q, sizeof(*g), in, name);
	batch_like(&g->op.out, &in->out);
	batch_like(&g->rows, &in->out);
	g->op.next = gather_next;
	g->op.free = gather_free;
	return g;
}

/**
 * op_gather_aggregate - partial aggregates of all hosts, combined on the way to member 0
 * @in: their rows: keys and partial sums
 * @keys: columns that are the key
 * @sums: how partial sums are combined, each under its own name: "n=sum(n)"
 *
 * Return: the operator, with the columns of @in.
 */
struct op *op_gather_aggregate(struct op *in, const char *keys, const char *sums)
{
	struct gather *g = gather_new(in, keys);

	groups_init(&g->groups, &in->out, keys, sums, g->op.name);
	if (!batch_same_columns(&g->groups.rows, &in->out))
		errx(2, "%s: what it makes does not have the columns of its input", g->op.name);
	g->merge = (struct merge){ groups_combine, groups_result, groups_empty, &g->groups, 0 };
	g->sums = true;
	return &g->op;
}

static void top_combine(void *arg, const struct batch *b)
{
	top_add(arg, b);
}

static const struct batch *top_result(void *arg)
{
	struct top *t = arg;

	top_cut(t);
	return &t->rows;
}

static void top_empty(void *arg)
{
	((struct top *)arg)->rows.rows = 0;
}

/**
 * op_gather_top - the first rows of all hosts, on the way to member 0
 * @in: their first rows
 * @k: how many
 * @order: as of op_top()
 *
 * Return: the operator, with the columns of @in.
 */
struct op *op_gather_top(struct op *in, unsigned int k, const char *order)
{
	struct gather *g = gather_new(in, order);

	top_init(&g->top, &in->out, k, order, g->op.name);
	g->merge = (struct merge){ top_combine, top_result, top_empty, &g->top, k };
	return &g->op;
}
