/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How evenly splitters divide random keys: MilliSort's Table 2.2. */
#ifndef SHUFFLE_SORT_QUALITY_H
#define SHUFFLE_SORT_QUALITY_H

#include <stddef.h>
#include <stdint.h>

enum quality_keys { QUALITY_UNIFORM, QUALITY_GAUSSIAN };

/**
 * struct quality - what is simulated, and what comes out
 * @hosts: their number
 * @keys: of each host
 * @pivots: of each host
 * @runs: with other random keys
 * @seed: of the random numbers
 * @kind: distribution of the keys
 * @naive: excess of the largest part over the mean in percent, of each run, in order
 * @weighted: the same with weighted pivots
 */
struct quality {
	size_t hosts;
	size_t keys;
	size_t pivots;
	size_t runs;
	uint64_t seed;
	enum quality_keys kind;
	double *naive;
	double *weighted;
};

void quality_run(struct quality *q, void (*progress)(size_t run, size_t runs));
double quality_percentile(const double *sorted, size_t n, unsigned int percent);
void quality_free(struct quality *q);
int quality_main(int argc, char **argv);

#endif /* SHUFFLE_SORT_QUALITY_H */
