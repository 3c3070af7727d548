// SPDX-License-Identifier: GPL-2.0-or-later
/* Network devices, as far as "shufflectl qdisc" wants to know. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/pkt_sched.h>
#include <netlink/route/link.h>

#include "qdisc.h"
#include "shufflectl.h"

static bool is_router(const char *name)
{
	static const char * const path[] = {
		"/proc/sys/net/ipv4/conf/%s/forwarding",
		"/proc/sys/net/ipv6/conf/%s/forwarding",
	};
	bool yes = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(path) && !yes; i++) {
		char file[128];
		FILE *f;

		snprintf(file, sizeof(file), path[i], name);
		f = fopen(file, "re");
		if (!f)
			continue;
		yes = fgetc(f) == '1';
		fclose(f);
	}
	return yes;
}

static void one_link(struct nl_object *obj, void *arg)
{
	struct rtnl_link *link = (struct rtnl_link *)obj;
	struct qdisc_dev **next = arg, *d = *next;
	const char *type = rtnl_link_get_type(link);

	d->ifindex = rtnl_link_get_ifindex(link);
	snprintf(d->name, sizeof(d->name), "%s", rtnl_link_get_name(link));
	d->mtu = rtnl_link_get_mtu(link);
	d->queues = rtnl_link_get_num_tx_queues(link);
	d->master = rtnl_link_get_master(link);
	/* of other kinds, a veth say, it is the number in another namespace */
	if (type && (!strcmp(type, "vlan") || !strcmp(type, "macvlan") || !strcmp(type, "ipvlan")))
		d->lower = rtnl_link_get_link(link);
	d->up = rtnl_link_get_flags(link) & IFF_UP;
	d->loopback = rtnl_link_get_flags(link) & IFF_LOOPBACK;
	d->forwards = is_router(d->name);
	*next = d + 1;
}

/**
 * qdisc_devices() - all network devices of the namespace
 * @sk: rtnetlink socket
 * @n: their number
 *
 * Return: an array, to be freed; NULL after a message.
 */
struct qdisc_dev *qdisc_devices(struct nl_sock *sk, unsigned int *n)
{
	struct qdisc_dev *dev, *next;
	struct nl_cache *cache;
	unsigned int i;
	int err;

	err = rtnl_link_alloc_cache(sk, AF_UNSPEC, &cache);
	if (err) {
		ctl_error("cannot list the network devices: %s", nl_geterror(err));
		return NULL;
	}
	*n = nl_cache_nitems(cache);
	dev = calloc(*n + 1, sizeof(*dev));
	if (dev) {
		next = dev;
		nl_cache_foreach(cache, one_link, &next);
	} else {
		ctl_error("out of memory");
	}
	for (i = 0; dev && i < *n; i++) {
		struct rtnl_link *master;
		const char *type;

		if (!dev[i].master)
			continue;
		master = rtnl_link_get(cache, dev[i].master);
		type = master ? rtnl_link_get_type(master) : NULL;
		/* a bond passes on what the host has made, priority and all */
		if (type && strcmp(type, "bond") && strcmp(type, "team") && strcmp(type, "vrf"))
			dev[i].forwards = true;
		if (master)
			rtnl_link_put(master);
	}
	nl_cache_free(cache);
	return dev;
}

/**
 * qdisc_handle() - a handle as tc writes it
 * @handle: the handle, or a class
 * @buf: result
 * @size: of @buf
 *
 * Return: @buf.
 */
const char *qdisc_handle(uint32_t handle, char *buf, unsigned int size)
{
	if (handle == TC_H_ROOT)
		snprintf(buf, size, "root");
	else if (TC_H_MIN(handle))
		snprintf(buf, size, "%x:%x", TC_H_MAJ(handle) >> 16, TC_H_MIN(handle));
	else
		snprintf(buf, size, "%x:", handle >> 16);
	return buf;
}
