/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libshuffle: a tree of hosts in which records of a key and a value are merged on their way to one
 * receiver (Guo et al., "Exploiting in-network aggregation for shuffle transfers").  Each member
 * of the tree runs the same code in user space, on an ordinary socket: those with records of their
 * own by the calls below, those without by shuffle-relayd(8).
 *
 * A struct shuffle_tree is for one thread at a time.  Functions return -1 and set errno on error.
 */
#ifndef SHUFFLE_TREE_H
#define SHUFFLE_TREE_H

#include "shuffle.h"
#include "shuffle_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shuffle_tree;

#define SHUFFLE_TREE_NOBODY	UINT32_MAX

/* We have no records, and begin each operation when the first message of one comes: there is no
 * shuffle_tree_start(), and shuffle_tree_wait() returns no ends.
 */
#define SHUFFLE_TREE_RELAY	(1U << 31)

/**
 * struct shuffle_tree_spec - what a member of a tree is
 * @size: sizeof(struct shuffle_tree_spec)
 * @rank: which of the members we are
 * @members: the group, in the same order everywhere, as shuffle_join_edges() wants it
 * @count: number of members, at most SHUFFLE_TREE_MEMBERS
 * @parent: rank of the member that gets the result; SHUFFLE_TREE_NOBODY: we are the receiver
 * @child: ranks of the members that send to us
 * @children: their number; 0: we only send
 * @oper: enum shuffle_keys_oper; the same everywhere, as @flags
 * @flags: SHUFFLE_KEYS_SORTED, SHUFFLE_TREE_RELAY
 * @idle_ms: an operation fails after so long without progress; 0: 60000
 * @table_records: of a member that merges without SHUFFLE_KEYS_SORTED: a full table is sent on;
 *	0: 65536
 * @senders: at the receiver: bit rank % 64 of senders[rank / 64] for each member whose records are
 *	to be in a result; NULL: any
 * @max_bytes: of memory for operations that run at a time; 0: 64 MiB.  Others wait, the one with
 *	the lowest id never: it takes 33 KiB for each child whatever this says.
 * @key: of the group, SHUFFLE_KEY_BYTES, or NULL
 * @tree: number of the plan; the same everywhere
 * @want_senders: a member that merges: so many must be in its result; 0: any
 * @record: takes what comes of operations that are the program's own, on the tree's socket
 *	(shuffle_tree_socket()): a record, and the data of SHUFFLE_RECORD_DATA; NULL: there are none
 * @arg: of @record
 */
struct shuffle_tree_spec {
	uint32_t size;
	uint32_t rank;
	const struct shuffle_edge *members;
	uint32_t count;
	uint32_t parent;
	const uint32_t *child;
	uint32_t children;
	uint32_t oper;
	uint32_t flags;
	uint32_t idle_ms;
	uint32_t table_records;
	const uint64_t *senders;
	uint64_t max_bytes;
	const unsigned char *key;
	uint64_t tree;
	uint32_t want_senders;
	void (*record)(void *arg, const struct shuffle_record *rec, const void *data);
	void *arg;
};

#define SHUFFLE_TREE_MEMBERS	1024
/* Each has operations that stand by, and the kernel has 1024 of a socket. */
#define SHUFFLE_TREE_CHILDREN	128

/**
 * struct shuffle_tree_end - an operation has ended
 * @op_id: its id
 * @fault: @fault.error is 0, or an errno; then who is to blame, and why.  At all members that take
 *	part the same: who notices it tells the others.
 * @result: of the receiver: the records, in ascending order of keys with SHUFFLE_KEYS_SORTED;
 *	memory that the caller frees
 * @results: their number
 */
struct shuffle_tree_end {
	uint64_t op_id;
	struct shuffle_keys_fault fault;
	struct shuffle_key_value *result;
	size_t results;
};

/**
 * struct shuffle_tree_counts - what a member has done
 * @running: operations that run
 * @waiting: of these, those that wait for memory
 * @done: those that have ended well
 * @failed: and not
 * @records_in: records that have come
 * @records_out: records that were sent
 * @bytes_out: bytes of messages that were sent, with all that is no record
 * @memory: bytes that operations hold now
 * @memory_most: and the most that they ever held
 * @up: 1: the parent is there
 * @children_up: so many children are there
 * @last_op: the operation that has failed last
 * @last: why
 */
struct shuffle_tree_counts {
	uint64_t running, waiting, done, failed;
	uint64_t records_in, records_out, bytes_out;
	uint64_t memory, memory_most;
	uint32_t up, children_up;
	uint64_t last_op;
	struct shuffle_keys_fault last;
};

/* Open a socket, bind it to members[rank] and join.  Waits for nobody. */
struct shuffle_tree *shuffle_tree_open(const struct shuffle_tree_spec *spec);
/* Waits until what was sent has arrived, but not for long. */
void shuffle_tree_close(struct shuffle_tree *t);

/**
 * shuffle_tree_start() - begin an operation
 * @t: tree
 * @op_id: not used before in this tree by anybody
 * @record: our own records, in ascending order of keys with SHUFFLE_KEYS_SORTED; they stay the
 *	caller's, unchanged, until the operation has ended
 * @records: their number
 *
 * A receiver has none.  A member that is no sender in this operation does not call it, but where it
 * merges what others send it calls it with @record NULL.
 *
 * Return: 0; -1 and errno: EEXIST, EINVAL, ENOMEM.
 */
int shuffle_tree_start(struct shuffle_tree *t, uint64_t op_id,
		       const struct shuffle_key_value *record, size_t records);

/* Give an operation up: it ends with ECANCELED at all members at once. */
int shuffle_tree_cancel(struct shuffle_tree *t, uint64_t op_id);

/* Wait for an operation that we have started to end, for @timeout_ms at most, -1: for ever.
 * 1: it has; 0: none has.
 */
int shuffle_tree_wait(struct shuffle_tree *t, struct shuffle_tree_end *end, int timeout_ms);

/* For programs with a loop of their own: readable when shuffle_tree_wait(, 0) has work to do, which
 * is to be called every 20 ms besides.
 */
int shuffle_tree_fd(const struct shuffle_tree *t);

/* The socket, in the group of @members: for operations of the program's own, with ids below
 * SHUFFLE_TREE_IDS.  What comes of them is read by shuffle_tree_wait(), for @record; no timeout of
 * the socket ends them.
 */
#define SHUFFLE_TREE_IDS	(1ULL << 62)
int shuffle_tree_socket(const struct shuffle_tree *t);

void shuffle_tree_count(const struct shuffle_tree *t, struct shuffle_tree_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* SHUFFLE_TREE_H */
