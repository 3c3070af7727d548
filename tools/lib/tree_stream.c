// SPDX-License-Identifier: BSD-3-Clause
/* An operation of a tree at one member: streams in, and what they are merged into. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "keys.h"
#include "tree.h"

/* ---- a stream out ---- */

static bool put_chunk(struct shuffle_tree *t, struct tree_op *op, bool last)
{
	struct tree_msg *m = op->chunk;

	if (last)
		m->data[3] |= TREE_LAST;
	m->size = (op->made == 1 ? TREE_HEAD + TREE_FIRST_HEAD + 8 * t->words : TREE_HEAD) +
		  op->chunk_n * SHUFFLE_PAIR_BYTES;
	m->next = NULL;
	*op->out_end = m;
	op->out_end = &m->next;
	t->counts.records_out += op->chunk_n;
	op->chunk = NULL;
	op->chunk_n = 0;
	op->all_made = last;
	return true;
}

/* Records of a chunk: the first ones of a stream are shorter, so that its merge begins early. */
static uint32_t chunk_most(const struct tree_op *op)
{
	return op->made <= TREE_SHORT ? TREE_CHUNK_RECORDS >> (TREE_SHORT + 1 - op->made) :
					TREE_CHUNK_RECORDS;
}

/* Room for a record at least: where it is, and for how many. */
static unsigned char *chunk_room(struct shuffle_tree *t, struct tree_op *op, uint32_t *room)
{
	uint32_t begin = TREE_HEAD, i;
	struct tree_msg *m;

	if (op->chunk && op->chunk_n == chunk_most(op))
		put_chunk(t, op, false);
	if (!op->chunk) {
		m = tree_msg_new(t, 0);
		if (!m) {
			tree_op_no_memory(t, op);
			return NULL;
		}
		tree_head(m, TREE_DATA, op->made ? 0 : TREE_FIRST, op->made, op->id);
		op->chunk = m;
		op->chunk_n = 0;
		op->made++;
	}
	m = op->chunk;
	if (op->made == 1) {
		unsigned char *p = m->data + TREE_HEAD;

		p[0] = t->spec.oper;
		p[1] = t->spec.flags;
		shuffle_put16(p + 2, SHUFFLE_PAIR_BYTES);
		shuffle_put32(p + 4, t->count);
		shuffle_put64(p + 8, t->spec.tree);
		for (i = 0; i < t->words; i++)
			shuffle_put64(p + TREE_FIRST_HEAD + 8 * i, op->set[i]);
		begin += TREE_FIRST_HEAD + 8 * t->words;
	}
	*room = chunk_most(op) - op->chunk_n;
	return m->data + begin + (size_t)op->chunk_n * SHUFFLE_PAIR_BYTES;
}

static int put_result(struct shuffle_tree *t, struct tree_op *op, const struct shuffle_pair *pair,
		      uint32_t n)
{
	struct shuffle_key_value *more;

	if (op->results + n > op->room) {
		op->room = 2 * op->room + n + TREE_CHUNK_RECORDS;
		more = reallocarray(op->result, op->room, sizeof(*more));
		if (!more) {
			tree_op_no_memory(t, op);
			return -1;
		}
		op->result = more;
	}
	memcpy(op->result + op->results, pair, n * sizeof(*pair));
	op->results += n;
	return 0;
}

static int put(struct shuffle_tree *t, struct tree_op *op, const struct shuffle_pair *pair,
	       uint32_t n)
{
	unsigned char *to;
	uint32_t room;

	if (!n)
		return 0;
	if (tree_is_root(t))
		return put_result(t, op, pair, n);
	for (; n; n -= room, pair += room) {
		to = chunk_room(t, op, &room);
		if (!to)
			return -1;
		room = room < n ? room : n;
		shuffle_merge_store(to, pair, room);
		op->chunk_n += room;
	}
	return 0;
}

/* May the next chunk leave?  The first one may before the parent has memory, if not too many do. */
static bool may_send(struct shuffle_tree *t, struct tree_op *op)
{
	struct tree_edge *e = t->parent;

	if (e->state != TREE_OPEN)
		return false;
	if (op->sent < op->credit)
		return true;
	if (op->sent || (e->slots >= e->most_slots && !op->wanted))
		return false;
	e->slots++;
	op->in_slot = true;
	return true;
}

/* True if nothing waits any more. */
static bool flush(struct shuffle_tree *t, struct tree_op *op)
{
	struct tree_msg *m;

	while ((m = op->out) && may_send(t, op)) {
		op->out = m->next;
		if (!op->out)
			op->out_end = &op->out;
		op->sent++;
		op->moved_ms = t->now_ms;
		tree_send(t, t->parent, m);
	}
	return !op->out;
}

/* ---- streams in ---- */

/* What can be merged of an input now. */
struct view {
	const u8 *data;
	uint32_t n;
	bool all;	/* no more will come */
};

static void own_view(struct shuffle_tree *t, struct tree_op *op, struct view *v)
{
	size_t n = op->records - op->taken;

	if (op->own_at == op->own_n && n) {
		n = n < TREE_CHUNK_RECORDS ? n : TREE_CHUNK_RECORDS;
		keys_first(t->spec.oper, op->own, op->record + op->taken, n);
		op->taken += n;
		op->own_n = n;
		op->own_at = 0;
	}
	v->data = op->own + op->own_at * SHUFFLE_PAIR_BYTES;
	v->n = op->own_n - op->own_at;
	v->all = op->taken == op->records;
}

/* More chunks may come, if many of those that might have. */
void tree_op_grant(struct shuffle_tree *t, struct tree_op *op, struct tree_input *in)
{
	if (!op->admitted || in->last_known || !in->edge ||
	    in->granted - in->next > t->window / 2)
		return;
	in->granted = in->next + t->window;
	in->told_ms = t->now_ms;
	tree_tell(t, in->edge, TREE_GO, in->granted, op->id, NULL);
}

static void view(struct shuffle_tree *t, struct tree_op *op, struct tree_input *in, struct view *v)
{
	struct tree_msg *m;
	uint32_t n;

	memset(v, 0, sizeof(*v));
	if (!in->edge) {
		own_view(t, op, v);
		in->ended = v->all && !v->n;
		return;
	}
	while ((m = in->head) && m->chunk == in->next) {
		n = (m->have - m->begin) / SHUFFLE_PAIR_BYTES;
		v->data = m->data + m->begin + (size_t)in->at * SHUFFLE_PAIR_BYTES;
		v->n = n - in->at;
		v->all = m->last && m->have == m->size;
		if (v->n || m->have < m->size)
			return;
		in->head = m->next;
		in->next++;
		in->at = 0;
		in->ended = m->last;
		tree_msg_free(t, m);
		tree_op_grant(t, op, in);
	}
}

static void take(struct tree_op *op, struct tree_input *in, uint32_t n)
{
	if (in->edge)
		in->at += n;
	else
		op->own_at += n;
}

static uint32_t rank_of(const struct shuffle_tree *t, const struct tree_input *in)
{
	return in->edge ? in->edge->rank : t->spec.rank;
}

static void not_sorted(struct shuffle_tree *t, struct tree_op *op, uint32_t rank)
{
	tree_op_fail(t, op, EINVAL, rank, "member %u: its records are not sorted by key", rank);
}

/* A batch of all inputs: 1: there was one, 0: something has to come first, -1: failed. */
static int merge_batch(struct shuffle_tree *t, struct tree_op *op)
{
	uint64_t bound = UINT64_MAX, last = shuffle_get64(op->carry);
	struct tree_run *run = t->run, *saved = t->saved;
	uint32_t i, n, runs = 0, *used = t->used, left = 0, at;
	struct shuffle_pair *out;
	struct view v;

	for (i = 0; i < op->inputs; i++) {
		struct tree_input *in = &op->input[i];

		if (in->ended)
			continue;
		view(t, op, in, &v);
		if (in->ended)
			continue;
		if (!v.n)
			return 0;
		if (v.n > t->batch_records) {
			v.n = t->batch_records;
			v.all = false;
		}
		run[runs] = (struct tree_run){ v.data, NULL, v.n };
		if (!v.all) {
			uint64_t key = tree_run_key(&run[runs], v.n - 1);

			bound = key < bound ? key : bound;
			left++;
		}
		used[runs++] = i;
	}
	for (i = 0; i < runs; i++) {
		n = left ? tree_run_upto(&run[i], run[i].n, bound) : run[i].n;
		left += n < run[i].n;
		run[i].n = n;
		if (op->carried && n && tree_run_key(&run[i], 0) < last) {
			not_sorted(t, op, rank_of(t, &op->input[used[i]]));
			return -1;
		}
		take(op, &op->input[used[i]], n);
		t->counts.records_in += op->input[used[i]].edge ? n : 0;
	}
	n = runs;
	if (op->carried)
		run[n++] = (struct tree_run){ op->carry, NULL, 1 };
	/* a merge changes them, but not what they were made of */
	memcpy(saved, run, runs * sizeof(*run));
	out = tree_merge_runs(t->spec.oper, run, n, t->batch, &n);
	if (!out) {
		for (i = 0; i < runs; i++)
			if (tree_run_unsorted(&saved[i], 0, false, &at))
				break;
		not_sorted(t, op, rank_of(t, &op->input[used[i < runs ? i : 0]]));
		return -1;
	}
	op->carried = left && n;
	if (op->carried)
		shuffle_merge_store(op->carry, out + --n, 1);
	op->moved_ms = t->now_ms;
	return put(t, op, out, n) ? -1 : runs > 0 && (n || runs);
}

static bool all_started(const struct tree_op *op)
{
	uint32_t i;

	for (i = 0; i < op->inputs; i++)
		if (!op->input[i].started)
			return false;
	return true;
}

static bool all_ended(const struct tree_op *op)
{
	uint32_t i;

	for (i = 0; i < op->inputs; i++)
		if (!op->input[i].ended)
			return false;
	return true;
}

static void run_sorted(struct shuffle_tree *t, struct tree_op *op)
{
	struct shuffle_pair pair;
	int rc = 1;

	while (rc > 0 && !op->ended && !all_ended(op) && (tree_is_root(t) || flush(t, op)))
		rc = merge_batch(t, op);
	if (!op->ended && all_ended(op) && op->carried) {
		shuffle_merge_load(&pair, op->carry, 1);
		op->carried = false;
		put(t, op, &pair, 1);
	}
}

/* A member that only sends: its parent checks the order, and merges. */
static void run_leaf(struct shuffle_tree *t, struct tree_op *op)
{
	unsigned char *to;
	uint32_t room;

	while (op->taken < op->records && flush(t, op)) {
		to = chunk_room(t, op, &room);
		if (!to)
			return;
		room = room < op->records - op->taken ? room : op->records - op->taken;
		keys_first(t->spec.oper, to, op->record + op->taken, room);
		op->taken += room;
		op->chunk_n += room;
		if (op->chunk_n == chunk_most(op) && op->taken < op->records)
			put_chunk(t, op, false);
	}
	op->input[op->inputs - 1].ended = op->taken == op->records;
}

/* ---- in a table ---- */

static int make_table(struct shuffle_tree *t, struct tree_op *op)
{
	struct shuffle_keys_options o = {
		.oper = t->spec.oper,
		.table_bytes = 32ULL * t->spec.table_records,
		.max_records = tree_is_root(t) ? 1U << 16 : t->spec.table_records,
	};

	if (op->table.pair)
		return 0;
	if (keys_table_init(&op->table, &o)) {
		tree_op_no_memory(t, op);
		return -1;
	}
	tree_memory(t, shuffle_merge_table_bytes(op->table.max));
	return 0;
}

/* All that is in the table goes on. */
static int empty_table(struct shuffle_tree *t, struct tree_op *op)
{
	if (put(t, op, op->table.pair, op->table.n))
		return -1;
	shuffle_merge_table_empty(&op->table);
	return 0;
}

/* 1: taken, 0: what is in the table must leave first, -1: failed. */
static int add(struct shuffle_tree *t, struct tree_op *op, struct tree_input *in,
	       const struct view *v)
{
	uint32_t before = op->table.max, n = v->n;

	if (tree_is_root(t)) {
		tree_memory(t, -(int64_t)shuffle_merge_table_bytes(before));
		if (keys_table_add(&op->table, 1ULL << 30, v->data, n)) {
			tree_op_no_memory(t, op);
			return -1;
		}
		tree_memory(t, shuffle_merge_table_bytes(op->table.max));
	} else {
		n = shuffle_merge_add(&op->table, v->data, n);
	}
	take(op, in, n);
	t->counts.records_in += in->edge ? n : 0;
	op->moved_ms = t->now_ms;
	if (n == v->n)
		return 1;
	/* who is in the stream must be known before its first chunk */
	if (!all_started(op) || !flush(t, op))
		return 0;
	return empty_table(t, op) ? -1 : 1;
}

static void run_table(struct shuffle_tree *t, struct tree_op *op)
{
	struct view v;
	uint32_t i;
	int rc;

	if (make_table(t, op))
		return;
	for (i = 0; i < op->inputs; i++) {
		struct tree_input *in = &op->input[i];

		do {
			if (in->ended || op->ended)
				break;
			view(t, op, in, &v);
			rc = v.n ? add(t, op, in, &v) : 0;
		} while (rc > 0);
	}
	if (!op->ended && all_ended(op) && op->table.n && (tree_is_root(t) || flush(t, op)))
		empty_table(t, op);
}

/* ---- all of it ---- */

static void check_set(struct shuffle_tree *t, struct tree_op *op)
{
	uint32_t i, n = 0, first = SHUFFLE_TREE_NOBODY, members = 0;

	for (i = 0; i < t->count; i++) {
		bool is = op->set[i / 64] >> i % 64 & 1;

		members += is;
		if (!t->senders || is == (t->senders[i / 64] >> i % 64 & 1))
			continue;
		if (!n++)
			first = i;
	}
	if (n)
		tree_op_fail(t, op, EBADMSG, first, "member %u is %s in the result%s", first,
			     op->set[first / 64] >> first % 64 & 1 ? "a stranger" : "not",
			     n > 1 ? ", and others" : "");
	else if (t->spec.want_senders && members != t->spec.want_senders)
		tree_op_fail(t, op, EBADMSG, t->spec.rank, "member %u: %u senders, not %u",
			     t->spec.rank, members, t->spec.want_senders);
}

static void finish(struct shuffle_tree *t, struct tree_op *op)
{
	static const struct shuffle_keys_fault none = { .rank = SHUFFLE_TREE_NOBODY };
	uint32_t room;

	if (tree_is_root(t)) {
		check_set(t, op);
		tree_op_fault(t, op, &none, NULL);
		return;
	}
	if (t->spec.want_senders && !op->all_made)
		check_set(t, op);
	if (op->ended)
		return;
	if (!op->all_made) {
		if (!op->chunk && !chunk_room(t, op, &room))
			return;
		put_chunk(t, op, true);
	}
	if (flush(t, op) && !op->out_done) {
		op->out_done = true;
		tree_op_release(t, op);
	}
}

void tree_op_run(struct shuffle_tree *t, struct tree_op *op)
{
	if (op->ended || !op->begun || !op->admitted || op->out_done)
		return;
	if (op->inputs == 1 && !op->input[0].edge && !tree_is_root(t))
		run_leaf(t, op);
	else if (!tree_is_sorted(t))
		run_table(t, op);
	else if (all_started(op))
		run_sorted(t, op);
	if (!op->ended && all_started(op) && all_ended(op) && !op->table.n && !op->carried)
		finish(t, op);
}
