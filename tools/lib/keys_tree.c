// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keyed collectives: streams of chunks from members to their parents in the tree of a reduction.
 * A parent has one chunk of each child, and asks for the next one by beginning its operation: a
 * child that is faster than its parent waits for it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "keys.h"

/* chunks that a member has under way to its parent */
#define AHEAD		4

/* of a member: each has an operation at a time */
#define MOST_CHILDREN	512

/* Leaders of more have too many at a time: an operation counts as one for each member. */
#define RACKS_MEMBERS	1024

static struct coll_keys *keys_of(struct coll_hook *hook)
{
	return (struct coll_keys *)hook;
}

/* ---- what arrives ---- */

static struct keys_edge *edge_of(const struct coll_keys *k, const struct shuffle_record *rec)
{
	uint64_t number = rec->op_id - k->hook.first;
	struct keys_edge *e;

	if (rec->rank >= k->c->count || !k->edge_of[rec->rank])
		return NULL;
	e = &k->edge[k->edge_of[rec->rank] - 1];
	return number == (e->chunk << KEYS_RANK_BITS | e->rank) && !e->whole ? e : NULL;
}

/* What is wrong is noticed in keys_advance(): the socket stays in order. */
static int data_came(struct coll_hook *hook, const struct shuffle_record *rec, const void *data)
{
	struct coll_keys *k = keys_of(hook);
	struct keys_edge *e = edge_of(k, rec);

	if (!e || rec->offset != e->have || rec->msg_len < KEYS_HEAD ||
	    rec->msg_len > KEYS_HEAD + KEYS_CHUNK) {
		keys_fault(k, EPROTO, rec->rank, "member %u does not make the same call",
			   rec->rank);
		return 0;
	}
	e->size = rec->msg_len;
	if (rec->len && data != e->buf + e->have)
		memcpy(e->buf + e->have, data, rec->len);
	e->have += rec->len;
	e->whole = !!(rec->flags & SHUFFLE_RECORD_LAST);
	return 0;
}

static size_t place_for(struct coll_hook *hook, const struct shuffle_record *rec, void **data)
{
	struct coll_keys *k = keys_of(hook);
	struct keys_edge *e = edge_of(k, rec);

	if (!e || rec->offset + rec->len != e->have || k->fault->error)
		return 0;
	*data = e->buf + e->have;
	return e->size - e->have;
}

void keys_op_end(struct coll_hook *hook, const struct shuffle_record *rec)
{
	struct coll_keys *k = keys_of(hook);
	uint64_t number = rec->op_id - k->hook.first;

	if (rec->type == SHUFFLE_RECORD_MISSING) {
		if (rec->op_id != k->failed_op)
			return;
		if (k->missing_left)
			k->missing_left--;
		if (k->missing++ < KEYS_MISSING)
			k->missing_rank[k->missing - 1] = rec->rank;
		return;
	}
	if ((number & (SHUFFLE_MAX_MEMBERS - 1)) == k->c->rank && k->sending)
		k->sending--;
	if (rec->op_id == k->telling_op)
		k->telling_op = 0;
	if (rec->type == SHUFFLE_RECORD_DONE || k->failed)
		return;
	k->failed = rec->error ? (int)rec->error : EIO;
	k->failed_op = rec->op_id;
	k->missing_left = rec->msg_len;
	k->missing = 0;
}

/* An operation has failed: -1, and the members that it names. */
static int op_failed(struct coll_keys *k)
{
	char who[96] = "";
	size_t at = 0;
	uint32_t i;

	while (k->missing_left && !coll_advance(k->c, 0))
		;
	for (i = 0; i < k->missing && i < KEYS_MISSING; i++)
		at += snprintf(who + at, sizeof(who) - at, "%s%u", i ? ", " : "",
			       k->missing_rank[i]);
	if (!k->missing)
		return keys_fault(k, k->failed, SHUFFLE_KEYS_NOBODY, "an operation has failed: %s",
				  strerror(k->failed));
	return keys_fault(k, k->failed, k->missing_rank[0], "member %s%s: %s", who,
			  k->missing > KEYS_MISSING ? " and others" : "",
			  k->failed == ETIMEDOUT ? "nothing comes, or is not taken" :
						   strerror(k->failed));
}

/* Read what has come, or wait until something does. */
int keys_advance(struct coll_keys *k, short events)
{
	if (k->telling)
		return coll_advance(k->c, events);
	if (!k->fault->error && coll_advance(k->c, events))
		return keys_fault(k, errno, SHUFFLE_KEYS_NOBODY, "the group has failed: %s",
				  strerror(errno));
	if (k->fault->error) {
		errno = k->fault->error;
		return -1;
	}
	return k->failed ? op_failed(k) : 0;
}

/* Begin an operation with the lengths and absent members that are in the group. */
int keys_row(struct coll_keys *k, uint64_t op, uint64_t deadline_ms)
{
	struct shuffle_coll *c = k->c;
	struct shuffle_tx tx;
	int sent, error, rc = 0;

	shuffle_tx_init(&tx, op, c->bufs, c->lens, c->count, deadline_ms);
	shuffle_tx_absent(&tx, c->absent);
	c->open_ops++;
	sent = shuffle_tx_step(c->fd, &tx);
	while (!sent && !rc) {
		rc = keys_advance(k, POLLOUT);
		if (!rc)
			sent = shuffle_tx_step(c->fd, &tx);
	}
	error = errno;
	/* its records say why */
	while (sent < 0 && error == EPIPE && !rc && !k->telling)
		rc = keys_advance(k, 0);
	if (sent < 0 && !rc)
		rc = keys_fault(k, error, SHUFFLE_KEYS_NOBODY, "cannot send: %s", strerror(error));
	return rc;
}

/* The next chunk of a child may come. */
static int ask(struct coll_keys *k, struct keys_edge *e)
{
	struct shuffle_coll *c = k->c;
	uint64_t bit = 1ULL << e->rank % 64;
	int rc;

	e->have = 0;
	e->size = 0;
	e->whole = 0;
	if (e->chunk >= KEYS_CHUNKS)
		return keys_fault(k, EMSGSIZE, e->rank, "member %u sends without end", e->rank);
	c->absent[e->rank / 64] &= ~bit;
	rc = keys_row(k, k->hook.first + (e->chunk << KEYS_RANK_BITS | e->rank),
		      k->step_ms * (e->step + 1));
	c->absent[e->rank / 64] |= bit;
	return rc;
}

/* ---- heads ---- */

void keys_write_head(struct coll_keys *k, unsigned char *head, int flags)
{
	int fault = flags & KEYS_FAULT;

	shuffle_put32(head, KEYS_MAGIC);
	head[4] = k->what;
	head[5] = flags;
	shuffle_put16(head + 6, fault ? k->fault->error : 0);
	shuffle_put32(head + 8, flags & KEYS_LAST ? k->folded : 0);
	shuffle_put32(head + 12, fault ? k->fault->rank : 0);
}

/* Is this a head of the same call?  A fault of others becomes ours. */
int keys_check_head(struct coll_keys *k, const unsigned char *head, uint32_t rank)
{
	if (shuffle_get32(head) != KEYS_MAGIC || head[4] != k->what ||
	    head[5] & ~(KEYS_LAST | KEYS_FAULT))
		return keys_fault(k, EPROTO, rank, "member %u does not make the same call: its "
				  "operator or mode is another one", rank);
	return 0;
}

/* A rank that another member has named. */
uint32_t keys_rank(const struct coll_keys *k, uint32_t rank)
{
	return rank < k->c->count ? rank : SHUFFLE_KEYS_NOBODY;
}

static int check_chunk(struct coll_keys *k, struct keys_edge *e)
{
	const unsigned char *head = e->buf;
	size_t size = e->size - KEYS_HEAD;

	if (keys_check_head(k, head, e->rank))
		return -1;
	if (head[5] & KEYS_FAULT)
		return keys_fault(k, shuffle_get16(head + 6),
				  keys_rank(k, shuffle_get32(head + 12)), "%.*s", (int)size,
				  (const char *)head + KEYS_HEAD);
	e->last = head[5] & KEYS_LAST;
	e->folded = e->last ? shuffle_get32(head + 8) : 0;
	if (!(k->what & KEYS_IS_NAMES) && size % SHUFFLE_PAIR_BYTES)
		return keys_fault(k, EPROTO, e->rank, "member %u sends half a record", e->rank);
	k->folded += e->folded;
	return 0;
}

/* ---- a tree ---- */

/* A root that leads no rack is both parent and child of its leader in COOL-P-P. */
static int leads(const struct shuffle_coll *c, uint32_t root)
{
	return shuffle_topology_seat(&c->topo, root).leader == root;
}

static int same_tree(const struct shuffle_coll *c, uint32_t root)
{
	switch (c->pattern) {
	case SHUFFLE_COLL_FLAT:
	case SHUFFLE_COLL_TREE:
	case SHUFFLE_COLL_CHAIN:
		return c->pattern;
	case SHUFFLE_COLL_COOL_PP:
		return leads(c, root) ? c->pattern : SHUFFLE_COLL_TREE;
	}
	return c->topo.racks > 1 && c->count <= RACKS_MEMBERS && leads(c, root) ?
	       SHUFFLE_COLL_COOL_PP : SHUFFLE_COLL_TREE;
}

/* Steps of all members: those of our own part do not tell how long others may wait. */
static uint32_t steps_of_all(const struct shuffle_plan *own)
{
	struct shuffle_plan plan = *own;
	int rc;

	plan.self = plan.root;
	plan.msg = NULL;
	plan.max = 0;
	rc = shuffle_plan_of(&plan);
	return (!rc || rc == -ENOSPC) && plan.steps > own->steps ? plan.steps : own->steps;
}

static int plan_tree(struct coll_keys *k, struct work *w)
{
	struct shuffle_coll *c = k->c;
	int pattern = c->pattern, rc;
	uint32_t radix = c->radix;

	c->pattern = same_tree(c, k->root);
	if (c->pattern != pattern)
		c->radix = 2;
	rc = coll_make_plan(w, c, SHUFFLE_COLL_REDUCE, k->root, 0);
	c->pattern = pattern;
	c->radix = radix;
	return rc;
}

/* Our edges; a member sends all to one other one, after all has come. */
static int take_edges(struct coll_keys *k, const struct shuffle_plan *plan)
{
	const struct shuffle_plan_msg *msg = plan->msg;
	struct keys_edge *e;
	uint32_t i;

	k->steps = steps_of_all(plan);
	for (i = 0; i < plan->n; i++)
		k->edges += !msg[i].out;
	k->edge = calloc(k->edges + 1, sizeof(*k->edge));
	k->edge_of = calloc(k->c->count, sizeof(*k->edge_of));
	k->out = malloc(KEYS_HEAD + KEYS_CHUNK);
	if (!k->edge || !k->edge_of || !k->out)
		return keys_fault(k, ENOMEM, SHUFFLE_KEYS_NOBODY, "no memory");
	for (i = 0, e = k->edge; i < plan->n; i++) {
		if (msg[i].out && k->parent == SHUFFLE_KEYS_NOBODY && k->c->rank != k->root) {
			k->parent = msg[i].peer;
			k->step = msg[i].step;
			continue;
		}
		if (msg[i].out || k->edge_of[msg[i].peer])
			goto no_tree;
		e->rank = msg[i].peer;
		e->step = msg[i].step;
		e->buf = malloc(KEYS_HEAD + KEYS_CHUNK);
		if (!e->buf)
			return keys_fault(k, ENOMEM, SHUFFLE_KEYS_NOBODY, "no memory");
		k->edge_of[e->rank] = e - k->edge + 1;
		e++;
	}
	for (i = 0; i < k->edges && k->parent != SHUFFLE_KEYS_NOBODY; i++)
		if (k->edge[i].step >= k->step)
			goto no_tree;
	if (plan->blocks == 1 && k->edges <= MOST_CHILDREN &&
	    (k->c->rank == k->root) == (k->parent == SHUFFLE_KEYS_NOBODY))
		return 0;
no_tree:
	return keys_fault(k, EINVAL, SHUFFLE_KEYS_NOBODY,
			  "the plan is no tree of whole results, or has too many children");
}

/* Milliseconds of a step, as for the group's other calls. */
static uint64_t step_ms(const struct shuffle_coll *c)
{
	socklen_t len = sizeof(uint32_t);
	uint32_t idle = 0;

	if (c->timeout_ms)
		return c->timeout_ms;
	if (getsockopt(c->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, &len))
		return 0;
	return idle;
}

/* A call may begin, and what was sent before has arrived: after a fault our socket may be closed
 * while others are still in the call before, and nobody would send that again.
 */
int keys_begin(struct shuffle_coll *c)
{
	int rc = coll_begin(c);

	while (!rc && c->open_ops)
		rc = coll_advance(c, 0);
	return rc;
}

/* Our part of the tree, and the first chunk of each child may come. */
int keys_open(struct coll_keys *k, struct shuffle_coll *c, unsigned int root, int what,
	      struct shuffle_keys_fault *fault)
{
	struct work w = { 0 };
	uint32_t i;

	memset(k, 0, sizeof(*k));
	k->c = c;
	k->fault = fault;
	k->what = what;
	k->root = root == SHUFFLE_KEYS_ALL ? 0 : root;
	k->parent = SHUFFLE_KEYS_NOBODY;
	k->folded = 1;
	keys_fault_clear(fault);
	if (plan_tree(k, &w))
		return keys_fault(k, errno, SHUFFLE_KEYS_NOBODY, "no plan: %s", strerror(errno));
	k->hook = (struct coll_hook){ c->next_op, KEYS_OPS, data_came, place_for, keys_op_end };
	c->next_op += KEYS_OPS;
	k->step_ms = step_ms(c);
	if (take_edges(k, &w.plan))
		return -1;
	c->hook = &k->hook;
	for (i = 0; i < k->edges; i++)
		if (ask(k, &k->edge[i]))
			return -1;
	return 0;
}

void keys_close(struct coll_keys *k)
{
	uint32_t i;

	if (k->c && k->c->hook == &k->hook)
		k->c->hook = NULL;
	for (i = 0; k->edge && i < k->edges; i++)
		free(k->edge[i].buf);
	free(k->edge);
	free(k->edge_of);
	free(k->out);
}

/* ---- chunks ---- */

/* Wait for a chunk of this child. */
int keys_wait_for(struct coll_keys *k, struct keys_edge *e)
{
	while (!e->whole)
		if (keys_advance(k, 0))
			return -1;
	return check_chunk(k, e);
}

/* Wait for a chunk of any child: *which; NULL: all have ended. */
int keys_next(struct coll_keys *k, struct keys_edge **which)
{
	uint32_t i, open;

	for (;;) {
		for (i = 0, open = 0; i < k->edges; i++) {
			if (k->edge[i].last)
				continue;
			open++;
			if (!k->edge[i].whole)
				continue;
			*which = &k->edge[i];
			return check_chunk(k, *which);
		}
		*which = NULL;
		if (!open)
			return 0;
		if (keys_advance(k, 0))
			return -1;
	}
}

/* A chunk is of no use any more. */
int keys_taken(struct coll_keys *k, struct keys_edge *e)
{
	if (e->last)
		return 0;
	e->chunk++;
	return ask(k, e);
}

/* Send @size bytes, which are in @k->out behind the head. */
int keys_send(struct coll_keys *k, size_t size, int flags)
{
	struct shuffle_coll *c = k->c;
	uint64_t op;
	int rc = 0;

	while (k->sending >= AHEAD && !k->telling && !rc)
		rc = keys_advance(k, 0);
	if (rc)
		return rc;
	keys_write_head(k, k->out, flags);
	c->bufs[k->parent] = k->out;
	c->lens[k->parent] = KEYS_HEAD + size;
	k->sending++;
	op = k->hook.first + (k->sent++ << KEYS_RANK_BITS | c->rank);
	if (k->telling)
		k->telling_op = op;
	rc = keys_row(k, op, k->step_ms * (k->steps + 2));
	c->bufs[k->parent] = NULL;
	c->lens[k->parent] = SHUFFLE_ABSENT;
	return rc;
}

/* At the receiver: a member that was left out, or counted twice, would be a wrong result. */
int keys_all_folded(struct coll_keys *k)
{
	if (k->folded == k->c->count)
		return 0;
	return keys_fault(k, EPROTO, SHUFFLE_KEYS_NOBODY, "%u members are folded in, not %u",
			  k->folded, k->c->count);
}
