/* SPDX-License-Identifier: GPL-2.0-only */
/* What an operation receives: its column. */
#ifndef _SHUFFLE_RX_OP_RX_H
#define _SHUFFLE_RX_OP_RX_H

#include <linux/list.h>
#include <linux/types.h>
#include "../sched/op_order.h"
#include "../sched/policy.h"
#include "slowest.h"

struct shuffle_msg_in;

/**
 * struct shuffle_op_rx - the column of an operation
 * @sched: schedule: which message is granted how much
 * @msg: state of each message of @sched
 * @incomplete: number of messages that have not arrived whole
 * @resends: number of times that members were asked again
 * @data_at: time at which DATA with payload last came, ns
 * @data_from: time at which DATA first came from another member, ns
 * @data_bytes: payload bytes that have come from others since @data_from
 * @srtt_ns: smoothed time from a grant to its data; 0: none has been measured
 * @rttvar_ns: mean deviation of @srtt_ns
 * @pause_ns: about the longest time between two packets of a message that is waited for:
 *	sched/early.h
 * @overtaken: packets of a member overtake one another: rx/question.c
 * @answered: a member has answered a question about such packets
 * @receives: the operation is one of dev->rx_ops
 * @place: what the operation has counted in dev->order
 * @untold_max: bytes of a message that arrive at most without a GRANT that says so, about
 * @dirty: messages that need a GRANT: shuffle_msg_in.dirty
 * @grant_node: place in ssk->grant_ops while a message may be granted more
 * @outstanding: bytes that the operation has counted in ssk->outstanding
 * @granted_at: time at which the operation last granted, or began, ns
 * @first_announced_at: time at which the first message was heard of, ns; before that, of the
 *	operation's begin
 * @last_announced_at: time at which a message was last heard of for the first time, ns
 * @slowest: what the slowest receiver waits for, as heard from itself and from others:
 *	rx/slowest.c
 *
 * ssk->lock guards it.  While a reader copies a piece, that is in no tree.
 */
struct shuffle_op_rx {
	struct shuffle_policy_rx	sched;
	struct shuffle_msg_in		*msg;
	u32				incomplete;
	u32				resends;
	u64				data_at;
	u64				data_from;
	u64				data_bytes;
	u64				srtt_ns;
	u64				rttvar_ns;
	u64				pause_ns;
	bool				overtaken;
	bool				answered;
	bool				receives;
	struct shuffle_order_place	place;
	u32				untold_max;
	struct list_head		dirty;
	struct list_head		grant_node;
	u64				outstanding;
	u64				granted_at;
	u64				first_announced_at;
	u64				last_announced_at;
	struct shuffle_slowest		slowest[2];
};

#endif /* _SHUFFLE_RX_OP_RX_H */
