// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * A long all-reduce over racks.  The vector has as many parts as the
 * smallest rack has members, and each part an owner in every rack.  Four phases:
 *
 *	0  owners combine what their rack has
 *	1  owners of a part combine what racks have, each a block of it,
 *	2  and tell each other
 *	3  owners tell their rack
 *
 * So a rack's trunk carries the vector twice, and not once for each member; a member's link
 * carries no more than without racks if they have the same size.  The vector goes in plan->radix
 * segments: while one crosses racks, another is in phase 0 or 3, whose messages go to other
 * members.
 */
#include "plan.h"

enum { PHASES = 4 };

/**
 * struct shares - who has which part of the vector, as one member sees it
 * @at: where the member is; its number there is that of the part that it owns, if below @parts
 * @parts: of the vector; each has a block for every rack
 */
struct shares {
	struct shuffle_seat	at;
	u32			parts;
};

static struct shares racks_shares(const struct shuffle_plan *plan)
{
	struct shares w = { .at = shuffle_topology_seat(plan->topo, plan->self) };
	u32 largest;

	shuffle_topology_sizes(plan->topo, &w.parts, &largest);
	return w;
}

/* The step of a phase of a segment.  Two of one step are of different segments, and one of them
 * crosses racks.
 */
static u32 step_of(u32 segment, u32 phase)
{
	if (phase)
		return 2 * segment + phase;
	return segment < 2 ? segment : 2 * segment - 2;
}

/* The first block of a part in a segment. */
static u32 block_of(const struct shuffle_plan *plan, const struct shares *w, u32 segment, u32 part)
{
	return (segment * w->parts + part) * plan->topo->racks;
}

static u32 owner(const struct shuffle_plan *plan, const struct shares *w, u32 rack)
{
	return shuffle_topology_leader(plan->topo, rack) + w->at.index;
}

static void send_phase(struct shuffle_plan *plan, const struct shares *w, u32 segment, u32 phase)
{
	u32 racks = plan->topo->racks, step = step_of(segment, phase), i, part, rack;
	u32 own = block_of(plan, w, segment, w->at.index);

	/* each part to its owner: not all members begin with the same one */
	for (i = 1; i <= w->parts && phase == 0; i++) {
		part = (w->at.index + i) % w->parts;
		if (part != w->at.index)
			shuffle_plan_send(plan, step, w->at.leader + part,
					  block_of(plan, w, segment, part), racks);
	}
	if (w->at.index >= w->parts)
		return;
	for (i = 1; i < racks && (phase == 1 || phase == 2); i++) {
		rack = (w->at.rack + i) % racks;
		shuffle_plan_send(plan, step, owner(plan, w, rack),
				  own + (phase == 1 ? rack : w->at.rack), 1);
	}
	for (i = 1; i < w->at.size && phase == 3; i++)
		shuffle_plan_send(plan, step, w->at.leader + (w->at.index + i) % w->at.size, own,
				  racks);
}

/* What members from @first on have of our part, in order of places. */
static void combine_rack(struct shuffle_plan *plan, const struct shares *w, u32 step, u32 block)
{
	u32 racks = plan->topo->racks, i;

	for (i = w->at.index + 1; i < w->at.size; i++)
		shuffle_plan_receive(plan, step, w->at.leader + i, SHUFFLE_COLL_AFTER, block,
				     racks);
	for (i = w->at.index; i-- > 0;)
		shuffle_plan_receive(plan, step, w->at.leader + i, SHUFFLE_COLL_BEFORE, block,
				     racks);
}

static void combine_owners(struct shuffle_plan *plan, const struct shares *w, u32 step, u32 block)
{
	u32 i;

	for (i = w->at.rack + 1; i < plan->topo->racks; i++)
		shuffle_plan_receive(plan, step, owner(plan, w, i), SHUFFLE_COLL_AFTER, block, 1);
	for (i = w->at.rack; i-- > 0;)
		shuffle_plan_receive(plan, step, owner(plan, w, i), SHUFFLE_COLL_BEFORE, block, 1);
}

static void receive_phase(struct shuffle_plan *plan, const struct shares *w, u32 segment, u32 phase)
{
	u32 racks = plan->topo->racks, step = step_of(segment, phase), i, part, rack;
	u32 own = block_of(plan, w, segment, w->at.index);
	bool is_owner = w->at.index < w->parts;

	if (phase == 0 && is_owner)
		combine_rack(plan, w, step, own);
	if (phase == 1 && is_owner)
		combine_owners(plan, w, step, own + w->at.rack);
	for (i = 1; i < racks && phase == 2 && is_owner; i++) {
		rack = (w->at.rack + i) % racks;
		shuffle_plan_receive(plan, step, owner(plan, w, rack), SHUFFLE_COLL_STORE,
				     own + rack, 1);
	}
	for (i = 1; i <= w->parts && phase == 3; i++) {
		part = (w->at.index + i) % w->parts;
		if (part != w->at.index)
			shuffle_plan_receive(plan, step, w->at.leader + part, SHUFFLE_COLL_STORE,
					     block_of(plan, w, segment, part), racks);
	}
}

/* The phases of a step, of whatever segments. */
static void all_phases(struct shuffle_plan *plan, const struct shares *w, u32 step,
		       void (*f)(struct shuffle_plan *plan, const struct shares *w, u32 segment,
				 u32 phase))
{
	/* others than these have no phase in the step: see step_of() */
	u32 s = step / 2 < 2 ? 0 : step / 2 - 2, end = step / 2 + 2, phase;

	for (; s < end && s < plan->radix; s++)
		for (phase = 0; phase < PHASES; phase++)
			if (step_of(s, phase) == step)
				f(plan, w, s, phase);
}

/**
 * shuffle_plan_racks() - all-reduce over plan->topo, several racks that do not differ much;
 * plan->radix is the number of segments
 * @plan: plan
 *
 * Vectors are combined in order of places.
 */
void shuffle_plan_racks(struct shuffle_plan *plan)
{
	const struct shares w = racks_shares(plan);
	u32 step, steps = step_of(plan->radix - 1, PHASES - 1) + 1;

	plan->blocks = plan->radix * w.parts * plan->topo->racks;
	for (step = 0; step < steps; step++) {
		all_phases(plan, &w, step, send_phase);
		all_phases(plan, &w, step, receive_phase);
	}
}
