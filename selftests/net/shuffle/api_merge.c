// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows one message of which is what all that come are merged into, by key (SHUFFLE_CMSG_MERGE):
 * what is refused, chains and stars and random trees of members, sorted or not, tables that are too
 * small, and what becomes of members that send something else.  TAP.
 *
 *	api_merge [-v 6]
 *
 * The environment's MERGE_ROUNDS and MERGE_SEED say how many random trees, and which.
 */
#define _GNU_SOURCE
#include <limits.h>

#include "api.h"
#include "api_row.h"
#include "merge_pairs.h"
#include "shuffle.h"

#define MEMBERS	8
#define MOST	20000		/* records of a member */

static struct pair part[MEMBERS][MOST], got[MEMBERS * MOST], want[MEMBERS * MOST];
static const uint64_t none = SHUFFLE_ABSENT;

static const struct shuffle_merge sum = {
	.size = sizeof(sum), .to = 0, .oper = SHUFFLE_MERGE_SUM, .flags = SHUFFLE_MERGE_SORTED,
};

static struct row all_absent(uint64_t op, unsigned int count)
{
	struct row r = { .op = op, .count = count, .absent = (1U << count) - 1 };
	unsigned int i;

	for (i = 0; i < count; i++)
		r.lens[i] = none;
	return r;
}

/* Member 1's row: what member 2 sends, and 160 bytes of our own, go to member 0. */
static struct row good(const struct shuffle_merge *m)
{
	struct row r = all_absent(next_op++, 4);

	r.lens[0] = 0;
	r.lens[1] = 160;
	r.absent = 0x9;
	r.type = SHUFFLE_CMSG_MERGE;
	r.more = m;
	r.size = sizeof(*m);
	return r;
}

static void test_refused(void)
{
	struct {
		struct shuffle_merge m;
		uint32_t more;
	} longer = { sum, 0 };
	struct shuffle_merge other = sum;
	struct row r = good(&other);
	int fds[4];

	open_group(fds, 4);
	r.size = 8;
	FAILS(call_row(fds[1], &r, part, 160), "half a control message", EINVAL);
	r.more = &longer;
	r.size = sizeof(longer);
	FAILS(call_row(fds[1], &r, part, 160), "a size that is not the message's", EINVAL);
	longer.m.size = sizeof(longer);
	longer.more = 1;
	FAILS(call_row(fds[1], &r, part, 160), "fields that are not known", E2BIG);
	r = good(&other);
	other.reserved = 1;
	FAILS(call_row(fds[1], &r, part, 160), "a reserved field", EINVAL);
	other = sum;
	other.oper = SHUFFLE_MERGE_OPERS;
	FAILS(call_row(fds[1], &r, part, 160), "no such operator", EINVAL);
	other = sum;
	other.flags = 4;
	FAILS(call_row(fds[1], &r, part, 160), "no such flag", EINVAL);
	other = sum;
	other.flags |= SHUFFLE_MERGE_SAME;
	other.to = 3;
	FAILS(call_row(fds[1], &r, part, 160), "to several, and not to that one", EINVAL);
	other.to = 1;
	FAILS(call_row(fds[1], &r, part, 160), "to several, and ourselves", EINVAL);
	other = sum;
	other.to = 4;
	FAILS(call_row(fds[1], &r, part, 160), "no such member", EINVAL);
	other = sum;
	other.records = 10;
	FAILS(call_row(fds[1], &r, part, 160), "a table of sorted streams", EINVAL);
	other.records = SHUFFLE_MERGE_RECORDS + 1;
	other.flags = 0;
	FAILS(call_row(fds[1], &r, part, 160), "too large a table", EINVAL);
	other = sum;
	other.to = 2;
	FAILS(call_row(fds[1], &r, part, 160), "to a member that sends us something", EINVAL);
	other = sum;
	r.lens[0] = 16;
	FAILS(call_row(fds[1], &r, part, 160), "with a length", EINVAL);
	r = good(&other);
	r.lens[3] = 16;
	FAILS(call_row(fds[1], &r, part, 160), "beside another message", EINVAL);
	r = good(&other);
	r.absent = 0xf;
	r.lens[1] = none;
	FAILS(call_row(fds[1], &r, part, 0), "nothing comes", EINVAL);
	r = good(&other);
	r.absent = 0xb;
	FAILS(call_row(fds[1], &r, part, 160), "our own part at one end only", EINVAL);
	r = good(&other);
	r.flags = SHUFFLE_ROW_MORE;
	FAILS(call_row(fds[1], &r, part, 160), "a row to be continued", EINVAL);
	r.flags = SHUFFLE_ROW_SAME;
	FAILS(call_row(fds[1], &r, part, 160), "the same to all", EINVAL);
	r = good(&other);
	WORKS_EQ(call_row(fds[1], &r, part, 160), 160, "a good one");
	WORKS_EQ(sht_cancel(fds[1], r.op), 0, "is cancelled");
	close_group(fds, 4);
}

/**
 * struct tree - a group that merges
 * @n: members
 * @parent: of each but the first one, a lower rank
 * @children: a bit for each
 * @records: each member's own part; UINT_MAX: it has none
 * @merge: how
 * @senders: that the first member expects
 * @same: leaves that get what the first member gets from member 1, a bit for each
 */
struct tree {
	unsigned int n;
	unsigned int parent[MEMBERS];
	uint64_t children[MEMBERS];
	unsigned int records[MEMBERS];
	struct shuffle_merge merge;
	unsigned int senders;
	uint64_t same;
};

static void plant(struct tree *t, unsigned int n)
{
	unsigned int i;

	memset(t->children, 0, sizeof(t->children));
	t->n = n;
	for (i = 1; i < n; i++)
		t->children[t->parent[i]] |= 1U << i;
}

/* Each member's records, of @keys keys; sorted if they are to be.  Returns their number. */
static size_t fill_parts(struct tree *t, uint64_t keys, uint64_t salt)
{
	unsigned int i, k;
	size_t n = 0;

	t->senders = 0;
	for (i = 1; i < t->n; i++) {
		if (t->records[i] == UINT_MAX)
			continue;
		t->senders++;
		for (k = 0; k < t->records[i]; k++) {
			uint64_t x = sht_mix(salt + i * MOST + k);

			part[i][k].key = htobe64(sht_mix(x % keys));
			part[i][k].value = htobe64(sht_mix(x));
			if (t->merge.oper == SHUFFLE_MERGE_COUNT)
				part[i][k].value = htobe64(1);
		}
		if (t->merge.flags & SHUFFLE_MERGE_SORTED)
			qsort(part[i], k, sizeof(part[i][0]), by_key);
		memcpy(want + n, part[i], k * sizeof(want[0]));
		n += k;
	}
	return n;
}

/* Does a member read what all are merged into? */
static bool reads(const struct tree *t, unsigned int i)
{
	return !i || t->same >> i & 1;
}

/* Member @i's call, by the library.  A leaf sends its part as it is. */
static bool take_part(const int fds[], const struct tree *t, unsigned int i, uint64_t op)
{
	uint64_t bytes = t->records[i] == UINT_MAX ? 0 : t->records[i] * sizeof(struct pair);
	uint64_t lens[MEMBERS], absent = ((1ULL << t->n) - 1) & ~t->children[i];
	struct shuffle_merge m = t->merge;
	const void *bufs[MEMBERS];
	struct shuffle_tx tx;
	unsigned int k;

	for (k = 0; k < t->n; k++) {
		bufs[k] = part[i];
		lens[k] = SHUFFLE_ABSENT;
	}
	m.to = reads(t, i) ? i : t->parent[i];
	if (reads(t, i)) {
		m.senders = t->senders;
		m.flags = 0;
		m.records = 0;
		m.flush_us = 0;
		absent &= ~(uint64_t)(i ? 2 : 0);
	}
	if (i && !t->children[i]) {
		lens[t->parent[i]] = bytes;
	} else if (i) {
		lens[m.to] = 0;
		for (k = 2; i == 1 && k < t->n; k++)
			if (t->same >> k & 1)
				lens[k] = 0;
		if (i == 1 && t->same)
			m.flags |= SHUFFLE_MERGE_SAME;
		if (t->records[i] != UINT_MAX) {
			lens[i] = bytes;
			absent &= ~(1ULL << i);
		}
	}
	shuffle_tx_init(&tx, op, bufs, lens, t->n, 0);
	shuffle_tx_absent(&tx, &absent);
	if (t->children[i] || reads(t, i))
		shuffle_tx_merge(&tx, &m);
	return !shuffle_tx_finish(fds[i], &tx);
}

/* Read all of the first member's messages; each one's bytes behind the others'.  Returns the
 * errno of the operation's end.
 */
static int read_all(int fd, uint64_t op, size_t *records)
{
	static unsigned char buf[1 << 20];
	struct shuffle_record recs[8];
	unsigned int i, n;
	size_t at = 0;

	*records = 0;
	for (;;) {
		unsigned char *from = buf;

		n = 8;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, 0) < 0)
			return errno;
		for (i = 0; i < n; i++) {
			if (recs[i].op_id == op && recs[i].type == SHUFFLE_RECORD_DONE) {
				*records = at / sizeof(got[0]);
				return 0;
			}
			if (recs[i].op_id == op && recs[i].type == SHUFFLE_RECORD_FAILED)
				return recs[i].error;
			if (recs[i].type != SHUFFLE_RECORD_DATA ||
			    at + recs[i].len > sizeof(got))
				continue;
			memcpy((unsigned char *)got + at, from, recs[i].len);
			at += recs[i].len;
			from += recs[i].len;
		}
	}
}

/* What @fd's member gets is what the first @n of want[] are merged into, in the end. */
static bool gets_all(int fd, const struct tree *t, uint64_t op, size_t n)
{
	size_t m;
	int err = read_all(fd, op, &m);

	if (err) {
		printf("# the result: %s\n", strerror(err));
		return false;
	}
	m = merge_all(got, m, t->merge.oper);
	if (n != m || memcmp(got, want, n * sizeof(got[0]))) {
		printf("# %zu records instead of %zu, or others\n", m, n);
		return false;
	}
	return true;
}

/* One operation over a tree; the root's result is what the parts are merged into. */
static bool run_tree(const int fds[], struct tree *t, uint64_t keys, uint64_t salt)
{
	uint64_t op = next_op++;
	size_t n = fill_parts(t, keys, salt);
	unsigned int i, k;
	uint64_t rest;
	int err;

	for (k = 0; k < t->n; k++) {
		i = (k + salt) % t->n;
		if (!take_part(fds, t, i, op)) {
			printf("# member %u: %s\n", i, strerror(errno));
			return false;
		}
	}
	n = merge_all(want, n, t->merge.oper);
	for (i = 0; i < t->n; i++) {
		if (reads(t, i)) {
			if (gets_all(fds[i], t, op, n))
				continue;
			printf("# member %u\n", i);
			return false;
		}
		err = end_of(fds[i], op, &rest, 0, &rest);
		if (err || rest) {
			printf("# member %u: %s, %llu bytes\n", i, strerror(err),
			       (unsigned long long)rest);
			return false;
		}
	}
	return true;
}

static void test_shapes(void)
{
	struct tree chain = { .parent = { 0, 0, 1, 2 }, .records = { UINT_MAX, 1000, 3000, 5000 },
			      .merge = sum };
	struct tree star = { .parent = { 0, 0, 1, 1 }, .records = { UINT_MAX, UINT_MAX, 700, 900 },
			     .merge = sum };
	int fds[4];

	open_group(fds, 4);
	plant(&chain, 4);
	plant(&star, 4);
	WORKS(run_tree(fds, &chain, 500, 1), "a chain, sorted");
	WORKS(run_tree(fds, &star, 100000, 2), "a star with a relay that has no part, sorted");
	star.records[2] = 0;
	WORKS(run_tree(fds, &star, 10, 3), "an empty part");
	star.records[3] = 0;
	WORKS(run_tree(fds, &star, 10, 4), "nothing at all");
	chain.merge.flags = 0;
	WORKS(run_tree(fds, &chain, 500, 5), "a chain, in any order");
	chain.merge.records = 16;
	WORKS(run_tree(fds, &chain, 500, 6), "a table that is too small");
	chain.merge.records = 1;
	WORKS(run_tree(fds, &chain, 500, 7), "a table of one record");
	chain.merge.records = 0;
	chain.merge.flush_us = 1;
	WORKS(run_tree(fds, &chain, 50000, 8), "records that wait no longer than 1 us");
	close_group(fds, 4);
}

/* What comes to member 1 becomes a message to several. */
static void test_same(void)
{
	struct tree hub = { .parent = { 0, 0, 1, 1, 1, 2 }, .merge = sum, .same = 0x38,
			    .records = { UINT_MAX, UINT_MAX, 500, 400, 300, 200 } };
	struct tree own = { .parent = { 0, 0, 1, 1 }, .merge = sum, .same = 0xc,
			    .records = { UINT_MAX, 1000, 900, 0 } };
	int fds[6], large = 1 << 20;
	unsigned int i;

	open_group(fds, 6);
	for (i = 0; i < 6; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &large, sizeof(large));
	plant(&hub, 6);
	WORKS(run_tree(fds, &hub, 700, 1), "to several, sorted");
	hub.merge.flags = 0;
	WORKS(run_tree(fds, &hub, 700, 2), "to several, in any order");
	hub.merge.records = 50;
	WORKS(run_tree(fds, &hub, 700, 3), "to several, from a small table");
	close_group(fds, 6);
	open_group(fds, 4);
	plant(&own, 4);
	WORKS(run_tree(fds, &own, 1000, 4), "to several, with a part of our own");
	own.records[1] = 0;
	own.records[2] = 0;
	WORKS(run_tree(fds, &own, 1000, 5), "nothing to several");
	close_group(fds, 4);
}

/* Member 1 merges what 4 and 5 send, for 0 and 2; 2 passes it on to 3 and 4. */
static void test_passed_on(void)
{
	static const unsigned int readers[] = { 0, 3, 4 };
	struct tree t = { .n = 6, .merge = sum,
			  .records = { UINT_MAX, UINT_MAX, UINT_MAX, UINT_MAX, 3000, 2000 } };
	struct shuffle_merge up = sum, down = sum, end = sum;
	struct row r = all_absent(next_op++, 6);
	size_t n = fill_parts(&t, 4000, 6);
	int fds[6], large = 1 << 20;
	unsigned int i;

	up.flags |= SHUFFLE_MERGE_SAME;
	down.flags |= SHUFFLE_MERGE_SAME;
	down.to = 3;
	end.flags = 0;
	end.senders = 2;
	open_group(fds, 6);
	for (i = 0; i < 6; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &large, sizeof(large));
	r.type = SHUFFLE_CMSG_MERGE;
	r.size = sizeof(up);
	r.more = &up;
	r.lens[0] = 0;
	r.lens[2] = 0;
	r.absent = 0xf;
	WORKS_EQ(call_row(fds[1], &r, part, 0), 0, "a row to several");
	r = (struct row){ .op = r.op, .count = 6, .type = r.type, .size = r.size, .more = &down,
			  .lens = { none, none, none, 0, 0, none }, .absent = 0x3d };
	WORKS_EQ(call_row(fds[2], &r, part, 0), 0, "one that passes on");
	for (i = 0; i < 6; i++)
		r.lens[i] = none;
	r.more = &end;
	r.absent = 0x3d;
	WORKS_EQ(call_row(fds[0], &r, part, 0), 0, "a reader");
	r.absent = 0x3b;
	end.to = 3;
	WORKS_EQ(call_row(fds[3], &r, part, 0), 0, "a reader behind");
	end.to = 4;
	r.lens[1] = t.records[4] * sizeof(part[4][0]);
	WORKS_EQ(call_row(fds[4], &r, part[4], r.lens[1]), r.lens[1], "reads and sends");
	r.absent = 0x3f;
	r.size = 0;
	r.type = 0;
	r.lens[1] = t.records[5] * sizeof(part[5][0]);
	WORKS_EQ(call_row(fds[5], &r, part[5], r.lens[1]), r.lens[1], "a sender");
	n = merge_all(want, n, sum.oper);
	for (i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		WORKS(gets_all(fds[readers[i]], &t, r.op, n), "gets what was passed on");
	close_group(fds, 6);
}

/* Random trees, operators, orders, parts and tables; buffers of all sizes. */
static void test_random(void)
{
	const char *word = getenv("MERGE_ROUNDS");
	unsigned int round, i, good_rounds = 0, rounds = word ? atoi(word) : 100;
	uint64_t seed = (word = getenv("MERGE_SEED")) ? strtoull(word, NULL, 0) : 1;
	struct tree t;
	int fds[MEMBERS], small;
	uint64_t x = seed;

	for (round = 0; round < rounds; round++) {
		unsigned int n = 2 + (x = sht_mix(x)) % (MEMBERS - 1);
		uint64_t most = 1ULL << ((x = sht_mix(x)) % 15);

		memset(&t, 0, sizeof(t));
		t.merge = sum;
		t.merge.oper = (x = sht_mix(x)) % SHUFFLE_MERGE_OPERS;
		t.merge.flags = (x = sht_mix(x)) & 1;
		x = sht_mix(x);
		if (!t.merge.flags && x & 1)
			t.merge.records = 1 + (x = sht_mix(x)) % 2000;
		for (i = 1; i < n; i++) {
			t.parent[i] = (x = sht_mix(x)) % i;
			t.records[i] = (x = sht_mix(x)) % 16 ? (x = sht_mix(x)) % most : UINT_MAX;
		}
		plant(&t, n);
		/* a leaf has a part */
		for (i = 1; i < n; i++)
			if (!t.children[i] && t.records[i] == UINT_MAX)
				t.records[i] = 0;
		open_group(fds, n);
		for (i = 0; i < n; i++) {
			small = 4096 << ((x = sht_mix(x)) % 10);
			setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
			/* parts are sent by one process: there is room for all of one */
			small = 400000 + (x = sht_mix(x)) % 100000;
			setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
		}
		x = sht_mix(x);
		if (run_tree(fds, &t, 1 + x % (2 * most), x))
			good_rounds++;
		else
			printf("# round %u of seed %llu\n", round, (unsigned long long)seed);
		close_group(fds, n);
	}
	WORKS_EQ(good_rounds, rounds, "random trees");
}

/* What the first member says of a chain 3 -> 2 -> 1 -> 0 in which the last one sends @len bytes;
 * @expect: senders.
 */
static int spoilt(const struct shuffle_merge *m, uint64_t len, unsigned int expect)
{
	struct tree t = { .parent = { 0, 0, 1, 2 }, .records = { UINT_MAX, 10, 10, 10 },
			  .merge = *m };
	struct row r;
	int fds[4], err;
	uint64_t op = next_op++;
	size_t n;
	unsigned int i;

	open_group(fds, 4);
	plant(&t, 4);
	for (i = 0; i < 4; i++) {
		uint32_t idle = 300;

		setsockopt(fds[i], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
	}
	fill_parts(&t, 1000, 1);
	if (len > 160) {	/* out of order, too */
		part[3][4].key = 0;
		len -= 160;
	}
	t.senders = expect;
	for (i = 0; i < 3; i++)
		take_part(fds, &t, i, op);
	r = all_absent(op, 4);
	r.lens[2] = len;
	call_row_flags(fds[3], &r, part[3], len, 0);
	err = read_all(fds[0], op, &n);
	/* the one next to the fault knows what it was */
	if (!expect) {
		uint64_t rest;

		err = end_of(fds[2], op, &rest, 0, &rest);
	}
	close_group(fds, 4);
	return err;
}

static void test_spoilt(void)
{
	struct shuffle_merge any = sum;

	any.flags = 0;
	WORKS(!spoilt(&sum, 160, 3), "three senders");
	WORKS_ERRNO(spoilt(&sum, 160, 4), EBADMSG, "a sender less than expected");
	WORKS_ERRNO(spoilt(&sum, 160, 2), EBADMSG, "a sender more");
	WORKS_ERRNO(spoilt(&sum, 150, 0), EPROTO, "half a record");
	WORKS_ERRNO(spoilt(&any, 150, 0), EPROTO, "half a record, in any order");
	WORKS_ERRNO(spoilt(&sum, 320, 0), EPROTO, "records out of order");
	WORKS_ERRNO(spoilt(&sum, 145, 0), EPROTO, "a byte more than records, and no end");
}

/* What the root reads as a column: messages whose lengths are not known when they begin. */
static void test_column(void)
{
	struct tree t = { .parent = { 0, 0, 1, 2, 0 }, .merge = sum,
			  .records = { UINT_MAX, 1000, 10000, 10000, 3000 } };
	struct shuffle_column *col = shuffle_column_new(next_op, 5);
	size_t n = 0, m, i;
	int fds[5], small = 16384, large = 400000;

	open_group(fds, 5);
	plant(&t, 5);
	m = fill_parts(&t, 20000, 1);
	/* longer than what the root and member 1 hold: the root reads before the end is known */
	for (i = 0; i < 5; i++) {
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, i == 1 ? &small : &large, sizeof(large));
	}
	for (i = 0; i < 5; i++)
		WORKS(take_part(fds, &t, i, next_op), "a member of a column");
	WORKS(!shuffle_recv_column(fds[0], col), "a column of messages that are merged");
	for (i = 0; i < 5; i++)
		if (col->bufs[i]) {
			memcpy(got + n, col->bufs[i], col->lens[i]);
			n += col->lens[i] / sizeof(got[0]);
		}
	WORKS(EXPECT_EQ(col->bytes, n * sizeof(got[0])) && EXPECT_LT(n, m), "has their lengths");
	n = merge_all(got, n, sum.oper);
	m = merge_all(want, m, sum.oper);
	WORKS(EXPECT_EQ(n, m) && EXPECT_MEM(got, want, n * sizeof(got[0])),
	      "and all that is right");
	shuffle_column_free(col);
	next_op++;

	t.merge.senders = 0;
	fill_parts(&t, 500, 2);
	t.senders = 5;
	col = shuffle_column_new(next_op, 5);
	for (i = 0; i < 5; i++)
		take_part(fds, &t, i, next_op);
	FAILS(shuffle_recv_column(fds[0], col), "a sender is missing", EBADMSG);
	shuffle_column_free(col);
	next_op++;
	close_group(fds, 5);
}

/* Rows that the library does not send, or the kernel does not take. */
static void test_library(void)
{
	uint64_t lens[1025] = { 0, 0, none, none }, absent[17] = { 0xb };
	struct shuffle_merge m = { .to = 0, .flags = SHUFFLE_MERGE_SORTED };
	const void *bufs[1025] = { NULL };
	struct shuffle_tx tx;
	int fds[4];

	open_group(fds, 4);
	lens[1] = none;
	shuffle_tx_init(&tx, next_op++, bufs, lens, 4, 0);
	shuffle_tx_absent(&tx, absent);
	shuffle_tx_merge(&tx, &m);
	WORKS_EQ(shuffle_tx_step(fds[1], &tx), 1, "the library's row");
	sht_cancel(fds[1], tx.op_id);

	shuffle_tx_init(&tx, next_op++, bufs, lens, 4, 0);
	shuffle_tx_absent(&tx, absent);
	shuffle_tx_merge(&tx, &m);
	shuffle_tx_forward(&tx, 2);
	FAILS(shuffle_tx_step(fds[1], &tx), "merged and passed on", EINVAL);

	shuffle_tx_init(&tx, next_op++, bufs, lens, 4, 0);
	shuffle_tx_absent(&tx, absent);
	shuffle_tx_merge(&tx, &m);
	FAILS(shuffle_tx_want(fds[1], &tx), "merged and asked for", EINVAL);

	shuffle_tx_init(&tx, next_op++, bufs, lens, 1025, 0);
	shuffle_tx_merge(&tx, &m);
	FAILS(shuffle_tx_step(fds[1], &tx), "of too many members", EMSGSIZE);

	lens[0] = 16;
	shuffle_tx_init(&tx, next_op++, bufs, lens, 4, 0);
	shuffle_tx_absent(&tx, absent);
	shuffle_tx_merge(&tx, &m);
	FAILS(shuffle_tx_step(fds[1], &tx), "with a length", EINVAL);
	close_group(fds, 4);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_refused();
	test_library();
	test_column();
	test_shapes();
	test_same();
	test_passed_on();
	test_spoilt();
	test_random();
	return api_finish();
}
