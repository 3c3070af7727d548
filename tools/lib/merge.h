/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Records of a key and a value, merged by key (portable: see plan/plan.h).  Guo et al., "Exploiting
 * in-network aggregation for shuffle transfers", describe servers that do this on the way from
 * senders to receivers; the merge of sorted streams is an addition to that.
 *
 * On the wire a record is 16 bytes: key and value, each 64 bits, big-endian.  In memory both are
 * numbers of the host.
 *
 *   hash	records come in any order and are merged in a table of bounded size.  A full table
 *		is read out and emptied; what is sent on then is merged once more further on.
 *   sorted	streams come in ascending order of unsigned keys.  They are merged while they come,
 *		with one record of each stream in memory, and leave in the same order.
 *
 * All operators commute, and are associative.  A record must be merged once: sums and counts are
 * not idempotent.
 */
#ifndef _SHUFFLE_MERGE_H
#define _SHUFFLE_MERGE_H

#include "../../net/shuffle/sched/portable.h"

#define SHUFFLE_PAIR_BYTES	16U

/**
 * enum shuffle_merge_oper - what becomes of two values of one key
 * @SHUFFLE_MERGE_NONE: both are kept
 * @SHUFFLE_MERGE_SUM: their sum; it wraps round
 * @SHUFFLE_MERGE_MIN: the smaller one, as signed numbers
 * @SHUFFLE_MERGE_MAX: the larger one, as signed numbers
 * @SHUFFLE_MERGE_COUNT: how many records there were: its sender makes 1 the value of each
 * @SHUFFLE_MERGE_SUMCOUNT: the sum of the upper 32 bits in the upper ones, of the lower 32 bits in
 *	the lower ones; both wrap round, neither carries into the other.  A sender puts a value
 *	above and 1 below.
 * @SHUFFLE_MERGE_OR: bitwise
 * @SHUFFLE_MERGE_AND: bitwise
 * @SHUFFLE_MERGE_OPERS: their number
 */
enum shuffle_merge_oper {
	SHUFFLE_MERGE_NONE,
	SHUFFLE_MERGE_SUM,
	SHUFFLE_MERGE_MIN,
	SHUFFLE_MERGE_MAX,
	SHUFFLE_MERGE_COUNT,
	SHUFFLE_MERGE_SUMCOUNT,
	SHUFFLE_MERGE_OR,
	SHUFFLE_MERGE_AND,
	SHUFFLE_MERGE_OPERS,
};

/**
 * struct shuffle_pair - a record in memory
 * @key: any number
 * @value: any number
 */
struct shuffle_pair {
	u64	key;
	u64	value;
};

/**
 * struct shuffle_merge_table - a table for records that come in any order
 * @oper: enum shuffle_merge_oper
 * @shift: 64 minus the bits of a place in @place
 * @seed: which places keys have; not to be guessed by who chooses the keys
 * @n: records in the table, the first ones of @pair, in the order of their first arrival
 * @max: room for so many
 * @pair: the records
 * @place: 0: free, or the number of a record plus one; at least twice as many as records
 */
struct shuffle_merge_table {
	u8			oper;
	u8			shift;
	u64			seed;
	u32			n;
	u32			max;
	struct shuffle_pair	*pair;
	u32			*place;
};

/**
 * struct shuffle_merge_stream - one of the sorted streams
 * @data: records on the wire, the caller's memory; may begin anywhere
 * @n: how many are there
 * @at: how many of these are merged
 * @end: no more will come
 * @started: @last is a key
 * @last: key of the record that was looked at last; the next one may not be smaller
 */
struct shuffle_merge_stream {
	const u8	*data;
	u32		n;
	u32		at;
	bool		end;
	bool		started;
	u64		last;
};

/**
 * struct shuffle_merge_node - a stream in the tree of a merge
 * @key: of its next record
 * @id: number of the stream plus one; of one that has ended @key is the largest one, and so is this
 */
struct shuffle_merge_node {
	u64	key;
	u32	id;
};

/**
 * struct shuffle_merge_sorted - a merge of sorted streams
 * @oper: enum shuffle_merge_oper
 * @streams: number of streams
 * @stream: the streams; the caller's memory, zeroed at first
 * @node: a tree of losers: the first one is the stream with the smallest key, the others have lost
 *	to another one on their way there; room for as many as there are streams
 * @ready: all streams are in the tree
 * @look: the first one's record is merged, and its next one was not looked at yet
 * @open: @pair is a record that more may be merged with
 * @pair: that record
 * @which: a stream: see shuffle_merge_streams()
 */
struct shuffle_merge_sorted {
	u8				oper;
	u32				streams;
	struct shuffle_merge_stream	*stream;
	struct shuffle_merge_node	*node;
	bool				ready;
	bool				look;
	bool				open;
	struct shuffle_pair		pair;
	u32				which;
};

/**
 * enum shuffle_merge_state - why shuffle_merge_streams() has returned
 * @SHUFFLE_MERGE_DONE: all streams have ended, and all is merged
 * @SHUFFLE_MERGE_FULL: there is no room for another record
 * @SHUFFLE_MERGE_STARVED: stream @which has no record, and has not ended
 * @SHUFFLE_MERGE_UNSORTED: the next record of stream @which has a smaller key than the one before
 */
enum shuffle_merge_state {
	SHUFFLE_MERGE_DONE,
	SHUFFLE_MERGE_FULL,
	SHUFFLE_MERGE_STARVED,
	SHUFFLE_MERGE_UNSORTED,
};

/**
 * shuffle_merge_values() - two values of one key
 * @oper: enum shuffle_merge_oper, not SHUFFLE_MERGE_NONE, which has no value for both
 * @a: one
 * @b: the other
 *
 * Inline: all merges call it with an operator that the compiler knows.
 *
 * Context: any.
 * Return: the value of both.
 */
static __always_inline u64 shuffle_merge_values(u8 oper, u64 a, u64 b)
{
	const u64 sign = 1ULL << 63, upper = ~(u64)U32_MAX;

	switch (oper) {
	case SHUFFLE_MERGE_SUM:
	case SHUFFLE_MERGE_COUNT:
		return a + b;
	case SHUFFLE_MERGE_MIN:
		return (a ^ sign) < (b ^ sign) ? a : b;
	case SHUFFLE_MERGE_MAX:
		return (a ^ sign) > (b ^ sign) ? a : b;
	case SHUFFLE_MERGE_SUMCOUNT:
		return ((a & upper) + (b & upper)) | (u32)(a + b);
	case SHUFFLE_MERGE_OR:
		return a | b;
	case SHUFFLE_MERGE_AND:
		return a & b;
	}
	return a;
}

u64 shuffle_merge_first(u8 oper, u64 value);
void shuffle_merge_load(struct shuffle_pair *pair, const u8 *data, u32 n);
void shuffle_merge_store(u8 *data, const struct shuffle_pair *pair, u32 n);

u64 shuffle_merge_table_bytes(u32 max);
int shuffle_merge_table_init(struct shuffle_merge_table *t, u8 oper, u64 seed, u32 max,
			     void *memory);
void shuffle_merge_table_empty(struct shuffle_merge_table *t);
u32 shuffle_merge_add(struct shuffle_merge_table *t, const u8 *data, u32 n);

void shuffle_merge_sorted_init(struct shuffle_merge_sorted *s, u8 oper,
			       struct shuffle_merge_stream *stream,
			       struct shuffle_merge_node *node, u32 streams);
int shuffle_merge_streams(struct shuffle_merge_sorted *s, u8 *out, u32 max, u32 *n);

#endif /* _SHUFFLE_MERGE_H */
