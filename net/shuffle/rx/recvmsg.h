/* SPDX-License-Identifier: GPL-2.0-only */
/* recvmsg() on a socket. */
#ifndef _SHUFFLE_RX_RECVMSG_H
#define _SHUFFLE_RX_RECVMSG_H

#include <linux/types.h>

struct msghdr;
struct socket;

int shuffle_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

#endif /* _SHUFFLE_RX_RECVMSG_H */
