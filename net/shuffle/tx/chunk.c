// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks that are made in softirq: of a message that goes on while it comes, forward.c.
 * All under ssk->lock.
 */
#include <linux/slab.h>

#include "../shuffle.h"

/* Pages for a chunk's wire layout.  False: no memory. */
static bool alloc_pages_of(struct shuffle_chunk *chunk, u32 wire)
{
	struct page_frag *f;

	for (; wire; wire -= f->size) {
		f = &chunk->frag[chunk->nr_frags];
		f->page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
		if (!f->page)
			return false;
		f->offset = 0;
		f->size = min_t(u32, wire, PAGE_SIZE);
		chunk->nr_frags++;
	}
	return true;
}

/**
 * shuffle_chunk_make() - room for the next bytes of a message that are not a user's
 * @op: operation
 * @rank: message, or shuffle_group_all()
 * @off: its first byte
 * @len: bytes
 * @pkt: payload bytes of a packet
 *
 * Return: the chunk, whose pages are to be filled: header, payload, header ...; NULL: no memory.
 */
struct shuffle_chunk *shuffle_chunk_make(const struct shuffle_op *op, u32 rank, u64 off, u32 len,
					 u32 pkt)
{
	u32 wire = len + DIV_ROUND_UP(len, pkt) * op->group->data_hdr;
	u32 frags = DIV_ROUND_UP(wire, PAGE_SIZE);
	struct shuffle_chunk *chunk;

	lockdep_assert_held(&op->ssk->lock);
	chunk = kmalloc(struct_size(chunk, frag, frags), GFP_ATOMIC | __GFP_NOWARN);
	if (!chunk)
		return NULL;
	chunk->off = off;
	chunk->len = len;
	chunk->rank = rank;
	chunk->pkt = pkt;
	chunk->truesize = struct_size(chunk, frag, frags) + frags * PAGE_SIZE;
	chunk->kind = SHUFFLE_CHUNK_PACKETS;
	chunk->max_frags = frags;
	chunk->nr_frags = 0;
	if (!alloc_pages_of(chunk, wire)) {
		shuffle_msg_out_free_chunk(chunk);
		return NULL;
	}
	return chunk;
}

/**
 * shuffle_chunk_fill() - copy to a place in a chunk's pages
 * @chunk: from shuffle_chunk_make()
 * @at: first byte in its wire layout
 * @from: bytes
 * @len: their number
 */
void shuffle_chunk_fill(struct shuffle_chunk *chunk, u32 at, const void *from, u32 len)
{
	u32 n;

	for (; len; from += n, at += n, len -= n) {
		n = min_t(u32, len, PAGE_SIZE - at % PAGE_SIZE);
		memcpy(page_address(chunk->frag[at / PAGE_SIZE].page) + at % PAGE_SIZE, from, n);
	}
}

/**
 * shuffle_chunk_charge() - the socket pays for a chunk
 * @op: operation
 * @chunk: from shuffle_chunk_make(); freed if there is no memory
 *
 * Return: false if there is none.
 */
bool shuffle_chunk_charge(struct shuffle_op *op, struct shuffle_chunk *chunk)
{
	struct sock *sk = &op->ssk->sk;

	lockdep_assert_held(&op->ssk->lock);
	if (!sk_wmem_schedule(sk, chunk->truesize)) {
		shuffle_msg_out_free_chunk(chunk);
		return false;
	}
	sk_mem_charge(sk, chunk->truesize);
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + (int)chunk->truesize);
	return true;
}

/**
 * shuffle_chunk_room() - may another chunk of a message be made?
 * @op: operation
 * @rank: message, or shuffle_group_all()
 *
 * One chunk of each operation has room always: members may begin operations in different orders,
 * and what one of them waits for would hold up what another one waits for.
 */
bool shuffle_chunk_room(const struct shuffle_op *op, u32 rank)
{
	const struct sock *sk = &op->ssk->sk;

	lockdep_assert_held(&op->ssk->lock);
	return READ_ONCE(sk->sk_wmem_queued) < shuffle_sock_sndbuf(sk) ||
	       RB_EMPTY_ROOT(&op->out[rank].chunks);
}
