/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shuffle-rperf: what its files share.
 *
 * An instance asks one host for echoes, in a thread of its own.  It adds what it measures to
 * the statistics of an interval; the main thread takes those once in an interval.
 */
#ifndef RPERF_H
#define RPERF_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "echo.h"
#include "hist.h"
#include "option.h"

#define NAME_MAX_LEN	64
#define MAX_INSTANCES	1024U
#define MAX_FLOWS	256U
#define MAX_HOSTS	1024U
#define CONTROL_PORT	8180U		/* TCP, of "shuffle-rperf serve" */

enum mode {
	MODE_TSTAMP,
	MODE_LOOPBACK,
	MODE_PINGPONG,
};

/**
 * struct stats - what an instance has seen
 * @rtt: round trips
 * @sent: questions
 * @answered: of these, answered in time
 * @lost: not answered in time
 * @unstamped: answered, and a time stamp is missing
 * @refused: ICMP said that nobody listens
 * @missed: not sent: the program could not keep up with the rate
 * @other: packets that were not expected: late or repeated answers, somebody else's
 */
struct stats {
	struct times	rtt;
	uint64_t	sent;
	uint64_t	answered;
	uint64_t	lost;
	uint64_t	unstamped;
	uint64_t	refused;
	uint64_t	missed;
	uint64_t	other;
};

/**
 * struct instance - asks one host
 * @name: of its results
 * @to: address or name of the host
 * @from: network namespace that it asks from, empty: the program's own
 * @opt: how questions leave
 * @size: bytes of UDP payload
 * @rate: questions per second
 * @mode: what is taken for the round trip
 * @brief: ask for short answers
 * @random: exponential gaps between questions
 * @sock: asks
 * @twin: asks this host itself, mode loopback
 * @thread: runs it
 * @lock: @interval
 * @interval: since the main thread has looked
 * @total: since the beginning; the main thread's
 * @error: why it has ended, or empty
 */
struct instance {
	char			name[NAME_MAX_LEN];
	char			to[NAME_MAX_LEN];
	char			from[NAME_MAX_LEN];
	char			source[NAME_MAX_LEN];
	char			dev[NAME_MAX_LEN];
	struct echo_options	opt;
	uint32_t		size;
	double			rate;
	enum mode		mode;
	bool			brief;
	bool			random;
	struct echo_sock	sock;
	struct echo_sock	twin;
	pthread_t		thread;
	pthread_mutex_t		lock;
	struct stats		interval;
	struct stats		total;
	char			error[160];
};

/**
 * struct flow - a bandwidth-intensive one
 * @shuffle: rows of AF_SHUFFLE instead of TCP
 * @to: host, where "shuffle-rperf serve" runs
 * @from: network namespace, or empty
 * @size: bytes of a write, or of a row
 * @dscp: of TCP's packets
 * @thread: runs it
 * @fd: TCP connection: the data, or what controls the rows
 * @sock: of the rows
 * @bytes: taken by the other side
 * @took_ns: in that time
 * @error: why it has ended, or empty
 */
struct flow {
	bool			shuffle;
	char			to[NAME_MAX_LEN];
	char			from[NAME_MAX_LEN];
	uint32_t		size;
	uint32_t		dscp;
	unsigned int		port;
	pthread_t		thread;
	int			fd;
	int			sock;
	uint64_t		bytes;
	uint64_t		took_ns;
	char			error[160];
};

/**
 * struct job - the command line
 * @inst: instances
 * @n: their number
 * @flow: flows beside them
 * @flows: their number
 * @duration: s, without the warm-up
 * @warmup: s, that are not counted
 * @timeout: s, after which an answer counts as lost
 * @tick: s, between looks at the results
 * @json: file, or NULL
 * @log: file, or NULL
 * @percentiles: file, or NULL
 * @svg: file, or NULL
 * @quiet: no text, no progress
 * @watch: show results while they come
 */
struct job {
	struct instance	*inst;
	unsigned int	n;
	struct flow	*flow;
	unsigned int	flows;
	double		duration;
	double		warmup;
	double		timeout;
	double		tick;
	const char	*json;
	const char	*log;
	const char	*percentiles;
	const char	*svg;
	bool		quiet;
	bool		watch;
};

/* when everybody begins, when counting begins, when the last question is sent: ns, monotonic */
struct schedule {
	uint64_t	start;
	uint64_t	count;
	uint64_t	end;
	uint64_t	timeout;
};

extern struct schedule schedule;
extern volatile int stopped;

/* util.c */
uint64_t clock_ns(int clock);
void sleep_until(uint64_t ns);
void *memory(size_t n, size_t size);
int enter_netns(const char *name);
void leave_netns(int own);

/* options.c, hosts.c */
int options_read(struct job *job, int argc, char **argv);
void hosts_instances(struct job *job, const char *file, const char *pattern, const char *rank,
		     const struct instance *like);
struct instance *job_instance(struct job *job, const struct instance *like);

/* tstamp.c, loopback.c */
void tstamp_run(struct instance *i);
void loopback_run(struct instance *i);

/* flows.c, serve.c */
void flows_start(struct job *job);
void flows_stop(struct job *job);
int serve(int argc, char **argv);
int serve_rows(int fd, unsigned int rank, uint64_t len, uint64_t *bytes);

/* run.c, report.c, svg.c, watch.c */
int job_run(struct job *job);
void stats_merge(struct stats *s, const struct stats *more);
void report_text(const struct job *job);
void report_json(const struct job *job, FILE *f);
void report_svg(const struct job *job, FILE *f);
void watch_show(const struct job *job, const struct stats *last, double at);

#endif /* RPERF_H */
