// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rperf.h"

static const char *const mode_names[] = { "tstamp", "loopback", "pingpong", NULL };
static const char *const flow_names[] = { "tcp", "shuffle", NULL };

enum {
	OPT_SIZE = 1000, OPT_RATE, OPT_RANDOM, OPT_MODE, OPT_SHORT, OPT_DSCP, OPT_PRIORITY,
	OPT_SOURCE, OPT_DEV, OPT_PORT, OPT_FROM, OPT_DURATION, OPT_WARMUP, OPT_TIMEOUT, OPT_TICK,
	OPT_HOSTS, OPT_PATTERN, OPT_RANK, OPT_FLOW, OPT_JSON, OPT_LOG, OPT_PERCENTILES, OPT_SVG,
	OPT_QUIET, OPT_HELP,
};

static const struct option_def opts[] = {
	{ "size", OPT_SIZE, "BYTES", "UDP payload of a question, 44 to 65507 (64)" },
	{ "rate", OPT_RATE, "N", "questions per second, 0.1 to 1000000 (1000)" },
	{ "random", OPT_RANDOM, NULL, "exponential gaps between questions (constant ones)" },
	{ "mode", OPT_MODE, "MODE", "tstamp: between time stamps of the two hosts;\n"
	  "loopback: difference to a twin through the loopback;\n"
	  "pingpong: as this program sees it (tstamp)" },
	{ "short", OPT_SHORT, NULL, "answers without padding" },
	{ "dscp", OPT_DSCP, "N", "of questions and answers, 0 to 63 (0)" },
	{ "priority", OPT_PRIORITY, "N", "of questions in queues of this host (by DSCP)" },
	{ "source", OPT_SOURCE, "ADDRESS", "that questions come from" },
	{ "dev", OPT_DEV, "DEV", "that they leave by; with its own time stamps if it\n"
	  "makes them" },
	{ "port", OPT_PORT, "PORT", "UDP port of AF_SHUFFLE (818)" },
	{ "from", OPT_FROM, "NETNS", "network namespace to ask from" },
	{ "duration", OPT_DURATION, "S", "seconds that are measured (10)" },
	{ "warmup", OPT_WARMUP, "S", "seconds before that (0.2)" },
	{ "timeout", OPT_TIMEOUT, "S", "then an answer counts as lost (1)" },
	{ "tick", OPT_TICK, "S", "interval of watch and of the log (1)" },
	{ "hosts", OPT_HOSTS, "FILE", "a host a line: ADDRESS [NETNS]" },
	{ "pattern", OPT_PATTERN, "P", "of them: one-to-one, many-to-one, all-to-all, or\n"
	  "matrix:FILE of questions per second (many-to-one)" },
	{ "rank", OPT_RANK, "N", "which of the hosts this is (all, by namespaces)" },
	{ "flow", OPT_FLOW, "FLOW", "tcp:HOST or shuffle:HOST, with ,n=N ,size=BYTES\n"
	  ",dscp=N ,from=NETNS ,port=PORT; HOST runs serve" },
	{ "json", OPT_JSON, "FILE", "results as JSON, - for standard output" },
	{ "log", OPT_LOG, "FILE", "histograms of the intervals, as HdrHistogram's log" },
	{ "percentiles", OPT_PERCENTILES, "FILE", "as HdrHistogram's table, all together, in us" },
	{ "svg", OPT_SVG, "FILE", "draw the percentiles" },
	{ "quiet", OPT_QUIET, NULL, "no text, no progress" },
	{ "help", OPT_HELP, NULL, "this text" },
};

#define OPTS	(sizeof(opts) / sizeof(*opts))

static void help(void)
{
	puts("usage: shuffle-rperf [OPTIONS] HOST[,KEY=VALUE]...\n"
	     "       shuffle-rperf watch [OPTIONS] HOST[,KEY=VALUE]...\n"
	     "       shuffle-rperf serve [--port PORT] HOST...\n"
	     "\n"
	     "Round-trip times of paths to hosts that run AF_SHUFFLE: their kernels answer.  Each\n"
	     "HOST is an instance; its keys are size rate mode dscp priority source dev from name,\n"
	     "and overrule the options.  watch shows results while they come.\n");
	option_table(opts, OPTS, 22);
}

static void copy(char *to, const char *name, const char *s)
{
	if (strlen(s) >= NAME_MAX_LEN)
		die("--%s %s: more than %d characters", name, s, NAME_MAX_LEN - 1);
	strcpy(to, s);
}

/* What an option and a key of an instance have in common; false: not such a one. */
static bool set(struct instance *i, const char *name, const char *s)
{
	if (!strcmp(name, "size"))
		i->size = option_whole(name, s, ECHO_SIZE_MIN, ECHO_SIZE_MAX);
	else if (!strcmp(name, "rate"))
		i->rate = option_number(name, s, 0.1, 1000000);
	else if (!strcmp(name, "mode"))
		i->mode = option_choice(name, s, mode_names);
	else if (!strcmp(name, "dscp"))
		i->opt.dscp = option_whole(name, s, 0, 63);
	else if (!strcmp(name, "priority"))
		i->opt.priority = (int)option_whole(name, s, 0, 65535);
	else if (!strcmp(name, "port"))
		i->opt.port = option_whole(name, s, 1, 65535);
	else if (!strcmp(name, "source"))
		copy(i->source, name, s);
	else if (!strcmp(name, "dev"))
		copy(i->dev, name, s);
	else if (!strcmp(name, "from"))
		copy(i->from, name, s);
	else if (!strcmp(name, "name"))
		copy(i->name, name, s);
	else
		return false;
	return true;
}

/**
 * job_instance() - one more
 * @job: gets it
 * @like: what it is like
 *
 * Return: the instance.
 */
struct instance *job_instance(struct job *job, const struct instance *like)
{
	if (job->n == MAX_INSTANCES)
		die("more than %u instances", MAX_INSTANCES);
	if (!job->inst)
		job->inst = memory(MAX_INSTANCES, sizeof(*job->inst));
	job->inst[job->n] = *like;
	return &job->inst[job->n++];
}

/* HOST[,KEY=VALUE]... */
static void host(struct job *job, char *word, const struct instance *like)
{
	struct instance *i = job_instance(job, like);
	char *key, *value;

	copy(i->to, "host", strtok(word, ",") ?: "");
	if (!*i->to)
		die("an instance without a host");
	copy(i->name, "name", i->to);
	while ((key = strtok(NULL, ","))) {
		value = strchr(key, '=');
		if (!value)
			die("%s: \"%s\" is not KEY=VALUE", i->to, key);
		*value++ = 0;
		if (!set(i, key, value))
			die("%s: there is no key \"%s\"", i->to, key);
	}
	if (strpbrk(i->name, ",\n"))
		die("a name with a comma");
}

/* tcp:HOST[,KEY=VALUE]... */
static void flow(struct job *job, char *word)
{
	struct flow f = { .port = CONTROL_PORT };
	char *kind = strtok(word, ":"), *to = strtok(NULL, ","), *key, *value;
	unsigned int n = 1;

	if (!kind || !to)
		die("--flow: tcp:HOST or shuffle:HOST is expected");
	f.shuffle = option_choice("flow", kind, flow_names);
	f.size = f.shuffle ? 4 << 20 : 4096;
	copy(f.to, "flow", to);
	while ((key = strtok(NULL, ","))) {
		value = strchr(key, '=');
		if (!value)
			die("--flow %s: \"%s\" is not KEY=VALUE", to, key);
		*value++ = 0;
		if (!strcmp(key, "n"))
			n = option_whole("flow n", value, 1, MAX_FLOWS);
		else if (!strcmp(key, "size"))
			f.size = option_whole("flow size", value, 1, 1 << 30);
		else if (!strcmp(key, "dscp"))
			f.dscp = option_whole("flow dscp", value, 0, 63);
		else if (!strcmp(key, "port"))
			f.port = option_whole("flow port", value, 1, 65535);
		else if (!strcmp(key, "from"))
			copy(f.from, "flow from", value);
		else
			die("--flow %s: there is no key \"%s\"", to, key);
	}
	if (job->flows + n > MAX_FLOWS)
		die("more than %u flows", MAX_FLOWS);
	if (!job->flow)
		job->flow = memory(MAX_FLOWS, sizeof(*job->flow));
	while (n--)
		job->flow[job->flows++] = f;
}

static bool times_option(struct job *job, int opt, const char *s)
{
	switch (opt) {
	case OPT_DURATION:
		job->duration = option_number("duration", s, 0.001, 1e6);
		return true;
	case OPT_WARMUP:
		job->warmup = option_number("warmup", s, 0, 1000);
		return true;
	case OPT_TIMEOUT:
		job->timeout = option_number("timeout", s, 0.000001, 60);
		return true;
	case OPT_TICK:
		job->tick = option_number("tick", s, 0.01, 3600);
		return true;
	}
	return false;
}

static bool files_option(struct job *job, int opt, const char *s)
{
	switch (opt) {
	case OPT_JSON:
		job->json = s;
		/* it is to be read by a program */
		job->quiet |= !strcmp(s, "-");
		return true;
	case OPT_LOG:
		job->log = s;
		return true;
	case OPT_PERCENTILES:
		job->percentiles = s;
		return true;
	case OPT_SVG:
		job->svg = s;
		return true;
	case OPT_QUIET:
		job->quiet = true;
		return true;
	}
	return false;
}

/**
 * options_read() - read the command line; the program ends if it is wrong
 * @job: result
 * @argc: its words
 * @argv: likewise
 *
 * Return: 0, or 1: only help was wanted.
 */
int options_read(struct job *job, int argc, char **argv)
{
	struct instance *like = memory(1, sizeof(*like));
	const char *hosts = NULL, *pattern = "many-to-one", *rank = NULL;
	int opt;

	*job = (struct job){ .duration = 10, .warmup = 0.2, .timeout = 1, .tick = 1 };
	like->size = 64;
	like->rate = 1000;
	like->opt = (struct echo_options){ .port = ECHO_PORT, .priority = -1 };
	if (argc > 1 && !strcmp(argv[1], "watch")) {
		job->watch = true;
		argc--;
		argv++;
	}
	while ((opt = option_next(argc, argv, opts, OPTS)) != -1) {
		if (times_option(job, opt, optarg) || files_option(job, opt, optarg) ||
		    (optarg && set(like, opts[opt - OPT_SIZE].name, optarg)))
			continue;
		switch (opt) {
		case OPT_RANDOM:
			like->random = true;
			break;
		case OPT_SHORT:
			like->brief = true;
			break;
		case OPT_HOSTS:
			hosts = optarg;
			break;
		case OPT_PATTERN:
			pattern = optarg;
			break;
		case OPT_RANK:
			rank = optarg;
			break;
		case OPT_FLOW:
			flow(job, optarg);
			break;
		default:
			help();
			return 1;
		}
	}
	if (hosts)
		hosts_instances(job, hosts, pattern, rank, like);
	for (; optind < argc; optind++)
		host(job, argv[optind], like);
	if (!job->n)
		die("whom to ask?  --help tells more");
	free(like);
	return 0;
}
