// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that a communicator had before ours: they make the calls that AF_SHUFFLE does not
 * carry.
 *
 * All ranks must find the same functions in comm->c_coll, whatever the parameters of each are: some
 * make their calls of others that they find there, and coll/han replaces its own ones there, when
 * it has found at its first call that it is of no use to the communicator.  So
 *
 * - what not all ranks let AF_SHUFFLE carry is not put there at all;
 * - while one of them is called for a blocking call, it is where ours was, and what is there
 *   afterwards is kept.
 */
#include "coll_shuffle.h"
#include "calls.h"

/* FUNCTION(name, ...) */
#define EXCHANGES(FUNCTION)							\
	FUNCTION(alltoall)							\
	FUNCTION(alltoallv)							\
	FUNCTION(alltoallw)
#define NEIGHBOURS(FUNCTION)							\
	FUNCTION(neighbor_allgather)						\
	FUNCTION(neighbor_allgatherv)						\
	FUNCTION(neighbor_alltoall)						\
	FUNCTION(neighbor_alltoallv)						\
	FUNCTION(neighbor_alltoallw)
#define EACH(FUNCTION)								\
	COLL_SHUFFLE_EACH(FUNCTION)						\
	EXCHANGES(FUNCTION)							\
	NEIGHBOURS(FUNCTION)
/* the call, its non-blocking form, and its persistent one */
#define FORMS(DO, f)								\
	DO(f)									\
	DO(i##f)								\
	DO(f##_init)

#define KEEP_ONE(f)								\
	do {									\
		m->before.coll_##f = c->coll_##f;				\
		m->before.coll_##f##_module = c->coll_##f##_module;		\
		if (c->coll_##f##_module)					\
			COLL_SHUFFLE_HOLD(c->coll_##f##_module);		\
		if (m->super.coll_##f && !c->coll_##f)				\
			all = false;						\
	} while (0);

/* no other component need have a persistent one: ours is left out, then */
#define KEEP(f, ...)								\
	if (!c->coll_##f##_init)						\
		m->super.coll_##f##_init = NULL;				\
	FORMS(KEEP_ONE, f)

#define DROP(f)									\
	do {									\
		m->super.coll_##f = NULL;					\
		m->super.coll_i##f = NULL;					\
		m->super.coll_##f##_init = NULL;				\
	} while (0);

/* nor these, where the communicator has no neighbours */
#define DROP_UNLESS_THERE(f)							\
	do {									\
		if (c->coll_##f && c->coll_i##f)				\
			break;							\
		DROP(f)								\
	} while (0);

bool coll_shuffle_before_keep(coll_shuffle_module *m)
{
	const mca_coll_base_comm_coll_t *c = m->comm->c_coll;
	bool all = true;

	NEIGHBOURS(DROP_UNLESS_THERE)
	EACH(KEEP)
	/* numbers.c calls it */
	return all && c->coll_allgather;
}

#define INSTALL_ONE(f)								\
	do {									\
		if (!m->super.coll_##f)						\
			break;							\
		c->coll_##f = m->super.coll_##f;				\
		c->coll_##f##_module = &m->super;				\
	} while (0);

#define INSTALL(f, ...)		FORMS(INSTALL_ONE, f)

void coll_shuffle_before_replace(coll_shuffle_module *m)
{
	mca_coll_base_comm_coll_t *c = m->comm->c_coll;

	EACH(INSTALL)
}

#define FORGET_ONE(f)								\
	do {									\
		if (m->before.coll_##f##_module)				\
			COLL_SHUFFLE_LET_GO(m->before.coll_##f##_module);	\
	} while (0);

#define FORGET(f, ...)		FORMS(FORGET_ONE, f)

void coll_shuffle_before_forget(coll_shuffle_module *m)
{
	EACH(FORGET)
}

#define LEAVE_OUT(f, ...)							\
	if (!(carried & COLL_SHUFFLE_BIT(COLL_SHUFFLE_##f)))			\
		m->super.coll_##f = NULL;					\
	if (!(carried & COLL_SHUFFLE_LATER_BIT(COLL_SHUFFLE_##f))) {		\
		m->super.coll_i##f = NULL;					\
		m->super.coll_##f##_init = NULL;				\
	}

void coll_shuffle_before_leave_out(coll_shuffle_module *m, uint32_t carried)
{
	COLL_SHUFFLE_EACH(LEAVE_OUT)
	if (carried & COLL_SHUFFLE_NEIGHBOR_BIT)
		return;
	NEIGHBOURS(DROP)
}

#define GIVE_BACK_ONE(f)							\
	do {									\
		if (c->coll_##f##_module != &m->super)				\
			break;							\
		c->coll_##f = m->before.coll_##f;				\
		c->coll_##f##_module = m->before.coll_##f##_module;		\
		m->super.coll_##f = NULL;					\
		COLL_SHUFFLE_HOLD(c->coll_##f##_module);			\
		COLL_SHUFFLE_LET_GO(m);						\
	} while (0);

#define GIVE_BACK(f, ...)	FORMS(GIVE_BACK_ONE, f)

/* The list of the communicator's modules holds m, too. */
void coll_shuffle_before_give_back_exchanges(coll_shuffle_module *m)
{
	mca_coll_base_comm_coll_t *c = m->comm->c_coll;

	EXCHANGES(GIVE_BACK)
	NEIGHBOURS(GIVE_BACK)
}

void coll_shuffle_before_give_back_all(coll_shuffle_module *m)
{
	mca_coll_base_comm_coll_t *c = m->comm->c_coll;

	EACH(GIVE_BACK)
}
