// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows with SHUFFLE_ROW_SAME: each member gets a message with a nonce of its own, is told so by
 * an announcement, and answers as it answers any other.  But the data is held once, and sent
 * once: as that of one message more, whose rank is shuffle_group_all().  That message is granted
 * what all members grant, and its chunks are kept until all have them.
 *
 * What a member has lost it asks for, and gets alone.  A member gets all the rest alone
 * (out->alone) in two cases:
 * - It has got nothing for long, so that the address seems not to reach it.  One that got nothing
 *   in SHUFFLE_MISSED_MAX rows, one behind the other, gets those of this group alone from the
 *   beginning.
 * - The others have been waiting for it for long.
 *
 * All under ssk->lock, any context.
 */
#include <linux/slab.h>

#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../rx/rto.h"
#include "../rx/timer.h"
#include "../sched/policy.h"
#include "../sched/portable.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "egress_wake.h"
#include "msg_out.h"
#include "row.h"
#include "same.h"

/**
 * struct shuffle_same - what the members have granted and got, at least
 * @granted_by: messages, not alone, that are granted no more than the one for all
 * @free_by: messages of which no more may be freed than of the one for all
 * @alone: messages that are sent alone
 * @first_at: when the first packet went to all, ns; 0 not yet
 */
struct shuffle_same {
	u32	granted_by;
	u32	free_by;
	u32	alone;
	u64	first_at;
};

/**
 * shuffle_same_alloc() - an operation's row is to have SHUFFLE_ROW_SAME
 * @op: operation, nothing announced yet
 * @row: of the caller, whose lengths have been taken
 *
 * Context: process, op->fill.mutex held.
 * Return: 0, -EINVAL (lengths that differ, one for ourselves, none at all, or such flags),
 * -EOPNOTSUPP (no multicast address, or too many members) or -ENOMEM.
 */
int shuffle_same_alloc(struct shuffle_op *op, const struct shuffle_row *row)
{
	const u64 *lens = shuffle_row_lens(row);
	u64 len = SHUFFLE_ABSENT;
	struct shuffle_same *same;
	u32 i;

	if (!op->group->multicast || op->group->count > SHUFFLE_SAME_MEMBERS)
		return -EOPNOTSUPP;
	if (op->tx.announced || row->count != op->group->count ||
	    row->flags & (SHUFFLE_ROW_MORE | SHUFFLE_ROW_WANT))
		return -EINVAL;
	for (i = 0; i < row->count; i++) {
		if (lens[i] == SHUFFLE_ABSENT)
			continue;
		if (i == op->group->rank || (len != SHUFFLE_ABSENT && lens[i] != len))
			return -EINVAL;
		len = lens[i];
	}
	if (len == SHUFFLE_ABSENT)
		return -EINVAL;
	same = kzalloc(sizeof(*same), GFP_KERNEL_ACCOUNT);
	if (!same)
		return -ENOMEM;
	spin_lock_bh(&op->ssk->lock);
	op->tx.same = same;
	op->tx.sched.msg[shuffle_group_all(op->group)].len = len;
	spin_unlock_bh(&op->ssk->lock);
	return 0;
}

static bool by_all(const struct shuffle_msg_out *out)
{
	return out->shared && !out->alone && !out->acked;
}

/* Grant the message for all what each member has granted; nothing more if it is for nobody. */
static void grant_least(struct shuffle_op *op)
{
	u32 i, all = shuffle_group_all(op->group);
	u64 least = U64_MAX;

	op->tx.same->granted_by = 0;
	for (i = 0; i < all; i++) {
		if (!by_all(&op->tx.msg[i]) || op->tx.msg[i].granted > least)
			continue;
		if (op->tx.msg[i].granted < least)
			op->tx.same->granted_by = 0;
		least = op->tx.msg[i].granted;
		op->tx.same->granted_by++;
	}
	op->tx.msg[all].granted = least == U64_MAX ? op->tx.sched.msg[all].next : least;
	shuffle_msg_out_limit(op, all);
	shuffle_egress_kick(op);
}

/**
 * shuffle_same_granted() - a message of such a row is granted more
 * @op: operation
 * @rank: message
 * @before: what it was granted before
 */
void shuffle_same_granted(struct shuffle_op *op, u32 rank, u64 before)
{
	lockdep_assert_held(&op->ssk->lock);
	if (!by_all(&op->tx.msg[rank]) ||
	    before != op->tx.msg[shuffle_group_all(op->group)].granted)
		return;
	if (!--op->tx.same->granted_by)
		grant_least(op);
}

/**
 * shuffle_same_freed() - a receiver of such a row has got more
 * @op: operation
 * @rank: message whose @free_to has grown
 * @before: what that was before
 *
 * Return: what all have got, to be freed; 0: no more than before.
 */
u64 shuffle_same_freed(struct shuffle_op *op, u32 rank, u64 before)
{
	u32 i, all = shuffle_group_all(op->group);
	u64 least = U64_MAX;

	lockdep_assert_held(&op->ssk->lock);
	if (before != op->tx.msg[all].free_to || --op->tx.same->free_by)
		return 0;
	for (i = 0; i < all; i++) {
		if (!op->tx.msg[i].shared || op->tx.msg[i].free_to > least)
			continue;
		if (op->tx.msg[i].free_to < least)
			op->tx.same->free_by = 0;
		least = op->tx.msg[i].free_to;
		op->tx.same->free_by++;
	}
	return least;
}

/* The rest of a message, from @next on, goes to its receiver alone: what goes to all does not reach
 * it in time.
 */
static void leave_alone(struct shuffle_op *op, u32 rank, u64 next)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];

	out->alone = true;
	op->tx.same->alone++;
	/* what it has said that it has is no longer kept */
	op->tx.sched.msg[rank].next = max(next, out->free_to);
	shuffle_msg_out_limit(op, rank);
	shuffle_timer_out(op, rank);
	shuffle_egress_kick(op);
	SHUFFLE_INC(op->ssk->sn, SameAlone);
}

/**
 * shuffle_same_start() - the messages of such a row have been announced
 * @op: operation; what they may have without a grant is in op->tx.msg
 */
void shuffle_same_start(struct shuffle_op *op)
{
	u32 i, all = shuffle_group_all(op->group);
	struct shuffle_msg_out *out;

	lockdep_assert_held(&op->ssk->lock);
	for (i = 0; i < all; i++) {
		out = &op->tx.msg[i];
		out->shared = !out->absent;
		if (!out->shared)
			continue;
		op->tx.msg[all].unsched = out->unsched;
		op->tx.same->free_by++;
		if (op->group->member[i].missed >= SHUFFLE_MISSED_MAX)
			leave_alone(op, i, 0);
	}
	op->tx.msg[all].announced_at = shuffle_now();
	grant_least(op);
}

/**
 * shuffle_same_left() - what such a row has to send, when it begins
 * @op: operation
 *
 * Once for all, and once more for each that gets it alone.
 */
void shuffle_same_left(struct shuffle_op *op)
{
	u32 times = op->tx.same->alone + 1;

	lockdep_assert_held(&op->ssk->lock);
	shuffle_op_left(op, op->tx.sched.msg[shuffle_group_all(op->group)].len * times);
}

/**
 * shuffle_same_filled() - the user has given more of such a row's data
 * @op: operation
 */
void shuffle_same_filled(struct shuffle_op *op)
{
	u32 i;

	lockdep_assert_held(&op->ssk->lock);
	for (i = 0; op->tx.same->alone && i < shuffle_group_all(op->group); i++)
		if (op->tx.msg[i].alone)
			shuffle_msg_out_limit(op, i);
}

/**
 * shuffle_same_sent() - something has been sent to all members at once
 * @op: operation
 * @now: ns
 */
void shuffle_same_sent(struct shuffle_op *op, u64 now)
{
	const struct shuffle_tx_sched *m = &op->tx.sched.msg[shuffle_group_all(op->group)];
	u32 i;

	lockdep_assert_held(&op->ssk->lock);
	if (!op->tx.same->first_at)
		op->tx.same->first_at = now;
	if (m->next < m->len)
		return;
	for (i = 0; i < shuffle_group_all(op->group); i++) {
		if (!op->tx.msg[i].shared)
			continue;
		/* also one that is sent it alone: it may have all by now, and its ACK be lost */
		op->tx.msg[i].announced_at = now;
		shuffle_timer_out(op, i);
	}
}

/**
 * shuffle_same_arrived() - a receiver of such a row says what it has
 * @op: operation
 * @rank: the receiver
 * @acked: it has the bytes below
 */
void shuffle_same_arrived(struct shuffle_op *op, u32 rank, u64 acked)
{
	struct shuffle_tx_sched *m = &op->tx.sched.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	if (!op->tx.msg[rank].alone) {
		WRITE_ONCE(op->group->member[rank].missed, 0);
	} else if (m->next < acked) {
		/* it was only late: what went to all has come */
		WRITE_ONCE(op->group->member[rank].missed, 0);
		m->next = acked;
		shuffle_policy_tx_update(&op->tx.sched, rank);
		shuffle_timer_out(op, rank);
	}
}

/* Has so much time passed?  Packets are not in the order of their times. */
static bool passed(u64 since, u64 ns, u64 now)
{
	return now > since && now - since >= ns;
}

/* Nothing has come?  Then it is asked for by one byte; a range ends where something has. */
static bool has_nothing(const struct shuffle_op *op, u32 rank, const struct shuffle_wire *w)
{
	return !w->resend.off && w->resend.len == 1 && !op->tx.msg[rank].free_to;
}

/**
 * shuffle_same_under_way() - may what was sent to all members still arrive?
 * @op: operation with such a row
 * @now: ns
 */
bool shuffle_same_under_way(const struct shuffle_op *op, u64 now)
{
	lockdep_assert_held(&op->ssk->lock);
	return !passed(op->tx.msg[shuffle_group_all(op->group)].announced_at,
		       2 * shuffle_rto(op), now);
}

/**
 * shuffle_same_asked() - a receiver of such a row misses something
 * @op: operation
 * @w: the receiver's RESEND
 * @now: ns
 */
void shuffle_same_asked(struct shuffle_op *op, const struct shuffle_wire *w, u64 now)
{
	u8 *missed = &op->group->member[w->src_rank].missed;
	u32 rank = w->src_rank;
	u32 i, all = shuffle_group_all(op->group);
	const struct shuffle_msg_out *common = &op->tx.msg[all];
	const struct shuffle_tx_sched *m = &op->tx.sched.msg[all];

	lockdep_assert_held(&op->ssk->lock);
	if (op->tx.msg[rank].alone || !m->len)
		return;
	/* what was sent a moment ago may be on its way */
	if (m->next && has_nothing(op, rank, w) &&
	    passed(op->tx.same->first_at, shuffle_rto_min(op), now)) {
		WRITE_ONCE(*missed, min(*missed + 1, SHUFFLE_MISSED_MAX));
		leave_alone(op, rank, 0);
		grant_least(op);
		return;
	}
	/* it may have been granted what others do not grant */
	if (w->resend.off < m->next || m->next == m->len || m->next < common->granted ||
	    op->tx.msg[rank].granted == common->granted ||
	    shuffle_same_under_way(op, now))
		return;
	for (i = 0; i < all; i++)
		if (by_all(&op->tx.msg[i]) && op->tx.msg[i].granted == common->granted)
			leave_alone(op, i, m->next);
	grant_least(op);
}
