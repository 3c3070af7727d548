// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: events.  They are made where they happen, under spinlocks and in
 * softirqs, if anybody listens, and wait in sn->events for a worker that sends
 * them: what a listener costs is not paid under a lock of ours.  When events have
 * to be dropped listeners get ENOBUFS, as when their own queues are full.
 */
#include <linux/workqueue.h>

#include "../abort.h"
#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sock.h"
#include "netlink.h"
#include "netlink_gen.h"

#define SHUFFLE_EVENTS_MAX	4096	/* waiting in a namespace */
#define SHUFFLE_EVENT_SIZE	512	/* attributes of one, without lists of ranks */
#define SHUFFLE_EVENT_MISSING	64	/* ranks that one names, of each kind */

static struct workqueue_struct *event_wq;
static bool event_off = true;

struct event_cb {
	u32 group;
};

static void event_send(struct work_struct *work)
{
	struct shuffle_net *sn = container_of(work, struct shuffle_net, event_work);
	struct sk_buff *skb;
	u32 group;

	while ((skb = skb_dequeue(&sn->events))) {
		group = ((struct event_cb *)skb->cb)->group;
		if (READ_ONCE(event_off)) {
			nlmsg_free(skb);
			continue;
		}
		memset(skb->cb, 0, sizeof(skb->cb));
		genlmsg_multicast_netns(&shuffle_nl_family, sn->net, skb, 0, group, GFP_KERNEL);
	}
	for (group = 0; group <= SHUFFLE_NLGRP_CONFIG; group++)
		if (test_and_clear_bit(group, &sn->events_lost) && !READ_ONCE(event_off))
			genl_set_err(&shuffle_nl_family, sn->net, 0, group, ENOBUFS);
}

static void event_lost(struct shuffle_net *sn, u32 group)
{
	SHUFFLE_INC(sn, EventsLost);
	set_bit(group, &sn->events_lost);
	queue_work(event_wq, &sn->event_work);
}

/* NULL if nobody listens, or there is no memory. */
static struct sk_buff *event_begin(struct shuffle_net *sn, u32 group, u8 cmd, u32 size, gfp_t gfp,
				   void **hdr)
{
	struct sk_buff *skb;

	/* pairs with shuffle_event_stop() */
	if (READ_ONCE(event_off) || !genl_has_listeners(&shuffle_nl_family, sn->net, group))
		return NULL;
	skb = skb_queue_len_lockless(&sn->events) < SHUFFLE_EVENTS_MAX ?
	      genlmsg_new(size, gfp | __GFP_NOWARN) : NULL;
	if (!skb) {
		event_lost(sn, group);
		return NULL;
	}
	/* room for the header there is */
	*hdr = genlmsg_put(skb, 0, 0, &shuffle_nl_family, 0, cmd);
	return skb;
}

/**
 * shuffle_event_wanted() - does anybody listen to what becomes of operations?
 * @sn: namespace
 *
 * Context: any.
 */
bool shuffle_event_wanted(struct shuffle_net *sn)
{
	return !READ_ONCE(event_off) &&
	       genl_has_listeners(&shuffle_nl_family, sn->net, SHUFFLE_NLGRP_OPS);
}

static void event_queue(struct shuffle_net *sn, u32 group, struct sk_buff *skb, void *hdr, int err)
{
	if (WARN_ON_ONCE(err)) {
		nlmsg_free(skb);
		event_lost(sn, group);
		return;
	}
	genlmsg_end(skb, hdr);
	((struct event_cb *)skb->cb)->group = group;
	skb_queue_tail(&sn->events, skb);
	queue_work(event_wq, &sn->event_work);
}

/**
 * shuffle_event_config() - settings have changed
 * @dev: of this device, or of the namespace
 *
 * Context: process, sn->config_mutex held.
 */
void shuffle_event_config(struct shuffle_dev *dev)
{
	struct shuffle_net *sn = dev->sn;
	struct sk_buff *skb;
	void *hdr;

	lockdep_assert_held(&sn->config_mutex);
	sn->config_gen++;
	skb = event_begin(sn, SHUFFLE_NLGRP_CONFIG, SHUFFLE_CMD_CONFIG_NTF,
			  GENLMSG_DEFAULT_SIZE, GFP_KERNEL, &hdr);
	if (skb)
		event_queue(sn, SHUFFLE_NLGRP_CONFIG, skb, hdr,
			    shuffle_netlink_fill_config(skb, dev));
}

/**
 * shuffle_event_start() - an operation has started
 * @op: operation
 *
 * Context: any, ssk->lock held.
 */
void shuffle_event_start(struct shuffle_op *op)
{
	struct shuffle_net *sn = op->ssk->sn;
	struct sk_buff *skb;
	void *hdr;
	int err;

	lockdep_assert_held(&op->ssk->lock);
	skb = event_begin(sn, SHUFFLE_NLGRP_OPS, SHUFFLE_CMD_OP_STARTED_NTF, SHUFFLE_EVENT_SIZE,
			  GFP_ATOMIC, &hdr);
	if (!skb)
		return;
	err = shuffle_netlink_put_op(skb, op);
	if (!err && op->life.deadline_at)
		err = shuffle_put_u64(skb, SHUFFLE_A_OP_DEADLINE,
				      op->life.deadline_at - op->life.started_at);
	event_queue(sn, SHUFFLE_NLGRP_OPS, skb, hdr, err);
}

static int put_missing(struct sk_buff *skb, const struct shuffle_op *op)
{
	u32 in = 0, ack = 0;
	u32 i;

	for (i = 0; i < op->group->count; i++) {
		u16 flags = shuffle_op_missing(op, i);

		if (flags & SHUFFLE_MISSING_RECV && in++ < SHUFFLE_EVENT_MISSING &&
		    nla_put_u32(skb, SHUFFLE_A_OP_MISSING_IN, i))
			return -EMSGSIZE;
		if (flags & SHUFFLE_MISSING_ACK && ack++ < SHUFFLE_EVENT_MISSING &&
		    nla_put_u32(skb, SHUFFLE_A_OP_MISSING_ACK, i))
			return -EMSGSIZE;
	}
	if (nla_put_u32(skb, SHUFFLE_A_OP_MISSING_IN_COUNT, in) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_MISSING_ACK_COUNT, ack))
		return -EMSGSIZE;
	return 0;
}

/**
 * shuffle_event_end() - an operation has ended
 * @op: operation; op->life.error says how, and nothing of it changes any more
 *
 * Context: process, no lock of ours held: members are counted.
 */
void shuffle_event_end(struct shuffle_op *op)
{
	u8 cmd = op->life.error ? SHUFFLE_CMD_OP_FAILED_NTF : SHUFFLE_CMD_OP_FINISHED_NTF;
	struct shuffle_net *sn = op->ssk->sn;
	u32 size = SHUFFLE_EVENT_SIZE;
	struct sk_buff *skb;
	void *hdr;
	int err;

	if (op->life.error)
		size += 2 * SHUFFLE_EVENT_MISSING * nla_total_size(sizeof(u32));
	skb = event_begin(sn, SHUFFLE_NLGRP_OPS, cmd, size, GFP_KERNEL, &hdr);
	if (!skb)
		return;
	err = shuffle_netlink_put_op(skb, op) ?: shuffle_netlink_put_end(skb, op);
	if (!err && op->life.error)
		err = put_missing(skb, op);
	event_queue(sn, SHUFFLE_NLGRP_OPS, skb, hdr, err);
}

/**
 * shuffle_event_straggler() - an incoming message falls behind
 * @op: operation
 * @rank: rank of the sender of the message
 *
 * Context: any, ssk->lock held.
 */
void shuffle_event_straggler(struct shuffle_op *op, u32 rank)
{
	struct shuffle_net *sn = op->ssk->sn;
	struct sk_buff *skb;
	void *hdr;

	lockdep_assert_held(&op->ssk->lock);
	skb = event_begin(sn, SHUFFLE_NLGRP_OPS, SHUFFLE_CMD_MSG_STRAGGLER_NTF, SHUFFLE_EVENT_SIZE,
			  GFP_ATOMIC, &hdr);
	if (skb)
		event_queue(sn, SHUFFLE_NLGRP_OPS, skb, hdr,
			    shuffle_netlink_put_msg(skb, op, rank, true));
}

/**
 * shuffle_event_pressure() - memory holds grants back
 * @ssk: socket
 *
 * It comes and goes with every message that is read: once a second will do.
 *
 * Context: any, ssk->lock held.
 */
void shuffle_event_pressure(struct shuffle_sock *ssk)
{
	struct shuffle_net *sn = ssk->sn;
	u64 now = shuffle_now();
	struct sk_buff *skb;
	void *hdr;

	lockdep_assert_held(&ssk->lock);
	if (ssk->pressure_at && now - ssk->pressure_at < NSEC_PER_SEC)
		return;
	ssk->pressure_at = now;
	skb = event_begin(sn, SHUFFLE_NLGRP_MEMORY, SHUFFLE_CMD_SOCKET_PRESSURE_NTF,
			  SHUFFLE_EVENT_SIZE, GFP_ATOMIC, &hdr);
	if (skb)
		event_queue(sn, SHUFFLE_NLGRP_MEMORY, skb, hdr, shuffle_netlink_put_sock(skb, ssk));
}

void shuffle_event_init(struct shuffle_net *sn)
{
	skb_queue_head_init(&sn->events);
	INIT_WORK(&sn->event_work, event_send);
}

/* Nothing happens in the namespace any more. */
void shuffle_event_exit(struct shuffle_net *sn)
{
	cancel_work_sync(&sn->event_work);
	skb_queue_purge(&sn->events);
}

int __init shuffle_event_setup(void)
{
	event_wq = alloc_workqueue("shuffle_events", WQ_UNBOUND, 0);
	return event_wq ? 0 : -ENOMEM;
}

/* Once the family has its groups. */
void __init shuffle_event_go(void)
{
	WRITE_ONCE(event_off, false);
}

/* Before the family goes, and its groups with it. */
void shuffle_event_stop(void)
{
	WRITE_ONCE(event_off, true);
	/* softirqs that have seen it on */
	synchronize_rcu();
	flush_workqueue(event_wq);
}

/* The last of all.  A parameter can be written in sysfs until the module is gone, and
 * a writer that has seen events on may sleep before it queues one.  It holds the lock
 * of the list of namespaces: when none is left in that, nobody is in the middle.
 */
void shuffle_event_teardown(void)
{
	destroy_workqueue(event_wq);
}
