// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: peers, and counters. */
#include <net/dst.h>
#include <net/ip.h>

#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../peer.h"
#include "../tx/route.h"
#include "netlink.h"
#include "netlink_gen.h"

static int put_route(struct sk_buff *skb, const struct shuffle_peer *peer)
{
	struct dst_entry *dst = shuffle_route_peer(peer->sn, &peer->addr);
	int err = 0;

	if (!dst)
		return peer->addr.shs_scope_id ?
		       nla_put_u32(skb, SHUFFLE_A_PEER_IFINDEX, peer->addr.shs_scope_id) : 0;
	rcu_read_lock();
	if (nla_put_u32(skb, SHUFFLE_A_PEER_IFINDEX, READ_ONCE(dst->dev)->ifindex) ||
	    nla_put_u32(skb, SHUFFLE_A_PEER_PATH_MTU, dst_mtu(dst)))
		err = -EMSGSIZE;
	rcu_read_unlock();
	dst_release(dst);
	return err;
}

/**
 * struct fill_arg - a peer
 * @peer: the peer
 * @held: references that are not of members
 */
struct fill_arg {
	struct shuffle_peer	*peer;
	u32			held;
};

static int fill_peer(struct sk_buff *skb, const void *arg)
{
	const struct fill_arg *f = arg;
	struct shuffle_peer *peer = f->peer;
	u64 heard = atomic64_read(&peer->data_at);
	u64 least = atomic64_read(&peer->rtt_min_ns);
	u64 now = shuffle_now();

	if (shuffle_netlink_put_addr(skb, &peer->addr, SHUFFLE_A_PEER_IPV4,
				     SHUFFLE_A_PEER_IPV6, 0) ||
	    put_route(skb, peer) ||
	    nla_put_u32(skb, SHUFFLE_A_PEER_MEMBERS, refcount_read(&peer->ref) - f->held) ||
	    shuffle_put_u64(skb, SHUFFLE_A_PEER_TX_BYTES, atomic64_read(&peer->tx_bytes)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_PEER_RX_BYTES, atomic64_read(&peer->rx_bytes)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_PEER_RX_RATE, atomic64_read(&peer->rate)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_PEER_RESENDS_OUT, atomic64_read(&peer->resends_out)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_PEER_RESENDS_IN, atomic64_read(&peer->resends_in)))
		return -EMSGSIZE;
	if (least && (shuffle_put_u64(skb, SHUFFLE_A_PEER_RTT_MIN, least) ||
		      shuffle_put_u64(skb, SHUFFLE_A_PEER_RTT, atomic64_read(&peer->rtt_ns))))
		return -EMSGSIZE;
	return heard ? shuffle_put_u64(skb, SHUFFLE_A_PEER_HEARD, now - min(now, heard)) : 0;
}

static bool matches(const struct shuffle_peer *peer, struct nlattr **tb)
{
	const struct sockaddr_shuffle *a = &peer->addr;

	const struct nlattr *v4 = tb[SHUFFLE_A_PEER_IPV4];
	const struct nlattr *v6 = tb[SHUFFLE_A_PEER_IPV6];

	if (v4 && !shuffle_addr_equal(a, AF_INET, nla_data(v4)))
		return false;
	if (v6 && !shuffle_addr_equal(a, AF_INET6, nla_data(v6)))
		return false;
	return !tb[SHUFFLE_A_PEER_IFINDEX] || !a->shs_scope_id ||
	       a->shs_scope_id == nla_get_u32(tb[SHUFFLE_A_PEER_IFINDEX]);
}

int shuffle_nl_peer_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	struct sockaddr_shuffle at = {};
	struct fill_arg f = { .held = 1 };
	struct nlattr **a = info->attrs;
	struct shuffle_peer *peer;
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (!a[SHUFFLE_A_PEER_IPV4] == !a[SHUFFLE_A_PEER_IPV6]) {
		NL_SET_ERR_MSG(info->extack, "either ipv4 or ipv6 is needed");
		return -EINVAL;
	}
	at.shs_ip_family = a[SHUFFLE_A_PEER_IPV4] ? AF_INET : AF_INET6;
	if (a[SHUFFLE_A_PEER_IPV4])
		memcpy(at.shs_addr, nla_data(a[SHUFFLE_A_PEER_IPV4]), 4);
	else
		memcpy(at.shs_addr, nla_data(a[SHUFFLE_A_PEER_IPV6]), 16);
	/* those with this address are one behind the other: one without interface, then the
	 * one with the interface that is asked for, or any
	 */
	peer = shuffle_peer_next(sn, &at, false);
	if (peer && !matches(peer, a) && a[SHUFFLE_A_PEER_IFINDEX]) {
		shuffle_peer_put(peer);
		at.shs_scope_id = nla_get_u32(a[SHUFFLE_A_PEER_IFINDEX]);
		peer = shuffle_peer_next(sn, &at, false);
	}
	if (!peer || !matches(peer, a)) {
		shuffle_peer_put(peer);
		NL_SET_ERR_MSG_ATTR(info->extack, a[SHUFFLE_A_PEER_IPV4] ?: a[SHUFFLE_A_PEER_IPV6],
				    "no member of a group has this address");
		return -ENOENT;
	}
	f.peer = peer;
	err = shuffle_netlink_reply(info, SHUFFLE_CMD_PEER_GET, fill_peer, &f);
	shuffle_peer_put(peer);
	return err;
}

/**
 * struct peer_cursor - where a dump of peers goes on, in cb->ctx
 * @last: the peer that was looked at last
 * @begun: there is one
 */
struct peer_cursor {
	struct sockaddr_shuffle	last;
	bool			begun;
};

int shuffle_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct peer_cursor *at = (struct peer_cursor *)cb->ctx;
	struct nlattr *tb[SHUFFLE_A_PEER_IFINDEX + 1];
	struct fill_arg f = { .held = 1 };
	int err;

	BUILD_BUG_ON(sizeof(*at) > sizeof(cb->ctx));
	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_PEER_IFINDEX,
					 shuffle_peer_get_nl_policy);
	if (err)
		return err;
	cb->seq = atomic_read(&sn->gen);
	while ((f.peer = shuffle_peer_next(sn, &at->last, at->begun))) {
		if (matches(f.peer, tb))
			err = shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_PEER_GET, fill_peer,
						       &f);
		if (!err) {
			at->last = f.peer->addr;
			at->begun = true;
		}
		shuffle_peer_put(f.peer);
		if (err)
			break;
		cond_resched();
	}
	return skb->len ?: err;
}

/**
 * struct stat_arg - a counter
 * @sn: namespace
 * @i: number of the counter
 */
struct stat_arg {
	struct shuffle_net	*sn;
	int			i;
};

static int fill_stat(struct sk_buff *skb, const void *arg)
{
	const struct stat_arg *s = arg;

	if (nla_put_string(skb, SHUFFLE_A_STAT_NAME, shuffle_mib_names[s->i]) ||
	    shuffle_put_u64(skb, SHUFFLE_A_STAT_VALUE, shuffle_mib_value(s->sn, s->i)) ||
	    nla_put_string(skb, SHUFFLE_A_STAT_DOC, shuffle_mib_texts[s->i]))
		return -EMSGSIZE;
	return 0;
}

int shuffle_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stat_arg s = { .sn = shuffle_net(genl_info_net(info)) };
	struct nlattr *a = info->attrs[SHUFFLE_A_STAT_NAME];
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_STAT_NAME)) {
		NL_SET_ERR_MSG(info->extack, "name is missing");
		return -EINVAL;
	}
	for (s.i = 0; s.i < SHUFFLE_MIB_MAX; s.i++)
		if (!nla_strcmp(a, shuffle_mib_names[s.i]))
			return shuffle_netlink_reply(info, SHUFFLE_CMD_STATS_GET, fill_stat, &s);
	NL_SET_ERR_MSG_ATTR(info->extack, a, "name: no such counter");
	return -ENOENT;
}

/* cb->args[0]: next counter */
int shuffle_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct stat_arg s = { .sn = shuffle_net(sock_net(skb->sk)) };
	struct nlattr *tb[SHUFFLE_A_STAT_NAME + 1];
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_STAT_NAME, shuffle_stats_get_nl_policy);
	if (err)
		return err;
	for (s.i = cb->args[0]; s.i < SHUFFLE_MIB_MAX; cb->args[0] = ++s.i) {
		if (tb[SHUFFLE_A_STAT_NAME] &&
		    nla_strcmp(tb[SHUFFLE_A_STAT_NAME], shuffle_mib_names[s.i]))
			continue;
		err = shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_STATS_GET, fill_stat, &s);
		if (err)
			break;
	}
	return skb->len ?: err;
}
