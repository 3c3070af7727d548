// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of operations that this host has not started yet.  They come from
 * members only, are bounded in bytes and expire; what is lost here is asked for
 * when the operation starts.  Guarded by sn->early.lock.
 */
#include "../shuffle.h"
#include "../trace.h"

struct early_cb {
	u64		op_id;
	unsigned long	expires;
	u16		port;
};

static struct early_cb *early_cb(struct sk_buff *skb)
{
	return (struct early_cb *)skb->cb;
}

static void early_expire(struct work_struct *work)
{
	struct shuffle_net *sn = container_of(to_delayed_work(work), struct shuffle_net,
					      early_work);
	struct sk_buff *skb;

	for (;;) {
		spin_lock_bh(&sn->early.lock);
		skb = skb_peek(&sn->early);
		if (!skb || time_before(jiffies, early_cb(skb)->expires)) {
			if (skb)
				schedule_delayed_work(&sn->early_work, HZ);
			spin_unlock_bh(&sn->early.lock);
			return;
		}
		__skb_unlink(skb, &sn->early);
		sn->early_bytes -= skb->truesize;
		spin_unlock_bh(&sn->early.lock);
		SHUFFLE_INC(sn, EarlyExpired);
		kfree_skb(skb);
	}
}

void shuffle_early_init(struct shuffle_net *sn)
{
	skb_queue_head_init(&sn->early);
	INIT_DELAYED_WORK(&sn->early_work, early_expire);
}

/* No packet arrives any more. */
void shuffle_early_exit(struct shuffle_net *sn)
{
	cancel_delayed_work_sync(&sn->early_work);
	skb_queue_purge(&sn->early);
}

/**
 * shuffle_early_keep() - keep a packet for later
 * @sn: namespace
 * @skb: its UDP payload
 * @op_id: of all its records
 * @port: of the socket they are for
 *
 * Context: softirq.
 * Return: true if @skb has been taken.
 */
bool shuffle_early_keep(struct shuffle_net *sn, struct sk_buff *skb, u64 op_id, u16 port)
{
	u32 limit = READ_ONCE(sn->dev0.cfg.early_bytes);
	bool kept = false;

	spin_lock_bh(&sn->early.lock);
	if (sn->early_bytes + skb->truesize <= limit) {
		early_cb(skb)->op_id = op_id;
		early_cb(skb)->port = port;
		early_cb(skb)->expires = jiffies +
				       msecs_to_jiffies(READ_ONCE(sn->dev0.cfg.early_expiry));
		sn->early_bytes += skb->truesize;
		if (skb_queue_empty(&sn->early))
			schedule_delayed_work(&sn->early_work, HZ);
		__skb_queue_tail(&sn->early, skb);
		kept = true;
	}
	spin_unlock_bh(&sn->early.lock);
	if (kept)
		SHUFFLE_INC(sn, EarlyKept);
	else
		SHUFFLE_INC(sn, EarlyFull);
	return kept;
}

/**
 * shuffle_early_claim() - give a new operation what came before it
 * @sn: namespace
 * @op_id: the operation, findable by now
 * @port: of its socket
 *
 * Context: process, no lock of ours held.
 */
void shuffle_early_claim(struct shuffle_net *sn, u64 op_id, u16 port)
{
	struct sk_buff *skb, *next;
	struct sk_buff_head mine;

	__skb_queue_head_init(&mine);
	spin_lock_bh(&sn->early.lock);
	skb_queue_walk_safe(&sn->early, skb, next) {
		if (early_cb(skb)->op_id != op_id || early_cb(skb)->port != port)
			continue;
		__skb_unlink(skb, &sn->early);
		sn->early_bytes -= skb->truesize;
		__skb_queue_tail(&mine, skb);
	}
	spin_unlock_bh(&sn->early.lock);

	local_bh_disable();
	while ((skb = __skb_dequeue(&mine))) {
		SHUFFLE_INC(sn, EarlyClaimed);
		shuffle_input_packet(sn, skb);
	}
	local_bh_enable();
}
