// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-query: queries on tables of which each host of a group has a part. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;
} commands[] = {
	{ "run", cmd_run, "one host of a query, or all of them without sockets" },
	{ "list", cmd_list, "queries, with their tables and SQL" },
	{ "generate", cmd_generate, "make tables of random rows" },
	{ "convert", cmd_convert, "read a table in CSV or in columns, write the other form" },
};

static void usage(FILE *f)
{
	size_t i;

	fputs("usage: shuffle-query COMMAND [OPTIONS]\n\n"
	      "Queries over AF_SHUFFLE sockets on tables of which each host has a part.\n\n", f);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].does);
	fputs("\n'shuffle-query COMMAND --help' lists its options; see shuffle-query(1).\n", f);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		int status;

		if (strcmp(argv[1], commands[i].name))
			continue;
		status = commands[i].run(argc - 1, argv + 1);
		if ((fflush(stdout) || ferror(stdout)) && !status)
			err(1, "writing to standard output failed");
		return status;
	}
	errx(2, "no command \"%s\"; try --help", argv[1]);
}
