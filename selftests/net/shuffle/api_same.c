// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multicast addresses and rows whose messages have the same bytes: what is refused, what is read
 * back, and what a group does without.  TAP.
 *
 *	api_same [-v 6]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <limits.h>

#include "api.h"

static unsigned char data[4096];

/* A good value of the option. */
static struct shuffle_multicast good(void)
{
	struct shuffle_multicast m = {
		.size = sizeof(m), .ip_family = v6 ? AF_INET6 : AF_INET,
	};

	inet_pton(m.ip_family, v6 ? "ff02::4242" : "239.77.0.1", m.addr);
	return m;
}

static int set(int fd, const struct shuffle_multicast *m)
{
	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, m, sizeof(*m));
}

/* Bound to 127.0.0.HOST, or to ::1 whatever the host is. */
static int bound(unsigned int host, uint16_t port, struct sockaddr_shuffle *a)
{
	int fd = new_socket(0);

	sht_addr(a, SHT_LO, v6, 0, port);
	if (!v6)
		a->shs_addr[3] = host;
	if (fd < 0 || bind_to(fd, a)) {
		printf("Bail out! no socket: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

static void test_option(void)
{
	struct {
		struct shuffle_multicast m;
		uint64_t more;
	} longer = { good(), 0 };
	struct shuffle_multicast m = good(), back;
	struct sockaddr_shuffle a;
	socklen_t len = sizeof(back);
	int fd = new_socket(0), i, other, fds[9];

	FAILS(set(fd, &m), "an address for a socket that is not bound", EINVAL);
	close(fd);
	fd = bound(1, next_port++, &a);

	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &back, &len), 0) && !len,
	      "no address is read as nothing");
	WORKS_EQ(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, NULL, 0), 0, "no address is left");
	FAILS(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &m, sizeof(m) - 1), "a byte less",
	      EINVAL);
	FAILS(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, (void *)8, sizeof(m)), "no memory",
	      EFAULT);
	FAILS(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &longer, sizeof(longer)),
	      "a size that is not the option's", EINVAL);
	longer.m.size = sizeof(longer);
	WORKS(EXPECT_EQ(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &longer,
				   sizeof(longer)), 0) &&
	      EXPECT_EQ(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, NULL, 0), 0),
	      "fields that are not known, but zero");
	longer.more = 1;
	FAILS(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &longer, sizeof(longer)),
	      "fields that are not known", E2BIG);
	m.reserved = 1;
	FAILS(set(fd, &m), "a reserved byte", EINVAL);
	m = good();
	m.unicast = 1;
	FAILS(set(fd, &m), "a number that can only be read", EINVAL);
	m = good();
	m.ip_family = v6 ? AF_INET : AF_INET6;
	FAILS(set(fd, &m), "the other family", EINVAL);
	m = good();
	m.addr[0] = 10;
	FAILS(set(fd, &m), "an address of one host", EADDRNOTAVAIL);
	m = good();
	m.scope_id = INT_MAX;
	FAILS(set(fd, &m), "no such device", ENODEV);
	m.scope_id = UINT_MAX;
	FAILS(set(fd, &m), "a device with a negative number", EINVAL);
	if (!v6) {
		m = good();
		m.addr[4] = 1;
		FAILS(set(fd, &m), "more than an IPv4 address", EINVAL);
	}

	m = good();
	m.hops = 3;
	m.port = 7077;
	WORKS_EQ(set(fd, &m), 0, "an address is joined");
	WORKS_EQ(set(fd, &m), 0, "the same again");
	len = sizeof(back);
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &back, &len), 0) &&
	      EXPECT_EQ(len, sizeof(back)) && EXPECT_EQ(back.size, sizeof(back)) &&
	      EXPECT_EQ(back.hops, 3) && EXPECT_EQ(back.port, 7077) &&
	      EXPECT_EQ(back.scope_id, 1) && !back.unicast &&
	      EXPECT_EQ(back.ip_family, m.ip_family) &&
	      EXPECT_MEM(back.addr, m.addr, sizeof(m.addr)), "it is read back, with its device");
	len = sizeof(back) - 1;
	FAILS(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &back, &len), "too little room",
	      EINVAL);
	WORKS_EQ(setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, NULL, 0), 0, "it is left");
	len = sizeof(back);
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &back, &len), 0) && !len,
	      "nothing is left of it");
	close(fd);
	if (v6)
		return;

	m = good();
	for (i = 0; i < 8; i++) {
		fds[i] = bound(i + 1, 6999, &a);
		if (set(fds[i], &m))
			break;
	}
	WORKS_EQ(i, 8, "eight sockets with one address and port");
	fds[8] = bound(9, 6999, &a);
	FAILS(set(fds[8], &m), "a ninth", EADDRINUSE);
	close(fds[0]);
	other = seteuid(1000) ? -1 : bound(10, 6999, &a);
	if (seteuid(0) || other < 0) {
		printf("Bail out! no socket of another user: %s\n", strerror(errno));
		exit(1);
	}
	FAILS(set(other, &m), "another user's", EADDRINUSE);
	WORKS_EQ(set(fds[8], &m), 0, "when one has gone there is room");
	for (i = 1; i < 9; i++)
		setsockopt(fds[i], SOL_SHUFFLE, SHUFFLE_MULTICAST, NULL, 0);
	WORKS_EQ(set(other, &m), 0, "when all have gone they are another user's");
	FAILS(set(fds[8], &m), "and not of the first any more", EADDRINUSE);
	close(other);
	for (i = 1; i < 9; i++)
		close(fds[i]);
}

/* Two sockets with the addresses 127.0.0.1 and 127.0.0.2. */
static void open_two(int fds[2], struct sockaddr_shuffle a[2], uint16_t second_port, bool joined)
{
	struct shuffle_multicast m = good();

	fds[0] = bound(1, next_port, &a[0]);
	fds[1] = bound(2, second_port, &a[1]);
	if (joined && set(fds[0], &m)) {
		printf("Bail out! no address: %s\n", strerror(errno));
		exit(1);
	}
}

static ssize_t same_row(int fd, unsigned int flags, unsigned int count, uint64_t len0,
			uint64_t len1, size_t len)
{
	struct {
		struct shuffle_row row;
		uint64_t lens[2];
	} row = { { .size = sizeof(row.row), .op_id = next_op++, .count = count,
		    .flags = SHUFFLE_ROW_SAME | flags }, { len0, len1 } };
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, 3 };
	struct iovec iov = { data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[256];
	} control = { 0 };

	msg.msg_control = control.buf;
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row, sizeof(row.row) + count * 8);
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void test_rows(void)
{
	const uint64_t none = SHUFFLE_ABSENT;
	struct sockaddr_shuffle a[2];
	int fds[2];

	open_two(fds, a, next_port + 1, true);
	FAILS(sht_set_group(fds[0], a, 2, 0), "a group with different ports", EINVAL);
	next_port += 2;
	close_pair(fds);

	open_two(fds, a, next_port, false);
	if (sht_set_group(fds[0], a, 2, 0))
		exit(1);
	FAILS(same_row(fds[0], 0, 2, none, 100, 100), "a row without an address", EOPNOTSUPP);
	FAILS(sht_cancel(fds[0], next_op - 1), "nothing of it is left", ENOENT);
	next_port++;
	close_pair(fds);

	open_two(fds, a, next_port, true);
	WORKS_EQ(sht_set_group(fds[0], a, 2, 0), 0, "a group with an address");
	FAILS(same_row(fds[0], 0, 2, none, none, 0), "a row without messages", EINVAL);
	FAILS(same_row(fds[0], 0, 2, 100, 100, 100), "a message for ourselves", EINVAL);
	FAILS(same_row(fds[0], 0, 1, none, 0, 0), "a row that does not name all", EINVAL);
	FAILS(same_row(fds[0], SHUFFLE_ROW_MORE, 2, none, 100, 0), "a row to be continued", EINVAL);
	FAILS(same_row(fds[0], SHUFFLE_ROW_WANT, 2, none, 100, 0), "asked for", EINVAL);
	FAILS(same_row(fds[0], 0, 2, none, 100, 101), "more bytes than a message has", EMSGSIZE);
	WORKS_EQ(same_row(fds[0], 0, 2, none, 100, 100), 100, "the bytes of one message");
	WORKS_EQ(same_row(fds[0], 0, 2, none, 4000, 1000), 1000, "the first of them");
	WORKS_EQ(same_row(fds[0], 0, 2, none, 0, 0), 0, "an empty message");
	WORKS_EQ(same_row(fds[0], 0, 2, none, 4000, 0), 0, "a row without data yet");
	close_pair(fds);
}

/* More than the message that two others get, and less than twice as much: refused before anything
 * begins.
 */
static void test_too_much(void)
{
	const uint64_t lens[3] = { SHUFFLE_ABSENT, 100, 100 };
	struct shuffle_row row = { .op_id = next_op++, .count = 3, .flags = SHUFFLE_ROW_SAME };
	struct shuffle_multicast m = good();
	struct sockaddr_shuffle a[3];
	int fds[3], i;

	for (i = 0; i < 3; i++)
		fds[i] = bound(i + 1, next_port, &a[i]);
	next_port++;
	if (set(fds[0], &m) || sht_set_group(fds[0], a, 3, 0))
		tap_bail("no group: %s", strerror(errno));
	FAILS(sht_send(fds[0], &row, lens, data, 150, MSG_DONTWAIT), "more than each gets",
	      EMSGSIZE);
	FAILS(sht_cancel(fds[0], row.op_id), "nothing of it is left", ENOENT);
	for (i = 0; i < 3; i++)
		close(fds[i]);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_option();
	if (!v6) {
		test_rows();
		test_too_much();
	}
	return api_finish();
}
