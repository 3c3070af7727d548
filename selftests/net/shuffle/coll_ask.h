/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A collective in the kernel as tests ask for it: libshuffle's plans make the table. */
#ifndef COLL_ASK_H
#define COLL_ASK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../../tools/lib/plan/plan.h"

/* Members of a test's group at most. */
#define COLL_ASK_MEMBERS	64

/**
 * struct coll_ask - a collective, the same at all members
 * @op_id: operation
 * @deadline_ms: its deadline, or 0
 * @len: bytes of a vector or of a block
 * @flags: of the operation
 * @kind: enum shuffle_coll_kind
 * @pattern: enum shuffle_coll_pattern
 * @oper: enum shuffle_coll_oper
 * @type: enum shuffle_coll_type
 * @root: of kinds that have one
 * @radix: of the pattern
 */
struct coll_ask {
	uint64_t op_id;
	uint64_t deadline_ms;
	uint32_t len;
	uint32_t flags;
	uint8_t kind;
	uint8_t pattern;
	uint8_t oper;
	uint8_t type;
	uint32_t root;
	uint32_t radix;
};

/**
 * struct coll_table - what a member hands its kernel
 * @c: the control message
 * @step: steps, the first bytes of the call
 * @bytes: of them
 * @in_len: bytes that the member puts in, behind them
 */
struct coll_table {
	struct shuffle_collective c;
	struct shuffle_step step[2 * COLL_ASK_MEMBERS];
	size_t bytes;
	size_t in_len;
};

/* For the member @rank of @count.  0, or -1: there is no such plan. */
int coll_ask_table(struct coll_table *t, const struct coll_ask *ask, unsigned int rank,
		   unsigned int count);
/* Send it and @len bytes of @data.  Bytes of these that were taken, or -1 with errno. */
ssize_t coll_table_send(int fd, const struct coll_table *t, const void *data, size_t len,
			int flags);
/* Both, for the socket's own place in its group. */
ssize_t coll_ask_send(int fd, const struct coll_ask *ask, const void *data, size_t len, int flags);

#endif /* COLL_ASK_H */
