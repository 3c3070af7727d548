// SPDX-License-Identifier: GPL-2.0-only
/* Greatest remaining processing time (portable: see portable.h). */
#include "policy_ops.h"

static u64 grpt_prio(u32 seed, u64 len, u64 off, u32 unit)
{
	return len - off;
}

const struct shuffle_policy_ops shuffle_policy_grpt = {
	.name = "grpt",
	.prio = grpt_prio,
};
