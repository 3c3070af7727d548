/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers to echoes. */
#ifndef _SHUFFLE_RX_ECHO_H
#define _SHUFFLE_RX_ECHO_H

#include <linux/types.h>

struct shuffle_net;
struct shuffle_wire;
struct sk_buff;
struct sockaddr_shuffle;

void shuffle_echo_answer(struct shuffle_net *sn, const struct sk_buff *skb, u32 off,
			 const struct sockaddr_shuffle *from, const struct sockaddr_shuffle *to,
			 const struct shuffle_wire *w);

#endif /* _SHUFFLE_RX_ECHO_H */
