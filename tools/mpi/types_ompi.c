// SPDX-License-Identifier: BSD-3-Clause
/* Data types and operators of Open MPI. */
#include "coll_shuffle.h"
#include "types.h"

#include "ompi/op/op.h"

size_t coll_shuffle_type_size(MPI_Datatype type)
{
	size_t size;

	ompi_datatype_type_size(type, &size);
	return size;
}

ptrdiff_t coll_shuffle_type_extent(MPI_Datatype type)
{
	ptrdiff_t extent;

	ompi_datatype_type_extent(type, &extent);
	return extent;
}

void coll_shuffle_type_span(MPI_Datatype type, ptrdiff_t *begin, ptrdiff_t *end)
{
	ptrdiff_t extent;

	ompi_datatype_get_true_extent(type, begin, &extent);
	*end = *begin + extent;
}

char *coll_shuffle_type_dense(const void *buf, size_t count, MPI_Datatype type)
{
	ptrdiff_t begin, end;

	if (!ompi_datatype_is_contiguous_memory_layout(type, count))
		return NULL;
	coll_shuffle_type_span(type, &begin, &end);
	return (char *)buf + begin;
}

/* Between a buffer and all its data without gaps. */
static int convert(const void *buf, size_t count, MPI_Datatype type, const void *bytes, bool pack)
{
	size_t whole = coll_shuffle_type_size(type) * count, size = whole;
	struct iovec iov = { .iov_base = (void *)bytes, .iov_len = whole };
	opal_convertor_t conv;
	uint32_t n = 1;
	int rc;

	if (!whole)
		return MPI_SUCCESS;
	OBJ_CONSTRUCT(&conv, opal_convertor_t);
	if (pack) {
		opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super,
							 count, buf, 0, &conv);
		rc = opal_convertor_pack(&conv, &iov, &n, &size);
	} else {
		opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super,
							 count, buf, 0, &conv);
		rc = opal_convertor_unpack(&conv, &iov, &n, &size);
	}
	OBJ_DESTRUCT(&conv);
	return rc == 1 && size == whole ? MPI_SUCCESS : MPI_ERR_TYPE;
}

int coll_shuffle_type_pack(const void *buf, size_t count, MPI_Datatype type, void *bytes)
{
	return convert(buf, count, type, bytes, true);
}

int coll_shuffle_type_unpack(const void *bytes, void *buf, size_t count, MPI_Datatype type)
{
	return convert(buf, count, type, bytes, false);
}

int coll_shuffle_type_copy(const void *from, void *to, size_t count, MPI_Datatype type)
{
	return ompi_datatype_copy_content_same_ddt(type, count, to, (char *)from);
}

bool coll_shuffle_op_commutes(MPI_Op op)
{
	return ompi_op_is_commute(op);
}

int coll_shuffle_op_reduce(MPI_Op op, const void *in, void *into, int count, MPI_Datatype type)
{
	ompi_op_reduce(op, (void *)in, into, count, type);
	return MPI_SUCCESS;
}
