/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which bytes of a message have arrived: a prefix without gaps, and a bounded,
 * sorted set of out-of-order ranges ("islands") behind it.  Portable: see portable.h.
 */
#ifndef _SHUFFLE_RANGES_H
#define _SHUFFLE_RANGES_H

#include "portable.h"

/* Bounds the memory that a peer can claim by sending data with gaps. */
#define SHUFFLE_RANGES_MAX	64U

/**
 * struct shuffle_range - bytes [start, end)
 * @start: first byte
 * @end: byte behind the last
 */
struct shuffle_range {
	u64	start;
	u64	end;
};

/**
 * struct shuffle_ranges - received bytes of one message
 * @prefix: all bytes below have arrived
 * @bytes: bytes that have arrived in all
 * @n: islands behind @prefix
 * @island: sorted, disjoint, never touching each other or @prefix; memory of
 *	the caller for SHUFFLE_RANGES_MAX of them, NULL until one is needed
 */
struct shuffle_ranges {
	u64			prefix;
	u64			bytes;
	u32			n;
	struct shuffle_range	*island;
};

bool shuffle_ranges_missing(const struct shuffle_ranges *r, u64 from, u64 to,
			    struct shuffle_range *gap);
int shuffle_ranges_add(struct shuffle_ranges *r, u64 start, u64 end);

#endif /* _SHUFFLE_RANGES_H */
