/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers 1 to n, k with a probability proportional to k^-s. */
#ifndef QUERY_ZIPF_H
#define QUERY_ZIPF_H

#include <stdint.h>

#include "rng.h"

/**
 * struct zipf - a distribution
 * @n: largest number
 * @s: exponent; 0: all are equally likely
 * @first: integral up to 1.5, less the probability of 1
 * @all: integral up to n + 0.5
 * @sure: distance below which a number is accepted without the exact test
 */
struct zipf {
	uint64_t n;
	double s, first, all, sure;
};

void zipf_init(struct zipf *z, uint64_t n, double s);
uint64_t zipf_next(const struct zipf *z, struct wl_rng *r);

#endif /* QUERY_ZIPF_H */
