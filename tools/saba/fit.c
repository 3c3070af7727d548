// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sensitivity models: polynomials through measured slowdowns (thesis, 4.2); degree 0 is in
 * samples.c.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "saba.h"

/**
 * saba_slowdown() - what a model predicts
 * @m: model
 * @b: bandwidth, a fraction of the link rate
 *
 * Return: time with that bandwidth over time with all of it.
 */
double saba_slowdown(const struct saba_model *m, double b)
{
	if (!m->degree)
		return saba_between(m, b);
	return m->c[0] + b * (m->c[1] + b * (m->c[2] + b * m->c[3]));
}

/**
 * saba_costs() - a model on the grid of weights
 * @m: model
 * @costs: result
 *
 * The polynomial is taken as it is, also where it is below 1 or rises: cutting
 * it off makes weights worse for degrees 2 and 3.
 */
void saba_costs(const struct saba_model *m, struct saba_costs *costs)
{
	unsigned int w;

	for (w = 0; w <= SABA_GRID; w++)
		costs->at[w] = saba_slowdown(m, w / (double)SABA_GRID);
}

static double fit_error(const struct saba_model *m, const double *b, const double *d,
			unsigned int n, double *total)
{
	double mean = 0, left = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		mean += d[i] / n;
	*total = 0;
	for (i = 0; i < n; i++) {
		double off = d[i] - saba_slowdown(m, b[i]);

		left += off * off;
		*total += (d[i] - mean) * (d[i] - mean);
	}
	return left;
}

/*
 * The polynomial with the least sum of squared errors, by the QR decomposition of the matrix of
 * powers (modified Gram-Schmidt).
 */
static int polynomial(const double *b, const double *slowdown, unsigned int n, unsigned int degree,
		      struct saba_model *m)
{
	double q[SABA_DEGREE + 1][SABA_POINTS], r[SABA_DEGREE + 1][SABA_DEGREE + 1];
	double y[SABA_DEGREE + 1];
	unsigned int i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0, q[0][i] = 1; j < degree; j++)
			q[j + 1][i] = q[j][i] * b[i];
	memset(r, 0, sizeof(r));
	for (j = 0; j <= degree; j++) {
		double before = 0;

		for (i = 0; i < n; i++)
			before += q[j][i] * q[j][i];
		for (k = 0; k < j; k++) {
			for (i = 0; i < n; i++)
				r[k][j] += q[k][i] * q[j][i];
			for (i = 0; i < n; i++)
				q[j][i] -= r[k][j] * q[k][i];
		}
		for (i = 0; i < n; i++)
			r[j][j] += q[j][i] * q[j][i];
		/* only rounding is left of a power that the others make up */
		if (r[j][j] <= 1e-20 * before)
			return -EINVAL;
		r[j][j] = sqrt(r[j][j]);
		for (i = 0, y[j] = 0; i < n; i++) {
			q[j][i] /= r[j][j];
			y[j] += q[j][i] * slowdown[i];
		}
	}
	memset(m, 0, sizeof(*m));
	m->degree = degree;
	for (j = degree + 1; j-- > 0;) {
		m->c[j] = y[j];
		for (k = j + 1; k <= degree; k++)
			m->c[j] -= r[j][k] * m->c[k];
		m->c[j] /= r[j][j];
	}
	return 0;
}

/**
 * saba_fit() - a model of what was measured
 * @b: bandwidths, fractions of the link rate, above 0 and at most 1
 * @slowdown: measured with them
 * @n: their number
 * @degree: of the polynomial; 0 for lines between the samples
 * @m: result
 *
 * Return: 0; -EINVAL if there are fewer different bandwidths than coefficients, or than two,
 * more than SABA_POINTS samples, or values that are no numbers.
 */
int saba_fit(const double *b, const double *slowdown, unsigned int n, unsigned int degree,
	     struct saba_model *m)
{
	double left, total;
	unsigned int i;
	int err;

	if (degree > SABA_DEGREE || n <= degree || n > SABA_POINTS)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (!isfinite(slowdown[i]) || !(b[i] > 0 && b[i] <= 1))
			return -EINVAL;
	err = degree ? polynomial(b, slowdown, n, degree, m) : saba_join(b, slowdown, n, m);
	if (err)
		return err;
	left = fit_error(m, b, slowdown, n, &total);
	/* samples that are all the same are met exactly */
	m->r2 = total > 0 ? 1 - left / total : 1;
	return 0;
}
