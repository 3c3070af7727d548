/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A max-heap of message indices by scheduling priority, with removal of any
 * index, O(log n).  Portable: see portable.h.
 */
#ifndef _SHUFFLE_HEAP_H
#define _SHUFFLE_HEAP_H

#include "portable.h"

/**
 * struct shuffle_heap_node - one index
 * @key: its priority, greater is sooner
 * @at: position of this index in the heap plus one, 0 while it is not in the heap
 * @id: the index that stands at this *position* of the heap
 */
struct shuffle_heap_node {
	u64	key;
	u32	at;
	u32	id;
};

/**
 * struct shuffle_heap - the heap
 * @n: indices in it
 * @node: one for each index, zeroed at first; memory of the caller
 */
struct shuffle_heap {
	u32				n;
	struct shuffle_heap_node	*node;
};

void shuffle_heap_set(struct shuffle_heap *h, u32 id, u64 key);
void shuffle_heap_remove(struct shuffle_heap *h, u32 id);

/**
 * shuffle_heap_top() - index with the greatest key
 * @h: a heap that is not empty
 *
 * Return: the index; of equal keys, any.
 */
static inline u32 shuffle_heap_top(const struct shuffle_heap *h)
{
	return h->node[0].id;
}

#endif /* _SHUFFLE_HEAP_H */
