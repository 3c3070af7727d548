// SPDX-License-Identifier: GPL-2.0-or-later
/* Inputs that fail and return. */
#include "test.h"

static struct stream_config cfg;
static struct stream_dde *dde;

static int say(u64 interval, u32 input, s64 now)
{
	struct stream_report r = { .interval = interval, .request = interval + 2, .input = input,
				   .start = now - 400000000, .duration = 400000000,
				   .latency = 2000 };

	return stream_dde_report(dde, &r, now);
}

static void silent(void)
{
	struct stream_proposal p;
	u32 who = 9, i;

	stream_defaults(&cfg, 3, 3);
	dde = dde_new(&cfg, false);
	EXPECT_EQ(stream_dde_deadline(dde, &who), STREAM_NEVER, "before the first report");
	EXPECT_EQ(say(0, 0, 1000000000), 0, "report 0 of 0");
	/* No history: 3 * 0.4 s of what is reported */
	EXPECT_EQ(stream_dde_deadline(dde, &who), 2200000000, "three times the median of reports");
	say(0, 1, 1000000100);
	EXPECT_EQ(say(0, 2, 1000000200), 1, "interval 0 is complete");
	EXPECT_EQ(stream_dde_deadline(dde, &who), STREAM_NEVER, "nobody owes anything");
	say(1, 0, 1400000000);
	say(1, 2, 1400000300);
	EXPECT_EQ(stream_dde_expire(dde, 2600000000 - 1, &who), -EAGAIN, "a moment before");
	EXPECT_EQ(stream_dde_expire(dde, 2600000000, &who), 1, "interval 1 without input 1");
	EXPECT_EQ(who, 1, "who has failed");
	EXPECT(stream_dde_failed(dde, 1), "input 1 has not failed");
	EXPECT_EQ(dde->history.last[1].inputs, 2, "inputs of interval 1");
	for (i = 0; i < 3; i++)
		EXPECT_EQ(stream_dde_proposal(dde, i, 3, &p), 0, "a proposal");
	say(2, 0, 1800000000);
	EXPECT_EQ(say(2, 2, 1800000000), 1, "interval 2 needs no input 1");
	/* It returns in interval 4: 3 does not need it, 4 does. */
	EXPECT_EQ(say(4, 1, 1900000000), 0, "input 1 is back");
	EXPECT_EQ(dde->counters.returned, 1, "returned");
	say(3, 0, 2200000000);
	EXPECT_EQ(stream_dde_deadline(dde, &who), 3400000000, "input 2 owes interval 3");
	EXPECT_EQ(who, 2, "and input 1 does not");
	EXPECT_EQ(say(3, 2, 2200000000), 1, "interval 3 needs no input 1");
	say(4, 0, 2600000000);
	EXPECT_EQ(say(4, 2, 2600000000), 1, "interval 4 has it");
	say(5, 0, 3000000000);
	EXPECT_EQ(say(5, 2, 3000000000), 0, "interval 5 needs it");
	free(dde);
	tap_done("an input without report fails after 3 medians, and returns");
}

static void short_intervals(void)
{
	u32 who = 9;

	stream_defaults(&cfg, 2, 3);
	cfg.timeout = STREAM_SECOND;
	dde = dde_new(&cfg, false);
	say(0, 0, 1000000000);
	say(0, 1, 1000000000);
	dde->history.last[0].duration = 1000000;
	EXPECT_EQ(stream_dde_timeout(dde, 0), STREAM_SECOND, "at least a second");
	/* Blocked inputs report nothing: a missing contribution tells who it is. */
	EXPECT_EQ(stream_dde_owes(dde, 1, 1200000000), 0, "input 1 owes a contribution");
	EXPECT_EQ(stream_dde_deadline(dde, &who), 2200000000, "a second later");
	EXPECT_EQ(stream_dde_owes(dde, 1, STREAM_NEVER), 0, "it has come");
	EXPECT_EQ(stream_dde_deadline(dde, &who), STREAM_NEVER, "no deadline");
	EXPECT_EQ(stream_dde_owes(dde, 1, 1500000000), 0, "again");
	EXPECT_EQ(stream_dde_expire(dde, 2500000000, &who), 0, "failed, and nothing to complete");
	EXPECT_EQ(who, 1, "who");
	EXPECT_EQ(say(1, 0, 2600000000), 1, "the other one goes on");
	EXPECT_EQ(stream_dde_expire(dde, STREAM_MAX_TIME, &who), -EAGAIN,
		  "the other one owes nothing");
	EXPECT_EQ(stream_dde_owes(dde, 2, 0), -EINVAL, "no such input");
	EXPECT_EQ(stream_dde_owes(dde, 0, -1), -EINVAL, "no time");
	free(dde);
	tap_done("an input that owes a contribution fails after a second");
}

/* Restarted while an input is dead: it joins without it. */
static void restarted(void)
{
	u32 who = 9;

	stream_defaults(&cfg, 2, 3);
	dde = dde_new(&cfg, true);
	say(70, 0, 1000000000);
	EXPECT_EQ(stream_dde_deadline(dde, &who), STREAM_NEVER, "which interval is not known");
	stream_dde_owes(dde, 1, 1000000000);
	EXPECT_EQ(stream_dde_expire(dde, 2000000000, &who), 1, "interval 70 without input 1");
	EXPECT_EQ(dde->next, 71, "the next interval");
	free(dde);
	tap_done("a restarted engine joins without an input that has failed");
}

/* Reports that are late by more than the window: those of others are gone, and come no more. */
static void left_behind(void)
{
	u64 j;

	stream_defaults(&cfg, 2, 3);
	dde = dde_new(&cfg, false);
	say(0, 0, 1000000000);
	EXPECT_EQ(say(0, 1, 1000000000), 1, "interval 0 is complete");
	for (j = 1; j <= STREAM_WINDOW; j++)
		EXPECT_EQ(say(j, 0, 1000000000), 0, "input 0 goes on");
	EXPECT_EQ(say(9, 0, 1000000000), -ERANGE, "too far ahead of input 1");
	for (j = 1; j <= STREAM_WINDOW; j++)
		EXPECT_EQ(say(j, 1, 1000000000), 1, "input 1 is late");
	EXPECT_EQ(say(17, 0, 1000000000), -ERANGE, "interval 9 of input 0 is gone");
	for (j = 9; j < 17; j++)
		EXPECT_EQ(say(j, 1, 1000000000), 0, "input 1 does not know that");
	EXPECT_EQ(say(17, 1, 1000000000), 0, "all are too far ahead: begun anew");
	EXPECT_EQ(dde->counters.joined, 1, "counted");
	EXPECT_EQ(say(18, 0, 1000000000), 0, "interval 17 of input 0 is gone, too");
	EXPECT_EQ(say(18, 1, 1000000000), 1, "interval 18 is complete");
	EXPECT_EQ(dde->next, 19, "it goes on from there");
	EXPECT(!stream_dde_plan(dde, 20), "proposed without a history");
	free(dde);
	tap_done("an engine whose inputs are all too far ahead begins anew");
}

void test_failures(void)
{
	left_behind();
	silent();
	short_intervals();
	restarted();
}
