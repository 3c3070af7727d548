// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Do control packets go first on a device?  Read from its qdiscs, whoever has
 * installed them.
 *
 * A control packet has skb->priority TC_PRIO_CONTROL where it is made, and a DSCP
 * everywhere; a packet with data has priority 0.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/if_ether.h>
#include <netlink/attr.h>

#include "qdisc.h"

/* TCA_FQ_PRIOMAP, since Linux 6.7; before, fq sent TC_PRIO_CONTROL first of all */
#define FQ_PRIOMAP	16

static void why(struct qdisc_verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
}

static const char *name_of(const struct tc_node *n)
{
	static char buf[40];
	char h[12];

	snprintf(buf, sizeof(buf), "%s %s", n->kind, qdisc_handle(n->handle, h, sizeof(h)));
	return buf;
}

static struct nlattr *option(const struct tc_node *n, int type)
{
	return n->options ? nla_find(n->options, n->options_len, type) : NULL;
}

/* Bands in which data and control packets wait: [0] by priority 0, [1] by priority
 * 7; returns how many bands are strictly before the others, or -1.
 */
static int bands_of(const struct tc_node *n, int band[2])
{
	band[0] = 0;
	band[1] = 0;
	if (!strcmp(n->kind, "prio") || !strcmp(n->kind, "pfifo_fast")) {
		const struct tc_prio_qopt *q = n->options;

		if (!q || n->options_len < sizeof(*q))
			return -1;
		band[0] = q->priomap[TC_PRIO_BESTEFFORT];
		band[1] = q->priomap[TC_PRIO_CONTROL];
		return q->bands;
	}
	if (!strcmp(n->kind, "ets")) {
		struct nlattr *map = option(n, TCA_ETS_PRIOMAP);
		struct nlattr *strict = option(n, TCA_ETS_NSTRICT);
		struct nlattr *a;
		int i = 0, rem;

		if (!map)
			return -1;
		nla_for_each_nested(a, map, rem) {
			if (i == TC_PRIO_BESTEFFORT)
				band[0] = nla_get_u8(a);
			if (i == TC_PRIO_CONTROL)
				band[1] = nla_get_u8(a);
			i++;
		}
		return strict ? nla_get_u8(strict) : 0;
	}
	return -1;
}

static enum qdisc_first by_filters(struct nl_sock *sk, const struct tc_tree *t,
				   const struct tc_node *n, const struct tc_match *match,
				   const int band[2], int strict, bool local)
{
	static const uint16_t protocol[] = { ETH_P_IP, ETH_P_IPV6 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		int c = TC_FILTER_NONE, d = TC_FILTER_NONE;

		if (n->filters) {
			c = tc_filter_verdict(sk, t->ifindex, n->handle, protocol[i], match, true);
			d = tc_filter_verdict(sk, t->ifindex, n->handle, protocol[i], match, false);
		}
		if (c == TC_FILTER_UNKNOWN || d == TC_FILTER_UNKNOWN)
			return QDISC_FIRST_UNKNOWN;
		/* classes count from 1, bands from 0 */
		c = c == TC_FILTER_NONE ? band[local] : c - 1;
		d = d == TC_FILTER_NONE ? band[0] : d - 1;
		if (c >= d || c >= strict)
			return QDISC_FIRST_NO;
	}
	return QDISC_FIRST_YES;
}

static void check_bands(struct nl_sock *sk, const struct tc_tree *t, const struct tc_node *n,
			const struct tc_match *match, struct qdisc_verdict *v)
{
	int band[2], strict = bands_of(n, band);

	v->queues = true;
	v->bands = n->handle;
	if (strict < 0) {
		v->local = QDISC_FIRST_UNKNOWN;
		v->forwarded = QDISC_FIRST_UNKNOWN;
		why(v, "the options of %s are not understood", name_of(n));
		return;
	}
	v->local = by_filters(sk, t, n, match, band, strict, true);
	v->forwarded = by_filters(sk, t, n, match, band, strict, false);
	if (v->local == QDISC_FIRST_UNKNOWN)
		why(v, "%s has filters that are not understood", name_of(n));
	else if (v->local == QDISC_FIRST_YES && v->forwarded == QDISC_FIRST_YES)
		why(v, "%s serves them first, by priority and by DSCP", name_of(n));
	else if (v->local == QDISC_FIRST_YES)
		why(v, "%s serves them first, by priority", name_of(n));
	else if (band[1] == band[0])
		why(v, "%s: its priomap puts control packets and data into one band, %d",
		    name_of(n), band[0]);
	else
		why(v, "%s: its priomap or a filter puts control packets behind data", name_of(n));
}

static void check_mqprio(const struct tc_node *n, struct qdisc_verdict *v)
{
	const struct tc_mqprio_qopt *q = n->options;
	bool own;

	v->queues = true;
	v->bands = n->handle;
	v->forwarded = QDISC_FIRST_NO;
	if (!q || n->options_len < sizeof(*q)) {
		v->local = QDISC_FIRST_UNKNOWN;
		why(v, "the options of %s are not understood", name_of(n));
		return;
	}
	own = q->prio_tc_map[TC_PRIO_CONTROL] != q->prio_tc_map[TC_PRIO_BESTEFFORT];
	v->local = own ? QDISC_FIRST_YES : QDISC_FIRST_NO;
	if (own)
		why(v, "%s gives them a transmit queue of their own, by priority", name_of(n));
	else
		why(v, "%s: its map puts control packets and data into one traffic class",
		    name_of(n));
}

static void check_node(struct nl_sock *sk, const struct tc_tree *t, const struct tc_node *n,
		       const struct tc_match *match, struct qdisc_verdict *v, unsigned int depth);

/* All queues must agree. */
static void check_mq(struct nl_sock *sk, const struct tc_tree *t, const struct tc_node *mq,
		     const struct tc_match *match, struct qdisc_verdict *v, unsigned int depth)
{
	unsigned int i, queues = 0;

	v->local = QDISC_FIRST_YES;
	v->forwarded = QDISC_FIRST_YES;
	v->queues = true;
	for (i = 0; i < t->n; i++) {
		const struct tc_node *n = &t->node[i];
		struct qdisc_verdict one = { 0 };

		if (n->parent == TC_H_ROOT || TC_H_MAJ(n->parent) != mq->handle)
			continue;
		check_node(sk, t, n, match, &one, depth + 1);
		queues++;
		if (one.local != QDISC_FIRST_YES && v->local == QDISC_FIRST_YES) {
			v->local = one.local;
			why(v, "queue %u: %.120s", TC_H_MIN(n->parent), one.why);
		}
		if (one.forwarded != QDISC_FIRST_YES && v->forwarded == QDISC_FIRST_YES)
			v->forwarded = one.forwarded;
		if (!v->bands)
			v->bands = one.bands;
	}
	if (!queues) {
		v->local = QDISC_FIRST_UNKNOWN;
		v->forwarded = QDISC_FIRST_UNKNOWN;
		why(v, "%s does not say what is in its queues", name_of(mq));
	} else if (v->local == QDISC_FIRST_YES) {
		why(v, "each of %u transmit queues serves them first", queues);
	}
}

/* tbf, netem: one class. */
static void check_wrapper(struct nl_sock *sk, const struct tc_tree *t, const struct tc_node *n,
			  const struct tc_match *match, struct qdisc_verdict *v,
			  unsigned int depth)
{
	const struct tc_node *child = NULL;
	unsigned int i;

	v->queues = true;
	if (tc_netem_has_rate(n)) {
		why(v, "the rate of %s is one queue", name_of(n));
		return;
	}
	for (i = 0; i < t->n; i++)
		if (t->node[i].parent != TC_H_ROOT && TC_H_MAJ(t->node[i].parent) == n->handle)
			child = &t->node[i];
	if (child)
		check_node(sk, t, child, match, v, depth + 1);
	else
		why(v, "all packets wait in one queue inside %s", name_of(n));
}

static void check_node(struct nl_sock *sk, const struct tc_tree *t, const struct tc_node *n,
		       const struct tc_match *match, struct qdisc_verdict *v, unsigned int depth)
{
	static const char * const fifo[] = {
		"pfifo", "bfifo", "pfifo_head_drop", "fq_codel", "codel", "sfq", "red", "pie",
		"fq_pie", "choke", "hhf", "sfb", "gred", "cake",
	};
	unsigned int i;

	if (depth > 8)
		return;
	if (!strcmp(n->kind, "noqueue")) {
		v->queues = false;
		why(v, "noqueue: nothing waits on this device, so nothing can go first here");
	} else if (!strcmp(n->kind, "mq")) {
		check_mq(sk, t, n, match, v, depth);
	} else if (!strcmp(n->kind, "mqprio")) {
		check_mqprio(n, v);
	} else if (!strcmp(n->kind, "prio") || !strcmp(n->kind, "ets") ||
		   !strcmp(n->kind, "pfifo_fast")) {
		check_bands(sk, t, n, match, v);
	} else if (!strcmp(n->kind, "tbf") || !strcmp(n->kind, "netem")) {
		check_wrapper(sk, t, n, match, v, depth);
	} else if (!strcmp(n->kind, "fq")) {
		v->queues = true;
		if (option(n, FQ_PRIOMAP)) {
			why(v, "%s shares by weight: control packets wait for data", name_of(n));
		} else {
			v->local = QDISC_FIRST_YES;
			why(v, "%s serves them first, by priority", name_of(n));
		}
	} else {
		v->queues = true;
		for (i = 0; i < sizeof(fifo) / sizeof(fifo[0]); i++) {
			if (strcmp(n->kind, fifo[i]))
				continue;
			why(v, "%s does not look at priorities: control packets wait behind data",
			    name_of(n));
			return;
		}
		v->local = QDISC_FIRST_UNKNOWN;
		v->forwarded = QDISC_FIRST_UNKNOWN;
		why(v, "%s is not understood", name_of(n));
	}
}

/**
 * qdisc_check() - do control packets go first on a device
 * @sk: rtnetlink socket, for filters
 * @t: its qdiscs
 * @dev: the device
 * @match: control packets
 * @v: result
 */
void qdisc_check(struct nl_sock *sk, const struct tc_tree *t, const struct qdisc_dev *dev,
		 const struct tc_match *match, struct qdisc_verdict *v)
{
	const struct tc_node *root = tc_root(t);

	memset(v, 0, sizeof(*v));
	if (!root) {
		why(v, dev->up ? "no qdisc" : "the device is down");
		return;
	}
	check_node(sk, t, root, match, v, 0);
}
