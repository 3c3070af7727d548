/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets, from their headers to IP. */
#ifndef _SHUFFLE_TX_OUTPUT_H
#define _SHUFFLE_TX_OUTPUT_H

#include <linux/types.h>

struct shuffle_membership;
struct shuffle_net;
struct shuffle_sock;
struct shuffle_wire;
struct sk_buff;
struct sk_buff_head;
struct sockaddr_shuffle;

__be16 shuffle_output_port(const struct shuffle_membership *group, u32 rank);
struct sk_buff *shuffle_output_alloc(struct shuffle_net *sn, struct shuffle_sock *ssk,
				     struct shuffle_membership *group, u32 rank,
				     unsigned int linear, bool control);
void shuffle_output_ahead(struct shuffle_net *sn, struct sk_buff *skb);
void shuffle_output_record(struct shuffle_net *sn, struct shuffle_sock *ssk,
			   struct shuffle_membership *group, u32 rank,
			   struct shuffle_wire *w, struct sk_buff_head *q);
struct sk_buff *shuffle_output_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *from,
				      const struct sockaddr_shuffle *to, unsigned int linear,
				      u8 tos);
void shuffle_output_flush(struct shuffle_net *sn, struct sk_buff_head *q);

#endif /* _SHUFFLE_TX_OUTPUT_H */
