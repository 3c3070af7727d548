/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of shuffle-plan on a BCube of two levels, and what their links carry. */
#ifndef AGG_TREE_H
#define AGG_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define AGG_TREES	64
#define AGG_SERVERS	64

/**
 * struct agg_tree - one receiver's
 * @root: the receiver
 * @parent: of each server; -1: it has none, or takes no part
 * @value: children, and one more for a sender; 0: takes no part
 */
struct agg_tree {
	unsigned int root;
	int parent[AGG_SERVERS];
	unsigned int value[AGG_SERVERS];
};

/**
 * struct agg_trees - of a plan
 * @n: how many
 * @servers: of the topology
 * @tree: them
 */
struct agg_trees {
	unsigned int n, servers;
	struct agg_tree tree[AGG_TREES];
};

/* Read a table, or end. */
void agg_read(struct agg_trees *t, const char *path, unsigned int servers);

bool agg_in(const struct agg_tree *t, unsigned int server);
unsigned int agg_children(const struct agg_tree *t, unsigned int server);
bool agg_sends(const struct agg_tree *t, unsigned int server);
/* Senders, but for the receiver itself. */
unsigned int agg_senders(const struct agg_tree *t);
/* Records that a server sends to its parent, if senders have so many of which delta are in no other
 * sender's flow.
 */
uint64_t agg_flow(const struct agg_tree *t, unsigned int server, uint64_t records, double delta);

/* The bytes of the link that carries most, and a round trip for each hop of the deepest tree: half
 * of one is the least, so this may be too much by two microseconds a hop.
 */
double agg_bound_ns(const struct agg_trees *t, uint64_t records, double delta);

/* The same if nothing is merged: every sender's records go to the receiver the way of a file with
 * lines "FROM TO [BETWEEN]", as bcube.sh prints it, or end.
 */
double agg_none_bound_ns(const struct agg_trees *t, uint64_t records, const char *ways);

#endif /* AGG_TREE_H */
