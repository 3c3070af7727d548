// SPDX-License-Identifier: GPL-2.0-or-later
/* Partitioning of sorted keys among hosts, see partition.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "partition.h"

/**
 * pt_list_init() - room for pivots
 * @l: the list
 * @n: pivots, whose bytes are 0
 * @klen: bytes of a key
 *
 * Return: 0, or -1 with ENOMEM.
 */
int pt_list_init(struct pt_list *l, size_t n, size_t klen)
{
	l->n = n;
	l->klen = klen;
	l->mem = calloc(n ? n : 1, pt_stride(klen));
	return l->mem ? 0 : -1;
}

/**
 * pt_list_free() - give the memory of a list back
 * @l: the list, empty afterwards
 */
void pt_list_free(struct pt_list *l)
{
	free(l->mem);
	l->mem = NULL;
	l->n = 0;
}

/**
 * pt_compare() - the order of pivots
 * @a: a pivot
 * @b: another one
 * @klen: bytes of their keys
 *
 * Return: below 0, 0 or above 0, by key, host, index.
 */
int pt_compare(const struct pt_pivot *a, const struct pt_pivot *b, size_t klen)
{
	int d = memcmp(a->key, b->key, klen);

	if (d)
		return d;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/**
 * pt_weight() - of all pivots of a list
 * @l: the list
 *
 * Return: the sum; PT_RECORD for each record.
 */
uint64_t pt_weight(const struct pt_list *l)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		sum += pt_at(l, i)->weight;
	return sum;
}

/* a * b: its upper and its lower 64 bits */
static void product(uint64_t a, uint64_t b, uint64_t to[2])
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t mid = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t other = (a & UINT32_MAX) * (b >> 32) + (mid & UINT32_MAX);

	to[0] = (a >> 32) * (b >> 32) + (mid >> 32) + (other >> 32);
	to[1] = other << 32 | (low & UINT32_MAX);
}

/* a * b >= c * d, of numbers whose products may have 128 bits */
static int product_reaches(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t ab[2], cd[2];

	product(a, b, ab);
	product(c, d, cd);
	return ab[0] != cd[0] ? ab[0] > cd[0] : ab[1] >= cd[1];
}

/* Where group @i of @groups begins, of @n.  Without overflow. */
static size_t group_begin(size_t i, size_t groups, size_t n)
{
	return n / groups * i + n % groups * i / groups;
}

static void set_pivot(struct pt_pivot *p, const struct pt_keys *keys, size_t i, uint64_t weight)
{
	p->weight = weight;
	p->index = keys->first + i;
	p->rank = keys->rank;
	memcpy(p->key, keys->key + i * keys->klen, keys->klen);
}

/**
 * pt_sample() - pivots of sorted keys, with weights
 * @keys: the keys
 * @groups: of equally many keys, into which the pivots divide them; at most as many as keys
 * @to: list that is set: the first key of each group and the last key of all, so @groups + 1
 *
 * Half of a group's weight is at the pivot before it, half at the one behind it: the first and
 * the last pivot have 0.5 of a group, the others 1 (section 2.3.4).
 *
 * Return: 0, or -1 with ENOMEM.
 */
int pt_sample(const struct pt_keys *keys, size_t groups, struct pt_list *to)
{
	size_t i, begin, end;

	if (groups > keys->n)
		groups = keys->n;
	if (pt_list_init(to, groups ? groups + 1 : 0, keys->klen))
		return -1;
	for (i = 0; i < groups; i++) {
		uint64_t weight;

		begin = group_begin(i, groups, keys->n);
		end = group_begin(i + 1, groups, keys->n);
		weight = (end - begin) * PT_RECORD;
		set_pivot(pt_at(to, i), keys, begin, pt_at(to, i)->weight + weight / 2);
		set_pivot(pt_at(to, i + 1), keys, end < keys->n ? end : end - 1,
			  weight - weight / 2);
	}
	return 0;
}

/**
 * pt_sample_naive() - pivots of regular sampling, all of the same weight
 * @keys: the keys
 * @groups: as for pt_sample()
 * @to: list that is set: the last key of each group, each with the weight of a record
 *
 * Only to be compared with pt_sample() (section 2.3.2, table 2.2).  Weights are equal although
 * groups are not: with as many pivots as hosts, splitter 1 is the last of all first pivots, and
 * the next pivot comes much later.
 *
 * Return: 0, or -1 with ENOMEM.
 */
int pt_sample_naive(const struct pt_keys *keys, size_t groups, struct pt_list *to)
{
	size_t i, end;

	if (groups > keys->n)
		groups = keys->n;
	if (pt_list_init(to, groups, keys->klen))
		return -1;
	for (i = 0; i < groups; i++) {
		end = group_begin(i + 1, groups, keys->n);
		set_pivot(pt_at(to, i), keys, end - 1, PT_RECORD);
	}
	return 0;
}

/**
 * pt_resample() - pivots of pivots: those of the next level
 * @from: pivots in order
 * @groups: of about equal weight, into which the new ones divide them
 * @to: list that is set: the first pivot of each group that is not empty, and the last one
 *
 * Return: 0, or -1 with ENOMEM.
 */
int pt_resample(const struct pt_list *from, size_t groups, struct pt_list *to)
{
	uint64_t total = pt_weight(from), sum = 0, group = 0;
	size_t stride = pt_stride(from->klen), i, n = 0;
	struct pt_pivot *last = NULL;

	if (pt_list_init(to, groups + 1, from->klen))
		return -1;
	for (i = 0; i < from->n; i++) {
		const struct pt_pivot *p = pt_at(from, i);

		/* sum / total >= n / groups: a group begins, unless this is the last pivot */
		if (i + 1 == from->n ||
		    (n < groups && product_reaches(sum, groups, total, n))) {
			struct pt_pivot *q = pt_at(to, n++);

			memcpy(q, p, stride);
			q->weight = group - group / 2;
			if (last)
				last->weight += group / 2;
			group = last ? 0 : group;
			last = q;
		}
		sum += p->weight;
		group += p->weight;
	}
	/* what the last pivot stands for itself */
	if (last)
		last->weight += group;
	to->n = n;
	return 0;
}

static size_t merge_two(const char *a, size_t na, const char *b, size_t nb, size_t klen, char *to)
{
	size_t stride = pt_stride(klen), n = 0;

	while (na && nb) {
		int from_a = pt_compare((const void *)a, (const void *)b, klen) < 0;

		memcpy(to + n++ * stride, from_a ? a : b, stride);
		if (from_a) {
			a += stride;
			na--;
		} else {
			b += stride;
			nb--;
		}
	}
	memcpy(to + n * stride, a, na * stride);
	memcpy(to + (n + na) * stride, b, nb * stride);
	return n + na + nb;
}

/**
 * pt_merge() - one list of many
 * @lists: lists with keys of one length
 * @n: their number, at least 1
 * @to: list that is set
 *
 * Two by two: each pivot is moved once for each doubling of @n.
 *
 * Return: 0, or -1 with ENOMEM.
 */
int pt_merge(const struct pt_list *lists, size_t n, struct pt_list *to)
{
	size_t klen = lists[0].klen, stride = pt_stride(klen), all = 0, i, runs, *begin;
	struct pt_list other;
	int rc = -1;

	begin = malloc((n + 1) * sizeof(*begin));
	for (i = 0; i < n; i++)
		all += lists[i].n;
	other.mem = NULL;
	to->mem = NULL;
	if (!begin || pt_list_init(to, all, klen) || pt_list_init(&other, all, klen))
		goto out;
	for (i = 0, all = 0; i < n; i++) {
		begin[i] = all;
		memcpy(to->mem + all * stride, lists[i].mem, lists[i].n * stride);
		all += lists[i].n;
	}
	begin[n] = all;
	for (runs = n; runs > 1; runs = (runs + 1) / 2) {
		char *mem = to->mem;

		for (i = 0; i < runs; i += 2) {
			size_t mid = begin[i + 1], end = i + 2 > runs ? mid : begin[i + 2];

			merge_two(to->mem + begin[i] * stride, mid - begin[i],
				  to->mem + mid * stride, end - mid, klen,
				  other.mem + begin[i] * stride);
			begin[i / 2] = begin[i];
		}
		begin[(runs + 1) / 2] = all;
		to->mem = other.mem;
		other.mem = mem;
	}
	rc = 0;
out:
	if (rc) {
		pt_list_free(to);
		errno = ENOMEM;
	}
	free(other.mem);
	free(begin);
	return rc;
}

/**
 * pt_select() - splitters among the pivots of a host
 * @l: some of all pivots, none of others between them
 * @before: weight of the pivots before them
 * @total: weight of all
 * @parts: into which all are divided
 * @to: list that is set: of @parts - 1 splitters those that are here; weight is the number, from 1
 *
 * Splitter i is the first pivot with which the weight reaches i * @total / @parts.  A heavy pivot
 * may be several.
 *
 * Return: 0, or -1 with ENOMEM.
 */
int pt_select(const struct pt_list *l, uint64_t before, uint64_t total, size_t parts,
	      struct pt_list *to)
{
	size_t stride = pt_stride(l->klen), i, next;

	if (pt_list_init(to, parts - 1, l->klen))
		return -1;
	to->n = 0;
	if (!total)
		return 0;
	/* the first that is not reached before */
	for (next = 1; next < parts && product_reaches(before, parts, total, next); next++)
		;
	for (i = 0; i < l->n && next < parts; i++) {
		before += pt_at(l, i)->weight;
		while (next < parts && product_reaches(before, parts, total, next)) {
			struct pt_pivot *s = pt_at(to, to->n++);

			memcpy(s, pt_at(l, i), stride);
			s->weight = next++;
		}
	}
	return 0;
}

/* The first of the keys from @lo on that does not precede the splitter. */
static size_t bound_of(const struct pt_keys *keys, const struct pt_pivot *s, size_t lo)
{
	size_t hi = keys->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = memcmp(keys->key + mid * keys->klen, s->key, keys->klen);

		if (!d && keys->rank != s->rank)
			d = keys->rank < s->rank ? -1 : 1;
		if (!d)
			d = keys->first + mid < s->index ? -1 : 1;
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * pt_bounds() - which keys go to which part
 * @keys: sorted keys of a host
 * @splitters: @parts - 1 of them; fewer: the last parts are empty
 * @parts: their number
 * @bound: of @parts + 1: part i has the keys from @bound[i] on, below @bound[i + 1]
 */
void pt_bounds(const struct pt_keys *keys, const struct pt_list *splitters, size_t parts,
	       size_t *bound)
{
	size_t i;

	bound[0] = 0;
	for (i = 1; i < parts; i++)
		bound[i] = i <= splitters->n ?
			bound_of(keys, pt_at(splitters, i - 1), bound[i - 1]) : keys->n;
	bound[parts] = keys->n;
}

/**
 * pt_bounds_list() - the same for pivots
 * @l: pivots in order
 * @splitters: as for pt_bounds()
 * @parts: likewise
 * @bound: likewise
 */
void pt_bounds_list(const struct pt_list *l, const struct pt_list *splitters, size_t parts,
		    size_t *bound)
{
	size_t i, at = 0;

	bound[0] = 0;
	for (i = 1; i < parts; i++) {
		const struct pt_pivot *s = i <= splitters->n ? pt_at(splitters, i - 1) : NULL;

		while (at < l->n && (!s || pt_compare(pt_at(l, at), s, l->klen) < 0))
			at++;
		bound[i] = at;
	}
	bound[parts] = l->n;
}
