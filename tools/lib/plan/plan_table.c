// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Plans from tables.  A table is carried out before it is used, block by
 * block: of each member it is known whose data its block has.  So what a table promises is what it
 * does, whatever made it.
 */
#include "plan_table.h"

/**
 * struct table_run - one block on its way through a table
 * @t: table
 * @words: of a set of members
 * @now: by member, whose data it has in the block: a set; one bit where nothing is combined
 * @then: by member, likewise at the beginning of the step, if it has received something in it
 * @stamp: by member, the step in which @then was kept, plus 1; in the upper half that in which the
 *	block was stored
 * @pairs: by member, to whom it has sent in the step
 * @pair_words: of a set of @pairs
 * @fault: what is wrong
 */
struct table_run {
	const struct shuffle_plan_table	*t;
	u32				words;
	u64				*now;
	u64				*then;
	u64				*stamp;
	u64				*pairs;
	u32				pair_words;
	struct shuffle_table_fault	*fault;
};

static bool fails(struct table_run *r, u32 error, u32 entry, u32 member, u32 block)
{
	*r->fault = (struct shuffle_table_fault){ error, entry, member, block };
	return false;
}

/* Is whose data a block has a set of many members? */
static bool has_sets(u8 kind)
{
	return kind == SHUFFLE_COLL_BARRIER || shuffle_coll_combines(kind);
}

static u32 words_of(u32 bits)
{
	return (bits + 63) / 64;
}

/**
 * shuffle_table_room() - what shuffle_table_check() needs
 * @t: table
 *
 * Return: number of u64; 0 if the table has no members, or too many, or no kind.
 */
u64 shuffle_table_room(const struct shuffle_plan_table *t)
{
	if (t->kind >= SHUFFLE_COLL_KINDS || !t->n || t->n > SHUFFLE_MAX_MEMBERS)
		return 0;
	return (u64)t->n * (2 * (has_sets(t->kind) ? words_of(t->n) : 1) + 1 + words_of(t->n));
}

/* What does not depend on other messages. */
static bool check_entry(struct table_run *r, u32 i)
{
	const struct shuffle_plan_table *t = r->t;
	const struct shuffle_plan_entry *e = &t->entry[i];

	if (e->from >= t->n || e->to >= t->n || e->from == e->to)
		return fails(r, SHUFFLE_TABLE_MEMBER, i, e->from >= t->n ? e->from : e->to,
			     U32_MAX);
	if (e->step >= SHUFFLE_TABLE_STEPS || (i && e->step < t->entry[i - 1].step))
		return fails(r, SHUFFLE_TABLE_STEP, i, U32_MAX, U32_MAX);
	if (t->blocks ? e->block >= t->blocks || !e->blocks || e->blocks > t->blocks :
			e->block || e->blocks)
		return fails(r, SHUFFLE_TABLE_BLOCK, i, U32_MAX, e->block);
	if (e->take > SHUFFLE_COLL_AFTER ||
	    (e->take != SHUFFLE_COLL_STORE && !has_sets(t->kind)))
		return fails(r, SHUFFLE_TABLE_TAKE, i, e->to, U32_MAX);
	return true;
}

static bool check_entries(struct table_run *r)
{
	const struct shuffle_plan_table *t = r->t;
	u32 begin = 0, i, k;

	memset(r->pairs, 0, (size_t)t->n * r->pair_words * sizeof(*r->pairs));
	for (i = 0; i < t->entries; i++) {
		const struct shuffle_plan_entry *e = &t->entry[i];
		u64 *set;

		if (!check_entry(r, i))
			return false;
		if (e->step != t->entry[begin].step) {
			for (k = begin; k < i; k++) {
				set = r->pairs + (size_t)t->entry[k].from * r->pair_words;
				set[t->entry[k].to / 64] = 0;
			}
			begin = i;
		}
		set = r->pairs + (size_t)e->from * r->pair_words + e->to / 64;
		if (*set >> e->to % 64 & 1)
			return fails(r, SHUFFLE_TABLE_PAIR, i, e->to, U32_MAX);
		*set |= 1ULL << e->to % 64;
	}
	return true;
}

static u64 *now_of(const struct table_run *r, u32 member)
{
	return r->now + (size_t)member * r->words;
}

static void keep_then(struct table_run *r, u32 member, u32 step)
{
	if ((u32)r->stamp[member] == step + 1)
		return;
	r->stamp[member] = (r->stamp[member] >> 32) << 32 | (step + 1);
	memcpy(r->then + (size_t)member * r->words, now_of(r, member), r->words * sizeof(u64));
}

/* What a member had at the beginning of a step. */
static const u64 *then_of(const struct table_run *r, u32 member, u32 step)
{
	return (u32)r->stamp[member] == step + 1 ? r->then + (size_t)member * r->words :
						   now_of(r, member);
}

static bool is_empty(const u64 *set, u32 words)
{
	while (words--)
		if (set[words])
			return false;
	return true;
}

/* A member's vector is combined with itself, or stored where something else comes in the step. */
static bool check_take(struct table_run *r, u32 i, u32 block, const u64 *theirs)
{
	const struct shuffle_plan_entry *e = &r->t->entry[i];
	bool comes = (u32)r->stamp[e->to] == e->step + 1;
	bool stored = r->stamp[e->to] >> 32 == e->step + 1;
	const u64 *ours = now_of(r, e->to);
	u32 w;

	if (stored || (comes && e->take == SHUFFLE_COLL_STORE))
		return fails(r, SHUFFLE_TABLE_STORED, i, e->to, block);
	for (w = 0; w < r->words && e->take != SHUFFLE_COLL_STORE; w++)
		if (ours[w] & theirs[w])
			return fails(r, SHUFFLE_TABLE_TWICE, i, e->to, block);
	return true;
}

static bool take_block(struct table_run *r, u32 i, u32 block)
{
	const struct shuffle_plan_entry *e = &r->t->entry[i];
	const u64 *theirs = then_of(r, e->from, e->step);
	u64 *ours = now_of(r, e->to);
	u32 w;

	if (is_empty(theirs, r->words))
		return fails(r, SHUFFLE_TABLE_ABSENT, i, e->from, block);
	if (shuffle_coll_combines(r->t->kind) && !check_take(r, i, block, theirs))
		return false;
	keep_then(r, e->to, e->step);
	if (shuffle_coll_combines(r->t->kind) && e->take == SHUFFLE_COLL_STORE) {
		memcpy(ours, theirs, r->words * sizeof(*ours));
		r->stamp[e->to] = (u64)(e->step + 1) << 32 | (u32)r->stamp[e->to];
		return true;
	}
	for (w = 0; w < r->words; w++)
		ours[w] |= theirs[w];
	return true;
}

static void begin_block(struct table_run *r, u32 block)
{
	const struct shuffle_plan_table *t = r->t;
	bool own;
	u32 i;

	memset(r->now, 0, (size_t)t->n * r->words * sizeof(*r->now));
	memset(r->stamp, 0, t->n * sizeof(*r->stamp));
	for (i = 0; i < t->n; i++) {
		own = has_sets(t->kind) || i == block;
		if (t->kind == SHUFFLE_COLL_BROADCAST || t->kind == SHUFFLE_COLL_SCATTER)
			own = i == t->root;
		if (own)
			now_of(r, i)[has_sets(t->kind) ? i / 64 : 0] = 1ULL <<
				(has_sets(t->kind) ? i % 64 : 0);
	}
}

/* Does a set have all members below @end, and no other one? */
static bool is_first(const u64 *set, u32 words, u32 end)
{
	u32 w;

	for (w = 0; w < words; w++) {
		u64 all = end >= (w + 1) * 64 ? ~0ULL :
			  end <= w * 64 ? 0 : (1ULL << end % 64) - 1;

		if (set[w] != all)
			return false;
	}
	return true;
}

/* Has a member what the kind promises of a block, if it promises something? */
static bool is_right(const struct table_run *r, u32 member, u32 block)
{
	const struct shuffle_plan_table *t = r->t;
	const u64 *set = now_of(r, member);

	switch (t->kind) {
	case SHUFFLE_COLL_BROADCAST:
	case SHUFFLE_COLL_ALLGATHER:
		return set[0];
	case SHUFFLE_COLL_SCATTER:
		return member != block || set[0];
	case SHUFFLE_COLL_GATHER:
		return member != t->root || set[0];
	case SHUFFLE_COLL_REDUCE:
		return member != t->root || is_first(set, r->words, t->n);
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return member != block || is_first(set, r->words, t->n);
	case SHUFFLE_COLL_SCAN:
		return is_first(set, r->words, member + 1);
	case SHUFFLE_COLL_EXSCAN:
		return !member || is_first(set, r->words, member);
	default:	/* barrier, all-reduce */
		return is_first(set, r->words, t->n);
	}
}

static bool check_block(struct table_run *r, u32 block)
{
	const struct shuffle_plan_table *t = r->t;
	u32 i;

	begin_block(r, block);
	for (i = 0; i < t->entries; i++) {
		const struct shuffle_plan_entry *e = &t->entry[i];
		u32 at = block >= e->block ? block - e->block : block + t->blocks - e->block;

		if ((at < e->blocks || !t->blocks) && !take_block(r, i, block))
			return false;
	}
	for (i = 0; i < t->n; i++)
		if (!is_right(r, i, block))
			return fails(r, SHUFFLE_TABLE_LACKS, U32_MAX, i, block);
	return true;
}

static bool is_divided(const struct shuffle_plan_table *t)
{
	if (t->kind == SHUFFLE_COLL_BARRIER)
		return !t->blocks;
	if (shuffle_coll_by_member(t->kind, SHUFFLE_PLAN_EXPLICIT))
		return t->blocks == t->n;
	return t->blocks && t->blocks <= SHUFFLE_TABLE_BLOCKS;
}

/**
 * shuffle_table_check() - does a table do what its kind promises?
 * @t: table
 * @room: shuffle_table_room() numbers
 * @fault: becomes what is wrong, the first thing
 *
 * Each member's data is combined once, in the order of the table, which need not be that of ranks.
 * It takes time in proportion to messages times blocks.
 *
 * Context: any.
 * Return: true if it does.
 */
bool shuffle_table_check(const struct shuffle_plan_table *t, u64 *room,
			 struct shuffle_table_fault *fault)
{
	struct table_run r = { .t = t, .fault = fault };
	u32 block = 0;

	fails(&r, SHUFFLE_TABLE_WORKS, U32_MAX, U32_MAX, U32_MAX);
	if (t->kind >= SHUFFLE_COLL_KINDS)
		return fails(&r, SHUFFLE_TABLE_KIND, U32_MAX, U32_MAX, U32_MAX);
	if (!t->n || t->n > SHUFFLE_MAX_MEMBERS ||
	    t->root >= (shuffle_coll_has_root(t->kind) ? t->n : 1))
		return fails(&r, SHUFFLE_TABLE_MEMBERS, U32_MAX, t->root, U32_MAX);
	if (!is_divided(t))
		return fails(&r, SHUFFLE_TABLE_DIVIDED, U32_MAX, U32_MAX, t->blocks);
	r.words = has_sets(t->kind) ? words_of(t->n) : 1;
	r.pair_words = words_of(t->n);
	r.now = room;
	r.then = r.now + (size_t)t->n * r.words;
	r.stamp = r.then + (size_t)t->n * r.words;
	r.pairs = r.stamp + t->n;
	if (!check_entries(&r))
		return false;
	/* a barrier has no block, and is one */
	do {
		if (!check_block(&r, block))
			return false;
	} while (++block < t->blocks);
	return true;
}

/**
 * shuffle_table_error() - what an error means
 * @error: enum shuffle_table_error
 *
 * Return: a text.
 */
const char *shuffle_table_error(u32 error)
{
	static const char *const texts[SHUFFLE_TABLE_ERRORS] = {
		[SHUFFLE_TABLE_WORKS] = "nothing is wrong",
		[SHUFFLE_TABLE_KIND] = "no such kind",
		[SHUFFLE_TABLE_MEMBERS] = "no members, too many, or a root that is none",
		[SHUFFLE_TABLE_DIVIDED] = "not the kind's number of blocks",
		[SHUFFLE_TABLE_MEMBER] = "not two members",
		[SHUFFLE_TABLE_STEP] = "steps not in order, or too many",
		[SHUFFLE_TABLE_BLOCK] = "no such blocks",
		[SHUFFLE_TABLE_TAKE] = "no such way to take it, or nothing to combine",
		[SHUFFLE_TABLE_PAIR] = "a second message between the two in the step",
		[SHUFFLE_TABLE_ABSENT] = "the sender does not have the block yet",
		[SHUFFLE_TABLE_TWICE] = "a member's data is combined twice",
		[SHUFFLE_TABLE_STORED] = "stored in the step in which something else comes",
		[SHUFFLE_TABLE_LACKS] = "a member does not have the result in the end",
	};

	return error < SHUFFLE_TABLE_ERRORS ? texts[error] : "no such error";
}

/**
 * shuffle_table_plan() - a member's part of a table
 * @t: a table that has been checked
 * @plan: as for shuffle_plan_make(), of the table's kind and root; pattern and radix become known
 *
 * Context: any.
 * Return: 0; -EINVAL: of another kind, group or root; -ENOSPC: @plan->n messages need more room.
 */
int shuffle_table_plan(const struct shuffle_plan_table *t, struct shuffle_plan *plan)
{
	u32 begin, end, i;

	if (plan->kind != t->kind || plan->topo->n != t->n || plan->self >= t->n ||
	    (shuffle_coll_has_root(t->kind) && plan->root != t->root))
		return -EINVAL;
	plan->pattern = SHUFFLE_PLAN_EXPLICIT;
	plan->radix = 0;
	plan->blocks = t->blocks;
	plan->steps = 0;
	plan->n = 0;
	for (begin = 0; begin < t->entries; begin = end) {
		const struct shuffle_plan_entry *e = t->entry;
		u32 step = e[begin].step;

		for (end = begin; end < t->entries && e[end].step == step; end++)
			if (e[end].from == plan->self)
				shuffle_plan_send(plan, step, e[end].to, e[end].block,
						  e[end].blocks);
		for (i = begin; i < end; i++)
			if (e[i].to == plan->self)
				shuffle_plan_receive(plan, step, e[i].from, e[i].take, e[i].block,
						     e[i].blocks);
	}
	return plan->n > plan->max ? -ENOSPC : 0;
}

/**
 * shuffle_plan_of() - a member's part, of a table if there is one
 * @plan: as for shuffle_plan_make(); table, if it is not NULL, has been checked
 *
 * Context: any.
 * Return: as shuffle_plan_make() or shuffle_table_plan().
 */
int shuffle_plan_of(struct shuffle_plan *plan)
{
	return plan->table ? shuffle_table_plan(plan->table, plan) : shuffle_plan_make(plan);
}
