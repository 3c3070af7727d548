/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The clock of an input as a builder sees it: offset and drift, learnt from reports alone.
 * Portable; see stream.h.
 */
#ifndef STREAM_CLOCK_H
#define STREAM_CLOCK_H

#include "stream.h"

/**
 * struct stream_clock - what is known of an input's clock
 * @offset: builder's clock - input's clock at @end, ns
 * @end: end of the last interval, input's clock
 * @drift: change of the offset, ns a second of the input's clock (ppb)
 * @samples: drifts in @sample
 * @at: where the next goes
 * @known: there is an offset
 * @sample: drifts between consecutive intervals, ppb
 */
struct stream_clock {
	s64	offset;
	s64	end;
	s64	drift;
	u32	samples;
	u32	at;
	bool	known;
	s64	sample[STREAM_MAX_HISTORY - 1];
};

/**
 * stream_drifted() - what a clock that drifts is off after a time
 * @t: ns
 * @ppb: ns a second, of either sign, at most STREAM_SECOND
 *
 * Return: @t * @ppb / STREAM_SECOND, rounded towards 0; no product is too large for 64 bits.
 */
static inline s64 stream_drifted(s64 t, s64 ppb)
{
	return t / STREAM_SECOND * ppb + t % STREAM_SECOND * ppb / STREAM_SECOND;
}

/**
 * stream_undrifted() - the other way round
 * @t: ns, with what the clock is off
 * @ppb: as above, at most 2 * STREAM_MAX_PPB
 *
 * Return: the time without it, within 1 ns: each step is a hundred times nearer, or more.
 */
static inline s64 stream_undrifted(s64 t, s64 ppb)
{
	s64 without = t;
	int i;

	for (i = 0; i < 8; i++)
		without = t - stream_drifted(without, ppb);
	return without;
}

s64 stream_drift(s64 offset, s64 end, s64 offset_before, s64 end_before);
void stream_clock_update(struct stream_clock *c, u32 history, s64 end, s64 latency, s64 received);
s64 stream_clock_to_builder(const struct stream_clock *c, s64 t);
s64 stream_clock_to_input(const struct stream_clock *c, s64 t);

#endif /* STREAM_CLOCK_H */
