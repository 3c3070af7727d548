// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Exchanges without a root.  Where a power of two is needed and the group
 * has more members, the first ones join in pairs: of each pair the second takes part for both.
 */
#include "plan.h"

/* The largest power of two that is no more than n. */
static u32 power_below(u32 n)
{
	u32 p = 1;

	while (p <= n / 2)
		p *= 2;
	return p;
}

/**
 * struct folded - a group of which a power of two takes part
 * @g: the group
 * @p: members that take part
 * @pairs: the first 2 * @pairs members have joined
 * @in: we take part
 * @self: our number among those that do, or that of the one who does for us
 */
struct folded {
	const struct shuffle_plan_group	*g;
	u32	p;
	u32	pairs;
	bool	in;
	u32	self;
};

static struct folded fold_group(const struct shuffle_plan_group *g)
{
	struct folded f = { .g = g, .p = power_below(g->n) };

	f.pairs = g->n - f.p;
	f.in = g->self >= 2 * f.pairs || g->self % 2;
	f.self = g->self < 2 * f.pairs ? g->self / 2 : g->self - f.pairs;
	return f;
}

/* Place of a member that takes part. */
static u32 folded_place(const struct shuffle_plan *plan, const struct folded *f, u32 i)
{
	return shuffle_plan_place(plan, f->g, i < f->pairs ? 2 * i + 1 : i + f->pairs);
}

/* Have we joined with another one?  Returns true, and its place. */
static bool folded_partner(const struct shuffle_plan *plan, const struct folded *f, u32 *place)
{
	if (f->g->self >= 2 * f->pairs)
		return false;
	*place = shuffle_plan_place(plan, f->g, f->g->self ^ 1);
	return true;
}

/* The first of a pair gives what it has to the second.  Returns the number of steps. */
static u32 fold_join(struct shuffle_plan *plan, const struct folded *f, u32 step)
{
	u32 peer;

	if (folded_partner(plan, f, &peer)) {
		if (f->in)
			shuffle_plan_receive(plan, step, peer, SHUFFLE_COLL_BEFORE, 0,
					     plan->blocks);
		else
			shuffle_plan_send(plan, step, peer, 0, plan->blocks);
	}
	return f->pairs > 0;
}

/* And gets the result. */
static u32 fold_part(struct shuffle_plan *plan, const struct folded *f, u32 step)
{
	u32 peer;

	if (folded_partner(plan, f, &peer)) {
		if (f->in)
			shuffle_plan_send(plan, step, peer, 0, plan->blocks);
		else
			shuffle_plan_receive(plan, step, peer, SHUFFLE_COLL_STORE, 0,
					     plan->blocks);
	}
	return f->pairs > 0;
}

static u8 exchange_take(u32 self, u32 peer)
{
	return peer < self ? SHUFFLE_COLL_BEFORE : SHUFFLE_COLL_AFTER;
}

/**
 * shuffle_plan_double() - all-reduce by recursive doubling
 * @plan: plan
 * @g: among these
 * @step: the first step
 *
 * Return: number of steps.
 */
u32 shuffle_plan_double(struct shuffle_plan *plan, const struct shuffle_plan_group *g, u32 step)
{
	const struct folded f = fold_group(g);
	u32 d, peer, from = step;

	step += fold_join(plan, &f, step);
	for (d = 1; d < f.p; d *= 2, step++) {
		if (!f.in)
			continue;
		peer = folded_place(plan, &f, f.self ^ d);
		shuffle_plan_send(plan, step, peer, 0, plan->blocks);
		shuffle_plan_receive(plan, step, peer, exchange_take(f.self, f.self ^ d), 0,
				     plan->blocks);
	}
	step += fold_part(plan, &f, step);
	return step - from;
}

static bool power_of_two(u32 n)
{
	return power_below(n) == n;
}

/* Members are in blocks, of radix times as many in each step, and know what their block has: that
 * goes to the member in our place in each of the other blocks, and theirs comes from there.
 */
static void in_pairs(struct shuffle_plan *plan, u32 step, u32 d)
{
	u32 n = plan->topo->n, radix = plan->radix, self = plan->self, j, peer;
	u32 count = plan->blocks ? d : 0;

	for (j = 1; j < radix && j * d < n; j++)
		shuffle_plan_send(plan, step, self ^ (j * d), count ? self & ~(d - 1) : 0, count);
	for (j = 1; j < radix && j * d < n; j++) {
		peer = self ^ (j * d);
		shuffle_plan_receive(plan, step, peer, SHUFFLE_COLL_STORE,
				     count ? peer & ~(d - 1) : 0, count);
	}
}

/* What we have of those up to us, as much as the receiver lacks. */
static void bruck_send(struct shuffle_plan *plan, u32 step, u32 distance, u32 have)
{
	u32 n = plan->topo->n, self = plan->self;
	u32 count = plan->blocks ? (have < n - distance ? have : n - distance) : 0;

	shuffle_plan_send(plan, step, (self + distance) % n,
			  count ? (self + n - count + 1) % n : 0, count);
}

static void bruck_receive(struct shuffle_plan *plan, u32 step, u32 distance, u32 have)
{
	u32 n = plan->topo->n, from = (plan->self + n - distance) % n;
	u32 count = plan->blocks ? (have < n - distance ? have : n - distance) : 0;

	shuffle_plan_receive(plan, step, from, SHUFFLE_COLL_STORE,
			     count ? (from + n - count + 1) % n : 0, count);
}

/* All-gather of any number of members, and the barrier: what we have of those up to us goes to
 * radix - 1 members, who have radix times as much then (Bruck).  Powers of two do it in pairs: who
 * sends to us is who we send to, so an ACK goes with the next message the same way.
 */
static void bruck(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, radix = plan->radix, step = 0, j, d;
	bool pairs = power_of_two(n) && power_of_two(radix);

	for (d = 1; d < n; d *= radix, step++) {
		if (pairs) {
			in_pairs(plan, step, d);
			continue;
		}
		for (j = 1; j < radix && j * d < n; j++)
			bruck_send(plan, step, j * d, d);
		for (j = 1; j < radix && j * d < n; j++)
			bruck_receive(plan, step, j * d, d);
	}
}

/* What the d members up to us have, with twice as many in each step (Hillis and Steele). */
static void scan(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, self = plan->self, step = 0, d;

	for (d = 1; d < n; d *= 2, step++) {
		if (self + d < n)
			shuffle_plan_send(plan, step, self + d, 0, plan->blocks);
		if (self >= d)
			shuffle_plan_receive(plan, step, self - d, SHUFFLE_COLL_BEFORE, 0,
					     plan->blocks);
	}
	if (plan->kind != SHUFFLE_COLL_EXSCAN)
		return;
	/* the first one has no result */
	if (self + 1 < n)
		shuffle_plan_send(plan, step, self + 1, 0, plan->blocks);
	if (self)
		shuffle_plan_receive(plan, step, self - 1, SHUFFLE_COLL_STORE, 0, plan->blocks);
}

/**
 * shuffle_plan_gathered() - everybody gets all vectors, and combines them
 * @plan: plan; its blocks are the members' vectors
 */
void shuffle_plan_gathered(struct shuffle_plan *plan)
{
	plan->blocks = plan->topo->n;
	bruck(plan);
}

/**
 * shuffle_plan_doubling() - log2(n) steps; of barrier and all-gather to the base plan->radix
 * @plan: plan
 */
void shuffle_plan_doubling(struct shuffle_plan *plan)
{
	const struct shuffle_plan_group all = { .n = plan->topo->n, .self = plan->self };

	if (plan->kind == SHUFFLE_COLL_ALLREDUCE)
		shuffle_plan_double(plan, &all, 0);
	else if (plan->kind == SHUFFLE_COLL_SCAN || plan->kind == SHUFFLE_COLL_EXSCAN)
		scan(plan);
	else
		bruck(plan);
}

/* Block b ends at member b, combined on its way there. */
static u32 ring_scatter(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n, self = plan->self, s;

	for (s = 0; s + 1 < n; s++) {
		shuffle_plan_send(plan, s, (self + 1) % n, (self + 2 * n - 1 - s) % n, 1);
		shuffle_plan_receive(plan, s, (self + n - 1) % n, SHUFFLE_COLL_BEFORE,
				     (self + 2 * n - 2 - s) % n, 1);
	}
	return n - 1;
}

static void ring_gather(struct shuffle_plan *plan, u32 step)
{
	u32 n = plan->topo->n, self = plan->self, s;

	for (s = 0; s + 1 < n; s++, step++) {
		shuffle_plan_send(plan, step, (self + 1) % n, (self + n - s) % n, 1);
		shuffle_plan_receive(plan, step, (self + n - 1) % n, SHUFFLE_COLL_STORE,
				     (self + 2 * n - 1 - s) % n, 1);
	}
}

/**
 * shuffle_plan_ring() - to the next member only, a block at a time
 * @plan: plan
 */
void shuffle_plan_ring(struct shuffle_plan *plan)
{
	u32 step = 0;

	plan->blocks = plan->topo->n;
	if (plan->kind != SHUFFLE_COLL_ALLGATHER)
		step = ring_scatter(plan);
	if (plan->kind != SHUFFLE_COLL_REDUCE_SCATTER)
		ring_gather(plan, step);
}

/* Blocks [lo, lo + len) are ours after each step, and half of them after the next; those that share
 * all but the lowest bits of their numbers, neighbours, come last.
 */
static u32 halve(struct shuffle_plan *plan, const struct folded *f, u32 step)
{
	u32 d, len = f->p, lo = 0, peer, keep, give;

	for (d = f->p / 2; d; d /= 2, step++) {
		len /= 2;
		keep = f->self & d ? lo + len : lo;
		give = f->self & d ? lo : lo + len;
		lo = keep;
		if (!f->in)
			continue;
		peer = folded_place(plan, f, f->self ^ d);
		shuffle_plan_send(plan, step, peer, give, len);
		shuffle_plan_receive(plan, step, peer, exchange_take(f->self, f->self ^ d), keep,
				     len);
	}
	return step;
}

/* All blocks to all that take part, or to @root among them only. */
static u32 collect(struct shuffle_plan *plan, const struct folded *f, u32 root, bool to_all,
		   u32 step)
{
	u32 d, lo = f->self, other, peer, relative = f->self ^ root;
	bool has_sent = !f->in;

	for (d = 1; d < f->p; d *= 2, step++) {
		if (has_sent)
			continue;
		other = lo ^ d;
		peer = folded_place(plan, f, f->self ^ d);
		if (to_all || relative & d)
			shuffle_plan_send(plan, step, peer, lo, d);
		if (to_all || !(relative & d))
			shuffle_plan_receive(plan, step, peer, SHUFFLE_COLL_STORE, other, d);
		else
			has_sent = true;
		lo &= ~d;
	}
	return step;
}

/**
 * shuffle_plan_rabenseifner() - long vectors: everybody combines a part, then all are collected
 * @plan: plan; the order of combination is not that of the members
 */
void shuffle_plan_rabenseifner(struct shuffle_plan *plan)
{
	const struct shuffle_plan_group all = { .n = plan->topo->n, .self = plan->self };
	const struct shuffle_plan_group at_root = { .n = plan->topo->n, .self = plan->root };
	const struct folded f = fold_group(&all), r = fold_group(&at_root);
	bool to_all = plan->kind == SHUFFLE_COLL_ALLREDUCE;
	u32 step = 0;

	plan->blocks = f.p;
	step += fold_join(plan, &f, step);
	step = halve(plan, &f, step);
	step = collect(plan, &f, r.self, to_all, step);
	if (to_all) {
		fold_part(plan, &f, step);
		return;
	}
	/* a root that has joined with another one */
	if (r.in)
		return;
	if (plan->self == plan->root)
		shuffle_plan_receive(plan, step, plan->root ^ 1, SHUFFLE_COLL_STORE, 0,
				     plan->blocks);
	else if (plan->self == (plan->root ^ 1))
		shuffle_plan_send(plan, step, plan->root, 0, plan->blocks);
}
