// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random neighbourhood collectives: all five, blocking, non-blocking and persistent, on cartesian
 * communicators (extents of 1 and 2, borders), graphs and distributed graphs with several edges
 * between two ranks and to oneself.  Counts and data follow from the ends of an edge and its number
 * among those between them, so every rank knows what its receive buffer must hold, gaps, guards and
 * blocks of nobody included, and asks no other call.
 *
 * usage: mpi_neighbour CALLS [SEED [blocking]]
 *
 * Each rank prints how many bytes came from other ranks, and rank 0 "ok".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "persistent.h"

#define UNIT		4	/* ints in one element of every type */
#define NTYPES		5
#define GUARD		64
#define ROOM		32	/* bytes of an element, at most, and of what lies around it */
#define PENDING		4
#define CALLS_OF_ONE	10	/* communicator */
#define MOST_EDGES	64

enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };
static const char *const names[] = {
	"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
};

static MPI_Datatype types[NTYPES];
static uint64_t state, from_others;
static int world_rank, world_size, blocking_only;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return below ? (uint32_t)(state >> 33) % below : 0;
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	uint64_t h = a;

	h = h * 1000003 + b;
	h = h * 1000003 + c;
	h = (h * 1000003 + d) * 0x9e3779b97f4a7c15ULL;
	return h >> 32;
}

/* Layouts of four ints: dense, with gaps, backwards, with an extent of their own. */
static void make_types(void)
{
	int lens[] = { 1, 2, 1 }, back[] = { 5, 2, 0 }, i;
	MPI_Datatype t;

	MPI_Type_contiguous(UNIT, MPI_INT, &types[0]);
	MPI_Type_vector(2, 2, 3, MPI_INT, &types[1]);
	MPI_Type_indexed(3, lens, back, MPI_INT, &types[2]);
	MPI_Type_contiguous(UNIT, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, 7 * sizeof(int), &types[3]);
	MPI_Type_create_resized(t, -8, 24, &types[4]);
	MPI_Type_free(&t);
	for (i = 0; i < NTYPES; i++)
		MPI_Type_commit(&types[i]);
}

/* Ends of edges, as the communicator has them. */
struct ends {
	int n;
	int peer[MOST_EDGES];		/* or MPI_PROC_NULL */
	int which[MOST_EDGES];		/* the sender's number of the edge */
};

struct topology {
	MPI_Comm comm;
	int rank;
	struct ends in, out;
};

/* The k-th edge between two ranks is the k-th in the lists of both. */
static void number(struct ends *e)
{
	int i, j;

	for (i = 0; i < e->n; i++)
		for (j = 0, e->which[i] = 0; j < i; j++)
			e->which[i] += e->peer[j] == e->peer[i];
}

static int cart(struct topology *t)
{
	int dims[3], periods[3], at[3], n, d, i, k, ranks;
	/* Where all are on one host Open MPI's own functions make the calls, some of which take the
	 * two directions for one another.
	 */
	int least = world_size > 4 ? 3 : 2;

	do {
		n = 1 + draw(3);
		for (ranks = 1, d = 0; d < n; d++) {
			dims[d] = 1 + draw(3);
			periods[d] = draw(3) > 0;
			ranks *= dims[d];
		}
	} while (ranks < least || ranks > world_size);
	MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, draw(2), &t->comm);
	if (t->comm == MPI_COMM_NULL)
		return 0;
	MPI_Comm_rank(t->comm, &t->rank);
	t->in.n = 2 * n;
	t->out.n = 2 * n;
	for (i = 0; i < 2 * n; i++) {
		MPI_Cart_coords(t->comm, t->rank, n, at);
		d = i / 2;
		at[d] += i % 2 ? 1 : -1;
		k = MPI_PROC_NULL;
		if (periods[d] || (at[d] >= 0 && at[d] < dims[d]))
			MPI_Cart_rank(t->comm, at, &k);
		t->in.peer[i] = k;
		t->out.peer[i] = k;
		/* what goes up comes from below */
		t->out.which[i] = i;
		t->in.which[i] = i ^ 1;
	}
	return 1;
}

static void shuffle(int *list, int n)
{
	int i, k, x;

	for (i = n - 1; i > 0; i--) {
		k = draw(i + 1);
		x = list[i];
		list[i] = list[k];
		list[k] = x;
	}
}

/* Each edge in both directions; one to oneself is in the list once. */
static void graph(struct topology *t)
{
	int index[MOST_EDGES], edges[48], a[24], b[24], n = 1 + draw(24), all = 0, i, k;

	for (k = 0; k < n; k++) {
		a[k] = draw(world_size);
		b[k] = draw(world_size);
	}
	for (i = 0; i < world_size; i++) {
		int first = all;

		for (k = 0; k < n; k++) {
			if (a[k] == i)
				edges[all++] = b[k];
			else if (b[k] == i)
				edges[all++] = a[k];
		}
		shuffle(edges + first, all - first);
		index[i] = all;
	}
	MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, draw(2), &t->comm);
	MPI_Comm_rank(t->comm, &t->rank);
	MPI_Graph_neighbors_count(t->comm, t->rank, &n);
	MPI_Graph_neighbors(t->comm, t->rank, n, t->in.peer);
	t->in.n = n;
	t->out = t->in;
}

/* Each rank names its own edges, or any that are then told to those whose they are. */
static void dist_graph(struct topology *t)
{
	int a[32], b[32], in[32], out[32], n = 1 + draw(32), nin = 0, nout = 0, i, weighted;
	int adjacent = draw(2), reorder = draw(2), one[32], to[32], mine = 0;

	for (i = 0; i < n; i++) {
		a[i] = draw(world_size);
		b[i] = draw(3) ? (int)draw(world_size) : (a[i] + 1) % world_size;
		one[i] = 1;
		if (a[i] == world_rank)
			out[nout++] = b[i];
		if (b[i] == world_rank)
			in[nin++] = a[i];
		if ((int)draw(world_size) == world_rank) {
			to[mine] = b[i];
			a[mine++] = a[i];
		}
	}
	/* orders of the lists are each rank's own */
	for (i = 0; i < world_rank; i++)
		draw(2);
	shuffle(in, nin);
	shuffle(out, nout);
	if (adjacent)
		MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, nin, in, one, nout, out, one,
					       MPI_INFO_NULL, reorder, &t->comm);
	else
		MPI_Dist_graph_create(MPI_COMM_WORLD, mine, a, one, to, one, MPI_INFO_NULL, reorder,
				      &t->comm);
	MPI_Comm_rank(t->comm, &t->rank);
	MPI_Dist_graph_neighbors_count(t->comm, &t->in.n, &t->out.n, &weighted);
	MPI_Dist_graph_neighbors(t->comm, t->in.n, t->in.peer, one, t->out.n, t->out.peer, to);
}

/* 0: this rank is none of it. */
static int make(struct topology *t)
{
	uint32_t kind = draw(4), dup = !draw(3);
	MPI_Comm copy;

	if (kind < 2) {
		if (!cart(t))
			return 0;
	} else {
		if (kind == 2)
			graph(t);
		else
			dist_graph(t);
		number(&t->in);
		number(&t->out);
	}
	if (dup) {
		MPI_Comm_dup(t->comm, &copy);
		MPI_Comm_free(&t->comm);
		t->comm = copy;
	}
	return 1;
}

/* One side of a call. */
struct side {
	char *mem, *buf;
	size_t size;
	int blocks;
	int counts[MOST_EDGES], disps[MOST_EDGES];
	MPI_Aint places[MOST_EDGES];	/* bytes */
	MPI_Datatype type, types[MOST_EDGES];
};

struct call {
	const struct topology *t;
	int kind, form, salt, scale, same;
	struct side s, r;
	MPI_Request req;
};

/* Elements of the message of an edge, which both ends know. */
static int count_of(const struct call *c, int from, int to, int which)
{
	uint32_t h;

	if (c->kind == ALLGATHER || c->kind == ALLTOALL)
		return c->same;
	h = c->kind == ALLGATHERV ? mix(from, 0, 0, c->salt) : mix(from, to, which, c->salt);
	if (c->scale == 3 && h % 8 == 1)
		return h / 8 % 5000;
	return c->scale == 2 ? h % 300 : h / 8 % 4;
}

static int value(const struct call *c, int from, int to, int which, int k, int round)
{
	/* the same block for all */
	if (c->kind <= ALLGATHERV)
		return mix(from, 0, k, c->salt * 2 + round);
	return mix(from * 64 + to, which, k, c->salt * 2 + round);
}

/* Elements into the buffer, or into what it should be. */
static void put(const struct call *c, const struct side *side, char *buf, int i, int from, int to,
		int which, int round)
{
	int n = side->counts[i] * UNIT, pos = 0, k, *flat = malloc(n * sizeof(int) + 1);

	for (k = 0; k < n; k++)
		flat[k] = value(c, from, to, which, k, round);
	MPI_Unpack(flat, n * sizeof(int), &pos, buf + side->places[i], side->counts[i],
		   side->types[i], MPI_COMM_SELF);
	free(flat);
}

/* Blocks one behind the other, with a hole now and then where the call allows it. */
static void lay(const struct call *c, struct side *side)
{
	MPI_Aint at = ROOM, lb, extent;
	int i;

	for (i = 0; i < side->blocks; i++) {
		MPI_Type_get_extent(side->types[i], &lb, &extent);
		if (c->kind == ALLTOALLW) {
			side->places[i] = at;
			at += side->counts[i] * extent + 4 * (i % 3) + ROOM;
		} else if (c->kind == ALLTOALLV || (c->kind == ALLGATHERV && side == &c->r)) {
			side->disps[i] = at / extent + 1;
			side->places[i] = side->disps[i] * extent;
			at = (side->disps[i] + side->counts[i] + i % 2) * extent + ROOM;
		} else {
			side->places[i] = (MPI_Aint)i * side->counts[i] * extent;
			at = side->places[i] + side->counts[i] * extent + ROOM;
		}
	}
	side->size = at + 2 * GUARD;
	side->mem = malloc(side->size);
	side->buf = side->mem + GUARD;
}

static void side_init(struct call *c, struct side *side, const struct ends *e, int sends)
{
	int me = c->t->rank, i;

	side->type = types[(draw(NTYPES) + me) % NTYPES];
	side->blocks = sends && c->kind <= ALLGATHERV ? 1 : e->n;
	for (i = 0; i < side->blocks; i++) {
		side->types[i] = c->kind == ALLTOALLW ?
				 types[mix(me, i, sends, c->salt) % NTYPES] : side->type;
		if (sends && c->kind <= ALLGATHERV)
			side->counts[i] = count_of(c, me, 0, 0);
		else
			side->counts[i] = sends ? count_of(c, me, e->peer[i], e->which[i]) :
						  count_of(c, e->peer[i], me, e->which[i]);
	}
	lay(c, side);
}

static void fill(struct call *c, int round)
{
	const struct ends *out = &c->t->out;
	int i;

	memset(c->s.mem, 0x5a, c->s.size);
	memset(c->r.mem, 0xa5, c->r.size);
	for (i = 0; i < c->s.blocks; i++)
		put(c, &c->s, c->s.buf, i, c->t->rank, out->peer[i], out->which[i], round);
}

static void check(struct call *c, int round)
{
	const struct ends *in = &c->t->in;
	char *want = malloc(c->r.size);
	size_t i;
	int k;

	memset(want, 0xa5, c->r.size);
	for (k = 0; k < c->r.blocks; k++) {
		if (in->peer[k] == MPI_PROC_NULL)
			continue;
		put(c, &c->r, want + GUARD, k, in->peer[k], c->t->rank, in->which[k], round);
		if (in->peer[k] != c->t->rank)
			from_others += c->r.counts[k] * UNIT * sizeof(int);
	}
	for (i = 0; i < c->r.size && c->r.mem[i] == want[i]; i++)
		;
	free(want);
	if (i == c->r.size)
		return;
	fprintf(stderr, "rank %d: call %d, neighbour %s, form %d, scale %d: byte %zu of %zu differs\n",
		c->t->rank, c->salt, names[c->kind], c->form, c->scale, i, c->r.size);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

#define WAITED_FOR(name)	MPI_Neighbor_##name
#define NOT_WAITED_FOR(name)	MPI_Ineighbor_##name
#define AGAIN(name)		PERSISTENT(Neighbor_##name)

#define MAKE(FORM, ...)								\
	do {									\
		if (c->kind == ALLGATHER)					\
			FORM(allgather)(s->buf, c->same, s->type, r->buf, c->same, r->type,	\
					__VA_ARGS__);				\
		else if (c->kind == ALLGATHERV)					\
			FORM(allgatherv)(s->buf, s->counts[0], s->type, r->buf, r->counts,	\
					 r->disps, r->type, __VA_ARGS__);	\
		else if (c->kind == ALLTOALL)					\
			FORM(alltoall)(s->buf, c->same, s->type, r->buf, c->same, r->type,	\
				       __VA_ARGS__);				\
		else if (c->kind == ALLTOALLV)					\
			FORM(alltoallv)(s->buf, s->counts, s->disps, s->type, r->buf, r->counts,\
					r->disps, r->type, __VA_ARGS__);	\
		else								\
			FORM(alltoallw)(s->buf, s->counts, s->places, s->types, r->buf,		\
					r->counts, r->places, r->types, __VA_ARGS__);		\
	} while (0)

static void start(struct call *c, const struct topology *t, int salt)
{
	struct side *s = &c->s, *r = &c->r;

	memset(c, 0, sizeof(*c));
	c->t = t;
	c->salt = salt;
	c->req = MPI_REQUEST_NULL;
	c->kind = draw(KINDS);
	c->form = blocking_only ? 0 : draw(3);
	c->scale = draw(4);
	c->same = c->scale == 3 ? draw(3000) : draw(20);
	side_init(c, s, &t->out, 1);
	side_init(c, r, &t->in, 0);
	fill(c, 0);
	if (c->form == 0) {
		MAKE(WAITED_FOR, t->comm);
	} else if (c->form == 1) {
		MAKE(NOT_WAITED_FOR, t->comm, &c->req);
	} else {
		MAKE(AGAIN, t->comm, MPI_INFO_NULL, &c->req);
		MPI_Start(&c->req);
	}
}

static void end(struct call *c)
{
	MPI_Wait(&c->req, MPI_STATUS_IGNORE);
	check(c, 0);
	if (c->form == 2) {
		fill(c, 1);
		MPI_Start(&c->req);
		MPI_Wait(&c->req, MPI_STATUS_IGNORE);
		check(c, 1);
		MPI_Request_free(&c->req);
	}
	free(c->s.mem);
	free(c->r.mem);
}

/* Calls of one communicator, up to PENDING at once. */
static void calls_of(const struct topology *t, uint64_t seed, int first, int n)
{
	static struct call pending[PENDING];
	int i, busy = 0;

	for (i = first; i < first + n; i++) {
		if (busy == PENDING)
			while (busy)
				end(&pending[--busy]);
		state = seed * 1000003 + i;
		draw(2);
		start(&pending[busy++], t, i);
	}
	while (busy)
		end(&pending[--busy]);
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 1000, i, n;
	static struct topology t;
	uint64_t seed;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world_size);
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	blocking_only = argc > 3 && !strcmp(argv[3], "blocking");
	make_types();
	for (i = 0; i < calls; i += n) {
		n = calls - i < CALLS_OF_ONE ? calls - i : CALLS_OF_ONE;
		state = seed * 69069 + i;
		draw(2);
		if (!make(&t))
			continue;
		calls_of(&t, seed, i, n);
		MPI_Comm_free(&t.comm);
	}
	for (i = 0; i < NTYPES; i++)
		MPI_Type_free(&types[i]);
	printf("rank %d: %llu bytes from others\n", world_rank, (unsigned long long)from_others);
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!world_rank)
		printf("ok\n");
	MPI_Finalize();
	return 0;
}
