/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A common start of all ranks: they run on one kernel, so their clocks are the same. */
#ifndef MPI_START_H
#define MPI_START_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* From the message of the start to the start: all ranks sleep by then. */
#define LEAD_NS	20000000

static inline int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Sleep until the common start, and return it. */
static inline int64_t common_start(void)
{
	int64_t start = now() + LEAD_NS;
	struct timespec ts;

	MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (now() > start)
		fprintf(stderr, "a rank started late\n");
	ts.tv_sec = start / 1000000000;
	ts.tv_nsec = start % 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return start;
}

/* To the end of the last rank, for rank 0; nanoseconds. */
static inline int64_t to_last_end(int64_t took)
{
	int64_t last = took;

	MPI_Reduce(&took, &last, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
	return last;
}

#endif /* MPI_START_H */
