/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The last intervals, each unified over all inputs, and what is proposed because of them.
 * Portable; see stream.h.
 */
#ifndef STREAM_HISTORY_H
#define STREAM_HISTORY_H

#include "stream.h"

/**
 * struct stream_unified - an interval, unified over all inputs
 * @interval: which
 * @start: mean of the starts, builder's clock
 * @duration: median of the durations, ns
 * @proposed: median of what the inputs had to keep, ns; 0: none had anything
 * @inputs: inputs in it
 */
struct stream_unified {
	u64	interval;
	s64	start;
	s64	duration;
	s64	proposed;
	u32	inputs;
};

/**
 * struct stream_history - the last of them
 * @span: how many the source looks at
 * @size: how many are kept: more, to know again how fast it once was
 * @whole: nothing was before the first of them
 * @n: how many there are
 * @at: where the next goes
 * @last: a ring
 */
struct stream_history {
	u32			span;
	u32			size;
	bool			whole;
	u32			n;
	u32			at;
	struct stream_unified	last[STREAM_MAX_HISTORY];
};

/**
 * struct stream_outlook - what is to be expected, and proposed
 * @level: duration of an interval, ns
 * @deviation: of the lags, ns
 * @back: duration that was possible before the level rose, and is tried again; 0: it is not
 * @known: all that was to be looked at is there
 */
struct stream_outlook {
	s64	level;
	s64	deviation;
	s64	back;
	bool	known;
};

void stream_history_init(struct stream_history *h, const struct stream_config *cfg, bool whole);
const struct stream_unified *stream_history_at(const struct stream_history *h, u32 age);
void stream_history_add(struct stream_history *h, const struct stream_unified *u);
const struct stream_unified *stream_history_latest(const struct stream_history *h);
s64 stream_history_median(const struct stream_history *h);
s64 stream_history_deviation(const struct stream_history *h, s64 low, s64 high);
bool stream_gate(const struct stream_config *cfg, s64 deviation, s64 median);
s64 stream_proposed_start(const struct stream_unified *w, s64 median, u64 interval);
s64 stream_proposed_duration(const struct stream_config *cfg, s64 deviation, s64 median);

/* level.c */
void stream_look(const struct stream_config *cfg, const struct stream_history *h,
		 struct stream_outlook *o);

#endif /* STREAM_HISTORY_H */
