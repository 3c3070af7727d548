// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collectives in the kernel, SHUFFLE_CMSG_COLLECTIVE: what is refused, how one ends, and what it
 * shares with rows.  (Results: api_coll.)  TAP.
 *
 *	api_engine [-v 6]
 */
#define _GNU_SOURCE
#include "api.h"

#define MEMBERS	5
#define MANY	24

static const uint64_t mine[2048] = { 5 };

static struct shuffle_collective barrier(uint64_t op)
{
	return (struct shuffle_collective){
		.size = sizeof(struct shuffle_collective), .op_id = op,
		.kind = SHUFFLE_COLL_BARRIER, .pattern = SHUFFLE_COLL_DOUBLING,
	};
}

/* A sum of @n 64-bit numbers by a tree. */
static struct shuffle_collective sum(uint64_t op, unsigned int n)
{
	struct shuffle_collective c = barrier(op);

	c.kind = SHUFFLE_COLL_ALLREDUCE;
	c.pattern = SHUFFLE_COLL_TREE;
	c.oper = SHUFFLE_COLL_SUM;
	c.type = SHUFFLE_COLL_U64;
	c.len = 8 * n;
	return c;
}

static ssize_t start_with(int fd, const struct shuffle_collective *c, size_t bytes)
{
	return send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_COLLECTIVE, c, sizeof(*c), mine, bytes,
			MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t start(int fd, const struct shuffle_collective *c)
{
	return start_with(fd, c, c->len);
}

static void open_group(int *fds, unsigned int n)
{
	struct sockaddr_shuffle m[MANY];
	unsigned int i;

	for (i = 0; i < n; i++)
		my_addr(&m[i]);
	for (i = 0; i < n; i++)
		fds[i] = sht_open(m, n, i, 0);
}

static void close_group(int *fds, unsigned int n)
{
	while (n--)
		close(fds[n]);
}

/**
 * struct told - what a socket says of one operation
 * @results: messages
 * @rank: of whom the last one was
 * @number: its first 8 bytes
 * @len: its length
 * @done: the operation is
 * @error: or has failed
 * @missing: ranks, by bits
 */
struct told {
	unsigned int results;
	unsigned int rank;
	uint64_t number;
	uint64_t len;
	bool done;
	unsigned int error;
	uint64_t missing;
};

static void hear(struct told *t, const struct shuffle_record *r, const unsigned char *bytes)
{
	switch (r->type) {
	case SHUFFLE_RECORD_DATA:
		t->results += !!(r->flags & SHUFFLE_RECORD_LAST);
		t->rank = r->rank;
		t->len = r->msg_len;
		if (r->len >= sizeof(t->number))
			memcpy(&t->number, bytes, sizeof(t->number));
		break;
	case SHUFFLE_RECORD_DONE:
		t->done = true;
		break;
	case SHUFFLE_RECORD_FAILED:
		t->error = r->error;
		break;
	case SHUFFLE_RECORD_MISSING:
		t->missing |= 1ULL << r->rank;
		break;
	}
}

/* Read until @op has ended and all of it has been said, or WAIT_MS are over. */
static struct told listen_to(int fd, uint64_t op)
{
	uint64_t until = sht_now_ms() + WAIT_MS;
	struct shuffle_record recs[16];
	static unsigned char buf[1 << 15];
	struct told t = { 0 };
	unsigned int i, n;

	while (!t.done && !t.error && sht_now_ms() < until) {
		const unsigned char *p = buf;

		n = 16;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
			usleep(1000);
			continue;
		}
		for (i = 0; i < n; i++) {
			if (recs[i].op_id == op)
				hear(&t, &recs[i], p);
			p += recs[i].type == SHUFFLE_RECORD_DATA ? recs[i].len : 0;
		}
	}
	return t;
}

static void refused(int fd, const char *name, struct shuffle_collective c, size_t bytes, int err)
{
	FAILS(start_with(fd, &c, bytes), name, err);
}

static void test_refused(int fd)
{
	struct {
		struct shuffle_collective c;
		uint64_t more;
	} longer = { barrier(next_op++), 0 };
	struct shuffle_collective c = barrier(next_op++);

#define WITH(field, value)	({ struct shuffle_collective x = sum(next_op++, 2); \
				   x.field = value; x; })
	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_COLLECTIVE, &c, sizeof(c) - 8, NULL, 0, 0),
	      "a structure that is too short", EINVAL);
	longer.c.size = sizeof(longer);
	longer.more = 1;
	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_COLLECTIVE, &longer, sizeof(longer), NULL, 0,
		       0),
	      "a field that the kernel does not know", E2BIG);
	refused(fd, "a size that is not there", WITH(size, sizeof(c) + 8), 16, EINVAL);
	refused(fd, "a flag", WITH(flags, 1), 16, EINVAL);
	refused(fd, "something reserved", WITH(reserved, 1), 16, EINVAL);
	refused(fd, "a kind that there is not", WITH(kind, SHUFFLE_COLL_KINDS), 16, EINVAL);
	refused(fd, "a pattern that there is not", WITH(pattern, SHUFFLE_COLL_PATTERNS), 16,
		EINVAL);
	refused(fd, "a pattern that does not do that", WITH(pattern, SHUFFLE_COLL_CHAIN), 16,
		EINVAL);
	refused(fd, "a pattern that sends twice", WITH(pattern, SHUFFLE_COLL_RING), 16, EOPNOTSUPP);
	refused(fd, "no operator", WITH(oper, SHUFFLE_COLL_NONE), 16, EINVAL);
	refused(fd, "an operator that there is not", WITH(oper, SHUFFLE_COLL_OPERS), 16, EINVAL);
	refused(fd, "a type that there is not", WITH(type, SHUFFLE_COLL_TYPES), 16, EINVAL);
	refused(fd, "a sum of IEEE numbers", WITH(type, SHUFFLE_COLL_F64), 16, EINVAL);
	refused(fd, "a sum of pairs", WITH(type, SHUFFLE_COLL_PAIR64), 16, EINVAL);
	refused(fd, "where the least integer is", WITH(oper, SHUFFLE_COLL_MINLOC), 16, EINVAL);
	refused(fd, "a radix of more than all members", WITH(radix, 0xffffffff), 16, EINVAL);
	refused(fd, "a root of a kind without", WITH(root, 1), 16, EINVAL);
	refused(fd, "half an item", WITH(len, 12), 12, EINVAL);
	refused(fd, "too little data", WITH(len, 16), 8, EMSGSIZE);
	refused(fd, "too much data", WITH(len, 16), 24, EMSGSIZE);
	refused(fd, "a vector that is too long", WITH(len, SHUFFLE_COLL_MAX_BYTES + 8), 16,
		EMSGSIZE);
	refused(fd, "one that wraps round", WITH(len, 0ULL - 8), 16, EMSGSIZE);
#undef WITH
	c.len = 8;
	refused(fd, "a barrier with data", c, 8, EINVAL);
	c.len = 0;
	c.oper = SHUFFLE_COLL_SUM;
	refused(fd, "a barrier with an operator", c, 0, EINVAL);
	c = barrier(next_op++);
	c.kind = SHUFFLE_COLL_BROADCAST;
	c.pattern = SHUFFLE_COLL_TREE;
	c.root = MEMBERS;
	refused(fd, "a root that is no member", c, 0, EINVAL);
	c.root = 0;
	c.pattern = SHUFFLE_COLL_SPREAD;
	c.radix = 0xffffffff;
	refused(fd, "more segments than there is time for", c, 0, EOPNOTSUPP);
	c.pattern = SHUFFLE_COLL_TWO_TREE;
	refused(fd, "two trees, in which some send twice", c, 0, EOPNOTSUPP);
	c.kind = SHUFFLE_COLL_SCAN;
	c.pattern = SHUFFLE_COLL_GATHERED;
	c.radix = 0;
	c.oper = SHUFFLE_COLL_SUM;
	c.type = SHUFFLE_COLL_U64;
	c.len = 208;	/* 5 of them */
	refused(fd, "vectors that are too long together", c, 208, EMSGSIZE);
	c = barrier(next_op++);
	c.kind = SHUFFLE_COLL_GATHER;
	c.pattern = SHUFFLE_COLL_TREE;
	c.root = 1;
	c.len = 1ULL << 61;
	refused(fd, "blocks whose sum wraps round", c, 16, EMSGSIZE);
	c = barrier(next_op++);
	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_COLLECTIVE, &c, sizeof(c), NULL, 8, 0),
	      "data at no address", EMSGSIZE);
}

static void test_no_group(void)
{
	struct shuffle_collective c = barrier(next_op++);
	int fd = new_socket(0);

	FAILS(start(fd, &c), "without a group", ENOTCONN);
	close(fd);
}

/* All of a group, the last one late: nobody is through before. */
static void test_waits(int *fds)
{
	struct shuffle_collective c = sum(next_op++, 1);
	struct told t[MEMBERS];
	struct shuffle_record rec;
	bool ok = true;
	unsigned int i, n;
	char byte[8];

	for (i = 0; i + 1 < MEMBERS; i++)
		ok &= start(fds[i], &c) == 8;
	WORKS(ok, "all but one have started");
	usleep(20000);
	for (i = 0; i + 1 < MEMBERS; i++) {
		n = 1;
		errno = 0;
		ok &= sht_recv(fds[i], byte, 8, &rec, &n, MSG_DONTWAIT) < 0 && errno == EAGAIN;
	}
	WORKS(ok, "nobody has a result");
	FAILS(start(fds[0], &c), "the same once more", EEXIST);
	FAILS(send_row(fds[0], c.op_id, 1, 1, mine, 2, 0), "a row of that name", EEXIST);
	ok = start(fds[MEMBERS - 1], &c) == 8;
	for (i = 0; i < MEMBERS; i++) {
		t[i] = listen_to(fds[i], c.op_id);
		ok &= t[i].done && t[i].results == 1 && t[i].rank == i && t[i].len == 8 &&
		      t[i].number == 5 * MEMBERS;
	}
	WORKS(ok, "each gets the sum, from itself, and DONE");
	FAILS(start(fds[0], &c), "an id that was used", EEXIST);
}

/* A row's later part cannot be sent to a collective. */
static void test_no_row(int *fds)
{
	struct shuffle_collective c = barrier(next_op++);
	struct row_buf row = { .row = { .size = sizeof(row.row), .op_id = c.op_id } };

	WORKS_EQ(start(fds[0], &c), 0, "a barrier has begun");
	FAILS(send_raw(fds[0], SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &row, ROW_SIZE(0), mine, 8, 0),
	      "data of a row for it", EINVAL);
	WORKS_EQ(sht_cancel(fds[0], c.op_id), 0, "it is cancelled");
	WORKS_ERRNO(read_end(fds[0], c.op_id), ECANCELED, "and ends so");
}

/* The tree 0 <- 1, 0 <- 2 <- 3, 0 <- 4: who waits for one that never comes says so. */
static void test_deadline(int *fds)
{
	struct shuffle_collective c = sum(next_op++, 4);
	bool ok = true;
	struct told t;
	int i;

	c.deadline_ms = 200;
	for (i = 0; i < MEMBERS; i++)
		if (i != 3)
			ok &= start(fds[i], &c) == 32;
	WORKS(ok, "all but rank 3 start");
	t = listen_to(fds[2], c.op_id);
	WORKS(EXPECT_ERRNO(t.error, ETIMEDOUT) && t.missing & 1 << 3 && EXPECT_EQ(t.results, 0),
	      "its parent fails, and names it");
	t = listen_to(fds[0], c.op_id);
	WORKS(EXPECT_ERRNO(t.error, ETIMEDOUT) && t.missing & 1 << 2 && EXPECT_EQ(t.results, 0),
	      "the root misses the parent");
	t = listen_to(fds[1], c.op_id);
	listen_to(fds[4], c.op_id);
	WORKS(EXPECT_ERRNO(t.error, ETIMEDOUT) && EXPECT_EQ(t.results, 0), "others have no result");
}

static void test_disagree(int *fds)
{
	struct shuffle_collective a = sum(next_op++, 1), b = a;
	struct told t;

	b.len = 16;
	a.deadline_ms = WAIT_MS / 2;
	b.deadline_ms = WAIT_MS / 2;
	WORKS(EXPECT_EQ(start(fds[0], &a), 8) && EXPECT_EQ(start(fds[1], &b), 16), "two lengths");
	t = listen_to(fds[0], a.op_id);
	WORKS_ERRNO(t.error, EPROTO, "who hears of the other one says EPROTO");
	WORKS_ERRNO(read_end(fds[1], b.op_id), EPROTO, "and so does the other one");
}

/* Many at once beside rows; started in another order at each member. */
static void test_beside(int *fds)
{
	enum { AT_ONCE = 40 };
	uint64_t first = next_op, row;
	bool ok = true;
	unsigned int i, k;

	next_op += AT_ONCE;
	row = next_op++;
	for (i = 0; i < MEMBERS; i++) {
		uint64_t lens[MEMBERS] = { 100, 200, 300, 400, 500 };
		struct shuffle_row r = { .op_id = row, .count = MEMBERS };

		ok &= sht_send(fds[i], &r, lens, mine, 1500, MSG_DONTWAIT) == 1500;
		for (k = 0; k < AT_ONCE; k++) {
			struct shuffle_collective c = sum(first + (k * 7 + i * 11) % AT_ONCE, 100);

			ok &= start(fds[i], &c) == 800;
		}
	}
	WORKS(ok, "40 sums of 800 bytes and a shuffle at once");
	for (i = 0; i < MEMBERS; i++) {
		struct shuffle_record recs[16];
		static unsigned char buf[1 << 18];
		uint64_t until = sht_now_ms() + WAIT_MS;
		unsigned int ends = 0, results = 0, n;

		while (ends <= AT_ONCE && sht_now_ms() < until) {
			n = 16;
			if (sht_recv(fds[i], buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
				usleep(1000);
				continue;
			}
			while (n--) {
				ends += recs[n].type == SHUFFLE_RECORD_DONE;
				results += recs[n].op_id != row &&
					   recs[n].type == SHUFFLE_RECORD_DATA &&
					   recs[n].rank == i && recs[n].len == 800;
			}
		}
		ok &= ends == AT_ONCE + 1 && results == AT_ONCE;
	}
	WORKS(ok, "all of them end");
}

/* Sockets are closed in the middle: nothing stays, and the others end. */
static void test_closed(void)
{
	struct shuffle_collective c = sum(next_op++, 128);
	int fds[MEMBERS];
	struct told t;

	c.deadline_ms = 300;
	open_group(fds, MEMBERS);
	WORKS(EXPECT_EQ(start(fds[0], &c), 1024) && EXPECT_EQ(start(fds[1], &c), 1024),
	      "two begin");
	close(fds[1]);
	t = listen_to(fds[0], c.op_id);
	WORKS_ERRNO(t.error, ECONNRESET, "the other one ends");
	fds[1] = fds[0];
	close(fds[0]);
	close_group(fds + 2, MEMBERS - 2);
}

/* A send buffer that is too small for what a member sends: one collective fits nevertheless, and
 * one that does not can be started when others have ended.
 */
static void test_small_buffer(void)
{
	struct shuffle_collective c[8];
	unsigned int i, k, begun;
	int fds[MANY], size = 1;
	struct told t;
	bool ok = true;

	open_group(fds, MANY);
	for (i = 0; i < MANY; i++)
		ok &= !setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	for (k = 0; k < 8; k++) {
		c[k] = sum(next_op++, 128);
		c[k].pattern = SHUFFLE_COLL_FLAT;
	}
	ok &= start(fds[0], &c[0]) == 1024;
	WORKS(ok, "more than a send buffer");
	for (begun = 1; begun < 8 && start(fds[0], &c[begun]) == 1024;)
		begun++;
	FAILS(begun < 8 ? start(fds[0], &c[begun]) : 0, "another one behind it does not fit",
	      ENOBUFS);
	for (k = 0; k < 8; k++) {
		for (i = k < begun; i < MANY; i++)
			ok &= start(fds[i], &c[k]) == 1024;
		for (i = 0; i < MANY; i++) {
			t = listen_to(fds[i], c[k].op_id);
			ok &= t.done && t.results == 1 && t.number == 5 * MANY;
		}
	}
	WORKS(ok, "it does, later, and all get the sums");
	close_group(fds, MANY);
}

static void test_alone(void)
{
	struct shuffle_collective c = sum(next_op++, 1), b = barrier(next_op++);
	struct told t;
	int fd;

	open_group(&fd, 1);
	WORKS_EQ(start(fd, &c), 8, "a group of one");
	t = listen_to(fd, c.op_id);
	WORKS(t.done && EXPECT_EQ(t.results, 1) && EXPECT_EQ(t.number, 5), "its own number");
	WORKS_EQ(start(fd, &b), 0, "and once more");
	t = listen_to(fd, b.op_id);
	WORKS(t.done && EXPECT_EQ(t.results, 1) && EXPECT_EQ(t.len, 0), "its own barrier");
	close(fd);
}

int main(int argc, char **argv)
{
	int fds[MEMBERS];

	api_start(argc, argv);
	open_group(fds, MEMBERS);
	test_refused(fds[0]);
	test_no_group();
	test_waits(fds);
	test_no_row(fds);
	test_deadline(fds);
	test_disagree(fds);
	test_beside(fds);
	close_group(fds, MEMBERS);
	test_closed();
	test_small_buffer();
	test_alone();
	return api_finish();
}
