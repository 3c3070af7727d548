/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must hold of the portable files' objects at any moment, computed the slow way.
 * The tests and the fuzz targets ask after every step.
 */
#ifndef _SHUFFLE_TEST_MODEL_H
#define _SHUFFLE_TEST_MODEL_H

#include "../sched/heap.h"
#include "../sched/policy.h"
#include "../sched/ranges.h"

const char *shuffle_model_heap(const struct shuffle_heap *h, u32 ids);
const char *shuffle_model_ranges(const struct shuffle_ranges *r, u64 base,
				 const u8 *map, u32 len);
const char *shuffle_model_missing(const struct shuffle_ranges *r, u64 base,
				  const u8 *map, u32 len, u32 from, u32 to);
const char *shuffle_model_tx(const struct shuffle_policy_tx *tx);
const char *shuffle_model_rx(const struct shuffle_policy_rx *rx);
u64 shuffle_model_limit(const struct shuffle_policy_rx *rx, u64 max_out);
const char *shuffle_model_grant(struct shuffle_policy_rx *rx, u64 max_out,
				u64 rtt_bytes, u64 room, u32 *granted);

#endif /* _SHUFFLE_TEST_MODEL_H */
