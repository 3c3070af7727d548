// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans of collectives.  All members' parts are put together and carried out on sets of members, so
 * that what everybody has in the end can be compared with what the kind promises: each member's
 * data once, in an order that is known.
 */
#include "../../../net/shuffle/test/harness.h"
#include "../plan/plan.h"

#define MOST		40U	/* members */
#define SEGMENTS	3U	/* at most */
#define MOST_MSGS	(2 * (SEGMENTS + 1) * MOST)
#define MOST_BLOCKS	(SEGMENTS * MOST)

/**
 * struct held - a block: whose data it has, in the order of combination
 * @n: number of members; 0: it is not there
 * @of: the members
 */
struct held {
	u8	n;
	u8	of[MOST];
};

/* What is too large for a stack.  Tests run one behind the other. */
static struct {
	struct shuffle_plan	plan[MOST];
	struct shuffle_plan_msg	msg[MOST][MOST_MSGS];
	struct held		now[MOST][MOST_BLOCKS];
	struct held		then[MOST][MOST_BLOCKS];
	u64			knows[MOST];	/* of whom it has heard, by bits */
	u64			knew[MOST];
	u32			first[MOST + 1];
} all;

struct wanted {
	u8	kind;
	u8	pattern;
	u32	radix;
	u32	root;
};

static const char *make_all(const struct shuffle_topology *t, const struct wanted *w)
{
	u32 i;
	int err;

	for (i = 0; i < t->n; i++) {
		all.plan[i] = (struct shuffle_plan) {
			.kind = w->kind, .pattern = w->pattern, .radix = w->radix, .topo = t,
			.root = w->root, .self = i, .msg = all.msg[i], .max = MOST_MSGS,
		};
		err = shuffle_plan_make(&all.plan[i]);
		if (err)
			return err == -ENOSPC ? "too many messages" : "not possible";
	}
	return NULL;
}

static void begin_with(const struct wanted *w, u32 n)
{
	u32 i, b;

	memset(all.now, 0, sizeof(all.now));
	for (i = 0; i < n; i++) {
		all.knows[i] = 1ULL << i;
		for (b = 0; b < all.plan[i].blocks; b++) {
			bool own = shuffle_coll_combines(w->kind) ||
				   (w->kind == SHUFFLE_COLL_BROADCAST && i == w->root) ||
				   (w->kind == SHUFFLE_COLL_SCATTER && i == w->root) ||
				   b == i;

			if (w->kind == SHUFFLE_COLL_BROADCAST || w->kind == SHUFFLE_COLL_SCATTER)
				own = i == w->root;
			all.now[i][b].n = own;
			all.now[i][b].of[0] = (u8)(w->kind == SHUFFLE_COLL_SCATTER ? b : i);
		}
	}
}

/* @theirs joins @ours. */
static const char *combine(struct held *ours, const struct held *theirs, u8 take)
{
	struct held sum;
	const struct held *a = take == SHUFFLE_COLL_BEFORE ? theirs : ours;
	const struct held *b = take == SHUFFLE_COLL_BEFORE ? ours : theirs;

	if (take == SHUFFLE_COLL_STORE) {
		*ours = *theirs;
		return NULL;
	}
	if (a->n + b->n > (int)MOST)
		return "a member's data is combined twice";
	sum = *a;
	memcpy(sum.of + a->n, b->of, b->n);
	sum.n += b->n;
	*ours = sum;
	return NULL;
}

/* The message of @from that @m, which @to receives, is. */
static const struct shuffle_plan_msg *sent(u32 from, u32 to, const struct shuffle_plan_msg *m)
{
	const struct shuffle_plan *p = &all.plan[from];
	u32 i;

	for (i = 0; i < p->n; i++)
		if (p->msg[i].out && p->msg[i].step == m->step && p->msg[i].peer == to)
			return &p->msg[i];
	return NULL;
}

static const char *receive(u32 to, const struct shuffle_plan_msg *m)
{
	const struct shuffle_plan_msg *s = sent(m->peer, to, m);
	const char *why = NULL;
	u32 b, i;

	if (!s)
		return "nobody sends what is received";
	if (s->block != m->block || s->blocks != m->blocks)
		return "the ends do not agree on the blocks";
	all.knows[to] |= all.knew[m->peer];
	for (i = 0; i < m->blocks && !why; i++) {
		b = (m->block + i) % all.plan[to].blocks;
		if (!all.then[m->peer][b].n)
			return "what is sent is not there";
		why = combine(&all.now[to][b], &all.then[m->peer][b], m->take);
	}
	return why;
}

static const char *run(u32 n, u32 *steps)
{
	u32 outs = 0, ins = 0, step, i, k, most = 0;
	const char *why;

	for (i = 0; i < n; i++) {
		const struct shuffle_plan *p = &all.plan[i];

		most = p->steps > most ? p->steps : most;
		for (k = 0; k < p->n; k++) {
			outs += p->msg[k].out;
			ins += !p->msg[k].out;
			if (p->msg[k].peer >= n || p->msg[k].peer == i)
				return "a message to nobody, or to oneself";
			if (k && p->msg[k].step < p->msg[k - 1].step)
				return "steps are not in order";
			if (k && p->msg[k].step == p->msg[k - 1].step && p->msg[k].out &&
			    !p->msg[k - 1].out)
				return "a step sends after it has received";
		}
	}
	if (outs != ins)
		return "messages are sent that nobody receives";
	for (step = 0; step < most; step++) {
		memcpy(all.then, all.now, sizeof(all.now));
		memcpy(all.knew, all.knows, sizeof(all.knows));
		for (i = 0; i < n; i++) {
			for (k = 0; k < all.plan[i].n; k++) {
				const struct shuffle_plan_msg *m = &all.plan[i].msg[k];

				if (m->step != step || m->out)
					continue;
				why = receive(i, m);
				if (why)
					return why;
			}
		}
	}
	*steps = most;
	return NULL;
}

/* Does @h have the members [from, to) once each?  @in_order: from @start on, which wraps. */
static const char *has(const struct held *h, u32 from, u32 to, bool in_order, u32 start, u32 n)
{
	u64 seen = 0;
	u32 i;

	if (h->n != to - from)
		return "not as much as there ought to be";
	for (i = 0; i < h->n; i++) {
		if (h->of[i] < from || h->of[i] >= to || seen >> h->of[i] & 1)
			return "of the wrong members, or twice";
		if (in_order && h->of[i] != (start + i) % n)
			return "not in order";
		seen |= 1ULL << h->of[i];
	}
	return NULL;
}

/* In which order is data combined: of members from the root on, or none that is promised. */
static bool ordered(const struct wanted *w)
{
	return w->pattern != SHUFFLE_COLL_RING && w->pattern != SHUFFLE_COLL_RABENSEIFNER;
}

/* Every block of a member: of its owner alone, or of all. */
static const char *check_blocks(const struct wanted *w, u32 n, u32 i, u32 start)
{
	const struct held *mine = all.now[i];
	const char *why = NULL;
	u32 b;

	for (b = 0; b < all.plan[i].blocks && !why; b++)
		why = shuffle_coll_combines(w->kind) ? has(&mine[b], 0, n, ordered(w), start, n) :
						       has(&mine[b], b, b + 1, true, b, n);
	return why;
}

static const char *check_member(const struct wanted *w, u32 n, u32 i)
{
	const struct held *mine = all.now[i];
	const char *why = NULL;
	u32 b;

	switch (w->kind) {
	case SHUFFLE_COLL_BARRIER:
		return all.knows[i] == (1ULL << n) - 1 ? NULL : "has not heard of all";
	case SHUFFLE_COLL_BROADCAST:
		for (b = 0; b < all.plan[i].blocks && !why; b++)
			why = has(&mine[b], w->root, w->root + 1, true, w->root, n);
		return why;
	case SHUFFLE_COLL_SCATTER:
		return has(&mine[i], i, i + 1, true, i, n);
	case SHUFFLE_COLL_GATHER:
	case SHUFFLE_COLL_REDUCE:
		if (i != w->root)
			return NULL;
		return check_blocks(w, n, i, w->pattern == SHUFFLE_COLL_COOL_PP ||
					     w->pattern == SHUFFLE_COLL_SPREAD ? 0 : w->root);
	case SHUFFLE_COLL_ALLGATHER:
	case SHUFFLE_COLL_ALLREDUCE:
		return check_blocks(w, n, i, 0);
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return has(&mine[i], 0, n, ordered(w), 0, n);
	case SHUFFLE_COLL_SCAN:
		return has(mine, 0, i + 1, true, 0, n);
	default:
		return i ? has(mine, 0, i, true, 0, n) : NULL;
	}
}

static const char *check(const struct shuffle_topology *t, const struct wanted *w, u32 *steps)
{
	const char *why = make_all(t, w);
	struct wanted moved = *w;
	u32 i;

	if (why)
		return why;
	/* of what is gathered before it is combined, the plan ends with the gathering */
	if (w->pattern == SHUFFLE_COLL_GATHERED)
		moved.kind = SHUFFLE_COLL_ALLGATHER;
	begin_with(&moved, t->n);
	why = run(t->n, steps);
	for (i = 0; i < t->n && !why; i++)
		why = check_member(&moved, t->n, i);
	return why;
}

static bool check_or_say(struct kunit *test, const struct shuffle_topology *t,
			 const struct wanted *w)
{
	u32 steps = 0;
	const char *why = check(t, w, &steps);

	if (why)
		KUNIT_FAIL(test, "%s, %s, radix %u: %u members in %u racks, root %u: %s",
			   shuffle_coll_kind_name(w->kind), shuffle_coll_pattern_name(w->pattern),
			   w->radix, t->n, t->racks, w->root, why);
	return !why;
}

/* Racks of random sizes, at least one member each. */
static struct shuffle_topology random_racks(struct shuffle_rnd *rnd, u32 n)
{
	u32 racks = 0, at = 0;

	while (at < n) {
		all.first[racks++] = at;
		at += shuffle_rnd_in(rnd, 1, n - at < 9 ? n - at : 9);
	}
	all.first[racks] = n;
	return (struct shuffle_topology) { .n = n, .racks = racks, .first = all.first };
}

static void every_pattern(struct kunit *test, struct shuffle_rnd *rnd, u32 n, u32 root)
{
	struct shuffle_topology t = random_racks(rnd, n);
	struct wanted w = { .root = root };

	for (w.kind = 0; w.kind < SHUFFLE_COLL_KINDS; w.kind++) {
		for (w.pattern = 0; w.pattern < SHUFFLE_COLL_PATTERNS; w.pattern++) {
			if (!shuffle_plan_possible(w.kind, w.pattern))
				continue;
			w.radix = shuffle_rnd_in(rnd, 2, 7);
			if (w.pattern == SHUFFLE_COLL_SPREAD)
				w.radix = shuffle_rnd_in(rnd, 1, SEGMENTS);
			if (!check_or_say(test, &t, &w))
				return;
		}
	}
}

/* All kinds and patterns give what they promise: all small groups and roots, some larger ones. */
static void plan__every_kind(struct kunit *test)
{
	struct shuffle_rnd rnd = { 1 };
	u32 n, root;

	for (n = 1; n <= 12; n++)
		for (root = 0; root < n; root++)
			every_pattern(test, &rnd, n, root);
	for (n = 13; n <= MOST; n++)
		every_pattern(test, &rnd, n, shuffle_rnd_below(&rnd, n));
}

/* @racks racks of @least members, or of up to twice as many. */
static struct shuffle_topology even_racks(struct shuffle_rnd *rnd, u32 racks, u32 least, bool equal)
{
	u32 i;

	all.first[0] = 0;
	for (i = 1; i <= racks; i++)
		all.first[i] = all.first[i - 1] + least +
			       (equal ? 0 : shuffle_rnd_below(rnd, least + 1));
	return (struct shuffle_topology) { .n = all.first[racks], .racks = racks,
					   .first = all.first };
}

/* Long data over racks that do not differ much. */
static void plan__even_racks(struct kunit *test)
{
	struct wanted w = { .pattern = SHUFFLE_COLL_SPREAD };
	struct shuffle_rnd rnd = { 2 };
	struct shuffle_topology t;
	u32 i;

	for (i = 0; i < 200; i++) {
		t = even_racks(&rnd, shuffle_rnd_in(&rnd, 1, 6), shuffle_rnd_in(&rnd, 1, 6), i % 2);
		if (t.n > MOST)
			continue;
		KUNIT_EXPECT_EQ(test, shuffle_topology_even(&t), t.racks > 1);
		w.root = shuffle_rnd_below(&rnd, t.n);
		for (w.kind = 0; w.kind < SHUFFLE_COLL_KINDS; w.kind++)
			for (w.radix = 1; w.radix <= SEGMENTS; w.radix++)
				if (shuffle_plan_possible(w.kind, w.pattern) &&
				    !check_or_say(test, &t, &w))
					return;
	}
}

/* A long reduce over racks to each member of them, from racks on both sides. */
static void plan__reduce_over_racks(struct kunit *test)
{
	struct wanted w = { .kind = SHUFFLE_COLL_REDUCE, .pattern = SHUFFLE_COLL_SPREAD };
	struct shuffle_rnd rnd = { 3 };
	struct shuffle_topology t;
	u32 i;

	for (i = 0; i < 60; i++) {
		t = even_racks(&rnd, shuffle_rnd_in(&rnd, 2, 5), shuffle_rnd_in(&rnd, 1, 4), i % 2);
		if (t.n > MOST)
			continue;
		w.radix = i % 4 ? SEGMENTS : 2;
		for (w.root = 0; w.root < t.n; w.root++)
			if (!check_or_say(test, &t, &w))
				return;
	}
}

/* Each part of it crosses to the next rack once. */
static void plan__reduce_crosses(struct kunit *test)
{
	static const u32 first[] = { 0, 4, 8, 12, 16 }, lonely[] = { 0, 2, 4, 5 };
	struct shuffle_topology t = { .n = 16, .racks = 4, .first = first };
	struct shuffle_plan plan = {
		.kind = SHUFFLE_COLL_REDUCE, .pattern = SHUFFLE_COLL_SPREAD, .radix = 4,
		.topo = &t, .msg = all.msg[0], .max = 4 * MOST_MSGS,
	};
	struct shuffle_plan_cost cost;

	for (plan.root = 0; plan.root < t.n; plan.root++) {
		KUNIT_ASSERT_EQ(test, shuffle_plan_cost(&plan, &cost), 0);
		/* the root is no owner, so there are 3 parts */
		KUNIT_EXPECT_EQ(test, cost.cross_messages, 4ULL * 3 * 3);
	}
	/* a root alone in the last rack: it tells the one before, and is told */
	t = (struct shuffle_topology){ .n = 5, .racks = 3, .first = lonely };
	plan.root = 4;
	KUNIT_ASSERT_EQ(test, shuffle_plan_cost(&plan, &cost), 0);
	KUNIT_EXPECT_EQ(test, cost.cross_messages, 4ULL * 2 * 3);
}

/* Steps of one behind the other, and how many messages a member has at most. */
static const struct {
	u8	kind;
	u8	pattern;
	u32	radix;
	u32	n;
	u32	steps;
	u32	msgs;
} shapes[] = {
	{ SHUFFLE_COLL_BARRIER, SHUFFLE_COLL_DOUBLING, 2, 40, 6, 12 },
	{ SHUFFLE_COLL_BARRIER, SHUFFLE_COLL_DOUBLING, 4, 40, 3, 16 },
	{ SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_GATHERED, 4, 40, 3, 16 },
	{ SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_FLAT, 2, 40, 1, 39 },
	{ SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_TREE, 2, 40, 6, 6 },
	{ SHUFFLE_COLL_GATHER, SHUFFLE_COLL_TREE, 6, 36, 2, 10 },
	{ SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_CHAIN, 1, 40, 39, 2 },
	{ SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_CHAIN, 8, 40, 46, 16 },
	{ SHUFFLE_COLL_REDUCE, SHUFFLE_COLL_CHAIN, 8, 40, 46, 16 },
	{ SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_RING, 2, 40, 39, 78 },
	{ SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_DOUBLING, 2, 33, 6, 12 },
	{ SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_DOUBLING, 2, 32, 5, 10 },
	{ SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_DOUBLING, 2, 33, 7, 12 },
	{ SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_RABENSEIFNER, 2, 32, 10, 20 },
	{ SHUFFLE_COLL_SCAN, SHUFFLE_COLL_DOUBLING, 2, 32, 5, 9 },
	{ SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_SPREAD, 3, 12, 4, 63 },
	{ SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_SPREAD, 1, 12, 2, 44 },
	{ SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_TWO_TREE, 8, 40, 9, 16 },
	{ SHUFFLE_COLL_REDUCE, SHUFFLE_COLL_TWO_TREE, 8, 40, 9, 16 },
	{ SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_TWO_TREE, 8, 40, 28, 32 },
};

static void plan__shape(struct kunit *test)
{
	struct shuffle_topology t = { .racks = 1 };
	struct wanted w = {};
	u32 i, k, steps, msgs;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		w.kind = shapes[i].kind;
		w.pattern = shapes[i].pattern;
		w.radix = shapes[i].radix;
		t.n = shapes[i].n;
		steps = 0;
		SHUFFLE_ASSERT_OK(test, check(&t, &w, &steps));
		msgs = 0;
		for (k = 0; k < t.n; k++)
			msgs = all.plan[k].n > msgs ? all.plan[k].n : msgs;
		KUNIT_EXPECT_EQ(test, steps, shapes[i].steps);
		KUNIT_EXPECT_EQ(test, msgs, shapes[i].msgs);
	}
}

/* Is there a message the other way in the same step? */
static bool answered(const struct shuffle_plan *plan, const struct shuffle_plan_msg *msg)
{
	u32 i;

	for (i = 0; i < plan->n; i++)
		if (plan->msg[i].step == msg->step && plan->msg[i].peer == msg->peer &&
		    plan->msg[i].out != msg->out)
			return true;
	return false;
}

/* Of a power of two members each hears in each step from those that it sends to: then the ACKs of
 * one call go with the messages of the next.
 */
static void plan__in_pairs(struct kunit *test)
{
	static const u8 kinds[] = { SHUFFLE_COLL_BARRIER, SHUFFLE_COLL_ALLGATHER };
	struct shuffle_topology t = { .racks = 1 };
	struct wanted w = { .pattern = SHUFFLE_COLL_DOUBLING };
	u32 i, k, m, steps;

	for (t.n = 2; t.n <= MOST; t.n *= 2) {
		for (i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
			w.kind = kinds[i / 2];
			w.radix = i % 2 ? 4 : 2;
			steps = 0;
			SHUFFLE_ASSERT_OK(test, check(&t, &w, &steps));
			for (k = 0; k < t.n; k++)
				for (m = 0; m < all.plan[k].n; m++)
					if (!answered(&all.plan[k], &all.msg[k][m]))
						KUNIT_FAIL(test, "kind %u, radix %u, %u members: %u",
							   w.kind, w.radix, t.n, k);
		}
	}
}

/* AlSader's cost tables, with the corrections of the text: total and core link load, and
 * the packets of the busiest leader and of the busiest other member in a step.
 */
static const struct {
	const char *name;
	u8	kind;
	u8	pattern;
	u32	k;		/* members of a rack */
	u32	r;		/* racks */
	u64	links;
	u64	cross;
	u32	leader;
	u32	other;
} costs[] = {
	{ "reduce P-P", SHUFFLE_COLL_REDUCE, SHUFFLE_COLL_COOL_PP, 4, 4, 38, 6, 3, 1 },
	{ "gather P-P", SHUFFLE_COLL_GATHER, SHUFFLE_COLL_COOL_PP, 4, 4, 38, 6, 3, 1 },
	{ "scatter P-P", SHUFFLE_COLL_SCATTER, SHUFFLE_COLL_COOL_PP, 4, 4, 38, 6, 3, 1 },
	{ "broadcast P-P", SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_COOL_PP, 4, 4, 26, 4, 1, 1 },
	{ "all-reduce P-P", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_COOL_PP, 4, 4, 72, 16, 4, 1 },
	{ "all-gather P-P", SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_COOL_PP, 4, 4, 72, 16, 4, 1 },
	{ "all-reduce B-R", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_COOL_BR, 4, 4, 72, 16, 2, 1 },
	{ "ring", SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_RING, 4, 4, 600, 120, 2, 2 },
	{ "doubling", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_DOUBLING, 4, 4, 192, 64, 2, 2 },
	{ "in pairs", SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_DOUBLING, 4, 4, 192, 64, 2, 2 },
	{ "Bruck", SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_DOUBLING, 5, 3, 192, 72, 2, 2 },
	{ "binomial", SHUFFLE_COLL_REDUCE, SHUFFLE_COLL_TREE, 4, 4, 36, 6, 1, 1 },
	{ "to one", SHUFFLE_COLL_REDUCE, SHUFFLE_COLL_RABENSEIFNER, 4, 4, 228, 70, 2, 2 },
	{ "Rabenseifner", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_RABENSEIFNER, 4, 4, 384, 128, 2, 2 },
	{ "spread", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_SPREAD, 4, 4, 576, 192, 6, 6 },
	{ "spread", SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_SPREAD, 4, 4, 576, 96, 12, 12 },
	{ "spread", SHUFFLE_COLL_REDUCE_SCATTER, SHUFFLE_COLL_SPREAD, 4, 4, 576, 96, 12, 12 },
	{ "P-P", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_COOL_PP, 32, 32, 5056, 1024, 32, 1 },
	{ "all-reduce B-R", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_COOL_BR, 32, 32, 3648, 320, 2, 1 },
	{ "doubling", SHUFFLE_COLL_ALLREDUCE, SHUFFLE_COLL_DOUBLING, 32, 32, 30720, 10240, 2, 2 },
	{ "ring", SHUFFLE_COLL_ALLGATHER, SHUFFLE_COLL_RING, 32, 32, 2160576, 65472, 2, 2 },
};

static void plan_cost__cool(struct kunit *test)
{
	struct shuffle_plan_msg *msg;
	u32 *first, i, k;

	msg = kunit_kcalloc(test, 2100, sizeof(*msg), GFP_KERNEL);
	first = kunit_kcalloc(test, 33, sizeof(*first), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_NOT_NULL(test, first);
	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		struct shuffle_topology t = {
			.n = costs[i].k * costs[i].r, .racks = costs[i].r, .first = first,
		};
		/* COOL's root is no leader; that of a tree is in its first place */
		struct shuffle_plan plan = {
			.kind = costs[i].kind, .pattern = costs[i].pattern, .topo = &t,
			.root = costs[i].pattern == SHUFFLE_COLL_COOL_PP ? costs[i].k + 2 : 0,
			.msg = msg, .max = 2100,
		};
		struct shuffle_plan_cost cost;

		for (k = 0; k <= t.racks; k++)
			first[k] = k * costs[i].k;
		KUNIT_ASSERT_EQ(test, shuffle_plan_cost(&plan, &cost), 0);
		if (cost.links != costs[i].links || cost.cross_links != costs[i].cross ||
		    cost.leader_load != costs[i].leader || cost.other_load != costs[i].other)
			KUNIT_FAIL(test, "%s, %u x %u: %llu/%llu/%u/%u, expected %llu/%llu/%u/%u",
				   costs[i].name, costs[i].k, costs[i].r,
				   (unsigned long long)cost.links,
				   (unsigned long long)cost.cross_links, cost.leader_load,
				   cost.other_load,
				   (unsigned long long)costs[i].links,
				   (unsigned long long)costs[i].cross, costs[i].leader,
				   costs[i].other);
	}
}

/* What cannot be is refused, and a plan that does not fit says how much it needs. */
static void plan__refused(struct kunit *test)
{
	struct shuffle_topology t = { .n = 8, .racks = 1 };
	struct shuffle_plan_msg msg[4];
	struct shuffle_plan plan = { .kind = SHUFFLE_COLL_SCAN, .pattern = SHUFFLE_COLL_RING,
				     .topo = &t, .msg = msg, .max = 4 };

	KUNIT_EXPECT_EQ(test, shuffle_plan_make(&plan), -EINVAL);
	plan.kind = SHUFFLE_COLL_KINDS;
	KUNIT_EXPECT_EQ(test, shuffle_plan_make(&plan), -EINVAL);
	plan.kind = SHUFFLE_COLL_BROADCAST;
	plan.pattern = SHUFFLE_COLL_FLAT;
	plan.root = 8;
	KUNIT_EXPECT_EQ(test, shuffle_plan_make(&plan), -EINVAL);
	plan.root = 0;
	plan.self = 8;
	KUNIT_EXPECT_EQ(test, shuffle_plan_make(&plan), -EINVAL);
	plan.self = 0;
	KUNIT_EXPECT_EQ(test, shuffle_plan_make(&plan), -ENOSPC);
	KUNIT_EXPECT_EQ(test, plan.n, 7U);
}

static struct kunit_case plan_cases[] = {
	KUNIT_CASE(plan__every_kind),
	KUNIT_CASE(plan__even_racks),
	KUNIT_CASE(plan__reduce_over_racks),
	KUNIT_CASE(plan__reduce_crosses),
	KUNIT_CASE(plan__shape),
	KUNIT_CASE(plan__in_pairs),
	KUNIT_CASE(plan_cost__cool),
	KUNIT_CASE(plan__refused),
	{}
};

struct kunit_suite shuffle_plan_suite = {
	.name = "shuffle_plan",
	.test_cases = plan_cases,
};
