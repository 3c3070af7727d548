// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl overlay: servers that pass packets on by the filters that these carry. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "objects.h"
#include "parse.h"
#include "record.h"
#include "shufflectl.h"

static const char usage[] =
	"usage: shufflectl overlay [show]\n"
	"       shufflectl overlay load FILE\n"
	"       shufflectl overlay clear\n"
	"\n"
	"  show   the overlay of this namespace, as \"load\" reads it\n"
	"  load   replace it; FILE - is standard input\n"
	"  clear  no overlay any more\n"
	"\n"
	"FILE has one of these a line:\n"
	"  server N                      our own number in the topology\n"
	"  copies                        a packet goes to each neighbour in its filter; else it\n"
	"                                is dropped if there are several\n"
	"  neighbour N ADDRESS LOCAL     a server to which packets can be passed on, and our\n"
	"                                address on the link to it\n"
	"  path ADDRESS hops N bits N hashes N salt N filter HEX\n"
	"                                packets to this member carry the filter\n"
	"\n"
	"Groups that are set from then on use the paths.  Packets with a filter are taken\n"
	"from neighbours only, who are believed about the members that these come from.\n"
	"shuffle-plan --overlay makes such files.\n";

/* Bytes of a request: 4096 paths with filters of 1024 bits */
#define REQUEST_MAX	(2U << 20)
/* Bytes of a line: a filter has 256 digits */
#define LINE_BYTES	512
#define WORDS		12
#define FILTER_BYTES	128

/* ---- show ---- */

static void print_self(struct nlattr **tb)
{
	bool copies = tb[SHUFFLE_A_OVERLAY_COPIES] && nla_get_u8(tb[SHUFFLE_A_OVERLAY_COPIES]);

	if (ctl.json) {
		out_open(NULL);
		out_u64("server", nla_get_u32(tb[SHUFFLE_A_OVERLAY_SERVER]), OUT_PLAIN);
		out_bool("copies", copies);
		out_close();
		return;
	}
	out_line("server %u", nla_get_u32(tb[SHUFFLE_A_OVERLAY_SERVER]));
	if (copies)
		out_line("copies");
}

static void print_neighbour(struct nlattr *nest)
{
	const struct shuffle_attr_set *set = &shuffle_attr_set_overlay_neighbour;
	struct nlattr *tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_MAX + 1];
	char buf[INET6_ADDRSTRLEN], buf2[INET6_ADDRSTRLEN];
	const char *addr, *local;

	if (nla_parse_nested(tb, SHUFFLE_A_OVERLAY_NEIGHBOUR_MAX, nest, NULL) ||
	    !tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_SERVER])
		return;
	addr = record_address(set, tb, SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV4,
			      SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV6, buf, sizeof(buf));
	local = record_address(set, tb, SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV4,
			       SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV6, buf2, sizeof(buf2));
	if (!ctl.json) {
		out_line("neighbour %u %s %s", nla_get_u32(tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_SERVER]),
			 addr, local);
		return;
	}
	out_open(NULL);
	out_u64("neighbour", nla_get_u32(tb[SHUFFLE_A_OVERLAY_NEIGHBOUR_SERVER]), OUT_PLAIN);
	out_str("address", addr);
	out_str("local", local);
	out_close();
}

static void print_path(struct nlattr *nest)
{
	struct nlattr *tb[SHUFFLE_A_OVERLAY_PATH_MAX + 1], *a;
	char buf[INET6_ADDRSTRLEN], filter[2 * FILTER_BYTES + 1] = "";
	const unsigned char *p;
	const char *addr;
	int i;

	if (nla_parse_nested(tb, SHUFFLE_A_OVERLAY_PATH_MAX, nest, NULL) ||
	    !tb[SHUFFLE_A_OVERLAY_PATH_HOPS] || !tb[SHUFFLE_A_OVERLAY_PATH_BITS] ||
	    !tb[SHUFFLE_A_OVERLAY_PATH_HASHES] || !tb[SHUFFLE_A_OVERLAY_PATH_SALT] ||
	    !tb[SHUFFLE_A_OVERLAY_PATH_FILTER])
		return;
	addr = record_address(&shuffle_attr_set_overlay_path, tb, SHUFFLE_A_OVERLAY_PATH_IPV4,
			      SHUFFLE_A_OVERLAY_PATH_IPV6, buf, sizeof(buf));
	a = tb[SHUFFLE_A_OVERLAY_PATH_FILTER];
	p = nla_data(a);
	for (i = 0; i < nla_len(a) && i < FILTER_BYTES; i++)
		snprintf(filter + 2 * i, 3, "%02x", p[i]);
	if (!ctl.json) {
		out_line("path %s hops %u bits %u hashes %u salt %u filter %s", addr,
			 nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_HOPS]),
			 nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_BITS]),
			 nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_HASHES]),
			 nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_SALT]), filter);
		return;
	}
	out_open(NULL);
	out_str("path", addr);
	out_u64("hops", nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_HOPS]), OUT_PLAIN);
	out_u64("bits", nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_BITS]), OUT_PLAIN);
	out_u64("hashes", nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_HASHES]), OUT_PLAIN);
	out_u64("salt", nla_get_u32(tb[SHUFFLE_A_OVERLAY_PATH_SALT]), OUT_PLAIN);
	out_str("filter", filter);
	out_close();
}

static bool print_one(struct nl_msg *msg)
{
	struct nlattr *tb[GENL_MAX_ATTRS];

	if (genl_parse(msg, &shuffle_attr_set_overlay, tb))
		return false;
	if (tb[SHUFFLE_A_OVERLAY_NEIGHBOUR])
		print_neighbour(tb[SHUFFLE_A_OVERLAY_NEIGHBOUR]);
	else if (tb[SHUFFLE_A_OVERLAY_PATH])
		print_path(tb[SHUFFLE_A_OVERLAY_PATH]);
	else if (tb[SHUFFLE_A_OVERLAY_SERVER])
		print_self(tb);
	return true;
}

static int fill_nothing(struct nl_msg *msg, int argc, char **argv)
{
	(void)msg;
	return argc ? ctl_usage("\"%s\" behind show means nothing", argv[0]) : CTL_OK;
}

static int overlay_show(int argc, char **argv)
{
	return record_show(SHUFFLE_CMD_OVERLAY_GET, fill_nothing, print_one, NULL, argc, argv);
}

/* ---- load ---- */

static int put_address(struct nl_msg *msg, const char *word, int v4, int v6)
{
	bool is_v6 = strchr(word, ':');
	unsigned char bytes[16];

	if (inet_pton(is_v6 ? AF_INET6 : AF_INET, word, bytes) != 1)
		return ctl_usage("\"%s\" is no IP address", word);
	nla_put(msg, is_v6 ? v6 : v4, is_v6 ? 16 : 4, bytes);
	return CTL_OK;
}

static int put_number(struct nl_msg *msg, int type, const char *word)
{
	uint64_t v;

	if (parse_u64(word, &v) || v > UINT32_MAX)
		return ctl_usage("\"%s\" is no number below 2^32", word);
	nla_put_u32(msg, type, v);
	return CTL_OK;
}

static int put_filter(struct nl_msg *msg, const char *word)
{
	unsigned char bytes[FILTER_BYTES];
	size_t n = strlen(word), i;

	if (!n || n % 16 || n > 2 * FILTER_BYTES || strspn(word, "0123456789abcdefABCDEF") != n)
		return ctl_usage("filter: 16 hexadecimal digits for each 64 bits, up to 1024");
	for (i = 0; i < n / 2; i++)
		sscanf(word + 2 * i, "%2hhx", &bytes[i]);
	nla_put(msg, SHUFFLE_A_OVERLAY_PATH_FILTER, n / 2, bytes);
	return CTL_OK;
}

static int put_neighbour(struct nl_msg *msg, char **word, int n)
{
	struct nlattr *nest;
	int err;

	if (n != 4)
		return ctl_usage("neighbour N ADDRESS LOCAL is expected");
	nest = nla_nest_start(msg, SHUFFLE_A_OVERLAY_NEIGHBOUR);
	if (!nest)
		return ctl_error("too many neighbours for one request");
	err = put_number(msg, SHUFFLE_A_OVERLAY_NEIGHBOUR_SERVER, word[1]) ?:
	      put_address(msg, word[2], SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV4,
			  SHUFFLE_A_OVERLAY_NEIGHBOUR_IPV6) ?:
	      put_address(msg, word[3], SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV4,
			  SHUFFLE_A_OVERLAY_NEIGHBOUR_LOCAL_IPV6);
	nla_nest_end(msg, nest);
	return err;
}

static int put_path(struct nl_msg *msg, char **word, int n)
{
	static const struct {
		const char	*name;
		int		type;
	} fields[] = {
		{ "hops", SHUFFLE_A_OVERLAY_PATH_HOPS },
		{ "bits", SHUFFLE_A_OVERLAY_PATH_BITS },
		{ "hashes", SHUFFLE_A_OVERLAY_PATH_HASHES },
		{ "salt", SHUFFLE_A_OVERLAY_PATH_SALT },
	};
	unsigned int k;
	struct nlattr *nest;
	int err, i;

	if (n < 2 || n % 2)
		return ctl_usage("path ADDRESS hops N bits N hashes N salt N filter HEX is expected");
	nest = nla_nest_start(msg, SHUFFLE_A_OVERLAY_PATH);
	if (!nest)
		return ctl_error("too many paths for one request");
	err = put_address(msg, word[1], SHUFFLE_A_OVERLAY_PATH_IPV4, SHUFFLE_A_OVERLAY_PATH_IPV6);
	for (i = 2; !err && i < n; i += 2) {
		for (k = 0; k < ARRAY_SIZE(fields) && strcmp(word[i], fields[k].name); k++)
			;
		if (k < ARRAY_SIZE(fields))
			err = put_number(msg, fields[k].type, word[i + 1]);
		else if (!strcmp(word[i], "filter"))
			err = put_filter(msg, word[i + 1]);
		else
			err = ctl_usage("\"%s\" is none of hops, bits, hashes, salt, filter",
					word[i]);
	}
	if (nla_nest_end(msg, nest) < 0 && !err)
		err = ctl_error("too many paths for one request");
	return err;
}

static int put_words(struct nl_msg *msg, char **word, int n, bool *server)
{
	if (!strcmp(word[0], "server") && n == 2) {
		*server = true;
		return put_number(msg, SHUFFLE_A_OVERLAY_SERVER, word[1]);
	}
	if (!strcmp(word[0], "copies") && n == 1) {
		nla_put_u8(msg, SHUFFLE_A_OVERLAY_COPIES, 1);
		return CTL_OK;
	}
	if (!strcmp(word[0], "neighbour"))
		return put_neighbour(msg, word, n);
	if (!strcmp(word[0], "path"))
		return put_path(msg, word, n);
	return ctl_usage("\"%s\": server N, copies, neighbour or path are expected", word[0]);
}

/* Empty lines and those that begin with # say nothing. */
static int put_file(struct nl_msg *msg, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char line[LINE_BYTES], *word[WORDS + 1], *save;
	unsigned int no = 0;
	int err = CTL_OK, n;
	bool server = false;

	if (!f)
		return ctl_error("%s: %s", path, strerror(errno));
	while (!err && fgets(line, sizeof(line), f)) {
		no++;
		n = 0;
		for (word[0] = strtok_r(line, " \t\r\n", &save); n < WORDS && word[n];
		     word[n] = strtok_r(NULL, " \t\r\n", &save))
			n++;
		if (!n || word[0][0] == '#')
			continue;
		err = put_words(msg, word, n, &server);
		if (err)
			ctl_warn("%s, line %u", path, no);
	}
	if (f != stdin)
		fclose(f);
	/* a file that somebody has failed to write does not clear */
	if (!err && !server)
		err = ctl_error("%s: no line \"server N\"", path);
	return err;
}

/* Replace the overlay by that of a file, or by none. */
static int replace(const char *path)
{
	struct nl_msg *msg;
	struct genl g;
	int err;

	err = genl_open(&g, false);
	if (err)
		return err;
	msg = genl_large_request(&g, SHUFFLE_CMD_OVERLAY_SET, REQUEST_MAX);
	err = path ? put_file(msg, path) : CTL_OK;
	if (err)
		nlmsg_free(msg);
	else
		err = genl_talk(&g, msg, genl_op(SHUFFLE_CMD_OVERLAY_SET), NULL);
	genl_close(&g);
	return err;
}

static int overlay_load(int argc, char **argv)
{
	if (argc != 1)
		return ctl_usage(argc ? "\"%s\" behind FILE means nothing" : "a FILE is needed",
				 argc ? argv[1] : "");
	return replace(argv[0]);
}

static int overlay_clear(int argc, char **argv)
{
	return argc ? ctl_usage("\"%s\" behind clear means nothing", argv[0]) : replace(NULL);
}

int overlay_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", overlay_show },
		{ "load", overlay_load },
		{ "clear", overlay_clear },
		{ NULL, NULL },
	};

	return ctl_dispatch("overlay", usage, cmds, argc, argv);
}
