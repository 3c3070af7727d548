// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waiting.  The socket of every communicator is an event of Open MPI's event loop, so
 * whoever makes progress there makes it here.  A blocking call sleeps in that loop
 * until something happens to any of the process's sockets, but at most a tick: what
 * Open MPI polls (shared memory) tells nobody when it is ready.  Before that it lets
 * others run, a few times.
 *
 * With several threads in MPI there is no one to sleep in the loop for all: a blocking
 * call takes its socket out of the loop and sleeps on it.
 */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coll_shuffle.h"

#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

#define TICK_MS		1
/* How often a call gives the processor away before it sleeps */
#define YIELDS		4

static opal_event_t tick;
static bool tick_set, tick_pending;

static void ticked(int fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	tick_pending = false;
}

static void finish(coll_shuffle_request *req)
{
	coll_shuffle_request *next;

	for (; req; req = next) {
		ompi_communicator_t *comm = req->super.super.req_mpi_object.comm;

		next = req->next;
		ompi_request_complete(&req->super.super, true);
		/* perhaps the last that kept it */
		OBJ_RELEASE(comm);
	}
}

/* One system call's worth of records; returns how many. */
static int step(coll_shuffle_module *m)
{
	int n = m->fd < 0 ? 0 : shuffle_rx_step(m->fd, &m->rx, MSG_DONTWAIT);

	if (n >= 0)
		return n;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	coll_shuffle_complain("rank %d of %s: receiving: %s", m->rank,
			      coll_shuffle_comm_name(m->comm), strerror(errno));
	coll_shuffle_op_fail_all(m, errno);
	return 0;
}

void coll_shuffle_progress_reap(coll_shuffle_module *m)
{
	coll_shuffle_request *done;

	opal_mutex_lock(&m->lock);
	done = coll_shuffle_op_reap(m);
	opal_mutex_unlock(&m->lock);
	finish(done);
}

int coll_shuffle_progress(coll_shuffle_module *m)
{
	coll_shuffle_request *done;
	int n;

	if (opal_mutex_trylock(&m->lock))
		return 0;
	n = step(m);
	coll_shuffle_op_start_queued(m);
	done = coll_shuffle_op_reap(m);
	opal_mutex_unlock(&m->lock);
	finish(done);
	return n;
}

/* Modules with something that no event tells of: they are looked after whenever somebody makes
 * progress.  A callback of the requests would be simpler, but one that completes in another thread
 * meanwhile would never call it.
 */
static opal_mutex_t watch_lock = OPAL_MUTEX_STATIC_INIT;
static coll_shuffle_module *watched;
static bool watching;

/* Is there anything left to look after? */
static bool busy(coll_shuffle_module *m)
{
	struct coll_shuffle_op *op;
	bool found;

	if (m->state != COLL_SHUFFLE_READY && m->state != COLL_SHUFFLE_DECLINED)
		return true;
	if (m->later)
		return true;
	opal_mutex_lock(&m->lock);
	/* what is queued starts when others have ended, and perhaps nothing else tells of that */
	found = m->let_go || m->lines[0].first || m->lines[1].first;
	for (op = m->ops; op && !found; op = op->next)
		found = op->np2p && op->req;
	if (!found)
		m->watched = false;
	opal_mutex_unlock(&m->lock);
	return found;
}

static int watch(void)
{
	coll_shuffle_module *m, *all, *next;
	ompi_communicator_t *comm;

	if (!watched || opal_mutex_trylock(&watch_lock))
		return 0;
	/* what is called here may watch a module, or get here again */
	all = watched;
	watched = NULL;
	opal_mutex_unlock(&watch_lock);
	for (m = all; m; m = next) {
		next = m->next_watched;
		coll_shuffle_agree_step(m);
		coll_shuffle_later_step(m);
		if (m->state == COLL_SHUFFLE_READY || m->state == COLL_SHUFFLE_DECLINED)
			coll_shuffle_progress(m);
		coll_shuffle_persistent_step(m);
		if (!busy(m)) {
			comm = m->comm;
			/* perhaps the last that kept them */
			OBJ_RELEASE(m);
			OBJ_RELEASE(comm);
			continue;
		}
		opal_mutex_lock(&watch_lock);
		m->next_watched = watched;
		watched = m;
		opal_mutex_unlock(&watch_lock);
	}
	return 0;
}

void coll_shuffle_progress_watch(coll_shuffle_module *m)
{
	if (m->watched)
		return;
	m->watched = true;
	/* the program may free its communicator while a call is under way: messages still come and
	 * go by it then, and what is wrong is said with its name
	 */
	OBJ_RETAIN(m);
	OBJ_RETAIN(m->comm);
	opal_mutex_lock(&watch_lock);
	m->next_watched = watched;
	watched = m;
	if (!watching)
		opal_progress_register(watch);
	watching = true;
	opal_mutex_unlock(&watch_lock);
}

void coll_shuffle_progress_close(void)
{
	coll_shuffle_module *m;

	while ((m = watched)) {
		watched = m->next_watched;
		OBJ_RELEASE(m);
	}
	if (watching)
		opal_progress_unregister(watch);
	watching = false;
	if (tick_set)
		opal_event_evtimer_del(&tick);
	tick_set = false;
}

static void readable(int fd, short what, void *arg)
{
	coll_shuffle_module *m = arg;

	(void)fd;
	(void)what;
	/* Whoever leaves it unread makes the loop start again, for ever. */
	coll_shuffle_progress(m);
}

void coll_shuffle_progress_begin(coll_shuffle_module *m)
{
	opal_event_set(opal_sync_event_base, &m->event, m->fd, OPAL_EV_READ | OPAL_EV_PERSIST,
		       readable, m);
	m->event_added = !opal_event_add(&m->event, NULL);
}

void coll_shuffle_progress_end(coll_shuffle_module *m)
{
	if (m->event_added)
		opal_event_del(&m->event);
	m->event_added = false;
}

/* Sleep in Open MPI's event loop. */
static void sleep_in_loop(void)
{
	struct timeval tv = { .tv_usec = TICK_MS * 1000 };
	bool yield;
	int flag;

	if (!tick_set) {
		opal_event_evtimer_set(opal_sync_event_base, &tick, ticked, NULL);
		tick_set = true;
	}
	if (!tick_pending) {
		opal_event_evtimer_add(&tick, &tv);
		tick_pending = true;
	}
	flag = opal_progress_set_event_flag(OPAL_EVLOOP_ONCE);
	yield = opal_progress_set_yield_when_idle(false);
	opal_progress_event_users_increment();
	opal_progress();
	opal_progress_event_users_decrement();
	opal_progress_set_yield_when_idle(yield);
	opal_progress_set_event_flag(flag);
}

static void sleep_on_socket(coll_shuffle_module *m)
{
	struct pollfd pfd = { .fd = m->fd, .events = POLLIN };

	if (poll(&pfd, 1, TICK_MS) > 0)
		coll_shuffle_progress(m);
	else
		opal_progress();
}

void coll_shuffle_progress_nap(coll_shuffle_module *m)
{
	if (opal_using_threads() || !m->event_added)
		sleep_on_socket(m);
	else
		sleep_in_loop();
}

int coll_shuffle_progress_wait(coll_shuffle_module *m, struct coll_shuffle_op *op)
{
	bool alone;
	int rc, yields = 0;

	/* Were another thread to read what comes, this one would not notice at once.
	 * Non-blocking calls need the event, though.
	 */
	opal_mutex_lock(&m->lock);
	alone = opal_using_threads() && !m->background && m->event_added;
	opal_mutex_unlock(&m->lock);
	if (alone)
		opal_event_del(&m->event);

	/* ends of earlier calls: in one go with what has come already */
	if (m->unread)
		coll_shuffle_progress(m);
	while (!op->complete) {
		if (op->ended) {
			/* nothing of it comes by the socket, and perhaps nothing at all */
			coll_shuffle_progress_reap(m);
			if (!op->complete)
				opal_progress();
			continue;
		}
		/* Who shares a processor with those it waits for finds more of the column
		 * when it has its turn again than when the first message wakes it.
		 */
		if (yields < YIELDS) {
			sched_yield();
			yields = coll_shuffle_progress(m) ? 0 : yields + 1;
			continue;
		}
		/* shared memory tells nobody when something comes */
		if (op->np2p) {
			opal_progress();
			coll_shuffle_progress(m);
		} else {
			coll_shuffle_progress_nap(m);
		}
	}

	if (alone)
		opal_event_add(&m->event, NULL);

	opal_mutex_lock(&m->lock);
	rc = coll_shuffle_op_result(op);
	coll_shuffle_op_release(op);
	opal_mutex_unlock(&m->lock);
	return rc;
}

void coll_shuffle_progress_drain(coll_shuffle_module *m)
{
	struct pollfd pfd = { .fd = m->fd, .events = POLLIN };

	opal_mutex_lock(&m->lock);
	/* it acknowledges nothing any more */
	if (m->gone >= 0)
		coll_shuffle_op_cancel(m, true);
	opal_mutex_unlock(&m->lock);
	/* every rank comes here: what each owes the others goes now, and nobody waits for a delayed
	 * ACK; older kernel modules refuse, and it goes 5 ms later
	 */
	shutdown(m->fd, SHUT_WR);
	while (m->ops) {
		if (ompi_mpi_state < OMPI_MPI_STATE_FINALIZE_STARTED)
			opal_progress();
		/* the last records have been read, perhaps, and poll() has nothing more to tell */
		coll_shuffle_progress(m);
		if (m->ops)
			poll(&pfd, 1, 10 * TICK_MS);
	}
}
