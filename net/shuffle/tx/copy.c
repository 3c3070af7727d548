// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the user into chunks: payload in pages in wire layout, header by header, or a few bytes in
 * the chunk itself.  ssk->pages.lock guards the page that is being filled.
 */
#include <linux/slab.h>
#include <net/dst.h>

#include "../config.h"
#include "../group.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/portable.h"
#include "../sched/tag.h"
#include "../sched/unit.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../user_run.h"
#include "copy.h"
#include "msg_out.h"
#include "pages.h"
#include "route.h"

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

/**
 * struct layout - a chunk that is being laid out as packets: header, payload, header ...
 * @chunk: the chunk
 * @page: where its next bytes go
 * @run: where they come from
 * @tag: makes the tags of a group with a key
 * @keyed: the group has a key
 * @hdr_len: bytes of a header, with its tag
 * @hdr: header of a record of the message
 */
struct layout {
	struct shuffle_chunk	*chunk;
	struct row_page		page;
	struct shuffle_user_run	run;
	struct shuffle_data_tag	tag;
	bool			keyed;
	u32			hdr_len;
	u8			hdr[SHUFFLE_WIRE_MAX_HDR];
};

/* Full packets that the page has room for, and whose payload lies in one piece of the user's
 * memory.  @left: bytes of the chunk that have yet to come.
 */
static u32 full_packets(const struct layout *l, u32 left)
{
	const u32 pkt = l->chunk->pkt;

	if (left < pkt || l->run.left < pkt || l->page.room < pkt + l->hdr_len)
		return 0;
	left = min_t(size_t, l->run.left, left);
	return min(left / pkt, l->page.room / (pkt + l->hdr_len));
}

/* Most of a chunk are these: nothing is looked at for each but the copy's result.  @off: offset of
 * the first one in the message.
 */
static bool lay_full_packets(struct layout *l, u64 off, u32 n)
{
	const u32 pkt = l->chunk->pkt;
	u64 place, tag, step;
	u8 *to = l->page.to;
	size_t at = 0;

	shuffle_wire_place(l->hdr, off, pkt);
	place = shuffle_wire_place_of(l->hdr);
	tag = shuffle_data_tag(&l->tag, off, pkt);
	step = shuffle_data_tag_step(&l->tag, pkt);
	for (; n; n--) {
		shuffle_wire_copy(to, l->hdr, place);
		if (l->keyed)
			shuffle_put64(to + SHUFFLE_WIRE_DATA_HDR, tag);
		to += l->hdr_len;
		if (!shuffle_user_run_piece_from(&l->run, at, to, pkt))
			return false;
		to += pkt;
		at += pkt;
		place += pkt;
		tag += step;
	}
	shuffle_user_run_advance(&l->run, at);
	l->page.room -= to - l->page.to;
	l->page.to = to;
	return true;
}

/* One packet, which may begin in a page and end in the next.  pages.lock held. */
static int lay_packet(struct shuffle_op *op, struct layout *l, u32 rank, u64 off, u32 len)
{
	struct row_page *page = &l->page;
	struct shuffle_wire w;
	int err;
	u32 n;

	if (page->room < l->hdr_len) {
		err = open_page(op->ssk, l->chunk, page);
		if (err)
			return err;
	}
	if (unlikely(op->digest) && !off) {
		w = shuffle_msg_out_wire(op, rank);
		shuffle_msg_out_place(op, &w, 0, len);
		shuffle_group_tag(op->group, &w);
		shuffle_wire_build(page->to, &w);
	} else {
		shuffle_wire_place(l->hdr, off, len);
		memcpy(page->to, l->hdr, SHUFFLE_WIRE_DATA_HDR);
		if (l->keyed)
			shuffle_put64(page->to + SHUFFLE_WIRE_DATA_HDR,
				      shuffle_data_tag(&l->tag, off, len));
	}
	page->to += l->hdr_len;
	page->room -= l->hdr_len;
	for (; len; len -= n) {
		if (!page->room) {
			err = open_page(op->ssk, l->chunk, page);
			if (err)
				return err;
		}
		n = min(len, page->room);
		if (!shuffle_user_run_from(&l->run, page->to, n))
			return -EFAULT;
		page->to += n;
		page->room -= n;
	}
	return 0;
}

/* Lay a message's next bytes out as packets.  The headers differ in little, so they are copies of
 * one.  pages.lock held.
 */
static int fill_layout(struct shuffle_op *op, struct shuffle_chunk *chunk, u32 rank,
		       struct iov_iter *iter)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, rank);
	struct layout l = {
		.chunk = chunk,
		.keyed = op->group->keyed,
		.hdr_len = op->group->data_hdr,
	};
	u32 done, len, n;
	int err;

	lockdep_assert_held(&op->ssk->pages.lock);
	if (l.keyed)
		shuffle_data_tag_init(&l.tag, &op->group->key, &w);
	shuffle_wire_build(l.hdr, &w);
	shuffle_user_run_init(&l.run, iter);
	for (done = 0; done < chunk->len; done += len) {
		/* none of the first packet: no page is open */
		n = full_packets(&l, chunk->len - done);
		if (n) {
			len = n * chunk->pkt;
			err = lay_full_packets(&l, chunk->off + done, n) ? 0 : -EFAULT;
		} else {
			len = min(chunk->len - done, chunk->pkt);
			err = lay_packet(op, &l, rank, chunk->off + done, len);
		}
		if (err)
			return err;
	}
	close_page(op->ssk, chunk, &l.page);
	shuffle_user_run_end(&l.run);
	return 0;
}

/* Room that a small chunk is made with.  The bytes of a message that is written in small
 * parts go behind one another (shuffle_msg_out_append()); with a chunk for each part the
 * message would cost a hundred times its bytes.
 */
static u32 bytes_room(struct shuffle_op *op, u32 rank, u64 off, u32 len)
{
	struct shuffle_chunk *last;
	bool fits;

	if (off) {
		spin_lock_bh(&op->ssk->lock);
		last = shuffle_msg_out_last(&op->tx.msg[rank]);
		fits = last && last->kind == SHUFFLE_CHUNK_BYTES && len <= last->pkt - last->len;
		spin_unlock_bh(&op->ssk->lock);
		if (fits)
			return len;
	}
	return min_t(u64, op->tx.sched.msg[rank].len - off, max_t(u32, len, SHUFFLE_APPEND_BYTES));
}

/* A few bytes: no pages. */
static struct shuffle_chunk *small_chunk(struct shuffle_op *op, u32 rank, u64 off, u32 len,
					 struct iov_iter *iter)
{
	u32 room = bytes_room(op, rank, off, len);
	struct shuffle_chunk *chunk;

	chunk = kmalloc(struct_size(chunk, bytes, room), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->kind = SHUFFLE_CHUNK_BYTES;
	chunk->pkt = room;
	chunk->truesize = struct_size(chunk, bytes, room);
	chunk->off = off;
	chunk->len = len;
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

static struct shuffle_chunk *paged_chunk(struct shuffle_op *op, u32 rank, u64 off, u32 len,
					 struct iov_iter *iter, long timeo)
{
	struct shuffle_net *sn = op->ssk->sn;
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_chunk *chunk;
	struct dst_entry *dst;
	u32 pkt, frags;
	int err;

	spin_lock_bh(&ssk->lock);
	dst = shuffle_route(sn, ssk, op->group, rank);
	pkt = shuffle_route_payload(op->dev, op->group, rank, dst);
	dst_release(dst);
	spin_unlock_bh(&ssk->lock);
	/* The path may carry less than when the operation began: of its packets more would not fit
	 * the chunk where memory comes page by page.
	 */
	len = min(len, shuffle_chunk_payload(pkt));
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
	if (!timeo)
		err = mutex_trylock(&ssk->pages.lock) ? 0 : -EAGAIN;
	else
		err = mutex_lock_interruptible(&ssk->pages.lock) ? sock_intr_errno(timeo) : 0;
	if (!err) {
		err = fill_layout(op, chunk, rank, iter);
		mutex_unlock(&ssk->pages.lock);
	}
	if (err) {
		shuffle_msg_out_free_chunk(chunk);
		return ERR_PTR(err);
	}
	return chunk;
}

/**
 * shuffle_copy_chunk() - copy the next bytes of a message from the user
 * @op: operation
 * @rank: the message
 * @len: bytes, no more than a super-packet may have; there is room for them in the send buffer
 * @iter: the user's data
 * @timeo: jiffies that another thread's copy may be waited for
 *
 * Context: process, may sleep, op->fill.mutex held.
 * Return: a chunk on no list, charged to nobody, with chunk->len bytes, which may be fewer; or
 * ERR_PTR: -ENOMEM, -EFAULT, -EAGAIN (another thread copies, and @timeo is 0), or what
 * sock_intr_errno() says of a signal.
 */
struct shuffle_chunk *shuffle_copy_chunk(struct shuffle_op *op, u32 rank, u32 len,
					 struct iov_iter *iter, long timeo)
{
	u64 off = op->tx.msg[rank].filled;
	struct shuffle_chunk *chunk;

	if (len <= SHUFFLE_INLINE_MAX)
		chunk = small_chunk(op, rank, off, len, iter);
	else
		chunk = paged_chunk(op, rank, off, len, iter, timeo);
	if (!IS_ERR(chunk))
		chunk->rank = rank;
	return chunk;
}
