// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: the overlay. */
#include <net/ipv6.h>

#include "netlink.h"
#include "../overlay.h"

/* An address; 0, -ENOENT (there is none) or -EINVAL (two, or one that can be no host's). */
static int read_address(const struct nlattr *v4, const struct nlattr *v6,
			struct sockaddr_shuffle *a)
{
	if (!v4 && !v6)
		return -ENOENT;
	if (v4 && v6)
		return -EINVAL;
	*a = (struct sockaddr_shuffle) {
		.shs_family = shuffle_params.family,
		.shs_ip_family = v6 ? AF_INET6 : AF_INET,
	};
	memcpy(a->shs_addr, nla_data(v6 ?: v4), v6 ? 16 : 4);
	/* every host has, or may have, the same */
	if (v6)
		return shuffle_addr_check(a) || ipv6_addr_type(nla_data(v6)) &
		       (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_LOOPBACK) ? -EINVAL : 0;
	return shuffle_addr_check(a) || ipv4_is_loopback(nla_get_in_addr(v4)) ? -EINVAL : 0;
}

static int read_neighbour(const struct nlattr *nest, struct shuffle_overlay *o,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_MAX + 1];
	struct shuffle_neighbour n = {};
	int err;

	err = nla_parse_nested(tb, SHUFFLE_A_OVERLAY_NEIGHBOUR_MAX, nest,
			       shuffle_overlay_neighbour_nl_policy, extack);
	if (err)
		return err;
	if (!tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_SERVER] ||
	    read_address(tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV4],
			 tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV6], &n.addr) ||
	    read_address(tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV4],
			 tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV6], &n.local) ||
	    n.addr.shs_ip_family != n.local.shs_ip_family) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "neighbour: server and the addresses of both ends are needed");
		return -EINVAL;
	}
	n.server = nla_get_u32(tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_SERVER]);
	err = shuffle_overlay_add_neighbour(o, &n);
	if (err)
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "neighbour: its number or address is another's, or ours");
	return err;
}

/* The filter in @tb.  0 or -EINVAL. */
static int read_filter(struct nlattr **tb, struct shuffle_bloom *f)
{
	const struct nlattr *a = tb[SHUFFLE_A_OVERLAY_PATH_FILTER];
	u32 words, i;

	if (!a || !tb[SHUFFLE_A_OVERLAY_PATH_BITS] || !tb[SHUFFLE_A_OVERLAY_PATH_HASHES])
		return -EINVAL;
	f->bits = nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_BITS]);
	f->hashes = nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_HASHES]);
	if (tb[SHUFFLE_A_OVERLAY_PATH_SALT])
		f->salt = nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_SALT]);
	words = shuffle_bloom_words(f->bits);
	if (nla_len(a) != (int)words * 8)
		return -EINVAL;
	for (i = 0; i < words; i++)
		f->word[i] = shuffle_get64((const u8 *)nla_data(a) + 8 * i);
	return 0;
}

static int read_path(const struct nlattr *nest, struct shuffle_overlay *o,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SHUFFLE_A_OVERLAY_PATH_MAX + 1];
	struct shuffle_path path = {};
	int err;

	err = nla_parse_nested(tb, SHUFFLE_A_OVERLAY_PATH_MAX, nest,
			       shuffle_overlay_path_nl_policy, extack);
	if (err)
		return err;
	if (read_address(tb[SHUFFLE_A_OVERLAY_PATH_IPV4], tb[SHUFFLE_A_OVERLAY_PATH_IPV6],
			 &path.to) || !tb[SHUFFLE_A_OVERLAY_PATH_HOPS]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "path: an address and hops are needed");
		return -EINVAL;
	}
	BUILD_BUG_ON(SHUFFLE_PATH_HOPS > U8_MAX);
	path.hops = nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_HOPS]);
	if (read_filter(tb, &path.filter)) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "path: bits, hashes and filter are needed, of one length");
		return -EINVAL;
	}
	err = shuffle_overlay_add_path(o, &path);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(extack, nest, "path: its filter has no neighbour of ours");
	else if (err)
		NL_SET_ERR_MSG_ATTR(extack, nest, "path: its filter has several neighbours");
	return err;
}

/* Neighbours before paths, which are compared with them, and families that fit. */
static int read_overlay(struct genl_info *info, struct shuffle_overlay *o)
{
	const struct nlattr *nest;
	u32 i;
	int rem, err;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nest) != SHUFFLE_A_OVERLAY_NEIGHBOUR)
			continue;
		err = read_neighbour(nest, o, info->extack);
		if (err)
			return err;
	}
	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nest) != SHUFFLE_A_OVERLAY_PATH)
			continue;
		err = read_path(nest, o, info->extack);
		if (err)
			return err;
		/* it has been compared with all neighbours */
		cond_resched();
	}
	for (i = 0; i < o->paths; i++)
		if (o->path[i].to.shs_ip_family != o->path[i].via->addr.shs_ip_family) {
			NL_SET_ERR_MSG(info->extack, "path: members, neighbours: one family");
			return -EINVAL;
		}
	err = shuffle_overlay_sort(o);
	if (err)
		NL_SET_ERR_MSG(info->extack, "path: there are two to one address");
	return err;
}

int shuffle_nl_overlay_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	u32 neighbours = 0, paths = 0;
	struct shuffle_overlay *o;
	const struct nlattr *nest;
	int rem, err;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		neighbours += nla_type(nest) == SHUFFLE_A_OVERLAY_NEIGHBOUR;
		paths += nla_type(nest) == SHUFFLE_A_OVERLAY_PATH;
	}
	if (neighbours > SHUFFLE_NEIGHBOURS || paths > SHUFFLE_PATHS) {
		NL_SET_ERR_MSG(info->extack, "more neighbours than 256, or more paths than 4096");
		return -ENOSPC;
	}
	if (!neighbours && !paths && !info->attrs[SHUFFLE_A_OVERLAY_SERVER] &&
	    !info->attrs[SHUFFLE_A_OVERLAY_COPIES])
		return shuffle_overlay_replace(sn, NULL);
	if (!neighbours || !info->attrs[SHUFFLE_A_OVERLAY_SERVER]) {
		NL_SET_ERR_MSG(info->extack, "server, and a neighbour, are needed");
		return -EINVAL;
	}
	o = shuffle_overlay_new(neighbours, paths);
	if (!o)
		return -ENOMEM;
	o->server = nla_get_u32(info->attrs[SHUFFLE_A_OVERLAY_SERVER]);
	o->copies = info->attrs[SHUFFLE_A_OVERLAY_COPIES] &&
		    nla_get_u8(info->attrs[SHUFFLE_A_OVERLAY_COPIES]);
	err = read_overlay(info, o) ?: shuffle_overlay_replace(sn, o);
	if (err)
		shuffle_overlay_put(o);
	return err;
}

static int put_address(struct sk_buff *skb, const struct sockaddr_shuffle *a, int v4, int v6)
{
	bool is_v6 = a->shs_ip_family == AF_INET6;

	return nla_put(skb, is_v6 ? v6 : v4, is_v6 ? 16 : 4, a->shs_addr);
}

static int fill_self(struct sk_buff *skb, const void *arg)
{
	const struct shuffle_overlay *o = arg;

	return nla_put_u32(skb, SHUFFLE_A_OVERLAY_SERVER, o->server) ||
	       nla_put_u8(skb, SHUFFLE_A_OVERLAY_COPIES, o->copies) ? -EMSGSIZE : 0;
}

static int fill_neighbour(struct sk_buff *skb, const void *arg)
{
	struct nlattr *nest = nla_nest_start(skb, SHUFFLE_A_OVERLAY_NEIGHBOUR);
	const struct shuffle_neighbour *n = arg;

	if (!nest || nla_put_u32(skb, SHUFFLE_A_OVERLAY_NEIGHBOUR_SERVER, n->server) ||
	    put_address(skb, &n->addr, SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV4,
			SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV6) ||
	    put_address(skb, &n->local, SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV4,
			SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV6))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_path(struct sk_buff *skb, const void *arg)
{
	struct nlattr *nest = nla_nest_start(skb, SHUFFLE_A_OVERLAY_PATH), *a;
	const struct shuffle_path *path = arg;
	u32 i, words = shuffle_bloom_words(path->filter.bits);

	if (!nest || put_address(skb, &path->to, SHUFFLE_A_OVERLAY_PATH_IPV4,
				 SHUFFLE_A_OVERLAY_PATH_IPV6) ||
	    nla_put_u32(skb, SHUFFLE_A_OVERLAY_PATH_HOPS, path->hops) ||
	    nla_put_u32(skb, SHUFFLE_A_OVERLAY_PATH_BITS, path->filter.bits) ||
	    nla_put_u32(skb, SHUFFLE_A_OVERLAY_PATH_HASHES, path->filter.hashes) ||
	    nla_put_u32(skb, SHUFFLE_A_OVERLAY_PATH_SALT, path->filter.salt))
		return -EMSGSIZE;
	a = nla_reserve(skb, SHUFFLE_A_OVERLAY_PATH_FILTER, words * 8);
	if (!a)
		return -EMSGSIZE;
	for (i = 0; i < words; i++)
		shuffle_put64((u8 *)nla_data(a) + 8 * i, path->filter.word[i]);
	nla_nest_end(skb, nest);
	return 0;
}

int shuffle_nl_overlay_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *server = info->attrs[SHUFFLE_A_OVERLAY_SERVER];
	struct shuffle_overlay *o;
	int err;
	u32 i;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_OVERLAY_SERVER)) {
		NL_SET_ERR_MSG(info->extack, "server is missing");
		return -EINVAL;
	}
	o = shuffle_overlay_get(shuffle_net(genl_info_net(info)));
	for (i = 0; o && i < o->neighbours; i++)
		if (o->neighbour[i].server == nla_get_u32(server))
			break;
	err = -ENOENT;
	if (o && i < o->neighbours)
		err = shuffle_netlink_reply(info, SHUFFLE_CMD_OVERLAY_GET, fill_neighbour,
					    &o->neighbour[i]);
	else
		NL_SET_ERR_MSG_ATTR(info->extack, server, "the overlay has no such neighbour");
	shuffle_overlay_put(o);
	return err;
}

/* The next message of a dump; @at is below the number of all. */
static int dump_at(struct sk_buff *skb, struct netlink_callback *cb,
		   const struct shuffle_overlay *o, u32 at)
{
	if (!at)
		return shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_OVERLAY_GET, fill_self, o);
	at--;
	if (at < o->neighbours)
		return shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_OVERLAY_GET, fill_neighbour,
						&o->neighbour[at]);
	return shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_OVERLAY_GET, fill_path,
					&o->path[at - o->neighbours]);
}

/* cb->args[0]: next message */
int shuffle_nl_overlay_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct nlattr *tb[SHUFFLE_A_OVERLAY_SERVER + 1];
	struct shuffle_overlay *o;
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_OVERLAY_SERVER,
					 shuffle_overlay_get_nl_policy);
	if (err)
		return err;
	cb->seq = READ_ONCE(sn->overlay_gen);
	o = shuffle_overlay_get(sn);
	while (o && cb->args[0] < 1 + o->neighbours + o->paths) {
		err = dump_at(skb, cb, o, cb->args[0]);
		if (err)
			break;
		cb->args[0]++;
	}
	shuffle_overlay_put(o);
	return skb->len ?: err;
}
