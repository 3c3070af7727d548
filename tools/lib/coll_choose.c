// SPDX-License-Identifier: BSD-3-Clause
/* Collectives: which pattern is best, by kind, size and number of members. */
#include "coll.h"

/* up to so many bytes the number of steps matters, above it what each link carries */
#define SHORT_BYTES	(32U << 10)

/* long data goes in segments of so many bytes for each member */
#define SEGMENT_BYTES	2048
#define MOST_SEGMENTS	16

/* of a tree that gathers or scatters little: Li, section 2.1.4 */
#define GATHER_RADIX	6
#define BROADCAST_RADIX	7
/* so many packets leave the root in the time of a hop */
#define FLAT_MEMBERS	40
#define FLAT_BYTES	256

/* Of a large group the hops cost more than the messages: to radix - 1 members at once.  A vector
 * that is short even if all members' are sent is combined by each of them then.
 */
#define MANY_MEMBERS	33
#define BRUCK_RADIX	4
#define GATHERED_BYTES	SHUFFLE_COLL_MAX_BYTES

/* Over racks the phases of COOL-P-P are three steps, of which one crosses; a leader takes what its
 * rack has at once, and that may have so many bytes before more steps are faster.
 */
#define RACK_BYTES	(16U << 10)

static int over_racks(int kind, size_t all_bytes, const struct shuffle_topology *topo)
{
	uint32_t i, largest = 1;

	/* flat's one step is faster than three */
	if (topo->racks <= 1 || kind == SHUFFLE_COLL_BROADCAST)
		return 0;
	for (i = 0; i < topo->racks; i++)
		if (shuffle_topology_size(topo, i) > largest)
			largest = shuffle_topology_size(topo, i);
	return all_bytes <= RACK_BYTES / largest &&
	       shuffle_plan_possible(kind, SHUFFLE_COLL_COOL_PP);
}

static uint32_t segments(size_t bytes_of_member)
{
	size_t n = bytes_of_member / SEGMENT_BYTES;

	return n > MOST_SEGMENTS ? MOST_SEGMENTS : n ? n : 1;
}

int coll_choose(int kind, size_t all_bytes, const struct shuffle_topology *topo, uint32_t *radix)
{
	uint32_t count = topo->n;
	int few = all_bytes <= SHORT_BYTES, little = all_bytes <= GATHERED_BYTES / count;
	int many = count >= MANY_MEMBERS;

	*radix = many ? BRUCK_RADIX : 2;
	if (over_racks(kind, all_bytes, topo))
		return SHUFFLE_COLL_COOL_PP;
	switch (kind) {
	case SHUFFLE_COLL_SCATTER:
	case SHUFFLE_COLL_GATHER:
		*radix = GATHER_RADIX;
		return few ? SHUFFLE_COLL_TREE : SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_ALLGATHER:
		return few ? SHUFFLE_COLL_DOUBLING : SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_BROADCAST:
	case SHUFFLE_COLL_REDUCE:
		if (few) {
			/* a child waits for the packets before its own, not for steps */
			if (kind == SHUFFLE_COLL_BROADCAST && count <= FLAT_MEMBERS &&
			    all_bytes <= FLAT_BYTES)
				return SHUFFLE_COLL_FLAT;
			*radix = kind == SHUFFLE_COLL_BROADCAST ? BROADCAST_RADIX : 2;
			return SHUFFLE_COLL_TREE;
		}
		*radix = segments(all_bytes / count);
		return SHUFFLE_COLL_SPREAD;
	case SHUFFLE_COLL_ALLREDUCE:
		if (many && little)
			return SHUFFLE_COLL_GATHERED;
		*radix = segments(all_bytes / count);
		return few ? SHUFFLE_COLL_DOUBLING : SHUFFLE_COLL_SPREAD;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_SCAN:
		return many && little ? SHUFFLE_COLL_GATHERED : SHUFFLE_COLL_DOUBLING;
	case SHUFFLE_COLL_EXSCAN:
		return little ? SHUFFLE_COLL_GATHERED : SHUFFLE_COLL_DOUBLING;
	default:
		return SHUFFLE_COLL_DOUBLING;
	}
}
