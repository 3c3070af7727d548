// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source's way to weights, beside the exact one: sequential quadratic
 * programming on continuous weights, from equal shares, with bounds (thesis,
 * 4.5.2; equation 4.2 has none).
 *
 * The sum is separable, so that the quadratic model of a step is diagonal and its
 * solution is found by bisection for the multiplier of the one equation.  Where a
 * model is not convex, its curvature is taken as small and positive.
 */
#include <math.h>

#include "saba.h"

#define ROUNDS		200
#define BISECTIONS	100
#define FLAT		1e-3
#define STEP		1e-3	/* of differences, where a model has no derivative */

static double slope(const struct saba_model *m, double b)
{
	if (!m->degree)
		return (saba_slowdown(m, b + STEP) - saba_slowdown(m, b - STEP)) / (2 * STEP);
	return m->c[1] + b * (2 * m->c[2] + b * 3 * m->c[3]);
}

static double curvature(const struct saba_model *m, double b)
{
	double h = 2 * m->c[2] + 6 * m->c[3] * b;

	if (!m->degree)
		h = (saba_slowdown(m, b + STEP) - 2 * saba_slowdown(m, b) +
		     saba_slowdown(m, b - STEP)) / (STEP * STEP);

	return h > FLAT ? h : FLAT;
}

static double total(const struct saba_model *const *m, unsigned int n, const double *w)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += saba_slowdown(m[i], w[i]);
	return sum;
}

static double clip(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* Where each weight goes for a multiplier; how far the sum is from the capacity. */
static double step_for(const struct saba_model *const *m, unsigned int n, double lambda,
		       double floor, double capacity, const double *w, double *to)
{
	double off = -capacity;
	unsigned int i;

	for (i = 0; i < n; i++) {
		double d = (lambda - slope(m[i], w[i])) / curvature(m[i], w[i]);

		to[i] = clip(w[i] + d, floor, capacity);
		off += to[i];
	}
	return off;
}

/**
 * saba_descend() - weights of applications as the source computes them
 * @m: models
 * @n: their number, at most SABA_APPS
 * @capacity: fraction of the link that they share, above 0
 * @floor: least weight, at most @capacity / @n
 * @weight: result, fractions of the link; the sum is @capacity
 *
 * A local minimum: compare saba_solve().
 *
 * Return: the sum of slowdowns; NaN if @n or @floor is out of bounds.
 */
double saba_descend(const struct saba_model *const *m, unsigned int n, double capacity,
		    double floor, double *weight)
{
	double to[SABA_APPS], try[SABA_APPS], now;
	unsigned int i, round, half;

	if (!n || n > SABA_APPS || !(capacity > 0) || floor * n > capacity * (1 + 1e-9))
		return NAN;
	for (i = 0; i < n; i++)
		weight[i] = capacity / n;
	now = total(m, n, weight);
	for (round = 0; round < ROUNDS; round++) {
		double lo = -1e9, hi = 1e9, far = 0, part = 1, then = now;

		for (half = 0; half < BISECTIONS; half++) {
			double mid = (lo + hi) / 2;

			if (step_for(m, n, mid, floor, capacity, weight, to) > 0)
				hi = mid;
			else
				lo = mid;
		}
		for (half = 0; half < 40; half++, part /= 2) {
			for (i = 0; i < n; i++)
				try[i] = weight[i] + part * (to[i] - weight[i]);
			then = total(m, n, try);
			if (then < now)
				break;
		}
		if (!(then < now))
			break;
		for (i = 0; i < n; i++) {
			far = fmax(far, fabs(try[i] - weight[i]));
			weight[i] = try[i];
		}
		now = then;
		if (far < 1e-7)
			break;
	}
	return now;
}
