// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collectives of an MPI library, as coll_bench measures those of libshuffle: from a common start to
 * the end of the last rank.
 *
 * usage: mpi_coll WARM ROUNDS KIND:BYTES...
 *   WARM    calls that are not measured, of each kind
 *   KIND    barrier, bcast, scatter, gather, allgather, reduce, allreduce
 *   BYTES   of each member, or of the vector
 *
 * Prints one line for each round: KIND:BYTES and nanoseconds.
 */
#include <stdlib.h>
#include <string.h>

#include "start.h"

static int rank, size, bytes;
static uint64_t *from, *to;

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
	MPI_Bcast(to, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(void)
{
	MPI_Scatter(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gather(void)
{
	MPI_Gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(void)
{
	MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void reduce(void)
{
	MPI_Reduce(from, to, bytes / 8, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
	MPI_Allreduce(from, to, bytes / 8, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

enum result { NONE, OF_ROOT, BY_ROOT, SUM, SUM_AT_ROOT, OF_ROOT_AT_ROOT };

static const struct kind {
	const char *name;
	void (*call)(void);
	enum result result;
} kinds[] = {
	{ "barrier", barrier, NONE },
	{ "bcast", bcast, OF_ROOT },
	{ "scatter", scatter, BY_ROOT },
	{ "gather", gather, OF_ROOT_AT_ROOT },
	{ "allgather", allgather, OF_ROOT },
	{ "reduce", reduce, SUM_AT_ROOT },
	{ "allreduce", allreduce, SUM },
};

#define KINDS	((int)(sizeof(kinds) / sizeof(*kinds)))

/* The first number of each block, as coll_bench has it. */
static void prepare(const struct kind *k, int round)
{
	int i;

	for (i = 0; i < size && bytes; i++)
		from[i * (bytes / 8)] = round + (k->result == BY_ROOT ? i : rank);
	to[0] = k->call == bcast && !rank ? round : 0;
}

static int wrong(const struct kind *k, int round)
{
	int at_root = k->result == SUM_AT_ROOT || k->result == OF_ROOT_AT_ROOT;
	uint64_t n = size, right;

	if (!bytes || k->result == NONE || (at_root && rank))
		return 0;
	switch (k->result) {
	case SUM:
	case SUM_AT_ROOT:
		right = n * (n - 1) / 2 + n * round;
		break;
	case BY_ROOT:
		right = round + rank;
		break;
	default:
		right = round;
	}
	return to[0] != right;
}

static void measure(const struct kind *k, int warm, int rounds)
{
	int64_t start, took;
	int i;

	for (i = 0; i < warm + rounds; i++) {
		prepare(k, i);
		start = common_start();
		k->call();
		took = now() - start;
		if (wrong(k, i)) {
			fprintf(stderr, "mpi_coll: %s: wrong result\n", k->name);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
		took = to_last_end(took);
		if (!rank && i >= warm)
			printf("%s:%d %lld\n", k->name, bytes, (long long)took);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char *colon;
	int i, k;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (i = 3; i < argc; i++) {
		colon = strchr(argv[i], ':');
		if (colon)
			*colon = '\0';
		for (k = 0; k < KINDS && strcmp(kinds[k].name, argv[i]); k++)
			;
		bytes = colon ? atoi(colon + 1) : -1;
		if (k == KINDS || bytes < 0 || bytes % 8) {
			fprintf(stderr, "mpi_coll: %s: not KIND:BYTES\n", argv[i]);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		from = calloc(size, bytes + 8);
		to = calloc(size, bytes + 8);
		if (!from || !to)
			MPI_Abort(MPI_COMM_WORLD, 2);
		measure(&kinds[k], atoi(argv[1]), atoi(argv[2]));
		free(from);
		free(to);
	}
	MPI_Finalize();
	return 0;
}
