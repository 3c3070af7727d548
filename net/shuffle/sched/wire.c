// SPDX-License-Identifier: GPL-2.0-only
/*
 * Building and parsing records (portable: see portable.h).  Every value from the wire is
 * bounded here, once, before anything else looks at it.
 */
#include "wire.h"

/**
 * shuffle_wire_hdr_len() - bytes of a record's header
 * @type: enum shuffle_wire_type
 * @flags: SHUFFLE_FLAG_*
 *
 * Return: bytes without payload, 0 for a type that does not exist.
 */
unsigned int shuffle_wire_hdr_len(u8 type, u8 flags)
{
	unsigned int tag = flags & SHUFFLE_FLAG_TAG ? SHUFFLE_WIRE_TAG : 0;

	switch (type) {
	case SHUFFLE_DATA:
	case SHUFFLE_GRANT:
	case SHUFFLE_RESEND:
	case SHUFFLE_ABORT:
		return SHUFFLE_WIRE_DATA_HDR + tag;
	case SHUFFLE_ACK:
		return SHUFFLE_WIRE_BASE + tag;
	case SHUFFLE_ECHO:
		return SHUFFLE_WIRE_ECHO_HDR;
	}
	return 0;
}

static u8 flags_of(u8 type)
{
	switch (type) {
	case SHUFFLE_DATA:
		return SHUFFLE_FLAGS_DATA;
	case SHUFFLE_RESEND:
		return SHUFFLE_FLAGS_RESEND;
	case SHUFFLE_ECHO:
		return SHUFFLE_FLAGS_ECHO;
	case SHUFFLE_ABORT:
		return SHUFFLE_FLAGS_ABORT;
	}
	return SHUFFLE_FLAGS_GRANT;
}

/* The flag has another meaning in DATA. */
static bool has_slowest(const struct shuffle_wire *w)
{
	return (w->type == SHUFFLE_GRANT || w->type == SHUFFLE_ACK) &&
	       w->flags & SHUFFLE_FLAG_SLOWEST;
}

/* Terabytes more than fit are as many as fit.  Rounded down: members tell what others have told
 * them, which must not grow on the way.
 */
static u32 slowest_units(u64 bytes)
{
	u64 units = bytes / SHUFFLE_SLOWEST_UNIT;

	return units < U32_MAX ? (u32)units : U32_MAX;
}

static void get_blame(const u8 *p, struct shuffle_blame *blame)
{
	unsigned int i;

	blame->reason = shuffle_get16(p);
	blame->ranks = shuffle_get16(p + 2);
	for (i = 0; i < SHUFFLE_BLAMED; i++)
		blame->rank[i] = shuffle_get16(p + 4 + 2 * i);
}

static void put_blame(u8 *p, const struct shuffle_blame *blame)
{
	unsigned int i;

	shuffle_put16(p, blame->reason);
	shuffle_put16(p + 2, blame->ranks);
	for (i = 0; i < SHUFFLE_BLAMED; i++)
		shuffle_put16(p + 4 + 2 * i, blame->rank[i]);
}

/* Somebody is to blame, for some reason; the places of those that are not there are 0. */
static bool blame_valid(const struct shuffle_blame *blame)
{
	unsigned int i;

	if (blame->reason == SHUFFLE_LEFT_DISAGREES)
		return blame->ranks == 1;
	for (i = blame->ranks; i < SHUFFLE_BLAMED; i++)
		if (blame->rank[i])
			return false;
	return blame->reason && blame->ranks;
}

/* An echo is of a host, not of a group: ranks and port are 0, and so are the times of a question.
 * A short answer has no padding.
 */
static bool echo_valid(const struct shuffle_wire *w, size_t left)
{
	bool reply = w->flags & SHUFFLE_FLAG_REPLY;

	if (w->src_rank || w->dst_rank || w->src_port || w->dst_port || w->payload > left)
		return false;
	if (!reply)
		return !w->echo.rx_ns && !w->echo.tx_ns;
	return !(w->flags & SHUFFLE_FLAG_SHORT && w->payload);
}

/**
 * shuffle_wire_parse() - read and check one record
 * @p: first byte of the record
 * @avail: bytes readable at @p; at least min(@left, SHUFFLE_WIRE_MAX_HDR)
 * @left: bytes from @p to the end of the datagram, the payload included
 * @w: result, valid on success
 *
 * The tag is read, not checked: only a group knows its key.
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
	hdr = shuffle_wire_hdr_len(w->type, w->flags);
	if (!hdr || left < hdr || avail < hdr)
		return -EBADMSG;
	if (w->flags & ~flags_of(w->type))
		return -EBADMSG;

	w->src_rank = shuffle_get16(p + 2);
	w->dst_port = shuffle_get16(p + 4);
	w->dst_rank = shuffle_get16(p + 6);
	w->op_id = shuffle_get64(p + 8);
	w->src_port = shuffle_get16(p + 16);
	w->nonce = shuffle_get48(p + 18);
	w->digest = 0;
	unsched = shuffle_get16(p + 24);
	w->payload = shuffle_get16(p + 26);
	w->slowest = 0;
	if (w->type == SHUFFLE_GRANT || w->type == SHUFFLE_ACK) {
		if ((w->flags & ~SHUFFLE_FLAG_TAG) == SHUFFLE_FLAG_HEARSAY)
			return -EBADMSG;
	}
	if (has_slowest(w)) {
		w->slowest = ((u64)unsched << 16 | w->payload) * SHUFFLE_SLOWEST_UNIT;
		unsched = 0;
		w->payload = 0;
	}
	w->unsched = (u32)unsched * SHUFFLE_UNSCHED_UNIT;
	w->data.len = 0;
	w->data.off = 0;
	if (w->type == SHUFFLE_ECHO) {
		w->echo.rx_ns = shuffle_get64(p + 28);
		w->echo.tx_ns = shuffle_get64(p + 36);
	} else if (w->type == SHUFFLE_ABORT) {
		get_blame(p + 28, &w->blame);
	} else if (w->type != SHUFFLE_ACK) {
		/* the same two places in all other types: see the union */
		w->data.len = shuffle_get48(p + 28);
		w->data.off = shuffle_get48(p + 34);
	}
	if (w->type == SHUFFLE_DATA && w->flags & SHUFFLE_FLAG_DIGEST) {
		w->digest = w->data.off;
		w->data.off = 0;
		if (!w->digest)
			return -EBADMSG;
	}
	w->tag = w->flags & SHUFFLE_FLAG_TAG ? shuffle_get64(p + hdr - SHUFFLE_WIRE_TAG) : 0;

	if (!w->nonce && w->type != SHUFFLE_RESEND)
		return -EBADMSG;
	switch (w->type) {
	case SHUFFLE_DATA:
		if (!shuffle_wire_place_valid(w->data.len, w->data.off, w->payload, left - hdr) ||
		    (w->flags & (SHUFFLE_FLAG_SENT | SHUFFLE_FLAG_MET) && w->payload) ||
		    (w->flags & SHUFFLE_FLAG_SENT && w->flags & SHUFFLE_FLAG_DIGEST))
			return -EBADMSG;
		return (int)hdr;
	case SHUFFLE_GRANT:
		if (w->grant.acked > w->grant.limit)
			return -EBADMSG;
		break;
	case SHUFFLE_RESEND:
		if (w->resend.len > SHUFFLE_MAX_LEN - w->resend.off ||
		    (w->flags & SHUFFLE_FLAG_MET && (w->nonce || w->flags & SHUFFLE_FLAG_WAITS)) ||
		    (w->flags & SHUFFLE_FLAG_WAITS &&
		     (w->nonce || w->resend.len || w->resend.off)))
			return -EBADMSG;
		break;
	case SHUFFLE_ECHO:
		return unsched || !echo_valid(w, left - hdr) ? -EBADMSG : (int)hdr;
	case SHUFFLE_ABORT:
		if (!blame_valid(&w->blame) ||
		    (w->flags & SHUFFLE_FLAG_WHOLE && !(w->flags & SHUFFLE_FLAG_YOURS)))
			return -EBADMSG;
		break;
	}
	return unsched || w->payload ? -EBADMSG : (int)hdr;
}

/**
 * shuffle_wire_build() - write the header of one record
 * @p: room for SHUFFLE_WIRE_MAX_HDR bytes
 * @w: contents of the record
 *
 * Return: bytes written.
 */
unsigned int shuffle_wire_build(u8 *p, const struct shuffle_wire *w)
{
	unsigned int hdr = shuffle_wire_hdr_len(w->type, w->flags);
	u32 unsched = (w->unsched + SHUFFLE_UNSCHED_UNIT - 1) / SHUFFLE_UNSCHED_UNIT;

	p[0] = (u8)(SHUFFLE_WIRE_VERSION << 4 | w->type);
	p[1] = w->flags;
	shuffle_put16(p + 2, w->src_rank);
	shuffle_put16(p + 4, w->dst_port);
	shuffle_put16(p + 6, w->dst_rank);
	shuffle_put64(p + 8, w->op_id);
	shuffle_put16(p + 16, w->src_port);
	shuffle_put48(p + 18, w->nonce);
	if (has_slowest(w)) {
		shuffle_put16(p + 24, (u16)(slowest_units(w->slowest) >> 16));
		shuffle_put16(p + 26, (u16)slowest_units(w->slowest));
	} else {
		shuffle_put16(p + 24, (u16)unsched);
		shuffle_put16(p + 26, w->payload);
	}
	if (w->type == SHUFFLE_ECHO) {
		shuffle_put64(p + 28, w->echo.rx_ns);
		shuffle_put64(p + 36, w->echo.tx_ns);
	} else if (w->type == SHUFFLE_ABORT) {
		put_blame(p + 28, &w->blame);
	} else if (w->type != SHUFFLE_ACK) {
		shuffle_put48(p + 28, w->data.len);
		shuffle_put48(p + 34, w->type == SHUFFLE_DATA && w->flags & SHUFFLE_FLAG_DIGEST ?
					      w->digest : w->data.off);
	}
	if (w->flags & SHUFFLE_FLAG_TAG)
		shuffle_put64(p + hdr - SHUFFLE_WIRE_TAG, w->tag);
	return hdr;
}
