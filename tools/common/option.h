/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of programs: help, and values that are read or end the program. */
#ifndef SHUFFLE_COMMON_OPTION_H
#define SHUFFLE_COMMON_OPTION_H

#include <stddef.h>
#include <stdint.h>

#define OPTION_MAX	128	/* options of a program */

/**
 * struct option_def - an option
 * @name: its long name
 * @value: what option_next() returns, from 256 on
 * @arg: what its argument is called, or NULL: it has none
 * @help: what it is, in lines
 */
struct option_def {
	const char	*name;
	int		value;
	const char	*arg;
	const char	*help;
};

/* The program's own: say what is wrong, and end with status 2. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

int option_next(int argc, char **argv, const struct option_def *defs, size_t n);
void option_table(const struct option_def *defs, size_t n, int width);
void option_help(const char *name, const char *arg, const char *help, int width);
double option_part(const char *name, const char *all, const char *s, char **end, double lo,
		   double hi);
double option_number(const char *name, const char *s, double lo, double hi);
uint32_t option_whole(const char *name, const char *s, double lo, double hi);
uint32_t option_choice(const char *name, const char *s, const char *const *names);

#endif /* SHUFFLE_COMMON_OPTION_H */
