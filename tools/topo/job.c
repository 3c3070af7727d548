// SPDX-License-Identifier: GPL-2.0-or-later
/* Do what was asked for: every method, every run. */
#include <stdlib.h>
#include <time.h>

#include "job.h"

/**
 * struct emit - what is written while trees are made
 * @j: the job
 * @m: the method
 * @json: the file, or NULL
 * @table: the file, or NULL
 * @svg: the file, or NULL
 * @trees: until now
 * @drawn: one of them is in @svg
 * @filters: of servers and switches
 */
struct emit {
	struct job	*j;
	enum method	m;
	FILE		*json;
	FILE		*table;
	FILE		*svg;
	u32		trees;
	bool		drawn;
	struct switch_filters filters;
};

static void emit_tree(void *arg, struct tree *t)
{
	struct emit *e = arg;

	if (e->j->form == BLOOM_SWITCH)
		switch_filters_tree(&e->filters, &e->j->topo.cube, t);
	else if (e->j->bloom)
		filter_tree(e->j, t, &e->j->result[e->m].bloom);
	if (e->json && !e->j->summary)
		json_tree(e->j, t, e->trees, e->json);
	if (e->table)
		plan_table_tree(&e->j->topo, t, e->table);
	if (e->svg && !e->drawn &&
	    (e->j->svg_tree == NONE || e->j->svg_tree == t->v[0].server)) {
		plan_svg(&e->j->topo, t, e->m, e->svg);
		e->drawn = true;
	}
	e->trees++;
}

static void progress(enum method m, u32 done, u32 all)
{
	static struct timespec last;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!last.tv_sec)
		last = now;
	if ((now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000 < 500)
		return;
	last = now;
	fprintf(stderr, "\r%-8s%6u of %u ", method_names[m], done, all);
	fflush(stderr);
}

/* One run of one method is part of the means. */
static void add_result(struct job *j, struct planner *p, enum method m)
{
	struct result *r = &j->result[m];
	u32 i;

	for (i = 0; i < j->shuffle.deltas; i++) {
		r->cost[i] += r->sum.cost[i] / j->runs;
		r->input[i] += r->sum.input[i] / j->runs;
	}
	r->links += (double)r->sum.links / j->runs;
	r->aggregators += (double)r->sum.aggregators / j->runs;
	r->shared += (double)r->sum.shared / j->runs;
	if (m == METHOD_SRS)
		r->groups += (double)p->groups / j->runs;
	if (r->sum.depth > r->depth)
		r->depth = r->sum.depth;
}

/* Of this run, if there is the optimum. */
static void compare(struct job *j)
{
	const struct totals *best = &j->result[METHOD_EXACT].sum;
	u32 m;

	for (m = 0; m < METHODS; m++) {
		struct result *r = &j->result[m];
		double ratio;

		if (!j->method[m] || !j->method[METHOD_EXACT] || best->cost[0] <= 0)
			continue;
		ratio = r->sum.cost[0] / best->cost[0];
		r->ratio += ratio;
		r->compared++;
		if (ratio > r->worst)
			r->worst = ratio;
	}
}

static void finish_text(const struct job *j)
{
	if (j->progress)
		fprintf(stderr, "\r%40s\r", "");
	if (!j->quiet && (!j->json || strcmp(j->json, "-")) &&
	    (!j->table || strcmp(j->table, "-")) && (!j->svg || strcmp(j->svg, "-"))) {
		output_text(j, stdout);
		output_close(stdout, "standard output");
	}
}

/**
 * job_run() - plan, and write what was asked for
 * @j: the job
 */
void job_run(struct job *j)
{
	struct planner p = { .s = &j->shuffle };
	struct emit e = { .j = j };
	char text[TOPO_MAX_TEXT];
	u32 run, m;

	p.arg = &e;
	p.progress = j->progress ? progress : NULL;
	if (j->random_senders)
		members_random(j, 0);
	if (j->json) {
		e.json = output_open(j->json);
		if (!j->summary)
			json_begin(j, e.json);
	}
	if (j->table) {
		e.table = output_open(j->table);
		plan_table_begin(&j->topo, e.table);
	}
	if (j->svg)
		e.svg = output_open(j->svg);
	if (e.json && !j->summary)
		json_trees_begin(e.json);
	if (j->bloom || (e.json && !j->summary) || e.table || e.svg)
		p.each = emit_tree;
	for (run = 0; run < j->runs; run++) {
		if (run)
			members_random(j, run);
		for (m = 0; m < METHODS; m++) {
			if (!j->method[m])
				continue;
			e.m = m;
			plan(&p, m, &j->result[m].sum);
			add_result(j, &p, m);
			if (j->form == BLOOM_SWITCH && m != METHOD_NONE)
				switch_filters_end(&e.filters, j->bloom, &j->result[m].in_switch);
		}
		compare(j);
	}
	if (e.json) {
		if (j->summary)
			json_begin(j, e.json);
		else
			json_trees_end(e.json);
		json_results(j, &p, e.json);
		json_end(e.json);
		output_close(e.json, j->json);
	}
	if (e.table)
		output_close(e.table, j->table);
	if (e.svg) {
		if (!e.drawn)
			die("--svg-tree %s: it is not a receiver",
			    topo_name(&j->topo, j->svg_tree, text));
		output_close(e.svg, j->svg);
	}
	finish_text(j);
	free(e.filters.hop);
	planner_free(&p);
}

struct check {
	struct planner	p;
	FILE		*ways;
	FILE		*overlay;
};

static void check_tree(void *arg, struct tree *t)
{
	struct check *c = arg;
	struct job *j = c->p.arg;

	plan_account(&c->p, t, &j->result[METHOD_NONE].sum);
	if (c->ways)
		plan_table_ways(&j->topo, t, c->ways);
	if (c->overlay)
		overlay_tree(j, t, c->overlay);
}

/**
 * job_check() - is a table right, and what does it cost?
 * @j: the job
 *
 * A mistake in the table ends the program with status 1.
 */
void job_check(struct job *j)
{
	struct check c = { .p = { .s = &j->shuffle, .arg = j } };
	struct totals *sum = &j->result[METHOD_NONE].sum;
	FILE *f = j->json ? output_open(j->json) : stdout;
	char text[TOPO_MAX_TEXT];

	j->shuffle.topo = &j->topo;
	links_clear(&c.p.used);
	links_clear(&c.p.met);
	if (j->ways)
		c.ways = output_open(j->ways);
	if (j->overlay)
		c.overlay = output_open(j->overlay);
	plan_table_read(j->check, &j->topo, check_tree, &c);
	if (c.ways)
		output_close(c.ways, j->ways);
	if (c.overlay)
		output_close(c.overlay, j->overlay);
	if (j->json)
		fprintf(f, "{\"trees\": %u, \"servers\": %llu, \"cost\": %.10g, \"links\": %llu, \"aggregators\": %llu, \"depth\": %u}\n",
			sum->trees, (unsigned long long)sum->vertices, sum->cost[0],
			(unsigned long long)c.p.used.n, (unsigned long long)c.p.met.n, sum->depth);
	else if (!j->quiet)
		fprintf(f, "%s: right; %s, trees %u, servers %llu, cost %.10g, links %llu, aggregators %llu\n",
			j->check, topo_title(&j->topo, text), sum->trees,
			(unsigned long long)sum->vertices, sum->cost[0],
			(unsigned long long)c.p.used.n, (unsigned long long)c.p.met.n);
	output_close(f, j->json ? j->json : "standard output");
	planner_free(&c.p);
}
