// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is what members may call, and racks of any sizes.  Each
 * message that one plan sends must be received by another one, in the same step and with the same
 * blocks, and lie within what the kernel's engine has room for.
 */
#include "../plan/blocks.h"
#include "../../../net/shuffle/coll/combine.h"
#include "../plan/plan.h"
#include "../../../net/shuffle/test/fuzz.h"

#define MEMBERS		12U
#define MESSAGES	(8U * MEMBERS * (SHUFFLE_PLAN_SEGMENTS + 4U))

static u32 first[MEMBERS + 1];

static void draw_racks(struct fuzz_in *in, struct shuffle_topology *topo)
{
	u32 size;

	topo->n = 1 + fuzz_u8(in) % MEMBERS;
	topo->racks = 0;
	topo->first = first;
	first[0] = 0;
	while (first[topo->racks] < topo->n) {
		size = 1 + fuzz_u8(in) % topo->n;
		topo->racks++;
		first[topo->racks] = first[topo->racks - 1] + size;
	}
	first[topo->racks] = topo->n;
}

static u64 hash(u64 x, u64 more)
{
	x = (x ^ more) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

/* The same at its sender and its receiver. */
static u64 hash_of(const struct shuffle_plan *plan, const struct shuffle_plan_msg *m)
{
	u32 src = m->out ? plan->self : m->peer, dst = m->out ? m->peer : plan->self;

	return hash(hash(hash((u64)src << 32 | dst, m->step), m->block), m->blocks);
}

/* As plan_steps.c lays it out. */
static u64 held(const struct shuffle_plan *plan, const struct shuffle_blocks *b, bool is_root)
{
	u64 all = plan->topo->n * b->size;

	if (plan->kind == SHUFFLE_COLL_SCATTER || plan->kind == SHUFFLE_COLL_GATHER)
		return is_root ? all : shuffle_blocks_members(b, plan) * b->size;
	return b->by_member ? all : b->size;
}

static void check_message(const struct shuffle_plan *plan, const struct shuffle_plan_msg *m,
			  const struct shuffle_blocks *b, u64 room)
{
	struct shuffle_block_piece piece[2];
	u32 i, n;

	if (m->peer >= plan->topo->n || m->peer == plan->self)
		fuzz_check("a message to nobody");
	if (m->step >= plan->steps)
		fuzz_check("a step that there is not");
	n = shuffle_blocks_pieces(b, m, piece);
	if (n > 2)
		fuzz_check("more than two pieces");
	for (i = 0; i < n; i++)
		if (piece[i].at + piece[i].len > room || piece[i].len > room)
			fuzz_check("a piece beyond what is held");
}

/* What the kernel refuses in a table, start.c. */
static void check_steps(const struct shuffle_plan *plan, u64 len, u32 item)
{
	static struct shuffle_step step[MESSAGES];
	/* items of a byte, or of eight */
	u8 type = item % 8 ? SHUFFLE_COLL_U8 : SHUFFLE_COLL_U64;
	bool combines = shuffle_coll_combines(plan->kind);
	struct shuffle_collective c;
	u64 all[2] = {};
	u32 i, in_len;

	if (!shuffle_coll_sends_once(plan->kind, plan->pattern, plan->radix) ||
	    !shuffle_coll_fits(plan->kind, plan->pattern, len, plan->topo->n))
		return;
	in_len = shuffle_plan_steps(plan, len, combines ? SHUFFLE_COLL_SUM : SHUFFLE_COLL_NONE,
				    combines ? type : 0, &c, step);
	item = combines ? shuffle_coll_item(type) : 1;
	if (c.held > SHUFFLE_COLL_MAX_BYTES || c.in_at > c.held || in_len > c.held - c.in_at ||
	    c.out_at > c.held || (u64)c.vectors * c.out_len > c.held - c.out_at)
		fuzz_check("data or a result beyond what is held");
	if (c.held % item || c.out_at % item || c.out_len % item || (c.out_len && !c.vectors) ||
	    (c.vectors > 1 && !combines))
		fuzz_check("a result of half an item, or of nothing");
	for (i = 0; i < c.steps; i++) {
		all[step[i].what == SHUFFLE_STEP_SEND] += step[i].len;
		if (step[i].at > c.held || step[i].len > c.held)
			fuzz_check("a step beyond what is held");
		if (step[i].what == SHUFFLE_STEP_COMBINE &&
		    (step[i].at % item || step[i].len % item || !combines))
			fuzz_check("a step that combines what is no items");
	}
	if (all[0] > SHUFFLE_COLL_MAX_SUM || all[1] > SHUFFLE_COLL_MAX_SUM)
		fuzz_check("more than a kernel sends or receives");
}

static void check_order(const struct shuffle_plan *plan)
{
	const struct shuffle_plan_msg *m = plan->msg;
	u32 i;

	for (i = 1; i < plan->n; i++) {
		if (m[i].step < m[i - 1].step)
			fuzz_check("steps that are not in order");
		if (m[i].step == m[i - 1].step && m[i].out && !m[i - 1].out)
			fuzz_check("sent after something was received in the step");
	}
	if (shuffle_coll_sends_once(plan->kind, plan->pattern, plan->radix) &&
	    plan->n > 2 * plan->topo->n)
		fuzz_check("more messages than the engine knows");
}

static u64 check_plan(const struct shuffle_plan *plan, u64 len, u32 item)
{
	struct shuffle_blocks b = {
		.n = plan->blocks,
		.by_member = shuffle_coll_by_member(plan->kind, plan->pattern),
		.size = len,
		.item = item,
	};
	bool is_root = plan->self == plan->root;
	u64 sum = 0;
	u32 i;

	if (plan->kind == SHUFFLE_COLL_SCATTER || plan->kind == SHUFFLE_COLL_GATHER)
		b.base = is_root ? 0 : plan->self;
	check_order(plan);
	check_steps(plan, len, item);
	for (i = 0; i < plan->n; i++) {
		check_message(plan, &plan->msg[i], &b, held(plan, &b, is_root));
		if (plan->msg[i].out)
			sum += hash_of(plan, &plan->msg[i]);
		else
			sum -= hash_of(plan, &plan->msg[i]);
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct shuffle_plan_msg msg[MESSAGES];
	struct fuzz_in in = { data, size };
	struct shuffle_topology topo;
	struct shuffle_plan plan = { .topo = &topo, .msg = msg, .max = MESSAGES };
	u32 item, root;
	u64 len, sum = 0;
	int err;

	plan.kind = fuzz_u8(&in) % (SHUFFLE_COLL_KINDS + 1);
	plan.pattern = fuzz_u8(&in) % (SHUFFLE_COLL_PATTERNS + 1);
	/* more segments take longer and are not different */
	plan.radix = fuzz_u8(&in) % 64;
	if (plan.radix == 63)
		plan.radix = ~0U;
	item = 1U << fuzz_u8(&in) % 5;
	len = (u64)item * (fuzz_u16(&in) % 2000);
	root = fuzz_u8(&in);
	draw_racks(&in, &topo);
	/* one that is no member, sometimes */
	root %= topo.n + (root % 8 == 0);
	for (plan.self = 0; plan.self < topo.n; plan.self++) {
		plan.root = root;
		err = shuffle_plan_make(&plan);
		if (err == -EINVAL && (!shuffle_plan_possible(plan.kind, plan.pattern) ||
				       (shuffle_coll_has_root(plan.kind) && root >= topo.n)))
			return 0;
		if (err)
			fuzz_check("no plan");
		sum += check_plan(&plan, plan.kind == SHUFFLE_COLL_BARRIER ? 0 : len, item);
	}
	if (sum)
		fuzz_check("a message that is sent is not received, or the other way round");
	return 0;
}
