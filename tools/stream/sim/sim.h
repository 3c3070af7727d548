/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulation of time-slice building, with the engines of libshuffle-stream as they are.  Its
 * clock is in nanoseconds; events are pieces, not packets: a host's link carries one piece at a
 * time, and a builder's link takes pieces in the order in which they arrive, cut through.
 */
#ifndef STREAM_SIM_H
#define STREAM_SIM_H

#include <stdio.h>

#include "../dde.h"
#include "../input.h"
#include "../../workload/rng.h"

#define SIM_MAX_HOSTS	512U		/* inputs, and builders */
#define SIM_MAX_DDES	16U
#define SIM_MAX_PIECES	2000000000ULL	/* of a run */

enum sim_schedule { SIM_DFS, SIM_NONE, SIM_BENCH, SIM_SCHEDULES };
enum sim_nic { SIM_FIFO, SIM_ROUND_ROBIN };

/**
 * struct sim_config - everything that a run depends on
 * @stream: of the engines
 * @nic: enum sim_nic: order of the pieces that a host has been given
 * @same_order: SIM_NONE: all inputs begin a round with builder 0, not each with another one
 * @intervals: how many are sent
 * @warmup: of those, not measured
 * @ddes: builders that have an engine, the first ones
 * @restart: interval after which the first engine is restarted; 0: never
 * @fail: interval in which the last input sends nothing more; 0: never
 * @piece: bytes on a link, with descriptor and status
 * @rate: of all links, bits a ns
 * @latency: of the network, one way, ns
 * @buffer: bytes that wait at a builder's link before inputs have to; 0: any number
 * @process: time that a builder needs for a time-slice, ns
 * @noise: a piece needs up to this part longer at its input, uniform
 * @pause_every: mean time between pauses of an input, ns; 0: none
 * @pause: mean length of a pause, exponential, ns
 * @slow_from: first interval in which inputs are slower
 * @slow_to: last one
 * @slow: by this part; 0: never
 * @slow_inputs: how many
 * @offset: clocks are off by up to this, either way, ns
 * @drift: and drift by up to this, either way, ppb
 * @control_noise: reports and proposals need up to this longer, ns
 * @sample: time between looks at the buffers, ns; 0: a tenth of an ideal interval
 * @seed: of everything random
 */
struct sim_config {
	struct stream_config	stream;
	enum sim_nic		nic;
	bool			same_order;
	u32			intervals;
	u32			warmup;
	u32			ddes;
	u32			restart;
	u32			fail;
	u32			piece;
	double			rate;
	s64			latency;
	u64			buffer;
	s64			process;
	double			noise;
	double			pause_every;
	double			pause;
	u32			slow_from;
	u32			slow_to;
	double			slow;
	u32			slow_inputs;
	double			offset;
	double			drift;
	s64			control_noise;
	s64			sample;
	u64			seed;
};

/**
 * struct sim_spread - smallest, largest and what is between
 * @v: minimum, 10th, 50th, 90th, 95th percentile, maximum
 * @n: of how many
 */
struct sim_spread {
	double	v[6];
	u64	n;
};

/**
 * struct sim_interval - an interval, as it was
 * @proposed: by the first engine, ns; 0: nothing
 * @actual: median of the inputs' durations, ns
 * @first: start of the first input, simulated time, ns
 * @last: start of the last one
 * @end: last acknowledgment
 */
struct sim_interval {
	double	proposed;
	double	actual;
	s64	first;
	s64	last;
	s64	end;
};

/**
 * struct sim_result - what came out
 * @throughput: part of the capacity of the links
 * @time: of what was measured, ns
 * @slices: that were measured
 * @pieces: sent in all
 * @gap: from the first to the last arrival of a time-slice, ns
 * @fill: buffers of all pairs, part of the ring
 * @rank: the same of the fullest buffer of a builder, the next ...; by place
 * @ranks: how many: inputs
 * @interval: by number
 * @intervals: how many
 * @late: part of the contributions that were sent after the end of their interval
 * @blocked: part that had to wait for a ticket
 * @disagreed: proposals in which two engines differed in duration
 * @refused: reports and proposals that the engines refused
 * @dropped: inputs that the engines have dropped, of all engines
 */
struct sim_result {
	double			throughput;
	double			time;
	u64			slices;
	u64			pieces;
	struct sim_spread	gap;
	struct sim_spread	fill;
	struct sim_spread	*rank;
	u32			ranks;
	struct sim_interval	*interval;
	u32			intervals;
	double			late;
	double			blocked;
	u64			disagreed;
	u64			refused;
	u64			dropped;
};

enum sim_event_kind {
	SIM_UP_FREE,	/* an input's link is free */
	SIM_ARRIVE,	/* a piece is at its builder */
	SIM_PORT_OPEN,	/* a builder's link has room for the next that waits */
	SIM_POLL,	/* an input has asked for this time */
	SIM_REPORT,	/* a report is at a builder */
	SIM_PROPOSAL,	/* a proposal is at an input */
	SIM_RELEASE,	/* a builder is done with a time-slice */
	SIM_SAMPLE,	/* look at the buffers */
	SIM_WATCH,	/* has an input failed? */
};

/**
 * struct sim_event - something that happens
 * @time: when, ns
 * @order: of two at the same time, the smaller first
 * @value: of the kind
 * @issued: SIM_ARRIVE: when the engine gave the piece away
 * @kind: enum sim_event_kind
 * @a: input or builder
 * @b: the other one
 */
struct sim_event {
	s64	time;
	u64	order;
	u64	value;
	s64	issued;
	u32	kind;
	u16	a;
	u16	b;
};

/**
 * struct sim_heap - what is to come
 * @v: a binary heap
 * @n: how many
 * @cap: room
 * @order: of the next
 */
struct sim_heap {
	struct sim_event	*v;
	u32			n;
	u32			cap;
	u64			order;
};

/**
 * struct sim_fifo - what comes after a constant time: no heap is needed
 * @v: a ring
 * @head: first, counted from the beginning of time
 * @tail: behind the last
 * @cap: room, a power of two
 */
struct sim_fifo {
	struct sim_event	*v;
	u64			head;
	u64			tail;
	u64			cap;
};

/**
 * struct sim_clock - of a host
 * @offset: at the beginning, ns
 * @ppb: drift
 */
struct sim_clock {
	s64	offset;
	s64	ppb;
};

/**
 * struct sim_piece - a piece that waits for its input's link
 * @slice: its time-slice
 * @issued: when the engine gave it away
 * @builder: where it goes
 */
struct sim_piece {
	u64	slice;
	s64	issued;
	u32	builder;
};

/**
 * struct sim_input - an input
 * @engine: NULL with SIM_BENCH
 * @clock: of the host
 * @wake: the SIM_POLL event that counts
 * @waiting: the engine waits for a ticket or an acknowledgment
 * @busy: its link is
 * @blocked: its link's piece waits for the builder's link
 * @now: that piece
 * @next_pause: when
 * @rnd: for noise and pauses
 * @queue: pieces that wait; SIM_ROUND_ROBIN: by builder
 * @head: by queue
 * @tail: by queue
 * @at: SIM_ROUND_ROBIN: the builder that is next
 * @queued: pieces that wait
 * @bench: SIM_BENCH: pieces sent
 */
struct sim_input {
	struct stream_input	*engine;
	struct sim_clock	clock;
	u64			wake;
	bool			waiting;
	bool			busy;
	bool			blocked;
	struct sim_piece	now;
	s64			next_pause;
	struct wl_rng		rnd;
	struct sim_piece	*queue;
	u32			*head;
	u32			*tail;
	u32			at;
	u32			queued;
	u64			bench;
};

/**
 * struct sim_builder - a builder
 * @clock: of the host
 * @free_at: its link has everything until then
 * @waiter: inputs whose piece waits for the link, a ring
 * @waiter_at: first
 * @waiters: how many
 * @arrived: pieces, by input
 * @got: pieces of a time-slice, by its number at this builder modulo @window
 * @first: when the first of those came
 * @window: time-slices that may be incomplete
 * @complete: time-slices
 * @released: time-slices
 * @done_at: when it will be done with the last complete one
 * @dropped: it does not wait for the last input any more
 */
struct sim_builder {
	struct sim_clock	clock;
	s64			free_at;
	u16			*waiter;
	u32			waiter_at;
	u32			waiters;
	u64			*arrived;
	u32			*got;
	s64			*first;
	u32			window;
	u64			complete;
	u64			released;
	s64			done_at;
	bool			dropped;
};

/**
 * struct sim - a run
 * @cfg: what it depends on
 * @schedule: who decides when a piece leaves
 * @now: ns
 * @heap: what is to come
 * @acks: acknowledgments on their way
 * @tickets: tickets on their way
 * @input: by number
 * @builder: by number
 * @dde: engines of the first builders
 * @report: reports on their way, [input][interval modulo STREAM_WINDOW]
 * @total: pieces of an interval of an input
 * @all: pieces of the run
 * @dead: the last input has failed
 * @arrived: of those
 * @measure_from: pieces that have arrived when measuring begins
 * @measure_to: and when it ends
 * @time_from: when it began
 * @gap: of time-slices
 * @gaps: how many
 * @fill: looks at buffers that had this many pieces
 * @rank_fill: the same by rank: [rank][pieces]
 * @rnd: for control messages
 * @progress: to be shown
 * @res: what comes out
 */
struct sim {
	const struct sim_config	*cfg;
	enum sim_schedule	schedule;
	s64			now;
	struct sim_heap		heap;
	struct sim_fifo		acks;
	struct sim_fifo		tickets;
	struct sim_input	*input;
	struct sim_builder	*builder;
	struct stream_dde	*dde[SIM_MAX_DDES];
	struct stream_report	*report;
	u32			total;
	u64			all;
	bool			dead;
	u64			arrived;
	u64			measure_from;
	u64			measure_to;
	s64			time_from;
	double			*gap;
	u64			gaps;
	u64			*fill;
	u64			*rank_fill;
	struct wl_rng		rnd;
	bool			progress;
	struct sim_result	*res;
};

/* run.c */
void sim_defaults(struct sim_config *cfg);
const char *sim_config_error(const struct sim_config *cfg);
void sim_run(const struct sim_config *cfg, enum sim_schedule schedule, bool progress,
	     struct sim_result *res);
void sim_result_free(struct sim_result *res);

/* events.c */
u64 sim_at(struct sim *s, const struct sim_event *e);
struct sim_event sim_pop(struct sim *s);
void sim_fifo_push(struct sim_fifo *f, const struct sim_event *e);

/* net.c */
void sim_net_init(struct sim *s);
void sim_net_free(struct sim *s);
void sim_net_send(struct sim *s, u32 input, u32 builder, u64 slice);
void sim_net_up_free(struct sim *s, u32 input);
void sim_net_port_open(struct sim *s, u32 builder);

/* host.c */
void sim_host_init(struct sim *s);
void sim_host_free(struct sim *s);
void sim_host_poll(struct sim *s, u32 input);
void sim_host_event(struct sim *s, const struct sim_event *e);
void sim_host_ack(struct sim *s, const struct sim_event *e);
void sim_host_tickets(struct sim *s, const struct sim_event *e);
void sim_host_complete(struct sim *s, u32 builder);
void sim_host_propose(struct sim *s, u32 dde, int intervals);

/* failed.c */
bool sim_failed(const struct sim *s, u32 input);
void sim_fail(struct sim *s, u32 input);
u32 sim_needed(const struct sim *s, const struct sim_builder *b, u64 slice);
void sim_watch(struct sim *s);

/* measure.c */
void sim_measure_init(struct sim *s);
void sim_measure_arrival(struct sim *s, u64 arrived);
void sim_measure_gap(struct sim *s, s64 gap);
void sim_measure_buffers(struct sim *s);
void sim_measure_end(struct sim *s);
void sim_spread_of(struct sim_spread *p, double *v, u64 n);

/* clock.c: real time and a host's */
s64 sim_clock_local(const struct sim_clock *c, s64 real);
s64 sim_clock_real(const struct sim_clock *c, s64 local);

/* util.c */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *memory(size_t n, size_t size);
void *memory_more(void *old, size_t n, size_t size);
FILE *output_open(const char *path);
void output_close(FILE *f, const char *path);

static inline bool sim_measuring(const struct sim *s)
{
	return s->arrived >= s->measure_from && s->arrived < s->measure_to;
}

#endif /* STREAM_SIM_H */
