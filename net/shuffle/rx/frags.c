// SPDX-License-Identifier: GPL-2.0-only
/* From one part of a super-packet to the next. */
#include <linux/highmem.h>

#include "frags.h"

/**
 * shuffle_frags_seek() - make the part that holds a byte the one that is read
 * @c: cursor
 * @off: offset of the byte in the packet
 *
 * Return: false if no part holds it: it is in a packet of the frag_list, or not there.
 */
bool shuffle_frags_seek(struct shuffle_frags *c, u32 off)
{
	const struct skb_shared_info *info = skb_shinfo(c->skb);

	if (off < c->start)
		shuffle_frags_init(c, c->skb);
	while (off >= c->next) {
		const skb_frag_t *frag = &info->frags[c->i];

		if (c->i == info->nr_frags)
			return false;
		c->i++;
		c->start = c->next;
		c->size = 0;
		c->next += skb_frag_size(frag);
		/* no page: the memory of a device */
		if (!skb_frag_page(frag) || PageHighMem(skb_frag_page(frag)))
			continue;
		c->addr = skb_frag_address(frag);
		c->size = skb_frag_size(frag);
	}
	return true;
}
