// SPDX-License-Identifier: GPL-2.0-or-later
/* The command lines of "shufflectl topology install" and "remove". */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "install_words.h"
#include "parse.h"
#include "shufflectl.h"
#include "topology.h"

/**
 * struct reader - where we are
 * @w: the result
 * @argc: words that are left
 * @argv: the words
 * @install: or remove
 * @port: members that follow are behind it; 0: they are looked for
 * @any: hosts or ports have been said
 */
struct reader {
	struct install_words	*w;
	int			argc;
	char			**argv;
	bool			install;
	int			port;
	bool			any;
};

static const struct ctl_command keywords[] = {
	{ "file", NULL }, { "members", NULL }, { "port", NULL }, { NULL, NULL },
};

static bool is_keyword(const char *word)
{
	unsigned int i;

	for (i = 0; keywords[i].name; i++)
		if (!strcmp(word, keywords[i].name))
			return true;
	return false;
}

/* A word that is neither an option nor a keyword, or NULL. */
static const char *next_word(struct reader *r)
{
	if (!r->argc || r->argv[0][0] == '-' || is_keyword(r->argv[0]))
		return NULL;
	r->argc--;
	return *r->argv++;
}

static int read_group(struct mcast_group *g, const char *word)
{
	static const uint8_t local[3] = { 224 }, all_nodes[16] = { 0xff, 2, [15] = 1 };
	uint8_t *a = g->addr;

	if (!word)
		return ctl_usage("which multicast address?");
	g->v6 = strchr(word, ':');
	if (inet_pton(g->v6 ? AF_INET6 : AF_INET, word, a) != 1)
		return ctl_usage("\"%s\" is no IP address", word);
	inet_ntop(g->v6 ? AF_INET6 : AF_INET, a, g->text, sizeof(g->text));
	if (g->v6 ? a[0] != 0xff : a[0] >> 4 != 0xe)
		return ctl_usage("%s is no multicast address", g->text);
	/* bridges send these to all ports, whatever their entries say */
	if (!memcmp(a, g->v6 ? all_nodes : local, g->v6 ? 16 : 3))
		return ctl_usage("%s goes to all hosts of a network anyhow", g->text);
	return CTL_OK;
}

static int find_device(const struct bridge_links *links, const char *name,
		       const struct bridge_link **dev)
{
	*dev = name ? bridge_link_by_name(links, name) : NULL;
	if (*dev)
		return CTL_OK;
	return name ? ctl_error("there is no device \"%s\"", name) :
		      ctl_usage("the name of a device is missing");
}

static int read_bridge(struct reader *r)
{
	const char *name = next_word(r);
	int err = find_device(&r->w->links, name, &r->w->bridge);

	return !err && !r->w->bridge->bridge ? ctl_error("%s is no bridge", name) : err;
}

static int read_vlan(struct reader *r)
{
	const char *word = next_word(r);
	uint64_t vid;

	if (!word || parse_u64(word, &vid) || !vid || vid > 4094)
		return ctl_usage("--vlan wants a number from 1 to 4094");
	r->w->vid = vid;
	return CTL_OK;
}

static int read_option(struct reader *r)
{
	const char *word = *r->argv++;

	r->argc--;
	if (!strcmp(word, "--dry-run")) {
		r->w->dry_run = true;
		return CTL_OK;
	}
	if (!strcmp(word, "--bridge"))
		return read_bridge(r);
	if (r->install && !strcmp(word, "--no-wait")) {
		r->w->no_wait = true;
		return CTL_OK;
	}
	if (r->install && !strcmp(word, "--vlan"))
		return read_vlan(r);
	if (r->install && !strcmp(word, "--route"))
		return find_device(&r->w->links, next_word(r), &r->w->route);
	return ctl_usage("option \"%s\" is unknown here", word);
}

/* Those of the group's family: a host may have addresses of both. */
static int take_hosts(struct reader *r, const struct rack_file *f)
{
	const bool v6 = r->w->group.v6;
	struct member *m;
	unsigned int i;
	char buf[64];

	for (i = 0; i < f->n; i++) {
		if (f->range[i].v6 != v6)
			continue;
		if (f->range[i].len != (v6 ? 128 : 32))
			return ctl_error("%s is many addresses, not a host: say which are members",
					 rack_range_text(&f->range[i], buf, sizeof(buf)));
		m = members_add(&r->w->members, v6, f->range[i].addr);
		if (r->port)
			m->port = r->port;
	}
	return CTL_OK;
}

static int read_file(struct reader *r)
{
	const char *path = r->argc && !strcmp(r->argv[0], "-") ? *r->argv++ : NULL;
	struct rack_file f;
	int err;

	if (path)
		r->argc--;
	else
		path = next_word(r);
	if (!path)
		return ctl_usage("the name of a file is missing");
	err = rack_file_read(&f, path, next_word(r));
	if (err)
		return err;
	err = take_hosts(r, &f);
	rack_file_free(&f);
	return err;
}

static int read_members(struct reader *r)
{
	struct rack_file f = { 0 };
	const char *word = next_word(r);
	int err = word ? CTL_OK : ctl_usage("the names of members are missing");

	for (; word && !err; word = next_word(r))
		err = rack_file_words(&f, word);
	if (!err)
		err = take_hosts(r, &f);
	rack_file_free(&f);
	return err;
}

static int read_port(struct reader *r)
{
	const struct bridge_link *port, *br;
	const char *name = next_word(r);
	struct bridge_entry e = { .permanent = true };
	int err = find_device(&r->w->links, name, &port);

	if (err)
		return err;
	br = bridge_link_by_index(&r->w->links, port->master);
	if (!br || !br->bridge)
		return ctl_error("%s is no port of a bridge", name);
	e.bridge = br->ifindex;
	e.port = port->ifindex;
	r->port = port->ifindex;
	bridge_entries_add(&r->w->ports, &e);
	return CTL_OK;
}

static int read_keyword(struct reader *r)
{
	const char *word = *r->argv;

	if (!r->install)
		return ctl_usage("\"%s\" behind the address means nothing", word);
	if (!is_keyword(word))
		return ctl_usage("\"%s\" is none of file, members and port", word);
	r->argc--;
	r->argv++;
	r->any = true;
	if (!strcmp(word, "port"))
		return read_port(r);
	return !strcmp(word, "file") ? read_file(r) : read_members(r);
}

/* What has been said fits together. */
static int check(const struct reader *r)
{
	const struct install_words *w = r->w;
	const struct bridge_link *br;
	unsigned int i;

	for (i = 0; i < w->ports.n; i++) {
		struct bridge_entry *e = &w->ports.entry[i];

		br = bridge_link_by_index(&w->links, e->bridge);
		if (w->bridge && w->bridge != br)
			return ctl_usage("port %s is one of %s, not of %s",
					 bridge_link_by_index(&w->links, e->port)->name, br->name,
					 w->bridge->name);
		if (br->vlans && !w->vid)
			return ctl_usage("%s looks at VLANs: which one? --vlan VID", br->name);
		e->vid = br->vlans ? w->vid : 0;
	}
	return CTL_OK;
}

static int take_table(struct reader *r)
{
	struct rack_file f;
	int err = topology_table(&f);

	if (!err && !f.n)
		err = ctl_error("there is no table of racks: say which hosts are members");
	if (!err)
		err = take_hosts(r, &f);
	rack_file_free(&f);
	return err;
}

/**
 * install_words_read() - read the words behind "install" or "remove"
 * @w: result, to be freed by install_words_free()
 * @sk: rtnetlink socket
 * @argc: number of words
 * @argv: words
 * @install: or remove
 *
 * Return: enum ctl_exit.
 */
int install_words_read(struct install_words *w, struct nl_sock *sk, int argc, char **argv,
		       bool install)
{
	struct reader r = { .w = w, .argc = argc, .argv = argv, .install = install };
	int err;

	memset(w, 0, sizeof(*w));
	err = read_group(&w->group, next_word(&r)) ?: bridge_links_get(sk, &w->links);
	while (!err && r.argc)
		err = r.argv[0][0] == '-' ? read_option(&r) : read_keyword(&r);
	if (err || !install)
		return err;
	/* a host that only sends needs no bridge */
	if (!r.any && !w->route)
		err = take_table(&r);
	if (!err && !w->members.n && !w->ports.n && !w->route)
		err = ctl_error("no member has an %s address", w->group.v6 ? "IPv6" : "IPv4");
	return err ?: check(&r);
}

/**
 * install_words_free() - free what install_words_read() has made
 * @w: words
 */
void install_words_free(struct install_words *w)
{
	free(w->links.link);
	free(w->members.member);
	free(w->ports.entry);
}
