/* SPDX-License-Identifier: GPL-2.0-only */
/* Data of a row, copied from the user into wire layout. */
#ifndef _SHUFFLE_TX_COPY_H
#define _SHUFFLE_TX_COPY_H

#include <linux/types.h>

struct iov_iter;
struct shuffle_chunk;
struct shuffle_op;

struct shuffle_chunk *shuffle_copy_chunk(struct shuffle_op *op, u32 rank, u32 len,
					 struct iov_iter *iter, long timeo);

#endif /* _SHUFFLE_TX_COPY_H */
