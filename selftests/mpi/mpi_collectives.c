// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random calls of the collectives that are not all-to-all: roots, lengths, data types with gaps,
 * operators, communicators, MPI_IN_PLACE.  Every byte of the receive buffers, guards and gaps
 * included, is compared with what this program computes alone.
 *
 * usage: mpi_collectives CALLS [SEED [KIND...]]
 *   KIND   only such calls: barrier, bcast, gather, ...
 *
 * All ranks draw from the same sequence, so they agree on every call.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT	4	/* ints in one element of every layout */
#define GUARD	64
#define ROOM	64	/* bytes of an element, at most */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % below;
}

enum kind {
	BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, REDUCE, ALLREDUCE, REDUCE_SCATTER_BLOCK, SCAN,
	EXSCAN, KINDS,
};

static const char *const kind_names[] = {
	"barrier", "bcast", "gather", "scatter", "allgather", "reduce", "allreduce",
	"reduce_scatter_block", "scan", "exscan",
};

/* ---- what is combined ---- */

struct maps {		/* x -> a * x + b: to be applied one after the other */
	int a, b;
};

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
	struct maps *first = in, *then = inout;
	int i;

	(void)type;
	for (i = 0; i < *n; i++) {
		then[i].b = (int)(((int64_t)then[i].a * first[i].b + then[i].b) % 10007);
		then[i].a = (int)((int64_t)then[i].a * first[i].a % 10007);
	}
}

static void add_modulo(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *a = in, *b = inout, i;

	(void)type;
	for (i = 0; i < *n; i++)
		b[i] = (a[i] + b[i]) % 10007;
}

static MPI_Op compose_op, add_op;

/* No sums of 8 or 16 bits: those of Open MPI 4.1's op/avx saturate, if there are enough of them. */
static struct combination {
	MPI_Op op;
	MPI_Datatype type;
} combinations[] = {
	{ MPI_SUM, MPI_INT }, { MPI_MAX, MPI_INT }, { MPI_BXOR, MPI_LONG }, { MPI_MIN, MPI_SHORT },
	{ MPI_BXOR, MPI_UNSIGNED_CHAR }, { MPI_BAND, MPI_UINT64_T }, { MPI_MAX, MPI_SIGNED_CHAR },
	{ MPI_BOR, MPI_BYTE }, { MPI_SUM, MPI_UNSIGNED }, { MPI_MIN, MPI_UINT16_T },
	{ MPI_SUM, MPI_DOUBLE }, { MPI_PROD, MPI_FLOAT }, { MPI_LAND, MPI_INT },
	{ MPI_MINLOC, MPI_DOUBLE_INT }, { MPI_MAXLOC, MPI_2INT },
	{ MPI_OP_NULL, MPI_INT },	/* add_op */
	{ MPI_OP_NULL, MPI_2INT },	/* compose_op */
};

#define COMBINATIONS	(sizeof(combinations) / sizeof(combinations[0]))

/* Small numbers, so that the order of sums and products of real ones makes no difference. */
static void fill_items(char *at, MPI_Datatype type, int n, int rank, uint32_t salt)
{
	int size, k, i;
	MPI_Aint lb, extent;
	uint32_t x;

	MPI_Type_size(type, &size);
	MPI_Type_get_extent(type, &lb, &extent);
	for (k = 0; k < n; k++, at += extent) {
		x = (rank * 131 + k) * 2654435761U + salt * 40503U;
		if (type == MPI_DOUBLE) {
			*(double *)at = x >> 28;
		} else if (type == MPI_FLOAT) {
			*(float *)at = 1 + (x >> 31);
		} else if (type == MPI_DOUBLE_INT) {
			*(double *)at = x >> 28;
			*(int *)(at + sizeof(double)) = rank;
		} else if (type == MPI_2INT) {
			((int *)at)[0] = x >> 20;
			((int *)at)[1] = x & 0xff;
		} else {
			for (i = 0; i < size; i++)
				at[i] = x >> (8 * (i % 4));
			/* add_modulo() takes no negative ones */
			if (type == MPI_INT)
				*(int *)at = (unsigned int)*(int *)at % 10007;
		}
	}
}

/* The items of ranks first to last, combined in that order. */
static void expect_items(char *to, const struct combination *c, int n, int first, int last,
			 uint32_t salt, size_t room)
{
	char *one = malloc(room + 1);
	int i;

	fill_items(to, c->type, n, last, salt);
	for (i = last - 1; i >= first; i--) {
		memset(one, 0, room);
		fill_items(one, c->type, n, i, salt);
		MPI_Reduce_local(one, to, n, c->type, c->op);
	}
	free(one);
}

/* ---- what is moved ---- */

#define LAYOUTS	5

static MPI_Datatype layouts[LAYOUTS];

/* Four ints each: dense, with gaps, backwards, with an extent of their own. */
static void make_layouts(void)
{
	int lens[] = { 1, 2, 1 }, at[] = { 0, 2, 6 }, back[] = { 5, 2, 0 }, i;
	MPI_Datatype t;

	MPI_Type_contiguous(UNIT, MPI_INT, &layouts[0]);
	MPI_Type_vector(2, 2, 3, MPI_INT, &layouts[1]);
	MPI_Type_indexed(3, lens, at, MPI_INT, &layouts[2]);
	MPI_Type_indexed(3, lens, back, MPI_INT, &layouts[3]);
	MPI_Type_contiguous(UNIT, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, 7 * sizeof(int), &layouts[4]);
	MPI_Type_free(&t);
	for (i = 0; i < LAYOUTS; i++)
		MPI_Type_commit(&layouts[i]);
}

/* Put the elements of a rank, @n of them, where the layout wants them: behind @before others. */
static void put(char *buf, MPI_Datatype type, int before, int n, int rank, uint32_t salt)
{
	int *flat = malloc((size_t)n * UNIT * sizeof(int) + 1), pos = 0, k;
	MPI_Aint lb, extent;

	for (k = 0; k < n * UNIT; k++)
		flat[k] = (int)(rank * 2654435761U + k * 40503U + salt);
	MPI_Type_get_extent(type, &lb, &extent);
	MPI_Unpack(flat, n * UNIT * sizeof(int), &pos, buf + before * extent, n, type,
		   MPI_COMM_SELF);
	free(flat);
}

/* ---- calls ---- */

struct call {
	enum kind kind;
	MPI_Comm comm;
	int rank, size, root, n;
	int in_place;
	uint32_t salt;
	MPI_Datatype from, to;		/* layouts */
	const struct combination *c;
	size_t room;			/* bytes of a buffer, guards included */
	char *s, *r, *want;		/* buffers with guards */
};

static char *buffer(const struct call *k, int byte)
{
	char *mem = malloc(k->room);

	memset(mem, byte, k->room);
	return mem;
}

static void move(struct call *k)
{
	char *s = k->s + GUARD, *r = k->r + GUARD, *want = k->want + GUARD;
	int is_root = k->rank == k->root, i;
	void *sbuf = s;

	switch (k->kind) {
	case BCAST:
		put(want, k->to, 0, k->n, k->root, k->salt);
		if (is_root)
			put(r, k->to, 0, k->n, k->root, k->salt);
		MPI_Bcast(r, k->n, k->to, k->root, k->comm);
		break;
	case GATHER:
	case ALLGATHER:
		put(s, k->from, 0, k->n, k->rank, k->salt);
		if (k->kind == GATHER && !is_root)
			k->in_place = 0;
		for (i = 0; i < k->size && (k->kind == ALLGATHER || is_root); i++)
			put(want, k->to, i * k->n, k->n, i, k->salt);
		if (k->in_place) {
			put(r, k->to, k->rank * k->n, k->n, k->rank, k->salt);
			sbuf = MPI_IN_PLACE;
		}
		if (k->kind == GATHER)
			MPI_Gather(sbuf, k->n, k->from, r, k->n, k->to, k->root, k->comm);
		else
			MPI_Allgather(sbuf, k->n, k->from, r, k->n, k->to, k->comm);
		break;
	default:
		for (i = 0; i < k->size && is_root; i++)
			put(s, k->from, i * k->n, k->n, i, k->salt);
		if (is_root && k->in_place) {
			MPI_Scatter(s, k->n, k->from, MPI_IN_PLACE, 0, MPI_INT, k->root, k->comm);
			break;
		}
		put(want, k->to, 0, k->n, k->rank, k->salt);
		MPI_Scatter(s, k->n, k->from, r, k->n, k->to, k->root, k->comm);
		break;
	}
}

static void combine(struct call *k)
{
	char *s = k->s + GUARD, *r = k->r + GUARD, *want = k->want + GUARD, *all;
	int is_root = k->rank == k->root, parts = 1, first = 0, last = k->size - 1;
	size_t room = k->room - 2 * GUARD;
	const struct combination *c = k->c;
	MPI_Aint lb, extent;
	void *sbuf = s;

	if (k->kind == REDUCE_SCATTER_BLOCK)
		parts = k->size;
	if (k->kind == SCAN)
		last = k->rank;
	if (k->kind == EXSCAN)
		last = k->rank - 1;
	if (k->kind == REDUCE && !is_root) {
		last = -1;
		k->in_place = 0;
	}
	MPI_Type_get_extent(c->type, &lb, &extent);
	fill_items(k->in_place ? r : s, c->type, k->n * parts, k->rank, k->salt);
	if (k->in_place) {
		sbuf = MPI_IN_PLACE;
		/* what is not written stays; of a scattered vector anything may be left behind */
		memcpy(want, r, room);
	}
	if (last >= 0) {
		all = malloc(room + 1);
		memcpy(all, want, room);
		expect_items(all, c, k->n * parts, first, last, k->salt, room);
		memcpy(want, all + (parts > 1 ? k->rank * k->n * extent : 0), k->n * extent);
		free(all);
	}
	switch (k->kind) {
	case REDUCE:
		MPI_Reduce(sbuf, r, k->n, c->type, c->op, k->root, k->comm);
		break;
	case ALLREDUCE:
		MPI_Allreduce(sbuf, r, k->n, c->type, c->op, k->comm);
		break;
	case REDUCE_SCATTER_BLOCK:
		MPI_Reduce_scatter_block(sbuf, r, k->n, c->type, c->op, k->comm);
		if (k->in_place)
			memcpy(want + k->n * extent, r + k->n * extent, room - k->n * extent);
		break;
	case SCAN:
		MPI_Scan(sbuf, r, k->n, c->type, c->op, k->comm);
		break;
	default:
		MPI_Exscan(sbuf, r, k->n, c->type, c->op, k->comm);
		break;
	}
}

/* Mostly short ones, which the kernel carries; now and then long. */
static int some_count(void)
{
	switch (draw(4)) {
	case 0:
		return draw(4);
	case 1:
		return draw(8) ? draw(60) : draw(20000);
	default:
		return draw(60);
	}
}

static void one(struct call *k)
{
	size_t i;

	k->room = 2 * GUARD + (size_t)(k->n + 2) * ROOM * k->size;
	k->s = buffer(k, 0x5a);
	k->r = buffer(k, 0xa5);
	k->want = buffer(k, 0xa5);
	if (k->kind == BARRIER)
		MPI_Barrier(k->comm);
	else if (k->kind < REDUCE)
		move(k);
	else
		combine(k);
	for (i = 0; i < k->room && k->r[i] == k->want[i]; i++)
		;
	if (i < k->room) {
		fprintf(stderr, "call %u: rank %d of %d: %s, %d elements, root %d, combination %d%s: byte %zd is %02x, not %02x\n",
			k->salt, k->rank, k->size, kind_names[k->kind], k->n, k->root,
			(int)(k->c - combinations), k->in_place ? ", in place" : "",
			(ssize_t)i - GUARD, k->r[i] & 0xff, k->want[i] & 0xff);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	free(k->s);
	free(k->r);
	free(k->want);
}

static int named(int argc, char **argv, enum kind kind)
{
	int i;

	for (i = 3; i < argc; i++)
		if (!strcmp(argv[i], kind_names[kind]))
			return 1;
	return argc < 4;
}

int main(int argc, char **argv)
{
	MPI_Comm comms[3];
	int calls, rank, i;

	MPI_Init(&argc, &argv);
	if (argc < 2) {
		fprintf(stderr, "usage: mpi_collectives CALLS [SEED [KIND...]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	calls = atoi(argv[1]);
	state = argc > 2 ? atoi(argv[2]) : 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	make_layouts();
	MPI_Op_create(add_modulo, 1, &add_op);
	MPI_Op_create(compose, 0, &compose_op);
	combinations[COMBINATIONS - 2].op = add_op;
	combinations[COMBINATIONS - 1].op = compose_op;
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
	for (i = 0; i < calls; i++) {
		struct call k = {
			.kind = draw(KINDS),
			.comm = comms[draw(3)],
			.n = some_count(),
			.in_place = !draw(4),
			.salt = i,
			.from = layouts[draw(LAYOUTS)],
			.to = layouts[draw(LAYOUTS)],
			.c = &combinations[draw(COMBINATIONS)],
		};
		uint32_t root = draw(1000);

		MPI_Comm_rank(k.comm, &k.rank);
		MPI_Comm_size(k.comm, &k.size);
		k.root = root % k.size;
		if (named(argc, argv, k.kind))
			one(&k);
	}
	if (!rank)
		printf("%d calls\n", calls);
	MPI_Finalize();
	return 0;
}
