/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is asked of data types and operators: of Open MPI by what components may call
 * (types_ompi.c), of MPICH by MPI's own functions (types_mpich.c).  Errors are those of MPI.
 */
#ifndef COLL_SHUFFLE_TYPES_H
#define COLL_SHUFFLE_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of data. */
size_t coll_shuffle_type_size(MPI_Datatype type);
ptrdiff_t coll_shuffle_type_extent(MPI_Datatype type);
/* Where its data begins and ends, from the address of an item on. */
void coll_shuffle_type_span(MPI_Datatype type, ptrdiff_t *begin, ptrdiff_t *end);
/* The first byte of @count items without gaps, or NULL. */
char *coll_shuffle_type_dense(const void *buf, size_t count, MPI_Datatype type);
/* Between a buffer and all its data without gaps. */
int coll_shuffle_type_pack(const void *buf, size_t count, MPI_Datatype type, void *bytes);
int coll_shuffle_type_unpack(const void *bytes, void *buf, size_t count, MPI_Datatype type);
/* Data only, no gaps. */
int coll_shuffle_type_copy(const void *from, void *to, size_t count, MPI_Datatype type);

bool coll_shuffle_op_commutes(MPI_Op op);
/* into = in op into; 0, or an error */
int coll_shuffle_op_reduce(MPI_Op op, const void *in, void *into, int count, MPI_Datatype type);

#endif /* COLL_SHUFFLE_TYPES_H */
