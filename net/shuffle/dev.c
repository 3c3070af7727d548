// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: settings of their own, and what is known of the network behind them:
 * its rate and the round-trip time when it is idle.
 *
 * sn->devs is changed under sn->config_mutex and read under RCU.  An operation
 * keeps the device that it started with.
 */
#include <linux/ethtool.h>
#include <linux/math64.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "shuffle.h"

/* before anything was measured */
#define SHUFFLE_RTT_GUESS_NS	50000
/* of devices that do not say */
#define SHUFFLE_RATE_GUESS_MBPS	10000

/* dev->lock held */
static void compute(struct shuffle_dev *dev)
{
	u64 bytes;

	WRITE_ONCE(dev->rate, READ_ONCE(dev->cfg.link_rate) ?: dev->link.mbps);
	WRITE_ONCE(dev->drains, shuffle_link_drains(&dev->link, READ_ONCE(dev->cfg.link_rate)));
	WRITE_ONCE(dev->rtt, READ_ONCE(dev->cfg.rtt) ?: shuffle_link_rtt(&dev->link) ?:
		   SHUFFLE_RTT_GUESS_NS);
	bytes = READ_ONCE(dev->cfg.rtt_bytes) ?: div_u64((u64)dev->rate * dev->rtt, 8000);
	WRITE_ONCE(dev->rtt_bytes, clamp_t(u64, bytes, SHUFFLE_MIN_RTT_BYTES, 64 << 20));
}

/**
 * shuffle_dev_compute() - settings have changed
 * @dev: device
 *
 * Context: any.
 */
void shuffle_dev_compute(struct shuffle_dev *dev)
{
	spin_lock_bh(&dev->lock);
	compute(dev);
	spin_unlock_bh(&dev->lock);
}

/**
 * shuffle_dev_sample() - a round trip has been measured
 * @dev: device
 * @ns: its time
 *
 * Context: any.
 */
void shuffle_dev_sample(struct shuffle_dev *dev, u64 ns)
{
	spin_lock_bh(&dev->lock);
	shuffle_link_rtt_sample(&dev->link, ns, shuffle_now());
	compute(dev);
	spin_unlock_bh(&dev->lock);
}

/**
 * shuffle_dev_arrived() - data has come in by a device
 * @dev: device
 * @bytes: with headers
 * @now: ns
 *
 * Context: any.
 */
void shuffle_dev_arrived(struct shuffle_dev *dev, u32 bytes, u64 now)
{
	u32 mbps, recent;

	spin_lock_bh(&dev->lock);
	mbps = dev->link.mbps;
	recent = dev->link.recent;
	shuffle_link_arrived(&dev->link, bytes, now);
	if (dev->link.mbps != mbps || dev->link.recent != recent)
		compute(dev);
	spin_unlock_bh(&dev->lock);
}

/**
 * shuffle_dev_lost() - a packet was lost on its way to a device
 * @dev: device
 *
 * Context: any.
 */
void shuffle_dev_lost(struct shuffle_dev *dev)
{
	spin_lock_bh(&dev->lock);
	shuffle_link_lost(&dev->link);
	compute(dev);
	spin_unlock_bh(&dev->lock);
}

/**
 * shuffle_dev_drain_ns() - how long bytes can wait in front of a device
 * @dev: device
 * @bytes: in a queue
 *
 * Context: any.  Takes no lock: timers ask for many members.
 * Return: ns.
 */
u64 shuffle_dev_drain_ns(const struct shuffle_dev *dev, u64 bytes)
{
	return div_u64(bytes * 8000, READ_ONCE(dev->drains));
}

/* rtnl held */
static u32 ask_rate(struct net_device *netdev)
{
	struct ethtool_link_ksettings ks;

	if (__ethtool_get_link_ksettings(netdev, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return SHUFFLE_RATE_GUESS_MBPS;
	return ks.base.speed;
}

/**
 * shuffle_dev_setup() - fill in a new device
 * @dev: zeroed
 * @sn: namespace
 * @ifindex: 0 for the namespace itself
 *
 * Settings and computed values are missing still.
 */
void shuffle_dev_setup(struct shuffle_dev *dev, struct shuffle_net *sn, int ifindex)
{
	INIT_LIST_HEAD(&dev->node);
	refcount_set(&dev->ref, 1);
	spin_lock_init(&dev->lock);
	shuffle_link_init(&dev->link, SHUFFLE_RATE_GUESS_MBPS);
	dev->sn = sn;
	dev->ifindex = ifindex;
}

/**
 * shuffle_dev_find_rcu() - a device that is known, or the namespace
 * @sn: namespace
 * @ifindex: of the device
 *
 * Context: RCU read side.
 * Return: without a reference.
 */
struct shuffle_dev *shuffle_dev_find_rcu(struct shuffle_net *sn, int ifindex)
{
	struct shuffle_dev *dev;

	list_for_each_entry_rcu(dev, &sn->devs, node, lockdep_is_held(&sn->config_mutex))
		if (dev->ifindex == ifindex)
			return dev;
	return &sn->dev0;
}

static struct shuffle_dev *dev_create(struct shuffle_net *sn, int ifindex)
{
	struct shuffle_dev *dev, *new;
	struct net_device *netdev;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	shuffle_dev_setup(new, sn, ifindex);
	/* it cannot go before it is in the list: its notifier wants the rtnl */
	rtnl_lock();
	netdev = __dev_get_by_index(sn->net, ifindex);
	if (!netdev) {
		rtnl_unlock();
		kfree(new);
		return NULL;
	}
	shuffle_link_init(&new->link, ask_rate(netdev));
	mutex_lock(&sn->config_mutex);
	dev = shuffle_dev_find_rcu(sn, ifindex);
	if (dev == &sn->dev0) {
		dev = new;
		new = NULL;
		shuffle_config_follow(dev);
		list_add_tail_rcu(&dev->node, &sn->devs);
		sn->config_gen++;
	}
	refcount_inc(&dev->ref);
	mutex_unlock(&sn->config_mutex);
	rtnl_unlock();
	kfree(new);
	return dev;
}

/**
 * shuffle_dev_get() - a device
 * @sn: namespace
 * @ifindex: of the device
 *
 * Context: process, may sleep, no lock of ours held.
 * Return: with a reference; the namespace itself, if there is no such device, or
 * no memory.
 */
struct shuffle_dev *shuffle_dev_get(struct shuffle_net *sn, int ifindex)
{
	struct shuffle_dev *dev = NULL;

	if (ifindex) {
		rcu_read_lock();
		dev = shuffle_dev_find_rcu(sn, ifindex);
		if (dev == &sn->dev0 || !refcount_inc_not_zero(&dev->ref))
			dev = NULL;
		rcu_read_unlock();
		if (!dev)
			dev = dev_create(sn, ifindex);
	}
	if (!dev) {
		dev = &sn->dev0;
		refcount_inc(&dev->ref);
	}
	return dev;
}

/**
 * shuffle_dev_put() - drop a reference
 * @dev: device
 *
 * Context: any.
 */
void shuffle_dev_put(struct shuffle_dev *dev)
{
	/* dev0 lives with its namespace, which never drops its own reference */
	if (refcount_dec_and_test(&dev->ref))
		kfree_rcu(dev, rcu);
}

/**
 * shuffle_dev_widest() - the largest RTTbytes of the devices in use
 * @sn: namespace
 *
 * Context: any.
 * Return: bytes.
 */
u32 shuffle_dev_widest(struct shuffle_net *sn)
{
	struct shuffle_dev *dev;
	u32 most = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &sn->devs, node)
		most = max(most, shuffle_dev_rtt_bytes(dev));
	rcu_read_unlock();
	return most ?: shuffle_dev_rtt_bytes(&sn->dev0);
}

/**
 * shuffle_dev_control_tos() - traffic class of packets without payload
 * @sn: namespace
 * @ifindex: device they leave by
 *
 * Context: any.
 * Return: the IPv4 TOS, or IPv6 traffic class, byte.
 */
u8 shuffle_dev_control_tos(struct shuffle_net *sn, int ifindex)
{
	u8 tos;

	rcu_read_lock();
	tos = READ_ONCE(shuffle_dev_find_rcu(sn, ifindex)->cfg.control_dscp) << 2;
	rcu_read_unlock();
	return tos;
}

/* What was learnt before the cable was changed is worth nothing. */
static void claims(struct shuffle_dev *dev, u32 mbps)
{
	spin_lock_bh(&dev->lock);
	if (mbps != dev->link.claimed)
		shuffle_link_init(&dev->link, mbps);
	compute(dev);
	spin_unlock_bh(&dev->lock);
}

/* rtnl held */
static int dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);
	struct shuffle_net *sn = shuffle_net(dev_net(netdev));
	struct shuffle_dev *dev;

	if (event != NETDEV_UNREGISTER && event != NETDEV_CHANGE && event != NETDEV_UP)
		return NOTIFY_DONE;
	mutex_lock(&sn->config_mutex);
	dev = shuffle_dev_find_rcu(sn, netdev->ifindex);
	if (dev == &sn->dev0) {
		dev = NULL;
	} else if (event == NETDEV_UNREGISTER) {
		list_del_rcu(&dev->node);
		sn->config_gen++;
		shuffle_dev_put(dev);
	} else {
		claims(dev, ask_rate(netdev));
	}
	mutex_unlock(&sn->config_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block dev_notifier = {
	.notifier_call = dev_event,
};

int shuffle_dev_init(void)
{
	return register_netdevice_notifier(&dev_notifier);
}

void shuffle_dev_exit(void)
{
	unregister_netdevice_notifier(&dev_notifier);
}
