// SPDX-License-Identifier: BSD-3-Clause
/* Collectives in the kernel: SHUFFLE_CMSG_COLLECTIVE. */
#include <errno.h>
#include <string.h>

#include "coll.h"

/* calls whose operations have not ended */
#define AHEAD_CALLS	64

/* The same at all members: all of it is what they call. */
int coll_kernel_can(const struct work *w)
{
	int kind = w->plan.kind, pattern = w->plan.pattern;

	if (w->c->engine == ENGINE_USER ||
	    (shuffle_coll_combines(kind) && w->combine != shuffle_combine_items))
		return 0;
	return shuffle_coll_sends_once(kind, pattern, w->plan.radix) &&
	       shuffle_coll_fits(kind, pattern, w->size, w->c->count);
}

static int send_collective(int fd, const struct shuffle_collective *coll, const void *data,
			   size_t len)
{
	char control[CMSG_SPACE(sizeof(*coll))] = { 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = SHUFFLE_CMSG_COLLECTIVE;
	cmsg->cmsg_len = CMSG_LEN(sizeof(*coll));
	memcpy(CMSG_DATA(cmsg), coll, sizeof(*coll));
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* @in: what we put in; @out: the result, of @out_len bytes; @result: there is one. */
int coll_run_in_kernel(struct work *w, const void *in, size_t in_len, void *out, size_t out_len,
		       int result)
{
	struct arrival a = { .to = out, .size = out_len };
	uintptr_t items = (uintptr_t)w->arg;
	struct shuffle_coll *c = w->c;
	struct shuffle_collective coll = {
		.size = sizeof(coll),
		.flags = SHUFFLE_ROW_DELAYED_ACK,
		.op_id = c->next_op + c->racks_op,
		.deadline_ms = c->timeout_ms,
		.len = w->size,
		.kind = w->plan.kind,
		.pattern = w->plan.pattern,
		.oper = w->combine ? items >> 8 : 0,
		.type = w->combine ? items & 0xff : 0,
		.root = w->plan.root,
		.radix = w->plan.radix,
	};
	int rc = 0;

	c->op = coll.op_id;
	c->next_op += COLL_OPS;
	/* those that we only send to must not be left behind by many calls */
	while (c->open_ops >= AHEAD_CALLS && !rc)
		rc = coll_advance(c, 0);
	if (!rc)
		rc = send_collective(c->fd, &coll, in, in_len);
	/* the send buffer is full of those before, which end without us */
	while (rc && errno == ENOBUFS && c->open_ops && !coll_advance(c, 0))
		rc = send_collective(c->fd, &coll, in, in_len);
	/* one that has failed already says why when it is read */
	if (rc && (c->error || errno != EPIPE))
		return coll_fail(c);
	rc = 0;
	c->open_ops++;
	c->arriving = result;
	c->from[c->rank] = &a;
	while (c->arriving && !rc)
		rc = coll_advance(c, 0);
	c->from[c->rank] = NULL;
	return rc;
}
