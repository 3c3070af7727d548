// SPDX-License-Identifier: GPL-2.0-or-later
/* Replicas: the same reports in any order, the same proposals; also after a restart. */
#include "test.h"

#define INPUTS		7U
#define INTERVALS	120U

static struct stream_report reports[INTERVALS][INPUTS];
static s64 received[INTERVALS][INPUTS];

/* Clocks with offset and drift, durations with noise, from 40 on slower, from 60 on as before. */
static void make_reports(void)
{
	s64 real[INPUTS] = { 0 }, offset[INPUTS], ppm[INPUTS];
	u32 i, j;

	for (i = 0; i < INPUTS; i++) {
		offset[i] = between(20, 100) * STREAM_SECOND;
		ppm[i] = between(-100, 100);
	}
	for (j = 0; j < INTERVALS; j++) {
		for (i = 0; i < INPUTS; i++) {
			s64 duration = 20000000 + between(0, 3000000);

			if (j >= 40 && j < 60)
				duration += 5000000;
			reports[j][i] = (struct stream_report){
				.interval = j, .request = j + 2, .input = i,
				.start = offset[i] + real[i] + real[i] * ppm[i] / 1000000,
				.duration = duration, .latency = 30000 + between(0, 9000),
				.proposed = j < 2 ? 0 : duration - between(-1000000, 2000000),
			};
			real[i] += duration;
			received[j][i] = 500 * STREAM_SECOND + real[i] + between(0, 20000);
		}
	}
}

/* Feed what may be fed, in a random order, until interval @until is complete. */
static void feed(struct stream_dde *d, bool fed[INTERVALS][INPUTS], u32 until)
{
	while (d->next < until || !d->synced) {
		u32 i = (u32)between(0, INPUTS - 1);
		u32 j = (u32)d->next + (u32)between(0, STREAM_WINDOW - 1);
		int n;

		if (j >= until || fed[j][i])
			continue;
		n = stream_dde_report(d, &reports[j][i], received[j][i]);
		EXPECT_GE(n, 0, "report %u of %u: %d", j, i, n);
		fed[j][i] = true;
	}
}

static void same(const struct stream_dde *a, const struct stream_dde *b, u64 interval)
{
	struct stream_proposal p, q;
	u32 i;

	for (i = 0; i < INPUTS; i++) {
		int r = stream_dde_proposal(a, i, interval, &p);
		int s = stream_dde_proposal(b, i, interval, &q);

		EXPECT_EQ(r, s, "both have a proposal, or none");
		EXPECT(!r, "interval %llu has no proposal", (unsigned long long)interval);
		if (!r && !s)
			EXPECT(p.start == q.start && p.duration == q.duration,
			       "interval %llu, input %u: %lld %lld and %lld %lld",
			       (unsigned long long)interval, i, (long long)p.start,
			       (long long)p.duration, (long long)q.start, (long long)q.duration);
	}
}

static void any_order(void)
{
	static bool fed[2][INTERVALS][INPUTS];
	struct stream_dde *a, *b;
	struct stream_config cfg;
	u32 round, j;

	stream_defaults(&cfg, INPUTS, 4);
	for (round = 0; round < 20; round++) {
		make_reports();
		memset(fed, 0, sizeof(fed));
		a = dde_new(&cfg, false);
		b = dde_new(&cfg, false);
		for (j = 1; j <= INTERVALS; j++) {
			feed(a, fed[0], j);
			/* b hears of several intervals at once. */
			if (j % 5 == 0 || j == INTERVALS)
				feed(b, fed[1], j);
			if (b->next == j)
				same(a, b, j + 1);
		}
		EXPECT_MEM(&a->history, &b->history, sizeof(a->history), "histories differ");
		EXPECT_EQ(b->counters.accepted, INTERVALS * INPUTS, "accepted");
		free(a);
		free(b);
	}
	tap_done("replicas: reports in different orders, the same proposals bit by bit");
}

/* c begins in the middle of interval 30, of which it misses some reports. */
static void restart(void)
{
	static bool fed[2][INTERVALS][INPUTS];
	struct stream_dde *a, *c;
	struct stream_proposal p;
	struct stream_config cfg;
	u32 i, j, first;

	stream_defaults(&cfg, INPUTS, 4);
	make_reports();
	memset(fed, 0, sizeof(fed));
	a = dde_new(&cfg, false);
	c = dde_new(&cfg, true);
	feed(a, fed[0], 30);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(stream_dde_report(c, &reports[30][i], received[30][i]), 0,
			  "a part of 30");
	EXPECT(!c->synced, "synced with a part of an interval");
	first = 31;
	for (i = INPUTS; i-- > 0; )
		EXPECT_EQ(stream_dde_report(c, &reports[first][i], received[first][i]), !i,
			  "all of 31");
	EXPECT_EQ(c->next, first + 1, "it goes on with the first interval that it has all of");
	EXPECT_EQ(stream_dde_report(c, &reports[30][4], received[30][4]), -EALREADY,
		  "a report of 30");
	for (j = first + 2; j <= INTERVALS; j++) {
		feed(a, fed[0], j);
		feed(c, fed[1], j);
		if (j - first < cfg.history)
			EXPECT_EQ(stream_dde_proposal(c, 0, j + 1, &p), -ENOENT,
				  "a proposal too early");
		else
			same(a, c, j + 1);
	}
	free(a);
	free(c);
	tap_done("replicas: one that was restarted waits, and then agrees");
}

/*
 * Constant durations: the lag is constant, so proposals stay at 0.95 of what is measured.  Then
 * they jump by a quarter: @last is proposed after half a history.
 */
static void settles(u32 change, s64 last)
{
	struct stream_report r = { .duration = 20000000, .latency = 20000 };
	const struct stream_plan *p;
	struct stream_config cfg;
	struct stream_dde *d;
	s64 now = 0;
	u64 j;

	stream_defaults(&cfg, 1, 4);
	cfg.change = change;
	d = dde_new(&cfg, false);
	for (j = 0; j < 50; j++) {
		p = stream_dde_plan(d, j);
		r.interval = j;
		r.request = j + 2;
		r.start = now;
		r.proposed = p ? p->duration : 0;
		now += r.duration;
		EXPECT_EQ(stream_dde_report(d, &r, now + 10000), 1, "complete");
		p = stream_dde_plan(d, j + 2);
		EXPECT_EQ(p ? p->start : 0, now + r.duration, "tp: one interval later");
		EXPECT_EQ(p ? p->duration : 0, j < 2 || j > 10 ? 19000000 : p ? p->duration : 0,
			  "durp");
	}
	for (; j < 55; j++) {
		p = stream_dde_plan(d, j);
		r.interval = j;
		r.request = j + 2;
		r.start = now;
		r.proposed = p ? p->duration : 0;
		r.duration = 25000000;
		now += r.duration;
		EXPECT_EQ(stream_dde_report(d, &r, now + 10000), 1, "complete");
	}
	p = stream_dde_plan(d, j + 1);
	EXPECT_EQ(p ? p->duration : 0, last, "durp after a jump");
	free(d);
}

void test_agree(void)
{
	any_order();
	restart();
	settles(0, 22500000);
	tap_done("proposals: 5 % faster while lags are steady, the median while they are not");
	settles(100, 23750000);
	tap_done("proposals: 5 % faster than the last level");
}
