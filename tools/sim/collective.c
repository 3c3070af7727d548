// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans of the module's collectives, and what they cost on links: COOL's tables (AlSader). */
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "job.h"
#include "../lib/plan/plan_table.h"

/* Fewer would do: a picture is to be looked at. */
#define SVG_HOSTS	64U

/**
 * struct row - a plan and its cost
 * @kind: enum shuffle_coll_kind
 * @pattern: enum shuffle_coll_pattern
 * @cost: what it costs
 * @cross_steps: steps in which a message crosses racks
 * @ps: time, if bytes are asked for
 */
struct row {
	u8				kind;
	u8				pattern;
	struct shuffle_plan_cost	cost;
	u32				cross_steps;
	u64				ps;
};

/* What is asked for, with numbers instead of names. */
struct table {
	const struct collectives	*asked;
	const struct shuffle_plan_table	*table;
	struct shuffle_topology		topo;
	struct row			row[SHUFFLE_COLL_KINDS * SHUFFLE_COLL_PATTERNS];
	u32				rows;
};

/* The number of a name, or @n for "all". */
static u8 named(const char *option, const char *name, const char *(*name_of)(u8 i), u8 n)
{
	u8 i;

	if (!strcmp(name, "all"))
		return n;
	for (i = 0; i < n; i++)
		if (!strcmp(name, name_of(i)))
			return i;
	fprintf(stderr, "shuffle-sim: --%s %s: there are all", option, name);
	for (i = 0; i < n; i++)
		fprintf(stderr, " %s", name_of(i));
	fprintf(stderr, "\n");
	exit(2);
}

static u32 *even_racks(u32 hosts, u32 racks)
{
	u32 *first = malloc((racks + 1) * sizeof(*first));
	u32 i;

	if (!first)
		die("out of memory");
	for (i = 0; i <= racks; i++)
		first[i] = (u64)i * hosts / racks;
	return first;
}

/* Room for the messages of any member: a first try says how much is needed. */
static void make_room(struct shuffle_plan *plan)
{
	u32 most = 0;

	for (plan->self = 0; plan->self < plan->topo->n; plan->self++) {
		shuffle_plan_of(plan);
		if (plan->n > most)
			most = plan->n;
	}
	plan->msg = calloc(most + 1, sizeof(*plan->msg));
	plan->max = most;
	if (!plan->msg)
		die("out of memory");
}

static void plan_init(struct shuffle_plan *plan, const struct table *t, u8 kind, u8 pattern)
{
	*plan = (struct shuffle_plan){
		.kind = kind, .pattern = pattern, .radix = t->asked->radix, .topo = &t->topo,
		.table = t->table,
		.root = shuffle_coll_has_root(kind) ? t->asked->root : 0,
	};
	make_room(plan);
}

/* Of @steps, those in which any member sends to another rack. */
static u32 count_cross_steps(struct shuffle_plan *plan, u32 steps)
{
	bool *crosses = calloc(steps + 1, sizeof(*crosses));
	const struct shuffle_topology *t = plan->topo;
	u32 i, rack, n = 0;

	if (!crosses)
		die("out of memory");
	for (plan->self = 0; plan->self < t->n; plan->self++) {
		shuffle_plan_make(plan);
		rack = shuffle_topology_rack(t, plan->self);
		for (i = 0; i < plan->n; i++)
			if (shuffle_topology_rack(t, plan->msg[i].peer) != rack)
				crosses[plan->msg[i].step] = true;
	}
	for (i = 0; i < steps; i++)
		n += crosses[i];
	free(crosses);
	return n;
}

static void add_row(struct table *t, u8 kind, u8 pattern)
{
	struct row *row = &t->row[t->rows++];
	struct shuffle_plan plan;

	row->kind = kind;
	row->pattern = pattern;
	plan_init(&plan, t, kind, pattern);
	if (shuffle_plan_cost(&plan, &row->cost))
		die("%s, %s: there is no such plan", shuffle_coll_kind_name(kind),
		    shuffle_coll_pattern_name(pattern));
	row->cross_steps = count_cross_steps(&plan, row->cost.steps);
	if (t->asked->bytes)
		row->ps = plan_time(&plan, row->cost.steps, t->asked->bytes, &t->asked->net);
	free(plan.msg);
}

static void fill(struct table *t)
{
	u8 kind, pattern, k, p;

	if (t->table) {
		add_row(t, t->table->kind, SHUFFLE_PLAN_EXPLICIT);
		return;
	}
	kind = named("plan", t->asked->kind, shuffle_coll_kind_name, SHUFFLE_COLL_KINDS);
	pattern = named("pattern", t->asked->pattern, shuffle_coll_pattern_name,
			SHUFFLE_COLL_PATTERNS);
	for (k = 0; k < SHUFFLE_COLL_KINDS; k++) {
		for (p = 0; p < SHUFFLE_COLL_PATTERNS; p++) {
			if ((kind == k || kind == SHUFFLE_COLL_KINDS) &&
			    (pattern == p || pattern == SHUFFLE_COLL_PATTERNS) &&
			    shuffle_plan_possible(k, p))
				add_row(t, k, p);
		}
	}
	if (!t->rows)
		die("--pattern %s: there is no such pattern of %s", t->asked->pattern,
		    t->asked->kind);
}

static void print_text(const struct table *t)
{
	const struct collectives *c = t->asked;
	u32 i;

	printf("Plans for %u hosts in %u rack%s, root %u, radix %u.  Each message is one packet; a\n"
	       "multicast is one message, and a packet on each link that it crosses.\n\n"
	       "%-14s %-12s %6s %6s %10s %9s %10s %9s %6s %6s%s\n"
	       "%-14s %-12s %6s %6s %10s %9s %10s %9s %6s %6s%s\n",
	       c->hosts, c->racks, c->racks > 1 ? "s" : "", c->root, c->radix,
	       "", "", "", "they", "", "they", "packets", "on core", "leader", "other",
	       c->bytes ? "       time" : "",
	       "kind", "pattern", "steps", "cross", "messages", "cross", "on links", "links",
	       "load", "load", c->bytes ? "         us" : "");
	for (i = 0; i < t->rows; i++) {
		const struct row *r = &t->row[i];

		printf("%-14s %-12s %6u %6u %10llu %9llu %10llu %9llu %6u %6u",
		       shuffle_coll_kind_name(r->kind), shuffle_coll_pattern_name(r->pattern),
		       r->cost.steps, r->cross_steps, (unsigned long long)r->cost.messages,
		       (unsigned long long)r->cost.cross_messages,
		       (unsigned long long)r->cost.links,
		       (unsigned long long)r->cost.cross_links, r->cost.leader_load,
		       r->cost.other_load);
		if (c->bytes)
			printf(" %10.2f", r->ps / 1e6);
		printf("\n");
	}
	printf("\nThey cross: of these, between racks.  Load: most packets that a rack's leader, or\n"
	       "another member, sends and receives in one step.\n");
}

static void print_json(const struct table *t)
{
	const struct collectives *c = t->asked;
	FILE *f = output_open(c->json);
	u32 i;

	fprintf(f, "{\n  \"hosts\": %u, \"racks\": %u, \"root\": %u, \"radix\": %u,\n  \"plans\": [",
		c->hosts, c->racks, c->root, c->radix);
	for (i = 0; i < t->rows; i++) {
		const struct row *r = &t->row[i];

		fprintf(f, "%s\n    {\"kind\": \"%s\", \"pattern\": \"%s\", \"steps\": %u, "
			"\"cross_steps\": %u, \"messages\": %llu, "
			"\"cross_messages\": %llu, \"links\": %llu, "
			"\"cross_links\": %llu, \"leader_load\": %u, \"other_load\": %u",
			i ? "," : "",
			shuffle_coll_kind_name(r->kind), shuffle_coll_pattern_name(r->pattern),
			r->cost.steps, r->cross_steps, (unsigned long long)r->cost.messages,
			(unsigned long long)r->cost.cross_messages,
			(unsigned long long)r->cost.links,
			(unsigned long long)r->cost.cross_links, r->cost.leader_load,
			r->cost.other_load);
		if (c->bytes)
			fprintf(f, ", \"us\": %.6f", r->ps / 1e6);
		fprintf(f, "}");
	}
	fprintf(f, "\n  ]\n}\n");
	output_close(f, c->json);
}

static void draw(const struct table *t)
{
	struct shuffle_plan plan;
	FILE *f;

	if (t->rows != 1)
		die("--svg: a picture is of one plan, --plan and --pattern must name it");
	if (t->asked->hosts > SVG_HOSTS)
		die("--svg: at most %u hosts", SVG_HOSTS);
	plan_init(&plan, t, t->row[0].kind, t->row[0].pattern);
	f = output_open(t->asked->svg);
	plan_svg(&plan, t->row[0].cost.steps, f);
	output_close(f, t->asked->svg);
	free(plan.msg);
}

static void write_table(const struct table *t)
{
	struct shuffle_plan plan;

	if (t->rows != 1)
		die("--write-table: a table is of one plan, --plan and --pattern must name it");
	if (t->row[0].pattern == SHUFFLE_COLL_GATHERED)
		die("--write-table: members of gathered combine in the end, which no table has");
	plan_init(&plan, t, t->row[0].kind, t->row[0].pattern);
	plan_file_write(&plan, t->asked->write);
	free(plan.msg);
}

/**
 * collectives_print() - print and draw plans
 * @c: which, and where to
 *
 * Ends the program with a message when something is wrong.
 */
void collectives_print(const struct collectives *c)
{
	struct collectives own = *c;
	bool to_stdout = (c->json && !strcmp(c->json, "-")) || (c->svg && !strcmp(c->svg, "-"));
	static struct table t;
	u32 *first;

	if (c->json && c->svg && !strcmp(c->json, "-") && !strcmp(c->svg, "-"))
		die("--json - --svg -: only one of them to standard output");
	if (c->table) {
		t.table = plan_file_read(c->table);
		own.hosts = t.table->n;
		own.root = t.table->root;
		c = &own;
	}
	if (c->hosts > UINT16_MAX)
		die("--hosts %u: plans are for at most %u", c->hosts, UINT16_MAX);
	if (c->racks < 1 || c->racks > c->hosts)
		die("--racks %u: from 1 to the number of hosts", c->racks);
	if (c->bytes && !(c->net.core >= 0.001 && c->net.core <= 1000))
		die("--core %g: plans have from 0.001 to 1000", c->net.core);
	if (c->root >= c->hosts)
		die("--root %u: there are %u hosts, counted from 0 on", c->root, c->hosts);
	first = even_racks(c->hosts, c->racks);
	t.asked = c;
	t.topo = (struct shuffle_topology){ .n = c->hosts, .racks = c->racks, .first = first };
	fill(&t);
	if (c->write)
		write_table(&t);
	if (c->svg)
		draw(&t);
	if (c->json)
		print_json(&t);
	if (!c->quiet && !to_stdout) {
		print_text(&t);
		output_close(stdout, "standard output");
	}
	free(first);
}
