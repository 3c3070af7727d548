// SPDX-License-Identifier: BSD-3-Clause
/*
 * The first call of a communicator: its members agree whether AF_SHUFFLE carries this call and those
 * to come.
 *
 * 1. choose.c looks at the cards of all members.
 * 2. Each opens a socket; addresses and ports are gathered.
 * 3. A trial: an operation without data, which ends in time only if everybody reaches everybody.
 * 4. What each has seen of it is gathered.  If one of them is not content, all decline.
 *
 * Gathering is done by the allgather of the module before or, when the call must not block, by its
 * iallgather: calls are queued meanwhile, and given to the module before if all decline.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "coll_shuffle.h"

/* All members have just been heard, so it takes a round trip; a busy host may need some time. */
#define TRIAL_MS	5000

static void decline(coll_shuffle_module *m, int who, const char *what, const char *more)
{
	if (!m->rank || who == m->rank)
		coll_shuffle_say("%s: declined: rank %d (%s): %s%s%s",
				 coll_shuffle_comm_name(m->comm), who, coll_shuffle_host(m, who),
				 what, more ? ": " : "", more ? more : "");
	if (m->fd >= 0) {
		/* the trial */
		opal_mutex_lock(&m->lock);
		coll_shuffle_op_reap(m);
		opal_mutex_unlock(&m->lock);
		coll_shuffle_progress_end(m);
		close(m->fd);
		m->fd = -1;
	}
	m->state = COLL_SHUFFLE_DECLINED;
}

/* A socket with a port of its own.  Its address, or family 0, is the hello. */
static void open_socket(coll_shuffle_module *m, const struct coll_shuffle_addr *addr,
			struct coll_shuffle_hello *hello)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;
	__u32 idle = c->timeout > 0 ? (__u32)c->timeout * 1000 : 0;

	memset(hello, 0, sizeof(*hello));
	if (getrandom(&hello->op_base, sizeof(hello->op_base), 0) != sizeof(hello->op_base))
		hello->op_base = (uint64_t)getpid() << 32;
	if (shuffle_rx_init(&m->rx, coll_shuffle_op_record, coll_shuffle_op_place, m))
		return;
	/* a column, the ends of the operations before, and some */
	m->rx.records = 2 * m->size + 8;
	coll_shuffle_addr_of(addr, &hello->addr);
	m->fd = shuffle_bind(&hello->addr, SOCK_CLOEXEC);
	if (m->fd < 0) {
		coll_shuffle_say("rank %d of %s: no AF_SHUFFLE socket: %s", m->rank,
				 coll_shuffle_comm_name(m->comm), strerror(errno));
		hello->addr.shs_family = 0;
		return;
	}
	setsockopt(m->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
	if (c->sndbuf > 0)
		setsockopt(m->fd, SOL_SOCKET, SO_SNDBUF, &c->sndbuf, sizeof(c->sndbuf));
	if (c->rcvbuf > 0)
		setsockopt(m->fd, SOL_SOCKET, SO_RCVBUF, &c->rcvbuf, sizeof(c->rcvbuf));
}

static int join(coll_shuffle_module *m)
{
	struct sockaddr_shuffle *members = malloc(m->size * sizeof(*members));
	int i, rc;

	if (!members)
		return -1;
	for (i = 0; i < m->size; i++)
		members[i] = m->hellos[i].addr;
	m->op_base = m->hellos[0].op_base;
	rc = shuffle_join(m->fd, members, m->size, m->rank);
	free(members);
	return rc;
}

/* Begin the trial; NULL: we cannot, and the others will miss us. */
static struct coll_shuffle_op *begin_trial(coll_shuffle_module *m)
{
	struct coll_shuffle_op *op;

	if (join(m)) {
		coll_shuffle_say("rank %d of %s: joining the group: %s", m->rank,
				 coll_shuffle_comm_name(m->comm), strerror(errno));
		return NULL;
	}
	coll_shuffle_progress_begin(m);
	op = coll_shuffle_op_new(m, "trial");
	if (!op)
		return NULL;
	op->trial = true;
	opal_mutex_lock(&m->lock);
	coll_shuffle_op_start_trial(op, TRIAL_MS);
	opal_mutex_unlock(&m->lock);
	return op;
}

/* Who has no socket is seen by all: no trial then. */
static bool hellos_complete(coll_shuffle_module *m)
{
	int i;

	for (i = 0; i < m->size; i++) {
		if (m->hellos[i].addr.shs_family)
			continue;
		decline(m, i, "it has no socket", NULL);
		return false;
	}
	return true;
}

static struct coll_shuffle_verdict verdict_of(coll_shuffle_module *m)
{
	struct coll_shuffle_op *op = m->trial;
	struct coll_shuffle_verdict v = { .missing = -1 };

	if (!op)
		return v;
	v.ok = !op->error;
	if (op->missing)
		v.missing = op->first_missing;
	opal_mutex_lock(&m->lock);
	coll_shuffle_op_release(op);
	opal_mutex_unlock(&m->lock);
	m->trial = NULL;
	return v;
}

/* All verdicts are there: the same conclusion everywhere. */
static void conclude(coll_shuffle_module *m)
{
	const struct coll_shuffle_verdict *v = m->verdicts;
	char text[80];
	int i;

	for (i = 0; i < m->size && v[i].ok; i++)
		;
	if (i < m->size) {
		snprintf(text, sizeof(text), "rank %d (%s)", v[i].missing,
			 v[i].missing >= 0 ? coll_shuffle_host(m, v[i].missing) : "unknown");
		decline(m, i, "it does not reach all others",
			v[i].missing >= 0 && v[i].missing < m->size ? text : NULL);
	} else {
		m->state = COLL_SHUFFLE_READY;
		shuffle_addr_str(&m->hellos[m->rank].addr, text, sizeof(text));
		if (!m->rank)
			coll_shuffle_say("%s: %d ranks over AF_SHUFFLE, rank 0 is at %s",
					 coll_shuffle_comm_name(m->comm), m->size, text);
	}
	free(m->hellos);
	m->hellos = NULL;
	free(m->verdicts);
	m->verdicts = NULL;
}

/* What is queued has been waiting for this. */
static void concluded(coll_shuffle_module *m)
{
	conclude(m);
	opal_mutex_lock(&m->lock);
	coll_shuffle_op_start_queued(m);
	opal_mutex_unlock(&m->lock);
}

static int agree_now(coll_shuffle_module *m, const struct coll_shuffle_hello *hello)
{
	struct coll_shuffle_verdict verdict;
	int rc;

	rc = m->before.coll_allgather(hello, sizeof(*hello), MPI_BYTE, m->hellos, sizeof(*hello),
				      MPI_BYTE, m->comm, m->before.coll_allgather_module);
	if (rc)
		return rc;
	if (!hellos_complete(m))
		return OMPI_SUCCESS;
	m->state = COLL_SHUFFLE_TRYING;
	m->trial = begin_trial(m);
	while (m->trial && !m->trial->complete)
		if (!coll_shuffle_progress(m))
			coll_shuffle_progress_nap(m);
	verdict = verdict_of(m);
	rc = m->before.coll_allgather(&verdict, sizeof(verdict), MPI_BYTE, m->verdicts,
				      sizeof(verdict), MPI_BYTE, m->comm,
				      m->before.coll_allgather_module);
	if (rc)
		return rc;
	conclude(m);
	return OMPI_SUCCESS;
}

static int gather(coll_shuffle_module *m, void *all, int size)
{
	return m->before.coll_iallgather(MPI_IN_PLACE, size, MPI_BYTE, all, size, MPI_BYTE,
					 m->comm, &m->gather, m->before.coll_iallgather_module);
}

/* Without the others nobody can go on: the calls that wait fail. */
static void broken(coll_shuffle_module *m)
{
	opal_mutex_lock(&m->lock);
	m->state = COLL_SHUFFLE_READY;
	coll_shuffle_op_fail_all(m, EHOSTUNREACH);
	opal_mutex_unlock(&m->lock);
}

static bool gathered(coll_shuffle_module *m)
{
	int rc;

	if (!REQUEST_COMPLETE(m->gather))
		return false;
	rc = m->gather->req_status.MPI_ERROR;
	ompi_request_free(&m->gather);
	if (rc)
		broken(m);
	return !rc;
}

void coll_shuffle_agree_step(coll_shuffle_module *m)
{
	if (m->state == COLL_SHUFFLE_GATHERING && gathered(m)) {
		if (hellos_complete(m)) {
			m->trial = begin_trial(m);
			m->state = COLL_SHUFFLE_TRYING;
		} else {
			opal_mutex_lock(&m->lock);
			coll_shuffle_op_start_queued(m);
			opal_mutex_unlock(&m->lock);
		}
	}
	if (m->state == COLL_SHUFFLE_TRYING && (!m->trial || m->trial->complete)) {
		m->verdicts[m->rank] = verdict_of(m);
		m->state = COLL_SHUFFLE_JUDGING;
		if (gather(m, m->verdicts, sizeof(*m->verdicts)))
			broken(m);
	}
	if (m->state == COLL_SHUFFLE_JUDGING && gathered(m))
		concluded(m);
}

static bool agreeing(const coll_shuffle_module *m)
{
	return m->state == COLL_SHUFFLE_GATHERING || m->state == COLL_SHUFFLE_TRYING ||
	       m->state == COLL_SHUFFLE_JUDGING;
}

int coll_shuffle_agree(coll_shuffle_module *m, bool wait)
{
	const struct coll_shuffle_addr *addr;
	struct coll_shuffle_hello hello;
	const char *why = NULL;
	int rc, who;

	if (m->state != COLL_SHUFFLE_NEW)
		goto under_way;
	addr = coll_shuffle_choose(m, &why, &who);
	if (!addr) {
		decline(m, who, why, who == m->rank && !mca_coll_shuffle_component.card.naddrs ?
			mca_coll_shuffle_component.why : NULL);
		return OMPI_SUCCESS;
	}
	/* the buffers must outlive a background gathering */
	m->hellos = calloc(m->size, sizeof(*m->hellos));
	m->verdicts = calloc(m->size, sizeof(*m->verdicts));
	if (!m->hellos || !m->verdicts)
		return OMPI_ERR_OUT_OF_RESOURCE;
	open_socket(m, addr, &hello);
	if (wait)
		return agree_now(m, &hello);
	m->hellos[m->rank] = hello;
	m->state = COLL_SHUFFLE_GATHERING;
	rc = gather(m, m->hellos, sizeof(hello));
	if (rc)
		return rc;
	coll_shuffle_progress_watch(m);
under_way:
	while (wait && agreeing(m))
		opal_progress();
	return OMPI_SUCCESS;
}
