// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that the program does not wait for.  Each is made on a stack of its own: where it would
 * wait, it goes back to the program, and goes on from there when the program asks next.  So all
 * that calls are made of is written once.  Calls of a group are made one behind the other, in the
 * order in which they have begun; one stack is enough.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "coll.h"

/* for the deepest call, and a function of the program that combines */
#define STACK_BYTES	(256UL << 10)
#define GUARD_BYTES	(64UL << 10)

struct shuffle_coll_request {
	struct shuffle_coll *c;
	struct shuffle_coll_request *next;
	shuffle_coll_call call;
	void *arg;
	struct later_args own;		/* that @arg points to, of calls by their names */
	int begun, done, rc, error;
};

/* Where calls of a group are made. */
struct later {
	struct shuffle_coll_request *first, **last;
	struct shuffle_coll_request *done;	/* that the program has not asked about */
	ucontext_t self, program;
	char *stack;
	short events;			/* of poll(): what the first one waits for */
	int inside;			/* it runs */
};

static void drop_stack(struct later *l)
{
	munmap(l->stack, GUARD_BYTES + STACK_BYTES);
}

static struct later *new_later(void)
{
	struct later *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->last = &l->first;
	l->stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (l->stack == MAP_FAILED) {
		free(l);
		return NULL;
	}
	/* one that runs over the end is to crash there */
	if (mprotect(l->stack, GUARD_BYTES, PROT_NONE)) {
		drop_stack(l);
		free(l);
		return NULL;
	}
	return l;
}

/* makecontext() passes on nothing but int */
static void run(unsigned int high, unsigned int low)
{
	struct shuffle_coll_request *r =
		(void *)(uintptr_t)((uint64_t)high << 32 | low);

	errno = 0;
	r->rc = r->call(r->c, r->arg);
	r->error = errno;
	r->done = 1;
}

static void begin_or_resume(struct later *l, struct shuffle_coll_request *r)
{
	if (!r->begun) {
		r->begun = 1;
		getcontext(&l->self);
		l->self.uc_stack.ss_sp = l->stack + GUARD_BYTES;
		l->self.uc_stack.ss_size = STACK_BYTES;
		l->self.uc_link = &l->program;
		makecontext(&l->self, (void (*)(void))run, 2,
			    (unsigned int)((uint64_t)(uintptr_t)r >> 32),
			    (unsigned int)(uintptr_t)r);
	}
	l->inside = 1;
	swapcontext(&l->program, &l->self);
	l->inside = 0;
}

static void set_done(struct later *l, struct shuffle_coll_request *r)
{
	l->first = r->next;
	if (!l->first)
		l->last = &l->first;
	r->next = l->done;
	l->done = r;
}

/* Go on, until a call has to wait.  Not while one goes on, nor in the middle of one that is waited
 * for, which has its plan and its messages where this one would have them.
 */
static void go_on(struct shuffle_coll *c)
{
	struct later *l = c->later;
	struct shuffle_coll_request *r;

	while (!l->inside && !c->in_wait && (r = l->first)) {
		begin_or_resume(l, r);
		if (!r->done)
			return;
		set_done(l, r);
	}
}

int coll_later_any(const struct shuffle_coll *c)
{
	return c->later && c->later->first;
}

int coll_is_later(const struct shuffle_coll *c)
{
	return c->later && c->later->inside;
}

void coll_later_waits(struct shuffle_coll *c, short events)
{
	struct later *l = c->later;

	l->events = events;
	swapcontext(&l->self, &l->program);
}

/* Until @r has ended, or all have; NULL: all. */
static int wait_until(struct shuffle_coll *c, const struct shuffle_coll_request *r)
{
	while (coll_later_any(c)) {
		go_on(c);
		if (!coll_later_any(c) || (r && r->done))
			break;
		if (coll_wait(c, c->later->events))
			return coll_fail(c);
	}
	return 0;
}

int coll_later_first(struct shuffle_coll *c)
{
	return coll_is_later(c) ? 0 : wait_until(c, NULL);
}

void coll_later_end(struct shuffle_coll *c)
{
	struct shuffle_coll_request *r;
	struct later *l = c->later;

	if (!l)
		return;
	/* those that wait find the error, and free what is theirs */
	if (coll_later_any(c)) {
		errno = ECANCELED;
		coll_fail(c);
	}
	while ((r = l->first)) {
		while (!r->done)
			begin_or_resume(l, r);
		set_done(l, r);
	}
	while ((r = l->done)) {
		l->done = r->next;
		free(r);
	}
	drop_stack(l);
	free(l);
	c->later = NULL;
}

static struct shuffle_coll_request *begin(struct shuffle_coll *c, shuffle_coll_call call, void *arg,
					  const struct later_args *own)
{
	struct shuffle_coll_request *r;

	if (!c->later)
		c->later = new_later();
	r = c->later ? calloc(1, sizeof(*r)) : NULL;
	if (!r) {
		/* the others make the call */
		errno = ENOMEM;
		coll_fail(c);
		return NULL;
	}
	r->c = c;
	r->call = call;
	r->arg = arg;
	if (own) {
		r->own = *own;
		r->arg = &r->own;
	}
	*c->later->last = r;
	c->later->last = &r->next;
	/* as far as it comes without waiting */
	if (c->later->first == r)
		go_on(c);
	return r;
}

struct shuffle_coll_request *shuffle_coll_begin(struct shuffle_coll *c, shuffle_coll_call call,
						void *arg)
{
	return begin(c, call, arg, NULL);
}

static int end(struct shuffle_coll_request *r)
{
	struct shuffle_coll_request **at = &r->c->later->done;
	int rc = r->rc, error = r->error;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	free(r);
	errno = error;
	return rc ? -1 : 0;
}

int shuffle_coll_test(struct shuffle_coll_request *r, int *done)
{
	if (!r->done)
		go_on(r->c);
	*done = r->done;
	return r->done ? end(r) : 0;
}

int shuffle_coll_finish(struct shuffle_coll_request *r)
{
	/* from a call that goes on itself */
	if (!r->done && (r->c->later->inside || r->c->in_wait)) {
		errno = EDEADLK;
		return -1;
	}
	while (!r->done)
		if (wait_until(r->c, r) && !r->done)
			go_on(r->c);
	return end(r);
}

short shuffle_coll_events(const struct shuffle_coll *c)
{
	return coll_later_any(c) ? c->later->events : 0;
}

/* ---- the calls by their names ---- */

static int call_barrier(struct shuffle_coll *c, void *arg)
{
	(void)arg;
	return shuffle_barrier(c);
}

static int call_broadcast(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_broadcast(c, a->to, a->size, a->root);
}

static int call_scatter(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_scatter(c, a->from, a->to, a->size, a->root);
}

static int call_gather(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_gather(c, a->from, a->to, a->size, a->root);
}

static int call_allgather(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_allgather(c, a->from, a->to, a->size);
}

static int call_alltoall(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_alltoall(c, a->from, a->to, a->size);
}

static int call_reduce(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_reduce(c, a->from, a->to, a->size, a->item, a->combine, a->arg, a->root);
}

static int call_allreduce(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_allreduce(c, a->from, a->to, a->size, a->item, a->combine, a->arg);
}

static int call_reduce_scatter(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_reduce_scatter(c, a->from, a->to, a->size, a->combine, a->arg);
}

static int call_scan(struct shuffle_coll *c, void *arg)
{
	const struct later_args *a = arg;

	return shuffle_scan(c, a->from, a->to, a->size, a->combine, a->arg, a->exclusive);
}

struct shuffle_coll_request *shuffle_ibarrier(struct shuffle_coll *c)
{
	return begin(c, call_barrier, NULL, NULL);
}

struct shuffle_coll_request *shuffle_ibroadcast(struct shuffle_coll *c, void *buf, size_t size,
						unsigned int root)
{
	const struct later_args a = { .to = buf, .size = size, .root = root };

	return begin(c, call_broadcast, NULL, &a);
}

struct shuffle_coll_request *shuffle_iscatter(struct shuffle_coll *c, const void *from, void *to,
					      size_t size, unsigned int root)
{
	const struct later_args a = { .from = from, .to = to, .size = size, .root = root };

	return begin(c, call_scatter, NULL, &a);
}

struct shuffle_coll_request *shuffle_igather(struct shuffle_coll *c, const void *from, void *to,
					     size_t size, unsigned int root)
{
	const struct later_args a = { .from = from, .to = to, .size = size, .root = root };

	return begin(c, call_gather, NULL, &a);
}

struct shuffle_coll_request *shuffle_iallgather(struct shuffle_coll *c, const void *from, void *to,
						size_t size)
{
	const struct later_args a = { .from = from, .to = to, .size = size };

	return begin(c, call_allgather, NULL, &a);
}

struct shuffle_coll_request *shuffle_ialltoall(struct shuffle_coll *c, const void *from, void *to,
					       size_t size)
{
	const struct later_args a = { .from = from, .to = to, .size = size };

	return begin(c, call_alltoall, NULL, &a);
}

struct shuffle_coll_request *shuffle_ireduce(struct shuffle_coll *c, const void *from, void *to,
					     size_t size, size_t item, shuffle_combine combine,
					     void *arg, unsigned int root)
{
	const struct later_args a = {
		.from = from, .to = to, .size = size, .item = item, .combine = combine, .arg = arg,
		.root = root,
	};

	return begin(c, call_reduce, NULL, &a);
}

struct shuffle_coll_request *shuffle_iallreduce(struct shuffle_coll *c, const void *from, void *to,
						size_t size, size_t item, shuffle_combine combine,
						void *arg)
{
	const struct later_args a = {
		.from = from, .to = to, .size = size, .item = item, .combine = combine, .arg = arg,
	};

	return begin(c, call_allreduce, NULL, &a);
}

struct shuffle_coll_request *shuffle_ireduce_scatter(struct shuffle_coll *c, const void *from,
						     void *to, size_t size, shuffle_combine combine,
						     void *arg)
{
	const struct later_args a = {
		.from = from, .to = to, .size = size, .combine = combine, .arg = arg,
	};

	return begin(c, call_reduce_scatter, NULL, &a);
}

struct shuffle_coll_request *shuffle_iscan(struct shuffle_coll *c, const void *from, void *to,
					   size_t size, shuffle_combine combine, void *arg,
					   int exclusive)
{
	const struct later_args a = {
		.from = from, .to = to, .size = size, .combine = combine, .arg = arg,
		.exclusive = exclusive,
	};

	return begin(c, call_scan, NULL, &a);
}
