/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows that are asked for: WANT records and their answers. */
#ifndef _SHUFFLE_TX_WANT_H
#define _SHUFFLE_TX_WANT_H

#include <linux/types.h>

struct shuffle_op;
struct shuffle_ready;
struct shuffle_record;
struct shuffle_sock;
struct shuffle_want;

/**
 * struct shuffle_want_cursor - a place in what a program has been asked for
 * @at: number of the record
 * @used: bytes of it that lie before the place
 */
struct shuffle_want_cursor {
	u32	at;
	u32	used;
};

int shuffle_want_start(struct shuffle_op *op);
void shuffle_want_free(struct shuffle_want *want);
void shuffle_want_stop(struct shuffle_op *op);
void shuffle_want_room(struct shuffle_sock *ssk);
void shuffle_want_granted(struct shuffle_op *op, u32 rank);
bool shuffle_want_next(struct shuffle_ready *ready, struct shuffle_record *rec);
s64 shuffle_want_begin(struct shuffle_op *op, struct shuffle_want_cursor *cur);
u32 shuffle_want_at(const struct shuffle_op *op, const struct shuffle_want_cursor *cur, u32 *len);
void shuffle_want_advance(const struct shuffle_op *op, struct shuffle_want_cursor *cur, u32 len);
void shuffle_want_answered(struct shuffle_op *op, u64 bytes);

#endif /* _SHUFFLE_TX_WANT_H */
