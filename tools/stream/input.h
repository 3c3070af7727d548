/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The engine of an input: what to send next, to whom and when; what to report.
 *
 * It never waits for a proposal: without one it goes on as before.
 * Portable; see stream.h.
 */
#ifndef STREAM_INPUT_H
#define STREAM_INPUT_H

#include "stream.h"

#define STREAM_SAMPLES	1024U	/* latencies of an interval, of which the median is taken */

enum stream_step_kind {
	STREAM_SEND,		/* send this piece now; the engine takes it as sent */
	STREAM_UNTIL,		/* ask again at a time, or when something has happened */
	STREAM_BLOCKED,		/* ask again when a ticket or an acknowledgment has come */
};

/**
 * struct stream_step - what to do next
 * @kind: enum stream_step_kind
 * @builder: STREAM_SEND: to whom
 * @slice: STREAM_SEND: of which time-slice
 * @interval: STREAM_SEND: of which interval
 * @time: STREAM_UNTIL: when, input's clock; STREAM_SEND: when it was due
 */
struct stream_step {
	enum stream_step_kind	kind;
	u32			builder;
	u64			slice;
	u64			interval;
	s64			time;
};

/**
 * struct stream_input_counters - what became of what was heard
 * @proposals: first answers
 * @again: later ones of the same interval, and those of intervals that have begun
 * @absurd: refused values, of proposals, acknowledgments and tickets
 * @unguided: intervals without any proposal ever
 * @repeated: intervals without one in time
 * @late: contributions sent best-effort because the interval was over
 * @blocked: contributions that had to wait for a ticket
 */
struct stream_input_counters {
	u64	proposals;
	u64	again;
	u64	absurd;
	u64	unguided;
	u64	repeated;
	u64	late;
	u64	blocked;
};

/**
 * struct stream_open - an interval that has begun and is not reported
 * @interval: which
 * @start: when it began, input's clock
 * @planned: when it was to begin; the same if nobody had said
 * @duration: to be kept, ns; 0: send as fast as tickets allow
 * @last: when its last acknowledgment came
 * @sent: contributions sent
 * @acked: of those, acknowledged
 * @samples: latencies in @latency
 * @latency: every n-th, ns
 */
struct stream_open {
	u64	interval;
	s64	start;
	s64	planned;
	s64	duration;
	s64	last;
	u32	sent;
	u32	acked;
	u32	samples;
	s64	latency[STREAM_SAMPLES];
};

/**
 * struct stream_place - a place of a round: the builder that has it, or had
 * @passed: rounds whose contribution was due
 * @sent: of those, sent; the others wait for a ticket
 * @queued: it is in the queue of those for which a ticket may have come
 */
struct stream_place {
	u32	passed;
	u32	sent;
	bool	queued;
};

/**
 * struct stream_target - a builder's tickets
 * @sent: pieces sent to it, ever
 * @released: of those, released by it
 */
struct stream_target {
	u64	sent;
	u64	released;
};

/**
 * struct stream_input - the engine
 * @cfg: the stream
 * @input: which input
 * @total: contributions of an interval
 * @head: contribution of the current interval that is due next
 * @oldest: first interval that is not reported
 * @next: first interval that has not begun
 * @begun: there is a current interval: @next - 1
 * @end: when the last interval was to end, input's clock
 * @duration: of the last proposal, ns; 0: there was none ever
 * @open: by interval modulo STREAM_OPEN
 * @proposal: by interval modulo STREAM_WINDOW; duration 0: none
 * @counters: what became of what was heard
 * @place: by place of a round
 * @target: by builder
 * @failed: by builder
 * @queue: places for which a ticket may have come, a ring
 * @queue_at: first of them
 * @queue_n: how many
 */
struct stream_input {
	struct stream_config		cfg;
	u32				input;
	u32				total;
	u32				head;
	u64				oldest;
	u64				next;
	bool				begun;
	s64				end;
	s64				duration;
	struct stream_open		open[STREAM_OPEN];
	struct stream_proposal		proposal[STREAM_WINDOW];
	struct stream_input_counters	counters;
	struct stream_place		*place;
	struct stream_target		*target;
	u32				*queue;
	u8				*failed;
	u32				queue_at;
	u32				queue_n;
};

size_t stream_input_size(const struct stream_config *cfg);
struct stream_input *stream_input_init(void *memory, const struct stream_config *cfg, u32 input,
				       u64 interval);
int stream_input_proposal(struct stream_input *e, const struct stream_proposal *p, s64 now);
void stream_input_next(struct stream_input *e, s64 now, struct stream_step *step);
int stream_input_ack(struct stream_input *e, u64 slice, s64 latency, s64 now);
int stream_input_report(struct stream_input *e, struct stream_report *r);

/* tickets.c */
int stream_input_released(struct stream_input *e, u32 builder, u64 released);
int stream_input_take(struct stream_input *e, u32 builder);
int stream_input_builder_failed(struct stream_input *e, u32 builder);

/* Of tickets.c, for input.c */
bool stream_ticket(const struct stream_input *e, u32 builder);
void stream_place_queue(struct stream_input *e, u32 place);
u32 stream_place_target(const struct stream_input *e, u32 place);

#endif /* STREAM_INPUT_H */
