// SPDX-License-Identifier: GPL-2.0-only
/* A copy of the portable files of its own for the test module: nothing is exported. */
#include "../sched/heap.c"
#include "../sched/link_estimate.c"
#include "../sched/policy.c"
#include "../sched/policy_grpf.c"
#include "../sched/policy_grpt.c"
#include "../sched/policy_hadoop.c"
#include "../sched/policy_srpt.c"
#include "../sched/ranges.c"
#include "../sched/tag.c"
#include "../sched/wire.c"
