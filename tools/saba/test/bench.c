// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long the controller computes: levels, and weights and queues of all ports of the
 * network of 1944 servers, with up to 1000 applications of 32 instances each that
 * are spread at random (thesis, 4.6.5).
 *
 * usage: saba-bench [APPLICATIONS [SCENARIOS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rng.h"
#include "../saba.h"
#include "../sim/fabric.h"

#define INSTANCES	32
#define QUEUES		8
#define POINTS		7

struct port {
	struct saba_present	*app;
	unsigned int		n;
	unsigned int		last;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *memory(void *p)
{
	if (!p) {
		fprintf(stderr, "saba-bench: out of memory\n");
		exit(2);
	}
	return p;
}

static struct saba_model random_model(struct wl_rng *r, unsigned int degree)
{
	static const double grid[POINTS] = { .05, .10, .25, .50, .75, .90, 1 };
	double f = wl_rng_unit(r), noise = .05, d[POINTS];
	struct saba_model m;
	unsigned int i;

	for (i = 0; i < POINTS; i++)
		d[i] = (1 - f + f / grid[i]) * (1 + noise * (wl_rng_unit(r) - .5));
	if (saba_fit(grid, d, POINTS, degree, &m))
		exit(2);
	return m;
}

/* Which applications send through which ports: all to all of each application. */
static void place(const struct fabric *f, struct port *port, unsigned int n, struct wl_rng *r)
{
	unsigned int a, i, j, k;

	for (k = 0; k < f->ports; k++) {
		port[k].n = 0;
		port[k].last = n;
	}
	for (a = 0; a < n; a++) {
		unsigned int at[INSTANCES];

		for (i = 0; i < INSTANCES; i++)
			at[i] = wl_rng_below(r, f->servers);
		for (i = 0; i < INSTANCES; i++)
			for (j = 0; j < INSTANCES; j++) {
				uint32_t path[FABRIC_HOPS];
				unsigned int hops;

				if (at[i] == at[j])
					continue;
				hops = fabric_path(f, at[i], at[j], wl_rng_next(r), path);
				for (k = 0; k < hops; k++) {
					struct port *p = &port[path[k]];

					if (p->last == a)
						continue;
					p->last = a;
					p->app = memory(realloc(p->app, (p->n + 1) *
								sizeof(*p->app)));
					p->app[p->n++].level = a;
				}
			}
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double scenario(const struct fabric *f, struct port *port, unsigned int n,
		       unsigned int degree, struct wl_rng *r)
{
	struct saba_model *m = memory(malloc(n * sizeof(*m)));
	struct saba_costs *costs = memory(malloc(n * sizeof(*costs)));
	uint8_t *level = memory(malloc(n));
	struct saba_allocation a;
	struct saba_levels lv;
	double start, sum = 0;
	unsigned int i, k;

	for (i = 0; i < n; i++)
		m[i] = random_model(r, degree);
	place(f, port, n, r);
	start = now();
	saba_levels_make(m, n, SABA_LEVELS, QUEUES, NULL, level, &lv);
	for (i = 0; i < n; i++)
		saba_costs(&m[i], &costs[i]);
	for (k = 0; k < f->ports; k++) {
		for (i = 0; i < port[k].n; i++) {
			unsigned int app = port[k].app[i].level;

			port[k].app[i] = (struct saba_present){ &costs[app], level[app] };
		}
		saba_allocate(&lv, port[k].app, port[k].n, 100, QUEUES, &a);
		sum += a.slowdown;
	}
	start = now() - start;
	if (sum == 0)
		fprintf(stderr, "saba-bench: no application anywhere\n");
	free(m);
	free(costs);
	free(level);
	return start;
}

int main(int argc, char **argv)
{
	unsigned int most = argc > 1 ? atoi(argv[1]) : 1000, runs = argc > 2 ? atoi(argv[2]) : 100;
	struct fabric f = fabric_spine_leaf();
	struct port *port = memory(calloc(f.ports, sizeof(*port)));
	double *took, share = .1;
	unsigned int degree, i;
	struct wl_rng r;

	if (most < 1 || most > SABA_APPS || runs < 1 || runs > 30000) {
		fprintf(stderr, "usage: saba-bench [APPLICATIONS [SCENARIOS]]\n");
		return 2;
	}
	took = memory(malloc(runs * sizeof(*took)));
	for (degree = 0; degree <= SABA_DEGREE; degree++) {
		wl_rng_init(&r, degree);
		for (i = 0; i < runs; i++)
			/* sizes spread evenly, as the source's, the last tenth full */
			took[i] = scenario(&f, port, i >= runs * (1 - share) ? most :
					   1 + wl_rng_below(&r, most), degree, &r);
		qsort(took, runs, sizeof(*took), by_size);
		printf("{\"degree\": %u, \"applications\": %u, \"ports\": %u, \"scenarios\": %u, "
		       "\"median_s\": %.4f, \"p99_s\": %.4f, \"max_s\": %.4f}\n", degree, most,
		       f.ports, runs, took[runs / 2], took[(runs * 99 + 99) / 100 - 1],
		       took[runs - 1]);
		fflush(stdout);
	}
	for (i = 0; i < f.ports; i++)
		free(port[i].app);
	free(port);
	free(took);
	return 0;
}
