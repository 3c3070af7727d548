// SPDX-License-Identifier: GPL-2.0-or-later
/* Results as text. */
#include "job.h"

static void text_switch(const struct job *j, const struct switch_stats *s, FILE *f)
{
	fprintf(f, "         filters of %u bits in %llu interfaces: %.3g trees each, at most %u; %llu of %llu tests wrong, %.4g expected\n",
		j->bloom, (unsigned long long)s->ports,
		s->ports ? (double)s->items / s->ports : 0, s->most,
		(unsigned long long)s->wrong, (unsigned long long)s->tests, s->expected);
}

static void text_bloom(const struct job *j, const struct bloom_stats *b, FILE *f)
{
	double paths = b->paths ? (double)b->paths : 1;

	if (j->form == BLOOM_PAPER)
		fprintf(f, "         filters of %u bits: %llu ways, %.3g mistakes a packet, %.2f %% make any\n",
			j->bloom, (unsigned long long)b->paths, b->wrong / paths,
			100 * (paths - b->exact) / paths);
	else
		fprintf(f, "         filters of %u bits: %llu ways, %llu exact, salts tried %.2f, at most %u\n",
			j->bloom, (unsigned long long)b->paths, (unsigned long long)b->exact,
			b->salts / paths, b->most);
}

/**
 * output_text() - a table of methods, for each delta
 * @j: the job
 * @f: where to
 */
void output_text(const struct job *j, FILE *f)
{
	const struct shuffle *s = &j->shuffle;
	char text[TOPO_MAX_TEXT];
	u32 m, i;

	fprintf(f, "%s: %u servers, %u senders, %u receivers, runs %u\n",
		topo_title(&j->topo, text), topo_servers(&j->topo), s->senders, s->receivers,
		j->runs);
	fprintf(f, "%-8s %6s %14s %8s %10s %11s %12s %5s\n", "method", "delta", "cost", "saving",
		"links", "aggregators", "input", "depth");
	for (m = 0; m < METHODS; m++) {
		const struct result *r = &j->result[m];

		if (!j->method[m])
			continue;
		for (i = 0; i < s->deltas; i++) {
			fprintf(f, "%-8s %6.4g %14.10g", method_names[m], s->delta[i], r->cost[i]);
			if (j->method[METHOD_NONE])
				fprintf(f, " %6.2f %%", 100 * (1 - r->cost[i] /
					j->result[METHOD_NONE].cost[i]));
			else
				fprintf(f, " %8s", "-");
			fprintf(f, " %10.8g %11.8g %12.8g %5u\n", r->links, r->aggregators,
				r->input[i], r->depth);
		}
		if (m == METHOD_SRS)
			fprintf(f, "         %.4g groups, %.4g trees are another receiver's\n",
				r->groups, r->shared);
		if (r->compared && m != METHOD_EXACT)
			fprintf(f, "         cost / optimum: mean %.4f, at most %.4f\n",
				r->ratio / r->compared, r->worst);
		if (j->form == BLOOM_SWITCH && m != METHOD_NONE)
			text_switch(j, &r->in_switch, f);
		else if (j->bloom && m != METHOD_NONE)
			text_bloom(j, &r->bloom, f);
	}
}
