// SPDX-License-Identifier: BSD-3-Clause
/*
 * All-to-all over racks, packed on the way.  A member has an owner in each rack: the one with its
 * index, modulo the members there.  What a rack sends to a member goes through that owner:
 *
 *   step 0	in a rack, each member gives each owner the blocks for those whom it owns
 *   step 1	an owner sends each of these, in other racks, what the rack has for it
 *
 * So a member has a message for each other one in its rack and for each other rack, instead of one
 * for everybody.
 *
 * @out has our row, one owner's blocks behind the other's, and behind these what our rack has for
 * those whom we own, one member behind the other.  @in has what the rack gives us for those, and
 * behind it what other racks send us.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* How many members of the first racks, @racks of them, the one with index @owner of ours owns. */
static uint32_t count_owned(const struct coll_packed *m, uint32_t owner, uint32_t racks)
{
	uint32_t rack, size, n = 0;

	for (rack = 0; rack < racks; rack++) {
		size = shuffle_topology_size(m->topo, rack);
		n += (size + m->seat.size - 1 - owner) / m->seat.size;
	}
	return n;
}

/* The places of those of all racks, in order. */
static void list_owned(const struct coll_packed *m, uint32_t owner, uint32_t *place)
{
	uint32_t rack, i;

	for (rack = 0; rack < m->topo->racks; rack++)
		for (i = owner; i < shuffle_topology_size(m->topo, rack); i += m->seat.size)
			*place++ = shuffle_topology_leader(m->topo, rack) + i;
}

static int prepare(struct coll_packed *m)
{
	uint32_t owner, *at;

	m->owned = count_owned(m, m->seat.index, m->topo->racks);
	m->blocks = m->topo->n + m->owned * m->seat.size;
	m->place = malloc(m->topo->n * sizeof(*m->place));
	if (!m->place)
		return -1;
	for (owner = 0, at = m->place; owner < m->seat.size; owner++) {
		list_owned(m, owner, at);
		at += count_owned(m, owner, m->topo->racks);
	}
	return 0;
}

static void to_owners(const struct coll_packed *m, struct shuffle_plan *plan)
{
	uint32_t i, n, block = 0;

	for (i = 0; i < m->seat.size; i++, block += n) {
		n = count_owned(m, i, m->topo->racks);
		if (i != m->seat.index)
			shuffle_plan_send(plan, 0, m->seat.leader + i, block, n);
	}
	for (i = 0; i < m->seat.size; i++)
		if (i != m->seat.index)
			shuffle_plan_receive(plan, 0, m->seat.leader + i, SHUFFLE_COLL_STORE,
					     i * m->owned, m->owned);
}

/* The row's blocks for those whom we own ourselves. */
static uint32_t own_blocks(const struct coll_packed *m)
{
	uint32_t i, n = 0;

	for (i = 0; i < m->seat.index; i++)
		n += count_owned(m, i, m->topo->racks);
	return n;
}

static void plan(const struct coll_packed *m, struct shuffle_plan *plan)
{
	const uint32_t *own = m->place + own_blocks(m);
	uint32_t rack, size, first, i;

	to_owners(m, plan);
	for (i = 0; i < m->owned; i++)
		if (shuffle_topology_rack(m->topo, own[i]) != m->seat.rack)
			shuffle_plan_send(plan, 1, own[i], m->topo->n + i * m->seat.size,
					  m->seat.size);
	for (rack = 0; rack < m->topo->racks; rack++) {
		size = shuffle_topology_size(m->topo, rack);
		first = shuffle_topology_leader(m->topo, rack);
		if (rack != m->seat.rack)
			shuffle_plan_receive(plan, 1, first + m->seat.index % size,
					     SHUFFLE_COLL_STORE,
					     m->owned * m->seat.size + first, size);
	}
}

static void pack(const struct coll_packed *m, const char *from)
{
	uint32_t i;

	for (i = 0; i < m->topo->n; i++)
		coll_copy_blocks(m, m->out, i, from, m->place[i], 1);
	coll_copy_blocks(m, m->in, m->seat.index * m->owned, m->out, own_blocks(m), m->owned);
}

static void turn(const struct coll_packed *m, uint32_t step)
{
	uint32_t i, j;

	for (i = 0; step == 1 && i < m->owned; i++)
		for (j = 0; j < m->seat.size; j++)
			coll_copy_blocks(m, m->out, m->topo->n + i * m->seat.size + j,
					 m->in, j * m->owned + i, 1);
}

/* Of our rack there is what was turned for ourselves. */
static void unpack(const struct coll_packed *m, char *to)
{
	uint32_t own = count_owned(m, m->seat.index, m->seat.rack);
	uint32_t before = m->seat.leader, behind = before + m->seat.size;

	coll_copy_blocks(m, to, 0, m->in, m->owned * m->seat.size, m->topo->n);
	coll_copy_blocks(m, to, before, m->out, m->topo->n + own * m->seat.size, behind - before);
}

const struct coll_packing coll_by_owners = { prepare, plan, pack, turn, unpack };
