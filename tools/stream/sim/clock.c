// SPDX-License-Identifier: GPL-2.0-or-later
/* Clocks of hosts, which are wrong. */
#include "../clock.h"
#include "sim.h"

/**
 * sim_clock_local() - what a host's clock shows
 * @c: the clock
 * @real: simulated time, ns
 *
 * Return: its time, ns.
 */
s64 sim_clock_local(const struct sim_clock *c, s64 real)
{
	return c->offset + real + stream_drifted(real, c->ppb);
}

/**
 * sim_clock_real() - when a host's clock will show something
 * @c: the clock
 * @local: its time, ns
 *
 * Return: the first simulated time at which it shows @local or more, within 1 ns, never too early.
 */
s64 sim_clock_real(const struct sim_clock *c, s64 local)
{
	s64 t = stream_undrifted(local - c->offset, c->ppb);

	while (sim_clock_local(c, t - 1) >= local)
		t--;
	while (sim_clock_local(c, t) < local)
		t++;
	return t;
}
