// SPDX-License-Identifier: GPL-2.0-only
/*
 * Incoming messages: what has arrived, in the skbs it came in, until it is read.
 * All under ssk->lock, any context.
 */
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../abort.h"
#include "../coll/engine.h"
#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../peer.h"
#include "../sched/policy.h"
#include "../sched/ranges.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "../tx/msg_out.h"
#include "../tx/output.h"
#include "delayed_ack.h"
#include "grant.h"
#include "msg_in.h"
#include "question.h"
#include "rto.h"
#include "slowest.h"
#include "timer.h"

/* A sender may round a grant up to its packet; more is not a mistake. */
#define SHUFFLE_GRANT_SLACK	65536

/**
 * shuffle_msg_in_uncharge_piece() - give back the charge of a received skb, to be freed
 * @ssk: socket it is charged to
 * @skb: on no list
 *
 * Context: any, ssk->lock held.
 */
void shuffle_msg_in_uncharge_piece(struct shuffle_sock *ssk, struct sk_buff *skb)
{
	lockdep_assert_held(&ssk->lock);
	atomic_sub(skb->truesize, &ssk->sk.sk_rmem_alloc);
	sk_mem_uncharge(&ssk->sk, skb->truesize);
}

/**
 * shuffle_msg_in_free_piece() - free a piece that nobody needs any more
 * @ssk: socket it is charged to
 * @in: message that it is in
 * @skb: the piece
 *
 * Context: any, ssk->lock held.
 */
void shuffle_msg_in_free_piece(struct shuffle_sock *ssk, struct shuffle_msg_in *in,
			       struct sk_buff *skb)
{
	lockdep_assert_held(&ssk->lock);
	rb_erase(&skb->rbnode, &in->pieces);
	shuffle_msg_in_uncharge_piece(ssk, skb);
	consume_skb(skb);
}

#define SHUFFLE_ISLAND_BYTES	(SHUFFLE_RANGES_MAX * sizeof(struct shuffle_range))

static void free_islands(struct shuffle_sock *ssk, struct shuffle_msg_in *in)
{
	if (!in->have.island)
		return;
	kfree(in->have.island);
	in->have.island = NULL;
	in->have.n = 0;
	atomic_sub(SHUFFLE_ISLAND_BYTES, &ssk->sk.sk_rmem_alloc);
	sk_mem_uncharge(&ssk->sk, SHUFFLE_ISLAND_BYTES);
}

/* Any sender can have its message remember them, so they are charged like data. */
static bool alloc_islands(struct shuffle_sock *ssk, struct shuffle_msg_in *in,
			  struct sk_buff *skb)
{
	if (in->have.island)
		return true;
	if (!sk_rmem_schedule(&ssk->sk, skb, SHUFFLE_ISLAND_BYTES))
		return false;
	in->have.island = kmalloc(SHUFFLE_ISLAND_BYTES, GFP_ATOMIC | __GFP_NOWARN);
	if (!in->have.island)
		return false;
	sk_mem_charge(&ssk->sk, SHUFFLE_ISLAND_BYTES);
	atomic_add(SHUFFLE_ISLAND_BYTES, &ssk->sk.sk_rmem_alloc);
	return true;
}

/**
 * shuffle_msg_in_purge() - free all that is held of a message
 * @op: operation that has ended
 * @rank: message
 * @budget: of tx/msg_out.c: a piece costs as much as a chunk with pages
 *
 * Return: true if nothing is left.
 */
bool shuffle_msg_in_purge(struct shuffle_op *op, u32 rank, u32 *budget)
{
	struct rb_root *root = &op->rx.msg[rank].pieces;
	struct rb_node *node;

	lockdep_assert_held(&op->ssk->lock);
	while (*budget && (node = rb_first(root))) {
		*budget -= min(*budget, SHUFFLE_BURST_COST);
		shuffle_msg_in_free_piece(op->ssk, &op->rx.msg[rank], rb_to_skb(node));
	}
	free_islands(op->ssk, &op->rx.msg[rank]);
	return RB_EMPTY_ROOT(root);
}

/* A long message is read while it comes: copied at its end, it would take longer, and its
 * pages would be held until then.  Not so often that waking the reader costs much, but
 * before all members together fill the buffer.
 */
#define SHUFFLE_PART_MIN	SZ_64K
#define SHUFFLE_PART_MAX	SZ_1M

static u32 part_bytes(const struct shuffle_op *op)
{
	u32 share = (u32)READ_ONCE(op->ssk->sk.sk_rcvbuf) / (4 * op->group->count);

	return clamp_t(u32, share, SHUFFLE_PART_MIN, SHUFFLE_PART_MAX);
}

/* Is there something for the reader?  @pressure: the reader has to take parts, however short. */
static bool is_readable(const struct shuffle_msg_in *in, bool pressure)
{
	u64 end = in->have.prefix;

	lockdep_assert_held(&in->ready.op->ssk->lock);
	if (in->complete)
		return !in->delivered;
	if (end - in->read < SHUFFLE_PART_MIN)
		return pressure && end > in->read;
	return pressure || end - in->read >= part_bytes(in->ready.op);
}

/* Let the reader know if there is something of a message. */
static void queue_for_reader(struct shuffle_op *op, u32 rank)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct shuffle_sock *ssk = op->ssk;

	lockdep_assert_held(&op->ssk->lock);
	/* of a collective only the result is the reader's */
	if (op->engine)
		return;
	if (!list_empty(&in->ready.node) && !in->ready.parked)
		return;
	if (is_readable(in, ssk->pressure)) {
		in->ready.parked = false;
		list_move_tail(&in->ready.node, &ssk->ready);
		ssk->sk.sk_data_ready(&ssk->sk);
	} else if (!in->ready.parked && !in->delivered && in->have.prefix > in->read) {
		in->ready.parked = true;
		list_add_tail(&in->ready.node, &ssk->parts);
	}
}

/**
 * shuffle_msg_in_unpark() - the reader is to take parts of messages, however short
 * @ssk: socket
 *
 * So many as one call may take; the others follow when these have been read.
 */
void shuffle_msg_in_unpark(struct shuffle_sock *ssk)
{
	struct shuffle_ready *ready, *tmp;
	u32 n = SHUFFLE_SLICE;

	lockdep_assert_held(&ssk->lock);
	if (list_empty(&ssk->parts))
		return;
	list_for_each_entry_safe(ready, tmp, &ssk->parts, node) {
		if (!n--)
			break;
		ready->parked = false;
		list_move_tail(&ready->node, &ssk->ready);
	}
	ssk->sk.sk_data_ready(&ssk->sk);
}

/**
 * shuffle_msg_in_insert_piece() - put a received skb into its message
 * @in: message
 * @skb: on no list; SHUFFLE_PIECE(skb) says which bytes it has
 *
 * Context: any, ssk->lock held.
 */
void shuffle_msg_in_insert_piece(struct shuffle_msg_in *in, struct sk_buff *skb)
{
	struct rb_node **link = &in->pieces.rb_node;
	struct rb_node *parent = NULL;

	lockdep_assert_held(&in->ready.op->ssk->lock);
	while (*link) {
		parent = *link;
		if (SHUFFLE_PIECE(skb)->start < SHUFFLE_PIECE(rb_to_skb(parent))->start)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &in->pieces);
}

/**
 * shuffle_msg_in_ack() - the ACK of a message
 * @op: operation
 * @rank: message that has arrived whole
 *
 * Return: the record.
 */
struct shuffle_wire shuffle_msg_in_ack(const struct shuffle_op *op, u32 rank)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_ACK,
		.op_id = op->id,
		.nonce = op->rx.msg[rank].nonce,
		.src_rank = op->group->rank,	/* one to ourselves is not sent */
	};

	lockdep_assert_held(&op->ssk->lock);
	shuffle_slowest_tell(op, &w);
	return w;
}

/**
 * shuffle_msg_in_send_ack() - acknowledge a message now
 * @op: operation
 * @rank: message that has arrived whole
 * @q: packets
 */
void shuffle_msg_in_send_ack(struct shuffle_op *op, u32 rank, struct sk_buff_head *q)
{
	struct shuffle_wire w = shuffle_msg_in_ack(op, rank);

	lockdep_assert_held(&op->ssk->lock);
	op->rx.msg[rank].ack_owed = false;
	if (rank == op->group->rank) {
		/* no packet to ourselves for that */
		shuffle_msg_out_ack(op, &w, shuffle_now());
		return;
	}
	shuffle_output_record(op->ssk->sn, op->ssk, op->group, rank, &w, q);
	SHUFFLE_INC(op->ssk->sn, AckOut);
}

/* Does a message of ours to the same member leave soon, without being asked for?
 * (If it does not after all, the member will send a probe.)
 */
static bool ack_can_ride(const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_tx_sched *m = &op->tx.sched.msg[rank];

	return rank < op->tx.announced && m->next < m->len && op->tx.msg[rank].unsched == m->len &&
	       (!op->tx.msg[rank].shared || op->tx.msg[rank].alone);
}

/* All of a message has come.  @flags: of the record that was the last one; @q: answers */
static void msg_complete(struct shuffle_op *op, u32 rank, u8 flags, struct sk_buff_head *q,
			 u64 now)
{
	bool may_wait = (flags & SHUFFLE_FLAG_DELAY) && !(flags & SHUFFLE_FLAG_PROBE);
	struct shuffle_msg_in *in = &op->rx.msg[rank];

	lockdep_assert_held(&op->ssk->lock);
	in->complete = true;
	free_islands(op->ssk, in);
	list_del_init(&in->dirty);
	trace_shuffle_msg_done(op, rank, false);
	in->ack_owed = ack_can_ride(op, rank);
	if (!in->ack_owed && !(may_wait && shuffle_delayed_owe(op, rank, q)))
		shuffle_msg_in_send_ack(op, rank, q);
	queue_for_reader(op, rank);
	if (!--op->rx.incomplete)
		op->ssk->nr_incomplete--;
	if (op->engine)
		shuffle_engine_arrived(op, now);
	shuffle_op_check_done(op);
}

/* Data that comes this soon after a RESEND is probably a retransmission: only the first packet
 * of one says so.
 */
static bool is_retransmission(const struct shuffle_msg_in *in, u64 within, u64 now)
{
	return in->late && now - in->resent_at < within;
}

static void message_announced(struct shuffle_op *op, const struct shuffle_wire *w, u64 now)
{
	struct shuffle_msg_in *in = &op->rx.msg[w->src_rank];

	/* it had been announced before, and that was lost */
	if (w->flags & SHUFFLE_FLAG_RETRANS)
		op->clock.solicit_all = true;
	/* others run, so those that are not heard of are not waited for as long as for a start */
	op->clock.solicit_ns = 0;
	if (op->rx.first_announced_at == op->life.started_at && w->src_rank != op->group->rank)
		op->rx.first_announced_at = now;
	in->late = 0;
	in->nonce = w->nonce;
	op->group->member[w->src_rank].met = true;
	in->progress_at = now;
	op->life.progress_at = now;
	op->rx.last_announced_at = now;
	in->wait_ns = 0;
	shuffle_policy_rx_announced(&op->rx.sched, w->src_rank, w->data.len, w->unsched,
				    shuffle_policy_seed(op->tx.sched.seed, w->src_rank,
							op->group->rank, op->group->count));
	shuffle_grant_account(op);
	in->granted_sent = op->rx.sched.msg[w->src_rank].granted;
	shuffle_timer_in(op, w->src_rank);
	shuffle_timer_out(op, w->src_rank);
	shuffle_timer_start(op);
}

/* The first packet that a message was asked for has come:
 * - sent again: it was lost, and says nothing of the rate at which data comes.  The time is a
 *   sample if it was asked for once.  The next packets are not all asked for at once, though:
 *   one loss does not stand for all.
 * - not sent again: it had been on its way, for longer than it was waited for: half of what
 *   would be waited next (RFC 3522 tells the two apart, too).
 */
static void sample_probe(struct shuffle_op *op, struct shuffle_msg_in *in, bool again, bool once,
			 u64 now)
{
	u64 ns = now > in->resent_at ? now - in->resent_at : 0;

	in->probed = false;
	in->rtt_at = 0;
	if (again) {
		in->losses++;
		op->rx.data_from = now;
		op->rx.data_bytes = 0;
		if (!once)
			return;
	} else {
		ns += in->wait_ns / 2;
	}
	shuffle_rto_sample(op, in - op->rx.msg, ns, now);
	in->wait_ns = 0;
}

/* @again: by a packet that says so: it was sent again */
static void prefix_advanced(struct shuffle_op *op, struct shuffle_msg_in *in, u32 stride,
			    bool again, u64 now)
{
	u64 rtt = max_t(u64, op->rx.srtt_ns, READ_ONCE(op->dev->rtt));
	bool answer = is_retransmission(in, 2 * rtt, now);
	u32 rank = in - op->rx.msg;
	u32 late = in->late;

	shuffle_question_progress(op, rank, again, now);
	in->progress_at = now;
	in->moved_at = now;
	in->late = 0;
	in->straggler = false;
	/* What is missing behind progress was lost, not late.  Otherwise a time
	 * that was doubled holds until something is measured (RFC 6298).
	 */
	if (op->rx.srtt_ns && in->have.n)
		in->wait_ns = 0;
	/* Karn: an answer measures nothing.  What was only late does: without it, a host
	 * that is busy would be asked again for everything.
	 */
	if (answer)
		in->rtt_at = 0;
	/* more than was asked for: it comes by itself again */
	if (in->have.prefix >= in->asked + max_t(u32, stride, SHUFFLE_ANSWER_SLACK))
		in->losses = 0;
	/* all of it has come: the rest need not wait as if that had been lost again */
	if (in->cut && in->have.prefix >= in->asked)
		in->wait_ns = 0;
	/* one that says nothing and waited for ssk->lock may be older than the question */
	if (in->probed && (again || now > in->resent_at))
		sample_probe(op, in, again, late == 1, now);
	/* only a packet that begins behind the old grant was sent for the new one */
	if (!in->rtt_at || in->have.prefix < in->rtt_off + stride || now <= in->rtt_at)
		return;
	shuffle_rto_sample(op, rank, now - in->rtt_at, now);
	if (!late)
		shuffle_peer_rtt(op, rank, now - in->rtt_at);
	in->rtt_at = 0;
	in->wait_ns = 0;
}

/* Keep bytes [start, end), all of them missing so far.  @skb: ours to keep. */
static int queue_piece(struct shuffle_op *op, u32 rank, struct sk_buff *skb, u64 start, u64 end)
{
	struct shuffle_sock *ssk = op->ssk;
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct sock *sk = &ssk->sk;
	int err;

	if (start > in->have.prefix && !alloc_islands(ssk, in, skb))
		return -ENOMEM;
	if (!sk_rmem_schedule(sk, skb, skb->truesize))
		return -ENOMEM;
	err = shuffle_ranges_add(&in->have, start, end);
	if (err)
		return err;
	if (!in->have.n)
		free_islands(ssk, in);
	sk_mem_charge(sk, skb->truesize);
	atomic_add(skb->truesize, &sk->sk_rmem_alloc);
	SHUFFLE_PIECE(skb)->start = start;
	SHUFFLE_PIECE(skb)->end = end;
	shuffle_msg_in_insert_piece(in, skb);
	/* not what comes twice: it may come for as long as anybody asks for it */
	op->life.progress_at = op->rx.data_at;
	shuffle_policy_rx_arrived(&op->rx.sched, rank, end - start, end);
	shuffle_grant_account(op);
	SHUFFLE_ADD(op->ssk->sn, DataBytesIn, end - start);
	shuffle_peer_received(op, rank, end - start);
	return 0;
}

/* Take what is new of [start, start + len).  Returns true if skb was kept. */
static bool queue_new_ranges(struct shuffle_op *op, u32 rank, struct sk_buff *skb, u64 start,
			     u32 len)
{
	struct shuffle_msg_in *in = &op->rx.msg[rank];
	struct shuffle_net *sn = op->ssk->sn;
	u64 end = start + len;
	struct shuffle_range gap;
	bool kept = false;
	u32 fresh = 0;
	int err = 0;

	while (shuffle_ranges_missing(&in->have, start, end, &gap)) {
		struct sk_buff *part = skb;

		if (kept) {
			/* the second new part of one skb: rare */
			part = skb_clone(skb, GFP_ATOMIC);
			err = part ? 0 : -ENOMEM;
			/* the tree's node lies over it */
			if (part)
				part->dev = NULL;
		}
		if (!err)
			err = queue_piece(op, rank, part, gap.start, gap.end);
		if (err) {
			if (kept)
				kfree_skb(part);
			if (err == -ENOSPC) {
				SHUFFLE_INC(sn, DropIslands);
			} else {
				SHUFFLE_INC(sn, DropMem);
				shuffle_grant_pressure(op->ssk);
			}
			break;
		}
		kept = true;
		fresh += gap.end - gap.start;
		start = gap.end;
	}
	if (!err && fresh < len)
		SHUFFLE_ADD(sn, DupBytes, len - fresh);
	return kept;
}

/* A little payload must neither hold a packet of many messages, nor be charged for it: the
 * payload alone, if that saves three quarters of the memory.  NULL if not.
 */
static struct sk_buff *payload_alone(const struct sk_buff *skb, u32 data, u32 len, u32 stride,
				     u32 hdr)
{
	struct sk_buff *alone;
	u32 n;

	if (4 * SKB_TRUESIZE(len) > skb->truesize)
		return NULL;
	alone = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!alone)
		return NULL;
	for (; len; len -= n, data += n + hdr) {
		n = min(len, stride);
		if (skb_copy_bits(skb, data, skb_put(alone, n), n)) {
			kfree_skb(alone);
			return NULL;
		}
	}
	return alone;
}

/* The payload of @skb, or what is new of it.  Returns true if @skb has been taken. */
static bool take_payload(struct shuffle_op *op, const struct shuffle_wire *w, struct sk_buff *skb,
			 u32 data, u32 len, u32 stride)
{
	struct sk_buff *alone = payload_alone(skb, data, len, stride, op->group->data_hdr);
	struct sk_buff *part = alone ?: skb;
	bool kept;

	BUILD_BUG_ON(sizeof(struct shuffle_piece) > sizeof(skb->cb));
	SHUFFLE_PIECE(part)->base = w->data.off;
	SHUFFLE_PIECE(part)->hdr = op->group->data_hdr;
	SHUFFLE_PIECE(part)->data = alone ? 0 : data;
	SHUFFLE_PIECE(part)->stride = alone ? len : stride;
	kept = queue_new_ranges(op, w->src_rank, part, w->data.off, len);
	if (alone)
		consume_skb(kept ? skb : alone);
	return kept;
}

/* Has the buffer room for data?  Grants keep within it; unscheduled data may not.  What has been
 * granted is taken, too, if the socket's share of the memory has shrunk since then.
 *
 * What comes next in order lets the reader go on.  So data out of order may have half of the
 * buffer: if it had all, each answer to a RESEND would bring one packet.
 */
static bool data_has_room(struct shuffle_op *op, const struct shuffle_wire *w,
			  const struct sk_buff *skb, bool in_order)
{
	struct shuffle_sock *ssk = op->ssk;
	u32 buf = w->data.off < w->unsched ? shuffle_sock_rcvbuf(&ssk->sk) :
					     READ_ONCE(ssk->sk.sk_rcvbuf);
	u32 used = atomic_read(&ssk->sk.sk_rmem_alloc);

	if (in_order ? used <= buf : used + skb->truesize <= buf / 2)
		return true;
	shuffle_grant_pressure(ssk);
	return in_order && !shuffle_sock_makes_room(ssk);
}

/* Does DATA belong to the message that has been announced?  Data for all members comes behind
 * announcements that each of them gets alone, with a nonce for its answers: see shuffle_op_nonce().
 */
static bool continues(struct shuffle_op *op, const struct shuffle_wire *w)
{
	struct shuffle_msg_in *in = &op->rx.msg[w->src_rank];

	if (w->data.len != op->rx.sched.msg[w->src_rank].len)
		return false;
	if (w->dst_rank != shuffle_group_all(op->group))
		return w->nonce == in->nonce;
	if (op->engine || (w->nonce ^ in->nonce) >> 32)	/* shuffle_nonce() */
		return false;
	if (!in->all_nonce)
		in->all_nonce = w->nonce;
	return w->nonce == in->all_nonce;
}

/**
 * shuffle_msg_in_data() - DATA has come
 * @op: operation; the sender is a member of its group
 * @w: first record
 * @skb: the packet, NULL if there is no payload
 * @data: offset of the payload in it
 * @len: payload bytes, of this and the records that continue it
 * @stride: payload bytes of each record but the last
 * @q: answers
 * @now: ns
 *
 * Context: any, ssk->lock held.
 * Return: true if @skb has been kept.
 */
bool shuffle_msg_in_data(struct shuffle_op *op, const struct shuffle_wire *w,
			 struct sk_buff *skb, u32 data, u32 len, u32 stride,
			 struct sk_buff_head *q, u64 now)
{
	struct shuffle_rx_sched *m = &op->rx.sched.msg[w->src_rank];
	struct shuffle_msg_in *in = &op->rx.msg[w->src_rank];
	struct shuffle_net *sn = op->ssk->sn;
	bool kept = false;
	u64 prefix;

	lockdep_assert_held(&op->ssk->lock);
	if (in->absent || (!m->announced && w->dst_rank == shuffle_group_all(op->group))) {
		SHUFFLE_INC(sn, DropState);
		return false;
	}
	if (m->announced && !continues(op, w)) {
		SHUFFLE_INC(sn, DropNonce);
		return false;
	}
	if (in->complete) {
		/* our ACK was lost, or this is a copy */
		if (len)
			SHUFFLE_ADD(sn, DupBytes, len);
		/* who sends to all asks each of them alone; an answer asks for nothing */
		if (w->dst_rank != shuffle_group_all(op->group) && !(w->flags & SHUFFLE_FLAG_SENT))
			shuffle_msg_in_send_ack(op, w->src_rank, q);
		return false;
	}
	if (op->life.ended) {
		SHUFFLE_INC(sn, DropNoOp);
		return false;
	}
	if ((op->engine && !m->announced &&
	     !shuffle_engine_expects(op, w->src_rank, w->data.len)) ||
	    (!w->data.off && w->digest != op->digest && !(w->flags & SHUFFLE_FLAG_SENT))) {
		SHUFFLE_INC(sn, DropState);
		shuffle_op_disagrees(op, w->src_rank);
		return false;
	}
	if (!m->announced)
		message_announced(op, w, now);
	if (len) {
		/* not by probes: they come for as long as something is missing, and
		 * must not put off asking for it
		 */
		op->rx.data_at = now;
		if (w->src_rank != op->group->rank) {
			if (op->rx.data_from)
				op->rx.data_bytes += len;
			else
				op->rx.data_from = now;
		}
		if (w->data.off > m->granted + SHUFFLE_GRANT_SLACK) {
			SHUFFLE_INC(sn, DropNotGranted);
			return false;
		}
		if (!data_has_room(op, w, skb, w->data.off <= in->have.prefix)) {
			SHUFFLE_INC(sn, DropRcvbuf);
			return false;
		}
		prefix = in->have.prefix;
		kept = take_payload(op, w, skb, data, len, stride);
		if (in->have.prefix > prefix)
			prefix_advanced(op, in, stride, w->flags & SHUFFLE_FLAG_RETRANS, now);
	}
	if (in->have.bytes == m->len) {
		msg_complete(op, w->src_rank, w->flags, q, now);
	} else if (w->flags & SHUFFLE_FLAG_SENT) {
		shuffle_question_answered(op, w->src_rank, w->data.off, q, now);
	} else if (kept) {
		shuffle_question_gap(op, w->src_rank, q, now);
		shuffle_timer_in(op, w->src_rank);
		queue_for_reader(op, w->src_rank);
	}
	return kept;
}
