// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Long data by shuffles: it is spread over all members, and each link
 * carries all of it once or twice, whatever the number of members.
 *
 * Broadcast and reduce: the members but the root have a part each.  The data is sent in
 * plan->radix segments: while the members exchange the parts of one, the next is on its way from
 * the root, or the one before the last is on its way to it.  All-reduce: each member combines a
 * part, and then tells all.  All-gather and reduce-scatter: in one step.  Over racks that do not
 * differ much they are those of plan_racks.c, plan_rack_blocks.c, plan_rack_broadcast.c and
 * plan_rack_reduce.c.
 */
#include "plan.h"

/* The block of a segment that is the part of a member, which is not the root. */
static u32 spread_block(const struct shuffle_plan *plan, u32 segment, u32 place)
{
	return segment * (plan->topo->n - 1) + place - (place > plan->root);
}

/* Others in order: those behind us first, so that not all begin with the same one. */
static u32 spread_other(const struct shuffle_plan *plan, u32 i)
{
	return (plan->self + i) % plan->topo->n;
}

static void spread_from_root(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, self = plan->self, s, i, peer;

	plan->blocks = plan->radix * (n - 1);
	for (s = 0; s <= plan->radix; s++) {
		if (self == plan->root) {
			for (i = 1; i < n && s < plan->radix; i++) {
				peer = spread_other(plan, i);
				shuffle_plan_send(plan, s, peer, spread_block(plan, s, peer), 1);
			}
			continue;
		}
		for (i = 1; i < n && s; i++) {
			peer = spread_other(plan, i);
			if (peer != plan->root)
				shuffle_plan_send(plan, s, peer, spread_block(plan, s - 1, self),
						  1);
		}
		if (s < plan->radix)
			shuffle_plan_receive(plan, s, plan->root, SHUFFLE_COLL_STORE,
					     spread_block(plan, s, self), 1);
		for (i = 1; i < n && s; i++) {
			peer = spread_other(plan, i);
			if (peer != plan->root)
				shuffle_plan_receive(plan, s, peer, SHUFFLE_COLL_STORE,
						     spread_block(plan, s - 1, peer), 1);
		}
	}
}

/* Everybody's contribution to our part of a segment, in order of places. */
static void spread_combine(struct shuffle_plan *plan, u32 step, u32 block)
{
	u32 n = plan->topo->n, self = plan->self, i;

	for (i = self + 1; i < n; i++)
		shuffle_plan_receive(plan, step, i, SHUFFLE_COLL_AFTER, block, 1);
	for (i = self; i-- > 0;)
		shuffle_plan_receive(plan, step, i, SHUFFLE_COLL_BEFORE, block, 1);
}

/* What a member has combined leaves two steps later, not one: so a step needs nothing of the one
 * before, and can begin while that is still waited for.
 */
static void spread_to_root(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, self = plan->self, s, i, peer;

	plan->blocks = plan->radix * (n - 1);
	for (s = 0; s < plan->radix + 2; s++) {
		for (i = 1; i < n; i++) {
			peer = spread_other(plan, i);
			if (peer != plan->root && s < plan->radix)
				shuffle_plan_send(plan, s, peer, spread_block(plan, s, peer), 1);
			if (peer == plan->root && s > 1)
				shuffle_plan_send(plan, s, peer, spread_block(plan, s - 2, self),
						  1);
		}
		for (i = 1; i < n && s > 1 && self == plan->root; i++) {
			peer = spread_other(plan, i);
			shuffle_plan_receive(plan, s, peer, SHUFFLE_COLL_STORE,
					     spread_block(plan, s - 2, peer), 1);
		}
		if (self != plan->root && s < plan->radix)
			spread_combine(plan, s, spread_block(plan, s, self));
	}
}

static void spread_all(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, self = plan->self, i, peer;

	plan->blocks = n;
	for (i = 1; i < n; i++) {
		peer = spread_other(plan, i);
		shuffle_plan_send(plan, 0, peer, peer, 1);
	}
	spread_combine(plan, 0, self);
	for (i = 1; i < n; i++) {
		peer = spread_other(plan, i);
		shuffle_plan_send(plan, 1, peer, self, 1);
	}
	for (i = 1; i < n; i++) {
		peer = spread_other(plan, i);
		shuffle_plan_receive(plan, 1, peer, SHUFFLE_COLL_STORE, peer, 1);
	}
}

/**
 * shuffle_plan_spread() - spread long data over all members; plan->radix is the number of segments
 * @plan: plan
 */
void shuffle_plan_spread(struct shuffle_plan *plan)
{
	bool racks = shuffle_topology_even(plan->topo);

	switch (plan->kind) {
	case SHUFFLE_COLL_BROADCAST:
		if (!racks || !shuffle_plan_racks_broadcast(plan))
			spread_from_root(plan);
		break;
	case SHUFFLE_COLL_REDUCE:
		if (!racks || !shuffle_plan_racks_reduce(plan))
			spread_to_root(plan);
		break;
	case SHUFFLE_COLL_ALLREDUCE:
		if (racks)
			shuffle_plan_racks(plan);
		else
			spread_all(plan);
		break;
	case SHUFFLE_COLL_ALLGATHER:
		if (racks)
			shuffle_plan_racks_gather(plan);
		else
			shuffle_plan_flat(plan);
		break;
	default:	/* reduce-scatter */
		if (!racks || !shuffle_plan_racks_scatter(plan))
			shuffle_plan_flat(plan);
	}
}
