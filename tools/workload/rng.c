// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random numbers and elementary functions, the same on every machine: 64-bit
 * integers, and the floating point operations that IEEE 754 rounds correctly.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "rng.h"

/* 16: processors that compute with 16 bits too; doubles are doubles there. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "doubles must be computed as doubles: compile with SSE2"
#endif

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/**
 * wl_rng_init - begin a stream
 * @r: the stream
 * @seed: any number
 */
void wl_rng_init(struct wl_rng *r, uint64_t seed)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		r->s[i] = splitmix(&seed);
}

/**
 * wl_rng_mix - a seed made of three numbers
 * @seed: first
 * @a: second
 * @b: third
 *
 * Return: a seed; streams of different triples have nothing in common.
 */
uint64_t wl_rng_mix(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t x = splitmix(&seed) ^ a;

	x = splitmix(&x) ^ b;
	return splitmix(&x);
}

/**
 * wl_rng_below - a number below a limit, all equally likely
 * @r: the stream
 * @limit: at least 1
 *
 * Return: 0 to @limit - 1.
 */
uint64_t wl_rng_below(struct wl_rng *r, uint64_t limit)
{
	uint64_t bias = -limit % limit, x;

	/* The lowest 2^64 mod limit numbers would be one too many. */
	do {
		x = wl_rng_next(r);
	} while (x < bias);
	return x % limit;
}

/**
 * wl_rng_normal - a normal deviate, by Marsaglia's polar method
 * @r: the stream
 *
 * Return: mean 0, standard deviation 1.
 */
double wl_rng_normal(struct wl_rng *r)
{
	double u, v, s;

	do {
		u = 2 * wl_rng_unit(r) - 1;
		v = 2 * wl_rng_unit(r) - 1;
		s = u * u + v * v;
	} while (s >= 1);
	return u * sqrt(-2 * wl_log(s) / s);
}

/**
 * wl_rng_permute - shuffle numbers
 * @r: the stream
 * @v: the numbers
 * @n: how many
 */
void wl_rng_permute(struct wl_rng *r, unsigned int *v, unsigned int n)
{
	unsigned int i, j, t;

	for (i = n; i > 1; i--) {
		j = wl_rng_below(r, i);
		t = v[i - 1];
		v[i - 1] = v[j];
		v[j] = t;
	}
}

/* 2^k for -1022 <= k <= 1023 */
static double power_of_two(int k)
{
	uint64_t bits = (uint64_t)(k + 1023) << 52;
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/**
 * wl_log - natural logarithm
 * @x: a positive normal number
 *
 * Return: within a few units in the last place.
 */
double wl_log(double x)
{
	double m, z, z2, sum = 0;
	uint64_t bits;
	int e, i;

	memcpy(&bits, &x, sizeof(bits));
	e = (int)(bits >> 52) - 1023;
	bits = (bits & 0xfffffffffffffULL) | (1023ULL << 52);
	memcpy(&m, &bits, sizeof(m));
	if (m > 1.4142135623730951) {
		m /= 2;
		e++;
	}
	/* log m = 2 atanh z, |z| < 0.172 */
	z = (m - 1) / (m + 1);
	z2 = z * z;
	for (i = 23; i >= 1; i -= 2)
		sum = sum * z2 + 1.0 / i;
	return e * 0.6931471805599453 + 2 * z * sum;
}

/**
 * wl_exp - exponential function
 * @x: the exponent
 *
 * Return: within a few units in the last place; below -700 zero, beyond 700
 * what it is there.
 */
double wl_exp(double x)
{
	double r, sum = 1;
	int k, i;

	if (x < -700)
		return 0;
	if (x > 700)
		x = 700;
	k = (int)(x / 0.6931471805599453 + (x < 0 ? -0.5 : 0.5));
	r = x - k * 0.693147180369123816490;
	r -= k * (1.9082149292705877 / 10000000000.0);
	for (i = 16; i >= 1; i--)
		sum = 1 + sum * r / i;
	return sum * power_of_two(k);
}
