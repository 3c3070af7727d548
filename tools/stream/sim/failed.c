// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An input that fails.  Builders see that a contribution is missing, and drop it after the timeout
 * of stream_dde_timeout(); those without an engine after the shortest one.
 */
#include "sim.h"

#define WATCH	10000000LL	/* time between looks for a failed input, ns */

/**
 * sim_failed() - is an input dead?
 * @s: the run
 * @input: which
 *
 * Return: it has failed.
 */
bool sim_failed(const struct sim *s, u32 input)
{
	return s->dead && input == s->cfg->stream.inputs - 1;
}

/**
 * sim_fail() - let the last input die
 * @s: the run
 * @input: which that is
 *
 * Pieces that wait for its link are lost; what it has not sent does not count as missing.
 */
void sim_fail(struct sim *s, u32 input)
{
	struct sim_input *in = &s->input[input];
	u64 sent = (u64)s->total * (in->engine->next - 1) - in->queued;

	s->dead = true;
	in->queued = 0;
	s->all -= (u64)s->total * s->cfg->intervals - sent;
	s->measure_to = s->all - (u64)s->total * (s->cfg->stream.inputs - 1);
	sim_at(s, &(struct sim_event){ .time = s->now + WATCH, .kind = SIM_WATCH });
}

/**
 * sim_needed() - how many pieces a time-slice needs
 * @s: the run
 * @b: its builder
 * @slice: its number at this builder
 *
 * Return: inputs, but for one that was dropped and has not sent its own.
 */
u32 sim_needed(const struct sim *s, const struct sim_builder *b, u64 slice)
{
	u32 last = s->cfg->stream.inputs - 1;

	return b->dropped && b->arrived[last] <= slice ? last : last + 1;
}

/* Tell the engine what is missing, and let it drop who has failed. */
static bool expire(struct sim *s, u32 builder, s64 since)
{
	struct sim_builder *b = &s->builder[builder];
	u32 last = s->cfg->stream.inputs - 1, who = last;
	s64 now = sim_clock_local(&b->clock, s->now);
	int n;

	if (builder >= s->cfg->ddes || !s->dde[builder])
		return s->now - since >= s->cfg->stream.timeout;
	stream_dde_owes(s->dde[builder], last, sim_clock_local(&b->clock, since));
	n = stream_dde_expire(s->dde[builder], now, &who);
	if (n < 0)
		return false;
	if (who != last)
		die("input %u was dropped, which has not failed", who);
	s->res->dropped++;
	sim_host_propose(s, builder, n);
	return true;
}

/**
 * sim_watch() - do builders miss the input that failed?
 * @s: the run
 */
void sim_watch(struct sim *s)
{
	u32 last = s->cfg->stream.inputs - 1, i;
	bool all = true;

	for (i = 0; i < s->cfg->stream.builders; i++) {
		struct sim_builder *b = &s->builder[i];
		u32 at = (u32)(b->complete % b->window);

		if (!b->dropped && b->got[at] && b->arrived[last] <= b->complete &&
		    expire(s, i, b->first[at])) {
			b->dropped = true;
			sim_host_complete(s, i);
		}
		all &= b->dropped;
	}
	if (!all)
		sim_at(s, &(struct sim_event){ .time = s->now + WATCH, .kind = SIM_WATCH });
}
