/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A builder at work. */
#ifndef STREAM_BUILDER_RUN_H
#define STREAM_BUILDER_RUN_H

#include "dde.h"
#include "status.h"

/**
 * struct contribution - the piece of an input
 * @data: where it is kept, NULL: it is not
 * @len: its bytes
 * @have: of those, arrived
 * @whole: all have
 */
struct contribution {
	u8	*data;
	u32	len;
	u32	have;
	bool	whole;
};

/**
 * struct slot - a time-slice that is being built
 * @round: which, of its place
 * @op: operation that brings it
 * @left: inputs whose piece is missing
 * @first: when the first piece was whole, CLOCK_MONOTONIC; 0: none is
 * @last: when the last one was
 * @maimed: an input failed after the operation began: the operation does not end by itself
 * @piece: by input
 */
struct slot {
	u64			round;
	u64			op;
	u32			left;
	s64			first;
	s64			last;
	bool			maimed;
	struct contribution	*piece;
};

/**
 * struct place - a place of a round, of which we build time-slices
 * @place: which
 * @next: rounds below are released, or are not ours
 * @open: rounds below have an operation, or are not ours
 * @size: slots
 * @at: the oldest slot
 * @n: slots in use
 * @slot: a ring
 */
struct place {
	u32		place;
	u64		next;
	u64		open;
	u32		size;
	u32		at;
	u32		n;
	struct slot	*slot;
};

#define HISTOGRAM	512	/* 8 for each power of two */

/**
 * struct histogram - times, or parts
 * @n: how many
 * @count: by logarithm
 */
struct histogram {
	u64	n;
	u64	count[HISTOGRAM];
};

/**
 * struct builder_peer - an input as a builder sees it
 * @incarnation: 0: not heard of
 * @number: of its last status
 * @heard: when that came, CLOCK_MONOTONIC
 * @released: rounds of our place that it knows to be released
 * @end: interval with which it can end
 * @done: it has ended
 * @gone: it has failed
 * @failed: builder that it holds for failed
 * @failed_round: rounds of that one's place that it knows to be released
 * @taken_round: and by us
 * @reports: it has reported
 */
struct builder_peer {
	u64	incarnation;
	u64	number;
	s64	heard;
	u64	released;
	u64	end;
	bool	done;
	bool	gone;
	u32	failed;
	u64	failed_round;
	u64	taken_round;
	u32	reports;
};

struct sink;

/**
 * struct builder - a builder at work
 * @r: what the command line says
 * @dde: the engine
 * @own: our place
 * @taken: the place of the builder that has failed
 * @failed: by builder, as the engines have it; NULL: none has
 * @lost: the builder that has failed, STATUS_NONE
 * @peer: by input
 * @live: inputs that have not failed
 * @incarnation: of this process
 * @number: of the last status
 * @ready: it is known where to begin
 * @end: interval with which all inputs end
 * @told: when the last status was sent, CLOCK_MONOTONIC
 * @news: there is something to be told
 * @began: when the first piece came
 * @sink: where time-slices go
 * @storing: pieces are kept for it
 * @working: the time-slice that is being worked on
 * @done_at: until when
 * @held: pieces that have arrived and are not released
 * @bytes: of pieces
 * @slices: released
 * @wrong: bytes that were not what they had to be
 * @gap: from the first to the last piece of a time-slice
 * @fill: of the tickets, in 1/1000, when a piece came
 * @now_gap: of this interval
 * @now_fill: likewise
 * @now_bytes: likewise
 * @now_since: when it began
 * @lens: lengths of our rows: all absent
 * @bufs: no data
 * @absent: who has no piece for us
 */
struct builder {
	struct run		*r;
	struct stream_dde	*dde;
	struct place		own;
	struct place		taken;
	u8			*failed;
	u32			lost;
	struct builder_peer	*peer;
	u32			live;
	u64			incarnation;
	u64			number;
	bool			ready;
	u64			end;
	s64			told;
	bool			news;
	s64			began;
	struct sink		*sink;
	bool			storing;
	struct slot		*working;
	s64			done_at;
	u64			held;
	u64			bytes;
	u64			slices;
	u64			wrong;
	struct histogram	gap;
	struct histogram	fill;
	struct histogram	now_gap;
	struct histogram	now_fill;
	u64			now_bytes;
	s64			now_since;
	uint64_t		*lens;
	const void		**bufs;
	uint64_t		*absent;
};

/* builder_slots.c */
void place_init(struct builder *b, struct place *p, u32 place, u64 round, u32 size);
void place_free(struct builder *b, struct place *p);
void place_open(struct builder *b, struct place *p);
struct slot *builder_find(struct builder *b, u64 op);
bool builder_release(struct builder *b, s64 *until);
void builder_input_failed(struct builder *b, u32 input);
u64 builder_rounds(const struct builder *b);

/* builder_hear.c */
void builder_hear_inputs(struct builder *b);
void builder_look_for_failed(struct builder *b);
void builder_tell(struct builder *b);

/* histogram.c, logs.c */
void histogram_add(struct histogram *h, u64 v);
double histogram_part(const struct histogram *h, double part);
void builder_log_interval(struct builder *b, u64 interval);
void builder_log_event(const struct builder *b, const char *event, u32 who);
void builder_log_end(const struct builder *b);
void builder_metrics(const struct builder *b);

/* sink.c */
struct sink *sink_open(const struct run *r);
void sink_close(struct sink *s);
bool sink_put(struct sink *s, u64 slice, const struct contribution *piece, u32 n);
int sink_fd(const struct sink *s);

#endif /* STREAM_BUILDER_RUN_H */
