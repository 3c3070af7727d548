// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way to a member: cached route, packet size; and what we know of the link:
 * its rate and the round-trip time of an idle network.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/inet_dscp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/route.h>

#include "shuffle.h"

/* before anything was measured */
#define SHUFFLE_RTT_GUESS_NS	50000

static struct dst_entry *route4(struct net *net, const struct shuffle_sock *ssk,
				const struct sockaddr_shuffle *from,
				const struct sockaddr_shuffle *to)
{
	struct flowi4 fl4 = {
		.flowi4_oif = ssk ? READ_ONCE(ssk->sk.sk_bound_dev_if) : 0,
		.flowi4_mark = ssk ? READ_ONCE(ssk->sk.sk_mark) : 0,
		.flowi4_proto = IPPROTO_UDP,
		.fl4_dport = htons(shuffle_params.udp_port),
	};
	struct rtable *rt;

	memcpy(&fl4.saddr, from->shs_addr, 4);
	memcpy(&fl4.daddr, to->shs_addr, 4);
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return NULL;
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return NULL;
	}
	return &rt->dst;
}

static struct dst_entry *route6(struct net *net, const struct shuffle_sock *ssk,
				const struct sockaddr_shuffle *from,
				const struct sockaddr_shuffle *to, u32 *cookie)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = {
		.flowi6_oif = ssk ? READ_ONCE(ssk->sk.sk_bound_dev_if) : 0,
		.flowi6_mark = ssk ? READ_ONCE(ssk->sk.sk_mark) : 0,
		.flowi6_proto = IPPROTO_UDP,
		.fl6_dport = htons(shuffle_params.udp_port),
	};
	struct dst_entry *dst;

	if (!fl6.flowi6_oif)
		fl6.flowi6_oif = to->shs_scope_id;
	memcpy(&fl6.saddr, from->shs_addr, 16);
	memcpy(&fl6.daddr, to->shs_addr, 16);
	dst = ip6_route_output(net, NULL, &fl6);
	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
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
 * @group: its group
 * @rank: the member
 *
 * Context: any; ssk->lock held unless @ssk is NULL.
 * Return: the route with a reference, or NULL.
 */
struct dst_entry *shuffle_route(struct shuffle_net *sn, struct shuffle_sock *ssk,
				struct shuffle_group_obj *group, u32 rank)
{
	const struct sockaddr_shuffle *self = &group->member[group->rank].addr;
	struct shuffle_member *m = &group->member[rank];
	struct dst_entry *dst;
	u32 cookie = 0;

	if (!ssk) {
		/* rare, and nothing guards the cache */
		if (m->addr.shs_ip_family == AF_INET)
			return route4(sn->net, NULL, self, &m->addr);
		return route6(sn->net, NULL, self, &m->addr, &cookie);
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
			dst = route4(sn->net, ssk, self, &m->addr);
		else
			dst = route6(sn->net, ssk, self, &m->addr, &m->cookie);
		m->dst = dst;
	}
	if (dst)
		dst_hold(dst);
	return dst;
}

/**
 * shuffle_route_payload() - payload bytes of a packet to a member
 * @to: its address
 * @dst: route, NULL for the least that every path carries
 *
 * Context: any.
 */
u32 shuffle_route_payload(const struct sockaddr_shuffle *to, struct dst_entry *dst)
{
	u32 overhead = sizeof(struct udphdr) + SHUFFLE_WIRE_DATA_HDR;
	u32 mtu = dst ? dst_mtu(dst) : 0;

	overhead += to->shs_ip_family == AF_INET ? 20 : 40;
	if (mtu < overhead + SHUFFLE_MIN_PAYLOAD)
		return SHUFFLE_MIN_PAYLOAD;
	/* the loopback's 64 KiB packets would leave no room for GSO's own limits */
	return min_t(u32, mtu - overhead, 32768);
}

static u32 ask_device(struct shuffle_net *sn, int ifindex)
{
	struct ethtool_link_ksettings ks;
	struct net_device *dev;
	u32 mbps = 0;

	rtnl_lock();
	dev = __dev_get_by_index(sn->net, ifindex);
	if (dev && !__ethtool_get_link_ksettings(dev, &ks) &&
	    ks.base.speed && ks.base.speed != (u32)SPEED_UNKNOWN)
		mbps = ks.base.speed;
	rtnl_unlock();
	/* software devices (loopback, dummy) do not say */
	return mbps ?: 10000;
}

/**
 * shuffle_route_rate() - rate of a device
 * @sn: namespace
 * @ifindex: device; 0 only reads what was found last
 *
 * Context: process (may sleep) unless @ifindex is 0.
 * Return: Mb/s.
 */
u64 shuffle_route_rate(struct shuffle_net *sn, int ifindex)
{
	u32 forced = READ_ONCE(shuffle_params.link_mbps);

	if (forced)
		return forced;
	if (ifindex && ifindex != READ_ONCE(sn->rate_ifindex)) {
		WRITE_ONCE(sn->rate_mbps, ask_device(sn, ifindex));
		WRITE_ONCE(sn->rate_ifindex, ifindex);
	}
	return READ_ONCE(sn->rate_mbps) ?: 10000;
}

/**
 * shuffle_route_rtt() - round-trip time of the idle network
 * @sn: namespace
 *
 * Return: ns; a guess before the first measurement.
 */
u64 shuffle_route_rtt(const struct shuffle_net *sn)
{
	return READ_ONCE(shuffle_params.rtt_ns) ?: READ_ONCE(sn->rtt_ns) ?: SHUFFLE_RTT_GUESS_NS;
}

/**
 * shuffle_route_rtt_bytes() - RTTbytes: link rate times minimum RTT
 * @sn: namespace
 *
 * Return: bytes, at least 3000 (two packets) and at most 64 MiB.
 */
u64 shuffle_route_rtt_bytes(const struct shuffle_net *sn)
{
	u64 mbps = READ_ONCE(shuffle_params.link_mbps) ?: READ_ONCE(sn->rate_mbps) ?: 10000;
	u64 bytes = div_u64(mbps * shuffle_route_rtt(sn), 8000);

	return clamp_t(u64, bytes, 3000, 64 << 20);
}

/**
 * shuffle_route_sample() - a round trip has been measured
 * @sn: namespace
 * @ns: its time, queues and schedules included: only the minimum means anything
 *
 * Context: any.  Racing updates lose a sample at worst.
 */
void shuffle_route_sample(struct shuffle_net *sn, u64 ns)
{
	u32 old = READ_ONCE(sn->rtt_ns);

	if (ns && ns < U32_MAX && (!old || ns < old))
		WRITE_ONCE(sn->rtt_ns, (u32)ns);
}
