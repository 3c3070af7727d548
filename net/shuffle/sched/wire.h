/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wire format: records, one behind the other, in a UDP datagram.
 *
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-------+-------+---------------+-------------------------------+
 *   |version| type  |     flags     |          source rank          |
 *   +-------+-------+---------------+-------------------------------+
 *   |        receiver's port        |       destination rank        |
 *   +-------------------------------+-------------------------------+
 *   |                          operation id                         |
 *   |                                                               |
 *   +---------------------------------------------------------------+
 *   |                  nonce of the message's sender                |
 *   +-------------------------------+-------------------------------+
 *   |  unscheduled, units of 64 B   |        payload length         |
 *   +-------------------------------+-------------------------------+
 *
 * DATA:   message length (64), offset (64), payload
 * GRANT:  may send up to (64), received without a gap up to (64)
 * ACK:    nothing
 * RESEND: offset (64), length (64)
 *
 * All big-endian.  "unscheduled" and "payload length" are zero except in DATA.
 * Because every record says where it ends, a super-packet (many equal packets
 * in one skb) parses like one long datagram, whether it was segmented or not.
 */
#ifndef _SHUFFLE_WIRE_H
#define _SHUFFLE_WIRE_H

#include "portable.h"

#define SHUFFLE_WIRE_VERSION	1
#define SHUFFLE_WIRE_BASE	24U	/* bytes common to all records */
#define SHUFFLE_WIRE_DATA_HDR	40U	/* base and DATA's own fields */
#define SHUFFLE_WIRE_MAX_HDR	40U
#define SHUFFLE_UNSCHED_UNIT	64U	/* bytes */
#define SHUFFLE_MAX_LEN		(1ULL << 50)	/* sums of all members stay below 2^62 */
#define SHUFFLE_UNSCHED_MAX	(0xffffU * SHUFFLE_UNSCHED_UNIT)

enum shuffle_wire_type {
	SHUFFLE_DATA = 1,
	SHUFFLE_GRANT = 2,
	SHUFFLE_ACK = 3,
	SHUFFLE_RESEND = 4,
};

/* flags of DATA */
#define SHUFFLE_FLAG_PROBE	0x01	/* sender waits for the ACK */
#define SHUFFLE_FLAGS_DATA	SHUFFLE_FLAG_PROBE

/**
 * struct shuffle_wire - one record, host byte order
 * @type: enum shuffle_wire_type
 * @flags: SHUFFLE_FLAG_*
 * @src_rank: rank of the host that sent this record
 * @dst_rank: rank of the host that it is for
 * @dst_port: shuffle port of the host that it is for
 * @payload: DATA: bytes of the message that follow the header
 * @op_id: operation
 * @nonce: random number of the *message's* sender for this operation; echoed in
 *	GRANT, ACK and RESEND, 0 in a RESEND for a message never heard of
 * @unsched: DATA: bytes that the sender sends without a grant, rounded up to
 *	SHUFFLE_UNSCHED_UNIT
 * @a: DATA: message length; GRANT: granted offset; RESEND: offset
 * @b: DATA: offset; GRANT: all below has arrived; RESEND: length
 */
struct shuffle_wire {
	u8	type;
	u8	flags;
	u16	src_rank;
	u16	dst_rank;
	u16	dst_port;
	u16	payload;
	u64	op_id;
	u32	nonce;
	u32	unsched;
	u64	a;
	u64	b;
};

unsigned int shuffle_wire_hdr_len(u8 type);
int shuffle_wire_parse(const u8 *p, size_t avail, size_t left, struct shuffle_wire *w);
unsigned int shuffle_wire_build(u8 *p, const struct shuffle_wire *w);

/* The rest is done for each record of a super-packet. */

/* Is payload what a DATA record may hold?  Nothing can wrap: compared by subtraction.
 * @left: at least a header
 */
static inline bool shuffle_wire_place_valid(u64 len, u64 off, u16 payload, size_t left)
{
	return payload <= left - SHUFFLE_WIRE_DATA_HDR && off <= len && payload <= len - off;
}

/**
 * shuffle_wire_follows() - does a record go on where one before it ends?
 * @p: its first byte, SHUFFLE_WIRE_DATA_HDR bytes are readable
 * @left: bytes from @p to the end of the datagram, no fewer than that
 * @like: header of a valid DATA record
 * @off: offset in the same message, behind that record
 *
 * Most of a super-packet's records do, and to see that costs much less than
 * shuffle_wire_parse().
 *
 * Return: its payload bytes, all within @left; 0: not such a record, or a malformed one.
 */
static inline u16 shuffle_wire_follows(const u8 *p, size_t left, const u8 *like, u64 off)
{
	u16 payload = shuffle_get16(p + 22);

	if (shuffle_get64(p) != shuffle_get64(like) ||
	    shuffle_get64(p + 8) != shuffle_get64(like + 8) ||
	    /* all but the payload's length */
	    (shuffle_get64(p + 16) ^ shuffle_get64(like + 16)) >> 16 ||
	    shuffle_get64(p + 24) != shuffle_get64(like + 24) ||
	    shuffle_get64(p + 32) != off)
		return 0;
	return shuffle_wire_place_valid(shuffle_get64(p + 24), off, payload, left) ? payload : 0;
}

/**
 * shuffle_wire_place() - make the header of one DATA record that of another
 * @p: header, as shuffle_wire_build() has written it
 * @off: offset in the same message
 * @payload: bytes that follow
 */
static inline void shuffle_wire_place(u8 *p, u64 off, u16 payload)
{
	shuffle_put16(p + 22, payload);
	shuffle_put64(p + 32, off);
}

#endif /* _SHUFFLE_WIRE_H */
