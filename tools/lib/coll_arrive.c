// SPDX-License-Identifier: BSD-3-Clause
/* Collectives: the records that the kernel returns, and waiting for them. */
#include <errno.h>
#include <string.h>

#include "coll.h"

static struct coll_step *step_of(struct shuffle_coll *c, const struct shuffle_record *rec)
{
	return rec->op_id == c->before.op ? &c->before : &c->now;
}

static struct arrival *arrival_of(struct shuffle_coll *c, const struct shuffle_record *rec)
{
	const struct coll_step *step = step_of(c, rec);

	return rec->rank < c->count && rec->op_id == step->op ? step->from[rec->rank] : NULL;
}

static struct coll_hook *hook_of(const struct shuffle_coll *c, const struct shuffle_record *rec)
{
	return c->hook && rec->op_id - c->hook->first < c->hook->ops ? c->hook : NULL;
}

static int hook_record(struct shuffle_coll *c, struct coll_hook *hook,
		       const struct shuffle_record *rec, const void *data)
{
	if (rec->type == SHUFFLE_RECORD_DATA)
		return hook->data(hook, rec, data);
	if (rec->type == SHUFFLE_RECORD_DONE || rec->type == SHUFFLE_RECORD_FAILED)
		c->open_ops--;
	hook->end(hook, rec);
	return 0;
}

int coll_record(void *arg, const struct shuffle_record *rec, const void *data)
{
	struct shuffle_coll *c = arg;
	struct coll_hook *hook = hook_of(c, rec);
	struct arrival *a;

	if (hook)
		return hook_record(c, hook, rec, data);
	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		a = arrival_of(c, rec);
		if (!a || rec->offset != a->have || rec->msg_len != a->size) {
			/* the members do not call the same, or not with the same sizes */
			errno = EPROTO;
			return -1;
		}
		if (rec->len && data != a->to + a->have)
			memmove(a->to + a->have, data, rec->len);
		a->have += rec->len;
		step_of(c, rec)->arriving -= rec->flags & SHUFFLE_RECORD_LAST ? 1 : 0;
		break;
	case SHUFFLE_RECORD_DONE:
		c->open_ops--;
		break;
	case SHUFFLE_RECORD_FAILED:
		c->open_ops--;
		c->error = rec->error ? (int)rec->error : EIO;
		break;
	}
	return 0;
}

size_t coll_place(void *arg, const struct shuffle_record *rec, void **data)
{
	struct shuffle_coll *c = arg;
	struct coll_hook *hook = hook_of(c, rec);
	struct arrival *a;

	if (hook)
		return hook->place(hook, rec, data);
	a = arrival_of(c, rec);
	if (!a || rec->offset + rec->len != a->have)
		return 0;
	*data = a->to + a->have;
	return a->size - a->have;
}

int coll_fail(struct shuffle_coll *c)
{
	if (!c->error)
		c->error = errno ? errno : EIO;
	errno = c->error;
	return -1;
}

/* Wait as the program wants it. */
int coll_wait(struct shuffle_coll *c, short events)
{
	return c->wait ? c->wait(c->wait_arg, c->fd, events) : wait_for(c->fd, events);
}

/* Read what has come, or wait until something does.  events: what else to wait for. */
int coll_advance(struct shuffle_coll *c, short events)
{
	int later = coll_is_later(c), flags = events || c->wait || later ? MSG_DONTWAIT : 0, rc;

	if (shuffle_rx_step(c->fd, &c->rx, flags) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return coll_fail(c);
		if (later) {
			coll_later_waits(c, POLLIN | events);
		} else {
			/* calls that begin meanwhile must not touch what this one has in @c */
			c->in_wait = 1;
			rc = coll_wait(c, POLLIN | events);
			c->in_wait = 0;
			if (rc)
				return coll_fail(c);
		}
	}
	return c->error ? coll_fail(c) : 0;
}
