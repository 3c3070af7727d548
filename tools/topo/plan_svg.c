// SPDX-License-Identifier: GPL-2.0-or-later
/* A tree as a picture: senders left, the receiver right, a line for each hop. */
#include <stdlib.h>

#include "job.h"

#define LEFT	20.0
#define TOP	56.0
#define STEP	120.0		/* from one stage to the next */
#define ROW	30.0		/* from one server to the next */
#define WIDTH	36.0		/* of a server, at least */
#define MOST	500U		/* servers in a picture */

static const char *const role_colours[PLAN_ROLES] = {
	"#f4b6b6", "#f9d67a", "#ffffff", "#bcd9f2",
};

static const char *const dim_colours[] = {
	"#1f77b4", "#d95f02", "#2ca02c", "#7a3fa0", "#8c564b", "#e377c2", "#7f7f7f", "#17becf",
};

#define COLOURS	(sizeof(dim_colours) / sizeof(dim_colours[0]))

/**
 * struct place - of a server in the picture
 * @x: of its middle
 * @y: of its middle
 * @first: rows above it
 * @used: rows that are given to its children
 * @rows: of what sends to it
 */
struct place {
	double	x;
	double	y;
	u32	first;
	u32	used;
	u32	rows;
};

static struct place *find_places(const struct tree *t, u32 depth)
{
	struct place *at = memory(NULL, t->n, sizeof(*at));
	u32 i, v, up;

	for (i = 0; i < t->n; i++)
		at[i] = (struct place){ .rows = !t->v[i].children };
	for (i = t->n; i-- > 1;) {
		v = t->order[i];
		at[t->v[v].parent].rows += at[v].rows;
	}
	for (i = 0; i < t->n; i++) {
		v = t->order[i];
		up = t->v[v].parent;
		if (i) {
			at[v].first = at[up].first + at[up].used;
			at[up].used += at[v].rows;
		}
		at[v].x = LEFT + WIDTH + (depth - t->v[v].depth) * STEP;
		at[v].y = TOP + (at[v].first + at[v].rows / 2.0) * ROW;
	}
	return at;
}

static void draw_hops(const struct topo *topo, const struct tree *t, const struct place *at,
		      FILE *f)
{
	char text[TOPO_MAX_TEXT];
	u32 i;

	for (i = 1; i < t->n; i++) {
		const struct vertex *v = &t->v[i];
		const struct place *a = &at[i], *b = &at[v->parent];
		const char *colour = topo->graph ? "#555555" : dim_colours[v->link % COLOURS];

		fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
			a->x, a->y, b->x, b->y, colour);
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"9\" fill=\"%s\">%s</text>\n",
			a->x + (b->x - a->x) * 0.35, a->y + (b->y - a->y) * 0.35 - 3, colour,
			topo_link_name(topo, v->server, v->link, text));
	}
}

static void draw_server(double x, double y, double width, enum plan_role role, bool sender,
			FILE *f)
{
	fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"20\" rx=\"4\" fill=\"%s\" stroke=\"#333333\" stroke-width=\"%s\"/>\n",
		x - width / 2, y - 10, width, role_colours[role], sender ? "2" : "0.7");
}

/**
 * plan_svg() - draw a tree
 * @topo: the topology
 * @t: the tree, measured
 * @m: the method that made it
 * @f: where to
 *
 * A tree of more than 500 servers ends the program.
 */
void plan_svg(const struct topo *topo, const struct tree *t, enum method m, FILE *f)
{
	double width = 420, height, wide = WIDTH;
	char text[TOPO_MAX_TEXT], root[TOPO_MAX_TEXT];
	struct place *at;
	u32 i, depth = 0;

	if (t->n > MOST)
		die("--svg: a picture has at most %u servers, this tree has %u", MOST, t->n);
	for (i = 0; i < t->n; i++) {
		double w = 12 + 7.5 * strlen(topo_label(topo, t->v[i].server, text));

		depth = t->v[i].depth > depth ? t->v[i].depth : depth;
		wide = w > wide ? w : wide;
	}
	at = find_places(t, depth);
	if (2 * (LEFT + WIDTH) + depth * STEP > width)
		width = 2 * (LEFT + WIDTH) + depth * STEP;
	height = TOP + at[0].rows * ROW + 40;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		width, height);
	fprintf(f, "<text x=\"%.0f\" y=\"18\" font-size=\"14\">%s, %s to %s</text>\n", LEFT,
		topo_title(topo, text), method_names[m],
		topo_name(topo, t->v[0].server, root));
	fprintf(f, "<text x=\"%.0f\" y=\"36\">cost %.6g, %u hops; at lines: %s; bold: has data</text>\n",
		LEFT, tree_traffic(t, 0), t->n - 1, topo->graph ? "next node" : "dimension");
	draw_hops(topo, t, at, f);
	for (i = 0; i < t->n; i++) {
		draw_server(at[i].x, at[i].y, wide, plan_role_of(t, i), t->v[i].sender, f);
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			at[i].x, at[i].y + 4, topo_label(topo, t->v[i].server, text));
	}
	for (i = 0; i < PLAN_ROLES; i++) {
		draw_server(LEFT + 10 + i * 95, height - 18, 20, i, i == PLAN_SENDER, f);
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", LEFT + 24 + i * 95.0,
			height - 14, plan_roles[i]);
	}
	fprintf(f, "</svg>\n");
	free(at);
}
