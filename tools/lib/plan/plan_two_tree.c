// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Long data by two binary trees: Sanders, Speck, Träff, "Two-tree
 * algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35 (2009).
 *
 * A member in the middle of one binary tree has to send all data twice, and a leaf nothing.  So
 * there are two trees over the members but the root, each for every other segment of plan->radix,
 * and nobody has children in both: a member sends half of the data twice, and receives all of it
 * once.  Unlike spread's, a message is as long as a segment however many members there are.
 *
 * A tree is in order of its labels: label x is as high as its lowest bit, and has those below it on
 * its left and those above it on its right.  Counted from the root, member v has label v in one
 * tree and v + 1 in the other, whose label 1 is nobody; odd labels are leaves.  So both trees
 * combine in order from the root's on; the source's shifted tree is a step less deep where the
 * members are a power of two, and does not keep that order.
 *
 * In a step a member serves both children, and hears from a parent in each tree; schedule and link
 * divide the time between them, so the source's colours, which make that two steps, are not needed.
 */
#include "plan.h"

enum { TREES = 2, NOBODY = 0 };

/**
 * struct two_tree - both trees as one member sees them, members counted from the root, which is 0
 * @n: members but the root
 * @trees: 2, or 1 if there is but one other member
 * @self: ours
 * @deepest: depth of the deepest member, that of the first one being 0
 * @top: of each tree, the first member
 * @parent: ours in each tree; the root of the first one
 * @child: likewise, left and right, or NOBODY
 * @depth: likewise
 */
struct two_tree {
	u32	n;
	u32	trees;
	u32	self;
	u32	deepest;
	u32	top[TREES];
	u32	parent[TREES];
	u32	child[TREES][2];
	u32	depth[TREES];
};

static u32 lowest_bit(u32 x)
{
	return x & -x;
}

/* Of the labels up to @last. */
static u32 top_label(u32 last)
{
	u32 x = 1;

	while (x <= last / 2)
		x *= 2;
	return x;
}

static u32 parent_label(u32 x, u32 last)
{
	u32 bit = lowest_bit(x), up = (x ^ bit) | bit << 1;

	return up <= last ? up : x ^ bit;
}

/* The first label of the right subtree, or 0. */
static u32 right_label(u32 x, u32 last)
{
	u32 d = lowest_bit(x) / 2;

	while (d && x + d > last)
		d /= 2;
	return d ? x + d : 0;
}

static void look_at_tree(struct two_tree *w, u32 tree)
{
	u32 last = w->n + tree, x = w->self + tree, top = top_label(last), left, right, y;

	w->top[tree] = top - tree;
	if (!w->self)
		return;
	w->parent[tree] = x == top ? 0 : parent_label(x, last) - tree;
	for (y = x; y != top; y = parent_label(y, last))
		w->depth[tree]++;
	left = lowest_bit(x) > 1 ? x - lowest_bit(x) / 2 : 0;
	right = right_label(x, last);
	w->child[tree][0] = left ? left - tree : NOBODY;
	w->child[tree][1] = right ? right - tree : NOBODY;
}

static struct two_tree both_trees(const struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, x;
	struct two_tree w = { .n = n - 1, .self = (plan->self + n - plan->root) % n };

	w.trees = w.n > 1 ? TREES : 1;
	look_at_tree(&w, 0);
	if (w.trees > 1)
		look_at_tree(&w, 1);
	for (x = top_label(w.n + w.trees - 1); x > 1; x /= 2)
		w.deepest++;
	return w;
}

static u32 two_tree_place(const struct shuffle_plan *plan, u32 v)
{
	return (plan->root + v) % plan->topo->n;
}

/* The segment that is number @s - @late in a tree, or U32_MAX. */
static u32 segment(const struct shuffle_plan *plan, const struct two_tree *w, u32 tree, u32 s,
		   u32 late)
{
	u32 i = (s - late) * w->trees + tree;

	return s >= late && i < plan->radix ? i : U32_MAX;
}

/* In stroke @s the first members receive a tree's segment @s, their children do in the next. */
static void down_send(struct shuffle_plan *plan, const struct two_tree *w, u32 s, u32 step)
{
	u32 tree, i, block;

	for (tree = 0; tree < w->trees; tree++) {
		block = segment(plan, w, tree, s, w->self ? w->depth[tree] + 1 : 0);
		if (block == U32_MAX)
			continue;
		if (!w->self)
			shuffle_plan_send(plan, step, two_tree_place(plan, w->top[tree]), block,
					  1);
		for (i = 0; i < 2; i++)
			if (w->child[tree][i] != NOBODY)
				shuffle_plan_send(plan, step,
						  two_tree_place(plan, w->child[tree][i]), block,
						  1);
	}
}

static void down_receive(struct shuffle_plan *plan, const struct two_tree *w, u32 s, u32 step)
{
	u32 tree, block;

	for (tree = 0; tree < w->trees && w->self; tree++) {
		block = segment(plan, w, tree, s, w->depth[tree]);
		if (block != U32_MAX)
			shuffle_plan_receive(plan, step, two_tree_place(plan, w->parent[tree]),
					     SHUFFLE_COLL_STORE, block, 1);
	}
}

/* The same backwards: in stroke @s the deepest members send a tree's segment @s. */
static void up_send(struct shuffle_plan *plan, const struct two_tree *w, u32 s, u32 step)
{
	u32 tree, block;

	for (tree = 0; tree < w->trees && w->self; tree++) {
		block = segment(plan, w, tree, s, w->deepest - w->depth[tree]);
		if (block != U32_MAX)
			shuffle_plan_send(plan, step, two_tree_place(plan, w->parent[tree]), block,
					  1);
	}
}

static void up_receive(struct shuffle_plan *plan, const struct two_tree *w, u32 s, u32 step)
{
	u32 tree, i, block;

	for (tree = 0; tree < w->trees; tree++) {
		if (w->self && w->depth[tree] == w->deepest)
			continue;
		block = segment(plan, w, tree, s,
				w->self ? w->deepest - w->depth[tree] - 1 : w->deepest);
		if (block == U32_MAX)
			continue;
		if (!w->self)
			shuffle_plan_receive(plan, step, two_tree_place(plan, w->top[tree]),
					     SHUFFLE_COLL_AFTER, block, 1);
		for (i = 0; i < 2; i++)
			if (w->child[tree][i] != NOBODY)
				shuffle_plan_receive(plan, step,
						     two_tree_place(plan, w->child[tree][i]),
						     i ? SHUFFLE_COLL_AFTER : SHUFFLE_COLL_BEFORE,
						     block, 1);
	}
}

/* Strokes of one direction. */
static u32 strokes(const struct shuffle_plan *plan, const struct two_tree *w)
{
	return (plan->radix + w->trees - 1) / w->trees + w->deepest;
}

/* Up in even steps, down in odd ones: a parent in one tree may be a child in the other, and has one
 * message in a step.  A segment that has arrived at the root goes down in the next step.
 */
static void up_and_down(struct shuffle_plan *plan, const struct two_tree *w)
{
	u32 n = strokes(plan, w), s;

	for (s = 0; s < n + w->deepest; s++) {
		up_send(plan, w, s, 2 * s);
		up_receive(plan, w, s, 2 * s);
		if (s < w->deepest)
			continue;
		down_send(plan, w, s - w->deepest, 2 * s + 1);
		down_receive(plan, w, s - w->deepest, 2 * s + 1);
	}
}

/**
 * shuffle_plan_two_tree() - long data by two binary trees; plan->radix is the number of segments
 * @plan: plan
 *
 * Vectors are combined in order of places, from the root's on.
 */
void shuffle_plan_two_tree(struct shuffle_plan *plan)
{
	const struct two_tree w = both_trees(plan);
	u32 n = strokes(plan, &w), s;

	plan->blocks = plan->radix;
	if (plan->kind == SHUFFLE_COLL_ALLREDUCE) {
		up_and_down(plan, &w);
		return;
	}
	for (s = 0; s < n; s++) {
		if (plan->kind == SHUFFLE_COLL_BROADCAST) {
			down_send(plan, &w, s, s);
			down_receive(plan, &w, s, s);
		} else {
			up_send(plan, &w, s, s);
			up_receive(plan, &w, s, s);
		}
	}
}
