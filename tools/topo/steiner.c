// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Steiner tree of Kou, Markowsky and Berman, "A fast algorithm for Steiner trees", 1981: a
 * minimum spanning tree of the members, its edges replaced by shortest paths, a minimum spanning
 * tree of these, and off with what leads nowhere.  Its nodes are servers, for switches do not
 * merge: what is between two servers is one edge, as long as it has links.
 */
#include <stdlib.h>

#include "shuffle.h"

/**
 * struct kmb_edge - a hop of a path
 * @end: two indexes of servers
 * @links: it is long
 * @no: in which order it came
 */
struct kmb_edge {
	u32	end[2];
	u32	links;
	u32	no;
};

/**
 * struct kmb - the paths together, as a graph
 * @member: the receiver, then the senders
 * @far: of each member, from the nearest that is joined; 0: it is joined itself
 * @near: of each member, that nearest one
 * @at: servers of paths: index in @node
 * @node: servers
 * @nodes: how many
 * @edge: between two of them
 * @edges: how many
 * @room: for nodes and edges
 */
struct kmb {
	u32		*member;
	u32		*far;
	u32		*near;
	struct map	at;
	u32		*node;
	u32		nodes;
	struct kmb_edge	*edge;
	u32		edges;
	u32		room;
};

static u32 kmb_node(struct kmb *k, u32 node)
{
	u32 at = *map_put(&k->at, node, k->nodes);

	if (at == k->nodes)
		k->node[k->nodes++] = node;
	return at;
}

static void add_edge(struct kmb *k, u32 a, u32 b, u32 links)
{
	if (k->edges == k->room || k->nodes + 2 > k->room) {
		k->room = k->room ? 2 * k->room : 256;
		k->node = memory(k->node, k->room, sizeof(*k->node));
		k->edge = memory(k->edge, k->room, sizeof(*k->edge));
	}
	k->edge[k->edges].end[0] = kmb_node(k, a);
	k->edge[k->edges].end[1] = kmb_node(k, b);
	k->edge[k->edges].links = links;
	k->edge[k->edges].no = k->edges;
	k->edges++;
}

/* The members' minimum spanning tree, by Prim; @near is then who joined each. */
static void span_members(struct kmb *k, const struct shuffle *s, u32 members)
{
	u32 i, joined, last = 0;

	for (i = 0; i < members; i++)
		k->far[i] = NONE;
	k->far[0] = 0;
	for (joined = 1; joined < members; joined++) {
		u32 best = NONE;

		if (s->topo->graph)
			graph_search(s->topo->graph, k->member[last], false);
		for (i = 1; i < members; i++) {
			u32 far;

			if (!k->far[i])
				continue;
			far = s->topo->graph ? s->topo->graph->far[k->member[i]] :
			      bcube_distance(&s->topo->cube, k->member[i], k->member[last]);
			if (far < k->far[i]) {
				k->far[i] = far;
				k->near[i] = last;
			}
			if (best == NONE || k->far[i] < k->far[best])
				best = i;
		}
		k->far[best] = 0;
		last = best;
	}
}

/* Digits from the highest down. */
static void path_cube(struct kmb *k, const struct bcube *c, u32 from, u32 to)
{
	u32 dim, next;

	for (dim = c->dims; dim-- > 0; from = next) {
		next = bcube_with(c, from, dim, bcube_digit(c, to, dim));
		if (next != from)
			add_edge(k, from, next, 2);
	}
}

static void paths(struct kmb *k, const struct shuffle *s, u32 members)
{
	struct graph *g = s->topo->graph;
	u32 i, at, last, links;

	for (i = 1; i < members; i++) {
		if (!g) {
			path_cube(k, &s->topo->cube, k->member[i], k->member[k->near[i]]);
			continue;
		}
		graph_search(g, k->member[k->near[i]], false);
		last = k->member[i];
		for (at = last, links = 0; g->far[at];) {
			at = graph_before(g, at);
			links++;
			if (at >= g->servers)
				continue;
			add_edge(k, last, at, links);
			last = at;
			links = 0;
		}
	}
}

static int by_links(const void *a, const void *b)
{
	const struct kmb_edge *x = a, *y = b;

	if (x->links != y->links)
		return x->links < y->links ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

static u32 find_root(u32 *up, u32 at)
{
	while (up[at] != at) {
		up[at] = up[up[at]];
		at = up[at];
	}
	return at;
}

/* Kruskal's: edges that join what was apart are kept. */
static void keep_edges(struct kmb *k)
{
	u32 *up = memory(NULL, k->nodes, sizeof(*up)), i, n = 0;

	qsort(k->edge, k->edges, sizeof(*k->edge), by_links);
	for (i = 0; i < k->nodes; i++)
		up[i] = i;
	for (i = 0; i < k->edges; i++) {
		u32 a = find_root(up, k->edge[i].end[0]), b = find_root(up, k->edge[i].end[1]);

		if (a == b)
			continue;
		up[a] = b;
		k->edge[n++] = k->edge[i];
	}
	k->edges = n;
	free(up);
}

/* A minimum spanning tree of the paths, with the receiver as its root. */
static void span_paths(struct kmb *k, struct tree *t)
{
	u32 *first, *to, *queue, i, j, n = 1;
	bool *seen;

	keep_edges(k);
	first = memory(NULL, k->nodes + 1, sizeof(*first));
	to = memory(NULL, k->edges, 2 * sizeof(*to));
	queue = memory(NULL, k->nodes, sizeof(*queue));
	seen = memory(NULL, k->nodes, sizeof(*seen));
	memset(first, 0, (k->nodes + 1) * sizeof(*first));
	memset(seen, 0, k->nodes * sizeof(*seen));
	for (i = 0; i < 2 * k->edges; i++)
		first[k->edge[i / 2].end[i % 2]]++;
	for (i = 1; i <= k->nodes; i++)
		first[i] += first[i - 1];
	for (i = 2 * k->edges; i-- > 0;)
		to[--first[k->edge[i / 2].end[i % 2]]] = k->edge[i / 2].end[!(i % 2)];
	queue[0] = *map_get(&k->at, k->member[0]);
	seen[queue[0]] = true;
	for (i = 0; i < n; i++) {
		for (j = first[queue[i]]; j < first[queue[i] + 1]; j++) {
			if (seen[to[j]])
				continue;
			seen[to[j]] = true;
			tree_link(t, k->node[to[j]], k->node[queue[i]]);
			queue[n++] = to[j];
		}
	}
	free(first);
	free(to);
	free(queue);
	free(seen);
}

/**
 * kmb_tree() - the Steiner tree of a receiver and all senders
 * @s: the shuffle
 * @receiver: root of the tree
 * @t: the tree, begun
 */
void kmb_tree(const struct shuffle *s, u32 receiver, struct tree *t)
{
	struct kmb k = { 0 };
	u32 members = 1, i;

	k.member = memory(NULL, s->senders + 1, sizeof(*k.member));
	k.far = memory(NULL, s->senders + 1, sizeof(*k.far));
	k.near = memory(NULL, s->senders + 1, sizeof(*k.near));
	map_clear(&k.at);
	k.member[0] = receiver;
	for (i = 0; i < s->senders; i++)
		if (s->sender[i] != receiver)
			k.member[members++] = s->sender[i];
	if (members > 1) {
		span_members(&k, s, members);
		paths(&k, s, members);
		span_paths(&k, t);
	}
	free(k.member);
	free(k.far);
	free(k.near);
	free(k.node);
	free(k.edge);
	map_free(&k.at);
}
