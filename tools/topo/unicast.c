// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shortest paths, each chosen by itself: with aggregation where they happen to meet (unicast), and
 * without (none).  Source: Guo et al., sections 3.2 and 5.1.
 */
#include "shuffle.h"

/**
 * struct walk - on a shortest path to the receiver
 * @s: the shuffle
 * @rng: what chooses
 * @to: the receiver
 * @start: rotation: the dimension that was chosen for this sender
 * @used: links are added, unless NULL
 * @links: walked
 */
struct walk {
	const struct shuffle	*s;
	struct wl_rng		rng;
	u32			to;
	u32			start;
	struct links		*used;
	u64			links;
};

static void walk_begin(struct walk *w, const struct shuffle *s, u32 receiver, struct links *used)
{
	*w = (struct walk){ .s = s, .to = receiver, .used = used };
	wl_rng_init(&w->rng, wl_rng_mix(s->seed, 1, topo_index(s->topo, receiver)));
	if (s->topo->graph)
		graph_search(s->topo->graph, receiver, false);
}

/* A new sender. */
static void walk_from(struct walk *w)
{
	if (!w->s->topo->graph && w->s->paths == PATHS_ROTATE)
		w->start = (u32)wl_rng_below(&w->rng, w->s->topo->cube.dims);
}

static u32 step_cube(struct walk *w, u32 at)
{
	const struct bcube *c = &w->s->topo->cube;
	u32 skip = 0, dim, next;

	if (w->s->paths == PATHS_RANDOM)
		skip = (u32)wl_rng_below(&w->rng, bcube_distance(c, at, w->to));
	/* From the chosen dimension downwards, and round. */
	dim = w->s->paths == PATHS_RANDOM ? c->dims - 1 : w->start;
	while (bcube_digit(c, at, dim) == bcube_digit(c, w->to, dim) || skip--)
		dim = dim ? dim - 1 : c->dims - 1;
	next = bcube_with(c, at, dim, bcube_digit(c, w->to, dim));
	w->links += 2;
	if (w->used) {
		links_add(w->used, topo_cube_link(w->s->topo, at, dim));
		links_add(w->used, topo_cube_link(w->s->topo, next, dim));
	}
	return next;
}

/* To the next server, through any switches. */
static u32 step_graph(struct walk *w, u32 at)
{
	const struct graph *g = w->s->topo->graph;
	u32 i, n, which;

	do {
		for (n = 0, i = g->first[at]; i < g->first[at + 1]; i++)
			n += g->far[g->to[i]] < g->far[at];
		which = (u32)wl_rng_below(&w->rng, n);
		for (i = g->first[at]; g->far[g->to[i]] >= g->far[at] || which--; i++)
			;
		if (w->used)
			links_add(w->used, g->by[i]);
		w->links++;
		at = g->to[i];
	} while (at >= g->servers);
	return at;
}

static u32 step(struct walk *w, u32 at)
{
	return w->s->topo->graph ? step_graph(w, at) : step_cube(w, at);
}

/**
 * unicast_tree() - each sender on a random shortest path, until it meets another one
 * @s: the shuffle
 * @receiver: root of the tree
 * @t: the tree, begun
 */
void unicast_tree(const struct shuffle *s, u32 receiver, struct tree *t)
{
	struct walk w;
	u32 i, at, next;

	walk_begin(&w, s, receiver, NULL);
	for (i = 0; i < s->senders; i++) {
		walk_from(&w);
		for (at = s->sender[i]; at != receiver; at = next) {
			u32 vertex = tree_vertex(t, at);

			if (t->v[vertex].parent != NONE)
				break;
			next = step(&w, at);
			tree_link(t, at, next);
		}
	}
}

/**
 * unicast_paths() - each sender on a random shortest path, without aggregation
 * @s: the shuffle
 * @receiver: where they end
 * @used: their links are added
 * @cost: the sum over links of what they carry is added
 */
void unicast_paths(const struct shuffle *s, u32 receiver, struct links *used, double *cost)
{
	struct walk w;
	u32 i, at;

	walk_begin(&w, s, receiver, used);
	for (i = 0; i < s->senders; i++) {
		walk_from(&w);
		w.links = 0;
		for (at = s->sender[i]; at != receiver; at = step(&w, at))
			;
		*cost += s->flow[i] * w.links;
	}
}
