// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels of durations: golden values, replicas, and a network that is slower for a while. */
#include "test.h"

static struct stream_config cfg;

static void add(struct stream_history *h, s64 duration, s64 proposed, u32 n)
{
	struct stream_unified u = { .duration = duration, .proposed = proposed };

	while (n--)
		stream_history_add(h, &u);
}

static void look(const struct stream_history *h, s64 level, s64 deviation, s64 back,
		 const char *what)
{
	struct stream_outlook o;

	stream_look(&cfg, h, &o);
	EXPECT(o.level == level && o.deviation == deviation && o.back == back && o.known,
	       "%s: level %lld, deviation %lld, back %lld", what, (long long)o.level,
	       (long long)o.deviation, (long long)o.back);
}

/* History 10, speed-up 5 %, another level from 10 % on. */
static void levels(void)
{
	struct stream_history h, g;

	stream_history_init(&h, &cfg, true);
	add(&h, 200, 190, 12);
	look(&h, 200, 0, 0, "steady");
	g = h;
	add(&g, 220, 190, 2);
	look(&g, 200, 8, 0, "10 % are no other level");
	add(&h, 250, 190, 1);
	look(&h, 200, 15, 0, "one alone may be an accident");
	g = h;
	add(&g, 200, 190, 1);
	look(&g, 200, 15, 0, "it was one");
	add(&h, 250, 190, 1);
	look(&h, 250, 0, 0, "two are another level");
	add(&h, 250, 190, 1);
	look(&h, 250, 0, 0, "three");
	add(&h, 250, 237, 6);
	look(&h, 250, 0, 0, "nine, seven of them proposed for this level");
	add(&h, 237, 237, 1);
	look(&h, 250, 4, 200, "kept what was proposed: as fast as before");
	g = h;
	add(&g, 250, 237, 1);
	look(&g, 250, 4, 0, "kept no longer");
	add(&h, 237, 237, 1);
	look(&h, 250, 5, 200, "kept again");
	g = h;
	add(&g, 250, 200, 1);
	look(&g, 250, 5, 0, "tried, and failed: 200 was for another level");
	add(&h, 200, 200, 1);
	look(&h, 200, 30, 0, "tried, and kept: one is enough; a lag of 60 when it became slower");
	add(&h, 200, 190, 1);
	look(&h, 200, 5, 0, "two");
	add(&h, 200, 190, 3);
	look(&h, 200, 4, 0, "half of ten: the median is 218, and no level at all");
	tap_done("levels: golden values");
}

static void edges(void)
{
	struct stream_config whole = cfg;
	struct stream_outlook o;
	struct stream_history h;

	/* what was before is too long ago */
	stream_history_init(&h, &cfg, true);
	add(&h, 200, 190, 10);
	add(&h, 250, 237, STREAM_MEMORY - 2);
	add(&h, 237, 237, 1);
	look(&h, 250, 3, 0, "one interval is no level");
	stream_history_init(&h, &cfg, true);
	add(&h, 200, 190, 10);
	add(&h, 250, 237, STREAM_MEMORY - 3);
	add(&h, 237, 237, 1);
	look(&h, 250, 3, 200, "two are");
	/* one that was restarted does not know */
	stream_history_init(&h, &cfg, false);
	add(&h, 250, 237, 11);
	look(&h, 250, 0, 0, "nothing to be looked up");
	add(&h, 237, 237, 1);
	stream_look(&cfg, &h, &o);
	EXPECT(!o.known, "a part of what is to be looked at");
	EXPECT(!o.back, "a part of what is to be looked at");
	/* the source's rule, and no steps at all */
	cfg.change = 0;
	stream_history_init(&h, &cfg, true);
	EXPECT_EQ(h.size, cfg.history, "the source's history");
	add(&h, 200, 190, 10);
	add(&h, 250, 190, 4);
	look(&h, 200, 24, 0, "the source's rule: five are too few");
	add(&h, 250, 190, 1);
	look(&h, 225, 25, 0, "the source's rule: half of them");
	cfg = whole;
	cfg.speedup = 0;
	stream_history_init(&h, &cfg, true);
	add(&h, 200, 200, 10);
	add(&h, 250, 250, 10);
	look(&h, 250, 0, 0, "without speed-up all is kept, and says nothing");
	cfg = whole;
	tap_done("levels: what is too long ago, not known, not asked for");
}

/* A network that needs so long, and noise; who is asked for less than that takes longer. */
static s64 network(s64 capacity, s64 noise, s64 proposed)
{
	s64 least = capacity + between(-noise, noise);

	return proposed > least ? proposed : least;
}

/* Two replicas, one of which begins anew from time to time, agree whatever there is. */
static void replicas(void)
{
	struct stream_history a, b;
	struct stream_unified u = { 0 };
	struct stream_outlook o, p;
	s64 level = 1000000, next[2] = { 0 };
	unsigned long run, known = 0, backs = 0;

	stream_history_init(&a, &cfg, true);
	stream_history_init(&b, &cfg, false);
	for (run = 0; run < test_runs; run++) {
		if (!(rnd() % 11))
			level = between(700000, 1500000);
		if (!(rnd() % 40))
			stream_history_init(&b, &cfg, false);
		u.proposed = rnd() % 9 ? next[0] : between(0, 2000000);
		u.duration = network(level, 30000, u.proposed);
		stream_history_add(&a, &u);
		stream_history_add(&b, &u);
		stream_look(&cfg, &a, &o);
		next[0] = next[1];
		next[1] = o.back ? o.back :
			  stream_proposed_duration(&cfg, o.deviation, o.level);
		EXPECT(o.known && next[1] > 0, "the one that was always there knows all");
		backs += o.back > 0;
		if (b.n < cfg.history)
			continue;
		stream_look(&cfg, &b, &p);
		if (!p.known)
			continue;
		known++;
		EXPECT_EQ(o.level, p.level, "run %lu: %lld %lld %lld and %lld %lld %lld", run,
			  (long long)o.level, (long long)o.deviation, (long long)o.back,
			  (long long)p.level, (long long)p.deviation, (long long)p.back);
		EXPECT_EQ(o.deviation, p.deviation, "run %lu: %lld %lld %lld and %lld %lld %lld",
			  run, (long long)o.level, (long long)o.deviation, (long long)o.back,
			  (long long)p.level, (long long)p.deviation, (long long)p.back);
		EXPECT_EQ(o.back, p.back, "run %lu: %lld %lld %lld and %lld %lld %lld", run,
			  (long long)o.level, (long long)o.deviation, (long long)o.back,
			  (long long)p.level, (long long)p.deviation, (long long)p.back);
	}
	EXPECT_GT(known, test_runs / 2, "known %lu, backs %lu of %lu", known, backs, test_runs);
	EXPECT_GT(backs, test_runs / 100, "known %lu, backs %lu of %lu", known, backs, test_runs);
	tap_done("levels: random intervals, a replica that was restarted agrees bit by bit");
}

/* Any times: within bounds, no overflow. */
static void any_times(void)
{
	struct stream_history h;
	struct stream_outlook o;
	unsigned long run;

	stream_history_init(&h, &cfg, true);
	for (run = 0; run < test_runs; run++) {
		s64 high = 1LL << between(10, 41);
		struct stream_unified u;

		high = high < STREAM_MAX_DURATION ? high : STREAM_MAX_DURATION;
		u = (struct stream_unified){
			.duration = between(1000, high),
			.proposed = rnd() % 4 ? between(1000, high) : 0,
		};
		if (!(rnd() % 100)) {
			cfg.change = (u32)between(0, 1000);
			cfg.speedup = (u32)between(0, 500);
			cfg.history = (u32)between(2, STREAM_MAX_HISTORY);
			stream_history_init(&h, &cfg, rnd() % 2);
		}
		stream_history_add(&h, &u);
		stream_look(&cfg, &h, &o);
		EXPECT_GE(o.level, 1000, "level %lld, back %lld, deviation %lld",
			  (long long)o.level, (long long)o.back, (long long)o.deviation);
		EXPECT_LE(o.level, STREAM_MAX_DURATION, "level %lld, back %lld, deviation %lld",
			  (long long)o.level, (long long)o.back, (long long)o.deviation);
		EXPECT_GE(o.back, 0, "level %lld, back %lld, deviation %lld", (long long)o.level,
			  (long long)o.back, (long long)o.deviation);
		EXPECT_LE(o.back, STREAM_MAX_DURATION, "level %lld, back %lld, deviation %lld",
			  (long long)o.level, (long long)o.back, (long long)o.deviation);
		EXPECT_GE(o.deviation, 0, "level %lld, back %lld, deviation %lld",
			  (long long)o.level, (long long)o.back, (long long)o.deviation);
		EXPECT_LE(o.deviation, STREAM_MAX_DURATION, "level %lld, back %lld, deviation %lld",
			  (long long)o.level, (long long)o.back, (long long)o.deviation);
	}
	stream_defaults(&cfg, 4, 4);
	tap_done("levels: any times, within bounds");
}

/* Proposals act two intervals later.  Durations of @n intervals, slower by a quarter from 40 to
 * @until.
 */
static void loop(s64 *took, u32 n, u32 until, s64 noise, u32 *backs)
{
	struct stream_history h;
	struct stream_outlook o;
	s64 next[2] = { 0 };
	u32 i;

	stream_history_init(&h, &cfg, true);
	*backs = 0;
	for (i = 0; i < n; i++) {
		struct stream_unified u = { .interval = i, .proposed = next[0] };

		u.duration = network(i >= 40 && i <= until ? 1250000 : 1000000, noise, next[0]);
		stream_history_add(&h, &u);
		stream_look(&cfg, &h, &o);
		next[0] = next[1];
		next[1] = o.back ? o.back :
			  stream_proposed_duration(&cfg, o.deviation, o.level);
		*backs += o.back > 0;
		took[i] = u.duration;
	}
}

/* Slower from 40 to 50, or for ever. */
static void recovers(void)
{
	static s64 took[20000];
	u32 i, round, backs;

	for (round = 0; round < 1000; round++) {
		loop(took, 80, 50, 10000, &backs);
		for (i = 53; i < 80; i++)
			EXPECT_LE(took[i], 1050000, "round %u: %lld in interval %u", round,
				  (long long)took[i], i);
		EXPECT_GE(backs, 2, "round %u: %u times", round, backs);
		EXPECT_LE(backs, 4, "round %u: %u times", round, backs);
	}
	/* noise alone is no other level: what comes is what the source's rule gives */
	loop(took, 20000, 0, 40000, &backs);
	EXPECT_EQ(backs, 0, "a network with noise of 4 %");
	for (i = 100; i < 20000; i++)
		EXPECT_LE(took[i], 1045000, "%lld in interval %u", (long long)took[i], i);
	/* one that stays slow is tried while it is remembered that it was faster, no longer */
	loop(took, 20000, 20000, 40000, &backs);
	EXPECT_LE(backs, STREAM_MEMORY / 2, "tried %u times", backs);
	/* with the source's rule recovery takes longer */
	cfg.change = 0;
	loop(took, 80, 50, 10000, &backs);
	EXPECT_GT(took[53], 1150000, "the source's rule: %lld, %lld", (long long)took[53],
		  (long long)took[58]);
	EXPECT_GT(took[58], 1050000, "the source's rule: %lld, %lld", (long long)took[53],
		  (long long)took[58]);
	cfg.change = 100;
	tap_done("levels: slower for ten intervals, as before after three; noise changes nothing");
}

void test_levels(void)
{
	stream_defaults(&cfg, 4, 4);
	levels();
	edges();
	replicas();
	any_times();
	recovers();
}
