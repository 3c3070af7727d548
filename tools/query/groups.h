/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash table of an aggregation: one row of each combination of keys.
 */
#ifndef QUERY_GROUPS_H
#define QUERY_GROUPS_H

#include "column.h"

enum fold { FOLD_SUM, FOLD_COUNT, FOLD_MIN, FOLD_MAX };

/**
 * struct groups - the table
 * @in_keys: columns of what is added
 * @folds: number of sums and the like
 * @fold: what they are
 * @fold_in: the column that each folds
 * @keys: columns of @rows that are keys: its first ones
 * @rows: the groups: keys, then what is folded
 * @hash: of each group
 * @slot: open addressing with linear probing: index of a group plus one, or 0
 * @slots: their number, a power of two
 */
struct groups {
	struct columns in_keys;
	unsigned int folds;
	enum fold fold[COLUMNS_MAX];
	unsigned int fold_in[COLUMNS_MAX];
	struct columns keys;
	struct batch rows;
	uint64_t *hash;
	size_t hash_room;
	size_t *slot;
	size_t slots;
};

void groups_init(struct groups *g, const struct batch *in, const char *keys, const char *sums,
		 const char *who);
void groups_add(struct groups *g, const struct batch *b);
void groups_clear(struct groups *g);
void groups_free(struct groups *g);

/* For joins and heavy keys: the index of the group of this row's keys, or SIZE_MAX. */
size_t groups_find(const struct groups *g, const struct batch *b, const struct columns *keys,
		   size_t row, uint64_t hash);

#endif /* QUERY_GROUPS_H */
