// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The least that answers an ECHO before the network stack: what the module's reflector
 * (net/shuffle/rx/echo.c) is measured beside (echo.sh).  IPv4, no padding, whoever asks.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define PORT		818
#define ECHO		0x35	/* version 3, type 5 */
#define FLAG_REPLY	0x01

struct question {
	struct ethhdr	eth;
	struct iphdr	ip;
	struct udphdr	udp;
	__u8		type;
	__u8		flags;
	__u8		head[26];
	__be64		rx_ns;
	__be64		tx_ns;
} __attribute__((packed));

SEC("tc")
int echo_tc(struct __sk_buff *skb)
{
	struct question *q = (void *)(long)skb->data;
	__u64 at = bpf_ktime_get_ns();
	__u8 mac[ETH_ALEN];
	__be32 addr;

	if ((void *)(q + 1) > (void *)(long)skb->data_end ||
	    q->eth.h_proto != bpf_htons(ETH_P_IP) || q->ip.ihl != 5 ||
	    q->ip.protocol != IPPROTO_UDP || q->udp.dest != bpf_htons(PORT) || q->type != ECHO ||
	    q->flags & FLAG_REPLY)
		return TC_ACT_OK;
	__builtin_memcpy(mac, q->eth.h_source, ETH_ALEN);
	__builtin_memcpy(q->eth.h_source, q->eth.h_dest, ETH_ALEN);
	__builtin_memcpy(q->eth.h_dest, mac, ETH_ALEN);
	addr = q->ip.saddr;
	q->ip.saddr = q->ip.daddr;
	q->ip.daddr = addr;
	q->udp.dest = q->udp.source;
	q->udp.source = bpf_htons(PORT);
	q->udp.check = 0;
	q->flags |= FLAG_REPLY;
	q->rx_ns = bpf_cpu_to_be64(at);
	q->tx_ns = bpf_cpu_to_be64(bpf_ktime_get_ns());
	return bpf_redirect(skb->ifindex, 0);
}

char _license[] SEC("license") = "GPL";
