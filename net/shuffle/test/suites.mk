# SPDX-License-Identifier: GPL-2.0-only
# The suites, for a kernel (Kbuild), for user space (Makefile) and for the simulator's tests.

# of the portable files
SUITES := number_test rate_test early_test cross_traffic_test wire_test wire_next_test tag_test ranges_test link_estimate_test order_test heap_test \
	policy_tx_test policy_rx_test policy_grant_test budget_test sim_test coll_test

# of libshuffle's plans and merges, in $(PLAN_TESTS): in user space only
PLAN_SUITES := plan_test two_tree_test table_test blocks_test steps_test merge_test

# of messages and timers, on a fake device: in a kernel only
FAKE_SUITES := msg_in_test msg_out_test want_test timer_test progress_test abort_test question_test delayed_ack_test \
	slowest_test same_test limits_test
