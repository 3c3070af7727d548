// SPDX-License-Identifier: GPL-2.0-only
/*
 * recvmsg(): messages as they complete, parts of long ones and under pressure, and the
 * end of operations.  Readers of one socket take turns: ssk->read_mutex.
 */
#include <linux/slab.h>
#include <net/compat.h>

#include "../abort.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/policy.h"
#include "../sock.h"
#include "../tx/output.h"
#include "../tx/want.h"
#include "../user_run.h"
#include "frags.h"
#include "grant.h"
#include "msg_in.h"
#include "recvmsg.h"

#define SHUFFLE_MAX_RECORDS	1024	/* returned by one call */

/**
 * struct recv_call - one recvmsg()
 * @ssk: socket, its read_mutex held
 * @msg: the user's
 * @rec: records so far
 * @n: their number
 * @max: room for so many
 * @left: bytes of buffer left
 */
struct recv_call {
	struct shuffle_sock	*ssk;
	struct msghdr		*msg;
	struct shuffle_record	*rec;
	u32			n;
	u32			max;
	size_t			left;
};

/* Copy bytes of a packet that are in more parts than one, or in a part without address. */
static noinline int copy_parts(struct shuffle_frags *c, u32 off, u32 len,
			       struct shuffle_user_run *run, struct msghdr *msg)
{
	const u8 *p;
	u32 n;

	for (; len; off += n, len -= n) {
		n = len;
		p = shuffle_frags_run(c, off, &n);
		if (!p) {
			shuffle_user_run_end(run);
			return skb_copy_datagram_msg(c->skb, off, msg, len);
		}
		if (!shuffle_user_run_to(run, p, n))
			return -EFAULT;
	}
	return 0;
}

/* Copy payloads of full packets, of @left bytes: those that the part of the packet which holds @off
 * has whole, and the piece of the user's memory has room for.  @hdr: bytes between two of them.
 * Returns the number of payloads; -EFAULT.
 */
static int copy_full_packets(struct shuffle_frags *c, u32 off, u32 left, u32 pkt, u32 hdr,
			     struct shuffle_user_run *run)
{
	u32 part = left + left / pkt * hdr, n, i;
	const u8 *from;

	if (left < pkt || run->left < pkt)
		return 0;
	from = shuffle_frags_run(c, off, &part);
	if (!from || part < pkt)
		return 0;
	left = min_t(size_t, run->left, left);
	n = min((part - pkt) / (pkt + hdr) + 1, left / pkt);
	for (i = 0; i < n; i++, from += pkt + hdr)
		if (!shuffle_user_run_piece_to(run, i * pkt, from, pkt))
			return -EFAULT;
	shuffle_user_run_advance(run, n * pkt);
	return n;
}

/* Copy bytes [start, end) of a message out of a piece that holds them. */
static int copy_piece(struct sk_buff *skb, u64 end, struct msghdr *msg)
{
	struct shuffle_piece *p = SHUFFLE_PIECE(skb);
	u32 rel = p->start - p->base;
	u32 at = rel % p->stride;
	u32 off = p->data + at + rel / p->stride * (p->stride + p->hdr);
	u32 left = end - p->start;
	u32 n = p->stride - at;
	struct shuffle_user_run run;
	struct shuffle_frags c;
	const u8 *from;
	int full;

	shuffle_frags_init(&c, skb);
	shuffle_user_run_init(&run, &msg->msg_iter);
	while (left) {
		full = n == p->stride ?
		       copy_full_packets(&c, off, left, p->stride, p->hdr, &run) : 0;
		if (full < 0)
			return full;
		left -= full * p->stride;
		off += full * (p->stride + p->hdr);
		if (full)
			continue;

		n = min(n, left);
		from = shuffle_frags_at(&c, off, n);
		if (from ? !shuffle_user_run_to(&run, from, n) :
			   copy_parts(&c, off, n, &run, msg))
			return -EFAULT;
		left -= n;
		off += n + p->hdr;
		n = p->stride;
	}
	shuffle_user_run_end(&run);
	return 0;
}

/* The piece that the reader needs next, if it has arrived.  ssk->lock held. */
static struct sk_buff *next_piece(struct shuffle_msg_in *in)
{
	struct rb_node *node = rb_first(&in->pieces);

	lockdep_assert_held(&in->ready.op->ssk->lock);
	if (!node || SHUFFLE_PIECE(rb_to_skb(node))->start != in->read)
		return NULL;
	return rb_to_skb(node);
}

/* Copy what has arrived of a message and fits. */
static int read_message(struct recv_call *c, struct shuffle_op *op, u32 rank)
{
	struct shuffle_record *rec = &c->rec[c->n++];
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct shuffle_sock *ssk = c->ssk;
	struct sk_buff *skb, *used = NULL;
	int err = 0;

	lockdep_assert_held(&ssk->read_mutex);
	memset(rec, 0, sizeof(*rec));
	rec->op_id = op->id;
	rec->type = SHUFFLE_RECORD_DATA;
	rec->rank = rank;
	rec->offset = in->read;

	/* the lock is dropped to copy; only readers take pieces out, and we are
	 * the reader
	 */
	spin_lock_bh(&ssk->lock);
	rec->msg_len = op->rx.sched.msg[rank].len;
	while (c->left && (skb = next_piece(in))) {
		struct shuffle_piece *p = SHUFFLE_PIECE(skb);
		u64 end = min_t(u64, p->end, p->start + c->left);
		u32 n = end - p->start;

		rb_erase(&skb->rbnode, &in->pieces);
		spin_unlock_bh(&ssk->lock);
		consume_skb(used);
		used = NULL;
		err = copy_piece(skb, end, c->msg);
		spin_lock_bh(&ssk->lock);
		if (err)
			end = in->read;	/* nothing is lost by a fault */
		else
			rec->len += n;
		in->read = end;
		c->left -= err ? 0 : n;
		p->start = end;
		if (end == p->end || (op->life.ended && !in->complete)) {
			/* freed without the lock: the page allocator may choose to do
			 * much at once
			 */
			shuffle_msg_in_uncharge_piece(ssk, skb);
			used = skb;
		} else {
			shuffle_msg_in_insert_piece(in, skb);
		}
		if (err)
			break;
	}
	if (in->complete && in->read == rec->msg_len) {
		rec->flags = SHUFFLE_RECORD_LAST;
		in->delivered = true;
	} else if (!rec->len) {
		c->n--;		/* it has failed meanwhile, or there is no room */
	}
	spin_unlock_bh(&ssk->lock);
	consume_skb(used);
	return err;
}

/* DONE, or FAILED and the missing ranks.  Returns true when all has been said. */
static bool read_end(struct recv_call *c, struct shuffle_op *op)
{
	struct shuffle_record *rec;
	u32 i;

	if (!op->life.end_cursor) {
		rec = &c->rec[c->n++];
		memset(rec, 0, sizeof(*rec));
		rec->op_id = op->id;
		rec->type = op->life.error ? SHUFFLE_RECORD_FAILED : SHUFFLE_RECORD_DONE;
		rec->error = op->life.error;
		if (op->life.error)
			for (i = 0; i < op->rx.sched.n; i++)
				rec->msg_len += !!shuffle_op_missing(op, i);
		op->life.end_cursor = 1;
	}
	if (!op->life.error)
		return true;
	/* nothing changes any more in an operation that has ended */
	for (i = op->life.end_cursor - 1; i < op->rx.sched.n; i++) {
		u16 flags = shuffle_op_missing(op, i);

		if (!flags)
			continue;
		if (c->n == c->max)
			break;
		rec = &c->rec[c->n++];
		memset(rec, 0, sizeof(*rec));
		rec->op_id = op->id;
		rec->type = SHUFFLE_RECORD_MISSING;
		rec->flags = flags;
		rec->rank = i;
		if (flags & SHUFFLE_MISSING_LEFT)
			rec->error = shuffle_abort_errno(op->life.blame.reason);
	}
	op->life.end_cursor = i + 1;
	return i == op->rx.sched.n;
}

/* Take from the head of ssk->notices, if there is one; false if there is none.  What is noticed
 * is no data, so the schedule of grants does not wait for the reader because of it.
 */
static bool take_notice(struct recv_call *c)
{
	struct shuffle_sock *ssk = c->ssk;
	struct shuffle_ready *notice;

	spin_lock_bh(&ssk->lock);
	notice = list_first_entry_or_null(&ssk->notices, struct shuffle_ready, node);
	if (notice)
		c->n += shuffle_want_next(notice, &c->rec[c->n]);
	spin_unlock_bh(&ssk->lock);
	return notice;
}

/* Take from the head of ssk->ready.  Returns 1 if there may be more to take, 0 if
 * not, or an error.
 */
static int take_ready(struct recv_call *c)
{
	struct shuffle_sock *ssk = c->ssk;
	struct shuffle_msg_in *in = NULL;
	struct shuffle_ready *ready;
	bool complete = false;
	struct shuffle_op *op;
	bool more;
	u64 left = 0;
	int err;

	if (c->n == c->max)
		return 0;
	/* packets change all of this; only a reader takes an entry out for good */
	spin_lock_bh(&ssk->lock);
	ready = list_first_entry_or_null(&ssk->ready, struct shuffle_ready, node);
	if (ready && ready->rank != SHUFFLE_NONE) {
		in = &ready->op->rx.msg[ready->rank];
		complete = in->complete;
		left = ready->op->rx.sched.msg[ready->rank].len - in->read;
	}
	spin_unlock_bh(&ssk->lock);
	if (!ready)
		return 0;
	op = ready->op;
	if (!in) {
		if (!read_end(c, op))
			return 0;
		shuffle_op_unlink(op);
		return 1;
	}
	/* a part only if it is all that there is room for: the next call begins
	 * with a whole message
	 */
	if (c->n && complete && left > c->left)
		return 0;
	if (!c->left && !c->n && left)
		return -EMSGSIZE;
	err = read_message(c, op, ready->rank);
	if (err)
		return c->n ? 0 : err;

	spin_lock_bh(&ssk->lock);
	if (in->delivered || (!in->complete && (op->life.ended || !next_piece(in))))
		list_del_init(&ready->node);
	else if (!in->complete)
		/* it may come as fast as we read: others have their turns */
		list_move_tail(&ready->node, &ssk->ready);
	more = c->left > 0 || list_empty(&ready->node);
	spin_unlock_bh(&ssk->lock);
	return more;
}

/* Notices and all else in turns, while there is room for records.  0 or an error. */
static int take_all(struct recv_call *c)
{
	bool noticed = true;
	int err = 1;

	while (c->n < c->max && err >= 0 && (err > 0 || noticed)) {
		noticed = take_notice(c);
		if (err > 0)
			err = take_ready(c);
	}
	return min(err, 0);
}

static bool nothing_ready(struct shuffle_sock *ssk)
{
	bool empty;

	spin_lock_bh(&ssk->lock);
	empty = list_empty(&ssk->ready) && list_empty(&ssk->notices);
	spin_unlock_bh(&ssk->lock);
	return empty;
}

/* *timeo: jiffies that are left.  Another reader may take what is ready. */
static int wait_ready(struct shuffle_sock *ssk, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &ssk->sk;
	int err = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	while (nothing_ready(ssk)) {
		if (!*timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(*timeo);
		if (err)
			break;
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/* What is ready, behind another reader.  That one copies, a copy may fault, and a fault may take as
 * long as it likes: a signal ends the wait.  A call that does not wait for a message waits here,
 * too: turned away, it would not be told of what the other one leaves.  0 or an error.
 */
static int take_turn(struct recv_call *c, long timeo)
{
	int err;

	if (mutex_lock_interruptible(&c->ssk->read_mutex))
		return sock_intr_errno(timeo);
	err = take_all(c);
	mutex_unlock(&c->ssk->read_mutex);
	return err;
}

/* What stands before the records in a control message: less for 32-bit programs on 64 bits. */
static size_t records_head(int flags)
{
	size_t cmsg = CMSG_LEN(0);

	if (flags & MSG_CMSG_COMPAT)
		cmsg = sizeof(struct compat_cmsghdr);
	return cmsg + sizeof(struct shuffle_records);
}

/**
 * shuffle_recvmsg() - recvmsg() on an AF_SHUFFLE socket
 * @sock: socket
 * @msg: buffer, and room for records
 * @len: bytes of buffer
 * @flags: MSG_DONTWAIT; MSG_CMSG_CLOEXEC, which has nothing to do, for no descriptors
 *	are passed.  MSG_PEEK is refused: a record is taken when it is returned, and a
 *	second look could not be the same, for parts of messages take turns.
 *
 * Context: process, may sleep.
 * Return: bytes copied, 0 if the records have none; -EOPNOTSUPP (another flag), -EINVAL
 * (no room for a record), -EMSGSIZE (no room for a byte), -EAGAIN, -EINTR, -EFAULT,
 * -ENOMEM.
 */
int shuffle_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct shuffle_records *recs;
	struct sk_buff_head q;
	struct recv_call c = {
		.ssk = shuffle_sk(sk),
		.msg = msg,
		.left = min_t(size_t, len, INT_MAX),
	};
	size_t room;
	long timeo;
	bool more;
	int err;

	if (flags & ~(MSG_DONTWAIT | MSG_CMSG_COMPAT | MSG_CMSG_CLOEXEC | MSG_NOSIGNAL))
		return -EOPNOTSUPP;
	room = msg->msg_controllen;
	if (room < records_head(flags) + sizeof(*c.rec))
		return -EINVAL;
	c.max = min_t(size_t, (room - records_head(flags)) / sizeof(*c.rec), SHUFFLE_MAX_RECORDS);
	recs = kvmalloc(struct_size(recs, rec, c.max), GFP_KERNEL);
	if (!recs)
		return -ENOMEM;
	c.rec = recs->rec;

	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	/* what was ready may not be any more: the end of an operation, or no room for what would
	 * be asked for
	 */
	do {
		err = wait_ready(c.ssk, &timeo);
		if (!err)
			err = take_turn(&c, timeo);
	} while (!err && !c.n);
	/* room has been made */
	for (more = c.n; more;) {
		__skb_queue_head_init(&q);
		spin_lock_bh(&c.ssk->lock);
		more = shuffle_grant_sock(c.ssk, &q);
		spin_unlock_bh(&c.ssk->lock);
		shuffle_output_flush(c.ssk->sn, &q);
		cond_resched();
	}

	msg->msg_namelen = 0;
	recs->size = sizeof(*c.rec);
	recs->count = c.n;
	if (c.n && put_cmsg(msg, SOL_SHUFFLE, SHUFFLE_CMSG_RECORDS,
			    struct_size(recs, rec, c.n), recs))
		err = -EFAULT;
	kvfree(recs);
	return err ?: (int)(min_t(size_t, len, INT_MAX) - c.left);
}
