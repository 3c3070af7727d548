// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Trees.  They are built of places counted from the root: that one is 0.
 * In a k-nomial tree a member at a distance d from its parent has all that is less than d further.
 */
#include "plan.h"

static u32 tree_least(u32 a, u32 b)
{
	return a < b ? a : b;
}

static u32 from_root(const struct shuffle_plan *plan, u32 place)
{
	u32 n = plan->topo->n;

	return (place + n - plan->root) % n;
}

static u32 tree_place(const struct shuffle_plan *plan, u32 v)
{
	return (plan->root + v) % plan->topo->n;
}

/* What goes up or down an edge to the subtree of the @size members from @v on. */
static u32 subtree_blocks(const struct shuffle_plan *plan, u32 size)
{
	if (plan->kind == SHUFFLE_COLL_GATHER || plan->kind == SHUFFLE_COLL_SCATTER)
		return size;
	return plan->blocks;
}

static u32 subtree_block(const struct shuffle_plan *plan, u32 v)
{
	if (plan->kind == SHUFFLE_COLL_GATHER || plan->kind == SHUFFLE_COLL_SCATTER)
		return tree_place(plan, v);
	return 0;
}

static u8 tree_take(const struct shuffle_plan *plan)
{
	return shuffle_coll_combines(plan->kind) ? SHUFFLE_COLL_AFTER : SHUFFLE_COLL_STORE;
}

static u32 tree_levels(u32 n, u32 radix)
{
	u32 i = 0, d;

	for (d = 1; d < n; d *= radix)
		i++;
	return i;
}

/* To the root: from step @step on.  Returns the number of steps. */
static u32 tree_up(struct shuffle_plan *plan, u32 radix, u32 step)
{
	u32 n = plan->topo->n, v = from_root(plan, plan->self), j, size, d, child;

	for (d = 1; d < n; d *= radix, step++) {
		if (v / d % radix) {
			size = tree_least(n - v, d);
			shuffle_plan_send(plan, step, tree_place(plan, v - v / d % radix * d),
					  subtree_block(plan, v), subtree_blocks(plan, size));
			break;
		}
		for (j = 1; j < radix; j++) {
			child = v + j * d;
			if (child >= n)
				break;
			size = tree_least(n - child, d);
			shuffle_plan_receive(plan, step, tree_place(plan, child), tree_take(plan),
					     subtree_block(plan, child),
					     subtree_blocks(plan, size));
		}
	}
	return tree_levels(n, radix);
}

/* From the root: the same edges, the widest first. */
static u32 tree_down(struct shuffle_plan *plan, u32 radix, u32 step)
{
	u32 n = plan->topo->n, v = from_root(plan, plan->self), total = tree_levels(n, radix), i, j;
	u32 d = 1, child;

	for (i = 1; i < total; i++)
		d *= radix;
	for (i = 0; i < total; i++, d /= radix) {
		if (v % d)
			continue;
		if (v / d % radix) {
			shuffle_plan_receive(plan, step + i,
					     tree_place(plan, v - v / d % radix * d),
					     SHUFFLE_COLL_STORE, subtree_block(plan, v),
					     subtree_blocks(plan, tree_least(n - v, d)));
			continue;
		}
		for (j = 1; j < radix; j++) {
			child = v + j * d;
			if (child >= n)
				break;
			shuffle_plan_send(plan, step + i, tree_place(plan, child),
					  subtree_block(plan, child),
					  subtree_blocks(plan, tree_least(n - child, d)));
		}
	}
	return total;
}

static void k_nomial(struct shuffle_plan *plan, u32 radix)
{
	u32 step = 0;

	switch (plan->kind) {
	case SHUFFLE_COLL_BROADCAST:
	case SHUFFLE_COLL_SCATTER:
		tree_down(plan, radix, 0);
		break;
	case SHUFFLE_COLL_GATHER:
	case SHUFFLE_COLL_REDUCE:
		tree_up(plan, radix, 0);
		break;
	default:	/* barrier, all-reduce */
		step = tree_up(plan, radix, 0);
		tree_down(plan, radix, step);
	}
}

/**
 * shuffle_plan_tree() - k-nomial tree of plan->radix
 * @plan: plan
 */
void shuffle_plan_tree(struct shuffle_plan *plan)
{
	k_nomial(plan, plan->radix);
}

/* Everybody to everybody: block b of the messages, or our own. */
static void all_to_all(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, self = plan->self, i, peer;
	bool scatters = plan->kind == SHUFFLE_COLL_REDUCE_SCATTER;
	bool gathers = plan->kind == SHUFFLE_COLL_ALLGATHER;

	for (i = 1; i < n; i++) {
		peer = (self + i) % n;
		shuffle_plan_send(plan, 0, peer, scatters ? peer : gathers ? self : 0,
				  scatters || gathers ? 1 : plan->blocks);
	}
	/* what is combined is so in order of places: those behind us, then those before */
	for (i = self + 1; i < n; i++)
		shuffle_plan_receive(plan, 0, i,
				     gathers ? SHUFFLE_COLL_STORE : SHUFFLE_COLL_AFTER,
				     scatters ? self : gathers ? i : 0,
				     scatters || gathers ? 1 : plan->blocks);
	for (i = self; i-- > 0;)
		shuffle_plan_receive(plan, 0, i, gathers ? SHUFFLE_COLL_STORE :
							   SHUFFLE_COLL_BEFORE,
				     scatters ? self : gathers ? i : 0,
				     scatters || gathers ? 1 : plan->blocks);
}

/**
 * shuffle_plan_flat() - one step: everybody talks to the root, or to everybody
 * @plan: plan
 */
void shuffle_plan_flat(struct shuffle_plan *plan)
{
	if (shuffle_coll_has_root(plan->kind))
		k_nomial(plan, plan->topo->n);
	else
		all_to_all(plan);
}

/**
 * shuffle_plan_chain() - each member hands on to the next, in plan->radix segments
 * @plan: plan
 *
 * While a member sends a segment to the next, the following one comes from the one before.
 */
void shuffle_plan_chain(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, v = from_root(plan, plan->self), s, first;
	bool down = plan->kind == SHUFFLE_COLL_BROADCAST;
	u32 to = tree_place(plan, down ? v + 1 : v + n - 1);
	u32 from = tree_place(plan, down ? v + n - 1 : v + 1);
	bool sends = down ? v + 1 < n : v, receives = down ? v : v + 1 < n;

	plan->blocks = plan->radix;
	/* the step in which our first segment leaves */
	first = down ? v : n - 1 - v;
	for (s = 0; s <= plan->radix; s++) {
		if (sends && s)
			shuffle_plan_send(plan, first + s - 1, to, s - 1, 1);
		if (receives && s < plan->radix)
			shuffle_plan_receive(plan, first + s - 1, from, tree_take(plan), s, 1);
	}
}
