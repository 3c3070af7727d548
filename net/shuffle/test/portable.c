// SPDX-License-Identifier: GPL-2.0-only
/* A copy of the portable files of its own for the test module: nothing is exported. */
#define SHUFFLE_RIVALS
#include "rivals.c"
#include "../sched/heap.c"
#include "../sched/link_estimate.c"
#include "../sched/op_order.c"
#include "../sched/policy.c"
#include "../sched/ranges.c"
#include "../sched/tag.c"
#include "../sched/wire.c"
#include "../coll/combine.c"
