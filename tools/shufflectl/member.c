// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Behind which ports of bridges hosts are: the neighbours that the kernel knows tell the hardware
 * address of a host, and bridges have learned where that is.  What is not known is asked for, by
 * ARP or neighbour discovery: that needs no address of our own (ARP), or a link-local one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "member.h"
#include "shufflectl.h"

/* ARP asks three times, a second apart */
#define WAIT_MS		3000U

/* a bridge that is not connected with a member's does not answer */
#define WAIT_OTHERS_MS	1000U

#define POLL_MS		100U

static void *grow(void *array, unsigned int n, size_t size)
{
	/* twice as much at each power of two */
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
	if (!array) {
		ctl_error("out of memory");
		exit(CTL_ENV);
	}
	return array;
}

/**
 * members_add() - one more member
 * @m: members
 * @v6: IPv6 address?
 * @addr: 4 or 16 bytes
 *
 * Return: the member, which may have been there.
 */
struct member *members_add(struct members *m, bool v6, const void *addr)
{
	const size_t len = v6 ? 16 : 4;
	struct member *one;
	unsigned int i;

	for (i = 0; i < m->n; i++)
		if (m->member[i].v6 == v6 && !memcmp(m->member[i].addr, addr, len))
			return &m->member[i];
	m->member = grow(m->member, m->n, sizeof(*m->member));
	one = &m->member[m->n++];
	memset(one, 0, sizeof(*one));
	one->v6 = v6;
	memcpy(one->addr, addr, len);
	inet_ntop(v6 ? AF_INET6 : AF_INET, addr, one->text, sizeof(one->text));
	return one;
}

/**
 * places_add() - a member is behind a port
 * @p: places
 * @member: its number
 * @at: where
 */
void places_add(struct places *p, unsigned int member, const struct bridge_entry *at)
{
	p->place = grow(p->place, p->n, sizeof(*p->place));
	p->place[p->n++] = (struct place) { member, *at };
}

static int dump_addresses(struct nl_sock *sk, struct nl_reply *r)
{
	struct nl_msg *msg = nl_request(RTM_GETADDR, NLM_F_DUMP);
	struct ifaddrmsg m = { 0 };
	struct nl_said said;

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	return nl_talk(sk, msg, r, &said) ? nl_failed(&said, "addresses") : CTL_OK;
}

/**
 * members_link_local() - has a device a link-local IPv6 address?
 * @sk: rtnetlink socket
 * @ifindex: device
 * @has: becomes the answer
 *
 * Return: CTL_OK or CTL_KERNEL.
 */
int members_link_local(struct nl_sock *sk, int ifindex, bool *has)
{
	struct nlattr *tb[IFA_MAX + 1];
	struct nl_reply r;
	unsigned int i;
	int err = dump_addresses(sk, &r);

	*has = false;
	if (err)
		return err;
	for (i = 0; i < r.n; i++) {
		struct nlmsghdr *h = nlmsg_hdr(r.msg[i]);
		struct ifaddrmsg *a = nlmsg_data(h);

		if (a->ifa_family == AF_INET6 && (int)a->ifa_index == ifindex &&
		    !nlmsg_parse(h, sizeof(*a), tb, IFA_MAX, NULL) && tb[IFA_ADDRESS] &&
		    IN6_IS_ADDR_LINKLOCAL((struct in6_addr *)nla_data(tb[IFA_ADDRESS])))
			*has = true;
	}
	nl_reply_free(&r);
	return CTL_OK;
}

/* Members whose addresses this machine has. */
static int find_own(struct nl_sock *sk, struct members *m)
{
	struct nlattr *tb[IFA_MAX + 1], *addr;
	struct nl_reply r;
	unsigned int i, k;
	int err = dump_addresses(sk, &r);

	if (err)
		return err;
	for (i = 0; i < r.n; i++) {
		struct nlmsghdr *h = nlmsg_hdr(r.msg[i]);
		struct ifaddrmsg *a = nlmsg_data(h);

		if (nlmsg_parse(h, sizeof(*a), tb, IFA_MAX, NULL))
			continue;
		addr = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
		for (k = 0; addr && k < m->n; k++)
			if (m->member[k].v6 == (a->ifa_family == AF_INET6) &&
			    !memcmp(m->member[k].addr, nla_data(addr), nla_len(addr)))
				m->member[k].own = true;
	}
	nl_reply_free(&r);
	return CTL_OK;
}

/* Hardware addresses of members, from the tables of neighbours.  Those known on a bridge count. */
static int find_macs(struct nl_sock *sk, const struct bridge_links *links, struct members *m)
{
	struct nl_msg *msg = nl_request(RTM_GETNEIGH, NLM_F_DUMP);
	struct ndmsg nd = { 0 };
	struct nlattr *tb[NDA_MAX + 1];
	const struct bridge_link *l;
	struct nl_said said;
	struct nl_reply r;
	unsigned int i, k;

	nlmsg_append(msg, &nd, sizeof(nd), NLMSG_ALIGNTO);
	if (nl_talk(sk, msg, &r, &said))
		return nl_failed(&said, "neighbours");
	for (k = 0; k < m->n; k++)
		m->member[k].has_mac = false;
	for (i = 0; i < r.n; i++) {
		struct nlmsghdr *h = nlmsg_hdr(r.msg[i]);
		struct ndmsg *n = nlmsg_data(h);

		if (nlmsg_parse(h, sizeof(*n), tb, NDA_MAX, NULL) || !tb[NDA_DST] ||
		    !tb[NDA_LLADDR] || nla_len(tb[NDA_LLADDR]) != 6 ||
		    n->ndm_state & (NUD_INCOMPLETE | NUD_FAILED))
			continue;
		l = bridge_link_by_index(links, n->ndm_ifindex);
		for (k = 0; k < m->n; k++) {
			struct member *one = &m->member[k];

			if (one->v6 != (n->ndm_family == AF_INET6) ||
			    memcmp(one->addr, nla_data(tb[NDA_DST]), nla_len(tb[NDA_DST])) ||
			    (one->has_mac && (!l || !l->bridge)))
				continue;
			one->has_mac = true;
			one->fixed = n->ndm_state & NUD_PERMANENT;
			one->mac_dev = n->ndm_ifindex;
			memcpy(one->mac, nla_data(tb[NDA_LLADDR]), 6);
		}
	}
	nl_reply_free(&r);
	return CTL_OK;
}

static bool is_candidate(const struct bridge_links *links, const struct bridge_link *only,
			 int bridge)
{
	const struct bridge_link *l = bridge_link_by_index(links, bridge);

	return l && l->bridge && (!only || only->ifindex == bridge);
}

/* Where bridges have learned that these are. */
static int find_ports(struct nl_sock *sk, const struct bridge_links *links,
		      const struct bridge_link *only, int vid, struct members *m,
		      struct places *p)
{
	struct nl_msg *msg = nl_request(RTM_GETNEIGH, NLM_F_DUMP);
	struct ndmsg nd = { .ndm_family = AF_BRIDGE };
	struct nlattr *tb[NDA_MAX + 1];
	struct nl_said said;
	struct nl_reply r;
	unsigned int i, k;
	bool vlans;

	nlmsg_append(msg, &nd, sizeof(nd), NLMSG_ALIGNTO);
	if (nl_talk(sk, msg, &r, &said))
		return nl_failed(&said, "addresses that bridges have learned");
	p->n = 0;
	for (k = 0; k < m->n; k++)
		m->member[k].found = 0;
	for (i = 0; i < r.n; i++) {
		struct nlmsghdr *h = nlmsg_hdr(r.msg[i]);
		struct ndmsg *n = nlmsg_data(h);
		struct bridge_entry at = { .permanent = true, .port = n->ndm_ifindex };

		/* its own addresses are permanent */
		if (nlmsg_parse(h, sizeof(*n), tb, NDA_MAX, NULL) || !tb[NDA_MASTER] ||
		    !tb[NDA_LLADDR] || nla_len(tb[NDA_LLADDR]) != 6 ||
		    n->ndm_state & NUD_PERMANENT)
			continue;
		at.bridge = nla_get_u32(tb[NDA_MASTER]);
		if (!is_candidate(links, only, at.bridge) || at.port == at.bridge)
			continue;
		/* one that does not look at VLANs may know the same in each of them */
		vlans = bridge_link_by_index(links, at.bridge)->vlans;
		if (vlans && tb[NDA_VLAN])
			at.vid = nla_get_u16(tb[NDA_VLAN]);
		if (vlans && (!at.vid || (vid && at.vid != vid)))
			continue;
		for (k = 0; k < m->n; k++)
			if (m->member[k].has_mac && !m->member[k].port &&
			    !memcmp(m->member[k].mac, nla_data(tb[NDA_LLADDR]), 6)) {
				m->member[k].found++;
				places_add(p, k, &at);
			}
	}
	nl_reply_free(&r);
	return CTL_OK;
}

static bool is_at(const struct places *p, unsigned int member, int bridge)
{
	unsigned int i;

	for (i = 0; i < p->n; i++)
		if (p->place[i].member == member && p->place[i].at.bridge == bridge)
			return true;
	return false;
}

/* Ask where a member is.  Its answer teaches the bridge. */
static int ask(struct nl_sock *sk, const struct member *m, int bridge)
{
	bool again = m->has_mac && m->mac_dev == bridge;
	struct nl_msg *msg = nl_request(RTM_NEWNEIGH, again ? NLM_F_REPLACE : NLM_F_CREATE);
	struct ndmsg nd = {
		.ndm_family = m->v6 ? AF_INET6 : AF_INET, .ndm_ifindex = bridge,
		.ndm_state = again ? NUD_PROBE : NUD_NONE,
		.ndm_flags = again ? 0 : NTF_USE,
	};
	struct nl_said said;

	nlmsg_append(msg, &nd, sizeof(nd), NLMSG_ALIGNTO);
	nla_put(msg, NDA_DST, m->v6 ? 16 : 4, m->addr);
	if (again)
		nla_put(msg, NDA_LLADDR, 6, m->mac);
	return nl_talk(sk, msg, NULL, &said);
}

/* Ask for all that bridges do not know.  Returns their number; *@err: 0 or -errno of the last. */
static unsigned int ask_all(struct nl_sock *sk, const struct bridge_links *links,
			    const struct bridge_link *only, const struct members *m,
			    const struct places *p, int *err)
{
	unsigned int i, k, n = 0;
	int e;

	*err = 0;
	for (i = 0; i < links->n; i++)
		for (k = 0; k < m->n; k++) {
			const struct member *one = &m->member[k];
			int bridge = links->link[i].ifindex;

			if (!is_candidate(links, only, bridge) || one->own || one->port ||
			    is_at(p, k, bridge) ||
			    (one->has_mac && one->fixed && one->mac_dev == bridge))
				continue;
			e = ask(sk, one, bridge);
			*err = e ? e : *err;
			n++;
		}
	return n;
}

/* Members that no bridge knows, or, with @everywhere, bridges that do not know a member. */
static unsigned int missing(const struct bridge_links *links, const struct bridge_link *only,
			    const struct members *m, const struct places *p, bool everywhere)
{
	unsigned int i, k, n = 0;

	for (k = 0; k < m->n; k++) {
		if (m->member[k].own || m->member[k].port)
			continue;
		n += !m->member[k].found;
		for (i = 0; everywhere && i < links->n; i++)
			n += is_candidate(links, only, links->link[i].ifindex) &&
			     !is_at(p, k, links->link[i].ifindex);
	}
	return n;
}

static int no_port(const struct members *m, int err)
{
	unsigned int k;

	for (k = 0; k < m->n; k++)
		if (!m->member[k].own && !m->member[k].port && !m->member[k].found)
			break;
	if (err)
		ctl_error("no bridge knows where %s is, and asking for it: %s", m->member[k].text,
			  strerror(-err));
	else
		ctl_error("no port of a bridge leads to %s; if one does, say \"port PORT members %s\"",
			  m->member[k].text, m->member[k].text);
	return err == -EPERM ? CTL_KERNEL : CTL_ENV;
}

static int look(struct nl_sock *sk, const struct bridge_links *links,
		const struct bridge_link *only, int vid, struct members *m, struct places *p)
{
	return find_macs(sk, links, m) ?: find_ports(sk, links, only, vid, m, p);
}

/**
 * members_find() - behind which ports members are
 * @sk: rtnetlink socket
 * @links: all devices
 * @only: this bridge, or NULL: all of them
 * @vid: in this VLAN, or 0
 * @m: members; those whose port has been said are not looked for
 * @p: becomes their places, several of a member where there are several bridges
 *
 * Return: CTL_OK, CTL_KERNEL, or CTL_ENV: no bridge leads to one.
 */
int members_find(struct nl_sock *sk, const struct bridge_links *links,
		 const struct bridge_link *only, int vid, struct members *m, struct places *p)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	int err, refused = 0;
	unsigned int ms;

	err = find_own(sk, m) ?: look(sk, links, only, vid, m, p);
	if (err || !ask_all(sk, links, only, m, p, &refused))
		return err ?: missing(links, only, m, p, false) ? no_port(m, 0) : CTL_OK;
	if (refused == -EPERM)
		return missing(links, only, m, p, false) ? no_port(m, refused) : CTL_OK;
	for (ms = 0; ms < WAIT_MS; ms += POLL_MS) {
		nanosleep(&pause, NULL);
		err = look(sk, links, only, vid, m, p);
		if (err || !missing(links, only, m, p, true) ||
		    (ms >= WAIT_OTHERS_MS && !missing(links, only, m, p, false)))
			return err;
	}
	return missing(links, only, m, p, false) ? no_port(m, refused) : CTL_OK;
}
