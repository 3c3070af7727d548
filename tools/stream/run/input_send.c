// SPDX-License-Identifier: GPL-2.0-or-later
/* An input sends: what its engine says, when it says so. */
#include <errno.h>
#include <string.h>

#include "input_run.h"

static u32 rank_of(const struct input *in, u32 builder)
{
	return in->r->cfg.inputs + builder;
}

/**
 * input_hand_over() - give a piece to the kernel, or the rest of it
 * @in: the input
 * @q: the piece, with its operation
 */
void input_hand_over(struct input *in, struct piece *q)
{
	u32 to = rank_of(in, q->builder);
	int done;

	in->lens[to] = q->len;
	in->bufs[to] = q->data;
	done = shuffle_tx_step(in->r->data, &q->tx);
	in->lens[to] = SHUFFLE_ABSENT;
	q->waits = done <= 0;
	in->full |= !done;
	if (done >= 0 || errno == ENOBUFS || errno == ENOMEM)
		return;
	/* it has ended: its record says why */
	q->waits = false;
	if (errno != EPIPE)
		die("piece of time-slice %llu: %s", (unsigned long long)q->slice, strerror(errno));
}

/**
 * input_hand_over_waiting() - there may be room now
 * @in: the input
 */
void input_hand_over_waiting(struct input *in)
{
	struct piece *q;
	u32 i;

	in->full = false;
	for (i = 0; i < in->r->cfg.builders; i++)
		for (q = in->pieces.of[i].first; q; q = q->next)
			if (q->waits)
				input_hand_over(in, q);
}

static void start(struct input *in, struct piece *q)
{
	q->op = run_op(in->peer[q->builder].incarnation, q->slice);
	q->runs = true;
	q->at = run_monotonic();
	shuffle_tx_init(&q->tx, q->op, in->bufs, in->lens,
			in->r->cfg.inputs + in->r->cfg.builders, 0);
	shuffle_tx_absent(&q->tx, in->absent);
	input_hand_over(in, q);
}

/**
 * input_send_again() - its builder was started again, or another one has it
 * @in: the input
 * @q: the piece
 */
void input_send_again(struct input *in, struct piece *q)
{
	if (q->runs)
		shuffle_cancel(in->r->data, q->op);
	in->again++;
	start(in, q);
}

/* Has the source what the engine may ask for next? */
static bool source_is_ready(struct input *in)
{
	const struct stream_input *e = in->engine;
	u64 total = e->total, first, at;

	if (!source_is_sequential(in->source))
		return true;
	first = stream_first_slice(&e->cfg, e->begun ? e->next - 1 : e->next);
	at = e->begun ? first + e->head : first;
	/* the next round of this interval, or the first one of the next */
	at = first + ((at - first) / e->cfg.builders + 1) * e->cfg.builders;
	if (at > first + total)
		at = first + total + e->cfg.builders;
	return source_has(in->source, first, at);
}

static bool is_slow(const struct input *in)
{
	const struct run *r = in->r;
	u64 now = in->engine->next - 1;

	return r->slow && in->engine->begun && now >= r->slow_from && now <= r->slow_to;
}

/* Pieces of a slow interval keep so far apart that it takes longer. */
static void slow_down(struct input *in)
{
	s64 apart = in->base / in->engine->total * (1000 + in->r->slow) / 1000;
	s64 now = run_monotonic();

	/* what a late wakeup has cost is made up for, a little */
	if (in->hold < now - 4 * apart)
		in->hold = now - 4 * apart;
	in->hold += apart;
}

static void take_end(struct input *in)
{
	u64 pieces = source_pieces(in->source), total = in->engine->total;
	u64 end = in->own_end;

	if (pieces != RUN_NO_END && (pieces + total - 1) / total < end)
		end = (pieces + total - 1) / total;
	if (run_stopped && in->engine->next < end)
		end = in->engine->next;
	if (end == in->own_end)
		return;
	in->own_end = end;
	in->news = true;
}

/* With which interval sending ends: what builders say, or all that we know. */
static u64 last(const struct input *in)
{
	if (in->end != RUN_NO_END)
		return in->end;
	return in->r->intervals ? in->r->intervals : RUN_NO_END;
}

/**
 * input_is_over() - is all sent?
 * @in: the input
 *
 * Return: there is nothing more to send, but perhaps something again.
 */
bool input_is_over(const struct input *in)
{
	const struct stream_input *e = in->engine;
	const struct stream_open *o = &e->open[(e->next - 1) % STREAM_OPEN];

	return e->next >= last(in) && (!e->begun || e->next > last(in) || o->sent == e->total);
}

/**
 * input_send() - send what is due
 * @in: the input
 * @until: set to when to ask again, CLOCK_MONOTONIC; STREAM_NEVER: when something happens
 *
 * Return: something was sent.
 */
bool input_send(struct input *in, s64 *until)
{
	struct stream_input *e = in->engine;
	struct stream_step step;
	bool any = false;
	struct piece *q;
	s64 now;

	*until = STREAM_NEVER;
	take_end(in);
	in->starved = false;
	while (!input_is_over(in)) {
		if (!source_is_ready(in)) {
			in->starved = true;
			break;
		}
		if (is_slow(in) && in->hold > run_monotonic()) {
			*until = in->hold;
			break;
		}
		now = run_now(&in->r->clock);
		stream_input_next(e, now, &step);
		if (step.kind == STREAM_UNTIL)
			*until = run_to_monotonic(&in->r->clock, step.time);
		if (step.kind != STREAM_SEND)
			break;
		q = pieces_add(&in->pieces, step.slice, step.builder);
		if (!q)
			die("more pieces than tickets");
		q->len = source_take(in->source, step.slice, q->data);
		start(in, q);
		if (is_slow(in))
			slow_down(in);
		any = true;
	}
	return any;
}
