// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendmsg(): a row is announced (announce.c), and its data copied from the user into pages in
 * wire layout.  op->tx_mutex serialises the writers of a row; ssk->pages.lock
 * guards the page that is being filled.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/dst.h>

#include "../shuffle.h"
#include "../coll/engine.h"
#include "../trace.h"
#include "../user_run.h"

/**
 * struct row_call - one sendmsg()
 * @ssk: socket
 * @op: operation, with a reference
 * @timeo: jiffies that may be waited
 * @iter: the user's data
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
	struct list_head	batch;
	u32			batch_n;
	u32			batch_len;
	u32			batch_size;
	ssize_t			done;
};

/* Admit a row whose data the send buffer has to hold as a whole, until release_whole().  It may
 * have twice as much as that says, as a collective may, and one of some bytes fits always: how long
 * rows are is agreed among members, and how large their buffers are is not.  0, -ENOBUFS or
 * -EMSGSIZE.  ssk->lock held.
 */
static int admit_whole(struct shuffle_sock *ssk, u64 bytes)
{
	u64 queued = READ_ONCE(ssk->sk.sk_wmem_queued) + ssk->admitted;
	u64 most = 2ULL * shuffle_sock_sndbuf(&ssk->sk);

	lockdep_assert_held(&ssk->lock);
	if (bytes > max_t(u64, most, SHUFFLE_REDUCE_BYTES))
		return -EMSGSIZE;
	if (queued && queued + bytes > most)
		return -ENOBUFS;
	ssk->admitted += bytes;
	return 0;
}

/* All of it is charged, or given up. */
static void release_whole(struct shuffle_sock *ssk, u64 bytes)
{
	spin_lock_bh(&ssk->lock);
	ssk->admitted -= bytes;
	spin_unlock_bh(&ssk->lock);
}

/* The row's operation, with a reference; @created: by us, and its tx_mutex is ours. */
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
		else if (op->engine || op->reduction)
			err = -EINVAL;
		else if (op->ended)
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
	else if (ssk->group && row->flags & SHUFFLE_ROW_SAME && !column->forward &&
		 !ssk->group->multicast)
		err = -EOPNOTSUPP;
	else if (column->reduction)
		err = len != sum ? -EINVAL : admit_whole(ssk, sum);
	spin_unlock_bh(&ssk->lock);
	if (err || len > sum)
		return ERR_PTR(err ?: -EMSGSIZE);
	*created = true;
	return shuffle_op_create(ssk, row->op_id, row->deadline_ms, column, NULL);
}

static bool has_room(const struct row_call *c)
{
	const struct sock *sk = &c->ssk->sk;

	if (c->op->reduction)		/* admit_whole() has said so */
		return true;
	return READ_ONCE(sk->sk_wmem_queued) + (int)c->batch_size < shuffle_sock_sndbuf(sk);
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
	if (c->op->ended) {
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

static int commit_batch(struct row_call *c)
{
	int err = try_commit(c);

	if (err == -ENOBUFS) {
		shuffle_pages_drop(c->ssk);
		err = try_commit(c);
	}
	drop_batch(c);
	return err;
}

/* Wait until the send buffer has room or the operation has ended. */
static int wait_room(struct row_call *c, bool killable)
{
	struct sock *sk = &c->ssk->sk;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	if (READ_ONCE(c->op->ended))
		return -EPIPE;
	if (has_room(c))
		return 0;
	err = commit_batch(c);
	if (err || has_room(c))
		return err;
	add_wait_queue(sk_sleep(sk), &wait);
	/* pairs with skwq_has_sleeper() in shuffle_sock_write_space() */
	smp_mb();
	for (;;) {
		if (READ_ONCE(c->op->ended))
			err = -EPIPE;
		else if (has_room(c))
			break;
		else if (!c->timeo)
			err = -EAGAIN;
		else if (killable ? fatal_signal_pending(current) : signal_pending(current))
			err = sock_intr_errno(c->timeo);
		if (err)
			break;
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		/* a killable sleep would stop a suspend, or the freezer */
		c->timeo = wait_woken(&wait, killable ? TASK_KILLABLE | TASK_FREEZABLE :
				      TASK_INTERRUPTIBLE, c->timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/**
 * struct row_page - where the next bytes of the wire layout go
 * @to: in the socket's page
 * @room: bytes there
 */
struct row_page {
	u8	*to;
	u32	room;
};

/* What has been written belongs to the chunk.  pages.lock held. */
static void close_page(struct shuffle_sock *ssk, struct shuffle_chunk *chunk,
		       struct row_page *page)
{
	struct page_frag *pf = &ssk->pages.frag;
	u32 n;

	lockdep_assert_held(&ssk->pages.lock);
	if (!page->to)
		return;
	n = pf->size - pf->offset - page->room;
	pf->offset += n;
	chunk->frag[chunk->nr_frags - 1].size += n;
	page->to = NULL;
}

/* Room for a header at least.  pages.lock held. */
static int open_page(struct shuffle_sock *ssk, struct shuffle_chunk *chunk,
		     struct row_page *page)
{
	struct page_frag *pf = &ssk->pages.frag;
	struct page_frag *last;

	lockdep_assert_held(&ssk->pages.lock);
	close_page(ssk, chunk, page);
	if (!shuffle_pages_room(ssk, SHUFFLE_WIRE_MAX_HDR))
		return -ENOMEM;
	last = chunk->nr_frags ? &chunk->frag[chunk->nr_frags - 1] : NULL;
	if (!last || last->page != pf->page || last->offset + last->size != pf->offset) {
		if (chunk->nr_frags == chunk->max_frags)
			return -ENOMEM;
		last = &chunk->frag[chunk->nr_frags++];
		last->page = pf->page;
		last->offset = pf->offset;
		last->size = 0;
		get_page(pf->page);
	}
	page->to = page_address(pf->page) + pf->offset;
	page->room = pf->size - pf->offset;
	return 0;
}

/* Lay a message's next bytes out as packets: header, payload, header ...  The headers
 * differ in little, so they are copies of one.  pages.lock held.
 */
static int fill_layout(struct row_call *c, struct shuffle_chunk *chunk, u32 rank,
		       struct iov_iter *iter)
{
	struct shuffle_wire w = shuffle_msg_out_wire(c->op, rank);
	const struct shuffle_membership *group = c->op->group;
	const u32 hdr_len = group->data_hdr;
	struct shuffle_data_tag tag = {};
	struct row_page page = {};
	struct shuffle_user_run run;
	u8 hdr[SHUFFLE_WIRE_MAX_HDR];
	u32 done, left, n;
	int err;

	lockdep_assert_held(&c->ssk->pages.lock);
	if (group->keyed)
		shuffle_data_tag_init(&tag, &group->key, &w);
	shuffle_wire_build(hdr, &w);
	shuffle_user_run_init(&run, iter);
	for (done = 0; done < chunk->len;) {
		if (page.room < hdr_len) {
			err = open_page(c->ssk, chunk, &page);
			if (err)
				return err;
		}
		left = min(chunk->len - done, chunk->pkt);
		shuffle_wire_place(hdr, chunk->off + done, left);
		/* a length that the compiler knows: no call for each record */
		memcpy(page.to, hdr, SHUFFLE_WIRE_DATA_HDR);
		if (group->keyed)
			shuffle_put64(page.to + SHUFFLE_WIRE_DATA_HDR,
				      shuffle_data_tag(&tag, chunk->off + done, left));
		page.to += hdr_len;
		page.room -= hdr_len;
		done += left;
		for (; left; left -= n) {
			if (!page.room) {
				err = open_page(c->ssk, chunk, &page);
				if (err)
					return err;
			}
			n = min(left, page.room);
			if (!shuffle_user_run_from(&run, page.to, n))
				return -EFAULT;
			page.to += n;
			page.room -= n;
		}
	}
	close_page(c->ssk, chunk, &page);
	shuffle_user_run_end(&run);
	return 0;
}

/* Room that a small chunk is made with.  The bytes of a message that is written in small
 * parts go behind one another (shuffle_msg_out_append()); with a chunk for each part the
 * message would cost a hundred times its bytes.
 */
static u32 bytes_room(struct row_call *c, u32 rank, u64 off, u32 len)
{
	struct shuffle_chunk *last;
	bool fits;

	if (off) {
		spin_lock_bh(&c->ssk->lock);
		last = shuffle_msg_out_last(&c->op->out[rank]);
		fits = last && last->kind == SHUFFLE_CHUNK_BYTES && len <= last->pkt - last->len;
		spin_unlock_bh(&c->ssk->lock);
		if (fits)
			return len;
	}
	return min_t(u64, c->op->ptx.msg[rank].len - off, max_t(u32, len, SHUFFLE_APPEND_BYTES));
}

/* A few bytes: no pages. */
static struct shuffle_chunk *small_chunk(struct row_call *c, u32 rank, u64 off, u32 len,
					 struct iov_iter *iter)
{
	u32 room = bytes_room(c, rank, off, len);
	struct shuffle_chunk *chunk;

	chunk = kmalloc(struct_size(chunk, bytes, room), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->kind = SHUFFLE_CHUNK_BYTES;
	chunk->pkt = room;
	chunk->truesize = struct_size(chunk, bytes, room);
	if (!copy_from_iter_full(chunk->bytes, len, iter)) {
		kfree(chunk);
		return ERR_PTR(-EFAULT);
	}
	return chunk;
}

/* Pages that a chunk's packets may lie in: the rest of one, and others, each of which may
 * end with less than a header.
 */
static u32 frags_for(u32 len, u32 pkt)
{
	u32 wire = len + DIV_ROUND_UP(len, pkt) * SHUFFLE_WIRE_MAX_HDR;

	return 1 + DIV_ROUND_UP(wire, (u32)PAGE_SIZE - SHUFFLE_WIRE_MAX_HDR);
}

static struct shuffle_chunk *paged_chunk(struct row_call *c, u32 rank, u64 off, u32 len,
					 struct iov_iter *iter)
{
	struct shuffle_net *sn = shuffle_net(sock_net(&c->ssk->sk));
	struct shuffle_sock *ssk = c->ssk;
	struct shuffle_op *op = c->op;
	struct shuffle_chunk *chunk;
	struct dst_entry *dst;
	u32 pkt, frags;
	int err;

	spin_lock_bh(&ssk->lock);
	dst = shuffle_route(sn, ssk, op->group, rank);
	pkt = shuffle_route_payload(op->dev, op->group, rank, dst);
	dst_release(dst);
	spin_unlock_bh(&ssk->lock);
	frags = min_t(u32, frags_for(len, pkt), SHUFFLE_CHUNK_FRAGS);
	chunk = kmalloc(struct_size(chunk, frag, frags), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->truesize = struct_size(chunk, frag, frags) + len +
			  DIV_ROUND_UP(len, pkt) * op->group->data_hdr;
	chunk->kind = SHUFFLE_CHUNK_PACKETS;
	chunk->pkt = pkt;
	chunk->max_frags = frags;
	chunk->nr_frags = 0;
	chunk->off = off;
	chunk->len = len;

	/* The copy may fault, and a fault may take as long as it likes: a call that does
	 * not wait for room does not wait for another's page, either.
	 */
	if (c->timeo)
		err = mutex_lock_killable(&ssk->pages.lock);
	else
		err = mutex_trylock(&ssk->pages.lock) ? 0 : -EAGAIN;
	if (!err) {
		err = fill_layout(c, chunk, rank, iter);
		mutex_unlock(&ssk->pages.lock);
	}
	if (err) {
		shuffle_msg_out_free_chunk(chunk);
		return ERR_PTR(err);
	}
	return chunk;
}

/* Copy the next @len bytes of a message; there is room in the send buffer. */
static int fill_chunk(struct row_call *c, u32 rank, u32 len, struct iov_iter *iter)
{
	u64 off = c->op->out[rank].filled;
	struct shuffle_chunk *chunk;

	if (len <= SHUFFLE_INLINE_MAX)
		chunk = small_chunk(c, rank, off, len, iter);
	else
		chunk = paged_chunk(c, rank, off, len, iter);
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	chunk->off = off;
	chunk->len = len;
	chunk->rank = rank;
	list_add_tail(&chunk->node, &c->batch);
	c->batch_n++;
	c->batch_len += len;
	c->batch_size += chunk->truesize;
	/* what is not the end of its message is no less, or all that there is */
	return c->batch_size < c->op->prx.unit && c->batch_n < SHUFFLE_SLICE ? 0 : commit_batch(c);
}

static u64 unfilled(const struct shuffle_op *op, u32 rank)
{
	/* what is merged is not the user's */
	if (shuffle_merge_makes(op, rank))
		return 0;
	return op->ptx.msg[rank].len - op->out[rank].filled;
}

/* What is copied as one.  When memory is scarce, no more than fill_chunk() hands over at once:
 * the buffer is to hold something for many receivers.
 */
static u32 fill_bytes(const struct shuffle_op *op, u32 rank)
{
	u32 unit = shuffle_mem_scarce() ? op->prx.unit : op->fill_unit;

	return min_t(u64, unfilled(op, rank), unit);
}

/* Behind the last message that has data of its own. */
static u32 fill_end(const struct shuffle_op *op)
{
	if (op->forward)
		return 0;
	return op->same ? shuffle_group_all(op->group) + 1 : op->announced;
}

/* Skip what is filled. */
static void next_fill_rank(struct shuffle_op *op)
{
	while (op->fill_rank < fill_end(op) && !unfilled(op, op->fill_rank))
		op->fill_rank++;
}

/* A row that nobody can go on with. */
static void cancel_row(struct row_call *c)
{
	spin_lock_bh(&c->ssk->lock);
	shuffle_op_fail(c->op, ECANCELED);
	spin_unlock_bh(&c->ssk->lock);
}

/* Message by message, so that a partial result means something to the caller. */
static ssize_t fill_in_order(struct row_call *c)
{
	struct shuffle_op *op = c->op;
	u32 rank = op->fill_rank;
	int err = 0, last;

	while (!err && iov_iter_count(c->iter)) {
		u64 left;
		u32 n;

		while (rank < fill_end(op) && !unfilled(op, rank))
			rank++;
		if (rank == fill_end(op))
			break;
		left = unfilled(op, rank);
		n = min_t(u64, fill_bytes(op, rank), iov_iter_count(c->iter));
		err = wait_room(c, false);
		if (!err)
			err = fill_chunk(c, rank, n, c->iter);
		if (n == left)
			rank++;
	}
	last = commit_batch(c);
	err = err ?: last;
	next_fill_rank(op);
	if (err == -EFAULT && !c->done)
		cancel_row(c);
	return c->done ?: err;
}

/* All messages side by side, in the order in which they will be sent: a row
 * larger than the send buffer still keeps every receiver busy.
 */
static int fill_by_schedule(struct row_call *c, u32 from)
{
	struct shuffle_op *op = c->op;
	u32 n = op->announced;
	struct shuffle_policy_tx fill;
	struct iov_iter *iters;
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
		iov_iter_advance(c->iter, unfilled(op, i));
	}
	while (!err && (i = shuffle_policy_tx_pick(&fill)) != SHUFFLE_NONE) {
		u32 len = fill_bytes(op, i);

		err = wait_room(c, true);
		if (!err)
			err = fill_chunk(c, i, len, &iters[i]);
		fill.msg[i].next += len;
		shuffle_policy_tx_sent(&fill, i);
	}
	if (!err)
		err = commit_batch(c);
	drop_batch(c);
	op->fill_rank = n;
	if (err && err != -EPIPE)
		cancel_row(c);	/* parts of many messages are taken */
out:
	kvfree(iters);
	shuffle_free_schedule(&fill);
	return err;
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
		if (c->batch_n && op->out[rank].filled + n < op->ptx.msg[rank].len)
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

	if (op->want)
		return fill_wanted(c, row->first_rank);
	/* only writers change these, and we hold op->tx_mutex */
	for (i = op->fill_rank; i < fill_end(op); i++)
		total += unfilled(op, i);
	if (len > total)
		return -EMSGSIZE;
	if (len == total && c->timeo == MAX_SCHEDULE_TIMEOUT && !op->same)
		return fill_by_schedule(c, op->fill_rank) ?: len;
	return fill_in_order(c);
}

/* Announce what the row announces, and take its data.  op->tx_mutex held. */
static ssize_t send_row(struct row_call *c, const struct shuffle_row *row, bool created)
{
	ssize_t n = shuffle_announce(c->op, row);

	lockdep_assert_held(&c->op->tx_mutex);
	if (n) {
		if (created)
			cancel_row(c);	/* or nobody could ever announce it */
		return n;
	}
	if (!row->first_rank)
		shuffle_early_claim(c->ssk, row->op_id);
	if (row->flags & SHUFFLE_ROW_WANT)
		c->op->asks = true;
	if (c->op->asks && c->op->closed && !c->op->want) {
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
	if (c->op->merge)
		shuffle_merge_start(c->op);
	n = fill_row(c, row);
	if (c->op->reduction) {
		if (n < 0)
			cancel_row(c);
		else
			shuffle_reduction_start(c->op);
		/* it has been announced: not the error after which the call is made again */
		return n == -ENOBUFS ? -ENOMEM : n;
	}
	/* what was announced must not be announced again */
	if (row->count && (n == -EAGAIN || n == -EINTR || n == -ERESTARTSYS ||
			   n == -ENOBUFS || n == -ENOMEM))
		n = 0;
	return n;
}

/* 0, or -EAGAIN or -ERESTARTSYS: another writer works on the row. */
static int lock_row(const struct row_call *c, bool created)
{
	if (created)	/* locked since it was made */
		return 0;
	if (!c->timeo)
		return mutex_trylock(&c->op->tx_mutex) ? 0 : -EAGAIN;
	return mutex_lock_interruptible(&c->op->tx_mutex) ? -ERESTARTSYS : 0;
}

/**
 * shuffle_sendmsg() - sendmsg() on an AF_SHUFFLE socket
 * @sock: socket
 * @msg: control message SHUFFLE_CMSG_ROW, perhaps SHUFFLE_CMSG_ABSENT, and SHUFFLE_CMSG_FORWARD,
 *	SHUFFLE_CMSG_REDUCE, SHUFFLE_CMSG_MERGE or SHUFFLE_CMSG_TIMES, and data; or
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
	if ((row->flags & SHUFFLE_ROW_WANT || column.forward) && len)
		return -EINVAL;
	INIT_LIST_HEAD(&c.batch);
	c.timeo = sock_sndtimeo(sock->sk, msg->msg_flags & MSG_DONTWAIT);
	/* all or nothing, and there is room: nothing but the user's own pages is waited for */
	if (column.reduction)
		c.timeo = MAX_SCHEDULE_TIMEOUT;
	c.op = get_op(c.ssk, row, &column, len, &created);
	if (IS_ERR(c.op)) {
		if (created && column.reduction)
			release_whole(c.ssk, len);
		return PTR_ERR(c.op);
	}
	n = lock_row(&c, created);
	if (!n) {
		n = send_row(&c, row, created);
		mutex_unlock(&c.op->tx_mutex);
	}
	if (created && column.reduction)
		release_whole(c.ssk, len);
	shuffle_op_put(c.op);
out:
	if (n == -EPIPE && !(msg->msg_flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return n;
}
