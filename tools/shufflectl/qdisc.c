// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl qdisc: the command line and what "show" prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "genl.h"
#include "objects.h"
#include "out.h"
#include "parse.h"
#include "qdisc.h"
#include "shufflectl.h"

/* What the module does unless it says otherwise: CS6, its port. */
#define DEFAULT_DSCP	48
#define DEFAULT_PORT	818

static const char usage[] =
	"usage: shufflectl qdisc [show [DEV]]\n"
	"       shufflectl qdisc install DEV [--rate RATE] [--kind KIND] [--force]\n"
	"       shufflectl qdisc remove DEV [--force]\n"
	"\n"
	"  show     do control packets go first, and why (not); without DEV on all devices\n"
	"           that shuffles use, or on all if they use none\n"
	"  install  put control packets (TC_PRIO_CONTROL, or their DSCP) in front of data;\n"
	"           what is there goes on below\n"
	"  remove   put back what was there\n"
	"\n"
	"RATE := what the device is held to, such as 10gbit, if packets wait elsewhere\n"
	"KIND := { auto | prio | ets | mqprio }\n"
	"--force: even if something is lost by that\n";

static int find_dev(struct qdisc_dev *dev, unsigned int n, const char *name,
		    struct qdisc_dev **found)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (strcmp(dev[i].name, name))
			continue;
		*found = &dev[i];
		return CTL_OK;
	}
	return ctl_error("there is no device \"%s\" in this namespace", name);
}

/* How control packets look here. */
static void ask_match(const struct genl *g, int ifindex, struct tc_match *match)
{
	const struct shuffle_attr_set *set = &shuffle_attr_set_config;
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	struct nl_said said;
	struct nl_msg *msg;

	match->dscp = DEFAULT_DSCP;
	match->port = DEFAULT_PORT;
	if (!g->sk)
		return;
	msg = genl_request(g, SHUFFLE_CMD_CONFIG_GET, false);
	nla_put_u32(msg, SHUFFLE_A_CONFIG_IFINDEX, ifindex);
	if (nl_talk(g->sk, msg, &reply, &said))
		return;
	if (reply.n && !genl_parse(reply.msg[0], set, tb)) {
		if (tb[SHUFFLE_A_CONFIG_CONTROL_DSCP])
			match->dscp = genl_u64(set, tb, SHUFFLE_A_CONFIG_CONTROL_DSCP);
		if (tb[SHUFFLE_A_CONFIG_PORT])
			match->port = genl_u64(set, tb, SHUFFLE_A_CONFIG_PORT);
	}
	nl_reply_free(&reply);
}

static void mark_in_use(struct qdisc_dev *dev, unsigned int n, int ifindex, unsigned int depth)
{
	unsigned int i;

	for (i = 0; i < n && depth < 8; i++) {
		if (dev[i].ifindex == ifindex) {
			dev[i].in_use = true;
			if (dev[i].lower)
				mark_in_use(dev, n, dev[i].lower, depth + 1);
		} else if (dev[i].master == ifindex) {
			mark_in_use(dev, n, dev[i].ifindex, depth + 1);
		}
	}
}

/* Devices by which peers are reached, and those below them. */
static void find_in_use(const struct genl *g, struct qdisc_dev *dev, unsigned int n)
{
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	struct nl_said said;
	unsigned int i;

	if (!g->sk || nl_talk(g->sk, genl_request(g, SHUFFLE_CMD_PEER_GET, true), &reply, &said))
		return;
	for (i = 0; i < reply.n; i++)
		if (!genl_parse(reply.msg[i], &shuffle_attr_set_peer, tb) &&
		    tb[SHUFFLE_A_PEER_IFINDEX])
			mark_in_use(dev, n, nla_get_u32(tb[SHUFFLE_A_PEER_IFINDEX]), 0);
	nl_reply_free(&reply);
}

static bool is_ours(const struct tc_tree *t)
{
	return tc_find(t, QDISC_BANDS) || tc_find(t, QDISC_MQ_BANDS(0U));
}

static void print_band(const struct tc_tree *t, const char *key, unsigned int band)
{
	struct tc_counts sum = { 0 };
	unsigned int i;

	for (i = 0; i < t->n; i++) {
		const struct tc_node *n = &t->node[i];
		uint32_t above = TC_H_MAJ(n->parent);

		if (n->parent == TC_H_ROOT || TC_H_MIN(n->parent) != band ||
		    (above != QDISC_BANDS &&
		     (above < QDISC_MQ_BANDS(0U) || above >= QDISC_MQ_CONTROL(0U))))
			continue;
		sum.packets += n->counts.packets;
		sum.bytes += n->counts.bytes;
		sum.drops += n->counts.drops;
		sum.backlog += n->counts.backlog;
	}
	out_open(key);
	out_u64("packets", sum.packets, OUT_PLAIN);
	out_u64("bytes", sum.bytes, OUT_BYTES);
	out_u64("drops", sum.drops, OUT_PLAIN);
	out_u64("backlog", sum.backlog, OUT_BYTES);
	out_close();
}

static void print_installed(const struct tc_tree *t, int ifindex)
{
	struct qdisc_state s;
	bool ours = is_ours(t);

	out_bool("installed", ours);
	if (ours && !qdisc_state_load(ifindex, &s)) {
		const struct tc_node *was = tc_child(s.former, s.at);

		out_str("kind", s.kind);
		if (s.rate)
			out_u64("rate", s.rate, OUT_BPS);
		out_str("former", s.lost ? "lost" : was ? was->kind : "none");
		qdisc_state_free(&s);
	} else if (ours) {
		qdisc_state_free(&s);
		out_null("former", "unknown");
	}
}

static enum qdisc_first overall(const struct qdisc_dev *d, const struct qdisc_verdict *v)
{
	if (!d->forwards || v->local != QDISC_FIRST_YES)
		return v->local;
	return v->forwarded;
}

static void print_first(const char *key, enum qdisc_first first)
{
	if (first == QDISC_FIRST_UNKNOWN)
		out_null(key, "unknown");
	else
		out_bool(key, first == QDISC_FIRST_YES);
}

static int print_dev(struct nl_sock *sk, const struct genl *g, const struct qdisc_dev *d)
{
	struct tc_tree *t = tc_tree_get(sk, d->ifindex);
	const struct tc_node *root;
	struct qdisc_verdict v;
	enum qdisc_first first;
	struct tc_match match;

	if (!t)
		return CTL_KERNEL;
	ask_match(g, d->ifindex, &match);
	qdisc_check(sk, t, d, &match, &v);
	first = overall(d, &v);
	root = tc_root(t);
	out_open(NULL);
	out_title("dev", "%s", d->name);
	print_first("control_first", first);
	out_u64("ifindex", d->ifindex, OUT_PLAIN);
	out_bool("in_use", d->in_use);
	out_u64("tx_queues", d->queues, OUT_PLAIN);
	out_str("qdisc", root ? root->kind : "none");
	out_bool("forwards", d->forwards);
	print_first("first_local", v.local);
	print_first("first_forwarded", v.forwarded);
	print_installed(t, d->ifindex);
	if (ctl.json)
		out_str("reason", v.why);
	else
		out_line("%s", v.why);
	if (ctl.json)
		out_list("warnings");
	if (first != QDISC_FIRST_YES && d->up) {
		char text[240];

		if (!v.queues)
			snprintf(text, sizeof(text), "nothing waits here, so packets wait elsewhere, in their order; shufflectl qdisc install %s --rate RATE makes them wait here",
				 d->name);
		else if (v.local == QDISC_FIRST_YES)
			snprintf(text, sizeof(text), "forwarded control packets have lost their priority and wait behind data; shufflectl qdisc install %s --kind prio looks at the DSCP",
				 d->name);
		else if (first == QDISC_FIRST_UNKNOWN)
			snprintf(text, sizeof(text), "it cannot be told whether control packets go first");
		else
			snprintf(text, sizeof(text), "control packets wait behind data; shufflectl qdisc install %s puts them first",
				 d->name);
		if (ctl.json)
			out_str(NULL, text);
		else
			out_line("WARNING: %s", text);
	}
	if (ctl.json)
		out_list_end();
	if (ctl.stats && is_ours(t)) {
		print_band(t, "control", QDISC_BAND_CONTROL);
		print_band(t, "data", QDISC_BAND_DATA);
	}
	out_close();
	tc_tree_free(t);
	return CTL_OK;
}

static bool interesting(struct nl_sock *sk, const struct qdisc_dev *d, bool *installed)
{
	struct tc_tree *t;

	*installed = false;
	if (d->loopback || !d->up)
		return false;
	t = tc_tree_get(sk, d->ifindex);
	*installed = t && is_ours(t);
	tc_tree_free(t);
	return d->in_use || *installed;
}

static int show_all(struct nl_sock *sk, const struct genl *g, struct qdisc_dev *dev, unsigned int n)
{
	bool any = false, installed;
	int err = CTL_OK;
	unsigned int i;

	for (i = 0; i < n; i++)
		any |= interesting(sk, &dev[i], &installed) && dev[i].in_use;
	for (i = 0; i < n && !err; i++) {
		bool yes = interesting(sk, &dev[i], &installed);

		if (yes || (!any && !dev[i].loopback && dev[i].up))
			err = print_dev(sk, g, &dev[i]);
	}
	return err;
}

static int qdisc_show(int argc, char **argv)
{
	struct qdisc_dev *dev, *one = NULL;
	struct genl g = { 0 };
	struct nl_sock *sk;
	unsigned int n;
	int err;

	if (argc && argv[0][0] == '-')
		return ctl_usage("option \"%s\" is unknown here", argv[0]);
	if (argc > 1)
		return ctl_usage("\"%s\" behind the device means nothing", argv[1]);
	sk = nl_open(NETLINK_ROUTE);
	if (!sk)
		return CTL_ENV;
	dev = qdisc_devices(sk, &n);
	err = dev ? CTL_OK : CTL_ENV;
	if (dev) {
		/* without the module, queues are what they are */
		genl_open(&g, true);
		find_in_use(&g, dev, n);
		if (argc)
			err = find_dev(dev, n, argv[0], &one);
		if (!err) {
			out_begin(false);
			err = argc ? print_dev(sk, &g, one) : show_all(sk, &g, dev, n);
			out_end();
		}
		if (g.sk)
			genl_close(&g);
		free(dev);
	}
	nl_socket_free(sk);
	return err;
}

struct words {
	const char	*dev;
	const char	*kind;
	uint64_t	rate;
	bool		force;
};

static int parse_words(int argc, char **argv, bool install, struct words *w)
{
	static const struct ctl_command kinds[] = {
		{ "auto", NULL }, { "prio", NULL }, { "ets", NULL }, { "mqprio", NULL },
		{ NULL, NULL },
	};
	int i;

	memset(w, 0, sizeof(*w));
	w->kind = "auto";
	for (; argc; argc--, argv++) {
		if (!strcmp(argv[0], "--force") || !strcmp(argv[0], "-f")) {
			w->force = true;
		} else if (install && !strcmp(argv[0], "--rate")) {
			if (argc < 2 || parse_unit(argv[1], OUT_BPS, &w->rate) || w->rate < 8000)
				return ctl_usage("--rate wants %s, 8kbit at least",
						 parse_example(OUT_BPS));
			argc--;
			argv++;
		} else if (install && !strcmp(argv[0], "--kind")) {
			if (argc < 2)
				return ctl_usage("--kind wants auto, prio, ets or mqprio");
			i = ctl_match("kind", argv[1], kinds);
			if (i < 0)
				return CTL_USAGE;
			w->kind = kinds[i].name;
			argc--;
			argv++;
		} else if (argv[0][0] != '-' && !w->dev) {
			w->dev = argv[0];
		} else if (argv[0][0] == '-') {
			return ctl_usage("option \"%s\" is unknown here", argv[0]);
		} else {
			return ctl_usage("\"%s\" behind the device means nothing", argv[0]);
		}
	}
	return w->dev ? CTL_OK : ctl_usage("on which device? give its name");
}

static int change(int argc, char **argv, bool install)
{
	struct qdisc_dev *dev = NULL, *one = NULL;
	struct genl g = { 0 };
	struct tc_match match;
	struct nl_sock *sk;
	struct words w;
	unsigned int n;
	int err;

	err = parse_words(argc, argv, install, &w);
	if (err)
		return err;
	sk = nl_open(NETLINK_ROUTE);
	if (!sk)
		return CTL_ENV;
	dev = qdisc_devices(sk, &n);
	err = dev ? find_dev(dev, n, w.dev, &one) : CTL_ENV;
	if (!err && install) {
		genl_open(&g, true);
		ask_match(&g, one->ifindex, &match);
		if (g.sk)
			genl_close(&g);
		err = qdisc_install(sk, one, w.kind, w.rate, w.force, &match);
	} else if (!err) {
		err = qdisc_remove(sk, one, w.force);
	}
	free(dev);
	nl_socket_free(sk);
	return err;
}

static int qdisc_install_cmd(int argc, char **argv)
{
	return change(argc, argv, true);
}

static int qdisc_remove_cmd(int argc, char **argv)
{
	return change(argc, argv, false);
}

int qdisc_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", qdisc_show },
		{ "install", qdisc_install_cmd },
		{ "remove", qdisc_remove_cmd },
		{ NULL, NULL },
	};

	return ctl_dispatch("qdisc", usage, cmds, argc, argv);
}
