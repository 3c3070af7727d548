/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A token bucket in one number: the generic cell rate algorithm (ITU-T I.371, annex A).
 *
 * Instead of tokens it keeps the time at which the bucket will be full again.  An event moves
 * that time on by one interval; it is too early if the time is further away than the burst.
 *
 * Portable: see portable.h.
 */
#ifndef _SHUFFLE_RATE_H
#define _SHUFFLE_RATE_H

#include "portable.h"

#define SHUFFLE_RATE_SECOND	1000000000U	/* ns */

/* As much as may come at once: what the rate allows in so long, and at least so many events. */
#define SHUFFLE_RATE_BURST_NS	10000000ULL
#define SHUFFLE_RATE_BURST	16U

/**
 * shuffle_rate_next() - may an event happen now?
 * @full_at: when the bucket is full again, ns; 0 at first
 * @now: ns, of the same clock
 * @rate: events per second, 1 to 1000000000
 *
 * Return: the new @full_at, or 0 if the event would be too early.
 */
static inline u64 shuffle_rate_next(u64 full_at, u64 now, u32 rate)
{
	u64 interval = SHUFFLE_RATE_SECOND / rate;
	u64 burst = (SHUFFLE_RATE_BURST - 1) * interval, ahead;

	if (burst < SHUFFLE_RATE_BURST_NS)
		burst = SHUFFLE_RATE_BURST_NS;
	ahead = full_at > now ? full_at - now : 0;
	/* further than any event moves it: the rate was lower then */
	if (ahead > burst + interval)
		ahead = burst;
	return ahead <= burst ? now + ahead + interval : 0;
}

#endif /* _SHUFFLE_RATE_H */
