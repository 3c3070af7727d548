/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading through a super-packet's pages from front to back, without a search from
 * the first page for each of its records.
 */
#ifndef _SHUFFLE_FRAGS_H
#define _SHUFFLE_FRAGS_H

#include <linux/highmem.h>
#include <linux/skbuff.h>

/**
 * struct shuffle_frags - where the last byte was found
 * @skb: packet
 * @start: offset of frag @i in it
 * @i: number of the frag
 */
struct shuffle_frags {
	const struct sk_buff	*skb;
	u32			start;
	u32			i;
};

static inline void shuffle_frags_init(struct shuffle_frags *c, const struct sk_buff *skb)
{
	c->skb = skb;
	c->start = skb_headlen(skb);
	c->i = 0;
}

/**
 * shuffle_frags_find() - the frag that holds a byte
 * @c: cursor; cheap if the byte is in the same frag as the last one, or the next
 * @off: offset of the byte in the packet
 * @len: result: bytes from there to the end of the frag
 *
 * Return: the frag, with the byte at @off - @c->start in it; NULL if the byte is in
 * none: it is in front of them, or in a packet of the frag_list, or not there.
 */
static inline const skb_frag_t *shuffle_frags_find(struct shuffle_frags *c, u32 off, u32 *len)
{
	const struct skb_shared_info *info = skb_shinfo(c->skb);

	if (off < c->start)
		shuffle_frags_init(c, c->skb);
	for (; off >= c->start && c->i < info->nr_frags; c->i++) {
		const skb_frag_t *frag = &info->frags[c->i];
		u32 size = skb_frag_size(frag);

		if (off - c->start < size) {
			*len = c->start + size - off;
			return frag;
		}
		c->start += size;
	}
	return NULL;
}

/**
 * shuffle_frags_read() - a few bytes of a packet
 * @c: cursor
 * @off: their offset in the packet
 * @len: their number
 * @buf: room for them
 *
 * Return: where they are, which need not be @buf; NULL if the packet has fewer.
 */
static inline const u8 *shuffle_frags_read(struct shuffle_frags *c, u32 off, u32 len, u8 *buf)
{
	const skb_frag_t *frag;
	u32 there;

	frag = shuffle_frags_find(c, off, &there);
	if (frag && there >= len && !PageHighMem(skb_frag_page(frag)))
		return (u8 *)skb_frag_address(frag) + (off - c->start);
	return skb_header_pointer(c->skb, off, len, buf);
}

#endif /* _SHUFFLE_FRAGS_H */
