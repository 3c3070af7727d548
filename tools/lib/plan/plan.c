// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Plans: which pattern can do what, and who computes it. */
#include "plan.h"

#define BIT_OF(kind)	(1U << SHUFFLE_COLL_##kind)

#define WITH_ROOT	(BIT_OF(BROADCAST) | BIT_OF(SCATTER) | BIT_OF(GATHER) | BIT_OF(REDUCE))

static const struct {
	const char *name;
	u32 kinds;
	void (*make)(struct shuffle_plan *plan);
} plan_patterns[SHUFFLE_COLL_PATTERNS] = {
	[SHUFFLE_COLL_FLAT] = {
		"flat", WITH_ROOT | BIT_OF(BARRIER) | BIT_OF(ALLGATHER) | BIT_OF(ALLREDUCE) |
			BIT_OF(REDUCE_SCATTER), shuffle_plan_flat
	},
	[SHUFFLE_COLL_TREE] = { "tree", WITH_ROOT | BIT_OF(BARRIER) | BIT_OF(ALLREDUCE),
				shuffle_plan_tree },
	[SHUFFLE_COLL_CHAIN] = { "chain", BIT_OF(BROADCAST) | BIT_OF(REDUCE),
				 shuffle_plan_chain },
	[SHUFFLE_COLL_DOUBLING] = {
		"doubling", BIT_OF(BARRIER) | BIT_OF(ALLGATHER) | BIT_OF(ALLREDUCE) |
			    BIT_OF(SCAN) | BIT_OF(EXSCAN), shuffle_plan_doubling
	},
	[SHUFFLE_COLL_RING] = { "ring", BIT_OF(ALLGATHER) | BIT_OF(ALLREDUCE) |
					BIT_OF(REDUCE_SCATTER), shuffle_plan_ring },
	[SHUFFLE_COLL_RABENSEIFNER] = { "rabenseifner", BIT_OF(REDUCE) | BIT_OF(ALLREDUCE),
					shuffle_plan_rabenseifner },
	[SHUFFLE_COLL_COOL_PP] = { "cool-p-p", WITH_ROOT | BIT_OF(BARRIER) | BIT_OF(ALLGATHER) |
					       BIT_OF(ALLREDUCE), shuffle_plan_cool },
	[SHUFFLE_COLL_COOL_BR] = { "cool-b-r", BIT_OF(BARRIER) | BIT_OF(ALLREDUCE),
				   shuffle_plan_cool },
	[SHUFFLE_COLL_SPREAD] = {
		"spread", BIT_OF(BROADCAST) | BIT_OF(REDUCE) | BIT_OF(ALLREDUCE) |
			  BIT_OF(ALLGATHER) | BIT_OF(REDUCE_SCATTER), shuffle_plan_spread
	},
	[SHUFFLE_COLL_GATHERED] = { "gathered", BIT_OF(ALLREDUCE) | BIT_OF(SCAN) | BIT_OF(EXSCAN),
				    shuffle_plan_gathered },
	[SHUFFLE_COLL_TWO_TREE] = { "two-tree", BIT_OF(BROADCAST) | BIT_OF(REDUCE) |
						BIT_OF(ALLREDUCE), shuffle_plan_two_tree },
};

static const char *const plan_kinds[SHUFFLE_COLL_KINDS] = {
	"barrier", "broadcast", "scatter", "gather", "all-gather", "reduce", "all-reduce",
	"reduce-scatter", "scan", "exscan",
};

/**
 * shuffle_coll_kind_name() - what a kind of collective is called
 * @kind: enum shuffle_coll_kind
 *
 * Return: its name.
 */
const char *shuffle_coll_kind_name(u8 kind)
{
	return plan_kinds[kind];
}

/**
 * shuffle_coll_pattern_name() - what a pattern is called
 * @pattern: enum shuffle_coll_pattern, or SHUFFLE_PLAN_EXPLICIT
 *
 * Return: its name.
 */
const char *shuffle_coll_pattern_name(u8 pattern)
{
	return pattern < SHUFFLE_COLL_PATTERNS ? plan_patterns[pattern].name : "explicit";
}

/**
 * shuffle_coll_has_root() - is there a root?
 * @kind: enum shuffle_coll_kind
 */
bool shuffle_coll_has_root(u8 kind)
{
	return WITH_ROOT & 1U << kind;
}

/**
 * shuffle_coll_combines() - is data combined?
 * @kind: enum shuffle_coll_kind
 */
bool shuffle_coll_combines(u8 kind)
{
	return kind >= SHUFFLE_COLL_REDUCE;
}

/**
 * shuffle_coll_by_member() - has each member's data, or share, a block of its own?
 * @kind: enum shuffle_coll_kind
 * @pattern: enum shuffle_coll_pattern
 */
bool shuffle_coll_by_member(u8 kind, u8 pattern)
{
	return pattern == SHUFFLE_COLL_GATHERED || kind == SHUFFLE_COLL_SCATTER ||
	       kind == SHUFFLE_COLL_GATHER || kind == SHUFFLE_COLL_ALLGATHER ||
	       kind == SHUFFLE_COLL_REDUCE_SCATTER;
}

/**
 * shuffle_coll_in_segments() - is the radix a number of segments?
 * @pattern: enum shuffle_coll_pattern
 */
bool shuffle_coll_in_segments(u8 pattern)
{
	return pattern == SHUFFLE_COLL_SPREAD || pattern == SHUFFLE_COLL_TWO_TREE ||
	       pattern == SHUFFLE_COLL_CHAIN;
}

/**
 * shuffle_coll_gathered() - whose vectors a member combines when it has all of them
 * @kind: enum shuffle_coll_kind, of SHUFFLE_COLL_GATHERED
 * @self: our place
 * @n: members
 *
 * Return: the place behind the last one; the first is 0.
 */
u32 shuffle_coll_gathered(u8 kind, u32 self, u32 n)
{
	return kind == SHUFFLE_COLL_SCAN ? self + 1 : kind == SHUFFLE_COLL_EXSCAN ? self : n;
}

/**
 * shuffle_coll_sends_once() - does no member send to another twice?
 * @kind: enum shuffle_coll_kind
 * @pattern: enum shuffle_coll_pattern
 * @radix: of the plan
 *
 * The kernel's engine does these: an operation has one message from a member to another.
 */
bool shuffle_coll_sends_once(u8 kind, u8 pattern, u32 radix)
{
	switch (pattern) {
	case SHUFFLE_COLL_CHAIN:
		return radix <= 1;
	case SHUFFLE_COLL_FLAT:
	case SHUFFLE_COLL_TREE:
	case SHUFFLE_COLL_GATHERED:
	case SHUFFLE_COLL_COOL_PP:
	case SHUFFLE_COLL_COOL_BR:
		return true;
	case SHUFFLE_COLL_DOUBLING:
		return kind != SHUFFLE_COLL_EXSCAN;
	}
	return false;
}

/**
 * shuffle_coll_fits() - is it short enough for the kernel's engine?
 * @kind: enum shuffle_coll_kind
 * @pattern: enum shuffle_coll_pattern
 * @len: bytes of a vector, or of a member's block
 * @n: members, at most SHUFFLE_MAX_MEMBERS
 *
 * It bounds what a member holds, and what it sends and receives, all messages together.
 *
 * Return: the same at all members.
 */
bool shuffle_coll_fits(u8 kind, u8 pattern, u64 len, u32 n)
{
	/* a leader tells each member of its rack all blocks */
	if (kind == SHUFFLE_COLL_ALLGATHER && pattern == SHUFFLE_COLL_COOL_PP &&
	    (len > SHUFFLE_COLL_MAX_BYTES || len * n * n > SHUFFLE_COLL_MAX_SUM))
		return false;
	return len <= SHUFFLE_COLL_MAX_BYTES &&
	       len * n <= (shuffle_coll_by_member(kind, pattern) ? SHUFFLE_COLL_MAX_BYTES :
								   SHUFFLE_COLL_MAX_SUM);
}

/**
 * shuffle_plan_possible() - does the pattern do that?
 * @kind: enum shuffle_coll_kind
 * @pattern: enum shuffle_coll_pattern
 */
bool shuffle_plan_possible(u8 kind, u8 pattern)
{
	return kind < SHUFFLE_COLL_KINDS && pattern < SHUFFLE_COLL_PATTERNS &&
	       plan_patterns[pattern].kinds & 1U << kind;
}

static struct shuffle_plan_msg *add_message(struct shuffle_plan *plan, u32 step, u32 peer,
					    u32 block, u32 blocks)
{
	struct shuffle_plan_msg *m;

	if (step >= plan->steps)
		plan->steps = step + 1;
	if (plan->n++ >= plan->max)
		return NULL;
	m = &plan->msg[plan->n - 1];
	*m = (struct shuffle_plan_msg) {
		.step = step,
		.peer = peer,
		.block = block,
		.blocks = blocks,
	};
	return m;
}

/**
 * shuffle_plan_send() - add a message that we send
 * @plan: plan
 * @step: when; not before those that were added
 * @peer: place of its receiver
 * @block: its first block
 * @blocks: their number
 */
void shuffle_plan_send(struct shuffle_plan *plan, u32 step, u32 peer, u32 block, u32 blocks)
{
	struct shuffle_plan_msg *m = add_message(plan, step, peer, block, blocks);

	if (m)
		m->out = true;
}

/**
 * shuffle_plan_receive() - add a message that we receive
 * @plan: plan
 * @step: when; not before those that were added
 * @peer: place of its sender
 * @take: enum shuffle_coll_take
 * @block: its first block
 * @blocks: their number
 */
void shuffle_plan_receive(struct shuffle_plan *plan, u32 step, u32 peer, u8 take, u32 block,
			  u32 blocks)
{
	struct shuffle_plan_msg *m = add_message(plan, step, peer, block, blocks);

	if (m)
		m->take = take;
}

/**
 * shuffle_plan_multicast() - the message that was added last is one of many that are alike
 * @plan: plan
 * @multicast: SHUFFLE_PLAN_TO_RACK or SHUFFLE_PLAN_TO_LEADERS
 */
void shuffle_plan_multicast(struct shuffle_plan *plan, u8 multicast)
{
	if (plan->n <= plan->max)
		plan->msg[plan->n - 1].multicast = multicast;
}

/**
 * shuffle_plan_place() - the place of a member of a group
 * @plan: plan
 * @g: group
 * @i: number of the member
 *
 * Return: its place.
 */
u32 shuffle_plan_place(const struct shuffle_plan *plan, const struct shuffle_plan_group *g, u32 i)
{
	return g->leaders ? shuffle_topology_leader(plan->topo, i) : g->base + i;
}

/* What is asked for, as far as the pattern goes. */
static u32 radix_of(const struct shuffle_plan *plan)
{
	u32 n = plan->topo->n;

	if (shuffle_coll_in_segments(plan->pattern))
		return plan->radix > SHUFFLE_PLAN_SEGMENTS ? SHUFFLE_PLAN_SEGMENTS :
		       plan->radix ? plan->radix : 1;
	/* wider than all members; so powers of it fit, too */
	if (plan->radix > n)
		return n < 2 ? 2 : n;
	return plan->radix < 2 ? 2 : plan->radix;
}

static u32 blocks_of(const struct shuffle_plan *plan)
{
	if (plan->kind == SHUFFLE_COLL_BARRIER)
		return 0;
	return shuffle_coll_by_member(plan->kind, plan->pattern) ? plan->topo->n : 1;
}

/**
 * shuffle_plan_make() - compute a member's part
 * @plan: kind, pattern, radix, topo, root, self, msg and max are the caller's; the rest becomes
 *	known
 *
 * @plan->steps is that of our own part; others may have more.
 *
 * Context: any.
 * Return: 0; -EINVAL: the pattern does not do that; -ENOSPC: @plan->n messages need more room.
 */
int shuffle_plan_make(struct shuffle_plan *plan)
{
	u32 n = plan->topo->n;

	if (!shuffle_plan_possible(plan->kind, plan->pattern) || plan->self >= n ||
	    (shuffle_coll_has_root(plan->kind) && plan->root >= n))
		return -EINVAL;
	if (!shuffle_coll_has_root(plan->kind))
		plan->root = 0;
	plan->radix = radix_of(plan);
	plan->blocks = blocks_of(plan);
	plan->steps = 0;
	plan->n = 0;
	if (n > 1)
		plan_patterns[plan->pattern].make(plan);
	return plan->n > plan->max ? -ENOSPC : 0;
}
