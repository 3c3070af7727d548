// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendmsg(): a row is announced (announce.c), and its data taken from the user (fill.c).
 * op->fill.mutex serialises the writers of a row.
 */
#include <linux/sched/signal.h>

#include "../coll/engine.h"
#include "../group.h"
#include "../netns.h"
#include "../op.h"
#include "../rx/early.h"
#include "../rx/timewait.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "announce.h"
#include "fill.h"
#include "row.h"
#include "sendmsg.h"
#include "want.h"

/**
 * struct row_call - one sendmsg()
 * @ssk: socket
 * @op: operation, with a reference
 * @timeo: jiffies that may be waited
 * @iter: the user's data
 * @adds: bytes of the messages that the call announces
 */
struct row_call {
	struct shuffle_sock	*ssk;
	struct shuffle_op	*op;
	long			timeo;
	struct iov_iter		*iter;
	u64			adds;
};

/* Bytes of the messages that are announced; what all get is given once.  0 or -EINVAL. */
static int row_bytes(const struct shuffle_row *row, u64 *bytes)
{
	const u64 *lens = shuffle_row_lens(row);
	u32 i;

	for (i = 0, *bytes = 0; i < row->count; i++) {
		if (lens[i] == SHUFFLE_ABSENT)
			continue;
		if (lens[i] > SHUFFLE_MAX_LEN)
			return -EINVAL;
		*bytes = row->flags & SHUFFLE_ROW_SAME ? max(*bytes, lens[i]) : *bytes + lens[i];
	}
	return 0;
}

/* The row's operation, with a reference; @created: by us, and its fill.mutex is ours. */
static struct shuffle_op *get_op(struct row_call *c, const struct shuffle_row *row,
				 const struct shuffle_column *column, bool *created)
{
	struct shuffle_sock *ssk = c->ssk;
	struct sockaddr_shuffle self;
	struct shuffle_op *op;
	int err = row_bytes(row, &c->adds);

	if (err)
		return ERR_PTR(err);
	spin_lock_bh(&ssk->lock);
	self = ssk->addr;
	op = shuffle_op_find(ssk, row->op_id);
	if (op) {
		if (row->count && !row->first_rank)
			err = -EEXIST;
		else if (op->engine)
			err = -EINVAL;
		else if (op->life.ended)
			err = -EPIPE;
		else
			refcount_inc(&op->ref);
	}
	spin_unlock_bh(&ssk->lock);
	if (err)
		return ERR_PTR(err);
	if (op)
		return op;
	if (row->first_rank || !row->count) {
		struct shuffle_net *sn = ssk->sn;

		err = shuffle_timewait_exists(sn, &self, row->op_id) ? -EPIPE : -ENOENT;
		return ERR_PTR(err);
	}
	/* what cannot work must not leave an operation behind */
	spin_lock_bh(&ssk->lock);
	if (ssk->group && row->count > ssk->group->count)
		err = -EMSGSIZE;
	else if (ssk->group && row->flags & SHUFFLE_ROW_SAME && !ssk->group->multicast)
		err = -EOPNOTSUPP;
	spin_unlock_bh(&ssk->lock);
	if (err || iov_iter_count(c->iter) > c->adds)
		return ERR_PTR(err ?: -EMSGSIZE);
	*created = true;
	return shuffle_op_create(ssk, row->op_id, row->deadline_ms, column, NULL);
}

/* Announce what the row announces, and take its data.  op->fill.mutex held. */
static ssize_t send_row(struct row_call *c, const struct shuffle_row *row, bool created)
{
	ssize_t n;

	lockdep_assert_held(&c->op->fill.mutex);
	if (row->count && iov_iter_count(c->iter) > shuffle_fill_left(c->op) + c->adds)
		return -EMSGSIZE;
	n = shuffle_announce(c->op, row);
	if (n) {
		if (created)
			shuffle_fill_cancel(c->op);	/* or nobody could ever announce it */
		return n;
	}
	if (!row->first_rank)
		shuffle_early_claim(c->ssk, row->op_id);
	if (row->flags & SHUFFLE_ROW_WANT)
		c->op->fill.asks = true;
	if (c->op->fill.asks && c->op->tx.closed && !c->op->tx.want) {
		n = shuffle_want_start(c->op);
		if (n) {
			if (n != -EPIPE)
				shuffle_fill_cancel(c->op);
			return n;
		}
	}
	/* the end may have come while the row was announced */
	if (row->flags & SHUFFLE_ROW_WANT)
		return 0;
	n = shuffle_fill_row(c->op, c->iter, row->first_rank, c->timeo);
	/* what was announced must not be announced again */
	if (row->count && (n == -EAGAIN || n == -EINTR || n == -ERESTARTSYS ||
			   n == -ENOBUFS || n == -ENOMEM))
		n = 0;
	return n;
}

/* 0, -EAGAIN, or an interrupted wait's error: another writer works on the row. */
static int lock_row(const struct row_call *c, bool created)
{
	if (created)	/* locked since it was made */
		return 0;
	if (!c->timeo)
		return mutex_trylock(&c->op->fill.mutex) ? 0 : -EAGAIN;
	return mutex_lock_interruptible(&c->op->fill.mutex) ? sock_intr_errno(c->timeo) : 0;
}

/**
 * shuffle_sendmsg() - sendmsg() on an AF_SHUFFLE socket
 * @sock: socket
 * @msg: control message SHUFFLE_CMSG_ROW, perhaps SHUFFLE_CMSG_ABSENT, and data; or
 *	SHUFFLE_CMSG_COLLECTIVE and data
 * @len: bytes of data
 *
 * Context: process, may sleep.
 * Return: bytes taken, which can be none when the call has announced ranks and
 * could not wait or was interrupted; or an error: see Documentation/networking/api.rst.
 */
int shuffle_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct row_call c = {
		.ssk = shuffle_sk(sock->sk),
		.iter = &msg->msg_iter,
	};
	const struct shuffle_collective *coll;
	struct shuffle_column column;
	const struct shuffle_row *row;
	bool created = false;
	ssize_t n;

	/* sendmmsg() sets MSG_BATCH: rows do not wait for one another anyway */
	if (msg->msg_flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CMSG_COMPAT | MSG_BATCH))
		return -EOPNOTSUPP;
	if (msg->msg_namelen)
		return -EISCONN;
	coll = shuffle_collective_find(msg);
	if (IS_ERR(coll))
		return PTR_ERR(coll);
	if (coll) {
		n = shuffle_collective_start(c.ssk, coll, c.iter) ?: len;
		goto out;
	}
	row = shuffle_row_find(msg, &column);
	if (IS_ERR(row))
		return PTR_ERR(row);
	/* what one call returns has to fit an int */
	if (len > INT_MAX)
		return -EMSGSIZE;
	if (row->flags & SHUFFLE_ROW_WANT && len)
		return -EINVAL;
	c.timeo = sock_sndtimeo(sock->sk, msg->msg_flags & MSG_DONTWAIT);
	c.op = get_op(&c, row, &column, &created);
	if (IS_ERR(c.op))
		return PTR_ERR(c.op);
	n = lock_row(&c, created);
	if (!n) {
		n = send_row(&c, row, created);
		mutex_unlock(&c.op->fill.mutex);
	}
	shuffle_op_put(c.op);
out:
	if (n == -EPIPE && !(msg->msg_flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return n;
}
