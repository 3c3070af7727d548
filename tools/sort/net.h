/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps of a sort as operations of a group.  A step is one operation in which only the messages of
 * the step exist: few members talk to few others.  (libshuffle's collectives are calls of whole
 * groups; gathers, broadcasts and all-gathers here are of parts of one.)
 *
 * One more operation, the roll call, is announced when the sort begins and sent when a member has
 * ended, one way or the other.  Members that wait for something else see at once that somebody has
 * failed; and who is missing there in the end is dead.
 */
#ifndef SHUFFLE_SORT_NET_H
#define SHUFFLE_SORT_NET_H

#include "../common/charge.h"
#include "../examples/common.h"
#include "report.h"

/* Operations of a sort, after the first one. */
#define NET_OPS		(1U << 20)
#define NET_OP_AGREE	UINT64_MAX
/* NET_ROUNDS and those after it: of a sort larger than memory */
enum { NET_ROLL_CALL, NET_AGREE, NET_DATA, NET_OUTPUT, NET_LEVELS = 8, NET_ROUNDS = 256 };
/* and of each level of the partitioning */
enum { NET_GATHER, NET_SHUFFLE, NET_ALLGATHER, NET_BROADCAST, NET_LEVEL_OPS };

struct net;

/**
 * struct net_op - an operation of this member
 * @net: where
 * @id: its number in the group
 * @out: message to each rank; @out_len SHUFFLE_ABSENT: there is none
 * @out_len: bytes
 * @no_in: ranks that have none for us, as bits
 * @in: message from each rank, NULL if there is none
 * @in_len: bytes
 * @have: bytes of it that have come
 * @expected: messages that have not come completely
 * @bytes_in: of all that have begun
 * @ended: its last record has been read
 * @unasked: bytes of the row that the kernel has not asked for yet
 * @tx: how far the row has been sent
 * @whole: optional: called for each message that is complete, when nothing is being received
 * @arg: for @whole
 * @came: ranks whose messages are complete, in that order
 * @n_came: their number
 * @taken: of these @whole was called for
 */
struct net_op {
	struct net *net;
	uint64_t id;
	const void **out;
	uint64_t *out_len;
	uint64_t *no_in;
	void **in;
	uint64_t *in_len;
	uint64_t *have;
	unsigned int expected;
	uint64_t bytes_in;
	int ended;
	uint64_t unasked;
	struct shuffle_tx tx;
	void (*whole)(void *arg, unsigned int rank);
	void *arg;
	unsigned int *came;
	unsigned int n_came;
	unsigned int taken;
};

/**
 * struct net - the group
 * @group: its members
 * @rank: which one is this
 * @fd: socket
 * @first_op: number of the first operation
 * @phase_end_ns: CLOCK_MONOTONIC time at which waiting ends
 * @end_ns: at which the roll call ends, too
 * @rx: for records
 * @op: the step that goes on, or NULL
 * @roll: the roll call
 * @calling: our part of it is sent
 * @timed_out: an operation has not ended in time, or a host has left it
 * @left: by host, why it has left: errno, 0: it has not
 * @wrong: what has gone wrong here, if anything has
 * @bytes_out: sent in all steps
 * @bytes_in: received in all steps
 * @steps: operations that this member took part in
 * @json: how the end is reported
 * @charge: what computation costs in virtual time
 * @tick: optional: called now and then while a step waits
 */
struct net {
	struct group group;
	unsigned int rank;
	int fd;
	uint64_t first_op;
	uint64_t phase_end_ns;
	uint64_t end_ns;
	struct shuffle_rx rx;
	struct net_op *op;
	struct net_op roll;
	int calling;
	int timed_out;
	int *left;
	char wrong[160];
	uint64_t bytes_out;
	uint64_t bytes_in;
	unsigned int steps;
	int json;
	struct charge charge;
	void (*tick)(struct net *net);
};

void net_open(struct net *net, uint64_t op, uint64_t deadline_ms);
void net_close(struct net *net);
const char *net_name(const struct net *net, unsigned int rank);

void net_begin(struct net *net, struct net_op *op, unsigned int step);
void net_send(struct net_op *op, unsigned int to, const void *buf, uint64_t len);
void net_expect(struct net_op *op, unsigned int from);
void net_run(struct net_op *op);
void net_end(struct net_op *op);

void net_roll_call(struct net *net, const struct report *own);
const struct report *net_report(const struct net *net, unsigned int rank);
int net_anybody_left(const struct net *net);

#endif /* SHUFFLE_SORT_NET_H */
