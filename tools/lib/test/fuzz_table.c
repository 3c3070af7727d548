// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a table of a plan: one of a pattern, some of whose numbers are changed.  What the
 * check says is compared with what comes of carrying the table out, all blocks together, with
 * numbers instead of sets.
 */
#include "../plan/plan_table.h"
#include "../../../net/shuffle/test/fuzz.h"

#define MEMBERS		8U
#define BLOCKS		24U
#define ENTRIES		256U
#define MESSAGES	128U

static struct shuffle_plan_entry entry[ENTRIES];
static u32 entries;

/* How often a member's data is in a block. */
struct counts {
	u32	of[MEMBERS];
};

static struct counts now[MEMBERS][BLOCKS], then[MEMBERS][BLOCKS];

static void add_step(u32 self, u32 step, const struct shuffle_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->n; i++) {
		const struct shuffle_plan_msg *m = &plan->msg[i];

		if (!m->out && m->step == step && entries < ENTRIES)
			entry[entries++] = (struct shuffle_plan_entry){
				step, m->peer, self, m->block, m->blocks, m->take,
			};
	}
}

static void draw_table(struct fuzz_in *in, struct shuffle_plan_table *t)
{
	static struct shuffle_plan_msg msg[MESSAGES];
	struct shuffle_topology topo = { .n = t->n, .racks = 1 };
	struct shuffle_plan plan = {
		.kind = t->kind, .pattern = fuzz_u8(in) % SHUFFLE_COLL_PATTERNS, .topo = &topo,
		.radix = fuzz_u8(in) % 4, .root = t->root, .msg = msg, .max = MESSAGES,
	};
	u32 step, steps = 1, i, *at;

	entries = 0;
	for (step = 0; step < steps; step++) {
		for (plan.self = 0; plan.self < t->n; plan.self++) {
			if (shuffle_plan_make(&plan) || plan.blocks > BLOCKS)
				continue;
			if (plan.steps > steps)
				steps = plan.steps;
			t->blocks = plan.blocks;
			add_step(plan.self, step, &plan);
		}
	}
	/* more messages, and fewer */
	while (fuzz_u8(in) % 4 == 3 && entries < ENTRIES) {
		i = fuzz_u8(in) % (entries + 1);
		memmove(entry + i + 1, entry + i, (entries - i) * sizeof(*entry));
		entry[i] = entry[fuzz_u8(in) % (entries + 1)];
		entries++;
	}
	while (fuzz_u8(in) % 4 == 3 && entries) {
		i = fuzz_u8(in) % entries--;
		memmove(entry + i, entry + i + 1, (entries - i) * sizeof(*entry));
	}
	while (fuzz_u8(in) % 4 == 3 && entries) {
		at = (u32 *)&entry[fuzz_u8(in) % entries];
		at[fuzz_u8(in) % 6] = fuzz_u8(in) % 8 ? fuzz_u8(in) % 4 : ~0U;
	}
	if (fuzz_u8(in) % 8 == 7)
		t->blocks = fuzz_u8(in) % (BLOCKS + 1);
	t->entries = entries;
}

static void begin(const struct shuffle_plan_table *t)
{
	bool from_root = t->kind == SHUFFLE_COLL_BROADCAST || t->kind == SHUFFLE_COLL_SCATTER;
	bool all = shuffle_coll_combines(t->kind) || t->kind == SHUFFLE_COLL_BARRIER;
	u32 i, b;

	memset(now, 0, sizeof(now));
	for (i = 0; i < t->n; i++)
		for (b = 0; b < (t->blocks ? t->blocks : 1); b++)
			now[i][b].of[i] = all || (from_root ? i == t->root : i == b);
}

static bool empty(const struct counts *c)
{
	u32 i, sum = 0;

	for (i = 0; i < MEMBERS; i++)
		sum |= c->of[i];
	return !sum;
}

/* What @e brings of block @b; false: nothing is there, or it is combined twice. */
static bool take(const struct shuffle_plan_table *t, const struct shuffle_plan_entry *e, u32 b)
{
	struct counts *ours = &now[e->to][b], *theirs = &then[e->from][b];
	bool right = true;
	u32 i;

	if (empty(theirs))
		return false;
	if (!shuffle_coll_combines(t->kind)) {
		for (i = 0; i < MEMBERS; i++)
			ours->of[i] |= theirs->of[i];
		return true;
	}
	for (i = 0; i < MEMBERS; i++) {
		ours->of[i] = theirs->of[i] + (e->take == SHUFFLE_COLL_STORE ? 0 : ours->of[i]);
		right = right && ours->of[i] < 2;
	}
	return right;
}

/* Do two messages of a step come to the same place, of which one is stored? */
static bool collide(const struct shuffle_plan_table *t, const struct shuffle_plan_entry *a,
		    const struct shuffle_plan_entry *b)
{
	u32 i, at;

	if (a->step != b->step || a->to != b->to || !shuffle_coll_combines(t->kind) ||
	    (a->take != SHUFFLE_COLL_STORE && b->take != SHUFFLE_COLL_STORE))
		return false;
	for (i = 0; i < a->blocks; i++) {
		at = (a->block + i) % t->blocks;
		if ((at + t->blocks - b->block) % t->blocks < b->blocks)
			return true;
	}
	return false;
}

static bool valid(const struct shuffle_plan_table *t, u32 i)
{
	const struct shuffle_plan_entry *e = &t->entry[i];
	u32 k;

	if (e->from >= t->n || e->to >= t->n || e->from == e->to || e->take > 2 ||
	    e->step >= SHUFFLE_TABLE_STEPS || (i && e[-1].step > e->step))
		return false;
	if (e->take && !shuffle_coll_combines(t->kind) && t->kind != SHUFFLE_COLL_BARRIER)
		return false;
	if (t->blocks ? e->block >= t->blocks || e->blocks - 1 >= t->blocks :
			e->block || e->blocks)
		return false;
	for (k = 0; k < i; k++)
		if ((t->entry[k].step == e->step && t->entry[k].from == e->from &&
		     t->entry[k].to == e->to) || collide(t, &t->entry[k], e))
			return false;
	return true;
}

static bool promised(const struct shuffle_plan_table *t, u32 self, u32 b)
{
	u32 i, end = t->n;
	bool all = true;

	switch (t->kind) {
	case SHUFFLE_COLL_BROADCAST:
	case SHUFFLE_COLL_ALLGATHER:
		return !empty(&now[self][b]);
	case SHUFFLE_COLL_SCATTER:
		return self != b || !empty(&now[self][b]);
	case SHUFFLE_COLL_GATHER:
		return self != t->root || !empty(&now[self][b]);
	}
	if (t->kind == SHUFFLE_COLL_SCAN)
		end = self + 1;
	if (t->kind == SHUFFLE_COLL_EXSCAN)
		end = self;
	for (i = 0; i < t->n; i++)
		all = all && now[self][b].of[i] == (i < end);
	return all || (t->kind == SHUFFLE_COLL_REDUCE && self != t->root) ||
	       (t->kind == SHUFFLE_COLL_REDUCE_SCATTER && self != b) ||
	       (t->kind == SHUFFLE_COLL_EXSCAN && !self);
}

static bool works(const struct shuffle_plan_table *t)
{
	u32 i, k, b, blocks = t->blocks ? t->blocks : 1;

	if (shuffle_coll_by_member(t->kind, SHUFFLE_COLL_FLAT) ? t->blocks != t->n :
	    !t->blocks != (t->kind == SHUFFLE_COLL_BARRIER))
		return false;
	if (t->root >= (shuffle_coll_has_root(t->kind) ? t->n : 1))
		return false;
	begin(t);
	for (i = 0; i < t->entries; i++) {
		const struct shuffle_plan_entry *e = &t->entry[i];

		if (!valid(t, i))
			return false;
		if (!i || e->step != e[-1].step)
			memcpy(then, now, sizeof(now));
		for (k = 0; k < (t->blocks ? e->blocks : 1); k++)
			if (!take(t, e, (e->block + k) % blocks))
				return false;
	}
	for (i = 0; i < t->n; i++)
		for (b = 0; b < blocks; b++)
			if (!promised(t, i, b))
				return false;
	return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u64 room[MEMBERS * 4];
	struct fuzz_in in = { data, size };
	struct shuffle_plan_table t = { .entry = entry };
	struct shuffle_table_fault fault;
	bool right;

	t.kind = fuzz_u8(&in) % SHUFFLE_COLL_KINDS;
	t.n = 1 + fuzz_u8(&in) % MEMBERS;
	t.root = shuffle_coll_has_root(t.kind) ? fuzz_u8(&in) % t.n : 0;
	draw_table(&in, &t);
	if (fuzz_u8(&in) == 255)
		t.root = fuzz_u8(&in);
	if (shuffle_table_room(&t) > MEMBERS * 4)
		fuzz_check("more room than there are members");
	right = shuffle_table_check(&t, room, &fault);
	if (right != works(&t))
		fuzz_check("the check says something else than what comes of the table");
	if (right != !fault.error || fault.error >= SHUFFLE_TABLE_ERRORS ||
	    (fault.entry != U32_MAX && fault.entry >= t.entries))
		fuzz_check("a fault that there is not");
	return 0;
}
