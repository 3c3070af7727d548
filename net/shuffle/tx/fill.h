/* SPDX-License-Identifier: GPL-2.0-only */
/* Data of a row, taken from the user into the send buffer. */
#ifndef _SHUFFLE_TX_FILL_H
#define _SHUFFLE_TX_FILL_H

#include <linux/types.h>

struct iov_iter;
struct shuffle_op;

u64 shuffle_fill_left(const struct shuffle_op *op);
ssize_t shuffle_fill_row(struct shuffle_op *op, struct iov_iter *iter, u32 first_rank, long timeo);
void shuffle_fill_cancel(struct shuffle_op *op);

#endif /* _SHUFFLE_TX_FILL_H */
