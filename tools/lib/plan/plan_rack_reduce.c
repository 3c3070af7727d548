// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * A long reduce over racks, in order of places: the racks before the root's
 * are a chain to it, and those behind it are another one.  If the root is alone in its rack, the
 * chains meet in the next rack, or in the one before if it is the last.
 *
 * The data goes in plan->radix segments, and each of them in as many parts as the smallest rack has
 * members, the root not counted.  A part has an owner in every rack, who combines what its rack has
 * with what comes along the chain, and hands that on in the next step, in which the rack tells it
 * the next segment.  The owners in the rack where the chains meet hand it to the root, which is one
 * of those that tell them before.  So a trunk carries the data once, that of the meeting rack twice
 * if there are racks on both sides, and a member's link little more than once.
 */
#include "plan.h"

/**
 * struct reduce_chains - both chains, as one member sees them
 * @meet: the rack in which they meet
 * @skip: the root's rack, if it is another one; U32_MAX: it is not
 * @longest: racks of the longer one
 * @parts: of a segment
 * @rack: the member's
 * @r: owners there
 * @index: of the member; that of its part, if it is below @parts
 * @distance: of its rack from @meet
 */
struct reduce_chains {
	u32				meet;
	u32				skip;
	u32				longest;
	u32				parts;
	u32				rack;
	struct shuffle_plan_owners	r;
	u32				index;
	u32				distance;
};

static u32 distance(const struct reduce_chains *w, u32 rack)
{
	/* what is skipped is beside the meeting rack */
	if (rack < w->meet)
		return w->meet - rack - (w->skip != U32_MAX && rack < w->skip && w->skip < w->meet);
	return rack - w->meet;
}

static struct reduce_chains reduce_chains(const struct shuffle_plan *plan)
{
	const struct shuffle_topology *t = plan->topo;
	u32 rack = shuffle_topology_rack(t, plan->root), i, size;
	struct reduce_chains w = { .meet = rack, .skip = U32_MAX, .parts = U32_MAX };

	if (shuffle_topology_size(t, rack) == 1) {
		w.skip = rack;
		w.meet = rack + 1 < t->racks ? rack + 1 : rack - 1;
	}
	for (i = 0; i < t->racks; i++) {
		if (i == w.skip)
			continue;
		size = shuffle_plan_owners(plan, i).size;
		w.parts = size < w.parts ? size : w.parts;
		if (distance(&w, i) > w.longest)
			w.longest = distance(&w, i);
	}
	w.rack = shuffle_topology_rack(t, plan->self);
	w.r = shuffle_plan_owners(plan, w.rack);
	w.index = shuffle_plan_owner_index(&w.r, plan->self);
	if (w.rack != w.skip)
		w.distance = distance(&w, w.rack);
	return w;
}

/* The rack beside @rack, or beside the one that is skipped; U32_MAX: there is none. */
static u32 beside(const struct shuffle_plan *plan, const struct reduce_chains *w, u32 rack, bool up)
{
	do {
		if (up ? rack + 1 == plan->topo->racks : !rack)
			return U32_MAX;
		rack += up ? 1 : -1;
	} while (rack == w->skip);
	return rack;
}

static u32 owner_in(const struct shuffle_plan *plan, const struct reduce_chains *w, u32 rack)
{
	const struct shuffle_plan_owners r = shuffle_plan_owners(plan, rack);

	return shuffle_plan_owner(&r, w->index);
}

/* Our rack has the parts of segment @s from us, or the meeting one, if we are a lonely root. */
static void tell_owners(struct shuffle_plan *plan, const struct reduce_chains *w, u32 step, u32 s)
{
	struct shuffle_plan_owners r = w->r;
	u32 i, part, first = w->index;

	if (plan->self == plan->root) {
		r = shuffle_plan_owners(plan, w->meet);
		first = 0;
	}
	for (i = 0; i < w->parts; i++) {
		part = (first + i) % w->parts;
		if (shuffle_plan_owner(&r, part) != plan->self)
			shuffle_plan_send(plan, step, shuffle_plan_owner(&r, part),
					  s * w->parts + part, 1);
	}
}

static void hand_on(struct shuffle_plan *plan, const struct reduce_chains *w, u32 step, u32 s)
{
	u32 to = plan->root;

	if (w->distance)
		to = owner_in(plan, w, beside(plan, w, w->rack, w->rack < w->meet));
	shuffle_plan_send(plan, step, to, s * w->parts + w->index, 1);
}

/* What racks on one side have combined. */
static void take_chain(struct shuffle_plan *plan, const struct reduce_chains *w, u32 step,
		       u32 block, bool up)
{
	u32 rack = beside(plan, w, w->rack, up);

	/* away from where the chains meet */
	if (rack == U32_MAX || distance(w, rack) <= w->distance)
		return;
	shuffle_plan_receive(plan, step, owner_in(plan, w, rack),
			     up ? SHUFFLE_COLL_AFTER : SHUFFLE_COLL_BEFORE, block, 1);
}

/* In order of places: our rack, a lonely root beside it, and the racks before and behind. */
static void combine_part(struct shuffle_plan *plan, const struct reduce_chains *w, u32 step, u32 s)
{
	u32 block = s * w->parts + w->index, place = plan->self, i;
	u32 end = w->r.leader + shuffle_topology_size(plan->topo, w->rack);

	for (i = place + 1; i < end; i++)
		shuffle_plan_receive(plan, step, i, SHUFFLE_COLL_AFTER, block, 1);
	for (i = place; i-- > w->r.leader;)
		shuffle_plan_receive(plan, step, i, SHUFFLE_COLL_BEFORE, block, 1);
	if (w->skip != U32_MAX && !w->distance)
		shuffle_plan_receive(plan, step, plan->root, w->skip < w->meet ?
				     SHUFFLE_COLL_BEFORE : SHUFFLE_COLL_AFTER, block, 1);
	take_chain(plan, w, step, block, false);
	take_chain(plan, w, step, block, true);
}

static void reduce_steps(struct shuffle_plan *plan, const struct reduce_chains *w)
{
	bool is_root = plan->self == plan->root, is_owner = !is_root && w->index < w->parts;
	u32 first = w->longest - w->distance, i, part;
	struct shuffle_plan_owners r = shuffle_plan_owners(plan, w->meet);

	/* in step first + i segment i is combined, and the one before handed on */
	for (i = 0; i <= plan->radix; i++) {
		if (i && is_owner)
			hand_on(plan, w, first + i, i - 1);
		if (i < plan->radix)
			tell_owners(plan, w, first + i, i);
		if (i < plan->radix && is_owner)
			combine_part(plan, w, first + i, i);
		for (part = 0; i && is_root && part < w->parts; part++)
			shuffle_plan_receive(plan, first + i, shuffle_plan_owner(&r, part),
					     SHUFFLE_COLL_STORE, (i - 1) * w->parts + part, 1);
	}
}

/* As for a broadcast: short chains beside the number of segments, and enough owners. */
static bool chains_pay(const struct shuffle_plan *plan, const struct reduce_chains *w)
{
	u32 smallest, largest;

	shuffle_topology_sizes(plan->topo, &smallest, &largest);
	return w->longest < plan->radix && largest <= 2 * w->parts;
}

/**
 * shuffle_plan_racks_reduce() - reduce over plan->topo, of which there are several racks;
 * plan->radix is the number of segments
 * @plan: plan
 *
 * Vectors are combined in order of places.
 *
 * Return: false, and nothing is planned, if the chains would take longer than all members at once:
 * many racks, few segments, or racks that differ much.
 */
bool shuffle_plan_racks_reduce(struct shuffle_plan *plan)
{
	const struct reduce_chains w = reduce_chains(plan);

	if (!chains_pay(plan, &w))
		return false;
	plan->blocks = plan->radix * w.parts;
	reduce_steps(plan, &w);
	return true;
}
