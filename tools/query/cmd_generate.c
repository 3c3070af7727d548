// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-query generate: tables with the shapes of MilliQuery's: few languages, many addresses,
 * repositories that two tables share.  Rows come in chunks, each with random numbers of its own: a
 * table does not depend on how it is split.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "common.h"
#include "net.h"
#include "table.h"
#include "zipf.h"

#define CHUNK		4096
#define ROWS_MAX	(1ULL << 40)
#define KEYS_MAX	(1ULL << 32)
#define PARTS_MAX	SHUFFLE_MAX_MEMBERS
#define NS_PER_S	1000000000ULL

static const char usage_text[] =
"Usage: shuffle-query generate TABLE --rows N --out DIR [options]\n"
"\n"
"Makes DIR/TABLE.csv, or parts of it.  Tables: wiki (language, views), edits\n"
"(contributor_ip), commits (repo_name, author), languages (repo_name, lang,\n"
"lang_bytes).\n"
"\n"
"  -n, --rows N         rows of the whole table\n"
"  -o, --out DIR        folder, made if it is not there\n"
"  -k, --keys N         different languages (default: 300), addresses (default: a\n"
"                       quarter of the rows), repositories (default: a tenth)\n"
"  -a, --authors N      of commits: different authors (default: a tenth of the rows)\n"
"  -z, --zipf S         the k-th key has a probability proportional to k^-S\n"
"                       (default: 1; 0: all are alike)\n"
"  -s, --seed N         another seed makes other rows (default: 1)\n"
"  -p, --parts N        split into N parts, TABLE.0.csv and so on; the same rows\n"
"  -r, --rank R         only part R\n"
"  -b, --binary         in columns: TABLE.shq\n"
"  -h, --help           this text\n";

static const struct option options[] = {
	{ "rows", required_argument, NULL, 'n' },
	{ "out", required_argument, NULL, 'o' },
	{ "keys", required_argument, NULL, 'k' },
	{ "authors", required_argument, NULL, 'a' },
	{ "zipf", required_argument, NULL, 'z' },
	{ "seed", required_argument, NULL, 's' },
	{ "parts", required_argument, NULL, 'p' },
	{ "rank", required_argument, NULL, 'r' },
	{ "binary", no_argument, NULL, 'b' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct generate {
	unsigned int table;
	const char *out;
	uint64_t rows, seed, keys, authors;
	double zipf;
	unsigned int parts, rank;
	int binary, one_part;
	struct zipf key, author, lang;
	uint64_t begin_ns, said_ns;
};

static void put_text(struct batch *b, unsigned int col, const char *text)
{
	column_put_text(&b->col[col], b->rows, text, strlen(text));
}

static void row_wiki(const struct generate *g, struct wl_rng *r, struct batch *b)
{
	uint64_t k = zipf_next(&g->key, r) - 1;
	char name[32];

	/* two letters, and a number where these are not enough */
	if (k < 676)
		snprintf(name, sizeof(name), "%c%c", 'a' + (int)(k / 26), 'a' + (int)(k % 26));
	else
		snprintf(name, sizeof(name), "x-%" PRIu64, k);
	put_text(b, 0, name);
	b->col[1].num[b->rows] = 1 + wl_rng_below(r, 10000);
}

static void row_edits(const struct generate *g, struct wl_rng *r, struct batch *b)
{
	/* an odd factor: different addresses for different keys */
	uint32_t ip = (uint32_t)zipf_next(&g->key, r) * 2654435761U;
	char name[32];

	snprintf(name, sizeof(name), "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255,
		 ip & 255);
	put_text(b, 0, name);
}

static void put_repo(const struct generate *g, struct wl_rng *r, struct batch *b)
{
	uint64_t k = zipf_next(&g->key, r);
	char name[64];

	snprintf(name, sizeof(name), "owner%" PRIu64 "/repo%" PRIu64, k % 977, k);
	put_text(b, 0, name);
}

static void row_commits(const struct generate *g, struct wl_rng *r, struct batch *b)
{
	char name[32];

	put_repo(g, r, b);
	snprintf(name, sizeof(name), "author %" PRIu64, zipf_next(&g->author, r));
	put_text(b, 1, name);
}

static void row_languages(const struct generate *g, struct wl_rng *r, struct batch *b)
{
	static const char * const known[] = {
		"JavaScript", "Python", "C", "Java", "Shell", "HTML", "CSS", "C++", "Ruby", "PHP",
		"Makefile", "Go", "TypeScript", "C#", "Perl", "Objective-C", "Rust", "Haskell",
		"Lua", "R",
	};
	uint64_t k;
	char name[32];

	put_repo(g, r, b);
	k = zipf_next(&g->lang, r) - 1;
	if (k < sizeof(known) / sizeof(*known))
		snprintf(name, sizeof(name), "%s", known[k]);
	else
		snprintf(name, sizeof(name), "Language %" PRIu64, k);
	put_text(b, 1, name);
	b->col[2].num[b->rows] = 1 + wl_rng_below(r, 1000000);
}

static const struct {
	const char *name, *columns;
	void (*row)(const struct generate *g, struct wl_rng *r, struct batch *b);
	unsigned int keys, rows_per_key;	/* default: a number, or by rows */
} tables[] = {
	{ "wiki", "language views:int", row_wiki, 300, 0 },
	{ "edits", "contributor_ip", row_edits, 0, 4 },
	{ "commits", "repo_name author", row_commits, 0, 10 },
	{ "languages", "repo_name lang lang_bytes:int", row_languages, 0, 10 },
};

#define TABLES	(sizeof(tables) / sizeof(*tables))

static void progress(struct generate *g, uint64_t row)
{
	uint64_t now = now_ns();

	if (now - g->said_ns < 2 * NS_PER_S)
		return;
	g->said_ns = now;
	fprintf(stderr, "shuffle-query: %s: row %" PRIu64 " of %" PRIu64 "\n",
		tables[g->table].name, row, g->rows);
}

/* Rows from @begin to @end - 1 of the table. */
static void make_rows(struct generate *g, struct writer *w, struct batch *b, uint64_t begin,
		      uint64_t end)
{
	uint64_t chunk, row;
	struct wl_rng r;

	batch_reserve(b, CHUNK);
	for (chunk = begin / CHUNK; chunk * CHUNK < end; chunk++) {
		wl_rng_init(&r, wl_rng_mix(g->seed, g->table, chunk));
		b->rows = 0;
		for (row = chunk * CHUNK; row < end && row < (chunk + 1) * CHUNK; row++) {
			tables[g->table].row(g, &r, b);
			/* one that belongs to another part is overwritten */
			b->rows += row >= begin;
		}
		writer_add(w, b);
		progress(g, row);
	}
}

/* The first row of a part. */
static uint64_t part_begin(const struct generate *g, unsigned int part)
{
	return g->rows / g->parts * part + g->rows % g->parts * part / g->parts;
}

static void make_part(struct generate *g, unsigned int part)
{
	const char *end = g->binary ? "shq" : "csv";
	struct writer *w;
	struct batch b;
	char *path;
	int n;

	if (g->parts)
		n = asprintf(&path, "%s/%s.%u.%s", g->out, tables[g->table].name, part, end);
	else
		n = asprintf(&path, "%s/%s.%s", g->out, tables[g->table].name, end);
	if (n < 0)
		err(1, "%s", g->out);
	columns_declare(&b, tables[g->table].columns);
	w = writer_open(path, &b);
	if (g->parts)
		make_rows(g, w, &b, part_begin(g, part), part_begin(g, part + 1));
	else
		make_rows(g, w, &b, 0, g->rows);
	writer_close(w);
	batch_free(&b);
	free(path);
}

static double arg_zipf(const char *arg)
{
	char *end;
	double s;

	s = strtod(arg, &end);
	if (end == arg || *end || !(s >= 0 && s <= 10))
		errx(2, "--zipf: \"%s\" is not a number from 0 to 10", arg);
	return s;
}

static void parse(struct generate *g, int argc, char **argv)
{
	int opt;

	g->zipf = 1;
	g->seed = 1;
	while ((opt = getopt_long(argc, argv, "n:o:k:a:z:s:p:r:bh", options, NULL)) != -1) {
		switch (opt) {
		case 'n':
			g->rows = arg_number("--rows", optarg, ROWS_MAX);
			break;
		case 'o':
			g->out = optarg;
			break;
		case 'k':
			g->keys = arg_number("--keys", optarg, KEYS_MAX);
			break;
		case 'a':
			g->authors = arg_number("--authors", optarg, KEYS_MAX);
			break;
		case 'z':
			g->zipf = arg_zipf(optarg);
			break;
		case 's':
			g->seed = arg_number("--seed", optarg, UINT64_MAX);
			break;
		case 'p':
			g->parts = arg_number("--parts", optarg, PARTS_MAX);
			break;
		case 'r':
			g->rank = arg_number("--rank", optarg, PARTS_MAX - 1);
			g->one_part = 1;
			break;
		case 'b':
			g->binary = 1;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fprintf(stderr, "Try \"shuffle-query generate --help\".\n");
			exit(2);
		}
	}
	if (optind != argc - 1)
		errx(2, "generate: one table is needed, see --help");
	while (g->table < TABLES && strcmp(argv[optind], tables[g->table].name))
		g->table++;
	if (g->table == TABLES)
		errx(2, "there is no table \"%s\": there are wiki, edits, commits and languages",
		     argv[optind]);
	if (!g->out)
		errx(2, "--out is needed, see --help");
	if (g->one_part && g->rank >= g->parts)
		errx(2, "--rank %u: there are %u parts, counted from 0", g->rank, g->parts);
}

int cmd_generate(int argc, char **argv)
{
	struct generate g = { 0 };
	unsigned int part;

	parse(&g, argc, argv);
	if (!g.keys)
		g.keys = tables[g.table].keys ? tables[g.table].keys :
			 g.rows / tables[g.table].rows_per_key + 1;
	if (!g.authors)
		g.authors = g.rows / 10 + 1;
	zipf_init(&g.key, g.keys, g.zipf);
	zipf_init(&g.author, g.authors, g.zipf);
	zipf_init(&g.lang, 60, 1);
	g.said_ns = now_ns();
	if (mkdir(g.out, 0777) && errno != EEXIST)
		err(1, "cannot create %s", g.out);
	for (part = 0; part < (g.parts ? g.parts : 1); part++)
		if (!g.one_part || part == g.rank)
			make_part(&g, part);
	return 0;
}
