/* SPDX-License-Identifier: GPL-2.0-only */
/* Datagrams out of the queue of a UDP socket. */
#ifndef _SHUFFLE_RX_UDP_RCV_H
#define _SHUFFLE_RX_UDP_RCV_H

struct sock;

void shuffle_udp_rcv(struct sock *sk);

#endif /* _SHUFFLE_RX_UDP_RCV_H */
