// SPDX-License-Identifier: GPL-2.0-or-later
/* A run: what happens, one after the other. */
#include <stdlib.h>

#include "sim.h"

/**
 * sim_defaults() - 64 KiB pieces on links of 25 Gb/s, a lossless network with small buffers
 * @cfg: to be set
 */
void sim_defaults(struct sim_config *cfg)
{
	*cfg = (struct sim_config){
		.nic = SIM_FIFO,
		.intervals = 40,
		.warmup = 24,
		.ddes = 2,
		.piece = 65536 + 20 + 87,
		.rate = 25,
		.latency = 2000,
		.buffer = 16384,
		.noise = 0.1,
		.slow_inputs = 1,
		.control_noise = 2000,
		.seed = 1,
	};
	stream_defaults(&cfg->stream, 20, 20);
}

/**
 * sim_config_error() - what is wrong with it
 * @cfg: of a run
 *
 * Return: a text, or NULL if nothing is.
 */
const char *sim_config_error(const struct sim_config *cfg)
{
	const char *why = stream_config_error(&cfg->stream);
	u64 pieces = (u64)stream_contributions(&cfg->stream) * cfg->stream.inputs;

	if (why)
		return why;
	if (cfg->stream.inputs > SIM_MAX_HOSTS || cfg->stream.builders > SIM_MAX_HOSTS)
		return "at most 512 inputs and 512 builders";
	if (cfg->ddes > cfg->stream.builders)
		return "more engines than builders";
	if (cfg->warmup + 2 > cfg->intervals)
		return "nothing to measure: the first intervals (--warmup) and the last are not";
	if (pieces > SIM_MAX_PIECES / cfg->intervals)
		return "more than 2 000 000 000 pieces: fewer intervals or time-slices";
	if (cfg->fail && (cfg->stream.inputs < 2 || cfg->fail + 2 > cfg->intervals))
		return "--fail: with another input, and before the last interval";
	if (cfg->slow_inputs > cfg->stream.inputs)
		return "more slow inputs than inputs";
	return NULL;
}

static void show(const struct sim *s)
{
	static const char *const names[SIM_SCHEDULES] = { "dfs", "none", "bench" };
	u64 done = s->arrived * 100 / s->all;

	if (s->progress)
		fprintf(stderr, "\r%s: %llu %% ", names[s->schedule], (unsigned long long)done);
}

static s64 sample_time(const struct sim *s)
{
	double t = (double)s->total * s->cfg->piece * 8 / s->cfg->rate / 10;

	return s->cfg->sample ? s->cfg->sample : (s64)t + 1;
}

static void handle(struct sim *s, const struct sim_event *e)
{
	switch (e->kind) {
	case SIM_UP_FREE:
		sim_net_up_free(s, e->a);
		break;
	case SIM_PORT_OPEN:
		sim_net_port_open(s, e->a);
		break;
	case SIM_SAMPLE:
		if (sim_measuring(s))
			sim_measure_buffers(s);
		sim_at(s, &(struct sim_event){
			.time = s->now + sample_time(s), .kind = SIM_SAMPLE,
		});
		break;
	case SIM_WATCH:
		sim_watch(s);
		break;
	default:
		sim_host_event(s, e);
	}
}

/* The next of three queues. */
static void step(struct sim *s)
{
	struct sim_fifo *a = &s->acks, *t = &s->tickets;
	s64 ack = a->head != a->tail ? a->v[a->head & (a->cap - 1)].time : S64_MAX;
	s64 ticket = t->head != t->tail ? t->v[t->head & (t->cap - 1)].time : S64_MAX;
	s64 heap = s->heap.n ? s->heap.v[0].time : S64_MAX;
	struct sim_event e;

	if (ticket <= ack && ticket <= heap) {
		e = t->v[t->head++ & (t->cap - 1)];
		s->now = e.time;
		sim_host_tickets(s, &e);
	} else if (ack <= heap) {
		e = a->v[a->head++ & (a->cap - 1)];
		s->now = e.time;
		sim_host_ack(s, &e);
	} else {
		e = sim_pop(s);
		s->now = e.time;
		handle(s, &e);
	}
}

/* Every stop ends by itself, a failed input after a timeout of at most three intervals. */
static void check_stuck(const struct sim *s, u64 *arrived, s64 *since)
{
	if (s->arrived != *arrived) {
		*arrived = s->arrived;
		*since = s->now;
	} else if (s->now - *since > 4 * STREAM_MAX_DURATION) {
		die("nothing has arrived for four hours of simulated time");
	}
}

/**
 * sim_run() - simulate
 * @cfg: without an error
 * @schedule: who decides when a piece leaves
 * @progress: show it on standard error
 * @res: what comes out; to be given to sim_result_free()
 */
void sim_run(const struct sim_config *cfg, enum sim_schedule schedule, bool progress,
	     struct sim_result *res)
{
	struct sim s = { .cfg = cfg, .schedule = schedule, .progress = progress, .res = res };
	u64 steps = 0, arrived = 0;
	s64 since = 0;
	u32 i;

	*res = (struct sim_result){ 0 };
	s.total = stream_contributions(&cfg->stream);
	s.input = memory(cfg->stream.inputs, sizeof(*s.input));
	s.builder = memory(cfg->stream.builders, sizeof(*s.builder));
	sim_measure_init(&s);
	sim_host_init(&s);
	sim_net_init(&s);
	for (i = 0; i < cfg->stream.inputs; i++) {
		if (schedule == SIM_BENCH)
			sim_net_up_free(&s, i);
		else
			sim_host_poll(&s, i);
	}
	if (schedule != SIM_BENCH)
		sim_at(&s, &(struct sim_event){ .time = sample_time(&s), .kind = SIM_SAMPLE });
	while (s.arrived < s.all) {
		step(&s);
		check_stuck(&s, &arrived, &since);
		if (!(++steps & 0xfffff))
			show(&s);
	}
	if (progress)
		fprintf(stderr, "\r%20s\r", "");
	sim_measure_end(&s);
	sim_net_free(&s);
	sim_host_free(&s);
	free(s.heap.v);
	free(s.acks.v);
	free(s.tickets.v);
	free(s.input);
	free(s.builder);
}

/**
 * sim_result_free() - give its memory back
 * @res: of sim_run()
 */
void sim_result_free(struct sim_result *res)
{
	free(res->rank);
	free(res->interval);
}
