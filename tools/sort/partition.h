/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitioning of sorted keys among hosts: pivots with weights, splitters, and which keys go
 * where.  No sockets: all that is exchanged between hosts is a list of pivots.
 *
 * After MilliSort: Li, "Efficient Shuffle for Flash Burst Computing", sections 2.3.2 to 2.3.4.
 */
#ifndef SHUFFLE_SORT_PARTITION_H
#define SHUFFLE_SORT_PARTITION_H

#include <stddef.h>
#include <stdint.h>

/* Weight of a record.  Halves of groups of groups are whole numbers to the 20th level. */
#define PT_RECORD	(1ULL << 20)

/**
 * struct pt_pivot - a key that stands for others
 * @weight: of the records that it stands for; of a splitter its number
 * @index: of the record at its host, in sorted order
 * @rank: of that host
 * @reserved: 0
 * @key: the key
 *
 * Pivots are ordered by key, host and index, so that equal keys can be divided among hosts.
 */
struct pt_pivot {
	uint64_t weight;
	uint64_t index;
	uint32_t rank;
	uint32_t reserved;
	unsigned char key[];
};

/**
 * struct pt_list - pivots in order
 * @n: their number
 * @klen: bytes of a key
 * @mem: @n times pt_stride(@klen) bytes, as they are sent
 */
struct pt_list {
	size_t n;
	size_t klen;
	char *mem;
};

/**
 * struct pt_keys - the sorted keys of a host
 * @key: @n keys of @klen bytes
 * @n: their number
 * @klen: bytes of a key
 * @rank: of the host
 * @first: index of the first one: keys of a host may come in several sorted runs
 */
struct pt_keys {
	const unsigned char *key;
	size_t n;
	size_t klen;
	uint32_t rank;
	uint64_t first;
};

/* Bytes of a pivot. */
static inline size_t pt_stride(size_t klen)
{
	return (sizeof(struct pt_pivot) + klen + 7) & ~(size_t)7;
}

static inline struct pt_pivot *pt_at(const struct pt_list *l, size_t i)
{
	return (struct pt_pivot *)(l->mem + i * pt_stride(l->klen));
}

int pt_list_init(struct pt_list *l, size_t n, size_t klen);
void pt_list_free(struct pt_list *l);
int pt_compare(const struct pt_pivot *a, const struct pt_pivot *b, size_t klen);
uint64_t pt_weight(const struct pt_list *l);

int pt_sample(const struct pt_keys *keys, size_t groups, struct pt_list *to);
int pt_sample_naive(const struct pt_keys *keys, size_t groups, struct pt_list *to);
int pt_resample(const struct pt_list *from, size_t groups, struct pt_list *to);
int pt_merge(const struct pt_list *lists, size_t n, struct pt_list *to);
int pt_select(const struct pt_list *l, uint64_t before, uint64_t total, size_t parts,
	      struct pt_list *to);
void pt_bounds(const struct pt_keys *keys, const struct pt_list *splitters, size_t parts,
	       size_t *bound);
void pt_bounds_list(const struct pt_list *l, const struct pt_list *splitters, size_t parts,
		    size_t *bound);

#endif /* SHUFFLE_SORT_PARTITION_H */
