/* SPDX-License-Identifier: GPL-2.0-only */
/* Datagrams become records. */
#ifndef _SHUFFLE_RX_INPUT_H
#define _SHUFFLE_RX_INPUT_H

#include <linux/types.h>

struct shuffle_net;
struct shuffle_sock;
struct sk_buff;

void shuffle_input_packet(struct shuffle_net *sn, struct sk_buff *skb,
			  struct shuffle_sock *claims);

#endif /* _SHUFFLE_RX_INPUT_H */
