// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control plane, and links of the namespaces: requests by any thread.  ../nl.c has buffers
 * that all its callers share and ends the program where there is no family.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/shuffle_diag.h>
#include <linux/shuffle_netlink.h>

#include "torture.h"

#define ANSWER	32768

struct request {
	struct nlmsghdr h;
	struct genlmsghdr g;
	char attrs[512];
};

static _Atomic int family;

static void begin(struct request *r, uint16_t type, uint8_t cmd, uint16_t flags)
{
	memset(r, 0, sizeof(*r));
	r->h.nlmsg_type = type;
	r->h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	r->h.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r->g.cmd = cmd;
	r->g.version = 1;
}

static void add(struct request *r, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (void *)((char *)r + NLMSG_ALIGN(r->h.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((char *)a + NLA_HDRLEN, data, len);
	r->h.nlmsg_len = NLMSG_ALIGN(r->h.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

/* Value of an attribute of a message, or NULL. */
static const void *attr(const struct nlmsghdr *h, uint16_t type)
{
	const char *p = (const char *)NLMSG_DATA(h) + GENL_HDRLEN;
	const char *end = (const char *)h + h->nlmsg_len;
	const struct nlattr *a;

	while (p + NLA_HDRLEN <= end) {
		a = (const void *)p;
		if (a->nla_len < NLA_HDRLEN)
			break;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return p + NLA_HDRLEN;
		p += NLA_ALIGN(a->nla_len);
	}
	return NULL;
}

/* How many objects were answered, or a negative errno; the value of @type of the last one. */
static int talk(int fd, struct request *r, uint16_t type, void *value, size_t size)
{
	static _Atomic uint32_t seq;
	char buf[ANSWER] __attribute__((aligned(8)));
	uint32_t mine = ++seq;
	struct nlmsghdr *h;
	const void *v;
	int found = 0;
	ssize_t n;

	r->h.nlmsg_seq = mine;
	if (send(fd, r, r->h.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_seq != mine)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR) {
				int err = ((struct nlmsgerr *)NLMSG_DATA(h))->error;

				return err ? err : found;
			}
			if (h->nlmsg_type == NLMSG_DONE)
				return found;
			v = attr(h, type);
			if (v)
				memcpy(value, v, size);
			found++;
		}
	}
}

int netlink_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	struct timeval limit = { .tv_sec = tmo_ms(10) / 1000 };
	struct request r;
	uint16_t id = 0;
	int rc;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (family)
		return fd;
	begin(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	add(&r, CTRL_ATTR_FAMILY_NAME, SHUFFLE_GENL_NAME, sizeof(SHUFFLE_GENL_NAME));
	rc = talk(fd, &r, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	if (rc < 0 || !id) {
		close(fd);
		errno = rc < 0 ? -rc : ENOENT;
		return -1;
	}
	/* a module that is loaded anew has another number */
	if (!mix || !mix->loads)
		family = id;
	return fd;
}

static uint16_t family_id(int fd)
{
	struct request r;
	uint16_t id = 0;

	if (family)
		return family;
	begin(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	add(&r, CTRL_ATTR_FAMILY_NAME, SHUFFLE_GENL_NAME, sizeof(SHUFFLE_GENL_NAME));
	talk(fd, &r, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	return id ? id : 0xffff;
}

int netlink_cancel(int fd, uint64_t op)
{
	struct request r;

	begin(&r, family_id(fd), SHUFFLE_CMD_OP_CANCEL, 0);
	add(&r, SHUFFLE_A_OP_OP_ID, &op, sizeof(op));
	return talk(fd, &r, 0, NULL, 0);
}

int netlink_idle(int fd, uint32_t ms)
{
	struct request r;

	begin(&r, family_id(fd), SHUFFLE_CMD_CONFIG_SET, 0);
	add(&r, SHUFFLE_A_CONFIG_IDLE_TIMEOUT, &ms, sizeof(ms));
	return talk(fd, &r, 0, NULL, 0);
}

/* Settings that may change at any moment without making a round endless; from, to. */
static const struct {
	uint16_t attr;
	uint32_t least, most;
} settings[] = {
	{ SHUFFLE_A_CONFIG_OVERCOMMIT, 1, 50 },
	{ SHUFFLE_A_CONFIG_WINDOW_MODE, 0, 2 },
	{ SHUFFLE_A_CONFIG_LINK_RATE, 100, 100000 },
	{ SHUFFLE_A_CONFIG_RTT, 1000, 1000000 },
	{ SHUFFLE_A_CONFIG_RTT_BYTES, 3000, 1000000 },
	{ SHUFFLE_A_CONFIG_PACKET_SIZE, 576, 9000 },
	{ SHUFFLE_A_CONFIG_CONTROL_DSCP, 0, 63 },
	{ SHUFFLE_A_CONFIG_RESEND_MIN, 100, 20000 },
	{ SHUFFLE_A_CONFIG_OP_ORDER, 0, 2 },
	{ SHUFFLE_A_CONFIG_GIVE_WAY, 0, 1 },
	{ SHUFFLE_A_CONFIG_EGRESS_BYTES, 3000, 200000 },
	{ SHUFFLE_A_CONFIG_EARLY_BYTES, 4096, 1 << 22 },
	{ SHUFFLE_A_CONFIG_EARLY_EXPIRY, 100, 30000 },
	{ SHUFFLE_A_CONFIG_FINISHED_MAX, 1, 4096 },
	{ SHUFFLE_A_CONFIG_FINISHED_EXPIRY, 100, 60000 },
	{ SHUFFLE_A_CONFIG_SNDBUF, 65536, 1 << 23 },
	{ SHUFFLE_A_CONFIG_RCVBUF, 131072, 1 << 23 },
	{ SHUFFLE_A_CONFIG_ECHO, 0, 2 },
};

int netlink_config(int fd, struct dice *d)
{
	uint32_t i = roll(d, sizeof(settings) / sizeof(settings[0]));
	uint32_t value = settings[i].least + roll(d, settings[i].most - settings[i].least + 1);
	struct request r;
	uint64_t bit;

	begin(&r, family_id(fd), SHUFFLE_CMD_CONFIG_SET, 0);
	if (roll(d, 2)) {
		bit = 1ULL << (settings[i].attr - SHUFFLE_A_CONFIG_OVERCOMMIT);
		add(&r, SHUFFLE_A_CONFIG_UNSET, &bit, sizeof(bit));
	} else {
		add(&r, settings[i].attr, &value, sizeof(value));
	}
	return talk(fd, &r, 0, NULL, 0);
}

int netlink_dump(int fd, struct dice *d)
{
	static const uint8_t cmds[] = {
		SHUFFLE_CMD_CONFIG_GET, SHUFFLE_CMD_OP_GET, SHUFFLE_CMD_MSG_GET,
		SHUFFLE_CMD_PEER_GET, SHUFFLE_CMD_SOCKET_GET, SHUFFLE_CMD_STATS_GET,
	};
	struct request r;

	begin(&r, family_id(fd), cmds[roll(d, sizeof(cmds))], NLM_F_DUMP);
	return talk(fd, &r, 0, NULL, 0);
}

int64_t netlink_mem_used(int fd)
{
	struct request r;
	int64_t used = -1;

	begin(&r, family_id(fd), SHUFFLE_CMD_CONFIG_GET, 0);
	return talk(fd, &r, SHUFFLE_A_CONFIG_MEM_USED, &used, sizeof(used)) < 0 ? -1 : used;
}

int netlink_sockets(int fd)
{
	struct request r;

	begin(&r, family_id(fd), SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP);
	return talk(fd, &r, 0, NULL, 0);
}

int netlink_diag(void)
{
	struct {
		struct nlmsghdr h;
		struct shuffle_diag_req q;
	} req = { .h = { .nlmsg_len = sizeof(req), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = 1 },
		  .q = { .sdiag_family = sht_family() } };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct timeval limit = { .tv_sec = tmo_ms(10) / 1000 };
	char buf[ANSWER] __attribute__((aligned(8)));
	struct nlmsghdr *h;
	ssize_t n;
	int found = 0;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (send(fd, &req, sizeof(req), 0) < 0)
		goto out;
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				goto out;
			found++;
		}
	}
out:
	close(fd);
	return found;
}

int link_updown(const char *name, bool up)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
	struct ifreq ifr = { .ifr_flags = up ? IFF_UP : 0 };

	if (fd < 0)
		return -1;
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return rc;
}
