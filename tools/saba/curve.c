// SPDX-License-Identifier: GPL-2.0-or-later
/* Slowdown by bandwidth as an SVG: what was measured, lines between, and polynomials. */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "program.h"

#define WIDTH	480
#define HEIGHT	320
#define LEFT	52
#define RIGHT	12
#define TOP	28
#define BOTTOM	44
#define STEPS	95

static double x_of(double b)
{
	return LEFT + b * (WIDTH - LEFT - RIGHT);
}

static double y_of(double d, double most)
{
	return HEIGHT - BOTTOM - d / most * (HEIGHT - TOP - BOTTOM);
}

static void axes(FILE *f, const char *name, double most)
{
	double step = most <= 5 ? 1 : most <= 12 ? 2 : most <= 25 ? 5 : most / 5, d;
	unsigned int i;

	fprintf(f, "<text x=\"%d\" y=\"18\" font-size=\"14\">%s</text>\n", LEFT, name);
	for (d = 0; d <= most; d += step)
		fprintf(f, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", LEFT,
			WIDTH - RIGHT, y_of(d, most), y_of(d, most), LEFT - 6,
			y_of(d, most) + 4, d);
	for (i = 0; i <= 100; i += 25)
		fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>\n",
			x_of(i / 100.), HEIGHT - BOTTOM + 16, i);
	fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">bandwidth, %% of the link "
		"rate</text>\n<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">"
		"slowdown</text>\n", (WIDTH + LEFT) / 2, HEIGHT - 10, HEIGHT / 2);
}

/**
 * curve_draw() - draw an application's samples and models
 * @file: name of the SVG
 * @app: application, with a sample at 100 %
 *
 * Return: 0, or -errno after a message.
 */
int curve_draw(const char *file, const struct table_app *app)
{
	static const char *const colour[] = { "#999", "#c44", "#48c", "#282" };
	double b[SABA_POINTS], d[SABA_POINTS], most = 2;
	unsigned int n = table_slowdowns(app, b, d), i, k;
	FILE *f = fopen(file, "we");

	if (!f) {
		i = errno;
		ctl_error("%s: %s", file, strerror(i));
		return -(int)i;
	}
	for (i = 0; i < n; i++)
		if (d[i] * 1.1 > most)
			most = d[i] * 1.1;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", WIDTH, HEIGHT);
	axes(f, app->name, most);
	for (k = 0; k <= SABA_DEGREE; k++) {
		struct saba_model m;

		if (table_model(app, k, &m))
			continue;
		fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" points=\"", colour[k]);
		for (i = 0; i <= STEPS; i++) {
			double at = (i + 100 - STEPS) / 100., v = saba_slowdown(&m, at);

			fprintf(f, "%.1f,%.1f ", x_of(at),
				y_of(v < 0 ? 0 : v > most ? most : v, most));
		}
		fprintf(f, "\"/>\n");
		if (k)
			fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"%s\">k = %u, R² = %.3f</text>\n",
				WIDTH - 130, TOP + 16 * (int)k, colour[k], k, m.r2);
	}
	for (i = 0; i < n; i++)
		fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", x_of(b[i]),
			y_of(d[i], most));
	fprintf(f, "</svg>\n");
	if (fclose(f)) {
		i = errno;
		ctl_error("%s: %s", file, strerror(i));
		return -(int)i;
	}
	return 0;
}
