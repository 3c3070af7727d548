// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bloom filters in servers and switches instead of packets: each interface has one of the trees
 * that leave by it, and a server or a switch sends a flow by every interface whose filter has its
 * tree.
 *
 * Source: Guo et al., section 4.2.
 */
#include <math.h>
#include <stdlib.h>

#include "job.h"

/* At most; a hop of a tree has two. */
#define MAX_HOPS	0x10000000U
#define MAX_PORTS	BCUBE_MAX_N

/* An interface: of a server, its dimension; of a switch, the digit of the server behind it. */
static u64 server_port(u32 server, u32 dim)
{
	return (u64)server << 8 | dim;
}

static u64 switch_port(const struct bcube *c, u32 dim, u32 to)
{
	return 1ULL << 56 | (u64)dim << 48 | (u64)bcube_with(c, to, dim, 0) << 8 |
	       bcube_digit(c, to, dim);
}

static void add_hop(struct switch_filters *s, u64 port)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 4096;
		if (s->room > MAX_HOPS)
			die("more than %u hops of all trees together", MAX_HOPS / 2);
		s->hop = memory(s->hop, s->room, sizeof(*s->hop));
	}
	s->hop[s->n++] = (struct switch_hop){ .port = port, .tree = s->trees };
}

/**
 * switch_filters_tree() - the interfaces that a tree leaves by
 * @s: filters
 * @c: the topology
 * @t: the tree
 */
void switch_filters_tree(struct switch_filters *s, const struct bcube *c, const struct tree *t)
{
	u32 i, from, to, dim;

	for (i = 1; i < t->n; i++) {
		from = t->v[i].server;
		to = t->v[t->v[i].parent].server;
		dim = bcube_hop(c, from, to);
		add_hop(s, server_port(from, dim));
		add_hop(s, switch_port(c, dim, to));
	}
	s->trees++;
}

static int order(const void *a, const void *b)
{
	const struct switch_hop *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->tree < y->tree ? -1 : x->tree > y->tree;
}

/* Children of one parent meet at a switch: once is enough. */
static void sort_hops(struct switch_filters *s)
{
	u32 i, n = 0;

	qsort(s->hop, s->n, sizeof(*s->hop), order);
	for (i = 0; i < s->n; i++)
		if (!n || order(&s->hop[i], &s->hop[n - 1]))
			s->hop[n++] = s->hop[i];
	s->n = n;
}

/* (1 - e^(-h n / m))^h */
static double false_positive(u32 bits, u32 hashes, u32 items)
{
	return pow(1 - exp(-(double)hashes * items / bits), hashes);
}

/* All interfaces of a server or switch: hops [start[i], start[i + 1]) are those of interface i. */
static void test_node(const struct switch_filters *s, const u32 *start, u32 ports, u32 bits,
		      struct switch_stats *sum)
{
	struct shuffle_bloom f;
	u32 i, k, x, hashes;

	for (i = 0; i < ports; i++) {
		u32 items = start[i + 1] - start[i];

		sum->ports++;
		sum->items += items;
		if (sum->most < items)
			sum->most = items;
		hashes = shuffle_bloom_hashes(bits, items);
		shuffle_bloom_begin(&f, bits, hashes, 0);
		for (x = start[i]; x < start[i + 1]; x++)
			shuffle_bloom_add(&f, s->hop[x].tree, 0);
		for (k = 0; k < ports; k++)
			for (x = start[k]; k != i && x < start[k + 1]; x++) {
				struct switch_hop same = s->hop[x];

				same.port = s->hop[start[i]].port;
				if (bsearch(&same, &s->hop[start[i]], items, sizeof(same), order))
					continue;
				sum->tests++;
				sum->wrong += shuffle_bloom_has(&f, same.tree, 0);
				sum->expected += false_positive(bits, hashes, items);
			}
	}
}

/**
 * switch_filters_end() - all trees of a run are there: where do flows go wrong?
 * @s: filters; empty afterwards
 * @bits: of each
 * @sum: counted there
 *
 * Each filter has as many hashes as are best for its trees.  Interfaces that no tree leaves by have
 * an empty one, and make no mistake.
 */
void switch_filters_end(struct switch_filters *s, u32 bits, struct switch_stats *sum)
{
	u32 start[MAX_PORTS + 1], ports = 0, i;

	sort_hops(s);
	for (i = 0; i < s->n; i++) {
		if (i && s->hop[i].port >> 8 != s->hop[i - 1].port >> 8) {
			start[ports] = i;
			test_node(s, start, ports, bits, sum);
			ports = 0;
		}
		if (!ports || s->hop[i].port != s->hop[i - 1].port)
			start[ports++] = i;
	}
	start[ports] = s->n;
	test_node(s, start, ports, bits, sum);
	s->n = 0;
	s->trees = 0;
}
