/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sort that is larger than memory: sorted runs in files.
 *
 * A host reads as much as it may hold, sorts it, and writes it to a file, run by run.  Splitters
 * are found from pivots of all runs.  Then there is a round for each run: all hosts shuffle their
 * run of that number as they would all of their records; what comes is merged, and is a run of
 * another file.  If more comes for a host than it may hold, all divide the round.  In the end each
 * host merges the runs that have come.
 *
 * Equal keys stay in the order of hosts, runs and places in a run, as in memory.
 */
#ifndef SHUFFLE_SORT_EXTERNAL_H
#define SHUFFLE_SORT_EXTERNAL_H

#include "host.h"

/* Of --memory: a run, its messages, those that come and the lists that are merged. */
#define MEMORY_PARTS	4

/**
 * struct run - sorted records in a file
 * @at: where
 * @n: records
 * @bytes: of them
 * @first: index of the first one at its host
 */
struct run {
	uint64_t at;
	uint64_t n;
	uint64_t bytes;
	uint64_t first;
};

/**
 * struct spill - a file of runs, without a name
 * @fd: the file
 * @end: its length
 * @buf: what is not written yet
 * @used: bytes of it
 * @run: the runs
 * @runs: their number
 */
struct spill {
	int fd;
	uint64_t end;
	unsigned char *buf;
	size_t used;
	struct run *run;
	unsigned int runs;
};

/**
 * struct external - a sort with files
 * @h: the host
 * @chunk: bytes of a run, about
 * @longest: of all keys
 * @read: runs of the input
 * @got: runs that have come
 * @splitters: of all hosts' keys
 */
struct external {
	struct host *h;
	size_t chunk;
	size_t longest;
	struct spill read;
	struct spill got;
	struct pt_list splitters;
};

void spill_read(struct external *x, const struct spill *s, uint64_t at, void *to, size_t len);
void spill_close(struct spill *s);

#endif /* SHUFFLE_SORT_EXTERNAL_H */
