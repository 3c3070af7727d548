// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Places and racks (portable: see plan.h). */
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
