// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans and results as JSON. */
#include "job.h"

/**
 * json_begin() - what was asked for
 * @j: the job
 * @f: where to
 */
void json_begin(const struct job *j, FILE *f)
{
	const struct shuffle *s = &j->shuffle;
	char text[TOPO_MAX_TEXT];
	u32 i;

	fprintf(f, "{\n\"topology\": \"%s\",\n\"servers\": %u,\n\"seed\": %llu,\n\"runs\": %u,\n",
		topo_title(&j->topo, text), topo_servers(&j->topo), (unsigned long long)j->seed,
		j->runs);
	if (j->runs == 1 && s->senders) {
		fprintf(f, "\"senders\": [");
		for (i = 0; i < s->senders; i++)
			fprintf(f, "%s\"%s\"", i ? ", " : "",
				topo_name(&j->topo, s->sender[i], text));
		fprintf(f, "],\n\"flows\": [");
		for (i = 0; i < s->senders; i++)
			fprintf(f, "%s%.10g", i ? ", " : "", s->flow[i]);
		fprintf(f, "],\n\"receivers\": [");
		for (i = 0; i < s->receivers; i++)
			fprintf(f, "%s\"%s\"", i ? ", " : "",
				topo_name(&j->topo, s->receiver[i], text));
		fprintf(f, "],\n");
	}
	fprintf(f, "\"delta\": [");
	for (i = 0; i < s->deltas; i++)
		fprintf(f, "%s%.10g", i ? ", " : "", s->delta[i]);
	fprintf(f, "],\n");
}

/**
 * json_trees_begin() - trees follow
 * @f: where to
 */
void json_trees_begin(FILE *f)
{
	fprintf(f, "\"trees\": [");
}

/* The filter of a server's packets. */
static void json_filter(const struct job *j, const struct tree *t, u32 vertex, FILE *f)
{
	u32 path[BLOOM_MAX_PATH], hops = filter_path(t, vertex, path), i;
	struct shuffle_bloom bloom;

	if (!hops || !bloom_path(&bloom, &j->topo.cube, path, hops, j->bloom))
		return;
	fprintf(f, ", \"salt\": %u, \"filter\": \"", bloom.salt);
	for (i = 0; i < (j->bloom + 63) / 64; i++)
		fprintf(f, "%016llx", (unsigned long long)bloom.word[i]);
	fprintf(f, "\"");
}

/**
 * json_tree() - one tree
 * @j: the job
 * @t: the tree, measured
 * @more: there was one before
 * @f: where to
 */
void json_tree(const struct job *j, const struct tree *t, bool more, FILE *f)
{
	char server[TOPO_MAX_TEXT], other[TOPO_MAX_TEXT];
	double delta = j->shuffle.delta[0];
	u32 i;

	fprintf(f, "%s\n{\"receiver\": \"%s\", \"cost\": %.10g, \"input\": %.10g, \"servers\": [",
		more ? "," : "", topo_name(&j->topo, t->v[0].server, server),
		tree_traffic(t, delta), tree_input(t, delta));
	for (i = 0; i < t->n; i++) {
		u32 at = t->order[i];
		const struct vertex *v = &t->v[at];

		fprintf(f, "%s\n  {\"server\": \"%s\", \"label\": \"%s\"", i ? "," : "",
			topo_name(&j->topo, v->server, server),
			topo_label(&j->topo, v->server, other));
		if (at)
			fprintf(f, ", \"parent\": \"%s\"",
				topo_name(&j->topo, t->v[v->parent].server, other));
		if (at)
			fprintf(f, ", \"link\": \"%s\", \"links\": %u",
				topo_link_name(&j->topo, v->server, v->link, other), v->hop);
		fprintf(f, ", \"value\": %u, \"role\": \"%s\", \"sender\": %s, \"depth\": %u",
			tree_value(v), plan_roles[plan_role_of(t, at)],
			v->sender ? "true" : "false", v->depth);
		if (j->bloom && j->form == BLOOM_EXACT && filter_sends(t, at))
			json_filter(j, t, at, f);
		fprintf(f, "}");
	}
	fprintf(f, "\n]}");
}

/**
 * json_trees_end() - no more trees
 * @f: where to
 */
void json_trees_end(FILE *f)
{
	fprintf(f, "\n],\n");
}

static void json_numbers(const char *name, const double *v, u32 n, FILE *f)
{
	u32 i;

	fprintf(f, ", \"%s\": [", name);
	for (i = 0; i < n; i++)
		fprintf(f, "%s%.10g", i ? ", " : "", v[i]);
	fprintf(f, "]");
}

static void json_groups(const struct job *j, const struct planner *p, FILE *f)
{
	char text[TOPO_MAX_TEXT];
	u32 i, k;

	fprintf(f, ",\n  \"group\": [");
	for (i = 0; i < p->groups; i++) {
		const struct srs_group *g = &p->group[i];

		fprintf(f, "%s\n   {\"receivers\": [", i ? "," : "");
		for (k = 0; k < g->n; k++)
			fprintf(f, "%s\"%s\"", k ? ", " : "",
				topo_name(&j->topo, g->receiver[k], text));
		fprintf(f, "]");
		if (g->n > 1) {
			json_numbers("tree_cost", g->tree_cost, g->n, f);
			json_numbers("entry_cost", g->cost, g->n, f);
			fprintf(f, ", \"separate_cost\": %.10g, \"entry\": ", g->separate);
			if (g->entry == NONE)
				fprintf(f, "null");
			else
				fprintf(f, "\"%s\"",
					topo_name(&j->topo, g->receiver[g->entry], text));
		}
		fprintf(f, "}");
	}
	fprintf(f, "]");
}

static void json_switch(const struct job *j, const struct switch_stats *s, FILE *f)
{
	fprintf(f, ", \"bloom\": {\"bits\": %u, \"interfaces\": %llu, \"trees\": %llu, \"most_trees\": %u",
		j->bloom, (unsigned long long)s->ports, (unsigned long long)s->items, s->most);
	fprintf(f, ", \"tests\": %llu, \"wrong\": %llu, \"expected\": %.10g}",
		(unsigned long long)s->tests, (unsigned long long)s->wrong, s->expected);
}

static void json_bloom(const struct job *j, const struct bloom_stats *b, FILE *f)
{
	fprintf(f, ", \"bloom\": {\"bits\": %u, \"paths\": %llu, \"hops\": %llu, \"exact\": %llu",
		j->bloom, (unsigned long long)b->paths, (unsigned long long)b->hops,
		(unsigned long long)b->exact);
	if (j->form == BLOOM_PAPER)
		fprintf(f, ", \"wrong\": %llu}", (unsigned long long)b->wrong);
	else
		fprintf(f, ", \"salts\": %.10g, \"most_salts\": %u}",
			b->paths ? (double)b->salts / b->paths : 0, b->most);
}

/**
 * json_results() - of all methods, means over runs
 * @j: the job
 * @p: the planner, with SRS's groups of the last run
 * @f: where to
 */
void json_results(const struct job *j, const struct planner *p, FILE *f)
{
	u32 m, n = 0;

	fprintf(f, "\"methods\": [");
	for (m = 0; m < METHODS; m++) {
		const struct result *r = &j->result[m];

		if (!j->method[m])
			continue;
		fprintf(f, "%s\n {\"method\": \"%s\"", n++ ? "," : "", method_names[m]);
		json_numbers("cost", r->cost, j->shuffle.deltas, f);
		json_numbers("input", r->input, j->shuffle.deltas, f);
		fprintf(f, ", \"links\": %.10g", r->links);
		if (m != METHOD_NONE)
			fprintf(f, ", \"aggregators\": %.10g, \"depth\": %u", r->aggregators,
				r->depth);
		if (m == METHOD_SRS)
			fprintf(f, ", \"groups\": %.10g, \"shared\": %.10g", r->groups, r->shared);
		if (r->compared)
			fprintf(f, ", \"compared\": %u, \"ratio_mean\": %.10g, \"ratio_max\": %.10g",
				r->compared, r->ratio / r->compared, r->worst);
		if (j->form == BLOOM_SWITCH && m != METHOD_NONE)
			json_switch(j, &r->in_switch, f);
		else if (j->bloom && m != METHOD_NONE)
			json_bloom(j, &r->bloom, f);
		if (m == METHOD_SRS && j->runs == 1 && !j->summary)
			json_groups(j, p, f);
		fprintf(f, "}");
	}
	fprintf(f, "\n]");
}

/**
 * json_end() - no more
 * @f: where to
 */
void json_end(FILE *f)
{
	fprintf(f, "\n}\n");
}
