// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives: plans (net/shuffle/coll/) carried out by the kernel, or here.  Here each step in
 * which we take part is an operation; steps of others are none of ours.  A step is over when what
 * it brings us is there and the kernel has taken what we send: then memory that was sent may be
 * overwritten.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shuffle_coll.h"
#include "internal.h"
#include "../../net/shuffle/coll/blocks.h"
#include "../../net/shuffle/coll/combine.h"
#include "../../net/shuffle/coll/plan.h"

#define OPS_OF_CALL	(1ULL << 20)

/* auto: up to so many bytes the number of steps matters, above it what each link carries */
#define SHORT_BYTES	(32U << 10)
/* steps that a member which only sends has under way */
#define AHEAD		2
/* calls whose operations have not ended */
#define AHEAD_CALLS	64

/* long data goes in segments of so many bytes for each member */
#define SEGMENT_BYTES	2048
#define MOST_SEGMENTS	16

/* of a tree that gathers or scatters little: Li, section 2.1.4 */
#define GATHER_RADIX	6
#define BROADCAST_RADIX	7

/* Hops cost more than messages: to radix - 1 members at once.  A vector that is short even if all
 * members' are sent is combined by each of them.
 */
#define BRUCK_RADIX	4
#define GATHERED_BYTES	4096

enum engine { ENGINE_AUTO, ENGINE_KERNEL, ENGINE_USER, ENGINES };

struct shuffle_coll {
	int fd;
	enum engine engine;
	uint32_t rank;
	uint32_t count;
	uint64_t next_op;
	uint64_t timeout_ms;
	int pattern;			/* or -1: auto */
	uint32_t radix;
	struct shuffle_topology topo;
	struct shuffle_plan_msg *msg;	/* of the plan: room for max_msg */
	uint32_t max_msg;

	/* one step, by rank */
	uint64_t *lens;
	const void **bufs;
	uint64_t *absent;
	struct arrival **from;		/* NULL: nothing comes */

	struct shuffle_rx rx;
	uint64_t op;
	unsigned int arriving;		/* messages that are not whole */
	unsigned int open_ops;
	int error;
};

/* A message that comes. */
struct arrival {
	char *to;
	size_t size;
	size_t have;
	char *own;		/* not in place: to be freed */
};

/* One call: where the blocks are. */
struct work {
	struct shuffle_coll *c;
	struct shuffle_plan plan;
	struct shuffle_blocks blocks;
	int in_kernel;
	char *data;
	size_t size;
	size_t item;
	shuffle_combine combine;
	void *arg;
	struct arrival *in;	/* of a step */
	char **packed;		/* likewise, to be freed */
};

/* ---- records ---- */

static int record(void *arg, const struct shuffle_record *rec, const void *data)
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

static size_t place(void *arg, const struct shuffle_record *rec, void **data)
{
	struct shuffle_coll *c = arg;
	struct arrival *a = rec->op_id == c->op && rec->rank < c->count ? c->from[rec->rank] : NULL;

	if (!a || rec->offset + rec->len != a->have)
		return 0;
	*data = a->to + a->have;
	return a->size - a->have;
}

static int fail(struct shuffle_coll *c)
{
	if (!c->error)
		c->error = errno ? errno : EIO;
	errno = c->error;
	return -1;
}

/* Read what has come, or wait until something does.  events: what else to wait for. */
static int advance(struct shuffle_coll *c, short events)
{
	if (shuffle_rx_step(c->fd, &c->rx, MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return fail(c);
		if (wait_for(c->fd, POLLIN | events))
			return fail(c);
	}
	return c->error ? fail(c) : 0;
}

/* ---- blocks ---- */

static size_t bytes_of(const struct work *w, const struct shuffle_plan_msg *m)
{
	return shuffle_blocks_bytes(&w->blocks, m);
}

/* Call @f for each piece of a message's blocks: its place there and in the message. */
static void for_pieces(struct work *w, const struct shuffle_plan_msg *m, char *flat,
		       void (*f)(struct work *w, char *blocks, char *flat, size_t size, int how),
		       int how)
{
	struct shuffle_block_piece piece[2];
	uint32_t i, n = shuffle_blocks_pieces(&w->blocks, m, piece);

	for (i = 0; i < n; flat += piece[i].len, i++)
		f(w, w->data + piece[i].at, flat, piece[i].len, how);
}

static void copy_out(struct work *w, char *blocks, char *flat, size_t size, int how)
{
	(void)w;
	(void)how;
	memcpy(flat, blocks, size);
}

static void take_in(struct work *w, char *blocks, char *flat, size_t size, int how)
{
	if (how == SHUFFLE_COLL_STORE)
		memcpy(blocks, flat, size);
	else
		w->combine(w->arg, blocks, flat, size, how == SHUFFLE_COLL_BEFORE);
}

/* ---- a step ---- */

static int prepare_out(struct work *w, const struct shuffle_plan_msg *m, char **packed)
{
	struct shuffle_block_piece piece[2];
	uint32_t n = shuffle_blocks_pieces(&w->blocks, m, piece);
	struct shuffle_coll *c = w->c;
	size_t size = bytes_of(w, m);

	c->lens[m->peer] = size;
	c->bufs[m->peer] = n ? w->data + piece[0].at : NULL;
	if (n < 2)
		return 0;
	*packed = malloc(size);
	if (!*packed)
		return -1;
	for_pieces(w, m, *packed, copy_out, 0);
	c->bufs[m->peer] = *packed;
	return 0;
}

/* In place if nothing there is needed any more: neither combined with what comes nor sent. */
static int prepare_in(struct work *w, const struct shuffle_plan_msg *m, int sends,
		      struct arrival *a)
{
	struct shuffle_block_piece piece[2];
	uint32_t n = shuffle_blocks_pieces(&w->blocks, m, piece);
	struct shuffle_coll *c = w->c;

	a->size = bytes_of(w, m);
	if (n > 1 || (n && (m->take != SHUFFLE_COLL_STORE || sends))) {
		a->own = malloc(a->size);
		if (!a->own)
			return -1;
	}
	a->to = a->own ? a->own : n ? w->data + piece[0].at : NULL;
	c->from[m->peer] = a;
	c->absent[m->peer / 64] &= ~(1ULL << m->peer % 64);
	c->arriving++;
	return 0;
}

/* The messages [from, to) of the plan are those of one step. */
static int exchange(struct work *w, uint32_t from, uint32_t to)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	struct shuffle_coll *c = w->c;
	struct shuffle_tx tx;
	int sends = 0, sent, rc = 0;
	uint32_t i;

	c->arriving = 0;
	for (i = from; i < to && !rc; i++) {
		if (!msg[i].out)
			continue;
		sends = 1;
		rc = prepare_out(w, &msg[i], &w->packed[i - from]);
	}
	for (i = from; i < to && !rc; i++)
		if (!msg[i].out)
			rc = prepare_in(w, &msg[i], sends, &w->in[i - from]);
	if (rc)
		return fail(c);
	/* Operations share the link: the first segment would arrive with the last.  Who waits for
	 * others does not run ahead, anyway.
	 */
	while (!c->arriving && to < w->plan.n && c->open_ops >= AHEAD && !rc)
		rc = advance(c, 0);
	if (rc)
		return rc;
	c->op = c->next_op + msg[from].step;
	shuffle_tx_init(&tx, c->op, c->bufs, c->lens, c->count, c->timeout_ms);
	shuffle_tx_absent(&tx, c->absent);
	c->open_ops++;
	sent = shuffle_tx_step(c->fd, &tx);
	while (sent >= 0 && !rc && (!sent || c->arriving)) {
		rc = advance(c, sent ? 0 : POLLOUT);
		if (!rc && !sent)
			sent = shuffle_tx_step(c->fd, &tx);
	}
	return rc || sent < 0 ? fail(c) : 0;
}

/* What has come takes its place, in the order of the plan; the next step begins with nothing. */
static void end_step(struct work *w, uint32_t from, uint32_t to, int ok)
{
	const struct shuffle_plan_msg *msg = w->plan.msg;
	struct shuffle_coll *c = w->c;
	struct arrival *a;
	uint32_t i;

	for (i = from; i < to; i++) {
		a = &w->in[i - from];
		if (ok && a->own)
			for_pieces(w, &msg[i], a->own, take_in, msg[i].take);
		free(a->own);
		free(w->packed[i - from]);
		memset(a, 0, sizeof(*a));
		w->packed[i - from] = NULL;
		c->lens[msg[i].peer] = SHUFFLE_ABSENT;
		c->from[msg[i].peer] = NULL;
		c->absent[msg[i].peer / 64] |= 1ULL << msg[i].peer % 64;
	}
}

static int run_steps(struct work *w)
{
	const struct shuffle_plan *plan = &w->plan;
	uint32_t from = 0, to;
	int rc = 0;

	w->in = calloc(plan->n + 1, sizeof(*w->in));
	w->packed = calloc(plan->n + 1, sizeof(*w->packed));
	if (!w->in || !w->packed)
		rc = fail(w->c);
	for (; !rc && from < plan->n; from = to) {
		for (to = from; to < plan->n && plan->msg[to].step == plan->msg[from].step; to++)
			;
		rc = exchange(w, from, to);
		end_step(w, from, to, !rc);
	}
	free(w->in);
	free(w->packed);
	w->c->next_op += OPS_OF_CALL;
	return rc ? fail(w->c) : 0;
}

/* ---- in the kernel ---- */

/* What the kernel's engine can do: plans in which no member sends to another twice. */
static int kernel_can(const struct shuffle_coll *c, const struct shuffle_plan *plan,
		      shuffle_combine combine, size_t all_bytes)
{
	static const uint32_t once = 1U << SHUFFLE_COLL_FLAT | 1U << SHUFFLE_COLL_TREE |
				     1U << SHUFFLE_COLL_CHAIN | 1U << SHUFFLE_COLL_DOUBLING |
				     1U << SHUFFLE_COLL_GATHERED;

	/* doubling's exscan tells some members twice */
	if (c->engine == ENGINE_USER || (plan->kind == SHUFFLE_COLL_EXSCAN &&
					 plan->pattern == SHUFFLE_COLL_DOUBLING))
		return 0;
	if (plan->pattern == SHUFFLE_COLL_GATHERED)
		all_bytes *= c->count;
	return all_bytes <= SHUFFLE_COLL_MAX_BYTES && (once & 1U << plan->pattern) &&
	       (!shuffle_coll_combines(plan->kind) || combine == shuffle_combine_items);
}

static int send_collective(const struct work *w, const void *in, size_t in_len)
{
	uintptr_t items = (uintptr_t)w->arg;
	struct shuffle_collective coll = {
		.size = sizeof(coll),
		.op_id = w->c->op,
		.deadline_ms = w->c->timeout_ms,
		.len = w->size,
		.kind = w->plan.kind,
		.pattern = w->plan.pattern,
		.oper = w->combine ? items >> 8 : 0,
		.type = w->combine ? items & 0xff : 0,
		.root = w->plan.root,
		.radix = w->plan.radix,
	};
	char control[CMSG_SPACE(sizeof(coll))] = { 0 };
	struct iovec iov = { (void *)in, in_len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = SHUFFLE_CMSG_COLLECTIVE;
	cmsg->cmsg_len = CMSG_LEN(sizeof(coll));
	memcpy(CMSG_DATA(cmsg), &coll, sizeof(coll));
	return sendmsg(w->c->fd, &msg, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* @in: what we put in; @out: the result, of @out_len bytes; @result: there is one. */
static int run_in_kernel(struct work *w, const void *in, size_t in_len, void *out, size_t out_len,
			 int result)
{
	struct arrival a = { .to = out, .size = out_len };
	struct shuffle_coll *c = w->c;
	int rc = 0;

	c->op = c->next_op;
	c->next_op += OPS_OF_CALL;
	/* those that we only send to must not be left behind by many calls */
	while (c->open_ops >= AHEAD_CALLS && !rc)
		rc = advance(c, 0);
	/* one that has failed already says why when it is read */
	if (rc || (send_collective(w, in, in_len) && errno != EPIPE))
		return fail(c);
	c->open_ops++;
	c->arriving = result;
	c->from[c->rank] = &a;
	while (c->arriving && !rc)
		rc = advance(c, 0);
	c->from[c->rank] = NULL;
	return rc;
}

/* ---- which pattern ---- */

static uint32_t segments(size_t bytes_of_member)
{
	size_t n = bytes_of_member / SEGMENT_BYTES;

	return n > MOST_SEGMENTS ? MOST_SEGMENTS : n ? n : 1;
}

static int choose(const struct shuffle_coll *c, int kind, size_t all_bytes, uint32_t *radix)
{
	int few = all_bytes <= SHORT_BYTES;

	*radix = c->radix;
	if (c->pattern >= 0 && shuffle_plan_possible(kind, c->pattern))
		return c->pattern;
	switch (kind) {
	case SHUFFLE_COLL_SCATTER:
	case SHUFFLE_COLL_GATHER:
		*radix = GATHER_RADIX;
		return few ? SHUFFLE_COLL_TREE : SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_ALLGATHER:
		*radix = BRUCK_RADIX;
		return few ? SHUFFLE_COLL_DOUBLING : SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_BROADCAST:
	case SHUFFLE_COLL_REDUCE:
		if (few) {
			/* a child waits for the packets before its own, not for steps */
			*radix = kind == SHUFFLE_COLL_BROADCAST ? BROADCAST_RADIX : 0;
			return SHUFFLE_COLL_TREE;
		}
		*radix = segments(all_bytes / c->count);
		return SHUFFLE_COLL_SPREAD;
	case SHUFFLE_COLL_ALLREDUCE:
		if (all_bytes * c->count <= GATHERED_BYTES) {
			*radix = BRUCK_RADIX;
			return SHUFFLE_COLL_GATHERED;
		}
		return few ? SHUFFLE_COLL_DOUBLING : SHUFFLE_COLL_SPREAD;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_BARRIER:
		*radix = BRUCK_RADIX;
		return SHUFFLE_COLL_DOUBLING;
	default:
		*radix = BRUCK_RADIX;
		return all_bytes * c->count <= GATHERED_BYTES ? SHUFFLE_COLL_GATHERED :
								SHUFFLE_COLL_DOUBLING;
	}
}

/* The plan of a call, with room for its messages. */
static int make_plan(struct work *w, struct shuffle_coll *c, int kind, unsigned int root,
		     size_t all_bytes)
{
	struct shuffle_plan *plan = &w->plan;
	void *more;
	int err;

	if (c->error)
		return fail(c);
	w->c = c;
	w->item = w->item ? w->item : 1;
	if (root >= c->count || w->size % w->item) {
		errno = EINVAL;
		return -1;
	}
	plan->kind = kind;
	plan->topo = &c->topo;
	plan->root = root;
	plan->self = c->rank;
	plan->pattern = choose(c, kind, all_bytes, &plan->radix);
	do {
		plan->msg = c->msg;
		plan->max = c->max_msg;
		err = shuffle_plan_make(plan);
		if (err != -ENOSPC)
			break;
		more = realloc(c->msg, plan->n * sizeof(*c->msg));
		if (!more)
			return -1;
		c->msg = more;
		c->max_msg = plan->n;
	} while (1);
	errno = -err;
	if (err)
		return -1;
	w->blocks = (struct shuffle_blocks) {
		.n = plan->blocks,
		.by_member = shuffle_coll_by_member(kind, plan->pattern),
		.size = w->size,
		.item = w->item,
	};
	w->in_kernel = kernel_can(c, plan, w->combine, all_bytes);
	return 0;
}

/* ---- calls ---- */

int shuffle_barrier(struct shuffle_coll *c)
{
	struct work w = { 0 };

	if (make_plan(&w, c, SHUFFLE_COLL_BARRIER, 0, 0))
		return -1;
	return w.in_kernel ? run_in_kernel(&w, NULL, 0, NULL, 0, 1) : run_steps(&w);
}

int shuffle_broadcast(struct shuffle_coll *c, void *buf, size_t size, unsigned int root)
{
	struct work w = { .data = buf, .size = size };
	int is_root = c->rank == root;

	if (make_plan(&w, c, SHUFFLE_COLL_BROADCAST, root, size))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, buf, is_root ? size : 0, buf, size, !is_root);
	return run_steps(&w);
}

/* Blocks from ours on, as many as go through our hands. */
static int own_blocks(struct work *w)
{
	w->blocks.base = w->c->rank;
	w->data = malloc(shuffle_blocks_members(&w->blocks, &w->plan) * w->size + 1);
	return w->data ? 0 : fail(w->c);
}

int shuffle_scatter(struct shuffle_coll *c, const void *from, void *to, size_t size,
		    unsigned int root)
{
	struct work w = { .size = size };
	int rc, is_root = c->rank == root;

	if (make_plan(&w, c, SHUFFLE_COLL_SCATTER, root, size * c->count))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, from, is_root ? size * c->count : 0, to, size, 1);
	if (is_root) {
		/* only read there */
		w.data = (char *)from;
		rc = run_steps(&w);
		if (!rc && size)
			memmove(to, w.data + root * size, size);
		return rc;
	}
	if (own_blocks(&w))
		return -1;
	rc = run_steps(&w);
	if (!rc && size)
		memcpy(to, w.data, size);
	free(w.data);
	return rc;
}

int shuffle_gather(struct shuffle_coll *c, const void *from, void *to, size_t size,
		   unsigned int root)
{
	struct work w = { .size = size };
	int rc, is_root = c->rank == root;

	if (make_plan(&w, c, SHUFFLE_COLL_GATHER, root, size * c->count))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, from, size, to, size * c->count, is_root);
	if (is_root) {
		w.data = to;
		if (size)
			memmove(w.data + root * size, from, size);
		return run_steps(&w);
	}
	if (own_blocks(&w))
		return -1;
	if (size)
		memcpy(w.data, from, size);
	rc = run_steps(&w);
	free(w.data);
	return rc;
}

int shuffle_allgather(struct shuffle_coll *c, const void *from, void *to, size_t size)
{
	struct work w = { .data = to, .size = size };

	if (make_plan(&w, c, SHUFFLE_COLL_ALLGATHER, 0, size * c->count))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, from, size, to, size * c->count, 1);
	if (size)
		memmove(w.data + c->rank * size, from, size);
	return run_steps(&w);
}

/* Everybody's vector is gathered, and combined in order of rank. */
static int combine_gathered(struct work *w, const void *from, void *to)
{
	uint32_t i, n = shuffle_coll_gathered(w->plan.kind, w->c->rank, w->c->count);
	int rc;

	w->data = malloc(w->c->count * w->size + 1);
	if (!w->data)
		return fail(w->c);
	if (w->size)
		memcpy(w->data + w->c->rank * w->size, from, w->size);
	rc = run_steps(w);
	for (i = 1; i < n && !rc; i++)
		w->combine(w->arg, w->data, w->data + i * w->size, w->size, 0);
	if (!rc && w->size)
		memcpy(to, w->data, w->size);
	free(w->data);
	return rc;
}

/* Of a vector that is combined, in @to. */
static int combine_in(struct work *w, const void *from, void *to)
{
	if (w->plan.pattern == SHUFFLE_COLL_GATHERED)
		return combine_gathered(w, from, to);
	w->data = to;
	if (w->size && from != to)
		memmove(to, from, w->size);
	return run_steps(w);
}

int shuffle_reduce(struct shuffle_coll *c, const void *from, void *to, size_t size, size_t item,
		   shuffle_combine combine, void *arg, unsigned int root)
{
	struct work w = { .size = size, .item = item, .combine = combine, .arg = arg };
	int rc, is_root = c->rank == root;
	void *scratch = NULL;

	if (make_plan(&w, c, SHUFFLE_COLL_REDUCE, root, size))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, from, size, to, size, is_root);
	if (!is_root) {
		/* what others give us to combine */
		scratch = malloc(size + 1);
		to = scratch;
		if (!to)
			return fail(c);
	}
	rc = combine_in(&w, from, to);
	free(scratch);
	return rc;
}

int shuffle_allreduce(struct shuffle_coll *c, const void *from, void *to, size_t size, size_t item,
		      shuffle_combine combine, void *arg)
{
	struct work w = { .size = size, .item = item, .combine = combine, .arg = arg };

	if (make_plan(&w, c, SHUFFLE_COLL_ALLREDUCE, 0, size))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, from, size, to, size, 1);
	return combine_in(&w, from, to);
}

int shuffle_reduce_scatter(struct shuffle_coll *c, const void *from, void *to, size_t size,
			   shuffle_combine combine, void *arg)
{
	struct work w = { .size = size, .combine = combine, .arg = arg };
	int rc;

	if (make_plan(&w, c, SHUFFLE_COLL_REDUCE_SCATTER, 0, size * c->count))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, from, size * c->count, to, size, 1);
	/* of other members' blocks partial sums may be combined here */
	w.data = malloc(c->count * size + 1);
	if (!w.data)
		return fail(c);
	if (size)
		memcpy(w.data, from, c->count * size);
	rc = run_steps(&w);
	if (!rc && size)
		memcpy(to, w.data + c->rank * size, size);
	free(w.data);
	return rc;
}

int shuffle_scan(struct shuffle_coll *c, const void *from, void *to, size_t size,
		 shuffle_combine combine, void *arg, int exclusive)
{
	struct work w = { .size = size, .item = size ? size : 1, .combine = combine, .arg = arg };
	char *scratch;
	int rc;

	if (make_plan(&w, c, exclusive ? SHUFFLE_COLL_EXSCAN : SHUFFLE_COLL_SCAN, 0, size))
		return -1;
	if (w.in_kernel)
		return run_in_kernel(&w, from, size, to, size, !exclusive || c->rank);
	if (!exclusive)
		return combine_in(&w, from, to);
	scratch = malloc(size + 1);
	if (!scratch)
		return fail(c);
	rc = combine_in(&w, from, scratch);
	if (!rc && c->rank && size)
		memcpy(to, scratch, size);
	free(scratch);
	return rc;
}

void shuffle_combine_items(void *arg, void *into, const void *in, size_t size, int in_first)
{
	uintptr_t items = (uintptr_t)arg;

	(void)in_first;		/* all of them commute */
	shuffle_coll_combine(items >> 8, items & 0xff, into, in, size);
}

/* ---- a group ---- */

struct shuffle_coll *shuffle_coll_new(int fd, unsigned int rank, unsigned int count,
				      uint64_t first_op)
{
	size_t words = (count + 63) / 64;
	struct shuffle_coll *c;
	unsigned int i;

	if (!count || count > SHUFFLE_MAX_MEMBERS || rank >= count) {
		errno = EINVAL;
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->fd = fd;
	c->rank = rank;
	c->count = count;
	c->next_op = first_op;
	c->pattern = -1;
	c->topo.n = count;
	c->topo.racks = 1;
	c->lens = malloc(count * sizeof(*c->lens));
	c->bufs = calloc(count, sizeof(*c->bufs));
	c->absent = malloc(words * sizeof(*c->absent));
	c->from = calloc(count, sizeof(*c->from));
	if (!c->lens || !c->bufs || !c->absent || !c->from ||
	    shuffle_rx_init(&c->rx, record, place, c)) {
		c->error = ENOMEM;	/* nothing to wait for */
		shuffle_coll_free(c);
		errno = ENOMEM;
		return NULL;
	}
	for (i = 0; i < count; i++)
		c->lens[i] = SHUFFLE_ABSENT;
	memset(c->absent, 0xff, words * sizeof(*c->absent));
	/* no such ranks */
	if (count % 64)
		c->absent[words - 1] = (1ULL << count % 64) - 1;
	return c;
}

int shuffle_coll_free(struct shuffle_coll *c)
{
	int rc = 0;

	if (!c)
		return 0;
	while (c->open_ops && !c->error)
		advance(c, 0);
	if (c->error)
		rc = -1;
	errno = c->error;
	shuffle_rx_free(&c->rx);
	free(c->msg);
	free(c->lens);
	free(c->bufs);
	free(c->absent);
	free(c->from);
	free(c);
	return rc;
}

void shuffle_coll_timeout(struct shuffle_coll *c, uint64_t ms)
{
	c->timeout_ms = ms;
}

int shuffle_coll_engine(struct shuffle_coll *c, const char *name)
{
	static const char *const names[ENGINES] = { "auto", "kernel", "user" };
	int i;

	for (i = 0; i < ENGINES; i++) {
		if (strcmp(name, names[i]))
			continue;
		c->engine = i;
		return 0;
	}
	errno = EINVAL;
	return -1;
}

int shuffle_coll_pattern(struct shuffle_coll *c, const char *name, unsigned int radix)
{
	int i;

	if (!strcmp(name, "auto")) {
		c->pattern = -1;
		c->radix = 0;
		return 0;
	}
	for (i = 0; i < SHUFFLE_COLL_PATTERNS; i++) {
		if (strcmp(name, shuffle_coll_pattern_name(i)))
			continue;
		c->pattern = i;
		c->radix = radix;
		return 0;
	}
	errno = EINVAL;
	return -1;
}
