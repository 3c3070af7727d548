// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a UDP payload to the wire.  Packets are built under ssk->lock, and handed
 * to IP when no lock is held.
 */
#include <linux/pkt_sched.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ip6_checksum.h>

#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../user.h"
#include "output.h"
#include "owner.h"
#include "route.h"

/* A packet of control records fits every path. */
#define SHUFFLE_CONTROL_MAX	(4 * SHUFFLE_WIRE_MAX_HDR)

/* skb->cb between building and handing to IP.  @ssk: a packet is handed to IP before its
 * socket can be freed: in a system call on the socket, or in the softirq that has built the
 * packet (SOCK_RCU_FREE).
 */
struct xmit_cb {
	struct shuffle_sock *ssk;
	u8	saddr[16];
	u8	daddr[16];
	__be16	sport;
	union {
		u16	rank;
		__be16	dport;	/* if @answer */
	};
	u8	tos;
	u8	hops;
	bool	v6:1;
	bool	answer:1;
};

static struct xmit_cb *xmit_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct xmit_cb) > sizeof(skb->cb));
	return (struct xmit_cb *)skb->cb;
}

/**
 * shuffle_output_port() - UDP source port of packets to a member
 * @group: group
 * @rank: the member
 *
 * Several source ports: NICs and switches spread flows by them.  One path a pair keeps
 * packets of a message mostly in order; the protocol does not need it.  All of them are
 * ports that only privileged processes may use: shuffle_source_port().
 *
 * Return: the port.
 */
__be16 shuffle_output_port(const struct shuffle_membership *group, u32 rank)
{
	u32 hash = group->rank * 0x9e3779b1U ^ rank * 0x85ebca6bU;

	return htons(SHUFFLE_SOURCE_PORT_FIRST + (hash >> (32 - SHUFFLE_SOURCE_PORT_BITS)));
}

/* An empty packet that goes by @dst, whose reference is taken over; or NULL, counted. */
static struct sk_buff *alloc_to(struct shuffle_net *sn, struct dst_entry *dst, unsigned int linear)
{
	unsigned int head = LL_RESERVED_SPACE(dst->dev) + dst->header_len +
			    sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	struct sk_buff *skb;

	skb = alloc_skb(head + linear, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		dst_release(dst);
		SHUFFLE_INC(sn, DropMem);
		return NULL;
	}
	skb_reserve(skb, head);
	skb_dst_set(skb, dst);
	return skb;
}

/**
 * shuffle_output_alloc() - an empty packet to a member
 * @sn: namespace
 * @ssk: the socket that sends, or NULL on behalf of one that has gone
 * @group: group of the member
 * @rank: the member, or shuffle_group_all()
 * @linear: bytes of linear room for UDP payload
 * @control: first in every queue, as far as its user may: shuffle_user_control()
 *
 * Context: any; ssk->lock held unless @ssk is NULL.
 * Return: the packet, or NULL (counted): no route or no memory.
 */
struct sk_buff *shuffle_output_alloc(struct shuffle_net *sn, struct shuffle_sock *ssk,
				     struct shuffle_membership *group, u32 rank,
				     unsigned int linear, bool control)
{
	const struct sockaddr_shuffle *to = &group->member[rank].addr;
	struct dst_entry *dst;
	struct sk_buff *skb;
	struct xmit_cb *cb;

	dst = shuffle_route(sn, ssk, group, rank);
	if (!dst) {
		SHUFFLE_INC(sn, NoRoute);
		return NULL;
	}
	skb = alloc_to(sn, dst, linear);
	if (!skb)
		return NULL;
	if (ssk) {
		skb->mark = READ_ONCE(ssk->sk.sk_mark);
		skb->priority = READ_ONCE(ssk->sk.sk_priority);
	}
	cb = xmit_cb(skb);
	memset(cb, 0, sizeof(*cb));
	cb->ssk = ssk;
	memcpy(cb->saddr, shuffle_group_self(group, rank)->shs_addr, 16);
	memcpy(cb->daddr, to->shs_addr, 16);
	cb->sport = shuffle_output_port(group, rank);
	cb->rank = rank;
	if (rank == shuffle_group_all(group))
		cb->hops = group->hops;
	cb->v6 = to->shs_ip_family == AF_INET6;
	if (ssk)
		cb->tos = READ_ONCE(ssk->tos);
	if (!control)
		return skb;
	/* what the kernel sends for nobody answers packets, one for one */
	if (!ssk || shuffle_user_control(ssk->user)) {
		skb->priority = TC_PRIO_CONTROL;
		cb->tos = shuffle_dev_control_tos(sn, dst->dev->ifindex);
	} else {
		SHUFFLE_INC(sn, CtrlBehind);
	}
	return skb;
}

/**
 * shuffle_output_ahead() - a data packet goes in front of those of other operations
 * @sn: namespace
 * @skb: packet of shuffle_output_alloc(), of a socket
 *
 * With the packets without payload, unless the program has set a class of its own.
 */
void shuffle_output_ahead(struct shuffle_net *sn, struct sk_buff *skb)
{
	struct xmit_cb *cb = xmit_cb(skb);

	if (skb->priority || cb->tos)
		return;
	skb->priority = TC_PRIO_INTERACTIVE;
	cb->tos = shuffle_dev_control_tos(sn, skb_dst(skb)->dev->ifindex);
	SHUFFLE_INC(sn, AheadOut);
}

/* May a record of @ssk, NULL for a socket that has gone, join the packet? */
static bool same_way(const struct sk_buff *skb, const struct shuffle_sock *ssk,
		     const struct shuffle_membership *group, u32 rank)
{
	const struct xmit_cb *cb = (const struct xmit_cb *)skb->cb;

	return cb->ssk == ssk && cb->rank == rank &&
	       !memcmp(cb->saddr, shuffle_group_self(group, rank)->shs_addr, 16) &&
	       !memcmp(cb->daddr, group->member[rank].addr.shs_addr, 16);
}

/**
 * shuffle_output_record() - add a record without payload to a list of packets
 * @sn: namespace
 * @ssk: see shuffle_output_alloc()
 * @group: group of the receiver
 * @rank: receiver
 * @w: the record; ranks, ports and tag are filled in
 * @q: packets; the last one takes the record if it goes the same way
 *
 * Context: any, locks as shuffle_output_alloc().
 */
void shuffle_output_record(struct shuffle_net *sn, struct shuffle_sock *ssk,
			   struct shuffle_membership *group, u32 rank,
			   struct shuffle_wire *w, struct sk_buff_head *q)
{
	struct sk_buff *skb = skb_peek_tail(q);
	unsigned int hdr;

	shuffle_group_address(group, rank, w);
	shuffle_group_tag(group, w);
	hdr = shuffle_wire_hdr_len(w->type, w->flags);
	if (!skb || !same_way(skb, ssk, group, rank) || skb_is_nonlinear(skb) ||
	    skb->len + hdr > SHUFFLE_CONTROL_MAX || skb_tailroom(skb) < hdr) {
		skb = shuffle_output_alloc(sn, ssk, group, rank, SHUFFLE_CONTROL_MAX, true);
		if (!skb)
			return;
		__skb_queue_tail(q, skb);
		SHUFFLE_INC(sn, CtrlPktsOut);
	}
	shuffle_wire_build(skb_put(skb, hdr), w);
	SHUFFLE_ADD(sn, CtrlBytesOut, hdr);
}

/* The class of a packet that answers one. */
static u32 class_of(struct shuffle_net *sn, const struct dst_entry *dst, u8 tos)
{
	if (tos && tos == shuffle_dev_control_tos(sn, dst->dev->ifindex))
		return TC_PRIO_CONTROL;
	return rt_tos2priority(tos);
}

/**
 * shuffle_output_answer() - an empty packet to where a packet has come from
 * @sn: namespace
 * @from: address that it is from
 * @to: address that it goes to, with the UDP port; the scope of a link, too
 * @linear: bytes of linear room for UDP payload
 * @tos: traffic class
 *
 * It goes from the namespace's UDP port, on behalf of the kernel.
 *
 * Context: any.
 * Return: the packet, or NULL (counted): no route or no memory.
 */
struct sk_buff *shuffle_output_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *from,
				      const struct sockaddr_shuffle *to, unsigned int linear,
				      u8 tos)
{
	__be16 sport = htons(READ_ONCE(sn->dev0.cfg.port));
	struct dst_entry *dst;
	struct sk_buff *skb;
	struct xmit_cb *cb;

	dst = shuffle_route_answer(sn, from, to, sport);
	if (!dst) {
		SHUFFLE_INC(sn, NoRoute);
		return NULL;
	}
	skb = alloc_to(sn, dst, linear);
	if (!skb)
		return NULL;
	skb->priority = class_of(sn, dst, tos);
	cb = xmit_cb(skb);
	memset(cb, 0, sizeof(*cb));
	memcpy(cb->saddr, from->shs_addr, 16);
	memcpy(cb->daddr, to->shs_addr, 16);
	cb->sport = sport;
	cb->dport = to->shs_port;
	cb->answer = true;
	cb->tos = tos;
	cb->v6 = to->shs_ip_family == AF_INET6;
	return skb;
}

/* No IP identification: none is needed where nothing may fragment (RFC 6864), and
 * the kernel's costs a hash.
 */
static void xmit4(struct net *net, struct sock *sk, struct sk_buff *skb,
		  struct dst_entry *dst, const struct xmit_cb *cb)
{
	struct udphdr *uh = udp_hdr(skb);
	unsigned int len = skb->len;
	struct iphdr *iph;

	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = cb->tos,
		.frag_off = htons(IP_DF),
		.ttl = cb->hops ?: ip4_dst_hoplimit(dst),
		.protocol = IPPROTO_UDP,
	};
	memcpy(&iph->saddr, cb->saddr, 4);
	memcpy(&iph->daddr, cb->daddr, 4);
	uh->check = ~csum_tcpudp_magic(iph->saddr, iph->daddr, len, IPPROTO_UDP, 0);
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	skb_dst_set(skb, dst);
	ip_local_out(net, sk, skb);
}

static void xmit6(struct net *net, struct sock *sk, struct sk_buff *skb,
		  struct dst_entry *dst, const struct xmit_cb *cb)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct udphdr *uh = udp_hdr(skb);
	unsigned int len = skb->len;
	struct ipv6hdr *h;

	uh->check = ~csum_ipv6_magic((struct in6_addr *)cb->saddr,
				     (struct in6_addr *)cb->daddr, len, IPPROTO_UDP, 0);
	h = skb_push(skb, sizeof(*h));
	skb_reset_network_header(skb);
	ip6_flow_hdr(h, cb->tos, 0);
	h->payload_len = htons(len);
	h->nexthdr = IPPROTO_UDP;
	h->hop_limit = cb->hops ?: ip6_dst_hoplimit(dst);
	memcpy(&h->saddr, cb->saddr, 16);
	memcpy(&h->daddr, cb->daddr, 16);
	skb->protocol = htons(ETH_P_IPV6);
	memset(skb->cb, 0, sizeof(struct inet6_skb_parm));
	skb_dst_set(skb, dst);
	ip6_local_out(net, sk, skb);
#endif
}

static void xmit_one(struct shuffle_net *sn, struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);
	struct xmit_cb cb = *xmit_cb(skb);
	struct sock *sk = NULL;
	struct udphdr *uh;

	if (cb.ssk)
		sk = shuffle_owner_set(cb.ssk, skb, dst, cb.daddr);
	if (!sk) {
		/* on behalf of a socket that has gone; pairs with shuffle_udp_open() */
		struct socket *sock = smp_load_acquire(&sn->udp[cb.v6]);

		if (sock) {
			sk = sock->sk;
			skb_set_owner_w(skb, sk);
		}
	}
	if (IS_ERR_OR_NULL(sk)) {
		if (sk)
			SHUFFLE_INC(sn, NoNeigh);
		kfree_skb_reason(skb, SKB_DROP_REASON_NEIGH_QUEUEFULL);
		return;
	}
	skb->_skb_refdst = 0;	/* the reference is ours now */

	uh = skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	uh->source = cb.sport;
	uh->dest = cb.answer ? cb.dport : htons(READ_ONCE(sn->dev0.cfg.port));
	uh->len = htons(skb->len);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	if (cb.v6)
		xmit6(sn->net, sk, skb, dst, &cb);
	else
		xmit4(sn->net, sk, skb, dst, &cb);
}

/**
 * shuffle_output_flush() - hand packets to IP
 * @sn: namespace
 * @q: packets, empty afterwards
 *
 * Context: process or softirq; no lock of ours held.
 */
void shuffle_output_flush(struct shuffle_net *sn, struct sk_buff_head *q)
{
	struct sk_buff *skb;
	u32 n = 0;

	if (skb_queue_empty(q))
		return;
	/* one context for callers from processes and from softirqs */
	local_bh_disable();
	while ((skb = __skb_dequeue(q))) {
		xmit_one(sn, skb);
		if (++n % SHUFFLE_BURST == 0) {
			/* in a process softirqs run here */
			local_bh_enable();
			local_bh_disable();
		}
	}
	local_bh_enable();
}
