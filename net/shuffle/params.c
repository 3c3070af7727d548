// SPDX-License-Identifier: GPL-2.0-only
/* Module parameters: defaults of every network namespace. */
#include <linux/module.h>

#include "shuffle.h"

struct shuffle_params shuffle_params = {
	.family = SHUFFLE_DEFAULT_FAMILY,
	.udp_port = 18518,
	.policy = "grpf",
	.hadoop_c = 5,
	.overcommit = 10,
	.early_kbytes = 4096,
	.finished_max = 4096,
	.finished_secs = 60,
};

static const char * const policy_names[SHUFFLE_POLICY_KINDS] = {
	[SHUFFLE_POLICY_GRPF] = "grpf",
	[SHUFFLE_POLICY_SRPT] = "srpt",
	[SHUFFLE_POLICY_GRPT] = "grpt",
	[SHUFFLE_POLICY_HADOOP] = "hadoop",
};

static int policy_set(const char *val, const struct kernel_param *kp)
{
	int i = sysfs_match_string(policy_names, val);

	if (i < 0)
		return i;
	WRITE_ONCE(*(const char **)kp->arg, policy_names[i]);
	return 0;
}

static const struct kernel_param_ops policy_ops = {
	.set = policy_set,
	.get = param_get_charp,
};

module_param_named(family, shuffle_params.family, int, 0444);
MODULE_PARM_DESC(family, "address family number: 18 (default), 22, 19 or 13");
module_param_named(udp_port, shuffle_params.udp_port, ushort, 0444);
MODULE_PARM_DESC(udp_port, "UDP port of all shuffle traffic (default 18518)");
module_param_cb(policy, &policy_ops, &shuffle_params.policy, 0644);
MODULE_PARM_DESC(policy, "grpf (default), srpt, grpt or hadoop; for new operations");
module_param_named(hadoop_c, shuffle_params.hadoop_c, uint, 0644);
MODULE_PARM_DESC(hadoop_c, "policy hadoop: messages pulled at a time (default 5)");
module_param_named(overcommit, shuffle_params.overcommit, uint, 0644);
MODULE_PARM_DESC(overcommit, "outstanding grants of a receiver, in RTTbytes (default 10)");
module_param_named(link_mbps, shuffle_params.link_mbps, uint, 0644);
MODULE_PARM_DESC(link_mbps, "link rate in Mb/s; 0 (default) asks the device");
module_param_named(rtt_ns, shuffle_params.rtt_ns, uint, 0644);
MODULE_PARM_DESC(rtt_ns, "round-trip time of an idle network in ns; 0 (default) measures");
module_param_named(egress_kbytes, shuffle_params.egress_kbytes, uint, 0644);
MODULE_PARM_DESC(egress_kbytes, "KiB in the host's own qdiscs; 0 (default) follows the schedule's unit");
module_param_named(mem_mbytes, shuffle_params.mem_mbytes, uint, 0444);
MODULE_PARM_DESC(mem_mbytes, "MiB that all sockets may hold; 0 (default) a quarter of the memory");
module_param_named(early_kbytes, shuffle_params.early_kbytes, uint, 0644);
MODULE_PARM_DESC(early_kbytes, "KiB kept of operations not started yet (default 4096)");
module_param_named(finished_max, shuffle_params.finished_max, uint, 0644);
MODULE_PARM_DESC(finished_max, "ended operations remembered (default 4096)");
module_param_named(finished_secs, shuffle_params.finished_secs, uint, 0644);
MODULE_PARM_DESC(finished_secs, "how long they are remembered (default 60)");

/**
 * shuffle_params_policy() - the policy of new operations
 *
 * Context: any.
 * Return: enum shuffle_policy_kind.
 */
u8 shuffle_params_policy(void)
{
	const char *name = READ_ONCE(shuffle_params.policy);
	int i = match_string(policy_names, ARRAY_SIZE(policy_names), name);

	return i < 0 ? SHUFFLE_POLICY_GRPF : i;
}

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
