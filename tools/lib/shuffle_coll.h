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

#ifdef __cplusplus
extern "C" {
#endif

struct shuffle_coll;

/* fd: a socket that has joined its group of @count members as @rank.  first_op: where the
 * operation ids begin, the same at all members; a collective takes 2^20 of them.  Other operations
 * of the socket must have ended.
 */
struct shuffle_coll *shuffle_coll_new(int fd, unsigned int rank, unsigned int count,
				      uint64_t first_op);
/* For a member that cannot make a call that the others make: from now on all fail with @error. */
void shuffle_coll_abort(struct shuffle_coll *c, int error);
/* Waits until all that was sent has arrived; the socket stays open. */
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

/* Which members share a rack: @size has the number of members of each, in order of rank; racks 0:
 * all share one.  The same at all members, between two calls.  EINVAL: a rack without members, or
 * the sum is not the group.
 */
int shuffle_coll_racks(struct shuffle_coll *c, const unsigned int *size, unsigned int racks);

/* The pattern of calls to come by its name (flat, tree, chain, doubling, ring, rabenseifner,
 * spread, gathered, and over racks cool-p-p and cool-b-r), or "auto".  radix: of a tree, 0 for 2;
 * of spread the number of segments.  A call that the pattern does not know chooses as auto does.
 * EINVAL: no such pattern.  The same at all members.
 */
int shuffle_coll_pattern(struct shuffle_coll *c, const char *name, unsigned int radix);

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
/* size: bytes of the vector, items of @item bytes.  Combined in order of rank, unless the pattern
 * is ring or rabenseifner; reduce by flat, tree and chain begins with the root's.  At others than
 * the root, to may be NULL.
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

#ifdef __cplusplus
}
#endif

#endif /* SHUFFLE_COLL_H */
