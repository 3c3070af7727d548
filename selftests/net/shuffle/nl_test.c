// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control plane: every command and every event of the netlink family, and
 * sock_diag, in a namespace of its own.  TAP.
 *
 * usage: nl_test [-v 6]
 *        nl_test events EVENT SECONDS   as they come in this namespace, with attributes
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/capability.h>
#include <linux/inet_diag.h>
#include <linux/shuffle_diag.h>
#include <linux/sock_diag.h>

#include "api.h"
#include "nl.h"
#include "../../../tools/shufflectl/shuffle_attrs.h"

/* The attributes of the last message, and how many there were. */
struct seen {
	unsigned int	n;
	uint32_t	v[NL_MAX_ATTR];
	uint64_t	v64[NL_MAX_ATTR];
	uint64_t	prev;		/* SHUFFLE_A_SOCKET_SOCKET of the one before */
	bool		has[NL_MAX_ATTR];
	char		str[32];
};

static void look(uint8_t cmd, struct nlattr **a, void *arg)
{
	struct seen *s = arg;
	int i;

	(void)cmd;
	s->n++;
	s->prev = s->v64[SHUFFLE_A_SOCKET_SOCKET];
	for (i = 0; i < NL_MAX_ATTR; i++) {
		s->has[i] = a[i];
		s->v[i] = nl_get_u32(a[i]);
		s->v64[i] = nl_get_u64(a[i]);
	}
	if (a[SHUFFLE_A_STAT_NAME])
		snprintf(s->str, sizeof(s->str), "%.31s", nl_get_str(a[SHUFFLE_A_STAT_NAME]));
}

/* The request must fail like this; attributes 0: none is named. */
static void refused(struct nl_result res, const char *name, int err, int bad, int miss,
		    const char *word)
{
	char detail[400] = "";
	bool ok = res.err == err && res.bad_attr == bad && res.miss_attr == miss &&
		  strstr(res.msg, word);

	if (!ok)
		snprintf(detail, sizeof(detail),
			 "got %s, attribute %d, missing %d, \"%s\", want %s, %d, %d, \"%s\"",
			 res.err ? strerrorname_np(res.err) : "0", res.bad_attr,
			 res.miss_attr, res.msg, strerrorname_np(err), bad, miss, word);
	result(ok, name, detail);
}

static struct nl_result simple(int fd, uint8_t cmd, uint16_t flags, struct seen *s)
{
	struct nl_req r;

	nl_begin(&r, cmd, flags);
	return nl_call(fd, &r, s ? look : NULL, s);
}

static struct nl_result set(int fd, uint16_t attr, uint32_t v)
{
	struct nl_req r;

	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, attr, v);
	return nl_call(fd, &r, NULL, NULL);
}

/* Settings to give back, as bits. */
static struct nl_result unset(int fd, uint64_t bits)
{
	struct nl_req r;

	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u64(&r, SHUFFLE_A_CONFIG_UNSET, bits);
	return nl_call(fd, &r, NULL, NULL);
}

static uint64_t own_settings(int fd)
{
	struct seen s = { 0 };

	simple(fd, SHUFFLE_CMD_CONFIG_GET, 0, &s);
	return s.v64[SHUFFLE_A_CONFIG_OWN];
}

static uint32_t get(int fd, uint16_t attr)
{
	struct seen s = { 0 };

	simple(fd, SHUFFLE_CMD_CONFIG_GET, 0, &s);
	return s.has[attr] ? s.v[attr] : ~0U;
}

static const struct {
	uint16_t	attr;
	uint32_t	value, low, high;	/* just out of range; low 0: none */
} settings[] = {
	{ SHUFFLE_A_CONFIG_OVERCOMMIT, 3, 0, 1001 },
	{ SHUFFLE_A_CONFIG_WINDOW_MODE, 1, 0, 3 },
	{ SHUFFLE_A_CONFIG_SCALE_BACK_EXPONENT, 1, 0, 5 },
	{ SHUFFLE_A_CONFIG_UNSCHEDULED, 5000, 0, 67108865 },
	{ SHUFFLE_A_CONFIG_LINK_RATE, 25000, 0, 10000001 },
	{ SHUFFLE_A_CONFIG_RTT, 4000, 0, 1000000001 },
	{ SHUFFLE_A_CONFIG_RTT_BYTES, 12500, 0, 67108865 },
	{ SHUFFLE_A_CONFIG_PACKET_SIZE, 1000, 0, 32769 },
	{ SHUFFLE_A_CONFIG_CONTROL_DSCP, 46, 0, 64 },
	{ SHUFFLE_A_CONFIG_RESEND_FIRST, 2000, 9, 10000001 },
	{ SHUFFLE_A_CONFIG_RESEND_MIN, 500, 9, 10000001 },
	{ SHUFFLE_A_CONFIG_RESEND_MAX, 2000000, 999, 60000001 },
	{ SHUFFLE_A_CONFIG_OP_ORDER, 1, 0, 3 },
	{ SHUFFLE_A_CONFIG_GIVE_WAY, 25, 0, 91 },
	{ SHUFFLE_A_CONFIG_PORT, 18519, 0, 65536 },
	{ SHUFFLE_A_CONFIG_EGRESS_BYTES, 65536, 0, 67108865 },
	{ SHUFFLE_A_CONFIG_EARLY_BYTES, 65536, 0, 1073741825 },
	{ SHUFFLE_A_CONFIG_EARLY_EXPIRY, 1000, 0, 3600001 },
	{ SHUFFLE_A_CONFIG_FINISHED_MAX, 100, 0, 1048577 },
	{ SHUFFLE_A_CONFIG_FINISHED_EXPIRY, 1000, 0, 3600001 },
	{ SHUFFLE_A_CONFIG_IDLE_TIMEOUT, 12345, 0, 86400001 },
	{ SHUFFLE_A_CONFIG_SNDBUF, 100000, 4095, 1073741825 },
	{ SHUFFLE_A_CONFIG_RCVBUF, 200000, 4095, 1073741825 },
};

#define N_SETTINGS	(sizeof(settings) / sizeof(settings[0]))

static void test_config(int fd)
{
	uint32_t before[N_SETTINGS];
	struct nl_result res;
	struct seen s = { 0 };
	struct nl_req r;
	char name[64];
	unsigned int i;

	res = simple(fd, SHUFFLE_CMD_CONFIG_GET, 0, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_CONFIG_FAMILY], (uint32_t)sht_family()) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_CONFIG_WIRE_VERSION], 3) && !s.v64[SHUFFLE_A_CONFIG_OWN],
	      "config-get: family number, version, nothing set");
	for (i = 0; i < N_SETTINGS; i++) {
		before[i] = s.v[settings[i].attr];
		snprintf(name, sizeof(name), "config-set: setting %u", i);
		res = set(fd, settings[i].attr, settings[i].value);
		WORKS(EXPECT_ERRNO(res.err, 0) &&
		      EXPECT_EQ(get(fd, settings[i].attr), settings[i].value) &&
		      own_settings(fd) >> i & 1, name);
		snprintf(name, sizeof(name), "config-set: setting %u too large", i);
		res = set(fd, settings[i].attr, settings[i].high);
		if (settings[i].attr == SHUFFLE_A_CONFIG_WINDOW_MODE ||
		    settings[i].attr == SHUFFLE_A_CONFIG_OP_ORDER)
			res.bad_attr = res.bad_attr ?: -1;
		result(res.err == ERANGE && res.bad_attr == settings[i].attr && res.has_range &&
		       res.max == settings[i].high - 1, name, res.msg);
		if (!settings[i].low)
			continue;
		snprintf(name, sizeof(name), "config-set: setting %u too small", i);
		res = set(fd, settings[i].attr, settings[i].low);
		result(res.err == ERANGE && res.bad_attr == settings[i].attr && res.has_range &&
		       res.min == settings[i].low + 1, name, res.msg);
	}
	WORKS_EQ(get(fd, SHUFFLE_A_CONFIG_RTT_BYTES_NOW), 12500, "RTTbytes as set");
	res = unset(fd, (1ULL << N_SETTINGS) - 1);
	s.n = 0;
	simple(fd, SHUFFLE_CMD_CONFIG_GET, 0, &s);
	for (i = 0; i < N_SETTINGS && s.v[settings[i].attr] == before[i]; i++)
		;
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(i, N_SETTINGS) && !s.v64[SHUFFLE_A_CONFIG_OWN],
	      "config-set: unset gives all of them back");

	refused(simple(fd, SHUFFLE_CMD_CONFIG_SET, 0, NULL), "config-set: nothing",
		EINVAL, 0, 0, "no setting");
	refused(set(fd, SHUFFLE_A_CONFIG_PACKET_SIZE, 255), "config-set: packet-size 255",
		ERANGE, 0, 0, "packet-size");
	refused(set(fd, SHUFFLE_A_CONFIG_RESEND_MAX, 1000), "config-set: resend-max too small",
		ERANGE, 0, 0, "resend-first");
	refused(set(fd, SHUFFLE_A_CONFIG_RTT_NOW, 1), "config-set: what can only be read",
		EINVAL, SHUFFLE_A_CONFIG_RTT_NOW, 0, "");
	refused(set(fd, 60, 1), "config-set: no such attribute", EINVAL, 60, 0, "nknown");
	refused(set(fd, SHUFFLE_A_CONFIG_IFINDEX, 7777), "config-set: no such device",
		ENODEV, SHUFFLE_A_CONFIG_IFINDEX, 0, "ifindex");

	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, SHUFFLE_A_CONFIG_OVERCOMMIT, 4);
	nl_u32(&r, SHUFFLE_A_CONFIG_OVERCOMMIT, 5);
	refused(nl_call(fd, &r, NULL, NULL), "config-set: given twice", EINVAL,
		SHUFFLE_A_CONFIG_OVERCOMMIT, 0, "twice");
	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, SHUFFLE_A_CONFIG_OVERCOMMIT, 4);
	nl_u64(&r, SHUFFLE_A_CONFIG_UNSET, SHUFFLE_NL_SETTING_OVERCOMMIT);
	refused(nl_call(fd, &r, NULL, NULL), "config-set: set and unset", EINVAL,
		SHUFFLE_A_CONFIG_OVERCOMMIT, 0, "unset");
	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u64(&r, SHUFFLE_A_CONFIG_MEM_MAX, 1 << 30);
	refused(nl_call(fd, &r, NULL, NULL), "config-set: mem-max outside of the initial namespace",
		EOPNOTSUPP, SHUFFLE_A_CONFIG_MEM_MAX, 0, "mem-max");
	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, SHUFFLE_A_CONFIG_OVERCOMMIT, 4);
	nl_u32(&r, SHUFFLE_A_CONFIG_PACKET_SIZE, 3);
	nl_call(fd, &r, NULL, NULL);
	WORKS_EQ(get(fd, SHUFFLE_A_CONFIG_OVERCOMMIT), 10, "config-set: all or nothing");
}

static void test_device(int fd)
{
	uint32_t lo = if_nametoindex("lo");
	struct seen s = { 0 };
	struct nl_result res;
	struct nl_req r;

	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, SHUFFLE_A_CONFIG_IFINDEX, lo);
	nl_u32(&r, SHUFFLE_A_CONFIG_LINK_RATE, 1000);
	nl_u32(&r, SHUFFLE_A_CONFIG_RTT, 100000);
	res = nl_call(fd, &r, NULL, NULL);
	WORKS_ERRNO(res.err, 0, "config-set: a device");
	set(fd, SHUFFLE_A_CONFIG_LINK_RATE, 40000);
	set(fd, SHUFFLE_A_CONFIG_OVERCOMMIT, 6);
	nl_begin(&r, SHUFFLE_CMD_CONFIG_GET, 0);
	nl_u32(&r, SHUFFLE_A_CONFIG_IFINDEX, lo);
	res = nl_call(fd, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.v[SHUFFLE_A_CONFIG_LINK_RATE_NOW], 1000) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_CONFIG_RTT_BYTES_NOW], 12500) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_CONFIG_OVERCOMMIT], 6) && !s.has[SHUFFLE_A_CONFIG_PORT],
	      "config-get: a device keeps its own and follows in the rest");
	s.n = 0;
	res = simple(fd, SHUFFLE_CMD_CONFIG_GET, NLM_F_DUMP, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 2) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_CONFIG_IFINDEX], lo),
	      "config-get: dump of the namespace and its device");
	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, SHUFFLE_A_CONFIG_IFINDEX, lo);
	nl_u32(&r, SHUFFLE_A_CONFIG_PORT, 7);
	refused(nl_call(fd, &r, NULL, NULL), "config-set: a setting that devices do not have",
		EOPNOTSUPP, SHUFFLE_A_CONFIG_PORT, 0, "port");
	unset(fd, SHUFFLE_NL_SETTING_LINK_RATE | SHUFFLE_NL_SETTING_OVERCOMMIT);
}

/* An operation that stays: member 1 sends nothing. */
static uint64_t start(int fds[2])
{
	uint64_t op = next_op++;
	static const char data[3000];

	send_row(fds[0], op, 1000, 2000, data, 3000, 0);
	return op;
}

static struct nl_result about_op(int fd, uint8_t cmd, uint16_t flags, uint64_t op, uint64_t cookie,
				 struct seen *s)
{
	struct nl_req r;

	nl_begin(&r, cmd, flags);
	nl_u64(&r, SHUFFLE_A_OP_OP_ID, op);
	if (cookie)
		nl_u64(&r, SHUFFLE_A_OP_SOCKET, cookie);
	return nl_call(fd, &r, s ? look : NULL, s);
}

static void test_op(int fd)
{
	int i, cancelled = 0, end[2];
	struct sockaddr_shuffle m[2];
	struct seen s = { 0 };
	struct nl_result res;
	struct nl_req r;
	uint64_t op, cookie;
	int fds[2];

	open_pair(fds, m, 0);
	WORKS_ERRNO(set(fd, SHUFFLE_A_CONFIG_PORT, 818).err, 0,
		    "config-set: the same port while bound");
	refused(set(fd, SHUFFLE_A_CONFIG_PORT, 18600), "config-set: another port while bound",
		EBUSY, 0, 0, "port");
	op = start(fds);
	res = about_op(fd, SHUFFLE_CMD_OP_GET, 0, op, 0, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.v64[SHUFFLE_A_OP_OP_ID], op) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_MEMBERS], 2) &&
	      EXPECT_EQ(s.v64[SHUFFLE_A_OP_TX_BYTES], 3000) &&
	      EXPECT_EQ(s.v64[SHUFFLE_A_OP_TX_COPIED], 3000) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_STATE], SHUFFLE_NL_OP_STATE_RUNNING) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_TX_MESSAGES], 2) && s.has[SHUFFLE_A_OP_LOWER_BOUND],
	      "op-get: by its id");
	cookie = s.v64[SHUFFLE_A_OP_SOCKET];
	s.n = 0;
	res = simple(fd, SHUFFLE_CMD_OP_GET, NLM_F_DUMP, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 1), "op-get: dump");
	s.n = 0;
	res = about_op(fd, SHUFFLE_CMD_MSG_GET, NLM_F_DUMP, op, 0, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 4),
	      "msg-get: dump has two rows and two columns");
	nl_begin(&r, SHUFFLE_CMD_MSG_GET, 0);
	nl_u64(&r, SHUFFLE_A_MSG_OP_ID, op);
	nl_u32(&r, SHUFFLE_A_MSG_DIRECTION, SHUFFLE_NL_DIRECTION_IN);
	nl_u32(&r, SHUFFLE_A_MSG_RANK, 1);
	res = nl_call(fd, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_MSG_STATE], SHUFFLE_NL_MSG_STATE_UNKNOWN) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_MSG_PORT], ntohs(m[1].shs_port)) &&
	      !s.has[SHUFFLE_A_MSG_LENGTH], "msg-get: one that has not begun");
	nl_begin(&r, SHUFFLE_CMD_MSG_GET, 0);
	nl_u64(&r, SHUFFLE_A_MSG_OP_ID, op);
	nl_u32(&r, SHUFFLE_A_MSG_DIRECTION, SHUFFLE_NL_DIRECTION_OUT);
	nl_u32(&r, SHUFFLE_A_MSG_RANK, 2);
	refused(nl_call(fd, &r, NULL, NULL), "msg-get: rank 2 of 2", ERANGE,
		SHUFFLE_A_MSG_RANK, 0, "rank");
	refused(simple(fd, SHUFFLE_CMD_MSG_GET, 0, NULL), "msg-get: no operation", EINVAL, 0,
		SHUFFLE_A_MSG_OP_ID, "op-id");
	refused(simple(fd, SHUFFLE_CMD_MSG_GET, NLM_F_DUMP, NULL), "msg-get: dump, no operation",
		EINVAL, 0, 0, "op-id");
	refused(about_op(fd, SHUFFLE_CMD_MSG_GET, 0, op, 0, NULL), "msg-get: no direction", EINVAL,
		0, SHUFFLE_A_MSG_DIRECTION, "direction");
	refused(simple(fd, SHUFFLE_CMD_OP_GET, 0, NULL), "op-get: no operation", EINVAL, 0,
		SHUFFLE_A_OP_OP_ID, "op-id");
	refused(about_op(fd, SHUFFLE_CMD_OP_GET, 0, op + 9, 0, NULL), "op-get: unknown", ENOENT,
		SHUFFLE_A_OP_OP_ID, 0, "op-id");
	refused(about_op(fd, SHUFFLE_CMD_OP_GET, 0, op, cookie + 77, NULL),
		"op-get: unknown socket", ENOENT, SHUFFLE_A_OP_SOCKET, 0, "socket");

	send_row(fds[1], op, 1, 0, "x", 1, 0);
	read_end(fds[1], op);
	op = start(fds);
	send_row(fds[1], op, 100000000, 0, "x", 1, MSG_DONTWAIT);
	refused(about_op(fd, SHUFFLE_CMD_OP_GET, 0, op, 0, NULL), "op-get: of two sockets",
		ENOTUNIQ, SHUFFLE_A_OP_OP_ID, 0, "socket");
	WORKS_ERRNO(about_op(fd, SHUFFLE_CMD_OP_GET, 0, op, cookie, NULL).err, 0,
		    "op-get: of one of them");
	res = about_op(fd, SHUFFLE_CMD_OP_CANCEL, 0, op, 0, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_GE(s.v[SHUFFLE_A_OP_COUNT], 1),
	      "op-cancel: at both");
	/* the second one may have heard of the first before it is cancelled itself */
	for (i = 0; i < 2; i++) {
		end[i] = read_end(fds[i], op);
		cancelled += end[i] == ECANCELED;
		if (end[i] != ECANCELED)
			EXPECT_ERRNO(end[i], ECONNRESET);
	}
	WORKS_EQ(cancelled, s.v[SHUFFLE_A_OP_COUNT], "op-cancel: the processes are told");
	refused(about_op(fd, SHUFFLE_CMD_OP_CANCEL, 0, op, 0, NULL), "op-cancel: again", ENOENT,
		SHUFFLE_A_OP_OP_ID, 0, "op-id");
	refused(simple(fd, SHUFFLE_CMD_OP_CANCEL, 0, NULL), "op-cancel: no operation", EINVAL, 0,
		SHUFFLE_A_OP_OP_ID, "op-id");
	close_pair(fds);
	open_pair(fds, m, 0);
	WORKS(pair_works(fds), "a pair still shuffles");
	close_pair(fds);
	WORKS_ERRNO(set(fd, SHUFFLE_A_CONFIG_PORT, 18600).err, 0, "config-set: another port");
	open_pair(fds, m, 0);
	WORKS(pair_works(fds), "a pair shuffles by another port");
	close_pair(fds);
	unset(fd, SHUFFLE_NL_SETTING_PORT);
}

static void test_sockets(int fd)
{
	struct sockaddr_shuffle m[2];
	struct seen s = { 0 };
	struct nl_result res;
	struct nl_req r;
	struct stat st;
	int fds[2], lone;

	set(fd, SHUFFLE_A_CONFIG_RCVBUF, 300000);
	open_pair(fds, m, 0);
	unset(fd, SHUFFLE_NL_SETTING_RCVBUF);
	lone = new_socket(0);
	res = simple(fd, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP, &s);
	fstat(lone, &st);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 3) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_INODE], st.st_ino) && !s.has[SHUFFLE_A_SOCKET_PORT] &&
	      EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_RCVBUF], 8 << 20),
	      "socket-get: dump, the last one is not bound");
	nl_begin(&r, SHUFFLE_CMD_SOCKET_GET, 0);
	nl_u64(&r, SHUFFLE_A_SOCKET_SOCKET, s.prev);
	res = nl_call(fd, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_RCVBUF], 300000) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_MEMBERS], 2) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_RANK], 1),
	      "socket-get: one, with the buffer that was set before it was made");
	refused(simple(fd, SHUFFLE_CMD_SOCKET_GET, 0, NULL), "socket-get: which", EINVAL, 0,
		SHUFFLE_A_SOCKET_SOCKET, "socket");

	WORKS(pair_works(fds), "a pair shuffles");
	s.n = 0;
	res = simple(fd, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 1) &&
	      EXPECT_GE(s.v[SHUFFLE_A_PEER_MEMBERS], 4) &&
	      EXPECT_GE(s.v64[SHUFFLE_A_PEER_RX_BYTES], 3001) && s.has[SHUFFLE_A_PEER_PATH_MTU],
	      "peer-get: dump");
	nl_begin(&r, SHUFFLE_CMD_PEER_GET, 0);
	nl_add(&r, v6 ? SHUFFLE_A_PEER_IPV6 : SHUFFLE_A_PEER_IPV4, m[0].shs_addr, v6 ? 16 : 4);
	res = nl_call(fd, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_GE(s.v[SHUFFLE_A_PEER_MEMBERS], 4),
	      "peer-get: by its address");
	refused(simple(fd, SHUFFLE_CMD_PEER_GET, 0, NULL), "peer-get: which", EINVAL, 0, 0, "ipv4");
	nl_begin(&r, SHUFFLE_CMD_PEER_GET, 0);
	nl_add(&r, SHUFFLE_A_PEER_IPV4, "\1\2\3\4", 4);
	refused(nl_call(fd, &r, NULL, NULL), "peer-get: nobody", ENOENT, SHUFFLE_A_PEER_IPV4, 0,
		"address");

	s.n = 0;
	res = simple(fd, SHUFFLE_CMD_STATS_GET, NLM_F_DUMP, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_GT(s.n, 30) && s.has[SHUFFLE_A_STAT_DOC] &&
	      s.str[0], "stats-get: dump");
	nl_begin(&r, SHUFFLE_CMD_STATS_GET, 0);
	nl_add(&r, SHUFFLE_A_STAT_NAME, "OpsDone", 8);
	res = nl_call(fd, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_GE(s.v64[SHUFFLE_A_STAT_VALUE], 2),
	      "stats-get: by name");
	nl_begin(&r, SHUFFLE_CMD_STATS_GET, 0);
	nl_add(&r, SHUFFLE_A_STAT_NAME, "Nonsense", 9);
	refused(nl_call(fd, &r, NULL, NULL), "stats-get: no such", ENOENT, SHUFFLE_A_STAT_NAME, 0,
		"name");
	refused(simple(fd, SHUFFLE_CMD_STATS_GET, 0, NULL), "stats-get: which", EINVAL, 0,
		SHUFFLE_A_STAT_NAME, "name");
	close(lone);
	close_pair(fds);
	s.n = 0;
	simple(fd, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP, &s);
	WORKS_EQ(s.n, 0, "socket-get: none is left");
}

static void test_events(int fd)
{
	int ops = nl_open(), config = nl_open();
	struct sockaddr_shuffle m[2];
	struct seen s = { 0 };
	uint64_t op;
	int fds[2];

	nl_join(ops, SHUFFLE_MCGRP_OPS);
	nl_join(config, SHUFFLE_MCGRP_CONFIG);
	open_pair(fds, m, 0);
	op = next_op;
	WORKS(pair_works(fds), "a pair shuffles");
	WORKS(nl_event(ops, SHUFFLE_CMD_OP_STARTED_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v64[SHUFFLE_A_OP_OP_ID], op) && EXPECT_EQ(s.v[SHUFFLE_A_OP_MEMBERS], 2),
	      "event: started");
	WORKS(nl_event(ops, SHUFFLE_CMD_OP_FINISHED_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v64[SHUFFLE_A_OP_OP_ID], op) && s.v64[SHUFFLE_A_OP_DURATION] &&
	      s.v64[SHUFFLE_A_OP_LOWER_BOUND] &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_SLOWDOWN],
			s.v64[SHUFFLE_A_OP_DURATION] * 1000 /
			s.v64[SHUFFLE_A_OP_LOWER_BOUND]),
	      "event: finished, duration by lower bound is the slowdown");
	op = start(fds);
	WORKS_ERRNO(about_op(fd, SHUFFLE_CMD_OP_CANCEL, 0, op, 0, NULL).err, 0, "cancel");
	WORKS(nl_event(ops, SHUFFLE_CMD_OP_FAILED_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v64[SHUFFLE_A_OP_OP_ID], op) &&
	      EXPECT_ERRNO(s.v[SHUFFLE_A_OP_ERROR], ECANCELED) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_MISSING_IN], 1) &&
	      EXPECT_GE(s.v[SHUFFLE_A_OP_MISSING_IN_COUNT], 1),
	      "event: failed, and who is missing");
	op = start(fds);
	close_pair(fds);
	WORKS(nl_event(ops, SHUFFLE_CMD_OP_FAILED_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v64[SHUFFLE_A_OP_OP_ID], op) &&
	      EXPECT_ERRNO(s.v[SHUFFLE_A_OP_ERROR], ECANCELED),
	      "event: failed, the socket was closed");
	set(fd, SHUFFLE_A_CONFIG_OVERCOMMIT, 3);
	WORKS(nl_event(config, SHUFFLE_CMD_CONFIG_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_CONFIG_OVERCOMMIT], 3) &&
	      EXPECT_EQ(s.v64[SHUFFLE_A_CONFIG_OWN], SHUFFLE_NL_SETTING_OVERCOMMIT),
	      "event: settings");
	unset(fd, SHUFFLE_NL_SETTING_OVERCOMMIT);
	close(ops);
	close(config);
}

/* A listener that sleeps: ENOBUFS, and what it reads afterwards is whole. */
static void test_overrun(int fd)
{
	int ops = nl_open(), small = 1, large = 1 << 20, i;
	struct sockaddr_shuffle m[2];
	struct seen s = { 0 };
	struct pollfd overrun = { .fd = ops };
	bool lost = false;
	int fds[2];

	setsockopt(ops, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	nl_join(ops, SHUFFLE_MCGRP_OPS);
	open_pair(fds, m, 0);
	for (i = 0; i < 40; i++)
		if (!pair_works(fds))
			break;
	WORKS_EQ(i, 40, "operations while a listener sleeps");
	/* it sleeps until its queue has overrun: who reads while they are sent may
	 * miss none
	 */
	poll(&overrun, 1, WAIT_MS);
	while (nl_event(ops, 0, 500, look, &s) || errno == ENOBUFS)
		lost |= errno == ENOBUFS;
	WORKS(lost, "event: a listener that has missed some gets ENOBUFS");
	setsockopt(ops, SOL_SOCKET, SO_RCVBUFFORCE, &large, sizeof(large));
	WORKS(pair_works(fds) && nl_event(ops, SHUFFLE_CMD_OP_FINISHED_NTF, WAIT_MS, look, &s),
	      "event: then it goes on");
	s.n = 0;
	WORKS_ERRNO(simple(fd, SHUFFLE_CMD_OP_GET, NLM_F_DUMP, &s).err, 0,
		    "op-get: to find its way back");
	close_pair(fds);
	close(ops);
}

/* Memory: a receiver that does not read, of a buffer that cannot hold a row. */
static void test_pressure(int fd)
{
	struct sockaddr_shuffle m[2];
	static char data[400000];
	struct seen s = { 0 };
	int mem = nl_open();
	int fds[2];

	nl_join(mem, SHUFFLE_MCGRP_MEMORY);
	set(fd, SHUFFLE_A_CONFIG_RCVBUF, 40000);
	open_pair(fds, m, 0);
	send_row(fds[0], next_op, 0, sizeof(data), data, sizeof(data), MSG_DONTWAIT);
	send_row(fds[1], next_op, 0, 0, NULL, 0, 0);
	WORKS(nl_event(mem, SHUFFLE_CMD_SOCKET_PRESSURE_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_RCVBUF], 40000) && s.v[SHUFFLE_A_SOCKET_PORT],
	      "event: memory pressure");
	next_op++;
	close_pair(fds);
	unset(fd, SHUFFLE_NL_SETTING_RCVBUF);
	close(mem);
}

/* Without CAP_NET_ADMIN here: reads all but marks, changes nothing. */
static void test_permission(int own)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];
	struct sockaddr_shuffle m[2];
	int mark = 7, status = 0;
	struct seen s = { 0 };
	int fds[2];
	pid_t pid;

	open_pair(fds, m, 0);
	WORKS_EQ(setsockopt(fds[0], SOL_SOCKET, SO_MARK, &mark, sizeof(mark)), 0, "a mark");
	WORKS_EQ(setsockopt(fds[1], SOL_SOCKET, SO_MARK, &mark, sizeof(mark)), 0, "and another");
	simple(own, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP, &s);
	WORKS(s.has[SHUFFLE_A_SOCKET_MARK] && EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_MARK], 7),
	      "permission: CAP_NET_ADMIN sees marks");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		int fd = nl_open();
		int bad = 0;

		memset(caps, 0, sizeof(caps));
		if (syscall(SYS_capset, &head, caps))
			_exit(99);
		bad |= simple(fd, SHUFFLE_CMD_CONFIG_GET, 0, NULL).err ? 1 : 0;
		bad |= simple(fd, SHUFFLE_CMD_OP_GET, NLM_F_DUMP, NULL).err ? 2 : 0;
		bad |= simple(fd, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP, NULL).err ? 4 : 0;
		bad |= simple(fd, SHUFFLE_CMD_STATS_GET, NLM_F_DUMP, NULL).err ? 8 : 0;
		memset(&s, 0, sizeof(s));
		bad |= simple(fd, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP, &s).err ? 64 : 0;
		bad |= s.n && !s.has[SHUFFLE_A_SOCKET_MARK] ? 0 : 128;
		bad |= set(fd, SHUFFLE_A_CONFIG_OVERCOMMIT, 9).err == EPERM ? 0 : 16;
		bad |= about_op(fd, SHUFFLE_CMD_OP_CANCEL, 0, 1, 0, NULL).err == EPERM ? 0 : 32;
		nl_join(fd, SHUFFLE_MCGRP_OPS);
		_exit(bad);
	}
	waitpid(pid, &status, 0);
	errno = 0;
	WORKED(EXPECT_EQ(status, 0),
	       "permission: everybody reads and listens, but for marks; CAP_NET_ADMIN changes");
	close_pair(fds);
}

/* Who opens a socket without privilege gets none by making a privileged program write to it. */
static void test_borrowed_permission(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct all[2], none[2];
	const uint32_t most = 1U << 30;
	int own = nl_open(), fd = -1;

	memset(all, 0, sizeof(all));
	if (syscall(SYS_capget, &head, all))
		tap_bail("capget: %s", strerror(errno));
	memcpy(none, all, sizeof(none));
	none[0].effective = 0;
	none[1].effective = 0;
	if (!syscall(SYS_capset, &head, none))
		fd = nl_open();
	if (syscall(SYS_capset, &head, all))
		tap_bail("capset: %s", strerror(errno));
	WORKS_ERRNO(set(fd, SHUFFLE_A_CONFIG_OVERCOMMIT, 9).err, EPERM,
		    "permission: not by the socket of one that has none");
	WORKS_ERRNO(set(fd, SHUFFLE_A_CONFIG_EARLY_BYTES, most).err, EPERM,
		    "permission: nor above the initial namespace's bounds");
	WORKS_ERRNO(set(own, SHUFFLE_A_CONFIG_OVERCOMMIT, 9).err, 0,
		    "permission: and by the program's own");
	unset(own, SHUFFLE_NL_SETTING_OVERCOMMIT);
	close(fd);
	close(own);
}

static void test_namespaces(int fd)
{
	struct sockaddr_shuffle m[2];
	int before = get(fd, SHUFFLE_A_CONFIG_RESEND_FIRST);
	int ops, other, fds[2];
	struct seen s = { 0 };
	uint64_t bytes;

	/* ended operations are remembered, and the hosts of their members */
	simple(fd, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP, &s);
	bytes = s.v64[SHUFFLE_A_PEER_RX_BYTES];

	ops = nl_open();
	nl_join(ops, SHUFFLE_MCGRP_OPS);
	sht_new_netns();
	other = nl_open();
	open_pair(fds, m, 0);
	WORKS(pair_works(fds), "a pair in another namespace shuffles");
	set(other, SHUFFLE_A_CONFIG_RESEND_FIRST, 1234);
	WORKS(EXPECT_EQ((int)get(fd, SHUFFLE_A_CONFIG_RESEND_FIRST), before) &&
	      EXPECT_EQ(get(other, SHUFFLE_A_CONFIG_RESEND_FIRST), 1234), "namespaces: settings");
	s.n = 0;
	simple(fd, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP, &s);
	WORKS_EQ(s.n, 0, "namespaces: sockets");
	simple(fd, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP, &s);
	WORKS(EXPECT_EQ(s.n, 1) && EXPECT_EQ(s.v64[SHUFFLE_A_PEER_RX_BYTES], bytes),
	      "namespaces: peers");
	s.n = 0;
	simple(other, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP, &s);
	WORKS(EXPECT_EQ(s.n, 1) && EXPECT_EQ(s.v64[SHUFFLE_A_PEER_RX_BYTES], 3001),
	      "namespaces: their peers");
	WORKS(!nl_event(ops, 0, 300, NULL, NULL) && EXPECT_ERRNO(errno, ETIMEDOUT),
	      "namespaces: events");
	close_pair(fds);
	close(other);
	close(ops);
}

static void test_diag(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
	struct shuffle_diag_req q = { .sdiag_family = sht_family(), .shdiag_states = ~0U };
	struct shuffle_diag_msg d = { 0 };
	struct sockaddr_shuffle m[2];
	int fds[2], lone;
	struct stat st;

	open_pair(fds, m, 0);
	lone = new_socket(0);
	start(fds);
	WORKS(EXPECT_EQ(nl_diag(fd, NLM_F_DUMP, &q, &d), 3) &&
	      EXPECT_EQ(d.shdiag_state, SHUFFLE_DIAG_STATE_UNBOUND), "sock_diag: dump");
	q.shdiag_states = 1 << SHUFFLE_DIAG_STATE_BUSY;
	fstat(fds[0], &st);
	WORKS(EXPECT_EQ(nl_diag(fd, NLM_F_DUMP, &q, &d), 1) && EXPECT_EQ(d.shdiag_ino, st.st_ino) &&
	      EXPECT_EQ(d.shdiag_ops, 1) && EXPECT_EQ(d.shdiag_members, 2) &&
	      EXPECT_EQ(d.shdiag_port, m[0].shs_port) && d.shdiag_wqueue &&
	      EXPECT_EQ(d.shdiag_uid, getuid()) && EXPECT_MEM(d.shdiag_addr, m[0].shs_addr, 16),
	      "sock_diag: those with operations");
	q.shdiag_ino = st.st_ino;
	memcpy(q.shdiag_cookie, d.shdiag_cookie, 8);
	WORKS(EXPECT_EQ(nl_diag(fd, 0, &q, &d), 1) &&
	      EXPECT_EQ(d.shdiag_state, SHUFFLE_DIAG_STATE_BUSY),
	      "sock_diag: one by its inode and cookie");
	q.shdiag_cookie[0]++;
	WORKS_ERRNO(nl_diag(fd, 0, &q, &d), -ESTALE, "sock_diag: another cookie");
	q.shdiag_ino = 99999999;
	WORKS_ERRNO(nl_diag(fd, 0, &q, &d), -ENOENT, "sock_diag: no such inode");
	q.sdiag_protocol = 1;
	WORKS_ERRNO(nl_diag(fd, 0, &q, &d), -EINVAL, "sock_diag: a protocol");
	close(lone);
	close_pair(fds);
	close(fd);
}

/* Print every event of a kind, for so many seconds after the last one. */
static int print_events(const char *name, int seconds)
{
	const struct shuffle_attr_op *op = NULL;
	struct seen s = { 0 };
	unsigned int i;
	int fd = nl_open();

	for (i = 0; i < shuffle_attr_n_ops; i++)
		if (!strcmp(shuffle_attr_ops[i].name, name))
			op = &shuffle_attr_ops[i];
	if (!op || !op->group)
		return 2;
	nl_join(fd, op->group);
	printf("listening\n");
	fflush(stdout);
	while (nl_event(fd, op->cmd, seconds * 1000, look, &s)) {
		printf("%s", name);
		for (i = 0; i < op->n_reply; i++)
			if (s.has[op->reply[i]])
				printf(" %s=%llu", op->set->attr[op->reply[i]].name,
				       (unsigned long long)s.v64[op->reply[i]]);
		printf("\n");
		fflush(stdout);
		memset(&s, 0, sizeof(s));
	}
	return 0;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc == 4 && !strcmp(argv[1], "events"))
		return print_events(argv[2], atoi(argv[3]));
	api_start(argc, argv);
	fd = nl_open();
	test_config(fd);
	test_device(fd);
	test_op(fd);
	test_sockets(fd);
	test_events(fd);
	test_overrun(fd);
	test_pressure(fd);
	test_permission(fd);
	test_borrowed_permission();
	test_diag();
	test_namespaces(fd);
	return api_finish();
}
