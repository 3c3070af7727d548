/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths that carry less than their first link. */
#ifndef _SHUFFLE_TX_PATH_MTU_H
#define _SHUFFLE_TX_PATH_MTU_H

#include <linux/types.h>

struct shuffle_member;
struct shuffle_op;

u32 shuffle_path_payload(const struct shuffle_member *m, u32 payload);
void shuffle_path_lost(struct shuffle_op *op, u32 rank, u32 payload, u64 now);
void shuffle_path_arrived(struct shuffle_op *op, u32 rank);

#endif /* _SHUFFLE_TX_PATH_MTU_H */
