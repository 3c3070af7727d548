// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-workload stats, heatmap and convert.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "heatmap.h"

static const char stats_help[] =
"usage: shuffle-workload stats [OPTIONS] FILE...\n"
"\n"
"  -j, --json   one array, with the sums and degrees of every host\n"
"      --op ID  which operation of a trace\n"
"\n"
"FILE is a matrix in any format; - is standard input.\n";

static const char heatmap_help[] =
"usage: shuffle-workload heatmap [OPTIONS] FILE\n"
"\n"
"  -g, --svg          SVG instead of characters\n"
"  -c, --cells N      at most so many rows and columns, 40; with --svg 200\n"
"  -o, --output FILE  instead of standard output\n"
"      --op ID        which operation of a trace\n"
"\n"
"Shades are proportional to the square root of the length.\n";

static const char convert_help[] =
"usage: shuffle-workload convert [OPTIONS] FILE\n"
"\n"
"  -f, --format FORMAT  csv, binary or trace; csv\n"
"  -o, --output FILE    instead of standard output\n"
"      --op ID          which operation of a trace\n"
"\n"
"FILE is a matrix in any format; - is standard input.\n";

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "svg", no_argument, NULL, 'g' },
	{ "cells", required_argument, NULL, 'c' },
	{ "format", required_argument, NULL, 'f' },
	{ "output", required_argument, NULL, 'o' },
	{ "op", required_argument, NULL, 'p' },
	{ 0 }
};

/**
 * struct show - options of these commands
 * @json: statistics as JSON
 * @svg: picture as SVG
 * @cells: of a picture, 0: the usual number
 * @format: to convert to
 * @output: file
 * @op: operation of a trace, or NULL
 */
struct show {
	bool json, svg;
	unsigned int cells;
	enum matrix_format format;
	const char *output;
	const char *op;
};

/* Whether help was asked for; allowed are those of "jgcfop". */
static bool show_options(struct show *s, int argc, char **argv, const char *allowed,
			 const char *help)
{
	int c;

	memset(s, 0, sizeof(*s));
	s->output = "-";
	while ((c = getopt_long(argc, argv, "hjgc:f:o:", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return true;
		}
		if (c == '?')
			exit(EXIT_USAGE);
		if (!strchr(allowed, c))
			die(EXIT_USAGE, "%s: it has no such option; try %s --help", argv[0],
			    argv[0]);
		switch (c) {
		case 'j':
			s->json = true;
			break;
		case 'g':
			s->svg = true;
			break;
		case 'c':
			s->cells = arg_number(optarg, MATRIX_MAX_HOSTS, "cells");
			if (!s->cells)
				die(EXIT_USAGE, "cells '0': one is needed");
			break;
		case 'f':
			s->format = arg_format(optarg);
			break;
		case 'o':
			s->output = optarg;
			break;
		case 'p':
			s->op = optarg;
			break;
		}
	}
	if (optind == argc)
		die(EXIT_USAGE, "%s: which file? Try %s --help", argv[0], argv[0]);
	return false;
}

static struct matrix *read_one(const struct show *s, int argc, char **argv)
{
	struct wl_error err;
	struct matrix *m;

	if (optind + 1 < argc)
		die(EXIT_USAGE, "%s: one file only", argv[0]);
	m = matrix_read_op(argv[optind], s->op, &err);
	if (!m)
		die(EXIT_TROUBLE, "%s", err.text);
	return m;
}

/**
 * cmd_stats - print statistics
 * @argc: of the command
 * @argv: of the command
 *
 * Return: exit status.
 */
int cmd_stats(int argc, char **argv)
{
	struct show s;
	int i;

	if (show_options(&s, argc, argv, "jp", stats_help))
		return 0;
	for (i = optind; i < argc; i++) {
		struct matrix_stats st;
		struct wl_error err;
		struct matrix *m;

		m = matrix_read_op(argv[i], s.op, &err);
		if (!m || matrix_measure(m, &st, &err))
			die(EXIT_TROUBLE, "%s", err.text);
		if (s.json) {
			fputs(i == optind ? "[\n" : ",\n", stdout);
			matrix_print_json(m, &st, argv[i], stdout);
		} else {
			matrix_print_stats(m, &st, argv[i], stdout);
		}
		matrix_free(m);
	}
	if (s.json)
		puts("\n]");
	return 0;
}

/**
 * cmd_heatmap - draw a matrix
 * @argc: of the command
 * @argv: of the command
 *
 * Return: exit status.
 */
int cmd_heatmap(int argc, char **argv)
{
	struct wl_error err;
	FILE *f = stdout;
	struct matrix *m;
	struct show s;
	int ret;

	if (show_options(&s, argc, argv, "gcop", heatmap_help))
		return 0;
	m = read_one(&s, argc, argv);
	if (strcmp(s.output, "-")) {
		f = fopen(s.output, "we");
		if (!f)
			die(EXIT_TROUBLE, "%s: %s", s.output, strerror(errno));
	}
	if (s.svg)
		ret = heatmap_svg(m, argv[optind], s.cells ? s.cells : 200, f, &err);
	else
		ret = heatmap_text(m, s.cells ? s.cells : 40, f, &err);
	if (ret)
		die(EXIT_TROUBLE, "%s", err.text);
	if (fflush(f) || ferror(f) || (f != stdout && fclose(f)))
		die(EXIT_TROUBLE, "%s: writing: %s", s.output, strerror(errno));
	matrix_free(m);
	return 0;
}

/**
 * cmd_convert - read a matrix, write it in another format
 * @argc: of the command
 * @argv: of the command
 *
 * Return: exit status.
 */
int cmd_convert(int argc, char **argv)
{
	struct wl_error err;
	struct matrix *m;
	struct show s;

	if (show_options(&s, argc, argv, "fop", convert_help))
		return 0;
	m = read_one(&s, argc, argv);
	if (matrix_write_file(m, s.output, s.format, NULL, &err))
		die(EXIT_TROUBLE, "%s", err.text);
	matrix_free(m);
	return 0;
}
