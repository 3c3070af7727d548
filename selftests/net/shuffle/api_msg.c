// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moving calls of AF_SHUFFLE sockets (sendmsg, recvmsg, poll, close, fork) and
 * the options of level SOL_SOCKET: bad arguments have their errno, nothing is
 * lost by them.
 *
 *	api_msg [-v 4|6]
 *
 * Runs as root in a network namespace of its own, on the loopback.  TAP on
 * standard output.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"

#ifndef SO_RESERVE_MEM
#define SO_RESERVE_MEM	73
#endif

static char data[1 << 20];

/* The clock that time limits of sockets go by.  It stands still between ticks, and a guest
 * that stood still may be late with them: by another clock a limit is over early then.
 */
static uint64_t tick_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/* A row without a size gets the right one. */
static ssize_t send_buf(int fd, const struct row_buf *r, size_t size,
			size_t len, int flags)
{
	struct row_buf row = *r;

	if (!row.row.size)
		row.row.size = sizeof(row.row);
	return send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &row, size, data, len,
			flags);
}

/* Programs that know less, or more, of a row than the kernel does. */
static void test_row_sizes(void)
{
	struct {
		struct shuffle_row row;
		uint64_t more[2];
		uint64_t lens[2];
	} big = { .row = { .size = sizeof(struct shuffle_row) + 16, .count = 2 },
		  .lens = { 10, 20 } };
	struct row_buf r = { .row = { .count = 2 }, .lens = { 10, 20 } };
	struct sockaddr_shuffle m[2];
	static const struct {
		uint32_t size;
		const char *name;
	} bad[] = {
		{ 8, "row: size 8" },
		{ SHUFFLE_ROW_SIZE_VER0 - 8, "row: size of less than the first version" },
		{ SHUFFLE_ROW_SIZE_VER0 + 4, "row: size that is no multiple of 8" },
		{ SHUFFLE_ROW_SIZE_VER1 + 8, "row: size of one length" },
		{ ROW_SIZE(2) + 8, "row: size of more than there is" },
		{ ~0U - 7, "row: size 2^32 - 8" },
	};
	uint64_t op;
	int fds[2];
	size_t i;

	open_pair(fds, m, 0);
	r.row.op_id = next_op++;
	FAILS(send_raw(fds[0], SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &r, ROW_SIZE(2), data, 30, 0),
	      "row: size 0", EINVAL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r.row.size = bad[i].size;
		FAILS(send_buf(fds[0], &r, ROW_SIZE(2), 30, 0), bad[i].name, EINVAL);
	}
	op = next_op++;
	big.row.op_id = op;
	big.more[1] = 1;
	FAILS(send_raw(fds[0], SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &big, sizeof(big), data, 30, 0),
	      "row: a field that the kernel does not know", E2BIG);
	big.more[1] = 0;
	WORKS_EQ(send_raw(fds[0], SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &big, sizeof(big), data, 30, 0),
		 30, "row: the same, zero");
	WORKS(EXPECT_EQ(send_row(fds[1], op, 0, 0, NULL, 0, 0), 0) &&
	      EXPECT_ERRNO(read_end(fds[0], op), 0) && EXPECT_ERRNO(read_end(fds[1], op), 0),
	      "and it shuffles");
	close_pair(fds);
}

static void test_bad_rows(void)
{
	struct sockaddr_shuffle m[2];
	struct row_buf good, r;
	struct msghdr msg;
	struct iovec iov;
	int fds[2], fd;

	memset(&good, 0, sizeof(good));
	good.row.size = sizeof(good.row);
	good.row.op_id = next_op++;
	good.row.count = 2;
	good.lens[0] = 10;
	good.lens[1] = 20;

	fd = new_socket(0);
	FAILS(send_buf(fd, &good, ROW_SIZE(2), 30, 0), "send: not bound",
	      ENOTCONN);
	my_addr(&m[0]);
	bind_to(fd, &m[0]);
	FAILS(send_buf(fd, &good, ROW_SIZE(2), 30, 0), "send: no group",
	      ENOTCONN);
	close(fd);

	open_pair(fds, m, 0);
	fd = fds[0];
	FAILS(send(fd, data, 10, 0), "send: no row", EINVAL);
	FAILS(send(fd, data, 0, 0), "send: no row, no data", EINVAL);
	FAILS(send_buf(fd, &good, 0, 30, 0), "row: empty", EINVAL);
	FAILS(send_buf(fd, &good, 8, 30, 0), "row: 8 bytes", EINVAL);
	FAILS(send_buf(fd, &good, ROW_SIZE(0), 30, 0), "row: no lengths",
	      EINVAL);
	FAILS(send_buf(fd, &good, ROW_SIZE(1), 30, 0), "row: one length short",
	      EINVAL);
	FAILS(send_buf(fd, &good, ROW_SIZE(2) - 1, 30, 0),
	      "row: one byte short", EINVAL);
	FAILS(send_buf(fd, &good, ROW_SIZE(3), 30, 0), "row: one length more",
	      EINVAL);
	r = good;
	r.row.count = 3;
	FAILS(send_buf(fd, &r, ROW_SIZE(3), 30, 0), "row: more than members", EMSGSIZE);
	r.row.count = 0xffffffff;
	FAILS(send_buf(fd, &r, ROW_SIZE(2), 30, 0), "row: count 2^32 - 1", EINVAL);
	r = good;
	r.row.first_rank = 1;
	FAILS(send_buf(fd, &r, ROW_SIZE(2), 30, 0), "row: begins at rank 1", ENOENT);
	r.row.count = 1;
	FAILS(send_buf(fd, &r, ROW_SIZE(1), 10, 0), "row: begins at rank 1, fits", ENOENT);
	r.row.first_rank = 0xffffffff;
	FAILS(send_buf(fd, &r, ROW_SIZE(1), 10, 0), "row: rank 2^32 - 1", ENOENT);
	r = good;
	r.row.flags = 1U << 7;
	FAILS(send_buf(fd, &r, ROW_SIZE(2), 30, 0), "row: unknown flag", EINVAL);
	r.row.flags = 1U << 31;
	FAILS(send_buf(fd, &r, ROW_SIZE(2), 30, 0), "row: another flag", EINVAL);
	r = good;
	r.row.flags = SHUFFLE_ROW_MORE | 1U << 16;
	FAILS(send_buf(fd, &r, ROW_SIZE(2), 30, 0), "row: a known and an unknown flag",
	      EINVAL);
	FAILS(send_buf(fd, &good, ROW_SIZE(2), 31, 0),
	      "row: more data than announced", EMSGSIZE);
	r = good;
	r.lens[0] = SHUFFLE_ABSENT - 1;
	r.lens[1] = SHUFFLE_ABSENT - 1;
	FAILS(send_buf(fd, &r, ROW_SIZE(2), 30, MSG_DONTWAIT), "row: lengths overflow", EINVAL);
	r.lens[0] = SHUFFLE_ABSENT;
	r.lens[1] = SHUFFLE_ABSENT;
	FAILS(send_buf(fd, &r, ROW_SIZE(2), 30, MSG_DONTWAIT), "row: data of absent messages",
	      EMSGSIZE);
	FAILS(send_raw(fd, SOL_SHUFFLE, 77, &good, ROW_SIZE(2), data, 30, 0),
	      "send: unknown control message", EINVAL);
	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_RECORDS, &good,
		       ROW_SIZE(2), data, 30, 0),
	      "send: control message of recvmsg", EINVAL);
	FAILS(send_raw(fd, IPPROTO_IP, SHUFFLE_CMSG_ROW, &good, ROW_SIZE(2), data,
		       30, 0), "send: control message of another level",
	      EINVAL);
	FAILS(send_buf(fd, &good, ROW_SIZE(2), 30, MSG_OOB), "send: MSG_OOB",
	      EOPNOTSUPP);
	FAILS(send_buf(fd, &good, ROW_SIZE(2), 30, MSG_TRUNC), "send: MSG_TRUNC", EOPNOTSUPP);
	FAILS(sendto(fd, data, 10, 0, (struct sockaddr *)&m[1], sizeof(m[1])), "sendto: an address",
	      EISCONN);

	memset(&msg, 0, sizeof(msg));
	iov.iov_base = data;
	iov.iov_len = 30;
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = (void *)8;
	msg.msg_controllen = 64;
	FAILS(sendmsg(fd, &msg, 0), "send: control at a bad pointer", EFAULT);
	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &good, ROW_SIZE(2),
		       (void *)8, 30, 0), "send: data at a bad pointer",
	      EFAULT);
	/* An operation that has begun by that is over once it is cancelled. */
	if (!sht_cancel(fd, good.row.op_id))
		read_end(fd, good.row.op_id);
	WORKS(pair_works(fds), "the pair still shuffles");
	close_pair(fds);
}

static void test_operation_states(void)
{
	struct row_buf r = { .row = { .count = 2 }, .lens = { 5, 5 } };
	struct sockaddr_shuffle m[3];
	uint64_t op = next_op++;
	int fds[2], fd;

	open_pair(fds, m, 0);
	fd = fds[0];
	WORKS_EQ(send_row(fd, op, 10, 20, data, 30, 0), 30, "send: a row");
	FAILS(send_row(fd, op, 10, 20, data, 30, 0), "send: a row again", EEXIST);
	FAILS(sht_set_group(fd, m, 2, 0), "group: while an operation runs",
	      EBUSY);
	WORKS_EQ(send_row(fds[1], op, 0, 0, NULL, 0, 0), 0, "send: empty row");
	WORKS_ERRNO(read_end(fd, op), 0, "operation ends at rank 0");
	WORKS_ERRNO(read_end(fds[1], op), 0, "operation ends at rank 1");
	FAILS(send_row(fd, op, 10, 20, data, 30, 0),
	      "send: operation that has ended", EEXIST);
	r.row.op_id = op;
	r.row.count = 0;
	FAILS(send_buf(fd, &r, ROW_SIZE(0), 5, 0), "send: more data for one that has ended", EPIPE);
	r.row.op_id = next_op++;
	FAILS(send_buf(fd, &r, ROW_SIZE(0), 5, 0),
	      "send: data without an announcement", ENOENT);
	if (!sht_cancel(fd, r.row.op_id))
		read_end(fd, r.row.op_id);
	FAILS(sht_cancel(fd, op), "cancel: one that has ended", ENOENT);
	WORKS_EQ(sht_set_group(fd, m, 2, 0), 0, "group: when none runs");

	op = next_op++;
	r = (struct row_buf){ .row = { .op_id = op, .count = 1,
				       .flags = SHUFFLE_ROW_MORE },
			      .lens = { 5 } };
	WORKS_EQ(send_buf(fd, &r, ROW_SIZE(1), 5, 0), 5, "row: first half");
	FAILS(send_buf(fd, &r, ROW_SIZE(1), 5, 0), "row: first half again", EEXIST);
	r.row.first_rank = 1;
	r.row.flags = 0;
	FAILS(send_buf(fd, &r, ROW_SIZE(1), 6, 0), "row: more than its second half", EMSGSIZE);
	WORKS_EQ(send_buf(fd, &r, ROW_SIZE(1), 3, 0), 3, "row: second half, once it is right");
	r.row.first_rank = 2;
	r.row.count = 0;
	FAILS(send_buf(fd, &r, ROW_SIZE(0), 3, 0), "row: more than is left", EMSGSIZE);
	WORKS_EQ(send_buf(fd, &r, ROW_SIZE(0), 2, 0), 2, "row: the rest");
	FAILS(send_buf(fd, &r, ROW_SIZE(0), 1, 0), "row: behind its end", EMSGSIZE);
	WORKS_EQ(send_row(fds[1], op, 0, 0, NULL, 0, 0), 0, "row of the other");
	WORKS(EXPECT_ERRNO(read_end(fd, op), 0) && EXPECT_ERRNO(read_end(fds[1], op), 0),
	      "both operations end");

	op = next_op++;
	WORKS_EQ(send_row(fd, op, 1, 5000, data, 5001, 0), 5001, "send: a row nobody answers");
	WORKS_EQ(sht_cancel(fd, op), 0, "cancel");
	WORKS_ERRNO(read_end(fd, op), ECANCELED, "cancelled: FAILED says so");
	FAILS(sht_cancel(fd, op), "cancel: again", ENOENT);
	FAILS(send_row(fd, op, 1, 1, data, 2, 0), "send: cancelled operation", EEXIST);
	WORKS(pair_works(fds), "the pair still shuffles");
	close_pair(fds);
}

static void test_deadline(void)
{
	struct shuffle_row row = { .count = 2, .deadline_ms = 300 };
	struct shuffle_record recs[8];
	struct sockaddr_shuffle m[2];
	uint64_t lens[2] = { 0, 100 };
	uint32_t idle = 300;
	unsigned int n = 8;
	char buf[4096];
	int fds[2];

	open_pair(fds, m, 0);
	row.op_id = next_op++;
	WORKS_EQ(sht_send(fds[0], &row, lens, data, 100, 0), 100, "send: with a deadline");
	WORKS_ERRNO(read_end(fds[0], row.op_id), ETIMEDOUT, "deadline: FAILED");
	row.deadline_ms = 0;
	row.op_id = next_op++;
	setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, 4);
	WORKS_EQ(sht_send(fds[0], &row, lens, data, 100, 0), 100, "send: with an idle timeout");
	WORKS_ERRNO(read_end(fds[0], row.op_id), ETIMEDOUT, "idle timeout: FAILED");
	idle = 0;
	setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, 4);
	row.deadline_ms = ~0ull;
	row.op_id = next_op++;
	WORKS_EQ(sht_send(fds[0], &row, lens, data, 100, 0), 100,
		 "send: with the longest deadline");
	usleep(500000);
	while (sht_recv(fds[0], buf, sizeof(buf), recs, &n, MSG_DONTWAIT) >= 0)
		if (n && recs[0].op_id == row.op_id &&
		    recs[0].type == SHUFFLE_RECORD_FAILED)
			break;
	WORKS_EQ(sht_cancel(fds[0], row.op_id), 0, "it still runs");
	close_pair(fds);
}

static void test_recv(void)
{
	struct timeval tv = { .tv_usec = 200000 };
	struct shuffle_record recs[8];
	struct sockaddr_shuffle m[2];
	uint64_t op, got = 0, start;
	struct msghdr msg;
	struct iovec iov;
	unsigned int n = 8;
	char buf[4096];
	int fds[2], fd;
	ssize_t rc;

	fd = new_socket(SOCK_NONBLOCK);
	FAILS(sht_recv(fd, buf, sizeof(buf), recs, &n, 0), "recv: not bound", EAGAIN);
	close(fd);
	open_pair(fds, m, 0);
	fd = fds[0];
	n = 8;
	FAILS(sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT),
	      "recv: nothing there", EAGAIN);
	n = 8;
	FAILS(sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_OOB),
	      "recv: MSG_OOB", EOPNOTSUPP);
	n = 8;
	FAILS(sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_ERRQUEUE | MSG_DONTWAIT),
	      "recv: MSG_ERRQUEUE", EOPNOTSUPP);
	n = 8;
	FAILS(sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_PEEK | MSG_DONTWAIT), "recv: MSG_PEEK",
	      EOPNOTSUPP);
	WORKS_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), 0, "SO_RCVTIMEO: set");
	start = tick_ms();
	n = 8;
	FAILS(sht_recv(fd, buf, sizeof(buf), recs, &n, 0),
	      "recv: blocks for SO_RCVTIMEO", EAGAIN);
	WORKS(EXPECT_GE(tick_ms() - start, 190), "recv: and not less");

	/* Bad buffers must lose nothing: the message comes afterwards. */
	op = next_op++;
	send_row(fds[1], op, 3000, 0, data, 3000, 0);
	send_row(fds[0], op, 0, 0, NULL, 0, 0);
	usleep(300000);
	memset(&msg, 0, sizeof(msg));
	iov.iov_base = buf;
	iov.iov_len = sizeof(buf);
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	FAILS(recvmsg(fd, &msg, MSG_DONTWAIT), "recv: no room for records", EINVAL);
	/* the empty message to ourselves needs no pointer and may come first */
	do {
		n = 8;
		rc = sht_recv(fd, (void *)8, 4096, recs, &n, MSG_DONTWAIT);
	} while (!rc && n);
	n = 8;
	FAILS(sht_recv(fd, (void *)8, 4096, recs, &n, MSG_DONTWAIT),
	      "recv: data to a bad pointer", EFAULT);
	for (start = sht_now_ms(); sht_now_ms() - start < WAIT_MS;) {
		n = 1;
		rc = sht_recv(fd, buf, 700, recs, &n, 0);
		if (rc < 0 && errno == EAGAIN)
			continue;
		if (rc < 0 || n != 1 || rc > 700)
			break;
		if (recs[0].type == SHUFFLE_RECORD_DATA && recs[0].rank == 1 &&
		    recs[0].offset == got)
			got += recs[0].len;
		if (recs[0].type != SHUFFLE_RECORD_DATA)
			break;
	}
	WORKS(EXPECT_EQ(got, 3000) && EXPECT_EQ(recs[0].type, SHUFFLE_RECORD_DONE),
	      "recv: one record a call, 700 bytes a call");
	read_end(fds[1], op);
	WORKS(pair_works(fds), "the pair still shuffles");
	close_pair(fds);
}

static void test_nonblock(void)
{
	uint64_t lens[2] = { 0, 5ull << 30 }, taken = 0, start;
	struct shuffle_row row = { .count = 2 };
	struct timeval tv = { .tv_usec = 200000 };
	struct sockaddr_shuffle m[2];
	struct pollfd pfd;
	int fds[2], small = 65536, n;
	ssize_t rc;

	open_pair(fds, m, SOCK_NONBLOCK);
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	pfd = (struct pollfd){ .fd = fds[0], .events = POLLIN | POLLOUT };
	WORKS(EXPECT_EQ(poll(&pfd, 1, 0), 1) && EXPECT_EQ(pfd.revents, POLLOUT),
	      "poll: idle socket is writable");
	row.op_id = next_op++;
	rc = sht_send(fds[0], &row, lens, data, sizeof(data), 0);
	WORKS(EXPECT_GT(rc, 0) && EXPECT_LT(rc, sizeof(data)),
	      "send: 5 GiB message, a part is taken");
	row.first_rank = 2;
	row.count = 0;
	for (n = 0; n < 10000 && rc > 0; n++) {
		taken += rc;
		rc = sht_send(fds[0], &row, NULL, data, sizeof(data), 0);
	}
	WORKED(EXPECT_EQ(rc, -1) && EXPECT_ERRNO(errno, EAGAIN), "send: full is EAGAIN");
	WORKS(EXPECT_LE(taken, 4 << 20), "send: a bounded part is taken");
	pfd.events = POLLOUT;
	WORKS_EQ(poll(&pfd, 1, 100), 0, "poll: not writable when full");
	pfd.events = POLLIN | POLLOUT;
	fcntl(fds[0], F_SETFL, 0);
	WORKS_EQ(setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)), 0,
		 "SO_SNDTIMEO: set");
	start = tick_ms();
	FAILS(sht_send(fds[0], &row, NULL, data, sizeof(data), 0),
	      "send: blocks for SO_SNDTIMEO", EAGAIN);
	WORKS(EXPECT_GE(tick_ms() - start, 190), "send: and not less");
	WORKS_EQ(sht_cancel(fds[0], row.op_id), 0, "cancel: 5 GiB message");
	WORKS(EXPECT_EQ(poll(&pfd, 1, 5000), 1) && (pfd.revents & POLLIN),
	      "poll: the end is readable");
	WORKS_ERRNO(read_end(fds[0], row.op_id), ECANCELED, "cancel: FAILED");
	WORKS(EXPECT_EQ(poll(&pfd, 1, 5000), 1) && (pfd.revents & POLLOUT), "poll: writable again");
	row.op_id = next_op++;
	row.first_rank = 0;
	row.count = 2;
	lens[1] = 1ull << 40;
	WORKS_EQ(sht_send(fds[0], &row, lens, data, 4096, MSG_DONTWAIT), 4096,
		 "send: 2^40 bytes announced");
	WORKS(EXPECT_EQ(sht_cancel(fds[0], row.op_id), 0) &&
	      EXPECT_ERRNO(read_end(fds[0], row.op_id), ECANCELED), "cancel it");
	WORKS(pair_works(fds), "the pair still shuffles");
	close_pair(fds);
}

static void test_epoll(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int fds[2], ep;

	open_pair(fds, m, SOCK_NONBLOCK);
	ep = epoll_create1(EPOLL_CLOEXEC);
	WORKS(!epoll_ctl(ep, EPOLL_CTL_ADD, fds[0], &ev), "epoll: add");
	WORKS_EQ(epoll_wait(ep, &ev, 1, 100), 0, "epoll: quiet at first");
	send_row(fds[1], op, 100, 0, data, 100, 0);
	send_row(fds[0], op, 0, 0, NULL, 0, 0);
	WORKS(EXPECT_EQ(epoll_wait(ep, &ev, 1, WAIT_MS), 1) && (ev.events & EPOLLIN),
	      "epoll: edge when a message comes");
	WORKS_ERRNO(read_end(fds[0], op), 0, "epoll: operation ends");
	while (epoll_wait(ep, &ev, 1, 100) == 1)
		;
	op = next_op++;
	send_row(fds[1], op, 100, 0, data, 100, 0);
	send_row(fds[0], op, 0, 0, NULL, 0, 0);
	WORKS_EQ(epoll_wait(ep, &ev, 1, WAIT_MS), 1, "epoll: another edge");
	WORKS_ERRNO(read_end(fds[0], op), 0, "epoll: operation ends");
	close(ep);
	close_pair(fds);
}

/* A row of two lengths as a message of sendmmsg(). */
struct mmsg_row {
	union {
		struct cmsghdr align;
		char buf[128];
	} control;
	struct iovec iov;
};

static void fill_mmsg(struct mmsghdr *m, struct mmsg_row *r, uint64_t op, uint64_t len0,
		      uint64_t len1)
{
	struct row_buf row = { .row = { .size = sizeof(row.row), .op_id = op, .count = 2 },
			       .lens = { len0, len1 } };
	struct cmsghdr *cmsg;

	memset(m, 0, sizeof(*m));
	memset(r, 0, sizeof(*r));
	r->iov.iov_base = data;
	r->iov.iov_len = len0 + len1;
	m->msg_hdr.msg_iov = &r->iov;
	m->msg_hdr.msg_iovlen = 1;
	m->msg_hdr.msg_control = r->control.buf;
	m->msg_hdr.msg_controllen = CMSG_SPACE(ROW_SIZE(2));
	cmsg = CMSG_FIRSTHDR(&m->msg_hdr);
	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = SHUFFLE_CMSG_ROW;
	cmsg->cmsg_len = CMSG_LEN(ROW_SIZE(2));
	memcpy(CMSG_DATA(cmsg), &row, ROW_SIZE(2));
}

/* Several rows, and several receptions, with one call. */
static void test_mmsg(void)
{
	uint64_t op = next_op;
	struct mmsg_row rows[3];
	struct sockaddr_shuffle m[2];
	struct timespec ts = { .tv_sec = WAIT_MS / 1000 };
	char control[3][512] __attribute__((aligned(8))), buf[3][4096];
	const struct shuffle_records *recs;
	struct cmsghdr *cmsg;
	struct mmsghdr mm[3];
	struct iovec iov[3];
	ssize_t bytes = 0;
	int fds[2], i, n;

	open_pair(fds, m, 0);
	next_op += 3;
	for (i = 0; i < 3; i++)
		fill_mmsg(&mm[i], &rows[i], op + i, 10, 1000 + i);
	WORKS_EQ(sendmmsg(fds[0], mm, 3, 0), 3, "sendmmsg: three rows");
	WORKS(EXPECT_EQ(mm[0].msg_len, 1010) && EXPECT_EQ(mm[2].msg_len, 1012),
	      "sendmmsg: all their bytes");
	for (i = 0; i < 3; i++)
		fill_mmsg(&mm[i], &rows[i], op + i, 0, 0);
	WORKS(EXPECT_EQ(sendmmsg(fds[1], mm, 2, 0), 2) &&
	      EXPECT_EQ(sendmmsg(fds[1], mm + 2, 1, 0), 1), "sendmmsg: rows of the other");
	/* the last of several fails: the others are taken */
	fill_mmsg(&mm[0], &rows[0], next_op, 1, 1);
	fill_mmsg(&mm[1], &rows[1], next_op, 1, 1);
	WORKS_EQ(sendmmsg(fds[0], mm, 2, 0), 1, "sendmmsg: the second is a row again");
	sht_cancel(fds[0], next_op);
	WORKS_ERRNO(read_end(fds[0], next_op++), ECANCELED, "sendmmsg: the first has begun");
	pair_works(fds);

	op = next_op++;
	send_row(fds[0], op, 0, 3000, data, 3000, 0);
	send_row(fds[1], op, 0, 0, NULL, 0, 0);
	memset(mm, 0, sizeof(mm));
	for (i = 0; i < 3; i++) {
		iov[i] = (struct iovec){ buf[i], 1000 };
		mm[i].msg_hdr.msg_iov = &iov[i];
		mm[i].msg_hdr.msg_iovlen = 1;
		mm[i].msg_hdr.msg_control = control[i];
		mm[i].msg_hdr.msg_controllen = sizeof(control[i]);
	}
	usleep(300000);
	n = recvmmsg(fds[1], mm, 3, MSG_WAITFORONE | MSG_CMSG_CLOEXEC, &ts);
	for (i = 0; i < n; i++)
		bytes += mm[i].msg_len;
	WORKS(EXPECT_GE(n, 1) && EXPECT_LE(bytes, 3000), "recvmmsg: what is there");
	WORKS(EXPECT_GT(bytes, 0), "recvmmsg: bytes of a message");
	cmsg = CMSG_FIRSTHDR(&mm[0].msg_hdr);
	recs = cmsg ? (void *)CMSG_DATA(cmsg) : NULL;
	WORKS(recs && EXPECT_EQ(recs->size, sizeof(struct shuffle_record)) && recs->count &&
	      EXPECT_EQ(cmsg->cmsg_len, CMSG_LEN(sizeof(*recs) + recs->count * recs->size)),
	      "recvmmsg: records say their size and number");
	WORKS(pair_works(fds), "the pair still shuffles");
	close_pair(fds);
}

/* Every flag works, or is refused and loses nothing. */
static void test_flags(void)
{
	static const struct {
		int flag;
		const char *name;
	} bad[] = {
		{ MSG_PEEK, "recv: MSG_PEEK with something there" },
		{ MSG_TRUNC, "recv: MSG_TRUNC" },
		{ MSG_WAITALL, "recv: MSG_WAITALL" },
		{ MSG_OOB, "recv: MSG_OOB with something there" },
		{ MSG_ERRQUEUE, "recv: MSG_ERRQUEUE with something there" },
	}, bad_send[] = {
		{ MSG_MORE, "send: MSG_MORE" },
		{ MSG_OOB, "send: MSG_OOB" },
		{ MSG_CONFIRM, "send: MSG_CONFIRM" },
		{ MSG_DONTROUTE, "send: MSG_DONTROUTE" },
		{ MSG_FASTOPEN, "send: MSG_FASTOPEN" },
	};
	struct shuffle_record recs[4];
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	struct pollfd pfd;
	char buf[4096];
	unsigned int n;
	int fds[2];
	size_t i;

	open_pair(fds, m, 0);
	for (i = 0; i < sizeof(bad_send) / sizeof(bad_send[0]); i++)
		FAILS(send_row(fds[0], op, 1, 1, data, 2, bad_send[i].flag), bad_send[i].name,
		      EOPNOTSUPP);
	WORKS_EQ(send_row(fds[0], op, 0, 100, data, 100, MSG_NOSIGNAL | MSG_EOR), 100,
		 "send: MSG_NOSIGNAL, MSG_EOR");
	WORKS_EQ(send_row(fds[1], op, 0, 0, NULL, 0, MSG_DONTWAIT), 0, "send: MSG_DONTWAIT");
	pfd = (struct pollfd){ .fd = fds[1], .events = POLLIN };
	poll(&pfd, 1, WAIT_MS);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		n = 4;
		FAILS(sht_recv(fds[1], buf, sizeof(buf), recs, &n, bad[i].flag), bad[i].name,
		      EOPNOTSUPP);
	}
	n = 4;
	WORKS(EXPECT_GE(sht_recv(fds[1], buf, sizeof(buf), recs, &n, MSG_CMSG_CLOEXEC), 0) && n,
	      "recv: MSG_CMSG_CLOEXEC");
	WORKS(recs[n - 1].type == SHUFFLE_RECORD_DONE || read_end(fds[1], op) == 0,
	      "nothing was lost");
	WORKS_ERRNO(read_end(fds[0], op), 0, "at the other, too");
	close_pair(fds);
}

static int get_int(int fd, int name)
{
	socklen_t len = sizeof(int);
	int value = -1;

	if (getsockopt(fd, SOL_SOCKET, name, &value, &len))
		return -1;
	return value;
}

static void set_and_get(int fd, int name, int value, int want, const char *text)
{
	WORKS(EXPECT_EQ(setsockopt(fd, SOL_SOCKET, name, &value, sizeof(value)), 0) &&
	      EXPECT_EQ(get_int(fd, name), want), text);
}

static void test_sol_socket(void)
{
	struct timeval tv = { .tv_sec = 3, .tv_usec = 0 }, got;
	struct sockaddr_shuffle m[2];
	socklen_t len = IFNAMSIZ;
	char dev[IFNAMSIZ] = "";
	int fds[2], fd;

	open_pair(fds, m, 0);
	fd = fds[0];
	set_and_get(fd, SO_RCVBUF, 100000, 200000, "SO_RCVBUF");
	set_and_get(fd, SO_SNDBUF, 100000, 200000, "SO_SNDBUF");
	WORKS(EXPECT_GT(get_int(fd, SO_RCVBUF), 0), "SO_RCVBUF: readable");
	set_and_get(fd, SO_PRIORITY, 3, 3, "SO_PRIORITY");
	set_and_get(fd, SO_MARK, 0x5af, 0x5af, "SO_MARK");
	WORKS_EQ(get_int(fd, SO_ERROR), 0, "SO_ERROR: none");
	WORKS_EQ(get_int(fd, SO_TYPE), SOCK_SEQPACKET, "SO_TYPE");
	WORKS_EQ(get_int(fd, SO_DOMAIN), sht_family(), "SO_DOMAIN");
	WORKS_EQ(get_int(fd, SO_ACCEPTCONN), 0, "SO_ACCEPTCONN");
	len = sizeof(got);
	WORKS(EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), 0) &&
	      EXPECT_EQ(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &got, &len), 0) &&
	      EXPECT_EQ(got.tv_sec, 3), "SO_RCVTIMEO");
	len = sizeof(got);
	WORKS(EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)), 0) &&
	      EXPECT_EQ(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &got, &len), 0) &&
	      EXPECT_EQ(got.tv_sec, 3), "SO_SNDTIMEO");
	len = IFNAMSIZ;
	WORKS(EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3), 0) &&
	      EXPECT_EQ(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, dev, &len), 0) &&
	      EXPECT_STR(dev, "lo"), "SO_BINDTODEVICE");
	FAILS(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "none0", 6),
	      "SO_BINDTODEVICE: no such device", ENODEV);
	FAILS(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &fd, 1),
	      "SO_RCVBUF: too short", EINVAL);
	/* a kernel that has neither the check nor the hook takes it in a memory cgroup */
	FAILS(setsockopt(fd, SOL_SOCKET, SO_RESERVE_MEM, &(int){ 65536 }, sizeof(int)),
	      "SO_RESERVE_MEM", EOPNOTSUPP);
	FAILS(setsockopt(fd, SOL_SOCKET, 9999, &fd, sizeof(fd)),
	      "SOL_SOCKET: unknown option", ENOPROTOOPT);
	WORKS(pair_works(fds), "the pair still shuffles with all of them");
	close_pair(fds);
}

static void test_close(void)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int fds[2], i, fd;

	open_pair(fds, m, SOCK_NONBLOCK);
	send_row(fds[0], op, 500000, 500000, data, 1000000, 0);
	close(fds[0]);
	fd = new_socket(0);
	for (i = 0; i < 100 && bind_to(fd, &m[0]); i++)
		usleep(20000);
	WORKS(EXPECT_LT(i, 100), "close: with data pending, address is free again");
	close(fd);
	close(fds[1]);

	open_pair(fds, m, SOCK_NONBLOCK);
	op = next_op++;
	send_row(fds[0], op, 1000, 1000, data, 2000, 0);
	send_row(fds[1], op, 1000, 1000, data, 2000, 0);
	usleep(100000);
	close_pair(fds);
	WORKS(true, "close: with records unread");
	for (i = 0; i < 200; i++) {
		fd = new_socket(0);
		close(fd);
	}
	WORKS(EXPECT_GE(fd, 0), "close: 200 fresh sockets");
}

static void test_fork(void)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int fds[2], status = -1;
	pid_t pid;

	open_pair(fds, m, 0);
	pid = fork();
	if (!pid) {
		ssize_t rc = send_row(fds[1], op, 5000, 5000, data, 10000, 0);

		close_pair(fds);
		_exit(rc == 10000 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	WORKS_EQ(status, 0, "fork: the child submits and closes");
	WORKS_EQ(send_row(fds[0], op, 1, 1, data, 2, 0), 2, "fork: the parent submits");
	WORKS(EXPECT_ERRNO(read_end(fds[0], op), 0) && EXPECT_ERRNO(read_end(fds[1], op), 0),
	      "fork: the parent receives");
	close_pair(fds);
}

static void nothing(int sig)
{
	(void)sig;
}

static void test_signal(void)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct shuffle_record recs[4];
	struct sockaddr_shuffle m[2];
	unsigned int n = 4;
	int fds[2], status;
	char buf[64];
	pid_t pid;

	sigaction(SIGUSR1, &sa, NULL);
	open_pair(fds, m, 0);
	pid = fork();
	if (!pid) {
		for (n = 0; n < 200; n++) {
			usleep(50000);
			kill(getppid(), SIGUSR1);
		}
		_exit(0);
	}
	FAILS(sht_recv(fds[0], buf, sizeof(buf), recs, &n, 0),
	      "recv: interrupted", EINTR);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close_pair(fds);
}

static void test_one_member(void)
{
	struct sockaddr_shuffle m;
	uint64_t op = next_op++, len = 5000;
	struct shuffle_row row = { .op_id = op, .count = 1 };
	int fd;

	my_addr(&m);
	fd = sht_open(&m, 1, 0, 0);
	WORKS(EXPECT_GE(fd, 0), "a group of one");
	WORKS_EQ(sht_send(fd, &row, &len, data, 5000, 0), 5000, "a message to oneself");
	WORKS_ERRNO(read_end(fd, op), 0, "arrives");
	close(fd);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_bad_rows();
	test_row_sizes();
	test_operation_states();
	test_deadline();
	test_recv();
	test_nonblock();
	test_epoll();
	test_mmsg();
	test_flags();
	test_sol_socket();
	test_close();
	test_fork();
	test_signal();
	test_one_member();
	return api_finish();
}
