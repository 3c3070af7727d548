/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Status: what inputs and builders tell each other beside pieces.
 *
 * A datagram says all that its receiver has to know, so the last one is enough, and one that is
 * lost, doubled or late does no harm.  It is sent when something has changed, and every 50 ms.
 */
#ifndef STREAM_STATUS_H
#define STREAM_STATUS_H

#include "run.h"

#define STATUS_REPORTS		8	/* the last ones of an input */
#define STATUS_PROPOSALS	4
#define STATUS_NONE		0xffffU	/* no builder */
#define STATUS_MAX		600	/* bytes of a datagram */

/**
 * struct status_head - of every status
 * @builder: from a builder
 * @from: rank of the sender among its kind
 * @stream: which stream
 * @incarnation: of the sender: another one after each start
 * @number: of the status: older ones are dropped
 */
struct status_head {
	bool	builder;
	u32	from;
	u64	stream;
	u64	incarnation;
	u64	number;
};

/**
 * struct status_input - an input tells a builder
 * @head: of every status
 * @released: rounds of the builder's place that the input knows to be released
 * @end: interval with which the input ends, RUN_NO_END: not known
 * @done: it has ended, all pieces are released
 * @failed: builder that the input holds for failed, STATUS_NONE
 * @failed_round: rounds of that one's place that the input knows to be released by it
 * @taken_round: and by the builder to which this is said, as far as they are its own
 * @reports: number of @report
 * @report: the last intervals
 */
struct status_input {
	struct status_head	head;
	u64			released;
	u64			end;
	bool			done;
	u32			failed;
	u64			failed_round;
	u64			taken_round;
	u32			reports;
	struct stream_report	report[STATUS_REPORTS];
};

/**
 * struct status_builder - a builder tells an input
 * @head: of every status
 * @ready: it knows where it begins
 * @released: rounds of its place that are released
 * @end: interval with which all inputs end, RUN_NO_END: not known
 * @taken: builder that has failed, of whose place it builds some rounds; STATUS_NONE
 * @taken_round: rounds of that place that are released, as far as they were its own
 * @proposals: number of @proposal
 * @proposal: by the clock of the input
 */
struct status_builder {
	struct status_head	head;
	bool			ready;
	u64			released;
	u64			end;
	u32			taken;
	u64			taken_round;
	u32			proposals;
	struct stream_proposal	proposal[STATUS_PROPOSALS];
};

size_t status_put_input(u8 *to, const struct status_input *s);
size_t status_put_builder(u8 *to, const struct status_builder *s);
int status_get_input(const struct run *r, const u8 *from, size_t len, struct status_input *s);
int status_get_builder(const struct run *r, const u8 *from, size_t len, struct status_builder *s);

void status_send(const struct run *r, u32 member, const u8 *data, size_t len);
ssize_t status_receive(const struct run *r, u8 *data, size_t size, u32 *member);

#endif /* STREAM_STATUS_H */
