/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the collectives share.
 *
 *   coll.c		the calls
 *   coll_choose.c	which pattern
 *   coll_table.c	plans of the program's own
 *   coll_kernel.c	a call in the kernel
 *   coll_steps.c	a call in user space, step by step
 *   coll_multicast.c	does what a member sends to all reach all?
 *   coll_arrive.c	what arrives
 *   racks.c		who shares a rack
 *   coll_lengths.c	calls in which each member has a length of its own
 *   coll_alltoall.c	all-to-all of equal blocks
 *   coll_owners.c	over racks packed by owners
 *   coll_leaders.c	or by leaders
 *   coll_later.c	calls that the program does not wait for
 *   keys*.c		records merged by key (keys.h)
 */
#ifndef SHUFFLE_LIB_COLL_H
#define SHUFFLE_LIB_COLL_H

#include "shuffle_coll.h"
#include "internal.h"
#include "../../net/shuffle/coll/combine.h"
#include "plan/blocks.h"
#include "plan/plan.h"
#include "plan/plan_table.h"

/* How long members wait for one another to agree. */
#define AGREE_MS	60000
/* Operation ids of one call. */
#define COLL_OPS	(1ULL << 20)
/* of these, for its steps: more than twice the members */
#define COLL_STEPS	(1ULL << 13)

enum engine { ENGINE_AUTO, ENGINE_KERNEL, ENGINE_USER, ENGINES };

/* What comes in one step, by rank; NULL: nothing. */
struct coll_step {
	uint64_t op;
	struct arrival **from;
	unsigned int arriving;		/* messages that are not whole */
};

/* Operations [first, first + ops) are those of a call that takes what arrives itself. */
struct coll_hook {
	uint64_t first, ops;
	int (*data)(struct coll_hook *hook, const struct shuffle_record *rec, const void *data);
	size_t (*place)(struct coll_hook *hook, const struct shuffle_record *rec, void **data);
	/* DONE, FAILED and MISSING */
	void (*end)(struct coll_hook *hook, const struct shuffle_record *rec);
};

struct shuffle_coll {
	int fd;
	enum engine engine;
	uint32_t rank;
	uint32_t count;
	uint64_t next_op;
	uint64_t timeout_ms;
	int pattern;			/* or -1: auto */
	uint32_t radix;
	int multicast;			/* what each member sends to the address reaches all */
	int probing;			/* and that is being tried */
	struct shuffle_topology topo;
	uint32_t *first;		/* of its racks, or NULL */
	struct shuffle_plan_table *table[SHUFFLE_COLL_KINDS];	/* by kind, or NULL */
	int no_tables;			/* the call has a plan of its own */
	struct shuffle_plan_msg *msg;	/* of the plan: room for max_msg */
	uint32_t max_msg;
	struct shuffle_step *step;	/* of a call in the kernel: room for max_step */
	uint32_t max_step;

	/* one step, by rank */
	uint64_t *lens;
	const void **bufs;
	uint64_t *absent;

	struct coll_step now;
	struct coll_step before;	/* the step before that, if it has not ended */

	struct shuffle_rx rx;
	struct coll_hook *hook;		/* or NULL */
	shuffle_coll_waiter wait;	/* NULL: poll() */
	void *wait_arg;
	struct later *later;		/* calls that are not waited for, or NULL */
	int in_wait;			/* a call waits, in what the program may have named */
	uint8_t last_pattern;		/* of the call that was planned last */
	uint32_t last_radix;
	int last_in_kernel;
	uint64_t racks_op;		/* added to operation ids: other racks have others */
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

/* What a call that is made later is called with. */
struct later_args {
	const void *from;
	void *to;
	size_t size;
	size_t item;
	shuffle_combine combine;
	void *arg;
	unsigned int root;
	int exclusive;
};

/* One call: where the blocks are. */
struct work {
	struct shuffle_coll *c;
	struct shuffle_plan plan;
	struct shuffle_blocks blocks;
	int in_kernel;
	char *data;
	const char *out;	/* what is sent is here; NULL: in @data */
	void (*before_step)(struct work *w, uint32_t step);	/* or NULL */
	size_t size;
	size_t item;
	shuffle_combine combine;
	void *arg;		/* of @combine, or @before_step's */
	struct arrival *in;	/* by message of the plan */
	char **packed;		/* likewise, to be freed */
	uint8_t *marks;		/* by block: what a step does with it */
	uint32_t from, to;	/* messages of the step before, until it has ended */
};

/* All-to-all of one member over racks.  All it sends is in @out, all it receives in @in: what is in
 * there, see the files of the packings.
 */
struct coll_packed {
	const struct coll_packing *by;
	const struct shuffle_topology *topo;
	struct shuffle_seat seat;
	size_t size;		/* of a block */
	uint32_t blocks;	/* of @out, and of @in */
	uint32_t turned;	/* steps that @out is ready for */
	char *out, *in;
	uint32_t owned;		/* by owners: members, ourselves included */
	uint32_t *place;	/* likewise: members in the order of the row in @out */
};

struct coll_packing {
	int (*prepare)(struct coll_packed *m);		/* -1: no memory */
	void (*plan)(const struct coll_packed *m, struct shuffle_plan *plan);
	void (*pack)(const struct coll_packed *m, const char *from);
	/* what is received before @step to where it is sent from */
	void (*turn)(const struct coll_packed *m, uint32_t step);
	void (*unpack)(const struct coll_packed *m, char *to);
};

#pragma GCC visibility push(hidden)

/* coll.c */
int coll_begin(struct shuffle_coll *c);
int coll_make_plan(struct work *w, struct shuffle_coll *c, int kind, unsigned int root,
		   size_t all_bytes);
int coll_settable(const struct shuffle_coll *c);
uint64_t coll_mix(uint64_t digest, uint64_t part);
uint64_t coll_digest(const struct work *w, uint64_t items);

/* coll_table.c */
const struct shuffle_plan_table *coll_table(const struct shuffle_coll *c, int kind, uint32_t root);
void coll_tables_free(struct shuffle_coll *c);

/* coll_arrive.c */
int coll_record(void *arg, const struct shuffle_record *rec, const void *data);
size_t coll_place(void *arg, const struct shuffle_record *rec, void **data);
int coll_fail(struct shuffle_coll *c);
int coll_wait(struct shuffle_coll *c, short events);
int coll_advance(struct shuffle_coll *c, short events);

/* coll_later.c */
int coll_is_later(const struct shuffle_coll *c);
void coll_later_waits(struct shuffle_coll *c, short events);
int coll_later_first(struct shuffle_coll *c);
int coll_later_any(const struct shuffle_coll *c);
void coll_later_end(struct shuffle_coll *c);

/* coll_steps.c */
int coll_run_steps(struct work *w);

/* coll_kernel.c */
int coll_kernel_can(const struct work *w);
int coll_run_in_kernel(struct work *w, const void *in, void *out, size_t out_len, int result);

/* coll_multicast.c */
int coll_sends_same(const struct work *w, uint32_t from, uint32_t to);

/* coll_choose.c */
int coll_choose(const struct shuffle_coll *c, int kind, size_t all_bytes, uint32_t *radix);
int coll_choose_alltoall(const struct shuffle_coll *c, size_t size);

/* coll_alltoall.c */
int coll_packed_init(struct coll_packed *m, const struct coll_packing *by,
		     const struct shuffle_topology *topo, uint32_t self, size_t size);
void coll_packed_free(struct coll_packed *m);
void coll_packed_turn(struct coll_packed *m, uint32_t step);
void coll_copy_blocks(const struct coll_packed *m, char *to, size_t to_block, const char *from,
		      size_t from_block, size_t n);

/* coll_owners.c, coll_leaders.c */
extern const struct coll_packing coll_by_owners, coll_by_leaders;

#pragma GCC visibility pop

#endif /* SHUFFLE_LIB_COLL_H */
