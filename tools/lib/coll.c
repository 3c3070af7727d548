// SPDX-License-Identifier: BSD-3-Clause
/* Collectives: the calls, and a group that makes them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* ---- the calls ---- */

/* Of what the kernel has, too: the same operators and whole items in user space. */
static int can_combine(const struct work *w)
{
	uintptr_t items = (uintptr_t)w->arg;

	return w->combine != shuffle_combine_items ||
	       (shuffle_coll_can_combine(items >> 8, items & 0xff) &&
		w->size % shuffle_coll_item(items & 0xff) == 0);
}

/* May a call be made now?  Those that have begun come first. */
int coll_begin(struct shuffle_coll *c)
{
	if (c->in_wait) {
		errno = EDEADLK;	/* what a call waits with makes another one */
		return -1;
	}
	return c->error || coll_later_first(c) ? coll_fail(c) : 0;
}

/* The plan of a call, with room for its messages. */
int coll_make_plan(struct work *w, struct shuffle_coll *c, int kind, unsigned int root,
		   size_t all_bytes)
{
	struct shuffle_plan *plan = &w->plan;
	void *more;
	int err;

	if (coll_begin(c))
		return -1;
	w->c = c;
	w->item = w->item ? w->item : 1;
	if (root >= c->count || w->size % w->item || !can_combine(w)) {
		errno = EINVAL;
		return -1;
	}
	plan->kind = kind;
	plan->topo = &c->topo;
	plan->root = root;
	plan->self = c->rank;
	plan->table = coll_table(c, kind, root);
	if (plan->table) {
		plan->pattern = SHUFFLE_PLAN_EXPLICIT;
	} else if (c->pattern >= 0 && shuffle_plan_possible(kind, c->pattern)) {
		plan->pattern = c->pattern;
		plan->radix = c->radix;
	} else {
		plan->pattern = coll_choose(c, kind, all_bytes, &plan->radix);
	}
	do {
		plan->msg = c->msg;
		plan->max = c->max_msg;
		err = shuffle_plan_of(plan);
		if (err != -ENOSPC)
			break;
		more = reallocarray(c->msg, plan->n, sizeof(*c->msg));
		if (!more)
			return coll_fail(c);
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
	w->in_kernel = coll_kernel_can(w);
	c->last_pattern = plan->pattern;
	c->last_radix = plan->radix;
	c->last_in_kernel = w->in_kernel;
	return 0;
}

const char *shuffle_coll_chosen(const struct shuffle_coll *c, unsigned int *radix, int *in_kernel)
{
	*radix = c->last_radix;
	*in_kernel = c->last_in_kernel;
	return shuffle_coll_pattern_name(c->last_pattern);
}

int shuffle_barrier(struct shuffle_coll *c)
{
	struct work w = { 0 };

	if (coll_make_plan(&w, c, SHUFFLE_COLL_BARRIER, 0, 0))
		return -1;
	return w.in_kernel ? coll_run_in_kernel(&w, NULL, NULL, 0, 1) : coll_run_steps(&w);
}

int shuffle_broadcast(struct shuffle_coll *c, void *buf, size_t size, unsigned int root)
{
	struct work w = { .data = buf, .size = size };
	int is_root = c->rank == root;

	if (coll_make_plan(&w, c, SHUFFLE_COLL_BROADCAST, root, size))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, buf, buf, size, !is_root);
	return coll_run_steps(&w);
}

/* Blocks from ours on, as many as go through our hands. */
static int own_blocks(struct work *w)
{
	w->blocks.base = w->c->rank;
	w->data = malloc(shuffle_blocks_members(&w->blocks, &w->plan) * w->size + 1);
	return w->data ? 0 : coll_fail(w->c);
}

/* Does the root get back what it has sent?  By COOL it may. */
static int receives(const struct shuffle_plan *plan)
{
	uint32_t i;

	for (i = 0; i < plan->n; i++)
		if (!plan->msg[i].out)
			return 1;
	return 0;
}

/* All blocks from the root's on. */
static void from_root_on(struct work *w, const char *from)
{
	size_t before = w->c->rank * w->size, behind = w->c->count * w->size - before;

	if (!w->size)
		return;
	memcpy(w->data, from + before, behind);
	memcpy(w->data + behind, from, before);
}

int shuffle_scatter(struct shuffle_coll *c, const void *from, void *to, size_t size,
		    unsigned int root)
{
	struct work w = { .size = size };
	int rc, is_root = c->rank == root;

	if (coll_make_plan(&w, c, SHUFFLE_COLL_SCATTER, root, size * c->count))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, from, to, size, 1);
	if (is_root && !receives(&w.plan)) {
		w.data = (char *)from;
		rc = coll_run_steps(&w);
		if (!rc && size)
			memmove(to, w.data + root * size, size);
		return rc;
	}
	if (own_blocks(&w))
		return -1;
	if (is_root)
		from_root_on(&w, from);
	rc = coll_run_steps(&w);
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

	if (coll_make_plan(&w, c, SHUFFLE_COLL_GATHER, root, size * c->count))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, from, to, size * c->count, is_root);
	if (is_root) {
		w.data = to;
		if (size)
			memmove(w.data + root * size, from, size);
		return coll_run_steps(&w);
	}
	if (own_blocks(&w))
		return -1;
	if (size)
		memcpy(w.data, from, size);
	rc = coll_run_steps(&w);
	free(w.data);
	return rc;
}

int shuffle_allgather(struct shuffle_coll *c, const void *from, void *to, size_t size)
{
	struct work w = { .data = to, .size = size };

	if (coll_make_plan(&w, c, SHUFFLE_COLL_ALLGATHER, 0, size * c->count))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, from, to, size * c->count, 1);
	if (size)
		memmove(w.data + c->rank * size, from, size);
	return coll_run_steps(&w);
}

/* Everybody's vector is gathered, and combined in order of rank. */
static int combine_gathered(struct work *w, const void *from, void *to)
{
	uint32_t i, n = shuffle_coll_gathered(w->plan.kind, w->c->rank, w->c->count);
	int rc;

	w->data = malloc(w->c->count * w->size + 1);
	if (!w->data)
		return coll_fail(w->c);
	if (w->size)
		memcpy(w->data + w->c->rank * w->size, from, w->size);
	rc = coll_run_steps(w);
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
	return coll_run_steps(w);
}

int shuffle_reduce(struct shuffle_coll *c, const void *from, void *to, size_t size, size_t item,
		   shuffle_combine combine, void *arg, unsigned int root)
{
	struct work w = { .size = size, .item = item, .combine = combine, .arg = arg };
	int rc, is_root = c->rank == root;
	void *scratch = NULL;

	if (coll_make_plan(&w, c, SHUFFLE_COLL_REDUCE, root, size))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, from, to, size, is_root);
	if (!is_root) {
		/* what others give us to combine */
		scratch = malloc(size + 1);
		to = scratch;
		if (!to)
			return coll_fail(c);
	}
	rc = combine_in(&w, from, to);
	free(scratch);
	return rc;
}

int shuffle_allreduce(struct shuffle_coll *c, const void *from, void *to, size_t size, size_t item,
		      shuffle_combine combine, void *arg)
{
	struct work w = { .size = size, .item = item, .combine = combine, .arg = arg };

	if (coll_make_plan(&w, c, SHUFFLE_COLL_ALLREDUCE, 0, size))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, from, to, size, 1);
	return combine_in(&w, from, to);
}

int shuffle_reduce_scatter(struct shuffle_coll *c, const void *from, void *to, size_t size,
			   shuffle_combine combine, void *arg)
{
	struct work w = { .size = size, .combine = combine, .arg = arg };
	int rc;

	if (coll_make_plan(&w, c, SHUFFLE_COLL_REDUCE_SCATTER, 0, size * c->count))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, from, to, size, 1);
	/* of other members' blocks partial sums may be combined here */
	w.data = malloc(c->count * size + 1);
	if (!w.data)
		return coll_fail(c);
	if (size)
		memcpy(w.data, from, c->count * size);
	rc = coll_run_steps(&w);
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

	if (coll_make_plan(&w, c, exclusive ? SHUFFLE_COLL_EXSCAN : SHUFFLE_COLL_SCAN, 0, size))
		return -1;
	if (w.in_kernel)
		return coll_run_in_kernel(&w, from, to, size, !exclusive || c->rank);
	if (!exclusive)
		return combine_in(&w, from, to);
	scratch = malloc(size + 1);
	if (!scratch)
		return coll_fail(c);
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

/* The first member of each rack, and behind them the number of members; NULL: EINVAL or ENOMEM. */
static uint32_t *first_members(uint32_t count, const unsigned int *size, unsigned int racks)
{
	uint32_t *first, i;

	errno = EINVAL;
	if (racks > count)
		return NULL;
	first = malloc((racks + 1) * sizeof(*first));
	if (!first)
		return NULL;
	first[0] = 0;
	for (i = 0; i < racks && size[i] && size[i] <= count - first[i]; i++)
		first[i + 1] = first[i] + size[i];
	if (i == racks && first[i] == count)
		return first;
	free(first);
	errno = EINVAL;
	return NULL;
}

/* Members that know other racks have other plans, and a message of one plan may be what another one
 * expects.  So they use other operations, and time out, but for one case in 127.
 */
static void set_racks(struct shuffle_coll *c, uint32_t *first, uint32_t racks)
{
	uint64_t hash = 0;
	uint32_t i;

	for (i = 1; i < racks; i++)
		hash = (hash + first[i]) * 0x9e3779b97f4a7c15ULL;
	c->racks_op = racks > 1 ? (1 + (hash >> 32) % 126) * COLL_STEPS : 0;
	c->topo.first = first;
	c->topo.racks = racks ? racks : 1;
}

/* Racks of the socket's group, as its namespace's table has them. */
static int adopt_racks(struct shuffle_coll *c)
{
	unsigned int *size = malloc(c->count * sizeof(*size));
	int racks = size ? shuffle_racks(c->fd, size, c->count) : -1;

	if (racks > 0)
		c->first = first_members(c->count, size, racks);
	free(size);
	/* one rack at this member only would be another plan */
	if (racks < 0 || (racks && !c->first))
		return -1;
	set_racks(c, c->first, racks);
	return 0;
}

uint64_t coll_mix(uint64_t digest, uint64_t part)
{
	digest = (digest ^ part) * 0x9e3779b97f4a7c15ULL;
	return digest ^ digest >> 29;
}

/* Version of what plans make of a call: members that have others are told so (EPROTO).  To be
 * raised with every change of who sends what to whom, and in which step.
 */
#define PLANS	2

/* Items of which we know the type are little-endian on the wire.  What a program combines itself is
 * in the byte order of its machine.  0: nothing is combined.
 */
static uint64_t byte_order(const struct work *w)
{
	if (!w->combine)
		return 0;
	return 1 + (w->combine != shuffle_combine_items && htonl(1) == 1);
}

/* What all members of a call have to agree on.  @items: operator and type, where a kernel
 * combines.
 */
uint64_t coll_digest(const struct work *w, uint64_t items)
{
	const uint64_t parts[] = {
		w->plan.kind, w->plan.pattern, w->plan.radix, items,
		byte_order(w),
		PLANS,
	};
	uint64_t digest = 0xcbf29ce484222325ULL;
	unsigned int i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		digest = coll_mix(digest, parts[i]);
	return digest;
}

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
	if (first_op == SHUFFLE_COLL_AGREE && shuffle_agree(fd, count, AGREE_MS, &first_op, &i))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->fd = fd;
	c->rank = rank;
	c->count = count;
	c->next_op = first_op;
	c->now.op = UINT64_MAX;
	c->before.op = UINT64_MAX;
	c->pattern = -1;
	c->topo.n = count;
	c->topo.racks = 1;
	c->lens = malloc(count * sizeof(*c->lens));
	c->bufs = calloc(count, sizeof(*c->bufs));
	c->absent = malloc(words * sizeof(*c->absent));
	c->now.from = calloc(count, sizeof(*c->now.from));
	c->before.from = calloc(count, sizeof(*c->before.from));
	if (!c->lens || !c->bufs || !c->absent || !c->now.from || !c->before.from ||
	    shuffle_rx_init(&c->rx, coll_record, coll_place, c)) {
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
	if (adopt_racks(c)) {
		c->error = errno;
		shuffle_coll_free(c);
		return NULL;
	}
	return c;
}

void shuffle_coll_abort(struct shuffle_coll *c, int error)
{
	errno = error;
	coll_fail(c);
}

int shuffle_coll_free(struct shuffle_coll *c)
{
	int rc = 0;

	if (!c)
		return 0;
	if (coll_is_later(c) || c->in_wait) {
		errno = EDEADLK;	/* it would free what the call that waits works with */
		return -1;
	}
	coll_later_end(c);
	while (c->open_ops && !c->error)
		coll_advance(c, 0);
	if (c->error)
		rc = -1;
	errno = c->error;
	shuffle_rx_free(&c->rx);
	free(c->msg);
	free(c->step);
	free(c->lens);
	free(c->bufs);
	free(c->absent);
	free(c->now.from);
	free(c->before.from);
	free(c->first);
	coll_tables_free(c);
	free(c);
	return rc;
}

void shuffle_coll_wait(struct shuffle_coll *c, shuffle_coll_waiter wait, void *arg)
{
	c->wait = wait;
	c->wait_arg = arg;
}

void shuffle_coll_timeout(struct shuffle_coll *c, uint64_t ms)
{
	c->timeout_ms = ms;
}

/* Calls that have begun are planned when their turn comes, and one that waits goes by its plan. */
int coll_settable(const struct shuffle_coll *c)
{
	if (!coll_later_any(c) && !c->in_wait)
		return 1;
	errno = EBUSY;
	return 0;
}

int shuffle_coll_racks(struct shuffle_coll *c, const unsigned int *size, unsigned int racks)
{
	uint32_t *first = NULL;

	if (!coll_settable(c))
		return -1;
	if (racks) {
		first = first_members(c->count, size, racks);
		if (!first)
			return -1;
	}
	free(c->first);
	c->first = first;
	set_racks(c, first, racks);
	return 0;
}

int shuffle_coll_engine(struct shuffle_coll *c, const char *name)
{
	static const char *const names[ENGINES] = { "auto", "kernel", "user" };
	int i;

	if (!coll_settable(c))
		return -1;
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

	if (!coll_settable(c))
		return -1;
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
