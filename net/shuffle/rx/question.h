/* SPDX-License-Identifier: GPL-2.0-only */
/* Losses that are proved by questions. */
#ifndef _SHUFFLE_RX_QUESTION_H
#define _SHUFFLE_RX_QUESTION_H

#include <linux/types.h>

struct shuffle_op;
struct sk_buff_head;

u64 shuffle_question_wait(const struct shuffle_op *op);
bool shuffle_question_early(const struct shuffle_op *op, u32 rank);
void shuffle_question_ask(struct shuffle_op *op, u32 rank, struct sk_buff_head *q, u64 now);
void shuffle_question_gap(struct shuffle_op *op, u32 rank, struct sk_buff_head *q, u64 now);
void shuffle_question_resend(struct shuffle_op *op, u32 rank, u64 start, u64 end,
			     struct sk_buff_head *q);
bool shuffle_question_full(const struct shuffle_op *op, u32 rank);
u32 shuffle_question_missing(struct shuffle_op *op, u32 rank, u64 end, struct sk_buff_head *q);
void shuffle_question_answered(struct shuffle_op *op, u32 rank, u64 sent, struct sk_buff_head *q,
			       u64 now);
void shuffle_question_progress(struct shuffle_op *op, u32 rank, bool again, u64 now);

#endif /* _SHUFFLE_RX_QUESTION_H */
