// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both sides of a join go to the host that the hash of their keys says: two shuffles.  Of keys that
 * hot.c finds too heavy for that, one side is spread over all hosts and the other goes to all, so
 * that each pair still meets at exactly one host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "exchange.h"
#include "hot.h"

struct pair;

struct side {
	struct op op;
	struct pair *pair;
	unsigned int which;
};

struct pair {
	struct side *side[2];
	struct columns keys[2], distinct[2];
	struct parcels parcels[2];
	uint64_t turn;		/* of rows that are spread one by one */
	bool sent;
};

static void route(struct pair *p, unsigned int s, const struct batch *rows, const struct hot *hot,
		  const struct net *net)
{
	unsigned int hosts = net->count, h;
	size_t row;

	for (row = 0; row < rows->rows; row++) {
		uint64_t hash = row_hash(rows, &p->keys[s], row);
		const struct hot_key *k = hot_find(hot, hash);

		if (!k) {
			parcels_put(&p->parcels[s], host_of(hash, hosts), rows, row);
		} else if ((unsigned int)k->split != s) {
			for (h = 0; h < hosts; h++)
				parcels_put(&p->parcels[s], h, rows, row);
		} else if (p->distinct[s].n) {
			hash = row_hash(rows, &p->distinct[s], row);
			parcels_put(&p->parcels[s], host_of(hash, hosts), rows, row);
		} else {
			parcels_put(&p->parcels[s], (net->rank + p->turn++) % hosts, rows, row);
		}
	}
}

/* Time that one side spends for the other is the other's. */
static void take_side(struct side *s, struct op *caller, struct batch *rows)
{
	s->op.q->current = &s->op;
	if (&s->op != caller)
		s->op.inner_ns = 0;
	op_take_all(s->op.in, rows);
	if (&s->op != caller)
		caller->inner_ns += s->op.inner_ns;
	s->op.q->current = caller;
}

static void send_side(struct side *s, struct op *caller, struct batch *rows, const struct hot *hot)
{
	uint64_t begin = now_ns();

	route(s->pair, s->which, rows, hot, s->op.q->net);
	batch_free(rows);
	parcels_exchange(&s->pair->parcels[s->which], &s->op);
	if (&s->op != caller) {
		s->op.self_ns += now_ns() - begin;
		caller->inner_ns += now_ns() - begin;
	}
}

static void both(struct pair *p, struct op *caller)
{
	struct query *q = caller->q;
	struct batch rows[2];
	struct hot hot;
	unsigned int s;

	for (s = 0; s < 2; s++) {
		batch_like(&rows[s], &p->side[s]->op.out);
		take_side(p->side[s], caller, &rows[s]);
	}
	/* counting takes three collectives */
	if (q->hot == HOT_OFF)
		memset(&hot, 0, sizeof(hot));
	else
		hot_choose(&hot, caller, rows, p->keys);
	for (s = 0; s < 2; s++)
		send_side(p->side[s], caller, &rows[s], &hot);
	if (q->hot == HOT_OFF) {
		query_note(q, "%s: heavy keys are not looked for", caller->name);
		return;
	}
	query_note(q, "%s: skew by hash %llu.%03llu, %u keys split, then %llu.%03llu", caller->name,
		   (unsigned long long)hot.skew / 1000, (unsigned long long)hot.skew % 1000,
		   hot.splits, (unsigned long long)hot.skew_after / 1000,
		   (unsigned long long)hot.skew_after % 1000);
}

static struct batch *side_next(struct op *op)
{
	struct side *s = (struct side *)op;
	struct net *net = op->q->net;
	struct batch *b;

	if (!s->pair->sent) {
		both(s->pair, op);
		s->pair->sent = true;
	}
	b = parcels_next(&s->pair->parcels[s->which], op);
	if (!b)
		net->release(net, &s->pair->parcels[s->which].inbox);
	return b;
}

static void side_free(struct op *op)
{
	struct side *s = (struct side *)op;

	parcels_free(&s->pair->parcels[s->which]);
	if (s->which)
		free(s->pair);
}

static struct op *side_new(struct pair *p, unsigned int which, struct op *in, const char *distinct,
			   const char *keys)
{
	struct side *s;
	char name[64];

	snprintf(name, sizeof(name), "exchange by %s", keys);
	s = op_new(in->q, sizeof(*s), in, name);
	s->pair = p;
	s->which = which;
	p->side[which] = s;
	p->keys[which] = columns_parse(&in->out, keys, name);
	p->distinct[which] = columns_parse(&in->out, distinct ? distinct : "", name);
	batch_like(&s->op.out, &in->out);
	parcels_init(&p->parcels[which], in->q->net->count, &in->out);
	s->op.next = side_next;
	s->op.free = side_free;
	return &s->op;
}

/**
 * op_exchange_join - hash partitioning of both sides of a join
 * @a: one side; replaced
 * @a_distinct: columns of it whose equal combinations must meet at a host, or NULL
 * @b: the other side; replaced
 * @b_distinct: the same of it
 * @keys: columns of the join
 *
 * Rows of a heavy key are not at one host then: what is grouped by it after the join has to be
 * exchanged once more.
 */
void op_exchange_join(struct op **a, const char *a_distinct, struct op **b, const char *b_distinct,
		      const char *keys)
{
	struct pair *p = xcalloc(1, sizeof(*p));

	*a = side_new(p, 0, *a, a_distinct, keys);
	*b = side_new(p, 1, *b, b_distinct, keys);
}
