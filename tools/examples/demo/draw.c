// SPDX-License-Identifier: GPL-2.0-or-later
/* The time line of every host: as text, and as SVG. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

#define COLUMNS	80	/* of the time axis; with the labels under 100 */

/* How much of the link is in use, from nothing to all. */
static const char shades[] = " .:-=+*#";

static void draw_line(const struct demo *demo, const struct result *res,
		      const struct curve *curve, double end)
{
	double link = demo->mbps * 1e6 / 8;
	char line[COLUMNS + 1];
	int levels, i;

	levels = strlen(shades) - 1;
	for (i = 0; i < COLUMNS; i++) {
		double use = curve_rate(curve, end * i / COLUMNS, end * (i + 1) / COLUMNS) / link;
		int level = use * levels + 0.5;

		if (!level && use > 0.01)
			level = 1;
		line[i] = shades[level < 0 ? 0 : level > levels ? levels : level];
	}
	line[COLUMNS] = '\0';
	i = res->completion / end * COLUMNS;
	if (i < COLUMNS && line[i] == ' ')
		line[i] = '|';
	printf("%s\n", line);
}

void draw_text(const struct demo *demo, const struct result *res)
{
	double end = demo_end(demo);
	unsigned int host;
	char right[32];

	if (end <= 0)
		return;
	snprintf(right, sizeof(right), "%.3f s", end);
	printf("\n%s: use of each host's link, out and in (none \"%s\" full, \"|\" last message)\n",
	       res->title, shades);
	printf("               0%*s\n", COLUMNS - 1, right);
	for (host = 0; host < demo->hosts; host++) {
		printf("  host %-2u  out  ", host);
		draw_line(demo, res, &res->out[host], end);
		printf("           in  ");
		draw_line(demo, res, &res->in[host], end);
	}
}

#define LEFT	90
#define WIDTH	860
#define RIGHT	30
#define ROW	44	/* per host: half for out, half for in */
#define HEAD	66
#define BINS	430

/* An area: out above the middle line of its host, in below. */
static void svg_area(FILE *f, const struct demo *demo, const struct curve *curve, double end,
		     double y, int sign, const char *colour)
{
	double link = demo->mbps * 1e6 / 8;
	double height = ROW / 2.0 - 3;
	int i;

	fprintf(f, "<path fill=\"%s\" d=\"M%d %.1f", colour, LEFT, y);
	for (i = 0; i < BINS; i++) {
		double from = LEFT + (double)WIDTH * i / BINS;
		double to = LEFT + (double)WIDTH * (i + 1) / BINS;
		double use;

		use = curve_rate(curve, end * i / BINS, end * (i + 1) / BINS) / link;
		if (use > 1)
			use = 1;
		if (use < 0)
			use = 0;
		fprintf(f, "L%.1f %.1fL%.1f %.1f", from, y - sign * use * height,
			to, y - sign * use * height);
	}
	fprintf(f, "L%d %.1fZ\"/>\n", LEFT + WIDTH, y);
}

static void svg_mark(FILE *f, double t, double end, double top, double bottom,
		     const char *colour, const char *text)
{
	double x = LEFT + WIDTH * t / end;

	fprintf(f, "<path stroke=\"%s\" stroke-dasharray=\"4 3\" fill=\"none\" d=\"M%.1f %.1fV%.1f\"/>\n",
		colour, x, top, bottom);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"%s\">%s</text>\n",
		x - 3, top + 8, colour, text);
}

static double svg_panel(FILE *f, const struct demo *demo, const struct result *res, double end,
			double y)
{
	double top = y + HEAD, bottom = top + ROW * demo->hosts;
	unsigned int host;
	char text[64];
	int i;

	fprintf(f, "<text x=\"%d\" y=\"%.1f\" font-size=\"16\" font-weight=\"bold\">%s</text>\n",
		LEFT, y + 24, res->title);
	fprintf(f, "<text x=\"%d\" y=\"%.1f\">%.3f s, slowdown %.2f, %u of %u messages verified</text>\n",
		LEFT + 120, y + 24, res->completion, res->completion / demo->bound,
		res->verified, demo->hosts * demo->hosts);
	for (host = 0; host < demo->hosts; host++) {
		double middle = top + ROW * host + ROW / 2.0;

		fprintf(f, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">host %u</text>\n",
			LEFT - 10, middle + 4, host);
		svg_area(f, demo, &res->out[host], end, middle, 1, "#2f6fb0");
		svg_area(f, demo, &res->in[host], end, middle, -1, "#d98a2b");
		fprintf(f, "<path stroke=\"#999\" d=\"M%d %.1fh%d\"/>\n", LEFT, middle, WIDTH);
	}
	for (i = 0; i <= 10; i++)
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#555\">%.2f</text>\n",
			LEFT + WIDTH * i / 10.0, bottom + 16, end * i / 10);
	svg_mark(f, demo->bound, end, top - 26, bottom, "#2a8a3a", "lower bound");
	snprintf(text, sizeof(text), "last message");
	svg_mark(f, res->completion, end, top - 14, bottom, "#b03030", text);
	return bottom + 24;
}

void draw_svg(const struct demo *demo, const char *path)
{
	double end = demo_end(demo) * 1.01;
	int height = 80, i;
	double y = 60;
	FILE *f;

	if (end <= 0)
		return;
	for (i = 0; i < 2; i++)
		if (demo->result[i].present)
			height += HEAD + ROW * demo->hosts + 24;
	f = fopen(path, "we");
	if (!f)
		err(1, "cannot create %s", path);
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n", LEFT + WIDTH + RIGHT, height);
	fprintf(f, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
	fprintf(f, "<text x=\"%d\" y=\"24\">%u hosts, %.1f MB, links of %.0f Mb/s, Linux %s. "
		"Emulated: only ratios count.</text>\n", LEFT, demo->hosts,
		demo->payload / 1e6, demo->mbps, demo->kernel);
	fprintf(f, "<rect x=\"%d\" y=\"36\" width=\"12\" height=\"12\" fill=\"#2f6fb0\"/>"
		"<text x=\"%d\" y=\"46\">out</text>\n", LEFT, LEFT + 18);
	fprintf(f, "<rect x=\"%d\" y=\"36\" width=\"12\" height=\"12\" fill=\"#d98a2b\"/>"
		"<text x=\"%d\" y=\"46\">in (full height: the link rate); time in seconds</text>\n",
		LEFT + 60, LEFT + 78);
	for (i = 0; i < 2; i++)
		if (demo->result[i].present)
			y = svg_panel(f, demo, &demo->result[i], end, y);
	fprintf(f, "</svg>\n");
	if (fclose(f))
		err(1, "cannot write %s", path);
}
