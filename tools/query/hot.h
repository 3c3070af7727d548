/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which keys of a join are heavy; for exchange_join.c. */
#ifndef QUERY_HOT_H
#define QUERY_HOT_H

#include "op.h"

#define HOT_KEYS_MAX	64

/**
 * struct hot_key - a key by its hash: what has the same hash is treated the same
 * @hash: of the key
 * @rows: that all hosts have of it, on both sides
 * @split: the side whose rows are spread, or -1: none
 */
struct hot_key {
	uint64_t hash;
	uint64_t rows[2];
	int split;
};

/**
 * struct hot - the same at all hosts
 * @key: keys that have most rows at a host, by their hash
 * @keys: their number
 * @splits: how many are split
 * @skew: load of the host with most, by the mean, without splits; in thousandths
 * @skew_after: with them
 */
struct hot {
	struct hot_key key[HOT_KEYS_MAX];
	unsigned int keys, splits;
	uint64_t skew, skew_after;
};

void hot_choose(struct hot *hot, struct op *op, const struct batch *side,
		const struct columns *keys);

/* The split key of this hash, or NULL. */
static inline const struct hot_key *hot_find(const struct hot *hot, uint64_t hash)
{
	unsigned int low = 0, high = hot->splits ? hot->keys : 0;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (hot->key[mid].hash == hash)
			return hot->key[mid].split < 0 ? NULL : &hot->key[mid];
		if (hot->key[mid].hash < hash)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

#endif /* QUERY_HOT_H */
