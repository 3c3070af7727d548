// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams out of the queue of a UDP socket (udp.c). */
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/udp.h>

#include "../mib.h"
#include "../netns.h"
#include "input.h"
#include "udp_rcv.h"

/* The device that came in a VRF, or 0. */
static int slave_device(struct sk_buff *skb)
{
	if (IS_ENABLED(CONFIG_IPV6) && ip_hdr(skb)->version == 6)
		return inet6_sdif(skb);
	return inet_sdif(skb);
}

/**
 * shuffle_udp_rcv() - data_ready of the namespace's UDP sockets
 * @sk: UDP socket
 *
 * Several CPUs may drain one queue: nothing here relies on order.
 *
 * Context: softirq, without locks, under RCU.
 */
void shuffle_udp_rcv(struct sock *sk)
{
	struct shuffle_net *sn = rcu_dereference_sk_user_data(sk);
	struct sk_buff *skb;
	int off = 0;
	int err;

	if (!sn)
		return;
	while ((skb = __skb_recv_udp(sk, MSG_DONTWAIT, &off, &err))) {
		/* it aliases UDP's scratch space */
		skb->dev = NULL;
		/* whoever keeps the packet uses IP's cb; nobody wants the mark any more */
		skb->mark = slave_device(skb);
		skb_dst_drop(skb);
		skb_orphan(skb);
		if (udp_lib_checksum_complete(skb)) {
			SHUFFLE_INC(sn, DropCsum);
			kfree_skb_reason(skb, SKB_DROP_REASON_UDP_CSUM);
			continue;
		}
		shuffle_input_packet(sn, skb, NULL);
	}
}
