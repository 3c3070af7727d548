// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows one message of which takes in all that come (SHUFFLE_CMSG_REDUCE): what is refused, sums in
 * chains and stars of members, whoever is early or late, and what becomes of a message of another
 * length.  TAP.
 *
 *	api_reduce [-v 6]
 */
#define _GNU_SOURCE
#include <limits.h>

#include "api.h"
#include "api_row.h"

#define MEMBERS	4
#define MOST	400000		/* bytes of a message */

static unsigned char data[MOST], got[MOST];
static const uint64_t none = SHUFFLE_ABSENT;

static const struct shuffle_reduction sum = {
	.size = sizeof(sum), .to = 0, .oper = SHUFFLE_COLL_SUM, .type = SHUFFLE_COLL_U64,
};

/* Member 1's row: @len bytes to member 0, and what member 2 sends taken in. */
static struct row good(uint64_t len)
{
	return (struct row) {
		.op = next_op++, .count = MEMBERS, .lens = { len, none, none, none },
		.absent = 0xb, .type = SHUFFLE_CMSG_REDUCE, .more = &sum, .size = sizeof(sum),
	};
}

static void test_refused(void)
{
	struct {
		struct shuffle_reduction r;
		uint32_t more;
	} longer = { sum, 0 };
	struct shuffle_row more = { .size = sizeof(more) };
	struct shuffle_reduction other = sum;
	struct row r = good(800);
	int fds[MEMBERS], small = 4096;

	open_group(fds, MEMBERS);
	r.size = 8;
	FAILS(call_row(fds[1], &r, data, 800), "half a control message", EINVAL);
	r.more = &longer;
	r.size = sizeof(longer);
	FAILS(call_row(fds[1], &r, data, 800), "a size that is not the message's", EINVAL);
	longer.r.size = sizeof(longer);
	longer.more = 1;
	FAILS(call_row(fds[1], &r, data, 800), "fields that are not known", E2BIG);
	r.more = &other;
	r.size = sizeof(other);
	other.reserved = 1;
	FAILS(call_row(fds[1], &r, data, 800), "a reserved field", EINVAL);
	other = sum;
	other.oper = SHUFFLE_COLL_MINLOC;
	FAILS(call_row(fds[1], &r, data, 800), "an operator for other items", EINVAL);
	other = sum;
	other.type = 99;
	FAILS(call_row(fds[1], &r, data, 800), "no such items", EINVAL);
	other = sum;
	other.to = MEMBERS;
	FAILS(call_row(fds[1], &r, data, 800), "no such member", EINVAL);
	other.to = 2;
	FAILS(call_row(fds[1], &r, data, 800), "a message that is absent", EINVAL);
	r.lens[1] = 800;
	r.lens[0] = none;
	r.absent = 0x9;
	other.to = 1;
	FAILS(call_row(fds[1], &r, data, 800), "to ourselves", EINVAL);

	r = good(804);
	FAILS(call_row(fds[1], &r, data, 804), "half an item", EINVAL);
	r = good(0);
	FAILS(call_row(fds[1], &r, data, 0), "no item", EINVAL);
	r = good(800);
	FAILS(call_row(fds[1], &r, data, 799), "not all of the data", EINVAL);
	FAILS(call_row(fds[1], &r, data, 801), "more than the data", EINVAL);
	r.absent = 0xf;
	FAILS(call_row(fds[1], &r, data, 800), "nothing comes", EINVAL);
	r.absent = 0x9;
	FAILS(call_row(fds[1], &r, data, 800), "from ourselves", EINVAL);
	r.absent = 0xb;
	r.flags = SHUFFLE_ROW_WANT;
	FAILS(call_row(fds[1], &r, data, 0), "asked for", EINVAL);
	r.flags = SHUFFLE_ROW_MORE;
	FAILS(call_row(fds[1], &r, data, 800), "a row to be continued", EINVAL);
	r = good(MOST);
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	FAILS(call_row(fds[1], &r, data, MOST), "more than there may be", EMSGSIZE);
	FAILS(sht_cancel(fds[1], r.op), "nothing of it is left", ENOENT);
	r = good(SHUFFLE_REDUCE_BYTES);
	WORKS_EQ(call_row(fds[1], &r, data, SHUFFLE_REDUCE_BYTES), SHUFFLE_REDUCE_BYTES,
		 "a row for which there is always room");
	more.op_id = r.op;
	FAILS(sht_send(fds[1], &more, NULL, data, 0, MSG_DONTWAIT), "a second call", EINVAL);
	r = good(16000);
	FAILS(call_row(fds[1], &r, data, 16000), "but not beside another", ENOBUFS);
	FAILS(sht_cancel(fds[1], r.op), "nothing is left of that", ENOENT);
	close_group(fds, MEMBERS);
}

static void fill(unsigned int member, uint64_t len)
{
	uint64_t i, *x = (uint64_t *)data;

	for (i = 0; i < len / 8; i++)
		x[i] = sht_mix(i * MEMBERS + member);
}

/* The sum of the first @n members' numbers has come, as @len bytes. */
static bool is_sum(unsigned int n, uint64_t len)
{
	const uint64_t *x = (const uint64_t *)got;
	unsigned int m;
	uint64_t i, y;

	for (i = 0; i < len / 8; i++) {
		for (y = 0, m = 1; m <= n; m++)
			y += sht_mix(i * MEMBERS + m);
		if (x[i] != y)
			return false;
	}
	return true;
}

/* Member @i of a chain 3 -> 2 -> 1 -> 0, or of a star 3, 2 -> 1 -> 0. */
static bool take_part(const int fds[], unsigned int i, uint64_t op, uint64_t len, bool star)
{
	struct shuffle_reduction to = sum;
	struct row r = {
		.op = op, .count = MEMBERS, .lens = { none, none, none, none }, .absent = 0xf,
		.more = &to, .size = sizeof(to),
	};

	to.to = star && i > 1 ? 1 : i - 1;
	if (!i) {
		r.absent = 0xd;
		return call_row(fds[0], &r, data, 0) == 0;
	}
	r.lens[to.to] = len;
	if (i < 3 && !(star && i == 2)) {
		r.type = SHUFFLE_CMSG_REDUCE;
		r.absent = star ? 0x3 : 0xf & ~(1U << (i + 1));
	}
	fill(i, len);
	return call_row(fds[i], &r, data, len) == (ssize_t)len;
}

/* @first: who begins; the others follow in the order of their ranks. */
static bool reduce(const int fds[], unsigned int first, uint64_t len, bool star)
{
	uint64_t op = next_op++, bytes, others;
	unsigned int i;

	for (i = 0; i < MEMBERS; i++)
		if (!take_part(fds, (first + i) % MEMBERS, op, len, star))
			return false;
	if (end_of(fds[0], op, got, sizeof(got), &bytes) || bytes != len)
		return false;
	for (i = 1; i < MEMBERS; i++)
		if (end_of(fds[i], op, data, sizeof(data), &others) || others)
			return false;
	return is_sum(3, len);
}

static void test_sums(void)
{
	static const uint64_t lens[] = { 8, 248, 1432, 1440, 9008, 65536, MOST };
	unsigned int i, first;
	char text[80];
	int fds[MEMBERS], star;

	open_group(fds, MEMBERS);
	for (star = 0; star < 2; star++)
		for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
			for (first = 0; first < MEMBERS; first++) {
				snprintf(text, sizeof(text), "%u bytes in a %s, member %u first",
					 (unsigned int)lens[i], star ? "star" : "chain", first);
				WORKS(reduce(fds, first, lens[i], star), text);
			}
	close_group(fds, MEMBERS);
}

/* Member 2 sends @len bytes instead of the 800 of member 1, before or after that one's row. */
static int other_length(const int fds[], uint64_t len, bool before)
{
	struct row r = good(800), in = {
		.op = r.op, .count = MEMBERS, .lens = { none, len, none, none }, .absent = 0xf,
	};
	uint64_t bytes;

	if (before && call_row(fds[1], &r, data, 800) != 800)
		return errno;
	if (call_row(fds[2], &in, data, len) != (ssize_t)len)
		return errno;
	if (!before && call_row(fds[1], &r, data, 800) != 800 && errno != EPIPE)
		return errno;
	return end_of(fds[1], r.op, got, sizeof(got), &bytes);
}

static void test_lengths(void)
{
	int fds[MEMBERS], i;

	open_group(fds, MEMBERS);
	for (i = 0; i < 2; i++) {
		WORKS_ERRNO(other_length(fds, 808, i), EPROTO, "a longer message");
		WORKS_ERRNO(other_length(fds, 8, i), EPROTO, "a shorter one");
		WORKS_ERRNO(other_length(fds, 0, i), EPROTO, "an empty one");
	}
	close_group(fds, MEMBERS);
}

/* Pairs of a value and an index, which lie over the ends of packets. */
static void test_pairs(void)
{
	struct shuffle_reduction least = {
		.size = sizeof(least), .oper = SHUFFLE_COLL_MINLOC, .type = SHUFFLE_COLL_PAIR64,
	};
	struct row r = good(MOST), to = r, in = r;
	uint64_t i, bytes, *x = (uint64_t *)data, *y = (uint64_t *)got;
	bool right = true;
	int fds[MEMBERS];

	open_group(fds, MEMBERS);
	for (i = 0; i < MOST / 16; i++) {
		x[2 * i] = sht_mix(i) >> 1;
		x[2 * i + 1] = i;
	}
	r.more = &least;
	in.type = 0;
	in.lens[0] = none;
	in.lens[1] = MOST;
	in.absent = 0xf;
	to.type = 0;
	to.lens[0] = none;
	to.absent = 0xd;
	WORKS_EQ(call_row(fds[1], &r, data, MOST), MOST, "values and indices");
	for (i = 0; i < MOST / 16; i++) {
		x[2 * i] = sht_mix(i + 1) >> 1;
		x[2 * i + 1] = i + 1;
	}
	WORKS_EQ(call_row(fds[2], &in, data, MOST), MOST, "others");
	WORKS_EQ(call_row(fds[0], &to, NULL, 0), 0, "who gets the least of both");
	WORKS(EXPECT_ERRNO(end_of(fds[0], r.op, got, MOST, &bytes), 0) && EXPECT_EQ(bytes, MOST),
	      "it comes");
	for (i = 0; i < MOST / 16; i++) {
		uint64_t at = sht_mix(i) >> 1 < sht_mix(i + 1) >> 1 ? i : i + 1;

		right &= y[2 * i] == sht_mix(at) >> 1 && y[2 * i + 1] == at;
	}
	WORKS(right, "each is the least of two");
	close_group(fds, MEMBERS);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_refused();
	test_sums();
	test_lengths();
	test_pairs();
	return api_finish();
}
