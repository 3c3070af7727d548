// SPDX-License-Identifier: BSD-3-Clause
/*
 * What ranks of one host send one another goes through Open MPI's shared memory, as messages of its
 * point-to-point layer, while the rest is under way over AF_SHUFFLE.
 *
 * A call with MPI_IN_PLACE has all of it in the row: what it sends is packed.
 */
#include <stdlib.h>

#include "coll_shuffle.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

#define TAG	MCA_COLL_BASE_TAG_ALLTOALLW

static bool is_local(const struct coll_shuffle_op *op, int rank)
{
	return rank != op->module->rank && !coll_shuffle_by_network(op, rank);
}

static int post_receive(struct coll_shuffle_op *op, int rank)
{
	struct coll_shuffle_part p = coll_shuffle_part(&op->to, rank);
	int rc;

	if (!p.size)
		return OMPI_SUCCESS;
	rc = MCA_PML_CALL(irecv(p.buf, p.count, p.type, rank, TAG, op->module->comm,
				&op->local[op->nlocal]));
	op->nlocal += !rc;
	return rc;
}

static int post_send(struct coll_shuffle_op *op, int rank)
{
	struct coll_shuffle_part p = coll_shuffle_part(&op->from, rank);
	int rc;

	if (!p.size)
		return OMPI_SUCCESS;
	rc = MCA_PML_CALL(isend(p.buf, p.count, p.type, rank, TAG, MCA_PML_BASE_SEND_STANDARD,
				op->module->comm, &op->local[op->nlocal]));
	op->nlocal += !rc;
	return rc;
}

int coll_shuffle_local_start(struct coll_shuffle_op *op)
{
	coll_shuffle_module *m = op->module;
	int i, peers = 0, rc = OMPI_SUCCESS;

	for (i = 0; i < m->size; i++)
		peers += is_local(op, i);
	if (!peers)
		return OMPI_SUCCESS;
	op->local = calloc(2 * peers, sizeof(*op->local));
	if (!op->local)
		return OMPI_ERR_OUT_OF_RESOURCE;
	for (i = 0; i < m->size && !rc; i++)
		if (is_local(op, i))
			rc = post_receive(op, i);
	/* not all to the same one first */
	for (i = 1; i < m->size && !rc; i++)
		if (is_local(op, (m->rank + i) % m->size))
			rc = post_send(op, (m->rank + i) % m->size);
	return rc;
}

bool coll_shuffle_local_done(struct coll_shuffle_op *op)
{
	ompi_request_t *req;

	while (op->nlocal) {
		req = op->local[op->nlocal - 1];
		if (!REQUEST_COMPLETE(req))
			return false;
		if (req->req_status.MPI_ERROR == MPI_ERR_TRUNCATE)
			op->truncated = true;
		else if (req->req_status.MPI_ERROR)
			op->error = EIO;
		ompi_request_free(&op->local[op->nlocal - 1]);
		op->nlocal--;
	}
	free(op->local);
	op->local = NULL;
	return true;
}
