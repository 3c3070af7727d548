// SPDX-License-Identifier: GPL-2.0-or-later
/* The command lines. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"
#include "options.h"
#include "quality.h"

/* Of all commands; each knows some of them. */
static const struct option options[] = {
	{ "group", required_argument, NULL, 'g' },
	{ "rank", required_argument, NULL, 'r' },
	{ "op", required_argument, NULL, 'o' },
	{ "output", required_argument, NULL, 'd' },
	{ "pivots", required_argument, NULL, OPT_PIVOTS },
	{ "reduction", required_argument, NULL, OPT_REDUCTION },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "deadline", required_argument, NULL, OPT_DEADLINE },
	{ "explain", no_argument, NULL, 'e' },
	{ "one-file", no_argument, NULL, OPT_ONE_FILE },
	{ "no-output", no_argument, NULL, OPT_NO_OUTPUT },
	{ "start", required_argument, NULL, OPT_START },
	{ "charge", required_argument, NULL, OPT_CHARGE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "no-progress", no_argument, NULL, OPT_NO_PROGRESS },
	{ "record-length", required_argument, NULL, OPT_RECORD },
	{ "key-length", required_argument, NULL, OPT_KEY },
	{ "text", no_argument, NULL, 'T' },
	{ "field", required_argument, NULL, 'k' },
	{ "separator", required_argument, NULL, 't' },
	{ "generate", required_argument, NULL, 'n' },
	{ "first", required_argument, NULL, OPT_FIRST },
	{ "keys", required_argument, NULL, OPT_KEYS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "ascii", no_argument, NULL, 'a' },
	{ "hosts", required_argument, NULL, OPT_HOSTS },
	{ "keys-per-host", required_argument, NULL, OPT_PER_HOST },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "input", required_argument, NULL, 'i' },
	{ "records", required_argument, NULL, OPT_RECORDS },
	{ "checksum", required_argument, NULL, OPT_CHECKSUM },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char record_help[] =
"Records:\n"
"      --record-length BYTES  of each record (100)\n"
"      --key-length BYTES     that it begins with (10)\n"
"  -T, --text                 records are lines\n"
"  -k, --field N[,M]          their keys: from field N to the end of field M, or of the\n"
"                             line (all of the line), as sort(1) has them\n"
"  -t, --separator CHAR       between fields (where blanks begin)\n";

static const char generate_help[] =
"  -n, --generate N           make N records in the format of gensort; k, M, G: 10^3 ...\n"
"      --first I              number of the first one\n"
"      --keys KIND            uniform, skewed, clustered, equal, sorted, reversed\n"
"                             (uniform)\n"
"      --seed S               of the random keys (1)\n"
"  -a, --ascii                printable records\n";

/**
 * format_option() - an option that says what records are
 * @f: set
 * @opt: the option
 * @arg: its argument
 *
 * Return: 1 if it is one.
 */
int format_option(struct format *f, int opt, const char *arg)
{
	char *comma, copy[64];

	switch (opt) {
	case OPT_RECORD:
		f->record = number("--record-length", arg, 1, SORT_MAX_RECORD);
		return 1;
	case OPT_KEY:
		f->key = number("--key-length", arg, 1, SORT_MAX_KEY);
		return 1;
	case 'T':
		f->text = 1;
		return 1;
	case 'k':
		snprintf(copy, sizeof(copy), "%s", arg);
		comma = strchr(copy, ',');
		if (comma)
			*comma++ = '\0';
		f->first_field = number("--field", copy, 1, SORT_MAX_RECORD);
		f->last_field = comma ? number("--field", comma, 1, SORT_MAX_RECORD) : 0;
		return 1;
	case 't':
		if (strlen(arg) != 1)
			usage_die("--separator: \"%s\" is not one character", arg);
		f->separator = *arg;
		return 1;
	}
	return 0;
}

/**
 * generate_option() - an option that says what records are made
 * @g: set
 * @opt: the option
 * @arg: its argument
 *
 * Return: 1 if it is one.
 */
int generate_option(struct generate *g, int opt, const char *arg)
{
	unsigned int i;

	switch (opt) {
	case 'n':
		g->n = number("--generate", arg, 0, SORT_MAX_RECORDS);
		return 1;
	case OPT_FIRST:
		g->first = number("--first", arg, 0, INT64_MAX);
		return 1;
	case OPT_SEED:
		g->seed = number("--seed", arg, 0, UINT64_MAX);
		return 1;
	case 'a':
		g->ascii = 1;
		return 1;
	case OPT_KEYS:
		for (i = 0; i < KEY_KINDS; i++)
			if (!strcmp(arg, key_kind_names[i]))
				break;
		if (i == KEY_KINDS)
			usage_die("--keys: there is no \"%s\", see --help", arg);
		g->kind = i;
		return 1;
	}
	return 0;
}

static void set_defaults(struct format *f)
{
	if (!f->text && (f->first_field || f->separator))
		usage_die("--field and --separator are for --text");
	if (f->text && (f->record || f->key))
		usage_die("--record-length and --key-length are not for --text");
	if (!f->text) {
		f->record = f->record ? f->record : 100;
		f->key = f->key ? f->key : f->record < 10 ? f->record : 10;
	}
	format_check(f);
}

static void __attribute__((noreturn)) try_help(int opt)
{
	unsigned int i;

	/* getopt has said what it does not know */
	for (i = 0; opt != '?' && options[i].name; i++)
		if (options[i].val == opt)
			fprintf(stderr, "shuffle-sort: --%s is for another command\n",
				options[i].name);
	fprintf(stderr, "Try \"shuffle-sort --help\".\n");
	exit(2);
}

static void __attribute__((noreturn))
help(const char *usage, int records, int generate, int charge)
{
	fputs(usage, stdout);
	if (generate)
		fputs(generate_help, stdout);
	if (records)
		fputs(record_help, stdout);
	if (charge)
		printf("Benchmarks:\n%s", charge_help);
	exit(0);
}

/* ---- sort ---- */

static const char host_usage[] =
"Usage: shuffle-sort --group GROUP [--rank R] --output DIR [options] [FILE|DIR...]\n"
"       shuffle-sort generate|verify|quality --help\n"
"\n"
"One host of a distributed sort over AF_SHUFFLE sockets.  Start one at every host:\n"
"host R sorts its FILEs, those of folders, or - for standard input, and has part R of\n"
"all records in DIR/R.  See shuffle-sort(1).\n"
"\n"
"  -g, --group GROUP          hosts: a file with one ADDRESS:PORT a line, or a list\n"
"                             ADDRESS:PORT,...; the same everywhere\n"
"  -r, --rank R               which of them is this one, from 0 (as mpirun or srun says)\n"
"  -o, --op ID                number of the sort, the same everywhere, never reused\n"
"                             (the hosts agree on one)\n"
"  -d, --output DIR           folder of the output\n"
"      --one-file             DIR/sorted, in a folder that all hosts share, has all records\n"
"      --no-output            instead: the sorted records stay in memory\n"
"      --start TIME           sort when it is so many seconds since the epoch\n"
"      --pivots N             of each host (as many as hosts)\n"
"      --reduction R          hosts of which one sorts the pivots (10)\n"
"      --threads N            of the local sort (as many as processors)\n"
"      --memory BYTES         hold no more; the rest is in files in DIR (all in memory)\n"
"      --deadline MS          give up after MS milliseconds (300000)\n"
"  -e, --explain              phases, balance and bytes\n"
"  -j, --json                 the result as one line of JSON\n"
"  -q, --quiet                no text\n"
"      --no-progress          do not show what goes on\n"
"Input, if there is no FILE:\n";

static void host_parse(struct host *h, int argc, char **argv)
{
	int opt, made = 0, first = 0, no_output = 0;
	const char *group = NULL, *wrong;
	char *end;

	h->net.rank = GROUP_RANK_UNKNOWN;
	h->op = NET_OP_AGREE;
	while ((opt = getopt_long(argc, argv, "g:r:o:d:Tk:t:n:aejqh", options, NULL)) != -1) {
		if (format_option(&h->format, opt, optarg))
			continue;
		if (generate_option(&h->generate, opt, optarg)) {
			made |= opt == 'n';
			first |= opt == OPT_FIRST;
			continue;
		}
		switch (opt) {
		case 'g':
			group = optarg;
			break;
		case 'r':
			h->net.rank = number("--rank", optarg, 0, SHUFFLE_MAX_MEMBERS - 1);
			break;
		case 'o':
			h->op = number("--op", optarg, 0, UINT64_MAX / NET_OPS - 1);
			break;
		case 'd':
			h->dir = optarg;
			break;
		case OPT_ONE_FILE:
			h->one_file = 1;
			break;
		case OPT_NO_OUTPUT:
			no_output = 1;
			break;
		case OPT_START:
			h->start = strtod(optarg, &end);
			if (end == optarg || *end || !(h->start > 0 && h->start < 1e12))
				usage_die("--start: \"%s\" is not a time", optarg);
			break;
		case OPT_CHARGE:
			wrong = charge_parse(&h->net.charge, optarg);
			if (wrong)
				usage_die("--charge \"%s\": %s", optarg, wrong);
			break;
		case OPT_PIVOTS:
			h->pivots = number("--pivots", optarg, 1, 1000000);
			break;
		case OPT_REDUCTION:
			h->reduction = number("--reduction", optarg, 2, SHUFFLE_MAX_MEMBERS);
			break;
		case OPT_THREADS:
			h->threads = number("--threads", optarg, 1, SORT_MAX_THREADS);
			break;
		case OPT_MEMORY:
			h->memory = number("--memory", optarg, MEMORY_MIN, SIZE_MAX / 2);
			break;
		case OPT_DEADLINE:
			h->deadline_ms = number("--deadline", optarg, 1, 1000000000);
			break;
		case 'e':
			h->explain = 1;
			break;
		case 'j':
			h->json = 1;
			break;
		case 'q':
			h->quiet = 1;
			break;
		case OPT_NO_PROGRESS:
			h->progress = 0;
			break;
		case 'h':
			help(host_usage, 1, 1, 1);
		default:
			try_help(opt);
		}
	}
	if (!group || !h->dir == !no_output)
		usage_die("--group and either --output or --no-output are needed, see --help");
	if (h->memory && no_output)
		usage_die("--memory: what is more than memory holds needs --output");
	if (h->one_file && no_output)
		usage_die("--one-file needs --output");
	set_defaults(&h->format);
	h->path = argv + optind;
	h->files = argc - optind;
	if (made == !!h->files)
		usage_die("give either input files or --generate");
	if (made && h->format.text)
		usage_die("--generate does not make lines; \"generate --ascii\" does");
	h->net.rank = group_join(&h->net.group, group, h->net.rank);
	if (!first)
		h->generate.first = h->net.rank * h->generate.n;
	h->generate.all = h->net.group.count * h->generate.n;
	h->net.json = h->json;
}

/**
 * host_main() - be a host of a sort
 * @argc: of the command line
 * @argv: likewise
 *
 * Return: exit status.
 */
int host_main(int argc, char **argv)
{
	static struct host h = {
		.reduction = 10, .deadline_ms = 300000, .progress = 1, .generate.seed = 1,
	};

	host_parse(&h, argc, argv);
	host_run(&h);
	return 0;
}

/* ---- generate ---- */

static const char generate_usage[] =
"Usage: shuffle-sort generate -n N [options] [FILE]\n"
"\n"
"Write records to FILE or standard output.\n"
"\n";

/**
 * generate_main() - write records
 * @argc: of the command line
 * @argv: likewise
 *
 * Return: exit status.
 */
int generate_main(int argc, char **argv)
{
	struct generate g = { .seed = 1 };
	struct format f = { 0 };
	unsigned char *record;
	FILE *out = stdout;
	uint64_t i;
	int opt;

	while ((opt = getopt_long(argc, argv, "n:ah", options, NULL)) != -1) {
		if (opt == 'h')
			help(generate_usage, 1, 1, 0);
		if (!format_option(&f, opt, optarg) && !generate_option(&g, opt, optarg))
			try_help(opt);
	}
	if (f.text)
		usage_die("--text: records are made with --ascii");
	set_defaults(&f);
	if (argc - optind > 1)
		usage_die("unexpected argument \"%s\", see --help", argv[optind + 1]);
	if (optind < argc && strcmp(argv[optind], "-"))
		out = fopen(argv[optind], "we");
	if (!out)
		die("%s: cannot create", argv[optind]);
	g.all = g.first + g.n;
	record = memory(1, f.record);
	for (i = 0; i < g.n; i++) {
		generate_one(record, &f, &g, i);
		if (fwrite(record, f.record, 1, out) != 1)
			break;
	}
	if (ferror(out) || fflush(out) || (out != stdout && fclose(out)))
		die("%s: cannot write", optind < argc ? argv[optind] : "standard output");
	free(record);
	return 0;
}

/* ---- quality ---- */

static const char quality_usage[] =
"Usage: shuffle-sort quality [options]\n"
"\n"
"How evenly splitters divide random keys: the excess of the largest part over the\n"
"mean, with all pivots alike and with weights (MilliSort's Table 2.2).\n"
"\n"
"      --hosts N              (120)\n"
"  -n, --keys-per-host N      (7000)\n"
"      --pivots LIST          of each host (120,240,360,480,600)\n"
"      --keys KIND            uniform or gaussian (both)\n"
"      --runs N               (100)\n"
"      --seed S               of the random keys (1)\n"
"  -j, --json                 as JSON\n"
"      --no-progress          do not show what goes on\n";

static void quality_progress(size_t run, size_t runs)
{
	static uint64_t start, shown;
	uint64_t now = clock_now_ns();

	start = start ? start : now;
	if (now - start < 2000000000ULL || now - shown < 1000000000ULL)
		return;
	shown = now;
	fprintf(stderr, "\rshuffle-sort: run %zu of %zu \r", run, runs);
}

static const char *const kinds[] = { "uniform", "gaussian" };

static void quality_line(const struct quality *q, int json, int first)
{
	double p[4];

	p[0] = quality_percentile(q->naive, q->runs, 50);
	p[1] = quality_percentile(q->naive, q->runs, 90);
	p[2] = quality_percentile(q->weighted, q->runs, 50);
	p[3] = quality_percentile(q->weighted, q->runs, 90);
	if (json)
		printf("%s\n  {\"keys\": \"%s\", \"pivots\": %zu, \"naive_p50\": %.2f, "
		       "\"naive_p90\": %.2f, \"weighted_p50\": %.2f, \"weighted_p90\": %.2f}",
		       first ? "" : ",", kinds[q->kind], q->pivots, p[0], p[1], p[2], p[3]);
	else
		printf("%-9s %6zu %9.1f %9.1f %9.1f %9.1f\n", kinds[q->kind], q->pivots, p[0],
		       p[1], p[2], p[3]);
	fflush(stdout);
}

/**
 * quality_main() - print the table of excesses
 * @argc: of the command line
 * @argv: likewise
 *
 * Return: exit status.
 */
int quality_main(int argc, char **argv)
{
	char list[256] = "120,240,360,480,600", *word, *save, copy[256];
	struct quality q = { .hosts = 120, .keys = 7000, .runs = 100, .seed = 1 };
	int opt, json = 0, progress = 1, first = 1, from = 0, to = 1;

	while ((opt = getopt_long(argc, argv, "n:jh", options, NULL)) != -1) {
		switch (opt) {
		case OPT_HOSTS:
			q.hosts = number("--hosts", optarg, 1, SHUFFLE_MAX_MEMBERS);
			break;
		case 'n':
		case OPT_PER_HOST:
			q.keys = number("--keys-per-host", optarg, 1, 10000000);
			break;
		case OPT_PIVOTS:
			if (strlen(optarg) >= sizeof(list))
				usage_die("--pivots: the list is too long");
			strcpy(list, optarg);
			break;
		case OPT_KEYS:
			to = !strcmp(optarg, kinds[1]);
			from = to;
			if (strcmp(optarg, kinds[to]))
				usage_die("--keys: there is no \"%s\", see --help", optarg);
			break;
		case OPT_RUNS:
			q.runs = number("--runs", optarg, 1, 1000000);
			break;
		case OPT_SEED:
			q.seed = number("--seed", optarg, 0, UINT64_MAX);
			break;
		case 'j':
			json = 1;
			break;
		case OPT_NO_PROGRESS:
			progress = 0;
			break;
		case 'h':
			help(quality_usage, 0, 0, 0);
		default:
			try_help(opt);
		}
	}
	if (optind < argc)
		usage_die("unexpected argument \"%s\", see --help", argv[optind]);
	if (json)
		printf("{\"hosts\": %zu, \"keys_per_host\": %zu, \"runs\": %zu, \"rows\": [",
		       q.hosts, q.keys, q.runs);
	else
		printf("%-9s %6s %19s %19s\n%-9s %6s %9s %9s %9s %9s\n", "", "", "naive, excess %",
		       "weighted, excess %", "keys", "pivots", "P50", "P90", "P50", "P90");
	for (q.kind = from; (int)q.kind <= to; q.kind++) {
		strcpy(copy, list);
		for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
			q.pivots = number("--pivots", word, 1, 1000000);
			quality_run(&q, progress ? quality_progress : NULL);
			quality_line(&q, json, first);
			first = 0;
			quality_free(&q);
		}
	}
	if (json)
		printf("\n]}\n");
	return 0;
}

/* ---- verify ---- */

static const char verify_usage[] =
"Usage: shuffle-sort verify [options] FILE|DIR...\n"
"\n"
"Are these files, one behind the other, in order?  Counts records, those with equal\n"
"keys, and prints their checksum.  DIR stands for DIR/0, DIR/1, ...\n"
"\n"
"  -i, --input FILE|DIR       the records must be those of FILE; may be repeated\n"
"      --records N            there must be so many\n"
"      --checksum SUM         and this must be their checksum\n"
"  -j, --json                 as JSON\n";

/**
 * verify_main() - look at the output of a sort
 * @argc: of the command line
 * @argv: likewise
 *
 * Return: exit status.
 */
int verify_main(int argc, char **argv)
{
	struct verify v = { 0 };
	char *end;
	int opt;

	v.input = memory(argc, sizeof(*v.input));
	while ((opt = getopt_long(argc, argv, "i:jTk:t:h", options, NULL)) != -1) {
		if (format_option(&v.format, opt, optarg))
			continue;
		switch (opt) {
		case 'i':
			v.input[v.inputs++] = optarg;
			break;
		case OPT_RECORDS:
			v.records = number("--records", optarg, 0, UINT64_MAX);
			v.have_records = 1;
			break;
		case OPT_CHECKSUM:
			v.checksum = strtoull(optarg, &end, 16);
			if (end == optarg || *end)
				usage_die("--checksum: \"%s\" is not a hexadecimal number", optarg);
			v.have_checksum = 1;
			break;
		case 'j':
			v.json = 1;
			break;
		case 'h':
			help(verify_usage, 1, 0, 0);
		default:
			try_help(opt);
		}
	}
	set_defaults(&v.format);
	if (optind == argc)
		usage_die("no files, see --help");
	v.path = argv + optind;
	v.paths = argc - optind;
	opt = verify_run(&v);
	free(v.input);
	return opt;
}
