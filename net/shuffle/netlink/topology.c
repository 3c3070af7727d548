// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: the table of racks. */
#include "netlink.h"
#include "../coll/rack_table.h"

/* The range of addresses in @tb.  0 or -EINVAL, with extack. */
static int read_entry(const struct nlattr *nest, struct nlattr **tb, struct shuffle_rack_entry *e,
		      struct netlink_ext_ack *extack)
{
	const struct nlattr *v4 = tb[SHUFFLE_A_RACK_IPV4], *v6 = tb[SHUFFLE_A_RACK_IPV6];

	if (!tb[SHUFFLE_A_RACK_NAME] || !*(char *)nla_data(tb[SHUFFLE_A_RACK_NAME])) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "entry: the name of the rack is missing");
		return -EINVAL;
	}
	if (!v4 == !v6) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "entry: either ipv4 or ipv6 is needed");
		return -EINVAL;
	}
	*e = (struct shuffle_rack_entry){ .v6 = !!v6, .len = v6 ? 128 : 32 };
	memcpy(e->addr, nla_data(v6 ?: v4), v6 ? 16 : 4);
	if (tb[SHUFFLE_A_RACK_LENGTH])
		e->len = nla_get_u32(tb[SHUFFLE_A_RACK_LENGTH]);
	return 0;
}

static int read_table(struct genl_info *info, struct shuffle_rack_table *t)
{
	struct nlattr *tb[SHUFFLE_A_RACK_MAX + 1];
	struct shuffle_rack_entry e;
	const struct nlattr *nest;
	int rem, err;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		err = nla_parse_nested(tb, SHUFFLE_A_RACK_MAX, nest, shuffle_rack_nl_policy,
				       info->extack);
		if (!err)
			err = read_entry(nest, tb, &e, info->extack);
		if (err)
			return err;
		err = shuffle_rack_table_add(t, &e, nla_data(tb[SHUFFLE_A_RACK_NAME]));
		if (err == -EINVAL)
			NL_SET_ERR_MSG_ATTR(info->extack, nest,
					    "entry: bits behind its length are set, or it is too long");
		if (err == -ENOSPC)
			NL_SET_ERR_MSG_ATTR(info->extack, nest, "entry: more racks than 4096");
		if (err)
			return err;
	}
	if (shuffle_rack_table_sort(t)) {
		NL_SET_ERR_MSG(info->extack, "a range of addresses is there twice");
		return -EINVAL;
	}
	return 0;
}

int shuffle_nl_topology_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_rack_table *t = NULL;
	const struct nlattr *nest;
	u32 n = 0;
	int rem, err;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem)
		n++;
	if (n > SHUFFLE_RACK_ENTRIES) {
		NL_SET_ERR_MSG(info->extack, "more entries than 16384");
		return -ENOSPC;
	}
	if (n) {
		t = shuffle_rack_table_new(n);
		if (!t)
			return -ENOMEM;
		err = read_table(info, t);
		if (err) {
			shuffle_rack_table_put(t);
			return err;
		}
	}
	shuffle_rack_table_replace(shuffle_net(genl_info_net(info)), t);
	return 0;
}

/**
 * struct fill_arg - an entry
 * @t: its table
 * @e: the entry
 */
struct fill_arg {
	const struct shuffle_rack_table	*t;
	const struct shuffle_rack_entry	*e;
};

static int fill_entry(struct sk_buff *skb, const void *arg)
{
	const struct fill_arg *f = arg;
	const struct shuffle_rack_entry *e = f->e;
	struct nlattr *nest = nla_nest_start(skb, SHUFFLE_A_TOPOLOGY_ENTRY);

	if (!nest || nla_put_string(skb, SHUFFLE_A_RACK_NAME, f->t->name[e->rack]) ||
	    nla_put(skb, e->v6 ? SHUFFLE_A_RACK_IPV6 : SHUFFLE_A_RACK_IPV4, e->v6 ? 16 : 4,
		    e->addr) ||
	    nla_put_u32(skb, SHUFFLE_A_RACK_LENGTH, e->len))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int shuffle_nl_topology_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *v4 = info->attrs[SHUFFLE_A_TOPOLOGY_IPV4];
	const struct nlattr *v6 = info->attrs[SHUFFLE_A_TOPOLOGY_IPV6];
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	struct shuffle_rack_table *t;
	struct fill_arg f = {};
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (!v4 == !v6) {
		NL_SET_ERR_MSG(info->extack, "either ipv4 or ipv6 is needed");
		return -EINVAL;
	}
	t = shuffle_rack_table_get(sn);
	f.t = t;
	if (t)
		f.e = shuffle_rack_table_find(t, v6, nla_data(v6 ?: v4));
	err = -ENOENT;
	if (f.e)
		err = shuffle_netlink_reply(info, SHUFFLE_CMD_TOPOLOGY_GET, fill_entry, &f);
	else
		NL_SET_ERR_MSG_ATTR(info->extack, v6 ?: v4, "the table of racks has no such host");
	shuffle_rack_table_put(t);
	return err;
}

/* cb->args[0]: next entry */
int shuffle_nl_topology_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct nlattr *tb[SHUFFLE_A_TOPOLOGY_IPV6 + 1];
	struct shuffle_rack_table *t;
	struct fill_arg f = {};
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_TOPOLOGY_IPV6,
					 shuffle_topology_get_nl_policy);
	if (err)
		return err;
	cb->seq = READ_ONCE(sn->rack_gen);
	t = shuffle_rack_table_get(sn);
	f.t = t;
	while (t && cb->args[0] < t->n) {
		f.e = &t->entry[cb->args[0]];
		err = shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_TOPOLOGY_GET, fill_entry, &f);
		if (err)
			break;
		cb->args[0]++;
	}
	shuffle_rack_table_put(t);
	return skb->len ?: err;
}
