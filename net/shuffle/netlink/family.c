// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family: registration, and what all commands share.  What
 * there is to say stands in Documentation/netlink/specs/shuffle.yaml.
 */
#include <linux/module.h>

#include "netlink.h"
#include "netlink_gen.h"

static const struct genl_multicast_group mcgrps[] = {
	[SHUFFLE_NLGRP_OPS] = { .name = SHUFFLE_MCGRP_OPS },
	[SHUFFLE_NLGRP_MEMORY] = { .name = SHUFFLE_MCGRP_MEMORY },
	[SHUFFLE_NLGRP_CONFIG] = { .name = SHUFFLE_MCGRP_CONFIG },
};

struct genl_family shuffle_nl_family __ro_after_init = {
	.name		= SHUFFLE_GENL_NAME,
	.version	= SHUFFLE_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= shuffle_nl_ops,
	.n_ops		= ARRAY_SIZE(shuffle_nl_ops),
	.mcgrps		= mcgrps,
	.n_mcgrps	= ARRAY_SIZE(mcgrps),
};

/**
 * shuffle_netlink_init_admin() - is the sender of a request privileged in the initial namespace?
 * @skb: request
 *
 * Of a program that is made to write to somebody else's socket it takes both: the one that has
 * opened the socket has to be privileged, too.
 *
 * Context: process.
 */
bool shuffle_netlink_init_admin(const struct sk_buff *skb)
{
	return netlink_ns_capable(skb, &init_user_ns, CAP_NET_ADMIN);
}

/**
 * shuffle_netlink_once() - refuse an attribute that is given twice
 * @nlh: message; none of its commands knows such an attribute
 * @extack: names the second one
 *
 * Return: 0 or -EINVAL.
 */
int shuffle_netlink_once(const struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct nlattr *nla;
	u64 seen = 0;
	int rem;

	BUILD_BUG_ON(SHUFFLE_A_CONFIG_MAX >= 64 || SHUFFLE_A_OP_MAX >= 64);
	nlmsg_for_each_attr(nla, nlh, GENL_HDRLEN, rem) {
		int type = nla_type(nla);

		if (type >= 64)
			continue;
		if (seen & BIT_ULL(type)) {
			NL_SET_ERR_MSG_ATTR(extack, nla, "attribute is given twice");
			return -EINVAL;
		}
		seen |= BIT_ULL(type);
	}
	return 0;
}

/**
 * shuffle_netlink_dump_parse() - attributes of a dump's request
 * @cb: dump
 * @tb: attributes, room for @maxtype + 1
 * @maxtype: highest attribute
 * @policy: the command's
 *
 * Return: 0 or an error, with extack.
 */
int shuffle_netlink_dump_parse(struct netlink_callback *cb, struct nlattr **tb, int maxtype,
			       const struct nla_policy *policy)
{
	int err;

	err = genlmsg_parse(cb->nlh, &shuffle_nl_family, tb, maxtype, policy, cb->extack);
	return err ?: shuffle_netlink_once(cb->nlh, cb->extack);
}

/**
 * shuffle_netlink_dump_one() - an entry of a dump
 * @skb: dump
 * @cb: dump, with its generation in cb->seq
 * @cmd: command
 * @fill: fills the entry in
 * @arg: for @fill
 *
 * Context: that of @fill.
 * Return: 0 or an error, -EMSGSIZE: no room; then nothing was added.
 */
int shuffle_netlink_dump_one(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			     int (*fill)(struct sk_buff *skb, const void *arg), const void *arg)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&shuffle_nl_family, NLM_F_MULTI, cmd);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	err = fill(skb, arg);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

/**
 * shuffle_netlink_reply() - answer a request
 * @info: request
 * @cmd: command
 * @fill: fills the answer in
 * @arg: for @fill
 *
 * Context: process.
 * Return: 0 or an error.
 */
int shuffle_netlink_reply(struct genl_info *info, u8 cmd,
			  int (*fill)(struct sk_buff *skb, const void *arg), const void *arg)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;
	int err;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &shuffle_nl_family, 0, cmd);
	err = hdr ? fill(skb, arg) : -EMSGSIZE;
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/**
 * shuffle_netlink_put_addr() - an address as attributes
 * @skb: message
 * @a: address, shs_family 0 for none
 * @ipv4: attribute of an IPv4 address
 * @ipv6: attribute of an IPv6 address
 * @port: attribute of the port, 0 for none
 *
 * Return: 0 or -EMSGSIZE.
 */
int shuffle_netlink_put_addr(struct sk_buff *skb, const struct sockaddr_shuffle *a,
			     int ipv4, int ipv6, int port)
{
	int err;

	if (!a->shs_family)
		return 0;
	if (a->shs_ip_family == AF_INET)
		err = nla_put(skb, ipv4, 4, a->shs_addr);
	else
		err = nla_put(skb, ipv6, 16, a->shs_addr);
	if (!err && port)
		err = nla_put_u32(skb, port, ntohs(a->shs_port));
	return err;
}

int __init shuffle_netlink_init(void)
{
	int err;

	err = genl_register_family(&shuffle_nl_family);
	if (err)
		return err;
	err = shuffle_diag_init();
	if (err)
		goto err_diag;
	shuffle_event_go();
	return 0;

err_diag:
	genl_unregister_family(&shuffle_nl_family);
	return err;
}

void shuffle_netlink_exit(void)
{
	shuffle_diag_exit();
	shuffle_event_stop();
	genl_unregister_family(&shuffle_nl_family);
}
