// SPDX-License-Identifier: BSD-3-Clause
/*
 * Neighbourhood collectives: all-to-alls in which a rank has parts for its neighbours only, and
 * says so (SHUFFLE_ABSENT).
 *
 * Several edges may lead from one rank to another.  There is one message for each pair of ranks, in
 * which the blocks of all of them follow one another, in an order that both ends know:
 *
 * - graphs: that of the list of either end, for the k-th edge here is the k-th one there;
 * - cartesian: that of the receiver.  What leaves in one direction of a dimension comes in from the
 *   other one, so its block s is block s ^ 1 at the receiver.  That matters where a periodic
 *   dimension has one or two ranks (MPI 4.1, 8.6; coll/libnbc of Open MPI 4.1 has it wrong).
 */
#include <limits.h>
#include <stdlib.h>

#include "coll_shuffle.h"
#include "calls.h"

#include "ompi/mca/topo/topo.h"

struct edge {
	int rank;			/* at the other end */
	int place;			/* among those of that rank */
	int block;			/* of our buffer */
};

static void parts_construct(coll_shuffle_parts *p)
{
	p->part = NULL;
	p->ranks = 0;
}

static void parts_destruct(coll_shuffle_parts *p)
{
	int i;

	for (i = 0; i < p->ranks; i++)
		if (p->part[i].joined)
			ompi_datatype_destroy(&p->part[i].type);
	free(p->part);
}

OBJ_CLASS_INSTANCE(coll_shuffle_parts, opal_object_t, parts_construct, parts_destruct);

void coll_shuffle_parts_hold(const struct coll_shuffle_side *from,
			     const struct coll_shuffle_side *to)
{
	OBJ_RETAIN(from->parts);
	OBJ_RETAIN(to->parts);
}

void coll_shuffle_parts_let_go(struct coll_shuffle_side *from, struct coll_shuffle_side *to)
{
	OBJ_RELEASE(from->parts);
	OBJ_RELEASE(to->parts);
	from->parts = NULL;
	to->parts = NULL;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->rank != y->rank ? x->rank - y->rank : x->place - y->place;
}

/* Block 2 * d belongs to the neighbour below us in dimension d, the next one to that above. */
static int cart_neighbour(const mca_topo_base_comm_cart_t *cart, int rank, int block)
{
	int dim = block / 2, ranks = cart->dims[dim], stride = 1, at, to, i;

	for (i = dim + 1; i < cart->ndims; i++)
		stride *= cart->dims[i];
	at = rank / stride % ranks;
	to = block % 2 ? at + 1 : at - 1;
	if ((to < 0 || to >= ranks) && !cart->periods[dim])
		return MPI_PROC_NULL;
	return rank + ((to + ranks) % ranks - at) * stride;
}

/* The edges that lead to us, or from us, sorted; their number, or -1. */
static int list_edges(ompi_communicator_t *comm, bool in, struct edge **edges)
{
	const mca_topo_base_comm_cgd_union_t *topo = &comm->c_topo->mtc;
	int rank = ompi_comm_rank(comm), n, i;
	const int *ranks = NULL;
	struct edge *e;

	if (OMPI_COMM_IS_CART(comm)) {
		n = 2 * topo->cart->ndims;
	} else if (OMPI_COMM_IS_GRAPH(comm)) {
		i = rank ? topo->graph->index[rank - 1] : 0;
		n = topo->graph->index[rank] - i;
		ranks = topo->graph->edges + i;
	} else {
		n = in ? topo->dist_graph->indegree : topo->dist_graph->outdegree;
		ranks = in ? topo->dist_graph->in : topo->dist_graph->out;
	}
	e = calloc(n + 1, sizeof(*e));
	*edges = e;
	if (!e)
		return -1;
	for (i = 0; i < n; i++) {
		e[i].rank = ranks ? ranks[i] : cart_neighbour(topo->cart, rank, i);
		e[i].place = ranks || in ? i : i ^ 1;
		e[i].block = i;
	}
	qsort(e, n, sizeof(*e), compare_edges);
	return n;
}

/* The blocks of several edges become one part, of a data type that they are one item of. */
static int join(const struct coll_shuffle_side *s, const struct edge *e, int n,
		struct coll_shuffle_part *whole)
{
	MPI_Datatype *types = malloc(n * sizeof(MPI_Datatype));
	MPI_Aint *disps = malloc(n * sizeof(*disps));
	int *counts = malloc(n * sizeof(*counts));
	int used = 0, i, rc = OMPI_SUCCESS;
	struct coll_shuffle_part p;
	size_t size = 0;

	if (!types || !disps || !counts)
		rc = OMPI_ERR_OUT_OF_RESOURCE;
	for (i = 0; i < n && !rc; i++) {
		p = coll_shuffle_part(s, e[i].block);
		if (!used)
			*whole = p;
		if (!p.size)
			continue;
		if (p.count > INT_MAX)
			rc = MPI_ERR_COUNT;
		counts[used] = p.count;
		disps[used] = p.buf - whole->buf;
		types[used++] = p.type;
		size += p.size;
	}
	if (!rc && used > 1) {
		rc = PMPI_Type_create_struct(used, counts, disps, types, &p.type);
		if (!rc) {
			*whole = (struct coll_shuffle_part){ whole->buf, 1, p.type, size, true };
			rc = PMPI_Type_commit(&whole->type);
		}
	}
	free(types);
	free(disps);
	free(counts);
	return rc;
}

static int fill(coll_shuffle_parts *p, const struct coll_shuffle_side *s, const struct edge *e,
		int n)
{
	int i, same, rc = OMPI_SUCCESS;

	for (i = 0; i < n && !rc; i += same) {
		for (same = 1; i + same < n && e[i + same].rank == e[i].rank; same++)
			;
		if (e[i].rank < 0)	/* MPI_PROC_NULL */
			continue;
		if (same > 1)
			rc = join(s, e + i, same, &p->part[e[i].rank]);
		else
			p->part[e[i].rank] = coll_shuffle_part(s, e[i].block);
	}
	return rc;
}

/* What a side has for each rank; the blocks are those of edges until now. */
static int parts_of(coll_shuffle_module *m, struct coll_shuffle_side *s, bool in)
{
	coll_shuffle_parts *p = OBJ_NEW(coll_shuffle_parts);
	struct edge *e = NULL;
	int n, rc = OMPI_ERR_OUT_OF_RESOURCE;

	if (!p)
		return rc;
	p->part = calloc(m->size, sizeof(*p->part));
	p->ranks = p->part ? m->size : 0;
	n = list_edges(m->comm, in, &e);
	if (p->part && n >= 0)
		rc = fill(p, s, e, n);
	free(e);
	if (rc)
		OBJ_RELEASE(p);
	else
		s->parts = p;
	return rc;
}

static int begin(coll_shuffle_module *m, struct coll_shuffle_side *from,
		 struct coll_shuffle_side *to)
{
	int rc = parts_of(m, from, false);

	if (rc)
		return rc;
	rc = parts_of(m, to, true);
	if (rc)
		OBJ_RELEASE(from->parts);
	return rc;
}

static int exchange(coll_shuffle_module *m, const char *call, struct coll_shuffle_side from,
		    struct coll_shuffle_side to, ompi_request_t **request)
{
	int rc = begin(m, &from, &to);

	if (rc) {
		/* the others count it */
		coll_shuffle_names_of_call(m);
		return rc;
	}
	rc = coll_shuffle_exchange(m, call, &from, &to, request);
	coll_shuffle_parts_let_go(&from, &to);
	return rc;
}

static int persistent(coll_shuffle_module *m, const char *call, struct coll_shuffle_side from,
		      struct coll_shuffle_side to, const struct coll_shuffle_names *names,
		      ompi_request_t **request)
{
	int rc = begin(m, &from, &to);

	if (rc) {
		coll_shuffle_names_give_back(m);
		return rc;
	}
	rc = coll_shuffle_persistent_exchange(m, call, &from, &to, names, request);
	coll_shuffle_parts_let_go(&from, &to);
	return rc;
}

/* ---- the calls ---- */

#define VECTORS									\
	const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_disps sdisps,	\
	MPI_Datatype stype, void *rbuf, coll_shuffle_counts rcounts,		\
	coll_shuffle_disps rdisps, MPI_Datatype rtype,
#define GIVE_VECTORS	sbuf, scounts, sdisps, stype, rbuf, rcounts, rdisps, rtype,

#define TYPES									\
	const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_places sdisps,	\
	ompi_datatype_t * const *stypes, void *rbuf, coll_shuffle_counts rcounts,	\
	coll_shuffle_places rdisps, ompi_datatype_t * const *rtypes,
#define GIVE_TYPES	sbuf, scounts, sdisps, stypes, rbuf, rcounts, rdisps, rtypes,

#define FROM(...)	{ .buf = (char *)sbuf, __VA_ARGS__ }
#define TO(...)		{ .buf = rbuf, __VA_ARGS__ }

/* A call, its non-blocking form, and its persistent one. */
#define FUNCTIONS(name, params, give, sender, receiver)			\
static int neighbor_##name(params ompi_communicator_t *comm, mca_coll_base_module_t *module)	\
{											\
	const struct coll_shuffle_side from = sender, to = receiver;			\
	coll_shuffle_module *m = (coll_shuffle_module *)module;				\
	int rc = coll_shuffle_agree(m, true);					\
											\
	if (rc)										\
		return rc;								\
	if (coll_shuffle_declined(m))							\
		return COLL_SHUFFLE_BEFORE_BLOCKING(m, neighbor_##name, give comm);	\
	return exchange(m, "MPI_Neighbor_" #name, from, to, NULL);			\
}											\
											\
static int ineighbor_##name(params ompi_communicator_t *comm, ompi_request_t **request,	\
			    mca_coll_base_module_t *module)				\
{											\
	const struct coll_shuffle_side from = sender, to = receiver;			\
	coll_shuffle_module *m = (coll_shuffle_module *)module;				\
	int rc = coll_shuffle_agree(m, false);						\
											\
	if (rc)										\
		return rc;								\
	if (coll_shuffle_declined(m))							\
		return COLL_SHUFFLE_BEFORE(m, ineighbor_##name, give comm, request);	\
	return exchange(m, "MPI_Ineighbor_" #name, from, to, request);			\
}											\
											\
static int neighbor_##name##_init(params ompi_communicator_t *comm, ompi_info_t *info,	\
				  ompi_request_t **request,				\
				  mca_coll_base_module_t *module)			\
{											\
	const struct coll_shuffle_side from = sender, to = receiver;			\
	coll_shuffle_module *m = (coll_shuffle_module *)module;				\
	struct coll_shuffle_names names;						\
	int rc = coll_shuffle_agree(m, true);						\
	bool yes = false;								\
											\
	if (!rc && !coll_shuffle_declined(m))						\
		rc = coll_shuffle_names_of_request(m, &names, &yes);			\
	if (rc)										\
		return rc;								\
	if (!yes)									\
		return COLL_SHUFFLE_BEFORE(m, neighbor_##name##_init, give comm, info,	\
					   request);					\
	return persistent(m, "MPI_Neighbor_" #name "_init", from, to, &names, request);	\
}

FUNCTIONS(allgather, COLL_SHUFFLE_MOVED, COLL_SHUFFLE_GIVE_MOVED,
	  FROM(.count = scount, .type = stype, .one = true), TO(.count = rcount, .type = rtype))
FUNCTIONS(allgatherv, COLL_SHUFFLE_GATHERED, COLL_SHUFFLE_GIVE_GATHERED,
	  FROM(.count = scount, .type = stype, .one = true),
	  TO(.counts = counts, .disps = disps, .type = rtype))
FUNCTIONS(alltoall, COLL_SHUFFLE_MOVED, COLL_SHUFFLE_GIVE_MOVED,
	  FROM(.count = scount, .type = stype), TO(.count = rcount, .type = rtype))
FUNCTIONS(alltoallv, VECTORS, GIVE_VECTORS,
	  FROM(.counts = scounts, .disps = sdisps, .type = stype),
	  TO(.counts = rcounts, .disps = rdisps, .type = rtype))
FUNCTIONS(alltoallw, TYPES, GIVE_TYPES,
	  FROM(.counts = scounts, .places = sdisps, .types = stypes),
	  TO(.counts = rcounts, .places = rdisps, .types = rtypes))

#define SET(name)									\
	do {										\
		m->super.coll_neighbor_##name = neighbor_##name;			\
		m->super.coll_ineighbor_##name = ineighbor_##name;			\
		m->super.coll_neighbor_##name##_init = neighbor_##name##_init;		\
	} while (0)

void coll_shuffle_neighbour_functions(coll_shuffle_module *m)
{
	if (!(mca_coll_shuffle_component.card.collectives & COLL_SHUFFLE_NEIGHBOR_BIT))
		return;
	SET(allgather);
	SET(allgatherv);
	SET(alltoall);
	SET(alltoallv);
	SET(alltoallw);
}
