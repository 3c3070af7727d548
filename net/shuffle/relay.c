// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relays: members of a group that have no process; see relay.h.
 *
 * A relay is a socket of the kernel's own.  Packets of an operation that it has not begun are kept
 * as those of any socket are (rx/early.c), and begin it.  Only members of its group are heard, so
 * only they can, and no more operations run at a time than have the memory that the relay was
 * given; what comes of others meanwhile is kept for some time, and then forgotten.
 */
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "relay.h"
#include "shuffle.h"

static struct shuffle_sock *sock_of(const struct shuffle_relay *r)
{
	return shuffle_sk(r->sock->sk);
}

/**
 * shuffle_relay_heard() - a packet of an operation that has not begun has come from a member
 * @ssk: socket
 * @op_id: the operation
 *
 * Where memory is scarce the packet may not have been kept: the operation begins all the same, and
 * asks for it.
 *
 * Context: any, ssk->lock not held.
 */
void shuffle_relay_heard(struct shuffle_sock *ssk, u64 op_id)
{
	struct shuffle_relay *r;

	if (likely(!READ_ONCE(ssk->relay)))
		return;
	spin_lock_bh(&ssk->lock);
	r = ssk->relay;
	if (r) {
		r->heard = op_id;
		r->has_heard = true;
		queue_work(system_unbound_wq, &r->work);
	}
	spin_unlock_bh(&ssk->lock);
}

/* Instead of waking a reader; ssk->lock held. */
static void data_ready(struct sock *sk)
{
	struct shuffle_relay *r = shuffle_sk(sk)->relay;

	lockdep_assert_held(&shuffle_sk(sk)->lock);
	if (r)
		queue_work(system_unbound_wq, &r->work);
}

/* An operation that has ended, or NULL.  Nothing else is ever ready: all that comes is merged. */
static struct shuffle_op *next_end(struct shuffle_sock *ssk)
{
	struct shuffle_ready *ready;
	struct shuffle_op *op;

	spin_lock_bh(&ssk->lock);
	ready = list_first_entry_or_null(&ssk->ready, struct shuffle_ready, node);
	op = ready ? ready->op : NULL;
	spin_unlock_bh(&ssk->lock);
	return op;
}

static void end_ops(struct shuffle_relay *r)
{
	struct shuffle_sock *ssk = sock_of(r);
	struct shuffle_op *op;

	lock_sock(&ssk->sk);
	while ((op = next_end(ssk))) {
		if (op->error)
			atomic64_inc(&r->failed);
		else
			atomic64_inc(&r->done);
		shuffle_op_unlink(op);
		cond_resched();
	}
	release_sock(&ssk->sk);
}

/* Is there room for an operation, and a packet of one that has not begun?  @id becomes its id. */
static bool next_start(struct shuffle_relay *r, u64 *id)
{
	struct shuffle_sock *ssk = sock_of(r);
	bool found;

	spin_lock_bh(&ssk->lock);
	found = ssk->nr_ops < r->max_ops && shuffle_early_oldest(ssk, id);
	if (!found && ssk->nr_ops < r->max_ops && r->has_heard) {
		*id = r->heard;
		r->has_heard = false;
		found = true;
	}
	spin_unlock_bh(&ssk->lock);
	return found;
}

static int start_op(struct shuffle_relay *r, u64 id)
{
	const struct shuffle_column column = { .absent = r->absent, .merge = &r->merge };
	struct shuffle_sock *ssk = sock_of(r);
	struct shuffle_op *op;
	int err;

	r->row->op_id = id;
	op = shuffle_op_create(ssk, id, 0, &column, NULL);
	if (IS_ERR(op))
		return PTR_ERR(op);
	err = shuffle_announce(op, r->row);
	if (err) {
		spin_lock_bh(&ssk->lock);
		shuffle_op_fail(op, -err);
		spin_unlock_bh(&ssk->lock);
	}
	shuffle_early_claim(ssk, id);
	shuffle_merge_start(op);
	mutex_unlock(&op->tx_mutex);
	shuffle_op_put(op);
	return 0;
}

static void relay_work(struct work_struct *work)
{
	struct shuffle_relay *r = container_of(work, struct shuffle_relay, work);
	struct shuffle_sock *ssk = sock_of(r);
	struct mem_cgroup *old;
	int err;
	u64 id;

	end_ops(r);
	/* those who have made it pay for what it holds */
	old = set_active_memcg(ssk->sk.sk_memcg);
	while (next_start(r, &id)) {
		err = start_op(r, id);
		/* kept while the operation began */
		if (err == -EEXIST) {
			shuffle_early_claim(ssk, id);
		} else if (err) {
			atomic64_inc(&r->refused);
			shuffle_early_drop(ssk, id);
		}
		cond_resched();
	}
	set_active_memcg(old);
}

static void free_relay(struct shuffle_relay *r)
{
	struct shuffle_sock *ssk;

	if (r->sock) {
		ssk = sock_of(r);
		spin_lock_bh(&ssk->lock);
		WRITE_ONCE(ssk->relay, NULL);
		spin_unlock_bh(&ssk->lock);
		cancel_work_sync(&r->work);
		/* the namespace does not wait for it: the egress must not, either */
		sock_hold(&ssk->sk);
		sock_release(r->sock);
		shuffle_egress_forget(ssk);
		sock_put(&ssk->sk);
	}
	kvfree(r->row);
	kfree(r->absent);
	kfree(r);
}

/**
 * shuffle_relay_find() - a relay by its name
 * @sn: namespace
 * @name: the name
 *
 * Context: process, sn->relay_mutex held.
 * Return: the relay, or NULL.
 */
struct shuffle_relay *shuffle_relay_find(struct shuffle_net *sn, const char *name)
{
	struct shuffle_relay *r;

	lockdep_assert_held(&sn->relay_mutex);
	list_for_each_entry(r, &sn->relays, node)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

/* What the operations of a relay announce: a message to each member that gets the result. */
static int make_row(struct shuffle_relay *r, const struct shuffle_relay_new *new)
{
	u32 n = new->group->count, words = DIV_ROUND_UP(n, 64), inputs = 0, i;
	u64 cost;

	r->row = kvzalloc(struct_size(r->row, lens, n), GFP_KERNEL_ACCOUNT);
	r->absent = kzalloc(struct_size(r->absent, bits, words), GFP_KERNEL_ACCOUNT);
	if (!r->row || !r->absent)
		return -ENOMEM;
	r->row->size = sizeof(*r->row);
	r->row->count = n;
	r->absent->size = sizeof(*r->absent);
	r->absent->words = words;
	for (i = 0; i < n; i++) {
		r->row->lens[i] = test_bit(i, new->to) ? 0 : SHUFFLE_ABSENT;
		if (test_bit(i, new->from))
			inputs++;
		else
			r->absent->bits[i / 64] |= 1ULL << i % 64;
	}
	r->merge = new->merge;
	r->merge.size = sizeof(r->merge);
	cost = shuffle_merge_memory(&r->merge, inputs) + n * SHUFFLE_OP_MEMBER_BYTES;
	r->max_ops = clamp_t(u64, div64_u64(r->bytes, cost), 1, SHUFFLE_MAX_OPS);
	return 0;
}

static int set_option(struct socket *sock, int option, const void *value, unsigned int len)
{
	return sock->ops->setsockopt(sock, SOL_SHUFFLE, option, KERNEL_SOCKPTR((void *)value), len);
}

static int open_sock(struct shuffle_net *sn, struct shuffle_relay *r,
		     const struct shuffle_relay_new *new, struct netlink_ext_ack *extack)
{
	const struct shuffle_edge *self = &shuffle_relay_edges(new->group)[new->group->rank];
	struct shuffle_sock *ssk;
	struct socket *sock;
	int err;

	err = sock_create_kern(sn->net, shuffle_params.family, SOCK_SEQPACKET, 0, &r->sock);
	if (err)
		return err;
	sock = r->sock;
	WRITE_ONCE(sock->sk->sk_rcvbuf, r->bytes);
	WRITE_ONCE(sock->sk->sk_sndbuf, r->bytes);
	err = sock->ops->bind(sock, (struct sockaddr *)&self->member, sizeof(self->member));
	if (err) {
		NL_SET_ERR_MSG(extack, "member: that of our rank cannot be bound to");
		return err;
	}
	if (new->key)
		err = set_option(sock, SHUFFLE_KEY, new->key, SHUFFLE_KEY_BYTES);
	if (!err)
		err = set_option(sock, SHUFFLE_GROUP, new->group, new->group_bytes);
	if (err == -EADDRNOTAVAIL)
		NL_SET_ERR_MSG(extack, "member: a local address is not ours, or one is no host's");
	else if (err == -EADDRINUSE)
		NL_SET_ERR_MSG(extack, "member: another socket has a local address and this port");
	else if (err)
		NL_SET_ERR_MSG(extack, "member: these can be no group");
	if (err)
		return err;
	ssk = shuffle_sk(sock->sk);
	spin_lock_bh(&ssk->lock);
	sock->sk->sk_data_ready = data_ready;
	WRITE_ONCE(ssk->relay, r);
	spin_unlock_bh(&ssk->lock);
	/* what has come since it has a group */
	queue_work(system_unbound_wq, &r->work);
	return 0;
}

/**
 * shuffle_relay_add() - make a relay
 * @sn: namespace
 * @new: what it is to be
 * @extack: says what is wrong
 *
 * Context: process.
 * Return: 0, -EEXIST (there is one of this name), -ENOSPC (too many), -ENOMEM, or an error of
 * bind() or of the option SHUFFLE_GROUP.
 */
int shuffle_relay_add(struct shuffle_net *sn, const struct shuffle_relay_new *new,
		      struct netlink_ext_ack *extack)
{
	struct shuffle_relay *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	int err;

	if (!r)
		return -ENOMEM;
	INIT_WORK(&r->work, relay_work);
	strscpy(r->name, new->name, sizeof(r->name));
	r->bytes = new->bytes;
	mutex_lock(&sn->relay_mutex);
	if (shuffle_relay_find(sn, new->name)) {
		NL_SET_ERR_MSG(extack, "name: there is a relay of this name");
		err = -EEXIST;
	} else if (sn->nr_relays >= SHUFFLE_RELAYS) {
		NL_SET_ERR_MSG(extack, "more relays than 1024");
		err = -ENOSPC;
	} else {
		err = make_row(r, new) ?: open_sock(sn, r, new, extack);
	}
	if (!err) {
		list_add_tail(&r->node, &sn->relays);
		sn->nr_relays++;
		sn->relay_gen++;
	}
	mutex_unlock(&sn->relay_mutex);
	if (err)
		free_relay(r);
	return err;
}

/* sn->relay_mutex held. */
static void take_out(struct shuffle_net *sn, struct shuffle_relay *r)
{
	lockdep_assert_held(&sn->relay_mutex);
	list_del(&r->node);
	sn->nr_relays--;
	sn->relay_gen++;
}

/**
 * shuffle_relay_del() - take a relay away
 * @sn: namespace
 * @name: its name
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOENT.
 */
int shuffle_relay_del(struct shuffle_net *sn, const char *name)
{
	struct shuffle_relay *r;

	mutex_lock(&sn->relay_mutex);
	r = shuffle_relay_find(sn, name);
	if (r)
		take_out(sn, r);
	mutex_unlock(&sn->relay_mutex);
	if (!r)
		return -ENOENT;
	free_relay(r);
	return 0;
}

/**
 * shuffle_relay_init() - of a new namespace
 * @sn: namespace
 */
void shuffle_relay_init(struct shuffle_net *sn)
{
	INIT_LIST_HEAD(&sn->relays);
	mutex_init(&sn->relay_mutex);
	/* netlink dumps use generation 0 for "not started" */
	sn->relay_gen = 1;
}

/**
 * shuffle_relay_exit() - of a namespace that goes
 * @sn: namespace, which nobody else uses any more
 *
 * Context: process, may sleep.
 * Return: true if there were any.  Relays do not hold the namespace, and their sockets are freed
 * after a grace period: it is to be waited for when no packet can find them any more.
 */
bool shuffle_relay_exit(struct shuffle_net *sn)
{
	struct shuffle_relay *r, *tmp;

	if (list_empty(&sn->relays))
		return false;
	list_for_each_entry_safe(r, tmp, &sn->relays, node)
		free_relay(r);
	INIT_LIST_HEAD(&sn->relays);
	return true;
}
