/* SPDX-License-Identifier: GPL-2.0-only */
/* An operation's timer. */
#ifndef _SHUFFLE_RX_TIMER_H
#define _SHUFFLE_RX_TIMER_H

#include <linux/types.h>

struct shuffle_op;

void shuffle_timer_init(struct shuffle_op *op);
void shuffle_timer_start(struct shuffle_op *op);
void shuffle_timer_now(struct shuffle_op *op, u64 now);
void shuffle_timer_in(struct shuffle_op *op, u32 rank);
void shuffle_timer_out(struct shuffle_op *op, u32 rank);
u64 shuffle_timer_in_wait(const struct shuffle_op *op, u32 rank);

#endif /* _SHUFFLE_RX_TIMER_H */
