// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for the kernel's engine: those of all members are carried out on paper, as engine.c does,
 * and each member must get what its kind promises.
 */
#include "../../../net/shuffle/test/harness.h"
#include "../../../net/shuffle/coll/combine.h"
#include "../plan/blocks.h"

#define MEMBERS		12U
#define ITEMS		3U
#define LEN		(ITEMS * sizeof(u32))
#define ROOM		(MEMBERS * LEN)

/**
 * struct member - one of them
 * @c: its collective
 * @step: its table
 * @at: the step whose turn it is
 * @mem: what it holds
 */
struct member {
	struct shuffle_collective	c;
	struct shuffle_step		step[2 * MEMBERS];
	u32				at;
	u8				mem[ROOM];
};

/**
 * struct paper - a collective that is carried out
 * @kind: enum shuffle_coll_kind
 * @n: members
 * @root: the root
 * @m: members
 * @box: messages on their way, by sender and receiver
 * @len: their lengths, plus 1; 0: there is none
 */
struct paper {
	u8		kind;
	u32		n;
	u32		root;
	struct member	m[MEMBERS];
	u8		box[MEMBERS][MEMBERS][ROOM];
	u32		len[MEMBERS][MEMBERS];
};

/* What a member puts in: an item of a block. */
static u32 item_of(u32 member, u32 block, u32 i)
{
	return member * 1000003 + block * 1009 + i * 17 + 1;
}

/* Blocks [first, end) of members, or of one; bytes. */
static u32 put_blocks(u8 *to, u32 first, u32 end, bool of_members, u32 member)
{
	u32 b, i, x, n = 0;

	for (b = first; b < end; b++)
		for (i = 0; i < ITEMS; i++, n++) {
			x = of_members ? item_of(b, 0, i) : item_of(member, b, i);
			memcpy(to + n * sizeof(x), &x, sizeof(x));
		}
	return n * sizeof(x);
}

static u32 put_in(const struct paper *p, u32 self, u8 *to)
{
	switch (p->kind) {
	case SHUFFLE_COLL_BARRIER:
		return 0;
	case SHUFFLE_COLL_BROADCAST:
		return self == p->root ? put_blocks(to, 0, 1, false, self) : 0;
	case SHUFFLE_COLL_SCATTER:
		return self == p->root ? put_blocks(to, 0, p->n, false, self) : 0;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return put_blocks(to, 0, p->n, false, self);
	default:
		return put_blocks(to, 0, 1, false, self);
	}
}

/* Vectors of the first @n members, or blocks of them, are added up. */
static u32 put_sum(u8 *to, u32 n, u32 block)
{
	u32 i, k, x;

	for (i = 0; i < ITEMS; i++) {
		for (x = 0, k = 0; k < n; k++)
			x += item_of(k, block, i);
		memcpy(to + i * sizeof(x), &x, sizeof(x));
	}
	return LEN;
}

/* Bytes of what a member is to get, or U32_MAX: nothing. */
static u32 put_result(const struct paper *p, u32 self, u8 *to)
{
	bool is_root = self == p->root;

	switch (p->kind) {
	case SHUFFLE_COLL_BARRIER:
		return 0;
	case SHUFFLE_COLL_BROADCAST:
		return is_root ? U32_MAX : put_blocks(to, 0, 1, false, p->root);
	case SHUFFLE_COLL_SCATTER:
		return put_blocks(to, self, self + 1, false, p->root);
	case SHUFFLE_COLL_GATHER:
		return is_root ? put_blocks(to, 0, p->n, true, 0) : U32_MAX;
	case SHUFFLE_COLL_ALLGATHER:
		return put_blocks(to, 0, p->n, true, 0);
	case SHUFFLE_COLL_REDUCE:
		return is_root ? put_sum(to, p->n, 0) : U32_MAX;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return put_sum(to, p->n, self);
	case SHUFFLE_COLL_SCAN:
		return put_sum(to, self + 1, 0);
	case SHUFFLE_COLL_EXSCAN:
		return self ? put_sum(to, self, 0) : U32_MAX;
	default:
		return put_sum(to, p->n, 0);
	}
}

static void combine_bytes(u8 *into, const u8 *in, u32 len)
{
	shuffle_coll_combine(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U32, into, in, len);
}

/* One step, if its turn has come. */
static bool run_step(struct paper *p, u32 self)
{
	struct member *m = &p->m[self];
	const struct shuffle_step *s = &m->step[m->at];
	u32 before = s->len, *len;
	u8 *box;

	if (m->at == m->c.steps)
		return false;
	if (before > m->c.held - s->at)
		before = m->c.held - s->at;
	if (s->what == SHUFFLE_STEP_SEND) {
		box = p->box[self][s->peer];
		memcpy(box, m->mem + s->at, before);
		memcpy(box + before, m->mem, s->len - before);
		p->len[self][s->peer] = s->len + 1;
		m->at++;
		return true;
	}
	box = p->box[s->peer][self];
	len = &p->len[s->peer][self];
	if (*len != s->len + 1)
		return false;
	*len = 0;
	if (s->what == SHUFFLE_STEP_STORE) {
		memcpy(m->mem + s->at, box, before);
		memcpy(m->mem, box + before, s->len - before);
	} else {
		combine_bytes(m->mem + s->at, box, before);
		combine_bytes(m->mem, box + before, s->len - before);
	}
	m->at++;
	return true;
}

static const char *check_result(struct paper *p, u32 self)
{
	struct member *m = &p->m[self];
	u8 want[ROOM];
	u32 i, n = put_result(p, self, want);

	if (m->at != m->c.steps)
		return "a message does not come";
	if (n == U32_MAX || !m->c.vectors)
		return n == U32_MAX && !m->c.vectors ? NULL : "a result where none is, or none";
	for (i = 1; i < m->c.vectors; i++)
		combine_bytes(m->mem + m->c.out_at, m->mem + m->c.out_at + i * m->c.out_len,
			      m->c.out_len);
	if (m->c.out_len != n || memcmp(m->mem + m->c.out_at, want, n))
		return "a wrong result";
	return NULL;
}

static const char *carry_out(struct paper *p, u8 pattern, u32 radix,
			     const struct shuffle_topology *topo)
{
	static struct shuffle_plan_msg msg[4 * MEMBERS];
	bool combines = shuffle_coll_combines(p->kind), more = true;
	struct shuffle_plan plan = {
		.kind = p->kind, .pattern = pattern, .radix = radix, .topo = topo, .msg = msg,
		.max = 2 * MEMBERS,
	};
	const char *why = NULL;
	u8 in[ROOM];
	u32 i, n;

	memset(p->m, 0, sizeof(p->m));
	memset(p->len, 0, sizeof(p->len));
	for (i = 0; i < p->n; i++) {
		struct member *m = &p->m[i];

		plan.root = p->root;
		plan.self = i;
		if (shuffle_plan_make(&plan))
			return "no plan";
		n = shuffle_plan_steps(&plan, p->kind == SHUFFLE_COLL_BARRIER ? 0 : LEN,
				       combines ? SHUFFLE_COLL_SUM : SHUFFLE_COLL_NONE,
				       combines ? SHUFFLE_COLL_U32 : 0, &m->c, m->step);
		if (n != put_in(p, i, in) || n + m->c.in_at > m->c.held || m->c.held > ROOM)
			return "not what it puts in";
		memcpy(m->mem + m->c.in_at, in, n);
	}
	while (more)
		for (more = false, i = 0; i < p->n; i++)
			more |= run_step(p, i);
	for (i = 0; i < p->n && !why; i++)
		why = check_result(p, i);
	return why;
}

static const char *all_roots(struct paper *p, u8 pattern, u32 radix,
			     const struct shuffle_topology *topo)
{
	const char *why = NULL;

	p->n = topo->n;
	for (p->root = 0; p->root < (shuffle_coll_has_root(p->kind) ? p->n : 1) && !why; p->root++)
		why = carry_out(p, pattern, radix, topo);
	return why;
}

static const char *all_groups(struct paper *p, u8 pattern, u32 radix)
{
	u32 n, first[3] = {};
	const char *why = NULL;

	for (n = 1; n <= MEMBERS && !why; n++) {
		struct shuffle_topology topo = { .n = n, .racks = 1 };

		why = all_roots(p, pattern, radix, &topo);
		if (why || n < 2)
			continue;
		topo.racks = 2;
		topo.first = first;
		first[1] = (n + 2) / 3;
		first[2] = n;
		why = all_roots(p, pattern, radix, &topo);
	}
	return why;
}

/* All kinds and patterns that the engine knows, all groups of up to 12, in one rack and in two. */
static void steps__results(struct kunit *test)
{
	static struct paper p;
	u32 radix, pattern, made = 0;

	for (p.kind = 0; p.kind < SHUFFLE_COLL_KINDS; p.kind++)
		for (pattern = 0; pattern < SHUFFLE_COLL_PATTERNS; pattern++)
			for (radix = 1; radix < 5; radix++) {
				if (!shuffle_plan_possible(p.kind, pattern) ||
				    !shuffle_coll_sends_once(p.kind, pattern, radix))
					continue;
				SHUFFLE_ASSERT_OK(test, all_groups(&p, pattern, radix));
				made++;
			}
	KUNIT_EXPECT_GT(test, made, 80U);
}

static struct kunit_case steps_cases[] = {
	KUNIT_CASE(steps__results),
	{}
};

struct kunit_suite shuffle_steps_suite = {
	.name = "shuffle_steps",
	.test_cases = steps_cases,
};
