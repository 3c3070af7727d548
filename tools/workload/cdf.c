// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random distributions of message lengths (5.2, Figures 5.6 and 5.7), in units
 * of the mean message, classified by mean and standard deviation.
 *
 * The source says: n points uniform on both axes.  Almost all such distributions
 * have a mean far above 1, so that a row is a few long messages: low skewness
 * would never be met.  Here half of the distributions are drawn within a window:
 * x in an interval of random position and width (on a logarithmic scale), and
 * with a random share left for the step to n.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"

#define MAX_POINTS	8
#define MEAN_CELLS	8
#define DEV_CELLS	8
#define CELLS		(MEAN_CELLS * DEV_CELLS)
#define PER_CELL	6	/* distributions that every cell should have */
#define SKEW_BUCKETS	20
#define PER_BUCKET	24	/* and those that lead to every interval of skewness */
#define MAX_DRAWS	40000
#define SAMPLED_ROWS	6
#define LOWEST_MEAN	0.25
#define LEAST_REST	(1.0 / (1 << 23))

/**
 * struct wl_cdf - a distribution of message lengths on (0, hosts]
 * @points: number of points between (0, 0) and (hosts, 1)
 * @curve: straight lines between the points; otherwise steps
 * @hosts: largest length
 * @x: lengths, ascending
 * @y: probability of at most x
 * @mean: mean
 * @dev: standard deviation
 * @cell: which interval of mean and of standard deviation
 * @skewness: what a matrix of rows sampled from it has, before placement
 */
struct wl_cdf {
	unsigned int points;
	bool curve;
	unsigned int hosts;
	double x[MAX_POINTS], y[MAX_POINTS];
	double mean, dev;
	unsigned int cell;
	double skewness;
};

/**
 * struct wl_cdfs - distributions to choose from
 * @count: how many
 * @cdf: the distributions
 * @in_cell: how many there are in each cell
 * @in_bucket: how many lead to each interval of skewness
 */
struct wl_cdfs {
	unsigned int count;
	struct wl_cdf cdf[CELLS * PER_CELL + SKEW_BUCKETS * PER_BUCKET];
	unsigned int in_cell[CELLS];
	unsigned int in_bucket[SKEW_BUCKETS];
};

static void sort_doubles(double *v, unsigned int n)
{
	unsigned int i, j;

	for (i = 1; i < n; i++) {
		double x = v[i];

		for (j = i; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* Between a and b, small numbers as likely as large ones */
static double log_uniform(struct wl_rng *r, double a, double b)
{
	return a * wl_exp(wl_rng_unit(r) * wl_log(b / a));
}

static void cdf_moments(struct wl_cdf *c)
{
	double x0 = 0, y0 = 0, first = 0, second = 0;
	unsigned int i;

	for (i = 0; i <= c->points; i++) {
		double x1 = i < c->points ? c->x[i] : c->hosts;
		double y1 = i < c->points ? c->y[i] : 1;

		if (c->curve) {
			first += (y1 - y0) * (x0 + x1) / 2;
			second += (y1 - y0) * (x0 * x0 + x0 * x1 + x1 * x1) / 3;
		} else {
			first += (y1 - y0) * x1;
			second += (y1 - y0) * x1 * x1;
		}
		x0 = x1;
		y0 = y1;
	}
	c->mean = first;
	second -= first * first;
	c->dev = second > 0 ? sqrt(second) : 0;
}

static unsigned int interval(double x, double lo, double hi, unsigned int count)
{
	int i = (x - lo) / (hi - lo) * count;

	if (i < 0)
		return 0;
	return (unsigned int)i < count ? (unsigned int)i : count - 1;
}

static void cdf_random(struct wl_cdf *c, unsigned int n, struct wl_rng *r)
{
	double lo = 0, hi = n, rest = 1, most;
	unsigned int i, cell;

	c->hosts = n;
	c->points = 1 + wl_rng_below(r, MAX_POINTS);
	c->curve = wl_rng_below(r, 2);
	if (wl_rng_below(r, 2)) {
		double centre = log_uniform(r, LOWEST_MEAN, n), width;

		width = log_uniform(r, 0.05, 4);
		lo = centre * wl_exp(-width);
		hi = centre * wl_exp(width);
		if (hi > n)
			hi = n;
		/* Nearly nothing left for the last step as likely as much. */
		rest = log_uniform(r, LEAST_REST, 1);
	}
	for (i = 0; i < c->points; i++) {
		c->x[i] = lo + (hi - lo) * wl_rng_unit(r);
		c->y[i] = wl_rng_unit(r);
	}
	sort_doubles(c->x, c->points);
	sort_doubles(c->y, c->points);
	if (rest < 1) {
		most = c->y[c->points - 1];
		for (i = 0; i < c->points; i++)
			c->y[i] *= (1 - rest) / most;
		/* A curve would otherwise begin at 0 and not in the window. */
		if (c->curve && c->points > 1)
			c->y[0] *= rest;
	}
	cdf_moments(c);
	/* Both in intervals of one size: the mean on a logarithmic scale, the
	 * deviation relative to the largest that the mean allows.
	 */
	cell = interval(wl_log(c->mean), wl_log(LOWEST_MEAN), wl_log(n), MEAN_CELLS);
	most = sqrt(c->mean * (n - c->mean));
	c->cell = cell * DEV_CELLS + interval(c->dev, 0, most, DEV_CELLS);
}

/**
 * wl_cdf_sample - one length
 * @c: the distribution
 * @r: random numbers
 * @unit: bytes of a length of 1
 *
 * Return: bytes, rounded down.
 */
uint64_t wl_cdf_sample(const struct wl_cdf *c, struct wl_rng *r, double unit)
{
	double u = wl_rng_unit(r), x0, x1, y0, y1;
	unsigned int i = 0;

	while (i < c->points && u >= c->y[i])
		i++;
	x1 = i < c->points ? c->x[i] : c->hosts;
	if (!c->curve)
		return x1 * unit;
	y1 = i < c->points ? c->y[i] : 1;
	x0 = i ? c->x[i - 1] : 0;
	y0 = i ? c->y[i - 1] : 0;
	return (x0 + (x1 - x0) * ((u - y0) / (y1 - y0))) * unit;
}

/* From a few rows; placement changes little. */
static void cdf_foretell(struct wl_cdf *c, uint64_t *v, struct wl_rng *r)
{
	unsigned int n = c->hosts, i, j;
	uint64_t row = (uint64_t)n << 20;
	double squares = 0;

	for (i = 0; i < SAMPLED_ROWS; i++) {
		wl_general_row(c, v, n, row, r);
		for (j = 0; j < n; j++)
			squares += ((double)v[j] / row) * ((double)v[j] / row);
	}
	squares = (squares * n / SAMPLED_ROWS - 1) / (n - 1);
	c->skewness = squares > 0 ? sqrt(squares) : 0;
}

/**
 * wl_cdfs_new - distributions with all means and standard deviations
 * @n: hosts
 * @seed: of the random numbers
 * @err: set on failure, may be NULL
 *
 * Draws until each of 64 cells and each interval of skewness has enough, or
 * until there is no hope.
 *
 * Return: the set, for wl_cdfs_free(); read-only and so for any number of
 * threads; or NULL.
 */
struct wl_cdfs *wl_cdfs_new(unsigned int n, uint64_t seed, struct wl_error *err)
{
	unsigned int draw, open = CELLS + SKEW_BUCKETS;
	struct wl_cdfs *set;
	struct wl_rng r;
	uint64_t *v;

	if (n < 2 || n > MATRIX_MAX_HOSTS) {
		wl_error_set(err, "%u hosts: a matrix has 2 to %u", n, MATRIX_MAX_HOSTS);
		return NULL;
	}
	set = calloc(1, sizeof(*set));
	v = malloc(n * sizeof(*v));
	if (!set || !v) {
		free(set);
		free(v);
		wl_error_set(err, "out of memory for %u hosts", n);
		return NULL;
	}
	wl_rng_init(&r, wl_rng_mix(seed, n, 0xcdf));
	for (draw = 0; draw < MAX_DRAWS && open; draw++) {
		struct wl_cdf c;
		unsigned int b;

		cdf_random(&c, n, &r);
		cdf_foretell(&c, v, &r);
		b = interval(c.skewness, 0, 1, SKEW_BUCKETS);
		if (set->in_cell[c.cell] >= PER_CELL && set->in_bucket[b] >= PER_BUCKET)
			continue;
		open -= ++set->in_cell[c.cell] == PER_CELL;
		open -= ++set->in_bucket[b] == PER_BUCKET;
		set->cdf[set->count++] = c;
	}
	free(v);
	return set;
}

/**
 * wl_cdfs_free - give a set back
 * @set: the set, may be NULL
 */
void wl_cdfs_free(struct wl_cdfs *set)
{
	free(set);
}

static bool cdf_fits(const struct wl_cdf *c, const struct wl_spec *spec, double slack)
{
	if (spec->skew_hi > 0)
		return c->skewness >= spec->skew_lo - slack && c->skewness < spec->skew_hi + slack;
	return (!(spec->mean_hi > 0) || (c->mean >= spec->mean_lo && c->mean < spec->mean_hi)) &&
	       (!(spec->dev_hi > 0) || (c->dev >= spec->dev_lo && c->dev < spec->dev_hi));
}

/**
 * wl_cdfs_pick - a distribution for a matrix
 * @set: to choose from
 * @spec: wanted skewness, or mean and standard deviation
 * @r: random numbers
 *
 * All cells that have a fitting distribution are equally likely, then all of
 * those in the cell.
 *
 * Return: the distribution, or NULL if none fits.
 */
const struct wl_cdf *wl_cdfs_pick(const struct wl_cdfs *set, const struct wl_spec *spec,
				  struct wl_rng *r)
{
	unsigned int fitting[CELLS], cells, i, cell, which;
	double slack = 0;

	do {
		for (i = 0; i < CELLS; i++)
			fitting[i] = 0;
		for (i = 0, cells = 0; i < set->count; i++)
			if (cdf_fits(&set->cdf[i], spec, slack))
				cells += !fitting[set->cdf[i].cell]++;
		slack += 0.01;
		/* An interval may be narrower than they are dense. */
	} while (!cells && spec->skew_hi > 0 && slack < 2);
	if (!cells)
		return NULL;
	slack -= 0.01;
	which = wl_rng_below(r, cells);
	for (cell = 0; which || !fitting[cell]; cell++)
		which -= fitting[cell] > 0;
	which = wl_rng_below(r, fitting[cell]);
	for (i = 0;; i++)
		if (set->cdf[i].cell == cell && cdf_fits(&set->cdf[i], spec, slack) && !which--)
			return &set->cdf[i];
}

/**
 * wl_cdfs_print - a set of distributions
 * @set: the set
 * @json: as JSON
 * @f: where to
 */
void wl_cdfs_print(const struct wl_cdfs *set, bool json, FILE *f)
{
	unsigned int i, k, cells = 0;
	char text[96];

	for (i = 0; i < CELLS; i++)
		cells += set->in_cell[i] > 0;
	if (json)
		fprintf(f, "{\"hosts\": %u, \"cells\": %d, \"filled\": %u, \"distributions\": [",
			set->cdf[0].hosts, CELLS, cells);
	else
		fprintf(f, "%u hosts: %u distributions in %u of %d cells of mean and stddev\n",
			set->cdf[0].hosts, set->count, cells, CELLS);
	for (i = 0; i < set->count; i++) {
		const struct wl_cdf *c = &set->cdf[i];

		if (!json) {
			wl_cdf_describe(c, text, sizeof(text));
			fprintf(f, "cell %u.%u  skewness about %.3f  %s\n", c->cell / DEV_CELLS,
				c->cell % DEV_CELLS, c->skewness, text);
			continue;
		}
		fprintf(f, "%s\n{\"mean\": %.9g, \"stddev\": %.9g, \"cell\": [%u, %u], ",
			i ? "," : "", c->mean, c->dev, c->cell / DEV_CELLS, c->cell % DEV_CELLS);
		fprintf(f, "\"skewness\": %.6g, \"form\": \"%s\", \"points\": [", c->skewness,
			c->curve ? "curve" : "steps");
		for (k = 0; k < c->points; k++)
			fprintf(f, "%s[%.9g, %.9g]", k ? ", " : "", c->x[k], c->y[k]);
		fputs("]}", f);
	}
	if (json)
		fputs("\n]}\n", f);
}

/**
 * wl_cdf_describe - a distribution in words
 * @c: the distribution
 * @text: where to
 * @size: room there
 */
void wl_cdf_describe(const struct wl_cdf *c, char *text, size_t size)
{
	snprintf(text, size, "%u-point %s, mean %.3f, stddev %.3f", c->points,
		 c->curve ? "curve" : "steps", c->mean, c->dev);
}
