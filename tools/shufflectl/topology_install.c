// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shufflectl topology install: packets to a multicast address reach its members, and nobody else.
 *
 * A bridge looks at its entries for addresses while it snoops, and while it knows somebody who asks
 * hosts what they want (a querier).  Else it sends all multicast to all ports, or, where
 * mcast_flood is off, to none.
 *
 * Nothing is remembered but in the kernel: BRIDGE_PROTOCOL in entries and routes, and an
 * alternative name of the bridge for each option that was turned on.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "install_words.h"
#include "out.h"
#include "shufflectl.h"
#include "topology.h"

/**
 * struct todo - an entry that shall be there
 * @e: the entry
 * @there: it is there already
 * @replaces: one that a host's report has made has to go first
 * @done: we have put it there
 */
struct todo {
	struct bridge_entry	e;
	bool			there;
	bool			replaces;
	bool			done;
};

/**
 * struct plan - what is to be done
 * @sk: rtnetlink socket
 * @w: command line
 * @places: of members
 * @todo: entries
 * @n: their number
 * @turn: for each device, options of a bridge that have to be turned on
 * @turned: those that we have turned on
 * @route_there: the route is there already
 */
struct plan {
	struct nl_sock			*sk;
	const struct install_words	*w;
	struct places			places;
	struct todo			*todo;
	unsigned int			n;
	unsigned int			*turn;
	unsigned int			*turned;
	bool				route_there;
};

static int by_port(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;

	if (x->e.bridge != y->e.bridge)
		return x->e.bridge < y->e.bridge ? -1 : 1;
	if (x->e.port != y->e.port)
		return x->e.port < y->e.port ? -1 : 1;
	return x->e.vid - y->e.vid;
}

/* Ports of members, and those that are said, each once. */
static void make_todo(struct plan *p)
{
	const struct bridge_entries *ports = &p->w->ports;
	unsigned int i, n = 0;

	p->n = p->places.n + ports->n;
	p->todo = calloc(p->n + 1, sizeof(*p->todo));
	p->turn = calloc(p->w->links.n + 1, sizeof(*p->turn));
	p->turned = calloc(p->w->links.n + 1, sizeof(*p->turned));
	if (!p->todo || !p->turn || !p->turned) {
		ctl_error("out of memory");
		exit(CTL_ENV);
	}
	for (i = 0; i < p->places.n; i++)
		p->todo[i].e = p->places.place[i].at;
	for (i = 0; i < ports->n; i++)
		p->todo[p->places.n + i].e = ports->entry[i];
	qsort(p->todo, p->n, sizeof(*p->todo), by_port);
	for (i = 0; i < p->n; i++)
		if (!n || by_port(&p->todo[n - 1], &p->todo[i]))
			p->todo[n++] = p->todo[i];
	p->n = n;
}

/* What bridges have already. */
static int compare(struct plan *p)
{
	struct bridge_entries has;
	unsigned int i, k;
	int err = bridge_entries_get(p->sk, &p->w->group, &has);

	for (i = 0; !err && i < p->n; i++)
		for (k = 0; k < has.n; k++) {
			const struct todo other = { .e = has.entry[k] };

			if (by_port(&p->todo[i], &other))
				continue;
			p->todo[i].there = other.e.permanent;
			p->todo[i].replaces = !other.e.permanent;
		}
	free(has.entry);
	return err;
}

/* A bridge without an address asks nobody by IPv6. */
static int check_querier(struct plan *p, const struct bridge_link *br)
{
	bool has = true;
	int err;

	if (!p->w->group.v6 || br->other_querier[1])
		return CTL_OK;
	err = members_link_local(p->sk, br->ifindex, &has);
	if (!err && !has)
		return ctl_error("%s needs a link-local address for IPv6: ip addr add fe80::1/64 dev %s",
				 br->name, br->name);
	return err;
}

/* What has to be turned on at the bridges of the entries. */
static int find_options(struct plan *p)
{
	unsigned int i, k;
	int err = CTL_OK;

	for (i = 0; !err && i < p->w->links.n; i++) {
		const struct bridge_link *l = &p->w->links.link[i];

		for (k = 0; k < p->n && p->todo[k].e.bridge != l->ifindex; k++)
			;
		if (k == p->n)
			continue;
		p->turn[i] = (BRIDGE_SNOOPING | BRIDGE_QUERIER) & ~l->on;
		if (l->on & BRIDGE_SNOOPING && l->other_querier[p->w->group.v6])
			p->turn[i] &= ~BRIDGE_QUERIER;
		err = check_querier(p, l);
	}
	return err;
}

static int find_route(struct plan *p)
{
	int dev[16], i, n;

	if (!p->w->route)
		return CTL_OK;
	n = mcast_route_get(p->sk, &p->w->group, dev, ARRAY_SIZE(dev));
	for (i = 0; i < n; i++)
		if (dev[i] == p->w->route->ifindex)
			p->route_there = true;
	return n < 0 ? CTL_KERNEL : CTL_OK;
}

static bool has_bridge(const struct bridge_links *links)
{
	unsigned int i;

	for (i = 0; i < links->n && !links->link[i].bridge; i++)
		;
	return i < links->n;
}

static int make_plan(struct plan *p, struct install_words *w)
{
	int err = CTL_OK;

	if (w->members.n && !has_bridge(&w->links))
		return ctl_error("there is no bridge here");
	if (w->members.n)
		err = members_find(p->sk, &w->links, w->bridge, w->vid, &w->members, &p->places);
	if (err)
		return err;
	make_todo(p);
	return compare(p) ?: find_options(p) ?: find_route(p);
}

/* Take back what has been done, as far as that goes. */
static void undo(struct plan *p)
{
	unsigned int i;

	for (i = p->n; i-- > 0;)
		if (p->todo[i].done)
			bridge_entry_del(p->sk, &p->w->group, &p->todo[i].e);
	for (i = 0; i < p->w->links.n; i++) {
		if (p->turned[i] & BRIDGE_QUERIER)
			bridge_turn(p->sk, &p->w->links.link[i], BRIDGE_QUERIER, false);
		if (p->turned[i] & BRIDGE_SNOOPING)
			bridge_turn(p->sk, &p->w->links.link[i], BRIDGE_SNOOPING, false);
	}
}

static int turn_on(struct plan *p, unsigned int link, unsigned int option)
{
	int err;

	if (!(p->turn[link] & option))
		return CTL_OK;
	err = bridge_turn(p->sk, &p->w->links.link[link], option, true);
	if (!err)
		p->turned[link] |= option;
	return err;
}

static int put_entries(struct plan *p)
{
	const struct mcast_group *g = &p->w->group;
	bool protocol = p->n && bridge_tells_protocol(p->sk, g, &p->todo[0].e);
	unsigned int i;
	int err = CTL_OK;

	for (i = 0; i < p->n && !err; i++) {
		struct todo *t = &p->todo[i];

		if (t->there)
			continue;
		if (t->replaces)
			err = bridge_entry_del(p->sk, g, &t->e);
		if (!err)
			err = bridge_entry_put(p->sk, g, &t->e, protocol);
		t->done = !err;
	}
	return err;
}

static int carry_out(struct plan *p)
{
	unsigned int i;
	int err = CTL_OK;

	for (i = 0; i < p->w->links.n && !err; i++)
		err = turn_on(p, i, BRIDGE_SNOOPING) ?: turn_on(p, i, BRIDGE_QUERIER);
	if (!err)
		err = put_entries(p);
	if (!err && p->w->route && !p->route_there)
		err = mcast_route_put(p->sk, &p->w->group, p->w->route->ifindex);
	if (err)
		undo(p);
	return err;
}

/* A new querier first gives hosts time to answer: until then the bridge looks at no entries. */
static void wait_for_querier(const struct plan *p)
{
	unsigned int i, ms = 0;
	struct timespec t;

	for (i = 0; i < p->w->links.n; i++)
		if (p->turned[i] & BRIDGE_QUERIER && p->w->links.link[i].answer_ms > ms)
			ms = p->w->links.link[i].answer_ms;
	if (!ms || p->w->no_wait)
		return;
	/* the kernel's timers may be late by an eighth */
	ms += ms / 8 + 50;
	t = (struct timespec) { ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&t, NULL);
}

static const char *option_state(const struct plan *p, unsigned int link, unsigned int option)
{
	if (p->turn[link] & option)
		return "new";
	return p->w->links.link[link].on & option ? "there" : "elsewhere";
}

static void print_members(const struct plan *p, const struct bridge_entry *e)
{
	const struct members *m = &p->w->members;
	unsigned int i;

	out_list("members");
	for (i = 0; i < p->places.n; i++) {
		const struct todo at = { .e = p->places.place[i].at }, here = { .e = *e };

		if (!by_port(&at, &here))
			out_str("members", m->member[p->places.place[i].member].text);
	}
	for (i = 0; i < m->n; i++)
		if (m->member[i].port == e->port)
			out_str("members", m->member[i].text);
	out_list_end();
}

static void print_entry(const struct plan *p, const struct todo *t)
{
	const struct bridge_links *links = &p->w->links;

	out_open(NULL);
	out_title("port", "port %s", bridge_link_by_index(links, t->e.port)->name);
	out_str("bridge", bridge_link_by_index(links, t->e.bridge)->name);
	if (t->e.vid)
		out_u64("vlan", t->e.vid, OUT_PLAIN);
	out_str("entry", t->there ? "there" : "new");
	print_members(p, &t->e);
	out_close();
}

static void print_plan(const struct plan *p)
{
	unsigned int i, k;

	out_begin(false);
	for (i = 0; i < p->w->links.n; i++) {
		const struct bridge_link *l = &p->w->links.link[i];

		for (k = 0; k < p->n && p->todo[k].e.bridge != l->ifindex; k++)
			;
		if (k == p->n)
			continue;
		out_open(NULL);
		out_title("bridge", "bridge %s", l->name);
		out_str("snooping", option_state(p, i, BRIDGE_SNOOPING));
		out_str("querier", option_state(p, i, BRIDGE_QUERIER));
		out_close();
	}
	for (i = 0; i < p->n; i++)
		print_entry(p, &p->todo[i]);
	if (p->w->route) {
		out_open(NULL);
		out_title("route", "route %s", p->w->group.text);
		out_str("dev", p->w->route->name);
		out_str("entry", p->route_there ? "there" : "new");
		out_close();
	}
	out_end();
}

/**
 * topology_install() - the command
 * @argc: words behind it
 * @argv: these words
 *
 * Return: enum ctl_exit.
 */
int topology_install(int argc, char **argv)
{
	struct install_words w = { 0 };
	struct plan p = { .sk = nl_open(NETLINK_ROUTE), .w = &w };
	int err;

	if (!p.sk)
		return CTL_ENV;
	err = install_words_read(&w, p.sk, argc, argv, true) ?: make_plan(&p, &w);
	if (!err && !w.dry_run)
		err = carry_out(&p);
	if (!err && !w.dry_run)
		wait_for_querier(&p);
	if (!err)
		print_plan(&p);
	free(p.places.place);
	free(p.todo);
	free(p.turn);
	free(p.turned);
	install_words_free(&w);
	nl_socket_free(p.sk);
	return err;
}
