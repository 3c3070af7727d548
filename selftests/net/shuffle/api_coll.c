// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collectives of libshuffle: every kind with every pattern, in user space and in the kernel, groups
 * of 1 to 12 processes, against what each member can compute for itself.  TAP.
 *
 *	api_coll [-v 6 [NETEM...]]
 *
 *	NETEM	what the network does to packets, as tc(8) wants it: in the kernel only
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "api.h"
#include "../../../tools/lib/shuffle_coll.h"

#define MEMBERS		12
#define ITEM		8
#define MOST		(256 << 10)	/* bytes of a vector */
#define STEP_MS		20000

/* Maps x -> a x + b, one behind the other: associative, and the order matters. */
struct map {
	uint32_t a, b;
};

static unsigned int rank, count;
static char *from, *to, *expected;

static struct map after(struct map f, struct map g)
{
	return (struct map){ f.a * g.a, f.a * g.b + f.b };
}

static void combine_maps(void *arg, void *into, const void *in, size_t size, int in_first)
{
	struct map *x = into, y;
	size_t i;

	(void)arg;
	for (i = 0; i < size / sizeof(*x); i++) {
		memcpy(&y, (const char *)in + i * sizeof(y), sizeof(y));
		x[i] = in_first ? after(y, x[i]) : after(x[i], y);
	}
}

/* What a member puts in. */
static void fill(char *at, unsigned int member, size_t size, unsigned int salt)
{
	uint64_t x;
	size_t i;

	for (i = 0; i < size; i += sizeof(x)) {
		x = sht_mix(((uint64_t)member << 40) + ((uint64_t)salt << 32) + i) | 1;
		memcpy(at + i, &x, size - i < sizeof(x) ? size - i : sizeof(x));
	}
}

enum kind {
	BARRIER, BROADCAST, SCATTER, GATHER, ALLGATHER, REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN,
	EXSCAN, ALLTOALL, KINDS,
};

struct call {
	enum kind kind;
	shuffle_combine combine;
	void *items;		/* its argument */
	size_t size;
	unsigned int root;
	unsigned int first;	/* member whose vector comes first in a reduction to the root */
	unsigned int salt;
};

/* Those of the members from @first on, @n of them, combined. */
static void expect_combined(const struct call *k, unsigned int first, unsigned int n, size_t size)
{
	static char other[MOST];
	unsigned int i;

	fill(expected, first, size, k->salt);
	for (i = 1; i < n; i++) {
		fill(other, (first + i) % count, size, k->salt);
		k->combine(k->items, expected, other, size, 0);
	}
}

/* Bytes of all members one behind the other, in @expected. */
static void expect_all(size_t size, unsigned int salt)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		fill(expected + i * size, i, size, salt);
}

/* Blocks of an all-to-all: what goes to each member; what comes from each, in @expected. */
static void fill_blocks(size_t size, unsigned int salt)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		fill(from + i * size, rank * MEMBERS + i, size, salt);
		fill(expected + i * size, i * MEMBERS + rank, size, salt);
	}
}

/* One call and its check: NULL, or what is wrong. */
static const char *make_call(struct shuffle_coll *c, const struct call *k)
{
	shuffle_combine f = k->combine;
	size_t size = k->size, got = size, n;
	char *at = to, *want = expected;
	int rc = -1;

	memset(to, 0xee, MOST);
	fill(from, rank, size, k->salt);
	switch (k->kind) {
	case BARRIER:
		rc = shuffle_barrier(c);
		got = 0;
		break;
	case BROADCAST:
		fill(expected, k->root, size, k->salt);
		if (rank == k->root)
			memcpy(to, expected, size);
		rc = shuffle_broadcast(c, to, size, k->root);
		break;
	case SCATTER:
		expect_all(size, k->salt);
		memcpy(from, expected, size * count);
		want += rank * size;
		rc = shuffle_scatter(c, from, to, size, k->root);
		break;
	case GATHER:
		expect_all(size, k->salt);
		rc = shuffle_gather(c, from, to, size, k->root);
		got = rank == k->root ? size * count : 0;
		break;
	case ALLGATHER:
		expect_all(size, k->salt);
		rc = shuffle_allgather(c, from, to, size);
		got = size * count;
		break;
	case REDUCE:
		expect_combined(k, k->first, count, size);
		rc = shuffle_reduce(c, from, rank == k->root ? to : NULL, size, ITEM, f, k->items,
				    k->root);
		got = rank == k->root ? size : 0;
		break;
	case ALLREDUCE:
		expect_combined(k, 0, count, size);
		rc = shuffle_allreduce(c, from, to, size, ITEM, f, k->items);
		break;
	case REDUCE_SCATTER:
		/* each member has a vector of count parts */
		n = size * count;
		fill(from, rank, n, k->salt);
		expect_combined(k, 0, count, n);
		want += rank * size;
		rc = shuffle_reduce_scatter(c, from, to, size, f, k->items);
		break;
	case SCAN:
		expect_combined(k, 0, rank + 1, size);
		rc = shuffle_scan(c, from, to, size, f, k->items, 0);
		break;
	case ALLTOALL:
		fill_blocks(size, k->salt);
		got = size * count;
		if (k->salt % 3 == 0)
			memcpy(to, from, got);
		rc = shuffle_alltoall(c, k->salt % 3 ? from : to, to, size);
		break;
	default:
		if (rank)
			expect_combined(k, 0, rank, size);
		rc = shuffle_scan(c, from, to, size, f, k->items, 1);
		got = rank ? size : 0;
		if (!rank && (unsigned char)to[0] != 0xee)
			return "the first one of exscan got something";
	}
	if (rc)
		return strerror(errno);
	return memcmp(at, want, got) ? "wrong data" : NULL;
}

/* Order in which vectors are combined: any, from the root's on, or by rank in reductions, too. */
enum { ANY_ORDER, FROM_ROOT, BY_RANK };

/* racks: as set_racks() has them */
#define EVEN	100

static const struct {
	const char *name;
	unsigned int radix;
	int in_order;
	int racks;
} patterns[] = {
	{ "auto", 0, ANY_ORDER, 0 },
	{ "flat", 0, FROM_ROOT, 0 },
	{ "tree", 2, FROM_ROOT, 0 },
	{ "tree", 3, FROM_ROOT, 0 },
	{ "chain", 0, FROM_ROOT, 0 },
	{ "doubling", 0, FROM_ROOT, 0 },
	{ "doubling", 3, FROM_ROOT, 0 },
	{ "gathered", 4, FROM_ROOT, 0 },
	{ "ring", 0, ANY_ORDER, 0 },
	{ "rabenseifner", 0, ANY_ORDER, 0 },
	{ "spread", 1, ANY_ORDER, 0 },
	{ "spread", 3, ANY_ORDER, 0 },
	{ "two-tree", 1, FROM_ROOT, 0 },
	{ "two-tree", 5, FROM_ROOT, 0 },
	{ "cool-p-p", 0, BY_RANK, 0 },
	{ "cool-p-p", 0, BY_RANK, 3 },
	{ "cool-b-r", 0, BY_RANK, 3 },
	{ "cool-b-r", 0, BY_RANK, 4 },
	{ "spread", 1, BY_RANK, EVEN + 2 },
	{ "spread", 4, BY_RANK, EVEN + 3 },
	{ "cool-p-p", 0, BY_RANK, EVEN + 4 },
	{ "auto", 0, ANY_ORDER, EVEN + 3 },
	{ "auto", 0, ANY_ORDER, 3 },
};

static const size_t sizes[] = { 0, 8, 1000, 20000, 200000 };

#define N(a)	(sizeof(a) / sizeof((a)[0]))

/* Has the data of each member a place of its own? */
static bool has_parts(enum kind kind)
{
	return kind == SCATTER || kind == GATHER || kind == ALLGATHER || kind == REDUCE_SCATTER ||
	       kind == ALLTOALL;
}

/* What the kernel combines, of items of 8 bytes at most: one of them. */
static void *some_items(unsigned int salt)
{
	unsigned int which = salt % 9, more = salt / 9;

	if (which < 6)
		return SHUFFLE_ITEMS(SHUFFLE_COLL_SUM + which, more % 8);
	if (which == 6)
		return SHUFFLE_ITEMS(more % 2 ? SHUFFLE_COLL_MIN : SHUFFLE_COLL_MAX,
				     more / 2 % 2 ? SHUFFLE_COLL_F32 : SHUFFLE_COLL_F64);
	return SHUFFLE_ITEMS(which == 7 ? SHUFFLE_COLL_MINLOC : SHUFFLE_COLL_MAXLOC,
			     SHUFFLE_COLL_PAIR32);
}

/* All kinds and sizes by one pattern.  0 or -1. */
static int all_calls(struct shuffle_coll *c, const char *pattern, int in_order, const size_t *size,
		     unsigned int n, int in_kernel)
{
	static unsigned int salt;
	const char *why;
	struct call k;
	unsigned int s;

	for (k.kind = 0; k.kind < KINDS; k.kind++) {
		for (s = 0; s < n; s++) {
			k.size = size[s];
			if (has_parts(k.kind) && k.size > MOST / MEMBERS)
				continue;
			k.root = (salt * 7) % count;
			k.first = in_order == BY_RANK ? 0 : k.root;
			k.salt = salt++;
			k.items = NULL;
			if (in_kernel) {
				k.combine = shuffle_combine_items;
				k.items = some_items(salt);
			} else {
				/* another pattern may be taken, whose order is not promised */
				k.combine = in_order && s < 3 ? combine_maps : combine_sum;
			}
			why = make_call(c, &k);
			if (!why)
				continue;
			fprintf(stderr, "# rank %u of %u: %s, kind %d, %zu bytes, root %u, items %p: %s\n",
				rank, count, pattern, k.kind, k.size, k.root, k.items, why);
			return -1;
		}
	}
	return 0;
}

/* At most so many racks, each larger than the one before; 0: one.  EVEN + racks: of sizes that
 * differ by one at most.
 */
static int set_racks(struct shuffle_coll *c, unsigned int racks)
{
	unsigned int size[MEMBERS], i, left = count, even = racks >= EVEN;

	racks -= even ? EVEN : 0;
	racks = racks > count ? count : racks;
	for (i = 0; left && i < racks; left -= size[i], i++) {
		size[i] = i + 1 == racks || i + 1 > left ? left : i + 1;
		if (even)
			size[i] = (i + 1) * count / racks - i * count / racks;
	}
	return shuffle_coll_racks(c, size, i);
}

/* A table in which everything goes from one member to the next, of kind @k->kind. */
static unsigned int chain_table(const struct call *k, struct shuffle_coll_message *m,
				unsigned int *blocks)
{
	unsigned int i, n = count, at = 0, s;

	*blocks = has_parts(k->kind) ? n : k->kind != BARRIER;
	switch (k->kind) {
	case BARRIER:
		for (i = 0; i + 1 < 2 * n; i++)
			m[at++] = (struct shuffle_coll_message){ i, i % n, (i + 1) % n, 0, 0, 0 };
		return n > 1 ? at : 0;
	case BROADCAST:		/* in three parts, one behind the other */
		*blocks = 3;
		for (s = 0; s < n + 2; s++)
			for (i = 0; i + 1 < n; i++)
				if (s >= i && s - i < 3)
					m[at++] = (struct shuffle_coll_message){
						s, (k->root + i) % n, (k->root + i + 1) % n, s - i,
						1, SHUFFLE_TAKE_STORE };
		return at;
	case SCATTER:		/* what is left for those behind, counted from the root */
		for (i = 0; i + 1 < n; i++)
			m[at++] = (struct shuffle_coll_message){
				i, (k->root + i) % n, (k->root + i + 1) % n, (k->root + i + 1) % n,
				n - 1 - i, SHUFFLE_TAKE_STORE };
		return at;
	case GATHER:
		for (i = n - 1; i; i--)
			m[at++] = (struct shuffle_coll_message){
				n - 1 - i, (k->root + i) % n, (k->root + i - 1) % n,
				(k->root + i) % n, n - i, SHUFFLE_TAKE_STORE };
		return at;
	case ALLGATHER:
		for (s = 0; s + 1 < n; s++)
			for (i = 0; i < n; i++)
				m[at++] = (struct shuffle_coll_message){
					s, i, (i + 1) % n, (i + n - s) % n, 1, SHUFFLE_TAKE_STORE };
		return at;
	case REDUCE:		/* from the root's on */
		for (i = n - 1; i; i--)
			m[at++] = (struct shuffle_coll_message){
				n - 1 - i, (k->root + i) % n, (k->root + i - 1) % n, 0, 1,
				SHUFFLE_TAKE_AFTER };
		return at;
	case REDUCE_SCATTER:	/* each member's part to the last one, and back from there */
		for (i = 0; i + 1 < n; i++)
			m[at++] = (struct shuffle_coll_message){ i, i, i + 1, 0, n,
								 SHUFFLE_TAKE_BEFORE };
		for (i = 0; i + 1 < n; i++)
			m[at++] = (struct shuffle_coll_message){ n - 1, n - 1, i, i, 1,
								 SHUFFLE_TAKE_STORE };
		return at;
	case ALLREDUCE:		/* in two parts, and back */
		*blocks = 2;
		for (i = 0; i + 1 < n; i++)
			m[at++] = (struct shuffle_coll_message){ i, i, i + 1, 1, 2,
								 SHUFFLE_TAKE_BEFORE };
		for (i = n - 1; i; i--)
			m[at++] = (struct shuffle_coll_message){ 2 * n - i, i, i - 1, 0, 2,
								 SHUFFLE_TAKE_STORE };
		return at;
	case SCAN:
		for (i = 0; i + 1 < n; i++)
			m[at++] = (struct shuffle_coll_message){ i, i, i + 1, 0, 1,
								 SHUFFLE_TAKE_BEFORE };
		return at;
	default:		/* exscan: the vector before ours takes its place; a scan */
		for (i = 0; i + 1 < n; i++)
			m[at++] = (struct shuffle_coll_message){ 0, i, i + 1, 0, 1,
								 SHUFFLE_TAKE_STORE };
		for (i = 1; i + 1 < n; i++)
			m[at++] = (struct shuffle_coll_message){ i, i, i + 1, 0, 1,
								 SHUFFLE_TAKE_BEFORE };
		return at;
	}
}

/* All kinds by tables of the program's own.  0 or -1. */
static int table_calls(struct shuffle_coll *c)
{
	static struct shuffle_coll_message m[3 * MEMBERS * MEMBERS];
	unsigned int s, n, blocks, radix, root;
	struct shuffle_coll_fault fault = { 0 };
	struct call k = { .combine = combine_maps };
	const char *why = NULL;
	int in_kernel;

	/* all but ALLTOALL, which has no plan */
	for (k.kind = 0; k.kind < ALLTOALL; k.kind++) {
		k.root = k.kind >= BROADCAST && k.kind <= GATHER ? count / 2 : 0;
		k.root = k.kind == REDUCE ? count - 1 : k.root;
		k.first = k.root;
		n = chain_table(&k, m, &blocks);
		root = k.root;
		if (shuffle_coll_explicit(c, k.kind, root, blocks, m, n, &fault))
			why = shuffle_coll_fault_text(&fault);
		for (s = 0; s < N(sizes) && !why; s++) {
			k.size = sizes[s];
			k.salt = 7777 + s;
			if (has_parts(k.kind) && k.size > MOST / MEMBERS)
				continue;
			why = make_call(c, &k);
			if (!why && strcmp(shuffle_coll_chosen(c, &radix, &in_kernel), "explicit"))
				why = "not by the table";
		}
		/* of another root, and without one */
		k.root = (root + 1) % count;
		k.first = k.root;
		k.size = 8;
		if (!why && count > 1 && (k.kind == BROADCAST || k.kind == REDUCE))
			why = make_call(c, &k);
		if (!why && shuffle_coll_explicit(c, k.kind, 0, 0, NULL, 0, NULL))
			why = "the table stays";
		k.root = root;
		k.first = root;
		if (!why)
			why = make_call(c, &k);
		if (!why && !strcmp(shuffle_coll_chosen(c, &radix, &in_kernel), "explicit"))
			why = "by a table that there is not any more";
		if (!why)
			continue;
		fprintf(stderr, "# rank %u of %u: table of kind %d: %s (message %d, member %d)\n",
			rank, count, k.kind, why, (int)fault.message, (int)fault.member);
		return -1;
	}
	return 0;
}

static int no_waiter(void *arg, int fd, short events)
{
	(void)arg;
	(void)fd;
	(void)events;
	errno = ECANCELED;
	return -1;
}

/* All calls of one member.  Returns the number of the pattern that failed, plus one. */
static int member(const struct sockaddr_shuffle *m, unsigned int members, unsigned int self,
		  const char *engine)
{
	static const size_t short_sizes[] = { 0, 8, 256, 1000 };
	int in_kernel = !strcmp(engine, "kernel");
	struct shuffle_coll *c;
	unsigned int p;
	int fd, rc;

	from = malloc(MOST);
	to = malloc(MOST);
	expected = malloc(MOST);
	count = members;
	rank = self;
	fd = sht_open(m, count, rank, 0);
	c = fd < 0 ? NULL : shuffle_coll_new(fd, rank, count, 1000);
	if (!c || !from || !to || !expected)
		return 100;
	shuffle_coll_timeout(c, STEP_MS);
	if (shuffle_coll_engine(c, engine))
		return 101;
	if (count > 3 && shuffle_coll_racks(c, (unsigned int[]){ 2, count - 2 }, 2))
		return 99;
	if (all_calls(c, "auto", 0, short_sizes, N(short_sizes), in_kernel))
		return 98;
	for (p = 0; p < N(patterns); p++) {
		if (shuffle_coll_pattern(c, patterns[p].name, patterns[p].radix) ||
		    set_racks(c, patterns[p].racks))
			return 102;
		if (in_kernel)
			rc = all_calls(c, patterns[p].name, 0, short_sizes, N(short_sizes), 1);
		else
			rc = all_calls(c, patterns[p].name, patterns[p].in_order, sizes, N(sizes),
				       0);
		if (rc)
			return p + 1;
	}
	/* without racks what has no table begins with the root's */
	if (shuffle_coll_pattern(c, "auto", 0) || set_racks(c, 0) || table_calls(c))
		return 104;
	if (shuffle_coll_free(c))
		return 103;
	close(fd);
	return 0;
}

/* Members that do not call the same find out, and go on to say so. */
static void test_disagree(void)
{
	struct sockaddr_shuffle m[2];
	struct shuffle_coll *c;
	char data[100];
	pid_t pid;
	int fd, status = -1;

	my_addr(&m[0]);
	my_addr(&m[1]);
	pid = fork();
	if (!pid) {
		fd = sht_open(m, 2, 1, 0);
		c = shuffle_coll_new(fd, 1, 2, 1);
		shuffle_coll_timeout(c, 3000);
		/* 50 bytes are 100 for the other one */
		_exit(!shuffle_broadcast(c, data, 50, 0) || errno != EPROTO);
	}
	fd = sht_open(m, 2, 0, 0);
	c = shuffle_coll_new(fd, 0, 2, 1);
	shuffle_coll_timeout(c, 3000);
	shuffle_broadcast(c, data, 100, 0);
	waitpid(pid, &status, 0);
	WORKS_EQ(status, 0, "sizes that differ: EPROTO");
	shuffle_coll_free(c);
	close(fd);
}

/* More calls than a socket may have operations, in each of which a member only sends. */
static int many_calls(int fd, unsigned int self)
{
	struct shuffle_coll *c = shuffle_coll_new(fd, self, 2, 1);
	uint64_t x = self, both[2];
	const size_t sizes[2] = { sizeof(x), sizeof(x) };
	unsigned int i;

	shuffle_coll_timeout(c, STEP_MS);
	shuffle_coll_engine(c, "user");
	for (i = 0; i < 1100; i++)
		if (shuffle_gatherv(c, &x, sizeof(x), both, self ? NULL : sizes, 0) ||
		    (!self && both[1] != 1))
			return 1;
	return shuffle_coll_free(c) ? 2 : 0;
}

static void test_many_calls(void)
{
	struct sockaddr_shuffle m[2];
	pid_t pid;
	int fd, status = -1;

	my_addr(&m[0]);
	my_addr(&m[1]);
	pid = fork();
	if (!pid)
		_exit(many_calls(sht_open(m, 2, 1, 0), 1));
	fd = sht_open(m, 2, 0, 0);
	WORKS(!many_calls(fd, 0), "1100 calls, at the root");
	waitpid(pid, &status, 0);
	WORKS_EQ(status, 0, "and at a member that only sends");
	close(fd);
}

/* Racks that a program names, of a group of three. */
static void test_racks(void)
{
	struct sockaddr_shuffle m[3];
	struct shuffle_coll *c;
	unsigned int i;
	int fd;

	for (i = 0; i < 3; i++)
		my_addr(&m[i]);
	fd = sht_open(m, 3, 1, 0);
	c = shuffle_coll_new(fd, 1, 3, 1);
	WORKS(!shuffle_coll_racks(c, (unsigned int[]){ 1, 2 }, 2), "racks of a collective");
	FAILS(shuffle_coll_racks(c, (unsigned int[]){ 2, 2 }, 2), "racks of four members", EINVAL);
	FAILS(shuffle_coll_racks(c, (unsigned int[]){ 3, 0 }, 2), "a rack without any", EINVAL);
	FAILS(shuffle_coll_racks(c, (unsigned int[]){ 1, ~0U, 3 }, 3), "racks whose sum wraps round",
	      EINVAL);
	FAILS(shuffle_coll_racks(c, (unsigned int[]){ 1, 1, 1, 1 }, 4), "more racks than members",
	      EINVAL);
	shuffle_coll_free(c);
	close(fd);
}

/* Tables that are wrong, and a group that goes on as before. */
static void test_tables(void)
{
	struct shuffle_coll_message m[2] = { { 0, 0, 1, 0, 1, 0 }, { 1, 1, 2, 0, 1, 0 } };
	struct sockaddr_shuffle addr[3];
	struct shuffle_coll_fault f;
	struct shuffle_coll *c;
	unsigned int i;
	int fd;

	for (i = 0; i < 3; i++)
		my_addr(&addr[i]);
	fd = sht_open(addr, 3, 0, 0);
	c = shuffle_coll_new(fd, 0, 3, 1);
	WORKS(!shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 0, 1, m, 2, &f) &&
	      EXPECT_ERRNO(f.error, 0), "a table");
	FAILS(shuffle_coll_explicit(c, SHUFFLE_COLL_KINDS, 0, 1, m, 2, &f), "a kind", EINVAL);
	WORKS_EQ(f.error, SHUFFLE_FAULT_KIND, "that there is not");
	FAILS(shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 3, 1, m, 2, &f), "a root", EINVAL);
	WORKS_EQ(f.error, SHUFFLE_FAULT_MEMBERS, "that there is not");
	FAILS(shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 0, 0, m, 2, &f), "data", EINVAL);
	WORKS_EQ(f.error, SHUFFLE_FAULT_DIVIDED, "without blocks");
	FAILS(shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 0, 2, m, 2, &f), "a block", EINVAL);
	WORKS(EXPECT_EQ(f.error, SHUFFLE_FAULT_LACKS) && EXPECT_EQ(f.message, UINT32_MAX) &&
	      EXPECT_EQ(f.member, 1) && EXPECT_EQ(f.block, 1), "that never arrives");
	FAILS(shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 0, 1, m, 1, NULL),
	      "a message that is missing", EINVAL);
	m[1].to = 3;
	FAILS(shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 0, 1, m, 2, &f), "a member", EINVAL);
	WORKS(EXPECT_EQ(f.error, SHUFFLE_FAULT_MEMBER) && EXPECT_EQ(f.message, 1) &&
	      EXPECT_EQ(f.member, 3), "that there is not");
	m[0] = (struct shuffle_coll_message){ 0, 1, 2, 0, 1, 0 };
	m[1] = (struct shuffle_coll_message){ 0, 2, 1, 0, 1, 0 };
	FAILS(shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 0, 1, m, 2, &f), "two members",
	      EINVAL);
	WORKS(EXPECT_EQ(f.error, SHUFFLE_FAULT_ABSENT) && !f.message && EXPECT_EQ(f.member, 1) &&
	      strstr(shuffle_coll_fault_text(&f), "does not have"), "that wait for each other");
	WORKS(!shuffle_coll_explicit(c, SHUFFLE_COLL_BROADCAST, 0, 0, NULL, 0, &f), "no table");
	shuffle_coll_free(c);
	close(fd);
}

static void test_refused(void)
{
	struct sockaddr_shuffle m[2];
	struct shuffle_coll *c;
	unsigned int radix;
	char data[16];
	int fds[2], in_kernel;

	open_pair(fds, m, 0);
	FAILS(shuffle_coll_new(fds[0], 2, 2, 1) ? 0 : -1, "a rank that is no member", EINVAL);
	c = shuffle_coll_new(fds[0], 0, 2, 1);
	FAILS(shuffle_coll_pattern(c, "star", 0), "a pattern that there is not", EINVAL);
	FAILS(shuffle_broadcast(c, data, 16, 2), "a root that is no member", EINVAL);
	FAILS(shuffle_allreduce(c, data, data, 15, 8, combine_sum, NULL), "half an item", EINVAL);
	shuffle_coll_timeout(c, 300);
	FAILS(shuffle_barrier(c), "a barrier alone", ETIMEDOUT);
	FAILS(shuffle_barrier(c), "and nothing after it", ETIMEDOUT);
	WORKS(EXPECT_STR(shuffle_coll_chosen(c, &radix, &in_kernel), "doubling") &&
	      EXPECT_EQ(radix, 2) && in_kernel, "what was chosen for it");
	shuffle_coll_free(c);
	c = shuffle_coll_new(fds[0], 0, 2, 1ULL << 40);
	shuffle_coll_wait(c, no_waiter, NULL);
	WORKS(!shuffle_coll_engine(c, "user") && !shuffle_coll_pattern(c, "tree", 3),
	      "a pattern in user space");
	FAILS(shuffle_barrier(c), "the waiter's error", ECANCELED);
	WORKS(EXPECT_STR(shuffle_coll_chosen(c, &radix, &in_kernel), "tree") && !in_kernel,
	      "what was asked for");
	shuffle_coll_free(c);
	c = shuffle_coll_new(fds[0], 0, 2, 1ULL << 41);
	shuffle_coll_abort(c, EDOM);
	FAILS(shuffle_barrier(c), "an error of the member's own", EDOM);
	shuffle_coll_free(c);
	close_pair(fds);
}

/* A bad network, in which the kernel's engine has to ask again: tc's arguments in @argv. */
static int bad_network(int argc, char **argv)
{
	char command[200] = "tc qdisc add dev lo root netem";
	int i;

	for (i = 0; i < argc; i++)
		snprintf(command + strlen(command), sizeof(command) - strlen(command), " %s",
			 argv[i]);
	WORKS(!system(command), command);
	WORKS(api_group(3, member, "kernel"), "3 members");
	WORKS(api_group(8, member, "kernel"), "8 members");
	return api_finish();
}

/* The groups of a list like "2,5,8", in user space and in the kernel. */
static void test_groups(const char *list)
{
	char name[64], *end;
	unsigned long n;

	for (; *list; list = end + (*end == ',')) {
		n = strtoul(list, &end, 10);
		if (end == list || !n || n > MEMBERS) {
			printf("Bail out! no group of '%s': 1 to %d members\n", list, MEMBERS);
			exit(2);
		}
		snprintf(name, sizeof(name), "%lu members, all kinds and patterns", n);
		WORKS(api_group(n, member, "user"), name);
		snprintf(name, sizeof(name), "%lu members, likewise in the kernel", n);
		WORKS(api_group(n, member, "kernel"), name);
	}
}

/* api_coll -v 4|6 [MEMBERS,MEMBERS... | netem's ARGUMENTS...] */
int main(int argc, char **argv)
{
	api_start(argc, argv);
	if (argc > 4)
		return bad_network(argc - 3, argv + 3);
	test_refused();
	test_racks();
	test_tables();
	test_groups(argc > 3 ? argv[3] : "2,5");
	test_disagree();
	test_many_calls();
	return api_finish();
}
