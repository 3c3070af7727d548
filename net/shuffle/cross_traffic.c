// SPDX-License-Identifier: GPL-2.0-only
/*
 * Others that send to this host: how much of what a device receives is not a shuffle's.
 *
 * The device's own counters say it, so nothing changes where a shuffle is alone, however slow its
 * members or the network are.  They can be read in a worker only (some drivers take locks for them
 * that are not safe in softirqs).  Arrivals from ports that shuffles use start it, once in a
 * millisecond at most, and it looks at devices by which operations have granted something.
 *
 * What all devices of a namespace have received of shuffles is taken for each of them: with
 * several, others may be overlooked on one.
 */
#include <linux/netdevice.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>
#include <net/xfrm.h>

#include "config.h"
#include "kernels.h"
#include "mib.h"
#include "netns.h"
#include "op.h"
#include "sched/cross_traffic.h"

/* How often to look; and a look at a device covers so many round trips, for senders that follow
 * these, and so many bytes.
 */
#define CROSS_NS		NSEC_PER_MSEC
#define CROSS_RTTS		8
#define CROSS_BYTES		SZ_32K

/* A pause in which no shuffle has sent says nothing of others: after one, looks begin anew. */
#define CROSS_PAUSE_NS		(8 * NSEC_PER_MSEC)
/* After a long one, nor do looks before it. */
#define CROSS_FORGET_NS		NSEC_PER_SEC

/* Headers and padding of a packet that came encrypted, which are gone when it is counted here */
#define CROSS_IPSEC_OVERHEAD	80

/**
 * shuffle_cross_traffic_came() - count a datagram
 * @sn: namespace
 * @skb: UDP payload of the datagram, or of several which GRO has put together
 *
 * Context: softirq, or BH off.
 */
void shuffle_cross_traffic_came(struct shuffle_net *sn, const struct sk_buff *skb)
{
	u32 headers = skb_mac_header_was_set(skb) ? skb->data - skb_mac_header(skb) : 0;
	u64 now;

	if (skb->skb_iif == LOOPBACK_IFINDEX)
		return;
	if (secpath_exists(skb))
		headers += CROSS_IPSEC_OVERHEAD;
	SHUFFLE_ADD(sn, BytesIn, skb->len + headers * max_t(u32, skb_shinfo(skb)->gso_segs, 1));
	now = shuffle_now();
	if (now - atomic64_read(&sn->cross_at) < CROSS_NS)
		return;
	atomic64_set(&sn->cross_at, now);
	queue_work(system_dfl_wq, &sn->cross_work);
}

/* What has come by a device; @pause: since anything was looked at, ns.  RCU read side. */
static void look(struct shuffle_dev *dev, u64 own, u64 pause, u64 now)
{
	struct shuffle_cross *cross = &dev->cross;
	struct rtnl_link_stats64 stats;
	struct net_device *netdev;
	bool paused = pause >= CROSS_PAUSE_NS, full;
	u32 limit;

	if (pause >= CROSS_FORGET_NS)
		WRITE_ONCE(cross->limit, 0);
	/* nobody has granted anything by it: counters are taken where they mean something only */
	if (!atomic_read(&dev->rx_ops)) {
		cross->at = 0;
		return;
	}
	if (!paused && now - cross->at < (u64)CROSS_RTTS * READ_ONCE(dev->rtt))
		return;
	netdev = dev_get_by_index_rcu(dev->sn->net, dev->ifindex);
	if (!netdev)
		return;
	dev_get_stats(netdev, &stats);
	if (!paused && cross->at && stats.rx_bytes >= cross->all) {
		/* many devices write their counters from time to time only */
		if (stats.rx_bytes - cross->all < CROSS_BYTES)
			return;
		full = shuffle_cross_full(&cross->most, stats.rx_bytes - cross->all,
					  max(now - cross->at, 1ULL));
		limit = shuffle_cross_limit(cross->limit, READ_ONCE(dev->cfg.overcommit),
					    READ_ONCE(dev->cfg.give_way), own - cross->own,
					    stats.rx_bytes - cross->all, full);
		if (limit < cross->limit && limit)
			SHUFFLE_INC(dev->sn, GaveWay);
		WRITE_ONCE(cross->limit, limit);
	}
	cross->at = now;
	cross->own = own;
	cross->all = stats.rx_bytes;
}

static void look_at_all(struct work_struct *work)
{
	struct shuffle_net *sn = container_of(work, struct shuffle_net, cross_work);
	u64 own = shuffle_mib_value(sn, SHUFFLE_MIB_BytesIn);
	u64 now = shuffle_now(), pause = now - sn->cross_looked;
	struct shuffle_dev *dev;

	sn->cross_looked = now;
	rcu_read_lock();
	list_for_each_entry_rcu(dev, &sn->devs, node)
		look(dev, own, pause, now);
	rcu_read_unlock();
}

/**
 * shuffle_cross_traffic_init() - a new namespace
 * @sn: namespace
 */
void shuffle_cross_traffic_init(struct shuffle_net *sn)
{
	INIT_WORK(&sn->cross_work, look_at_all);
}

/**
 * shuffle_cross_traffic_exit() - a namespace goes, from which nothing can come any more
 * @sn: namespace
 *
 * Context: process; before the counters are freed.
 */
void shuffle_cross_traffic_exit(struct shuffle_net *sn)
{
	cancel_work_sync(&sn->cross_work);
}
