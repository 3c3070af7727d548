// SPDX-License-Identifier: BSD-3-Clause
/*
 * A collective that AF_SHUFFLE carries, by the functions of libshuffle: buffers become bytes
 * without gaps, operators what libshuffle combines with.  A call may be made on a stack of its own
 * (later.c): nothing here waits but in libshuffle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "types.h"

/* This rank cannot make the call.  The others wait for it, so none after it would be theirs. */
static int cannot(struct coll_shuffle_members *g, int rc)
{
	shuffle_coll_abort(g->coll, rc == MPI_ERR_TRUNCATE ? EMSGSIZE : ENOMEM);
	return rc;
}

static int failed(struct coll_shuffle_members *g)
{
	g->error = errno;
	return g->error == ENOMEM || g->error == ENOBUFS ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

/* ---- buffers as bytes without gaps ---- */

struct flat {
	char *bytes;
	size_t size;
	char *own;			/* a copy, to be freed */
};

/* The user's memory where it has no gaps, else memory of our own. */
static int flat_init(struct flat *f, const void *buf, size_t count, MPI_Datatype type)
{
	f->size = coll_shuffle_type_size(type) * count;
	f->own = NULL;
	f->bytes = f->size ? coll_shuffle_type_dense(buf, count, type) : (char *)buf;
	if (f->bytes || !f->size)
		return MPI_SUCCESS;
	f->own = malloc(f->size);
	f->bytes = f->own;
	return f->own ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* What the user gives us. */
static int flat_from(struct flat *f, const void *buf, size_t count, MPI_Datatype type)
{
	int rc = flat_init(f, buf, count, type);

	if (!rc && f->own)
		rc = coll_shuffle_type_pack(buf, count, type, f->own);
	return rc;
}

/* What the user gets, when @rc says that it is there.  Returns @rc, or an error. */
static int flat_to(struct flat *f, void *buf, size_t count, MPI_Datatype type, int rc)
{
	if (!rc && f->own)
		rc = coll_shuffle_type_unpack(f->own, buf, count, type);
	free(f->own);
	f->own = NULL;
	return rc;
}

/* ---- calls that combine nothing ---- */

/* Does what goes to the multicast address reach all?  That is tried at the first blocking broadcast
 * of more than the kernel carries out, which is the same one at all ranks.
 */
static int try_multicast(struct coll_shuffle_members *g, size_t size)
{
	if (!g->multicast || g->tried || size <= SHUFFLE_COLL_MAX_BYTES)
		return MPI_SUCCESS;
	if (shuffle_coll_multicast(g->coll) < 0)
		return errno == EBUSY ? MPI_SUCCESS : failed(g);
	g->tried = true;
	return MPI_SUCCESS;
}

static int bcast(struct coll_shuffle_members *g, const struct coll_shuffle_args *a)
{
	bool is_root = g->rank == a->root;
	struct flat f;
	int rc;

	if (is_root)
		rc = flat_from(&f, a->rbuf, a->rcount, a->rtype);
	else
		rc = flat_init(&f, a->rbuf, a->rcount, a->rtype);
	if (rc)
		cannot(g, rc);
	else
		rc = try_multicast(g, f.size);
	if (!rc && shuffle_broadcast(g->coll, f.bytes, f.size, a->root))
		rc = failed(g);
	if (is_root) {
		free(f.own);
		return rc;
	}
	return flat_to(&f, a->rbuf, a->rcount, a->rtype, rc);
}

static char *block(const void *buf, ptrdiff_t rank, ptrdiff_t count, MPI_Datatype type)
{
	return (char *)buf + rank * count * coll_shuffle_type_extent(type);
}

static int gather(struct coll_shuffle_members *g, struct coll_shuffle_args *a)
{
	bool is_root = g->rank == a->root;
	struct flat from, all = { 0 };
	int rc;

	if (a->sbuf == MPI_IN_PLACE) {
		a->sbuf = block(a->rbuf, g->rank, a->rcount, a->rtype);
		a->scount = a->rcount;
		a->stype = a->rtype;
	}
	rc = flat_from(&from, a->sbuf, a->scount, a->stype);
	if (!rc && is_root)
		rc = flat_init(&all, a->rbuf, (size_t)a->rcount * g->size, a->rtype);
	if (!rc && is_root && from.size * g->size != all.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(g, rc);
	else if (shuffle_gather(g->coll, from.bytes, all.bytes, from.size, a->root))
		rc = failed(g);
	free(from.own);
	return is_root ? flat_to(&all, a->rbuf, (size_t)a->rcount * g->size, a->rtype, rc) : rc;
}

/* Where a block that is scattered goes.  In place, at the root, @own bytes of its own go nowhere:
 * the send buffer must not be written to, not even with what it holds.
 */
static int scattered_init(struct flat *to, const struct coll_shuffle_args *a, size_t own)
{
	if (a->rbuf != MPI_IN_PLACE)
		return flat_init(to, a->rbuf, a->rcount, a->rtype);
	to->size = own;
	to->own = malloc(own + 1);
	to->bytes = to->own;
	return to->own ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int scattered_end(struct flat *to, const struct coll_shuffle_args *a, int rc)
{
	if (a->rbuf != MPI_IN_PLACE)
		return flat_to(to, a->rbuf, a->rcount, a->rtype, rc);
	free(to->own);
	return rc;
}

static int scatter(struct coll_shuffle_members *g, struct coll_shuffle_args *a)
{
	bool is_root = g->rank == a->root;
	struct flat all = { 0 }, to = { 0 };
	int rc = MPI_SUCCESS;

	if (is_root)
		rc = flat_from(&all, a->sbuf, (size_t)a->scount * g->size, a->stype);
	if (!rc)
		rc = scattered_init(&to, a, all.size / g->size);
	if (!rc && is_root && to.size * g->size != all.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(g, rc);
	else if (shuffle_scatter(g->coll, all.bytes, to.bytes, to.size, a->root))
		rc = failed(g);
	free(all.own);
	return scattered_end(&to, a, rc);
}

static int allgather(struct coll_shuffle_members *g, struct coll_shuffle_args *a)
{
	struct flat from, all = { 0 };
	int rc;

	if (a->sbuf == MPI_IN_PLACE) {
		a->sbuf = block(a->rbuf, g->rank, a->rcount, a->rtype);
		a->scount = a->rcount;
		a->stype = a->rtype;
	}
	rc = flat_from(&from, a->sbuf, a->scount, a->stype);
	if (!rc)
		rc = flat_init(&all, a->rbuf, (size_t)a->rcount * g->size, a->rtype);
	if (!rc && from.size * g->size != all.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(g, rc);
	else if (shuffle_allgather(g->coll, from.bytes, all.bytes, from.size))
		rc = failed(g);
	free(from.own);
	return flat_to(&all, a->rbuf, (size_t)a->rcount * g->size, a->rtype, rc);
}

static int alltoall(struct coll_shuffle_members *g, struct coll_shuffle_args *a)
{
	struct flat from, to = { 0 };
	int rc;

	if (a->sbuf == MPI_IN_PLACE) {
		a->sbuf = a->rbuf;
		a->scount = a->rcount;
		a->stype = a->rtype;
	}
	rc = flat_from(&from, a->sbuf, (size_t)a->scount * g->size, a->stype);
	if (!rc)
		rc = flat_init(&to, a->rbuf, (size_t)a->rcount * g->size, a->rtype);
	if (!rc && from.size != to.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(g, rc);
	else if (shuffle_alltoall(g->coll, from.bytes, to.bytes, to.size / g->size))
		rc = failed(g);
	free(from.own);
	return flat_to(&to, a->rbuf, (size_t)a->rcount * g->size, a->rtype, rc);
}

/* ---- a count for each rank ---- */

/* The blocks of all ranks, one behind the other. */
struct blocks {
	size_t *sizes;
	char *bytes;
};

static int blocks_init(struct coll_shuffle_members *g, struct blocks *b, coll_shuffle_counts counts,
		       size_t item)
{
	size_t all = 0;
	int i;

	b->bytes = NULL;
	b->sizes = malloc(g->size * sizeof(*b->sizes));
	for (i = 0; i < g->size && b->sizes; i++) {
		if (COLL_SHUFFLE_COUNT(counts, i) < 0)
			return MPI_ERR_COUNT;
		b->sizes[i] = COLL_SHUFFLE_COUNT(counts, i) * item;
		all += b->sizes[i];
	}
	b->bytes = b->sizes ? malloc(all + 1) : NULL;
	return b->bytes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static void blocks_free(struct blocks *b)
{
	free(b->sizes);
	free(b->bytes);
}

static char *place(const void *buf, ptrdiff_t disp, MPI_Datatype type)
{
	return block(buf, disp, 1, type);
}

/* Between the user's buffer and @b; all ranks but @without. */
static int blocks_copy(struct coll_shuffle_members *g, struct blocks *b, const void *buf,
		       const struct coll_shuffle_args *a, MPI_Datatype type, bool pack,
		       int without)
{
	char *at = b->bytes, *user;
	int i, rc = MPI_SUCCESS;
	ptrdiff_t count;

	for (i = 0; i < g->size && !rc; at += b->sizes[i], i++) {
		if (i == without || !b->sizes[i])
			continue;
		user = place(buf, COLL_SHUFFLE_DISP(a->disps, i), type);
		count = COLL_SHUFFLE_COUNT(a->counts, i);
		if (pack)
			rc = coll_shuffle_type_pack(user, count, type, at);
		else
			rc = coll_shuffle_type_unpack(at, user, count, type);
	}
	return rc;
}

/* What we put in, of a call that gathers: in place it is where the result will be. */
static int own_from(struct coll_shuffle_members *g, struct flat *f,
		    const struct coll_shuffle_args *a)
{
	if (a->sbuf != MPI_IN_PLACE)
		return flat_from(f, a->sbuf, a->scount, a->stype);
	return flat_from(f, place(a->rbuf, COLL_SHUFFLE_DISP(a->disps, g->rank), a->rtype),
			 COLL_SHUFFLE_COUNT(a->counts, g->rank), a->rtype);
}

static int gatherv(struct coll_shuffle_members *g, const struct coll_shuffle_args *a)
{
	bool is_root = g->rank == a->root;
	struct blocks all = { 0 };
	struct flat from = { 0 };
	int rc;

	rc = own_from(g, &from, a);
	if (!rc && is_root)
		rc = blocks_init(g, &all, a->counts, coll_shuffle_type_size(a->rtype));
	if (!rc && is_root && all.sizes[g->rank] != from.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(g, rc);
	else if (shuffle_gatherv(g->coll, from.bytes, from.size, all.bytes, all.sizes, a->root))
		rc = failed(g);
	free(from.own);
	if (!rc && is_root)
		rc = blocks_copy(g, &all, a->rbuf, a, a->rtype, false,
				 a->sbuf == MPI_IN_PLACE ? g->rank : -1);
	blocks_free(&all);
	return rc;
}

static int scatterv(struct coll_shuffle_members *g, const struct coll_shuffle_args *a)
{
	bool is_root = g->rank == a->root;
	struct blocks all = { 0 };
	struct flat to = { 0 };
	int rc = MPI_SUCCESS;

	if (is_root)
		rc = blocks_init(g, &all, a->counts, coll_shuffle_type_size(a->stype));
	if (!rc && is_root)
		rc = blocks_copy(g, &all, a->sbuf, a, a->stype, true, -1);
	if (!rc)
		rc = scattered_init(&to, a, is_root ? all.sizes[g->rank] : 0);
	if (!rc && is_root && all.sizes[g->rank] != to.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(g, rc);
	else if (shuffle_scatterv(g->coll, all.bytes, all.sizes, to.bytes, to.size, a->root))
		rc = failed(g);
	blocks_free(&all);
	return scattered_end(&to, a, rc);
}

static int allgatherv(struct coll_shuffle_members *g, const struct coll_shuffle_args *a)
{
	struct blocks all = { 0 };
	struct flat from = { 0 };
	int rc;

	rc = own_from(g, &from, a);
	if (!rc)
		rc = blocks_init(g, &all, a->counts, coll_shuffle_type_size(a->rtype));
	if (!rc && all.sizes[g->rank] != from.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(g, rc);
	else if (shuffle_allgatherv(g->coll, from.bytes, all.bytes, all.sizes))
		rc = failed(g);
	free(from.own);
	if (!rc)
		rc = blocks_copy(g, &all, a->rbuf, a, a->rtype, false,
				 a->sbuf == MPI_IN_PLACE ? g->rank : -1);
	blocks_free(&all);
	return rc;
}

/* ---- calls that combine ---- */

static int combine(struct coll_shuffle_members *g, enum coll_shuffle_call call,
		   struct coll_shuffle_args *a)
{
	struct coll_shuffle_items t;
	size_t size, items = a->rcount;
	bool there = true, to_all;
	int rc;

	coll_shuffle_items_init(&t, a->op, a->rtype);
	if (call == COLL_SHUFFLE_reduce)
		there = g->rank == a->root;
	else if (call == COLL_SHUFFLE_exscan)
		there = g->rank > 0;
	/* a tree begins with the root's */
	to_all = call == COLL_SHUFFLE_reduce && t.in_order && a->root > 0;
	if (a->sbuf == MPI_IN_PLACE)
		a->sbuf = a->rbuf;
	if (call == COLL_SHUFFLE_reduce_scatter_block)
		items *= g->size;
	rc = coll_shuffle_items_begin(&t, a->sbuf, items, a->rbuf, a->rcount, to_all && !there);
	if (rc)
		return cannot(g, rc);
	size = t.size * a->rcount;
	switch (to_all ? COLL_SHUFFLE_allreduce : call) {
	case COLL_SHUFFLE_reduce:
		rc = shuffle_reduce(g->coll, t.from, there ? t.to : NULL, size, t.size, t.combine,
				    t.arg, a->root);
		break;
	case COLL_SHUFFLE_allreduce:
		rc = shuffle_allreduce(g->coll, t.from, t.to, size, t.size, t.combine, t.arg);
		break;
	case COLL_SHUFFLE_reduce_scatter_block:
		rc = shuffle_reduce_scatter(g->coll, t.from, t.to, size, t.combine, t.arg);
		break;
	case COLL_SHUFFLE_scan:
		rc = shuffle_scan(g->coll, t.from, t.to, size, t.combine, t.arg, 0);
		break;
	default:
		rc = shuffle_scan(g->coll, t.from, t.to, size, t.combine, t.arg, 1);
		break;
	}
	if (rc)
		rc = failed(g);
	return coll_shuffle_items_end(&t, a->rbuf, a->rcount, there, rc);
}

static int reduce_scatter(struct coll_shuffle_members *g, struct coll_shuffle_args *a)
{
	ptrdiff_t own = COLL_SHUFFLE_COUNT(a->counts, g->rank), count;
	struct coll_shuffle_items t;
	struct blocks all = { 0 };
	size_t items = 0;
	int i, rc;

	coll_shuffle_items_init(&t, a->op, a->rtype);
	if (a->sbuf == MPI_IN_PLACE)
		a->sbuf = a->rbuf;
	for (i = 0; i < g->size; i++) {
		count = COLL_SHUFFLE_COUNT(a->counts, i);
		items += count > 0 ? count : 0;
	}
	rc = coll_shuffle_items_begin(&t, a->sbuf, items, a->rbuf, own, false);
	if (rc)
		return cannot(g, rc);
	rc = blocks_init(g, &all, a->counts, t.size);
	if (rc)
		cannot(g, rc);
	else if (shuffle_reduce_scatterv(g->coll, t.from, t.to, all.sizes, t.combine, t.arg))
		rc = failed(g);
	blocks_free(&all);
	return coll_shuffle_items_end(&t, a->rbuf, own, true, rc);
}

bool coll_shuffle_can_carry(const struct coll_shuffle_args *a)
{
	struct coll_shuffle_items t;

	return !a->op || coll_shuffle_items_init(&t, a->op, a->rtype);
}

bool coll_shuffle_packs(const struct coll_shuffle_members *g, const struct coll_shuffle_args *a)
{
	return g->coll && g->racks &&
	       coll_shuffle_type_size(a->rtype) * a->rcount <= COLL_SHUFFLE_PACKED;
}

int coll_shuffle_carry(struct coll_shuffle_members *g, enum coll_shuffle_call call,
		       const struct coll_shuffle_args *args)
{
	struct coll_shuffle_args a = *args;

	switch (call) {
	case COLL_SHUFFLE_barrier:
		return shuffle_barrier(g->coll) ? failed(g) : MPI_SUCCESS;
	case COLL_SHUFFLE_bcast:
		return bcast(g, &a);
	case COLL_SHUFFLE_gather:
		return gather(g, &a);
	case COLL_SHUFFLE_scatter:
		return scatter(g, &a);
	case COLL_SHUFFLE_allgather:
		return allgather(g, &a);
	case COLL_SHUFFLE_alltoall:
		return alltoall(g, &a);
	case COLL_SHUFFLE_gatherv:
		return gatherv(g, &a);
	case COLL_SHUFFLE_scatterv:
		return scatterv(g, &a);
	case COLL_SHUFFLE_allgatherv:
		return allgatherv(g, &a);
	case COLL_SHUFFLE_reduce_scatter:
		return reduce_scatter(g, &a);
	default:
		return combine(g, call, &a);
	}
}
