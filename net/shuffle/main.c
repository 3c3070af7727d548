// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading: an init ladder, and the same ladder down. */
#include <linux/module.h>

#include "config.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "sock.h"

/* a tree of Linux has a number of its own: upstream/ */
#ifndef SHUFFLE_IN_TREE
module_param_named(family, shuffle_family, int, 0444);
MODULE_PARM_DESC(family, "address family number: 18 (default), 22, 19 or 13");

static int __init family_check(void)
{
	switch (shuffle_family) {
	case 18:
	case 22:
	case 19:
	case 13:
		return 0;
	}
	pr_err("shuffle: family=%d: use 18, 22, 19 or 13\n", shuffle_family);
	return -EINVAL;
}
#endif

static int __init shuffle_init(void)
{
	int err;

#ifndef SHUFFLE_IN_TREE
	err = family_check();
	if (err)
		return err;
#endif
	err = shuffle_event_setup();
	if (err)
		return err;
	err = shuffle_netns_init();
	if (err)
		goto err_netns;
	err = shuffle_dev_init();
	if (err)
		goto err_dev;
	err = shuffle_netlink_init();
	if (err)
		goto err_netlink;
	/* last: from here on there can be sockets */
	err = shuffle_sock_init();
	if (err)
		goto err_sock;
	return 0;

err_sock:
	shuffle_netlink_exit();
err_netlink:
	shuffle_dev_exit();
err_dev:
	shuffle_netns_exit();
err_netns:
	shuffle_event_teardown();
	return err;
}

static void __exit shuffle_exit(void)
{
	shuffle_sock_exit();
	shuffle_netlink_exit();
	shuffle_dev_exit();
	shuffle_netns_exit();
	shuffle_event_teardown();
}

module_init(shuffle_init);
module_exit(shuffle_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("AF_SHUFFLE: sockets for shuffles");
MODULE_ALIAS_NETPROTO(SHUFFLE_DEFAULT_FAMILY);
