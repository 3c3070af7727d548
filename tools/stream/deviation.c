// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The standard deviation of lags, the square root of the source's VAR: the source compares a square
 * of times with a percentage, which only makes sense of the root.
 */
#include "stream.h"

/**
 * stream_root() - the square root
 * @v: any number
 *
 * Return: the root, rounded down.
 */
u64 stream_root(u64 v)
{
	u64 bit = 1ULL << 62, root = 0;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

/**
 * stream_deviation() - the standard deviation
 * @v: times from 0 to STREAM_MAX_DURATION
 * @n: how many: at most STREAM_MAX_HISTORY
 *
 * It is exact, but for rounding down, if all are below 33 ms.  Larger ones lose their last bits:
 * the result is then right to 25 bits of the largest.
 *
 * Source: section III.B.2, the sums over the last intervals.
 * Return: sqrt(sum of (v - mean)^2 / n), ns; 0 of nothing.
 */
s64 stream_deviation(const s64 *v, u32 n)
{
	u64 sum = 0, squares = 0, max = 0;
	u32 shift = 0, i;

	if (!n)
		return 0;
	for (i = 0; i < n; i++)
		if ((u64)v[i] > max)
			max = (u64)v[i];
	while (max >> shift >= 1U << 25)
		shift++;
	for (i = 0; i < n; i++) {
		u64 x = (u64)v[i] >> shift;

		sum += x;
		squares += x * x;
	}
	/* n and each sum of squares: 6 + 6 + 50 bits */
	return (s64)(shuffle_div64(stream_root(n * squares - sum * sum), n) << shift);
}
