/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shuffle-stream: inputs and builders around the engines, on AF_SHUFFLE sockets.
 *
 * A piece is the message of an operation: one for each time-slice, with the inputs as senders and
 * the time-slice's builder as receiver.  What is said beside that goes by small datagrams:
 * status.h.
 */
#ifndef STREAM_RUN_H
#define STREAM_RUN_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "shuffle.h"
#include "stream.h"

enum run_schedule {
	RUN_DFS,	/* times from the builders' engines */
	RUN_NONE,	/* whenever there is a ticket */
	RUN_BENCH,	/* the same, each input to one builder of its own: the upper limit */
};

/**
 * struct run_clock - the clock of this member, perhaps a wrong one
 * @start: CLOCK_MONOTONIC when the program began, ns
 * @offset: added to it, ns
 * @ppb: drift since @start, ns a second
 */
struct run_clock {
	s64	start;
	s64	offset;
	s64	ppb;
};

/**
 * struct run_member - who takes part
 * @addr: of its AF_SHUFFLE socket
 * @udp: of its status datagrams: the same address, the same number as UDP port
 * @udp_len: bytes of @udp
 */
struct run_member {
	struct sockaddr_shuffle	addr;
	struct sockaddr_storage	udp;
	socklen_t		udp_len;
};

/**
 * struct run - a member of a stream: what the command line says, and sockets
 * @cfg: what the engines need
 * @member: inputs, then builders
 * @addr: their addresses, as a group
 * @self: our own place in @member
 * @rank: among inputs, or among builders
 * @id: of the stream: what belongs to another one is dropped
 * @schedule: when pieces leave
 * @piece: most bytes of a piece
 * @intervals: how many; 0: until the sources end
 * @source: what an input sends: NULL: generated
 * @sink: where a builder puts time-slices: NULL: nowhere, they are counted
 * @verify: every byte is compared with what is generated
 * @process: time that a builder takes for a time-slice, ns
 * @slow_from: in intervals from here
 * @slow_to: to here
 * @slow: an input is slower by this part, in 1/1000
 * @clock: our clock
 * @json: the log is JSON
 * @log: one line for each interval
 * @quiet: none on a terminal
 * @metrics: TCP socket of the Prometheus endpoint, or -1
 * @data: AF_SHUFFLE socket
 * @control: UDP socket
 */
struct run {
	struct stream_config	cfg;
	struct run_member	*member;
	struct sockaddr_shuffle	*addr;
	u32			self;
	u32			rank;
	u64			id;
	enum run_schedule	schedule;
	u32			piece;
	u64			intervals;
	const char		*source;
	const char		*sink;
	bool			verify;
	s64			process;
	u64			slow_from;
	u64			slow_to;
	u32			slow;
	struct run_clock	clock;
	bool			json;
	FILE			*log;
	bool			quiet;
	int			metrics;
	int			data;
	int			control;
};

#define RUN_HEARTBEAT	(50 * 1000000LL)	/* status without news, ns */
#define RUN_NO_END	UINT64_MAX

void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *memory(size_t n, size_t size);

/* clock.c */
s64 run_monotonic(void);
s64 run_now(const struct run_clock *c);
s64 run_to_monotonic(const struct run_clock *c, s64 t);

/* options.c */
void run_options(struct run *r, bool builder, int argc, char **argv);

/* sockets.c */
void run_open(struct run *r);
u64 run_incarnation(void);
u64 run_op(u64 incarnation, u64 slice);
extern volatile sig_atomic_t run_stopped;
void run_signals(void);
void run_wait(struct pollfd *p, nfds_t n, s64 until);

/* generate.c */
void piece_generate(u32 input, u64 slice, u8 *to, u32 len);
bool piece_is_generated(u32 input, u64 slice, u32 offset, const u8 *data, u32 len);

/* input_run.c, builder_run.c, monitor.c, plot.c */
int run_input(struct run *r);
int run_builder(struct run *r);
int run_monitor(int argc, char **argv);
int run_plot(int argc, char **argv);

#endif /* STREAM_RUN_H */
