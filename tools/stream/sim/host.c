// SPDX-License-Identifier: GPL-2.0-or-later
/* Hosts: inputs and builders around the engines. */
#include <stdlib.h>

#include "sim.h"

static struct sim_clock wrong_clock(const struct sim_config *cfg, struct wl_rng *r)
{
	return (struct sim_clock){
		/* Clocks begin at 100 s, so that no time is below 0. */
		.offset = (s64)(100.0 * STREAM_SECOND + cfg->offset * (2 * wl_rng_unit(r) - 1)),
		.ppb = (s64)(cfg->drift * (2 * wl_rng_unit(r) - 1)),
	};
}

static void init_builder(struct sim *s, struct sim_builder *b)
{
	const struct stream_config *cfg = &s->cfg->stream;

	b->arrived = memory(cfg->inputs, sizeof(*b->arrived));
	b->window = cfg->ring + 1;
	b->got = memory(b->window, sizeof(*b->got));
	b->first = memory(b->window, sizeof(*b->first));
}

/**
 * sim_host_init() - engines, clocks
 * @s: the run
 */
void sim_host_init(struct sim *s)
{
	struct stream_config cfg = s->cfg->stream;
	bool same = s->schedule == SIM_NONE && s->cfg->same_order;
	struct wl_rng clocks;
	u32 i;

	/* Without a schedule nothing is waited for but tickets. */
	if (s->schedule == SIM_NONE)
		cfg.theta = 0;
	wl_rng_init(&clocks, wl_rng_mix(s->cfg->seed, 1, 0));
	wl_rng_init(&s->rnd, wl_rng_mix(s->cfg->seed, 2, 0));
	s->report = memory((size_t)cfg.inputs * STREAM_WINDOW, sizeof(*s->report));
	for (i = 0; i < cfg.inputs; i++) {
		struct sim_input *in = &s->input[i];

		in->clock = wrong_clock(s->cfg, &clocks);
		wl_rng_init(&in->rnd, wl_rng_mix(s->cfg->seed, 3, i));
		in->next_pause = (s64)(-s->cfg->pause_every * wl_log(wl_rng_unit(&in->rnd)));
		if (s->schedule != SIM_BENCH)
			in->engine = stream_input_init(memory(1, stream_input_size(&cfg)), &cfg,
						       same ? 0 : i, 0);
	}
	for (i = 0; i < cfg.builders; i++) {
		s->builder[i].clock = wrong_clock(s->cfg, &clocks);
		init_builder(s, &s->builder[i]);
	}
	for (i = 0; i < s->cfg->ddes && s->schedule == SIM_DFS; i++)
		s->dde[i] = stream_dde_init(memory(1, stream_dde_size(&cfg)), &cfg, false);
}

/**
 * sim_host_free() - give the memory back
 * @s: the run
 */
void sim_host_free(struct sim *s)
{
	u32 i;

	for (i = 0; i < s->cfg->stream.inputs; i++)
		free(s->input[i].engine);
	for (i = 0; i < s->cfg->stream.builders; i++) {
		free(s->builder[i].arrived);
		free(s->builder[i].got);
		free(s->builder[i].first);
	}
	for (i = 0; i < s->cfg->ddes; i++)
		free(s->dde[i]);
	free(s->report);
}

static void note_begin(struct sim *s, u64 interval)
{
	struct sim_interval *v = &s->res->interval[interval];

	if (!v->first)
		v->first = s->now;
	v->last = s->now;
}

/**
 * sim_host_poll() - ask an input's engine what to do
 * @s: the run
 * @input: which
 */
void sim_host_poll(struct sim *s, u32 input)
{
	struct sim_input *in = &s->input[input];
	struct stream_step step;

	in->wake = 0;
	in->waiting = false;
	for (;;) {
		u64 next = in->engine->next;

		if (sim_failed(s, input))
			return;
		if (next == s->cfg->intervals &&
		    in->engine->open[(next - 1) % STREAM_OPEN].sent == s->total)
			return;
		stream_input_next(in->engine, sim_clock_local(&in->clock, s->now), &step);
		if (in->engine->next != next) {
			note_begin(s, next);
			if (s->cfg->fail && next == s->cfg->fail &&
			    input == s->cfg->stream.inputs - 1) {
				sim_fail(s, input);
				return;
			}
		}
		if (step.kind != STREAM_SEND)
			break;
		sim_net_send(s, input, step.builder, step.slice);
	}
	in->waiting = step.kind == STREAM_BLOCKED;
	if (step.kind == STREAM_UNTIL)
		in->wake = sim_at(s, &(struct sim_event){
			.time = sim_clock_real(&in->clock, step.time), .kind = SIM_POLL,
			.a = (u16)input,
		});
}

static s64 control_time(struct sim *s)
{
	return s->now + s->cfg->latency +
	       (s64)(wl_rng_unit(&s->rnd) * (double)s->cfg->control_noise);
}

/* An interval of an input is over: tell all builders that have an engine. */
static void report(struct sim *s, u32 input, const struct stream_report *r)
{
	struct sim_interval *v = &s->res->interval[r->interval];
	u32 i;

	if (s->now > v->end)
		v->end = s->now;
	s->report[(size_t)input * STREAM_WINDOW + r->interval % STREAM_WINDOW] = *r;
	/* The median of all inputs is taken by the engine; without one, the last counts. */
	if (s->schedule == SIM_NONE && r->duration > v->actual)
		v->actual = (double)r->duration;
	for (i = 0; i < s->cfg->ddes && s->schedule == SIM_DFS; i++)
		sim_at(s, &(struct sim_event){
			.time = control_time(s), .kind = SIM_REPORT, .a = (u16)i, .b = (u16)input,
			.value = r->interval,
		});
}

/**
 * sim_host_ack() - an acknowledgment is at its input
 * @s: the run
 * @e: of which piece
 */
void sim_host_ack(struct sim *s, const struct sim_event *e)
{
	struct sim_input *in = &s->input[e->b];
	struct stream_report r;

	if (stream_input_ack(in->engine, e->value, s->now - e->issued,
			     sim_clock_local(&in->clock, s->now)))
		die("an acknowledgment was refused");
	while (!stream_input_report(in->engine, &r))
		report(s, e->b, &r);
	if (in->waiting)
		sim_host_poll(s, e->b);
}

/**
 * sim_host_tickets() - tickets of a time-slice are at all inputs
 * @s: the run
 * @e: of which builder; how many it has released
 */
void sim_host_tickets(struct sim *s, const struct sim_event *e)
{
	u32 i;

	for (i = 0; i < s->cfg->stream.inputs; i++) {
		struct sim_input *in = &s->input[i];

		if (sim_failed(s, i))
			continue;
		if (stream_input_released(in->engine, e->a, e->value))
			die("a ticket was refused");
		if (in->waiting || in->engine->queue_n)
			sim_host_poll(s, i);
	}
}

/**
 * sim_host_complete() - release what is complete
 * @s: the run
 * @builder: whose time-slices
 */
void sim_host_complete(struct sim *s, u32 builder)
{
	struct sim_builder *b = &s->builder[builder];
	u32 at = (u32)(b->complete % b->window);

	while (b->got[at] && b->got[at] >= sim_needed(s, b, b->complete)) {
		b->got[at] = 0;
		b->complete++;
		sim_measure_gap(s, s->now - b->first[at]);
		b->done_at = (b->done_at > s->now ? b->done_at : s->now) + s->cfg->process;
		sim_at(s, &(struct sim_event){
			.time = b->done_at, .kind = SIM_RELEASE, .a = (u16)builder,
		});
		at = (u32)(b->complete % b->window);
	}
}

static void arrive(struct sim *s, const struct sim_event *e)
{
	struct sim_builder *b = &s->builder[e->a];
	u64 n = e->value / s->cfg->stream.builders;
	u32 at = (u32)(n % b->window);

	sim_measure_arrival(s, s->arrived + 1);
	b->arrived[e->b]++;
	if (s->schedule == SIM_BENCH)
		return;
	sim_fifo_push(&s->acks, &(struct sim_event){
		.time = s->now + s->cfg->latency, .value = e->value, .issued = e->issued, .b = e->b,
	});
	if (!b->got[at]++)
		b->first[at] = s->now;
	sim_host_complete(s, e->a);
}

/* Of all engines that have one; they are replicas, so their durations are the same. */
static void propose(struct sim *s, u32 dde, u64 interval)
{
	const struct stream_plan *p = stream_dde_plan(s->dde[dde], interval), *other;
	u32 i;

	if (!p)
		return;
	for (i = 0; i < s->cfg->ddes; i++) {
		other = stream_dde_plan(s->dde[i], interval);
		s->res->disagreed += other && other->duration != p->duration;
	}
	for (i = 0; i < s->cfg->stream.inputs; i++)
		sim_at(s, &(struct sim_event){
			.time = control_time(s), .kind = SIM_PROPOSAL, .a = (u16)i, .b = (u16)dde,
			.value = interval,
		});
}

/**
 * sim_host_propose() - intervals are complete at an engine: propose
 * @s: the run
 * @dde: which engine
 * @intervals: how many
 */
void sim_host_propose(struct sim *s, u32 dde, int intervals)
{
	const struct stream_dde *d = s->dde[dde];

	for (; intervals > 0; intervals--) {
		u64 w = d->next - (u64)intervals;
		const struct stream_unified *u = stream_history_latest(&d->history);

		if (u->interval == w && w < s->res->intervals) {
			s->res->interval[w].proposed = (double)u->proposed;
			s->res->interval[w].actual = (double)u->duration;
		}
		propose(s, dde, w + 2);
	}
}

static void receive_report(struct sim *s, const struct sim_event *e)
{
	const struct stream_report *r = &s->report[(size_t)e->b * STREAM_WINDOW +
						   e->value % STREAM_WINDOW];
	struct stream_dde *d = s->dde[e->a];
	int n = stream_dde_report(d, r, sim_clock_local(&s->builder[e->a].clock, s->now));

	s->res->refused += n < 0 && n != -EALREADY;
	sim_host_propose(s, e->a, n);
	if (!e->a && s->cfg->restart && d->synced && d->next == s->cfg->restart + 1 &&
	    d->wait == 1)
		stream_dde_init(d, &s->cfg->stream, true);
}

static void receive_proposal(struct sim *s, const struct sim_event *e)
{
	struct sim_input *in = &s->input[e->a];
	struct stream_proposal p;
	int error;

	if (sim_failed(s, e->a) || stream_dde_proposal(s->dde[e->b], e->a, e->value, &p))
		return;
	error = stream_input_proposal(in->engine, &p, sim_clock_local(&in->clock, s->now));
	s->res->refused += error && error != -EALREADY;
	if (!error)
		sim_host_poll(s, e->a);
}

/**
 * sim_host_event() - something happens at a host
 * @s: the run
 * @e: what
 */
void sim_host_event(struct sim *s, const struct sim_event *e)
{
	switch (e->kind) {
	case SIM_ARRIVE:
		arrive(s, e);
		break;
	case SIM_POLL:
		if (s->input[e->a].wake == e->order)
			sim_host_poll(s, e->a);
		break;
	case SIM_REPORT:
		receive_report(s, e);
		break;
	case SIM_PROPOSAL:
		receive_proposal(s, e);
		break;
	case SIM_RELEASE:
		sim_fifo_push(&s->tickets, &(struct sim_event){
			.time = s->now + s->cfg->latency, .a = e->a,
			.value = ++s->builder[e->a].released,
		});
		break;
	}
}
