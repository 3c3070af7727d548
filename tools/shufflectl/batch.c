// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands from a file: shufflectl -b. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shufflectl.h"

#define MAX_WORDS	256

/* Cut a line into words in place: blanks, '...', "...", \x, # to the end of the
 * line.  Returns their number or -1 for a quote without its end.
 */
static int split(char *s, char **argv)
{
	char *to = s, quote = 0;
	bool in = false;
	int n = 0;

	for (; *s; s++) {
		if (quote) {
			if (*s == quote)
				quote = 0;
			else
				*to++ = *s == '\\' && quote == '"' && s[1] ? *++s : *s;
			continue;
		}
		if (strchr(" \t\r\n", *s) || (*s == '#' && !in)) {
			if (in)
				*to++ = '\0';
			in = false;
			if (*s == '#')
				break;
			continue;
		}
		if (!in) {
			if (n == MAX_WORDS)
				return -1;
			argv[n++] = to;
			in = true;
		}
		if (*s == '\'' || *s == '"')
			quote = *s;
		else
			*to++ = *s == '\\' && s[1] ? *++s : *s;
	}
	*to = '\0';
	return quote ? -1 : n;
}

/**
 * ctl_batch() - run every line of a file
 * @file: its name, "-" for standard input
 * @run: called with the words of each line
 *
 * Ends with the first line that fails, or with the last one if ctl.keep_going.
 *
 * Return: status of the first line that failed, or CTL_OK.
 */
int ctl_batch(const char *file, int (*run)(int argc, char **argv))
{
	FILE *f = strcmp(file, "-") ? fopen(file, "re") : stdin;
	const char *name = f == stdin ? "standard input" : file;
	char *argv[MAX_WORDS + 1], *line = NULL;
	unsigned int number = 0;
	int status = CTL_OK;
	size_t size = 0;

	if (!f)
		return ctl_error("%s: %s", file, strerror(errno));
	while (getline(&line, &size, f) >= 0) {
		int n, err;

		number++;
		n = split(line, argv);
		if (!n)
			continue;
		if (n < 0) {
			err = ctl_usage("a quote has no end, or there are too many words");
		} else {
			argv[n] = NULL;
			err = run(n, argv);
			fflush(stdout);
		}
		if (!err)
			continue;
		fprintf(stderr, "Command failed: %s:%u\n", name, number);
		if (!status)
			status = err;
		if (!ctl.keep_going)
			break;
	}
	free(line);
	if (f != stdin)
		fclose(f);
	return status;
}
