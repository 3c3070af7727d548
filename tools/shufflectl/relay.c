// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl relay: members of groups that have no process and merge what comes. */
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
#include "shuffle.h"
#include "shufflectl.h"

const char relay_usage[] =
	"usage: shufflectl relay [--daemon] [show] [NAME]\n"
	"       shufflectl relay [--daemon] add NAME rank RANK to RANK... from RANK...\n"
	"                  {members MEMBER... | file FILE} [oper OPER] [sorted]\n"
	"                  [senders N] [records N] [flush TIME] [bytes SIZE] [key FILE]\n"
	"                  [idle TIME] [tree NUMBER]\n"
	"       shufflectl relay [--daemon] del NAME\n"
	"\n"
	"MEMBER := ADDRESS:PORT[@LOCAL]\n"
	"OPER := { none | sum | min | max | count | sumcount | or | and }\n"
	"\n"
	"  add   this machine is member RANK of the group, without a process: in each\n"
	"        operation what comes \"from\" some members, records of key and value, is\n"
	"        merged by key and sent on \"to\" another one, or several\n"
	"  del   and is no more\n"
	"  --daemon  relays of shuffle-relayd(8), which stay; the kernel's will go.  They have\n"
	"        one member behind \"to\", no \"flush\", and only they have \"idle\" and \"tree\"\n"
	"\n"
	"  members, file  all members of the group, in order of rank; FILE has one a line;\n"
	"           LOCAL is our address towards a member, if we have several\n"
	"  sorted   the records of each member are in ascending order of keys: they are\n"
	"           merged while they come; else in a table\n"
	"  senders  so many are to be folded in, or the operation fails\n"
	"  records  room of the table; a full one is sent on\n"
	"  flush    records wait no longer in the table (default: until it is full, or all\n"
	"           have come)\n"
	"  bytes    of the receive and send buffers each, and of memory to merge in, of all\n"
	"           operations together (default 4M)\n"
	"  key      FILE has the group's key: 16 bytes, or 32 hexadecimal digits\n"
	"           (default $SHUFFLE_KEY_FILE)\n"
	"  idle     an operation fails after so long without progress (default 60s)\n"
	"  tree     number of the plan, the same everywhere\n";

/* Bytes of a request: 4096 members */
#define REQUEST_MAX	(256U << 10)
#define LINE_MAX_BYTES	256

static const char *want_name;

/* ---- show ---- */

static int fill_name(struct nl_msg *msg, int argc, char **argv)
{
	(void)msg;
	want_name = argc ? argv[0] : NULL;
	if (argc > 1)
		return ctl_usage("\"%s\" behind the name means nothing", argv[1]);
	return CTL_OK;
}

/* The ranks of an attribute that comes several times. */
static void print_ranks(struct nl_msg *msg, const char *word, int type)
{
	char text[64] = "";
	struct nlattr *a;
	size_t n = 0;
	int rem;

	if (ctl.json)
		out_list(word);
	nlmsg_for_each_attr(a, nlmsg_hdr(msg), GENL_HDRLEN, rem) {
		if (nla_type(a) != type)
			continue;
		if (ctl.json)
			out_u64(NULL, nla_get_u32(a), OUT_PLAIN);
		else if (n < sizeof(text) - 8)
			n += snprintf(text + n, sizeof(text) - n, "%s%u", n ? "," : "",
				      nla_get_u32(a));
	}
	if (ctl.json)
		out_list_end();
	else
		out_str(word, text);
}

static bool print_relay(struct nl_msg *msg)
{
	static const unsigned int skip[] = {
		SHUFFLE_A_RELAY_NAME, SHUFFLE_A_RELAY_FROM, SHUFFLE_A_RELAY_TO, 0
	};
	struct nlattr *tb[GENL_MAX_ATTRS];
	const char *name;

	if (genl_parse(msg, &shuffle_attr_set_relay, tb) || !tb[SHUFFLE_A_RELAY_NAME])
		return false;
	name = nla_get_string(tb[SHUFFLE_A_RELAY_NAME]);
	if (want_name && strcmp(name, want_name))
		return false;
	out_open(NULL);
	out_title("name", "relay %s", name);
	print_ranks(msg, "from", SHUFFLE_A_RELAY_FROM);
	print_ranks(msg, "to", SHUFFLE_A_RELAY_TO);
	record_attrs(msg, genl_op(SHUFFLE_CMD_RELAY_GET), tb, skip);
	out_close();
	return true;
}

static int relay_show(int argc, char **argv)
{
	return record_show(SHUFFLE_CMD_RELAY_GET, fill_name, print_relay,
			   argc ? "there is no such relay in this namespace" : NULL, argc, argv);
}

/* ---- add ---- */

/* A member: ADDRESS:PORT or [ADDRESS]:PORT, perhaps with @LOCAL.  @word is written to. */
static int put_member(struct nl_msg *msg, char *word, const char *where)
{
	char *colon, *addr = word, *local = strchr(word, '@');
	uint8_t bytes[16], local_bytes[16];
	struct nlattr *nest;
	uint64_t port;
	int v6 = 0;

	if (local)
		*local++ = '\0';
	colon = strrchr(word, ':');

	if (!colon || parse_u64(colon + 1, &port) || !port || port > 65535)
		return ctl_usage("%s: \"%s\" is not ADDRESS:PORT", where, word);
	*colon = '\0';
	if (*addr == '[' && colon > word + 1 && colon[-1] == ']') {
		v6 = 1;
		addr++;
		colon[-1] = '\0';
	}
	if (inet_pton(v6 ? AF_INET6 : AF_INET, addr, bytes) != 1)
		return ctl_usage("%s: \"%s\" is no IP address%s", where, addr,
				 strchr(addr, ':') ? " (IPv6: [ADDRESS]:PORT)" : "");
	if (local && inet_pton(v6 ? AF_INET6 : AF_INET, local, local_bytes) != 1)
		return ctl_usage("%s: \"%s\" is no IP%s address", where, local, v6 ? "v6" : "v4");
	nest = nla_nest_start(msg, SHUFFLE_A_RELAY_MEMBER);
	if (!nest || nla_put(msg, v6 ? SHUFFLE_A_RELAY_MEMBER_IPV6 : SHUFFLE_A_RELAY_MEMBER_IPV4,
			     v6 ? 16 : 4, bytes) ||
	    nla_put_u32(msg, SHUFFLE_A_RELAY_MEMBER_PORT, port) ||
	    (local && nla_put(msg, v6 ? SHUFFLE_A_RELAY_MEMBER_LOCAL_IPV6 :
					SHUFFLE_A_RELAY_MEMBER_LOCAL_IPV4,
			      v6 ? 16 : 4, local_bytes)))
		return ctl_error("too many members for one request");
	nla_nest_end(msg, nest);
	return CTL_OK;
}

/* Members from a file, one a line; empty lines and those that begin with # say nothing. */
static int put_file(struct nl_msg *msg, const char *path)
{
	char line[LINE_MAX_BYTES], where[LINE_MAX_BYTES + 16], word[LINE_MAX_BYTES];
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	unsigned int n = 0;
	int err = CTL_OK;

	if (!f)
		return ctl_error("%s: %s", path, strerror(errno));
	while (!err && fgets(line, sizeof(line), f)) {
		snprintf(where, sizeof(where), "%s, line %u", path, ++n);
		if (sscanf(line, "%255s", word) == 1 && word[0] != '#')
			err = put_member(msg, word, where);
	}
	if (f != stdin)
		fclose(f);
	return err;
}

static int put_key(struct nl_msg *msg, const char *path)
{
	unsigned char key[SHUFFLE_KEY_BYTES];

	if (shuffle_key_file(path, key))
		return ctl_error("%s: %s", path, shuffle_key_str(errno));
	if (nla_put(msg, SHUFFLE_A_RELAY_KEY, sizeof(key), key))
		return ctl_error("out of memory");
	return CTL_OK;
}

static int put_oper(struct nl_msg *msg, const char *word)
{
	static const char *const opers[] = {
		"none", "sum", "min", "max", "count", "sumcount", "or", "and",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(opers) && strcmp(word, opers[i]); i++)
		;
	if (i == ARRAY_SIZE(opers))
		return ctl_usage("oper: \"%s\" is none of none, sum, min, max, count, sumcount, or, and",
				 word);
	nla_put_u32(msg, SHUFFLE_A_RELAY_OPER, i);
	return CTL_OK;
}

/**
 * struct number - a word with a number behind it
 * @word: the word
 * @attr: attribute
 * @unit: of the number
 */
static const struct number {
	const char	*word;
	unsigned int	attr;
	enum out_unit	unit;
} numbers[] = {
	{ "rank",	SHUFFLE_A_RELAY_RANK,		OUT_PLAIN },
	{ "senders",	SHUFFLE_A_RELAY_SENDERS,	OUT_PLAIN },
	{ "records",	SHUFFLE_A_RELAY_RECORDS,	OUT_PLAIN },
	{ "flush",	SHUFFLE_A_RELAY_FLUSH,		OUT_US },
	{ "bytes",	SHUFFLE_A_RELAY_BYTES,		OUT_BYTES },
};

static int put_number(struct nl_msg *msg, const struct number *n, const char *word)
{
	uint64_t value;

	if (parse_unit(word, n->unit, &value) || value > UINT32_MAX)
		return ctl_usage("%s: \"%s\" is no number that it can be", n->word, word);
	nla_put_u32(msg, n->attr, value);
	return CTL_OK;
}

static const struct number *number_of(const char *word)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(numbers[i].word, word))
			return &numbers[i];
	return NULL;
}

/**
 * struct list - a word with a list behind it
 * @word: the word
 * @attr: of each rank; 0: they are addresses
 */
static const struct list {
	const char	*word;
	unsigned int	attr;
} lists[] = {
	{ "from",	SHUFFLE_A_RELAY_FROM },
	{ "to",		SHUFFLE_A_RELAY_TO },
	{ "members",	0 },
};

static const struct list *list_of(const char *word)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (!strcmp(lists[i].word, word))
			return &lists[i];
	return NULL;
}

static bool is_word(const char *word)
{
	static const char *const words[] = { "file", "oper", "sorted", "key" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i], word))
			return true;
	return number_of(word) || list_of(word);
}

/* What is behind a word, up to the next word.  The number of words is added to *@i. */
static int put_list(struct nl_msg *msg, const struct list *list, int argc, char **argv, int *i)
{
	const struct number rank = { list->word, list->attr, OUT_PLAIN };
	int first = *i, err = CTL_OK;

	for (; !err && *i < argc && !is_word(argv[*i]); (*i)++)
		err = list->attr ? put_number(msg, &rank, argv[*i]) :
				   put_member(msg, argv[*i], list->word);
	if (!err && *i == first)
		err = ctl_usage("%s: nothing is behind it", list->word);
	return err;
}

static int put_words(struct nl_msg *msg, int argc, char **argv)
{
	const char *key = argc ? getenv("SHUFFLE_KEY_FILE") : NULL;
	int i = 0, err = CTL_OK;

	while (!err && i < argc) {
		const char *word = argv[i++];
		const char *value = i < argc ? argv[i] : NULL;

		if (list_of(word)) {
			err = put_list(msg, list_of(word), argc, argv, &i);
			continue;
		}
		if (!strcmp(word, "sorted")) {
			nla_put_u8(msg, SHUFFLE_A_RELAY_SORTED, 1);
			continue;
		}
		if (!is_word(word))
			return ctl_usage("\"%s\" means nothing here", word);
		if (!value)
			return ctl_usage("%s: nothing is behind it", word);
		i++;
		if (number_of(word))
			err = put_number(msg, number_of(word), value);
		else if (!strcmp(word, "oper"))
			err = put_oper(msg, value);
		else if (!strcmp(word, "file"))
			err = put_file(msg, value);
		else
			key = value;
	}
	return !err && key ? put_key(msg, key) : err;
}

/* @argv: a name, and for relay-add what it is to be. */
static int change(unsigned int cmd, int argc, char **argv)
{
	struct nl_msg *msg;
	struct genl g;
	int err;

	if (!argc)
		return ctl_usage("a NAME is needed");
	err = genl_open(&g, false);
	if (err)
		return err;
	msg = genl_large_request(&g, cmd, REQUEST_MAX);
	nla_put_string(msg, SHUFFLE_A_RELAY_NAME, argv[0]);
	err = put_words(msg, argc - 1, argv + 1);
	if (err)
		nlmsg_free(msg);
	else
		err = genl_talk(&g, msg, genl_op(cmd), NULL);
	genl_close(&g);
	return err;
}

static int relay_add(int argc, char **argv)
{
	return change(SHUFFLE_CMD_RELAY_ADD, argc, argv);
}

static int relay_del(int argc, char **argv)
{
	if (argc > 1)
		return ctl_usage("\"%s\" behind the name means nothing", argv[1]);
	return change(SHUFFLE_CMD_RELAY_DEL, argc, argv);
}

int relay_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", relay_show },
		{ "add", relay_add },
		{ "del", relay_del },
		{ NULL, NULL },
	};

	if (argc && !strcmp(argv[0], "--daemon"))
		return relay_daemon(argc - 1, argv + 1);
	return ctl_dispatch("relay", relay_usage, cmds, argc, argv);
}
