// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives in user space.  Each step of a plan in which we take part is an operation; steps of
 * others are none of ours.  A step is over when what it brings us is there and the kernel has taken
 * what we send: then memory that was sent may be overwritten.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* steps that a member which only sends has under way */
#define AHEAD		2

/* operations that have not ended, or whose end has not been read, of all calls */
#define OPEN_OPS	64

static size_t bytes_of(const struct work *w, const struct shuffle_plan_msg *m)
{
	return shuffle_blocks_bytes(&w->blocks, m);
}

/* Call @f for each piece of a message's blocks: its place there and in the message. */
static void for_pieces(struct work *w, const struct shuffle_plan_msg *m, char *flat,
		       void (*f)(struct work *w, char *blocks, char *flat, size_t size, int how),
		       int how)
{
	struct shuffle_block_piece piece[2];
	uint32_t i, n = shuffle_blocks_pieces(&w->blocks, m, piece);

	for (i = 0; i < n; flat += piece[i].len, i++)
		f(w, w->data + piece[i].at, flat, piece[i].len, how);
}

/* Are the items others than those on the wire? */
static int turns(const struct work *w)
{
	return htonl(1) == 1 && w->combine == shuffle_combine_items;
}

static void turn(const struct work *w, char *flat, size_t size)
{
	if (turns(w))
		shuffle_coll_turn((uintptr_t)w->arg & 0xff, flat, size);
}

static void copy_out(struct work *w, char *blocks, char *flat, size_t size, int how)
{
	(void)how;
	memcpy(flat, blocks, size);
	turn(w, flat, size);
}

static void take_in(struct work *w, char *blocks, char *flat, size_t size, int how)
{
	turn(w, flat, size);
	if (how == SHUFFLE_COLL_STORE)
		memcpy(blocks, flat, size);
	else
		w->combine(w->arg, blocks, flat, size, how == SHUFFLE_COLL_BEFORE);
}

static int prepare_out(struct work *w, const struct shuffle_plan_msg *m, char **packed)
{
	struct shuffle_block_piece piece[2];
	uint32_t n = shuffle_blocks_pieces(&w->blocks, m, piece);
	const char *out = w->out ? w->out : w->data;
	struct shuffle_coll *c = w->c;
	size_t size = bytes_of(w, m);

	c->lens[m->peer] = size;
	c->bufs[m->peer] = n ? out + piece[0].at : NULL;
	if (n < 2 && !(n && turns(w)))
		return 0;
	*packed = malloc(size);
	if (!*packed)
		return -1;
	for_pieces(w, m, *packed, copy_out, 0);
	c->bufs[m->peer] = *packed;
	return 0;
}

/* What this step does with a block. */
#define SENDS		1
#define RECEIVES	2

static void mark(struct work *w, const struct shuffle_plan_msg *m, uint8_t what)
{
	uint32_t i;

	for (i = 0; i < m->blocks; i++)
		w->marks[(m->block + i) % w->blocks.n] |= what;
}

static void unmark(struct work *w, const struct shuffle_plan_msg *m)
{
	uint32_t i;

	for (i = 0; i < m->blocks; i++)
		w->marks[(m->block + i) % w->blocks.n] = 0;
}

static uint8_t marked(const struct work *w, const struct shuffle_plan_msg *m)
{
	uint8_t all = 0;
	uint32_t i;

	for (i = 0; i < m->blocks; i++)
		all |= w->marks[(m->block + i) % w->blocks.n];
	return all;
}

/* In place if nothing there is needed any more: neither combined with what comes nor sent. */
static int prepare_in(struct work *w, const struct shuffle_plan_msg *m, struct arrival *a)
{
	struct shuffle_block_piece piece[2];
	uint32_t n = shuffle_blocks_pieces(&w->blocks, m, piece);
	struct shuffle_coll *c = w->c;

	a->size = bytes_of(w, m);
	if (n > 1 || (n && (turns(w) || m->take != SHUFFLE_COLL_STORE || marked(w, m) & SENDS))) {
		a->own = malloc(a->size);
		if (!a->own)
			return -1;
	}
	a->to = a->own ? a->own : n ? w->data + piece[0].at : NULL;
	c->now.from[m->peer] = a;
	c->absent[m->peer / 64] &= ~(1ULL << m->peer % 64);
	c->now.arriving++;
	return 0;
}

/* The next row begins with nothing. */
static void end_row(struct work *w, uint32_t from, uint32_t to)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	struct shuffle_coll *c = w->c;
	uint32_t i;

	for (i = from; i < to; i++) {
		free(w->packed[i]);
		w->packed[i] = NULL;
		c->lens[msg[i].peer] = SHUFFLE_ABSENT;
		c->absent[msg[i].peer / 64] |= 1ULL << msg[i].peer % 64;
		unmark(w, &msg[i]);
	}
}

/* Send what the messages [from, to) of the plan, those of one step, say.  What comes is waited for
 * by others.
 */
static int begin(struct work *w, uint32_t from, uint32_t to)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	struct shuffle_coll *c = w->c;
	/* the step before may have most of the link for most of its time */
	uint64_t ms = c->timeout_ms << !!c->before.arriving;
	struct shuffle_tx tx;
	int sent, ended, rc = 0;
	uint32_t i;

	c->now.arriving = 0;
	for (i = from; i < to && !rc; i++)
		rc = msg[i].out ? prepare_out(w, &msg[i], &w->packed[i]) :
				  prepare_in(w, &msg[i], &w->in[i]);
	if (rc)
		return coll_fail(c);
	/* Operations share the link: the first segment would arrive with the last.  Who waits for
	 * others does not run ahead, anyway.
	 */
	while (!c->now.arriving && to < w->plan.n && c->open_ops >= AHEAD && !rc)
		rc = coll_advance(c, 0);
	/* A member whose part is to send reads nothing: the operations of many calls would be all
	 * that a socket may have.  The oldest ones end without us.
	 */
	while (c->open_ops >= OPEN_OPS && !rc)
		rc = coll_advance(c, 0);
	if (rc)
		return rc;
	c->now.op = c->next_op + c->racks_op + msg[from].step;
	shuffle_tx_init(&tx, c->now.op, c->bufs, c->lens, c->count, ms);
	shuffle_tx_absent(&tx, c->absent);
	shuffle_tx_digest(&tx, coll_digest(w, 0));
	if (coll_sends_same(w, from, to))
		shuffle_tx_same(&tx);
	c->open_ops++;
	sent = shuffle_tx_step(c->fd, &tx);
	while (!sent && !rc) {
		rc = coll_advance(c, POLLOUT);
		if (!rc)
			sent = shuffle_tx_step(c->fd, &tx);
	}
	/* one that has failed already says why when it is read */
	ended = !rc && sent < 0 && errno == EPIPE;
	while (ended && !rc && c->open_ops)
		rc = coll_advance(c, 0);
	return rc || sent < 0 ? coll_fail(c) : 0;
}

/* What has come takes its place, in the order of the plan. */
static void take(struct work *w, struct coll_step *step, uint32_t from, uint32_t to, int ok)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	struct arrival *a;
	uint32_t i;

	for (i = from; i < to; i++) {
		a = &w->in[i];
		if (ok && a->own)
			for_pieces(w, &msg[i], a->own, take_in, msg[i].take);
		free(a->own);
		memset(a, 0, sizeof(*a));
		step->from[msg[i].peer] = NULL;
	}
}

/* Wait for what comes in the step before. */
static int end_before(struct work *w)
{
	struct shuffle_coll *c = w->c;
	int rc = 0;

	while (c->before.arriving && !rc)
		rc = coll_advance(c, 0);
	take(w, &c->before, w->from, w->to, !rc);
	w->from = w->to;
	return rc;
}

/* A step may begin before all has come that comes in the one before, as long as it does not touch
 * that: links do not stand still while one member waits for the last of the others.  Messages
 * without blocks say that a member is there, as in a barrier.
 */
static int wait_for_step(struct work *w, uint32_t from, uint32_t to)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	int wait = w->before_step || w->out, rc = 0;
	const struct arrival *a;
	uint32_t i;
	uint8_t how;

	/* what is sent from other memory is in the way of nothing that comes */
	for (i = from; i < to; i++)
		mark(w, &msg[i], !msg[i].out ? RECEIVES : w->out ? 0 : SENDS);
	for (i = w->from; i < w->to && !wait; i++) {
		how = msg[i].out ? 0 : marked(w, &msg[i]);
		wait = how & RECEIVES || (how && w->in[i].own) || !msg[i].blocks;
	}
	if (wait)
		return end_before(w);
	for (i = w->from; i < w->to && !rc; i++) {
		a = &w->in[i];
		if (msg[i].out || !marked(w, &msg[i]))
			continue;
		while (a->have < a->size && !rc)
			rc = coll_advance(w->c, 0);
	}
	return rc;
}

static int run_step(struct work *w, uint32_t from, uint32_t to)
{
	struct shuffle_coll *c = w->c;
	struct coll_step before;
	int rc;

	rc = wait_for_step(w, from, to);
	if (!rc && w->before_step)
		w->before_step(w, w->plan.msg[from].step);
	if (!rc)
		rc = begin(w, from, to);
	end_row(w, from, to);
	if (!rc)
		rc = end_before(w);
	if (rc) {
		take(w, &c->now, from, to, 0);
		take(w, &c->before, w->from, w->to, 0);
		return rc;
	}
	before = c->before;
	c->before = c->now;
	c->now = before;
	w->from = from;
	w->to = to;
	return 0;
}

int coll_run_steps(struct work *w)
{
	const struct shuffle_plan *plan = &w->plan;
	uint32_t from = 0, to;
	int rc = 0;

	w->in = calloc(plan->n + 1, sizeof(*w->in));
	w->packed = calloc(plan->n + 1, sizeof(*w->packed));
	w->marks = calloc(w->blocks.n + 1, sizeof(*w->marks));
	w->from = 0;
	w->to = 0;
	if (!w->in || !w->packed || !w->marks)
		rc = coll_fail(w->c);
	for (; !rc && from < plan->n; from = to) {
		for (to = from; to < plan->n && plan->msg[to].step == plan->msg[from].step; to++)
			;
		rc = run_step(w, from, to);
	}
	if (!rc)
		rc = end_before(w);
	free(w->in);
	free(w->packed);
	free(w->marks);
	w->c->next_op += COLL_OPS;
	return rc ? coll_fail(w->c) : 0;
}
