/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Time-slice building with scheduled senders: what the engines of inputs and builders share.
 *
 * Inputs produce a piece of every time-slice, a builder needs all pieces of its time-slices.  An
 * interval is a number of rounds; in a round every input sends one piece to every builder.
 *
 * Portable: no lock, no allocation, no clock, no library.  All times are integer nanoseconds.  Each
 * host's times are those of its own clock.
 *
 * Source: Salem, Schuett, Schintke, Reinefeld, "Scheduling Data Streams for Low Latency and High
 * Throughput on a Cray XC40 Using Libfabric", section III.
 */
#ifndef STREAM_H
#define STREAM_H

#include "portable.h"

#ifdef __KERNEL__
#define stream_div(a, b)	div64_s64(a, b)
#else
typedef int64_t s64;
#define S64_MAX			INT64_MAX
#define S64_MIN			INT64_MIN
#define stream_div(a, b)	((s64)(a) / (s64)(b))
#endif

#define STREAM_SECOND		1000000000LL
#define STREAM_MAX_INPUTS	4096U
#define STREAM_MAX_BUILDERS	4096U
#define STREAM_MAX_SLICES	(1U << 20)		/* of an interval */
#define STREAM_MAX_HISTORY	64U
#define STREAM_MEMORY		32U			/* intervals that a level is remembered */
#define STREAM_MAX_RING		(1U << 16)		/* tickets of a pair */
#define STREAM_MAX_INTERVAL	(1ULL << 40)		/* number of an interval */
#define STREAM_MAX_TIME		(1LL << 61)		/* of a clock: 73 years */
#define STREAM_MAX_DURATION	(3600 * STREAM_SECOND)	/* of an interval */
#define STREAM_MAX_LATENCY	(10 * STREAM_SECOND)	/* of an acknowledgment */
#define STREAM_MAX_PPB		1000000			/* drift of a clock: 1000 ppm */
#define STREAM_WINDOW		8U			/* intervals that are accepted ahead */
#define STREAM_OPEN		4U			/* intervals of an input without report */
#define STREAM_NEVER		S64_MAX

/**
 * struct stream_config - what all engines of a stream agree on
 * @inputs: hosts that send
 * @builders: hosts that receive
 * @slices: time-slices of an interval, about: rounds are whole (source: 10 000)
 * @ring: tickets of a pair of input and builder (source: 16)
 * @history: intervals that a proposal looks back at (source: 10)
 * @gate: proposals get faster if the standard deviation of the lags is at most this part of the
 *	median duration, in 1/1000 (source: 100)
 * @speedup: by this part, in 1/1000 (source: 50)
 * @change: durations within this part of the last one are one level, in 1/1000; it is another one
 *	if its median differs by more than a quarter of this part; 0: the source's rule, which knows
 *	no levels
 * @theta: part of the acknowledgments after which the next interval begins, in 1/1000
 * @min_duration: shortest interval that is believed, ns
 * @max_duration: longest, ns
 * @timeout: shortest time after which an input counts as failed, ns
 */
struct stream_config {
	u32	inputs;
	u32	builders;
	u32	slices;
	u32	ring;
	u32	history;
	u32	gate;
	u32	speedup;
	u32	change;
	u32	theta;
	s64	min_duration;
	s64	max_duration;
	s64	timeout;
};

/**
 * struct stream_report - what an input says of an interval that is over
 * @interval: which
 * @request: the next interval of which it wants a proposal
 * @start: when it began, input's clock
 * @duration: until the last acknowledgment, ns
 * @proposed: duration that it had to keep; 0: it had none
 * @latency: median of the times until acknowledgments came, ns
 * @input: who
 *
 * @proposed makes replicas agree: one that was restarted did not make the proposals itself.
 */
struct stream_report {
	u64	interval;
	u64	request;
	s64	start;
	s64	duration;
	s64	proposed;
	s64	latency;
	u32	input;
};

/**
 * struct stream_proposal - when an input is to send an interval
 * @interval: which
 * @start: input's clock
 * @duration: ns
 */
struct stream_proposal {
	u64	interval;
	s64	start;
	s64	duration;
};

/* config.c */
void stream_defaults(struct stream_config *cfg, u32 inputs, u32 builders);
const char *stream_config_error(const struct stream_config *cfg);

/* share.c */
u32 stream_rounds(const struct stream_config *cfg);
u64 stream_first_slice(const struct stream_config *cfg, u64 interval);
u32 stream_stagger(const struct stream_config *cfg, u32 input, u32 step);
u32 stream_builder(const struct stream_config *cfg, u64 slice, const u8 *failed);

/* median.c */
s64 stream_median(s64 *v, u32 n);
s64 stream_mean(const s64 *v, u32 n);

/* deviation.c */
u64 stream_root(u64 v);
s64 stream_deviation(const s64 *v, u32 n);

/**
 * stream_contributions() - pieces that an input sends in an interval
 * @cfg: the stream
 *
 * Return: rounds times builders.
 */
static inline u32 stream_contributions(const struct stream_config *cfg)
{
	return stream_rounds(cfg) * cfg->builders;
}

#endif /* STREAM_H */
