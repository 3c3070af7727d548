// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-query convert: read a table in either form, write one. */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "common.h"
#include "table.h"

#define NS_PER_S	1000000000ULL

static const char usage_text[] =
"Usage: shuffle-query convert --columns LIST FROM TO\n"
"\n"
"Reads a table in CSV or in columns, whichever it is, and writes some columns of it: in\n"
"columns if the name TO ends with .shq, else in CSV.\n"
"\n"
"  -c, --columns LIST   names, with :int where they are numbers: \"language,views:int\"\n"
"  -h, --help           this text\n";

static const struct option options[] = {
	{ "columns", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void same_file(const char *from, const char *to)
{
	struct stat a, b;

	if (!stat(from, &a) && !stat(to, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		errx(2, "%s and %s are the same file", from, to);
}

int cmd_convert(int argc, char **argv)
{
	const char *columns = NULL;
	uint64_t said, rows = 0;
	struct reader *r;
	struct writer *w;
	struct batch b;
	int opt;

	while ((opt = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			columns = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return 0;
		default:
			fprintf(stderr, "Try \"shuffle-query convert --help\".\n");
			return 2;
		}
	}
	if (!columns || optind != argc - 2)
		errx(2, "convert: --columns, FROM and TO are needed, see --help");
	same_file(argv[optind], argv[optind + 1]);
	columns_declare(&b, columns);
	r = reader_open(argv[optind], &b);
	w = writer_open(argv[optind + 1], &b);
	said = now_ns();
	while (r->next(r)) {
		writer_add(w, &r->rows);
		rows += r->rows.rows;
		if (now_ns() - said < 2 * NS_PER_S)
			continue;
		said = now_ns();
		fprintf(stderr, "shuffle-query: %s: row %" PRIu64 "\n", argv[optind], rows);
	}
	writer_close(w);
	reader_close(r);
	return 0;
}
