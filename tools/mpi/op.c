// SPDX-License-Identifier: BSD-3-Clause
/*
 * One call: an operation on the socket of its communicator.
 *
 * For the caller it is complete when its column has arrived and its row is not needed any
 * more.  The operation lives on until the kernel says that all has been acknowledged; that
 * record is read in passing, by later calls.
 *
 * A row that the send buffer holds is sent by one system call that does not wait.  A
 * larger one needs a call that blocks, which copies it in the order of the schedule: it
 * gets a thread for as long as that takes.
 */
#include <stdlib.h>
#include <string.h>

#include "coll_shuffle.h"

#include "opal/runtime/opal_progress.h"

/* The kernel runs 1024 operations on a socket; leave room.  A place for each persistent request
 * (numbers.c) and for some whose last start has not been acknowledged.
 */
#define MAX_ONCE	512
#define MAX_AGAIN	(COLL_SHUFFLE_MAX_REQUESTS + 128)
/* Messages of which more is left are received into place */
#define LARGE		(32U << 10)
/* Rows of which an ACK may wait: several of them fit any send buffer */
#define DELAYED_BYTES	(32U << 10)
#define HEAD_SMALL	4096U
#define HEAD_LARGE	(64U << 10)

struct coll_shuffle_op *coll_shuffle_op_new(coll_shuffle_module *m, const char *call)
{
	struct coll_shuffle_op *op;
	size_t n = m->size, words = (n + 63) / 64;
	char *at;

	opal_mutex_lock(&m->lock);
	op = m->spare;
	m->spare = NULL;
	opal_mutex_unlock(&m->lock);
	if (!op) {
		op = malloc(sizeof(*op) +
			    n * (sizeof(*op->bufs) + sizeof(*op->lens) + sizeof(*op->in)) +
			    words * sizeof(*op->absent));
		if (!op)
			return NULL;
	}
	memset(op, 0, sizeof(*op));
	at = (char *)(op + 1);
	op->in = (void *)at;
	at += n * sizeof(*op->in);
	op->lens = (void *)at;
	at += n * sizeof(*op->lens);
	op->absent = (void *)at;
	memset(op->absent, 0, words * sizeof(*op->absent));
	at += words * sizeof(*op->absent);
	op->bufs = (void *)at;
	op->module = m;
	op->call = call;
	return op;
}

/* What only the caller's part needs. */
static void release_buffers(struct coll_shuffle_op *op)
{
	int i;

	free(op->packed);
	op->packed = NULL;
	free(op->p2p);
	op->p2p = NULL;
	if (op->from.parts)
		coll_shuffle_parts_let_go(&op->from, &op->to);
	if (!op->convs)
		return;
	for (i = 0; i < op->module->size; i++)
		if (op->in[i].conv)
			OBJ_DESTRUCT(op->in[i].conv);
	free(op->convs);
	op->convs = NULL;
}

void coll_shuffle_op_free(struct coll_shuffle_op *op)
{
	coll_shuffle_module *m = op->module;

	release_buffers(op);
	if (m->spare)
		free(op);
	else
		m->spare = op;
}

static void *sender(void *arg)
{
	struct coll_shuffle_op *op = arg;

	if (shuffle_tx_finish(op->module->fd, &op->tx)) {
		op->tx_error = errno;
		/* so that there is an end to hear of */
		shuffle_cancel(op->module->fd, op->id);
	}
	return NULL;
}

/* Ended without the kernel: nothing was started. */
static void fail(struct coll_shuffle_op *op, int error)
{
	op->error = error;
	op->ended = true;
}

/* Bytes of the row for the first ranks. */
static uint64_t row_bytes(const struct coll_shuffle_op *op, unsigned int ranks)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < ranks; i++)
		n += op->lens[i] == SHUFFLE_ABSENT ? 0 : op->lens[i];
	return n;
}

/* 0: what can be done without waiting has been done, and all of it if tx.rank says so. */
static int send_row(struct coll_shuffle_op *op)
{
	coll_shuffle_module *m = op->module;
	int rc;

	if (shuffle_tx_fits(m->fd, &op->tx)) {
		/* a call is complete before that; what is long would fill the send buffer */
		if (!op->trial && row_bytes(op, op->tx.count) <= DELAYED_BYTES)
			shuffle_tx_delayed_ack(&op->tx);
		return shuffle_tx_step(m->fd, &op->tx) < 0 ? -1 : 0;
	}
	do
		rc = shuffle_tx_announce(m->fd, &op->tx);
	while (!rc);
	/* a thread does the rest */
	return rc < 0 ? -1 : 0;
}

static struct coll_shuffle_line *line_of(const struct coll_shuffle_op *op)
{
	return &op->module->lines[!!(op->number & COLL_SHUFFLE_PERSISTENT)];
}

static struct coll_shuffle_op *dequeue(struct coll_shuffle_line *line)
{
	struct coll_shuffle_op *op = line->first;

	line->first = op->next;
	if (!line->first)
		line->end = &line->first;
	return op;
}

/* It is one of those that are under way. */
static void under_way(struct coll_shuffle_op *op)
{
	op->next = op->module->ops;
	op->module->ops = op;
	line_of(op)->under_way++;
}

static void into_kernel(struct coll_shuffle_op *op)
{
	coll_shuffle_module *m = op->module;
	int rc;

	op->id = m->op_base + op->number;
	shuffle_tx_init(&op->tx, op->id, op->bufs, op->lens, m->size, 0);
	shuffle_tx_absent(&op->tx, op->absent);
	under_way(op);

	rc = send_row(op);
	if (!rc && op->tx.rank == op->tx.count)
		return;
	if (!rc) {
		op->threaded = true;
		rc = -pthread_create(&op->thread, NULL, sender, op);
		if (!rc)
			return;
		op->threaded = false;
		errno = -rc;
	}
	rc = errno;
	/* it has begun and failed at once: records will say why */
	if (rc == EPIPE)
		return;
	if (op->tx.announced && !shuffle_cancel(m->fd, op->id))
		op->tx_error = rc;
	else
		fail(op, rc);
}

/* The kernel has no part of it. */
static void outside_kernel(struct coll_shuffle_op *op)
{
	under_way(op);
	op->ended = true;
}

/* A rank has gone.  Others may not have noticed, for their calls had what they needed, and wait for
 * us now.
 */
static void begin_and_cancel(struct coll_shuffle_op *op)
{
	if (!op->carried || op->declined) {
		under_way(op);
		fail(op, ECONNRESET);
		return;
	}
	into_kernel(op);
	if (!op->ended)
		shuffle_cancel(op->module->fd, op->id);
}

static void start(struct coll_shuffle_op *op)
{
	coll_shuffle_module *m = op->module;
	int rc;

	op->declined = m->state == COLL_SHUFFLE_DECLINED;
	if (m->gone >= 0) {
		begin_and_cancel(op);
		return;
	}
	rc = coll_shuffle_p2p_start(op);
	if (op->carried && !op->declined)
		into_kernel(op);
	else
		outside_kernel(op);
	if (rc)
		op->error = EIO;
	if (op->np2p && op->req)
		coll_shuffle_progress_watch(m);
}

void coll_shuffle_op_start_queued(coll_shuffle_module *m)
{
	struct coll_shuffle_line *once = &m->lines[0], *again = &m->lines[1];

	if (m->state != COLL_SHUFFLE_READY && m->state != COLL_SHUFFLE_DECLINED)
		return;
	while (once->first && once->under_way < MAX_ONCE)
		start(dequeue(once));
	while (again->first && again->under_way < MAX_AGAIN)
		start(dequeue(again));
}

void coll_shuffle_op_start_trial(struct coll_shuffle_op *op)
{
	int i;

	for (i = 0; i < op->module->size; i++) {
		op->bufs[i] = NULL;
		op->lens[i] = 0;
		memset(&op->in[i], 0, sizeof(op->in[i]));
	}
	into_kernel(op);
}

void coll_shuffle_op_start(struct coll_shuffle_op *op)
{
	struct coll_shuffle_line *line = line_of(op);

	op->next = NULL;
	*line->end = op;
	line->end = &op->next;
	coll_shuffle_op_start_queued(op->module);
}

void coll_shuffle_op_fail_all(coll_shuffle_module *m, int error)
{
	struct coll_shuffle_op *op;
	int i;

	for (i = 0; i < 2; i++) {
		while (m->lines[i].first) {
			op = dequeue(&m->lines[i]);
			under_way(op);
			fail(op, error);
		}
	}
	for (op = m->ops; op; op = op->next)
		if (!op->ended && !op->threaded)
			fail(op, error);
}

static struct coll_shuffle_op *find(coll_shuffle_module *m, uint64_t id)
{
	struct coll_shuffle_op *op;

	for (op = m->ops; op; op = op->next)
		if (op->id == id)
			return op;
	return NULL;
}

static int unpack(struct coll_shuffle_in *in, const void *data, size_t len)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	size_t size = len;
	uint32_t n = 1;

	return opal_convertor_unpack(in->conv, &iov, &n, &size) < 0 || size != len ? -1 : 0;
}

static int message(struct coll_shuffle_op *op, const struct shuffle_record *rec, const void *data)
{
	struct coll_shuffle_in *in = &op->in[rec->rank];
	uint64_t room = in->len > in->have ? in->len - in->have : 0;
	uint64_t len = rec->len < room ? rec->len : room;

	if (rec->offset != in->have || in->whole)
		return -1;
	if (rec->msg_len > in->len)
		op->truncated = true;
	if (len && in->place && data != in->place + in->have)
		memcpy(in->place + in->have, data, len);
	if (len && in->conv && unpack(in, data, len))
		return -1;
	in->have += rec->len;
	op->left -= len;
	if (rec->flags & SHUFFLE_RECORD_LAST) {
		in->whole = true;
		op->awaited -= in->len > 0;
	}
	return 0;
}

/* Its process, or all that its host knew of it: it comes back to no call. */
static bool is_gone(const struct shuffle_record *rec)
{
	return rec->flags & SHUFFLE_MISSING_LEFT && (rec->error == EPIPE || rec->error == ENOENT);
}

void coll_shuffle_op_cancel(coll_shuffle_module *m, bool all)
{
	struct coll_shuffle_op *op;

	/* of one that has failed there are records to come */
	for (op = m->ops; op; op = op->next)
		if (!op->ended && !op->error && (all || !op->complete))
			shuffle_cancel(m->fd, op->id);
}

/* Nobody else will say so of calls that it has never begun: they would wait without end.  What is
 * complete for its caller may still be on its way to others.
 */
static void has_gone(coll_shuffle_module *m, int rank)
{
	m->gone = rank;
	coll_shuffle_op_cancel(m, false);
}

static void missing(struct coll_shuffle_op *op, const struct shuffle_record *rec)
{
	coll_shuffle_module *m = op->module;
	bool gone = is_gone(rec);

	coll_shuffle_disprove();
	if (gone && !op->trial && m->gone < 0)
		has_gone(m, rec->rank);
	/* what others have not done then is not their fault */
	if (!gone && m->gone >= 0)
		return;
	if (!op->missing++)
		op->first_missing = rec->rank;
	if (!op->complete && !op->trial)
		coll_shuffle_complain("rank %d of %s, %s: rank %d (%s) %s", m->rank,
				      coll_shuffle_comm_name(m->comm), op->call, rec->rank,
				      coll_shuffle_host(m, rec->rank),
				      coll_shuffle_missing_str(rec));
}

int coll_shuffle_op_record(void *arg, const struct shuffle_record *rec, const void *data)
{
	coll_shuffle_module *m = arg;
	struct coll_shuffle_op *op = find(m, rec->op_id);

	if (!op || (int)rec->rank >= m->size) {
		errno = EPROTO;
		return -1;
	}
	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		/* nobody waits for the rest of what has failed */
		if (!op->complete && message(op, rec, data)) {
			errno = EPROTO;
			return -1;
		}
		break;
	case SHUFFLE_RECORD_DONE:
		op->ended = true;
		break;
	case SHUFFLE_RECORD_FAILED:
		op->error = op->tx_error && op->tx_error != EPIPE ? op->tx_error :
								      (int)rec->error;
		/* by us: see has_gone() */
		if (m->gone >= 0 && op->error == ECANCELED)
			op->error = ECONNRESET;
		op->missing_left = rec->msg_len;
		op->ended = !op->missing_left;
		break;
	case SHUFFLE_RECORD_MISSING:
		missing(op, rec);
		if (!--op->missing_left)
			op->ended = true;
		break;
	}
	if (op->ended && op->threaded) {
		pthread_join(op->thread, NULL);
		op->threaded = false;
	}
	m->rx.head = op->left / m->size > LARGE / 2 ? HEAD_SMALL : HEAD_LARGE;
	return 0;
}

size_t coll_shuffle_op_place(void *arg, const struct shuffle_record *rec, void **data)
{
	coll_shuffle_module *m = arg;
	struct coll_shuffle_op *op = find(m, rec->op_id);
	struct coll_shuffle_in *in;

	if (!op || op->complete)
		return 0;
	in = &op->in[rec->rank];
	if (!in->place || rec->offset + rec->len != in->have || in->have >= in->len)
		return 0;
	*data = in->place + in->have;
	return in->len - in->have;
}

int coll_shuffle_op_result(struct coll_shuffle_op *op)
{
	coll_shuffle_module *m = op->module;
	int rc = MPI_SUCCESS;

	if (op->error == ECONNRESET && m->gone >= 0 && !op->missing) {
		coll_shuffle_complain("rank %d of %s, %s: rank %d (%s) has left before", m->rank,
				      coll_shuffle_comm_name(m->comm), op->call, m->gone,
				      coll_shuffle_host(m, m->gone));
		rc = MPI_ERR_OTHER;
	} else if (op->error) {
		coll_shuffle_complain("rank %d of %s, %s: %s%s", m->rank,
				      coll_shuffle_comm_name(m->comm), op->call,
				      op->missing ? "gave up on the ranks named: " : "",
				      strerror(op->error));
		rc = op->error == ENOMEM || op->error == ENOBUFS ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
	} else if (op->truncated) {
		rc = MPI_ERR_TRUNCATE;
	}
	return rc;
}

/* Complete for the caller?  A row with a thread is the kernel's when all has ended. */
static bool is_complete(struct coll_shuffle_op *op)
{
	if (op->ended && (op->error || op->trial))
		return true;
	if (op->trial || (!op->ended && (op->awaited || op->threaded)))
		return false;
	return coll_shuffle_p2p_done(op);
}

/* The caller has its result. */
void coll_shuffle_op_release(struct coll_shuffle_op *op)
{
	release_buffers(op);
	op->released = true;
	op->module->unread++;
}

/* The operation is complete: its request goes to the list of those to be told. */
static void complete(struct coll_shuffle_op *op, coll_shuffle_request **done)
{
	coll_shuffle_module *m = op->module;

	op->complete = true;
	if (!op->req)
		return;
	op->req->super.super.req_status.MPI_ERROR = coll_shuffle_op_result(op);
	op->req->next = *done;
	*done = op->req;
	coll_shuffle_op_release(op);
	if (!--m->background)
		opal_progress_event_users_decrement();
}

coll_shuffle_request *coll_shuffle_op_reap(coll_shuffle_module *m)
{
	struct coll_shuffle_op **link = &m->ops, *op;
	coll_shuffle_request *done = NULL;

	while ((op = *link)) {
		if (!op->complete && is_complete(op))
			complete(op, &done);
		if (op->released && op->ended) {
			*link = op->next;
			line_of(op)->under_way--;
			m->unread--;
			coll_shuffle_op_free(op);
		} else {
			link = &op->next;
		}
	}
	return done;
}
