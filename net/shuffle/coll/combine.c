// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Items of vectors, combined (portable: see ../sched/portable.h). */
#include "combine.h"

static __always_inline u64 load(const u8 *p, u32 item)
{
	u64 x64;
	u32 x32;
	u16 x16;

	/* payload begins anywhere */
	switch (item) {
	case 1:
		return *p;
	case 2:
		memcpy(&x16, p, sizeof(x16));
		return x16;
	case 4:
		memcpy(&x32, p, sizeof(x32));
		return x32;
	default:
		memcpy(&x64, p, sizeof(x64));
		return x64;
	}
}

/* The bits above those of the item are lost: sums wrap round. */
static __always_inline void store(u8 *p, u32 item, u64 x)
{
	u32 x32 = (u32)x;
	u16 x16 = (u16)x;

	switch (item) {
	case 1:
		*p = (u8)x;
		break;
	case 2:
		memcpy(p, &x16, sizeof(x16));
		break;
	case 4:
		memcpy(p, &x32, sizeof(x32));
		break;
	default:
		memcpy(p, &x, sizeof(x));
	}
}

/**
 * struct order - how items of a type compare
 * @flip: the sign bit, of those that have one: with it turned round signed items compare like
 *	unsigned ones
 * @mask: all bits of an item that is an IEEE number, else 0: negative ones compare backwards
 */
struct order {
	u64	flip;
	u64	mask;
};

static __always_inline u64 ordered(u64 x, const struct order *o)
{
	return x & o->mask & o->flip ? x ^ o->mask : x ^ o->flip;
}

static __always_inline u64 combined(u8 oper, u64 a, u64 b, const struct order *o)
{
	switch (oper) {
	case SHUFFLE_COLL_SUM:
		return a + b;
	case SHUFFLE_COLL_MIN:
		return ordered(a, o) < ordered(b, o) ? a : b;
	case SHUFFLE_COLL_MAX:
		return ordered(a, o) > ordered(b, o) ? a : b;
	case SHUFFLE_COLL_AND:
		return a & b;
	case SHUFFLE_COLL_OR:
		return a | b;
	case SHUFFLE_COLL_XOR:
		return a ^ b;
	}
	return a;
}

/* With an operator and a size that the compiler knows: some 5 instructions an item, not 25. */
static __always_inline void combine_items(u8 oper, u32 item, u8 *x, const u8 *y, u64 size,
					  const struct order *o)
{
	u64 i;

	for (i = 0; i + item <= size; i += item)
		store(x + i, item, combined(oper, load(x + i, item), load(y + i, item), o));
}

static __always_inline void combine_sizes(u8 oper, u32 item, u8 *x, const u8 *y, u64 size,
					  const struct order *o)
{
	switch (item) {
	case 1:
		combine_items(oper, 1, x, y, size, o);
		break;
	case 2:
		combine_items(oper, 2, x, y, size, o);
		break;
	case 4:
		combine_items(oper, 4, x, y, size, o);
		break;
	default:
		combine_items(oper, 8, x, y, size, o);
	}
}

/* A value and an index behind it, @half bytes each. */
static void combine_pair(u8 oper, u8 *x, const u8 *y, u32 half, const struct order *o)
{
	u64 a = ordered(load(x, half), o), b = ordered(load(y, half), o);
	bool other;

	if (a == b)
		other = ordered(load(y + half, half), o) < ordered(load(x + half, half), o);
	else
		other = (b < a) == (oper == SHUFFLE_COLL_MINLOC);
	if (other)
		memcpy(x, y, 2 * half);
}

static bool is_pair(u8 type)
{
	return type == SHUFFLE_COLL_PAIR32 || type == SHUFFLE_COLL_PAIR64;
}

static bool is_ieee(u8 type)
{
	return type == SHUFFLE_COLL_F32 || type == SHUFFLE_COLL_F64;
}

/**
 * shuffle_coll_item() - bytes of an item
 * @type: enum shuffle_coll_type
 *
 * Return: 1, 2, 4, 8 or 16.
 */
u32 shuffle_coll_item(u8 type)
{
	static const u8 bytes[SHUFFLE_COLL_TYPES] = { 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16 };

	return type < SHUFFLE_COLL_TYPES ? bytes[type] : 1;
}

/**
 * shuffle_coll_can_combine() - are there such an operator and such items?
 * @oper: enum shuffle_coll_oper
 * @type: enum shuffle_coll_type
 */
bool shuffle_coll_can_combine(u8 oper, u8 type)
{
	if (oper <= SHUFFLE_COLL_NONE || oper >= SHUFFLE_COLL_OPERS || type >= SHUFFLE_COLL_TYPES)
		return false;
	if (is_pair(type))
		return oper >= SHUFFLE_COLL_MINLOC;
	if (is_ieee(type))
		return oper == SHUFFLE_COLL_MIN || oper == SHUFFLE_COLL_MAX;
	return oper < SHUFFLE_COLL_MINLOC;
}

/**
 * shuffle_coll_turn() - from this machine's byte order to that of the wire, or back
 * @type: enum shuffle_coll_type
 * @items: all of that type
 * @size: bytes of them, whole items
 *
 * Items that are combined travel little-endian: nearly all members are, and have nothing to do.
 *
 * Context: any.
 */
void shuffle_coll_turn(u8 type, void *items, u64 size)
{
	u32 part = is_pair(type) ? shuffle_coll_item(type) / 2 : shuffle_coll_item(type), a, b;
	u8 *x, byte;

	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return;
	for (x = items; size >= part; x += part, size -= part) {
		for (a = 0, b = part - 1; a < b; a++, b--) {
			byte = x[a];
			x[a] = x[b];
			x[b] = byte;
		}
	}
}

/**
 * shuffle_coll_combine() - into = into op in, item by item
 * @oper: enum shuffle_coll_oper; all of them commute
 * @type: enum shuffle_coll_type
 * @into: one side, and the result
 * @in: the other side
 * @size: bytes of each, whole items
 *
 * Context: any.
 */
void shuffle_coll_combine(u8 oper, u8 type, void *into, const void *in, u64 size)
{
	u32 item = shuffle_coll_item(type), bits = is_pair(type) ? 4 * item : 8 * item;
	struct order o = {};
	const u8 *y = in;
	u8 *x = into;
	u64 i;

	if (type >= SHUFFLE_COLL_S8)
		o.flip = 1ULL << (bits - 1);
	if (is_ieee(type))
		o.mask = o.flip | (o.flip - 1);
	if (is_pair(type)) {
		for (i = 0; i + item <= size; i += item)
			combine_pair(oper, x + i, y + i, item / 2, &o);
		return;
	}
	switch (oper) {
	case SHUFFLE_COLL_SUM:
		combine_sizes(SHUFFLE_COLL_SUM, item, x, y, size, &o);
		break;
	case SHUFFLE_COLL_MIN:
		combine_sizes(SHUFFLE_COLL_MIN, item, x, y, size, &o);
		break;
	case SHUFFLE_COLL_MAX:
		combine_sizes(SHUFFLE_COLL_MAX, item, x, y, size, &o);
		break;
	case SHUFFLE_COLL_AND:
		combine_sizes(SHUFFLE_COLL_AND, item, x, y, size, &o);
		break;
	case SHUFFLE_COLL_OR:
		combine_sizes(SHUFFLE_COLL_OR, item, x, y, size, &o);
		break;
	case SHUFFLE_COLL_XOR:
		combine_sizes(SHUFFLE_COLL_XOR, item, x, y, size, &o);
		break;
	}
}
