/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Ways through a BCube as Bloom filters, which packets carry.  Portable: no lock, no allocation, no
 * library.
 *
 * The source takes any filter, and bounds the expected number of packets that go wrong;
 * bloom_paper() counts these.  bloom_path() takes one with which none does.
 *
 * Source: Guo et al., sections 4.3 and 5.5.
 */
#ifndef TOPO_WAY_H
#define TOPO_WAY_H

#include "bcube.h"
#include "bloom.h"

/* Servers on a way: two for each stage, but for the last; and the receiver */
#define BLOOM_MAX_PATH		(2 * BCUBE_MAX_DIMS)

u32 bloom_next(const struct shuffle_bloom *f, const struct bcube *c, u32 at, u32 *next);
u32 bloom_path(struct shuffle_bloom *f, const struct bcube *c, const u32 *path, u32 hops,
	       u32 bits);
u32 bloom_paper(struct shuffle_bloom *f, const struct bcube *c, const u32 *path, u32 hops,
		u32 bits);

#endif /* TOPO_WAY_H */
