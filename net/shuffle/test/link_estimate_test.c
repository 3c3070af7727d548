// SPDX-License-Identifier: GPL-2.0-only
/* What a link does, learnt from streams of packets whose rate is known. */
#include "harness.h"

#define MS	1000000ULL

/* @packets packets of @bytes, one every @ns; returns the time behind the last */
static u64 stream(struct shuffle_link *link, u64 at, u32 packets, u32 bytes, u64 ns)
{
	for (; packets; packets--, at += ns)
		shuffle_link_arrived(link, bytes, at);
	return at;
}

struct stream_row {
	u32	claimed;
	u32	rtt_ns;
	u32	bytes;
	u64	ns;
	u32	packets;
	u32	want;
};

/* Mb/s = bytes * 8000 / ns */
static const struct stream_row stream_rows[] = {
	/* faster than claimed: 25 Gb/s of 1500 and of 9000 bytes, 100 and 400 Gb/s */
	{ 10000, 4000, 1500, 480, 2000, 25000 },
	{ 10000, 4000, 9000, 2880, 500, 25000 },
	{ 10000, 4000, 9000, 720, 2000, 100000 },
	{ 10000, 50000, 9000, 180, 20000, 400000 },
	/* before any round trip was measured */
	{ 10000, 0, 1500, 480, 2000, 25000 },
	/* a device that claims less than nothing */
	{ 1, 0, 1500, 12000, 100, 1000 },
	/* slower than claimed: without a loss the claim stands */
	{ 10000, 4000, 1500, 12000, 1000, 10000 },
	{ 25000, 4000, 1500, 480, 2000, 25000 },
	/* too short to say anything */
	{ 10000, 4000, 1500, 480, 100, 10000 },
	/* packets so rare that they are no stream */
	{ 1, 4000, 1500, 2000001, 1000, 1 },
	{ 1, 4000, 1500, 2000000, 1000, 6 },
	{ 1, 2000000, 1500, 4000000, 1000, 3 },
};

static void stream_desc(const struct stream_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "claims %u, %u bytes in %llu ns", t->claimed,
		 t->bytes, (unsigned long long)t->ns);
}

KUNIT_ARRAY_PARAM(stream, stream_rows, stream_desc);

static void link_arrived__stream(struct kunit *test)
{
	const struct stream_row *t = test->param_value;
	struct shuffle_link link;

	shuffle_link_init(&link, t->claimed);
	if (t->rtt_ns)
		shuffle_link_rtt_sample(&link, t->rtt_ns, 1);
	stream(&link, 1000, t->packets, t->bytes, t->ns);
	KUNIT_EXPECT_EQ(test, link.mbps, t->want);
}

/* 64 packets that a busy CPU held back for 30 us come at ten times the rate */
static void link_arrived__held_back(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = 1000;
	u32 i;

	shuffle_link_init(&link, 10000);
	shuffle_link_rtt_sample(&link, 4000, 1);
	for (i = 0; i < 100; i++) {
		at = stream(&link, at, 1000, 1500, 480);
		at = stream(&link, at + 64 * 480, 64, 1500, 48);
	}
	KUNIT_EXPECT_GE(test, link.mbps, 24900U);
	KUNIT_EXPECT_LE(test, link.mbps, 28000U);
}

static void link_arrived__too_high_wears_off(struct kunit *test)
{
	struct shuffle_link link;
	u64 at;

	shuffle_link_init(&link, 10000);
	at = stream(&link, 1000, 20000, 9000, 720);
	KUNIT_ASSERT_EQ(test, link.mbps, 100000U);
	at = stream(&link, at, 400000, 1500, 480);
	KUNIT_EXPECT_GE(test, link.mbps, 25000U);
	KUNIT_EXPECT_LE(test, link.mbps, 27000U);
	/* not below what the device says */
	stream(&link, at, 400000, 1500, 2400);
	KUNIT_EXPECT_GE(test, link.mbps, 10000U);
	KUNIT_EXPECT_LE(test, link.mbps, 11500U);
}

static void link_arrived__clock_back(struct kunit *test)
{
	struct shuffle_link link;

	shuffle_link_init(&link, 10000);
	stream(&link, 1000 * MS, 10, 1500, 480);
	stream(&link, 1, 10, 1500, 480);
	KUNIT_EXPECT_EQ(test, link.mbps, 10000U);
	KUNIT_EXPECT_EQ(test, link.nr_windows, 0U);
}

static void link_drain__rates(struct kunit *test)
{
	struct shuffle_link link;

	shuffle_link_init(&link, 8000);		/* 1 byte/ns */
	KUNIT_EXPECT_EQ(test, shuffle_link_drains(&link, 0), 8000U);
	stream(&link, 1000, 400, 1500, 6000);	/* a fourth of that */
	KUNIT_EXPECT_EQ(test, shuffle_link_drains(&link, 0), 2000U);
	stream(&link, 10 * MS, 1000, 1500, MS);
	KUNIT_EXPECT_EQ(test, shuffle_link_drains(&link, 0), 500U);
	KUNIT_EXPECT_EQ(test, shuffle_link_drains(&link, 16000), 1000U);
	KUNIT_EXPECT_EQ(test, shuffle_link_drains(&link, 1), 1U);
}

static void link_lost__slow_link(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = 1000;
	u32 i;

	/* claims 10 Gb/s, does 100 Mb/s */
	shuffle_link_init(&link, 10000);
	shuffle_link_rtt_sample(&link, MS, 1);
	shuffle_link_lost(&link, 1);
	KUNIT_EXPECT_EQ(test, link.mbps, 10000U);	/* nothing is known yet */
	for (i = 0; i < 20; i++) {
		at = stream(&link, at, 100, 1500, 120000);
		shuffle_link_lost(&link, at);
	}
	KUNIT_EXPECT_GE(test, link.mbps, 100U);
	KUNIT_EXPECT_LE(test, link.mbps, 200U);
	/* and back, when it does 1 Gb/s */
	stream(&link, at, 4000, 1500, 12000);
	KUNIT_EXPECT_EQ(test, link.mbps, 1000U);
}

static void link_lost__full_link(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = 1000;
	u32 i;

	shuffle_link_init(&link, 25000);
	for (i = 0; i < 20; i++) {
		at = stream(&link, at, 400, 1500, 480);
		shuffle_link_lost(&link, at);
	}
	KUNIT_EXPECT_EQ(test, link.mbps, 25000U);
}

static void link_rtt__minimum_of_two_epochs(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = 20000 * MS;

	shuffle_link_init(&link, 10000);
	KUNIT_EXPECT_EQ(test, shuffle_link_rtt(&link), 0U);
	shuffle_link_rtt_sample(&link, 0, at);
	shuffle_link_rtt_sample(&link, 1ULL << 33, at);
	KUNIT_EXPECT_EQ(test, shuffle_link_rtt(&link), 0U);
	shuffle_link_rtt_sample(&link, 5000, at);
	shuffle_link_rtt_sample(&link, 7000, at + 1);
	KUNIT_EXPECT_EQ(test, shuffle_link_rtt(&link), 5000U);
	/* the path becomes longer: remembered for one epoch more */
	at += 10001 * MS;
	shuffle_link_rtt_sample(&link, 9000, at);
	KUNIT_EXPECT_EQ(test, shuffle_link_rtt(&link), 5000U);
	at += 10001 * MS;
	shuffle_link_rtt_sample(&link, 9500, at);
	KUNIT_EXPECT_EQ(test, shuffle_link_rtt(&link), 9000U);
	shuffle_link_rtt_sample(&link, 4000, at);
	KUNIT_EXPECT_EQ(test, shuffle_link_rtt(&link), 4000U);
}

/* One look: the kernel has worked @busy of 20 ms, in which the link has carried @mbps. */
static void look(struct shuffle_link *link, u64 *at, u32 busy_ms, u32 mbps)
{
	u32 i;

	for (i = 0; i < 20; i++, *at += MS)
		shuffle_link_arrived(link, mbps * 125, *at);
	link->mbps = link->claimed;
	shuffle_link_cpu(link, link->claimed, busy_ms * MS, 20 * MS);
	link->looked = 0;
}

/* On a path of 10 us. */
static u64 rtt_bytes(const struct shuffle_link *link, u32 mbps, u64 now)
{
	return shuffle_link_rtt_bytes(link, mbps, 10000, now);
}

/* A processor that has no rest, and a link that has much. */
static void link_cpu__is_the_limit(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = MS;
	u32 i;

	shuffle_link_init(&link, 10000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 12500ULL);
	look(&link, &at, 9, 2000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 12500ULL);
	look(&link, &at, 11, 2000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 625000ULL);
	/* a slower link has less on its way, a faster one not more */
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 1000, at), 62500ULL);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 100000, at), 625000ULL);
	/* a longer path has what it needs */
	KUNIT_EXPECT_EQ(test, shuffle_link_rtt_bytes(&link, 10000, 1000000, at), 1250000ULL);
	/* it wears off slowly */
	for (i = 0; i < 19; i++)
		look(&link, &at, 5, 2000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 625000ULL);
	look(&link, &at, 5, 2000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 12500ULL);
}

/* As soon as the link carries half of what it can, it may be the limit. */
static void link_cpu__the_link_is(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = MS;

	shuffle_link_init(&link, 10000);
	look(&link, &at, 20, 6000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 12500ULL);
	look(&link, &at, 20, 4000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 625000ULL);
	look(&link, &at, 20, 6000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 12500ULL);
	/* a link that is faster than it claims is no link */
	link.looked = 20000000;
	shuffle_link_cpu(&link, 13000, 20 * MS, 20 * MS);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 13000, at), 625000ULL);
}

/* Losses make it careful for a second of looks. */
static void link_cpu__losses(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = MS;
	u32 i;

	shuffle_link_init(&link, 10000);
	shuffle_link_lost(&link, at);
	for (i = 0; i < 49; i++)
		look(&link, &at, 20, 2000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 78125ULL);
	look(&link, &at, 20, 2000);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at), 625000ULL);
}

/* A second in which nothing arrives is a second, too. */
static void link_cpu__losses_before_a_pause(struct kunit *test)
{
	struct shuffle_link link;
	u64 at = MS;

	shuffle_link_init(&link, 10000);
	look(&link, &at, 20, 2000);
	shuffle_link_lost(&link, at);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at + 999 * MS), 78125ULL);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at + 1000 * MS), 625000ULL);
	/* another one is remembered from then on */
	at += 5000 * MS;
	shuffle_link_lost(&link, at);
	KUNIT_EXPECT_EQ(test, rtt_bytes(&link, 10000, at + 999 * MS), 78125ULL);
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE_PARAM(link_arrived__stream, stream_gen_params),
	KUNIT_CASE(link_arrived__held_back),
	KUNIT_CASE(link_arrived__too_high_wears_off),
	KUNIT_CASE(link_arrived__clock_back),
	KUNIT_CASE(link_drain__rates),
	KUNIT_CASE(link_lost__slow_link),
	KUNIT_CASE(link_lost__full_link),
	KUNIT_CASE(link_rtt__minimum_of_two_epochs),
	KUNIT_CASE(link_cpu__is_the_limit),
	KUNIT_CASE(link_cpu__the_link_is),
	KUNIT_CASE(link_cpu__losses),
	KUNIT_CASE(link_cpu__losses_before_a_pause),
	{}
};

struct kunit_suite shuffle_link_suite = {
	.name = "shuffle_link",
	.test_cases = link_cases,
};
