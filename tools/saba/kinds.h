/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Re-created workloads: what the simulator and the programs of the benchmark run. */
#ifndef SABA_KINDS_H
#define SABA_KINDS_H

#define SABA_KINDS	10

/**
 * struct kind - a workload: rounds of computation, all to all, barrier
 * @name: as the source calls it
 * @compute: seconds of computation in a second of its time alone
 * @send: seconds that a link is busy with what one host sends in a second of its time alone
 * @overlap: part of the computation that goes on while it sends
 * @stages: rounds
 * @seconds: time alone
 */
struct kind {
	const char	*name;
	double		compute;
	double		send;
	double		overlap;
	unsigned int	stages;
	double		seconds;
};

extern const struct kind kinds[SABA_KINDS];

const struct kind *kind_find(const char *name);
double kind_alone(const struct kind *k, double b);

#endif /* SABA_KINDS_H */
