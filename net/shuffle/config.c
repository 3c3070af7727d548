// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings: a device follows its namespace in all that has not been set on it; what has not been
 * set on a namespace has its default.  Changes are made under sn->change_mutex, and values are
 * written under sn->config_mutex as well.
 */
#include <linux/capability.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include <uapi/linux/shuffle_netlink.h>

#include "config.h"
#include "mem.h"
#include "netns.h"
#include "sched/op_order.h"
#include "tx/msg_out.h"

static const struct shuffle_config config_defaults = {
	.op_order = SHUFFLE_ORDER_FAIR,
	.give_way = 40,
	.overcommit = 10,
	.window_mode = SHUFFLE_NL_WINDOW_MODE_PRO_RATA,
	.scale_back_exponent = 2,
	.control_dscp = 48,
	.resend_first_us = 5000,
	.resend_min_us = 100,
	.resend_max_us = 1000000,
	.port = 818,
	.early_bytes = 4 << 20,
	.early_expiry_ms = 30000,
	.finished_max = 4096,
	.finished_expiry_ms = 60000,
	.idle_timeout_ms = 60000,
	.sndbuf = 8 << 20,
	.rcvbuf = 8 << 20,
	.echo = SHUFFLE_NL_ECHO_MEMBERS,
	.echo_rate = 10000,
};

/* Settings that stand for memory of the machine. */
static const struct {
	u32		setting;
	const char	*why;
} init_bounds[] = {
	{ SHUFFLE_NL_SETTING_EARLY_BYTES,
	  "early-bytes: more than the initial namespace has" },
	{ SHUFFLE_NL_SETTING_FINISHED_MAX,
	  "finished-max: more than the initial namespace has" },
	{ SHUFFLE_NL_SETTING_SNDBUF,
	  "sndbuf: more than the initial namespace has" },
	{ SHUFFLE_NL_SETTING_RCVBUF,
	  "rcvbuf: more than the initial namespace has" },
};

/* what the initial namespace allows of a setting */
static u32 init_bound(u32 i)
{
	return READ_ONCE(shuffle_net(&init_net)->dev0.cfg.val[i]);
}

/* What a namespace has that nothing is set on, within what the initial namespace allows. */
static void defaults(const struct shuffle_net *sn, struct shuffle_config *cfg)
{
	u32 i, n;

	*cfg = config_defaults;
	if (sn->net->user_ns == &init_user_ns)
		return;
	for (n = 0; n < ARRAY_SIZE(init_bounds); n++) {
		i = __ffs64(init_bounds[n].setting);
		cfg->val[i] = min(cfg->val[i], init_bound(i));
	}
}

/**
 * shuffle_config_follow() - give a device the settings of its namespace
 * @dev: device
 *
 * Context: process, sn->config_mutex held.
 */
void shuffle_config_follow(struct shuffle_dev *dev)
{
	const struct shuffle_config *from = &dev->sn->dev0.cfg;
	u32 i;

	lockdep_assert_held(&dev->sn->config_mutex);
	for (i = 0; i < SHUFFLE_CONFIG_DEV_N; i++)
		if (!(dev->own & BIT_ULL(i)))
			WRITE_ONCE(dev->cfg.val[i], from->val[i]);
	shuffle_dev_compute(dev);
}

static void devs_follow(struct shuffle_net *sn)
{
	struct shuffle_dev *dev;

	lockdep_assert_held(&sn->config_mutex);
	list_for_each_entry(dev, &sn->devs, node)
		shuffle_config_follow(dev);
}

/**
 * shuffle_config_init() - settings of a new namespace
 * @sn: namespace
 */
void shuffle_config_init(struct shuffle_net *sn)
{
	mutex_init(&sn->change_mutex);
	mutex_init(&sn->config_mutex);
	INIT_WORK(&sn->rates_work, shuffle_dev_ask_rates);
	INIT_LIST_HEAD(&sn->devs);
	shuffle_dev_setup(&sn->dev0, sn, 0);
	/* the initial namespace is the first: it bounds what others may have */
	defaults(sn, &sn->dev0.cfg);
	shuffle_dev_compute(&sn->dev0);
}

/**
 * shuffle_config_exit() - the namespace goes
 * @sn: namespace without sockets
 */
void shuffle_config_exit(struct shuffle_net *sn)
{
	struct shuffle_dev *dev, *tmp;

	cancel_work_sync(&sn->rates_work);
	mutex_lock(&sn->config_mutex);
	list_for_each_entry_safe(dev, tmp, &sn->devs, node) {
		list_del_rcu(&dev->node);
		shuffle_dev_put(dev);
	}
	mutex_unlock(&sn->config_mutex);
}

/* What would hold afterwards has to make sense. */
static int check(const struct shuffle_config *cfg, struct netlink_ext_ack *extack)
{
	if (cfg->packet_size && cfg->packet_size < SHUFFLE_MIN_PAYLOAD) {
		NL_SET_ERR_MSG(extack, "packet-size: must be 0 (auto) or 256 to 32768 bytes");
		return -ERANGE;
	}
	if (cfg->rtt_bytes && cfg->rtt_bytes < SHUFFLE_MIN_RTT_BYTES) {
		NL_SET_ERR_MSG(extack, "rtt-bytes: must be 0 (auto) or 3000 to 67108864 bytes");
		return -ERANGE;
	}
	if (cfg->resend_min_us > cfg->resend_max_us) {
		NL_SET_ERR_MSG(extack, "resend-min: must not be more than resend-max");
		return -ERANGE;
	}
	if (cfg->resend_first_us > cfg->resend_max_us) {
		NL_SET_ERR_MSG(extack, "resend-first: must not be more than resend-max");
		return -ERANGE;
	}
	return 0;
}

/* It stays open without a user. */
static int open_port(struct shuffle_net *sn)
{
	int err = shuffle_udp_open(sn);

	if (!err)
		shuffle_udp_put(sn);
	return err;
}

/* The UDP port of the namespace, and whether it is open without a socket. */
static int apply_port(struct shuffle_net *sn, const struct shuffle_config *new,
		      struct netlink_ext_ack *extack)
{
	u16 old = sn->dev0.cfg.port;
	int err;

	if (new->port != old && shuffle_udp_set_port(sn, new->port)) {
		NL_SET_ERR_MSG(extack,
			       "port: sockets of this namespace are bound; close them first");
		return -EBUSY;
	}
	if (new->echo != SHUFFLE_NL_ECHO_ALL)
		return 0;
	err = open_port(sn);
	if (!err)
		return 0;
	NL_SET_ERR_MSG(extack, "echo: the UDP port cannot be opened");
	if (new->port != old && !shuffle_udp_set_port(sn, old) &&
	    sn->dev0.cfg.echo == SHUFFLE_NL_ECHO_ALL)
		open_port(sn);
	return err;
}

/* A namespace's owner may not have more of the machine's memory than the machine's own gives. */
static int check_bounds(const struct shuffle_config_change *change,
			struct netlink_ext_ack *extack)
{
	u32 i, n;

	if (change->init_admin)
		return 0;
	for (n = 0; n < ARRAY_SIZE(init_bounds); n++) {
		i = __ffs64(init_bounds[n].setting);
		if (!(change->set & BIT_ULL(i)) || change->val.val[i] <= init_bound(i))
			continue;
		/* not a literal, which the macros want */
		if (extack)
			extack->_msg = init_bounds[n].why;
		return -EPERM;
	}
	return 0;
}

/* What is of all devices, or of the machine. */
static void apply_machine(struct shuffle_net *sn, const struct shuffle_config_change *change)
{
	lockdep_assert_held(&sn->config_mutex);
	if (change->set & SHUFFLE_NL_SETTING_MEM_MAX)
		shuffle_mem_set_max(change->mem_max);
	else if (change->unset & SHUFFLE_NL_SETTING_MEM_MAX)
		shuffle_mem_set_max(0);
	devs_follow(sn);
}

/**
 * shuffle_config_apply() - change settings: all of them, or none
 * @dev: device, or the namespace (&sn->dev0)
 * @change: values within their ranges; a device only gets settings of devices,
 *	mem-max only the initial namespace
 * @extack: says why not
 *
 * Context: process, may sleep, sn->change_mutex held.
 * Return: 0, -ERANGE, -EBUSY (sockets use the port), -EADDRINUSE (others do, and echo is to open
 * it), or -EPERM (more memory than in the initial namespace, and the caller is not privileged
 * there).
 */
int shuffle_config_apply(struct shuffle_dev *dev, const struct shuffle_config_change *change,
			 struct netlink_ext_ack *extack)
{
	u32 n = dev->ifindex ? SHUFFLE_CONFIG_DEV_N : SHUFFLE_CONFIG_N;
	struct shuffle_net *sn = dev->sn;
	struct shuffle_config new, base;
	int err;
	u32 i;

	lockdep_assert_held(&sn->change_mutex);
	mutex_lock(&sn->config_mutex);
	if (dev->ifindex)
		base = sn->dev0.cfg;
	else
		defaults(sn, &base);
	new = dev->cfg;
	for (i = 0; i < n; i++) {
		if (change->set & BIT_ULL(i))
			new.val[i] = change->val.val[i];
		else if (change->unset & BIT_ULL(i))
			new.val[i] = base.val[i];
	}
	mutex_unlock(&sn->config_mutex);
	/* nobody else changes values meanwhile */
	err = check(&new, extack);
	if (!err)
		err = check_bounds(change, extack);
	if (err)
		return err;
	if (!dev->ifindex) {
		err = apply_port(sn, &new, extack);
		if (err)
			return err;
	}
	mutex_lock(&sn->config_mutex);
	for (i = 0; i < n; i++)
		WRITE_ONCE(dev->cfg.val[i], new.val[i]);
	dev->own = (dev->own | change->set) & ~change->unset;
	shuffle_dev_compute(dev);
	if (!dev->ifindex)
		apply_machine(sn, change);
	mutex_unlock(&sn->config_mutex);
	return 0;
}
