// SPDX-License-Identifier: GPL-2.0-or-later
/* See coll_call.h. */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_call.h"

#define PIECE	(32 << 10)	/* compared at a time; whole items of any type */
#define GUARD	64		/* bytes around what the call may write */
#define EMPTY	0xee

uint64_t coll_random(uint64_t *rng, uint64_t below)
{
	*rng = sht_mix(*rng);
	return below ? (*rng >> 8) % below : 0;
}

/* ---- operators, once more ---- */

/* Maps x -> a x + b, one behind the other: associative, and the order matters. */
struct map {
	uint32_t a, b;
};

static void combine_maps(void *arg, void *into, const void *in, size_t size, int in_first)
{
	struct map x, y, r;
	size_t i;

	(void)arg;
	for (i = 0; i + sizeof(x) <= size; i += sizeof(x)) {
		memcpy(&x, (char *)into + i, sizeof(x));
		memcpy(&y, (const char *)in + i, sizeof(y));
		r = in_first ? (struct map){ y.a * x.a, y.a * x.b + y.b } :
			       (struct map){ x.a * y.a, x.a * y.b + x.b };
		memcpy((char *)into + i, &r, sizeof(r));
	}
}

static size_t item_size(uint8_t type)
{
	static const uint8_t bytes[] = {
		[SHUFFLE_COLL_U8] = 1, [SHUFFLE_COLL_U16] = 2, [SHUFFLE_COLL_U32] = 4,
		[SHUFFLE_COLL_U64] = 8, [SHUFFLE_COLL_S8] = 1, [SHUFFLE_COLL_S16] = 2,
		[SHUFFLE_COLL_S32] = 4, [SHUFFLE_COLL_S64] = 8, [SHUFFLE_COLL_F32] = 4,
		[SHUFFLE_COLL_F64] = 8, [SHUFFLE_COLL_PAIR32] = 8, [SHUFFLE_COLL_PAIR64] = 16,
	};

	return bytes[type];
}

static bool is_pair(uint8_t type)
{
	return type == SHUFFLE_COLL_PAIR32 || type == SHUFFLE_COLL_PAIR64;
}

/* Numbers with a sign in an order that numbers without one have. */
static uint64_t with_sign(int64_t n)
{
	return (uint64_t)n ^ 1ull << 63;
}

/* A number that compares like the item does, with items of the same type. */
static uint64_t number(uint8_t type, const unsigned char *p)
{
	int8_t s8;
	int16_t s16;
	int32_t s32;
	int64_t s64;

	memcpy(&s8, p, 1);
	memcpy(&s16, p, item_size(type) >= 2 ? 2 : 0);
	switch (type) {
	case SHUFFLE_COLL_U8:
		return (uint8_t)s8;
	case SHUFFLE_COLL_S8:
		return with_sign(s8);
	case SHUFFLE_COLL_U16:
		return (uint16_t)s16;
	case SHUFFLE_COLL_S16:
		return with_sign(s16);
	case SHUFFLE_COLL_U32:
	case SHUFFLE_COLL_S32:
	case SHUFFLE_COLL_F32:
	case SHUFFLE_COLL_PAIR32:
		memcpy(&s32, p, 4);
		if (type == SHUFFLE_COLL_U32)
			return (uint32_t)s32;
		/* IEEE numbers of either sign go away from 0 */
		if (type == SHUFFLE_COLL_F32 && s32 < 0)
			return with_sign(-1 - (int64_t)(s32 & 0x7fffffff));
		return with_sign(s32);
	}
	memcpy(&s64, p, 8);
	if (type == SHUFFLE_COLL_U64)
		return (uint64_t)s64;
	if (type == SHUFFLE_COLL_F64 && s64 < 0)
		return with_sign(-1 - (s64 & 0x7fffffffffffffffLL));
	return with_sign(s64);
}

/* Does the other item take the place of ours? */
static bool replaces(uint8_t oper, uint8_t type, const unsigned char *ours,
		     const unsigned char *other)
{
	uint64_t a = number(type, ours), b = number(type, other);
	size_t half = item_size(type) / 2;

	switch (oper) {
	case SHUFFLE_COLL_MIN:
		return b < a;
	case SHUFFLE_COLL_MAX:
		return b > a;
	}
	if (a != b)
		return oper == SHUFFLE_COLL_MINLOC ? b < a : b > a;
	/* the least index of those that are equal */
	return number(type, other + half) < number(type, ours + half);
}

static void combine_item(uint8_t oper, uint8_t type, unsigned char *x, const unsigned char *y)
{
	size_t item = item_size(type), i;
	uint64_t sum = 0, more = 0;

	for (i = 0; i < item; i++) {
		if (oper == SHUFFLE_COLL_AND)
			x[i] &= y[i];
		else if (oper == SHUFFLE_COLL_OR)
			x[i] |= y[i];
		else if (oper == SHUFFLE_COLL_XOR)
			x[i] ^= y[i];
	}
	if (oper == SHUFFLE_COLL_SUM) {
		memcpy(&sum, x, item);
		memcpy(&more, y, item);
		sum += more;
		memcpy(x, &sum, item);
	} else if ((oper == SHUFFLE_COLL_MIN || oper == SHUFFLE_COLL_MAX || is_pair(type)) &&
		   replaces(oper, type, x, y)) {
		memcpy(x, y, item);
	}
}

static void combine(const struct coll_call *k, unsigned char *into, const unsigned char *in,
		    size_t size)
{
	size_t i, item = item_size(k->type);

	if (!k->oper) {
		combine_maps(NULL, into, in, size, 0);
		return;
	}
	for (i = 0; i < size; i += item)
		combine_item(k->oper, k->type, into + i, in + i);
}

/* ---- calls ---- */

static bool combines(uint8_t kind)
{
	return kind == CALL_REDUCE_SCATTERV ||
	       (kind < SHUFFLE_COLL_KINDS && shuffle_coll_combines(kind));
}

static bool has_root(uint8_t kind)
{
	return kind == CALL_GATHERV || kind == CALL_SCATTERV ||
	       (kind < SHUFFLE_COLL_KINDS && shuffle_coll_has_root(kind));
}

/* Has each member a length of its own? */
static bool has_lengths(uint8_t kind)
{
	return kind >= CALL_GATHERV && kind <= CALL_REDUCE_SCATTERV;
}

/* Does the pattern do that? */
static bool possible(const struct coll_call *k)
{
	if (k->kind == CALL_ALLTOALL)
		return k->pattern == SHUFFLE_COLL_FLAT || k->pattern == SHUFFLE_COLL_SPREAD ||
		       k->pattern == SHUFFLE_COLL_COOL_PP;
	return k->kind < SHUFFLE_COLL_KINDS && shuffle_plan_possible(k->kind, k->pattern);
}

static bool by_member(uint8_t kind)
{
	return kind >= SHUFFLE_COLL_KINDS || shuffle_coll_by_member(kind, SHUFFLE_COLL_FLAT);
}

/* Are vectors combined in a known order? */
static bool keeps_order(const struct coll_call *k)
{
	switch (k->pattern) {
	case SHUFFLE_COLL_FLAT:
	case SHUFFLE_COLL_TREE:
	case SHUFFLE_COLL_CHAIN:
	case SHUFFLE_COLL_DOUBLING:
	case SHUFFLE_COLL_GATHERED:
	case SHUFFLE_COLL_COOL_PP:
	case SHUFFLE_COLL_COOL_BR:
	case SHUFFLE_COLL_TWO_TREE:
		return possible(k);
	}
	return false;
}

/* Whose data comes first. */
static unsigned int first_member(const struct coll_call *k)
{
	bool from_root = k->pattern == SHUFFLE_COLL_FLAT || k->pattern == SHUFFLE_COLL_TREE ||
			 k->pattern == SHUFFLE_COLL_CHAIN ||
			 k->pattern == SHUFFLE_COLL_TWO_TREE;

	return k->kind == SHUFFLE_COLL_REDUCE && from_root ? k->root : 0;
}

static size_t draw_size(uint64_t *rng, size_t most)
{
	size_t size;

	switch (coll_random(rng, 12)) {
	case 0:
		size = 0;
		break;
	case 1:
		size = 1;
		break;
	case 2:
	case 3:
		/* what the kernel may just do, and a little more or less */
		size = SHUFFLE_COLL_MAX_BYTES - 40 + coll_random(rng, 80);
		break;
	case 4:
	case 5:
	case 6:
		size = coll_random(rng, SHUFFLE_COLL_MAX_BYTES);
		break;
	case 7:
		size = coll_random(rng, coll_random(rng, 4) ? most / 8 : most + 1);
		break;
	case 8:
	case 9:
		size = coll_random(rng, 20000);
		break;
	default:
		size = coll_random(rng, 100);
	}
	return size < most ? size : most;
}

static void draw_operator(struct coll_call *k, uint64_t *rng)
{
	k->type = coll_random(rng, SHUFFLE_COLL_TYPES);
	if (is_pair(k->type))
		k->oper = coll_random(rng, 2) ? SHUFFLE_COLL_MINLOC : SHUFFLE_COLL_MAXLOC;
	else if (k->type == SHUFFLE_COLL_F32 || k->type == SHUFFLE_COLL_F64)
		k->oper = coll_random(rng, 2) ? SHUFFLE_COLL_MIN : SHUFFLE_COLL_MAX;
	else
		k->oper = SHUFFLE_COLL_SUM + coll_random(rng, 6);
	if (keeps_order(k) && !coll_random(rng, 4)) {
		k->oper = 0;
		k->type = SHUFFLE_COLL_PAIR32;	/* as long as a map */
	}
}

void coll_call_draw(struct coll_call *k, uint64_t *rng, unsigned int count, size_t most)
{
	size_t item = 1, parts;

	/* those that the pattern knows, mostly */
	do {
		k->kind = coll_random(rng, CALL_KINDS);
	} while (k->pattern >= 0 && coll_random(rng, 8) && !possible(k));
	k->root = has_root(k->kind) ? coll_random(rng, count) : 0;
	if (combines(k->kind)) {
		draw_operator(k, rng);
		item = item_size(k->type);
	}
	parts = by_member(k->kind) ? count : 1;
	k->size = draw_size(rng, most / parts);
	/* the limit of the kernel is one of all together there */
	if (parts > 1 && !coll_random(rng, 4))
		k->size = SHUFFLE_COLL_MAX_BYTES / parts - 1 + coll_random(rng, 3);
	k->size -= k->size % item;
	if (k->kind == SHUFFLE_COLL_BARRIER)
		k->size = 0;
	k->in_place = (k->kind == SHUFFLE_COLL_ALLREDUCE || k->kind == SHUFFLE_COLL_SCAN ||
		       k->kind == CALL_ALLTOALL) && !coll_random(rng, 4);
	k->salt = coll_random(rng, 1ULL << 40);
}

void coll_call_print(char *text, size_t size, const struct coll_call *k)
{
	static const char *const more[] = {
		"gatherv", "scatterv", "all-gatherv", "reduce-scatterv", "all-to-all",
	};

	snprintf(text, size, "%s by %s, radix %u, root %u, operator %u of type %u, %zu bytes%s",
		 k->kind < SHUFFLE_COLL_KINDS ? shuffle_coll_kind_name(k->kind) :
						more[k->kind - SHUFFLE_COLL_KINDS],
		 k->pattern < 0 ? "auto" : shuffle_coll_pattern_name(k->pattern), k->radix,
		 k->root, k->oper, k->type, k->size, k->in_place ? ", in place" : "");
}

/* ---- a member's part ---- */

static void fill(const struct coll_call *k, unsigned int member, unsigned char *p, size_t len,
		 size_t off)
{
	sht_fill(p, len, sht_key(k->salt, 0, member, 0), off);
}

/* Of one member's own length; whole items. */
static size_t length_of(const struct coll_call *k, unsigned int member)
{
	size_t item = combines(k->kind) ? item_size(k->type) : 1;
	uint64_t x = sht_mix(k->salt + member);

	return x % 5 ? x % (k->size + 1) / item * item : 0;
}

/* What goes in: bytes, and where they are in what the member has. */
static size_t in_size(const struct coll_member *m)
{
	const struct coll_call *k = &m->call;
	size_t sum = 0;
	unsigned int i;

	if (!has_lengths(k->kind))
		return (k->kind == SHUFFLE_COLL_SCATTER && m->rank == k->root) ||
		       k->kind == SHUFFLE_COLL_REDUCE_SCATTER || k->kind == CALL_ALLTOALL ?
		       m->count * k->size : k->size;
	if (k->kind == CALL_REDUCE_SCATTERV || (k->kind == CALL_SCATTERV && m->rank == k->root)) {
		for (i = 0; i < m->count; i++)
			sum += m->sizes[i];
		return sum;
	}
	return m->sizes[m->rank];
}

static size_t out_size(const struct coll_member *m)
{
	const struct coll_call *k = &m->call;
	size_t sum = 0;
	unsigned int i;

	switch (k->kind) {
	case SHUFFLE_COLL_BARRIER:
		return 0;
	case SHUFFLE_COLL_GATHER:
		return m->rank == k->root ? m->count * k->size : 0;
	case SHUFFLE_COLL_ALLGATHER:
	case CALL_ALLTOALL:
		return m->count * k->size;
	case SHUFFLE_COLL_REDUCE:
		return m->rank == k->root ? k->size : 0;
	case CALL_GATHERV:
		if (m->rank != k->root)
			return 0;
		/* fallthrough */
	case CALL_ALLGATHERV:
		for (i = 0; i < m->count; i++)
			sum += m->sizes[i];
		return sum;
	case CALL_SCATTERV:
	case CALL_REDUCE_SCATTERV:
		return m->sizes[m->rank];
	}
	return k->size;
}

/* Anywhere in memory. */
void coll_call_prepare(struct coll_member *m)
{
	const struct coll_call *k = &m->call;
	size_t in, shift = sht_mix(k->salt + m->rank) % 16;
	unsigned int i;

	m->sizes = NULL;
	if (has_lengths(k->kind)) {
		m->sizes = calloc(m->count, sizeof(*m->sizes));
		for (i = 0; m->sizes && i < m->count; i++)
			m->sizes[i] = length_of(k, i);
		if (!m->sizes)
			err(1, "no memory");
	}
	in = in_size(m);
	m->to_size = out_size(m);
	m->mem = malloc(in + m->to_size + 3 * GUARD + 2 * 16);
	if (!m->mem)
		err(1, "no memory");
	m->from = m->mem + GUARD + shift;
	m->to = m->from + in + GUARD + shift / 2;
	memset(m->to - GUARD, EMPTY, m->to_size + 2 * GUARD);
	if (k->in_place)
		m->from = m->to;
	if (k->kind == SHUFFLE_COLL_BROADCAST) {
		if (m->rank == k->root)
			fill(k, m->rank, m->to, in, 0);
		return;
	}
	fill(k, m->rank, m->from, in, 0);
}

int coll_call_make(struct shuffle_coll *c, void *member)
{
	struct coll_member *m = member;
	const struct coll_call *k = &m->call;
	shuffle_combine f = k->oper ? shuffle_combine_items : combine_maps;
	void *arg = k->oper ? SHUFFLE_ITEMS(k->oper, k->type) : NULL;
	size_t item = item_size(k->type);

	switch (k->kind) {
	case SHUFFLE_COLL_BARRIER:
		return shuffle_barrier(c);
	case SHUFFLE_COLL_BROADCAST:
		return shuffle_broadcast(c, m->to, k->size, k->root);
	case SHUFFLE_COLL_SCATTER:
		return shuffle_scatter(c, m->rank == k->root ? m->from : NULL, m->to, k->size,
				       k->root);
	case SHUFFLE_COLL_GATHER:
		return shuffle_gather(c, m->from, m->rank == k->root ? m->to : NULL, k->size,
				      k->root);
	case SHUFFLE_COLL_ALLGATHER:
		return shuffle_allgather(c, m->from, m->to, k->size);
	case SHUFFLE_COLL_REDUCE:
		return shuffle_reduce(c, m->from, m->rank == k->root ? m->to : NULL, k->size, item,
				      f, arg, k->root);
	case SHUFFLE_COLL_ALLREDUCE:
		return shuffle_allreduce(c, m->from, m->to, k->size, item, f, arg);
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return shuffle_reduce_scatter(c, m->from, m->to, k->size, f, arg);
	case SHUFFLE_COLL_SCAN:
	case SHUFFLE_COLL_EXSCAN:
		return shuffle_scan(c, m->from, m->to, k->size, f, arg,
				    k->kind == SHUFFLE_COLL_EXSCAN);
	case CALL_ALLTOALL:
		return shuffle_alltoall(c, m->from, m->to, k->size);
	case CALL_GATHERV:
		return shuffle_gatherv(c, m->from, m->sizes[m->rank], m->to,
				       m->rank == k->root ? m->sizes : NULL, k->root);
	case CALL_SCATTERV:
		return shuffle_scatterv(c, m->from, m->rank == k->root ? m->sizes : NULL, m->to,
					m->sizes[m->rank], k->root);
	case CALL_ALLGATHERV:
		return shuffle_allgatherv(c, m->from, m->to, m->sizes);
	default:
		return shuffle_reduce_scatterv(c, m->from, m->to, m->sizes, f, arg);
	}
}

/* Does @at have what members have at @off: the vectors of @n members from @first on, combined? */
static bool is_right(const struct coll_member *m, const unsigned char *at, size_t len, size_t off,
		     unsigned int first, unsigned int n)
{
	static __thread unsigned char want[PIECE], other[PIECE];
	size_t part;
	unsigned int i;

	for (; len; at += part, off += part, len -= part) {
		part = len < PIECE ? len : PIECE;
		fill(&m->call, first, want, part, off);
		for (i = 1; i < n; i++) {
			fill(&m->call, (first + i) % m->count, other, part, off);
			combine(&m->call, want, other, part);
		}
		if (memcmp(at, want, part))
			return false;
	}
	return true;
}

static bool result_is_right(const struct coll_member *m)
{
	const struct coll_call *k = &m->call;
	size_t at = 0, len;
	unsigned int i;

	switch (k->kind) {
	case SHUFFLE_COLL_BROADCAST:
		return is_right(m, m->to, k->size, 0, k->root, 1);
	case SHUFFLE_COLL_SCATTER:
		return is_right(m, m->to, k->size, m->rank * k->size, k->root, 1);
	case CALL_SCATTERV:
	case CALL_REDUCE_SCATTERV:
		for (i = 0; i < m->rank; i++)
			at += m->sizes[i];
		if (k->kind == CALL_SCATTERV)
			return is_right(m, m->to, m->sizes[m->rank], at, k->root, 1);
		return is_right(m, m->to, m->sizes[m->rank], at, 0, m->count);
	case SHUFFLE_COLL_GATHER:
	case SHUFFLE_COLL_ALLGATHER:
	case CALL_GATHERV:
	case CALL_ALLGATHERV:
		for (i = 0; i < m->count && at < m->to_size; at += len, i++) {
			len = m->sizes ? m->sizes[i] : k->size;
			if (!is_right(m, m->to + at, len, 0, i, 1))
				return false;
		}
		return true;
	case CALL_ALLTOALL:
		for (i = 0; i < m->count; i++, at += k->size)
			if (!is_right(m, m->to + at, k->size, m->rank * k->size, i, 1))
				return false;
		return true;
	case SHUFFLE_COLL_REDUCE:
		return !m->to_size || is_right(m, m->to, k->size, 0, first_member(k), m->count);
	case SHUFFLE_COLL_ALLREDUCE:
		return is_right(m, m->to, k->size, 0, 0, m->count);
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return is_right(m, m->to, k->size, m->rank * k->size, 0, m->count);
	case SHUFFLE_COLL_SCAN:
		return is_right(m, m->to, k->size, 0, 0, m->rank + 1);
	case SHUFFLE_COLL_EXSCAN:
		if (m->rank)
			return is_right(m, m->to, k->size, 0, 0, m->rank);
		for (at = 0; at < k->size && m->to[at] == EMPTY; at++)
			;
		return at == k->size;
	}
	return true;
}

const char *coll_call_check(const struct coll_member *m)
{
	const unsigned char *before = m->to - GUARD, *behind = m->to + m->to_size;
	unsigned int i;

	if (!result_is_right(m))
		return "wrong data";
	for (i = 0; i < GUARD; i++)
		if (before[i] != EMPTY || behind[i] != EMPTY)
			return "bytes around the result were written";
	if (!m->call.in_place && m->call.kind != SHUFFLE_COLL_BROADCAST &&
	    sht_check(m->from, in_size(m), sht_key(m->call.salt, 0, m->rank, 0), 0) != in_size(m))
		return "bytes that were put in were written";
	return NULL;
}

void coll_call_free(struct coll_member *m)
{
	free(m->mem);
	free(m->sizes);
	m->mem = NULL;
	m->sizes = NULL;
}
