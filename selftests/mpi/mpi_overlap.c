// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls that overlap, where one must not get what belongs to another.  Exit status 0 and "ok"
 * from rank 0 when all ranks found what they should.
 *
 * usage: mpi_overlap first		collectives of all kinds while a communicator's first
 *					all-to-all is open
 *        mpi_overlap orders SEED	persistent all-to-alls that each rank starts in an order of
 *					its own, blocking calls between
 *        mpi_overlap many N		N of them at once, which every other rank starts from
 *					the last one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "persistent.h"

#define MANY	6
#define ROUNDS	12

static int rank, size;

static int byte_of(int from, int to, int k, int salt)
{
	return (from * 37 + to * 11 + k * 7 + salt * 101) & 0xff;
}

/* Ranks come at different times, or nothing would overlap. */
static void dawdle(int salt)
{
	usleep(((rank * 7 + salt * 13) % 5) * 3000);
}

static int differs(const char *what, int root, long got, long want)
{
	if (got == want)
		return 0;
	printf("rank %d: %s, root %d: got %ld, wanted %ld\n", rank, what, root, got, want);
	return 1;
}

static int scatterv(MPI_Comm comm, int root)
{
	int *counts = malloc(size * sizeof(int)), *disps = malloc(size * sizeof(int));
	int *s = malloc(size * 8 * sizeof(int)), r[8] = { 0 }, i, k, bad = 0;

	for (i = 0; i < size; i++) {
		counts[i] = 6;
		disps[i] = 8 * i;
		for (k = 0; k < 8; k++)
			s[8 * i + k] = 1000 * root + 10 * i + k;
	}
	MPI_Scatterv(s, counts, disps, MPI_INT, r, 6, MPI_INT, root, comm);
	for (k = 0; k < 6 && !bad; k++)
		bad += differs("MPI_Scatterv", root, r[k], 1000 * root + 10 * rank + k);
	free(counts);
	free(disps);
	free(s);
	return bad;
}

/* x -> a x + b: it does not commute */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
	unsigned int *a = in, *b = inout;
	int i;

	(void)type;
	for (i = 0; i < *len; i++) {
		b[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1];
		b[2 * i] *= a[2 * i];
	}
}

static int reduce_scatter(MPI_Comm comm, int salt)
{
	unsigned int *s = malloc(size * 2 * sizeof(*s)), r[2] = { 0 }, want[2];
	int *counts = malloc(size * sizeof(int)), i, bad;
	MPI_Datatype pair;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(compose, 0, &op);
	for (i = 0; i < size; i++) {
		counts[i] = 1;
		s[2 * i] = 2 * rank + 3;
		s[2 * i + 1] = 100 * rank + i + salt;
	}
	MPI_Reduce_scatter(s, r, counts, pair, op, comm);
	want[0] = 2 * (size - 1) + 3;
	want[1] = 100 * (size - 1) + rank + salt;
	for (i = size - 2; i >= 0; i--) {
		unsigned int before[2] = { 2 * i + 3, 100 * i + rank + salt };
		int one = 1;

		compose(before, want, &one, NULL);
	}
	bad = differs("MPI_Reduce_scatter", salt, r[0], want[0]) +
	      differs("MPI_Reduce_scatter", salt, r[1], want[1]);
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
	free(counts);
	free(s);
	return bad;
}

struct row {
	int each, salt;
	unsigned char *s, *r;
	int *counts, *disps;
	MPI_Datatype *types;
	MPI_Request req;
};

static void fill(struct row *b, int salt)
{
	int i, k;

	b->salt = salt;
	memset(b->r, 0xee, b->each * size + 1);
	for (i = 0; i < size; i++)
		for (k = 0; k < b->each; k++)
			b->s[i * b->each + k] = byte_of(rank, i, k, salt);
}

static void make(struct row *b, int each, int salt)
{
	int i;

	b->each = each;
	b->s = malloc(each * size + 1);
	b->r = malloc(each * size + 1);
	b->counts = malloc(size * sizeof(int));
	b->disps = malloc(size * sizeof(int));
	b->types = malloc(size * sizeof(MPI_Datatype));
	for (i = 0; i < size; i++) {
		b->counts[i] = each;
		b->disps[i] = each * i;
		b->types[i] = MPI_BYTE;
	}
	fill(b, salt);
}

static int check(const char *what, struct row *b)
{
	int i, k;

	for (i = 0; i < size; i++)
		for (k = 0; k < b->each; k++)
			if (differs(what, i, b->r[i * b->each + k], byte_of(i, rank, k, b->salt)))
				return 1;
	return 0;
}

static void unmake(struct row *b)
{
	free(b->s);
	free(b->r);
	free(b->counts);
	free(b->disps);
	free(b->types);
}

static int one_first(int root, int kind)
{
	MPI_Comm comm;
	struct row b, v, w;
	int bad = 0;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	make(&b, 300, root);
	make(&v, 50, root + 1);
	make(&w, 70, root + 2);
	dawdle(root);
	MPI_Ialltoall(b.s, b.each, MPI_BYTE, b.r, b.each, MPI_BYTE, comm, &b.req);
	if (kind & 1)
		bad += scatterv(comm, root);
	if (kind & 2)
		bad += reduce_scatter(comm, root);
	if (!kind) {
		dawdle(root + 1);
		MPI_Ialltoallv(v.s, v.counts, v.disps, MPI_BYTE, v.r, v.counts, v.disps, MPI_BYTE,
			       comm, &v.req);
		bad += scatterv(comm, root);
		MPI_Alltoallw(w.s, w.counts, w.disps, w.types, w.r, w.counts, w.disps, w.types,
			      comm);
		bad += check("MPI_Alltoallw", &w) + reduce_scatter(comm, root);
		MPI_Wait(&v.req, MPI_STATUS_IGNORE);
		bad += check("MPI_Ialltoallv", &v);
	}
	MPI_Wait(&b.req, MPI_STATUS_IGNORE);
	bad += check("MPI_Ialltoall", &b);
	unmake(&b);
	unmake(&v);
	unmake(&w);
	MPI_Comm_free(&comm);
	return bad;
}

static int first(void)
{
	int root, kind, bad = 0;

	for (root = 0; root < size; root++)
		for (kind = 0; kind < 4; kind++)
			bad += one_first(root, kind);
	return bad;
}

#ifdef PERSISTENT
static void init(struct row *b, int i, MPI_Comm comm)
{
	if (i % 3 == 0)
		PERSISTENT(Alltoall)(b->s, b->each, MPI_BYTE, b->r, b->each, MPI_BYTE, comm,
				     MPI_INFO_NULL, &b->req);
	else if (i % 3 == 1)
		PERSISTENT(Alltoallv)(b->s, b->counts, b->disps, MPI_BYTE, b->r, b->counts,
				      b->disps, MPI_BYTE, comm, MPI_INFO_NULL, &b->req);
	else
		PERSISTENT(Alltoallw)(b->s, b->counts, b->disps, b->types, b->r, b->counts,
				      b->disps, b->types, comm, MPI_INFO_NULL, &b->req);
}

static int orders(unsigned int seed)
{
	unsigned int mine = seed + 7919 * rank;
	int i, k, t, order[MANY], bad = 0;
	struct row b[MANY], between;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (i = 0; i < MANY; i++) {
		/* the same length: what is mistaken for another one is not too long */
		make(&b[i], 500, i);
		init(&b[i], i, comm);
	}
	make(&between, 500, 99);
	for (k = 0; k < ROUNDS; k++) {
		for (i = 0; i < MANY; i++)
			order[i] = i;
		for (i = MANY - 1; i > 0; i--) {
			int j = rand_r(&mine) % (i + 1);

			t = order[i];
			order[i] = order[j];
			order[j] = t;
		}
		for (i = 0; i < MANY; i++)
			fill(&b[i], 10 * k + i);
		for (i = 0; i < MANY; i++) {
			/* that one is made once, in the middle of what is started */
			if (i == MANY / 2) {
				fill(&between, k);
				MPI_Alltoallv(between.s, between.counts, between.disps, MPI_BYTE,
					      between.r, between.counts, between.disps, MPI_BYTE,
					      comm);
				bad += check("MPI_Alltoallv", &between);
			}
			MPI_Start(&b[order[i]].req);
		}
		for (i = 0; i < MANY; i++) {
			MPI_Wait(&b[i].req, MPI_STATUS_IGNORE);
			bad += check("a persistent call", &b[i]);
		}
		/* a freed one, and a new one in its place */
		i = k % MANY;
		MPI_Request_free(&b[i].req);
		init(&b[i], i, comm);
	}
	for (i = 0; i < MANY; i++) {
		MPI_Request_free(&b[i].req);
		unmake(&b[i]);
	}
	unmake(&between);
	MPI_Comm_free(&comm);
	return bad;
}

/* All are freed in the middle, and others made: there is room for those again. */
static int many(int n)
{
	struct row *b = calloc(n, sizeof(*b)), between;
	int i, k, at, bad = 0;

	make(&between, 10, 99);
	for (i = 0; i < n; i++)
		make(&b[i], 10, i);
	for (k = 0; k < 4; k++) {
		for (i = 0; i < n && k % 2 == 0; i++)
			init(&b[i], i, MPI_COMM_WORLD);
		for (i = 0; i < n; i++) {
			at = rank % 2 ? n - 1 - i : i;
			fill(&b[at], 10 * k + at);
			MPI_Start(&b[at].req);
		}
		MPI_Alltoallv(between.s, between.counts, between.disps, MPI_BYTE, between.r,
			      between.counts, between.disps, MPI_BYTE, MPI_COMM_WORLD);
		bad += check("MPI_Alltoallv", &between);
		for (i = 0; i < n; i++) {
			MPI_Wait(&b[i].req, MPI_STATUS_IGNORE);
			bad += check("a persistent call", &b[i]);
			if (k % 2)
				MPI_Request_free(&b[i].req);
		}
	}
	for (i = 0; i < n; i++)
		unmake(&b[i]);
	unmake(&between);
	free(b);
	return bad;
}
#else
static int orders(unsigned int seed)
{
	return seed != 0;
}

static int many(int n)
{
	return n != 0;
}
#endif

int main(int argc, char **argv)
{
	int bad = 1, total;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc == 2 && !strcmp(argv[1], "first"))
		bad = first();
	else if (argc == 3 && !strcmp(argv[1], "orders"))
		bad = orders(atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "many"))
		bad = many(atoi(argv[2]));
	MPI_Reduce(&bad, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%s\n", total ? "FAILED" : "ok");
	MPI_Finalize();
	return bad != 0;
}
