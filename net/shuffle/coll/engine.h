/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collectives in the kernel: messages made from messages.
 *
 * A collective is an operation whose row and column have the messages of a table, and no others
 * (they are absent).  What we send is filled in when what it is made from has arrived, in the
 * softirq that brings it: no process wakes up between the first message and the result.
 *
 *   start.c	from the control message to an engine
 *   engine.c	walks through the table
 *   combine.c	items of vectors
 */
#ifndef _SHUFFLE_ENGINE_H
#define _SHUFFLE_ENGINE_H

#include "../op.h"

struct iov_iter;
struct shuffle_chunk;

/**
 * struct shuffle_engine - a member's part in a collective
 * @self: our rank
 * @members: of the group
 * @steps: number of @step
 * @step: our messages, in the order in which they are made and taken
 * @oper: enum shuffle_coll_oper
 * @type: enum shuffle_coll_type
 * @chunk: by step: what we send, filled in and handed over when its turn comes
 * @data: what we have so far; in the end the result.  NULL: the reader's
 * @held: bytes of @data
 * @expected: by rank, bytes of what it sends us; 0: nothing
 * @scratch: what has arrived, before it is combined
 * @at: the step whose turn it is
 * @charged: the socket pays for @chunk and @data
 * @started: the row is announced
 * @finished: the result is there
 * @vectors: how many vectors of @data the result combines; 0: this member gets no result
 * @out_at: where the result begins in @data
 * @out_len: bytes of the result
 *
 * Made in process context; from shuffle_engine_start() on all under ssk->lock.
 */
struct shuffle_engine {
	u32			self;
	u32			members;
	u32			steps;
	struct shuffle_step	*step;
	u8			oper;
	u8			type;
	struct shuffle_chunk	**chunk;
	struct sk_buff		*data;
	u32			held;
	u32			*expected;
	u8			*scratch;
	u32			at;
	bool			charged;
	bool			started;
	bool			finished;
	u32			vectors;
	u32			out_at;
	u32			out_len;
};

/* start.c */
const struct shuffle_collective *shuffle_collective_find(struct msghdr *msg);
int shuffle_collective_start(struct shuffle_sock *ssk, const struct shuffle_collective *c,
			     struct iov_iter *iter);

/* engine.c */
u32 shuffle_engine_bytes(const struct shuffle_step *s);
bool shuffle_engine_fits(const struct shuffle_op *op);
bool shuffle_engine_expects(const struct shuffle_op *op, u32 rank, u64 len);
int shuffle_engine_charge(struct shuffle_engine *e, struct shuffle_sock *ssk);
void shuffle_engine_uncharge(struct shuffle_engine *e, struct shuffle_sock *ssk);
int shuffle_engine_start(struct shuffle_op *op);
bool shuffle_engine_run(struct shuffle_op *op);
void shuffle_engine_arrived(struct shuffle_op *op, u64 now);
void shuffle_engine_free(struct shuffle_engine *e);

#endif /* _SHUFFLE_ENGINE_H */
