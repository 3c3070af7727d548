// SPDX-License-Identifier: GPL-2.0-only
/* What one grant is: room for it, several units, and the policies beside GRPF. */
#include "column.h"
#include "model.h"

#define MSGS	16U

struct room_row {
	u64	left;	/* of a message */
	u64	room;
	bool	granted;
};

static const struct room_row room_rows[] = {
	{ 5000, 0, false }, { 5000, 999, false }, { 5000, 1000, true }, { 5000, 1001, true },
	{ 300, 299, false }, { 300, 300, true }, { 1, 0, false }, { 1, 1, true },
	/* a short rest goes with the last unit, or not at all */
	{ 1499, 1000, false }, { 1499, 1498, false }, { 1499, 1499, true },
	{ 1500, 999, false }, { 1500, 1000, true },
};

static void room_desc(const struct room_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu in %llu", (unsigned long long)t->left,
		 (unsigned long long)t->room);
}

KUNIT_ARRAY_PARAM(room, room_rows, room_desc);

/* a grant never promises more than the memory that is left */
static void policy_rx_grant__room(struct kunit *test)
{
	const struct room_row *t = test->param_value;
	u8 kind;

	for (kind = 0; kind < SHUFFLE_POLICY_KINDS; kind++) {
		struct shuffle_policy_rx *rx = make_rx(test, kind, 1000, 1);
		u32 got;

		KUNIT_ASSERT_NOT_NULL(test, rx);
		shuffle_policy_rx_announced(rx, 0, t->left, 0, 1);
		got = shuffle_policy_rx_grant(rx, 100000, 100000, t->room);
		KUNIT_EXPECT_EQ(test, got, t->granted ? 0 : SHUFFLE_NONE);
		/* refused for lack of room, it is asked again later */
		got = shuffle_policy_rx_grant(rx, 100000, 100000, U64_MAX);
		if (!t->granted || t->left >= 1500)
			KUNIT_EXPECT_EQ(test, got, 0U);
		else
			KUNIT_EXPECT_EQ(test, got, SHUFFLE_NONE);
		SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	}
}

struct burst_row {
	const char	*name;
	u8		kind;
	bool		constant;
	bool		stalled;
	u64		len;
	u32		burst;
	u64		room;
	u64		granted;	/* units of 1000 */
};

static const struct burst_row burst_rows[] = {
	{ "none", SHUFFLE_POLICY_GRPF, false, false, 1000000, 0, U64_MAX, 1000 },
	{ "one", SHUFFLE_POLICY_GRPF, false, false, 1000000, 1, U64_MAX, 1000 },
	{ "four", SHUFFLE_POLICY_GRPF, false, false, 1000000, 4, U64_MAX, 4000 },
	{ "an eighth: one", SHUFFLE_POLICY_GRPF, false, false, 15999, 4, U64_MAX, 1000 },
	{ "an eighth: two", SHUFFLE_POLICY_GRPF, false, false, 16000, 4, U64_MAX, 2000 },
	{ "in whole units", SHUFFLE_POLICY_GRPF, false, false, 23999, 4, U64_MAX, 2000 },
	{ "an eighth: three", SHUFFLE_POLICY_GRPF, false, false, 24000, 4, U64_MAX, 3000 },
	{ "short", SHUFFLE_POLICY_GRPF, false, false, 1499, 4, U64_MAX, 1499 },
	{ "endless", SHUFFLE_POLICY_GRPF, false, false, 1ULL << 50, 62, U64_MAX, 62000 },
	{ "just room", SHUFFLE_POLICY_GRPF, false, false, 1000000, 4, 4000, 4000 },
	{ "no room: one", SHUFFLE_POLICY_GRPF, false, false, 1000000, 4, 3999, 1000 },
	{ "no room for one", SHUFFLE_POLICY_GRPF, false, false, 1000000, 4, 999, 0 },
	{ "has stalled", SHUFFLE_POLICY_GRPF, false, true, 1000000, 4, U64_MAX, 1000 },
	{ "constant windows", SHUFFLE_POLICY_GRPF, true, false, 1000000, 4, U64_MAX, 1000 },
	{ "SRPT", SHUFFLE_POLICY_SRPT, false, false, 1000000, 4, U64_MAX, 4000 },
	{ "Hadoop", SHUFFLE_POLICY_HADOOP, false, false, 1000000, 4, U64_MAX, 1000 },
};

static void burst_desc(const struct burst_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(burst, burst_rows, burst_desc);

static void policy_rx_grant__burst(struct kunit *test)
{
	const struct burst_row *t = test->param_value;
	struct shuffle_policy_rx *rx = make_rx(test, t->kind, 1000, 1);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	rx->burst = t->burst;
	rx->constant_window = t->constant;
	shuffle_policy_rx_announced(rx, 0, t->len, 0, 1);
	if (t->stalled)
		shuffle_policy_rx_stalled(rx, 0);
	KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 100000, 2000, t->room),
			t->granted ? 0 : SHUFFLE_NONE);
	KUNIT_EXPECT_EQ(test, rx->msg[0].granted, t->granted);
	SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
}

/* an eighth of two bytes is two units of one: not what two and a unit would be */
static void policy_rx_grant__burst_of_bytes(struct kunit *test)
{
	static const u64 granted[][2] = { { 15, 1 }, { 16, 2 }, { 23, 2 }, { 24, 3 }, { 40, 4 } };
	u32 row;

	for (row = 0; row < ARRAY_SIZE(granted); row++) {
		struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_GRPF, 1, 1);

		KUNIT_ASSERT_NOT_NULL(test, rx);
		rx->burst = 4;
		shuffle_policy_rx_announced(rx, 0, granted[row][0], 0, 1);
		KUNIT_EXPECT_EQ(test, shuffle_policy_rx_grant(rx, 1000, 1000, U64_MAX), 0U);
		KUNIT_EXPECT_EQ(test, rx->msg[0].granted, granted[row][1]);
		SHUFFLE_EXPECT_OK(test, shuffle_model_rx(rx));
	}
}

struct srpt_row {
	const char	*name;
	u8		kind;
	u32		first[3];
};

static const struct srpt_row srpt_rows[] = {
	{ "SRPT", SHUFFLE_POLICY_SRPT, { 1, 2, 0 } },
	{ "GRPT", SHUFFLE_POLICY_GRPT, { 0, 2, 1 } },
};

static void srpt_desc(const struct srpt_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(srpt, srpt_rows, srpt_desc);

static void policy_rx_grant__by_bytes_left(struct kunit *test)
{
	static const u64 len[] = { 9000, 1000, 5000 };
	const struct srpt_row *t = test->param_value;
	struct shuffle_policy_rx *rx = make_rx(test, t->kind, 1000, 3);
	bool seen[3] = { false };
	u32 i, k = 0;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	for (i = 0; i < 3; i++)
		shuffle_policy_rx_announced(rx, i, len[i], 0, i);
	/* the order in which they get their first grant */
	while ((i = shuffle_policy_rx_grant(rx, 100000, 0, U64_MAX)) != SHUFFLE_NONE) {
		if (seen[i])
			continue;
		seen[i] = true;
		KUNIT_EXPECT_EQ(test, i, t->first[k++]);
	}
	KUNIT_EXPECT_EQ(test, k, 3U);
	KUNIT_EXPECT_EQ(test, rx->outstanding, 15000ULL);
}

struct hadoop_row {
	u32	c;
	u64	rtt;
	u64	window;
};

static const struct hadoop_row hadoop_rows[] = {
	{ 1, 3000, 3000 }, { 2, 3000, 3000 }, { 5, 10000, 10000 }, { 5, 3500, 3000 },
	{ 5, 10, 1000 }, { 16, 3000, 3000 }, { 100, 3000, 3000 },
};

static void hadoop_desc(const struct hadoop_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "C %u, window %llu", t->c,
		 (unsigned long long)t->rtt);
}

KUNIT_ARRAY_PARAM(hadoop, hadoop_rows, hadoop_desc);

/* C messages at a time, a window of RTTbytes each, until each is granted whole */
static void policy_rx_grant__hadoop(struct kunit *test)
{
	const struct hadoop_row *t = test->param_value;
	struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_HADOOP, 1000, MSGS);
	u32 pulled = t->c < MSGS ? t->c : MSGS;
	struct shuffle_rnd rnd = { t->c };
	u32 guard, i;

	KUNIT_ASSERT_NOT_NULL(test, rx);
	rx->hadoop_c = t->c;
	for (i = 0; i < MSGS; i++)
		shuffle_policy_rx_announced(rx, i, 40000, 0, (u32)shuffle_rnd64(&rnd));
	while (shuffle_policy_rx_grant(rx, 1, t->rtt, U64_MAX) != SHUFFLE_NONE)
		;
	KUNIT_EXPECT_EQ(test, rx->hadoop_active, pulled);
	KUNIT_EXPECT_EQ(test, rx->outstanding, pulled * t->window);

	for (guard = 0; guard < 100000 && rx->rem; guard++) {
		u32 partly = 0;

		i = shuffle_rnd_below(&rnd, MSGS);
		if (rx->msg[i].granted > rx->msg[i].received)
			shuffle_policy_rx_arrived(rx, i, 1000, rx->msg[i].received + 1000);
		while (shuffle_policy_rx_grant(rx, 1, t->rtt, U64_MAX) != SHUFFLE_NONE)
			;
		SHUFFLE_ASSERT_OK(test, shuffle_model_rx(rx));
		for (i = 0; i < MSGS; i++) {
			const struct shuffle_rx_sched *m = &rx->msg[i];

			partly += m->granted && m->granted < m->len;
			KUNIT_ASSERT_LE(test, m->granted - m->received, t->window);
		}
		KUNIT_ASSERT_LE(test, partly, t->c);
	}
	KUNIT_EXPECT_EQ(test, rx->rem, 0ULL);
	KUNIT_EXPECT_EQ(test, rx->hadoop_active, 0U);
}

/* which ones are pulled first is random, not the order of ranks */
static void policy_rx_grant__hadoop_is_random(struct kunit *test)
{
	u32 first[MSGS] = { 0 };
	u32 round, i;

	for (round = 0; round < 800; round++) {
		struct shuffle_policy_rx *rx = make_rx(test, SHUFFLE_POLICY_HADOOP, 1000, MSGS);

		KUNIT_ASSERT_NOT_NULL(test, rx);
		for (i = 0; i < MSGS; i++)
			shuffle_policy_rx_announced(rx, i, 40000, 0, round * 1000 + i * 16);
		i = shuffle_policy_rx_grant(rx, 1, 1000, U64_MAX);
		KUNIT_ASSERT_LT(test, i, MSGS);
		first[i]++;
	}
	for (i = 0; i < MSGS; i++) {
		KUNIT_EXPECT_GT(test, first[i], 15U);
		KUNIT_EXPECT_LT(test, first[i], 100U);
	}
}

static struct kunit_case policy_grant_cases[] = {
	KUNIT_CASE_PARAM(policy_rx_grant__room, room_gen_params),
	KUNIT_CASE_PARAM(policy_rx_grant__burst, burst_gen_params),
	KUNIT_CASE(policy_rx_grant__burst_of_bytes),
	KUNIT_CASE_PARAM(policy_rx_grant__by_bytes_left, srpt_gen_params),
	KUNIT_CASE_PARAM(policy_rx_grant__hadoop, hadoop_gen_params),
	KUNIT_CASE(policy_rx_grant__hadoop_is_random),
	{}
};

struct kunit_suite shuffle_policy_grant_suite = {
	.name = "shuffle_policy_grant",
	.test_cases = policy_grant_cases,
};
