/* SPDX-License-Identifier: GPL-2.0-only */
/* Time limits, from what has been measured. */
#ifndef _SHUFFLE_RX_RTO_H
#define _SHUFFLE_RX_RTO_H

#include <linux/types.h>

struct shuffle_op;

u64 shuffle_rto_first(const struct shuffle_op *op);
u64 shuffle_rto_min(const struct shuffle_op *op);
u64 shuffle_rto_max(const struct shuffle_op *op);
u64 shuffle_rto_unmeasured(const struct shuffle_op *op);
u64 shuffle_rto(const struct shuffle_op *op);
u64 shuffle_rto_data(const struct shuffle_op *op);
void shuffle_rto_sample(struct shuffle_op *op, u32 rank, u64 ns, u64 now);
void shuffle_rto_acked(struct shuffle_op *op, u32 rank, u64 now);

#endif /* _SHUFFLE_RX_RTO_H */
