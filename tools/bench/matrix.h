/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matrices of message lengths.  File format: lines that begin with '#' are
 * comments; then one line per sender, comma-separated lengths in bytes.
 */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include <stdint.h>
#include <stdio.h>

struct matrix {
	unsigned int n;
	uint64_t *len;		/* len[from * n + to] */
};

struct matrix_stats {
	uint64_t total;
	uint64_t row_min, row_max;
	uint64_t col_min, col_max;
	uint64_t msg_min, msg_max;	/* off the diagonal */
	unsigned int messages;		/* off the diagonal, not empty */
	double skewness;		/* stddev of the normalised sizes / sqrt(n - 1) */
};

static inline uint64_t matrix_len(const struct matrix *m, unsigned int from, unsigned int to)
{
	return m->len[(size_t)from * m->n + to];
}

/* All exit with a message on error. */
struct matrix *matrix_new(unsigned int n);
struct matrix *matrix_read(const char *path);
void matrix_write(const struct matrix *m, FILE *f);
void matrix_measure(const struct matrix *m, struct matrix_stats *st);

/* max over hosts of max(payload out, payload in) / rate + one round trip.
 * A message to oneself crosses no link.
 */
double matrix_bound_ns(const struct matrix *m, double bits_per_s, double rtt_ns);

#endif /* BENCH_MATRIX_H */
