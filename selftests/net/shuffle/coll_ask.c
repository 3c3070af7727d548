// SPDX-License-Identifier: GPL-2.0-or-later
/* A collective in the kernel as tests ask for it: libshuffle's plans make the table. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "coll_ask.h"

static uint64_t mix(uint64_t digest, uint64_t part)
{
	digest = (digest ^ part) * 0x9e3779b97f4a7c15ULL;
	return digest ^ digest >> 29;
}

int coll_ask_table(struct coll_table *t, const struct coll_ask *ask, unsigned int rank,
		   unsigned int count)
{
	struct shuffle_plan_msg msg[2 * COLL_ASK_MEMBERS];
	struct shuffle_topology topo = { .n = count, .racks = 1 };
	struct shuffle_plan plan = {
		.kind = ask->kind, .pattern = ask->pattern, .radix = ask->radix, .topo = &topo,
		.root = ask->root, .self = rank, .msg = msg, .max = 2 * COLL_ASK_MEMBERS,
	};

	if (shuffle_plan_make(&plan)) {
		errno = EINVAL;
		return -1;
	}
	memset(t, 0, sizeof(*t));
	t->c.op_id = ask->op_id;
	t->c.deadline_ms = ask->deadline_ms;
	t->c.flags = ask->flags;
	t->c.digest = mix(mix(mix(mix(ask->kind, ask->pattern), ask->oper), ask->type), ask->root);
	t->c.digest = mix(mix(t->c.digest, ask->radix), ask->len);
	t->in_len = shuffle_plan_steps(&plan, ask->len, ask->oper, ask->type, &t->c, t->step);
	t->bytes = t->c.steps * sizeof(t->step[0]);
	return 0;
}

ssize_t coll_table_send(int fd, const struct coll_table *t, const void *data, size_t len, int flags)
{
	struct iovec iov[2] = { { (void *)t->step, t->bytes }, { (void *)data, len } };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(t->c))];
	} control = { 0 };
	struct msghdr msg = {
		.msg_iov = iov, .msg_iovlen = 2, .msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	ssize_t rc;

	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = SHUFFLE_CMSG_COLLECTIVE;
	cmsg->cmsg_len = CMSG_LEN(sizeof(t->c));
	memcpy(CMSG_DATA(cmsg), &t->c, sizeof(t->c));
	rc = sendmsg(fd, &msg, flags);
	return rc < 0 ? -1 : rc - (ssize_t)t->bytes;
}

ssize_t coll_ask_send(int fd, const struct coll_ask *ask, const void *data, size_t len, int flags)
{
	union {
		struct shuffle_group group;
		char buf[sizeof(struct shuffle_group) +
			 COLL_ASK_MEMBERS * sizeof(struct shuffle_edge)];
	} g;
	socklen_t size = sizeof(g);
	struct coll_table t;

	if (getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &g, &size) ||
	    coll_ask_table(&t, ask, g.group.rank, g.group.count))
		return -1;
	return coll_table_send(fd, &t, data, len, flags);
}
