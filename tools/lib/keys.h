/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of keyed collectives share.
 *
 *   keys.c		records merged by key, at one member or all
 *   keys_tree.c	streams of chunks along a tree
 *   keys_fault.c	why a call has failed, told to others
 *   keys_partition.c	each member its own keys
 *   keys_names.c	strings
 *
 * A chunk is an operation of its own with one message, from a member to its parent: operation
 * next_op + (number of the chunk << 12 | rank of the sender).  It begins with KEYS_HEAD bytes, all
 * numbers big-endian:
 *
 *	0	4	KEYS_MAGIC
 *	4	1	what the stream is: operator and KEYS_IS_*
 *	5	1	KEYS_LAST, KEYS_FAULT
 *	6	2	of a fault: errno
 *	8	4	of the last one: members folded in
 *	12	4	of a fault: the rank that is to blame
 *
 * Behind it there are records, strings, or of a fault its text.
 */
#ifndef SHUFFLE_LIB_KEYS_H
#define SHUFFLE_LIB_KEYS_H

#include "coll.h"
#include "shuffle_keys.h"
#include "merge.h"

/* operation ids of a call */
#define KEYS_OPS	(1ULL << 40)
#define KEYS_RANK_BITS	12
#define KEYS_CHUNKS	(KEYS_OPS >> KEYS_RANK_BITS)

#define KEYS_MAGIC	0x53484b31	/* SHK1 */
#define KEYS_HEAD	16U
#define KEYS_LAST	1
#define KEYS_FAULT	2
#define KEYS_IS_SORTED	0x40
#define KEYS_IS_NAMES	0x20
#define KEYS_IS_PARTS	0x80

/* Bytes of a chunk behind its head: a multiple of a record, and longer than the longest string. */
#define KEYS_CHUNK	(128U << 10)
#define KEYS_CHUNK_RECORDS	(KEYS_CHUNK / SHUFFLE_PAIR_BYTES)

/* members that a fault names */
#define KEYS_MISSING	8

/* The stream of a child. */
struct keys_edge {
	uint32_t rank;
	uint32_t step;		/* of the plan in which it comes */
	uint64_t chunk;		/* number of the one that comes or is there */
	unsigned char *buf;
	size_t size;		/* of the chunk, with its head; 0: not known yet */
	size_t have;
	int whole;
	int last;
	uint32_t folded;	/* members, of the last chunk */
};

/* A call of this member. */
struct coll_keys {
	struct coll_hook hook;		/* the first one: see keys_of() */
	struct shuffle_coll *c;
	struct shuffle_keys_fault *fault;
	uint8_t what;			/* of all chunks */
	uint32_t root;
	uint32_t parent;		/* or SHUFFLE_KEYS_NOBODY */
	uint32_t step;			/* of the plan in which we send to it */
	uint32_t steps;
	uint64_t step_ms;		/* to wait for a step; 0: for ever */
	struct keys_edge *edge;		/* of children */
	uint32_t edges;
	uint32_t *edge_of;		/* by rank: the number of its edge plus one */
	uint32_t folded;
	unsigned char *out;		/* a chunk */
	uint64_t sent;			/* chunks */
	uint32_t sending;		/* of these, not known to have arrived */
	int failed;			/* errno of an operation */
	uint64_t failed_op;
	uint64_t missing_left;		/* records that follow */
	uint32_t missing;		/* those that have come */
	uint32_t missing_rank[KEYS_MISSING];
	int telling;			/* a fault is being told, whatever else fails */
	uint64_t telling_op;		/* 0: it has ended */
};

#pragma GCC visibility push(hidden)

/* keys.c */
int keys_options(struct shuffle_keys_options *out, const struct shuffle_keys_options *o);
int keys_table_init(struct shuffle_merge_table *t, const struct shuffle_keys_options *o);
int keys_table_add(struct shuffle_merge_table *t, uint64_t max_records, const unsigned char *data,
		   uint32_t n);
void keys_table_result(struct shuffle_merge_table *t, struct shuffle_key_value **result,
		       size_t *results);
void keys_first(uint8_t oper, unsigned char *to, const struct shuffle_key_value *record, size_t n);
int keys_verdict(struct coll_keys *k, uint64_t *results, uint64_t most);

/* keys_fault.c */
__attribute__((format(printf, 4, 5)))
int keys_fault(struct coll_keys *k, int error, uint32_t rank, const char *format, ...);
void keys_fault_clear(struct shuffle_keys_fault *fault);
int keys_end(struct coll_keys *k, int rc);

/* keys_tree.c */
int keys_begin(struct shuffle_coll *c);
int keys_open(struct coll_keys *k, struct shuffle_coll *c, unsigned int root, int what,
	      struct shuffle_keys_fault *fault);
void keys_close(struct coll_keys *k);
int keys_next(struct coll_keys *k, struct keys_edge **which);
int keys_wait_for(struct coll_keys *k, struct keys_edge *e);
int keys_taken(struct coll_keys *k, struct keys_edge *e);
int keys_send(struct coll_keys *k, size_t size, int flags);
int keys_all_folded(struct coll_keys *k);
int keys_row(struct coll_keys *k, uint64_t op, uint64_t deadline_ms);
int keys_advance(struct coll_keys *k, short events);
int keys_check_head(struct coll_keys *k, const unsigned char *head, uint32_t rank);
uint32_t keys_rank(const struct coll_keys *k, uint32_t rank);
void keys_write_head(struct coll_keys *k, unsigned char *head, int flags);
void keys_op_end(struct coll_hook *hook, const struct shuffle_record *rec);

#pragma GCC visibility pop

#endif /* SHUFFLE_LIB_KEYS_H */
