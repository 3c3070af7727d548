// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local sort: an LSD radix sort of the first 8 bytes of the keys, then qsort_r() of what is
 * still equal, by all processors.
 *
 * LSD and not MSD: it is stable, as equal keys of a host have to stay in their order; its time does
 * not depend on the distribution of keys, which may be skewed; and a digit that all keys share,
 * as in short or textual keys, is found in the one pass that counts, and skipped.  Digits of 11
 * bits make 6 passes over entries of 16 bytes, and 2048 counters are in the L1 cache.
 *
 * Each thread has a slice of the list.  In a pass it counts the digits of its slice; from the
 * counts of all threads follows where each puts its entries, no two in the same place.  Libraries
 * of parallel sorts for C++ (IPS4o, which the source takes, TBB) are not stable and would be the
 * only C++ here.
 */
#include <pthread.h>
#include <stdlib.h>

#include "records.h"

#define DIGIT_BITS	11
#define DIGITS		((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define VALUES		(1U << DIGIT_BITS)

/* What all threads share. */
struct radix {
	const unsigned char *key;
	size_t n, klen;
	unsigned int threads;
	struct entry *e, *to;
	uint32_t (*all)[DIGITS][VALUES];	/* of each thread: digits of its part of the keys */
	uint32_t (*at)[VALUES];			/* likewise: where the next one goes */
	pthread_mutex_t gate;			/* closed until the number of threads is known */
	pthread_barrier_t barrier;
};

struct worker {
	struct radix *r;
	unsigned int number;
	pthread_t thread;
};

static unsigned int digit(uint64_t prefix, unsigned int d)
{
	return prefix >> (d * DIGIT_BITS) & (VALUES - 1);
}

/* Of entries with the same prefix. */
static int compare_rest(const void *a, const void *b, void *arg)
{
	const struct entry *x = a, *y = b;
	const struct radix *r = arg;
	int d = memcmp(r->key + x->index * r->klen + 8, r->key + y->index * r->klen + 8,
		       r->klen - 8);

	return d ? d : (x->index > y->index) - (x->index < y->index);
}

/* The first entry from @at on whose prefix differs from that before it. */
static size_t next_prefix(const struct radix *r, size_t at)
{
	while (at && at < r->n && r->e[at].prefix == r->e[at - 1].prefix)
		at++;
	return at;
}

/* Entries with the same prefix are in order of their index here. */
static void sort_rest(struct radix *r, size_t from, size_t end)
{
	struct entry *e = r->e;
	size_t to;

	for (; from < end; from = to) {
		for (to = from + 1; to < end && e[to].prefix == e[from].prefix; to++)
			;
		if (to - from > 1)
			qsort_r(e + from, to - from, sizeof(*e), compare_rest, r);
	}
}

static void meet(struct radix *r)
{
	if (r->threads > 1)
		pthread_barrier_wait(&r->barrier);
}

/* Where the entries of each thread go: by value, then by thread. */
static void place_counts(struct radix *r)
{
	uint32_t sum = 0, count;
	unsigned int v, t;

	for (v = 0; v < VALUES; v++) {
		for (t = 0; t < r->threads; t++) {
			count = r->at[t][v];
			r->at[t][v] = sum;
			sum += count;
		}
	}
}

/* Have all keys the same digit? */
static int all_alike(const struct radix *r, unsigned int d)
{
	unsigned int v = digit(key_prefix(r->key, r->klen), d), t;
	size_t sum = 0;

	for (t = 0; t < r->threads; t++)
		sum += r->all[t][d][v];
	return sum == r->n;
}

static void work(struct radix *r, unsigned int number)
{
	size_t begin = r->n * number / r->threads, end = r->n * (number + 1) / r->threads, i;
	uint32_t (*all)[VALUES] = r->all[number], *at = r->at[number];
	struct entry *swap;
	unsigned int d;

	for (i = begin; i < end; i++) {
		uint64_t prefix = key_prefix(r->key + i * r->klen, r->klen);

		r->e[i] = (struct entry){ .prefix = prefix, .index = i };
		for (d = 0; d < DIGITS; d++)
			all[d][digit(prefix, d)]++;
	}
	meet(r);
	for (d = 0; d < DIGITS; d++) {
		if (all_alike(r, d))
			continue;
		if (r->threads == 1) {
			memcpy(at, all[d], sizeof(all[d]));
		} else {
			memset(at, 0, sizeof(all[d]));
			for (i = begin; i < end; i++)
				at[digit(r->e[i].prefix, d)]++;
		}
		meet(r);
		if (!number)
			place_counts(r);
		meet(r);
		for (i = begin; i < end; i++)
			r->to[at[digit(r->e[i].prefix, d)]++] = r->e[i];
		meet(r);
		if (!number) {
			swap = r->e;
			r->e = r->to;
			r->to = swap;
		}
		meet(r);
	}
	if (r->klen <= 8)
		return;
	begin = next_prefix(r, begin);
	end = next_prefix(r, end);
	/* from here on entries of other slices are not looked at */
	meet(r);
	sort_rest(r, begin, end);
}

static void *run(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->r->gate);
	pthread_mutex_unlock(&w->r->gate);
	work(w->r, w->number);
	return NULL;
}

/* With fewer threads if no more can be had. */
static void run_all(struct radix *r, struct worker *w)
{
	unsigned int want = r->threads, i;

	pthread_mutex_init(&r->gate, NULL);
	pthread_mutex_lock(&r->gate);
	for (i = 1; i < want; i++) {
		w[i] = (struct worker){ .r = r, .number = i };
		if (pthread_create(&w[i].thread, NULL, run, &w[i]))
			break;
	}
	r->threads = i;
	pthread_barrier_init(&r->barrier, NULL, r->threads);
	pthread_mutex_unlock(&r->gate);
	work(r, 0);
	for (i = 1; i < r->threads; i++)
		pthread_join(w[i].thread, NULL);
	pthread_barrier_destroy(&r->barrier);
	pthread_mutex_destroy(&r->gate);
}

/**
 * local_sort() - sort keys
 * @key: @n keys of @klen bytes
 * @n: their number, at most SORT_MAX_RECORDS
 * @klen: at least 1
 * @threads: that share the work, at least 1
 *
 * Return: an entry for each key, in order of keys and, where they are equal, of index; to be
 * freed.  NULL without memory.
 */
struct entry *local_sort(const unsigned char *key, size_t n, size_t klen, unsigned int threads)
{
	struct radix r = { .key = key, .n = n, .klen = klen, .threads = threads };
	struct worker *w;

	r.e = malloc((n + 1) * sizeof(*r.e));
	r.to = malloc((n + 1) * sizeof(*r.to));
	r.all = calloc(threads, sizeof(*r.all));
	r.at = calloc(threads, sizeof(*r.at));
	w = calloc(threads, sizeof(*w));
	if (!r.e || !r.to || !r.all || !r.at || !w) {
		free(r.e);
		r.e = NULL;
	} else if (n && threads > 1) {
		run_all(&r, w);
	} else if (n) {
		work(&r, 0);
	}
	free(r.to);
	free(r.all);
	free(r.at);
	free(w);
	return r.e;
}
