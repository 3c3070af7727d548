// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zipf's distribution by rejection-inversion (W. Hoermann and G. Derflinger, "Rejection-inversion
 * to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996): no table, the
 * same time for every n.
 */
#include "zipf.h"

#define NEAR_ZERO	0.0001	/* where a series is more exact */
#define MORE_THAN_ONE	0.000000000000001

/* log(1 + x) / x */
static double log_ratio(double x)
{
	if (x > NEAR_ZERO || x < -NEAR_ZERO)
		return wl_log(1 + x) / x;
	return 1 - x * (0.5 - x * (1.0 / 3 - x * 0.25));
}

/* (exp(x) - 1) / x */
static double exp_ratio(double x)
{
	if (x > NEAR_ZERO || x < -NEAR_ZERO)
		return (wl_exp(x) - 1) / x;
	return 1 + x * (0.5 + x * (1.0 / 6 + x / 24));
}

static double density(const struct zipf *z, double x)
{
	return wl_exp(-z->s * wl_log(x));
}

static double integral(const struct zipf *z, double x)
{
	double l = wl_log(x);

	return exp_ratio((1 - z->s) * l) * l;
}

static double inverse(const struct zipf *z, double x)
{
	double t = x * (1 - z->s);

	if (t < -1 + MORE_THAN_ONE)
		t = -1 + MORE_THAN_ONE;
	return wl_exp(log_ratio(t) * x);
}

/**
 * zipf_init - prepare
 * @z: set
 * @n: largest number, 1 at least
 * @s: exponent
 */
void zipf_init(struct zipf *z, uint64_t n, double s)
{
	z->n = n;
	z->s = s;
	z->first = integral(z, 1.5) - 1;
	z->all = integral(z, n + 0.5);
	z->sure = 2 - inverse(z, integral(z, 2.5) - density(z, 2));
}

/**
 * zipf_next - draw a number
 * @z: the distribution
 * @r: random numbers
 *
 * Return: 1 to n.
 */
uint64_t zipf_next(const struct zipf *z, struct wl_rng *r)
{
	for (;;) {
		double u = z->all + wl_rng_unit(r) * (z->first - z->all);
		double x = inverse(z, u);
		uint64_t k = x < 1 ? 1 : x >= z->n ? z->n : (uint64_t)(x + 0.5);

		if (k > z->n)
			k = z->n;
		if (k - x <= z->sure || u >= integral(z, k + 0.5) - density(z, k))
			return k;
	}
}
