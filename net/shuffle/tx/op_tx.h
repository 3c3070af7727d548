/* SPDX-License-Identifier: GPL-2.0-only */
/* What an operation sends: its row. */
#ifndef _SHUFFLE_TX_OP_TX_H
#define _SHUFFLE_TX_OP_TX_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "../sched/policy.h"

struct shuffle_msg_out;
struct shuffle_same;
struct shuffle_want;

/**
 * struct shuffle_op_tx - the row of an operation
 * @sched: schedule: which message is sent next
 * @msg: state of each message of @sched, and one more for shuffle_group_all()
 * @announced: rank below which all messages have their lengths
 * @unacked: number of messages that have not been acknowledged
 * @left: bytes of the row that have not been sent
 * @retrans: ranges to be sent again: struct shuffle_retrans
 * @nr_retrans: number of @retrans
 * @closed: all messages have their lengths
 * @delays: the row was announced with SHUFFLE_ROW_DELAYED_ACK
 * @class: class of the operation in ssk->tx_order or ssk->tx_fair
 * @copy_waits: a writer waits until a receiver grants more: tx/own_schedule.c
 * @ahead: length up to which messages go in front of other data; 0: no message does
 * @turn_sent: bytes (skb->truesize) that the operation's turn has sent so far
 * @node: place in ssk->tx_ops while there is data to send
 * @order_node: place in ssk->tx_order or ssk->tx_fair while there is data to send
 * @want: what the program is asked for (SHUFFLE_ROW_WANT), or NULL: tx/want.c
 * @same: what all messages have in common (SHUFFLE_ROW_SAME), or NULL: tx/same.c
 * @acked_at: time of the last ACK, ns
 * @waits_full_at: token bucket of answers that nothing has left yet: tx/msg_out.c
 * @free_acked: worker that frees what receivers have: tx/msg_out.c
 *
 * ssk->lock guards it.  Messages from @announced on are those of the writer (op->fill.mutex), who
 * alone changes @announced, @closed and how far a message is filled, and so reads them without.
 */
struct shuffle_op_tx {
	struct shuffle_policy_tx	sched;
	struct shuffle_msg_out		*msg;
	u32				announced;
	u32				unacked;
	u64				left;
	struct list_head		retrans;
	u32				nr_retrans;
	bool				closed;
	bool				delays;
	u8				class;
	bool				copy_waits;
	u32				ahead;
	u32				turn_sent;
	struct list_head		node;
	struct list_head		order_node;
	struct shuffle_want		*want;
	struct shuffle_same		*same;
	u64				acked_at;
	u64				waits_full_at;
	struct work_struct		free_acked;
};

/**
 * struct shuffle_op_fill - how far the writers of a row have come
 * @mutex: held by the sendmsg() that works on the row
 * @rank: message that the next byte from the user belongs to, where a row is filled in order
 * @unit: bytes of a message that are copied as one; set before others see the operation
 * @off: offset in that message of the next byte from the user; bytes behind it may have been taken
 *	ahead by a call that was interrupted
 * @asks: the row was announced with SHUFFLE_ROW_WANT
 *
 * @mutex guards it.
 */
struct shuffle_op_fill {
	struct mutex	mutex;
	u32		rank;
	u32		unit;
	u64		off;
	bool		asks;
};

#endif /* _SHUFFLE_TX_OP_TX_H */
