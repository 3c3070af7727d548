/* SPDX-License-Identifier: GPL-2.0-only */
/* A writer's own schedule, which takes no lock. */
#ifndef _SHUFFLE_TX_OWN_SCHEDULE_H
#define _SHUFFLE_TX_OWN_SCHEDULE_H

#include <linux/types.h>

struct shuffle_op;
struct shuffle_policy_tx;

int shuffle_own_schedule(const struct shuffle_op *op, struct shuffle_policy_tx *tx);
int shuffle_fill_schedule(const struct shuffle_op *op, u32 from, struct shuffle_policy_tx *tx);
u64 shuffle_fill_share(const struct shuffle_op *op, u32 left);
bool shuffle_fill_limits(struct shuffle_op *op, u32 from, struct shuffle_policy_tx *tx);
void shuffle_free_schedule(struct shuffle_policy_tx *tx);

#endif /* _SHUFFLE_TX_OWN_SCHEDULE_H */
