// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The network: a link of each input, a link of each builder, a switch without limits between them.
 *
 * A builder's link takes pieces in the order of their first bytes, cut through: it needs the time
 * of a piece, and is not done before the last byte is there.  If more waits there than its buffer
 * holds, the next input keeps its piece, and its link is idle: nothing is lost.
 */
#include <stdlib.h>

#include "sim.h"

/**
 * sim_net_init() - an idle network
 * @s: the run
 */
void sim_net_init(struct sim *s)
{
	u32 builders = s->cfg->stream.builders, inputs = s->cfg->stream.inputs, i;
	u32 queues = s->cfg->nic == SIM_FIFO ? 1 : builders;

	for (i = 0; i < inputs; i++) {
		struct sim_input *in = &s->input[i];

		if (s->schedule != SIM_BENCH)
			in->queue = memory((size_t)builders * s->cfg->stream.ring,
					   sizeof(*in->queue));
		in->head = memory(queues, sizeof(*in->head));
		in->tail = memory(queues, sizeof(*in->tail));
		in->at = s->schedule == SIM_NONE && s->cfg->same_order ? 0 : i % builders;
	}
	for (i = 0; i < builders; i++)
		s->builder[i].waiter = memory(inputs, sizeof(*s->builder[i].waiter));
}

/**
 * sim_net_free() - give its memory back
 * @s: the run
 */
void sim_net_free(struct sim *s)
{
	u32 i;

	for (i = 0; i < s->cfg->stream.inputs; i++) {
		free(s->input[i].queue);
		free(s->input[i].head);
		free(s->input[i].tail);
	}
	for (i = 0; i < s->cfg->stream.builders; i++)
		free(s->builder[i].waiter);
}

static s64 buffer_time(const struct sim *s)
{
	return (s64)((double)s->cfg->buffer * 8 / s->cfg->rate);
}

/* Exponential, with this mean. */
static s64 exponential(struct wl_rng *r, double mean)
{
	return (s64)(-mean * wl_log(wl_rng_unit(r)));
}

/* What its input needs for a piece. */
static s64 up_time(struct sim *s, u32 input, u64 slice)
{
	const struct sim_config *cfg = s->cfg;
	u64 interval = slice / s->total;
	struct sim_input *in = &s->input[input];
	double t = cfg->piece * 8 / cfg->rate;

	if (cfg->slow > 0 && input < cfg->slow_inputs && interval >= cfg->slow_from &&
	    interval <= cfg->slow_to)
		t *= 1 + cfg->slow;
	if (cfg->noise > 0)
		t *= 1 + cfg->noise * wl_rng_unit(&in->rnd);
	return (s64)(t + 0.5);
}

/* The builder's link has room: the piece leaves. */
static void leave(struct sim *s, u32 input)
{
	struct sim_input *in = &s->input[input];
	struct sim_builder *b = &s->builder[in->now.builder];
	s64 piece = (s64)(s->cfg->piece * 8 / s->cfg->rate + 0.5);
	s64 up = up_time(s, input, in->now.slice), pause = 0;
	s64 first = s->now + s->cfg->latency, last = first + up, end;

	end = (first > b->free_at ? first : b->free_at) + piece;
	b->free_at = end > last ? end : last;
	sim_at(s, &(struct sim_event){
		.time = b->free_at, .kind = SIM_ARRIVE, .a = (u16)in->now.builder, .b = (u16)input,
		.value = in->now.slice, .issued = in->now.issued,
	});
	if (s->cfg->pause_every > 0 && s->now + up >= in->next_pause) {
		pause = exponential(&in->rnd, s->cfg->pause);
		in->next_pause = s->now + up + pause +
				 exponential(&in->rnd, s->cfg->pause_every);
	}
	sim_at(s, &(struct sim_event){
		.time = s->now + up + pause, .kind = SIM_UP_FREE, .a = (u16)input,
	});
}

/* When the builder's link has room. */
static s64 open_at(const struct sim *s, const struct sim_builder *b)
{
	return s->cfg->buffer ? b->free_at - buffer_time(s) - s->cfg->latency : s->now;
}

static void ask_open(struct sim *s, u32 builder)
{
	s64 at = open_at(s, &s->builder[builder]);

	sim_at(s, &(struct sim_event){
		.time = at > s->now ? at : s->now, .kind = SIM_PORT_OPEN, .a = (u16)builder,
	});
}

/* Take the next piece that waits. */
static bool take(struct sim *s, struct sim_input *in)
{
	u32 ring = s->cfg->stream.ring, builders = s->cfg->stream.builders, q = 0, cap;

	if (!in->queued)
		return false;
	if (s->cfg->nic == SIM_FIFO) {
		cap = builders * ring;
	} else {
		cap = ring;
		for (q = in->at; in->head[q] == in->tail[q]; q = q + 1 == builders ? 0 : q + 1)
			;
		in->at = q + 1 == builders ? 0 : q + 1;
	}
	in->now = in->queue[(size_t)q * cap + in->head[q]++ % cap];
	in->queued--;
	return true;
}

/* SIM_BENCH: one builder after the other, whatever has become of the pieces before. */
static bool take_bench(struct sim *s, struct sim_input *in, u32 input)
{
	u32 builders = s->cfg->stream.builders, place;

	if (in->bench == (u64)s->total * s->cfg->intervals)
		return false;
	place = stream_stagger(&s->cfg->stream, input, (u32)(in->bench % builders));
	in->now = (struct sim_piece){
		.slice = in->bench / builders * builders + place, .builder = place,
		.issued = s->now,
	};
	in->bench++;
	return true;
}

/**
 * sim_net_up_free() - an input's link is free
 * @s: the run
 * @input: whose
 */
void sim_net_up_free(struct sim *s, u32 input)
{
	struct sim_input *in = &s->input[input];
	struct sim_builder *b;

	in->busy = s->schedule == SIM_BENCH ? take_bench(s, in, input) : take(s, in);
	if (!in->busy)
		return;
	b = &s->builder[in->now.builder];
	if (!b->waiters && open_at(s, b) <= s->now) {
		leave(s, input);
		return;
	}
	b->waiter[(b->waiter_at + b->waiters++) % s->cfg->stream.inputs] = (u16)input;
	if (b->waiters == 1)
		ask_open(s, in->now.builder);
}

/**
 * sim_net_port_open() - a builder's link has room for the first piece that waits
 * @s: the run
 * @builder: whose
 */
void sim_net_port_open(struct sim *s, u32 builder)
{
	struct sim_builder *b = &s->builder[builder];

	if (open_at(s, b) > s->now) {
		ask_open(s, builder);
		return;
	}
	leave(s, b->waiter[b->waiter_at]);
	b->waiter_at = (b->waiter_at + 1) % s->cfg->stream.inputs;
	if (--b->waiters)
		ask_open(s, builder);
}

/**
 * sim_net_send() - an input's engine has given a piece away
 * @s: the run
 * @input: whose
 * @builder: to whom
 * @slice: its time-slice
 */
void sim_net_send(struct sim *s, u32 input, u32 builder, u64 slice)
{
	struct sim_input *in = &s->input[input];
	u32 ring = s->cfg->stream.ring;
	u32 q = s->cfg->nic == SIM_FIFO ? 0 : builder;
	u32 cap = s->cfg->nic == SIM_FIFO ? s->cfg->stream.builders * ring : ring;

	in->queue[(size_t)q * cap + in->tail[q]++ % cap] = (struct sim_piece){
		.slice = slice, .issued = s->now, .builder = builder,
	};
	in->queued++;
	if (!in->busy)
		sim_net_up_free(s, input);
}
