// SPDX-License-Identifier: GPL-2.0-only
/*
 * A row is announced: how much of each message may be sent without a grant, and which members
 * must be told that a message comes.
 */
#include <net/dst.h>

#include "../config.h"
#include "../group.h"
#include "../netns.h"
#include "../op.h"
#include "../rx/delayed_ack.h"
#include "../rx/grant.h"
#include "../rx/msg_in.h"
#include "../rx/timer.h"
#include "../sched/op_order.h"
#include "../sched/policy.h"
#include "../sched/portable.h"
#include "../sched/tuning.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "announce.h"
#include "msg_out.h"
#include "output.h"
#include "own_schedule.h"
#include "route.h"
#include "row.h"
#include "same.h"

/* Most that one message may have without a grant.  All senders may have chosen the
 * same receiver: together they send at most four times what it would grant, which
 * is less than the buffers of a switch port.
 */
static u64 unscheduled_max(const struct shuffle_op *op)
{
	u64 all = 4 * shuffle_grant_max_out(op->dev);

	return min_t(u64, div_u64(all, op->group->count), SHUFFLE_UNSCHED_MAX);
}

/* What a row may have without grants: one RTT of data (section 3.3), enough to keep the
 * link busy until the first grant.  A row that is no more than one receiver would grant
 * at once goes whole: a GRANT for each of its messages, and waiting for it, would cost
 * more than the schedule can gain.  Where a socket has several operations, their data keeps
 * the link busy, too: all of them together may have about as much.
 *
 * It must not be much for the receivers' buffers, which we take to be like ours, and all
 * of it must fit our own: ACKs wait for it (ack_can_ride()).
 *
 * Called with the bytes of the row so far, and ssk->lock held.
 */
static u64 unscheduled_row(const struct shuffle_op *op, u64 total)
{
	const struct sock *sk = &op->ssk->sk;
	/* those of others that wait for nothing do not count; our own may start any time */
	u32 own = max3(op->ssk->nr_incomplete, op->ssk->nr_unsent + !op->tx.left, 1U);
	u32 share = max3(shuffle_grant_share(op), op->ssk->nr_incomplete, 1U);
	u64 all = total + op->ssk->unsent - op->tx.left;
	u64 max_out = shuffle_grant_max_out(op->dev), whole = max_out;

	lockdep_assert_held(&op->ssk->lock);
	/* a limit that an operator has set is meant */
	if (READ_ONCE(op->dev->cfg.unscheduled))
		return shuffle_dev_unscheduled(op->dev);
	/* what is in front of it is there already, what is behind can wait */
	if (op->order == SHUFFLE_ORDER_FAIR) {
		whole = div_u64(whole, share);
	} else {
		u8 class = op->order == SHUFFLE_ORDER_DEADLINE ? shuffle_op_deadline_class(op) :
								 shuffle_order_class(total);

		whole = min(shuffle_grant_ordered(op, class, whole), div_u64(whole, own));
	}
	whole = min3(whole, (u64)shuffle_sock_rcvbuf(sk) / 4, (u64)shuffle_sock_sndbuf(sk) / 2);
	/* two short rows of one socket are no more than a long one */
	if (total <= whole && all <= max_out)
		return total;
	return div_u64(shuffle_dev_unscheduled(op->dev), own);
}

/* Messages of a short row go in front of other data, if they are so short that not even all
 * senders together can fill what ports have for what overtakes.  0: none do.  The operator has to
 * have said so: those of other programs are overtaken.
 */
static u32 ahead_max(const struct shuffle_op *op, u64 total)
{
	u64 most = div_u64(shuffle_grant_max_out(op->dev), SHUFFLE_ORDER_AHEAD);

	if (op->order != SHUFFLE_ORDER_SMALLEST || total > most ||
	    READ_ONCE(op->dev->cfg.op_order) != SHUFFLE_ORDER_SMALLEST)
		return 0;
	return min_t(u64, div_u64(most, op->group->count), U32_MAX);
}

/* What an announcement would do that is not sent: for an empty message it is all. */
static void announce_to_self(struct shuffle_op *op, struct sk_buff_head *q)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, op->group->rank);
	u64 now = shuffle_now();

	shuffle_msg_out_place(op, &w, 0, 0);
	shuffle_msg_in_data(op, &w, NULL, 0, 0, 0, q, now);
	shuffle_grant_op(op, q, now);
}

/* The messages [from, to) have lengths now: what of them may be sent unasked becomes their
 * limit.  Without the lock: this takes some steps for each message.
 */
static void limit_unscheduled(struct shuffle_op *op, struct shuffle_policy_tx *plan, u32 from,
			      u32 to)
{
	u64 total = 0, budget;
	struct dst_entry *dst;
	u32 payload, i;

	for (i = 0; i < to; i++)
		total += plan->msg[i].len;
	/* a packet to ourselves would be as large as the loopback's */
	i = from == op->group->rank && from + 1 < to ? from + 1 : from;
	spin_lock_bh(&op->ssk->lock);
	budget = unscheduled_row(op, total);
	op->tx.ahead = ahead_max(op, total);
	dst = shuffle_route(op->ssk->sn, op->ssk, op->group, i);
	payload = shuffle_route_payload(op->dev, op->group, i, dst);
	dst_release(dst);
	spin_unlock_bh(&op->ssk->lock);
	/* rounded up to whole packets; of all the data only this can overflow a port */
	shuffle_policy_unscheduled(plan, from, to, budget, payload, unscheduled_max(op));
}

/* The same for a row whose messages have the same bytes, which are sent once, or to each alone. */
static void limit_same(struct shuffle_op *op, struct shuffle_policy_tx *plan)
{
	u32 i, all = shuffle_group_all(op->group);
	u64 len = op->tx.sched.msg[all].len, limit;
	struct dst_entry *dst;
	u32 payload;

	spin_lock_bh(&op->ssk->lock);
	dst = shuffle_route(op->ssk->sn, op->ssk, op->group, all);
	payload = shuffle_route_payload(op->dev, op->group, all, dst);
	dst_release(dst);
	/* an operation's part of what a socket may send so is a packet at least */
	limit = min(max_t(u64, unscheduled_row(op, len), payload), unscheduled_max(op));
	spin_unlock_bh(&op->ssk->lock);
	if (limit < len)
		limit = div_u64(limit, payload) * payload;
	for (i = 0; i < plan->n; i++)
		plan->msg[i].limit = min(limit, plan->msg[i].len);
}

static void start_message(struct shuffle_op *op, const struct shuffle_policy_tx *plan, u32 rank)
{
	struct shuffle_msg_out *out = &op->tx.msg[rank];
	u64 len = plan->msg[rank].len, limit = plan->msg[rank].limit;

	if (out->absent) {
		out->acked = true;
		op->tx.unacked--;
		return;
	}
	/* those of a collective are short, and wait for others, not for grants */
	if (len <= SHUFFLE_INLINE_MAX || op->engine)
		limit = len;
	/* Both ends must count the same bytes as granted, and the wire
	 * counts them in units; a packet that begins below is sent whole.
	 */
	if (limit < len)
		limit = rounddown(limit, SHUFFLE_UNSCHED_UNIT);
	out->unsched = limit;
	out->granted = limit;
	op->tx.sched.msg[rank].len = len;	/* its limit is 0: nothing has been copied yet */
	shuffle_op_left(op, op->tx.left + len);
}

/* The messages [from, to) become the operation's.  The lock is free between slices: nobody
 * looks at messages behind op->tx.announced.  0 or -EPIPE.
 */
static int start_messages(struct shuffle_op *op, const struct shuffle_policy_tx *plan, u32 from,
			  u32 to)
{
	struct shuffle_sock *ssk = op->ssk;
	u32 i = from, end;
	int err = 0;

	do {
		end = min(i + SHUFFLE_SLICE, to);
		spin_lock_bh(&ssk->lock);
		if (op->life.ended)
			err = -EPIPE;
		/* nothing changes any more in an operation that has ended: a reader looks */
		for (; i < end && !err; i++)
			start_message(op, plan, i);
		if (i == to && !err) {
			if (op->tx.same) {
				shuffle_same_start(op);
				shuffle_same_left(op);
			}
			op->tx.announced = to;
			op->tx.closed = to == op->tx.sched.n;
			shuffle_timer_start(op);
			/* where nothing goes or comes, no record will end it */
			shuffle_op_check_done(op);
		}
		spin_unlock_bh(&ssk->lock);
	} while (i < to && !err);
	return err;
}

/* A member that gets nothing unasked must be told that a message comes, and one that gets what
 * all get, by which nonce it answers.  The lock is free between
 * slices: an operation with messages that nobody has been told of yet is like one whose
 * packets were lost.  No data is there to be sent before we return: we hold op->fill.mutex.
 */
static void announce_messages(struct shuffle_op *op, u32 from, u32 to)
{
	struct shuffle_net *sn = op->ssk->sn;
	struct shuffle_sock *ssk = op->ssk;
	struct sk_buff_head q;
	u32 i = from, end;

	__skb_queue_head_init(&q);
	while (i < to) {
		end = min(i + SHUFFLE_SLICE, to);
		spin_lock_bh(&ssk->lock);
		for (; i < end && !op->life.ended; i++) {
			/* begin behind ourselves, so that not all tell rank 0 at once */
			u32 rank = from + (i - from + op->group->rank + 1) % (to - from);

			if (op->tx.msg[rank].absent)
				continue;
			if (rank == op->group->rank) {
				op->tx.msg[rank].announced_at = shuffle_now();
				if (!op->tx.msg[rank].unsched)
					announce_to_self(op, &q);
			} else if (!op->tx.msg[rank].unsched ||
				   (op->tx.msg[rank].shared && !op->tx.msg[rank].alone)) {
				shuffle_msg_out_announce(op, rank, 0, &q);
				shuffle_timer_out(op, rank);
			}
		}
		i = end;
		spin_unlock_bh(&ssk->lock);
		shuffle_output_flush(sn, &q);
		cond_resched();
	}
}

/* The lengths of the messages [from, to): those behind the row are empty.  Nobody looks at
 * messages behind op->tx.announced.  0 or -EINVAL.
 */
static int take_lens(struct shuffle_op *op, const struct shuffle_row *row,
		     struct shuffle_policy_tx *plan, u32 from, u32 to)
{
	const u64 *lens = shuffle_row_lens(row);
	u32 i, rank = op->group->rank;
	u64 len;

	for (i = from; i < to; i++) {
		len = i - from < row->count ? lens[i - from] : 0;
		op->tx.msg[i].absent = len == SHUFFLE_ABSENT;
		plan->msg[i].len = op->tx.msg[i].absent ? 0 : len;
	}
	/* both ends of this one are known */
	if (rank >= from && rank < to && op->tx.msg[rank].absent != op->rx.msg[rank].absent)
		return -EINVAL;
	return 0;
}

/**
 * shuffle_announce() - lengths of messages are known
 * @op: operation
 * @row: of the caller; its messages follow those that were announced before
 *
 * Context: process, may sleep, op->fill.mutex held.
 * Return: 0, or -EPIPE (the operation has ended), -EMSGSIZE (more messages than members),
 * -EINVAL (out of order, or announced already; absent at one end only), -ENOMEM, or an error of
 * shuffle_same_alloc().
 */
int shuffle_announce(struct shuffle_op *op, const struct shuffle_row *row)
{
	struct shuffle_policy_tx plan;
	u32 n = op->tx.sched.n, from, to, i;
	int err;

	lockdep_assert_held(&op->fill.mutex);
	if (!row->count && (row->flags & SHUFFLE_ROW_MORE))
		return 0;
	if (READ_ONCE(op->life.ended))
		return -EPIPE;
	if (row->count > n || row->first_rank > n - row->count)
		return -EMSGSIZE;
	/* only writers change these, and we hold op->fill.mutex */
	if (row->count && (op->tx.closed || row->first_rank != op->tx.announced))
		return -EINVAL;
	if (op->tx.closed)
		return 0;
	from = op->tx.announced;
	if (!from && row->flags & SHUFFLE_ROW_DELAYED_ACK) {
		op->tx.delays = true;
		/* the others say so, too */
		shuffle_delayed_init(op->ssk, op->group);
	}
	to = row->flags & SHUFFLE_ROW_MORE ? from + row->count : n;
	err = shuffle_own_schedule(op, &plan);
	if (err)
		goto out;
	for (i = 0; i < from; i++)
		plan.msg[i].len = op->tx.sched.msg[i].len;
	err = take_lens(op, row, &plan, from, to);
	if (err)
		goto out;
	if (row->flags & SHUFFLE_ROW_SAME) {
		err = shuffle_same_alloc(op, row);
		if (err)
			goto out;
		limit_same(op, &plan);
		op->fill.rank = shuffle_group_all(op->group);
	} else {
		limit_unscheduled(op, &plan, from, to);
	}
	err = start_messages(op, &plan, from, to);
	if (!err)
		announce_messages(op, from, to);
out:
	shuffle_free_schedule(&plan);
	return err;
}
