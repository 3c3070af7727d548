/* SPDX-License-Identifier: GPL-2.0-only */
/* sendmsg() on a socket. */
#ifndef _SHUFFLE_TX_SENDMSG_H
#define _SHUFFLE_TX_SENDMSG_H

#include <linux/types.h>

struct msghdr;
struct socket;

int shuffle_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);

#endif /* _SHUFFLE_TX_SENDMSG_H */
