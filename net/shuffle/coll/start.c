// SPDX-License-Identifier: GPL-2.0-only
/* A collective is started: its control message, its table, and the row that it becomes. */
#include <linux/slab.h>
#include <linux/uio.h>

#include "../group.h"
#include "../op.h"
#include "../peer.h"
#include "../rx/early.h"
#include "../sock.h"
#include "../tx/announce.h"
#include "../tx/msg_out.h"
#include "../tx/row.h"
#include "combine.h"
#include "engine.h"

/* Bytes of a step that a later program may have. */
#define STEP_SIZE_MAX	256U

static int check_collective(const struct shuffle_collective *c, size_t len)
{
	u32 item;

	BUILD_BUG_ON(sizeof(*c) != SHUFFLE_COLLECTIVE_SIZE_VER0 ||
		     sizeof(struct shuffle_step) != SHUFFLE_STEP_SIZE_VER0);
	if (len < SHUFFLE_COLLECTIVE_SIZE_VER0 || c->size < SHUFFLE_COLLECTIVE_SIZE_VER0 ||
	    c->size != len || c->step_size < SHUFFLE_STEP_SIZE_VER0 || c->step_size % 8)
		return -EINVAL;
	if (memchr_inv(c + 1, 0, c->size - sizeof(*c)) || c->step_size > STEP_SIZE_MAX)
		return -E2BIG;
	if (c->flags & ~SHUFFLE_ROW_FIRST_CALL || c->reserved)
		return -EINVAL;
	if (c->held > SHUFFLE_COLL_MAX_BYTES || c->in_at > c->held || c->out_at > c->held ||
	    (u64)c->out_len * c->vectors > c->held - c->out_at)
		return -EMSGSIZE;
	if (c->out_len && !c->vectors)
		return -EINVAL;
	if (c->oper == SHUFFLE_COLL_NONE)
		return c->type || c->vectors > 1 ? -EINVAL : 0;
	if (!shuffle_coll_can_combine(c->oper, c->type))
		return -EINVAL;
	item = shuffle_coll_item(c->type);
	return c->held % item || c->out_at % item || c->out_len % item ||
	       c->vectors > SHUFFLE_COLL_MAX_BYTES ? -EINVAL : 0;
}

/**
 * shuffle_collective_find() - the collective in the control messages of a sendmsg()
 * @msg: the call
 *
 * Context: any.
 * Return: the collective, in the call's memory; NULL: the first control message is none; or an
 * ERR_PTR: -EINVAL (malformed, or not alone), -E2BIG (fields that we do not know), -EMSGSIZE (it
 * holds more than a collective may, or not what it says).
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

/* A step that is longer than ours: what we do not know of it is 0, or -E2BIG. */
static int read_long_step(struct shuffle_step *s, size_t size, struct iov_iter *iter)
{
	u8 bytes[STEP_SIZE_MAX];

	if (!copy_from_iter_full(bytes, size, iter))
		return -EFAULT;
	memcpy(s, bytes, sizeof(*s));
	return memchr_inv(bytes + sizeof(*s), 0, size - sizeof(*s)) ? -E2BIG : 0;
}

static int read_steps(struct shuffle_engine *e, const struct shuffle_collective *c,
		      struct iov_iter *iter)
{
	int err = 0;
	u32 i;

	/* one to and one from each member at most */
	if (c->steps > 2 * (e->members - 1))
		return -EINVAL;
	if (iov_iter_count(iter) < (size_t)c->steps * c->step_size)
		return -EMSGSIZE;
	e->step = kvmalloc_array(c->steps ?: 1, sizeof(*e->step), GFP_KERNEL_ACCOUNT);
	if (!e->step)
		return -ENOMEM;
	e->steps = c->steps;
	if (c->step_size == sizeof(*e->step))
		return copy_from_iter_full(e->step, c->steps * sizeof(*e->step), iter) ? 0 :
											 -EFAULT;
	for (i = 0; i < c->steps && !err; i++)
		err = read_long_step(&e->step[i], c->step_size, iter);
	return err;
}

static int check_step(const struct shuffle_engine *e, const struct shuffle_step *s)
{
	u32 item;

	if (s->what >= SHUFFLE_STEPS || s->peer >= e->members || s->peer == e->self)
		return -EINVAL;
	if (s->at > e->held || s->len > e->held)
		return -EMSGSIZE;
	if (e->oper == SHUFFLE_COLL_NONE)
		return s->what == SHUFFLE_STEP_COMBINE ? -EINVAL : 0;
	item = shuffle_coll_item(e->type);
	return s->at % item || s->len % item ? -EINVAL : 0;
}

/* Steps as the caller has them become our own, which do not change any more. */
static int check_steps(const struct shuffle_engine *e)
{
	u32 sum[2] = {}, i;
	int err;

	for (i = 0; i < e->steps; i++) {
		const struct shuffle_step *s = &e->step[i];
		u32 *all = &sum[s->what == SHUFFLE_STEP_SEND];

		err = check_step(e, s);
		if (err)
			return err;
		*all += s->len;
		if (*all > SHUFFLE_COLL_MAX_SUM)
			return -EMSGSIZE;
	}
	return 0;
}

/* What is sent goes into chunks of its own: a step sends what there is when it begins. */
static int alloc_chunks(struct shuffle_engine *e)
{
	struct shuffle_chunk *chunk;
	u32 i, len, size;

	e->chunk = kvcalloc(e->steps ?: 1, sizeof(*e->chunk), GFP_KERNEL_ACCOUNT);
	if (!e->chunk)
		return -ENOMEM;
	for (i = 0; i < e->steps; i++) {
		if (e->step[i].what != SHUFFLE_STEP_SEND)
			continue;
		len = shuffle_engine_bytes(&e->step[i]);
		size = kmalloc_size_roundup(struct_size(chunk, bytes, len));
		chunk = kmalloc(size, GFP_KERNEL_ACCOUNT);
		if (!chunk)
			return -ENOMEM;
		*chunk = (struct shuffle_chunk) {
			.len = len,
			.pkt = len,
			.rank = e->step[i].peer,
			.kind = SHUFFLE_CHUNK_BYTES,
			.truesize = size,
		};
		e->chunk[i] = chunk;
	}
	return 0;
}

static int alloc_data(struct shuffle_engine *e)
{
	u32 held = max(e->held, 1U);

	e->data = alloc_skb(held, GFP_KERNEL);
	e->scratch = kvmalloc(held, GFP_KERNEL_ACCOUNT);
	if (!e->data || !e->scratch)
		return -ENOMEM;
	memset(skb_put(e->data, held), 0, held);
	return 0;
}

static int fill_engine(struct shuffle_engine *e, const struct shuffle_collective *c,
		       struct iov_iter *iter)
{
	size_t in_len;
	int err;

	e->oper = c->oper;
	e->type = c->type;
	e->held = c->held;
	e->vectors = c->vectors;
	e->out_at = c->out_at;
	e->out_len = c->out_len;
	err = read_steps(e, c, iter) ?: check_steps(e);
	if (err)
		return err;
	in_len = iov_iter_count(iter);
	if (in_len > c->held - c->in_at)
		return -EMSGSIZE;
	err = alloc_data(e) ?: alloc_chunks(e);
	if (err)
		return err;
	return copy_from_iter_full(e->data->data + c->in_at, in_len, iter) ? 0 : -EFAULT;
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

/* 0 or -ENOMEM; -EINVAL if there is more than one message from a member to another. */
static int make_rows(struct shuffle_engine *e, const struct shuffle_collective *c,
		     struct rows *r)
{
	u32 n = e->members, words = DIV_ROUND_UP(n, 64), i;
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
	for (i = 0; i < e->steps; i++) {
		const struct shuffle_step *s = &e->step[i];
		bool out = s->what == SHUFFLE_STEP_SEND;
		u32 len = shuffle_engine_bytes(s);

		if (out ? r->row->lens[s->peer] != SHUFFLE_ABSENT : !!e->expected[s->peer])
			return -EINVAL;
		if (out) {
			r->row->lens[s->peer] = len;
		} else {
			e->expected[s->peer] = len;
			bits[s->peer / 64] &= ~(1ULL << s->peer % 64);
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
	mutex_unlock(&op->fill.mutex);
	shuffle_op_put(op);
	return err;
}

/* Our place in the group as it is now.  0 or -ENOTCONN. */
static int find_place(struct shuffle_engine *e, struct shuffle_sock *ssk)
{
	int err = -ENOTCONN;

	spin_lock_bh(&ssk->lock);
	if (ssk->group) {
		e->self = ssk->group->rank;
		e->members = ssk->group->count;
		err = 0;
	}
	spin_unlock_bh(&ssk->lock);
	return err;
}

/**
 * shuffle_collective_start() - start a collective
 * @ssk: socket
 * @c: from shuffle_collective_find()
 * @iter: steps of the collective, and what this member puts in
 *
 * Context: process, may sleep, but waits for nobody.
 * Return: 0: all data has been taken; or -ENOTCONN, -EINVAL (steps that are none, or with nobody,
 * or twice with one), -E2BIG (fields of steps that we do not know), -EMSGSIZE (steps behind the end
 * of what is held, too much in all, or not the data), -EFAULT, -ENOMEM, -ENOBUFS, -EPIPE (ended
 * meanwhile), and those of shuffle_op_create().
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
	err = find_place(e, ssk) ?: fill_engine(e, c, iter) ?: make_rows(e, c, &r) ?:
	      shuffle_engine_charge(e, ssk);
	if (err) {
		shuffle_engine_free(e);
		goto out;
	}
	column.absent = r.absent;
	column.flags = c->flags;
	column.digest = shuffle_row_digest(c->digest);
	op = shuffle_op_create(ssk, c->op_id, c->deadline_ms, &column, e);
	if (IS_ERR(op)) {
		err = PTR_ERR(op);
		shuffle_engine_uncharge(e, ssk);
		shuffle_engine_free(e);
		goto out;
	}
	err = run_op(ssk, op, &r);
out:
	free_rows(&r);
	return err;
}
