// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tags of records (portable: see portable.h, tag.h).
 *
 * SipHash-2-4 after Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), with
 * 128 bits of output as in their reference program.
 */
#include "tag.h"

struct sip {
	u64	v0, v1, v2, v3;
};

/* Always inline: the four words are to stay in registers. */

static __always_inline u64 rotl(u64 x, u32 n)
{
	return x << n | x >> (64 - n);
}

static __always_inline void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotl(s->v1, 13) ^ s->v0;
	s->v3 = rotl(s->v3, 16) ^ s->v2;
	s->v0 = rotl(s->v0, 32) + s->v3;
	s->v2 += s->v1;
	s->v3 = rotl(s->v3, 21) ^ s->v0;
	s->v1 = rotl(s->v1, 17) ^ s->v2;
	s->v2 = rotl(s->v2, 32);
}

static __always_inline void sip_word(struct sip *s, u64 m)
{
	s->v3 ^= m;
	sip_round(s);
	sip_round(s);
	s->v0 ^= m;
}

static __always_inline void sip_rounds(struct sip *s, int n)
{
	while (n--)
		sip_round(s);
}

/* What is left behind the last whole word. */
static u64 sip_rest(const u8 *p, size_t n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/**
 * shuffle_key_read() - a key from its bytes
 * @key: result
 * @bytes: SHUFFLE_KEY_LEN of them
 */
void shuffle_key_read(struct shuffle_key *key, const u8 *bytes)
{
	key->k[0] = shuffle_get_le64(bytes);
	key->k[1] = shuffle_get_le64(bytes + 8);
}

/**
 * shuffle_siphash() - SipHash-2-4, 128 bits
 * @key: key
 * @p: input
 * @len: bytes at @p
 * @out: result, two independent numbers
 */
void shuffle_siphash(const struct shuffle_key *key, const u8 *p, size_t len, u64 out[2])
{
	struct sip s = {
		.v0 = key->k[0] ^ 0x736f6d6570736575ULL,
		.v1 = key->k[1] ^ 0x646f72616e646f6dULL ^ 0xee,
		.v2 = key->k[0] ^ 0x6c7967656e657261ULL,
		.v3 = key->k[1] ^ 0x7465646279746573ULL,
	};
	u64 last = (u64)len << 56;

	for (; len >= 8; p += 8, len -= 8)
		sip_word(&s, shuffle_get_le64(p));
	sip_word(&s, last | sip_rest(p, len));
	s.v2 ^= 0xee;
	sip_rounds(&s, 4);
	out[0] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	s.v1 ^= 0xdd;
	sip_rounds(&s, 4);
	out[1] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/**
 * shuffle_data_tag_init() - prepare the tags of a message's DATA records
 * @t: result
 * @key: of the group
 * @w: one of the records, with SHUFFLE_FLAG_TAG; offset, payload and tag are not looked at.  With
 *	SHUFFLE_FLAG_DIGEST: the one that begins the message, others have no such flag
 */
void shuffle_data_tag_init(struct shuffle_data_tag *t, const struct shuffle_key *key,
			   const struct shuffle_wire *w)
{
	u8 hdr[SHUFFLE_WIRE_MAX_HDR];
	u64 hash[2];

	shuffle_wire_build(hdr, w);
	/* a digest is hashed with the rest */
	shuffle_wire_place(hdr, w->flags & SHUFFLE_FLAG_DIGEST ? w->digest : 0, 0);
	shuffle_siphash(key, hdr, SHUFFLE_WIRE_DATA_HDR, hash);
	t->base = hash[0];
	t->mul = hash[1] | 1;
}

/**
 * shuffle_tag() - the tag of a record
 * @key: of the group
 * @w: the record, with SHUFFLE_FLAG_TAG; its tag is not looked at
 *
 * Return: the tag.
 */
u64 shuffle_tag(const struct shuffle_key *key, const struct shuffle_wire *w)
{
	struct shuffle_data_tag t;
	u8 hdr[SHUFFLE_WIRE_MAX_HDR];
	u64 hash[2];

	if (w->type == SHUFFLE_DATA) {
		shuffle_data_tag_init(&t, key, w);
		return shuffle_data_tag(&t, w->data.off, w->payload);
	}
	shuffle_siphash(key, hdr, shuffle_wire_build(hdr, w) - SHUFFLE_WIRE_TAG, hash);
	return hash[0];
}
