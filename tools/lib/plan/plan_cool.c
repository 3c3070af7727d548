// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * COOL (AlSader): three phases, of which one crosses racks, between their leaders.  P-P: each phase
 * is one step.  B-R: a binomial tree in the rack, recursive doubling between leaders.
 */
#include "plan.h"

/**
 * struct where - what a member knows of itself
 * @rack: its rack
 * @leader: place of the leader there
 * @size: members of the rack
 * @root_leader: place of the leader of the root's rack
 */
struct where {
	u32	rack;
	u32	leader;
	u32	size;
	u32	root_leader;
};

static struct where cool_where(const struct shuffle_plan *plan)
{
	const struct shuffle_topology *t = plan->topo;
	struct where w = { .rack = shuffle_topology_rack(t, plan->self) };

	w.leader = shuffle_topology_leader(t, w.rack);
	w.size = shuffle_topology_size(t, w.rack);
	w.root_leader = shuffle_topology_leader(t, shuffle_topology_rack(t, plan->root));
	return w;
}

/* Do members have blocks of their own? */
static bool by_member(const struct shuffle_plan *plan)
{
	return plan->kind == SHUFFLE_COLL_GATHER || plan->kind == SHUFFLE_COLL_ALLGATHER ||
	       plan->kind == SHUFFLE_COLL_SCATTER;
}

/* The blocks of @count members from @place on. */
static u32 cool_block(const struct shuffle_plan *plan, u32 place)
{
	return by_member(plan) ? place : 0;
}

static u32 cool_blocks(const struct shuffle_plan *plan, u32 count)
{
	return by_member(plan) ? count : plan->blocks;
}

static u8 cool_take(const struct shuffle_plan *plan, u8 combined)
{
	return shuffle_coll_combines(plan->kind) ? combined : SHUFFLE_COLL_STORE;
}

static void members_to_leader(struct shuffle_plan *plan, const struct where *w, u32 step)
{
	u32 i;

	if (plan->self != w->leader) {
		shuffle_plan_send(plan, step, w->leader, cool_block(plan, plan->self),
				  cool_blocks(plan, 1));
		return;
	}
	for (i = 1; i < w->size; i++)
		shuffle_plan_receive(plan, step, w->leader + i, cool_take(plan, SHUFFLE_COLL_AFTER),
				     cool_block(plan, w->leader + i), cool_blocks(plan, 1));
}

static void from_leader(struct shuffle_plan *plan, u32 step, u32 rack, u8 combined)
{
	u32 leader = shuffle_topology_leader(plan->topo, rack);

	shuffle_plan_receive(plan, step, leader, cool_take(plan, combined),
			     cool_block(plan, leader),
			     cool_blocks(plan, shuffle_topology_size(plan->topo, rack)));
}

/* What all other racks have, in an order in which it can be combined. */
static void from_other_leaders(struct shuffle_plan *plan, const struct where *w, u32 step)
{
	u32 i;

	for (i = w->rack + 1; i < plan->topo->racks; i++)
		from_leader(plan, step, i, SHUFFLE_COLL_AFTER);
	for (i = w->rack; i-- > 0;)
		from_leader(plan, step, i, SHUFFLE_COLL_BEFORE);
}

static void leaders_to_root_leader(struct shuffle_plan *plan, const struct where *w, u32 step)
{
	if (plan->self != w->leader)
		return;
	if (plan->self != w->root_leader) {
		shuffle_plan_send(plan, step, w->root_leader, cool_block(plan, w->leader),
				  cool_blocks(plan, w->size));
		return;
	}
	from_other_leaders(plan, w, step);
}

/* Between the root and the leader of its rack. */
static void root_and_leader(struct shuffle_plan *plan, const struct where *w, u32 step, bool up)
{
	u32 from = up ? w->root_leader : plan->root, to = up ? plan->root : w->root_leader;

	if (from == to)
		return;
	if (plan->self == from)
		shuffle_plan_send(plan, step, to, 0, cool_blocks(plan, plan->topo->n));
	else if (plan->self == to)
		shuffle_plan_receive(plan, step, from, SHUFFLE_COLL_STORE, 0,
				     cool_blocks(plan, plan->topo->n));
}

/* Each leader tells all others what its rack has. */
static void between_leaders(struct shuffle_plan *plan, const struct where *w, u32 step)
{
	const struct shuffle_topology *t = plan->topo;
	u32 i, leader;

	if (plan->self != w->leader)
		return;
	for (i = 1; i < t->racks; i++) {
		leader = shuffle_topology_leader(t, (w->rack + i) % t->racks);
		shuffle_plan_send(plan, step, leader, cool_block(plan, w->leader),
				  cool_blocks(plan, w->size));
		shuffle_plan_multicast(plan, SHUFFLE_PLAN_TO_LEADERS);
	}
	from_other_leaders(plan, w, step);
}

/* The root's leader to all leaders: the same to all, or to each what its rack gets. */
static void root_leader_to_leaders(struct shuffle_plan *plan, const struct where *w, u32 step)
{
	const struct shuffle_topology *t = plan->topo;
	u32 i, rack, leader;

	if (plan->self != w->leader)
		return;
	if (plan->self != w->root_leader) {
		shuffle_plan_receive(plan, step, w->root_leader, SHUFFLE_COLL_STORE,
				     cool_block(plan, w->leader), cool_blocks(plan, w->size));
		return;
	}
	for (i = 1; i < t->racks; i++) {
		rack = (w->rack + i) % t->racks;
		leader = shuffle_topology_leader(t, rack);
		shuffle_plan_send(plan, step, leader, cool_block(plan, leader),
				  cool_blocks(plan, shuffle_topology_size(t, rack)));
		if (!by_member(plan))
			shuffle_plan_multicast(plan, SHUFFLE_PLAN_TO_LEADERS);
	}
}

/* A leader to its rack: the same to all, or to each its own. */
static void leader_to_members(struct shuffle_plan *plan, const struct where *w, u32 step)
{
	bool own = plan->kind == SHUFFLE_COLL_SCATTER;
	u32 i, n = plan->topo->n;

	if (plan->self != w->leader) {
		shuffle_plan_receive(plan, step, w->leader, SHUFFLE_COLL_STORE,
				     own ? plan->self : 0, own ? 1 : cool_blocks(plan, n));
		return;
	}
	for (i = 1; i < w->size; i++) {
		shuffle_plan_send(plan, step, w->leader + i, own ? w->leader + i : 0,
				  own ? 1 : cool_blocks(plan, n));
		if (!own)
			shuffle_plan_multicast(plan, SHUFFLE_PLAN_TO_RACK);
	}
}

static void cool_parallel(struct shuffle_plan *plan, const struct where *w)
{
	switch (plan->kind) {
	case SHUFFLE_COLL_REDUCE:
	case SHUFFLE_COLL_GATHER:
		members_to_leader(plan, w, 0);
		leaders_to_root_leader(plan, w, 1);
		root_and_leader(plan, w, 2, true);
		break;
	case SHUFFLE_COLL_BROADCAST:
	case SHUFFLE_COLL_SCATTER:
		root_and_leader(plan, w, 0, false);
		root_leader_to_leaders(plan, w, 1);
		leader_to_members(plan, w, 2);
		break;
	default:	/* barrier, all-gather, all-reduce */
		members_to_leader(plan, w, 0);
		between_leaders(plan, w, 1);
		leader_to_members(plan, w, 2);
	}
}

/* Levels of a binomial tree in the largest rack. */
static u32 levels_in_rack(const struct shuffle_topology *t)
{
	u32 i, most = 0, levels = 0;

	for (i = 0; i < t->racks; i++)
		if (shuffle_topology_size(t, i) > most)
			most = shuffle_topology_size(t, i);
	while (1ULL << levels < most)
		levels++;
	return levels;
}

static void binomial_in_rack(struct shuffle_plan *plan, const struct where *w)
{
	u32 v = plan->self - w->leader, d, step = 0;

	for (d = 1; d < w->size; d *= 2, step++) {
		if (v & d) {
			shuffle_plan_send(plan, step, plan->self - d, 0, plan->blocks);
			return;
		}
		if (v + d < w->size)
			shuffle_plan_receive(plan, step, plan->self + d, SHUFFLE_COLL_AFTER, 0,
					     plan->blocks);
	}
}

static void binomial_doubling(struct shuffle_plan *plan, const struct where *w)
{
	const struct shuffle_plan_group leaders = {
		.n = plan->topo->racks, .self = w->rack, .leaders = true
	};
	u32 racks = plan->topo->racks, step = levels_in_rack(plan->topo), steps = 0, p = 1;

	binomial_in_rack(plan, w);
	while (p <= racks / 2) {
		p *= 2;
		steps++;
	}
	if (p != racks)
		steps += 2;	/* leaders that join in pairs: shuffle_plan_double() */
	if (plan->self == w->leader && racks > 1)
		shuffle_plan_double(plan, &leaders, step);
	leader_to_members(plan, w, step + steps);
}

/**
 * shuffle_plan_cool() - COOL-P-P or COOL-B-R over plan->topo
 * @plan: plan
 */
void shuffle_plan_cool(struct shuffle_plan *plan)
{
	const struct where w = cool_where(plan);

	if (plan->pattern == SHUFFLE_COLL_COOL_BR)
		binomial_doubling(plan, &w);
	else
		cool_parallel(plan, &w);
}
