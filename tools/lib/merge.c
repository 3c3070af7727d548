// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Records of a key and a value, merged by key (portable: see merge.h). */
#include "merge.h"

/**
 * shuffle_merge_first() - what is merged of a record that nobody has merged yet
 * @oper: enum shuffle_merge_oper
 * @value: its value
 *
 * Context: any.
 * Return: the value that shuffle_merge_values() and all else here take.
 */
u64 shuffle_merge_first(u8 oper, u64 value)
{
	switch (oper) {
	case SHUFFLE_MERGE_COUNT:
		return 1;
	case SHUFFLE_MERGE_SUMCOUNT:
		return value << 32 | 1;
	}
	return value;
}

/**
 * shuffle_merge_load() - records from the wire
 * @pair: records in memory
 * @data: as many on the wire
 * @n: their number
 *
 * Context: any.
 */
void shuffle_merge_load(struct shuffle_pair *pair, const u8 *data, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++, data += SHUFFLE_PAIR_BYTES) {
		pair[i].key = shuffle_get64(data);
		pair[i].value = shuffle_get64(data + 8);
	}
}

/**
 * shuffle_merge_store() - records to the wire
 * @data: room for @n of them
 * @pair: records in memory
 * @n: their number
 *
 * Context: any.
 */
void shuffle_merge_store(u8 *data, const struct shuffle_pair *pair, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++, data += SHUFFLE_PAIR_BYTES) {
		shuffle_put64(data, pair[i].key);
		shuffle_put64(data + 8, pair[i].value);
	}
}

/* ---- in any order ---- */

/* Places of a table for so many records: a power of two, at most half of them are taken. */
static u8 place_bits(u32 max)
{
	u8 bits = 1;

	while (bits < 32 && 1ULL << bits < 2ULL * max)
		bits++;
	return bits;
}

/**
 * shuffle_merge_table_bytes() - memory of a table
 * @max: records, from 1 to 2^30
 *
 * Return: bytes; 24 to 32 for each record.
 */
u64 shuffle_merge_table_bytes(u32 max)
{
	return (u64)max * sizeof(struct shuffle_pair) + ((u64)sizeof(u32) << place_bits(max));
}

/**
 * shuffle_merge_table_init() - an empty table
 * @t: table
 * @oper: enum shuffle_merge_oper
 * @seed: a random number, see struct shuffle_merge_table
 * @max: room for so many records
 * @memory: shuffle_merge_table_bytes() of them, aligned to 8; the caller's
 *
 * Context: any.
 * Return: 0; -EINVAL: no such operator, or room that cannot be had.
 */
int shuffle_merge_table_init(struct shuffle_merge_table *t, u8 oper, u64 seed, u32 max,
			     void *memory)
{
	if (oper >= SHUFFLE_MERGE_OPERS || !max || max > 1U << 30)
		return -EINVAL;
	t->oper = oper;
	t->shift = 64 - place_bits(max);
	t->seed = seed;
	t->max = max;
	t->pair = memory;
	t->place = (u32 *)(t->pair + max);
	shuffle_merge_table_empty(t);
	return 0;
}

/**
 * shuffle_merge_table_empty() - forget all records
 * @t: table
 *
 * Context: any.
 */
void shuffle_merge_table_empty(struct shuffle_merge_table *t)
{
	memset(t->place, 0, sizeof(*t->place) << (64 - t->shift));
	t->n = 0;
}

/* Where the search for a key begins: all of its bits, twice multiplied, decide. */
static __always_inline u32 first_place(const struct shuffle_merge_table *t, u64 key)
{
	u64 x = (key ^ t->seed) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return (u32)(x >> t->shift);
}

static __always_inline u32 add_records(struct shuffle_merge_table *t, u8 oper, const u8 *data,
				       u32 n)
{
	u32 mask = (u32)((1ULL << (64 - t->shift)) - 1), i, at, number;
	struct shuffle_pair *pair;
	u64 key, value;

	for (i = 0; i < n; i++, data += SHUFFLE_PAIR_BYTES) {
		key = shuffle_get64(data);
		value = shuffle_get64(data + 8);
		at = first_place(t, key);
		for (;;) {
			number = t->place[at];
			if (!number)
				break;
			pair = &t->pair[number - 1];
			if (pair->key == key)
				break;
			at = (at + 1) & mask;
		}
		if (number) {
			pair->value = shuffle_merge_values(oper, pair->value, value);
			continue;
		}
		if (t->n == t->max)
			break;
		t->pair[t->n].key = key;
		t->pair[t->n].value = value;
		t->place[at] = ++t->n;
	}
	return i;
}

static u32 append_records(struct shuffle_merge_table *t, const u8 *data, u32 n)
{
	if (n > t->max - t->n)
		n = t->max - t->n;
	shuffle_merge_load(t->pair + t->n, data, n);
	t->n += n;
	return n;
}

/**
 * shuffle_merge_add() - merge records into a table
 * @t: table
 * @data: records on the wire, of values as shuffle_merge_first() returns them; may begin anywhere
 * @n: their number
 *
 * A full table still takes records of keys that it has.
 *
 * Context: any.
 * Return: how many of the first ones are merged.  Fewer than @n: the table is full.  It is to be
 * read out (its @pair and @n) and emptied before the others.
 */
u32 shuffle_merge_add(struct shuffle_merge_table *t, const u8 *data, u32 n)
{
	/* with an operator that the compiler knows */
	switch (t->oper) {
	case SHUFFLE_MERGE_SUM:
	case SHUFFLE_MERGE_COUNT:
		return add_records(t, SHUFFLE_MERGE_SUM, data, n);
	case SHUFFLE_MERGE_MIN:
		return add_records(t, SHUFFLE_MERGE_MIN, data, n);
	case SHUFFLE_MERGE_MAX:
		return add_records(t, SHUFFLE_MERGE_MAX, data, n);
	case SHUFFLE_MERGE_SUMCOUNT:
		return add_records(t, SHUFFLE_MERGE_SUMCOUNT, data, n);
	case SHUFFLE_MERGE_OR:
		return add_records(t, SHUFFLE_MERGE_OR, data, n);
	case SHUFFLE_MERGE_AND:
		return add_records(t, SHUFFLE_MERGE_AND, data, n);
	}
	return append_records(t, data, n);
}

/* ---- sorted ---- */

/**
 * shuffle_merge_sorted_init() - begin a merge of sorted streams
 * @s: merge
 * @oper: enum shuffle_merge_oper
 * @stream: the streams, zeroed: without records, and not at their ends
 * @node: room for as many nodes as there are streams
 * @streams: their number, at most 2^16
 *
 * Context: any.
 */
void shuffle_merge_sorted_init(struct shuffle_merge_sorted *s, u8 oper,
			       struct shuffle_merge_stream *stream,
			       struct shuffle_merge_node *node, u32 streams)
{
	memset(s, 0, sizeof(*s));
	s->oper = oper;
	s->stream = stream;
	s->node = node;
	s->streams = streams;
}

/* A stream's node from its leaf to the first place, as far as it wins.  Which one wins is as good
 * as random, so there is no branch to be guessed.
 */
static __always_inline void play(struct shuffle_merge_sorted *s, u32 stream, u64 key, u32 id)
{
	struct shuffle_merge_node *other;
	u64 swap, x;
	u32 pos;

	for (pos = (s->streams + stream) / 2; pos; pos /= 2) {
		other = &s->node[pos];
		swap = -(u64)((other->key < key) | ((other->key == key) & (other->id < id)));
		x = (other->key ^ key) & swap;
		other->key ^= x;
		key ^= x;
		x = (other->id ^ id) & swap;
		other->id ^= (u32)x;
		id ^= (u32)x;
	}
	s->node[0].key = key;
	s->node[0].id = id;
}

/* Look at the next record of a stream.  Return: -1 if it is in order, or why it cannot be had:
 * SHUFFLE_MERGE_DONE stands for the end of this stream.
 */
static __always_inline int look(struct shuffle_merge_stream *stream)
{
	u64 key;

	if (stream->at == stream->n)
		return stream->end ? SHUFFLE_MERGE_DONE : SHUFFLE_MERGE_STARVED;
	key = shuffle_get64(stream->data + (u64)stream->at * SHUFFLE_PAIR_BYTES);
	if (key < stream->last && stream->started)
		return SHUFFLE_MERGE_UNSORTED;
	stream->last = key;
	stream->started = true;
	return -1;
}

static __always_inline void play_end(struct shuffle_merge_sorted *s, u32 stream)
{
	play(s, stream, U64_MAX, U32_MAX);
}

/* The first record of each stream.  Return: -1, or a state. */
static int fill_tree(struct shuffle_merge_sorted *s)
{
	u32 i;
	int rc;

	for (i = 0; i < s->streams; i++) {
		rc = look(&s->stream[i]);
		s->which = i;
		if (rc == SHUFFLE_MERGE_STARVED || rc == SHUFFLE_MERGE_UNSORTED)
			return rc;
	}
	/* nodes that win against all streams make room for them */
	memset(s->node, 0, s->streams * sizeof(*s->node));
	for (i = 0; i < s->streams; i++) {
		if (s->stream[i].at < s->stream[i].n)
			play(s, i, s->stream[i].last, i + 1);
		else
			play_end(s, i);
	}
	s->ready = true;
	return -1;
}

/* The next record of the first stream. */
static __always_inline int advance_first(struct shuffle_merge_sorted *s)
{
	u32 which = s->node[0].id - 1;
	int rc = look(&s->stream[which]);

	s->which = which;
	if (rc == SHUFFLE_MERGE_STARVED || rc == SHUFFLE_MERGE_UNSORTED)
		return rc;
	if (rc == SHUFFLE_MERGE_DONE)
		play_end(s, which);
	else if (s->stream[which].last != s->node[0].key)
		play(s, which, s->stream[which].last, which + 1);
	return -1;
}

static __always_inline void emit(struct shuffle_merge_sorted *s, u8 *out, u32 *n)
{
	shuffle_merge_store(out + (u64)*n * SHUFFLE_PAIR_BYTES, &s->pair, 1);
	(*n)++;
	s->open = false;
}

static __always_inline int merge_streams(struct shuffle_merge_sorted *s, u8 oper, u8 *out, u32 max,
					 u32 *n)
{
	struct shuffle_merge_stream *first;
	struct shuffle_pair next;
	int rc;

	for (;;) {
		if (s->look) {
			rc = advance_first(s);
			if (rc >= 0)
				return rc;
			s->look = false;
		}
		if (!s->streams || s->node[0].id == U32_MAX)
			break;
		first = &s->stream[s->node[0].id - 1];
		next.key = s->node[0].key;
		next.value = shuffle_get64(first->data + (u64)first->at * SHUFFLE_PAIR_BYTES + 8);
		if (s->open && next.key == s->pair.key && oper != SHUFFLE_MERGE_NONE) {
			s->pair.value = shuffle_merge_values(oper, s->pair.value, next.value);
		} else {
			if (s->open && *n == max)
				return SHUFFLE_MERGE_FULL;
			if (s->open)
				emit(s, out, n);
			s->pair = next;
			s->open = true;
		}
		first->at++;
		s->look = true;
	}
	if (s->open && *n == max)
		return SHUFFLE_MERGE_FULL;
	if (s->open)
		emit(s, out, n);
	return SHUFFLE_MERGE_DONE;
}

/**
 * shuffle_merge_streams() - merge what has come of sorted streams
 * @s: merge
 * @out: room for @max records on the wire; not the memory of a stream
 * @max: at least 1
 * @n: how many are there, and on return there are more
 *
 * After SHUFFLE_MERGE_STARVED the caller gives stream @s->which more records (@data and @n anew,
 * @at 0) or sets its @end, after SHUFFLE_MERGE_FULL it takes the records away, and calls again.
 * Other streams' records stay where they are meanwhile.
 *
 * Context: any.
 * Return: enum shuffle_merge_state.
 */
int shuffle_merge_streams(struct shuffle_merge_sorted *s, u8 *out, u32 max, u32 *n)
{
	int rc = s->ready ? -1 : fill_tree(s);

	if (rc >= 0)
		return rc;
	switch (s->oper) {
	case SHUFFLE_MERGE_NONE:
		return merge_streams(s, SHUFFLE_MERGE_NONE, out, max, n);
	case SHUFFLE_MERGE_SUM:
	case SHUFFLE_MERGE_COUNT:
		return merge_streams(s, SHUFFLE_MERGE_SUM, out, max, n);
	case SHUFFLE_MERGE_MIN:
		return merge_streams(s, SHUFFLE_MERGE_MIN, out, max, n);
	case SHUFFLE_MERGE_MAX:
		return merge_streams(s, SHUFFLE_MERGE_MAX, out, max, n);
	case SHUFFLE_MERGE_SUMCOUNT:
		return merge_streams(s, SHUFFLE_MERGE_SUMCOUNT, out, max, n);
	case SHUFFLE_MERGE_OR:
		return merge_streams(s, SHUFFLE_MERGE_OR, out, max, n);
	default:
		return merge_streams(s, SHUFFLE_MERGE_AND, out, max, n);
	}
}
