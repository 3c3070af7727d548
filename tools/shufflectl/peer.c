// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl peer, shufflectl socket: lists. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "objects.h"
#include "parse.h"
#include "record.h"
#include "shufflectl.h"

static const char peer_usage[] =
	"usage: shufflectl peer [show] [ADDRESS]\n"
	"       shufflectl peer ping HOST [count N] [interval TIME] [size BYTES] [dscp N]\n"
	"\n"
	"  show  hosts that operations of this namespace talk to: round-trip time, path\n"
	"        MTU, bytes, resends\n"
	"  ping  ask HOST for echoes; round trips between time stamps, without the software of\n"
	"        the two hosts (needs CAP_NET_BIND_SERVICE, and that HOST answers this host)\n";

static const char socket_usage[] =
	"usage: shufflectl socket [show] [COOKIE]\n"
	"\n"
	"  show  AF_SHUFFLE sockets of this namespace: owner, address, group, queues and\n"
	"        their limits\n";

static char want_address[INET6_ADDRSTRLEN];
static uint64_t want_cookie;
static bool want_one;

static int fill_peer(struct nl_msg *msg, int argc, char **argv)
{
	uint8_t addr[16];
	int family;

	(void)msg;
	want_one = argc;
	if (argc > 1)
		return ctl_usage("\"%s\" behind the address means nothing", argv[1]);
	if (!argc)
		return CTL_OK;
	family = strchr(argv[0], ':') ? AF_INET6 : AF_INET;
	if (inet_pton(family, argv[0], addr) != 1)
		return ctl_usage("\"%s\" is no IP address", argv[0]);
	inet_ntop(family, addr, want_address, sizeof(want_address));
	return CTL_OK;
}

static bool print_peer(struct nl_msg *msg)
{
	static const unsigned int skip[] = { SHUFFLE_A_PEER_IPV4, SHUFFLE_A_PEER_IPV6, 0 };
	const struct shuffle_attr_set *set = &shuffle_attr_set_peer;
	struct nlattr *tb[GENL_MAX_ATTRS];
	char buf[INET6_ADDRSTRLEN];
	const char *addr;

	if (genl_parse(msg, set, tb))
		return false;
	addr = record_address(set, tb, SHUFFLE_A_PEER_IPV4, SHUFFLE_A_PEER_IPV6, buf, sizeof(buf));
	if (want_one && strcmp(addr, want_address))
		return false;
	out_open(NULL);
	out_title(tb[SHUFFLE_A_PEER_IPV4] ? "ipv4" : "ipv6", "%s", addr);
	record_attrs(msg, genl_op(SHUFFLE_CMD_PEER_GET), tb, skip);
	out_close();
	return true;
}

static int peer_show(int argc, char **argv)
{
	return record_show(SHUFFLE_CMD_PEER_GET, fill_peer, print_peer,
			   argc ? "there is no such peer in this namespace" : NULL, argc, argv);
}

static int fill_socket(struct nl_msg *msg, int argc, char **argv)
{
	(void)msg;
	want_one = argc;
	if (argc > 1)
		return ctl_usage("\"%s\" behind the cookie means nothing", argv[1]);
	if (argc && parse_u64(argv[0], &want_cookie))
		return ctl_usage("\"%s\" is no socket cookie", argv[0]);
	return CTL_OK;
}

static bool print_socket(struct nl_msg *msg)
{
	static const unsigned int skip[] = {
		SHUFFLE_A_SOCKET_SOCKET, SHUFFLE_A_SOCKET_IPV4, SHUFFLE_A_SOCKET_IPV6,
		SHUFFLE_A_SOCKET_PORT, 0,
	};
	const struct shuffle_attr_set *set = &shuffle_attr_set_socket;
	struct nlattr *tb[GENL_MAX_ATTRS];
	char buf[INET6_ADDRSTRLEN], at[INET6_ADDRSTRLEN + 16];
	unsigned int i;

	if (genl_parse(msg, set, tb) ||
	    (want_one && genl_u64(set, tb, SHUFFLE_A_SOCKET_SOCKET) != want_cookie))
		return false;
	out_open(NULL);
	out_title_u64("socket", "socket %s", genl_u64(set, tb, SHUFFLE_A_SOCKET_SOCKET));
	if (ctl.json) {
		for (i = 1; skip[i]; i++)
			record_attr(msg, set, tb, skip[i]);
	} else if (tb[SHUFFLE_A_SOCKET_IPV4] || tb[SHUFFLE_A_SOCKET_IPV6]) {
		snprintf(at, sizeof(at), tb[SHUFFLE_A_SOCKET_IPV6] ? "[%s]:%u" : "%s:%u",
			 record_address(set, tb, SHUFFLE_A_SOCKET_IPV4, SHUFFLE_A_SOCKET_IPV6,
					buf, sizeof(buf)),
			 (unsigned int)genl_u64(set, tb, SHUFFLE_A_SOCKET_PORT));
		out_str("at", at);
	} else {
		out_str("at", "-");
	}
	record_attrs(msg, genl_op(SHUFFLE_CMD_SOCKET_GET), tb, skip);
	out_close();
	return true;
}

static int socket_show(int argc, char **argv)
{
	return record_show(SHUFFLE_CMD_SOCKET_GET, fill_socket, print_socket,
			   argc ? "there is no such socket in this namespace" : NULL, argc, argv);
}

int peer_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", peer_show }, { "ping", peer_ping }, { NULL, NULL },
	};

	return ctl_dispatch("peer", peer_usage, cmds, argc, argv);
}

int socket_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = { { "show", socket_show }, { NULL, NULL } };

	return ctl_dispatch("socket", socket_usage, cmds, argc, argv);
}
