/* SPDX-License-Identifier: GPL-2.0-only */
/* What the control messages of sendmsg() say about a row. */
#ifndef _SHUFFLE_TX_ROW_H
#define _SHUFFLE_TX_ROW_H

#include "../../../uapi/linux/shuffle.h"
#include "../op.h"
#include "../sched/wire.h"

const struct shuffle_row *shuffle_row_find(struct msghdr *msg, struct shuffle_column *column);

/**
 * shuffle_row_digest() - a program's digest, in as many bits as records have for it
 * @digest: of struct shuffle_row or struct shuffle_collective; 0: none
 */
static inline u64 shuffle_row_digest(u64 digest)
{
	if (!digest)
		return 0;
	return ((digest ^ digest >> 48) & SHUFFLE_DIGEST_MAX) ?: 1;
}

/**
 * shuffle_absent_from() - does a rank have no message for us?
 * @absent: the ranks that have none, or NULL
 * @rank: one of them, perhaps
 */
static inline bool shuffle_absent_from(const struct shuffle_absent *absent, u32 rank)
{
	const u64 *bits = (const void *)absent + (absent ? absent->size : 0);

	return absent && rank / 64 < absent->words && bits[rank / 64] >> rank % 64 & 1;
}

/* Lengths of the messages: behind the structure as the program knows it. */
static inline const u64 *shuffle_row_lens(const struct shuffle_row *row)
{
	return (const void *)row + row->size;
}

#endif /* _SHUFFLE_TX_ROW_H */
