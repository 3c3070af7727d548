// SPDX-License-Identifier: GPL-2.0-only
/* A max-heap of message indices (portable: see portable.h). */
#include "heap.h"

static void place(struct shuffle_heap *h, u32 pos, u64 key, u32 id)
{
	h->node[pos].key = key;
	h->node[pos].id = id;
	h->node[id].at = pos + 1;
}

static void sift_up(struct shuffle_heap *h, u32 pos, u64 key, u32 id)
{
	while (pos) {
		u32 up = (pos - 1) / 2;

		if (h->node[up].key >= key)
			break;
		place(h, pos, h->node[up].key, h->node[up].id);
		pos = up;
	}
	place(h, pos, key, id);
}

static void sift_down(struct shuffle_heap *h, u32 pos, u64 key, u32 id)
{
	u32 kid;

	while ((kid = 2 * pos + 1) < h->n) {
		/* the next round's kids, of whichever kid is chosen in this one */
		shuffle_prefetch(&h->node[2 * kid + 1]);
		shuffle_prefetch(&h->node[2 * kid + 4]);
		/* added, not branched on: either kid is as likely */
		if (kid + 1 < h->n)
			kid += h->node[kid + 1].key > h->node[kid].key;
		if (h->node[kid].key <= key)
			break;
		place(h, pos, h->node[kid].key, h->node[kid].id);
		pos = kid;
	}
	place(h, pos, key, id);
}

/**
 * shuffle_heap_set() - insert an index, or change its priority
 * @h: heap
 * @id: index
 * @key: priority of the index
 */
void shuffle_heap_set(struct shuffle_heap *h, u32 id, u64 key)
{
	u32 at = h->node[id].at;

	if (!at)
		sift_up(h, h->n++, key, id);
	else if (key > h->node[at - 1].key)
		sift_up(h, at - 1, key, id);
	else if (key < h->node[at - 1].key)
		sift_down(h, at - 1, key, id);
}

/**
 * shuffle_heap_remove() - take an index out
 * @h: heap
 * @id: index; nothing happens if it is not in the heap
 */
void shuffle_heap_remove(struct shuffle_heap *h, u32 id)
{
	u32 at = h->node[id].at;
	u32 last;
	u64 key;

	if (!at)
		return;
	h->node[id].at = 0;
	last = h->node[--h->n].id;
	key = h->node[h->n].key;
	if (last == id)
		return;
	if (at > 1 && h->node[(at - 2) / 2].key < key)
		sift_up(h, at - 1, key, last);
	else
		sift_down(h, at - 1, key, last);
}
