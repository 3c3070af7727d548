// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A member of a group whose members have different byte orders: see mixed.sh.  TAP.
 *
 *	mixed_member RANK ADDR:PORT ADDR:PORT ...
 *
 * Bytes go through a shuffle as they are; items of which libshuffle and the kernel know the type
 * are combined to the same numbers everywhere; what a program combines itself is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "shtest.h"
#include "../../../tools/common/tap.h"
#include "../../../tools/examples/members.h"
#include "../../../tools/lib/shuffle_coll.h"

#define SHUFFLES	3
#define ITEMS		1000	/* in user space; 8 are combined in the kernel */
#define DEADLINE_MS	60000

static unsigned int rank, count;
static char name[80];

/* Lengths from none to a megabyte; other ones for each pair. */
static uint64_t len_of(unsigned int op, unsigned int src, unsigned int dst)
{
	uint64_t most = op == SHUFFLES - 1 ? 1 << 20 : 5000;

	return src + dst ? sht_mix(op << 16 | src << 8 | dst) % most : 0;
}

static void test_shuffle(int fd, uint64_t op, unsigned int number)
{
	const void *bufs[MEMBERS];
	struct shuffle_column *col;
	uint64_t lens[MEMBERS];
	unsigned int i;

	for (i = 0; i < count; i++) {
		void *buf = malloc(len_of(number, rank, i) + 1);

		lens[i] = len_of(number, rank, i);
		sht_fill(buf, lens[i], sht_key(1, number, rank, i), 0);
		bufs[i] = buf;
	}
	col = shuffle_column_new(op + number, count);
	if (!col || shuffle_exchange(fd, op + number, bufs, lens, count, DEADLINE_MS, col))
		tap_bail("no shuffle: %s", strerror(errno));
	for (i = 0; i < count; i++) {
		uint64_t want = len_of(number, i, rank);

		EXPECT_EQ(col->lens[i], want, "from member %u", i);
		EXPECT_EQ(sht_check(col->bufs[i], want, sht_key(1, number, i, rank), 0), want,
			  "the first byte that differs, from member %u", i);
		free((void *)bufs[i]);
	}
	shuffle_column_free(col);
	snprintf(name, sizeof(name), "shuffle %u: each byte", number);
	tap_done(name);
}

/* Item @i of member @r: as it is in memory; both halves of a pair. */
static uint64_t item_of(unsigned int r, unsigned int i)
{
	return sht_mix(r << 16 | i);
}

static void put(uint8_t type, void *at, uint64_t x)
{
	uint32_t x32 = x;
	uint16_t x16 = x;
	double f64 = (int32_t)x / 7.0;
	float f32 = (int16_t)x / 7.0f;

	switch (type) {
	case SHUFFLE_COLL_U16:
		memcpy(at, &x16, 2);
		break;
	case SHUFFLE_COLL_S32:
		memcpy(at, &x32, 4);
		break;
	case SHUFFLE_COLL_F32:
		memcpy(at, &f32, 4);
		break;
	case SHUFFLE_COLL_F64:
		memcpy(at, &f64, 8);
		break;
	case SHUFFLE_COLL_PAIR64:
		memcpy((char *)at + 8, &x, 8);
		/* fallthrough */
	default:
		memcpy(at, &x, 8);
	}
}

static const struct {
	const char *name;
	uint8_t oper, type, size;
} kinds[] = {
	{ "sums of u16", SHUFFLE_COLL_SUM, SHUFFLE_COLL_U16, 2 },
	{ "least of s32", SHUFFLE_COLL_MIN, SHUFFLE_COLL_S32, 4 },
	{ "sums of u64", SHUFFLE_COLL_SUM, SHUFFLE_COLL_U64, 8 },
	{ "xor of s64", SHUFFLE_COLL_XOR, SHUFFLE_COLL_S64, 8 },
	{ "greatest of floats", SHUFFLE_COLL_MAX, SHUFFLE_COLL_F32, 4 },
	{ "least of doubles", SHUFFLE_COLL_MIN, SHUFFLE_COLL_F64, 8 },
	{ "places of the greatest s64", SHUFFLE_COLL_MAXLOC, SHUFFLE_COLL_PAIR64, 16 },
};

static void fill(unsigned int kind, unsigned int r, unsigned int n, void *at)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		put(kinds[kind].type, (char *)at + i * kinds[kind].size, item_of(r, i));
}

/* All members' vectors, combined here. */
static void combine_here(unsigned int kind, unsigned int n, void *into)
{
	char other[ITEMS * 16];
	unsigned int r;

	fill(kind, 0, n, into);
	for (r = 1; r < count; r++) {
		fill(kind, r, n, other);
		shuffle_combine_items(SHUFFLE_ITEMS(kinds[kind].oper, kinds[kind].type), into,
				      other, n * kinds[kind].size, 0);
	}
}

static void test_typed(struct shuffle_coll *coll, unsigned int kind, unsigned int n,
		       const char *pattern)
{
	static char mine[ITEMS * 16], got[ITEMS * 16], want[ITEMS * 16];
	size_t size = n * kinds[kind].size;
	unsigned int radix;
	int in_kernel;

	fill(kind, rank, n, mine);
	combine_here(kind, n, want);
	if (shuffle_coll_pattern(coll, pattern, 0))
		tap_bail("no pattern %s", pattern);
	if (shuffle_allreduce(coll, mine, got, size, kinds[kind].size, shuffle_combine_items,
			      SHUFFLE_ITEMS(kinds[kind].oper, kinds[kind].type)))
		tap_bail("no all-reduce of %s: %s", kinds[kind].name, strerror(errno));
	shuffle_coll_chosen(coll, &radix, &in_kernel);
	/* the others send twice to one member */
	if (!strcmp(pattern, "gathered") || !strcmp(pattern, "doubling"))
		EXPECT_EQ(in_kernel, n < ITEMS);
	EXPECT_EQ(memcmp(got, want, size), 0);
	snprintf(name, sizeof(name), "%s, %u, %s", kinds[kind].name, n, pattern);
	tap_done(name);
}

static void own_sum(void *arg, void *into, const void *in, size_t size, int in_first)
{
	(void)arg;
	(void)size;
	(void)in_first;
	*(uint64_t *)into += *(const uint64_t *)in;
}

int main(int argc, char **argv)
{
	static const char *const patterns[] = {
		"auto", "gathered", "doubling", "ring", "rabenseifner"
	};
	struct sockaddr_shuffle members[MEMBERS];
	struct shuffle_coll *coll;
	unsigned int i, p, missing;
	uint64_t op, sum = 1;
	int fd;

	setlinebuf(stdout);
	count = members_read(members, argc, argv);
	rank = atoi(argv[1]);
	fd = shuffle_open(members, count, rank, 0);
	if (fd < 0)
		tap_bail("no group: %s", strerror(errno));
	if (shuffle_agree(fd, count, DEADLINE_MS, &op, &missing))
		tap_bail("the members do not agree: %s", strerror(errno));
	for (i = 0; i < SHUFFLES; i++)
		test_shuffle(fd, op, i);
	coll = shuffle_coll_new(fd, rank, count, op + SHUFFLES);
	if (!coll)
		tap_bail("no collectives: %s", strerror(errno));
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (p = 0; p < sizeof(patterns) / sizeof(*patterns); p++) {
			test_typed(coll, i, 8, patterns[p]);
			test_typed(coll, i, ITEMS, patterns[p]);
		}
	}
	errno = 0;
	EXPECT_EQ(shuffle_allreduce(coll, &sum, &sum, 8, 8, own_sum, NULL), -1);
	EXPECT_EQ(errno, EPROTO);
	tap_done("what a program combines itself is refused");
	shuffle_coll_free(coll);
	close(fd);
	return tap_finish();
}
