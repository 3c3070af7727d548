// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows whose messages are copies of one that comes (SHUFFLE_CMSG_FORWARD): what has come in order
 * is copied at once into chunks, which all receivers have in common (same.c), and goes on while
 * the rest comes.  No process wakes up in between.
 *
 * Memory is bounded at both ends.  Chunks are charged to the send buffer, and none is made while
 * that is full.  What has not been copied stays in the receive buffer: the reader does not get it
 * before (shuffle_msg_in_end()), and grants stop when that is full.
 *
 * All under ssk->lock, any context, unless said otherwise.
 */
#include <linux/slab.h>

#include "../abort.h"
#include "../shuffle.h"

/* Chunks that are copied at once; the timer goes on. */
#define FORWARD_CHUNKS	2

/**
 * shuffle_forward_alloc() - an operation is to forward a message
 * @op: operation that nobody has seen yet
 * @from: rank of its sender
 *
 * Context: process.
 * Return: 0, -EINVAL (no such member, or no message from it), -EOPNOTSUPP (too many members) or
 * -ENOMEM.
 */
int shuffle_forward_alloc(struct shuffle_op *op, u32 from)
{
	if (from >= op->group->count || from == op->group->rank || op->in[from].absent)
		return -EINVAL;
	if (op->group->count > SHUFFLE_SAME_MEMBERS)
		return -EOPNOTSUPP;
	op->forward = kzalloc(sizeof(*op->forward), GFP_KERNEL_ACCOUNT);
	if (!op->forward)
		return -ENOMEM;
	op->forward->op = op;
	op->forward->from = from;
	INIT_LIST_HEAD(&op->forward->node);
	return 0;
}

/**
 * shuffle_unscheduled_forward() - what of a message that is made from others goes without a grant
 * @op: operation
 * @senders: members that may send as much to its receiver
 *
 * A message that is forwarded goes at the rate at which it comes, and needs no grant to be slow
 * enough.  A grant would do harm: granted bytes that have not come yet keep the receiver from
 * granting others.  But @senders may forward as much to the receiver, and its buffer, which we take
 * to be like ours, must hold that.
 *
 * Return: bytes.
 */
u64 shuffle_unscheduled_forward(const struct shuffle_op *op, u32 senders)
{
	u64 all = shuffle_sock_rcvbuf(&op->ssk->sk) / 4;

	lockdep_assert_held(&op->ssk->lock);
	/* a limit that an operator has set is meant */
	if (READ_ONCE(op->dev->cfg.unscheduled))
		all = shuffle_dev_unscheduled(op->dev);
	return min_t(u64, div_u64(all, senders), SHUFFLE_UNSCHED_MAX);
}

/* Copy the payload of a chunk's packets out of the message that comes.  Headers are made when
 * the packets are sent (send_packets()): each receiver has its own.
 */
static void fill_pages(const struct shuffle_op *op, struct shuffle_chunk *chunk)
{
	struct shuffle_msg_in *in = &op->in[op->forward->from];
	const u32 hdr = op->group->data_hdr;
	u32 done = 0, at = hdr, left, n;

	while (done < chunk->len) {
		for (left = min(chunk->pkt, chunk->len - done); left; left -= n) {
			struct page_frag *f = &chunk->frag[at / PAGE_SIZE];

			n = min_t(u32, left, PAGE_SIZE - at % PAGE_SIZE);
			shuffle_msg_in_copy(in, chunk->off + done,
					    page_address(f->page) + at % PAGE_SIZE, n);
			done += n;
			at += n;
		}
		at += hdr;
	}
}

/* Bytes that are copied next: whole packets, but for the end. */
static u32 next_bytes(const struct shuffle_op *op)
{
	const struct shuffle_forward_state *f = op->forward;
	u32 all = shuffle_group_all(op->group);
	u64 come = op->in[f->from].have.prefix, n = come - op->out[all].filled;

	if (n >= f->most)
		return f->most;
	return come == op->ptx.msg[all].len ? n : rounddown((u32)n, f->pkt);
}

static bool send_buffer_full(const struct shuffle_sock *ssk)
{
	return READ_ONCE(ssk->sk.sk_wmem_queued) >= shuffle_sock_sndbuf(&ssk->sk);
}

/* One chunk of each operation has room always: members may begin operations in different orders,
 * and what one of them waits for would hold up what another one waits for.
 */
static bool may_forward(const struct shuffle_op *op)
{
	return !send_buffer_full(op->ssk) ||
	       RB_EMPTY_ROOT(&op->out[shuffle_group_all(op->group)].chunks);
}

/* Pages for a chunk's wire layout.  False: no memory. */
static bool alloc_pages_of(struct shuffle_chunk *chunk, u32 wire)
{
	struct page_frag *f;

	for (; wire; wire -= f->size) {
		f = &chunk->frag[chunk->nr_frags];
		f->page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
		if (!f->page)
			return false;
		f->offset = 0;
		f->size = min_t(u32, wire, PAGE_SIZE);
		chunk->nr_frags++;
	}
	return true;
}

/* The socket pays for a chunk.  False: there is no memory. */
static bool charge_chunk(struct sock *sk, const struct shuffle_chunk *chunk)
{
	if (!sk_wmem_schedule(sk, chunk->truesize))
		return false;
	sk_mem_charge(sk, chunk->truesize);
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + (int)chunk->truesize);
	return true;
}

/* A chunk with the next bytes, charged to the socket; NULL: no memory. */
static struct shuffle_chunk *make_chunk(struct shuffle_op *op, u32 len)
{
	u32 all = shuffle_group_all(op->group), pkt = op->forward->pkt;
	u32 wire = len + DIV_ROUND_UP(len, pkt) * op->group->data_hdr;
	u32 frags = DIV_ROUND_UP(wire, PAGE_SIZE);
	struct shuffle_chunk *chunk;

	chunk = kmalloc(struct_size(chunk, frag, frags), GFP_ATOMIC | __GFP_NOWARN);
	if (!chunk)
		return NULL;
	chunk->off = op->out[all].filled;
	chunk->len = len;
	chunk->rank = all;
	chunk->pkt = pkt;
	chunk->truesize = struct_size(chunk, frag, frags) + frags * PAGE_SIZE;
	chunk->kind = SHUFFLE_CHUNK_PACKETS;
	chunk->max_frags = frags;
	chunk->nr_frags = 0;
	if (!alloc_pages_of(chunk, wire) || !charge_chunk(&op->ssk->sk, chunk)) {
		shuffle_msg_out_free_chunk(chunk);
		return NULL;
	}
	fill_pages(op, chunk);
	return chunk;
}

/* The next bytes go on.  False: there is no room, or no memory, for them now. */
static bool forward_bytes(struct shuffle_op *op, u32 len)
{
	struct shuffle_chunk *chunk;

	op->forward->no_memory = false;
	if (!may_forward(op))
		return false;
	chunk = make_chunk(op, len);
	op->forward->no_memory = !chunk;
	if (!chunk)
		return false;
	shuffle_msg_out_append(op, chunk);
	SHUFFLE_ADD(shuffle_op_net(op), ForwardBytes, len);
	return true;
}

/**
 * shuffle_forward_end() - what the reader may have of a message
 * @in: message of an operation that forwards one
 *
 * Return: the bytes below.
 */
u64 shuffle_forward_end(const struct shuffle_msg_in *in)
{
	const struct shuffle_op *op = in->ready.op;

	lockdep_assert_held(&in->ready.op->ssk->lock);
	if (in->ready.rank == op->forward->from && !op->ended)
		return op->out[shuffle_group_all(op->group)].filled;
	return in->have.prefix;
}

/**
 * shuffle_forward_run() - let what has come go on, but not for too long
 * @op: operation that forwards
 *
 * Return: true if there is more to do at once.
 */
bool shuffle_forward_run(struct shuffle_op *op)
{
	struct shuffle_forward_state *f = op->forward;
	u32 len, n = FORWARD_CHUNKS;
	bool done = false;

	lockdep_assert_held(&op->ssk->lock);
	/* nothing can go before all lengths are known */
	if (op->ended || !op->closed || !op->prx.msg[f->from].announced)
		return false;
	if (op->prx.msg[f->from].len != op->ptx.msg[shuffle_group_all(op->group)].len) {
		shuffle_op_disagrees(op, f->from);
		return false;
	}
	list_del_init(&f->node);
	while ((len = next_bytes(op)) && n--) {
		if (!forward_bytes(op, len)) {
			/* what others free wakes us, or the timer if memory is scarce */
			list_add_tail(&f->node, &op->ssk->forwards);
			len = 0;
			break;
		}
		done = true;
	}
	if (done) {
		shuffle_egress_kick(op);
		shuffle_msg_in_queue(op, f->from);
	}
	/* if there is room yet, it is the next one's turn */
	if (list_empty(&f->node))
		shuffle_forward_room(op->ssk);
	return len;
}

/**
 * shuffle_forward_stop() - the operation has ended
 * @op: operation that forwarded
 *
 * A message that is complete is the reader's, whether all of it has gone on or not.
 */
void shuffle_forward_stop(struct shuffle_op *op)
{
	struct shuffle_forward_state *f = op->forward;

	lockdep_assert_held(&op->ssk->lock);
	list_del_init(&f->node);
	shuffle_forward_room(op->ssk);
	if (op->in[f->from].complete && !op->in[f->from].delivered)
		shuffle_msg_in_queue(op, f->from);
}

/**
 * shuffle_forward_arrived() - the message has been announced, or more of it has come in order
 * @op: operation that forwards
 * @now: ns
 */
void shuffle_forward_arrived(struct shuffle_op *op, u64 now)
{
	lockdep_assert_held(&op->ssk->lock);
	if (shuffle_forward_run(op))
		shuffle_timer_now(op, now);
}

static void wake(struct shuffle_forward_state *f)
{
	list_del_init(&f->node);
	shuffle_timer_now(f->op, shuffle_now());
}

/**
 * shuffle_forward_room() - there may be room in a socket's send buffer
 * @ssk: socket
 *
 * One operation gets it; it wakes the next.
 */
void shuffle_forward_room(struct shuffle_sock *ssk)
{
	struct shuffle_forward_state *f;

	lockdep_assert_held(&ssk->lock);
	f = list_first_entry_or_null(&ssk->forwards, struct shuffle_forward_state, node);
	if (f && !send_buffer_full(ssk))
		wake(f);
}

/**
 * shuffle_forward_freed() - chunks of an operation have been freed
 * @op: operation that forwards
 *
 * Without any it has room whatever others hold.
 */
void shuffle_forward_freed(struct shuffle_op *op)
{
	lockdep_assert_held(&op->ssk->lock);
	if (!list_empty(&op->forward->node) && may_forward(op))
		wake(op->forward);
}

/**
 * shuffle_forward_starved() - nothing of the message is here, nor under way
 * @op: operation that forwards
 *
 * It is granted something then, whatever others hold in the receive buffer.
 */
bool shuffle_forward_starved(const struct shuffle_op *op)
{
	lockdep_assert_held(&op->ssk->lock);
	return RB_EMPTY_ROOT(&op->in[op->forward->from].pieces) && !op->prx.outstanding;
}

/**
 * shuffle_forward_start() - the row has been announced: begin
 * @op: operation that forwards
 *
 * Context: process, without the lock.
 */
void shuffle_forward_start(struct shuffle_op *op)
{
	spin_lock_bh(&op->ssk->lock);
	shuffle_forward_arrived(op, shuffle_now());
	spin_unlock_bh(&op->ssk->lock);
}
