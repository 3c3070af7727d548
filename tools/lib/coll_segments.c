// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long broadcasts and reductions in which the kernels of the members work while data comes:
 * spread's plan, one operation for each segment, and no process between root and member.
 *
 * Broadcast (SHUFFLE_CMSG_FORWARD): a member gets its part of a segment from the root, and all
 * others get that part from the member.  Rows that forward have no data, so members announce those
 * of many segments before the first one comes, and wait for nothing but the end.
 *
 * Reduction (SHUFFLE_CMSG_REDUCE): a member gets its part of a segment from all others, and the
 * root gets all of these combined from the member.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* segments that a sender has under way, and those that a member announces which forwards */
#define SENDER_AHEAD	2
#define MEMBER_AHEAD	32

/* One segment: one operation. */
struct segment {
	struct work *w;
	uint32_t number;
};

static int is_root(const struct work *w)
{
	return w->c->rank == w->plan.root;
}

static int forwards(const struct work *w)
{
	return w->plan.kind == SHUFFLE_COLL_BROADCAST;
}

/* Can the kernel combine, has each part at least one item, and is there always room for a segment?
 * The same at all members.
 */
static int reduces(const struct work *w)
{
	size_t parts = w->c->count - 1, segment = w->size / w->plan.radix + parts * w->item;
	uintptr_t items = (uintptr_t)w->arg;

	return w->plan.kind == SHUFFLE_COLL_REDUCE && w->combine == shuffle_combine_items &&
	       segment <= SHUFFLE_REDUCE_BYTES && w->item % shuffle_coll_item(items & 0xff) == 0 &&
	       w->size / w->item >= w->plan.blocks;
}

int coll_by_segments(const struct work *w)
{
	const struct shuffle_plan *plan = &w->plan;
	const struct shuffle_coll *c = w->c;

	return c->engine != ENGINE_USER && plan->pattern == SHUFFLE_COLL_SPREAD &&
	       c->topo.racks <= 1 && c->count > 2 && c->count <= SHUFFLE_SAME_MEMBERS &&
	       (forwards(w) || reduces(w));
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

static void set_absent(struct shuffle_coll *c, uint32_t rank, int absent)
{
	uint64_t bit = 1ULL << rank % 64;

	if (absent)
		c->absent[rank / 64] |= bit;
	else
		c->absent[rank / 64] &= ~bit;
}

/* A part of the result comes from member @from. */
static void expect(const struct segment *s, struct arrival *a, uint32_t from, uint32_t part)
{
	size_t size;

	a[from].to = part_of(s, part, &size);
	a[from].size = size;
	a[from].known = 1;
	s->w->c->arriving++;
}

/* Member @to gets a part of what we have. */
static void give(const struct segment *s, uint32_t to, uint32_t part)
{
	struct shuffle_coll *c = s->w->c;
	size_t size;

	c->bufs[to] = part_of(s, part, &size);
	c->lens[to] = size;
}

/* What of a segment goes to another member, and what comes from it. */
static void with_member(const struct segment *s, struct arrival *a, uint32_t peer)
{
	uint32_t self = s->w->c->rank, root = s->w->plan.root;
	struct shuffle_coll *c = s->w->c;

	set_absent(c, peer, forwards(s->w) && self == root);
	if (forwards(s->w)) {
		if (self == root)
			give(s, peer, peer);
		else if (peer != root)
			give(s, peer, self);
		if (self != root)
			expect(s, a, peer, peer == root ? self : peer);
	} else {
		give(s, peer, peer == root ? self : peer);
		if (self == root)
			expect(s, a, peer, peer);
	}
}

/* All that others have forwarded, or root and members have sent, may wait for the next segment. */
static void say_how(const struct segment *s, struct shuffle_tx *tx)
{
	const struct work *w = s->w;
	uintptr_t items = (uintptr_t)w->arg;

	if (is_root(w))
		return;
	if (!forwards(w)) {
		shuffle_tx_reduce(tx, w->plan.root, items >> 8, items & 0xff);
		return;
	}
	shuffle_tx_forward(tx, w->plan.root);
	/* they go with the next segment; the root waits for its own */
	if (w->c->window_ops <= MEMBER_AHEAD)
		shuffle_tx_delayed_ack(tx);
}

/* Hand a segment's row over; what has come meanwhile is read. */
static int send_segment(struct shuffle_coll *c, struct shuffle_tx *tx)
{
	int rc = 0, sent = shuffle_tx_step(c->fd, tx);

	while (!rc) {
		if (sent > 0)
			return 0;
		if (!sent) {
			rc = coll_advance(c, POLLOUT);
		} else {
			/* the send buffer is full of segments before, which end without us */
			if (errno != ENOBUFS || c->open_ops < 2)
				return coll_fail(c);
			rc = coll_advance(c, 0);
		}
		if (!rc)
			sent = shuffle_tx_step(c->fd, tx);
	}
	return rc;
}

/* A deadline counts from the announcement on, and each segment before may take as long. */
static uint64_t deadline_ms(const struct shuffle_coll *c)
{
	uint64_t most = UINT32_MAX, ms = c->timeout_ms;

	return ms < most ? ms * (c->open_ops + 1) : ms;
}

/* Announce a segment's row, and hand its data over. */
static int start_segment(const struct segment *s, struct arrival *a)
{
	uint32_t most = is_root(s->w) || !forwards(s->w) ? SENDER_AHEAD : MEMBER_AHEAD, i;
	struct shuffle_coll *c = s->w->c;
	struct shuffle_tx tx;
	int rc = 0;

	while (!rc && c->open_ops >= most)
		rc = coll_advance(c, 0);
	if (rc)
		return rc;
	for (i = 0; i < c->count; i++)
		if (i != c->rank)
			with_member(s, a, i);
	shuffle_tx_init(&tx, c->op + s->number, c->bufs, c->lens, c->count, deadline_ms(c));
	shuffle_tx_absent(&tx, c->absent);
	shuffle_tx_digest(&tx, coll_digest(s->w, forwards(s->w) ? 0 : (uintptr_t)s->w->arg));
	say_how(s, &tx);
	c->open_ops++;
	c->sending = !forwards(s->w);
	rc = send_segment(c, &tx);
	c->sending = 0;
	return rc;
}

/* The next call begins with nothing. */
static void forget_rows(struct shuffle_coll *c)
{
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		c->lens[i] = SHUFFLE_ABSENT;
		set_absent(c, i, 1);
	}
}

int coll_run_segments(struct work *w)
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
