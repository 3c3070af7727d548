/* SPDX-License-Identifier: GPL-2.0-only */
/* Token buckets that several CPUs take from. */
#ifndef _SHUFFLE_KERNEL_RATE_H
#define _SHUFFLE_KERNEL_RATE_H

#include <linux/atomic.h>
#include "sched/rate.h"

/**
 * shuffle_rate_take() - may an event happen now?  Then it has.
 * @full_at: the bucket: when it is full again, ns; 0 at first
 * @now: ns, of the same clock
 * @rate: events per second, 1 to 1000000000
 *
 * Context: any.
 */
static inline bool shuffle_rate_take(atomic64_t *full_at, u64 now, u32 rate)
{
	s64 old = atomic64_read(full_at);
	u64 next;

	do {
		next = shuffle_rate_next(old, now, rate);
		if (!next)
			return false;
	} while (!atomic64_try_cmpxchg(full_at, &old, next));
	return true;
}

#endif /* _SHUFFLE_KERNEL_RATE_H */
