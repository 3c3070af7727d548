// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl op: operations and their messages. */
#include <inttypes.h>
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
	"usage: shufflectl op [show] [ID] [socket COOKIE]\n"
	"       shufflectl op messages ID [socket COOKIE] [to RANK | from RANK]\n"
	"       shufflectl op cancel ID [socket COOKIE]\n"
	"       shufflectl op watch [-i SECONDS] [-c COUNT]\n"
	"\n"
	"  show      operations that sockets of this namespace take part in\n"
	"  messages  each message of one of them, how far it is\n"
	"  cancel    end it here with ECANCELED (needs CAP_NET_ADMIN)\n"
	"  watch     draw the running ones again and again, with progress bars\n";

/* What was asked for. */
static struct {
	uint64_t	id, socket, rank;
	bool		has_id, has_socket, has_rank;
	unsigned int	direction;
} want;

static int parse_words(int argc, char **argv, bool id_first, bool ranks)
{
	static const struct ctl_command words[] = {
		{ "socket", NULL }, { "to", NULL }, { "from", NULL }, { NULL, NULL },
	};
	static const struct ctl_command only_socket[] = { { "socket", NULL }, { NULL, NULL } };
	int i;

	memset(&want, 0, sizeof(want));
	if (argc && *argv[0] >= '0' && *argv[0] <= '9') {
		if (parse_u64(argv[0], &want.id))
			return ctl_usage("\"%s\" is no operation id", argv[0]);
		want.has_id = true;
		argc--;
		argv++;
	} else if (id_first) {
		return argc ? ctl_usage("\"%s\" is no operation id", argv[0]) :
			      ctl_usage("which operation? give its id");
	}
	for (; argc; argc -= 2, argv += 2) {
		uint64_t v;

		i = ctl_match("word", argv[0], ranks ? words : only_socket);
		if (i < 0)
			return CTL_USAGE;
		if (argc < 2 || parse_u64(argv[1], &v))
			return ctl_usage("\"%s\" wants a number", words[i].name);
		if (!i) {
			want.socket = v;
			want.has_socket = true;
			continue;
		}
		if (want.has_rank)
			return ctl_usage("one rank at a time");
		want.rank = v;
		want.has_rank = true;
		want.direction = i == 1 ? SHUFFLE_NL_DIRECTION_OUT :
					  SHUFFLE_NL_DIRECTION_IN;
	}
	return CTL_OK;
}

static int fill_show(struct nl_msg *msg, int argc, char **argv)
{
	(void)msg;
	return parse_words(argc, argv, false, false);
}

static bool print_op(struct nl_msg *msg)
{
	static const unsigned int skip[] = {
		SHUFFLE_A_OP_OP_ID, SHUFFLE_A_OP_STATE, SHUFFLE_A_OP_RANK, SHUFFLE_A_OP_MEMBERS, 0,
	};
	const struct shuffle_attr_set *set = &shuffle_attr_set_op;
	struct nlattr *tb[GENL_MAX_ATTRS];
	unsigned int i;

	if (genl_parse(msg, set, tb) || !tb[SHUFFLE_A_OP_OP_ID])
		return false;
	if (want.has_id && genl_u64(set, tb, SHUFFLE_A_OP_OP_ID) != want.id)
		return false;
	if (want.has_socket && genl_u64(set, tb, SHUFFLE_A_OP_SOCKET) != want.socket)
		return false;
	out_open(NULL);
	out_title_u64(set->attr[SHUFFLE_A_OP_OP_ID].name, "op %s",
		      genl_u64(set, tb, SHUFFLE_A_OP_OP_ID));
	for (i = 1; i < ARRAY_SIZE(skip) - 1; i++)
		record_attr(msg, set, tb, skip[i]);
	record_attrs(msg, genl_op(SHUFFLE_CMD_OP_GET), tb, skip);
	out_close();
	return true;
}

static int op_show(int argc, char **argv)
{
	char none[64];
	int err;

	/* for the message; fill_show() does it again */
	err = parse_words(argc, argv, false, false);
	if (err)
		return err;
	snprintf(none, sizeof(none), "there is no operation %" PRIu64 " in this namespace",
		 want.id);
	return record_show(SHUFFLE_CMD_OP_GET, fill_show, print_op,
			   want.has_id ? none : NULL, argc, argv);
}

static int fill_messages(struct nl_msg *msg, int argc, char **argv)
{
	int err = parse_words(argc, argv, true, true);

	if (err)
		return err;
	nla_put_u64(msg, SHUFFLE_A_MSG_OP_ID, want.id);
	if (want.has_socket)
		nla_put_u64(msg, SHUFFLE_A_MSG_SOCKET, want.socket);
	return CTL_OK;
}

static bool print_message(struct nl_msg *msg)
{
	static const unsigned int skip[] = {
		SHUFFLE_A_MSG_OP_ID, SHUFFLE_A_MSG_SOCKET, SHUFFLE_A_MSG_DIRECTION,
		SHUFFLE_A_MSG_RANK, 0,
	};
	const struct shuffle_attr_set *set = &shuffle_attr_set_msg;
	struct nlattr *tb[GENL_MAX_ATTRS];
	bool in;

	if (genl_parse(msg, set, tb))
		return false;
	in = genl_u64(set, tb, SHUFFLE_A_MSG_DIRECTION) == SHUFFLE_NL_DIRECTION_IN;
	if (want.has_rank && (genl_u64(set, tb, SHUFFLE_A_MSG_RANK) != want.rank ||
			      genl_u64(set, tb, SHUFFLE_A_MSG_DIRECTION) != want.direction))
		return false;
	out_open(NULL);
	if (ctl.json) {
		unsigned int i;

		for (i = 0; skip[i]; i++)
			record_attr(msg, set, tb, skip[i]);
	} else {
		out_title_u64("rank", in ? "from %s" : "to %s",
			      genl_u64(set, tb, SHUFFLE_A_MSG_RANK));
	}
	record_attrs(msg, genl_op(SHUFFLE_CMD_MSG_GET), tb, skip);
	out_close();
	return true;
}

static int op_messages(int argc, char **argv)
{
	return record_show(SHUFFLE_CMD_MSG_GET, fill_messages, print_message, NULL, argc, argv);
}

static int op_cancel(int argc, char **argv)
{
	const struct shuffle_attr_set *set = &shuffle_attr_set_op;
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	struct nl_msg *msg;
	struct genl g;
	int err;

	err = parse_words(argc, argv, true, false);
	if (!err)
		err = genl_open(&g, false);
	if (err)
		return err;
	msg = genl_request(&g, SHUFFLE_CMD_OP_CANCEL, false);
	nla_put_u64(msg, SHUFFLE_A_OP_OP_ID, want.id);
	if (want.has_socket)
		nla_put_u64(msg, SHUFFLE_A_OP_SOCKET, want.socket);
	err = genl_talk(&g, msg, genl_op(SHUFFLE_CMD_OP_CANCEL), &reply);
	genl_close(&g);
	if (err)
		return err;
	out_begin(false);
	if (reply.n && !genl_parse(reply.msg[0], set, tb)) {
		out_open(NULL);
		out_title_u64(set->attr[SHUFFLE_A_OP_OP_ID].name, "op %s cancelled",
			      want.id);
		out_u64(ctl.json ? "count" : "sockets", genl_u64(set, tb, SHUFFLE_A_OP_COUNT),
			OUT_PLAIN);
		out_close();
	}
	out_end();
	nl_reply_free(&reply);
	return CTL_OK;
}

int op_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", op_show },
		{ "messages", op_messages },
		{ "cancel", op_cancel },
		{ "watch", watch_run },
		{ NULL, NULL },
	};

	return ctl_dispatch("op", usage, cmds, argc, argv);
}
