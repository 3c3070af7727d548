// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Matrices of message lengths: memory, statistics, the lower bound.
 *
 * Floating point is used with correctly rounded operations alone, in a fixed
 * order, so that every machine decides alike.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

/**
 * wl_error_set - say why something failed
 * @err: where to, may be NULL
 * @fmt: as of printf()
 */
void wl_error_set(struct wl_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
}

/**
 * matrix_new - an empty matrix
 * @n: hosts, 2 to MATRIX_MAX_HOSTS
 * @err: set on failure, may be NULL
 *
 * Return: the matrix, for matrix_free(), or NULL.
 */
struct matrix *matrix_new(unsigned int n, struct wl_error *err)
{
	struct matrix *m;

	if (n < 2 || n > MATRIX_MAX_HOSTS) {
		wl_error_set(err, "%u hosts: a matrix has 2 to %u", n, MATRIX_MAX_HOSTS);
		return NULL;
	}
	m = malloc(sizeof(*m));
	if (m) {
		m->n = n;
		m->len = calloc((size_t)n * n, sizeof(*m->len));
	}
	if (!m || !m->len) {
		free(m);
		wl_error_set(err, "out of memory for %u hosts", n);
		return NULL;
	}
	return m;
}

/**
 * matrix_free - give a matrix back
 * @m: the matrix, may be NULL
 */
void matrix_free(struct matrix *m)
{
	if (!m)
		return;
	free(m->len);
	free(m);
}

/**
 * matrix_copy - a second matrix with the same lengths
 * @m: the first
 * @err: set on failure, may be NULL
 *
 * Return: the copy or NULL.
 */
struct matrix *matrix_copy(const struct matrix *m, struct wl_error *err)
{
	struct matrix *c = matrix_new(m->n, err);

	if (c)
		memcpy(c->len, m->len, (size_t)m->n * m->n * sizeof(*m->len));
	return c;
}

/**
 * matrix_skewness - message skewness (chapter 5)
 * @m: the matrix
 *
 * Return: standard deviation of all n^2 cells over their mean, over sqrt(n - 1).
 */
double matrix_skewness(const struct matrix *m)
{
	size_t cells = (size_t)m->n * m->n, i;
	uint64_t total = 0;
	double mean, sum = 0;

	for (i = 0; i < cells; i++)
		total += m->len[i];
	if (!total)
		return 0;
	mean = (double)total / cells;
	for (i = 0; i < cells; i++) {
		double off = m->len[i] / mean - 1;

		sum += off * off;
	}
	return sqrt(sum / cells / (m->n - 1));
}

/**
 * matrix_bound_bytes - what the most loaded host sends or receives
 * @m: the matrix
 *
 * A message to oneself crosses no link.
 *
 * Return: bytes, the greatest of all sums of rows and columns without the
 * diagonal.
 */
uint64_t matrix_bound_bytes(const struct matrix *m)
{
	uint64_t most = 0;
	unsigned int i, j;

	for (i = 0; i < m->n; i++) {
		uint64_t row = 0, col = 0;

		for (j = 0; j < m->n; j++) {
			if (i == j)
				continue;
			row += matrix_len(m, i, j);
			col += matrix_len(m, j, i);
		}
		if (row > most)
			most = row;
		if (col > most)
			most = col;
	}
	return most;
}

/**
 * matrix_bound_ns - lower bound of the time that the shuffle takes
 * @m: the matrix
 * @bits_per_s: rate of every host's link
 * @rtt_ns: one round trip
 *
 * Return: nanoseconds: the bytes of matrix_bound_bytes() and one round trip.
 */
double matrix_bound_ns(const struct matrix *m, double bits_per_s, double rtt_ns)
{
	return matrix_bound_bytes(m) * 8e9 / bits_per_s + rtt_ns;
}

/**
 * matrix_checksum - a number that differs for different matrices
 * @m: the matrix
 *
 * Return: FNV-1a over the number of hosts and all lengths, as 64-bit words.
 */
uint64_t matrix_checksum(const struct matrix *m)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ m->n;
	size_t i;

	for (i = 0; i < (size_t)m->n * m->n; i++) {
		h = (h ^ m->len[i]) * 0x100000001b3ULL;
		h ^= h >> 29;
	}
	return h;
}

static int u64_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nearest rank: the smallest value that q/100 of the values do not exceed. */
static uint64_t percentile(const uint64_t *sorted, uint64_t count, unsigned int q)
{
	uint64_t rank = (count * q + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

/* Sorts v. */
static void spread(uint64_t *v, uint64_t count, struct matrix_spread *s)
{
	double sum = 0, squares = 0;
	uint64_t i;

	memset(s, 0, sizeof(*s));
	if (!count)
		return;
	qsort(v, count, sizeof(*v), u64_order);
	for (i = 0; i < count; i++)
		sum += v[i];
	s->mean = sum / count;
	for (i = 0; i < count; i++)
		squares += (v[i] - s->mean) * (v[i] - s->mean);
	s->stddev = sqrt(squares / count);
	s->min = v[0];
	s->p50 = percentile(v, count, 50);
	s->max = v[count - 1];
}

/**
 * matrix_measure - statistics
 * @m: the matrix
 * @st: the statistics
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 without memory.
 */
int matrix_measure(const struct matrix *m, struct matrix_stats *st, struct wl_error *err)
{
	uint64_t *row, *col, *out, *in, *msg;
	unsigned int n = m->n, i, j;

	memset(st, 0, sizeof(*st));
	row = calloc((size_t)n * n + 4 * (size_t)n, sizeof(*row));
	if (!row) {
		wl_error_set(err, "out of memory for %u hosts", n);
		return -1;
	}
	col = row + n;
	out = col + n;
	in = out + n;
	msg = in + n;
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			uint64_t len = matrix_len(m, i, j);

			row[i] += len;
			col[j] += len;
			if (i == j) {
				st->local += len;
			} else if (len) {
				out[i]++;
				in[j]++;
				msg[st->messages++] = len;
			}
		}
		st->total += row[i];
	}
	st->bound = matrix_bound_bytes(m);
	st->skewness = matrix_skewness(m);
	spread(row, n, &st->row);
	spread(col, n, &st->col);
	spread(out, n, &st->out_degree);
	spread(in, n, &st->in_degree);
	spread(msg, st->messages, &st->message);
	if (st->messages) {
		st->msg_p10 = percentile(msg, st->messages, 10);
		st->msg_p90 = percentile(msg, st->messages, 90);
	}
	free(row);
	return 0;
}
