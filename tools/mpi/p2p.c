// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that go through Open MPI's point-to-point layer and not over AF_SHUFFLE:
 *
 * - what ranks of one host send one another (shared memory), and what is of a size that another
 *   transport shall carry (sizes.c), while the rest is under way.  A call with MPI_IN_PLACE has
 *   all of it in the row: what it sends is packed;
 * - all messages of a non-blocking call that was made before the group was declined, and of those
 *   behind it until a blocking call: each rank learns of it at another time, and the functions of
 *   the component before must be called in the same order everywhere.
 *
 * Each call has a tag of its own, one of those that the communicator has for non-blocking
 * collectives: what other calls send, ours or those of other components, never matches.
 */
#include <limits.h>
#include <stdlib.h>

#include "coll_shuffle.h"

#include "ompi/mca/pml/pml.h"

static bool by_p2p(const struct coll_shuffle_op *op, int rank, size_t size)
{
	return rank != op->module->rank &&
	       (op->declined || !coll_shuffle_by_network(op, rank, size));
}

static int post_receive(struct coll_shuffle_op *op, int rank)
{
	struct coll_shuffle_part p = coll_shuffle_part(&op->to, rank);
	int rc;

	if (!p.size || !by_p2p(op, rank, p.size))
		return OMPI_SUCCESS;
	rc = MCA_PML_CALL(irecv(p.buf, p.count, p.type, rank, op->tag, op->module->comm,
				&op->p2p[op->np2p]));
	op->np2p += !rc;
	return rc;
}

static int post_send(struct coll_shuffle_op *op, int rank)
{
	struct coll_shuffle_part p;
	int rc;

	if (op->from.buf == MPI_IN_PLACE) {
		if (!by_p2p(op, rank, op->lens[rank]))
			return OMPI_SUCCESS;
		/* it is packed */
		p = (struct coll_shuffle_part){ .buf = (char *)op->bufs[rank], .type = MPI_BYTE,
						.count = op->lens[rank], .size = op->lens[rank] };
		if (p.size > INT_MAX)
			return OMPI_ERR_NOT_SUPPORTED;
	} else {
		p = coll_shuffle_part(&op->from, rank);
	}
	if (!p.size || !by_p2p(op, rank, p.size))
		return OMPI_SUCCESS;
	rc = MCA_PML_CALL(isend(p.buf, p.count, p.type, rank, op->tag,
				MCA_PML_BASE_SEND_STANDARD, op->module->comm, &op->p2p[op->np2p]));
	op->np2p += !rc;
	return rc;
}

int coll_shuffle_p2p_start(struct coll_shuffle_op *op)
{
	coll_shuffle_module *m = op->module;
	int i, rc = OMPI_SUCCESS;

	if (!op->declined && !op->others)
		return OMPI_SUCCESS;
	op->p2p = calloc(2 * m->size, sizeof(*op->p2p));
	if (!op->p2p)
		return OMPI_ERR_OUT_OF_RESOURCE;
	/* not all from, or to, the same one first */
	for (i = 1; i < m->size && !rc; i++)
		rc = post_receive(op, (m->rank + m->size - i) % m->size);
	for (i = 1; i < m->size && !rc; i++)
		rc = post_send(op, (m->rank + i) % m->size);
	return rc;
}

bool coll_shuffle_p2p_done(struct coll_shuffle_op *op)
{
	ompi_request_t *req;

	while (op->np2p) {
		req = op->p2p[op->np2p - 1];
		if (!REQUEST_COMPLETE(req))
			return false;
		if (req->req_status.MPI_ERROR == MPI_ERR_TRUNCATE)
			op->truncated = true;
		else if (req->req_status.MPI_ERROR)
			op->error = EIO;
		ompi_request_free(&op->p2p[op->np2p - 1]);
		op->np2p--;
	}
	free(op->p2p);
	op->p2p = NULL;
	return true;
}
