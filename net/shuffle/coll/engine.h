/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collectives in the kernel: messages made from messages.
 *
 * A collective is an operation whose row and column have the messages of a plan, and no others
 * (they are absent).  What we send is filled in when what it is made from has arrived, in the
 * softirq that brings it: no process wakes up between the first message and the result.
 *
 *   start.c	from the control message to an engine
 *   engine.c	walks through the plan
 *   racks.c	racks of the group
 */
#ifndef _SHUFFLE_ENGINE_H
#define _SHUFFLE_ENGINE_H

#include "../op.h"
#include "blocks.h"

struct iov_iter;
struct shuffle_racks;
struct shuffle_chunk;

/**
 * struct shuffle_engine - a member's part in a collective
 * @plan: our messages
 * @topo: of the group
 * @racks: where @topo has them from, or NULL
 * @blocks: of @data
 * @oper: enum shuffle_coll_oper
 * @type: enum shuffle_coll_type
 * @chunk: by message of the plan: what we send, filled in and handed over when its turn comes
 * @data: what we have so far; in the end the result.  NULL: the reader's
 * @expected: by rank, bytes of what it sends us; 0: nothing
 * @scratch: what has arrived, before it is combined
 * @at: the message of the plan whose turn it is
 * @started: the row is announced, and memory charged
 * @finished: the result is there
 * @has_result: there is one
 * @result_off: where it begins in @data
 * @result_len: bytes
 *
 * Made in process context; from shuffle_engine_start() on all under ssk->lock.
 */
struct shuffle_engine {
	struct shuffle_plan	plan;
	struct shuffle_topology	topo;
	struct shuffle_racks	*racks;
	struct shuffle_blocks	blocks;
	u8			oper;
	u8			type;
	struct shuffle_chunk	**chunk;
	struct sk_buff		*data;
	u32			*expected;
	u8			*scratch;
	u32			at;
	bool			started;
	bool			finished;
	bool			has_result;
	u32			result_off;
	u32			result_len;
};

/* start.c */
const struct shuffle_collective *shuffle_collective_find(struct msghdr *msg);
int shuffle_collective_start(struct shuffle_sock *ssk, const struct shuffle_collective *c,
			     struct iov_iter *iter);

/* engine.c */
u32 shuffle_engine_bytes(const struct shuffle_engine *e, const struct shuffle_plan_msg *m);
bool shuffle_engine_fits(const struct shuffle_op *op);
bool shuffle_engine_expects(const struct shuffle_op *op, u32 rank, u64 len);
bool shuffle_engine_has_room(const struct shuffle_engine *e, const struct sock *sk);
int shuffle_engine_start(struct shuffle_op *op);
bool shuffle_engine_run(struct shuffle_op *op);
void shuffle_engine_arrived(struct shuffle_op *op, u64 now);
void shuffle_engine_purge(struct shuffle_op *op);
void shuffle_engine_free(struct shuffle_engine *e);

#endif /* _SHUFFLE_ENGINE_H */
