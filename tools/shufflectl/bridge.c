// SPDX-License-Identifier: GPL-2.0-or-later
/* Bridges of this namespace, over rtnetlink: devices, options, and entries for addresses. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/if_bridge.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "bridge.h"
#include "shufflectl.h"

/* newer than many headers: Linux 6.3 */
#define ENTRY_ATTR_RTPROT	4	/* MDBE_ATTR_RTPROT */

/* Bits of struct bridge_link's @on: what they are called, and their attribute. */
static const struct {
	const char	*name;
	int		attr;
} options[BRIDGE_OPTIONS] = {
	{ "snooping", IFLA_BR_MCAST_SNOOPING },
	{ "querier", IFLA_BR_MCAST_QUERIER },
};

/* An alternative name of a bridge says that install has turned an option on. */
static const char *mark(int ifindex, unsigned int option, char *buf, unsigned int size)
{
	snprintf(buf, size, "shufflectl-%d-%s", ifindex, options[option].name);
	return buf;
}

static void read_marks(struct bridge_link *l, struct nlattr *names)
{
	struct nlattr *a;
	unsigned int i;
	char buf[64];
	int rem;

	nla_for_each_nested(a, names, rem)
		for (i = 0; i < BRIDGE_OPTIONS; i++)
			if (nla_type(a) == IFLA_ALT_IFNAME &&
			    !strcmp(nla_get_string(a), mark(l->ifindex, i, buf, sizeof(buf))))
				l->ours |= 1U << i;
}

static void read_bridge(struct bridge_link *l, struct nlattr *data)
{
	struct nlattr *tb[IFLA_BR_MAX + 1], *q[BRIDGE_QUERIER_MAX + 1];
	unsigned int i;

	if (nla_parse_nested(tb, IFLA_BR_MAX, data, NULL))
		return;
	for (i = 0; i < BRIDGE_OPTIONS; i++)
		if (tb[options[i].attr] && nla_get_u8(tb[options[i].attr]))
			l->on |= 1U << i;
	l->vlans = tb[IFLA_BR_VLAN_FILTERING] && nla_get_u8(tb[IFLA_BR_VLAN_FILTERING]);
	/* hundredths of a second */
	if (tb[IFLA_BR_MCAST_QUERY_RESPONSE_INTVL])
		l->answer_ms = 10 * nla_get_u64(tb[IFLA_BR_MCAST_QUERY_RESPONSE_INTVL]);
	if (tb[IFLA_BR_MCAST_QUERIER_STATE] &&
	    !nla_parse_nested(q, BRIDGE_QUERIER_MAX, tb[IFLA_BR_MCAST_QUERIER_STATE], NULL)) {
		l->other_querier[0] = q[BRIDGE_QUERIER_IP_OTHER_TIMER];
		l->other_querier[1] = q[BRIDGE_QUERIER_IPV6_OTHER_TIMER];
	}
}

static bool read_link(struct bridge_link *l, struct nlmsghdr *h)
{
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct ifinfomsg *m = nlmsg_data(h);

	memset(l, 0, sizeof(*l));
	if (nlmsg_parse(h, sizeof(*m), tb, IFLA_MAX, NULL) || !tb[IFLA_IFNAME])
		return false;
	l->ifindex = m->ifi_index;
	nla_strlcpy(l->name, tb[IFLA_IFNAME], sizeof(l->name));
	l->master = tb[IFLA_MASTER] ? nla_get_u32(tb[IFLA_MASTER]) : 0;
	if (tb[IFLA_LINKINFO] && !nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) &&
	    info[IFLA_INFO_KIND] && !strcmp(nla_get_string(info[IFLA_INFO_KIND]), "bridge")) {
		l->bridge = true;
		if (info[IFLA_INFO_DATA])
			read_bridge(l, info[IFLA_INFO_DATA]);
		if (tb[IFLA_PROP_LIST])
			read_marks(l, tb[IFLA_PROP_LIST]);
	}
	return true;
}

/**
 * bridge_links_get() - all devices of the namespace
 * @sk: rtnetlink socket
 * @links: becomes the devices
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int bridge_links_get(struct nl_sock *sk, struct bridge_links *links)
{
	struct nl_msg *msg = nl_request(RTM_GETLINK, NLM_F_DUMP);
	struct ifinfomsg m = { 0 };
	struct nl_reply r;
	struct nl_said said;
	unsigned int i;

	memset(links, 0, sizeof(*links));
	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	if (nl_talk(sk, msg, &r, &said))
		return nl_failed(&said, "devices");
	links->link = calloc(r.n + 1, sizeof(*links->link));
	if (!links->link) {
		ctl_error("out of memory");
		exit(CTL_ENV);
	}
	for (i = 0; i < r.n; i++)
		links->n += read_link(&links->link[links->n], nlmsg_hdr(r.msg[i]));
	nl_reply_free(&r);
	return CTL_OK;
}

/**
 * bridge_link_by_name() - a device
 * @links: all of them
 * @name: its name
 *
 * Return: the device or NULL.
 */
struct bridge_link *bridge_link_by_name(const struct bridge_links *links, const char *name)
{
	unsigned int i;

	for (i = 0; i < links->n; i++)
		if (!strcmp(links->link[i].name, name))
			return &links->link[i];
	return NULL;
}

/**
 * bridge_link_by_index() - a device
 * @links: all of them
 * @ifindex: its number
 *
 * Return: the device or NULL.
 */
struct bridge_link *bridge_link_by_index(const struct bridge_links *links, int ifindex)
{
	unsigned int i;

	for (i = 0; i < links->n; i++)
		if (links->link[i].ifindex == ifindex)
			return &links->link[i];
	return NULL;
}

static int set_mark(struct nl_sock *sk, const struct bridge_link *br, unsigned int option, bool on)
{
	struct nl_msg *msg = nl_request(on ? RTM_NEWLINKPROP : RTM_DELLINKPROP,
					on ? NLM_F_CREATE | NLM_F_EXCL | NLM_F_APPEND : 0);
	struct ifinfomsg m = { .ifi_index = br->ifindex };
	struct nlattr *nest;
	struct nl_said said;
	char buf[64];

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	nest = nla_nest_start(msg, IFLA_PROP_LIST | NLA_F_NESTED);
	nla_put_string(msg, IFLA_ALT_IFNAME, mark(br->ifindex, option, buf, sizeof(buf)));
	nla_nest_end(msg, nest);
	if (!nl_talk(sk, msg, NULL, &said))
		return CTL_OK;
	return nl_failed(&said, br->name);
}

static int set_option(struct nl_sock *sk, const struct bridge_link *br, unsigned int option,
		      bool on)
{
	struct nl_msg *msg = nl_request(RTM_NEWLINK, 0);
	struct ifinfomsg m = { .ifi_index = br->ifindex };
	struct nlattr *info, *data;
	struct nl_said said;
	char what[64];

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	info = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, "bridge");
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	nla_put_u8(msg, options[option].attr, on);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	if (!nl_talk(sk, msg, NULL, &said))
		return CTL_OK;
	snprintf(what, sizeof(what), "%s of %s", options[option].name, br->name);
	return nl_failed(&said, what);
}

/**
 * bridge_turn() - turn an option on, and remember that; or turn it off, and forget that
 * @sk: rtnetlink socket
 * @br: bridge
 * @option: BRIDGE_SNOOPING or BRIDGE_QUERIER
 * @on: which
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int bridge_turn(struct nl_sock *sk, const struct bridge_link *br, unsigned int option, bool on)
{
	unsigned int i = option == BRIDGE_QUERIER;
	int err;

	if (!on)
		return set_option(sk, br, i, false) ?: set_mark(sk, br, i, false);
	err = set_mark(sk, br, i, true);
	if (err)
		return err;
	err = set_option(sk, br, i, true);
	if (err)
		set_mark(sk, br, i, false);
	return err;
}

/**
 * bridge_entries_add() - one more
 * @to: entries
 * @e: the new one
 */
void bridge_entries_add(struct bridge_entries *to, const struct bridge_entry *e)
{
	struct bridge_entry *more = realloc(to->entry, (to->n + 1) * sizeof(*more));

	if (!more) {
		ctl_error("out of memory");
		exit(CTL_ENV);
	}
	to->entry = more;
	more[to->n++] = *e;
}

static bool is_group(const struct br_mdb_entry *e, const struct mcast_group *g)
{
	if (g->v6)
		return e->addr.proto == htons(ETH_P_IPV6) && !memcmp(&e->addr.u.ip6, g->addr, 16);
	return e->addr.proto == htons(ETH_P_IP) && !memcmp(&e->addr.u.ip4, g->addr, 4);
}

/* An entry of a dump, if it is for @g (NULL: any address) and any sender. */
static void read_entry(int bridge, struct nlattr *info, const struct mcast_group *g,
		       struct bridge_entries *to)
{
	struct br_mdb_entry *e = nla_data(info);
	struct nlattr *tb[MDBA_MDB_EATTR_MAX + 1];
	const int len = NLA_ALIGN(sizeof(*e));
	struct bridge_entry found;

	if (nla_len(info) < (int)sizeof(*e) || (g && !is_group(e, g)))
		return;
	memset(tb, 0, sizeof(tb));
	if (nla_len(info) > len)
		nla_parse(tb, MDBA_MDB_EATTR_MAX, (void *)((char *)e + len), nla_len(info) - len,
			  NULL);
	if (tb[MDBA_MDB_EATTR_SOURCE])
		return;
	found = (struct bridge_entry) {
		.bridge = bridge, .port = e->ifindex, .vid = e->vid,
		.permanent = e->state & MDB_PERMANENT,
		.protocol = tb[MDBA_MDB_EATTR_RTPROT] ? nla_get_u8(tb[MDBA_MDB_EATTR_RTPROT]) : 0,
	};
	bridge_entries_add(to, &found);
}

static int by_port(const void *a, const void *b)
{
	const struct bridge_entry *x = a, *y = b;

	if (x->bridge != y->bridge)
		return x->bridge < y->bridge ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->vid - y->vid;
}

/**
 * bridge_entries_get() - what bridges have for an address
 * @sk: rtnetlink socket
 * @g: the address, or NULL: all addresses
 * @e: becomes the entries, sorted by bridge and port, to be freed
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int bridge_entries_get(struct nl_sock *sk, const struct mcast_group *g, struct bridge_entries *e)
{
	struct nl_msg *msg = nl_request(RTM_GETMDB, NLM_F_DUMP);
	struct br_port_msg m = { .family = AF_BRIDGE };
	struct nlattr *tb[MDBA_MAX + 1], *mdb, *info;
	int rem, rest;
	struct nl_reply r;
	struct nl_said said;
	unsigned int i;

	memset(e, 0, sizeof(*e));
	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	if (nl_talk(sk, msg, &r, &said))
		return said.error == -EOPNOTSUPP ? CTL_OK : nl_failed(&said, "bridges");
	for (i = 0; i < r.n; i++) {
		struct nlmsghdr *h = nlmsg_hdr(r.msg[i]);
		struct br_port_msg *from = nlmsg_data(h);

		if (nlmsg_parse(h, sizeof(*from), tb, MDBA_MAX, NULL) || !tb[MDBA_MDB])
			continue;
		nla_for_each_nested(mdb, tb[MDBA_MDB], rem)
			nla_for_each_nested(info, mdb, rest)
				read_entry(from->ifindex, info, g, e);
	}
	nl_reply_free(&r);
	if (e->n)
		qsort(e->entry, e->n, sizeof(*e->entry), by_port);
	return CTL_OK;
}

static int change_entry(struct nl_sock *sk, int type, int flags, const struct mcast_group *g,
			const struct bridge_entry *e, int protocol, struct nl_said *said)
{
	struct nl_msg *msg = nl_request(type, flags);
	struct br_port_msg m = { .family = AF_BRIDGE, .ifindex = e->bridge };
	struct br_mdb_entry entry = {
		.ifindex = e->port, .vid = e->vid,
		.state = e->permanent ? MDB_PERMANENT : MDB_TEMPORARY,
		.addr.proto = htons(g->v6 ? ETH_P_IPV6 : ETH_P_IP),
	};
	struct nlattr *nest;

	memcpy(&entry.addr.u, g->addr, g->v6 ? 16 : 4);
	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	nla_put(msg, MDBA_SET_ENTRY, sizeof(entry), &entry);
	if (protocol >= 0) {
		nest = nla_nest_start(msg, MDBA_SET_ENTRY_ATTRS | NLA_F_NESTED);
		nla_put_u8(msg, ENTRY_ATTR_RTPROT, protocol);
		nla_nest_end(msg, nest);
	}
	return nl_talk(sk, msg, NULL, said);
}

/**
 * bridge_tells_protocol() - does the kernel note who has made an entry (Linux 6.3)?
 * @sk: rtnetlink socket
 * @g: an address
 * @e: an entry that could be
 *
 * 0 is not allowed, so that nothing is changed.
 */
bool bridge_tells_protocol(struct nl_sock *sk, const struct mcast_group *g,
			   const struct bridge_entry *e)
{
	struct nl_said said;

	return change_entry(sk, RTM_NEWMDB, NLM_F_CREATE | NLM_F_EXCL, g, e, RTPROT_UNSPEC,
			    &said) == -ERANGE;
}

/* Who may do what with an entry: the words in front of the kernel's. */
static int entry_failed(const struct mcast_group *g, const struct bridge_entry *e,
			const struct nl_said *said)
{
	char what[INET6_ADDRSTRLEN + IFNAMSIZ + 16], port[IFNAMSIZ] = "?";

	if_indextoname(e->port, port);
	snprintf(what, sizeof(what), "%s on port %s", g->text, port);
	return nl_failed(said, what);
}

/**
 * bridge_entry_put() - packets to an address shall leave by a port
 * @sk: rtnetlink socket
 * @g: the address
 * @e: the entry
 * @protocol: note that it is ours
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int bridge_entry_put(struct nl_sock *sk, const struct mcast_group *g,
		     const struct bridge_entry *e, bool protocol)
{
	struct nl_said said;

	if (change_entry(sk, RTM_NEWMDB, NLM_F_CREATE | NLM_F_EXCL, g, e,
			 protocol ? BRIDGE_PROTOCOL : -1, &said))
		return entry_failed(g, e, &said);
	return CTL_OK;
}

/**
 * bridge_entry_del() - take an entry out
 * @sk: rtnetlink socket
 * @g: the address
 * @e: the entry
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int bridge_entry_del(struct nl_sock *sk, const struct mcast_group *g,
		     const struct bridge_entry *e)
{
	struct nl_said said;

	if (change_entry(sk, RTM_DELMDB, 0, g, e, -1, &said))
		return entry_failed(g, e, &said);
	return CTL_OK;
}
