// SPDX-License-Identifier: BSD-3-Clause
/*
 * All-to-all of equal blocks.  Flat it is a shuffle: one row.  Over racks short blocks may be
 * packed on the way: by owners (spread, coll_owners.c) or by leaders (cool-p-p, coll_leaders.c).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* of a plan of any pattern */
#define LAST_STEP	2

void coll_copy_blocks(const struct coll_packed *m, char *to, size_t to_block, const char *from,
		      size_t from_block, size_t n)
{
	if (m->size)
		memcpy(to + to_block * m->size, from + from_block * m->size, n * m->size);
}

int coll_packed_init(struct coll_packed *m, const struct coll_packing *by,
		     const struct shuffle_topology *topo, uint32_t self, size_t size)
{
	memset(m, 0, sizeof(*m));
	m->by = by;
	m->topo = topo;
	m->seat = shuffle_topology_seat(topo, self);
	m->size = size;
	if (by->prepare(m))
		return -1;
	m->out = reallocarray(NULL, m->blocks, size + 1);
	m->in = reallocarray(NULL, m->blocks, size + 1);
	return m->out && m->in ? 0 : -1;
}

void coll_packed_free(struct coll_packed *m)
{
	free(m->place);
	free(m->out);
	free(m->in);
}

void coll_packed_turn(struct coll_packed *m, uint32_t step)
{
	while (m->turned < step)
		m->by->turn(m, ++m->turned);
}

static void turn(struct work *w, uint32_t step)
{
	coll_packed_turn(w->arg, step);
}

/* The plan's messages have room: no pattern has more. */
static int begin_plan(struct work *w, struct shuffle_coll *c, int pattern)
{
	struct shuffle_plan *plan = &w->plan;
	uint32_t most = 4 * c->count;

	if (c->max_msg < most) {
		void *more = reallocarray(c->msg, most, sizeof(*c->msg));

		if (!more)
			return coll_fail(c);
		c->msg = more;
		c->max_msg = most;
	}
	w->c = c;
	w->item = 1;
	plan->topo = &c->topo;
	plan->self = c->rank;
	plan->msg = c->msg;
	plan->max = c->max_msg;
	w->blocks = (struct shuffle_blocks) {
		.n = c->count, .by_member = true, .size = w->size, .item = 1,
	};
	c->last_pattern = pattern;
	c->last_radix = 1;
	c->last_in_kernel = 0;
	return 0;
}

static int packed(struct shuffle_coll *c, int pattern, const void *from, void *to, size_t size)
{
	struct coll_packed m;
	struct work w = { .size = size, .before_step = turn, .arg = &m };
	int rc = begin_plan(&w, c, pattern);

	if (rc)
		return rc;
	if (coll_packed_init(&m, pattern == SHUFFLE_COLL_SPREAD ? &coll_by_owners :
			     &coll_by_leaders, &c->topo, c->rank, size)) {
		rc = coll_fail(c);
	} else {
		w.data = m.in;
		w.out = m.out;
		w.blocks.n = m.blocks;
		m.by->plan(&m, &w.plan);
		m.by->pack(&m, from);
		rc = coll_run_steps(&w);
	}
	if (!rc) {
		/* steps in which we had no part */
		coll_packed_turn(&m, LAST_STEP);
		m.by->unpack(&m, to);
	}
	coll_packed_free(&m);
	return rc;
}

static int flat(struct shuffle_coll *c, const void *from, void *to, size_t size)
{
	struct work w = { .data = to, .out = from, .size = size };
	uint32_t i, peer, n = c->count;
	char *copy = NULL;
	int rc = begin_plan(&w, c, SHUFFLE_COLL_FLAT);

	if (rc)
		return rc;
	if (from == to && size) {
		copy = malloc(n * size);
		if (!copy)
			return coll_fail(c);
		memcpy(copy, from, n * size);
		w.out = copy;
	} else if (size) {
		memcpy(w.data + c->rank * size, w.out + c->rank * size, size);
	}
	for (i = 1; i < n; i++) {
		peer = (c->rank + i) % n;
		shuffle_plan_send(&w.plan, 0, peer, peer, 1);
	}
	for (i = 1; i < n; i++) {
		peer = (c->rank + i) % n;
		shuffle_plan_receive(&w.plan, 0, peer, SHUFFLE_COLL_STORE, peer, 1);
	}
	rc = coll_run_steps(&w);
	free(copy);
	return rc;
}

int shuffle_alltoall(struct shuffle_coll *c, const void *from, void *to, size_t size)
{
	int pattern;

	if (coll_begin(c))
		return -1;
	if (size > SIZE_MAX / 2 / c->count) {
		errno = EMSGSIZE;
		return -1;
	}
	pattern = coll_choose_alltoall(c, size);
	return pattern == SHUFFLE_COLL_FLAT ? flat(c, from, to, size) :
					      packed(c, pattern, from, to, size);
}
