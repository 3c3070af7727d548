// SPDX-License-Identifier: GPL-2.0-only
/*
 * ACKs that may wait, for their sender has said that nobody waits for them
 * (SHUFFLE_FLAG_DELAY): they go with data to the same member, of whatever operation, or together
 * when they are too many or too old.  Guarded by ssk->lock.
 */
#include <linux/slab.h>

#include "../group.h"
#include "../kernels.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../tx/output.h"
#include "delayed_ack.h"
#include "msg_in.h"

/**
 * struct delayed_member - ACKs of one member's messages
 * @node: in delayed->owed while there are some
 * @n: their number
 * @op_id: operations, the oldest first
 * @nonce: of the messages
 */
struct delayed_member {
	struct list_head	node;
	u32			n;
	u64			op_id[SHUFFLE_DELAYED_ACKS];
	u64			nonce[SHUFFLE_DELAYED_ACKS];
};

/**
 * struct shuffle_delayed - ACKs that a socket delays
 * @ssk: the socket
 * @group: whose members they are for, with a reference
 * @owed: members with some, oldest first
 * @timer: sends them when they are too old
 * @member: by rank
 */
struct shuffle_delayed {
	struct shuffle_sock		*ssk;
	struct shuffle_membership	*group;
	struct list_head		owed;
	struct hrtimer			timer;
	struct delayed_member		member[];
};

/* The oldest one, which is no longer owed. */
static struct shuffle_wire take(struct delayed_member *m)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_ACK,
		.op_id = m->op_id[0],
		.nonce = m->nonce[0],
	};

	m->n--;
	memmove(m->op_id, m->op_id + 1, m->n * sizeof(*m->op_id));
	memmove(m->nonce, m->nonce + 1, m->n * sizeof(*m->nonce));
	if (!m->n)
		list_del_init(&m->node);
	return w;
}

static void send_all(struct shuffle_delayed *d, struct delayed_member *m, struct sk_buff_head *q)
{
	struct shuffle_net *sn = d->ssk->sn;

	while (m->n) {
		struct shuffle_wire w = take(m);

		shuffle_output_record(sn, d->ssk, d->group, m - d->member, &w, q);
		SHUFFLE_INC(sn, AckOut);
	}
}

/* Those of a few members.  Returns true if there are more. */
static bool send_some(struct shuffle_delayed *d, struct sk_buff_head *q)
{
	u32 n = SHUFFLE_BURST;

	while (n-- && !list_empty(&d->owed))
		send_all(d, list_first_entry(&d->owed, struct delayed_member, node), q);
	return !list_empty(&d->owed);
}

static enum hrtimer_restart delayed_fires(struct hrtimer *timer)
{
	struct shuffle_delayed *d = container_of(timer, struct shuffle_delayed, timer);
	struct shuffle_sock *ssk = d->ssk;
	struct sk_buff_head q;
	bool more;

	__skb_queue_head_init(&q);
	spin_lock(&ssk->lock);
	more = send_some(d, &q);
	/* the list is not empty, so nobody else starts it */
	if (more)
		hrtimer_start(timer, 0, HRTIMER_MODE_REL_SOFT);
	spin_unlock(&ssk->lock);
	shuffle_output_flush(ssk->sn, &q);
	return HRTIMER_NORESTART;
}

/**
 * shuffle_delayed_init() - from now on the socket may delay ACKs
 * @ssk: socket
 * @group: group of the socket, as far as the caller knows
 *
 * Without memory none is delayed.
 *
 * Context: process, may sleep; the caller has a reference to @group.
 */
void shuffle_delayed_init(struct shuffle_sock *ssk, struct shuffle_membership *group)
{
	struct shuffle_delayed *d;
	u32 i;

	if (READ_ONCE(ssk->delayed))
		return;
	d = kvzalloc(struct_size(d, member, group->count), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!d)
		return;
	d->ssk = ssk;
	d->group = group;
	INIT_LIST_HEAD(&d->owed);
	for (i = 0; i < group->count; i++)
		INIT_LIST_HEAD(&d->member[i].node);
	hrtimer_setup(&d->timer, delayed_fires, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	spin_lock_bh(&ssk->lock);
	if (!ssk->delayed && ssk->group == group) {
		refcount_inc(&group->ref);
		WRITE_ONCE(ssk->delayed, d);
		d = NULL;
	}
	spin_unlock_bh(&ssk->lock);
	kvfree(d);
}

/**
 * shuffle_delayed_exit() - send what is delayed; nothing is any more
 * @ssk: socket whose group changes, or which is closed
 *
 * Context: process, may sleep; no lock of ours but the sk lock held.
 */
void shuffle_delayed_exit(struct shuffle_sock *ssk)
{
	struct shuffle_delayed *d;
	struct sk_buff_head q;
	bool more;

	sock_owned_by_me(&ssk->sk);
	spin_lock_bh(&ssk->lock);
	d = ssk->delayed;
	WRITE_ONCE(ssk->delayed, NULL);
	spin_unlock_bh(&ssk->lock);
	if (!d)
		return;
	hrtimer_cancel(&d->timer);
	__skb_queue_head_init(&q);
	do {
		/* the routes of members are guarded by it, too */
		spin_lock_bh(&ssk->lock);
		more = send_some(d, &q);
		spin_unlock_bh(&ssk->lock);
		shuffle_output_flush(ssk->sn, &q);
		cond_resched();
	} while (more);
	shuffle_group_put(d->group);
	kvfree(d);
}

/**
 * shuffle_delayed_owe() - an ACK that may wait
 * @op: operation
 * @rank: rank of the sender, whose message has arrived whole
 * @q: packets, for those that have become too many
 *
 * Context: any, ssk->lock held.
 * Return: false if it cannot be delayed.
 */
bool shuffle_delayed_owe(struct shuffle_op *op, u32 rank, struct sk_buff_head *q)
{
	struct shuffle_delayed *d = op->ssk->delayed;
	struct delayed_member *m;

	lockdep_assert_held(&op->ssk->lock);
	if (!d || d->group != op->group || rank == op->group->rank)
		return false;
	m = &d->member[rank];
	if (!m->n) {
		if (list_empty(&d->owed))
			hrtimer_start(&d->timer, ns_to_ktime(SHUFFLE_ACK_DELAY_NS),
				      HRTIMER_MODE_REL_SOFT);
		list_add_tail(&m->node, &d->owed);
	}
	m->op_id[m->n] = op->id;
	m->nonce[m->n] = op->rx.msg[rank].nonce;
	if (++m->n == SHUFFLE_DELAYED_ACKS)
		send_all(d, m, q);
	return true;
}

/**
 * shuffle_delayed_count() - how many ACKs a member is owed
 * @op: operation that has data for it
 * @rank: the member
 *
 * Context: any, ssk->lock held.
 */
u32 shuffle_delayed_count(const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_delayed *d = op->ssk->delayed;

	lockdep_assert_held(&op->ssk->lock);
	return d && d->group == op->group ? d->member[rank].n : 0;
}

/**
 * shuffle_delayed_take() - an ACK goes with data
 * @op: operation that has the data
 * @rank: member that is owed some
 *
 * Context: any, ssk->lock held.
 * Return: the record, without port and tag.
 */
struct shuffle_wire shuffle_delayed_take(struct shuffle_op *op, u32 rank)
{
	lockdep_assert_held(&op->ssk->lock);
	return take(&op->ssk->delayed->member[rank]);
}
