// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way to a member: cached route, packet size; and what we know of the link:
 * its rate and the round-trip time of an idle network.
 */
#include <linux/security.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/inet_dscp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/route.h>

#include "../config.h"
#include "../group.h"
#include "../netns.h"
#include "../sock.h"
#include "msg_out.h"
#include "output.h"
#include "path_mtu.h"
#include "route.h"

/* What both families' flows have in common: policies of routing, of the security module and
 * of IPsec look at it.
 */
static void flow_common(struct net *net, struct shuffle_sock *ssk, struct flowi_common *c)
{
	struct sock *sk = ssk ? &ssk->sk : NULL;

	c->flowic_proto = IPPROTO_UDP;
	c->flowic_uid = sock_net_uid(net, sk);
	if (!sk)
		return;
	c->flowic_oif = READ_ONCE(sk->sk_bound_dev_if);
	c->flowic_mark = READ_ONCE(sk->sk_mark);
	security_sk_classify_flow(sk, c);
}

static struct dst_entry *route4(struct net *net, struct shuffle_sock *ssk,
				const struct sockaddr_shuffle *from,
				const struct sockaddr_shuffle *to, __be16 sport, __be16 dport)
{
	struct flowi4 fl4 = {
		.fl4_sport = sport,
		.fl4_dport = dport,
	};
	struct rtable *rt;

	memcpy(&fl4.saddr, from->shs_addr, 4);
	memcpy(&fl4.daddr, to->shs_addr, 4);
	flow_common(net, ssk, flowi4_to_flowi_common(&fl4));
	/* only multicast addresses have one */
	if (!fl4.flowi4_oif)
		fl4.flowi4_oif = to->shs_scope_id;
	rt = ip_route_output_flow(net, &fl4, NULL);
	if (IS_ERR(rt))
		return NULL;
	if (rt->rt_flags & RTCF_BROADCAST) {
		ip_rt_put(rt);
		return NULL;
	}
	return &rt->dst;
}

static struct dst_entry *route6(struct net *net, struct shuffle_sock *ssk,
				const struct sockaddr_shuffle *from,
				const struct sockaddr_shuffle *to, __be16 sport, __be16 dport,
				u32 *cookie)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = {
		.fl6_sport = sport,
		.fl6_dport = dport,
	};
	struct dst_entry *dst;

	memcpy(&fl6.saddr, from->shs_addr, 16);
	memcpy(&fl6.daddr, to->shs_addr, 16);
	flow_common(net, ssk, flowi6_to_flowi_common(&fl6));
	if (!fl6.flowi6_oif)
		fl6.flowi6_oif = to->shs_scope_id;
	/* with the look-up of IPsec policies, which ip6_route_output() leaves out */
	dst = ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return NULL;
	*cookie = rt6_get_cookie(container_of(dst, struct rt6_info, dst));
	return dst;
#else
	return NULL;
#endif
}

/**
 * shuffle_route() - the route to a member
 * @sn: namespace
 * @ssk: socket that sends, or NULL on behalf of one that has gone
 * @group: group of the member
 * @rank: the member
 *
 * Context: any; ssk->lock held unless @ssk is NULL.
 * Return: the route with a reference, or NULL.
 */
struct dst_entry *shuffle_route(struct shuffle_net *sn, struct shuffle_sock *ssk,
				struct shuffle_membership *group, u32 rank)
{
	const struct sockaddr_shuffle *from = shuffle_group_self(group, rank);
	const struct sockaddr_shuffle *to = &group->member[rank].addr;
	__be16 dport = htons(READ_ONCE(sn->dev0.cfg.port));
	__be16 sport = shuffle_output_port(group, rank);
	struct shuffle_member *m = &group->member[rank];
	struct dst_entry *dst;
	u32 cookie = 0;

	if (!ssk) {
		/* rare, and nothing guards the cache */
		if (m->addr.shs_ip_family == AF_INET)
			return route4(sn->net, NULL, from, to, sport, dport);
		return route6(sn->net, NULL, from, to, sport, dport, &cookie);
	}
	dst = m->dst;
	if (dst && ((dst->obsolete && !dst->ops->check(dst, m->cookie)) ||
		    m->mark != READ_ONCE(ssk->sk.sk_mark) ||
		    m->oif != READ_ONCE(ssk->sk.sk_bound_dev_if))) {
		m->dst = NULL;
		dst_release(dst);
		dst = NULL;
	}
	if (!dst) {
		m->cookie = 0;
		m->mark = READ_ONCE(ssk->sk.sk_mark);
		m->oif = READ_ONCE(ssk->sk.sk_bound_dev_if);
		if (m->addr.shs_ip_family == AF_INET)
			dst = route4(sn->net, ssk, from, to, sport, dport);
		else
			dst = route6(sn->net, ssk, from, to, sport, dport, &m->cookie);
		m->dst = dst;
	}
	if (dst)
		dst_hold(dst);
	return dst;
}

/**
 * shuffle_route_peer() - the route to a host, for no socket in particular
 * @sn: namespace
 * @to: address of the host
 *
 * Context: any.
 * Return: the route with a reference, or NULL.
 */
struct dst_entry *shuffle_route_peer(struct shuffle_net *sn, const struct sockaddr_shuffle *to)
{
	__be16 dport = htons(READ_ONCE(sn->dev0.cfg.port));
	static const struct sockaddr_shuffle any;
	u32 cookie;

	if (to->shs_ip_family == AF_INET)
		return route4(sn->net, NULL, &any, to, 0, dport);
	return route6(sn->net, NULL, &any, to, 0, dport, &cookie);
}

/**
 * shuffle_route_answer() - the route to where a packet has come from
 * @sn: namespace
 * @from: address that the answer is from
 * @to: address and UDP port that it goes to; a scope is the device that it leaves by
 * @sport: UDP port that it is from
 *
 * Context: any.
 * Return: the route with a reference, or NULL.
 */
struct dst_entry *shuffle_route_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *from,
				       const struct sockaddr_shuffle *to, __be16 sport)
{
	u32 cookie;

	if (to->shs_ip_family == AF_INET)
		return route4(sn->net, NULL, from, to, sport, to->shs_port);
	return route6(sn->net, NULL, from, to, sport, to->shs_port, &cookie);
}

/**
 * shuffle_route_payload() - payload bytes of a packet to a member
 * @dev: device with the setting packet-size
 * @group: group of the member
 * @rank: the member
 * @dst: route, NULL for the least that every path carries
 *
 * The MTU of a route through IPsec is what is left for the packet inside.
 *
 * Context: any, under RCU if @dst is a route: its device may go.
 */
u32 shuffle_route_payload(const struct shuffle_dev *dev, const struct shuffle_membership *group,
			  u32 rank, struct dst_entry *dst)
{
	u32 most = READ_ONCE(dev->cfg.packet_size);
	u32 overhead = sizeof(struct udphdr) + group->data_hdr;
	u32 mtu = dst ? dst_mtu(dst) : 0;

	/* members have addresses of one family */
	overhead += group->member[0].addr.shs_ip_family == AF_INET ? 20 : 40;
	if (mtu < overhead + SHUFFLE_MIN_PAYLOAD)
		return SHUFFLE_MIN_PAYLOAD;
	/* the loopback's 64 KiB packets would leave no room for GSO's own limits */
	return shuffle_path_payload(&group->member[rank],
				    min3(mtu - overhead, most ?: 32768U, 32768U));
}
