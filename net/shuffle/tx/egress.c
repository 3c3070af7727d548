// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending data: the next packet is chosen when there is room for it in the host's own queues
 * (egress_wake.c), so that the schedule, and not a qdisc, decides.
 *
 * Sockets and, within a socket, operations take turns (tx/turns.c); within an operation
 * the policy chooses.
 */
#include <linux/slab.h>
#include <linux/udp.h>

#include "../config.h"
#include "../group.h"
#include "../kernels.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../peer.h"
#include "../rx/delayed_ack.h"
#include "../rx/msg_in.h"
#include "../rx/timer.h"
#include "../sched/heap.h"
#include "../sched/op_order.h"
#include "../sched/policy.h"
#include "../sched/tag.h"
#include "../sched/unit.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "egress.h"
#include "egress_wake.h"
#include "msg_out.h"
#include "output.h"
#include "route.h"
#include "same.h"
#include "turns.h"

/* One run goes on for so long, and looks at the time after each turn, or after
 * SHUFFLE_BURST packets of one.  If there is no memory a turn sends nothing, so turns are
 * bounded, too.
 */
#define SHUFFLE_EGRESS_RUN_NS	(20 * NSEC_PER_USEC)
#define SHUFFLE_EGRESS_TURNS	64

/* Let the skb's frags cover bytes [from, to) of a chunk's wire layout. */
static void add_frags(struct sk_buff *skb, const struct shuffle_chunk *chunk, u32 from, u32 to)
{
	u32 pos = 0;
	u32 i;

	for (i = 0; i < chunk->nr_frags && pos < to; i++) {
		const struct page_frag *f = &chunk->frag[i];
		u32 a = max(from, pos);
		u32 b = min(to, pos + f->size);

		if (a < b) {
			get_page(f->page);
			skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, f->page,
					f->offset + (a - pos), b - a, b - a);
		}
		pos += f->size;
	}
	/* we keep these pages: nobody may write to them */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
}

static u32 ack_len(const struct shuffle_op *op)
{
	return shuffle_wire_hdr_len(SHUFFLE_ACK, op->group->keyed ? SHUFFLE_FLAG_TAG : 0);
}

/* ACKs that a member is owed: of its message of this operation, and those that are delayed. */
static u32 acks_owed(const struct shuffle_op *op, u32 rank)
{
	if (rank == shuffle_group_all(op->group))
		return 0;
	return op->rx.msg[rank].ack_owed + shuffle_delayed_count(op, rank);
}

/* More bytes at the end of a packet, or NULL. */
static void *extend_packet(struct sk_buff *skb, u32 len)
{
	struct page *page;
	void *p;

	if (!skb_is_nonlinear(skb))
		return skb_put(skb, len);
	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	p = netdev_alloc_frag(len);
	if (!p)
		return NULL;
	page = virt_to_head_page(p);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, p - page_address(page),
			len, SKB_DATA_ALIGN(len));
	return p;
}

/* Put ACKs of a member's messages behind our own data to it, as many as have @room: of a linear
 * packet the tailroom has been made for all of them.
 */
static void add_acks(struct shuffle_net *sn, struct shuffle_op *op, u32 rank, u32 room,
		     struct sk_buff *skb)
{
	const u32 len = ack_len(op);
	u32 i, n = min(acks_owed(op, rank), room / len);
	struct shuffle_wire ack;
	u8 *p;

	p = n ? extend_packet(skb, n * len) : NULL;
	if (!p)
		return;
	for (i = 0; i < n; i++, p += len) {
		if (op->rx.msg[rank].ack_owed) {
			op->rx.msg[rank].ack_owed = false;
			ack = shuffle_msg_in_ack(op, rank);
		} else {
			ack = shuffle_delayed_take(op, rank);
		}
		shuffle_group_address(op->group, rank, &ack);
		shuffle_group_tag(op->group, &ack);
		shuffle_wire_build(p, &ack);
	}
	SHUFFLE_ADD(sn, AckOut, n);
}

/* An empty packet for data.  Short messages of a short row go in front of others' data. */
static struct sk_buff *data_packet(struct shuffle_net *sn, struct shuffle_op *op, u32 rank,
				   unsigned int linear)
{
	struct sk_buff *skb = shuffle_output_alloc(sn, op->ssk, op->group, rank, linear, false);

	/* the length that was announced: what comes later must not overtake what came before */
	if (skb && op->tx.ahead && op->tx.sched.msg[rank].len <= op->tx.ahead)
		shuffle_output_ahead(sn, skb);
	return skb;
}

/* Bytes [start, end) of a chunk as packets with headers of their own, a burst of them at most:
 * - the path has shrunk, and the packets are smaller than they were laid out;
 * - or the first one is sent again, and says so: other packets may still hold its header in the
 *   chunk;
 * - or they are for one member, and the chunk was laid out for all;
 * - or each has a way in front, which super-packets have no place for.
 * Returns the byte behind the last one.
 */
static u64 send_packets(struct shuffle_net *sn, struct shuffle_op *op, u32 rank,
			const struct shuffle_chunk *chunk, u64 start, u64 end, u8 flags,
			struct sk_buff_head *q)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, rank);
	const u32 hdr = op->group->data_hdr;
	struct shuffle_data_tag tag = {};
	u32 i;

	w.flags |= flags;
	if (op->group->keyed)
		shuffle_data_tag_init(&tag, &op->group->key, &w);

	for (i = 0; start < end && i < SHUFFLE_BURST; i++) {
		u32 in_chunk = start - chunk->off;
		u32 at = in_chunk % chunk->pkt;
		u32 from = in_chunk + (in_chunk / chunk->pkt + 1) * hdr;
		struct sk_buff *skb;
		u32 payload, n;

		skb = data_packet(sn, op, rank, hdr);
		if (!skb)
			return end;	/* lost, like any packet: the receiver asks again */
		payload = shuffle_route_payload(op->dev, op->group, rank, skb_dst(skb));
		n = min_t(u64, end - start, min(payload, chunk->pkt - at));
		shuffle_msg_out_place(op, &w, start, n);
		w.tag = w.flags & SHUFFLE_FLAG_DIGEST && op->group->keyed ?
			shuffle_tag(&op->group->key, &w) : shuffle_data_tag(&tag, start, n);
		shuffle_wire_build(skb_put(skb, hdr), &w);
		add_frags(skb, chunk, from, from + n);
		add_acks(sn, op, rank, payload - n, skb);
		__skb_queue_tail(q, skb);
		SHUFFLE_INC(sn, DataOut);
		SHUFFLE_ADD(sn, DataBytesOut, n);
		shuffle_peer_sent(op, rank, n);
		start += n;
	}
	return start;
}

/* Send bytes [start, end) of a few, as many of them as fit a packet.  Returns the byte behind the
 * last one.
 */
static u64 send_bytes(struct shuffle_net *sn, struct shuffle_op *op, u32 rank,
		      const struct shuffle_chunk *chunk, u64 start, u64 end, u8 flags,
		      struct sk_buff_head *q)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, rank);
	struct sk_buff *skb;
	u32 payload;

	skb = data_packet(sn, op, rank, op->group->data_hdr + (u32)(end - start) +
			  acks_owed(op, rank) * ack_len(op));
	if (!skb)
		return end;
	payload = shuffle_route_payload(op->dev, op->group, rank, skb_dst(skb));
	end = min(end, start + payload);
	w.flags |= flags;
	shuffle_msg_out_place(op, &w, start, end - start);
	shuffle_group_tag(op->group, &w);
	shuffle_wire_build(skb_put(skb, op->group->data_hdr), &w);
	skb_put_data(skb, chunk->bytes + (start - chunk->off), end - start);
	add_acks(sn, op, rank, payload - (u32)(end - start), skb);
	__skb_queue_tail(q, skb);
	SHUFFLE_INC(sn, DataOut);
	SHUFFLE_ADD(sn, DataBytesOut, end - start);
	shuffle_peer_sent(op, rank, end - start);
	return end;
}

/* Put packets together in one, which is a super-packet if they are several: @n of them, each but
 * the last of @stride bytes, and an ACK behind the last one's data, if it has room: segments are
 * no longer than gso_size.
 */
static void finish_packets(struct shuffle_net *sn, struct shuffle_op *op, u32 rank, u32 n,
			   u32 stride, u32 payload, u64 bytes, struct sk_buff *skb,
			   struct sk_buff_head *q)
{
	u32 last = skb->len - (n - 1) * stride;
	u32 room = n > 1 ? stride : payload + op->group->data_hdr;

	if (last < room)
		add_acks(sn, op, rank, room - last, skb);
	if (n > 1) {
		skb_shinfo(skb)->gso_size = stride;
		skb_shinfo(skb)->gso_segs = n;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	}
	__skb_queue_tail(q, skb);
	SHUFFLE_ADD(sn, DataOut, n);
	SHUFFLE_ADD(sn, DataBytesOut, bytes);
	shuffle_peer_sent(op, rank, bytes);
}

/* Send the whole packets of a chunk that cover [start, end).  @flags: of the records, beside
 * those that all of the message have.  Returns the byte behind the last one.
 */
static u64 send_chunk(struct shuffle_net *sn, struct shuffle_op *op, u32 rank,
		      struct shuffle_chunk *chunk, u64 start, u64 end, u8 flags,
		      struct sk_buff_head *q)
{
	const u32 hdr = op->group->data_hdr, stride = chunk->pkt + hdr;
	u32 first, last, from, to, payload;
	struct sk_buff *skb;

	end = min(end, chunk->off + chunk->len);
	if (chunk->kind == SHUFFLE_CHUNK_BYTES)
		return send_bytes(sn, op, rank, chunk, start, end, flags, q);
	first = (u32)(start - chunk->off) / chunk->pkt;
	last = (u32)(end - 1 - chunk->off) / chunk->pkt;
	/* more packets than expected: the path has shrunk since the operation began */
	last = min(last, first + max(SHUFFLE_CHUNK_MAX / stride, 1U) - 1);
	from = first * stride;
	end = min(chunk->off + (u64)(last + 1) * chunk->pkt, chunk->off + chunk->len);
	/* laid out for all, not for one */
	if (unlikely(flags || op->tx.msg[rank].shared))
		return send_packets(sn, op, rank, chunk, start, end, flags, q);
	to = (u32)(end - chunk->off) + (last + 1) * hdr;

	skb = data_packet(sn, op, rank, 0);
	if (!skb)
		return end;	/* lost, like any packet: the receiver asks again */
	payload = shuffle_route_payload(op->dev, op->group, rank, skb_dst(skb));
	if (unlikely(chunk->pkt > payload)) {
		kfree_skb(skb);
		return send_packets(sn, op, rank, chunk, start, end, 0, q);
	}
	add_frags(skb, chunk, from, to);
	finish_packets(sn, op, rank, last - first + 1, stride, payload,
		       end - (chunk->off + (u64)first * chunk->pkt), skb, q);
	return end;
}

/* How much of a message has left, in a packet that goes the way of its data. */
static void send_answer(struct shuffle_net *sn, struct shuffle_op *op, u32 rank,
			struct sk_buff_head *q)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, rank);
	struct sk_buff *skb = data_packet(sn, op, rank, op->group->data_hdr);

	if (!skb)
		return;
	w.flags |= SHUFFLE_FLAG_SENT;
	w.data.off = shuffle_msg_out_next(op, rank);
	shuffle_group_tag(op->group, &w);
	shuffle_wire_build(skb_put(skb, op->group->data_hdr), &w);
	__skb_queue_tail(q, skb);
	SHUFFLE_INC(sn, AnswerOut);
	SHUFFLE_INC(sn, CtrlPktsOut);
	SHUFFLE_ADD(sn, CtrlBytesOut, op->group->data_hdr);
}

static void send_retrans(struct shuffle_net *sn, struct shuffle_op *op, u32 unit,
			 struct sk_buff_head *q)
{
	struct shuffle_retrans *r = list_first_entry(&op->tx.retrans, struct shuffle_retrans, node);
	struct shuffle_chunk *chunk;
	u64 end = r->end;

	if (r->start == r->end) {
		send_answer(sn, op, r->rank, q);
		shuffle_msg_out_free_retrans(op, r);
		return;
	}
	chunk = shuffle_msg_out_chunk(op, r->rank, r->start);
	if (chunk) {
		u8 flags = r->begun ? 0 : SHUFFLE_FLAG_RETRANS;

		/* the first of several packets alone: its header differs */
		if (flags && chunk->kind == SHUFFLE_CHUNK_PACKETS)
			unit = 1;
		end = send_chunk(sn, op, r->rank, chunk, r->start, min(r->end, r->start + unit),
				 flags, q);
		r->begun = true;
		SHUFFLE_ADD(sn, RetransBytes, end - r->start);
	}
	r->start = end;
	if (r->start >= r->end)
		shuffle_msg_out_free_retrans(op, r);
}

/* Choose and build what an operation sends next.  False: it had nothing. */
static bool send_one(struct shuffle_net *sn, struct shuffle_op *op, u32 unit,
		     struct sk_buff_head *q)
{
	struct shuffle_tx_sched *m;
	struct shuffle_chunk *chunk;
	u64 end;
	u32 rank;

	if (!list_empty(&op->tx.retrans)) {
		send_retrans(sn, op, unit, q);
		return true;
	}
	rank = shuffle_policy_tx_pick(&op->tx.sched);
	if (rank == SHUFFLE_NONE)
		return false;
	m = &op->tx.sched.msg[rank];
	chunk = shuffle_msg_out_chunk(op, rank, m->next);
	if (WARN_ON_ONCE(!chunk)) {
		shuffle_heap_remove(&op->tx.sched.heap, rank);
		return true;
	}
	end = send_chunk(sn, op, rank, chunk, m->next,
			 m->next + shuffle_policy_amount(m->limit - m->next, unit), 0, q);
	if (rank == shuffle_group_all(op->group))
		SHUFFLE_ADD(sn, SameOut, DIV_ROUND_UP((u32)(end - m->next), chunk->pkt));
	shuffle_op_left(op, op->tx.left - min(op->tx.left, end - m->next));
	m->next = end;
	op->tx.msg[rank].announced_at = shuffle_now();
	shuffle_policy_tx_sent(&op->tx.sched, rank);
	if (rank == shuffle_group_all(op->group))
		shuffle_same_sent(op, op->tx.msg[rank].announced_at);
	if (m->next == m->len) {
		if (rank != shuffle_group_all(op->group)) {
			if (op->rx.msg[rank].ack_owed)
				shuffle_msg_in_send_ack(op, rank, q);
			shuffle_timer_out(op, rank);
		}
		shuffle_timer_start(op);	/* for its ACK */
	}
	return true;
}

/* An operation's turn: one super-packet, or small packets that are as much, a burst of them
 * at once.  True: the turn is over.
 */
static bool send_turn(struct shuffle_net *sn, struct shuffle_op *op, struct sk_buff_head *q)
{
	/* A queue that is empty again at every turn: not the link is the limit but
	 * the CPU, and large super-packets cost it less.
	 */
	u32 unit = shuffle_egress_queued(sn) ? op->tx.sched.unit : op->fill.unit;

	while (op->tx.turn_sent < unit) {
		struct sk_buff *last = skb_peek_tail(q), *skb;

		if (!send_one(sn, op, unit, q) || skb_queue_empty(q))
			break;	/* nothing is left, or no memory for it */
		skb_queue_reverse_walk(q, skb) {
			if (skb == last)
				break;
			op->tx.turn_sent += skb->truesize;
		}
		if (skb_queue_len(q) >= SHUFFLE_BURST &&
		    op->tx.turn_sent < unit && shuffle_egress_has_data(op))
			return false;
	}
	op->tx.turn_sent = 0;
	return true;
}

/* The next socket's turn, or a burst of it.  False: no socket has anything. */
static bool egress_turn(struct shuffle_net *sn)
{
	bool oldest = shuffle_order_oldest(sn->egress_turn);
	struct shuffle_sock *ssk;
	struct sk_buff_head q;
	struct shuffle_op *op;

	ssk = shuffle_turns_next_sock(sn, oldest);
	if (!ssk)
		return false;

	__skb_queue_head_init(&q);
	spin_lock(&ssk->lock);
	op = shuffle_turns_next_op(ssk, oldest);
	if (op) {
		bool over = send_turn(sn, op, &q);

		if (!shuffle_egress_has_data(op))
			shuffle_turns_del_op(op);
		else if (over)
			shuffle_turns_op_over(op);
		/* one whose turn goes on stays in front of the others */
		if (!list_empty(&ssk->tx_ops))
			shuffle_turns_add_sock(sn, ssk, !over);
		sn->egress_turn += over;
	}
	spin_unlock(&ssk->lock);
	shuffle_output_flush(sn, &q);
	sock_put(&ssk->sk);
	return true;
}

/* Sends until nothing is left or the qdiscs are full enough, which is true, or for as long as a run
 * may take.
 */
static bool egress_run(struct shuffle_net *sn)
{
	u64 now = shuffle_now(), end = now + SHUFFLE_EGRESS_RUN_NS;
	u32 limit = shuffle_egress_limit(sn), turns = SHUFFLE_EGRESS_TURNS;

	do {
		/* pairs with shuffle_egress_room() */
		smp_mb();
		if (shuffle_egress_queued(sn) >= limit)
			return true;
		atomic64_set(&sn->egress_at, now);
		if (!egress_turn(sn))
			return true;
		now = shuffle_now();
	} while (now < end && --turns);
	return false;
}

/* A NAPI of no device: it costs a tenth of a work in softirq context, and what it sends to hosts of
 * the same machine is, mostly, taken up by the softirq that it runs in.
 */
static int egress_poll(struct napi_struct *napi, int budget)
{
	struct shuffle_net *sn = container_of(napi, struct shuffle_net, egress);

	/* others want the CPU, too: all of its budget puts it behind them */
	if (!egress_run(sn))
		return budget;
	napi_complete_done(napi, 0);
	return 0;
}

/**
 * shuffle_egress_init() - nobody has anything to send
 * @sn: namespace
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int shuffle_egress_init(struct shuffle_net *sn)
{
	shuffle_turns_init(sn);
	sn->egress_dev = alloc_netdev_dummy(0);
	if (!sn->egress_dev)
		return -ENOMEM;
	netif_napi_add_tx(sn->egress_dev, &sn->egress, egress_poll);
	napi_enable(&sn->egress);
	return 0;
}

/**
 * shuffle_egress_stop() - the egress does not run any more
 * @sn: namespace; no socket is left, so nothing schedules the egress
 *
 * Context: process, may sleep.
 */
void shuffle_egress_stop(struct shuffle_net *sn)
{
	napi_disable(&sn->egress);
	__netif_napi_del(&sn->egress);
}

/**
 * shuffle_egress_exit() - the namespace ends
 * @sn: namespace; a grace period has gone by since shuffle_egress_stop(), for the tracepoint behind
 *	the last poll still reads the device
 *
 * Context: process.
 */
void shuffle_egress_exit(struct shuffle_net *sn)
{
	shuffle_free_netdev_dummy(sn->egress_dev);
}
