// SPDX-License-Identifier: GPL-2.0-only
/* A collective is started: its control message, its plan, and the row that it becomes. */
#include <linux/slab.h>
#include <linux/uio.h>

#include "../shuffle.h"
#include "combine.h"
#include "engine.h"
#include "racks.h"

static int check_collective(const struct shuffle_collective *c, size_t len)
{
	BUILD_BUG_ON(sizeof(*c) != SHUFFLE_COLLECTIVE_SIZE_VER0);
	if (len < SHUFFLE_COLLECTIVE_SIZE_VER0 || c->size < SHUFFLE_COLLECTIVE_SIZE_VER0 ||
	    c->size != len)
		return -EINVAL;
	if (memchr_inv(c + 1, 0, c->size - sizeof(*c)))
		return -E2BIG;
	if (c->flags & ~SHUFFLE_ROW_FIRST_CALL || c->reserved ||
	    !shuffle_plan_possible(c->kind, c->pattern))
		return -EINVAL;
	if (!shuffle_coll_sends_once(c->kind, c->pattern, c->radix))
		return -EOPNOTSUPP;
	if (c->radix > SHUFFLE_MAX_MEMBERS || (c->root && !shuffle_coll_has_root(c->kind)))
		return -EINVAL;
	if (c->len > SHUFFLE_COLL_MAX_BYTES)
		return -EMSGSIZE;
	if (c->kind == SHUFFLE_COLL_BARRIER && c->len)
		return -EINVAL;
	if (!shuffle_coll_combines(c->kind))
		return c->oper || c->type ? -EINVAL : 0;
	if (!shuffle_coll_can_combine(c->oper, c->type) ||
	    (u32)c->len % shuffle_coll_item(c->type))
		return -EINVAL;
	return 0;
}

/**
 * shuffle_collective_find() - the collective in the control messages of a sendmsg()
 * @msg: the call
 *
 * Context: any.
 * Return: the collective, in the call's memory; NULL: the first control message is none; or an
 * ERR_PTR: -EINVAL (malformed, or not alone), -E2BIG (fields that we do not know), -EOPNOTSUPP (a
 * pattern in which a member sends to another twice), -EMSGSIZE.
 */
const struct shuffle_collective *shuffle_collective_find(struct msghdr *msg)
{
	const struct shuffle_collective *c = NULL;
	struct cmsghdr *cmsg;
	int err;

	for_each_cmsghdr(cmsg, msg) {
		if (!CMSG_OK(msg, cmsg))
			return c ? ERR_PTR(-EINVAL) : NULL;
		if (c)
			return ERR_PTR(-EINVAL);
		if (cmsg->cmsg_level != SOL_SHUFFLE || cmsg->cmsg_type != SHUFFLE_CMSG_COLLECTIVE)
			return NULL;
		c = CMSG_DATA(cmsg);
		err = check_collective(c, cmsg->cmsg_len - CMSG_LEN(0));
		if (err)
			return ERR_PTR(err);
	}
	return c;
}

/* Room for a plan's messages, which are counted first. */
static int make_plan(struct shuffle_plan *plan)
{
	int err = shuffle_plan_make(plan);

	if (err != -ENOSPC)
		return err;
	/* one to and one from each member at most */
	if (WARN_ON_ONCE(plan->n > 2 * plan->topo->n))
		return -EOPNOTSUPP;
	plan->msg = kvmalloc_array(plan->n, sizeof(*plan->msg), GFP_KERNEL_ACCOUNT);
	if (!plan->msg)
		return -ENOMEM;
	plan->max = plan->n;
	return shuffle_plan_make(plan);
}

/* Where a member's data and its result are.  Returns the bytes of all that it holds. */
static u32 lay_out(struct shuffle_engine *e, const struct shuffle_collective *c, u32 *in_off,
		   u32 *in_len)
{
	u32 self = e->plan.self, len = c->len, all = e->topo.n * len;
	u32 held = e->blocks.by_member ? all : len;
	bool is_root = self == c->root;

	e->blocks.n = e->plan.blocks;
	e->blocks.size = len;
	e->blocks.item = shuffle_coll_combines(c->kind) ? shuffle_coll_item(c->type) : 1;
	e->has_result = c->kind != SHUFFLE_COLL_EXSCAN || self;
	e->result_len = len;
	*in_off = c->pattern == SHUFFLE_COLL_GATHERED ? self * len : 0;
	*in_len = len;
	switch (c->kind) {
	case SHUFFLE_COLL_BROADCAST:
		e->has_result = !is_root;
		*in_len = is_root ? len : 0;
		break;
	case SHUFFLE_COLL_SCATTER:
	case SHUFFLE_COLL_GATHER:
		e->blocks.base = is_root ? 0 : self;
		held = is_root ? all : shuffle_blocks_members(&e->blocks, &e->plan) * len;
		if (c->kind == SHUFFLE_COLL_SCATTER) {
			e->result_off = is_root ? self * len : 0;
			*in_len = is_root ? all : 0;
		} else {
			e->has_result = is_root;
			e->result_len = all;
			*in_off = is_root ? self * len : 0;
		}
		break;
	case SHUFFLE_COLL_ALLGATHER:
		e->result_len = all;
		*in_off = self * len;
		break;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		*in_len = all;
		e->result_off = self * len;
		break;
	case SHUFFLE_COLL_REDUCE:
		e->has_result = is_root;
		break;
	}
	return held;
}

/* What is sent goes into chunks of its own: a step sends what there is when it begins. */
static int alloc_chunks(struct shuffle_engine *e)
{
	struct shuffle_chunk *chunk;
	u32 i, len, size;

	e->chunk = kvcalloc(e->plan.n ?: 1, sizeof(*e->chunk), GFP_KERNEL_ACCOUNT);
	if (!e->chunk)
		return -ENOMEM;
	for (i = 0; i < e->plan.n; i++) {
		if (!e->plan.msg[i].out)
			continue;
		len = shuffle_engine_bytes(e, &e->plan.msg[i]);
		size = kmalloc_size_roundup(struct_size(chunk, bytes, len));
		chunk = kmalloc(size, GFP_KERNEL_ACCOUNT);
		if (!chunk)
			return -ENOMEM;
		*chunk = (struct shuffle_chunk) {
			.len = len,
			.pkt = len,
			.rank = e->plan.msg[i].peer,
			.kind = SHUFFLE_CHUNK_BYTES,
			.truesize = size,
		};
		e->chunk[i] = chunk;
	}
	return 0;
}

static int alloc_data(struct shuffle_engine *e, u32 held)
{
	e->data = alloc_skb(max(held, 1U), GFP_KERNEL);
	e->scratch = kvmalloc(max(held, 1U), GFP_KERNEL_ACCOUNT);
	if (!e->data || !e->scratch)
		return -ENOMEM;
	memset(skb_put(e->data, max(held, 1U)), 0, max(held, 1U));
	return 0;
}

static int fill_engine(struct shuffle_engine *e, const struct shuffle_collective *c,
		       struct iov_iter *iter)
{
	u32 held, in_off, in_len, n = e->topo.n;
	int err;

	if (shuffle_coll_has_root(c->kind) && c->root >= n)
		return -EINVAL;
	if (!shuffle_coll_fits(c->kind, c->pattern, c->len, n))
		return -EMSGSIZE;
	e->oper = c->oper;
	e->type = c->type;
	e->plan.kind = c->kind;
	e->plan.pattern = c->pattern;
	e->plan.radix = c->radix;
	e->plan.topo = &e->topo;
	e->plan.root = c->root;
	err = make_plan(&e->plan);
	if (err)
		return err;
	e->blocks.by_member = shuffle_coll_by_member(c->kind, c->pattern);
	held = lay_out(e, c, &in_off, &in_len);
	if (iov_iter_count(iter) != in_len)
		return -EMSGSIZE;
	err = alloc_data(e, held) ?: alloc_chunks(e);
	if (err)
		return err;
	if (!copy_from_iter_full(e->data->data + in_off, in_len, iter))
		return -EFAULT;
	return 0;
}

/**
 * struct rows - which messages exist
 * @row: ours, by receiver
 * @absent: those that do not come
 */
struct rows {
	struct shuffle_row	*row;
	struct shuffle_absent	*absent;
};

static void free_rows(struct rows *r)
{
	kvfree(r->row);
	kvfree(r->absent);
}

/* 0 or -ENOMEM; -EOPNOTSUPP if a plan should have more than one message between two members. */
static int make_rows(struct shuffle_engine *e, const struct shuffle_collective *c,
		     struct rows *r)
{
	u32 n = e->topo.n, words = DIV_ROUND_UP(n, 64), i;
	u64 *bits;

	r->row = kvzalloc(struct_size(r->row, lens, n), GFP_KERNEL);
	r->absent = kvzalloc(struct_size(r->absent, bits, words), GFP_KERNEL);
	e->expected = kvcalloc(n, sizeof(*e->expected), GFP_KERNEL_ACCOUNT);
	if (!r->row || !r->absent || !e->expected)
		return -ENOMEM;
	r->row->size = sizeof(*r->row);
	r->row->op_id = c->op_id;
	r->row->flags = c->flags;
	r->row->count = n;
	r->absent->size = sizeof(*r->absent);
	r->absent->words = words;
	bits = r->absent->bits;
	for (i = 0; i < n; i++) {
		r->row->lens[i] = SHUFFLE_ABSENT;
		bits[i / 64] |= 1ULL << i % 64;
	}
	for (i = 0; i < e->plan.n; i++) {
		const struct shuffle_plan_msg *m = &e->plan.msg[i];
		u32 len = shuffle_engine_bytes(e, m);

		if (m->out ? r->row->lens[m->peer] != SHUFFLE_ABSENT : !!e->expected[m->peer])
			return -EOPNOTSUPP;
		if (m->out) {
			r->row->lens[m->peer] = len;
		} else {
			e->expected[m->peer] = len;
			bits[m->peer / 64] &= ~(1ULL << m->peer % 64);
		}
	}
	return 0;
}

/* The engine is the operation's; what is announced is sent when its turn comes. */
static int run_op(struct shuffle_sock *ssk, struct shuffle_op *op, const struct rows *r)
{
	int err = shuffle_announce(op, r->row);

	if (!err) {
		shuffle_early_claim(ssk, op->id);
		err = shuffle_engine_start(op);
	}
	if (err && err != -EPIPE) {
		spin_lock_bh(&ssk->lock);
		shuffle_op_fail(op, ECANCELED);
		spin_unlock_bh(&ssk->lock);
	}
	mutex_unlock(&op->tx_mutex);
	shuffle_op_put(op);
	return err;
}

/* Of what all members have to agree on.  Items are in the byte order of their machines. */
static u64 digest_of(const struct shuffle_engine *e, const struct shuffle_collective *c)
{
	const struct shuffle_key key = {};
	u8 head[24] = {}, racks[12];
	bool racked = e->topo.first;
	u64 hash[2], digest;
	u32 i;

	head[0] = c->kind;
	head[1] = c->pattern;
	head[2] = c->oper;
	head[3] = c->type;
	head[4] = c->oper != SHUFFLE_COLL_NONE && IS_ENABLED(CONFIG_CPU_BIG_ENDIAN);
	shuffle_put64(head + 8, c->len);
	shuffle_put32(head + 16, c->root);
	shuffle_put32(head + 20, c->radix);
	shuffle_siphash(&key, head, sizeof(head), hash);
	digest = hash[0];
	/* the others do not look at racks */
	if (c->pattern != SHUFFLE_COLL_COOL_PP && c->pattern != SHUFFLE_COLL_COOL_BR)
		racked = false;
	for (i = 0; racked && i <= e->topo.racks; i++) {
		shuffle_put64(racks, digest);
		shuffle_put32(racks + 8, e->topo.first[i]);
		shuffle_siphash(&key, racks, sizeof(racks), hash);
		digest = hash[0];
	}
	return (digest & SHUFFLE_DIGEST_MAX) ?: 1;
}

/* Our place in the group and its racks as they are now.  0 or -ENOTCONN. */
static int find_place(struct shuffle_engine *e, struct shuffle_sock *ssk)
{
	int err = -ENOTCONN;

	spin_lock_bh(&ssk->lock);
	if (ssk->group) {
		e->plan.self = ssk->group->rank;
		e->topo.n = ssk->group->count;
		e->racks = shuffle_racks_hold(ssk);
		err = 0;
	}
	spin_unlock_bh(&ssk->lock);
	e->topo.racks = e->racks ? e->racks->racks : 1;
	e->topo.first = e->racks ? e->racks->first : NULL;
	return err;
}

/**
 * shuffle_collective_start() - start a collective
 * @ssk: socket
 * @c: from shuffle_collective_find()
 * @iter: what this member puts in
 *
 * Context: process, may sleep, but waits for nobody.
 * Return: 0: all data has been taken; or -ENOTCONN, -EMSGSIZE (too long, too much to be sent, or
 * not as many bytes as the kind takes), -EINVAL (no such root), -EFAULT, -ENOMEM, -ENOBUFS, -EPIPE
 * (ended meanwhile), and those of shuffle_op_create().
 */
int shuffle_collective_start(struct shuffle_sock *ssk, const struct shuffle_collective *c,
			     struct iov_iter *iter)
{
	struct shuffle_engine *e;
	struct shuffle_column column = {};
	struct rows r = {};
	struct shuffle_op *op;
	int err;

	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return -ENOMEM;
	err = find_place(e, ssk) ?: fill_engine(e, c, iter) ?: make_rows(e, c, &r);
	/* before anybody hears of it: the call can be made again */
	if (!err && !shuffle_engine_has_room(e, &ssk->sk))
		err = -ENOBUFS;
	if (err) {
		shuffle_engine_free(e);
		goto out;
	}
	column.absent = r.absent;
	column.flags = c->flags;
	column.digest = digest_of(e, c);
	op = shuffle_op_create(ssk, c->op_id, c->deadline_ms, &column, e);
	if (IS_ERR(op)) {
		err = PTR_ERR(op);
		shuffle_engine_free(e);
		goto out;
	}
	err = run_op(ssk, op, &r);
out:
	free_rows(&r);
	return err;
}
