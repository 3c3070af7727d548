// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routes to the members of an overlay: to the first neighbour on the way, with the MTU that leaves
 * room for the header with the filter.
 */
#include <string.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "nl.h"
#include "overlay_table.h"
#include "shufflectl.h"
#include "../topo/bloom.h"

/* "SO": routes of an overlay are known by it */
#define ROUTE_PROTOCOL	79
/* nobody prefers another one; IPv6 has no 0 */
#define ROUTE_METRIC(v6)	((v6) ? 1 : 0)

/* What a route is, as far as it matters here. */
struct route {
	struct overlay_addr	to;
	int			protocol;
	unsigned int		metric;
	unsigned int		ifindex;
	bool			host;	/* for one address, in the main table */
};

static bool parse_route(struct nl_msg *msg, struct route *r)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct rtmsg *rt = nlmsg_data(h);
	struct nlattr *tb[RTA_MAX + 1];

	memset(r, 0, sizeof(*r));
	if (h->nlmsg_type != RTM_NEWROUTE || nlmsg_parse(h, sizeof(*rt), tb, RTA_MAX, NULL))
		return false;
	r->to.v6 = rt->rtm_family == AF_INET6;
	r->protocol = rt->rtm_protocol;
	r->metric = tb[RTA_PRIORITY] ? nla_get_u32(tb[RTA_PRIORITY]) : 0;
	r->ifindex = tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0;
	r->host = tb[RTA_DST] && rt->rtm_dst_len == (r->to.v6 ? 128 : 32) &&
		  nla_len(tb[RTA_DST]) == (r->to.v6 ? 16 : 4) && !rt->rtm_tos &&
		  (tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : rt->rtm_table) == RT_TABLE_MAIN;
	if (r->host)
		memcpy(r->to.byte, nla_data(tb[RTA_DST]), nla_len(tb[RTA_DST]));
	return r->host;
}

static int dump(struct nl_sock *sk, int family, struct nl_reply *r)
{
	struct nl_msg *msg = nl_request(RTM_GETROUTE, NLM_F_DUMP);
	struct rtmsg m = { .rtm_family = family };
	struct nl_said said;

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	return nl_talk(sk, msg, r, &said) ? nl_failed(&said, "routes") : CTL_OK;
}

/* Bytes that the header takes of each packet. */
static unsigned int room(const struct overlay_path *p)
{
	return (p->to.v6 ? 40 : 20) + 8 + sizeof(struct overlay_header) +
	       shuffle_bloom_words(p->way.bits) * 8;
}

static unsigned int mtu_of(unsigned int ifindex)
{
	struct ifreq ifr = { .ifr_mtu = 0 };
	int fd, mtu = 0;

	if (!if_indextoname(ifindex, ifr.ifr_name))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (!ioctl(fd, SIOCGIFMTU, &ifr))
		mtu = ifr.ifr_mtu;
	close(fd);
	return mtu;
}

static int change(struct nl_sock *sk, int type, int flags, const struct route *r,
		  const struct overlay_table *t, const struct overlay_path *p)
{
	struct rtmsg m = {
		.rtm_family = r->to.v6 ? AF_INET6 : AF_INET,
		.rtm_dst_len = r->to.v6 ? 128 : 32,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_type = RTN_UNICAST,
		.rtm_scope = p ? RT_SCOPE_UNIVERSE : RT_SCOPE_NOWHERE,
		.rtm_protocol = ROUTE_PROTOCOL,
		.rtm_flags = p ? RTNH_F_ONLINK : 0,
	};
	struct nl_msg *msg = nl_request(type, flags);
	struct nlattr *metrics;
	struct nl_said said;
	char what[100];

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	nla_put(msg, RTA_DST, r->to.v6 ? 16 : 4, r->to.byte);
	nla_put_u32(msg, RTA_OIF, r->ifindex);
	nla_put_u32(msg, RTA_PRIORITY, ROUTE_METRIC(r->to.v6));
	if (p) {
		nla_put(msg, RTA_GATEWAY, p->to.v6 ? 16 : 4, t->neighbour[p->way.via].addr.byte);
		metrics = nla_nest_start(msg, RTA_METRICS);
		nla_put_u32(msg, RTAX_MTU, mtu_of(r->ifindex) - room(p));
		nla_nest_end(msg, metrics);
	}
	if (!nl_talk(sk, msg, NULL, &said))
		return CTL_OK;
	snprintf(what, sizeof(what), "route to %s", overlay_text(&r->to));
	return nl_failed(&said, what);
}

static const struct overlay_path *path_to(const struct overlay_table *t,
					  const struct overlay_addr *to)
{
	unsigned int i;

	for (i = 0; t && i < t->paths; i++)
		if (overlay_same(&t->path[i].to, to))
			return &t->path[i];
	return NULL;
}

/* Of all routes of both families: the check, or the removal of those that @t does not have. */
static int each_route(struct nl_sock *sk, const struct overlay_table *t, bool check)
{
	const int family[] = { AF_INET, AF_INET6 };
	struct nl_reply reply;
	unsigned int k, i;
	int err = CTL_OK;
	struct route r;

	for (k = 0; k < 2; k++) {
		if (dump(sk, family[k], &reply))
			return CTL_KERNEL;
		for (i = 0; i < reply.n; i++) {
			if (!parse_route(reply.msg[i], &r))
				continue;
			if (check && r.protocol != ROUTE_PROTOCOL && path_to(t, &r.to) &&
			    r.metric <= ROUTE_METRIC(r.to.v6))
				err = ctl_error("path: there is another route to %s already",
						overlay_text(&r.to));
			if (!check && r.protocol == ROUTE_PROTOCOL && !path_to(t, &r.to) &&
			    change(sk, RTM_DELROUTE, 0, &r, NULL, NULL))
				err = CTL_KERNEL;
		}
		nl_reply_free(&reply);
	}
	return err;
}

/**
 * overlay_routes_check() - can there be routes for all ways?
 * @t: overlay, whose neighbours have their devices
 *
 * Return: CTL_OK, or another status after a message.
 */
int overlay_routes_check(const struct overlay_table *t)
{
	struct nl_sock *sk;
	unsigned int i;
	int err;

	for (i = 0; i < t->paths; i++) {
		const struct overlay_path *p = &t->path[i];
		unsigned int mtu = mtu_of(t->neighbour[p->way.via].ifindex);

		if (mtu < room(p) + (p->to.v6 ? 1280 : 576))
			return ctl_error("path to %s: an MTU of %u leaves no room for %u bytes of header",
					 overlay_text(&p->to), mtu, room(p));
	}
	sk = nl_open(NETLINK_ROUTE);
	if (!sk)
		return CTL_ENV;
	err = each_route(sk, t, true);
	nl_socket_free(sk);
	return err;
}

/**
 * overlay_routes_put() - make the routes of an overlay, and take those of former ones out
 * @t: overlay, whose neighbours have their devices
 *
 * Return: CTL_OK, or another status after a message.
 */
int overlay_routes_put(const struct overlay_table *t)
{
	struct nl_sock *sk = nl_open(NETLINK_ROUTE);
	int err = CTL_OK;
	unsigned int i;

	if (!sk)
		return CTL_ENV;
	for (i = 0; !err && i < t->paths; i++) {
		const struct overlay_path *p = &t->path[i];
		struct route r = { .to = p->to, .ifindex = t->neighbour[p->way.via].ifindex };

		err = change(sk, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &r, t, p);
	}
	if (!err)
		err = each_route(sk, t, false);
	nl_socket_free(sk);
	return err;
}

/**
 * overlay_routes_clear() - take all of them out
 *
 * Return: CTL_OK, or another status after a message.
 */
int overlay_routes_clear(void)
{
	struct nl_sock *sk = nl_open(NETLINK_ROUTE);
	int err;

	if (!sk)
		return CTL_ENV;
	err = each_route(sk, NULL, false);
	nl_socket_free(sk);
	return err;
}
