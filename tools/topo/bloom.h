/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Bloom filters that carry the way of a packet.  Portable: no lock, no allocation, no library.
 *
 * A server that has a packet sends it to the neighbour whose hop the filter has.  Whoever plans
 * knows the way, so it takes a salt with which no other neighbour of any server on the way tests
 * positive: forwarding is then exact.  The source takes any filter, and bounds the expected number
 * of packets that go wrong; bloom_paper() counts these.
 *
 * Source: Guo et al., sections 4.3 and 5.5.
 */
#ifndef TOPO_BLOOM_H
#define TOPO_BLOOM_H

#include "bcube.h"

#define BLOOM_MAX_BITS		1024U
#define BLOOM_MAX_HASHES	32U
#define BLOOM_SALTS		256U
/* Servers on a way: two for each stage, but for the last; and the receiver */
#define BLOOM_MAX_PATH		(2 * BCUBE_MAX_DIMS)

/**
 * struct bloom - a filter
 * @word: its bits
 * @bits: how many: 1 to BLOOM_MAX_BITS
 * @hashes: bits of each item
 * @salt: makes other bits of the same items
 */
struct bloom {
	u64	word[BLOOM_MAX_BITS / 64];
	u16	bits;
	u8	hashes;
	u8	salt;
};

u32 bloom_hashes(u32 bits, u32 items);
void bloom_begin(struct bloom *f, u32 bits, u32 hashes, u32 salt);
void bloom_add(struct bloom *f, u32 from, u32 to);
bool bloom_has(const struct bloom *f, u32 from, u32 to);
u32 bloom_next(const struct bloom *f, const struct bcube *c, u32 at, u32 *next);
u32 bloom_path(struct bloom *f, const struct bcube *c, const u32 *path, u32 hops, u32 bits);
u32 bloom_paper(struct bloom *f, const struct bcube *c, const u32 *path, u32 hops, u32 bits);

#endif /* TOPO_BLOOM_H */
