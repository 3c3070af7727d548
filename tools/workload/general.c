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
#define BLOCK		64	/* columns, the bits of a word */
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

/**
 * struct columns - free space of columns, in blocks of 64
 * @n: columns
 * @blocks: how many
 * @space: of each column; behind the last what is never the most
 * @top: most space in each block
 */
struct columns {
	unsigned int n, blocks;
	int64_t *space, *top;
};

static int64_t block_top(const struct columns *c, unsigned int b)
{
	const int64_t *v = c->space + (size_t)b * BLOCK;
	int64_t best = v[0];
	unsigned int i;

	for (i = 1; i < BLOCK; i++)
		best = v[i] > best ? v[i] : best;
	return best;
}

static int columns_init(struct columns *c, unsigned int n, uint64_t row)
{
	unsigned int i;

	c->n = n;
	c->blocks = (n + BLOCK - 1) / BLOCK;
	c->space = malloc(((size_t)c->blocks * BLOCK + c->blocks) * sizeof(*c->space));
	if (!c->space)
		return -1;
	c->top = c->space + (size_t)c->blocks * BLOCK;
	for (i = 0; i < c->blocks * BLOCK; i++)
		c->space[i] = i < n ? (int64_t)row : INT64_MIN;
	for (i = 0; i < c->blocks; i++)
		c->top[i] = row;
	return 0;
}

/* What of a block is vacant and has the most space, if that is at least @best. */
static uint64_t best_of_block(const struct columns *c, unsigned int b, uint64_t vacant,
			      int64_t *best)
{
	const int64_t *v = c->space + (size_t)b * BLOCK;
	uint64_t found = 0;

	for (; vacant; vacant &= vacant - 1) {
		unsigned int i = __builtin_ctzll(vacant);

		if (v[i] < *best)
			continue;
		if (v[i] > *best)
			found = 0;
		*best = v[i];
		found |= 1ULL << i;
	}
	return found;
}

/* Step 2.1: the vacant column of the row with the most free space; of several, any. */
static unsigned int best_column(const struct columns *c, const uint64_t *vacant,
				struct wl_rng *r)
{
	unsigned int b, ties = 0, from = 0;
	int64_t best = INT64_MIN;
	uint64_t found;

	/* Blocks that are all below what another one has are not looked at. */
	for (b = 1; b < c->blocks; b++)
		if (c->top[b] > c->top[from])
			from = b;
	best_of_block(c, from, vacant[from], &best);
	for (b = 0; b < c->blocks; b++)
		if (c->top[b] > best)
			best_of_block(c, b, vacant[b], &best);
	for (b = 0; b < c->blocks; b++)
		if (c->top[b] >= best)
			ties += __builtin_popcountll(best_of_block(c, b, vacant[b], &best));
	ties = ties > 1 ? wl_rng_below(r, ties) : 0;
	for (b = 0;; b++) {
		if (c->top[b] < best)
			continue;
		for (found = best_of_block(c, b, vacant[b], &best); found; found &= found - 1)
			if (!ties--)
				return b * BLOCK + __builtin_ctzll(found);
	}
}

static void fill_column(struct columns *c, unsigned int j, uint64_t bytes)
{
	bool top = c->space[j] == c->top[j / BLOCK];

	c->space[j] -= bytes;
	if (top)
		c->top[j / BLOCK] = block_top(c, j / BLOCK);
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
	unsigned int n = m->n, words = (n + BLOCK - 1) / BLOCK, i, j, *sorted, *order;
	size_t cells = (size_t)n * n, count = 0, k;
	struct columns cols = { 0 };
	struct prelim *msg;
	uint64_t *placed, *vacant;
	struct wl_lay lay;
	int ret = -1;

	msg = malloc(cells * sizeof(*msg));
	vacant = malloc((size_t)n * words * sizeof(*vacant));
	sorted = malloc(2 * (size_t)n * sizeof(*sorted));
	placed = NULL;
	if (!msg || !vacant || !sorted || columns_init(&cols, n, row))
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
	placed = calloc(cells, sizeof(*placed));
	if (!placed)
		goto out;
	for (i = 0; i < n; i++)
		for (j = 0; j < words; j++)
			vacant[(size_t)i * words + j] = (j + 1) * BLOCK <= n ? UINT64_MAX :
				(1ULL << n % BLOCK) - 1;
	for (k = 0; k < count; k++) {
		uint64_t *row_vacant = vacant + (size_t)msg[k].from * words;

		j = best_column(&cols, row_vacant, r);
		row_vacant[j / BLOCK] &= ~(1ULL << j % BLOCK);
		placed[(size_t)j * n + msg[k].from] = msg[k].bytes;
		fill_column(&cols, j, msg[k].bytes);
	}
	order_columns(cols.space, sorted, order, n, r);
	wl_lay_init(&lay, m, order, row);
	for (j = 0; j < n; j++)
		for (i = 0; i < n; i++)
			wl_lay_add(&lay, i, placed[(size_t)order[j] * n + i]);
	ret = 0;
out:
	if (ret)
		wl_error_set(err, "out of memory for %u hosts", n);
	free(msg);
	free(placed);
	free(vacant);
	free(cols.space);
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
