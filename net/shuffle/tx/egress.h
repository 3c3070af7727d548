/* SPDX-License-Identifier: GPL-2.0-only */
/* What is sent next, and when. */
#ifndef _SHUFFLE_TX_EGRESS_H
#define _SHUFFLE_TX_EGRESS_H

#include <linux/time64.h>
#include <linux/types.h>

struct shuffle_net;
struct shuffle_op;

/* what has not moved in a device for so long is stuck */
#define SHUFFLE_EGRESS_STUCK_NS	(10 * NSEC_PER_MSEC)

void shuffle_egress_init(struct shuffle_net *sn);
void shuffle_egress_exit(struct shuffle_net *sn);
void shuffle_egress_kick(struct shuffle_op *op);
void shuffle_egress_force(struct shuffle_net *sn);
void shuffle_egress_room(struct shuffle_net *sn);

#endif /* _SHUFFLE_TX_EGRESS_H */
