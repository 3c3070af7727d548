/* SPDX-License-Identifier: GPL-2.0-only */
/* An operation's timer. */
#ifndef _SHUFFLE_RX_TIMER_H
#define _SHUFFLE_RX_TIMER_H

#include <linux/hrtimer.h>
#include <linux/rbtree.h>
#include <linux/types.h>

struct shuffle_op;

/**
 * enum shuffle_wait - what a message waits for: each is an order of its own
 * @SHUFFLE_WAIT_EARLY: data that may be asked about before it is late
 * @SHUFFLE_WAIT_GAP: data behind which other data has arrived
 * @SHUFFLE_WAIT_GAP_LATE: likewise, and it was late before
 * @SHUFFLE_WAIT_DATA: data
 * @SHUFFLE_WAIT_DATA_LATE: likewise, and it was late before
 * @SHUFFLE_WAIT_ACK: the acknowledgment of an outgoing message
 * @SHUFFLE_WAITS: their number
 */
enum shuffle_wait {
	SHUFFLE_WAIT_EARLY,
	SHUFFLE_WAIT_GAP,
	SHUFFLE_WAIT_GAP_LATE,
	SHUFFLE_WAIT_DATA,
	SHUFFLE_WAIT_DATA_LATE,
	SHUFFLE_WAIT_ACK,
	SHUFFLE_WAITS,
};

/**
 * struct shuffle_due - a message that waits: timer.c
 * @node: in op->clock.waits[@wait], or empty
 * @key: ns, its order there
 * @wait: enum shuffle_wait
 */
struct shuffle_due {
	struct rb_node	node;
	u64		key;
	u8		wait;
};

/**
 * struct shuffle_op_clock - the timer of an operation, and what is due by it
 * @waits: messages that wait for something, by enum shuffle_wait: struct shuffle_due
 * @timer: fires for resends, probes, the deadline, and work that is left over
 * @solicited_at: time at which members never heard of were last asked, ns; 0: never
 * @solicit_ns: time after which these members are asked (again); 0 before the first time
 * @solicit_from: rank of the member that is asked next
 * @solicit_left: number of members to be asked now
 * @solicit_walk: number of members to be looked at for that
 * @solicit_all: a member has answered, so what the others have sent may be lost, too
 * @blocked_at: time at which messages that wait for grants were last probed, ns; 0: never
 * @blocked_walk: number of messages to be looked at for that
 *
 * ssk->lock guards it.
 */
struct shuffle_op_clock {
	struct rb_root_cached	waits[SHUFFLE_WAITS];
	struct hrtimer		timer;
	u64			solicited_at;
	u64			solicit_ns;
	u32			solicit_from;
	u32			solicit_left;
	u32			solicit_walk;
	bool			solicit_all;
	u64			blocked_at;
	u32			blocked_walk;
};

void shuffle_timer_init(struct shuffle_op *op);
void shuffle_timer_start(struct shuffle_op *op);
void shuffle_timer_now(struct shuffle_op *op, u64 now);
void shuffle_timer_in(struct shuffle_op *op, u32 rank);
void shuffle_timer_out(struct shuffle_op *op, u32 rank);
u64 shuffle_timer_in_wait(const struct shuffle_op *op, u32 rank);

#endif /* _SHUFFLE_RX_TIMER_H */
