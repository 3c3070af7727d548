/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time: commands that repeat, time stamps. */
#ifndef SHUFFLECTL_CLOCK_H
#define SHUFFLECTL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct clock_options - how a command repeats
 * @interval: seconds, 0: once
 * @count: how often, 0: until interrupted
 */
struct clock_options {
	double		interval;
	uint64_t	count;
};

int clock_parse(int *argc, char ***argv, struct clock_options *o, bool *zeros);
uint64_t clock_now(void);
void clock_stamp(char *buf, unsigned int size);
bool clock_sleep(double seconds);

#endif
