// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option.h"
#include "job.h"

/**
 * var sim_algo_names - as in options and output, by enum sim_algo_kind
 */
const char *const sim_algo_names[SIM_ALGOS + 1] = {
	"grpf", "srpt", "grpt", "hadoop", "madd", "lockstep", "high-entropy", "sequential",
	"round-robin", NULL,
};

static const char *const prio_names[] = { "none", "edge", "core", NULL };
static const char *const unsched_names[] = { "none", "pro-rata", "message", NULL };
static const char *const window_names[] = { "pro-rata", "const", NULL };
static const char *const announce_names[] = { "rest", "all", NULL };
static const char *const global_names[] = { "none", "total", "sched", "gossip", NULL };
static const char *const ops_order_names[] = { "none", "fair", "smallest", "omniscient", NULL };
static const char *const order_names[] = { "random", "alternate", NULL };
static const char *const place_names[] = { "random", "in-order", NULL };
static const char *const bool_names[] = { "off", "on", NULL };

/**
 * struct opt - an option that belongs to a curve
 * @name: without dashes
 * @kind: 'u' whole number, 'U' the same or "inf", 'd' number, 'c' choice, 'l' seed
 * @offset: in struct sim_config
 * @names: choices
 * @arg: of the option, for help
 * @help: what it does
 */
struct opt {
	const char		*name;
	char			kind;
	size_t			offset;
	const char *const	*names;
	const char		*arg;
	const char		*help;
};

#define O(name, kind, field, names, arg, help) \
	{ name, kind, offsetof(struct sim_config, field), names, arg, help }

static const struct opt opts[] = {
	O("algo", 'c', algo, sim_algo_names, "NAME", "grpf srpt grpt hadoop madd lockstep\n"
	  "high-entropy sequential round-robin (grpf)"),
	O("racks", 'u', racks, NULL, "N", "racks of equal size (1)"),
	O("core", 'd', core, NULL, "X", "bandwidth to the core, in that of a rack's hosts (1)"),
	O("spines", 'u', spines, NULL, "N", "core switches that share it (1)"),
	O("spray", 'c', spray, bool_names, "on|off", "a packet takes any core switch, else its\n"
	  "flow's hash decides (off)"),
	O("prio", 'c', prio, prio_names, "WHERE", "control packets overtake data: none,\n"
	  "edge, core (edge)"),
	O("hop", 'u', hop, NULL, "STEPS", "latency of a hop (2)"),
	O("rtt", 'u', rtt, NULL, "STEPS", "RTTpackets of windows (the longest round trip)"),
	O("overcommit", 'd', overcommit, NULL, "X", "grants outstanding at a receiver, in RTT\n"
	  "(10)"),
	O("connections", 'u', connections, NULL, "C", "hadoop: messages at a time;\n"
	  "high-entropy: chunks (5)"),
	O("window", 'c', window, window_names, "MODE", "pro-rata, const: RTT each (pro-rata)"),
	O("unsched", 'c', unsched, unsched_names, "MODE", "none, pro-rata, message: RTT of each\n"
	  "(pro-rata)"),
	O("announce", 'c', announce, announce_names, "WHAT", "messages announced at once: the rest,\n"
	  "without unscheduled packets, all (rest)"),
	O("headroom", 'u', headroom, NULL, "N", "limit of a receiver with one large message may\n"
	  "grow to N times (1)"),
	O("randomise", 'c', randomise, bool_names, "on|off", "random offsets inside packets (on)"),
	O("redirect", 'U', redirect, NULL, "N|inf", "packets a sender may look down its schedule\n"
	  "(inf)"),
	O("grant-units", 'u', grant_units, NULL, "N", "packets that one grant of a long message\n"
	  "is for, at most (1)"),
	O("place", 'c', in_order, place_names, "HOW", "hosts in racks: random, in-order\n"
	  "(random)"),
	O("transpose", 'c', transpose, bool_names, "on|off", "senders and receivers change places\n"
	  "(off)"),
	O("global", 'c', global, global_names, "MODE", "what receivers know of others: none,\n"
	  "total (equation 3.11), sched (3.14), gossip:\n"
	  "3.14 by what data and grants carry (none)"),
	O("stale", 'd', stale, NULL, "X", "all-reduce takes X times the best (0)"),
	O("power", 'd', power, NULL, "N", "of the last term of 3.14 (2)"),
	O("preempt", 'd', preempt, NULL, "RTTS", "mean length of an interval (0: no preemption)"),
	O("preempt-order", 'c', alternate, order_names, "ORDER", "random: each interval is\n"
	  "preempted by chance; alternate: every other one (random)"),
	O("preempt-share", 'd', preempt_share, NULL, "X", "of the time (0.5)"),
	O("catchup", 'u', catchup, NULL, "N", "data packets a host takes a step (3)"),
	O("vary", 'd', vary, NULL, "RTTS", "mean time between changes of link rates (0: none)"),
	O("vary-low", 'd', vary_low, NULL, "X", "rates are from here to 1 (0.5)"),
	O("slow-share", 'd', slow_share, NULL, "X", "part of the hosts with slow links (0)"),
	O("slow-rate", 'd', slow_rate, NULL, "X", "their rate (0.5)"),
	O("cost-packet", 'd', cost_packet, NULL, "STEPS", "host time of a data packet (0)"),
	O("cost-message", 'd', cost_message, NULL, "STEPS", "host time of a message (0)"),
	O("buffer", 'u', buffer, NULL, "N", "packets a port holds (0: any number)"),
	O("switch-buffer", 'u', switch_buffer, NULL, "N", "packets a switch holds (0: any number)"),
	O("timeout", 'u', timeout, NULL, "STEPS", "without progress until RESEND (2083: 1 ms)"),
	O("stall", 'u', stall, NULL, "STEPS", "without progress until grants do not count\n"
	  "(0: never)"),
	O("shuffles", 'u', ops, NULL, "N", "at the same time (1)"),
	O("stagger", 'u', stagger, NULL, "STEPS", "between their starts (0)"),
	O("load", 'd', load, NULL, "X", "of links, by shuffles that start at random\n"
	  "instead (0)"),
	O("sigma", 'd', sigma, NULL, "X", "lengths of shuffles are log-normal (0: all alike)"),
	O("op-order", 'c', order, ops_order_names, "ORDER", "of shuffles: fair and smallest as the\n"
	  "module's, omniscient, none: limits of their own (none)"),
	O("barrier", 'u', barrier, NULL, "STEPS", "lockstep: of a barrier (log2(hosts) / 2 RTT)"),
	O("chunk", 'u', chunk, NULL, "N", "high-entropy: packets (27: 40 KB)"),
	O("local", 'c', local, bool_names, "on|off", "messages to oneself cross links (off)"),
	O("max-steps", 'u', max_steps, NULL, "N", "give up (1000 times the bound)"),
	O("seed", 'l', seed, NULL, "N", "of everything random (1)"),
};

enum {
	OPT_MATRIX = 1000, OPT_PACKET, OPT_WORKLOAD, OPT_HOSTS, OPT_MEAN, OPT_SKEWNESS, OPT_BUCKETS,
	OPT_SELF, OPT_RUNS, OPT_THREADS, OPT_CURVE, OPT_JSON, OPT_ALL, OPT_CSV, OPT_SERIES,
	OPT_QUIET, OPT_PROGRESS, OPT_BOUNDS, OPT_RATE, OPT_PLAN, OPT_PATTERN, OPT_ROOT, OPT_RADIX,
	OPT_BYTES, OPT_BURST, OPT_SVG, OPT_TABLE, OPT_WRITE_TABLE, OPT_VERSION, OPT_HELP,
};

static const struct {
	const char	*name;
	int		value;
	const char	*arg;
	const char	*help;
} plain[] = {
	{ "matrix", OPT_MATRIX, "FILE", "CSV, binary or trace, as shuffle-workload(1) writes" },
	{ "packet", OPT_PACKET, "BYTES", "of a packet in that file, or of a plan (1500)" },
	{ "workload", OPT_WORKLOAD, "NAME", "a generator of shuffle-workload(1) (general)" },
	{ "hosts", OPT_HOSTS, "N", "hosts (40)" },
	{ "mean", OPT_MEAN, "PACKETS", "mean length of a message (16)" },
	{ "skewness", OPT_SKEWNESS, "LIST|all", "of general, sort, lognormal: 0.25,0.5 or all" },
	{ "buckets", OPT_BUCKETS, "N", "the range of skewness is divided into (20)" },
	{ "self", OPT_SELF, "on|off", "rows count a message to oneself (on)" },
	{ "runs", OPT_RUNS, "N", "for each skewness (1)" },
	{ "threads", OPT_THREADS, "N", "that work (all processors)" },
	{ "curve", OPT_CURVE, "LABEL", "the options behind it are for this curve only" },
	{ "json", OPT_JSON, "FILE", "results as JSON, - for standard output" },
	{ "all", OPT_ALL, NULL, "JSON has every run" },
	{ "csv", OPT_CSV, "FILE", "a line for each run" },
	{ "series", OPT_SERIES, "FILE", "the first run of each curve over time" },
	{ "quiet", OPT_QUIET, NULL, "no text" },
	{ "progress", OPT_PROGRESS, "on|off", "show progress (on a terminal)" },
	{ "bounds", OPT_BOUNDS, NULL, "bounds only, nothing is simulated" },
	{ "rate", OPT_RATE, "GBPS", "of a link, for throughput (25)" },
	{ "plan", OPT_PLAN, "KIND|all", "no shuffle: what plans of collectives cost" },
	{ "pattern", OPT_PATTERN, "NAME|all", "of these plans (all)" },
	{ "root", OPT_ROOT, "N", "of these plans (0)" },
	{ "radix", OPT_RADIX, "K", "of trees, Bruck's; segments of spread, two-tree, chain (2)" },
	{ "bytes", OPT_BYTES, "N", "of data: times of these plans, 25 Gb/s, 4 us in a rack" },
	{ "burst", OPT_BURST, "N", "bytes that links of plans let through at once (0)" },
	{ "svg", OPT_SVG, "FILE", "draw the plan that --plan and --pattern name" },
	{ "table", OPT_TABLE, "FILE", "the plan of --plan is in it" },
	{ "write-table", OPT_WRITE_TABLE, "FILE", "write it, as --table reads it" },
	{ "version", OPT_VERSION, NULL, "of this program" },
	{ "help", OPT_HELP, NULL, "this text" },
};

#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void usage(void)
{
	size_t i;

	printf("usage: shuffle-sim [OPTION...] [--curve LABEL [OPTION...]]...\n\n"
	       "Simulates shuffles of N hosts in steps of one packet.  The hosts run the schedule of\n"
	       "the AF_SHUFFLE module.  Results are medians of runs.\n\nWhat is run:\n");
	for (i = 0; i < N(plain); i++)
		option_help(plain[i].name, plain[i].arg, plain[i].help, 24);
	printf("\nHosts and network (behind --curve: of that curve):\n");
	for (i = 0; i < N(opts); i++)
		option_help(opts[i].name, opts[i].arg, opts[i].help, 24);
}

static void set(struct sim_config *cfg, const struct opt *o, const char *s)
{
	char *at = (char *)cfg + o->offset;
	char *end;

	switch (o->kind) {
	case 'c':
		*(u8 *)at = option_choice(o->name, s, o->names);
		break;
	case 'U':
		*(u32 *)at = strcmp(s, "inf") ? option_whole(o->name, s, 0, 4e9) : U32_MAX;
		break;
	case 'u':
		*(u32 *)at = option_whole(o->name, s, 0, 4e9);
		break;
	case 'l':
		*(u64 *)at = strtoull(s, &end, 10);
		if (end == s || *end)
			die("--%s %s: a whole number is expected", o->name, s);
		break;
	default:
		*(double *)at = option_number(o->name, s, 0, 1e9);
	}
}

static void set_skewness(struct plan *p, const char *s)
{
	char *end;
	u32 i;

	if (!strcmp(s, "all")) {
		p->points = p->buckets;
		if (p->points > MAX_POINTS)
			die("--skewness all: at most %u --buckets", MAX_POINTS);
		for (i = 0; i < p->points; i++)
			p->point[i] = (i + 0.5) / p->buckets;
	} else {
		for (p->points = 0; ; s = end + 1) {
			double v = strtod(s, &end);

			if (end == s || (*end && *end != ',') || !(v >= 0 && v <= 1))
				die("--skewness %s: numbers from 0 to 1 with commas, or all", s);
			if (p->points == MAX_POINTS)
				die("--skewness: at most %u", MAX_POINTS);
			p->point[p->points++] = v;
			if (!*end)
				break;
		}
	}
	for (i = 0; i < p->points; i++) {
		/* 0.05 is in the bucket that begins there, whatever its last bit */
		p->bucket[i] = (u32)(p->point[i] * p->buckets + 0.000000001);
		if (p->bucket[i] >= p->buckets)
			p->bucket[i] = p->buckets - 1;
	}
}

static u32 build_getopt(struct option *v)
{
	u32 n = 0;
	size_t i;

	for (i = 0; i < N(opts); i++)
		v[n++] = (struct option){ opts[i].name, required_argument, NULL, (int)i };
	for (i = 0; i < N(plain); i++)
		v[n++] = (struct option){ plain[i].name, plain[i].arg ? required_argument :
					  no_argument, NULL, plain[i].value };
	v[n] = (struct option){ 0 };
	return n;
}

static void add_curve(struct plan *p, const struct sim_config *common, const char *label)
{
	if (p->curves == MAX_CURVES)
		die("at most %u curves", MAX_CURVES);
	if (!*label || strlen(label) >= sizeof(p->curve->label) || strpbrk(label, ",\"\n"))
		die("--curve %s: 1 to 63 characters, no commas or quotes", label);
	snprintf(p->curve[p->curves].label, sizeof(p->curve->label), "%s", label);
	p->curve[p->curves++].cfg = *common;
}

/* options that stand before the first curve and are for all */
struct general {
	const char	*workload;
	const char	*skewness;
	u32		hosts;
	u32		mean;
	bool		self;
	bool		sized;		/* --hosts was given */
	bool		generator;	/* one of its options was given */
	const char	*of_shuffles;	/* an option that plans of collectives do not have */
	const char	*of_plans;	/* one that shuffles do not have */
	const char	*of_times;	/* one that only times of plans have */
};

static void set_plan(struct collectives *p, struct general *g, int c)
{
	g->of_plans = plain[c - OPT_MATRIX].name;
	switch (c) {
	case OPT_PLAN:
		p->kind = optarg;
		break;
	case OPT_PATTERN:
		p->pattern = optarg;
		break;
	case OPT_ROOT:
		p->root = option_whole("root", optarg, 0, 65535);
		break;
	case OPT_RADIX:
		p->radix = option_whole("radix", optarg, 1, 65535);
		break;
	case OPT_BYTES:
		p->bytes = option_whole("bytes", optarg, 1, 1 << 30);
		break;
	case OPT_BURST:
		p->net.burst = option_whole("burst", optarg, 0, 1 << 30);
		break;
	case OPT_TABLE:
		p->table = optarg;
		break;
	case OPT_WRITE_TABLE:
		p->write = optarg;
		break;
	default:
		p->svg = optarg;
	}
}

/* Plans know hosts and racks, their times the core, and nothing else of a shuffle. */
static void check_plans(struct plan *p, const struct general *g, const struct sim_config *common,
			const struct output *out)
{
	if (p->plans.table) {
		if (p->plans.kind || strcmp(p->plans.pattern, "all") || p->plans.root ||
		    g->sized)
			die("--table: kind, pattern, root and hosts are those of the file");
		p->plans.kind = "of a file";
	}
	if (!p->plans.kind) {
		if (g->of_plans)
			die("--%s goes with --plan", g->of_plans);
		return;
	}
	if (g->of_shuffles)
		die("--%s does not go with --plan", g->of_shuffles);
	if (g->of_times && !p->plans.bytes)
		die("--%s does not go with --plan, but with --bytes", g->of_times);
	p->plans.hosts = g->hosts;
	p->plans.racks = common->racks;
	p->plans.net.packet = p->packet;
	p->plans.net.core = common->core;
	p->plans.json = out->json;
	p->plans.quiet = out->quiet;
}

static void set_general(struct plan *p, struct general *g, struct output *out, int c)
{
	if (c == OPT_PACKET)
		g->of_times = "packet";
	else if (c >= OPT_MATRIX && c < OPT_PLAN && c != OPT_HOSTS && c != OPT_JSON &&
		 c != OPT_QUIET && c != OPT_PROGRESS)
		g->of_shuffles = plain[c - OPT_MATRIX].name;
	switch (c) {
	case OPT_MATRIX:
		p->file = optarg;
		break;
	case OPT_PACKET:
		p->packet = option_whole("packet", optarg, 1, 1000000000);
		break;
	case OPT_WORKLOAD:
		g->workload = optarg;
		g->generator = true;
		break;
	case OPT_HOSTS:
		g->hosts = option_whole("hosts", optarg, 2, MATRIX_MAX_HOSTS);
		g->generator = true;
		g->sized = true;
		break;
	case OPT_MEAN:
		g->mean = option_whole("mean", optarg, 1, 1e6);
		g->generator = true;
		break;
	case OPT_SKEWNESS:
		g->skewness = optarg;
		g->generator = true;
		break;
	case OPT_BUCKETS:
		p->buckets = option_whole("buckets", optarg, 1, 1000);
		break;
	case OPT_SELF:
		g->self = option_choice("self", optarg, bool_names);
		break;
	case OPT_RUNS:
		p->runs = option_whole("runs", optarg, 1, 1e6);
		break;
	case OPT_THREADS:
		p->threads = option_whole("threads", optarg, 1, 64);
		break;
	case OPT_JSON:
		out->json = optarg;
		break;
	case OPT_ALL:
		out->all = true;
		break;
	case OPT_CSV:
		out->csv = optarg;
		break;
	case OPT_SERIES:
		out->series = optarg;
		break;
	case OPT_QUIET:
		out->quiet = true;
		break;
	case OPT_PROGRESS:
		p->progress = option_choice("progress", optarg, bool_names);
		break;
	case OPT_BOUNDS:
		p->bounds = true;
		break;
	case OPT_RATE:
		p->rate = option_number("rate", optarg, 0.000001, 1000000);
		break;
	case OPT_PLAN:
	case OPT_PATTERN:
	case OPT_ROOT:
	case OPT_RADIX:
	case OPT_BYTES:
	case OPT_BURST:
	case OPT_SVG:
	case OPT_TABLE:
	case OPT_WRITE_TABLE:
		set_plan(&p->plans, g, c);
		break;
	case OPT_VERSION:
		printf("shuffle-sim %s\n", VERSION);
		exit(0);
	case OPT_HELP:
		usage();
		exit(0);
	default:
		fprintf(stderr, "See shuffle-sim --help.\n");
		exit(2);
	}
}

/* two of them in one stream could not be told apart */
static void check_streams(const struct output *out)
{
	const char *const path[] = { out->json, out->csv, out->series };
	u32 n = 0;
	size_t i;

	for (i = 0; i < N(path); i++)
		n += path[i] && !strcmp(path[i], "-");
	if (n > 1)
		die("only one of --json, --csv and --series can go to standard output");
}

static void set_workload(struct plan *p, const struct general *g)
{
	enum wl_kind kind = WL_GENERAL;

	if (p->file) {
		if (g->generator)
			die("--matrix does not go with options of a generator");
		p->buckets = 0;
		return;
	}
	if (g->workload && wl_kind_parse(g->workload, &kind))
		die("--workload %s: there is no such generator, see shuffle-workload(1)",
		    g->workload);
	wl_spec_init(&p->spec, kind, g->hosts);
	p->spec.mean = g->mean;
	p->spec.self = g->self;
	p->spec.seed = p->curve[0].cfg.seed;
	if (!g->skewness) {
		p->buckets = 0;
		return;
	}
	if (kind != WL_GENERAL && kind != WL_SORT && kind != WL_LOGNORMAL)
		die("--skewness is for general, sort and lognormal");
	set_skewness(p, g->skewness);
}

/**
 * options_parse() - what does the command line ask for?
 * @p: plan, zeroed
 * @argc: as main() gets it
 * @argv: as main() gets it
 * @out: where results go
 *
 * Ends the program with a message when something is wrong.
 */
void options_parse(struct plan *p, int argc, char **argv, struct output *out)
{
	struct general g = { .hosts = 40, .mean = 16, .self = true };
	struct option longs[N(opts) + N(plain) + 1];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct sim_config common;
	const char *why;
	int c;
	u32 i;

	sim_defaults(&common);
	/* getopt's messages name the program as ours do */
	argv[0] = (char *)"shuffle-sim";
	build_getopt(longs);
	p->packet = 1500;
	p->buckets = 20;
	p->points = 1;
	p->runs = 1;
	p->rate = 25;
	p->threads = processors > 0 && processors <= 64 ? (u32)processors : 1;
	p->progress = isatty(2);
	p->plans = (struct collectives){ .pattern = "all", .radix = 2 };
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c >= 0 && c < (int)N(opts)) {
			if (opts[c].offset == offsetof(struct sim_config, core))
				g.of_times = opts[c].name;
			else if (opts[c].offset != offsetof(struct sim_config, racks))
				g.of_shuffles = opts[c].name;
			set(p->curves ? &p->curve[p->curves - 1].cfg : &common, &opts[c], optarg);
			continue;
		}
		if (c == 'h')
			c = OPT_HELP;
		if (c == OPT_CURVE) {
			g.of_shuffles = "curve";
			add_curve(p, &common, optarg);
			continue;
		}
		if (p->curves && c != OPT_HELP && c != OPT_VERSION && c != '?')
			die("--%s is for all curves and stands before the first",
			    plain[c - OPT_MATRIX].name);
		set_general(p, &g, out, c);
	}
	if (optind < argc)
		die("%s: options begin with --, see shuffle-sim --help", argv[optind]);
	check_streams(out);
	check_plans(p, &g, &common, out);
	if (p->plans.kind)
		return;
	if (!p->curves)
		add_curve(p, &common, sim_algo_names[common.algo]);
	set_workload(p, &g);
	if (p->file)
		return;
	for (i = 0; i < p->curves; i++) {
		why = sim_check(&p->curve[i].cfg, g.hosts);
		if (why)
			die("%s: %s", p->curve[i].label, why);
	}
}
