/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What the portable files (wire.c, policy.c, ranges.c) need from their surroundings:
 * integer types, 64-bit divisions, unaligned big-endian access.  They take no
 * lock, sleep nowhere and allocate nothing, so the same source runs in the
 * module, in KUnit and in user-space programs.
 */
#ifndef _SHUFFLE_PORTABLE_H
#define _SHUFFLE_PORTABLE_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/prefetch.h>
#include <linux/string.h>
#include <linux/types.h>

#define shuffle_div64(a, b)	div64_u64(a, b)
#define shuffle_prefetch(p)	prefetch(p)
#define shuffle_bits(v)		((u32)fls64(v))

/* a number that several CPUs change, modulo 2^32 */
typedef atomic_t shuffle_counter;
#define shuffle_counter_read(c)		((u32)atomic_read(c))
#define shuffle_counter_add(c, n)	atomic_add((int)(n), c)

#else /* user space */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define shuffle_div64(a, b)	((u64)(a) / (u64)(b))
#define shuffle_prefetch(p)	__builtin_prefetch(p)
#define shuffle_bits(v)		((v) ? 64U - (u32)__builtin_clzll(v) : 0U)

typedef u32 shuffle_counter;
#define shuffle_counter_read(c)		(*(c))
#define shuffle_counter_add(c, n)	(*(c) += (n))

#endif /* __KERNEL__ */

/**
 * shuffle_mul_div() - a * mul / div, rounded down
 * @a: any number
 * @mul: any number
 * @div: any number
 *
 * The product has 96 bits.  A quotient of more than 64 is a fault on some
 * processors when their own instruction divides, so it is made of two.
 *
 * Context: any.
 * Return: the quotient; U64_MAX if it is larger, or if @div is 0.
 */
static inline u64 shuffle_mul_div(u64 a, u32 mul, u32 div)
{
	u64 low = (a & U32_MAX) * mul;
	u64 high = (a >> 32) * mul + (low >> 32);
	u64 q;

	if (!div)
		return U64_MAX;
	q = shuffle_div64(high, div);
	if (q > U32_MAX)
		return U64_MAX;
	low = (high - q * div) << 32 | (low & U32_MAX);
	return q << 32 | shuffle_div64(low, div);
}

/**
 * shuffle_add() - a + b
 * @a: any number
 * @b: any number
 *
 * Context: any.
 * Return: the sum; U64_MAX if it is larger.
 */
static inline u64 shuffle_add(u64 a, u64 b)
{
	return a > U64_MAX - b ? U64_MAX : a + b;
}

static inline u16 shuffle_get16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

static inline u32 shuffle_get32(const u8 *p)
{
	return (u32)shuffle_get16(p) << 16 | shuffle_get16(p + 2);
}

static inline u64 shuffle_get64(const u8 *p)
{
	return (u64)shuffle_get32(p) << 32 | shuffle_get32(p + 4);
}

static inline u64 shuffle_get_le64(const u8 *p)
{
	return (u64)p[7] << 56 | (u64)p[6] << 48 | (u64)p[5] << 40 | (u64)p[4] << 32 |
	       (u64)p[3] << 24 | (u64)p[2] << 16 | (u64)p[1] << 8 | p[0];
}

/* 48 bits: the range of message lengths and offsets */
static inline u64 shuffle_get48(const u8 *p)
{
	return (u64)shuffle_get16(p) << 32 | shuffle_get32(p + 2);
}

static inline void shuffle_put16(u8 *p, u16 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static inline void shuffle_put32(u8 *p, u32 v)
{
	shuffle_put16(p, (u16)(v >> 16));
	shuffle_put16(p + 2, (u16)v);
}

static inline void shuffle_put64(u8 *p, u64 v)
{
	shuffle_put32(p, (u32)(v >> 32));
	shuffle_put32(p + 4, (u32)v);
}

static inline void shuffle_put48(u8 *p, u64 v)
{
	shuffle_put16(p, (u16)(v >> 32));
	shuffle_put32(p + 2, (u32)v);
}

#endif /* _SHUFFLE_PORTABLE_H */
