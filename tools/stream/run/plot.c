// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-stream plot: the source's figures from logs (--json --log FILE), as SVG. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define WIDTH	720.0
#define HEIGHT	200.0	/* of a panel */
#define LEFT	80.0
#define INNER_W	(WIDTH - LEFT - 20)
#define INNER_H	(HEIGHT - 60)
#define MOST	100000	/* intervals */

/**
 * struct sum - the mean of what logs say of an interval
 * @total: sum
 * @n: of so many
 */
struct sum {
	double	total;
	u32	n;
};

enum { ACTUAL, PROPOSED, GAP, FILL, RATE, VALUES };

/**
 * struct panel - a picture
 * @title: above it
 * @value: what is drawn
 * @other: and beside it, VALUES: nothing
 * @scale: of the numbers at the axis
 */
static const struct panel {
	const char	*title;
	int		value;
	int		other;
	double		scale;
} panels[] = {
	{ "duration of an interval, ms: actual; proposed (source: figure 8)", ACTUAL, PROPOSED,
	  0.000001 },
	{ "first to last piece of a time-slice, median, ms (figure 6)", GAP, VALUES,
	  0.000001 },
	{ "tickets in use at builders, 95th percentile, % (figure 9)", FILL, VALUES, 100 },
	{ "rate of a builder, Gb/s (figure 7)", RATE, VALUES, 1 },
};

struct logs {
	struct sum	*v[VALUES];
	u32		intervals;
};

static bool number(const char *line, const char *key, double *v)
{
	const char *p = strstr(line, key);

	if (!p)
		return false;
	*v = strtod(p + strlen(key), NULL);
	return true;
}

static void add(struct logs *l, int value, u32 interval, const char *line, const char *key)
{
	double v;

	if (!number(line, key, &v))
		return;
	l->v[value][interval].total += v;
	l->v[value][interval].n++;
}

static void read_log(struct logs *l, const char *file)
{
	FILE *f = fopen(file, "r");
	unsigned int at = 0;
	char line[1000];
	double j;

	if (!f)
		die("%s: %s", file, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		at++;
		if (line[0] != '{')
			die("%s:%u: no line of a log that --json has made", file, at);
		if (!number(line, "\"interval\": ", &j))
			continue;
		if (j < 0 || j >= MOST)
			die("%s:%u: interval %g: at most %d are drawn", file, at, j, MOST);
		if ((u32)j >= l->intervals)
			l->intervals = (u32)j + 1;
		if (strstr(line, "{\"input\"")) {
			add(l, ACTUAL, (u32)j, line, "\"actual_ns\": ");
			add(l, PROPOSED, (u32)j, line, "\"proposed_ns\": ");
		} else {
			add(l, GAP, (u32)j, line, "\"gap_p50_ns\": ");
			add(l, FILL, (u32)j, line, "\"fill_p95\": ");
			add(l, RATE, (u32)j, line, "\"gbit\": ");
		}
	}
	if (ferror(f))
		die("%s: %s", file, strerror(errno));
	fclose(f);
}

static double mean(const struct sum *s)
{
	return s->n ? s->total / s->n : 0;
}

static double top_of(const struct logs *l, const struct panel *p)
{
	double top = 0;
	u32 i;

	for (i = 0; i < l->intervals; i++) {
		double v = mean(&l->v[p->value][i]);
		double w = p->other < VALUES ? mean(&l->v[p->other][i]) : 0;

		top = v > top ? v : top;
		top = w > top ? w : top;
	}
	return top > 0 ? top * 1.1 : 1;
}

static void draw_line(FILE *f, const struct logs *l, int value, double y0, double top,
		      const char *color)
{
	u32 i, last = l->intervals > 1 ? l->intervals - 1 : 1;
	bool begun = false;

	fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", color);
	for (i = 0; i < l->intervals; i++) {
		double v = mean(&l->v[value][i]);

		if (!l->v[value][i].n || !(v > 0))
			continue;
		fprintf(f, "%s%.1f %.1f ", begun ? "L" : "M", LEFT + INNER_W * i / last,
			y0 + INNER_H * (1 - v / top));
		begun = true;
	}
	fprintf(f, "\"/>\n");
}

static void draw_panel(FILE *f, const struct logs *l, const struct panel *p, double y0)
{
	double top = top_of(l, p);
	u32 i;

	fprintf(f, "<text x=\"%g\" y=\"%g\">%s</text>\n", LEFT, y0 - 8, p->title);
	for (i = 0; i <= 4; i++) {
		double y = y0 + INNER_H * (1 - i / 4.0);

		fprintf(f, "<path stroke=\"#dddddd\" d=\"M%g %gH%g\"/>\n"
			"<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%.3g</text>\n", LEFT, y,
			LEFT + INNER_W, LEFT - 6, y + 4, top * i / 4 * p->scale);
	}
	for (i = 0; i < l->intervals; i += 1 + l->intervals / 10)
		fprintf(f, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%u</text>\n",
			LEFT + INNER_W * i / (l->intervals > 1 ? l->intervals - 1 : 1),
			y0 + INNER_H + 16, i);
	if (p->other < VALUES)
		draw_line(f, l, p->other, y0, top, "#1f77b4");
	draw_line(f, l, p->value, y0, top, "#d95f02");
}

static void draw(const struct logs *l, FILE *f)
{
	size_t i, n = sizeof(panels) / sizeof(panels[0]);

	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", WIDTH,
		HEIGHT * (double)n + 10);
	for (i = 0; i < n; i++)
		draw_panel(f, l, &panels[i], HEIGHT * (double)i + 30);
	fprintf(f, "</svg>\n");
}

/**
 * run_plot() - draw logs
 * @argc: arguments: "plot", options, logs
 * @argv: likewise
 *
 * Return: status of the program.
 */
int run_plot(int argc, char **argv)
{
	const char *to = NULL;
	struct logs l = { 0 };
	FILE *f;
	int bad;
	int i;

	while ((i = getopt(argc, argv, "o:")) != -1) {
		if (i != 'o')
			die("plot: -o FILE LOG... is expected");
		to = optarg;
	}
	if (!to || optind == argc)
		die("plot: -o FILE LOG... is expected");
	for (i = 0; i < VALUES; i++)
		l.v[i] = memory(MOST, sizeof(*l.v[i]));
	for (i = optind; i < argc; i++)
		read_log(&l, argv[i]);
	if (!l.intervals)
		die("plot: the logs have no interval");
	f = fopen(to, "w");
	if (!f)
		die("%s: %s", to, strerror(errno));
	draw(&l, f);
	bad = ferror(f);
	if (fclose(f) || bad)
		die("%s: %s", to, strerror(errno));
	for (i = 0; i < VALUES; i++)
		free(l.v[i]);
	return 0;
}
