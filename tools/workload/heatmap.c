// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures of matrices: characters for a terminal, or SVG.  Cells are shaded by
 * the square root of their share of the largest, so that short messages can be
 * seen beside long ones; several hosts share a cell when there are many.
 */
#include <math.h>
#include <stdlib.h>

#include "heatmap.h"

#define SHADES		16
#define SVG_SIZE	480

/**
 * struct picture - a matrix reduced to few cells
 * @cells: in each direction
 * @shade: 0 (empty) to SHADES
 * @most: bytes of the fullest cell
 */
struct picture {
	unsigned int cells;
	unsigned char *shade;
	uint64_t most;
};

static int picture_make(struct picture *p, const struct matrix *m, unsigned int most,
			struct wl_error *err)
{
	unsigned int n = m->n, i, j, c;
	uint64_t *sum;
	size_t k;

	c = n < most ? n : most;
	p->cells = c;
	p->most = 0;
	p->shade = malloc((size_t)c * c);
	sum = calloc((size_t)c * c, sizeof(*sum));
	if (!p->shade || !sum) {
		free(p->shade);
		free(sum);
		wl_error_set(err, "out of memory for a picture");
		return -1;
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			sum[(size_t)i * c / n * c + (size_t)j * c / n] += matrix_len(m, i, j);
	for (k = 0; k < (size_t)c * c; k++)
		p->most = sum[k] > p->most ? sum[k] : p->most;
	for (k = 0; k < (size_t)c * c; k++)
		p->shade[k] = sum[k] ? 1 + (SHADES - 1) * sqrt((double)sum[k] / p->most) : 0;
	free(sum);
	return 0;
}

/**
 * heatmap_text - a matrix as characters
 * @m: the matrix
 * @cells: at most so many rows and columns
 * @f: where to
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 without memory.
 */
int heatmap_text(const struct matrix *m, unsigned int cells, FILE *f, struct wl_error *err)
{
	static const char chars[] = " .:-=+*#%@";
	struct picture p;
	unsigned int i, j;

	if (picture_make(&p, m, cells, err))
		return -1;
	fprintf(f, "%u senders down, receivers across; '@' is %llu bytes\n", m->n,
		(unsigned long long)p.most);
	for (i = 0; i < p.cells; i++) {
		putc('|', f);
		for (j = 0; j < p.cells; j++) {
			unsigned int s = p.shade[(size_t)i * p.cells + j];
			char c = chars[s ? 1 + (s - 1) * 8 / (SHADES - 1) : 0];

			/* A character is about twice as high as it is wide. */
			putc(c, f);
			putc(c, f);
		}
		fputs("|\n", f);
	}
	free(p.shade);
	return 0;
}

/**
 * heatmap_svg - a matrix as SVG
 * @m: the matrix
 * @title: shown above
 * @cells: at most so many rows and columns
 * @f: where to
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 without memory.
 */
int heatmap_svg(const struct matrix *m, const char *title, unsigned int cells, FILE *f,
		struct wl_error *err)
{
	unsigned int i, j, s, run;
	struct picture p;

	if (picture_make(&p, m, cells, err))
		return -1;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
		SVG_SIZE + 40, SVG_SIZE + 60);
	fputs("<text x=\"30\" y=\"16\">", f);
	for (; *title; title++) {
		if (*title == '<' || *title == '&' || *title == '>')
			fprintf(f, "&#%d;", *title);
		else
			putc(*title, f);
	}
	fprintf(f, "</text>\n<text x=\"30\" y=\"%d\">receivers; darkest: %llu bytes</text>\n",
		SVG_SIZE + 50, (unsigned long long)p.most);
	fprintf(f, "<text transform=\"translate(20 %d) rotate(-90)\">senders</text>\n", SVG_SIZE);
	fprintf(f, "<g transform=\"translate(30 26) scale(%.6g)\" shape-rendering=\"crispEdges\">\n",
		(double)SVG_SIZE / p.cells);
	fprintf(f, "<rect width=\"%u\" height=\"%u\" fill=\"#fff\" stroke=\"#999\" stroke-width=\".05\"/>\n",
		p.cells, p.cells);
	/* One path for each shade; equal neighbours in a row are one piece. */
	for (s = 1; s <= SHADES; s++) {
		unsigned int red = 235 - 227 * s / SHADES, green = 242 - 194 * s / SHADES;

		fprintf(f, "<path fill=\"#%02x%02x%02x\" d=\"", red, green, 250 - 143 * s / SHADES);
		for (i = 0; i < p.cells; i++) {
			for (j = 0; j < p.cells; j += run) {
				const unsigned char *at = p.shade + (size_t)i * p.cells + j;

				for (run = 1; j + run < p.cells && at[run] == *at; run++)
					;
				if (*at == s)
					fprintf(f, "M%u %uh%uv1h-%uz", j, i, run, run);
			}
		}
		fputs("\"/>\n", f);
	}
	fputs("</g>\n</svg>\n", f);
	free(p.shade);
	return 0;
}
