// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Medians and means of times. */
#include "stream.h"

static void swap(s64 *a, s64 *b)
{
	s64 t = *a;

	*a = *b;
	*b = t;
}

/* Bring the k-th smallest to its place; what is before it is not larger. */
static s64 select_kth(s64 *v, u32 n, u32 k)
{
	u32 lo = 0, hi = n - 1;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2, i = lo, j = hi;
		s64 pivot;

		if (v[mid] < v[lo])
			swap(&v[mid], &v[lo]);
		if (v[hi] < v[lo])
			swap(&v[hi], &v[lo]);
		if (v[hi] < v[mid])
			swap(&v[hi], &v[mid]);
		pivot = v[mid];
		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&v[i++], &v[j--]);
		}
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[k];
}

/**
 * stream_median() - the median
 * @v: times; their order is lost
 * @n: how many
 *
 * Of an even number it is the mean of the two in the middle, rounded to the smaller.
 *
 * Return: the median; 0 of nothing.
 */
s64 stream_median(s64 *v, u32 n)
{
	s64 low, high;
	u32 i;

	if (!n)
		return 0;
	high = select_kth(v, n, n / 2);
	if (n & 1)
		return high;
	low = v[0];
	for (i = 1; i < n / 2; i++)
		if (v[i] > low)
			low = v[i];
	return low + (s64)(((u64)high - (u64)low) / 2);
}

/**
 * stream_mean() - the mean
 * @v: times of one clock
 * @n: how many
 *
 * It is taken of distances from the smallest; no sum of times is larger than 64 bits.
 *
 * Return: the mean, rounded down; 0 of nothing.
 */
s64 stream_mean(const s64 *v, u32 n)
{
	u64 whole = 0, rest = 0;
	s64 min;
	u32 i;

	if (!n)
		return 0;
	min = v[0];
	for (i = 1; i < n; i++)
		if (v[i] < min)
			min = v[i];
	for (i = 0; i < n; i++) {
		u64 d = (u64)v[i] - (u64)min, q = shuffle_div64(d, n);

		whole += q;
		rest += d - q * n;
	}
	return (s64)((u64)min + whole + shuffle_div64(rest, n));
}
