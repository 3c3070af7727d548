// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a program sees that does nothing but collective calls, one behind the other: the mean over
 * all ranks of the time of a call, as the OSU benchmarks count it.
 *
 * usage: mpi_osu MILLISECONDS alltoall|others|neighbours|communicators BYTES...
 *   MILLISECONDS  that each row is measured for, about
 *   alltoall      MPI_Alltoall, MPI_Alltoallv and their non-blocking forms
 *   others        MPI_Barrier, MPI_Bcast, ...: blocking collectives of other kinds
 *   neighbours    MPI_Neighbor_alltoall and others in periodic cartesian topologies
 *   communicators  MPI_Comm_dup and MPI_Comm_free, calls of MPI_Alltoall between them
 *   BYTES         of each message; of what is combined a multiple of eight
 *
 * Prints one line for each row: the call, the bytes, and nanoseconds of a call.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM		6	/* the first ones agree, and make connections */
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

static int whole(void)
{
	int i, k, bad = 0;

	for (i = 0; i < size; i++)
		for (k = 0; k < bytes; k += bytes - 1 ? bytes - 1 : 1)
			bad += column[(size_t)i * bytes + k] != (char)(i + 1);
	return bad;
}

static int root_whole(void)
{
	return rank ? 0 : whole();
}

/* The first and the last byte of what comes from @from. */
static int ends(int from)
{
	return (column[0] != (char)(from + 1)) + (column[bytes - 1] != (char)(from + 1));
}

static int by_root(void)
{
	return ends(0);
}

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static int nothing(void)
{
	return 0;
}

static void bcast(void)
{
	if (!rank)
		memset(column, 1, bytes);
	MPI_Bcast(column, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gather(void)
{
	MPI_Gather(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(void)
{
	MPI_Scatter(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(void)
{
	MPI_Allgather(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

/* Each item is a number made of the rank's bytes, so the last rank's is the largest. */
static void reduce(void)
{
	MPI_Reduce(row, column, bytes / 8, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
	MPI_Allreduce(row, column, bytes / 8, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
}

static void allreduce_double(void)
{
	MPI_Allreduce(row, column, bytes / 8, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static int by_last(void)
{
	return ends(size - 1);
}

static int root_by_last(void)
{
	return rank ? 0 : by_last();
}

/* Of one, two and three dimensions: eight ranks have two neighbours each; three, one of them twice;
 * three, all of them twice.
 */
static MPI_Comm carts[3];
static int peers[3][6];

static void make_carts(void)
{
	int periods[] = { 1, 1, 1 }, d, i;

	for (i = 0; i < 3; i++) {
		int dims[3] = { 0, 0, 0 };

		MPI_Dims_create(size, 1 + i, dims);
		MPI_Cart_create(MPI_COMM_WORLD, 1 + i, dims, periods, 0, &carts[i]);
		for (d = 0; d < 1 + i; d++)
			MPI_Cart_shift(carts[i], d, 1, &peers[i][2 * d], &peers[i][2 * d + 1]);
	}
}

static void neighbours(int i)
{
	MPI_Neighbor_alltoall(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, carts[i]);
}

static void neighbours1(void)
{
	neighbours(0);
}

static void neighbours2(void)
{
	neighbours(1);
}

static void neighbours3(void)
{
	neighbours(2);
}

static void ineighbours2(void)
{
	MPI_Request req;

	MPI_Ineighbor_alltoall(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, carts[1], &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void gather_neighbours2(void)
{
	MPI_Neighbor_allgather(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, carts[1]);
}

static int wrong_neighbours(int i)
{
	int k, bad = 0;

	for (k = 0; k < 2 + 2 * i; k++)
		bad += column[(size_t)k * bytes] != (char)(peers[i][k] + 1) ||
		       column[(size_t)(k + 1) * bytes - 1] != (char)(peers[i][k] + 1);
	return bad;
}

static int wrong1(void)
{
	return wrong_neighbours(0);
}

static int wrong2(void)
{
	return wrong_neighbours(1);
}

static int wrong3(void)
{
	return wrong_neighbours(2);
}

static void duplicate(int calls)
{
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	while (calls--)
		MPI_Alltoall(row, bytes, MPI_BYTE, column, bytes, MPI_BYTE, comm);
	MPI_Comm_free(&comm);
}

static void duplicate0(void)
{
	duplicate(0);
}

static void duplicate1(void)
{
	duplicate(1);
}

static void duplicate10(void)
{
	duplicate(10);
}

struct kind {
	const char *name;
	void (*call)(void);
	int (*wrong)(void);
	int least;		/* bytes */
	int most;
};

static const struct kind all_to_all[] = {
	{ "alltoall", alltoall, whole, 1, 0 },
	{ "alltoallv", alltoallv, whole, 1, 0 },
	{ "ialltoall", ialltoall, whole, 1, 0 },
	{ "ialltoallv", ialltoallv, whole, 1, 0 },
	{ NULL },
};

static const struct kind others[] = {
	{ "barrier", barrier, nothing, 1, 8 },
	{ "bcast", bcast, by_root, 1, 0 },
	{ "gather", gather, root_whole, 1, 0 },
	{ "scatter", scatter, by_root, 1, 0 },
	{ "allgather", allgather, whole, 1, 0 },
	{ "reduce", reduce, root_by_last, 8, 0 },
	{ "allreduce", allreduce, by_last, 8, 0 },
	{ "allreduce-double", allreduce_double, by_last, 8, 0 },
	{ NULL },
};

static const struct kind of_communicators[] = {
	{ "dup-free", duplicate0, nothing, 1, 0 },
	{ "dup-alltoall-free", duplicate1, whole, 1, 0 },
	{ "dup-10-alltoall-free", duplicate10, whole, 1, 0 },
	{ NULL },
};

static const struct kind of_neighbours[] = {
	{ "neighbor-alltoall-1d", neighbours1, wrong1, 1, 0 },
	{ "neighbor-alltoall-2d", neighbours2, wrong2, 1, 0 },
	{ "neighbor-alltoall-3d", neighbours3, wrong3, 1, 0 },
	{ "ineighbor-alltoall-2d", ineighbours2, wrong2, 1, 0 },
	{ "neighbor-allgather-2d", gather_neighbours2, wrong2, 1, 0 },
	{ NULL },
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

static void measure(const struct kind *k, double least)
{
	double once;
	int calls;

	memset(column, 0, (size_t)size * bytes);
	seconds(k->call, WARM);
	once = seconds(k->call, 2) / 2;
	/* the sum over all ranks, and so the number, is the same everywhere */
	calls = once * MOST_CALLS < least ? MOST_CALLS : least / once + 1;
	once = seconds(k->call, calls) / calls;
	if (k->wrong()) {
		fprintf(stderr, "mpi_osu: %s of %d bytes: wrong data\n", k->name, bytes);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	if (!rank)
		printf("%s %d %.0f\n", k->name, bytes, once * 1e9);
	fflush(stdout);
}

static const struct kind *kinds_of(const char *name)
{
	static const struct {
		const char *name;
		const struct kind *kinds;
		int least;		/* ranks */
	} all[] = {
		{ "alltoall", all_to_all, 1 },
		{ "others", others, 1 },
		{ "neighbours", of_neighbours, 6 },
		{ "communicators", of_communicators, 1 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(name, all[i].name) && size >= all[i].least)
			return all[i].kinds;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct kind *kinds, *k;
	int i, j;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	kinds = argc < 4 ? NULL : kinds_of(argv[2]);
	if (!kinds) {
		if (!rank)
			fprintf(stderr, "usage: mpi_osu MILLISECONDS alltoall|others|neighbours|communicators BYTES...\n");
		MPI_Finalize();
		return 2;
	}
	if (kinds == of_neighbours)
		make_carts();
	counts = calloc(size, sizeof(*counts));
	disps = calloc(size, sizeof(*disps));
	for (i = 3; i < argc; i++) {
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
		for (k = kinds; k->name; k++)
			if (bytes >= k->least && (!k->most || bytes <= k->most))
				measure(k, atoi(argv[1]) / 1e3);
		free(row);
		free(column);
	}
	MPI_Finalize();
	return 0;
}
