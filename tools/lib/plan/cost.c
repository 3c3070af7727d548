// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* What a plan costs: COOL's tables. */
#include "plan_table.h"

/* A message in a rack crosses 2 links, one between racks 4, of which 2 lead to the core. */
static void count_unicast(struct shuffle_plan_cost *cost, bool crosses)
{
	cost->messages++;
	cost->links += crosses ? 4 : 2;
	cost->cross_messages += crosses;
	cost->cross_links += crosses ? 2 : 0;
}

/* One packet to a rack: a link for each member.  One to all leaders: a link and a core link for
 * each rack.
 */
static void count_multicast(struct shuffle_plan_cost *cost, const struct shuffle_topology *t,
			    u8 multicast, u32 rack)
{
	cost->messages++;
	if (multicast == SHUFFLE_PLAN_TO_RACK) {
		cost->links += shuffle_topology_size(t, rack);
		return;
	}
	cost->cross_messages++;
	cost->links += 2ULL * t->racks;
	cost->cross_links += t->racks;
}

/* The messages of one member, which are in order of steps. */
static void count_member(struct shuffle_plan_cost *cost, const struct shuffle_plan *plan)
{
	const struct shuffle_topology *t = plan->topo;
	u32 i, rack = shuffle_topology_rack(t, plan->self), step = U32_MAX, load = 0;
	bool leads = plan->self == shuffle_topology_leader(t, rack);
	u32 *most = leads ? &cost->leader_load : &cost->other_load;
	bool multicast = false, again;

	for (i = 0; i < plan->n; i++) {
		const struct shuffle_plan_msg *m = &plan->msg[i];

		if (m->step != step) {
			step = m->step;
			load = 0;
			multicast = false;
		}
		/* of those that one packet carries only the first counts */
		again = m->out && m->multicast && multicast;
		multicast |= m->out && m->multicast;
		load += !again;
		if (load > *most)
			*most = load;
		if (!m->out || again)
			continue;
		if (m->multicast)
			count_multicast(cost, t, m->multicast, rack);
		else
			count_unicast(cost, shuffle_topology_rack(t, m->peer) != rack);
	}
}

/**
 * shuffle_plan_cost() - count the messages of all members, each a packet
 * @plan: as for shuffle_plan_of(); computed for each member in turn
 * @cost: the sum
 *
 * Return: 0, or an error of shuffle_plan_of().
 */
int shuffle_plan_cost(struct shuffle_plan *plan, struct shuffle_plan_cost *cost)
{
	int err;

	memset(cost, 0, sizeof(*cost));
	for (plan->self = 0; plan->self < plan->topo->n; plan->self++) {
		err = shuffle_plan_of(plan);
		if (err)
			return err;
		if (plan->steps > cost->steps)
			cost->steps = plan->steps;
		count_member(cost, plan);
	}
	return 0;
}
