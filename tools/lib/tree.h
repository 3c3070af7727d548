/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of a tree share.
 *
 *   tree.c		calls, the loop, admission
 *   tree_edge.c	messages between neighbours
 *   tree_op.c		an operation: its beginning, messages, its end
 *   tree_stream.c	streams in, a stream out
 *   tree_merge.c	sorted records merged in batches
 *
 * All members of a tree have one socket each, in one group.  Neighbours, a parent and its child,
 * exchange messages; each is an operation of the group in which one of the two has a message and
 * all else is absent.  Operation ids:
 *
 *   TREE_HELLO | child << 22 | parent << 12 | n	child to parent: a number that it has drawn
 *   TREE_REPLY | child << 22 | parent << 12 | n	parent to child: another one
 *   base | direction << 31 | m		message m of a session; base is made of both numbers
 *   base | TREE_LIFE			both ways, and nobody ever sends what it has announced:
 *					this operation fails at once when the other one is gone
 *
 * A message begins with TREE_HEAD bytes, numbers big-endian:
 *
 *	0	2	TREE_MAGIC
 *	2	1	enum tree_type
 *	3	1	TREE_FIRST, TREE_LAST
 *	4	4	DATA: number of the chunk; GO: chunks that may come; END: errno
 *	8	8	operation of the program
 *
 * The first chunk of a stream goes on with what must be the same everywhere, and whose records the
 * stream has: TREE_FIRST_HEAD bytes and the set.
 *
 *	16	1	operator
 *	17	1	SHUFFLE_KEYS_SORTED
 *	18	2	bytes of a record
 *	20	4	members of the group, which are the bits of the set
 *	24	8	number of the plan
 *	32	8 each	set: bit rank % 64 of word rank / 64
 *
 * Then there are records; behind an END with an errno: the rank to blame, 4 bytes, and a text.
 */
#ifndef SHUFFLE_LIB_TREE_H
#define SHUFFLE_LIB_TREE_H

#include <stdbool.h>

#include "internal.h"
#include "shuffle_tree.h"
#include "tree_merge.h"

#define TREE_HELLO	0xa9ef000000000000ULL
#define TREE_REPLY	0xa9f0000000000000ULL
#define TREE_LIFE	0xffffffffULL
#define TREE_HEAD	16U
#define TREE_FIRST_HEAD	16U
#define TREE_MAGIC	0x5354

/* bytes of records in a chunk */
#define TREE_CHUNK	(32U << 10)
#define TREE_CHUNK_RECORDS	(TREE_CHUNK / SHUFFLE_PAIR_BYTES)
/* chunks at the beginning of a stream that are shorter, the first one most */
#define TREE_SHORT	3U
/* chunks of a stream that may be under way or wait */
#define TREE_WINDOW	8U
/* streams of a child whose first chunk has come and that have no memory yet, at most */
#define TREE_SLOTS	8U
/* messages that may come before their operations are begun again, at most */
#define TREE_COLUMNS	8U
/* ids at which a parent hears a child, at most: the first that its kernel has not had lately, and
 * some that all know, where those meet that remember different ones; and the number of all
 */
#define TREE_FIRST_DOORS	3U
#define TREE_DOORS	8U
#define TREE_IDS	4096U
/* operations of a socket, less some that programs may have; those that stand by for children; and
 * for a parent
 */
#define TREE_SOCKET_OPS	1008U
#define TREE_STAND_BY	768U
#define TREE_STAND_BY_UP	(TREE_COLUMNS + 3)
/* records of an input in a batch, at most */
#define TREE_BATCH	1024U
/* operations that are remembered after their end */
#define TREE_ENDED	256U
#define TREE_OPS	1024U

enum tree_type {
	TREE_DATA = 1,
	TREE_GO,	/* more chunks may come */
	TREE_WANT,	/* the first chunk of this operation is waited for */
	TREE_END,	/* down: it has ended; up: it has failed */
};

#define TREE_FIRST	1
#define TREE_LAST	2

/* A message, that comes or leaves. */
struct tree_msg {
	struct tree_msg *next;
	uint64_t id;		/* of its operation on the socket */
	uint32_t size;
	uint32_t have;		/* of one that comes: bytes that are there */
	uint32_t chunk;
	uint32_t begin;		/* where records begin; 0: not known yet */
	bool last;
	bool taken;		/* it is in the queue of an input */
	bool started;		/* of one that leaves: the kernel knows it */
	struct shuffle_tx tx;
	unsigned char data[];
};

struct tree_edge {
	uint32_t rank;
	bool up;		/* it is our parent */
	enum { TREE_CLOSED, TREE_KNOCKS, TREE_OPEN } state;
	uint64_t mine;		/* the number that we have drawn */
	uint64_t base;
	uint32_t door;		/* the id at which we knock */
	uint32_t steps;		/* doors in turn at which nobody has heard */
	uint32_t known;		/* 0, or the number of a door that all know, plus one */
	uint64_t doors[TREE_DOORS];	/* at which we hear; 0: none */
	uint64_t retry_ms;
	uint32_t sent;		/* messages of this session */
	uint32_t asked;		/* operations that are begun for those that come */
	uint32_t low;		/* the first that has not come whole */
	uint32_t whole;		/* bit i: message low + i has */
	uint32_t under_way;	/* of those sent: not known to have arrived */
	struct tree_msg *out, **out_end;
	struct tree_msg *in[2 * TREE_COLUMNS];
	uint64_t hello;		/* bytes of what has come at a door */
	unsigned char hello_data[TREE_HEAD + 8];
	uint32_t slots;		/* of our parent: streams that have sent a first chunk only */
	uint32_t most_slots;	/* that it has for us */
};

struct tree_input {
	struct tree_edge *edge;	/* NULL: our own records */
	struct tree_msg *head;	/* by number of the chunk */
	uint32_t at;		/* records of the first one that are taken */
	uint32_t next;		/* chunk that is taken next */
	uint32_t granted;	/* chunks that may come */
	bool started;		/* its first chunk has come */
	bool last_known;
	bool ended;		/* all of it is merged */
	bool wanted;
	uint64_t told_ms;	/* that we live */
};

struct tree_op {
	struct tree_op *next;	/* by id */
	uint64_t id;
	bool begun;		/* by the program; a relay's are */
	bool admitted;
	bool out_done;		/* all has left */
	bool ended;
	bool wanted;		/* the parent waits for its first chunk */
	const struct shuffle_key_value *record;
	size_t records, taken;
	unsigned char *own;	/* records of ours on the wire */
	uint32_t own_n, own_at;
	struct tree_input *input;	/* of the children, and at the end our own */
	uint32_t inputs;
	uint64_t *set;
	struct tree_msg *chunk;	/* that is being filled */
	uint32_t chunk_n;	/* records in it */
	uint32_t made;		/* chunks */
	struct tree_msg *out, **out_end;	/* chunks that may not be sent yet */
	uint32_t sent;		/* chunks */
	bool all_made;
	uint32_t credit;	/* chunks that may be sent */
	bool in_slot;		/* of our parent */
	unsigned char carry[SHUFFLE_PAIR_BYTES];	/* more may be merged with it */
	bool carried;
	struct shuffle_merge_table table;
	struct shuffle_key_value *result;
	size_t results, room;
	uint64_t moved_ms;
	struct shuffle_keys_fault fault;
};

/* An operation that has ended, and how. */
struct tree_ended {
	uint64_t id;
	bool untold;	/* our parent was not there */
	struct shuffle_keys_fault fault;
};

struct shuffle_tree {
	int fd;
	int poll;		/* epoll; -1 */
	bool room;		/* we wait for room to send */
	bool relay;		/* all operations are ours at once */
	struct shuffle_tree_spec spec;
	uint32_t count, words;
	struct shuffle_edge *members;
	uint64_t *senders;
	uint64_t *absent;	/* all bits */
	uint64_t *lens;		/* all SHUFFLE_ABSENT */
	const void **bufs;
	struct tree_edge *edge;	/* children, and behind them the parent */
	uint32_t edges;
	struct tree_edge *parent;
	uint32_t *edge_of;	/* by rank: number plus one */
	struct tree_op *ops;
	uint32_t nr_ops;
	struct tree_ended *ended;	/* TREE_ENDED of them */
	uint32_t ended_n;
	struct tree_end_list *end, **end_last;
	unsigned char *buf;	/* of recvmsg() */
	struct shuffle_pair *batch;
	uint32_t batch_records;	/* of an input in a batch */
	struct tree_run *run, *saved;	/* of a batch */
	uint32_t *used;		/* inputs that a batch is made of */
	uint32_t slots, columns;	/* of each child */
	uint32_t first_doors, known_doors;
	uint32_t sending;	/* messages that may be under way */
	uint32_t flush_at;	/* the edge that may send first */
	struct tree_msg *spare;
	uint32_t spares;
	uint64_t now_ms, tick_ms;
	struct shuffle_tree_counts counts;
	uint64_t op_bytes;	/* of one that runs */
	uint32_t window;	/* chunks of a stream */
	uint32_t admitted;
	bool dirty;
};

struct tree_end_list {
	struct tree_end_list *next;
	struct shuffle_tree_end end;
};

static inline bool tree_is_root(const struct shuffle_tree *t)
{
	return !t->parent;
}

static inline bool tree_is_sorted(const struct shuffle_tree *t)
{
	return t->spec.flags & SHUFFLE_KEYS_SORTED;
}

#pragma GCC visibility push(hidden)

/* tree.c */
uint64_t tree_now_ms(void);
void tree_memory(struct shuffle_tree *t, int64_t bytes);
void tree_report(struct shuffle_tree *t, struct tree_op *op);

/* tree_edge.c */
int tree_edges_init(struct shuffle_tree *t);
void tree_edges_free(struct shuffle_tree *t);
int tree_receive(struct shuffle_tree *t);
int tree_flush(struct shuffle_tree *t);
void tree_edges_tick(struct shuffle_tree *t);
struct tree_msg *tree_msg_new(struct shuffle_tree *t, uint32_t size);
void tree_msg_free(struct shuffle_tree *t, struct tree_msg *m);
void tree_head(struct tree_msg *m, int type, int flags, uint32_t number, uint64_t op);
void tree_send(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m);
void tree_tell(struct shuffle_tree *t, struct tree_edge *e, int type, uint32_t number,
	       uint64_t op, const struct shuffle_keys_fault *fault);
void tree_edge_reset(struct shuffle_tree *t, struct tree_edge *e, int error);

/* tree_op.c */
struct tree_op *tree_op_find(struct shuffle_tree *t, uint64_t id);
struct tree_op *tree_op_new(struct shuffle_tree *t, uint64_t id);
void tree_op_free(struct shuffle_tree *t, struct tree_op *op);
const struct shuffle_keys_fault *tree_op_ended(const struct shuffle_tree *t, uint64_t id);
void tree_op_remember(struct shuffle_tree *t, uint64_t id, const struct shuffle_keys_fault *fault);
void tree_op_release(struct shuffle_tree *t, struct tree_op *op);
void tree_op_no_memory(struct shuffle_tree *t, struct tree_op *op);
void tree_op_data(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m);
void tree_op_control(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m);
__attribute__((format(printf, 5, 6)))
void tree_op_fail(struct shuffle_tree *t, struct tree_op *op, int error, uint32_t rank,
		  const char *format, ...);
void tree_op_fault(struct shuffle_tree *t, struct tree_op *op,
		   const struct shuffle_keys_fault *fault, struct tree_edge *from);
void tree_op_idle(struct shuffle_tree *t, struct tree_op *op);
void tree_op_admit(struct shuffle_tree *t, struct tree_op *op);
void tree_ops_tell(struct shuffle_tree *t);
void tree_ops_lost(struct shuffle_tree *t, struct tree_edge *e, int error);
void tree_op_want(struct shuffle_tree *t, struct tree_op *op);
int tree_op_begin(struct shuffle_tree *t, struct tree_op *op,
		  const struct shuffle_key_value *record, size_t records);

/* tree_stream.c */
void tree_op_run(struct shuffle_tree *t, struct tree_op *op);
void tree_op_grant(struct shuffle_tree *t, struct tree_op *op, struct tree_input *in);

#pragma GCC visibility pop

#endif /* SHUFFLE_LIB_TREE_H */
