// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * A long broadcast over racks: a chain of racks, each of which has the data
 * once and tells its members.  The first is the root's, without the root, if anybody else is there.
 *
 * The data goes in plan->radix segments, and each of them in as many parts as the smallest rack of
 * the chain has members.  A part has an owner in every rack: that of the first rack has it from the
 * root, the others from the owner in the rack before.  In the step after that the owner hands it on
 * and tells its rack, while the next segment comes.  So a trunk carries the data once, and a link
 * little more than that.
 */
#include "plan.h"

/* How many racks the chain has; *first is the first one. */
static u32 chain_length(const struct shuffle_plan *plan, u32 *first)
{
	const struct shuffle_topology *t = plan->topo;
	u32 rack = shuffle_topology_rack(t, plan->root);
	bool alone = shuffle_topology_size(t, rack) == 1;

	*first = (rack + alone) % t->racks;
	return t->racks - alone;
}

/**
 * shuffle_plan_owners() - who may own a part in a rack
 * @plan: plan
 * @rack: number of the rack
 *
 * Return: its members but the root.
 */
struct shuffle_plan_owners shuffle_plan_owners(const struct shuffle_plan *plan, u32 rack)
{
	const struct shuffle_topology *t = plan->topo;
	struct shuffle_plan_owners r = {
		.leader = shuffle_topology_leader(t, rack),
		.size = shuffle_topology_size(t, rack),
		.hole = U32_MAX,
	};

	if (rack == shuffle_topology_rack(t, plan->root)) {
		r.hole = plan->root - r.leader;
		r.size--;
	}
	return r;
}

/**
 * shuffle_plan_owner() - the place of an owner
 * @r: owners of its rack
 * @index: number of the owner
 *
 * Return: its place.
 */
u32 shuffle_plan_owner(const struct shuffle_plan_owners *r, u32 index)
{
	return r->leader + index + (index >= r->hole);
}

/**
 * shuffle_plan_owner_index() - the number of an owner
 * @r: owners of its rack
 * @place: its place
 *
 * Return: its number, that of its part if there is one.
 */
u32 shuffle_plan_owner_index(const struct shuffle_plan_owners *r, u32 place)
{
	return place - r->leader - (place - r->leader > r->hole);
}

static struct shuffle_plan_owners chain_rack(const struct shuffle_plan *plan, u32 at)
{
	u32 first;

	chain_length(plan, &first);
	return shuffle_plan_owners(plan, (first + at) % plan->topo->racks);
}

static u32 chain_parts(const struct shuffle_plan *plan, u32 length)
{
	u32 i, least = U32_MAX, size;

	for (i = 0; i < length; i++) {
		size = chain_rack(plan, i).size;
		least = size < least ? size : least;
	}
	return least;
}

static void root_sends(struct shuffle_plan *plan, u32 parts)
{
	const struct shuffle_plan_owners r = chain_rack(plan, 0);
	u32 s, j;

	for (s = 0; s < plan->radix; s++)
		for (j = 0; j < parts; j++)
			shuffle_plan_send(plan, s, shuffle_plan_owner(&r, j), s * parts + j, 1);
}

/**
 * struct chain_member - a member that is not the root
 * @r: its rack
 * @at: number of that in the chain
 * @index: in the rack; that of its part, if it is below @parts
 * @parts: of a segment
 * @from: who it has its part from
 * @to: who it hands it to, U32_MAX: nobody
 */
struct chain_member {
	struct shuffle_plan_owners	r;
	u32				at;
	u32				index;
	u32				parts;
	u32				from;
	u32				to;
};

static struct chain_member chain_member(const struct shuffle_plan *plan, u32 length, u32 parts)
{
	const struct shuffle_topology *t = plan->topo;
	struct chain_member m = { .parts = parts, .from = plan->root, .to = U32_MAX };
	struct shuffle_plan_owners near;
	u32 first;

	chain_length(plan, &first);
	m.at = (shuffle_topology_rack(t, plan->self) + t->racks - first) % t->racks;
	m.r = chain_rack(plan, m.at);
	m.index = shuffle_plan_owner_index(&m.r, plan->self);
	if (m.index >= parts)
		return m;
	if (m.at) {
		near = chain_rack(plan, m.at - 1);
		m.from = shuffle_plan_owner(&near, m.index);
	}
	if (m.at + 1 < length) {
		near = chain_rack(plan, m.at + 1);
		m.to = shuffle_plan_owner(&near, m.index);
	}
	return m;
}

/* Segment @s goes to the rack and to the next one. */
static void tell(struct shuffle_plan *plan, const struct chain_member *m, u32 step, u32 s)
{
	u32 i, block = s * m->parts + m->index;

	if (m->to != U32_MAX)
		shuffle_plan_send(plan, step, m->to, block, 1);
	for (i = 1; i < m->r.size; i++)
		shuffle_plan_send(plan, step, shuffle_plan_owner(&m->r, (m->index + i) % m->r.size),
				  block, 1);
}

/* The parts of segment @s that others own. */
static void be_told(struct shuffle_plan *plan, const struct chain_member *m, u32 step, u32 s)
{
	u32 i, part;

	for (i = 1; i <= m->parts; i++) {
		part = (m->index + i) % m->parts;
		if (part != m->index)
			shuffle_plan_receive(plan, step, shuffle_plan_owner(&m->r, part),
					     SHUFFLE_COLL_STORE, s * m->parts + part, 1);
	}
}

static void member_steps(struct shuffle_plan *plan, const struct chain_member *m)
{
	bool is_owner = m->index < m->parts;
	u32 i;

	/* in step m->at + i segment i comes, and the one before is told */
	for (i = 0; i <= plan->radix; i++) {
		if (i && is_owner)
			tell(plan, m, m->at + i, i - 1);
		if (i < plan->radix && is_owner)
			shuffle_plan_receive(plan, m->at + i, m->from, SHUFFLE_COLL_STORE,
					     i * m->parts + m->index, 1);
		if (i)
			be_told(plan, m, m->at + i, i - 1);
	}
}

/* Is the chain, which no segment leaves before its end, short beside the number of segments, and
 * are there enough owners for the largest rack?
 */
static bool chain_pays(const struct shuffle_plan *plan, u32 length, u32 parts)
{
	u32 smallest, largest;

	shuffle_topology_sizes(plan->topo, &smallest, &largest);
	return length <= plan->radix && largest <= 2 * parts;
}

/**
 * shuffle_plan_racks_broadcast() - broadcast over plan->topo, of which there are several racks;
 * plan->radix is the number of segments
 * @plan: plan
 *
 * Return: false, and nothing is planned, if the chain would take longer than all members at once:
 * many racks, few segments, or racks that differ much.
 */
bool shuffle_plan_racks_broadcast(struct shuffle_plan *plan)
{
	u32 first, length = chain_length(plan, &first), parts = chain_parts(plan, length);
	struct chain_member m;

	if (!chain_pays(plan, length, parts))
		return false;
	plan->blocks = plan->radix * parts;
	if (plan->self == plan->root) {
		root_sends(plan, parts);
		return true;
	}
	m = chain_member(plan, length, parts);
	member_steps(plan, &m);
	return true;
}
