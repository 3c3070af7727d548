// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collectives of libshuffle that the program does not wait for: several at once, of random kinds,
 * tested and finished in an order of each member's own, with others between them.  TAP.
 */
#define _GNU_SOURCE

#include "api.h"
#include "../../../tools/lib/shuffle_coll.h"

#define MEMBERS	5
#define AT_ONCE	6
#define ROUNDS	40
#define MOST	(64 << 10)	/* bytes of a member */

enum kind {
	BARRIER, BROADCAST, SCATTER, GATHER, ALLGATHER, REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN,
	EXSCAN, ALLTOALL, KINDS,
};

struct call {
	enum kind kind;
	size_t size;
	unsigned int root;
	uint64_t salt;
	char *from, *to;
	struct shuffle_coll_request *request;
};

static unsigned int rank, count;

/* Word @i of what member @m puts in. */
static uint64_t word(const struct call *k, unsigned int m, size_t i)
{
	return sht_mix(k->salt + ((uint64_t)m << 32) + i);
}

/* What members [first, last) have there, added. */
static uint64_t sum(const struct call *k, unsigned int first, unsigned int last, size_t i)
{
	uint64_t s = 0;

	for (; first < last; first++)
		s += word(k, first, i);
	return s;
}

/* Bytes that a member puts in. */
static size_t in_size(const struct call *k)
{
	return k->kind == REDUCE_SCATTER || k->kind == ALLTOALL ||
	       (k->kind == SCATTER && rank == k->root) ? count * k->size : k->size;
}

static struct shuffle_coll_request *start(struct shuffle_coll *c, struct call *k)
{
	size_t i, n = in_size(k) / 8;
	uint64_t *from;

	k->from = malloc(in_size(k) + 8);
	k->to = malloc(count * k->size + 8);
	memset(k->to, 0xee, count * k->size + 8);
	from = (uint64_t *)(k->kind == BROADCAST ? k->to : k->from);
	for (i = 0; i < n && (k->kind != BROADCAST || rank == k->root); i++)
		from[i] = word(k, rank, i);
	switch (k->kind) {
	case BARRIER:
		return shuffle_ibarrier(c);
	case BROADCAST:
		return shuffle_ibroadcast(c, k->to, k->size, k->root);
	case SCATTER:
		return shuffle_iscatter(c, k->from, k->to, k->size, k->root);
	case GATHER:
		return shuffle_igather(c, k->from, k->to, k->size, k->root);
	case ALLGATHER:
		return shuffle_iallgather(c, k->from, k->to, k->size);
	case REDUCE:
		return shuffle_ireduce(c, k->from, k->to, k->size, 8, combine_sum, NULL, k->root);
	case ALLREDUCE:
		return shuffle_iallreduce(c, k->from, k->to, k->size, 8, combine_sum, NULL);
	case REDUCE_SCATTER:
		return shuffle_ireduce_scatter(c, k->from, k->to, k->size, combine_sum, NULL);
	case ALLTOALL:
		return shuffle_ialltoall(c, k->from, k->to, k->size);
	default:
		return shuffle_iscan(c, k->from, k->to, k->size, combine_sum, NULL,
				     k->kind == EXSCAN);
	}
}

/* Word @i of the result, or 0xee... where there is none. */
static uint64_t expected(const struct call *k, size_t i)
{
	size_t n = k->size / 8, at = n ? i % n : 0;
	unsigned int m = n ? i / n : 0;

	switch (k->kind) {
	case BROADCAST:
		if (!m)
			return word(k, k->root, i);
		break;
	case SCATTER:
		if (!m)
			return word(k, k->root, rank * n + i);
		break;
	case GATHER:
		if (rank == k->root)
			return word(k, m, at);
		break;
	case ALLGATHER:
		return word(k, m, at);
	case REDUCE:
		if (rank == k->root && !m)
			return sum(k, 0, count, i);
		break;
	case ALLREDUCE:
		if (!m)
			return sum(k, 0, count, i);
		break;
	case REDUCE_SCATTER:
		if (!m)
			return sum(k, 0, count, rank * n + i);
		break;
	case SCAN:
		if (!m)
			return sum(k, 0, rank + 1, i);
		break;
	case EXSCAN:
		if (!m && rank)
			return sum(k, 0, rank, i);
		break;
	case ALLTOALL:
		return word(k, m, rank * n + at);
	default:
		break;
	}
	return 0xeeeeeeeeeeeeeeeeULL;
}

static bool right(const struct call *k)
{
	const uint64_t *to = (const uint64_t *)k->to;
	size_t i;

	for (i = 0; i < count * k->size / 8; i++) {
		if (to[i] == expected(k, i))
			continue;
		/* others than the root may have been used on the way */
		if ((k->kind == REDUCE || k->kind == GATHER) && rank != k->root)
			continue;
		fprintf(stderr, "# rank %u of %u: kind %d, %zu bytes, root %u: word %zu is wrong\n",
			rank, count, k->kind, k->size, k->root, i);
		return false;
	}
	return true;
}

/* One that ends is checked.  Returns false if it is wrong. */
static bool ended(struct call *k)
{
	bool ok = right(k);

	free(k->from);
	free(k->to);
	memset(k, 0, sizeof(*k));
	return ok;
}

/* Test, poll or finish them, as this member's own numbers say. */
static bool end_all(struct shuffle_coll *c, int fd, struct call *k, unsigned int n, uint64_t mine)
{
	struct pollfd pfd = { .fd = fd };
	unsigned int left = n, i;
	int done;

	while (left) {
		mine = sht_mix(mine + 1);
		i = mine % n;
		if (!k[i].request)
			continue;
		done = 1;
		if (mine >> 32 & 1 ? shuffle_coll_finish(k[i].request) :
				     shuffle_coll_test(k[i].request, &done)) {
			fprintf(stderr, "# rank %u: %s\n", rank, strerror(errno));
			return false;
		}
		if (done) {
			k[i].request = NULL;
			left--;
			if (!ended(&k[i]))
				return false;
		} else if (mine >> 33 & 1) {
			pfd.events = shuffle_coll_events(c);
			poll(&pfd, 1, 10000);
		}
	}
	return !shuffle_coll_events(c);
}

/* Bytes of a member: none of some, and as many as the limit of one. */
static size_t length_of(unsigned int m, unsigned int round)
{
	return (m + round) % 3 ? 8 * (sht_mix(m + 100 * round) % 100) : m == 1 ? MOST : 0;
}

struct lengths {
	size_t size[MEMBERS], all;
	unsigned int root, round;
	char *from, *to;
};

/* All four calls with lengths of their own; each byte is the number of its member, and one. */
static int with_lengths(struct shuffle_coll *c, void *arg)
{
	struct lengths *l = arg;
	size_t own = l->size[rank], at = 0, i;
	unsigned int m;

	memset(l->from, 1 + rank, l->all);
	if (shuffle_gatherv(c, l->from, own, l->to, l->size, l->root) ||
	    shuffle_allgatherv(c, l->from, rank == l->root ? l->to + l->all : l->to, l->size) ||
	    (rank == l->root && memcmp(l->to, l->to + l->all, l->all)))
		return -1;
	for (m = 0; m < count; at += l->size[m], m++)
		for (i = 0; i < l->size[m]; i++)
			if (l->to[at + i] != (char)(1 + m))
				return -1;
	/* the same way back */
	memset(l->from, 0, l->all);
	if (shuffle_scatterv(c, l->to, l->size, l->from, own, l->root))
		return -1;
	for (i = 0; i < own; i++)
		if (l->from[i] != (char)(1 + rank))
			return -1;
	for (i = 0; i < l->all / 8; i++)
		((uint64_t *)l->from)[i] = rank + i;
	if (shuffle_reduce_scatterv(c, l->from, l->to, l->size, combine_sum, NULL))
		return -1;
	for (at = 0, m = 0; m < rank; m++)
		at += l->size[m];
	for (i = 0; i < own / 8; i++)
		if (((uint64_t *)l->to)[i] != count * (count - 1) / 2 + count * (at / 8 + i))
			return -1;
	return 0;
}

/* As they are, and as one function that is not waited for. */
static int lengths_member(struct shuffle_coll *c)
{
	struct lengths l = { .from = malloc(MEMBERS * MOST), .to = malloc(2 * MEMBERS * MOST) };
	struct shuffle_coll_request *r, *before[2];
	uint64_t word = rank, words[MEMBERS];
	unsigned int m;

	for (l.round = 0; l.round < 12; l.round++) {
		l.root = l.round % count;
		for (l.all = 0, m = 0; m < count; m++)
			l.all += l.size[m] = length_of(m, l.round);
		/* behind two that have begun, of which one has no plan yet */
		before[0] = shuffle_ibarrier(c);
		before[1] = shuffle_iallgather(c, &word, words, 8);
		if (l.round % 2 && with_lengths(c, &l))
			return -1;
		r = l.round % 2 ? NULL : shuffle_coll_begin(c, with_lengths, &l);
		if (l.round % 2 == 0 && (!r || shuffle_coll_finish(r)))
			return -1;
		for (m = 0; m < 2; m++)
			if (!before[m] || shuffle_coll_finish(before[m]))
				return -1;
	}
	free(l.from);
	free(l.to);
	return 0;
}

static int member(const struct sockaddr_shuffle *m, unsigned int members, unsigned int self,
		  const char *engine)
{
	uint64_t same = 1, mine = sht_mix(self + 100);
	struct call k[AT_ONCE] = { 0 };
	struct shuffle_coll *c;
	unsigned int round, i, n;
	uint64_t x, all;
	int fd;

	count = members;
	rank = self;
	fd = sht_open(m, count, rank, 0);
	c = fd < 0 ? NULL : shuffle_coll_new(fd, rank, count, 1000);
	if (!c || shuffle_coll_engine(c, engine))
		return 2;
	shuffle_coll_timeout(c, 20000);
	for (round = 0; round < ROUNDS; round++) {
		n = 1 + (same = sht_mix(same)) % AT_ONCE;
		for (i = 0; i < n; i++) {
			same = sht_mix(same);
			k[i].kind = same % KINDS;
			k[i].size = (same >> 21) % (same >> 20 & 1 ? 128 : MOST) & ~7;
			k[i].root = (same >> 40) % count;
			k[i].salt = same;
			k[i].request = start(c, &k[i]);
			if (!k[i].request)
				return 3;
		}
		/* one that is waited for waits for all that have begun */
		x = rank + round;
		if (round % 4 == 3 && (shuffle_allreduce(c, &x, &all, 8, 8, combine_sum, NULL) ||
				       all != count * (count - 1) / 2 + count * round))
			return 4;
		mine = sht_mix(mine);
		if (!end_all(c, fd, k, n, mine))
			return 5;
	}
	if (lengths_member(c))
		return 7;
	return shuffle_coll_free(c) ? 6 : 0;
}

/* A whole function of the program, made later: a sum, and then the sum of the sums. */
static int twice(struct shuffle_coll *c, void *arg)
{
	uint64_t *x = arg, y;

	if (shuffle_allreduce(c, x, &y, 8, 8, combine_sum, NULL))
		return -1;
	errno = 0;
	return shuffle_allreduce(c, &y, x, 8, 8, combine_sum, NULL);
}

static int wrong_call(struct shuffle_coll *c, void *arg)
{
	(void)c;
	(void)arg;
	errno = EDOM;
	return -1;
}

/* What a call waits with begins another one, and asks about it. */
static struct shuffle_coll *waiting;
static struct shuffle_coll_request *begun;

static int begin_another(void *arg, int fd, short events)
{
	int done = 1;

	(void)arg;
	(void)fd;
	(void)events;
	if (!begun)
		begun = shuffle_ibarrier(waiting);
	if (shuffle_coll_test(begun, &done) || done ||
	    !shuffle_coll_finish(begun) || errno != EDEADLK || !shuffle_barrier(waiting) ||
	    errno != EDEADLK)
		return 0;
	errno = ECANCELED;
	return -1;
}

static void test_alone(void)
{
	struct shuffle_coll_request *r, *s;
	struct sockaddr_shuffle m[2];
	struct shuffle_coll *c;
	uint64_t x = 21;
	char data[100];
	int fds[2], done = 7;

	my_addr(&m[0]);
	fds[0] = sht_open(m, 1, 0, 0);
	c = shuffle_coll_new(fds[0], 0, 1, 1);
	r = shuffle_coll_begin(c, twice, &x);
	WORKS(r && !shuffle_coll_finish(r) && EXPECT_EQ(x, 21), "a function of the program, alone");
	r = shuffle_coll_begin(c, wrong_call, NULL);
	FAILS(shuffle_coll_test(r, &done), "a function that fails", EDOM);
	WORKS_EQ(done, 1, "and is done");
	WORKS(!shuffle_barrier(c), "the group does not mind");
	WORKS(!shuffle_coll_free(c), "free");
	close(fds[0]);

	open_pair(fds, m, 0);
	c = shuffle_coll_new(fds[0], 0, 2, 1);
	r = shuffle_ibarrier(c);
	s = shuffle_igather(c, data, data, 10, 0);
	WORKS(r && s && !shuffle_coll_test(s, &done) && !done && shuffle_coll_events(c),
	      "two of which nobody else knows");
	FAILS(shuffle_coll_pattern(c, "flat", 0), "another pattern meanwhile", EBUSY);
	FAILS(shuffle_coll_free(c), "free in the middle", ECANCELED);
	c = shuffle_coll_new(fds[0], 0, 2, 1ULL << 39);
	waiting = c;
	shuffle_coll_wait(c, begin_another, NULL);
	FAILS(shuffle_barrier(c), "one that begins while another waits", ECANCELED);
	FAILS(shuffle_coll_finish(begun), "and ends with the group's error", ECANCELED);
	shuffle_coll_free(c);
	c = shuffle_coll_new(fds[0], 0, 2, 1ULL << 40);
	shuffle_coll_timeout(c, 300);
	r = shuffle_ibarrier(c);
	s = shuffle_ibarrier(c);
	FAILS(shuffle_coll_finish(s), "a barrier alone", ETIMEDOUT);
	FAILS(shuffle_coll_finish(r), "the one before it", ETIMEDOUT);
	shuffle_coll_free(c);
	close_pair(fds);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_alone();
	WORKS(api_group(2, member, "user"), "2 members in user space");
	WORKS(api_group(2, member, "auto"), "2 members");
	WORKS(api_group(5, member, "user"), "5 members in user space");
	WORKS(api_group(5, member, "auto"), "5 members, short ones in the kernel");
	return api_finish();
}
