// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives by multicast: is there an address that reaches everybody, and which rows go there?
 *
 * Only the sender of a row has to know that its messages have the same bytes.  But all members
 * choose the pattern, so all have to agree that the address works.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* The kernel gives an address up for a member that missed so many rows, one behind the other. */
#define PROBES		2
/* announced, and not in the announcement */
#define PROBE_BYTES	512

/* Does what a member sends in the messages [from, to) go to all others, the same to each?
 *
 * Only if one member sends at a time: a row moves when all receivers grant, and receivers that
 * grant to many senders seldom grant to the same one.  All-gather of 24 kB between 40 members took
 * 41 times as long as it takes one by one.
 */
int coll_sends_same(const struct work *w, uint32_t from, uint32_t to)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	uint32_t i, n = 0, first = to;

	if (w->c->probing ? w->plan.kind != SHUFFLE_COLL_ALLGATHER :
	    !w->c->multicast || w->plan.kind != SHUFFLE_COLL_BROADCAST ||
	    w->plan.pattern != SHUFFLE_COLL_FLAT)
		return 0;
	for (i = from; i < to; i++) {
		if (!msg[i].out)
			continue;
		if (!n++)
			first = i;
		if (msg[i].block != msg[first].block || msg[i].blocks != msg[first].blocks)
			return 0;
	}
	return n > 1 && n == w->c->count - 1 &&
	       shuffle_blocks_bytes(&w->blocks, &msg[first]) > PROBE_BYTES / 2;
}

/* Members to which this one sends alone; -1: there is no address. */
static int missed(const struct shuffle_coll *c)
{
	struct shuffle_multicast m;
	socklen_t len = sizeof(m);

	if (getsockopt(c->fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &m, &len) || len < sizeof(m))
		return -1;
	return m.unicast;
}

/* Everybody sends to everybody, into @all. */
static int probe(struct shuffle_coll *c, char *all)
{
	char mine[PROBE_BYTES] = { 0 };

	return shuffle_allgather(c, mine, all, sizeof(mine));
}

static int all_have(struct shuffle_coll *c, uint32_t mine)
{
	uint32_t all = 0;

	if (shuffle_allreduce(c, &mine, &all, sizeof(mine), sizeof(mine), shuffle_combine_items,
			      SHUFFLE_ITEMS(SHUFFLE_COLL_MIN, SHUFFLE_COLL_U32)))
		return -1;
	return all;
}

int shuffle_coll_multicast(struct shuffle_coll *c)
{
	int has = 1, i, pattern = c->pattern, mine = missed(c);
	uint32_t radix = c->radix;
	char *all;

	if (coll_is_later(c) || c->in_wait) {
		errno = EBUSY;
		return -1;
	}
	if (c->error || coll_later_first(c))
		return coll_fail(c);
	c->multicast = 0;
	all = malloc((size_t)c->count * PROBE_BYTES);
	if (!all || mine < 0 || mine >= (int)c->count - 1)
		has = 0;
	has = all_have(c, has && c->count > 2 && c->count <= SHUFFLE_SAME_MEMBERS);
	if (has <= 0) {
		free(all);
		return has;
	}
	c->pattern = SHUFFLE_COLL_FLAT;
	c->probing = 1;
	for (i = 0; i < PROBES && has > 0; i++)
		if (probe(c, all))
			has = -1;
	free(all);
	c->probing = 0;
	c->pattern = pattern;
	c->radix = radix;
	/* who has sent only has not seen yet what arrived */
	while (has > 0 && c->open_ops)
		if (coll_advance(c, 0))
			has = -1;
	if (has > 0)
		has = all_have(c, !missed(c));
	c->multicast = has > 0;
	return has;
}
