// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of operations that a socket has not started yet.  They come from members
 * only, are charged to the socket, bounded in bytes and expire; what is lost here is
 * asked for when the operation starts.  Guarded by ssk->lock.
 */
#include "../config.h"
#include "../mem.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sock.h"
#include "../trace.h"
#include "../user.h"
#include "early.h"
#include "input.h"

/* The sockets of a user may have so many times what they leave of their namespace's limit: one user
 * alone gets four fifths of it, and others always find some.
 */
#define SHUFFLE_EARLY_SHARE	4

struct early_cb {
	struct list_head	fifo;
	u64			op_id;
	unsigned long		expires;
};

static struct early_cb *early_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct early_cb) > sizeof(skb->cb));
	return (struct early_cb *)skb->cb;
}

static struct sk_buff *oldest(struct shuffle_early *e)
{
	struct early_cb *cb = list_first_entry_or_null(&e->fifo, struct early_cb, fifo);

	return cb ? container_of((void *)cb, struct sk_buff, cb) : NULL;
}

/* Behind those of the same operation. */
static void insert(struct shuffle_early *e, struct sk_buff *skb)
{
	struct rb_node **link = &e->tree.rb_node;
	struct rb_node *parent = NULL;

	while (*link) {
		parent = *link;
		if (early_cb(skb)->op_id < early_cb(rb_to_skb(parent))->op_id)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &e->tree);
	list_add_tail(&early_cb(skb)->fifo, &e->fifo);
}

static struct sk_buff *first_of(struct shuffle_early *e, u64 op_id)
{
	struct rb_node *node = e->tree.rb_node;
	struct sk_buff *found = NULL;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (early_cb(skb)->op_id < op_id) {
			node = node->rb_right;
			continue;
		}
		if (early_cb(skb)->op_id == op_id)
			found = skb;
		node = node->rb_left;
	}
	return found;
}

/* Out of the tree and onto a list.  ssk->lock held. */
static void take(struct shuffle_sock *ssk, struct sk_buff *skb, struct sk_buff_head *q)
{
	struct shuffle_net *sn = ssk->sn;

	lockdep_assert_held(&ssk->lock);
	list_del(&early_cb(skb)->fifo);
	rb_erase(&skb->rbnode, &ssk->early.tree);
	skb->dev = NULL;	/* rbnode lies over it */
	__skb_queue_tail(q, skb);
	atomic_sub(skb->truesize, &ssk->user->early);
	atomic_sub(skb->truesize, &sn->early_bytes);
	sk_mem_uncharge(&ssk->sk, skb->truesize);
}

/* Take as many as one hold of the lock may: those that have expired, or all. */
static void take_old(struct shuffle_sock *ssk, bool all, struct sk_buff_head *q)
{
	struct sk_buff *skb;
	u32 n = SHUFFLE_SLICE;

	spin_lock_bh(&ssk->lock);
	while (n-- && (skb = oldest(&ssk->early)) &&
	       (all || time_after_eq(jiffies, early_cb(skb)->expires)))
		take(ssk, skb, q);
	spin_unlock_bh(&ssk->lock);
}

static void early_expire(struct work_struct *work)
{
	struct shuffle_sock *ssk = container_of(to_delayed_work(work), struct shuffle_sock,
						early.work);
	struct shuffle_net *sn = ssk->sn;
	struct sk_buff_head q;
	u32 n;

	__skb_queue_head_init(&q);
	do {
		take_old(ssk, false, &q);
		n = skb_queue_len(&q);
		SHUFFLE_ADD(sn, EarlyExpired, n);
		__skb_queue_purge(&q);
		cond_resched();
	} while (n);
	spin_lock_bh(&ssk->lock);
	if (oldest(&ssk->early))
		schedule_delayed_work(&ssk->early.work, HZ);
	spin_unlock_bh(&ssk->lock);
}

/**
 * shuffle_early_init() - of a new socket
 * @ssk: socket
 */
void shuffle_early_init(struct shuffle_sock *ssk)
{
	ssk->early.tree = RB_ROOT;
	INIT_LIST_HEAD(&ssk->early.fifo);
	INIT_DELAYED_WORK(&ssk->early.work, early_expire);
}

/**
 * shuffle_early_exit() - free what is kept, and keep nothing any more
 * @ssk: socket that is being closed
 *
 * Context: process, may sleep.
 */
void shuffle_early_exit(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = ssk->sn;
	struct sk_buff_head q;
	u32 n;

	spin_lock_bh(&ssk->lock);
	ssk->early.closed = true;
	spin_unlock_bh(&ssk->lock);
	cancel_delayed_work_sync(&ssk->early.work);
	__skb_queue_head_init(&q);
	do {
		take_old(ssk, true, &q);
		n = skb_queue_len(&q);
		SHUFFLE_ADD(sn, EarlyExpired, n);
		__skb_queue_purge(&q);
		cond_resched();
	} while (n);
}

/* Is there room for @size bytes more?  Operations that run need memory first.  ssk->lock held. */
static bool has_room(struct shuffle_sock *ssk, struct shuffle_net *sn, u32 size)
{
	u32 limit = READ_ONCE(sn->dev0.cfg.early_bytes);
	u32 kept = atomic_read(&sn->early_bytes);

	lockdep_assert_held(&ssk->lock);
	if (ssk->early.closed || kept > limit || size > limit - kept)
		return false;
	return atomic_read(&ssk->user->early) + size <=
		       SHUFFLE_EARLY_SHARE * (u64)(limit - kept - size) &&
	       !shuffle_mem_scarce();
}

/**
 * shuffle_early_keep() - keep a packet for later
 * @ssk: socket it is for
 * @skb: UDP payload of the packet
 * @op_id: of all its records
 * @unlinked: of @ssk, when the operation was looked for and not found
 *
 * Context: softirq.
 * Return:
 * * 1 - @skb has been taken
 * * 0 - there is no room for it
 * * -EAGAIN - the operation has begun meanwhile, or may have begun and ended: what was kept of it
 *   may have been claimed already (shuffle_early_claim()), and nobody would look for this packet
 */
int shuffle_early_keep(struct shuffle_sock *ssk, struct sk_buff *skb, u64 op_id, u32 unlinked)
{
	struct shuffle_net *sn = ssk->sn;
	struct shuffle_early *e = &ssk->early;
	int kept = 0;

	spin_lock_bh(&ssk->lock);
	if (ssk->unlinked != unlinked || shuffle_op_find(ssk, op_id)) {
		kept = -EAGAIN;
	} else if (has_room(ssk, sn, skb->truesize) &&
	    sk_rmem_schedule(&ssk->sk, skb, skb->truesize)) {
		sk_mem_charge(&ssk->sk, skb->truesize);
		atomic_add(skb->truesize, &ssk->user->early);
		atomic_add(skb->truesize, &sn->early_bytes);
		early_cb(skb)->op_id = op_id;
		early_cb(skb)->expires = jiffies +
				       msecs_to_jiffies(READ_ONCE(sn->dev0.cfg.early_expiry_ms));
		if (list_empty(&e->fifo))
			schedule_delayed_work(&e->work, HZ);
		insert(e, skb);
		kept = 1;
	}
	spin_unlock_bh(&ssk->lock);
	if (kept > 0)
		SHUFFLE_INC(sn, EarlyKept);
	else if (!kept)
		SHUFFLE_INC(sn, EarlyFull);
	return kept;
}

/* All that is kept of an operation, which a socket may keep more of again. */
static void take_op(struct shuffle_sock *ssk, u64 op_id, struct sk_buff_head *q)
{
	struct sk_buff *skb;
	u32 n;

	__skb_queue_head_init(q);
	do {
		spin_lock_bh(&ssk->lock);
		for (n = 0; n < SHUFFLE_SLICE && (skb = first_of(&ssk->early, op_id)); n++)
			take(ssk, skb, q);
		spin_unlock_bh(&ssk->lock);
	} while (n);
}

/**
 * shuffle_early_claim() - give a new operation what came before it
 * @ssk: socket
 * @op_id: id of the operation, which is linked by now: shuffle_early_keep() looks for it under the
 *	lock under which it was linked, so nothing more is kept for it
 *
 * Context: process, no lock of ours but @op->fill.mutex held.
 */
void shuffle_early_claim(struct shuffle_sock *ssk, u64 op_id)
{
	struct shuffle_net *sn = ssk->sn;
	struct sk_buff_head mine;
	struct sk_buff *skb;
	u32 n;

	/* all, before the first is given back to the receive path */
	take_op(ssk, op_id, &mine);
	while (!skb_queue_empty(&mine)) {
		local_bh_disable();
		for (n = 0; n < SHUFFLE_BURST && (skb = __skb_dequeue(&mine)); n++) {
			SHUFFLE_INC(sn, EarlyClaimed);
			shuffle_input_packet(sn, skb, ssk);
		}
		local_bh_enable();
		cond_resched();
	}
}
