// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long MPI_Alltoallv takes: from a common start to the end of the last rank.  All
 * ranks run on one kernel, so their clocks are the same.
 *
 * usage: mpi_bench WARM ROUNDS MATRIX[:CALLS]...
 *   WARM    rounds that are not measured, of each matrix
 *   MATRIX  file of shuffle-workload, or a number: bytes of every message
 *   CALLS   in a round, one behind the other (default 1)
 *
 * Prints one line for each round: the matrix, and nanoseconds of a call.
 */
#include <stdlib.h>
#include <string.h>

#include "start.h"

static int rank, size;

/* Bytes from each rank to each rank. */
static int *load(const char *name)
{
	int *m = malloc((size_t)size * size * sizeof(int)), i, bytes;
	char *line = NULL, *at, *end;
	size_t room = 0;
	FILE *f;

	bytes = strtol(name, &end, 10);
	if (end != name && !*end) {
		for (i = 0; i < size * size; i++)
			m[i] = bytes;
		return m;
	}
	f = fopen(name, "r");
	i = 0;
	while (f && getline(&line, &room, f) > 0) {
		if (*line == '#')
			continue;
		for (at = line; i < size * size; at = end + 1) {
			m[i] = strtol(at, &end, 10);
			if (end == at)
				break;
			i++;
			if (*end != ',')
				break;
		}
	}
	if (!f || i != size * size) {
		fprintf(stderr, "mpi_bench: %s: not a matrix of %d hosts\n", name, size);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	free(line);
	fclose(f);
	return m;
}

static unsigned char byte_of(int from, int to, int round)
{
	return from * 16 + to + round * 7 + 1;
}

static void measure(const char *name, int calls, int warm, int rounds)
{
	int *matrix = load(name), *scounts, *rcounts, *sdisps, *rdisps, i, k;
	unsigned char *row, *column;
	int64_t start, last;

	scounts = calloc(size, sizeof(int));
	rcounts = calloc(size, sizeof(int));
	sdisps = calloc(size + 1, sizeof(int));
	rdisps = calloc(size + 1, sizeof(int));
	for (i = 0; i < size; i++) {
		/* what a rank has for itself crosses no network */
		scounts[i] = i == rank ? 0 : matrix[rank * size + i];
		rcounts[i] = i == rank ? 0 : matrix[i * size + rank];
		sdisps[i + 1] = sdisps[i] + scounts[i];
		rdisps[i + 1] = rdisps[i] + rcounts[i];
	}
	row = malloc(sdisps[size] + 1);
	column = malloc(rdisps[size] + 1);

	for (k = 0; k < warm + rounds; k++) {
		for (i = 0; i < size; i++)
			memset(row + sdisps[i], byte_of(rank, i, k), scounts[i]);
		start = common_start();
		for (i = 0; i < calls; i++)
			MPI_Alltoallv(row, scounts, sdisps, MPI_BYTE, column, rcounts, rdisps,
				      MPI_BYTE, MPI_COMM_WORLD);
		last = to_last_end((now() - start) / calls);
		for (i = 0; i < size; i++) {
			if (rcounts[i] && (column[rdisps[i]] != byte_of(i, rank, k) ||
					   column[rdisps[i + 1] - 1] != byte_of(i, rank, k))) {
				fprintf(stderr, "mpi_bench: wrong data from rank %d\n", i);
				MPI_Abort(MPI_COMM_WORLD, 3);
			}
		}
		if (!rank && k >= warm)
			printf("%s %lld\n", name, (long long)last);
	}
	fflush(stdout);
	free(row);
	free(column);
	free(scounts);
	free(rcounts);
	free(sdisps);
	free(rdisps);
	free(matrix);
}

int main(int argc, char **argv)
{
	char *colon;
	int i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 4) {
		if (!rank)
			fprintf(stderr, "usage: mpi_bench WARM ROUNDS MATRIX[:CALLS]...\n");
		MPI_Finalize();
		return 2;
	}
	for (i = 3; i < argc; i++) {
		colon = strchr(argv[i], ':');
		if (colon)
			*colon = 0;
		measure(argv[i], colon ? atoi(colon + 1) : 1, atoi(argv[1]), atoi(argv[2]));
	}
	MPI_Finalize();
	return 0;
}
