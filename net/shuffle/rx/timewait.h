/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations that have ended. */
#ifndef _SHUFFLE_RX_TIMEWAIT_H
#define _SHUFFLE_RX_TIMEWAIT_H

#include <linux/types.h>

struct shuffle_net;
struct shuffle_op;
struct shuffle_wire;
struct sk_buff_head;
struct sockaddr_shuffle;

/**
 * enum shuffle_ended - what is remembered of the operation that a record is for
 * @SHUFFLE_ENDED_UNKNOWN: nothing
 * @SHUFFLE_ENDED: it has ended, and there is no answer
 * @SHUFFLE_ENDED_ANSWERED: it has ended, and the answer says so
 * @SHUFFLE_ENDED_OTHER: an operation of this number has ended, and the record brings a message of
 *	another one
 */
enum shuffle_ended {
	SHUFFLE_ENDED_UNKNOWN,
	SHUFFLE_ENDED,
	SHUFFLE_ENDED_ANSWERED,
	SHUFFLE_ENDED_OTHER,
};

void shuffle_timewait_init(struct shuffle_net *sn);
bool shuffle_timewait_exists(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     u64 op_id);
void shuffle_timewait_add(struct shuffle_net *sn, struct shuffle_op *op);
enum shuffle_ended shuffle_timewait_answer(struct shuffle_net *sn,
					   const struct sockaddr_shuffle *at,
					   const struct sockaddr_shuffle *from,
					   const struct shuffle_wire *w, struct sk_buff_head *q);
void shuffle_timewait_purge(struct shuffle_net *sn);

#endif /* _SHUFFLE_RX_TIMEWAIT_H */
