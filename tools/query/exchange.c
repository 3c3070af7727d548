// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows go to the host that the hash of their keys says: one shuffle. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

/**
 * parcels_init - nothing to send yet
 * @p: set
 * @hosts: number of hosts
 * @as: has the columns of the rows
 */
void parcels_init(struct parcels *p, unsigned int hosts, const struct batch *as)
{
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->hosts = hosts;
	p->rows = xcalloc(hosts, sizeof(*p->rows));
	p->bytes = xcalloc(hosts, sizeof(*p->bytes));
	p->sent = xcalloc(hosts, sizeof(*p->sent));
	for (i = 0; i < hosts; i++)
		batch_like(&p->rows[i], as);
}

/**
 * parcels_put - a row for a host
 * @p: what is sent
 * @host: the host
 * @b: rows
 * @row: which of them
 */
void parcels_put(struct parcels *p, unsigned int host, const struct batch *b, size_t row)
{
	struct batch *to = &p->rows[host];

	batch_copy_row(to, b, row);
	p->sent[host]++;
	if (to->rows == BATCH_ROWS) {
		batch_encode(&p->bytes[host], to);
		to->rows = 0;
	}
}

/**
 * parcels_exchange - send and receive all
 * @p: what is sent
 * @op: whose bytes they are
 */
void parcels_exchange(struct parcels *p, struct op *op)
{
	struct net *net = op->q->net;
	const void **bufs = xcalloc(p->hosts, sizeof(*bufs));
	uint64_t *lens = xcalloc(p->hosts, sizeof(*lens));
	unsigned int i;

	for (i = 0; i < p->hosts; i++) {
		if (p->rows[i].rows)
			batch_encode(&p->bytes[i], &p->rows[i]);
		batch_free(&p->rows[i]);
		bufs[i] = p->bytes[i].at;
		lens[i] = p->bytes[i].len;
		if (i != net->rank)
			op->bytes_out += lens[i];
	}
	net->exchange(net, bufs, lens, &p->inbox);
	for (i = 0; i < p->hosts; i++) {
		free(p->bytes[i].at);
		memset(&p->bytes[i], 0, sizeof(p->bytes[i]));
		if (i != net->rank)
			op->bytes_in += p->inbox.lens[i];
	}
	free(bufs);
	free(lens);
}

/**
 * parcels_next - rows that have come
 * @p: what has been exchanged
 * @op: its @out takes the rows
 *
 * Return: that, or NULL: that was all.
 */
struct batch *parcels_next(struct parcels *p, struct op *op)
{
	struct inbox *in = &p->inbox;
	const char *wrong;
	size_t used;

	while (p->from < p->hosts && p->at == in->lens[p->from]) {
		p->from++;
		p->at = 0;
	}
	if (p->from == p->hosts)
		return NULL;
	wrong = batch_decode(&op->out, (char *)in->bufs[p->from] + p->at,
			     in->lens[p->from] - p->at, &used);
	if (wrong)
		errx(1, "%s: message of member %u, byte %zu: %s", op->name, p->from, p->at, wrong);
	p->at += used;
	return &op->out;
}

/**
 * parcels_free - give memory back
 * @p: what was exchanged
 */
void parcels_free(struct parcels *p)
{
	unsigned int i;

	for (i = 0; i < p->hosts; i++) {
		batch_free(&p->rows[i]);
		free(p->bytes[i].at);
	}
	free(p->rows);
	free(p->bytes);
	free(p->sent);
}

struct exchange {
	struct op op;
	struct columns keys;
	struct parcels parcels;
	bool sent;
};

static struct batch *exchange_next(struct op *op)
{
	struct exchange *x = (struct exchange *)op;
	struct net *net = op->q->net;
	struct batch *b;
	size_t row;

	if (!x->sent) {
		while ((b = op_next(op->in)))
			for (row = 0; row < b->rows; row++)
				parcels_put(&x->parcels,
					    host_of(row_hash(b, &x->keys, row), net->count),
					    b, row);
		parcels_exchange(&x->parcels, op);
		x->sent = true;
	}
	b = parcels_next(&x->parcels, op);
	if (!b)
		net->release(net, &x->parcels.inbox);
	return b;
}

static void exchange_free(struct op *op)
{
	parcels_free(&((struct exchange *)op)->parcels);
}

/**
 * op_exchange - hash partitioning over all hosts
 * @in: input
 * @keys: columns whose hash says the host
 *
 * Return: the operator, with the columns of @in.
 */
struct op *op_exchange(struct op *in, const char *keys)
{
	struct exchange *x;
	char name[64];

	snprintf(name, sizeof(name), "exchange by %s", keys);
	x = op_new(in->q, sizeof(*x), in, name);
	x->keys = columns_parse(&in->out, keys, name);
	batch_like(&x->op.out, &in->out);
	parcels_init(&x->parcels, in->q->net->count, &in->out);
	x->op.next = exchange_next;
	x->op.free = exchange_free;
	return &x->op;
}
