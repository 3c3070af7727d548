// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plan in a file, from a planner or for one to change.  Words in lines, # begins a comment:
 *
 *	kind KIND
 *	members N
 *	root PLACE		of kinds that have one
 *	blocks N		but of a barrier
 *	STEP FROM TO BLOCK BLOCKS store|before|after
 *	...
 */
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "job.h"
#include "../lib/plan/plan_table.h"

static const char *const takes[] = { "store", "before", "after" };

/* What is read, and where. */
struct reader {
	const char			*name;
	unsigned int			line;
	u32				max;
	struct shuffle_plan_table	t;
	struct shuffle_plan_entry	*entry;
};

static void fault(const struct reader *r, const char *what)
{
	die("%s, line %u: %s", r->name, r->line, what);
}

static u32 kind_of(const struct reader *r, const char *name)
{
	u32 i;

	for (i = 0; i < SHUFFLE_COLL_KINDS; i++)
		if (!strcmp(name, shuffle_coll_kind_name(i)))
			return i;
	fault(r, "no such kind");
	return 0;
}

static u32 take_of(const struct reader *r, const char *name)
{
	u32 i;

	for (i = 0; i < 3; i++)
		if (!strcmp(name, takes[i]))
			return i;
	fault(r, "store, before or after");
	return 0;
}

static void add_entry(struct reader *r, const struct shuffle_plan_entry *e)
{
	if (r->t.entries == r->max) {
		r->max = r->max ? 2 * r->max : 1024;
		r->entry = realloc(r->entry, r->max * sizeof(*r->entry));
		if (!r->entry)
			die("out of memory");
	}
	r->entry[r->t.entries++] = *e;
}

static void read_line(struct reader *r, char *text)
{
	struct shuffle_plan_entry e;
	char word[16], more;
	u32 number;

	text[strcspn(text, "#\n")] = '\0';
	if (text[strspn(text, " \t\r")] == '\0')
		return;
	if (sscanf(text, "%u %u %u %u %u %15s %c", &e.step, &e.from, &e.to, &e.block, &e.blocks,
		   word, &more) == 6) {
		e.take = take_of(r, word);
		add_entry(r, &e);
		return;
	}
	if (sscanf(text, " kind %15s %c", word, &more) == 1)
		r->t.kind = kind_of(r, word);
	else if (sscanf(text, " members %u %c", &number, &more) == 1)
		r->t.n = number;
	else if (sscanf(text, " root %u %c", &number, &more) == 1)
		r->t.root = number;
	else if (sscanf(text, " blocks %u %c", &number, &more) == 1)
		r->t.blocks = number;
	else
		fault(r, "neither kind, members, root, blocks nor a message");
}

static void check(const struct reader *r)
{
	u64 *room = calloc(shuffle_table_room(&r->t) + 1, sizeof(*room));
	struct shuffle_table_fault f;
	char where[80] = "";
	bool right;

	if (!room)
		die("out of memory");
	right = shuffle_table_check(&r->t, room, &f);
	free(room);
	if (!right) {
		if (f.entry != U32_MAX)
			snprintf(where, sizeof(where), ", message %u of step %u", f.entry,
				 r->entry[f.entry].step);
		if (f.member != U32_MAX)
			snprintf(where + strlen(where), sizeof(where) - strlen(where),
				 ", member %u", f.member);
		if (f.block != U32_MAX)
			snprintf(where + strlen(where), sizeof(where) - strlen(where),
				 ", block %u", f.block);
		die("%s%s: %s", r->name, where, shuffle_table_error(f.error));
	}
}

/**
 * plan_file_read() - read a plan and check it
 * @name: file
 *
 * Return: the plan.  Ends the program with a message when something is wrong.
 */
const struct shuffle_plan_table *plan_file_read(const char *name)
{
	static struct reader r;
	FILE *f = fopen(name, "r");
	char text[256];

	if (!f)
		die("%s: cannot be read", name);
	r.name = name;
	r.t.kind = SHUFFLE_COLL_KINDS;
	for (r.line = 1; fgets(text, sizeof(text), f); r.line++) {
		if (!strchr(text, '\n') && !feof(f))
			fault(&r, "too long");
		read_line(&r, text);
	}
	if (ferror(f))
		die("%s: cannot be read", name);
	fclose(f);
	r.t.entry = r.entry;
	check(&r);
	return &r.t;
}

/**
 * plan_file_write() - write a plan as plan_file_read() reads it
 * @plan: as for shuffle_plan_of(), with room for any member's messages
 * @name: file, or "-"
 */
void plan_file_write(struct shuffle_plan *plan, const char *name)
{
	FILE *f = output_open(name);
	u32 step, steps = 1, i;

	fprintf(f, "kind %s\nmembers %u\n", shuffle_coll_kind_name(plan->kind), plan->topo->n);
	for (step = 0; step < steps; step++) {
		for (plan->self = 0; plan->self < plan->topo->n; plan->self++) {
			shuffle_plan_of(plan);
			if (!step && !plan->self) {
				if (shuffle_coll_has_root(plan->kind))
					fprintf(f, "root %u\n", plan->root);
				if (plan->blocks)
					fprintf(f, "blocks %u\n", plan->blocks);
			}
			if (plan->steps > steps)
				steps = plan->steps;
			for (i = 0; i < plan->n; i++)
				if (!plan->msg[i].out && plan->msg[i].step == step)
					fprintf(f, "%u %u %u %u %u %s\n", step, plan->msg[i].peer,
						plan->self, plan->msg[i].block,
						plan->msg[i].blocks, takes[plan->msg[i].take]);
		}
	}
	output_close(f, name);
}
