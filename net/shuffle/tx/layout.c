// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of data that a user has handed over by reference: their headers, and copies of the
 * payload, in pages.  The user's pages are no part of a packet: a packet to the same machine would
 * have to be copied then (skb_orphan_frags_rx()), and at 17 parts a packet a super-packet would
 * carry 10 KB instead of 60 at MTU 1500.
 */
#include "../shuffle.h"

/**
 * struct layout - where the next bytes go
 * @pf: page
 * @skb: its last part is in that page, or it has none yet
 */
struct layout {
	struct page_frag	*pf;
	struct sk_buff		*skb;
};

/* Room for @n bytes in one piece, in the packet; NULL: no memory, or the packet has no room. */
static void *put(struct layout *l, u32 n)
{
	struct skb_shared_info *info = skb_shinfo(l->skb);
	struct page_frag *pf = l->pf;
	int i = info->nr_frags;
	void *to;

	to = page_address(pf->page) + pf->offset;
	if (skb_can_coalesce(l->skb, i, pf->page, pf->offset)) {
		skb_coalesce_rx_frag(l->skb, i - 1, n, n);
	} else if (i < MAX_SKB_FRAGS) {
		get_page(pf->page);
		skb_add_rx_frag(l->skb, i, pf->page, pf->offset, n, n);
	} else {
		return NULL;
	}
	pf->offset += n;
	return to;
}

static bool more_room(struct layout *l, u32 n)
{
	return skb_page_frag_refill(n, l->pf, GFP_ATOMIC | __GFP_NOWARN);
}

static bool put_payload(struct layout *l, const struct shuffle_chunk *chunk, u32 off, u32 len)
{
	u32 n;
	void *to;

	for (; len; off += n, len -= n) {
		if (!more_room(l, 1))
			return false;
		n = min(len, l->pf->size - l->pf->offset);
		to = put(l, n);
		if (!to)
			return false;
		shuffle_reference_copy(chunk, off, to, n);
	}
	return true;
}

/**
 * shuffle_layout() - lay bytes of a message out as packets
 * @sn: namespace
 * @op: operation
 * @chunk: by reference
 * @start: first byte of the message
 * @end: behind the last one, in @chunk
 * @flags: of the records, beside those that all of the message have
 * @skb: empty packet, to which they are added: each header, and chunk->pkt bytes; the last one may
 *	have fewer
 *
 * Context: softirq, the namespace's egress only; ssk->lock held.
 * Return: false if there is no memory.
 */
bool shuffle_layout(struct shuffle_net *sn, const struct shuffle_op *op,
		    const struct shuffle_chunk *chunk, u64 start, u64 end, u8 flags,
		    struct sk_buff *skb)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, chunk->rank);
	const struct shuffle_membership *group = op->group;
	struct layout l = { .pf = &sn->egress_page, .skb = skb };
	struct shuffle_data_tag tag = {};
	u8 hdr[SHUFFLE_WIRE_MAX_HDR];
	u8 *to;
	u32 n;

	w.flags |= flags;
	if (group->keyed)
		shuffle_data_tag_init(&tag, &group->key, &w);
	shuffle_wire_build(hdr, &w);
	for (; start < end; start += n) {
		n = min_t(u64, end - start, chunk->pkt);
		to = more_room(&l, group->data_hdr) ? put(&l, group->data_hdr) : NULL;
		if (!to)
			return false;
		shuffle_wire_place(hdr, start, n);
		memcpy(to, hdr, SHUFFLE_WIRE_DATA_HDR);
		if (group->keyed)
			shuffle_put64(to + SHUFFLE_WIRE_DATA_HDR,
				      shuffle_data_tag(&tag, start, n));
		if (!put_payload(&l, chunk, start - chunk->off, n))
			return false;
	}
	return true;
}
