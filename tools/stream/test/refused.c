// SPDX-License-Identifier: GPL-2.0-or-later
/* Absurd reports and proposals are refused, counted, and change nothing; any bits do no harm. */
#include "test.h"

static struct stream_dde *dde;
static struct stream_config cfg;

static void refused(struct stream_report r, s64 now, int want, const char *what)
{
	struct stream_dde_counters c = dde->counters;
	int got = stream_dde_report(dde, &r, now);

	EXPECT_EQ(got, want, "%s", what);
	EXPECT_EQ(dde->counters.absurd + dde->counters.ahead + dde->counters.again,
		  c.absurd + c.ahead + c.again + 1, "%s: not counted", what);
	EXPECT_EQ(dde->counters.accepted, c.accepted, "%s", what);
}

#define BAD(what, ...) do {						\
	struct stream_report bad = ok;					\
									\
	bad.__VA_ARGS__;						\
	refused(bad, 1000, -EINVAL, what);				\
} while (0)

static void reports(void)
{
	struct stream_report ok = { .interval = 0, .request = 2, .start = 5, .duration = 2000000,
				    .proposed = 0, .latency = 1000, .input = 1 };
	struct stream_report far;

	stream_defaults(&cfg, 3, 3);
	dde = dde_new(&cfg, false);
	BAD("an input that there is not", input = 3);
	BAD("input 2^32 - 1", input = U32_MAX);
	BAD("a negative start", start = -1);
	BAD("a start out of bounds", start = STREAM_MAX_TIME);
	BAD("start + duration overflows", start = S64_MAX);
	BAD("duration 0", duration = 0);
	BAD("a negative duration", duration = -5);
	BAD("a duration of more than the longest", duration = cfg.max_duration + 1);
	BAD("duration 2^63 - 1", duration = S64_MAX);
	BAD("a negative proposal", proposed = -1);
	BAD("a proposal out of bounds", proposed = S64_MAX);
	BAD("a negative latency", latency = -1);
	BAD("a latency out of bounds", latency = STREAM_MAX_LATENCY + 1);
	BAD("a request of the past", request = 1);
	BAD("a request of the far future", request = 9);
	BAD("interval 2^64 - 1", interval = U64_MAX);
	refused(ok, -1, -EINVAL, "received before time began");
	refused(ok, S64_MAX, -EINVAL, "received at the end of time");
	far = ok;
	far.interval = STREAM_WINDOW;
	far.request = STREAM_WINDOW + 2;
	refused(far, 1000, -ERANGE, "too far ahead");
	EXPECT_EQ(stream_dde_report(dde, &ok, 1000), 0, "a good one");
	ok.duration = 3000000;
	refused(ok, 1000, -EALREADY, "another one of the same");
	EXPECT(!stream_dde_plan(dde, 2), "something is proposed");
	free(dde);
	tap_done("reports: what is absurd is refused and counted");
}

static void configs(void)
{
	static const struct stream_config bad[] = {
		{ .inputs = 0 }, { .builders = 0 }, { .inputs = 4097 }, { .builders = 4097 },
		{ .slices = STREAM_MAX_SLICES + 1 }, { .ring = STREAM_MAX_RING + 1 },
		{ .history = 1 }, { .history = 65 }, { .gate = 1001 }, { .speedup = 501 },
		{ .theta = 1001 }, { .min_duration = 1 }, { .max_duration = 1 }, { .timeout = 1 },
		{ .max_duration = STREAM_MAX_DURATION + 1 },
	};
	struct stream_config c;
	u32 i;

	stream_defaults(&c, 8, 8);
	EXPECT(!stream_config_error(&c), "the defaults: %s", stream_config_error(&c));
	EXPECT_EQ(stream_dde_size(&c) > 0, 1, "size of an engine");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		stream_defaults(&c, i ? 8 : 0, i == 1 ? 0 : 8);
#define SET(field)	(c.field = bad[i].field ? bad[i].field : c.field)
		SET(inputs), SET(builders), SET(slices), SET(ring), SET(history), SET(gate);
		SET(speedup), SET(theta), SET(min_duration), SET(max_duration), SET(timeout);
#undef SET
		EXPECT(!!stream_config_error(&c), "stream %u is not refused", i);
		EXPECT_EQ(stream_dde_size(&c) + stream_input_size(&c), 0, "size");
		EXPECT(!stream_dde_init(NULL, &c, false), "engine %u", i);
		EXPECT(!stream_input_init(NULL, &c, 0, 0), "input %u", i);
	}
	tap_done("streams that cannot be are refused");
}

static void answer(struct stream_input *e, u64 interval, s64 start, s64 duration, int want,
		   const char *what)
{
	struct stream_proposal p = { .interval = interval, .start = start, .duration = duration };

	EXPECT_EQ(stream_input_proposal(e, &p, STREAM_SECOND), want, "%s", what);
}

static void answers(void)
{
	struct stream_input *e;
	struct stream_step step;

	stream_defaults(&cfg, 3, 3);
	e = input_new(&cfg, 0, 5);
	answer(e, 5, STREAM_SECOND, 0, -EINVAL, "duration 0");
	answer(e, 5, STREAM_SECOND, S64_MIN, -EINVAL, "the least duration");
	answer(e, 5, STREAM_SECOND, cfg.max_duration + 1, -EINVAL, "a duration out of bounds");
	answer(e, 5, -1, 1000000, -EINVAL, "a negative start");
	answer(e, 5, S64_MAX, 1000000, -EINVAL, "the end of time");
	answer(e, 5, 2 * STREAM_SECOND + 4000001, 1000000, -EINVAL, "a start that stops the input");
	answer(e, 13, STREAM_SECOND, 1000000, -ERANGE, "too far ahead");
	answer(e, U64_MAX, STREAM_SECOND, 1000000, -ERANGE, "interval 2^64 - 1");
	EXPECT_EQ(e->counters.absurd, 8, "counted");
	answer(e, 5, STREAM_SECOND + 7, 1000000, 0, "a good one");
	answer(e, 5, STREAM_SECOND + 8, 1000000, -EALREADY, "the first answer wins");
	answer(e, 4, STREAM_SECOND, 1000000, -EALREADY, "one of the past");
	stream_input_next(e, STREAM_SECOND, &step);
	EXPECT_EQ(step.kind, STREAM_UNTIL, "it waits");
	EXPECT_EQ(step.time, STREAM_SECOND + 7, "for the first answer");
	EXPECT_EQ(stream_input_ack(e, 15000, 10, STREAM_SECOND), -EINVAL,
		  "an acknowledgment of what was not sent");
	EXPECT_EQ(stream_input_released(e, 0, 1), -EINVAL, "a ticket of what was not sent");
	EXPECT_EQ(stream_input_released(e, 3, 0), -EINVAL, "a ticket of no builder");
	stream_input_next(e, STREAM_SECOND + 7, &step);
	EXPECT_EQ(step.kind, STREAM_SEND, "it sends");
	EXPECT_EQ(stream_input_ack(e, step.slice, 11 * STREAM_SECOND, 12 * STREAM_SECOND), 0,
		  "an acknowledgment that is very late");
	EXPECT_EQ(e->open[5 % STREAM_OPEN].acked, 1, "it counts");
	EXPECT_EQ(e->open[5 % STREAM_OPEN].latency[0], STREAM_MAX_LATENCY, "as the longest");
	answer(e, 6, STREAM_SECOND + 4000001 + 2 * STREAM_SECOND, cfg.max_duration, -EINVAL,
	       "a start that stops the input, with a long duration");
	free(e);
	tap_done("proposals, acknowledgments, tickets: what is absurd is refused and counted");
}

static s64 any(void)
{
	static const s64 edge[] = { 0, 1, -1, S64_MAX, S64_MIN, STREAM_MAX_TIME, 1000,
				    STREAM_MAX_DURATION, STREAM_SECOND, STREAM_MAX_TIME + 1 };
	u64 r = rnd();

	switch (r % 4) {
	case 0:
		return edge[(r >> 8) % (sizeof(edge) / sizeof(edge[0]))];
	case 1:
		return (s64)rnd();
	case 2:
		return (s64)(rnd() >> (r >> 8) % 64);
	}
	return between(0, 100000000);
}

/* Half of the values are good, so that intervals are complete. */
static void any_bits(void)
{
	struct stream_input *e;
	unsigned long run;
	bool restarted;
	u32 most;

	stream_defaults(&cfg, 3, 3);
	cfg.slices = 9;
	cfg.max_duration = STREAM_MAX_DURATION;
	for (restarted = false; ; restarted = true) {
		dde = dde_new(&cfg, restarted);
		e = input_new(&cfg, 1, 0);
		most = 0;
		for (run = 0; run < test_runs / 2; run++) {
			u64 j = dde->next + (u64)between(-1, 9);
			struct stream_report r = {
				.interval = rnd() & 7 ? j : (u64)any(), .input = (u32)between(0, 3),
				.start = any(), .duration = any(), .latency = any(),
				.proposed = any(),
			};
			struct stream_proposal p;
			struct stream_step step;
			s64 now = any(), at;
			u32 who;

			r.request = rnd() & 7 ? r.interval + 2 : (u64)any();
			stream_dde_report(dde, &r, now);
			most = dde->history.n > most ? dde->history.n : most;
			if (!stream_dde_proposal(dde, 1, j + 2, &p)) {
				EXPECT_GE(p.start, 0, "start %lld", (long long)p.start);
				EXPECT_LE(p.start, STREAM_MAX_TIME, "start %lld",
					  (long long)p.start);
				EXPECT_GE(p.duration, cfg.min_duration, "duration %lld",
					  (long long)p.duration);
				EXPECT_LE(p.duration, cfg.max_duration, "duration %lld",
					  (long long)p.duration);
			}
			stream_dde_owes(dde, (u32)between(0, 3), rnd() & 3 ? STREAM_NEVER : any());
			at = stream_dde_deadline(dde, &who);
			if (!(rnd() & 63))
				stream_dde_expire(dde, rnd() & 1 ? at : now, &who);
			p = (struct stream_proposal){
				.interval = rnd() & 7 ? e->next + (u64)between(-1, 9) : (u64)any(),
				.start = any(), .duration = any(),
			};
			now = (s64)run * 1000;
			stream_input_proposal(e, &p, rnd() & 7 ? now : any());
			stream_input_next(e, now, &step);
			if (step.kind == STREAM_UNTIL)
				EXPECT(step.time > now &&
				       step.time - now < 5 * (STREAM_MAX_DURATION + STREAM_SECOND),
				       "a timer of %lld", (long long)(step.time - now));
			stream_input_ack(e, rnd() & 7 ? (e->next - 1) * 9 : (u64)any(), any(), now);
			stream_input_released(e, (u32)between(0, 3),
					      rnd() & 7 ? e->target[0].sent : (u64)any());
			stream_input_report(e, &r);
		}
		EXPECT_GT(dde->counters.accepted, test_runs / 1000, "%llu reports accepted",
			  (unsigned long long)dde->counters.accepted);
		/* at the end it may just have begun anew */
		EXPECT_GT(most, 1, "no history");
		free(dde);
		free(e);
		if (restarted)
			break;
	}
	tap_done("any bits: no overflow, no timer out of bounds");
}

void test_refused(void)
{
	reports();
	configs();
	answers();
	any_bits();
}
