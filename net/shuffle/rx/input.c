// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a UDP datagram (or super-packet) to its records, and from a record to its
 * socket and operation.  Softirq context.
 */
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "../abort.h"
#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sched/policy.h"
#include "../sched/portable.h"
#include "../sched/tag.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../trace.h"
#include "../tx/msg_out.h"
#include "../tx/output.h"
#include "early.h"
#include "echo.h"
#include "frags.h"
#include "grant.h"
#include "input.h"
#include "msg_in.h"
#include "timewait.h"

/* packets of answers that may wait for the end of a datagram */
#define SHUFFLE_RX_ANSWERS	16

/* what a packet needs of a link beside its payload: Ethernet, IP, UDP, record */
#define SHUFFLE_RX_OVERHEAD	(14 + 20 + 8 + SHUFFLE_WIRE_DATA_HDR)

/**
 * struct rx_ctx - one datagram on its way
 * @sn: namespace
 * @skb: the datagram, NULL once somebody has taken it
 * @from: source address of the datagram (no port)
 * @to: destination address of the datagram (no port)
 * @multicast: @to is a multicast address
 * @claims: the only socket of @to that the datagram is for now; NULL: all of them
 * @now: ns
 * @q: answers, all to one member
 * @reacked: operation whose end was told last
 * @reacked_rank: rank that the end of @reacked was told to; SHUFFLE_NONE: none was, of this socket
 * @unlinked: ssk->unlinked at the moment at which no operation was found
 */
struct rx_ctx {
	struct shuffle_net	*sn;
	struct sk_buff		*skb;
	struct sockaddr_shuffle	from;
	struct sockaddr_shuffle	to;
	bool			multicast;
	struct shuffle_sock	*claims;
	u64			now;
	struct sk_buff_head	q;
	u64			reacked;
	u32			reacked_rank;
	u32			unlinked;
};

/**
 * struct rx_run - a control record, or DATA records that follow one another
 * @w: the first of them
 * @data: offset of its payload in the skb
 * @len: payload bytes in all
 * @n: records
 * @hdr: bytes of a record's header
 * @whole: no other payload is in the datagram
 * @tag_step: what the tags of records as long as the first one grow by, the same each
 *	time; valid if there are two of them
 * @tag_short: tag of the last record, if that is shorter
 */
struct rx_run {
	struct shuffle_wire	w;
	u32			data;
	u32			len;
	u32			n;
	u32			hdr;
	bool			whole;
	u64			tag_step;
	u64			tag_short;
};

/* Is the tag of each record in a run what the group's key makes of it?  extend() has seen
 * that the tags grow by @tag_step, so the packet is not read again.
 */
static bool run_tags_valid(const struct shuffle_membership *group, const struct rx_run *run)
{
	const struct shuffle_wire *w = &run->w;
	struct shuffle_data_tag tag;
	u64 end = w->data.off + run->len;
	u32 shorter;

	if (!group->keyed || w->type != SHUFFLE_DATA)
		return shuffle_group_tag_valid(group, w);
	if (!(w->flags & SHUFFLE_FLAG_TAG))
		return false;
	shuffle_data_tag_init(&tag, &group->key, w);
	if (w->tag != shuffle_data_tag(&tag, w->data.off, w->payload))
		return false;
	if (run->n == 1)
		return true;
	shorter = run->len % w->payload;
	if (run->len >= 2 * w->payload &&
	    run->tag_step != shuffle_data_tag_step(&tag, w->payload))
		return false;
	return !shorter || run->tag_short == shuffle_data_tag(&tag, end - shorter, shorter);
}

static bool by_scope(const struct rx_ctx *c, int scope)
{
	int dif = c->skb->skb_iif;

	/* what a host says to itself comes in by no link; udp_rcv.c has left sdif in the mark */
	return !scope || dif == scope || (int)c->skb->mark == scope || dif == LOOPBACK_IFINDEX;
}

/* Has the packet come in by the device, VRF or link that the socket is bound to?  Called
 * with ssk->lock held.
 */
static bool by_device(const struct rx_ctx *c, const struct shuffle_sock *ssk)
{
	int dif = c->skb->skb_iif;

	lockdep_assert_held(&ssk->lock);
	if (!by_scope(c, ssk->addr.shs_scope_id))
		return false;
	return dif == LOOPBACK_IFINDEX ||
	       udp_sk_bound_dev_eq(c->sn->net, READ_ONCE(ssk->sk.sk_bound_dev_if), dif,
				   c->skb->mark);
}

/* Does the packet come from the member that the record says it is from, and is it for us?
 * @group may be NULL.
 */
static bool from_member(const struct rx_ctx *c, const struct shuffle_membership *group,
			const struct shuffle_wire *w)
{
	const struct shuffle_member *m;

	if (!group || w->src_rank >= group->count)
		return false;
	if (w->dst_rank != (c->multicast ? shuffle_group_all(group) : group->rank) ||
	    (c->multicast && !group->multicast))
		return false;
	m = &group->member[w->src_rank];
	/* another socket of its host, of another user perhaps */
	if (m->addr.shs_port != htons(w->src_port))
		return false;
	/* a socket is found by all its addresses, and by those of a group that it gets or had */
	if (!c->multicast && !shuffle_addr_equal(shuffle_group_self(group, w->src_rank),
						 c->to.shs_ip_family, c->to.shs_addr))
		return false;
	return shuffle_addr_equal(&m->addr, c->from.shs_ip_family, c->from.shs_addr) &&
	       by_scope(c, m->addr.shs_scope_id);
}

/* Called with ssk->lock held. */
static void run_to_op(struct rx_ctx *c, struct shuffle_op *op, const struct rx_run *run,
		      struct sk_buff_head *q)
{
	const struct shuffle_wire *w = &run->w;
	struct shuffle_net *sn = c->sn;

	lockdep_assert_held(&op->ssk->lock);
	if (!from_member(c, op->group, w)) {
		SHUFFLE_INC(sn, DropMember);
		return;
	}
	if (!run_tags_valid(op->group, run)) {
		SHUFFLE_ADD(sn, DropTag, run->n);
		return;
	}
	if (unlikely(op->life.ended)) {
		if (shuffle_abort_answer(op, w, q))
			return;
	} else {
		op->rx.msg[w->src_rank].heard_at = c->now;
	}
	switch (w->type) {
	case SHUFFLE_DATA:
		SHUFFLE_ADD(sn, DataIn, run->n);
		/* the loopback is no measure of the link */
		if (c->skb->skb_iif == op->dev->ifindex)
			shuffle_dev_arrived(op->dev, run->len + run->n * SHUFFLE_RX_OVERHEAD,
					    c->now);
		if (run->whole) {
			if (shuffle_msg_in_data(op, w, c->skb, run->data, run->len,
						w->payload, q, c->now))
				c->skb = NULL;
		} else {
			/* several messages in one packet share its data */
			struct sk_buff *clone = NULL;

			if (run->len) {
				clone = skb_clone(c->skb, GFP_ATOMIC);
				if (!clone) {
					SHUFFLE_INC(sn, DropMem);
					return;
				}
			}
			if (!shuffle_msg_in_data(op, w, clone, run->data, run->len,
						 w->payload, q, c->now))
				kfree_skb(clone);
		}
		shuffle_grant_op(op, q, c->now);
		shuffle_grant_tell(op, w->src_rank, q);
		break;
	case SHUFFLE_GRANT:
		SHUFFLE_INC(sn, GrantIn);
		shuffle_msg_out_grant(op, w, c->now);
		break;
	case SHUFFLE_ACK:
		SHUFFLE_INC(sn, AckIn);
		shuffle_msg_out_ack(op, w, c->now);
		break;
	case SHUFFLE_RESEND:
		SHUFFLE_INC(sn, ResendIn);
		shuffle_msg_out_resend(op, w, q, c->now);
		break;
	case SHUFFLE_ABORT:
		shuffle_abort_heard(op, w, c->now);
		break;
	}
}

/* Returns true if the operation has begun meanwhile, or has ended: look for it once more. */
static bool run_without_op(struct rx_ctx *c, struct shuffle_sock *ssk,
			   const struct rx_run *run, struct sk_buff_head *q)
{
	const struct shuffle_wire *w = &run->w;
	enum shuffle_ended ended = SHUFFLE_ENDED_UNKNOWN;
	struct shuffle_net *sn = c->sn;
	bool member, valid = false;
	int kept;

	/* once for each message of a datagram: an answer is never more than the question */
	if (c->reacked == w->op_id && c->reacked_rank == w->src_rank)
		return false;
	/* who has sent to all asks each member later */
	if (c->multicast && ssk && shuffle_timewait_exists(sn, &ssk->addr, w->op_id)) {
		SHUFFLE_INC(sn, DropNoOp);
		return false;
	}
	if (!c->multicast)
		ended = shuffle_timewait_answer(sn, &c->to, &c->from, w, q);
	if (ended == SHUFFLE_ENDED_ANSWERED || ended == SHUFFLE_ENDED_OTHER) {
		c->reacked = w->op_id;
		c->reacked_rank = w->src_rank;
	}
	if (ended == SHUFFLE_ENDED || ended == SHUFFLE_ENDED_ANSWERED)
		return false;
	if (!ssk) {
		SHUFFLE_INC(sn, DropNoSocket);
		if (!c->multicast && ended == SHUFFLE_ENDED_UNKNOWN)
			shuffle_abort_forgot(sn, NULL, &c->to, &c->from, w, false, q);
		return false;
	}
	/* an operation that we have not started yet: only members are believed */
	spin_lock_bh(&ssk->lock);
	member = from_member(c, ssk->group, w);
	if (member)
		valid = run_tags_valid(ssk->group, run);
	if (valid && !c->multicast)
		shuffle_abort_forgot(sn, ssk, &c->to, &c->from, w,
				     ended == SHUFFLE_ENDED_OTHER, q);
	spin_unlock_bh(&ssk->lock);
	if (!member) {
		SHUFFLE_INC(sn, DropMember);
		return false;
	}
	if (!valid) {
		SHUFFLE_ADD(sn, DropTag, run->n);
		return false;
	}
	/* what says again that a message comes goes with a question, and is not worth its memory */
	if (ended == SHUFFLE_ENDED_OTHER || w->type != SHUFFLE_DATA ||
	    w->flags & SHUFFLE_FLAG_HEARD || (!run->len && w->flags & SHUFFLE_FLAG_RETRANS)) {
		SHUFFLE_INC(sn, DropNoOp);
		return false;
	}
	/* a datagram is kept whole; one with records of several operations is
	 * rare and its sender asks again
	 */
	if (run->whole) {
		kept = shuffle_early_keep(ssk, c->skb, w->op_id, c->unlinked);
		if (kept == -EAGAIN)
			return true;
		if (kept)
			c->skb = NULL;
	}
	return false;
}

/* Returns 1 if the socket has the operation, 0 if not, -ENODEV if it is bound to another device. */
static int run_to_known(struct rx_ctx *c, struct shuffle_sock *ssk, const struct rx_run *run)
{
	struct shuffle_op *op;
	int ret = -ENODEV;

	spin_lock_bh(&ssk->lock);
	if (by_device(c, ssk)) {
		op = shuffle_op_find(ssk, run->w.op_id);
		if (op)
			run_to_op(c, op, run, &c->q);
		c->unlinked = ssk->unlinked;
		ret = op ? 1 : 0;
	}
	spin_unlock_bh(&ssk->lock);
	return ret;
}

/* @ssk: the socket that it is for, with a reference that is dropped; or NULL */
static void run_to_sock(struct rx_ctx *c, struct shuffle_sock *ssk, const struct rx_run *run)
{
	int known;

	do {
		known = ssk ? run_to_known(c, ssk, run) : 0;
	} while (!known && run_without_op(c, ssk, run, &c->q));
	if (known < 0)
		SHUFFLE_INC(c->sn, DropDevice);
	if (skb_queue_len(&c->q) >= SHUFFLE_RX_ANSWERS)
		shuffle_output_flush(c->sn, &c->q);
	if (ssk)
		sock_put(&ssk->sk);
}

/* All sockets but the last get clones of a packet that may be kept.  They have one port, so each
 * sends answers of its own.
 */
static void run_to_all(struct rx_ctx *c, const struct rx_run *run)
{
	struct shuffle_sock *ssk[SHUFFLE_MULTICAST_SHARED];
	struct sk_buff *skb = c->skb;
	u32 i, n;

	/* to all goes data only */
	if (run->w.type != SHUFFLE_DATA) {
		SHUFFLE_INC(c->sn, DropMember);
		return;
	}
	if (c->claims) {	/* the others have copies of their own */
		sock_hold(&c->claims->sk);
		run_to_sock(c, c->claims, run);
		return;
	}
	n = shuffle_multicast_find(c->sn, &c->to, run->w.dst_port, skb->skb_iif, skb->mark, ssk);
	if (!n)
		SHUFFLE_INC(c->sn, DropNoSocket);
	for (i = 0; i < n; i++) {
		/* what is a part of the packet is cloned where it is kept */
		c->skb = run->whole && i + 1 < n ? skb_clone(skb, GFP_ATOMIC) : skb;
		if (!c->skb) {
			SHUFFLE_INC(c->sn, DropMem);
			sock_put(&ssk[i]->sk);
			continue;
		}
		run_to_sock(c, ssk[i], run);
		shuffle_output_flush(c->sn, &c->q);
		if (run->whole && i + 1 < n)
			kfree_skb(c->skb);
	}
}

static void handle_run(struct rx_ctx *c, const struct rx_run *run)
{
	const struct shuffle_wire *w = &run->w;

	if (c->multicast) {
		run_to_all(c, run);
		return;
	}
	if (c->to.shs_port != htons(w->dst_port)) {
		/* another socket: answers to this one's peers do not share packets with it */
		shuffle_output_flush(c->sn, &c->q);
		c->to.shs_port = htons(w->dst_port);
		c->reacked_rank = SHUFFLE_NONE;
	}
	run_to_sock(c, shuffle_ports_find(c->sn, c->to.shs_ip_family, c->to.shs_addr, w->dst_port),
		    run);
}

/* Does the tag @p of a run's next record grow as those before did?  Whether the key makes
 * such tags is not known yet.  @records: in the run so far.  @last: tag of the record before;
 * becomes this one's.
 */
static bool tag_goes_on(struct rx_run *run, u32 records, const u8 *p, u64 *last)
{
	u64 tag = shuffle_get64(p), step = tag - *last;

	if (records == 1)
		run->tag_step = step;
	if (step != run->tag_step)
		return false;
	*last = tag;
	return true;
}

/* How many of @n records, from @p on, go on where a run ends and are as long as its first one?
 * @hdr: header of that.  The others' headers are all that is readable at @p.
 */
static u32 count_same(struct rx_run *run, const u8 *p, u32 n, const u8 *hdr, u64 place, u64 *tag)
{
	const u32 most = run->w.payload, stride = run->hdr + most;
	bool tagged = run->w.flags & SHUFFLE_FLAG_TAG;
	u32 i;

	for (i = 0; i < n; i++, p += stride, place += most)
		if (!shuffle_wire_same(p, hdr, place) ||
		    (tagged && !tag_goes_on(run, run->n + i, p + SHUFFLE_WIRE_DATA_HDR, tag)))
			break;
	return i;
}

/* Add the records to a run of DATA that go on where it ends, in the message and in the
 * packet, and are no longer than its first one.  @hdr: header of that.  Returns the
 * offset behind the last one.
 */
static u32 extend(struct rx_run *run, struct shuffle_frags *at, const u8 *hdr)
{
	const u32 hdr_len = run->hdr, most = run->w.payload, stride = hdr_len + most;
	u32 off = run->data + run->len, end = at->skb->len, n, part;
	struct shuffle_wire_next next;
	u8 buf[SHUFFLE_WIRE_MAX_HDR];
	u64 tag = run->w.tag;
	const u8 *p;

	shuffle_wire_next_init(&next, hdr);
	while (end - off > hdr_len) {
		/* nearly all are as long as the first one, and each part of the packet has the
		 * headers of several
		 */
		part = end - off;
		p = shuffle_frags_run(at, off, &part);
		if (p && part >= hdr_len) {
			n = min3((part - hdr_len) / stride + 1, (end - off) / stride,
				 (u32)min_t(u64, next.rest, U32_MAX) / most);
			n = count_same(run, p, n, hdr, next.place, &tag);
			next.place += n * most;
			next.rest -= n * most;
			run->n += n;
			run->len += n * most;
			off += n * stride;
			if (n)
				continue;
		}

		p = shuffle_frags_read(at, off, hdr_len, buf);
		n = p ? shuffle_wire_follows(p, end - off, hdr, hdr_len, &next) : 0;
		if (!n || n > most)
			break;
		if (run->w.flags & SHUFFLE_FLAG_TAG) {
			if (n < most)
				run->tag_short = shuffle_get64(p + SHUFFLE_WIRE_DATA_HDR);
			else if (!tag_goes_on(run, run->n, p + SHUFFLE_WIRE_DATA_HDR, &tag))
				break;	/* begins a run of its own, and is looked at by itself */
		}
		run->len += n;
		run->n++;
		off += hdr_len + n;
		if (n < most)
			break;	/* a short one is the last */
	}
	return off;
}

static void addresses(struct rx_ctx *c)
{
	const struct iphdr *iph = ip_hdr(c->skb);

	if (iph->version == 4) {
		c->from.shs_ip_family = AF_INET;
		memcpy(c->from.shs_addr, &iph->saddr, 4);
		memcpy(c->to.shs_addr, &iph->daddr, 4);
		c->multicast = ipv4_is_multicast(iph->daddr);
	} else {
		const struct ipv6hdr *h = ipv6_hdr(c->skb);

		c->from.shs_ip_family = AF_INET6;
		memcpy(c->from.shs_addr, &h->saddr, 16);
		memcpy(c->to.shs_addr, &h->daddr, 16);
		c->multicast = ipv6_addr_is_multicast(&h->daddr);
	}
	c->to.shs_ip_family = c->from.shs_ip_family;
}

/**
 * shuffle_input_packet() - a datagram has come
 * @sn: namespace
 * @skb: UDP payload of the datagram, checksum verified; consumed
 * @claims: the socket that kept it for an operation which has started now: its control records,
 *	perhaps of other operations, have been dealt with, and other sockets have had it; else NULL
 *
 * Context: softirq (or a process that drains the UDP queue with BH off).
 */
void shuffle_input_packet(struct shuffle_net *sn, struct sk_buff *skb, struct shuffle_sock *claims)
{
	struct rx_ctx c = {
		.sn = sn,
		.skb = skb,
		.claims = claims,
		.now = shuffle_now(),
		.reacked_rank = SHUFFLE_NONE,
	};
	u8 buf[SHUFFLE_WIRE_MAX_HDR];
	struct rx_run run = {};
	struct shuffle_frags at;
	struct shuffle_wire w;
	bool data = false;
	u32 left, avail, off = 0;
	const u8 *p;
	int hdr;

	if (!shuffle_source_port(ntohs(udp_hdr(skb)->source))) {
		SHUFFLE_INC(sn, DropSource);
		kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
		return;
	}
	if (!claims)
		shuffle_cross_traffic_came(sn, skb);
	__skb_queue_head_init(&c.q);
	addresses(&c);
	shuffle_frags_init(&at, skb);
	while (c.skb) {
		hdr = -ENODATA;
		left = skb->len - off;
		if (left) {
			avail = min_t(u32, left, SHUFFLE_WIRE_MAX_HDR);
			p = shuffle_frags_read(&at, off, avail, buf);
			/* a page that a local sender has spliced may change: read it once */
			if (p && p != buf)
				memcpy(buf, p, avail);
			hdr = p ? shuffle_wire_parse(buf, avail, left, &w) : -EBADMSG;
		}
		if (hdr > 0 && w.type != SHUFFLE_DATA) {
			/* before data in front of it: only then can that be whole */
			if (w.type == SHUFFLE_ECHO) {
				if (!claims)
					shuffle_echo_answer(sn, skb, off, &c.from,
							    c.multicast ? NULL : &c.to, &w);
				off += w.payload;
			} else if (!claims) {
				handle_run(&c, &(struct rx_run) { .w = w });
			}
			off += hdr;
			continue;
		}
		if (run.n) {
			run.whole = hdr == -ENODATA && run.whole;
			handle_run(&c, &run);
			run.n = 0;
		}
		if (hdr <= 0)
			break;
		run.w = w;
		run.data = off + hdr;
		run.hdr = hdr;
		run.len = w.payload;
		run.n = 1;
		run.whole = !data;
		off += hdr + w.payload;
		if (w.payload) {
			data = true;
			/* only one without a tag is as good without its digest, too */
			if (w.flags & SHUFFLE_FLAG_DIGEST) {
				if (w.flags & SHUFFLE_FLAG_TAG)
					continue;
				shuffle_wire_plain(buf);
			}
			off = extend(&run, &at, buf);
		}
	}
	shuffle_output_flush(sn, &c.q);
	if (!c.skb)
		return;
	if (hdr == -EPROTONOSUPPORT) {
		SHUFFLE_INC(sn, DropVersion);
		pr_info_once("shuffle: packets of another wire version than %u come, from an older or newer module: dropped\n",
			     SHUFFLE_WIRE_VERSION);
		kfree_skb_reason(c.skb, SKB_DROP_REASON_UNHANDLED_PROTO);
	} else if (hdr != -ENODATA || !off) {
		SHUFFLE_INC(sn, DropMalformed);
		kfree_skb_reason(c.skb, SKB_DROP_REASON_PKT_TOO_SMALL);
	} else {
		consume_skb(c.skb);
	}
}
