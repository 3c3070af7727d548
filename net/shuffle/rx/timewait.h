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

void shuffle_timewait_init(struct shuffle_net *sn);
bool shuffle_timewait_exists(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			     u64 op_id);
void shuffle_timewait_add(struct shuffle_net *sn, struct shuffle_op *op);
int shuffle_timewait_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *at,
			    const struct sockaddr_shuffle *from,
			    const struct shuffle_wire *w, struct sk_buff_head *q);
void shuffle_timewait_purge(struct shuffle_net *sn);

#endif /* _SHUFFLE_RX_TIMEWAIT_H */
