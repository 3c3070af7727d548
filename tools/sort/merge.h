/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorted keys of many hosts become one list while they arrive. */
#ifndef SHUFFLE_SORT_MERGE_H
#define SHUFFLE_SORT_MERGE_H

#include "records.h"

#define MERGE_DEPTH	64

/**
 * struct merge_run - entries in order
 * @e: the entries
 * @n: their number
 */
struct merge_run {
	struct entry *e;
	size_t n;
};

/**
 * struct merge - runs that are becoming one
 * @klen: bytes of a key
 * @keys: the keys of each host, by rank
 * @run: each more than twice as long as the next, so that an entry is moved rarely
 * @runs: their number
 */
struct merge {
	size_t klen;
	const unsigned char **keys;
	struct merge_run run[MERGE_DEPTH];
	unsigned int runs;
};

int merge_init(struct merge *m, unsigned int hosts, size_t klen);
int merge_add(struct merge *m, unsigned int rank, const unsigned char *keys, size_t n);
int merge_finish(struct merge *m, struct merge_run *all);
void merge_free(struct merge *m);

#endif /* SHUFFLE_SORT_MERGE_H */
