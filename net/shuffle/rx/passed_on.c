// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams that carry their way: those for this server go on to input.c, the others to the next
 * neighbour.  Softirq context.
 */
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../overlay.h"
#include "../shuffle.h"

static void drop(struct sk_buff *skb)
{
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
}

/* The neighbour that a datagram comes from, or NULL.  Only the host behind the address of a link
 * can have sent it, as far as that is true of members, too; and it is to us alone.
 */
static const struct shuffle_neighbour *from_neighbour(const struct shuffle_overlay *o,
						      const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	bool v6 = iph->version == 6;
	const void *from = v6 ? (void *)&ipv6_hdr(skb)->saddr : (void *)&iph->saddr;
	const void *to = v6 ? (void *)&ipv6_hdr(skb)->daddr : (void *)&iph->daddr;
	u16 family = v6 ? AF_INET6 : AF_INET;
	const struct shuffle_neighbour *n;
	u32 i;

	for (i = 0; i < o->neighbours; i++) {
		n = &o->neighbour[i];
		if (shuffle_addr_equal(&n->addr, family, from))
			return shuffle_addr_equal(&n->local, family, to) ? n : NULL;
	}
	return NULL;
}

static bool is_ours(struct net *net, const struct shuffle_wire_path *path)
{
	__be32 a4;

	if (path->v6)
		return IS_ENABLED(CONFIG_IPV6) &&
		       ipv6_chk_addr(net, (const struct in6_addr *)path->to, NULL, 0);
	memcpy(&a4, path->to, 4);
	return inet_addr_type(net, a4) == RTN_LOCAL;
}

/* Pass a datagram on to the neighbours that its filter has, but for @from, whose it was; consumes
 * it.
 */
static void pass_on(struct shuffle_net *sn, const struct shuffle_overlay *o, struct sk_buff *skb,
		    const struct shuffle_wire_path *path, const struct shuffle_neighbour *from)
{
	const struct iphdr *iph = ip_hdr(skb);
	u8 hops = iph->version == 6 ? ipv6_hdr(skb)->hop_limit : iph->ttl;
	const struct shuffle_neighbour *next = NULL;
	struct sk_buff *copy;
	u32 i, n = 0;

	if (hops <= 1 || hops > SHUFFLE_PATH_HOPS) {
		SHUFFLE_INC(sn, DropHops);
		drop(skb);
		return;
	}
	for (i = 0; i < o->neighbours; i++) {
		if (&o->neighbour[i] == from ||
		    !shuffle_bloom_has(&path->filter, o->server, o->neighbour[i].server))
			continue;
		if (++n > 1 && o->copies) {
			/* with the headers in front, which pskb_copy() leaves out */
			copy = skb_copy(skb, GFP_ATOMIC);
			if (copy)
				shuffle_output_pass_on(sn, copy, next, hops - 1);
			else
				SHUFFLE_INC(sn, DropMem);
		}
		next = &o->neighbour[i];
	}
	if (!n) {
		SHUFFLE_INC(sn, DropNoHop);
		drop(skb);
		return;
	}
	if (n > 1)
		SHUFFLE_INC(sn, PathAmbiguous);
	if (n > 1 && !o->copies) {
		drop(skb);
		return;
	}
	shuffle_output_pass_on(sn, skb, next, hops - 1);
}

/* One datagram; consumes it. */
static void passed_on_one(struct shuffle_net *sn, const struct shuffle_overlay *o,
			  struct sk_buff *skb, struct shuffle_sock *claims)
{
	u32 avail = min_t(u32, skb->len, SHUFFLE_WIRE_MAX_PATH);
	const struct shuffle_neighbour *from;
	struct shuffle_wire_path path;
	u8 buf[SHUFFLE_WIRE_MAX_PATH];
	int hdr;

	/* copied, as input.c does */
	if (skb_copy_bits(skb, 0, buf, avail) || !avail || !shuffle_wire_is_path(buf[0]))
		hdr = -EBADMSG;
	else
		hdr = shuffle_wire_path_parse(buf, avail, &path);
	from = hdr < 0 ? NULL : from_neighbour(o, skb);
	if (hdr < 0) {
		SHUFFLE_INC(sn, DropMalformed);
		drop(skb);
	} else if (!from) {
		SHUFFLE_INC(sn, DropNeighbour);
		drop(skb);
	} else if (claims || is_ours(sn->net, &path)) {
		shuffle_input_records(sn, skb, hdr, &path, claims);
	} else {
		pass_on(sn, o, skb, &path, from);
	}
}

/* A datagram of a super-packet, with headers of its own, or NULL. */
static struct sk_buff *cut_out(const struct sk_buff *skb, u32 off, u32 len)
{
	u32 head = skb->data - skb_network_header(skb);
	/* and room for those with which it is passed on */
	u32 room = LL_MAX_HEADER + sizeof(struct ipv6hdr);
	struct sk_buff *one = alloc_skb(room + head + len, GFP_ATOMIC | __GFP_NOWARN);

	if (!one)
		return NULL;
	skb_reserve(one, room);
	skb_reset_network_header(one);
	skb_put_data(one, skb_network_header(skb), head);
	skb_set_transport_header(one, skb_transport_offset(skb) + head);
	__skb_pull(one, head);
	if (skb_copy_bits(skb, off, skb_put(one, len), len)) {
		kfree_skb(one);
		return NULL;
	}
	one->skb_iif = skb->skb_iif;
	one->mark = skb->mark;
	one->tstamp = skb->tstamp;
	one->protocol = skb->protocol;
	return one;
}

/* Each datagram of a super-packet has a way of its own, and an operation that has not begun keeps
 * whole datagrams only: they are copied apart.
 */
static void passed_on_many(struct shuffle_net *sn, const struct shuffle_overlay *o,
			   struct sk_buff *skb)
{
	u32 size = skb_shinfo(skb)->gso_size, off;
	struct sk_buff *one;

	for (off = 0; off < skb->len; off += size) {
		one = cut_out(skb, off, min(size, skb->len - off));
		if (one)
			passed_on_one(sn, o, one, NULL);
		else
			SHUFFLE_INC(sn, DropMem);
	}
	consume_skb(skb);
}

/**
 * shuffle_passed_on() - take a datagram that carries its way
 * @sn: namespace
 * @skb: UDP payload of a datagram, or of several as one, whose source port is right; its IP and
 *	UDP headers are in front of it
 * @claims: as for shuffle_input_packet()
 *
 * Context: softirq, or a process with BH off.
 * Return: true if it has been consumed; false: it is no such datagram.
 */
bool shuffle_passed_on(struct shuffle_net *sn, struct sk_buff *skb, struct shuffle_sock *claims)
{
	const struct shuffle_overlay *o;
	const u8 *p;
	u8 first;

	rcu_read_lock();
	o = rcu_dereference(sn->overlay);
	p = o ? skb_header_pointer(skb, 0, 1, &first) : NULL;
	if (!p || !shuffle_wire_is_path(*p)) {
		rcu_read_unlock();
		return false;
	}
	if (skb_is_gso(skb))
		passed_on_many(sn, o, skb);
	else
		passed_on_one(sn, o, skb, claims);
	rcu_read_unlock();
	return true;
}
