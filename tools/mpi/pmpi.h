/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libshuffle_pmpi.so, for MPICH.
 *
 *   pmpi.c		MPI's functions: over AF_SHUFFLE, or MPICH's own
 *   pmpi_group.c	a communicator: who takes part, and by which sockets
 *   pmpi_exchange.c	one all-to-all
 *
 * and what carry.h names, which the component for Open MPI has, too.
 */
#ifndef LIBSHUFFLE_PMPI_H
#define LIBSHUFFLE_PMPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "carry.h"

/* Whether something goes over AF_SHUFFLE. */
enum pmpi_state { PMPI_NEW, PMPI_READY, PMPI_DECLINED };

/* One communicator. */
struct pmpi_group {
	MPI_Comm comm;
	int rank;
	int size;
	uint32_t collectives;		/* bits: those that all name */
	/* all-to-all */
	enum pmpi_state state;
	int fd;
	uint64_t next_id;
	/* the other collectives */
	enum pmpi_state members_state;
	struct coll_shuffle_members members;
};

/* One side of an all-to-all. */
struct pmpi_side {
	char *buf;
	int count;
	const int *counts;
	const int *disps;
	MPI_Datatype type;
	const MPI_Datatype *types;
};

/* The group of a communicator, from its first call on; NULL: it has none, or *rc is an error. */
struct pmpi_group *pmpi_group_of(MPI_Comm comm, int *rc);
/* The first call that AF_SHUFFLE may carry: 0, or an error; then the state is not NEW. */
int pmpi_group_agree(struct pmpi_group *g);
int pmpi_group_agree_members(struct pmpi_group *g);
/* Wait a tick for something to read, and let MPICH go on with its own work if there is nothing. */
int pmpi_group_wait(void *group, int fd, short events);

/* A call, where the state is READY: 0, or an error, which has been complained about. */
int pmpi_exchange(struct pmpi_group *g, const struct pmpi_side *from, const struct pmpi_side *to);

#endif /* LIBSHUFFLE_PMPI_H */
