// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data of a row, taken from the user into the send buffer.
 *
 * There is one loop, fill(): it waits for room, copies a piece (copy.c), and hands pieces over,
 * small ones together.  Which piece comes next is a matter of an *order*:
 *
 * - in_order: as the caller gives the row, message by message;
 * - by_schedule: all messages side by side, in the order in which they will be sent;
 * - as_wanted: what the program has been asked for (want.c).
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../group.h"
#include "../mem.h"
#include "../op.h"
#include "../sched/policy.h"
#include "../sock.h"
#include "copy.h"
#include "egress_wake.h"
#include "fill.h"
#include "msg_out.h"
#include "own_schedule.h"
#include "pages.h"
#include "want.h"

/* So long a call waits when memory is short, before it tries again, jiffies */
#define MEMORY_RETRY	(HZ / 50 ?: 1)

/**
 * struct fill_piece - bytes that are taken next
 * @rank: their message
 * @len: their number
 * @from: where they are; moves on
 */
struct fill_piece {
	u32		rank;
	u32		len;
	struct iov_iter	*from;
};

struct fill_call;

/**
 * struct fill_order - the order in which a row's data is taken
 * @ready: is there more to take?  1, 0, or an error that ends the call
 * @next: which piece is it?  Asked when there is room
 * @took: the piece has been copied
 * @has_room: there is room for all that may be taken
 */
struct fill_order {
	int (*ready)(struct fill_call *c);
	void (*next)(struct fill_call *c, struct fill_piece *p);
	void (*took)(struct fill_call *c, const struct fill_piece *p);
	bool has_room;
};

/**
 * struct fill_call - one sendmsg()
 * @ssk: socket
 * @op: operation; the caller holds op->fill.mutex
 * @timeo: jiffies that may be waited
 * @iter: the user's data
 * @batch: chunks that have been copied and not yet handed over; of a message one at most
 * @batch_n: their number
 * @batch_len: their payload bytes
 * @batch_size: what they will be charged
 * @done: payload bytes handed over
 * @rank: in_order: message that is taken
 * @off: in_order: offset in it of what is taken next
 * @schedule: by_schedule: the schedule
 * @limited: by_schedule: the row does not fit the send buffer, so no receiver may fill that
 * @wakes: by_schedule: times that something may have changed since @schedule was looked at
 * @iters: by_schedule: where the rest of each message is
 * @left: by_schedule: bytes of these
 * @wanted: as_wanted: place in what has been asked for
 */
struct fill_call {
	struct shuffle_sock	*ssk;
	struct shuffle_op	*op;
	long			timeo;
	struct iov_iter		*iter;
	struct list_head	batch;
	u32			batch_n;
	u32			batch_len;
	u32			batch_size;
	ssize_t			done;
	u32			rank;
	u64			off;
	struct shuffle_policy_tx schedule;
	bool			limited;
	u32			wakes;
	struct iov_iter		*iters;
	u64			left;
	struct shuffle_want_cursor wanted;
};

static bool has_room(const struct fill_call *c)
{
	const struct sock *sk = &c->ssk->sk;

	return READ_ONCE(sk->sk_wmem_queued) + (int)c->batch_size < shuffle_sock_sndbuf(sk);
}

/* Is there room for a chunk, and one that may be taken?  What one receiver has not granted has a
 * part of the buffer only.
 */
static bool may_copy(struct fill_call *c)
{
	if (!has_room(c))
		return false;
	return !c->limited || c->schedule.heap.n ||
	       shuffle_fill_limits(c->op, c->op->fill.rank, &c->schedule);
}

static void drop_batch(struct fill_call *c)
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
static int try_commit(struct fill_call *c)
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
static int wait_memory(struct fill_call *c, int err)
{
	if (c->timeo != MAX_SCHEDULE_TIMEOUT)
		return err;
	if (READ_ONCE(c->op->life.ended))
		return -EPIPE;
	schedule_timeout_interruptible(MEMORY_RETRY);
	return signal_pending(current) ? sock_intr_errno(c->timeo) : 0;
}

static int commit_batch(struct fill_call *c)
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
static void look_at_grants(struct fill_call *c)
{
	if (!c->limited || !c->schedule.heap.n ||
	    ++c->wakes * SHUFFLE_SLICE < c->op->tx.announced)
		return;
	c->wakes = 0;
	shuffle_fill_limits(c->op, c->op->fill.rank, &c->schedule);
}

/* Wait until more may be taken, or the operation has ended.  What was taken has been handed over
 * when the wait begins.
 */
static int wait_room(struct fill_call *c)
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

/* Copy a piece.  When memory is short nothing of it has been taken. */
static struct shuffle_chunk *copy_piece(struct fill_call *c, const struct fill_piece *p)
{
	struct iov_iter from = *p->from;
	struct shuffle_chunk *chunk;
	int err;

	for (;;) {
		chunk = shuffle_copy_chunk(c->op, p->rank, p->len, p->from, c->timeo);
		if (!IS_ERR(chunk) || PTR_ERR(chunk) != -ENOMEM)
			return chunk;
		*p->from = from;
		/* nobody waits for what has been copied while we wait */
		err = commit_batch(c) ?: wait_memory(c, -ENOMEM);
		if (err)
			return ERR_PTR(err);
	}
}

/* Copy a piece for which there is room, or its beginning.  Pieces that are small, and the ends of
 * their messages, are handed over together.
 */
static int fill_piece(struct fill_call *c, struct fill_piece *p)
{
	const struct shuffle_op *op = c->op;
	struct shuffle_chunk *chunk = copy_piece(c, p);

	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	p->len = chunk->len;
	list_add_tail(&chunk->node, &c->batch);
	c->batch_n++;
	c->batch_len += p->len;
	c->batch_size += chunk->truesize;
	if (c->batch_size < op->rx.sched.unit && c->batch_n < SHUFFLE_SLICE &&
	    op->tx.msg[p->rank].filled + p->len == op->tx.sched.msg[p->rank].len)
		return 0;
	return commit_batch(c);
}

/* Take what there is, in an order. */
static int fill(struct fill_call *c, const struct fill_order *order)
{
	struct fill_piece p;
	int err, last;

	for (;;) {
		err = order->ready(c);
		if (err <= 0)
			break;
		err = order->has_room ? 0 : wait_room(c);
		if (err)
			break;
		order->next(c, &p);
		err = fill_piece(c, &p);
		if (err)
			break;
		order->took(c, &p);
	}
	last = commit_batch(c);
	return err ?: last;
}

static u64 unfilled(const struct shuffle_op *op, u32 rank)
{
	return op->tx.sched.msg[rank].len - op->tx.msg[rank].filled;
}

/* What is copied as one.  When memory is scarce, no more than fill_piece() hands over at once:
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

/**
 * shuffle_fill_cancel() - end an operation whose row nobody can go on with
 * @op: operation
 *
 * Context: process.
 */
void shuffle_fill_cancel(struct shuffle_op *op)
{
	spin_lock_bh(&op->ssk->lock);
	shuffle_op_fail(op, ECANCELED);
	spin_unlock_bh(&op->ssk->lock);
}

/* What was taken ahead comes once more, and is passed over. */
static int in_order_ready(struct fill_call *c)
{
	const struct shuffle_op *op = c->op;
	u64 n;
	int err;

	while (iov_iter_count(c->iter) && c->rank < fill_end(op)) {
		if (c->off < op->tx.msg[c->rank].filled) {
			err = commit_batch(c);	/* what is in front of it counts first */
			if (err)
				return err;
			n = min_t(u64, op->tx.msg[c->rank].filled - c->off,
				  iov_iter_count(c->iter));
			iov_iter_advance(c->iter, n);
			c->done += n;
			c->off += n;
			continue;
		}
		if (c->off < op->tx.sched.msg[c->rank].len)
			return 1;
		c->rank++;
		c->off = 0;
	}
	return 0;
}

static void in_order_next(struct fill_call *c, struct fill_piece *p)
{
	p->rank = c->rank;
	p->len = min_t(u64, fill_bytes(c->op, c->rank), iov_iter_count(c->iter));
	p->from = c->iter;
}

static void in_order_took(struct fill_call *c, const struct fill_piece *p)
{
	c->off += p->len;
}

/* What was copied and not handed over has not been taken: sendmmsg() goes on with its next message
 * when the iterator says that all of one is.
 */
static ssize_t taken_from(struct fill_call *c, const struct iov_iter *begin, int err)
{
	if (err) {
		*c->iter = *begin;
		iov_iter_advance(c->iter, c->done);
	}
	return c->done ?: err;
}

/* Message by message, so that a partial result means something to the caller. */
static ssize_t fill_in_order(struct fill_call *c)
{
	static const struct fill_order order = {
		.ready = in_order_ready,
		.next = in_order_next,
		.took = in_order_took,
	};
	struct iov_iter begin = *c->iter;
	int err;

	c->rank = c->op->fill.rank;
	c->off = c->op->fill.off;
	err = fill(c, &order);
	give(c->op, c->done);
	if (err == -EFAULT && !c->done)
		shuffle_fill_cancel(c->op);
	return taken_from(c, &begin, err);
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

static int by_schedule_ready(struct fill_call *c)
{
	return !!c->left;
}

static void by_schedule_next(struct fill_call *c, struct fill_piece *p)
{
	p->rank = shuffle_policy_tx_pick(&c->schedule);
	p->len = fill_bytes(c->op, p->rank);
	p->from = &c->iters[p->rank];
}

static void by_schedule_took(struct fill_call *c, const struct fill_piece *p)
{
	c->left -= p->len;
	c->schedule.msg[p->rank].next += p->len;
	shuffle_policy_tx_sent(&c->schedule, p->rank);
}

/* Where each message's rest is in the caller's data. */
static int by_schedule_begin(struct fill_call *c)
{
	struct shuffle_op *op = c->op;
	u32 i, from = op->fill.rank;
	struct iov_iter at = *c->iter;

	c->iters = kvmalloc_array(op->tx.announced, sizeof(*c->iters), GFP_KERNEL);
	if (shuffle_fill_schedule(op, from, &c->schedule) || !c->iters)
		return -ENOMEM;
	for (i = from; i < op->tx.announced; i++) {
		c->iters[i] = at;
		iov_iter_advance(&at, ungiven(op, i));
		iov_iter_advance(&c->iters[i], taken_ahead(op, i));
		c->left += unfilled(op, i);
	}
	/* of what fits nobody can keep others from anything */
	if (c->left + READ_ONCE(c->ssk->sk.sk_wmem_queued) > shuffle_sock_sndbuf(&c->ssk->sk)) {
		c->limited = true;
		shuffle_fill_limits(op, from, &c->schedule);
	}
	return 0;
}

/* sendmmsg() goes on with its next message when the iterator says that all of one is taken. */
static ssize_t by_schedule_end(struct fill_call *c, int err)
{
	struct shuffle_op *op = c->op;
	size_t len = 0;

	WRITE_ONCE(op->tx.copy_waits, false);
	if (!err)
		len = iov_iter_count(c->iter);
	else if (err == -EINTR || err == -ERESTARTSYS)
		len = taken_in_order(op);
	else if (err != -EPIPE)
		shuffle_fill_cancel(op);	/* parts of many messages are taken */
	give(op, len);
	iov_iter_advance(c->iter, len);
	return len ?: err;
}

/* All messages side by side, in the order in which they will be sent: a row larger than the send
 * buffer still keeps every receiver busy.
 *
 * A signal ends the call with what has been taken in front of the first gap.  What has been taken
 * behind it goes its way: when the caller brings it again, it is passed over.
 */
static ssize_t fill_by_schedule(struct fill_call *c)
{
	static const struct fill_order order = {
		.ready = by_schedule_ready,
		.next = by_schedule_next,
		.took = by_schedule_took,
	};
	ssize_t n = by_schedule_begin(c);

	if (!n)
		n = by_schedule_end(c, fill(c, &order));
	kvfree(c->iters);
	shuffle_free_schedule(&c->schedule);
	return n;
}

static int as_wanted_ready(struct fill_call *c)
{
	return !!iov_iter_count(c->iter);
}

static void as_wanted_next(struct fill_call *c, struct fill_piece *p)
{
	u32 wanted;

	p->rank = shuffle_want_at(c->op, &c->wanted, &wanted);
	p->len = min_t(size_t, wanted, iov_iter_count(c->iter));
	p->from = c->iter;
}

static void as_wanted_took(struct fill_call *c, const struct fill_piece *p)
{
	shuffle_want_advance(c->op, &c->wanted, p->len);
}

/* What the program has been asked for, in the order in which it was: there is room for it.  What
 * cannot be handed over has not come: the next call brings it again.
 */
static ssize_t fill_as_wanted(struct fill_call *c, u32 first_rank)
{
	static const struct fill_order order = {
		.ready = as_wanted_ready,
		.next = as_wanted_next,
		.took = as_wanted_took,
		.has_room = true,
	};
	s64 asked = shuffle_want_begin(c->op, &c->wanted);
	struct iov_iter begin = *c->iter;
	u32 wanted;
	int err;

	if (asked < 0 || !iov_iter_count(c->iter))
		return min_t(s64, asked, 0);
	if (iov_iter_count(c->iter) > asked)
		return -EMSGSIZE;
	/* threads that answer must not take one another's place */
	if (shuffle_want_at(c->op, &c->wanted, &wanted) != first_rank)
		return -EINVAL;
	err = fill(c, &order);
	shuffle_want_answered(c->op, c->done);
	return taken_from(c, &begin, err);
}

/**
 * shuffle_fill_left() - bytes of a row that has been announced, and that have yet to be given
 * @op: operation
 *
 * Context: process, op->fill.mutex held.
 */
u64 shuffle_fill_left(const struct shuffle_op *op)
{
	u64 left = 0;
	u32 i;

	lockdep_assert_held(&op->fill.mutex);
	/* only writers change these */
	for (i = op->fill.rank; i < fill_end(op); i++)
		left += ungiven(op, i);
	return left;
}

/**
 * shuffle_fill_row() - take data of a row
 * @op: operation that has been announced
 * @iter: the user's data
 * @first_rank: of a row that is asked for, the message that the caller takes to be next
 * @timeo: jiffies that may be waited
 *
 * Context: process, may sleep, op->fill.mutex held.
 * Return: bytes taken, or an error: see Documentation/networking/api.rst.
 */
ssize_t shuffle_fill_row(struct shuffle_op *op, struct iov_iter *iter, u32 first_rank, long timeo)
{
	struct fill_call c = {
		.ssk = op->ssk,
		.op = op,
		.timeo = timeo,
		.iter = iter,
		.batch = LIST_HEAD_INIT(c.batch),
	};
	size_t len = iov_iter_count(iter);
	u64 total;

	lockdep_assert_held(&op->fill.mutex);
	if (op->tx.want)
		return fill_as_wanted(&c, first_rank);
	total = shuffle_fill_left(op);
	if (len > total)
		return -EMSGSIZE;
	if (len == total && timeo == MAX_SCHEDULE_TIMEOUT && !op->tx.same)
		return fill_by_schedule(&c);
	return fill_in_order(&c);
}
