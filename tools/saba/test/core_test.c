// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of fit.c, solve.c, descent.c, cluster.c and port.c. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/tap.h"
#include "../kinds.h"
#include "../saba.h"

static const double grid[] = { .05, .10, .25, .50, .75, .90, 1 };

#define N_GRID	7

/* Slowdown of an application that communicates for the part f of its time. */
static double law(double f, double b)
{
	return 1 - f + f / b;
}

static struct saba_model fitted(double f, unsigned int degree)
{
	struct saba_model m = { 0 };
	double d[N_GRID];
	unsigned int i;

	for (i = 0; i < N_GRID; i++)
		d[i] = law(f, grid[i]);
	EXPECT(!saba_fit(grid, d, N_GRID, degree, &m));
	return m;
}

static void fit_golden(void)
{
	static const double r2[] = { .6247, .8429, .9332 };
	static const double c[] = { 11.94684, -58.31775, 96.048, -49.05604 };
	static const double part[] = { .01, .133, .5, .8, 1 };
	struct saba_model m;
	unsigned int k, i;

	for (k = 1; k <= 3; k++)
		for (i = 0; i < 5; i++) {
			m = fitted(part[i], k);
			EXPECT_NEAR(m.r2, r2[k - 1], 5e-5);
			EXPECT_EQ(m.degree, k);
		}
	m = fitted(.5, 3);
	for (i = 0; i < 4; i++)
		EXPECT_NEAR(m.c[i], c[i], 1e-5);
	m = fitted(.5, 1);
	EXPECT_EQ(m.c[2], 0);
	EXPECT_EQ(m.c[3], 0);
}

static void fit_exact(void)
{
	double d[N_GRID];
	struct saba_model m;
	unsigned int i;

	for (i = 0; i < N_GRID; i++)
		d[i] = 3 - 4 * grid[i] + 2 * grid[i] * grid[i];
	EXPECT(!saba_fit(grid, d, N_GRID, 3, &m));
	EXPECT_NEAR(m.c[0], 3, 1e-9);
	EXPECT_NEAR(m.c[1], -4, 1e-9);
	EXPECT_NEAR(m.c[2], 2, 1e-9);
	EXPECT_NEAR(m.c[3], 0, 1e-9);
	EXPECT_NEAR(m.r2, 1, 1e-12);
	for (i = 0; i < N_GRID; i++)
		d[i] = 1;
	EXPECT(!saba_fit(grid, d, N_GRID, 3, &m));
	EXPECT_NEAR(saba_slowdown(&m, .3), 1, 1e-9);
	EXPECT_LE(m.r2, 1);
}

static void fit_refuses(void)
{
	const double same[] = { .5, .5, .5, 1 }, d[] = { 1, 2, 3, NAN }, zero[] = { 0, .5 };
	const double one[] = { .5, 1, 1.5 };
	struct saba_model m;

	EXPECT_EQ(saba_fit(same, d, 3, 1, &m), -EINVAL);
	EXPECT_EQ(saba_fit(same, d, 4, 1, &m), -EINVAL);
	EXPECT_EQ(saba_fit(zero, d, 2, 1, &m), -EINVAL);
	EXPECT_EQ(saba_fit(one, d, 3, 1, &m), -EINVAL);
	EXPECT_EQ(saba_fit(grid, grid, 3, 3, &m), -EINVAL);
	/* lines between samples want two */
	EXPECT_EQ(saba_fit(grid, grid, 1, 0, &m), -EINVAL);
	EXPECT_EQ(saba_fit(same, d, 3, 0, &m), -EINVAL);
	EXPECT_EQ(saba_fit(zero, d, 2, 0, &m), -EINVAL);
	EXPECT_EQ(saba_fit(same, d, 4, 0, &m), -EINVAL);
	EXPECT_EQ(saba_fit(grid, grid, N_GRID, 4, &m), -EINVAL);
	EXPECT_EQ(saba_fit(grid, grid, SABA_POINTS + 1, 1, &m), -EINVAL);
}

/* Lines over 1/b are the law, between samples and below them. */
static void samples_law(void)
{
	static const double part[] = { .01, .133, .5, .8, 1 };
	struct saba_costs costs;
	struct saba_model m;
	unsigned int i, w;

	for (i = 0; i < 5; i++) {
		m = fitted(part[i], 0);
		EXPECT_EQ(m.degree, 0);
		EXPECT_NEAR(m.r2, 1, 1e-12);
		saba_costs(&m, &costs);
		for (w = 1; w <= SABA_GRID; w++)
			EXPECT_NEAR(costs.at[w], law(part[i], w / 100.), 1e-9);
		EXPECT(isfinite(costs.at[0]));
	}
}

/* Samples are met; what is between is between; more bandwidth never seems to harm. */
static void samples_monotone(void)
{
	static const double b[] = { 1, .05, .25, .5, .75, .9, .5, .10 };
	static const double d[] = { 1, 9, 1.1, 1.4, 1.0, 1.03, 1.6, 3 };
	struct saba_model m;
	double before;
	unsigned int i;

	EXPECT(!saba_fit(b, d, 8, 0, &m));
	EXPECT_NEAR(saba_slowdown(&m, .05), 9, 1e-9);
	EXPECT_NEAR(saba_slowdown(&m, .10), 3, 1e-9);
	/* 1.1 and twice 1.5 are out of order, and so are 1.0 and 1.03 */
	EXPECT_NEAR(saba_slowdown(&m, .25), (1.1 + 1.4 + 1.6) / 3, 1e-9);
	EXPECT_NEAR(saba_slowdown(&m, .35), (1.1 + 1.4 + 1.6) / 3, 1e-9);
	EXPECT_NEAR(saba_slowdown(&m, .75), 1.015, 1e-9);
	EXPECT_NEAR(saba_slowdown(&m, 1), 1, 1e-9);
	EXPECT_GT(m.r2, .9);
	EXPECT_LT(m.r2, 1);
	for (i = 1, before = INFINITY; i <= 1000; i++) {
		double now = saba_slowdown(&m, i / 1000.);

		EXPECT_LE(now, before + 1e-12);
		before = now;
	}
}

/* The golden vector of three applications: weights by samples are those by the law. */
static void samples_solve(void)
{
	static const double part[] = { .80, .133, .033 }, best[] = { 62, 25, 13 };
	struct saba_costs costs[3];
	const struct saba_costs *p[3] = { &costs[0], &costs[1], &costs[2] };
	double equal = 0;
	uint8_t percent[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct saba_model m = fitted(part[i], 0);

		saba_costs(&m, &costs[i]);
		equal += saba_slowdown(&m, 1 / 3.);
	}
	EXPECT_NEAR(equal, 4.93, .005);
	EXPECT_NEAR(saba_solve(p, 3, 100, percent), 4.11, .005);
	for (i = 0; i < 3; i++)
		EXPECT_NEAR(percent[i], best[i], 0);
}

static const double three[] = { .80, .133, .033 };

static double true_sum(const double *w)
{
	return law(three[0], w[0]) + law(three[1], w[1]) + law(three[2], w[2]);
}

static void solve_golden(void)
{
	static const double best[] = { 62, 25, 13 };
	struct saba_costs costs[3];
	const struct saba_costs *p[3] = { &costs[0], &costs[1], &costs[2] };
	double w[3], sum;
	uint8_t percent[3];
	unsigned int i, j;

	/* the law itself: the optimum is proportional to the root of the part */
	for (i = 0; i < 3; i++) {
		costs[i].at[0] = INFINITY;
		for (j = 1; j <= SABA_GRID; j++)
			costs[i].at[j] = law(three[i], j / 100.);
	}
	sum = saba_solve(p, 3, 100, percent);
	for (i = 0; i < 3; i++) {
		w[i] = percent[i] / 100.;
		EXPECT_NEAR(percent[i], best[i], 0);
	}
	EXPECT_NEAR(sum, 4.11, .005);
	EXPECT_NEAR(sum, true_sum(w), 1e-12);
	/* fitted cubics: what the weights really do */
	for (i = 0; i < 3; i++) {
		struct saba_model m = fitted(three[i], 3);

		saba_costs(&m, &costs[i]);
	}
	saba_solve(p, 3, 100, percent);
	for (i = 0; i < 3; i++)
		w[i] = percent[i] / 100.;
	EXPECT_NEAR(true_sum(w), 4.33, .005);
}

static double by_hand(const struct saba_costs *const *c, unsigned int n, unsigned int left,
		      unsigned int least)
{
	double best = INFINITY;
	unsigned int w;

	if (n == 1)
		return left >= least ? c[0]->at[left] : INFINITY;
	for (w = least; w <= left; w++) {
		double v = c[n - 1]->at[w] + by_hand(c, n - 1, left - w, least);

		if (v < best)
			best = v;
	}
	return best;
}

static void solve_is_least(void)
{
	unsigned int round, i, n, cap;
	struct saba_costs costs[4];
	const struct saba_costs *p[4] = { &costs[0], &costs[1], &costs[2], &costs[3] };

	srand(1);
	for (round = 0; round < 60; round++) {
		unsigned int least, sum = 0;
		uint8_t w[4];
		double got, check = 0;

		n = 1 + round % 4;
		cap = n == 4 ? 20 + round : 30 + round;
		for (i = 0; i < n; i++) {
			struct saba_model m = { .degree = 3 };
			unsigned int j;

			for (j = 0; j < 4; j++)
				m.c[j] = rand() % 2001 / 10. - 100;
			saba_costs(&m, &costs[i]);
		}
		least = cap / (2 * n) > 5 ? 5 : cap / (2 * n);
		got = saba_solve(p, n, cap, w);
		EXPECT_NEAR(got, by_hand(p, n, cap, least), 1e-9);
		for (i = 0; i < n; i++) {
			EXPECT_GE(w[i], least);
			sum += w[i];
			check += costs[i].at[w[i]];
		}
		EXPECT_EQ(sum, cap);
		EXPECT_NEAR(check, got, 1e-9);
	}
}

static void solve_bounds(void)
{
	struct saba_model line = { .degree = 1, .c = { 5, -4 } };
	struct saba_model flat = { .degree = 1, .c = { 1 } };
	const struct saba_costs *p[60];
	struct saba_costs a, b;
	uint8_t w[60];
	unsigned int i, sum;

	saba_costs(&line, &a);
	saba_costs(&flat, &b);
	p[0] = &b;
	p[1] = &a;
	/* without a bound the line would take all */
	saba_solve(p, 2, 100, w);
	EXPECT_EQ(w[0], 5);
	EXPECT_EQ(w[1], 95);
	for (i = 0; i < 60; i++)
		p[i] = &a;
	saba_solve(p, 50, 100, w);
	for (i = 0, sum = 0; i < 50; i++) {
		EXPECT_GE(w[i], 1);
		sum += w[i];
	}
	EXPECT_EQ(sum, 100);
	EXPECT(isnan(saba_solve(p, 51, 100, w)));
	EXPECT(isnan(saba_solve(p, 0, 100, w)));
	EXPECT(isnan(saba_solve(p, 11, 10, w)));
	EXPECT(isnan(saba_solve(p, 1, 101, w)));
	EXPECT_EQ(saba_solve(p, 1, 30, w), a.at[30]);
	EXPECT_EQ(w[0], 30);
}

static void descent(void)
{
	struct saba_model m[3], line[2] = {
		{ .degree = 1, .c = { 5, -4 } }, { .degree = 1, .c = { 2, -1 } },
	};
	const struct saba_model *p[3] = { &m[0], &m[1], &m[2] }, *q[2] = { &line[0], &line[1] };
	const struct saba_costs *c[3];
	struct saba_costs costs[3];
	double w[3], sum, exact;
	uint8_t percent[3];
	unsigned int i, k;

	/* straight lines: to the bounds */
	sum = saba_descend(q, 2, 1, .05, w);
	EXPECT_NEAR(w[0], .95, 1e-6);
	EXPECT_NEAR(w[1], .05, 1e-6);
	EXPECT_NEAR(sum, 5 - 4 * .95 + 2 - .05, 1e-6);
	EXPECT(isnan(saba_descend(q, 2, 1, .6, w)));
	EXPECT(isnan(saba_descend(q, 0, 1, 0, w)));
	for (k = 1; k <= 3; k++) {
		for (i = 0; i < 3; i++) {
			m[i] = fitted(three[i], k);
			saba_costs(&m[i], &costs[i]);
			c[i] = &costs[i];
		}
		sum = saba_descend(p, 3, 1, .05, w);
		EXPECT_NEAR(w[0] + w[1] + w[2], 1, 1e-9);
		for (i = 0; i < 3; i++)
			EXPECT_GT(w[i], .05 - 1e-9);
		exact = saba_solve(c, 3, 100, percent);
		/* a local minimum, not on the grid */
		EXPECT_GT(sum, exact - .02);
		if (k < 3)
			EXPECT_NEAR(sum, exact, .02);
	}
}

static void clusters(void)
{
	/* the source's example: three groups by degree 1 */
	static const double f[] = { .033, .05, .133, .12, .40, .42, .45, .80, .82, .78 };
	static const uint8_t group[] = { 0, 0, 0, 0, 1, 1, 1, 2, 2, 2 };
	struct saba_model m[10];
	uint8_t level[10];
	unsigned int i, j;

	for (i = 0; i < 10; i++)
		m[i] = fitted(f[i], 1);
	EXPECT_EQ(saba_cluster(m, 10, 3, level), 3);
	for (i = 0; i < 10; i++)
		for (j = 0; j < 10; j++)
			EXPECT_EQ((level[i] == level[j]), (group[i] == group[j]));
	/* as many as there are different models */
	m[1] = m[0];
	EXPECT_EQ(saba_cluster(m, 2, 16, level), 1);
	EXPECT_EQ(saba_cluster(m, 10, 16, level), 9);
	EXPECT_EQ(level[0], level[1]);
	EXPECT_EQ(saba_cluster(m, 1, 16, level), 1);
}

static void hierarchy(void)
{
	/* on a line: 0 and 1 merge to .5, then 3 with .5, then 10 */
	static const double at[] = { 0, 1, 3, 10 };
	struct saba_model m[4] = { 0 };
	struct saba_levels lv;
	uint8_t level[4], before[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		m[i].c[0] = at[i];
	saba_levels_make(m, 4, 16, 1, NULL, level, &lv);
	EXPECT_EQ(lv.n, 4);
	EXPECT_EQ(lv.steps, 4);
	EXPECT_EQ(lv.cluster[1][level[0]], lv.cluster[1][level[1]]);
	EXPECT_NE(lv.cluster[1][level[1]], lv.cluster[1][level[2]]);
	EXPECT_EQ(lv.cluster[2][level[2]], lv.cluster[2][level[0]]);
	EXPECT_NE(lv.cluster[2][level[3]], lv.cluster[2][level[0]]);
	EXPECT_EQ(lv.cluster[3][level[3]], lv.cluster[3][level[0]]);
	/* down to the fewest queues only */
	saba_levels_make(m, 4, 16, 3, NULL, level, &lv);
	EXPECT_EQ(lv.steps, 2);
	/* levels keep their numbers when others come and go */
	memcpy(before, level, sizeof(before));
	before[2] = 7;
	saba_levels_make(m, 4, 16, 3, before, level, &lv);
	EXPECT_EQ(level[0], before[0]);
	EXPECT_EQ(level[1], before[1]);
	EXPECT_EQ(level[2], 7);
	EXPECT_EQ(lv.n, 8);
	saba_levels_make(m + 3, 1, 16, 3, before + 3, level, &lv);
	EXPECT_EQ(level[0], before[3]);
}

/* Applications that are alike: levels of their own while there are levels that nobody needs. */
static void alike(void)
{
	static const double at[] = { 0, 1, 0, 0, 5 };
	struct saba_model m[5] = { 0 };
	struct saba_levels lv;
	unsigned int i, j, of[SABA_LEVELS] = { 0 };
	uint8_t level[5], before[5];

	for (i = 0; i < 5; i++)
		m[i].c[0] = at[i];
	saba_levels_make(m, 5, 16, 1, NULL, level, &lv);
	EXPECT_EQ(lv.n, 5);
	for (i = 0; i < 5; i++)
		for (j = 0; j < i; j++)
			EXPECT_NE(level[i], level[j]);
	/* one queue fewer: two of those that are alike are in one, and the others are not */
	EXPECT(lv.cluster[1][level[0]] == lv.cluster[1][level[2]] ||
	       lv.cluster[1][level[0]] == lv.cluster[1][level[3]] ||
	       lv.cluster[1][level[2]] == lv.cluster[1][level[3]]);
	EXPECT_EQ(lv.cluster[2][level[0]], lv.cluster[2][level[2]]);
	EXPECT_EQ(lv.cluster[2][level[0]], lv.cluster[2][level[3]]);
	EXPECT_NE(lv.cluster[2][level[0]], lv.cluster[2][level[1]]);
	EXPECT_NE(lv.cluster[2][level[4]], lv.cluster[2][level[1]]);
	/* of four that are alike, two and two */
	m[1] = m[0];
	m[4] = m[0];
	saba_levels_make(m, 4, 4, 2, NULL, level, &lv);
	for (i = 0; i < 4; i++)
		of[lv.cluster[2][level[i]]]++;
	EXPECT_EQ(lv.steps, 3);
	EXPECT_EQ(of[0], 2);
	EXPECT_EQ(of[1], 2);
	m[1].c[0] = at[1];
	m[4].c[0] = at[4];
	/* another one like them has the last level, or shares one, and moves nobody */
	saba_levels_make(m, 3, 3, 1, NULL, before, &lv);
	EXPECT_EQ(lv.n, 3);
	saba_levels_make(m, 4, 4, 1, before, level, &lv);
	EXPECT_EQ(lv.n, 4);
	EXPECT_MEM(level, before, 3);
	saba_levels_make(m, 4, 3, 1, before, level, &lv);
	EXPECT_EQ(lv.n, 3);
	EXPECT_MEM(level, before, 3);
	EXPECT_EQ(level[3], level[0]);
	/* too few levels: those that differ have them */
	saba_levels_make(m, 5, 3, 1, NULL, level, &lv);
	EXPECT_EQ(level[0], level[2]);
	EXPECT_EQ(level[0], level[3]);
	EXPECT_NE(level[0], level[1]);
	EXPECT_NE(level[4], level[0]);
	EXPECT_NE(level[4], level[1]);
}

static void port(void)
{
	struct saba_present app[4];
	struct saba_allocation a, b;
	struct saba_costs costs[4];
	struct saba_model m[4];
	struct saba_levels lv;
	uint8_t level[4];
	double sum = 0;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		static const double f[] = { .80, .133, .033, .76 };

		m[i] = fitted(f[i], 3);
		saba_costs(&m[i], &costs[i]);
	}
	saba_levels_make(m, 4, 16, 1, NULL, level, &lv);
	for (i = 0; i < 4; i++)
		app[i] = (struct saba_present){ .costs = &costs[i], .level = level[i] };
	saba_allocate(&lv, app, 4, 80, 8, &a);
	EXPECT_EQ(a.queues, 4);
	for (i = 0; i < SABA_QUEUES; i++)
		sum += a.weight[i];
	EXPECT_NEAR(sum, 80, 1e-9);
	EXPECT_GT(a.weight[a.queue[level[0]]], a.weight[a.queue[level[1]]]);
	/* three queues: the two closest share one, with the sum of their weights */
	saba_allocate(&lv, app, 4, 80, 3, &b);
	EXPECT_EQ(b.queues, 3);
	EXPECT(b.queue[level[0]] == b.queue[level[3]] || b.queue[level[1]] == b.queue[level[2]]);
	for (i = 0, sum = 0; i < SABA_QUEUES; i++)
		sum += b.weight[i];
	EXPECT_NEAR(sum, 80, 1e-9);
	saba_allocate(&lv, app, 4, 80, 1, &b);
	EXPECT_EQ(b.queues, 1);
	EXPECT_NEAR(b.weight[0], 80, 1e-9);
	/* an application less: the others stay where they are */
	saba_allocate(&lv, app + 1, 3, 80, 8, &b);
	saba_keep_queues(&a, 8, &b);
	for (i = 1; i < 4; i++)
		EXPECT_EQ(b.queue[level[i]], a.queue[level[i]]);
	EXPECT_EQ(b.queue[level[0]], SABA_NO_QUEUE);
	saba_allocate(&lv, app, 0, 80, 8, &b);
	EXPECT_EQ(b.queues, 0);
}

/* Bytes of a round: of everything else, then of each queue in the ratio of the weights. */
static void quanta(void)
{
	struct saba_allocation a = { .weight = { 200 / 3., 100 / 3. } };
	uint32_t q[SABA_QUEUES + 1];

	saba_quanta(&a, 100, 2, q);
	EXPECT_EQ(q[0], 300);
	EXPECT_EQ(q[1], 20000);
	EXPECT_EQ(q[2], 10000);
	a = (struct saba_allocation){ .weight = { 20, 80 } };
	saba_quanta(&a, 100, 2, q);
	EXPECT_EQ(q[0], 300);
	EXPECT_EQ(q[1], 6000);
	EXPECT_EQ(q[2], 24000);
	/* with a fifth for everything else, and a queue that nobody is in */
	a = (struct saba_allocation){ .weight = { 16, 0, 64 } };
	saba_quanta(&a, 80, 3, q);
	EXPECT_EQ(q[0], 6000);
	EXPECT_EQ(q[1], 4800);
	EXPECT_EQ(q[2], 300);
	EXPECT_EQ(q[3], 19200);
	q[2] = 7;
	saba_quanta(&a, 80, 1, q);
	EXPECT_EQ(q[2], 7);
}

/* From profiles to a round: of an application with four times the part, twice the bytes. */
static void quanta_of_profiles(void)
{
	struct saba_model m[2] = { fitted(.8, 0), fitted(.2, 0) };
	struct saba_present app[2];
	struct saba_costs costs[2];
	struct saba_allocation a;
	struct saba_levels lv;
	uint32_t q[3];
	uint8_t level[2];
	unsigned int i;

	saba_levels_make(m, 2, 16, 1, NULL, level, &lv);
	for (i = 0; i < 2; i++) {
		saba_costs(&m[i], &costs[i]);
		app[i] = (struct saba_present){ &costs[i], level[i] };
	}
	saba_allocate(&lv, app, 2, 75, 2, &a);
	saba_quanta(&a, 75, 2, q);
	EXPECT_EQ(q[0], 7500);
	EXPECT_EQ(q[1 + a.queue[level[0]]], 15000);
	EXPECT_EQ(q[1 + a.queue[level[1]]], 7500);
}

static void port_crowded(void)
{
	struct saba_present app[200];
	struct saba_costs costs[2];
	struct saba_model m[2] = { fitted(.8, 2), fitted(.1, 2) };
	struct saba_allocation a;
	struct saba_levels lv;
	uint8_t level[2];
	unsigned int i;

	saba_levels_make(m, 2, 16, 1, NULL, level, &lv);
	for (i = 0; i < 2; i++)
		saba_costs(&m[i], &costs[i]);
	for (i = 0; i < 200; i++)
		app[i] = (struct saba_present){ &costs[i % 2], level[i % 2] };
	saba_allocate(&lv, app, 200, 100, 8, &a);
	EXPECT_NEAR(a.level[0] + a.level[1], 100, 1e-9);
	EXPECT_GT(a.level[level[0]], 55);
	EXPECT_GE(a.level[level[1]], 5);
	/* one against many has a share for one */
	for (i = 1; i < 200; i++)
		app[i] = (struct saba_present){ &costs[1], level[1] };
	saba_allocate(&lv, app, 200, 100, 8, &a);
	EXPECT_NEAR(a.level[0] + a.level[1], 100, 1e-9);
	EXPECT_GE(a.level[level[0]], 1);
	EXPECT_LT(a.level[level[0]], 10);
}

/* Slowdowns that the source names, at 25 % and, of LR, at 75 %; their mean over the ten is 2.1. */
static void workloads(void)
{
	double sum = 0;
	unsigned int i;

	EXPECT_NEAR(kind_alone(kind_find("LR"), .25), 3.4, 1e-9);
	EXPECT_NEAR(kind_alone(kind_find("LR"), .75), 1.3, .05);
	EXPECT_NEAR(kind_alone(kind_find("SQL"), .25), 1.2, 1e-9);
	EXPECT_NEAR(kind_alone(kind_find("TS"), .25), 1.1, 1e-9);
	EXPECT_LT(kind_alone(kind_find("PR"), .25), 1.5);
	EXPECT_LT(kind_alone(kind_find("WC"), .25), 1.5);
	for (i = 0; i < SABA_KINDS; i++) {
		sum += kind_alone(&kinds[i], .25);
		EXPECT_NEAR(kind_alone(&kinds[i], 1), 1, 1e-9);
	}
	EXPECT_NEAR(sum / SABA_KINDS, 2.1, .05);
	EXPECT(!kind_find("lr"));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	tap_state.prefix = "saba";
	tap_run("fit: R2 and coefficients of the golden vectors", fit_golden);
	tap_run("fit: a polynomial is found again", fit_exact);
	tap_run("fit: what cannot be fitted is refused", fit_refuses);
	tap_run("samples: lines over 1/b are the law", samples_law);
	tap_run("samples: monotone, and what was measured", samples_monotone);
	tap_run("samples: weights and sum of the golden vectors", samples_solve);
	tap_run("solve: weights and sums of the golden vectors", solve_golden);
	tap_run("solve: no other weights have a smaller sum", solve_is_least);
	tap_run("solve: bounds", solve_bounds);
	tap_run("descent: bounds, and never below the exact sum", descent);
	tap_run("cluster: k-means", clusters);
	tap_run("cluster: hierarchy, and numbers that stay", hierarchy);
	tap_run("cluster: applications that are alike", alike);
	tap_run("port: weights and queues", port);
	tap_run("port: quanta of 2:1, 1:4 and of everything else", quanta);
	tap_run("port: quanta of two profiles", quanta_of_profiles);
	tap_run("port: more applications than weights", port_crowded);
	tap_run("kinds: slowdowns that the source names", workloads);
	return tap_finish();
}
