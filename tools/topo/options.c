// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "option.h"
#include "job.h"

static const char *const irs_names[] = { "post", "pre", "inter", "auto", NULL };
static const char *const objective_names[] = { "cost", "links", NULL };
static const char *const paths_names[] = { "random", "rotate", NULL };
static const char *const merge_names[] = { "all", "children", NULL };
static const char *const form_names[] = { "exact", "paper", "switch", NULL };
static const char *const bool_names[] = { "off", "on", NULL };

enum {
	OPT_BCUBE = 1000, OPT_RACKS, OPT_GRAPH, OPT_WITHOUT, OPT_SENDERS, OPT_RECEIVERS, OPT_RANDOM,
	OPT_SEED, OPT_RUNS, OPT_METHOD, OPT_IRS, OPT_REFINE, OPT_OBJECTIVE, OPT_ENTRY,
	OPT_PATHS, OPT_DELTA, OPT_MERGE, OPT_FLOW, OPT_BLOOM, OPT_FORM, OPT_JSON, OPT_SUMMARY,
	OPT_TABLE, OPT_SVG, OPT_SVG_TREE, OPT_CHECK, OPT_WAYS, OPT_OVERLAY,
	OPT_QUIET, OPT_PROGRESS, OPT_HELP,
};

static const struct option_def opts[] = {
	{ "bcube", OPT_BCUBE, "N,K", "switches of N ports, K + 1 levels" },
	{ "racks", OPT_RACKS, "RxH", "R racks of H hosts, one switch between them" },
	{ "graph", OPT_GRAPH, "FILE", "servers, switches and links" },
	{ "without", OPT_WITHOUT, "LIST", "servers, switches and links (NAME/NAME, of a\n"
	  "BCube SERVER/DIMENSION) that have failed" },
	{ "senders", OPT_SENDERS, "LIST|@FILE", "servers; in a file each with its flow" },
	{ "receivers", OPT_RECEIVERS, "LIST|@FILE", "servers" },
	{ "random", OPT_RANDOM, "MxQ", "M senders, Q receivers, all different" },
	{ "seed", OPT_SEED, "N", "of everything random (1)" },
	{ "runs", OPT_RUNS, "N", "with other random members; means are shown (1)" },
	{ "method", OPT_METHOD, "LIST", "none unicast kmb irs srs exact, or all\n"
	  "(irs on a BCube, else kmb)" },
	{ "irs", OPT_IRS, "MODE", "symbols by the next stage after (post) or before\n"
	  "(pre) moves in a stage, or no such moves (inter);\n"
	  "auto: inter if delta is 0.5 or more, else post" },
	{ "refine", OPT_REFINE, NULL, "irs, srs: then look for shorter ways to others" },
	{ "objective", OPT_OBJECTIVE, "WHAT", "srs: cost, or links: share whenever possible\n"
	  "(cost)" },
	{ "entry", OPT_ENTRY, "SERVER", "srs: where its group is entered (the cheapest)" },
	{ "paths", OPT_PATHS, "WHICH", "none, unicast: random, of all shortest ones, or\n"
	  "rotate: digits from a random one down (random)" },
	{ "delta", OPT_DELTA, "LIST", "aggregation ratios, 0 to 1 (0)" },
	{ "merge", OPT_MERGE, "WHAT", "flows that meet at a server: all, or children:\n"
	  "not its own, as the source's text has it (all)" },
	{ "flow", OPT_FLOW, "SIZE", "of each sender, in any unit (1)" },
	{ "bloom", OPT_BLOOM, "BITS", "filters that carry the way, 1 to 1024 bits" },
	{ "bloom-form", OPT_FORM, "FORM", "exact; the source's: paper, in packets, or switch, in\n"
	  "servers and switches: count its mistakes (exact)" },
	{ "json", OPT_JSON, "FILE", "plan and results as JSON, - for standard output" },
	{ "summary", OPT_SUMMARY, NULL, "JSON without trees" },
	{ "table", OPT_TABLE, "FILE", "the plan as it is loaded into servers" },
	{ "svg", OPT_SVG, "FILE", "draw a tree" },
	{ "svg-tree", OPT_SVG_TREE, "SERVER", "of this receiver (the first)" },
	{ "check", OPT_CHECK, "FILE", "plan nothing: is this table right?" },
	{ "ways", OPT_WAYS, "FILE", "check: by which switches each server sends" },
	{ "overlay", OPT_OVERLAY, "FILE", "check: filters with which servers that only pass on\n"
	  "need no relay" },
	{ "quiet", OPT_QUIET, NULL, "no text" },
	{ "progress", OPT_PROGRESS, "on|off", "show progress (on a terminal)" },
	{ "help", OPT_HELP, NULL, "this text" },
};

#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void usage(void)
{
	printf("usage: shuffle-plan TOPOLOGY MEMBERS [OPTION...]\n"
	       "       shuffle-plan --check TABLE [TOPOLOGY]\n\n"
	       "Plans the trees along which servers aggregate a shuffle.  See shuffle-plan(1).\n\n");
	option_table(opts, N(opts), 24);
}

static void set_methods(struct job *j, const char *s)
{
	char *copy, *word, *save;
	u32 m;

	if (!strcmp(s, "all")) {
		for (m = 0; m < METHODS; m++)
			j->method[m] = !method_refused(&j->shuffle, m);
		return;
	}
	copy = memory(NULL, strlen(s) + 1, 1);
	strcpy(copy, s);
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		const char *why;

		m = option_choice("method", word, method_names);
		why = method_refused(&j->shuffle, m);
		if (why)
			die("--method %s: this method %s", word, why);
		j->method[m] = true;
	}
	free(copy);
}

static void set_deltas(struct shuffle *s, const char *list)
{
	const char *at = list;
	char *end;

	for (s->deltas = 0; ; at = end + 1) {
		double v = strtod(at, &end);

		if (end == at || (*end && *end != ',') || !(v >= 0 && v <= 1))
			die("--delta %s: numbers from 0 to 1 with commas", list);
		if (s->deltas == SHUFFLE_MAX_DELTAS)
			die("--delta %s: at most %u", list, SHUFFLE_MAX_DELTAS);
		s->delta[s->deltas++] = v;
		if (!*end)
			break;
	}
}

static void set_random(struct job *j, const char *s)
{
	char *end;
	unsigned long m = strtoul(s, &end, 10), q = 0;

	if (*s < '0' || *s > '9' || *end != 'x' || end[1] < '0' || end[1] > '9')
		die("--random %s: MxQ is expected", s);
	q = strtoul(end + 1, &end, 10);
	if (*end || !m || !q || m > SHUFFLE_MAX_MEMBERS || q > SHUFFLE_MAX_MEMBERS)
		die("--random %s: 1 to %u senders, 1 to as many receivers", s,
		    SHUFFLE_MAX_MEMBERS);
	j->random_senders = (u32)m;
	j->random_receivers = (u32)q;
}

/* What waits until the topology is known. */
struct later {
	const char	*topology;
	const char	*without;
	const char	*senders;
	const char	*receivers;
	const char	*random;
	const char	*method;
	const char	*entry;
	const char	*svg_tree;
	const char	*of_plans;	/* an option that --check does not have */
	const char	*of_bloom;
	double		flow;
	bool		flows;
};

static void set_topology(struct job *j, struct later *l, int c)
{
	const char *why = NULL;

	if (l->topology)
		die("--%s: there is a topology already: --%s", opts[c - OPT_BCUBE].name,
		    l->topology);
	l->topology = opts[c - OPT_BCUBE].name;
	if (c == OPT_BCUBE)
		why = topo_bcube(&j->topo, optarg);
	else if (c == OPT_RACKS)
		why = topo_racks(&j->topo, optarg);
	else
		topo_file(&j->topo, optarg);
	if (why)
		die("--%s %s: %s", l->topology, optarg, why);
}

static void set_members(struct job *j, struct later *l, int c)
{
	char *end;

	switch (c) {
	case OPT_SENDERS:
		l->senders = optarg;
		break;
	case OPT_RECEIVERS:
		l->receivers = optarg;
		break;
	case OPT_RANDOM:
		l->random = optarg;
		set_random(j, optarg);
		break;
	case OPT_RUNS:
		j->runs = option_whole("runs", optarg, 1, 1000000);
		break;
	case OPT_FLOW:
		l->flow = option_number("flow", optarg, 0.000001, 1e12);
		l->flows = true;
		break;
	default:
		j->seed = strtoull(optarg, &end, 10);
		if (*optarg < '0' || *optarg > '9' || *end)
			die("--seed %s: a whole number is expected", optarg);
	}
}

static void set_method(struct job *j, struct later *l, int c)
{
	switch (c) {
	case OPT_METHOD:
		l->method = optarg;
		break;
	case OPT_IRS:
		j->shuffle.irs = option_choice("irs", optarg, irs_names);
		break;
	case OPT_REFINE:
		j->shuffle.refine = true;
		break;
	case OPT_OBJECTIVE:
		j->shuffle.objective = option_choice("objective", optarg, objective_names);
		break;
	case OPT_ENTRY:
		l->entry = optarg;
		break;
	case OPT_PATHS:
		j->shuffle.paths = option_choice("paths", optarg, paths_names);
		break;
	case OPT_DELTA:
		set_deltas(&j->shuffle, optarg);
		break;
	case OPT_MERGE:
		j->shuffle.children_only = option_choice("merge", optarg, merge_names);
		break;
	case OPT_BLOOM:
		j->bloom = option_whole("bloom", optarg, 1, SHUFFLE_BLOOM_BITS);
		break;
	default:
		j->form = option_choice("bloom-form", optarg, form_names);
		l->of_bloom = "bloom-form";
	}
}

static void set_output(struct job *j, struct later *l, int c)
{
	switch (c) {
	case OPT_JSON:
		j->json = optarg;
		break;
	case OPT_SUMMARY:
		j->summary = true;
		break;
	case OPT_TABLE:
		j->table = optarg;
		break;
	case OPT_SVG:
		j->svg = optarg;
		break;
	case OPT_SVG_TREE:
		l->svg_tree = optarg;
		break;
	case OPT_CHECK:
		j->check = optarg;
		break;
	case OPT_WAYS:
		j->ways = optarg;
		break;
	case OPT_OVERLAY:
		j->overlay = optarg;
		break;
	case OPT_QUIET:
		j->quiet = true;
		break;
	case OPT_PROGRESS:
		j->progress = option_choice("progress", optarg, bool_names);
		break;
	default:
		usage();
		exit(0);
	}
}

static u32 one_server(const struct topo *t, const char *option, const char *word)
{
	u32 server = topo_parse(t, word);

	if (server == NONE)
		die("--%s %s: there is no such server", option, word);
	return server;
}

static void end_members(struct job *j, const struct later *l)
{
	struct shuffle *s = &j->shuffle;

	if (l->random) {
		if (l->senders || l->receivers || l->flows)
			die("--random does not go with --senders, --receivers, --flow");
		if (j->random_senders + j->random_receivers > topo_servers(&j->topo))
			die("--random %s: there are %u servers", l->random,
			    topo_servers(&j->topo));
		s->senders = j->random_senders;
		s->receivers = j->random_receivers;
		return;
	}
	if (!l->senders || !l->receivers)
		die("--senders and --receivers are needed, or --random");
	if (j->runs > 1)
		die("--runs goes with --random");
	members_list(s, l->senders, false, l->flow);
	members_list(s, l->receivers, true, 0);
	members_end(s);
}

/* What goes with what. */
static void check_job(struct job *j, const struct later *l)
{
	u32 m, n = 0;

	for (m = 0; m < METHODS; m++)
		n += j->method[m];
	j->methods = n;
	if (!n)
		die("--method %s: none of them can plan this", l->method);
	if (j->runs > 1)
		j->summary = true;
	if ((j->table || j->svg) && (n > 1 || j->runs > 1 || j->method[METHOD_NONE]))
		die("--%s is for one method that makes trees, and one run",
		    j->table ? "table" : "svg");
	if (j->table && j->shuffle.children_only)
		die("--merge children is for costs: tables count all flows");
	if (n > 1)
		j->summary = true;
	if (l->svg_tree && !j->svg)
		die("--svg-tree goes with --svg");
	if (j->bloom && j->topo.graph)
		die("--bloom is for a BCube");
	if (l->of_bloom && !j->bloom)
		die("--%s goes with --bloom", l->of_bloom);
	if (j->form == BLOOM_PAPER && !j->method[METHOD_UNICAST])
		die("--bloom-form paper is for shortest paths: --method unicast");
	if (j->shuffle.refine && !j->method[METHOD_IRS] && !j->method[METHOD_SRS])
		die("--refine goes with --method irs or srs");
	if (j->shuffle.entry != NONE && !j->method[METHOD_SRS])
		die("--entry goes with --method srs");
}

/* Are all members of one part of the network? */
static void check_connected(struct job *j, const struct later *l)
{
	struct shuffle *s = &j->shuffle;
	struct graph *g = j->topo.graph;
	u32 i, root = s->receiver[0];

	graph_search(g, root, false);
	for (i = 0; i < s->senders; i++)
		if (g->far[s->sender[i]] == NONE)
			die("--without %s: no links lead from server %s to server %s", l->without,
			    g->name[s->sender[i]], g->name[root]);
	for (i = 0; i < s->receivers; i++)
		if (g->far[s->receiver[i]] == NONE)
			die("--without %s: no links lead from server %s to server %s", l->without,
			    g->name[root], g->name[s->receiver[i]]);
}

static void end_options(struct job *j, const struct later *l)
{
	struct shuffle *s = &j->shuffle;

	if (l->without) {
		if (!l->topology)
			die("--without goes with a topology");
		if (l->random)
			die("--without does not go with --random");
		topo_without(&j->topo, l->without);
	}
	if (j->check) {
		if (l->of_plans)
			die("--%s does not go with --check", l->of_plans);
		if (j->overlay && j->form == BLOOM_SWITCH)
			die("--bloom-form switch: packets of an overlay have their filters");
		if ((j->bloom || l->of_bloom) && !j->overlay)
			die("--%s does not go with --check, but for --overlay",
			    l->of_bloom ? l->of_bloom : "bloom");
		return;
	}
	if (j->ways || j->overlay)
		die("--%s goes with --check", j->ways ? "ways" : "overlay");
	if (!l->topology)
		die("a topology is needed: --bcube, --racks or --graph; see shuffle-plan --help");
	end_members(j, l);
	if (l->without)
		check_connected(j, l);
	/* A move in a stage costs 2 and saves 4 (1 - delta), at least. */
	if (s->irs == IRS_AUTO)
		s->irs = s->delta[0] < 0.5 ? IRS_POST : IRS_INTER;
	set_methods(j, l->method ? l->method : j->topo.graph ? "kmb" : "irs");
	if (l->entry)
		s->entry = one_server(&j->topo, "entry", l->entry);
	if (l->svg_tree)
		j->svg_tree = one_server(&j->topo, "svg-tree", l->svg_tree);
	check_job(j, l);
}

/**
 * options_parse() - what does the command line ask for?
 * @j: the job, zeroed
 * @argc: as main() gets it
 * @argv: as main() gets it
 *
 * Ends the program with a message and status 2 when something is wrong.
 */
void options_parse(struct job *j, int argc, char **argv)
{
	struct later l = { .flow = 1 };
	int c;

	j->shuffle.topo = &j->topo;
	j->shuffle.deltas = 1;
	j->shuffle.irs = IRS_AUTO;
	j->shuffle.entry = NONE;
	j->runs = 1;
	j->seed = 1;
	j->shuffle.seed = 1;
	j->svg_tree = NONE;
	j->progress = isatty(2);
	while ((c = option_next(argc, argv, opts, N(opts))) != -1) {
		if (c > OPT_WITHOUT && c != OPT_CHECK && c != OPT_WAYS && c != OPT_JSON &&
		    c != OPT_OVERLAY && c != OPT_BLOOM && c != OPT_FORM &&
		    c != OPT_QUIET && c != OPT_PROGRESS)
			l.of_plans = opts[c - OPT_BCUBE].name;
		if (c >= OPT_BCUBE && c <= OPT_GRAPH)
			set_topology(j, &l, c);
		else if (c == OPT_WITHOUT)
			l.without = optarg;
		else if (c >= OPT_SENDERS && c <= OPT_RUNS)
			set_members(j, &l, c);
		else if (c == OPT_FLOW)
			set_members(j, &l, c);
		else if (c >= OPT_METHOD && c <= OPT_FORM)
			set_method(j, &l, c);
		else
			set_output(j, &l, c);
	}
	if (optind < argc)
		die("%s: options begin with --, see shuffle-plan --help", argv[optind]);
	j->shuffle.seed = j->seed;
	end_options(j, &l);
}
