// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "option.h"
#include "job.h"

const char *const schedule_names[SIM_SCHEDULES + 1] = { "dfs", "none", "bench", NULL };
const char *const nic_names[] = { "fifo", "round-robin", NULL };
static const char *const order_names[] = { "staggered", "same", NULL };
static const char *const bool_names[] = { "off", "on", NULL };

enum {
	OPT_INPUTS = 1000, OPT_BUILDERS, OPT_SCHEDULE, OPT_INTERVALS, OPT_WARMUP, OPT_SLICES,
	OPT_PIECE, OPT_RATE, OPT_LATENCY, OPT_TICKETS, OPT_BUFFER, OPT_NIC, OPT_ORDER, OPT_PROCESS,
	OPT_HISTORY, OPT_GATE, OPT_SPEEDUP, OPT_CHANGE, OPT_THETA, OPT_DDES, OPT_RESTART, OPT_FAIL,
	OPT_NOISE, OPT_PAUSE, OPT_SLOW, OPT_OFFSET, OPT_DRIFT, OPT_CONTROL, OPT_SAMPLE, OPT_SEED,
	OPT_JSON, OPT_SVG, OPT_QUIET, OPT_PROGRESS, OPT_HELP,
};

static const struct option_def opts[] = {
	{ "inputs", OPT_INPUTS, "N", "hosts that send (20)" },
	{ "builders", OPT_BUILDERS, "N", "hosts that receive (20)" },
	{ "schedule", OPT_SCHEDULE, "LIST", "dfs, none, bench, or all (all)" },
	{ "intervals", OPT_INTERVALS, "N", "how many are sent (40)" },
	{ "warmup", OPT_WARMUP, "N", "of those, not measured (24)" },
	{ "slices", OPT_SLICES, "N", "time-slices of an interval (10000)" },
	{ "piece", OPT_PIECE, "BYTES", "of an input for a time-slice, with descriptor\n"
	  "and status (65643)" },
	{ "rate", OPT_RATE, "GBIT", "of all links, Gb/s (25)" },
	{ "latency", OPT_LATENCY, "US", "of the network, one way (2)" },
	{ "tickets", OPT_TICKETS, "N", "of a pair of input and builder (16)" },
	{ "port-buffer", OPT_BUFFER, "BYTES", "that wait at a builder's link; 0: any number\n"
	  "(16384)" },
	{ "nic", OPT_NIC, "ORDER", "of an input's pieces: fifo, round-robin over\n"
	  "builders (fifo)" },
	{ "order", OPT_ORDER, "ORDER", "none: inputs begin a round with different builders\n"
	  "(staggered), or all with the first (same) (staggered)" },
	{ "process", OPT_PROCESS, "US", "that a builder works on a time-slice (0)" },
	{ "history", OPT_HISTORY, "N", "intervals that proposals look back at (10)" },
	{ "gate", OPT_GATE, "PERCENT", "faster if the lags deviate by at most this (10)" },
	{ "speedup", OPT_SPEEDUP, "PERCENT", "by this (5)" },
	{ "change", OPT_CHANGE, "PERCENT", "durations differ so much: another level; 0: the\n"
	  "source's rule (10)" },
	{ "theta", OPT_THETA, "PART", "of the acknowledgments before the next interval\n"
	  "(0.95)" },
	{ "ddes", OPT_DDES, "N", "builders with an engine (2)" },
	{ "restart", OPT_RESTART, "INTERVAL", "after it the first engine is restarted" },
	{ "fail", OPT_FAIL, "INTERVAL", "in which the last input dies" },
	{ "noise", OPT_NOISE, "PERCENT", "that a piece needs longer at its input, at most\n"
	  "(10)" },
	{ "pause", OPT_PAUSE, "EVERY,US", "inputs pause, means in us, exponential" },
	{ "slow", OPT_SLOW, "A-B,PERCENT[,N]", "N inputs are slower in intervals A to B (1)" },
	{ "offset", OPT_OFFSET, "S", "clocks are wrong by up to this, either way (0)" },
	{ "drift", OPT_DRIFT, "PPM", "clocks drift by up to this, either way (0)" },
	{ "control-noise", OPT_CONTROL, "US", "that reports and proposals need longer, at\n"
	  "most (2)" },
	{ "sample", OPT_SAMPLE, "US", "time between looks at buffers (10 an interval)" },
	{ "seed", OPT_SEED, "N", "of everything random (1)" },
	{ "json", OPT_JSON, "FILE", "results as JSON, - for standard output" },
	{ "svg", OPT_SVG, "FILE", "draw proposed and actual durations of intervals" },
	{ "quiet", OPT_QUIET, NULL, "no text" },
	{ "progress", OPT_PROGRESS, "on|off", "show progress (on a terminal)" },
	{ "help", OPT_HELP, NULL, "this text" },
};

#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void usage(void)
{
	printf("usage: shuffle-stream-sim [OPTION...]\n\n"
	       "Simulates time-slice building.  See shuffle-stream-sim(1).\n\n");
	option_table(opts, N(opts), 26);
}

static void set_schedules(struct job *j, const char *s)
{
	char *copy, *word, *save;
	u32 i;

	for (i = 0; i < SIM_SCHEDULES; i++)
		j->schedule[i] = !strcmp(s, "all");
	if (j->schedule[0])
		return;
	copy = memory(strlen(s) + 1, 1);
	strcpy(copy, s);
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save))
		j->schedule[option_choice("schedule", word, schedule_names)] = true;
	free(copy);
	if (!j->schedule[SIM_DFS] && !j->schedule[SIM_NONE] && !j->schedule[SIM_BENCH])
		die("--schedule %s: nothing to do", s);
}

static void set_slow(struct sim_config *cfg, const char *s)
{
	char *end;

	cfg->slow_from = (u32)option_part("slow", s, s, &end, 0, 1e6);
	if (*end != '-')
		die("--slow %s: A-B,PERCENT[,N] is expected", s);
	cfg->slow_to = (u32)option_part("slow", s, end + 1, &end, cfg->slow_from, 1e6);
	if (*end != ',')
		die("--slow %s: A-B,PERCENT[,N] is expected", s);
	cfg->slow = option_part("slow", s, end + 1, &end, 0, 10000) / 100;
	if (*end == ',')
		cfg->slow_inputs = (u32)option_part("slow", s, end + 1, &end, 1, SIM_MAX_HOSTS);
	if (*end)
		die("--slow %s: A-B,PERCENT[,N] is expected", s);
}

static void set_pause(struct sim_config *cfg, const char *s)
{
	char *end;

	cfg->pause_every = 1000 * option_part("pause", s, s, &end, 1, 1e9);
	if (*end != ',')
		die("--pause %s: EVERY,US is expected", s);
	cfg->pause = 1000 * option_part("pause", s, end + 1, &end, 0, 1e7);
	if (*end)
		die("--pause %s: EVERY,US is expected", s);
}

/* What the engines have. */
static bool set_stream(struct stream_config *c, int opt, const char *name, const char *s)
{
	switch (opt) {
	case OPT_INPUTS:
		c->inputs = option_whole(name, s, 1, SIM_MAX_HOSTS);
		return true;
	case OPT_BUILDERS:
		c->builders = option_whole(name, s, 1, SIM_MAX_HOSTS);
		return true;
	case OPT_SLICES:
		c->slices = option_whole(name, s, 1, STREAM_MAX_SLICES);
		return true;
	case OPT_TICKETS:
		c->ring = option_whole(name, s, 1, 4096);
		return true;
	case OPT_HISTORY:
		c->history = option_whole(name, s, 2, STREAM_MAX_HISTORY);
		return true;
	case OPT_GATE:
		c->gate = (u32)(option_number(name, s, 0, 100) * 10 + 0.5);
		return true;
	case OPT_SPEEDUP:
		c->speedup = (u32)(option_number(name, s, 0, 50) * 10 + 0.5);
		return true;
	case OPT_CHANGE:
		c->change = (u32)(option_number(name, s, 0, 100) * 10 + 0.5);
		return true;
	case OPT_THETA:
		c->theta = (u32)(option_number(name, s, 0, 1) * 1000 + 0.5);
		return true;
	}
	return false;
}

/* What the simulated hosts and the network have. */
static bool set_sim(struct sim_config *c, int opt, const char *name, const char *s)
{
	switch (opt) {
	case OPT_INTERVALS:
		c->intervals = option_whole(name, s, 2, 1e6);
		return true;
	case OPT_WARMUP:
		c->warmup = option_whole(name, s, 1, 1e6);
		return true;
	case OPT_PIECE:
		c->piece = option_whole(name, s, 64, 1 << 30);
		return true;
	case OPT_RATE:
		c->rate = option_number(name, s, 0.001, 10000);
		return true;
	case OPT_LATENCY:
		c->latency = (s64)(1000 * option_number(name, s, 0, 1e6));
		return true;
	case OPT_BUFFER:
		c->buffer = (u64)option_number(name, s, 0, 1e12);
		return true;
	case OPT_NIC:
		c->nic = option_choice(name, s, nic_names);
		return true;
	case OPT_ORDER:
		c->same_order = option_choice(name, s, order_names);
		return true;
	case OPT_PROCESS:
		c->process = (s64)(1000 * option_number(name, s, 0, 1e6));
		return true;
	case OPT_DDES:
		c->ddes = option_whole(name, s, 1, SIM_MAX_DDES);
		return true;
	case OPT_RESTART:
		c->restart = option_whole(name, s, 1, 1e6);
		return true;
	case OPT_FAIL:
		c->fail = option_whole(name, s, 1, 1e6);
		return true;
	case OPT_NOISE:
		c->noise = option_number(name, s, 0, 10000) / 100;
		return true;
	case OPT_PAUSE:
		set_pause(c, s);
		return true;
	case OPT_SLOW:
		set_slow(c, s);
		return true;
	case OPT_OFFSET:
		c->offset = 1e9 * option_number(name, s, 0, 50);
		return true;
	case OPT_DRIFT:
		c->drift = 1000 * option_number(name, s, 0, 1000);
		return true;
	case OPT_CONTROL:
		c->control_noise = (s64)(1000 * option_number(name, s, 0, 1e6));
		return true;
	case OPT_SAMPLE:
		c->sample = (s64)(1000 * option_number(name, s, 1, 1e9));
		return true;
	case OPT_SEED:
		c->seed = option_whole(name, s, 0, U32_MAX);
		return true;
	}
	return false;
}

static void set(struct job *j, int c)
{
	const char *name = opts[c - OPT_INPUTS].name;

	if (set_stream(&j->cfg.stream, c, name, optarg) || set_sim(&j->cfg, c, name, optarg))
		return;
	switch (c) {
	case OPT_SCHEDULE:
		set_schedules(j, optarg);
		break;
	case OPT_JSON:
		j->json = optarg;
		break;
	case OPT_SVG:
		j->svg = optarg;
		break;
	case OPT_QUIET:
		j->quiet = true;
		break;
	case OPT_PROGRESS:
		j->progress = option_choice(name, optarg, bool_names);
		break;
	default:
		usage();
		exit(0);
	}
}

/**
 * options_read() - read the command line
 * @j: to be filled in
 * @argc: of main()
 * @argv: of main()
 *
 * The program ends if something is wrong, or was only asked.
 */
void options_read(struct job *j, int argc, char **argv)
{
	const char *why;
	int c;

	*j = (struct job){ .progress = isatty(2) };
	sim_defaults(&j->cfg);
	set_schedules(j, "all");
	while ((c = option_next(argc, argv, opts, N(opts))) != -1)
		set(j, c);
	if (optind < argc)
		die("%s: there is no such argument", argv[optind]);
	why = sim_config_error(&j->cfg);
	if (why)
		die("%s", why);
	if (j->svg && !j->schedule[SIM_DFS])
		die("--svg: draws the schedule dfs");
	if (j->json && !strcmp(j->json, "-"))
		j->quiet = true;
}
