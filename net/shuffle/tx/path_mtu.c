// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a path carries.  It may be narrower than its route says, and no ICMP tell us: then full
 * packets are lost until they are smaller (RFC 8899).
 *
 * A finding is the group's own, like that of a TCP connection: the losses of one user's packets
 * say nothing that another one has to believe.
 */
#include "../config.h"
#include "../group.h"
#include "../mib.h"
#include "../netns.h"
#include "../op.h"
#include "../sock.h"
#include "msg_out.h"
#include "path_mtu.h"

/* Full packets that do not arrive so often in a row are too long for the path.  Loss alone
 * does that rarely: a RESEND asks for more than one packet, and one that arrives ends the
 * row.
 */
#define SHUFFLE_PATH_LOST	4
/* then the route is believed again (RFC 8899 waits 600 s) */
#define SHUFFLE_PATH_UNTIL	(300 * HZ)

/**
 * shuffle_path_payload() - what the path to a member carries
 * @m: the member
 * @payload: bytes of a packet's payload that the route allows
 *
 * Context: any.
 * Return: bytes, no more than @payload.
 */
u32 shuffle_path_payload(const struct shuffle_member *m, u32 payload)
{
	u32 most = READ_ONCE(m->payload_max);

	if (likely(!most) || time_after(jiffies, READ_ONCE(m->payload_until)))
		return payload;
	return min(most, payload);
}

/**
 * shuffle_path_lost() - a member asks for data that went in packets of full size
 * @op: operation
 * @rank: the member
 * @payload: payload bytes of such a packet, as the chunk was laid out
 * @now: ns
 *
 * Context: any, ssk->lock held.
 */
void shuffle_path_lost(struct shuffle_op *op, u32 rank, u32 payload, u64 now)
{
	struct shuffle_member *m = &op->group->member[rank];

	lockdep_assert_held(&op->ssk->lock);
	payload = shuffle_path_payload(m, payload);
	/* one question comes as several RESENDs, and from several operations at once */
	if (payload <= SHUFFLE_MIN_PAYLOAD ||
	    now - m->payload_lost_at < (u64)READ_ONCE(op->dev->cfg.resend_min_us) * NSEC_PER_USEC)
		return;
	m->payload_lost_at = now;
	if (++m->payload_lost < SHUFFLE_PATH_LOST)
		return;
	m->payload_lost = 0;
	WRITE_ONCE(m->payload_until, jiffies + SHUFFLE_PATH_UNTIL);
	WRITE_ONCE(m->payload_max, max_t(u32, payload / 2, SHUFFLE_MIN_PAYLOAD));
	SHUFFLE_INC(op->ssk->sn, PathShrunk);
}

/**
 * shuffle_path_arrived() - a member has got a packet of full size
 * @op: operation
 * @rank: the member
 *
 * Context: any, ssk->lock held.
 */
void shuffle_path_arrived(struct shuffle_op *op, u32 rank)
{
	struct shuffle_member *m = &op->group->member[rank];

	lockdep_assert_held(&op->ssk->lock);
	m->payload_lost = 0;
	/* not believed any more, and not again when jiffies have wrapped */
	if (unlikely(m->payload_max) && time_after(jiffies, m->payload_until))
		WRITE_ONCE(m->payload_max, 0);
}
