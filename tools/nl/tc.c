// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queueing disciplines of a device: read, written and deleted by rtnetlink.
 *
 * A qdisc is kept as kind and TCA_OPTIONS, byte for byte: what a dump says can be
 * sent back for most kinds (qdisc_copy.c knows which).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "program.h"
#include "tc.h"

static void *no_memory(void *p)
{
	if (!p) {
		ctl_error("out of memory");
		exit(CTL_ENV);
	}
	return p;
}

/**
 * tc_tree_new() - a device without any qdisc
 * @ifindex: the device
 *
 * Return: the tree; to be freed by tc_tree_free().
 */
struct tc_tree *tc_tree_new(int ifindex)
{
	struct tc_tree *t = no_memory(calloc(1, sizeof(*t)));

	t->ifindex = ifindex;
	return t;
}

/**
 * tc_tree_add() - add a qdisc
 * @t: tree
 * @node: the qdisc; it and its options are copied
 *
 * Return: the copy, until the next call.
 */
struct tc_node *tc_tree_add(struct tc_tree *t, const struct tc_node *node)
{
	struct tc_node *n;

	t->node = no_memory(realloc(t->node, (t->n + 1) * sizeof(*t->node)));
	n = &t->node[t->n++];
	*n = *node;
	if (node->options) {
		/* an attribute without a value is not one that is missing */
		n->options = no_memory(malloc(node->options_len + 1));
		memcpy(n->options, node->options, node->options_len);
	}
	return n;
}

/**
 * tc_tree_free() - free a tree
 * @t: tree or NULL
 */
void tc_tree_free(struct tc_tree *t)
{
	unsigned int i;

	if (!t)
		return;
	for (i = 0; i < t->n; i++)
		free(t->node[i].options);
	free(t->node);
	free(t);
}

static struct nl_msg *tc_request(int type, int flags, const struct tcmsg *t)
{
	struct nl_msg *msg = nl_request(type, flags);

	nlmsg_append(msg, (void *)t, sizeof(*t), NLMSG_ALIGNTO);
	return msg;
}

static void read_counts(struct tc_counts *c, struct nlattr *stats2)
{
	struct nlattr *a;
	int rem;

	nla_for_each_nested(a, stats2, rem) {
		if (nla_type(a) == TCA_STATS_BASIC &&
		    nla_len(a) >= (int)sizeof(struct gnet_stats_basic)) {
			struct gnet_stats_basic b;

			memcpy(&b, nla_data(a), sizeof(b));
			c->bytes = b.bytes;
			c->packets = b.packets;
		} else if (nla_type(a) == TCA_STATS_QUEUE &&
			   nla_len(a) >= (int)sizeof(struct gnet_stats_queue)) {
			struct gnet_stats_queue q;

			memcpy(&q, nla_data(a), sizeof(q));
			c->drops = q.drops;
			c->backlog = q.backlog;
			c->qlen = q.qlen;
		} else if (nla_type(a) == TCA_STATS_PKT64 && nla_len(a) >= 8) {
			c->packets = nla_get_u64(a);
		}
	}
}

static void read_qdisc(struct tc_tree *t, struct nlmsghdr *h)
{
	struct nlattr *tb[TCA_MAX + 1];
	struct tc_node n = { 0 };
	struct tcmsg *m;

	if (h->nlmsg_type != RTM_NEWQDISC || nlmsg_datalen(h) < (int)sizeof(*m) ||
	    nlmsg_parse(h, sizeof(*m), tb, TCA_MAX, NULL) < 0 || !tb[TCA_KIND])
		return;
	m = nlmsg_data(h);
	/* the hooks for receiving have nothing to do with queues */
	if (m->tcm_ifindex != t->ifindex || m->tcm_parent == TC_H_INGRESS)
		return;
	n.handle = m->tcm_handle;
	n.parent = m->tcm_parent;
	nla_strlcpy(n.kind, tb[TCA_KIND], sizeof(n.kind));
	if (tb[TCA_OPTIONS]) {
		n.options = nla_data(tb[TCA_OPTIONS]);
		n.options_len = nla_len(tb[TCA_OPTIONS]);
	}
	n.odd = tb[TCA_STAB] || tb[TCA_EGRESS_BLOCK] || tb[TCA_INGRESS_BLOCK];
	if (tb[TCA_STATS2])
		read_counts(&n.counts, tb[TCA_STATS2]);
	tc_tree_add(t, &n);
}

/**
 * tc_filters_get() - ask for the filters of a qdisc
 * @sk: rtnetlink socket
 * @ifindex: device
 * @parent: handle of the qdisc
 * @r: result, RTM_NEWTFILTER; to be freed by nl_reply_free()
 *
 * Return: 0 or -errno.
 */
int tc_filters_get(struct nl_sock *sk, int ifindex, uint32_t parent, struct nl_reply *r)
{
	struct tcmsg m = { .tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex, .tcm_parent = parent };
	struct nl_said said;

	return nl_talk(sk, tc_request(RTM_GETTFILTER, NLM_F_DUMP, &m), r, &said);
}

/**
 * tc_tree_get() - ask for all qdiscs of a device
 * @sk: rtnetlink socket
 * @ifindex: the device
 *
 * Return: the tree, or NULL after a message.
 */
struct tc_tree *tc_tree_get(struct nl_sock *sk, int ifindex)
{
	struct tcmsg m = { .tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex };
	struct tc_tree *t = tc_tree_new(ifindex);
	struct nl_reply r, f;
	struct nl_said said;
	unsigned int i;

	if (nl_talk(sk, tc_request(RTM_GETQDISC, NLM_F_DUMP, &m), &r, &said)) {
		nl_failed(&said, "cannot list the qdiscs");
		tc_tree_free(t);
		return NULL;
	}
	for (i = 0; i < r.n; i++)
		read_qdisc(t, nlmsg_hdr(r.msg[i]));
	nl_reply_free(&r);
	for (i = 0; i < t->n; i++) {
		unsigned int j;

		/* those of handle 0 cannot be named, and have no filters */
		if (!t->node[i].handle || tc_filters_get(sk, ifindex, t->node[i].handle, &f))
			continue;
		for (j = 0; j < f.n; j++) {
			struct tcmsg *fm = nlmsg_data(nlmsg_hdr(f.msg[j]));

			t->node[i].filters += fm->tcm_ifindex == ifindex && fm->tcm_handle;
		}
		nl_reply_free(&f);
	}
	return t;
}

/**
 * tc_child() - the qdisc of a class
 * @t: tree
 * @parent: the class, or TC_H_ROOT
 *
 * Return: the qdisc, or NULL.
 */
const struct tc_node *tc_child(const struct tc_tree *t, uint32_t parent)
{
	unsigned int i;

	for (i = 0; i < t->n; i++)
		if (t->node[i].parent == parent)
			return &t->node[i];
	return NULL;
}

/**
 * tc_root() - the outermost qdisc
 * @t: tree
 *
 * Return: it, or NULL.
 */
const struct tc_node *tc_root(const struct tc_tree *t)
{
	return tc_child(t, TC_H_ROOT);
}

/**
 * tc_find() - a qdisc by its handle
 * @t: tree
 * @handle: not 0
 *
 * Return: it, or NULL.
 */
const struct tc_node *tc_find(const struct tc_tree *t, uint32_t handle)
{
	unsigned int i;

	for (i = 0; i < t->n; i++)
		if (handle && t->node[i].handle == handle)
			return &t->node[i];
	return NULL;
}

/**
 * tc_is_below() - a qdisc is another one or somewhere below it
 * @t: tree
 * @n: the one
 * @top: the other, with a handle
 *
 * Return: true if so.
 */
bool tc_is_below(const struct tc_tree *t, const struct tc_node *n, const struct tc_node *top)
{
	unsigned int depth;

	for (depth = 0; n && depth < 32; depth++) {
		if (n == top)
			return true;
		if (n->parent == TC_H_ROOT)
			return false;
		n = tc_find(t, TC_H_MAJ(n->parent));
	}
	return false;
}

/**
 * tc_netem_has_rate() - a netem that holds packets to a rate, in one queue
 * @n: qdisc
 *
 * Return: true if it is one.
 */
bool tc_netem_has_rate(const struct tc_node *n)
{
	unsigned int skip = NLA_ALIGN(sizeof(struct tc_netem_qopt));
	struct tc_netem_rate *rate;
	struct nlattr *a;

	if (strcmp(n->kind, "netem") || n->options_len <= skip)
		return false;
	/* a dump has the attribute in any case */
	a = nla_find((struct nlattr *)((char *)n->options + skip), n->options_len - skip,
		     TCA_NETEM_RATE);
	if (!a || nla_len(a) < (int)sizeof(*rate))
		return false;
	rate = nla_data(a);
	return rate->rate;
}

/**
 * tc_qdisc_put() - create, replace or change a qdisc
 * @sk: rtnetlink socket
 * @ifindex: device
 * @parent: class or TC_H_ROOT
 * @handle: its handle, 0 to leave the choice to the kernel
 * @kind: its kind
 * @options: value of TCA_OPTIONS, NULL for none
 * @len: its length
 * @flags: NLM_F_CREATE, NLM_F_REPLACE, NLM_F_EXCL
 *
 * Return: 0, or -errno after a message.
 */
int tc_qdisc_put(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t handle,
		 const char *kind, const void *options, unsigned int len, int flags)
{
	struct tcmsg m = {
		.tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex,
		.tcm_handle = handle, .tcm_parent = parent,
	};
	struct nl_msg *msg = tc_request(RTM_NEWQDISC, flags, &m);
	int type = TCA_OPTIONS;
	struct nl_said said;
	char what[64];

	nla_put_string(msg, TCA_KIND, kind);
	/* these insist on the flag, which libnl does not set; others are older than it */
	if (!strcmp(kind, "ets") || !strcmp(kind, "fq_pie"))
		type |= NLA_F_NESTED;
	if (options)
		nla_put(msg, type, len, options);
	if (!nl_talk(sk, msg, NULL, &said))
		return 0;
	snprintf(what, sizeof(what), "qdisc %s", kind);
	nl_failed(&said, what);
	return said.error;
}

/**
 * tc_qdisc_del() - delete a qdisc and all below it
 * @sk: rtnetlink socket
 * @ifindex: device
 * @parent: class or TC_H_ROOT
 * @handle: its handle
 *
 * Return: 0, or -errno after a message.
 */
int tc_qdisc_del(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t handle)
{
	struct tcmsg m = {
		.tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex,
		.tcm_handle = handle, .tcm_parent = parent,
	};
	struct nl_said said;

	if (!nl_talk(sk, tc_request(RTM_DELQDISC, 0, &m), NULL, &said))
		return 0;
	nl_failed(&said, "cannot delete the qdisc");
	return said.error;
}

/**
 * tc_u32_add() - add an u32 filter that chooses a class
 * @sk: rtnetlink socket
 * @ifindex: device
 * @parent: handle of the qdisc
 * @classid: the class
 * @pref: order among the filters
 * @protocol: ETH_P_IP or ETH_P_IPV6
 * @key: words of the packet, all of which have to match
 * @n: their number, at most 4
 *
 * Return: 0, or -errno after a message.
 */
int tc_u32_add(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t classid,
	       unsigned int pref, uint16_t protocol, const struct tc_key *key, unsigned int n)
{
	struct tcmsg m = {
		.tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex, .tcm_parent = parent,
		.tcm_info = TC_H_MAKE(pref << 16, htons(protocol)),
	};
	struct nl_msg *msg = tc_request(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, &m);
	struct {
		struct tc_u32_sel sel;
		struct tc_u32_key keys[4];
	} s = { .sel = { .flags = TC_U32_TERMINAL, .nkeys = n } };
	struct nl_said said;
	struct nlattr *opt;
	unsigned int i;

	for (i = 0; i < n; i++) {
		s.keys[i].off = key[i].off;
		s.keys[i].val = htonl(key[i].val);
		s.keys[i].mask = htonl(key[i].mask);
	}
	nla_put_string(msg, TCA_KIND, "u32");
	opt = nla_nest_start(msg, TCA_OPTIONS);
	nla_put_u32(msg, TCA_U32_CLASSID, classid);
	nla_put(msg, TCA_U32_SEL, sizeof(s.sel) + n * sizeof(s.keys[0]), &s);
	nla_nest_end(msg, opt);
	if (!nl_talk(sk, msg, NULL, &said))
		return 0;
	nl_failed(&said, "filter u32");
	return said.error;
}

/**
 * tc_filter_add() - send control packets to a class, by what is on the wire
 * @sk: rtnetlink socket
 * @ifindex: device
 * @parent: handle of the qdisc
 * @classid: the class
 * @match: control packets
 *
 * Packets that come from another device have lost skb->priority; the DSCP is
 * what they still carry.
 *
 * Return: 0, or -errno after a message.
 */
int tc_filter_add(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t classid,
		  const struct tc_match *match)
{
	/* traffic class, protocol, destination port; IPv4 without options */
	const struct tc_key v4[] = {
		{ 0, (uint32_t)match->dscp << 18, 0x00fc0000 },
		{ 8, 17 << 16, 0x00ff0000 },
		{ 20, match->port, 0xffff },
	};
	const struct tc_key v6[] = {
		{ 0, (uint32_t)match->dscp << 22, 0x0fc00000 },
		{ 4, 17 << 8, 0xff00 },
		{ 40, match->port, 0xffff },
	};
	int err;

	err = tc_u32_add(sk, ifindex, parent, classid, 1, ETH_P_IP, v4, ARRAY_SIZE(v4));
	if (!err)
		err = tc_u32_add(sk, ifindex, parent, classid, 2, ETH_P_IPV6, v6, ARRAY_SIZE(v6));
	return err;
}

/* The start of a packet of ours as a filter sees it. */
static void make_packet(uint8_t *p, uint16_t protocol, const struct tc_match *match, bool control)
{
	uint8_t tos = control ? match->dscp << 2 : 0;
	uint8_t *udp = p + (protocol == ETH_P_IP ? 20 : 40);

	if (protocol == ETH_P_IP) {
		p[0] = 0x45;
		p[1] = tos;
		p[6] = 0x40;	/* do not fragment */
		p[8] = 64;
		p[9] = 17;
	} else {
		p[0] = 0x60 | tos >> 4;
		p[1] = tos << 4;
		p[6] = 17;
		p[7] = 64;
	}
	udp[0] = 0xc0;
	udp[2] = match->port >> 8;
	udp[3] = match->port & 0xff;
}

static bool u32_matches(const struct tc_u32_sel *sel, unsigned int len, const uint8_t *p,
			unsigned int size, bool *judged)
{
	unsigned int i;

	if (len < sizeof(*sel) || len < sizeof(*sel) + sel->nkeys * sizeof(sel->keys[0]) ||
	    sel->flags & (TC_U32_VAROFFSET | TC_U32_OFFSET)) {
		*judged = false;
		return false;
	}
	for (i = 0; i < sel->nkeys; i++) {
		const struct tc_u32_key *k = &sel->keys[i];
		uint32_t word;

		if (k->offmask || k->off < 0 || k->off + 4 > (int)size) {
			*judged = false;
			return false;
		}
		memcpy(&word, p + k->off, 4);
		if ((word ^ k->val) & k->mask)
			return false;
	}
	return true;
}

/**
 * tc_filter_verdict() - where the filters of a qdisc send a packet
 * @sk: rtnetlink socket
 * @ifindex: device
 * @parent: handle of the qdisc
 * @protocol: ETH_P_IP or ETH_P_IPV6
 * @match: control packets
 * @control: a control packet, or one with data
 *
 * The keys of u32 filters are compared with such a packet; other filters are not
 * understood.
 *
 * Return: minor number of the class, TC_FILTER_NONE or TC_FILTER_UNKNOWN.
 */
int tc_filter_verdict(struct nl_sock *sk, int ifindex, uint32_t parent, uint16_t protocol,
		      const struct tc_match *match, bool control)
{
	int verdict = TC_FILTER_NONE;
	uint8_t packet[64] = { 0 };
	struct nl_reply r;
	unsigned int i;

	make_packet(packet, protocol, match, control);
	if (tc_filters_get(sk, ifindex, parent, &r))
		return TC_FILTER_UNKNOWN;
	/* in the order of their priority, as the dump has them */
	for (i = 0; i < r.n && verdict == TC_FILTER_NONE; i++) {
		struct nlmsghdr *h = nlmsg_hdr(r.msg[i]);
		struct nlattr *tb[TCA_MAX + 1], *opt[TCA_U32_MAX + 1];
		struct tcmsg *m = nlmsg_data(h);
		bool judged = true;
		uint16_t proto;

		proto = ntohs(TC_H_MIN(m->tcm_info));
		if (m->tcm_ifindex != ifindex || !m->tcm_handle ||
		    (proto != protocol && proto != ETH_P_ALL))
			continue;
		if (nlmsg_parse(h, sizeof(*m), tb, TCA_MAX, NULL) < 0 || !tb[TCA_KIND])
			continue;
		if (strcmp(nla_get_string(tb[TCA_KIND]), "u32") || !tb[TCA_OPTIONS] ||
		    nla_parse_nested(opt, TCA_U32_MAX, tb[TCA_OPTIONS], NULL) < 0) {
			verdict = TC_FILTER_UNKNOWN;
			break;
		}
		/* a hash table, not a filter */
		if (!opt[TCA_U32_SEL])
			continue;
		if (opt[TCA_U32_LINK] || opt[TCA_U32_ACT] || opt[TCA_U32_MARK] ||
		    opt[TCA_U32_POLICE] || !opt[TCA_U32_CLASSID]) {
			verdict = TC_FILTER_UNKNOWN;
			break;
		}
		if (u32_matches(nla_data(opt[TCA_U32_SEL]), nla_len(opt[TCA_U32_SEL]), packet,
				protocol == ETH_P_IP ? 28 : 48, &judged))
			verdict = TC_H_MIN(nla_get_u32(opt[TCA_U32_CLASSID]));
		else if (!judged)
			verdict = TC_FILTER_UNKNOWN;
	}
	nl_reply_free(&r);
	return verdict;
}
