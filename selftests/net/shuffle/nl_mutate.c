// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Malformed netlink: messages over the whole specification (shuffle_attrs.c is
 * made from it), each damaged in one or more ways, always the same ones for a
 * seed.  The kernel may refuse or accept; afterwards the family must still answer
 * and sockets must still shuffle.  TAP.
 *
 * usage: nl_mutate [MESSAGES [SEED]]
 */
#define _GNU_SOURCE
#include "api.h"
#include "nl.h"
#include "../../../tools/shufflectl/shuffle_attrs.h"

static uint64_t state;

static uint32_t any(uint32_t n)
{
	state += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(sht_mix(state) >> 32) % n;
}

static uint64_t any64(void)
{
	static const uint64_t edges[] = { 0, 1, 2, 255, 256, 32767, 32768, 65535, 65536,
		0x7fffffff, 0x80000000, 0xffffffff, 0x100000000ULL, ~0ULL, ~0ULL >> 1 };

	if (any(2))
		return edges[any(sizeof(edges) / sizeof(edges[0]))];
	return (uint64_t)any(0x7fffffff) << any(33);
}

/* A value that the specification allows, at its edges more often than not. */
static void good(struct nl_req *r, uint16_t type, const struct shuffle_attr *a)
{
	uint64_t v = any(2) ? a->min : any(2) ? a->max :
		     a->min + (a->max > a->min ? any64() % (a->max - a->min) : 0);
	uint8_t bytes[64];

	switch (a->kind) {
	case SHUFFLE_ATTR_U8:
	case SHUFFLE_ATTR_U16:
	case SHUFFLE_ATTR_U32:
	case SHUFFLE_ATTR_U64:
		nl_add(r, type, &v, a->kind == SHUFFLE_ATTR_U8 ? 1 :
		       a->kind == SHUFFLE_ATTR_U16 ? 2 : a->kind == SHUFFLE_ATTR_U32 ? 4 : 8);
		break;
	case SHUFFLE_ATTR_STRING:
		nl_add(r, type, any(2) ? "OpsDone" : "x", any(2) ? 8 : 2);
		break;
	default:
		memset(bytes, any(256), sizeof(bytes));
		nl_add(r, type, bytes, a->kind == SHUFFLE_ATTR_IPV4 ? 4 : 16);
	}
}

/* One attribute that something is wrong with. */
static void bad(struct nl_req *r, const struct shuffle_attr_set *set)
{
	uint16_t type = any(4) ? any(set->n + 3) : any(0x10000);
	uint64_t v[32];
	unsigned int i;

	for (i = 0; i < 32; i++)
		v[i] = any64();
	switch (any(6)) {
	case 0:	/* any number in any width */
		nl_add(r, type, v, 1U << any(4));
		break;
	case 1:	/* any length */
		nl_add(r, type, v, any(sizeof(v)));
		break;
	case 2:	/* empty */
		nl_add(r, type, NULL, 0);
		break;
	case 3:	/* a flag where none belongs */
		nl_add(r, type | (any(2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER), v, 4);
		break;
	case 4:	/* a string without an end */
		memset(v, 'A', sizeof(v));
		nl_add(r, type, v, any(sizeof(v)));
		break;
	default: /* an attribute longer than the message */
		nl_add(r, type, v, 8);
		((struct nlattr *)(r->buf + r->len - 12))->nla_len = any(0x10000);
	}
}

static void damage(struct nl_req *r)
{
	struct nlmsghdr *h = (struct nlmsghdr *)r->buf;
	struct genlmsghdr *g = NLMSG_DATA(h);

	switch (any(8)) {
	case 0:
		g->cmd = any(256);
		break;
	case 1:
		g->version = any(256);
		break;
	case 2:
		g->reserved = any(0x10000);
		break;
	case 3:	/* cut off */
		r->len = NLMSG_HDRLEN + GENL_HDRLEN + any(r->len - NLMSG_HDRLEN - GENL_HDRLEN + 1);
		break;
	case 4:	/* rubbish behind */
		r->len += any(32);
		break;
	case 5:	/* any byte */
		r->buf[NLMSG_HDRLEN + any(r->len - NLMSG_HDRLEN)] = any(256);
		break;
	case 6:
		h->nlmsg_flags ^= NLM_F_DUMP;
		break;
	}
}

static void make(struct nl_req *r)
{
	const struct shuffle_attr_op *op;
	unsigned int i, n;

	/* those that cannot be called now and then only */
	do {
		op = &shuffle_attr_ops[any(shuffle_attr_n_ops)];
	} while (op->group && any(20));
	n = op->n_request ? any(4) : 0;
	nl_begin(r, op->cmd, op->has_dump && any(2) ? NLM_F_DUMP : 0);
	for (i = 0; i < n; i++) {
		uint16_t type = op->request[any(op->n_request)];

		good(r, type, &op->set->attr[type]);
	}
	for (n = any(3) ? 0 : 1 + any(2); n; n--)
		bad(r, op->set);
	if (!any(3))
		damage(r);
	((struct nlmsghdr *)r->buf)->nlmsg_len = r->len;
}

int main(int argc, char **argv)
{
	unsigned int messages = argc > 1 ? strtoul(argv[1], NULL, 0) : 12000;
	unsigned int i, accepted = 0, refused = 0, silent = 0, errors[256] = { 0 };
	struct sockaddr_shuffle m[2];
	struct nl_result res;
	static struct nl_req r;
	int fd, fds[2];

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	api_start(1, argv);
	fd = nl_open();
	open_pair(fds, m, 0);
	/* something to look at, and to cancel */
	send_row(fds[0], 0, 1000, 2000, "", 1, MSG_DONTWAIT);
	for (i = 0; i < messages; i++) {
		make(&r);
		res = nl_call(fd, &r, NULL, NULL);
		if (res.err == ETIMEDOUT)
			silent++;
		else if (res.err)
			refused++;
		else
			accepted++;
		errors[res.err & 255]++;
	}
	printf("# %u messages: %u accepted, %u refused", messages, accepted, refused);
	for (i = 1; i < 256; i++)
		if (errors[i])
			printf(", %s %u", strerrorname_np(i), errors[i]);
	printf("\n");
	WORKS(!silent, "every message is answered");
	WORKS(EXPECT_GT(accepted, messages / 20) && EXPECT_GT(refused, messages / 4),
	      "some are accepted, many refused");
	close_pair(fds);
	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u64(&r, SHUFFLE_A_CONFIG_UNSET, SHUFFLE_NL_SETTING_MEM_MAX - 1);
	WORKS_ERRNO(nl_call(fd, &r, NULL, NULL).err, 0, "settings can be given back");
	open_pair(fds, m, 0);
	WORKS(pair_works(fds), "a pair shuffles");
	close_pair(fds);
	return api_finish();
}
