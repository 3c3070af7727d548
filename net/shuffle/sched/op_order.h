/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of operations that share a link: evenly, the one with the least left first, or
 * the one whose deadline comes first.  Each host decides for itself, at the receiver about
 * grants, at the sender about what is sent next.  Portable (see portable.h).
 *
 * Nothing is sorted.  An operation has a class, half a power of two of what it has left; a
 * device counts the operations and the outstanding bytes of each class, without a lock.
 * Chowdhury, Zhong, Stoica, "Efficient Coflow Scheduling with Varys", orders by the
 * bottleneck of the whole network; here the bottleneck is what a host sees of its own link.
 */
#ifndef _SHUFFLE_OP_ORDER_H
#define _SHUFFLE_OP_ORDER_H

#include "portable.h"
#include "tuning.h"

enum shuffle_op_order {
	SHUFFLE_ORDER_FAIR,	/* all alike */
	SHUFFLE_ORDER_SMALLEST,	/* least left first */
	SHUFFLE_ORDER_DEADLINE,	/* earliest deadline first */
	SHUFFLE_ORDER_KINDS,
};

/* Two for each power of two from 1 KiB, or 1 us, on; 0 is in front of all. */
#define SHUFFLE_ORDER_CLASSES	64U
#define SHUFFLE_ORDER_FIRST	0U
#define SHUFFLE_ORDER_LAST	(SHUFFLE_ORDER_CLASSES - 1)

/**
 * struct shuffle_order - operations that receive by one device, by class
 * @ops: number of operations in each class
 * @out: what the operations of a class have granted and not received, in units of
 *	SHUFFLE_ORDER_UNIT
 */
struct shuffle_order {
	shuffle_counter	ops[SHUFFLE_ORDER_CLASSES];
	shuffle_counter	out[SHUFFLE_ORDER_CLASSES];
};

/* so that 32 bits count 1 TiB */
#define SHUFFLE_ORDER_UNIT	256U

/**
 * struct shuffle_order_place - what an operation has counted in struct shuffle_order
 * @counted: the operation is one of @ops
 * @class: class in which the operation is counted
 * @out: what the operation has added to @out of that class
 */
struct shuffle_order_place {
	bool	counted;
	u8	class;
	u32	out;
};

const char *shuffle_order_name(u8 order);
u8 shuffle_order_class(u64 left);
void shuffle_order_count(struct shuffle_order *o, struct shuffle_order_place *p, bool counted,
			 u8 class, u64 out);
u64 shuffle_order_part(const struct shuffle_order *o, const struct shuffle_order_place *p, u32 all,
		       u64 max_out);
u64 shuffle_order_limit(const struct shuffle_order *o, const struct shuffle_order_place *p,
			u8 class, u64 max_out);

/**
 * shuffle_order_oldest() - is this the turn of the operation that has waited longest?
 * @turn: number of the turn
 *
 * All other turns are for the first in the order.
 *
 * Return: true for one turn of SHUFFLE_ORDER_REST.
 */
static inline bool shuffle_order_oldest(u32 turn)
{
	return turn % SHUFFLE_ORDER_REST == SHUFFLE_ORDER_REST - 1;
}

/**
 * struct shuffle_order_mix - operations, or sockets, that wait for a turn to send
 * @fair: number of those without an order
 * @ordered: number of those with an order
 */
struct shuffle_order_mix {
	u32	fair;
	u32	ordered;
};

/* @n more of @class, or fewer. */
static inline void shuffle_order_mix_add(struct shuffle_order_mix *m, u8 class, int n)
{
	if (class == SHUFFLE_ORDER_FIRST)
		m->fair += n;
	else
		m->ordered += n;
}

/**
 * shuffle_order_fair_turn() - is this the turn of one without an order?
 * @m: numbers of those that wait
 * @turn: number of the turn
 *
 * They have as many turns as if nobody had an order, spread evenly; the first in the order has
 * those of the others.
 *
 * Return: true if it is.
 */
static inline bool shuffle_order_fair_turn(const struct shuffle_order_mix *m, u32 turn)
{
	u32 all = m->fair + m->ordered;
	u64 at;

	if (!m->fair || !m->ordered)
		return m->fair;
	at = (u64)(turn % all) * m->fair;
	return at - shuffle_div64(at, all) * all < m->fair;
}

#endif /* _SHUFFLE_OP_ORDER_H */
