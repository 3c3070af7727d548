// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans of whole shuffles: a tree for each receiver, and what they cost together. */
#include "shuffle.h"

/**
 * var method_names - as in options and output, by enum method
 */
const char *const method_names[METHODS + 1] = {
	"none", "unicast", "kmb", "irs", "srs", "exact", NULL,
};

/**
 * method_refused() - can a method plan this?
 * @s: the shuffle
 * @m: the method
 *
 * Return: why not, or NULL.
 */
const char *method_refused(const struct shuffle *s, enum method m)
{
	u64 work;
	u32 i;

	if ((m == METHOD_IRS || m == METHOD_SRS) && s->topo->graph)
		return "needs labels, which only a BCube has";
	if (m != METHOD_EXACT)
		return NULL;
	if (s->senders > EXACT_MAX_MEMBERS - 1 || topo_servers(s->topo) > EXACT_MAX_SERVERS)
		return "is for at most 12 senders on at most 4096 servers";
	for (i = 0, work = topo_servers(s->topo); i < s->senders; i++)
		work *= 3;
	if (work > EXACT_MAX_WORK)
		return "would take too long: 3^senders times servers is more than 8e9";
	return NULL;
}

/**
 * plan_senders() - the senders of a tree, whose edges are known; it is finished
 * @s: the shuffle
 * @t: the tree
 */
void plan_senders(const struct shuffle *s, struct tree *t)
{
	u32 i;

	for (i = 0; i < s->senders; i++)
		tree_sender(t, s->sender[i], s->flow[i]);
	tree_end(t);
}

/**
 * plan_account() - a finished tree counts
 * @p: the planner
 * @t: the tree; it is measured
 * @sum: what it costs is added there
 */
void plan_account(struct planner *p, struct tree *t, struct totals *sum)
{
	const struct shuffle *s = p->s;
	u32 i;

	topo_measure(s->topo, t, &p->used);
	for (i = 0; i < s->deltas; i++) {
		sum->cost[i] += tree_traffic(t, s->delta[i]);
		sum->input[i] += tree_input(t, s->delta[i]);
	}
	for (i = 0; i < t->n; i++) {
		if (i && tree_merges(t, i))
			links_add(&p->met, t->v[i].server);
		if (t->v[i].depth > sum->depth)
			sum->depth = t->v[i].depth;
	}
	sum->vertices += t->n;
	sum->trees++;
	if (p->each)
		p->each(p->arg, t);
}

/* Without aggregation there is no tree. */
static void plan_none(struct planner *p, struct totals *sum)
{
	const struct shuffle *s = p->s;
	double cost = 0, input = 0;
	u32 i, j;

	for (i = 0; i < s->receivers; i++) {
		unicast_paths(s, s->receiver[i], &p->used, &cost);
		for (j = 0; j < s->senders; j++)
			input += s->sender[j] == s->receiver[i] ? 0 : s->flow[j];
		if (p->progress)
			p->progress(METHOD_NONE, i + 1, s->receivers);
	}
	for (i = 0; i < s->deltas; i++) {
		sum->cost[i] = cost;
		sum->input[i] = input;
	}
}

/**
 * plan_tree() - one tree, finished
 * @p: the planner
 * @m: the method; SRS: the tree of an entry
 * @receiver: its root
 * @t: the tree
 */
void plan_tree(struct planner *p, enum method m, u32 receiver, struct tree *t)
{
	tree_begin(t, receiver);
	switch (m) {
	case METHOD_UNICAST:
		unicast_tree(p->s, receiver, t);
		break;
	case METHOD_KMB:
		kmb_tree(p->s, receiver, t);
		break;
	case METHOD_EXACT:
		exact_tree(p->s, receiver, t);
		break;
	default:
		irs_tree(p, receiver, t);
	}
	plan_senders(p->s, t);
	if (p->s->refine && (m == METHOD_IRS || m == METHOD_SRS))
		refine_tree(p->s, t);
}

/* The tree of a receiver of a group that is entered elsewhere. */
static void share(struct planner *p, const struct srs_group *g, u32 i)
{
	const struct bcube *c = &p->s->topo->cube;
	u32 entry = g->receiver[g->entry], by = entry;

	if (bcube_hop(c, g->receiver[i], entry) == c->dims)
		by = g->receiver[0];
	tree_attach(&p->entry, g->receiver[i], by, &p->tree);
	plan_senders(p->s, &p->tree);
}

static void plan_srs(struct planner *p, struct totals *sum)
{
	u32 i, j, done = 0;

	srs_groups(p);
	for (i = 0; i < p->groups; i++) {
		const struct srs_group *g = &p->group[i];

		if (g->entry != NONE)
			plan_tree(p, METHOD_SRS, g->receiver[g->entry], &p->entry);
		for (j = 0; j < g->n; j++) {
			if (g->entry == NONE) {
				plan_tree(p, METHOD_SRS, g->receiver[j], &p->tree);
				plan_account(p, &p->tree, sum);
			} else if (j == g->entry) {
				plan_account(p, &p->entry, sum);
			} else {
				share(p, g, j);
				sum->shared++;
				plan_account(p, &p->tree, sum);
			}
			if (p->progress)
				p->progress(METHOD_SRS, ++done, p->s->receivers);
		}
	}
}

/**
 * plan() - all trees of a shuffle, one after the other
 * @p: the planner; @each sees every tree while it is there
 * @m: the method, which method_refused() does not refuse
 * @sum: what they cost together
 */
void plan(struct planner *p, enum method m, struct totals *sum)
{
	u32 i;

	*sum = (struct totals){ 0 };
	p->tree.children_only = p->s->children_only;
	p->entry.children_only = p->s->children_only;
	links_clear(&p->used);
	links_clear(&p->met);
	if (m == METHOD_NONE) {
		plan_none(p, sum);
	} else if (m == METHOD_SRS) {
		plan_srs(p, sum);
	} else {
		for (i = 0; i < p->s->receivers; i++) {
			plan_tree(p, m, p->s->receiver[i], &p->tree);
			plan_account(p, &p->tree, sum);
			if (p->progress)
				p->progress(m, i + 1, p->s->receivers);
		}
	}
	sum->links = p->used.n;
	sum->aggregators = p->met.n;
}

/**
 * planner_free() - give its memory back
 * @p: the planner
 */
void planner_free(struct planner *p)
{
	tree_free(&p->tree);
	tree_free(&p->entry);
	links_free(&p->used);
	links_free(&p->met);
	srs_free(p);
	irs_free(p->irs);
	p->irs = NULL;
}
