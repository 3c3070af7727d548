/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets of operations that have not started. */
#ifndef _SHUFFLE_RX_EARLY_H
#define _SHUFFLE_RX_EARLY_H

#include <linux/types.h>

struct shuffle_sock;
struct sk_buff;

void shuffle_early_init(struct shuffle_sock *ssk);
void shuffle_early_exit(struct shuffle_sock *ssk);
int shuffle_early_keep(struct shuffle_sock *ssk, struct sk_buff *skb, u64 op_id, u32 unlinked);
void shuffle_early_claim(struct shuffle_sock *ssk, u64 op_id);

#endif /* _SHUFFLE_RX_EARLY_H */
