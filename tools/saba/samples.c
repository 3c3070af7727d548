// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sensitivity models of degree 0: the measured slowdowns themselves, monotone, and between them
 * straight lines over 1/b.
 *
 * What is sent takes time in proportion to 1/b, so that such lines meet 1 - f + f/b exactly, and
 * also what overlaps with computation, but for the place where it begins to be felt.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "saba.h"

struct point {
	double		b;
	double		d;
	unsigned int	n;	/* samples that it is the mean of */
};

static double between(double b, double lo, double at_lo, double hi, double at_hi)
{
	double part = (1 / b - 1 / hi) / (1 / lo - 1 / hi);

	return at_hi + part * (at_lo - at_hi);
}

/**
 * saba_between() - what a model of degree 0 predicts
 * @m: model
 * @b: bandwidth, a fraction of the link rate
 *
 * Return: time with that bandwidth over time with all of it.
 */
double saba_between(const struct saba_model *m, double b)
{
	unsigned int i;

	/* less is asked for by nobody, and has no number */
	if (b < 1e-3)
		b = 1e-3;
	i = b * SABA_VALUES;
	if (i < 1)
		i = 1;
	if (i >= SABA_VALUES)
		i = SABA_VALUES - 1;
	return between(b, i / (double)SABA_VALUES, m->c[i - 1], (i + 1) / (double)SABA_VALUES,
		       m->c[i]);
}

/* By bandwidth, those of the same bandwidth as one. */
static unsigned int sorted(const double *b, const double *slowdown, unsigned int n, struct point *p)
{
	unsigned int i, k, used = 0;

	for (i = 0; i < n; i++) {
		for (k = 0; k < used && p[k].b < b[i]; k++)
			;
		if (k < used && p[k].b == b[i]) {
			p[k].d += (slowdown[i] - p[k].d) / ++p[k].n;
			continue;
		}
		memmove(&p[k + 1], &p[k], (used - k) * sizeof(*p));
		p[k] = (struct point){ b[i], slowdown[i], 1 };
		used++;
	}
	return used;
}

/*
 * More bandwidth never harms: neighbours that say so have their mean, the closest such values by
 * least squares (pool adjacent violators).
 */
static void make_monotone(struct point *p, unsigned int n)
{
	struct point pool[SABA_POINTS];
	unsigned int size[SABA_POINTS], pools = 0, i, k, at = 0;

	for (i = 0; i < n; i++) {
		pool[pools] = p[i];
		size[pools++] = 1;
		while (pools > 1 && pool[pools - 1].d > pool[pools - 2].d) {
			struct point *a = &pool[pools - 2], *b = &pool[pools - 1];

			a->d = (a->d * a->n + b->d * b->n) / (a->n + b->n);
			a->n += b->n;
			size[pools - 2] += size[pools - 1];
			pools--;
		}
	}
	for (i = 0; i < pools; i++)
		for (k = 0; k < size[i]; k++)
			p[at++].d = pool[i].d;
}

/**
 * saba_join() - the model of degree 0
 * @b: bandwidths, fractions of the link rate, above 0 and at most 1
 * @slowdown: measured with them
 * @n: their number
 * @m: result
 *
 * Return: 0; -EINVAL if there are fewer than two different bandwidths.
 */
int saba_join(const double *b, const double *slowdown, unsigned int n, struct saba_model *m)
{
	struct point p[SABA_POINTS];
	unsigned int i, k = 0;

	n = sorted(b, slowdown, n, p);
	if (n < 2)
		return -EINVAL;
	make_monotone(p, n);
	memset(m, 0, sizeof(*m));
	for (i = 0; i < SABA_VALUES; i++) {
		double at = (i + 1) / (double)SABA_VALUES;

		/* outside of what was measured the last line goes on */
		while (k + 2 < n && p[k + 1].b < at)
			k++;
		m->c[i] = between(at, p[k].b, p[k].d, p[k + 1].b, p[k + 1].d);
	}
	return 0;
}
