// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long data by two trees: all groups of up to 64 members and all roots.  What a member has of a
 * block is a run of members, counted from the root, for nothing else is in order.
 */
#include "../../../net/shuffle/test/harness.h"
#include "../plan/plan.h"

#define MOST		64U	/* members */
#define SEGMENTS	9U	/* at most */
#define MOST_MSGS	(4 * SEGMENTS + 4)

/**
 * struct run - whose data a block has, counted from the root
 * @first: the first member
 * @n: how many; 0: it is not there
 */
struct run {
	u8	first;
	u8	n;
};

/* What is too large for a stack.  Tests run one behind the other. */
static struct {
	struct shuffle_plan	plan[MOST];
	struct shuffle_plan_msg	msg[MOST][MOST_MSGS];
	struct run		now[MOST][SEGMENTS];
	struct run		then[MOST][SEGMENTS];
} all;

static const char *make_all(const struct shuffle_plan *p, u32 *steps)
{
	u32 n = p->topo->n, i, b;

	*steps = 0;
	for (i = 0; i < n; i++) {
		all.plan[i] = *p;
		all.plan[i].self = i;
		all.plan[i].msg = all.msg[i];
		all.plan[i].max = MOST_MSGS;
		if (shuffle_plan_make(&all.plan[i]))
			return "no plan";
		if (all.plan[i].steps > *steps)
			*steps = all.plan[i].steps;
		for (b = 0; b < p->radix; b++)
			all.now[i][b] = (struct run){
				.first = (i + n - p->root) % n,
				.n = p->kind != SHUFFLE_COLL_BROADCAST || i == p->root,
			};
	}
	return NULL;
}

static const char *take(struct run *ours, const struct run *theirs, u8 how)
{
	const struct run *a = how == SHUFFLE_COLL_BEFORE ? theirs : ours;
	const struct run *b = how == SHUFFLE_COLL_BEFORE ? ours : theirs;

	if (!theirs->n)
		return "what is sent is not there";
	if (how == SHUFFLE_COLL_STORE) {
		*ours = *theirs;
		return NULL;
	}
	if (a->first + a->n != b->first)
		return "not in order";
	*ours = (struct run){ a->first, a->n + b->n };
	return NULL;
}

/* The message of @from to @to in @step that has not been found, of which there is one. */
static const struct shuffle_plan_msg *sent(u32 from, u32 to, u32 step)
{
	const struct shuffle_plan_msg *found = NULL;
	u32 i;

	for (i = 0; i < all.plan[from].n; i++) {
		const struct shuffle_plan_msg *m = &all.msg[from][i];

		if (!m->out || m->peer != to || m->step != step)
			continue;
		if (found)
			return NULL;
		found = m;
	}
	return found;
}

static const char *member_step(u32 self, u32 step, u32 *ins)
{
	const char *why = NULL;
	u32 i, in = 0, out = 0;

	for (i = 0; i < all.plan[self].n && !why; i++) {
		const struct shuffle_plan_msg *m = &all.msg[self][i], *s;

		if (m->step != step)
			continue;
		in += !m->out;
		out += m->out;
		if (m->out)
			continue;
		s = sent(m->peer, self, step);
		if (!s || s->block != m->block || s->blocks != 1 || m->blocks != 1)
			return "the ends do not agree";
		why = take(&all.now[self][m->block], &all.then[m->peer][m->block], m->take);
	}
	*ins += in;
	return why ? why : in > 2 || out > 2 ? "more than two messages in a step" : NULL;
}

static const char *run(u32 n, u32 steps)
{
	u32 outs = 0, ins = 0, step, i, k;
	const char *why = NULL;

	for (step = 0; step < steps && !why; step++) {
		memcpy(all.then, all.now, sizeof(all.now));
		for (i = 0; i < n && !why; i++)
			why = member_step(i, step, &ins);
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < all.plan[i].n; k++)
			outs += all.msg[i][k].out;
	return why ? why : outs != ins ? "messages are sent that nobody receives" : NULL;
}

static const char *check_member(const struct shuffle_plan *p, u32 self)
{
	bool combines = p->kind != SHUFFLE_COLL_BROADCAST, all_get = p->kind != SHUFFLE_COLL_REDUCE;
	u32 b, n = p->topo->n;

	for (b = 0; b < p->radix; b++) {
		const struct run *r = &all.now[self][b];

		if ((all_get || self == p->root) && (r->first || r->n != (combines ? n : 1)))
			return "not all of it, or not once";
	}
	return NULL;
}

/* Nobody has children in both trees: what a member sends is half of the data, twice. */
static const char *check_load(const struct shuffle_plan *p, u32 self)
{
	u32 n = p->topo->n, outs = 0, ups = p->kind != SHUFFLE_COLL_BROADCAST, downs, i;

	downs = p->kind != SHUFFLE_COLL_REDUCE;
	if (self == p->root)
		ups = 0;
	for (i = 0; i < all.plan[self].n; i++)
		outs += all.msg[self][i].out;
	return n > 1 && outs > ups * p->radix + downs * ((p->radix + 1) / 2 * 2) ?
	       "sends more than the data" : NULL;
}

static u32 levels(u32 n)
{
	u32 i = 0;

	while (n >>= 1)
		i++;
	return i;
}

static const char *check(const struct shuffle_plan *p)
{
	u32 n = p->topo->n, deepest = n > 2 ? levels(n) : 0, steps, most, i;
	const char *why = make_all(p, &steps);

	if (why)
		return why;
	most = (n == 2 ? p->radix : (p->radix + 1) / 2) + deepest;
	if (p->kind == SHUFFLE_COLL_ALLREDUCE)
		most = 2 * (most + deepest);
	if (n > 1 && steps > most)
		return "too many steps";
	why = run(n, steps);
	for (i = 0; i < n && !why; i++) {
		why = check_member(p, i);
		if (!why)
			why = check_load(p, i);
	}
	return why;
}

static const u8 kinds[] = { SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_REDUCE, SHUFFLE_COLL_ALLREDUCE };

static void two_tree__every_group(struct kunit *test)
{
	struct shuffle_topology t = { .racks = 1 };
	struct shuffle_plan p = { .pattern = SHUFFLE_COLL_TWO_TREE, .topo = &t };
	const char *why;
	u32 k;

	for (t.n = 1; t.n <= MOST; t.n++) {
		for (p.root = 0; p.root < t.n; p.root++) {
			for (k = 0; k < ARRAY_SIZE(kinds); k++) {
				p.kind = kinds[k];
				if (p.root && !shuffle_coll_has_root(p.kind))
					continue;
				p.radix = 1 + (t.n + p.root) % SEGMENTS;
				why = check(&p);
				if (why)
					KUNIT_FAIL(test, "%s of %u, root %u, %u segments: %s",
						   shuffle_coll_kind_name(p.kind), t.n, p.root,
						   p.radix, why);
			}
		}
	}
}

/* Any number of segments. */
static void two_tree__segments(struct kunit *test)
{
	static const u32 groups[] = { 2, 3, 4, 5, 16, 17, 63 };
	struct shuffle_topology t = { .racks = 1 };
	struct shuffle_plan p = { .pattern = SHUFFLE_COLL_TWO_TREE, .topo = &t };
	const char *why;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		t.n = groups[i];
		for (p.radix = 1; p.radix <= SEGMENTS; p.radix++) {
			for (k = 0; k < ARRAY_SIZE(kinds); k++) {
				p.kind = kinds[k];
				p.root = shuffle_coll_has_root(p.kind) ? t.n / 2 : 0;
				why = check(&p);
				if (why)
					KUNIT_FAIL(test, "%s of %u members, %u segments: %s",
						   shuffle_coll_kind_name(p.kind), t.n, p.radix,
						   why);
			}
		}
	}
}

static struct kunit_case two_tree_cases[] = {
	KUNIT_CASE(two_tree__every_group),
	KUNIT_CASE(two_tree__segments),
	{}
};

struct kunit_suite shuffle_two_tree_suite = {
	.name = "shuffle_two_tree",
	.test_cases = two_tree_cases,
};
