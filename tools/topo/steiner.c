// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Steiner tree of Kou, Markowsky and Berman, "A fast algorithm for Steiner trees", 1981: a
 * minimum spanning tree of the members, its edges replaced by shortest paths, a spanning tree of
 * these, and off with what leads nowhere.  It takes switches for servers that merge.
 */
#include <stdlib.h>

#include "shuffle.h"

/**
 * struct kmb - the paths together, as a graph
 * @member: the receiver, then the senders
 * @far: of each member, from the nearest that is joined; 0: it is joined itself
 * @near: of each member, that nearest one
 * @at: nodes of paths: index in @node
 * @node: servers and switches
 * @nodes: how many
 * @end: of each edge, two indexes of nodes
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
	u32		(*end)[2];
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

static void kmb_edge(struct kmb *k, u32 a, u32 b)
{
	if (k->edges + 2 >= k->room || k->nodes + 2 >= k->room) {
		k->room = k->room ? 2 * k->room : 256;
		k->node = memory(k->node, k->room, sizeof(*k->node));
		k->end = memory(k->end, k->room, sizeof(*k->end));
	}
	k->end[k->edges][0] = kmb_node(k, a);
	k->end[k->edges++][1] = kmb_node(k, b);
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
			kmb_edge(k, from, next);
	}
}

static void paths(struct kmb *k, const struct shuffle *s, u32 members)
{
	struct graph *g = s->topo->graph;
	u32 i, at;

	for (i = 1; i < members; i++) {
		if (!g) {
			path_cube(k, &s->topo->cube, k->member[i], k->member[k->near[i]]);
			continue;
		}
		graph_search(g, k->member[k->near[i]], false);
		for (at = k->member[i]; g->far[at]; at = graph_before(g, at))
			kmb_edge(k, at, graph_before(g, at));
	}
}

/* A spanning tree of the paths, breadth first; servers of it are linked. */
static void span_paths(struct kmb *k, const struct shuffle *s, struct tree *t)
{
	u32 servers = s->topo->graph ? s->topo->graph->servers : NONE, i, j, n = 1;
	u32 *first = memory(NULL, k->nodes + 1, sizeof(*first));
	u32 *to = memory(NULL, k->edges, 2 * sizeof(*to));
	u32 *up = memory(NULL, k->nodes, sizeof(*up));
	u32 *queue = memory(NULL, k->nodes, sizeof(*queue));

	memset(first, 0, (k->nodes + 1) * sizeof(*first));
	memset(up, 0xff, k->nodes * sizeof(*up));
	for (i = 0; i < 2 * k->edges; i++)
		first[k->end[i / 2][i % 2]]++;
	for (i = 1; i <= k->nodes; i++)
		first[i] += first[i - 1];
	for (i = 2 * k->edges; i-- > 0;)
		to[--first[k->end[i / 2][i % 2]]] = k->end[i / 2][!(i % 2)];
	/* @up: the next server on the way; the receiver's is itself */
	queue[0] = *map_get(&k->at, k->member[0]);
	up[queue[0]] = queue[0];
	for (i = 0; i < n; i++) {
		u32 at = queue[i];

		for (j = first[at]; j < first[at + 1]; j++) {
			if (up[to[j]] != NONE)
				continue;
			up[to[j]] = k->node[at] < servers ? at : up[at];
			if (k->node[to[j]] < servers)
				tree_link(t, k->node[to[j]], k->node[up[to[j]]]);
			queue[n++] = to[j];
		}
	}
	free(first);
	free(to);
	free(up);
	free(queue);
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
		span_paths(&k, s, t);
	}
	free(k.member);
	free(k.far);
	free(k.near);
	free(k.node);
	free(k.end);
	map_free(&k.at);
}
