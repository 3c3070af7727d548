/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libshuffle: records merged by key on their way through a group, as Guo et al. describe it
 * ("Exploiting in-network aggregation for shuffle transfers").  Members are their own servers: each
 * merges what comes from its children of a tree with its own records, and sends one stream on.
 *
 * The calls are collectives: all members make them in the same order with the same arguments, but
 * for the records.  They are carried out in user space; operation ids: a call takes 2^40 of them.
 * They return -1 and set errno on error; after one the group is of no use any more.
 */
#ifndef SHUFFLE_KEYS_H
#define SHUFFLE_KEYS_H

#include "shuffle_coll.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shuffle_key_value {
	uint64_t key;
	uint64_t value;
};

/* What becomes of two values of one key. */
enum shuffle_keys_oper {
	SHUFFLE_KEYS_NONE,	/* both are kept */
	SHUFFLE_KEYS_SUM,	/* their sum, which wraps round */
	SHUFFLE_KEYS_MIN,	/* the smaller one, as signed numbers */
	SHUFFLE_KEYS_MAX,	/* the larger one, as signed numbers */
	SHUFFLE_KEYS_COUNT,	/* how many records there are, whatever their values */
	SHUFFLE_KEYS_SUMCOUNT,	/* above the sum of the values' lower 32 bits, below the number of
				 * records, 32 bits each; both wrap round
				 */
	SHUFFLE_KEYS_OR,	/* bitwise */
	SHUFFLE_KEYS_AND,	/* bitwise */
	SHUFFLE_KEYS_OPERS,
};

/* The records of each member are in ascending order of unsigned keys.  They are merged while they
 * come, with a chunk of each stream in memory, and the result has the same order.  A record out of
 * order fails the call.
 */
#define SHUFFLE_KEYS_SORTED	(1U << 0)

/**
 * struct shuffle_keys_options - how to merge; what is 0 has its default
 * @size: sizeof(struct shuffle_keys_options)
 * @oper: enum shuffle_keys_oper
 * @flags: SHUFFLE_KEYS_SORTED
 * @table_bytes: memory for the table of a member that merges on the way; default 16 MiB, at least
 *	4 KiB.  A full table is sent on, and what comes then is merged further on.
 * @max_records: records of a result at most; default 2^26, at most 2^30
 */
struct shuffle_keys_options {
	uint32_t size;
	uint32_t oper;
	uint32_t flags;
	uint32_t reserved;	/* zero */
	uint64_t table_bytes;
	uint64_t max_records;
};

#define SHUFFLE_KEYS_NOBODY	UINT32_MAX

/**
 * struct shuffle_keys_fault - why a call has failed
 * @error: errno
 * @rank: the member that is to blame, or SHUFFLE_KEYS_NOBODY
 * @text: one line for people
 *
 * A member that notices it tells its parent in the tree, so that the receiver names the same one.
 */
struct shuffle_keys_fault {
	int error;
	uint32_t rank;
	char text[232];
};

/* All members receive the result. */
#define SHUFFLE_KEYS_ALL	UINT32_MAX

/**
 * shuffle_reduce_by_key() - merge the records of all members by key
 * @c: group
 * @record: our records
 * @records: their number
 * @result: where the result is wanted, memory that the caller frees; elsewhere NULL
 * @results: its records: one of each key (of SHUFFLE_KEYS_NONE all records), in ascending order of
 *	keys with SHUFFLE_KEYS_SORTED, else in any order
 * @o: how; the same at all members, but for @table_bytes
 * @root: the rank of the receiver, or SHUFFLE_KEYS_ALL
 * @fault: why it has failed; may be NULL
 *
 * The tree is that of shuffle_reduce(): shuffle_coll_pattern() flat, tree, chain or cool-p-p, or a
 * plan of shuffle_coll_explicit() for SHUFFLE_COLL_REDUCE and @root in one block (with
 * SHUFFLE_KEYS_ALL: root 0).  Auto is a binomial tree, over racks cool-p-p.  The receiver has a
 * result if all members are folded in, once each; otherwise the call fails.
 *
 * A member waits so long for a child as shuffle_coll_timeout() says (or the socket's idle timeout)
 * for each step of the plan up to the child's, so that the one next to a member that is gone names
 * it.
 *
 * Return: 0; -1 and errno: EINVAL (no such operator or receiver, a plan that is no tree of whole
 * results, records that are not sorted), EMSGSIZE (more than @max_records), EPROTO (members do not
 * call the same, or not all are folded in), ETIMEDOUT (nothing comes), ENOMEM, and those of
 * shuffle_send().
 */
int shuffle_reduce_by_key(struct shuffle_coll *c, const struct shuffle_key_value *record,
			  size_t records, struct shuffle_key_value **result, size_t *results,
			  const struct shuffle_keys_options *o, unsigned int root,
			  struct shuffle_keys_fault *fault);

/**
 * shuffle_partition_by_key() - give each member the records of its keys, merged
 * @c: group
 * @record: our records
 * @records: their number
 * @result: those of the keys whose shuffle_key_owner() we are, memory that the caller frees
 * @results: their number; in any order
 * @o: how; not SHUFFLE_KEYS_SORTED; @max_records also bounds what a member sends
 * @fault: why it has failed; may be NULL
 *
 * Each member merges its own records, sends what belongs to others, in one operation, and merges
 * what comes while it comes.
 *
 * Return: 0; -1 and errno as of shuffle_reduce_by_key().
 */
int shuffle_partition_by_key(struct shuffle_coll *c, const struct shuffle_key_value *record,
			     size_t records, struct shuffle_key_value **result, size_t *results,
			     const struct shuffle_keys_options *o,
			     struct shuffle_keys_fault *fault);

/* Which of @count members has a key after shuffle_partition_by_key(). */
unsigned int shuffle_key_owner(uint64_t key, unsigned int count);

/* ---- keys that are strings ---- */

/* Strings by their 64-bit hash values. */
struct shuffle_key_names;

#define SHUFFLE_KEY_NAME_BYTES	32768	/* of a string, at most */

/**
 * struct shuffle_key_name - a string and its key
 * @key: the same at all members
 * @value: the program's own, at first 0; it stays at this member
 * @name: the string, of any bytes; it stays until shuffle_key_names_free()
 * @len: their number
 */
struct shuffle_key_name {
	uint64_t key;
	uint64_t value;
	const char *name;
	size_t len;
};

/* bits: how many of a hash value are used, 1 to 64; fewer than 64 are for tests of collisions.
 * max_bytes: of memory, at most; 0: 1 GiB.  NULL: EINVAL, ENOMEM.
 */
struct shuffle_key_names *shuffle_key_names_new(unsigned int bits, uint64_t max_bytes);
void shuffle_key_names_free(struct shuffle_key_names *names);

/**
 * shuffle_key_of() - the key of a string, which is kept
 * @names: strings
 * @name: the string; any bytes
 * @len: their number
 * @fault: of ENOTUNIQ both strings; may be NULL
 *
 * Return: the string, valid until the next call; NULL and errno: ENOTUNIQ (another string has this
 * key), ENAMETOOLONG, ENOBUFS (more than max_bytes), ENOMEM.
 */
struct shuffle_key_name *shuffle_key_of(struct shuffle_key_names *names, const char *name,
					size_t len, struct shuffle_keys_fault *fault);

/* The string of a key; NULL: there is none. */
const struct shuffle_key_name *shuffle_key_find(const struct shuffle_key_names *names,
						uint64_t key);
/* Strings by number, in the order in which they have come; NULL behind the last one. */
const struct shuffle_key_name *shuffle_key_at(const struct shuffle_key_names *names, size_t i);

/**
 * shuffle_reduce_names() - collect the strings of all members
 * @c: group
 * @names: our strings; afterwards also those of members further from the receiver, which are all
 *	others' at the receiver, and all others' everywhere with SHUFFLE_KEYS_ALL
 * @root: as of shuffle_reduce_by_key(), like the tree
 * @fault: why it has failed; may be NULL
 *
 * Each string goes over each edge of the tree once.  Records of two strings with the same key would
 * be merged into one, so this is the check that there are none: wherever two meet, the call fails
 * with ENOTUNIQ and names both.
 *
 * Return: 0; -1 and errno: ENOTUNIQ, ENOBUFS (more than max_bytes), and those of
 * shuffle_reduce_by_key().
 */
int shuffle_reduce_names(struct shuffle_coll *c, struct shuffle_key_names *names,
			 unsigned int root, struct shuffle_keys_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* SHUFFLE_KEYS_H */
