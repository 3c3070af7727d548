// SPDX-License-Identifier: GPL-2.0-or-later
/* Results as JSON. */
#include "job.h"

static void spread(FILE *f, const char *name, const struct sim_spread *p, double unit)
{
	static const char *const key[6] = { "min", "p10", "p50", "p90", "p95", "max" };
	u32 i;

	if (name)
		fprintf(f, "\"%s\": ", name);
	fprintf(f, "{\"n\": %llu", (unsigned long long)p->n);
	for (i = 0; i < 6; i++)
		fprintf(f, ", \"%s\": %.6g", key[i], p->v[i] / unit);
	fprintf(f, "}");
}

static void config(FILE *f, const struct sim_config *c)
{
	const struct stream_config *s = &c->stream;

	fprintf(f, "\"config\": {\"inputs\": %u, \"builders\": %u, \"intervals\": %u,\n"
		" \"warmup\": %u, \"slices\": %u, \"tickets\": %u, \"history\": %u,\n"
		" \"gate_percent\": %g, \"speedup_percent\": %g, \"change_percent\": %g,\n"
		" \"theta\": %g,\n"
		" \"piece_bytes\": %u, \"rate_gbit\": %g, \"latency_us\": %g,\n"
		" \"port_buffer_bytes\": %llu, \"nic\": \"%s\", \"order\": \"%s\", \"process_us\": %g,\n"
		" \"ddes\": %u, \"restart\": %u, \"fail\": %u, \"noise_percent\": %g,\n"
		" \"pause_every_us\": %g, \"pause_us\": %g, \"slow_from\": %u, \"slow_to\": %u,\n"
		" \"slow_percent\": %g, \"slow_inputs\": %u, \"offset_s\": %g,\n"
		" \"drift_ppm\": %g, \"control_noise_us\": %g, \"seed\": %llu}",
		s->inputs, s->builders, c->intervals, c->warmup, stream_contributions(s), s->ring,
		s->history, s->gate / 10.0, s->speedup / 10.0, s->change / 10.0,
		s->theta / 1000.0, c->piece, c->rate, (double)c->latency / 1e3,
		(unsigned long long)c->buffer,
		nic_names[c->nic], c->same_order ? "same" : "staggered",
		(double)c->process / 1e3, c->ddes, c->restart, c->fail, c->noise * 100,
		c->pause_every / 1e3, c->pause / 1e3, c->slow_from, c->slow_to, c->slow * 100,
		c->slow > 0 ? c->slow_inputs : 0, c->offset / 1e9, c->drift / 1e3,
		(double)c->control_noise / 1e3, (unsigned long long)c->seed);
}

static void intervals(FILE *f, const struct sim_result *r)
{
	u32 i;

	fprintf(f, "\"intervals\": [");
	for (i = 0; i + 1 < r->intervals; i++) {
		const struct sim_interval *v = &r->interval[i];

		fprintf(f, "%s\n   {\"interval\": %u, \"proposed_us\": ", i ? "," : "", i);
		if (v->proposed > 0)
			fprintf(f, "%.3f", v->proposed / 1e3);
		else
			fprintf(f, "null");
		fprintf(f, ", \"actual_us\": %.3f, \"starts_us\": %.3f, \"start_us\": %.3f}",
			v->actual / 1e3, (double)(v->last - v->first) / 1e3,
			(double)v->first / 1e3);
	}
	fprintf(f, "]");
}

static void result(const struct job *j, FILE *f, u32 schedule)
{
	const struct sim_result *r = &j->res[schedule];
	u32 i;

	fprintf(f, " {\"schedule\": \"%s\", \"throughput\": %.6f, \"of_bench\": ",
		schedule_names[schedule], r->throughput);
	if (j->schedule[SIM_BENCH])
		fprintf(f, "%.6f", r->throughput / j->res[SIM_BENCH].throughput);
	else
		fprintf(f, "null");
	fprintf(f, ", \"time_us\": %.3f, \"pieces\": %llu", r->time / 1e3,
		(unsigned long long)r->pieces);
	if (schedule == SIM_BENCH) {
		fprintf(f, "}");
		return;
	}
	fprintf(f, ",\n  \"slices\": %llu, \"late\": %.6f, \"waiting\": %.6f,\n"
		"  \"disagreed\": %llu, \"refused\": %llu, \"dropped\": %llu,\n  ",
		(unsigned long long)r->slices, r->late, r->blocked,
		(unsigned long long)r->disagreed, (unsigned long long)r->refused,
		(unsigned long long)r->dropped);
	spread(f, "gap_us", &r->gap, 1e3);
	fprintf(f, ",\n  ");
	spread(f, "fill", &r->fill, 1);
	fprintf(f, ",\n  \"fill_by_rank\": [");
	for (i = 0; i < r->ranks; i++) {
		fprintf(f, "%s\n   ", i ? "," : "");
		spread(f, NULL, &r->rank[i], 1);
	}
	fprintf(f, "],\n  ");
	intervals(f, r);
	fprintf(f, "}");
}

/**
 * json_write() - write what is known of all runs
 * @j: the job, done
 * @f: where to
 */
void json_write(const struct job *j, FILE *f)
{
	bool any = false;
	u32 i;

	fprintf(f, "{");
	config(f, &j->cfg);
	fprintf(f, ",\n\"runs\": [\n");
	for (i = 0; i < SIM_SCHEDULES; i++) {
		if (!j->schedule[i])
			continue;
		fprintf(f, "%s", any ? ",\n" : "");
		result(j, f, i);
		any = true;
	}
	fprintf(f, "\n]}\n");
}
