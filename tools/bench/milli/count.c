// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the computation of a sort costs, for the model of milli.sh: the functions of shuffle-sort
 * with as many records as in the source's table 2.5, on a processor whose time is counted in
 * instructions (lane qemu-icount: 2 ns each).  Without arguments.
 *
 * Prints "COUNT KIND NS", in ns of that time: sort, of a record and per binary logarithm of their
 * number; place, of a record; pivot, of one that is merged.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "merge.h"
#include "partition.h"

#define HOSTS	120
#define RECORDS	(HOSTS * 58)	/* about 7000 */
#define KEY	10
#define VALUE	90
#define GROUP	10

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void *must(void *p)
{
	if (!p)
		exit(1);
	return p;
}

static unsigned char *random_keys(size_t n)
{
	unsigned char *key = must(malloc(n * KEY));
	uint64_t x = 88172645463325252ULL;
	size_t i;

	for (i = 0; i < n * KEY; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		key[i] = x;
	}
	return key;
}

/* Keys in order, as a host would send them. */
static unsigned char *sorted(const unsigned char *key, size_t n)
{
	struct entry *e = must(local_sort(key, n, KEY, 1));
	unsigned char *to = must(malloc(n * KEY));
	size_t i;

	for (i = 0; i < n; i++)
		memcpy(to + i * KEY, key + e[i].index * KEY, KEY);
	free(e);
	return to;
}

static void count_sort(const unsigned char *key)
{
	unsigned char *to = must(malloc(RECORDS * KEY));
	double begin = now();
	struct entry *e;
	size_t i;

	e = must(local_sort(key, RECORDS, KEY, 1));
	for (i = 0; i < RECORDS; i++)
		memcpy(to + i * KEY, key + e[i].index * KEY, KEY);
	printf("COUNT sort %.2f\n", (now() - begin) / RECORDS / log2(RECORDS));
	free(e);
	free(to);
}

/* Messages of all hosts are merged, then keys and values are put in order. */
static void count_place(const unsigned char *key)
{
	const size_t each = RECORDS / HOSTS;
	unsigned char *sent[HOSTS], *value = must(calloc(RECORDS, VALUE));
	unsigned char *to_key = must(malloc(RECORDS * KEY));
	unsigned char *to_value = must(malloc(RECORDS * VALUE));
	struct merge_run all;
	struct merge m;
	double begin;
	size_t i;

	for (i = 0; i < HOSTS; i++)
		sent[i] = sorted(key + i * each * KEY, each);
	memset(to_key, 1, RECORDS * KEY);
	memset(to_value, 1, RECORDS * VALUE);
	begin = now();
	if (merge_init(&m, HOSTS, KEY))
		exit(1);
	for (i = 0; i < HOSTS; i++)
		if (merge_add(&m, i, sent[i], each))
			exit(1);
	if (merge_finish(&m, &all))
		exit(1);
	for (i = 0; i < all.n; i++) {
		const struct entry *e = &all.e[i];

		memcpy(to_key + i * KEY, sent[e->rank] + e->index * KEY, KEY);
		memcpy(to_value + i * VALUE, value + (e->rank * each + e->index) * VALUE, VALUE);
	}
	printf("COUNT place %.2f\n", (now() - begin) / RECORDS);
}

static void count_pivot(const unsigned char *key)
{
	struct pt_list lists[GROUP], all;
	double begin;
	size_t i;

	for (i = 0; i < GROUP; i++) {
		struct pt_keys keys = {
			.key = sorted(key + i * RECORDS / GROUP * KEY, RECORDS / GROUP),
			.n = RECORDS / GROUP, .klen = KEY, .rank = i,
		};

		if (pt_sample(&keys, HOSTS, &lists[i]))
			exit(1);
	}
	begin = now();
	if (pt_merge(lists, GROUP, &all))
		exit(1);
	printf("COUNT pivot %.2f\n", (now() - begin) / all.n);
}

int main(void)
{
	unsigned char *key = random_keys(RECORDS);

	/* once before, so that memory is there */
	free(sorted(key, RECORDS));
	count_sort(key);
	count_place(key);
	count_pivot(key);
	return 0;
}
