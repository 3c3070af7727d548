// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose turn it is to send: sockets of a namespace, and operations of a socket.
 *
 * Both stand in two lists: by how long they have waited, and by the class of their order
 * (sched/op_order.h).  Where operations share evenly, all are of one class, and the two
 * lists are the same.  Sockets have a list for each class, under sn->egress_lock; a
 * socket's operations are sorted, under ssk->lock.  Those without an order are of the first
 * class, but have no more turns than if the others had none either.  A socket that has some
 * of both counts as one without.
 */
#include "../netns.h"
#include "../op.h"
#include "../sched/op_order.h"
#include "../sock.h"
#include "turns.h"

/* Places that are looked at to sort an operation in: those behind are not far off. */
#define SHUFFLE_TURNS_LOOK	SHUFFLE_SLICE

static u8 tx_class_of(const struct shuffle_op *op)
{
	switch (op->order) {
	case SHUFFLE_ORDER_SMALLEST:
		return shuffle_order_class(op->tx.left);
	case SHUFFLE_ORDER_DEADLINE:
		return shuffle_op_deadline_class(op);
	}
	return SHUFFLE_ORDER_FIRST;
}

/* Put an operation behind those of its class, or of those without an order. */
static void sort_in(struct shuffle_sock *ssk, struct shuffle_op *op)
{
	struct list_head *at = ssk->tx_order.prev;
	u32 look = SHUFFLE_TURNS_LOOK;

	op->tx.class = tx_class_of(op);
	shuffle_order_mix_add(&ssk->tx_mix, op->tx.class, 1);
	if (op->tx.class == SHUFFLE_ORDER_FIRST) {
		list_add_tail(&op->tx.order_node, &ssk->tx_fair);
		return;
	}
	while (at != &ssk->tx_order && look-- &&
	       list_entry(at, struct shuffle_op, tx.order_node)->tx.class > op->tx.class)
		at = at->prev;
	list_add(&op->tx.order_node, at);
}

static void take_out(struct shuffle_op *op)
{
	list_del_init(&op->tx.order_node);
	shuffle_order_mix_add(&op->ssk->tx_mix, op->tx.class, -1);
}

/**
 * shuffle_turns_add_op() - an operation has data to send
 * @op: operation; it may be there already
 *
 * Context: any, ssk->lock held.
 */
void shuffle_turns_add_op(struct shuffle_op *op)
{
	struct shuffle_sock *ssk = op->ssk;

	lockdep_assert_held(&op->ssk->lock);
	if (!list_empty(&op->tx.node))
		return;
	list_add_tail(&op->tx.node, &ssk->tx_ops);
	sort_in(ssk, op);
}

/**
 * shuffle_turns_del_op() - it has none any more
 * @op: operation; it may be gone already
 *
 * Context: any, ssk->lock held.
 */
void shuffle_turns_del_op(struct shuffle_op *op)
{
	lockdep_assert_held(&op->ssk->lock);
	if (list_empty(&op->tx.node))
		return;
	list_del_init(&op->tx.node);
	take_out(op);
	op->ssk->tx_turn++;
}

/**
 * shuffle_turns_op_over() - its turn is over, and it has more data to send
 * @op: operation
 *
 * Context: any, ssk->lock held.
 */
void shuffle_turns_op_over(struct shuffle_op *op)
{
	lockdep_assert_held(&op->ssk->lock);
	list_move_tail(&op->tx.node, &op->ssk->tx_ops);
	take_out(op);
	sort_in(op->ssk, op);
	op->ssk->tx_turn++;
}

/**
 * shuffle_turns_next_op() - the operation of a socket whose turn it is
 * @ssk: socket
 * @oldest: the one that has waited longest, not the first in the order
 *
 * Context: any, ssk->lock held.
 * Return: the operation, or NULL.
 */
struct shuffle_op *shuffle_turns_next_op(struct shuffle_sock *ssk, bool oldest)
{
	lockdep_assert_held(&ssk->lock);
	if (oldest)
		return list_first_entry_or_null(&ssk->tx_ops, struct shuffle_op, tx.node);
	return list_first_entry_or_null(shuffle_order_fair_turn(&ssk->tx_mix, ssk->tx_turn) ?
					&ssk->tx_fair : &ssk->tx_order, struct shuffle_op,
					tx.order_node);
}

/* Of its first operation; of one of those without an order if there are any.  ssk->lock held. */
static u8 class_of(const struct shuffle_sock *ssk)
{
	lockdep_assert_held(&ssk->lock);
	if (ssk->tx_mix.fair || list_empty(&ssk->tx_order))
		return SHUFFLE_ORDER_FIRST;
	return list_first_entry(&ssk->tx_order, struct shuffle_op, tx.order_node)->tx.class;
}

/* sn->egress_lock held */
static void enter_class(struct shuffle_net *sn, struct shuffle_sock *ssk, u8 class, bool first)
{
	lockdep_assert_held(&sn->egress_lock);
	if (first)
		list_add(&ssk->egress_order, &sn->egress_class[class]);
	else
		list_add_tail(&ssk->egress_order, &sn->egress_class[class]);
	ssk->egress_class = class;
	sn->egress_classes |= 1ULL << class;
	shuffle_order_mix_add(&sn->egress_mix, class, 1);
}

/* sn->egress_lock held */
static void leave_class(struct shuffle_net *sn, struct shuffle_sock *ssk)
{
	lockdep_assert_held(&sn->egress_lock);
	list_del_init(&ssk->egress_order);
	if (list_empty(&sn->egress_class[ssk->egress_class]))
		sn->egress_classes &= ~(1ULL << ssk->egress_class);
	shuffle_order_mix_add(&sn->egress_mix, ssk->egress_class, -1);
}

/**
 * shuffle_turns_add_sock() - a socket has an operation that has data to send
 * @sn: namespace
 * @ssk: socket; it may be there already
 * @first: in front of the others; its turn goes on
 *
 * Context: any, ssk->lock held.
 * Return: true if it was not there already.
 */
bool shuffle_turns_add_sock(struct shuffle_net *sn, struct shuffle_sock *ssk, bool first)
{
	u8 class = class_of(ssk);
	bool added;

	lockdep_assert_held(&ssk->lock);
	spin_lock(&sn->egress_lock);
	added = list_empty(&ssk->egress_node);
	if (added) {
		sock_hold(&ssk->sk);
		if (first)
			list_add(&ssk->egress_node, &sn->egress_socks);
		else
			list_add_tail(&ssk->egress_node, &sn->egress_socks);
		enter_class(sn, ssk, class, first);
	} else if (class < ssk->egress_class) {
		leave_class(sn, ssk);
		enter_class(sn, ssk, class, false);
	}
	spin_unlock(&sn->egress_lock);
	return added;
}

/* Of the socket whose turn it is; there is one.  sn->egress_lock held. */
static u8 next_class(const struct shuffle_net *sn)
{
	lockdep_assert_held(&sn->egress_lock);
	if (shuffle_order_fair_turn(&sn->egress_mix, sn->egress_turn))
		return SHUFFLE_ORDER_FIRST;
	return __ffs64(sn->egress_classes & ~(1ULL << SHUFFLE_ORDER_FIRST));
}

/**
 * shuffle_turns_next_sock() - take out the socket whose turn it is
 * @sn: namespace
 * @oldest: the one that has waited longest, not the first in the order
 *
 * Context: softirq.
 * Return: the socket with a reference, or NULL.
 */
struct shuffle_sock *shuffle_turns_next_sock(struct shuffle_net *sn, bool oldest)
{
	struct shuffle_sock *ssk = NULL;

	spin_lock(&sn->egress_lock);
	if (oldest)
		ssk = list_first_entry_or_null(&sn->egress_socks, struct shuffle_sock,
					       egress_node);
	else if (sn->egress_classes)
		ssk = list_first_entry(&sn->egress_class[next_class(sn)],
				       struct shuffle_sock, egress_order);
	if (ssk) {
		list_del_init(&ssk->egress_node);
		leave_class(sn, ssk);
	}
	spin_unlock(&sn->egress_lock);
	return ssk;
}

/**
 * shuffle_turns_init() - nobody has anything to send
 * @sn: namespace
 */
void shuffle_turns_init(struct shuffle_net *sn)
{
	u32 i;

	spin_lock_init(&sn->egress_lock);
	INIT_LIST_HEAD(&sn->egress_socks);
	for (i = 0; i < SHUFFLE_ORDER_CLASSES; i++)
		INIT_LIST_HEAD(&sn->egress_class[i]);
}
