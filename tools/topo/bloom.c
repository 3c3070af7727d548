// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Bloom filters that carry the way of a packet (portable: see portable.h, bloom.h). */
#include "bloom.h"

/**
 * shuffle_bloom_hashes() - bits of each item that make fewest false positives
 * @bits: of the filter
 * @items: that it will have, at least 1
 *
 * Section 4.2: h = (m / n0) ln 2.
 *
 * Context: any.
 * Return: 1 to SHUFFLE_BLOOM_HASHES.
 */
u32 shuffle_bloom_hashes(u32 bits, u32 items)
{
	u32 h = (bits * 693 + items * 500) / (items * 1000);

	if (!h)
		return 1;
	return h > SHUFFLE_BLOOM_HASHES ? SHUFFLE_BLOOM_HASHES : h;
}

/**
 * shuffle_bloom_begin() - an empty filter
 * @f: the filter
 * @bits: 1 to SHUFFLE_BLOOM_BITS
 * @hashes: 1 to SHUFFLE_BLOOM_HASHES
 * @salt: below SHUFFLE_BLOOM_SALTS
 *
 * Context: any.
 */
void shuffle_bloom_begin(struct shuffle_bloom *f, u32 bits, u32 hashes, u32 salt)
{
	u32 i;

	for (i = 0; i < shuffle_bloom_words(bits); i++)
		f->word[i] = 0;
	f->bits = (u16)bits;
	f->hashes = (u8)hashes;
	f->salt = (u8)salt;
}

/* Mixes all bits of 64 (the finaliser of splitmix64). */
static u64 bloom_mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static u64 bloom_first(const struct shuffle_bloom *f, u32 from, u32 to)
{
	return bloom_mix(((u64)from << 32 | to) + (f->salt + 1ULL) * 0x9e3779b97f4a7c15ULL);
}

/* Any number of bits, without a division. */
static u32 bloom_place(const struct shuffle_bloom *f, u64 x)
{
	return (u32)((x >> 32) * f->bits >> 32);
}

/**
 * shuffle_bloom_add() - a directed hop
 * @f: the filter
 * @from: a server
 * @to: a neighbour
 *
 * Context: any.
 */
void shuffle_bloom_add(struct shuffle_bloom *f, u32 from, u32 to)
{
	u64 x = bloom_first(f, from, to);
	u32 i, at;

	for (i = 0; i < f->hashes; i++) {
		at = bloom_place(f, x);
		f->word[at / 64] |= 1ULL << at % 64;
		x = bloom_mix(x + 0x9e3779b97f4a7c15ULL);
	}
}

/**
 * shuffle_bloom_has() - is a directed hop in the filter?
 * @f: the filter
 * @from: a server
 * @to: a neighbour
 *
 * Context: any.
 * Return: true if it was added, and for a few that were not.
 */
bool shuffle_bloom_has(const struct shuffle_bloom *f, u32 from, u32 to)
{
	u64 x = bloom_first(f, from, to);
	u32 i, at;

	for (i = 0; i < f->hashes; i++) {
		at = bloom_place(f, x);
		if (!(f->word[at / 64] >> at % 64 & 1))
			return false;
		x = bloom_mix(x + 0x9e3779b97f4a7c15ULL);
	}
	return true;
}
