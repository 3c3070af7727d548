/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topologies without labels: servers and switches, joined by links. */
#ifndef TOPO_GRAPH_H
#define TOPO_GRAPH_H

#include "bcube.h"
#include "util.h"

#define GRAPH_MAX_NODES	131072U
#define GRAPH_MAX_LINKS	1048576U
#define GRAPH_MAX_NAME	63U

/**
 * struct graph - servers first, then switches; links have no direction
 * @name: of each node
 * @named: hash of names: node + 1, or 0
 * @servers: nodes below are servers
 * @nodes: servers and switches
 * @end: two of each link
 * @links: how many
 * @first: where in @to and @by a node's links begin; one more than nodes
 * @to: the node at the other end
 * @by: the link
 * @far: room for one search: distance from where it began, NONE: not seen
 * @from: room for one search: index in @to by which a node was found
 * @queue: room for one search: nodes in the order in which they were found
 * @found: nodes in @queue
 * @hop: that search did not go beyond other servers
 */
struct graph {
	char	(*name)[GRAPH_MAX_NAME + 1];
	u32	*named;
	u32	name_slots;
	u32	servers;
	u32	nodes;
	u32	(*end)[2];
	u32	links;
	u32	*first;
	u32	*to;
	u32	*by;
	u32	*far;
	u32	*from;
	u32	*queue;
	u32	found;
	bool	hop;
};

struct graph *graph_read(const char *path);
struct graph *graph_racks(u32 racks, u32 hosts);
struct graph *graph_cube(const struct bcube *c);
u32 graph_cut(struct graph *g, u32 node, u32 other);
u32 graph_find(const struct graph *g, const char *name);
void graph_search(struct graph *g, u32 from, bool hop);
void graph_free(struct graph *g);

/* The node from which a search found this one. */
static inline u32 graph_before(const struct graph *g, u32 node)
{
	u32 link = g->by[g->from[node]];

	return g->end[link][0] == node ? g->end[link][1] : g->end[link][0];
}

#endif /* TOPO_GRAPH_H */
