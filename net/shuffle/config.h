/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings of a network namespace and of its devices.
 *
 * sn->config_mutex guards all changes.  Readers on packet paths take no lock:
 * each value is one u32, read with READ_ONCE(), and what is computed from
 * several is kept ready in struct shuffle_dev.
 */
#ifndef _SHUFFLE_CONFIG_H
#define _SHUFFLE_CONFIG_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "sched/link_estimate.h"
#include "sched/op_order.h"

#define SHUFFLE_MIN_RTT_BYTES	3000	/* two packets */

struct netlink_ext_ack;
struct sk_buff;
struct shuffle_net;

/* The settings: name in the netlink family, field, name for people.  Their order is that of the
 * attributes and of enum shuffle_nl_setting.  What they mean, their units and ranges:
 * Documentation/netlink/specs/shuffle.yaml.  These can be set for a device:
 */
#define SHUFFLE_CONFIG_DEV_LIST(X)						\
	X(OVERCOMMIT,			overcommit,		"overcommit")		\
	X(WINDOW_MODE,			window_mode,		"window-mode")		\
	X(SCALE_BACK_EXPONENT,		scale_back_exponent,	"scale-back-exponent")	\
	X(UNSCHEDULED,			unscheduled,		"unscheduled")		\
	X(LINK_RATE,			link_mbps,		"link-rate")		\
	X(RTT,				rtt_ns,			"rtt")			\
	X(RTT_BYTES,			rtt_bytes,		"rtt-bytes")		\
	X(PACKET_SIZE,			packet_size,		"packet-size")		\
	X(CONTROL_DSCP,			control_dscp,		"control-dscp")		\
	X(RESEND_FIRST,			resend_first_us,	"resend-first")		\
	X(RESEND_MIN,			resend_min_us,		"resend-min")		\
	X(RESEND_MAX,			resend_max_us,		"resend-max")		\
	X(OP_ORDER,			op_order,		"op-order")		\
	X(GIVE_WAY,			give_way,		"give-way")
/* and these only for a namespace */
#define SHUFFLE_CONFIG_NET_LIST(X)						\
	X(PORT,				port,			"port")			\
	X(EGRESS_BYTES,			egress_bytes,		"egress-bytes")		\
	X(EARLY_BYTES,			early_bytes,		"early-bytes")		\
	X(EARLY_EXPIRY,			early_expiry_ms,	"early-expiry")		\
	X(FINISHED_MAX,			finished_max,		"finished-max")		\
	X(FINISHED_EXPIRY,		finished_expiry_ms,	"finished-expiry")	\
	X(IDLE_TIMEOUT,			idle_timeout_ms,	"idle-timeout")		\
	X(SNDBUF,			sndbuf,			"sndbuf")		\
	X(RCVBUF,			rcvbuf,			"rcvbuf")		\
	X(ECHO,				echo,			"echo")			\
	X(ECHO_RATE,			echo_rate,		"echo-rate")

#define SHUFFLE_CONFIG_COUNT(attr, field, name)	+ 1
#define SHUFFLE_CONFIG_DEV_N	(0 SHUFFLE_CONFIG_DEV_LIST(SHUFFLE_CONFIG_COUNT))
#define SHUFFLE_CONFIG_N	(SHUFFLE_CONFIG_DEV_N SHUFFLE_CONFIG_NET_LIST(SHUFFLE_CONFIG_COUNT))

/**
 * struct shuffle_config - the settings by name or, as @val, by number
 * @val: the number of a setting is that of its bit in enum shuffle_nl_setting
 */
struct shuffle_config {
	union {
		struct {
#define SHUFFLE_CONFIG_FIELD(attr, field, name)	u32 field;
			SHUFFLE_CONFIG_DEV_LIST(SHUFFLE_CONFIG_FIELD)
			SHUFFLE_CONFIG_NET_LIST(SHUFFLE_CONFIG_FIELD)
#undef SHUFFLE_CONFIG_FIELD
		};
		u32 val[SHUFFLE_CONFIG_N];
	};
};

/**
 * struct shuffle_cross - what others send by a device: cross_traffic.c, whose worker changes it
 * @at: when it was looked at last, ns
 * @own: bytes of shuffles that had come to the namespace
 * @all: bytes that had come by the device
 * @most: what the device has received at most, Mb/s
 * @limit: most that is granted, quarters of RTTbytes; 0: no limit; read by anyone
 */
struct shuffle_cross {
	u64			at;
	u64			own;
	u64			all;
	u32			most;
	u32			limit;
};

/**
 * struct shuffle_rtt - a time that operations by a device measure (RFC 6298)
 * @srtt: smoothed time, ns
 * @rttvar: mean deviation of the time, ns
 * @at: when the time was measured last, ns
 *
 * Sockets of the device write it without a common lock: values of any of them will do.
 */
struct shuffle_rtt {
	atomic64_t	srtt;
	atomic64_t	rttvar;
	atomic64_t	at;
};

/**
 * struct shuffle_dev - how operations that leave by one device are run
 * @node: in sn->devs, RCU
 * @ref: the list, and operations
 * @rcu: frees it
 * @sn: namespace
 * @ifindex: the device; 0: the namespace itself, which also stands for devices
 *	that nobody knows (loopback, no route)
 * @own: settings that were set here, a mask of enum shuffle_nl_setting
 * @cfg: settings in effect
 * @lock: @link, and what is computed
 * @link: what has been learnt of the link
 * @cpu: whose work was looked at last
 * @cpu_at: when, ns
 * @cpu_busy: what it had been, ns
 * @rate: computed: link rate, Mb/s
 * @drains: computed: rate that queues drain at, Mb/s, not 0
 * @rtt: computed: round-trip time of the idle network, ns
 * @rtt_bytes: computed: their product
 * @data_rtt: from a grant to its data: of the last operation that measured that
 * @ack_rtt: from a message that needed no grant to its ACK
 * @rx_ops: operations that have granted what has not arrived; they share the downlink
 * @order: operations of @rx_ops that have an order
 * @overtaken: packets overtake one another, until that time in jiffies; 0: no
 * @cross: what others send to this host
 */
struct shuffle_dev {
	struct list_head	node;
	refcount_t		ref;
	struct rcu_head		rcu;
	struct shuffle_net	*sn;
	int			ifindex;
	u64			own;
	struct shuffle_config	cfg;
	spinlock_t		lock;	/* see above */
	struct shuffle_link	link;
	int			cpu;
	u64			cpu_at;
	u64			cpu_busy;
	u32			rate;
	u32			drains;
	u32			rtt;
	u32			rtt_bytes;
	struct shuffle_rtt	data_rtt;
	struct shuffle_rtt	ack_rtt;
	atomic_t		rx_ops;
	struct shuffle_order	order;
	unsigned long		overtaken;
	struct shuffle_cross	cross;
};

/**
 * struct shuffle_config_change - what is to be changed at once
 * @set: settings that get a value
 * @unset: settings that are followed again
 * @val: the values
 * @mem_max: value of SHUFFLE_NL_SETTING_MEM_MAX, which is not of a namespace
 * @init_admin: the caller is privileged in the initial namespace
 */
struct shuffle_config_change {
	u64			set;
	u64			unset;
	struct shuffle_config	val;
	u64			mem_max;
	bool			init_admin;
};

/* config.c */
void shuffle_config_init(struct shuffle_net *sn);
void shuffle_config_exit(struct shuffle_net *sn);
void shuffle_config_follow(struct shuffle_dev *dev);
int shuffle_config_apply(struct shuffle_dev *dev, const struct shuffle_config_change *change,
			 struct netlink_ext_ack *extack);

/* dev.c */
int shuffle_dev_init(void);
void shuffle_dev_exit(void);
void shuffle_dev_setup(struct shuffle_dev *dev, struct shuffle_net *sn, int ifindex);
void shuffle_dev_ask_rates(struct work_struct *work);
struct shuffle_dev *shuffle_dev_get(struct shuffle_net *sn, int ifindex);
void shuffle_dev_put(struct shuffle_dev *dev);
void shuffle_dev_compute(struct shuffle_dev *dev);
void shuffle_dev_sample(struct shuffle_dev *dev, u64 ns);
void shuffle_dev_arrived(struct shuffle_dev *dev, u32 bytes, u64 now);
void shuffle_dev_lost(struct shuffle_dev *dev);
void shuffle_dev_overtaken(struct shuffle_dev *dev);
bool shuffle_dev_overtakes(const struct shuffle_dev *dev);
u64 shuffle_dev_drain_ns(const struct shuffle_dev *dev, u64 bytes);
u32 shuffle_dev_widest(struct shuffle_net *sn);
u8 shuffle_dev_control_tos(struct shuffle_net *sn, int ifindex);

/* cross_traffic.c */
void shuffle_cross_traffic_init(struct shuffle_net *sn);
void shuffle_cross_traffic_exit(struct shuffle_net *sn);
void shuffle_cross_traffic_came(struct shuffle_net *sn, const struct sk_buff *skb);

/**
 * shuffle_dev_rtt_bytes() - RTTbytes: link rate times minimum RTT
 * @dev: device
 *
 * Context: any.
 * Return: bytes, at least 3000 (two packets) and at most 64 MiB.
 */
static inline u32 shuffle_dev_rtt_bytes(const struct shuffle_dev *dev)
{
	return READ_ONCE(dev->rtt_bytes);
}

/**
 * shuffle_dev_unscheduled() - what a member sends before the first grant
 * @dev: device
 *
 * Return: bytes.
 */
static inline u32 shuffle_dev_unscheduled(const struct shuffle_dev *dev)
{
	return READ_ONCE(dev->cfg.unscheduled) ?: shuffle_dev_rtt_bytes(dev);
}

#endif /* _SHUFFLE_CONFIG_H */
