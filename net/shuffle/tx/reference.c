// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows by reference (SHUFFLE_ROW_REFERENCE): sendmsg() takes hold of the user's pages and copies
 * nothing.  What a packet carries is copied when the schedule has chosen it, so nothing waits for
 * room in the send buffer, and the order is the schedule's however the program waits.
 *
 * Life: made by sendmsg(), which hands it to its operation (op->references).  Each of its chunks
 * counts.  When receivers have all of them, a RELEASED record is put in front of the reader;
 * recvmsg() gives the pages back when it returns the record.  What is left then goes with the
 * operation.  So pages are given back in process context only: there may be many.
 *
 * The pages are pinned, for as long as peers like, and count against RLIMIT_MEMLOCK.  The user may
 * write to them, unmap them, truncate their file: packets carry what stands there when they are
 * copied, and nothing but payload is read from there.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../shuffle.h"
#include "../user_run.h"

/* pages that are pinned or given back between two chances for others to run */
#define SHUFFLE_REFERENCE_PAGES	512

/**
 * struct shuffle_reference_run - what lies in one piece of the user's buffers
 * @at: its first byte, counted over all pieces
 * @page: where that is: index of the page
 * @offset: and byte in the page
 */
struct shuffle_reference_run {
	u64	at;
	u32	page;
	u32	offset;
};

/**
 * struct shuffle_reference - the data of one sendmsg(), in the user's pages
 * @node: in op->references
 * @ready: in ssk->notices once it may be released
 * @mmp: who it is accounted to
 * @row_off: its first byte in the row
 * @len: bytes
 * @chunks: those that have not been freed
 * @pages: pinned
 * @nr_pages: their number
 * @nr_runs: number of @run
 * @run: pieces, in order
 */
struct shuffle_reference {
	struct list_head	node;
	struct shuffle_ready	ready;
	struct mmpin		mmp;
	u64			row_off;
	u64			len;
	u32			chunks;
	struct page		**pages;
	u32			nr_pages;
	u32			nr_runs;
	struct shuffle_reference_run run[];
};

static u32 pages_of(const void __user *at, size_t len)
{
	return DIV_ROUND_UP(offset_in_page(at) + len, PAGE_SIZE);
}

/* The next piece that has bytes, which becomes *run.  0 or -EFAULT. */
static int next_run(struct shuffle_user_run *run, struct iov_iter *iter)
{
	shuffle_user_run_init(run, iter);
	/* what is empty is skipped */
	iov_iter_advance(iter, 0);
	shuffle_user_run_find(run);
	return run->left ? 0 : -EFAULT;
}

/* How many pieces there are, and how many pages they lie in. */
static int count_runs(const struct iov_iter *iter, u32 *runs, u32 *pages)
{
	struct iov_iter i = *iter;
	struct shuffle_user_run run;
	int err;

	*runs = 0;
	*pages = 0;
	while (iov_iter_count(&i)) {
		err = next_run(&run, &i);
		if (err)
			return err;
		++*runs;
		*pages += pages_of(run.at, run.left);
		iov_iter_advance(&i, run.left);
	}
	return 0;
}

/* Pin @n pages from @at on. */
static int pin_run(struct shuffle_reference *ref, const void __user *at, u32 n)
{
	unsigned long addr = (unsigned long)at & PAGE_MASK;
	int got;

	while (n) {
		got = pin_user_pages_fast(addr, min_t(u32, n, SHUFFLE_REFERENCE_PAGES),
					  FOLL_LONGTERM, ref->pages + ref->nr_pages);
		if (got <= 0)
			return got ?: -EFAULT;
		ref->nr_pages += got;
		addr += (unsigned long)got * PAGE_SIZE;
		n -= got;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int pin_runs(struct shuffle_reference *ref, const struct iov_iter *iter)
{
	struct iov_iter i = *iter;
	struct shuffle_user_run run;
	int err;

	while (iov_iter_count(&i)) {
		err = next_run(&run, &i);
		if (err)
			return err;
		ref->run[ref->nr_runs++] = (struct shuffle_reference_run) {
			.at = ref->len,
			.page = ref->nr_pages,
			.offset = offset_in_page(run.at),
		};
		err = pin_run(ref, run.at, pages_of(run.at, run.left));
		if (err)
			return err;
		ref->len += run.left;
		iov_iter_advance(&i, run.left);
	}
	return 0;
}

/**
 * shuffle_reference_free() - give the pages back
 * @ref: reference that no chunk and no list has any more, or NULL
 *
 * Context: process, may sleep.
 */
void shuffle_reference_free(struct shuffle_reference *ref)
{
	u32 i, n;

	if (!ref)
		return;
	for (i = 0; i < ref->nr_pages; i += n) {
		n = min_t(u32, ref->nr_pages - i, SHUFFLE_REFERENCE_PAGES);
		unpin_user_pages(ref->pages + i, n);
		cond_resched();
	}
	mm_unaccount_pinned_pages(&ref->mmp);
	kvfree(ref->pages);
	kvfree(ref);
}

/**
 * shuffle_reference_pin() - take hold of a user's data
 * @iter: the data; stays where it stands
 *
 * Context: process, may sleep.
 * Return: the reference, which is the caller's, or an ERR_PTR: -EFAULT (not all of it is memory
 * that can be pinned), -ENOBUFS (RLIMIT_MEMLOCK), -ENOMEM, -EINTR (killed), -EOPNOTSUPP (not a
 * program's memory).
 */
struct shuffle_reference *shuffle_reference_pin(const struct iov_iter *iter)
{
	struct shuffle_reference *ref;
	u32 runs, pages;
	int err;

	if (!iter_is_ubuf(iter) && !iter_is_iovec(iter))
		return ERR_PTR(-EOPNOTSUPP);
	err = count_runs(iter, &runs, &pages);
	if (err)
		return ERR_PTR(err);
	ref = kvzalloc(struct_size(ref, run, runs), GFP_KERNEL_ACCOUNT);
	if (!ref)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&ref->node);
	INIT_LIST_HEAD(&ref->ready.node);
	ref->ready.rank = SHUFFLE_REFERENCE;
	err = mm_account_pinned_pages(&ref->mmp, (size_t)pages << PAGE_SHIFT);
	if (err)
		goto fail;
	ref->pages = kvmalloc_array(pages, sizeof(*ref->pages), GFP_KERNEL_ACCOUNT);
	if (!ref->pages) {
		err = -ENOMEM;
		goto fail;
	}
	err = pin_runs(ref, iter);
	if (err)
		goto fail;
	return ref;
fail:
	shuffle_reference_free(ref);
	return ERR_PTR(err);
}

static struct shuffle_chunk *new_chunk(struct shuffle_reference *ref, u64 at)
{
	struct shuffle_chunk *chunk = kmalloc(struct_size(chunk, from, 1), GFP_KERNEL_ACCOUNT);

	if (!chunk)
		return NULL;
	chunk->kind = SHUFFLE_CHUNK_REFERENCE;
	chunk->truesize = struct_size(chunk, from, 1);
	chunk->from->ref = ref;
	chunk->from->at = at;
	ref->chunks++;
	return chunk;
}

/* Cut the data into the next messages of the row.  0 or -ENOMEM. */
static int make_chunks(struct shuffle_op *op, struct shuffle_reference *ref,
		       struct list_head *chunks)
{
	struct shuffle_chunk *chunk;
	u32 rank = op->fill_rank;
	u64 at = 0, off, len;

	for (; at < ref->len; rank++) {
		len = op->ptx.msg[rank].len;
		for (off = op->out[rank].filled; at < ref->len && off < len; off += chunk->len) {
			chunk = new_chunk(ref, at);
			if (!chunk)
				return -ENOMEM;
			chunk->off = off;
			chunk->len = min3(ref->len - at, len - off, (u64)SZ_1G);
			chunk->rank = rank;
			chunk->pkt = SHUFFLE_MIN_PAYLOAD;	/* nothing has been sent */
			list_add_tail(&chunk->node, chunks);
			at += chunk->len;
		}
		cond_resched();
	}
	return 0;
}

/* Hand some chunks over to their messages.  ssk->lock held. */
static int append_slice(struct shuffle_op *op, struct list_head *chunks)
{
	struct sock *sk = &op->ssk->sk;
	struct shuffle_chunk *chunk;
	u32 i;

	for (i = 0; i < SHUFFLE_SLICE && !list_empty(chunks); i++) {
		chunk = list_first_entry(chunks, struct shuffle_chunk, node);
		if (op->ended)
			return -EPIPE;
		if (!sk_wmem_schedule(sk, chunk->truesize))
			return -ENOBUFS;
		sk_mem_charge(sk, chunk->truesize);
		WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + (int)chunk->truesize);
		list_del(&chunk->node);
		shuffle_msg_out_append(op, chunk);
	}
	shuffle_egress_kick(op);
	return 0;
}

/* The first byte that comes next in the row. */
static u64 row_offset(const struct shuffle_op *op)
{
	u64 off = op->fill_rank < op->announced ? op->out[op->fill_rank].filled : 0;
	u32 i;

	for (i = 0; i < op->fill_rank; i++)
		off += op->ptx.msg[i].len;
	return off;
}

/**
 * shuffle_reference_row() - the next part of a row is sent by reference
 * @op: operation whose row has not more data than it announces
 * @ref: the data; the operation's from now on
 *
 * Context: process, may sleep, op->tx_mutex held.
 * Return: 0; or -EPIPE (the operation has ended), -ENOMEM, -ENOBUFS (no memory): parts of it may
 * have been taken.
 */
int shuffle_reference_row(struct shuffle_op *op, struct shuffle_reference *ref)
{
	struct shuffle_chunk *chunk, *tmp;
	bool dropped = false;
	LIST_HEAD(chunks);
	int err;

	ref->ready.op = op;
	ref->row_off = row_offset(op);
	err = make_chunks(op, ref, &chunks);
	spin_lock_bh(&op->ssk->lock);
	list_add_tail(&ref->node, &op->references);
	while (!err && !list_empty(&chunks)) {
		err = append_slice(op, &chunks);
		spin_unlock_bh(&op->ssk->lock);
		if (err == -ENOBUFS && !dropped) {
			/* pages that the socket only keeps go first */
			shuffle_pages_drop(op->ssk);
			dropped = true;
			err = 0;
		}
		cond_resched();
		spin_lock_bh(&op->ssk->lock);
	}
	spin_unlock_bh(&op->ssk->lock);
	list_for_each_entry_safe(chunk, tmp, &chunks, node)
		shuffle_msg_out_free_chunk(chunk);
	return err;
}

/**
 * shuffle_reference_put_chunk() - a chunk will not be sent any more
 * @chunk: chunk by reference, of a message; to be freed
 *
 * Context: any, ssk->lock held.
 */
void shuffle_reference_put_chunk(struct shuffle_chunk *chunk)
{
	struct shuffle_reference *ref = chunk->from->ref;
	struct shuffle_op *op = ref->ready.op;
	struct sock *sk = &op->ssk->sk;

	/* the end of a failed operation releases all */
	if (--ref->chunks || op->error)
		return;
	list_add_tail(&ref->ready.node, &op->ssk->notices);
	sk->sk_data_ready(sk);
}

/**
 * shuffle_reference_released() - recvmsg() tells the user
 * @ready: of a reference, in ssk->notices
 * @rec: record to be filled in
 *
 * Context: process, ssk->lock held.
 * Return: the reference, to be freed without the lock.
 */
struct shuffle_reference *shuffle_reference_released(struct shuffle_ready *ready,
						     struct shuffle_record *rec)
{
	struct shuffle_reference *ref = container_of(ready, struct shuffle_reference, ready);

	*rec = (struct shuffle_record) {
		.op_id = ready->op->id,
		.type = SHUFFLE_RECORD_RELEASED,
		.offset = ref->row_off,
		.msg_len = ref->len,
	};
	list_del_init(&ready->node);
	list_del_init(&ref->node);
	return ref;
}

/**
 * shuffle_reference_waits() - is a release of this operation in front of the reader?
 * @op: operation whose row is complete
 *
 * Context: process, without ssk->lock; the caller is the reader, who alone takes them out.
 * Return: true if it is, of the data that was handed over first and has not been released.
 */
bool shuffle_reference_waits(struct shuffle_op *op)
{
	const struct shuffle_reference *ref;
	bool waits;

	spin_lock_bh(&op->ssk->lock);
	ref = list_first_entry_or_null(&op->references, struct shuffle_reference, node);
	waits = ref && !list_empty(&ref->ready.node);
	spin_unlock_bh(&op->ssk->lock);
	return waits;
}

/**
 * shuffle_reference_unqueue() - nothing is put in front of the reader any more
 * @op: operation that is taken out; its chunks have been freed
 *
 * A user may have handed over a row byte by byte: the lock is free between slices.
 *
 * Context: process, may sleep, without ssk->lock; nobody else takes references out.
 */
void shuffle_reference_unqueue(struct shuffle_op *op)
{
	struct shuffle_reference *ref;
	LIST_HEAD(done);
	u32 i;

	while (!list_empty(&op->references)) {
		spin_lock_bh(&op->ssk->lock);
		for (i = 0; i < SHUFFLE_SLICE && !list_empty(&op->references); i++) {
			ref = list_first_entry(&op->references, struct shuffle_reference, node);
			list_del_init(&ref->ready.node);
			list_move_tail(&ref->node, &done);
		}
		spin_unlock_bh(&op->ssk->lock);
		cond_resched();
	}
	list_splice(&done, &op->references);
}

/**
 * shuffle_reference_free_all() - give back what an operation still holds
 * @op: operation that nobody else has any more
 *
 * Context: process, may sleep.
 */
void shuffle_reference_free_all(struct shuffle_op *op)
{
	struct shuffle_reference *ref, *tmp;

	list_for_each_entry_safe(ref, tmp, &op->references, node)
		shuffle_reference_free(ref);
}

/* Behind the last byte of a piece. */
static u64 run_end(const struct shuffle_reference *ref, u32 run)
{
	return run + 1 < ref->nr_runs ? ref->run[run + 1].at : ref->len;
}

/* The piece that a byte lies in. */
static const struct shuffle_reference_run *find_run(const struct shuffle_reference *ref, u64 at)
{
	u32 low = 0, high = ref->nr_runs, mid;

	while (high - low > 1) {
		mid = (low + high) / 2;
		if (ref->run[mid].at <= at)
			low = mid;
		else
			high = mid;
	}
	return &ref->run[low];
}

/**
 * shuffle_reference_seek() - a place in the user's data
 * @place: becomes that
 * @chunk: chunk by reference
 * @off: byte of the chunk's payload
 *
 * Context: any, ssk->lock held.
 */
void shuffle_reference_seek(struct shuffle_reference_place *place,
			    const struct shuffle_chunk *chunk, u32 off)
{
	const struct shuffle_reference *ref = chunk->from->ref;
	u64 at = chunk->from->at + off, in_run;
	const struct shuffle_reference_run *run = find_run(ref, at);

	in_run = run->offset + (at - run->at);
	place->ref = ref;
	place->run = run - ref->run;
	place->page = run->page + (u32)(in_run >> PAGE_SHIFT);
	place->offset = offset_in_page(in_run);
	place->left = run_end(ref, place->run) - at;
}

/**
 * shuffle_reference_read() - copy the user's data
 * @place: where from; goes on behind what has been copied
 * @to: where to
 * @len: bytes, no more than the chunk has from there on
 *
 * Context: any, ssk->lock held.
 */
void shuffle_reference_read(struct shuffle_reference_place *place, void *to, u32 len)
{
	const struct shuffle_reference *ref = place->ref;
	u32 n;

	for (; len; to += n, len -= n) {
		if (!place->left) {
			place->run++;
			place->page = ref->run[place->run].page;
			place->offset = ref->run[place->run].offset;
			place->left = run_end(ref, place->run) - ref->run[place->run].at;
		}
		n = min3(len, (u32)PAGE_SIZE - place->offset,
			 (u32)min_t(u64, place->left, PAGE_SIZE));
		memcpy_from_page(to, ref->pages[place->page], place->offset, n);
		place->left -= n;
		place->offset += n;
		if (place->offset == PAGE_SIZE) {
			place->offset = 0;
			place->page++;
		}
	}
}

/**
 * shuffle_reference_copy() - copy payload for a packet
 * @chunk: chunk by reference
 * @off: first byte of the chunk's payload
 * @to: where to
 * @len: bytes
 *
 * Context: any, ssk->lock held.
 */
void shuffle_reference_copy(const struct shuffle_chunk *chunk, u32 off, void *to, u32 len)
{
	struct shuffle_reference_place place;

	shuffle_reference_seek(&place, chunk, off);
	shuffle_reference_read(&place, to, len);
}
