// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long broadcasts in which the kernels forward (SHUFFLE_CMSG_FORWARD): spread's plan, one operation
 * for each segment.  A member gets its part of a segment from the root, and all others get that
 * part from the member, while it comes.  Rows that forward have no data, so members announce those
 * of many segments before the first one comes, and wait for nothing but the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* segments that the root has under way, and those that a member has announced */
#define ROOT_AHEAD	2
#define MEMBER_AHEAD	32

/* One segment: one operation. */
struct segment {
	struct work *w;
	uint32_t number;
};

int coll_forwards(const struct work *w)
{
	const struct shuffle_plan *plan = &w->plan;
	const struct shuffle_coll *c = w->c;

	return c->engine != ENGINE_USER && plan->kind == SHUFFLE_COLL_BROADCAST &&
	       plan->pattern == SHUFFLE_COLL_SPREAD && c->topo.racks <= 1 && c->count > 2 &&
	       c->count <= SHUFFLE_SAME_MEMBERS;
}

/* The part of a member, which is not the root: where it is, and *@size. */
static char *part_of(const struct segment *s, uint32_t rank, size_t *size)
{
	const struct work *w = s->w;
	const struct shuffle_plan_msg m = {
		.block = s->number * (w->c->count - 1) + rank - (rank > w->plan.root),
		.blocks = 1,
	};
	struct shuffle_block_piece piece[2];

	*size = shuffle_blocks_bytes(&w->blocks, &m);
	return shuffle_blocks_pieces(&w->blocks, &m, piece) ? w->data + piece[0].at : w->data;
}

/* What comes, and from whom. */
static void expect(const struct segment *s, struct arrival *a)
{
	struct shuffle_coll *c = s->w->c;
	size_t own, size;
	uint32_t i, root = s->w->plan.root;

	a[root].to = part_of(s, c->rank, &own);
	a[root].size = own;
	a[root].known = 1;
	for (i = 0; i < c->count; i++) {
		c->absent[i / 64] &= ~(1ULL << i % 64);
		if (i == c->rank)
			c->absent[i / 64] |= 1ULL << i % 64;
		c->lens[i] = i == root || i == c->rank ? SHUFFLE_ABSENT : own;
		if (i == root || i == c->rank)
			continue;
		a[i].to = part_of(s, i, &size);
		a[i].size = size;
		a[i].known = 1;
	}
	c->arriving += c->count - 1;
}

/* What the root sends. */
static void give(const struct segment *s)
{
	struct shuffle_coll *c = s->w->c;
	size_t size;
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		c->absent[i / 64] |= 1ULL << i % 64;
		if (i == c->rank)
			continue;
		c->bufs[i] = part_of(s, i, &size);
		c->lens[i] = size;
	}
}

/* Announce a segment's row, and hand its data over. */
static int start_segment(const struct segment *s, struct arrival *a)
{
	struct shuffle_coll *c = s->w->c;
	int rc = 0, sent, root = c->rank == s->w->plan.root;
	struct shuffle_tx tx;

	while (!rc && c->open_ops >= (root ? ROOT_AHEAD : MEMBER_AHEAD))
		rc = coll_advance(c, 0);
	if (rc)
		return rc;
	if (root)
		give(s);
	else
		expect(s, a);
	shuffle_tx_init(&tx, c->op + s->number, c->bufs, c->lens, c->count, c->timeout_ms);
	shuffle_tx_absent(&tx, c->absent);
	if (!root) {
		shuffle_tx_forward(&tx, s->w->plan.root);
		/* they go with the next segment; the root waits for its own */
		if (c->window_ops <= MEMBER_AHEAD)
			shuffle_tx_delayed_ack(&tx);
	}
	c->open_ops++;
	for (sent = shuffle_tx_step(c->fd, &tx); !sent && !rc; ) {
		rc = coll_advance(c, POLLOUT);
		if (!rc)
			sent = shuffle_tx_step(c->fd, &tx);
	}
	return rc || sent < 0 ? coll_fail(c) : 0;
}

/* The next call begins with nothing. */
static void forget_rows(struct shuffle_coll *c)
{
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		c->lens[i] = SHUFFLE_ABSENT;
		c->absent[i / 64] |= 1ULL << i % 64;
	}
}

int coll_run_forward(struct work *w)
{
	struct shuffle_coll *c = w->c;
	struct segment s = { .w = w };
	int rc = 0;

	c->arriving = 0;
	c->op = c->next_op + c->racks_op;
	c->window_ops = w->plan.radix;
	c->window = calloc((size_t)c->window_ops * c->count, sizeof(*c->window));
	if (!c->window)
		rc = coll_fail(c);
	for (; s.number < w->plan.radix && !rc; s.number++)
		rc = start_segment(&s, c->window + (size_t)s.number * c->count);
	while (c->arriving && !rc)
		rc = coll_advance(c, 0);
	free(c->window);
	c->window = NULL;
	forget_rows(c);
	c->next_op += COLL_OPS;
	return rc ? coll_fail(c) : 0;
}
