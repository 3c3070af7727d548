// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of what is portable: labels, filters, the checks of tables.  Prints TAP. */
#include <stdio.h>

#include "../../common/tap.h"
#include "../way.h"
#include "../plan_check.h"

static struct bcube cube(u32 n, u32 k)
{
	struct bcube c;

	EXPECT(bcube_init(&c, n, k), "BCube(%u,%u) is refused", n, k);
	return c;
}

static void labels(void)
{
	static const u32 sizes[][3] = {
		{ 4, 1, 16 }, { 2, 2, 8 }, { 8, 5, 262144 }, { 6, 8, 10077696 }, { 3, 2, 27 },
		{ 256, 3, U32_MAX },
	};
	struct bcube c = cube(4, 1), other;
	u32 i, j;

	/* v14 is "32"; v0 and v15 differ twice */
	EXPECT_EQ(bcube_digit(&c, bcube_label(&c, 14), 1), 3, "digit 1 of 14");
	EXPECT_EQ(bcube_digit(&c, bcube_label(&c, 14), 0), 2, "digit 0 of 14");
	EXPECT_EQ(bcube_distance(&c, bcube_label(&c, 0), bcube_label(&c, 15)), 2, "distance 0 15");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		other = cube(sizes[i][0], sizes[i][1]);
		EXPECT_EQ(bcube_servers(&other), sizes[i][2], "servers of BCube(%u,%u): %u",
			  sizes[i][0], sizes[i][1], bcube_servers(&other));
	}
	EXPECT(!bcube_init(&other, 1, 1), "one port");
	EXPECT(!bcube_init(&other, 257, 0), "257 ports");
	EXPECT(!bcube_init(&other, 9, 8), "36 bits");
	other = cube(3, 2);
	for (i = 0; i < 27; i++) {
		u32 a = bcube_label(&other, i), near = 0;

		EXPECT_EQ(bcube_index(&other, a), i, "label of %u", i);
		EXPECT(bcube_valid(&other, a), "label of %u", i);
		for (j = 0; j < 27; j++)
			near += bcube_hop(&other, a, bcube_label(&other, j)) != other.dims;
		EXPECT_EQ(near, 6, "%u has %u neighbours", i, near);
	}
	EXPECT(!bcube_valid(&other, 3), "a digit of 3");
	EXPECT(!bcube_valid(&other, 64), "a digit too many");
	tap_done("labels of BCube");
}

/* A way that turns all digits, and in each stage but the last goes to a neighbour first. */
static u32 long_way(const struct bcube *c, u32 from, u32 *path)
{
	u32 n = 0, dim;

	path[n++] = from;
	for (dim = 0; dim < c->dims; dim++) {
		if (dim + 1 < c->dims && c->n > 2) {
			path[n] = bcube_with(c, path[n - 1], dim + 1,
					     bcube_digit(c, from, dim + 1) % (c->n - 1) + 1);
			n += path[n] != path[n - 1];
		}
		path[n] = bcube_with(c, path[n - 1], dim, 0);
		n += path[n] != path[n - 1];
	}
	return n - 1;
}

/* Follow a filter as servers do; returns hops, 0 if it gets lost. */
static u32 follow(const struct shuffle_bloom *f, const struct bcube *c, u32 from, u32 to)
{
	u32 hops = 0;

	for (; from != to; hops++)
		if (hops == BLOOM_MAX_PATH || bloom_next(f, c, from, &from) != 1)
			return 0;
	return hops;
}

static void exact(u32 n, u32 k, u32 bits, u32 step, u32 mean)
{
	struct bcube c = cube(n, k);
	u32 path[BLOOM_MAX_PATH], i, hops, tried, ways = 0, most = 0;
	struct shuffle_bloom f;
	char name[80];
	u64 sum = 0;

	for (i = 1; i < bcube_servers(&c); i += step) {
		hops = long_way(&c, bcube_label(&c, i), path);
		tried = bloom_path(&f, &c, path, hops, bits);
		EXPECT(tried, "no salt for the way from %u", i);
		if (tried)
			EXPECT_EQ(follow(&f, &c, path[0], path[hops]), hops, "from %u: lost", i);
		ways++;
		sum += tried;
		most = tried > most ? tried : most;
	}
	EXPECT_LE(sum, (u64)ways * mean, "%llu salts for %u ways", (unsigned long long)sum, ways);
	snprintf(name, sizeof(name), "exact filters, BCube(%u,%u), %u bits, most salts %u", n, k,
		 bits, most);
	tap_done(name);
}

static void filters(void)
{
	struct bcube c = cube(8, 5);
	u32 path[BLOOM_MAX_PATH], hops = long_way(&c, bcube_label(&c, 262143), path), next = 0, i;
	struct shuffle_bloom f;

	EXPECT_EQ(hops, 11, "%u hops", hops);
	EXPECT(!bloom_path(&f, &c, path, hops, 16), "16 bits are enough");
	EXPECT(!bloom_path(&f, &c, path, hops, 1), "one bit is enough");
	EXPECT_EQ(shuffle_bloom_hashes(64, 2), 22, "hashes");
	EXPECT_EQ(shuffle_bloom_hashes(19, 6), 2, "hashes");
	EXPECT_EQ(shuffle_bloom_hashes(1, 12), 1, "hashes");
	EXPECT_EQ(shuffle_bloom_hashes(1024, 1), SHUFFLE_BLOOM_HASHES, "hashes");
	shuffle_bloom_begin(&f, 256, 8, 0);
	for (i = 0; i < hops; i++)
		EXPECT(!shuffle_bloom_has(&f, path[i], path[i + 1]), "an empty filter has hop %u",
		       i);
	EXPECT(!bloom_next(&f, &c, path[0], &next), "an empty filter leads on");
	for (i = 0; i < hops; i++)
		shuffle_bloom_add(&f, path[i], path[i + 1]);
	for (i = 0; i < hops; i++)
		EXPECT(shuffle_bloom_has(&f, path[i], path[i + 1]), "hop %u is missing", i);
	EXPECT(!shuffle_bloom_has(&f, path[1], path[0]), "a hop is directed");
	/* A full filter sends everywhere, and the source's counts each stage's other links. */
	for (i = 0; i < 4; i++)
		f.word[i] = U64_MAX;
	EXPECT_EQ(bloom_next(&f, &c, path[0], &next), 42, "a full filter");
	for (i = 0; i < 6; i++)
		path[i + 1] = bcube_with(&c, path[i], i, 0);
	EXPECT_EQ(bloom_paper(&f, &c, path, 6, 1), 15, "one bit: 5 + 4 + 3 + 2 + 1 mistakes");
	EXPECT(!bloom_paper(&f, &c, path, 6, 1024), "1024 bits: no mistake");
	tap_done("filters: what is in them, what is not, too small");
}

/* How often a filter errs, and where its bits are. */
static void filter_bits(void)
{
	static const u16 bits[] = { 1, 63, 64, 65, 1024 };
	struct shuffle_bloom f;
	u32 i, k, wrong = 0;

	shuffle_bloom_begin(&f, 1024, 8, 3);
	for (i = 0; i < 64; i++)
		shuffle_bloom_add(&f, i, i + 1);
	/* (1 - e^(-8 * 64 / 1024))^8 = 0.06 % of others */
	for (i = 0; i < 100000; i++)
		wrong += shuffle_bloom_has(&f, i + 1, i);
	EXPECT_LE(wrong, 200, "others that are in it");
	f.salt = 4;
	for (i = 0, wrong = 0; i < 64; i++)
		wrong += shuffle_bloom_has(&f, i, i + 1);
	EXPECT_LE(wrong, 3, "in it by another salt");
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		memset(&f, 0, sizeof(f));
		shuffle_bloom_begin(&f, bits[i], SHUFFLE_BLOOM_HASHES, 255);
		for (k = 0; k < 2000; k++)
			shuffle_bloom_add(&f, U32_MAX - k, k);
		for (k = 0; k < SHUFFLE_BLOOM_BITS; k++)
			EXPECT_EQ(f.word[k / 64] >> k % 64 & 1, k < bits[i], "bit %u of %u", k,
				  bits[i]);
	}
	EXPECT_EQ(shuffle_bloom_words(1), 1, "words");
	EXPECT_EQ(shuffle_bloom_words(64), 1, "words");
	EXPECT_EQ(shuffle_bloom_words(65), 2, "words");
	tap_done("filters: other hops, other salts, all bits and none behind them");
}

#define ROW(s, p, v, r)	{ .server = s, .parent = p, .value = v, .role = PLAN_##r }

/* The tree of figure 2(c), and one fault in it at a time. */
static const struct plan_row right[] = {
	ROW(0, 0, 2, ROOT), ROW(1, 0, 2, AGGREGATE), ROW(2, 0, 3, AGGREGATE),
	ROW(9, 1, 2, AGGREGATE), ROW(5, 1, 1, SENDER), ROW(10, 2, 1, SENDER),
	ROW(14, 2, 1, SENDER), ROW(11, 3, 1, SENDER),
};

#define ROWS	((u32)(sizeof(right) / sizeof(right[0])))

static void fault_of(u32 row, struct plan_row changed, enum plan_fault want, u32 where)
{
	struct plan_row rows[ROWS];
	u32 children[ROWS], at;
	enum plan_fault got;

	memcpy(rows, right, sizeof(rows));
	rows[row] = changed;
	got = plan_check(rows, ROWS, 6, children, &at);
	EXPECT_EQ(got, want, "row %u: %s, at %u; not %s, at %u", row, plan_fault_text(got), at,
		  plan_fault_text(want), where);
	EXPECT_EQ(at, where, "row %u: %s, at %u; not %s, at %u", row, plan_fault_text(got), at,
		  plan_fault_text(want), where);
}

static void faults(void)
{
	u32 children[ROWS], at;
	struct plan_row alone = ROW(7, 0, 0, ROOT), own = ROW(7, 0, 1, ROOT);

	EXPECT(!plan_check(right, ROWS, 6, children, &at), "the right one");
	EXPECT_EQ(children[0], 2, "children");
	EXPECT_EQ(children[2], 2, "children");
	EXPECT(!children[7], "children");
	EXPECT_EQ(plan_check(right, ROWS, 5, children, &at), PLAN_SENDERS, "five senders");
	EXPECT_EQ(plan_check(right, 0, 0, children, &at), PLAN_NO_ROOT, "no rows");
	EXPECT_EQ(plan_check(&alone, 1, 0, children, &at), PLAN_NO_SENDERS, "a root alone");
	EXPECT(!plan_check(&own, 1, 1, children, &at), "a root that is its only sender");
	fault_of(0, (struct plan_row)ROW(0, 0, 2, AGGREGATE), PLAN_NO_ROOT, 0);
	fault_of(3, (struct plan_row)ROW(9, 1, 2, ROOT), PLAN_ROOT_TWICE, 3);
	fault_of(3, (struct plan_row)ROW(9, 3, 2, AGGREGATE), PLAN_PARENT_SELF, 3);
	fault_of(3, (struct plan_row)ROW(9, 8, 2, AGGREGATE), PLAN_PARENT_UNKNOWN, 3);
	fault_of(3, (struct plan_row)ROW(9, U32_MAX, 2, AGGREGATE), PLAN_PARENT_UNKNOWN, 3);
	fault_of(3, (struct plan_row)ROW(9, 7, 2, AGGREGATE), PLAN_CYCLE, 3);
	fault_of(3, (struct plan_row)ROW(9, 5, 2, AGGREGATE), PLAN_PARENT_LATER, 3);
	fault_of(1, (struct plan_row)ROW(1, 0, 2, SENDER), PLAN_SENDER_CHILDREN, 1);
	fault_of(1, (struct plan_row)ROW(1, 0, 1, AGGREGATE), PLAN_VALUE_SMALL, 1);
	fault_of(1, (struct plan_row)ROW(1, 0, 4, AGGREGATE), PLAN_VALUE_LARGE, 1);
	fault_of(1, (struct plan_row)ROW(1, 0, 2, FORWARD), PLAN_ROLE_VALUE, 1);
	fault_of(3, (struct plan_row)ROW(9, 1, 1, AGGREGATE), PLAN_ROLE_VALUE, 3);
	fault_of(3, (struct plan_row)ROW(9, 1, 1, FORWARD), PLAN_SENDERS, 0);
	fault_of(4, (struct plan_row)ROW(5, 1, 1, FORWARD), PLAN_LEAF_ROLE, 4);
	fault_of(4, (struct plan_row)ROW(5, 1, 0, SENDER), PLAN_VALUE_SMALL, 4);
	fault_of(4, (struct plan_row)ROW(5, 1, 2, SENDER), PLAN_VALUE_LARGE, 4);
	fault_of(0, (struct plan_row)ROW(0, 0, 1, ROOT), PLAN_VALUE_SMALL, 0);
	fault_of(2, (struct plan_row)ROW(2, 1, 3, AGGREGATE), PLAN_VALUE_SMALL, 1);
	fault_of(7, (struct plan_row)ROW(11, 5, 1, SENDER), PLAN_LEAF_ROLE, 3);
	tap_done("each fault of a table is found where it is");
}

static void order(void)
{
	struct plan_row rows[ROWS];
	u32 children[ROWS], at;
	enum plan_fault got;

	memcpy(rows, right, sizeof(rows));
	rows[3] = right[4];
	rows[4] = right[3];
	rows[7].parent = 4;
	got = plan_check(rows, ROWS, 6, children, &at);
	EXPECT_EQ(got, PLAN_SENDER_EARLY, "%s, at %u", plan_fault_text(got), at);
	EXPECT_EQ(at, 4, "%s, at %u", plan_fault_text(got), at);
	tap_done("senders stand last");
}

int main(void)
{
	tap_state.prefix = "plan";
	labels();
	filters();
	filter_bits();
	exact(4, 1, 64, 1, 2);
	exact(8, 5, 128, 1021, 20);
	exact(8, 5, 256, 1021, 2);
	faults();
	order();
	return tap_finish();
}
