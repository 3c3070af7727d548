// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what the module says, by the tables made from the specification. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

#include "record.h"
#include "shufflectl.h"

/**
 * record_unit() - the unit of an attribute
 * @a: attribute
 *
 * Return: what out.c makes text of; OUT_PLAIN for units that it does not know.
 */
enum out_unit record_unit(const struct shuffle_attr *a)
{
	static const struct {
		const char	*name;
		enum out_unit	unit;
	} units[] = {
		{ "B", OUT_BYTES }, { "Mb/s", OUT_MBPS }, { "B/s", OUT_BYTES_PER_S },
		{ "ns", OUT_NS }, { "us", OUT_US }, { "ms", OUT_MS }, { "s", OUT_S },
		{ "1/1000", OUT_MILLI },
	};
	unsigned int i;

	for (i = 0; a->unit && i < ARRAY_SIZE(units); i++)
		if (!strcmp(a->unit, units[i].name))
			return units[i].unit;
	return OUT_PLAIN;
}

/**
 * record_is_auto() - 0 leaves an attribute to the module
 * @a: attribute
 *
 * Return: true if so.
 */
bool record_is_auto(const struct shuffle_attr *a)
{
	return a->doc && strstr(a->doc, "0 is auto");
}

/**
 * record_enum() - the name of a value
 * @a: attribute
 * @value: the value
 * @buf: for a value that has no name
 * @size: of @buf
 *
 * Return: the name.
 */
const char *record_enum(const struct shuffle_attr *a, uint64_t value, char *buf, unsigned int size)
{
	if (a->names && value < a->names->n)
		return a->names->names[value];
	snprintf(buf, size, "%" PRIu64, value);
	return buf;
}

static void print_flags(const struct shuffle_attr *a, uint64_t value)
{
	unsigned int i;

	out_list(a->name);
	for (i = 0; i < a->names->n; i++)
		if (value >> i & 1)
			out_str(NULL, a->names->names[i]);
	out_list_end();
}

static void print_number(const struct shuffle_attr *a, const char *key, uint64_t value)
{
	char buf[24], name[IF_NAMESIZE];

	if (a->names && a->names->is_flags) {
		print_flags(a, value);
	} else if (a->names) {
		out_str(key, record_enum(a, value, buf, sizeof(buf)));
	} else if (!strcmp(a->name, "ifindex")) {
		if (ctl.json)
			out_u64(key, value, OUT_PLAIN);
		out_str("dev", if_indextoname(value, name) ? name : "gone");
	} else if (!value && !ctl.json && record_is_auto(a)) {
		out_str(key, "auto");
	} else {
		out_u64(key, value, record_unit(a));
	}
}

static void print_one(const struct shuffle_attr *a, const char *key, struct nlattr *nla);

/* Objects in JSON; text has their values only. */
static void print_nest(const struct shuffle_attr *a, struct nlattr *nla)
{
	struct nlattr *tb[GENL_MAX_ATTRS];
	unsigned int i;

	if (!a->nest || genl_parse_nested(nla, a->nest, tb))
		return;
	if (ctl.json)
		out_open(NULL);
	for (i = 0; i < a->nest->n; i++)
		if (tb[i])
			print_one(&a->nest->attr[i], a->nest->attr[i].name, tb[i]);
	if (ctl.json)
		out_close();
}

static void print_one(const struct shuffle_attr *a, const char *key, struct nlattr *nla)
{
	char buf[INET6_ADDRSTRLEN];

	switch (a->kind) {
	case SHUFFLE_ATTR_U8:
		print_number(a, key, nla_get_u8(nla));
		break;
	case SHUFFLE_ATTR_U16:
		print_number(a, key, nla_get_u16(nla));
		break;
	case SHUFFLE_ATTR_U32:
		print_number(a, key, nla_get_u32(nla));
		break;
	case SHUFFLE_ATTR_U64:
		print_number(a, key, nla_get_u64(nla));
		break;
	case SHUFFLE_ATTR_STRING:
		out_str(key, nla_get_string(nla));
		break;
	case SHUFFLE_ATTR_IPV4:
		out_str(key, inet_ntop(AF_INET, nla_data(nla), buf, sizeof(buf)));
		break;
	case SHUFFLE_ATTR_IPV6:
		out_str(key, inet_ntop(AF_INET6, nla_data(nla), buf, sizeof(buf)));
		break;
	case SHUFFLE_ATTR_FLAG:
		out_bool(key, true);
		break;
	case SHUFFLE_ATTR_NEST:
		print_nest(a, nla);
		break;
	default:
		break;
	}
}

/**
 * record_attr() - print one attribute, if it is there
 * @msg: message
 * @set: its attributes
 * @tb: parsed
 * @attr: which one
 */
void record_attr(struct nl_msg *msg, const struct shuffle_attr_set *set, struct nlattr **tb,
		 unsigned int attr)
{
	const struct shuffle_attr *a = &set->attr[attr];
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct nlattr *nla;
	int rem;

	if (!tb[attr])
		return;
	if (!a->multi) {
		print_one(a, a->name, tb[attr]);
		return;
	}
	out_list(a->name);
	nla_for_each_attr(nla, nlmsg_attrdata(h, GENL_HDRLEN), nlmsg_attrlen(h, GENL_HDRLEN), rem)
		if (nla_type(nla) == (int)attr && nla_len(nla) >= 4)
			print_one(a, NULL, nla);
	out_list_end();
}

/**
 * record_attrs() - print what a message has, in the order of the specification
 * @msg: message
 * @op: operation that it answers
 * @tb: parsed
 * @skip: attributes that have been printed, ended by 0
 */
void record_attrs(struct nl_msg *msg, const struct shuffle_attr_op *op, struct nlattr **tb,
		  const unsigned int *skip)
{
	unsigned int i, j;

	for (i = 0; i < op->n_reply; i++) {
		for (j = 0; skip && skip[j] && skip[j] != op->reply[i]; j++)
			;
		if (!skip || !skip[j])
			record_attr(msg, op->set, tb, op->reply[i]);
	}
}

/**
 * record_address() - an address that has an attribute for each family
 * @set: attributes
 * @tb: parsed
 * @v4: number of the one
 * @v6: number of the other
 * @buf: result
 * @size: of @buf
 *
 * Return: @buf, "?" if there is neither.
 */
const char *record_address(const struct shuffle_attr_set *set, struct nlattr **tb,
			   unsigned int v4, unsigned int v6, char *buf, unsigned int size)
{
	(void)set;
	if (tb[v4])
		return inet_ntop(AF_INET, nla_data(tb[v4]), buf, size);
	if (tb[v6])
		return inet_ntop(AF_INET6, nla_data(tb[v6]), buf, size);
	return "?";
}

/**
 * record_show() - the command "show" of an object
 * @cmd: SHUFFLE_CMD_*_GET
 * @fill: put the words of the command line into the request; returns enum ctl_exit
 * @print: print one; returns false for one that was not asked for
 * @none: error if there was nothing to print, NULL: that is fine
 * @argc: number of words
 * @argv: the words
 *
 * Return: enum ctl_exit.
 */
int record_show(unsigned int cmd, int (*fill)(struct nl_msg *msg, int argc, char **argv),
		bool (*print)(struct nl_msg *msg), const char *none, int argc, char **argv)
{
	const struct shuffle_attr_op *op = genl_op(cmd);
	struct genl g = { .family = 0 };
	struct nl_reply reply;
	struct nl_msg *msg;
	unsigned int i, n = 0;
	int err;

	/* the command line first: a typing error needs no module */
	msg = genl_request(&g, cmd, true);
	err = fill(msg, argc, argv);
	if (!err)
		err = genl_open(&g, false);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	nlmsg_hdr(msg)->nlmsg_type = g.family;
	err = genl_talk(&g, msg, op, &reply);
	genl_close(&g);
	if (err)
		return err;
	out_begin(false);
	for (i = 0; i < reply.n; i++)
		n += print(reply.msg[i]);
	out_end();
	nl_reply_free(&reply);
	if (!n && none) {
		ctl_error("%s", none);
		return CTL_KERNEL;
	}
	return CTL_OK;
}
