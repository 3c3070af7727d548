// SPDX-License-Identifier: GPL-2.0-or-later
/* Qdiscs that were there: which can be put somewhere else or back, and how. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/netlink.h>
#include <netlink/attr.h>

#include "qdisc.h"
#include "shufflectl.h"

/* Kinds whose dump is a whole description.  Not red, choke, gred, sfb: tables
 * that they want are not in the dump; not htb, hfsc, drr, qfq, cbs, taprio: they
 * live by their classes, filters or hardware.
 */
static const char * const whole[] = {
	"pfifo", "bfifo", "pfifo_head_drop", "pfifo_fast", "fq", "fq_codel", "codel", "sfq",
	"pie", "fq_pie", "hhf", "noqueue", "tbf", "prio", "ets", "mq", "netem", "cake",
};

static bool is_whole(const char *kind)
{
	unsigned int i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(whole[i], kind))
			return true;
	return false;
}

static const char *node_refused(const struct tc_node *n)
{
	static char why[96];
	const struct tc_netem_qopt *ne = n->options;

	if (!is_whole(n->kind))
		snprintf(why, sizeof(why), "qdisc %s, of which a copy would not be complete",
			 n->kind);
	else if (n->odd)
		snprintf(why, sizeof(why), "qdisc %s with a size table or shared filters", n->kind);
	else if (n->filters)
		snprintf(why, sizeof(why), "qdisc %s with filters", n->kind);
	else if (!strcmp(n->kind, "netem") && n->options_len >= sizeof(*ne) && ne->jitter)
		snprintf(why, sizeof(why), "qdisc netem with a jitter whose distribution is not known");
	else
		return NULL;
	return why;
}

/**
 * qdisc_copy_refused() - what would get lost of a qdisc and those below it
 * @t: tree
 * @top: the qdisc
 *
 * Return: words in static memory, or NULL: nothing.
 */
const char *qdisc_copy_refused(const struct tc_tree *t, const struct tc_node *top)
{
	unsigned int i;

	/* what the kernel has attached, it attaches again */
	if (!top->handle)
		return NULL;
	for (i = 0; i < t->n; i++) {
		const struct tc_node *n = &t->node[i];
		const char *why;

		if (!n->handle || !tc_is_below(t, n, top))
			continue;
		why = node_refused(n);
		if (why)
			return why;
	}
	return NULL;
}

/* A dump of codel's times is rounded down from units of 1.024 us, and what is sent is
 * rounded down once more: a microsecond more gives the same units again.
 */
static void round_up_codel(const struct tc_node *n, void *options)
{
	bool fq = !strcmp(n->kind, "fq_codel");
	struct nlattr *a;
	int rem;

	if (!fq && strcmp(n->kind, "codel"))
		return;
	nla_for_each_attr(a, options, (int)n->options_len, rem) {
		int type = nla_type(a);

		if (nla_len(a) == sizeof(uint32_t) &&
		    (type == (fq ? TCA_FQ_CODEL_TARGET : TCA_CODEL_TARGET) ||
		     type == (fq ? TCA_FQ_CODEL_INTERVAL : TCA_CODEL_INTERVAL) ||
		     type == (fq ? TCA_FQ_CODEL_CE_THRESHOLD : TCA_CODEL_CE_THRESHOLD)))
			++*(uint32_t *)nla_data(a);
	}
}

/**
 * qdisc_copy_put() - create a qdisc as it was, and those below it
 * @sk: rtnetlink socket
 * @t: tree that describes it
 * @top: the qdisc, with a handle
 * @parent: where it goes now
 *
 * Return: 0, or -errno after a message.
 */
int qdisc_copy_put(struct nl_sock *sk, const struct tc_tree *t, const struct tc_node *top,
		   uint32_t parent)
{
	/* what pfifo_fast and mq dump is not what they take */
	bool bare = !strcmp(top->kind, "pfifo_fast") || !strcmp(top->kind, "mq") ||
		    !strcmp(top->kind, "noqueue");
	uint8_t *options = NULL;
	unsigned int i;
	int err;

	if (!bare && top->options) {
		options = malloc(top->options_len + 1);
		if (!options) {
			ctl_error("out of memory");
			return -ENOMEM;
		}
		memcpy(options, top->options, top->options_len);
		round_up_codel(top, options);
	}
	err = tc_qdisc_put(sk, t->ifindex, parent, top->handle, top->kind, options,
			   options ? top->options_len : 0, NLM_F_CREATE | NLM_F_REPLACE);
	free(options);
	for (i = 0; i < t->n && !err; i++) {
		const struct tc_node *n = &t->node[i];

		if (n->handle && n->parent != TC_H_ROOT && TC_H_MAJ(n->parent) == top->handle)
			err = qdisc_copy_put(sk, t, n, n->parent);
	}
	return err;
}
