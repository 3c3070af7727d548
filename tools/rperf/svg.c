// SPDX-License-Identifier: GPL-2.0-or-later
/* Percentiles as a picture: latency over 1/(1 - percentile), a line for each instance. */
#include <math.h>

#include "rperf.h"

#define LEFT	70.0
#define TOP	30.0
#define WIDTH	560.0
#define HEIGHT	320.0
#define STEPS	10U		/* points of a line for each decade */

static const char *const colours[] = {
	"#1f77b4", "#d95f02", "#2ca02c", "#7a3fa0", "#8c564b", "#e377c2", "#7f7f7f", "#17becf",
};

static void text(FILE *f, double x, double y, const char *anchor, const char *s)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	for (; *s; s++) {
		if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '&')
			fputs("&amp;", f);
		else
			fputc(*s, f);
	}
	fputs("</text>\n", f);
}

static void axes(FILE *f, unsigned int decades, double top)
{
	static const char *const names[] = { "0", "90", "99", "99.9", "99.99", "99.999",
					     "99.9999", "99.99999" };
	unsigned int i;
	char buf[32];
	double at;

	for (i = 0; i <= decades && i < sizeof(names) / sizeof(*names); i++) {
		at = LEFT + WIDTH * i / decades;
		fprintf(f, "<path d=\"M%.1f %.1fV%.1f\" class=\"grid\"/>\n", at, TOP, TOP + HEIGHT);
		text(f, at, TOP + HEIGHT + 18, "middle", names[i]);
	}
	for (i = 0; i <= 5; i++) {
		at = TOP + HEIGHT * (1 - i / 5.0);
		fprintf(f, "<path d=\"M%.1f %.1fH%.1f\" class=\"grid\"/>\n", LEFT, at,
			LEFT + WIDTH);
		snprintf(buf, sizeof(buf), "%.4g", top * i / 5 / 1e3);
		text(f, LEFT - 6, at + 4, "end", buf);
	}
	text(f, LEFT + WIDTH / 2, TOP + HEIGHT + 36, "middle", "percentile");
	text(f, LEFT - 6, TOP - 12, "end", "us");
}

static void line(FILE *f, const struct times *t, const char *colour, unsigned int decades,
		 double top)
{
	double x, v, q;
	unsigned int i;

	fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", colour);
	for (i = 0; i <= decades * STEPS; i++) {
		q = 1 - pow(10, -(double)i / STEPS);
		x = LEFT + WIDTH * i / (decades * STEPS);
		v = (double)times_quantile(t, q);
		v = v < 0 ? 0 : v > top ? top : v;
		fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', x, TOP + HEIGHT * (1 - v / top));
	}
	fputs("\"/>\n", f);
}

/**
 * report_svg() - draw the percentiles
 * @job: after the run
 * @f: file
 */
void report_svg(const struct job *job, FILE *f)
{
	unsigned int k, decades = 1, rows = job->n < 20 ? job->n : 20;
	uint64_t most = 0;
	double top = 1;

	for (k = 0; k < job->n; k++) {
		const struct times *t = &job->inst[k].total.rtt;

		most = times_n(t) > most ? times_n(t) : most;
		top = (double)t->max > top ? (double)t->max : top;
	}
	while (decades < 7 && pow(10, decades) < (double)most)
		decades++;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<style>.grid{stroke:#ccc;fill:none}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		LEFT + WIDTH + 20, TOP + HEIGHT + 50 + 16 * rows);
	axes(f, decades, top);
	for (k = 0; k < job->n; k++) {
		const char *colour = colours[k % (sizeof(colours) / sizeof(*colours))];

		line(f, &job->inst[k].total.rtt, colour, decades, top);
		if (k >= rows)
			continue;
		fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"3\" fill=\"%s\"/>\n",
			LEFT, TOP + HEIGHT + 50 + 16 * k, colour);
		text(f, LEFT + 20, TOP + HEIGHT + 55 + 16 * k, "start", job->inst[k].name);
	}
	fputs("</svg>\n", f);
}
