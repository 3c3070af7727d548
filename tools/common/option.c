// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of programs, see option.h. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

/**
 * option_help() - a line of the help, or several
 * @name: the option, without dashes
 * @arg: what its argument is called, or NULL
 * @help: what it does; lines end with a newline, but for the last one
 * @width: columns of the option and its argument
 */
void option_help(const char *name, const char *arg, const char *help, int width)
{
	char left[40];

	snprintf(left, sizeof(left), "--%s%s%s", name, arg ? " " : "", arg ? arg : "");
	printf("  %-*s ", width, left);
	for (; *help; help++) {
		putchar(*help);
		if (*help == '\n')
			printf("%*s", width + 3, "");
	}
	putchar('\n');
}

/**
 * option_part() - a number in an argument
 * @name: of the option
 * @all: its argument
 * @s: where the number begins
 * @end: set to what is behind it
 * @lo: the least that may be
 * @hi: the greatest
 *
 * Return: the number; the program ends if there is none.
 */
double option_part(const char *name, const char *all, const char *s, char **end, double lo,
		   double hi)
{
	double v = strtod(s, end);

	if (*end == s || !(v >= lo && v <= hi))
		die("--%s %s: a number from %g to %g is expected", name, all, lo, hi);
	return v;
}

/**
 * option_number() - an argument that is a number
 * @name: of the option
 * @s: its argument
 * @lo: the least that may be
 * @hi: the greatest
 *
 * Return: the number; the program ends if it is none.
 */
double option_number(const char *name, const char *s, double lo, double hi)
{
	char *end;
	double v = option_part(name, s, s, &end, lo, hi);

	if (*end)
		die("--%s %s: a number from %g to %g is expected", name, s, lo, hi);
	return v;
}

/**
 * option_whole() - an argument that is a whole number
 * @name: of the option
 * @s: its argument
 * @lo: the least that may be
 * @hi: the greatest, below 2^32
 *
 * Return: the number; the program ends if it is none.
 */
uint32_t option_whole(const char *name, const char *s, double lo, double hi)
{
	double v = option_number(name, s, lo, hi);

	if (v != floor(v))
		die("--%s %s: a whole number is expected", name, s);
	return (uint32_t)v;
}

/**
 * option_choice() - an argument that is one of some names
 * @name: of the option
 * @s: its argument
 * @names: what there is; the last one is NULL
 *
 * Return: number of the name; the program ends if there is none.
 */
uint32_t option_choice(const char *name, const char *s, const char *const *names)
{
	char all[400] = "";
	size_t at = 0;
	uint32_t i;

	for (i = 0; names[i]; i++) {
		if (!strcmp(s, names[i]))
			return i;
		if (at < sizeof(all))
			at += snprintf(all + at, sizeof(all) - at, " %s", names[i]);
	}
	die("--%s %s: there are%s", name, s, all);
}

/**
 * option_table() - help for all options
 * @defs: the options
 * @n: how many
 * @width: of a name with its argument
 */
void option_table(const struct option_def *defs, size_t n, int width)
{
	size_t i;

	for (i = 0; i < n; i++)
		option_help(defs[i].name, defs[i].arg, defs[i].help, width);
}

/**
 * option_next() - the next option of a command line
 * @argc: of main()
 * @argv: of main()
 * @defs: the options, the last of which is help: -h is short for it
 * @n: how many, up to OPTION_MAX
 *
 * Its argument is in optarg, what is no option behind optind.  One that there is not ends the
 * program with status 2.
 *
 * Return: its value, or -1: there is none left.
 */
int option_next(int argc, char **argv, const struct option_def *defs, size_t n)
{
	struct option longs[OPTION_MAX + 1] = { 0 };
	const char *name;
	size_t i;
	int c;

	for (i = 0; i < n && i < OPTION_MAX; i++)
		longs[i] = (struct option){ defs[i].name, defs[i].arg ? required_argument :
					    no_argument, NULL, defs[i].value };
	c = getopt_long(argc, argv, "h", longs, NULL);
	if (c == '?') {
		name = strrchr(argv[0], '/');
		fprintf(stderr, "See %s --help.\n", name ? name + 1 : argv[0]);
		exit(2);
	}
	return c == 'h' ? defs[n - 1].value : c;
}
