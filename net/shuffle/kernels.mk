# SPDX-License-Identifier: GPL-2.0-only
# What this kernel has, by its headers.  What is done without is in kernels.h.
has = $(if $(shell grep -sw $(1) $(srctree)/include/linux/$(2)),-DSHUFFLE_HAS_$(3))
ccflags-y += $(call has,alloc_netdev_dummy,netdevice.h,NETDEV_DUMMY)
ccflags-y += $(call has,system_dfl_wq,workqueue.h,DFL_WQ)
ccflags-y += $(call has,hrtimer_setup,hrtimer.h,HRTIMER_SETUP)
ccflags-y += $(call has,sockaddr_unsized,socket.h,SOCKADDR_UNSIZED)
ccflags-y += $(call has,netif_get_link_ksettings,ethtool.h,NETIF_KSETTINGS)
ccflags-y += $(call has,netdev_lock_ops,../net/netdev_lock.h,NETDEV_LOCK_OPS)
