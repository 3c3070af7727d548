// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shapes beside the two generators of chapter 5: what 5.3 misses (few and
 * irregular neighbours) and what every network is tried with.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"

static void make_uniform(const struct wl_spec *spec, struct matrix *m)
{
	unsigned int i, j;

	for (i = 0; i < m->n; i++)
		for (j = 0; j < m->n; j++)
			if (spec->self || i != j)
				m->len[(size_t)i * m->n + j] = spec->mean;
}

/**
 * wl_make_lognormal - log-normal lengths, rows and columns scaled by turns
 * @spec: wanted skewness; without one, the logarithm's deviation is 1
 * @row: sum of every row and column
 * @r: random numbers
 * @made: @how is set
 * @err: set on failure, may be NULL
 *
 * The deviation is searched for until the skewness is in the middle half of
 * what is wanted.  Hosts are rather alike, and all messages have some bytes.
 *
 * Return: the matrix or NULL.
 */
struct matrix *wl_make_lognormal(const struct wl_spec *spec, uint64_t row, struct wl_rng *r,
				 struct wl_made *made, struct wl_error *err)
{
	size_t cells = (size_t)spec->n * spec->n, i;
	double lo = 0, hi = 14, sigma = 1, *z, *x;
	unsigned int turn, n = spec->n;
	struct matrix *m;

	m = matrix_new(n, err);
	z = malloc(cells * sizeof(*z));
	x = malloc(cells * sizeof(*x));
	if (!m || !z || !x) {
		if (m)
			wl_error_set(err, "out of memory for %u hosts", n);
		matrix_free(m);
		m = NULL;
		goto out;
	}
	for (i = 0; i < cells; i++)
		z[i] = wl_rng_normal(r);
	for (turn = 0; turn < 40; turn++) {
		double quarter = (spec->skew_hi - spec->skew_lo) / 4, skew;

		if (spec->skew_hi > 0)
			sigma = (lo + hi) / 2;
		for (i = 0; i < cells; i++)
			x[i] = !spec->self && i / n == i % n ? 0 : wl_exp(sigma * z[i]);
		if (wl_scale(x, m, row, err)) {
			matrix_free(m);
			m = NULL;
			goto out;
		}
		if (!(spec->skew_hi > 0))
			break;
		skew = matrix_skewness(m);
		if (skew < spec->skew_lo + quarter)
			lo = sigma;
		else if (skew > spec->skew_hi - quarter)
			hi = sigma;
		else
			break;
	}
	snprintf(made->how, sizeof(made->how), "log-normal, sigma %.4f", sigma);
out:
	free(z);
	free(x);
	return m;
}

/* The side lengths of a torus: as equal as the number of hosts allows. */
static void torus(unsigned int n, unsigned int dims, unsigned int *side)
{
	unsigned int d, s;

	for (d = dims; d > 0; d--) {
		unsigned int best = 1;

		for (s = 1; s <= n; s++) {
			double power = 1;
			unsigned int k;

			for (k = 0; k < d; k++)
				power *= s;
			if (n % s == 0 && power <= n)
				best = s;
		}
		if (d == 1)
			best = n;
		side[dims - d] = best;
		n /= best;
	}
}

static void make_neighbour(const struct wl_spec *spec, struct matrix *m, struct wl_made *made)
{
	unsigned int side[3] = { 1, 1, 1 }, i, d, stride = 1;

	torus(m->n, spec->dims, side);
	for (d = 0; d < spec->dims; d++) {
		for (i = 0; i < m->n; i++) {
			unsigned int at = i / stride % side[d];
			unsigned int up = i + (at + 1 == side[d] ? -at : 1) * stride;
			unsigned int down = i + (at ? -1u : side[d] - 1) * stride;

			/* On a side of two they are the same host. */
			if (up != i)
				m->len[(size_t)i * m->n + up] = spec->mean;
			if (down != i)
				m->len[(size_t)i * m->n + down] = spec->mean;
		}
		stride *= side[d];
	}
	snprintf(made->how, sizeof(made->how), "torus %u x %u x %u", side[0], side[1], side[2]);
}

#define VERTICES_PER_HOST	64

/* Vertices with Pareto degrees, dealt to hosts at random; an edge between two
 * hosts is a value that one sends to the other.
 */
static int make_graph(const struct wl_spec *spec, struct matrix *m, struct wl_rng *r,
		      struct wl_made *made, struct wl_error *err)
{
	unsigned int n = m->n, vertices = n * VERTICES_PER_HOST, i, *host;
	uint64_t edges = (uint64_t)vertices * spec->edges, e, crossing = 0, done = 0;
	uint64_t total = spec->mean * n * (spec->self ? n : n - 1), given = 0;
	double *below, sum = 0;
	size_t k;

	host = malloc(vertices * sizeof(*host));
	below = malloc(vertices * sizeof(*below));
	if (!host || !below) {
		free(host);
		free(below);
		wl_error_set(err, "out of memory for %u vertices", vertices);
		return -1;
	}
	for (i = 0; i < vertices; i++) {
		/* Degree d with a probability proportional to d^-exponent */
		double degree = wl_exp(-wl_log(wl_rng_unit(r)) / (spec->exponent - 1));

		/* No vertex has an edge to more than all others. */
		sum += degree < vertices ? degree : vertices;
		below[i] = sum;
		host[i] = i % n;
	}
	wl_rng_permute(r, host, vertices);
	for (e = 0; e < 2 * edges; e += 2) {
		unsigned int end[2], lo, hi, side;

		for (side = 0; side < 2; side++) {
			double x = wl_rng_unit(r) * sum;

			for (lo = 0, hi = vertices - 1; lo < hi;) {
				unsigned int mid = (lo + hi) / 2;

				if (below[mid] <= x)
					lo = mid + 1;
				else
					hi = mid;
			}
			end[side] = host[lo];
		}
		if (end[0] == end[1] && !spec->self)
			continue;
		m->len[(size_t)end[0] * n + end[1]]++;
		m->len[(size_t)end[1] * n + end[0]]++;
		crossing += 2;
	}
	free(host);
	free(below);
	if (!crossing) {
		wl_error_set(err, "no edge crosses hosts: more edges or hosts");
		return -1;
	}
	/* An edge is total / crossing bytes; the sum is exact. */
	for (k = 0; k < (size_t)n * n; k++) {
		uint64_t after;

		done += m->len[k];
		after = total / crossing * done + total % crossing * done / crossing;
		m->len[k] = after - given;
		given = after;
	}
	snprintf(made->how, sizeof(made->how),
		 "%u vertices, %llu edges between hosts, exponent %.2f", vertices,
		 (unsigned long long)crossing / 2, spec->exponent);
	return 0;
}

/* Mappers come first, then reducers; half to one and a half times the mean, so
 * that tasks differ as they do in practice.
 */
static void make_mapreduce(const struct wl_spec *spec, struct matrix *m, struct wl_rng *r,
			   struct wl_made *made)
{
	unsigned int reducers = spec->targets ? spec->targets : m->n / 2, i, j;
	unsigned int mappers = m->n - reducers;
	uint64_t half = spec->mean / 2;

	for (i = 0; i < mappers; i++)
		for (j = mappers; j < m->n; j++)
			m->len[(size_t)i * m->n + j] = spec->mean - half +
						       wl_rng_below(r, 2 * half + 1);
	snprintf(made->how, sizeof(made->how), "%u mappers, %u reducers", mappers, reducers);
}

static void make_incast(const struct wl_spec *spec, struct matrix *m)
{
	unsigned int i, j;

	for (i = 0; i < m->n; i++)
		for (j = 0; j < spec->targets; j++)
			if (i != j)
				m->len[(size_t)i * m->n + j] = spec->mean;
}

static int make_permutation(const struct wl_spec *spec, struct matrix *m, struct wl_rng *r,
			    struct wl_error *err)
{
	uint64_t row = spec->mean * (spec->self ? m->n : m->n - 1);
	unsigned int *to = malloc(m->n * sizeof(*to)), i;

	if (!to) {
		wl_error_set(err, "out of memory for %u hosts", m->n);
		return -1;
	}
	for (i = 0; i < m->n; i++)
		to[i] = i;
	if (spec->self) {
		wl_rng_permute(r, to, m->n);
	} else {
		/* One cycle through all hosts (Sattolo): nobody sends to himself. */
		for (i = m->n - 1; i > 0; i--) {
			unsigned int j = wl_rng_below(r, i), t = to[i];

			to[i] = to[j];
			to[j] = t;
		}
	}
	for (i = 0; i < m->n; i++)
		m->len[(size_t)i * m->n + to[i]] = row;
	free(to);
	return 0;
}

/**
 * wl_make_shape - one matrix of the simple shapes
 * @spec: what is wanted, checked before
 * @r: random numbers
 * @made: @how is set
 * @err: set on failure, may be NULL
 *
 * Return: the matrix or NULL.
 */
struct matrix *wl_make_shape(const struct wl_spec *spec, struct wl_rng *r, struct wl_made *made,
			     struct wl_error *err)
{
	struct matrix *m = matrix_new(spec->n, err);
	int ret = 0;

	if (!m)
		return NULL;
	snprintf(made->how, sizeof(made->how), "%s", wl_kind_name(spec->kind));
	switch (spec->kind) {
	case WL_UNIFORM:
		make_uniform(spec, m);
		break;
	case WL_NEIGHBOUR:
		make_neighbour(spec, m, made);
		break;
	case WL_GRAPH:
		ret = make_graph(spec, m, r, made, err);
		break;
	case WL_MAPREDUCE:
		make_mapreduce(spec, m, r, made);
		break;
	case WL_INCAST:
		make_incast(spec, m);
		break;
	default:
		ret = make_permutation(spec, m, r, err);
		break;
	}
	if (ret) {
		matrix_free(m);
		m = NULL;
	}
	return m;
}
