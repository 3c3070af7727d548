// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sort a file of 100-byte records with 10-byte keys on all ranks of an MPI job.
 *
 * Every rank reads its part of the file, the ranks agree on splitters from a sample,
 * one MPI_Alltoallv brings every record to the rank that owns its range of keys, and
 * every rank sorts what it got.  The program knows nothing of AF_SHUFFLE.
 *
 * usage: mpi_sort INPUT OUTPUT	OUTPUT.0, OUTPUT.1, ... are the sorted parts
 *        mpi_sort -g RECORDS INPUT	write a file of random records first
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RECORD	100
#define KEY	10
#define SAMPLES	64	/* of every rank */

static int rank, size;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "mpi_sort: rank %d: %s %s: %s\n", rank, what, name, strerror(errno));
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static void *get(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		die("memory for", "records");
	return p;
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, KEY);
}

/* Records whose keys are not evenly spread, so that ranks get different amounts. */
static void generate(const char *name, long records)
{
	unsigned char r[RECORD];
	FILE *f = fopen(name, "w");
	unsigned int seed = 1;
	long i;
	int k;

	if (!f)
		die("cannot write", name);
	for (i = 0; i < records; i++) {
		for (k = 0; k < KEY; k++)
			r[k] = rand_r(&seed) >> 8;
		if (i % 3 == 0)
			memcpy(r, "hot", 3);
		snprintf((char *)r + KEY, RECORD - KEY, "%089ld", i);
		r[RECORD - 1] = '\n';
		if (fwrite(r, RECORD, 1, f) != 1)
			die("cannot write", name);
	}
	if (fclose(f))
		die("cannot write", name);
}

/* This rank's part of the file. */
static unsigned char *load(const char *name, long *count)
{
	unsigned char *part;
	long all, first;
	struct stat st;
	FILE *f;

	f = fopen(name, "r");
	if (!f || fstat(fileno(f), &st))
		die("cannot read", name);
	all = st.st_size / RECORD;
	first = all * rank / size;
	*count = all * (rank + 1) / size - first;
	part = get(*count * RECORD);
	if (fseek(f, first * RECORD, SEEK_SET) ||
	    fread(part, RECORD, *count, f) != (size_t)*count)
		die("cannot read", name);
	fclose(f);
	return part;
}

/* size - 1 keys that cut a sample of all records into equal parts. */
static unsigned char *splitters(const unsigned char *part, long count)
{
	unsigned char *mine = get(SAMPLES * KEY), *all = get((size_t)size * SAMPLES * KEY);
	unsigned char *keys = get((size_t)size * KEY);
	int i;

	memset(mine, 0xff, SAMPLES * KEY);
	for (i = 0; i < SAMPLES && count; i++)
		memcpy(mine + i * KEY, part + (count * i / SAMPLES) * RECORD, KEY);
	MPI_Allgather(mine, SAMPLES * KEY, MPI_BYTE, all, SAMPLES * KEY, MPI_BYTE, MPI_COMM_WORLD);
	qsort(all, (size_t)size * SAMPLES, KEY, by_key);
	for (i = 1; i < size; i++)
		memcpy(keys + (i - 1) * KEY, all + (size_t)i * SAMPLES * KEY, KEY);
	free(mine);
	free(all);
	return keys;
}

static int owner(const unsigned char *record, const unsigned char *keys)
{
	int low = 0, high = size - 1;

	while (low < high) {
		int mid = (low + high) / 2;

		if (memcmp(record, keys + mid * KEY, KEY) < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

int main(int argc, char **argv)
{
	int *scounts, *rcounts, *sdisps, *rdisps;
	unsigned char *part, *row, *column, *keys;
	MPI_Datatype record;
	long count, got = 0, i;
	char name[4096];
	double start, took;
	FILE *f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc == 4 && !strcmp(argv[1], "-g")) {
		if (!rank)
			generate(argv[3], atol(argv[2]));
		MPI_Finalize();
		return 0;
	}
	if (argc != 3) {
		if (!rank)
			fprintf(stderr, "usage: mpi_sort INPUT OUTPUT\n"
				"       mpi_sort -g RECORDS INPUT\n");
		MPI_Finalize();
		return 2;
	}
	scounts = calloc(size, sizeof(int));
	rcounts = calloc(size, sizeof(int));
	sdisps = calloc(size, sizeof(int));
	rdisps = calloc(size, sizeof(int));
	MPI_Type_contiguous(RECORD, MPI_BYTE, &record);
	MPI_Type_commit(&record);

	part = load(argv[1], &count);
	keys = splitters(part, count);
	for (i = 0; i < count; i++)
		scounts[owner(part + i * RECORD, keys)]++;
	for (i = 1; i < size; i++)
		sdisps[i] = sdisps[i - 1] + scounts[i - 1];
	row = get(count * RECORD);
	memset(scounts, 0, size * sizeof(int));
	for (i = 0; i < count; i++) {
		int to = owner(part + i * RECORD, keys);

		memcpy(row + (size_t)(sdisps[to] + scounts[to]++) * RECORD, part + i * RECORD,
		       RECORD);
	}

	MPI_Alltoall(scounts, 1, MPI_INT, rcounts, 1, MPI_INT, MPI_COMM_WORLD);
	for (i = 0; i < size; i++) {
		rdisps[i] = got;
		got += rcounts[i];
	}
	column = get(got * RECORD);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	MPI_Alltoallv(row, scounts, sdisps, record, column, rcounts, rdisps, record,
		      MPI_COMM_WORLD);
	took = MPI_Wtime() - start;
	qsort(column, got, RECORD, by_key);

	snprintf(name, sizeof(name), "%s.%d", argv[2], rank);
	f = fopen(name, "w");
	if (!f || fwrite(column, RECORD, got, f) != (size_t)got || fclose(f))
		die("cannot write", name);
	MPI_Reduce(rank ? &took : MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks, shuffle %.3f s\n", size, took);
	MPI_Type_free(&record);
	MPI_Finalize();
	return 0;
}
