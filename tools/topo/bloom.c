// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Bloom filters that carry the way of a packet.  Portable, as bloom.h says. */
#include "bloom.h"

/* Of a link of the source's form: between a server and its switch of a level. */
#define TO_SWITCH	0x80000000U
#define FROM_SWITCH	0x40000000U

/**
 * bloom_hashes() - bits of each item that make fewest false positives
 * @bits: of the filter
 * @items: that it will have, at least 1
 *
 * Section 4.2: h = (m / n0) ln 2.
 *
 * Context: any.
 * Return: 1 to BLOOM_MAX_HASHES.
 */
u32 bloom_hashes(u32 bits, u32 items)
{
	u32 h = (bits * 693 + items * 500) / (items * 1000);

	if (!h)
		return 1;
	return h > BLOOM_MAX_HASHES ? BLOOM_MAX_HASHES : h;
}

/**
 * bloom_begin() - an empty filter
 * @f: the filter
 * @bits: 1 to BLOOM_MAX_BITS
 * @hashes: 1 to BLOOM_MAX_HASHES
 * @salt: below BLOOM_SALTS
 *
 * Context: any.
 */
void bloom_begin(struct bloom *f, u32 bits, u32 hashes, u32 salt)
{
	u32 i;

	for (i = 0; i < (bits + 63) / 64; i++)
		f->word[i] = 0;
	f->bits = (u16)bits;
	f->hashes = (u8)hashes;
	f->salt = (u8)salt;
}

/* Mixes all bits of 64 (the finaliser of splitmix64). */
static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static u64 first(const struct bloom *f, u32 from, u32 to)
{
	return mix(((u64)from << 32 | to) + (f->salt + 1ULL) * 0x9e3779b97f4a7c15ULL);
}

/* Any number of bits, without a division. */
static u32 place(const struct bloom *f, u64 x)
{
	return (u32)((x >> 32) * f->bits >> 32);
}

/**
 * bloom_add() - a directed hop
 * @f: the filter
 * @from: a server
 * @to: a neighbour
 *
 * Context: any.
 */
void bloom_add(struct bloom *f, u32 from, u32 to)
{
	u64 x = first(f, from, to);
	u32 i, at;

	for (i = 0; i < f->hashes; i++) {
		at = place(f, x);
		f->word[at / 64] |= 1ULL << at % 64;
		x = mix(x + 0x9e3779b97f4a7c15ULL);
	}
}

/**
 * bloom_has() - is a directed hop in the filter?
 * @f: the filter
 * @from: a server
 * @to: a neighbour
 *
 * Context: any.
 * Return: true if it was added, and for a few that were not.
 */
bool bloom_has(const struct bloom *f, u32 from, u32 to)
{
	u64 x = first(f, from, to);
	u32 i, at;

	for (i = 0; i < f->hashes; i++) {
		at = place(f, x);
		if (!(f->word[at / 64] >> at % 64 & 1))
			return false;
		x = mix(x + 0x9e3779b97f4a7c15ULL);
	}
	return true;
}

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
u32 bloom_next(const struct bloom *f, const struct bcube *c, u32 at, u32 *next)
{
	u32 dim, digit, n = 0;

	for (dim = 0; dim < c->dims; dim++) {
		for (digit = 0; digit < c->n; digit++) {
			u32 to = bcube_with(c, at, dim, digit);

			if (to == at || !bloom_has(f, at, to))
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
 * Return: salts that were tried, the last with success; 0 if none of BLOOM_SALTS does it.
 */
u32 bloom_path(struct bloom *f, const struct bcube *c, const u32 *path, u32 hops, u32 bits)
{
	u32 salt, i, next = 0;

	for (salt = 0; salt < BLOOM_SALTS; salt++) {
		bloom_begin(f, bits, bloom_hashes(bits, c->dims), salt);
		for (i = 0; i < hops; i++)
			bloom_add(f, path[i], path[i + 1]);
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
u32 bloom_paper(struct bloom *f, const struct bcube *c, const u32 *path, u32 hops, u32 bits)
{
	u32 i, dim, right, wrong = 0;

	bloom_begin(f, bits, bloom_hashes(bits, 2 * c->dims), 0);
	for (i = 0; i < hops; i++) {
		dim = bcube_hop(c, path[i], path[i + 1]);
		bloom_add(f, path[i], dim | TO_SWITCH);
		bloom_add(f, path[i + 1], dim | FROM_SWITCH);
	}
	for (i = 0; i < hops; i++) {
		right = bcube_hop(c, path[i], path[i + 1]);
		for (dim = 0; dim < c->dims; dim++)
			if (dim != right &&
			    bcube_digit(c, path[i], dim) != bcube_digit(c, path[hops], dim))
				wrong += bloom_has(f, path[i], dim | TO_SWITCH);
	}
	return wrong;
}
