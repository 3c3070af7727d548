/* SPDX-License-Identifier: GPL-2.0-only */
/* ACKs that wait for data that takes them along. */
#ifndef _SHUFFLE_RX_DELAYED_ACK_H
#define _SHUFFLE_RX_DELAYED_ACK_H

#include <linux/time64.h>
#include <linux/types.h>

struct shuffle_membership;
struct shuffle_op;
struct shuffle_sock;
struct shuffle_wire;
struct sk_buff_head;

/* An ACK waits so long for data that takes it along. */
#define SHUFFLE_ACK_DELAY_NS	(5 * NSEC_PER_MSEC)

/* ACKs of one member that wait: all of them fit one packet */
#define SHUFFLE_DELAYED_ACKS	4

void shuffle_delayed_init(struct shuffle_sock *ssk, struct shuffle_membership *group);
void shuffle_delayed_exit(struct shuffle_sock *ssk);
bool shuffle_delayed_owe(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
u32 shuffle_delayed_count(const struct shuffle_op *op, u32 rank);
struct shuffle_wire shuffle_delayed_take(struct shuffle_op *op, u32 rank);

#endif /* _SHUFFLE_RX_DELAYED_ACK_H */
