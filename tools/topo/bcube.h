/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Labels of a BCube(n, k): k + 1 digits below n.  A label is kept in 32 bits, each digit in as
 * many bits as n - 1 needs, digit 0 lowest; so labels order as indexes do, and a digit is a shift
 * away.  Portable: no lock, no allocation, no library.
 *
 * Source: Guo et al., "Exploiting Efficient and Scalable Shuffle Transfers in Future Data Center
 * Networks", section 2.1.
 */
#ifndef TOPO_BCUBE_H
#define TOPO_BCUBE_H

#include "portable.h"

#define BCUBE_MAX_N	256U
#define BCUBE_MAX_DIMS	16U
#define BCUBE_BITS	32U		/* of a label */

/**
 * struct bcube - a topology
 * @n: ports of a switch: digits are below
 * @dims: digits of a label: ports of a server, k + 1
 * @bits: of a digit
 * @mask: of a digit
 */
struct bcube {
	u32	n;
	u32	dims;
	u32	bits;
	u32	mask;
};

/**
 * bcube_init() - fill in a topology
 * @c: the topology
 * @n: ports of a switch
 * @k: levels of switches, less one
 *
 * Return: true; false if it has fewer than two ports or more than a label holds.
 */
static inline bool bcube_init(struct bcube *c, u32 n, u32 k)
{
	if (n < 2 || n > BCUBE_MAX_N || k >= BCUBE_MAX_DIMS)
		return false;
	c->n = n;
	c->dims = k + 1;
	for (c->bits = 1; (1U << c->bits) < n; c->bits++)
		;
	c->mask = (1U << c->bits) - 1;
	return c->bits * c->dims <= BCUBE_BITS;
}

static inline u32 bcube_digit(const struct bcube *c, u32 label, u32 dim)
{
	return (label >> (dim * c->bits)) & c->mask;
}

/* The label with another digit. */
static inline u32 bcube_with(const struct bcube *c, u32 label, u32 dim, u32 digit)
{
	u32 shift = dim * c->bits;

	return (label & ~(c->mask << shift)) | (digit << shift);
}

/* Digits that differ: server hops between two servers. */
static inline u32 bcube_distance(const struct bcube *c, u32 a, u32 b)
{
	u32 differ = a ^ b, i, distance = 0;

	for (i = 0; i < c->dims; i++, differ >>= c->bits)
		distance += (differ & c->mask) != 0;
	return distance;
}

/* The only dimension in which two servers differ; dims if there is not just one. */
static inline u32 bcube_hop(const struct bcube *c, u32 a, u32 b)
{
	u32 i, dim = c->dims;

	for (i = 0; i < c->dims; i++) {
		if (bcube_digit(c, a, i) == bcube_digit(c, b, i))
			continue;
		if (dim != c->dims)
			return c->dims;
		dim = i;
	}
	return dim;
}

/* Is it the label of a server? */
static inline bool bcube_valid(const struct bcube *c, u32 label)
{
	u32 i;

	for (i = 0; i < c->dims; i++)
		if (bcube_digit(c, label, i) >= c->n)
			return false;
	return c->bits * c->dims == BCUBE_BITS || !(label >> (c->bits * c->dims));
}

/* Servers: n to the power of dims; below 2^32, as labels are, or 2^32 - 1. */
static inline u32 bcube_servers(const struct bcube *c)
{
	u64 servers = 1;
	u32 i;

	for (i = 0; i < c->dims; i++)
		servers *= c->n;
	return servers > U32_MAX ? U32_MAX : (u32)servers;
}

static inline u32 bcube_index(const struct bcube *c, u32 label)
{
	u32 index = 0, i;

	for (i = c->dims; i-- > 0;)
		index = index * c->n + bcube_digit(c, label, i);
	return index;
}

static inline u32 bcube_label(const struct bcube *c, u32 index)
{
	u32 label = 0, i;

	for (i = 0; i < c->dims; i++, index /= c->n)
		label |= index % c->n << (i * c->bits);
	return label;
}

#endif /* TOPO_BCUBE_H */
