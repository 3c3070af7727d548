// SPDX-License-Identifier: GPL-2.0-or-later
/* Results as text. */
#include "job.h"

static void table(const struct job *j, FILE *f)
{
	const struct sim_result *bench = &j->res[SIM_BENCH];
	u32 i;

	fprintf(f, "%-9s %10s %8s %28s %28s %7s %8s\n", "", "throughput", "", "gap of a time-slice, us",
		"buffers, % of the ring", "late", "waiting");
	fprintf(f, "%-9s %10s %8s %28s %28s %7s %8s\n", "schedule", "of links", "/ bench",
		"median      90 %       max", "median      95 %       max", "%", "%");
	for (i = 0; i < SIM_SCHEDULES; i++) {
		const struct sim_result *r = &j->res[i];

		if (!j->schedule[i])
			continue;
		fprintf(f, "%-9s %10.4f", schedule_names[i], r->throughput);
		if (j->schedule[SIM_BENCH])
			fprintf(f, " %8.4f", r->throughput / bench->throughput);
		else
			fprintf(f, " %8s", "-");
		if (i == SIM_BENCH)
			fprintf(f, "\n");
		else
			fprintf(f, " %8.1f %9.1f %9.1f %8.1f %9.1f %9.1f %7.2f %8.2f\n",
				r->gap.v[2] / 1e3, r->gap.v[3] / 1e3, r->gap.v[5] / 1e3,
				r->fill.v[2] * 100, r->fill.v[4] * 100, r->fill.v[5] * 100,
				r->late * 100, r->blocked * 100);
	}
}

/**
 * text_write() - write what is known of all runs
 * @j: the job, done
 * @f: where to
 */
void text_write(const struct job *j, FILE *f)
{
	const struct sim_result *r = &j->res[SIM_DFS];
	u32 i;

	table(j, f);
	if (!j->schedule[SIM_DFS])
		return;
	fprintf(f, "\n%-9s %12s %12s %12s\n", "interval", "proposed, us", "actual, us",
		"starts, us");
	for (i = 0; i + 1 < r->intervals; i++) {
		const struct sim_interval *v = &r->interval[i];

		if (v->proposed > 0)
			fprintf(f, "%-9u %12.1f", i, v->proposed / 1e3);
		else
			fprintf(f, "%-9u %12s", i, "-");
		fprintf(f, " %12.1f %12.1f\n", v->actual / 1e3, (double)(v->last - v->first) / 1e3);
	}
	if (r->disagreed || r->refused)
		fprintf(f, "\n%llu proposals differ between engines; %llu messages refused\n",
			(unsigned long long)r->disagreed, (unsigned long long)r->refused);
}
