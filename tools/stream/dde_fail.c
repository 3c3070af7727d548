// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The deterministic engine of a builder: inputs that fail.
 *
 * An input that is silent may only wait for a ticket, because another one has failed.  So an input
 * counts as failed if it owes something: a contribution to the oldest time-slice, which the builder
 * knows, or the report of an interval that others have reported.
 */
#include "dde.h"

/**
 * stream_dde_timeout() - how long an input may owe something
 * @d: the engine
 * @median: duration of an interval, if there is no history yet; ns
 *
 * Source: section III.D has no number; three intervals, and @d->cfg.timeout at least.
 * Return: ns.
 */
s64 stream_dde_timeout(const struct stream_dde *d, s64 median)
{
	s64 t = 3 * (d->history.n ? stream_history_median(&d->history) : median);

	return t > d->cfg.timeout ? t : d->cfg.timeout;
}

/**
 * stream_dde_owes() - a contribution of an input is missing
 * @d: the engine
 * @input: whose
 * @since: when another input's to the same, oldest time-slice came, builder's clock; STREAM_NEVER:
 *	nothing is missing any more
 *
 * Return: 0; -EINVAL without such an input or if @since is no time.
 */
int stream_dde_owes(struct stream_dde *d, u32 input, s64 since)
{
	if (input >= d->cfg.inputs)
		return -EINVAL;
	if (since != STREAM_NEVER && (since < 0 || since > STREAM_MAX_TIME))
		return -EINVAL;
	d->peer[input].owes = since;
	return 0;
}

/* When the first report of the next interval came; the median of what is reported of it. */
static s64 first_report(const struct stream_dde *d, s64 *median)
{
	const struct stream_slot *s = &d->slot[(d->next % STREAM_WINDOW) * d->cfg.inputs];
	s64 first = STREAM_NEVER;
	u32 i, n = 0;

	for (i = 0; i < d->cfg.inputs; i++) {
		if (!s[i].used)
			continue;
		d->scratch[n++] = s[i].report.duration;
		if (s[i].received < first)
			first = s[i].received;
	}
	*median = stream_median(d->scratch, n);
	return first;
}

/**
 * stream_dde_deadline() - when the next input will have failed
 * @d: the engine
 * @input: which one that is; may be NULL
 *
 * Return: builder's clock; STREAM_NEVER if none owes anything.
 */
s64 stream_dde_deadline(const struct stream_dde *d, u32 *input)
{
	s64 first = STREAM_NEVER, since = STREAM_NEVER, median = 0;
	u32 i;

	if (d->synced)
		first = first_report(d, &median);
	for (i = 0; i < d->cfg.inputs; i++) {
		const struct stream_slot *s;
		s64 t = d->peer[i].owes;

		if (stream_dde_failed(d, i))
			continue;
		s = &d->slot[(d->next % STREAM_WINDOW) * d->cfg.inputs + i];
		if (d->synced && d->peer[i].from <= d->next && !s->used && first < t)
			t = first;
		if (t >= since)
			continue;
		since = t;
		if (input)
			*input = i;
	}
	if (since == STREAM_NEVER)
		return STREAM_NEVER;
	return since + stream_dde_timeout(d, median);
}

/**
 * stream_dde_expire() - drop an input that has failed
 * @d: the engine
 * @now: builder's clock, ns
 * @input: which one it was
 *
 * To be called until it returns -EAGAIN, when stream_dde_deadline() is over.  Intervals are then
 * complete without the input.  It is back with its next report.
 *
 * Return: how many intervals are complete because of it; -EAGAIN if no input has failed.
 */
int stream_dde_expire(struct stream_dde *d, s64 now, u32 *input)
{
	s64 deadline = stream_dde_deadline(d, input);

	if (deadline == STREAM_NEVER || now < deadline)
		return -EAGAIN;
	d->peer[*input].from = (u64)STREAM_NEVER;
	d->peer[*input].owes = STREAM_NEVER;
	d->counters.dropped++;
	return stream_dde_advance(d);
}
