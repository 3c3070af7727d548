// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the sort without sockets: orders, weights, splitters, and the partitioning among up to
 * 120 hosts that are threads.  Prints TAP.
 */
#include <stdlib.h>

#include "../../common/tap.h"
#include "../../workload/rng.h"
#include "dist.h"
#include "fake_net.h"
#include "merge.h"

/* What is drawn: few values, so many are equal; or one; or all are different. */
enum draw { FEW, ONE, MANY, ORDERED, REVERSED, DRAWS };

static void draw_keys(struct wl_rng *r, enum draw how, size_t n, size_t klen, unsigned char *key)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		unsigned char *at = key + i * klen;

		memset(at, 'x', klen);
		switch (how) {
		case FEW:
			at[klen - 1] = wl_rng_below(r, 4);
			at[0] = wl_rng_below(r, 3);
			break;
		case MANY:
			for (k = 0; k < klen; k++)
				at[k] = wl_rng_next(r);
			break;
		case ORDERED:
			at[0] = i >> 8;
			at[klen - 1] = i;
			break;
		case REVERSED:
			at[0] = (n - i) >> 8;
			at[klen - 1] = n - i;
			break;
		default:
			break;
		}
	}
}

/* The local sort: in order, each key once, equal ones as they were. */
static void test_local(void)
{
	static const size_t lens[] = { 1, 2, 7, 8, 9, 10, 16, 33 };
	unsigned char key[600 * 33], seen[600];
	struct wl_rng r;
	size_t i, l, n;
	int how;

	wl_rng_init(&r, 1);
	for (l = 0; l < 8; l++) {
		for (how = 0; how < DRAWS; how++) {
			size_t klen = lens[l];
			struct entry *e;

			n = how == ONE ? wl_rng_below(&r, 3) : 1 + wl_rng_below(&r, 600);
			draw_keys(&r, how, n, klen, key);
			e = local_sort(key, n, klen, 1 + wl_rng_below(&r, 4));
			memset(seen, 0, sizeof(seen));
			for (i = 0; i < n; i++) {
				int d = i ? memcmp(key + e[i - 1].index * klen,
						   key + e[i].index * klen, klen) : -1;

				EXPECT(d < 0 || (!d && e[i - 1].index < e[i].index),
				       "%zu keys of %zu bytes, %d: entry %zu", n, klen, how, i);
				EXPECT(!seen[e[i].index]++, "key %u twice", e[i].index);
			}
			free(e);
		}
	}
	tap_done("local sort by up to 4 threads, stable, keys of 1 to 33 bytes");
}

/* Runs of any lengths in any order become one, in order of keys, hosts, indices. */
static void test_merge(void)
{
	struct merge_run all;
	struct wl_rng r;
	size_t i, turn, total;
	unsigned int h, order[40];

	wl_rng_init(&r, 2);
	for (turn = 0; turn < 40; turn++) {
		unsigned int hosts = 1 + wl_rng_below(&r, 40);
		size_t klen = 1 + wl_rng_below(&r, 12);
		unsigned char *key[40];
		struct merge m;

		merge_init(&m, hosts, klen);
		for (h = 0; h < hosts; h++)
			order[h] = h;
		wl_rng_permute(&r, order, hosts);
		for (h = 0, total = 0; h < hosts; h++) {
			size_t n = wl_rng_below(&r, turn % 2 ? 4 : 100);
			unsigned char *raw = memory(n, klen);
			struct entry *e;

			draw_keys(&r, turn % DRAWS, n, klen, raw);
			e = local_sort(raw, n, klen, 1);
			key[h] = memory(n, klen);
			for (i = 0; i < n; i++)
				memcpy(key[h] + i * klen, raw + e[i].index * klen, klen);
			merge_add(&m, order[h], key[h], n);
			total += n;
			free(e);
			free(raw);
		}
		merge_finish(&m, &all);
		EXPECT_EQ(all.n, total, "%zu entries of %zu", all.n, total);
		for (i = 1; i < all.n; i++) {
			struct entry *a = &all.e[i - 1], *b = &all.e[i];
			int d = memcmp(m.keys[a->rank] + a->index * klen,
				       m.keys[b->rank] + b->index * klen, klen);

			EXPECT(d < 0 ||
			       (!d &&
				(a->rank < b->rank || (a->rank == b->rank && a->index < b->index))),
			       "turn %zu: entry %zu is out of order", turn, i);
		}
		merge_free(&m);
		for (h = 0; h < hosts; h++)
			free(key[h]);
	}
	tap_done("merging of runs that come in any order");
}

/* Pivots stand for all records, at every level. */
static void test_weights(void)
{
	unsigned char key[3000];
	struct pt_list a, b, c;
	size_t n, groups, i;

	for (i = 0; i < 1000; i++) {
		key[3 * i] = i >> 8;
		key[3 * i + 1] = i;
		key[3 * i + 2] = 0;
	}
	for (n = 0; n <= 1000; n = n < 5 ? n + 1 : 2 * n - 3) {
		struct pt_keys keys = { .key = key, .n = n, .klen = 3 };

		for (groups = 1; groups < 2000; groups = 3 * groups - 1) {
			size_t want = n < groups ? n : groups;

			pt_sample(&keys, groups, &a);
			EXPECT_EQ(a.n, (n ? want + 1 : 0), "%zu pivots of %zu keys", a.n, n);
			EXPECT_EQ(pt_weight(&a), n * PT_RECORD, "%zu keys, %zu groups", n, groups);
			EXPECT(!n || (!pt_at(&a, 0)->index && pt_at(&a, a.n - 1)->index == n - 1),
			       "not the first and the last of %zu keys", n);
			pt_resample(&a, 7, &b);
			EXPECT_EQ(pt_weight(&b), n * PT_RECORD, "%zu pivots of %zu", b.n, a.n);
			EXPECT_LE(b.n, 8, "%zu pivots of %zu", b.n, a.n);
			pt_resample(&b, 3, &c);
			EXPECT_EQ(pt_weight(&c), n * PT_RECORD, "%zu pivots of %zu", c.n, b.n);
			EXPECT_LE(c.n, 4, "%zu pivots of %zu", c.n, b.n);
			for (i = 1; i < b.n; i++)
				EXPECT_LE(pt_compare(pt_at(&b, i - 1), pt_at(&b, i), 3), 0,
					  "pivots of pivots are out of order");
			pt_list_free(&a);
			pt_list_free(&b);
			pt_list_free(&c);
		}
	}
	tap_done("pivots of pivots keep the weight of all records");
}

/* By hand: two hosts with keys 0 2 4 6 and 1 3 5 7, groups of two keys. */
static void test_by_hand(void)
{
	static const unsigned char a[] = { 0, 2, 4, 6 }, b[] = { 1, 3, 5, 7 };
	struct pt_keys keys[2] = { { a, 4, 1, 0, 0 }, { b, 4, 1, 1, 0 } };
	struct pt_list lists[2], all, splitters;
	size_t bound[3];

	pt_sample(&keys[0], 2, &lists[0]);
	pt_sample(&keys[1], 2, &lists[1]);
	EXPECT_EQ(pt_at(&lists[0], 0)->weight, PT_RECORD, "weights are not 0.5, 1, 0.5 of a group");
	EXPECT_EQ(pt_at(&lists[0], 1)->weight, 2 * PT_RECORD,
		  "weights are not 0.5, 1, 0.5 of a group");
	EXPECT_EQ(pt_at(&lists[0], 2)->weight, PT_RECORD, "weights are not 0.5, 1, 0.5 of a group");
	pt_merge(lists, 2, &all);
	/* 0:1 1:1 4:2 5:2 6:1 7:1 of 8; with 4 the half is reached */
	pt_select(&all, 0, pt_weight(&all), 2, &splitters);
	EXPECT_EQ(splitters.n, 1, "the splitter is not 4");
	EXPECT_EQ(pt_at(&splitters, 0)->key[0], 4, "the splitter is not 4");
	pt_bounds(&keys[0], &splitters, 2, bound);
	EXPECT_EQ(bound[1], 2, "host 0 keeps %zu", bound[1]);
	pt_bounds(&keys[1], &splitters, 2, bound);
	EXPECT_EQ(bound[1], 2, "host 1 keeps %zu", bound[1]);
	pt_list_free(&lists[0]);
	pt_list_free(&lists[1]);
	pt_list_free(&all);
	pt_list_free(&splitters);
	tap_done("weights and a splitter computed by hand");
}

/* ---- hosts as threads ---- */

struct hosts {
	unsigned int n;
	size_t pivots;
	unsigned int reduction;
	struct pt_keys *keys;
	struct pt_list *splitters;
};

static void one_host(struct net *net, void *arg)
{
	struct hosts *h = arg;

	dist_splitters(net, &h->keys[net->rank], h->pivots, h->reduction,
		       &h->splitters[net->rank]);
}

/* All splitters at one place, from all pivots in one list. */
static void flat(const struct hosts *h, struct pt_list *splitters)
{
	struct pt_list *lists = memory(h->n, sizeof(*lists)), all;
	unsigned int i;

	for (i = 0; i < h->n; i++)
		pt_sample(&h->keys[i], h->pivots, &lists[i]);
	pt_merge(lists, h->n, &all);
	pt_select(&all, 0, pt_weight(&all), h->n, splitters);
	pt_list_free(&all);
	for (i = 0; i < h->n; i++)
		pt_list_free(&lists[i]);
	free(lists);
}

static int same_list(const struct pt_list *a, const struct pt_list *b)
{
	return a->n == b->n && !memcmp(a->mem, b->mem, a->n * pt_stride(a->klen));
}

/* Parts in order of hosts: no key precedes one of an earlier part.  Returns the largest one. */
static size_t check_parts(const struct hosts *h, const struct pt_list *splitters)
{
	size_t *bound = memory((h->n + 1) * (size_t)h->n, sizeof(*bound)), most = 0, klen;
	const unsigned char *last = NULL;
	unsigned int i, part;

	klen = h->keys[0].klen;
	for (i = 0; i < h->n; i++)
		pt_bounds(&h->keys[i], splitters, h->n, bound + i * (h->n + 1));
	for (part = 0; part < h->n; part++) {
		const unsigned char *high = last;
		size_t size = 0;

		for (i = 0; i < h->n; i++) {
			size_t from = bound[i * (h->n + 1) + part];
			size_t to = bound[i * (h->n + 1) + part + 1];
			const unsigned char *key = h->keys[i].key;

			EXPECT_LE(from, to, "host %u, part %u: %zu to %zu", i, part, from, to);
			EXPECT_LE(to, h->keys[i].n, "host %u, part %u: %zu to %zu", i, part, from,
				  to);
			if (from == to)
				continue;
			size += to - from;
			EXPECT(!last || memcmp(last, key + from * klen, klen) <= 0,
			       "host %u: a key of part %u is below part %u", i, part, part - 1);
			if (!high || memcmp(high, key + (to - 1) * klen, klen) < 0)
				high = key + (to - 1) * klen;
		}
		last = high;
		most = size > most ? size : most;
	}
	free(bound);
	return most;
}

static void try_hosts(struct hosts *h, struct wl_rng *r, int how, size_t each, size_t klen)
{
	struct pt_list want;
	size_t total = 0, most, i;
	unsigned int k;

	h->keys = memory(h->n, sizeof(*h->keys));
	h->splitters = memory(h->n, sizeof(*h->splitters));
	for (k = 0; k < h->n; k++) {
		/* some have nothing, some twice as much */
		size_t n = how == FEW ? wl_rng_below(r, 3) * each : each;
		unsigned char *raw = memory(n, klen), *key = memory(n, klen);
		struct entry *e;

		draw_keys(r, how, n, klen, raw);
		e = local_sort(raw, n, klen, 1);
		for (i = 0; i < n; i++)
			memcpy(key + i * klen, raw + e[i].index * klen, klen);
		h->keys[k] = (struct pt_keys){ .key = key, .n = n, .klen = klen, .rank = k };
		free(e);
		free(raw);
		total += n;
	}
	flat(h, &want);
	fake_run(h->n, one_host, h);
	for (k = 0; k < h->n; k++)
		EXPECT(same_list(&h->splitters[k], &want),
		       "%u hosts, reduction %u, %d: host %u has not the splitters of one list",
		       h->n, h->reduction, how, k);
	most = check_parts(h, &want);
	/* a group of each host at each end, beside the mean; see section 2.3.2 */
	EXPECT_LE(most * h->n, 2 * total + 2 * h->n * h->n,
		  "%u hosts, %d: the largest of %zu records is %zu", h->n, how, total, most);
	for (k = 0; k < h->n; k++) {
		free((void *)h->keys[k].key);
		pt_list_free(&h->splitters[k]);
	}
	pt_list_free(&want);
	free(h->keys);
	free(h->splitters);
}

static void test_hosts(void)
{
	static const struct {
		unsigned int hosts, reduction;
		size_t each;
	} cases[] = {
		{ 1, 10, 20 }, { 2, 2, 1 }, { 3, 2, 50 }, { 8, 2, 300 }, { 9, 3, 300 },
		{ 10, 10, 100 }, { 11, 10, 100 }, { 33, 2, 1 }, { 40, 3, 0 }, { 120, 10, 500 },
		{ 101, 10, 300 },
	};
	struct wl_rng r;
	size_t i;
	int how;

	wl_rng_init(&r, 3);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (how = 0; how < DRAWS; how++) {
			struct hosts h = {
				.n = cases[i].hosts, .reduction = cases[i].reduction,
			};

			h.pivots = how == ONE ? 3 * h.n : h.n;
			try_hosts(&h, &r, how, cases[i].each, 1 + 3 * (i % 4));
		}
	}
	tap_done("1 to 120 hosts find the splitters that one list of all pivots gives");
}

int main(void)
{
	tap_state.prefix = "sort";
	test_local();
	test_merge();
	test_weights();
	test_by_hand();
	test_hosts();
	return tap_finish();
}
