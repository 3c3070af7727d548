// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operation ids that no group of these members and ports has had.
 *
 * Each member draws a number and tells it to all others; ids begin at the sum.  That first
 * operation needs an id that all know before, and the kernels of some may remember it from a group
 * before.  So there is a row of such ids, and each member goes to the next one when its own kernel
 * has had it (EEXIST), or another's kernel says so, which ends the operation at all.  The members
 * meet at the first that nobody remembers, whenever they start.
 *
 * A member that has waited for TRY_MS goes to the next id of the row, too.  Another one may have
 * been content just before.  So all who are content say so in a second operation, which they begin
 * at the same time: whoever misses one of them there has been left behind, and goes on in the row.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "internal.h"

/* The first of the row: above all ids that are agreed on. */
#define AGREE_OP	0xa9ee000000000000ULL
/* Where they lie: below, with room for every program to count on */
#define AGREED_BITS	62
/* Until all go to the next one, ms: an answer was lost, or somebody began as it was forgotten. */
#define TRY_MS		10000
/* Until all say that they are content, ms: so short that those who are not still wait at their next
 * id when one that was left behind comes there.
 */
#define CONTENT_MS	(TRY_MS / 4)
/* What the two operations are, and the version of how libraries agree: change it with them. */
#define MEET_DIGEST	0x6d65657400000002ULL
#define CONTENT_DIGEST	0x646f6e6500000002ULL

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

/* Like shuffle_recv_column(), but signals end it, and others' records are none of ours. */
static int receive(int fd, struct shuffle_column *col)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct shuffle_record rec[16];
	unsigned int count, i;
	char buf[sizeof(rec)];
	ssize_t len, pos;

	while (!col->done || col->missing_left) {
		if (poll(&pfd, 1, -1) < 0)
			return -1;
		count = sizeof(rec) / sizeof(*rec);
		len = shuffle_recv(fd, buf, sizeof(buf), rec, &count, MSG_DONTWAIT);
		if (len < 0 && errno != EAGAIN)
			return -1;
		for (i = 0, pos = 0; i < count; i++) {
			if (shuffle_column_add(col, &rec[i], buf + pos) < 0)
				return -1;
			if (rec[i].type == SHUFFLE_RECORD_DATA)
				pos += rec[i].len;
		}
	}
	errno = col->error;
	return col->error ? -1 : 0;
}

/* One operation: our number to all, theirs to @col.  A library that agrees in another way has
 * another digest: EPROTO.
 */
static int try(int fd, uint64_t mine, uint64_t ms, uint64_t digest, struct shuffle_column *col)
{
	const void **bufs = calloc(col->count, sizeof(*bufs));
	uint64_t *lens = calloc(col->count, sizeof(*lens));
	struct shuffle_tx tx;
	unsigned int i;
	int ret = -1;

	for (i = 0; bufs && lens && i < col->count; i++) {
		bufs[i] = &mine;
		lens[i] = sizeof(mine);
	}
	shuffle_tx_init(&tx, col->op_id, bufs, lens, col->count, ms);
	shuffle_tx_digest(&tx, digest);
	/* EPIPE: another kernel has answered already; the operation's end says what */
	if (bufs && lens && (!shuffle_tx_finish(fd, &tx) || errno == EPIPE)) {
		ret = receive(fd, col);
		if (ret)
			shuffle_give_up(fd, col);
	}
	free(bufs);
	free(lens);
	return ret;
}

static int sum_of(const struct shuffle_column *col, uint64_t *sum)
{
	uint64_t theirs;
	unsigned int i;

	for (*sum = 0, i = 0; i < col->count; i++) {
		if (col->lens[i] != sizeof(theirs)) {
			errno = EPROTO;
			return -1;
		}
		memcpy(&theirs, col->bufs[i], sizeof(theirs));
		*sum += be64toh(theirs);
	}
	*sum &= (1ULL << AGREED_BITS) - 1;
	return 0;
}

/* Has a member left that had been there?  One that has not may have left a group before. */
static bool has_died(const struct shuffle_column *col)
{
	unsigned int i;

	for (i = 0; i < col->missing_count; i++)
		if (col->bufs[col->missing[i]])
			return true;
	return false;
}

/* The operation @op of the row: the sum of all numbers.  0, or -1 and errno: EEXIST and ETIMEDOUT
 * where the next one may be better.
 */
static int meet(int fd, unsigned int count, uint64_t op, uint64_t digest, uint64_t ms,
		uint64_t *sum, unsigned int *missing)
{
	struct shuffle_column *col = shuffle_column_new(op, count);
	int ret = -1, err;
	uint64_t mine;

	if (!col)
		return -1;
	if (getrandom(&mine, sizeof(mine), 0) == sizeof(mine))
		ret = try(fd, mine, ms, digest, col);
	if (!ret)
		ret = sum_of(col, sum);
	err = errno;
	if (col->missing_count)
		*missing = col->missing[0];
	if (err == ECONNRESET && !has_died(col))
		err = EEXIST;
	shuffle_column_free(col);
	errno = err;
	return ret;
}

/* A deadline of at most @ms, and not 0, which is none. */
static uint64_t within(uint64_t ms, uint64_t end)
{
	uint64_t now = now_ms();

	return now >= end ? 1 : end - now < ms ? end - now : ms;
}

int shuffle_agree(int fd, unsigned int count, uint64_t timeout_ms, uint64_t *first_op,
		  unsigned int *missing)
{
	uint64_t now = now_ms(), op = AGREE_OP, sum = 0, ignored, end;
	int ret;

	end = timeout_ms < UINT64_MAX - now ? now + timeout_ms : UINT64_MAX;

	*missing = UINT_MAX;
	do {
		ret = meet(fd, count, op++, MEET_DIGEST, within(TRY_MS, end), &sum, missing);
		if (!ret)
			ret = meet(fd, count, sum, CONTENT_DIGEST, within(CONTENT_MS, end),
				   &ignored, missing);
	} while (ret && (errno == EEXIST || errno == ETIMEDOUT) && now_ms() < end);
	if (ret && errno == EEXIST)
		errno = ETIMEDOUT;
	if (!ret)
		*first_op = sum + 1;
	return ret;
}
