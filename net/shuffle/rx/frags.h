/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading through a super-packet from front to back, without a search from the first
 * page for each of its records.
 */
#ifndef _SHUFFLE_FRAGS_H
#define _SHUFFLE_FRAGS_H

#include <linux/skbuff.h>

/**
 * struct shuffle_frags - the part of a packet that was read last
 * @skb: packet
 * @addr: first byte of the part: what is linear, or a page
 * @start: offset of that byte in the packet
 * @size: readable bytes at @addr; 0 if the page has no address
 * @next: offset of the part behind it
 * @i: number of that part's frag
 */
struct shuffle_frags {
	const struct sk_buff	*skb;
	const u8		*addr;
	u32			start;
	u32			size;
	u32			next;
	u32			i;
};

static inline void shuffle_frags_init(struct shuffle_frags *c, const struct sk_buff *skb)
{
	c->skb = skb;
	c->addr = skb->data;
	c->start = 0;
	c->size = skb_headlen(skb);
	c->next = c->size;
	c->i = 0;
}

static inline bool shuffle_frags_here(const struct shuffle_frags *c, u32 off, u32 len)
{
	/* in front of @start it wraps */
	return off - c->start < c->size && len <= c->size - (off - c->start);
}

bool shuffle_frags_seek(struct shuffle_frags *c, u32 off);

static inline bool shuffle_frags_reach(struct shuffle_frags *c, u32 off, u32 len)
{
	return shuffle_frags_here(c, off, len) ||
	       (shuffle_frags_seek(c, off) && shuffle_frags_here(c, off, len));
}

/**
 * shuffle_frags_at() - bytes of a packet, where they are
 * @c: cursor; cheap if they are in the part read last, or in the next
 * @off: their offset in the packet
 * @len: their number, not 0
 *
 * Return: their address; NULL if they are not all in one part, or have none.
 */
static inline const u8 *shuffle_frags_at(struct shuffle_frags *c, u32 off, u32 len)
{
	if (!shuffle_frags_reach(c, off, len))
		return NULL;
	return c->addr + (off - c->start);
}

/**
 * shuffle_frags_run() - bytes of a packet, as many as are in one part
 * @c: cursor
 * @off: offset in the packet of the first
 * @len: how many are wanted, not 0; set to how many there are
 *
 * Return: their address; NULL if the first has none.
 */
static inline const u8 *shuffle_frags_run(struct shuffle_frags *c, u32 off, u32 *len)
{
	if (!shuffle_frags_reach(c, off, 1))
		return NULL;
	*len = min(*len, c->size - (off - c->start));
	return c->addr + (off - c->start);
}

/**
 * shuffle_frags_read() - a few bytes of a packet
 * @c: cursor
 * @off: their offset in the packet
 * @len: their number, not 0
 * @buf: room for them
 *
 * Return: where they are, which need not be @buf; NULL if the packet has fewer.
 */
static inline const u8 *shuffle_frags_read(struct shuffle_frags *c, u32 off, u32 len, u8 *buf)
{
	return shuffle_frags_at(c, off, len) ?: skb_header_pointer(c->skb, off, len, buf);
}

#endif /* _SHUFFLE_FRAGS_H */
