// SPDX-License-Identifier: GPL-2.0-or-later
/* One run: sockets, threads, and a look at the results once in an interval. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "rperf.h"
#include "shuffle.h"

#define START_NS	5000000ULL	/* until all threads are there */
#define PROGRESS_S	2.0		/* a run that lasts longer says how far it is */

struct schedule schedule;
volatile int stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

void stats_merge(struct stats *s, const struct stats *more)
{
	times_merge(&s->rtt, &more->rtt);
	s->sent += more->sent;
	s->answered += more->answered;
	s->lost += more->lost;
	s->unstamped += more->unstamped;
	s->refused += more->refused;
	s->missed += more->missed;
	s->other += more->other;
}

/* The twins are answered by this host, whose UDP port opens with the first socket. */
static void open_twin(struct instance *i)
{
	const char *self = strchr(i->to, ':') ? "::1" : "127.0.0.1";
	struct echo_options opt = { .port = i->opt.port, .dscp = i->opt.dscp, .priority = -1 };
	struct sockaddr_shuffle addr;
	char why[160];

	if (shuffle_addr(&addr, self, 0) || shuffle_bind(&addr, SOCK_CLOEXEC) < 0)
		die("%s: AF_SHUFFLE socket: %s", i->name, strerror(errno));
	if (echo_open(&i->twin, self, &opt, why, sizeof(why)))
		die("%s: twin: %s", i->name, why);
}

static void open_one(struct instance *i)
{
	int ns = enter_netns(i->from);
	char why[160];

	i->opt.source = *i->source ? i->source : NULL;
	i->opt.dev = *i->dev ? i->dev : NULL;
	/* they are what stamps mean, so nobody is surprised by another clock */
	i->opt.hardware = i->opt.dev && i->mode == MODE_TSTAMP && echo_has_hardware(i->opt.dev);
	if (echo_open(&i->sock, i->to, &i->opt, why, sizeof(why)))
		die("%s: %s", i->name, why);
	if (i->mode == MODE_LOOPBACK)
		open_twin(i);
	leave_netns(ns);
	pthread_mutex_init(&i->lock, NULL);
}

static void *thread(void *arg)
{
	struct instance *i = arg;

	prctl(PR_SET_TIMERSLACK, 1UL);
	if (i->mode == MODE_LOOPBACK)
		loopback_run(i);
	else
		tstamp_run(i);
	return NULL;
}

/* Takes what has been measured since the last time. */
static void collect(struct job *job, FILE *log, struct stats *last, double at, double length)
{
	struct instance *i;
	unsigned int k;

	for (k = 0; k < job->n; k++) {
		i = &job->inst[k];
		pthread_mutex_lock(&i->lock);
		*last = i->interval;
		memset(&i->interval, 0, sizeof(i->interval));
		pthread_mutex_unlock(&i->lock);
		stats_merge(&i->total, last);
		if (log && last->rtt.up.n)
			hist_log_line(log, i->name, at, length, &last->rtt.up);
		if (job->watch)
			watch_show(job, last, k ? -1 : at);
	}
}

static void progress(const struct job *job, double at)
{
	static bool shown;

	if (job->quiet || job->watch || job->warmup + job->duration < PROGRESS_S ||
	    !isatty(STDERR_FILENO))
		return;
	shown = at < job->duration;
	fprintf(stderr, "\r%.0f of %.0f s%s", at < 0 ? 0 : at, job->duration, shown ? "" : "\n");
}

static uint64_t seconds(double s)
{
	return (uint64_t)(s * 1e9);
}

static FILE *output(const char *name)
{
	FILE *f = !strcmp(name, "-") ? stdout : fopen(name, "we");

	if (!f)
		die("%s: %s", name, strerror(errno));
	return f;
}

static void close_output(FILE *f, const char *name)
{
	bool bad = fflush(f) || ferror(f);

	if (f != stdout)
		bad |= fclose(f);
	if (bad)
		die("%s: cannot write all of it", name);
}

static void look(struct job *job)
{
	FILE *log = job->log ? output(job->log) : NULL;
	struct stats *last = memory(1, sizeof(*last));
	double at, length = job->tick, next;

	if (log)
		hist_log_head(log, (double)clock_ns(CLOCK_REALTIME) / 1e9 + job->warmup);
	for (at = 0; at < job->duration && !stopped; at = next) {
		next = at + length < job->duration ? at + length : job->duration;
		sleep_until(schedule.count + seconds(next));
		progress(job, next);
		/* the last one is taken when all answers are there */
		if (next < job->duration && !stopped)
			collect(job, log, last, at, length);
		else
			break;
	}
	if (stopped)
		schedule.end = 0;
	for (unsigned int k = 0; k < job->n; k++)
		pthread_join(job->inst[k].thread, NULL);
	collect(job, log, last, at, length);
	if (log)
		close_output(log, job->log);
	free(last);
}

static int write_results(struct job *job)
{
	struct stats *all = memory(1, sizeof(*all));
	int bad = 0;
	unsigned int k;
	FILE *f;

	for (k = 0; k < job->n; k++) {
		stats_merge(all, &job->inst[k].total);
		bad |= *job->inst[k].error || !job->inst[k].total.answered;
	}
	for (k = 0; k < job->flows; k++)
		bad |= !!*job->flow[k].error;
	if (!job->quiet)
		report_text(job);
	if (job->json) {
		f = output(job->json);
		report_json(job, f);
		close_output(f, job->json);
	}
	if (job->percentiles) {
		f = output(job->percentiles);
		hist_percentiles(f, &all->rtt);
		close_output(f, job->percentiles);
	}
	if (job->svg) {
		f = output(job->svg);
		report_svg(job, f);
		close_output(f, job->svg);
	}
	free(all);
	return bad;
}

/**
 * job_run() - measure
 * @job: the command line
 *
 * Return: exit status: 0, or 1 if an instance had no answer or a flow has ended early.
 */
int job_run(struct job *job)
{
	struct sigaction sa = { .sa_handler = stop };
	unsigned int k;
	uint64_t now;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_TIMERSLACK, 1UL);
	for (k = 0; k < job->n; k++)
		open_one(&job->inst[k]);
	flows_start(job);
	now = clock_ns(CLOCK_MONOTONIC);
	schedule.start = now + START_NS;
	schedule.count = schedule.start + seconds(job->warmup);
	schedule.end = schedule.count + seconds(job->duration);
	schedule.timeout = seconds(job->timeout);
	for (k = 0; k < job->n; k++)
		if (pthread_create(&job->inst[k].thread, NULL, thread, &job->inst[k]))
			die("cannot start a thread");
	look(job);
	flows_stop(job);
	return write_results(job);
}
