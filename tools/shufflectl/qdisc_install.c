// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Put control packets in front of data on a device, and take that back.
 *
 *   at -> [tbf rate] -> prio|ets -> 1: bfifo                 control packets
 *                                -> 2: what was there        all the rest
 *
 * "at" is the root, or the class of a tbf or netem that stays where it is: what
 * shapes or delays all packets must go on to do so.  A device with several
 * transmit queues has that below each class of an mq.  mqprio instead gives
 * control packets a transmit queue of their own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <netlink/attr.h>

#include "out.h"
#include "qdisc.h"
#include "shufflectl.h"

#define CONTROL_BYTES	(1 << 20)
#define DATA_PACKETS	1000

/* Data in band 1, TC_PRIO_CONTROL in band 0. */
static const uint8_t priomap[TC_PRIO_MAX + 1] = { 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1 };

struct plan {
	struct nl_sock		*sk;
	const struct qdisc_dev	*dev;
	const struct tc_match	*match;
	struct qdisc_state	st;
};

static int put(const struct plan *p, uint32_t parent, uint32_t handle, const char *kind,
	       const void *opt, unsigned int len)
{
	return tc_qdisc_put(p->sk, p->dev->ifindex, parent, handle, kind, opt, len,
			    NLM_F_CREATE | NLM_F_REPLACE);
}

static int put_built(const struct plan *p, uint32_t parent, uint32_t handle, const char *kind,
		     struct nl_msg *opt)
{
	struct nlmsghdr *h = nlmsg_hdr(opt);
	int err = put(p, parent, handle, kind, nlmsg_data(h), nlmsg_datalen(h));

	nlmsg_free(opt);
	return err;
}

static int put_tbf(const struct plan *p, uint32_t parent)
{
	uint64_t bytes = p->st.rate / 8;
	struct nl_msg *opt = nl_request(0, 0);
	uint64_t burst = bytes / 20000;		/* 50 us */
	struct tc_tbf_qopt q = { .limit = CONTROL_BYTES };
	uint32_t least = 2 * (p->dev->mtu + 18);

	/* small: tbf cuts up super-packets that are larger, so that a control
	 * packet waits for one packet and not for 64 KB
	 */
	if (burst < least)
		burst = least;
	if (burst > 1 << 20)
		burst = 1 << 20;
	q.rate.linklayer = TC_LINKLAYER_ETHERNET;
	q.rate.rate = bytes < UINT32_MAX ? bytes : UINT32_MAX;
	nla_put(opt, TCA_TBF_PARMS, sizeof(q), &q);
	nla_put_u32(opt, TCA_TBF_BURST, burst);
	if (bytes >= UINT32_MAX)
		nla_put_u64(opt, TCA_TBF_RATE64, bytes);
	return put_built(p, parent, QDISC_ROOT, "tbf", opt);
}

static int put_ets(const struct plan *p, uint32_t parent, uint32_t handle)
{
	struct nl_msg *opt = nl_request(0, 0);
	struct nlattr *map;
	unsigned int i;

	nla_put_u8(opt, TCA_ETS_NBANDS, 2);
	nla_put_u8(opt, TCA_ETS_NSTRICT, 1);
	map = nla_nest_start(opt, TCA_ETS_PRIOMAP | NLA_F_NESTED);
	for (i = 0; i <= TC_PRIO_MAX; i++)
		nla_put_u8(opt, TCA_ETS_PRIOMAP_BAND, priomap[i]);
	nla_nest_end(opt, map);
	return put_built(p, parent, handle, "ets", opt);
}

static int put_prio(const struct plan *p, uint32_t parent, uint32_t handle)
{
	struct tc_prio_qopt q = { .bands = 2 };

	memcpy(q.priomap, priomap, sizeof(priomap));
	return put(p, parent, handle, "prio", &q, sizeof(q));
}

/* All but control packets: what was there, or what would be there. */
static int put_data(const struct plan *p, uint32_t parent, uint32_t handle, uint32_t former)
{
	const struct tc_node *was = tc_child(p->st.former, former), *around;
	struct tc_fifo_qopt q = { .limit = DATA_PACKETS };
	const char *kind = "pfifo";

	if (was && was->handle && !p->st.lost)
		return qdisc_copy_put(p->sk, p->st.former, was, parent);
	around = former == TC_H_ROOT ? NULL : tc_find(p->st.former, TC_H_MAJ(former));
	if (!was && around && !strcmp(around->kind, "tbf")) {
		struct nlattr *a = nla_find(around->options, around->options_len, TCA_TBF_PARMS);

		/* its own queue, which a dump does not show */
		if (a && nla_len(a) >= (int)sizeof(struct tc_tbf_qopt)) {
			q.limit = ((struct tc_tbf_qopt *)nla_data(a))->limit;
			kind = "bfifo";
		}
	} else if (was && !p->st.lost && strcmp(was->kind, "noqueue") && strcmp(was->kind, "mq")) {
		return put(p, parent, handle, was->kind, NULL, 0);
	}
	return put(p, parent, handle, kind, &q, sizeof(q));
}

static int put_bands(const struct plan *p, uint32_t parent, uint32_t bands, uint32_t control,
		     uint32_t data, uint32_t former)
{
	struct tc_fifo_qopt q = { .limit = CONTROL_BYTES };
	int err;

	if (!strcmp(p->st.kind, "ets"))
		err = put_ets(p, parent, bands);
	else
		err = put_prio(p, parent, bands);
	if (!err)
		err = put(p, bands | QDISC_BAND_CONTROL, control, "bfifo", &q, sizeof(q));
	if (!err)
		err = put_data(p, bands | QDISC_BAND_DATA, data, former);
	if (!err)
		err = tc_filter_add(p->sk, p->dev->ifindex, bands, bands | QDISC_BAND_CONTROL,
				    p->match);
	return err;
}

/* Transmit queues in use: an mq shows these, a device may have more. */
static unsigned int queues_of(const struct plan *p)
{
	const struct tc_node *root = tc_root(p->st.former);
	unsigned int i, n = 0;

	if (!root || strcmp(root->kind, "mq"))
		return p->dev->queues;
	for (i = 0; i < p->st.former->n; i++)
		n += p->st.former->node[i].parent != TC_H_ROOT &&
		     TC_H_MAJ(p->st.former->node[i].parent) == root->handle;
	return n ? n : p->dev->queues;
}

static int put_mqprio(const struct plan *p)
{
	struct tc_mqprio_qopt q = { .num_tc = 2, .hw = 0 };
	unsigned int i, n = queues_of(p);
	int err;

	/* traffic class 0: data, on all queues but the last; 1: control; older
	 * kernels want the queues in the order of the classes
	 */
	for (i = 0; i <= TC_PRIO_MAX; i++)
		q.prio_tc_map[i] = !priomap[i];
	q.count[0] = n - 1;
	q.offset[0] = 0;
	q.count[1] = 1;
	q.offset[1] = n - 1;
	err = put(p, TC_H_ROOT, QDISC_BANDS, "mqprio", &q, sizeof(q));
	if (err)
		ctl_warn("mqprio wants two transmit queues in use, see ethtool -l %s",
			 p->dev->name);
	return err;
}

static int build(const struct plan *p)
{
	const struct tc_node *root = tc_root(p->st.former);
	uint32_t at = p->st.at;
	unsigned int i, n = queues_of(p);
	int err;

	if (!strcmp(p->st.kind, "mqprio"))
		return put_mqprio(p);
	if (p->st.multi) {
		err = put(p, TC_H_ROOT, QDISC_ROOT, "mq", NULL, 0);
		for (i = 0; i < n && !err; i++)
			err = put_bands(p, QDISC_ROOT | (i + 1), QDISC_MQ_BANDS(i),
					QDISC_MQ_CONTROL(i), QDISC_MQ_DATA(i),
					root->handle | (i + 1));
		return err;
	}
	if (p->st.rate) {
		err = put_tbf(p, at);
		if (err)
			return err;
		at = QDISC_ROOT | 1;
	}
	return put_bands(p, at, QDISC_BANDS, QDISC_CONTROL, QDISC_DATA, p->st.at);
}

/* What was installed is still there, as far as its handles tell. */
static bool in_place(const struct tc_tree *t, const struct qdisc_state *s)
{
	const struct tc_node *n = tc_child(t, s->at);

	if (!n)
		return false;
	if (s->multi || s->rate)
		return n->handle == QDISC_ROOT;
	return n->handle == QDISC_BANDS && !strcmp(n->kind, s->kind);
}

/* Put back what was there before; in_place() is true, or building it failed. */
static int restore(struct nl_sock *sk, const struct tc_tree *now, const struct qdisc_state *s)
{
	const struct tc_node *was = tc_child(s->former, s->at), *is = tc_child(now, s->at), *around;
	int err = 0;

	/* first, because a handle can be used once only: its copy has it now */
	if (is && is->handle)
		err = tc_qdisc_del(sk, s->ifindex, s->at, is->handle);
	if (err || s->lost)
		return err;
	if (was && was->handle)
		return qdisc_copy_put(sk, s->former, was, s->at);
	around = s->at == TC_H_ROOT ? NULL : tc_find(now, TC_H_MAJ(s->at));
	/* a tbf without its class drops everything until it is changed */
	if (around && !strcmp(around->kind, "tbf"))
		return tc_qdisc_put(sk, s->ifindex, around->parent, around->handle, around->kind,
				    around->options, around->options_len, 0);
	return 0;
}

static int refuse(const struct qdisc_dev *dev, const char *what)
{
	ctl_error("%s has %s; --force replaces it", dev->name, what);
	return CTL_REFUSED;
}

/* Where the bands go, and whether anything would get lost there. */
static int place(struct plan *p, bool force)
{
	const struct tc_node *n = tc_root(p->st.former);
	bool netem_rate = false, tbf = false;
	uint32_t at = TC_H_ROOT;
	const char *why;

	while (n && n->handle && (!strcmp(n->kind, "tbf") || !strcmp(n->kind, "netem"))) {
		if (!strcmp(n->kind, "tbf"))
			tbf = true;
		else if (tc_netem_has_rate(n))
			netem_rate = true;
		at = n->handle | 1;
		n = tc_child(p->st.former, at);
	}
	if (tbf && p->st.rate) {
		if (!force)
			return refuse(p->dev, "a tbf with a rate of its own, which tc can change");
		at = TC_H_ROOT;
	} else if (netem_rate && !tbf) {
		if (!force)
			return refuse(p->dev, "a netem with a rate, inside which nothing can go first");
		at = TC_H_ROOT;
	}
	p->st.at = at;
	n = tc_child(p->st.former, at);
	why = n ? qdisc_copy_refused(p->st.former, n) : NULL;
	if (why && !force)
		return refuse(p->dev, why);
	p->st.lost = why;
	return CTL_OK;
}

static int choose_mqprio(struct plan *p, bool force)
{
	const struct tc_node *root = tc_root(p->st.former);
	bool plain = !root || !root->handle || !strcmp(root->kind, "mq");
	unsigned int i;

	if (queues_of(p) < 2)
		return ctl_usage("mqprio: %s has one transmit queue only", p->dev->name);
	if (p->st.rate)
		return ctl_usage("mqprio: a rate wants one queue; use prio or ets");
	for (i = 0; i < p->st.former->n; i++)
		if (&p->st.former->node[i] != root && p->st.former->node[i].handle)
			plain = false;
	if (!plain && !force)
		return refuse(p->dev, "qdiscs of its own, which would not fit into mqprio");
	if (p->dev->forwards && !force) {
		ctl_error("mqprio sorts by priority, which packets that %s forwards do not have; use prio, or --force",
			  p->dev->name);
		return CTL_REFUSED;
	}
	p->st.at = TC_H_ROOT;
	return CTL_OK;
}

static int choose(struct plan *p, const char *kind, bool force)
{
	const struct tc_node *root = tc_root(p->st.former);
	int err;

	snprintf(p->st.kind, sizeof(p->st.kind), "%s", strcmp(kind, "auto") ? kind : "prio");
	if (!strcmp(p->st.kind, "mqprio"))
		return choose_mqprio(p, force);
	err = place(p, force);
	if (err)
		return err;
	if (!p->st.rate && p->st.at == TC_H_ROOT && root && !strcmp(root->kind, "mq") &&
	    queues_of(p) > 1 && queues_of(p) <= QDISC_MAX_QUEUES && !p->st.lost)
		p->st.multi = true;
	return CTL_OK;
}

static int do_install(struct plan *p)
{
	struct tc_tree *now;
	int err;

	/* first of all: nothing can get lost if this is interrupted */
	err = qdisc_state_save(&p->st);
	if (err)
		return err;
	if (!build(p))
		return CTL_OK;
	now = tc_tree_get(p->sk, p->dev->ifindex);
	if (now && !restore(p->sk, now, &p->st)) {
		qdisc_state_drop(p->dev->ifindex);
		ctl_warn("%s is as it was before", p->dev->name);
	}
	tc_tree_free(now);
	return CTL_KERNEL;
}

static bool already_first(const struct plan *p)
{
	struct qdisc_verdict v;

	qdisc_check(p->sk, p->st.former, p->dev, p->match, &v);
	return v.local == QDISC_FIRST_YES &&
	       (!p->dev->forwards || v.forwarded == QDISC_FIRST_YES);
}

/* Is it installed already?  If otherwise, put back what was there. */
static int clear_way(struct plan *p, const char *kind, bool force, bool *same)
{
	struct qdisc_state old;
	struct tc_tree *now = tc_tree_get(p->sk, p->dev->ifindex);
	int known, err = CTL_OK;

	*same = false;
	if (!now)
		return CTL_KERNEL;
	known = qdisc_state_load(p->dev->ifindex, &old);
	if (known == -EBADMSG && !force) {
		err = CTL_REFUSED;
	} else if (!known && in_place(now, &old)) {
		*same = old.rate == p->st.rate &&
			(!strcmp(kind, "auto") || !strcmp(kind, old.kind));
		if (!*same && restore(p->sk, now, &old))
			err = CTL_KERNEL;
	} else if (tc_find(now, QDISC_ROOT) || tc_find(now, QDISC_BANDS)) {
		if (!force)
			err = refuse(p->dev, "what an earlier install left, of which no state is known");
		else if (tc_root(now)->handle)
			err = tc_qdisc_del(p->sk, p->dev->ifindex, TC_H_ROOT,
					   tc_root(now)->handle);
	}
	qdisc_state_free(&old);
	tc_tree_free(now);
	return err;
}

/**
 * qdisc_install() - put control packets in front of data
 * @sk: rtnetlink socket
 * @dev: device
 * @kind: "prio", "ets", "mqprio", "auto"
 * @rate: bit/s that the device is held to, 0: as fast as it takes packets
 * @force: even if something gets lost
 * @match: control packets
 *
 * Return: enum ctl_exit.
 */
int qdisc_install(struct nl_sock *sk, const struct qdisc_dev *dev, const char *kind,
		  uint64_t rate, bool force, const struct tc_match *match)
{
	struct plan p = { .sk = sk, .dev = dev, .match = match };
	bool same;
	int err, lock;

	lock = qdisc_state_lock();
	if (lock < 0)
		return CTL_ENV;
	p.st.ifindex = dev->ifindex;
	p.st.rate = rate;
	p.st.at = TC_H_ROOT;
	snprintf(p.st.name, sizeof(p.st.name), "%s", dev->name);
	err = clear_way(&p, kind, force, &same);
	if (err || same)
		goto out;
	p.st.former = tc_tree_get(sk, dev->ifindex);
	if (!p.st.former) {
		err = CTL_KERNEL;
		goto out;
	}
	if (!rate && !strcmp(kind, "auto") && already_first(&p)) {
		qdisc_state_drop(dev->ifindex);
		out_line("%s: control packets go first already, nothing was changed", dev->name);
		goto out;
	}
	err = choose(&p, kind, force);
	if (!err)
		err = do_install(&p);
	if (!err && p.st.lost)
		ctl_warn("%s: what was there is lost; qdisc remove will leave the kernel's default",
			 dev->name);
	if (!err && !rate && p.st.at == TC_H_ROOT && tc_root(p.st.former) &&
	    !strcmp(tc_root(p.st.former)->kind, "noqueue"))
		ctl_warn("%s takes packets as fast as they come (noqueue): they wait elsewhere; --rate makes them wait here",
			 dev->name);
out:
	tc_tree_free(p.st.former);
	close(lock);
	return err;
}

/**
 * qdisc_remove() - put back what was there
 * @sk: rtnetlink socket
 * @dev: device
 * @force: forget, if somebody else has changed the device since
 *
 * Return: enum ctl_exit.
 */
int qdisc_remove(struct nl_sock *sk, const struct qdisc_dev *dev, bool force)
{
	struct tc_tree *now = tc_tree_get(sk, dev->ifindex);
	struct qdisc_state s = { 0 };
	int err = CTL_OK, lock, known;
	const struct tc_node *root;

	if (!now)
		return CTL_KERNEL;
	lock = qdisc_state_lock();
	if (lock < 0) {
		tc_tree_free(now);
		return CTL_ENV;
	}
	root = tc_root(now);
	known = qdisc_state_load(dev->ifindex, &s);
	if (!known && in_place(now, &s)) {
		err = restore(sk, now, &s) ? CTL_KERNEL : CTL_OK;
		if (!err) {
			qdisc_state_drop(dev->ifindex);
			if (s.lost)
				ctl_warn("%s: what was there had been replaced by force; it has the kernel's default now",
					 dev->name);
		}
	} else if (known != -ENOENT) {
		if (force) {
			qdisc_state_drop(dev->ifindex);
		} else {
			ctl_error("%s was changed by somebody else since; --force forgets what was installed",
				  dev->name);
			err = CTL_REFUSED;
		}
	} else if (root && (root->handle == QDISC_ROOT || root->handle == QDISC_BANDS)) {
		err = tc_qdisc_del(sk, dev->ifindex, TC_H_ROOT, root->handle) ? CTL_KERNEL : CTL_OK;
		if (!err)
			ctl_warn("%s: what was there before is not known any more; it has the kernel's default now",
				 dev->name);
	} else if (!tc_find(now, QDISC_BANDS)) {
		out_line("%s: nothing is installed", dev->name);
	} else {
		ctl_error("%s: the state of an install is gone; delete its qdisc 5348: with tc",
			  dev->name);
		err = CTL_REFUSED;
	}
	qdisc_state_free(&s);
	tc_tree_free(now);
	close(lock);
	return err;
}
