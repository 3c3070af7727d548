// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages that there are none of: SHUFFLE_ABSENT, SHUFFLE_CMSG_ABSENT.  What is refused, who
 * waits for whom, and members that do not agree.  TAP.
 *
 *	api_absent [-v 6]
 */
#define _GNU_SOURCE
#include "api.h"

#define LONG	(1U << 20)
#define RING	40
#define NEXT	3		/* of the ring that each member sends to */

static unsigned char data[LONG];

struct absent_buf {
	struct shuffle_absent head;
	uint64_t bits[8];
};

/* A row of @count messages, and ranks that send none (@size bytes of @absent; 0: not said). */
static ssize_t send_sparse(int fd, uint64_t op, unsigned int count, const uint64_t *lens,
			   const struct absent_buf *absent, size_t size, const void *bytes,
			   size_t len, uint64_t deadline_ms)
{
	struct {
		struct shuffle_row row;
		uint64_t lens[RING];
	} row = { { .size = sizeof(row.row), .op_id = op, .count = count,
		    .deadline_ms = deadline_ms }, { 0 } };
	struct iovec iov = { .iov_base = (void *)bytes, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[2048];
	} control;

	memset(&control, 0, sizeof(control));
	msg.msg_control = control.buf;
	memcpy(row.lens, lens, count * sizeof(*lens));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row, sizeof(row.row) + count * sizeof(*lens));
	if (size)
		sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, absent, size);
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A row of two, and one word of bits. */
static ssize_t send_two(int fd, uint64_t op, uint64_t len0, uint64_t len1, uint64_t absent,
			size_t bytes, uint64_t deadline_ms)
{
	struct absent_buf a = { { .size = sizeof(a.head), .words = 1 }, { absent } };
	uint64_t lens[2] = { len0, len1 };

	return send_sparse(fd, op, 2, lens, &a, sizeof(a.head) + 8, data, bytes, deadline_ms);
}

static void refused(int fd, const char *name, struct absent_buf a, size_t size, int err)
{
	uint64_t lens[2] = { SHUFFLE_ABSENT, SHUFFLE_ABSENT };

	FAILS(send_sparse(fd, next_op++, 2, lens, &a, size, NULL, 0, 0), name, err);
}

static void test_refused(int fds[2])
{
	struct shuffle_row later = { .op_id = next_op++, .count = 1, .flags = SHUFFLE_ROW_MORE };
	struct absent_buf ok = { { .size = sizeof(ok.head), .words = 1 }, { 3 } };
	struct {
		struct shuffle_row row;
		uint64_t len;
	} next = { { .size = sizeof(next.row), .first_rank = 1, .count = 1 }, 0 };
	uint64_t len = 0;
	struct msghdr msg = {};
	union {
		struct cmsghdr align;
		char buf[256];
	} control;

	refused(fds[0], "no head", ok, 4, EINVAL);
	refused(fds[0], "fewer words than it says", ok, sizeof(ok.head), EINVAL);
	refused(fds[0], "more words than it says", ok, sizeof(ok.head) + 16, EINVAL);
	refused(fds[0], "a head that is too short",
		(struct absent_buf){ { .size = 4, .words = 1 }, { 0 } }, 12, EINVAL);
	refused(fds[0], "a head of no whole words",
		(struct absent_buf){ { .size = 12, .words = 1 }, { 0 } }, 20, EINVAL);
	refused(fds[0], "words for more ranks than there can be",
		(struct absent_buf){ { .size = 8, .words = 0xffffffff }, { 0 } }, 16, EINVAL);
	refused(fds[0], "a field that the kernel does not know",
		(struct absent_buf){ { .size = 16, .words = 1 }, { 1, 3 } }, 24, E2BIG);
	refused(fds[0], "a rank that is no member",
		(struct absent_buf){ { .size = 8, .words = 1 }, { 7 } }, 16, EINVAL);
	refused(fds[0], "a rank of another word",
		(struct absent_buf){ { .size = 8, .words = 2 }, { 3, 1 } }, 24, EINVAL);
	FAILS(send_two(fds[0], next_op++, SHUFFLE_ABSENT, 0, 2, 0, 0),
	      "nothing for oneself, and awaited", EINVAL);
	FAILS(send_two(fds[0], next_op++, 0, 0, 1, 0, 0), "something for oneself, and not awaited",
	      EINVAL);
	FAILS(send_two(fds[0], next_op++, SHUFFLE_ABSENT, 10, 1, 11, 0), "more data than messages",
	      EMSGSIZE);
	FAILS(send_two(fds[0], next_op++, SHUFFLE_ABSENT, SHUFFLE_ABSENT - 1, 1, 0, 0),
	      "another length that is too large", EINVAL);
	FAILS(send_raw(fds[0], SOL_SHUFFLE, SHUFFLE_CMSG_ABSENT, &ok, 16, NULL, 0, 0),
	      "without a row", EINVAL);

	/* it belongs to the first call */
	WORKS_EQ(sht_send(fds[0], &later, &len, NULL, 0, MSG_DONTWAIT), 0, "a part of a row");
	memset(&control, 0, sizeof(control));
	msg.msg_control = control.buf;
	next.row.op_id = later.op_id;
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &next, sizeof(next));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &ok, 16);
	FAILS(sendmsg(fds[0], &msg, MSG_DONTWAIT), "with a later call", EINVAL);
	memset(&control, 0, sizeof(control));
	msg.msg_controllen = 0;
	next.row.op_id = next_op++;
	next.row.first_rank = 0;
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &next, sizeof(next));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &ok, 16);
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &ok, 16);
	FAILS(sendmsg(fds[0], &msg, MSG_DONTWAIT), "twice", EINVAL);
	sht_cancel(fds[0], later.op_id);
	WORKS_ERRNO(read_end(fds[0], later.op_id), ECANCELED, "cancelled");
	WORKS(pair_works(fds), "the pair still shuffles");
}

/* Nothing in either direction: each end is done by itself, whether the other one comes or not. */
static void test_nothing(int fds[2])
{
	uint64_t op = next_op++;

	WORKS_EQ(send_two(fds[0], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 3, 0, 0), 0, "no message");
	WORKS_ERRNO(read_end(fds[0], op), 0, "is done at once");
	FAILS(send_two(fds[0], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 3, 0, 0), "and not again",
	      EEXIST);
	WORKS(EXPECT_EQ(send_two(fds[1], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 2, 0, 200), 0) &&
	      EXPECT_ERRNO(read_end(fds[1], op), ETIMEDOUT), "who waits for one waits in vain");
}

/* @len bytes from 0 to 1 only, and none of it before the receiver starts if it is @late. */
static void test_one_way(int fds[2], size_t len, bool late, const char *name)
{
	uint64_t op = next_op++, until = sht_now_ms() + WAIT_MS, have = 0;
	static unsigned char got[LONG];
	unsigned int i, n, messages = 0;
	struct shuffle_record recs[8];
	bool ok = true, end = false;
	ssize_t rc;
	size_t at;

	memset(got, 0, len);
	if (!late)
		ok &= send_two(fds[1], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 2, 0, 0) == 0;
	rc = send_two(fds[0], op, SHUFFLE_ABSENT, len, 3, len, 0);
	ok &= rc >= 0 && (size_t)rc <= len;
	if (late)
		ok &= send_two(fds[1], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 2, 0, 0) == 0;
	while (ok && !end && sht_now_ms() < until) {
		struct shuffle_row row = { .op_id = op, .first_rank = 2 };
		static unsigned char buf[LONG];

		if ((size_t)rc < len) {
			ssize_t more = sht_send(fds[0], &row, NULL, data + rc, len - rc,
						MSG_DONTWAIT | MSG_NOSIGNAL);

			rc += more > 0 ? more : 0;
		}
		n = 8;
		if (sht_recv(fds[1], buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
			usleep(500);
			continue;
		}
		for (i = 0, at = 0; i < n; i++) {
			if (recs[i].type == SHUFFLE_RECORD_DONE)
				end = true;
			if (recs[i].type != SHUFFLE_RECORD_DATA)
				continue;
			ok &= recs[i].rank == 0;
			memcpy(got + recs[i].offset, buf + at, recs[i].len);
			at += recs[i].len;
			have += recs[i].len;
			messages += recs[i].flags & SHUFFLE_RECORD_LAST;
		}
	}
	ok &= end && messages == 1 && have == len && !memcmp(got, data, len);
	WORKS(ok && EXPECT_ERRNO(read_end(fds[0], op), 0), name);
}

/* The receiver, which sends nothing, begins long after it has been asked for the ACK. */
static void test_starts_late(int fds[2])
{
	uint64_t op = next_op++;
	bool ok;

	ok = send_two(fds[0], op, SHUFFLE_ABSENT, 100, 3, 100, 0) == 100;
	usleep(300000);
	ok &= send_two(fds[1], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 2, 0, 0) == 0;
	WORKS(ok && EXPECT_ERRNO(read_end(fds[1], op), 0) && EXPECT_ERRNO(read_end(fds[0], op), 0),
	      "a receiver that sends nothing and begins late");
}

/* Who only receives has nothing to send to one that has left between operations, and asks it. */
static void test_left_between(void)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int fds[2], i;
	bool ok;

	for (i = 0; i < 2; i++)
		my_addr(&m[i]);
	for (i = 0; i < 2; i++)
		fds[i] = sht_open(m, 2, i, SOCK_NONBLOCK);
	ok = send_two(fds[0], op, SHUFFLE_ABSENT, 100, 3, 100, 0) == 100 &&
	     send_two(fds[1], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 2, 0, 0) == 0 &&
	     EXPECT_ERRNO(read_end(fds[1], op), 0) && EXPECT_ERRNO(read_end(fds[0], op), 0);
	close(fds[0]);
	op = next_op++;
	ok &= send_two(fds[1], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 2, 0, 0) == 0;
	WORKS(ok && EXPECT_ERRNO(read_end(fds[1], op), ECONNRESET),
	      "a sender that left between operations is missed by one that only receives");
	close(fds[1]);
}

/* One end says that there is a message, the other one that there is none. */
static void test_disagree(int fds[2])
{
	uint64_t op = next_op++;

	send_two(fds[1], op, SHUFFLE_ABSENT, SHUFFLE_ABSENT, 3, 0, 0);
	send_two(fds[0], op, SHUFFLE_ABSENT, 100, 3, 100, 300);
	WORKS_ERRNO(read_end(fds[1], op), 0, "who expects nothing is done");
	WORKS_ERRNO(read_end(fds[0], op), ECONNRESET, "what nobody expected is refused");
	op = next_op++;
	/* and while the receiver goes on */
	send_two(fds[1], op, 50, SHUFFLE_ABSENT, 3, 50, 400);
	send_two(fds[0], op, SHUFFLE_ABSENT, 100, 3, 100, 300);
	WORKS_ERRNO(read_end(fds[0], op), ETIMEDOUT, "not by one that has more to do, either");
	WORKS_ERRNO(read_end(fds[1], op), ETIMEDOUT, "which gets nothing");
	WORKS(pair_works(fds), "the pair still shuffles");
}

/* Many members, each of which sends to the next few; several operations at once. */
static void test_ring(unsigned int ops)
{
	struct sockaddr_shuffle m[RING];
	struct absent_buf absent = { { .size = sizeof(absent.head), .words = 1 }, { 0 } };
	uint64_t first = next_op, until = sht_now_ms() + WAIT_MS;
	unsigned int i, j, k, n, bad = 0, ended = 0, messages = 0;
	static unsigned char buf[1 << 16];
	struct shuffle_record recs[64];
	uint64_t lens[RING];
	int fds[RING];
	size_t at;

	next_op += ops;
	for (i = 0; i < RING; i++)
		my_addr(&m[i]);
	for (i = 0; i < RING; i++)
		fds[i] = sht_open(m, RING, i, SOCK_NONBLOCK);
	for (k = 0; k < ops; k++) {
		for (i = 0; i < RING; i++) {
			absent.bits[0] = (1ULL << RING) - 1;
			for (j = 0; j < RING; j++)
				lens[j] = SHUFFLE_ABSENT;
			for (j = 1; j <= NEXT; j++) {
				lens[(i + j) % RING] = 100;
				absent.bits[0] &= ~(1ULL << (i + RING - j) % RING);
			}
			bad += send_sparse(fds[i], first + k, RING, lens, &absent,
					   sizeof(absent.head) + 8, data + i, 100 * NEXT, 0) !=
			       100 * NEXT;
		}
	}
	while (!bad && ended < ops * RING && sht_now_ms() < until) {
		for (i = 0; i < RING; i++) {
			n = 64;
			if (sht_recv(fds[i], buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0)
				continue;
			for (j = 0, at = 0; j < n; j++) {
				ended += recs[j].type == SHUFFLE_RECORD_DONE;
				if (recs[j].type != SHUFFLE_RECORD_DATA)
					continue;
				messages++;
				k = (i + RING - recs[j].rank) % RING;
				bad += k < 1 || k > NEXT || recs[j].len != 100;
				/* the row is in order of rank, which wraps round */
				bad += !memmem(data + recs[j].rank, 100 * NEXT, buf + at, 100);
				at += recs[j].len;
			}
		}
	}
	WORKS(EXPECT_EQ(bad, 0) && EXPECT_EQ(ended, ops * RING) &&
	      EXPECT_EQ(messages, ops * RING * NEXT), "40 members, three messages of each");
	for (i = 0; i < RING; i++)
		close(fds[i]);
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle m[2];
	int fds[2];

	api_start(argc, argv);
	sht_fill(data, LONG, 1, 0);
	open_pair(fds, m, 0);
	test_refused(fds);
	test_nothing(fds);
	test_one_way(fds, 100, false, "100 bytes one way");
	test_one_way(fds, 100, true, "100 bytes, and the receiver later");
	test_one_way(fds, LONG, false, "1 MiB one way");
	test_one_way(fds, LONG, true, "1 MiB, and the receiver later");
	test_one_way(fds, 0, false, "an empty message one way");
	test_starts_late(fds);
	test_disagree(fds);
	test_left_between();
	close_pair(fds);
	test_ring(8);
	return api_finish();
}
