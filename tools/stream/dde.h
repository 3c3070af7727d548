/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The deterministic engine of a builder (DDE): reports of inputs in, proposals out.
 *
 * Several builders may have one each.  They are replicas that do not talk to each other: from the
 * same reports they compute the same, in whatever order the reports arrive, because an interval is
 * only looked at when all reports of it and of the intervals before are there.
 * Portable; see stream.h.
 */
#ifndef STREAM_DDE_H
#define STREAM_DDE_H

#include "clock.h"
#include "history.h"

/**
 * struct stream_dde_counters - what became of reports
 * @accepted: new ones
 * @again: said before, or of an interval that is complete
 * @ahead: more than STREAM_WINDOW intervals ahead
 * @joined: begun anew, because reports of all inputs were too far ahead
 * @absurd: with values that no clock and no interval can have
 * @dropped: inputs that failed
 * @returned: inputs that failed and reported again
 */
struct stream_dde_counters {
	u64	accepted;
	u64	again;
	u64	ahead;
	u64	joined;
	u64	absurd;
	u64	dropped;
	u64	returned;
};

/**
 * struct stream_peer - an input as the engine sees it
 * @clock: of the input
 * @from: first interval of which a report is needed; STREAM_NEVER: the input has failed
 * @owes: since when a contribution of it is missing, builder's clock; STREAM_NEVER: none is
 * @lost: its last report was too far ahead, and is gone
 */
struct stream_peer {
	struct stream_clock	clock;
	u64			from;
	s64			owes;
	bool			lost;
};

/**
 * struct stream_slot - a report that waits for its interval to be complete
 * @report: what the input said
 * @received: when it came, builder's clock
 * @used: there is one
 */
struct stream_slot {
	struct stream_report	report;
	s64			received;
	bool			used;
};

/**
 * struct stream_plan - an interval that was proposed
 * @interval: which
 * @start: builder's clock
 * @duration: ns
 * @used: there is one
 */
struct stream_plan {
	u64	interval;
	s64	start;
	s64	duration;
	bool	used;
};

/**
 * struct stream_dde - the engine
 * @cfg: the stream
 * @next: the interval that is not complete yet
 * @wait: complete intervals before the first proposal
 * @synced: @next is known; after a restart it is not
 * @history: of complete intervals
 * @plan: proposals, by interval modulo STREAM_WINDOW
 * @counters: what became of reports
 * @peer: by input
 * @slot: reports, [interval modulo STREAM_WINDOW][input]
 * @starts: starts of proposals by the clocks of the inputs, like @slot; S64_MIN: none
 * @scratch: a time for each input
 */
struct stream_dde {
	struct stream_config		cfg;
	u64				next;
	u32				wait;
	bool				synced;
	struct stream_history		history;
	struct stream_plan		plan[STREAM_WINDOW];
	struct stream_dde_counters	counters;
	struct stream_peer		*peer;
	struct stream_slot		*slot;
	s64				*starts;
	s64				*scratch;
};

size_t stream_dde_size(const struct stream_config *cfg);
struct stream_dde *stream_dde_init(void *memory, const struct stream_config *cfg, bool restarted);
int stream_dde_report(struct stream_dde *d, const struct stream_report *r, s64 now);
int stream_dde_proposal(const struct stream_dde *d, u32 input, u64 interval,
			struct stream_proposal *p);
const struct stream_plan *stream_dde_plan(const struct stream_dde *d, u64 interval);

/* dde_fail.c */
s64 stream_dde_timeout(const struct stream_dde *d, s64 median);
int stream_dde_owes(struct stream_dde *d, u32 input, s64 since);
s64 stream_dde_deadline(const struct stream_dde *d, u32 *input);
int stream_dde_expire(struct stream_dde *d, s64 now, u32 *input);

static inline bool stream_dde_failed(const struct stream_dde *d, u32 input)
{
	return d->peer[input].from == (u64)STREAM_NEVER;
}

/* Of dde.c, for dde_fail.c: complete what can be, whatever interval that is. */
int stream_dde_advance(struct stream_dde *d);

#endif /* STREAM_DDE_H */
