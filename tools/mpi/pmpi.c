// SPDX-License-Identifier: BSD-3-Clause
/*
 * libshuffle_pmpi.so: MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw over AF_SHUFFLE for
 * MPICH, which has no components: LD_PRELOAD it.  Other collectives join them where that is asked
 * for.  For Open MPI there is mca_coll_shuffle.so, which does more: the non-blocking forms,
 * receiving into place, and programs that do not call these functions by their C names.
 *
 * SHUFFLE_PMPI_COLLECTIVES=NAMES in the environment: collectives beside MPI_Alltoall, as
 * coll_shuffle_collectives of the component names them (none); those that all ranks name.
 * SHUFFLE_PMPI_MULTICAST=ADDRESS: for broadcasts of more than 1 KiB, the same at all ranks.
 * SHUFFLE_PMPI_VERBOSE=1: a line for each communicator.
 * SHUFFLE_PMPI_TIMEOUT=SECONDS: without progress, until a call fails (600).
 */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "pmpi.h"

#pragma GCC visibility push(default)

/* The group, if AF_SHUFFLE carries an all-to-all of it; NULL: it does not, or *rc is an error. */
static struct pmpi_group *exchanging(MPI_Comm comm, int *rc)
{
	struct pmpi_group *g = pmpi_group_of(comm, rc);

	if (g)
		*rc = pmpi_group_agree(g);
	return g && !*rc && g->state == PMPI_READY ? g : NULL;
}

/* What MPICH itself shall complain about. */
static bool refused(const struct pmpi_group *g, const struct coll_shuffle_args *a)
{
	return a->root < 0 || a->root >= g->size ||
	       (a->op && (a->op == MPI_OP_NULL || a->rtype == MPI_DATATYPE_NULL || a->rcount < 0));
}

/* Has AF_SHUFFLE carried the call?  *rc: its result, or an error. */
static bool made(MPI_Comm comm, enum coll_shuffle_call call, const struct coll_shuffle_args *a,
		 int *rc)
{
	struct pmpi_group *g = pmpi_group_of(comm, rc);

	if (!g)
		return *rc;
	if (!(g->collectives & COLL_SHUFFLE_BIT(call)) || refused(g, a) ||
	    !coll_shuffle_can_carry(a))
		return false;
	*rc = pmpi_group_agree_members(g);
	if (*rc || g->members_state != PMPI_READY)
		return *rc;
	if (call == COLL_SHUFFLE_alltoall && !coll_shuffle_packs(&g->members, a))
		return false;
	*rc = coll_shuffle_carry(&g->members, call, a);
	if (*rc && g->members.error)
		fprintf(stderr, "libshuffle_pmpi: rank %d, MPI %s: %s\n", g->rank,
			coll_shuffle_call_names[call], strerror(g->members.error));
	if (*rc)
		PMPI_Comm_call_errhandler(comm, *rc);
	return true;
}

int MPI_Alltoall(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,
		 MPI_Datatype rtype, MPI_Comm comm)
{
	struct pmpi_side from = { .buf = (char *)sbuf, .count = scount, .type = stype };
	struct pmpi_side to = { .buf = rbuf, .count = rcount, .type = rtype };
	const struct coll_shuffle_args a = {
		.sbuf = sbuf, .scount = scount, .stype = stype, .rbuf = rbuf, .rcount = rcount,
		.rtype = rtype,
	};
	struct pmpi_group *g;
	int rc;

	if (made(comm, COLL_SHUFFLE_alltoall, &a, &rc))
		return rc;
	g = exchanging(comm, &rc);
	if (!g)
		return rc ? rc : PMPI_Alltoall(sbuf, scount, stype, rbuf, rcount, rtype, comm);
	return pmpi_exchange(g, &from, &to);
}

int MPI_Alltoallv(const void *sbuf, const int *scounts, const int *sdisps, MPI_Datatype stype,
		  void *rbuf, const int *rcounts, const int *rdisps, MPI_Datatype rtype,
		  MPI_Comm comm)
{
	struct pmpi_side from = { (char *)sbuf, 0, scounts, sdisps, stype, NULL };
	struct pmpi_side to = { rbuf, 0, rcounts, rdisps, rtype, NULL };
	int rc;
	struct pmpi_group *g = exchanging(comm, &rc);

	if (!g)
		return rc ? rc : PMPI_Alltoallv(sbuf, scounts, sdisps, stype, rbuf, rcounts,
						rdisps, rtype, comm);
	return pmpi_exchange(g, &from, &to);
}

int MPI_Alltoallw(const void *sbuf, const int *scounts, const int *sdisps,
		  const MPI_Datatype *stypes, void *rbuf, const int *rcounts, const int *rdisps,
		  const MPI_Datatype *rtypes, MPI_Comm comm)
{
	struct pmpi_side from = { (char *)sbuf, 0, scounts, sdisps, MPI_DATATYPE_NULL, stypes };
	struct pmpi_side to = { rbuf, 0, rcounts, rdisps, MPI_DATATYPE_NULL, rtypes };
	int rc;
	struct pmpi_group *g = exchanging(comm, &rc);

	if (!g)
		return rc ? rc : PMPI_Alltoallw(sbuf, scounts, sdisps, stypes, rbuf, rcounts,
						rdisps, rtypes, comm);
	return pmpi_exchange(g, &from, &to);
}

/* ---- the other collectives ---- */

#define FUNCTION(name, mpi, params, set, give)				\
int MPI_##mpi(params MPI_Comm comm)					\
{									\
	const struct coll_shuffle_args a = { set };			\
	int rc;								\
									\
	return made(comm, COLL_SHUFFLE_##name, &a, &rc) ? rc :		\
	       PMPI_##mpi(give comm);					\
}

COLL_SHUFFLE_EACH(FUNCTION)

#pragma GCC visibility pop
