// SPDX-License-Identifier: BSD-3-Clause
/* Data types and operators, as MPI's own functions tell of them. */
#include "types.h"

/* MPI's counts are int: packed at once at most. */
#define PIECE_BYTES	(1U << 30)

size_t coll_shuffle_type_size(MPI_Datatype type)
{
	MPI_Count size;

	PMPI_Type_size_x(type, &size);
	return size;
}

ptrdiff_t coll_shuffle_type_extent(MPI_Datatype type)
{
	MPI_Aint lb, extent;

	PMPI_Type_get_extent(type, &lb, &extent);
	return extent;
}

void coll_shuffle_type_span(MPI_Datatype type, ptrdiff_t *begin, ptrdiff_t *end)
{
	MPI_Aint lb, extent;

	PMPI_Type_get_true_extent(type, &lb, &extent);
	*begin = lb;
	*end = lb + extent;
}

static bool predefined(MPI_Datatype type)
{
	int ints, addresses, types, combiner;

	PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
	return combiner == MPI_COMBINER_NAMED;
}

/* Of derived types that is not known without a look inside. */
char *coll_shuffle_type_dense(const void *buf, size_t count, MPI_Datatype type)
{
	MPI_Aint lb, extent;

	(void)count;
	PMPI_Type_get_extent(type, &lb, &extent);
	if (lb || (size_t)extent != coll_shuffle_type_size(type) ||
	    !predefined(type))
		return NULL;
	return (char *)buf;
}

/* Between a buffer and all its data without gaps. */
static int convert(char *buf, size_t count, MPI_Datatype type, char *bytes, bool pack)
{
	size_t size = coll_shuffle_type_size(type);
	size_t most = size && size < PIECE_BYTES ? PIECE_BYTES / size : 1;
	ptrdiff_t extent = coll_shuffle_type_extent(type);
	int n, at, rc = MPI_SUCCESS;

	for (; size && count && !rc; count -= n) {
		n = count < most ? count : most;
		at = 0;
		if (pack)
			rc = PMPI_Pack(buf, n, type, bytes, n * size, &at, MPI_COMM_SELF);
		else
			rc = PMPI_Unpack(bytes, n * size, &at, buf, n, type, MPI_COMM_SELF);
		buf += n * extent;
		bytes += n * size;
	}
	return rc;
}

int coll_shuffle_type_pack(const void *buf, size_t count, MPI_Datatype type, void *bytes)
{
	return convert((char *)buf, count, type, bytes, true);
}

int coll_shuffle_type_unpack(const void *bytes, void *buf, size_t count, MPI_Datatype type)
{
	return convert(buf, count, type, (char *)bytes, false);
}

int coll_shuffle_type_copy(const void *from, void *to, size_t count, MPI_Datatype type)
{
	return PMPI_Sendrecv(from, count, type, 0, 0, to, count, type, 0, 0, MPI_COMM_SELF,
			     MPI_STATUS_IGNORE);
}

bool coll_shuffle_op_commutes(MPI_Op op)
{
	int commutes;

	PMPI_Op_commutative(op, &commutes);
	return commutes;
}

int coll_shuffle_op_reduce(MPI_Op op, const void *in, void *into, int count, MPI_Datatype type)
{
	return PMPI_Reduce_local(in, into, count, type, op);
}
