/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The schedule: which message sends next, which gets the next grant, how large
 * its window is.  Portable (see portable.h): the module, KUnit and the simulator run
 * the same source.  The caller serialises all calls on one object.
 *
 * Formulas: Li, "Efficient Shuffle for Flash Burst Computing", sections
 * 3.1.4-3.1.6, 3.3 and 3.4.
 */
#ifndef _SHUFFLE_POLICY_H
#define _SHUFFLE_POLICY_H

#include "heap.h"
#include "portable.h"
#include "tuning.h"

/* The module has GRPF; the others are the simulator's and the unit tests': ../test/rivals.c. */
enum shuffle_policy_kind {
	SHUFFLE_POLICY_GRPF,	/* greatest remaining processing fraction */
	SHUFFLE_POLICY_SRPT,	/* shortest remaining processing time */
	SHUFFLE_POLICY_GRPT,	/* greatest remaining processing time */
	SHUFFLE_POLICY_HADOOP,	/* C random messages at a time, senders round robin */
	SHUFFLE_POLICY_KINDS,
};

#define SHUFFLE_NONE	U32_MAX

/**
 * struct shuffle_tx_sched - a message seen by its sender's schedule
 * @len: bytes of the message
 * @next: first byte not sent yet
 * @limit: bytes below may be sent now (granted, and in the kernel's hands)
 */
struct shuffle_tx_sched {
	u64	len;
	u64	next;
	u64	limit;
};

/**
 * struct shuffle_policy_tx - the schedule of one operation's row
 * @kind: enum shuffle_policy_kind
 * @seed: seed of the priorities, which all members know
 * @rank: rank of the member that sends the row
 * @members: number of members of the group
 * @unit: bytes that are scheduled as one (a packet or super-packet)
 * @turn: counts what has been sent
 * @served: Hadoop: @turn when each message sent last, 0: never; the caller's memory, zeroed, or
 *	NULL: a policy that does not need it
 * @n: messages
 * @heap: messages that may send; its nodes are the caller's memory
 * @msg: the messages; the caller's memory
 */
struct shuffle_policy_tx {
	u8			kind;
	u32			seed;
	u32			rank;
	u32			members;
	u32			unit;
	u64			turn;
	u64			*served;
	u32			n;
	struct shuffle_heap	heap;
	struct shuffle_tx_sched	*msg;
};

/**
 * struct shuffle_rx_sched - a message seen by its receiver's schedule
 * @len: bytes of the message
 * @granted: offset below which the sender may send
 * @received: bytes that have arrived
 * @seed: seed of the priorities of this message
 * @announced: the length of the message is known
 * @active: Hadoop: the message is one of the C that are being pulled
 * @stalled: the sender does not deliver, so what it was granted does not count as outstanding
 * @stalls: number of times that the sender did not deliver, up to SHUFFLE_STALLS_MAX
 * @unit_only_left: number of arrivals for which the message is granted one unit at a time
 */
struct shuffle_rx_sched {
	u64	len;
	u64	granted;
	u64	received;
	u32	seed;
	bool	announced : 1;
	bool	active : 1;
	bool	stalled : 1;
	u8	stalls;
	u8	unit_only_left;
};

/**
 * struct shuffle_policy_sim - limits that only the simulator sets
 * @headroom: the limit may grow to this multiple; 0 or 1: it is what it is
 * @largest: with @headroom: message with the most yet to arrive, as far as arrivals have shown
 */
struct shuffle_policy_sim {
	u32	headroom;
	u32	largest;
};

/**
 * struct shuffle_policy_rx - the schedule of one operation's column
 * @kind: enum shuffle_policy_kind
 * @hadoop_c: Hadoop: messages pulled at a time
 * @hadoop_active: Hadoop: messages being pulled
 * @constant_window: a message's window is RTTbytes, whatever is left of it
 * @unit: bytes that are granted as one at least
 * @burst: units that one grant of a long message is at most; 0 as 1
 * @scale_back: a receiver with less left than @slowest has its limit multiplied so many times by
 *	the ratio of the two; 0: it has not
 * @slowest: bytes that the slowest receiver of the shuffle waits for, as far as is known
 * @n: messages
 * @absent: messages that there are none of
 * @unannounced: messages whose length is not known yet
 * @announced_len: sum of the lengths of the others
 * @rem: bytes of heard messages yet to arrive
 * @outstanding: bytes granted (or claimed as unscheduled) and not arrived
 * @heap: messages that may be granted more; the others are fully granted or at
 *	their window, and come back when bytes of theirs arrive
 * @msg: the messages; the caller's memory
 * @sim: limits that only the simulator sets; all 0 in the kernel
 */
struct shuffle_policy_rx {
	u8			kind;
	u32			hadoop_c;
	u32			hadoop_active;
	bool			constant_window;
	u32			unit;
	u32			burst;
	u32			scale_back;
	u64			slowest;
	u32			n;
	u32			absent;
	u32			unannounced;
	u64			announced_len;
	u64			rem;
	u64			outstanding;
	struct shuffle_heap	heap;
	struct shuffle_rx_sched	*msg;
	struct shuffle_policy_sim sim;
};

/**
 * shuffle_policy_amount() - how much to take of what is left of a message
 * @left: bytes
 * @unit: bytes that are scheduled as one
 *
 * A short rest goes with the last unit: alone it would have the least priority of
 * all, and every host would send nothing but rests at the end.
 *
 * Return: bytes, less than 1.5 * @unit.
 */
static inline u64 shuffle_policy_amount(u64 left, u32 unit)
{
	return left < unit + unit / 2 ? left : unit;
}

u32 shuffle_policy_seed(u32 seed, u32 from, u32 to, u32 members);
u64 shuffle_policy_prio(u8 kind, u32 seed, u64 len, u64 off, u32 unit);

void shuffle_policy_tx_update(struct shuffle_policy_tx *tx, u32 i);
void shuffle_policy_tx_sent(struct shuffle_policy_tx *tx, u32 i);
u32 shuffle_policy_tx_pick(const struct shuffle_policy_tx *tx);
u64 shuffle_policy_unscheduled(struct shuffle_policy_tx *tx, u32 from, u32 to,
			       u64 budget, u32 packet, u64 max);

u64 shuffle_policy_rx_total_rem(const struct shuffle_policy_rx *rx);
u64 shuffle_policy_window(const struct shuffle_policy_rx *rx, u32 i, u64 max_out);
void shuffle_policy_rx_announced(struct shuffle_policy_rx *rx, u32 i, u64 len,
				 u64 unsched, u32 seed);
void shuffle_policy_rx_absent(struct shuffle_policy_rx *rx, u32 i);
void shuffle_policy_rx_arrived(struct shuffle_policy_rx *rx, u32 i, u64 bytes, u64 end);
void shuffle_policy_rx_stalled(struct shuffle_policy_rx *rx, u32 i);
u32 shuffle_policy_rx_grant(struct shuffle_policy_rx *rx, u64 max_out, u64 rtt_bytes,
			    u64 room);

#endif /* _SHUFFLE_POLICY_H */
