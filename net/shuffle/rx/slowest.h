/* SPDX-License-Identifier: GPL-2.0-only */
/* What the slowest receiver waits for. */
#ifndef _SHUFFLE_RX_SLOWEST_H
#define _SHUFFLE_RX_SLOWEST_H

#include <linux/types.h>

struct shuffle_op;
struct shuffle_wire;

/**
 * struct shuffle_slowest - what a receiver of an operation waits for
 * @bytes: so much, or more, at the time
 * @at: ns
 */
struct shuffle_slowest {
	u64	bytes;
	u64	at;
};

void shuffle_slowest_heard(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);
void shuffle_slowest_tell(const struct shuffle_op *op, struct shuffle_wire *w);
u32 shuffle_slowest_limits(struct shuffle_op *op, u64 now);

#endif /* _SHUFFLE_RX_SLOWEST_H */
