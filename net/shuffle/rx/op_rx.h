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
 * @sched: the schedule says which message is granted how much
 * @msg: messages have their pieces, waits and questions here, one entry for each of @sched.msg
 * @incomplete: so many messages have not arrived whole
 * @resends: members were asked again so many times
 * @data_at: DATA with payload last came then
 * @data_from: it first came from another member then
 * @data_bytes: so much payload has come from others since then
 * @srtt_ns: data follows its grant after this time, smoothed; 0: none has been measured
 * @rttvar_ns: that time varies by this mean deviation
 * @pause_ns: two packets of a message that is waited for are apart by so much at most, about:
 *	sched/early.h
 * @overtaken: packets of a member overtake one another: rx/question.c
 * @answered: a member has answered a question about such packets
 * @receives: the operation is one of dev->rx_ops
 * @place: the operation has counted this in dev->order
 * @dirty: messages stand here that need a GRANT
 * @grant_node: the operation stands in ssk->grant_ops while a message may be granted more
 * @outstanding: the operation has counted so many bytes in ssk->outstanding
 * @granted_at: the operation last granted, or began, then
 * @first_announced_at: the first message was heard of then; before that, the operation began
 * @last_announced_at: a message was last heard of for the first time then
 * @slowest: the slowest receiver waits for this, as heard from itself and from others:
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
	struct list_head		dirty;
	struct list_head		grant_node;
	u64				outstanding;
	u64				granted_at;
	u64				first_announced_at;
	u64				last_announced_at;
	struct shuffle_slowest		slowest[2];
};

#endif /* _SHUFFLE_RX_OP_RX_H */
