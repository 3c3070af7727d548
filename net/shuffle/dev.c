// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: settings of each device, and the estimates of its link: rate, and
 * round-trip time of the idle network.
 *
 * sn->devs is changed under sn->config_mutex and read under RCU.  An operation
 * keeps the device by which it left when it started, even if the route changes.
 */
#include <linux/ethtool.h>
#include <linux/kernel_stat.h>
#include <linux/math64.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "config.h"
#include "kernels.h"
#include "netns.h"
#include "op.h"
#include "sched/link_estimate.h"

/* Routes and queues may change: so long nothing is believed of the order of packets. */
#define SHUFFLE_OVERTAKEN_JIFFIES	HZ

/* RTT until the first measurement */
#define SHUFFLE_RTT_GUESS_NS	15000
/* rate of devices for which ethtool reports none */
#define SHUFFLE_RATE_GUESS_MBPS	10000

/* How often it is looked at whether the processor is the limit: several ticks, which count. */
#define CPU_LOOK_NS		(20 * NSEC_PER_MSEC)

/* Time that the kernel has worked on a processor. */
static u64 busy_ns(int cpu)
{
	const u64 *stat = kcpustat_cpu(cpu).cpustat;

	return READ_ONCE(stat[CPUTIME_SYSTEM]) + READ_ONCE(stat[CPUTIME_SOFTIRQ]) +
	       READ_ONCE(stat[CPUTIME_IRQ]);
}

/* Is the processor that takes the packets the limit?  Called with BHs off. */
static void look_at_cpu(struct shuffle_dev *dev, u64 now)
{
	int cpu = smp_processor_id();
	u64 ns = now - dev->cpu_at;
	u64 busy;

	if (ns < CPU_LOOK_NS)
		return;
	busy = busy_ns(cpu);
	/* after a pause, or on another processor, the next look will tell */
	if (cpu == dev->cpu && ns < 2 * CPU_LOOK_NS)
		shuffle_link_cpu(&dev->link, dev->rate, busy - dev->cpu_busy, ns);
	dev->link.looked = 0;
	dev->cpu = cpu;
	dev->cpu_at = now;
	dev->cpu_busy = busy;
}

/* Recompute what packet paths read without a lock. */
static void compute(struct shuffle_dev *dev)
{
	u64 bytes;

	lockdep_assert_held(&dev->lock);
	WRITE_ONCE(dev->rate, READ_ONCE(dev->cfg.link_mbps) ?: dev->link.mbps);
	WRITE_ONCE(dev->drains, shuffle_link_drains(&dev->link, READ_ONCE(dev->cfg.link_mbps)));
	WRITE_ONCE(dev->rtt, READ_ONCE(dev->cfg.rtt_ns) ?: shuffle_link_rtt(&dev->link) ?:
		   SHUFFLE_RTT_GUESS_NS);
	bytes = READ_ONCE(dev->cfg.rtt_bytes);
	/* an RTT that an operator has set is meant */
	if (!bytes && READ_ONCE(dev->cfg.rtt_ns))
		bytes = div_u64((u64)dev->rate * dev->rtt, 8000);
	else if (!bytes)
		bytes = shuffle_link_rtt_bytes(&dev->link, dev->rate, dev->rtt,
					       shuffle_now());
	WRITE_ONCE(dev->rtt_bytes, clamp_t(u64, bytes, SHUFFLE_MIN_RTT_BYTES, 64 << 20));
}

/**
 * shuffle_dev_compute() - recompute rate, RTT and RTTbytes after a change of settings, or a pause
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
 * shuffle_dev_sample() - feed a measured round trip into the estimate
 * @dev: device
 * @ns: duration of the round trip, ns
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
 * shuffle_dev_arrived() - feed an arrival of DATA into the rate estimate
 * @dev: device by which the data came
 * @bytes: of the packets, headers included
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
	look_at_cpu(dev, now);
	if (dev->link.mbps != mbps || dev->link.recent != recent)
		compute(dev);
	spin_unlock_bh(&dev->lock);
}

/**
 * shuffle_dev_lost() - feed the loss of a packet into the rate estimate
 * @dev: device
 *
 * Context: any.
 */
void shuffle_dev_lost(struct shuffle_dev *dev)
{
	spin_lock_bh(&dev->lock);
	shuffle_link_lost(&dev->link, shuffle_now());
	compute(dev);
	spin_unlock_bh(&dev->lock);
}

/**
 * shuffle_dev_overtaken() - packets that leave by a device, or come by it, overtake one another
 * @dev: device
 *
 * Context: any.
 */
void shuffle_dev_overtaken(struct shuffle_dev *dev)
{
	/* 0: never */
	WRITE_ONCE(dev->overtaken, (jiffies + SHUFFLE_OVERTAKEN_JIFFIES) | 1);
}

/**
 * shuffle_dev_overtakes() - have they done so a moment ago?
 * @dev: device
 *
 * Context: any.
 */
bool shuffle_dev_overtakes(const struct shuffle_dev *dev)
{
	unsigned long until = READ_ONCE(dev->overtaken);

	return until && time_before(jiffies, until);
}

/**
 * shuffle_dev_drain_ns() - time that a queue in front of a device needs to drain
 * @dev: device
 * @bytes: in the queue
 *
 * Context: any.  Takes no lock: a timer may call this for thousands of members.
 * Return: ns.
 */
u64 shuffle_dev_drain_ns(const struct shuffle_dev *dev, u64 bytes)
{
	return div_u64(bytes * 8000, READ_ONCE(dev->drains));
}

/* Rate that ethtool reports, Mb/s.  The rtnl and the device's lock are held. */
static u32 ask_rate(struct net_device *netdev)
{
	struct ethtool_link_ksettings ks;

	ASSERT_RTNL();
	if (netif_get_link_ksettings(netdev, &ks) || !ks.base.speed ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return SHUFFLE_RATE_GUESS_MBPS;
	return ks.base.speed;
}

/**
 * shuffle_dev_setup() - initialise a new device
 * @dev: zeroed
 * @sn: namespace
 * @ifindex: 0 for the namespace itself
 *
 * The caller adds the settings; shuffle_dev_compute() then the computed values.
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

/* The device, or &sn->dev0 if it is not known; no reference is taken.  RCU read side, or
 * sn->config_mutex held.
 */
static struct shuffle_dev *find_rcu(struct shuffle_net *sn, int ifindex)
{
	struct shuffle_dev *dev;

	list_for_each_entry_rcu(dev, &sn->devs, node, lockdep_is_held(&sn->config_mutex))
		if (dev->ifindex == ifindex)
			return dev;
	return &sn->dev0;
}

static bool is_known(struct shuffle_net *sn, int ifindex)
{
	bool known;

	rcu_read_lock();
	known = find_rcu(sn, ifindex) != &sn->dev0;
	rcu_read_unlock();
	return known;
}

static bool has_netdev(struct shuffle_net *sn, int ifindex)
{
	bool found;

	rcu_read_lock();
	found = dev_get_by_index_rcu(sn->net, ifindex);
	rcu_read_unlock();
	return found;
}

static struct shuffle_dev *dev_create(struct shuffle_net *sn, int ifindex)
{
	struct shuffle_dev *dev, *new;
	struct net_device *netdev;
	bool known = false;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	shuffle_dev_setup(new, sn, ifindex);
	/* A system call that is not to wait must not wait for whoever configures the network.  What
	 * cannot be asked now is asked soon.
	 */
	if (rtnl_trylock()) {
		netdev = __dev_get_by_index(sn->net, ifindex);
		if (netdev && shuffle_netdev_trylock(netdev)) {
			shuffle_link_init(&new->link, ask_rate(netdev));
			shuffle_netdev_unlock(netdev);
			known = true;
		}
		rtnl_unlock();
	}
	/* A netdev leaves the namespace's list before dev_event() hears of that, which takes the
	 * mutex: one that is still there has its event before it.
	 */
	mutex_lock(&sn->config_mutex);
	dev = find_rcu(sn, ifindex);
	if (dev == &sn->dev0 && has_netdev(sn, ifindex)) {
		dev = new;
		new = NULL;
		shuffle_config_follow(dev);
		list_add_tail_rcu(&dev->node, &sn->devs);
		sn->config_gen++;
	} else if (dev == &sn->dev0) {
		dev = NULL;
	}
	if (dev)
		refcount_inc(&dev->ref);
	mutex_unlock(&sn->config_mutex);
	if (dev && !known)
		schedule_work(&sn->rates_work);
	kfree(new);
	return dev;
}

/**
 * shuffle_dev_get() - look up a device, or create it
 * @sn: namespace
 * @ifindex: of the device
 *
 * Context: process, may sleep, no lock of ours held.
 * Return: the device, with a reference; &sn->dev0 if no netdev has this index or
 * memory is short.
 */
struct shuffle_dev *shuffle_dev_get(struct shuffle_net *sn, int ifindex)
{
	struct shuffle_dev *dev = NULL;

	if (ifindex) {
		rcu_read_lock();
		dev = find_rcu(sn, ifindex);
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
	/* never dev0: its namespace does not drop the first reference */
	if (refcount_dec_and_test(&dev->ref))
		kfree_rcu(dev, rcu);
}

/**
 * shuffle_dev_widest() - largest RTTbytes of all devices in use
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
 * @ifindex: device by which they leave
 *
 * Context: any.
 * Return: the IPv4 TOS, or IPv6 traffic class, byte.
 */
u8 shuffle_dev_control_tos(struct shuffle_net *sn, int ifindex)
{
	u8 tos;

	rcu_read_lock();
	tos = READ_ONCE(find_rcu(sn, ifindex)->cfg.control_dscp) << 2;
	rcu_read_unlock();
	return tos;
}

/* The netdev reports a rate.  A new rate means another link: forget what was learnt. */
static void claims(struct shuffle_dev *dev, u32 mbps)
{
	spin_lock_bh(&dev->lock);
	if (mbps != dev->link.claimed)
		shuffle_link_init(&dev->link, mbps);
	compute(dev);
	spin_unlock_bh(&dev->lock);
}

/**
 * shuffle_dev_ask_rates() - ask all devices for the rates of their links
 * @work: sn->rates_work
 *
 * Context: process.
 */
void shuffle_dev_ask_rates(struct work_struct *work)
{
	struct shuffle_net *sn = container_of(work, struct shuffle_net, rates_work);
	struct net_device *netdev;
	struct shuffle_dev *dev;
	u32 mbps;

	rtnl_lock();
	for_each_netdev(sn->net, netdev) {
		if (!is_known(sn, netdev->ifindex))
			continue;
		/* like in dev_event() the mutex is inside the device's lock */
		shuffle_netdev_lock(netdev);
		mbps = ask_rate(netdev);
		mutex_lock(&sn->config_mutex);
		dev = find_rcu(sn, netdev->ifindex);
		if (dev != &sn->dev0)
			claims(dev, mbps);
		mutex_unlock(&sn->config_mutex);
		shuffle_netdev_unlock(netdev);
	}
	rtnl_unlock();
}

/* Called with the rtnl held, and with the device's lock where its rate is asked for. */
static int dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);
	struct shuffle_net *sn = shuffle_net(dev_net(netdev));
	struct shuffle_dev *dev;

	if (event != NETDEV_UNREGISTER && event != NETDEV_CHANGE && event != NETDEV_UP)
		return NOTIFY_DONE;
	mutex_lock(&sn->config_mutex);
	dev = find_rcu(sn, netdev->ifindex);
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
