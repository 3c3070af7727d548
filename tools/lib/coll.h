/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the collectives share.
 *
 *   coll.c		the calls
 *   coll_choose.c	which pattern
 *   coll_kernel.c	a call in the kernel
 *   coll_steps.c	a call in user space, step by step
 *   coll_arrive.c	what arrives
 */
#ifndef SHUFFLE_LIB_COLL_H
#define SHUFFLE_LIB_COLL_H

#include "shuffle_coll.h"
#include "internal.h"
#include "../../net/shuffle/coll/blocks.h"
#include "../../net/shuffle/coll/combine.h"
#include "../../net/shuffle/coll/plan.h"

/* Operation ids of one call. */
#define COLL_OPS	(1ULL << 20)

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
	uint32_t *first;		/* of its racks, or NULL */
	struct shuffle_plan_msg *msg;	/* of the plan: room for max_msg */
	uint32_t max_msg;

	/* one step, by rank */
	uint64_t *lens;
	const void **bufs;
	uint64_t *absent;
	struct arrival **from;		/* NULL: nothing comes */

	struct shuffle_rx rx;
	shuffle_coll_waiter wait;	/* NULL: poll() */
	void *wait_arg;
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

#pragma GCC visibility push(hidden)

/* coll_arrive.c */
int coll_record(void *arg, const struct shuffle_record *rec, const void *data);
size_t coll_place(void *arg, const struct shuffle_record *rec, void **data);
int coll_fail(struct shuffle_coll *c);
int coll_advance(struct shuffle_coll *c, short events);

/* coll_steps.c */
int coll_run_steps(struct work *w);

/* coll_kernel.c */
int coll_kernel_can(const struct work *w);
int coll_run_in_kernel(struct work *w, const void *in, size_t in_len, void *out, size_t out_len,
		       int result);

/* coll_choose.c */
int coll_choose(int kind, size_t all_bytes, const struct shuffle_topology *topo, uint32_t *radix);

#pragma GCC visibility pop

#endif /* SHUFFLE_LIB_COLL_H */
