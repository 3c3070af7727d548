// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Ways through a BCube as Bloom filters.  Portable, as way.h says. */
#include "way.h"

/* Of a link of the source's form: between a server and its switch of a level. */
#define TO_SWITCH	0x80000000U
#define FROM_SWITCH	0x40000000U

/**
 * bloom_next() - where does a server send a packet?
 * @f: the filter that the packet carries
 * @c: the topology
 * @at: the server
 * @next: the last neighbour that tests positive; untouched if there is none
 *
 * Context: any.
 * Return: how many neighbours test positive: 1 if all is well.
 */
u32 bloom_next(const struct shuffle_bloom *f, const struct bcube *c, u32 at, u32 *next)
{
	u32 dim, digit, n = 0;

	for (dim = 0; dim < c->dims; dim++) {
		for (digit = 0; digit < c->n; digit++) {
			u32 to = bcube_with(c, at, dim, digit);

			if (to == at || !shuffle_bloom_has(f, at, to))
				continue;
			*next = to;
			n++;
		}
	}
	return n;
}

/**
 * bloom_path() - a filter with which forwarding along a way is exact
 * @f: the filter
 * @c: the topology
 * @path: servers, each one hop from the next; the last is the receiver
 * @hops: how many hops: one less than servers
 * @bits: of the filter
 *
 * Context: any.
 * Return: salts that were tried, the last with success; 0 if none of SHUFFLE_BLOOM_SALTS does it.
 */
u32 bloom_path(struct shuffle_bloom *f, const struct bcube *c, const u32 *path, u32 hops,
	       u32 bits)
{
	u32 salt, i, next = 0;

	for (salt = 0; salt < SHUFFLE_BLOOM_SALTS; salt++) {
		shuffle_bloom_begin(f, bits, shuffle_bloom_hashes(bits, c->dims), salt);
		for (i = 0; i < hops; i++)
			shuffle_bloom_add(f, path[i], path[i + 1]);
		for (i = 0; i < hops && bloom_next(f, c, path[i], &next) == 1; i++)
			;
		if (i == hops)
			return salt + 1;
	}
	return 0;
}

/**
 * bloom_paper() - the source's filter of all links, and what goes wrong with it
 * @f: the filter
 * @c: the topology
 * @path: as for bloom_path(); each server is nearer to the last than the one before
 * @hops: one less than servers
 * @bits: of the filter
 *
 * Items are links between servers and switches, 2 (k + 1) of them at most.  A server asks for
 * links that lead nearer to the receiver only; switches make no mistakes (section 4.3).
 *
 * Context: any.
 * Return: links by which servers send the packet, but for those of the way.
 */
u32 bloom_paper(struct shuffle_bloom *f, const struct bcube *c, const u32 *path, u32 hops,
		u32 bits)
{
	u32 i, dim, right, wrong = 0;

	shuffle_bloom_begin(f, bits, shuffle_bloom_hashes(bits, 2 * c->dims), 0);
	for (i = 0; i < hops; i++) {
		dim = bcube_hop(c, path[i], path[i + 1]);
		shuffle_bloom_add(f, path[i], dim | TO_SWITCH);
		shuffle_bloom_add(f, path[i + 1], dim | FROM_SWITCH);
	}
	for (i = 0; i < hops; i++) {
		right = bcube_hop(c, path[i], path[i + 1]);
		for (dim = 0; dim < c->dims; dim++)
			if (dim != right &&
			    bcube_digit(c, path[i], dim) != bcube_digit(c, path[hops], dim))
				wrong += shuffle_bloom_has(f, path[i], dim | TO_SWITCH);
	}
	return wrong;
}
