// SPDX-License-Identifier: GPL-2.0-only
/*
 * Building and parsing records (portable: see portable.h).  Every value from the wire is
 * bounded here, once, before anything else looks at it.
 */
#include "wire.h"

/**
 * shuffle_wire_hdr_len() - bytes of a record's header
 * @type: enum shuffle_wire_type
 *
 * Return: bytes without payload, 0 for a type that does not exist.
 */
unsigned int shuffle_wire_hdr_len(u8 type)
{
	switch (type) {
	case SHUFFLE_DATA:
	case SHUFFLE_GRANT:
	case SHUFFLE_RESEND:
		return SHUFFLE_WIRE_BASE + 16;
	case SHUFFLE_ACK:
		return SHUFFLE_WIRE_BASE;
	}
	return 0;
}

/**
 * shuffle_wire_parse() - read and check one record
 * @p: its first byte
 * @avail: bytes readable at @p; at least min(@left, SHUFFLE_WIRE_MAX_HDR)
 * @left: bytes from @p to the end of the datagram, the payload included
 * @w: result, valid on success
 *
 * Return: length of the header; the payload (@w->payload bytes, all within @left)
 * follows.  -EPROTONOSUPPORT: another version; -EBADMSG: malformed.
 */
int shuffle_wire_parse(const u8 *p, size_t avail, size_t left, struct shuffle_wire *w)
{
	unsigned int hdr;
	u16 unsched;

	if (left < SHUFFLE_WIRE_BASE || avail < SHUFFLE_WIRE_BASE)
		return -EBADMSG;
	if (p[0] >> 4 != SHUFFLE_WIRE_VERSION)
		return -EPROTONOSUPPORT;

	w->type = p[0] & 0xf;
	w->flags = p[1];
	hdr = shuffle_wire_hdr_len(w->type);
	if (!hdr || left < hdr || avail < hdr)
		return -EBADMSG;
	if (w->flags & ~(w->type == SHUFFLE_DATA ? SHUFFLE_FLAGS_DATA : 0))
		return -EBADMSG;

	w->src_rank = shuffle_get16(p + 2);
	w->dst_port = shuffle_get16(p + 4);
	w->dst_rank = shuffle_get16(p + 6);
	w->op_id = shuffle_get64(p + 8);
	w->nonce = shuffle_get32(p + 16);
	unsched = shuffle_get16(p + 20);
	w->unsched = (u32)unsched * SHUFFLE_UNSCHED_UNIT;
	w->payload = shuffle_get16(p + 22);
	w->a = 0;
	w->b = 0;
	if (hdr > SHUFFLE_WIRE_BASE) {
		w->a = shuffle_get64(p + 24);
		w->b = shuffle_get64(p + 32);
	}

	if (w->type == SHUFFLE_DATA) {
		if (!w->nonce || w->a > SHUFFLE_MAX_LEN ||
		    !shuffle_wire_place_valid(w->a, w->b, w->payload, left))
			return -EBADMSG;
		return (int)hdr;
	}

	if (unsched || w->payload)
		return -EBADMSG;
	if (w->type == SHUFFLE_GRANT && w->b > w->a)
		return -EBADMSG;
	if (w->type == SHUFFLE_RESEND && w->b > U64_MAX - w->a)
		return -EBADMSG;
	if (!w->nonce && w->type != SHUFFLE_RESEND)
		return -EBADMSG;
	return (int)hdr;
}

/**
 * shuffle_wire_build() - write the header of one record
 * @p: room for SHUFFLE_WIRE_MAX_HDR bytes
 * @w: its contents
 *
 * Return: bytes written.
 */
unsigned int shuffle_wire_build(u8 *p, const struct shuffle_wire *w)
{
	unsigned int hdr = shuffle_wire_hdr_len(w->type);
	u32 unsched = (w->unsched + SHUFFLE_UNSCHED_UNIT - 1) / SHUFFLE_UNSCHED_UNIT;

	p[0] = (u8)(SHUFFLE_WIRE_VERSION << 4 | w->type);
	p[1] = w->flags;
	shuffle_put16(p + 2, w->src_rank);
	shuffle_put16(p + 4, w->dst_port);
	shuffle_put16(p + 6, w->dst_rank);
	shuffle_put64(p + 8, w->op_id);
	shuffle_put32(p + 16, w->nonce);
	shuffle_put16(p + 20, (u16)unsched);
	shuffle_put16(p + 22, w->payload);
	if (hdr > SHUFFLE_WIRE_BASE) {
		shuffle_put64(p + 24, w->a);
		shuffle_put64(p + 32, w->b);
	}
	return hdr;
}
