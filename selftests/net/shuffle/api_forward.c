// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows that forward a message (SHUFFLE_CMSG_FORWARD): what is refused, and what becomes of a
 * message of another length.  TAP.
 *
 *	api_forward [-v 6]
 */
#define _GNU_SOURCE
#include <limits.h>

#include "api.h"
#include "api_row.h"

#define MEMBERS	3

static unsigned char data[4096];
static const uint64_t none = SHUFFLE_ABSENT;

/* What a row of @lens says of the column: only some send.  @forward: NULL, or bytes of a control
 * message.
 */
static ssize_t row(int fd, uint64_t op, unsigned int flags, const uint64_t lens[MEMBERS],
		   uint64_t absent_bits, const void *forward, size_t size, size_t len)
{
	struct row r = {
		.op = op, .flags = flags, .count = MEMBERS, .absent = absent_bits,
		.type = forward ? SHUFFLE_CMSG_FORWARD : 0, .more = forward, .size = size,
	};

	memcpy(r.lens, lens, MEMBERS * sizeof(r.lens[0]));
	return call_row(fd, &r, data, len);
}

/* Member 1 forwards from @from to member 2. */
static ssize_t forward_row(int fd, uint64_t op, unsigned int flags, uint64_t to1, uint64_t to2,
			   uint32_t from, size_t len)
{
	struct shuffle_forward f = { .size = sizeof(f), .from = from };
	const uint64_t lens[] = { none, to1, to2 };

	return row(fd, op, flags, lens, 6, &f, sizeof(f), len);
}

static void test_refused(void)
{
	struct {
		struct shuffle_forward f;
		uint64_t more;
	} longer = { { .size = sizeof(struct shuffle_forward) }, 0 };
	const uint64_t lens[] = { none, none, 100 };
	const uint64_t differ[] = { 100, none, 200 };
	int fds[MEMBERS];

	open_group(fds, MEMBERS);
	FAILS(row(fds[1], next_op++, 0, lens, 6, &longer, 4, 0), "half a control message", EINVAL);
	FAILS(row(fds[1], next_op++, 0, lens, 6, &longer, sizeof(longer), 0),
	      "a size that is not the message's", EINVAL);
	longer.f.size = sizeof(longer);
	longer.more = 1;
	FAILS(row(fds[1], next_op++, 0, lens, 6, &longer, sizeof(longer), 0),
	      "fields that are not known", E2BIG);
	FAILS(forward_row(fds[1], next_op++, 0, none, 100, MEMBERS, 0), "no such member", EINVAL);
	FAILS(forward_row(fds[1], next_op++, 0, none, 100, 1, 0), "from ourselves", EINVAL);
	FAILS(forward_row(fds[1], next_op++, 0, none, 100, 2, 0), "what does not come", EINVAL);
	FAILS(forward_row(fds[1], next_op++, 0, none, none, 0, 0), "to nobody", EINVAL);
	FAILS(forward_row(fds[1], next_op++, 0, 100, 100, 0, 0), "to ourselves", EINVAL);
	FAILS(forward_row(fds[1], next_op++, 0, none, 100, 0, 100), "with data", EINVAL);
	FAILS(forward_row(fds[1], next_op++, SHUFFLE_ROW_WANT, none, 100, 0, 0), "asked for",
	      EINVAL);
	FAILS(forward_row(fds[1], next_op++, SHUFFLE_ROW_MORE, none, 100, 0, 0),
	      "a row to be continued", EINVAL);
	longer.f.size = sizeof(longer.f);
	FAILS(row(fds[1], next_op++, 0, differ, 6, &longer, sizeof(longer.f), 0),
	      "messages of different lengths", EINVAL);
	FAILS(sht_cancel(fds[1], next_op - 1), "nothing of it is left", ENOENT);
	close_group(fds, MEMBERS);
}

/* A message of 1000 bytes from member 0, which member 1 announces as @len bytes, before or after
 * the message comes.
 */
static int pass_on(int fds[MEMBERS], uint64_t len, bool before, uint64_t *bytes)
{
	const uint64_t first[] = { none, 1000, none }, last[] = { none, none, none };
	struct shuffle_row more = { .size = sizeof(more), .op_id = next_op };
	uint64_t op = next_op++;

	if (before && forward_row(fds[1], op, 0, none, len, 0, 0))
		return errno;
	if (row(fds[0], op, 0, first, 7, NULL, 0, 1000) != 1000)
		return errno;
	if (!before && forward_row(fds[1], op, 0, none, len, 0, 0))
		return errno;
	FAILS(sht_send(fds[1], &more, NULL, data, 1, MSG_DONTWAIT), "data of our own",
	      len == 1000 ? EMSGSIZE : EPIPE);
	if (len == 1000 && row(fds[2], op, 0, last, 5, NULL, 0, 0))
		return errno;
	return end_of(fds[1], op, data, sizeof(data), bytes);
}

static void test_lengths(void)
{
	uint64_t bytes;
	int fds[MEMBERS], i;

	open_group(fds, MEMBERS);
	for (i = 0; i < 2; i++) {
		WORKS(!pass_on(fds, 1000, i, &bytes) && EXPECT_EQ(bytes, 1000),
		      "a message is passed on, and read");
		WORKS(EXPECT_ERRNO(end_of(fds[2], next_op - 1, data, sizeof(data), &bytes), 0) &&
		      EXPECT_EQ(bytes, 1000), "who gets it from us has all of it");
		WORKS_ERRNO(pass_on(fds, 1001, i, &bytes), EPROTO, "a message of another length");
	}
	close_group(fds, MEMBERS);
}

/* Read until @ops operations have ended: 0 or an errno. */
static int ends_of(int fd, unsigned int ops)
{
	struct shuffle_record recs[8];
	unsigned int i, n;

	while (ops) {
		n = 8;
		if (sht_recv(fd, data, sizeof(data), recs, &n, 0) < 0)
			return errno;
		for (i = 0; i < n; i++) {
			if (recs[i].type == SHUFFLE_RECORD_FAILED)
				return recs[i].error;
			ops -= recs[i].type == SHUFFLE_RECORD_DONE;
		}
	}
	return 0;
}

/* Two operations 0 -> 1 -> 2 of more than the buffers of member 1, which has begun both; member 2
 * begins the second one, and the first when that is over.
 */
static void test_orders(void)
{
	const unsigned int len = 256 << 10, most_s = 60;
	struct row r = { .op = next_op, .count = MEMBERS, .lens = { none, len, none },
			 .absent = 7 };
	struct row last = { .op = next_op + 1, .count = MEMBERS, .lens = { none, none, none },
			    .absent = 5 };
	int fds[MEMBERS], small = 16384, i, status = 0;
	char *bytes = calloc(1, len);
	pid_t pid[3];
	uint64_t got;

	open_group(fds, MEMBERS);
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	setsockopt(fds[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (i = 0; i < 2; i++)
		WORKS(!forward_row(fds[1], next_op + i, 0, none, len, 0, 0), "one to forward");
	fflush(stdout);
	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		alarm(most_s);
		r.op += i;
		_exit(i < 2 ? call_row_flags(fds[0], &r, bytes, len, 0) != (ssize_t)len :
			      ends_of(fds[1], 2));
	}
	alarm(most_s);
	usleep(200000);		/* until the first one has filled what it can */
	WORKS(EXPECT_EQ(call_row(fds[2], &last, NULL, 0), 0) &&
	      EXPECT_ERRNO(end_of(fds[2], last.op, data, sizeof(data), &got), 0) &&
	      EXPECT_EQ(got, len), "the second one is not held up by the first");
	last.op--;
	WORKS(EXPECT_EQ(call_row(fds[2], &last, NULL, 0), 0) &&
	      EXPECT_ERRNO(end_of(fds[2], last.op, data, sizeof(data), &got), 0) &&
	      EXPECT_EQ(got, len), "then the first");
	for (i = 0; i < 3; i++) {
		waitpid(pid[i], &status, 0);
		WORKS_EQ(status, 0, "who sends, and who forwards");
	}
	alarm(0);
	next_op += 2;
	free(bytes);
	close_group(fds, MEMBERS);
}

int main(int argc, char **argv)
{
	memset(data, 42, sizeof(data));
	api_start(argc, argv);
	test_refused();
	test_lengths();
	test_orders();
	return api_finish();
}
