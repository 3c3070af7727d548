// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl topology: which hosts share a rack. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "objects.h"
#include "rack_file.h"
#include "record.h"
#include "shufflectl.h"
#include "topology.h"

static const char usage[] =
	"usage: shufflectl topology [show] [ADDRESS]\n"
	"       shufflectl topology {load | check} FILE [FORMAT]\n"
	"       shufflectl topology clear\n"
	"       shufflectl topology install GROUP [--bridge BRIDGE] [--vlan VID] [--route DEV]\n"
	"                  [--no-wait] [--dry-run] [file FILE [FORMAT]] [members HOST...]\n"
	"                  [port PORT [members HOST...]]...\n"
	"       shufflectl topology remove GROUP [--bridge BRIDGE] [--dry-run]\n"
	"\n"
	"FORMAT := { slurm | hadoop | csv }\n"
	"\n"
	"  show   the table of racks of this namespace, as \"load\" reads it; or the line of\n"
	"         it that holds for ADDRESS\n"
	"  load   replace the table; without FORMAT the first line of FILE tells it.\n"
	"         FILE - is standard input\n"
	"  check  say what FILE would load, and load nothing\n"
	"  clear  no table any more\n"
	"  install  packets to the multicast address GROUP leave this machine's bridges by the\n"
	"         ports behind which members are: HOSTs, or those of FILE, or of the table;\n"
	"         with --route, those of this machine leave by DEV\n"
	"  remove  take that out again\n"
	"\n"
	"Groups that are set from then on get their racks from the table, if it knows all\n"
	"members, and the members of each rack have ranks one behind the other.\n";

/* bytes of a request: 16384 ranges with names of 63 bytes */
#define REQUEST_MAX	(2U << 20)

static void print_range(const struct rack_range *r)
{
	char buf[64];

	rack_range_text(r, buf, sizeof(buf));
	if (!ctl.json) {
		out_line("%-18s %s", buf, r->name);
		return;
	}
	out_open(NULL);
	out_str("hosts", buf);
	out_str("rack", r->name);
	out_close();
}

/* The entry of a message of the kernel.  0 or -1. */
static int read_entry(struct nl_msg *msg, struct rack_range *r)
{
	struct nlattr *tb[GENL_MAX_ATTRS], *e[SHUFFLE_A_RACK_MAX + 1];
	struct nlattr *addr;

	if (genl_parse(msg, &shuffle_attr_set_topology, tb) || !tb[SHUFFLE_A_TOPOLOGY_ENTRY] ||
	    nla_parse_nested(e, SHUFFLE_A_RACK_MAX, tb[SHUFFLE_A_TOPOLOGY_ENTRY], NULL))
		return -1;
	memset(r, 0, sizeof(*r));
	r->v6 = e[SHUFFLE_A_RACK_IPV6];
	addr = r->v6 ? e[SHUFFLE_A_RACK_IPV6] : e[SHUFFLE_A_RACK_IPV4];
	if (!addr || nla_len(addr) != (r->v6 ? 16 : 4) || !e[SHUFFLE_A_RACK_NAME] ||
	    !e[SHUFFLE_A_RACK_LENGTH])
		return -1;
	memcpy(r->addr, nla_data(addr), nla_len(addr));
	r->len = nla_get_u32(e[SHUFFLE_A_RACK_LENGTH]);
	nla_strlcpy(r->name, e[SHUFFLE_A_RACK_NAME], sizeof(r->name));
	return 0;
}

/* Ask for the whole table, or for the entry of @address. */
static int ask(const char *address, struct nl_reply *reply)
{
	struct nl_msg *msg;
	uint8_t addr[16];
	struct genl g;
	int err, v6 = 0;

	if (address) {
		v6 = !!strchr(address, ':');
		if (inet_pton(v6 ? AF_INET6 : AF_INET, address, addr) != 1)
			return ctl_usage("\"%s\" is no IP address", address);
	}
	err = genl_open(&g, false);
	if (err)
		return err;
	msg = genl_request(&g, SHUFFLE_CMD_TOPOLOGY_GET, !address);
	if (address)
		nla_put(msg, v6 ? SHUFFLE_A_TOPOLOGY_IPV6 : SHUFFLE_A_TOPOLOGY_IPV4, v6 ? 16 : 4,
			addr);
	err = genl_talk(&g, msg, genl_op(SHUFFLE_CMD_TOPOLOGY_GET), reply);
	genl_close(&g);
	return err;
}

/**
 * topology_table() - the table of racks of this namespace, as a file
 * @f: result, to be freed by rack_file_free()
 *
 * Return: enum ctl_exit.
 */
int topology_table(struct rack_file *f)
{
	struct nl_reply reply;
	unsigned int i;
	int err;

	memset(f, 0, sizeof(*f));
	f->path = "the table of racks";
	err = ask(NULL, &reply);
	if (err)
		return err;
	f->range = calloc(reply.n + 1, sizeof(*f->range));
	if (!f->range)
		err = ctl_error("out of memory");
	for (i = 0; !err && i < reply.n; i++)
		f->n += !read_entry(reply.msg[i], &f->range[f->n]);
	nl_reply_free(&reply);
	return err;
}

static int topology_show(int argc, char **argv)
{
	struct nl_reply reply;
	struct rack_range r;
	unsigned int i;
	int err;

	if (argc > 1)
		return ctl_usage("\"%s\" behind the address means nothing", argv[1]);
	err = ask(argc ? argv[0] : NULL, &reply);
	if (err)
		return err;
	out_begin(false);
	for (i = 0; i < reply.n; i++)
		if (!read_entry(reply.msg[i], &r))
			print_range(&r);
	out_end();
	nl_reply_free(&reply);
	return CTL_OK;
}

static int put_range(struct nl_msg *msg, const struct rack_range *r)
{
	struct nlattr *nest = nla_nest_start(msg, SHUFFLE_A_TOPOLOGY_ENTRY);

	if (!nest || nla_put_string(msg, SHUFFLE_A_RACK_NAME, r->name) ||
	    nla_put(msg, r->v6 ? SHUFFLE_A_RACK_IPV6 : SHUFFLE_A_RACK_IPV4, r->v6 ? 16 : 4,
		    r->addr) ||
	    nla_put_u32(msg, SHUFFLE_A_RACK_LENGTH, r->len))
		return -1;
	nla_nest_end(msg, nest);
	return 0;
}

/* Replace the table by the ranges of @f, or by none. */
static int replace(const struct rack_file *f)
{
	struct nl_msg *msg;
	unsigned int i;
	struct genl g;
	int err;

	err = genl_open(&g, false);
	if (err)
		return err;
	msg = genl_large_request(&g, SHUFFLE_CMD_TOPOLOGY_SET, REQUEST_MAX);
	for (i = 0; f && i < f->n && !err; i++)
		if (put_range(msg, &f->range[i]))
			err = ctl_error("%s: too many hosts for one request", f->path);
	if (err)
		nlmsg_free(msg);
	else
		err = genl_talk(&g, msg, genl_op(SHUFFLE_CMD_TOPOLOGY_SET), NULL);
	genl_close(&g);
	return err;
}

static unsigned int count_racks(const struct rack_file *f)
{
	unsigned int i, k, n = 0;

	for (i = 0; i < f->n; i++) {
		for (k = 0; k < i && strcmp(f->range[k].name, f->range[i].name); k++)
			;
		n += k == i;
	}
	return n;
}

static int read_file(struct rack_file *f, int argc, char **argv)
{
	if (!argc)
		return ctl_usage("a FILE is needed");
	if (argc > 2)
		return ctl_usage("\"%s\" behind the format means nothing", argv[2]);
	return rack_file_read(f, argv[0], argc > 1 ? argv[1] : NULL);
}

static int topology_load(int argc, char **argv)
{
	struct rack_file f;
	int err = read_file(&f, argc, argv);

	if (err)
		return err;
	err = replace(&f);
	if (!err) {
		out_begin(false);
		out_open(NULL);
		out_u64("hosts", f.hosts, OUT_PLAIN);
		out_u64("addresses", f.n, OUT_PLAIN);
		out_u64("racks", count_racks(&f), OUT_PLAIN);
		out_close();
		out_end();
	}
	rack_file_free(&f);
	return err;
}

static int topology_check(int argc, char **argv)
{
	struct rack_file f;
	unsigned int i;
	int err = read_file(&f, argc, argv);

	if (err)
		return err;
	out_begin(false);
	for (i = 0; i < f.n; i++)
		print_range(&f.range[i]);
	out_end();
	rack_file_free(&f);
	return CTL_OK;
}

static int topology_clear(int argc, char **argv)
{
	return argc ? ctl_usage("\"%s\" behind clear means nothing", argv[0]) : replace(NULL);
}

int topology_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", topology_show },
		{ "load", topology_load },
		{ "check", topology_check },
		{ "clear", topology_clear },
		{ "install", topology_install },
		{ "remove", topology_remove },
		{ NULL, NULL },
	};

	return ctl_dispatch("topology", usage, cmds, argc, argv);
}
