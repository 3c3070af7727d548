// SPDX-License-Identifier: GPL-2.0-or-later
/* Proposed and actual durations of intervals as a picture. */
#include "job.h"

#define WIDTH	720.0
#define HEIGHT	300.0
#define LEFT	70.0
#define TOP	30.0
#define INNER_W	(WIDTH - LEFT - 20)
#define INNER_H	(HEIGHT - TOP - 50)

static double top_of(const struct sim_result *r)
{
	double top = 0;
	u32 i;

	for (i = 0; i + 1 < r->intervals; i++) {
		if (r->interval[i].actual > top)
			top = r->interval[i].actual;
		if (r->interval[i].proposed > top)
			top = r->interval[i].proposed;
	}
	return top > 0 ? top * 1.1 : 1;
}

static void line(FILE *f, const struct sim_result *r, bool proposed, double top)
{
	bool begun = false;
	u32 i;

	fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" d=\"",
		proposed ? "#1f77b4" : "#d95f02");
	for (i = 0; i + 1 < r->intervals; i++) {
		double v = proposed ? r->interval[i].proposed : r->interval[i].actual;

		if (!(v > 0))
			continue;
		fprintf(f, "%s%.1f %.1f ", begun ? "L" : "M",
			LEFT + INNER_W * i / (r->intervals - 1), TOP + INNER_H * (1 - v / top));
		begun = true;
	}
	fprintf(f, "\"/>\n");
}

/**
 * svg_write() - draw the intervals of the schedule dfs
 * @j: the job, done
 * @f: where to
 */
void svg_write(const struct job *j, FILE *f)
{
	const struct sim_result *r = &j->res[SIM_DFS];
	double top = top_of(r);
	u32 i;

	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", WIDTH, HEIGHT);
	for (i = 0; i <= 4; i++) {
		double y = TOP + INNER_H * (1 - i / 4.0);

		fprintf(f, "<path stroke=\"#dddddd\" d=\"M%g %gH%g\"/>\n", LEFT, y, LEFT + INNER_W);
		fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%.3g</text>\n", LEFT - 6,
			y + 4, top * i / 4 / 1e6);
	}
	for (i = 0; i < r->intervals; i += 1 + r->intervals / 10)
		fprintf(f, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%u</text>\n",
			LEFT + INNER_W * i / (r->intervals - 1), TOP + INNER_H + 18, i);
	fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">interval</text>\n",
		LEFT + INNER_W / 2, HEIGHT - 12);
	fprintf(f, "<text x=\"%g\" y=\"18\">duration, ms; <tspan fill=\"#1f77b4\">proposed</tspan>, "
		"<tspan fill=\"#d95f02\">actual</tspan></text>\n", LEFT);
	line(f, r, true, top);
	line(f, r, false, top);
	fprintf(f, "</svg>\n");
}
