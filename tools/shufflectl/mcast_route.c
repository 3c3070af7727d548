// SPDX-License-Identifier: GPL-2.0-or-later
/* The route of a host for a multicast address. */
#include <string.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "bridge.h"
#include "shufflectl.h"

/*
 * IPv6 has a route for all multicast addresses on each device, in the table that is looked at
 * first: the longer prefix wins there.
 */
static int change_route(struct nl_sock *sk, int type, int flags, const struct mcast_group *g,
			int ifindex)
{
	struct rtmsg m = {
		.rtm_family = g->v6 ? AF_INET6 : AF_INET,
		.rtm_dst_len = g->v6 ? 128 : 32,
		.rtm_table = g->v6 ? RT_TABLE_LOCAL : RT_TABLE_MAIN,
		.rtm_type = g->v6 ? RTN_MULTICAST : RTN_UNICAST,
		.rtm_scope = g->v6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.rtm_protocol = BRIDGE_PROTOCOL,
	};
	struct nl_msg *msg = nl_request(type, flags);
	struct nl_said said;
	char what[80];

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	nla_put(msg, RTA_DST, g->v6 ? 16 : 4, g->addr);
	nla_put_u32(msg, RTA_OIF, ifindex);
	if (!nl_talk(sk, msg, NULL, &said))
		return CTL_OK;
	snprintf(what, sizeof(what), "route for %s", g->text);
	return nl_failed(&said, what);
}

/**
 * mcast_route_put() - packets of this host to an address leave by a device
 * @sk: rtnetlink socket
 * @g: the address
 * @ifindex: the device
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int mcast_route_put(struct nl_sock *sk, const struct mcast_group *g, int ifindex)
{
	return change_route(sk, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, g, ifindex);
}

/**
 * mcast_route_del() - take the route out
 * @sk: rtnetlink socket
 * @g: the address
 * @ifindex: its device
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int mcast_route_del(struct nl_sock *sk, const struct mcast_group *g, int ifindex)
{
	return change_route(sk, RTM_DELROUTE, 0, g, ifindex);
}

/**
 * mcast_route_get() - the routes for an address that we have made
 * @sk: rtnetlink socket
 * @g: the address
 * @ifindex: becomes their devices
 * @n: room for so many
 *
 * Return: their number, or -1 after a message.
 */
int mcast_route_get(struct nl_sock *sk, const struct mcast_group *g, int *ifindex, unsigned int n)
{
	struct rtmsg m = { .rtm_family = g->v6 ? AF_INET6 : AF_INET };
	struct nl_msg *msg = nl_request(RTM_GETROUTE, NLM_F_DUMP);
	struct nlattr *tb[RTA_MAX + 1];
	struct nl_said said;
	struct nl_reply r;
	unsigned int i, found = 0;

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	if (nl_talk(sk, msg, &r, &said)) {
		nl_failed(&said, "routes");
		return -1;
	}
	for (i = 0; i < r.n && found < n; i++) {
		struct nlmsghdr *h = nlmsg_hdr(r.msg[i]);
		struct rtmsg *rt = nlmsg_data(h);

		if (nlmsg_parse(h, sizeof(*rt), tb, RTA_MAX, NULL) ||
		    rt->rtm_protocol != BRIDGE_PROTOCOL || rt->rtm_family != m.rtm_family ||
		    rt->rtm_dst_len != (g->v6 ? 128 : 32) || !tb[RTA_DST] || !tb[RTA_OIF] ||
		    nla_len(tb[RTA_DST]) != (g->v6 ? 16 : 4) ||
		    memcmp(nla_data(tb[RTA_DST]), g->addr, nla_len(tb[RTA_DST])))
			continue;
		ifindex[found++] = nla_get_u32(tb[RTA_OIF]);
	}
	nl_reply_free(&r);
	return found;
}
