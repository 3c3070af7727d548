// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local sort: an LSD radix sort of the first 8 bytes of the keys, then qsort_r() of what is
 * still equal.
 *
 * LSD and not MSD: it is stable, as equal keys of a host have to stay in their order; its time does
 * not depend on the distribution of keys, which may be skewed; and a digit that all keys share,
 * as in short or textual keys, is found in the one pass that counts, and skipped.  Digits of 11
 * bits make 6 passes over entries of 16 bytes, and 2048 counters are in the L1 cache.
 */
#include <stdlib.h>

#include "records.h"

#define DIGIT_BITS	11
#define DIGITS		((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define VALUES		(1U << DIGIT_BITS)

struct order {
	const unsigned char *key;
	size_t klen;
};

static unsigned int digit(uint64_t prefix, unsigned int d)
{
	return prefix >> (d * DIGIT_BITS) & (VALUES - 1);
}

/* Of entries with the same prefix. */
static int compare_rest(const void *a, const void *b, void *arg)
{
	const struct entry *x = a, *y = b;
	const struct order *o = arg;
	int d = memcmp(o->key + x->index * o->klen + 8, o->key + y->index * o->klen + 8,
		       o->klen - 8);

	return d ? d : (x->index > y->index) - (x->index < y->index);
}

/* Entries with the same prefix are in order of their index here. */
static void sort_rest(struct entry *e, size_t n, const struct order *o)
{
	size_t from, to;

	if (o->klen <= 8)
		return;
	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n && e[to].prefix == e[from].prefix; to++)
			;
		if (to - from > 1)
			qsort_r(e + from, to - from, sizeof(*e), compare_rest, (void *)o);
	}
}

/**
 * local_sort() - sort keys
 * @key: @n keys of @klen bytes
 * @n: their number, at most SORT_MAX_RECORDS
 * @klen: at least 1
 *
 * Return: an entry for each key, in order of keys and, where they are equal, of index; to be
 * freed.  NULL without memory.
 */
struct entry *local_sort(const unsigned char *key, size_t n, size_t klen)
{
	struct order o = { .key = key, .klen = klen };
	struct entry *e, *to, *swap;
	uint32_t (*count)[VALUES];
	unsigned int d, v;
	size_t i;

	e = malloc((n + 1) * sizeof(*e));
	to = malloc((n + 1) * sizeof(*to));
	count = calloc(DIGITS, sizeof(*count));
	if (!e || !to || !count) {
		free(e);
		e = NULL;
		goto out;
	}
	for (i = 0; i < n; i++) {
		e[i] = (struct entry){ .prefix = key_prefix(key + i * klen, klen), .index = i };
		for (d = 0; d < DIGITS; d++)
			count[d][digit(e[i].prefix, d)]++;
	}
	for (d = 0; d < DIGITS && n; d++) {
		uint32_t sum = 0;

		if (count[d][digit(e[0].prefix, d)] == n)
			continue;
		for (v = 0; v < VALUES; v++) {
			uint32_t c = count[d][v];

			count[d][v] = sum;
			sum += c;
		}
		for (i = 0; i < n; i++)
			to[count[d][digit(e[i].prefix, d)]++] = e[i];
		swap = e;
		e = to;
		to = swap;
	}
	sort_rest(e, n, &o);
out:
	free(to);
	free(count);
	return e;
}
