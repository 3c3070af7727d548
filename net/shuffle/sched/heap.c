// SPDX-License-Identifier: GPL-2.0-only
/* A max-heap of message indices (portable: see portable.h). */
#include "heap.h"

static void place(struct shuffle_heap *h, u32 pos, u32 id)
{
	h->node[pos].id = id;
	h->node[id].at = pos + 1;
}

static void sift_up(struct shuffle_heap *h, u32 pos, u32 id)
{
	u64 key = h->node[id].key;

	while (pos) {
		u32 up = (pos - 1) / 2;

		if (h->node[h->node[up].id].key >= key)
			break;
		place(h, pos, h->node[up].id);
		pos = up;
	}
	place(h, pos, id);
}

static void sift_down(struct shuffle_heap *h, u32 pos, u32 id)
{
	u64 key = h->node[id].key;

	for (;;) {
		u32 kid = 2 * pos + 1;

		if (kid >= h->n)
			break;
		if (kid + 1 < h->n &&
		    h->node[h->node[kid + 1].id].key > h->node[h->node[kid].id].key)
			kid++;
		if (h->node[h->node[kid].id].key <= key)
			break;
		place(h, pos, h->node[kid].id);
		pos = kid;
	}
	place(h, pos, id);
}

/**
 * shuffle_heap_set() - insert an index, or change its priority
 * @h: heap
 * @id: index
 * @key: its priority
 */
void shuffle_heap_set(struct shuffle_heap *h, u32 id, u64 key)
{
	u32 at = h->node[id].at;
	u64 old = h->node[id].key;

	h->node[id].key = key;
	if (!at)
		sift_up(h, h->n++, id);
	else if (key > old)
		sift_up(h, at - 1, id);
	else
		sift_down(h, at - 1, id);
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

	if (!at)
		return;
	h->node[id].at = 0;
	last = h->node[--h->n].id;
	if (last == id)
		return;
	if (at > 1 && h->node[h->node[(at - 2) / 2].id].key < h->node[last].key)
		sift_up(h, at - 1, last);
	else
		sift_down(h, at - 1, last);
}
