// SPDX-License-Identifier: BSD-3-Clause
/*
 * Persistent collectives (MPIX_Barrier_init and so on): a request that keeps the arguments of a
 * non-blocking call, and makes one whenever it is started.  Whether AF_SHUFFLE carries it is
 * decided when it is made, which may wait for others, as MPI allows; if not, the request is the
 * module's before.
 */
#include <stdlib.h>

#include "coll_shuffle.h"

struct coll_shuffle_persistent {
	coll_shuffle_request super;
	struct coll_shuffle_persistent *next_spare;
	coll_shuffle_module *module;
	const char *name;		/* of an all-to-all; NULL: another one */
	struct coll_shuffle_side from, to;
	struct coll_shuffle_names names;	/* likewise */
	enum coll_shuffle_call call;
	struct coll_shuffle_args args;
};

typedef struct coll_shuffle_persistent coll_shuffle_persistent;

static OBJ_CLASS_INSTANCE(coll_shuffle_persistent, coll_shuffle_request, NULL, NULL);

/* Requests that have been freed: Open MPI still reads from them then. */
static opal_mutex_t spare_lock = OPAL_MUTEX_STATIC_INIT;
static coll_shuffle_persistent *spare;

static coll_shuffle_persistent *get(void)
{
	coll_shuffle_persistent *p;

	opal_mutex_lock(&spare_lock);
	p = spare;
	if (p)
		spare = p->next_spare;
	opal_mutex_unlock(&spare_lock);
	return p ? p : OBJ_NEW(coll_shuffle_persistent);
}

static void put(coll_shuffle_persistent *p)
{
	opal_mutex_lock(&spare_lock);
	p->next_spare = spare;
	spare = p;
	opal_mutex_unlock(&spare_lock);
}

void coll_shuffle_persistent_close(void)
{
	coll_shuffle_persistent *p;

	while ((p = spare)) {
		spare = p->next_spare;
		OBJ_RELEASE(p);
	}
}

static int start_one(coll_shuffle_persistent *p)
{
	ompi_request_t *super = &p->super.super.super;
	coll_shuffle_module *m = p->module;
	int rc;

	super->req_status = ompi_status_empty;
	super->req_complete = REQUEST_PENDING;
	super->req_state = OMPI_REQUEST_ACTIVE;
	/* until it is complete, as with others */
	OBJ_RETAIN(m->comm);
	if (p->name)
		rc = coll_shuffle_names_next_start(&p->names) ?
		     coll_shuffle_exchange_later(m, p->name, &p->from, &p->to, &p->super,
						 &p->names) : OMPI_ERR_OUT_OF_RESOURCE;
	else
		rc = coll_shuffle_later_begin(m, p->call, &p->args, &p->super);
	if (!rc)
		return OMPI_SUCCESS;
	super->req_complete = REQUEST_COMPLETED;
	super->req_state = OMPI_REQUEST_INACTIVE;
	OBJ_RELEASE(m->comm);
	return rc;
}

static int start(size_t count, ompi_request_t **requests)
{
	int rc = OMPI_SUCCESS;
	size_t i;

	for (i = 0; i < count && !rc; i++)
		rc = start_one((coll_shuffle_persistent *)requests[i]);
	return rc;
}

static int request_free(ompi_request_t **request)
{
	coll_shuffle_persistent *p = (coll_shuffle_persistent *)*request;
	coll_shuffle_module *m = p->module;

	if (!REQUEST_COMPLETE(*request))
		return MPI_ERR_REQUEST;
	OMPI_REQUEST_FINI(*request);
	if (p->name) {
		coll_shuffle_names_give_back(m);
		if (p->from.parts)
			coll_shuffle_parts_let_go(&p->from, &p->to);
	}
	put(p);
	*request = MPI_REQUEST_NULL;
	/* it may be the last that kept the communicator, which Open MPI reads from, too */
	opal_mutex_lock(&m->lock);
	m->let_go++;
	opal_mutex_unlock(&m->lock);
	coll_shuffle_progress_watch(m);
	return OMPI_SUCCESS;
}

void coll_shuffle_persistent_step(coll_shuffle_module *m)
{
	ompi_communicator_t *comm = m->comm;
	unsigned int n;

	opal_mutex_lock(&m->lock);
	n = m->let_go;
	m->let_go = 0;
	opal_mutex_unlock(&m->lock);
	while (n--)
		OBJ_RELEASE(comm);
}

static coll_shuffle_persistent *new(coll_shuffle_module *m)
{
	coll_shuffle_persistent *p = get();

	if (!p)
		return NULL;
	coll_shuffle_request_init(&p->super, m);
	OMPI_REQUEST_INIT(&p->super.super.super, true);
	p->super.super.super.req_start = start;
	p->super.super.super.req_free = request_free;
	/* what Open MPI holds for the request */
	memset(&p->super.super.data, 0, sizeof(p->super.super.data));
	p->module = m;
	return p;
}

int coll_shuffle_persistent_call(coll_shuffle_module *m, enum coll_shuffle_call call,
				 const struct coll_shuffle_args *a, ompi_request_t **request)
{
	coll_shuffle_persistent *p = new(m);

	if (!p)
		return OMPI_ERR_OUT_OF_RESOURCE;
	p->name = NULL;
	p->call = call;
	p->args = *a;
	*request = &p->super.super.super;
	return OMPI_SUCCESS;
}

int coll_shuffle_persistent_exchange(coll_shuffle_module *m, const char *name,
				     const struct coll_shuffle_side *from,
				     const struct coll_shuffle_side *to,
				     const struct coll_shuffle_names *names,
				     ompi_request_t **request)
{
	coll_shuffle_persistent *p = new(m);

	if (!p) {
		coll_shuffle_names_give_back(m);
		return OMPI_ERR_OUT_OF_RESOURCE;
	}
	p->name = name;
	p->names = *names;
	p->from = *from;
	p->to = *to;
	if (from->parts)
		coll_shuffle_parts_hold(from, to);
	*request = &p->super.super.super;
	return OMPI_SUCCESS;
}
