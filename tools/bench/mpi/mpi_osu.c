// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a program sees that does nothing but all-to-all calls, one behind the other: the mean over
 * all ranks of the time of a call, as the OSU benchmarks count it.
 *
 * usage: mpi_osu MILLISECONDS BYTES...
 *   MILLISECONDS  that each row is measured for, about
 *   BYTES         of each message
 *
 * Prints one line for each row: the call, the bytes, and nanoseconds of a call.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM		6	/* AF_SHUFFLE's component decides at the fourth call */
#define MOST_CALLS	1000

static int rank, size, bytes;
static char *row, *column;
static int *counts, *disps;

static void alltoall(void)
{
	MPI_Alltoall(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoallv(void)
{
	MPI_Alltoallv(row, counts, disps, MPI_BYTE, column, counts, disps, MPI_BYTE,
		      MPI_COMM_WORLD);
}

static void ialltoall(void)
{
	MPI_Request req;

	MPI_Ialltoall(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, MPI_COMM_WORLD, &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void ialltoallv(void)
{
	MPI_Request req;

	MPI_Ialltoallv(row, counts, disps, MPI_BYTE, column, counts, disps, MPI_BYTE,
		       MPI_COMM_WORLD, &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static const struct {
	const char *name;
	void (*call)(void);
} rows[] = {
	{ "alltoall", alltoall },
	{ "alltoallv", alltoallv },
	{ "ialltoall", ialltoall },
	{ "ialltoallv", ialltoallv },
};

static double seconds(void (*call)(void), int calls)
{
	double start, took, sum;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	while (calls--)
		call();
	took = MPI_Wtime() - start;
	MPI_Allreduce(&took, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum / size;
}

static int wrong(void)
{
	int i, k, bad = 0;

	for (i = 0; i < size; i++)
		for (k = 0; k < bytes; k += bytes - 1 ? bytes - 1 : 1)
			bad += column[(size_t)i * bytes + k] != (char)(i + 1);
	return bad;
}

static void measure(const char *name, void (*call)(void), double least)
{
	double once;
	int calls;

	memset(column, 0, (size_t)size * bytes);
	seconds(call, WARM);
	once = seconds(call, 2) / 2;
	/* the sum over all ranks, and so the number, is the same everywhere */
	calls = once * MOST_CALLS < least ? MOST_CALLS : least / once + 1;
	once = seconds(call, calls) / calls;
	if (wrong()) {
		fprintf(stderr, "mpi_osu: %s of %d bytes: wrong data\n", name, bytes);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	if (!rank)
		printf("%s %d %.0f\n", name, bytes, once * 1e9);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	size_t k;
	int i, j;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 3) {
		if (!rank)
			fprintf(stderr, "usage: mpi_osu MILLISECONDS BYTES...\n");
		MPI_Finalize();
		return 2;
	}
	counts = calloc(size, sizeof(*counts));
	disps = calloc(size, sizeof(*disps));
	for (i = 2; i < argc; i++) {
		bytes = atoi(argv[i]);
		row = malloc((size_t)size * bytes);
		column = malloc((size_t)size * bytes);
		if (bytes < 1 || !row || !column || !counts || !disps) {
			fprintf(stderr, "mpi_osu: %s: no size, or no memory\n", argv[i]);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		memset(row, rank + 1, (size_t)size * bytes);
		for (j = 0; j < size; j++) {
			counts[j] = bytes;
			disps[j] = j * bytes;
		}
		for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			measure(rows[k].name, rows[k].call, atoi(argv[1]) / 1e3);
		free(row);
		free(column);
	}
	MPI_Finalize();
	return 0;
}
