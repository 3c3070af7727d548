// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-rperf: latency of paths, without the software of the hosts at their ends. */
#include <string.h>

#include "rperf.h"

int main(int argc, char **argv)
{
	struct job job = { 0 };

	if (argc > 1 && !strcmp(argv[1], "serve"))
		return serve(argc - 2, argv + 2);
	if (options_read(&job, argc, argv))
		return 0;
	return job_run(&job);
}
