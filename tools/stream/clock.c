// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The clock of an input as a builder sees it. */
#include "clock.h"

#define BILLION	1000000000LL

static s64 clamp_ppb(s64 v)
{
	if (v > STREAM_MAX_PPB)
		return STREAM_MAX_PPB;
	return v < -STREAM_MAX_PPB ? -STREAM_MAX_PPB : v;
}

/* What a clock with this drift gains in a time, ns; any time. */
static s64 gain(s64 time, s64 ppb)
{
	s64 whole = stream_div(time, BILLION);

	return whole * ppb + stream_div((time - whole * BILLION) * ppb, BILLION);
}

/**
 * stream_drift() - drift between two intervals
 * @offset: at the end of the later one, ns
 * @end: when that was, input's clock
 * @offset_before: at the end of the one before
 * @end_before: when that was; before @end
 *
 * Source: section III.B.3, equation 3.
 * Return: change of the offset, ns a second, within STREAM_MAX_PPB; 0 if times are not in order.
 */
s64 stream_drift(s64 offset, s64 end, s64 offset_before, s64 end_before)
{
	s64 change = offset - offset_before, time = end - end_before;

	if (time <= 0)
		return 0;
	/* The quotient would be out of bounds, or the product. */
	if (change > S64_MAX / BILLION || change < -(S64_MAX / BILLION))
		return clamp_ppb(stream_div(change, stream_div(time, BILLION) + 1));
	return clamp_ppb(stream_div(change * BILLION, time));
}

/**
 * stream_clock_update() - an interval of the input is over
 * @c: the clock, zeroed before the first
 * @history: intervals that count: 2 to STREAM_MAX_HISTORY
 * @end: start and measured duration, input's clock: 0 to STREAM_MAX_TIME
 * @latency: median time until acknowledgments: half of it is the way of the report, ns
 * @received: when the report came, builder's clock: 0 to STREAM_MAX_TIME
 *
 * The drift is the median of those between consecutive intervals; there is one less than @history.
 * An interval that ends before the one before it (the clock was set) gives no drift.
 *
 * Source: section III.B.3, equations 2 and 3.
 */
void stream_clock_update(struct stream_clock *c, u32 history, s64 end, s64 latency, s64 received)
{
	s64 offset = received - end - latency / 2;
	s64 scratch[STREAM_MAX_HISTORY - 1];

	if (c->known && end > c->end) {
		c->sample[c->at] = stream_drift(offset, end, c->offset, c->end);
		c->at = c->at + 1 == history - 1 ? 0 : c->at + 1;
		if (c->samples < history - 1)
			c->samples++;
		memcpy(scratch, c->sample, c->samples * sizeof(*scratch));
		c->drift = stream_median(scratch, c->samples);
	}
	c->offset = offset;
	c->end = end;
	c->known = true;
}

/**
 * stream_clock_to_builder() - a time of the input's clock in the builder's
 * @c: the clock; known
 * @t: 0 to STREAM_MAX_TIME
 *
 * Return: t + offset + drift * (t - end).
 */
s64 stream_clock_to_builder(const struct stream_clock *c, s64 t)
{
	return t + c->offset + gain(t - c->end, c->drift);
}

/**
 * stream_clock_to_input() - a time of the builder's clock in the input's
 * @c: the clock; known
 * @t: 0 to STREAM_MAX_TIME
 *
 * The inverse of stream_clock_to_builder(), within 2 ns up to STREAM_MAX_DURATION from the end of
 * the last interval: each step leaves at most 1/1000 of the error.
 *
 * Return: the time.
 */
s64 stream_clock_to_input(const struct stream_clock *c, s64 t)
{
	s64 base = t - c->offset, r = base;
	int i;

	for (i = 0; i < 4; i++)
		r = base - gain(r - c->end, c->drift);
	return r;
}
