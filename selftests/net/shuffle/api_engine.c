// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collectives in the kernel, SHUFFLE_CMSG_COLLECTIVE: what is refused, how one ends, and what it
 * shares with rows.  (Results: api_coll.)  TAP.
 *
 *	api_engine [-v 6]
 */
#define _GNU_SOURCE
#include "api.h"
#include "coll_ask.h"

#define MEMBERS	5
#define MANY	24

static const uint64_t mine[2048] = { 5 };

static struct coll_ask barrier(uint64_t op)
{
	return (struct coll_ask){
		.op_id = op, .kind = SHUFFLE_COLL_BARRIER, .pattern = SHUFFLE_COLL_DOUBLING,
	};
}

/* A sum of @n 64-bit numbers by a tree. */
static struct coll_ask sum(uint64_t op, unsigned int n)
{
	struct coll_ask c = barrier(op);

	c.kind = SHUFFLE_COLL_ALLREDUCE;
	c.pattern = SHUFFLE_COLL_TREE;
	c.oper = SHUFFLE_COLL_SUM;
	c.type = SHUFFLE_COLL_U64;
	c.len = 8 * n;
	return c;
}

static ssize_t start(int fd, const struct coll_ask *c)
{
	return coll_ask_send(fd, c, mine, c->len, MSG_DONTWAIT | MSG_NOSIGNAL);
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

/* A sum of two numbers at the root of a tree of five: 3 messages come, and 3 go. */
static struct coll_table table(void)
{
	struct coll_ask ask = sum(next_op++, 2);
	struct coll_table t;

	coll_ask_table(&t, &ask, 0, MEMBERS);
	return t;
}

static void refused(int fd, const char *name, struct coll_table t, size_t bytes, int err)
{
	FAILS(coll_table_send(fd, &t, mine, bytes, MSG_DONTWAIT | MSG_NOSIGNAL), name, err);
}

#define WITH(field, value)	({ struct coll_table x = table(); x.field = value; x; })

/* The control message. */
static void test_refused(int fd)
{
	struct {
		struct shuffle_collective c;
		uint64_t more;
	} longer = { table().c, 1 };
	struct coll_table t = table();

	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_COLLECTIVE, &t.c, sizeof(t.c) - 8, t.step,
		       t.bytes, 0), "a structure that is too short", EINVAL);
	longer.c.size = sizeof(longer);
	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_COLLECTIVE, &longer, sizeof(longer), t.step,
		       t.bytes, 0), "a field that the kernel does not know", E2BIG);
	FAILS(send_raw(fd, SOL_SHUFFLE, SHUFFLE_CMSG_COLLECTIVE, &t.c, sizeof(t.c), NULL, 96, 0),
	      "data at no address", EFAULT);
	refused(fd, "a size that is not there", WITH(c.size, sizeof(t.c) + 8), 16, EINVAL);
	refused(fd, "a flag", WITH(c.flags, 1), 16, EINVAL);
	refused(fd, "something reserved", WITH(c.reserved, 1), 16, EINVAL);
	refused(fd, "steps that are too short", WITH(c.step_size, 8), 16, EINVAL);
	refused(fd, "steps that are half a number longer", WITH(c.step_size, 20), 16, EINVAL);
	refused(fd, "steps of a kilobyte", WITH(c.step_size, 1024), 16, E2BIG);
	refused(fd, "no operator", WITH(c.oper, SHUFFLE_COLL_NONE), 16, EINVAL);
	refused(fd, "an operator that there is not", WITH(c.oper, SHUFFLE_COLL_OPERS), 16, EINVAL);
	refused(fd, "a type that there is not", WITH(c.type, SHUFFLE_COLL_TYPES), 16, EINVAL);
	refused(fd, "a sum of IEEE numbers", WITH(c.type, SHUFFLE_COLL_F64), 16, EINVAL);
	refused(fd, "a sum of pairs", WITH(c.type, SHUFFLE_COLL_PAIR64), 16, EINVAL);
	refused(fd, "where the least integer is", WITH(c.oper, SHUFFLE_COLL_MINLOC), 16, EINVAL);
	refused(fd, "half an item that is held", WITH(c.held, 20), 16, EINVAL);
	refused(fd, "half an item that is the result", WITH(c.out_len, 12), 16, EINVAL);
	refused(fd, "more than a collective may hold", WITH(c.held, SHUFFLE_COLL_MAX_BYTES + 8),
		16, EMSGSIZE);
	refused(fd, "what is put in behind the end", WITH(c.in_at, 24), 8, EMSGSIZE);
	refused(fd, "too much put in", table(), 24, EMSGSIZE);
	refused(fd, "a result behind the end", WITH(c.out_at, 24), 16, EMSGSIZE);
	refused(fd, "a result across the end", WITH(c.out_at, 8), 16, EMSGSIZE);
	refused(fd, "more vectors than are held", WITH(c.vectors, 2), 16, EMSGSIZE);
	refused(fd, "vectors whose sum wraps round", WITH(c.vectors, 1U << 28), 16, EMSGSIZE);
	t.c.vectors = 0;
	refused(fd, "bytes of no result", t, 16, EINVAL);
	t = table();
	t.c.out_len = 0;
	t.c.vectors = ~0U;
	refused(fd, "no end of empty vectors", t, 16, EINVAL);
}

/* Steps. */
static void test_steps(int fd)
{
	struct coll_table t = table();

	refused(fd, "more steps than members", WITH(c.steps, 2 * MEMBERS - 1), 16, EINVAL);
	refused(fd, "steps that are not there", WITH(c.steps, 8), 16, EMSGSIZE);
	refused(fd, "a step that there is not", WITH(step[0].what, SHUFFLE_STEPS), 16, EINVAL);
	refused(fd, "somebody who is no member", WITH(step[0].peer, MEMBERS), 16, EINVAL);
	refused(fd, "a message to ourselves", WITH(step[0].peer, 0), 16, EINVAL);
	refused(fd, "bytes behind the end", WITH(step[0].at, 24), 16, EMSGSIZE);
	refused(fd, "a step that wraps round", WITH(step[0].at, ~0U), 16, EMSGSIZE);
	refused(fd, "more bytes than are held", WITH(step[0].len, 24), 16, EMSGSIZE);
	refused(fd, "half an item that comes", WITH(step[0].len, 12), 16, EINVAL);
	refused(fd, "an item that begins in another one", WITH(step[0].at, 4), 16, EINVAL);
	refused(fd, "two messages from one", WITH(step[1].peer, t.step[0].peer), 16, EINVAL);
	refused(fd, "two messages to one", WITH(step[5].peer, t.step[4].peer), 16, EINVAL);
	t.c.oper = 0;
	t.c.type = 0;
	refused(fd, "a step that combines, and no operator", t, 16, EINVAL);
}

#undef WITH

struct long_step {
	struct shuffle_step s;
	uint64_t more;
};

/* Steps of a later program: what the kernel does not know of them is 0, or they are refused. */
static void test_long_steps(int *fds)
{
	struct long_step longer[2 * MEMBERS] = { 0 };
	struct coll_ask ask = sum(next_op++, 1);
	struct coll_table t;
	unsigned int i, k;
	bool ok = true;
	struct told told;

	for (i = 0; i < MEMBERS; i++) {
		coll_ask_table(&t, &ask, i, MEMBERS);
		t.c.step_size = sizeof(longer[0]);
		t.bytes = t.c.steps * sizeof(longer[0]);
		for (k = 0; k < t.c.steps; k++)
			longer[k].s = t.step[k];
		memcpy(t.step, longer, sizeof(longer));
		if (!i) {
			longer[1].more = 1;
			memcpy(t.step, longer, sizeof(longer));
			refused(fds[0], "a field of a step that the kernel does not know", t, 8,
				E2BIG);
			longer[1].more = 0;
			memcpy(t.step, longer, sizeof(longer));
		}
		ok &= coll_table_send(fds[i], &t, mine, 8, 0) == 8;
	}
	for (i = 0; i < MEMBERS; i++) {
		told = listen_to(fds[i], ask.op_id);
		ok &= told.done && told.number == 5 * MEMBERS;
	}
	WORKS(ok, "steps that are longer, with nothing in it");
}

static void test_no_group(void)
{
	struct coll_ask ask = barrier(next_op++);
	struct coll_table t;
	int fd = new_socket(0);

	coll_ask_table(&t, &ask, 0, 2);
	FAILS(coll_table_send(fd, &t, NULL, 0, 0), "without a group", ENOTCONN);
	close(fd);
}

/* All of a group, the last one late: nobody is through before. */
static void test_waits(int *fds)
{
	struct coll_ask c = sum(next_op++, 1);
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
	struct coll_ask c = barrier(next_op++);
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
	struct coll_ask c = sum(next_op++, 4);
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
	struct coll_ask a = sum(next_op++, 1), b = a;
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
			struct coll_ask c = sum(first + (k * 7 + i * 11) % AT_ONCE, 100);

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
	struct coll_ask c = sum(next_op++, 128);
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
	struct coll_ask c[8];
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
	struct coll_ask c = sum(next_op++, 1), b = barrier(next_op++);
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
	test_steps(fds[0]);
	test_no_group();
	test_long_steps(fds);
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
