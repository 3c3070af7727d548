/* SPDX-License-Identifier: GPL-2.0-only */
/* How much is granted. */
#ifndef _SHUFFLE_RX_GRANT_H
#define _SHUFFLE_RX_GRANT_H

#include <linux/types.h>

struct shuffle_dev;
struct shuffle_op;
struct shuffle_sock;
struct sk_buff_head;

u32 shuffle_grant_share(const struct shuffle_op *op);
u64 shuffle_grant_ordered(const struct shuffle_op *op, u8 class, u64 max_out);
void shuffle_grant_account(struct shuffle_op *op);
void shuffle_grant_pressure(struct shuffle_sock *ssk);
void shuffle_grant_op(struct shuffle_op *op, struct sk_buff_head *q, u64 now);
void shuffle_grant_tell(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
void shuffle_grant_send(struct shuffle_op *op, u32 rank, struct sk_buff_head *q);
bool shuffle_grant_sock(struct shuffle_sock *ssk, struct sk_buff_head *q);
u64 shuffle_grant_max_out(const struct shuffle_dev *dev);

#endif /* _SHUFFLE_RX_GRANT_H */
