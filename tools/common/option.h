/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of programs: help, and values that are read or end the program. */
#ifndef SHUFFLE_COMMON_OPTION_H
#define SHUFFLE_COMMON_OPTION_H

#include <stdint.h>

/* The program's own: say what is wrong, and end with status 2. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

void option_help(const char *name, const char *arg, const char *help, int width);
double option_part(const char *name, const char *all, const char *s, char **end, double lo,
		   double hi);
double option_number(const char *name, const char *s, double lo, double hi);
uint32_t option_whole(const char *name, const char *s, double lo, double hi);
uint32_t option_choice(const char *name, const char *s, const char *const *names);

#endif /* SHUFFLE_COMMON_OPTION_H */
