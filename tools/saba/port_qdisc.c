// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queues of one output port.
 *
 *   root -> [tbf rate] -> ets -> 1  strict: control packets of shuffles, by DSCP
 *                             -> 2  everything else, with the share that is left
 *                             -> 3  queue 0 of the applications
 *                             -> ...
 *
 * u32 filters on the ets know the DSCP of each level.  A filter is replaced by adding
 * the new one at one of two places of the level and then removing the other: there
 * is no moment without one.  Weights change by one request for all bands.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/netlink.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "program.h"
#include "sabad.h"
#include "tc.h"

/* Handles; 0x5361 is "Sa". */
#define ROOT		0x53610000U
#define BANDS		0x53620000U
#define QUEUE(i)	(0x53630000U + ((i) << 16))

#define BAND_CONTROL	0
#define BAND_REST	1
#define BAND_QUEUE(q)	(2 + (q))

#define PREF_CONTROL	2
#define PREF(level, bank) (16 + 4 * (level) + 2 * (bank))

static uint32_t bands_parent(const struct port *p)
{
	return p->rate ? ROOT | 1 : TC_H_ROOT;
}

/**
 * port_state_name() - a word for it
 * @state: the state
 *
 * Return: the word.
 */
const char *port_state_name(enum port_state state)
{
	static const char *const name[] = { "none", "ours", "foreign", "gone", "failed" };

	return name[state];
}

static int put_tbf(struct nl_sock *sk, const struct port *p, int flags)
{
	uint64_t bytes = p->rate / 8, burst = bytes / 20000;	/* 50 us */
	struct tc_tbf_qopt q = { .limit = p->limit };
	struct nl_msg *opt = nl_request(0, 0);
	int err;

	/* small: tbf cuts up super-packets that are larger */
	if (burst < 3100)
		burst = 3100;
	if (burst > 1 << 20)
		burst = 1 << 20;
	q.rate.linklayer = TC_LINKLAYER_ETHERNET;
	q.rate.rate = bytes < UINT32_MAX ? bytes : UINT32_MAX;
	nla_put(opt, TCA_TBF_PARMS, sizeof(q), &q);
	nla_put_u32(opt, TCA_TBF_BURST, burst);
	if (bytes >= UINT32_MAX)
		nla_put_u64(opt, TCA_TBF_RATE64, bytes);
	err = tc_qdisc_put(sk, p->ifindex, TC_H_ROOT, ROOT, "tbf", nlmsg_data(nlmsg_hdr(opt)),
			   nlmsg_datalen(nlmsg_hdr(opt)), flags);
	nlmsg_free(opt);
	return err;
}

/* The rate of a tbf is the configured one. */
static bool same_rate(const struct port *p, const struct tc_node *tbf)
{
	struct tc_tbf_qopt q = { 0 };
	uint64_t bytes = 0;
	struct nlattr *a;
	int rem;

	nla_for_each_attr(a, tbf->options, (int)tbf->options_len, rem) {
		if (nla_type(a) == TCA_TBF_PARMS && nla_len(a) >= (int)sizeof(q))
			memcpy(&q, nla_data(a), sizeof(q));
		else if (nla_type(a) == TCA_TBF_RATE64 && nla_len(a) >= (int)sizeof(bytes))
			bytes = nla_get_u64(a);
	}
	return (bytes ? bytes : q.rate.rate) == p->rate / 8;
}

static int put_fifo(struct nl_sock *sk, const struct port *p, unsigned int band)
{
	struct tc_fifo_qopt q = { .limit = p->limit };

	return tc_qdisc_put(sk, p->ifindex, BANDS | (band + 1), QUEUE(band), "bfifo", &q,
			    sizeof(q), NLM_F_CREATE | NLM_F_REPLACE);
}

/* A band has its queue, which holds what is configured. */
static bool same_fifo(const struct port *p, const struct tc_tree *t, unsigned int band)
{
	const struct tc_node *n = tc_child(t, BANDS | (band + 1));
	struct tc_fifo_qopt q;

	if (!n || n->handle != QUEUE(band) || strcmp(n->kind, "bfifo") ||
	    n->options_len < sizeof(q))
		return false;
	memcpy(&q, n->options, sizeof(q));
	return q.limit == p->limit;
}

static int put_bands(struct nl_sock *sk, const struct port *p, const struct saba_allocation *a,
		     int flags)
{
	struct nl_msg *opt = nl_request(0, 0);
	uint32_t quantum[SABA_QUEUES + 1];
	struct nlattr *nest;
	unsigned int i;
	int err;

	saba_quanta(a, p->capacity, p->queues, quantum);
	nla_put_u8(opt, TCA_ETS_NBANDS, BAND_QUEUE(p->queues));
	nla_put_u8(opt, TCA_ETS_NSTRICT, 1);
	nest = nla_nest_start(opt, TCA_ETS_QUANTA | NLA_F_NESTED);
	for (i = 0; i <= p->queues; i++)
		nla_put_u32(opt, TCA_ETS_QUANTA_BAND, quantum[i]);
	nla_nest_end(opt, nest);
	/* what no filter knows: by priority control, or everything else */
	nest = nla_nest_start(opt, TCA_ETS_PRIOMAP | NLA_F_NESTED);
	for (i = 0; i <= TC_PRIO_MAX; i++)
		nla_put_u8(opt, TCA_ETS_PRIOMAP_BAND,
			   i == TC_PRIO_CONTROL ? BAND_CONTROL : BAND_REST);
	nla_nest_end(opt, nest);
	err = tc_qdisc_put(sk, p->ifindex, bands_parent(p), BANDS, "ets",
			   nlmsg_data(nlmsg_hdr(opt)), nlmsg_datalen(nlmsg_hdr(opt)), flags);
	nlmsg_free(opt);
	return err;
}

static int put_dscp(struct nl_sock *sk, const struct port *p, unsigned int pref,
		    unsigned int band, uint32_t dscp)
{
	struct tc_key v4 = { 0, dscp << 18, 0x00fc0000 }, v6 = { 0, dscp << 22, 0x0fc00000 };
	int err;

	err = tc_u32_add(sk, p->ifindex, BANDS, BANDS | (band + 1), pref, ETH_P_IP, &v4, 1);
	if (!err)
		err = tc_u32_add(sk, p->ifindex, BANDS, BANDS | (band + 1), pref + 1, ETH_P_IPV6,
				 &v6, 1);
	return err;
}

static int del_filters(struct nl_sock *sk, const struct port *p, unsigned int pref)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < 2; i++) {
		struct tcmsg m = {
			.tcm_family = AF_UNSPEC, .tcm_ifindex = p->ifindex, .tcm_parent = BANDS,
			.tcm_info = TC_H_MAKE((pref + i) << 16,
					      htons(i ? ETH_P_IPV6 : ETH_P_IP)),
		};
		struct nl_msg *msg = nl_request(RTM_DELTFILTER, 0);
		struct nl_said said;

		nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
		nla_put_string(msg, TCA_KIND, "u32");
		if (nl_talk(sk, msg, NULL, &said) && said.error != -ENOENT)
			err = said.error;
	}
	return err;
}

/* The bands and quanta in the options of an ets. */
static bool same_bands(const struct port *p, const struct tc_node *ets)
{
	uint32_t quantum[SABA_QUEUES + 1];
	struct nlattr *a, *q;
	unsigned int i = 0;
	bool bands = false;
	int rem, left;

	saba_quanta(&p->now, p->capacity, p->queues, quantum);
	nla_for_each_attr(a, ets->options, (int)ets->options_len, rem) {
		if (nla_type(a) == TCA_ETS_NBANDS)
			bands = nla_get_u8(a) == BAND_QUEUE(p->queues);
		if (nla_type(a) != TCA_ETS_QUANTA)
			continue;
		nla_for_each_nested(q, a, left) {
			if (i > p->queues || nla_get_u32(q) != quantum[i])
				return false;
			i++;
		}
	}
	return bands && i == p->queues + 1;
}

static const struct tc_node *our_bands(const struct port *p, const struct tc_tree *t)
{
	const struct tc_node *root = tc_root(t), *ets = root;

	if (root && p->rate) {
		if (root->handle != ROOT || strcmp(root->kind, "tbf"))
			return NULL;
		ets = tc_child(t, ROOT | 1);
	}
	if (!ets || ets->handle != BANDS || strcmp(ets->kind, "ets"))
		return NULL;
	return ets;
}

/**
 * struct found - filters that are there
 * @queue: by level, place and family (IPv4, IPv6); SABA_NO_QUEUE for none
 * @control: DSCP of the strict band by family, -1 for none
 */
struct found {
	uint8_t	queue[SABA_LEVELS][2][2];
	int	control[2];
};

static void found_one(const struct port *p, struct nlmsghdr *h, struct found *f)
{
	struct nlattr *tb[TCA_MAX + 1], *opt[TCA_U32_MAX + 1];
	struct tcmsg *m = nlmsg_data(h);
	unsigned int pref = TC_H_MAJ(m->tcm_info) >> 16, band, six, at;
	struct {
		struct tc_u32_sel sel;
		struct tc_u32_key key;
	} s;

	if (m->tcm_ifindex != p->ifindex || nlmsg_parse(h, sizeof(*m), tb, TCA_MAX, NULL) < 0 ||
	    !tb[TCA_OPTIONS] || nla_parse_nested(opt, TCA_U32_MAX, tb[TCA_OPTIONS], NULL) < 0 ||
	    !opt[TCA_U32_CLASSID])
		return;
	band = TC_H_MIN(nla_get_u32(opt[TCA_U32_CLASSID])) - 1;
	six = pref & 1;
	if (pref >= PREF(0, 0) && pref < PREF(SABA_LEVELS, 0)) {
		at = pref - PREF(0, 0);
		if (band >= BAND_QUEUE(0) && band < BAND_QUEUE(p->queues))
			f->queue[at / 4][at >> 1 & 1][six] = band - BAND_QUEUE(0);
	} else if (pref - six == PREF_CONTROL && band == BAND_CONTROL && opt[TCA_U32_SEL] &&
		   nla_len(opt[TCA_U32_SEL]) >= (int)sizeof(s)) {
		memcpy(&s, nla_data(opt[TCA_U32_SEL]), sizeof(s));
		f->control[six] = ntohl(s.key.val) >> (six ? 22 : 18) & 63;
	}
}

static bool find_filters(struct nl_sock *sk, const struct port *p, struct found *f)
{
	struct nl_reply r;
	unsigned int i;

	memset(f->queue, SABA_NO_QUEUE, sizeof(f->queue));
	f->control[0] = -1;
	f->control[1] = -1;
	if (tc_filters_get(sk, p->ifindex, BANDS, &r))
		return false;
	for (i = 0; i < r.n; i++)
		found_one(p, nlmsg_hdr(r.msg[i]), f);
	nl_reply_free(&r);
	return true;
}

/* Filters are those that were installed. */
static bool same_filters(struct nl_sock *sk, const struct port *p)
{
	struct found f;
	unsigned int l, i;

	if (!find_filters(sk, p, &f))
		return false;
	for (l = 0; l < SABA_LEVELS; l++)
		for (i = 0; i < 2; i++)
			if (f.queue[l][p->bank[l]][i] != p->now.queue[l] ||
			    f.queue[l][!p->bank[l]][i] != SABA_NO_QUEUE)
				return false;
	return f.control[0] == p->control && f.control[1] == p->control;
}

/*
 * Levels and queues of an installation that is there, from filters and quanta.  A level
 * whose filters are at both places, or of which one is missing, is everything else until the
 * port is programmed.
 */
static bool adopt(struct nl_sock *sk, struct port *p, const struct tc_node *ets)
{
	struct nlattr *a, *q;
	unsigned int i = 0, l;
	struct found f;
	int rem, left;

	memset(&p->now, 0, sizeof(p->now));
	memset(p->now.queue, SABA_NO_QUEUE, sizeof(p->now.queue));
	memset(p->bank, 0, sizeof(p->bank));
	nla_for_each_attr(a, ets->options, (int)ets->options_len, rem) {
		if (nla_type(a) != TCA_ETS_QUANTA)
			continue;
		nla_for_each_nested(q, a, left) {
			if (i && i <= p->queues)
				p->now.weight[i - 1] = nla_get_u32(q) / (double)SABA_QUANTUM;
			i++;
		}
	}
	if (!same_bands(p, ets) || !find_filters(sk, p, &f))
		return false;
	for (l = 0; l < SABA_LEVELS; l++) {
		const uint8_t (*at)[2] = f.queue[l];
		unsigned int bank = at[0][0] == SABA_NO_QUEUE && at[0][1] == SABA_NO_QUEUE;

		if (at[bank][0] == at[bank][1] && at[!bank][0] == SABA_NO_QUEUE &&
		    at[!bank][1] == SABA_NO_QUEUE) {
			p->now.queue[l] = at[bank][0];
			p->bank[l] = bank;
			continue;
		}
		if (del_filters(sk, p, PREF(l, 0)) || del_filters(sk, p, PREF(l, 1)))
			return false;
	}
	if (f.control[0] == p->control && f.control[1] == p->control)
		return true;
	return !del_filters(sk, p, PREF_CONTROL) &&
	       (p->control < 0 || !put_dscp(sk, p, PREF_CONTROL, BAND_CONTROL, p->control));
}

/* Has somebody put a queue of another kind into one of our bands? */
static bool foreign_child(const struct port *p, const struct tc_tree *t)
{
	const struct tc_node *n;
	unsigned int i;

	for (i = 0; i < BAND_QUEUE(p->queues); i++) {
		n = tc_child(t, BANDS | (i + 1));
		if (n && n->handle && (n->handle != QUEUE(i) || strcmp(n->kind, "bfifo")))
			return true;
	}
	return false;
}

/* What the configuration says of an installation taken over; packets that wait stay. */
static bool adjust(struct nl_sock *sk, struct port *p, const struct tc_tree *t)
{
	bool rate = !p->rate || same_rate(p, tc_root(t)), limits = true;
	unsigned int i;

	if (!rate && put_tbf(sk, p, 0))
		return false;
	for (i = 0; i < BAND_QUEUE(p->queues); i++) {
		if (same_fifo(p, t, i))
			continue;
		limits = false;
		if (put_fifo(sk, p, i))
			return false;
	}
	if (!rate || !limits)
		sabad_log("port %s: %s of before changed to the configured one", p->name,
			  rate ? "limit" : limits ? "rate" : "rate and limit");
	return true;
}

static bool install(struct nl_sock *sk, struct port *p)
{
	const int flags = NLM_F_CREATE | NLM_F_EXCL;
	unsigned int i;

	memset(&p->now, 0, sizeof(p->now));
	memset(p->now.queue, SABA_NO_QUEUE, sizeof(p->now.queue));
	memset(p->bank, 0, sizeof(p->bank));
	if ((p->rate && put_tbf(sk, p, flags)) || put_bands(sk, p, &p->now, NLM_F_CREATE))
		return false;
	for (i = 0; i < BAND_QUEUE(p->queues); i++)
		if (put_fifo(sk, p, i))
			return false;
	return p->control < 0 || !put_dscp(sk, p, PREF_CONTROL, BAND_CONTROL, p->control);
}

/**
 * port_open() - find the device, and install the queues or take them over
 * @sk: rtnetlink socket
 * @p: port
 * @control: DSCP of the strict band, -1 for none
 * @again: also where somebody else was before
 *
 * What somebody has installed there is left alone.  The result is in @p->state.
 */
void port_open(struct nl_sock *sk, struct port *p, int control, bool again)
{
	enum port_state before = p->state;
	const struct tc_node *root, *ets;
	struct tc_tree *t;

	if (p->state == PORT_OURS || (p->state == PORT_FOREIGN && !again))
		return;
	p->ifindex = if_nametoindex(p->name);
	if (!p->ifindex) {
		p->state = PORT_GONE;
		if (before != PORT_GONE)
			sabad_log("port %s: there is no such device; it will be looked for again",
				  p->name);
		return;
	}
	t = tc_tree_get(sk, p->ifindex);
	if (!t) {
		p->state = PORT_FAILED;
		return;
	}
	root = tc_root(t);
	ets = our_bands(p, t);
	p->control = control;
	if (ets && foreign_child(p, t)) {
		p->state = PORT_FOREIGN;
		sabad_log("port %s: somebody has put a queue of another kind into our bands: left "
			  "alone; \"tc qdisc del dev %s root\" and \"shuffle-saba reload\" hand the "
			  "port over", p->name, p->name);
	} else if (ets && adopt(sk, p, ets) && adjust(sk, p, t)) {
		p->state = PORT_OURS;
		p->adopted = true;
		sabad_log("port %s: queues taken over as they are", p->name);
	} else if (root && root->handle && root->handle != ROOT && root->handle != BANDS) {
		p->state = PORT_FOREIGN;
		sabad_log("port %s: somebody has installed a qdisc %s: left alone; \"tc qdisc del "
			  "dev %s root\" and \"shuffle-saba reload\" hand the port over",
			  p->name, root->kind, p->name);
	} else {
		/* an installation of ours that is not as this configuration wants it */
		if (root && root->handle)
			tc_qdisc_del(sk, p->ifindex, TC_H_ROOT, root->handle);
		p->adopted = false;
		p->state = install(sk, p) ? PORT_OURS : PORT_FAILED;
		if (p->state == PORT_OURS)
			sabad_log("port %s: %u queues installed", p->name, p->queues);
		else if (before != PORT_FAILED)
			sabad_log("port %s: will be tried again", p->name);
	}
	tc_tree_free(t);
	p->dirty = true;
	p->look = false;
}

/**
 * port_program() - set weights, and which level is in which queue
 * @sk: rtnetlink socket
 * @p: port, PORT_OURS
 * @a: what it is to do, saba_keep_queues()
 *
 * Queues of levels that are not present are without filters: their packets are
 * everything else.
 *
 * Return: true if done; else @p->state says what is wrong.
 */
bool port_program(struct nl_sock *sk, struct port *p, const struct saba_allocation *a)
{
	struct saba_allocation next = *a;
	unsigned int l;
	int err = 0;

	if (memcmp(next.weight, p->now.weight, sizeof(next.weight)))
		err = put_bands(sk, p, &next, 0);
	for (l = 0; l < SABA_LEVELS && !err; l++) {
		unsigned int other = !p->bank[l];

		if (next.queue[l] == p->now.queue[l])
			continue;
		if (next.queue[l] != SABA_NO_QUEUE) {
			err = put_dscp(sk, p, PREF(l, other), BAND_QUEUE(next.queue[l]),
				       SABAD_DSCP(l));
			if (err)
				break;
		}
		if (p->now.queue[l] != SABA_NO_QUEUE)
			err = del_filters(sk, p, PREF(l, p->bank[l]));
		p->bank[l] = other;
		p->now.queue[l] = next.queue[l];
	}
	p->programmed++;
	if (!err) {
		p->now = next;
		p->adopted = false;
		return true;
	}
	/* what is there now is not known: look, and then again */
	p->look = true;
	p->state = PORT_FAILED;
	sabad_log("port %s: not programmed; will be tried again", p->name);
	return false;
}

/* Everything is as it was installed and programmed. */
static bool unchanged(struct nl_sock *sk, const struct port *p, const struct tc_tree *t,
		      const struct tc_node *ets)
{
	unsigned int i;

	if (!same_bands(p, ets) || (p->rate && !same_rate(p, tc_root(t))))
		return false;
	for (i = 0; i < BAND_QUEUE(p->queues); i++)
		if (!same_fifo(p, t, i))
			return false;
	return same_filters(sk, p);
}

/**
 * port_look() - has somebody else changed the port
 * @sk: rtnetlink socket
 * @p: port
 *
 * That is said once, and not undone.
 */
void port_look(struct nl_sock *sk, struct port *p)
{
	int ifindex = if_nametoindex(p->name);
	const struct tc_node *ets;
	struct tc_tree *t;

	p->look = false;
	if (p->state == PORT_OURS && ifindex != p->ifindex) {
		sabad_log("port %s: the device is gone", p->name);
		p->state = PORT_GONE;
		p->ifindex = 0;
	}
	if (p->state != PORT_OURS)
		return;
	t = tc_tree_get(sk, p->ifindex);
	if (!t)
		return;
	ets = our_bands(p, t);
	if (ets && unchanged(sk, p, t, ets)) {
		tc_tree_free(t);
		return;
	}
	/* a device that goes has no queues any more, and its name a little longer: the dumps have
	 * waited for its end
	 */
	if (if_nametoindex(p->name) != (unsigned int)p->ifindex) {
		sabad_log("port %s: the device is gone", p->name);
		p->state = PORT_GONE;
		p->ifindex = 0;
	} else {
		sabad_log("port %s: somebody else has %s its queues: left alone until "
			  "\"shuffle-saba reload\"", p->name, ets ? "changed" : "replaced");
		p->state = PORT_FOREIGN;
	}
	tc_tree_free(t);
}

/**
 * port_close() - remove the queues
 * @sk: rtnetlink socket
 * @p: port
 *
 * Only what is still ours is removed; what the kernel had by itself comes back.
 *
 * Return: true if nothing of ours is left.
 */
bool port_close(struct nl_sock *sk, struct port *p)
{
	const struct tc_node *root;
	struct tc_tree *t;
	bool done = true;

	p->ifindex = if_nametoindex(p->name);
	if (!p->ifindex)
		return true;
	t = tc_tree_get(sk, p->ifindex);
	if (!t)
		return false;
	root = tc_root(t);
	if (root && (root->handle == ROOT || root->handle == BANDS))
		done = !tc_qdisc_del(sk, p->ifindex, TC_H_ROOT, root->handle);
	tc_tree_free(t);
	p->state = PORT_NONE;
	return done;
}
