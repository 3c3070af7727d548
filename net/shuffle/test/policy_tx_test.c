// SPDX-License-Identifier: GPL-2.0-only
/*
 * Priorities, and the sender's side of the schedule.  Numbers of sections and
 * figures are those of Li, "Efficient Shuffle for Flash Burst Computing".
 */
#include "harness.h"
#include "model.h"

#define ONE	0x100000000ULL	/* a GRPF priority of 1.0 */

static struct shuffle_policy_tx *make_tx(struct kunit *test, u8 kind, u32 seed,
					 u32 unit, const u64 *len, u32 n)
{
	struct shuffle_policy_tx *tx = kunit_kcalloc(test, 1, sizeof(*tx), GFP_KERNEL);
	u32 i;

	if (!tx)
		return NULL;
	tx->kind = kind;
	tx->seed = seed;
	tx->members = n;
	tx->unit = unit;
	tx->n = n;
	tx->msg = kunit_kcalloc(test, n, sizeof(*tx->msg), GFP_KERNEL);
	tx->heap.node = kunit_kcalloc(test, n, sizeof(*tx->heap.node), GFP_KERNEL);
	tx->served = kunit_kcalloc(test, n, sizeof(*tx->served), GFP_KERNEL);
	if (!tx->msg || !tx->heap.node || !tx->served)
		return NULL;
	for (i = 0; i < n; i++)
		tx->msg[i].len = len[i];
	return tx;
}

static void set_limit(struct shuffle_policy_tx *tx, u32 i, u64 limit)
{
	tx->msg[i].limit = limit;
	shuffle_policy_tx_update(tx, i);
}

static void open_all(struct shuffle_policy_tx *tx)
{
	u32 i;

	for (i = 0; i < tx->n; i++)
		set_limit(tx, i, tx->msg[i].len);
}

/* send one unit of what the schedule picks */
static u32 send_unit(struct shuffle_policy_tx *tx)
{
	u32 i = shuffle_policy_tx_pick(tx);
	u64 left;

	if (i == SHUFFLE_NONE)
		return i;
	left = tx->msg[i].limit - tx->msg[i].next;
	tx->msg[i].next += left < tx->unit ? left : tx->unit;
	shuffle_policy_tx_sent(tx, i);
	return i;
}

struct prio_row {
	const char	*name;
	u8		kind;
	u64		len;
	u64		off;
	u32		unit;
	u64		lo;	/* the priority is from here */
	u64		hi;	/* to here, for every seed */
};

static const struct prio_row prio_rows[] = {
	{ "GRPF, an empty message", SHUFFLE_POLICY_GRPF, 0, 0, 1400, U64_MAX, U64_MAX },
	{ "GRPF, one byte", SHUFFLE_POLICY_GRPF, 1, 0, 1400, ONE, ONE },
	{ "GRPF, 1 of 5", SHUFFLE_POLICY_GRPF, 5, 4, 1, 858993459, 858993459 },
	{ "GRPF, 2 of 3", SHUFFLE_POLICY_GRPF, 3, 1, 1, 2863311530U, 2863311530U },
	/* section 3.3: "in the range of (0.4, 0.5]" */
	{ "GRPF, the 6th of 10 packets", SHUFFLE_POLICY_GRPF, 14000, 7000, 1400,
	  1717986918 + 1, ONE / 2 },
	{ "GRPF, the first of 10 packets", SHUFFLE_POLICY_GRPF, 14000, 0, 1400,
	  3865470566U + 1, ONE },
	{ "GRPF, a last packet of 100 bytes", SHUFFLE_POLICY_GRPF, 2900, 2800, 1400,
	  1481023, 148102320 },
	{ "GRPF, the last byte", SHUFFLE_POLICY_GRPF, 1000000, 999999, 1400, 4294, 4294 },
	{ "GRPF, the middle of 1 TiB", SHUFFLE_POLICY_GRPF, 1ULL << 40, 1ULL << 39, 65536,
	  ONE / 2 - 256, ONE / 2 },
	{ "GRPF, the greatest length", SHUFFLE_POLICY_GRPF, U64_MAX, 0, 65536,
	  ONE - 1, ONE },
	{ "GRPF, a unit larger than the message", SHUFFLE_POLICY_GRPF, 10, 0, U32_MAX,
	  429496729, ONE },
	{ "SRPT, all left", SHUFFLE_POLICY_SRPT, 1000, 0, 100, U64_MAX - 1000, U64_MAX - 1000 },
	{ "SRPT, 1 byte left", SHUFFLE_POLICY_SRPT, 1000, 999, 100, U64_MAX - 1, U64_MAX - 1 },
	{ "SRPT, an empty message", SHUFFLE_POLICY_SRPT, 0, 0, 100, U64_MAX, U64_MAX },
	{ "GRPT, all left", SHUFFLE_POLICY_GRPT, 1000, 0, 100, 1000, 1000 },
	{ "GRPT, 1 byte left", SHUFFLE_POLICY_GRPT, 1000, 999, 100, 1, 1 },
	{ "Hadoop, the first unit", SHUFFLE_POLICY_HADOOP, 1000, 0, 100, U64_MAX, U64_MAX },
	{ "Hadoop, inside the first unit", SHUFFLE_POLICY_HADOOP, 1000, 99, 100,
	  U64_MAX, U64_MAX },
	{ "Hadoop, the third unit", SHUFFLE_POLICY_HADOOP, 1000, 200, 100,
	  U64_MAX - 2, U64_MAX - 2 },
	{ "Hadoop, no unit", SHUFFLE_POLICY_HADOOP, 1000, 200, 0, U64_MAX, U64_MAX },
};

static void prio_desc(const struct prio_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(prio, prio_rows, prio_desc);

static void policy_prio__table(struct kunit *test)
{
	const struct prio_row *t = test->param_value;
	u32 seed;

	for (seed = 0; seed < 1000; seed++) {
		u64 p = shuffle_policy_prio(t->kind, seed * 2654435761U, t->len, t->off,
					    t->unit);

		KUNIT_EXPECT_GE(test, p, t->lo);
		KUNIT_EXPECT_LE(test, p, t->hi);
	}
}

/* whatever the seed, a later unit of a message never comes before an earlier one */
static void policy_prio__falls_with_the_offset(struct kunit *test)
{
	struct shuffle_rnd rnd = { 7 };
	u32 round;

	for (round = 0; round < 2000; round++) {
		u8 kind = (u8)shuffle_rnd_below(&rnd, SHUFFLE_POLICY_KINDS);
		u64 len = 1 + (shuffle_rnd64(&rnd) >> shuffle_rnd_in(&rnd, 8, 63));
		u32 unit = shuffle_rnd_in(&rnd, 1, 65536);
		u32 seed = (u32)shuffle_rnd64(&rnd);
		u64 last = U64_MAX;
		u64 off = 0;
		u32 k;

		if (kind == SHUFFLE_POLICY_SRPT)
			continue;	/* there the priority rises */
		for (k = 0; k < 20 && off < len; k++, off += unit) {
			u64 p = shuffle_policy_prio(kind, seed, len, off, unit);

			KUNIT_ASSERT_LE(test, p, last);
			if (kind == SHUFFLE_POLICY_GRPF)
				KUNIT_ASSERT_LE(test, p, ONE);
			last = p;
		}
	}
}

/* the randomness that keeps equal messages apart (section 3.3) */
static void policy_prio__offset_is_spread(struct kunit *test)
{
	const u32 unit = 4096;
	u32 quarter[4] = { 0 };
	u32 equal = 0;
	u64 last = 0;
	u32 i;

	/* seeds as a row has them: one after the other */
	for (i = 0; i < 1000; i++) {
		u64 p = shuffle_policy_prio(SHUFFLE_POLICY_GRPF, 12345 + i, unit, 0, unit);
		u64 offset = unit - ((p * unit) >> 32);

		KUNIT_ASSERT_LT(test, offset, (u64)unit);
		quarter[offset / (unit / 4)]++;
		equal += p == last;
		last = p;
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_GT(test, quarter[i], 190U);
		KUNIT_EXPECT_LT(test, quarter[i], 310U);
	}
	KUNIT_EXPECT_LT(test, equal, 5U);
}

/* the offset inside one unit tells nothing of that inside the next */
static void policy_prio__offset_differs_by_unit(struct kunit *test)
{
	const u64 len = 1000 * 4096;
	u32 half = 0;
	u32 i;

	for (i = 0; i < 1000; i++) {
		u64 whole = len - i * 4096ULL;
		u64 p = shuffle_policy_prio(SHUFFLE_POLICY_GRPF, 99, len, i * 4096ULL, 4096);

		half += whole - ((p * len) >> 32) > 2048;
	}
	KUNIT_EXPECT_GT(test, half, 400U);
	KUNIT_EXPECT_LT(test, half, 600U);
}

/* section 3.4, last paragraph: both ends compute the same priorities */
static void policy_prio__seeds_agree_at_both_ends(struct kunit *test)
{
	static const u64 len[] = { 100000, 7, 1400, 123456789 };
	const u32 seed = 0xfffffffeU;	/* of the operation; wraps around in a row */
	struct shuffle_heap_node node = { 0 };
	struct shuffle_rx_sched msg = { 0 };
	struct shuffle_policy_tx *tx = NULL;
	u32 k, i;

	for (k = 0; k < 16; k++) {
		u32 rank = k / 4;

		i = k % 4;
		if (!i) {
			tx = make_tx(test, SHUFFLE_POLICY_GRPF, seed, 1400, len, 4);
			KUNIT_ASSERT_NOT_NULL(test, tx);
			tx->rank = rank;
			open_all(tx);
		}
		struct shuffle_policy_rx rx = {
			.kind = SHUFFLE_POLICY_GRPF, .unit = 1400, .n = 1, .unannounced = 1,
			.heap = { .node = &node }, .msg = &msg,
		};

		memset(&node, 0, sizeof(node));
		memset(&msg, 0, sizeof(msg));
		shuffle_policy_rx_announced(&rx, 0, len[i], 0,
					    shuffle_policy_seed(seed, rank, i, 4));
		while (tx->msg[i].next < len[i] && tx->msg[i].next < 50 * 1400) {
			KUNIT_ASSERT_EQ(test, node.key, shuffle_heap_key(&tx->heap, i));
			tx->msg[i].next += 1400;
			shuffle_policy_tx_update(tx, i);
			KUNIT_ASSERT_EQ(test, shuffle_policy_rx_grant(&rx, U64_MAX, 0, U64_MAX),
					0U);
		}
	}
}

struct seed_row {
	u32	seed;
	u32	from;
	u32	to;
	u32	members;
	u32	want;
};

static const struct seed_row seed_rows[] = {
	{ 100, 0, 0, 1, 100 }, { 100, 0, 0, 4, 100 }, { 100, 0, 3, 4, 103 },
	{ 100, 3, 3, 4, 100 }, { 100, 3, 0, 4, 101 }, { 100, 3, 2, 4, 103 },
	{ 100, 2, 1, 3, 102 }, { 0, 65535, 65534, 65536, 65535 },
	{ U32_MAX, 0, 1, 2, 0 }, { U32_MAX, 1, 0, 2, 0 }, { U32_MAX, 1, 1, 2, U32_MAX },
};

static void seed_desc(const struct seed_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u to %u of %u, %#x", t->from, t->to,
		 t->members, t->seed);
}

KUNIT_ARRAY_PARAM(seed, seed_rows, seed_desc);

static void policy_seed__table(struct kunit *test)
{
	const struct seed_row *t = test->param_value;

	KUNIT_EXPECT_EQ(test, shuffle_policy_seed(t->seed, t->from, t->to, t->members),
			t->want);
}

/* offset of unit @k in 2^-28 of a unit; nothing is lost with these lengths */
static u32 offset_in_unit(u32 seed, u32 k)
{
	const u32 unit = 1U << 28;
	const u64 len = 8ULL * unit;
	u64 p = shuffle_policy_prio(SHUFFLE_POLICY_GRPF, seed, len, (u64)k * unit, unit);

	return (u32)(len - (u64)k * unit - (p >> 1));
}

struct spread_row {
	u32	n;	/* members */
	u32	seed;
};

static const struct spread_row spread_rows[] = {
	{ 1, 5 }, { 2, 5 }, { 3, 0 }, { 4, 12345 }, { 5, U32_MAX }, { 8, U32_MAX - 3 },
	{ 12, 0x80000000U }, { 16, 1 }, { 40, 77 }, { 100, 0xdeadbeefU }, { 128, 9 },
};

static void spread_desc(const struct spread_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u members, %#x", t->n, t->seed);
}

KUNIT_ARRAY_PARAM(spread, spread_rows, spread_desc);

/* greatest way from one of @n offsets to the next, around the end of the unit */
static u32 greatest_gap(u32 *o, u32 n)
{
	u32 most, i, k;

	for (i = 1; i < n; i++) {
		u32 x = o[i];

		for (k = i; k && o[k - 1] > x; k--)
			o[k] = o[k - 1];
		o[k] = x;
	}
	most = o[0] + (1U << 28) - o[n - 1];
	for (i = 1; i < n; i++)
		most = o[i] - o[i - 1] > most ? o[i] - o[i - 1] : most;
	return most;
}

/* All send units of equal messages: a receiver's turn comes evenly, and so do a
 * sender's receivers.
 */
static void policy_seed__offsets_are_spread(struct kunit *test)
{
	const struct spread_row *t = test->param_value;
	u32 *o = kunit_kcalloc(test, t->n, sizeof(*o), GFP_KERNEL);
	u32 me, i, k;

	KUNIT_ASSERT_NOT_NULL(test, o);
	for (k = 0; k < 8; k++) {
		for (me = 0; me < t->n; me += 1 + t->n / 8) {
			for (i = 0; i < t->n; i++)
				o[i] = offset_in_unit(shuffle_policy_seed(t->seed, i, me, t->n), k);
			KUNIT_ASSERT_LT(test, (u64)greatest_gap(o, t->n) * t->n, 3ULL << 28);
			for (i = 0; i < t->n; i++)
				o[i] = offset_in_unit(shuffle_policy_seed(t->seed, me, i, t->n), k);
			KUNIT_ASSERT_LT(test, (u64)greatest_gap(o, t->n) * t->n, 3ULL << 28);
		}
	}
}

/* in step, no two senders of equal messages ever send to the same receiver */
static void policy_seed__receivers_differ(struct kunit *test)
{
	static const u64 len[] = { 28000, 28000, 28000, 28000, 28000, 28000, 28000, 28000 };
	const u32 n = ARRAY_SIZE(len);
	struct shuffle_policy_tx *tx[8];
	u32 round, step, i;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < n; i++) {
			tx[i] = make_tx(test, SHUFFLE_POLICY_GRPF, round * 0x10325476U, 2800,
					len, n);
			KUNIT_ASSERT_NOT_NULL(test, tx[i]);
			tx[i]->rank = i;
			open_all(tx[i]);
		}
		for (step = 0; step < 10 * n; step++) {
			u32 taken = 0;

			for (i = 0; i < n; i++) {
				u32 to = send_unit(tx[i]);

				KUNIT_ASSERT_LT(test, to, n);
				taken |= 1U << to;
			}
			KUNIT_ASSERT_EQ(test, taken, 0xffU);
		}
	}
}

struct amount_row {
	u64	left;
	u32	unit;
	u64	want;
};

static const struct amount_row amount_rows[] = {
	{ 0, 1000, 0 }, { 1, 1000, 1 }, { 999, 1000, 999 }, { 1000, 1000, 1000 },
	{ 1001, 1000, 1001 }, { 1499, 1000, 1499 }, { 1500, 1000, 1000 },
	{ 2000, 1000, 1000 }, { U64_MAX, 1000, 1000 }, { 1, 1, 1 }, { 2, 1, 1 },
	{ 2, 2, 2 }, { 3, 2, 2 }, { 3, 3, 3 }, { 4, 3, 3 }, { U64_MAX, 1U << 31, 1U << 31 },
	{ (1ULL << 32) + 5, 65536, 65536 },
};

static void amount_desc(const struct amount_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu in units of %u",
		 (unsigned long long)t->left, t->unit);
}

KUNIT_ARRAY_PARAM(amount, amount_rows, amount_desc);

static void policy_amount__table(struct kunit *test)
{
	const struct amount_row *t = test->param_value;

	KUNIT_EXPECT_EQ(test, shuffle_policy_amount(t->left, t->unit), t->want);
}

/* fractions left: m1 1, .8, .6, .4, .2 and m2 1, .67, .33; the first two tie */
static void policy_tx_pick__figure_3_6(struct kunit *test)
{
	static const u64 len[] = { 5, 3 };
	static const u32 want[] = { 0, 1, 0, 1, 0, 0, 1, 0 };
	struct shuffle_policy_tx *tx = make_tx(test, SHUFFLE_POLICY_GRPF, 1, 1, len, 2);
	u32 first, i;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	open_all(tx);
	first = send_unit(tx);
	KUNIT_ASSERT_LE(test, first, 1U);
	KUNIT_ASSERT_EQ(test, send_unit(tx), 1 - first);
	for (i = 2; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_EQ(test, send_unit(tx), want[i]);
	KUNIT_EXPECT_EQ(test, send_unit(tx), SHUFFLE_NONE);
	SHUFFLE_EXPECT_OK(test, shuffle_model_tx(tx));
}

/* with real packets, the order differs from the figure's only where two packets'
 * ranges of priorities overlap: 0.67 with (0.6, 0.8], 0.33 with (0.2, 0.4] ...
 */
static void policy_tx_pick__figure_3_6_randomised(struct kunit *test)
{
	static const u64 len[] = { 5 * 1400, 3 * 1400 };
	u32 seed;

	for (seed = 0; seed < 200; seed++) {
		struct shuffle_policy_tx *tx;
		u64 last = U64_MAX;
		u32 i;

		tx = make_tx(test, SHUFFLE_POLICY_GRPF, seed * 77, 1400, len, 2);
		KUNIT_ASSERT_NOT_NULL(test, tx);
		open_all(tx);
		while ((i = shuffle_policy_tx_pick(tx)) != SHUFFLE_NONE) {
			u32 s = shuffle_policy_seed(tx->seed, 0, i, 2);
			u64 p = shuffle_policy_prio(tx->kind, s, len[i], tx->msg[i].next, 1400);

			/* the schedule is sorted by priority */
			KUNIT_ASSERT_LE(test, p, last);
			last = p;
			send_unit(tx);
			/* neither is ahead by more than a packet */
			KUNIT_ASSERT_LE(test, 3 * tx->msg[0].next, 5 * tx->msg[1].next + 8 * 1400);
			KUNIT_ASSERT_LE(test, 5 * tx->msg[1].next, 3 * tx->msg[0].next + 8 * 1400);
		}
	}
}

/* GRPF gives each message a share of the link in proportion to its length */
static void policy_tx_pick__pro_rata(struct kunit *test)
{
	static const u64 len[] = { 1000000, 500000, 1400, 250000, 1, 123456, 70000, 0 };
	struct shuffle_policy_tx *tx = make_tx(test, SHUFFLE_POLICY_GRPF, 3, 1400, len, 8);
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	open_all(tx);
	while (send_unit(tx) != SHUFFLE_NONE) {
		for (i = 0; i < 8; i++) {
			for (k = 0; k < 8; k++) {
				/* next[i] / len[i] <= next[k] / len[k] + a unit of both */
				u64 a = tx->msg[i].next * len[k];
				u64 b = tx->msg[k].next * len[i];

				if (len[i] && len[k])
					KUNIT_ASSERT_LE(test, a, b + 1400 * (len[i] + len[k]));
			}
		}
	}
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, tx->msg[i].next, len[i]);
}

struct order_row {
	const char	*name;
	u8		kind;
	u64		len[4];
	u32		n;
	const char	*order;	/* a digit for each unit; "?" where there is a tie */
};

static const struct order_row order_rows[] = {
	{ "GRPF 5 and 3", SHUFFLE_POLICY_GRPF, { 5, 3 }, 2, "??010010"},
	{ "GRPF 4 and 1 and an empty one", SHUFFLE_POLICY_GRPF, { 4, 0, 1 }, 3, "??000" },
	{ "SRPT 5 and 3", SHUFFLE_POLICY_SRPT, { 5, 3 }, 2, "11100000" },
	{ "SRPT 4, 1, 6, 2", SHUFFLE_POLICY_SRPT, { 4, 1, 6, 2 }, 4, "1330000222222" },
	{ "GRPT 5 and 2", SHUFFLE_POLICY_GRPT, { 5, 2 }, 2, "000????" },
	{ "GRPT 1 and 3", SHUFFLE_POLICY_GRPT, { 1, 3 }, 2, "11??" },
	{ "Hadoop 1, 4, 1", SHUFFLE_POLICY_HADOOP, { 1, 4, 1 }, 3, "???111" },
};

static void order_desc(const struct order_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(order, order_rows, order_desc);

static void policy_tx_pick__order(struct kunit *test)
{
	const struct order_row *t = test->param_value;
	struct shuffle_policy_tx *tx = make_tx(test, t->kind, 5, 1, t->len, t->n);
	const char *c;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	open_all(tx);
	for (c = t->order; *c; c++) {
		i = send_unit(tx);
		KUNIT_ASSERT_LT(test, i, t->n);
		if (*c != '?')
			KUNIT_EXPECT_EQ(test, i, (u32)(*c - '0'));
		SHUFFLE_ASSERT_OK(test, shuffle_model_tx(tx));
	}
	KUNIT_EXPECT_EQ(test, send_unit(tx), SHUFFLE_NONE);
}

/* Hadoop's sender takes its open messages in turns */
static void policy_tx_pick__hadoop_round_robin(struct kunit *test)
{
	static const u64 len[] = { 100000, 50000, 80000, 20000 };
	struct shuffle_policy_tx *tx = make_tx(test, SHUFFLE_POLICY_HADOOP, 1, 1000, len, 4);
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	open_all(tx);
	while (send_unit(tx) != SHUFFLE_NONE)
		for (i = 0; i < 4; i++)
			for (k = 0; k < 4; k++)
				if (tx->msg[k].next < len[k])
					KUNIT_ASSERT_LE(test, tx->msg[i].next,
							tx->msg[k].next + 1000);
}

/* The one served least recently is next: not the one of which the least was sent, which would
 * hold up the others as soon as it is granted; and a grant changes no turn.
 */
static void policy_tx_pick__hadoop_least_recently(struct kunit *test)
{
	static const u64 len[] = { 100000, 100000, 100000 };
	static const u32 turns[] = { 1, 2, 0, 1, 2, 0, 1 };
	struct shuffle_policy_tx *tx = make_tx(test, SHUFFLE_POLICY_HADOOP, 1, 1000, len, 3);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	set_limit(tx, 0, 6000);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, send_unit(tx), 0U);
	set_limit(tx, 1, 100000);
	KUNIT_ASSERT_EQ(test, send_unit(tx), turns[0]);
	set_limit(tx, 2, 100000);
	set_limit(tx, 0, 100000);
	for (i = 1; i < ARRAY_SIZE(turns); i++)
		KUNIT_EXPECT_EQ(test, send_unit(tx), turns[i]);
}

static void policy_tx_update__only_below_the_limit(struct kunit *test)
{
	static const u64 len[] = { 10000, 10000, 0 };
	struct shuffle_policy_tx *tx = make_tx(test, SHUFFLE_POLICY_GRPF, 1, 1000, len, 3);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	KUNIT_EXPECT_EQ(test, shuffle_policy_tx_pick(tx), SHUFFLE_NONE);
	open_all(tx);
	set_limit(tx, 1, 0);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, send_unit(tx), 0U);
	/* the one that was held up has more left, so it goes first now */
	set_limit(tx, 1, 2500);
	KUNIT_EXPECT_EQ(test, send_unit(tx), 1U);
	KUNIT_EXPECT_EQ(test, send_unit(tx), 1U);
	KUNIT_EXPECT_EQ(test, send_unit(tx), 1U);
	KUNIT_EXPECT_EQ(test, tx->msg[1].next, 2500ULL);
	KUNIT_EXPECT_EQ(test, send_unit(tx), 0U);
	set_limit(tx, 0, tx->msg[0].next);
	KUNIT_EXPECT_EQ(test, shuffle_policy_tx_pick(tx), SHUFFLE_NONE);
	SHUFFLE_EXPECT_OK(test, shuffle_model_tx(tx));
}

struct unsched_row {
	const char	*name;
	u64		len[6];
	u32		n;
	u64		budget;
	u32		packet;
	u64		max;
	u64		used;		/* result */
	u64		limit[6];	/* result; U64_MAX: depends on the seed */
};

#define ANY	U64_MAX

static const struct unsched_row unsched_rows[] = {
	{ "no budget", { 5000, 5000 }, 2, 0, 1000, ANY, 0, { 0, 0 } },
	{ "more than there is", { 5000, 700, 0 }, 3, 1000000, 1000, ANY, 5700,
	  { 5000, 700, 0 } },
	{ "only empty ones", { 0, 0 }, 2, 1000000, 1000, ANY, 0, { 0, 0 } },
	{ "one packet", { 5000 }, 1, 1, 1000, ANY, 1000, { 1000 } },
	{ "whole packets, rounded up", { 50000 }, 1, 2001, 1000, ANY, 3000, { 3000 } },
	{ "whole packets, exact", { 50000 }, 1, 3000, 1000, ANY, 3000, { 3000 } },
	{ "one each", { 9000, 9000, 9000 }, 3, 3000, 1000, ANY, 3000, { ANY, ANY, ANY } },
	{ "in proportion", { 100000, 300000, 600000 }, 3, 100000, 1000, ANY, 100000,
	  { ANY, ANY, ANY } },
	{ "a short last packet counts as it is", { 1500 }, 1, 1400, 1000, ANY, 1500, { 1500 } },
	{ "at most max", { 50000, 50000 }, 2, 40000, 1000, 5000, 10000, { 5000, 5000 } },
	{ "max between two packets", { 50000 }, 1, 40000, 1000, 5999, 5000, { 5000 } },
	{ "all there is, each within max", { 5000, 2500, 0, 300 }, 4, 7800, 1000, 5999, 7800,
	  { 5000, 2500, 0, 300 } },
	{ "no longer than max, though not in whole packets", { 2500 }, 1, 2400, 1000, 2600, 2500,
	  { 2500 } },
	{ "max less than a packet", { 5000, 800 }, 2, 40000, 1000, 900, 800, { 0, 800 } },
	{ "the greatest lengths", { U64_MAX, U64_MAX }, 2, 64000, 1000, ANY, 64000,
	  { ANY, ANY } },
};

static void unsched_desc(const struct unsched_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(unsched, unsched_rows, unsched_desc);

static void policy_unscheduled__table(struct kunit *test)
{
	const struct unsched_row *t = test->param_value;
	struct shuffle_policy_tx *tx;
	u64 sum = 0;
	u32 i;

	tx = make_tx(test, SHUFFLE_POLICY_GRPF, 9, t->packet, t->len, t->n);
	KUNIT_ASSERT_NOT_NULL(test, tx);
	KUNIT_EXPECT_EQ(test, shuffle_policy_unscheduled(tx, 0, t->n, t->budget, t->packet,
							 t->max), t->used);
	for (i = 0; i < t->n; i++) {
		if (t->limit[i] != ANY)
			KUNIT_EXPECT_EQ(test, tx->msg[i].limit, t->limit[i]);
		KUNIT_EXPECT_LE(test, tx->msg[i].limit, t->len[i]);
		KUNIT_EXPECT_LE(test, tx->msg[i].limit, t->max);
		sum += tx->msg[i].limit;
	}
	KUNIT_EXPECT_EQ(test, sum, t->used);
	KUNIT_EXPECT_EQ(test, tx->heap.n, 0U);
	SHUFFLE_EXPECT_OK(test, shuffle_model_heap(&tx->heap, t->n));
}

/* rows that come in several calls: each call sees its own messages only */
static void policy_unscheduled__part_of_a_row(struct kunit *test)
{
	static const u64 len[] = { 5000, 5000, 5000, 5000 };
	struct shuffle_policy_tx *tx = make_tx(test, SHUFFLE_POLICY_GRPF, 1, 1000, len, 4);

	KUNIT_ASSERT_NOT_NULL(test, tx);
	tx->msg[0].limit = 3000;
	tx->msg[3].limit = 4000;
	KUNIT_EXPECT_EQ(test, shuffle_policy_unscheduled(tx, 1, 3, 100000, 1000, ANY), 10000ULL);
	KUNIT_EXPECT_EQ(test, tx->msg[0].limit, 3000ULL);
	KUNIT_EXPECT_EQ(test, tx->msg[1].limit, 5000ULL);
	KUNIT_EXPECT_EQ(test, tx->msg[2].limit, 5000ULL);
	KUNIT_EXPECT_EQ(test, tx->msg[3].limit, 4000ULL);
	KUNIT_EXPECT_EQ(test, shuffle_policy_unscheduled(tx, 2, 2, 100000, 1000, ANY), 0ULL);
	KUNIT_EXPECT_EQ(test, tx->msg[2].limit, 5000ULL);
	KUNIT_EXPECT_EQ(test, tx->heap.n, 0U);
}

/* section 3.3: "the first RTTpackets data packets in the sender's GRPF packet
 * schedule", so letting the schedule run with all limits open sends just those
 */
static void policy_unscheduled__is_the_head_of_the_schedule(struct kunit *test)
{
	struct shuffle_rnd rnd = { 8 };
	u32 round;

	for (round = 0; round < 100; round++) {
		u32 n = shuffle_rnd_in(&rnd, 1, 12);
		struct shuffle_policy_tx *tx;
		u64 budget, used, sent;
		u64 len[12], limit[12];
		u32 i;

		for (i = 0; i < n; i++)
			len[i] = shuffle_rnd_below(&rnd, 30000);
		tx = make_tx(test, SHUFFLE_POLICY_GRPF, round, 1000, len, n);
		KUNIT_ASSERT_NOT_NULL(test, tx);
		budget = shuffle_rnd_below(&rnd, 60000);
		used = shuffle_policy_unscheduled(tx, 0, n, budget, 1000, ANY);
		for (i = 0; i < n; i++)
			limit[i] = tx->msg[i].limit;
		open_all(tx);
		for (sent = 0; sent < used; ) {
			u64 before;

			i = shuffle_policy_tx_pick(tx);
			KUNIT_ASSERT_LT(test, i, n);
			before = tx->msg[i].next;
			send_unit(tx);
			sent += tx->msg[i].next - before;
		}
		KUNIT_ASSERT_EQ(test, sent, used);
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(test, tx->msg[i].next, limit[i]);
	}
}

/* pro rata to length, to a packet: the rule that section 3.3 asks for */
static void policy_unscheduled__pro_rata(struct kunit *test)
{
	static const u64 len[] = { 1000000, 2000000, 3000000, 4000000 };
	u32 seed;

	for (seed = 0; seed < 50; seed++) {
		struct shuffle_policy_tx *tx;
		u32 i;

		tx = make_tx(test, SHUFFLE_POLICY_GRPF, seed * 1000, 1400, len, 4);
		KUNIT_ASSERT_NOT_NULL(test, tx);
		shuffle_policy_unscheduled(tx, 0, 4, 140000, 1400, ANY);
		for (i = 0; i < 4; i++) {
			u64 share = 14000ULL * (i + 1);

			KUNIT_EXPECT_LE(test, tx->msg[i].limit, share + 2 * 1400);
			KUNIT_EXPECT_GE(test, tx->msg[i].limit + 2 * 1400, share);
		}
	}
}

static struct kunit_case policy_tx_cases[] = {
	KUNIT_CASE_PARAM(policy_prio__table, prio_gen_params),
	KUNIT_CASE(policy_prio__falls_with_the_offset),
	KUNIT_CASE(policy_prio__offset_is_spread),
	KUNIT_CASE(policy_prio__offset_differs_by_unit),
	KUNIT_CASE(policy_prio__seeds_agree_at_both_ends),
	KUNIT_CASE_PARAM(policy_seed__table, seed_gen_params),
	KUNIT_CASE_PARAM(policy_seed__offsets_are_spread, spread_gen_params),
	KUNIT_CASE(policy_seed__receivers_differ),
	KUNIT_CASE_PARAM(policy_amount__table, amount_gen_params),
	KUNIT_CASE(policy_tx_pick__figure_3_6),
	KUNIT_CASE(policy_tx_pick__figure_3_6_randomised),
	KUNIT_CASE(policy_tx_pick__pro_rata),
	KUNIT_CASE_PARAM(policy_tx_pick__order, order_gen_params),
	KUNIT_CASE(policy_tx_pick__hadoop_round_robin),
	KUNIT_CASE(policy_tx_pick__hadoop_least_recently),
	KUNIT_CASE(policy_tx_update__only_below_the_limit),
	KUNIT_CASE_PARAM(policy_unscheduled__table, unsched_gen_params),
	KUNIT_CASE(policy_unscheduled__part_of_a_row),
	KUNIT_CASE(policy_unscheduled__is_the_head_of_the_schedule),
	KUNIT_CASE(policy_unscheduled__pro_rata),
	{}
};

struct kunit_suite shuffle_policy_tx_suite = {
	.name = "shuffle_policy_tx",
	.test_cases = policy_tx_cases,
};
