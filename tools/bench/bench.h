/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the benchmark programs share: one process per host of a rack (see
 * rack.sh), a common start, queue statistics, the result line.
 */
#ifndef BENCH_H
#define BENCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "matrix.h"

#define BENCH_MAX_HOSTS	1000

#define NS_PER_MS	1000000LL
#define NS_PER_S	1000000000LL

/* Virtual time is free; a round that takes longer has failed. */
#define BENCH_ROUND_S	35

/* What one host reports of one round; times by CLOCK_MONOTONIC. */
struct bench_host {
	int64_t start_ns;	/* when it really started */
	int64_t last_ns;	/* last byte of the last message received */
	int64_t done_ns;	/* nothing left to do */
	uint64_t rx_bytes;
	uint64_t sent_bytes;	/* TCP payload, with retransmissions */
	uint64_t retrans_bytes;
	volatile uint64_t flow_bytes;	/* received of the TCP flow beside, since ever */
	int error;		/* errno, 0 for success */
	char why[96];
};

/* Queues in front of a trunk are counted in steps of so many bytes, up to so many steps. */
#define BENCH_TRUNK_STEP	4096
#define BENCH_TRUNK_BUCKETS	2048

struct bench_shared {
	pthread_barrier_t barrier;
	int64_t start_ns;	/* common start of the next round */
	unsigned int run;	/* number of the next round */
	volatile int sampling;
	volatile int64_t flow_until_ns;	/* the TCP flows beside may send */
	uint64_t peak_queue;	/* bytes, the fullest band 1 of any port */
	unsigned int peak_port;
	uint32_t trunk_samples[BENCH_TRUNK_BUCKETS];	/* the fuller band 1 of any trunk */
	struct bench_host host[];
};

/* Counters of one queue (bfifo) */
struct bench_queue {
	uint64_t bytes, packets, drops, backlog;
};

struct bench_queues {
	struct bench_queue port_control, port_data;
	struct bench_queue host_control, host_data;
	uint64_t sent_packets;	/* by the hosts, a super-packet is one; unshaped racks only */
};

extern struct bench_shared *bench;
extern const struct matrix *bench_matrix;
extern const char *bench_case;
extern unsigned int bench_hosts;

void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
int64_t bench_now(void);
void bench_sleep_until(int64_t ns);
/* When a host starts: up to jitter_ns after the common start, at random. */
int64_t bench_start_of(unsigned int host, unsigned int run, int64_t jitter_ns);

/* Read the matrix or end. */
const struct matrix *bench_read_matrix(const char *path);

/* Map the shared part; barriers are for all hosts and the parent. */
void bench_init(const struct matrix *m);
void bench_wait(void);

/* Enter the network namespace of a host. */
void bench_enter(unsigned int host);
/* "10.18.x.y" as a 32-bit number, host byte order */
uint32_t bench_addr(unsigned int host);

/* One netlink socket per namespace; call once, from the parent. */
void bench_queues_open(bool with_hosts);
/* Sum over all ports and hosts. */
void bench_queues_read(struct bench_queues *q);
/* Fork a process that watches the peak of the data queues at the ports while
 * bench->sampling is set; every interval_ns.
 */
void bench_sampler_start(int64_t interval_ns);
void bench_sampler_stop(void);

/* The options that all programs have. */
#define BENCH_OPTIONS	"c:t:r:w:n:j:s:R:T:ua:x:k:P:Fp:B:"
#define BENCH_USAGE	"[-c NAME] [-t NAME] [-r RUN] [-w ROUNDS] [-n ROUNDS] [-j NS] [-s NS] [-R BPS] [-T NS] [-u]" \
	" [-a NS] [-x MATRIX] [-k RACKS:PERCENT] [-P NS:BYTES] [-F] [-p PORT] [-B CPU[,CPU...]]"

struct bench_options {
	const char *transport;
	unsigned int run, warmup, rounds;
	int64_t jitter_ns, interval_ns;
	double rate_bps, rtt_ns;
	/* The CPU is what limits the rack: it has no queues, packets are counted;
	 * received data is copied to the program and not looked at.
	 */
	bool unshaped;
	int64_t start_ns;	/* of the first measured round; 0: when all are ready */
	const struct matrix *beside;	/* what else the network has to carry, or NULL */
	unsigned int racks, core_percent;
	int64_t stop_ns;	/* members stop for so long on average; 0: never */
	unsigned int burst_bytes;	/* what an idle link sends at once */
	bool flows;		/* a TCP flow from each host to the next */
	unsigned int port;	/* 0: the program's own */
	const char *cpus;	/* a CPU for each host in turn, "0,1"; NULL: any */
	double bound_ns;	/* of what is no shuffle; 0: as the matrix says */
};

/* What a host does in a round: before the start, from the start, after the end. */
struct bench_steps {
	void (*prepare)(unsigned int round);
	void (*run)(unsigned int round);	/* EINTR: the time limit is over */
	void (*finish)(unsigned int round);
};

extern struct bench_options bench_opt;
extern unsigned int bench_self;		/* the host that this process is */

/* Is it one of BENCH_OPTIONS?  Then it is kept. */
bool bench_option(int opt, const char *arg);
/* One process for each host, in its namespace; the queues' sampler beside them. */
void bench_fork(void (*host)(void));
/* All rounds, as a host; and as the parent, which returns the exit status. */
void bench_host_rounds(const struct bench_steps *steps);
int bench_rounds(const char *(*extra)(void));

/* Members that stop and go in every measured round (stopgo.c). */
void bench_stop_start(void);
void bench_stop_end(void);
double bench_stop_bound(unsigned int run, double bits_per_s);

/* TCP flows beside what is measured (flows.c). */
void bench_flows_start(void);
void bench_flows_end(void);
uint64_t bench_flows_bytes(void);

/* Nobody can be faster than this in a run of that number (bound.c). */
double bench_bound_ns(unsigned int run);

/* Print the result of a round; extra is appended.  Returns 0 if all is well. */
int bench_report(unsigned int run, const struct bench_queues *before,
		 const struct bench_queues *after, const char *extra);

#endif /* BENCH_H */
