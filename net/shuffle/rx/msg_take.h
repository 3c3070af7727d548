/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages that no reader gets. */
#ifndef _SHUFFLE_RX_MSG_TAKE_H
#define _SHUFFLE_RX_MSG_TAKE_H

#include <linux/types.h>

struct shuffle_op;

bool shuffle_msg_in_take(struct shuffle_op *op, u32 rank, u8 *to, s32 *budget);

#endif /* _SHUFFLE_RX_MSG_TAKE_H */
