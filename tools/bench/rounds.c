// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a benchmark program does round after round: a process per host, a common
 * start, one result line; and the options that all programs have.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct bench_options bench_opt = {
	.run = 1,
	.rounds = 1,
	.interval_ns = 2000,
	.rate_bps = 25e9,
	.rtt_ns = 4000,
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
	case 'u':
		bench_opt.unshaped = true;
		bench_opt.interval_ns = 0;
		return true;
	}
	return false;
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
			host();
			exit(0);
		}
	}
	if (bench_opt.interval_ns)
		bench_sampler_start(bench_opt.interval_ns);
}

void bench_host_rounds(const struct bench_steps *steps)
{
	struct bench_host *h = &bench->host[bench_self];
	unsigned int i;

	for (i = 0; i < bench_opt.warmup + bench_opt.rounds; i++) {
		bench_wait();		/* the results of the round before are read */
		memset(h, 0, sizeof(*h));
		steps->prepare(i);
		bench_wait();		/* the parent picks the start */
		bench_wait();
		bench_sleep_until(bench_start_of(bench_self, bench_opt.run, bench_opt.jitter_ns));
		h->start_ns = bench_now();
		h->last_ns = h->start_ns;
		steps->run(i);
		h->done_ns = bench_now();
		bench_wait();		/* all have finished */
		steps->finish(i);
		bench_wait();		/* the results are there */
	}
}

int bench_rounds(const char *(*extra)(void))
{
	struct bench_queues before, after;
	unsigned int i;
	int failed = 0;

	for (i = 0; i < bench_opt.warmup + bench_opt.rounds; i++) {
		bench_wait();
		bench_wait();
		/* Quiet first: delayed ACKs of the round before. */
		bench_sleep_until(bench_now() + 500 * NS_PER_MS);
		bench_queues_read(&before);
		bench->start_ns = bench_now() + 5 * NS_PER_MS;
		bench->peak_queue = 0;
		bench->sampling = i >= bench_opt.warmup;
		bench_wait();
		bench_wait();
		bench->sampling = 0;
		bench_wait();
		bench_queues_read(&after);
		if (i < bench_opt.warmup)
			continue;
		if (bench_report(bench_opt.transport, bench_opt.run + i - bench_opt.warmup,
				 bench_opt.rate_bps, bench_opt.rtt_ns, &before, &after,
				 extra ? extra() : ""))
			failed = 1;
	}
	bench_sampler_stop();
	while (wait(NULL) > 0)
		;
	return failed;
}
