// SPDX-License-Identifier: GPL-2.0-only
/* The suites as a module. */
#include <linux/module.h>

#include "harness.h"

kunit_test_suites(&shuffle_number_suite,
		  &shuffle_rate_suite,
		  &shuffle_early_suite,
		  &shuffle_cross_traffic_suite,
		  &shuffle_wire_suite,
		  &shuffle_wire_next_suite,
		  &shuffle_tag_suite,
		  &shuffle_ranges_suite,
		  &shuffle_heap_suite,
		  &shuffle_link_suite,
		  &shuffle_order_suite,
		  &shuffle_policy_tx_suite,
		  &shuffle_policy_rx_suite,
		  &shuffle_policy_grant_suite,
		  &shuffle_budget_suite,
		  &shuffle_sim_suite,
		  &shuffle_coll_suite);

MODULE_DESCRIPTION("Tests of the portable parts of AF_SHUFFLE");
MODULE_LICENSE("GPL");
