// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives other than all-to-all, as coll_shuffle_collectives names them: those of libshuffle,
 * in the kernel where they are short, on a socket of their own.  Ranks that share a host leave them
 * to the module before.
 *
 * A non-blocking call never waits for others, so it cannot agree.  It goes over AF_SHUFFLE once a
 * blocking call has settled that: all ranks know the outcome then, for all make the same calls in
 * the same order.
 */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "coll_shuffle.h"
#include "calls.h"

#include "ompi/op/op.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

/* Open MPI polls what else happens: so long at most without a look at it */
#define TICK_MS		1

/* MPI_Finalize waits for ACKs no longer than this without any progress. */
#define CLOSE_MS	5000

#define BIT(call)	COLL_SHUFFLE_BIT(call)
#define LATER_BIT(call)	COLL_SHUFFLE_LATER_BIT(call)

bool coll_shuffle_collectives_parse(const char *text, uint32_t *bits)
{
	bool ok = coll_shuffle_names_parse(text, bits);

	/* whichever thread makes progress would go on with them: see libshuffle's coll_later.c */
	if (ompi_mpi_thread_provided > MPI_THREAD_FUNNELED)
		*bits &= LATER_BIT(0) - 1;
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
	if (!(m->collectives & ~(COLL_SHUFFLE_MULTICAST_BIT | COLL_SHUFFLE_NEIGHBOR_BIT)))
		return;
	coll_shuffle_addr_of(addr, &hello->coll_addr);
	if (m->collectives & COLL_SHUFFLE_MULTICAST_BIT)
		m->members.multicast = mca_coll_shuffle_component.multicast;
	m->members.saba = mca_coll_shuffle_component.saba;
	coll_shuffle_members_open(&m->members, &hello->coll_addr);
	if (m->members.fd >= 0)
		coll_shuffle_socket_options(m->members.fd);
}

int coll_shuffle_collectives_join(coll_shuffle_module *m)
{
	struct sockaddr_shuffle *addrs;
	int i, rc;

	/* all ranks see that */
	for (i = 0; i < m->size; i++)
		if (!m->hellos[i].coll_addr.shs_family)
			return 0;
	addrs = malloc(m->size * sizeof(*addrs));
	if (!addrs)
		return -1;
	for (i = 0; i < m->size; i++)
		addrs[i] = m->hellos[i].coll_addr;
	m->members.key = m->hellos[0].keyed ? m->hellos[0].key : NULL;
	rc = coll_shuffle_members_join(&m->members, addrs, m->op_base, wait_for_more, NULL);
	free(addrs);
	return rc;
}

void coll_shuffle_collectives_close(coll_shuffle_module *m)
{
	struct coll_shuffle_members *g = &m->members;
	__u32 idle = CLOSE_MS;

	/* behind the last barrier nobody needs our data; a host that has gone does not say so */
	if (g->coll && ompi_mpi_state >= OMPI_MPI_STATE_FINALIZE_STARTED)
		setsockopt(g->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
	coll_shuffle_members_close(g);
}

int coll_shuffle_collectives_carry(coll_shuffle_module *m, enum coll_shuffle_call call,
				   const struct coll_shuffle_args *args)
{
	int rc = coll_shuffle_carry(&m->members, call, args);

	if (rc && m->members.error)
		coll_shuffle_complain("rank %d of %s, MPI %s: %s", m->rank,
				      coll_shuffle_comm_name(m->comm),
				      coll_shuffle_call_names[call], strerror(m->members.error));
	return rc;
}

/* Does AF_SHUFFLE carry this call?  The same answer at all ranks; 0, or an error.  All have named
 * it, or it would not be in the communicator (before.c).
 */
static int carried(coll_shuffle_module *m, const struct coll_shuffle_args *a, bool *yes)
{
	int rc;

	*yes = false;
	/* the module before makes its own calls from others, while requests are counted */
	if (m->beginning || !coll_shuffle_can_carry(a))
		return OMPI_SUCCESS;
	rc = coll_shuffle_agree(m, true);
	*yes = !rc && m->members.coll;
	return rc;
}

/* Open MPI makes new communicators in the background with such calls of the old one (comm_cid.c),
 * not in the order of the program's.
 */
static bool may_be_internal(enum coll_shuffle_call call, const struct coll_shuffle_args *a)
{
	return call == COLL_SHUFFLE_allreduce && a->rtype == &ompi_mpi_int.dt &&
	       (a->op == &ompi_mpi_op_min.op || a->op == &ompi_mpi_op_max.op);
}

/* a program's own operator may want more of a stack */
static bool wants_stack(const struct coll_shuffle_args *a)
{
	return a->op && !ompi_op_is_intrinsic(a->op);
}

static bool carried_later(coll_shuffle_module *m, enum coll_shuffle_call call,
			  const struct coll_shuffle_args *a)
{
	if (may_be_internal(call, a) || wants_stack(a))
		return false;
	return m->settled && m->state == COLL_SHUFFLE_READY && m->members.coll &&
	       coll_shuffle_can_carry(a);
}

/* ---- the calls ---- */

/* Has AF_SHUFFLE carried the call?  *rc: its result, or an error. */
static bool made(coll_shuffle_module *m, enum coll_shuffle_call call,
		 const struct coll_shuffle_args *a, int *rc)
{
	bool yes;

	*rc = carried(m, a, &yes);
	if (yes)
		*rc = coll_shuffle_collectives_carry(m, call, a);
	return yes || *rc;
}

bool coll_shuffle_collectives_alltoall(coll_shuffle_module *m, const struct coll_shuffle_args *a,
				       int *rc)
{
	if (!(m->collectives & BIT(COLL_SHUFFLE_alltoall)) || !coll_shuffle_packs(&m->members, a))
		return false;
	*rc = coll_shuffle_collectives_carry(m, COLL_SHUFFLE_alltoall, a);
	return true;
}

/* Has AF_SHUFFLE taken a persistent call?  *rc: 0, or an error. */
static bool taken(coll_shuffle_module *m, enum coll_shuffle_call call,
		  const struct coll_shuffle_args *a, ompi_request_t **request, int *rc)
{
	bool yes;

	*rc = MPI_SUCCESS;
	if (wants_stack(a))
		return false;
	*rc = carried(m, a, &yes);
	if (yes)
		*rc = coll_shuffle_persistent_call(m, call, a, request);
	return yes || *rc;
}

/* A call, its non-blocking form, and its persistent one. */
#define FUNCTIONS(name, mpi, params, set, give)					\
static int name(params ompi_communicator_t *comm, mca_coll_base_module_t *module)	\
{											\
	coll_shuffle_module *m = (coll_shuffle_module *)module;				\
	const struct coll_shuffle_args a = { set };					\
	int rc;										\
											\
	return made(m, COLL_SHUFFLE_##name, &a, &rc) ? rc :				\
	       COLL_SHUFFLE_BEFORE_BLOCKING(m, name, give comm);			\
}											\
											\
static int i##name(params ompi_communicator_t *comm, ompi_request_t **request,		\
		   mca_coll_base_module_t *module)					\
{											\
	coll_shuffle_module *m = (coll_shuffle_module *)module;				\
	const struct coll_shuffle_args a = { set };					\
											\
	if (carried_later(m, COLL_SHUFFLE_##name, &a))					\
		return coll_shuffle_carry_later(m, COLL_SHUFFLE_##name, &a, request);	\
	return COLL_SHUFFLE_BEFORE(m, i##name, give comm, request);			\
}											\
											\
static int name##_init(params ompi_communicator_t *comm, ompi_info_t *info,		\
		       ompi_request_t **request, mca_coll_base_module_t *module)	\
{											\
	coll_shuffle_module *m = (coll_shuffle_module *)module;				\
	const struct coll_shuffle_args a = { set };					\
	int rc;										\
											\
	return taken(m, COLL_SHUFFLE_##name, &a, request, &rc) ? rc :			\
	       COLL_SHUFFLE_BEFORE(m, name##_init, give comm, info, request);		\
}

COLL_SHUFFLE_EACH(FUNCTIONS)

/* ---- the module ---- */

#define REPLACE(f, ...)								\
	do {									\
		if (mine & BIT(COLL_SHUFFLE_##f))				\
			m->super.coll_##f = (f);				\
		if (mine & LATER_BIT(COLL_SHUFFLE_##f))				\
			m->super.coll_i##f = (i##f);				\
		if (mine & LATER_BIT(COLL_SHUFFLE_##f))				\
			m->super.coll_##f##_init = (f##_init);			\
	} while (0);

void coll_shuffle_collectives_functions(coll_shuffle_module *m)
{
	uint32_t mine = mca_coll_shuffle_component.card.collectives;

	COLL_SHUFFLE_EACH(REPLACE)
}
