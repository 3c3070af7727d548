// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trees of shuffle-plan on a BCube(4,1) (bcube.sh), and what their links carry.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_tree.h"
#include "bench.h"

#define PORTS		4	/* of a switch of bcube.sh */
#define RECORD_BYTES	16

static unsigned int number(const char *path, unsigned int line, const char *text,
			   unsigned int servers)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || n >= servers)
		bench_die("%s:%u: %s is no server", path, line, text);
	return n;
}

static struct agg_tree *begin(struct agg_trees *t, const char *path, unsigned int line,
			      unsigned int root)
{
	struct agg_tree *tree = &t->tree[t->n];
	unsigned int i;

	if (t->n++ == AGG_TREES)
		bench_die("%s:%u: more trees than %d", path, line, AGG_TREES);
	tree->root = root;
	for (i = 0; i < AGG_SERVERS; i++)
		tree->parent[i] = -1;
	return tree;
}

void agg_read(struct agg_trees *t, const char *path, unsigned int servers)
{
	char text[256], first[32], second[32], link[32];
	struct agg_tree *tree = NULL;
	unsigned int line = 0, value;
	FILE *f = fopen(path, "re");

	if (!f)
		bench_die("%s: %s", path, strerror(errno));
	t->servers = servers;
	while (fgets(text, sizeof(text), f)) {
		int n = sscanf(text, "%31s %31s %31s %u", first, second, link, &value);

		line++;
		if (n < 2 || !strcmp(first, "shuffle-plan") || !strcmp(first, "topology"))
			continue;
		if (!strcmp(first, "tree")) {
			tree = begin(t, path, line, number(path, line, second, servers));
			continue;
		}
		if (n != 4 || !tree || !value)
			bench_die("%s:%u: not a server of a tree", path, line);
		n = number(path, line, first, servers);
		tree->value[n] = value;
		if (strcmp(second, "-"))
			tree->parent[n] = number(path, line, second, servers);
	}
	fclose(f);
	if (!t->n)
		bench_die("%s: no tree", path);
}

bool agg_in(const struct agg_tree *t, unsigned int server)
{
	return t->value[server];
}

unsigned int agg_children(const struct agg_tree *t, unsigned int server)
{
	unsigned int i, n = 0;

	for (i = 0; i < AGG_SERVERS; i++)
		n += t->parent[i] == (int)server;
	return n;
}

bool agg_sends(const struct agg_tree *t, unsigned int server)
{
	return t->value[server] > agg_children(t, server);
}

unsigned int agg_senders(const struct agg_tree *t)
{
	unsigned int i, n = 0;

	for (i = 0; i < AGG_SERVERS; i++)
		n += i != t->root && agg_sends(t, i);
	return n;
}

/* Senders in the tree below, a server's own part included. */
static unsigned int below(const struct agg_tree *t, unsigned int server)
{
	unsigned int i, n = agg_sends(t, server);

	for (i = 0; i < AGG_SERVERS; i++)
		if (t->parent[i] == (int)server)
			n += below(t, i);
	return n;
}

uint64_t agg_flow(const struct agg_tree *t, unsigned int server, uint64_t records, double delta)
{
	uint64_t own = records * delta;

	return records - own + own * below(t, server);
}

static unsigned int depth(const struct agg_tree *t, unsigned int server)
{
	return t->parent[server] < 0 ? 0 : 1 + depth(t, t->parent[server]);
}

/* What goes out of a server's NICs, and comes in */
struct load {
	uint64_t out[AGG_SERVERS][2];
	uint64_t in[AGG_SERVERS][2];
};

static void carry(struct load *l, unsigned int from, unsigned int to, uint64_t records)
{
	unsigned int level = from / PORTS != to / PORTS;

	l->out[from][level] += records * RECORD_BYTES;
	l->in[to][level] += records * RECORD_BYTES;
}

static double longest_ns(const struct load *l, unsigned int hops)
{
	uint64_t most = 0;
	unsigned int i, level;

	for (i = 0; i < AGG_SERVERS; i++) {
		for (level = 0; level < 2; level++) {
			most = l->out[i][level] > most ? l->out[i][level] : most;
			most = l->in[i][level] > most ? l->in[i][level] : most;
		}
	}
	return most * 8e9 / bench_opt.rate_bps + hops * bench_opt.rtt_ns;
}

double agg_bound_ns(const struct agg_trees *t, uint64_t records, double delta)
{
	struct load load = { 0 };
	unsigned int i, k, hops = 0;

	for (k = 0; k < t->n; k++) {
		for (i = 0; i < t->servers; i++) {
			const struct agg_tree *tree = &t->tree[k];

			if (tree->parent[i] < 0)
				continue;
			carry(&load, i, tree->parent[i], agg_flow(tree, i, records, delta));
			if (depth(tree, i) > hops)
				hops = depth(tree, i);
		}
	}
	return longest_ns(&load, hops);
}

double agg_none_bound_ns(const struct agg_trees *t, uint64_t records, const char *ways)
{
	struct load load = { 0 };
	unsigned int from, to, between, k;
	FILE *f = fopen(ways, "re");
	char text[256];

	if (!f)
		bench_die("%s: %s", ways, strerror(errno));
	while (fgets(text, sizeof(text), f)) {
		int n = sscanf(text, "%u %u %u", &from, &to, &between);

		if (n < 2 || from >= t->servers || to >= t->servers ||
		    (n == 3 && between >= t->servers))
			bench_die("%s: no way: %s", ways, text);
		for (k = 0; k < t->n; k++) {
			if (t->tree[k].root != to || !agg_sends(&t->tree[k], from))
				continue;
			carry(&load, from, n == 3 ? between : to, records);
			if (n == 3)
				carry(&load, between, to, records);
		}
	}
	fclose(f);
	return longest_ns(&load, 1);
}
