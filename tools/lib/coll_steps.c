// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives in user space.  Each step of a plan in which we take part is an operation; steps of
 * others are none of ours.  A step is over when what it brings us is there and the kernel has taken
 * what we send: then memory that was sent may be overwritten.
 */
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

static void copy_out(struct work *w, char *blocks, char *flat, size_t size, int how)
{
	(void)w;
	(void)how;
	memcpy(flat, blocks, size);
}

static void take_in(struct work *w, char *blocks, char *flat, size_t size, int how)
{
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
	if (n < 2)
		return 0;
	*packed = malloc(size);
	if (!*packed)
		return -1;
	for_pieces(w, m, *packed, copy_out, 0);
	c->bufs[m->peer] = *packed;
	return 0;
}

/* In place if nothing there is needed any more: neither combined with what comes nor sent. */
static int prepare_in(struct work *w, const struct shuffle_plan_msg *m, int sends,
		      struct arrival *a)
{
	struct shuffle_block_piece piece[2];
	uint32_t n = shuffle_blocks_pieces(&w->blocks, m, piece);
	struct shuffle_coll *c = w->c;

	a->size = bytes_of(w, m);
	if (n > 1 || (n && (m->take != SHUFFLE_COLL_STORE || sends))) {
		a->own = malloc(a->size);
		if (!a->own)
			return -1;
	}
	a->to = a->own ? a->own : n ? w->data + piece[0].at : NULL;
	c->from[m->peer] = a;
	c->absent[m->peer / 64] &= ~(1ULL << m->peer % 64);
	c->arriving++;
	return 0;
}

/* The messages [from, to) of the plan are those of one step. */
static int exchange(struct work *w, uint32_t from, uint32_t to)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	struct shuffle_coll *c = w->c;
	int sends = 0, sent, rc = 0;
	struct shuffle_tx tx;
	uint32_t i;

	c->arriving = 0;
	for (i = from; i < to && !rc; i++) {
		if (!msg[i].out)
			continue;
		sends = !w->out;
		rc = prepare_out(w, &msg[i], &w->packed[i - from]);
	}
	for (i = from; i < to && !rc; i++)
		if (!msg[i].out)
			rc = prepare_in(w, &msg[i], sends, &w->in[i - from]);
	if (rc)
		return coll_fail(c);
	/* Operations share the link: the first segment would arrive with the last.  Who waits for
	 * others does not run ahead, anyway.
	 */
	while (!c->arriving && to < w->plan.n && c->open_ops >= AHEAD && !rc)
		rc = coll_advance(c, 0);
	/* A member whose part is to send reads nothing: the operations of many calls would be all
	 * that a socket may have.  The oldest ones end without us.
	 */
	while (c->open_ops >= OPEN_OPS && !rc)
		rc = coll_advance(c, 0);
	if (rc)
		return rc;
	c->op = c->next_op + c->racks_op + msg[from].step;
	shuffle_tx_init(&tx, c->op, c->bufs, c->lens, c->count, c->timeout_ms);
	shuffle_tx_absent(&tx, c->absent);
	shuffle_tx_digest(&tx, coll_digest(w, 0));
	if (coll_sends_same(w, from, to))
		shuffle_tx_same(&tx);
	c->open_ops++;
	sent = shuffle_tx_step(c->fd, &tx);
	while (sent >= 0 && !rc && (!sent || c->arriving)) {
		rc = coll_advance(c, sent ? 0 : POLLOUT);
		if (!rc && !sent)
			sent = shuffle_tx_step(c->fd, &tx);
	}
	return rc || sent < 0 ? coll_fail(c) : 0;
}

/* What has come takes its place, in the order of the plan; the next step begins with nothing. */
static void end_step(struct work *w, uint32_t from, uint32_t to, int ok)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	struct shuffle_coll *c = w->c;
	struct arrival *a;
	uint32_t i;

	for (i = from; i < to; i++) {
		a = &w->in[i - from];
		if (ok && a->own)
			for_pieces(w, &msg[i], a->own, take_in, msg[i].take);
		free(a->own);
		free(w->packed[i - from]);
		memset(a, 0, sizeof(*a));
		w->packed[i - from] = NULL;
		c->lens[msg[i].peer] = SHUFFLE_ABSENT;
		c->from[msg[i].peer] = NULL;
		c->absent[msg[i].peer / 64] |= 1ULL << msg[i].peer % 64;
	}
}

int coll_run_steps(struct work *w)
{
	const struct shuffle_plan *plan = &w->plan;
	uint32_t from = 0, to;
	int rc = 0;

	w->in = calloc(plan->n + 1, sizeof(*w->in));
	w->packed = calloc(plan->n + 1, sizeof(*w->packed));
	if (!w->in || !w->packed)
		rc = coll_fail(w->c);
	for (; !rc && from < plan->n; from = to) {
		for (to = from; to < plan->n && plan->msg[to].step == plan->msg[from].step; to++)
			;
		if (w->before_step)
			w->before_step(w, plan->msg[from].step);
		rc = exchange(w, from, to);
		end_step(w, from, to, !rc);
	}
	free(w->in);
	free(w->packed);
	w->c->next_op += COLL_OPS;
	return rc ? coll_fail(w->c) : 0;
}
