// SPDX-License-Identifier: BSD-3-Clause
/*
 * The first call of a communicator: its members agree whether AF_SHUFFLE carries this call and
 * those to come.
 *
 * 1. choose.c looks at the cards of all members.
 * 2. Each opens a socket; addresses and ports are gathered.
 * 3. A trial: an operation without data, which ends in time only if everybody reaches everybody.
 * 4. Each tells the others how it went, and which racks it knows.  If one of them is not content,
 *    all decline; if they know different ones, all use none.
 *
 * Gathering is done by the allgather of the module before or, when the call must not block, by its
 * iallgather: calls are queued meanwhile.  How the trial went is told by messages: a collective
 * function must be called in the same order by all, and a trial ends at any time.  Their tag is the
 * communicator's next one for non-blocking collectives, taken when the first call begins: all
 * ranks make it in the same place among their collectives, so nothing else ever has that tag.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "coll_shuffle.h"

#include "ompi/mca/pml/pml.h"

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
	coll_shuffle_collectives_close(m);
	m->state = COLL_SHUFFLE_DECLINED;
}

void coll_shuffle_socket_options(int fd)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;
	__u32 idle = c->timeout > 0 ? (__u32)c->timeout * 1000 : 0;

	setsockopt(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
	if (c->sndbuf > 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &c->sndbuf, sizeof(c->sndbuf));
	if (c->rcvbuf > 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &c->rcvbuf, sizeof(c->rcvbuf));
}

/* A socket with a port of its own.  Its address, or family 0, is the hello. */
static void open_socket(coll_shuffle_module *m, const struct coll_shuffle_addr *addr,
			struct coll_shuffle_hello *hello)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;

	memset(hello, 0, sizeof(*hello));
	if (getrandom(&hello->op_base, sizeof(hello->op_base), 0) != sizeof(hello->op_base))
		hello->op_base = (uint64_t)getpid() << 32;
	hello->distrusts = c->distrusts;
	hello->sizes = coll_shuffle_sizes_of(m);
	if (c->distrusts)
		return;
	if (c->keyed && !m->rank) {
		hello->keyed = 1;
		/* without it there is no group either */
		if (getrandom(hello->key, sizeof(hello->key), 0) != sizeof(hello->key))
			return;
	}
	coll_shuffle_collectives_open(m, addr, hello);
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
	coll_shuffle_socket_options(m->fd);
}

static int join(coll_shuffle_module *m)
{
	const struct coll_shuffle_component *c = &mca_coll_shuffle_component;
	struct sockaddr_shuffle *members = malloc(m->size * sizeof(*members));
	int i, rc;

	if (!members)
		return -1;
	for (i = 0; i < m->size; i++)
		members[i] = m->hellos[i].addr;
	m->op_base = m->hellos[0].op_base;
	m->sizes = m->hellos[0].sizes;
	/* that is before anything has gone out, and for all groups of the communicator */
	rc = m->hellos[0].keyed ? setsockopt(m->fd, SOL_SHUFFLE, SHUFFLE_KEY, m->hellos[0].key,
					     SHUFFLE_KEY_BYTES) : 0;
	if (!rc)
		rc = shuffle_join(m->fd, members, m->size, m->rank);
	free(members);
	/* without it packets are not marked: the library has said why */
	if (!rc && c->saba)
		shuffle_saba(m->fd, c->saba, NULL);
	/* who cannot misses the trial, so all decline */
	if (!rc)
		rc = coll_shuffle_collectives_join(m);
	explicit_bzero(m->hellos[0].key, sizeof(m->hellos[0].key));
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
		decline(m, i, m->hellos[i].distrusts ? "it has not reached all others before" :
						       "it has no socket", NULL);
		return false;
	}
	return true;
}

static void end_trial(coll_shuffle_module *m)
{
	struct coll_shuffle_op *op = m->trial;

	m->mine = (struct coll_shuffle_verdict){
		.who = m->rank,
		.missing = -1,
		.racks = m->members.racks,
	};
	if (op && !op->error)
		m->mine.who = INT32_MAX;
	if (op && op->missing)
		m->mine.missing = op->first_missing;
	if (!op)
		return;
	opal_mutex_lock(&m->lock);
	coll_shuffle_op_release(op);
	opal_mutex_unlock(&m->lock);
	m->trial = NULL;
}

/* Tables of racks differ between the hosts: plans must not, so all do without. */
static void no_racks(coll_shuffle_module *m)
{
	if (!m->rank)
		coll_shuffle_say("%s: its ranks know different racks: none are used",
				 coll_shuffle_comm_name(m->comm));
	coll_shuffle_members_no_racks(&m->members);
}

/* All verdicts are known: the same conclusion everywhere. */
static void conclude(coll_shuffle_module *m)
{
	const struct coll_shuffle_verdict *v = &m->mine;
	char text[80];

	if (v->who < m->size) {
		mca_coll_shuffle_component.distrusts = true;
		if (v->missing >= 0 && v->missing < m->size)
			snprintf(text, sizeof(text), "rank %d (%s)", v->missing,
				 coll_shuffle_host(m, v->missing));
		decline(m, v->who, "it does not reach all others", v->missing >= 0 ? text : NULL);
	} else {
		m->state = COLL_SHUFFLE_READY;
		shuffle_addr_str(&m->hellos[m->rank].addr, text, sizeof(text));
		if (!m->rank)
			coll_shuffle_say("%s: %d ranks over AF_SHUFFLE, rank 0 is at %s%s",
					 coll_shuffle_comm_name(m->comm), m->size, text,
					 m->hellos[0].keyed ? ", with a key" : "");
		if (v->racks_differ)
			no_racks(m);
	}
	opal_mutex_lock(&m->lock);
	coll_shuffle_op_start_queued(m);
	opal_mutex_unlock(&m->lock);
}

/* Without the others nobody can go on: the calls that wait fail. */
static void broken(coll_shuffle_module *m)
{
	opal_mutex_lock(&m->lock);
	m->state = COLL_SHUFFLE_READY;
	if (m->members.coll)
		shuffle_coll_abort(m->members.coll, EHOSTUNREACH);
	coll_shuffle_op_fail_all(m, EHOSTUNREACH);
	opal_mutex_unlock(&m->lock);
}

/* In round k to the one 2^k further, from the one 2^k before: after log2(n) rounds each has heard
 * of all.  It does not matter that some are heard of twice.
 */
static int post_verdict(coll_shuffle_module *m)
{
	int to = (m->rank + m->distance) % m->size;
	int from = (m->rank - m->distance + m->size) % m->size;
	int rc;

	rc = MCA_PML_CALL(irecv(&m->theirs, sizeof(m->theirs), MPI_BYTE, from, m->tag, m->comm,
				&m->judging[0]));
	return rc ?: MCA_PML_CALL(isend(&m->mine, sizeof(m->mine), MPI_BYTE, to, m->tag,
					MCA_PML_BASE_SEND_STANDARD, m->comm, &m->judging[1]));
}

static bool verdict_has_come(coll_shuffle_module *m)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!REQUEST_COMPLETE(m->judging[i]))
			return false;
	for (i = 0; i < 2; i++)
		ompi_request_free(&m->judging[i]);
	if (m->theirs.who < m->mine.who) {
		m->mine.who = m->theirs.who;
		m->mine.missing = m->theirs.missing;
	}
	m->mine.racks_differ |= m->theirs.racks_differ || m->theirs.racks != m->mine.racks;
	m->distance *= 2;
	return true;
}

static void begin_judging(coll_shuffle_module *m)
{
	end_trial(m);
	m->distance = 1;
	m->state = COLL_SHUFFLE_JUDGING;
	if (post_verdict(m))
		broken(m);
}

static void judge(coll_shuffle_module *m)
{
	while (verdict_has_come(m)) {
		if (m->distance >= m->size) {
			conclude(m);
			return;
		}
		if (post_verdict(m)) {
			broken(m);
			return;
		}
	}
}

static bool trial_has_ended(const coll_shuffle_module *m)
{
	return !m->trial || m->trial->complete;
}

/* In the background all hellos have come. */
static void gathered(coll_shuffle_module *m)
{
	int rc = m->gather->req_status.MPI_ERROR;

	ompi_request_free(&m->gather);
	if (rc) {
		broken(m);
	} else if (hellos_complete(m)) {
		m->trial = begin_trial(m);
		m->state = COLL_SHUFFLE_TRYING;
	} else {
		opal_mutex_lock(&m->lock);
		coll_shuffle_op_start_queued(m);
		opal_mutex_unlock(&m->lock);
	}
}

void coll_shuffle_agree_step(coll_shuffle_module *m)
{
	if (m->state == COLL_SHUFFLE_GATHERING && REQUEST_COMPLETE(m->gather))
		gathered(m);
	if (m->state == COLL_SHUFFLE_TRYING && trial_has_ended(m))
		begin_judging(m);
	if (m->state == COLL_SHUFFLE_JUDGING)
		judge(m);
}

static bool agreeing(const coll_shuffle_module *m)
{
	return m->state == COLL_SHUFFLE_GATHERING || m->state == COLL_SHUFFLE_TRYING ||
	       m->state == COLL_SHUFFLE_JUDGING;
}

/* 0, or an error; the state is READY or DECLINED then. */
static int agree_now(coll_shuffle_module *m, const struct coll_shuffle_hello *hello)
{
	int rc;

	/* it may be made from other collectives of the communicator */
	m->beginning = true;
	rc = COLL_SHUFFLE_BEFORE_BLOCKING(m, allgather, hello, sizeof(*hello), MPI_BYTE, m->hellos,
					  sizeof(*hello), MPI_BYTE, m->comm);
	m->beginning = false;
	if (rc || !hellos_complete(m))
		return rc;
	m->trial = begin_trial(m);
	while (!trial_has_ended(m))
		if (!coll_shuffle_progress(m))
			coll_shuffle_progress_nap(m);
	begin_judging(m);
	while (agreeing(m)) {
		opal_progress();
		coll_shuffle_agree_step(m);
	}
	return OMPI_SUCCESS;
}

/* The others have not been heard: a later call begins again. */
static int give_up(coll_shuffle_module *m, int rc)
{
	coll_shuffle_collectives_close(m);
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	shuffle_rx_free(&m->rx);
	free(m->hellos);
	m->hellos = NULL;
	m->state = COLL_SHUFFLE_NEW;
	return rc;
}

void coll_shuffle_agree_close(coll_shuffle_module *m)
{
	struct coll_shuffle_op *op = m->trial;

	if (!op)
		return;
	/* nobody will ask how it went */
	opal_mutex_lock(&m->lock);
	op->ended |= !op->threaded;
	opal_mutex_unlock(&m->lock);
	end_trial(m);
}

/* The first call decides.  @wait: it may wait for the others. */
static int begin(coll_shuffle_module *m, bool wait)
{
	const char *here = mca_coll_shuffle_component.why;
	struct coll_shuffle_hello hello;
	int rc;

	coll_shuffle_choose(m);
	if (!m->addr) {
		decline(m, m->who, m->why,
			m->who == m->rank && !mca_coll_shuffle_component.card.naddrs ? here : NULL);
		coll_shuffle_before_give_back_exchanges(m);
		m->settled = true;
		return OMPI_SUCCESS;
	}
	/* the buffers must outlive a background gathering */
	m->hellos = calloc(m->size, sizeof(*m->hellos));
	if (!m->hellos)
		return OMPI_ERR_OUT_OF_RESOURCE;
	m->tag = ompi_coll_base_nbc_reserve_tags(m->comm, 1);
	open_socket(m, m->addr, &hello);
	if (wait) {
		rc = agree_now(m, &hello);
		return rc ? give_up(m, rc) : rc;
	}
	m->hellos[m->rank] = hello;
	m->state = COLL_SHUFFLE_GATHERING;
	rc = COLL_SHUFFLE_BEFORE(m, iallgather, MPI_IN_PLACE, sizeof(hello), MPI_BYTE, m->hellos,
				 sizeof(hello), MPI_BYTE, m->comm, &m->gather);
	if (rc)
		return give_up(m, rc);
	coll_shuffle_progress_watch(m);
	return OMPI_SUCCESS;
}

int coll_shuffle_agree(coll_shuffle_module *m, bool wait)
{
	int rc = OMPI_SUCCESS;

	if (m->state == COLL_SHUFFLE_NEW)
		rc = begin(m, wait);
	if (rc || !wait)
		return rc;
	while (agreeing(m))
		opal_progress();
	m->settled = true;
	return OMPI_SUCCESS;
}
