/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An aggregation tree: servers, each with the next one on its way to the receiver. */
#ifndef TOPO_TREE_H
#define TOPO_TREE_H

#include "util.h"

/**
 * struct vertex - a server of a tree
 * @server: which
 * @parent: index of the vertex that it sends to; NONE: the root
 * @children: vertices that send to it
 * @depth: server hops to the root
 * @hop: links to its parent
 * @link: by which it leaves: see topo_measure()
 * @sender: it has data of its own
 * @flow: how much
 */
struct vertex {
	u32	server;
	u32	parent;
	u32	children;
	u32	depth;
	u32	hop;
	u32	link;
	bool	sender;
	double	flow;
};

/**
 * struct tree - an aggregation tree
 * @v: vertices; the root is the first
 * @order: indexes of vertices: root first, parents before children, vertices without children
 *	last; valid after tree_end()
 * @n: vertices
 * @room: for vertices
 * @at: server to index
 * @load: room for tree_traffic()
 * @children_only: costs: own data does not count among the flows that meet; kept by tree_begin()
 */
struct tree {
	struct vertex	*v;
	u32		*order;
	u32		n;
	u32		room;
	struct map	at;
	double		*load;
	bool		children_only;
};

void tree_begin(struct tree *t, u32 root);
u32 tree_vertex(struct tree *t, u32 server);
void tree_link(struct tree *t, u32 server, u32 parent);
void tree_sender(struct tree *t, u32 server, double flow);
void tree_end(struct tree *t);
u32 tree_value(const struct vertex *v);
bool tree_merges(const struct tree *t, u32 vertex);
double tree_traffic(const struct tree *t, double delta);
double tree_output(const struct tree *t, double delta);
double tree_input(const struct tree *t, double delta);
void tree_attach(const struct tree *from, u32 root, u32 by, struct tree *to);
void tree_free(struct tree *t);

static inline bool tree_has(const struct tree *t, u32 server)
{
	return map_get(&t->at, server);
}

#endif /* TOPO_TREE_H */
