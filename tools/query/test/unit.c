// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of batches, their encoding, hash tables and the choice of heavy keys. TAP. */
#include <stdlib.h>
#include <string.h>

#include "../../common/tap.h"
#include "exchange.h"
#include "groups.h"
#include "hot.h"
#include "table.h"
#include "top.h"
#include "zipf.h"

static void add_row(struct batch *b, const char *text, int64_t num)
{
	batch_reserve(b, b->rows + 1);
	column_put_text(&b->col[0], b->rows, text, strlen(text));
	b->col[1].num[b->rows++] = num;
}

static struct batch two_columns(void)
{
	struct batch b;

	columns_declare(&b, "key n:int");
	return b;
}

static void encoding(void)
{
	struct batch a = two_columns(), b;
	struct bytes bytes = { 0 };
	size_t used, i;
	char *copy;

	add_row(&a, "", INT64_MIN);
	add_row(&a, "two", -1);
	add_row(&a, "three", INT64_MAX);
	batch_like(&b, &a);
	batch_encode(&bytes, &a);
	TAP_EQ(bytes.len, batch_bytes(&a), "as many bytes as predicted");
	if (EXPECT(!batch_decode(&b, bytes.at, bytes.len, &used)) &&
	    EXPECT_EQ(used, bytes.len) && EXPECT_EQ(b.rows, 3)) {
		for (i = 0; i < 3; i++) {
			EXPECT_EQ(column_compare(&b.col[0], i, &a.col[0], i), 0, "row %zu", i);
			EXPECT_EQ(b.col[1].num[i], a.col[1].num[i], "row %zu", i);
		}
	}
	tap_done("rows survive encoding");

	/* every length that is too short, in memory of just that size */
	for (i = 0; i < bytes.len; i++) {
		copy = malloc(i ? i : 1);
		if (!copy)
			exit(1);
		memcpy(copy, bytes.at, i);
		EXPECT(batch_decode(&b, copy, i, &used), "%zu bytes of %zu", i, bytes.len);
		free(copy);
	}
	tap_done("whatever is cut off is refused");

	/* every bit of head and lengths turned: refused or read, never beyond the end */
	for (i = 0; i < 8 * bytes.len; i++) {
		bytes.at[i / 8] ^= 1 << i % 8;
		if (!batch_decode(&b, bytes.at, bytes.len, &used))
			EXPECT_EQ(used, bytes.len, "bit %zu is turned", i);
		bytes.at[i / 8] ^= 1 << i % 8;
	}
	tap_done("turned bits stay within the bytes");
	free(bytes.at);
	batch_free(&a);
	batch_free(&b);
}

static void aggregation(void)
{
	struct batch in = two_columns();
	struct groups g;
	char name[32];
	int i;

	groups_init(&g, &in, "key", "n=sum(n) rows=count() low=min(n) high=max(n)", "test");
	for (i = 0; i < 30000; i++) {
		snprintf(name, sizeof(name), "k%d", i % 5000);
		in.rows = 0;
		add_row(&in, name, i);
		groups_add(&g, &in);
	}
	for (i = 0; i < 5000; i++) {
		const struct field *c = g.rows.col;

		/* i, i + 5000, ..., i + 25000 */
		EXPECT_EQ(c[1].num[i], 6 * i + 75000, "sum of group %d", i);
		EXPECT_EQ(c[2].num[i], 6, "rows of group %d", i);
		EXPECT_EQ(c[3].num[i], i, "least of group %d", i);
		EXPECT_EQ(c[4].num[i], i + 25000, "most of group %d", i);
	}
	TAP_EQ(g.rows.rows, 5000, "sums of 5000 groups while the table grows");
	groups_free(&g);
	batch_free(&in);
}

static void first_rows(void)
{
	struct batch in = two_columns();
	struct top top;
	char name[32];
	int i;

	top_init(&top, &in, 7, "-n", "test");
	for (i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "k%05d", i * 7919 % 20000);
		in.rows = 0;
		add_row(&in, name, i * 7919 % 20000 / 4);
		top_add(&top, &in);
	}
	top_cut(&top);
	/* of four equal numbers the least name first */
	for (i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "k%05d", 19996 - i / 4 * 4 + i % 4);
		EXPECT_MEM(column_text(&top.rows.col[0], i).at, name, 6, "row %d", i);
	}
	TAP_EQ(top.rows.rows, 7, "first rows, ties by the other columns");
	batch_free(&top.rows);
	batch_free(&in);
}

static void partition(void)
{
	unsigned int count[7] = { 0 }, i, h;
	struct batch in = two_columns();
	struct columns keys = { 1, { 0 } };
	char name[32];

	for (i = 0; i < 70000; i++) {
		snprintf(name, sizeof(name), "10.0.%u.%u", i >> 8, i & 255);
		in.rows = 0;
		add_row(&in, name, 0);
		h = host_of(row_hash(&in, &keys, 0), 7);
		if (h < 7)
			count[h]++;
	}
	for (h = 0; h < 7; h++)	/* five standard deviations of 10000 */
		EXPECT_WITHIN(count[h], 9501, 10499, "host %u", h);
	tap_done("70000 addresses are partitioned evenly over 7 hosts");
	batch_free(&in);
}

static void distribution(void)
{
	unsigned int count[6] = { 0 }, i;
	struct wl_rng r;
	struct zipf z;
	uint64_t k;

	wl_rng_init(&r, 5);
	zipf_init(&z, 5, 1);
	for (i = 0; i < 137000; i++) {
		k = zipf_next(&z, &r);
		count[k < 6 ? k : 0]++;
	}
	/* 1/k of 60/137 each: 60000, 30000, 20000, 15000, 12000 */
	for (i = 1; i <= 5; i++)
		EXPECT_NEAR(count[i], 60000 / i, 60000 / i * 0.04, "number %u", i);
	TAP_EQ(count[0], 0, "Zipf's distribution with exponent 1");
	zipf_init(&z, 1, 2);
	TAP_EQ(zipf_next(&z, &r), 1, "Zipf's distribution of one number");
}

/* Three hosts with a heavy key: 60 rows of each on one side, 200 on the other. */
static struct hot chosen[3];

static void choose(void *arg, struct net *net)
{
	struct query q = { .net = net, .hot = *(enum hot_keys *)arg };
	struct op *op = op_new(&q, sizeof(*op), NULL, "test");
	struct batch side[2] = { two_columns(), two_columns() };
	struct columns keys[2] = { { 1, { 0 } }, { 1, { 0 } } };
	char name[32];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		add_row(&side[0], i < 60 ? "heavy" : name, 0);
		add_row(&side[1], i < 200 ? "heavy" : name, 0);
	}
	hot_choose(&chosen[net->rank], op, side, keys);
	batch_free(&side[0]);
	batch_free(&side[1]);
	query_free(&q);
}

static void heavy_keys(void)
{
	enum hot_keys mode = HOT_AUTO;
	const struct hot_key *k = NULL;
	unsigned int i;

	net_local_run(3, choose, &mode);
	EXPECT_MEM(&chosen[1], &chosen[0], sizeof(*chosen));
	EXPECT_MEM(&chosen[2], &chosen[0], sizeof(*chosen));
	tap_done("all hosts choose the same");
	for (i = 0; i < chosen[0].keys; i++)
		if (chosen[0].key[i].split >= 0)
			k = &chosen[0].key[i];
	EXPECT_EQ(chosen[0].splits, 1);
	if (EXPECT(k)) {
		EXPECT_EQ(k->rows[0], 180);
		EXPECT_EQ(k->rows[1], 600);
		EXPECT_EQ(k->split, 1);
	}
	tap_done("the heavy key is split, its larger side spread");
	EXPECT_GT(chosen[0].skew, 2000);
	EXPECT_LT(chosen[0].skew_after, 1200);
	tap_done("the skew is gone");
	mode = HOT_OFF;
	net_local_run(3, choose, &mode);
	EXPECT_EQ(chosen[0].splits, 0);
	EXPECT_GT(chosen[0].skew, 2000);
	tap_done("off: nothing is split");
}

int main(void)
{
	tap_state.prefix = "query";
	encoding();
	aggregation();
	first_rows();
	partition();
	distribution();
	heavy_keys();
	return tap_finish();
}
