// SPDX-License-Identifier: BSD-3-Clause
/*
 * The first call of a communicator: its members agree whether AF_SHUFFLE carries this call and
 * those to come, and by which of the networks that they have in common.
 *
 * 1. choose.c looks at the cards of all members, and lists networks.
 * 2. Each opens a socket in the first network; addresses and ports are gathered.
 * 3. A trial: an operation without data, which ends in time only if everybody reaches everybody.
 *    Where all members know of one that they have passed together (proven.c), they do without.
 * 4. Each tells the others how it goes, and which racks it knows.  If they know different ones, all
 *    use none.  If one of them is not content, the trial goes on, for a member on a busy host may
 *    just have been late: now all are known to have begun it, and the rest is their kernels' work.
 * 5. If one of them is still not content, 2 begins again with the next network.  Without another
 *    one all decline.
 *
 * Hellos and verdicts are told by messages, and not by collectives: a collective function must be
 * called in the same order by all, and a trial ends at any time.  Their tag is the communicator's
 * next one for non-blocking collectives, taken when the first call begins: all ranks make it in the
 * same place among their collectives, so nothing else ever has that tag.  Each step ends everywhere
 * before the next one begins, and messages of a tag stay in order.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "coll_shuffle.h"

#include "ompi/mca/pml/pml.h"

/* A trial takes a round trip.  So long it is waited for before all tell how it goes, and after. */
static const int wait_ms[] = { 100, 200 };
#define WAITS		((int)(sizeof(wait_ms) / sizeof(wait_ms[0])))

/* So long a network in which a trial has failed is not tried again. */
#define DISTRUST_NS	10000000000ULL

uint64_t coll_shuffle_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Until when our address in the network that is tried is not trusted */
static uint64_t *distrusted_until(const coll_shuffle_module *m)
{
	struct coll_shuffle_component *c = &mca_coll_shuffle_component;

	return &c->distrusted_until[m->addr[m->net] - c->card.addr];
}

static void close_sockets(coll_shuffle_module *m)
{
	coll_shuffle_collectives_close(m);
	if (m->fd >= 0) {
		/* the trial */
		opal_mutex_lock(&m->lock);
		coll_shuffle_op_reap(m);
		opal_mutex_unlock(&m->lock);
		coll_shuffle_progress_end(m);
		close(m->fd);
		m->fd = -1;
	}
	shuffle_rx_free(&m->rx);
}

static void decline(coll_shuffle_module *m, int who, const char *what, const char *more)
{
	if (!m->rank || who == m->rank)
		coll_shuffle_say("%s: declined: rank %d (%s): %s%s%s",
				 coll_shuffle_comm_name(m->comm), who, coll_shuffle_host(m, who),
				 what, more ? ": " : "", more ? more : "");
	close_sockets(m);
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
	hello->distrusts = coll_shuffle_now_ns() < *distrusted_until(m);
	if (hello->distrusts)
		return;
	hello->proven = coll_shuffle_proven(m);
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

static void wait_for_trial(coll_shuffle_module *m)
{
	m->state = COLL_SHUFFLE_TRYING;
	m->wait_until = coll_shuffle_now_ns() + wait_ms[m->waits] * 1000000ULL;
}

/* Have all members passed the same trial? */
static bool all_proven(const coll_shuffle_module *m)
{
	int i;

	for (i = 0; i < m->size && m->hellos[i].proven == m->hellos[0].proven; i++)
		;
	return i == m->size && m->hellos[0].proven;
}

/* Without an operation of ours the others miss us. */
static void begin_trial(coll_shuffle_module *m)
{
	struct coll_shuffle_op *op;

	m->own = (struct coll_shuffle_verdict){
		.who = m->rank,
		.missing = -1,
		.misses = m->size,
	};
	m->waits = 0;
	wait_for_trial(m);
	if (join(m)) {
		coll_shuffle_say("rank %d of %s: joining the group: %s", m->rank,
				 coll_shuffle_comm_name(m->comm), strerror(errno));
		return;
	}
	m->own.racks = m->members.racks;
	coll_shuffle_progress_begin(m);
	if (all_proven(m)) {
		/* when all have said that they have joined, the first call may begin */
		m->own.who = INT32_MAX;
		m->own.misses = 0;
		return;
	}
	op = coll_shuffle_op_new(m, "trial");
	if (!op)
		return;
	op->trial = true;
	m->trial = op;
	opal_mutex_lock(&m->lock);
	coll_shuffle_op_start_trial(op);
	opal_mutex_unlock(&m->lock);
}

/* Nothing is waited for any more: its end says what was missed. */
static void give_up_trial(coll_shuffle_module *m)
{
	opal_mutex_lock(&m->lock);
	if (!m->trial->ended && !m->trial->error)
		shuffle_cancel(m->fd, m->trial->id);
	opal_mutex_unlock(&m->lock);
}

static bool trial_has_ended(coll_shuffle_module *m)
{
	if (!m->trial || m->trial->complete)
		return true;
	if (coll_shuffle_now_ns() < m->wait_until)
		return false;
	if (m->waits + 1 < WAITS)
		return true;
	give_up_trial(m);
	m->wait_until = UINT64_MAX;
	return false;
}

static void end_trial(coll_shuffle_module *m)
{
	struct coll_shuffle_op *op = m->trial;

	if (!op->error)
		m->own.who = INT32_MAX;
	m->own.missing = op->missing ? op->first_missing : -1;
	m->own.misses = op->missing;
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

static void settle(coll_shuffle_module *m)
{
	opal_mutex_lock(&m->lock);
	coll_shuffle_op_start_queued(m);
	opal_mutex_unlock(&m->lock);
}

static void gather(coll_shuffle_module *m);

/* This network does not do, and all know it: the next one, or none. */
static void next_network(coll_shuffle_module *m, int who, const char *what, const char *more)
{
	struct sockaddr_shuffle mine;
	char text[80];

	if (m->net + 1 == m->naddrs) {
		decline(m, who, what, more);
		settle(m);
		return;
	}
	if (!m->rank && !m->hellos[who].distrusts) {
		coll_shuffle_addr_of(m->addr[m->net], &mine);
		shuffle_addr_str(&mine, text, sizeof(text));
		coll_shuffle_say("%s: not in the network of %s: rank %d (%s): %s%s%s",
				 coll_shuffle_comm_name(m->comm), text, who,
				 coll_shuffle_host(m, who), what, more ? ": " : "",
				 more ? more : "");
	}
	close_sockets(m);
	m->net++;
	gather(m);
}

/* All verdicts are known: the same conclusion everywhere. */
static void conclude(coll_shuffle_module *m)
{
	const struct coll_shuffle_verdict *v = &m->mine;
	char text[80];

	if (v->who >= m->size) {
		m->state = COLL_SHUFFLE_READY;
		if (!all_proven(m))
			coll_shuffle_prove(m);
		shuffle_addr_str(&m->hellos[m->rank].addr, text, sizeof(text));
		if (!m->rank)
			coll_shuffle_say("%s: %d ranks over AF_SHUFFLE, rank 0 is at %s%s",
					 coll_shuffle_comm_name(m->comm), m->size, text,
					 m->hellos[0].keyed ? ", with a key" : "");
		if (v->racks_differ)
			no_racks(m);
		settle(m);
		return;
	}
	if (++m->waits < WAITS) {
		wait_for_trial(m);
		return;
	}
	*distrusted_until(m) = coll_shuffle_now_ns() + DISTRUST_NS;
	if (v->missing >= 0 && v->missing < m->size)
		snprintf(text, sizeof(text), "rank %d (%s)", v->missing,
			 coll_shuffle_host(m, v->missing));
	next_network(m, v->who, "it does not reach all others", v->missing >= 0 ? text : NULL);
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

/* The two messages of a round. */
static void post(coll_shuffle_module *m, const void *out, int to, void *in, int from, size_t size)
{
	int rc;

	rc = MCA_PML_CALL(irecv(in, size, MPI_BYTE, from, m->tag, m->comm, &m->round[0]));
	if (!rc)
		rc = MCA_PML_CALL(isend(out, size, MPI_BYTE, to, m->tag,
					MCA_PML_BASE_SEND_STANDARD, m->comm, &m->round[1]));
	if (rc)
		broken(m);
}

static bool round_has_ended(coll_shuffle_module *m)
{
	int i, rc = 0;

	for (i = 0; i < 2; i++)
		if (!REQUEST_COMPLETE(m->round[i]))
			return false;
	for (i = 0; i < 2; i++) {
		rc = rc ?: m->round[i]->req_status.MPI_ERROR;
		ompi_request_free(&m->round[i]);
	}
	if (rc)
		broken(m);
	return !rc;
}

/* In round k to the one 2^k further, from the one 2^k before: after log2(n) rounds each has heard
 * of all.  It does not matter that some are heard of twice.
 */
static void post_verdict(coll_shuffle_module *m)
{
	post(m, &m->mine, (m->rank + m->distance) % m->size, &m->theirs,
	     (m->rank - m->distance + m->size) % m->size, sizeof(m->mine));
}

static void begin_judging(coll_shuffle_module *m)
{
	if (m->trial && m->trial->complete)
		end_trial(m);
	m->mine = m->own;
	m->distance = 1;
	m->state = COLL_SHUFFLE_JUDGING;
	post_verdict(m);
}

static void judge(coll_shuffle_module *m)
{
	if (m->theirs.misses > m->mine.misses ||
	    (m->theirs.misses == m->mine.misses && m->theirs.who < m->mine.who)) {
		m->mine.who = m->theirs.who;
		m->mine.missing = m->theirs.missing;
		m->mine.misses = m->theirs.misses;
	}
	m->mine.racks_differ |= m->theirs.racks_differ || m->theirs.racks != m->mine.racks;
	m->distance *= 2;
	if (m->distance < m->size)
		post_verdict(m);
	else
		conclude(m);
}

/* Hellos are kept from our own on, in the order of ranks: in round k those of the next 2^k ranks
 * are here and go to the one 2^k before (Bruck).
 */
static void post_hellos(coll_shuffle_module *m)
{
	int n = m->size - m->distance < m->distance ? m->size - m->distance : m->distance;

	post(m, m->hellos, (m->rank - m->distance + m->size) % m->size, m->hellos + m->distance,
	     (m->rank + m->distance) % m->size, n * sizeof(*m->hellos));
}

static void gather(coll_shuffle_module *m)
{
	m->state = COLL_SHUFFLE_GATHERING;
	m->distance = 1;
	open_socket(m, m->addr[m->net], &m->hellos[0]);
	post_hellos(m);
}

static void reverse(struct coll_shuffle_hello *first, struct coll_shuffle_hello *end)
{
	while (first < --end) {
		struct coll_shuffle_hello h = *first;

		*first++ = *end;
		*end = h;
	}
}

/* A round of hellos has ended.  Who has no socket is seen by all: no trial then. */
static void gathered(coll_shuffle_module *m)
{
	struct coll_shuffle_hello *h = m->hellos;
	int i;

	m->distance *= 2;
	if (m->distance < m->size) {
		post_hellos(m);
		return;
	}
	/* from rank 0 on */
	reverse(h, h + m->size);
	reverse(h, h + m->rank);
	reverse(h + m->rank, h + m->size);
	for (i = 0; i < m->size && h[i].addr.shs_family; i++)
		;
	if (i == m->size)
		begin_trial(m);
	else
		next_network(m, i, h[i].distrusts ? "it has not reached all others before" :
						    "it has no socket", NULL);
}

void coll_shuffle_agree_step(coll_shuffle_module *m)
{
	while (m->state == COLL_SHUFFLE_GATHERING && round_has_ended(m))
		gathered(m);
	if (m->state == COLL_SHUFFLE_TRYING && trial_has_ended(m))
		begin_judging(m);
	while (m->state == COLL_SHUFFLE_JUDGING && round_has_ended(m))
		judge(m);
}

static bool agreeing(const coll_shuffle_module *m)
{
	return m->state == COLL_SHUFFLE_GATHERING || m->state == COLL_SHUFFLE_TRYING ||
	       m->state == COLL_SHUFFLE_JUDGING;
}

/* The state is READY or DECLINED then. */
static void agree_now(coll_shuffle_module *m)
{
	while (agreeing(m)) {
		/* begun by a call that did not wait: progress does it, perhaps another thread's */
		if (m->watched) {
			opal_progress();
			continue;
		}
		/* nothing else comes, and it may take long */
		if (m->state == COLL_SHUFFLE_TRYING && !trial_has_ended(m) &&
		    !coll_shuffle_progress(m))
			coll_shuffle_progress_nap(m);
		else
			opal_progress();
		coll_shuffle_agree_step(m);
	}
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

/* The first call decides. */
static int begin(coll_shuffle_module *m)
{
	const char *here = mca_coll_shuffle_component.why;

	coll_shuffle_choose(m);
	if (!m->naddrs) {
		decline(m, m->who, m->why,
			m->who == m->rank && !mca_coll_shuffle_component.card.naddrs ? here : NULL);
		coll_shuffle_before_give_back_exchanges(m);
		m->settled = true;
		return OMPI_SUCCESS;
	}
	m->hellos = calloc(m->size, sizeof(*m->hellos));
	if (!m->hellos)
		return OMPI_ERR_OUT_OF_RESOURCE;
	m->tag = ompi_coll_base_nbc_reserve_tags(m->comm, 1);
	gather(m);
	return OMPI_SUCCESS;
}

int coll_shuffle_agree(coll_shuffle_module *m, bool wait)
{
	int rc = m->state == COLL_SHUFFLE_NEW ? begin(m) : OMPI_SUCCESS;

	if (rc)
		return rc;
	if (wait) {
		agree_now(m);
		m->settled = true;
	} else if (agreeing(m)) {
		coll_shuffle_progress_watch(m);
	}
	return OMPI_SUCCESS;
}
