// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-workload: make, measure, draw and convert matrices of message lengths.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;
} commands[] = {
	{ "generate", cmd_generate, "make one matrix" },
	{ "sweep", cmd_sweep, "make many matrices for every interval of skewness" },
	{ "stats", cmd_stats, "sums, degrees and skewness of matrices" },
	{ "heatmap", cmd_heatmap, "draw a matrix" },
	{ "convert", cmd_convert, "read any format, write another" },
	{ "cdfs", cmd_cdfs, "list the distributions that 'general' chooses from" },
};

/**
 * die - end with a message
 * @status: exit status
 * @fmt: as of printf()
 */
void die(int status, const char *fmt, ...)
{
	va_list ap;

	fputs("shuffle-workload: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

/**
 * arg_number - a whole number on the command line, or the end
 * @s: the number
 * @most: largest that is allowed
 * @what: its name
 *
 * Return: the number.
 */
uint64_t arg_number(const char *s, uint64_t most, const char *what)
{
	const char *p = s;
	uint64_t v = 0;

	do {
		unsigned int digit = (unsigned char)*p - '0';

		if (digit > 9 || v > (most - digit) / 10 || digit > most)
			die(EXIT_USAGE, "%s '%s': a number up to %llu is needed", what, s,
			    (unsigned long long)most);
		v = v * 10 + digit;
	} while (*++p);
	return v;
}

static double real(const char *s, const char *end, double most, const char *what)
{
	char *stop;
	double v = strtod(s, &stop);

	/* strtod() also takes blanks, signs, infinity and NaN. */
	if (stop == s || stop != end || !((*s >= '0' && *s <= '9') || *s == '.') ||
	    !isfinite(v) || v > most)
		die(EXIT_USAGE, "%s '%s': a number up to %g is needed", what, s, most);
	return v;
}

/**
 * arg_real - a number on the command line, or the end
 * @s: the number, not negative
 * @most: largest that is allowed
 * @what: its name
 *
 * Return: the number.
 */
double arg_real(const char *s, double most, const char *what)
{
	return real(s, s + strlen(s), most, what);
}

/**
 * arg_interval - an interval LO:HI on the command line, or the end
 * @s: the interval
 * @most: largest number that is allowed
 * @what: its name
 * @lo: set
 * @hi: set
 */
void arg_interval(const char *s, double most, const char *what, double *lo, double *hi)
{
	const char *colon = strchr(s, ':');

	if (!colon)
		die(EXIT_USAGE, "%s '%s': LO:HI is needed", what, s);
	*lo = real(s, colon, most, what);
	*hi = arg_real(colon + 1, most, what);
	if (*lo >= *hi)
		die(EXIT_USAGE, "%s '%s': it is empty", what, s);
}

/**
 * arg_format - a format on the command line, or the end
 * @s: its name
 *
 * Return: the format.
 */
enum matrix_format arg_format(const char *s)
{
	enum matrix_format format;

	if (matrix_format_parse(s, &format))
		die(EXIT_USAGE, "format '%s': there are csv, binary and trace", s);
	return format;
}

static void usage(FILE *f)
{
	size_t i;

	fputs("usage: shuffle-workload COMMAND [OPTIONS]\n\n"
	      "Matrices of message lengths for shuffles: what every host sends to every other.\n\n",
	      f);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].does);
	fputs("\n'shuffle-workload COMMAND --help' lists its options, --version tells which program\n"
	      "this is; see shuffle-workload(1).\n",
	      f);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("shuffle-workload " VERSION);
		return 0;
	}
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		int status;

		if (strcmp(argv[1], commands[i].name))
			continue;
		status = commands[i].run(argc - 1, argv + 1);
		if ((fflush(stdout) || ferror(stdout)) && !status)
			die(EXIT_TROUBLE, "writing to standard output failed");
		return status;
	}
	die(EXIT_USAGE, "no command '%s'; try --help", argv[1]);
}
