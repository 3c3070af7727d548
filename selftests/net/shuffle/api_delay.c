// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ACKs that may wait: SHUFFLE_ROW_DELAYED_ACK.  All operations end, with fewer packets.  TAP.
 *
 *	api_delay [-v 6]
 */
#define _GNU_SOURCE
#include "api.h"

#define OPS	50		/* fewer than a socket may have */
#define DELAY_MS	5	/* that an ACK waits at most */
#define LONG	(1U << 20)

static char data[2 * LONG];

static ssize_t send_flagged(int fd, uint64_t op, unsigned int flags, uint64_t len0, uint64_t len1)
{
	struct shuffle_row row = { .op_id = op, .count = 2, .flags = flags };
	uint64_t lens[2] = { len0, len1 };

	return sht_send(fd, &row, lens, data, len0 + len1, 0);
}

static unsigned int ends_read;		/* DONE records, by all of read_some() */

/* Read until @messages and @ends more have come. */
static bool read_some(int fd, unsigned int messages, unsigned int ends)
{
	static unsigned char buf[2 * LONG];
	uint64_t until = sht_now_ms() + WAIT_MS;
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct shuffle_record recs[8];
	unsigned int i, n;

	while (messages || ends) {
		if (sht_now_ms() > until)
			return false;
		if (poll(&pfd, 1, 100) <= 0)
			continue;
		n = 8;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0 && errno != EAGAIN)
			return false;
		for (i = 0; i < n; i++) {
			if (recs[i].type == SHUFFLE_RECORD_FAILED)
				return false;
			ends_read += recs[i].type == SHUFFLE_RECORD_DONE;
			if (recs[i].type == SHUFFLE_RECORD_DONE && ends)
				ends--;
			if (recs[i].type == SHUFFLE_RECORD_DATA &&
			    recs[i].flags & SHUFFLE_RECORD_LAST && messages)
				messages--;
		}
	}
	return true;
}

static uint64_t took_ms;		/* by the last packets() */

/* Operations one behind the other, each as soon as the data of the one before has come: how many
 * packets of control they take, or -1.
 */
static long packets(const int fds[2], unsigned int flags, uint64_t len)
{
	uint64_t begin = sht_now_ms();
	long before = sht_counter("CtrlPktsOut");
	unsigned int i;

	for (i = 0; i < OPS; i++) {
		uint64_t op = next_op++;

		if (send_flagged(fds[0], op, flags, 0, len) != (ssize_t)len ||
		    send_flagged(fds[1], op, flags, len, 0) != (ssize_t)len ||
		    !read_some(fds[0], 2, 0) || !read_some(fds[1], 2, 0))
			return -1;
	}
	took_ms = sht_now_ms() - begin;
	return sht_counter("CtrlPktsOut") - before;
}

/* Likewise, and the ends of all of them. */
static long all_end(unsigned int flags, uint64_t len, bool keyed)
{
	struct sockaddr_shuffle m[2];
	int fds[2], i;
	long n;

	my_addr(&m[0]);
	my_addr(&m[1]);
	for (i = 0; i < 2; i++) {
		fds[i] = new_socket(0);
		if (bind_to(fds[i], &m[i]) ||
		    (keyed && sht_set_key(fds[i], 7)) || sht_set_group(fds[i], m, 2, i))
			return -1;
	}
	n = packets(fds, flags, len);
	/* DONE records that came between the messages have been read */
	for (i = 0; i < 2 && n >= 0; i++) {
		uint64_t op = next_op;

		if (send_flagged(fds[i], op, 0, 0, 0) || send_flagged(fds[!i], op, 0, 0, 0) ||
		    read_end(fds[i], op) || read_end(fds[!i], op))
			n = -1;
		next_op++;
	}
	close_pair(fds);
	return n;
}

static void test_fewer(uint64_t len, bool keyed, const char *name)
{
	long without = all_end(0, len, keyed), with = all_end(SHUFFLE_ROW_DELAYED_ACK, len, keyed);
	/* where an emulated machine takes longer for an operation than an ACK waits, none rides */
	bool slow = took_ms > OPS * DELAY_MS / 2;

	printf("# %s: %ld packets of control, %ld if no ACK waits, %u ms\n", name, with, without,
	       (unsigned int)took_ms);
	WORKS(EXPECT_GE(with, 0) && EXPECT_GE(without, 0) && (with < without || slow), name);
}

/* An ACK comes with data of an operation that its receiver has not started: the packet is kept, but
 * the ACK has been dealt with.  (Late answers may be dropped in some rounds, not in all.)
 */
static void test_kept(void)
{
	const unsigned int flags = SHUFFLE_ROW_DELAYED_ACK;
	struct sockaddr_shuffle m[2];
	unsigned int i, clean = 0;
	bool ok = true;
	int fds[2];
	long drops;

	open_pair(fds, m, 0);
	for (i = 0; i < 20 && ok; i++) {
		uint64_t op = next_op;

		next_op += 2;
		drops = sht_counter("DropNoOp");
		ok = send_flagged(fds[0], op, flags, 0, 100) == 100 &&
		     send_flagged(fds[1], op, flags, 100, 0) == 100 &&
		     read_some(fds[0], 2, 1);
		ends_read = 0;
		/* on a slow machine the ACK may have come without data before */
		ok = ok && read_some(fds[1], 2, 0) &&
		     send_flagged(fds[0], op + 1, flags, 0, 100) == 100 &&
		     (ends_read || read_some(fds[1], 0, 1)) &&
		     send_flagged(fds[1], op + 1, flags, 100, 0) == 100 &&
		     !read_end(fds[0], op + 1) && !read_end(fds[1], op + 1);
		clean += sht_counter("DropNoOp") == drops;
	}
	WORKS(ok, "ACKs with data that is kept");
	WORKS(clean, "none is looked at twice");
	close_pair(fds);
}

/* All that is delayed goes when the socket does. */
static void test_close(void)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int fds[2];

	open_pair(fds, m, 0);
	WORKS(!send_flagged(fds[1], op, SHUFFLE_ROW_DELAYED_ACK, 0, 0) &&
	      EXPECT_EQ(send_flagged(fds[0], op, SHUFFLE_ROW_DELAYED_ACK, 0, 500), 500),
	      "a message");
	WORKS(read_some(fds[1], 2, 0), "it has come");
	close(fds[1]);
	WORKS_ERRNO(read_end(fds[0], op), 0,
		    "and is acknowledged when its receiver closes the socket");
	close(fds[0]);
}

/* Nobody waits for an ACK of a socket that begins nothing any more; what has begun ends. */
static void test_shutdown(void)
{
	const unsigned int flags = SHUFFLE_ROW_DELAYED_ACK;
	uint64_t op = next_op, begun = next_op + 1;
	struct sockaddr_shuffle m[2];
	long acks;
	int fds[2];

	next_op += 3;
	open_pair(fds, m, 0);
	/* what it sends goes before there is an ACK that could go along */
	WORKS(EXPECT_EQ(send_flagged(fds[1], begun, flags, 100, 0), 100) &&
	      !send_flagged(fds[1], op, flags, 0, 0) &&
	      EXPECT_EQ(send_flagged(fds[0], op, flags, 0, 500), 500) &&
	      read_some(fds[1], 2, 0), "a message, and an operation that one member has begun");
	acks = sht_counter("AckOut");
	WORKS_ERRNO(shutdown(fds[1], SHUT_WR), 0, "the other one begins nothing any more");
	WORKS(sht_counter("AckOut") > acks, "and does not wait with its ACK");
	FAILS(send_flagged(fds[1], begun + 1, 0, 0, 0), "an operation after shutdown", EPIPE);
	WORKS_ERRNO(read_end(fds[0], op), 0, "the message's operation ends");
	WORKS(EXPECT_EQ(send_flagged(fds[0], begun, flags, 0, 50), 50) &&
	      !read_end(fds[0], begun) && !read_end(fds[1], begun),
	      "so does the one that had begun");
	close_pair(fds);
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle m[2];
	int fds[2];

	api_start(argc, argv);
	open_pair(fds, m, 0);
	FAILS(send_flagged(fds[0], next_op++, 1U << 31, 0, 0), "a flag that there is not", EINVAL);
	close_pair(fds);
	test_fewer(1, false, "1 byte");
	test_fewer(5000, false, "5000 bytes");
	test_fewer(100, true, "100 bytes, with a key");
	test_kept();
	test_close();
	test_shutdown();
	return api_finish();
}
