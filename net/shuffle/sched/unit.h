/* SPDX-License-Identifier: GPL-2.0-only */
/* How many bytes are granted, copied and sent as one. */
#ifndef _SHUFFLE_UNIT_H
#define _SHUFFLE_UNIT_H

#include "portable.h"
#include "wire.h"

#define SHUFFLE_CHUNK_MAX	62000	/* bytes of a super-packet, record headers included */

/**
 * shuffle_chunk_payload() - most payload that one super-packet carries
 * @pkt: payload bytes of a packet
 *
 * Return: bytes, a multiple of @pkt.
 */
static inline u32 shuffle_chunk_payload(u32 pkt)
{
	return max(SHUFFLE_CHUNK_MAX / (pkt + SHUFFLE_WIRE_DATA_HDR), 1U) * pkt;
}

/**
 * shuffle_grant_unit() - bytes that are granted, and sent, as one
 * @rtt_bytes: of the device
 * @pkt: payload bytes of a packet
 *
 * Half of RTTbytes in whole packets: one GRANT for each packet would cost 4 % of
 * the reverse link at MTU 1500, and more than that half would come in bursts
 * (section 3.3 randomises them away, a super-packet would bring them back).
 *
 * Return: bytes, a multiple of @pkt.
 */
static inline u32 shuffle_grant_unit(u32 rtt_bytes, u32 pkt)
{
	u32 n = min(rtt_bytes / 2, shuffle_chunk_payload(pkt)) / pkt;

	return max(n, 1U) * pkt;
}

#endif /* _SHUFFLE_UNIT_H */
