// SPDX-License-Identifier: GPL-2.0-or-later
/* What servers of a plan need to pass packets on by their filters: shuffle-plan --overlay. */
#include "job.h"

/* Steps of the size of a filter, where nobody says it. */
#define STEP	64U

/* The way from a vertex up to the first server that does more than pass on.  Returns hops. */
static u32 way_up(const struct tree *t, u32 vertex, u32 *path)
{
	u32 hops = 0;

	path[0] = t->v[vertex].server;
	do {
		vertex = t->v[vertex].parent;
		if (++hops == BLOOM_MAX_PATH)
			die("a way of more than %u hops", BLOOM_MAX_PATH - 1);
		path[hops] = t->v[vertex].server;
	} while (plan_role_of(t, vertex) == PLAN_FORWARD);
	return hops;
}

/* The filter of a way: the smallest one that makes no mistake, unless its size is given. */
static void make_filter(const struct job *j, const u32 *path, u32 hops, struct shuffle_bloom *f)
{
	const struct bcube *c = &j->topo.cube;
	u32 bits = j->bloom ? j->bloom : STEP, i;

	if (j->form == BLOOM_PAPER) {
		shuffle_bloom_begin(f, bits, shuffle_bloom_hashes(bits, c->dims), 0);
		for (i = 0; i < hops; i++)
			shuffle_bloom_add(f, path[i], path[i + 1]);
		return;
	}
	while (!bloom_path(f, c, path, hops, bits)) {
		bits += STEP;
		if (j->bloom || bits > SHUFFLE_BLOOM_BITS)
			die("no filter of %u bits for a way of %u hops", bits - STEP, hops);
	}
}

static void write_way(const struct job *j, const u32 *path, u32 hops, FILE *f)
{
	char from[TOPO_MAX_TEXT], to[TOPO_MAX_TEXT];
	/* of each dimension there and back, and two more */
	u32 most = 2 * j->topo.cube.dims + 2, i;
	struct shuffle_bloom filter;

	make_filter(j, path, hops, &filter);
	fprintf(f, "path %s %s hops %u bits %u hashes %u salt %u filter ",
		topo_name(&j->topo, path[0], from), topo_name(&j->topo, path[hops], to),
		most > hops ? most : hops, filter.bits, filter.hashes, filter.salt);
	for (i = 0; i < shuffle_bloom_words(filter.bits); i++)
		fprintf(f, "%016llx", (unsigned long long)filter.word[i]);
	fputc('\n', f);
}

/* A server, and all that it could pass packets on to. */
static void write_server(const struct job *j, u32 server, FILE *f)
{
	const struct bcube *c = &j->topo.cube;
	char name[TOPO_MAX_TEXT], other[TOPO_MAX_TEXT], link[TOPO_MAX_TEXT];
	u32 dim, digit, to;

	topo_name(&j->topo, server, name);
	fprintf(f, "server %s %u\n", name, server);
	for (dim = 0; dim < c->dims; dim++)
		for (digit = 0; digit < c->n; digit++) {
			to = bcube_with(c, server, dim, digit);
			if (to != server)
				fprintf(f, "neighbour %s %s %u %s\n", name,
					topo_name(&j->topo, to, other), to,
					topo_link_name(&j->topo, server, dim, link));
		}
}

/**
 * overlay_tree() - the ways of a tree over servers that only pass on
 * @j: the job: size and form of filters
 * @t: the tree, measured
 * @f: where to; format: shuffle-plan(1)
 *
 * Both directions of each way: what the members say to one another goes both ways.
 */
void overlay_tree(const struct job *j, const struct tree *t, FILE *f)
{
	u32 path[BLOOM_MAX_PATH], back[BLOOM_MAX_PATH], i, k, hops;
	struct map seen = { 0 };

	if (j->topo.graph)
		die("--overlay is for a BCube");
	map_clear(&seen);
	for (i = 1; i < t->n; i++) {
		if (plan_role_of(t, i) == PLAN_FORWARD)
			continue;
		hops = way_up(t, i, path);
		if (hops < 2)
			continue;
		for (k = 0; k <= hops; k++) {
			if (!map_get(&seen, path[k]))
				write_server(j, path[k], f);
			map_put(&seen, path[k], 1);
			back[k] = path[hops - k];
		}
		write_way(j, path, hops, f);
		write_way(j, back, hops, f);
	}
	map_free(&seen);
}
