// SPDX-License-Identifier: GPL-2.0-or-later
/* The generic netlink family of the module. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>

#include "genl.h"
#include "shufflectl.h"

/**
 * genl_open() - connect to the module
 * @g: result; to be closed by genl_close()
 * @quiet: no message if there is no module
 *
 * Return: CTL_OK, or CTL_ENV after a message.
 */
int genl_open(struct genl *g, bool quiet)
{
	int family;

	g->sk = nl_open(NETLINK_GENERIC);
	if (!g->sk)
		return CTL_ENV;
	family = genl_ctrl_resolve(g->sk, SHUFFLE_GENL_NAME);
	if (family >= 0) {
		g->family = family;
		return CTL_OK;
	}
	genl_close(g);
	if (quiet)
		return CTL_ENV;
	if (!access("/proc/net/shuffle", F_OK))
		return ctl_error("the shuffle module that is loaded has no netlink family: it is too old");
	return ctl_error("the shuffle module is not loaded: modprobe shuffle");
}

/**
 * genl_close() - end a connection
 * @g: connection
 */
void genl_close(struct genl *g)
{
	nl_socket_free(g->sk);
	g->sk = NULL;
}

static struct nl_msg *put_command(struct nl_msg *msg, unsigned int cmd)
{
	struct genlmsghdr h = { .cmd = cmd, .version = SHUFFLE_GENL_VERSION };

	nlmsg_append(msg, &h, sizeof(h), NLMSG_ALIGNTO);
	return msg;
}

/**
 * genl_request() - an empty request
 * @g: connection
 * @cmd: SHUFFLE_CMD_*
 * @dump: for all objects
 *
 * Return: the message.
 */
struct nl_msg *genl_request(const struct genl *g, unsigned int cmd, bool dump)
{
	return put_command(nl_request(g->family, dump ? NLM_F_DUMP : 0), cmd);
}

/**
 * genl_large_request() - an empty request with room for much, in the connection, too
 * @g: connection
 * @cmd: SHUFFLE_CMD_*
 * @room: bytes
 *
 * Return: the message.
 */
struct nl_msg *genl_large_request(const struct genl *g, unsigned int cmd, size_t room)
{
	const int fd = nl_socket_get_fd(g->sk), bytes = room;

	/* As much as a socket may have, or what is needed where the machine's owner asks. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	return put_command(nl_large_request(g->family, 0, room), cmd);
}

/**
 * genl_op() - what the specification says about a command
 * @cmd: SHUFFLE_CMD_*
 *
 * Return: the operation, or NULL: of a newer module.
 */
const struct shuffle_attr_op *genl_op(unsigned int cmd)
{
	unsigned int i;

	for (i = 0; i < shuffle_attr_n_ops; i++)
		if (shuffle_attr_ops[i].cmd == cmd)
			return &shuffle_attr_ops[i];
	return NULL;
}

static const char *attr_name(const struct shuffle_attr_op *op, int attr)
{
	if (!op || attr <= 0 || (unsigned int)attr >= op->set->n)
		return NULL;
	return op->set->attr[attr].name;
}

/* The kernel's words, and the name of the attribute unless they have it. */
static int failed(const struct nl_said *said, const struct shuffle_attr_op *op)
{
	const char *text = *said->text ? said->text : strerror(-said->error);
	const char *name = attr_name(op, said->attr);
	const char *miss = attr_name(op, said->missing);
	char range[64] = "";

	if (said->has_range && name && !strstr(text, "..") && !strstr(text, " to "))
		snprintf(range, sizeof(range), " (%lld to %llu)", (long long)said->min,
			 (unsigned long long)said->max);
	if (miss && !strstr(text, miss))
		ctl_error("%s: %s is missing", text, miss);
	else if (name && !strstr(text, name))
		ctl_error("%s: %s%s", name, text, range);
	else
		ctl_error("%s%s", text, range);
	return CTL_KERNEL;
}

/**
 * genl_talk() - send a request and wait for its end
 * @g: connection
 * @msg: request; freed
 * @op: what it asks for, for messages
 * @reply: what comes back, NULL to ignore it; freed by the caller
 *
 * Return: CTL_OK, or CTL_KERNEL after a message.
 */
int genl_talk(const struct genl *g, struct nl_msg *msg, const struct shuffle_attr_op *op,
	      struct nl_reply *reply)
{
	struct nl_said said;

	return nl_talk(g->sk, msg, reply, &said) ? failed(&said, op) : CTL_OK;
}

/* Length of a value, 0 for any. */
static unsigned int kind_len(enum shuffle_attr_kind kind)
{
	switch (kind) {
	case SHUFFLE_ATTR_U8:
		return 1;
	case SHUFFLE_ATTR_U16:
		return 2;
	case SHUFFLE_ATTR_U32:
	case SHUFFLE_ATTR_IPV4:
		return 4;
	case SHUFFLE_ATTR_U64:
		return 8;
	case SHUFFLE_ATTR_IPV6:
		return 16;
	default:
		return 0;
	}
}

/* Leave out what has a wrong length. */
static void drop_wrong(const struct shuffle_attr_set *set, struct nlattr **tb)
{
	unsigned int i;

	for (i = 0; i < set->n; i++) {
		unsigned int len = kind_len(set->attr[i].kind);

		if (tb[i] && len && nla_len(tb[i]) != (int)len)
			tb[i] = NULL;
		if (tb[i] && set->attr[i].kind == SHUFFLE_ATTR_STRING &&
		    (!nla_len(tb[i]) || ((char *)nla_data(tb[i]))[nla_len(tb[i]) - 1]))
			tb[i] = NULL;
	}
}

/**
 * genl_parse() - the attributes of a message by their number
 * @msg: message of the family
 * @set: their set
 * @tb: result, GENL_MAX_ATTRS elements; unknown ones and those of a wrong length
 *	are left out
 *
 * Return: 0 or -1: not a message.
 */
int genl_parse(struct nl_msg *msg, const struct shuffle_attr_set *set, struct nlattr **tb)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);

	memset(tb, 0, GENL_MAX_ATTRS * sizeof(*tb));
	if (set->n > GENL_MAX_ATTRS || nlmsg_datalen(h) < (int)GENL_HDRLEN)
		return -1;
	if (nlmsg_parse(h, GENL_HDRLEN, tb, set->n - 1, NULL) < 0)
		return -1;
	drop_wrong(set, tb);
	return 0;
}

/**
 * genl_parse_nested() - the attributes in another one by their number
 * @nla: the other one
 * @set: their set
 * @tb: result, as of genl_parse()
 *
 * Return: 0 or -1: they make no sense.
 */
int genl_parse_nested(struct nlattr *nla, const struct shuffle_attr_set *set, struct nlattr **tb)
{
	memset(tb, 0, GENL_MAX_ATTRS * sizeof(*tb));
	if (set->n > GENL_MAX_ATTRS || nla_parse_nested(tb, set->n - 1, nla, NULL) < 0)
		return -1;
	drop_wrong(set, tb);
	return 0;
}

/**
 * genl_u64() - a number, whatever its width
 * @set: its set
 * @tb: attributes
 * @attr: its number
 *
 * Return: the number, 0 if it is not there.
 */
uint64_t genl_u64(const struct shuffle_attr_set *set, struct nlattr **tb, unsigned int attr)
{
	if (!tb[attr])
		return 0;
	switch (set->attr[attr].kind) {
	case SHUFFLE_ATTR_U8:
		return nla_get_u8(tb[attr]);
	case SHUFFLE_ATTR_U16:
		return nla_get_u16(tb[attr]);
	case SHUFFLE_ATTR_U32:
		return nla_get_u32(tb[attr]);
	case SHUFFLE_ATTR_U64:
		return nla_get_u64(tb[attr]);
	default:
		return 0;
	}
}
