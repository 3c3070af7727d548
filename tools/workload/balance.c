// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What keeps the sums of rows and columns equal, to the byte.
 */
#include <stdlib.h>
#include <string.h>

#include "gen.h"

#define CLOSE_ENOUGH	(1.0 / (1 << 30))

/**
 * wl_lay_init - begin to lay bytes out
 * @l: the state
 * @m: an empty matrix
 * @order: its columns in the order in which they are filled
 * @row: bytes for each column
 */
void wl_lay_init(struct wl_lay *l, struct matrix *m, const unsigned int *order, uint64_t row)
{
	l->m = m;
	l->order = order;
	l->pos = 0;
	l->row = row;
	l->room = row;
}

/**
 * wl_lay_add - lay out the next bytes; what crosses a boundary is split
 * @l: the state
 * @from: their sender
 * @bytes: how many; all together not more than there is room for
 */
void wl_lay_add(struct wl_lay *l, unsigned int from, uint64_t bytes)
{
	while (bytes) {
		uint64_t take = bytes < l->room ? bytes : l->room;

		l->m->len[(size_t)from * l->m->n + l->order[l->pos]] += take;
		bytes -= take;
		l->room -= take;
		if (!l->room) {
			l->pos++;
			l->room = l->row;
		}
	}
}

/**
 * wl_permute - shuffle rows and columns (5.1)
 * @m: the matrix
 * @r: random numbers
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 without memory.
 */
int wl_permute(struct matrix *m, struct wl_rng *r, struct wl_error *err)
{
	unsigned int n = m->n, i, j, *row, *col;
	uint64_t *len;

	len = malloc((size_t)n * n * sizeof(*len));
	row = malloc(2 * (size_t)n * sizeof(*row));
	if (!len || !row) {
		free(len);
		free(row);
		wl_error_set(err, "out of memory for %u hosts", n);
		return -1;
	}
	col = row + n;
	for (i = 0; i < n; i++) {
		row[i] = i;
		col[i] = i;
	}
	wl_rng_permute(r, row, n);
	wl_rng_permute(r, col, n);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			len[(size_t)i * n + j] = matrix_len(m, row[i], col[j]);
	memcpy(m->len, len, (size_t)n * n * sizeof(*len));
	free(len);
	free(row);
	return 0;
}

static void swap_columns(struct matrix *m, unsigned int a, unsigned int b)
{
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		uint64_t *row = m->len + (size_t)i * m->n, t = row[a];

		row[a] = row[b];
		row[b] = t;
	}
}

/* Move what (i,i) holds along rectangles (i,i) (i,l) (k,l) (k,i). */
static void empty_cell(struct matrix *m, unsigned int i)
{
	uint64_t *from = &m->len[(size_t)i * m->n + i], most, move;
	unsigned int n = m->n, step, k, l;

	/* The first time around a little to everybody, then what has to be. */
	most = *from / (n > 2 ? n - 2 : 1) + 1;
	for (step = 0; step < n * n && *from; step++) {
		uint64_t *victim;

		/* Another diagonal for each i: not always the same cells give. */
		k = step % n;
		l = (k + 1 + i + step / n) % n;
		if (k == i || l == i)
			continue;
		if (step >= n)
			most = UINT64_MAX;
		victim = &m->len[(size_t)k * n + l];
		move = *from < *victim ? *from : *victim;
		if (move > most)
			move = most;
		*from -= move;
		*victim -= move;
		m->len[(size_t)i * n + l] += move;
		m->len[(size_t)k * n + i] += move;
	}
}

/**
 * wl_clear_diagonal - no messages to oneself, the sums as they are
 * @m: a matrix with equal sums of rows and columns
 *
 * Columns change places as long as that empties the diagonal; what is left is
 * moved elsewhere.  The cells outside row and column i hold more than (i,i), so
 * there is always room.
 */
void wl_clear_diagonal(struct matrix *m)
{
	unsigned int n = m->n, i, j;

	for (i = 0; i < n; i++) {
		uint64_t best = matrix_len(m, i, i);
		unsigned int with = i;

		for (j = 0; j < n && best; j++) {
			uint64_t now = matrix_len(m, j, j), then;

			then = matrix_len(m, i, j) + matrix_len(m, j, i);
			if (j == i || then >= matrix_len(m, i, i) + now)
				continue;
			if (then <= now || then - now < best) {
				best = then <= now ? 0 : then - now;
				with = j;
			}
		}
		if (with != i)
			swap_columns(m, i, with);
	}
	for (i = 0; i < n; i++)
		empty_cell(m, i);
}

/* Move bytes from cells a and b to the other corners of their rectangle, as far
 * as that raises or lowers the sum of squares.
 */
static void nudge_step(struct matrix *m, uint32_t a, uint32_t b, bool raise, bool diagonal,
		       struct wl_rng *r)
{
	unsigned int n = m->n, i = a / n, j = a % n, k = b / n, l = b % n;
	uint64_t *from = &m->len[a], *with = &m->len[b], move;
	uint64_t *to = &m->len[(size_t)i * n + l], *other = &m->len[(size_t)k * n + j];
	uint64_t have = *from + *with, there = *to + *other;

	if (i == k || j == l || (!diagonal && (i == l || k == j)))
		return;
	move = *from < *with ? *from : *with;
	if (raise) {
		/* The sum of squares changes by 2 move (there - have + 2 move). */
		if (there + 2 * move <= have)
			return;
	} else {
		if (have <= there)
			return;
		if (move > (have - there) / 4)
			move = (have - there) / 4;
		/* Not all the way: a small matrix would have no skewness at once. */
		if (move)
			move = 1 + wl_rng_below(r, move);
	}
	*from -= move;
	*with -= move;
	*to += move;
	*other += move;
}

/* Three hosts without messages to themselves have no rectangle: equal sums leave one choice,
 * how much goes round one way, 0 to 1 to 2, and how much the other.
 */
static bool nudge_ring(struct matrix *m, double lo, double hi)
{
	uint64_t sum = m->len[1] + m->len[2], low = sum / 2, high = sum;
	unsigned int way = m->len[1] < m->len[2] ? 2 : 1, i;

	while (low <= high) {
		uint64_t more = low + (high - low) / 2;
		double skew;

		for (i = 0; i < 3; i++) {
			m->len[3 * i + (i + way) % 3] = more;
			m->len[3 * i + (i + 3 - way) % 3] = sum - more;
		}
		skew = matrix_skewness(m);
		if (skew >= lo && skew < hi)
			return true;
		if (skew < lo)
			low = more + 1;
		else if (more)
			high = more - 1;
		else
			break;
	}
	return false;
}

/**
 * wl_nudge - change a matrix until its skewness is within an interval
 * @m: the matrix; an empty diagonal stays empty
 * @lo: at least
 * @hi: less than
 * @r: random numbers
 *
 * Moves bytes along random rectangles, which leaves all sums as they are: to
 * the longer messages where there is too little skewness, to the shorter ones
 * where there is too much.
 *
 * Return: whether it succeeded.
 */
bool wl_nudge(struct matrix *m, double lo, double hi, struct wl_rng *r)
{
	size_t cells = (size_t)m->n * m->n, k, count;
	double skew = matrix_skewness(m);
	unsigned int turn, step, i;
	bool diagonal = false;
	uint32_t *filled;

	filled = malloc(cells * sizeof(*filled));
	if (!filled)
		return false;
	for (i = 0; i < m->n; i++)
		diagonal |= matrix_len(m, i, i) > 0;
	if (m->n == 3 && !diagonal) {
		free(filled);
		return nudge_ring(m, lo, hi);
	}
	for (turn = 0; turn < 4000 && !(skew >= lo && skew < hi); turn++) {
		count = 0;
		for (k = 0; k < cells; k++)
			if (m->len[k])
				filled[count++] = k;
		/* In small steps: not to end beyond the other side. */
		for (step = 0; step < count / 32 + 1; step++) {
			/* One after the other: arguments are evaluated in any order. */
			uint32_t a = filled[wl_rng_below(r, count)];
			uint32_t b = filled[wl_rng_below(r, count)];

			nudge_step(m, a, b, skew < lo, diagonal, r);
		}
		skew = matrix_skewness(m);
	}
	free(filled);
	return skew >= lo && skew < hi;
}

/* Whole bytes; then what is missing in each row and column, by turns. */
static void round_off(const double *x, struct matrix *m, uint64_t target,
		      int64_t *row, int64_t *col)
{
	unsigned int n = m->n, i, j, k;

	for (i = 0; i < n; i++) {
		row[i] = target;
		col[i] = target;
	}
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			uint64_t len = x[(size_t)i * n + j];

			/* The sums are right to a part in 10^9 only. */
			if (len > (uint64_t)row[i])
				len = row[i];
			if (len > (uint64_t)col[j])
				len = col[j];
			m->len[(size_t)i * n + j] = len;
			row[i] -= len;
			col[j] -= len;
		}
	}
	/* Into cells that have something first. */
	for (k = 0; k < 2; k++) {
		for (i = 0; i < n; i++) {
			for (j = 0; j < n; j++) {
				int64_t add = row[i] < col[j] ? row[i] : col[j];

				if (!k && !m->len[(size_t)i * n + j])
					continue;
				m->len[(size_t)i * n + j] += add;
				row[i] -= add;
				col[j] -= add;
			}
		}
	}
	/* The last rows may have found room on their diagonals alone. */
	for (i = 0; i < n; i++)
		if (!x[(size_t)i * n + i])
			empty_cell(m, i);
}

/**
 * wl_scale - scale rows and columns by turns to equal sums (Sinkhorn)
 * @x: cells, not negative; changed
 * @m: the result in whole bytes, all sums exact; a cell on the diagonal that is
 *	0 stays 0
 * @row: wanted sum
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 without memory.
 */
int wl_scale(double *x, struct matrix *m, uint64_t row, struct wl_error *err)
{
	unsigned int n = m->n, i, j, turn;
	int64_t *left;
	double *sum;

	sum = malloc(n * sizeof(*sum));
	left = malloc(2 * (size_t)n * sizeof(*left));
	if (!sum || !left) {
		free(sum);
		free(left);
		wl_error_set(err, "out of memory for %u hosts", n);
		return -1;
	}
	for (turn = 0; turn < 500; turn++) {
		double worst = 0;

		for (j = 0; j < n; j++)
			sum[j] = 0;
		for (i = 0; i < n; i++) {
			double *v = x + (size_t)i * n, total = 0;

			for (j = 0; j < n; j++)
				total += v[j];
			for (j = 0; j < n; j++) {
				v[j] *= row / total;
				sum[j] += v[j];
			}
		}
		for (j = 0; j < n; j++) {
			double off = sum[j] / row - 1;

			if (off < 0)
				off = -off;
			if (off > worst)
				worst = off;
			sum[j] = row / sum[j];
		}
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				x[(size_t)i * n + j] *= sum[j];
		if (worst < CLOSE_ENOUGH)
			break;
	}
	round_off(x, m, row, left, left + n);
	free(sum);
	free(left);
	return 0;
}
