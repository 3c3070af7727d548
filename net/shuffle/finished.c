// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that have ended: they filter late packets, answer a sender whose ACK
 * was lost, even when the process has gone, and keep an id from being used twice.
 * Bounded in number and time; guarded by sn->finished_lock.
 */
#include <linux/slab.h>

#include "shuffle.h"

struct finished {
	struct list_head		node;
	struct shuffle_group_obj	*group;
	u64				op_id;
	unsigned long			expires;
	bool				complete;
};

static const struct sockaddr_shuffle *finished_at(const struct finished *f)
{
	return &f->group->member[f->group->rank].addr;
}

static void finished_free(struct finished *f)
{
	shuffle_group_put(f->group);
	kfree(f);
}

/* Newest last, so the search begins there, and ends at the first that is too old. */
static struct finished *finished_find(struct shuffle_net *sn,
				      const struct sockaddr_shuffle *at, u64 op_id)
{
	struct finished *f;

	list_for_each_entry_reverse(f, &sn->finished, node) {
		if (time_after(jiffies, f->expires))
			break;
		if (f->op_id == op_id && finished_at(f)->shs_port == at->shs_port &&
		    shuffle_addr_is(finished_at(f), at->shs_ip_family, at->shs_addr))
			return f;
	}
	return NULL;
}

/**
 * shuffle_finished_exists() - has this operation ended here already?
 * @sn: namespace
 * @at: address of the socket
 * @op_id: operation
 *
 * Context: any.
 */
bool shuffle_finished_exists(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     u64 op_id)
{
	struct finished *f;

	spin_lock_bh(&sn->finished_lock);
	f = finished_find(sn, at, op_id);
	spin_unlock_bh(&sn->finished_lock);
	return f;
}

/**
 * shuffle_finished_add() - remember an operation that ends
 * @sn: namespace
 * @op: operation, about to be unlinked
 *
 * Context: process.  Without memory it is forgotten: its peers run into their
 * own time limits.
 */
void shuffle_finished_add(struct shuffle_net *sn, struct shuffle_op *op)
{
	u32 max = READ_ONCE(shuffle_params.finished_max);
	struct finished *f, *tmp;
	LIST_HEAD(old);

	f = kmalloc(sizeof(*f), GFP_KERNEL | __GFP_NOWARN);
	if (!f)
		return;
	f->group = op->group;
	refcount_inc(&f->group->ref);
	f->op_id = op->id;
	f->expires = jiffies + READ_ONCE(shuffle_params.finished_secs) * HZ;
	f->complete = !op->incomplete;

	spin_lock_bh(&sn->finished_lock);
	list_add_tail(&f->node, &sn->finished);
	sn->finished_n++;
	list_for_each_entry_safe(f, tmp, &sn->finished, node) {
		if (sn->finished_n <= max && time_before(jiffies, f->expires))
			break;
		list_move(&f->node, &old);
		sn->finished_n--;
	}
	spin_unlock_bh(&sn->finished_lock);
	list_for_each_entry_safe(f, tmp, &old, node)
		finished_free(f);
}

/**
 * shuffle_finished_answer() - a record for an operation that may have ended
 * @sn: namespace
 * @at: address and port it is for
 * @from: address it came from
 * @w: the record
 * @q: answers
 *
 * Context: softirq.
 * Return: true if the operation has ended and the record is dealt with.
 */
bool shuffle_finished_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     const struct sockaddr_shuffle *from,
			     const struct shuffle_wire *w, struct sk_buff_head *q)
{
	struct shuffle_group_obj *group;
	struct finished *f;

	spin_lock_bh(&sn->finished_lock);
	f = finished_find(sn, at, w->op_id);
	if (f) {
		group = f->group;
		if (f->complete && w->type == SHUFFLE_DATA &&
		    w->src_rank < group->count && w->dst_rank == group->rank &&
		    shuffle_addr_is(&group->member[w->src_rank].addr,
				    from->shs_ip_family, from->shs_addr)) {
			struct shuffle_wire ack = {
				.type = SHUFFLE_ACK,
				.op_id = w->op_id,
				.nonce = w->nonce,
			};

			shuffle_xmit_record(sn, NULL, group, w->src_rank, &ack, q);
			SHUFFLE_INC(sn, AckOut);
			SHUFFLE_INC(sn, ReAck);
		}
	}
	spin_unlock_bh(&sn->finished_lock);
	return f;
}

/**
 * shuffle_finished_purge() - forget all
 * @sn: namespace that goes
 *
 * Context: process; no packet arrives any more.
 */
void shuffle_finished_purge(struct shuffle_net *sn)
{
	struct finished *f, *tmp;

	list_for_each_entry_safe(f, tmp, &sn->finished, node) {
		list_del(&f->node);
		finished_free(f);
	}
	sn->finished_n = 0;
}
