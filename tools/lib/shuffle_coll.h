/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libshuffle: collectives on an AF_SHUFFLE socket.  Every step of a plan is an operation of the
 * group in which only the messages of the step exist (SHUFFLE_ABSENT); what is combined is combined
 * here, by a function of the program.
 *
 * All members call the same collectives in the same order, as in MPI.  A call returns when its
 * result is there and its own data is in the kernel's hands: all memory is the program's again.
 * Every function returns -1 and sets errno on error; after one the group is of no use any more.
 */
#ifndef SHUFFLE_COLL_H
#define SHUFFLE_COLL_H

#include "shuffle.h"
#include "shuffle_coll_kind.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shuffle_coll;

/* fd: a socket that has joined its group of @count members as @rank.  first_op: where the
 * operation ids begin, the same at all members; a collective takes 2^20 of them.  Other operations
 * of the socket must have ended.  SHUFFLE_COLL_AGREE: the members agree (shuffle_agree()), which
 * waits for all of them, a minute at most.
 */
#define SHUFFLE_COLL_AGREE	UINT64_MAX
struct shuffle_coll *shuffle_coll_new(int fd, unsigned int rank, unsigned int count,
				      uint64_t first_op);
/* For a member that cannot make a call that the others make: from now on all fail with @error. */
void shuffle_coll_abort(struct shuffle_coll *c, int error);
/* Waits until all that was sent has arrived; the socket stays open.  Calls that have begun and are
 * not done end with ECANCELED; all requests are gone.  Not from a call that goes on: EDEADLK.
 */
int shuffle_coll_free(struct shuffle_coll *c);

/* Milliseconds for each step until a call fails with ETIMEDOUT; 0, the default: the socket's idle
 * timeout holds.
 */
void shuffle_coll_timeout(struct shuffle_coll *c, uint64_t ms);

/* What a call does instead of poll() when there is nothing to read: for programs that have other
 * things to do, or switch to another fibre.  @events: of poll(); fd need not be ready when it
 * returns.  0; or -1 with errno: the call fails with that.  wait NULL: poll() again.
 */
typedef int (*shuffle_coll_waiter)(void *arg, int fd, short events);
void shuffle_coll_wait(struct shuffle_coll *c, shuffle_coll_waiter wait, void *arg);

/* Racks of the group that a socket has joined, after the table of its network namespace: the file
 * that "shufflectl topology" writes, or the one that $SHUFFLE_TOPOLOGY names.  @size: room for
 * @count numbers, the group's members; becomes the number of members of each.  Their number; 0: all
 * share one, as far as is known: there is no table, or it does not know a member, or members of a
 * rack have ranks that do not follow one another.  -1 with errno: EINVAL: a line makes no sense.
 */
int shuffle_racks(int fd, unsigned int *size, unsigned int count);

/* Which members share a rack.  Until this is called: as shuffle_racks() says.  @size has the number
 * of members of each, in order of rank; racks 0: all share one.  The same at all members, between
 * two calls.  EINVAL: a rack without members, or the sum is not the group.
 */
int shuffle_coll_racks(struct shuffle_coll *c, const unsigned int *size, unsigned int racks);

/* Let broadcasts of more than SHUFFLE_COLL_MAX_BYTES go to the socket's multicast address
 * (shuffle_multicast(), before it joins).  All members call this, between two calls; it is tried
 * whether what each of them sends to the address arrives at all others.  1: it does; 0: it does
 * not, and everything stays as it was.  EBUSY, which changes nothing: from a call that goes on.
 */
int shuffle_coll_multicast(struct shuffle_coll *c);

/* The pattern of calls to come by its name (flat, tree, chain, doubling, ring, rabenseifner,
 * spread, two-tree, gathered, and over racks cool-p-p and cool-b-r), or "auto".  radix: of a tree,
 * 0 for 2; of spread and two-tree the number of segments.  A call that the pattern does not know
 * chooses as auto does.  EINVAL: no such pattern.  The same at all members.
 */
int shuffle_coll_pattern(struct shuffle_coll *c, const char *name, unsigned int radix);

/* ---- plans of the program's own ---- */

/* What becomes of a message that arrives: its blocks take the place of ours, or are combined with
 * ours: theirs, then ours, or the other way round.
 */
enum { SHUFFLE_TAKE_STORE, SHUFFLE_TAKE_BEFORE, SHUFFLE_TAKE_AFTER };

/* A message of a whole plan, by ranks.  A member sends what it has at the beginning of the step;
 * then it takes what it receives in it, in the order of the table.
 */
struct shuffle_coll_message {
	uint32_t step;		/* from 0 on, below 8192; messages are in order of steps */
	uint32_t from;
	uint32_t to;
	uint32_t block;		/* the first one */
	uint32_t blocks;	/* their number, which wraps round; of a barrier 0 */
	uint32_t take;
};

/* What may be wrong with a table. */
enum shuffle_coll_fault_error {
	SHUFFLE_FAULT_NONE,
	SHUFFLE_FAULT_KIND,	/* there is no such kind */
	SHUFFLE_FAULT_MEMBERS,	/* the root is no member */
	SHUFFLE_FAULT_DIVIDED,	/* the kind does not have so many blocks */
	SHUFFLE_FAULT_MEMBER,	/* sender or receiver is no member, or both are the same one */
	SHUFFLE_FAULT_STEP,	/* an earlier step than that of the message before, or too many */
	SHUFFLE_FAULT_BLOCK,	/* blocks that there are not, or none */
	SHUFFLE_FAULT_TAKE,	/* no such way to take it, or nothing to combine */
	SHUFFLE_FAULT_PAIR,	/* a second message from one member to the other in the step */
	SHUFFLE_FAULT_ABSENT,	/* the sender does not have the block at the beginning of it */
	SHUFFLE_FAULT_TWICE,	/* a member's data would be combined with itself */
	SHUFFLE_FAULT_STORED,	/* a block is stored, and something else comes in the step */
	SHUFFLE_FAULT_LACKS,	/* in the end a member does not have what the kind promises */
};

/* Where: a message of the table, a rank, a block; UINT32_MAX: none in particular. */
struct shuffle_coll_fault {
	unsigned int error;
	uint32_t message;
	uint32_t member;
	uint32_t block;
};

/* Calls of this kind (enum shuffle_coll_kind; and with this root, of kinds that have one) go by a
 * table from now on, in user space, whatever the pattern.  @blocks: into how many blocks the data
 * is divided: as many as there are members where each has one of its own (scatter, gather,
 * all-gather, reduce-scatter), of a barrier 0, else at least 1: parts of the vector.  The table has
 * the messages of all members, and is the same at all of them.  It is copied, but for messages of
 * others, after it has been carried out on paper: messages times blocks.  Vectors are combined in
 * the table's order.  message NULL: no table any more.  EINVAL: it is wrong, and the calls go on as
 * before; *fault, if not NULL, says what is and where.  EBUSY: calls have begun.
 */
int shuffle_coll_explicit(struct shuffle_coll *c, int kind, unsigned int root, unsigned int blocks,
			  const struct shuffle_coll_message *message, unsigned int messages,
			  struct shuffle_coll_fault *fault);
const char *shuffle_coll_fault_text(const struct shuffle_coll_fault *fault);

/* What has been chosen for the call that was made last: the name of its pattern ("explicit": a
 * table), its radix (of spread and two-tree the number of segments), and whether the kernel has
 * carried it out.  Before the first call it means nothing.
 */
const char *shuffle_coll_chosen(const struct shuffle_coll *c, unsigned int *radix, int *in_kernel);

/* Where calls are carried out: "kernel", "user", or "auto", the default: short ones in the kernel.
 * The kernel does what fits SHUFFLE_COLL_MAX_BYTES, has a pattern in which no member sends to
 * another twice, and combines nothing but by shuffle_combine_items(); all else is done in user
 * space.  The same at all members, whose kernels must know collectives if it is not "user".
 * EINVAL: no such name.
 */
int shuffle_coll_engine(struct shuffle_coll *c, const char *name);

/* Combine size bytes: into = in op into, or into op in where in_first is 0. */
typedef void (*shuffle_combine)(void *arg, void *into, const void *in, size_t size, int in_first);

/* Operators that the kernel has, too: arg is SHUFFLE_ITEMS(oper, type), of enum shuffle_coll_oper
 * and enum shuffle_coll_type.
 */
void shuffle_combine_items(void *arg, void *into, const void *in, size_t size, int in_first);
#define SHUFFLE_ITEMS(oper, type)	((void *)(uintptr_t)((oper) << 8 | (type)))

int shuffle_barrier(struct shuffle_coll *c);
int shuffle_broadcast(struct shuffle_coll *c, void *buf, size_t size, unsigned int root);
/* size: bytes of each member; the root's buffer has those of all, in order of rank. */
int shuffle_scatter(struct shuffle_coll *c, const void *from, void *to, size_t size,
		    unsigned int root);
int shuffle_gather(struct shuffle_coll *c, const void *from, void *to, size_t size,
		   unsigned int root);
int shuffle_allgather(struct shuffle_coll *c, const void *from, void *to, size_t size);
/* size: bytes for each member; @from has those for all, @to gets those of all, in order of rank.
 * from may be to.  Patterns: flat; and packed over racks by owners (spread) or leaders (cool-p-p).
 */
int shuffle_alltoall(struct shuffle_coll *c, const void *from, void *to, size_t size);
/* size: bytes of the vector, items of @item bytes.  Combined in order of rank, unless the pattern
 * is ring or rabenseifner; reduce by flat, tree, two-tree and chain begins with the root's.  At
 * others than the root, to may be NULL.
 */
int shuffle_reduce(struct shuffle_coll *c, const void *from, void *to, size_t size, size_t item,
		   shuffle_combine combine, void *arg, unsigned int root);
int shuffle_allreduce(struct shuffle_coll *c, const void *from, void *to, size_t size, size_t item,
		      shuffle_combine combine, void *arg);
/* size: bytes that each member gets; from has those of all, in order of rank. */
int shuffle_reduce_scatter(struct shuffle_coll *c, const void *from, void *to, size_t size,
			   shuffle_combine combine, void *arg);
/* exclusive: without our own; rank 0 gets nothing, and to is left alone there. */
int shuffle_scan(struct shuffle_coll *c, const void *from, void *to, size_t size,
		 shuffle_combine combine, void *arg, int exclusive);

/* Each member has a length of its own: @size here, @sizes of all in order of rank, whose blocks are
 * one behind the other.  @sizes is looked at by the root only, which gives its own as @size, too;
 * in the last two by all members, the same ones.  EPROTO: a length is not what the other end names.
 */
int shuffle_gatherv(struct shuffle_coll *c, const void *from, size_t size, void *to,
		    const size_t *sizes, unsigned int root);
int shuffle_scatterv(struct shuffle_coll *c, const void *from, const size_t *sizes, void *to,
		     size_t size, unsigned int root);
int shuffle_allgatherv(struct shuffle_coll *c, const void *from, void *to, const size_t *sizes);
/* Whole items in each block. */
int shuffle_reduce_scatterv(struct shuffle_coll *c, const void *from, void *to,
			    const size_t *sizes, shuffle_combine combine, void *arg);

/* ---- calls that the program does not wait for ----
 *
 * A call begins, and goes on whenever the program tests it or waits for it, or for another one.
 * Until it is done its buffers are not the program's.  Calls of a group are made one behind the
 * other, in the order in which they have begun; one of the calls above first waits for those that
 * have begun.  Pattern, engine and racks cannot be set meanwhile: EBUSY.  NULL with errno: no
 * memory, and the group is of no use any more.
 */
struct shuffle_coll_request;

/* *done: the call has ended, and the request is gone.  -1: it has ended with this error. */
int shuffle_coll_test(struct shuffle_coll_request *r, int *done);
/* Waits for the end.  EDEADLK: called by what a call waits with, or by a function that is made
 * later; the request is still there.
 */
int shuffle_coll_finish(struct shuffle_coll_request *r);
/* What to poll() the socket for before another test; 0: no call goes on. */
short shuffle_coll_events(const struct shuffle_coll *c);

/* A function of the program that makes calls of the group: all of it is done later.  It has a
 * stack of 256 KiB.
 */
typedef int (*shuffle_coll_call)(struct shuffle_coll *c, void *arg);
struct shuffle_coll_request *shuffle_coll_begin(struct shuffle_coll *c, shuffle_coll_call call,
						void *arg);

struct shuffle_coll_request *shuffle_ibarrier(struct shuffle_coll *c);
struct shuffle_coll_request *shuffle_ibroadcast(struct shuffle_coll *c, void *buf, size_t size,
						unsigned int root);
struct shuffle_coll_request *shuffle_iscatter(struct shuffle_coll *c, const void *from, void *to,
					      size_t size, unsigned int root);
struct shuffle_coll_request *shuffle_igather(struct shuffle_coll *c, const void *from, void *to,
					     size_t size, unsigned int root);
struct shuffle_coll_request *shuffle_iallgather(struct shuffle_coll *c, const void *from, void *to,
						size_t size);
struct shuffle_coll_request *shuffle_ialltoall(struct shuffle_coll *c, const void *from, void *to,
					       size_t size);
struct shuffle_coll_request *shuffle_ireduce(struct shuffle_coll *c, const void *from, void *to,
					     size_t size, size_t item, shuffle_combine combine,
					     void *arg, unsigned int root);
struct shuffle_coll_request *shuffle_iallreduce(struct shuffle_coll *c, const void *from, void *to,
						size_t size, size_t item, shuffle_combine combine,
						void *arg);
struct shuffle_coll_request *shuffle_ireduce_scatter(struct shuffle_coll *c, const void *from,
						     void *to, size_t size, shuffle_combine combine,
						     void *arg);
struct shuffle_coll_request *shuffle_iscan(struct shuffle_coll *c, const void *from, void *to,
					   size_t size, shuffle_combine combine, void *arg,
					   int exclusive);

#ifdef __cplusplus
}
#endif

#endif /* SHUFFLE_COLL_H */
