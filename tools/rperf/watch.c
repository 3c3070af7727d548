// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-rperf watch: a line for each instance and interval, with a picture of the times. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "rperf.h"

#define BARS	32	/* columns of the picture */

/* Density between the minimum and the 99.9th percentile, in eighths of a line. */
static void picture(const struct times *t)
{
	static const char *const level[] = {
		" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█",
	};
	double lo = (double)t->min, hi = (double)times_quantile(t, 0.999), width;
	uint64_t in[BARS] = { 0 }, most = 0;
	unsigned int i;
	double at;

	width = hi > lo ? (hi - lo) / BARS : 1;
	for (i = 0; i < HIST_COUNTS; i++) {
		unsigned int up, down;

		at = (double)hist_least(i) + (double)(hist_most(i) - hist_least(i)) / 2;
		up = at < lo ? 0 : (unsigned int)((at - lo) / width);
		down = -at < lo ? 0 : (unsigned int)((-at - lo) / width);
		in[up < BARS ? up : BARS - 1] += t->up.count[i];
		in[down < BARS ? down : BARS - 1] += t->down.count[i];
	}
	for (i = 0; i < BARS; i++)
		most = in[i] > most ? in[i] : most;
	for (i = 0; i < BARS; i++)
		fputs(level[most ? (in[i] * 8 + most - 1) / most : 0], stdout);
}

/**
 * watch_show() - what an interval has brought
 * @job: the command line
 * @last: of the next instance
 * @at: s since the start, at the first instance; else negative
 */
void watch_show(const struct job *job, const struct stats *last, double at)
{
	static unsigned int next, lines;
	const struct times *t = &last->rtt;

	if (at >= 0) {
		/* on a terminal in place of what was there */
		if (isatty(STDOUT_FILENO) && lines)
			printf("\033[%uA", lines);
		next = 0;
		lines = job->n + 1;
		printf("\033[K%7.1f s %18s %8s %8s %8s %8s  from min to p99.9\n" +
		       (isatty(STDOUT_FILENO) ? 0 : 3), at, "round trip [us]", "min", "p50",
		       "p99.9", "lost");
	}
	printf("%s%-26.26s", isatty(STDOUT_FILENO) ? "\033[K" : "", job->inst[next].name);
	if (times_n(t)) {
		printf("  %8.2f %8.2f %8.2f %8llu  ", t->min / 1e3, times_quantile(t, 0.5) / 1e3,
		       times_quantile(t, 0.999) / 1e3, (unsigned long long)last->lost);
		picture(t);
	} else {
		printf("  no answer, %llu lost", (unsigned long long)last->lost);
	}
	putchar('\n');
	fflush(stdout);
	next++;
}
