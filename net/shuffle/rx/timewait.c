// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that have ended: they filter late packets, answer a sender whose ACK
 * was lost, even when the process has gone, and keep an id from being used twice.
 * Bounded in number and time; guarded by sn->finished_lock.  When they are too many, the
 * user with the most of them loses its oldest: nobody can make those of others forgotten.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>

#include "../abort.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../tx/output.h"
#include "../user.h"
#include "msg_in.h"
#include "timewait.h"

struct finished {
	struct list_head		node;
	struct hlist_node		hash;
	struct list_head		of_user;	/* in user->finished */
	struct shuffle_user		*user;
	struct shuffle_membership	*group;
	u64				op_id;
	unsigned long			expires;
	u32				cost;
	struct shuffle_blame		blame;	/* of one that has failed */
	siphash_key_t			nonce_key;
	bool				same;
	u64				nonce[];
};

/* Had its socket this address? */
static bool finished_at(const struct finished *f, const struct sockaddr_shuffle *at)
{
	u32 i;

	if (f->group->local[0].shs_port != at->shs_port)
		return false;
	for (i = 0; i < f->group->locals; i++)
		if (shuffle_addr_equal(&f->group->local[i], at->shs_ip_family, at->shs_addr))
			return true;
	return false;
}

static void finished_free(struct finished *f)
{
	shuffle_group_put(f->group);
	shuffle_user_put(f->user);
	kvfree(f);
}

static struct hlist_head *timewait_bucket(struct shuffle_net *sn, u64 op_id)
{
	return &sn->finished_hash[siphash_1u64(op_id, &sn->finished_key) >>
				  (64 - SHUFFLE_FINISHED_BITS)];
}

/* sn->finished_lock held. */
static struct finished *finished_find(struct shuffle_net *sn,
				      const struct sockaddr_shuffle *at, u64 op_id)
{
	struct finished *f;

	lockdep_assert_held(&sn->finished_lock);
	hlist_for_each_entry(f, timewait_bucket(sn, op_id), hash)
		if (f->op_id == op_id && finished_at(f, at))
			return f;
	return NULL;
}

static bool costs_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct shuffle_user, by_cost)->finished_cost <
	       rb_entry(b, struct shuffle_user, by_cost)->finished_cost;
}

/* What the records of a user count changes.  sn->finished_lock held. */
static void finished_count(struct shuffle_net *sn, struct shuffle_user *user, int cost)
{
	lockdep_assert_held(&sn->finished_lock);
	if (user->finished_cost)
		rb_erase(&user->by_cost, &sn->finished_users);
	user->finished_cost += cost;
	sn->finished_n += cost;
	if (user->finished_cost)
		rb_add(&user->by_cost, &sn->finished_users, costs_less);
}

static void finished_unlink(struct shuffle_net *sn, struct finished *f, struct list_head *old)
{
	list_move(&f->node, old);
	hlist_del(&f->hash);
	list_del(&f->of_user);
	finished_count(sn, f->user, -(int)f->cost);
}

/* The next record to forget: one too many, one that is too old, or with @all any.
 * sn->finished_lock held.
 */
static struct finished *finished_victim(struct shuffle_net *sn, bool all)
{
	struct finished *f = list_first_entry_or_null(&sn->finished, struct finished, node);
	struct shuffle_user *most;

	lockdep_assert_held(&sn->finished_lock);
	if (!f || all)
		return f;
	if (sn->finished_n > READ_ONCE(sn->dev0.cfg.finished_max)) {
		most = rb_entry(rb_last(&sn->finished_users), struct shuffle_user, by_cost);
		return list_first_entry(&most->finished, struct finished, of_user);
	}
	return time_before(jiffies, f->expires) ? NULL : f;
}

/* Forget what is too old or too much, or all.  Process context. */
static void finished_trim(struct shuffle_net *sn, bool all)
{
	struct finished *f, *tmp;
	LIST_HEAD(old);
	int n;

	do {
		spin_lock_bh(&sn->finished_lock);
		for (n = 0; n < SHUFFLE_SLICE && (f = finished_victim(sn, all)); n++)
			finished_unlink(sn, f, &old);
		if (!all && !list_empty(&sn->finished))
			schedule_delayed_work(&sn->finished_work, HZ);
		spin_unlock_bh(&sn->finished_lock);
	} while (n == SHUFFLE_SLICE);
	list_for_each_entry_safe(f, tmp, &old, node)
		finished_free(f);
}

static void finished_work(struct work_struct *work)
{
	finished_trim(container_of(to_delayed_work(work), struct shuffle_net, finished_work),
		      false);
}

void shuffle_timewait_init(struct shuffle_net *sn)
{
	INIT_LIST_HEAD(&sn->finished);
	sn->finished_users = RB_ROOT;
	get_random_bytes(&sn->finished_key, sizeof(sn->finished_key));
	spin_lock_init(&sn->finished_lock);
	INIT_DELAYED_WORK(&sn->finished_work, finished_work);
}

/**
 * shuffle_timewait_exists() - has this operation ended here already?
 * @sn: namespace
 * @at: address of the socket
 * @op_id: operation
 *
 * Context: any.
 */
bool shuffle_timewait_exists(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     u64 op_id)
{
	struct finished *f;

	spin_lock_bh(&sn->finished_lock);
	f = finished_find(sn, at, op_id);
	spin_unlock_bh(&sn->finished_lock);
	return f;
}

/**
 * shuffle_timewait_add() - remember an operation that ends
 * @sn: namespace
 * @op: operation, about to be unlinked
 *
 * Context: process.  Without memory it is forgotten: its peers run into their
 * own time limits.
 */
void shuffle_timewait_add(struct shuffle_net *sn, struct shuffle_op *op)
{
	u32 i, n = op->group->count;
	struct finished *f;

	f = kvmalloc(struct_size(f, nonce, n), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!f)
		return;
	/* of messages that have arrived: what may be answered */
	for (i = 0; i < n; i++)
		f->nonce[i] = op->rx.msg[i].complete ? op->rx.msg[i].nonce : 0;
	f->group = op->group;
	refcount_inc(&f->group->ref);
	f->user = shuffle_user_hold(op->ssk->user);
	f->op_id = op->id;
	f->expires = jiffies + msecs_to_jiffies(READ_ONCE(sn->dev0.cfg.finished_expiry_ms));
	f->blame = op->life.blame;
	f->nonce_key = op->nonce_key;
	f->same = op->tx.same;
	/* it keeps its group: large ones count more */
	f->cost = 1 + op->group->count / 16;

	spin_lock_bh(&sn->finished_lock);
	list_add_tail(&f->node, &sn->finished);
	hlist_add_head(&f->hash, timewait_bucket(sn, f->op_id));
	list_add_tail(&f->of_user, &f->user->finished);
	finished_count(sn, f->user, f->cost);
	spin_unlock_bh(&sn->finished_lock);
	finished_trim(sn, false);
}

/* Is the record from a member, for the one that has ended? */
static bool finished_member(const struct finished *f, const struct sockaddr_shuffle *at,
			    const struct sockaddr_shuffle *from, const struct shuffle_wire *w)
{
	const struct shuffle_membership *group = f->group;
	const struct sockaddr_shuffle *member;

	if (w->src_rank >= group->count || w->dst_rank != group->rank)
		return false;
	member = &group->member[w->src_rank].addr;
	return shuffle_addr_equal(member, from->shs_ip_family, from->shs_addr) &&
	       member->shs_port == htons(w->src_port) &&
	       shuffle_addr_equal(shuffle_group_self(group, w->src_rank),
				  at->shs_ip_family, at->shs_addr) &&
	       shuffle_group_tag_valid(group, w);
}

/* What has come whole is acknowledged once more; of what has not, its sender is told that it is
 * waited for no more, and so is a receiver of ours.  Nothing else is answered.
 */
static bool finished_answer(struct shuffle_net *sn, const struct finished *f,
			    const struct shuffle_wire *w, struct sk_buff_head *q)
{
	if (w->type == SHUFFLE_DATA && w->nonce == f->nonce[w->src_rank]) {
		struct shuffle_wire ack = {
			.type = SHUFFLE_ACK,
			.op_id = w->op_id,
			.nonce = w->nonce,
		};

		shuffle_output_record(sn, NULL, f->group, w->src_rank, &ack, q);
		SHUFFLE_INC(sn, AckOut);
		SHUFFLE_INC(sn, ReAck);
		return true;
	}
	return f->blame.ranks &&
	       shuffle_abort_reply(sn, NULL, f->group, w,
				   shuffle_nonce(&f->nonce_key, w->src_rank, f->same), &f->blame,
				   q);
}

/**
 * shuffle_timewait_answer() - a record for an operation that may have ended
 * @sn: namespace
 * @at: address and port it is for
 * @from: address it came from
 * @w: the record
 * @q: answers
 *
 * Context: softirq.
 * Return: what is remembered of it.
 */
enum shuffle_ended shuffle_timewait_answer(struct shuffle_net *sn,
					   const struct sockaddr_shuffle *at,
					   const struct sockaddr_shuffle *from,
					   const struct shuffle_wire *w, struct sk_buff_head *q)
{
	enum shuffle_ended ret = SHUFFLE_ENDED_UNKNOWN;
	struct finished *f;
	bool member;

	spin_lock_bh(&sn->finished_lock);
	f = finished_find(sn, at, w->op_id);
	if (f) {
		member = finished_member(f, at, from, w);
		if (member && finished_answer(sn, f, w, q)) {
			ret = SHUFFLE_ENDED_ANSWERED;
		} else if (w->type == SHUFFLE_DATA) {
			ret = SHUFFLE_ENDED_OTHER;
		} else {
			SHUFFLE_INC(sn, DropNoOp);
			ret = SHUFFLE_ENDED;
		}
	}
	spin_unlock_bh(&sn->finished_lock);
	return ret;
}

/**
 * shuffle_timewait_purge() - forget all
 * @sn: namespace that goes
 *
 * Context: process; no packet arrives any more.
 */
void shuffle_timewait_purge(struct shuffle_net *sn)
{
	cancel_delayed_work_sync(&sn->finished_work);
	finished_trim(sn, true);
}
