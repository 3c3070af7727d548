// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Overlays: packets carry their way as a Bloom filter, and servers on it pass them on although they
 * are no members (overlay.h).  Two programs for each link: overlay_out gives the packets of this
 * host's members their way, overlay_in takes it off, or sends the packet to the next server.
 *
 * Super-packets stay whole: the header is an encapsulation, which the kernel repeats where it
 * segments.
 *
 * No kernel need have types of its own (BTF) for these, and none a compiler: loops are bounded by
 * constants, and what is called in one is a function that is verified by itself.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "overlay.h"

#ifndef AF_INET
#define AF_INET		2
#define AF_INET6	10
#endif

#define IP_DF		0x4000

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct overlay_settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OVERLAY_NEIGHBOURS);
	__type(key, __u32);
	__type(value, struct overlay_neighbour);
} neighbours SEC(".maps");

/* the neighbour behind an address */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OVERLAY_NEIGHBOURS);
	__type(key, struct overlay_addr);
	__type(value, __u32);
} by_address SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OVERLAY_WAYS);
	__type(key, struct overlay_addr);
	__type(value, struct overlay_way);
} ways SEC(".maps");

/* addresses of this host */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OVERLAY_OWN);
	__type(key, struct overlay_addr);
	__type(value, __u32);
} own SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OVERLAY_N_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* for shufflectl: devices; 1: it has made their clsact */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OVERLAY_LINKS);
	__type(key, __u32);
	__type(value, __u32);
} links SEC(".maps");

/* The filter of the packet that is looked at, which only overlay_in does.  What is found is here,
 * too: the verifier would follow each value of a variable, and knows none of a map.
 */
struct filter {
	__u64	word[OVERLAY_WORDS];
	__u32	bits;
	__u32	hashes;
	__u32	salt;
	__u32	from;	/* the neighbour that it comes from */
	__u32	found;	/* neighbours whose hop it has */
	__u32	next;	/* the last of them */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct filter);
} scratch SEC(".maps");

struct head4 {
	struct iphdr	ip;
	struct udphdr	udp;
} __attribute__((packed));

struct head6 {
	struct ipv6hdr	ip;
	struct udphdr	udp;
} __attribute__((packed));

/* IP and UDP header of either family. */
struct head {
	union {
		struct head4	h4;
		struct head6	h6;
	};
};

#define HEAD(v6)	((v6) ? sizeof(struct head6) : sizeof(struct head4))

/* Are there that many bytes of a filter?  The barriers keep the compiler from making one comparison
 * of the two, which older verifiers do not understand: to be asked right in front of the use.
 */
static __always_inline bool has_bytes(__u64 *n)
{
	asm volatile("" : "+r"(*n));
	if (*n > OVERLAY_WORDS * 8)
		return false;
	asm volatile("" : "+r"(*n));
	return *n >= 8;
}

static __always_inline void count(__u32 counter, __u64 n)
{
	__u64 *c = bpf_map_lookup_elem(&counters, &counter);

	if (c)
		*c += n;
}

static __always_inline int drop(__u32 counter, __u64 n)
{
	count(counter, n);
	return TC_ACT_SHOT;
}

/* Datagrams of a packet whose IP header inside is @off bytes behind its start. */
static __always_inline __u64 datagrams(const struct __sk_buff *skb, __u32 off, bool v6)
{
	__u32 size = skb->gso_size, len = skb->len - off - HEAD(v6);

	return size ? (len + size - 1) / size : 1;
}

/* Is it UDP to the port, and no fragment? */
static __always_inline bool is_udp_to(const struct head *h, __be16 port, bool v6)
{
	if (v6)
		return *(const __u8 *)&h->h6 >> 4 == 6 && h->h6.ip.nexthdr == IPPROTO_UDP &&
		       h->h6.udp.dest == port;
	return *(const __u8 *)&h->h4 == 0x45 && h->h4.ip.protocol == IPPROTO_UDP &&
	       !(h->h4.ip.frag_off & ~bpf_htons(IP_DF)) && h->h4.udp.dest == port;
}

static __always_inline bool is_privileged(const struct head *h, bool v6)
{
	__be16 port = v6 ? h->h6.udp.source : h->h4.udp.source;

	return (__u32)bpf_ntohs(port) - OVERLAY_PORT_FIRST < OVERLAY_PORTS;
}

static __always_inline struct overlay_addr address(const struct head *h, bool source, bool v6)
{
	struct overlay_addr a = { .v6 = v6 };

	if (v6)
		__builtin_memcpy(a.byte, source ? &h->h6.ip.saddr : &h->h6.ip.daddr, 16);
	else
		__builtin_memcpy(a.byte, source ? &h->h4.ip.saddr : &h->h4.ip.daddr, 4);
	return a;
}

static __always_inline bool equal(const struct overlay_addr *a, const struct overlay_addr *b)
{
	/* a neighbour's address is in no place for more at a time */
	const __u32 *x = (const void *)a, *y = (const void *)b;

	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3] && a->v6 == b->v6;
}

static __always_inline __u8 traffic_class(const struct head *h, bool v6)
{
	const __u8 *p = (const __u8 *)h;

	return v6 ? p[0] << 4 | p[1] >> 4 : h->h4.ip.tos;
}

/* Addresses, and hops that are left, for the link to a neighbour; checksums are right. */
static __always_inline void to_neighbour(struct head *h, const struct overlay_neighbour *n,
					 __u8 hops, bool v6)
{
	const __u16 *p = (const __u16 *)h;
	__u32 sum = 0;
	int i;

	if (v6) {
		h->h6.ip.hop_limit = hops;
		__builtin_memcpy(&h->h6.ip.saddr, n->local.byte, 16);
		__builtin_memcpy(&h->h6.ip.daddr, n->addr.byte, 16);
		return;
	}
	h->h4.ip.ttl = hops;
	__builtin_memcpy(&h->h4.ip.saddr, n->local.byte, 4);
	__builtin_memcpy(&h->h4.ip.daddr, n->addr.byte, 4);
	h->h4.ip.check = 0;
#pragma unroll
	for (i = 0; i < 10; i++)
		sum += p[i];
	sum = (sum & 0xffff) + (sum >> 16);
	h->h4.ip.check = ~((sum & 0xffff) + (sum >> 16));
}

static __always_inline int send_to(const struct overlay_neighbour *n, bool v6)
{
	struct bpf_redir_neigh nh = { .nh_family = v6 ? AF_INET6 : AF_INET };

	if (v6)
		__builtin_memcpy(nh.ipv6_nh, n->addr.byte, 16);
	else
		__builtin_memcpy(&nh.ipv4_nh, n->addr.byte, 4);
	return bpf_redirect_neigh(n->ifindex, &nh, sizeof(nh), 0);
}

/* ---- out ---- */

static __always_inline int out(struct __sk_buff *skb, bool v6)
{
	struct overlay_header oh = { .magic = OVERLAY_MAGIC };
	const struct overlay_settings *set;
	const struct overlay_neighbour *via;
	const struct overlay_way *way;
	struct overlay_addr to;
	__u64 filter, flags, n;
	__u32 zero = 0, room;
	struct head h = {};
	__u8 first;

	set = bpf_map_lookup_elem(&settings, &zero);
	if (!set || bpf_skb_load_bytes(skb, ETH_HLEN, &h, HEAD(v6)) ||
	    !is_udp_to(&h, set->port, v6) || !is_privileged(&h, v6))
		return TC_ACT_UNSPEC;
	to = address(&h, false, v6);
	way = bpf_map_lookup_elem(&ways, &to);
	if (!way)
		return TC_ACT_UNSPEC;
	/* it has its way already */
	if (bpf_skb_load_bytes(skb, ETH_HLEN + HEAD(v6), &first, 1) || first == OVERLAY_MAGIC)
		return TC_ACT_UNSPEC;
	via = bpf_map_lookup_elem(&neighbours, &way->via);
	if (!via)
		return TC_ACT_UNSPEC;
	n = datagrams(skb, ETH_HLEN, v6);
	filter = (way->bits + 63) / 64 * 8;
	if (!has_bytes(&filter))
		return TC_ACT_UNSPEC;
	room = HEAD(v6) + sizeof(oh) + filter;
	flags = BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_ENCAP_L4_UDP |
		BPF_F_ADJ_ROOM_ENCAP_L2(sizeof(oh) + filter) |
		(v6 ? BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 : BPF_F_ADJ_ROOM_ENCAP_L3_IPV4);
	if (bpf_skb_adjust_room(skb, room, BPF_ADJ_ROOM_MAC, flags))
		return drop(OVERLAY_DROP_ROOM, n);
	/* the traffic class, and the ports, stay; of a super-packet the kernel mends lengths */
	if (v6) {
		h.h6.ip.payload_len = bpf_htons(skb->len - ETH_HLEN - sizeof(h.h6.ip));
		h.h6.udp.len = h.h6.ip.payload_len;
		h.h6.udp.check = 0;
	} else {
		h.h4.ip.tot_len = bpf_htons(skb->len - ETH_HLEN);
		h.h4.udp.len = bpf_htons(skb->len - ETH_HLEN - sizeof(h.h4.ip));
		h.h4.udp.check = 0;
	}
	to_neighbour(&h, via, way->hops, v6);
	oh.hashes = way->hashes;
	oh.salt = way->salt;
	oh.bits = bpf_htons(way->bits);
	if (bpf_skb_store_bytes(skb, ETH_HLEN, &h, HEAD(v6), 0) ||
	    bpf_skb_store_bytes(skb, ETH_HLEN + HEAD(v6), &oh, sizeof(oh), 0) ||
	    !has_bytes(&filter) ||
	    bpf_skb_store_bytes(skb, ETH_HLEN + HEAD(v6) + sizeof(oh), way->filter, filter, 0))
		return drop(OVERLAY_DROP_ROOM, n);
	count(OVERLAY_SENT, n);
	/* the route that shufflectl has made leads there, unless somebody has another one */
	return via->ifindex == skb->ifindex ? TC_ACT_UNSPEC : send_to(via, v6);
}

SEC("tc")
int overlay_out(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return out(skb, false);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return out(skb, true);
	return TC_ACT_UNSPEC;
}

/* ---- in ---- */

/* The finaliser of splitmix64, as in tools/topo/bloom.c. */
static __always_inline __u64 mix(__u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Is the hop from us to a server in the filter?  Global: the verifier looks at it once, not for
 * each neighbour.
 */
__attribute__((noinline)) int overlay_has(__u32 from, __u32 to)
{
	__u32 zero = 0, i, at;
	const struct filter *f = bpf_map_lookup_elem(&scratch, &zero);
	__u64 x;

	if (!f)
		return 0;
	x = mix(((__u64)from << 32 | to) + (f->salt + 1ULL) * 0x9e3779b97f4a7c15ULL);
	for (i = 0; i < OVERLAY_HASHES; i++) {
		if (i >= f->hashes)
			break;
		at = (x >> 32) * f->bits >> 32;
		if (!(f->word[at / 64 % OVERLAY_WORDS] >> at % 64 & 1))
			return 0;
		x = mix(x + 0x9e3779b97f4a7c15ULL);
	}
	return 1;
}

/* Look for neighbours whose hop is in the filter, but for that which the packet comes from.
 * Global, as overlay_has().
 */
__attribute__((noinline)) int overlay_find(void)
{
	const struct overlay_neighbour *to;
	struct overlay_settings *set;
	__u32 zero = 0, i, at;
	struct filter *f;

	set = bpf_map_lookup_elem(&settings, &zero);
	f = bpf_map_lookup_elem(&scratch, &zero);
	if (!set || !f)
		return 0;
	f->found = 0;
	f->next = 0;
	for (i = 0; i < OVERLAY_NEIGHBOURS; i++) {
		if (i >= set->neighbours)
			break;
		at = i;
		to = bpf_map_lookup_elem(&neighbours, &at);
		if (!to)
			break;
		if (at == f->from || !overlay_has(set->server, to->server))
			continue;
		f->found++;
		f->next = i;
	}
	return 0;
}

static __always_inline int pass_on(struct __sk_buff *skb, struct head *h,
				   const struct overlay_header *oh,
				   const struct overlay_settings *set, __u32 from, __u64 filter,
				   __u64 n, bool v6)
{
	const struct overlay_neighbour *to;
	__u32 zero = 0, i, next;
	__u8 hops, tos;
	struct filter *f = bpf_map_lookup_elem(&scratch, &zero);

	hops = v6 ? h->h6.ip.hop_limit : h->h4.ip.ttl;
	if (hops <= 1 || hops > OVERLAY_HOPS)
		return drop(OVERLAY_DROP_HOPS, n);
	if (!f || !has_bytes(&filter) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + HEAD(v6) + sizeof(*oh), f->word, filter))
		return drop(OVERLAY_DROP_MALFORMED, n);
	for (i = 0; i < OVERLAY_WORDS; i++)
		f->word[i] = bpf_be64_to_cpu(f->word[i]);
	f->bits = bpf_ntohs(oh->bits);
	f->hashes = oh->hashes;
	f->salt = oh->salt;
	f->from = from;
	overlay_find();
	if (f->found != 1)
		return drop(f->found ? OVERLAY_PATH_AMBIGUOUS : OVERLAY_DROP_NO_HOP, n);
	next = f->next;
	to = bpf_map_lookup_elem(&neighbours, &next);
	if (!to)
		return drop(OVERLAY_DROP_NO_HOP, n);
	tos = traffic_class(h, v6);
	to_neighbour(h, to, hops - 1, v6);
	if (bpf_skb_store_bytes(skb, ETH_HLEN, h, HEAD(v6), BPF_F_RECOMPUTE_CSUM))
		return drop(OVERLAY_DROP_ROOM, n);
	/* as IP has it of what it passes on */
	if (tos && tos == set->control_tos)
		skb->priority = TC_PRIO_CONTROL;
	else
		skb->priority = (tos & 0x18) == 0x18 ? TC_PRIO_INTERACTIVE_BULK :
				tos & 0x10 ? TC_PRIO_INTERACTIVE : tos & 0x08 ? TC_PRIO_BULK : 0;
	skb->mark = 0;
	count(OVERLAY_PASSED_ON, n);
	return send_to(to, v6);
}

static __always_inline int in(struct __sk_buff *skb, bool v6)
{
	const struct overlay_neighbour *neighbour;
	struct overlay_addr from, to, link;
	const struct overlay_settings *set;
	struct head h = {}, packet = {};
	struct overlay_header oh = {};
	__u32 zero = 0, inside, *k;
	__u64 filter, n;

	set = bpf_map_lookup_elem(&settings, &zero);
	if (!set || bpf_skb_load_bytes(skb, ETH_HLEN, &h, HEAD(v6)) ||
	    !is_udp_to(&h, set->port, v6))
		return TC_ACT_UNSPEC;
	if (bpf_skb_load_bytes(skb, ETH_HLEN + HEAD(v6), &oh.magic, 1) || oh.magic != OVERLAY_MAGIC)
		return TC_ACT_UNSPEC;
	if (!is_privileged(&h, v6))
		return drop(OVERLAY_DROP_SOURCE, 1);
	if (bpf_skb_load_bytes(skb, ETH_HLEN + HEAD(v6), &oh, sizeof(oh)) || oh.flags || oh.zero ||
	    !oh.hashes || oh.hashes > OVERLAY_HASHES || !oh.bits ||
	    bpf_ntohs(oh.bits) > OVERLAY_BITS)
		return drop(OVERLAY_DROP_MALFORMED, 1);
	filter = (bpf_ntohs(oh.bits) + 63) / 64 * 8;
	if (!has_bytes(&filter))
		return drop(OVERLAY_DROP_MALFORMED, 1);
	inside = ETH_HLEN + HEAD(v6) + sizeof(oh) + filter;
	if (bpf_skb_load_bytes(skb, inside, &packet, HEAD(v6)) ||
	    !is_udp_to(&packet, set->port, v6))
		return drop(OVERLAY_DROP_MALFORMED, 1);
	n = datagrams(skb, inside, v6);

	/* only the host behind the address of a link can have sent it, and to us alone */
	from = address(&h, true, v6);
	link = address(&h, false, v6);
	k = bpf_map_lookup_elem(&by_address, &from);
	neighbour = k ? bpf_map_lookup_elem(&neighbours, k) : NULL;
	if (!k || !neighbour || neighbour->ifindex != skb->ifindex ||
	    !equal(&neighbour->local, &link))
		return drop(OVERLAY_DROP_NEIGHBOUR, n);

	to = address(&packet, false, v6);
	if (!bpf_map_lookup_elem(&own, &to))
		return pass_on(skb, &h, &oh, set, *k, filter, n, v6);
	/* a neighbour is believed about those that we have a way to only */
	from = address(&packet, true, v6);
	if (!bpf_map_lookup_elem(&ways, &from))
		return drop(OVERLAY_DROP_MEMBER, n);
	if (bpf_skb_adjust_room(skb, -(__s32)(inside - ETH_HLEN), BPF_ADJ_ROOM_MAC,
				BPF_F_ADJ_ROOM_FIXED_GSO))
		return drop(OVERLAY_DROP_ROOM, n);
	count(OVERLAY_TAKEN, n);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int overlay_in(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return in(skb, false);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return in(skb, true);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
