// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendmsg(): a row is announced (announce.c), and its data copied from the user into chunks
 * (copy.c).  op->fill.mutex serialises the writers of a row.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../coll/engine.h"
#include "../group.h"
#include "../mem.h"
#include "../netns.h"
#include "../op.h"
#include "../rx/early.h"
#include "../rx/timewait.h"
#include "../sched/policy.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "announce.h"
#include "copy.h"
#include "egress.h"
#include "msg_out.h"
#include "own_schedule.h"
#include "pages.h"
#include "row.h"
#include "sendmsg.h"
#include "want.h"

/* So long a call waits when memory is short, before it tries again, jiffies */
#define MEMORY_RETRY	(HZ / 50 ?: 1)

/**
 * struct row_call - one sendmsg()
 * @ssk: socket
 * @op: operation, with a reference
 * @timeo: jiffies that may be waited
 * @iter: the user's data
 * @fill: order in which it is taken, of a row that does not fit the send buffer; else NULL
 * @wakes: times that something may have changed since @fill was looked at
 * @batch: chunks that have been copied and not yet handed over; of a message one
 *	at most
 * @batch_n: their number
 * @batch_len: their payload bytes
 * @batch_size: what they will be charged
 * @done: payload bytes handed over
 */
struct row_call {
	struct shuffle_sock	*ssk;
	struct shuffle_op	*op;
	long			timeo;
	struct iov_iter		*iter;
	struct shuffle_policy_tx *fill;
	u32			wakes;
	struct list_head	batch;
	u32			batch_n;
	u32			batch_len;
	u32			batch_size;
	ssize_t			done;
};

/* The row's operation, with a reference; @created: by us, and its fill.mutex is ours. */
static struct shuffle_op *get_op(struct shuffle_sock *ssk, const struct shuffle_row *row,
				 const struct shuffle_column *column, size_t len, bool *created)
{
	const u64 *lens = shuffle_row_lens(row);
	struct sockaddr_shuffle self;
	struct shuffle_op *op;
	u64 sum = 0;
	int err = 0;
	u32 i;

	for (i = 0; i < row->count; i++) {
		if (lens[i] == SHUFFLE_ABSENT)
			continue;
		if (lens[i] > SHUFFLE_MAX_LEN)
			return ERR_PTR(-EINVAL);
		sum += lens[i];
	}

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
		struct shuffle_net *sn = shuffle_net(sock_net(&ssk->sk));

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
	if (err || len > sum)
		return ERR_PTR(err ?: -EMSGSIZE);
	*created = true;
	return shuffle_op_create(ssk, row->op_id, row->deadline_ms, column, NULL);
}

static bool has_room(const struct row_call *c)
{
	const struct sock *sk = &c->ssk->sk;

	return READ_ONCE(sk->sk_wmem_queued) + (int)c->batch_size < shuffle_sock_sndbuf(sk);
}

/* Is there room for a chunk, and one that may be taken?  What one receiver has not granted has a
 * part of the buffer only.
 */
static bool may_copy(const struct row_call *c)
{
	if (!has_room(c))
		return false;
	return !c->fill || c->fill->heap.n ||
	       shuffle_fill_limits(c->op, c->op->fill.rank, c->fill);
}

static bool is_interrupted(int err)
{
	return err == -EINTR || err == -ERESTARTSYS;
}

static void drop_batch(struct row_call *c)
{
	struct shuffle_chunk *chunk, *tmp;

	list_for_each_entry_safe(chunk, tmp, &c->batch, node)
		shuffle_msg_out_free_chunk(chunk);
	INIT_LIST_HEAD(&c->batch);
	c->batch_n = 0;
	c->batch_len = 0;
	c->batch_size = 0;
}

/* Hand the chunks over.  Small messages share the cost of it. */
static int try_commit(struct row_call *c)
{
	struct sock *sk = &c->ssk->sk;
	struct shuffle_chunk *chunk, *tmp;
	int err = 0;

	if (list_empty(&c->batch))
		return 0;
	spin_lock_bh(&c->ssk->lock);
	if (c->op->life.ended) {
		err = -EPIPE;
	} else if (!sk_wmem_schedule(sk, c->batch_size)) {
		err = -ENOBUFS;
	} else {
		sk_mem_charge(sk, c->batch_size);
		WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + (int)c->batch_size);
		list_for_each_entry_safe(chunk, tmp, &c->batch, node) {
			list_del(&chunk->node);
			shuffle_msg_out_append(c->op, chunk);
		}
		shuffle_egress_kick(c->op);
		c->done += c->batch_len;
	}
	spin_unlock_bh(&c->ssk->lock);
	return err;
}

/* Memory is short.  A call that waits for room waits for that, too: nobody says when there is some
 * again.  0, or why it is not to be waited for: the call does not wait, the operation has ended (in
 * the end by its time limit), or a signal.
 */
static int wait_memory(struct row_call *c, int err)
{
	if (c->timeo != MAX_SCHEDULE_TIMEOUT)
		return err;
	if (READ_ONCE(c->op->life.ended))
		return -EPIPE;
	schedule_timeout_interruptible(MEMORY_RETRY);
	return signal_pending(current) ? sock_intr_errno(c->timeo) : 0;
}

static int commit_batch(struct row_call *c)
{
	int err = try_commit(c);

	while (err == -ENOBUFS) {
		shuffle_pages_drop(c->ssk);
		err = try_commit(c);
		if (err != -ENOBUFS)
			break;
		err = wait_memory(c, err);
		if (err)
			break;
		err = try_commit(c);
	}
	drop_batch(c);
	return err;
}

/* Somebody has granted more, or freed something: those that have had their shares may go on.  Not
 * each time in a large group, for that takes a step for each member.  may_copy() looks, too, when
 * there is nobody else.
 */
static void look_at_grants(struct row_call *c)
{
	if (!c->fill || !c->fill->heap.n || ++c->wakes * SHUFFLE_SLICE < c->op->tx.announced)
		return;
	c->wakes = 0;
	shuffle_fill_limits(c->op, c->op->fill.rank, c->fill);
}

/* Wait until more may be taken, or the operation has ended.  What was taken has been handed over
 * when the wait begins.
 */
static int wait_room(struct row_call *c)
{
	struct sock *sk = &c->ssk->sk;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	if (READ_ONCE(c->op->life.ended))
		return -EPIPE;
	if (may_copy(c))
		return 0;
	err = commit_batch(c);
	if (err || may_copy(c))
		return err;
	add_wait_queue(sk_sleep(sk), &wait);
	/* pairs with skwq_has_sleeper() in shuffle_sock_write_space() */
	smp_mb();
	for (;;) {
		if (READ_ONCE(c->op->life.ended))
			err = -EPIPE;
		else if (may_copy(c))
			break;
		else if (!c->timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(c->timeo);
		if (err)
			break;
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		c->timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, c->timeo);
		look_at_grants(c);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/* Copy the next @len bytes of a message; there is room in the send buffer. */
static int fill_chunk(struct row_call *c, u32 rank, u32 len, struct iov_iter *iter)
{
	struct shuffle_chunk *chunk = shuffle_copy_chunk(c->op, rank, len, iter, c->timeo);

	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	list_add_tail(&chunk->node, &c->batch);
	c->batch_n++;
	c->batch_len += len;
	c->batch_size += chunk->truesize;
	/* what is not the end of its message is no less, or all that there is */
	if (c->batch_size < c->op->rx.sched.unit && c->batch_n < SHUFFLE_SLICE)
		return 0;
	return commit_batch(c);
}

static u64 unfilled(const struct shuffle_op *op, u32 rank)
{
	return op->tx.sched.msg[rank].len - op->tx.msg[rank].filled;
}

/* What is copied as one.  When memory is scarce, no more than fill_chunk() hands over at once:
 * the buffer is to hold something for many receivers.
 */
static u32 fill_bytes(const struct shuffle_op *op, u32 rank)
{
	u32 unit = shuffle_mem_scarce() ? op->rx.sched.unit : op->fill.unit;

	return min_t(u64, unfilled(op, rank), unit);
}

/* Behind the last message that has data of its own. */
static u32 fill_end(const struct shuffle_op *op)
{
	return op->tx.same ? shuffle_group_all(op->group) + 1 : op->tx.announced;
}

/* What has yet to be given of a message, op->fill.rank or one behind it.  Some of that may have
 * been taken ahead by a call that was interrupted: fill_by_schedule().
 */
static u64 ungiven(const struct shuffle_op *op, u32 rank)
{
	return op->tx.sched.msg[rank].len - (rank == op->fill.rank ? op->fill.off : 0);
}

static u64 taken_ahead(const struct shuffle_op *op, u32 rank)
{
	return op->tx.msg[rank].filled - (rank == op->fill.rank ? op->fill.off : 0);
}

/* The caller has given so many bytes: the next one is behind them. */
static void give(struct shuffle_op *op, u64 bytes)
{
	u64 n;

	while (op->fill.rank < fill_end(op)) {
		n = min(ungiven(op, op->fill.rank), bytes);
		op->fill.off += n;
		bytes -= n;
		if (ungiven(op, op->fill.rank))
			break;
		op->fill.rank++;
		op->fill.off = 0;
	}
}

/* A row that nobody can go on with. */
static void cancel_row(struct row_call *c)
{
	spin_lock_bh(&c->ssk->lock);
	shuffle_op_fail(c->op, ECANCELED);
	spin_unlock_bh(&c->ssk->lock);
}

/* What was taken ahead comes once more. */
static int pass_over(struct row_call *c, u64 bytes)
{
	int err = commit_batch(c);	/* what is in front of it counts first */

	if (err)
		return err;
	iov_iter_advance(c->iter, bytes);
	c->done += bytes;
	return 0;
}

/* Message by message, so that a partial result means something to the caller. */
static ssize_t fill_in_order(struct row_call *c)
{
	struct shuffle_op *op = c->op;
	u64 off = op->fill.off, n;
	u32 rank = op->fill.rank;
	int err = 0, last;

	while (!err && iov_iter_count(c->iter)) {
		while (rank < fill_end(op) && off == op->tx.sched.msg[rank].len) {
			rank++;
			off = 0;
		}
		if (rank == fill_end(op))
			break;
		if (off < op->tx.msg[rank].filled) {
			n = min_t(u64, op->tx.msg[rank].filled - off, iov_iter_count(c->iter));
			err = pass_over(c, n);
		} else {
			n = min_t(u64, fill_bytes(op, rank), iov_iter_count(c->iter));
			err = wait_room(c);
			if (!err)
				err = fill_chunk(c, rank, n, c->iter);
		}
		off += n;
	}
	last = commit_batch(c);
	err = err ?: last;
	give(op, c->done);
	if (err == -EFAULT && !c->done)
		cancel_row(c);
	return c->done ?: err;
}

/* Some bytes of a row have been taken here and there: all of them in front of the first gap. */
static u64 taken_in_order(const struct shuffle_op *op)
{
	u64 n, sum = 0;
	u32 i;

	for (i = op->fill.rank; i < fill_end(op); i++) {
		n = taken_ahead(op, i);
		sum += n;
		if (n < ungiven(op, i))
			break;
	}
	return sum;
}

/* All messages side by side, in the order in which they will be sent: a row
 * larger than the send buffer still keeps every receiver busy.
 *
 * A signal ends the call with what has been taken in front of the first gap.  What has been taken
 * behind it goes its way: when the caller brings it again, it is passed over.
 */
static ssize_t fill_by_schedule(struct row_call *c)
{
	struct shuffle_op *op = c->op;
	size_t len = iov_iter_count(c->iter);
	u32 n = op->tx.announced, from = op->fill.rank;
	struct shuffle_policy_tx fill;
	bool interrupted = false;
	struct iov_iter from_here;
	struct iov_iter *iters;
	u64 left = 0;
	int err;
	u32 i;

	err = shuffle_fill_schedule(op, from, &fill);
	iters = kvmalloc_array(n, sizeof(*iters), GFP_KERNEL);
	if (err || !iters) {
		err = -ENOMEM;
		goto out;
	}
	for (i = from; i < n; i++) {
		iters[i] = *c->iter;
		iov_iter_advance(c->iter, ungiven(op, i));
		iov_iter_advance(&iters[i], taken_ahead(op, i));
		left += unfilled(op, i);
	}
	/* of what fits nobody can keep others from anything */
	if (left + READ_ONCE(c->ssk->sk.sk_wmem_queued) > shuffle_sock_sndbuf(&c->ssk->sk)) {
		c->fill = &fill;
		shuffle_fill_limits(op, from, &fill);
	}
	while (left) {
		u32 bytes;

		err = wait_room(c);
		if (err)
			break;
		i = shuffle_policy_tx_pick(&fill);
		bytes = fill_bytes(op, i);
		from_here = iters[i];
		err = fill_chunk(c, i, bytes, &iters[i]);
		if (err == -ENOMEM) {
			/* nothing of it has been taken */
			iters[i] = from_here;
			err = wait_memory(c, err);
			if (!err)
				continue;
		}
		if (err)
			break;
		left -= bytes;
		fill.msg[i].next += bytes;
		shuffle_policy_tx_sent(&fill, i);
	}
	WRITE_ONCE(op->tx.copy_waits, false);
	interrupted = is_interrupted(err);
	if (!err)
		err = commit_batch(c);
	else if (interrupted)
		commit_batch(c);
	drop_batch(c);
	if (interrupted)
		len = taken_in_order(op);
	if (!err || interrupted)
		give(op, len);
	else if (err != -EPIPE)
		cancel_row(c);	/* parts of many messages are taken */
out:
	kvfree(iters);
	shuffle_free_schedule(&fill);
	return interrupted && len ? len : err ?: len;
}

/* What the program has been asked for, in the order in which it was: there is room for it.  What
 * cannot be handed over has not come: the next call brings it again.
 */
static ssize_t fill_wanted(struct row_call *c, u32 first_rank)
{
	struct shuffle_op *op = c->op;
	struct shuffle_want_cursor at, taken;
	s64 asked = shuffle_want_begin(op, &at);
	int err = 0, last;
	u32 n, wanted;

	if (asked < 0 || !iov_iter_count(c->iter))
		return min_t(s64, asked, 0);
	if (iov_iter_count(c->iter) > asked)
		return -EMSGSIZE;
	/* threads that answer must not take one another's place */
	if (shuffle_want_at(op, &at, &wanted) != first_rank)
		return -EINVAL;
	taken = at;
	while (!err && iov_iter_count(c->iter)) {
		u32 rank = shuffle_want_at(op, &at, &wanted);

		n = min_t(size_t, wanted, iov_iter_count(c->iter));
		err = fill_chunk(c, rank, n, c->iter);
		if (err)
			break;
		at.used += n;
		if (n == wanted)
			at = (struct shuffle_want_cursor) { .at = at.at + 1 };
		/* of a message one chunk at most waits to be handed over */
		if (c->batch_n && op->tx.msg[rank].filled + n < op->tx.sched.msg[rank].len)
			err = commit_batch(c);
		if (!err && !c->batch_n)
			taken = at;
	}
	if (c->batch_n) {
		last = commit_batch(c);
		if (!last)
			taken = at;
		err = err ?: last;
	}
	shuffle_want_answered(op, &taken);
	return c->done ?: err;
}

static ssize_t fill_row(struct row_call *c, const struct shuffle_row *row)
{
	struct shuffle_op *op = c->op;
	size_t len = iov_iter_count(c->iter);
	u64 total = 0;
	u32 i;

	if (op->tx.want)
		return fill_wanted(c, row->first_rank);
	/* only writers change these, and we hold op->fill.mutex */
	for (i = op->fill.rank; i < fill_end(op); i++)
		total += ungiven(op, i);
	if (len > total)
		return -EMSGSIZE;
	if (len == total && c->timeo == MAX_SCHEDULE_TIMEOUT && !op->tx.same)
		return fill_by_schedule(c);
	return fill_in_order(c);
}

/* Announce what the row announces, and take its data.  op->fill.mutex held. */
static ssize_t send_row(struct row_call *c, const struct shuffle_row *row, bool created)
{
	ssize_t n = shuffle_announce(c->op, row);

	lockdep_assert_held(&c->op->fill.mutex);
	if (n) {
		if (created)
			cancel_row(c);	/* or nobody could ever announce it */
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
				cancel_row(c);
			return n;
		}
	}
	/* the end may have come while the row was announced */
	if (row->flags & SHUFFLE_ROW_WANT)
		return 0;
	n = fill_row(c, row);
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
	INIT_LIST_HEAD(&c.batch);
	c.timeo = sock_sndtimeo(sock->sk, msg->msg_flags & MSG_DONTWAIT);
	c.op = get_op(c.ssk, row, &column, len, &created);
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
