// SPDX-License-Identifier: GPL-2.0-only
/*
 * GRPF's rivals (portable: see ../sched/portable.h), for the simulator and the unit tests: shortest
 * and greatest remaining processing time, and Hadoop-C.
 */
#include "../sched/policy_ops.h"

static u64 srpt_prio(u32 seed, u64 len, u64 off, u32 unit)
{
	return U64_MAX - (len - off);
}

static const struct shuffle_policy_ops srpt = {
	.prio = srpt_prio,
};

static u64 grpt_prio(u32 seed, u64 len, u64 off, u32 unit)
{
	return len - off;
}

static const struct shuffle_policy_ops grpt = {
	.prio = grpt_prio,
};

/*
 * Hadoop-C: a receiver pulls C random messages at a time, each with a window of RTTbytes, until
 * they are granted whole; a sender serves next the message that it has served least recently (Li,
 * section 6.1).
 */

/* of what is sent unasked: the message of which the fewest units have been */
static u64 hadoop_prio(u32 seed, u64 len, u64 off, u32 unit)
{
	return U64_MAX - (unit ? shuffle_div64(off, unit) : 0);
}

/* the pulled ones first, then any at random */
static u64 hadoop_grant_prio(const struct shuffle_policy_rx *rx, u32 i)
{
	const struct shuffle_rx_sched *m = &rx->msg[i];

	return (u64)m->active << 32 | shuffle_policy_mix(m->seed, i);
}

static bool hadoop_may_grant(const struct shuffle_policy_rx *rx, u32 i)
{
	return rx->msg[i].active || rx->hadoop_active < rx->hadoop_c;
}

static u64 hadoop_window(const struct shuffle_policy_rx *rx, u32 i, u64 rtt_bytes)
{
	return shuffle_policy_constant_window(rx, rtt_bytes);
}

static void hadoop_granted(struct shuffle_policy_rx *rx, u32 i)
{
	if (rx->msg[i].active)
		return;
	rx->msg[i].active = true;
	rx->hadoop_active++;
}

static bool hadoop_released(struct shuffle_policy_rx *rx, u32 i)
{
	if (!rx->msg[i].active)
		return false;
	rx->msg[i].active = false;
	rx->hadoop_active--;
	return true;
}

static const struct shuffle_policy_ops hadoop = {
	.unlimited = true,
	.unit_only = true,
	.round_robin = true,
	.prio = hadoop_prio,
	.grant_prio = hadoop_grant_prio,
	.may_grant = hadoop_may_grant,
	.window = hadoop_window,
	.granted = hadoop_granted,
	.released = hadoop_released,
};

const struct shuffle_policy_ops *const shuffle_rivals[SHUFFLE_POLICY_KINDS] = {
	[SHUFFLE_POLICY_SRPT] = &srpt,
	[SHUFFLE_POLICY_GRPT] = &grpt,
	[SHUFFLE_POLICY_HADOOP] = &hadoop,
};
