// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Weights with the least sum of slowdowns, exactly on a grid of 1 % (thesis,
 * equation 4.2).
 *
 * The fitted polynomials are neither convex nor monotone, so that a method which
 * goes downhill ends in one of several valleys.  A dynamic programme over the
 * capacity finds the least sum there is: best[i][s] is the least sum of the first
 * i items that have s percent together.
 *
 * Where all costs are convex, percent by percent is as exact and takes a few per cent of that.
 *
 * The equation by itself has no solution for straight lines: without bounds one
 * item takes all.  Here an item has at least 5 %, or half of an equal share if
 * that is less.
 */
#include <math.h>
#include <string.h>

#include "saba.h"

#define FLOOR	5	/* percent */
#define ITEMS	(SABA_GRID / 2)
#define ROUNDING 1e-12

struct item {
	const double	*cost;		/* by percent */
	unsigned int	least;
	unsigned int	most;
};

/* More makes less and less of a difference, to within rounding. */
static bool convex(const struct item *item, unsigned int capacity)
{
	const double *cost = item->cost;
	unsigned int w;

	for (w = item->least + 1; w < capacity; w++)
		if (cost[w + 1] + cost[w - 1] < 2 * cost[w] - ROUNDING * (1 + fabs(cost[w])))
			return false;
	return true;
}

/*
 * Where that is so of all, the least sum is reached percent by percent, each for who gains most by
 * it; of equals, the first one.
 */
static double fill(const struct item *item, unsigned int n, unsigned int capacity, uint8_t *weight)
{
	double gain[ITEMS], sum = 0;
	unsigned int i, best;

	for (i = 0; i < n; i++) {
		weight[i] = item[i].least;
		capacity -= item[i].least;
	}
	for (i = 0; i < n && capacity; i++)
		gain[i] = item[i].cost[weight[i]] - item[i].cost[weight[i] + 1];
	for (; capacity; capacity--) {
		for (i = 1, best = 0; i < n; i++)
			if (gain[i] > gain[best] + ROUNDING)
				best = i;
		weight[best]++;
		if (capacity > 1)
			gain[best] = item[best].cost[weight[best]] -
				     item[best].cost[weight[best] + 1];
	}
	for (i = 0; i < n; i++)
		sum += item[i].cost[weight[i]];
	return sum;
}

/*
 * The innermost loop reads old and writes new at consecutive places: compilers
 * make vectors of it.  What was chosen is found by looking once more, with the
 * same sums, so that equality is exact.
 */
static double solve(const struct item *item, unsigned int n, unsigned int capacity,
		    uint8_t *weight)
{
	double best[ITEMS + 1][SABA_GRID + 1];
	unsigned int i, s, w, lo = 0, hi = 0;
	unsigned int to_come = 0;

	for (i = 0; i < n && convex(&item[i], capacity); i++)
		;
	if (i == n)
		return fill(item, n, capacity, weight);
	for (i = 0; i < n; i++)
		to_come += item[i].least;
	for (s = 0; s <= capacity; s++)
		best[0][s] = s ? INFINITY : 0;
	for (i = 0; i < n; i++) {
		unsigned int top;

		to_come -= item[i].least;
		top = capacity - to_come;
		for (s = 0; s <= capacity; s++)
			best[i + 1][s] = INFINITY;
		for (w = item[i].least; w <= item[i].most && lo + w <= top; w++) {
			const double cost = item[i].cost[w], *old = best[i];
			double *new = best[i + 1] + w;
			unsigned int end = hi + w <= top ? hi : top - w;

			for (s = lo; s <= end; s++) {
				double v = old[s] + cost;

				new[s] = v < new[s] ? v : new[s];
			}
		}
		lo += item[i].least;
		hi = hi + item[i].most <= top ? hi + item[i].most : top;
	}
	for (i = n, s = capacity; i-- > 0; s -= w) {
		for (w = item[i].least; w <= item[i].most && w <= s; w++)
			if (best[i][s - w] + item[i].cost[w] == best[i + 1][s])
				break;
		weight[i] = w;
	}
	return best[n][capacity];
}

static unsigned int least_share(unsigned int n, unsigned int capacity)
{
	unsigned int half = capacity / (2 * n);

	if (half > FLOOR)
		return FLOOR;
	return half ? half : 1;
}

/**
 * saba_solve() - weights of applications
 * @costs: of each application
 * @n: their number, 1 to SABA_GRID / 2 and at most @capacity
 * @capacity: percent of the link that they share, 1 to SABA_GRID
 * @weight: result, percent; the sum is @capacity
 *
 * Deterministic: of several solutions, the one in which the last application has
 * least, then the one before it, and so on.
 *
 * Return: the sum of slowdowns; NaN if @n is out of bounds.
 */
double saba_solve(const struct saba_costs *const *costs, unsigned int n, unsigned int capacity,
		  uint8_t *weight)
{
	struct item item[ITEMS];
	unsigned int i;

	if (!n || n > ITEMS || capacity > SABA_GRID || n > capacity)
		return NAN;
	for (i = 0; i < n; i++) {
		item[i].cost = costs[i]->at;
		item[i].least = least_share(n, capacity);
		item[i].most = capacity;
	}
	return solve(item, n, capacity, weight);
}

/**
 * saba_solve_levels() - weights of priority levels, where applications are many
 * @lv: levels
 * @count: number of applications of each level that are present
 * @capacity: percent of the link that they share, 1 to SABA_GRID, at least as many
 *	as levels are present
 * @weight: result, percent for each level; the sum is @capacity
 *
 * Applications of a level have equal shares.  With n of them in L levels a share
 * is below all that was profiled, so that models are read at n / L times the share:
 * where all have the same, at 1 / L.  If slowdown is 1 - f + f / b that changes the
 * sum and not where it is least.
 *
 * Return: the sum of slowdowns so read; NaN if no level is present or too many are.
 */
double saba_solve_levels(const struct saba_levels *lv, const unsigned int *count,
			 unsigned int capacity, double *weight)
{
	double cost[SABA_LEVELS][SABA_GRID + 1], sum;
	unsigned int at[SABA_LEVELS], levels = 0, n = 0, floors = 0, i, l, w;
	struct item item[SABA_LEVELS];
	uint8_t w8[SABA_LEVELS];

	for (l = 0; l < lv->n; l++) {
		weight[l] = 0;
		n += count[l];
		if (count[l])
			at[levels++] = l;
	}
	if (!levels || capacity > SABA_GRID || levels > capacity)
		return NAN;
	for (i = 0; i < levels; i++) {
		unsigned int many = count[at[i]];
		double scale = n / (double)(many * levels * SABA_GRID);
		double least = least_share(levels, capacity) * many * levels / (double)n;

		item[i].cost = cost[i];
		item[i].least = least >= 1 ? least : 1;
		floors += item[i].least;
		item[i].most = capacity;
		for (w = 0; w <= capacity; w++) {
			/* nothing is known above the whole link */
			double b = w * scale;

			cost[i][w] = w && (w - 1) * scale >= 1 ? cost[i][w - 1] :
				     many * saba_slowdown(&lv->model[at[i]], b < 1 ? b : 1);
		}
	}
	for (i = 0; i < levels && floors > capacity; i++)
		item[i].least = 1;
	sum = solve(item, levels, capacity, w8);
	for (i = 0; i < levels; i++)
		weight[at[i]] = w8[i];
	return sum;
}
