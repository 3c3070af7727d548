/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the engines: random numbers, engines fed with reports. */
#ifndef STREAM_TEST_H
#define STREAM_TEST_H

#include "../../common/tap.h"
#include "../dde.h"
#include "../input.h"

extern unsigned long test_runs;

u64 rnd(void);
s64 between(s64 low, s64 high);
struct stream_dde *dde_new(const struct stream_config *cfg, bool restarted);
struct stream_input *input_new(const struct stream_config *cfg, u32 input, u64 interval);

void test_numbers(void);
void test_clocks(void);
void test_levels(void);
void test_agree(void);
void test_refused(void);
void test_failures(void);
void test_inputs(void);
void test_status(void);

#endif /* STREAM_TEST_H */
