// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-stream: time-slices over AF_SHUFFLE sockets. */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/**
 * die() - say what is wrong, and end
 * @fmt: as of printf()
 */
void die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "shuffle-stream: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "--help";
	struct run r;

	if (!strcmp(what, "monitor"))
		return run_monitor(argc - 1, argv + 1);
	if (!strcmp(what, "plot"))
		return run_plot(argc - 1, argv + 1);
	if (strcmp(what, "input") && strcmp(what, "builder")) {
		if (!strcmp(what, "--help"))
			run_options(&r, false, argc > 1 ? argc : 2,
				    argc > 1 ? argv : (char *[]){ argv[0], "--help", NULL });
		die("%s: input, builder, monitor or plot is expected, try --help", what);
	}
	run_options(&r, *what == 'b', argc - 1, argv + 1);
	run_signals();
	return *what == 'b' ? run_builder(&r) : run_input(&r);
}
