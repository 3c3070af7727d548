/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows whose messages have the same bytes. */
#ifndef _SHUFFLE_TX_SAME_H
#define _SHUFFLE_TX_SAME_H

#include <linux/types.h>

struct shuffle_op;
struct shuffle_row;
struct shuffle_wire;

int shuffle_same_alloc(struct shuffle_op *op, const struct shuffle_row *row);
void shuffle_same_left(struct shuffle_op *op);
void shuffle_same_start(struct shuffle_op *op);
void shuffle_same_granted(struct shuffle_op *op, u32 rank, u64 before);
u64 shuffle_same_freed(struct shuffle_op *op, u32 rank, u64 before);
void shuffle_same_filled(struct shuffle_op *op);
void shuffle_same_sent(struct shuffle_op *op, u64 now);
void shuffle_same_arrived(struct shuffle_op *op, u32 rank, u64 acked);
bool shuffle_same_under_way(const struct shuffle_op *op, u64 now);
void shuffle_same_asked(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);

#endif /* _SHUFFLE_TX_SAME_H */
