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
 * @sched: the schedule says which message is sent next
 * @msg: messages have their chunks here, one entry for each of @sched.msg, and one for
 *	shuffle_group_all()
 * @announced: messages to the ranks below have their lengths
 * @unacked: so many messages have not been acknowledged
 * @left: so many bytes of the row have not been sent
 * @retrans: ranges stand here that are to be sent again
 * @nr_retrans: @retrans has so many
 * @closed: all messages have their lengths
 * @delays: the program announced the row with SHUFFLE_ROW_DELAYED_ACK
 * @class: the operation stands in this class of ssk->tx_order or ssk->tx_fair
 * @copy_waits: a writer waits until a receiver grants more: tx/own_schedule.c
 * @ahead: messages up to this length go in front of other data; 0: none does
 * @turn_sent: the operation's turn has sent so many bytes (skb->truesize) so far
 * @node: the operation stands in ssk->tx_ops while it has data to send
 * @order_node: and in ssk->tx_order or ssk->tx_fair
 * @want: a row that was announced with SHUFFLE_ROW_WANT has here what is asked for: tx/want.c
 * @same: a row with SHUFFLE_ROW_SAME has this, others NULL: tx/same.c
 * @acked_at: a message was last acknowledged then
 * @waits_full_at: token bucket of answers that nothing has left yet: tx/msg_out.c
 * @free_acked: a worker frees what receivers have: tx/msg_out.c
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
 * @mutex: one sendmsg() at a time works on the row
 * @rank: the next byte from the user is for this rank (in order filling)
 * @unit: so many bytes of a message are copied as one; set before others see the operation
 * @off: that next byte has this place in its message; of this message and of those behind it, bytes
 *	may have been taken ahead by a call that was interrupted
 * @asks: the program announced the row with SHUFFLE_ROW_WANT
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
