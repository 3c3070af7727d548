/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A max-heap of message indices by scheduling priority, with removal of any
 * index, O(log n).  Portable: see portable.h.
 */
#ifndef _SHUFFLE_HEAP_H
#define _SHUFFLE_HEAP_H

#include "portable.h"

/**
 * struct shuffle_heap_node - one *position* of the heap, and one index
 * @key: priority of the index that stands at this position, greater is sooner
 * @id: the index that stands at this position
 * @at: position of the index of this node's number plus one, 0 while it is not in the heap
 *
 * Keys stand where they are compared: neighbours, in one line of the cache.
 */
struct shuffle_heap_node {
	u64	key;
	u32	id;
	u32	at;
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

/**
 * shuffle_heap_has() - is an index in the heap?
 * @h: heap
 * @id: index
 *
 * Return: whether it is.
 */
static inline bool shuffle_heap_has(const struct shuffle_heap *h, u32 id)
{
	return h->node[id].at;
}

/**
 * shuffle_heap_key() - priority of an index
 * @h: heap
 * @id: index that is in it
 *
 * Return: its key.
 */
static inline u64 shuffle_heap_key(const struct shuffle_heap *h, u32 id)
{
	return h->node[h->node[id].at - 1].key;
}

#endif /* _SHUFFLE_HEAP_H */
