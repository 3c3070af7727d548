/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An input at work. */
#ifndef STREAM_INPUT_RUN_H
#define STREAM_INPUT_RUN_H

#include "input.h"
#include "pieces.h"
#include "source.h"
#include "status.h"

/**
 * struct input_peer - a builder as an input sees it
 * @incarnation: 0: not heard of
 * @number: of its last status
 * @heard: when that came, CLOCK_MONOTONIC
 * @ready: it knows where it begins
 * @released: rounds of its place that it has released
 * @taken: rounds of the place of a builder that has failed, likewise
 */
struct input_peer {
	u64	incarnation;
	u64	number;
	s64	heard;
	bool	ready;
	u64	released;
	u64	taken;
};

/**
 * struct input - an input at work
 * @r: what the command line says
 * @engine: says what to send
 * @source: of pieces
 * @pieces: that were not released
 * @peer: by builder
 * @failed: the builder that has failed, STATUS_NONE
 * @failed_round: rounds of its place that are known to be released
 * @end: interval with which all inputs end
 * @own_end: with which this one can end
 * @incarnation: of this process
 * @number: of the last status
 * @report: the last intervals, by interval modulo STATUS_REPORTS
 * @reports: how many there were, ever
 * @told: when the last status was sent, CLOCK_MONOTONIC
 * @news: there is something to be told
 * @began: when sending began
 * @hold: a slow input sends nothing before, CLOCK_MONOTONIC
 * @starved: the source has nothing now
 * @full: the kernel has no room for the rest of a piece
 * @base: duration of its last interval that was not slow
 * @bytes: of pieces that were acknowledged
 * @acked: their number
 * @again: pieces that were sent again
 * @latency: of the last interval, ns
 * @lens: lengths of a row, all absent but while a piece is handed over
 * @bufs: its data
 * @absent: nobody has a message for us
 */
struct input {
	struct run		*r;
	struct stream_input	*engine;
	struct source		*source;
	struct pieces		pieces;
	struct input_peer	*peer;
	u32			failed;
	u64			failed_round;
	u64			end;
	u64			own_end;
	u64			incarnation;
	u64			number;
	struct stream_report	report[STATUS_REPORTS];
	u64			reports;
	s64			told;
	bool			news;
	s64			began;
	s64			hold;
	bool			starved;
	bool			full;
	s64			base;
	u64			bytes;
	u64			acked;
	u64			again;
	s64			latency;
	uint64_t		*lens;
	const void		**bufs;
	uint64_t		*absent;
};

/* input_send.c */
void input_hand_over(struct input *in, struct piece *q);
void input_hand_over_waiting(struct input *in);
void input_send_again(struct input *in, struct piece *q);
bool input_send(struct input *in, s64 *until);
bool input_is_over(const struct input *in);

/* input_hear.c */
void input_hear_kernel(struct input *in);
void input_hear_builders(struct input *in);
void input_look_for_failed(struct input *in);
void input_tell(struct input *in);

/* logs.c */
void input_log_interval(const struct input *in, const struct stream_report *r);
void input_log_event(const struct input *in, const char *event, u32 builder);
void input_log_end(const struct input *in);
void input_metrics(const struct input *in);

#endif /* STREAM_INPUT_RUN_H */
