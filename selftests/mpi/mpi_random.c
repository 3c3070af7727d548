// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random calls of the six all-to-all functions: sizes, data types, communicators,
 * MPI_IN_PLACE.  Prints what all receive buffers held, guard bytes and gaps included,
 * as one number for every hundred calls.  Whatever carries the data, the numbers
 * must be the same.
 *
 * usage: mpi_random CALLS [SEED [each]]
 *   each    a number for every call, and what rank 0 called
 *
 * All ranks draw from the same sequence, so they agree on every call; the data is a
 * function of sender and receiver.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT	4	/* ints in one element of every type */
#define NTYPES	7
#define NCOMMS	4
#define GUARD	64
#define PENDING	4

static uint64_t state;
static MPI_Datatype types[NTYPES];

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return below ? (uint32_t)(state >> 33) % below : 0;
}

/* Layouts of four ints: dense, with gaps, backwards, with an extent of their own. */
static void make_types(void)
{
	int lens[] = { 1, 2, 1 }, at[] = { 0, 2, 6 }, back[] = { 5, 2, 0 };
	MPI_Aint lb[] = { 8, 0 };
	MPI_Datatype t, two[2] = { MPI_INT, MPI_INT };
	int halves[] = { 2, 2 };
	int i;

	MPI_Type_contiguous(UNIT, MPI_INT, &types[0]);
	MPI_Type_vector(2, 2, 3, MPI_INT, &types[1]);
	MPI_Type_indexed(3, lens, at, MPI_INT, &types[2]);
	MPI_Type_indexed(3, lens, back, MPI_INT, &types[3]);
	MPI_Type_create_struct(2, halves, lb, two, &types[4]);
	MPI_Type_contiguous(UNIT, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, 7 * sizeof(int), &types[5]);
	MPI_Type_create_resized(t, -8, 24, &types[6]);
	MPI_Type_free(&t);
	for (i = 0; i < NTYPES; i++)
		MPI_Type_commit(&types[i]);
}

/* One side of a call: a buffer with room for any layout, and guards. */
struct side {
	char *mem;
	char *buf;
	size_t size;
	int *counts;
	int *disps;
	MPI_Datatype *types;
};

struct call {
	struct side s;
	struct side r;
	MPI_Request req;
	int number;
	char what[128];
};

static int each;

static void side_init(struct side *side, int n, int fill)
{
	size_t room = GUARD;
	MPI_Aint lb, extent;
	int i;

	for (i = 0; i < n; i++) {
		MPI_Type_get_extent(side->types[i], &lb, &extent);
		room += (size_t)(side->counts[i] + 2) * 64;
	}
	side->size = room + GUARD;
	side->mem = malloc(side->size);
	side->buf = side->mem + GUARD;
	memset(side->mem, fill, side->size);
}

static void side_new(struct side *side, int n)
{
	side->counts = calloc(n, sizeof(int));
	side->disps = calloc(n, sizeof(int));
	side->types = calloc(n, sizeof(MPI_Datatype));
}

static void side_free(struct side *side)
{
	free(side->mem);
	free(side->counts);
	free(side->disps);
	free(side->types);
}

/* Put the ints of one message where its type wants them. */
static void put(struct side *side, int i, size_t disp, int from, int to, uint32_t salt)
{
	int n = side->counts[i] * UNIT, pos = 0, k;
	int *flat = malloc(n * sizeof(int) + 1);

	for (k = 0; k < n; k++)
		flat[k] = (int)((from * 64 + to) * 2654435761U + k * 40503U + salt);
	MPI_Unpack(flat, n * sizeof(int), &pos, side->buf + disp, side->counts[i], side->types[i],
		   MPI_COMM_SELF);
	free(flat);
}

/* Lay messages one behind the other; a hole now and then. */
static void lay(struct side *side, int n, int bytes)
{
	size_t at = 16;
	MPI_Aint lb, extent;
	int i;

	for (i = 0; i < n; i++) {
		MPI_Type_get_extent(side->types[i], &lb, &extent);
		if (bytes) {
			side->disps[i] = at;
			at += (size_t)side->counts[i] * extent + 4 * (i % 3);
		} else {
			side->disps[i] = at / extent + 1;
			at = (side->disps[i] + side->counts[i] + i % 2) * extent;
		}
	}
}

static size_t where(const struct side *side, int i, int bytes)
{
	MPI_Aint lb, extent;

	MPI_Type_get_extent(side->types[i], &lb, &extent);
	return (size_t)side->disps[i] * (bytes ? 1 : extent);
}

/* Bytes of a message: mostly small, sometimes none, now and then large. */
static int some_count(uint32_t scale)
{
	if (scale == 0)
		return draw(4);
	if (scale == 1)
		return draw(2) ? 0 : draw(64);
	if (scale == 2)
		return draw(2000);
	return draw(8) ? draw(16) : draw(20000);
}

static void start(struct call *c, MPI_Comm comm, uint32_t salt)
{
	uint32_t kind = draw(3), blocking = draw(2), in_place = !draw(5), scale = draw(4);
	int rank, n, i, j, uniform = kind == 0, same;
	MPI_Datatype stype = types[draw(NTYPES)], rtype = types[draw(NTYPES)];
	void *sbuf;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &n);
	memset(c, 0, sizeof(*c));
	c->req = MPI_REQUEST_NULL;
	side_new(&c->s, n);
	side_new(&c->r, n);
	same = some_count(scale);
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			int count = uniform ? same : some_count(scale);
			MPI_Datatype ts = kind == 2 ? types[draw(NTYPES)] : stype;
			MPI_Datatype tr = kind == 2 ? types[draw(NTYPES)] : rtype;

			if (i == rank) {
				c->s.counts[j] = count;
				c->s.types[j] = ts;
			}
			if (j == rank) {
				c->r.counts[i] = count;
				c->r.types[i] = tr;
			}
		}
	}
	/* In place both directions have the same size and type. */
	if (in_place && kind)
		for (i = 0; i < n; i++)
			c->r.counts[i] = (rank + i) * (scale > 1 ? 37 : 1) % 211;
	if (in_place && kind == 2)
		for (i = 0; i < n; i++)
			c->r.types[i] = types[(rank + i) % NTYPES];
	side_init(&c->s, n, 0x5a);
	side_init(&c->r, n, 0xa5);
	if (kind) {
		lay(&c->s, n, kind == 2);
		lay(&c->r, n, kind == 2);
	} else {
		for (i = 0; i < n; i++) {
			c->s.disps[i] = i * same;
			c->r.disps[i] = i * same;
		}
		/* a negative lower bound needs room before the buffer: the guard */
	}
	for (i = 0; i < n; i++) {
		put(&c->s, i, where(&c->s, i, kind == 2), rank, i, salt);
		if (in_place)
			put(&c->r, i, where(&c->r, i, kind == 2), rank, i, salt);
	}
	sbuf = in_place ? MPI_IN_PLACE : c->s.buf;
	c->number = salt;
	snprintf(c->what, sizeof(c->what), "kind %u%s%s, %d ranks, scale %u, first count %d",
		 kind, blocking ? "" : ", not blocking", in_place ? ", in place" : "", n, scale,
		 c->r.counts[0]);

	if (kind == 0 && blocking)
		MPI_Alltoall(sbuf, same, stype, c->r.buf, same, rtype, comm);
	else if (kind == 0)
		MPI_Ialltoall(sbuf, same, stype, c->r.buf, same, rtype, comm, &c->req);
	else if (kind == 1 && blocking)
		MPI_Alltoallv(sbuf, c->s.counts, c->s.disps, stype, c->r.buf, c->r.counts,
			      c->r.disps, rtype, comm);
	else if (kind == 1)
		MPI_Ialltoallv(sbuf, c->s.counts, c->s.disps, stype, c->r.buf, c->r.counts,
			       c->r.disps, rtype, comm, &c->req);
	else if (blocking)
		MPI_Alltoallw(sbuf, c->s.counts, c->s.disps, c->s.types, c->r.buf, c->r.counts,
			      c->r.disps, c->r.types, comm);
	else
		MPI_Ialltoallw(sbuf, c->s.counts, c->s.disps, c->s.types, c->r.buf, c->r.counts,
			       c->r.disps, c->r.types, comm, &c->req);
}

static uint64_t hash(uint64_t h, const struct side *side)
{
	size_t i;

	for (i = 0; i < side->size; i++)
		h = (h ^ (unsigned char)side->mem[i]) * 1099511628211ULL;
	return h;
}

static uint64_t end(struct call *c, uint64_t h)
{
	uint64_t mine, all;
	int rank;

	MPI_Wait(&c->req, MPI_STATUS_IGNORE);
	h = hash(h, &c->r);
	if (each) {
		mine = hash(1, &c->r);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
		if (!rank)
			printf("call %d: %016llx %s\n", c->number, (unsigned long long)all,
			       c->what);
	}
	side_free(&c->s);
	side_free(&c->r);
	return h;
}

int main(int argc, char **argv)
{
	uint64_t h = 14695981039346656037ULL, all;
	int calls, rank, size, i, busy = 0;
	struct call pending[PENDING];
	MPI_Comm comms[NCOMMS];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	calls = argc > 1 ? atoi(argv[1]) : 1000;
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	each = argc > 3 && !strcmp(argv[3], "each");
	make_types();
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
	comms[3] = MPI_COMM_WORLD;

	for (i = 0; i < calls; i++) {
		MPI_Comm comm = comms[draw(NCOMMS)];
		uint64_t before = state;

		/* halves draw different numbers of numbers: go on from the same place */
		if (busy == PENDING)
			for (busy = 0; busy < PENDING; busy++)
				h = end(&pending[busy], h);
		if (busy == PENDING)
			busy = 0;
		start(&pending[busy++], comm, i);
		state = before * 2862933555777941757ULL + 3037000493ULL;
		if (i % 50 == 49) {
			/* free and make anew */
			while (busy)
				h = end(&pending[--busy], h);
			MPI_Comm_free(&comms[0]);
			MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
		}
		if (i % 100 == 99 || i == calls - 1) {
			while (busy)
				h = end(&pending[--busy], h);
			MPI_Reduce(&h, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
			if (!rank)
				printf("%d %016llx\n", i + 1, (unsigned long long)all);
			fflush(stdout);
		}
	}
	for (i = 0; i < 3; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	return 0;
}
