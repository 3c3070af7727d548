// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Items of vectors, combined (portable: see plan.h). */
#include "combine.h"

static u64 load(const u8 *p, u32 item)
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
static void store(u8 *p, u32 item, u64 x)
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

/* @flip: the sign bit of signed items: with it turned round they compare like unsigned ones. */
static u64 combined(u8 oper, u64 a, u64 b, u64 flip)
{
	switch (oper) {
	case SHUFFLE_COLL_SUM:
		return a + b;
	case SHUFFLE_COLL_MIN:
		return (a ^ flip) < (b ^ flip) ? a : b;
	case SHUFFLE_COLL_MAX:
		return (a ^ flip) > (b ^ flip) ? a : b;
	case SHUFFLE_COLL_AND:
		return a & b;
	case SHUFFLE_COLL_OR:
		return a | b;
	case SHUFFLE_COLL_XOR:
		return a ^ b;
	}
	return a;
}

/**
 * shuffle_coll_item() - bytes of an item
 * @type: enum shuffle_coll_type
 *
 * Return: 1, 2, 4 or 8.
 */
u32 shuffle_coll_item(u8 type)
{
	return 1U << type % 4;
}

/**
 * shuffle_coll_can_combine() - are there such an operator and such items?
 * @oper: enum shuffle_coll_oper
 * @type: enum shuffle_coll_type
 */
bool shuffle_coll_can_combine(u8 oper, u8 type)
{
	return oper > SHUFFLE_COLL_NONE && oper < SHUFFLE_COLL_OPERS && type < SHUFFLE_COLL_TYPES;
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
	u32 item = shuffle_coll_item(type);
	u64 flip = type >= SHUFFLE_COLL_S8 ? 1ULL << (8 * item - 1) : 0, i;
	const u8 *y = in;
	u8 *x = into;

	for (i = 0; i + item <= size; i += item)
		store(x + i, item, combined(oper, load(x + i, item), load(y + i, item), flip));
}
