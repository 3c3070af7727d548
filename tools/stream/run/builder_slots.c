// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time-slices of a builder: operations for the next ones, and what becomes of those that are
 * whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "builder_run.h"

/**
 * place_init() - time-slices of a place are ours
 * @b: the builder
 * @p: to be filled in
 * @place: which
 * @round: the first one that is not released
 * @size: tickets
 */
void place_init(struct builder *b, struct place *p, u32 place, u64 round, u32 size)
{
	u32 i;

	*p = (struct place){ .place = place, .next = round, .open = round, .size = size };
	p->slot = memory(size, sizeof(*p->slot));
	for (i = 0; i < size; i++)
		p->slot[i].piece = memory(b->r->cfg.inputs, sizeof(*p->slot[i].piece));
}

static void empty_slot(struct builder *b, struct slot *s)
{
	u32 i;

	for (i = 0; i < b->r->cfg.inputs; i++) {
		free(s->piece[i].data);
		s->piece[i] = (struct contribution){ 0 };
	}
}

/**
 * place_free() - give the memory back
 * @b: the builder
 * @p: its place
 */
void place_free(struct builder *b, struct place *p)
{
	u32 i;

	for (i = 0; i < p->size; i++) {
		empty_slot(b, &p->slot[i]);
		free(p->slot[i].piece);
	}
	free(p->slot);
}

static u64 slice_of(const struct builder *b, const struct place *p, u64 round)
{
	return round * b->r->cfg.builders + p->place;
}

static bool is_ours(const struct builder *b, const struct place *p, u64 round)
{
	return stream_builder(&b->r->cfg, slice_of(b, p, round), b->failed) == b->r->rank;
}

/**
 * builder_rounds() - rounds of the stream
 * @b: the builder
 *
 * Return: how many; RUN_NO_END: that is not known.
 */
u64 builder_rounds(const struct builder *b)
{
	if (b->end == RUN_NO_END)
		return RUN_NO_END;
	return b->end * stream_rounds(&b->r->cfg);
}

/* Start the operation of a time-slice: all inputs that live have a message for us. */
static void open_slot(struct builder *b, struct place *p, struct slot *s)
{
	const struct stream_config *cfg = &b->r->cfg;
	struct shuffle_tx tx;

	s->op = run_op(b->incarnation, slice_of(b, p, s->round));
	s->left = b->live;
	s->first = 0;
	s->last = 0;
	s->maimed = false;
	shuffle_tx_init(&tx, s->op, b->bufs, b->lens, cfg->inputs + cfg->builders, 0);
	shuffle_tx_absent(&tx, b->absent);
	if (shuffle_tx_announce(b->r->data, &tx) != 1)
		die("time-slice %llu: %s", (unsigned long long)slice_of(b, p, s->round),
		    strerror(errno));
}

/**
 * place_open() - start operations, as many as there are tickets
 * @b: the builder
 * @p: its place
 */
void place_open(struct builder *b, struct place *p)
{
	while (p->n < p->size && p->open < builder_rounds(b)) {
		struct slot *s = &p->slot[(p->at + p->n) % p->size];

		if (is_ours(b, p, p->open)) {
			s->round = p->open;
			open_slot(b, p, s);
			p->n++;
		}
		p->open++;
		/* what the others build in between is not ours to release */
		if (!p->n)
			p->next = p->open;
	}
}

static struct slot *find_in(struct place *p, u64 op)
{
	u32 i;

	for (i = 0; i < p->n; i++) {
		struct slot *s = &p->slot[(p->at + i) % p->size];

		if (s->op == op)
			return s;
	}
	return NULL;
}

/**
 * builder_find() - the time-slice of an operation
 * @b: the builder
 * @op: the operation
 *
 * Return: the time-slice; NULL: it is released, or was given up.
 */
struct slot *builder_find(struct builder *b, u64 op)
{
	struct slot *s = find_in(&b->own, op);

	return s || b->lost == STATUS_NONE ? s : find_in(&b->taken, op);
}

static void count(struct builder *b, const struct slot *s)
{
	u32 i;

	for (i = 0; i < b->r->cfg.inputs; i++)
		b->held -= s->piece[i].whole;
	b->slices++;
	histogram_add(&b->gap, (u64)(s->last - s->first));
	histogram_add(&b->now_gap, (u64)(s->last - s->first));
}

static void release(struct builder *b, struct place *p)
{
	struct slot *s = &p->slot[p->at];
	u64 rounds = stream_rounds(&b->r->cfg), round = s->round;

	if (s->maimed)
		shuffle_cancel(b->r->data, s->op);
	count(b, s);
	empty_slot(b, s);
	p->at = p->at + 1 == p->size ? 0 : p->at + 1;
	p->n--;
	p->next = p->n ? p->slot[p->at].round : p->open;
	place_open(b, p);
	b->news = true;
	if (p == &b->own && round % rounds == rounds - 1)
		builder_log_interval(b, round / rounds);
}

/* The next one that is whole; of two the older one. */
static struct place *next_whole(struct builder *b)
{
	struct place *p = NULL;

	/* a pipe has half of it already */
	if (b->working)
		return b->working == &b->own.slot[b->own.at] ? &b->own : &b->taken;
	if (b->own.n && !b->own.slot[b->own.at].left)
		p = &b->own;
	if (b->lost != STATUS_NONE && b->taken.n && !b->taken.slot[b->taken.at].left &&
	    (!p || b->taken.slot[b->taken.at].round <= p->slot[p->at].round))
		p = &b->taken;
	return p;
}

/**
 * builder_release() - work on what is whole, and give its tickets back
 * @b: the builder
 * @until: made less if there is something to be done at a time, CLOCK_MONOTONIC
 *
 * Return: the sink is full.
 */
bool builder_release(struct builder *b, s64 *until)
{
	struct place *p;
	struct slot *s;

	while ((p = next_whole(b))) {
		s = &p->slot[p->at];
		if (b->working != s) {
			b->working = s;
			b->done_at = run_monotonic() + b->r->process;
		}
		if (b->r->process && run_monotonic() < b->done_at) {
			*until = b->done_at < *until ? b->done_at : *until;
			return false;
		}
		if (b->sink && !sink_put(b->sink, slice_of(b, p, s->round), s->piece,
					 b->r->cfg.inputs))
			return true;
		b->working = NULL;
		release(b, p);
	}
	return false;
}

static void without(struct place *p, u32 input)
{
	u32 i;

	for (i = 0; i < p->n; i++) {
		struct slot *s = &p->slot[(p->at + i) % p->size];

		if (s->piece[input].whole)
			continue;
		s->left--;
		s->maimed = true;
	}
}

/**
 * builder_input_failed() - time-slices are whole without it
 * @b: the builder
 * @input: which
 */
void builder_input_failed(struct builder *b, u32 input)
{
	b->peer[input].gone = true;
	b->live--;
	b->absent[input / 64] |= 1ULL << input % 64;
	without(&b->own, input);
	if (b->lost != STATUS_NONE)
		without(&b->taken, input);
	builder_log_event(b, "input-failed", input);
	/* what nobody has pieces of would be whole at once */
	if (!b->live && !b->peer[input].done)
		die("all inputs have failed");
}
