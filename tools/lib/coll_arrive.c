// SPDX-License-Identifier: BSD-3-Clause
/* Collectives: the records that the kernel returns, and waiting for them. */
#include <errno.h>
#include <string.h>

#include "coll.h"

int coll_record(void *arg, const struct shuffle_record *rec, const void *data)
{
	struct shuffle_coll *c = arg;
	struct arrival *a;

	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		a = rec->op_id == c->op && rec->rank < c->count ? c->from[rec->rank] : NULL;
		if (!a || rec->offset != a->have || rec->msg_len != a->size) {
			/* the members do not call the same, or not with the same sizes */
			errno = EPROTO;
			return -1;
		}
		if (rec->len && data != a->to + a->have)
			memcpy(a->to + a->have, data, rec->len);
		a->have += rec->len;
		c->arriving -= rec->flags & SHUFFLE_RECORD_LAST ? 1 : 0;
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
	struct arrival *a = rec->op_id == c->op && rec->rank < c->count ? c->from[rec->rank] : NULL;

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

/* Read what has come, or wait until something does.  events: what else to wait for. */
int coll_advance(struct shuffle_coll *c, short events)
{
	int flags = events || c->wait ? MSG_DONTWAIT : 0;

	if (shuffle_rx_step(c->fd, &c->rx, flags) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return coll_fail(c);
		if (c->wait ? c->wait(c->wait_arg, c->fd, POLLIN | events) :
			      wait_for(c->fd, POLLIN | events))
			return coll_fail(c);
	}
	return c->error ? coll_fail(c) : 0;
}
