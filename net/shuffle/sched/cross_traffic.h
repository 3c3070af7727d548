/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much receivers grant while others use their link.
 *
 * What has been granted stands in the queue of the last link.  A flow that looks for its window
 * there, like TCP, gets the part of the link that its window is of the queue.  So a receiver
 * grants less while others send to its host, until they have the part that it is to leave them,
 * or want no more.
 *
 * Portable: see portable.h.
 */
#ifndef _SHUFFLE_CROSS_TRAFFIC_H
#define _SHUFFLE_CROSS_TRAFFIC_H

#include "portable.h"

/* Others that have less than so much of what comes are not looked at, %. */
#define SHUFFLE_CROSS_SEEN	5

/* Limits are in quarters of RTTbytes: the first below the setting, and the least. */
#define SHUFFLE_CROSS_QUARTERS	4
#define SHUFFLE_CROSS_FIRST	12
#define SHUFFLE_CROSS_LEAST	4

/* A limit changes by this part of itself. */
#define SHUFFLE_CROSS_STEP	8

/* How far from its goal a part may be before the limit changes, % of what comes */
#define SHUFFLE_CROSS_SLACK	3

/* What the link has carried is as much as this part of the most; that is forgotten slowly. */
#define SHUFFLE_CROSS_FULL	8
#define SHUFFLE_CROSS_FORGET	64

/**
 * shuffle_cross_full() - does a link carry as much as it can?
 * @most: what it has carried at most, Mb/s; changed
 * @bytes: bytes that have come, less than 2^50
 * @ns: time in which the bytes have come, not 0
 *
 * Return: whether it is an eighth less than the most, or better.
 */
static inline bool shuffle_cross_full(u32 *most, u64 bytes, u64 ns)
{
	u64 mbps = shuffle_div64(bytes * 8000, ns);
	u32 now = mbps < U32_MAX ? (u32)mbps : U32_MAX;
	bool full = now >= *most - *most / SHUFFLE_CROSS_FULL;

	*most -= *most / SHUFFLE_CROSS_FORGET + !!*most;
	if (now > *most)
		*most = now;
	return full;
}

/**
 * shuffle_cross_limit() - how much to grant, from what has come in a while
 * @limit: the limit so far, quarters of RTTbytes; 0: no traffic of others has been seen
 * @overcommit: setting, RTTbytes
 * @give_way: setting: part of the link that is left to others, %; 0: nothing
 * @own: bytes of shuffles that have come, less than 2^57
 * @all: bytes that have come, of shuffles and of others
 * @full: shuffle_cross_full(): otherwise nobody is held back by what is granted
 *
 * Return: the limit from now on.
 */
static inline u32 shuffle_cross_limit(u32 limit, u32 overcommit, u32 give_way, u64 own, u64 all,
				      bool full)
{
	u32 most = overcommit * SHUFFLE_CROSS_QUARTERS;
	u32 step = SHUFFLE_CROSS_STEP;
	u64 part;

	if (!give_way)
		return 0;
	part = all > own ? shuffle_div64((all - own) * 100, all) : 0;
	if (part < SHUFFLE_CROSS_SEEN) {
		/* they have gone: half as much again each time, so that a pause costs little */
		limit += limit / 2;
		return limit < most ? limit : 0;
	}
	/* far from it: a shuffle may last for a few steps only */
	if (part < give_way - give_way / 4)
		step /= 2;
	if (!limit)
		limit = most;	/* a few packets at once are nobody: what comes next will tell */
	else if (!full || part > give_way + SHUFFLE_CROSS_SLACK)
		limit += limit / SHUFFLE_CROSS_STEP ? limit / SHUFFLE_CROSS_STEP : 1;
	else if (part + SHUFFLE_CROSS_SLACK < give_way && limit > SHUFFLE_CROSS_FIRST)
		limit = SHUFFLE_CROSS_FIRST;
	else if (part + SHUFFLE_CROSS_SLACK < give_way)
		limit -= limit / step ? limit / step : 1;
	limit = limit > SHUFFLE_CROSS_LEAST ? limit : SHUFFLE_CROSS_LEAST;
	return limit < most ? limit : most;
}

#endif /* _SHUFFLE_CROSS_TRAFFIC_H */
