// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The general generator (5.2): rows sampled from a distribution of message
 * lengths, then placed so that the columns have equal sums as well, with as few
 * messages split or merged as a greedy algorithm can.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

#define RADIX_BITS	11
#define MAX_TRIES	16	/* preliminary matrices until one is placed */

/**
 * struct prelim - a preliminary message
 * @bytes: its length
 * @from: its sender
 */
struct prelim {
	uint64_t bytes;
	uint32_t from;
};

/**
 * wl_general_row - one row of the preliminary matrix
 * @c: distribution of lengths
 * @v: the row
 * @n: its elements
 * @row: their sum: what exceeds it is cut off, what is missing goes to the last
 * @r: random numbers
 */
void wl_general_row(const struct wl_cdf *c, uint64_t *v, unsigned int n, uint64_t row,
		    struct wl_rng *r)
{
	double unit = (double)row / n;
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint64_t x = row ? wl_cdf_sample(c, r, unit) : 0;

		if (x > row)
			x = row;
		v[i] = x;
		row -= x;
	}
	v[n - 1] += row;
}

/* Random order, then a stable sort by length, longest first. */
static int sort_messages(struct prelim *msg, size_t count, struct wl_rng *r)
{
	size_t at[1 << RADIX_BITS], i, j;
	struct prelim *other, *from = msg, *to, t;
	uint64_t most = 0, mask = (1 << RADIX_BITS) - 1;
	unsigned int shift, digit;

	other = malloc((count ? count : 1) * sizeof(*other));
	if (!other)
		return -1;
	for (i = count; i > 1; i--) {
		j = wl_rng_below(r, i);
		t = msg[i - 1];
		msg[i - 1] = msg[j];
		msg[j] = t;
	}
	for (i = 0; i < count; i++)
		most |= msg[i].bytes;
	to = other;
	for (shift = 0; shift < 64 && most >> shift; shift += RADIX_BITS) {
		struct prelim *swap = from;
		size_t sum = 0;

		memset(at, 0, sizeof(at));
		for (i = 0; i < count; i++)
			at[from[i].bytes >> shift & mask]++;
		for (digit = 1 << RADIX_BITS; digit-- > 0;) {
			size_t c = at[digit];

			at[digit] = sum;
			sum += c;
		}
		for (i = 0; i < count; i++)
			to[at[from[i].bytes >> shift & mask]++] = from[i];
		from = to;
		to = swap;
	}
	if (from != msg)
		memcpy(msg, from, count * sizeof(*msg));
	free(other);
	return 0;
}

/* Step 2.1: the vacant column of the row with the most free space. */
static unsigned int best_column(const int64_t *space, const uint8_t *used, unsigned int n,
				struct wl_rng *r)
{
	unsigned int j, ties = 0;
	int64_t best = INT64_MIN;

	for (j = 0; j < n; j++) {
		int64_t s = used[j] ? INT64_MIN : space[j];

		best = s > best ? s : best;
	}
	for (j = 0; j < n; j++)
		ties += !used[j] & (space[j] == best);
	ties = ties > 1 ? wl_rng_below(r, ties) : 0;
	for (j = 0;; j++)
		if (!used[j] && space[j] == best && !ties--)
			return j;
}

/* Steps 2.2 and 2.3: over- and under-committed columns next to each other. */
static void order_columns(const int64_t *space, unsigned int *sorted, unsigned int *order,
			  unsigned int n, struct wl_rng *r)
{
	unsigned int i, j, head = 0, tail = n;
	int64_t sum = 0;

	for (i = 0; i < n; i++)
		sorted[i] = i;
	wl_rng_permute(r, sorted, n);
	for (i = 1; i < n; i++) {
		unsigned int c = sorted[i];

		for (j = i; j > 0 && space[sorted[j - 1]] > space[c]; j--)
			sorted[j] = sorted[j - 1];
		sorted[j] = c;
	}
	for (i = 0; i < n; i++) {
		int64_t a = llabs(sum + space[sorted[head]]);
		int64_t b = llabs(sum + space[sorted[tail - 1]]);

		if (a == b)
			a += wl_rng_below(r, 2);
		order[i] = a <= b ? sorted[head++] : sorted[--tail];
		sum += space[order[i]];
	}
}

/**
 * wl_general_place - equal sums of columns for a preliminary matrix (5.2, steps 1-3)
 * @m: the result, empty before
 * @prelim: n x n lengths whose rows sum up to @row
 * @row: wanted sum of every column
 * @r: random numbers
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 without memory.
 */
int wl_general_place(struct matrix *m, const uint64_t *prelim, uint64_t row, struct wl_rng *r,
		     struct wl_error *err)
{
	unsigned int n = m->n, i, j, *sorted, *order;
	size_t cells = (size_t)n * n, count = 0, k;
	struct prelim *msg;
	uint64_t *placed;
	int64_t *space;
	struct wl_lay lay;
	uint8_t *used;
	int ret = -1;

	msg = malloc(cells * sizeof(*msg));
	placed = calloc(cells, sizeof(*placed));
	used = calloc(cells, 1);
	space = malloc(n * sizeof(*space));
	sorted = malloc(2 * (size_t)n * sizeof(*sorted));
	if (!msg || !placed || !used || !space || !sorted)
		goto out;
	order = sorted + n;
	/* Empty messages fill what is left vacant. */
	for (k = 0; k < cells; k++) {
		if (prelim[k]) {
			msg[count].bytes = prelim[k];
			msg[count++].from = k / n;
		}
	}
	if (sort_messages(msg, count, r))
		goto out;
	for (j = 0; j < n; j++)
		space[j] = row;
	for (k = 0; k < count; k++) {
		size_t base = (size_t)msg[k].from * n;

		j = best_column(space, used + base, n, r);
		used[base + j] = 1;
		placed[base + j] = msg[k].bytes;
		space[j] -= msg[k].bytes;
	}
	order_columns(space, sorted, order, n, r);
	wl_lay_init(&lay, m, order, row);
	for (j = 0; j < n; j++)
		for (i = 0; i < n; i++)
			wl_lay_add(&lay, i, placed[(size_t)i * n + order[j]]);
	ret = 0;
out:
	if (ret)
		wl_error_set(err, "out of memory for %u hosts", n);
	free(msg);
	free(placed);
	free(used);
	free(space);
	free(sorted);
	return ret;
}

/* Of the preliminary matrix; the same as matrix_skewness() there. */
static double prelim_skewness(const uint64_t *prelim, unsigned int n, uint64_t row)
{
	double unit = (double)row / n, squares = 0;
	size_t k;

	for (k = 0; k < (size_t)n * n; k++)
		squares += (prelim[k] / unit - 1) * (prelim[k] / unit - 1);
	return sqrt(squares / n / n / (n - 1));
}

/**
 * wl_make_general - one matrix of the general generator
 * @spec: number of hosts, wanted skewness or distribution
 * @set: distributions of lengths
 * @row: sum of every row and column
 * @r: random numbers
 * @made: @how is set
 * @err: set on failure, may be NULL
 *
 * Placement takes most of the time and changes skewness little: a preliminary
 * matrix that has not what is wanted is not placed.
 *
 * Return: the matrix, with messages to oneself, or NULL.
 */
struct matrix *wl_make_general(const struct wl_spec *spec, const struct wl_cdfs *set,
			       uint64_t row, struct wl_rng *r, struct wl_made *made,
			       struct wl_error *err)
{
	const struct wl_cdf *c = NULL;
	unsigned int n = spec->n, i, try;
	struct matrix *m;
	uint64_t *prelim;

	m = matrix_new(n, err);
	if (!m)
		return NULL;
	prelim = malloc((size_t)n * n * sizeof(*prelim));
	if (!prelim) {
		wl_error_set(err, "out of memory for %u hosts", n);
		goto bad;
	}
	for (try = 0; try < MAX_TRIES; try++) {
		double skewness;

		c = wl_cdfs_pick(set, spec, r);
		if (!c) {
			wl_error_set(err, "no distribution has this mean and standard deviation");
			goto bad;
		}
		for (i = 0; i < n; i++)
			wl_general_row(c, prelim + (size_t)i * n, n, row, r);
		if (!(spec->skew_hi > 0))
			break;
		skewness = prelim_skewness(prelim, n, row);
		if (skewness >= spec->skew_lo && skewness < spec->skew_hi)
			break;
	}
	wl_cdf_describe(c, made->how, sizeof(made->how));
	if (wl_general_place(m, prelim, row, r, err))
		goto bad;
	free(prelim);
	return m;
bad:
	free(prelim);
	matrix_free(m);
	return NULL;
}
