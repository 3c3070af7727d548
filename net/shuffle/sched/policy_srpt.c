// SPDX-License-Identifier: GPL-2.0-only
/* Shortest remaining processing time (portable: see portable.h). */
#include "policy_ops.h"

static u64 srpt_prio(u32 seed, u64 len, u64 off, u32 unit)
{
	return U64_MAX - (len - off);
}

const struct shuffle_policy_ops shuffle_policy_srpt = {
	.name = "srpt",
	.prio = srpt_prio,
};
