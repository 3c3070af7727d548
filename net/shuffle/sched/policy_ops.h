/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a policy is.  The machinery in policy.c keeps heaps, windows and sums; it asks the policy
 * which message comes first and which may be granted at all.  The module's own policy, GRPF, is
 * there, too; its rivals are for the simulator and the unit tests (../test/rivals.c).
 *
 * Portable, as policy.h.  All functions run under the lock of the schedule's owner and
 * must be O(1).
 */
#ifndef _SHUFFLE_POLICY_OPS_H
#define _SHUFFLE_POLICY_OPS_H

#include "policy.h"

/**
 * struct shuffle_policy_ops - one policy
 * @unlimited: the limit of the whole column (overcommit) does not bind it
 * @unit_only: a grant is never for several units
 * @round_robin: a sender serves next what it has served least recently, not by @prio
 * @prio: priority of the unit at @off of a message, greater is sooner; both ends of a
 *	message compute it.  @off is below @len, or both are 0.
 * @grant_prio: priority of a message's next grant; NULL: @prio of its next byte to
 *	grant.  It is asked again after every grant and arrival of the message only.
 * @may_grant: may this message be granted now?  If not, none behind it may.  NULL: yes
 * @window: most that may be outstanding on a message, bytes; NULL: as configured, pro rata
 *	(shuffle_policy_window()) or RTTbytes
 * @granted: a message has been granted a unit; NULL: nothing to do
 * @released: a message is granted whole, or its sender has stalled; NULL: nothing to do.
 *	Returns true if @grant_prio has changed.
 */
struct shuffle_policy_ops {
	bool		unlimited;
	bool		unit_only;
	bool		round_robin;
	u64		(*prio)(u32 seed, u64 len, u64 off, u32 unit);
	u64		(*grant_prio)(const struct shuffle_policy_rx *rx, u32 i);
	bool		(*may_grant)(const struct shuffle_policy_rx *rx, u32 i);
	u64		(*window)(const struct shuffle_policy_rx *rx, u32 i, u64 rtt_bytes);
	void		(*granted)(struct shuffle_policy_rx *rx, u32 i);
	bool		(*released)(struct shuffle_policy_rx *rx, u32 i);
};

#ifdef SHUFFLE_RIVALS
/* by kind; none for GRPF */
extern const struct shuffle_policy_ops *const shuffle_rivals[SHUFFLE_POLICY_KINDS];
#endif

/* Mixing function of MurmurHash3's finalizer: equal seeds give equal offsets at
 * both ends of a message, different messages give unrelated ones.
 */
static inline u32 shuffle_policy_mix(u32 seed, u64 x)
{
	u32 h = seed ^ (u32)x ^ (u32)(x >> 32) * 0x9e3779b1U;

	h ^= h >> 16;
	h *= 0x85ebca6bU;
	h ^= h >> 13;
	h *= 0xc2b2ae35U;
	h ^= h >> 16;
	return h;
}

/* most that may be outstanding on a message where windows are the same for all */
static inline u64 shuffle_policy_constant_window(const struct shuffle_policy_rx *rx,
						 u64 rtt_bytes)
{
	return rtt_bytes > rx->unit ? rtt_bytes : rx->unit;
}

#endif /* _SHUFFLE_POLICY_OPS_H */
