/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An operation of one socket: a row of outgoing and a column of incoming messages.
 *
 * Life: in ssk->ops from the first sendmsg until its DONE or FAILED record has been read,
 * or the socket is closed.  Unlinked only in process context, where its timer can be
 * cancelled.
 */
#ifndef _SHUFFLE_OP_H
#define _SHUFFLE_OP_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/workqueue.h>
#include "rx/op_rx.h"
#include "rx/timer.h"
#include "sched/op_order.h"
#include "sched/wire.h"
#include "sock.h"
#include "tx/op_tx.h"

struct shuffle_engine;

/**
 * struct shuffle_ready - something that recvmsg() can return
 * @node: place in ssk->ready, ->parts, ->notices, ->hungry or ->wants, or empty
 * @op: operation
 * @rank: the message from this rank; or SHUFFLE_NONE for the end of @op, SHUFFLE_WANT for data
 *	that is asked for
 * @parked: @node is in ssk->parts, ->hungry or ->wants: recvmsg() does not return it yet
 */
struct shuffle_ready {
	struct list_head	node;
	struct shuffle_op	*op;
	u32			rank;
	bool			parked;
};

#define SHUFFLE_WANT		(SHUFFLE_NONE - 1)

/**
 * struct shuffle_op_life - an operation from its start to its end
 * @ended: DONE or FAILED has been decided; a writer that waits reads it by READ_ONCE()
 * @blamed: others are to blame for the failure: @blame
 * @asked_others: the operation waits a little longer than its time: others may know better who is
 *	missing
 * @error: the program is told this positive errno with FAILED; 0: the operation is DONE, or goes on
 * @progress_at: the operation got on then: a byte came, or the length of a message that was not
 *	known, a receiver raised an offset, or sent a first ACK; nothing else counts
 * @deadline_at: the operation fails then, if it has not ended; 0: the program has set no deadline
 * @started_at: the first sendmsg() made the operation then; all times are ns, CLOCK_MONOTONIC
 * @ended_at: the operation ended then; 0: it goes on
 * @silent_since: some of those that are missing when the time of the operation is over have said
 *	nothing since then: the others are not to blame.  0: none of them is silent
 * @blame: members because of whom the operation has ended, or whom others are told of; of an
 *	operation that is not @blamed the worker of @wind_up writes it
 * @excused: this member is missing only because it has missed others; SHUFFLE_NONE: no one is
 * @end_cursor: readers have been given so many MISSING records, plus one; ssk->read_mutex
 * @end: the end waits in ssk->ready for a reader
 * @wind_up: a worker does what the end leaves to do: op.c
 *
 * ssk->lock guards it.  Once @ended is set nothing of it changes but @blame, as said there, and
 * @end_cursor, so that who has seen that under the lock may read it without.
 */
struct shuffle_op_life {
	bool			ended;
	bool			blamed;
	bool			asked_others;
	int			error;
	u64			progress_at;
	u64			deadline_at;
	u64			started_at;
	u64			ended_at;
	u64			silent_since;
	struct shuffle_blame	blame;
	u32			excused;
	u32			end_cursor;
	struct shuffle_ready	end;
	struct work_struct	wind_up;
};

/**
 * struct shuffle_op - one operation of one socket
 * @node: place in ssk->ops
 * @ref: references: one of the table, one of each sendmsg() that works on the operation
 * @order: place before or behind other operations: enum shuffle_op_order
 * @ssk: socket
 * @group: members that take part
 * @dev: device by which packets leave, with a reference
 * @engine: engine that makes the row of a collective from its column, or NULL: coll/engine.h
 * @id: number that the program has given the operation
 * @nonce_key: key that the nonces of our messages are made from
 * @digest: number that all members have to agree on; 0: there is none
 * @life: times of the operation, and its end
 * @tx: what the operation sends: tx/op_tx.h
 * @rx: what the operation receives: rx/op_rx.h
 * @clock: timer, and what is due by it: rx/timer.h
 * @fill: what the writers of the row alone touch: tx/op_tx.h
 *
 * ssk->lock guards @node, and each part says what guards it.  The rest is set before others see
 * the operation, and stays.  Parts in which packets look come first; where locks are not debugged
 * all of it fits 1024 bytes.
 */
struct shuffle_op {
	struct hlist_node	node;
	refcount_t		ref;
	u8			order;
	struct shuffle_sock	*ssk;
	struct shuffle_membership *group;
	struct shuffle_dev	*dev;
	struct shuffle_engine	*engine;
	u64			id;
	siphash_key_t		nonce_key;
	u64			digest;
	struct shuffle_op_life	life;
	struct shuffle_op_tx	tx;
	struct shuffle_op_rx	rx;
	struct shuffle_op_clock	clock;
	struct shuffle_op_fill	fill;
};

/* What is done for each of many messages or packets while a lock is held or BHs are off:
 * so many, then others get their turn.
 */
#define SHUFFLE_SLICE	64

/* The same where each costs some 5000 instructions: packets that are handed to IP, grants,
 * super-packets that are freed.
 */
#define SHUFFLE_BURST	8

/* One of these costs as much as so many of those. */
#define SHUFFLE_BURST_COST	((u32)(SHUFFLE_SLICE / SHUFFLE_BURST))

/**
 * shuffle_nonce() - the nonce of one of an operation's outgoing messages
 * @key: op->nonce_key
 * @rank: receiver of the message
 * @same: all messages have the same bytes
 *
 * Each receiver gets one of its own: a member that knows its own cannot speak for
 * another one.  Those of a row whose messages have the same bytes have their upper 16 bits in
 * common, also with the one in the data for all: so a receiver knows whose that data is.
 *
 * Return: a number of 48 bits that is not 0.
 */
static inline u64 shuffle_nonce(const siphash_key_t *key, u32 rank, bool same)
{
	u64 nonce = siphash_1u32(rank, key) & SHUFFLE_NONCE_MAX;

	if (same)
		nonce = (u64)(u16)siphash_1u32(U32_MAX, key) << 32 | (u32)nonce;
	return nonce ?: 1;
}

/* The nonce of our message to a member. */
static inline u64 shuffle_op_nonce(const struct shuffle_op *op, u32 rank)
{
	return shuffle_nonce(&op->nonce_key, rank, op->tx.same);
}

static inline u64 shuffle_now(void)
{
	return ktime_get_ns();
}

/* What a row has to send, when that changes.  ssk->lock held. */
static inline void shuffle_op_left(struct shuffle_op *op, u64 left)
{
	lockdep_assert_held(&op->ssk->lock);
	if (op->life.ended)
		return;
	op->ssk->nr_unsent += !!left - !!op->tx.left;
	op->ssk->unsent += left - op->tx.left;
	op->tx.left = left;
}

/**
 * shuffle_op_deadline_class() - the class of an operation in the order of deadlines
 * @op: operation
 *
 * Return: SHUFFLE_ORDER_LAST if it has no deadline.
 */
static inline u8 shuffle_op_deadline_class(const struct shuffle_op *op)
{
	u64 now;

	if (!op->life.deadline_at)
		return SHUFFLE_ORDER_LAST;
	now = shuffle_now();
	return shuffle_order_class(op->life.deadline_at > now ? op->life.deadline_at - now : 0);
}

/**
 * struct shuffle_column - what the caller says of the messages that come
 * @absent: messages that do not come, or NULL
 * @row: first part of the row, or NULL: there is a message to each member
 * @digest: number that all members have to agree on; 0: there is none
 * @flags: SHUFFLE_ROW_* of the first call
 */
struct shuffle_column {
	const struct shuffle_absent	*absent;
	const struct shuffle_row	*row;
	u64				digest;
	u32				flags;
};

/* Flags of a row that say nothing of its messages, and that collectives have, too */
#define SHUFFLE_ROW_FIRST_CALL	(SHUFFLE_ROW_DELAYED_ACK | SHUFFLE_ROW_ORDER)

/* op.c */
struct shuffle_op *shuffle_op_find(struct shuffle_sock *ssk, u64 id);
struct shuffle_op *shuffle_op_create(struct shuffle_sock *ssk, u64 id, u64 deadline_ms,
				     const struct shuffle_column *column,
				     struct shuffle_engine *engine);
void shuffle_op_put(struct shuffle_op *op);
void shuffle_op_unlink(struct shuffle_op *op);
void shuffle_op_fail(struct shuffle_op *op, int error);
void shuffle_op_check_done(struct shuffle_op *op);
int shuffle_op_cancel(struct shuffle_sock *ssk, u64 id);

#endif /* _SHUFFLE_OP_H */
