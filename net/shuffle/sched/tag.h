/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tags: with a group key, each record proves that its sender knows the key.
 *
 * The tag of a control record is the first half of SipHash-2-4-128 of its header under the
 * group key.
 *
 * DATA: a super-packet has some 40 records, and a SipHash for each of them would cost a
 * third of what a record costs at MTU 1500.  So the parts of the header that all records
 * of a message share are hashed once for a run of records, and a record's place in the
 * message (offset and payload length) is added by a universal hash (Wegman and Carter,
 * 1981): one multiplication modulo 2^64 by an odd number that only the key gives.  The two
 * halves of the hash are what the places are added to and that number.
 *
 * Without the key nobody can make a tag for another message, operation, member or type.
 * An observer of two records of one message can compute tags for other places of that
 * message, and has at most 48 bits to guess after one record.  An observer on the path could
 * change the payload of that message as well, which no tag covers.  Payload against attackers
 * on the path is what IPsec and WireGuard are for.
 *
 * Portable: see portable.h.
 */
#ifndef _SHUFFLE_TAG_H
#define _SHUFFLE_TAG_H

#include "wire.h"

#define SHUFFLE_KEY_LEN		16U	/* bytes of a group key */

/**
 * struct shuffle_key - a group key
 * @k: halves of the key, little-endian as SipHash reads them
 */
struct shuffle_key {
	u64	k[2];
};

/**
 * struct shuffle_data_tag - makes the tags of one message's DATA records
 * @base: tag of what the records of the message share
 * @mul: odd factor that weighs a record's place
 */
struct shuffle_data_tag {
	u64	base;
	u64	mul;
};

/**
 * shuffle_data_tag() - the tag of one DATA record
 * @t: makes the tags of the record's message
 * @off: offset of the record's payload in the message
 * @payload: bytes of the payload
 */
static inline u64 shuffle_data_tag(const struct shuffle_data_tag *t, u64 off, u16 payload)
{
	return t->base + t->mul * (off << 16 | payload);
}

/**
 * shuffle_data_tag_step() - what tags grow by from one DATA record to the next
 * @t: makes the tags of the records' message
 * @payload: bytes of each of the two; one begins where the other ends
 */
static inline u64 shuffle_data_tag_step(const struct shuffle_data_tag *t, u16 payload)
{
	return t->mul * ((u64)payload << 16);
}

void shuffle_key_read(struct shuffle_key *key, const u8 *bytes);
void shuffle_siphash(const struct shuffle_key *key, const u8 *p, size_t len, u64 out[2]);
void shuffle_data_tag_init(struct shuffle_data_tag *t, const struct shuffle_key *key,
			   const struct shuffle_wire *w);
u64 shuffle_tag(const struct shuffle_key *key, const struct shuffle_wire *w);

#endif /* _SHUFFLE_TAG_H */
