// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which processes have been shown to reach one another, and by which of our addresses: those of a
 * communicator whose trial all have passed, for a while.  A communicator that is made of some of
 * them, a duplicate for instance, needs no trial of its own, which would cost more than its first
 * call.
 *
 * The number of the trial goes with the hello.  Only where all members name the same one do they do
 * without: each has its own list, and may have forgotten what others remember.  Of several that fit
 * the greatest number is named, for lists have them in different orders.
 *
 * What becomes of the network afterwards is seen by operations, with or without a trial before.
 * One that fails because others are not there takes all proofs along.
 */
#include <stdlib.h>
#include <string.h>

#include "coll_shuffle.h"

#define PROOFS		4
#define VALID_NS	3000000000ULL

static struct proof {
	uint64_t number;	/* of the trial: the same in all processes; 0: none */
	uint64_t until;		/* CLOCK_MONOTONIC, ns */
	const struct coll_shuffle_addr *addr;	/* ours, on the card */
	uint64_t *names;	/* of the processes, ascending */
	int n;
} proofs[PROOFS];
static int next;
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;

/* The names of a communicator's processes, ascending; NULL: no memory. */
static uint64_t *names_of(const coll_shuffle_module *m)
{
	uint64_t *names = calloc(m->size, sizeof(*names));
	int i;

	for (i = 0; names && i < m->size; i++)
		names[i] = coll_shuffle_name(ompi_comm_peer_lookup(m->comm, i));
	if (names)
		qsort(names, m->size, sizeof(*names), coll_shuffle_compare_numbers);
	return names;
}

static bool has_all(const struct proof *p, const uint64_t *names, int n)
{
	int i, k = 0;

	for (i = 0; i < n; i++, k++) {
		while (k < p->n && p->names[k] < names[i])
			k++;
		if (k == p->n || p->names[k] != names[i])
			return false;
	}
	return true;
}

uint64_t coll_shuffle_proven(const coll_shuffle_module *m)
{
	uint64_t *names = names_of(m), number = 0, now = coll_shuffle_now_ns();
	int i;

	opal_mutex_lock(&lock);
	for (i = 0; names && i < PROOFS; i++)
		if (proofs[i].number > number && now < proofs[i].until &&
		    proofs[i].addr == m->addr[m->net] && has_all(&proofs[i], names, m->size))
			number = proofs[i].number;
	opal_mutex_unlock(&lock);
	free(names);
	return number;
}

void coll_shuffle_prove(const coll_shuffle_module *m)
{
	struct proof p = {
		.number = m->op_base,
		.until = coll_shuffle_now_ns() + VALID_NS,
		.addr = m->addr[m->net],
		.names = names_of(m),
		.n = m->size,
	};

	if (!p.names)
		return;
	opal_mutex_lock(&lock);
	free(proofs[next].names);
	proofs[next] = p;
	next = (next + 1) % PROOFS;
	opal_mutex_unlock(&lock);
}

void coll_shuffle_disprove(void)
{
	int i;

	opal_mutex_lock(&lock);
	for (i = 0; i < PROOFS; i++)
		free(proofs[i].names);
	memset(proofs, 0, sizeof(proofs));
	opal_mutex_unlock(&lock);
}
