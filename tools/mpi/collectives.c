// SPDX-License-Identifier: BSD-3-Clause
/*
 * Blocking collectives other than all-to-all, as coll_shuffle_collectives names them: those of
 * libshuffle, in the kernel where they are short, on a socket of their own.  Ranks that share a
 * host leave them to the module before, and so do operators that do not commute.
 */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll_shuffle.h"

#include "ompi/op/op.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

/* Open MPI polls what else happens: so long at most without a look at it */
#define TICK_MS		1

/* MPI_Finalize waits for ACKs no longer than this without any progress. */
#define CLOSE_MS	5000

enum call {
	CALL_barrier, CALL_bcast, CALL_gather, CALL_scatter, CALL_allgather, CALL_reduce,
	CALL_allreduce, CALL_reduce_scatter_block, CALL_scan, CALL_exscan, N_CALLS,
};

static const char *const call_names[N_CALLS] = {
	"barrier", "bcast", "gather", "scatter", "allgather", "reduce",
	"allreduce", "reduce_scatter_block", "scan", "exscan",
};

bool coll_shuffle_collectives_parse(const char *text, uint32_t *bits)
{
	char *names = strdup(text ? text : "none"), *name, *at = names;
	bool ok = names;
	int i;

	*bits = 0;
	while (ok && (name = strsep(&at, ","))) {
		if (!strcmp(name, "all")) {
			*bits |= (1U << N_CALLS) - 1;
			continue;
		}
		for (i = 0; i < N_CALLS && strcmp(name, call_names[i]); i++)
			;
		if (i < N_CALLS)
			*bits |= 1U << i;
		else
			ok = !*name || !strcmp(name, "none");
	}
	free(names);
	if (!ok)
		*bits = 0;
	return ok;
}

/* ---- the group ---- */

static int wait_for_more(void *arg, int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	(void)arg;
	if (ompi_mpi_state < OMPI_MPI_STATE_FINALIZE_STARTED)
		opal_progress();
	/* who shares a processor with those it waits for lets them run first */
	sched_yield();
	return poll(&pfd, 1, TICK_MS) < 0 && errno != EINTR ? -1 : 0;
}

void coll_shuffle_collectives_open(coll_shuffle_module *m, const struct coll_shuffle_addr *addr,
				   struct coll_shuffle_hello *hello)
{
	if (!m->collectives)
		return;
	coll_shuffle_addr_of(addr, &hello->coll_addr);
	m->coll_fd = shuffle_bind(&hello->coll_addr, SOCK_CLOEXEC);
	if (m->coll_fd < 0)
		hello->coll_addr.shs_family = 0;
	else
		coll_shuffle_socket_options(m->coll_fd);
}

int coll_shuffle_collectives_join(coll_shuffle_module *m)
{
	struct sockaddr_shuffle *members;
	int i;

	/* all ranks see that */
	for (i = 0; i < m->size; i++)
		if (!m->hellos[i].coll_addr.shs_family)
			return 0;
	members = malloc(m->size * sizeof(*members));
	if (!members)
		return -1;
	for (i = 0; i < m->size; i++)
		members[i] = m->hellos[i].coll_addr;
	if (!shuffle_join(m->coll_fd, members, m->size, m->rank))
		m->coll = shuffle_coll_new(m->coll_fd, m->rank, m->size, m->op_base);
	free(members);
	if (!m->coll)
		return -1;
	shuffle_coll_wait(m->coll, wait_for_more, NULL);
	return 0;
}

void coll_shuffle_collectives_close(coll_shuffle_module *m)
{
	__u32 idle = CLOSE_MS;

	/* behind the last barrier nobody needs our data; a host that has gone does not say so */
	if (m->coll && ompi_mpi_state >= OMPI_MPI_STATE_FINALIZE_STARTED)
		setsockopt(m->coll_fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
	shuffle_coll_free(m->coll);
	m->coll = NULL;
	if (m->coll_fd >= 0)
		close(m->coll_fd);
	m->coll_fd = -1;
}

/* Does AF_SHUFFLE carry this call?  The same answer at all ranks; 0, or an error. */
static int carried(coll_shuffle_module *m, enum call call, bool *yes)
{
	int rc;

	*yes = false;
	/* the module before makes its own calls from others while all agree */
	if (m->beginning)
		return OMPI_SUCCESS;
	/* who has not named it does not come here, so no message may be waited for */
	coll_shuffle_choose(m);
	if (!(m->collectives & 1U << call))
		return OMPI_SUCCESS;
	rc = coll_shuffle_agree(m, true);
	*yes = !rc && m->coll;
	return rc;
}

/* This rank cannot make the call.  The others wait for it, so none after it would be theirs. */
static int cannot(coll_shuffle_module *m, int rc)
{
	shuffle_coll_abort(m->coll, rc == MPI_ERR_TRUNCATE ? EMSGSIZE : ENOMEM);
	return rc;
}

static int failed(coll_shuffle_module *m, enum call call)
{
	int error = errno;

	coll_shuffle_complain("rank %d of %s, MPI %s: %s", m->rank,
			      coll_shuffle_comm_name(m->comm), call_names[call], strerror(error));
	return error == ENOMEM || error == ENOBUFS ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

/* ---- buffers as bytes without gaps ---- */

struct flat {
	char *bytes;
	size_t size;
	char *own;			/* a copy, to be freed */
	opal_convertor_t conv;		/* of the user's buffer then */
};

/* The user's memory where it has no gaps, else memory of our own. */
static int flat_init(struct flat *f, const void *buf, size_t count, ompi_datatype_t *type)
{
	ptrdiff_t lb, extent;
	size_t size;

	ompi_datatype_type_size(type, &size);
	f->size = size * count;
	f->own = NULL;
	if (!f->size || ompi_datatype_is_contiguous_memory_layout(type, count)) {
		ompi_datatype_get_true_extent(type, &lb, &extent);
		f->bytes = (char *)buf + lb;
		return OMPI_SUCCESS;
	}
	f->own = malloc(f->size);
	f->bytes = f->own;
	return f->own ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

static int convert(struct flat *f, const void *buf, size_t count, ompi_datatype_t *type, bool pack)
{
	struct iovec iov = { .iov_base = f->own, .iov_len = f->size };
	size_t size = f->size;
	uint32_t n = 1;
	int rc;

	OBJ_CONSTRUCT(&f->conv, opal_convertor_t);
	if (pack) {
		opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super,
							 count, buf, 0, &f->conv);
		rc = opal_convertor_pack(&f->conv, &iov, &n, &size);
	} else {
		opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super,
							 count, (void *)buf, 0, &f->conv);
		rc = opal_convertor_unpack(&f->conv, &iov, &n, &size);
	}
	OBJ_DESTRUCT(&f->conv);
	return rc == 1 && size == f->size ? OMPI_SUCCESS : OMPI_ERROR;
}

/* What the user gives us. */
static int flat_from(struct flat *f, const void *buf, size_t count, ompi_datatype_t *type)
{
	int rc = flat_init(f, buf, count, type);

	if (!rc && f->own)
		rc = convert(f, buf, count, type, true);
	return rc;
}

/* What the user gets, when @rc says that it is there.  Returns @rc, or an error. */
static int flat_to(struct flat *f, void *buf, size_t count, ompi_datatype_t *type, int rc)
{
	if (!rc && f->own)
		rc = convert(f, buf, count, type, false);
	free(f->own);
	f->own = NULL;
	return rc;
}

/* ---- calls that combine nothing ---- */

static int barrier(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	bool yes;
	int rc = carried(m, CALL_barrier, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_barrier(comm, m->before.coll_barrier_module);
	return shuffle_barrier(m->coll) ? failed(m, CALL_barrier) : OMPI_SUCCESS;
}

static int bcast(void *buf, int count, ompi_datatype_t *type, int root,
		 ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	bool yes, is_root = m->rank == root;
	struct flat f;
	int rc = carried(m, CALL_bcast, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_bcast(buf, count, type, root, comm,
					    m->before.coll_bcast_module);
	rc = is_root ? flat_from(&f, buf, count, type) : flat_init(&f, buf, count, type);
	if (rc)
		cannot(m, rc);
	else if (shuffle_broadcast(m->coll, f.bytes, f.size, root))
		rc = failed(m, CALL_bcast);
	if (is_root) {
		free(f.own);
		return rc;
	}
	return flat_to(&f, buf, count, type, rc);
}

static char *block(const void *buf, int rank, int count, ompi_datatype_t *type)
{
	ptrdiff_t extent;

	ompi_datatype_type_extent(type, &extent);
	return (char *)buf + (ptrdiff_t)rank * count * extent;
}

static int gather(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		  ompi_datatype_t *rtype, int root, ompi_communicator_t *comm,
		  mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	bool yes, is_root = m->rank == root;
	struct flat from, all = { 0 };
	int rc = carried(m, CALL_gather, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_gather(sbuf, scount, stype, rbuf, rcount, rtype, root, comm,
					     m->before.coll_gather_module);
	if (sbuf == MPI_IN_PLACE) {
		sbuf = block(rbuf, m->rank, rcount, rtype);
		scount = rcount;
		stype = rtype;
	}
	rc = flat_from(&from, sbuf, scount, stype);
	if (!rc && is_root)
		rc = flat_init(&all, rbuf, (size_t)rcount * m->size, rtype);
	if (!rc && is_root && from.size * m->size != all.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(m, rc);
	else if (shuffle_gather(m->coll, from.bytes, all.bytes, from.size, root))
		rc = failed(m, CALL_gather);
	free(from.own);
	return is_root ? flat_to(&all, rbuf, (size_t)rcount * m->size, rtype, rc) : rc;
}

static int scatter(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		   ompi_datatype_t *rtype, int root, ompi_communicator_t *comm,
		   mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	bool yes, is_root = m->rank == root;
	struct flat all = { 0 }, to = { 0 };
	int rc = carried(m, CALL_scatter, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_scatter(sbuf, scount, stype, rbuf, rcount, rtype, root, comm,
					      m->before.coll_scatter_module);
	if (is_root)
		rc = flat_from(&all, sbuf, (size_t)scount * m->size, stype);
	if (!rc && rbuf == MPI_IN_PLACE) {
		/* the send buffer must not be written to, not even with what it holds */
		to.size = all.size / m->size;
		to.own = malloc(to.size + 1);
		to.bytes = to.own;
		rc = to.own ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
	} else if (!rc) {
		rc = flat_init(&to, rbuf, rcount, rtype);
	}
	if (!rc && is_root && to.size * m->size != all.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(m, rc);
	else if (shuffle_scatter(m->coll, all.bytes, to.bytes, to.size, root))
		rc = failed(m, CALL_scatter);
	free(all.own);
	if (rbuf != MPI_IN_PLACE)
		return flat_to(&to, rbuf, rcount, rtype, rc);
	free(to.own);
	return rc;
}

static int allgather(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		     ompi_datatype_t *rtype, ompi_communicator_t *comm,
		     mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct flat from, all = { 0 };
	bool yes;
	int rc = carried(m, CALL_allgather, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_allgather(sbuf, scount, stype, rbuf, rcount, rtype, comm,
						m->before.coll_allgather_module);
	if (sbuf == MPI_IN_PLACE) {
		sbuf = block(rbuf, m->rank, rcount, rtype);
		scount = rcount;
		stype = rtype;
	}
	rc = flat_from(&from, sbuf, scount, stype);
	if (!rc)
		rc = flat_init(&all, rbuf, (size_t)rcount * m->size, rtype);
	if (!rc && from.size * m->size != all.size)
		rc = MPI_ERR_TRUNCATE;
	if (rc)
		cannot(m, rc);
	else if (shuffle_allgather(m->coll, from.bytes, all.bytes, from.size))
		rc = failed(m, CALL_allgather);
	free(from.own);
	return flat_to(&all, rbuf, (size_t)rcount * m->size, rtype, rc);
}

/* ---- calls that combine ---- */

/* Items of vectors, and how two of them become one. */
struct items {
	ompi_op_t *op;
	ompi_datatype_t *type;
	size_t size;			/* bytes of an item in memory, gaps included */
	bool gaps;
	shuffle_combine combine;
	void *arg;
	char *to;			/* where the result goes */
};

static void combine_by_op(void *arg, void *into, const void *in, size_t size, int in_first)
{
	const struct items *t = arg;

	(void)in_first;			/* they commute */
	ompi_op_reduce(t->op, (void *)in, into, size / t->size, t->type);
}

static const struct {
	const ompi_op_t *op;
	enum shuffle_coll_oper oper;
} opers[] = {
	{ &ompi_mpi_op_sum.op, SHUFFLE_COLL_SUM },
	{ &ompi_mpi_op_min.op, SHUFFLE_COLL_MIN },
	{ &ompi_mpi_op_max.op, SHUFFLE_COLL_MAX },
	{ &ompi_mpi_op_band.op, SHUFFLE_COLL_AND },
	{ &ompi_mpi_op_bor.op, SHUFFLE_COLL_OR },
	{ &ompi_mpi_op_bxor.op, SHUFFLE_COLL_XOR },
};

/* Integers of a predefined type, or -1. */
static int integer_type(const ompi_datatype_t *type, size_t size)
{
	static const ompi_predefined_datatype_t *const with_sign[] = {
		&ompi_mpi_signed_char, &ompi_mpi_short, &ompi_mpi_int, &ompi_mpi_long,
		&ompi_mpi_long_long_int, &ompi_mpi_int8_t, &ompi_mpi_int16_t, &ompi_mpi_int32_t,
		&ompi_mpi_int64_t,
	};
	static const ompi_predefined_datatype_t *const without[] = {
		&ompi_mpi_unsigned_char, &ompi_mpi_unsigned_short, &ompi_mpi_unsigned,
		&ompi_mpi_unsigned_long, &ompi_mpi_unsigned_long_long, &ompi_mpi_uint8_t,
		&ompi_mpi_uint16_t, &ompi_mpi_uint32_t, &ompi_mpi_uint64_t,
	};
	size_t i;

	for (i = 0; i < sizeof(with_sign) / sizeof(with_sign[0]); i++)
		if (type == &with_sign[i]->dt)
			return size == 1 ? SHUFFLE_COLL_S8 : size == 2 ? SHUFFLE_COLL_S16 :
			       size == 4 ? SHUFFLE_COLL_S32 : SHUFFLE_COLL_S64;
	for (i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (type == &without[i]->dt)
			return size == 1 ? SHUFFLE_COLL_U8 : size == 2 ? SHUFFLE_COLL_U16 :
			       size == 4 ? SHUFFLE_COLL_U32 : SHUFFLE_COLL_U64;
	return -1;
}

/* How libshuffle combines what the call combines; false: it must not.  The same at all ranks. */
static bool items_init(struct items *t, ompi_op_t *op, ompi_datatype_t *type)
{
	ptrdiff_t extent;
	size_t i, size;
	int integer;

	/* of a derived type the gaps are the user's, too */
	if (!ompi_op_is_commute(op) || !ompi_datatype_is_predefined(type))
		return false;
	ompi_datatype_type_extent(type, &extent);
	t->op = op;
	t->type = type;
	t->size = extent;
	ompi_datatype_type_size(type, &size);
	t->gaps = size < t->size;
	t->combine = combine_by_op;
	t->arg = t;
	integer = integer_type(type, t->size);
	for (i = 0; i < sizeof(opers) / sizeof(opers[0]) && integer >= 0; i++) {
		if (opers[i].op != op)
			continue;
		/* the kernel has these */
		t->combine = shuffle_combine_items;
		t->arg = SHUFFLE_ITEMS(opers[i].oper, integer);
	}
	return true;
}

/* The result of a call goes to @rbuf, or to memory of our own where gaps between items must be left
 * alone.  0, or an error.
 */
static int result_init(struct items *t, void *rbuf, size_t count)
{
	t->to = t->gaps ? malloc(t->size * count + 1) : rbuf;
	return t->to || !rbuf ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/* @there: there is one here.  Returns @rc, or an error. */
static int result_end(struct items *t, void *rbuf, size_t count, bool there, int rc)
{
	if (!t->gaps)
		return rc;
	if (!rc && there)
		rc = ompi_datatype_copy_content_same_ddt(t->type, count, rbuf, t->to);
	free(t->to);
	return rc;
}

static int carried_items(coll_shuffle_module *m, enum call call, struct items *t, ompi_op_t *op,
			 ompi_datatype_t *type, bool *yes)
{
	*yes = false;
	return items_init(t, op, type) ? carried(m, call, yes) : OMPI_SUCCESS;
}

static int reduce(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
		  int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct items t;
	bool yes, is_root = m->rank == root;
	int rc = carried_items(m, CALL_reduce, &t, op, type, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_reduce(sbuf, rbuf, count, type, op, root, comm,
					     m->before.coll_reduce_module);
	if (sbuf == MPI_IN_PLACE)
		sbuf = rbuf;
	rc = result_init(&t, rbuf, count);
	if (rc)
		return cannot(m, rc);
	if (shuffle_reduce(m->coll, sbuf, is_root ? t.to : NULL, t.size * count, t.size, t.combine,
			   t.arg, root))
		rc = failed(m, CALL_reduce);
	return result_end(&t, rbuf, count, is_root, rc);
}

static int allreduce(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
		     ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct items t;
	bool yes;
	int rc = carried_items(m, CALL_allreduce, &t, op, type, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_allreduce(sbuf, rbuf, count, type, op, comm,
						m->before.coll_allreduce_module);
	if (sbuf == MPI_IN_PLACE)
		sbuf = rbuf;
	rc = result_init(&t, rbuf, count);
	if (rc)
		return cannot(m, rc);
	if (shuffle_allreduce(m->coll, sbuf, t.to, t.size * count, t.size, t.combine, t.arg))
		rc = failed(m, CALL_allreduce);
	return result_end(&t, rbuf, count, true, rc);
}

static int reduce_scatter_block(const void *sbuf, void *rbuf, int rcount, ompi_datatype_t *type,
				ompi_op_t *op, ompi_communicator_t *comm,
				mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct items t;
	bool yes;
	int rc = carried_items(m, CALL_reduce_scatter_block, &t, op, type, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_reduce_scatter_block(sbuf, rbuf, rcount, type, op, comm,
				m->before.coll_reduce_scatter_block_module);
	if (sbuf == MPI_IN_PLACE)
		sbuf = rbuf;
	rc = result_init(&t, rbuf, rcount);
	if (rc)
		return cannot(m, rc);
	if (shuffle_reduce_scatter(m->coll, sbuf, t.to, t.size * rcount, t.combine, t.arg))
		rc = failed(m, CALL_reduce_scatter_block);
	return result_end(&t, rbuf, rcount, true, rc);
}

static int scan(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
		ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct items t;
	bool yes;
	int rc = carried_items(m, CALL_scan, &t, op, type, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_scan(sbuf, rbuf, count, type, op, comm,
					   m->before.coll_scan_module);
	if (sbuf == MPI_IN_PLACE)
		sbuf = rbuf;
	rc = result_init(&t, rbuf, count);
	if (rc)
		return cannot(m, rc);
	if (shuffle_scan(m->coll, sbuf, t.to, t.size * count, t.combine, t.arg, 0))
		rc = failed(m, CALL_scan);
	return result_end(&t, rbuf, count, true, rc);
}

static int exscan(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
		  ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct items t;
	bool yes;
	int rc = carried_items(m, CALL_exscan, &t, op, type, &yes);

	if (rc)
		return rc;
	if (!yes)
		return m->before.coll_exscan(sbuf, rbuf, count, type, op, comm,
					     m->before.coll_exscan_module);
	if (sbuf == MPI_IN_PLACE)
		sbuf = rbuf;
	rc = result_init(&t, rbuf, count);
	if (rc)
		return cannot(m, rc);
	if (shuffle_scan(m->coll, sbuf, t.to, t.size * count, t.combine, t.arg, 1))
		rc = failed(m, CALL_exscan);
	return result_end(&t, rbuf, count, m->rank > 0, rc);
}

/* ---- the module ---- */

#define EACH(what)								\
	do {									\
		what(barrier);							\
		what(bcast);							\
		what(gather);							\
		what(scatter);							\
		what(allgather);						\
		what(reduce);							\
		what(allreduce);						\
		what(reduce_scatter_block);					\
		what(scan);							\
		what(exscan);							\
	} while (0)

#define REPLACE(f)								\
	do {									\
		if (mine & 1U << CALL_##f)					\
			m->super.coll_##f = (f);				\
	} while (0)

#define KEEP(f)									\
	do {									\
		if (m->super.coll_##f != (f))					\
			break;							\
		m->before.coll_##f = was->coll_##f;				\
		m->before.coll_##f##_module = was->coll_##f##_module;		\
		all &= !!m->before.coll_##f;					\
		if (m->before.coll_##f##_module)				\
			OBJ_RETAIN(m->before.coll_##f##_module);		\
	} while (0)

#define FORGET(f)								\
	do {									\
		if (m->super.coll_##f == (f) && m->before.coll_##f##_module)	\
			OBJ_RELEASE(m->before.coll_##f##_module);		\
	} while (0)

void coll_shuffle_collectives_functions(coll_shuffle_module *m)
{
	uint32_t mine = mca_coll_shuffle_component.card.collectives;

	EACH(REPLACE);
}

bool coll_shuffle_collectives_keep(coll_shuffle_module *m)
{
	const mca_coll_base_comm_coll_t *was = m->comm->c_coll;
	bool all = true;

	EACH(KEEP);
	return all;
}

void coll_shuffle_collectives_forget(coll_shuffle_module *m)
{
	EACH(FORGET);
}
