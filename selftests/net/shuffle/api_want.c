// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows that are asked for: SHUFFLE_ROW_WANT.  What is refused, what is asked for and when, and
 * answers of all shapes.  TAP.
 *
 *	api_want [-v 6]
 */
#define _GNU_SOURCE
#include "api.h"

#define LONG	(1U << 20)
#define WANTS	64

static unsigned char data[LONG];

static ssize_t announce(int fd, uint64_t op, uint32_t flags, uint64_t len0, uint64_t len1,
			const void *bytes, size_t len)
{
	struct shuffle_row row = { .op_id = op, .count = 2, .flags = flags };
	uint64_t lens[2] = { len0, len1 };

	return sht_send(fd, &row, lens, bytes, len, MSG_DONTWAIT);
}

static ssize_t answer_rank(int fd, uint64_t op, unsigned int rank, const void *bytes, size_t len,
			   int flags)
{
	struct shuffle_row row = { .op_id = op, .first_rank = rank };

	return sht_send(fd, &row, NULL, bytes, len, flags);
}

/* To rank 1 */
static ssize_t answer(int fd, uint64_t op, const void *bytes, size_t len, int flags)
{
	return answer_rank(fd, op, 1, bytes, len, flags);
}

/* The WANT records that are there; anything else is counted in *other. */
static unsigned int wants(int fd, struct shuffle_record *recs, unsigned int *other)
{
	static unsigned char scratch[1 << 20];
	struct shuffle_record all[WANTS];
	unsigned int i, n = WANTS, found = 0;

	if (sht_recv(fd, scratch, sizeof(scratch), all, &n, MSG_DONTWAIT) < 0)
		return 0;
	for (i = 0; i < n; i++) {
		if (all[i].type == SHUFFLE_RECORD_WANT)
			recs[found++] = all[i];
		else
			++*other;
	}
	return found;
}

static void test_refused(int fds[2])
{
	struct shuffle_record recs[WANTS];
	unsigned int other = 0;
	uint64_t op = next_op++;

	FAILS(announce(fds[0], op, SHUFFLE_ROW_WANT, 0, 100, data, 100),
	      "data with the announcement", EINVAL);
	WORKS_EQ(announce(fds[0], op, SHUFFLE_ROW_WANT, 0, 100, NULL, 0), 0, "announced");
	FAILS(answer(fds[0], op, data, 1, MSG_DONTWAIT), "an answer before the question", EMSGSIZE);
	WORKS(EXPECT_EQ(wants(fds[0], recs, &other), 1) && EXPECT_EQ(recs[0].rank, 1) &&
	      EXPECT_EQ(recs[0].offset, 0) && EXPECT_EQ(recs[0].len, 100) &&
	      EXPECT_EQ(recs[0].msg_len, 100), "asked once");
	FAILS(answer(fds[0], op, data, 101, MSG_DONTWAIT), "more than was asked for", EMSGSIZE);
	FAILS(answer(fds[0], op, (void *)8, 100, MSG_DONTWAIT), "an answer at a bad pointer",
	      EFAULT);
	FAILS(answer_rank(fds[0], op, 0, data, 100, MSG_DONTWAIT), "an answer for another rank",
	      EINVAL);
	WORKS_EQ(answer(fds[0], op, data, 40, MSG_DONTWAIT), 40, "a part of the answer");
	WORKS_EQ(answer(fds[0], op, data, 0, MSG_DONTWAIT), 0, "nothing");
	FAILS(answer(fds[0], op, data, 61, MSG_DONTWAIT), "more than is missing", EMSGSIZE);
	WORKS_EQ(answer(fds[0], op, data + 40, 60, MSG_DONTWAIT), 60, "the rest of the answer");
	FAILS(answer(fds[0], op, data, 1, MSG_DONTWAIT), "after the last one", EMSGSIZE);
	WORKS(EXPECT_EQ(send_row(fds[1], op, 0, 0, NULL, 0, 0), 0) &&
	      EXPECT_ERRNO(read_end(fds[0], op), 0) && EXPECT_ERRNO(read_end(fds[1], op), 0),
	      "done");
	FAILS(answer(fds[0], op, data, 1, MSG_DONTWAIT | MSG_NOSIGNAL), "after the end", EPIPE);
}

/* The send buffer bounds what is asked for; it moves on with what arrives.  @several: records
 * that one call answers.
 */
static void test_long(unsigned int several, const char *name)
{
	static unsigned char got[LONG], joined[LONG];
	struct shuffle_record recs[WANTS], in[WANTS];
	uint64_t op = next_op++, until = sht_now_ms() + 3 * WAIT_MS, most = 0, asked = 0, room = 0;
	static unsigned char scratch[1 << 18];
	unsigned int i, n, k, other = 0;
	struct sockaddr_shuffle m[2];
	int fds[2], small = 40000;
	bool ok = true, end = false;
	size_t len, at, have = 0;

	memset(got, 0, LONG);
	open_pair(fds, m, 0);
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	ok &= announce(fds[0], op, SHUFFLE_ROW_WANT, 0, LONG, NULL, 0) == 0;
	ok &= send_row(fds[1], op, 0, 0, NULL, 0, 0) == 0;
	while (ok && !end && sht_now_ms() < until) {
		n = wants(fds[0], recs, &other);
		for (i = 0, room = 0; i < n; i++) {
			ok &= recs[i].offset == asked && recs[i].rank == 1;
			asked += recs[i].len;
			room += recs[i].len;
		}
		most = room > most ? room : most;
		for (i = 0; i < n; i += k) {
			for (k = 0, len = 0; k < several && i + k < n; len += recs[i + k++].len)
				memcpy(joined + len, data + recs[i + k].offset, recs[i + k].len);
			ok &= answer(fds[0], op, joined, len, MSG_DONTWAIT) == (ssize_t)len;
		}
		k = WANTS;
		if (sht_recv(fds[1], scratch, sizeof(scratch), in, &k, MSG_DONTWAIT) < 0) {
			usleep(1000);
			continue;
		}
		for (i = 0, at = 0; i < k; i++) {
			if (in[i].type == SHUFFLE_RECORD_DONE)
				end = true;
			if (in[i].type != SHUFFLE_RECORD_DATA)
				continue;
			memcpy(got + in[i].offset, scratch + at, in[i].len);
			have += in[i].len;
			at += in[i].len;
		}
	}
	ok &= end && have == LONG && asked == LONG && !memcmp(got, data, LONG);
	WORKS(ok, name);
	WORKS(EXPECT_LE(most, 2 * (uint64_t)small + 65536),
	      "no more is asked for than there is room for");
	close_pair(fds);
}

/* A row with data for one member, cut in the middle, and the rest asked for. */
static void test_late(int fds[2])
{
	struct shuffle_row row = { .op_id = next_op++, .count = 1, .flags = SHUFFLE_ROW_MORE };
	struct shuffle_record recs[WANTS];
	uint64_t lens[2] = { 1000, 2000 };
	unsigned int n, i, other = 0;
	uint64_t sum = 0;

	WORKS_EQ(sht_send(fds[0], &row, lens, data, 400, MSG_DONTWAIT), 400, "a part by copy");
	row.first_rank = 1;
	row.flags = SHUFFLE_ROW_WANT;
	WORKS_EQ(sht_send(fds[0], &row, lens + 1, NULL, 0, MSG_DONTWAIT), 0,
		 "the rest is asked for");
	n = wants(fds[0], recs, &other);
	for (i = 0; i < n; i++)
		sum += recs[i].len;
	WORKS(EXPECT_EQ(n, 2) && EXPECT_EQ(sum, 2600), "what is missing");
	WORKS_EQ(answer_rank(fds[0], row.op_id, recs[0].rank, data, 2600, MSG_DONTWAIT), 2600,
		 "it comes");
	WORKS(EXPECT_EQ(send_row(fds[1], row.op_id, 0, 0, NULL, 0, 0), 0) &&
	      EXPECT_ERRNO(read_end(fds[0], row.op_id), 0) &&
	      EXPECT_ERRNO(read_end(fds[1], row.op_id), 0), "done");
}

/* The call that closes the row need not say it again. */
static void test_closed_later(int fds[2])
{
	struct shuffle_row row = { .op_id = next_op++, .count = 1,
				   .flags = SHUFFLE_ROW_WANT | SHUFFLE_ROW_MORE };
	struct shuffle_record recs[WANTS];
	uint64_t len = 500;
	unsigned int other = 0;

	WORKS_EQ(sht_send(fds[0], &row, &len, NULL, 0, MSG_DONTWAIT), 0, "a part is announced");
	WORKS(!wants(fds[0], recs, &other), "nothing is asked for before all is");
	row.count = 0;
	row.flags = 0;
	WORKS_EQ(sht_send(fds[0], &row, NULL, NULL, 0, MSG_DONTWAIT), 0, "the row is closed");
	WORKS(EXPECT_EQ(wants(fds[0], recs, &other), 1) && EXPECT_EQ(recs[0].rank, 0) &&
	      EXPECT_EQ(recs[0].len, 500), "now it is asked for");
	WORKS_EQ(answer_rank(fds[0], row.op_id, 0, data, 500, MSG_DONTWAIT), 500, "and comes");
	WORKS(EXPECT_EQ(send_row(fds[1], row.op_id, 0, 0, NULL, 0, 0), 0) &&
	      EXPECT_ERRNO(read_end(fds[0], row.op_id), 0) &&
	      EXPECT_ERRNO(read_end(fds[1], row.op_id), 0), "done");
}

/* A row that brings nothing, of the last one to start: it may be done within the call. */
static void test_empty(int fds[2])
{
	uint64_t op = next_op++;

	send_row(fds[1], op, 0, 0, NULL, 0, 0);
	usleep(20000);
	WORKS_EQ(announce(fds[0], op, SHUFFLE_ROW_WANT, 0, 0, NULL, 0), 0, "an empty row");
	WORKS(EXPECT_ERRNO(read_end(fds[0], op), 0) && EXPECT_ERRNO(read_end(fds[1], op), 0),
	      "done");
}

/* One row that is not answered does not stop another one. */
static void test_two(void)
{
	struct shuffle_record recs[WANTS];
	struct sockaddr_shuffle m[2];
	uint64_t slow = next_op++, op = next_op++, until = sht_now_ms() + WAIT_MS, asked = 0;
	unsigned int i, n, other = 0;
	int fds[2], small = 30000;

	open_pair(fds, m, 0);
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	send_row(fds[1], op, 0, 0, NULL, 0, 0);
	announce(fds[0], slow, SHUFFLE_ROW_WANT, 0, LONG, NULL, 0);
	while (wants(fds[0], recs, &other))
		;
	announce(fds[0], op, SHUFFLE_ROW_WANT, 0, LONG, NULL, 0);
	while (asked < LONG && sht_now_ms() < until) {
		n = wants(fds[0], recs, &other);
		for (i = 0; i < n; i++) {
			if (recs[i].op_id != op)
				continue;
			asked += recs[i].len;
			answer(fds[0], op, data + recs[i].offset, recs[i].len, MSG_DONTWAIT);
		}
		/* the other side reads */
		if (!wants(fds[1], recs, &other))
			usleep(500);
	}
	WORKS_EQ(asked, LONG, "another row is asked for beside one that is not answered");
	sht_cancel(fds[0], slow);
	WORKS_ERRNO(read_end(fds[0], op), 0, "and ends");
	close_pair(fds);
}

/* What the room waited for is cancelled. */
static void test_cancelled_room(void)
{
	struct shuffle_record recs[WANTS];
	struct sockaddr_shuffle m[2];
	uint64_t a = next_op++, b = next_op++;
	unsigned int i, n, other = 0, found = 0;
	int fds[2], small = 30000;

	open_pair(fds, m, 0);
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	announce(fds[0], a, SHUFFLE_ROW_WANT, 0, LONG, NULL, 0);
	while (wants(fds[0], recs, &other))
		;
	announce(fds[0], b, SHUFFLE_ROW_WANT, 0, LONG, NULL, 0);
	while (wants(fds[0], recs, &other))
		;
	sht_cancel(fds[0], a);
	n = wants(fds[0], recs, &other);
	for (i = 0; i < n; i++)
		found += recs[i].op_id == b;
	WORKS(found, "room that a cancelled row held is another's");
	close_pair(fds);
}

static void test_ends(int fds[2])
{
	struct shuffle_record recs[WANTS];
	struct sockaddr_shuffle m[2];
	unsigned int other = 0;
	uint64_t op = next_op++;
	int more[2];

	announce(fds[0], op, SHUFFLE_ROW_WANT, 0, LONG, NULL, 0);
	WORKS(EXPECT_GT(wants(fds[0], recs, &other), 0), "asked");
	sht_cancel(fds[0], op);
	WORKS_ERRNO(read_end(fds[0], op), ECANCELED, "cancelled in the middle");
	FAILS(answer(fds[0], op, data, 1, MSG_DONTWAIT | MSG_NOSIGNAL), "an answer after that",
	      EPIPE);
	WORKS(!wants(fds[0], recs, &other), "no more questions");
	WORKS(pair_works(fds), "the pair still shuffles");
	open_pair(more, m, 0);
	announce(more[0], op, SHUFFLE_ROW_WANT, 0, LONG, NULL, 0);
	wants(more[0], recs, &other);
	close_pair(more);
	WORKS(pair_works(fds), "closed in the middle");
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle m[2];
	int fds[2];

	api_start(argc, argv);
	sht_fill(data, LONG, 1, 0);
	open_pair(fds, m, 0);
	test_refused(fds);
	test_late(fds);
	test_closed_later(fds);
	test_empty(fds);
	test_ends(fds);
	close_pair(fds);
	test_two();
	test_cancelled_room();
	test_long(1, "1 MiB, an answer for each record");
	test_long(WANTS, "1 MiB, an answer for many records");
	return api_finish();
}
