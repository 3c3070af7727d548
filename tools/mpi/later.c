// SPDX-License-Identifier: BSD-3-Clause
/*
 * Non-blocking collectives other than all-to-all: libshuffle makes each on a stack of its own, and
 * whoever makes progress in Open MPI goes on with it.  Several threads might: processes with
 * more than MPI_THREAD_FUNNELED leave these calls to the module before (collectives.c).
 */
#include <stdlib.h>

#include "coll_shuffle.h"

struct coll_shuffle_later {
	struct coll_shuffle_later *next;
	coll_shuffle_module *module;
	enum coll_shuffle_call call;
	struct coll_shuffle_args args;
	coll_shuffle_request *req;
	struct shuffle_coll_request *run;
	int rc;
};

static int carry(struct shuffle_coll *c, void *arg)
{
	struct coll_shuffle_later *l = arg;

	(void)c;
	l->rc = coll_shuffle_collectives_carry(l->module, l->call, &l->args);
	return l->rc ? -1 : 0;
}

static void complete(struct coll_shuffle_later *l)
{
	ompi_request_t *super = &l->req->super.super;
	ompi_communicator_t *comm = super->req_mpi_object.comm;

	super->req_status.MPI_ERROR = l->rc;
	free(l);
	ompi_request_complete(super, true);
	/* perhaps the last that kept it */
	OBJ_RELEASE(comm);
}

void coll_shuffle_later_step(coll_shuffle_module *m)
{
	struct coll_shuffle_later *l;
	int done, rc;

	/* what is called here may get here again */
	if (m->later_steps)
		return;
	m->later_steps = true;
	while ((l = m->later)) {
		rc = shuffle_coll_test(l->run, &done);
		if (!done)
			break;
		if (rc && !l->rc)
			l->rc = MPI_ERR_OTHER;
		m->later = l->next;
		if (!m->later)
			m->later_end = &m->later;
		complete(l);
	}
	m->later_steps = false;
}

int coll_shuffle_later_begin(coll_shuffle_module *m, enum coll_shuffle_call call,
			     const struct coll_shuffle_args *a, coll_shuffle_request *req)
{
	struct coll_shuffle_later *l = calloc(1, sizeof(*l));

	if (!l)
		return OMPI_ERR_OUT_OF_RESOURCE;
	l->module = m;
	l->call = call;
	l->args = *a;
	l->req = req;
	l->run = shuffle_coll_begin(m->members.coll, carry, l);
	if (!l->run) {
		/* the group is of no use any more, as the others will find out */
		l->rc = MPI_ERR_NO_MEM;
		complete(l);
		return OMPI_SUCCESS;
	}
	*m->later_end = l;
	m->later_end = &l->next;
	coll_shuffle_progress_watch(m);
	return OMPI_SUCCESS;
}

int coll_shuffle_carry_later(coll_shuffle_module *m, enum coll_shuffle_call call,
			     const struct coll_shuffle_args *a, ompi_request_t **request)
{
	coll_shuffle_request *req = coll_shuffle_request_new(m);
	int rc;

	if (!req)
		return OMPI_ERR_OUT_OF_RESOURCE;
	*request = &req->super.super;
	rc = coll_shuffle_later_begin(m, call, a, req);
	if (rc)
		coll_shuffle_request_drop(req);
	return rc;
}
