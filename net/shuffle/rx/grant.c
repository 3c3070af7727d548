// SPDX-License-Identifier: GPL-2.0-only
/*
 * Granting: how much may be on its way to this host, and from whom.  The policy
 * chooses, this file knows links and memory.  Under ssk->lock, any context.
 */
#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netlink/netlink.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/cross_traffic.h"
#include "../sched/op_order.h"
#include "../sched/policy.h"
#include "../sched/tuning.h"
#include "../sched/unit.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "../tx/msg_out.h"
#include "../tx/output.h"
#include "grant.h"
#include "msg_in.h"
#include "slowest.h"
#include "timer.h"

/* super-packets that one GRANT is for, at most */
#define SHUFFLE_GRANT_CHUNKS	4

/* operations that one call of recvmsg() grants for */
#define SHUFFLE_GRANT_OPS	32

/**
 * shuffle_grant_max_out() - most that may be granted and not arrived, per host
 * @dev: device of the operation
 *
 * max_out_grants = overcommit * RTTbytes (section 3.4).
 *
 * Return: bytes.
 */
u64 shuffle_grant_max_out(const struct shuffle_dev *dev)
{
	return (u64)shuffle_dev_rtt_bytes(dev) * READ_ONCE(dev->cfg.overcommit);
}

/* The same while others use the link: what they are to have is left to them. */
static u64 shared_max_out(const struct shuffle_dev *dev)
{
	u32 limit = READ_ONCE(dev->cross.limit);
	u64 max_out = shuffle_grant_max_out(dev);

	if (!limit)
		return max_out;
	return min(max_out, (u64)shuffle_dev_rtt_bytes(dev) * limit / SHUFFLE_CROSS_QUARTERS);
}

/* Units of a long message that are granted as one.  Where members are few, each one's part
 * of the limit is more than a unit: as much is on its way, with fewer GRANTs.  A sender's
 * buffer, which we take to be like ours, has to hold one for each receiver and what is being
 * copied: it is freed by the GRANT that comes when there is room for the next.
 */
static u32 units_per_grant(const struct shuffle_op *op, u64 max_out)
{
	const struct sock *sk = &op->ssk->sk;
	u32 members = max(op->rx.sched.n - op->rx.sched.absent, 1U);
	u32 part = min_t(u64, div_u64(max_out, members), SHUFFLE_GRANT_CHUNKS * SHUFFLE_CHUNK_MAX);

	part = min3(part, (u32)shuffle_sock_rcvbuf(sk) / 8,
		    (u32)shuffle_sock_sndbuf(sk) / (2 * members));
	return max(part / op->rx.sched.unit, 1U);
}

/**
 * shuffle_grant_share() - operations that share the downlink
 * @op: one of them, even if it has granted nothing yet
 *
 * Operations that wait for nobody, or only for members that do not deliver, take no part.
 *
 * Return: their number, at least 1.
 */
u32 shuffle_grant_share(const struct shuffle_op *op)
{
	lockdep_assert_held(&op->ssk->lock);
	return max(atomic_read(&op->dev->rx_ops) + !op->rx.receives, 1);
}

/* Its class by what has not come, of those heard of and about as much of the others. */
static u8 rx_class_of(const struct shuffle_op *op)
{
	if (op->order == SHUFFLE_ORDER_DEADLINE)
		return shuffle_op_deadline_class(op);
	return shuffle_order_class(shuffle_policy_rx_total_rem(&op->rx.sched));
}

/**
 * shuffle_grant_ordered() - most that an operation with an order may have granted and not got
 * @op: operation
 * @class: class of the operation
 * @max_out: of the device, bytes
 *
 * Return: bytes.
 */
u64 shuffle_grant_ordered(const struct shuffle_op *op, u8 class, u64 max_out)
{
	const struct shuffle_order *order = &op->dev->order;

	lockdep_assert_held(&op->ssk->lock);
	max_out = shuffle_order_part(order, &op->rx.place, shuffle_grant_share(op), max_out);
	return shuffle_order_limit(order, &op->rx.place, class, max_out);
}

/* The same for what it is to grant now.  One that has waited too long has its even share. */
static u64 grant_limit(const struct shuffle_op *op, u64 now)
{
	u64 max_out = shared_max_out(op->dev), share, patience;

	share = div_u64(max_out, shuffle_grant_share(op));
	if (op->order == SHUFFLE_ORDER_FAIR)
		return share;
	/* or in which the link could not have carried what all have granted */
	patience = max((u64)SHUFFLE_ORDER_PATIENCE * READ_ONCE(op->dev->rtt),
		       SHUFFLE_ORDER_DRAINS * shuffle_dev_drain_ns(op->dev, max_out));
	if (now <= op->rx.granted_at || now - op->rx.granted_at <= patience)
		share = 0;
	return max(share, shuffle_grant_ordered(op, rx_class_of(op), max_out));
}

/* It waits for grants from now on. */
static void want_to_grant(struct shuffle_op *op)
{
	list_add_tail(&op->rx.grant_node, &op->ssk->grant_ops);
	if (op->order != SHUFFLE_ORDER_FAIR)
		op->rx.granted_at = shuffle_now();
}

/**
 * shuffle_grant_account() - the schedule of a column has changed, or it has ended
 * @op: operation
 *
 * Keeps what the socket must know of all its operations, so that nobody has to ask each:
 * how much they have granted, and which of them want to grant more.
 *
 * Context: any, ssk->lock held.
 */
void shuffle_grant_account(struct shuffle_op *op)
{
	u64 out = op->life.ended ? 0 : op->rx.sched.outstanding;
	struct shuffle_sock *ssk = op->ssk;

	lockdep_assert_held(&ssk->lock);
	ssk->outstanding += out - op->rx.outstanding;
	op->rx.outstanding = out;
	if (op->rx.receives != !!out) {
		op->rx.receives = out;
		atomic_add(out ? 1 : -1, &op->dev->rx_ops);
	}
	if (op->order != SHUFFLE_ORDER_FAIR)
		shuffle_order_count(&op->dev->order, &op->rx.place, out,
				    out ? rx_class_of(op) : SHUFFLE_ORDER_FIRST, out);
	if (op->life.ended || !op->rx.sched.heap.n)
		list_del_init(&op->rx.grant_node);
	else if (list_empty(&op->rx.grant_node))
		want_to_grant(op);
}

/* Bytes of payload that the socket can still promise to hold.  An skb costs up
 * to twice its payload, as SO_RCVBUF is doubled for.
 */
static u64 promisable_bytes(struct shuffle_sock *ssk, u32 unit)
{
	s64 left = shuffle_sock_rcvbuf(&ssk->sk);
	u64 out = ssk->outstanding;

	left -= atomic_read(&ssk->sk.sk_rmem_alloc);
	left -= 2 * out;
	left = left > 0 ? left / 2 : 0;
	/* however small the buffer, one unit at a time must go on */
	if (!out && !atomic_read(&ssk->sk.sk_rmem_alloc))
		left = max_t(s64, left, 2 * unit);
	return left;
}

/**
 * shuffle_grant_send() - tell a sender what it may send and what has arrived
 * @op: operation
 * @rank: rank of the sender
 * @q: packets
 */
void shuffle_grant_send(struct shuffle_op *op, u32 rank, struct sk_buff_head *q)
{
	struct shuffle_net *sn = op->ssk->sn;
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct shuffle_wire w = {
		.type = SHUFFLE_GRANT,
		.op_id = op->id,
		.nonce = in->nonce,
		.grant.limit = op->rx.sched.msg[rank].granted,
		.grant.acked = in->have.prefix,
	};

	lockdep_assert_held(&op->ssk->lock);
	shuffle_slowest_tell(op, &w);
	in->granted_sent = w.grant.limit;
	in->acked_sent = w.grant.acked;
	shuffle_output_record(sn, op->ssk, op->group, rank, &w, q);
	SHUFFLE_INC(sn, GrantOut);
	trace_shuffle_grant_out(op, rank, w.grant.limit);
}

/**
 * shuffle_grant_tell() - bytes of a message have arrived
 * @op: operation
 * @rank: rank of the sender
 * @q: packets
 *
 * The sender keeps what it has not been told of.  It is told with the next grant, and that may be
 * far: others are granted more, or as much is on its way as may be.  A sender whose buffer is full
 * would go on only when it is asked again, buffer for buffer.  A message that fits its share of
 * a buffer like ours holds up nobody.
 *
 * Context: any, ssk->lock held, after shuffle_grant_op().
 */
void shuffle_grant_tell(struct shuffle_op *op, u32 rank, struct sk_buff_head *q)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	if (in->have.prefix - in->acked_sent < op->rx.untold_max || in->complete ||
	    op->life.ended || op->rx.sched.msg[rank].len <= 2 * (u64)op->rx.untold_max)
		return;
	shuffle_grant_send(op, rank, q);
}

static void send_grants(struct shuffle_op *op, struct sk_buff_head *q)
{
	struct shuffle_msg_in *in, *tmp;

	list_for_each_entry_safe(in, tmp, &op->rx.dirty, dirty) {
		list_del_init(&in->dirty);
		shuffle_grant_send(op, in - op->rx.msg, q);
	}
}

/**
 * shuffle_grant_pressure() - memory is what holds the socket back
 * @ssk: socket
 *
 * Whole messages may never fit: let the reader have parts.
 */
void shuffle_grant_pressure(struct shuffle_sock *ssk)
{
	lockdep_assert_held(&ssk->lock);
	if (!ssk->pressure) {
		ssk->pressure = true;
		SHUFFLE_INC(ssk->sn, Pressure);
		shuffle_event_pressure(ssk);
	}
	if (list_empty(&ssk->ready))
		shuffle_msg_in_unpark(ssk);
}

/* A message has been granted more. */
static void note_granted(struct shuffle_op *op, u32 rank, u64 now)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];

	if (list_empty(&in->dirty)) {
		if (!in->rtt_at) {
			in->rtt_off = in->granted_sent;
			in->rtt_at = now;
		}
		if (op->rx.sched.msg[rank].received == in->granted_sent) {
			/* nothing was on its way: the wait begins now */
			in->progress_at = now;
			if (op->rx.srtt_ns)
				in->wait_ns = 0;
		}
		list_add_tail(&in->dirty, &op->rx.dirty);
	}
	shuffle_timer_in(op, rank);
}

/**
 * shuffle_grant_op() - grant what may be granted now
 * @op: operation
 * @q: packets
 * @now: ns
 *
 * Runs after every arrival, and when the reader has made room.  SHUFFLE_BURST grants at
 * most: the timer goes on at once.
 */
void shuffle_grant_op(struct shuffle_op *op, struct sk_buff_head *q, u64 now)
{
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_dev *dev = op->dev;
	u64 rtt_bytes, max_out, left, out;
	u32 i, n = 0;

	lockdep_assert_held(&op->ssk->lock);
	if (op->life.ended || !op->rx.sched.heap.n)
		return;
	rtt_bytes = shuffle_dev_rtt_bytes(dev);
	max_out = grant_limit(op, now);
	/* what waits for a reader has its place, too */
	max_out = min(max_out, (u64)shuffle_sock_rcvbuf(&ssk->sk) / 4);
	op->rx.sched.burst = units_per_grant(op, max_out);
	op->rx.sched.scale_back = shuffle_slowest_limits(op, now);
	op->rx.sched.constant_window =
		READ_ONCE(dev->cfg.window_mode) == SHUFFLE_NL_WINDOW_MODE_CONSTANT;
	left = promisable_bytes(ssk, op->rx.sched.unit);
	out = op->rx.sched.outstanding;
	while (n < SHUFFLE_BURST) {
		i = shuffle_policy_rx_grant(&op->rx.sched, max_out, rtt_bytes, left);
		if (i == SHUFFLE_NONE)
			break;
		note_granted(op, i, now);
		op->rx.granted_at = now;
		n++;
		if (op->rx.sched.outstanding > out)
			left -= min(left, op->rx.sched.outstanding - out);
		out = op->rx.sched.outstanding;
	}
	shuffle_grant_account(op);
	if (!list_empty(&op->rx.dirty)) {
		send_grants(op, q);
		if (n == SHUFFLE_BURST)
			shuffle_timer_now(op, now);
		else
			shuffle_timer_start(op);
	}
	/* the least grant is less than 1.5 units: shuffle_policy_amount() */
	if (left < op->rx.sched.unit + op->rx.sched.unit / 2 && op->rx.sched.heap.n &&
	    (!op->rx.sched.outstanding || op->rx.sched.outstanding < max_out))
		shuffle_grant_pressure(ssk);
}

/**
 * shuffle_grant_sock() - the reader has made room
 * @ssk: socket
 * @q: packets
 *
 * Operations take turns, SHUFFLE_GRANT_OPS in each call; the timers of those that have
 * none for long grant, too.
 *
 * Context: any, ssk->lock held.
 * Return: true if @q is full, and there may be more to grant.
 */
bool shuffle_grant_sock(struct shuffle_sock *ssk, struct sk_buff_head *q)
{
	u32 n = SHUFFLE_GRANT_OPS;
	u64 now = shuffle_now();
	struct shuffle_op *op;
	LIST_HEAD(turns);

	lockdep_assert_held(&ssk->lock);
	if (atomic_read(&ssk->sk.sk_rmem_alloc) < shuffle_sock_rcvbuf(&ssk->sk) / 4)
		ssk->pressure = false;
	/* what more was left to read when others were made ready */
	else if (ssk->pressure && list_empty(&ssk->ready))
		shuffle_msg_in_unpark(ssk);
	list_splice_init(&ssk->grant_ops, &turns);
	while (n-- && skb_queue_len(q) < SHUFFLE_BURST &&
	       (op = list_first_entry_or_null(&turns, struct shuffle_op, rx.grant_node))) {
		list_move_tail(&op->rx.grant_node, &ssk->grant_ops);
		shuffle_grant_op(op, q, now);
	}
	list_splice(&turns, &ssk->grant_ops);
	return skb_queue_len(q) >= SHUFFLE_BURST;
}
