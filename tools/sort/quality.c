// SPDX-License-Identifier: GPL-2.0-or-later
/* How evenly splitters divide random keys, see quality.h. */
#include <stdlib.h>
#include <string.h>

#include "../workload/rng.h"
#include "partition.h"
#include "quality.h"
#include "records.h"
#include "util.h"

#define KEY	sizeof(uint64_t)

/* Sorted keys of a host. */
static void draw(const struct quality *q, struct wl_rng *r, uint64_t *raw, struct pt_keys *to,
		 unsigned char *mem)
{
	struct entry *order;
	size_t i;

	for (i = 0; i < q->keys; i++) {
		/* 2^55 is 1 standard deviation: 2^63 is 256 of them */
		raw[i] = q->kind == QUALITY_UNIFORM ? wl_rng_next(r) :
			 (uint64_t)((int64_t)(wl_rng_normal(r) * (1LL << 55)) + (1LL << 62));
		raw[i] = be64toh(raw[i]);
	}
	order = local_sort((unsigned char *)raw, q->keys, KEY, 1);
	if (!order)
		die("out of memory");
	for (i = 0; i < q->keys; i++)
		memcpy(mem + i * KEY, &raw[order[i].index], KEY);
	free(order);
	*to = (struct pt_keys){ .key = mem, .n = q->keys, .klen = KEY, .rank = to->rank };
}

/* Excess in percent of the largest part. */
static double excess(const struct quality *q, const struct pt_keys *keys,
		     int (*sample)(const struct pt_keys *keys, size_t groups, struct pt_list *to))
{
	struct pt_list *lists = memory(q->hosts, sizeof(*lists)), all, splitters;
	size_t *bound = memory(q->hosts + 1, sizeof(*bound));
	size_t *size = memory(q->hosts, sizeof(*size)), h, i, most = 0;

	for (h = 0; h < q->hosts; h++)
		if (sample(&keys[h], q->pivots, &lists[h]))
			die("out of memory");
	if (pt_merge(lists, q->hosts, &all) ||
	    pt_select(&all, 0, pt_weight(&all), q->hosts, &splitters))
		die("out of memory");
	for (h = 0; h < q->hosts; h++) {
		pt_bounds(&keys[h], &splitters, q->hosts, bound);
		for (i = 0; i < q->hosts; i++)
			size[i] += bound[i + 1] - bound[i];
		pt_list_free(&lists[h]);
	}
	for (i = 0; i < q->hosts; i++)
		most = size[i] > most ? size[i] : most;
	pt_list_free(&all);
	pt_list_free(&splitters);
	free(lists);
	free(bound);
	free(size);
	return 100.0 * most / q->keys - 100;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * quality_run() - divide random keys by both kinds of splitters
 * @q: what to simulate; @naive and @weighted are set
 * @progress: called before each run; NULL: nothing
 */
void quality_run(struct quality *q, void (*progress)(size_t run, size_t runs))
{
	unsigned char *mem = memory(q->hosts * q->keys, KEY);
	struct pt_keys *keys = memory(q->hosts, sizeof(*keys));
	uint64_t *raw = memory(q->keys, KEY);
	struct wl_rng r;
	size_t run, h;

	q->naive = memory(q->runs, sizeof(*q->naive));
	q->weighted = memory(q->runs, sizeof(*q->weighted));
	for (run = 0; run < q->runs; run++) {
		if (progress)
			progress(run, q->runs);
		wl_rng_init(&r, wl_rng_mix(q->seed, q->kind, run));
		for (h = 0; h < q->hosts; h++) {
			keys[h].rank = h;
			draw(q, &r, raw, &keys[h], mem + h * q->keys * KEY);
		}
		q->naive[run] = excess(q, keys, pt_sample_naive);
		q->weighted[run] = excess(q, keys, pt_sample);
	}
	qsort(q->naive, q->runs, sizeof(*q->naive), compare_doubles);
	qsort(q->weighted, q->runs, sizeof(*q->weighted), compare_doubles);
	free(mem);
	free(keys);
	free(raw);
}

/**
 * quality_percentile() - of numbers in order, by the nearest rank
 * @sorted: the numbers
 * @n: how many, at least 1
 * @percent: 1 to 100
 *
 * Return: the smallest that is not below @percent of them.
 */
double quality_percentile(const double *sorted, size_t n, unsigned int percent)
{
	return sorted[(n * percent + 99) / 100 - 1];
}

/**
 * quality_free() - give the memory of results back
 * @q: what quality_run() was given
 */
void quality_free(struct quality *q)
{
	free(q->naive);
	free(q->weighted);
	q->naive = NULL;
	q->weighted = NULL;
}
