// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations: creation, end, cancellation.  Guarded by ssk->lock; created and
 * freed in process context.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "abort.h"
#include "coll/engine.h"
#include "config.h"
#include "group.h"
#include "kernels.h"
#include "mib.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "op.h"
#include "rx/grant.h"
#include "rx/msg_in.h"
#include "rx/timer.h"
#include "rx/timewait.h"
#include "sched/op_order.h"
#include "sched/policy.h"
#include "sched/portable.h"
#include "sched/unit.h"
#include "sched/wire.h"
#include "sock.h"
#include "trace.h"
#include "tx/msg_out.h"
#include "tx/route.h"
#include "tx/row.h"
#include "tx/turns.h"
#include "tx/want.h"

static struct hlist_head *op_bucket(struct shuffle_sock *ssk, u64 id)
{
	return &ssk->ops[(u32)(id ^ id >> 32) % SHUFFLE_OP_BUCKETS];
}

/**
 * shuffle_op_find() - look an operation up
 * @ssk: socket that has the operation
 * @id: operation id
 *
 * Context: any, ssk->lock held.
 * Return: the operation (no reference), or NULL.
 */
struct shuffle_op *shuffle_op_find(struct shuffle_sock *ssk, u64 id)
{
	struct shuffle_op *op;

	lockdep_assert_held(&ssk->lock);
	hlist_for_each_entry(op, op_bucket(ssk, id), node)
		if (op->id == id)
			return op;
	return NULL;
}

static void op_free(struct shuffle_op *op)
{
	shuffle_want_free(op->tx.want);
	kfree(op->tx.same);
	shuffle_engine_free(op->engine);
	kvfree(op->tx.sched.msg);
	kvfree(op->tx.sched.heap.node);
	kvfree(op->rx.sched.msg);
	kvfree(op->rx.sched.heap.node);
	kvfree(op->tx.msg);
	kvfree(op->rx.msg);
	shuffle_group_put(op->group);
	if (op->dev)
		shuffle_dev_put(op->dev);
	kfree(op);
}

/**
 * shuffle_op_put() - drop a reference
 * @op: operation
 *
 * Context: process, no lock of ours held.
 */
void shuffle_op_put(struct shuffle_op *op)
{
	if (refcount_dec_and_test(&op->ref))
		op_free(op);
}

/* Free some of what a message holds, both ways: of a column that has failed, only parts of
 * messages.  Returns true when nothing is left.  ssk->lock held.
 */
static bool purge_message(struct shuffle_op *op, u32 rank, bool whole, u32 *budget)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	*budget -= min(*budget, 1U);
	if (!shuffle_msg_out_purge(op, rank, budget))
		return false;
	if (in->complete && !whole)
		return true;
	list_del_init(&in->ready.node);
	return shuffle_msg_in_purge(op, rank, budget);
}

/* Free what the messages of an ended operation hold.  Nothing is added any more, so the lock
 * may be free after each few super-packets; the reader may take its part.
 */
static void op_purge(struct shuffle_op *op, bool whole)
{
	struct shuffle_sock *ssk = op->ssk;
	u32 budget = SHUFFLE_SLICE;
	u32 i = 0;

	spin_lock_bh(&ssk->lock);
	while (i <= op->rx.sched.n) {
		/* behind the messages: the data of those that have the same */
		if (i < op->rx.sched.n ? purge_message(op, i, whole, &budget) :
					 shuffle_msg_out_purge(op, i, &budget))
			i++;
		if (budget)
			continue;
		spin_unlock_bh(&ssk->lock);
		cond_resched();
		spin_lock_bh(&ssk->lock);
		budget = SHUFFLE_SLICE;
	}
	spin_unlock_bh(&ssk->lock);
}

/* What takes a step for each member, or for each packet held: not under the lock, nor in the
 * softirq, in which operations end.
 */
static void wind_up(struct shuffle_op *op)
{
	shuffle_event_end(op);
	if (op->life.error) {
		shuffle_abort_tell(op, 0);
		op_purge(op, false);
	}
}

static void wind_up_work(struct work_struct *work)
{
	struct shuffle_op *op = container_of(work, struct shuffle_op, life.wind_up);

	wind_up(op);
	shuffle_op_put(op);
}

static struct shuffle_op *op_alloc(u32 n)
{
	struct shuffle_op *op = kzalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!op)
		return NULL;
	op->tx.sched.msg = kvcalloc(n + 1, sizeof(*op->tx.sched.msg), GFP_KERNEL_ACCOUNT);
	op->tx.sched.heap.node = kvcalloc(n + 1, sizeof(*op->tx.sched.heap.node),
					  GFP_KERNEL_ACCOUNT);
	op->rx.sched.msg = kvcalloc(n, sizeof(*op->rx.sched.msg), GFP_KERNEL_ACCOUNT);
	op->rx.sched.heap.node = kvcalloc(n, sizeof(*op->rx.sched.heap.node), GFP_KERNEL_ACCOUNT);
	op->tx.msg = kvcalloc(n + 1, sizeof(*op->tx.msg), GFP_KERNEL_ACCOUNT);
	op->rx.msg = kvcalloc(n, sizeof(*op->rx.msg), GFP_KERNEL_ACCOUNT);
	if (!op->tx.sched.msg || !op->tx.sched.heap.node || !op->rx.sched.msg ||
	    !op->rx.sched.heap.node || !op->tx.msg || !op->rx.msg) {
		op_free(op);
		return NULL;
	}
	op->tx.sched.n = n;
	op->rx.sched.n = n;
	INIT_WORK(&op->life.wind_up, wind_up_work);
	INIT_WORK(&op->tx.free_acked, shuffle_msg_out_free_acked);
	mutex_init(&op->fill.mutex);
	INIT_LIST_HEAD(&op->tx.node);
	INIT_LIST_HEAD(&op->tx.order_node);
	INIT_LIST_HEAD(&op->tx.retrans);
	INIT_LIST_HEAD(&op->rx.dirty);
	INIT_LIST_HEAD(&op->rx.grant_node);
	INIT_LIST_HEAD(&op->life.end.node);
	op->life.end.op = op;
	op->life.end.rank = SHUFFLE_NONE;
	op->tx.msg[n].chunks = RB_ROOT;
	RB_CLEAR_NODE(&op->tx.msg[n].due.node);
	for (i = 0; i < n; i++) {
		op->tx.msg[i].chunks = RB_ROOT;
		RB_CLEAR_NODE(&op->tx.msg[i].due.node);
		RB_CLEAR_NODE(&op->rx.msg[i].due.node);
		INIT_LIST_HEAD(&op->rx.msg[i].ready.node);
		INIT_LIST_HEAD(&op->rx.msg[i].dirty);
		op->rx.msg[i].pieces = RB_ROOT;
		op->rx.msg[i].ready.op = op;
		op->rx.msg[i].ready.rank = i;
	}
	return op;
}

/* Is there a message to this member, as far as is known? */
static bool goes_to(const struct shuffle_column *column, u32 rank)
{
	const struct shuffle_row *row = column->row;

	return !row || rank >= row->count || shuffle_row_lens(row)[rank] != SHUFFLE_ABSENT;
}

/* The first one that sends something; without any the last one. */
static u32 first_sender(const struct shuffle_membership *group,
			const struct shuffle_column *column)
{
	u32 i;

	for (i = 0; i + 1 < group->count; i++)
		if (i != group->rank && !shuffle_absent_from(column->absent, i))
			break;
	return i;
}

/* A member whose path is that of all others, or of most.  Those of a tree may be behind several
 * devices, and there may be no way to others: one that gets something, or else the first one that
 * sends something.
 */
static u32 typical_member(const struct shuffle_membership *group,
			  const struct shuffle_column *column)
{
	u32 next = group->rank + 1 < group->count ? group->rank + 1 : 0, i;

	if (goes_to(column, next))
		return next;
	for (i = 0; i < group->count; i++)
		if (i != group->rank && goes_to(column, i))
			return i;
	return first_sender(group, column);
}

/* The device by which an operation leaves, with a reference; @payload: of its packets. */
static struct shuffle_dev *leave_by(struct shuffle_sock *ssk, struct shuffle_membership *group,
				    u32 member, u32 *payload)
{
	struct shuffle_net *sn = ssk->sn;
	struct shuffle_dev *dev;
	struct dst_entry *dst;
	int ifindex = 0;

	spin_lock_bh(&ssk->lock);
	dst = shuffle_route(sn, ssk, group, member);
	/* with BHs off a device is not freed; the route alone does not hold it */
	if (dst && !(READ_ONCE(dst->dev)->flags & IFF_LOOPBACK))
		ifindex = READ_ONCE(dst->dev)->ifindex;
	spin_unlock_bh(&ssk->lock);
	dev = shuffle_dev_get(sn, ifindex);
	rcu_read_lock();
	*payload = shuffle_route_payload(dev, group, 0, dst);
	rcu_read_unlock();
	dst_release(dst);
	return dev;
}

/* May its operations go in front of those of other users? */
static bool may_overtake(const struct shuffle_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);

	return READ_ONCE(ssk->sn->nr_users) <= 1 || !ssk->sk.sk_socket ||
	       !ssk->sk.sk_socket->file ||
	       sk_ns_capable(&ssk->sk, net->user_ns, CAP_NET_ADMIN);
}

/* Its order among others: what the call says, or else the device's setting.  Where there are
 * several users, the operator has to have said that some may go first.
 */
static u8 order_of(const struct shuffle_op *op, u32 flags)
{
	u8 asked, set;

	BUILD_BUG_ON(SHUFFLE_ROW_SMALLEST - SHUFFLE_ROW_FAIR !=
		     (SHUFFLE_ORDER_SMALLEST - SHUFFLE_ORDER_FAIR) * SHUFFLE_ROW_FAIR ||
		     SHUFFLE_ROW_DEADLINE - SHUFFLE_ROW_FAIR !=
		     (SHUFFLE_ORDER_DEADLINE - SHUFFLE_ORDER_FAIR) * SHUFFLE_ROW_FAIR);
	flags &= SHUFFLE_ROW_ORDER;
	set = READ_ONCE(op->dev->cfg.op_order);
	if (!flags)
		return set;
	asked = (flags - SHUFFLE_ROW_FAIR) / SHUFFLE_ROW_FAIR + SHUFFLE_ORDER_FAIR;
	if (asked == SHUFFLE_ORDER_FAIR || asked == set || may_overtake(op->ssk))
		return asked;
	SHUFFLE_INC(op->ssk->sn, OrderDenied);
	return set;
}

/* The schedules of row and column, as the device's settings say. */
static void setup_schedules(struct shuffle_op *op, u32 payload)
{
	u32 members = op->group->count;
	u32 share = (u32)READ_ONCE(op->ssk->sk.sk_sndbuf) / members;
	u32 unit;

	/* losses before a pause count no more, and nobody has looked since */
	shuffle_dev_compute(op->dev);
	unit = shuffle_grant_unit(shuffle_dev_rtt_bytes(op->dev), payload);
	op->tx.sched.seed = hash_64(op->id, 32);
	op->tx.sched.rank = op->group->rank;
	op->tx.sched.members = members;
	/* What is copied as one is what a super-packet can be at most.  The send
	 * buffer should have several of them for everybody.
	 */
	op->fill.unit = clamp(rounddown(share / 4, payload), unit, shuffle_chunk_payload(payload));
	/* Granted in large units, sent in small ones: a row that takes turns
	 * packet by packet keeps all receivers equally busy.
	 */
	op->tx.sched.unit = max(payload, rounddown(unit / 4, payload));
	op->rx.sched.unit = unit;
	/* half of an even share of a buffer like ours: the other half is on its way meanwhile */
	op->rx.untold_max = max(share / 2, payload);
	op->rx.sched.unannounced = members;
}

/* Who has no message for us.  Nobody else has seen the operation yet.  0 or -EINVAL. */
static int without_absent(struct shuffle_op *op, const struct shuffle_absent *absent)
{
	u32 i, n = op->group->count;

	for (i = 0; absent && i < 64 * absent->words; i++) {
		if (!shuffle_absent_from(absent, i))
			continue;
		if (i >= n)
			return -EINVAL;
		op->rx.msg[i].absent = true;
		op->rx.msg[i].complete = true;
		op->rx.msg[i].delivered = true;
		op->rx.incomplete--;
		shuffle_policy_rx_absent(&op->rx.sched, i);
	}
	return 0;
}

/* Has an operation of this number ended lately, at any of the addresses of its group? */
static bool ended_lately(struct shuffle_net *sn, const struct shuffle_membership *group, u64 id)
{
	u32 i;

	for (i = 0; i < group->locals; i++)
		if (shuffle_timewait_exists(sn, &group->local[i], id))
			return true;
	return false;
}

/* Put an operation into its socket's table, and start its timer. */
static int op_link(struct shuffle_op *op)
{
	struct shuffle_membership *group = op->group;
	struct shuffle_net *sn = op->ssk->sn;
	struct shuffle_sock *ssk = op->ssk;
	int err = 0;

	spin_lock_bh(&ssk->lock);
	if (shuffle_op_find(ssk, op->id) || ended_lately(sn, group, op->id))
		err = -EEXIST;
	else if (ssk->nr_ops >= SHUFFLE_MAX_OPS || ssk->nr_msgs + group->count > SHUFFLE_MAX_MSGS)
		err = -ENOBUFS;
	else if (ssk->group != group || (op->engine && !shuffle_engine_fits(op)))
		err = -EBUSY;
	if (!err) {
		hlist_add_head(&op->node, op_bucket(ssk, op->id));
		WRITE_ONCE(ssk->nr_ops, ssk->nr_ops + 1);
		ssk->nr_msgs += group->count;
		ssk->nr_incomplete += !!op->rx.incomplete;
		atomic_inc(&sn->gen);
		shuffle_event_start(op);
		shuffle_timer_start(op);
	}
	spin_unlock_bh(&ssk->lock);
	return err;
}

/**
 * shuffle_op_create() - start an operation
 * @ssk: socket with a group
 * @id: operation id
 * @deadline_ms: from now, 0 for none
 * @column: what is known of the messages that come
 * @engine: of a collective, for this group; the operation's if there is no error.  Else NULL
 *
 * Context: process, may sleep.
 * Nobody else has seen the operation when @op->fill.mutex is taken, so a signal cannot
 * come between its creation and its announcement.
 *
 * Return: the operation with a reference for the caller and its fill.mutex locked, or an
 * ERR_PTR: -ENOTCONN, -EPIPE (after shutdown()), -EEXIST, -EBUSY (the group has changed
 * meanwhile), -EINVAL (no such members), -EOPNOTSUPP (too many members for messages that go on),
 * -ENOMEM, -ENOBUFS (too many operations, or messages).
 */
struct shuffle_op *shuffle_op_create(struct shuffle_sock *ssk, u64 id, u64 deadline_ms,
				     const struct shuffle_column *column,
				     struct shuffle_engine *engine)
{
	struct shuffle_net *sn = ssk->sn;
	struct shuffle_membership *group;
	struct shuffle_op *op;
	u32 payload, i;
	int err;

	if (READ_ONCE(ssk->sk.sk_shutdown) & SEND_SHUTDOWN)
		return ERR_PTR(-EPIPE);
	spin_lock_bh(&ssk->lock);
	group = ssk->group;
	if (group)
		refcount_inc(&group->ref);
	spin_unlock_bh(&ssk->lock);
	if (!group)
		return ERR_PTR(-ENOTCONN);
	if (ended_lately(sn, group, id)) {
		shuffle_group_put(group);
		return ERR_PTR(-EEXIST);
	}
	op = op_alloc(group->count);
	if (!op) {
		shuffle_group_put(group);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&op->ref, 2);
	op->ssk = ssk;
	op->group = group;
	op->dev = leave_by(ssk, group, typical_member(group, column), &payload);
	op->rx.overtaken = shuffle_dev_overtakes(op->dev);
	op->id = id;
	op->digest = column->digest;
	op->life.excused = SHUFFLE_NONE;
	get_random_bytes(&op->nonce_key, sizeof(op->nonce_key));
	op->life.started_at = shuffle_now();
	op->life.progress_at = op->life.started_at;
	op->rx.first_announced_at = op->life.started_at;
	op->rx.last_announced_at = op->life.started_at;
	op->rx.granted_at = op->life.started_at;
	/* a deadline too far to be told from none is none */
	if (deadline_ms && deadline_ms < U32_MAX)
		op->life.deadline_at = op->life.started_at + deadline_ms * NSEC_PER_MSEC;
	op->tx.unacked = group->count;
	op->rx.incomplete = group->count;
	for (i = 0; i < group->count; i++)
		op->rx.msg[i].progress_at = op->life.started_at;
	op->order = order_of(op, column->flags);
	setup_schedules(op, payload);
	shuffle_timer_init(op);
	op->engine = engine;
	mutex_lock(&op->fill.mutex);
	err = without_absent(op, column->absent);
	err = err ?: op_link(op);
	if (err) {
		mutex_unlock(&op->fill.mutex);
		op->engine = NULL;
		op_free(op);
		return ERR_PTR(err);
	}
	SHUFFLE_INC(sn, OpsStarted);
	if (engine)
		SHUFFLE_INC(sn, Collectives);
	trace_shuffle_op_start(op);
	return op;
}

/* Nothing goes out or comes in any more.  ssk->lock held. */
static void op_stop(struct shuffle_op *op, int error)
{
	struct shuffle_retrans *r, *tmp;

	lockdep_assert_held(&op->ssk->lock);
	if (op->rx.incomplete)
		op->ssk->nr_incomplete--;
	shuffle_op_left(op, 0);
	list_for_each_entry_safe(r, tmp, &op->tx.retrans, node)
		shuffle_msg_out_free_retrans(op, r);
	shuffle_turns_del_op(op);
	shuffle_want_stop(op);
	WRITE_ONCE(op->life.ended, true);	/* wait_room() reads it without the lock */
	op->life.ended_at = shuffle_now();
	op->life.error = error;
	shuffle_grant_account(op);
}

static void op_end(struct shuffle_op *op, int error)
{
	struct shuffle_sock *ssk = op->ssk;

	lockdep_assert_held(&ssk->lock);
	op_stop(op, error);
	list_add_tail(&op->life.end.node, &ssk->ready);
	trace_shuffle_op_end(op);
	if (error || shuffle_event_wanted(op->ssk->sn)) {
		refcount_inc(&op->ref);
		queue_work(system_dfl_wq, &op->life.wind_up);
	}
	ssk->sk.sk_data_ready(&ssk->sk);
	shuffle_sock_write_space(&ssk->sk);
}

/**
 * shuffle_op_check_done() - end the operation if nothing is left to do
 * @op: operation
 *
 * Context: any, ssk->lock held.
 */
void shuffle_op_check_done(struct shuffle_op *op)
{
	struct shuffle_net *sn = op->ssk->sn;

	lockdep_assert_held(&op->ssk->lock);
	if (op->life.ended || op->tx.unacked || op->rx.incomplete || !op->tx.closed ||
	    (op->engine && !op->engine->finished))
		return;
	SHUFFLE_INC(sn, OpsDone);
	op_end(op, 0);
}

/**
 * shuffle_op_fail() - end the operation with an error
 * @op: operation
 * @error: positive errno
 *
 * Messages that are complete can still be read; parts of others are dropped, soon.
 *
 * Context: any, ssk->lock held.
 */
void shuffle_op_fail(struct shuffle_op *op, int error)
{
	lockdep_assert_held(&op->ssk->lock);
	if (op->life.ended)
		return;
	SHUFFLE_INC(op->ssk->sn, OpsFailed);
	op_end(op, error);
}

/**
 * shuffle_op_unlink() - take an ended or aborted operation out and free it
 * @op: operation
 *
 * Context: process, may sleep, ssk->read_mutex held, and no lock of ours inside it.
 */
void shuffle_op_unlink(struct shuffle_op *op)
{
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_net *sn = ssk->sn;
	bool aborted;

	lockdep_assert_held(&ssk->read_mutex);
	spin_lock_bh(&ssk->lock);
	aborted = !op->life.ended;
	if (aborted) {
		SHUFFLE_INC(sn, OpsFailed);
		op_stop(op, ECANCELED);
	}
	list_del_init(&op->life.end.node);
	spin_unlock_bh(&ssk->lock);
	if (cancel_work_sync(&op->life.wind_up)) {
		wind_up(op);
		shuffle_op_put(op);
	} else if (aborted) {
		shuffle_event_end(op);
		shuffle_abort_tell(op, SHUFFLE_LEFT_CLOSED);
	}
	if (cancel_work_sync(&op->tx.free_acked))
		shuffle_op_put(op);
	op_purge(op, true);
	if (op->engine)
		shuffle_engine_uncharge(op->engine, ssk);
	/* remembered before it is forgotten: no packet finds neither */
	shuffle_timewait_add(sn, op);
	spin_lock_bh(&ssk->lock);
	hlist_del_init(&op->node);
	WRITE_ONCE(ssk->nr_ops, ssk->nr_ops - 1);
	ssk->unlinked++;
	ssk->nr_msgs -= op->group->count;
	atomic_inc(&sn->gen);
	spin_unlock_bh(&ssk->lock);
	hrtimer_cancel(&op->clock.timer);
	shuffle_op_put(op);
}

/**
 * shuffle_op_cancel() - option SHUFFLE_CANCEL
 * @ssk: socket
 * @id: operation id
 *
 * Context: process.
 * Return: 0, or -ENOENT if no such operation runs.
 */
int shuffle_op_cancel(struct shuffle_sock *ssk, u64 id)
{
	struct shuffle_op *op;
	int err = -ENOENT;

	spin_lock_bh(&ssk->lock);
	op = shuffle_op_find(ssk, id);
	if (op && !op->life.ended) {
		shuffle_op_fail(op, ECANCELED);
		err = 0;
	}
	spin_unlock_bh(&ssk->lock);
	return err;
}
