// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A re-created workload (tools/saba/kinds.c) on the hosts of a rack: stages of computation,
 * all to all, barrier.
 *
 * One process per host.  Computation is sleep; the barrier is in shared memory and costs nothing.
 * With overlap, hosts send before they have computed all.
 *
 * usage: saba_job [options] APP HOSTS
 *   -c NAME -r RUN -t NAME  case, number of the run, name of the transport, for the report
 *   -m tcp|shuffle  transport (default tcp)
 *   -R BPS      link rate, of which the workload's times of sending are
 *   -S FACTOR   its seconds times so much (default 0.01)
 *   -a NS       start at this time of CLOCK_MONOTONIC
 *   -p PORT     instead of the transport's own
 *   -s          register as APP with shuffle-sabad ($SHUFFLE_SABA_SOCKET), mark what is sent
 *   -x          go on until SIGTERM when the result is printed, as load for others
 *   -D          print slowdowns with 1 to 100 % of the bandwidth instead, as the model says
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "kinds.h"
#include "saba_job.h"

struct saba *job_saba;

static const struct job_transport *transport = &job_tcp;
static const struct kind *kind;
static bool registers, goes_on, curves;
static double scale = .01;
static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	ended = sig;
}

/* A host has said why, and all others wait for it at a barrier; they end with the parent. */
static void on_child(int sig)
{
	int status;

	(void)sig;
	while (waitpid(-1, &status, WNOHANG) > 0)
		if (status)
			_exit(2);
}

void job_connection(unsigned int host, int fd)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(bench_addr(host)) };
	int err = job_saba ? saba_conn_create(job_saba, (struct sockaddr *)&to, fd) : 0;

	if (err < 0)
		bench_die("host %u: connection to host %u: %s", bench_self, host, strerror(-err));
}

/* Before the first barrier: the parent has the results of all from there. */
static void get_ready(void)
{
	char why[256];

	if (registers) {
		job_saba = saba_app_register(NULL, kind->name, why, sizeof(why));
		if (!job_saba)
			bench_die("host %u: %s", bench_self, why);
	}
	transport->listen();
	bench_wait();
	transport->open();
	bench_wait();		/* all are connected */
	bench_wait();		/* the parent has picked the start */
}

static void host_main(void)
{
	double ns = kind->seconds * scale / kind->stages * NS_PER_S;
	uint64_t bytes = kind->send * ns / 1e9 * bench_opt.rate_bps / 8 / (bench_hosts - 1);
	int64_t begin;
	unsigned int stage;

	/* the parent ends all hosts at a barrier */
	signal(SIGTERM, SIG_IGN);
	get_ready();
	bench_sleep_until(bench->start_ns);
	for (stage = 0; bench->sampling; stage++) {
		begin = bench_now();
		if (job_saba)
			saba_poll(job_saba);
		bench_sleep_until(begin + (1 - kind->overlap) * kind->compute * ns);
		transport->exchange(stage, bytes);
		bench_sleep_until(begin + kind->compute * ns);
		bench_wait();
		bench_wait();	/* meanwhile the parent says whether there is another stage */
	}
	if (job_saba)
		saba_app_deregister(job_saba);
}

static void result(int64_t ns)
{
	printf("BENCH case=%s hosts=%u transport=%s run=%u ok=1 app=%s stages=%u completion_ns=%lld "
	       "model_ns=%.0f\n", bench_case, bench_hosts, bench_opt.transport, bench_opt.run,
	       kind->name, kind->stages, (long long)ns, kind->seconds * scale * NS_PER_S);
	fflush(stdout);
}

static void stages(void)
{
	unsigned int done = 0;

	bench_wait();
	bench_wait();
	bench->start_ns = bench_opt.start_ns ? bench_opt.start_ns : bench_now() + 5 * NS_PER_MS;
	if (bench->start_ns < bench_now())
		bench_die("not ready by the start that was asked for: it is %lld",
			  (long long)bench_now());
	bench_wait();
	while (bench->sampling) {
		bench_wait();
		if (++done == kind->stages)
			result(bench_now() - bench->start_ns);
		bench->sampling = done < kind->stages || (goes_on && !ended);
		bench_wait();
	}
}

/* "CURVE APP slowdown ...", with 1 to 100 % of the bandwidth. */
static void curve(void)
{
	unsigned int b;

	printf("CURVE %s", kind->name);
	for (b = 1; b <= 100; b++)
		printf(" %.6f", kind_alone(kind, b / 100.0));
	putchar('\n');
}

static void usage(void)
{
	fprintf(stderr, "usage: saba_job [-c NAME] [-r RUN] [-t NAME] [-m tcp|shuffle] [-R BPS] "
		"[-S FACTOR] [-a NS] [-p PORT] [-s] [-x] [-D] APP HOSTS\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	const char *way = "tcp";
	struct matrix m = { 0 };
	int opt;

	bench_opt.transport = NULL;
	while ((opt = getopt(argc, argv, "c:r:t:m:R:S:a:p:sxD")) != -1) {
		switch (opt) {
		case 'm':
			way = optarg;
			break;
		case 'S':
			scale = atof(optarg);
			break;
		case 's':
			registers = true;
			break;
		case 'x':
			goes_on = true;
			break;
		case 'D':
			curves = true;
			break;
		case '?':
			usage();
			break;
		default:
			bench_option(opt, optarg);
		}
	}
	if (optind + 2 != argc || (strcmp(way, "tcp") && strcmp(way, "shuffle")))
		usage();
	kind = kind_find(argv[optind]);
	if (kind && curves) {
		curve();
		return 0;
	}
	m.n = strtoul(argv[optind + 1], NULL, 10);
	if (!kind)
		bench_die("no workload \"%s\"", argv[optind]);
	if (m.n < 2 || m.n > BENCH_MAX_HOSTS || !(scale > 0 && scale < 1000) ||
	    !(bench_opt.rate_bps >= 1e6))
		bench_die("2 to %d hosts, a factor above 0, a rate of at least 1 Mb/s are expected",
			  BENCH_MAX_HOSTS);
	transport = strcmp(way, "tcp") ? &job_shuffle : &job_tcp;
	if (!bench_opt.transport)
		bench_opt.transport = way;
	bench_opt.interval_ns = 0;
	bench_init(&m);
	bench->sampling = true;
	sigaction(SIGTERM, &term, NULL);
	signal(SIGCHLD, on_child);
	bench_fork(host_main);
	stages();
	while (wait(NULL) > 0)
		;
	return 0;
}
