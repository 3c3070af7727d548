/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose turn it is to send: sockets of a namespace, operations of a socket. */
#ifndef _SHUFFLE_TX_TURNS_H
#define _SHUFFLE_TX_TURNS_H

#include <linux/types.h>

struct shuffle_net;
struct shuffle_op;
struct shuffle_sock;

void shuffle_turns_init(struct shuffle_net *sn);
void shuffle_turns_add_op(struct shuffle_op *op);
void shuffle_turns_del_op(struct shuffle_op *op);
void shuffle_turns_op_over(struct shuffle_op *op);
struct shuffle_op *shuffle_turns_next_op(struct shuffle_sock *ssk, bool oldest);
bool shuffle_turns_add_sock(struct shuffle_net *sn, struct shuffle_sock *ssk, bool first);
struct shuffle_sock *shuffle_turns_next_sock(struct shuffle_net *sn, bool oldest);

#endif /* _SHUFFLE_TX_TURNS_H */
