// SPDX-License-Identifier: BSD-3-Clause
/* Collectives in the kernel, which gets our part of the plan: SHUFFLE_CMSG_COLLECTIVE. */
#include <errno.h>
#include <stdlib.h>
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

/* What members have to agree on beside coll_digest(): the others' messages have other lengths, or
 * come from others, but not always.
 */
static uint64_t digest_of(const struct work *w, uint64_t items)
{
	const struct shuffle_plan *plan = &w->plan;
	uint64_t digest = coll_mix(coll_mix(coll_digest(w, items), w->size), plan->root);
	uint32_t i;

	/* the other patterns do not look at racks */
	if (plan->pattern != SHUFFLE_COLL_COOL_PP && plan->pattern != SHUFFLE_COLL_COOL_BR)
		return digest;
	for (i = 0; plan->topo->first && i <= plan->topo->racks; i++)
		digest = coll_mix(digest, plan->topo->first[i]);
	return digest;
}

/* Our part as the kernel takes it, and how many bytes we put in.  -1: no memory. */
static int make_table(struct work *w, struct shuffle_collective *coll, size_t *in_len)
{
	uintptr_t items = w->combine ? (uintptr_t)w->arg : 0;
	struct shuffle_coll *c = w->c;
	void *more;

	if (c->max_step < w->plan.n) {
		more = reallocarray(c->step, w->plan.n, sizeof(*c->step));
		if (!more)
			return -1;
		c->step = more;
		c->max_step = w->plan.n;
	}
	*in_len = shuffle_plan_steps(&w->plan, w->size, items >> 8, items & 0xff, coll, c->step);
	coll->digest = digest_of(w, items);
	return 0;
}

static int send_collective(const struct shuffle_coll *c, const struct shuffle_collective *coll,
			   const void *data, size_t len)
{
	char control[CMSG_SPACE(sizeof(*coll))] = { 0 };
	struct iovec iov[2] = {
		{ c->step, coll->steps * sizeof(*c->step) },
		{ (void *)data, len },
	};
	struct msghdr msg = {
		.msg_iov = iov,
		.msg_iovlen = 2,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = SHUFFLE_CMSG_COLLECTIVE;
	cmsg->cmsg_len = CMSG_LEN(sizeof(*coll));
	memcpy(CMSG_DATA(cmsg), coll, sizeof(*coll));
	return sendmsg(c->fd, &msg, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* @in: what we put in; @out: the result, of @out_len bytes; @result: there is one. */
int coll_run_in_kernel(struct work *w, const void *in, void *out, size_t out_len, int result)
{
	struct arrival a = { .to = out, .size = out_len };
	struct shuffle_coll *c = w->c;
	struct shuffle_collective coll = {
		.flags = SHUFFLE_ROW_DELAYED_ACK,
		.op_id = c->next_op + c->racks_op,
		.deadline_ms = c->timeout_ms,
	};
	size_t in_len;
	int rc = 0;

	c->now.op = coll.op_id;
	c->next_op += COLL_OPS;
	if (make_table(w, &coll, &in_len))
		return coll_fail(c);
	/* those that we only send to must not be left behind by many calls */
	while (c->open_ops >= AHEAD_CALLS && !rc)
		rc = coll_advance(c, 0);
	if (!rc)
		rc = send_collective(c, &coll, in, in_len);
	/* the send buffer is full of those before, which end without us */
	while (rc && errno == ENOBUFS && c->open_ops && !coll_advance(c, 0))
		rc = send_collective(c, &coll, in, in_len);
	/* one that has failed already says why when it is read */
	if (rc && (c->error || errno != EPIPE))
		return coll_fail(c);
	rc = 0;
	c->open_ops++;
	c->now.arriving = result;
	c->now.from[c->rank] = &a;
	while (c->now.arriving && !rc)
		rc = coll_advance(c, 0);
	c->now.from[c->rank] = NULL;
	return rc;
}
