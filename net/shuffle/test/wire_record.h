/* SPDX-License-Identifier: GPL-2.0-only */
/* Records, as the tests of the wire format write and compare them. */
#ifndef _SHUFFLE_WIRE_RECORD_H
#define _SHUFFLE_WIRE_RECORD_H

#include "harness.h"

static inline void put(u8 *p, const struct shuffle_wire *w)
{
	memset(p, 0xa5, SHUFFLE_WIRE_MAX_HDR);
	shuffle_wire_build(p, w);
}

static inline bool same(const struct shuffle_wire *x, const struct shuffle_wire *y)
{
	return x->type == y->type && x->flags == y->flags &&
	       x->src_rank == y->src_rank && x->dst_rank == y->dst_rank &&
	       x->dst_port == y->dst_port && x->payload == y->payload &&
	       x->op_id == y->op_id && x->nonce == y->nonce &&
	       x->src_port == y->src_port && x->digest == y->digest &&
	       x->unsched == y->unsched && x->tag == y->tag &&
	       x->data.len == y->data.len && x->data.off == y->data.off;
}

#endif /* _SHUFFLE_WIRE_RECORD_H */
