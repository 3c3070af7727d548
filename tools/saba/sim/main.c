// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-saba-sim: applications that share a network, under Saba and other policies.
 *
 * Validated by LR and TS on the same servers, worked out by hand (test/cli_test.sh), and no
 * further: Documentation/networking/sharing.rst says where it differs from the source, and why.
 *
 * "testbed": 16 of the source's ten workloads on 32 servers of one switch (thesis, 4.6.2);
 * "spine-leaf": 20 workloads of 97 instances on 1944 servers (4.6.4).
 */
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"
#include "sim.h"

static const char *const names[] = { "flows", "jobs", "saba", "homa", "sincronia", NULL };

/* A message and the end, see option.h. */
void die(const char *fmt, ...)
{
	va_list ap;

	fputs("shuffle-saba-sim: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

/**
 * sim_memory() - memory, or the end of the program
 * @p: of malloc()
 *
 * Return: @p.
 */
void *sim_memory(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

struct options {
	bool		large;
	unsigned int	runs;
	unsigned int	peers;
	unsigned int	queues;
	unsigned int	degree;
	uint64_t	seed;
	bool		two;
};

static void place(struct sim *s, struct job *j, struct wl_rng *r, unsigned int *all,
		  unsigned int *used)
{
	unsigned int *perm, i;

	j->at = sim_memory(malloc(j->n * sizeof(*j->at)));
	if (all) {
		for (i = 0; i < j->n; i++)
			j->at[i] = all[(*used)++];
		return;
	}
	perm = sim_memory(malloc(s->net.servers * sizeof(*perm)));
	for (i = 0; i < s->net.servers; i++)
		perm[i] = i;
	wl_rng_permute(r, perm, s->net.servers);
	memcpy(j->at, perm, j->n * sizeof(*j->at));
	free(perm);
}

static void make_flows(struct sim *s, const struct options *o, struct wl_rng *r)
{
	unsigned int i, a, b, most = 0;

	for (i = 0; i < s->jobs; i++)
		most += s->job[i].n * s->job[i].n;
	s->flow = sim_memory(calloc(most, sizeof(*s->flow)));
	for (i = 0; i < s->jobs; i++) {
		struct job *j = &s->job[i];
		unsigned int peers = o->peers && o->peers < j->n - 1 ? o->peers : j->n - 1;

		for (a = 0; a < j->n; a++)
			for (b = 1; b <= peers; b++) {
				struct flow *f = &s->flow[s->flows++];
				/* each one sends to and receives from as many */
				unsigned int to = (a + (uint64_t)b * (j->n - 1) / peers) % j->n;

				f->job = i;
				f->to = j->at[to];
				f->hops = fabric_path(&s->net, j->at[a], f->to,
						      wl_rng_next(r) >> 20, f->port);
			}
	}
}

static void make_jobs(struct sim *s, const struct options *o, struct wl_rng *r,
		      struct kind *synthetic)
{
	static const double size[] = { .1, 1, 10 };
	unsigned int i, used = 0, *all = NULL;

	s->jobs = o->two ? 2 : o->large ? 20 : 16;
	s->job = sim_memory(calloc(s->jobs, sizeof(*s->job)));
	if (o->large) {
		all = sim_memory(malloc(s->net.servers * sizeof(*all)));
		for (i = 0; i < s->net.servers; i++)
			all[i] = i;
		wl_rng_permute(r, all, s->net.servers);
	}
	for (i = 0; i < s->jobs; i++) {
		struct job *j = &s->job[i];
		double send;

		j->size = 1;
		if (o->two) {
			j->kind = &kinds[i ? SABA_KINDS - 1 : 0];
			j->n = 8;
		} else if (o->large) {
			send = (i + .5) / s->jobs;
			synthetic[i] = (struct kind){ "", 1 - send, send, 0,
						      3 + wl_rng_below(r, 8), 100 };
			j->kind = &synthetic[i];
			j->n = 97;
		} else {
			j->kind = &kinds[wl_rng_below(r, SABA_KINDS)];
			j->size = size[wl_rng_below(r, 3)];
			j->n = 4 + wl_rng_below(r, 29);
		}
		/* two applications are together on the same servers */
		if (o->two && i) {
			j->at = sim_memory(malloc(j->n * sizeof(*j->at)));
			memcpy(j->at, s->job[0].at, j->n * sizeof(*j->at));
		} else {
			place(s, j, r, all, &used);
		}
	}
	free(all);
	make_flows(s, o, r);
}

/* One set-up under all policies. */
static void set_up(const struct options *o, unsigned int run, double *log_mean)
{
	struct sim s = { .net = o->large ? fabric_spine_leaf() : fabric_switch(32) };
	double base[SIM_JOBS];
	struct kind synthetic[20];
	unsigned int p, i;
	struct wl_rng r;

	wl_rng_init(&r, wl_rng_mix(o->seed, run, 0));
	make_jobs(&s, o, &r, synthetic);
	s.queues = o->queues;
	s.degree = o->degree;
	s.queue = sim_memory(calloc(s.net.ports * s.jobs, 1));
	s.weight = sim_memory(calloc(s.net.ports * SIM_QUEUES, sizeof(*s.weight)));
	for (p = 0; p < POLICIES; p++) {
		double sum = 0;

		s.policy = p;
		jobs_run(&s);
		printf("{\"run\": %u, \"policy\": \"%s\", \"queues\": %u, \"slowdown\": [", run,
		       names[p], o->queues);
		for (i = 0; i < s.jobs; i++) {
			const struct kind *k = s.job[i].kind;
			double alone = k->seconds * s.job[i].size;

			if (!p)
				base[i] = s.job[i].end;
			sum += log(base[i] / s.job[i].end);
			printf("%s%.4f", i ? ", " : "", s.job[i].end / alone);
		}
		log_mean[p] = sum / s.jobs;
		printf("], \"speedup\": %.4f}\n", exp(log_mean[p]));
		fflush(stdout);
	}
	for (i = 0; i < s.jobs; i++)
		free(s.job[i].at);
	free(s.job);
	free(s.flow);
	free(s.queue);
	free(s.weight);
}

static int usage(FILE *to, int status)
{
	fprintf(to, "usage: shuffle-saba-sim [OPTIONS]\n\n"
		"Applications that share a network; a line of JSON for each set-up and policy, with\n"
		"slowdowns against being alone, and the mean speed-up over max-min by flow.\n\n"
		"  --spine-leaf   20 workloads on 1944 servers (default: 16 on 32 servers)\n"
		"  --two          LR and TS on the same 8 servers\n"
		"  --runs N       set-ups (default 10)\n"
		"  --peers N      each server sends to N others of its application (default: all;\n"
		"                 12 with --spine-leaf)\n"
		"  --queues N     of each port for Saba, 1 to 16; 0: one for each application\n"
		"                 (default 8)\n"
		"  --degree K     of the models, 1 to 3 (default); 0: weigh by what slowdown really is\n"
		"  --seed N       default 1\n");
	return status;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "spine-leaf",	no_argument,		NULL, 'l' },
		{ "two",	no_argument,		NULL, '2' },
		{ "runs",	required_argument,	NULL, 'r' },
		{ "peers",	required_argument,	NULL, 'p' },
		{ "queues",	required_argument,	NULL, 'q' },
		{ "degree",	required_argument,	NULL, 'd' },
		{ "seed",	required_argument,	NULL, 's' },
		{ "help",	no_argument,		NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	double least[POLICIES], most[POLICIES], sum[POLICIES] = { 0 }, mean[POLICIES];
	struct options o = { .runs = 10, .queues = 8, .degree = SABA_DEGREE, .seed = 1 };
	unsigned int i, p;
	int opt;

	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (opt) {
		case 'l':
			o.large = true;
			break;
		case '2':
			o.two = true;
			break;
		case 'r':
			o.runs = option_whole("runs", optarg, 1, 100000);
			break;
		case 'p':
			o.peers = option_whole("peers", optarg, 1, 1000);
			break;
		case 'q':
			o.queues = option_whole("queues", optarg, 0, SABA_QUEUES);
			break;
		case 'd':
			o.degree = option_whole("degree", optarg, 0, SABA_DEGREE);
			break;
		case 's':
			o.seed = option_whole("seed", optarg, 0, 4294967295.0);
			break;
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, 2);
		}
	}
	if (optind < argc || (o.large && o.two))
		return usage(stderr, 2);
	if (o.large && !o.peers)
		o.peers = 12;
	for (i = 0; i < o.runs; i++) {
		set_up(&o, i, mean);
		for (p = 0; p < POLICIES; p++) {
			sum[p] += mean[p];
			least[p] = i && least[p] < mean[p] ? least[p] : mean[p];
			most[p] = i && most[p] > mean[p] ? most[p] : mean[p];
		}
		fprintf(stderr, "set-up %u of %u\n", i + 1, o.runs);
	}
	for (p = 0; p < POLICIES; p++)
		printf("{\"policy\": \"%s\", \"runs\": %u, \"queues\": %u, \"mean\": %.4f, "
		       "\"least\": %.4f, \"most\": %.4f}\n", names[p], o.runs, o.queues,
		       exp(sum[p] / o.runs), exp(least[p]), exp(most[p]));
	return 0;
}
