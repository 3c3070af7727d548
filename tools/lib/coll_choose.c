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

static uint32_t segments(size_t bytes_of_member)
{
	size_t n = bytes_of_member / SEGMENT_BYTES;

	return n > MOST_SEGMENTS ? MOST_SEGMENTS : n ? n : 1;
}

int coll_choose(int kind, size_t all_bytes, uint32_t count, uint32_t *radix)
{
	int few = all_bytes <= SHORT_BYTES, little = all_bytes <= GATHERED_BYTES / count;
	int many = count >= MANY_MEMBERS;

	*radix = many ? BRUCK_RADIX : 2;
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
