/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorted records merged in batches, two arrays at a time.  A tournament of 8 streams takes 150
 * instructions for a record; a batch whose end is known needs no tree.  It takes 54, and 24 where
 * keys are the same, for each level has half of the records then.
 */
#ifndef SHUFFLE_LIB_TREE_MERGE_H
#define SHUFFLE_LIB_TREE_MERGE_H

#include "merge.h"

/**
 * struct tree_run - the part of a stream that a batch takes
 * @wire: records on the wire
 * @pair: while it is merged: records in memory
 * @n: their number
 */
struct tree_run {
	const u8 *wire;
	const struct shuffle_pair *pair;
	u32 n;
};

#pragma GCC visibility push(hidden)

/* How many of the first @n records have keys of at most @key; they are sorted. */
u32 tree_run_upto(const struct tree_run *run, u32 n, u64 key);
u64 tree_run_key(const struct tree_run *run, u32 i);
/* Is a record smaller than the one before?  *@at: which. */
bool tree_run_unsorted(const struct tree_run *run, u64 last, bool started, u32 *at);

/* Merge @runs runs, each sorted.  @room: twice the number of all records.  Returns where in @room
 * the result is, and *@n; NULL: a run was not sorted.  @runs is changed.
 */
struct shuffle_pair *tree_merge_runs(u8 oper, struct tree_run *run, u32 runs,
				     struct shuffle_pair *room, u32 *n);

#pragma GCC visibility pop

#endif /* SHUFFLE_LIB_TREE_MERGE_H */
