/* SPDX-License-Identifier: GPL-2.0-only */
/* A receiver's schedule for a test. */
#ifndef _SHUFFLE_TEST_COLUMN_H
#define _SHUFFLE_TEST_COLUMN_H

#include "harness.h"

static inline struct shuffle_policy_rx *make_rx(struct kunit *test, u8 kind, u32 unit, u32 n)
{
	struct shuffle_policy_rx *rx = kunit_kcalloc(test, 1, sizeof(*rx), GFP_KERNEL);

	if (!rx)
		return NULL;
	rx->kind = kind;
	rx->hadoop_c = 5;
	rx->unit = unit;
	rx->n = n;
	rx->unannounced = n;
	rx->msg = kunit_kcalloc(test, n, sizeof(*rx->msg), GFP_KERNEL);
	rx->heap.node = kunit_kcalloc(test, n, sizeof(*rx->heap.node), GFP_KERNEL);
	return rx->msg && rx->heap.node ? rx : NULL;
}

#endif /* _SHUFFLE_TEST_COLUMN_H */
