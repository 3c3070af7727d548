// SPDX-License-Identifier: BSD-3-Clause
/* Sorted records merged in batches: see tree_merge.h. */
#include "tree_merge.h"

u64 tree_run_key(const struct tree_run *run, u32 i)
{
	return shuffle_get64(run->wire + (size_t)i * SHUFFLE_PAIR_BYTES);
}

u32 tree_run_upto(const struct tree_run *run, u32 n, u64 key)
{
	u32 low = 0, high = n, middle;

	/* mostly all of it, or nearly */
	if (!n || tree_run_key(run, n - 1) <= key)
		return n;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (tree_run_key(run, middle) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool tree_run_unsorted(const struct tree_run *run, u64 last, bool started, u32 *at)
{
	u32 i;

	for (i = 0; i < run->n; i++) {
		u64 key = tree_run_key(run, i);

		*at = i;
		if (started && key < last)
			return true;
		last = key;
		started = true;
	}
	return false;
}

/* @wire: the runs are on the wire; the compiler knows it. */
static __always_inline
void load(struct shuffle_pair *to, const struct tree_run *run, u32 i, bool wire)
{
	if (wire) {
		to->key = shuffle_get64(run->wire + (size_t)i * SHUFFLE_PAIR_BYTES);
		to->value = shuffle_get64(run->wire + (size_t)i * SHUFFLE_PAIR_BYTES + 8);
	} else {
		*to = run->pair[i];
	}
}

static __always_inline
u32 merge_two(u8 oper, const struct tree_run *a, const struct tree_run *b, bool wire,
	      struct shuffle_pair *out)
{
	struct shuffle_pair *start = out, x, y;
	u32 i = 0, j = 0;

	if (a->n && b->n) {
		load(&x, a, 0, wire);
		load(&y, b, 0, wire);
		for (;;) {
			if (x.key == y.key && oper != SHUFFLE_MERGE_NONE) {
				out->key = x.key;
				out->value = shuffle_merge_values(oper, x.value, y.value);
				out++;
				i++;
				j++;
				if (i == a->n || j == b->n)
					break;
				load(&x, a, i, wire);
				load(&y, b, j, wire);
			} else if (x.key <= y.key) {
				*out++ = x;
				if (++i == a->n)
					break;
				load(&x, a, i, wire);
			} else {
				*out++ = y;
				if (++j == b->n)
					break;
				load(&y, b, j, wire);
			}
		}
	}
	for (; i < a->n; i++)
		load(out++, a, i, wire);
	for (; j < b->n; j++)
		load(out++, b, j, wire);
	return out - start;
}

/* Records of one key that a single run had, and a check of the order: the number that is left, or
 * U32_MAX.  Two in the wrong order in a run are so in what it is merged into.
 */
static __always_inline
u32 compact(u8 oper, struct shuffle_pair *p, u32 n)
{
	u32 i, m;

	if (!n)
		return 0;
	for (i = 1; i < n && p[i].key > p[i - 1].key; i++)
		;
	for (m = i; i < n; i++) {
		if (p[i].key > p[m - 1].key)
			p[m++] = p[i];
		else if (p[i].key < p[m - 1].key)
			return U32_MAX;
		else if (oper == SHUFFLE_MERGE_NONE)
			p[m++] = p[i];
		else
			p[m - 1].value = shuffle_merge_values(oper, p[m - 1].value, p[i].value);
	}
	return m;
}

static __always_inline
struct shuffle_pair *merge_runs(u8 oper, struct tree_run *run, u32 runs,
				struct shuffle_pair *room, u32 *n)
{
	static const struct tree_run none;
	struct shuffle_pair *half[2] = { room, NULL };
	u32 i, m, all = 0, side = 0;
	bool wire = true;

	for (i = 0; i < runs; i++)
		all += run[i].n;
	half[1] = room + all;
	do {
		struct shuffle_pair *out = half[side];

		for (i = 0, m = 0; i < runs; i += 2, m++) {
			struct tree_run a = run[i], b = i + 1 < runs ? run[i + 1] : none;
			u32 k;

			/* a single one is in memory afterwards, as all others are */
			if (wire)
				k = merge_two(oper, &a, &b, true, out);
			else
				k = merge_two(oper, &a, &b, false, out);
			run[m] = (struct tree_run){ NULL, out, k };
			out += k;
		}
		runs = m;
		wire = false;
		side ^= 1;
	} while (runs > 1);
	*n = runs ? compact(oper, (struct shuffle_pair *)run[0].pair, run[0].n) : 0;
	return *n == U32_MAX ? NULL : half[side ^ 1];
}

struct shuffle_pair *tree_merge_runs(u8 oper, struct tree_run *run, u32 runs,
				     struct shuffle_pair *room, u32 *n)
{
	*n = 0;
	if (!runs)
		return room;
	/* with an operator that the compiler knows */
	switch (oper) {
	case SHUFFLE_MERGE_NONE:
		return merge_runs(SHUFFLE_MERGE_NONE, run, runs, room, n);
	case SHUFFLE_MERGE_MIN:
		return merge_runs(SHUFFLE_MERGE_MIN, run, runs, room, n);
	case SHUFFLE_MERGE_MAX:
		return merge_runs(SHUFFLE_MERGE_MAX, run, runs, room, n);
	case SHUFFLE_MERGE_SUMCOUNT:
		return merge_runs(SHUFFLE_MERGE_SUMCOUNT, run, runs, room, n);
	case SHUFFLE_MERGE_OR:
		return merge_runs(SHUFFLE_MERGE_OR, run, runs, room, n);
	case SHUFFLE_MERGE_AND:
		return merge_runs(SHUFFLE_MERGE_AND, run, runs, room, n);
	}
	return merge_runs(SHUFFLE_MERGE_SUM, run, runs, room, n);
}
