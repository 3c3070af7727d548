/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows on their way to other hosts; shared by exchange.c and exchange_join.c. */
#ifndef QUERY_EXCHANGE_H
#define QUERY_EXCHANGE_H

#include "op.h"

/**
 * struct parcels - what goes to each host, and what comes
 * @hosts: their number
 * @rows: rows for each that are not yet encoded
 * @bytes: the message to each
 * @sent: rows for each
 * @inbox: the messages of all, once exchanged
 * @from: the message that is read
 * @at: bytes of it that have been
 */
struct parcels {
	unsigned int hosts;
	struct batch *rows;
	struct bytes *bytes;
	uint64_t *sent;
	struct inbox inbox;
	unsigned int from;
	size_t at;
};

void parcels_init(struct parcels *p, unsigned int hosts, const struct batch *as);
void parcels_put(struct parcels *p, unsigned int host, const struct batch *b, size_t row);
void parcels_exchange(struct parcels *p, struct op *op);
struct batch *parcels_next(struct parcels *p, struct op *op);
void parcels_free(struct parcels *p);

/* Where a hash belongs: as many of them to each host, but for one. */
static inline unsigned int host_of(uint64_t hash, unsigned int hosts)
{
	return (hash >> 32) * hosts >> 32;
}

#endif /* QUERY_EXCHANGE_H */
