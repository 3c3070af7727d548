// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Long all-gather and reduce-scatter over racks: a block crosses to another
 * rack once, and not once for each member there.
 *
 * All-gather.  In step 0 each member tells its rack, and one member of every other rack, its agent
 * there, of its block.  In the steps after that agents tell their racks, those of one rack's blocks
 * in each, while the next block crosses, if a rack has more members than there are agents.
 * So a member's link carries each block once, as without racks.
 *
 * Reduce-scatter is the same backwards: agents combine what their rack has for a member.  In the
 * last step all of that reaches the member, who combines it in order of places; therefore all racks
 * must have the same size.
 */
#include "plan.h"

/* Step in which a member's block crosses to a rack of @size members. */
static u32 cross_step(const struct shuffle_plan *plan, u32 index, u32 size)
{
	return index / size * (plan->topo->racks - 1);
}

/* The place whose block the agent with @index in our rack tells it in @step, or U32_MAX. */
static u32 told_block(const struct shuffle_plan *plan, const struct shuffle_seat *s, u32 step,
		      u32 index)
{
	u32 others = plan->topo->racks - 1, rack, j;

	if (!step)
		return s->leader + index;
	rack = (s->rack + 1 + (step - 1) % others) % plan->topo->racks;
	j = index + (step - 1) / others * s->size;
	if (j >= shuffle_topology_size(plan->topo, rack))
		return U32_MAX;
	return shuffle_topology_leader(plan->topo, rack) + j;
}

static u32 last_step(const struct shuffle_topology *t)
{
	u32 smallest, largest;

	shuffle_topology_sizes(t, &smallest, &largest);
	return (largest + smallest - 1) / smallest * (t->racks - 1);
}

static void gather_send(struct shuffle_plan *plan, const struct shuffle_seat *s, u32 step)
{
	const struct shuffle_topology *t = plan->topo;
	u32 block = told_block(plan, s, step, s->index), i, rack, size;

	for (i = 1; i < s->size && block != U32_MAX; i++)
		shuffle_plan_send(plan, step, s->leader + (s->index + i) % s->size, block, 1);
	for (i = 1; i < t->racks; i++) {
		rack = (s->rack + i) % t->racks;
		size = shuffle_topology_size(t, rack);
		if (cross_step(plan, s->index, size) == step)
			shuffle_plan_send(plan, step, shuffle_topology_leader(t, rack) +
					  s->index % size, plan->self, 1);
	}
}

static void gather_receive(struct shuffle_plan *plan, const struct shuffle_seat *s, u32 step)
{
	const struct shuffle_topology *t = plan->topo;
	u32 i, mate, rack, j, block;

	for (i = 1; i < s->size; i++) {
		mate = (s->index + i) % s->size;
		block = told_block(plan, s, step, mate);
		if (block != U32_MAX)
			shuffle_plan_receive(plan, step, s->leader + mate, SHUFFLE_COLL_STORE,
					     block, 1);
	}
	if (step % (t->racks - 1))
		return;
	j = s->index + step / (t->racks - 1) * s->size;
	for (i = 1; i < t->racks; i++) {
		rack = (s->rack + i) % t->racks;
		block = shuffle_topology_leader(t, rack) + j;
		if (j < shuffle_topology_size(t, rack))
			shuffle_plan_receive(plan, step, block, SHUFFLE_COLL_STORE, block, 1);
	}
}

/* What gather_receive() receives is sent here. */
static void scatter_send(struct shuffle_plan *plan, const struct shuffle_seat *s, u32 step,
			 u32 back)
{
	const struct shuffle_topology *t = plan->topo;
	u32 i, mate, rack, place;

	for (i = 1; i < s->size; i++) {
		mate = (s->index + i) % s->size;
		shuffle_plan_send(plan, step, s->leader + mate, told_block(plan, s, back, mate), 1);
	}
	for (i = 1; i < t->racks && !back; i++) {
		rack = (s->rack + i) % t->racks;
		place = shuffle_topology_leader(t, rack) + s->index;
		shuffle_plan_send(plan, step, place, place, 1);
	}
}

static void scatter_receive(struct shuffle_plan *plan, const struct shuffle_seat *s, u32 step,
			    u32 back)
{
	const struct shuffle_topology *t = plan->topo;
	u32 block = told_block(plan, s, back, s->index), i;

	for (i = s->index + 1; i < s->size; i++)
		shuffle_plan_receive(plan, step, s->leader + i, SHUFFLE_COLL_AFTER, block, 1);
	for (i = s->index; i-- > 0;)
		shuffle_plan_receive(plan, step, s->leader + i, SHUFFLE_COLL_BEFORE, block, 1);
	if (back)
		return;
	for (i = s->rack + 1; i < t->racks; i++)
		shuffle_plan_receive(plan, step, shuffle_topology_leader(t, i) + s->index,
				     SHUFFLE_COLL_AFTER, block, 1);
	for (i = s->rack; i-- > 0;)
		shuffle_plan_receive(plan, step, shuffle_topology_leader(t, i) + s->index,
				     SHUFFLE_COLL_BEFORE, block, 1);
}

/**
 * shuffle_plan_racks_gather() - all-gather over plan->topo, of which there are several racks
 * @plan: plan
 */
void shuffle_plan_racks_gather(struct shuffle_plan *plan)
{
	const struct shuffle_seat s = shuffle_topology_seat(plan->topo, plan->self);
	u32 step, last = last_step(plan->topo);

	for (step = 0; step <= last; step++) {
		gather_send(plan, &s, step);
		gather_receive(plan, &s, step);
	}
}

/**
 * shuffle_plan_racks_scatter() - reduce-scatter over plan->topo, of which there are several racks
 * @plan: plan
 *
 * Vectors are combined in order of places.
 *
 * Return: false, and nothing is planned, unless all racks have the same size.
 */
bool shuffle_plan_racks_scatter(struct shuffle_plan *plan)
{
	const struct shuffle_seat s = shuffle_topology_seat(plan->topo, plan->self);
	u32 step, last = last_step(plan->topo);

	if (last != plan->topo->racks - 1)
		return false;
	for (step = 0; step <= last; step++) {
		scatter_send(plan, &s, step, last - step);
		scatter_receive(plan, &s, step, last - step);
	}
	return true;
}
