// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times to leave: SHUFFLE_CMSG_TIMES.  What is refused; that nothing of a message is there before
 * its time; that it can be taken back.  TAP.
 *
 *	api_times [-v 6]
 */
#define _GNU_SOURCE
#include <time.h>

#include "api.h"

#define LONG	(1U << 20)
#define MANY	200	/* operations of a socket */
#define MS	1000000ULL

static unsigned char data[LONG];

struct times_buf {
	struct shuffle_times head;
	uint64_t at[8];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* A row of two with @size bytes of times; @twice: said twice. */
static ssize_t send_times(int fd, const struct row_buf *row, const struct times_buf *times,
			  size_t size, size_t len, bool twice)
{
	struct iovec iov = { .iov_base = data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[512];
	} control;

	memset(&control, 0, sizeof(control));
	msg.msg_control = control.buf;
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, row, ROW_SIZE(row->row.count));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_TIMES, times, size);
	if (twice)
		sht_add_cmsg(&msg, SHUFFLE_CMSG_TIMES, times, size);
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static struct row_buf row_of_two(uint64_t op, uint64_t len0, uint64_t len1)
{
	return (struct row_buf){
		.row = { .size = sizeof(struct shuffle_row), .op_id = op, .count = 2 },
		.lens = { len0, len1 },
	};
}

static struct times_buf times_of_two(uint64_t at0, uint64_t at1)
{
	return (struct times_buf){
		.head = { .size = sizeof(struct shuffle_times), .count = 2 },
		.at = { at0, at1 },
	};
}

static void refused(int fd, const char *name, struct times_buf t, size_t size, int err)
{
	struct row_buf row = row_of_two(next_op++, 10, 10);

	FAILS(send_times(fd, &row, &t, size, 20, false), name, err);
}

static void test_refused(int fds[2])
{
	struct times_buf ok = times_of_two(0, 0), t = ok;
	struct row_buf row = row_of_two(next_op++, 10, 10);
	uint64_t len = 0;

	refused(fds[0], "no head", ok, 4, EINVAL);
	refused(fds[0], "fewer times than it says", ok, 16, EINVAL);
	refused(fds[0], "more times than it says", ok, 32, EINVAL);
	t.head.size = 12;
	refused(fds[0], "a head of no whole words", t, 28, EINVAL);
	t.head.size = 16;
	t.at[0] = 1;
	refused(fds[0], "a field that the kernel does not know", t, 32, E2BIG);
	t = ok;
	t.head.count = 3;
	refused(fds[0], "more times than messages", t, 32, EINVAL);
	t.head.count = 0xffffffff;
	refused(fds[0], "times of more members than there can be", t, 24, EINVAL);
	refused(fds[0], "a time that is too far ahead",
		times_of_two(0, now_ns() + 2 * SHUFFLE_MAX_AHEAD_NS), 24, EINVAL);
	refused(fds[0], "the end of all times", times_of_two(~0ULL, 0), 24, EINVAL);
	FAILS(send_times(fds[0], &row, &ok, 24, 20, true), "twice", EINVAL);
	row.row.flags = SHUFFLE_ROW_SAME;
	FAILS(send_times(fds[0], &row, &ok, 24, 10, false), "of messages with the same bytes",
	      EINVAL);
	row = row_of_two(next_op++, 0, 0);
	row.row.flags = SHUFFLE_ROW_MORE;
	row.row.count = 1;
	WORKS_EQ(sht_send(fds[0], &row.row, &len, NULL, 0, MSG_DONTWAIT), 0, "a part of a row");
	row.row.first_rank = 1;
	row.row.flags = 0;
	t = ok;
	t.head.count = 1;
	FAILS(send_times(fds[0], &row, &t, 16, 0, false), "with a later call", EINVAL);
	sht_cancel(fds[0], row.row.op_id);
	WORKS_ERRNO(read_end(fds[0], row.row.op_id), ECANCELED, "cancelled");
	WORKS(pair_works(fds), "the pair still shuffles");
}

/* The record that says that all of 0's message to 1 is there; when, ns.  0: it did not come. */
static uint64_t whole_at(int fd, uint64_t op)
{
	uint64_t until = sht_now_ms() + WAIT_MS;
	static unsigned char buf[LONG];
	struct shuffle_record recs[8];
	unsigned int i, n;

	while (sht_now_ms() < until) {
		n = 8;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
			usleep(500);
			continue;
		}
		for (i = 0; i < n; i++)
			if (recs[i].op_id == op && recs[i].type == SHUFFLE_RECORD_DATA &&
			    !recs[i].rank && recs[i].flags & SHUFFLE_RECORD_LAST)
				return now_ns();
	}
	return 0;
}

/* A message of @len bytes leaves at its time, and not before. */
static void test_held(int fds[2], size_t len, const char *name)
{
	uint64_t op = next_op++, at = now_ns() + 100 * MS, came;
	struct row_buf row = row_of_two(op, 0, len);
	struct times_buf t = times_of_two(0, at);
	uint64_t lens[2] = { 0, 0 };
	struct shuffle_row other = { .op_id = op, .count = 2 };
	size_t rc = send_times(fds[0], &row, &t, 24, len, false);

	sht_send(fds[1], &other, lens, NULL, 0, 0);
	came = rc == len ? whole_at(fds[1], op) : 0;
	WORKS(EXPECT_GE(came, at), name);
	WORKS_ERRNO(read_end(fds[0], op), 0, "and is done");
}

/* Its time is over. */
static void test_late(int fds[2])
{
	uint64_t op = next_op++;
	struct row_buf row = row_of_two(op, 0, 1000);
	struct times_buf t = times_of_two(1, now_ns() - MS);

	WORKS(EXPECT_EQ(send_times(fds[0], &row, &t, 24, 1000, false), 1000) &&
	      EXPECT_EQ(send_row(fds[1], op, 0, 0, NULL, 0, 0), 0) &&
	      EXPECT_ERRNO(read_end(fds[0], op), 0) && EXPECT_ERRNO(read_end(fds[1], op), 0),
	      "late messages leave at once");
}

/* What waits keeps back nothing, and is taken back. */
static void test_taken_back(int fds[2])
{
	uint64_t first = next_op, far = now_ns() + 50000 * MS;
	struct row_buf row;
	struct times_buf t;
	unsigned int i, bad = 0;

	next_op += MANY;
	for (i = 0; i < MANY; i++) {
		row = row_of_two(first + i, 10, 10);
		t = times_of_two(far - i, far + i);
		bad += send_times(fds[0], &row, &t, 24, 20, false) != 20;
		bad += send_row(fds[1], first + i, 0, 0, NULL, 0, 0) != 0;
	}
	WORKS_EQ(bad, 0, "many rows that wait");
	WORKS(pair_works(fds), "others go on");
	for (i = 0; i < MANY; i += 2)
		bad += sht_cancel(fds[0], first + i) ||
		       read_end(fds[0], first + i) != ECANCELED;
	WORKS_EQ(bad, 0, "half of them are cancelled");
	WORKS(pair_works(fds), "and others still go on");
	/* the other half goes with the socket */
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle m[2];
	int fds[2];

	api_start(argc, argv);
	sht_fill(data, LONG, 1, 0);
	open_pair(fds, m, 0);
	test_refused(fds);
	test_held(fds, 0, "an empty message is not there before its time");
	test_held(fds, 100, "a short message is not there before its time");
	test_held(fds, LONG, "a long message is not there before its time");
	test_late(fds);
	test_taken_back(fds);
	close_pair(fds);
	return api_finish();
}
