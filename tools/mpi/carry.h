/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over libshuffle, whatever the MPI library: the component for Open MPI and the library
 * that is preloaded for MPICH are both made of these files.
 *
 *   carry.c		one call: buffers become bytes, and go to libshuffle
 *   items.c		what is combined, and by what
 *   members.c		the group of a communicator: its socket, its racks
 *   names.c		which calls are asked for
 *   types.h		data types and operators: types_ompi.c, types_mpich.c
 *   counts.h		counts, and arrays of them
 */
#ifndef COLL_SHUFFLE_CARRY_H
#define COLL_SHUFFLE_CARRY_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "counts.h"
#include "shuffle_coll.h"

enum coll_shuffle_call {
	COLL_SHUFFLE_barrier, COLL_SHUFFLE_bcast, COLL_SHUFFLE_gather, COLL_SHUFFLE_scatter,
	COLL_SHUFFLE_allgather, COLL_SHUFFLE_reduce, COLL_SHUFFLE_allreduce,
	COLL_SHUFFLE_reduce_scatter_block, COLL_SHUFFLE_scan, COLL_SHUFFLE_exscan,
	COLL_SHUFFLE_gatherv, COLL_SHUFFLE_scatterv, COLL_SHUFFLE_allgatherv,
	COLL_SHUFFLE_reduce_scatter,
	/* short ones over racks only, blocking, and not one of "all" */
	COLL_SHUFFLE_alltoall,
	/* all forms of all calls of neighbours, as MPI_Alltoallv is carried; not one of "all" */
	COLL_SHUFFLE_neighbor, COLL_SHUFFLE_CALLS,
};

/* Bytes for a rank of an all-to-all that libshuffle packs over racks. */
#define COLL_SHUFFLE_PACKED	256

/* Arguments of such a call; those that it has not are 0.  A vector has its count and type in the
 * last ones, and so has a broadcast, which has one buffer.  The side with a count for each rank has
 * them in @counts, and @disps.
 */
struct coll_shuffle_args {
	const void *sbuf;
	coll_shuffle_count scount;
	MPI_Datatype stype;
	void *rbuf;
	coll_shuffle_count rcount;
	MPI_Datatype rtype;
	coll_shuffle_counts counts;
	coll_shuffle_disps disps;
	MPI_Op op;
	int root;
};

/* The ranks of a communicator. */
struct coll_shuffle_members {
	struct shuffle_coll *coll;	/* NULL: none are carried */
	int fd;
	int rank;
	int size;
	uint64_t racks;			/* hash of those that the kernel knows; 0: none */
	const char *multicast;		/* address that all have been told to use, or NULL */
	bool tried;			/* and whether it reaches all */
	const char *saba;		/* application that shuffle-sabad hears of, or NULL */
	const void *key;		/* SHUFFLE_KEY_BYTES, until it has joined, or NULL */
	int error;			/* errno of a call that libshuffle has failed */
};

/* names.c */
extern const char *const coll_shuffle_call_names[COLL_SHUFFLE_CALLS];

/* Calls as bits: blocking ones, and the others; and that a multicast address is to be used. */
#define COLL_SHUFFLE_BIT(call)		(1U << (call))
#define COLL_SHUFFLE_LATER_BIT(call)	(1U << (16 + (call)))
#define COLL_SHUFFLE_MULTICAST_BIT	(1U << 31)
#define COLL_SHUFFLE_NEIGHBOR_BIT	COLL_SHUFFLE_BIT(COLL_SHUFFLE_neighbor)

/* A list of names, "all" or "none" as bits: false, and no bits, if it makes no sense. */
bool coll_shuffle_names_parse(const char *text, uint32_t *bits);

/* members.c */
uint64_t coll_shuffle_hash(const void *data, size_t size);
/* No socket yet, of a group of @size. */
void coll_shuffle_members_init(struct coll_shuffle_members *g, int rank, int size);
/* A socket at @addr, which gets its port, or family 0: none. */
void coll_shuffle_members_open(struct coll_shuffle_members *g, struct sockaddr_shuffle *addr);
/* All have opened theirs: 0, or -1 with errno. */
int coll_shuffle_members_join(struct coll_shuffle_members *g,
			      const struct sockaddr_shuffle *members, uint64_t first_op,
			      shuffle_coll_waiter wait, void *arg);
/* Before the first call: not all know the same racks. */
void coll_shuffle_members_no_racks(struct coll_shuffle_members *g);
/* Waits for the ends of all calls. */
void coll_shuffle_members_close(struct coll_shuffle_members *g);
/* What the rank of a record MISSING has done, or not, in words that follow its name. */
const char *coll_shuffle_missing_str(const struct shuffle_record *rec);

/* items.c */
/* Items of vectors, and how two of them become one. */
struct coll_shuffle_items {
	MPI_Op op;
	MPI_Datatype type;
	size_t size;			/* bytes of an item in memory, gaps included */
	bool gaps;
	bool in_order;			/* of rank: the operator does not commute */
	shuffle_combine combine;
	void *arg;
	int error;			/* of the operator: the first */
	const char *from;		/* this member's items */
	char *own_from;			/* that, if it is no memory of the user's */
	char *to;			/* where the result goes */
	char *own;			/* likewise */
	char *spare;			/* in order of rank only */
	size_t spare_size;
};

/* How libshuffle combines what the call combines; false: it must not.  The same at all ranks. */
bool coll_shuffle_items_init(struct coll_shuffle_items *t, MPI_Op op, MPI_Datatype type);
/* @t->from is @sbuf with its @in items, and @t->to is @rbuf for @out of them.  Items with gaps are
 * in memory of our own: gaps of the result must be left alone, and those before the first item and
 * behind the last one need not be the user's memory.  So is the result if @own.  0, or an error.
 */
int coll_shuffle_items_begin(struct coll_shuffle_items *t, const void *sbuf, size_t in, void *rbuf,
			     size_t out, bool own);
/* Frees what the beginning has found.  @there: the user gets a result.  Returns @rc, or an error.
 */
int coll_shuffle_items_end(struct coll_shuffle_items *t, void *rbuf, size_t count, bool there,
			   int rc);

/* carry.c */
/* Does libshuffle know how to combine what the call combines?  The same at all ranks. */
bool coll_shuffle_can_carry(const struct coll_shuffle_args *a);
/* Is this all-to-all packed, where all have named that?  The same at all ranks. */
bool coll_shuffle_packs(const struct coll_shuffle_members *g, const struct coll_shuffle_args *a);
/* A call over AF_SHUFFLE: 0, or an MPI error; of libshuffle's errors g->error says more. */
int coll_shuffle_carry(struct coll_shuffle_members *g, enum coll_shuffle_call call,
		       const struct coll_shuffle_args *args);

#endif /* COLL_SHUFFLE_CARRY_H */
