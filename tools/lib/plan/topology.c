// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Places and racks. */
#include "plan.h"

/**
 * shuffle_topology_rack() - the rack of a place
 * @t: racks
 * @place: below t->n
 *
 * Return: its number.
 */
u32 shuffle_topology_rack(const struct shuffle_topology *t, u32 place)
{
	u32 low = 0, high = t->racks, mid;

	if (!t->first)
		return 0;
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (t->first[mid] <= place)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/**
 * shuffle_topology_leader() - the leader of a rack, its first member
 * @t: racks
 * @rack: number of a rack
 *
 * Return: its place.
 */
u32 shuffle_topology_leader(const struct shuffle_topology *t, u32 rack)
{
	return t->first ? t->first[rack] : 0;
}

/**
 * shuffle_topology_size() - members of a rack
 * @t: racks
 * @rack: number of a rack
 *
 * Return: their number.
 */
u32 shuffle_topology_size(const struct shuffle_topology *t, u32 rack)
{
	return t->first ? t->first[rack + 1] - t->first[rack] : t->n;
}

/**
 * shuffle_topology_seat() - where a member is
 * @t: racks
 * @place: its place
 *
 * Return: its rack, and its number there.
 */
struct shuffle_seat shuffle_topology_seat(const struct shuffle_topology *t, u32 place)
{
	struct shuffle_seat s = { .rack = shuffle_topology_rack(t, place) };

	s.leader = shuffle_topology_leader(t, s.rack);
	s.size = shuffle_topology_size(t, s.rack);
	s.index = place - s.leader;
	return s;
}

/**
 * shuffle_topology_sizes() - how much racks differ
 * @t: racks
 * @smallest: becomes the members of the smallest one
 * @largest: likewise
 */
void shuffle_topology_sizes(const struct shuffle_topology *t, u32 *smallest, u32 *largest)
{
	u32 i, size;

	*smallest = U32_MAX;
	*largest = 0;
	for (i = 0; i < t->racks; i++) {
		size = shuffle_topology_size(t, i);
		*smallest = size < *smallest ? size : *smallest;
		*largest = size > *largest ? size : *largest;
	}
}

/**
 * shuffle_topology_even() - are there several racks, none of them more than twice another?
 * @t: racks
 *
 * A part of long data has an owner in each rack.  Where one is much smaller than another, few
 * owners would carry what all members of the large one need.
 */
bool shuffle_topology_even(const struct shuffle_topology *t)
{
	u32 smallest, largest;

	shuffle_topology_sizes(t, &smallest, &largest);
	return t->racks > 1 && largest <= 2 * smallest;
}
