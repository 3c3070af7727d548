// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SRS: receivers that are one hop from another share its tree.  Receivers are put into groups,
 * each a head and neighbours of it; the flows of a group take the tree of its entry, and then one
 * hop, or two by way of the head.  Source: Guo et al., section 3.3.
 */
#include <stdlib.h>

#include "shuffle.h"

/* Which receivers are one hop apart, as lists: neighbours of i are list[first[i]...]. */
static u32 *find_adjacent(const struct shuffle *s, u32 *first)
{
	const struct bcube *c = &s->topo->cube;
	u32 room = 4 * s->receivers, n = 0, i, j;
	u32 *list = memory(NULL, room, sizeof(*list));

	for (i = 0; i < s->receivers; i++) {
		first[i] = n;
		for (j = 0; j < s->receivers; j++) {
			if (bcube_hop(c, s->receiver[i], s->receiver[j]) == c->dims)
				continue;
			if (n == room) {
				room *= 2;
				list = memory(list, room, sizeof(*list));
			}
			list[n++] = j;
		}
	}
	first[s->receivers] = n;
	return list;
}

/* Algorithm 1: the one with most neighbours, and these, are a group; and again. */
static void cluster(struct planner *p)
{
	const struct shuffle *s = p->s;
	u32 *first = memory(NULL, s->receivers + 1, sizeof(*first));
	u32 *list = find_adjacent(s, first), *degree, left = s->receivers, i, j, k;
	bool *gone = memory(NULL, s->receivers, sizeof(*gone));

	degree = memory(NULL, s->receivers, sizeof(*degree));
	for (i = 0; i < s->receivers; i++) {
		degree[i] = first[i + 1] - first[i];
		gone[i] = false;
	}
	p->group = memory(NULL, s->receivers, sizeof(*p->group));
	for (p->groups = 0; left; p->groups++) {
		struct srs_group *g = &p->group[p->groups];
		u32 head = NONE;

		/* Of equal ones the lowest index. */
		for (i = 0; i < s->receivers; i++)
			if (!gone[i] && (head == NONE || degree[i] > degree[head] ||
					 (degree[i] == degree[head] &&
					  s->receiver[i] < s->receiver[head])))
				head = i;
		*g = (struct srs_group){ .entry = NONE };
		g->receiver = memory(NULL, degree[head] + 1, sizeof(*g->receiver));
		g->tree_cost = memory(NULL, degree[head] + 1, sizeof(*g->tree_cost));
		g->cost = memory(NULL, degree[head] + 1, sizeof(*g->cost));
		g->receiver[g->n++] = s->receiver[head];
		gone[head] = true;
		for (j = first[head]; j < first[head + 1]; j++) {
			if (gone[list[j]])
				continue;
			g->receiver[g->n++] = s->receiver[list[j]];
			gone[list[j]] = true;
		}
		left -= g->n;
		for (k = 0; k < s->receivers; k++)
			for (j = first[k], degree[k] = 0; !gone[k] && j < first[k + 1]; j++)
				degree[k] += !gone[list[j]];
	}
	free(first);
	free(list);
	free(degree);
	free(gone);
}

/* What a group costs if it is entered at receiver i. */
static double group_cost(const struct shuffle *s, const struct srs_group *g, u32 i, double output)
{
	const struct bcube *c = &s->topo->cube;
	double links = 0;
	u32 j;

	/* 2 for each neighbour of the entry, 4 for each that is reached by way of the head */
	for (j = 0; j < g->n; j++)
		if (j != i)
			links += bcube_hop(c, g->receiver[i], g->receiver[j]) != c->dims ? 2 : 4;
	return g->n * g->tree_cost[i] + output * links;
}

/**
 * srs_groups() - put receivers into groups, and choose their entries
 * @p: the planner, with a shuffle in a BCube
 *
 * A group whose trees of their own are cheaper does not share, unless the objective is links.
 */
void srs_groups(struct planner *p)
{
	const struct shuffle *s = p->s;
	double delta = s->delta[0], output;
	u32 i, j, best;

	srs_free(p);
	cluster(p);
	for (i = 0; i < p->groups; i++) {
		struct srs_group *g = &p->group[i];

		if (g->n < 2)
			continue;
		for (j = 0, best = 0; j < g->n; j++) {
			plan_tree(p, METHOD_SRS, g->receiver[j], &p->tree);
			topo_measure(s->topo, &p->tree, NULL);
			g->tree_cost[j] = tree_traffic(&p->tree, delta);
			g->separate += g->tree_cost[j];
			output = tree_output(&p->tree, delta);
			g->cost[j] = group_cost(s, g, j, output);
			if (g->receiver[best] != s->entry &&
			    (g->cost[j] < g->cost[best] || g->receiver[j] == s->entry))
				best = j;
		}
		if (s->objective == OBJECTIVE_LINKS || g->cost[best] <= g->separate ||
		    g->receiver[best] == s->entry)
			g->entry = best;
		if (p->progress)
			p->progress(METHOD_SRS, i, p->groups);
	}
}

/**
 * srs_free() - forget the groups
 * @p: the planner
 */
void srs_free(struct planner *p)
{
	u32 i;

	for (i = 0; i < p->groups; i++) {
		free(p->group[i].receiver);
		free(p->group[i].tree_cost);
		free(p->group[i].cost);
	}
	free(p->group);
	p->group = NULL;
	p->groups = 0;
}
