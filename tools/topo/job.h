/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked for, and what came of it. */
#ifndef TOPO_JOB_H
#define TOPO_JOB_H

#include "way.h"
#include "plan_table.h"
#include "shuffle.h"

enum bloom_form { BLOOM_EXACT, BLOOM_PAPER, BLOOM_SWITCH };

/**
 * struct bloom_stats - of the filters of a plan
 * @paths: ways from a server that sends a flow of its own, or a merged one, to the receiver
 * @hops: of all
 * @exact: ways for which there is a salt; in the source's form, those without a mistake
 * @wrong: the source's form: links by which packets go wrong, over all ways
 * @salts: tried, over all ways
 * @most: for one way
 */
struct bloom_stats {
	u64	paths;
	u64	hops;
	u64	exact;
	u64	wrong;
	u64	salts;
	u32	most;
};

/**
 * struct switch_stats - of filters in servers and switches
 * @ports: interfaces that a tree leaves by
 * @items: trees, over all of these
 * @most: of one
 * @tests: of a tree that comes and does not leave there
 * @wrong: of these, so many test positive
 * @expected: as many as that by (1 - e^(-h n / m))^h
 */
struct switch_stats {
	u64	ports;
	u64	items;
	u32	most;
	u64	tests;
	u64	wrong;
	double	expected;
};

/* A tree leaves by an interface. */
struct switch_hop {
	u64	port;
	u32	tree;
};

/**
 * struct switch_filters - what they will have
 * @hop: of all trees
 * @n: how many
 * @room: so many there is room for
 * @trees: until now
 */
struct switch_filters {
	struct switch_hop	*hop;
	u32			n;
	u32			room;
	u32			trees;
};

/**
 * struct result - what came of a method
 * @sum: of the last run
 * @cost: mean over runs, for each delta
 * @input: mean over runs, for each delta
 * @links: mean over runs
 * @aggregators: mean over runs
 * @groups: of SRS, mean over runs
 * @shared: trees that are another one's, mean over runs
 * @depth: of the deepest tree
 * @compared: runs whose cost was compared with the optimum
 * @ratio: of the two, mean
 * @worst: the largest
 * @bloom: of the filters
 * @in_switch: of those in servers and switches
 */
struct result {
	struct totals	sum;
	double		cost[SHUFFLE_MAX_DELTAS];
	double		input[SHUFFLE_MAX_DELTAS];
	double		links;
	double		aggregators;
	double		groups;
	double		shared;
	u32		depth;
	u32		compared;
	double		ratio;
	double		worst;
	struct bloom_stats bloom;
	struct switch_stats in_switch;
};

/**
 * struct job - everything that the command line says
 * @topo: the topology
 * @shuffle: the shuffle; of random ones the last
 * @random_senders: random members; 0: they are given
 * @random_receivers: as many
 * @runs: with other random members
 * @seed: of everything random
 * @method: which are wanted
 * @methods: how many
 * @result: of each method, by enum method
 * @check: a table to check, instead of all that
 * @ways: with @check, a file, or NULL
 * @overlay: likewise
 * @json: file, or NULL
 * @table: file, or NULL
 * @svg: file, or NULL
 * @svg_tree: the receiver whose tree is drawn; NONE: the first
 * @summary: JSON without trees
 * @quiet: no text
 * @progress: show it
 * @bloom: bits of filters; 0: none
 * @form: of filters
 */
struct job {
	struct topo	topo;
	struct shuffle	shuffle;
	u32		random_senders;
	u32		random_receivers;
	u32		runs;
	u64		seed;
	bool		method[METHODS];
	u32		methods;
	struct result	result[METHODS];
	const char	*check;
	const char	*ways;
	const char	*overlay;
	const char	*json;
	const char	*table;
	const char	*svg;
	u32		svg_tree;
	bool		summary;
	bool		quiet;
	bool		progress;
	u32		bloom;
	enum bloom_form	form;
};

void options_parse(struct job *j, int argc, char **argv);
void members_list(struct shuffle *s, const char *text, bool receivers, double flow);
void members_random(struct job *j, u32 run);
void members_end(struct shuffle *s);

void job_run(struct job *j);
void job_check(struct job *j);

void output_text(const struct job *j, FILE *f);
void json_begin(const struct job *j, FILE *f);
void json_trees_begin(FILE *f);
void json_tree(const struct job *j, const struct tree *t, bool more, FILE *f);
void json_trees_end(FILE *f);
void json_results(const struct job *j, const struct planner *p, FILE *f);
void json_end(FILE *f);
void plan_svg(const struct topo *topo, const struct tree *t, enum method m, FILE *f);

u32 filter_path(const struct tree *t, u32 vertex, u32 *path);
bool filter_sends(const struct tree *t, u32 vertex);
void overlay_tree(const struct job *j, const struct tree *t, FILE *f);
void switch_filters_tree(struct switch_filters *s, const struct bcube *c, const struct tree *t);
void switch_filters_end(struct switch_filters *s, u32 bits, struct switch_stats *sum);
void filter_tree(const struct job *j, const struct tree *t, struct bloom_stats *sum);

#endif /* TOPO_JOB_H */
