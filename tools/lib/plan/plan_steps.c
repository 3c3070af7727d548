// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * A member's part of a plan as the kernel's engine takes it: where its data and its result are, and
 * steps that say where bytes come from and go to.
 */
#include "blocks.h"
#include "../../../net/shuffle/coll/combine.h"

/* Where the data that a member puts in begins and how long it is, and where its result is. */
static void lay_out_steps(const struct shuffle_plan *plan, u32 len, struct shuffle_blocks *b,
			  struct shuffle_collective *c, u32 *in_len)
{
	u32 self = plan->self, n = plan->topo->n, all = n * len;
	bool is_root = self == plan->root, has_result = true;

	c->held = b->by_member ? all : len;
	c->in_at = plan->pattern == SHUFFLE_COLL_GATHERED ? self * len : 0;
	c->out_at = 0;
	c->out_len = len;
	*in_len = len;
	switch (plan->kind) {
	case SHUFFLE_COLL_BROADCAST:
		has_result = !is_root;
		*in_len = is_root ? len : 0;
		break;
	case SHUFFLE_COLL_SCATTER:
	case SHUFFLE_COLL_GATHER:
		b->base = is_root ? 0 : self;
		c->held = is_root ? all : shuffle_blocks_members(b, plan) * len;
		if (plan->kind == SHUFFLE_COLL_SCATTER) {
			c->out_at = is_root ? self * len : 0;
			*in_len = is_root ? all : 0;
		} else {
			has_result = is_root;
			c->out_len = all;
			c->in_at = is_root ? self * len : 0;
		}
		break;
	case SHUFFLE_COLL_ALLGATHER:
		c->out_len = all;
		c->in_at = self * len;
		break;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		*in_len = all;
		c->out_at = self * len;
		break;
	case SHUFFLE_COLL_REDUCE:
		has_result = is_root;
		break;
	case SHUFFLE_COLL_EXSCAN:
		has_result = self;
		break;
	}
	c->vectors = has_result;
	if (!has_result)
		c->out_len = 0;
	else if (plan->pattern == SHUFFLE_COLL_GATHERED)
		c->vectors = shuffle_coll_gathered(plan->kind, self, n);
}

/* What a barrier's messages bring means nothing, however they are taken. */
static struct shuffle_step kernel_step(const struct shuffle_plan *plan,
				       const struct shuffle_blocks *b,
				       const struct shuffle_plan_msg *m)
{
	bool stores = m->take == SHUFFLE_COLL_STORE || !shuffle_coll_combines(plan->kind);
	struct shuffle_block_piece piece[2];
	u32 n = shuffle_blocks_pieces(b, m, piece);

	return (struct shuffle_step){
		.what = m->out ? SHUFFLE_STEP_SEND :
			stores ? SHUFFLE_STEP_STORE : SHUFFLE_STEP_COMBINE,
		.peer = m->peer,
		.at = n ? piece[0].at : 0,
		/* the second piece is at the beginning, behind the end */
		.len = (n ? piece[0].len : 0) + (n > 1 ? piece[1].len : 0),
	};
}

/**
 * shuffle_plan_steps() - a member's part of a plan as the kernel's engine takes it
 * @plan: a plan that has been made, which shuffle_coll_sends_once() and shuffle_coll_fits()
 * @len: bytes of a vector, or of a member's block
 * @oper: enum shuffle_coll_oper, of kinds that combine; commutes, as all of them do
 * @type: enum shuffle_coll_type, likewise
 * @c: becomes the collective, but for its operation, digest and flags
 * @step: becomes the steps; room for @plan->n
 *
 * Return: bytes that the member puts in.
 */
u32 shuffle_plan_steps(const struct shuffle_plan *plan, u32 len, u8 oper, u8 type,
		       struct shuffle_collective *c, struct shuffle_step *step)
{
	struct shuffle_blocks b = {
		.n = plan->blocks,
		.by_member = shuffle_coll_by_member(plan->kind, plan->pattern),
		.size = len,
		.item = oper ? shuffle_coll_item(type) : 1,
	};
	u32 in_len, i;

	c->size = sizeof(*c);
	c->step_size = sizeof(*step);
	c->steps = plan->n;
	c->oper = oper;
	c->type = type;
	lay_out_steps(plan, len, &b, c, &in_len);
	for (i = 0; i < plan->n; i++)
		step[i] = kernel_step(plan, &b, &plan->msg[i]);
	return in_len;
}
