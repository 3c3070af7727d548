// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applications: stages of computation, all to all, barrier; one run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define TICK	200	/* flows that end within a 200th of the shortest one that runs */

static void begin_stage(struct job *j, double now)
{
	double c = j->size * j->kind->seconds * j->kind->compute / j->kind->stages;

	j->compute_end = now + c;
	j->send_at = now + (1 - j->kind->overlap) * c;
	j->sending = false;
	j->flows = 0;
}

static void begin_sending(struct sim *s, unsigned int job)
{
	struct job *j = &s->job[job];
	double all = j->size * j->kind->seconds * j->kind->send / j->kind->stages;
	unsigned int i;

	j->sending = true;
	j->sent = false;
	j->flows = 0;
	/* a server's flows add up to what a whole link carries in that time */
	for (i = 0; i < s->flows; i++)
		if (s->flow[i].job == job) {
			s->flow[i].left = all * j->n / s->flow[i].rate;
			j->flows++;
		}
}

static double *shares;		/* flows of each job */

static void set_volumes(struct sim *s, unsigned int job)
{
	unsigned int i;

	for (i = 0; i < s->flows; i++)
		if (s->flow[i].job == job)
			s->flow[i].rate = shares[job];
	begin_sending(s, job);
}

/* When the next thing happens; flows that end almost then are taken with it. */
static double next_event(const struct sim *s, double now)
{
	double flows = INFINITY, timers = INFINITY, tick = INFINITY;
	unsigned int i;

	for (i = 0; i < s->flows; i++)
		if (s->flow[i].left > 0 && s->flow[i].rate > 0)
			flows = fmin(flows, now + s->flow[i].left / s->flow[i].rate);
	for (i = 0; i < s->jobs; i++) {
		const struct job *j = &s->job[i];

		if (j->stage == j->kind->stages)
			continue;
		tick = fmin(tick, j->size * j->kind->seconds / TICK);
		if (!j->sending)
			timers = fmin(timers, j->send_at);
		else if (!j->flows)
			timers = fmin(timers, j->compute_end);
	}
	return fmin(fmax(flows, now + tick), fmax(timers, now));
}

static bool step_jobs(struct sim *s, double now)
{
	bool running = false, changed = false;
	unsigned int i;

	for (i = 0; i < s->jobs; i++) {
		struct job *j = &s->job[i];

		if (j->stage == j->kind->stages)
			continue;
		if (!j->sending && now >= j->send_at) {
			set_volumes(s, i);
			changed |= s->stages;
		}
		if (j->sending && !j->flows && !j->sent) {
			j->sent = true;
			changed |= s->stages;
		}
		if (j->sending && !j->flows && now >= j->compute_end) {
			j->stage++;
			j->end = now;
			if (j->stage < j->kind->stages)
				begin_stage(j, now);
			else
				changed = true;
		}
		running |= j->stage < j->kind->stages;
	}
	/* the end of an application is that of its registration */
	if (changed && running)
		allocate_queues(s);
	return running;
}

/**
 * jobs_run() - run all applications to their ends
 * @s: run; the end of each application is in its @end
 */
void jobs_run(struct sim *s)
{
	double now = 0;
	unsigned int i;

	shares = sim_memory(calloc(s->jobs, sizeof(*shares)));
	for (i = 0; i < s->flows; i++) {
		s->flow[i].left = 0;
		shares[s->flow[i].job]++;
	}
	for (i = 0; i < s->jobs; i++) {
		s->job[i].stage = 0;
		begin_stage(&s->job[i], 0);
	}
	allocate_queues(s);
	while (step_jobs(s, now)) {
		double then;

		allocate_rates(s);
		then = next_event(s, now);
		for (i = 0; i < s->flows; i++) {
			struct flow *f = &s->flow[i];

			if (!(f->left > 0) || !(f->rate > 0))
				continue;
			f->left -= f->rate * (then - now);
			if (f->left <= 1e-12) {
				f->left = 0;
				s->job[f->job].flows--;
			}
		}
		now = then;
	}
	free(shares);
}
