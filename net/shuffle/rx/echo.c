// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reflector: a question for an echo is answered in the softirq that receives it, so its
 * round trip is that of the network and of this host's receive path, whatever programs do.
 *
 * Whom it answers is the setting "echo".  A stranger costs a look-up and leaves nothing behind: the
 * token buckets are a table of fixed size, and only who is answered has one.
 *
 * An echo has no tag, also where groups have keys.  It belongs to no group, changes nothing, and
 * says two times; the program that asks has no key.
 */
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../../../uapi/linux/shuffle_netlink.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../peer.h"
#include "../rate.h"
#include "../sched/wire.h"
#include "../tx/output.h"
#include "echo.h"

/* All sources together may ask for so many times what one may. */
#define SHUFFLE_ECHO_SOURCES	8U

/* What is longer gets the short answer: the padding is one allocation in a softirq. */
#define SHUFFLE_ECHO_PADDING	9216U

/* Times of one packet lie closer together than that. */
#define SHUFFLE_ECHO_STAY_NS	NSEC_PER_SEC

/* Sources share a bucket by accident only: the hash has a key. */
static bool within_rate(struct shuffle_net *sn, const struct sockaddr_shuffle *from)
{
	u32 i = siphash(from->shs_addr, sizeof(from->shs_addr), &sn->echo_key);
	u32 rate = READ_ONCE(sn->dev0.cfg.echo_rate);
	u64 now = shuffle_now();

	return shuffle_rate_take(&sn->echo_full_at[i % ARRAY_SIZE(sn->echo_full_at)], now, rate) &&
	       shuffle_rate_take(&sn->echo_all_full_at, now, rate * SHUFFLE_ECHO_SOURCES);
}

/* Is a member of a group of this namespace on that host?  @from: with the link's scope where the
 * address has one, as a member's address has it.
 */
static bool is_members_host(struct shuffle_net *sn, const struct sockaddr_shuffle *from)
{
	struct shuffle_peer *peer = shuffle_peer_next(sn, from, false);
	bool found;

	if (!peer)
		return false;
	found = shuffle_addr_equal(&peer->addr, from->shs_ip_family, from->shs_addr) &&
		peer->addr.shs_scope_id == from->shs_scope_id;
	shuffle_peer_put(peer);
	return found;
}

static bool is_answered(struct shuffle_net *sn, const struct sk_buff *skb,
			const struct sockaddr_shuffle *from)
{
	u32 echo = READ_ONCE(sn->dev0.cfg.echo);

	if (echo == SHUFFLE_NL_ECHO_OFF)
		return false;
	/* what a host says to itself */
	if (skb->skb_iif == LOOPBACK_IFINDEX)
		return true;
	return echo == SHUFFLE_NL_ECHO_ALL || is_members_host(sn, from);
}

/* An answer is never larger than its question: that has a packet of its own. */
static bool is_alone(const struct sk_buff *skb, u32 off, u32 len)
{
	u32 packet = skb_shinfo(skb)->gso_size ?: skb->len;

	return !(off % packet) && (len == packet || off + len == skb->len);
}

/* When the packet came: as early as something has looked at the clock. */
static u64 received_at(const struct sk_buff *skb, u64 now)
{
	u64 at = ktime_to_ns(skb->tstamp);

	return now - at < SHUFFLE_ECHO_STAY_NS ? at : now;
}

static u8 traffic_class(const struct sk_buff *skb)
{
	/* without what ECN has made of it on the way */
	if (ip_hdr(skb)->version == 4)
		return ip_hdr(skb)->tos & ~INET_ECN_MASK;
	return ipv6_get_dsfield(ipv6_hdr(skb)) & ~INET_ECN_MASK;
}

/* Nothing may fragment it. */
static bool fits_path(const struct sk_buff *out, const struct sockaddr_shuffle *to, u32 payload)
{
	u32 ip = to->shs_ip_family == AF_INET6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	return ip + sizeof(struct udphdr) + SHUFFLE_WIRE_ECHO_HDR + payload <=
	       dst_mtu(skb_dst(out));
}

static void answer(struct shuffle_net *sn, const struct sk_buff *skb,
		   const struct sockaddr_shuffle *from, const struct sockaddr_shuffle *to,
		   const struct shuffle_wire *asked)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_ECHO,
		.flags = asked->flags | SHUFFLE_FLAG_REPLY,
		.op_id = asked->op_id,
		.nonce = asked->nonce,
		.echo.rx_ns = received_at(skb, ktime_get_real_ns()),
	};
	struct sk_buff_head q;
	struct sk_buff *out;
	u8 *p;

	if (asked->payload > SHUFFLE_ECHO_PADDING)
		w.flags |= SHUFFLE_FLAG_SHORT;
	if (!(w.flags & SHUFFLE_FLAG_SHORT))
		w.payload = asked->payload;
	out = shuffle_output_answer(sn, to, from, SHUFFLE_WIRE_ECHO_HDR + w.payload,
				    traffic_class(skb));
	if (!out)
		return;
	if (w.payload && !fits_path(out, from, w.payload)) {
		w.flags |= SHUFFLE_FLAG_SHORT;
		w.payload = 0;
	}
	p = skb_put(out, SHUFFLE_WIRE_ECHO_HDR);
	skb_put_zero(out, w.payload);
	SHUFFLE_INC(sn, EchoOut);
	__skb_queue_head_init(&q);
	__skb_queue_tail(&q, out);
	w.echo.tx_ns = ktime_get_real_ns();
	shuffle_wire_build(p, &w);
	shuffle_output_flush(sn, &q);
}

/**
 * shuffle_echo_answer() - an ECHO record has come
 * @sn: namespace
 * @skb: the datagram, or several of one size from one port, as GRO joins them
 * @off: offset of the record
 * @from: source address of the datagram
 * @to: destination address of the datagram; NULL: a multicast address
 * @w: the record
 *
 * Context: softirq, no lock held.
 */
void shuffle_echo_answer(struct shuffle_net *sn, const struct sk_buff *skb, u32 off,
			 const struct sockaddr_shuffle *from, const struct sockaddr_shuffle *to,
			 const struct shuffle_wire *w)
{
	struct sockaddr_shuffle source = *from;
	u32 slave = skb->mark;		/* udp_rcv.c has left it there */

	/* the programs that ask have sockets of their own */
	if (w->flags & SHUFFLE_FLAG_REPLY) {
		SHUFFLE_INC(sn, DropState);
		return;
	}
	if (!is_alone(skb, off, SHUFFLE_WIRE_ECHO_HDR + w->payload)) {
		SHUFFLE_INC(sn, DropMalformed);
		return;
	}
	SHUFFLE_INC(sn, EchoIn);
	source.shs_port = udp_hdr(skb)->source;
	if (from->shs_ip_family == AF_INET6 &&
	    ipv6_addr_type((const struct in6_addr *)from->shs_addr) & IPV6_ADDR_LINKLOCAL)
		source.shs_scope_id = slave ?: skb->skb_iif;
	if (!to || !is_answered(sn, skb, &source)) {
		SHUFFLE_INC(sn, EchoRefused);
		return;
	}
	if (!within_rate(sn, &source)) {
		SHUFFLE_INC(sn, EchoLimited);
		return;
	}
	/* back into the VRF that it has come from */
	if (slave && !source.shs_scope_id)
		source.shs_scope_id = skb->skb_iif;
	answer(sn, skb, &source, to, w);
}
