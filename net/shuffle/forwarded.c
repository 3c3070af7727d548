// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that a host forwards must not look like its own.
 *
 * A receiver takes a packet for a member's if it comes from the member's address and from a
 * port that only privileged processes may use.  In a container's namespace, root of the container
 * has that privilege, or every process has it (net.ipv4.ip_unprivileged_port_start).  NAT
 * then puts an address of this host into the container's packets and keeps their ports, or
 * takes others from the same range.  So packets that are forwarded are looked at behind NAT,
 * and those that would pass for ours are dropped.
 */
#include <linux/inetdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "mib.h"
#include "netns.h"
#include "tx/msg_out.h"

#if IS_ENABLED(CONFIG_NETFILTER)
static bool has_ports(const struct sk_buff *skb, unsigned int off, struct shuffle_net *sn)
{
	struct udphdr buf;
	const struct udphdr *uh = skb_header_pointer(skb, off, sizeof(buf), &buf);

	return uh && uh->dest == htons(READ_ONCE(sn->dev0.cfg.port)) &&
	       shuffle_source_port(ntohs(uh->source));
}

static unsigned int drop(struct shuffle_net *sn)
{
	SHUFFLE_INC(sn, DropForwarded);
	return NF_DROP;
}

static unsigned int post_routing4(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct shuffle_net *sn = shuffle_net(state->net);
	const struct iphdr *iph = ip_hdr(skb);

	/* what this host sends has come in by no device */
	if (!skb->skb_iif || iph->protocol != IPPROTO_UDP ||
	    iph->frag_off & htons(IP_OFFSET) || !has_ports(skb, ip_hdrlen(skb), sn))
		return NF_ACCEPT;
	/* a router may forward what members send to each other */
	if (inet_addr_type_dev_table(state->net, state->out, iph->saddr) != RTN_LOCAL)
		return NF_ACCEPT;
	return drop(sn);
}

#if IS_ENABLED(CONFIG_IPV6)
static unsigned int post_routing6(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct shuffle_net *sn = shuffle_net(state->net);
	const struct ipv6hdr *h = ipv6_hdr(skb);
	u8 proto = h->nexthdr;
	__be16 frag;
	int off;

	if (!skb->skb_iif)
		return NF_ACCEPT;
	off = ipv6_skip_exthdr(skb, sizeof(*h), &proto, &frag);
	if (off < 0 || proto != IPPROTO_UDP || frag & htons(IP6_OFFSET) ||
	    !has_ports(skb, off, sn) || !ipv6_chk_addr(state->net, &h->saddr, state->out, 0))
		return NF_ACCEPT;
	return drop(sn);
}
#endif

static const struct nf_hook_ops forwarded_hooks[] = {
	{
		.hook		= post_routing4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_POST_ROUTING,
		.priority	= NF_IP_PRI_NAT_SRC + 1,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= post_routing6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_POST_ROUTING,
		.priority	= NF_IP6_PRI_NAT_SRC + 1,
	},
#endif
};

/**
 * shuffle_forwarded_watch() - from now on drop forwarded packets that look like ours
 * @net: namespace
 *
 * A kernel without netfilter has no NAT either.
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int shuffle_forwarded_watch(struct net *net)
{
	return nf_register_net_hooks(net, forwarded_hooks, ARRAY_SIZE(forwarded_hooks));
}

/**
 * shuffle_forwarded_ignore() - end of shuffle_forwarded_watch()
 * @net: namespace
 *
 * The hooks may still run until an RCU grace period has passed.
 *
 * Context: process, may sleep.
 */
void shuffle_forwarded_ignore(struct net *net)
{
	nf_unregister_net_hooks(net, forwarded_hooks, ARRAY_SIZE(forwarded_hooks));
}
#else
int shuffle_forwarded_watch(struct net *net)
{
	return 0;
}

void shuffle_forwarded_ignore(struct net *net)
{
}
#endif
