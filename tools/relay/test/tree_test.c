// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trees of members that all are in this process, over sockets of fake.c: every seed is another
 * order of events.
 *
 *	tree_test [SEEDS]
 */
#include <errno.h>

#include "fake.h"
#include "shuffle_tree.h"
#include "tap.h"

#define MEMBERS	8
#define OPS	12

/* 0 is the receiver, 1 and 2 are relays, 3 merges and sends, 4 to 7 send. */
static const uint32_t parent[MEMBERS] = { SHUFFLE_TREE_NOBODY, 0, 1, 0, 2, 2, 3, 1 };

static bool is_relay(uint32_t rank)
{
	return rank == 1 || rank == 2;
}

/**
 * struct world - a tree that runs
 * @t: members; NULL: gone
 * @end: how an operation has ended at a member; op_id 0: not yet
 * @record: of each sender in each operation
 * @records: their number
 * @oper: operator
 * @flags: of all
 * @other: that member has another operator
 * @bytes: memory of each
 */
struct world {
	struct shuffle_tree *t[MEMBERS];
	struct shuffle_tree_end end[MEMBERS][OPS + 1];
	struct shuffle_key_value *record[MEMBERS][OPS + 1];
	size_t records[MEMBERS][OPS + 1];
	uint32_t oper, flags, other;
	uint64_t bytes;
	unsigned int ops;
};

static int by_key(const void *a, const void *b)
{
	const struct shuffle_key_value *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void open_member(struct world *w, uint32_t rank)
{
	static struct shuffle_edge edge[MEMBERS];
	uint32_t child[MEMBERS], i;
	uint64_t senders = 0xf8;
	struct shuffle_tree_spec spec = {
		.size = sizeof(spec), .rank = rank, .members = edge, .count = MEMBERS,
		.parent = parent[rank], .child = child, .oper = w->oper, .flags = w->flags,
		.max_bytes = w->bytes, .table_records = 500, .idle_ms = 20000,
		.senders = rank ? NULL : &senders,
	};

	if (rank == w->other)
		spec.oper = SHUFFLE_KEYS_OR;
	if (is_relay(rank))
		spec.flags |= SHUFFLE_TREE_RELAY;
	for (i = 0; i < MEMBERS; i++)
		if (parent[i] == rank)
			child[spec.children++] = i;
	w->t[rank] = shuffle_tree_open(&spec);
}

static void start(struct world *w, uint32_t rank, unsigned int op, size_t most, uint64_t keys)
{
	struct shuffle_key_value *r = NULL;
	size_t n = 0, i;

	if (rank) {
		n = fake_draw() % (most + 1);
		r = calloc(n + 1, sizeof(*r));
		for (i = 0; i < n; i++) {
			r[i].key = fake_draw() % keys;
			r[i].value = fake_draw();
		}
		if (w->flags & SHUFFLE_KEYS_SORTED)
			qsort(r, n, sizeof(*r), by_key);
	}
	w->record[rank][op] = r;
	w->records[rank][op] = n;
	EXPECT_EQ(shuffle_tree_start(w->t[rank], op, r, n), 0);
}

/* Everybody begins all, in another order each. */
static void start_all(struct world *w, size_t most, uint64_t keys)
{
	unsigned int op, shift;
	uint32_t rank;

	for (rank = 0; rank < MEMBERS; rank++) {
		shift = fake_draw() % w->ops;
		for (op = 1; op <= w->ops && !is_relay(rank); op++)
			start(w, rank, 1 + (op + shift) % w->ops, most, keys);
	}
}

static void open_world(struct world *w, uint64_t seed, uint32_t oper, uint32_t flags)
{
	uint32_t rank;

	fake_reset(seed);
	memset(w, 0, sizeof(*w));
	w->oper = oper;
	w->flags = flags;
	w->other = MEMBERS;
	w->ops = OPS;
	w->bytes = 8 << 20;
	for (rank = 0; rank < MEMBERS; rank++)
		open_member(w, rank);
}

static void step(struct world *w)
{
	struct shuffle_tree_end end;
	uint32_t rank;

	for (rank = 0; rank < MEMBERS; rank++) {
		if (!w->t[rank] || fake_draw() % 3 == 0)
			continue;
		while (shuffle_tree_wait(w->t[rank], &end, 0) == 1) {
			EXPECT_EQ(w->end[rank][end.op_id].op_id, 0);
			w->end[rank][end.op_id] = end;
		}
	}
	fake_deliver();
}

static bool all_ended(const struct world *w)
{
	uint32_t rank;
	unsigned int op;

	for (rank = 0; rank < MEMBERS; rank++)
		for (op = 1; op <= w->ops; op++)
			if (w->t[rank] && !is_relay(rank) && !w->end[rank][op].op_id)
				return false;
	return true;
}

static void run(struct world *w, unsigned int steps)
{
	unsigned int i;

	for (i = 0; i < steps && !all_ended(w); i++)
		step(w);
}

static uint64_t both(uint32_t oper, uint64_t a, uint64_t b)
{
	if (oper == SHUFFLE_KEYS_MIN)
		return (int64_t)a < (int64_t)b ? a : b;
	return a + b;
}

/* The receiver's result against a sort of everything. */
static void check(const struct world *w, unsigned int op)
{
	const struct shuffle_tree_end *e = &w->end[0][op];
	struct shuffle_key_value *all;
	size_t n = 0, m = 0, i;
	uint32_t rank;

	for (rank = 1; rank < MEMBERS; rank++)
		n += w->records[rank][op];
	all = calloc(n + 1, sizeof(*all));
	for (rank = 1, n = 0; rank < MEMBERS; rank++) {
		if (w->records[rank][op])
			memcpy(all + n, w->record[rank][op], w->records[rank][op] * sizeof(*all));
		n += w->records[rank][op];
	}
	for (i = 0; i < n && w->oper == SHUFFLE_KEYS_COUNT; i++)
		all[i].value = 1;
	qsort(all, n, sizeof(*all), by_key);
	for (i = 0; i < n; i++) {
		if (m && all[m - 1].key == all[i].key && w->oper != SHUFFLE_KEYS_NONE)
			all[m - 1].value = both(w->oper, all[m - 1].value, all[i].value);
		else
			all[m++] = all[i];
	}
	EXPECT_EQ(e->results, m);
	if (e->result)
		qsort(e->result, e->results, sizeof(*all), by_key);
	if (e->results == m && m)
		EXPECT_EQ(memcmp(e->result, all, m * sizeof(*all)), 0);
	free(all);
}

static void expect_all(struct world *w, int error, uint32_t blamed)
{
	unsigned int op;
	uint32_t rank;

	for (op = 1; op <= w->ops; op++) {
		for (rank = 0; rank < MEMBERS; rank++) {
			if (!w->t[rank] || is_relay(rank))
				continue;
			EXPECT_EQ(w->end[rank][op].op_id, op, "member %u", rank);
			EXPECT_EQ(w->end[rank][op].fault.error, error, "member %u: %s", rank,
				  w->end[rank][op].fault.text);
			if (error && blamed < MEMBERS)
				EXPECT_EQ(w->end[rank][op].fault.rank, blamed, "member %u: %s",
					  rank, w->end[rank][op].fault.text);
		}
		if (!error)
			check(w, op);
	}
}

static void close_world(struct world *w)
{
	struct shuffle_tree_counts c;
	unsigned int i, op;
	uint32_t rank;

	for (i = 0; i < 2000; i++)
		step(w);
	for (rank = 0; rank < MEMBERS; rank++) {
		if (!w->t[rank])
			continue;
		shuffle_tree_count(w->t[rank], &c);
		EXPECT_EQ(c.running, 0, "member %u", rank);
		EXPECT_EQ(c.memory, 0, "member %u", rank);
		shuffle_tree_close(w->t[rank]);
	}
	for (rank = 0; rank < MEMBERS; rank++) {
		for (op = 0; op <= OPS; op++) {
			free(w->end[rank][op].result);
			free(w->record[rank][op]);
		}
	}
}

#define STEPS	200000

static void test_sums(unsigned int seeds)
{
	static const uint32_t opers[] = { SHUFFLE_KEYS_SUM, SHUFFLE_KEYS_NONE, SHUFFLE_KEYS_MIN,
					  SHUFFLE_KEYS_COUNT };
	static const uint64_t keys[] = { 1, 300, 1ULL << 38 };
	struct world w;
	unsigned int s;

	for (s = 0; s < seeds; s++) {
		open_world(&w, s, opers[s % 4], s / 4 % 2 ? 0 : SHUFFLE_KEYS_SORTED);
		start_all(&w, s % 5 ? 3000 : 30000, keys[s % 3]);
		run(&w, STEPS);
		expect_all(&w, 0, 0);
		close_world(&w);
	}
	tap_done("results");
	for (s = 0; s < seeds; s++) {
		open_world(&w, s, SHUFFLE_KEYS_SUM, s % 2 ? 0 : SHUFFLE_KEYS_SORTED);
		close_world(&w);
		open_world(&w, s, SHUFFLE_KEYS_SUM, s % 2 ? 0 : SHUFFLE_KEYS_SORTED);
		shuffle_tree_close(w.t[1]);
		w.bytes = 1;
		open_member(&w, 1);
		start_all(&w, 5000, 1000);
		run(&w, STEPS);
		expect_all(&w, 0, 0);
		close_world(&w);
	}
	tap_done("little memory");
}

static void test_faults(unsigned int seeds)
{
	struct world w;
	unsigned int s, i, op;

	for (s = 0; s < seeds; s++) {
		open_world(&w, s, SHUFFLE_KEYS_SUM, s % 2 ? 0 : SHUFFLE_KEYS_SORTED);
		w.ops = 3;
		start_all(&w, 100000, 1ULL << 38);
		for (i = 0; i < 20 + s % 50; i++)
			step(&w);
		/* 5 dies: 2 knows it, and tells */
		shuffle_tree_close(w.t[5]);
		w.t[5] = NULL;
		run(&w, 3000);
		for (op = 1; op <= w.ops; op++) {
			/* an operation whose beginning 2 has not heard of waits for the next 5 */
			if (!w.end[0][op].op_id)
				shuffle_tree_cancel(w.t[0], op);
			else if (w.end[0][op].fault.error)
				EXPECT_EQ(w.end[0][op].fault.rank, 5, "%s",
					  w.end[0][op].fault.text);
		}
		run(&w, STEPS);
		EXPECT_EQ(all_ended(&w), true);
		close_world(&w);
	}
	tap_done("a member that dies is named");
	for (s = 0; s < seeds; s++) {
		open_world(&w, s, SHUFFLE_KEYS_SUM, s % 2 ? 0 : SHUFFLE_KEYS_SORTED);
		start_all(&w, 100000, 1ULL << 38);
		for (i = 0; i < s * 7; i++)
			step(&w);
		for (i = 1; i <= OPS; i++)
			shuffle_tree_cancel(w.t[0], i);
		run(&w, STEPS);
		for (op = 1; op <= OPS; op++)
			for (i = 0; i < MEMBERS; i++)
				if (!is_relay(i) && w.end[0][op].fault.error)
					EXPECT_EQ(w.end[i][op].fault.error, ECANCELED,
						  "member %u", i);
		EXPECT_EQ(all_ended(&w), true);
		close_world(&w);
	}
	tap_done("given up");
	for (s = 0; s < seeds; s++) {
		open_world(&w, s, SHUFFLE_KEYS_SUM, s % 2 ? 0 : SHUFFLE_KEYS_SORTED);
		w.other = 5;
		shuffle_tree_close(w.t[5]);
		open_member(&w, 5);
		start_all(&w, 3000, 100);
		run(&w, STEPS);
		expect_all(&w, EPROTO, 5);
		close_world(&w);
	}
	tap_done("another operator");
	for (s = 0; s < seeds; s++) {
		open_world(&w, s, SHUFFLE_KEYS_SUM, SHUFFLE_KEYS_SORTED);
		w.ops = 1;
		start_all(&w, 0, 1);
		shuffle_tree_close(w.t[4]);
		memset(&w.end[4], 0, sizeof(w.end[4]));
		open_member(&w, 4);
		w.records[4][1] = 3;
		free(w.record[4][1]);
		w.record[4][1] = calloc(3, sizeof(*w.record[4][1]));
		w.record[4][1][0].key = 7;
		w.record[4][1][1].key = 3;
		EXPECT_EQ(shuffle_tree_start(w.t[4], 1, w.record[4][1], 3), 0);
		run(&w, STEPS);
		expect_all(&w, EINVAL, 4);
		close_world(&w);
	}
	tap_done("records that are not sorted");
}

#define WIDE	(2 + SHUFFLE_TREE_CHILDREN)

/* A relay with so many children that hardly anything stands by for each. */
static void open_wide(struct shuffle_tree **t, uint32_t children, uint64_t bytes)
{
	static struct shuffle_edge edge[WIDE];
	uint32_t rank, child[WIDE], i;

	for (i = 0; i < children; i++)
		child[i] = 2 + i;
	for (rank = 0; rank < 2 + children; rank++) {
		static const uint32_t relay = 1;
		struct shuffle_tree_spec spec = {
			.size = sizeof(spec), .rank = rank, .members = edge, .count = 2 + children,
			.parent = rank ? rank != 1 : SHUFFLE_TREE_NOBODY,
			.child = rank ? child : &relay,
			.children = rank == 1 ? children : !rank,
			.oper = SHUFFLE_KEYS_SUM,
			.flags = SHUFFLE_KEYS_SORTED | (rank == 1 ? SHUFFLE_TREE_RELAY : 0),
			.max_bytes = bytes,
		};

		t[rank] = shuffle_tree_open(&spec);
		EXPECT_EQ(!!t[rank], 1, "member %u: %s", rank, strerror(errno));
	}
}

static void wide(uint32_t children, uint64_t seed, uint64_t bytes)
{
	static struct shuffle_tree *t[WIDE];
	static struct shuffle_key_value own[WIDE][OPS][3];
	struct shuffle_tree_counts c;
	unsigned int left = OPS, op, i, steps = 0;
	struct shuffle_tree_end end;
	uint32_t rank;

	fake_reset(seed);
	open_wide(t, children, bytes);
	for (rank = 0; rank < 2 + children; rank++) {
		for (op = 0; op < OPS && rank != 1; op++) {
			for (i = 0; i < 3; i++) {
				own[rank][op][i].key = i;
				own[rank][op][i].value = rank * (op + 1);
			}
			i = 1 + (op * 5 + rank * 7) % OPS;
			EXPECT_EQ(shuffle_tree_start(t[rank], i, rank ? own[rank][i - 1] : NULL,
						     rank ? 3 : 0), 0);
		}
	}
	while (left && steps++ < 20000) {
		for (rank = 0; rank < 2 + children; rank++) {
			if (fake_draw() % 3 == 0 ||
			    shuffle_tree_wait(t[rank], &end, 0) != 1 || rank)
				continue;
			EXPECT_EQ(end.fault.error, 0, "%s", end.fault.text);
			EXPECT_EQ(end.results, 3);
			for (i = 0; i < end.results; i++)
				EXPECT_EQ(end.result[i].value,
					  end.op_id * (children * (children + 3) / 2));
			free(end.result);
			left--;
		}
		fake_deliver();
	}
	EXPECT_EQ(left, 0, "%u children", children);
	shuffle_tree_count(t[1], &c);
	/* what the man page says of the one with the lowest id, and as much for first chunks */
	EXPECT_EQ(c.memory_most > bytes + 2 * (uint64_t)children * (33 << 10), 0,
		  "%u children: %llu bytes", children, (unsigned long long)c.memory_most);
	for (rank = 0; rank < 2 + children; rank++)
		shuffle_tree_close(t[rank]);
}

static void test_wide(unsigned int seeds)
{
	unsigned int s;

	for (s = 0; s < seeds; s += 4) {
		wide(45, s, 8 << 20);
		wide(46, s, 8 << 20);
		wide(SHUFFLE_TREE_CHILDREN, s, 1 << 20);
	}
	tap_done("many children");
}

int main(int argc, char **argv)
{
	unsigned int seeds = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;

	test_sums(seeds);
	test_faults(seeds);
	test_wide(seeds);
	return tap_finish();
}
