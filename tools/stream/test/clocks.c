// SPDX-License-Identifier: GPL-2.0-or-later
/* Offset and drift: golden values, random ones, clocks that are really wrong. */
#include "test.h"

static void golden(void)
{
	struct stream_clock c = { 0 };

	/* 50 us more after half a second: 100 ppm */
	EXPECT_EQ(stream_drift(10050000, 500000000, 10000000, 0), 100000, "drift of 100 ppm");
	EXPECT_EQ(stream_drift(10000000, 500000000, 10050000, 0), -100000, "drift of -100 ppm");
	EXPECT_EQ(stream_drift(1, 3 * STREAM_SECOND, 0, 0), 0, "drift below 1 ppb");
	EXPECT_EQ(stream_drift(2 * STREAM_SECOND, STREAM_SECOND, 0, 0), STREAM_MAX_PPB,
		  "drift: bound");
	EXPECT_EQ(stream_drift(-(1LL << 62), 1, 0, 0), -STREAM_MAX_PPB, "drift: overflow");
	EXPECT_EQ(stream_drift(5, 10, 0, 10), 0, "drift: no time between");
	EXPECT_EQ(stream_drift(5, 9, 0, 10), 0, "drift: the clock was set back");

	/* Ends at 1 s, 2 s, 3 s; latency 2000: half of it is the way. */
	stream_clock_update(&c, 10, 1000000000, 2000, 11000001000);
	EXPECT_EQ(c.offset, 10000000000, "offset: received - end - latency / 2");
	EXPECT_EQ(c.drift, 0, "drift after the first interval");
	EXPECT_EQ(stream_clock_to_builder(&c, 500000000), 10500000000, "without drift");
	stream_clock_update(&c, 10, 2000000000, 2000, 12000021000);	/* 20 ppm */
	EXPECT_EQ(c.offset, 10000020000, "offset after the second interval");
	EXPECT_EQ(c.drift, 20000, "drift after the second interval");
	stream_clock_update(&c, 10, 3000000000, 2000, 13000131000);	/* 110 ppm */
	EXPECT_EQ(c.drift, 65000, "drift: of two, the mean");
	stream_clock_update(&c, 10, 4000000000, 2000, 14000151000);	/* 20 ppm */
	EXPECT_EQ(c.drift, 20000, "drift: the median");
	/* off(t) = 10000150000 + 20 ppm of (t - 4 s) */
	EXPECT_EQ(stream_clock_to_builder(&c, 4500000000), 14500160000, "half a second later");
	EXPECT_EQ(stream_clock_to_builder(&c, 3500000000), 13500140000, "half a second earlier");
	EXPECT_EQ(stream_clock_to_input(&c, 14500160000), 4500000000, "and back");
	stream_clock_update(&c, 10, 3000000000, 2000, 15000001000);
	EXPECT_EQ(c.samples, 3, "a clock that was set back gives no drift");
	EXPECT_EQ(c.offset, 12000000000, "but an offset");
	tap_done("clocks: golden values");
}

static void random_drifts(void)
{
	unsigned long run;

	for (run = 0; run < test_runs; run++) {
		int bits = (int)between(0, 61);
		s64 o = between(-(1LL << bits), 1LL << bits);
		s64 p = between(-(1LL << bits), 1LL << bits);
		s64 e = between(0, STREAM_MAX_TIME), f = between(0, STREAM_MAX_TIME);
		struct stream_clock c = { .known = true, .samples = 1 };
		__int128 want = 0;
		s64 got, slack, t;

		if (run & 1)
			e = f + between(1, 100 * STREAM_SECOND);
		got = stream_drift(o, e, p, f);
		if (e > f)
			want = ((__int128)o - p) * STREAM_SECOND / (e - f);
		if (want > STREAM_MAX_PPB)
			want = STREAM_MAX_PPB;
		if (want < -STREAM_MAX_PPB)
			want = -STREAM_MAX_PPB;
		/* Changes of more than 9 s are rounded to a second. */
		slack = 0;
		if (llabs(o - p) > 9 * STREAM_SECOND && e > f)
			slack = 1 + 2 * STREAM_SECOND * llabs((s64)want) / (e - f);
		EXPECT_LE(llabs(got - (s64)want), slack,
			  "drift of %lld %lld %lld %lld: got %lld, want %lld", (long long)o,
			  (long long)e, (long long)p, (long long)f, (long long)got,
			  (long long)want);
		c.end = e < STREAM_MAX_TIME ? e : STREAM_MAX_TIME;
		c.offset = between(-c.end, STREAM_MAX_TIME - c.end);
		c.drift = between(-STREAM_MAX_PPB, STREAM_MAX_PPB);
		t = between(0, STREAM_MAX_TIME);
		if (run & 3)
			t = c.end + between(-STREAM_MAX_DURATION, STREAM_MAX_DURATION);
		got = stream_clock_to_input(&c, stream_clock_to_builder(&c, t));
		EXPECT(llabs(got - t) <= 2 || !(run & 3), "there and back: %lld",
		       (long long)(got - t));
	}
	tap_done("clocks: random, as with 128 bits, there and back");
}

/* Reports of 40 intervals with noise; the next but one is to be right within the noise. */
static void wrong_clocks(void)
{
	static const s64 ppm[] = { -100, -50, 0, 50, 100 };
	u32 i, j;

	for (i = 0; i < 5; i++) {
		s64 real = 0, offset = between(-10 * STREAM_SECOND, 10 * STREAM_SECOND), error;
		struct stream_clock c = { 0 };
		s64 base = 100 * STREAM_SECOND, local;

		for (j = 0; j < 40; j++) {
			real += 200000000 + between(0, 1000000);
			local = base + offset + real + real * ppm[i] / 1000000;
			stream_clock_update(&c, 10, local, 20000,
					    base + real + 10000 + between(-1000, 1000));
		}
		real += 400000000;
		local = base + offset + real + real * ppm[i] / 1000000;
		error = stream_clock_to_input(&c, base + real) - local;
		EXPECT_LT(llabs(error), 8000, "clock of %lld ppm: error %lld ns", (long long)ppm[i],
			  (long long)error);
	}
	tap_done("clocks: offset of up to 10 s, drift of up to 100 ppm, noise of 1 us");
}

void test_clocks(void)
{
	golden();
	random_drifts();
	wrong_clocks();
}
