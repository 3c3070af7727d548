/* SPDX-License-Identifier: GPL-2.0-only */
/* A row is announced: its lengths, and what of it goes without a grant. */
#ifndef _SHUFFLE_TX_ANNOUNCE_H
#define _SHUFFLE_TX_ANNOUNCE_H

#include <linux/types.h>

struct shuffle_op;
struct shuffle_row;

int shuffle_announce(struct shuffle_op *op, const struct shuffle_row *row);

#endif /* _SHUFFLE_TX_ANNOUNCE_H */
