// SPDX-License-Identifier: GPL-2.0-only
/* When the egress runs: there is something to send, and there is room for it in the qdiscs. */
#include "../config.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/unit.h"
#include "../sock.h"
#include "egress_wake.h"
#include "turns.h"

/**
 * shuffle_egress_schedule() - the egress has something to do
 * @sn: namespace
 *
 * It runs in softirq context, on one CPU at a time; once more if it runs already.
 *
 * Context: any but hard interrupts.
 */
void shuffle_egress_schedule(struct shuffle_net *sn)
{
	/* Some drivers free packets with interrupts off.  They are called in softirqs, or with BHs
	 * off: at the end of that the softirq runs.
	 */
	if (irqs_disabled()) {
		napi_schedule(&sn->egress);
		return;
	}
	/* one that a process raises runs when its BHs are on again */
	local_bh_disable();
	napi_schedule(&sn->egress);
	local_bh_enable();
}

/**
 * shuffle_egress_limit() - how much may be on its way out before the next packet is chosen
 * @sn: namespace
 *
 * Context: any.
 * Return: bytes, as sn->egress_queued counts them.
 */
u32 shuffle_egress_limit(struct shuffle_net *sn)
{
	u32 set = READ_ONCE(sn->dev0.cfg.egress_bytes);

	if (set)
		return set;
	/* The next one is chosen while the last one leaves.  skb->truesize is
	 * what is counted: payload, headers and the skb itself.
	 */
	return 2 * shuffle_grant_unit(shuffle_dev_widest(sn), 1500);
}

/**
 * shuffle_egress_queued() - how much is in front of the next packet
 * @sn: namespace
 *
 * What is stuck is forgotten as soon as it moves; two CPUs that see that at once may forget a
 * little more.
 *
 * Context: any.
 * Return: bytes.
 */
u32 shuffle_egress_queued(struct shuffle_net *sn)
{
	int n = max(atomic_read(&sn->egress_queued), 0);
	int stuck = READ_ONCE(sn->egress_stuck);

	if (n < stuck) {
		WRITE_ONCE(sn->egress_stuck, n);
		return 0;
	}
	return n - stuck;
}

/**
 * shuffle_egress_kick() - an operation may have something to send
 * @op: operation
 *
 * Context: any, ssk->lock held.
 */
void shuffle_egress_kick(struct shuffle_op *op)
{
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_net *sn = ssk->sn;

	lockdep_assert_held(&op->ssk->lock);
	if (!shuffle_egress_has_data(op))
		return;
	shuffle_turns_add_op(op);
	if (shuffle_turns_add_sock(sn, ssk, false))
		shuffle_egress_schedule(sn);
}

/**
 * shuffle_egress_room() - a packet of ours has left a qdisc
 * @sn: namespace
 *
 * Context: any but hard interrupts, also under qdisc locks.
 */
void shuffle_egress_room(struct shuffle_net *sn)
{
	/* pairs with the barrier in egress_run(): either it sees the room, or we
	 * see the socket that it has put back
	 */
	smp_mb();
	if (!list_empty(&sn->egress_socks) && shuffle_egress_queued(sn) < shuffle_egress_limit(sn))
		shuffle_egress_schedule(sn);
}

/**
 * shuffle_egress_force() - nothing has been sent for long though there is something
 * @sn: namespace
 *
 * A tunnel whose other end is dead, or that waits for a key, keeps packets for seconds and
 * so fills the limit.  If nothing has left since this was asked last, long ago, what is
 * queued is waited for no more.
 *
 * Context: softirq.
 */
void shuffle_egress_force(struct shuffle_net *sn)
{
	int n = atomic_read(&sn->egress_queued);
	u64 now = shuffle_now();

	spin_lock_bh(&sn->egress_lock);
	if (sn->egress_marked_at <= (u64)atomic64_read(&sn->egress_at) || n < sn->egress_mark) {
		sn->egress_mark = n;
		sn->egress_marked_at = now;
	} else if (now - sn->egress_marked_at >= SHUFFLE_EGRESS_STUCK_NS) {
		WRITE_ONCE(sn->egress_stuck, n);
		SHUFFLE_INC(sn, EgressStuck);
	}
	spin_unlock_bh(&sn->egress_lock);
	shuffle_egress_schedule(sn);
}
