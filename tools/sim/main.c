// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-sim: shuffles on a simulated network.  See shuffle-sim(1). */
#include <stdlib.h>
#include <string.h>

#include "job.h"

int main(int argc, char **argv)
{
	static struct plan plan;
	struct output out = { 0 };
	FILE *f;
	u32 i;

	options_parse(&plan, argc, argv, &out);
	if (plan.plans.kind) {
		collectives_print(&plan.plans);
		return 0;
	}
	if (out.series)
		for (i = 0; i < plan.curves; i++)
			plan.curve[i].series = sim_series_new();
	jobs_run(&plan);
	if (out.csv) {
		f = output_open(out.csv);
		output_csv(&plan, f);
		output_close(f, out.csv);
	}
	if (out.json) {
		f = output_open(out.json);
		output_json(&plan, out.all, f);
		output_close(f, out.json);
	}
	if (out.series) {
		f = output_open(out.series);
		output_series(&plan, f);
		output_close(f, out.series);
	}
	if (!out.quiet && (!out.json || strcmp(out.json, "-")) &&
	    (!out.csv || strcmp(out.csv, "-")) && (!out.series || strcmp(out.series, "-"))) {
		output_text(&plan, stdout);
		output_close(stdout, "standard output");
	}
	for (i = 0; i < plan.curves; i++) {
		free(plan.curve[i].res);
		sim_series_free(plan.curve[i].series);
	}
	free(plan.skewness);
	return 0;
}
