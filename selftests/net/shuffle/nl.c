// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/sock_diag.h>

#include "nl.h"
#include "shtest.h"

static uint16_t family;
static struct {
	char		name[16];
	uint32_t	id;
} groups[8];
static unsigned int n_groups;
static uint32_t seq;

uint16_t nl_family(void)
{
	return family;
}

const void *nl_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

int nl_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

uint32_t nl_get_u32(const struct nlattr *a)
{
	return nl_get_u64(a);
}

uint64_t nl_get_u64(const struct nlattr *a)
{
	size_t len = !a ? 0 : nl_len(a) < 8 ? nl_len(a) : 8;
	uint64_t v = 0;

	/* shorter ones are numbers, too: the last bytes of @v where the first is the greatest */
	if (len)
		memcpy((char *)&v + (htons(1) == 1 ? 8 - len : 0), nl_data(a), len);
	return v;
}

const char *nl_get_str(const struct nlattr *a)
{
	return a ? nl_data(a) : "";
}

static void parse(struct nlattr **attrs, const void *data, int len)
{
	memset(attrs, 0, NL_MAX_ATTR * sizeof(*attrs));
	while (len >= NLA_HDRLEN) {
		struct nlattr *a = (struct nlattr *)data;
		int step = NLA_ALIGN(a->nla_len);

		if (a->nla_len < NLA_HDRLEN || a->nla_len > len)
			return;
		if ((a->nla_type & NLA_TYPE_MASK) < NL_MAX_ATTR)
			attrs[a->nla_type & NLA_TYPE_MASK] = a;
		data = (const char *)data + step;
		len -= step;
	}
}

void nl_begin(struct nl_req *r, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *h = (struct nlmsghdr *)r->buf;
	struct genlmsghdr *g = (struct genlmsghdr *)(r->buf + NLMSG_HDRLEN);

	memset(r->buf, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	h->nlmsg_type = family;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	g->cmd = cmd;
	g->version = SHUFFLE_GENL_VERSION;
	r->len = NLMSG_HDRLEN + GENL_HDRLEN;
}

void nl_add(struct nl_req *r, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (struct nlattr *)(r->buf + r->len);

	if (r->len + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(r->buf))
		return;
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memset(r->buf + r->len + NLA_HDRLEN, 0, NLA_ALIGN(len));
	if (len)
		memcpy(r->buf + r->len + NLA_HDRLEN, data, len);
	r->len += NLA_HDRLEN + NLA_ALIGN(len);
}

void nl_u32(struct nl_req *r, uint16_t type, uint32_t v)
{
	nl_add(r, type, &v, sizeof(v));
}

void nl_u64(struct nl_req *r, uint16_t type, uint64_t v)
{
	nl_add(r, type, &v, sizeof(v));
}

static void policy(struct nl_result *res, const struct nlattr *nest)
{
	struct nlattr *a[NL_MAX_ATTR];

	parse(a, nl_data(nest), nl_len(nest));
	if (!a[NL_POLICY_TYPE_ATTR_MAX_VALUE_U] && !a[NL_POLICY_TYPE_ATTR_MASK])
		return;
	res->has_range = true;
	res->min = nl_get_u64(a[NL_POLICY_TYPE_ATTR_MIN_VALUE_U]);
	res->max = nl_get_u64(a[NL_POLICY_TYPE_ATTR_MAX_VALUE_U] ?:
			      a[NL_POLICY_TYPE_ATTR_MASK]);
}

static void extack(struct nl_result *res, const struct nlmsghdr *h,
		   const struct nlmsghdr *req, int skip)
{
	struct nlattr *a[NL_MAX_ATTR];
	const char *p = (const char *)h + skip;

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	parse(a, p, h->nlmsg_len - skip);
	if (a[NLMSGERR_ATTR_MSG])
		snprintf(res->msg, sizeof(res->msg), "%s", nl_get_str(a[NLMSGERR_ATTR_MSG]));
	if (a[NLMSGERR_ATTR_OFFS] && req) {
		const struct nlattr *bad = (const void *)((const char *)req +
						nl_get_u32(a[NLMSGERR_ATTR_OFFS]));

		res->bad_attr = bad->nla_type & NLA_TYPE_MASK;
	}
	if (a[NLMSGERR_ATTR_MISS_TYPE])
		res->miss_attr = nl_get_u32(a[NLMSGERR_ATTR_MISS_TYPE]);
	if (a[NLMSGERR_ATTR_POLICY])
		policy(res, a[NLMSGERR_ATTR_POLICY]);
}

/* One message; true: the answer is complete. */
static bool handle(struct nlmsghdr *h, const struct nl_req *r, struct nl_result *res,
		   nl_cb cb, void *arg)
{
	const struct nlmsghdr *req = (const void *)r->buf;
	struct nlattr *a[NL_MAX_ATTR];
	struct nlmsgerr *e = NLMSG_DATA(h);
	struct genlmsghdr *g = NLMSG_DATA(h);
	int skip = NLMSG_HDRLEN + sizeof(*e);

	if (h->nlmsg_flags & NLM_F_DUMP_INTR)
		res->interrupted = true;
	if (h->nlmsg_type == NLMSG_ERROR) {
		res->err = -e->error;
		if (!(h->nlmsg_flags & NLM_F_CAPPED))
			skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
		extack(res, h, req, skip);
		return true;
	}
	if (h->nlmsg_type == NLMSG_DONE) {
		if (h->nlmsg_len >= NLMSG_HDRLEN + sizeof(int)) {
			res->err = -*(int *)NLMSG_DATA(h);
			extack(res, h, req, NLMSG_HDRLEN + sizeof(int));
		}
		return true;
	}
	res->n++;
	parse(a, (char *)g + GENL_HDRLEN, h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN);
	if (cb)
		cb(g->cmd, a, arg);
	return false;
}

struct nl_result nl_call(int fd, struct nl_req *r, nl_cb cb, void *arg)
{
	struct nlmsghdr *h = (struct nlmsghdr *)r->buf;
	static char buf[NL_BUF] __attribute__((aligned(8)));
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct nl_result res = { 0 };
	bool done = false;
	ssize_t n;

	if (!h->nlmsg_len)
		h->nlmsg_len = r->len;
	h->nlmsg_seq = ++seq;
	if (send(fd, r->buf, r->len, 0) < 0) {
		res.err = errno;
		return res;
	}
	while (!done) {
		if (poll(&pfd, 1, 20000) <= 0) {
			res.err = ETIMEDOUT;
			return res;
		}
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0) {
			res.err = errno;
			return res;
		}
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n))
			if (h->nlmsg_seq == seq)
				done |= handle(h, r, &res, cb, arg);
	}
	return res;
}

bool nl_event(int fd, uint8_t cmd, int ms, nl_cb cb, void *arg)
{
	static char buf[NL_BUF] __attribute__((aligned(8)));
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	uint64_t end = sht_now_ms() + ms;
	struct nlattr *a[NL_MAX_ATTR];
	struct nlmsghdr *h;
	ssize_t n;

	for (;;) {
		int64_t left = end - sht_now_ms();

		if (left <= 0 || poll(&pfd, 1, left) <= 0) {
			errno = ETIMEDOUT;
			return false;
		}
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0)
			return false;
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			struct genlmsghdr *g = NLMSG_DATA(h);

			if (h->nlmsg_type != family || (cmd && g->cmd != cmd))
				continue;
			parse(a, (char *)g + GENL_HDRLEN,
			      h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN);
			if (cb)
				cb(g->cmd, a, arg);
			return true;
		}
	}
}

static void family_cb(uint8_t cmd, struct nlattr **a, void *arg)
{
	const struct nlattr *list = a[CTRL_ATTR_MCAST_GROUPS];
	struct nlattr *g[NL_MAX_ATTR], *one[NL_MAX_ATTR];
	int i;

	(void)cmd;
	(void)arg;
	memcpy(&family, nl_data(a[CTRL_ATTR_FAMILY_ID]), 2);
	if (!list)
		return;
	parse(g, nl_data(list), nl_len(list));
	for (n_groups = 0, i = 0; i < NL_MAX_ATTR && n_groups < 8; i++) {
		if (!g[i])
			continue;
		parse(one, nl_data(g[i]), nl_len(g[i]));
		snprintf(groups[n_groups].name, sizeof(groups[0].name), "%s",
			 nl_get_str(one[CTRL_ATTR_MCAST_GRP_NAME]));
		groups[n_groups++].id = nl_get_u32(one[CTRL_ATTR_MCAST_GRP_ID]);
	}
}

int nl_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	struct sockaddr_nl me = { .nl_family = AF_NETLINK };
	struct nl_result res;
	struct nl_req r;
	int one = 1;

	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof(me))) {
		printf("Bail out! no netlink socket: %s\n", strerror(errno));
		exit(1);
	}
	if (family)
		return fd;
	family = GENL_ID_CTRL;
	nl_begin(&r, CTRL_CMD_GETFAMILY, 0);
	nl_add(&r, CTRL_ATTR_FAMILY_NAME, SHUFFLE_GENL_NAME, sizeof(SHUFFLE_GENL_NAME));
	res = nl_call(fd, &r, family_cb, NULL);
	if (res.err) {
		printf("Bail out! no netlink family: %s\n", strerror(res.err));
		exit(1);
	}
	return fd;
}

void nl_join(int fd, const char *group)
{
	unsigned int i;

	for (i = 0; i < n_groups; i++)
		if (!strcmp(groups[i].name, group) &&
		    !setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i].id, 4))
			return;
	printf("Bail out! cannot join %s\n", group);
	exit(1);
}

int nl_diag(int fd, uint16_t flags, const struct shuffle_diag_req *q, struct shuffle_diag_msg *m)
{
	struct {
		struct nlmsghdr h;
		struct shuffle_diag_req q;
	} req = { .h = { .nlmsg_len = sizeof(req), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | flags, .nlmsg_seq = 1 }, .q = *q };
	static char buf[NL_BUF];
	struct nlmsghdr *h;
	ssize_t n;
	int found = 0;

	if (send(fd, &req, sizeof(req), 0) < 0)
		return -errno;
	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			return -errno;
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			if (h->nlmsg_type == NLMSG_DONE)
				return found;
			*m = *(struct shuffle_diag_msg *)NLMSG_DATA(h);
			found++;
			if (!(flags & NLM_F_DUMP))
				return found;
		}
	}
}
