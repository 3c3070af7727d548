// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of programs, see option.h. */
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
