// SPDX-License-Identifier: GPL-2.0-or-later
/* Status datagrams: there and back, cut short, and with bytes that are wrong. */
#include <string.h>

#include "../run/status.h"
#include "test.h"

static struct run stream_of(u32 inputs, u32 builders)
{
	struct run r = { .id = 99, .piece = 1 };

	stream_defaults(&r.cfg, inputs, builders);
	return r;
}

static struct status_input random_input(void)
{
	struct status_input s = {
		.head = { .from = (u32)between(0, 7), .stream = 99,
			  .incarnation = (u64)between(1, S64_MAX), .number = rnd() },
		.released = (u64)between(0, STREAM_MAX_INTERVAL - 1),
		.end = rnd() % 2 ? RUN_NO_END : (u64)between(0, STREAM_MAX_INTERVAL),
		.done = rnd() % 2,
		.failed = rnd() % 2 ? STATUS_NONE : (u32)between(0, 5),
		.failed_round = (u64)between(0, STREAM_MAX_INTERVAL - 1),
		.taken_round = (u64)between(0, STREAM_MAX_INTERVAL - 1),
		.reports = (u32)between(0, STATUS_REPORTS),
	};
	u32 i;

	for (i = 0; i < s.reports; i++)
		s.report[i] = (struct stream_report){
			.interval = rnd(), .request = rnd(), .start = (s64)rnd(),
			.duration = (s64)rnd(), .proposed = (s64)rnd(), .latency = (s64)rnd(),
			.input = s.head.from };
	return s;
}

static struct status_builder random_builder(void)
{
	struct status_builder s = {
		.head = { .builder = true, .from = (u32)between(0, 5), .stream = 99,
			  .incarnation = (u64)between(1, S64_MAX), .number = rnd() },
		.ready = rnd() % 2,
		.released = (u64)between(0, STREAM_MAX_INTERVAL - 1),
		.end = rnd() % 2 ? RUN_NO_END : (u64)between(0, STREAM_MAX_INTERVAL),
		.taken = rnd() % 2 ? STATUS_NONE : (u32)between(0, 5),
		.taken_round = (u64)between(0, STREAM_MAX_INTERVAL - 1),
		.proposals = (u32)between(0, STATUS_PROPOSALS),
	};
	u32 i;

	for (i = 0; i < s.proposals; i++)
		s.proposal[i] = (struct stream_proposal){ rnd(), (s64)rnd(), (s64)rnd() };
	return s;
}

/* What was sent is what is heard; nothing of it is heard if a byte is missing, or one too much. */
static void there_and_back(void)
{
	struct run r = stream_of(8, 6), other = r;
	unsigned long i;

	other.id = 98;
	for (i = 0; i < test_runs / 100; i++) {
		struct status_builder b = random_builder(), b2 = { 0 };
		struct status_input s = random_input(), s2 = { 0 };
		u8 data[STATUS_MAX + 1];
		size_t len = status_put_input(data, &s);

		EXPECT_LE(len, STATUS_MAX, "an input's status of %zu bytes", len);
		EXPECT(!status_get_input(&r, data, len, &s2),
		       "an input's status changes on its way");
		EXPECT_EQ(s2.end, s.end, "an input's status changes on its way");
		EXPECT_EQ(s2.released, s.released, "an input's status changes on its way");
		EXPECT_EQ(s2.failed, s.failed, "an input's status changes on its way");
		EXPECT_EQ(s2.taken_round, s.taken_round, "an input's status changes on its way");
		EXPECT_EQ(s2.done, s.done, "an input's status changes on its way");
		EXPECT_EQ(s2.head.incarnation, s.head.incarnation,
			  "an input's status changes on its way");
		EXPECT_MEM(s2.report, s.report, s.reports * sizeof(s.report[0]),
			   "an input's status changes on its way");
		EXPECT(status_get_input(&r, data, rnd() % len, &s2), "cut short");
		EXPECT(status_get_input(&r, data, len + 1, &s2), "a byte too much");
		EXPECT(status_get_input(&other, data, len, &s2), "of another stream");
		EXPECT(status_get_builder(&r, data, len, &b2), "an input is no builder");
		len = status_put_builder(data, &b);
		EXPECT_LE(len, STATUS_MAX, "a builder's status of %zu bytes", len);
		EXPECT(!status_get_builder(&r, data, len, &b2),
		       "a builder's status changes on its way");
		EXPECT_EQ(b2.end, b.end, "a builder's status changes on its way");
		EXPECT_EQ(b2.released, b.released, "a builder's status changes on its way");
		EXPECT_EQ(b2.taken, b.taken, "a builder's status changes on its way");
		EXPECT_EQ(b2.taken_round, b.taken_round, "a builder's status changes on its way");
		EXPECT_EQ(b2.ready, b.ready, "a builder's status changes on its way");
		EXPECT_MEM(b2.proposal, b.proposal, b.proposals * sizeof(b.proposal[0]),
			   "a builder's status changes on its way");
		EXPECT(status_get_builder(&r, data, rnd() % len, &b2), "cut short");
		EXPECT(status_get_input(&r, data, len, &s2), "a builder is no input");
	}
	tap_done("status: there and back");
}

/* Some bytes are others: refused, or within bounds. */
static void mutated(void)
{
	struct run r = stream_of(8, 6);
	unsigned long i;

	for (i = 0; i < test_runs / 10; i++) {
		struct status_builder b = random_builder();
		struct status_input s = random_input();
		u8 data[STATUS_MAX];
		size_t len = status_put_input(data, &s), n;

		for (n = rnd() % 4; n; n--)
			data[rnd() % len] = (u8)rnd();
		if (!status_get_input(&r, data, len, &s))
			EXPECT(s.head.from < 8 && s.reports <= STATUS_REPORTS &&
			       s.released < STREAM_MAX_INTERVAL &&
			       s.failed_round < STREAM_MAX_INTERVAL &&
			       s.taken_round < STREAM_MAX_INTERVAL &&
			       (s.failed == STATUS_NONE || s.failed < 6) &&
			       (s.end == RUN_NO_END || s.end <= STREAM_MAX_INTERVAL),
			       "an input's status out of bounds");
		len = status_put_builder(data, &b);
		for (n = rnd() % 4; n; n--)
			data[rnd() % len] = (u8)rnd();
		if (!status_get_builder(&r, data, len, &b))
			EXPECT(b.head.from < 6 && b.proposals <= STATUS_PROPOSALS &&
			       b.released < STREAM_MAX_INTERVAL &&
			       b.taken_round < STREAM_MAX_INTERVAL &&
			       (b.taken == STATUS_NONE || b.taken < 6) &&
			       (b.end == RUN_NO_END || b.end <= STREAM_MAX_INTERVAL),
			       "a builder's status out of bounds");
	}
	tap_done("status: wrong bytes");
}

void test_status(void)
{
	there_and_back();
	mutated();
}
