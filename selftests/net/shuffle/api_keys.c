// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keyed collectives of libshuffle: every operator in both modes, at one receiver and at all, groups
 * of 1 to 8 processes, against what each member can compute for itself; what is refused; and who is
 * named when a member is gone, has records out of order, or calls something else.  TAP.
 *
 *	api_keys [-v 6]	groups of 2, 4 and 8 members; IPv6: of 1, 3 and 5
 */
#define _GNU_SOURCE
#include "api.h"
#include "../../../tools/lib/shuffle_keys.h"

#define MEMBERS		8
#define MOST		10000		/* records of a member: more than a chunk has */
#define STEP_MS		20000
#define GONE_MS		700		/* where a call fails; and once more eight times that */

/* One call of all members. */
struct call {
	unsigned int oper, flags;
	size_t records;		/* of each member; some have fewer or none */
	bool even;		/* all have as many */
	unsigned int keys;	/* different ones, about */
	unsigned int root;
	uint64_t table_bytes;
	const char *pattern;
	unsigned int radix;
	bool parts;		/* each member its own keys */
};

static struct shuffle_key_value raw[MEMBERS][MOST], all[MEMBERS * MOST];
static struct shuffle_key_value expected[MEMBERS * MOST];

static int by_key(const void *a, const void *b)
{
	const struct shuffle_key_value *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static size_t records_of(const struct call *k, unsigned int member)
{
	if (k->even)
		return k->records;
	return member % 3 == 2 ? 0 : member % 3 ? k->records / 3 : k->records;
}

/* Keys from 0 to the largest, values of both signs. */
static void fill(const struct call *k, unsigned int member, unsigned int salt)
{
	size_t i, n = records_of(k, member);
	uint64_t x;

	for (i = 0; i < n; i++) {
		x = sht_mix(((uint64_t)salt << 48) + ((uint64_t)member << 32) + i);
		raw[member][i].key = x % k->keys * (UINT64_MAX / k->keys);
		raw[member][i].value = sht_mix(x) >> x % 60;
	}
	if (k->flags & SHUFFLE_KEYS_SORTED)
		qsort(raw[member], n, sizeof(raw[0][0]), by_key);
}

static uint64_t first(unsigned int oper, uint64_t value)
{
	switch (oper) {
	case SHUFFLE_KEYS_COUNT:
		return 1;
	case SHUFFLE_KEYS_SUMCOUNT:
		return value << 32 | 1;
	}
	return value;
}

static uint64_t two(unsigned int oper, uint64_t a, uint64_t b)
{
	int64_t x = a, y = b;

	switch (oper) {
	case SHUFFLE_KEYS_SUM:
	case SHUFFLE_KEYS_COUNT:
		return a + b;
	case SHUFFLE_KEYS_MIN:
		return x < y ? a : b;
	case SHUFFLE_KEYS_MAX:
		return x > y ? a : b;
	case SHUFFLE_KEYS_SUMCOUNT:
		return (uint64_t)((uint32_t)(a >> 32) + (uint32_t)(b >> 32)) << 32 |
		       ((uint32_t)a + (uint32_t)b);
	case SHUFFLE_KEYS_OR:
		return a | b;
	}
	return a & b;
}

/* All records sorted, and those of one key combined: in @expected, their number returned. */
static size_t expect(const struct call *k, unsigned int count, unsigned int rank)
{
	size_t n = 0, out = 0, i;
	unsigned int m;

	for (m = 0; m < count; m++)
		for (i = 0; i < records_of(k, m); i++) {
			all[n].key = raw[m][i].key;
			all[n++].value = first(k->oper, raw[m][i].value);
		}
	qsort(all, n, sizeof(all[0]), by_key);
	for (i = 0; i < n; i++) {
		if (k->parts && shuffle_key_owner(all[i].key, count) != rank)
			continue;
		if (k->oper && out && expected[out - 1].key == all[i].key)
			expected[out - 1].value = two(k->oper, expected[out - 1].value,
						      all[i].value);
		else
			expected[out++] = all[i];
	}
	return out;
}

/* NULL, or what is wrong. */
static const char *make_call(struct shuffle_coll *c, const struct call *k, unsigned int count,
			     unsigned int rank, unsigned int salt)
{
	struct shuffle_keys_options o = {
		.size = sizeof(o), .oper = k->oper, .flags = k->flags,
		.table_bytes = k->table_bytes,
	};
	bool receiver = k->parts || k->root == SHUFFLE_KEYS_ALL || k->root == rank;
	struct shuffle_keys_fault fault = { 0 };
	static char text[300];
	struct shuffle_key_value *got;
	const char *why = NULL;
	size_t n, want;
	unsigned int m;
	int rc;

	for (m = 0; m < count; m++)
		if (receiver || m == rank)
			fill(k, m, salt);
	if (shuffle_coll_pattern(c, k->pattern ? k->pattern : "auto", k->radix))
		return "no such pattern";
	if (k->parts)
		rc = shuffle_partition_by_key(c, raw[rank], records_of(k, rank), &got, &n, &o,
					      &fault);
	else
		rc = shuffle_reduce_by_key(c, raw[rank], records_of(k, rank), &got, &n, &o, k->root,
					   &fault);
	if (rc) {
		snprintf(text, sizeof(text), "%s: %s", strerror(errno), fault.text);
		return text;
	}
	want = receiver ? expect(k, count, rank) : 0;
	if (n != want || (!receiver && got))
		why = "another number of records";
	if (!why && !(k->flags & SHUFFLE_KEYS_SORTED))
		qsort(got, n, sizeof(*got), by_key);
	/* NONE keeps values of one key in any order */
	if (!why && !k->oper) {
		for (m = 1; m < n; m++)
			if (got[m - 1].key > got[m].key)
				why = "not sorted";
		qsort(got, n, sizeof(*got), by_key);
	}
	if (!why && n && memcmp(got, expected, n * sizeof(*got)))
		why = "wrong records";
	free(got);
	return why;
}

static struct shuffle_coll *join(const struct sockaddr_shuffle *m, unsigned int count,
				 unsigned int rank, int *fd, unsigned int ms)
{
	struct shuffle_coll *c;

	*fd = shuffle_open(m, count, rank, 0);
	c = *fd < 0 ? NULL : shuffle_coll_new(*fd, rank, count, 1);
	if (c)
		shuffle_coll_timeout(c, ms);
	return c;
}

static int leave(struct shuffle_coll *c, int fd, int rc)
{
	if (shuffle_coll_free(c) && !rc)
		rc = 1;
	close(fd);
	return rc;
}

static const struct call calls[] = {
	{ .records = 0, .keys = 1, .oper = SHUFFLE_KEYS_SUM },
	{ .records = 1, .keys = 3, .oper = SHUFFLE_KEYS_SUM },
	{ .records = MOST, .keys = 500, .oper = SHUFFLE_KEYS_SUM },
	/* tables that are full again and again, chunks that follow each other */
	{ .records = MOST, .keys = 100000, .oper = SHUFFLE_KEYS_SUM, .table_bytes = 4096 },
	{ .records = MOST, .keys = 100000, .oper = SHUFFLE_KEYS_SUM, .pattern = "chain" },
	{ .records = 3000, .keys = 200, .oper = SHUFFLE_KEYS_SUM, .pattern = "flat" },
	{ .records = 3000, .keys = 200, .oper = SHUFFLE_KEYS_SUM, .pattern = "tree", .radix = 3 },
	{ .records = 3000, .keys = 200, .oper = SHUFFLE_KEYS_SUM, .pattern = "rabenseifner" },
	/* the receiver leads no rack */
	{ .records = 3000, .keys = 200, .oper = SHUFFLE_KEYS_SUM, .pattern = "cool-p-p" },
};

/* A plan of the program's own: odd ranks send to the one before, even ones to rank 0. */
static bool set_table(struct shuffle_coll *c, unsigned int count)
{
	struct shuffle_coll_message m[MEMBERS];
	unsigned int i, n = 0;

	for (i = 1; i < count; i += 2)
		m[n++] = (struct shuffle_coll_message){ 0, i, i - 1, 0, 1, SHUFFLE_TAKE_AFTER };
	for (i = 2; i < count; i += 2)
		m[n++] = (struct shuffle_coll_message){ 1, i, 0, 0, 1, SHUFFLE_TAKE_AFTER };
	return !shuffle_coll_explicit(c, SHUFFLE_COLL_REDUCE, 0, 1, m, n, NULL);
}

/* Every operator and mode, and the ways above: 0, or the number of the first line of trouble. */
static int member_calls(const struct sockaddr_shuffle *m, unsigned int count, unsigned int rank,
			const char *arg)
{
	struct call k = { .records = 700, .keys = 300 };
	const char *why = NULL;
	struct shuffle_coll *c;
	unsigned int i, salt = 0;
	int fd;

	(void)arg;
	c = join(m, count, rank, &fd, STEP_MS);
	if (!c)
		return 1;
	for (i = 0; i < 2 * SHUFFLE_KEYS_OPERS && !why; i++) {
		k.oper = i / 2;
		k.flags = i & 1 ? SHUFFLE_KEYS_SORTED : 0;
		k.root = (i + k.oper) & 1 ? SHUFFLE_KEYS_ALL : i % count;
		why = make_call(c, &k, count, rank, ++salt);
	}
	/* the other mode with IPv6 */
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]) && !why; i++) {
		k = calls[i];
		k.flags = (i + v6) & 1 ? SHUFFLE_KEYS_SORTED : 0;
		k.root = (count - 1 + i) % count;
		why = make_call(c, &k, count, rank, ++salt);
	}
	if (!why && !set_table(c, count))
		why = "no table";
	for (i = 0; i < 2 && !why; i++) {
		k = (struct call){ .records = 3000, .keys = 500, .oper = SHUFFLE_KEYS_SUM };
		k.flags = i & 1 ? SHUFFLE_KEYS_SORTED : 0;
		k.root = i & 1 ? SHUFFLE_KEYS_ALL : 0;
		why = make_call(c, &k, count, rank, ++salt);
	}
	if (why)
		printf("# %u of %u members, call %u, operator %u, flags %u: %s\n", rank, count,
		       salt, k.oper, k.flags, why);
	fflush(stdout);
	return leave(c, fd, !!why);
}

static int member_parts(const struct sockaddr_shuffle *m, unsigned int count, unsigned int rank,
			const char *arg)
{
	struct call k = { .records = 2000, .keys = 900, .parts = true };
	const char *why = NULL;
	struct shuffle_coll *c;
	unsigned int i;
	int fd;

	(void)arg;
	c = join(m, count, rank, &fd, STEP_MS);
	if (!c)
		return 1;
	for (i = 0; i < SHUFFLE_KEYS_OPERS + 2 && !why; i++) {
		k.oper = i % SHUFFLE_KEYS_OPERS;
		k.records = i < SHUFFLE_KEYS_OPERS ? k.records : i % 2 ? 0 : 4000;
		why = make_call(c, &k, count, rank, i);
	}
	if (why)
		printf("# %u of %u members, call %u: %s\n", rank, count, i, why);
	fflush(stdout);
	return leave(c, fd, !!why);
}

/* ---- faults ---- */

/* A call that fails at the root, and who is named there: the others may fail, too. */
struct trouble {
	const char *name;
	int error;
	unsigned int rank;	/* who is to blame */
	unsigned int root;
	unsigned int count;
	bool sorted;
	unsigned int records;
};

static const struct trouble troubles[] = {
	{ "a leaf is gone", ECONNRESET, 7, 0, 8, false, 1000 },
	{ "an inner member is gone", ECONNRESET, 4, 0, 8, false, 1000 },
	{ "a leaf is gone, sorted", ECONNRESET, 3, 0, 4, true, MOST },
	{ "a member is gone, and all receive", ECONNRESET, 3, SHUFFLE_KEYS_ALL, 4, false, 100 },
	{ "records are not sorted", EINVAL, 5, 0, 8, true, MOST },
	{ "another operator", EPROTO, 3, 0, 4, false, 100 },
	{ "more records than a result may have", EMSGSIZE, 0, 0, 3, false, 5000 },
};

static int member_trouble(const struct sockaddr_shuffle *m, unsigned int count, unsigned int rank,
			  const char *arg)
{
	const struct trouble *t = &troubles[atoi(arg) % 100];
	struct call k = { .records = t->records, .keys = 100000, .even = true };
	struct shuffle_keys_options o = {
		.size = sizeof(o), .oper = SHUFFLE_KEYS_SUM, .max_records = 2000,
		.flags = t->sorted ? SHUFFLE_KEYS_SORTED : 0,
	};
	struct shuffle_keys_fault fault = { 0 };
	bool guilty = rank == t->rank, root = rank == t->root || t->root == SHUFFLE_KEYS_ALL;
	struct shuffle_key_value *got;
	struct shuffle_coll *c;
	size_t n;
	/* where all receive, member 0 tells the others, and waits for the one that is gone */
	int error = t->root == SHUFFLE_KEYS_ALL && !rank ? ETIMEDOUT : t->error;
	int fd, rc;

	c = join(m, count, rank, &fd, STEP_MS);
	/* all are there when it begins */
	if (!c || shuffle_barrier(c))
		return 1;
	shuffle_coll_timeout(c, atoi(arg) < 100 ? GONE_MS : 8 * GONE_MS);
	if (t->error == ECONNRESET && guilty)
		return leave(c, fd, 0);
	if (t->error != EMSGSIZE)
		o.max_records = 0;
	k.flags = o.flags;
	fill(&k, rank, 1);
	n = t->records;
	if (guilty && t->error == EINVAL) {
		k.flags = 0;
		fill(&k, rank, 1);
	}
	if (guilty && t->error == EPROTO)
		o.oper = SHUFFLE_KEYS_MAX;
	errno = 0;
	rc = shuffle_reduce_by_key(c, raw[rank], n, &got, &n, &o, t->root, &fault);
	if (root && !(rc == -1 && errno == error && fault.error == t->error &&
		      fault.rank == t->rank && !got)) {
		printf("# member %u: %d, %s, member %d: %s\n", rank, rc, strerror(errno),
		       (int)fault.rank, fault.text);
		fflush(stdout);
		leave(c, fd, 0);
		return 1;
	}
	leave(c, fd, 0);
	return 0;
}

static void test_refused(void)
{
	struct shuffle_keys_options o = { .size = sizeof(o), .oper = SHUFFLE_KEYS_SUM };
	struct shuffle_key_value one = { 1, 2 }, *got;
	struct sockaddr_shuffle m;
	struct shuffle_coll *c;
	size_t n;
	int fd;

	my_addr(&m);
	c = join(&m, 1, 0, &fd, STEP_MS);
	if (!c) {
		printf("Bail out! no group: %s\n", strerror(errno));
		exit(1);
	}
	FAILS(shuffle_reduce_by_key(c, &one, 1, &got, &n, &o, 1, NULL), "no such receiver", EINVAL);
	o.oper = SHUFFLE_KEYS_OPERS;
	FAILS(shuffle_reduce_by_key(c, &one, 1, &got, &n, &o, 0, NULL), "no such operator", EINVAL);
	o.oper = SHUFFLE_KEYS_SUM;
	o.flags = 2;
	FAILS(shuffle_reduce_by_key(c, &one, 1, &got, &n, &o, 0, NULL), "no such flag", EINVAL);
	o.flags = SHUFFLE_KEYS_SORTED;
	FAILS(shuffle_partition_by_key(c, &one, 1, &got, &n, &o, NULL), "sorted parts", EINVAL);
	o.flags = 0;
	o.table_bytes = 100;
	FAILS(shuffle_reduce_by_key(c, &one, 1, &got, &n, &o, 0, NULL), "a small table", EINVAL);
	o.table_bytes = 0;
	o.size = 4;
	FAILS(shuffle_reduce_by_key(c, &one, 1, &got, &n, &o, 0, NULL), "half of the options",
	      EINVAL);
	o.size = sizeof(o);
	WORKS(!shuffle_reduce_by_key(c, &one, 1, &got, &n, &o, 0, NULL) && EXPECT_EQ(n, 1) &&
	      EXPECT_EQ(got->value, 2), "the group still works");
	free(got);
	leave(c, fd, 0);
}

/* Words w<rank>, w<rank + 1> and one that all have: all have the same list, or the root has it. */
static int member_names(const struct sockaddr_shuffle *m, unsigned int count, unsigned int rank,
			const char *arg)
{
	unsigned int root = *arg ? SHUFFLE_KEYS_ALL : count - 1, i;
	bool receiver = root == SHUFFLE_KEYS_ALL || root == rank;
	struct shuffle_key_names *names = shuffle_key_names_new(64, 0);
	const struct shuffle_key_name *found;
	struct shuffle_keys_fault fault;
	static char text[20000];	/* a chunk has few of them */
	struct shuffle_coll *c;
	size_t len;
	int fd, rc;

	c = join(m, count, rank, &fd, STEP_MS);
	if (!c || !names)
		return 1;
	memset(text, 'x', sizeof(text));
	rc = !shuffle_key_of(names, "all", 3, NULL) || !shuffle_key_of(names, "", 0, NULL);
	for (i = 0; i < 2; i++) {
		len = snprintf(text, 16, "w%u", (rank + i) % count);
		rc |= !shuffle_key_of(names, text, sizeof(text) - len, NULL);
	}
	rc |= shuffle_reduce_names(c, names, root, &fault);
	if (rc)
		printf("# member %u: %s\n", rank, fault.text);
	for (i = 0; receiver && i < count; i++) {
		len = snprintf(text, 16, "w%u", i);
		found = shuffle_key_of(names, text, sizeof(text) - len, NULL);
		rc |= !found || shuffle_key_find(names, found->key) != found;
	}
	rc |= receiver && shuffle_key_at(names, count + 2);
	if (rc)
		printf("# member %u of %u: not the strings of all\n", rank, count);
	fflush(stdout);
	shuffle_key_names_free(names);
	return leave(c, fd, rc);
}

static void test_names(void)
{
	struct shuffle_key_names *names = shuffle_key_names_new(8, 1 << 20);
	struct shuffle_keys_fault fault;
	static char text[40000];
	struct shuffle_key_name *e;
	unsigned int i;

	FAILS(shuffle_key_names_new(0, 0) ? 0 : -1, "keys without bits", EINVAL);
	FAILS(shuffle_key_names_new(65, 0) ? 0 : -1, "keys of 65 bits", EINVAL);
	e = shuffle_key_of(names, "beta", 4, &fault);
	WORKS(e && EXPECT_LT(e->key, 256) && EXPECT_EQ(e->len, 4) && EXPECT_MEM(e->name, "beta", 4),
	      "a string");
	e->value = 7;
	WORKS_EQ(shuffle_key_of(names, "beta", 4, &fault)->value, 7, "the same one again");
	FAILS(shuffle_key_of(names, "psi", 3, &fault) ? 0 : -1, "another with its key", ENOTUNIQ);
	WORKS(EXPECT_ERRNO(fault.error, ENOTUNIQ) && strstr(fault.text, "\"beta\" and \"psi\""),
	      "both named");
	FAILS(shuffle_key_of(names, text, sizeof(text), NULL) ? 0 : -1, "a long string",
	      ENAMETOOLONG);
	shuffle_key_names_free(names);
	names = shuffle_key_names_new(64, 1 << 20);
	for (i = 0; i < 100; i++) {
		snprintf(text, 16, "%u", i);
		if (!shuffle_key_of(names, text, 30000, NULL))
			break;
	}
	WORKS(EXPECT_GT(i, 20) && EXPECT_LT(i, 100), "more than there is memory for");
	shuffle_key_names_free(names);
}

int main(int argc, char **argv)
{
	static const unsigned int groups[2][3] = { { 2, 4, 8 }, { 1, 3, 5 } };
	char text[64], arg[16];
	unsigned int i, n;
	bool ok;

	api_start(argc, argv);
	test_refused();
	test_names();
	for (i = 0; i < 3; i++) {
		n = groups[v6][i];
		snprintf(text, sizeof(text), "%u members: operators, modes, receivers", n);
		WORKS(api_group(n, member_calls, NULL), text);
		snprintf(text, sizeof(text), "%u members: each its own keys", n);
		WORKS(api_group(n, member_parts, NULL), text);
		snprintf(text, sizeof(text), "%u members: strings", n);
		WORKS(api_group(n, member_names, ""), text);
		WORKS(api_group(n, member_names, "all"), text);
	}
	for (i = v6; i < sizeof(troubles) / sizeof(troubles[0]); i += 2) {
		snprintf(arg, sizeof(arg), "%u", i);
		ok = api_group(troubles[i].count, member_trouble, arg);
		/* a machine that stood still in between is no fault */
		snprintf(arg, sizeof(arg), "%u", i + 100);
		ok = ok || api_group(troubles[i].count, member_trouble, arg);
		WORKS(ok, troubles[i].name);
	}
	return api_finish();
}
