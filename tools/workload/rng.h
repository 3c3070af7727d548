/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers that are the same on every machine, and the few functions
 * for which a C library would give each machine its own last digit.
 */
#ifndef SHUFFLE_WORKLOAD_RNG_H
#define SHUFFLE_WORKLOAD_RNG_H

#include <stdint.h>

/**
 * struct wl_rng - a stream of random numbers (xoshiro256**)
 * @s: state
 */
struct wl_rng {
	uint64_t s[4];
};

void wl_rng_init(struct wl_rng *r, uint64_t seed);
uint64_t wl_rng_mix(uint64_t seed, uint64_t a, uint64_t b);
uint64_t wl_rng_below(struct wl_rng *r, uint64_t limit);
double wl_rng_normal(struct wl_rng *r);
void wl_rng_permute(struct wl_rng *r, unsigned int *v, unsigned int n);

double wl_exp(double x);
double wl_log(double x);

static inline uint64_t wl_rng_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t wl_rng_next(struct wl_rng *r)
{
	uint64_t x = wl_rng_rotl(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = wl_rng_rotl(r->s[3], 45);
	return x;
}

/* Strictly between 0 and 1. */
static inline double wl_rng_unit(struct wl_rng *r)
{
	return ((wl_rng_next(r) >> 12) + 0.5) / 4503599627370496.0;
}

#endif /* SHUFFLE_WORKLOAD_RNG_H */
