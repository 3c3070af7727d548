// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: settings. */
#include <linux/netdevice.h>

#include "../config.h"
#include "../mem.h"
#include "../netns.h"
#include "../sched/op_order.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "netlink.h"
#include "netlink_gen.h"

#define MASK_DEV	(SHUFFLE_NL_SETTING_PORT - 1ULL)
#define FIRST		SHUFFLE_A_CONFIG_OVERCOMMIT

/* The attributes, the bits and the fields are in one order. */
#define NUMBER(field)	(offsetof(struct shuffle_config, field) / sizeof(u32))
#define IN_ORDER(attr, field, name)						\
	static_assert(SHUFFLE_A_CONFIG_##attr - FIRST == NUMBER(field));	\
	static_assert(SHUFFLE_NL_SETTING_##attr == BIT_ULL(NUMBER(field)));
SHUFFLE_CONFIG_DEV_LIST(IN_ORDER)
SHUFFLE_CONFIG_NET_LIST(IN_ORDER)
static_assert(SHUFFLE_A_CONFIG_MEM_MAX - FIRST == SHUFFLE_CONFIG_N);
static_assert(SHUFFLE_NL_SETTING_MEM_MAX == BIT_ULL(SHUFFLE_CONFIG_N));

static bool init_ns(const struct shuffle_dev *dev)
{
	return !dev->ifindex && net_eq(dev->sn->net, &init_net);
}

static int put_ifname(struct sk_buff *skb, const struct shuffle_dev *dev)
{
	struct net_device *netdev;
	char name[IFNAMSIZ] = "";

	rcu_read_lock();
	netdev = dev_get_by_index_rcu(dev->sn->net, dev->ifindex);
	if (netdev)
		strscpy(name, netdev->name, sizeof(name));
	rcu_read_unlock();
	return name[0] ? nla_put_string(skb, SHUFFLE_A_CONFIG_IFNAME, name) : 0;
}

static int put_ns(struct sk_buff *skb)
{
	if (nla_put_u32(skb, SHUFFLE_A_CONFIG_FAMILY, shuffle_family) ||
	    nla_put_u8(skb, SHUFFLE_A_CONFIG_WIRE_VERSION, SHUFFLE_WIRE_VERSION) ||
	    shuffle_put_u64(skb, SHUFFLE_A_CONFIG_MEM_USED, shuffle_mem_used()) ||
	    shuffle_put_u64(skb, SHUFFLE_A_CONFIG_MEM_MAX, shuffle_mem_max()))
		return -EMSGSIZE;
	return 0;
}

/**
 * shuffle_netlink_fill_config() - settings as attributes
 * @skb: message
 * @arg: struct shuffle_dev
 *
 * Context: process; sn->config_mutex keeps the values of one change together.
 * Return: 0 or -EMSGSIZE.
 */
int shuffle_netlink_fill_config(struct sk_buff *skb, const void *arg)
{
	const struct shuffle_dev *dev = arg;
	u32 i, n = dev->ifindex ? SHUFFLE_CONFIG_DEV_N : SHUFFLE_CONFIG_N;

	if (dev->ifindex && (nla_put_u32(skb, SHUFFLE_A_CONFIG_IFINDEX, dev->ifindex) ||
			     put_ifname(skb, dev)))
		return -EMSGSIZE;
	if (!dev->ifindex && put_ns(skb))
		return -EMSGSIZE;
	if (nla_put_u32(skb, SHUFFLE_A_CONFIG_LINK_RATE_NOW, READ_ONCE(dev->rate)) ||
	    nla_put_u32(skb, SHUFFLE_A_CONFIG_RTT_NOW, READ_ONCE(dev->rtt)) ||
	    nla_put_u32(skb, SHUFFLE_A_CONFIG_RTT_BYTES_NOW, shuffle_dev_rtt_bytes(dev)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_CONFIG_OWN, dev->own))
		return -EMSGSIZE;
	for (i = 0; i < n; i++)
		if (nla_put_u32(skb, FIRST + i, READ_ONCE(dev->cfg.val[i])))
			return -EMSGSIZE;
	return 0;
}

/* The device that a request names, with a reference. */
static struct shuffle_dev *get_dev(struct genl_info *info)
{
	struct nlattr *a = info->attrs[SHUFFLE_A_CONFIG_IFINDEX];
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	struct shuffle_dev *dev;
	int ifindex = a ? nla_get_u32(a) : 0;

	dev = shuffle_dev_get(sn, ifindex);
	if (dev->ifindex != ifindex) {
		shuffle_dev_put(dev);
		NL_SET_ERR_MSG_ATTR(info->extack, a, "ifindex: no such device");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

int shuffle_nl_config_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_dev *dev;
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	dev = get_dev(info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	mutex_lock(&dev->sn->config_mutex);
	err = shuffle_netlink_reply(info, SHUFFLE_CMD_CONFIG_GET,
				    shuffle_netlink_fill_config, dev);
	mutex_unlock(&dev->sn->config_mutex);
	shuffle_dev_put(dev);
	return err;
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb, const struct shuffle_dev *dev)
{
	return shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_CONFIG_GET,
					shuffle_netlink_fill_config, dev);
}

int shuffle_nl_config_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *tb[SHUFFLE_A_CONFIG_IFINDEX + 1];
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct shuffle_dev *dev;
	long at = 1;
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_CONFIG_IFINDEX,
					 shuffle_config_get_nl_policy);
	if (err)
		return err;
	mutex_lock(&sn->config_mutex);
	cb->seq = sn->config_gen;
	if (!cb->args[0]) {
		err = dump_one(skb, cb, &sn->dev0);
		cb->args[0] = !err;
	}
	if (!err) {
		list_for_each_entry(dev, &sn->devs, node) {
			if (at++ < cb->args[0])
				continue;
			err = dump_one(skb, cb, dev);
			if (err)
				break;
			cb->args[0] = at;
		}
	}
	mutex_unlock(&sn->config_mutex);
	return err && !skb->len ? err : skb->len;
}

static int reject(struct genl_info *info, u32 attr, const char *why, int err)
{
	NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
	info->extack->_msg = why;
	return err;
}

/* Names the setting of the lowest bit, for the extack. */
static const char *not_of_device(u64 mask)
{
#define OF_NAMESPACE(attr, field, name)	name ": a setting of the namespace, not of a device",
	static const char * const text[] = {
		SHUFFLE_CONFIG_NET_LIST(OF_NAMESPACE)
		"mem-max: a setting of the machine, not of a device",
	};

	return text[__ffs64(mask) - SHUFFLE_CONFIG_DEV_N];
}

static int read_change(struct genl_info *info, const struct shuffle_dev *dev,
		       struct shuffle_config_change *change)
{
	u64 both, wrong;
	u32 i;

	for (i = 0; i < SHUFFLE_CONFIG_N; i++) {
		if (!info->attrs[FIRST + i])
			continue;
		change->set |= BIT_ULL(i);
		change->val.val[i] = nla_get_u32(info->attrs[FIRST + i]);
	}
	if (info->attrs[SHUFFLE_A_CONFIG_MEM_MAX]) {
		change->set |= SHUFFLE_NL_SETTING_MEM_MAX;
		change->mem_max = nla_get_u64(info->attrs[SHUFFLE_A_CONFIG_MEM_MAX]);
	}
	if (info->attrs[SHUFFLE_A_CONFIG_UNSET])
		change->unset = nla_get_u64(info->attrs[SHUFFLE_A_CONFIG_UNSET]);

	if (!change->set && !change->unset) {
		NL_SET_ERR_MSG(info->extack, "no setting is given, and none to unset");
		return -EINVAL;
	}
	both = change->set & change->unset;
	if (both)
		return reject(info, FIRST + __ffs64(both),
			      "unset: names a setting that is set, too", -EINVAL);
	wrong = (change->set | change->unset) & ~MASK_DEV;
	if (dev->ifindex && wrong)
		return reject(info, change->set & wrong ? FIRST + __ffs64(change->set & wrong) :
			      SHUFFLE_A_CONFIG_UNSET, not_of_device(wrong), -EOPNOTSUPP);
	if ((change->set | change->unset) & SHUFFLE_NL_SETTING_MEM_MAX && !init_ns(dev))
		return reject(info, change->set & SHUFFLE_NL_SETTING_MEM_MAX ?
			      SHUFFLE_A_CONFIG_MEM_MAX : SHUFFLE_A_CONFIG_UNSET,
			      "mem-max: is changed in the initial network namespace only",
			      -EOPNOTSUPP);
	return 0;
}

/* Listeners hear of changes in their order. */
static int change_and_tell(struct shuffle_dev *dev, const struct shuffle_config_change *change,
			   struct netlink_ext_ack *extack)
{
	struct shuffle_net *sn = dev->sn;
	int err;

	mutex_lock(&sn->change_mutex);
	err = shuffle_config_apply(dev, change, extack);
	if (!err) {
		mutex_lock(&sn->config_mutex);
		shuffle_event_config(dev);
		mutex_unlock(&sn->config_mutex);
	}
	mutex_unlock(&sn->change_mutex);
	return err;
}

int shuffle_nl_config_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_config_change change = {
		.init_admin = shuffle_netlink_init_admin(skb),
	};
	struct shuffle_dev *dev;
	int err;

	BUILD_BUG_ON((int)SHUFFLE_NL_OP_ORDER_FAIR != (int)SHUFFLE_ORDER_FAIR ||
		     (int)SHUFFLE_NL_OP_ORDER_SMALLEST != (int)SHUFFLE_ORDER_SMALLEST ||
		     (int)SHUFFLE_NL_OP_ORDER_DEADLINE != (int)SHUFFLE_ORDER_DEADLINE);
	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	dev = get_dev(info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = read_change(info, dev, &change);
	if (!err)
		err = change_and_tell(dev, &change, info->extack);
	shuffle_dev_put(dev);
	return err;
}
