// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applications to priority levels by k-means, levels to fewer and fewer clusters
 * by merging the two closest (thesis, 4.3.3).
 *
 * Points are the coefficients of models, or the slowdowns of degree 0.  All is
 * deterministic: the first centre is the first point, each next one is the point that is
 * farthest from all centres so far, and of equals the first counts.
 */
#include <math.h>
#include <string.h>

#include "saba.h"

#define ROUNDS	100

static unsigned int values(const struct saba_model *m)
{
	return m->degree ? m->degree + 1 : SABA_VALUES;
}

/**
 * saba_apart() - how far models are from each other
 * @a: model
 * @b: another one of the same degree
 *
 * Return: the square of the distance.
 */
double saba_apart(const struct saba_model *a, const struct saba_model *b)
{
	unsigned int i, n = values(a);
	double sum = 0;

	for (i = 0; i < n; i++)
		sum += (a->c[i] - b->c[i]) * (a->c[i] - b->c[i]);
	return sum;
}

static unsigned int nearest(const struct saba_model *p, const struct saba_model *centre,
			    unsigned int n, double *distance)
{
	unsigned int i, best = 0;

	*distance = INFINITY;
	for (i = 0; i < n; i++) {
		double d = saba_apart(p, &centre[i]);

		if (d < *distance) {
			*distance = d;
			best = i;
		}
	}
	return best;
}

static unsigned int first_centres(const struct saba_model *m, unsigned int n, unsigned int most,
				  struct saba_model *centre)
{
	unsigned int k = 1, i;

	centre[0] = m[0];
	while (k < most) {
		double far = 0, d;
		unsigned int best = n;

		for (i = 0; i < n; i++) {
			nearest(&m[i], centre, k, &d);
			if (d > far) {
				far = d;
				best = i;
			}
		}
		/* all points are centres */
		if (best == n)
			break;
		centre[k++] = m[best];
	}
	return k;
}

static void means(const struct saba_model *m, unsigned int n, const uint8_t *level,
		  unsigned int k, struct saba_model *centre)
{
	unsigned int count[SABA_LEVELS] = { 0 }, i, j;

	memset(centre, 0, k * sizeof(*centre));
	for (i = 0; i < n; i++) {
		count[level[i]]++;
		for (j = 0; j < values(&m[i]); j++)
			centre[level[i]].c[j] += m[i].c[j];
		if (m[i].degree > centre[level[i]].degree)
			centre[level[i]].degree = m[i].degree;
		centre[level[i]].r2 += m[i].r2;
	}
	for (i = 0; i < k; i++) {
		if (!count[i])
			continue;
		for (j = 0; j < SABA_VALUES; j++)
			centre[i].c[j] /= count[i];
		centre[i].r2 /= count[i];
	}
}

/**
 * saba_cluster() - k-means
 * @m: models of applications
 * @n: their number, at least 1
 * @most: number of clusters, at most SABA_LEVELS; there are fewer if fewer models
 *	are different
 * @level: result, the cluster of each application
 *
 * Return: the number of clusters; none is empty.
 */
unsigned int saba_cluster(const struct saba_model *m, unsigned int n, unsigned int most,
			  uint8_t *level)
{
	struct saba_model centre[SABA_LEVELS];
	unsigned int k, round, i, used = 0;
	uint8_t name[SABA_LEVELS];

	k = first_centres(m, n, most, centre);
	memset(level, 0xff, n);
	for (round = 0; round < ROUNDS; round++) {
		bool changed = false;

		for (i = 0; i < n; i++) {
			double d;
			uint8_t to = nearest(&m[i], centre, k, &d);

			changed |= to != level[i];
			level[i] = to;
		}
		if (!changed)
			break;
		means(m, n, level, k, centre);
	}
	/* a centre that others have left without points is none */
	memset(name, 0xff, sizeof(name));
	for (i = 0; i < n; i++) {
		if (name[level[i]] == 0xff)
			name[level[i]] = used++;
		level[i] = name[level[i]];
	}
	return used;
}

/* Give clusters the numbers that most of their applications had before. */
static unsigned int keep_numbers(unsigned int n, unsigned int k, unsigned int most,
				 const uint8_t *former, uint8_t *level)
{
	unsigned int both[SABA_LEVELS][SABA_LEVELS] = { { 0 } }, i, j, round, top = 0;
	bool taken[SABA_LEVELS] = { false };
	uint8_t name[SABA_LEVELS];

	memset(name, 0xff, sizeof(name));
	for (i = 0; i < n; i++)
		if (former[i] < most)
			both[level[i]][former[i]]++;
	for (round = 0; round < k; round++) {
		unsigned int best = 0, at = 0, to = 0;

		for (i = 0; i < k; i++)
			for (j = 0; j < most; j++)
				if (name[i] == 0xff && !taken[j] && both[i][j] > best) {
					best = both[i][j];
					at = i;
					to = j;
				}
		if (!best)
			break;
		name[at] = to;
		taken[to] = true;
	}
	for (i = 0; i < k; i++) {
		for (j = 0; name[i] == 0xff; j++)
			if (!taken[j]) {
				name[i] = j;
				taken[j] = true;
			}
		if (name[i] >= top)
			top = name[i] + 1;
	}
	for (i = 0; i < n; i++)
		level[i] = name[level[i]];
	return top;
}

/*
 * Levels that are left: applications that are alike get one each, the largest level first, so that
 * a port with enough queues shares by application and not by their numbers of flows.  The first
 * one stays where it is, so that those that come later move nobody.
 */
static unsigned int spread(unsigned int n, unsigned int k, unsigned int most, uint8_t *level)
{
	unsigned int i, large, of;

	for (; k < most; k++) {
		unsigned int count[SABA_LEVELS] = { 0 };

		for (i = 0, large = 0; i < n; i++)
			count[level[i]]++;
		for (i = 1; i < k; i++)
			if (count[i] > count[large])
				large = i;
		if (count[large] < 2)
			break;
		for (i = 0, of = 0; of < 2; i++)
			of += level[i] == large;
		level[i - 1] = k;
	}
	return k;
}

/*
 * Merge the two closest clusters; the new one is at their middle.  Of pairs that are as close those
 * with the fewest levels: applications that are alike are spread over queues.
 */
static void merge(struct saba_model *point, uint8_t *size, unsigned int n, uint8_t *cluster,
		  unsigned int levels)
{
	unsigned int i, j, a = 0, b = 1;
	double least = INFINITY;

	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++) {
			double d = saba_apart(&point[i], &point[j]);

			if (d < least || (d == least && size[i] + size[j] < size[a] + size[b])) {
				least = d;
				a = i;
				b = j;
			}
		}
	for (i = 0; i < SABA_VALUES; i++)
		point[a].c[i] = (point[a].c[i] + point[b].c[i]) / 2;
	size[a] += size[b];
	for (i = b; i + 1 < n; i++) {
		point[i] = point[i + 1];
		size[i] = size[i + 1];
	}
	for (i = 0; i < levels; i++) {
		if (cluster[i] == b)
			cluster[i] = a;
		else if (cluster[i] > b)
			cluster[i]--;
	}
}

/**
 * saba_levels_make() - priority levels and their hierarchy
 * @m: models of applications
 * @n: their number, 1 to SABA_APPS
 * @most: number of levels that the network has, at most SABA_LEVELS
 * @least_queues: the fewest queues of any port, at least 1
 * @former: level that each application had, 0xff for none; NULL for none at all.
 *	Levels keep their numbers where that is possible: packets under way have them.
 * @level: result, the level of each application; none has two if there are levels enough
 * @lv: result
 */
void saba_levels_make(const struct saba_model *m, unsigned int n, unsigned int most,
		      unsigned int least_queues, const uint8_t *former, uint8_t *level,
		      struct saba_levels *lv)
{
	struct saba_model point[SABA_LEVELS];
	uint8_t size[SABA_LEVELS];
	bool used[SABA_LEVELS] = { false };
	unsigned int i, k, left;

	memset(lv, 0, sizeof(*lv));
	k = saba_cluster(m, n, most, level);
	k = spread(n, k, most, level);
	lv->n = former ? keep_numbers(n, k, most, former, level) : k;
	means(m, n, level, lv->n, lv->model);
	for (i = 0; i < n; i++)
		used[level[i]] = true;
	/* unused numbers are in no cluster: they share that of number 0 */
	for (i = 0, left = 0; i < lv->n; i++) {
		if (!used[i])
			continue;
		point[left] = lv->model[i];
		size[left] = 1;
		lv->cluster[0][i] = left++;
	}
	for (lv->steps = 1; left > least_queues && left > 1; lv->steps++, left--) {
		memcpy(lv->cluster[lv->steps], lv->cluster[lv->steps - 1], SABA_LEVELS);
		merge(point, size, left, lv->cluster[lv->steps], lv->n);
	}
}
