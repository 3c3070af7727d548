// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-plan: plans in-network aggregation of shuffles.  See shuffle-plan(1). */
#include <stdlib.h>

#include "job.h"

int main(int argc, char **argv)
{
	static struct job j;

	options_parse(&j, argc, argv);
	if (j.check)
		job_check(&j);
	else
		job_run(&j);
	free(j.shuffle.sender);
	free(j.shuffle.flow);
	free(j.shuffle.receiver);
	topo_free(&j.topo);
	return 0;
}
