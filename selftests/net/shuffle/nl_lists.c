// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the control plane makes of numbers and lists that are as large as any user
 * can make them, in a namespace of its own.  TAP.
 *
 * usage: nl_lists overflow   lengths and rates whose lower bound does not fit
 *        nl_lists sockets    thousands of sockets
 *        nl_lists members    thousands of members that nobody else has
 *        nl_lists events     thousands of events that nobody sends on
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <sys/resource.h>
#include <linux/sock_diag.h>

#include "api.h"
#include "nl.h"

#define SOCKETS		4000
#define HUGE_LEN	((1ull << 48) - 1)	/* the longest message that there can be */
#define MEMBERS		16			/* of them to others: more than 2^64 ns at 1 Mb/s */

struct seen {
	unsigned int	n;
	uint64_t	v[NL_MAX_ATTR];
	bool		has[NL_MAX_ATTR];
};

static void look(uint8_t cmd, struct nlattr **a, void *arg)
{
	struct seen *s = arg;
	int i;

	(void)cmd;
	s->n++;
	for (i = 0; i < NL_MAX_ATTR; i++) {
		s->has[i] = a[i];
		s->v[i] = nl_get_u64(a[i]);
	}
}

static struct nl_result about_op(int nl, uint8_t cmd, uint16_t flags, uint64_t op, struct seen *s)
{
	struct nl_req r;

	memset(s, 0, sizeof(*s));
	nl_begin(&r, cmd, flags);
	nl_u64(&r, SHUFFLE_A_OP_OP_ID, op);
	return nl_call(nl, &r, look, s);
}

static struct nl_result link_rate(int nl, uint32_t mbps)
{
	struct nl_req r;

	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, SHUFFLE_A_CONFIG_LINK_RATE, mbps);
	return nl_call(nl, &r, NULL, NULL);
}

/* An operation of MEMBERS that announces its row and sends nothing of it. */
static uint64_t announce(int fd, uint64_t len)
{
	struct shuffle_row row = { .op_id = next_op++, .count = MEMBERS };
	uint64_t lens[MEMBERS];
	int i;

	for (i = 0; i < MEMBERS; i++)
		lens[i] = len;
	return sht_send(fd, &row, lens, NULL, 0, MSG_DONTWAIT) ? 0 : row.op_id;
}

static void overflow(int nl)
{
	struct sockaddr_shuffle m[MEMBERS];
	int events = nl_open(), fd, i;
	struct seen s;
	uint64_t op;

	for (i = 0; i < MEMBERS; i++)
		my_addr(&m[i]);
	fd = sht_open(m, MEMBERS, 0, 0);
	nl_join(events, SHUFFLE_MCGRP_OPS);

	WORKS_ERRNO(link_rate(nl, 8).err, 0, "link-rate: 8 Mb/s");
	op = announce(fd, 1000000);
	WORKS(op, "fifteen messages of 1 MB to others");
	WORKS(EXPECT_ERRNO(about_op(nl, SHUFFLE_CMD_OP_GET, 0, op, &s).err, 0) &&
	      EXPECT_GE(s.v[SHUFFLE_A_OP_LOWER_BOUND], 15000000000ull) &&
	      EXPECT_LT(s.v[SHUFFLE_A_OP_LOWER_BOUND], 20000000000ull), "take 15 seconds at least");
	WORKS_ERRNO(about_op(nl, SHUFFLE_CMD_OP_CANCEL, 0, op, &s).err, 0, "cancel");
	WORKS(nl_event(events, SHUFFLE_CMD_OP_FAILED_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_OP_ID], op), "event: failed");
	WORKS_ERRNO(read_end(fd, op), ECANCELED, "FAILED is read");

	WORKS_ERRNO(link_rate(nl, 1).err, 0, "link-rate: 1 Mb/s");
	op = announce(fd, HUGE_LEN);
	WORKS(op, "fifteen messages of 2^48 - 1 bytes to others");
	WORKS(EXPECT_ERRNO(about_op(nl, SHUFFLE_CMD_OP_GET, 0, op, &s).err, 0) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_TX_BYTES], MEMBERS * HUGE_LEN) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_LOWER_BOUND], ~0ull), "op-get: as long as can be said");
	WORKS(EXPECT_ERRNO(about_op(nl, SHUFFLE_CMD_OP_GET, NLM_F_DUMP, op, &s).err, 0) &&
	      EXPECT_EQ(s.n, 1) && EXPECT_EQ(s.v[SHUFFLE_A_OP_LOWER_BOUND], ~0ull), "op-get: dump");
	WORKS_ERRNO(about_op(nl, SHUFFLE_CMD_OP_CANCEL, 0, op, &s).err, 0, "cancel");
	memset(&s, 0, sizeof(s));
	WORKS(nl_event(events, SHUFFLE_CMD_OP_FAILED_NTF, WAIT_MS, look, &s) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_OP_ID], op) &&
	      EXPECT_ERRNO(s.v[SHUFFLE_A_OP_ERROR], ECANCELED), "event: failed");
	WORKS(EXPECT_ERRNO(about_op(nl, SHUFFLE_CMD_OP_GET, 0, op, &s).err, 0) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_OP_LOWER_BOUND], ~0ull), "op-get: one that has failed");
	WORKS_ERRNO(read_end(fd, op), ECANCELED, "FAILED is read");
	close(fd);
	close(events);
}

static void sockets(int nl)
{
	struct shuffle_diag_req q = { .sdiag_family = sht_family(), .shdiag_states = ~0U };
	struct rlimit files = { SOCKETS + 100, SOCKETS + 100 };
	int diag = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
	static int fds[SOCKETS];
	struct shuffle_diag_msg d = { 0 };
	struct sockaddr_shuffle m[2], a;
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);
	struct nl_result res;
	struct seen s = { 0 };
	int pair[2], i, bad = 0;
	struct nl_req r;

	setrlimit(RLIMIT_NOFILE, &files);
	for (i = 0; i < SOCKETS; i++) {
		fds[i] = new_socket(0);
		sht_addr(&a, SHT_LO, 0, 0, 0);
		bad += fds[i] < 0 || bind_to(fds[i], &a);
	}
	WORKS_EQ(bad, 0, "thousands of sockets, each with a port");
	open_pair(pair, m, 0);
	WORKS_EQ(getsockopt(pair[1], SOL_SOCKET, SO_COOKIE, &cookie, &len), 0, "SO_COOKIE");

	WORKS_ERRNO(about_op(nl, SHUFFLE_CMD_OP_GET, 0, 4711, &s).err, ENOENT,
		    "op-get: an operation that nobody has");
	WORKS_ERRNO(about_op(nl, SHUFFLE_CMD_OP_CANCEL, 0, 4711, &s).err, ENOENT,
		    "op-cancel: the same");
	WORKS(EXPECT_ERRNO(about_op(nl, SHUFFLE_CMD_OP_GET, NLM_F_DUMP, 4711, &s).err, 0) &&
	      EXPECT_EQ(s.n, 0), "op-get: a dump of nothing");
	nl_begin(&r, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP);
	memset(&s, 0, sizeof(s));
	res = nl_call(nl, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, SOCKETS + 2) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_SOCKET], cookie),
	      "socket-get: a dump of all, the youngest at the end");
	nl_begin(&r, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP);
	nl_u64(&r, SHUFFLE_A_SOCKET_SOCKET, ~0ull);
	memset(&s, 0, sizeof(s));
	res = nl_call(nl, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 0), "socket-get: a dump of nothing");
	nl_begin(&r, SHUFFLE_CMD_SOCKET_GET, 0);
	nl_u64(&r, SHUFFLE_A_SOCKET_SOCKET, cookie);
	res = nl_call(nl, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_SOCKET_PORT], ntohs(m[1].shs_port)),
	      "socket-get: one by its cookie");
	WORKS_EQ(nl_diag(diag, NLM_F_DUMP, &q, &d), SOCKETS + 2, "sock_diag: a dump of all");
	q.shdiag_states = 1 << SHUFFLE_DIAG_STATE_BUSY;
	WORKS_EQ(nl_diag(diag, NLM_F_DUMP, &q, &d), 0, "sock_diag: a dump of nothing");
	q.shdiag_ino = 99999999;
	WORKS_ERRNO(nl_diag(diag, 0, &q, &d), -ENOENT, "sock_diag: an inode that nobody has");

	WORKS(pair_works(pair), "a pair shuffles among them");
	for (i = 0; i < SOCKETS; i += 2)
		close(fds[i]);
	WORKS(pair_works(pair), "and when half of them are closed");
	for (i = 1; i < SOCKETS; i += 2)
		close(fds[i]);
	nl_begin(&r, SHUFFLE_CMD_SOCKET_GET, NLM_F_DUMP);
	memset(&s, 0, sizeof(s));
	res = nl_call(nl, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 2), "socket-get: the pair is left");
	close_pair(pair);
	close(diag);
}

/* Hosts of group @g: 10.G.x.y, but for the first member, which is the socket. */
static void fill_group(struct sockaddr_shuffle *m, const struct sockaddr_shuffle *self, int g)
{
	int i;

	m[0] = *self;
	for (i = 1; i < SHUFFLE_MAX_MEMBERS; i++) {
		m[i] = *self;
		m[i].shs_addr[0] = 10;
		m[i].shs_addr[1] = g;
		m[i].shs_addr[2] = i >> 8;
		m[i].shs_addr[3] = i;
		m[i].shs_port = htons(7000);
	}
}

/* A group of hosts that only this user has. */
static int names_hosts(void *arg)
{
	static struct sockaddr_shuffle m[SHUFFLE_MAX_MEMBERS];
	struct sockaddr_shuffle self;
	int fd = new_socket(0);

	my_addr(&self);
	fill_group(m, &self, *(int *)arg);
	return bind_to(fd, &self) || sht_set_group(fd, m, SHUFFLE_MAX_MEMBERS, 0) ? errno : 0;
}

static void members(int nl)
{
	static struct sockaddr_shuffle m[SHUFFLE_MAX_MEMBERS];
	struct sockaddr_shuffle self;
	int fds[20], i, n, err = 0, other = 99;
	struct nl_result res;
	struct seen s = { 0 };
	struct nl_req r;

	for (n = 0; n < 20 && !err; n++) {
		my_addr(&self);
		fds[n] = new_socket(0);
		bind_to(fds[n], &self);
		fill_group(m, &self, n);
		if (sht_set_group(fds[n], m, SHUFFLE_MAX_MEMBERS, 0))
			err = errno;
	}
	/* 16 x 4096 hosts: the last group's own hosts are no longer taken */
	errno = err;
	WORKED(EXPECT_ERRNO(err, ENOBUFS) && EXPECT_EQ(n, 17),
	       "groups of 4096 hosts of their own, until it is enough");
	WORKS_ERRNO(as_nobody(names_hosts, &other), 0, "another user has a number of its own");
	nl_begin(&r, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP);
	res = nl_call(nl, &r, look, &s);
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 16 * (SHUFFLE_MAX_MEMBERS - 1) + 1),
	      "peer-get: a dump of all");
	nl_begin(&r, SHUFFLE_CMD_PEER_GET, 0);
	nl_add(&r, SHUFFLE_A_PEER_IPV4, m[1].shs_addr, 4);
	WORKS_ERRNO(nl_call(nl, &r, look, &s).err, ENOENT, "peer-get: a host that was refused");
	fill_group(m, &self, 3);
	nl_begin(&r, SHUFFLE_CMD_PEER_GET, 0);
	nl_add(&r, SHUFFLE_A_PEER_IPV4, m[4095].shs_addr, 4);
	WORKS(EXPECT_ERRNO(nl_call(nl, &r, look, &s).err, 0) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_PEER_MEMBERS], 1), "peer-get: a host of one member");
	WORKS_EQ(sht_set_group(fds[n - 1], m, SHUFFLE_MAX_MEMBERS, 0), 0,
		 "hosts that are there cost nothing");
	nl_begin(&r, SHUFFLE_CMD_PEER_GET, 0);
	nl_add(&r, SHUFFLE_A_PEER_IPV4, m[4095].shs_addr, 4);
	WORKS(EXPECT_ERRNO(nl_call(nl, &r, look, &s).err, 0) &&
	      EXPECT_EQ(s.v[SHUFFLE_A_PEER_MEMBERS], 2), "peer-get: now of two");
	m[4095] = m[1];
	FAILS(sht_set_group(fds[n - 1], m, SHUFFLE_MAX_MEMBERS, 0), "a member twice, far apart",
	      EINVAL);
	for (i = 0; i < n; i++)
		close(fds[i]);
	nl_begin(&r, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP);
	memset(&s, 0, sizeof(s));
	for (i = 0; i < 50; i++) {
		s.n = 0;
		res = nl_call(nl, &r, look, &s);
		if (!s.n)
			break;
		usleep(100000);
		nl_begin(&r, SHUFFLE_CMD_PEER_GET, NLM_F_DUMP);
	}
	WORKS(EXPECT_ERRNO(res.err, 0) && EXPECT_EQ(s.n, 0), "peer-get: none is left");
	my_addr(&self);
	fds[0] = new_socket(0);
	bind_to(fds[0], &self);
	fill_group(m, &self, 77);
	WORKS_EQ(sht_set_group(fds[0], m, SHUFFLE_MAX_MEMBERS, 0), 0, "others are taken again");
	close(fds[0]);
}

/* The worker that sends events on does not run while we do: that is so with one processor. */
static void events(void)
{
	const struct sched_param first = { .sched_priority = 50 }, usual = { 0 };
	const int rounds = 3000, most = 4096, room = 64 << 20;
	int listener = nl_open(), fds[2], i, bad = 0, n = 0;
	struct sockaddr_shuffle m[2];
	uint64_t op;

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		result(true, "events: no more wait than may", "SKIP several processors");
		return;
	}
	open_pair(fds, m, SOCK_NONBLOCK);
	nl_join(listener, SHUFFLE_MCGRP_OPS);
	setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	WORKS_EQ(sched_setscheduler(0, SCHED_FIFO, &first), 0, "events: nobody else runs");
	for (i = 0; i < rounds; i++) {
		op = next_op++;
		bad += send_row(fds[0], op, 0, 10, "ten bytes.", 10, 0) != 10 ||
		       sht_cancel(fds[0], op) || read_end(fds[0], op) != ECANCELED;
	}
	sched_setscheduler(0, SCHED_OTHER, &usual);
	WORKED(EXPECT_EQ(bad, 0), "events: 3000 operations start and fail");
	do {
		errno = 0;
		n += nl_event(listener, 0, 1000, NULL, NULL);
	} while (!errno || errno == ENOBUFS);
	WORKED(EXPECT_EQ(n, most), "events: no more wait than may");
	WORKED(EXPECT_EQ(sht_counter("EventsLost"), 2 * rounds - most),
	       "events: the others are counted");
	close_pair(fds);
	close(listener);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	int nl;

	api_start(1, argv);
	nl = nl_open();
	if (!strcmp(what, "overflow"))
		overflow(nl);
	else if (!strcmp(what, "sockets"))
		sockets(nl);
	else if (!strcmp(what, "members"))
		members(nl);
	else if (!strcmp(what, "events"))
		events();
	else
		return 2;
	return api_finish();
}
