/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of later kernels, for the earlier ones that the module builds for, too.  The code is that
 * of the latest kernel; Kbuild looks into the kernel's headers for what each has.
 */
#ifndef _SHUFFLE_KERNELS_H
#define _SHUFFLE_KERNELS_H

#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/workqueue.h>

/* Linux 6.10 */
#ifndef SHUFFLE_HAS_NETDEV_DUMMY
static inline struct net_device *alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *dev = kvzalloc(sizeof(*dev) + sizeof_priv, GFP_KERNEL_ACCOUNT);

	if (dev)
		init_dummy_netdev(dev);
	return dev;
}

#define shuffle_free_netdev_dummy	kvfree
#else
#define shuffle_free_netdev_dummy	free_netdev
#endif

/* Linux 6.13 */
#ifndef SHUFFLE_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* Linux 6.17 */
#ifndef SHUFFLE_HAS_DFL_WQ
#define system_dfl_wq		system_unbound_wq
#endif

/* Linux 6.19 */
#ifndef SHUFFLE_HAS_SOCKADDR_UNSIZED
#define sockaddr_unsized	sockaddr
#endif

/* Linux 7.2: __ethtool_get_link_ksettings() takes the device's lock */
#ifndef SHUFFLE_HAS_NETIF_KSETTINGS
#define netif_get_link_ksettings	__ethtool_get_link_ksettings
#endif

/* Linux 6.15: the drivers of some devices are called under a lock of the device.  Notifiers of
 * NETDEV_UP and NETDEV_CHANGE are, too.
 */
#ifdef SHUFFLE_HAS_NETDEV_LOCK_OPS
#include <net/netdev_lock.h>

static inline bool shuffle_netdev_trylock(struct net_device *netdev)
{
	return !netdev_need_ops_lock(netdev) || netdev_trylock(netdev);
}

static inline void shuffle_netdev_lock(struct net_device *netdev)
{
	netdev_lock_ops(netdev);
}

static inline void shuffle_netdev_unlock(struct net_device *netdev)
{
	netdev_unlock_ops(netdev);
}
#else
static inline bool shuffle_netdev_trylock(struct net_device *netdev)
{
	return true;
}

static inline void shuffle_netdev_lock(struct net_device *netdev)
{
}

static inline void shuffle_netdev_unlock(struct net_device *netdev)
{
}
#endif

#endif /* _SHUFFLE_KERNELS_H */
