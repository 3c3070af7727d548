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
 *   |         sender's port         |                               |
 *   +-------------------------------+                               |
 *   |                     nonce of the message                      |
 *   +-------------------------------+-------------------------------+
 *   |  unscheduled, units of 64 B   |        payload length         |
 *   +-------------------------------+-------------------------------+
 *
 * DATA:   message length (48), offset (48), payload
 * GRANT:  may send up to (48), received without a gap up to (48)
 * ACK:    nothing
 * RESEND: offset (48), length (48)
 * ECHO:   receive time (64), transmit time (64), padding; operation id is a sequence number
 * ABORT:  reason (16), ranks to blame (16), four of them (16 each), or one and a digest (48)
 *
 * The ports are those of the sockets.  The sender's is filled in by its kernel, so no other socket
 * of its host can speak for it.
 *
 * DATA that begins a message may have the flag SHUFFLE_FLAG_DIGEST.  Its offset is 0, and has the
 * digest of what all members have to agree on instead.
 *
 * ABORT says that its sender has left the operation, and because of whom: abort.c.
 *
 * With the flag SHUFFLE_FLAG_TAG, the header ends with a tag (64): tag.h.
 *
 * Type 7 is no record: a packet of an overlay begins with it, and has one of ours inside
 * (tools/overlay).
 *
 * All big-endian.  "unscheduled" and "payload length" are zero except in DATA ("payload length"
 * in ECHO, too: bytes of padding).  In GRANT and ACK
 * with the flag SHUFFLE_FLAG_SLOWEST they are one number (32), units of 4096 B: what the slowest
 * receiver of the operation waits for.
 *
 * Because every record says where it ends, a super-packet (many equal packets
 * in one skb) parses like one long datagram, whether it was segmented or not.
 */
#ifndef _SHUFFLE_WIRE_H
#define _SHUFFLE_WIRE_H

#include "portable.h"

#define SHUFFLE_WIRE_VERSION	3
#define SHUFFLE_WIRE_BASE	28U	/* bytes common to all records */
#define SHUFFLE_WIRE_DATA_HDR	40U	/* base and DATA's own fields */
#define SHUFFLE_WIRE_ECHO_HDR	44U	/* base and ECHO's own fields */
#define SHUFFLE_WIRE_TAG	8U	/* bytes of the tag, where there is one */
#define SHUFFLE_WIRE_MAX_HDR	(SHUFFLE_WIRE_DATA_HDR + SHUFFLE_WIRE_TAG)
#define SHUFFLE_UNSCHED_UNIT	64U	/* bytes */
#define SHUFFLE_SLOWEST_UNIT	4096U	/* bytes */
#define SHUFFLE_MAX_LEN		((1ULL << 48) - 1)	/* sums of all members stay below 2^62 */
#define SHUFFLE_UNSCHED_MAX	(0xffffU * SHUFFLE_UNSCHED_UNIT)
#define SHUFFLE_NONCE_MAX	((1ULL << 48) - 1)
#define SHUFFLE_DIGEST_MAX	((1ULL << 48) - 1)

enum shuffle_wire_type {
	SHUFFLE_DATA = 1,
	SHUFFLE_GRANT = 2,
	SHUFFLE_ACK = 3,
	SHUFFLE_RESEND = 4,
	SHUFFLE_ECHO = 5,
	/* 6 is not used: protocol.rst */
	SHUFFLE_ABORT = 8,
};

/**
 * enum shuffle_abort_reason - why a member has left an operation; others mean SHUFFLE_LEFT_FAILED
 * @SHUFFLE_LEFT_NOT: it has not
 * @SHUFFLE_LEFT_FAILED: another error
 * @SHUFFLE_LEFT_CLOSED: its socket is closed, perhaps because its process is gone
 * @SHUFFLE_LEFT_CANCELLED: its program has cancelled the operation
 * @SHUFFLE_LEFT_NO_MEMORY: it had none
 * @SHUFFLE_LEFT_DISAGREES: it takes part in another operation than the others
 * @SHUFFLE_LEFT_TIMED_OUT: it has not been heard of for too long
 * @SHUFFLE_LEFT_FORGOT: its host does not know the operation (any more)
 * @SHUFFLE_LEFT_REASONS: their number
 */
enum shuffle_abort_reason {
	SHUFFLE_LEFT_NOT,
	SHUFFLE_LEFT_FAILED,
	SHUFFLE_LEFT_CLOSED,
	SHUFFLE_LEFT_CANCELLED,
	SHUFFLE_LEFT_NO_MEMORY,
	SHUFFLE_LEFT_DISAGREES,
	SHUFFLE_LEFT_TIMED_OUT,
	SHUFFLE_LEFT_FORGOT,
	SHUFFLE_LEFT_REASONS,
};

#define SHUFFLE_BLAMED		4U	/* ranks that an ABORT names */

/**
 * struct shuffle_blame - because of whom an operation ends
 * @reason: enum shuffle_abort_reason, or a number that we do not know
 * @ranks: members to blame
 * @rank: the first of them; 0 where there are fewer.  With SHUFFLE_LEFT_DISAGREES there is one, and
 *	the digest of the record's sender behind it: shuffle_blame_digest()
 */
struct shuffle_blame {
	u16	reason;
	u16	ranks;
	u16	rank[SHUFFLE_BLAMED];
};

#define SHUFFLE_FLAG_PROBE	0x01	/* DATA: sender waits for the ACK */
#define SHUFFLE_FLAG_RETRANS	0x02	/* DATA: first answer to a RESEND */
#define SHUFFLE_FLAG_DELAY	0x04	/* DATA: the ACK may wait for other data */
#define SHUFFLE_FLAG_SLOWEST	0x08	/* GRANT, ACK: what the slowest receiver waits for */
#define SHUFFLE_FLAG_HEARSAY	0x10	/* which is not the record's sender; only with 0x08 */
#define SHUFFLE_FLAG_SENT	0x20	/* DATA: no payload: all below the offset has left */
#define SHUFFLE_FLAG_HEARD	0x08	/* DATA: the receiver has been heard of in the operation */
#define SHUFFLE_FLAG_MET	0x10	/* DATA, RESEND: the other socket was heard of before */
#define SHUFFLE_FLAG_DIGEST	0x40	/* DATA: offset is 0, a digest stands in its place */
#define SHUFFLE_FLAG_WAITS	0x01	/* RESEND: answers one: there is nothing to announce yet */
#define SHUFFLE_FLAG_YOURS	0x01	/* ABORT: the nonce is of the message to its sender */
#define SHUFFLE_FLAG_WHOLE	0x02	/* ABORT: which has arrived, whole */
#define SHUFFLE_FLAG_REPLY	0x01	/* ECHO: the answer to one */
#define SHUFFLE_FLAG_SHORT	0x02	/* ECHO: the answer has no padding */
#define SHUFFLE_FLAG_TAG	0x80	/* all but ECHO: header ends with a tag */
#define SHUFFLE_FLAGS_DATA	(SHUFFLE_FLAG_PROBE | SHUFFLE_FLAG_RETRANS | SHUFFLE_FLAG_DELAY | \
				 SHUFFLE_FLAG_SENT | SHUFFLE_FLAG_HEARD | SHUFFLE_FLAG_MET | \
				 SHUFFLE_FLAG_DIGEST | SHUFFLE_FLAG_TAG)
#define SHUFFLE_FLAGS_GRANT	(SHUFFLE_FLAG_SLOWEST | SHUFFLE_FLAG_HEARSAY | \
				 SHUFFLE_FLAG_TAG)	/* and ACK */
#define SHUFFLE_FLAGS_RESEND	(SHUFFLE_FLAG_WAITS | SHUFFLE_FLAG_MET | SHUFFLE_FLAG_TAG)
#define SHUFFLE_FLAGS_ECHO	(SHUFFLE_FLAG_REPLY | SHUFFLE_FLAG_SHORT)
#define SHUFFLE_FLAGS_ABORT	(SHUFFLE_FLAG_YOURS | SHUFFLE_FLAG_WHOLE | SHUFFLE_FLAG_TAG)

/**
 * struct shuffle_wire - one record, host byte order
 * @type: enum shuffle_wire_type
 * @flags: SHUFFLE_FLAG_*
 * @src_rank: rank of the host that sent this record
 * @dst_rank: rank of the host that it is for
 * @dst_port: shuffle port of the socket that it is for
 * @src_port: shuffle port of the socket that it is from
 * @payload: DATA: bytes of the message that follow the header; ECHO: of padding
 * @op_id: operation; ECHO: sequence number
 * @nonce: random number (48 bits) that the message's sender has chosen for this message; echoed
 *	in GRANT, ACK and RESEND, 0 in a RESEND for a message that was never announced.
 *	ABORT: of the message to the receiver, with SHUFFLE_FLAG_YOURS of the one from the receiver.
 *	ECHO: of the program that asks
 * @digest: DATA with SHUFFLE_FLAG_DIGEST: what all members have to agree on; else 0
 * @unsched: DATA: bytes that the sender sends without a grant, rounded up to
 *	SHUFFLE_UNSCHED_UNIT
 * @slowest: with SHUFFLE_FLAG_SLOWEST: bytes that the slowest receiver waits for, as far as the
 *	record's sender knows, rounded down to SHUFFLE_SLOWEST_UNIT
 * @tag: with SHUFFLE_FLAG_TAG
 * @data: DATA: message length and offset of the payload
 * @grant: GRANT: the sender may send up to @limit; all below @acked has arrived
 * @resend: RESEND: range that is missing; without bytes: what has left of the message?
 * @echo: ECHO with SHUFFLE_FLAG_REPLY: when the question came and the answer left, ns of one
 *	clock of the host that answers; 0 in the question
 * @blame: ABORT: why the record's sender has left
 */
struct shuffle_wire {
	u8	type;
	u8	flags;
	u16	src_rank;
	u16	dst_rank;
	u16	dst_port;
	u16	src_port;
	u16	payload;
	u64	op_id;
	u64	nonce;
	u64	digest;
	u64	tag;
	u64	slowest;
	u32	unsched;
	union {
		struct {
			u64	len;
			u64	off;
		} data;
		struct {
			u64	limit;
			u64	acked;
		} grant;
		struct {
			u64	off;
			u64	len;
		} resend;
		struct {
			u64	rx_ns;
			u64	tx_ns;
		} echo;
		struct shuffle_blame blame;
	};
};

/* Which of two that disagree differs from a third one?  It compares. */

static inline u64 shuffle_blame_digest(const struct shuffle_blame *blame)
{
	return (u64)blame->rank[1] << 32 | (u32)blame->rank[2] << 16 | blame->rank[3];
}

static inline void shuffle_blame_disagrees(struct shuffle_blame *blame, u16 rank, u64 digest)
{
	blame->reason = SHUFFLE_LEFT_DISAGREES;
	blame->ranks = 1;
	blame->rank[0] = rank;
	blame->rank[1] = (u16)(digest >> 32);
	blame->rank[2] = (u16)(digest >> 16);
	blame->rank[3] = (u16)digest;
}

unsigned int shuffle_wire_hdr_len(u8 type, u8 flags);
int shuffle_wire_parse(const u8 *p, size_t avail, size_t left, struct shuffle_wire *w);
unsigned int shuffle_wire_build(u8 *p, const struct shuffle_wire *w);

/* The rest is done for each record of a super-packet. */

/* Is payload what a DATA record may hold?  Nothing can wrap: compared by subtraction.
 * @left: bytes behind the header
 */
static inline bool shuffle_wire_place_valid(u64 len, u64 off, u16 payload, size_t left)
{
	return payload <= left && off <= len && payload <= len - off;
}

/**
 * struct shuffle_wire_next - where the record behind another one begins
 * @place: bytes 32 to 39 of its header: the end of the message's length, and the offset
 * @rest: bytes of the message from there on
 */
struct shuffle_wire_next {
	u64	place;
	u64	rest;
};

/* Bytes 32 to 39 of a DATA record's header: those that change from one to the next. */
static inline u64 shuffle_wire_place_of(const u8 *hdr)
{
	return shuffle_get64(hdr + 32);
}

/**
 * shuffle_wire_next_init() - where the record behind a DATA record begins
 * @next: result
 * @like: header of the record, valid
 */
static inline void shuffle_wire_next_init(struct shuffle_wire_next *next, const u8 *like)
{
	u64 len = shuffle_get48(like + 28), end = shuffle_get48(like + 34);
	u16 payload = shuffle_get16(like + 26);

	end += payload;
	/* the offset is no more than the length: it does not run over */
	next->place = shuffle_wire_place_of(like) + payload;
	next->rest = end < len ? len - end : 0;
}

/**
 * shuffle_wire_follows() - does a record go on where one before it ends?
 * @p: first byte of the record, @hdr bytes are readable
 * @left: bytes from @p to the end of the datagram, no fewer than @hdr
 * @like: header of a valid DATA record with payload
 * @hdr: length of the header of @like
 * @next: where the record has to begin; moved behind it if it does
 *
 * Most of a super-packet's records do, and to see that costs much less than
 * shuffle_wire_parse().  The tag is not looked at.
 *
 * Return: its payload bytes, all within @left; 0: not such a record, or a malformed one.
 */
static inline u16 shuffle_wire_follows(const u8 *p, size_t left, const u8 *like, u32 hdr,
				       struct shuffle_wire_next *next)
{
	u16 payload = shuffle_get16(p + 26);

	if (shuffle_get64(p) != shuffle_get64(like) ||
	    shuffle_get64(p + 8) != shuffle_get64(like + 8) ||
	    shuffle_get64(p + 16) != shuffle_get64(like + 16) ||
	    /* the length of the message, and all but the payload's length */
	    (shuffle_get64(p + 24) ^ shuffle_get64(like + 24)) & ~(0xffffULL << 32) ||
	    shuffle_get64(p + 32) != next->place ||
	    payload > left - hdr || payload > next->rest)
		return 0;
	next->place += payload;
	next->rest -= payload;
	return payload;
}

/* eight bytes as they are in memory */
static inline u64 shuffle_wire_word(const u8 *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/**
 * shuffle_wire_same() - is a DATA record as another one, but for where it begins?
 * @p: header of the record, without its tag
 * @like: header of the other one
 * @place: see struct shuffle_wire_next
 */
static inline bool shuffle_wire_same(const u8 *p, const u8 *like, u64 place)
{
	return !((shuffle_wire_word(p) ^ shuffle_wire_word(like)) |
		 (shuffle_wire_word(p + 8) ^ shuffle_wire_word(like + 8)) |
		 (shuffle_wire_word(p + 16) ^ shuffle_wire_word(like + 16)) |
		 (shuffle_wire_word(p + 24) ^ shuffle_wire_word(like + 24)) |
		 (shuffle_get64(p + 32) ^ place));
}

/**
 * shuffle_wire_copy() - write the header of a DATA record that is as another one
 * @p: room for the header, without its tag
 * @like: header of the other one
 * @place: see struct shuffle_wire_next
 */
static inline void shuffle_wire_copy(u8 *p, const u8 *like, u64 place)
{
	memcpy(p, like, 32);
	shuffle_put64(p + 32, place);
}

/**
 * shuffle_wire_place() - make the header of one DATA record that of another
 * @p: header, as shuffle_wire_build() has written it, without SHUFFLE_FLAG_DIGEST
 * @off: offset in the same message
 * @payload: bytes that follow
 */
static inline void shuffle_wire_place(u8 *p, u64 off, u16 payload)
{
	shuffle_put16(p + 26, payload);
	shuffle_put48(p + 34, off);
}

/**
 * shuffle_wire_plain() - take the digest out of the header that begins a message
 * @p: header with SHUFFLE_FLAG_DIGEST
 *
 * So the records behind it can be compared with it.  Its tag is not valid any more.
 */
static inline void shuffle_wire_plain(u8 *p)
{
	p[1] &= (u8)~SHUFFLE_FLAG_DIGEST;
	shuffle_put48(p + 34, 0);
}

#endif /* _SHUFFLE_WIRE_H */
