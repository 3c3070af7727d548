// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sort-based generator (5.1): every host holds 100 n keys, the sorted keys
 * are cut into n equal parts.  Equal keys are in the order of their hosts, so
 * skewness comes from keys that many hosts hold.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

#define KEYS_PER_HOST	100		/* times n */
#define MAX_VALUES	65536
#define MAX_WEIGHT	(1 << 24)
#define MAX_TRIES	40		/* distributions for one matrix */

/**
 * struct part - one component of a distribution of keys
 * @keys: uniform, Zipf or normal
 * @shape: see &enum wl_keys
 * @share: how often it is drawn from, of the sum of all shares
 * @centre: of WL_KEYS_NORMAL, the most frequent key of WL_KEYS_ZIPF
 * @down: WL_KEYS_ZIPF: the frequent keys are at the end
 */
struct part {
	enum wl_keys keys;
	double shape;
	double share;
	unsigned int centre;
	bool down;
};

/**
 * struct keys - a distribution of keys
 * @values: number of different keys
 * @parts: number of components
 * @part: the components
 * @sharp: 0 to 1, how sharp all components are; used while the skewness is
 *	searched for
 * @weight: relative frequency of each key
 * @limit: for Walker's method: below it, a slot is its own key
 * @alias: otherwise it is this one
 */
struct keys {
	unsigned int values;
	unsigned int parts;
	struct part part[3];
	double sharp;
	uint32_t *weight;
	uint32_t *limit;
	uint32_t *alias;
};

static double part_weight(const struct part *p, unsigned int values, unsigned int k)
{
	double d;

	switch (p->keys) {
	case WL_KEYS_ZIPF:
		return wl_exp(-p->shape * wl_log((p->down ? values - 1 - k : k) + 1));
	case WL_KEYS_NORMAL:
		d = ((double)k - p->centre) / p->shape;
		return wl_exp(-d * d / 2);
	default:
		return 1;
	}
}

/* Fill in the weights. */
static int keys_weigh(struct keys *d)
{
	double *w = calloc(d->values, sizeof(*w)), most = 0;
	unsigned int i, k;

	if (!w)
		return -1;
	for (i = 0; i < d->parts; i++) {
		const struct part *p = &d->part[i];
		double sum = 0;

		for (k = 0; k < d->values; k++)
			sum += part_weight(p, d->values, k);
		for (k = 0; k < d->values; k++)
			w[k] += p->share * part_weight(p, d->values, k) / sum;
	}
	for (k = 0; k < d->values; k++)
		most = w[k] > most ? w[k] : most;
	for (k = 0; k < d->values; k++)
		d->weight[k] = w[k] / most * MAX_WEIGHT;
	free(w);
	return 0;
}

/* What the matrix will have: each host lays a block of every frequent key, in
 * units of a column as long as the key's share; a block across a boundary makes
 * two messages.  Keys that fill less than a column are spread evenly.
 */
static double keys_skewness_squared(const struct keys *d, unsigned int n)
{
	double total = 0, sum = 0, begin = 0;
	unsigned int k, i;

	for (k = 0; k < d->values; k++)
		total += d->weight[k];
	for (k = 0; k < d->values; k++) {
		double p = d->weight[k] / total, at = begin;

		begin += p * n;
		if (p * n < 1) {
			sum += p;
			continue;
		}
		for (i = 0; i < n; i++) {
			/* What of the block fits into the column that it begins in */
			double fits = 1 - (at - (unsigned int)at);

			if (fits >= p)
				sum += p * p;
			else
				sum += fits * fits + (p - fits) * (p - fits);
			at += p;
		}
	}
	return sum > 1 ? (sum - 1) / (n - 1) : 0;
}

static void keys_sharpen(struct keys *d, double sharp)
{
	unsigned int i;

	d->sharp = sharp;
	for (i = 0; i < d->parts; i++) {
		struct part *p = &d->part[i];

		if (p->keys == WL_KEYS_ZIPF)
			p->shape = 16 * sharp * sharp;
		else if (p->keys == WL_KEYS_NORMAL)
			p->shape = 0.15 * wl_exp((1 - sharp) * wl_log(d->values / 0.15));
	}
}

/* Walker's alias method in integers: slot i is key i or its alias. */
static int keys_prepare(struct keys *d)
{
	unsigned int small = 0, large = 0, k, *stack;
	uint64_t total = 0, *left;

	stack = malloc(2 * (size_t)d->values * sizeof(*stack));
	left = malloc(d->values * sizeof(*left));
	if (!stack || !left) {
		free(stack);
		free(left);
		return -1;
	}
	for (k = 0; k < d->values; k++)
		total += d->weight[k];
	for (k = 0; k < d->values; k++) {
		left[k] = (uint64_t)d->weight[k] * d->values;
		if (left[k] < total)
			stack[small++] = k;
		else
			stack[2 * d->values - ++large] = k;
	}
	while (small && large) {
		unsigned int s = stack[--small], l = stack[2 * d->values - large];

		/* total is at most 2^40 */
		d->limit[s] = (left[s] << 20) / total << 12;
		d->alias[s] = l;
		left[l] -= total - left[s];
		if (left[l] < total) {
			large--;
			stack[small++] = l;
		}
	}
	while (small) {
		k = stack[--small];
		d->limit[k] = UINT32_MAX;
		d->alias[k] = k;
	}
	while (large) {
		k = stack[2 * d->values - large--];
		d->limit[k] = UINT32_MAX;
		d->alias[k] = k;
	}
	free(stack);
	free(left);
	return 0;
}

static unsigned int keys_draw(const struct keys *d, struct wl_rng *r)
{
	uint64_t x = wl_rng_next(r);
	unsigned int slot = (x >> 32) * d->values >> 32;

	return (uint32_t)x < d->limit[slot] ? slot : d->alias[slot];
}

/* Draw all keys, sort them, cut. */
static struct matrix *keys_sort(const struct keys *d, unsigned int n, uint64_t row,
				struct wl_rng *r, struct wl_error *err)
{
	uint64_t per_host = (uint64_t)KEYS_PER_HOST * n, *done, i;
	unsigned int host, k, *order = NULL;
	uint32_t *count = NULL;
	struct wl_lay lay;
	struct matrix *m;

	m = matrix_new(n, err);
	if (!m)
		return NULL;
	count = calloc((size_t)n * d->values, sizeof(*count));
	order = malloc(n * sizeof(*order));
	done = calloc(n, sizeof(*done));
	if (!count || !order || !done) {
		free(count);
		free(order);
		free(done);
		matrix_free(m);
		wl_error_set(err, "out of memory for %u hosts and %u keys", n, d->values);
		return NULL;
	}
	for (host = 0; host < n; host++) {
		uint32_t *mine = count + (size_t)host * d->values;

		order[host] = host;
		for (i = 0; i < per_host; i++)
			mine[keys_draw(d, r)]++;
	}
	wl_lay_init(&lay, m, order, row);
	for (k = 0; k < d->values; k++) {
		for (host = 0; host < n; host++) {
			uint64_t c = count[(size_t)host * d->values + k], from;

			if (!c)
				continue;
			/* The bytes of the first done keys, rounded down. */
			from = row / per_host * done[host] + row % per_host * done[host] / per_host;
			done[host] += c;
			wl_lay_add(&lay, host, row / per_host * done[host] +
				   row % per_host * done[host] / per_host - from);
		}
	}
	free(count);
	free(order);
	free(done);
	if (wl_permute(m, r, err)) {
		matrix_free(m);
		return NULL;
	}
	return m;
}

/* A random distribution; its sharpness is left open. */
static void keys_random(struct keys *d, struct wl_rng *r, double aim)
{
	unsigned int i;
	bool mixture;

	/* 2 to 1024 different keys, small numbers as likely as large ones */
	d->values = wl_exp(wl_log(2) + wl_rng_unit(r) * wl_log(512));
	/* n keys that are equally frequent have a skewness of 1 / sqrt n. */
	if (d->values * aim * aim < 1.05)
		d->values = 1.05 / (aim * aim) + 1;
	if (d->values > MAX_VALUES)
		d->values = MAX_VALUES;
	mixture = wl_rng_below(r, 3) == 0;
	d->parts = mixture ? 2 + wl_rng_below(r, 2) : 1;
	for (i = 0; i < d->parts; i++) {
		struct part *p = &d->part[i];

		p->share = mixture ? 0.1 + wl_rng_unit(r) : 1;
		p->keys = wl_rng_below(r, 2) ? WL_KEYS_ZIPF : WL_KEYS_NORMAL;
		/* Not alone: it cannot be sharpened. */
		if (mixture && i && wl_rng_below(r, 2))
			p->keys = WL_KEYS_UNIFORM;
		p->centre = wl_rng_below(r, d->values);
		p->down = wl_rng_below(r, 2);
		p->shape = 1;
	}
	if (mixture) {
		/* Of a flat part there must be little where much skewness is wanted. */
		for (i = 1; i < d->parts; i++)
			d->part[i].share *= 1 - aim;
	}
}

/* Sharpen until the skewness should be what is wanted; what it should be. */
static int keys_aim(struct keys *d, unsigned int n, double aim, double *skewness)
{
	double lo = 0, hi = 1;
	unsigned int turn;

	for (turn = 0; turn < 14; turn++) {
		keys_sharpen(d, (lo + hi) / 2);
		if (keys_weigh(d))
			return -1;
		*skewness = keys_skewness_squared(d, n);
		if (*skewness < aim * aim)
			lo = d->sharp;
		else
			hi = d->sharp;
	}
	*skewness = sqrt(*skewness);
	return 0;
}

static void keys_given(struct keys *d, const struct wl_spec *spec, struct wl_rng *r)
{
	unsigned int i;

	keys_random(d, r, wl_rng_unit(r));
	if (spec->key_values)
		d->values = spec->key_values;
	for (i = 0; i < d->parts; i++)
		d->part[i].centre = wl_rng_below(r, d->values);
	keys_sharpen(d, wl_rng_unit(r));
	switch (spec->keys) {
	case WL_KEYS_UNIFORM:
	case WL_KEYS_ZIPF:
	case WL_KEYS_NORMAL:
		d->parts = 1;
		d->part[0].keys = spec->keys;
		d->part[0].share = 1;
		d->part[0].down = false;
		d->part[0].centre = d->values / 2;
		keys_sharpen(d, wl_rng_unit(r));
		if (spec->key_shape > 0)
			d->part[0].shape = spec->key_shape;
		break;
	case WL_KEYS_MIXTURE:
		for (i = d->parts; i < 2; i++) {
			d->part[i] = d->part[0];
			d->part[i].centre = wl_rng_below(r, d->values);
			d->part[i].down = !d->part[0].down;
		}
		d->parts = d->parts < 2 ? 2 : d->parts;
		break;
	default:
		break;
	}
}

static void keys_describe(const struct keys *d, char *text, size_t size)
{
	static const char *const names[] = {
		[WL_KEYS_UNIFORM] = "uniform",
		[WL_KEYS_ZIPF] = "zipf",
		[WL_KEYS_NORMAL] = "normal",
	};
	unsigned int i;
	size_t at;

	at = snprintf(text, size, "%u keys", d->values);
	for (i = 0; i < d->parts && at < size; i++) {
		const struct part *p = &d->part[i];

		at += snprintf(text + at, size - at, "%s %s", i ? " +" : ",", names[p->keys]);
		if (p->keys != WL_KEYS_UNIFORM && at < size)
			at += snprintf(text + at, size - at, " %.3f", p->shape);
	}
}

static int keys_alloc(struct keys *d, struct wl_error *err)
{
	d->weight = calloc(d->values, 3 * sizeof(*d->weight));
	if (!d->weight) {
		wl_error_set(err, "out of memory for %u keys", d->values);
		return -1;
	}
	d->limit = d->weight + d->values;
	d->alias = d->limit + d->values;
	return 0;
}

/* A distribution that should lead to a skewness close to what is wanted. */
static int keys_choose(struct keys *d, const struct wl_spec *spec, struct wl_rng *r, double aim,
		       struct wl_error *err)
{
	double width = spec->skew_hi - spec->skew_lo, skewness;
	unsigned int try;

	for (try = 0; try < MAX_TRIES; try++) {
		free(d->weight);
		d->weight = NULL;
		keys_random(d, r, aim);
		if (keys_alloc(d, err))
			return -1;
		if (keys_aim(d, spec->n, aim, &skewness)) {
			wl_error_set(err, "out of memory for %u keys", d->values);
			return -1;
		}
		if (skewness >= spec->skew_lo + width / 8 && skewness < spec->skew_hi - width / 8)
			break;
	}
	return 0;
}

/**
 * wl_make_sort - one matrix of the sort-based generator
 * @spec: what is wanted; @spec->skew_hi decides whether @aim counts
 * @row: sum of every row and column
 * @r: random numbers
 * @aim: skewness to aim at
 * @made: @how is set
 * @err: set on failure, may be NULL
 *
 * Return: the matrix, with messages to oneself, or NULL.
 */
struct matrix *wl_make_sort(const struct wl_spec *spec, uint64_t row, struct wl_rng *r,
			    double aim, struct wl_made *made, struct wl_error *err)
{
	struct matrix *m = NULL;
	struct keys d = { 0 };
	int failed;

	if (spec->skew_hi > 0) {
		failed = keys_choose(&d, spec, r, aim, err);
	} else {
		keys_given(&d, spec, r);
		failed = keys_alloc(&d, err);
		if (!failed && keys_weigh(&d)) {
			wl_error_set(err, "out of memory for %u keys", d.values);
			failed = -1;
		}
	}
	if (failed)
		goto out;
	if (keys_prepare(&d))
		wl_error_set(err, "out of memory for %u keys", d.values);
	else
		m = keys_sort(&d, spec->n, row, r, err);
	keys_describe(&d, made->how, sizeof(made->how));
out:
	free(d.weight);
	return m;
}
