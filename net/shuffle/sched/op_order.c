// SPDX-License-Identifier: GPL-2.0-only
/* The order of operations that share a link (portable: see portable.h, op_order.h). */
#include "op_order.h"

static const char *const names[SHUFFLE_ORDER_KINDS] = {
	[SHUFFLE_ORDER_FAIR] = "fair",
	[SHUFFLE_ORDER_SMALLEST] = "smallest",
	[SHUFFLE_ORDER_DEADLINE] = "deadline",
};

/**
 * shuffle_order_name() - what an order is called
 * @order: enum shuffle_op_order
 *
 * Return: its name.
 */
const char *shuffle_order_name(u8 order)
{
	return names[order];
}

/**
 * shuffle_order_class() - the class of an operation
 * @left: bytes that it has left, or ns until its deadline
 *
 * Return: 1 to SHUFFLE_ORDER_LAST, smaller is sooner.
 */
u8 shuffle_order_class(u64 left)
{
	u32 class = 1, bits;

	left >>= 10;
	if (left < 2)
		return class + left;
	bits = shuffle_bits(left) - 1;
	class += 2 * bits + (left >> (bits - 1) & 1);
	return class < SHUFFLE_ORDER_LAST ? class : SHUFFLE_ORDER_LAST;
}

/**
 * shuffle_order_count() - an operation has another class, or other grants
 * @o: of its device
 * @p: what it has counted there
 * @counted: it takes part
 * @class: class of the operation
 * @out: bytes that it has granted and not got
 *
 * Counters change one by one: another CPU may see an operation twice, or not at all, for a
 * moment, and grant a little more or less.
 */
void shuffle_order_count(struct shuffle_order *o, struct shuffle_order_place *p, bool counted,
			 u8 class, u64 out)
{
	u64 units = counted ? (out + SHUFFLE_ORDER_UNIT - 1) / SHUFFLE_ORDER_UNIT : 0;
	struct shuffle_order_place new = {
		.counted = counted,
		.class = class,
		.out = units < U32_MAX / 2 ? units : U32_MAX / 2,
	};

	if (p->counted && counted && p->class == class) {
		if (new.out != p->out)
			shuffle_counter_add(&o->out[class], new.out - p->out);
	} else {
		if (p->counted) {
			shuffle_counter_add(&o->ops[p->class], -1U);
			shuffle_counter_add(&o->out[p->class], -p->out);
		}
		if (counted) {
			shuffle_counter_add(&o->ops[class], 1);
			shuffle_counter_add(&o->out[class], new.out);
		}
	}
	*p = new;
}

/**
 * shuffle_order_part() - what of a limit is for operations that have an order
 * @o: of the device
 * @p: what the operation in question, which has an order, has counted there
 * @all: operations that receive by the device, that one and those without an order included
 * @max_out: limit of the device, bytes
 *
 * Those without an order have an even share of it, as if none had one.
 *
 * Return: bytes.
 */
u64 shuffle_order_part(const struct shuffle_order *o, const struct shuffle_order_place *p, u32 all,
		       u64 max_out)
{
	u32 ordered = !p->counted, i;

	for (i = 0; i < SHUFFLE_ORDER_CLASSES; i++)
		ordered += shuffle_counter_read(&o->ops[i]);
	/* another CPU may have counted in one place and not yet in the other */
	return ordered < all ? shuffle_div64(max_out * ordered, all) : max_out;
}

/**
 * shuffle_order_limit() - most that an operation may have granted and not got
 * @o: of its device
 * @p: what it has counted there
 * @class: class of the operation
 * @max_out: limit of the device, bytes
 *
 * What is before it has all of the limit that it uses; so a link is not idle when senders
 * of the first operations are busy elsewhere.  Those of one class share evenly.  All together
 * are left the SHUFFLE_ORDER_REST-th part: every operation goes on.
 *
 * Return: bytes; 0 if the share is less than one.
 */
u64 shuffle_order_limit(const struct shuffle_order *o, const struct shuffle_order_place *p,
			u8 class, u64 max_out)
{
	u64 least, left, before = 0;
	u32 ops, all = !p->counted, i;

	for (i = 0; i < SHUFFLE_ORDER_CLASSES; i++) {
		all += shuffle_counter_read(&o->ops[i]);
		if (i < class)
			before += shuffle_counter_read(&o->out[i]);
	}
	/* its own, of the class that it was in */
	if (p->counted && p->class < class)
		before -= before < p->out ? before : p->out;
	before *= SHUFFLE_ORDER_UNIT;
	left = before < max_out ? max_out - before : 0;
	ops = shuffle_counter_read(&o->ops[class]) + !(p->counted && p->class == class);
	left = ops > 1 ? shuffle_div64(left, ops) : left;
	/* another CPU may have taken it out for a moment */
	least = shuffle_div64(max_out / SHUFFLE_ORDER_REST, all ? all : 1);
	return left > least ? left : least;
}
