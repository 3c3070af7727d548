// SPDX-License-Identifier: BSD-3-Clause
/* One communicator: its module comes and goes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll_shuffle.h"

#include "opal/util/proc.h"

static void module_construct(coll_shuffle_module *m)
{
	m->comm = NULL;
	m->state = COLL_SHUFFLE_NEW;
	m->fd = -1;
	m->gone = -1;
	m->calls = 0;
	m->requests = 0;
	m->kept = 0;
	m->allowed = COLL_SHUFFLE_MAX_REQUESTS;
	m->blocking = 0;
	m->local = NULL;
	m->chosen = false;
	m->addr = NULL;
	m->collectives = 0;
	coll_shuffle_members_init(&m->members, 0, 0);
	m->later = NULL;
	m->later_end = &m->later;
	m->later_steps = false;
	m->let_go = 0;
	m->hellos = NULL;
	m->beginning = false;
	m->settled = false;
	m->trial = NULL;
	m->gather = NULL;
	m->watched = false;
	m->ops = NULL;
	m->lines[0] = (struct coll_shuffle_line){ .end = &m->lines[0].first };
	m->lines[1] = (struct coll_shuffle_line){ .end = &m->lines[1].first };
	m->spare = NULL;
	m->unread = 0;
	m->background = 0;
	m->event_added = false;
	memset(&m->rx, 0, sizeof(m->rx));
	memset(&m->before, 0, sizeof(m->before));
	OBJ_CONSTRUCT(&m->lock, opal_mutex_t);
}

static void release(mca_coll_base_module_t *module)
{
	if (module)
		OBJ_RELEASE(module);
}

static void module_destruct(coll_shuffle_module *m)
{
	coll_shuffle_agree_close(m);
	if (m->fd >= 0) {
		coll_shuffle_progress_drain(m);
		coll_shuffle_progress_end(m);
		close(m->fd);
	}
	coll_shuffle_collectives_close(m);
	shuffle_rx_free(&m->rx);
	free(m->local);
	free(m->hellos);
	free(m->spare);
	release(m->before.coll_allgather_module);
	release(m->before.coll_iallgather_module);
	release(m->before.coll_alltoall_module);
	release(m->before.coll_alltoallv_module);
	release(m->before.coll_alltoallw_module);
	release(m->before.coll_ialltoall_module);
	release(m->before.coll_ialltoallv_module);
	release(m->before.coll_ialltoallw_module);
	release(m->before.coll_alltoall_init_module);
	release(m->before.coll_alltoallv_init_module);
	release(m->before.coll_alltoallw_init_module);
	coll_shuffle_collectives_forget(m);
	OBJ_DESTRUCT(&m->lock);
}

OBJ_CLASS_INSTANCE(coll_shuffle_module, mca_coll_base_module_t, module_construct,
		   module_destruct);

const char *coll_shuffle_comm_name(ompi_communicator_t *comm)
{
	return comm->c_name[0] ? comm->c_name : "a communicator";
}

const char *coll_shuffle_host(coll_shuffle_module *m, int rank)
{
	char *name = opal_get_proc_hostname(&ompi_comm_peer_lookup(m->comm, rank)->super);

	return name ? name : "unknown host";
}

static int module_enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
	coll_shuffle_module *m = (coll_shuffle_module *)module;
	/* first, for module_destruct() gives back both, whatever fails */
	bool all = coll_shuffle_collectives_keep(m);

#define KEEP(f) ({							\
	m->before.coll_##f = comm->c_coll->coll_##f;			\
	m->before.coll_##f##_module = comm->c_coll->coll_##f##_module;	\
	if (m->before.coll_##f##_module)				\
		OBJ_RETAIN(m->before.coll_##f##_module);		\
	m->before.coll_##f ? 1 : 0;					\
})
/* those that no other component need have are left out, then */
#define KEEP_OR_LEAVE(f)						\
	do {								\
		if (!KEEP(f))						\
			m->super.coll_##f = NULL;			\
	} while (0)
	KEEP_OR_LEAVE(alltoall_init);
	KEEP_OR_LEAVE(alltoallv_init);
	KEEP_OR_LEAVE(alltoallw_init);
	/* without all of them there is nothing to fall back to */
	if (KEEP(allgather) + KEEP(iallgather) + KEEP(alltoall) + KEEP(alltoallv) +
	    KEEP(alltoallw) + KEEP(ialltoall) + KEEP(ialltoallv) + KEEP(ialltoallw) < 8)
		return OMPI_ERR_NOT_FOUND;
	return all ? OMPI_SUCCESS : OMPI_ERR_NOT_FOUND;
}

/* What is known here only (the kernel, addresses) must not matter yet. */
mca_coll_base_module_t *coll_shuffle_comm_query(ompi_communicator_t *comm, int *priority)
{
	coll_shuffle_module *m;

	*priority = mca_coll_shuffle_component.priority;
	if (*priority <= 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
	    ompi_comm_size(comm) > SHUFFLE_MAX_MEMBERS)
		return NULL;

	m = OBJ_NEW(coll_shuffle_module);
	if (!m)
		return NULL;
	m->comm = comm;
	m->size = ompi_comm_size(comm);
	m->local = calloc(m->size, sizeof(*m->local));
	if (!m->local) {
		OBJ_RELEASE(m);
		return NULL;
	}
	m->rank = ompi_comm_rank(comm);
	coll_shuffle_members_init(&m->members, m->rank, m->size);
	m->super.coll_module_enable = module_enable;
	coll_shuffle_alltoall_functions(m);
	coll_shuffle_collectives_functions(m);
	return &m->super;
}
