// SPDX-License-Identifier: GPL-2.0-only
/* Plans from tables: those of all patterns are right, and each way of being wrong is found. */
#include "../../../net/shuffle/test/harness.h"
#include "../plan/plan_table.h"

#define MOST		17U	/* members */
#define SEGMENTS	3U
#define MOST_MSGS	(2 * (SEGMENTS + 1) * MOST)
#define MOST_ENTRIES	(MOST * MOST_MSGS)
#define ROOM		(MOST * 4)

/* What is too large for a stack.  Tests run one behind the other. */
static struct {
	struct shuffle_plan_msg		msg[MOST][MOST_MSGS];
	struct shuffle_plan_msg		part[MOST_MSGS];
	struct shuffle_plan		plan[MOST];
	struct shuffle_plan_entry	entry[MOST_ENTRIES];
	u64				room[ROOM];
} all;

static bool check(const struct shuffle_plan_table *t, struct shuffle_table_fault *fault)
{
	return shuffle_table_room(t) <= ROOM && shuffle_table_check(t, all.room, fault);
}

/* What all members receive, step by step. */
static void make_table(const struct shuffle_topology *topo, u32 steps, struct shuffle_plan_table *t)
{
	u32 step, i, k;

	t->entries = 0;
	for (step = 0; step < steps; step++) {
		for (i = 0; i < topo->n; i++) {
			for (k = 0; k < all.plan[i].n; k++) {
				const struct shuffle_plan_msg *m = &all.msg[i][k];

				if (m->step == step && !m->out)
					all.entry[t->entries++] = (struct shuffle_plan_entry){
						step, m->peer, i, m->block, m->blocks, m->take,
					};
			}
		}
	}
}

/* The table of a pattern. */
static struct shuffle_plan_table table_of(const struct shuffle_topology *topo, u8 kind, u8 pattern,
					  u32 radix, u32 root)
{
	struct shuffle_plan_table t = { .kind = kind, .n = topo->n, .entry = all.entry };
	u32 i, steps = 0;

	for (i = 0; i < topo->n; i++) {
		all.plan[i] = (struct shuffle_plan){
			.kind = kind, .pattern = pattern, .radix = radix, .topo = topo,
			.root = root, .self = i, .msg = all.msg[i], .max = MOST_MSGS,
		};
		if (shuffle_plan_make(&all.plan[i]))
			all.plan[i].n = 0;
		if (all.plan[i].steps > steps)
			steps = all.plan[i].steps;
	}
	t.root = shuffle_coll_has_root(kind) ? root : 0;
	t.blocks = all.plan[0].blocks;
	/* it ends with the gathering */
	if (pattern == SHUFFLE_COLL_GATHERED)
		t.kind = SHUFFLE_COLL_ALLGATHER;
	make_table(topo, steps, &t);
	return t;
}

/* Is a member's part what its plan was?  What it sends in a step has no order. */
static bool same_part(const struct shuffle_plan *want, const struct shuffle_plan *got)
{
	u32 i, k, same = 0;

	for (i = 0; i < want->n; i++) {
		for (k = 0; k < got->n; k++) {
			const struct shuffle_plan_msg *a = &want->msg[i], *b = &got->msg[k];

			same += a->step == b->step && a->peer == b->peer && a->out == b->out &&
				a->take == b->take && a->block == b->block &&
				a->blocks == b->blocks && (a->out || i == k);
		}
	}
	return want->n == got->n && same == want->n;
}

static bool parts_are_same(const struct shuffle_topology *topo, const struct shuffle_plan_table *t)
{
	u32 i;

	for (i = 0; i < topo->n; i++) {
		struct shuffle_plan part = {
			.kind = t->kind, .topo = topo, .root = t->root, .self = i,
			.msg = all.part, .max = MOST_MSGS,
		};

		if (shuffle_table_plan(t, &part) || part.pattern != SHUFFLE_PLAN_EXPLICIT ||
		    part.blocks != all.plan[i].blocks || !same_part(&all.plan[i], &part))
			return false;
	}
	return true;
}

/* The tables of all patterns do what their kinds promise, and give each member its part. */
static void table__of_patterns(struct kunit *test)
{
	static const u32 groups[] = { 1, 2, 3, 6, 8, 13, 17 };
	static const u32 first[] = { 0, 2, 4, 6 };
	struct shuffle_table_fault fault;
	struct shuffle_plan_table t;
	u32 i;
	u8 k, p;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		struct shuffle_topology topo = { .n = groups[i], .racks = 1 };

		if (topo.n == 6) {
			topo.racks = 3;
			topo.first = first;
		}
		for (k = 0; k < SHUFFLE_COLL_KINDS; k++) {
			for (p = 0; p < SHUFFLE_COLL_PATTERNS; p++) {
				if (!shuffle_plan_possible(k, p))
					continue;
				t = table_of(&topo, k, p, 2 + i % 2, topo.n / 2);
				if (!check(&t, &fault))
					KUNIT_FAIL(test, "%s, %s, %u: %s (message %d, block %d)",
						   shuffle_coll_kind_name(k),
						   shuffle_coll_pattern_name(p), topo.n,
						   shuffle_table_error(fault.error), fault.entry,
						   fault.block);
				if (!parts_are_same(&topo, &t))
					KUNIT_FAIL(test, "%s, %s, %u: other parts",
						   shuffle_coll_kind_name(k),
						   shuffle_coll_pattern_name(p), topo.n);
			}
		}
	}
}

/* Without one of its messages a plan in which none is for nothing is wrong. */
static void table__one_is_missing(struct kunit *test)
{
	static const u8 patterns[] = { SHUFFLE_COLL_FLAT, SHUFFLE_COLL_TREE, SHUFFLE_COLL_SPREAD,
				       SHUFFLE_COLL_TWO_TREE, SHUFFLE_COLL_RABENSEIFNER };
	struct shuffle_topology topo = { .n = 7, .racks = 1 };
	struct shuffle_table_fault fault;
	struct shuffle_plan_entry out;
	struct shuffle_plan_table t;
	u32 i, m, wrong;
	u8 k;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		for (k = SHUFFLE_COLL_BROADCAST; k < SHUFFLE_COLL_KINDS; k++) {
			if (!shuffle_plan_possible(k, patterns[i]))
				continue;
			t = table_of(&topo, k, patterns[i], 3, 2);
			t.entries--;
			wrong = 0;
			for (m = 0; m <= t.entries; m++) {
				out = all.entry[m];
				memmove(&all.entry[m], &all.entry[m + 1],
					(t.entries - m) * sizeof(out));
				wrong += !check(&t, &fault);
				memmove(&all.entry[m + 1], &all.entry[m],
					(t.entries - m) * sizeof(out));
				all.entry[m] = out;
			}
			KUNIT_EXPECT_EQ(test, wrong, t.entries + 1);
		}
	}
}

/* Tables that are wrong: what, and at which message. */
static const struct {
	u8				kind;
	u32				n;
	u32				root;
	u32				blocks;
	u32				error;
	u32				at;
	u32				entries;
	struct shuffle_plan_entry	entry[4];
} wrong[] = {
	{ SHUFFLE_COLL_KINDS, 2, 0, 1, SHUFFLE_TABLE_KIND, U32_MAX, 1, { { 0, 0, 1, 0, 1 } } },
	{ SHUFFLE_COLL_BROADCAST, 0, 0, 1, SHUFFLE_TABLE_MEMBERS, U32_MAX },
	{ SHUFFLE_COLL_BROADCAST, 5000, 0, 1, SHUFFLE_TABLE_MEMBERS, U32_MAX },
	{ SHUFFLE_COLL_BROADCAST, 2, 2, 1, SHUFFLE_TABLE_MEMBERS, U32_MAX },
	{ SHUFFLE_COLL_ALLGATHER, 2, 1, 2, SHUFFLE_TABLE_MEMBERS, U32_MAX },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 0, SHUFFLE_TABLE_DIVIDED, U32_MAX },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, SHUFFLE_TABLE_BLOCKS + 1, SHUFFLE_TABLE_DIVIDED, U32_MAX },
	{ SHUFFLE_COLL_BARRIER, 2, 0, 1, SHUFFLE_TABLE_DIVIDED, U32_MAX },
	{ SHUFFLE_COLL_GATHER, 3, 0, 2, SHUFFLE_TABLE_DIVIDED, U32_MAX },
	/* members that there are not */
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 1, SHUFFLE_TABLE_MEMBER, 0, 1, { { 0, 2, 1, 0, 1 } } },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 1, SHUFFLE_TABLE_MEMBER, 1, 2,
	  { { 0, 0, 1, 0, 1 }, { 1, 0, ~0U, 0, 1 } } },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 1, SHUFFLE_TABLE_MEMBER, 0, 1, { { 0, 0, 0, 0, 1 } } },
	/* steps */
	{ SHUFFLE_COLL_BROADCAST, 3, 0, 1, SHUFFLE_TABLE_STEP, 1, 2,
	  { { 1, 0, 1, 0, 1 }, { 0, 0, 2, 0, 1 } } },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 1, SHUFFLE_TABLE_STEP, 0, 1,
	  { { SHUFFLE_TABLE_STEPS, 0, 1, 0, 1 } } },
	/* blocks */
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 2, SHUFFLE_TABLE_BLOCK, 0, 1, { { 0, 0, 1, 2, 1 } } },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 2, SHUFFLE_TABLE_BLOCK, 0, 1, { { 0, 0, 1, 0, 3 } } },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 2, SHUFFLE_TABLE_BLOCK, 0, 1, { { 0, 0, 1, 0, 0 } } },
	{ SHUFFLE_COLL_BARRIER, 2, 0, 0, SHUFFLE_TABLE_BLOCK, 0, 1, { { 0, 0, 1, 0, 1 } } },
	/* nothing to combine, and no way to */
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 1, SHUFFLE_TABLE_TAKE, 0, 1,
	  { { 0, 0, 1, 0, 1, SHUFFLE_COLL_AFTER } } },
	{ SHUFFLE_COLL_REDUCE, 2, 0, 1, SHUFFLE_TABLE_TAKE, 0, 1, { { 0, 1, 0, 0, 1, 3 } } },
	/* twice between two members; another step is another message */
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 2, SHUFFLE_TABLE_PAIR, 1, 2,
	  { { 0, 0, 1, 0, 1 }, { 0, 0, 1, 1, 1 } } },
	{ SHUFFLE_COLL_BROADCAST, 2, 0, 2, SHUFFLE_TABLE_WORKS, U32_MAX, 2,
	  { { 0, 0, 1, 0, 1 }, { 1, 0, 1, 1, 1 } } },
	/* each waits for the other one */
	{ SHUFFLE_COLL_BROADCAST, 3, 0, 1, SHUFFLE_TABLE_ABSENT, 0, 2,
	  { { 0, 1, 2, 0, 1 }, { 0, 2, 1, 0, 1 } } },
	/* what arrives in a step is not there at its beginning */
	{ SHUFFLE_COLL_BROADCAST, 3, 0, 1, SHUFFLE_TABLE_ABSENT, 1, 2,
	  { { 0, 0, 1, 0, 1 }, { 0, 1, 2, 0, 1 } } },
	{ SHUFFLE_COLL_BROADCAST, 3, 0, 1, SHUFFLE_TABLE_WORKS, U32_MAX, 2,
	  { { 0, 0, 1, 0, 1 }, { 1, 1, 2, 0, 1 } } },
	/* a block that never arrives */
	{ SHUFFLE_COLL_BROADCAST, 3, 0, 1, SHUFFLE_TABLE_LACKS, U32_MAX, 1, { { 0, 0, 1, 0, 1 } } },
	{ SHUFFLE_COLL_SCATTER, 3, 0, 3, SHUFFLE_TABLE_LACKS, U32_MAX, 2,
	  { { 0, 0, 1, 1, 1 }, { 0, 0, 2, 1, 1 } } },
	{ SHUFFLE_COLL_SCATTER, 3, 0, 3, SHUFFLE_TABLE_WORKS, U32_MAX, 2,
	  { { 0, 0, 1, 1, 2 }, { 1, 1, 2, 2, 1 } } },
	{ SHUFFLE_COLL_GATHER, 2, 0, 2, SHUFFLE_TABLE_LACKS, U32_MAX, 0 },
	{ SHUFFLE_COLL_BARRIER, 3, 0, 0, SHUFFLE_TABLE_LACKS, U32_MAX, 3,
	  { { 0, 0, 1 }, { 0, 1, 2 }, { 0, 2, 0 } } },
	/* combined twice; stored is not combined */
	{ SHUFFLE_COLL_ALLREDUCE, 2, 0, 1, SHUFFLE_TABLE_TWICE, 2, 3,
	  { { 0, 0, 1, 0, 1, SHUFFLE_COLL_BEFORE }, { 0, 1, 0, 0, 1, SHUFFLE_COLL_AFTER },
	    { 1, 1, 0, 0, 1, SHUFFLE_COLL_AFTER } } },
	{ SHUFFLE_COLL_ALLREDUCE, 2, 0, 1, SHUFFLE_TABLE_WORKS, U32_MAX, 2,
	  { { 0, 0, 1, 0, 1, SHUFFLE_COLL_BEFORE }, { 1, 1, 0, 0, 1, SHUFFLE_COLL_STORE } } },
	{ SHUFFLE_COLL_REDUCE, 2, 0, 1, SHUFFLE_TABLE_LACKS, U32_MAX, 1,
	  { { 0, 1, 0, 0, 1, SHUFFLE_COLL_STORE } } },
	/* in place, while the other one is combined */
	{ SHUFFLE_COLL_REDUCE, 3, 0, 1, SHUFFLE_TABLE_STORED, 1, 2,
	  { { 0, 1, 0, 0, 1, SHUFFLE_COLL_STORE }, { 0, 2, 0, 0, 1, SHUFFLE_COLL_AFTER } } },
	{ SHUFFLE_COLL_REDUCE, 3, 0, 1, SHUFFLE_TABLE_STORED, 1, 2,
	  { { 0, 1, 0, 0, 1, SHUFFLE_COLL_AFTER }, { 0, 2, 0, 0, 1, SHUFFLE_COLL_STORE } } },
	/* more than a prefix */
	{ SHUFFLE_COLL_SCAN, 2, 0, 1, SHUFFLE_TABLE_LACKS, U32_MAX, 2,
	  { { 0, 0, 1, 0, 1, SHUFFLE_COLL_BEFORE }, { 0, 1, 0, 0, 1, SHUFFLE_COLL_AFTER } } },
	{ SHUFFLE_COLL_EXSCAN, 2, 0, 1, SHUFFLE_TABLE_WORKS, U32_MAX, 1,
	  { { 0, 0, 1, 0, 1, SHUFFLE_COLL_STORE } } },
};

static void table__wrong(struct kunit *test)
{
	struct shuffle_table_fault fault;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct shuffle_plan_table t = {
			.kind = wrong[i].kind, .n = wrong[i].n, .root = wrong[i].root,
			.blocks = wrong[i].blocks, .entries = wrong[i].entries,
			.entry = wrong[i].entry,
		};
		bool right = shuffle_table_check(&t, all.room, &fault);

		if (right != !wrong[i].error || fault.error != wrong[i].error ||
		    fault.entry != wrong[i].at)
			KUNIT_FAIL(test, "%u: %s, message %d, expected %s, %d", i,
				   shuffle_table_error(fault.error), fault.entry,
				   shuffle_table_error(wrong[i].error), wrong[i].at);
	}
}

/* A table is of one kind, group and root, and says how much room a member's part needs. */
static void table__other_call(struct kunit *test)
{
	struct shuffle_topology topo = { .n = 5, .racks = 1 };
	struct shuffle_plan_table t = table_of(&topo, SHUFFLE_COLL_BROADCAST, SHUFFLE_COLL_FLAT, 2,
					       3);
	struct shuffle_plan part = { .kind = SHUFFLE_COLL_BROADCAST, .topo = &topo, .root = 3,
				     .self = 3, .msg = all.part, .max = 3 };

	KUNIT_EXPECT_EQ(test, shuffle_table_plan(&t, &part), -ENOSPC);
	KUNIT_EXPECT_EQ(test, part.n, 4U);
	part.max = 4;
	KUNIT_EXPECT_EQ(test, shuffle_table_plan(&t, &part), 0);
	part.root = 2;
	KUNIT_EXPECT_EQ(test, shuffle_table_plan(&t, &part), -EINVAL);
	part.root = 3;
	part.kind = SHUFFLE_COLL_REDUCE;
	KUNIT_EXPECT_EQ(test, shuffle_table_plan(&t, &part), -EINVAL);
	part.kind = SHUFFLE_COLL_BROADCAST;
	topo.n = 6;
	KUNIT_EXPECT_EQ(test, shuffle_table_plan(&t, &part), -EINVAL);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(table__of_patterns),
	KUNIT_CASE(table__one_is_missing),
	KUNIT_CASE(table__wrong),
	KUNIT_CASE(table__other_call),
	{}
};

struct kunit_suite shuffle_table_suite = {
	.name = "shuffle_table",
	.test_cases = table_cases,
};
