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
	m->local = NULL;
	m->chosen = false;
	m->naddrs = 0;
	m->net = 0;
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
	coll_shuffle_before_forget(m);
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

	(void)comm;	/* m->comm */
	/* the cards of all are here since MPI_Init; without this nobody need look at them now */
	if (mca_coll_shuffle_component.card.collectives) {
		coll_shuffle_choose(m);
		coll_shuffle_before_leave_out(m, m->collectives);
	}
	/* without all of them there is nothing to fall back to */
	if (!coll_shuffle_before_keep(m))
		return OMPI_ERR_NOT_FOUND;
	if (COLL_SHUFFLE_INSTALLS)
		coll_shuffle_before_replace(m);
	return OMPI_SUCCESS;
}

#if COLL_SHUFFLE_INSTALLS
static int module_disable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
	(void)comm;
	coll_shuffle_before_give_back_all((coll_shuffle_module *)module);
	return OMPI_SUCCESS;
}
#endif

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
#if COLL_SHUFFLE_INSTALLS
	m->super.coll_module_disable = module_disable;
#endif
	coll_shuffle_alltoall_functions(m);
	coll_shuffle_neighbour_functions(m);
	coll_shuffle_collectives_functions(m);
	return &m->super;
}
