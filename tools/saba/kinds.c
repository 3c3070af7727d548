// SPDX-License-Identifier: GPL-2.0-or-later
/* Re-created workloads. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kinds.h"

/*
 * From the slowdowns at 25 % of the bandwidth: LR 3.4 (thesis, 3.2), TS 1.1 (3.2), SQL 1.2 (4.2.2),
 * PR and WC below 1.5 and the others between these and LR as in its figure 4.7, so that the mean
 * of the ten is 2.1 (3.2).  Where computation and sending do not overlap, send = f and
 * slowdown is 1 - f + f / b.  TS sends while it computes (3.4): so do SQL, WC and, by half, PR,
 * which do not suffer although they send much.  Stages and seconds are free choices.
 */
const struct kind kinds[SABA_KINDS] = {
	/* name	 compute send  overlap stages seconds */
	{ "LR",  .200,  .800,  0,   8, 100 },
	{ "RF",  .200,  .800,  0,   6, 120 },
	{ "GBT", .250,  .750,  0,  10, 140 },
	{ "SVM", .580,  .420,  0,   8, 110 },
	{ "NI",  .620,  .380,  0,   5, 130 },
	{ "NW",  .660,  .340,  0,   6, 150 },
	{ "PR",  1,     .225,  .5, 10, 120 },
	{ "SQL", 1,     .300,  1,   4, 100 },
	{ "WC",  1,     .325,  1,   3,  90 },
	{ "TS",  1,     .275,  1,   3, 130 },
};

/**
 * kind_find() - a workload by its name
 * @name: "LR"
 *
 * Return: the workload, or NULL.
 */
const struct kind *kind_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < SABA_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/**
 * kind_alone() - slowdown of a workload that has the network for itself
 * @k: workload
 * @b: bandwidth, a fraction of the link rate
 *
 * Return: time with that bandwidth over time with all of it.
 */
double kind_alone(const struct kind *k, double b)
{
	double c = k->compute, before = (1 - k->overlap) * c;

	return fmax(c, before + k->send / b) / fmax(c, before + k->send);
}
