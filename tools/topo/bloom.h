/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Bloom filters that carry the way of a packet (portable: see portable.h).
 *
 * A server that has a packet sends it to the neighbour whose hop the filter has.  Whoever plans
 * knows the way, so it takes a salt with which no other neighbour of any server on the way tests
 * positive: forwarding is then exact.
 *
 * Source: Guo et al., "Exploiting Efficient and Scalable Shuffle Transfers in Future Data Center
 * Networks", sections 4.2 and 4.3; the salt is ours.
 */
#ifndef _SHUFFLE_BLOOM_H
#define _SHUFFLE_BLOOM_H

#include "portable.h"

#define SHUFFLE_BLOOM_BITS	1024U	/* of a filter, at most */
#define SHUFFLE_BLOOM_WORDS	(SHUFFLE_BLOOM_BITS / 64)
#define SHUFFLE_BLOOM_HASHES	32U	/* bits of an item, at most */
#define SHUFFLE_BLOOM_SALTS	256U

/**
 * struct shuffle_bloom - a filter
 * @word: its bits
 * @bits: how many: 1 to SHUFFLE_BLOOM_BITS
 * @hashes: bits of each item: 1 to SHUFFLE_BLOOM_HASHES
 * @salt: makes other bits of the same items
 */
struct shuffle_bloom {
	u64	word[SHUFFLE_BLOOM_WORDS];
	u16	bits;
	u8	hashes;
	u8	salt;
};

/**
 * shuffle_bloom_words() - words that hold the bits of a filter
 * @bits: how many
 *
 * Return: words of 64 bits.
 */
static inline u32 shuffle_bloom_words(u32 bits)
{
	return (bits + 63) / 64;
}

u32 shuffle_bloom_hashes(u32 bits, u32 items);
void shuffle_bloom_begin(struct shuffle_bloom *f, u32 bits, u32 hashes, u32 salt);
void shuffle_bloom_add(struct shuffle_bloom *f, u32 from, u32 to);
bool shuffle_bloom_has(const struct shuffle_bloom *f, u32 from, u32 to);

#endif /* _SHUFFLE_BLOOM_H */
