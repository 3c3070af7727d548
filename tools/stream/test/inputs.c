// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine of an input: times, tickets, theta, reports, builders that fail. */
#include "test.h"

static struct stream_config cfg;
static struct stream_input *input;
static struct stream_step step;

static void want_send(s64 now, u64 slice, u32 builder)
{
	stream_input_next(input, now, &step);
	EXPECT_EQ(step.kind, STREAM_SEND, "kind of step");
	EXPECT_EQ(step.slice, slice, "time-slice");
	EXPECT_EQ(step.builder, builder, "builder");
}

static void want(s64 now, enum stream_step_kind kind, s64 time)
{
	stream_input_next(input, now, &step);
	EXPECT_EQ(step.kind, kind, "kind of step");
	if (kind == STREAM_UNTIL)
		EXPECT_EQ(step.time, time, "when");
}

static void propose(u64 interval, s64 start, s64 duration, s64 now)
{
	struct stream_proposal p = { .interval = interval, .start = start, .duration = duration };

	EXPECT_EQ(stream_input_proposal(input, &p, now), 0, "proposal");
}

static void ack_all(u64 first, u32 n, s64 now)
{
	u32 i;

	for (i = 0; i < n; i++)
		EXPECT_EQ(stream_input_ack(input, first + i, 100 + i, now), 0, "acknowledgment");
}

/* Input 1, 3 builders, 2 rounds: steps 1 2 0, 4 5 3. */
static void times(void)
{
	static const u32 order[] = { 1, 2, 0, 4, 5, 3 };
	struct stream_report r;
	u32 i;

	stream_defaults(&cfg, 3, 3);
	cfg.slices = 6;
	cfg.theta = 500;
	input = input_new(&cfg, 1, 0);
	for (i = 0; i < 6; i++)
		want_send(1000, order[i], order[i] % 3);
	want(1000, STREAM_BLOCKED, 0);
	EXPECT_EQ(input->counters.unguided, 1, "the first is unguided");
	propose(1, 10000, 6000, 2000);
	ack_all(0, 2, 3000);
	want(3000, STREAM_BLOCKED, 0);
	ack_all(2, 1, 3500);
	want(3500, STREAM_UNTIL, 10000);	/* theta is reached: half of 6 */
	EXPECT_EQ(stream_input_report(input, &r), -EAGAIN, "no report yet");
	ack_all(3, 3, 4000);
	EXPECT_EQ(stream_input_report(input, &r), 0, "the report");
	EXPECT_EQ(r.start, 1000, "its start");
	EXPECT_EQ(r.duration, 3000, "its duration: to the last acknowledgment");
	EXPECT_EQ(r.proposed, 0, "what it had to keep: nothing");
	EXPECT_EQ(r.latency, 100, "its median latency: of 100 101 100 100 101 102");
	EXPECT_EQ(r.request, 2, "its request");
	EXPECT_EQ(stream_input_report(input, &r), -EAGAIN, "only once");
	/* It begins 500 late; places are relative to that, its end is not. */
	want_send(10500, 7, 1);
	want(10500, STREAM_UNTIL, 11500);
	want_send(11500, 8, 2);
	want_send(12600, 6, 0);
	EXPECT_EQ(step.time, 12500, "it was due before");
	want(12600, STREAM_UNTIL, 13500);
	want_send(13500, 10, 1);
	want_send(16001, 11, 2);
	want_send(16001, 9, 0);		/* due at 15500; the rest has no times */
	EXPECT_EQ(input->counters.late, 2, "late contributions");
	/* No proposal for 2: at tp + durp of 1, as long as that. */
	ack_all(6, 6, 16500);
	want_send(16500, 13, 1);
	EXPECT_EQ(input->counters.repeated, 1, "repeated");
	EXPECT_EQ(input->end, 22000, "its end");
	EXPECT_EQ(stream_input_report(input, &r), 0, "the report of 1");
	EXPECT_EQ(r.start, 10500, "its start");
	EXPECT_EQ(r.proposed, 6000, "what it had to keep");
	want_send(17500, 14, 2);
	want_send(18500, 12, 0);
	want_send(19500, 16, 1);
	want_send(20500, 17, 2);
	want_send(21500, 15, 0);
	ack_all(12, 6, 21600);
	want(21600, STREAM_UNTIL, 22000);	/* none for 3 either: when 2 was to end */
	free(input);
	tap_done("an input: staggering, theta, times, late, no proposal, reports");
}

/* 2 builders, 4 rounds, 2 tickets. */
static void tickets(void)
{
	stream_defaults(&cfg, 2, 2);
	cfg.slices = 8;
	cfg.ring = 2;
	input = input_new(&cfg, 0, 0);
	want_send(0, 0, 0);
	want_send(0, 1, 1);
	want_send(0, 2, 0);
	want_send(0, 3, 1);
	want(0, STREAM_BLOCKED, 0);
	EXPECT_EQ(input->counters.blocked, 4, "all others wait");
	EXPECT_EQ(stream_input_released(input, 1, 2), 0, "builder 1 releases 2");
	want_send(5, 5, 1);
	want_send(5, 7, 1);
	want(5, STREAM_BLOCKED, 0);
	EXPECT_EQ(stream_input_released(input, 0, 1), 0, "builder 0 releases 1");
	want_send(6, 4, 0);
	EXPECT_EQ(stream_input_released(input, 0, 1), -EALREADY, "the same again");
	want(6, STREAM_BLOCKED, 0);
	EXPECT_EQ(stream_input_released(input, 0, 4), -EINVAL, "more than was sent");
	EXPECT_EQ(stream_input_released(input, 0, 3), 0, "builder 0 releases 3");
	want_send(7, 6, 0);
	want(7, STREAM_BLOCKED, 0);	/* for acknowledgments */
	free(input);
	tap_done("an input: who has no ticket waits, others do not");
}

/* Builder 1 of 3 fails with two of its time-slices waiting. */
static void builder_fails(void)
{
	u32 got[3] = { 0 }, i;
	u64 sum = 0;

	stream_defaults(&cfg, 1, 3);
	cfg.slices = 12;
	cfg.ring = 4;
	input = input_new(&cfg, 0, 0);
	for (i = 0; i < 12; i++) {
		stream_input_next(input, 0, &step);
		EXPECT_EQ(step.kind, STREAM_SEND, "interval 0");
	}
	want(0, STREAM_BLOCKED, 0);
	ack_all(0, 12, 10);
	want(10, STREAM_BLOCKED, 0);
	EXPECT_EQ(stream_input_builder_failed(input, 1), 0, "builder 1 fails");
	EXPECT_EQ(stream_input_builder_failed(input, 1), -EALREADY, "it fails again");
	EXPECT_EQ(stream_input_builder_failed(input, 3), -EINVAL, "no such builder");
	EXPECT_EQ(stream_input_take(input, 1), -EAGAIN, "no ticket of a failed builder");
	stream_input_released(input, 0, 4);
	for (;;) {
		stream_input_next(input, 20, &step);
		if (step.kind != STREAM_SEND)
			break;
		got[step.builder]++;
		sum += step.slice;
	}
	EXPECT_EQ(got[0], 4, "builder 0 has 4 tickets");
	stream_input_released(input, 2, 4);
	stream_input_released(input, 0, 8);
	for (;;) {
		stream_input_next(input, 30, &step);
		if (step.kind != STREAM_SEND)
			break;
		got[step.builder]++;
		sum += step.slice;
	}
	EXPECT_EQ(got[0] + got[2], 9, "both, as far as tickets reach");
	EXPECT_EQ(stream_input_released(input, 2, 8), 0, "more tickets");
	while (stream_input_next(input, 40, &step), step.kind == STREAM_SEND) {
		got[step.builder]++;
		sum += step.slice;
	}
	EXPECT_EQ(got[0], 6, "builder 0: its own 4 and half of those of builder 1");
	EXPECT_EQ(got[1], 0, "builder 1");
	EXPECT_EQ(got[2], 6, "builder 2: its own 4 and half of those of builder 1");
	EXPECT_EQ(sum, 12 * 12 + 66, "every time-slice once");
	free(input);
	tap_done("an input: the share of a builder that failed goes to the others");
}

/* Random acknowledgments, tickets and proposals: everything is sent once, in bounds. */
static void random_streams(void)
{
	u32 round;

	for (round = 0; round < 60; round++) {
		u32 inputs = (u32)between(1, 9), builders = (u32)between(1, 9);
		u32 total, i, flying = 0;
		struct { u64 slice; u32 builder; } fly[1024];
		u64 sent[9] = { 0 }, released[9] = { 0 }, done = 0, seen = 0;
		struct stream_report r;
		s64 now = 0;

		stream_defaults(&cfg, inputs, builders);
		cfg.slices = (u32)between(1, 60);
		cfg.ring = (u32)between(1, 6);
		cfg.theta = (u32)between(0, 1000);
		input = input_new(&cfg, inputs - 1, 3);
		total = stream_contributions(&cfg);
		while (done < 20) {
			now += between(0, 2000);
			stream_input_next(input, now, &step);
			if (step.kind == STREAM_SEND) {
				EXPECT_EQ(step.slice / total, step.interval, "builder of %llu",
					  (unsigned long long)step.slice);
				EXPECT_EQ(step.slice % builders, step.builder, "builder of %llu",
					  (unsigned long long)step.slice);
				fly[flying].slice = step.slice;
				fly[flying++].builder = step.builder;
				EXPECT_LE(++sent[step.builder] - released[step.builder], cfg.ring,
					  "more than the ring");
				seen += step.slice;
			} else if (flying) {
				i = (u32)between(0, flying - 1);
				EXPECT_EQ(stream_input_ack(input, fly[i].slice, 500, now), 0,
					  "ack");
				released[fly[i].builder]++;
				EXPECT_EQ(stream_input_released(input, fly[i].builder,
								released[fly[i].builder]),
					  0, "ticket");
				fly[i] = fly[--flying];
			} else {
				EXPECT_EQ(step.kind, STREAM_UNTIL, "stuck");
				now = step.time;
				if (step.kind != STREAM_UNTIL)
					break;
			}
			while (!stream_input_report(input, &r)) {
				struct stream_proposal p = {
					.interval = input->next + 1,
					.start = now + between(0, 99999),
					.duration = between(1000, 90000),
				};
				int error = stream_input_proposal(input, &p, now);

				EXPECT_EQ(r.interval, 3 + (s64)done++, "order of reports");
				EXPECT(!error || error == -EALREADY, "proposal: %d", error);
			}
		}
		for (i = 0; i < flying; i++)
			seen -= fly[i].slice;
		/* All of intervals 3 to 22 once, and some of later ones. */
		EXPECT_GE(seen, (u64)total * 20 * (6 * total + 20 * total - 1) / 2,
			  "time-slices are missing");
		free(input);
	}
	tap_done("an input: random streams: everything once, in bounds, never stuck");
}

void test_inputs(void)
{
	times();
	tickets();
	builder_fails();
	random_streams();
}
