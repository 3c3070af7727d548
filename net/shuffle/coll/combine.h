/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Items of vectors, combined (portable: see ../sched/portable.h). */
#ifndef _SHUFFLE_COMBINE_H
#define _SHUFFLE_COMBINE_H

#include "../../../uapi/linux/shuffle.h"
#include "../sched/portable.h"

u32 shuffle_coll_item(u8 type);
bool shuffle_coll_can_combine(u8 oper, u8 type);
void shuffle_coll_turn(u8 type, void *items, u64 size);
void shuffle_coll_combine(u8 oper, u8 type, void *into, const void *in, u64 size);

#endif /* _SHUFFLE_COMBINE_H */
