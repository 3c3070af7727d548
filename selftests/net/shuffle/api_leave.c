// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A member leaves an operation, or takes part in another one than the others think: all are told at
 * once, with its rank and why.  And who is no member cannot say that it is one.
 *
 *	api_leave [-v 4|6]
 *
 * Nothing here waits for a time limit: the idle timeout is a minute, and a test ends after
 * WAIT_MS.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "api.h"
#include "../../../tools/lib/shuffle.h"
#include "coll_ask.h"

#define MEMBERS	4
#define LEN	100000

/**
 * struct said - how an operation has ended at a member
 * @error: errno of FAILED, 0 of DONE, -1: it has not
 * @missing: members that are named, by bits
 * @why: errno of the last one
 * @flags: of its record
 * @bytes: of messages that have come
 * @sum: of these bytes
 */
struct said {
	int error;
	unsigned int missing;
	int why;
	unsigned int flags;
	uint64_t bytes;
	uint64_t sum;
};

static unsigned char data[MEMBERS * LEN];

static struct said listen_to(int fd, uint64_t op)
{
	uint64_t until = sht_now_ms() + WAIT_MS;
	static unsigned char buf[1 << 20];
	struct said s = { .error = -1 };
	struct shuffle_record recs[16];
	unsigned int i, n;
	uint64_t j, left = 1;

	while (left && sht_now_ms() < until) {
		const unsigned char *p = buf;

		n = 16;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
			usleep(500);
			continue;
		}
		for (i = 0; i < n; i++) {
			const struct shuffle_record *r = &recs[i];

			if (r->op_id != op)
				continue;
			switch (r->type) {
			case SHUFFLE_RECORD_DATA:
				s.bytes += r->len;
				for (j = 0; j < r->len; j++)
					s.sum += *p++;
				break;
			case SHUFFLE_RECORD_DONE:
				s.error = 0;
				left = 0;
				break;
			case SHUFFLE_RECORD_FAILED:
				s.error = r->error;
				left = r->msg_len;
				break;
			case SHUFFLE_RECORD_MISSING:
				s.missing |= 1U << r->rank;
				s.why = r->error;
				s.flags = r->flags;
				left--;
				break;
			}
		}
	}
	return s;
}

static void open_group(int *fds, struct sockaddr_shuffle *m, unsigned int n)
{
	uint32_t idle = 60000;
	unsigned int i;

	for (i = 0; i < n; i++)
		my_addr(&m[i]);
	for (i = 0; i < n; i++) {
		fds[i] = sht_open(m, n, i, 0);
		if (fds[i] < 0 ||
		    setsockopt(fds[i], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle)))
			tap_bail("no group: %s", strerror(errno));
	}
}

static void close_group(const int *fds, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		close(fds[i]);
}

/* A row with @len bytes for each member, as far as the send buffer takes it. */
static ssize_t start(int fd, unsigned int n, uint64_t op, uint64_t len, uint64_t digest)
{
	struct shuffle_row row = { .op_id = op, .count = n, .digest = digest };
	uint64_t lens[MEMBERS];
	unsigned int i;

	for (i = 0; i < n; i++)
		lens[i] = len;
	return sht_send(fd, &row, lens, data, n * len, MSG_DONTWAIT);
}

/* @who of four ends; the others say so, with @error, and @why of it. */
static void others_say(const int *fds, unsigned int who, uint64_t op, int error, int why,
		       const char *name)
{
	unsigned int i, right = 0;
	struct said s;

	for (i = 0; i < MEMBERS; i++) {
		if (i == who)
			continue;
		s = listen_to(fds[i], op);
		right += EXPECT_ERRNO(s.error, error) && EXPECT_EQ(s.missing, 1U << who) &&
			 EXPECT_ERRNO(s.why, why) && (s.flags & SHUFFLE_MISSING_LEFT);
	}
	WORKED(EXPECT_EQ(right, MEMBERS - 1), name);
}

/* A group in the middle of an operation: nobody has room for all that comes, nor reads. */
static void open_midway(int *fds, uint64_t op)
{
	struct sockaddr_shuffle m[MEMBERS];
	int i, size = 40000;

	open_group(fds, m, MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (i = 0; i < MEMBERS; i++)
		start(fds[i], MEMBERS, op, LEN, 0);
}

static void test_cancel(void)
{
	uint64_t op = next_op++;
	int fds[MEMBERS];

	open_midway(fds, op);
	WORKS(EXPECT_EQ(sht_cancel(fds[2], op), 0), "cancel");
	others_say(fds, 2, op, ECONNRESET, ECANCELED, "the others end, and know who and why");
	WORKS_ERRNO(listen_to(fds[2], op).error, ECANCELED, "and itself");
	close_group(fds, MEMBERS);
}

static void test_close(void)
{
	uint64_t op = next_op++;
	int fds[MEMBERS];

	open_midway(fds, op);
	close(fds[1]);
	others_say(fds, 1, op, ECONNRESET, EPIPE, "the others hear that a socket is closed");
	close_group(fds + 2, 2);
	close(fds[0]);
}

/* Who starts when one has left already asks, and is answered. */
static void test_late(void)
{
	struct sockaddr_shuffle m[MEMBERS];
	uint64_t op = next_op++;
	int fds[MEMBERS], i;

	open_group(fds, m, MEMBERS);
	start(fds[3], MEMBERS, op, 1000, 0);
	sht_cancel(fds[3], op);
	WORKS_ERRNO(listen_to(fds[3], op).error, ECANCELED, "one cancels before others start");
	for (i = 0; i < 3; i++)
		start(fds[i], MEMBERS, op, 1000, 0);
	others_say(fds, 3, op, ECONNRESET, ECANCELED, "these hear of it when they ask");
	close_group(fds, MEMBERS);
}

/* Short messages are whole, and acknowledged, before their sender leaves. */
static void test_not_concerned(void)
{
	struct sockaddr_shuffle m[3];
	uint64_t op = next_op++;
	int fds[3], i;

	open_group(fds, m, 3);
	for (i = 0; i < 2; i++)
		start(fds[i], 3, op, 100, 0);
	usleep(300000);
	/* 0 and 1 have all of each other, and wait for 2 */
	sht_cancel(fds[0], op);
	usleep(100000);
	start(fds[2], 3, op, 100, 0);
	WORKS_ERRNO(listen_to(fds[1], op).error, 0, "one that needs nothing of it is done");
	WORKS_ERRNO(listen_to(fds[2], op).error, ECONNRESET, "and one that does is not");
	close_group(fds, 3);

	open_group(fds, m, 2);
	op = next_op++;
	start(fds[0], 2, op, 100, 0);
	start(fds[1], 2, op, 100, 0);
	WORKS_ERRNO(listen_to(fds[0], op).error, 0, "one is done");
	close(fds[0]);
	WORKS_ERRNO(listen_to(fds[1], op).error, 0, "and closes: the other one is done, too");
	close(fds[1]);
}

/* It has left when nobody needed it.  Others that begin the next operation, in which they have
 * heard nothing of it, are told by its host: they have met its socket, which is no more.
 */
static void test_between(uint64_t len)
{
	struct sockaddr_shuffle m[MEMBERS];
	uint64_t op = next_op++;
	int fds[MEMBERS], i, done = 0;

	open_group(fds, m, MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		start(fds[i], MEMBERS, op, len, 0);
	for (i = 0; i < MEMBERS; i++)
		done += EXPECT_ERRNO(listen_to(fds[i], op).error, 0);
	close(fds[2]);
	op = next_op++;
	for (i = 0; i < MEMBERS; i++)
		if (i != 2)
			start(fds[i], MEMBERS, op, len, 0);
	others_say(fds, 2, op, ECONNRESET, EPIPE, "one leaves between operations: the others hear of it");
	WORKS_EQ(done, MEMBERS, "all had done the one before");
	close_group(fds, 2);
	close(fds[3]);
}

static void test_digest(void)
{
	struct sockaddr_shuffle m[MEMBERS];
	static const uint64_t big[2] = { 1, 1ULL << 63 | 1 };
	uint64_t op = next_op++;
	int fds[MEMBERS], i, ok = 0;
	struct said s;

	open_group(fds, m, MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		start(fds[i], MEMBERS, op, LEN, 7);
	for (i = 0; i < MEMBERS; i++)
		ok += EXPECT_ERRNO(listen_to(fds[i], op).error, 0);
	WORKED(EXPECT_EQ(ok, MEMBERS), "a digest that is the same does no harm");
	for (i = 0; i < 2; i++) {
		op = next_op++;
		for (int j = 0; j < MEMBERS; j++)
			start(fds[j], MEMBERS, op, i ? LEN : 10, j == 2 ? big[i] : 7);
		others_say(fds, 2, op, EPROTO, EPROTO, i ? "one differs, in long messages" :
							   "one differs, in short messages");
		s = listen_to(fds[2], op);
		WORKS(EXPECT_ERRNO(s.error, EPROTO) && s.missing && !(s.missing & 4),
		      "and it names others");
	}
	op = next_op++;
	for (i = 0; i < MEMBERS; i++)
		start(fds[i], MEMBERS, op, 10, i == 2 ? 0 : 7);
	others_say(fds, 2, op, EPROTO, EPROTO, "one has none");
	close_group(fds, MEMBERS);
}

/* A packet that has come before says that the other member does something else: the operation ends
 * between its announcement and its data.  The library tells why, and not that the pipe is broken.
 */
static void test_exchange(uint64_t len)
{
	const void *bufs[2] = { data, data };
	uint64_t op = next_op++, lens[2] = { len, len };
	struct sockaddr_shuffle m[2];
	struct shuffle_column *col;
	int fds[2];

	open_group(fds, m, 2);
	start(fds[1], 2, op, 100, 7);
	usleep(100000);
	col = shuffle_column_new(op, 2);
	WORKED(EXPECT(col && shuffle_exchange(fds[0], op, bufs, lens, 2, 0, col) < 0) &&
	       EXPECT_ERRNO(errno, EPROTO), "an operation that ends under its sender's hands: why");
	WORKS(EXPECT_EQ(col->missing_count, 1U) && EXPECT_EQ(col->missing[0], 1U), "and who");
	shuffle_column_free(col);
	close_group(fds, 2);
}

/* Kernels that combine: operator, type and pattern have to be the same, as the digest says. */
static void test_collectives(void)
{
	const struct coll_ask sum = {
		.kind = SHUFFLE_COLL_ALLREDUCE, .pattern = SHUFFLE_COLL_TREE,
		.oper = SHUFFLE_COLL_SUM, .type = SHUFFLE_COLL_U64, .len = 8,
	};
	struct coll_ask other[3] = { sum, sum, sum };
	static const char *const names[3] = {
		"MAX at one, SUM at others: all fail", "another type: all fail",
		"another pattern: all fail",
	};
	struct sockaddr_shuffle m[MEMBERS];
	int fds[MEMBERS];
	unsigned int i, j, bad;

	other[0].oper = SHUFFLE_COLL_MAX;
	other[1].type = SHUFFLE_COLL_S64;
	other[2].pattern = SHUFFLE_COLL_DOUBLING;
	open_group(fds, m, MEMBERS);
	for (i = 0; i < 3; i++) {
		uint64_t op = next_op++;

		for (j = bad = 0; j < MEMBERS; j++) {
			struct coll_ask c = j == 2 ? other[i] : sum;

			c.op_id = op;
			/* it may end while it begins, by what has come before */
			bad += coll_ask_send(fds[j], &c, data, c.len, 0) != 8 && errno != EPIPE;
		}
		for (j = 0; j < MEMBERS; j++)
			bad += !EXPECT_ERRNO(listen_to(fds[j], op).error, EPROTO);
		WORKED(EXPECT_EQ(bad, 0), names[i]);
	}
	close_group(fds, MEMBERS);
}

/* A socket of the same host, by another port, that calls itself a member. */
static void test_forged(void)
{
	struct sockaddr_shuffle m[2], false_m[2];
	uint64_t op = next_op++;
	int fds[2], forger;
	struct said s;

	open_group(fds, m, 2);
	false_m[0] = m[0];
	my_addr(&false_m[1]);
	forger = sht_open(false_m, 2, 1, 0);
	memset(data, 1, LEN);
	WORKS(EXPECT_GE(forger, 0) && EXPECT_EQ(start(forger, 2, op, 1000, 0), 2000),
	      "a stranger sends as if it were rank 1");
	/* before the operation has begun, and after it */
	WORKS_EQ(start(fds[0], 2, op, 1000, 0), 2000, "rank 0 begins");
	usleep(50000);
	memset(data, 2, LEN);
	WORKS_EQ(start(fds[1], 2, op, 1000, 0), 2000, "and rank 1");
	s = listen_to(fds[0], op);
	WORKS(EXPECT_ERRNO(s.error, 0) && EXPECT_EQ(s.bytes, 2000) && EXPECT_EQ(s.sum, 3000),
	      "rank 0 has the bytes of rank 1");
	WORKS_ERRNO(listen_to(fds[1], op).error, 0, "and rank 1 is done");
	/* nor can it end what others do */
	op = next_op++;
	start(forger, 2, op, 1000, 0);
	start(fds[0], 2, op, LEN, 0);
	close(forger);
	usleep(50000);
	start(fds[1], 2, op, LEN, 0);
	WORKS_ERRNO(listen_to(fds[0], op).error, 0, "a stranger that leaves is no member");
	close_pair(fds);
	memset(data, 0, LEN);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_cancel();
	test_close();
	test_late();
	test_not_concerned();
	test_between(100);
	test_between(LEN);
	test_digest();
	test_exchange(100);
	test_exchange(LEN);
	test_collectives();
	test_forged();
	return api_finish();
}
