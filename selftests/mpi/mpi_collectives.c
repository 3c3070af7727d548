// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random calls of the collectives that are not all-to-all: roots, lengths, data types with gaps,
 * operators, communicators, MPI_IN_PLACE.  Every byte of the receive buffers, guards and gaps
 * included, is compared with what this program computes alone.
 *
 * Half of the calls are non-blocking; several are under way at once, and end in any order.
 *
 * usage: mpi_collectives CALLS [SEED [KIND...]]
 *   KIND      only such calls: barrier, bcast, gather, ...; or words that change all of them:
 *   in_order  what is combined is so by an operator that does not commute
 *   by_pmpi   blocking calls are made a second time, by MPI's own function: the same must come out
 *   again     non-blocking calls are persistent ones, each of which is started twice
 *
 * All ranks draw from the same sequence, so they agree on every call.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "persistent.h"

#define UNIT	4	/* ints in one element of every layout */
#define GUARD	64
#define ROOM	64	/* bytes of an element, at most */
#define AT_ONCE	5	/* calls that are not waited for */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % below;
}

enum kind {
	BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, GATHERV, SCATTERV, ALLGATHERV, REDUCE,
	ALLREDUCE, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, REDUCE_SCATTER, KINDS,
};

static const char *const kind_names[] = {
	"barrier", "bcast", "gather", "scatter", "allgather", "gatherv", "scatterv", "allgatherv",
	"reduce", "allreduce", "reduce_scatter_block", "scan", "exscan", "reduce_scatter",
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

/* Items of a derived type, an int and a gap of as many bytes. */
static void add_with_gaps(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *a = in, *b = inout, i;

	(void)type;
	for (i = 0; i < 2 * *n; i += 2)
		b[i] = (a[i] + b[i]) % 10007;
}

static MPI_Datatype int_and_gap, other_int;

enum { ADD = 15, ADD_DUPLICATE, ADD_WITH_GAPS, COMPOSE };

/* MPICH 4.0 takes unsigned numbers for signed ones where it looks for the least or greatest. */
#ifdef MPICH_VERSION
#define UNSIGNED_MIN	MPI_BXOR
#else
#define UNSIGNED_MIN	MPI_MIN
#endif

/* No sums of 8 or 16 bits: those of Open MPI 4.1's op/avx saturate, if there are enough of them. */
static struct combination {
	MPI_Op op;
	MPI_Datatype type;
} combinations[] = {
	{ MPI_SUM, MPI_INT }, { MPI_MAX, MPI_INT }, { MPI_BXOR, MPI_LONG }, { MPI_MIN, MPI_SHORT },
	{ MPI_BXOR, MPI_UNSIGNED_CHAR }, { MPI_BAND, MPI_UINT64_T }, { MPI_MAX, MPI_SIGNED_CHAR },
	{ MPI_BOR, MPI_BYTE }, { MPI_SUM, MPI_UNSIGNED }, { UNSIGNED_MIN, MPI_UINT16_T },
	{ MPI_SUM, MPI_DOUBLE }, { MPI_PROD, MPI_FLOAT }, { MPI_LAND, MPI_INT },
	{ MPI_MINLOC, MPI_DOUBLE_INT }, { MPI_MAXLOC, MPI_2INT },
	/* operators of the program */
	[ADD] = { MPI_OP_NULL, MPI_INT },
	[ADD_DUPLICATE] = { MPI_OP_NULL, MPI_INT },
	[ADD_WITH_GAPS] = { MPI_OP_NULL, MPI_DATATYPE_NULL },
	[COMPOSE] = { MPI_OP_NULL, MPI_2INT },
};

#define COMBINATIONS	(sizeof(combinations) / sizeof(combinations[0]))

static void make_combinations(void)
{
	MPI_Op_create(add_modulo, 1, &combinations[ADD].op);
	combinations[ADD_DUPLICATE].op = combinations[ADD].op;
	MPI_Type_dup(MPI_INT, &other_int);
	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &int_and_gap);
	MPI_Type_commit(&int_and_gap);
	MPI_Op_create(add_with_gaps, 1, &combinations[ADD_WITH_GAPS].op);
	combinations[ADD_WITH_GAPS].type = int_and_gap;
	MPI_Op_create(compose, 0, &combinations[COMPOSE].op);
}

/* What a rank calls the type. */
static MPI_Datatype type_at(const struct combination *c, int rank)
{
	return c == &combinations[ADD_DUPLICATE] && rank % 2 ? other_int : c->type;
}

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
			if (type == MPI_INT || type == int_and_gap)
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
	int *counts, *disps;		/* of each rank */
	size_t part;			/* bytes of the result that is combined */
	int later;			/* it is not waited for at once */
	int again;			/* it is persistent: not waited for either */
	char *before;			/* the receive buffer then */
	int by_pmpi;
	MPI_Request request;
};

#ifdef PERSISTENT
#define AGAIN(name, ...)	AGAIN_##name(__VA_ARGS__)
#else
#define AGAIN(name, ...)	printf("no persistent " #name "\n")
#endif

/* The call, its non-blocking form, a persistent one, or MPI's own function. */
#define MPI(k, name, ...)							\
	do {									\
		if ((k)->again)							\
			AGAIN(name, __VA_ARGS__, (k)->comm, MPI_INFO_NULL,	\
			      &(k)->request);					\
		else if ((k)->later)						\
			MPI_I##name(__VA_ARGS__, (k)->comm, &(k)->request);	\
		else if ((k)->by_pmpi)						\
			PMPI_##name##_(__VA_ARGS__, (k)->comm);			\
		else								\
			MPI_##name##_(__VA_ARGS__, (k)->comm);			\
	} while (0)

#define AGAIN_barrier			PERSISTENT(Barrier)
#define MPI_bcast_			MPI_Bcast
#define MPI_gather_			MPI_Gather
#define MPI_scatter_			MPI_Scatter
#define MPI_allgather_			MPI_Allgather
#define MPI_reduce_			MPI_Reduce
#define MPI_allreduce_			MPI_Allreduce
#define MPI_reduce_scatter_block_	MPI_Reduce_scatter_block
#define MPI_scan_			MPI_Scan
#define MPI_exscan_			MPI_Exscan
#define MPI_gatherv_			MPI_Gatherv
#define MPI_scatterv_			MPI_Scatterv
#define MPI_allgatherv_			MPI_Allgatherv
#define MPI_reduce_scatter_		MPI_Reduce_scatter

#define PMPI_bcast_			PMPI_Bcast
#define PMPI_gather_			PMPI_Gather
#define PMPI_scatter_			PMPI_Scatter
#define PMPI_allgather_			PMPI_Allgather
#define PMPI_reduce_			PMPI_Reduce
#define PMPI_allreduce_			PMPI_Allreduce
#define PMPI_reduce_scatter_block_	PMPI_Reduce_scatter_block
#define PMPI_scan_			PMPI_Scan
#define PMPI_exscan_			PMPI_Exscan
#define PMPI_gatherv_			PMPI_Gatherv
#define PMPI_scatterv_			PMPI_Scatterv
#define PMPI_allgatherv_		PMPI_Allgatherv
#define PMPI_reduce_scatter_		PMPI_Reduce_scatter

#define AGAIN_bcast			PERSISTENT(Bcast)
#define AGAIN_gather			PERSISTENT(Gather)
#define AGAIN_scatter			PERSISTENT(Scatter)
#define AGAIN_allgather			PERSISTENT(Allgather)
#define AGAIN_reduce			PERSISTENT(Reduce)
#define AGAIN_allreduce			PERSISTENT(Allreduce)
#define AGAIN_reduce_scatter_block	PERSISTENT(Reduce_scatter_block)
#define AGAIN_scan			PERSISTENT(Scan)
#define AGAIN_exscan			PERSISTENT(Exscan)
#define AGAIN_gatherv			PERSISTENT(Gatherv)
#define AGAIN_scatterv			PERSISTENT(Scatterv)
#define AGAIN_allgatherv		PERSISTENT(Allgatherv)
#define AGAIN_reduce_scatter		PERSISTENT(Reduce_scatter)

static char *buffer(const struct call *k, int byte)
{
	char *mem = malloc(k->room);

	memset(mem, byte, k->room);
	return mem;
}

/* A count for each rank, @n at most; blocks are in any order, and not close together. */
static void make_counts(struct call *k)
{
	int i;

	k->counts = malloc(2 * k->size * sizeof(int));
	k->disps = k->counts + k->size;
	for (i = 0; i < k->size; i++) {
		k->counts[i] = k->n ? (k->salt * 7 + i * 13) % (k->n + 1) : 0;
		k->disps[i] = (k->size - 1 - i) * (k->n + 1);
	}
}

/* Blocks of ranks from @first to @last, where they belong. */
static void put_blocks(const struct call *k, char *buf, MPI_Datatype type, int first, int last)
{
	for (; first <= last; first++)
		put(buf, type, k->disps[first], k->counts[first], first, k->salt);
}

static void move_counts(struct call *k)
{
	char *s = k->s + GUARD, *r = k->r + GUARD, *want = k->want + GUARD;
	int is_root = k->rank == k->root, own = k->counts[k->rank];
	void *sbuf = s;

	if (k->kind == SCATTERV) {
		if (is_root)
			put_blocks(k, s, k->from, 0, k->size - 1);
		if (is_root && k->in_place) {
			MPI(k, scatterv, s, k->counts, k->disps, k->from, MPI_IN_PLACE, 0, MPI_INT,
			    k->root);
			return;
		}
		put(want, k->to, 0, own, k->rank, k->salt);
		MPI(k, scatterv, s, k->counts, k->disps, k->from, r, own, k->to, k->root);
		return;
	}
	put(s, k->from, 0, own, k->rank, k->salt);
	if (k->kind == GATHERV && !is_root)
		k->in_place = 0;
	if (k->kind == ALLGATHERV || is_root)
		put_blocks(k, want, k->to, 0, k->size - 1);
	if (k->in_place) {
		put_blocks(k, r, k->to, k->rank, k->rank);
		sbuf = MPI_IN_PLACE;
	}
	if (k->kind == GATHERV)
		MPI(k, gatherv, sbuf, own, k->from, r, k->counts, k->disps, k->to, k->root);
	else
		MPI(k, allgatherv, sbuf, own, k->from, r, k->counts, k->disps, k->to);
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
		MPI(k, bcast, r, k->n, k->to, k->root);
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
			MPI(k, gather, sbuf, k->n, k->from, r, k->n, k->to, k->root);
		else
			MPI(k, allgather, sbuf, k->n, k->from, r, k->n, k->to);
		break;
	default:
		for (i = 0; i < k->size && is_root; i++)
			put(s, k->from, i * k->n, k->n, i, k->salt);
		if (is_root && k->in_place) {
			MPI(k, scatter, s, k->n, k->from, MPI_IN_PLACE, 0, MPI_INT, k->root);
			break;
		}
		put(want, k->to, 0, k->n, k->rank, k->salt);
		MPI(k, scatter, s, k->n, k->from, r, k->n, k->to, k->root);
		break;
	}
}

static void combine(struct call *k)
{
	char *s = k->s + GUARD, *r = k->r + GUARD, *want = k->want + GUARD, *all;
	/* items that each puts in, and where our part of the result is there */
	int items = k->n, own = k->n, at = 0, i;
	int is_root = k->rank == k->root, first = 0, last = k->size - 1;
	size_t room = k->room - 2 * GUARD;
	const struct combination *c = k->c;
	MPI_Datatype type = type_at(c, k->rank);
	MPI_Aint lb, extent;
	void *sbuf = s;

	if (k->kind == REDUCE_SCATTER_BLOCK) {
		items = k->n * k->size;
		at = k->n * k->rank;
	} else if (k->kind == REDUCE_SCATTER) {
		own = k->counts[k->rank];
		for (items = 0, i = 0; i < k->size; i++) {
			at += i < k->rank ? k->counts[i] : 0;
			items += k->counts[i];
		}
	}
	if (k->kind == SCAN)
		last = k->rank;
	if (k->kind == EXSCAN)
		last = k->rank - 1;
	if (k->kind == REDUCE && !is_root) {
		last = -1;
		k->in_place = 0;
	}
	MPI_Type_get_extent(c->type, &lb, &extent);
	k->part = own * extent;
	fill_items(k->in_place ? r : s, c->type, items, k->rank, k->salt);
	if (k->in_place) {
		sbuf = MPI_IN_PLACE;
		/* what is not written stays; of a scattered vector anything may be left behind */
		memcpy(want, r, room);
	}
	if (last >= 0) {
		all = malloc(room + 1);
		memcpy(all, want, room);
		expect_items(all, c, items, first, last, k->salt, room);
		memcpy(want, all + at * extent, own * extent);
		free(all);
	}
	switch (k->kind) {
	case REDUCE:
		MPI(k, reduce, sbuf, r, k->n, type, c->op, k->root);
		break;
	case ALLREDUCE:
		MPI(k, allreduce, sbuf, r, k->n, type, c->op);
		break;
	case REDUCE_SCATTER_BLOCK:
		MPI(k, reduce_scatter_block, sbuf, r, k->n, type, c->op);
		break;
	case REDUCE_SCATTER:
		MPI(k, reduce_scatter, sbuf, r, k->counts, type, c->op);
		break;
	case SCAN:
		MPI(k, scan, sbuf, r, k->n, type, c->op);
		break;
	default:
		MPI(k, exscan, sbuf, r, k->n, type, c->op);
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

static void start(struct call *k)
{
	k->room = 2 * GUARD + (size_t)(k->n + 2) * ROOM * k->size;
	k->s = buffer(k, 0x5a);
	k->r = buffer(k, 0xa5);
	k->want = buffer(k, 0xa5);
	make_counts(k);
	if (k->kind == BARRIER && k->again)
		AGAIN(barrier, k->comm, MPI_INFO_NULL, &k->request);
	else if (k->kind == BARRIER && k->later)
		MPI_Ibarrier(k->comm, &k->request);
	else if (k->kind == BARRIER && k->by_pmpi)
		PMPI_Barrier(k->comm);
	else if (k->kind == BARRIER)
		MPI_Barrier(k->comm);
	else if (k->kind >= GATHERV && k->kind <= ALLGATHERV)
		move_counts(k);
	else if (k->kind < REDUCE)
		move(k);
	else
		combine(k);
	if (k->again) {
		k->before = buffer(k, 0);
		memcpy(k->before, k->r, k->room);
		MPI_Start(&k->request);
	}
}

static void check(struct call *k)
{
	size_t at = k->part, room = k->room - 2 * GUARD, i;

	/* of a vector in place anything may be left behind the part that is ours */
	if ((k->kind == REDUCE_SCATTER_BLOCK || k->kind == REDUCE_SCATTER) && k->in_place)
		memcpy(k->want + GUARD + at, k->r + GUARD + at, room - at);
	for (i = 0; i < k->room && k->r[i] == k->want[i]; i++)
		;
	if (i < k->room) {
		fprintf(stderr, "call %u: rank %d of %d: %s%s, %d elements, root %d, combination %d%s: byte %zd is %02x, not %02x\n",
			k->salt, k->rank, k->size, k->by_pmpi ? "P" : "", kind_names[k->kind],
			k->n, k->root, (int)(k->c - combinations), k->in_place ? ", in place" : "",
			(ssize_t)i - GUARD, k->r[i] & 0xff, k->want[i] & 0xff);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
}

static void end(struct call *k)
{
	if (k->later)
		MPI_Wait(&k->request, MPI_STATUS_IGNORE);
	check(k);
	if (k->again) {
		memcpy(k->r, k->before, k->room);
		MPI_Start(&k->request);
		MPI_Wait(&k->request, MPI_STATUS_IGNORE);
		check(k);
		MPI_Request_free(&k->request);
		free(k->before);
	}
	free(k->s);
	free(k->r);
	free(k->want);
	free(k->counts);
}

static int word(int argc, char **argv, const char *name)
{
	int i;

	for (i = 3; i < argc && strcmp(argv[i], name); i++)
		;
	return i < argc;
}

static int named(int argc, char **argv, enum kind kind)
{
	int words = 3 + word(argc, argv, "in_order") + word(argc, argv, "by_pmpi") +
		    word(argc, argv, "again");

	return argc <= words || word(argc, argv, kind_names[kind]);
}

/* The same call by MPI's own function, which has to leave the same. */
static void compare(struct call *k)
{
	struct call own = *k;

	check(k);
	own.by_pmpi = 1;
	start(&own);
	/* of what is combined anything may be left behind the result */
	memcpy(own.want, k->r, k->kind < REDUCE ? k->room : GUARD + k->part);
	end(&own);
}

/* What is combined may end where the memory does: the gap behind the last item is nobody's. */
static void combine_at_end(int rank)
{
	long page = sysconf(_SC_PAGESIZE);
	int n = 100, size, i, *from, *to;
	char *mem;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	mem = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED || mprotect(mem + page, page, PROT_NONE) ||
	    mprotect(mem + 3 * page, page, PROT_NONE)) {
		perror("mpi_collectives: mmap");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	from = (int *)(mem + page) - 2 * n + 1;
	to = (int *)(mem + 3 * page) - 2 * n + 1;
	for (i = 0; i < n; i++)
		from[2 * i] = rank + i;
	MPI_Allreduce(from, to, n, int_and_gap, combinations[ADD_WITH_GAPS].op, MPI_COMM_WORLD);
	for (i = 0; i < 2 * n - 1; i++) {
		if (to[i] == (i % 2 ? 0 : size * (size - 1) / 2 + size * (i / 2)))
			continue;
		printf("rank %d: all-reduce of items with gaps: item %d is %d\n", rank, i, to[i]);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	munmap(mem, 4 * page);
}

int main(int argc, char **argv)
{
	struct call pending[AT_ONCE];
	int by_pmpi = word(argc, argv, "by_pmpi"), in_order = word(argc, argv, "in_order");
	int again = word(argc, argv, "again");
	int calls, rank, i, n = 0, which;
	MPI_Comm comms[3];

	MPI_Init(&argc, &argv);
	if (argc < 2) {
		fprintf(stderr, "usage: mpi_collectives CALLS [SEED [KIND...]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	calls = atoi(argv[1]);
	state = argc > 2 ? atoi(argv[2]) : 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	make_layouts();
	make_combinations();
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
	combine_at_end(rank);
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
		k.later = draw(2);
		k.again = k.later && again;
		if (!named(argc, argv, k.kind))
			continue;
		if (in_order)
			k.c = &combinations[COMPOSE];
		start(&k);
		if (!k.later && by_pmpi)
			compare(&k);
		if (k.later)
			pending[n++] = k;
		else
			end(&k);
		/* the same at all ranks, in any order */
		while (n && (n == AT_ONCE || !draw(3))) {
			which = draw(n);
			end(&pending[which]);
			pending[which] = pending[--n];
		}
	}
	while (n)
		end(&pending[--n]);
	if (!rank)
		printf("%d calls\n", calls);
	MPI_Finalize();
	return 0;
}
