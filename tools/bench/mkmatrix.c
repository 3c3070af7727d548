// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make a matrix of message lengths and print it, statistics first.
 *
 * usage: mkmatrix NAME HOSTS [SEED]
 *
 *   uniform-SIZE     every host sends SIZE bytes to every other
 *   skewPP-SIZE      mean SIZE, skewness 0.PP, equal row and column sums
 *   incast-SIZE      hosts 1..N-1 send SIZE bytes to host 0
 *
 * SIZE is a number with an optional suffix: 24k is 24000, 256k is 256 KiB (as
 * every power of two below it: 2k, 4k, ...), 1m is 1 MiB.
 *
 * Skewed matrices: log-normal sizes off the diagonal, scaled by turns to equal
 * row and column sums (Sinkhorn); sigma is searched until the skewness fits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

static void die(const char *what)
{
	fprintf(stderr, "mkmatrix: %s\n", what);
	exit(2);
}

static uint64_t parse_size(const char *s)
{
	char *end;
	uint64_t v = strtoull(s, &end, 10);

	if (end == s)
		die("bad size");
	if (!strcmp(end, "k"))
		return v & (v - 1) ? v * 1000 : v << 10;
	if (!strcmp(end, "m"))
		return v << 20;
	if (*end)
		die("bad size");
	return v;
}

static uint64_t rng_state;

/* splitmix64: the same numbers on every machine */
static double rng_uniform(void)
{
	uint64_t z = (rng_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return ((z >> 11) + 0.5) / 9007199254740992.0;
}

static double rng_normal(void)
{
	double r = sqrt(-2 * log(rng_uniform()));

	return r * cos(2 * M_PI * rng_uniform());
}

/* Scale x to row and column sums of target. */
static void sinkhorn(double *x, unsigned int n, double target)
{
	unsigned int i, j, turn;

	for (turn = 0; turn < 2000; turn++) {
		double worst = 0;

		for (i = 0; i < n; i++) {
			double sum = 0;

			for (j = 0; j < n; j++)
				sum += x[i * n + j];
			for (j = 0; j < n; j++)
				x[i * n + j] *= target / sum;
		}
		for (j = 0; j < n; j++) {
			double sum = 0;

			for (i = 0; i < n; i++)
				sum += x[i * n + j];
			for (i = 0; i < n; i++)
				x[i * n + j] *= target / sum;
			if (fabs(sum / target - 1) > worst)
				worst = fabs(sum / target - 1);
		}
		if (worst < 1e-9)
			break;
	}
}

/* Whole bytes, and exactly target in each row and column. */
static void round_off(const double *x, struct matrix *m, uint64_t target)
{
	unsigned int n = m->n, i, j, k;
	int64_t *row, *col;

	row = calloc(n, sizeof(*row));
	col = calloc(n, sizeof(*col));
	if (!row || !col)
		die("out of memory");
	for (i = 0; i < n; i++) {
		row[i] = target;
		col[i] = target;
	}
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			uint64_t len = i == j ? 0 : (uint64_t)x[i * n + j];

			m->len[i * n + j] = len;
			row[i] -= len;
			col[j] -= len;
		}
	}
	/* A few bytes are missing in each row and column. */
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			int64_t add = row[i] < col[j] ? row[i] : col[j];

			if (i == j || add <= 0)
				continue;
			m->len[i * n + j] += add;
			row[i] -= add;
			col[j] -= add;
		}
		/* Only (i,i) is left: go by way of a third host. */
		for (k = 0; k < n && row[i] > 0; k++) {
			for (j = 0; j < n && row[i] > 0; j++) {
				int64_t add = row[i] < col[i] ? row[i] : col[i];

				if (k == i || j == i || k == j ||
				    m->len[k * n + j] < (uint64_t)add || add <= 0)
					continue;
				m->len[k * n + j] -= add;
				m->len[i * n + j] += add;
				m->len[k * n + i] += add;
				row[i] -= add;
				col[i] -= add;
			}
		}
	}
	free(row);
	free(col);
}

static void make_skewed(struct matrix *m, double skewness, uint64_t mean)
{
	double lo = 0, hi = 12, *z, *x;
	unsigned int n = m->n, i, turn;
	uint64_t target = mean * (n - 1);
	struct matrix_stats st;

	z = malloc(sizeof(*z) * n * n);
	x = malloc(sizeof(*x) * n * n);
	if (!z || !x)
		die("out of memory");
	for (i = 0; i < n * n; i++)
		z[i] = rng_normal();
	for (turn = 0; turn < 40; turn++) {
		double sigma = (lo + hi) / 2;

		for (i = 0; i < n * n; i++)
			x[i] = i / n == i % n ? 0 : exp(sigma * z[i]);
		sinkhorn(x, n, target);
		round_off(x, m, target);
		matrix_measure(m, &st);
		if (fabs(st.skewness - skewness) < 1e-4)
			break;
		if (st.skewness < skewness)
			lo = sigma;
		else
			hi = sigma;
	}
	free(z);
	free(x);
	if (fabs(st.skewness - skewness) > 0.005)
		die("this skewness cannot be reached");
}

int main(int argc, char **argv)
{
	struct matrix_stats st;
	const char *size, *name;
	unsigned int i, j, n;
	struct matrix *m;

	if (argc < 3 || !strchr(argv[1], '-'))
		die("usage: mkmatrix NAME HOSTS [SEED]");
	name = argv[1];
	size = strrchr(name, '-') + 1;
	n = strtoul(argv[2], NULL, 10);
	rng_state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	m = matrix_new(n);

	if (!strncmp(name, "uniform-", 8)) {
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				m->len[i * n + j] = i == j ? 0 : parse_size(size);
	} else if (!strncmp(name, "incast-", 7)) {
		for (i = 1; i < n; i++)
			m->len[i * n] = parse_size(size);
	} else if (!strncmp(name, "skew", 4)) {
		make_skewed(m, strtoul(name + 4, NULL, 10) / 100.0, parse_size(size));
	} else {
		die("unknown kind of matrix");
	}

	matrix_measure(m, &st);
	printf("# %s, %u hosts: %u messages, %llu bytes; rows %llu to %llu, columns %llu to %llu,\n"
	       "# messages %llu to %llu; skewness %.4f\n", name, n, st.messages,
	       (unsigned long long)st.total,
	       (unsigned long long)st.row_min, (unsigned long long)st.row_max,
	       (unsigned long long)st.col_min, (unsigned long long)st.col_max,
	       (unsigned long long)st.msg_min, (unsigned long long)st.msg_max, st.skewness);
	matrix_write(m, stdout);
	return 0;
}
