// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl topology remove: take out what "install" has put in. */
#include <stdlib.h>
#include <linux/rtnetlink.h>

#include "install_words.h"
#include "out.h"
#include "shufflectl.h"
#include "topology.h"

#define ROUTES_MAX	16

static bool is_permanent(const struct bridge_entry *e)
{
	return e->permanent && e->port != e->bridge;
}

/* Where the kernel does not note whose an entry is: a permanent one. */
static bool is_ours(const struct bridge_entry *e, bool protocol)
{
	return is_permanent(e) && (!protocol || e->protocol == BRIDGE_PROTOCOL);
}

static void print_entry(const struct install_words *w, const struct bridge_entry *e)
{
	const struct bridge_link *port = bridge_link_by_index(&w->links, e->port);
	const struct bridge_link *br = bridge_link_by_index(&w->links, e->bridge);

	out_open(NULL);
	out_title("port", "port %s", port ? port->name : "?");
	out_str("bridge", br ? br->name : "?");
	if (e->vid)
		out_u64("vlan", e->vid, OUT_PLAIN);
	out_str("entry", "gone");
	out_close();
}

static int remove_entries(struct nl_sock *sk, const struct install_words *w)
{
	struct bridge_entries has;
	unsigned int i;
	bool protocol;
	int err = bridge_entries_get(sk, &w->group, &has);

	protocol = !err && has.n && bridge_tells_protocol(sk, &w->group, &has.entry[0]);
	for (i = 0; !err && i < has.n; i++) {
		if (!is_ours(&has.entry[i], protocol) ||
		    (w->bridge && w->bridge->ifindex != has.entry[i].bridge))
			continue;
		if (!w->dry_run)
			err = bridge_entry_del(sk, &w->group, &has.entry[i]);
		if (!err)
			print_entry(w, &has.entry[i]);
	}
	free(has.entry);
	return err;
}

static int remove_routes(struct nl_sock *sk, const struct install_words *w)
{
	int dev[ROUTES_MAX], i, n, err = CTL_OK;
	const struct bridge_link *l;

	if (w->bridge)
		return CTL_OK;
	n = mcast_route_get(sk, &w->group, dev, ROUTES_MAX);
	for (i = 0; i < n && !err; i++) {
		if (!w->dry_run)
			err = mcast_route_del(sk, &w->group, dev[i]);
		if (err)
			break;
		l = bridge_link_by_index(&w->links, dev[i]);
		out_open(NULL);
		out_title("route", "route %s", w->group.text);
		out_str("dev", l ? l->name : "?");
		out_str("entry", "gone");
		out_close();
	}
	return n < 0 ? CTL_KERNEL : err;
}

/* Of all entries, and those for our address: does a bridge need its options for others' sake? */
static bool is_needed(const struct bridge_entries *all, const struct bridge_entries *group,
		      int bridge, bool protocol)
{
	unsigned int i, n = 0, ours = 0;

	for (i = 0; i < all->n; i++)
		n += all->entry[i].bridge == bridge && is_permanent(&all->entry[i]);
	/* in a dry run they are still there */
	for (i = 0; i < group->n; i++)
		ours += group->entry[i].bridge == bridge && is_ours(&group->entry[i], protocol);
	return n > ours;
}

static int turn_off(struct nl_sock *sk, const struct install_words *w,
		    const struct bridge_link *br)
{
	int err = CTL_OK;

	if (!w->dry_run && br->ours & BRIDGE_QUERIER)
		err = bridge_turn(sk, br, BRIDGE_QUERIER, false);
	if (!err && !w->dry_run && br->ours & BRIDGE_SNOOPING)
		err = bridge_turn(sk, br, BRIDGE_SNOOPING, false);
	if (err)
		return err;
	out_open(NULL);
	out_title("bridge", "bridge %s", br->name);
	if (br->ours & BRIDGE_SNOOPING)
		out_str("snooping", "gone");
	if (br->ours & BRIDGE_QUERIER)
		out_str("querier", "gone");
	out_close();
	return CTL_OK;
}

/* Options that install has turned on, where no entry is left that needs them. */
static int restore_bridges(struct nl_sock *sk, const struct install_words *w)
{
	struct bridge_entries all, group = { 0 };
	unsigned int i;
	bool protocol;
	int err = bridge_entries_get(sk, NULL, &all) ?: bridge_entries_get(sk, &w->group, &group);

	protocol = all.n && bridge_tells_protocol(sk, &w->group, &all.entry[0]);
	for (i = 0; !err && i < w->links.n; i++) {
		const struct bridge_link *l = &w->links.link[i];

		if (l->ours && (!w->bridge || w->bridge == l) &&
		    !is_needed(&all, &group, l->ifindex, protocol))
			err = turn_off(sk, w, l);
	}
	free(all.entry);
	free(group.entry);
	return err;
}

/**
 * topology_remove() - the command
 * @argc: words behind it
 * @argv: these words
 *
 * Return: enum ctl_exit.
 */
int topology_remove(int argc, char **argv)
{
	struct nl_sock *sk = nl_open(NETLINK_ROUTE);
	struct install_words w = { 0 };
	int err;

	if (!sk)
		return CTL_ENV;
	err = install_words_read(&w, sk, argc, argv, false);
	if (!err) {
		out_begin(false);
		err = remove_routes(sk, &w) ?: remove_entries(sk, &w) ?: restore_bridges(sk, &w);
		out_end();
	}
	install_words_free(&w);
	nl_socket_free(sk);
	return err;
}
