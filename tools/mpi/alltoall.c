// SPDX-License-Identifier: BSD-3-Clause
/*
 * The MPI calls.  All nine, and those of neighbours (neighbour.c), become one operation: a row
 * (what each rank gets of the send buffer) and a column (where what each rank sends goes in the
 * receive buffer).
 */
#include <stdlib.h>

#include "coll_shuffle.h"
#include "types.h"

#include "opal/runtime/opal_progress.h"

struct coll_shuffle_part coll_shuffle_part(const struct coll_shuffle_side *s, int rank)
{
	struct coll_shuffle_part p = { .buf = s->buf };
	ptrdiff_t extent;
	size_t size;

	if (s->parts)
		return s->parts->part[rank];
	p.type = s->types ? s->types[rank] : s->type;
	p.count = s->counts ? COLL_SHUFFLE_COUNT(s->counts, rank) : (ptrdiff_t)s->count;
	ompi_datatype_type_extent(p.type, &extent);
	ompi_datatype_type_size(p.type, &size);
	if (s->places)
		p.buf += COLL_SHUFFLE_PLACE(s->places, rank);
	else if (s->types)
		p.buf += COLL_SHUFFLE_DISP(s->disps, rank);
	else if (s->disps)
		p.buf += COLL_SHUFFLE_DISP(s->disps, rank) * extent;
	else if (!s->one)
		p.buf += rank * (ptrdiff_t)s->count * extent;
	p.size = p.count > 0 ? size * p.count : 0;
	return p;
}

bool coll_shuffle_by_network(const struct coll_shuffle_op *op, int rank, size_t size)
{
	const coll_shuffle_module *m = op->module;

	if (rank == m->rank)
		return false;
	/* what is sent from there is packed: all of it goes one way */
	if (op->from.buf == MPI_IN_PLACE)
		return true;
	/* both ends know how much it is */
	return !m->local[rank] && coll_shuffle_sizes_take(m, size);
}

/* The row: from the user's memory where it can be, packed where not.  A row that the
 * column will overwrite (MPI_IN_PLACE) is packed as a whole.
 */
static int make_row(struct coll_shuffle_op *op, const struct coll_shuffle_side *s, bool in_place)
{
	coll_shuffle_module *m = op->module;
	size_t packed = 0;
	struct coll_shuffle_part p;
	int i, rc;

	for (i = 0; i < m->size; i++) {
		op->bufs[i] = NULL;
		op->lens[i] = SHUFFLE_ABSENT;
		p = coll_shuffle_part(s, i);
		if (!p.type || !coll_shuffle_by_network(op, i, p.size)) {
			op->others |= p.type && i != m->rank;
			continue;
		}
		op->carried = true;
		op->lens[i] = p.size;
		if (p.size && !in_place)
			op->bufs[i] = coll_shuffle_type_dense(p.buf, p.count, p.type);
		if (!op->bufs[i])
			packed += p.size;
	}
	if (!packed)
		return OMPI_SUCCESS;

	op->packed = malloc(packed);
	if (!op->packed)
		return OMPI_ERR_OUT_OF_RESOURCE;
	packed = 0;
	for (i = 0; i < m->size; i++) {
		if (op->bufs[i] || !op->lens[i] || op->lens[i] == SHUFFLE_ABSENT)
			continue;
		p = coll_shuffle_part(s, i);
		rc = coll_shuffle_type_pack(p.buf, p.count, p.type, op->packed + packed);
		if (rc)
			return rc;
		op->bufs[i] = op->packed + packed;
		packed += p.size;
	}
	return OMPI_SUCCESS;
}

static int make_column(struct coll_shuffle_op *op, const struct coll_shuffle_side *s)
{
	coll_shuffle_module *m = op->module;
	struct coll_shuffle_part p;
	int i;

	op->left = 0;
	op->awaited = 0;
	for (i = 0; i < m->size; i++) {
		struct coll_shuffle_in *in = &op->in[i];

		memset(in, 0, sizeof(*in));
		p = coll_shuffle_part(s, i);
		if (!p.type || !coll_shuffle_by_network(op, i, p.size)) {
			op->absent[i / 64] |= 1ULL << i % 64;
			op->others |= p.type && i != m->rank;
			continue;
		}
		op->carried = true;
		in->len = p.size;
		op->left += p.size;
		/* nobody waits for a message that has no data */
		if (!p.size)
			continue;
		op->awaited++;
		in->place = coll_shuffle_type_dense(p.buf, p.count, p.type);
		if (in->place)
			continue;
		if (!op->convs) {
			op->convs = calloc(m->size, sizeof(*op->convs));
			if (!op->convs)
				return OMPI_ERR_OUT_OF_RESOURCE;
		}
		in->conv = &op->convs[i];
		OBJ_CONSTRUCT(in->conv, opal_convertor_t);
		opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &p.type->super,
							 p.count, p.buf, 0, in->conv);
	}
	return OMPI_SUCCESS;
}

/* What a rank has for itself does not go to the network. */
static int copy_own(coll_shuffle_module *m, const struct coll_shuffle_side *from,
		    const struct coll_shuffle_side *to)
{
	struct coll_shuffle_part s = coll_shuffle_part(from, m->rank);
	struct coll_shuffle_part r = coll_shuffle_part(to, m->rank);

	if (!s.size && !r.size)
		return OMPI_SUCCESS;
	return ompi_datatype_sndrcv(s.buf, s.count, s.type, r.buf, r.count, r.type);
}

static int request_free(ompi_request_t **request)
{
	coll_shuffle_request *req = (coll_shuffle_request *)*request;

	if (!REQUEST_COMPLETE(&req->super.super))
		return MPI_ERR_REQUEST;
	OMPI_REQUEST_FINI(&req->super.super);
	OBJ_RELEASE(req);
	*request = MPI_REQUEST_NULL;
	return OMPI_SUCCESS;
}

static int request_cancel(ompi_request_t *request, int flag)
{
	(void)request;
	(void)flag;
	return MPI_ERR_REQUEST;
}

static void request_construct(coll_shuffle_request *req)
{
	req->next = NULL;
}

OBJ_CLASS_INSTANCE(coll_shuffle_request, ompi_coll_base_nbc_request_t, request_construct, NULL);

void coll_shuffle_request_init(coll_shuffle_request *req, coll_shuffle_module *m)
{
	ompi_request_t *super = &req->super.super;

	OMPI_REQUEST_INIT(super, false);
	super->req_type = OMPI_REQUEST_COLL;
	super->req_state = OMPI_REQUEST_ACTIVE;
	super->req_status = ompi_status_empty;
	super->req_f_to_c_index = MPI_UNDEFINED;
	super->req_start = NULL;
	super->req_free = request_free;
	super->req_cancel = request_cancel;
	super->req_mpi_object.comm = m->comm;
	OBJ_RETAIN(m->comm);
}

coll_shuffle_request *coll_shuffle_request_new(coll_shuffle_module *m)
{
	coll_shuffle_request *req = OBJ_NEW(coll_shuffle_request);

	if (req)
		coll_shuffle_request_init(req, m);
	return req;
}

void coll_shuffle_request_drop(coll_shuffle_request *req)
{
	OBJ_RELEASE(req->super.super.req_mpi_object.comm);
	OBJ_RELEASE(req);
}

/* The operation of a call; NULL, and *rc. */
static struct coll_shuffle_op *make_op(coll_shuffle_module *m, const char *call,
				       const struct coll_shuffle_side *from,
				       const struct coll_shuffle_side *to,
				       const struct coll_shuffle_names *names, int *rc)
{
	bool in_place = from->buf == MPI_IN_PLACE;
	struct coll_shuffle_op *op;

	*rc = OMPI_ERR_OUT_OF_RESOURCE;
	op = coll_shuffle_op_new(m, call);
	if (!op)
		return NULL;
	op->number = names->number;
	op->tag = names->tag;
	op->from = *from;
	op->to = *to;
	if (from->parts)
		coll_shuffle_parts_hold(from, to);
	*rc = make_column(op, to);
	if (!*rc)
		*rc = make_row(op, in_place ? to : from, in_place);
	if (!*rc && !in_place)
		*rc = copy_own(m, from, to);
	if (!*rc)
		return op;
	coll_shuffle_op_free(op);
	return NULL;
}

int coll_shuffle_exchange_later(coll_shuffle_module *m, const char *call,
				const struct coll_shuffle_side *from,
				const struct coll_shuffle_side *to, coll_shuffle_request *req,
				const struct coll_shuffle_names *names)
{
	struct coll_shuffle_op *op;
	int rc;

	op = make_op(m, call, from, to, names, &rc);
	if (!op)
		return rc;
	op->req = req;
	opal_mutex_lock(&m->lock);
	if (!m->background++)
		opal_progress_event_users_increment();
	coll_shuffle_op_start(op);
	opal_mutex_unlock(&m->lock);
	/* if it waits for nothing, no record will tell of its end */
	coll_shuffle_progress_reap(m);
	return OMPI_SUCCESS;
}

int coll_shuffle_exchange(coll_shuffle_module *m, const char *call,
			  const struct coll_shuffle_side *from, const struct coll_shuffle_side *to,
			  ompi_request_t **request)
{
	/* whatever fails here, the others count this call */
	const struct coll_shuffle_names names = coll_shuffle_names_of_call(m);
	coll_shuffle_request *req;
	struct coll_shuffle_op *op;
	int rc;

	if (!request) {
		op = make_op(m, call, from, to, &names, &rc);
		if (!op)
			return rc;
		opal_mutex_lock(&m->lock);
		coll_shuffle_op_start(op);
		opal_mutex_unlock(&m->lock);
		return coll_shuffle_progress_wait(m, op);
	}
	req = coll_shuffle_request_new(m);
	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	/* it may be complete, and its op gone, once it has started */
	*request = &req->super.super;
	rc = coll_shuffle_exchange_later(m, call, from, to, req, &names);
	if (rc)
		coll_shuffle_request_drop(req);
	return rc;
}

bool coll_shuffle_declined(coll_shuffle_module *m)
{
	return m->state == COLL_SHUFFLE_DECLINED && m->settled;
}

/* MPI_Alltoall: every rank knows the size of every message. */
static bool left_to_before(coll_shuffle_module *m, const void *sbuf, coll_shuffle_count count,
			   ompi_datatype_t *type)
{
	size_t size;

	/* with MPI_IN_PLACE that one sends to one rank after the other */
	if (sbuf == MPI_IN_PLACE)
		return false;
	ompi_datatype_type_size(type, &size);
	return !coll_shuffle_sizes_take(m, size * count);
}

static int alltoall(const void *sbuf, coll_shuffle_count scount, ompi_datatype_t *stype,
		    void *rbuf, coll_shuffle_count rcount, ompi_datatype_t *rtype,
		    ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = { .buf = (char *)sbuf, .count = scount, .type = stype };
	struct coll_shuffle_side to = { .buf = rbuf, .count = rcount, .type = rtype };
	const struct coll_shuffle_args a = {
		.sbuf = sbuf, .scount = scount, .stype = stype, .rbuf = rbuf, .rcount = rcount,
		.rtype = rtype,
	};
	int rc = coll_shuffle_agree(m, true);

	if (rc)
		return rc;
	if (!coll_shuffle_declined(m) && coll_shuffle_collectives_alltoall(m, &a, &rc))
		return rc;
	if (coll_shuffle_declined(m) || left_to_before(m, sbuf, rcount, rtype))
		return COLL_SHUFFLE_BEFORE_BLOCKING(m, alltoall, sbuf, scount, stype, rbuf, rcount,
						    rtype, comm);
	return coll_shuffle_exchange(m, "MPI_Alltoall", &from, &to, NULL);
}

static int ialltoall(const void *sbuf, coll_shuffle_count scount, ompi_datatype_t *stype,
		     void *rbuf, coll_shuffle_count rcount, ompi_datatype_t *rtype,
		     ompi_communicator_t *comm, ompi_request_t **request,
		     mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = { .buf = (char *)sbuf, .count = scount, .type = stype };
	struct coll_shuffle_side to = { .buf = rbuf, .count = rcount, .type = rtype };
	int rc;

	/* the cards say so at all ranks: who does not need a group must not be agreeing about one
	 * when the call has ended, and then the program
	 */
	coll_shuffle_choose(m);
	if (m->naddrs && left_to_before(m, sbuf, rcount, rtype))
		return COLL_SHUFFLE_BEFORE(m, ialltoall, sbuf, scount, stype, rbuf, rcount, rtype,
					   comm, request);
	rc = coll_shuffle_agree(m, false);
	if (rc)
		return rc;
	if (coll_shuffle_declined(m))
		return COLL_SHUFFLE_BEFORE(m, ialltoall, sbuf, scount, stype, rbuf, rcount, rtype,
					   comm, request);
	return coll_shuffle_exchange(m, "MPI_Ialltoall", &from, &to, request);
}

static int alltoallv(const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_disps sdisps,
		     ompi_datatype_t *stype, void *rbuf, coll_shuffle_counts rcounts,
		     coll_shuffle_disps rdisps, ompi_datatype_t *rtype, ompi_communicator_t *comm,
		     mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = {
		.buf = (char *)sbuf, .counts = scounts, .disps = sdisps, .type = stype,
	};
	struct coll_shuffle_side to = {
		.buf = rbuf, .counts = rcounts, .disps = rdisps, .type = rtype,
	};
	int rc = coll_shuffle_agree(m, true);

	if (rc)
		return rc;
	if (coll_shuffle_declined(m))
		return COLL_SHUFFLE_BEFORE_BLOCKING(m, alltoallv, sbuf, scounts, sdisps, stype,
						    rbuf, rcounts, rdisps, rtype, comm);
	return coll_shuffle_exchange(m, "MPI_Alltoallv", &from, &to, NULL);
}

static int ialltoallv(const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_disps sdisps,
		      ompi_datatype_t *stype, void *rbuf, coll_shuffle_counts rcounts,
		      coll_shuffle_disps rdisps, ompi_datatype_t *rtype, ompi_communicator_t *comm,
		      ompi_request_t **request, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = {
		.buf = (char *)sbuf, .counts = scounts, .disps = sdisps, .type = stype,
	};
	struct coll_shuffle_side to = {
		.buf = rbuf, .counts = rcounts, .disps = rdisps, .type = rtype,
	};
	int rc = coll_shuffle_agree(m, false);

	if (rc)
		return rc;
	if (coll_shuffle_declined(m))
		return COLL_SHUFFLE_BEFORE(m, ialltoallv, sbuf, scounts, sdisps, stype, rbuf,
					   rcounts, rdisps, rtype, comm, request);
	return coll_shuffle_exchange(m, "MPI_Ialltoallv", &from, &to, request);
}

static int alltoallw(const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_disps sdisps,
		     ompi_datatype_t * const *stypes, void *rbuf, coll_shuffle_counts rcounts,
		     coll_shuffle_disps rdisps, ompi_datatype_t * const *rtypes,
		     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = {
		.buf = (char *)sbuf, .counts = scounts, .disps = sdisps, .types = stypes,
	};
	struct coll_shuffle_side to = {
		.buf = rbuf, .counts = rcounts, .disps = rdisps, .types = rtypes,
	};
	int rc = coll_shuffle_agree(m, true);

	if (rc)
		return rc;
	if (coll_shuffle_declined(m))
		return COLL_SHUFFLE_BEFORE_BLOCKING(m, alltoallw, sbuf, scounts, sdisps, stypes,
						    rbuf, rcounts, rdisps, rtypes, comm);
	return coll_shuffle_exchange(m, "MPI_Alltoallw", &from, &to, NULL);
}

static int ialltoallw(const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_disps sdisps,
		      ompi_datatype_t * const *stypes, void *rbuf, coll_shuffle_counts rcounts,
		      coll_shuffle_disps rdisps, ompi_datatype_t * const *rtypes,
		      ompi_communicator_t *comm, ompi_request_t **request,
		      mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = {
		.buf = (char *)sbuf, .counts = scounts, .disps = sdisps, .types = stypes,
	};
	struct coll_shuffle_side to = {
		.buf = rbuf, .counts = rcounts, .disps = rdisps, .types = rtypes,
	};
	int rc = coll_shuffle_agree(m, false);

	if (rc)
		return rc;
	if (coll_shuffle_declined(m))
		return COLL_SHUFFLE_BEFORE(m, ialltoallw, sbuf, scounts, sdisps, stypes, rbuf,
					   rcounts, rdisps, rtypes, comm, request);
	return coll_shuffle_exchange(m, "MPI_Ialltoallw", &from, &to, request);
}

/* ---- persistent ones: they may wait for others when they are made ---- */

static int alltoall_init(const void *sbuf, coll_shuffle_count scount, ompi_datatype_t *stype,
			 void *rbuf, coll_shuffle_count rcount, ompi_datatype_t *rtype,
			 ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
			 mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = { .buf = (char *)sbuf, .count = scount, .type = stype };
	struct coll_shuffle_side to = { .buf = rbuf, .count = rcount, .type = rtype };
	struct coll_shuffle_names names;
	bool yes = false;
	int rc = coll_shuffle_agree(m, true);

	if (!rc && !coll_shuffle_declined(m) && !left_to_before(m, sbuf, rcount, rtype))
		rc = coll_shuffle_names_of_request(m, &names, &yes);
	if (rc)
		return rc;
	if (!yes)
		return COLL_SHUFFLE_BEFORE(m, alltoall_init, sbuf, scount, stype, rbuf, rcount,
					   rtype, comm, info, request);
	return coll_shuffle_persistent_exchange(m, "MPI_Alltoall_init", &from, &to, &names,
						request);
}

static int alltoallv_init(const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_disps sdisps,
			  ompi_datatype_t *stype, void *rbuf, coll_shuffle_counts rcounts,
			  coll_shuffle_disps rdisps, ompi_datatype_t *rtype,
			  ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
			  mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = {
		.buf = (char *)sbuf, .counts = scounts, .disps = sdisps, .type = stype,
	};
	struct coll_shuffle_side to = {
		.buf = rbuf, .counts = rcounts, .disps = rdisps, .type = rtype,
	};
	struct coll_shuffle_names names;
	bool yes = false;
	int rc = coll_shuffle_agree(m, true);

	if (!rc && !coll_shuffle_declined(m))
		rc = coll_shuffle_names_of_request(m, &names, &yes);
	if (rc)
		return rc;
	if (!yes)
		return COLL_SHUFFLE_BEFORE(m, alltoallv_init, sbuf, scounts, sdisps, stype, rbuf,
					   rcounts, rdisps, rtype, comm, info, request);
	return coll_shuffle_persistent_exchange(m, "MPI_Alltoallv_init", &from, &to, &names,
						request);
}

static int alltoallw_init(const void *sbuf, coll_shuffle_counts scounts, coll_shuffle_disps sdisps,
			  ompi_datatype_t * const *stypes, void *rbuf, coll_shuffle_counts rcounts,
			  coll_shuffle_disps rdisps, ompi_datatype_t * const *rtypes,
			  ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
			  mca_coll_base_module_t *module)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	struct coll_shuffle_side from = {
		.buf = (char *)sbuf, .counts = scounts, .disps = sdisps, .types = stypes,
	};
	struct coll_shuffle_side to = {
		.buf = rbuf, .counts = rcounts, .disps = rdisps, .types = rtypes,
	};
	struct coll_shuffle_names names;
	bool yes = false;
	int rc = coll_shuffle_agree(m, true);

	if (!rc && !coll_shuffle_declined(m))
		rc = coll_shuffle_names_of_request(m, &names, &yes);
	if (rc)
		return rc;
	if (!yes)
		return COLL_SHUFFLE_BEFORE(m, alltoallw_init, sbuf, scounts, sdisps, stypes, rbuf,
					   rcounts, rdisps, rtypes, comm, info, request);
	return coll_shuffle_persistent_exchange(m, "MPI_Alltoallw_init", &from, &to, &names,
						request);
}

void coll_shuffle_alltoall_functions(coll_shuffle_module *m)
{
	m->super.coll_alltoall = alltoall;
	m->super.coll_alltoallv = alltoallv;
	m->super.coll_alltoallw = alltoallw;
	m->super.coll_ialltoall = ialltoall;
	m->super.coll_ialltoallv = ialltoallv;
	m->super.coll_ialltoallw = ialltoallw;
	m->super.coll_alltoall_init = alltoall_init;
	m->super.coll_alltoallv_init = alltoallv_init;
	m->super.coll_alltoallw_init = alltoallw_init;
}
