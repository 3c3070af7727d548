// SPDX-License-Identifier: GPL-2.0-or-later
/* Aggregation trees: how they are made, and what they cost. */
#include <stdlib.h>

#include "tree.h"

/**
 * tree_begin() - a tree that is only its root
 * @t: the tree, zeroed before its first use
 * @root: the receiver
 */
void tree_begin(struct tree *t, u32 root)
{
	t->n = 0;
	map_clear(&t->at);
	tree_vertex(t, root);
}

/**
 * tree_vertex() - find a server, or add it
 * @t: the tree
 * @server: which
 *
 * Return: the index of its vertex.
 */
u32 tree_vertex(struct tree *t, u32 server)
{
	u32 *at = map_put(&t->at, server, t->n);

	if (*at != t->n)
		return *at;
	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->v = memory(t->v, t->room, sizeof(*t->v));
		t->order = memory(t->order, t->room, sizeof(*t->order));
		t->load = memory(t->load, t->room, 3 * sizeof(*t->load));
	}
	t->v[t->n] = (struct vertex){ .server = server, .parent = NONE };
	return t->n++;
}

/**
 * tree_link() - say where a server sends to; servers are added
 * @t: the tree
 * @server: which
 * @parent: the next on its way
 */
void tree_link(struct tree *t, u32 server, u32 parent)
{
	u32 child = tree_vertex(t, server), up = tree_vertex(t, parent);

	t->v[child].parent = up;
}

/**
 * tree_sender() - a server of the tree has data
 * @t: the tree
 * @server: which; it is added
 * @flow: how much
 */
void tree_sender(struct tree *t, u32 server, double flow)
{
	struct vertex *v = &t->v[tree_vertex(t, server)];

	v->sender = true;
	v->flow = flow;
}

/* Take off what has neither data nor children; returns whether there was any. */
static bool prune(struct tree *t)
{
	u32 *to = t->order, i, n = 0, up;

	for (i = 0; i < t->n; i++)
		t->v[i].children = 0;
	for (i = 1; i < t->n; i++)
		if (t->v[i].parent != NONE)
			t->v[t->v[i].parent].children++;
	for (i = 1; i < t->n; i++) {
		u32 at = i;

		/* NONE is also the mark of what has been taken off. */
		while (at && t->v[at].parent != NONE && !t->v[at].children && !t->v[at].sender) {
			up = t->v[at].parent;
			t->v[at].parent = NONE;
			t->v[up].children--;
			at = up;
		}
	}
	for (i = 0; i < t->n; i++)
		to[i] = !i || t->v[i].parent != NONE ? n++ : NONE;
	if (n == t->n)
		return false;
	map_clear(&t->at);
	for (i = 0; i < t->n; i++) {
		if (to[i] == NONE) {
			if (t->v[i].sender)
				die("sender %u has no way to the receiver", t->v[i].server);
			continue;
		}
		if (i) {
			t->v[i].parent = to[t->v[i].parent];
			if (t->v[i].parent == NONE)
				die("server %u has no way to the receiver", t->v[i].server);
		}
		t->v[to[i]] = t->v[i];
		map_put(&t->at, t->v[i].server, to[i]);
	}
	t->n = n;
	return true;
}

/**
 * tree_end() - all edges are known: prune, count children, find depths and the order
 * @t: the tree
 *
 * A cycle is a fault of the method that made the tree, and ends the program.
 */
void tree_end(struct tree *t)
{
	u32 *first, *list, i, n = 0, leaves, at;

	prune(t);
	first = memory(NULL, t->n + 1, sizeof(*first));
	list = memory(NULL, t->n, sizeof(*list));
	first[0] = 0;
	for (i = 0; i < t->n; i++)
		first[i + 1] = first[i] + t->v[i].children;
	for (i = t->n; i-- > 1;)
		list[--first[t->v[i].parent + 1]] = i;
	/* first[p + 1] is now where the children of p begin */
	t->order[n++] = 0;
	t->v[0].depth = 0;
	for (i = 0; i < n; i++) {
		struct vertex *v = &t->v[t->order[i]];
		u32 begin = first[t->order[i] + 1], j;

		for (j = 0; j < v->children; j++) {
			at = list[begin + j];
			t->v[at].depth = v->depth + 1;
			t->order[n++] = at;
		}
	}
	if (n != t->n)
		die("a tree of %u servers has a cycle: only %u reach the receiver %u", t->n, n,
		    t->v[0].server);
	/* Those without children last. */
	for (i = 0, n = 0, leaves = 0; i < t->n; i++) {
		at = t->order[i];
		if (i && !t->v[at].children)
			list[leaves++] = at;
		else
			t->order[n++] = at;
	}
	memcpy(t->order + n, list, leaves * sizeof(*list));
	free(first);
	free(list);
}

/**
 * tree_value() - how many flows a server merges before it sends
 * @v: the vertex
 *
 * Section 4.1 counts children; figure 3(b) counts the server's own data, too, and must.
 *
 * Return: children, and one if it is a sender.
 */
u32 tree_value(const struct vertex *v)
{
	return v->children + v->sender;
}

/**
 * tree_merges() - do flows become one at a server?
 * @t: the tree
 * @vertex: of the server
 *
 * Return: true if two or more meet there: children's and its own, or only children's as section
 * 4.1 has it.
 */
bool tree_merges(const struct tree *t, u32 vertex)
{
	return (t->children_only ? t->v[vertex].children : tree_value(&t->v[vertex])) > 1;
}

/*
 * load[3 i]: what vertex i sends; the two behind: the sum of what it gets and has, and the largest
 * single flow of it, which is all that is sent when they merge and delta is 0.
 */
static void fill_load(const struct tree *t, double delta)
{
	double *l, *up;
	u32 i;

	for (i = 0; i < t->n; i++) {
		t->load[3 * i + 1] = t->v[i].flow;
		t->load[3 * i + 2] = t->v[i].flow;
	}
	for (i = t->n; i-- > 0;) {
		u32 at = t->order[i];

		l = &t->load[3 * at];
		/* What is one flow is passed on as it is, also if 1 - delta is rounded. */
		l[0] = l[1];
		if (tree_merges(t, at)) {
			l[0] = l[2] + delta * (l[1] - l[2]);
			l[2] = l[0];
		}
		if (!i)
			break;
		up = &t->load[3 * t->v[at].parent];
		up[1] += l[0];
		if (l[2] > up[2])
			up[2] = l[2];
	}
}

/**
 * tree_traffic() - the cost of a tree
 * @t: the tree, with hops measured by topo_measure()
 * @delta: 0: the keys of all flows are those of the largest; 1: they are all different
 *
 * Sections 3.1 and 5.4: flows f of one server become max f + delta (sum f - max f); switches pass
 * on what they get.
 *
 * Return: the sum over links of what they carry, in the unit of flows.
 */
double tree_traffic(const struct tree *t, double delta)
{
	double sum = 0;
	u32 i;

	fill_load(t, delta);
	for (i = 1; i < t->n; i++)
		sum += t->load[3 * i] * t->v[i].hop;
	return sum;
}

/**
 * tree_output() - what the root has when it has merged everything
 * @t: the tree
 * @delta: see tree_traffic()
 *
 * Return: its size, in the unit of flows.
 */
double tree_output(const struct tree *t, double delta)
{
	fill_load(t, delta);
	return t->load[0];
}

/**
 * tree_input() - what the root gets from others
 * @t: the tree
 * @delta: see tree_traffic()
 *
 * Return: its size, in the unit of flows.
 */
double tree_input(const struct tree *t, double delta)
{
	fill_load(t, delta);
	return t->load[1] - t->v[0].flow;
}

/**
 * tree_attach() - the same tree for another receiver
 * @from: a finished tree
 * @root: the other receiver
 * @by: the server it is one hop from: a vertex of @from, or one hop from its root
 * @to: the new tree, without senders; call tree_end() when they are known
 *
 * What lies between the new root and the old one turns round; if the new root is a vertex of the
 * tree, that is all.
 */
void tree_attach(const struct tree *from, u32 root, u32 by, struct tree *to)
{
	u32 i, at, *found;

	tree_begin(to, root);
	for (i = 1; i < from->n; i++)
		tree_link(to, from->v[i].server, from->v[from->v[i].parent].server);
	found = map_get(&from->at, root);
	if (!found) {
		tree_link(to, by, root);
		found = map_get(&from->at, by);
		if (!found) {
			tree_link(to, from->v[0].server, by);
			return;
		}
	}
	for (at = *found; from->v[at].parent != NONE; at = from->v[at].parent)
		tree_link(to, from->v[from->v[at].parent].server, from->v[at].server);
	to->v[0].parent = NONE;
}

/**
 * tree_free() - give its memory back
 * @t: the tree
 */
void tree_free(struct tree *t)
{
	free(t->v);
	free(t->order);
	free(t->load);
	map_free(&t->at);
	*t = (struct tree){ 0 };
}
