// SPDX-License-Identifier: GPL-2.0-only
/* The suites that need a fake device as a module. */
#include <linux/module.h>

#include "fake.h"

kunit_test_suites(&shuffle_msg_in_suite,
		  &shuffle_msg_out_suite,
		  &shuffle_want_suite,
		  &shuffle_timer_suite,
		  &shuffle_progress_suite,
		  &shuffle_abort_suite,
		  &shuffle_question_suite,
		  &shuffle_delayed_ack_suite,
		  &shuffle_slowest_suite,
		  &shuffle_same_suite,
		  &shuffle_limits_suite);

MODULE_DESCRIPTION("Tests of AF_SHUFFLE's messages and timers on a fake device");
MODULE_LICENSE("GPL");
