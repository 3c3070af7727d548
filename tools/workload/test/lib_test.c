// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the library: cases computed by hand, determinism, sums, coverage.
 * Prints TAP.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/tap.h"
#include "../gen.h"

static struct matrix *matrix_of(unsigned int n, const uint64_t *len)
{
	struct matrix *m = matrix_new(n, NULL);

	memcpy(m->len, len, (size_t)n * n * sizeof(*len));
	return m;
}

static void expect_near(double got, double want, const char *what)
{
	EXPECT_NEAR(got, want, 0.000000001, "%s", what);
}

static void expect_sums(const struct matrix *m, uint64_t row, const char *what)
{
	struct matrix_stats st;

	EXPECT(!matrix_measure(m, &st, NULL), "%s: not measured", what);
	EXPECT_EQ(st.row.min, row, "%s: rows %llu to %llu, not %llu", what,
		  (unsigned long long)st.row.min, (unsigned long long)st.row.max,
		  (unsigned long long)row);
	EXPECT_EQ(st.row.max, row, "%s: rows %llu to %llu, not %llu", what,
		  (unsigned long long)st.row.min, (unsigned long long)st.row.max,
		  (unsigned long long)row);
	EXPECT_EQ(st.col.min, row, "%s: columns %llu to %llu, not %llu", what,
		  (unsigned long long)st.col.min, (unsigned long long)st.col.max,
		  (unsigned long long)row);
	EXPECT_EQ(st.col.max, row, "%s: columns %llu to %llu, not %llu", what,
		  (unsigned long long)st.col.min, (unsigned long long)st.col.max,
		  (unsigned long long)row);
}

/* Skewness: standard deviation of the normalised sizes over sqrt(n - 1) */
static void skewness(void)
{
	static const uint64_t flat[] = { 7, 7, 7, 7 };
	static const uint64_t permuted[] = { 0, 5, 0, 0, 0, 5, 5, 0, 0 };
	/* Normalised 1.5 0.5 / 0.5 1.5: deviation 0.5, over sqrt 1 */
	static const uint64_t half[] = { 3, 1, 1, 3 };
	/* Normalised 2 1 0 in each row: deviation sqrt(2/3), over sqrt 2 */
	static const uint64_t three[] = { 20, 10, 0, 0, 20, 10, 10, 0, 20 };
	/* Uniform without the diagonal: 0 1.5 1.5: deviation sqrt(1/2), over sqrt 2 */
	static const uint64_t others[] = { 0, 6, 6, 6, 0, 6, 6, 6, 0 };
	static const uint64_t nothing[4];
	struct {
		unsigned int n;
		const uint64_t *len;
		double want;
	} cases[] = {
		{ 2, flat, 0 }, { 3, permuted, 1 }, { 2, half, 0.5 },
		{ 3, three, sqrt(1.0 / 3) }, { 3, others, 0.5 }, { 2, nothing, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct matrix *m = matrix_of(cases[i].n, cases[i].len);

		expect_near(matrix_skewness(m), cases[i].want, "skewness");
		matrix_free(m);
	}
	tap_done("skewness of matrices computed by hand");
}

/* The matrices of Figure 5.1, in hundredths: both are said to have 0.75 */
static void golden(void)
{
	static const uint64_t a[100] = {
		[0] = 52, [9] = 948, [10] = 66, [18] = 882, [19] = 52, [20] = 46, [27] = 836,
		[28] = 118, [30] = 40, [36] = 796, [37] = 164, [40] = 46, [45] = 750, [46] = 204,
		[50] = 62, [54] = 688, [55] = 250, [60] = 56, [63] = 632, [64] = 312, [70] = 56,
		[72] = 576, [73] = 368, [80] = 60, [81] = 516, [82] = 424, [90] = 516, [91] = 484,
	};
	static const uint64_t b[100] = {
		0, 0, 0, 0, 0, 0, 47, 953, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 30, 970, 0,
		0, 0, 0, 0, 0, 0, 3, 0, 15, 982,
		41, 0, 43, 2, 0, 914, 0, 0, 0, 0,
		115, 0, 41, 745, 0, 39, 48, 2, 2, 8,
		118, 2, 72, 91, 25, 38, 632, 10, 9, 3,
		76, 77, 74, 56, 628, 0, 78, 3, 4, 4,
		293, 544, 75, 3, 9, 0, 76, 0, 0, 0,
		306, 42, 525, 41, 41, 0, 40, 2, 0, 3,
		51, 335, 170, 62, 297, 9, 76, 0, 0, 0,
	};
	struct matrix *m = matrix_of(10, a);

	EXPECT_NEAR(matrix_skewness(m), 0.75, 0.005, "(a): %.4f", matrix_skewness(m));
	matrix_free(m);
	m = matrix_of(10, b);
	EXPECT_NEAR(matrix_skewness(m), 0.75, 0.005, "(b): %.4f", matrix_skewness(m));
	matrix_free(m);
	tap_done("skewness of both matrices of Figure 5.1 is 0.75");
}

static void statistics(void)
{
	static const uint64_t len[] = { 100, 20, 0, 1, 0, 30, 4, 0, 5 };
	struct matrix *m = matrix_of(3, len);
	struct matrix_stats st;

	EXPECT(!matrix_measure(m, &st, NULL), "not measured");
	EXPECT_EQ(st.total, 160, "total, local");
	EXPECT_EQ(st.local, 105, "total, local");
	EXPECT_EQ(st.messages, 4, "messages");
	EXPECT_EQ(st.message.min, 1, "messages");
	EXPECT_EQ(st.message.max, 30, "messages");
	EXPECT_EQ(st.message.p50, 4, "percentiles");
	EXPECT_EQ(st.msg_p10, 1, "percentiles");
	EXPECT_EQ(st.msg_p90, 30, "percentiles");
	EXPECT_EQ(st.row.min, 9, "rows");
	EXPECT_EQ(st.row.p50, 31, "rows");
	EXPECT_EQ(st.row.max, 120, "rows");
	EXPECT_EQ(st.col.min, 20, "columns");
	EXPECT_EQ(st.col.p50, 35, "columns");
	EXPECT_EQ(st.col.max, 105, "columns");
	EXPECT_EQ(st.out_degree.min, 1, "out-degree");
	EXPECT_EQ(st.out_degree.max, 2, "out-degree");
	EXPECT_EQ(st.in_degree.min, 1, "in-degree");
	EXPECT_EQ(st.in_degree.max, 2, "in-degree");
	EXPECT_EQ(st.bound, 31, "bound %llu", (unsigned long long)st.bound);
	/* 31 bytes at 8 Gb/s and one round trip of 100 ns */
	expect_near(matrix_bound_ns(m, 8e9, 100), 131, "bound in ns");
	matrix_free(m);
	tap_done("statistics and bound computed by hand");
}

/* Two rows 6 3: the second 6 goes to the other column, the 3s have no choice, so
 * that nothing is split.  Otherwise each boundary between columns splits at most
 * one message.
 */
static void placement(void)
{
	static const uint64_t easy[] = { 6, 3, 3, 6 };
	static const uint64_t prelim[] = { 6, 3, 0, 6, 3, 0, 6, 2, 1 };
	unsigned int seed, i;

	for (seed = 0; seed < 50; seed++) {
		struct matrix *m = matrix_new(2, NULL);
		unsigned int filled = 0;
		struct wl_rng r;

		wl_rng_init(&r, seed);
		EXPECT(!wl_general_place(m, easy, 9, &r, NULL), "not placed");
		expect_sums(m, 9, "easy");
		EXPECT_EQ(m->len[0] * m->len[1], 18, "seed %u: a message was split", seed);
		EXPECT_EQ(m->len[2] * m->len[3], 18, "seed %u: a message was split", seed);
		matrix_free(m);
		m = matrix_new(3, NULL);
		EXPECT(!wl_general_place(m, prelim, 9, &r, NULL), "not placed");
		expect_sums(m, 9, "three rows");
		for (i = 0; i < 9; i++)
			filled += m->len[i] > 0;
		EXPECT_LE(filled, 7 + 2, "seed %u: %u messages", seed, filled);
		matrix_free(m);
	}
	tap_done("placement keeps messages whole where it can");
}

static void laying(void)
{
	static const unsigned int order[] = { 1, 0 };
	struct matrix *m = matrix_new(2, NULL);
	struct wl_lay l;

	/* 4, 4, 4, 8 against two intervals of 10: the third is cut at 2. */
	wl_lay_init(&l, m, order, 10);
	wl_lay_add(&l, 0, 4);
	wl_lay_add(&l, 1, 4);
	wl_lay_add(&l, 0, 4);
	wl_lay_add(&l, 1, 8);
	EXPECT_EQ(m->len[1], 6, "%llu %llu / %llu %llu", (unsigned long long)m->len[0],
		  (unsigned long long)m->len[1], (unsigned long long)m->len[2],
		  (unsigned long long)m->len[3]);
	EXPECT_EQ(m->len[3], 4, "%llu %llu / %llu %llu", (unsigned long long)m->len[0],
		  (unsigned long long)m->len[1], (unsigned long long)m->len[2],
		  (unsigned long long)m->len[3]);
	EXPECT_EQ(m->len[0], 2, "%llu %llu / %llu %llu", (unsigned long long)m->len[0],
		  (unsigned long long)m->len[1], (unsigned long long)m->len[2],
		  (unsigned long long)m->len[3]);
	EXPECT_EQ(m->len[2], 8, "%llu %llu / %llu %llu", (unsigned long long)m->len[0],
		  (unsigned long long)m->len[1], (unsigned long long)m->len[2],
		  (unsigned long long)m->len[3]);
	matrix_free(m);
	tap_done("laying out splits at boundaries");
}

/* Every key equal: host i keeps its keys, a permutation after shuffling (5.1). */
static void one_key(void)
{
	struct wl_spec spec;
	struct matrix *m;

	wl_spec_init(&spec, WL_SORT, 12);
	spec.keys = WL_KEYS_UNIFORM;
	spec.key_values = 1;
	spec.mean = 1001;
	m = wl_generate(&spec, NULL, NULL);
	expect_near(matrix_skewness(m), 1, "skewness");
	expect_sums(m, 12 * 1001, "one key");
	matrix_free(m);
	/* Many keys: close to uniform, 1 of 10 standard deviation over sqrt 11 */
	spec.key_values = 60000;
	m = wl_generate(&spec, NULL, NULL);
	EXPECT_LT(matrix_skewness(m), 0.04, "%.4f with many keys", matrix_skewness(m));
	expect_sums(m, 12 * 1001, "many keys");
	matrix_free(m);
	tap_done("sort: one key is a permutation, many keys are uniform");
}

static void elementary(void)
{
	double x;

	for (x = -600; x < 600; x += 0.37)
		EXPECT_NEAR(wl_exp(x) / exp(x), 1, 0.00000000000001, "exp %g", x);
	for (x = 0.000001; x < 1000000000; x *= 1.7)
		EXPECT_NEAR(wl_log(x), log(x), 0.00000000000001 * (1 + fabs(log(x))), "log %g", x);
	EXPECT_EQ(wl_exp(0), 1, "exp 0, log 1");
	EXPECT_EQ(wl_log(1), 0, "exp 0, log 1");
	tap_done("exp and log");
}

/* The reference values of xoshiro256** seeded by splitmix64(1) */
static void random_numbers(void)
{
	unsigned int seen[7] = { 0 }, i;
	double sum = 0, squares = 0;
	struct wl_rng r, again;

	wl_rng_init(&r, 0);
	EXPECT_EQ(r.s[0], 0xe220a8397b1dcdafULL, "splitmix64 of 0");
	EXPECT_EQ(r.s[1], 0x6e789e6aa1b965f4ULL, "splitmix64 of 0");
	EXPECT_EQ(r.s[2], 0x06c45d188009454fULL, "splitmix64 of 0");
	EXPECT_EQ(r.s[3], 0xf88bb8a8724c81ecULL, "splitmix64 of 0");
	memcpy(r.s, (uint64_t[]){ 1, 2, 3, 4 }, sizeof(r.s));
	EXPECT_EQ(wl_rng_next(&r), 11520, "xoshiro256** of 1, 2, 3, 4");
	EXPECT_EQ(wl_rng_next(&r), 0, "xoshiro256** of 1, 2, 3, 4");
	EXPECT_EQ(wl_rng_next(&r), 1509978240, "xoshiro256** of 1, 2, 3, 4");
	EXPECT_EQ(wl_rng_next(&r), 1215971899390074240ULL, "xoshiro256** of 1, 2, 3, 4");
	wl_rng_init(&r, 5);
	again = r;
	for (i = 0; i < 7000; i++)
		seen[wl_rng_below(&r, 7)]++;
	for (i = 0; i < 7; i++)
		EXPECT(seen[i] > 850 && seen[i] < 1150, "%u of 1000 times %u", seen[i], i);
	for (i = 0; i < 10000; i++) {
		double z = wl_rng_normal(&again);

		sum += z;
		squares += z * z;
	}
	EXPECT_LT(fabs(sum / 10000), 0.05, "normal: %g, %g", sum / 10000, squares / 10000);
	EXPECT_NEAR(squares / 10000, 1, 0.05, "normal: %g, %g", sum / 10000, squares / 10000);
	tap_done("random numbers");
}

/* Checksums: the same matrices on every machine, and after every change. */
static void reproducible(void)
{
	static const uint64_t want[WL_KINDS] = {
#include "golden.h"
	};
	unsigned int k;

	for (k = 0; k < WL_KINDS; k++) {
		struct matrix *m, *again, *other;
		struct wl_spec spec;

		wl_spec_init(&spec, k, 23);
		if (k == WL_SORT || k == WL_GENERAL || k == WL_LOGNORMAL) {
			spec.skew_lo = 0.5;
			spec.skew_hi = 0.55;
		}
		m = wl_generate(&spec, NULL, NULL);
		again = wl_generate(&spec, NULL, NULL);
		spec.seed = 2;
		other = wl_generate(&spec, NULL, NULL);
		EXPECT(m && again && other, "%s: not made", wl_kind_name(k));
		EXPECT_EQ(matrix_checksum(m), want[k], "%s: 0x%016llxULL", wl_kind_name(k),
			  (unsigned long long)matrix_checksum(m));
		EXPECT_MEM(m->len, again->len, 23 * 23 * sizeof(*m->len),
			   "%s: differs the second time", wl_kind_name(k));
		if (k != WL_UNIFORM && k != WL_NEIGHBOUR && k != WL_INCAST)
			EXPECT(memcmp(m->len, other->len, 23 * 23 * sizeof(*m->len)),
			       "%s: the seed does not matter", wl_kind_name(k));
		matrix_free(m);
		matrix_free(again);
		matrix_free(other);
	}
	tap_done("the matrices of a seed are always the same");
}

static void shapes(void)
{
	struct matrix_stats st;
	struct wl_spec spec;
	struct matrix *m;
	unsigned int i, j;

	wl_spec_init(&spec, WL_NEIGHBOUR, 64);
	for (spec.dims = 1; spec.dims <= 3; spec.dims++) {
		m = wl_generate(&spec, NULL, NULL);
		matrix_measure(m, &st, NULL);
		EXPECT_EQ(st.out_degree.min, 2 * spec.dims, "%u dimensions: degree %llu", spec.dims,
			  (unsigned long long)st.out_degree.min);
		EXPECT_EQ(st.in_degree.max, 2 * spec.dims, "%u dimensions: degree %llu", spec.dims,
			  (unsigned long long)st.out_degree.min);
		for (i = 0; i < 64; i++)
			for (j = 0; j < 64; j++)
				EXPECT_EQ(matrix_len(m, i, j), matrix_len(m, j, i), "one-way");
		matrix_free(m);
	}
	wl_spec_init(&spec, WL_GRAPH, 30);
	m = wl_generate(&spec, NULL, NULL);
	matrix_measure(m, &st, NULL);
	EXPECT_EQ(st.total, 30 * 30 * spec.mean, "graph: %llu bytes", (unsigned long long)st.total);
	EXPECT_GT(st.row.max, 2 * st.row.p50, "graph: no hot spot: %llu, median %llu",
		  (unsigned long long)st.row.max, (unsigned long long)st.row.p50);
	matrix_free(m);
	wl_spec_init(&spec, WL_MAPREDUCE, 10);
	spec.targets = 3;
	m = wl_generate(&spec, NULL, NULL);
	for (i = 0; i < 10; i++)
		for (j = 0; j < 10; j++)
			EXPECT_EQ((matrix_len(m, i, j) > 0), (i < 7 && j >= 7),
				  "mapreduce: %u to %u", i, j);
	matrix_free(m);
	wl_spec_init(&spec, WL_INCAST, 10);
	spec.targets = 2;
	m = wl_generate(&spec, NULL, NULL);
	matrix_measure(m, &st, NULL);
	EXPECT_EQ(st.messages, 18, "incast");
	EXPECT_EQ(st.bound, 9 * spec.mean, "incast");
	EXPECT(!st.local, "incast");
	matrix_free(m);
	wl_spec_init(&spec, WL_PERMUTATION, 10);
	spec.self = false;
	m = wl_generate(&spec, NULL, NULL);
	matrix_measure(m, &st, NULL);
	EXPECT_EQ(st.messages, 10, "permutation");
	EXPECT_EQ(st.out_degree.max, 1, "permutation");
	EXPECT_EQ(st.in_degree.max, 1, "permutation");
	EXPECT(!st.local, "permutation");
	expect_sums(m, 9 * spec.mean, "permutation");
	matrix_free(m);
	tap_done("shapes");
}

/* Every interval of skewness, both generators, odd sizes, with and without self */
static void coverage(void)
{
	static const unsigned int hosts[] = { 9, 40 };
	static const enum wl_kind kinds[] = { WL_SORT, WL_GENERAL };
	unsigned int h, k, b, self, i;

	for (h = 0; h < 2; h++) {
		unsigned int n = hosts[h];
		struct wl_cdfs *set = wl_cdfs_new(n, 3, NULL);

		for (k = 0; k < 4; k++) {
			struct wl_spec spec;

			self = k & 1;
			wl_spec_init(&spec, kinds[k / 2], n);
			spec.mean = 1237;
			spec.self = self;
			spec.cdfs = set;
			for (b = 0; b < 20; b++) {
				struct wl_error err = { "" };
				struct matrix *m;
				double s;

				/* Without self a skewness of 1 / (n - 1) is the least. */
				if (!self && (b + 1) / 20.0 < 1.5 / (n - 1))
					continue;
				m = wl_of_skewness(&spec, b, 20, 1, NULL, &err);
				EXPECT(m, "%s: %s", wl_kind_name(spec.kind), err.text);
				if (!m)
					continue;
				s = matrix_skewness(m);
				EXPECT_GE(s, b / 20.0, "%s, interval %u: %.4f",
					  wl_kind_name(spec.kind), b, s);
				EXPECT((b == 19 || s < (b + 1) / 20.0), "%s, interval %u: %.4f",
				       wl_kind_name(spec.kind), b, s);
				expect_sums(m, 1237ULL * (self ? n : n - 1),
					    wl_kind_name(spec.kind));
				for (i = 0; i < n; i++)
					EXPECT(self || !matrix_len(m, i, i), "%u to itself", i);
				matrix_free(m);
			}
		}
		wl_cdfs_free(set);
	}
	tap_done("both generators cover the whole range of skewness");
}

static void lognormal(void)
{
	static const struct {
		const char *name;
		unsigned int n;
		double skewness;
	} names[] = {
		{ "skew25-24k", 40, 0.25 }, { "skew50-24k", 40, 0.5 }, { "skew75-24k", 40, 0.75 },
		{ "general95-24k", 160, 0.95 },
	};
	static const char *const bad[] = {
		"skew5-24k", "x-1", "uniform", "uniform-0", "uniform-1x", "skew0x-1k", "-5",
		"skew-1k", "skew500-1k", "general5-1k", "general505-1k", "genera50-1k", "50-1k",
	};
	struct wl_spec spec;
	struct wl_error err;
	struct matrix *m;
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *name = names[i].name;

		EXPECT(!wl_spec_parse(&spec, name, names[i].n, &err), "%s", name);
		m = wl_generate(&spec, NULL, &err);
		EXPECT(m, "%s: %s", name, err.text);
		if (!m)
			continue;
		EXPECT_NEAR(matrix_skewness(m), names[i].skewness, 0.0003, "%s: %.4f", name,
			    matrix_skewness(m));
		expect_sums(m, (names[i].n - 1) * 24000, name);
		matrix_free(m);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT(wl_spec_parse(&spec, bad[i], 40, &err), "%s is taken", bad[i]);
	tap_done("short names with a skewness");
}

static void nudging(void)
{
	struct wl_spec spec;
	struct matrix *m;
	struct wl_rng r;

	wl_rng_init(&r, 1);
	wl_spec_init(&spec, WL_LOGNORMAL, 20);
	spec.self = false;
	m = wl_generate(&spec, NULL, NULL);
	EXPECT(wl_nudge(m, 0.5, 0.51, &r), "upwards: %.4f", matrix_skewness(m));
	expect_sums(m, 19 * 24000, "upwards");
	EXPECT(wl_nudge(m, 0.1, 0.11, &r), "downwards: %.4f", matrix_skewness(m));
	expect_sums(m, 19 * 24000, "downwards");
	/* Without a diagonal 1/19 is the least. */
	EXPECT(!wl_nudge(m, 0, 0.01, &r), "impossible: %.4f", matrix_skewness(m));
	matrix_free(m);
	tap_done("moving bytes towards a skewness keeps sums and fails where it must");
}

/* Damaged files: whatever the reader says, it stays within them, and what it
 * takes for a matrix is one.  The sanitizers watch.
 */
static void mutations(void)
{
	static const char binary[] = "SHFLMTX1\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
				     "\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0";
	static const char csv[] = "# two\n1, 2\r\n\n3,4\n";
	static const char trace[] = "op,from,to,bytes\n1,a,b,7\n1,b,a,8\n";
	static const struct {
		const char *data;
		size_t size;
	} seeds[] = {
		/* The string's own end is the last byte. */
		{ binary, sizeof(binary) }, { csv, sizeof(csv) - 1 }, { trace, sizeof(trace) - 1 },
	};
	static const char likely[] = ",\n#\r 0-9a\t\377";
	unsigned int round, i, taken = 0, refusals = 0;
	struct wl_rng r;

	wl_rng_init(&r, 11);
	for (round = 0; round < 30000; round++) {
		unsigned int which = round % 3, changes = wl_rng_below(&r, 4);
		size_t size = seeds[which].size;
		struct wl_error err = { "" };
		struct matrix *m;
		char *data;

		if (wl_rng_below(&r, 4) == 0)
			size = wl_rng_below(&r, size + 1);
		/* As large as it is, so that one byte too far is noticed. */
		data = malloc(size ? size : 1);
		memcpy(data, seeds[which].data, size);
		for (i = 0; i < changes && size; i++)
			data[wl_rng_below(&r, size)] = wl_rng_below(&r, 2) ?
				likely[wl_rng_below(&r, sizeof(likely))] :
				(char)wl_rng_below(&r, 256);
		m = matrix_read_mem(data, size, wl_rng_below(&r, 8) ? NULL : "1", &err);
		free(data);
		taken += !!m;
		refusals += !m;
		EXPECT(m || err.text[0], "round %u: refused without a reason", round);
		EXPECT(!m || (m->n >= 2 && m->n <= MATRIX_MAX_HOSTS), "round %u: hosts", round);
		for (i = 0; m && i < m->n * m->n; i++)
			EXPECT_LE(m->len[i], MATRIX_MAX_LEN, "round %u: length", round);
		matrix_free(m);
	}
	EXPECT_GT(taken, 1000, "%u taken, %u refused", taken, refusals);
	EXPECT_GT(refusals, 1000, "%u taken, %u refused", taken, refusals);
	tap_done("damaged files");
}

static void refused(void)
{
	static const struct {
		enum wl_kind kind;
		unsigned int n, dims, targets;
		uint64_t mean;
		double lo, hi, exponent;
	} bad[] = {
		{ WL_UNIFORM, 1, 2, 1, 100, 0, 0, 2 },
		{ WL_UNIFORM, 5000, 2, 1, 100, 0, 0, 2 },
		{ WL_UNIFORM, 8, 2, 1, 0, 0, 0, 2 },
		{ WL_UNIFORM, 8, 2, 1, 1ULL << 60, 0, 0, 2 },
		{ WL_UNIFORM, 8, 2, 1, 100, 0.2, 0.3, 2 },
		{ WL_SORT, 8, 2, 1, 100, 0.3, 0.2, 2 },
		{ WL_SORT, 8, 2, 1, 100, 1.5, 1.6, 2 },
		{ WL_NEIGHBOUR, 8, 4, 1, 100, 0, 0, 2 },
		{ WL_GRAPH, 8, 2, 1, 100, 0, 0, 1 },
		{ WL_INCAST, 8, 2, 9, 100, 0, 0, 2 },
		{ WL_MAPREDUCE, 8, 2, 8, 100, 0, 0, 2 },
		{ WL_KINDS, 8, 2, 1, 100, 0, 0, 2 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct wl_error err = { "" };
		struct wl_spec spec;

		wl_spec_init(&spec, bad[i].kind, bad[i].n);
		spec.dims = bad[i].dims;
		spec.targets = bad[i].targets;
		spec.mean = bad[i].mean;
		spec.skew_lo = bad[i].lo;
		spec.skew_hi = bad[i].hi;
		spec.exponent = bad[i].exponent;
		EXPECT(!wl_generate(&spec, NULL, &err), "case %u is taken", i);
		EXPECT(err.text[0], "case %u is taken", i);
	}
	tap_done("impossible specifications are refused");
}

int main(void)
{
	tap_state.prefix = "workload";
	skewness();
	golden();
	statistics();
	placement();
	laying();
	one_key();
	elementary();
	random_numbers();
	reproducible();
	shapes();
	coverage();
	lognormal();
	nudging();
	refused();
	mutations();
	return tap_finish();
}
