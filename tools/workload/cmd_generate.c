// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-workload generate, and cdfs.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
	OPT_SELF = 256,
	OPT_NO_SELF,
	OPT_KEYS,
	OPT_MEAN,
	OPT_STDDEV,
	OPT_DIMS,
	OPT_EXPONENT,
	OPT_EDGES,
	OPT_TARGETS,
};

static const char generate_help[] =
"usage: shuffle-workload generate WORKLOAD -n HOSTS [OPTIONS]\n"
"\n"
"WORKLOAD is one of these, or KIND-SIZE for one without messages to oneself, or\n"
"skewPP-SIZE (lognormal) or generalPP-SIZE for one with a skewness of 0.PP:\n"
"  uniform      all messages have the same length\n"
"  sort         a distributed bucket sort of random keys\n"
"  general      random distribution of lengths, equal sums of rows and columns\n"
"  lognormal    log-normal lengths, equal sums of rows and columns\n"
"  neighbour    exchange with the neighbours on a torus\n"
"  graph        the edges of a power-law graph that is spread over the hosts\n"
"  mapreduce    mappers send to reducers\n"
"  incast       all others send to a few\n"
"  permutation  every host sends all it has to one other\n"
"\n"
"  -n, --hosts N          number of hosts, 2 to 4096\n"
"  -s, --size SIZE        mean length of a message, 24k; 24k is 24000, 256k is 256 KiB\n"
"  -S, --seed SEED        of the random numbers, 1\n"
"  -k, --skewness X       wanted skewness within 0.0025, or LO:HI (sort, general,\n"
"                         lognormal)\n"
"      --self, --no-self  with or without messages to oneself\n"
"      --keys DIST[:VALUES[:SHAPE]]\n"
"                         sort: uniform, zipf (SHAPE: exponent), normal (SHAPE:\n"
"                         standard deviation) or mixture over VALUES keys\n"
"      --mean LO:HI       general: mean of the distribution of lengths\n"
"      --stddev LO:HI     and its standard deviation, in mean lengths\n"
"      --dims D           neighbour: dimensions of the torus, 1 to 3; 2\n"
"      --exponent E       graph: exponent of the power law, 2.1\n"
"      --edges E          graph: edges for each vertex, 8\n"
"      --targets T        incast: receivers, 1; mapreduce: reducers, half of the hosts\n"
"  -f, --format FORMAT    csv, binary or trace; csv\n"
"  -o, --output FILE      instead of standard output\n";

static void arg_keys(char *s, struct wl_spec *spec)
{
	static const char *const names[] = {
		[WL_KEYS_UNIFORM] = "uniform",
		[WL_KEYS_ZIPF] = "zipf",
		[WL_KEYS_NORMAL] = "normal",
		[WL_KEYS_MIXTURE] = "mixture",
	};
	char *values = strchr(s, ':'), *shape = NULL;
	unsigned int i;

	if (values) {
		*values++ = 0;
		shape = strchr(values, ':');
		if (shape)
			*shape++ = 0;
		spec->key_values = arg_number(values, 65536, "number of keys");
		if (!spec->key_values)
			die(EXIT_USAGE, "number of keys '0': one is needed");
	}
	if (shape)
		spec->key_shape = arg_real(shape, 1e6, "shape");
	for (i = WL_KEYS_UNIFORM; i <= WL_KEYS_MIXTURE; i++) {
		if (!strcmp(s, names[i])) {
			spec->keys = i;
			return;
		}
	}
	die(EXIT_USAGE, "keys '%s': there are uniform, zipf, normal and mixture", s);
}

static void arg_skewness(const char *s, struct wl_spec *spec)
{
	double x;

	if (strchr(s, ':')) {
		arg_interval(s, 1, "skewness", &spec->skew_lo, &spec->skew_hi);
		/* An interval is open on the right, but 1 is the end of all. */
		if (spec->skew_hi == 1)
			spec->skew_hi = 1.000001;
		return;
	}
	x = arg_real(s, 1, "skewness");
	spec->skew_lo = x > 0.0025 ? x - 0.0025 : 0;
	spec->skew_hi = x + 0.0025;
}

/* A workload by its kind or short name; must exist before its options. */
static void arg_workload(const char *name, struct wl_spec *spec)
{
	struct wl_error err;
	enum wl_kind kind;

	if (!wl_kind_parse(name, &kind))
		wl_spec_init(spec, kind, 0);
	else if (wl_spec_parse(spec, name, 0, &err))
		die(EXIT_USAGE, "%s", err.text);
}

/**
 * cmd_generate - make one matrix
 * @argc: of the command
 * @argv: of the command
 *
 * Return: exit status.
 */
int cmd_generate(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "hosts", required_argument, NULL, 'n' },
		{ "size", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "skewness", required_argument, NULL, 'k' },
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "self", no_argument, NULL, OPT_SELF },
		{ "no-self", no_argument, NULL, OPT_NO_SELF },
		{ "keys", required_argument, NULL, OPT_KEYS },
		{ "mean", required_argument, NULL, OPT_MEAN },
		{ "stddev", required_argument, NULL, OPT_STDDEV },
		{ "dims", required_argument, NULL, OPT_DIMS },
		{ "exponent", required_argument, NULL, OPT_EXPONENT },
		{ "edges", required_argument, NULL, OPT_EDGES },
		{ "targets", required_argument, NULL, OPT_TARGETS },
		{ 0 }
	};
	enum matrix_format format = MATRIX_CSV;
	const char *name, *output = "-";
	struct wl_spec spec = { 0 };
	struct wl_error err;
	struct wl_made made;
	char comment[256];
	struct matrix *m;
	int c;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(generate_help, stdout);
		return 0;
	}
	if (argc < 2 || argv[1][0] == '-')
		die(EXIT_USAGE, "generate: which workload? Try generate --help");
	name = argv[1];
	arg_workload(name, &spec);
	argc--;
	argv++;
	while ((c = getopt_long(argc, argv, "hn:s:S:k:f:o:", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(generate_help, stdout);
			return 0;
		case 'n':
			spec.n = arg_number(optarg, MATRIX_MAX_HOSTS, "hosts");
			break;
		case 's':
			if (wl_size_parse(optarg, &spec.mean))
				die(EXIT_USAGE, "size '%s': bytes, or with k or m", optarg);
			break;
		case 'S':
			spec.seed = arg_number(optarg, UINT64_MAX, "seed");
			break;
		case 'k':
			arg_skewness(optarg, &spec);
			break;
		case 'f':
			format = arg_format(optarg);
			break;
		case 'o':
			output = optarg;
			break;
		case OPT_SELF:
		case OPT_NO_SELF:
			spec.self = c == OPT_SELF;
			break;
		case OPT_KEYS:
			arg_keys(optarg, &spec);
			break;
		case OPT_MEAN:
			arg_interval(optarg, MATRIX_MAX_HOSTS, "mean", &spec.mean_lo,
				     &spec.mean_hi);
			break;
		case OPT_STDDEV:
			arg_interval(optarg, MATRIX_MAX_HOSTS, "stddev", &spec.dev_lo,
				     &spec.dev_hi);
			break;
		case OPT_DIMS:
			spec.dims = arg_number(optarg, 3, "dimensions");
			break;
		case OPT_EXPONENT:
			spec.exponent = arg_real(optarg, 10, "exponent");
			break;
		case OPT_EDGES:
			spec.edges = arg_number(optarg, 1000, "edges");
			break;
		case OPT_TARGETS:
			spec.targets = arg_number(optarg, MATRIX_MAX_HOSTS, "targets");
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "generate: what is '%s'?", argv[optind]);
	if (!spec.n)
		die(EXIT_USAGE, "generate: how many hosts? Give -n");
	m = wl_generate(&spec, &made, &err);
	if (!m)
		die(EXIT_TROUBLE, "%s", err.text);
	snprintf(comment, sizeof(comment), "%s, %u hosts, seed %llu: %s; skewness %.6f%s", name,
		 spec.n, (unsigned long long)spec.seed, made.how, made.skewness,
		 made.nudged ? ", bytes moved to reach it" : "");
	if (matrix_write_file(m, output, format, comment, &err))
		die(EXIT_TROUBLE, "%s", err.text);
	matrix_free(m);
	return 0;
}

static const char cdfs_help[] =
"usage: shuffle-workload cdfs -n HOSTS [OPTIONS]\n"
"\n"
"List the random distributions of message lengths that 'general' chooses from, by\n"
"mean and standard deviation, in units of the mean message.\n"
"\n"
"  -n, --hosts N    number of hosts, 2 to 4096\n"
"  -S, --seed SEED  of the random numbers, 1\n"
"  -j, --json       all points, as JSON\n";

/**
 * cmd_cdfs - list distributions
 * @argc: of the command
 * @argv: of the command
 *
 * Return: exit status.
 */
int cmd_cdfs(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "hosts", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'S' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 }
	};
	struct wl_cdfs *set;
	struct wl_error err;
	unsigned int n = 0;
	bool json = false;
	uint64_t seed = 1;
	int c;

	while ((c = getopt_long(argc, argv, "hn:S:j", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(cdfs_help, stdout);
			return 0;
		case 'n':
			n = arg_number(optarg, MATRIX_MAX_HOSTS, "hosts");
			break;
		case 'S':
			seed = arg_number(optarg, UINT64_MAX, "seed");
			break;
		case 'j':
			json = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "cdfs: what is '%s'?", argv[optind]);
	if (!n)
		die(EXIT_USAGE, "cdfs: how many hosts? Give -n");
	set = wl_cdfs_new(n, seed, &err);
	if (!set)
		die(EXIT_TROUBLE, "%s", err.text);
	wl_cdfs_print(set, json, stdout);
	wl_cdfs_free(set);
	return 0;
}
