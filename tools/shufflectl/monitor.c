// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shufflectl monitor: what happens, as it happens.
 *
 * When the kernel had more to say than the socket could hold (ENOBUFS), that is
 * said, and the state of everything that runs is printed: who follows the output
 * is up to date again.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>

#include "clock.h"
#include "objects.h"
#include "parse.h"
#include "record.h"
#include "shufflectl.h"

#define RCVBUF	(8 << 20)

static const char usage[] =
	"usage: shufflectl monitor [-c COUNT] [ops] [memory] [config]\n"
	"\n"
	"  ops     operations that start, finish, fail; messages that fall behind\n"
	"  memory  sockets whose memory holds grants back\n"
	"  config  settings that change\n"
	"\n"
	"Without a word: all of them.  JSON: one object a line.  Ends when interrupted, after\n"
	"COUNT events, or when nobody reads any more.\n";

static uint64_t left;
static bool counted;

/* "op-started-ntf" -> "op-started" */
static const char *event_name(const struct shuffle_attr_op *op, char *buf, size_t size)
{
	char *end;

	snprintf(buf, size, "%s", op->name);
	end = strrchr(buf, '-');
	if (end && (!strcmp(end, "-ntf") || !strcmp(end, "-get")))
		*end = '\0';
	return buf;
}

static void open_event(const char *name)
{
	char stamp[40], title[80];

	clock_stamp(stamp, sizeof(stamp));
	out_begin(true);
	out_open(NULL);
	if (ctl.json) {
		out_str("time", stamp);
		out_str("event", name);
		return;
	}
	snprintf(title, sizeof(title), "%s %s", stamp, name);
	out_title(NULL, "%s", title);
}

static void close_event(void)
{
	out_close();
	out_end();
}

static void print_event(struct nl_msg *msg, bool state)
{
	struct genlmsghdr *h = nlmsg_data(nlmsg_hdr(msg));
	const struct shuffle_attr_op *op = genl_op(h->cmd), *reply;
	struct nlattr *tb[GENL_MAX_ATTRS];
	char name[40];

	/* of a newer module */
	if (!op || genl_parse(msg, op->set, tb))
		return;
	/* a notification of a get carries its reply */
	reply = h->cmd == SHUFFLE_CMD_CONFIG_NTF ? genl_op(SHUFFLE_CMD_CONFIG_GET) : op;
	open_event(event_name(op, name, sizeof(name)));
	if (state)
		out_bool("resync", true);
	record_attrs(msg, reply, tb, NULL);
	close_event();
	if (!state && counted && left)
		left--;
}

static int on_message(struct nl_msg *msg, void *arg)
{
	(void)arg;
	if (nlmsg_datalen(nlmsg_hdr(msg)) >= (int)GENL_HDRLEN && (!counted || left))
		print_event(msg, false);
	return NL_OK;
}

/* Events were lost: what is there now. */
static void resync(const struct genl *g)
{
	static const unsigned int cmds[] = {
		SHUFFLE_CMD_OP_GET, SHUFFLE_CMD_SOCKET_GET, SHUFFLE_CMD_CONFIG_GET,
	};
	unsigned int i, j;

	open_event("lost");
	if (ctl.json)
		out_str("reason", "the receive buffer was full");
	else
		out_str(NULL, "the receive buffer was full; this is what there is now:");
	close_event();
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		struct nl_reply reply;

		if (genl_talk(g, genl_request(g, cmds[i], true), genl_op(cmds[i]), &reply))
			continue;
		for (j = 0; j < reply.n; j++)
			print_event(reply.msg[j], true);
		nl_reply_free(&reply);
	}
	open_event("resynced");
	close_event();
}

static int join(struct nl_sock *sk, const char *group)
{
	int id = genl_ctrl_resolve_grp(sk, SHUFFLE_GENL_NAME, group);

	if (id < 0)
		return ctl_error("the module has no events \"%s\"", group);
	if (nl_socket_add_membership(sk, id))
		return ctl_error("cannot listen to \"%s\": %s", group, strerror(errno));
	return CTL_OK;
}

static int listen_until(struct nl_sock *events, const struct genl *ask)
{
	/* who reads a pipe may be gone before there is anything to write */
	struct pollfd p[] = {
		{ .fd = nl_socket_get_fd(events), .events = POLLIN },
		{ .fd = STDOUT_FILENO },
	};
	volatile int *stop = ctl_stop_flag();
	int err;

	while (!*stop && (!counted || left)) {
		if (poll(p, ARRAY_SIZE(p), -1) < 0) {
			if (errno == EINTR)
				continue;
			return ctl_error("poll: %s", strerror(errno));
		}
		if (p[1].revents & (POLLERR | POLLHUP))
			break;
		err = nl_recvmsgs_default(events);
		/* libnl makes the one of ENOBUFS */
		if (err == -NLE_NOMEM)
			resync(ask);
		else if (err < 0 && err != -NLE_AGAIN && err != -NLE_INTR)
			return ctl_error("netlink: %s", nl_geterror(err));
	}
	return CTL_OK;
}

static int monitor_run(int argc, char **argv)
{
	static const struct ctl_command groups[] = {
		{ SHUFFLE_MCGRP_OPS, NULL }, { SHUFFLE_MCGRP_MEMORY, NULL },
		{ SHUFFLE_MCGRP_CONFIG, NULL }, { NULL, NULL },
	};
	bool want[ARRAY_SIZE(groups)] = { false };
	struct clock_options o;
	struct genl ask, g;
	int i, err, size = RCVBUF;

	err = clock_parse(&argc, &argv, &o, NULL);
	if (err)
		return err;
	left = o.count;
	counted = o.count;
	for (i = 0; i < argc; i++) {
		int which = ctl_match("event", argv[i], groups);

		if (which < 0)
			return CTL_USAGE;
		want[which] = true;
	}
	err = genl_open(&ask, false);
	if (err)
		return err;
	err = genl_open(&g, false);
	if (err)
		goto out;
	/* more than the limit if we may; whatever it is, losses are told */
	if (setsockopt(nl_socket_get_fd(g.sk), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(nl_socket_get_fd(g.sk), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	nl_socket_set_msg_buf_size(g.sk, 65536);
	nl_socket_modify_cb(g.sk, NL_CB_VALID, NL_CB_CUSTOM, on_message, NULL);
	for (i = 0; groups[i].name && !err; i++)
		if (want[i] || !argc)
			err = join(g.sk, groups[i].name);
	if (!err) {
		nl_socket_set_nonblocking(g.sk);
		err = listen_until(g.sk, &ask);
	}
	genl_close(&g);
out:
	genl_close(&ask);
	return err;
}

int monitor_object(int argc, char **argv)
{
	if (argc && ctl_is_help(argv[0])) {
		fputs(usage, stdout);
		return CTL_OK;
	}
	if (argc && !strcmp(argv[0], "show")) {
		argc--;
		argv++;
	}
	return monitor_run(argc, argv);
}
