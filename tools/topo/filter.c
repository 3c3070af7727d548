// SPDX-License-Identifier: GPL-2.0-or-later
/* Bloom filters of all ways of a plan. */
#include "job.h"

/**
 * filter_path() - the way from a server of a tree to the receiver
 * @t: the tree
 * @vertex: of the server
 * @path: room for BLOOM_MAX_PATH servers
 *
 * Return: hops; 0 if there are too many.
 */
u32 filter_path(const struct tree *t, u32 vertex, u32 *path)
{
	u32 n = 0;

	if (t->v[vertex].depth >= BLOOM_MAX_PATH)
		return 0;
	for (; vertex != NONE; vertex = t->v[vertex].parent)
		path[n++] = t->v[vertex].server;
	return n - 1;
}

/**
 * filter_sends() - does a server make packets, rather than pass them on?
 * @t: the tree
 * @vertex: of the server
 *
 * Return: true for senders and for those that merge, but not for the receiver.
 */
bool filter_sends(const struct tree *t, u32 vertex)
{
	return vertex && (t->v[vertex].sender || tree_value(&t->v[vertex]) > 1);
}

/**
 * filter_tree() - filters of all ways of a tree
 * @j: the job: bits and form
 * @t: the tree
 * @sum: counted there
 */
void filter_tree(const struct job *j, const struct tree *t, struct bloom_stats *sum)
{
	const struct bcube *c = &j->topo.cube;
	u32 path[BLOOM_MAX_PATH], i, hops, got;
	struct shuffle_bloom f;

	for (i = 1; i < t->n; i++) {
		if (!(j->form == BLOOM_PAPER ? t->v[i].sender : filter_sends(t, i)))
			continue;
		hops = filter_path(t, i, path);
		sum->paths++;
		sum->hops += hops;
		if (!hops)
			continue;
		if (j->form == BLOOM_PAPER) {
			got = bloom_paper(&f, c, path, hops, j->bloom);
			sum->wrong += got;
			sum->exact += !got;
			continue;
		}
		got = bloom_path(&f, c, path, hops, j->bloom);
		sum->exact += got != 0;
		sum->salts += got ? got : SHUFFLE_BLOOM_SALTS;
		if (sum->most < got)
			sum->most = got;
	}
}
