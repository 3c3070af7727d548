// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-query run and list: one host of a query, or all of them in a process. */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "common.h"
#include "explain.h"
#include "json.h"
#include "queries.h"
#include "table.h"

#define LOCAL_HOSTS_MAX	256
#define DEADLINE_MS	60000

static const char usage_text[] =
"Usage: shuffle-query run QUERY --tables DIR --group GROUP [--rank R] [options]\n"
"       shuffle-query run QUERY --tables DIR --local [--hosts N] [options]\n"
"\n"
"One host of a query.  Start one at every member of the group; member 0 writes the\n"
"result to standard output.  'shuffle-query list' shows the queries.\n"
"\n"
"  -T, --tables DIR     folder with the tables: NAME.csv or NAME.shq, which all hosts\n"
"                       see, or parts NAME.0.csv, NAME.1.csv, ...: member R of N reads\n"
"                       parts R, R + N, ...\n"
"  -g, --group GROUP    members: a file with one ADDRESS:PORT a line, or a list\n"
"                       ADDRESS:PORT,ADDRESS:PORT,...; the same everywhere\n"
"  -r, --rank R         which of them is this one, from 0 (as mpirun or srun says)\n"
"  -o, --op ID          number of the query, the same everywhere, that this group has not\n"
"                       used before (default: the members agree)\n"
"  -t, --deadline MS    of the whole query (default: 60000)\n"
"      --roles FILE     sums of a gather go over the relays of a plan: who does what, as\n"
"                       'shuffle-plan-install roles' prints it\n"
"      --relays GROUP   with --roles: the plan's members, with relays, as of --group, but\n"
"                       with another port\n"
"  -l, --local          no sockets: all hosts are threads of this process\n"
"  -n, --hosts N        with --local: their number (default: 1, at most 256)\n"
"  -k, --hot MODE       keys with many rows: auto splits them if hosts would be loaded\n"
"                       unevenly (default), off never, on always\n"
"  -j, --json           the result as JSON, with times\n"
"      --start TIME     begin when it is so many seconds since the epoch\n"
"  -e, --explain        what each operator has cost, to standard error\n"
"  -h, --help           this text\n"
"\n"
"Exit status: 0, 1 if something failed (hosts that are missing are named), 2 wrong usage.\n";

enum { OPT_START = 1000, OPT_CHARGE, OPT_ROLES, OPT_RELAYS };

static const struct option options[] = {
	{ "tables", required_argument, NULL, 'T' },
	{ "group", required_argument, NULL, 'g' },
	{ "rank", required_argument, NULL, 'r' },
	{ "op", required_argument, NULL, 'o' },
	{ "deadline", required_argument, NULL, 't' },
	{ "local", no_argument, NULL, 'l' },
	{ "hosts", required_argument, NULL, 'n' },
	{ "hot", required_argument, NULL, 'k' },
	{ "roles", required_argument, NULL, OPT_ROLES },
	{ "relays", required_argument, NULL, OPT_RELAYS },
	{ "start", required_argument, NULL, OPT_START },
	{ "charge", required_argument, NULL, OPT_CHARGE },
	{ "json", no_argument, NULL, 'j' },
	{ "explain", no_argument, NULL, 'e' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct run {
	const struct query_kind *kind;
	const char *tables, *roles, *relays;
	struct group group;
	unsigned int rank, hosts;
	uint64_t op, deadline_ms;
	enum hot_keys hot;
	struct charge charge;
	double start;
	int local, json, explain;
};

static void write_result(const struct run *r, const struct query *q, const struct batch *rows,
			 const struct phase *phase, uint64_t took_ns)
{
	if (r->explain)
		explain_text(stderr, q, phase, took_ns);
	if (!r->json) {
		csv_write_names(stdout, rows);
		csv_write(stdout, rows);
	} else {
		printf("{\"query\": \"%s\", \"hosts\": %u, \"took_ns\": %" PRIu64 ", ",
		       r->kind->name, q->net->count, took_ns);
		json_rows(stdout, rows);
		fputs(", ", stdout);
		explain_json(stdout, q, phase);
		puts("}");
	}
	if (fflush(stdout) || ferror(stdout))
		err(1, "cannot write the result");
}

/* One host. */
static void run_host(void *arg, struct net *net)
{
	const struct run *r = arg;
	struct query q = { .net = net, .tables = r->tables, .hot = r->hot,
			   .charge = r->charge };
	uint64_t begin = start_wait(r->start), took;
	struct phase *phase;
	struct batch rows;
	struct op *root;

	root = r->kind->plan(&q);
	batch_like(&rows, &root->out);
	op_take_all(root, &rows);
	took = now_ns() - begin;
	phase = explain_gather(&q);
	if (!net->rank)
		write_result(r, &q, &rows, phase, took);
	free(phase);
	batch_free(&rows);
	query_free(&q);
}

static const struct query_kind *find_query(const char *name)
{
	unsigned int i;

	for (i = 0; i < queries_count; i++)
		if (!strcmp(name, queries[i].name))
			return &queries[i];
	errx(2, "there is no query \"%s\": try 'shuffle-query list'", name);
}

static enum hot_keys hot_mode(const char *arg)
{
	if (!strcmp(arg, "auto"))
		return HOT_AUTO;
	if (!strcmp(arg, "off"))
		return HOT_OFF;
	if (!strcmp(arg, "on"))
		return HOT_ON;
	errx(2, "--hot \"%s\": there are auto, off and on", arg);
}

static void parse(struct run *r, int argc, char **argv)
{
	const char *group = NULL, *wrong;
	char *end;
	int opt;

	r->rank = GROUP_RANK_UNKNOWN;
	r->deadline_ms = DEADLINE_MS;
	while ((opt = getopt_long(argc, argv, "T:g:r:o:t:ln:k:jeh", options, NULL)) != -1) {
		switch (opt) {
		case 'T':
			r->tables = optarg;
			break;
		case 'g':
			group = optarg;
			break;
		case 'r':
			r->rank = arg_number("--rank", optarg, SHUFFLE_MAX_MEMBERS - 1);
			break;
		case 'o':
			r->op = arg_number("--op", optarg, INT32_MAX);
			if (!r->op)
				errx(2, "--op 0: numbers of queries begin with 1");
			break;
		case 't':
			r->deadline_ms = arg_number("--deadline", optarg, 1000000000);
			break;
		case 'l':
			r->local = 1;
			break;
		case 'n':
			r->hosts = arg_number("--hosts", optarg, LOCAL_HOSTS_MAX);
			break;
		case 'k':
			r->hot = hot_mode(optarg);
			break;
		case OPT_ROLES:
			r->roles = optarg;
			break;
		case OPT_RELAYS:
			r->relays = optarg;
			break;
		case OPT_START:
			r->start = strtod(optarg, &end);
			if (end == optarg || *end || !(r->start > 0 && r->start < 1e12))
				errx(2, "--start \"%s\": is not a time", optarg);
			break;
		case OPT_CHARGE:
			wrong = charge_parse(&r->charge, optarg);
			if (wrong)
				errx(2, "--charge \"%s\": %s", optarg, wrong);
			break;
		case 'j':
			r->json = 1;
			break;
		case 'e':
			r->explain = 1;
			break;
		case 'h':
			fputs(usage_text, stdout);
			printf("\nBenchmarks:\n%s", charge_help);
			exit(0);
		default:
			fprintf(stderr, "Try \"shuffle-query run --help\".\n");
			exit(2);
		}
	}
	if (optind != argc - 1)
		errx(2, "run: one query is needed, see --help");
	r->kind = find_query(argv[optind]);
	if (!r->tables)
		errx(2, "--tables is needed, see --help");
	if (r->local ? group || r->rank != GROUP_RANK_UNKNOWN : !group || r->hosts)
		errx(2, "either --group or --local is needed, see --help");
	if (!r->roles != !r->relays || (r->roles && r->local))
		errx(2, "--roles and --relays: both, and not with --local");
	if (!r->deadline_ms)
		errx(2, "--deadline 0: no query is that fast");
	r->rank = r->local ? 0 : group_join(&r->group, group, r->rank);
	if (!r->hosts)
		r->hosts = 1;
}

int cmd_run(int argc, char **argv)
{
	struct relays *relays;
	struct run r = { 0 };
	struct net *net;

	parse(&r, argc, argv);
	if (r.local) {
		net_local_run(r.hosts, run_host, &r);
		return 0;
	}
	net = net_shuffle_open(&r.group, r.rank, r.op, r.deadline_ms);
	if (r.roles)
		net_relays_open(net, &r.group, r.relays, r.roles,
				net_shuffle_first_op(net));
	relays = net->relays;
	run_host(&r, net);
	/* all have answered the roll call before anybody leaves the relays */
	net_shuffle_close(net);
	if (relays)
		net_relays_close(relays);
	free(r.group.members);
	return 0;
}

int cmd_list(int argc, char **argv)
{
	unsigned int i;

	(void)argv;
	if (argc > 1)
		errx(2, "list takes no arguments");
	for (i = 0; i < queries_count; i++)
		printf("%-8s tables: %s\n         %s\n", queries[i].name, queries[i].tables,
		       queries[i].sql);
	return 0;
}
