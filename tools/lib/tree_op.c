// SPDX-License-Identifier: BSD-3-Clause
/* An operation of a tree at one member: what begins it, what is said of it, and how it ends. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tree.h"

/* ranks that a text names */
#define NAMED	8U

/* ---- operations ---- */

struct tree_op *tree_op_find(struct shuffle_tree *t, uint64_t id)
{
	struct tree_op *op;

	for (op = t->ops; op && op->id < id; op = op->next)
		;
	return op && op->id == id ? op : NULL;
}

/* How it has ended, if it has lately. */
const struct shuffle_keys_fault *tree_op_ended(const struct shuffle_tree *t, uint64_t id)
{
	uint32_t i, n = t->ended_n < TREE_ENDED ? t->ended_n : TREE_ENDED;

	for (i = 0; i < n; i++)
		if (t->ended[i].id == id)
			return &t->ended[i].fault;
	return NULL;
}

void tree_op_remember(struct shuffle_tree *t, uint64_t id, const struct shuffle_keys_fault *fault)
{
	struct tree_ended *e = &t->ended[t->ended_n++ % TREE_ENDED];

	e->id = id;
	e->fault = *fault;
	e->untold = fault->error && t->parent && t->parent->state != TREE_OPEN;
	/* the first ones stay valid */
	if (t->ended_n == 2 * TREE_ENDED)
		t->ended_n = TREE_ENDED;
}

/* Our parent is there: it hears of what has failed meanwhile. */
void tree_ops_tell(struct shuffle_tree *t)
{
	uint32_t i;

	for (i = 0; i < TREE_ENDED; i++) {
		struct tree_ended *e = &t->ended[i];

		if (e->untold)
			tree_tell(t, t->parent, TREE_END, e->fault.error, e->id, &e->fault);
		e->untold = false;
	}
}

/* NULL: ENOMEM, or ENOBUFS: too many */
struct tree_op *tree_op_new(struct shuffle_tree *t, uint64_t id)
{
	struct tree_op *op, **at;
	uint32_t i;

	errno = ENOBUFS;
	if (t->nr_ops >= TREE_OPS)
		return NULL;
	op = calloc(1, sizeof(*op));
	if (!op)
		return NULL;
	op->id = id;
	op->out_end = &op->out;
	op->moved_ms = t->now_ms;
	op->fault.rank = SHUFFLE_TREE_NOBODY;
	op->inputs = t->spec.children;
	op->input = calloc(op->inputs + 1, sizeof(*op->input));
	op->set = calloc(t->words, sizeof(*op->set));
	if (!op->input || !op->set) {
		free(op->input);
		free(op->set);
		free(op);
		return NULL;
	}
	for (i = 0; i < op->inputs; i++) {
		op->input[i].edge = &t->edge[i];
		op->input[i].granted = 1;
		op->input[i].told_ms = t->now_ms;
	}
	for (at = &t->ops; *at && (*at)->id < id; at = &(*at)->next)
		;
	op->next = *at;
	*at = op;
	t->nr_ops++;
	return op;
}

static void free_table(struct shuffle_tree *t, struct tree_op *op)
{
	if (op->table.pair)
		tree_memory(t, -(int64_t)shuffle_merge_table_bytes(op->table.max));
	free(op->table.pair);
	op->table.pair = NULL;
}

/* What it does not need any more when all has left. */
void tree_op_release(struct shuffle_tree *t, struct tree_op *op)
{
	struct tree_msg *m;
	uint32_t i;

	for (i = 0; i < op->inputs; i++) {
		while ((m = op->input[i].head)) {
			op->input[i].head = m->next;
			m->taken = false;
			/* else the rest of it is still to come */
			if (m->have == m->size)
				tree_msg_free(t, m);
		}
	}
	while ((m = op->out)) {
		op->out = m->next;
		tree_msg_free(t, m);
	}
	op->out_end = &op->out;
	if (op->chunk)
		tree_msg_free(t, op->chunk);
	op->chunk = NULL;
	free_table(t, op);
	free(op->own);
	op->own = NULL;
	if (op->admitted)
		t->admitted--;
	op->admitted = false;
}

void tree_op_free(struct shuffle_tree *t, struct tree_op *op)
{
	struct tree_op **at;

	for (at = &t->ops; *at != op; at = &(*at)->next)
		;
	*at = op->next;
	t->nr_ops--;
	tree_op_release(t, op);
	if (op->in_slot && t->parent)
		t->parent->slots -= !!t->parent->slots;
	free(op->result);
	free(op->input);
	free(op->set);
	free(op);
}

/* ---- the end ---- */

/* It has ended, here and at all neighbours but @from, who knows. */
void tree_op_fault(struct shuffle_tree *t, struct tree_op *op,
		   const struct shuffle_keys_fault *fault, struct tree_edge *from)
{
	uint32_t i;

	if (op->ended)
		return;
	op->ended = true;
	op->fault = *fault;
	if (fault->error) {
		t->counts.failed++;
		t->counts.last_op = op->id;
		t->counts.last = *fault;
	} else {
		t->counts.done++;
	}
	if (fault->error && t->parent && t->parent != from)
		tree_tell(t, t->parent, TREE_END, fault->error, op->id, fault);
	for (i = 0; i < t->spec.children; i++)
		if (&t->edge[i] != from)
			tree_tell(t, &t->edge[i], TREE_END, fault->error, op->id, fault);
	tree_op_remember(t, op->id, fault);
	if (op->begun)
		tree_report(t, op);
	t->dirty = true;
}

void tree_op_fail(struct shuffle_tree *t, struct tree_op *op, int error, uint32_t rank,
		  const char *format, ...)
{
	struct shuffle_keys_fault fault = { .error = error ? error : EIO, .rank = rank };
	va_list args;

	va_start(args, format);
	vsnprintf(fault.text, sizeof(fault.text), format, args);
	va_end(args);
	tree_op_fault(t, op, &fault, NULL);
}

void tree_op_no_memory(struct shuffle_tree *t, struct tree_op *op)
{
	tree_op_fail(t, op, ENOMEM, t->spec.rank, "member %u: no memory", t->spec.rank);
}

/* A neighbour is gone: what needs it has failed. */
void tree_ops_lost(struct shuffle_tree *t, struct tree_edge *e, int error)
{
	struct tree_op *op;
	uint32_t i;

	for (op = t->ops; op; op = op->next) {
		bool needs = e->up && op->begun;

		for (i = 0; i < t->spec.children && !e->up; i++) {
			const struct tree_input *in = &op->input[i];
			const struct tree_msg *m;

			if (in->edge != e || in->ended)
				continue;
			/* has all of it come? */
			for (m = in->head; m && m->next; m = m->next)
				;
			needs = in->started && !(m && m->last && m->have == m->size);
			/* what waits for a child that is not there may wait for its next life */
		}
		if (needs && !op->ended)
			tree_op_fail(t, op, error == ECANCELED ? ECONNRESET : error, e->rank,
				     "member %u has left, or nothing comes through to it", e->rank);
		else if (e->up && op->in_slot)
			op->in_slot = false;
	}
	if (e->up)
		e->slots = 0;
}

/* Which members have not been heard enough of, in words. */
void tree_op_idle(struct shuffle_tree *t, struct tree_op *op)
{
	uint32_t i, n = 0, first = SHUFFLE_TREE_NOBODY;
	char who[96] = "";
	size_t at = 0;

	for (i = 0; i < t->spec.children; i++) {
		const struct tree_input *in = &op->input[i];

		if (in->ended || (in->head && in->head->chunk == in->next &&
				  in->head->have == in->head->size))
			continue;
		if (!n++)
			first = in->edge->rank;
		if (n <= NAMED)
			at += snprintf(who + at, sizeof(who) - at, "%s%u", n > 1 ? ", " : "",
				       in->edge->rank);
	}
	if (!op->begun && tree_is_root(t))
		tree_op_fail(t, op, ETIMEDOUT, t->spec.rank,
			     "member %u, the receiver, has not begun", t->spec.rank);
	else if (n)
		tree_op_fail(t, op, ETIMEDOUT, first, "member %s%s: nothing comes", who,
			     n > NAMED ? " and others" : "");
	else
		tree_op_fail(t, op, ETIMEDOUT, t->parent ? t->parent->rank : t->spec.rank,
			     "member %u takes nothing", t->parent ? t->parent->rank : t->spec.rank);
}

/* ---- messages ---- */

static const char *oper_name(unsigned int oper)
{
	static const char *const name[] = {
		"none", "sum", "min", "max", "count", "sumcount", "or", "and",
	};

	return oper < sizeof(name) / sizeof(*name) ? name[oper] : "another";
}

/* The first chunk says what must be the same here: 0, or -1. */
static int check_first(struct shuffle_tree *t, struct tree_op *op, struct tree_edge *e,
		       const struct tree_msg *m)
{
	const unsigned char *p = m->data + TREE_HEAD;
	bool known = m->size >= TREE_HEAD + TREE_FIRST_HEAD;
	uint32_t i;

	if (known && p[0] != t->spec.oper)
		tree_op_fail(t, op, EPROTO, e->rank,
			     "member %u has operator %s, member %u has %s", e->rank,
			     oper_name(p[0]), t->spec.rank, oper_name(t->spec.oper));
	else if (known && p[1] != t->spec.flags)
		tree_op_fail(t, op, EPROTO, e->rank, "member %u %s records, member %u does%s",
			     e->rank, p[1] & SHUFFLE_KEYS_SORTED ? "sorts" : "does not sort",
			     t->spec.rank, tree_is_sorted(t) ? "" : " not");
	else if (known && shuffle_get64(p + 8) != t->spec.tree)
		tree_op_fail(t, op, EPROTO, e->rank, "member %u has plan %llu, member %u has %llu",
			     e->rank, (unsigned long long)shuffle_get64(p + 8), t->spec.rank,
			     (unsigned long long)t->spec.tree);
	else if (!known || shuffle_get16(p + 2) != SHUFFLE_PAIR_BYTES ||
		 shuffle_get32(p + 4) != t->count || m->size < m->begin || m->chunk)
		tree_op_fail(t, op, EPROTO, e->rank, "member %u has other records or another group",
			     e->rank);
	for (i = 0; i < t->words && !op->ended; i++) {
		uint64_t set = shuffle_get64(p + TREE_FIRST_HEAD + 8 * i), twice = set & op->set[i];

		if (twice)
			tree_op_fail(t, op, EBADMSG, 64 * i + __builtin_ctzll(twice),
				     "member %u comes twice, the second time from member %u",
				     64 * i + __builtin_ctzll(twice), e->rank);
		op->set[i] |= set;
	}
	return op->ended ? -1 : 0;
}

/* A chunk, or the beginning of one. */
void tree_op_data(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m)
{
	uint64_t id = shuffle_get64(m->data + 8);
	struct tree_op *op = tree_op_find(t, id);
	const struct shuffle_keys_fault *ended;
	struct tree_msg **at;
	struct tree_input *in;

	if (e->up)
		return;
	ended = op ? NULL : tree_op_ended(t, id);
	/* one that was not there when the others heard of it */
	if (ended && ended->error && m->data[3] & TREE_FIRST)
		tree_tell(t, e, TREE_END, ended->error, id, ended);
	if (!op && !ended) {
		op = tree_op_new(t, id);
		if (!op) {
			struct shuffle_keys_fault fault = { .error = errno,
							    .rank = t->spec.rank };

			snprintf(fault.text, sizeof(fault.text), "member %u: too many operations",
				 t->spec.rank);
			tree_tell(t, e, TREE_END, fault.error, id, &fault);
			return;
		}
	}
	if (!op || op->ended || op->out_done)
		return;
	in = &op->input[e - t->edge];
	if (m->data[3] & TREE_FIRST && (in->started || check_first(t, op, e, m)))
		return;
	in->started |= m->data[3] & TREE_FIRST;
	in->last_known |= m->last;
	for (at = &in->head; *at && (*at)->chunk < m->chunk; at = &(*at)->next)
		;
	m->next = *at;
	*at = m;
	m->taken = true;
	op->moved_ms = t->now_ms;
	tree_op_grant(t, op, in);
	t->dirty = true;
}

static void read_fault(const struct tree_msg *m, struct shuffle_keys_fault *fault)
{
	uint32_t text = 0;

	memset(fault, 0, sizeof(*fault));
	fault->rank = SHUFFLE_TREE_NOBODY;
	fault->error = shuffle_get32(m->data + 4) & 0xffff;
	if (!fault->error || m->size < TREE_HEAD + 4)
		return;
	fault->rank = shuffle_get32(m->data + TREE_HEAD);
	text = m->size - TREE_HEAD - 4;
	text = text < sizeof(fault->text) - 1 ? text : sizeof(fault->text) - 1;
	memcpy(fault->text, m->data + TREE_HEAD + 4, text);
}

void tree_op_control(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m)
{
	uint32_t number = shuffle_get32(m->data + 4);
	uint64_t id = shuffle_get64(m->data + 8);
	struct tree_op *op = tree_op_find(t, id);
	struct shuffle_keys_fault fault;

	if (!op && m->data[2] != TREE_GO && !tree_op_ended(t, id) &&
	    (m->data[2] == TREE_WANT || !e->up))
		op = tree_op_new(t, id);
	switch (m->data[2]) {
	case TREE_GO:
		if (!op || !e->up)
			return;
		if (number && op->in_slot) {
			op->in_slot = false;
			e->slots -= !!e->slots;
		}
		op->credit = number > op->credit ? number : op->credit;
		op->moved_ms = t->now_ms;
		break;
	case TREE_WANT:
		if (op && e->up)
			op->wanted = true;
		break;
	case TREE_END:
		read_fault(m, &fault);
		if (!e->up && !fault.error)
			return;
		if (op)
			tree_op_fault(t, op, &fault, e);
		else if (!tree_op_ended(t, id))
			tree_op_remember(t, id, &fault);
		break;
	}
	t->dirty = true;
}

/* ---- from the loop ---- */

/* It has memory now: more of its streams may come. */
void tree_op_admit(struct shuffle_tree *t, struct tree_op *op)
{
	uint32_t i;

	op->admitted = true;
	op->moved_ms = t->now_ms;
	t->admitted++;
	for (i = 0; i < t->spec.children; i++)
		if (op->input[i].started)
			tree_op_grant(t, op, &op->input[i]);
}

/* The one with the lowest id is never held up: children whose slots others have send its first
 * chunk all the same.
 */
void tree_op_want(struct shuffle_tree *t, struct tree_op *op)
{
	const struct tree_op *other;
	uint32_t i, n;

	for (i = 0; i < t->spec.children; i++) {
		struct tree_input *in = &op->input[i];

		if (in->started || in->wanted)
			continue;
		/* the child has heard nothing of these yet */
		for (other = t->ops, n = 0; other; other = other->next)
			n += other->input[i].started && other->input[i].granted == 1;
		if (n < t->slots && !op->wanted)
			continue;
		in->wanted = true;
		tree_tell(t, in->edge, TREE_WANT, 0, op->id, NULL);
	}
}

/* The program's part: 0, or -1. */
int tree_op_begin(struct shuffle_tree *t, struct tree_op *op,
		  const struct shuffle_key_value *record, size_t records)
{
	uint32_t rank = t->spec.rank;

	if (record) {
		op->own = malloc(TREE_CHUNK);
		if (!op->own)
			return -1;
		op->set[rank / 64] |= 1ULL << rank % 64;
		op->input[op->inputs++].started = true;
	}
	op->record = record;
	op->records = records;
	op->begun = true;
	op->moved_ms = t->now_ms;
	return 0;
}
