// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which keys of a join have so many rows that the host which their hash says would be overloaded.
 *
 * Each host names the 64 keys of which it has most rows; member 0 takes those that are heaviest in
 * the sum, and then all count their rows of these exactly.  A key with a rows on one side and b on
 * the other makes a + b rows to be received and a b pairs: that is its load.  Loads are known for
 * these keys, and for all others rows by host.  The larger side of a heavy key is spread over all
 * hosts, the smaller one goes to all of them.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "gather.h"
#include "groups.h"
#include "hot.h"
#include "top.h"

#define SKEW_LEAST	1200	/* thousandths: with less nothing is split */
#define SHARE_PART	4	/* a key is heavy from a fourth of a host's fair share on */

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
	uint64_t c;

	return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

static uint64_t load_of(const struct hot_key *k)
{
	return add(multiply(k->rows[0], k->rows[1]), add(k->rows[0], k->rows[1]));
}

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

/* Counts of rows by hash: columns hash, a, b and both. */
static void count_local(struct groups *g, const struct batch *side, const struct columns *keys)
{
	struct batch one = { 0 };
	unsigned int s;
	size_t row;

	batch_add_column(&one, "hash", COLUMN_INT);
	batch_add_column(&one, "a", COLUMN_INT);
	batch_add_column(&one, "b", COLUMN_INT);
	batch_add_column(&one, "both", COLUMN_INT);
	groups_init(g, &one, "hash", "a=sum(a) b=sum(b) both=sum(both)", "heavy keys");
	batch_reserve(&one, BATCH_ROWS);
	for (s = 0; s < 2; s++) {
		for (row = 0; row < side[s].rows; row++) {
			one.col[0].num[one.rows] = row_hash(&side[s], &keys[s], row);
			one.col[1].num[one.rows] = !s;
			one.col[2].num[one.rows] = s;
			one.col[3].num[one.rows] = 1;
			if (++one.rows == BATCH_ROWS) {
				groups_add(g, &one);
				one.rows = 0;
			}
		}
	}
	groups_add(g, &one);
	batch_free(&one);
}

static int compare_keys(const void *a, const void *b)
{
	const struct hot_key *p = a, *q = b;

	return (p->hash > q->hash) - (p->hash < q->hash);
}

static int heavier(const void *a, const void *b)
{
	uint64_t p = load_of(a), q = load_of(b);

	return p != q ? (p < q ? 1 : -1) : compare_keys(a, b);
}

/* Of member 0: the heaviest of all that have been named. */
static void choose_candidates(struct hot *hot, const struct batch *named)
{
	struct hot_key *all = xcalloc(named->rows, sizeof(*all));
	size_t i;

	for (i = 0; i < named->rows; i++) {
		all[i].hash = named->col[0].num[i];
		all[i].rows[0] = named->col[1].num[i];
		all[i].rows[1] = named->col[2].num[i];
	}
	qsort(all, named->rows, sizeof(*all), heavier);
	hot->keys = named->rows < HOT_KEYS_MAX ? named->rows : HOT_KEYS_MAX;
	memcpy(hot->key, all, hot->keys * sizeof(*all));
	qsort(hot->key, hot->keys, sizeof(*hot->key), compare_keys);
	free(all);
}

static void candidates(struct hot *hot, struct op *op, struct groups *local)
{
	struct net *net = op->q->net;
	uint64_t sent[1 + HOT_KEYS_MAX];
	struct batch named;
	struct groups g;
	struct merge m = { groups_combine, groups_result, groups_empty, &g, 0 };
	struct top top;
	unsigned int i;

	top_init(&top, &local->rows, HOT_KEYS_MAX, "-both", "heavy keys");
	top_add(&top, &local->rows);
	top_cut(&top);
	groups_init(&g, &top.rows, "hash", "a=sum(a) b=sum(b) both=sum(both)", "heavy keys");
	groups_add(&g, &top.rows);
	batch_like(&named, &g.rows);
	gather_merge(op, &m, &named);
	if (!net->rank)
		choose_candidates(hot, &named);
	sent[0] = htole64(hot->keys);
	for (i = 0; i < hot->keys; i++)
		sent[1 + i] = htole64(hot->key[i].hash);
	for (; i < HOT_KEYS_MAX; i++)
		sent[1 + i] = 0;
	net->broadcast(net, sent, sizeof(sent));
	hot->keys = le64toh(sent[0]) < HOT_KEYS_MAX ? le64toh(sent[0]) : HOT_KEYS_MAX;
	for (i = 0; i < hot->keys; i++)
		hot->key[i].hash = le64toh(sent[1 + i]);
	batch_free(&top.rows);
	batch_free(&named);
	groups_free(&g);
}

static void sum_up(void *arg, void *into, const void *in, size_t size, int in_first)
{
	const uint64_t *b = in;
	uint64_t *a = into;
	size_t i;

	(void)arg;
	(void)in_first;
	for (i = 0; i < size / sizeof(*a); i++)
		a[i] = htole64(le64toh(a[i]) + le64toh(b[i]));
}

/* Load of each host without splits: rows, and pairs of the candidates. */
static void loads(const struct hot *hot, uint64_t *load, const uint64_t *rows,
		  unsigned int hosts)
{
	unsigned int h, i;

	for (h = 0; h < hosts; h++)
		load[h] = le64toh(rows[h]);
	for (i = 0; i < hot->keys; i++) {
		const struct hot_key *k = &hot->key[i];
		uint64_t *l = &load[host_of(k->hash, hosts)];

		*l = add(*l, multiply(k->rows[0], k->rows[1]));
	}
}

static uint64_t skew_of(const uint64_t *load, unsigned int hosts, uint64_t *mean)
{
	uint64_t most = 0, sum = 0;
	unsigned int h;

	for (h = 0; h < hosts; h++) {
		sum = add(sum, load[h]);
		if (load[h] > most)
			most = load[h];
	}
	*mean = sum / hosts;
	return *mean ? (uint64_t)((double)most / *mean * 1000) : 1000;
}

/* Decide, and what the loads are then. */
static void split(struct hot *hot, uint64_t *load, unsigned int hosts, enum hot_keys mode)
{
	uint64_t mean, after, part, fewer;
	unsigned int i, h;

	hot->skew = skew_of(load, hosts, &mean);
	hot->skew_after = hot->skew;
	for (i = 0; i < hot->keys; i++) {
		struct hot_key *k = &hot->key[i];

		k->split = -1;
		fewer = k->rows[0] < k->rows[1] ? k->rows[0] : k->rows[1];
		if (mode == HOT_OFF || hosts == 1)
			continue;
		if (mode == HOT_AUTO &&
		    (hot->skew < SKEW_LEAST || load_of(k) < mean / SHARE_PART ||
		     multiply(fewer, hosts) > load_of(k)))
			continue;
		k->split = k->rows[1] > k->rows[0];
		hot->splits++;
		load[host_of(k->hash, hosts)] -= load_of(k);
		part = add((load_of(k) - fewer) / hosts, fewer);
		for (h = 0; h < hosts; h++)
			load[h] = add(load[h], part);
	}
	after = skew_of(load, hosts, &mean);
	if (hot->splits)
		hot->skew_after = after;
}

/**
 * hot_choose - find the heavy keys of a join, together with all hosts
 * @hot: set
 * @op: for messages, and whose query it is
 * @side: this host's rows of both sides
 * @keys: columns of each side
 */
void hot_choose(struct hot *hot, struct op *op, const struct batch *side,
		const struct columns *keys)
{
	struct net *net = op->q->net;
	size_t row, n = net->count + 2 * HOT_KEYS_MAX;
	uint64_t *rows = xcalloc(n, sizeof(*rows)), *exact = rows + net->count;
	uint64_t *load = xcalloc(net->count, sizeof(*load));
	struct groups local;
	unsigned int i, s;

	memset(hot, 0, sizeof(*hot));
	count_local(&local, side, keys);
	candidates(hot, op, &local);
	for (row = 0; row < local.rows.rows; row++) {
		uint64_t hash = local.rows.col[0].num[row];

		rows[host_of(hash, net->count)] += local.rows.col[3].num[row];
		for (i = 0; i < hot->keys; i++)
			for (s = 0; s < 2 && hot->key[i].hash == hash; s++)
				exact[2 * i + s] = htole64(local.rows.col[1 + s].num[row]);
	}
	for (i = 0; i < net->count; i++)
		rows[i] = htole64(rows[i]);
	net->allreduce(net, rows, n * sizeof(*rows), sum_up, NULL);
	for (i = 0; i < hot->keys; i++)
		for (s = 0; s < 2; s++)
			hot->key[i].rows[s] = le64toh(exact[2 * i + s]);
	loads(hot, load, rows, net->count);
	split(hot, load, net->count, op->q->hot);
	groups_free(&local);
	free(rows);
	free(load);
}
