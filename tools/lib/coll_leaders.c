// SPDX-License-Identifier: BSD-3-Clause
/*
 * All-to-all over racks, packed by their leaders:
 *
 *   step 0	each member gives its row to its leader
 *   step 1	leaders exchange what the rack of one has for that of another
 *   step 2	each member gets its column
 *
 * A member who does not lead has its row in @out, and its column comes into @in.  A leader has
 * the rows of its rack in @in, one behind the other, and behind them what other racks send it, as
 * much from each of all members as the rack gets.  @out has what each rack gets, and behind it the
 * columns.
 */
#define _GNU_SOURCE
#include "coll.h"

static int leads(const struct coll_packed *m)
{
	return !m->seat.index;
}

static int prepare(struct coll_packed *m)
{
	m->blocks = m->topo->n * (leads(m) ? 2 * m->seat.size : 1);
	return 0;
}

static void plan_leader(const struct coll_packed *m, struct shuffle_plan *plan)
{
	uint32_t i, rack, n = m->topo->n, size = m->seat.size, first;

	for (i = 1; i < size; i++)
		shuffle_plan_receive(plan, 0, m->seat.leader + i, SHUFFLE_COLL_STORE, i * n, n);
	for (i = 1; i < m->topo->racks; i++) {
		rack = (m->seat.rack + i) % m->topo->racks;
		first = shuffle_topology_leader(m->topo, rack);
		shuffle_plan_send(plan, 1, first, size * first,
				  size * shuffle_topology_size(m->topo, rack));
	}
	for (i = 1; i < m->topo->racks; i++) {
		rack = (m->seat.rack + i) % m->topo->racks;
		first = shuffle_topology_leader(m->topo, rack);
		shuffle_plan_receive(plan, 1, first, SHUFFLE_COLL_STORE, size * (n + first),
				     size * shuffle_topology_size(m->topo, rack));
	}
	for (i = 1; i < size; i++)
		shuffle_plan_send(plan, 2, m->seat.leader + i, size * n + i * n, n);
}

static void plan(const struct coll_packed *m, struct shuffle_plan *plan)
{
	if (leads(m)) {
		plan_leader(m, plan);
		return;
	}
	shuffle_plan_send(plan, 0, m->seat.leader, 0, m->topo->n);
	shuffle_plan_receive(plan, 2, m->seat.leader, SHUFFLE_COLL_STORE, 0, m->topo->n);
}

static void pack(const struct coll_packed *m, const char *from)
{
	coll_copy_blocks(m, leads(m) ? m->in : m->out, 0, from, 0, m->topo->n);
}

/* What our rack has for another one: of each row a part. */
static void rows_to_racks(const struct coll_packed *m)
{
	uint32_t rack, first, size, i;

	for (rack = 0; rack < m->topo->racks; rack++) {
		first = shuffle_topology_leader(m->topo, rack);
		size = shuffle_topology_size(m->topo, rack);
		for (i = 0; i < m->seat.size; i++)
			coll_copy_blocks(m, m->out, m->seat.size * first + i * size,
					 m->in, i * m->topo->n + first, size);
	}
}

static void to_columns(const struct coll_packed *m)
{
	uint32_t n = m->topo->n, size = m->seat.size, leader = m->seat.leader, i, from, at;

	for (i = 0; i < size; i++) {
		for (from = 0; from < n; from++) {
			at = from - leader < size ? (from - leader) * n + leader + i :
						    size * (n + from) + i;
			coll_copy_blocks(m, m->out, size * n + i * n + from, m->in, at, 1);
		}
	}
}

static void turn(const struct coll_packed *m, uint32_t step)
{
	if (!leads(m))
		return;
	if (step == 1)
		rows_to_racks(m);
	else
		to_columns(m);
}

static void unpack(const struct coll_packed *m, char *to)
{
	if (leads(m))
		coll_copy_blocks(m, to, 0, m->out, m->seat.size * m->topo->n, m->topo->n);
	else
		coll_copy_blocks(m, to, 0, m->in, 0, m->topo->n);
}

const struct coll_packing coll_by_leaders = { prepare, plan, pack, turn, unpack };
