// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedules like an operation's that only the writer of its row knows: to plan what goes without
 * a grant, and the order in which data is taken from the user.
 */
#include <linux/slab.h>

#include "../op.h"
#include "../sched/policy.h"
#include "../sock.h"
#include "msg_out.h"
#include "own_schedule.h"

/**
 * shuffle_own_schedule() - a schedule like the operation's, which nobody else knows
 * @op: operation
 * @tx: becomes the schedule: kind, seed and members; no messages yet
 *
 * For writers: what else is in op->tx.sched changes under ssk->lock.  To be freed by
 * shuffle_free_schedule() in any case.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int shuffle_own_schedule(const struct shuffle_op *op, struct shuffle_policy_tx *tx)
{
	*tx = (struct shuffle_policy_tx) {
		.seed = op->tx.sched.seed,
		.rank = op->tx.sched.rank,
		.members = op->tx.sched.members,
		.unit = op->tx.sched.unit,
		.n = op->tx.sched.n,
	};
	tx->heap.node = kvcalloc(tx->n, sizeof(*tx->heap.node), GFP_KERNEL_ACCOUNT);
	tx->msg = kvcalloc(tx->n, sizeof(*tx->msg), GFP_KERNEL_ACCOUNT);
	return tx->heap.node && tx->msg ? 0 : -ENOMEM;
}

/**
 * shuffle_fill_schedule() - the order in which a row's data is taken from the user
 * @op: operation that has been announced
 * @from: first message whose data has not been taken
 * @tx: becomes a schedule in which all of these messages may go; to be freed by
 *	shuffle_free_schedule() in any case
 *
 * Context: process, may sleep, op->fill.mutex held.
 * Return: 0 or -ENOMEM.
 */
int shuffle_fill_schedule(const struct shuffle_op *op, u32 from, struct shuffle_policy_tx *tx)
{
	int err = shuffle_own_schedule(op, tx);
	u32 i;

	for (i = from; !err && i < op->tx.announced; i++) {
		tx->msg[i].len = op->tx.sched.msg[i].len;
		tx->msg[i].next = op->tx.msg[i].filled;
		tx->msg[i].limit = tx->msg[i].len;
		shuffle_policy_tx_update(tx, i);
	}
	return err;
}

/**
 * shuffle_fill_share() - what the send buffer may hold for one receiver beyond what it has granted
 * @op: operation
 * @left: messages of the row of which data has not been taken
 *
 * A receiver that is gone grants nothing.  Without a limit the buffer would fill with what is for
 * it, and nobody else would get anything any more.  Where several operations send, one receiver may
 * have half of the buffer, a quarter, and so on, when all others of its operation have theirs.  It
 * is never less than what is copied as one.
 *
 * Context: any, ssk->lock held.
 * Return: bytes.
 */
u64 shuffle_fill_share(const struct shuffle_op *op, u32 left)
{
	u32 sndbuf = shuffle_sock_sndbuf(&op->ssk->sk);
	u32 others = clamp(op->ssk->nr_unsent, 1U, 8U) - 1;

	lockdep_assert_held(&op->ssk->lock);
	return max(min(sndbuf / max(left, 1U), sndbuf >> others), op->fill.unit);
}

/**
 * shuffle_fill_limits() - which messages may more data be taken for?
 * @op: operation
 * @from: first message whose data is taken
 * @tx: schedule of shuffle_fill_schedule(); becomes one of those messages whose receivers have
 *	granted more, or hold less than their share
 *
 * Once for each time that a writer has to wait, not for each packet or chunk: while there is room,
 * and something in the schedule, nobody looks at grants.
 *
 * Context: process, op->fill.mutex held, not ssk->lock.
 * Return: true if there is one.  If not, a grant wakes those who wait for room.
 */
bool shuffle_fill_limits(struct shuffle_op *op, u32 from, struct shuffle_policy_tx *tx)
{
	u32 i, end, left = 0;
	u64 share, limit;

	for (i = from; i < op->tx.announced; i++)
		left += tx->msg[i].next < tx->msg[i].len;
	for (i = from; i < op->tx.announced;) {
		end = min(i + SHUFFLE_SLICE, op->tx.announced);
		spin_lock_bh(&op->ssk->lock);
		/* who raises it from now on sees that */
		WRITE_ONCE(op->tx.copy_waits, true);
		share = shuffle_fill_share(op, left);
		for (; i < end; i++) {
			limit = min(op->tx.msg[i].granted + share, tx->msg[i].len);
			if (limit == tx->msg[i].limit || tx->msg[i].next == tx->msg[i].len)
				continue;
			tx->msg[i].limit = limit;
			shuffle_policy_tx_update(tx, i);
		}
		spin_unlock_bh(&op->ssk->lock);
	}
	if (tx->heap.n)
		WRITE_ONCE(op->tx.copy_waits, false);
	return tx->heap.n;
}

/**
 * shuffle_free_schedule() - free what shuffle_own_schedule() has made
 * @tx: schedule
 */
void shuffle_free_schedule(struct shuffle_policy_tx *tx)
{
	kvfree(tx->msg);
	kvfree(tx->heap.node);
}
