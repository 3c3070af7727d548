// SPDX-License-Identifier: BSD-3-Clause
/* Collectives: which pattern is best, by kind, size and number of members. */
#include "coll.h"

/* up to so many bytes the number of steps matters, above it what each link carries */
#define SHORT_BYTES	(32U << 10)

/* Where members are few, messages of whole vectors cost a tenth to a third of the processors'
 * time of parts that go to everybody.  Up to so many bytes that is worth more than the links' time,
 * which is that of the tree's levels.
 */
#define TREE_BYTES	(128U << 10)
#define FEW_MEMBERS	16
#define FEW_TREE_BYTES	(1U << 20)

/* An all-reduce goes up and down a tree from here on: fewer messages than by doubling, twice the
 * steps.
 */
#define TREE_ALLREDUCE	4096

/* Long data goes in segments of so many bytes for each member: more segments wait less for the
 * first and the last one, but what is shorter than a packet of an Ethernet has as long headers.
 */
#define SEGMENT_BYTES	1300
#define MOST_SEGMENTS	20
/* over racks a segment of a broadcast or reduce waits for each of them */
#define RACK_SEGMENTS	24

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
/* messages that a leader may have in a step, before that takes longer than more steps */
#define RACK_MESSAGES	64

/* Blocks of an all-to-all that are packed over racks.  Headers of 100 bytes are saved on a trunk,
 * which may have a quarter of what its rack's hosts can send, and the rack carries the data twice.
 */
#define PACKED_BYTES	256

static int over_racks(int kind, size_t all_bytes, const struct shuffle_topology *topo)
{
	uint32_t smallest, largest;

	/* flat's one step is faster than three */
	if (topo->racks <= 1 || kind == SHUFFLE_COLL_BROADCAST)
		return 0;
	shuffle_topology_sizes(topo, &smallest, &largest);
	if (largest < topo->racks)
		largest = topo->racks;
	return largest <= RACK_MESSAGES && all_bytes <= RACK_BYTES / largest &&
	       shuffle_plan_possible(kind, SHUFFLE_COLL_COOL_PP);
}

static uint32_t segments(size_t bytes_of_member, uint32_t most)
{
	size_t n = bytes_of_member / SEGMENT_BYTES;

	return n > most ? most : n ? n : 1;
}

/* Of a broadcast or reduce over racks: a part for as many members as each rack has. */
static uint32_t rack_segments(size_t all_bytes, const struct shuffle_topology *topo)
{
	uint32_t smallest, largest;

	shuffle_topology_sizes(topo, &smallest, &largest);
	return segments(all_bytes / smallest, RACK_SEGMENTS);
}

/* Is an all-reduce over even racks faster than doubling, though it is not long?  Not where the
 * kernel can do it, nor where owners have to talk to very many racks.
 */
static int pays_over_racks(size_t all_bytes, uint32_t racks)
{
	return racks <= RACK_MESSAGES && all_bytes > SHUFFLE_COLL_MAX_BYTES;
}

/* Of an all-reduce over racks, which has two steps for each. */
static uint32_t reduce_segments(size_t all_bytes)
{
	return all_bytes >= 512U << 10 ? 4 : all_bytes >= 64U << 10 ? 2 : 1;
}

/* What goes to all members crosses each link once. */
static int by_multicast(int kind, size_t all_bytes)
{
	/* the kernel's engine has no multicast, and is faster for little */
	return kind == SHUFFLE_COLL_BROADCAST && all_bytes > SHUFFLE_COLL_MAX_BYTES;
}

/* All-to-all: two steps of few messages over racks, or one of many.  Leaders are never faster. */
int coll_choose_alltoall(const struct shuffle_coll *c, size_t size)
{
	switch (c->pattern) {
	case SHUFFLE_COLL_FLAT:
	case SHUFFLE_COLL_SPREAD:
	case SHUFFLE_COLL_COOL_PP:
		return c->pattern;
	}
	/* a rack for each member packs nothing */
	return c->topo.racks > 1 && c->topo.racks < c->count && size <= PACKED_BYTES ?
	       SHUFFLE_COLL_SPREAD : SHUFFLE_COLL_FLAT;
}

/* May a broadcast, reduction or all-reduce be by a tree, though it is not short? */
static int by_tree(const struct shuffle_coll *c, size_t all_bytes)
{
	uint32_t count = c->topo.n;

	if (c->topo.racks > 1 || count >= MANY_MEMBERS)
		return 0;
	return all_bytes <= (count <= FEW_MEMBERS ? FEW_TREE_BYTES : TREE_BYTES);
}

int coll_choose(const struct shuffle_coll *c, int kind, size_t all_bytes, uint32_t *radix)
{
	const struct shuffle_topology *topo = &c->topo;
	uint32_t count = topo->n;
	int few = all_bytes <= SHORT_BYTES, little = all_bytes <= GATHERED_BYTES / count;
	int many = count >= MANY_MEMBERS, even = shuffle_topology_even(topo);

	*radix = many ? BRUCK_RADIX : 2;
	if (c->multicast && by_multicast(kind, all_bytes))
		return SHUFFLE_COLL_FLAT;
	if (over_racks(kind, all_bytes, topo))
		return SHUFFLE_COLL_COOL_PP;
	switch (kind) {
	case SHUFFLE_COLL_SCATTER:
	case SHUFFLE_COLL_GATHER:
		*radix = GATHER_RADIX;
		return few ? SHUFFLE_COLL_TREE : SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_ALLGATHER:
		return few ? SHUFFLE_COLL_DOUBLING :
		       even ? SHUFFLE_COLL_SPREAD : SHUFFLE_COLL_FLAT;
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
		if (by_tree(c, all_bytes)) {
			*radix = 2;
			return SHUFFLE_COLL_TREE;
		}
		*radix = even ? rack_segments(all_bytes, topo) :
			 segments(all_bytes / count, MOST_SEGMENTS);
		return SHUFFLE_COLL_SPREAD;
	case SHUFFLE_COLL_ALLREDUCE:
		if (many && little)
			return SHUFFLE_COLL_GATHERED;
		if (all_bytes >= TREE_ALLREDUCE && by_tree(c, all_bytes)) {
			*radix = 2;
			return SHUFFLE_COLL_TREE;
		}
		*radix = even ? reduce_segments(all_bytes) :
			 segments(all_bytes / count, MOST_SEGMENTS);
		if (even && pays_over_racks(all_bytes, topo->racks))
			return SHUFFLE_COLL_SPREAD;
		return few ? SHUFFLE_COLL_DOUBLING : SHUFFLE_COLL_SPREAD;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		return !few && even ? SHUFFLE_COLL_SPREAD : SHUFFLE_COLL_FLAT;
	case SHUFFLE_COLL_SCAN:
		return many && little ? SHUFFLE_COLL_GATHERED : SHUFFLE_COLL_DOUBLING;
	case SHUFFLE_COLL_EXSCAN:
		return little ? SHUFFLE_COLL_GATHERED : SHUFFLE_COLL_DOUBLING;
	default:
		return SHUFFLE_COLL_DOUBLING;
	}
}
