// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receiver's side of the schedule: windows and grants.  Numbers of sections
 * and equations are those of Li, "Efficient Shuffle for Flash Burst Computing".
 */
#include "column.h"
#include "model.h"

#define MSGS	16U

/* all that is outstanding on a message arrives */
static void deliver(struct shuffle_policy_rx *rx, u32 i)
{
	const struct shuffle_rx_sched *m = &rx->msg[i];

	shuffle_policy_rx_arrived(rx, i, m->granted - m->received, m->granted);
}

struct window_row {
	const char	*name;
	u64		len[4];
	u64		received[4];
	u32		n;
	u32		unheard;	/* messages behind those */
	u32		unit;
	u64		max_out;
	u64		window[4];
};

/* max(1 unit, floor(max_out * msg_rem / total_rem)), equation 3.8 */
static const struct window_row window_rows[] = {
	{ "alone", { 1000 }, { 0 }, 1, 0, 10, 500, { 500 } },
	{ "equal", { 1000, 1000 }, { 0, 0 }, 2, 0, 10, 500, { 250, 250 } },
	{ "in proportion", { 1000, 3000 }, { 0, 0 }, 2, 0, 10, 1000, { 250, 750 } },
	{ "rounded down", { 1, 1, 1 }, { 0, 0, 0 }, 3, 0, 10, 1000, { 333, 333, 333 } },
	{ "what has arrived does not count", { 4000, 4000 }, { 3000, 1000 }, 2, 0, 10, 1000,
	  { 250, 750 } },
	{ "a unit at least", { 1, 999999 }, { 0, 0 }, 2, 0, 1400, 14000, { 1400, 13999 } },
	{ "a unit, though the limit is less", { 5000, 5000 }, { 0, 0 }, 2, 0, 1400, 1000,
	  { 1400, 1400 } },
	{ "no limit at all", { 5000, 5000 }, { 0, 0 }, 2, 0, 1400, 0, { 1400, 1400 } },
	{ "nothing left of one", { 5000, 5000 }, { 5000, 0 }, 2, 0, 100, 9000, { 100, 9000 } },
	/* section 3.4, caveat: the others are taken for as long as these on average */
	{ "one of four heard", { 1000 }, { 0 }, 1, 3, 10, 1000, { 250 } },
	{ "two of four heard", { 1000, 3000 }, { 0, 0 }, 2, 2, 10, 800, { 100, 300 } },
	{ "two of four heard, one is here", { 2000, 2000 }, { 2000, 0 }, 2, 2, 10, 900,
	  { 10, 300 } },
	{ "lengths above 4 GiB", { 3ULL << 40, 1ULL << 40 }, { 0, 0 }, 2, 0, 1400, 1000000,
	  { 750000, 250000 } },
	{ "a limit above 4 GiB", { 3000, 1000 }, { 0, 0 }, 2, 0, 1400, 1ULL << 40,
	  { 3ULL << 38, 1ULL << 38 } },
	/* the product has more than 64 bits, the limit is no multiple of the total */
	{ "both", { 3ULL << 30, 1ULL << 30 }, { 0, 0 }, 2, 0, 1400, (1ULL << 36) - 4,
	  { 3 * ((1ULL << 34) - 1), (1ULL << 34) - 1 } },
	{ "the limit 1.5 totals", { 2000000000, 1000000000 }, { 0, 0 }, 2, 0, 1400, 4500000000,
	  { 3000000000, 1500000000 } },
	{ "the limit of 64 MiB overcommitted 1000 times", { 3000000001, 999999999 }, { 0, 0 }, 2, 0,
	  1400, 64000ULL << 20, { 50331648016, 16777215983 } },
};

static void window_desc(const struct window_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(window, window_rows, window_desc);

static void policy_window__table(struct kunit *test)
{
	const struct window_row *t = test->param_value;
	struct shuffle_policy_rx *rx;
	u32 i;

	rx = make_rx(test, SHUFFLE_POLICY_GRPF, t->unit, t->n + t->unheard);
	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < t->n; i++) {
		shuffle_policy_rx_announced(rx, i, t->len[i], t->received[i], i);
		shuffle_policy_rx_arrived(rx, i, t->received[i], t->received[i]);
	}
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	for (i = 0; i < t->n; i++)
		KUNIT_EXPECT_EQ(test, shuffle_policy_window(rx, i, t->max_out), t->window[i]);
}

/* the windows of a column add up to the limit, but for the floor of one unit */
static void policy_window__sum(struct kunit *test)
{
	struct shuffle_rnd rnd = { 10 };
	u32 round;

	for (round = 0; round < 2000; round++) {
		u32 shift = shuffle_rnd_in(&rnd, 8, 60);
		u32 n = shuffle_rnd_in(&rnd, 1, MSGS);
		struct shuffle_policy_rx *rx;
		u64 max_out, total;
		u64 sum = 0;
		u32 i;

		rx = make_rx(test, SHUFFLE_POLICY_GRPF, 0, n);
		KUNIT_ASSERT_NOT_NULL(test, rx);
		for (i = 0; i < n; i++)
			shuffle_policy_rx_announced(rx, i, shuffle_rnd64(&rnd) >> shift, 0, i);
		total = shuffle_policy_rx_total_rem(rx);
		KUNIT_ASSERT_EQ(test, total, rx->rem);
		if (!total)
			continue;
		max_out = shuffle_rnd64(&rnd) >> shuffle_rnd_in(&rnd, 24, 60);
		for (i = 0; i < n; i++) {
			u64 w = shuffle_policy_window(rx, i, max_out);

			/* exact as long as no bit can be lost */
			if (total <= U32_MAX && max_out <= U32_MAX)
				KUNIT_ASSERT_EQ(test, w,
						shuffle_div64(max_out * rx->msg[i].len, total));
			sum += w;
		}
		KUNIT_ASSERT_LE(test, sum, max_out);
		/* rounding costs less than a byte of each, or a few 2^-31 of all */
		if (total <= U32_MAX)
			KUNIT_ASSERT_GT(test, sum + n, max_out);
		else
			KUNIT_ASSERT_GT(test, sum + n + 2 * n * ((max_out >> 32) + 1), max_out);
	}
}

/* what is absent is no message that is not heard yet, nor an empty one */
static void policy_window__absent(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 10, 6);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	shuffle_policy_rx_absent(rx, 4);
	shuffle_policy_rx_absent(rx, 5);
	shuffle_policy_rx_announced(rx, 0, 1000, 0, 0);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_total_rem(rx), 4000ULL);
	shuffle_policy_rx_announced(rx, 1, 3000, 0, 1);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_total_rem(rx), 8000ULL);
	shuffle_policy_rx_absent(rx, 2);
	shuffle_policy_rx_absent(rx, 3);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_total_rem(rx), 4000ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
}

/* one that makes no progress gains share as the others shrink (section 3.4) */
static void policy_window__straggler_gains(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 100, 4);
	u64 last = 0;
	u32 step, i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < 4; i++)
		shuffle_policy_rx_announced(rx, i, 100000, 0, i);
	for (step = 0; step < 1000; step++) {
		u64 w = shuffle_policy_window(rx, 0, 8000);

		KUNIT_ASSERT_GE(test, w, last);
		last = w;
		for (i = 1; i < 4; i++)
			shuffle_policy_rx_arrived(rx, i, 100, rx->msg[i].received + 100);
		if (step < 999)
			KUNIT_ASSERT_LE(test, shuffle_policy_window(rx, 1, 8000), 2000ULL);
	}
	KUNIT_EXPECT_EQ(test, shuffle_policy_window(rx, 0, 8000), 8000ULL);
}

static void policy_rx_heard__unscheduled_is_claimed(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 3);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	shuffle_policy_rx_announced(rx, 0, 10000, 4000, 1);
	shuffle_policy_rx_announced(rx, 2, 10000, 4000, 2);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 8000ULL);
	/* Above the limit, two thirds of 9000, for a while, and no grants until
	 * below it.
	 */
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 9000, 0, U64_MAX), SHUFFLE_NONE);
	shuffle_policy_rx_arrived(rx, 0, 2000, 2000);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 6000ULL);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 9000, 0, U64_MAX), SHUFFLE_NONE);
	shuffle_policy_rx_arrived(rx, 0, 2000, 4000);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 9000, 0, U64_MAX), 0U);
	KUNIT_EXPECT_EQ(test, rx->msg[0].granted, 5000ULL);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 5000ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
}

static void policy_rx_heard__empty_and_all_unscheduled(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 3);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	shuffle_policy_rx_announced(rx, 0, 0, 0, 1);
	shuffle_policy_rx_announced(rx, 1, 0, 64, 1);
	/* what a sender announces is rounded up, the length bounds it */
	shuffle_policy_rx_announced(rx, 2, 100, 128, 1);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 100ULL);
	KUNIT_EXPECT_EQ(test, rx->heap.n, 0U);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 10000, 0, U64_MAX), SHUFFLE_NONE);
	shuffle_policy_rx_arrived(rx, 2, 100, 100);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 0ULL);
	KUNIT_EXPECT_EQ(test, rx->rem, 0ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
}

/* a sender that rounds up to a packet sends more than it was granted */
static void policy_rx_arrived__beyond_the_grant(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 2);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	shuffle_policy_rx_announced(rx, 0, 10000, 0, 1);
	shuffle_policy_rx_announced(rx, 1, 10000, 0, 2);
	KUNIT_ASSERT_LT(test, shuffle_policy_rx_grant(rx, 1000, 0, U64_MAX), 2U);
	shuffle_policy_rx_arrived(rx, 0, 1400, 1400);
	KUNIT_EXPECT_EQ(test, rx->msg[0].granted, 1400ULL);
	KUNIT_EXPECT_EQ(test, rx->msg[0].received, 1400ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	/* a packet from farther on: what lies before it is on its way, too */
	shuffle_policy_rx_arrived(rx, 0, 100, 5000);
	KUNIT_EXPECT_EQ(test, rx->msg[0].granted, 5000ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	shuffle_policy_rx_arrived(rx, 0, 3500, 4900);
	shuffle_policy_rx_arrived(rx, 0, 5000, 10000);
	KUNIT_EXPECT_EQ(test, rx->msg[0].received, 10000ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
}

/* figure 3.6 seen from a receiver: the greatest fraction left to grant is next */
static void policy_rx_grant__greatest_fraction_first(struct kunit *test)
{
	static const u32 want[] = { 0, 1, 0, 1, 0, 0, 1, 0 };
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1, 2);
	u32 first, i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	shuffle_policy_rx_announced(rx, 0, 5, 0, 1);
	shuffle_policy_rx_announced(rx, 1, 3, 0, 2);
	first = shuffle_policy_rx_grant(rx, 100, 0, U64_MAX);
	KUNIT_ASSERT_LE(test, first, 1U);
	KUNIT_ASSERT_EQ(test, shuffle_policy_rx_grant(rx, 100, 0, U64_MAX), 1 - first);
	for (i = 2; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 100, 0, U64_MAX), want[i]);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 100, 0, U64_MAX), SHUFFLE_NONE);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 8ULL);
}

/* the batch at the start: until the limit, shared in proportion */
static void policy_rx_grant__batch_at_the_start(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 4);
	u32 i, grants = 0;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < 4; i++)
		shuffle_policy_rx_announced(rx, i, 100000ULL * (i + 1), 0, 17 * i);
	while (shuffle_policy_rx_grant(rx, 100000, 0, U64_MAX) != SHUFFLE_NONE) {
		SHUFFLE_ASSERT_OK(test, shuffle_model_rx(rx));
		grants++;
	}
	KUNIT_EXPECT_EQ(test, grants, 100U);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 100000ULL);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, rx->msg[i].granted, 10000ULL * (i + 1));
}

/* the first to be heard must not take every grant (end of section 3.4) */
static void policy_rx_grant__leaves_room_for_the_unheard(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 4);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	shuffle_policy_rx_announced(rx, 2, 100000, 0, 1);
	while (shuffle_policy_rx_grant(rx, 40000, 0, U64_MAX) != SHUFFLE_NONE)
		;
	/* a fourth of the limit, of which it has its window */
	KUNIT_EXPECT_EQ(test, shuffle_policy_window(rx, 2, 10000), 2500ULL);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 2000ULL);
	for (i = 0; i < 4; i++)
		if (i != 2)
			shuffle_policy_rx_announced(rx, i, 100000, 0, 50 + i);
	while (shuffle_policy_rx_grant(rx, 40000, 0, U64_MAX) != SHUFFLE_NONE)
		;
	for (i = 0; i < 4; i++)
		if (i != 2)
			KUNIT_EXPECT_EQ(test, rx->msg[i].granted, 10000ULL);
	/* now all are heard: the first one fills its window as soon as it delivers */
	deliver(rx, 2);
	while (shuffle_policy_rx_grant(rx, 40000, 0, U64_MAX) != SHUFFLE_NONE)
		;
	for (i = 0; i < 4; i++) {
		u64 out = rx->msg[i].granted - rx->msg[i].received;
		u64 window = shuffle_policy_window(rx, i, 40000);

		KUNIT_EXPECT_LE(test, out, window);
		KUNIT_EXPECT_GT(test, out + 1000, window);
	}
	KUNIT_EXPECT_LE(test, rx->outstanding, 40000ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
}

struct heard_row {
	u32	heard;
	u32	n;
	u64	max_out;
	u64	limit;
};

static const struct heard_row heard_rows[] = {
	{ 1, 1, 50000, 50000 }, { 1, 10, 50000, 5000 }, { 9, 10, 50000, 45000 },
	{ 10, 10, 50000, 50000 }, { 1, 3, 50000, 16666 }, { 2, 3, 50000, 33333 },
	{ 3, 16, 16000, 3000 },
	/* one grant is always given */
	{ 1, 16, 1600, 1000 }, { 16, 16, 100, 1000 },
};

static void heard_desc(const struct heard_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u of %u, %llu", t->heard, t->n,
		 (unsigned long long)t->max_out);
}

KUNIT_ARRAY_PARAM(heard, heard_rows, heard_desc);

/* Senders not heard of keep their part of the limit, also while windows are a unit
 * and would let the others have it.
 */
static void policy_rx_grant__part_of_the_heard(struct kunit *test)
{
	const struct heard_row *t = test->param_value;
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, t->n);
	u32 guard, got, i;
	u64 most = 0;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < t->heard; i++)
		shuffle_policy_rx_announced(rx, i, 64000, 0, i);
	/* those that have a grant deliver half of it and get more */
	for (guard = 0; guard < 100; guard++) {
		do {
			SHUFFLE_ASSERT_OK(test, shuffle_model_grant(rx, t->max_out, 0,
								    U64_MAX, &got));
			most = rx->outstanding > most ? rx->outstanding : most;
		} while (got != SHUFFLE_NONE);
		for (i = 0; i < t->heard; i++)
			if (rx->msg[i].granted > rx->msg[i].received)
				shuffle_policy_rx_arrived(rx, i, 500,
							  rx->msg[i].received + 500);
	}
	KUNIT_EXPECT_LE(test, most, t->limit);
	if (t->heard == t->n || t->limit == 1000)
		KUNIT_EXPECT_EQ(test, most, t->limit);
}

struct headroom_row {
	const char	*name;
	u64		len[4];
	u32		heard;
	u32		n;
	u32		headroom;
	u64		outstanding;	/* when no more is granted, of a limit of 10000 */
};

static const struct headroom_row headroom_rows[] = {
	{ "off", { 100000, 100000, 100000, 100000 }, 4, 4, 0, 10000 },
	{ "of one", { 100000, 100000, 100000, 100000 }, 4, 4, 1, 10000 },
	/* 13333, of which each has 3333 */
	{ "four equal", { 100000, 100000, 100000, 100000 }, 4, 4, 4, 13200 },
	{ "one half", { 50000, 100000, 50000 }, 3, 3, 4, 20000 },
	{ "two thirds", { 100000, 50000, 200000 }, 3, 3, 4, 23200 },
	/* the windows are 39955, and a unit instead of 44 */
	{ "most of it", { 900000, 1000 }, 2, 2, 4, 40000 },
	{ "most of it, not more than twice", { 900000, 1000 }, 2, 2, 2, 20000 },
	{ "alone", { 900000 }, 1, 1, 4, 40000 },
	{ "one not heard of", { 900000 }, 1, 2, 4, 2500 },
};

static void headroom_desc(const struct headroom_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(headroom, headroom_rows, headroom_desc);

/* the limit is for the others' part of the grants, up to a multiple of it */
static void policy_rx_grant__headroom(struct kunit *test)
{
	const struct headroom_row *t = test->param_value;
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 100, t->n);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	rx->sim.headroom = t->headroom;
	for (i = 0; i < t->heard; i++)
		shuffle_policy_rx_announced(rx, i, t->len[i], 0, i);
	while (shuffle_policy_rx_grant(rx, 10000, 0, U64_MAX) != SHUFFLE_NONE)
		SHUFFLE_ASSERT_OK(test, shuffle_model_rx(rx));
	KUNIT_EXPECT_EQ(test, rx->outstanding, t->outstanding);
}

/* who is largest is known again when the others deliver */
static void policy_rx_grant__headroom_follows(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 100, 3);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	rx->sim.headroom = 2;
	shuffle_policy_rx_announced(rx, 0, 10000, 10000, 0);
	shuffle_policy_rx_announced(rx, 1, 50000, 50000, 1);
	shuffle_policy_rx_announced(rx, 2, 20000, 20000, 2);
	KUNIT_EXPECT_EQ(test, rx->sim.largest, 1U);
	shuffle_policy_rx_arrived(rx, 1, 45000, 45000);
	shuffle_policy_rx_arrived(rx, 0, 1000, 1000);
	KUNIT_EXPECT_EQ(test, rx->sim.largest, 0U);
	shuffle_policy_rx_arrived(rx, 2, 1000, 1000);
	KUNIT_EXPECT_EQ(test, rx->sim.largest, 2U);
}

/* equations 3.13 and 3.14: a limit in proportion to what the slowest receiver has left */
static void policy_rx_grant__slowest(struct kunit *test)
{
	static const struct {
		u64	slowest;
		u32	power;
		u64	outstanding;
	} rows[] = {
		{ 0, 1, 40000 }, { 100000, 1, 40000 }, { 300000, 1, 40000 },
		{ 400000, 1, 40000 }, { 800000, 1, 20000 },
		{ 1600000, 1, 10000 }, { 4000000, 1, 4000 },
		{ 800000, 0, 40000 }, { 800000, 2, 10000 }, { 800000, 3, 4800 },
		/* one grant is always given */
		{ 1ULL << 40, 1, 100 }, { 1ULL << 47, 4, 100 },
	};
	u32 row, i;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 100, 4);

		KUNIT_ASSERT_NOT_NULL(test, rx);
		for (i = 0; i < 4; i++)
			shuffle_policy_rx_announced(rx, i, 100000, 0, i);
		rx->slowest = rows[row].slowest;
		rx->scale_back = rows[row].power;
		while (shuffle_policy_rx_grant(rx, 40000, 0, U64_MAX) != SHUFFLE_NONE)
			SHUFFLE_ASSERT_OK(test, shuffle_model_rx(rx));
		KUNIT_EXPECT_EQ(test, rx->outstanding, rows[row].outstanding);
	}
}

/* what a stalled sender owes is free for the others, until it delivers */
static void policy_rx_stalled__does_not_count(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 3);
	u64 granted;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < 3; i++)
		shuffle_policy_rx_announced(rx, i, 200000, 0, i);
	while (shuffle_policy_rx_grant(rx, 30000, 0, U64_MAX) != SHUFFLE_NONE)
		;
	KUNIT_ASSERT_EQ(test, rx->outstanding, 30000ULL);
	shuffle_policy_rx_stalled(rx, 1);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 20000ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	/* said twice, it counts once */
	shuffle_policy_rx_stalled(rx, 1);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 20000ULL);
	KUNIT_EXPECT_EQ(test, rx->rem, 600000ULL);
	/* its window is full all the same */
	granted = rx->msg[1].granted;
	deliver(rx, 0);
	while ((i = shuffle_policy_rx_grant(rx, 30000, 0, U64_MAX)) != SHUFFLE_NONE)
		KUNIT_EXPECT_NE(test, i, 1U);
	KUNIT_EXPECT_EQ(test, rx->msg[1].granted, granted);
	deliver(rx, 0);
	deliver(rx, 2);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 0ULL);
	/* a part of it arrives: the rest counts again */
	shuffle_policy_rx_arrived(rx, 1, 1000, 1000);
	KUNIT_EXPECT_FALSE(test, rx->msg[1].stalled);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 9000ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	shuffle_policy_rx_arrived(rx, 1, 9000, 10000);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 0ULL);
}

/* nothing is outstanding, or all at once arrives: the count stays right */
static void policy_rx_stalled__never_below_zero(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 2);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	shuffle_policy_rx_announced(rx, 0, 10000, 0, 1);
	shuffle_policy_rx_announced(rx, 1, 5000, 5000, 2);
	shuffle_policy_rx_stalled(rx, 0);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 5000ULL);
	shuffle_policy_rx_stalled(rx, 1);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 0ULL);
	/* beyond what was granted: the sender rounds up */
	shuffle_policy_rx_arrived(rx, 0, 1400, 1400);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 0ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	/* behind a gap: what lies before it is owed */
	shuffle_policy_rx_stalled(rx, 0);
	shuffle_policy_rx_arrived(rx, 0, 100, 5000);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 3500ULL);
	shuffle_policy_rx_arrived(rx, 1, 5000, 5000);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 3500ULL);
	shuffle_policy_rx_stalled(rx, 1);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 3500ULL);
	shuffle_policy_rx_stalled(rx, 0);
	shuffle_policy_rx_arrived(rx, 0, 8500, 10000);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 0ULL);
	KUNIT_EXPECT_EQ(test, rx->rem, 0ULL);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
}

/* a limit of one unit, each grants to one that waits for another: all get theirs */
static void policy_rx_stalled__the_next_has_its_turn(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 4);
	u32 seen = 0;
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < 4; i++)
		shuffle_policy_rx_announced(rx, i, 20000, 0, i);
	for (k = 0; k < 4; k++) {
		i = shuffle_policy_rx_grant(rx, 1000, 0, U64_MAX);
		KUNIT_ASSERT_LT(test, i, 4U);
		KUNIT_EXPECT_EQ(test, seen & 1U << i, 0U);
		seen |= 1U << i;
		KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 1000, 0, U64_MAX),
				SHUFFLE_NONE);
		shuffle_policy_rx_stalled(rx, i);
		SHUFFLE_ASSERT_OK(test, shuffle_model_rx(rx));
	}
	KUNIT_EXPECT_EQ(test, seen, 15U);
	/* all have stalled and hold a unit each: nobody gets more */
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 1000, 0, U64_MAX), SHUFFLE_NONE);
	deliver(rx, 3);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 1000, 0, U64_MAX), 3U);
}

/* Hadoop: a stalled one is not one of the C, and gets the rest another time */
static void policy_rx_stalled__hadoop(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_HADOOP, 1000, 3);
	u32 first, guard, i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	rx->hadoop_c = 1;
	for (i = 0; i < 3; i++)
		shuffle_policy_rx_announced(rx, i, 20000, 0, i * 99);
	first = shuffle_policy_rx_grant(rx, 1, 1000, U64_MAX);
	KUNIT_ASSERT_LT(test, first, 3U);
	KUNIT_ASSERT_EQ(test, shuffle_policy_rx_grant(rx, 1, 1000, U64_MAX), SHUFFLE_NONE);
	shuffle_policy_rx_stalled(rx, first);
	KUNIT_EXPECT_EQ(test, rx->hadoop_active, 0U);
	SHUFFLE_ASSERT_OK(test, shuffle_model_rx(rx));
	for (guard = 0; guard < 38; guard++) {
		KUNIT_ASSERT_EQ(test, rx->outstanding, guard ? 1000ULL : 0ULL);
		for (i = 0; i < 3; i++)
			if (i != first)
				deliver(rx, i);
		SHUFFLE_ASSERT_OK(test, shuffle_model_grant(rx, 1, 1000, U64_MAX, &i));
		KUNIT_EXPECT_NE(test, i, first);
	}
	for (guard = 0; guard < 100 && rx->rem; guard++) {
		for (i = 0; i < 3; i++)
			deliver(rx, i);
		SHUFFLE_ASSERT_OK(test, shuffle_model_grant(rx, 1, 1000, U64_MAX, &i));
	}
	KUNIT_EXPECT_EQ(test, rx->rem, 0ULL);
	KUNIT_EXPECT_EQ(test, rx->hadoop_active, 0U);
}

/* a sender that does not deliver holds its window and no more; the rest goes on */
static void policy_rx_grant__stalled_sender(struct kunit *test)
{
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1000, 3);
	u32 guard, i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < 3; i++)
		shuffle_policy_rx_announced(rx, i, 200000, 0, i);
	for (guard = 0; guard < 2000; guard++) {
		while (shuffle_policy_rx_grant(rx, 30000, 0, U64_MAX) != SHUFFLE_NONE)
			;
		if (!rx->msg[1].granted)
			continue;
		deliver(rx, 0);
		deliver(rx, 2);
		SHUFFLE_ASSERT_OK(test, shuffle_model_rx(rx));
	}
	KUNIT_EXPECT_EQ(test, rx->msg[0].received, 200000ULL);
	KUNIT_EXPECT_EQ(test, rx->msg[2].received, 200000ULL);
	KUNIT_EXPECT_GT(test, rx->msg[1].granted, 0ULL);
	KUNIT_EXPECT_LE(test, rx->msg[1].granted, 30000ULL);
	/* it comes back and gets all */
	for (guard = 0; guard < 2000 && rx->rem; guard++) {
		deliver(rx, 1);
		while (shuffle_policy_rx_grant(rx, 30000, 0, U64_MAX) != SHUFFLE_NONE)
			;
	}
	KUNIT_EXPECT_EQ(test, rx->rem, 0ULL);
}

static struct kunit_case policy_rx_cases[] = {
	KUNIT_CASE_PARAM(policy_window__table, window_gen_params),
	KUNIT_CASE(policy_window__sum),
	KUNIT_CASE(policy_window__absent),
	KUNIT_CASE(policy_window__straggler_gains),
	KUNIT_CASE(policy_rx_heard__unscheduled_is_claimed),
	KUNIT_CASE(policy_rx_heard__empty_and_all_unscheduled),
	KUNIT_CASE(policy_rx_arrived__beyond_the_grant),
	KUNIT_CASE(policy_rx_grant__greatest_fraction_first),
	KUNIT_CASE(policy_rx_grant__batch_at_the_start),
	KUNIT_CASE(policy_rx_grant__leaves_room_for_the_unheard),
	KUNIT_CASE(policy_rx_grant__stalled_sender),
	KUNIT_CASE_PARAM(policy_rx_grant__part_of_the_heard, heard_gen_params),
	KUNIT_CASE_PARAM(policy_rx_grant__headroom, headroom_gen_params),
	KUNIT_CASE(policy_rx_grant__headroom_follows),
	KUNIT_CASE(policy_rx_grant__slowest),
	KUNIT_CASE(policy_rx_stalled__does_not_count),
	KUNIT_CASE(policy_rx_stalled__never_below_zero),
	KUNIT_CASE(policy_rx_stalled__the_next_has_its_turn),
	KUNIT_CASE(policy_rx_stalled__hadoop),
	{}
};

struct kunit_suite shuffle_policy_rx_suite = {
	.name = "shuffle_policy_rx",
	.test_cases = policy_rx_cases,
};
