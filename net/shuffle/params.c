// SPDX-License-Identifier: GPL-2.0-only
/* Module parameters: what network namespaces follow where nothing has been set. */
#include <linux/module.h>

#include "shuffle.h"

struct shuffle_params shuffle_params = {
	.family = SHUFFLE_DEFAULT_FAMILY,
	.udp_port = 818,
	.op_order = SHUFFLE_ORDER_FAIR,
	.overcommit = 10,
	.early_kbytes = 4096,
	.finished_max = 4096,
	.finished_secs = 60,
};

/* Namespaces follow in what has not been set there. */
static int changed(int err)
{
	if (!err)
		shuffle_config_params_changed();
	return err;
}

static int op_order_set(const char *val, const struct kernel_param *kp)
{
	u8 kind;

	for (kind = 0; kind < SHUFFLE_ORDER_KINDS; kind++) {
		if (!sysfs_streq(val, shuffle_order_name(kind)))
			continue;
		WRITE_ONCE(*(uint *)kp->arg, kind);
		return changed(0);
	}
	return -EINVAL;
}

static int op_order_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", shuffle_order_name(*(uint *)kp->arg));
}

static const struct kernel_param_ops op_order_ops = {
	.set = op_order_set,
	.get = op_order_get,
};

static int uint_set(const char *val, const struct kernel_param *kp)
{
	return changed(param_set_uint(val, kp));
}

static const struct kernel_param_ops uint_ops = {
	.set = uint_set,
	.get = param_get_uint,
};

module_param_named(family, shuffle_params.family, int, 0444);
MODULE_PARM_DESC(family, "address family number: 18 (default), 22, 19 or 13");
module_param_named(udp_port, shuffle_params.udp_port, ushort, 0444);
MODULE_PARM_DESC(udp_port, "UDP port of all shuffle traffic (default 818)");
module_param_cb(op_order, &op_order_ops, &shuffle_params.op_order, 0644);
MODULE_PARM_DESC(op_order, "fair (default), smallest or deadline first; for new operations");
module_param_cb(overcommit, &uint_ops, &shuffle_params.overcommit, 0644);
MODULE_PARM_DESC(overcommit, "outstanding grants of a receiver, in RTTbytes (default 10)");
module_param_cb(link_mbps, &uint_ops, &shuffle_params.link_mbps, 0644);
MODULE_PARM_DESC(link_mbps, "link rate in Mb/s; 0 (default) asks the device");
module_param_cb(rtt_ns, &uint_ops, &shuffle_params.rtt_ns, 0644);
MODULE_PARM_DESC(rtt_ns, "round-trip time of an idle network in ns; 0 (default) measures");
module_param_cb(egress_kbytes, &uint_ops, &shuffle_params.egress_kbytes, 0644);
MODULE_PARM_DESC(egress_kbytes, "KiB in the host's own qdiscs; 0 (default) follows the schedule's unit");
module_param_named(mem_mbytes, shuffle_params.mem_mbytes, uint, 0444);
MODULE_PARM_DESC(mem_mbytes, "MiB that all sockets may hold; 0 (default) a quarter of the memory");
module_param_cb(early_kbytes, &uint_ops, &shuffle_params.early_kbytes, 0644);
MODULE_PARM_DESC(early_kbytes, "KiB kept of operations not started yet (default 4096)");
module_param_cb(finished_max, &uint_ops, &shuffle_params.finished_max, 0644);
MODULE_PARM_DESC(finished_max, "ended operations remembered (default 4096)");
module_param_cb(finished_secs, &uint_ops, &shuffle_params.finished_secs, 0644);
MODULE_PARM_DESC(finished_secs, "how long they are remembered (default 60)");

/**
 * shuffle_params_check() - refuse what cannot work, before anything starts
 *
 * Return: 0 or -EINVAL.
 */
int shuffle_params_check(void)
{
	switch (shuffle_params.family) {
	case 18:
	case 22:
	case 19:
	case 13:
		break;
	default:
		pr_err("shuffle: family=%d: use 18, 22, 19 or 13\n", shuffle_params.family);
		return -EINVAL;
	}
	if (!shuffle_params.udp_port) {
		pr_err("shuffle: udp_port=0 is not a port\n");
		return -EINVAL;
	}
	return 0;
}
