// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plan as a picture: a line for each member, from left to right the steps, an arrow for each
 * message.  Racks are shaded in turns.
 */
#include <stdlib.h>

#include "collective.h"
#include "job.h"
#include "../lib/plan/plan_table.h"

#define LEFT	74U
#define TOP	44U
#define STEP	110U		/* from one step to the next */
#define ROW	18U		/* from one member to the next */
#define BOTTOM	34U

static const struct {
	const char *colour;
	const char *text;
} looks[] = {
	{ "#1f77b4", "stored" },
	{ "#d95f02", "combined" },
	{ "#7a3fa0", "one packet to several" },
};

static u32 x_of(u32 step)
{
	return LEFT + step * STEP;
}

static u32 y_of(u32 place)
{
	return TOP + place * ROW + ROW / 2;
}

static void draw_racks(const struct shuffle_topology *t, u32 width, FILE *f)
{
	u32 i;

	for (i = 0; i < t->racks; i++) {
		fprintf(f, "<rect x=\"0\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\"/>\n",
			TOP + shuffle_topology_leader(t, i) * ROW, width,
			shuffle_topology_size(t, i) * ROW, i % 2 ? "#ffffff" : "#f0f0f0");
		if (t->racks > 1)
			fprintf(f, "<text x=\"4\" y=\"%u\">rack %u</text>\n",
				y_of(shuffle_topology_leader(t, i)) + 4, i);
	}
}

static void draw_members(const struct shuffle_plan *plan, u32 steps, FILE *f)
{
	bool root = shuffle_coll_has_root(plan->kind);
	u32 i;

	for (i = 0; i < steps; i++)
		fprintf(f, "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">step %u</text>\n",
			x_of(i) + STEP / 2, TOP - 6, i + 1);
	for (i = 0; i < plan->topo->n; i++) {
		fprintf(f, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\"%s>%u</text>\n", LEFT - 8,
			y_of(i) + 4, root && i == plan->root ? " font-weight=\"bold\"" : "", i);
		fprintf(f, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" stroke=\"#bbbbbb\"/>\n",
			x_of(0), y_of(i), x_of(steps), y_of(i));
	}
}

/* What the member receives: an arrow from each sender. */
static void draw_received(const struct shuffle_plan *plan, const bool *multicast, bool seen[3],
			  FILE *f)
{
	u32 i, look;

	for (i = 0; i < plan->n; i++) {
		const struct shuffle_plan_msg *m = &plan->msg[i];

		if (m->out)
			continue;
		look = multicast[m->step * plan->topo->n + m->peer] ? 2 :
		       m->take != SHUFFLE_COLL_STORE;
		seen[look] = true;
		fprintf(f, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" stroke=\"%s\" marker-end=\"url(#a%u)\"/>\n",
			x_of(m->step) + 2, y_of(m->peer), x_of(m->step + 1) - 4,
			y_of(plan->self), looks[look].colour, look);
	}
}

/* Which member sends one packet to several, in which step. */
static bool *find_multicast(struct shuffle_plan *plan, u32 steps)
{
	u32 n = plan->topo->n, i;
	bool *multicast = calloc((size_t)n * steps, sizeof(*multicast));

	if (!multicast)
		die("out of memory");
	for (plan->self = 0; plan->self < n; plan->self++) {
		shuffle_plan_of(plan);
		for (i = 0; i < plan->n; i++)
			if (plan->msg[i].out && plan->msg[i].multicast)
				multicast[plan->msg[i].step * n + plan->self] = true;
	}
	return multicast;
}

/**
 * plan_svg() - draw a plan
 * @plan: as for shuffle_plan_of(), with room for any member's messages
 * @steps: of all members
 * @f: where to
 */
void plan_svg(struct shuffle_plan *plan, u32 steps, FILE *f)
{
	u32 n = plan->topo->n, i;
	u32 width = x_of(steps) + 20, height = TOP + n * ROW + BOTTOM, x = LEFT;
	bool *multicast = find_multicast(plan, steps);
	bool seen[3] = { false };

	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		width < 400 ? 400 : width, height);
	fprintf(f, "<text x=\"4\" y=\"18\" font-size=\"14\">%s, %s, %u members</text>\n<defs>\n",
		shuffle_coll_kind_name(plan->kind), shuffle_coll_pattern_name(plan->pattern), n);
	for (i = 0; i < 3; i++)
		fprintf(f, "<marker id=\"a%u\" markerWidth=\"7\" markerHeight=\"7\" refX=\"6\" refY=\"3\" orient=\"auto\"><path d=\"M0,0 L6,3 L0,6 z\" fill=\"%s\"/></marker>\n",
			i, looks[i].colour);
	fprintf(f, "</defs>\n");
	draw_racks(plan->topo, width < 400 ? 400 : width, f);
	draw_members(plan, steps, f);
	for (plan->self = 0; plan->self < n; plan->self++) {
		shuffle_plan_of(plan);
		draw_received(plan, multicast, seen, f);
	}
	for (i = 0; i < 3; i++) {
		if (!seen[i])
			continue;
		fprintf(f, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" stroke=\"%s\" marker-end=\"url(#a%u)\"/>\n<text x=\"%u\" y=\"%u\">%s</text>\n",
			x, height - 14, x + 24, height - 14, looks[i].colour, i, x + 30,
			height - 10, looks[i].text);
		x += 100;
	}
	fprintf(f, "</svg>\n");
	free(multicast);
}
