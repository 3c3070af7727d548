/* SPDX-License-Identifier: GPL-2.0-only */
/* When the egress runs. */
#ifndef _SHUFFLE_TX_EGRESS_WAKE_H
#define _SHUFFLE_TX_EGRESS_WAKE_H

#include <linux/list.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "../op.h"

struct shuffle_net;

/* what has not moved in a device for so long is stuck */
#define SHUFFLE_EGRESS_STUCK_NS	(10 * NSEC_PER_MSEC)

/* Any context, ssk->lock held. */
static inline bool shuffle_egress_has_data(const struct shuffle_op *op)
{
	return op->tx.sched.heap.n || !list_empty(&op->tx.retrans);
}

void shuffle_egress_schedule(struct shuffle_net *sn);
u32 shuffle_egress_limit(struct shuffle_net *sn);
u32 shuffle_egress_queued(struct shuffle_net *sn);
void shuffle_egress_kick(struct shuffle_op *op);
void shuffle_egress_room(struct shuffle_net *sn);
void shuffle_egress_force(struct shuffle_net *sn);

#endif /* _SHUFFLE_TX_EGRESS_WAKE_H */
