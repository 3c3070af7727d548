// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedules like an operation's that only the writer of its row knows: to plan what goes without
 * a grant, and the order in which data is taken from the user.
 */
#include <linux/slab.h>

#include "../shuffle.h"

/**
 * shuffle_own_schedule() - a schedule like the operation's, which nobody else knows
 * @op: operation
 * @tx: its kind, seed and members; no messages yet
 *
 * For writers: what else is in op->ptx changes under ssk->lock.  To be freed by
 * shuffle_free_schedule() in any case.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int shuffle_own_schedule(const struct shuffle_op *op, struct shuffle_policy_tx *tx)
{
	*tx = (struct shuffle_policy_tx) {
		.kind = op->ptx.kind,
		.seed = op->ptx.seed,
		.rank = op->ptx.rank,
		.members = op->ptx.members,
		.unit = op->ptx.unit,
		.n = op->ptx.n,
	};
	tx->heap.node = kvcalloc(tx->n, sizeof(*tx->heap.node), GFP_KERNEL_ACCOUNT);
	tx->msg = kvcalloc(tx->n, sizeof(*tx->msg), GFP_KERNEL_ACCOUNT);
	if (shuffle_policy_round_robin(tx->kind)) {
		tx->served = kvcalloc(tx->n, sizeof(*tx->served), GFP_KERNEL_ACCOUNT);
		if (!tx->served)
			return -ENOMEM;
	}
	return tx->heap.node && tx->msg ? 0 : -ENOMEM;
}

/**
 * shuffle_fill_schedule() - the order in which a row's data is taken from the user
 * @op: operation that has been announced
 * @from: first message whose data has not been taken
 * @tx: becomes a schedule in which all of these messages may go; to be freed by
 *	shuffle_free_schedule() in any case
 *
 * Context: process, may sleep, op->tx_mutex held.
 * Return: 0 or -ENOMEM.
 */
int shuffle_fill_schedule(const struct shuffle_op *op, u32 from, struct shuffle_policy_tx *tx)
{
	int err = shuffle_own_schedule(op, tx);
	u32 i;

	for (i = from; !err && i < op->announced; i++) {
		if (shuffle_merge_makes(op, i))
			continue;
		tx->msg[i].len = op->ptx.msg[i].len;
		tx->msg[i].next = op->out[i].filled;
		tx->msg[i].limit = tx->msg[i].len;
		shuffle_policy_tx_update(tx, i);
	}
	return err;
}

/**
 * shuffle_free_schedule() - free what shuffle_own_schedule() has made
 * @tx: schedule
 */
void shuffle_free_schedule(struct shuffle_policy_tx *tx)
{
	kvfree(tx->msg);
	kvfree(tx->heap.node);
	kvfree(tx->served);
}
