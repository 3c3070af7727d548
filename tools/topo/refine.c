// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shorter ways to others: not of the source.  A server whose flow is passed on by servers that
 * serve nobody else sends to one of the tree instead, if one is nearer than these servers are many;
 * and a server without data whose children can all send to others is taken off.  Each such move
 * takes a server off the tree, which is cheaper where delta is small, and none makes the tree
 * deeper than IRS's own moves may.
 */
#include <stdlib.h>

#include "shuffle.h"

#define MOST_CHILDREN	16U	/* of a server that is taken off */

/**
 * struct refine - a tree that is being changed
 * @c: the topology
 * @t: the tree, finished; a server that was taken off has no parent
 * @height: of each vertex, not less than hops to the farthest that sends to it, and more than
 *	that of those which send to it
 * @room: for @height
 * @deepest: that a tree may be
 */
struct refine {
	const struct bcube	*c;
	struct tree		*t;
	u32			*height;
	u32			room;
	u32			deepest;
};

static bool in_tree(const struct refine *r, u32 vertex)
{
	return !vertex || r->t->v[vertex].parent != NONE;
}

/* Hops to the root; NONE if the way leads through a vertex. */
static u32 way_without(const struct refine *r, u32 from, u32 through)
{
	u32 hops = 0;

	for (; from; from = r->t->v[from].parent, hops++)
		if (from == through)
			return NONE;
	return hops;
}

/* May it send to another one, that many hops away?  Not if that is served only for its sake. */
static bool may_join(const struct refine *r, u32 vertex, u32 to, u32 top, u32 hops)
{
	u32 at, depth;

	for (at = r->t->v[vertex].parent; at != top; at = r->t->v[at].parent)
		if (at == to)
			return false;
	depth = way_without(r, to, vertex);
	return depth != NONE && depth + hops + r->height[vertex] <= r->deepest;
}

static void attach(struct refine *r, u32 vertex, u32 to)
{
	struct tree *t = r->t;
	u32 height = r->height[vertex] + 1;

	t->v[vertex].parent = to;
	t->v[to].children++;
	for (; to != NONE; to = t->v[to].parent, height++) {
		if (r->height[to] >= height)
			break;
		r->height[to] = height;
	}
}

/* Off with the parents that served only this one, up to the top. */
static void detach(struct refine *r, u32 vertex, u32 top)
{
	struct tree *t = r->t;
	u32 at = t->v[vertex].parent, up;

	for (; at != top; at = up) {
		up = t->v[at].parent;
		t->v[at].parent = NONE;
		t->v[at].children = 0;
		r->height[at] = 0;
	}
	t->v[top].children--;
	t->v[vertex].parent = NONE;
}

/* Off with a server that nobody sends to any more, and with those that served only this one. */
static void detach_empty(struct refine *r, u32 vertex)
{
	struct vertex *v = r->t->v;
	u32 up;

	for (; vertex && !v[vertex].children && !v[vertex].sender; vertex = up) {
		up = v[vertex].parent;
		v[vertex].parent = NONE;
		v[up].children--;
		r->height[vertex] = 0;
	}
}

/* The server that a neighbour of @at is, if it may be joined; NONE: none of them. */
static u32 find_near(const struct refine *r, u32 vertex, u32 at, u32 top, u32 hops)
{
	u32 dim, digit, best = NONE, least = NONE;

	for (dim = 0; dim < r->c->dims; dim++) {
		for (digit = 0; digit < r->c->n; digit++) {
			u32 server = bcube_with(r->c, at, dim, digit), depth;
			u32 *to = map_get(&r->t->at, server);

			if (!to || *to == vertex || !in_tree(r, *to) ||
			    !may_join(r, vertex, *to, top, hops))
				continue;
			depth = way_without(r, *to, vertex);
			if (depth < least) {
				least = depth;
				best = *to;
			}
		}
	}
	return best;
}

static u32 new_vertex(struct refine *r, u32 server)
{
	u32 at = tree_vertex(r->t, server);

	if (r->room < r->t->room) {
		r->room = r->t->room;
		r->height = memory(r->height, r->room, sizeof(*r->height));
	}
	if (at == r->t->n - 1 && r->t->v[at].parent == NONE)
		r->height[at] = 0;
	return at;
}

/* By way of a server that is not in the tree, which costs one hop more. */
static bool join_far(struct refine *r, u32 vertex, u32 top)
{
	u32 dim, digit, server, between, to, *known;

	for (dim = 0; dim < r->c->dims; dim++) {
		for (digit = 0; digit < r->c->n; digit++) {
			server = bcube_with(r->c, r->t->v[vertex].server, dim, digit);
			known = map_get(&r->t->at, server);
			if (known && in_tree(r, *known))
				continue;
			to = find_near(r, vertex, server, top, 2);
			if (to == NONE)
				continue;
			between = new_vertex(r, server);
			detach(r, vertex, top);
			attach(r, between, to);
			attach(r, vertex, between);
			return true;
		}
	}
	return false;
}

/* A neighbour that a child of @from may send to instead; not one that sends by way of @from. */
static u32 find_other(const struct refine *r, u32 child, u32 from)
{
	u32 dim, digit, best = NONE, least = r->deepest;

	for (dim = 0; dim < r->c->dims; dim++) {
		for (digit = 0; digit < r->c->n; digit++) {
			u32 *to = map_get(&r->t->at, bcube_with(r->c, r->t->v[child].server, dim,
								digit));
			u32 depth;

			if (!to || *to == from || !in_tree(r, *to))
				continue;
			depth = way_without(r, *to, from);
			if (depth != NONE && depth + r->height[child] < least) {
				least = depth + r->height[child];
				best = *to;
			}
		}
	}
	return best;
}

/* Send all children of a server to others, and take it off; or leave all as it was. */
static bool dissolve(struct refine *r, u32 vertex)
{
	u32 child[MOST_CHILDREN], old = r->t->v[vertex].children, n = 0, moved = 0, i, dim, digit;
	struct vertex *v = r->t->v;
	bool again = true;

	for (dim = 0; dim < r->c->dims; dim++) {
		for (digit = 0; digit < r->c->n; digit++) {
			u32 *at = map_get(&r->t->at,
					  bcube_with(r->c, v[vertex].server, dim, digit));

			if (at && *at && v[*at].parent == vertex && n < MOST_CHILDREN)
				child[n++] = *at;
		}
	}
	/* One that has moved may be joined by those that had no other. */
	while (again && moved < n) {
		again = false;
		for (i = moved; i < n; i++) {
			u32 to = find_other(r, child[i], vertex), first = child[moved];

			if (to == NONE)
				continue;
			v[vertex].children--;
			attach(r, child[i], to);
			child[moved++] = child[i];
			child[i] = first;
			again = true;
		}
	}
	if (moved == old) {
		detach_empty(r, vertex);
		return true;
	}
	while (moved--) {
		v[v[child[moved]].parent].children--;
		attach(r, child[moved], vertex);
	}
	return false;
}

static bool improve(struct refine *r, u32 vertex)
{
	struct tree *t = r->t;
	u32 top = t->v[vertex].parent, served = 0, to;

	for (; top && t->v[top].children == 1 && !t->v[top].sender; top = t->v[top].parent)
		served++;
	if (vertex && !t->v[vertex].sender && t->v[vertex].children > 1 &&
	    t->v[vertex].children <= MOST_CHILDREN && dissolve(r, vertex))
		return true;
	if (!served)
		return false;
	to = find_near(r, vertex, t->v[vertex].server, top, 1);
	if (to != NONE) {
		detach(r, vertex, top);
		attach(r, vertex, to);
		return true;
	}
	return served > 1 && join_far(r, vertex, top);
}

/**
 * refine_tree() - make a tree cheaper for delta 0
 * @s: the shuffle, in a BCube
 * @t: the tree, finished; it is again
 */
void refine_tree(const struct shuffle *s, struct tree *t)
{
	struct refine r = { .c = &s->topo->cube, .t = t, .deepest = 2 * s->topo->cube.dims - 1 };
	bool again = true;
	u32 i;

	while (again) {
		again = false;
		r.room = t->room;
		r.height = memory(r.height, r.room, sizeof(*r.height));
		memset(r.height, 0, t->n * sizeof(*r.height));
		for (i = t->n; i-- > 1;) {
			const struct vertex *v = &t->v[t->order[i]];

			if (r.height[v->parent] < r.height[t->order[i]] + 1)
				r.height[v->parent] = r.height[t->order[i]] + 1;
		}
		for (i = t->n; i-- > 1;)
			if (in_tree(&r, i) && improve(&r, i))
				again = true;
		if (again)
			tree_end(t);
	}
	free(r.height);
}
