// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-stream-sim: time-slice building, simulated. */
#include "job.h"

int main(int argc, char **argv)
{
	struct job j;
	FILE *f;
	u32 i;

	options_read(&j, argc, argv);
	for (i = 0; i < SIM_SCHEDULES; i++)
		if (j.schedule[i])
			sim_run(&j.cfg, i, j.progress, &j.res[i]);
	if (!j.quiet)
		text_write(&j, stdout);
	if (j.json) {
		f = output_open(j.json);
		json_write(&j, f);
		output_close(f, j.json);
	}
	if (j.svg) {
		f = output_open(j.svg);
		svg_write(&j, f);
		output_close(f, j.svg);
	}
	for (i = 0; i < SIM_SCHEDULES; i++)
		sim_result_free(&j.res[i]);
	return 0;
}
