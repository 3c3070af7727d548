/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shuffle: senders, receivers, and the ways to plan it. */
#ifndef TOPO_SHUFFLE_H
#define TOPO_SHUFFLE_H

#include "../workload/rng.h"
#include "topo.h"

#define SHUFFLE_MAX_MEMBERS	16384U
#define SHUFFLE_MAX_DELTAS	32U

enum method {
	METHOD_NONE, METHOD_UNICAST, METHOD_KMB, METHOD_IRS, METHOD_SRS, METHOD_EXACT, METHODS,
};

enum irs_mode { IRS_POST, IRS_PRE, IRS_INTER, IRS_AUTO };
enum objective { OBJECTIVE_COST, OBJECTIVE_LINKS };
enum paths { PATHS_RANDOM, PATHS_ROTATE };

extern const char *const method_names[METHODS + 1];

/**
 * struct shuffle - what is to be planned
 * @topo: where
 * @sender: servers, in order
 * @flow: of each sender
 * @senders: how many
 * @receiver: servers, in the order in which they were given
 * @receivers: how many
 * @delta: aggregation ratios for which costs are computed; the first counts in decisions
 * @deltas: how many
 * @irs: what IRS chooses routing symbols by
 * @objective: of SRS
 * @entry: of SRS: the server at which a group is entered; NONE: the best
 * @paths: which of the shortest paths unicast chooses from
 * @children_only: costs are those of section 4.1's text: see tree_merges()
 * @refine: change trees of IRS and SRS by refine_tree()
 * @seed: of what is random
 */
struct shuffle {
	struct topo	*topo;
	u32		*sender;
	double		*flow;
	u32		senders;
	u32		*receiver;
	u32		receivers;
	double		delta[SHUFFLE_MAX_DELTAS];
	u32		deltas;
	enum irs_mode	irs;
	enum objective	objective;
	u32		entry;
	enum paths	paths;
	bool		children_only;
	bool		refine;
	u64		seed;
};

/**
 * struct srs_group - receivers that share a tree
 * @receiver: them; the head is the first
 * @n: how many
 * @tree_cost: of each receiver's own tree
 * @cost: of the group if it is entered at that receiver
 * @separate: cost of trees of their own
 * @entry: index of the chosen one; NONE: they do not share
 */
struct srs_group {
	u32	*receiver;
	u32	n;
	double	*tree_cost;
	double	*cost;
	double	separate;
	u32	entry;
};

/**
 * struct totals - of all trees of a shuffle
 * @cost: sum over links of what they carry, for each delta
 * @flow_cost: the same without aggregation
 * @links: that carry anything, in either direction
 * @aggregators: servers, but for receivers, at which flows meet in any tree
 * @input: what receivers get, for each delta
 * @vertices: of all trees
 * @depth: of the deepest
 * @trees: how many
 * @shared: of these, trees that are another one's
 */
struct totals {
	double	cost[SHUFFLE_MAX_DELTAS];
	double	input[SHUFFLE_MAX_DELTAS];
	u64	links;
	u64	aggregators;
	u64	vertices;
	u32	depth;
	u32	trees;
	u32	shared;
};

/**
 * struct planner - room to plan in, and who is told
 * @s: the shuffle
 * @tree: the tree that is being made
 * @entry: of SRS: of the entry
 * @used: links of all trees
 * @met: aggregators of all trees
 * @group: of SRS
 * @groups: how many
 * @irs: room of irs()
 * @each: called with every finished tree, unless NULL
 * @arg: for @each
 * @progress: called after every tree, unless NULL, with how many of how many are done
 */
struct planner {
	const struct shuffle	*s;
	struct tree		tree;
	struct tree		entry;
	struct links		used;
	struct links		met;
	struct srs_group	*group;
	u32			groups;
	struct irs		*irs;
	void			(*each)(void *arg, struct tree *t);
	void			*arg;
	void			(*progress)(enum method m, u32 done, u32 all);
};

void plan(struct planner *p, enum method m, struct totals *sum);
void plan_tree(struct planner *p, enum method m, u32 receiver, struct tree *t);
void plan_account(struct planner *p, struct tree *t, struct totals *sum);
void plan_senders(const struct shuffle *s, struct tree *t);
void planner_free(struct planner *p);
const char *method_refused(const struct shuffle *s, enum method m);

/* One tree each, to plan_senders() and tree_end(). */
void irs_tree(struct planner *p, u32 receiver, struct tree *t);
void irs_free(struct irs *w);
void refine_tree(const struct shuffle *s, struct tree *t);
void kmb_tree(const struct shuffle *s, u32 receiver, struct tree *t);
void unicast_tree(const struct shuffle *s, u32 receiver, struct tree *t);
void unicast_paths(const struct shuffle *s, u32 receiver, struct links *used, double *cost);
void exact_tree(const struct shuffle *s, u32 receiver, struct tree *t);
void srs_groups(struct planner *p);
void srs_free(struct planner *p);

#define EXACT_MAX_MEMBERS	13U
#define EXACT_MAX_SERVERS	4096U
#define EXACT_MAX_WORK		8000000000ULL	/* 3^members times servers */

#endif /* TOPO_SHUFFLE_H */
