// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a benchmark program does round after round: a process per host, a common
 * start, one result line; and the options that all programs have.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct bench_options bench_opt = {
	.run = 1,
	.rounds = 1,
	.interval_ns = 2000,
	.rate_bps = 25e9,
	.rtt_ns = 4000,
	.racks = 1,
	.core_percent = 100,
};

unsigned int bench_self;

bool bench_option(int opt, const char *arg)
{
	switch (opt) {
	case 'c':
		bench_case = arg;
		return true;
	case 't':
		bench_opt.transport = arg;
		return true;
	case 'r':
		bench_opt.run = strtoul(arg, NULL, 10);
		return true;
	case 'w':
		bench_opt.warmup = strtoul(arg, NULL, 10);
		return true;
	case 'n':
		bench_opt.rounds = strtoul(arg, NULL, 10);
		return true;
	case 'j':
		bench_opt.jitter_ns = atoll(arg);
		return true;
	case 's':
		bench_opt.interval_ns = atoll(arg);
		return true;
	case 'R':
		bench_opt.rate_bps = atof(arg);
		return true;
	case 'T':
		bench_opt.rtt_ns = atof(arg);
		return true;
	case 'a':
		bench_opt.start_ns = atoll(arg);
		return true;
	case 'x':
		bench_opt.beside = bench_read_matrix(arg);
		return true;
	case 'k':
		if (sscanf(arg, "%u:%u", &bench_opt.racks, &bench_opt.core_percent) != 2)
			bench_die("-k RACKS:PERCENT");
		return true;
	case 'P':
		if (sscanf(arg, "%" SCNd64 ":%u", &bench_opt.stop_ns, &bench_opt.burst_bytes) != 2)
			bench_die("-P NS:BYTES");
		return true;
	case 'F':
		bench_opt.flows = true;
		return true;
	case 'p':
		bench_opt.port = strtoul(arg, NULL, 10);
		return true;
	case 'B':
		bench_opt.cpus = arg;
		return true;
	case 'u':
		bench_opt.unshaped = true;
		bench_opt.interval_ns = 0;
		return true;
	}
	return false;
}

/* Host i runs on the i-th CPU of the list, which begins anew at its end. */
static void stay_on_cpu(unsigned int host)
{
	const char *list = bench_opt.cpus, *p = list;
	cpu_set_t set;
	char *end;
	long cpu;

	if (!list)
		return;
	for (;; host--) {
		cpu = strtol(p, &end, 10);
		if (end == p || cpu < 0 || cpu >= CPU_SETSIZE || (*end && *end != ','))
			bench_die("-B CPU[,CPU...], not '%s'", list);
		if (!host)
			break;
		p = *end ? end + 1 : list;
	}
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_die("CPU %ld: %s", cpu, strerror(errno));
}

void bench_fork(void (*host)(void))
{
	unsigned int i;

	for (i = 0; i < bench_hosts; i++) {
		pid_t pid = fork();

		if (pid < 0)
			bench_die("fork: %s", strerror(errno));
		if (!pid) {
			bench_self = i;
			bench_enter(i);
			stay_on_cpu(i);
			host();
			exit(0);
		}
	}
	if (bench_opt.stop_ns)
		bench_stop_start();
	if (bench_opt.flows)
		bench_flows_start();
	if (bench_opt.interval_ns)
		bench_sampler_start(bench_opt.interval_ns);
}

static void too_long(int sig)
{
	(void)sig;
}

void bench_host_rounds(const struct bench_steps *steps)
{
	/* interrupts system calls; a time limit of their own would cost clock reads */
	const struct sigaction alarmed = { .sa_handler = too_long };
	const struct itimerval limit = { .it_value.tv_sec = BENCH_ROUND_S,
					 .it_interval.tv_sec = 1 };
	const struct itimerval none = {};
	struct bench_host *h = &bench->host[bench_self];
	unsigned int i;

	sigaction(SIGALRM, &alarmed, NULL);
	for (i = 0; i < bench_opt.warmup + bench_opt.rounds; i++) {
		bench_wait();		/* the results of the round before are read */
		memset(h, 0, offsetof(struct bench_host, flow_bytes));
		h->error = 0;
		*h->why = '\0';
		steps->prepare(i);
		bench_wait();		/* the parent picks the start */
		bench_wait();
		setitimer(ITIMER_REAL, &limit, NULL);
		bench_sleep_until(bench_start_of(bench_self, bench_opt.run, bench_opt.jitter_ns));
		h->start_ns = bench_now();
		h->last_ns = h->start_ns;
		steps->run(i);
		h->done_ns = bench_now();
		setitimer(ITIMER_REAL, &none, NULL);
		bench_wait();		/* all have finished */
		steps->finish(i);
		bench_wait();		/* the results are there */
	}
}

/* When the next round starts. */
static int64_t next_start(unsigned int round)
{
	int64_t now = bench_now();

	if (!bench_opt.start_ns || round != bench_opt.warmup)
		return now + 5 * NS_PER_MS;
	if (bench_opt.start_ns < now + NS_PER_MS)
		bench_die("not ready by the start that was asked for");
	return bench_opt.start_ns;
}

int bench_rounds(const char *(*extra)(void))
{
	struct bench_queues before, after;
	static char text[5000];
	unsigned int i;
	int failed = 0;

	for (i = 0; i < bench_opt.warmup + bench_opt.rounds; i++) {
		bool measured = i >= bench_opt.warmup;
		uint64_t flow = 0;
		int64_t end;

		bench_wait();
		bench_wait();
		/* Quiet first: delayed ACKs of the round before. */
		bench_sleep_until(bench_now() + 500 * NS_PER_MS);
		bench_queues_read(&before);
		bench->run = bench_opt.run + i - bench_opt.warmup;
		bench->peak_queue = 0;
		memset(bench->trunk_samples, 0, sizeof(bench->trunk_samples));
		bench->start_ns = next_start(i);
		/* An operation that waits for a timeout would cost hours of flow. */
		if (bench_opt.flows)
			bench->flow_until_ns = bench->start_ns + 10 * bench_bound_ns(bench->run);
		bench->sampling = measured;
		bench_wait();
		if (bench_opt.flows) {
			bench_sleep_until(bench->start_ns);
			flow = bench_flows_bytes();
		}
		bench_wait();
		end = bench_now();
		flow = bench_flows_bytes() - flow;
		if (end > bench->flow_until_ns)
			end = bench->flow_until_ns;
		bench->sampling = 0;
		bench->flow_until_ns = 0;
		bench_wait();
		bench_queues_read(&after);
		if (!measured)
			continue;
		*text = '\0';
		if (bench_opt.flows)
			snprintf(text, sizeof(text), "flow_share=%.4f ", flow * 8e9 / bench_hosts /
				 (end - bench->start_ns) / bench_opt.rate_bps);
		if (extra)
			strncat(text, extra(), sizeof(text) - strlen(text) - 1);
		if (bench_report(bench->run, &before, &after, text))
			failed = 1;
	}
	if (bench_opt.interval_ns)
		bench_sampler_stop();
	bench_stop_end();
	if (bench_opt.flows)
		bench_flows_end();
	while (wait(NULL) > 0)
		;
	return failed;
}
