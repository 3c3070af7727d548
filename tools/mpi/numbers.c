// SPDX-License-Identifier: BSD-3-Clause
/*
 * Numbers of operations.  0 is the trial, then come the calls that are made once, in their order.
 * Persistent requests may be started in different orders by the ranks: their numbers have the top
 * bit, the number of the request (they are made in the same order) and the count of its starts.
 *
 * For the same reason all of them must be able to be under way at once, while the kernel's sockets
 * take no more than a certain number: requests beyond that are the component's before.  Who frees
 * one tells nobody, so when the allowance is used up all tell how many they have.
 */
#include <stdlib.h>

#include "coll_shuffle.h"

#define PERSISTENT	COLL_SHUFFLE_PERSISTENT
#define START_BITS	36
#define MAX_STARTS	(1ULL << START_BITS)
#define MAX_NUMBERS	(1ULL << (63 - START_BITS))

struct coll_shuffle_names coll_shuffle_names_of_call(coll_shuffle_module *m)
{
	return (struct coll_shuffle_names){
		.number = ++m->calls,
		.tag = ompi_coll_base_nbc_reserve_tags(m->comm, 1),
	};
}

/* How many requests may be made until this is asked again?  0, or an error. */
static int count_requests(coll_shuffle_module *m)
{
	int *kept = malloc(m->size * sizeof(*kept)), mine, most = 0, i, rc;

	if (!kept)
		return OMPI_ERR_OUT_OF_RESOURCE;
	opal_mutex_lock(&m->lock);
	mine = m->kept;
	opal_mutex_unlock(&m->lock);
	/* it may be made from other collectives of the communicator */
	m->beginning = true;
	rc = COLL_SHUFFLE_BEFORE_BLOCKING(m, allgather, &mine, 1, MPI_INT, kept, 1, MPI_INT,
					  m->comm);
	m->beginning = false;
	for (i = 0; i < m->size && !rc; i++)
		most = kept[i] > most ? kept[i] : most;
	free(kept);
	if (!rc && most < COLL_SHUFFLE_MAX_REQUESTS)
		m->allowed = COLL_SHUFFLE_MAX_REQUESTS - most;
	return rc;
}

int coll_shuffle_names_of_request(coll_shuffle_module *m, struct coll_shuffle_names *names,
				  bool *yes)
{
	int rc = OMPI_SUCCESS;

	*yes = false;
	if (!m->allowed)
		rc = count_requests(m);
	if (rc || !m->allowed || m->requests >= MAX_NUMBERS)
		return rc;
	m->allowed--;
	opal_mutex_lock(&m->lock);
	m->kept++;
	opal_mutex_unlock(&m->lock);
	names->number = PERSISTENT | m->requests++ << START_BITS;
	names->tag = ompi_coll_base_nbc_reserve_tags(m->comm, 1);
	*yes = true;
	return OMPI_SUCCESS;
}

void coll_shuffle_names_give_back(coll_shuffle_module *m)
{
	opal_mutex_lock(&m->lock);
	m->kept--;
	opal_mutex_unlock(&m->lock);
}

bool coll_shuffle_names_next_start(struct coll_shuffle_names *names)
{
	if ((names->number & (MAX_STARTS - 1)) == MAX_STARTS - 1)
		return false;
	names->number++;
	return true;
}
