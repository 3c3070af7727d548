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
 * @ssk: whose pages are filled
 * @skb: packet
 * @pf: page, or NULL
 * @to: the next byte in it
 * @room: bytes there
 */
struct layout {
	struct shuffle_sock	*ssk;
	struct sk_buff		*skb;
	struct page_frag	*pf;
	u8			*to;
	u32			room;
};

/* What has been written belongs to the packet. */
static void close_page(struct layout *l)
{
	struct page_frag *pf = l->pf;
	u32 n;

	if (!pf)
		return;
	n = pf->size - pf->offset - l->room;
	if (n) {
		get_page(pf->page);
		skb_add_rx_frag(l->skb, skb_shinfo(l->skb)->nr_frags, pf->page, pf->offset, n, n);
		pf->offset += n;
	}
	l->pf = NULL;
	l->room = 0;
}

/* Room for @n bytes at least in one piece; false: no memory, or the packet has no room. */
static bool open_page(struct layout *l, u32 n)
{
	close_page(l);
	if (skb_shinfo(l->skb)->nr_frags == MAX_SKB_FRAGS)
		return false;
	l->pf = shuffle_pages_softirq_room(l->ssk, n);
	if (!l->pf)
		return false;
	l->to = page_address(l->pf->page) + l->pf->offset;
	l->room = l->pf->size - l->pf->offset;
	return true;
}

static bool put_payload(struct layout *l, struct shuffle_reference_place *from, u32 len)
{
	u32 n;

	for (; len; len -= n) {
		if (!l->room && !open_page(l, 1))
			return false;
		n = min(len, l->room);
		shuffle_reference_read(from, l->to, n);
		l->to += n;
		l->room -= n;
	}
	return true;
}

/**
 * shuffle_layout() - lay bytes of a message out as packets
 * @op: operation
 * @chunk: by reference
 * @start: first byte of the message
 * @end: behind the last one, in @chunk
 * @flags: of the records, beside those that all of the message have
 * @skb: empty packet, to which they are added: each header, and chunk->pkt bytes; the last one may
 *	have fewer
 *
 * Context: any, ssk->lock held.
 * Return: false if there is no memory.
 */
bool shuffle_layout(const struct shuffle_op *op, const struct shuffle_chunk *chunk, u64 start,
		    u64 end, u8 flags, struct sk_buff *skb)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, chunk->rank);
	const struct shuffle_membership *group = op->group;
	struct layout l = { .ssk = op->ssk, .skb = skb };
	const u32 hdr_len = group->data_hdr;
	struct shuffle_reference_place from;
	struct shuffle_data_tag tag = {};
	u8 hdr[SHUFFLE_WIRE_MAX_HDR];
	bool ok = true;
	u32 n;

	w.flags |= flags;
	if (group->keyed)
		shuffle_data_tag_init(&tag, &group->key, &w);
	shuffle_wire_build(hdr, &w);
	shuffle_reference_seek(&from, chunk, start - chunk->off);
	for (; ok && start < end; start += n) {
		n = min_t(u64, end - start, chunk->pkt);
		ok = l.room >= hdr_len || open_page(&l, hdr_len);
		if (!ok)
			break;
		shuffle_wire_place(hdr, start, n);
		/* a length that the compiler knows: no call for each record */
		memcpy(l.to, hdr, SHUFFLE_WIRE_DATA_HDR);
		if (group->keyed)
			shuffle_put64(l.to + SHUFFLE_WIRE_DATA_HDR,
				      shuffle_data_tag(&tag, start, n));
		l.to += hdr_len;
		l.room -= hdr_len;
		ok = put_payload(&l, &from, n);
	}
	close_page(&l);
	return ok;
}
