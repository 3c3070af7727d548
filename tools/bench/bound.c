// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lower bound of a round, the same for every transport.
 */
#include "bench.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t length(unsigned int from, unsigned int to)
{
	if (from == to)
		return 0;	/* crosses no link */
	return matrix_len(bench_matrix, from, to) +
	       (bench_opt.beside ? matrix_len(bench_opt.beside, from, to) : 0);
}

/* The most bytes that one host has to send or receive. */
static uint64_t host_bytes(void)
{
	uint64_t most = 0;
	unsigned int i, j;

	for (i = 0; i < bench_hosts; i++) {
		uint64_t row = 0, col = 0;

		for (j = 0; j < bench_hosts; j++) {
			row += length(i, j);
			col += length(j, i);
		}
		most = larger(most, larger(row, col));
	}
	return most;
}

/* The most bytes that the trunk of one rack has to carry up or down; hosts are in
 * racks in order.
 */
static uint64_t trunk_bytes(void)
{
	unsigned int i, j, r, racks = bench_opt.racks;
	uint64_t most = 0;

	for (r = 0; r < racks; r++) {
		uint64_t up = 0, down = 0;

		for (i = 0; i < bench_hosts; i++) {
			for (j = 0; j < bench_hosts; j++) {
				bool from = i * racks / bench_hosts == r;
				bool to = j * racks / bench_hosts == r;

				if (from && !to)
					up += length(i, j);
				if (to && !from)
					down += length(i, j);
			}
		}
		most = larger(most, larger(up, down));
	}
	return most;
}

double bench_bound_ns(unsigned int run)
{
	double bps = bench_opt.rate_bps, trunk_bps, other = 0;
	double bound = host_bytes() * 8e9 / bps;

	if (bench_opt.bound_ns)
		return bench_opt.bound_ns;
	if (bench_opt.racks > 1) {
		trunk_bps = bps * bench_hosts / bench_opt.racks * bench_opt.core_percent / 100;
		other = trunk_bytes() * 8e9 / trunk_bps;
	}
	if (bench_opt.stop_ns)
		other = bench_stop_bound(run, bps);
	return (other > bound ? other : bound) + bench_opt.rtt_ns;
}
