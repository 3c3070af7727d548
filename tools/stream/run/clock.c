// SPDX-License-Identifier: GPL-2.0-or-later
/* The clock of a member: CLOCK_MONOTONIC, or one that is wrong on purpose. */
#include <time.h>

#include "clock.h"
#include "run.h"

/* No time is below 0, though offsets may be. */
#define EPOCH	(100000 * STREAM_SECOND)

/**
 * run_monotonic() - the kernel's clock
 *
 * Return: ns.
 */
s64 run_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * STREAM_SECOND + t.tv_nsec;
}

/**
 * run_now() - the member's clock
 * @c: the clock
 *
 * Return: ns.
 */
s64 run_now(const struct run_clock *c)
{
	s64 now = run_monotonic();

	return EPOCH + now + c->offset + stream_drifted(now - c->start, c->ppb);
}

/**
 * run_to_monotonic() - when it is a time of the member's clock
 * @c: the clock
 * @t: ns, 0 to STREAM_MAX_TIME
 *
 * Return: CLOCK_MONOTONIC, ns.
 */
s64 run_to_monotonic(const struct run_clock *c, s64 t)
{
	return c->start + stream_undrifted(t - EPOCH - c->offset - c->start, c->ppb);
}
