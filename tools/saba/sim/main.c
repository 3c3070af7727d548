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
static const char *const weighs[] = { "sum", "product", "light", NULL };

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
	unsigned int	jobs;
	unsigned int	policies;	/* bits */
	double		core;		/* see struct sim */
	double		waste;
	double		volume;		/* see synthesized(), 0 for none */
	enum weigh	weigh;
	uint64_t	seed;
	bool		two;
	bool		stages;
	bool		exact;
};

/* Of a policy over all set-ups: logarithms of what is printed. */
struct sums {
	double		mean[POLICIES];		/* of speed-ups, geometric */
	double		least[POLICIES];
	double		most[POLICIES];
	double		plain[POLICIES];	/* not logarithms: arithmetic mean */
	double		sum[POLICIES];		/* sum of slowdowns, the baseline's over its own */
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

/*
 * A workload of which the part @x of its time is communication, as the source's simulation seems to
 * have them; or, with a volume, one that sends as much as all others and computes meanwhile for the
 * part @x of its computation, so that what suffers most is not what sends most.
 */
static struct kind synthesized(const struct options *o, double x, unsigned int stages)
{
	double alone;

	if (!(o->volume > 0))
		return (struct kind){ "", 1 - x, x, 0, stages, 100 };
	alone = fmax(1, 1 - x + o->volume);
	return (struct kind){ "", 1 / alone, o->volume / alone, x, stages, 100 };
}

static void make_jobs(struct sim *s, const struct options *o, struct wl_rng *r,
		      struct kind *synthetic)
{
	static const double size[] = { .1, 1, 10 };
	unsigned int i, used = 0, *all = NULL;
	bool synthesize = o->large || o->volume > 0;

	s->jobs = o->two ? 2 : o->jobs;
	s->job = sim_memory(calloc(s->jobs, sizeof(*s->job)));
	if (o->large) {
		all = sim_memory(malloc(s->net.servers * sizeof(*all)));
		for (i = 0; i < s->net.servers; i++)
			all[i] = i;
		wl_rng_permute(r, all, s->net.servers);
	}
	for (i = 0; i < s->jobs; i++) {
		struct job *j = &s->job[i];

		j->size = 1;
		if (o->two) {
			j->kind = &kinds[i ? SABA_KINDS - 1 : 0];
			j->n = 8;
		} else if (synthesize) {
			synthetic[i] = synthesized(o, (i + .5) / s->jobs, 3 + wl_rng_below(r, 8));
			j->kind = &synthetic[i];
		} else {
			j->kind = &kinds[wl_rng_below(r, SABA_KINDS)];
		}
		if (o->large) {
			j->n = s->net.servers / s->jobs;
		} else if (!o->two) {
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

/* Speed-ups of one policy; the first one is the baseline, which others are compared with. */
static void compare(const struct sim *s, unsigned int p, bool first, double *base, struct sums *t)
{
	double log_sum = 0, plain = 0, slow = 0, base_slow = 0, log_mean;
	unsigned int i;

	for (i = 0; i < s->jobs; i++) {
		double alone = s->job[i].kind->seconds * s->job[i].size, up;

		if (p == POLICY_FLOWS)
			base[i] = s->job[i].end;
		up = base[i] / s->job[i].end;
		log_sum += log(up);
		plain += up / s->jobs;
		slow += s->job[i].end / alone;
		base_slow += base[i] / alone;
		printf("%s%.4f", i ? ", " : "", s->job[i].end / alone);
	}
	log_mean = log_sum / s->jobs;
	printf("], \"speedup\": %.4f, \"arithmetic\": %.4f, \"sum\": %.4f}\n", exp(log_mean), plain,
	       base_slow / slow);
	fflush(stdout);
	t->mean[p] += log_mean;
	t->plain[p] += plain;
	t->sum[p] += log(base_slow / slow);
	t->least[p] = !first && t->least[p] < log_mean ? t->least[p] : log_mean;
	t->most[p] = !first && t->most[p] > log_mean ? t->most[p] : log_mean;
}

/* One set-up under all policies. */
static void set_up(const struct options *o, unsigned int run, struct sums *t)
{
	struct sim s = { .net = o->large ? fabric_spine_leaf() : fabric_switch(32) };
	struct kind synthetic[SIM_JOBS];
	double base[SIM_JOBS];
	unsigned int p, i;
	struct wl_rng r;

	wl_rng_init(&r, wl_rng_mix(o->seed, run, 0));
	make_jobs(&s, o, &r, synthetic);
	s.queues = o->queues;
	s.degree = o->degree;
	s.stages = o->stages;
	s.exact = o->exact;
	s.weigh = o->weigh;
	s.core = o->core;
	s.waste = o->waste;
	s.queue = sim_memory(calloc(s.net.ports * s.jobs, 1));
	s.weight = sim_memory(calloc(s.net.ports * SIM_QUEUES, sizeof(*s.weight)));
	for (p = 0; p < POLICIES; p++) {
		if (!(o->policies >> p & 1))
			continue;
		s.policy = p;
		jobs_run(&s);
		printf("{\"run\": %u, \"policy\": \"%s\", \"queues\": %u, \"slowdown\": [", run,
		       names[p], o->queues);
		compare(&s, p, !run, base, t);
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
		"  --degree K     of the models, 1 to 3, or 0 for lines between samples (default)\n"
		"  --stages       connections are made for each stage, and weights with them (default:\n"
		"                 connections last as long as their application)\n"
		"  --exact        weigh by what slowdown really is\n"
		"  --jobs N       applications, up to 32 (default 16; 20 with --spine-leaf)\n"
		"  --policies P,P of flows (the baseline, always there), jobs, saba, homa, sincronia\n"
		"                 (default: all)\n"
		"  --core PART    of a server's link that a link between switches carries (default 1)\n"
		"  --waste PART   of a port that the baseline leaves unused where several applications\n"
		"                 send (default 0)\n"
		"  --volume PART  workloads that send so much in the time of their computation, and differ\n"
		"                 in how much of it goes on meanwhile (default: the source's, or, with\n"
		"                 --spine-leaf, such that differ in what they send)\n"
		"  --weigh FOR    weights of Saba: sum (of slowdowns is least, default), product, or\n"
		"                 light: the opposite, the less one sends the more weight it has\n"
		"  --seed N       default 1\n");
	return status;
}

static unsigned int read_policies(char *text)
{
	unsigned int bits = 1U << POLICY_FLOWS, p;
	char *save = NULL, *word;

	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		for (p = 0; p < POLICIES && strcmp(word, names[p]); p++)
			;
		if (p == POLICIES)
			die("--policies: \"%s\" is none of flows, jobs, saba, homa, sincronia",
			    word);
		bits |= 1U << p;
	}
	return bits;
}

static void summary(const struct options *o, const struct sums *t)
{
	unsigned int p;

	for (p = 0; p < POLICIES; p++)
		if (o->policies >> p & 1)
			printf("{\"policy\": \"%s\", \"runs\": %u, \"queues\": %u, \"mean\": %.4f, "
			       "\"least\": %.4f, \"most\": %.4f, \"arithmetic\": %.4f, "
			       "\"sum\": %.4f}\n", names[p], o->runs, o->queues,
			       exp(t->mean[p] / o->runs), exp(t->least[p]), exp(t->most[p]),
			       t->plain[p] / o->runs, exp(t->sum[p] / o->runs));
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
		{ "stages",	no_argument,		NULL, 't' },
		{ "exact",	no_argument,		NULL, 'e' },
		{ "jobs",	required_argument,	NULL, 'j' },
		{ "policies",	required_argument,	NULL, 'P' },
		{ "core",	required_argument,	NULL, 'c' },
		{ "waste",	required_argument,	NULL, 'w' },
		{ "volume",	required_argument,	NULL, 'v' },
		{ "weigh",	required_argument,	NULL, 'o' },
		{ "seed",	required_argument,	NULL, 's' },
		{ "help",	no_argument,		NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct options o = { .runs = 10, .queues = 8, .degree = SABA_DEFAULT, .seed = 1, .core = 1,
			     .policies = (1U << POLICIES) - 1 };
	struct sums t = { 0 };
	unsigned int i;
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
		case 't':
			o.stages = true;
			break;
		case 'e':
			o.exact = true;
			break;
		case 'j':
			o.jobs = option_whole("jobs", optarg, 1, SIM_JOBS);
			break;
		case 'P':
			o.policies = read_policies(optarg);
			break;
		case 'c':
			o.core = option_number("core", optarg, .01, 1);
			break;
		case 'w':
			o.waste = option_number("waste", optarg, 0, .9);
			break;
		case 'v':
			o.volume = option_number("volume", optarg, .01, 1);
			break;
		case 'o':
			o.weigh = option_choice("weigh", optarg, weighs);
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
	if (!o.jobs)
		o.jobs = o.large ? 20 : 16;
	for (i = 0; i < o.runs; i++) {
		set_up(&o, i, &t);
		fprintf(stderr, "set-up %u of %u\n", i + 1, o.runs);
	}
	summary(&o, &t);
	return 0;
}
