/* SPDX-License-Identifier: GPL-2.0-only */
/* The sockets that own packets: one for each family, and one for those that wait. */
#ifndef _SHUFFLE_TX_OWNER_H
#define _SHUFFLE_TX_OWNER_H

#include <linux/types.h>

struct dst_entry;
struct shuffle_sock;
struct sk_buff;
struct sock;

int shuffle_owner_open(struct shuffle_sock *ssk, int family);
void shuffle_owner_close(struct shuffle_sock *ssk);
struct sock *shuffle_owner_set(struct shuffle_sock *ssk, struct sk_buff *skb,
			       const struct dst_entry *dst, const void *daddr);

#endif /* _SHUFFLE_TX_OWNER_H */
