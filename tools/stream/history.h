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
 * @size: how many are kept
 * @n: how many there are
 * @at: where the next goes
 * @last: a ring
 */
struct stream_history {
	u32			size;
	u32			n;
	u32			at;
	struct stream_unified	last[STREAM_MAX_HISTORY];
};

void stream_history_add(struct stream_history *h, const struct stream_unified *u);
const struct stream_unified *stream_history_latest(const struct stream_history *h);
s64 stream_history_median(const struct stream_history *h);
s64 stream_history_deviation(const struct stream_history *h);
bool stream_gate(const struct stream_config *cfg, s64 deviation, s64 median);
s64 stream_proposed_start(const struct stream_unified *w, s64 median, u64 interval);
s64 stream_proposed_duration(const struct stream_config *cfg, s64 deviation, s64 median);

#endif /* STREAM_HISTORY_H */
